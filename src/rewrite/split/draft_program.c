/* From a draft to a program. Numbers of tensors that are no longer used go to new ones first, so
 * that what names tensors by number from outside the ops, as signatures do, stays right. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/utf8.h"
#include "rewrite/split/draft.h"

enum { NAME_LIMIT = 200 };

typedef struct making {
    const arn_draft *draft;
    const arenaut_program *before;
    arenaut_rewrite *made;
    uint32_t n_tensors;            /* of the program that is made */
    uint32_t *number;              /* per new tensor of the draft: what it is there */
    uint32_t *new_there;           /* per tensor there: the new tensor; ARENAUT_NONE: as before */
    uint32_t *parts;               /* per tensor before: new ones named after it so far */
    uint32_t *ids;                 /* arguments of the op at work */
    arenaut_attribute *attributes; /* likewise */
    uint32_t n_constants;
    arenaut_error *err;
} making;

static void mark(uint8_t *used, const uint32_t *ids, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] != ARENAUT_NONE) used[ids[i]] = 1;
    }
}

/* Numbers of the program before that its ops use, and the draft does not. */
static arenaut_status find_free(const making *m, uint8_t *used) {
    const uint32_t n = m->before->n_tensors + m->draft->n_tensors;
    const arenaut_method *method = &m->before->methods[0];
    uint8_t *still = arn_allocate_zeroed(m->draft->graph->allocator, n, 1);
    if (!still) return arn_no_memory(m->err);
    for (uint32_t i = 0; i < m->before->n_ops; i++) {
        const arenaut_op *op = &m->before->ops[i];
        mark(used, op->inputs, op->n_inputs);
        mark(used, op->outputs, op->n_outputs);
    }
    mark(still, m->draft->arguments, m->draft->n_arguments);
    mark(still, method->inputs, method->n_inputs);
    mark(still, method->outputs, method->n_outputs);
    for (uint32_t t = 0; t < m->before->n_tensors; t++) used[t] = used[t] && !still[t];
    arn_release(m->draft->graph->allocator, still);
    return ARENAUT_OK;
}

static arenaut_status number_tensors(making *m) {
    const uint32_t n_before = m->before->n_tensors, n_new = m->draft->n_tensors;
    uint8_t *is_free = arn_allocate_zeroed(m->draft->graph->allocator, n_before, 1);
    const arenaut_status st = is_free ? find_free(m, is_free) : arn_no_memory(m->err);
    uint32_t next = 0;
    for (uint32_t t = 0; st == ARENAUT_OK && t < n_before; t++) {
        m->new_there[t] = ARENAUT_NONE;
        if (!is_free[t] || next == n_new) continue;
        m->new_there[t] = next;
        m->number[next++] = t;
    }
    m->n_tensors = n_before;
    while (st == ARENAUT_OK && next < n_new) {
        m->new_there[m->n_tensors] = next;
        m->number[next++] = m->n_tensors++;
    }
    arn_release(m->draft->graph->allocator, is_free);
    return st;
}

/* "conv1/2" is the second tensor that comes from "conv1". */
static void name_tensor(making *m, const arn_draft_tensor *from, char name[NAME_LIMIT + 16]) {
    const uint32_t source = from->origin.tensor;
    if (source == ARENAUT_NONE) {
        snprintf(name, NAME_LIMIT, "split/%" PRIu32, ++m->n_constants);
        return;
    }
    const char *base = m->before->tensors[source].name;
    const size_t length = base ? arn_utf8_cut((const uint8_t *)base, strlen(base), NAME_LIMIT) : 0;
    if (base) memcpy(name, base, length);
    snprintf(name + length, 16, "/%" PRIu32, ++m->parts[source]);
}

arenaut_tensor arn_draft_describe_tensor(const arn_draft *draft, uint32_t number) {
    const arenaut_program *before = draft->graph->program;
    if (number < before->n_tensors) return before->tensors[number];
    const arn_draft_tensor *from = &draft->tensors[number - before->n_tensors];
    arenaut_tensor tensor = arenaut_tensor_default();
    if (from->origin.tensor == ARENAUT_NONE) {
        tensor.dtype = ARENAUT_DTYPE_INT32;
        tensor.method = 0;
        tensor.cls = ARENAUT_CONSTANT;
        tensor.values = from->values;
        tensor.n_values = from->n_values;
    } else {
        const arenaut_tensor *old = &before->tensors[from->origin.tensor];
        tensor.dtype = old->dtype;
        tensor.method = old->method;
        tensor.align = old->align;
        tensor.device = old->device;
        tensor.source = old->source;
        tensor.cls = old->cls == ARENAUT_CONSTANT ? ARENAUT_CONSTANT : ARENAUT_INTERMEDIATE;
    }
    tensor.rank = from->rank;
    tensor.dims = from->dims;
    tensor.bytes = from->bytes;
    return tensor;
}

static arenaut_status add_new(making *m, uint32_t new) {
    char name[NAME_LIMIT + 16];
    arenaut_tensor tensor = arn_draft_describe_tensor(m->draft, m->before->n_tensors + new);
    name_tensor(m, &m->draft->tensors[new], name);
    tensor.name = name;
    const arenaut_status st =
        arenaut_dense_bytes(tensor.dtype, tensor.dims, tensor.rank, &tensor.bytes, m->err);
    return st == ARENAUT_OK ? arenaut_program_add_tensor(m->made->program, &tensor, NULL, m->err)
                            : st;
}

/* Whatever the file said of places was said of another program. */
static arenaut_status add_old(making *m, uint32_t t) {
    arenaut_tensor tensor = m->before->tensors[t];
    tensor.given_pool = ARENAUT_NONE;
    tensor.given_offset = ARENAUT_UNPLACED;
    return arenaut_program_add_tensor(m->made->program, &tensor, NULL, m->err);
}

static arenaut_status add_tensors(making *m) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t t = 0; t < m->n_tensors && st == ARENAUT_OK; t++) {
        const uint32_t new = m->new_there[t];
        st = new == ARENAUT_NONE ? add_old(m, t) : add_new(m, new);
        if (st != ARENAUT_OK) return st;
        const arenaut_origin same = {t, true, ARENAUT_NONE, 0};
        m->made->tensors[t] = new == ARENAUT_NONE ? same : m->draft->tensors[new].origin;
        /* It may be read and written back: its number in the file is its place among its
         * method's tensors. */
        m->made->program->tensors[t].file_index = t;
    }
    return st;
}

static const arenaut_attribute no_padding = {"padding", 0, NULL, "VALID"};

void arn_draft_describe_op(const arn_draft *draft, const arn_draft_op *from,
                           arenaut_attribute *attributes, arenaut_op *op) {
    if (from->before == ARENAUT_NONE) {
        *op = (arenaut_op){.name = from->name, .kind = ARENAUT_OP_OUT};
        attributes[0] = (arenaut_attribute){"axis", 1, &from->axis, NULL};
        op->n_attributes = strcmp(from->name, "CONCATENATION") == 0 ? 1 : 0;
        op->attributes = attributes;
        return;
    }
    *op = draft->graph->program->ops[from->before];
    if (!from->valid) return;
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        const bool padding = strcmp(op->attributes[i].name, no_padding.name) == 0;
        attributes[i] = padding ? no_padding : op->attributes[i];
    }
    op->attributes = attributes;
}

static arenaut_status add_op(making *m, uint32_t index) {
    const arn_draft_op *from = &m->draft->ops[index];
    const uint32_t n_before = m->before->n_tensors;
    arenaut_op op;
    arn_draft_describe_op(m->draft, from, m->attributes, &op);
    for (uint32_t i = 0; i < from->n_inputs + from->n_outputs; i++) {
        const uint32_t id = m->draft->arguments[from->first + i];
        m->ids[i] = id == ARENAUT_NONE || id < n_before ? id : m->number[id - n_before];
    }
    op.inputs = m->ids;
    op.n_inputs = from->n_inputs;
    op.outputs = m->ids + from->n_inputs;
    op.n_outputs = from->n_outputs;
    m->made->ops[index] = from->before;
    return arenaut_program_add_op(m->made->program, &op, NULL, m->err);
}

static arenaut_status add_method(making *m) {
    const arenaut_method *old = &m->before->methods[0];
    arenaut_program *program = m->made->program;
    arenaut_status st = arenaut_program_add_method(program, old->name, old->entry, NULL, m->err);
    if (st == ARENAUT_OK) st = add_tensors(m);
    for (uint32_t i = 0; i < m->draft->n_ops && st == ARENAUT_OK; i++) st = add_op(m, i);
    if (st != ARENAUT_OK) return st;
    st = arenaut_program_set_method_io(program, 0, old->inputs, old->n_inputs, old->outputs,
                                       old->n_outputs, m->err);
    if (st == ARENAUT_OK && m->before->dialect) {
        st = arenaut_program_set_dialect(program, m->before->dialect, m->err);
    }
    program->dialect_version = m->before->dialect_version;
    if (st == ARENAUT_OK) st = arenaut_program_validate(program, m->err);
    if (st == ARENAUT_OK) m->made->after = arenaut_program_fingerprint(program);
    return st;
}

/* All that is handed out lives as long as the program. */
static arenaut_status make(making *m, const arenaut_split_stage *stages, uint32_t n_stages) {
    arenaut_program *program = NULL;
    arn_draft_cost cost, before;
    arn_draft whole = arn_draft_begin(m->draft->graph);
    for (uint32_t i = 0; i < m->before->n_ops; i++) arn_draft_copy(&whole, i);
    const bool costed =
        arn_draft_cost_of(m->draft, &cost, NULL) && arn_draft_cost_of(&whole, &before, NULL);
    arn_draft_free(&whole);
    arenaut_status st = costed ? arenaut_program_new(m->draft->graph->allocator, &program, m->err)
                               : arn_no_memory(m->err);
    if (st != ARENAUT_OK) return st;
    m->made = arenaut_program_alloc(program, sizeof *m->made);
    arenaut_rewrite made = {
        .program = program,
        .n_tensors = m->n_tensors,
        .n_ops = m->draft->n_ops,
        .before = arenaut_program_fingerprint(m->before),
        .tensors = arenaut_program_alloc(program, m->n_tensors * sizeof *made.tensors),
        .ops = arenaut_program_alloc(program, m->draft->n_ops * sizeof *made.ops),
        .stages = arenaut_program_alloc(program, n_stages * sizeof *stages),
        .n_stages = n_stages,
        .n_ops_before = m->before->n_ops,
        .macs = cost.macs,
        .macs_before = before.macs,
    };
    if (m->made && made.tensors && made.ops && made.stages) {
        if (n_stages > 0) memcpy(made.stages, stages, n_stages * sizeof *stages);
        *m->made = made;
        st = add_method(m);
    } else {
        st = arn_no_memory(m->err);
    }
    if (st != ARENAUT_OK) arenaut_program_free(program);
    return st;
}

uint32_t arn_draft_most_attributes(const arenaut_program *program) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        if (program->ops[i].n_attributes > most) most = program->ops[i].n_attributes;
    }
    return most;
}

arenaut_status arn_draft_finish(const arn_draft *draft, const arenaut_split_stage *stages,
                                uint32_t n_stages, arenaut_rewrite **out, arenaut_error *err) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    const arenaut_program *before = draft->graph->program;
    const size_t n = (size_t)before->n_tensors + draft->n_tensors;
    if (draft->failed) return arn_no_memory(err);
    making m = {.draft = draft, .before = before, .err = err};
    m.number = arn_allocate(allocator, n, sizeof *m.number);
    m.new_there = arn_allocate(allocator, n, sizeof *m.new_there);
    m.parts = arn_allocate_zeroed(allocator, n, sizeof *m.parts);
    m.ids = arn_allocate(allocator, draft->n_arguments, sizeof *m.ids);
    m.attributes = arn_allocate(allocator, arn_draft_most_attributes(before), sizeof *m.attributes);
    arenaut_status st = m.number && m.new_there && m.parts && m.ids && m.attributes
                            ? number_tensors(&m)
                            : arn_no_memory(err);
    if (st == ARENAUT_OK) st = make(&m, stages, n_stages);
    if (st == ARENAUT_OK) *out = m.made;
    arn_release(allocator, m.number);
    arn_release(allocator, m.new_there);
    arn_release(allocator, m.parts);
    arn_release(allocator, m.ids);
    arn_release(allocator, m.attributes);
    return st;
}

void arenaut_rewrite_free(arenaut_rewrite *rewrite) {
    if (rewrite) arenaut_program_free(rewrite->program);
}
