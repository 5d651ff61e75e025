/* overlaps: the distances of each op: how far its outputs may reach into its inputs, and inputs
 * that it copies onto themselves if they are at one place.
 *
 * The kernel set has the order in which the op's kernel walks, and the op's attributes give the
 * distance (arn_kernel_distance). Other needs of the input are left to lowering, which knows
 * live ranges. O(ops * arguments) and the cost of the distances. */
#include <arenaut/kernels.h>
#include <arenaut/pass.h>

#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "ir/store.h"
#include "kernels/distance.h"
#include "kernels/kernel_set.h"

typedef struct overlaps {
    arenaut_program *program;
    /* Of the op at work. */
    arenaut_overlap *pairs;
    arenaut_in_place *copies;
    uint32_t n_pairs, n_copies, pairs_room, copies_room;
    uint64_t steps_left; /* of kernels, to be followed */
    arenaut_error *err;
} overlaps;

/* The larger of the kernel's distance and that which the op states itself: what the replay, which
 * follows the kernel, would not allow is no right, and an op may be more cautious. */
static void heed_statement(const arenaut_op *op, arenaut_overlap *pair) {
    for (uint32_t i = 0; i < op->n_overlaps; i++) {
        const arenaut_overlap *stated = &op->overlaps[i];
        if (stated->output != pair->output || stated->input != pair->input) continue;
        if (stated->distance > pair->distance) pair->distance = stated->distance;
    }
}

static bool is_in_place(const arenaut_op *op, arenaut_in_place pair) {
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        if (op->in_place[i].output == pair.output && op->in_place[i].input == pair.input)
            return true;
    }
    return false;
}

static bool note(overlaps *pass, arenaut_overlap pair) {
    if (!arn_grow(arn_program_allocator(pass->program), (void **)&pass->pairs, &pass->pairs_room,
                  (uint64_t)pass->n_pairs + 1, sizeof *pass->pairs)) {
        return false;
    }
    pass->pairs[pass->n_pairs++] = pair;
    return true;
}

static bool note_copy(overlaps *pass, arenaut_in_place pair) {
    if (!arn_grow(arn_program_allocator(pass->program), (void **)&pass->copies, &pass->copies_room,
                  (uint64_t)pass->n_copies + 1, sizeof *pass->copies)) {
        return false;
    }
    pass->copies[pass->n_copies++] = pair;
    return true;
}

/* Constants and state are never overwritten. */
static bool is_planned(const arenaut_program *p, uint32_t tensor) {
    return tensor != ARENAUT_NONE && p->tensors[tensor].cls != ARENAUT_CONSTANT &&
           p->tensors[tensor].cls != ARENAUT_STATE;
}

/* The kernel's rule for one output and one input. */
static bool ask(overlaps *pass, const arenaut_op *op, const arenaut_kernel_rule *rule,
                uint32_t output, uint32_t input) {
    const arenaut_program *p = pass->program;
    arenaut_overlap pair = {output, input, 0};
    const arenaut_in_place copy = {output, input};
    bool in_place;
    if (!is_planned(p, op->inputs[input])) return true;
    const bool known = arn_kernel_distance(p, op, rule, &pair, &in_place, &pass->steps_left);
    if (in_place && !is_in_place(op, copy) && !note_copy(pass, copy)) return false;
    if (known) heed_statement(op, &pair);
    return !known || note(pass, pair);
}

/* The program's own statements about operands written over stay, and come first. */
static bool gather(overlaps *pass, const arenaut_op *op, const arenaut_kernel_rule *rule) {
    bool room = true;
    pass->n_pairs = pass->n_copies = 0;
    for (uint32_t i = 0; i < op->n_in_place && room; i++) room = note_copy(pass, op->in_place[i]);
    for (uint32_t output = 0; output < op->n_outputs; output++) {
        for (uint32_t input = 0; input < op->n_inputs && room; input++)
            room = ask(pass, op, rule, output, input);
    }
    return room;
}

/* A copy of `n` of `size` bytes that lives as long as the program; NULL if there is no memory. */
static void *keep(overlaps *pass, const void *list, uint32_t n, size_t size) {
    void *kept = arenaut_program_alloc(pass->program, n * size);
    if (kept && n) memcpy(kept, list, n * size);
    return kept;
}

static arenaut_status visit(overlaps *pass, arenaut_op *op, const arenaut_kernel_rule *rule) {
    if (!gather(pass, op, rule)) return arn_no_memory(pass->err);
    op->n_overlaps = pass->n_pairs;
    if (pass->n_pairs > 0) {
        op->overlaps = keep(pass, pass->pairs, pass->n_pairs, sizeof *op->overlaps);
        if (!op->overlaps) return arn_no_memory(pass->err);
    }
    if (pass->n_copies > op->n_in_place) {
        const arenaut_in_place *copies = keep(pass, pass->copies, pass->n_copies, sizeof *copies);
        if (!copies) return arn_no_memory(pass->err);
        op->in_place = copies;
        op->n_in_place = pass->n_copies;
    }
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
            arn_kernel_rule_for(kernels, p, &p->ops[i], options->unmeasured);
        if (rule) st = visit(&pass, &p->ops[i], rule);
    }
    ARN_RELEASE(arn_program_allocator(p), pass.pairs, pass.copies);
    return st;
}

extern const arenaut_pass arn_pass_overlaps;
const arenaut_pass arn_pass_overlaps = {
    .name = "overlaps",
    .summary = "lets an output reach into an operand, as far as the kernels' order of work allows",
    .by_default = false,
    .run = overlaps_run,
};
