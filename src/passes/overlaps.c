/* overlaps: notes for each op how far its outputs may reach into its inputs.
 *
 * The kernel set says in which order the op's kernel walks, and what the op states of itself gives
 * the distance (arenaut_kernel_distance). Whether anything else needs the input is left to
 * lowering, which knows when things are alive. O(ops * arguments) and what the distances cost. */
#include <arenaut/kernels.h>
#include <arenaut/pass.h>
#include <arenaut/target.h>

#include "core/fail.h"
#include "core/memory.h"
#include "ir/store.h"
#include "kernels/distance.h"

typedef struct overlaps {
    arenaut_program *program;
    arenaut_overlap *pairs;
    uint32_t n_pairs, capacity; /* of the op at work */
    uint64_t steps_left;        /* of kernels, to be followed */
    arenaut_error *err;
} overlaps;

static bool is_stated(const arenaut_op *op, uint32_t output, uint32_t input) {
    for (uint32_t i = 0; i < op->n_overlaps; i++) {
        if (op->overlaps[i].output == output && op->overlaps[i].input == input) return true;
    }
    return false;
}

static arenaut_status note(overlaps *pass, arenaut_overlap pair) {
    if (!arn_grow(arn_program_allocator(pass->program), (void **)&pass->pairs, &pass->capacity,
                  (uint64_t)pass->n_pairs + 1, sizeof *pass->pairs)) {
        return arn_no_memory(pass->err);
    }
    pass->pairs[pass->n_pairs++] = pair;
    return ARENAUT_OK;
}

/* Constants and state are never overwritten. */
static bool is_planned(const arenaut_program *p, uint32_t tensor) {
    return tensor != ARENAUT_NONE && p->tensors[tensor].cls != ARENAUT_CONSTANT &&
           p->tensors[tensor].cls != ARENAUT_STATE;
}

static arenaut_status visit(overlaps *pass, arenaut_op *op, const arenaut_kernel_rule *rule) {
    const arenaut_program *p = pass->program;
    arenaut_status st = ARENAUT_OK;
    pass->n_pairs = 0;
    for (uint32_t i = 0; i < op->n_overlaps && st == ARENAUT_OK; i++) {
        st = note(pass, op->overlaps[i]); /* what the program says itself stays */
    }
    for (uint32_t output = 0; output < op->n_outputs; output++) {
        for (uint32_t input = 0; input < op->n_inputs && st == ARENAUT_OK; input++) {
            arenaut_overlap pair = {output, input, 0};
            if (!is_planned(p, op->inputs[input]) || is_stated(op, output, input)) continue;
            if (arn_kernel_distance(p, op, rule, &pair, &pass->steps_left)) {
                st = note(pass, pair);
            }
        }
    }
    if (st != ARENAUT_OK || pass->n_pairs == op->n_overlaps) return st;
    arenaut_overlap *kept = arenaut_program_alloc(pass->program, pass->n_pairs * sizeof *kept);
    if (!kept) return arn_no_memory(pass->err);
    for (uint32_t i = 0; i < pass->n_pairs; i++) kept[i] = pass->pairs[i];
    op->overlaps = kept;
    op->n_overlaps = pass->n_pairs;
    return ARENAUT_OK;
}

static arenaut_status overlaps_run(arenaut_program *p, const arenaut_pass_options *options,
                                   arenaut_error *err) {
    const arenaut_kernel_set *kernels =
        options->kernels ? options->kernels : options->target->kernels;
    overlaps pass = {.program = p, .steps_left = ARN_MOST_STEPS, .err = err};
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) {
        const arenaut_kernel_rule *rule =
            arenaut_kernel_rule_for(kernels, p, &p->ops[i], options->unmeasured);
        if (rule) st = visit(&pass, &p->ops[i], rule);
    }
    arn_release(arn_program_allocator(p), pass.pairs);
    return st;
}

extern const arenaut_pass arn_pass_overlaps;
const arenaut_pass arn_pass_overlaps = {
    .name = "overlaps",
    .summary = "lets an output reach into an operand, as far as the kernels' order of work allows",
    .by_default = false,
    .run = overlaps_run,
};
