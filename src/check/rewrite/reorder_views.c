/* Aliases in a graph before its passes, derived from operator traits and the layouts of results;
 * and views that became copies. */
#include "check/rewrite/reorder_views.h"

#include <string.h>

#include <arenaut/dialect.h>

/* Row-major without gaps; the stride of a dimension of 1 is irrelevant. */
static bool is_dense(const arenaut_tensor *t) {
    uint64_t elements = 1;
    bool dense = true;
    for (uint32_t i = t->rank; dense && i > 0; i--) {
        const int64_t dim = t->dims[i - 1];
        dense = dim == 1 || !t->strides || (dim >= 0 && (uint64_t)t->strides[i - 1] == elements);
        if (dim > 0) elements *= (uint64_t)dim; /* a tensor's bytes fit into 64 bits */
    }
    return dense;
}

static bool is_off(const arenaut_op *op, const char *attribute) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        const arenaut_attribute *a = &op->attributes[i];
        if (strcmp(a->name, attribute) == 0 && a->n_numbers == 1) return a->numbers[0] == 0;
    }
    return false;
}

/* Such an operator copies densely, and only if it must: of a dense operand it returns a view, and a
 * result that is not dense is no copy. */
static bool returns_operand(const arenaut_program *p, const arenaut_op *op) {
    const uint32_t made = op->outputs[0];
    if (op->n_outputs != 1 || made == ARENAUT_NONE) return false;
    const arenaut_tensor *from = &p->tensors[op->inputs[0]], *to = &p->tensors[made];
    if (from->dtype != to->dtype || from->unsized || to->unsized) return false;
    if (strcmp(op->name, "aten::dropout") == 0 && !is_off(op, "train")) return false;
    return is_dense(from) || !is_dense(to);
}

/* The dialect's traits of an op with operands and results; else 0. */
static uint32_t traits_of(const arenaut_program *program, const arenaut_op *op) {
    if (op->kind != ARENAUT_OP_FUNCTIONAL || op->n_inputs == 0 || op->inputs[0] == ARENAUT_NONE ||
        op->n_outputs == 0) {
        return 0;
    }
    const arenaut_operator *known =
        arenaut_dialect_operator(arenaut_dialect_find(program->dialect), op->name);
    return known ? known->traits : 0;
}

bool arn_reorder_always_names(const arenaut_program *program, const arenaut_op *op) {
    return (traits_of(program, op) & ARENAUT_TRAIT_VIEW) != 0;
}

bool arn_reorder_is_view(const arenaut_program *program, const arenaut_op *op) {
    if (op->kind == ARENAUT_OP_VIEW) return op->n_inputs > 0 && op->inputs[0] != ARENAUT_NONE;
    const uint32_t traits = traits_of(program, op);
    if (traits & ARENAUT_TRAIT_VIEW) return true;
    return (traits & ARENAUT_TRAIT_MAY_VIEW) && !(traits & ARENAUT_TRAIT_COPIES) &&
           returns_operand(program, op);
}

/* ---- aliases ---- */

typedef struct naming {
    const arenaut_program *program;
    uint32_t shared;
    arn_reorder_names *names;
} naming;

static void name_own(const naming *n, uint32_t t) {
    const arenaut_tensor *tensor = &n->program->tensors[t];
    const uint32_t s = arenaut_program_storage(n->program, t, NULL);
    const bool is_shared = n->program->tensors[s].qualified_name != NULL;
    const bool placed = tensor->view_of == s && !tensor->strides && !is_shared;
    n->names->storage[t] = is_shared ? n->shared : s;
    n->names->begin[t] = placed ? tensor->view_offset : 0;
    n->names->bytes[t] = placed ? tensor->bytes : 0;
}

/* In a graph before its passes a view has the file's offset; an impossible one means that it is no
 * alias. */
static bool place_view(const naming *n, uint32_t storage, uint32_t t) {
    if (storage == n->shared) return true;
    const arenaut_tensor *tensor = &n->program->tensors[t];
    const arenaut_tensor *whole = &n->program->tensors[storage];
    if (tensor->view_offset < whole->view_offset) return false;
    const uint64_t begin = tensor->view_offset - whole->view_offset;
    if (tensor->bytes > whole->bytes || begin > whole->bytes - tensor->bytes) return false;
    if (!is_dense(tensor)) return true;
    n->names->begin[t] = begin;
    n->names->bytes[t] = tensor->bytes;
    return true;
}

static void name_result(const naming *n, const arenaut_op *op, uint32_t from, uint32_t t) {
    if (from == ARENAUT_NONE || t == ARENAUT_NONE || n->names->storage[t] != t) return;
    const uint32_t storage = n->names->storage[from];
    if (op->kind == ARENAUT_OP_FUNCTIONAL && !place_view(n, storage, t)) return;
    n->names->storage[t] = storage;
    if (op->kind != ARENAUT_OP_IN_PLACE) return;
    n->names->begin[t] = n->names->begin[from];
    n->names->bytes[t] = n->names->bytes[from];
}

static void name_updated(const naming *n, const arenaut_op *op) {
    for (uint32_t k = 0; k < op->n_in_place; k++) {
        const arenaut_in_place pair = op->in_place[k];
        name_result(n, op, op->inputs[pair.input], op->outputs[pair.output]);
    }
    if (op->n_in_place > 0 || op->n_inputs == 0 || op->n_outputs == 0) return;
    name_result(n, op, op->inputs[0], op->outputs[0]);
}

bool arn_reorder_names_find(const arenaut_program *program, const bool *copied, uint32_t shared,
                            arn_region *region, arn_reorder_names *names) {
    const naming n = {program, shared, names};
    names->storage = arn_region_allocate(region, program->n_tensors, sizeof *names->storage);
    names->begin = arn_region_allocate(region, program->n_tensors, 2 * sizeof *names->begin);
    if (!names->storage || !names->begin) return false;
    names->bytes = names->begin + program->n_tensors;
    for (uint32_t t = 0; t < program->n_tensors; t++) name_own(&n, t);
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        if (op->kind == ARENAUT_OP_IN_PLACE) name_updated(&n, op);
        if (!arn_reorder_is_view(program, op) || (copied && copied[i])) continue;
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            name_result(&n, op, op->inputs[0], op->outputs[k]);
        }
    }
    return true;
}

/* ---- copies ---- */

bool arn_reorder_is_copy_of(const arenaut_op *old, const arenaut_op *new) {
    static const char *const pairs[][2] = {
        {"aten::select.int", "aten::select_copy.int"},
        {"aten::slice.Tensor", "aten::slice_copy.Tensor"},
        {"aten::split.Tensor", "aten::split_copy.Tensor"},
        {"aten::split_with_sizes", "aten::split_with_sizes_copy"},
        {"aten::unbind.int", "aten::unbind_copy.int"},
    };
    if (!old->name || !new->name || old->kind != ARENAUT_OP_FUNCTIONAL) return false;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(old->name, pairs[i][0]) == 0) return strcmp(new->name, pairs[i][1]) == 0;
    }
    return false;
}

bool arn_reorder_is_dense_copy(const arenaut_tensor *view, const arenaut_tensor *copy) {
    uint64_t bytes;
    const bool same =
        view->dtype == copy->dtype && view->rank == copy->rank &&
        (view->rank == 0 || memcmp(view->dims, copy->dims, view->rank * sizeof *view->dims) == 0);
    return same && is_dense(view) && is_dense(copy) && !view->unsized && !copy->unsized &&
           !view->dynamic && !copy->dynamic && view->view_of == ARENAUT_NONE &&
           copy->view_of == ARENAUT_NONE && copy->view_offset == 0 &&
           arenaut_dense_bytes(view->dtype, view->dims, view->rank, &bytes, NULL) == ARENAUT_OK &&
           copy->bytes == bytes;
}

/* Only ops of computing kinds are known not to write their operands. */
static bool may_write_operands(const arenaut_op *op) {
    return op->kind != ARENAUT_OP_OUT && op->kind != ARENAUT_OP_FUNCTIONAL &&
           op->kind != ARENAUT_OP_VIEW;
}

bool arn_reorder_copies_keep(const arenaut_program *program, const bool *copied, arn_region *region,
                             bool *room) {
    arn_reorder_names names;
    bool *named = arn_region_allocate(region, (size_t)program->n_tensors + 1, sizeof *named);
    bool keep = true;
    *room = named && arn_reorder_names_find(program, NULL, program->n_tensors, region, &names);
    if (!*room) return false;
    memset(named, 0, ((size_t)program->n_tensors + 1) * sizeof *named);
    for (uint32_t i = 0; keep && i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        for (uint32_t k = 0; keep && may_write_operands(op) && k < op->n_inputs; k++) {
            keep = op->inputs[k] == ARENAUT_NONE || !named[names.storage[op->inputs[k]]];
        }
        if (copied[i]) named[names.storage[op->inputs[0]]] = true;
    }
    return keep;
}
