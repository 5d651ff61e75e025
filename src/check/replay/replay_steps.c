/* replay_steps: may an op's outputs overlap its inputs as they do? Its kernel is walked through
 * (kernel_steps.h), over marks for the bytes of these inputs alone.
 *
 * What an op states of itself is not asked here, and nothing of how a distance was found: only
 * where the tensors lie, and how the kernels walk. Only tensors that stand for one memory each may
 * overlap; those that may stand for several do not make pairs, and are found to share bytes by the
 * ordinary way. */
#include "check/replay/replay_steps.h"

#include "check/replay/kernel_steps.h"
#include "check/replay/replay_access.h"
#include "check/replay/replay_control.h"
#include "core/fail.h"

void arn_replay_find_rule(arn_replay *r, const arenaut_op *op) {
    const arenaut_replay_options *o = &r->options;
    r->rule = NULL;
    r->n_pairs = 0;
    if (!o->kernels || op->kind != ARENAUT_OP_OUT) return;
    r->rule = arenaut_kernel_rule_for(o->kernels, r->program, op, o->unmeasured);
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

arenaut_status arn_replay_follow(arn_replay *r, const arenaut_op *op) {
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
            status = arn_replay_too_much(r, "what overlaps in its ops is too much to follow",
                                         ARN_REPLAY_STEPS);
        } else if (walk.end != ARN_WALK_RIGHT) {
            status = arn_replay_reject_walk(r, &walk);
        }
    }
    arn_region_free(&region);
    return status;
}
