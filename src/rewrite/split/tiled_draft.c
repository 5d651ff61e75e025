/* Drafts: tiles of tensors, parts of ops, and ops that move data, in the spelling of the program's
 * dialect. Equal constants are merged: sizes, places and paddings that are the same in several ops
 * are one tensor, since the runtime keeps some bytes of each. */
#include "rewrite/split/tiled_draft.h"

#include <string.h>

#include "core/memory.h"
#include "core/sort.h"
#include "rewrite/tile_dialects/tile_dialect.h"

arn_draft arn_draft_begin(const arn_tile_graph *graph) {
    const arn_draft draft = {.graph = graph, .zero = ARENAUT_NONE, .rounded = ARENAUT_NONE};
    return draft;
}

void arn_draft_free(arn_draft *draft) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    ARN_RELEASE(allocator, draft->tensors, draft->ops, draft->arguments, draft->calls);
}

void arn_draft_clear(arn_draft *draft) {
    draft->n_tensors = draft->n_ops = draft->n_arguments = draft->n_calls = 0;
    draft->zero = ARENAUT_NONE;
    draft->n_rounded = 0;
    draft->rounded = ARENAUT_NONE;
    draft->refused = NULL;
}

bool arn_draft_make_room(arn_draft *draft, void **array, uint32_t *capacity, uint64_t needed,
                         size_t size) {
    if (!draft->failed && !arn_grow(draft->graph->allocator, array, capacity, needed, size)) {
        draft->failed = true;
    }
    return !draft->failed;
}

/* ---- tensors ---- */

const int64_t *arn_draft_dims(const arn_draft *draft, uint32_t tensor) {
    const arenaut_program *before = draft->graph->program;
    if (tensor < before->n_tensors) return before->tensors[tensor].dims;
    return draft->tensors[tensor - before->n_tensors].dims;
}

uint32_t arn_draft_rank(const arn_draft *draft, uint32_t tensor) {
    const arenaut_program *before = draft->graph->program;
    if (tensor < before->n_tensors) return before->tensors[tensor].rank;
    return draft->tensors[tensor - before->n_tensors].rank;
}

/* An image's sizes, to be changed. */
static void copy_dims(const arn_draft *draft, uint32_t image, int64_t dims[ARN_IMAGE_RANK]) {
    memcpy(dims, arn_draft_dims(draft, image), arn_draft_rank(draft, image) * sizeof *dims);
}

static const arenaut_tensor *original(const arn_draft *draft, uint32_t tensor) {
    const arenaut_program *before = draft->graph->program;
    if (tensor >= before->n_tensors) {
        tensor = draft->tensors[tensor - before->n_tensors].origin.tensor;
    }
    return &before->tensors[tensor];
}

/* The next new tensor, with the origin and rank given, and the rest of it as it was left by an
 * older draft; NULL: no memory. The search makes them by the million. */
static arn_draft_tensor *add_tensor(arn_draft *draft, uint32_t of, uint32_t rank) {
    if (!arn_draft_make_room(draft, (void **)&draft->tensors, &draft->tensors_capacity,
                             (uint64_t)draft->n_tensors + 1, sizeof *draft->tensors)) {
        return NULL;
    }
    arn_draft_tensor *tensor = &draft->tensors[draft->n_tensors++];
    tensor->origin = (arenaut_origin){of, false, ARENAUT_NONE, 0};
    tensor->rank = rank;
    tensor->dtype = ARENAUT_DTYPE_OTHER;
    tensor->bytes = 0;
    tensor->alias = false;
    tensor->n_values = 0;
    return tensor;
}

static uint32_t last_number(const arn_draft *draft) {
    return draft->graph->program->n_tensors + draft->n_tensors - 1;
}

static uint64_t dense_bytes(arenaut_dtype dtype, const int64_t *dims, uint32_t rank) {
    uint64_t bytes = arenaut_dtype_bits(dtype) / 8;
    for (uint32_t i = 0; i < rank; i++) bytes *= (uint64_t)dims[i];
    return bytes;
}

uint32_t arn_draft_image(arn_draft *draft, uint32_t of, const int64_t *dims) {
    const arenaut_tensor *source = original(draft, of);
    arn_draft_tensor *tensor =
        add_tensor(draft, (uint32_t)(source - draft->graph->program->tensors), source->rank);
    if (!tensor) return 0;
    memcpy(tensor->dims, dims, source->rank * sizeof *dims);
    tensor->bytes = dense_bytes(source->dtype, dims, source->rank);
    return last_number(draft);
}

uint32_t arn_draft_tile(arn_draft *draft, uint32_t of, uint32_t axis, int64_t begin,
                        int64_t count) {
    const arenaut_tensor *whole = &draft->graph->program->tensors[of];
    arn_draft_tensor *tensor = add_tensor(draft, of, whole->rank);
    if (!tensor) return 0;
    memcpy(tensor->dims, whole->dims, whole->rank * sizeof *whole->dims);
    tensor->dims[axis] = count;
    if (whole->cls == ARENAUT_CONSTANT) {
        tensor->origin.axis = axis;
        tensor->origin.begin = begin;
    } else {
        tensor->bytes = dense_bytes(whole->dtype, tensor->dims, whole->rank);
    }
    return last_number(draft);
}

uint32_t arn_draft_numbers(arn_draft *draft, const int64_t *values, uint32_t n, uint32_t columns) {
    arn_draft_tensor *tensor = add_tensor(draft, ARENAUT_NONE, columns ? 2 : 1);
    if (!tensor) return 0;
    tensor->dims[0] = columns ? n / columns : n;
    tensor->dims[1] = columns;
    tensor->dtype = draft->graph->dialect->numbers;
    tensor->n_values = n;
    memcpy(tensor->values, values, n * sizeof *values);
    return last_number(draft);
}

uint32_t arn_draft_reals(arn_draft *draft, const double *values, uint32_t n) {
    int64_t bits[ARN_DRAFT_VALUES];
    memcpy(bits, values, n * sizeof *values);
    const uint32_t list = arn_draft_numbers(draft, bits, n, 0);
    if (!draft->failed) draft->tensors[draft->n_tensors - 1].dtype = ARENAUT_DTYPE_FLOAT32;
    return list;
}

/* ---- ops ---- */

static void add_op(arn_draft *draft, const arn_draft_op *op, const uint32_t *inputs,
                   const uint32_t *outputs) {
    const uint32_t n = op->n_inputs + op->n_outputs;
    if (!arn_draft_make_room(draft, (void **)&draft->ops, &draft->ops_capacity,
                             (uint64_t)draft->n_ops + 1, sizeof *draft->ops) ||
        !arn_draft_make_room(draft, (void **)&draft->arguments, &draft->arguments_capacity,
                             (uint64_t)draft->n_arguments + n, sizeof *draft->arguments)) {
        return;
    }
    uint32_t *to = draft->arguments + draft->n_arguments;
    if (op->n_inputs) memcpy(to, inputs, op->n_inputs * sizeof *to);
    if (op->n_outputs) memcpy(to + op->n_inputs, outputs, op->n_outputs * sizeof *to);
    draft->ops[draft->n_ops] = *op;
    draft->ops[draft->n_ops++].first = draft->n_arguments;
    draft->n_arguments += n;
}

void arn_draft_copy(arn_draft *draft, uint32_t op) {
    const arenaut_op *old = &draft->graph->program->ops[op];
    const arn_draft_op copy = {
        .before = op, .n_inputs = old->n_inputs, .n_outputs = old->n_outputs};
    add_op(draft, &copy, old->inputs, old->outputs);
}

void arn_draft_part(arn_draft *draft, uint32_t before, const uint32_t *inputs, uint32_t output,
                    const int64_t *pads, uint32_t n_pads) {
    arn_draft_op part = {.before = before,
                         .n_inputs = draft->graph->program->ops[before].n_inputs,
                         .n_outputs = 1,
                         .n_pads = n_pads};
    if (n_pads > 0) memcpy(part.pads, pads, n_pads * sizeof *pads);
    add_op(draft, &part, inputs, &output);
}

uint32_t arn_draft_slice(arn_draft *draft, uint32_t image, int64_t begin, int64_t count) {
    if (draft->failed) return 0;
    int64_t dims[ARN_IMAGE_RANK];
    const uint32_t rows = arn_tile_dim(draft->graph, ARN_AXIS_H);
    copy_dims(draft, image, dims);
    if (begin == 0 && count == dims[rows]) return image;
    dims[rows] = count;
    arn_draft_op slice = {.before = ARENAUT_NONE,
                          .move = ARN_MOVE_SLICE,
                          .n_outputs = 1,
                          .axis = rows,
                          .begin = begin,
                          .end = begin + count};
    uint32_t inputs[ARN_MOVE_OPERANDS] = {image};
    const arn_tile_dialect *dialect = draft->graph->dialect;
    slice.n_inputs = dialect->list_slice ? dialect->list_slice(draft, &slice, dims, inputs) : 1;
    if (draft->failed) return 0;
    const uint32_t made = arn_draft_image(draft, image, dims);
    add_op(draft, &slice, inputs, &made);
    return made;
}

uint32_t arn_draft_pad(arn_draft *draft, uint32_t image, const int64_t pads[2 * ARN_IMAGE_AXES]) {
    if (draft->failed) return 0;
    int64_t dims[ARN_IMAGE_RANK];
    const uint32_t rank = arn_draft_rank(draft, image);
    copy_dims(draft, image, dims);
    for (int axis = 0; axis < ARN_IMAGE_AXES; axis++) {
        const uint32_t dim = arn_tile_dim(draft->graph, axis);
        if (dim < rank) dims[dim] += pads[2 * axis] + pads[2 * axis + 1];
    }
    const arn_draft_op pad = {
        .before = ARENAUT_NONE, .move = ARN_MOVE_PAD, .n_inputs = 2, .n_outputs = 1};
    const uint32_t inputs[] = {image, draft->graph->dialect->list_pads(draft, pads, rank)};
    if (draft->failed) return 0;
    const uint32_t made = arn_draft_image(draft, image, dims);
    add_op(draft, &pad, inputs, &made);
    return made;
}

uint32_t arn_draft_reduce(arn_draft *draft, arn_draft_move move, uint32_t image) {
    if (draft->failed) return 0;
    int64_t dims[ARN_IMAGE_RANK];
    const uint32_t rank = arn_draft_rank(draft, image);
    copy_dims(draft, image, dims);
    arn_draft_op op = {.before = ARENAUT_NONE, .move = move, .n_inputs = 1, .n_outputs = 1};
    for (uint32_t i = arn_tile_dim(draft->graph, ARN_AXIS_H); i < rank; i++) {
        op.pads[op.n_pads] = op.n_pads > 0 ? dims[i] : 1;
        if (op.n_pads++ > 0) dims[i] = 1;
    }
    const uint32_t made = arn_draft_image(draft, image, dims);
    add_op(draft, &op, &image, &made);
    return made;
}

uint32_t arn_draft_compute(arn_draft *draft, arn_draft_move move, uint32_t of, const int64_t *dims,
                           const uint32_t *inputs, uint32_t n_inputs) {
    arn_draft_op op = {.before = ARENAUT_NONE, .move = move, .n_inputs = n_inputs, .n_outputs = 1};
    if (draft->failed) return 0;
    op.n_pads = arn_draft_rank(draft, of);
    memcpy(op.pads, dims, op.n_pads * sizeof *dims);
    const uint32_t made = arn_draft_image(draft, of, dims);
    add_op(draft, &op, inputs, &made);
    return made;
}

uint32_t arn_draft_raise(arn_draft *draft, uint32_t of, uint32_t image, const char *number) {
    const arn_draft_op op = {.before = ARENAUT_NONE,
                             .move = ARN_MOVE_RAISE,
                             .n_inputs = 1,
                             .n_outputs = 1,
                             .number = number};
    if (draft->failed) return 0;
    int64_t dims[ARN_IMAGE_RANK];
    copy_dims(draft, image, dims);
    const uint32_t made = arn_draft_image(draft, of, dims);
    add_op(draft, &op, &image, &made);
    return made;
}

static uint32_t join_some(arn_draft *draft, uint32_t axis, const uint32_t *tiles, uint32_t n,
                          uint32_t whole, uint32_t of) {
    if (whole == ARENAUT_NONE && n == 1) return tiles[0];
    if (whole == ARENAUT_NONE) {
        int64_t dims[ARN_IMAGE_RANK];
        copy_dims(draft, of, dims);
        dims[axis] = 0;
        for (uint32_t i = 0; i < n; i++) dims[axis] += arn_draft_dims(draft, tiles[i])[axis];
        whole = arn_draft_image(draft, of, dims);
    }
    const arn_draft_op join = {
        .before = ARENAUT_NONE, .move = ARN_MOVE_JOIN, .n_inputs = n, .n_outputs = 1, .axis = axis};
    add_op(draft, &join, tiles, &whole);
    return whole;
}

uint32_t arn_draft_join(arn_draft *draft, uint32_t axis, uint32_t *tiles, uint32_t n,
                        uint32_t whole, uint32_t of) {
    const uint32_t most = draft->graph->dialect->most_joined;
    if (draft->failed) return 0;
    while (n > most && !draft->failed) {
        uint32_t joined = 0;
        for (uint32_t i = 0; i < n && !draft->failed; i += most) {
            const uint32_t some = n - i < most ? n - i : most;
            tiles[joined++] = join_some(draft, axis, tiles + i, some, ARENAUT_NONE, of);
        }
        n = joined;
    }
    return draft->failed ? 0 : join_some(draft, axis, tiles, n, whole, of);
}

/* ---- order edges ---- */

uint32_t arn_draft_edge(arn_draft *draft, arn_draft_move move, arenaut_dtype dtype,
                        const uint32_t *inputs, uint32_t n_inputs) {
    const arn_draft_op op = {
        .before = ARENAUT_NONE, .move = move, .n_inputs = n_inputs, .n_outputs = 1};
    if (draft->failed) return 0;
    const int64_t length = move == ARN_MOVE_ADD ? arn_draft_dims(draft, inputs[0])[0] : 1;
    arn_draft_tensor *tensor = add_tensor(draft, ARENAUT_NONE, move == ARN_MOVE_SCALAR ? 0 : 1);
    if (!tensor) return 0;
    tensor->dims[0] = length;
    tensor->dtype = dtype;
    tensor->bytes = (uint64_t)length * (arenaut_dtype_bits(dtype) / 8);
    const uint32_t made = last_number(draft);
    add_op(draft, &op, inputs, &made);
    return made;
}

void arn_draft_order_after(arn_draft *draft, uint32_t *tensors, uint32_t n) {
    const arn_tile_dialect *dialect = draft->graph->dialect;
    const uint32_t before = draft->zero;
    draft->zero = ARENAUT_NONE;
    if (n == 0 || !dialect->put_zero || draft->failed) return;
    draft->zero = dialect->put_zero(draft, tensors, n);
    if (before != ARENAUT_NONE) { /* an op of the last tile may depend on no earlier tile */
        const uint32_t both[] = {before, draft->zero};
        draft->zero = arn_draft_edge(draft, ARN_MOVE_ADD, dialect->numbers, both, 2);
    }
    draft->n_there = draft->graph->program->n_tensors + draft->n_tensors;
}

uint32_t arn_draft_alias(arn_draft *draft, uint32_t image) {
    const arn_tile_dialect *dialect = draft->graph->dialect;
    const arn_draft_op op = {
        .before = ARENAUT_NONE, .move = ARN_MOVE_ALIAS, .n_inputs = 2, .n_outputs = 1};
    if (!dialect->put_shape || draft->failed) return image;
    const uint32_t inputs[] = {image, dialect->put_shape(draft, image)};
    const uint32_t made = arn_draft_image(draft, image, arn_draft_dims(draft, image));
    if (draft->failed) return image;
    draft->tensors[draft->n_tensors - 1].bytes = 0;
    draft->tensors[draft->n_tensors - 1].alias = true;
    add_op(draft, &op, inputs, &made);
    draft->n_there = draft->graph->program->n_tensors + draft->n_tensors;
    return made;
}

uint64_t arn_draft_planned_bytes(const arn_draft *draft, uint32_t tensor) {
    const arenaut_program *before = draft->graph->program;
    if (tensor >= before->n_tensors) return draft->tensors[tensor - before->n_tensors].bytes;
    return arn_tile_planned_bytes(draft->graph, tensor);
}

/* ---- as tensors and ops of a program ---- */

arenaut_tensor arn_draft_describe_tensor(const arn_draft *draft, uint32_t number) {
    const arenaut_program *before = draft->graph->program;
    if (number < before->n_tensors) return before->tensors[number];
    const arn_draft_tensor *from = &draft->tensors[number - before->n_tensors];
    arenaut_tensor tensor = arenaut_tensor_default();
    if (from->origin.tensor == ARENAUT_NONE) {
        tensor.dtype = from->dtype;
        tensor.method = 0;
        tensor.cls = from->n_values > 0 ? ARENAUT_CONSTANT : ARENAUT_INTERMEDIATE;
        tensor.values = from->n_values > 0 ? from->values : NULL;
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

void arn_draft_describe_op(const arn_draft *draft, const arn_draft_op *from,
                           arenaut_attribute *attributes, arenaut_op *op) {
    const arn_tile_dialect *dialect = draft->graph->dialect;
    if (from->before == ARENAUT_NONE) {
        *op = (arenaut_op){.name = dialect->mover[from->move], .kind = dialect->kind};
        op->n_attributes = dialect->describe_move(from, attributes);
        op->attributes = attributes;
        return;
    }
    const arenaut_op *before = &draft->graph->program->ops[from->before];
    *op = *before;
    if (from->n_pads == 0) return;
    op->n_attributes = dialect->describe_part(from, before, attributes);
    op->attributes = attributes;
}

uint32_t arn_draft_most_attributes(const arenaut_program *program) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        if (program->ops[i].n_attributes > most) most = program->ops[i].n_attributes;
    }
    return most + ARN_MOST_ADDED;
}

/* ---- shared constants ---- */

static bool is_new_constant(const arn_draft_tensor *tensor) {
    return tensor->origin.tensor == ARENAUT_NONE && tensor->n_values > 0;
}

static int compare(const arn_draft_tensor *a, const arn_draft_tensor *b) {
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->dtype != b->dtype) return a->dtype < b->dtype ? -1 : 1;
    if (a->n_values != b->n_values) return a->n_values < b->n_values ? -1 : 1;
    return memcmp(a->values, b->values, a->n_values * sizeof *a->values);
}

static bool comes_before(const void *context, uint32_t a, uint32_t b) {
    const arn_draft_tensor *tensors = context;
    return compare(&tensors[a], &tensors[b]) < 0;
}

/* Per new tensor: the first that holds the same, itself if none does. Sorting keeps the order of
 * equals. */
static void find_first(const arn_draft *draft, uint32_t *first, uint32_t *ids) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < draft->n_tensors; t++) {
        first[t] = t;
        if (is_new_constant(&draft->tensors[t])) ids[n++] = t;
    }
    arn_sort_ids(ids, n, comes_before, draft->tensors, ids + n);
    for (uint32_t i = 1; i < n; i++) {
        const bool same = compare(&draft->tensors[ids[i - 1]], &draft->tensors[ids[i]]) == 0;
        if (same) first[ids[i]] = first[ids[i - 1]];
    }
}

void arn_draft_share_constants(arn_draft *draft) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    const uint32_t n_before = draft->graph->program->n_tensors;
    uint32_t *first = arn_allocate(allocator, draft->n_tensors, 3 * sizeof *first);
    if (!first) {
        draft->failed = true;
        return;
    }
    find_first(draft, first, first + draft->n_tensors);
    for (uint32_t i = 0; i < draft->n_arguments; i++) {
        uint32_t *argument = &draft->arguments[i];
        if (*argument == ARENAUT_NONE || *argument < n_before) continue;
        *argument = n_before + first[*argument - n_before];
    }
    arn_release(allocator, first);
}
