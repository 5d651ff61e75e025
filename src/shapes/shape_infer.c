/* Shape inference over methods: each op's function computes its outputs, and stated sizes fill in
 * unknown ones. Branches meet in the larger sizes; a loop's body is visited to a fixed point of its
 * carried values, three times at most. */
#include <string.h>

#include "shapes/shapes.h"

/* The table of functions for operators of ONNX, in the order of strcmp for binary search. */

#define arn_shape_of_none NULL

static const struct {
    const char *op;
    arn_shape_function function;
} all[] = {
#define ONNX(op, family, purity, cost, window, traits, in_place, shape) {op, arn_shape_of_##shape},
#include "ops/ops.def"
};

/* The function for an operator; NULL if it is unknown. */
static arn_shape_function shape_function_of(const char *op) {
    size_t low = 0, high = sizeof all / sizeof *all;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(all[middle].op, op);
        if (order == 0) return all[middle].function;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

/* ---- the whole ---- */

/* The join of two paths to one value: sizes that differ become the larger one, since both must
 * fit. */
static void meet(arn_shapes *s, arn_shape *into, const arn_shape *other) {
    if (into->dtype == ARENAUT_DTYPE_OTHER) into->dtype = other->dtype;
    const bool same_rank = into->ranked && other->ranked && into->rank == other->rank;
    if (!same_rank) {
        into->ranked = false;
        into->values = NULL;
        return;
    }
    int64_t *dims = arn_shape_new_dims(s, into->rank);
    if (!dims) return;
    for (uint32_t i = 0; i < into->rank; i++) {
        const int64_t a = into->dims[i], b = other->dims[i];
        dims[i] = a == ARN_SHAPE_ANY || b == ARN_SHAPE_ANY ? ARN_SHAPE_ANY : a > b ? a : b;
        into->at_most = into->at_most || other->at_most || a != b;
    }
    into->dims = dims;
    const bool both = into->values && other->values && into->n_values == other->n_values;
    int64_t *values = both ? arn_region_allocate(s->region, into->n_values, sizeof *values) : NULL;
    for (uint32_t i = 0; values && i < into->n_values; i++) {
        values[i] = into->values[i] == other->values[i] ? into->values[i] : ARN_SHAPE_ANY;
    }
    into->values = values;
}

static void mark_at_most(const arn_shapes *s, uint32_t output, bool at_most) {
    const uint32_t t = s->op->outputs[output];
    if (t != ARENAUT_NONE) s->of[t].at_most = s->of[t].at_most || at_most;
}

static void give(arn_shapes *s, uint32_t output, const arn_shape *shape) {
    arn_shape_set_like(s, output, shape->dtype, shape);
    arn_shape_copy_values(s, output, shape);
    mark_at_most(s, output, shape->at_most);
}

/* False where calls are nested too deeply, or have multiplied into too much work: then nothing
 * is inferred of their results. */
static bool visit_call(arn_shapes *s, uint32_t method) {
    enum { DEPTH = 64 }; /* the depth that replay follows */
    const arenaut_op *op = s->op;
    if (s->depth == DEPTH || s->work == 0) return false;
    s->depth++;
    arn_shape_visit(s, method);
    s->depth--;
    s->op = op;
    return true;
}

/* A result that the method does not have is one of which nothing is known. */
static const arn_shape *result_of(const arn_shapes *s, uint32_t method, uint32_t i) {
    const arenaut_method *m = &s->program->methods[method];
    return i < m->n_outputs ? &s->of[m->outputs[i]] : arn_shape_input(s, ARENAUT_NONE);
}

/* If the condition is known, only the branch that is taken counts. */
static void visit_if(arn_shapes *s) {
    const arenaut_op *op = s->op;
    const arn_shape *condition = arn_shape_input(s, 0);
    const bool known =
        condition->values && condition->n_values == 1 && condition->values[0] != ARN_SHAPE_ANY;
    if (!visit_call(s, op->calls[0]) || !visit_call(s, op->calls[1])) return;
    for (uint32_t i = 0; i < op->n_outputs && s->status == ARENAUT_OK; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        const uint32_t taken = known && !condition->values[0];
        arn_shape both = *result_of(s, op->calls[taken], i);
        if (!known) meet(s, &both, result_of(s, op->calls[1], i));
        give(s, i, &both);
    }
}

/* Whether a turn returns the sizes that it was given. Sizes that differ become unknown. */
static bool settle(arn_shapes *s, arn_shape *carried, const arn_shape *back) {
    bool same = carried->at_most || !back->at_most;
    carried->values = NULL;
    carried->at_most = carried->at_most || back->at_most;
    if (!carried->ranked) return true;
    if (!back->ranked || back->rank != carried->rank) {
        carried->ranked = false;
        return false;
    }
    int64_t *dims = arn_shape_new_dims(s, carried->rank);
    if (!dims) return true;
    for (uint32_t i = 0; i < carried->rank; i++) {
        const bool kept = back->dims[i] == carried->dims[i];
        dims[i] = kept ? carried->dims[i] : ARN_SHAPE_ANY;
        same = same && kept;
    }
    carried->dims = dims;
    return same;
}

/* Sets the inputs of a loop's method. A scanned value comes slice by slice: without the scanned
 * axis. */
static void set_loop_inputs(arn_shapes *s, const arn_shape *carried, bool scans) {
    const arenaut_op *op = s->op;
    const arenaut_method *body = &s->program->methods[op->calls[0]];
    const arenaut_attribute *axes = arn_shape_attribute(s, "scan_input_axes");
    for (uint32_t i = 0; i < body->n_inputs && s->status == ARENAUT_OK; i++) {
        arn_shape *to = &s->of[body->inputs[i]];
        const arn_shape *from = i < op->target ? &carried[i] : arn_shape_input(s, i);
        const uint32_t scanned = i - op->target;
        *to = s->stated[body->inputs[i]];
        if (from->dtype != ARENAUT_DTYPE_OTHER) to->dtype = from->dtype;
        to->at_most = from->at_most;
        if (!from->ranked) continue;
        uint32_t axis = 0;
        int64_t *dims = arn_shape_new_dims(s, from->rank);
        if (!dims) return;
        const bool slice = scans && i >= op->target;
        const int64_t wanted = slice && scanned < axes->n_numbers ? axes->numbers[scanned] : 0;
        if (slice && !arn_shape_axis(s, wanted, from->rank, &axis)) return;
        uint32_t rank = 0;
        for (uint32_t k = 0; k < from->rank; k++) {
            if (!slice || k != axis) dims[rank++] = from->dims[k];
        }
        to->ranked = true;
        to->rank = rank;
        to->dims = dims;
    }
}

/* The upper bound of the number of turns. */
static int64_t turns_of(const arn_shapes *s, bool scans) {
    const arenaut_op *op = s->op;
    if (!scans) {
        const arn_shape *count = arn_shape_input(s, op->target);
        return count->values && count->n_values == 1 && count->values[0] >= 0 ? count->values[0]
                                                                              : ARN_SHAPE_ANY;
    }
    const arn_shape *scanned = arn_shape_input(s, op->target);
    const arenaut_attribute *axes = arn_shape_attribute(s, "scan_input_axes");
    const int64_t axis = axes->n_numbers ? axes->numbers[0] : 0;
    const int64_t at = axis < 0 ? axis + (int64_t)scanned->rank : axis;
    return scanned->ranked && at >= 0 && at < (int64_t)scanned->rank ? scanned->dims[at]
                                                                     : ARN_SHAPE_ANY;
}

static bool is_true(const arn_shape *x) {
    return x->values && x->n_values == 1 && x->values[0] == 1;
}

/* Whether the loop may end before its last turn: readers put conditions behind all else. */
static bool may_end_early(const arn_shapes *s, bool scans) {
    const arenaut_op *op = s->op;
    const uint32_t condition = op->target + 1;
    if (scans) return false;
    return (arn_shape_has_input(s, condition) && !is_true(arn_shape_input(s, condition))) ||
           !is_true(result_of(s, op->calls[0], s->program->methods[op->calls[0]].n_outputs - 1));
}

/* A collected value gets one more axis, with one element for each turn. */
static void give_collected(arn_shapes *s, uint32_t output, const arn_shape *slice, int64_t turns,
                           int64_t wanted) {
    uint32_t axis;
    if (!slice->ranked) {
        arn_shape_set_dtype(s, output, slice->dtype);
        return;
    }
    int64_t *dims = arn_shape_new_dims(s, slice->rank + 1);
    if (!dims || !arn_shape_axis(s, wanted, slice->rank + 1, &axis)) return;
    for (uint32_t k = 0, from = 0; k < slice->rank + 1; k++) {
        dims[k] = k == axis ? turns : slice->dims[from++];
    }
    arn_shape_set(s, output, slice->dtype, slice->rank + 1, dims);
}

/* Before version 9 Scan had an axis for the batch besides; nothing is inferred for that. */
static bool is_batched_scan(const arn_shapes *s) {
    const uint32_t version = s->program->dialect_version;
    return version > 0 && version < 9 && s->op->name && strcmp(s->op->name, "Scan") == 0;
}

/* A loop carries its method's results. Turns are repeated to a fixed point; the third accepts
 * anything. */
static void visit_loop(arn_shapes *s) {
    enum { TURNS = 3 };
    const arenaut_op *op = s->op;
    const bool scans = op->name && strcmp(op->name, "Scan") == 0;
    const arenaut_method *body = &s->program->methods[op->calls[0]];
    arn_shape *carried = arn_region_allocate(s->region, op->target, sizeof *carried);
    if (!carried) {
        arn_shape_fail_memory(s);
        return;
    }
    for (uint32_t i = 0; i < op->target; i++) carried[i] = *arn_shape_input(s, i);
    bool settled = false;
    for (int turn = 1; turn <= TURNS && !settled && s->status == ARENAUT_OK; turn++) {
        for (uint32_t i = 0; i < op->target; i++) {
            carried[i].values = NULL;
            if (turn == TURNS) carried[i].ranked = false;
        }
        set_loop_inputs(s, carried, scans);
        if (!visit_call(s, op->calls[0])) return;
        settled = true;
        for (uint32_t i = 0; i < op->target && i < body->n_outputs; i++) {
            if (!settle(s, &carried[i], &s->of[body->outputs[i]])) settled = false;
        }
    }
    const arenaut_attribute *axes = arn_shape_attribute(s, "scan_output_axes");
    for (uint32_t i = 0; i < op->n_outputs && s->status == ARENAUT_OK; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        if (i < op->target) {
            give(s, i, &carried[i]);
        } else {
            const uint32_t k = i - op->target;
            give_collected(s, i, result_of(s, op->calls[0], i), turns_of(s, scans),
                           scans && k < axes->n_numbers ? axes->numbers[k] : 0);
            mark_at_most(s, i, result_of(s, op->calls[0], i)->at_most || may_end_early(s, scans));
        }
    }
}

/* ---- ops ---- */

static void visit_op(arn_shapes *s, const arenaut_op *op) {
    s->op = op;
    if (s->work) s->work--;
    /* In a loop it may have been visited before. */
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] != ARENAUT_NONE) s->of[op->outputs[i]] = s->stated[op->outputs[i]];
    }
    switch (op->kind) {
        case ARENAUT_OP_IF: visit_if(s); return;
        case ARENAUT_OP_LOOP:
            if (is_batched_scan(s)) (void)visit_call(s, op->calls[0]);
            else visit_loop(s);
            return;
        default: break;
    }
    const arn_shape_function function = op->name ? shape_function_of(op->name) : NULL;
    if (function) function(s);
    bool at_most = false;
    for (uint32_t i = 0; i < op->n_inputs; i++) at_most = at_most || arn_shape_input(s, i)->at_most;
    for (uint32_t i = 0; i < op->n_outputs; i++) mark_at_most(s, i, at_most);
}

void arn_shape_visit(arn_shapes *s, uint32_t method) {
    const arenaut_method *m = &s->program->methods[method];
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops && s->status == ARENAUT_OK; i++) {
        visit_op(s, &s->program->ops[i]);
    }
}
