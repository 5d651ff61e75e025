/* The values that XLA's buffer assignment lists, and the allocations that it puts them in: the
 * place of each value, and the purpose of each allocation. */
#include <inttypes.h>

#include "formats/xla/xla_reader.h"

/* ---- values ---- */

static arenaut_status add_value(arn_xla *r, arn_pb_bytes message) {
    arn_xla_fields fields;
    arenaut_status st = arn_xla_take(r, message, "a logical buffer", &fields);
    const arn_xla_value value = {.size = fields.number[VALUE_SIZE],
                                 .at = message.at,
                                 .defined_at = fields.bytes[VALUE_DEFINED_AT],
                                 .allocation = ARENAUT_NONE,
                                 .root = r->n_values,
                                 .first = ARN_XLA_UNTRACED};
    uint32_t n = r->n_values;
    if (st == ARENAUT_OK) {
        st = arn_xla_append(r, (void **)&r->value_ids, &r->value_id_capacity, &n,
                            &fields.number[VALUE_ID], sizeof *r->value_ids);
    }
    if (st != ARENAUT_OK) return st;
    return arn_xla_append(r, (void **)&r->values, &r->value_capacity, &r->n_values, &value,
                          sizeof value);
}

arenaut_status arn_xla_read_values(arn_xla *r) {
    arn_pb message = arn_pb_open(r->data, r->assignment);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, ASSIGNMENT_VALUE, ARN_PB_BYTES)) st = add_value(r, field.bytes);
    }
    if (st == ARENAUT_OK) st = arn_pb_status(&message, "the buffer assignment", r->err);
    if (st == ARENAUT_OK) st = arn_xla_sort(r, r->value_ids, r->n_values, &r->values_in_order);
    for (uint32_t i = 1; i < r->n_values && st == ARENAUT_OK; i++) {
        const uint32_t value = r->values_in_order[i];
        if (r->value_ids[value] != r->value_ids[r->values_in_order[i - 1]]) continue;
        st = arn_fail(r->err, ARENAUT_BAD_INPUT, r->values[value].at,
                      "byte %zu: logical buffer %" PRIu64 " is there twice", r->values[value].at,
                      r->value_ids[value]);
    }
    return st;
}

arenaut_status arn_xla_find_value(const arn_xla *r, uint64_t id, size_t at, uint32_t *value) {
    *value = arn_xla_find(r->value_ids, r->values_in_order, r->n_values, id);
    if (*value != ARENAUT_NONE) return ARENAUT_OK;
    return arn_fail(r->err, ARENAUT_BAD_INPUT, at, "byte %zu: there is no logical buffer %" PRIu64,
                    at, id);
}

/* ---- allocations ---- */

/* A parameter that becomes a result, as one that is donated does, is a parameter. */
static arn_xla_kind kind_of(const arn_xla_fields *fields) {
    if (fields->number[ALLOCATION_THREAD_LOCAL]) return ARN_XLA_THREAD_LOCAL;
    if (fields->number[ALLOCATION_PARAMETER]) return ARN_XLA_PARAMETERS;
    if (fields->number[ALLOCATION_LIVE_OUT]) return ARN_XLA_OUTPUTS;
    return fields->number[ALLOCATION_CONSTANT] ? ARN_XLA_CONSTANTS : ARN_XLA_OTHERS;
}

static arenaut_status assign(arn_xla *r, arn_pb_bytes message, uint32_t allocation) {
    arn_xla_allocation *whole = &r->allocations[allocation];
    arn_xla_fields fields;
    uint32_t number = ARENAUT_NONE;
    arenaut_status st = arn_xla_take(r, message, "an assigned buffer", &fields);
    if (st == ARENAUT_OK) {
        st = arn_xla_find_value(r, fields.number[ASSIGNED_VALUE], message.at, &number);
    }
    if (st != ARENAUT_OK) return st;
    arn_xla_value *value = &r->values[number];
    if (value->allocation != ARENAUT_NONE) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, message.at,
                        "byte %zu: logical buffer %" PRIu64 " lies in allocation %" PRIu64
                        " and again in %" PRIu64,
                        message.at, r->value_ids[number], r->allocations[value->allocation].index,
                        whole->index);
    }
    uint64_t end;
    value->allocation = allocation;
    value->offset = fields.number[ASSIGNED_OFFSET];
    value->size = fields.number[ASSIGNED_SIZE];
    if (!arn_add(value->offset, value->size, &end) || end > whole->size) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, message.at,
                        "byte %zu: logical buffer %" PRIu64 " has %" PRIu64 " bytes at %" PRIu64
                        " of allocation %" PRIu64 ", which has %" PRIu64 " bytes",
                        message.at, r->value_ids[number], value->size, value->offset, whole->index,
                        whole->size);
    }
    whole->offsets |= value->offset;
    if (whole->largest == ARENAUT_NONE || value->size > r->values[whole->largest].size) {
        whole->largest = number;
    }
    return ARENAUT_OK;
}

static arenaut_status add_allocation(arn_xla *r, arn_pb_bytes bytes) {
    arn_xla_fields fields;
    arenaut_status st = arn_xla_take(r, bytes, "an allocation", &fields);
    if (st != ARENAUT_OK) return st;
    const arn_xla_allocation whole = {.index = fields.number[ALLOCATION_INDEX],
                                      .size = fields.number[ALLOCATION_SIZE],
                                      .kind = kind_of(&fields),
                                      .largest = ARENAUT_NONE,
                                      .pool = ARENAUT_NONE};
    if (whole.size > ARENAUT_SIZE_MAX) {
        return arn_fail(r->err, ARENAUT_TOO_LARGE, bytes.at,
                        "byte %zu: allocation %" PRIu64 " has more than 2^63 - 1 bytes", bytes.at,
                        whole.index);
    }
    st = arn_xla_append(r, (void **)&r->allocations, &r->allocation_capacity, &r->n_allocations,
                        &whole, sizeof whole);
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (!arn_pb_is(&field, ALLOCATION_ASSIGNED, ARN_PB_BYTES)) continue;
        st = assign(r, field.bytes, r->n_allocations - 1);
    }
    return st;
}

arenaut_status arn_xla_read_allocations(arn_xla *r) {
    arn_pb message = arn_pb_open(r->data, r->assignment);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, ASSIGNMENT_ALLOCATION, ARN_PB_BYTES)) {
            st = add_allocation(r, field.bytes);
        }
    }
    return st;
}
