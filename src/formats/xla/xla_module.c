/* Instructions of the module that make values: their names, operators, and places in the user's
 * program. Texts are cut, so that many values of one instruction cannot stand for much more than
 * the file holds. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/utf8.h"
#include "formats/xla/xla_reader.h"

/* ---- the lists ---- */

static arenaut_status add_instructions(arn_xla *r, arn_pb_bytes computation) {
    arn_pb message = arn_pb_open(r->data, computation);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (!arn_pb_is(&field, COMPUTATION_INSTRUCTIONS, ARN_PB_BYTES)) continue;
        arn_xla_fields fields;
        uint32_t n = r->n_instructions;
        st = arn_xla_take(r, field.bytes, "an instruction", &fields);
        if (st == ARENAUT_OK) {
            st = arn_xla_append(r, (void **)&r->instruction_ids, &r->instruction_id_capacity, &n,
                                &fields.number[INSTRUCTION_ID], sizeof *r->instruction_ids);
        }
        if (st != ARENAUT_OK) return st;
        st = arn_xla_append(r, (void **)&r->instructions, &r->instruction_capacity,
                            &r->n_instructions, &field.bytes, sizeof field.bytes);
    }
    return st == ARENAUT_OK ? arn_pb_status(&message, "a computation", r->err) : st;
}

static arenaut_status add_frames(arn_xla *r, arn_pb_bytes index) {
    const struct {
        uint32_t number;
        arn_pb_bytes **list;
        uint32_t *capacity, *n;
    } lists[] = {{FRAMES_FILE_NAME, &r->files, &r->file_capacity, &r->n_files},
                 {FRAMES_PLACE, &r->places, &r->place_capacity, &r->n_places},
                 {FRAMES_FRAME, &r->frames, &r->frame_capacity, &r->n_frames}};
    arn_pb message = arn_pb_open(r->data, index);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
            if (!arn_pb_is(&field, lists[i].number, ARN_PB_BYTES)) continue;
            st = arn_xla_append(r, (void **)lists[i].list, lists[i].capacity, lists[i].n,
                                &field.bytes, sizeof field.bytes);
        }
    }
    return st == ARENAUT_OK ? arn_pb_status(&message, "the stack frames", r->err) : st;
}

arenaut_status arn_xla_read_module(arn_xla *r) {
    arn_pb message = arn_pb_open(r->data, r->module);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, MODULE_COMPUTATIONS, ARN_PB_BYTES)) {
            st = add_instructions(r, field.bytes);
        }
        if (arn_pb_is(&field, MODULE_STACK_FRAMES, ARN_PB_BYTES)) st = add_frames(r, field.bytes);
    }
    if (st == ARENAUT_OK) st = arn_pb_status(&message, "the module", r->err);
    if (st != ARENAUT_OK) return st;
    return arn_xla_sort(r, r->instruction_ids, r->n_instructions, &r->instructions_in_order);
}

/* ---- labels ---- */

/* A copy of at most so much of a text, as a C string. */
static void copy_text(const arn_xla *r, arn_pb_bytes bytes, size_t limit, char *out) {
    const size_t length = arn_utf8_cut(r->data + bytes.at, bytes.size, limit);
    for (size_t i = 0; i < length; i++) {
        const char c = (char)r->data[bytes.at + i];
        out[i] = c ? c : '?';
    }
    out[length] = '\0';
}

/* The part of an instruction's result: "{1,0}"; nothing for the whole. */
static arenaut_status append_shape_index(arn_xla *r, arn_pb_bytes packed) {
    enum { DEPTH = 8 }; /* tuples within tuples, of which real ones have two or three */
    const size_t room = sizeof r->name;
    arn_pb numbers = arn_pb_open(r->data, packed);
    uint64_t number;
    size_t used = strlen(r->name);
    uint32_t n = 0;
    for (; n < DEPTH && arn_pb_next_varint(&numbers, &number); n++) {
        used += (size_t)snprintf(r->name + used, room - used, "%c%" PRIu32, n ? ',' : '{',
                                 (uint32_t)(number < 99999 ? number : 99999));
    }
    if (n > 0) snprintf(r->name + used, room - used, "}");
    return arn_pb_status(&numbers, "a shape index", r->err);
}

/* The file and the line that a frame is in; false if it is not known. */
static arenaut_status find_place(const arn_xla *r, const arn_xla_fields *metadata,
                                 arn_pb_bytes *file, uint64_t *line) {
    const uint64_t number = metadata->number[METADATA_FRAME];
    *file = metadata->bytes[METADATA_SOURCE_FILE];
    *line = metadata->number[METADATA_SOURCE_LINE];
    if (number == 0 || number > r->n_frames) return ARENAUT_OK;
    arn_xla_fields frame, place;
    arenaut_status st = arn_xla_take(r, r->frames[number - 1], "a stack frame", &frame);
    const uint64_t at = frame.number[FRAME_PLACE];
    if (st != ARENAUT_OK || at == 0 || at > r->n_places) return st;
    st = arn_xla_take(r, r->places[at - 1], "a place in a file", &place);
    const uint64_t name = place.number[PLACE_FILE_NAME];
    if (st != ARENAUT_OK || name == 0 || name > r->n_files) return st;
    *file = r->files[name - 1];
    *line = place.number[PLACE_LINE];
    return ARENAUT_OK;
}

/* "jit(step)/conv (train.py:12)", or as much of it as there is. */
static arenaut_status write_source(arn_xla *r, arn_pb_bytes metadata) {
    arn_xla_fields fields;
    arn_pb_bytes file;
    uint64_t line;
    arenaut_status st = arn_xla_take(r, metadata, "metadata", &fields);
    if (st == ARENAUT_OK) st = find_place(r, &fields, &file, &line);
    if (st != ARENAUT_OK) return st;
    copy_text(r, fields.bytes[METADATA_OP_NAME], ARN_XLA_SOURCE_LIMIT, r->source);
    if (file.size == 0) return ARENAUT_OK;
    char path[ARN_XLA_NAME_LIMIT + 1];
    copy_text(r, file, ARN_XLA_NAME_LIMIT, path);
    const size_t used = strlen(r->source);
    snprintf(r->source + used, sizeof r->source - used, used ? " (%s:%" PRIu64 ")" : "%s:%" PRIu64,
             path, line);
    return ARENAUT_OK;
}

arenaut_status arn_xla_label(arn_xla *r, const arn_xla_value *value) {
    arn_xla_fields location, fields;
    r->name[0] = r->op[0] = r->source[0] = '\0';
    arenaut_status st = arn_xla_take(r, value->defined_at, "a location", &location);
    if (st != ARENAUT_OK) return st;
    copy_text(r, location.bytes[LOCATION_INSTRUCTION_NAME], ARN_XLA_NAME_LIMIT, r->name);
    const uint32_t instruction =
        arn_xla_find(r->instruction_ids, r->instructions_in_order, r->n_instructions,
                     location.number[LOCATION_INSTRUCTION]);
    /* Files of before ids have 0 there, for all. */
    if (instruction != ARENAUT_NONE && location.number[LOCATION_INSTRUCTION] != 0) {
        st = arn_xla_take(r, r->instructions[instruction], "an instruction", &fields);
        if (st != ARENAUT_OK) return st;
        copy_text(r, fields.bytes[INSTRUCTION_NAME], ARN_XLA_NAME_LIMIT, r->name);
        copy_text(r, fields.bytes[INSTRUCTION_OPCODE], ARN_XLA_NAME_LIMIT, r->op);
        st = write_source(r, fields.bytes[INSTRUCTION_METADATA]);
    }
    if (st != ARENAUT_OK || !*r->name) return st;
    return append_shape_index(r, location.bytes[LOCATION_SHAPE_INDEX]);
}
