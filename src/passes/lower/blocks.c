/* The base of flow.c and moves.c: the control flow graph of a method with jumps (its basic blocks,
 * and the edges between them in both directions), the list of live ranges, and the budget of the
 * analysis. O(ops). */
#include "passes/lower/flow.h"

#include <inttypes.h>

#include "core/fail.h"

static bool is_jump(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE;
}

/* Blocks begin at the start, at the first op, where something jumps to, and after jumps. */
static void cut(const arn_flow *flow, arn_blocks *blocks) {
    const arenaut_op *ops = flow->lower->program->ops + flow->method->first_op;
    const uint32_t n_ops = flow->method->n_ops;
    enum { INSIDE, BEGINS };
    for (uint32_t i = 0; i <= n_ops + 1; i++) blocks->of[i] = INSIDE;
    blocks->of[0] = blocks->of[1] = blocks->of[n_ops + 1] = BEGINS;
    for (uint32_t i = 0; i < n_ops; i++) {
        if (is_jump(&ops[i])) blocks->of[i + 2] = blocks->of[ops[i].target + 1] = BEGINS;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i <= n_ops + 1; i++) {
        if (blocks->of[i] == BEGINS) blocks->first[n++] = i;
        blocks->of[i] = n - 1;
    }
    blocks->n = n - 1;
}

static void connect(const arn_flow *flow, arn_blocks *blocks) {
    const arenaut_op *ops = flow->lower->program->ops + flow->method->first_op;
    for (uint32_t b = 0; b < blocks->n; b++) {
        const uint32_t last = blocks->first[b + 1] - 1;
        const arenaut_op *op = last > 0 ? &ops[last - 1] : NULL;
        const bool jumps = op && is_jump(op);
        blocks->next[2 * b] = jumps && op->kind == ARENAUT_OP_JUMP ? ARENAUT_NONE : b + 1;
        blocks->next[2 * b + 1] = jumps ? blocks->of[op->target + 1] : ARENAUT_NONE;
    }
    /* The same edges reversed. */
    for (uint32_t b = 0; b <= blocks->n + 1; b++) blocks->back[b] = 0;
    for (uint32_t i = 0; i < 2 * blocks->n; i++) {
        if (blocks->next[i] != ARENAUT_NONE) blocks->back[blocks->next[i] + 1]++;
    }
    for (uint32_t b = 0; b <= blocks->n; b++) blocks->back[b + 1] += blocks->back[b];
    for (uint32_t i = 2 * blocks->n; i-- > 0;) {
        /* back[b + 1] counts down to where block b begins, which is then shifted. */
        if (blocks->next[i] != ARENAUT_NONE)
            blocks->from[--blocks->back[blocks->next[i] + 1]] = i / 2;
    }
    for (uint32_t b = 0; b <= blocks->n; b++) blocks->back[b] = blocks->back[b + 1];
    uint32_t edges = 0;
    for (uint32_t i = 0; i < 2 * blocks->n; i++) edges += blocks->next[i] != ARENAUT_NONE;
    blocks->back[blocks->n + 1] = edges;
}

bool arn_lower_blocks_make(arn_flow *flow) {
    arn_blocks *blocks = &flow->blocks;
    const size_t positions = (size_t)flow->method->n_ops + 2;
    blocks->of = arn_region_allocate(&flow->region, positions, sizeof *blocks->of);
    blocks->first = arn_region_allocate(&flow->region, positions, sizeof *blocks->first);
    if (!blocks->of || !blocks->first) return false;
    cut(flow, blocks);
    const size_t n = blocks->n;
    blocks->next = arn_region_allocate(&flow->region, n, 2 * sizeof *blocks->next);
    blocks->back = arn_region_allocate(&flow->region, n + 2, sizeof *blocks->back);
    blocks->from = arn_region_allocate(&flow->region, n, 2 * sizeof *blocks->from);
    if (!blocks->next || !blocks->back || !blocks->from) return false;
    connect(flow, blocks);
    return true;
}

/* ---- ranges and the budget of the analysis ---- */

bool arn_lower_flow_work(arn_flow *flow, uint64_t amount) {
    flow->work += amount;
    if (flow->status != ARENAUT_OK) return false;
    if (flow->work <= ARN_MAX_FLOW_WORK && flow->n_ranges <= ARN_MAX_LIVE_RANGES) return true;
    flow->status = arn_fail(
        flow->lower->err, ARENAUT_UNSUPPORTED, 0,
        "method '%.80s': jumps and moves multiply into more than %d lives or %d "
        "steps of work",
        flow->method->name ? flow->method->name : "", ARN_MAX_LIVE_RANGES, ARN_MAX_FLOW_WORK);
    return false;
}

void arn_lower_flow_add(arn_flow *flow, uint32_t storage, uint32_t first, uint32_t end,
                        bool moved) {
    if (!arn_lower_flow_work(flow, 1)) return;
    if (!arn_grow(&flow->lower->allocator, (void **)&flow->ranges, &flow->range_capacity,
                  (uint64_t)flow->n_ranges + 1, sizeof *flow->ranges)) {
        flow->status = arn_no_memory(flow->lower->err);
        return;
    }
    flow->ranges[flow->n_ranges++] = (arn_live_range){storage, first, end, moved};
}
