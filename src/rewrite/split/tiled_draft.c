/* The graph of a program to be tiled (its values, def-use chains and windows), and the emission of
 * its tiles into a draft. */
#include "rewrite/split/tiled_draft.h"

#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "rewrite/tile_dialects/tile_dialect.h"

/* ---- the graph ---- */

uint64_t arn_tile_planned_bytes(const arn_tile_graph *graph, uint32_t tensor) {
    const arenaut_tensor *t = &graph->program->tensors[tensor];
    const bool apart = t->cls == ARENAUT_INPUT && graph->dialect->inputs_apart;
    const bool planned =
        t->cls == ARENAUT_INTERMEDIATE || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_OUTPUT;
    return planned && !apart ? t->bytes : 0;
}

/* Defined before the first op, even if an op writes it later. */
static bool is_given(const arenaut_tensor *t) {
    return t->cls == ARENAUT_CONSTANT || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_STATE;
}

static arenaut_status check_inputs(const arenaut_program *p, uint32_t op, const bool *there,
                                   arenaut_error *err) {
    const arenaut_op *o = &p->ops[op];
    for (uint32_t k = 0; k < o->n_inputs; k++) {
        const uint32_t t = o->inputs[k];
        if (t == ARENAUT_NONE || there[t]) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "op %" PRIu32 " reads tensor %" PRIu32
                        " before anything has written it; such programs cannot be split",
                        op, t);
    }
    return ARENAUT_OK;
}

/* State is written again; and so are constants that an op makes of constants, in dialects whose
 * passes fold these. */
static arenaut_status check_outputs(const arenaut_program *p, uint32_t op, bool *there,
                                    arenaut_error *err) {
    const arenaut_op *o = &p->ops[op];
    for (uint32_t k = 0; k < o->n_outputs; k++) {
        const uint32_t t = o->outputs[k];
        if (t == ARENAUT_NONE) continue;
        const arenaut_class cls = p->tensors[t].cls;
        const bool folded = p->dialect && cls == ARENAUT_CONSTANT;
        if (there[t] && cls != ARENAUT_STATE && !folded) {
            return arn_fail(err, ARENAUT_REFUSED, 0,
                            "op %" PRIu32 " writes tensor %" PRIu32
                            ", which holds something already; such programs cannot be split",
                            op, t);
        }
        there[t] = true;
    }
    return ARENAUT_OK;
}

static arenaut_status check_results(const arenaut_program *p, const bool *there,
                                    arenaut_error *err) {
    const arenaut_method *method = &p->methods[0];
    for (uint32_t i = 0; i < method->n_outputs; i++) {
        if (there[method->outputs[i]]) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "tensor %" PRIu32
                        " is a result, but nothing has written it; such "
                        "programs cannot be split",
                        method->outputs[i]);
    }
    return ARENAUT_OK;
}

/* REFUSED if a tensor is written twice, or read before it is, or a result that never is: tiles are
 * known by the one value of each tensor. `there`, per tensor: it has a value by now. O(arguments).
 */
static arenaut_status check_values(const arenaut_program *p, bool *there, arenaut_error *err) {
    for (uint32_t t = 0; t < p->n_tensors; t++) there[t] = is_given(&p->tensors[t]);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        arenaut_status st = check_inputs(p, i, there, err);
        if (st == ARENAUT_OK) st = check_outputs(p, i, there, err);
        if (st != ARENAUT_OK) return st;
    }
    return check_results(p, there, err);
}

static bool makes_constants(const arn_tile_graph *graph, const arenaut_op *op) {
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t t = op->outputs[k];
        if (t != ARENAUT_NONE && !arn_tile_is_constant(graph, t)) return false;
    }
    return op->n_outputs > 0;
}

static bool all_fixed(const arn_tile_graph *graph, const arenaut_op *op) {
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t t = op->inputs[k];
        if (t != ARENAUT_NONE && !arn_tile_is_fixed(graph, t)) return false;
    }
    return op->n_inputs > 0 || makes_constants(graph, op);
}

static bool makes_little(const arn_tile_graph *graph, const arenaut_op *op) {
    bool some = false;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        if (op->outputs[k] == ARENAUT_NONE) continue;
        const arenaut_tensor *made = &graph->program->tensors[op->outputs[k]];
        if (made->cls == ARENAUT_STATE || made->cls == ARENAUT_CONSTANT || made->unsized ||
            made->bytes > ARN_TILE_SQUEEZED) {
            return false;
        }
        some = true;
    }
    return some;
}

static bool is_squeezed(const arn_tile_graph *graph, const arenaut_op *op) {
    bool some = false;
    if (op->kind != graph->dialect->kind || op->n_calls > 0 || op->n_scratch > 0) return false;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t t = op->inputs[k];
        if (t == ARENAUT_NONE || arn_tile_is_constant(graph, t)) continue;
        if (graph->program->tensors[t].cls == ARENAUT_STATE) return false;
        if (arn_tile_is_fixed(graph, t)) continue;
        if (!arn_tile_is_squeezed(graph, t)) return false;
        some = true;
    }
    return some && makes_little(graph, op);
}

static void take_ops(arn_tile_graph *graph) {
    const arenaut_program *p = graph->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        graph->image[t] = t;
        graph->fixed[t] = arn_tile_is_constant(graph, t) ||
                          (graph->dialect->keeps_state && p->tensors[t].cls == ARENAUT_STATE);
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        graph->ops[i].of_constants = op->kind == graph->dialect->kind && all_fixed(graph, op);
        for (uint32_t k = 0; k < op->n_outputs && graph->ops[i].of_constants; k++) {
            if (op->outputs[k] != ARENAUT_NONE) graph->fixed[op->outputs[k]] = true;
        }
        graph->dialect->take_operator(graph, i);
        if (is_squeezed(graph, op)) graph->ops[i] = (arn_tile_op){.is_squeezed = true};
    }
}

arenaut_status arn_tile_graph_make(const arenaut_program *program, bool rounding,
                                   const arenaut_allocator *allocator, arn_tile_graph *graph,
                                   arenaut_error *err) {
    const arn_tile_dialect *dialect = arn_tile_dialect_find(program->dialect);
    if (!dialect) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "no tiles are made of ops of the dialect '%.40s'",
                        program->dialect);
    }
    const char *why = dialect->refuse ? dialect->refuse(program) : NULL;
    if (why) return arn_fail(err, ARENAUT_REFUSED, 0, "%s", why);
    if (program->n_symbols > 0) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "tiles have fixed sizes, and those of the program vary: each needs one "
                        "value");
    }
    if (program->n_methods != 1 || program->methods[0].concurrent) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "the program has %u methods; only programs of one, whose ops run one after "
                        "another, can be split",
                        (unsigned)program->n_methods);
    }
    *graph = (arn_tile_graph){
        .program = program, .dialect = dialect, .allocator = allocator, .rounding = rounding};
    arn_region_init(&graph->region, allocator);
    graph->uses = arn_def_use_find(program, NULL, 0, &graph->region);
    const bool fits =
        graph->uses && ARN_REGION_ARRAYS(&graph->region, ARN_ARRAY(graph->ops, program->n_ops),
                                         ARN_ARRAY(graph->macs, program->n_ops),
                                         ARN_ARRAY(graph->fixed, program->n_tensors),
                                         ARN_ARRAY(graph->image, program->n_tensors));
    const arenaut_status st = fits ? check_values(program, graph->fixed, err) : arn_no_memory(err);
    if (st == ARENAUT_OK) take_ops(graph);
    else arn_tile_graph_free(graph);
    return st;
}

void arn_tile_graph_free(arn_tile_graph *graph) { arn_region_free(&graph->region); }

/* ---- drafts ---- */

/* Tiles of tensors, parts of ops, and ops that move data, in the spelling of the program's dialect.
 * Equal constants are merged: sizes, places and paddings that are the same in several ops are one
 * tensor, since the runtime keeps some bytes of each. */

arn_draft arn_draft_begin(const arn_tile_graph *graph) {
    const arn_draft draft = {.graph = graph, .zero = ARENAUT_NONE, .rounded = ARENAUT_NONE};
    return draft;
}

void arn_draft_free(arn_draft *draft) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    arn_release(allocator, draft->tensors);
    arn_release(allocator, draft->ops);
    arn_release(allocator, draft->arguments);
    arn_release(allocator, draft->calls);
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
