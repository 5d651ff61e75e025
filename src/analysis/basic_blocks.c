/* The control flow graph of a method with jumps: its basic blocks, and the edges between them in
 * both directions. O(ops). */
#include "analysis/basic_blocks.h"

/* Blocks begin at the start, at the first op, where something jumps to, and after jumps. */
static void cut(const arenaut_op *ops, uint32_t n_ops, arn_blocks *blocks) {
    enum { INSIDE, BEGINS };
    for (uint32_t i = 0; i <= n_ops + 1; i++) blocks->of[i] = INSIDE;
    blocks->of[0] = blocks->of[1] = blocks->of[n_ops + 1] = BEGINS;
    for (uint32_t i = 0; i < n_ops; i++) {
        if (arn_is_jump(&ops[i])) blocks->of[i + 2] = blocks->of[ops[i].target + 1] = BEGINS;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i <= n_ops + 1; i++) {
        if (blocks->of[i] == BEGINS) blocks->first[n++] = i;
        blocks->of[i] = n - 1;
    }
    blocks->n = n - 1;
}

static void connect(const arenaut_op *ops, arn_blocks *blocks) {
    for (uint32_t b = 0; b < blocks->n; b++) {
        const uint32_t last = blocks->first[b + 1] - 1;
        const arenaut_op *op = last > 0 ? &ops[last - 1] : NULL;
        const bool jumps = op && arn_is_jump(op);
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

bool arn_blocks_make(const arenaut_program *p, uint32_t method, arn_region *region,
                     arn_blocks *blocks) {
    const arenaut_op *ops = p->ops + p->methods[method].first_op;
    const uint32_t n_ops = p->methods[method].n_ops;
    const size_t positions = (size_t)n_ops + 2;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(blocks->of, positions),
                           ARN_ARRAY(blocks->first, positions))) {
        return false;
    }
    cut(ops, n_ops, blocks);
    const size_t n = blocks->n;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(blocks->next, 2 * n), ARN_ARRAY(blocks->back, n + 2),
                           ARN_ARRAY(blocks->from, 2 * n))) {
        return false;
    }
    connect(ops, blocks);
    return true;
}

bool arn_has_control_flow(const arenaut_program *p, uint32_t method) {
    const arenaut_method *m = &p->methods[method];
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops; i++) {
        if (arn_is_jump(&p->ops[i]) || p->ops[i].kind == ARENAUT_OP_MOVE) return true;
    }
    return false;
}
