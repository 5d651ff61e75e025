/* replay_control: abstract interpretation of methods, calls, branches, loops and jumps.
 *
 * Methods are run as the runtimes run them: a call's arguments are copied into the method's inputs,
 * its outputs back. Both arms of a branch start from the same state, and the join of their ends
 * follows. A loop is run to a fixed point of the state at its condition, which exists since a turn
 * can only lose bytes. A method with jumps is a control-flow graph of basic blocks, run from a
 * work list in program order until no block's entry state changes (Kildall 1973). Single ops are
 * run by replay_kernel.c. */
#include "check/replay/replay.h"

#include <inttypes.h>

#include "core/fail.h"

/* The argument at position i of a call: the op's input, or, for the first `carried`, which a
 * loop carries from turn to turn, the output that holds it once the loop has begun. */
static uint32_t argument_at(const arenaut_op *op, uint32_t i, uint32_t carried) {
    if (i < carried && i < op->n_outputs && op->outputs[i] != ARENAUT_NONE) return op->outputs[i];
    return i < op->n_inputs ? op->inputs[i] : ARENAUT_NONE;
}

/* Copies the arguments from position `skip` on into the callee's inputs, and runs it. */
static arenaut_status run_callee(arn_replay *r, const arenaut_op *op, uint32_t callee,
                                 uint32_t skip, uint32_t carried, uint32_t depth) {
    const arenaut_method *method = &r->program->methods[callee];
    const uint32_t caller = r->method, at = r->op;
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < method->n_inputs && status == ARENAUT_OK; i++) {
        const uint32_t argument = argument_at(op, i + skip, carried);
        if (argument != ARENAUT_NONE) status = arn_replay_copy(r, argument, method->inputs[i]);
    }
    /* Inputs filled in by the loop's runtime are there in either case: filled before or after. */
    for (uint32_t i = 0; i < method->n_inputs && op->kind == ARENAUT_OP_LOOP; i++) {
        if (status != ARENAUT_OK || argument_at(op, i + skip, carried) != ARENAUT_NONE) continue;
        status = arn_replay_read(r, method->inputs[i]);
    }
    if (status == ARENAUT_OK) status = arn_replay_method(r, callee, depth + 1);
    r->method = caller;
    r->op = at;
    return status;
}

static arenaut_status copy_results(arn_replay *r, const arenaut_op *op, uint32_t callee) {
    const arenaut_method *method = &r->program->methods[callee];
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < method->n_outputs && i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        status = arn_replay_copy(r, method->outputs[i], op->outputs[i]);
        if (status != ARENAUT_OK) break;
    }
    return status;
}

static arenaut_status run_call(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    const arenaut_status status = run_callee(r, op, op->calls[0], 0, 0, depth);
    return status == ARENAUT_OK ? copy_results(r, op, op->calls[0]) : status;
}

/* The first input is the condition; the branches get the others. If both are one method, one run
 * has the effect of either. */
static arenaut_status run_if(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    if (op->calls[0] == op->calls[1]) {
        const arenaut_status once = run_callee(r, op, op->calls[0], 1, 0, depth);
        return once == ARENAUT_OK ? copy_results(r, op, op->calls[0]) : once;
    }
    arn_replay_state other;
    if (!arn_replay_state_save(r, &other)) return arn_no_memory(r->err);
    arenaut_status status = ARENAUT_OK;
    for (int side = 0; side < 2 && status == ARENAUT_OK; side++) {
        status = run_callee(r, op, op->calls[side], 1, 0, depth);
        if (status == ARENAUT_OK) status = copy_results(r, op, op->calls[side]);
        if (side == 0) arn_replay_state_swap(r, &other);
    }
    const arn_replay_state live = arn_replay_state_live(r);
    if (status == ARENAUT_OK) (void)arn_replay_state_meet(r, &live, &other);
    arn_replay_state_release(r, &other);
    return status;
}

/* Some runtimes evaluate the condition for the first time before they copy the carried values into
 * the op's outputs, so these must be intact until then; unless they lie there already. */
static arenaut_status keep_carrying(arn_replay *r, const arenaut_op *op) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < op->n_outputs && i < op->n_inputs && status == ARENAUT_OK; i++) {
        const uint32_t from = op->inputs[i], to = op->outputs[i];
        if (from == ARENAUT_NONE || to == ARENAUT_NONE) continue;
        const arn_replay_place *a = &r->places.place[from], *b = &r->places.place[to];
        if (!a->left_alone && !b->left_alone && a->first == b->first) continue;
        status = arn_replay_read(r, from);
    }
    return status;
}

/* One turn, from the state at the condition to the next; *left is the state in which the
 * loop would be left. */
static arenaut_status run_turn(arn_replay *r, const arenaut_op *op, const arn_replay_state *left,
                               bool first, uint32_t depth) {
    const arenaut_method *condition = &r->program->methods[op->calls[0]];
    arenaut_status status = run_callee(r, op, op->calls[0], 0, op->n_outputs, depth);
    for (uint32_t i = 0; i < condition->n_outputs && status == ARENAUT_OK; i++) {
        status = arn_replay_read(r, condition->outputs[i]);
    }
    if (first && status == ARENAUT_OK) status = keep_carrying(r, op);
    if (status != ARENAUT_OK) return status;
    const arn_replay_state live = arn_replay_state_live(r);
    arn_replay_state_copy(r, left, &live);
    status = run_callee(r, op, op->calls[1], 0, op->n_outputs, depth);
    return status == ARENAUT_OK ? copy_results(r, op, op->calls[1]) : status;
}

/* The values that a loop carries, its first `n` arguments, live in the op's outputs from before the
 * first turn on. */
static arenaut_status begin_carrying(arn_replay *r, const arenaut_op *op, uint32_t n) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < op->n_inputs && i < n && status == ARENAUT_OK; i++) {
        if (op->inputs[i] == ARENAUT_NONE || op->outputs[i] == ARENAUT_NONE) continue;
        status = arn_replay_copy(r, op->inputs[i], op->outputs[i]);
    }
    return status;
}

static arenaut_status run_while(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    arenaut_status status = begin_carrying(r, op, op->n_outputs);
    if (status != ARENAUT_OK) return status;
    arn_replay_state head = {NULL, NULL}, left = {NULL, NULL};
    if (!arn_replay_state_save(r, &head) || !arn_replay_state_save(r, &left))
        status = arn_no_memory(r->err);
    bool changed = true;
    for (bool first = true; status == ARENAUT_OK && changed; first = false) {
        status = run_turn(r, op, &left, first, depth);
        if (status != ARENAUT_OK) break;
        const arn_replay_state live = arn_replay_state_live(r);
        changed = arn_replay_state_meet(r, &head, &live);
        arn_replay_state_copy(r, &live, changed ? &head : &left);
    }
    arn_replay_state_release(r, &head);
    arn_replay_state_release(r, &left);
    return status;
}

/* The runtime itself counts turns and collects results: it fills the inputs of the loop's method
 * that have no argument, and results that are not carried are there even if there is no turn. The
 * decision to go on is a result of the method beyond the op's. */
static arenaut_status run_loop_turn(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    const arenaut_method *body = &r->program->methods[op->calls[0]];
    arenaut_status status = ARENAUT_OK;
    r->version++;
    for (uint32_t i = 0; i < body->n_inputs && status == ARENAUT_OK; i++) {
        const bool handed_over = i < op->n_inputs && op->inputs[i] != ARENAUT_NONE;
        if (!handed_over) status = arn_replay_write_apart(r, body->inputs[i]);
    }
    if (status == ARENAUT_OK) status = run_callee(r, op, op->calls[0], 0, op->target, depth);
    if (status == ARENAUT_OK) status = copy_results(r, op, op->calls[0]);
    for (uint32_t i = op->n_outputs; i < body->n_outputs && status == ARENAUT_OK; i++) {
        status = arn_replay_read(r, body->outputs[i]);
    }
    return status;
}

/* It may be left before any turn, so the state at its head is the state behind it. */
static arenaut_status run_loop(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    const uint32_t carried = op->target < op->n_outputs ? op->target : op->n_outputs;
    arenaut_status status = begin_carrying(r, op, carried);
    r->version++;
    for (uint32_t i = carried; i < op->n_outputs && status == ARENAUT_OK; i++) {
        if (op->outputs[i] != ARENAUT_NONE) status = arn_replay_write_apart(r, op->outputs[i]);
    }
    if (status != ARENAUT_OK) return status;
    arn_replay_state head;
    if (!arn_replay_state_save(r, &head)) return arn_no_memory(r->err);
    bool changed = true;
    while (status == ARENAUT_OK && changed) {
        status = run_loop_turn(r, op, depth);
        if (status != ARENAUT_OK) break;
        const arn_replay_state live = arn_replay_state_live(r);
        changed = arn_replay_state_meet(r, &head, &live);
        arn_replay_state_copy(r, &live, &head);
    }
    arn_replay_state_release(r, &head);
    return status;
}

static arenaut_status run_control(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    switch (op->kind) {
        case ARENAUT_OP_IF: return run_if(r, op, depth);
        case ARENAUT_OP_WHILE: return run_while(r, op, depth);
        case ARENAUT_OP_LOOP: return run_loop(r, op, depth);
        /* In a loop it is run each turn, which disturbs no less than the one time it is. */
        case ARENAUT_OP_CALL_ONCE: return r->first_call ? run_call(r, op, depth) : ARENAUT_OK;
        default: return run_call(r, op, depth);
    }
}

/* A calling op reads its arguments, and its scratch outlasts the call. */
static arenaut_status run_calling(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < op->n_inputs && status == ARENAUT_OK; i++) {
        if (op->inputs[i] != ARENAUT_NONE) status = arn_replay_read(r, op->inputs[i]);
    }
    r->version++;
    for (uint32_t i = 0; i < op->n_scratch && status == ARENAUT_OK; i++) {
        status = arn_replay_write_apart(r, op->scratch[i]);
    }
    if (status == ARENAUT_OK) status = run_control(r, op, depth);
    for (uint32_t i = 0; i < op->n_scratch && status == ARENAUT_OK; i++) {
        status = arn_replay_read(r, op->scratch[i]);
    }
    return status;
}

/* Any op but a jump. */
static arenaut_status run_op(arn_replay *r, uint32_t at, uint32_t depth) {
    const arenaut_op *op = &r->program->ops[at];
    const arenaut_status status = arn_replay_charge(r);
    if (status != ARENAUT_OK) return status;
    r->op = at;
    if (op->n_calls > 0) return run_calling(r, op, depth);
    if (op->kind != ARENAUT_OP_MOVE) return arn_replay_kernel(r, op);
    arn_replay_aliases_move(r, op);
    return ARENAUT_OK;
}

/* ---- jumps ---- */

/* Nodes of shadows that may be kept at one time. */
#define MAX_KEPT (UINT64_C(1) << 24)

typedef struct flow {
    arn_replay *r;
    const arenaut_method *method;
    uint32_t n_blocks;    /* the last one is empty: the method's end */
    uint32_t *first;      /* n_blocks: ops, counted within the method */
    uint32_t *block_at;   /* per op, and the end: the block that begins there */
    arn_replay_state *in; /* per block: its entry state; empty: not reached, or done with */
    bool *listed;         /* per block: on the work list */
    uint32_t lowest;      /* no block below this one is on the work list */
    uint64_t kept;        /* nodes in `in` */
    bool jumps_back;
} flow;

static bool is_jump(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE;
}

static bool has_jumps(const arenaut_program *program, uint32_t method) {
    const arenaut_method *m = &program->methods[method];
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops; i++) {
        if (is_jump(&program->ops[i])) return true;
    }
    return false;
}

/* Leaders of basic blocks: targets of jumps, and ops after jumps. */
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
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(f->first, most), ARN_ARRAY(f->block_at, most),
                           ARN_ARRAY(f->in, most), ARN_ARRAY(f->listed, most))) {
        return arn_no_memory(f->r->err);
    }
    for (size_t i = 0; i < most; i++) f->in[i] = (arn_replay_state){NULL, NULL};
    cut(f);
    return ARENAUT_OK;
}

static arenaut_status refuse(const flow *f, const char *why) {
    return arn_fail(f->r->err, ARENAUT_UNSUPPORTED, 0, "method '%.80s' cannot be replayed: %s",
                    f->method->name ? f->method->name : "", why);
}

/* The join of the present state and the block's entry state is its entry state now. */
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
    f->listed[block] = true;
    if (block < f->lowest) f->lowest = block;
    return ARENAUT_OK;
}

static void begin_block(flow *f, uint32_t block) {
    const arn_replay_state live = arn_replay_state_live(f->r);
    f->listed[block] = false;
    arn_replay_state_copy(f->r, &live, &f->in[block]);
    /* Without jumps back, all predecessors have been run. */
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
        status = run_op(f->r, f->method->first_op + i, depth);
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
        if (f->listed[block]) status = run_block(f, block, depth);
    }
    if (status != ARENAUT_OK) return status;
    if (!f->in[end].nodes) return refuse(f, "no way through it leads to its end");
    begin_block(f, end);
    return ARENAUT_OK;
}

static arenaut_status run_jumping(arn_replay *r, uint32_t method, uint32_t depth) {
    flow f = {.r = r, .method = &r->program->methods[method]};
    arn_region region;
    arn_region_init(&region, r->allocator);
    arenaut_status status = make(&f, &region);
    if (status == ARENAUT_OK) status = run_all(&f, depth);
    for (uint32_t b = 0; b < f.n_blocks; b++) arn_replay_state_release(r, &f.in[b]);
    arn_region_free(&region);
    return status;
}

/* ---- methods ---- */

/* Recursion is as deep as calls are nested, and that is limited. */
arenaut_status arn_replay_method(arn_replay *r, uint32_t method, uint32_t depth) {
    const arenaut_method *m = &r->program->methods[method];
    arenaut_status status = ARENAUT_OK;
    r->method = method;
    r->op = ARENAUT_NONE;
    if (depth > ARN_REPLAY_DEPTH) {
        return arn_replay_too_much(r, "calls are nested too deeply", ARN_REPLAY_DEPTH);
    }
    if (has_jumps(r->program, method)) {
        status = run_jumping(r, method, depth);
    } else {
        for (uint32_t i = m->first_op; i < m->first_op + m->n_ops && status == ARENAUT_OK; i++) {
            status = run_op(r, i, depth);
        }
    }
    r->op = ARENAUT_NONE;
    return status;
}
