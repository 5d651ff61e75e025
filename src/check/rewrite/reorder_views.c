/* Aliases in a graph before its passes, derived from operator traits and the layouts of results;
 * views that became copies; and memory cells: a storage is cut wherever a view that ops write
 * independently begins or ends. */
#include "check/rewrite/check_reorder.h"

#include <string.h>

#include <arenaut/dialect.h>

#include "core/sort.h"
#include "dialects/dialect.h"
#include "ir/program.h"

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
        arn_dialect_operator(arenaut_dialect_find(program->dialect), op->name);
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
 * alias, and one that is not known that it may be anywhere. */
static bool place_view(const naming *n, uint32_t storage, uint32_t t) {
    if (storage == n->shared) return true;
    const arenaut_tensor *tensor = &n->program->tensors[t];
    const arenaut_tensor *whole = &n->program->tensors[storage];
    if (tensor->view_offset == ARENAUT_SIZE_MAX) return true;
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
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(names->storage, program->n_tensors),
                           ARN_ARRAY(names->begin, 2 * (size_t)program->n_tensors))) {
        return false;
    }
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

/* ---- cells ---- */

#define MOST_CELLS (UINT64_C(1) << 24) /* over all arguments: else one cell per storage */

/* Cut positions, sorted by storage and then by byte. */
typedef struct places {
    uint64_t *bytes;
    uint32_t *storage, *ids;
    uint32_t n;
} places;

/* A view with a known byte range that it covers completely. */
static bool is_piece(const arn_reorder_names *names, uint32_t t) { return names->bytes[t] > 0; }

static bool place_before(const void *context, uint32_t a, uint32_t b) {
    const places *p = context;
    if (p->storage[a] == p->storage[b]) return p->bytes[a] < p->bytes[b];
    return p->storage[a] < p->storage[b];
}

static void note_output(places *list, const arenaut_program *p, const arn_reorder_names *names,
                        uint32_t t) {
    if (t == ARENAUT_NONE || !is_piece(names, t)) return;
    const uint32_t *storage = names->storage;
    const uint64_t begin = names->begin[t], end = begin + names->bytes[t];
    const uint64_t ends[] = {begin, end};
    for (int i = 0; i < 2; i++) {
        if (ends[i] == 0 || ends[i] == p->tensors[storage[t]].bytes) continue;
        list->storage[list->n] = storage[t];
        list->bytes[list->n++] = ends[i];
    }
}

static bool find_places(places *list, const arenaut_program *p, const arn_reorder_names *names,
                        arn_region *region) {
    size_t most = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) most += 2 * (size_t)p->ops[i].n_outputs;
    list->bytes = arn_region_allocate(region, most, sizeof *list->bytes);
    list->storage = arn_region_allocate(region, most, sizeof *list->storage);
    list->ids = arn_region_allocate(region, most, 2 * sizeof *list->ids);
    if (most > UINT32_MAX || !list->bytes || !list->storage || !list->ids) return false;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (!arn_op_kind_touches(op->kind)) continue;
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            note_output(list, p, names, op->outputs[k]);
        }
    }
    for (uint32_t i = 0; i < list->n; i++) list->ids[i] = i;
    arn_sort_ids(list->ids, list->n, place_before, list, list->ids + list->n);
    return true;
}

/* Removes duplicates; `begin`: per storage, and the end: its first position. */
static void drop_repeats(places *list, uint32_t *begin, uint32_t n_storages) {
    uint32_t n = 0, s = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const uint32_t id = list->ids[i];
        if (i > 0 && !place_before(list, list->ids[i - 1], id)) continue;
        while (s <= list->storage[id]) begin[s++] = n;
        list->ids[n++] = id;
    }
    while (s <= n_storages) begin[s++] = n;
    list->n = n;
}

/* The number of positions of a storage up to this byte. */
static uint32_t count_places(const places *list, const uint32_t *begin, uint32_t storage,
                             uint64_t bytes) {
    uint32_t none = begin[storage], all = begin[storage + 1];
    while (none < all) {
        const uint32_t i = none + (all - none) / 2;
        if (list->bytes[list->ids[i]] <= bytes) none = i + 1;
        else all = i;
    }
    return none - begin[storage];
}

static void number_cells(arn_reorder_cells *cells, const arenaut_program *p, const places *list,
                         const uint32_t *begin, const arn_reorder_names *names, uint32_t shared) {
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const uint32_t s = names->storage[t];
        cells->width[t] = begin[t + 1] - begin[t] + 1;
        cells->first[t] = 0;
        cells->n[t] = s == shared ? 1 : begin[s + 1] - begin[s] + 1;
        if (s == shared || !is_piece(names, t)) continue;
        cells->first[t] = count_places(list, begin, s, names->begin[t]);
        const uint32_t last = count_places(list, begin, s, names->begin[t] + names->bytes[t] - 1);
        cells->n[t] = last - cells->first[t] + 1;
    }
    cells->width[p->n_tensors] = 1;
    cells->total = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            const uint32_t t = k < op->n_inputs ? op->inputs[k] : op->outputs[k - op->n_inputs];
            if (t != ARENAUT_NONE) cells->total += cells->n[t];
        }
    }
}

bool arn_reorder_cells_find(const arenaut_program *program, const arn_reorder_names *names,
                            uint32_t shared, arn_region *region, arn_reorder_cells *cells) {
    const size_t n = program->n_tensors;
    places list = {0};
    uint32_t *begin;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(begin, n + 1), ARN_ARRAY(cells->first, n),
                           ARN_ARRAY(cells->n, n), ARN_ARRAY(cells->width, n + 1))) {
        return false;
    }
    if (!find_places(&list, program, names, region)) return false;
    drop_repeats(&list, begin, program->n_tensors);
    number_cells(cells, program, &list, begin, names, shared);
    if (list.n == 0 || cells->total <= MOST_CELLS) return true;
    memset(begin, 0, (n + 1) * sizeof *begin);
    number_cells(cells, program, &list, begin, names, shared);
    return true;
}
