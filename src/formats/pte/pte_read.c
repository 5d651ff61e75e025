/* Reader of .pte files: every execution plan becomes an entry method, its values that are tensors
 * follow one another in the program, and each instruction is one op. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "formats/pte/pte_reader.h"
#include "formats/pte/pte_schema.h"
#include "ir/program.h"

enum {
    EXPANSION = 64, /* bytes of memory per byte of file; real programs stay under 10 */
    EXPANSION_BASE = 1 << 16,
};

/* The arenas: entry 0 of the list is reserved. */
static arenaut_status read_pools(arn_pte_reader *r) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector sizes = arn_fb_vector_field(fb, r->plan, PLAN_BUFFER_SIZES, 8);
    r->n_pools = sizes.count > 0 ? sizes.count - 1 : 0;
    arenaut_status st = arn_pte_charge(r, r->n_pools, 4 * sizeof *r->pools);
    if (st != ARENAUT_OK) return st;
    if (!arn_grow(r->allocator, (void **)&r->pools, &r->pools_capacity, r->n_pools,
                  sizeof *r->pools)) {
        return arn_no_memory(r->err);
    }
    if (r->n_pools > 0) memset(r->pools, 0, r->n_pools * sizeof *r->pools);
    for (uint32_t i = 0; i < r->n_pools; i++) {
        const size_t at = sizes.at + 8 * ((size_t)i + 1);
        r->pools[i].bytes = arn_load(fb->data + at, 8);
        if (r->pools[i].bytes <= ARENAUT_SIZE_MAX) continue;
        char what[96];
        snprintf(what, sizeof what, "memory %" PRIu32 " has a size of %" PRId64 " bytes", i + 1,
                 arn_signed(r->pools[i].bytes, 8));
        return arn_pte_bad(r, ARENAUT_BAD_INPUT, at, what);
    }
    return ARENAUT_OK;
}

/* The memories that are not the host's. */
static arenaut_status read_devices(arn_pte_reader *r) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector devices = arn_fb_vector_field(fb, r->plan, PLAN_BUFFER_DEVICES, 4);
    for (uint32_t i = 0; i < devices.count; i++) {
        const arn_fb_table entry = arn_fb_item_table(fb, devices, i);
        const int32_t buffer = arn_fb_i32(fb, entry, DEVICE_BUFFER, 0);
        const int8_t type = arn_fb_i8(fb, entry, DEVICE_TYPE, 0);
        const int8_t index = arn_fb_i8(fb, entry, DEVICE_INDEX, 0);
        if (fb->wrong) break;
        char what[120];
        if (buffer < 1 || (uint32_t)buffer > r->n_pools) {
            snprintf(what, sizeof what,
                     "its device table names memory %" PRId32 "; there are %" PRIu32
                     ", counted from 1",
                     buffer, r->n_pools);
            return arn_pte_bad(r, ARENAUT_BAD_INPUT, entry.at, what);
        }
        if (type < 0 || index < 0) {
            snprintf(what, sizeof what, "memory %" PRId32 " is on device %d.%d", buffer, type,
                     index);
            return arn_pte_bad(r, ARENAUT_BAD_INPUT, entry.at, what);
        }
        r->pools[buffer - 1].device.type = (uint16_t)type;
        r->pools[buffer - 1].device.index = (uint16_t)index;
    }
    return arn_pte_status(r);
}

static arenaut_status read_value(arn_pte_reader *r, arn_fb_table table, uint32_t index) {
    arn_flatbuffer *fb = &r->model.fb;
    arn_pte_value *value = &r->values[index];
    memset(value, 0, sizeof *value);
    value->tensor = ARENAUT_NONE;
    value->type = arn_fb_u8(fb, table, VALUE_TYPE, 0);
    value->table = arn_fb_table_field(fb, table, VALUE);
    arenaut_status st = arn_pte_status(r);
    if (st != ARENAUT_OK) return st;
    if (value->type == 0 || value->type > PTE_VALUE_TYPES) {
        char what[80];
        snprintf(what, sizeof what, "a value of type %u is not known; 1 to %d are", value->type,
                 PTE_VALUE_TYPES);
        return arn_pte_bad(r, ARENAUT_UNSUPPORTED, table.at, what);
    }
    if (value->type != PTE_NULL && value->table.at == 0) {
        return arn_pte_bad(r, ARENAUT_BAD_INPUT, table.at, "its content is missing");
    }
    return value->type == PTE_TENSOR ? arn_pte_read_tensor(r, index) : ARENAUT_OK;
}

static arenaut_status read_values(arn_pte_reader *r) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector values = arn_fb_vector_field(fb, r->plan, PLAN_VALUES, 4);
    arenaut_status st = arn_pte_charge(r, values.count, 2 * sizeof *r->values);
    if (st != ARENAUT_OK) return st;
    if (!arn_grow(r->allocator, (void **)&r->values, &r->values_capacity, values.count,
                  sizeof *r->values)) {
        return arn_no_memory(r->err);
    }
    r->n_values = values.count;
    for (uint32_t i = 0; i < values.count && st == ARENAUT_OK; i++) {
        arn_pte_now(r, "value", i);
        st = read_value(r, arn_fb_item_table(fb, values, i), i);
    }
    return st;
}

/* Whether both are given one memory, and all of the first lies in the second. */
static bool lies_inside(const arenaut_tensor *inner, const arenaut_tensor *outer) {
    return inner->given_pool == outer->given_pool && inner->given_offset >= outer->given_offset &&
           inner->given_offset + inner->bytes <= outer->given_offset + outer->bytes;
}

/* Exporters give the name of a state to views of it, too, where an op updates it through one: a
 * tensor of the name of an earlier one, in whose place it lies, is a view. */
static arenaut_status join_views(arn_pte_reader *r, uint32_t first_tensor) {
    arenaut_tensor *tensors = r->program->tensors;
    const uint32_t n_tensors = r->program->n_tensors - first_tensor;
    uint32_t *named = arn_allocate(r->allocator, n_tensors, 2 * sizeof *named), n = 0;
    if (!named) return arn_no_memory(r->err);
    for (uint32_t t = first_tensor; t < r->program->n_tensors; t++) {
        if (tensors[t].qualified_name) named[n++] = t;
    }
    arn_sort_ids(named, n, arn_by_qualified_name, tensors, named + n);
    for (uint32_t i = 1, base = 0; i < n; i++) {
        const arenaut_tensor *state = &tensors[named[base]];
        arenaut_tensor *tensor = &tensors[named[i]];
        const bool same = strcmp(tensor->qualified_name, state->qualified_name) == 0;
        if (!same) base = i;
        if (!same || !lies_inside(tensor, state)) continue;
        tensor->view_of = named[base];
        tensor->view_offset = tensor->given_offset - state->given_offset;
        tensor->qualified_name = NULL;
        tensor->cls = ARENAUT_INTERMEDIATE;
    }
    arn_release(r->allocator, named);
    return ARENAUT_OK;
}

/* The tensors among a method's inputs or outputs; numbers and texts are not planned. */
static arenaut_status read_arguments(arn_pte_reader *r, unsigned slot, const char *what,
                                     bool written, arn_id_list *to) {
    const arn_fb_vector vector = arn_fb_vector_field(&r->model.fb, r->plan, slot, 4);
    to->n = 0;
    for (uint32_t i = 0; i < vector.count; i++) {
        const int32_t index = arn_fb_item_i32(&r->model.fb, vector, i);
        arn_pte_value *value = arn_pte_value_at(r, index, vector.at + (size_t)i * 4, what);
        if (!value) return ARENAUT_BAD_INPUT;
        value->written = value->written || written;
        const uint32_t before = to->n;
        const arenaut_status st = arn_pte_append(r, value, to);
        if (st != ARENAUT_OK) return st;
        uint32_t kept = before;
        for (uint32_t k = before; k < to->n; k++) {
            if (to->ids[k] != ARENAUT_NONE) to->ids[kept++] = to->ids[k];
        }
        to->n = kept;
    }
    return arn_pte_status(r);
}

static void mark_class(arenaut_program *program, const arn_id_list *list, arenaut_class cls) {
    for (uint32_t i = 0; i < list->n; i++) {
        arenaut_tensor *tensor = &program->tensors[list->ids[i]];
        if (tensor->cls == ARENAUT_INTERMEDIATE) tensor->cls = cls;
    }
}

static arenaut_status read_io(arn_pte_reader *r) {
    arn_pte_now(r, NULL, 0);
    arenaut_status st = read_arguments(r, PLAN_INPUTS, "an input", true, &r->inputs);
    if (st == ARENAUT_OK) st = read_arguments(r, PLAN_OUTPUTS, "an output", false, &r->outputs);
    if (st != ARENAUT_OK) return st;
    mark_class(r->program, &r->inputs, ARENAUT_INPUT);
    mark_class(r->program, &r->outputs, ARENAUT_OUTPUT);
    return arenaut_program_set_method_io(r->program, r->method, r->inputs.ids, r->inputs.n,
                                         r->outputs.ids, r->outputs.n, r->err);
}

/* "file:line" of the innermost frame that is known for an instruction; NULL if none. */
static arenaut_status read_source(arn_pte_reader *r, arn_fb_vector traces, uint32_t index,
                                  const char **source) {
    arn_flatbuffer *fb = &r->model.fb;
    *source = NULL;
    if (index >= traces.count) return ARENAUT_OK;
    const arn_fb_table list = arn_fb_item_table(fb, traces, index);
    const arn_fb_vector frames = arn_fb_vector_field(fb, list, FRAMES_ITEMS, 4);
    if (frames.count == 0) return ARENAUT_OK;
    const arn_fb_table frame = arn_fb_item_table(fb, frames, frames.count - 1);
    const arenaut_status st = arn_pte_text(r, frame, FRAME_FILE, r->name);
    if (st != ARENAUT_OK || !r->name[0]) return st;
    snprintf(r->source, sizeof r->source, "%s:%" PRId32, r->name,
             arn_fb_i32(fb, frame, FRAME_LINE, 0));
    *source = r->source;
    return ARENAUT_OK;
}

static arenaut_status read_chain(arn_pte_reader *r, arn_fb_table chain) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector instructions = arn_fb_vector_field(fb, chain, CHAIN_INSTRUCTIONS, 4);
    const arn_fb_vector traces = arn_fb_vector_field(fb, chain, CHAIN_STACKTRACE, 4);
    arenaut_status st = arn_pte_status(r);
    r->n_instructions = instructions.count;
    r->last_scalar = ARENAUT_NONE;
    for (uint32_t i = 0; i < instructions.count && st == ARENAUT_OK; i++) {
        arn_pte_now(r, "instruction", i);
        st = arn_pte_note_writes(r, arn_fb_item_table(fb, instructions, i));
    }
    for (uint32_t i = 0; i < instructions.count && st == ARENAUT_OK; i++) {
        const char *source;
        r->instruction = i;
        arn_pte_now(r, "instruction", i);
        st = read_source(r, traces, i, &source);
        if (st != ARENAUT_OK) return st;
        st = arn_pte_read_instruction(r, arn_fb_item_table(fb, instructions, i), source);
    }
    return st;
}

static arenaut_status read_chains(arn_pte_reader *r) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector chains = arn_fb_vector_field(fb, r->plan, PLAN_CHAINS, 4);
    if (chains.count > 1) {
        char what[96];
        snprintf(what, sizeof what,
                 "%" PRIu32 " chains of instructions; only one, in order, is supported",
                 chains.count);
        return arn_pte_bad(r, ARENAUT_UNSUPPORTED, chains.at, what);
    }
    return chains.count == 1 ? read_chain(r, arn_fb_item_table(fb, chains, 0)) : ARENAUT_OK;
}

static arenaut_status read_method(arn_pte_reader *r, arn_fb_table plan) {
    const uint32_t first_tensor = r->program->n_tensors;
    r->plan = plan;
    arn_pte_now(r, NULL, 0);
    arenaut_status st = arn_pte_charge(r, 1, 2 * sizeof(arenaut_method));
    if (st == ARENAUT_OK) st = arn_pte_text(r, plan, PLAN_NAME, r->name);
    if (st == ARENAUT_OK) st = arn_pte_status(r);
    if (st == ARENAUT_OK) {
        st = arn_program_add_method(r->program, r->name[0] ? r->name : NULL, true, NULL, r->err);
    }
    if (st == ARENAUT_OK) st = read_pools(r);
    if (st == ARENAUT_OK) st = read_devices(r);
    if (st == ARENAUT_OK) {
        st = arn_program_set_given_pools(r->program, r->method, r->pools, r->n_pools, r->err);
    }
    r->operators = arn_fb_vector_field(&r->model.fb, plan, PLAN_OPERATORS, 4);
    r->delegates = arn_fb_vector_field(&r->model.fb, plan, PLAN_DELEGATES, 4);
    if (st == ARENAUT_OK) st = read_values(r);
    if (st == ARENAUT_OK) st = join_views(r, first_tensor);
    if (st == ARENAUT_OK) st = arn_pte_find_alignment(r, first_tensor);
    if (st == ARENAUT_OK) st = read_io(r);
    if (st == ARENAUT_OK) st = read_chains(r);
    if (st == ARENAUT_OK) st = arn_pte_begin_loops(r);
    return st == ARENAUT_OK ? arn_pte_status(r) : st;
}

static arenaut_status read_program(arn_pte_reader *r) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_table root = r->model.root;
    const arn_fb_table constants = arn_fb_table_field(fb, root, PROGRAM_CONSTANT_SEGMENT);
    r->n_constants = arn_fb_vector_field(fb, root, PROGRAM_CONSTANT_BUFFER, 4).count;
    if (r->n_constants == 0) {
        r->n_constants = arn_fb_vector_field(fb, constants, SUBSEGMENT_OFFSETS, 8).count;
    }
    r->mutable_segments = arn_fb_vector_field(fb, root, PROGRAM_MUTABLE_DATA_SEGMENTS, 4);
    arenaut_status st = arn_pte_status(r);
    for (uint32_t m = 0; m < r->model.plans.count && st == ARENAUT_OK; m++) {
        r->method = m;
        st = read_method(r, arn_fb_item_table(fb, r->model.plans, m));
    }
    return st == ARENAUT_OK ? arn_program_validate(r->program, r->err) : st;
}

static void tell_notes(const arn_pte_reader *r, const arenaut_read_options *options) {
    if (r->n_dynamic == 0 || !options || !options->note) return;
    char text[160];
    snprintf(text, sizeof text,
             "%" PRIu32
             " tensors have shapes that may change at run time; they are planned with the upper "
             "bounds that the file states",
             r->n_dynamic);
    options->note(options->note_context, text);
}

arenaut_status arn_pte_read(const uint8_t *data, size_t size, size_t file_size,
                            const arenaut_read_options *options, const arenaut_allocator *allocator,
                            arenaut_program **out, arenaut_error *err) {
    arn_pte_reader r;
    memset(&r, 0, sizeof r);
    r.data = data;
    r.size = size;
    r.allocator = allocator;
    r.err = err;
    r.method = ARENAUT_NONE;
    arenaut_status st = arn_pte_open(data, size, file_size, &r.model, err);
    if (st != ARENAUT_OK) return st;
    r.allowance =
        arn_allowance_for(file_size, EXPANSION, EXPANSION_BASE, options ? options->max_memory : 0);
    st = arn_program_new(allocator, &r.program, err);
    if (st == ARENAUT_OK) st = read_program(&r);
    if (st == ARENAUT_OK) {
        tell_notes(&r, options);
        *out = r.program;
        r.program = NULL; /* handed over */
    }
    arn_program_free(r.program);
    ARN_RELEASE(allocator, r.values, r.pools, r.args.ids, r.inputs.ids, r.outputs.ids, r.dims,
                r.strides);
    return st;
}
