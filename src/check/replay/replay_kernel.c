/* replay_kernel: the effect of one op that is no control flow on the shadow.
 *
 * Unless the caller says which kernels run, their order of reads and writes is unknown, so the
 * worst is assumed: all outputs and scratch are written before the inputs are read. There are three
 * exceptions: the promise of a declared in-place pair, if the two lie at the same offset and the
 * output is no longer than the input; kernels with known steps, which are followed if an output
 * overlaps an input (kernel_steps.h, over marks for the bytes of these inputs alone); and, if there
 * is no rule for the op, the distances that it states itself, which are believed.
 *
 * Following the steps asks neither the op's own statement nor the derivation of a distance: only
 * the places of the tensors and the order of the kernel count. Only tensors that stand for one
 * memory each may overlap; an alias of several makes no pair, and its shared bytes are found as any
 * others are. */
#include "check/replay/replay.h"

#include "check/replay/kernel_steps.h"
#include "core/fail.h"
#include "ir/program.h"
#include "kernels/kernel_set.h"

/* ---- kernels followed step by step ---- */

/* Limit of kernel steps followed, past which a program is refused: some seconds. Counted in steps
 * and in 64 bytes that they read or write. */
#define ARN_REPLAY_STEPS (UINT64_C(1) << 31)

/* Sets r->rule: the rule of the given kernels for this op; NULL if there are none, they have no
 * rule for it, or it is of a kind that they do not run. */
static void find_rule(arn_replay *r, const arenaut_op *op) {
    const arenaut_replay_options *o = &r->options;
    r->rule = NULL;
    r->n_pairs = 0;
    if (!o->kernels || op->kind != ARENAUT_OP_OUT) return;
    r->rule = arn_kernel_rule_for(o->kernels, r->program, op, o->unmeasured);
}

/* The place of an argument's memory, if there is one, and it is as long as the argument. */
static const arn_replay_place *find_place(const arn_replay *r, uint32_t tensor) {
    const arn_replay_places *p = &r->places;
    if (tensor == ARENAUT_NONE) return NULL;
    const uint32_t sole = arn_replay_sole_pointee(r, tensor);
    if (sole == ARENAUT_NONE) return NULL;
    const arn_replay_place *place = &p->place[sole];
    if (place->left_alone || place->broken != ARENAUT_RULE_NONE) return NULL;
    const uint64_t bytes = p->cell_address[place->end] - p->cell_address[place->first];
    return bytes == r->program->tensors[tensor].bytes ? place : NULL;
}

static arenaut_status add_pair(arn_replay *r, uint32_t input, uint32_t output, int64_t shift) {
    void *pairs = r->pairs;
    if (!arn_grow(r->allocator, &pairs, &r->pair_capacity, r->n_pairs + UINT64_C(1),
                  sizeof *r->pairs))
        return arn_no_memory(r->err);
    r->pairs = pairs;
    r->pairs[r->n_pairs++] = (arn_walk_pair){input, output, shift};
    return ARENAUT_OK;
}

static arenaut_status find_overlapping(arn_replay *r, const arenaut_op *op) {
    const uint64_t *address = r->places.cell_address;
    arenaut_status status = ARENAUT_OK;
    r->shadow.work += (uint64_t)op->n_inputs * op->n_outputs;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arn_replay_place *from = find_place(r, op->inputs[i]);
        for (uint32_t j = 0; from && j < op->n_outputs && status == ARENAUT_OK; j++) {
            const arn_replay_place *to = find_place(r, op->outputs[j]);
            if (!to || to->first >= from->end || from->first >= to->end) continue;
            if (r->over[i] == arn_replay_sole_pointee(r, op->outputs[j])) continue;
            status = add_pair(r, i, j, (int64_t)address[to->first] - (int64_t)address[from->first]);
        }
    }
    return status;
}

/* Whether each time the op runs its arguments lie where they do now. */
static bool stay_in_place(const arn_replay *r, const arenaut_op *op) {
    for (uint32_t i = 0; i < r->n_pairs; i++) {
        if (arn_replay_is_alias(r, op->inputs[r->pairs[i].input]) ||
            arn_replay_is_alias(r, op->outputs[r->pairs[i].output]))
            return false;
    }
    return true;
}

/* If r->rule is set: finds the pairs of an input and an output that overlap, but for those in place
 * (r->over), and follows the op's steps. OK: r->pairs may overlap as they do; else REJECTED, or
 * UNSUPPORTED past ARN_REPLAY_STEPS, or NO_MEMORY. */
static arenaut_status follow_steps(arn_replay *r, const arenaut_op *op) {
    if (!r->rule || r->rule->order == ARENAUT_KERNEL_NONE) return ARENAUT_OK;
    arenaut_status status = find_overlapping(r, op);
    if (status != ARENAUT_OK || r->n_pairs == 0) return status;
    const bool stays = stay_in_place(r, op);
    if (stays && r->followed[r->op]) return ARENAUT_OK;
    arn_walk walk = {.program = r->program,
                     .op = op,
                     .rule = r->rule,
                     .pairs = r->pairs,
                     .n_pairs = r->n_pairs,
                     .work = r->steps,
                     .most = ARN_REPLAY_STEPS};
    arn_region region;
    arn_region_init(&region, r->allocator);
    if (!arn_walk_begin(&walk, &region)) {
        status = arn_no_memory(r->err);
    } else {
        arn_kernel_steps(&walk);
        r->steps = walk.work;
        r->followed[r->op] = stays && walk.end == ARN_WALK_RIGHT;
        if (walk.end == ARN_WALK_TOO_LONG) {
            status = arn_replay_too_much(r, "the overlap in its ops is too much to follow",
                                         ARN_REPLAY_STEPS);
        } else if (walk.end != ARN_WALK_RIGHT) {
            status = arn_replay_reject_walk(r, &walk);
        }
    }
    arn_region_free(&region);
    return status;
}

/* ---- one op ---- */

static arenaut_status read_all(arn_replay *r, const uint32_t *tensors, uint32_t n) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < n && status == ARENAUT_OK; i++) {
        if (tensors[i] != ARENAUT_NONE) status = arn_replay_read(r, tensors[i]);
    }
    return status;
}

/* Notes that the op at work updates the memory that `tensor` stands for. */
static void set_updated(arn_replay *r, uint32_t tensor) {
    for (uint32_t i = 0; i < arn_replay_pointee_count(r, tensor); i++) {
        uint32_t known;
        const uint32_t pointee = arn_replay_pointee_at(r, tensor, i, &known);
        if (pointee != ARENAUT_NONE) r->updated[r->places.storage[pointee]] = r->version;
    }
}

static bool is_updated(const arn_replay *r, uint32_t tensor) {
    for (uint32_t i = 0; i < arn_replay_pointee_count(r, tensor); i++) {
        uint32_t known;
        const uint32_t pointee = arn_replay_pointee_at(r, tensor, i, &known);
        if (pointee != ARENAUT_NONE && r->updated[r->places.storage[pointee]] == r->version)
            return true;
    }
    return false;
}

/* Whether an update's output is the operand that it updates: by the op's pairs, else the first
 * is. Any other is a tensor of its own, which the op writes. */
static bool returns_operand(const arenaut_op *op, uint32_t output) {
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        if (op->in_place[i].output == output) return true;
    }
    return op->n_in_place == 0 && output == 0;
}

/* An op that updates its input writes through that input's address, so that output has its
 * bytes only if it is that memory: by the program, or as a declared pair by the plan. */
static arenaut_status write_output(arn_replay *r, const arenaut_op *op, uint32_t output) {
    const uint32_t tensor = op->outputs[output];
    const bool updates = op->kind == ARENAUT_OP_IN_PLACE && returns_operand(op, output);
    bool skip;
    if (!updates || is_updated(r, tensor)) return arn_replay_write_apart(r, tensor);
    return arn_replay_touch(r, tensor, &skip);
}

/* Outputs and scratch, each apart from the others. */
static arenaut_status write_all(arn_replay *r, const arenaut_op *op) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < op->n_outputs && status == ARENAUT_OK; i++) {
        if (op->outputs[i] != ARENAUT_NONE) status = write_output(r, op, i);
    }
    for (uint32_t i = 0; i < op->n_scratch && status == ARENAUT_OK; i++) {
        status = arn_replay_write_apart(r, op->scratch[i]);
    }
    return status;
}

/* Whether the output lies far enough below the input for the op's overlap of the two. Offsets are
 * below 2^63. */
static bool is_far_below(const arn_replay *r, const arn_replay_place *to,
                         const arn_replay_place *from, int64_t distance) {
    const arn_replay_places *p = &r->places;
    if (from->first == from->end || to->first == to->end) return false;
    if (p->cell_pool[from->first] != p->cell_pool[to->first]) return false;
    return (int64_t)p->cell_address[from->first] - (int64_t)p->cell_address[to->first] >= distance;
}

/* Whether both lie where the replay looks at them. */
static bool are_placed(const arn_replay_place *a, const arn_replay_place *b) {
    return !a->left_alone && !b->left_alone && a->broken == ARENAUT_RULE_NONE &&
           b->broken == ARENAUT_RULE_NONE;
}

/* Adds the overlaps that the op states to r->over: the outputs that may be written into an input's
 * memory, as far as they reach. Of several the first counts; a plan that uses more is refused. */
static void find_overlaps(arn_replay *r, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_overlaps; i++) {
        const arenaut_overlap *pair = &op->overlaps[i];
        const uint32_t input = arn_replay_sole_pointee(r, op->inputs[pair->input]);
        const uint32_t output = arn_replay_sole_pointee(r, op->outputs[pair->output]);
        if (input == ARENAUT_NONE || output == ARENAUT_NONE) continue;
        const arn_replay_place *from = &r->places.place[input], *to = &r->places.place[output];
        const bool meet = to->first < from->end && from->first < to->end;
        if (!are_placed(from, to) || !meet || !is_far_below(r, to, from, pair->distance)) continue;
        if (r->over[pair->input] == ARENAUT_NONE) r->over[pair->input] = output;
    }
}

/* Fills r->over from the op's in-place pairs. A delegate's are not looked at: it touches
 * everything at once. Nor are those of tensors that may stand for several memories. */
static void find_pairs(arn_replay *r, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        r->over[i] = ARENAUT_NONE;
        if (op->inputs[i] != ARENAUT_NONE) set_updated(r, op->inputs[i]);
    }
    if (op->kind == ARENAUT_OP_DELEGATE) return;
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        const uint32_t input = arn_replay_sole_pointee(r, op->inputs[op->in_place[i].input]);
        const uint32_t output = arn_replay_sole_pointee(r, op->outputs[op->in_place[i].output]);
        uint32_t *over = &r->over[op->in_place[i].input];
        if (input == ARENAUT_NONE || output == ARENAUT_NONE) continue;
        const arn_replay_place *from = &r->places.place[input], *to = &r->places.place[output];
        if (!are_placed(from, to) || from->first != to->first || to->end > from->end) continue;
        r->updated[r->places.storage[output]] = r->version;
        if (*over == ARENAUT_NONE || r->places.place[*over].end < to->end) *over = output;
    }
    if (op->kind == ARENAUT_OP_OUT && !r->rule) find_overlaps(r, op);
}

/* An op that writes through an alias writes one memory, any of the several that the alias may point
 * to, so pointees at the same place do not write over each other: an update of an alias moved on
 * two paths. Looks for bytes written by neither. */
static uint32_t written_by_others(arn_replay *r, uint32_t alias, uint32_t tensor, uint32_t first) {
    const arn_replay_place *place = &r->places.place[tensor];
    uint32_t cell = ARENAUT_NONE;
    for (uint32_t i = 0; i < arn_replay_pointee_count(r, alias); i++) {
        uint32_t known;
        const uint32_t pointee = arn_replay_pointee_at(r, alias, i, &known);
        if (pointee == ARENAUT_NONE) continue;
        const arn_replay_place *other = &r->places.place[pointee];
        if (other->left_alone || other->first != place->first || other->end != place->end) continue;
        cell = arn_replay_shadow_find(&r->shadow, first, place->end, r->places.storage[pointee],
                                      r->version);
        if (cell == ARENAUT_NONE) break;
    }
    return cell;
}

/* The end of the output that lies over this cell of the input, and may; ARENAUT_NONE: none may. */
static uint32_t allowed_until(const arn_replay *r, const arenaut_op *op, uint32_t input,
                              uint32_t cell) {
    const arn_replay_place *place = r->places.place;
    const uint32_t over = r->over[input];
    if (over != ARENAUT_NONE && place[over].first <= cell && cell < place[over].end)
        return place[over].end;
    for (uint32_t i = 0; i < r->n_pairs; i++) {
        if (r->pairs[i].input != input) continue;
        const uint32_t output = arn_replay_sole_pointee(r, op->outputs[r->pairs[i].output]);
        if (place[output].first <= cell && cell < place[output].end) return place[output].end;
    }
    return ARENAUT_NONE;
}

/* The first cell of the input's memory that the op has written and may not; ARENAUT_NONE: none.
 * Outputs are apart from each other, so a cell under one is written by it alone. */
static uint32_t find_written(arn_replay *r, const arenaut_op *op, uint32_t input,
                             const arn_replay_place *place) {
    uint32_t first = place->first;
    while (first < place->end) {
        const uint32_t cell =
            arn_replay_shadow_find(&r->shadow, first, place->end, ARN_SHADOW_UNWRITTEN, r->version);
        if (cell == ARENAUT_NONE) return ARENAUT_NONE;
        first = allowed_until(r, op, input, cell);
        if (first == ARENAUT_NONE) return cell;
        r->shadow.work += r->n_pairs;
    }
    return ARENAUT_NONE;
}

/* Whether the op has written over the memory of an input where it may not: `tensor` is one of the
 * input's pointees. */
static arenaut_status check_pointee(arn_replay *r, const arenaut_op *op, uint32_t input,
                                    uint32_t tensor) {
    const arn_replay_place *place = &r->places.place[tensor];
    const uint32_t output = r->over[input];
    bool skip;
    const arenaut_status status = arn_replay_touch(r, tensor, &skip);
    if (status != ARENAUT_OK || skip) return status;
    uint32_t first = output == ARENAUT_NONE ? place->first : r->places.place[output].end;
    if (first > place->end) first = place->end;
    /* These two kinds update their own memory by design. */
    const bool may_update = op->kind == ARENAUT_OP_IN_PLACE || op->kind == ARENAUT_OP_DELEGATE;
    const uint32_t cell = may_update ? written_by_others(r, op->inputs[input], tensor, first)
                                     : find_written(r, op, input, place);
    return cell == ARENAUT_NONE ? ARENAUT_OK : arn_replay_reject_arguments(r, tensor, cell);
}

static arenaut_status check_survival(arn_replay *r, const arenaut_op *op, uint32_t input) {
    const uint32_t tensor = op->inputs[input];
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < arn_replay_pointee_count(r, tensor) && status == ARENAUT_OK; i++) {
        uint32_t known;
        const uint32_t pointee = arn_replay_pointee_at(r, tensor, i, &known);
        if (pointee != ARENAUT_NONE) status = check_pointee(r, op, input, pointee);
    }
    return status;
}

/* An opaque op that lays its arguments over one another as it likes. Inputs filled by the program
 * must be intact; the others are its working memory. */
static arenaut_status run_aliasing(arn_replay *r, const arenaut_op *op) {
    arenaut_status status = ARENAUT_OK;
    for (int writing = 0; writing < 2; writing++) {
        for (uint32_t i = 0; i < op->n_inputs && status == ARENAUT_OK; i++) {
            const uint32_t tensor = op->inputs[i];
            if (tensor == ARENAUT_NONE) continue;
            const bool filled = r->places.filled[r->places.storage[tensor]];
            if (filled && !writing) status = arn_replay_read(r, tensor);
            if (!filled && writing) status = arn_replay_write(r, tensor);
        }
    }
    for (uint32_t i = 0; i < op->n_scratch && status == ARENAUT_OK; i++) {
        status = arn_replay_write(r, op->scratch[i]);
    }
    for (uint32_t i = 0; i < op->n_outputs && status == ARENAUT_OK; i++) {
        if (op->outputs[i] != ARENAUT_NONE) status = arn_replay_write(r, op->outputs[i]);
    }
    return status;
}

arenaut_status arn_replay_kernel(arn_replay *r, const arenaut_op *op) {
    r->version++;
    r->shadow.work += (uint64_t)op->n_inputs + op->n_outputs + op->n_scratch + op->n_in_place;
    if (!arn_op_kind_touches(op->kind)) return ARENAUT_OK;
    if (op->kind == ARENAUT_OP_VIEW) return ARENAUT_OK; /* only names change */
    if (op->arguments_may_alias) return run_aliasing(r, op);
    arenaut_status status = read_all(r, op->inputs, op->n_inputs);
    if (status != ARENAUT_OK) return status;
    find_rule(r, op);
    find_pairs(r, op);
    status = write_all(r, op);
    if (status == ARENAUT_OK) status = follow_steps(r, op);
    for (uint32_t i = 0; i < op->n_inputs && status == ARENAUT_OK; i++) {
        if (op->inputs[i] != ARENAUT_NONE) status = check_survival(r, op, i);
    }
    return status;
}
