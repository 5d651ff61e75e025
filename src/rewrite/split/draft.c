/* Ops and tensors of a draft, one after another; and what they would cost. */
#include "rewrite/split/draft.h"

#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "rewrite/split/draft_calls.h"
#include "rewrite/split/draft_reach.h"

arn_draft arn_draft_begin(const arn_split_graph *graph) {
    const arn_draft draft = {.graph = graph};
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

static const arenaut_tensor *original(const arn_draft *draft, uint32_t tensor) {
    const arenaut_program *before = draft->graph->program;
    if (tensor >= before->n_tensors) {
        tensor = draft->tensors[tensor - before->n_tensors].origin.tensor;
    }
    return &before->tensors[tensor];
}

static uint32_t add_tensor(arn_draft *draft, const arn_draft_tensor *tensor) {
    if (!arn_draft_make_room(draft, (void **)&draft->tensors, &draft->tensors_capacity,
                             (uint64_t)draft->n_tensors + 1, sizeof *draft->tensors)) {
        return 0;
    }
    draft->tensors[draft->n_tensors] = *tensor;
    return draft->graph->program->n_tensors + draft->n_tensors++;
}

static uint64_t image_bytes(arenaut_dtype dtype, const int64_t *dims) {
    uint64_t bytes = arenaut_dtype_bits(dtype) / 8;
    for (uint32_t i = 0; i < ARN_IMAGE_RANK; i++) bytes *= (uint64_t)dims[i];
    return bytes;
}

uint32_t arn_draft_image(arn_draft *draft, uint32_t of, const int64_t dims[ARN_IMAGE_RANK]) {
    const uint32_t source = (uint32_t)(original(draft, of) - draft->graph->program->tensors);
    arn_draft_tensor tensor = {.origin = {source, false, ARENAUT_NONE, 0}, .rank = ARN_IMAGE_RANK};
    memcpy(tensor.dims, dims, sizeof tensor.dims);
    tensor.bytes = image_bytes(original(draft, of)->dtype, dims);
    return add_tensor(draft, &tensor);
}

uint32_t arn_draft_piece(arn_draft *draft, uint32_t of, uint32_t axis, int64_t begin,
                         int64_t count) {
    const arenaut_tensor *whole = &draft->graph->program->tensors[of];
    arn_draft_tensor tensor = {.origin = {of, false, ARENAUT_NONE, 0}, .rank = whole->rank};
    memcpy(tensor.dims, whole->dims, whole->rank * sizeof *whole->dims);
    tensor.dims[axis] = count;
    if (whole->cls == ARENAUT_CONSTANT) {
        tensor.origin.axis = axis;
        tensor.origin.begin = begin;
    } else {
        tensor.bytes = image_bytes(whole->dtype, tensor.dims);
    }
    return add_tensor(draft, &tensor);
}

static uint32_t add_constant(arn_draft *draft, const int64_t *values, uint32_t n, uint32_t rank) {
    arn_draft_tensor tensor = {.origin = {ARENAUT_NONE, false, ARENAUT_NONE, 0},
                               .rank = rank,
                               .dims = {rank == 1 ? n : n / 2, 2},
                               .n_values = n};
    memcpy(tensor.values, values, n * sizeof *values);
    return add_tensor(draft, &tensor);
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
    draft->ops[draft->n_ops].place = draft->place;
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
                    bool valid) {
    const arn_draft_op part = {.before = before,
                               .n_inputs = draft->graph->program->ops[before].n_inputs,
                               .n_outputs = 1,
                               .valid = valid};
    add_op(draft, &part, inputs, &output);
}

static void move_data(arn_draft *draft, const char *name, const uint32_t *inputs, uint32_t n_inputs,
                      uint32_t output, int64_t axis) {
    const arn_draft_op op = {
        .before = ARENAUT_NONE, .name = name, .n_inputs = n_inputs, .n_outputs = 1, .axis = axis};
    add_op(draft, &op, inputs, &output);
}

uint32_t arn_draft_slice(arn_draft *draft, uint32_t image, int64_t begin, int64_t count) {
    if (draft->failed) return 0;
    int64_t dims[ARN_IMAGE_RANK];
    memcpy(dims, arn_draft_dims(draft, image), sizeof dims);
    if (begin == 0 && count == dims[ARN_AXIS_H]) return image;
    dims[ARN_AXIS_H] = count;
    const int64_t from[ARN_IMAGE_RANK] = {0, begin, 0, 0};
    const uint32_t inputs[] = {image, add_constant(draft, from, ARN_IMAGE_RANK, 1),
                               add_constant(draft, dims, ARN_IMAGE_RANK, 1)};
    if (draft->failed) return 0;
    const uint32_t made = arn_draft_image(draft, image, dims);
    move_data(draft, "SLICE", inputs, 3, made, 0);
    return made;
}

uint32_t arn_draft_paddings(arn_draft *draft, const int64_t pads[4]) {
    const int64_t values[] = {0, 0, pads[0], pads[1], pads[2], pads[3], 0, 0};
    return add_constant(draft, values, ARN_DRAFT_VALUES, 2);
}

uint32_t arn_draft_pad(arn_draft *draft, uint32_t image, const int64_t pads[4]) {
    if (draft->failed) return 0;
    int64_t dims[ARN_IMAGE_RANK];
    memcpy(dims, arn_draft_dims(draft, image), sizeof dims);
    dims[ARN_AXIS_H] += pads[0] + pads[1];
    dims[ARN_AXIS_W] += pads[2] + pads[3];
    const uint32_t inputs[] = {image, arn_draft_paddings(draft, pads)};
    if (draft->failed) return 0;
    const uint32_t made = arn_draft_image(draft, image, dims);
    move_data(draft, "PAD", inputs, 2, made, 0);
    return made;
}

static uint32_t join_some(arn_draft *draft, uint32_t axis, const uint32_t *pieces, uint32_t n,
                          uint32_t whole, uint32_t of) {
    if (whole == ARENAUT_NONE && n == 1) return pieces[0];
    if (whole == ARENAUT_NONE) {
        int64_t dims[ARN_IMAGE_RANK];
        memcpy(dims, arn_draft_dims(draft, of), sizeof dims);
        dims[axis] = 0;
        for (uint32_t i = 0; i < n; i++) dims[axis] += arn_draft_dims(draft, pieces[i])[axis];
        whole = arn_draft_image(draft, of, dims);
    }
    move_data(draft, "CONCATENATION", pieces, n, whole, axis);
    return whole;
}

uint32_t arn_draft_join(arn_draft *draft, uint32_t axis, uint32_t *pieces, uint32_t n,
                        uint32_t whole, uint32_t of) {
    if (draft->failed) return 0;
    while (n > ARN_JOIN_INPUTS && !draft->failed) {
        uint32_t joined = 0;
        for (uint32_t i = 0; i < n && !draft->failed; i += ARN_JOIN_INPUTS) {
            const uint32_t some = n - i < ARN_JOIN_INPUTS ? n - i : ARN_JOIN_INPUTS;
            pieces[joined++] = join_some(draft, axis, pieces + i, some, ARENAUT_NONE, of);
        }
        n = joined;
    }
    return draft->failed ? 0 : join_some(draft, axis, pieces, n, whole, of);
}

/* ---- cost ---- */

enum { KEPT_PER_CHANNEL = 8 }; /* of a convolution: what it multiplies by, and shifts */

uint64_t arn_draft_planned_bytes(const arn_draft *draft, uint32_t tensor) {
    const arenaut_program *before = draft->graph->program;
    if (tensor >= before->n_tensors) return draft->tensors[tensor - before->n_tensors].bytes;
    const arenaut_tensor *t = &before->tensors[tensor];
    const bool planned =
        t->cls == ARENAUT_INTERMEDIATE || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_OUTPUT;
    return planned ? t->bytes : 0;
}

typedef struct lives {
    uint32_t *first, *last; /* per tensor: ops; first > last: it is not used */
} lives;

static void note_use(lives *l, uint32_t tensor, uint32_t op) {
    if (tensor == ARENAUT_NONE) return;
    if (l->first[tensor] > op) l->first[tensor] = op;
    if (l->last[tensor] < op) l->last[tensor] = op;
}

static void find_lives(const arn_draft *draft, uint32_t n, lives *l) {
    const arenaut_method *method = &draft->graph->program->methods[0];
    for (uint32_t t = 0; t < n; t++) {
        l->first[t] = ARENAUT_NONE;
        l->last[t] = 0;
    }
    for (uint32_t i = 0; i < draft->n_ops; i++) {
        const arn_draft_op *op = &draft->ops[i];
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            note_use(l, draft->arguments[op->first + k], i);
        }
    }
    for (uint32_t i = 0; i < method->n_inputs; i++) note_use(l, method->inputs[i], 0);
    for (uint32_t i = 0; i < method->n_outputs; i++) {
        note_use(l, method->outputs[i], draft->n_ops - 1);
    }
}

/* Whether an operand's room may be written to: it is read for the last time, and once. */
static bool is_read_up(const arn_draft *draft, const lives *l, uint32_t op, uint32_t input) {
    const arn_split_graph *graph = draft->graph;
    const uint32_t *inputs = draft->arguments + draft->ops[op].first, t = inputs[input];
    if (t == ARENAUT_NONE || l->last[t] != op || arn_draft_planned_bytes(draft, t) == 0)
        return false;
    for (uint32_t i = 0; i < input; i++) {
        if (inputs[i] == t) return false;
    }
    return t >= graph->program->n_tensors || graph->last_reader[t] != graph->program->n_ops;
}

/* What an op saves when its result reaches into the operands that it reads up: those lie in their
 * order, each as far behind the result's begin as the kernel demands. */
static uint64_t saved_by_reach(const arn_draft *draft, const lives *l, uint32_t index) {
    const arn_draft_op *op = &draft->ops[index];
    if (!draft->reach || op->n_outputs != 1) return 0;
    const uint32_t *arguments = draft->arguments + op->first, made = arguments[op->n_inputs];
    if (made == ARENAUT_NONE || l->first[made] != index) return 0;
    const uint64_t result = arn_aligned(arn_draft_planned_bytes(draft, made), ARN_DRAFT_ROUNDING);
    uint64_t end = 0, apart = result;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (!is_read_up(draft, l, index, i)) continue;
        const uint64_t bytes =
            arn_aligned(arn_draft_planned_bytes(draft, arguments[i]), ARN_DRAFT_ROUNDING);
        const uint64_t distance =
            arn_aligned(arn_draft_distance(draft->reach, draft, op, i), ARN_DRAFT_ROUNDING);
        if (distance >= result) continue;
        end = (end > distance ? end : distance) + bytes;
        apart += bytes;
    }
    return apart - (end > result ? end : result);
}

/* The most that is alive at one op; `change` has a place per op and one more. Kernels are asked
 * only where it matters. */
static void find_peak(const arn_draft *draft, uint32_t n, const lives *l, int64_t *change,
                      arn_draft_cost *cost, uint64_t *alive) {
    uint64_t now = 0;
    for (uint32_t t = 0; t < n; t++) {
        const int64_t bytes =
            (int64_t)arn_aligned(arn_draft_planned_bytes(draft, t), ARN_DRAFT_ROUNDING);
        if (l->first[t] > l->last[t]) continue;
        change[l->first[t]] += bytes;
        change[l->last[t] + 1] -= bytes;
    }
    for (uint32_t i = 0; i < draft->n_ops; i++) {
        const uint32_t place = draft->ops[i].place;
        now = (uint64_t)((int64_t)now + change[i]);
        if (!alive && now <= cost->peak) continue;
        const uint64_t here = now - saved_by_reach(draft, l, i);
        if (alive && alive[place] < here) alive[place] = here;
        if (here <= cost->peak) continue;
        cost->peak = here;
        cost->place = place;
    }
}

static void add_op_cost(const arn_draft *draft, const arn_draft_op *op, arn_draft_cost *cost) {
    const arn_split_graph *graph = draft->graph;
    cost->kept += ARN_DRAFT_KEPT_PER_OP;
    if (op->before == ARENAUT_NONE || graph->ops[op->before].kind == ARN_SPLIT_OPAQUE) {
        if (op->before != ARENAUT_NONE) cost->macs += graph->macs[op->before];
        return;
    }
    const int64_t *made = arn_draft_dims(draft, draft->arguments[op->first + op->n_inputs]);
    const int64_t *whole = graph->program->tensors[graph->program->ops[op->before].outputs[0]].dims;
    const arn_split_kind kind = graph->ops[op->before].kind;
    double share = 1;
    for (uint32_t i = 0; i < ARN_IMAGE_RANK; i++) share *= (double)made[i] / (double)whole[i];
    cost->macs += (uint64_t)((double)graph->macs[op->before] * share + 0.5);
    if (kind == ARN_SPLIT_CONV || kind == ARN_SPLIT_DEPTHWISE) {
        cost->kept += KEPT_PER_CHANNEL * (uint64_t)made[ARN_AXIS_C];
    }
}

bool arn_draft_cost_of(const arn_draft *draft, arn_draft_cost *cost, uint64_t *alive) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    const uint32_t n = draft->graph->program->n_tensors + draft->n_tensors;
    *cost = (arn_draft_cost){0};
    if (draft->failed) return false;
    lives l = {arn_allocate(allocator, n, sizeof(uint32_t)),
               arn_allocate(allocator, n, sizeof(uint32_t))};
    int64_t *change = arn_allocate_zeroed(allocator, (size_t)draft->n_ops + 1, sizeof *change);
    const bool fits = l.first && l.last && change;
    if (fits) {
        find_lives(draft, n, &l);
        arn_draft_add_copies(draft, l.first, l.last, change);
        find_peak(draft, n, &l, change, cost, alive);
        for (uint32_t i = 0; i < draft->n_ops; i++) {
            const uint64_t kept = cost->kept;
            add_op_cost(draft, &draft->ops[i], cost);
            if (arn_draft_is_repeated(draft, i)) cost->kept = kept;
        }
        cost->kept += (uint64_t)draft->n_calls * ARN_DRAFT_KEPT_PER_OP;
    }
    arn_release(allocator, l.first);
    arn_release(allocator, l.last);
    arn_release(allocator, change);
    return fits && !(draft->reach && draft->reach->failed);
}
