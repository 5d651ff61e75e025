/* Planning of a recording into an arena: blocks become buffers of a problem, whose plan (made here
 * or given by the caller) is checked before it is taken over, and memory is bound to it. */
#include <arenaut/check.h>
#include <arenaut/plan.h>
#include <arenaut/problem.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "tape/tape.h"

void arn_tape_forget_plan(arenaut_tape *tape) {
    arn_release(&tape->allocator, tape->kept);
    tape->kept = NULL;
    tape->n_kept = 0;
    tape->arena = tape->bound = tape->align = 0;
    tape->planned = false;
    tape->counts.planned = 0;
    tape->base = NULL;
    for (uint32_t b = 0; b < tape->n_blocks; b++) tape->blocks[b].planned = false;
}

/* A block that outlives the run and is not kept stays in the list with no life, and so gets no
 * memory. */
static arenaut_status add_block(const arenaut_tape *tape, uint32_t b, arenaut_problem *problem,
                                arenaut_error *err) {
    arenaut_tape_block block;
    arenaut_tape_block_at(tape, b, &block);
    const arenaut_interval life = {block.first, block.end};
    arenaut_buffer buffer = {0};
    buffer.size = block.size;
    buffer.align = arn_max_u64(block.align, tape->options.align);
    buffer.lifetimes = &life;
    buffer.n_lifetimes = block.released || block.kept ? 1 : 0;
    return arenaut_problem_add_buffer(problem, &buffer, NULL, err);
}

static arenaut_status build(const arenaut_tape *tape, arenaut_problem **out, arenaut_error *err) {
    if (!tape->recorded || tape->planned) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        tape->planned ? "the tape is planned already; record anew to plan anew"
                                      : "there is nothing to plan: record a run first");
    }
    arenaut_status st = arenaut_problem_new(&tape->allocator, out, err);
    for (uint32_t b = 0; st == ARENAUT_OK && b < tape->n_blocks; b++) {
        st = add_block(tape, b, *out, err);
    }
    if (st == ARENAUT_OK) st = arenaut_problem_finish(*out, err);
    return st;
}

/* Nothing changes unless all of it does. */
static arenaut_status adopt(arenaut_tape *tape, const arenaut_problem *problem,
                            const arenaut_plan *plan, arenaut_error *err) {
    arenaut_finding finding;
    const arenaut_status st = arenaut_check_plan(problem, plan, &tape->allocator, &finding, err);
    if (st != ARENAUT_OK) return st;
    uint32_t *kept = arn_allocate(&tape->allocator, tape->n_blocks, sizeof *kept);
    if (!kept) return arn_no_memory(err);
    tape->kept = kept;
    tape->align = tape->options.align;
    for (uint32_t b = 0; b < tape->n_blocks; b++) {
        arn_tape_block *block = &tape->blocks[b];
        block->offset = plan->offset[b];
        block->planned = arenaut_problem_needs_memory(problem, b);
        if (block->recorded.kept) kept[tape->n_kept++] = b;
        if (!block->planned) continue;
        tape->counts.planned++;
        tape->align = arn_max_u64(tape->align, arenaut_problem_align(problem, b));
    }
    tape->arena = plan->total;
    tape->planned = true;
    return ARENAUT_OK;
}

static arenaut_status solve(arenaut_tape *tape, const arenaut_problem *problem,
                            const arenaut_plan_options *options, arenaut_error *err) {
    arenaut_plan *plan = NULL;
    arenaut_status st = arenaut_plan_make(problem, options, &tape->allocator, &plan, err);
    if (st == ARENAUT_OK) st = adopt(tape, problem, plan, err);
    if (st == ARENAUT_OK) tape->bound = plan->total_bound;
    arenaut_plan_free(plan);
    return st;
}

arenaut_status arenaut_tape_plan(arenaut_tape *tape, const arenaut_plan_options *options,
                                 arenaut_error *err) {
    arenaut_problem *problem = NULL;
    arenaut_status st = build(tape, &problem, err);
    if (st == ARENAUT_OK) st = solve(tape, problem, options, err);
    arenaut_problem_free(problem);
    return st;
}

/* The places as a plan, so that the checker can look at them. */
static arenaut_status take_places(arenaut_tape *tape, const arenaut_problem *problem,
                                  const uint64_t *offsets, uint64_t size, arenaut_error *err) {
    arenaut_plan *plan = NULL;
    arenaut_status st =
        arenaut_plan_new(problem->n_buffers, problem->n_pools, &tape->allocator, &plan, err);
    for (uint32_t b = 0; st == ARENAUT_OK && b < problem->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(problem, b)) continue;
        plan->pool[b] = 0;
        plan->offset[b] = offsets[b];
    }
    if (st == ARENAUT_OK) st = arenaut_plan_measure(plan, problem, err);
    if (st == ARENAUT_OK && plan->total > size) {
        st = arn_fail(err, ARENAUT_REJECTED, 0, "the places end at byte %llu of an arena of %llu",
                      (unsigned long long)plan->total, (unsigned long long)size);
    }
    if (st == ARENAUT_OK) st = adopt(tape, problem, plan, err);
    if (st == ARENAUT_OK) tape->arena = size;
    arenaut_plan_free(plan);
    return st;
}

arenaut_status arenaut_tape_place(arenaut_tape *tape, const uint64_t *offsets, uint64_t size,
                                  arenaut_error *err) {
    arenaut_problem *problem = NULL;
    arenaut_status st = build(tape, &problem, err);
    if (st == ARENAUT_OK) st = take_places(tape, problem, offsets, size, err);
    arenaut_problem_free(problem);
    return st;
}

uint64_t arenaut_tape_arena(const arenaut_tape *tape, uint64_t *align) {
    if (align) *align = tape->align ? tape->align : tape->options.align;
    return tape->arena;
}

uint64_t arenaut_tape_bound(const arenaut_tape *tape) { return tape->bound; }

arenaut_status arenaut_tape_bind(arenaut_tape *tape, void *memory, uint64_t size,
                                 arenaut_error *err) {
    const uint32_t out = arenaut_tape_outstanding(tape);
    if (!tape->planned || tape->state != ARN_TAPE_IDLE || out != 0) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "memory is bound between runs, after planning, "
                        "while no block of the old one is out (%u are)",
                        out);
    }
    if (memory && size < tape->arena) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "%llu bytes do not hold an arena of %llu",
                        (unsigned long long)size, (unsigned long long)tape->arena);
    }
    if ((uintptr_t)memory % tape->align != 0) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "the memory is not aligned to %llu bytes",
                        (unsigned long long)tape->align);
    }
    tape->base = memory;
    return ARENAUT_OK;
}
