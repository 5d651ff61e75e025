/* Queries of an iteration: the place of a value, the size of its arena now and before, and whether
 * a call is allowed. Reads only; O(1) unless runtime_iteration.h says otherwise. */
#include "runtime/iteration.h"

bool arn_runtime_slot_is_output(const arenaut_iteration *it, uint32_t slot) {
    return it->value[it->named[slot]].kind == ARENAUT_VALUE_OUTPUT;
}

bool arn_runtime_is_held(const arenaut_iteration *it, uint32_t value) {
    return !it->running && value < it->n_values && it->value[value].kind == ARENAUT_VALUE_OUTPUT &&
           it->length[value] != ARN_NO_LENGTH;
}

void *arn_runtime_slot_address(const arenaut_iteration *it, uint32_t slot) {
    char *buffer = slot < it->n_arena ? it->buffer : it->output_buffer;
    return buffer && it->planned[slot] ? buffer + it->offset[slot] : NULL;
}

arenaut_status arn_runtime_find_slot(const arenaut_iteration *it, uint32_t value, uint32_t *slot,
                                     arenaut_fault *fault) {
    if (value >= it->n_values)
        return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE, value, 0, it->n_values);
    if (it->slot[value] == ARENAUT_NO_VALUE)
        return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE_KIND, value, 0, 0);
    *slot = it->slot[value];
    return ARENAUT_OK;
}

arenaut_status arn_runtime_expect(const arenaut_iteration *it, bool running, arenaut_fault *fault) {
    if (it->busy) return arn_runtime_fault(fault, ARENAUT_FAULT_BUSY, 0, 0, 0);
    if (it->running == running) return ARENAUT_OK;
    return arn_runtime_fault(fault, running ? ARENAUT_FAULT_NOT_RUNNING : ARENAUT_FAULT_RUNNING, 0,
                             0, 0);
}

bool arenaut_iteration_in_buffer(const arenaut_iteration *it, const void *address) {
    return arn_runtime_lies_in(address, it->buffer, it->buffer_bytes);
}

bool arenaut_iteration_in_output_buffer(const arenaut_iteration *it, const void *address) {
    return arn_runtime_lies_in(address, it->output_buffer, it->output_buffer_bytes);
}

bool arenaut_iteration_is_storage_managed(const arenaut_iteration *it,
                                          const arenaut_storage *storage) {
    return arn_runtime_lies_in(storage, it->storages.block, it->storages.size * sizeof *storage);
}

static bool is_known(const arenaut_iteration *it, uint32_t value) {
    return value < it->n_values && it->slot[value] != ARENAUT_NO_VALUE;
}

uint32_t arenaut_iteration_group_count(const arenaut_iteration *it) { return it->n_groups; }

uint32_t arenaut_iteration_group(const arenaut_iteration *it, uint32_t value) {
    if (it->n_groups == 0 || !is_known(it, value) || it->slot[value] >= it->n_arena)
        return ARENAUT_NO_GROUP;
    return it->group[it->slot[value]];
}

uint32_t arenaut_iteration_group_members(const arenaut_iteration *it, uint32_t group,
                                         uint32_t *value, uint32_t room) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < it->n_values && group < it->n_groups; v++) {
        if (arenaut_iteration_group(it, v) != group) continue;
        if (n < room) value[n] = v;
        n++;
    }
    return n;
}

size_t arenaut_iteration_group_size(const arenaut_iteration *it, uint32_t group) {
    size_t most = 0;
    for (uint32_t s = 0; s < it->n_arena && group < it->n_groups; s++) {
        if (it->group[s] == group && it->planned[s] > most) most = it->planned[s];
    }
    return most;
}

bool arenaut_iteration_is_managed_output(const arenaut_iteration *it, uint32_t value) {
    if (!is_known(it, value) || it->value[value].kind != ARENAUT_VALUE_OUTPUT) return false;
    const void *planned = arn_runtime_slot_address(it, it->slot[value]);
    return planned && it->current[value]->data == planned;
}

bool arenaut_iteration_is_running(const arenaut_iteration *it) { return it->running; }
bool arenaut_iteration_outputs_are_held(const arenaut_iteration *it) { return it->n_held; }

bool arenaut_iteration_is_held(const arenaut_iteration *it, uint32_t value) {
    return arn_runtime_is_held(it, value);
}

arenaut_storage *arenaut_iteration_storage(const arenaut_iteration *it, uint32_t value) {
    return is_known(it, value) ? it->current[value] : NULL;
}

arenaut_status arenaut_iteration_output(const arenaut_iteration *it, uint32_t value,
                                        arenaut_storage *out, arenaut_fault *fault) {
    if (!arn_runtime_is_held(it, value))
        return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUTS_RELEASED, value, 0, 0);
    *out = (arenaut_storage){it->current[value]->data, it->length[value], NULL};
    return ARENAUT_OK;
}

void *arenaut_iteration_buffer(const arenaut_iteration *it) { return it->buffer; }
void *arenaut_iteration_output_buffer(const arenaut_iteration *it) { return it->output_buffer; }
uint32_t arenaut_iteration_plan_number(const arenaut_iteration *it) { return it->plan_number; }

size_t arenaut_iteration_offset(const arenaut_iteration *it, uint32_t value) {
    if (!is_known(it, value) || it->planned[it->slot[value]] == 0) return ARENAUT_NO_OFFSET;
    return it->offset[it->slot[value]];
}

size_t arenaut_iteration_size(const arenaut_iteration *it, uint32_t value) {
    return is_known(it, value) ? it->most[it->slot[value]] : 0;
}

arenaut_iteration_figures arenaut_iteration_count(const arenaut_iteration *it) {
    arenaut_iteration_figures f = {0};
    for (uint32_t v = 0; v < it->n_values; v++) {
        const arenaut_value *value = &it->value[v];
        if (value->kind == ARENAUT_VALUE_MANAGED) f.managed++;
        if (value->kind == ARENAUT_VALUE_OUTPUT) f.managed_outputs++;
        if (value->returned) continue;
        if (value->kind == ARENAUT_VALUE_SCALAR) f.unmanaged_scalars++;
        if (value->kind == ARENAUT_VALUE_UNMANAGED || value->kind == ARENAUT_VALUE_BORROWED)
            f.unmanaged_non_scalars++;
    }
    f.reused = it->reused;
    f.unmanaged = f.unmanaged_scalars + f.unmanaged_non_scalars;
    f.managed_bytes = it->arena_bytes;
    f.output_bytes = it->output_bytes;
    f.overflows = it->overflows;
    f.overflow_bytes = it->overflow_bytes;
    f.largest_overflow = it->largest_overflow;
    f.runs_without_buffer = it->runs_without_buffer;
    return f;
}
