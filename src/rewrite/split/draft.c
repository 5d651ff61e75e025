/* Ops and tensors of a draft, one after another. */
#include "rewrite/split/draft.h"

#include <string.h>

#include "core/memory.h"
#include "rewrite/split/draft_calls.h"

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
    tensor->bytes = 0;
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

uint32_t arn_draft_image(arn_draft *draft, uint32_t of, const int64_t dims[ARN_IMAGE_RANK]) {
    const arenaut_tensor *source = original(draft, of);
    arn_draft_tensor *tensor =
        add_tensor(draft, (uint32_t)(source - draft->graph->program->tensors), ARN_IMAGE_RANK);
    if (!tensor) return 0;
    memcpy(tensor->dims, dims, sizeof tensor->dims);
    tensor->bytes = dense_bytes(source->dtype, dims, ARN_IMAGE_RANK);
    return last_number(draft);
}

uint32_t arn_draft_piece(arn_draft *draft, uint32_t of, uint32_t axis, int64_t begin,
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

static uint32_t add_constant(arn_draft *draft, const int64_t *values, uint32_t n, uint32_t rank) {
    arn_draft_tensor *tensor = add_tensor(draft, ARENAUT_NONE, rank);
    if (!tensor) return 0;
    tensor->dims[0] = rank == 1 ? n : n / 2;
    tensor->dims[1] = 2;
    tensor->n_values = n;
    memcpy(tensor->values, values, n * sizeof *values);
    return last_number(draft);
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

uint32_t arn_draft_paddings(arn_draft *draft, const int64_t pads[6]) {
    const int64_t values[] = {0, 0, pads[0], pads[1], pads[2], pads[3], pads[4], pads[5]};
    return add_constant(draft, values, ARN_DRAFT_VALUES, 2);
}

uint32_t arn_draft_pad(arn_draft *draft, uint32_t image, const int64_t pads[6]) {
    if (draft->failed) return 0;
    int64_t dims[ARN_IMAGE_RANK];
    memcpy(dims, arn_draft_dims(draft, image), sizeof dims);
    dims[ARN_AXIS_H] += pads[0] + pads[1];
    dims[ARN_AXIS_W] += pads[2] + pads[3];
    dims[ARN_AXIS_C] += pads[4] + pads[5];
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

uint64_t arn_draft_planned_bytes(const arn_draft *draft, uint32_t tensor) {
    const arenaut_program *before = draft->graph->program;
    if (tensor >= before->n_tensors) return draft->tensors[tensor - before->n_tensors].bytes;
    const arenaut_tensor *t = &before->tensors[tensor];
    const bool planned =
        t->cls == ARENAUT_INTERMEDIATE || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_OUTPUT;
    return planned ? t->bytes : 0;
}
