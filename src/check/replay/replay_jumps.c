/* replay_jumps: replays a method whose ops jump.
 *
 * The method is cut into basic blocks, which are entered at their first op only. Each block runs
 * from what all the ways that lead to it have in common, and again whenever that has
 * become less, which ends since nothing is ever gained (the usual work list of data flow
 * analysis). Lower blocks go first, so a method that only jumps forward runs each block once. */
#include "check/replay/replay_control.h"
#include "check/replay/replay_state.h"
#include "core/fail.h"

/* Nodes of shadows that may be kept at one time. */
#define MAX_KEPT (UINT64_C(1) << 24)

typedef struct flow {
    arn_replay *r;
    arenaut_status (*run_op)(arn_replay *r, uint32_t op, uint32_t depth);
    const arenaut_method *method;
    uint32_t n_blocks;    /* the last one is empty: the method's end */
    uint32_t *first;      /* n_blocks: ops, counted within the method */
    uint32_t *block_at;   /* per op, and the end: the block that begins there */
    arn_replay_state *in; /* per block: where it begins; empty: not reached, or done with */
    bool *waiting;        /* per block: it has to be run, or run again */
    uint32_t lowest;      /* no block below this one waits */
    uint64_t kept;        /* nodes in `in` */
    bool jumps_back;
} flow;

static bool is_jump(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE;
}

bool arn_replay_has_jumps(const arenaut_program *program, uint32_t method) {
    const arenaut_method *m = &program->methods[method];
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops; i++) {
        if (is_jump(&program->ops[i])) return true;
    }
    return false;
}

/* Blocks begin where something jumps to, and after jumps. */
static void cut(flow *f) {
    const arenaut_op *ops = f->r->program->ops + f->method->first_op;
    const uint32_t n = f->method->n_ops;
    for (uint32_t i = 0; i <= n; i++) f->block_at[i] = ARENAUT_NONE;
    f->block_at[0] = f->block_at[n] = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_jump(&ops[i])) continue;
        f->block_at[i + 1] = f->block_at[ops[i].target] = 0;
        if (ops[i].target <= i) f->jumps_back = true;
    }
    for (uint32_t i = 0; i <= n; i++) {
        if (f->block_at[i] == ARENAUT_NONE) continue;
        f->block_at[i] = f->n_blocks;
        f->first[f->n_blocks++] = i;
    }
}

static arenaut_status make(flow *f, arn_region *region) {
    const size_t most = (size_t)f->method->n_ops + 1;
    f->first = arn_region_allocate(region, most, sizeof *f->first);
    f->block_at = arn_region_allocate(region, most, sizeof *f->block_at);
    f->in = arn_region_allocate(region, most, sizeof *f->in);
    f->waiting = arn_region_allocate(region, most, sizeof *f->waiting);
    if (!f->first || !f->block_at || !f->in || !f->waiting) return arn_no_memory(f->r->err);
    for (size_t i = 0; i < most; i++) {
        f->in[i] = (arn_replay_state){NULL, NULL};
        f->waiting[i] = false;
    }
    cut(f);
    return ARENAUT_OK;
}

static arenaut_status refuse(const flow *f, const char *why) {
    return arn_fail(f->r->err, ARENAUT_UNSUPPORTED, 0, "method '%.80s' cannot be replayed: %s",
                    f->method->name ? f->method->name : "", why);
}

/* What the present state and a block's beginning have in common is its beginning now. */
static arenaut_status arrive(flow *f, uint32_t block) {
    arn_replay *r = f->r;
    const uint64_t nodes = (uint64_t)r->shadow.leaves * 2;
    if (f->in[block].nodes) {
        const arn_replay_state live = arn_replay_state_live(r);
        if (!arn_replay_state_meet(r, &f->in[block], &live)) return ARENAUT_OK;
    } else {
        if (f->kept + nodes > MAX_KEPT) return refuse(f, "too many ways meet in it");
        if (!arn_replay_state_save(r, &f->in[block])) return arn_no_memory(r->err);
        f->kept += nodes;
    }
    f->waiting[block] = true;
    if (block < f->lowest) f->lowest = block;
    return ARENAUT_OK;
}

static void begin_block(flow *f, uint32_t block) {
    const arn_replay_state live = arn_replay_state_live(f->r);
    f->waiting[block] = false;
    arn_replay_state_copy(f->r, &live, &f->in[block]);
    /* Without jumps back, all that lead here have been run. */
    if (f->jumps_back) return;
    arn_replay_state_release(f->r, &f->in[block]);
    f->kept -= (uint64_t)f->r->shadow.leaves * 2;
}

static arenaut_status run_block(flow *f, uint32_t block, uint32_t depth) {
    const arenaut_op *op = NULL;
    arenaut_status status = ARENAUT_OK;
    begin_block(f, block);
    for (uint32_t i = f->first[block]; i < f->first[block + 1] && status == ARENAUT_OK; i++) {
        op = &f->r->program->ops[f->method->first_op + i];
        status = f->run_op(f->r, f->method->first_op + i, depth);
    }
    if (status == ARENAUT_OK && is_jump(op)) status = arrive(f, f->block_at[op->target]);
    if (status == ARENAUT_OK && op->kind != ARENAUT_OP_JUMP) status = arrive(f, block + 1);
    return status;
}

static arenaut_status run_all(flow *f, uint32_t depth) {
    const uint32_t end = f->n_blocks - 1;
    arenaut_status status = arrive(f, 0);
    for (f->lowest = 0; f->lowest < end && status == ARENAUT_OK;) {
        const uint32_t block = f->lowest++;
        if (f->waiting[block]) status = run_block(f, block, depth);
    }
    if (status != ARENAUT_OK) return status;
    if (!f->in[end].nodes) return refuse(f, "no way through it leads to its end");
    begin_block(f, end);
    return ARENAUT_OK;
}

arenaut_status arn_replay_jumps(arn_replay *r, uint32_t method, uint32_t depth,
                                arenaut_status (*run_op)(arn_replay *r, uint32_t op,
                                                         uint32_t depth)) {
    flow f = {.r = r, .run_op = run_op, .method = &r->program->methods[method]};
    arn_region region;
    arn_region_init(&region, r->allocator);
    arenaut_status status = make(&f, &region);
    if (status == ARENAUT_OK) status = run_all(&f, depth);
    for (uint32_t b = 0; b < f.n_blocks; b++) arn_replay_state_release(r, &f.in[b]);
    arn_region_free(&region);
    return status;
}
