/* check_replay: walks the program's own schedule over the shadow of its arenas.
 *
 * Methods are run as the runtimes run them: a call's arguments are copied into the
 * method's inputs, its outputs back. Both sides of a branch start from the same state, and
 * afterwards only what both left is there. A loop is run until its state at the condition
 * no longer changes; each turn can only lose bytes, so that ends. */
#include <inttypes.h>

#include "check/finding.h"
#include "check/replay.h"

static arenaut_status run_method(arn_replay *r, uint32_t method, uint32_t depth);

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
        if (argument != ARENAUT_NONE) status = arn_copy(r, argument, method->inputs[i]);
    }
    /* What a loop's runtime has filled in itself is there whether it does so before or after. */
    for (uint32_t i = 0; i < method->n_inputs && op->kind == ARENAUT_OP_LOOP; i++) {
        if (status != ARENAUT_OK || argument_at(op, i + skip, carried) != ARENAUT_NONE) continue;
        status = arn_read(r, method->inputs[i]);
    }
    if (status == ARENAUT_OK) status = run_method(r, callee, depth + 1);
    r->method = caller;
    r->op = at;
    return status;
}

static arenaut_status copy_results(arn_replay *r, const arenaut_op *op, uint32_t callee) {
    const arenaut_method *method = &r->program->methods[callee];
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < method->n_outputs && i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        status = arn_copy(r, method->outputs[i], op->outputs[i]);
        if (status != ARENAUT_OK) break;
    }
    return status;
}

static arenaut_status run_call(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    const arenaut_status status = run_callee(r, op, op->calls[0], 0, 0, depth);
    return status == ARENAUT_OK ? copy_results(r, op, op->calls[0]) : status;
}

/* The first input is the condition; the branches get the others. */
static arenaut_status run_if(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    arn_state other;
    if (!arn_state_save(r, &other)) return arn_no_memory(r->err);
    arenaut_status status = ARENAUT_OK;
    for (int side = 0; side < 2 && status == ARENAUT_OK; side++) {
        status = run_callee(r, op, op->calls[side], 1, 0, depth);
        if (status == ARENAUT_OK) status = copy_results(r, op, op->calls[side]);
        if (side == 0) arn_state_swap(r, &other);
    }
    const arn_state live = arn_state_live(r);
    if (status == ARENAUT_OK) (void)arn_state_meet(r, &live, &other);
    arn_state_release(r, &other);
    return status;
}

/* Some runtimes ask the condition for the first time before they copy what the loop carries into
 * the op's outputs, so that must be whole until then; unless it lies there already. */
static arenaut_status keep_carrying(arn_replay *r, const arenaut_op *op) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < op->n_outputs && i < op->n_inputs && status == ARENAUT_OK; i++) {
        const uint32_t from = op->inputs[i], to = op->outputs[i];
        if (from == ARENAUT_NONE || to == ARENAUT_NONE) continue;
        const arn_place *a = &r->places.place[from], *b = &r->places.place[to];
        if (!a->left_alone && !b->left_alone && a->first == b->first) continue;
        status = arn_read(r, from);
    }
    return status;
}

/* One turn, from the state at the condition to the next; *left is the state in which the
 * loop would be left. */
static arenaut_status run_turn(arn_replay *r, const arenaut_op *op, const arn_state *left,
                               bool first, uint32_t depth) {
    const arenaut_method *condition = &r->program->methods[op->calls[0]];
    arenaut_status status = run_callee(r, op, op->calls[0], 0, op->n_outputs, depth);
    for (uint32_t i = 0; i < condition->n_outputs && status == ARENAUT_OK; i++) {
        status = arn_read(r, condition->outputs[i]);
    }
    if (first && status == ARENAUT_OK) status = keep_carrying(r, op);
    if (status != ARENAUT_OK) return status;
    const arn_state live = arn_state_live(r);
    arn_state_copy(r, left, &live);
    status = run_callee(r, op, op->calls[1], 0, op->n_outputs, depth);
    return status == ARENAUT_OK ? copy_results(r, op, op->calls[1]) : status;
}

/* What a loop carries, its first `n` arguments, lives in the op's outputs from before the
 * first turn on. */
static arenaut_status begin_carrying(arn_replay *r, const arenaut_op *op, uint32_t n) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < op->n_inputs && i < n && status == ARENAUT_OK; i++) {
        if (op->inputs[i] == ARENAUT_NONE || op->outputs[i] == ARENAUT_NONE) continue;
        status = arn_copy(r, op->inputs[i], op->outputs[i]);
    }
    return status;
}

static arenaut_status run_while(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    arenaut_status status = begin_carrying(r, op, op->n_outputs);
    if (status != ARENAUT_OK) return status;
    arn_state head = {NULL, NULL}, left = {NULL, NULL};
    if (!arn_state_save(r, &head) || !arn_state_save(r, &left)) status = arn_no_memory(r->err);
    bool changed = true;
    for (bool first = true; status == ARENAUT_OK && changed; first = false) {
        status = run_turn(r, op, &left, first, depth);
        if (status != ARENAUT_OK) break;
        const arn_state live = arn_state_live(r);
        changed = arn_state_meet(r, &head, &live);
        arn_state_copy(r, &live, changed ? &head : &left);
    }
    arn_state_release(r, &head);
    arn_state_release(r, &left);
    return status;
}

/* The runtime itself counts turns and collects results: it fills those inputs of the loop's
 * method for which nothing was handed over, and results that are not carried are there even
 * if there is no turn. Whether to go on is a result of the method's beyond the op's. */
static arenaut_status run_loop_turn(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    const arenaut_method *body = &r->program->methods[op->calls[0]];
    arenaut_status status = ARENAUT_OK;
    r->version++;
    for (uint32_t i = 0; i < body->n_inputs && status == ARENAUT_OK; i++) {
        const bool handed_over = i < op->n_inputs && op->inputs[i] != ARENAUT_NONE;
        if (!handed_over) status = arn_write_apart(r, body->inputs[i]);
    }
    if (status == ARENAUT_OK) status = run_callee(r, op, op->calls[0], 0, op->target, depth);
    if (status == ARENAUT_OK) status = copy_results(r, op, op->calls[0]);
    for (uint32_t i = op->n_outputs; i < body->n_outputs && status == ARENAUT_OK; i++) {
        status = arn_read(r, body->outputs[i]);
    }
    return status;
}

/* It may be left before any turn, so the state at its head is the state behind it. */
static arenaut_status run_loop(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    const uint32_t carried = op->target < op->n_outputs ? op->target : op->n_outputs;
    arenaut_status status = begin_carrying(r, op, carried);
    r->version++;
    for (uint32_t i = carried; i < op->n_outputs && status == ARENAUT_OK; i++) {
        if (op->outputs[i] != ARENAUT_NONE) status = arn_write_apart(r, op->outputs[i]);
    }
    if (status != ARENAUT_OK) return status;
    arn_state head;
    if (!arn_state_save(r, &head)) return arn_no_memory(r->err);
    bool changed = true;
    while (status == ARENAUT_OK && changed) {
        status = run_loop_turn(r, op, depth);
        if (status != ARENAUT_OK) break;
        const arn_state live = arn_state_live(r);
        changed = arn_state_meet(r, &head, &live);
        arn_state_copy(r, &live, &head);
    }
    arn_state_release(r, &head);
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

/* A calling op reads its arguments, and its scratch outlasts what it calls. */
static arenaut_status run_calling(arn_replay *r, const arenaut_op *op, uint32_t depth) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < op->n_inputs && status == ARENAUT_OK; i++) {
        if (op->inputs[i] != ARENAUT_NONE) status = arn_read(r, op->inputs[i]);
    }
    r->version++;
    for (uint32_t i = 0; i < op->n_scratch && status == ARENAUT_OK; i++) {
        status = arn_write_apart(r, op->scratch[i]);
    }
    if (status == ARENAUT_OK) status = run_control(r, op, depth);
    for (uint32_t i = 0; i < op->n_scratch && status == ARENAUT_OK; i++) {
        status = arn_read(r, op->scratch[i]);
    }
    return status;
}

static arenaut_status too_much(const arn_replay *r, const char *what, uint64_t limit) {
    const char *name = r->program->methods[r->method].name;
    return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                    "method '%.80s' cannot be replayed: %s; the limit is %" PRIu64,
                    name ? name : "", what, limit);
}

static bool out_of_work(arn_replay *r) {
    enum { OP = 16 }; /* an op without arguments takes as long as so many nodes */
    r->shadow.work += OP;
    return r->shadow.work > r->work_limit;
}

static arenaut_status too_much_work(const arn_replay *r) {
    return too_much(r, "its calls and loops multiply into too much work", r->work_limit);
}

arenaut_status arn_run_op(arn_replay *r, uint32_t at, uint32_t depth) {
    const arenaut_op *op = &r->program->ops[at];
    if (out_of_work(r)) return too_much_work(r);
    r->op = at;
    if (op->n_calls > 0) return run_calling(r, op, depth);
    if (op->kind != ARENAUT_OP_MOVE) return arn_run_kernel(r, op);
    arn_names_move(r, op);
    return ARENAUT_OK;
}

/* Recursion is as deep as calls are nested, and that is limited. */
static arenaut_status run_method(arn_replay *r, uint32_t method, uint32_t depth) {
    const arenaut_method *m = &r->program->methods[method];
    arenaut_status status = ARENAUT_OK;
    r->method = method;
    r->op = ARENAUT_NONE;
    if (depth > ARN_REPLAY_DEPTH) {
        return too_much(r, "calls are nested too deeply", ARN_REPLAY_DEPTH);
    }
    if (arn_has_jumps(r->program, method)) {
        status = arn_run_flow(r, method, depth);
    } else {
        for (uint32_t i = m->first_op; i < m->first_op + m->n_ops && status == ARENAUT_OK; i++) {
            status = arn_run_op(r, i, depth);
        }
    }
    r->op = ARENAUT_NONE;
    return status;
}

/* Results, kept and changed inputs, and state must be whole when the call has ended. */
static arenaut_status check_end(arn_replay *r, const arenaut_method *m) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < m->n_outputs && status == ARENAUT_OK; i++) {
        status = arn_read(r, m->outputs[i]);
    }
    for (uint32_t i = 0; i < m->n_bindings && status == ARENAUT_OK; i++) {
        const arenaut_binding *b = &m->bindings[i];
        if (b->kind == ARENAUT_BINDING_MUTATED) status = arn_read(r, b->target);
    }
    for (uint32_t i = 0; i < m->n_inputs && r->options.keep_inputs && status == ARENAUT_OK; i++) {
        status = arn_read(r, m->inputs[i]);
    }
    r->shadow.work += r->program->n_tensors;
    for (uint32_t t = 0; t < r->program->n_tensors && status == ARENAUT_OK; t++) {
        if (r->places.owner[t] == t && r->places.state[t] && r->touched[t]) status = arn_read(r, t);
    }
    return status;
}

/* A call from outside. The caller may fill the inputs in any order. */
static arenaut_status call_entry(arn_replay *r, uint32_t method) {
    const arenaut_method *m = &r->program->methods[method];
    arenaut_status status = ARENAUT_OK;
    r->method = method;
    r->op = ARENAUT_NONE;
    r->version++;
    if (out_of_work(r)) return too_much_work(r);
    arn_shadow_retire(&r->shadow, r->places.state);
    arn_names_begin(r);
    for (uint32_t i = 0; i < m->n_inputs && status == ARENAUT_OK; i++) {
        status = arn_write_apart(r, m->inputs[i]);
    }
    if (status == ARENAUT_OK) status = run_method(r, method, 1);
    return status == ARENAUT_OK ? check_end(r, m) : status;
}

static bool has_first_value(const arn_replay *r, uint32_t t) {
    const arn_places *p = &r->places;
    return p->owner[t] == t && p->state[t] && !p->place[t].left_alone &&
           p->place[t].broken == ARENAUT_RULE_NONE;
}

static void mark_owners(const arn_replay *r, const uint32_t *tensors, uint32_t n, bool *named) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] != ARENAUT_NONE) named[r->places.owner[tensors[i]]] = true;
    }
}

/* What an op or a method names, be it only to make a view of it. */
static void find_named(const arn_replay *r, bool *named) {
    const arenaut_program *program = r->program;
    for (uint32_t t = 0; t < program->n_tensors; t++) named[t] = false;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        mark_owners(r, program->ops[i].inputs, program->ops[i].n_inputs, named);
        mark_owners(r, program->ops[i].outputs, program->ops[i].n_outputs, named);
    }
    for (uint32_t i = 0; i < program->n_methods; i++) {
        mark_owners(r, program->methods[i].inputs, program->methods[i].n_inputs, named);
        mark_owners(r, program->methods[i].outputs, program->methods[i].n_outputs, named);
    }
}

static void fill_in_order(arn_replay *r, const bool *named, bool wanted, bool backwards) {
    const uint32_t n = r->program->n_tensors;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t t = backwards ? n - 1 - i : i;
        if (named[t] != wanted || !has_first_value(r, t)) continue;
        arn_shadow_write(&r->shadow, r->places.place[t].first, r->places.place[t].end, t, 0);
    }
}

/* State has its first value before the first call, loaded in an order that nobody promises: what
 * two states share is neither's. State that nothing names lies below the others: files list
 * such, and no runtime loads it. */
static arenaut_status fill_state(arn_replay *r) {
    bool *named = arn_allocate(r->allocator, r->program->n_tensors, sizeof *named);
    arn_shadow_node *other = NULL;
    if (named) {
        find_named(r, named);
        fill_in_order(r, named, false, false);
        other = arn_shadow_save(&r->shadow);
    }
    if (other) {
        arn_shadow_node *const one = r->shadow.nodes;
        fill_in_order(r, named, true, false);
        r->shadow.nodes = other;
        fill_in_order(r, named, true, true);
        r->shadow.nodes = one;
        (void)arn_shadow_meet(&r->shadow, one, other);
    }
    const arenaut_status status = other ? ARENAUT_OK : arn_no_memory(r->err);
    arn_release(r->allocator, other);
    arn_release(r->allocator, named);
    return status;
}

/* Every entry is called after every other: state that one of them destroys is missed at
 * the end of that call already. */
static arenaut_status call_all_twice(arn_replay *r) {
    arenaut_status status = fill_state(r);
    for (int time = 0; time < 2 && status == ARENAUT_OK; time++) {
        r->first_call = time == 0;
        for (uint32_t m = 0; m < r->program->n_methods && status == ARENAUT_OK; m++) {
            const bool wanted = r->options.only_method.given ? r->options.only_method.id == m
                                                             : r->program->methods[m].entry;
            if (wanted && time == 0) status = arn_check_mutations(r, m);
            if (wanted && status == ARENAUT_OK) status = call_entry(r, m);
            const bool once = status == ARENAUT_OK && time == 0;
            if (wanted && once && r->program->methods[m].concurrent) status = arn_check_races(r, m);
        }
    }
    return status;
}

static arenaut_status allocate(arn_replay *r, arn_region *region) {
    const uint32_t n = r->program->n_tensors;
    uint32_t most = 0;
    r->work_limit = ARN_REPLAY_WORK;
    for (uint32_t i = 0; i < r->program->n_ops; i++) {
        const arenaut_op *op = &r->program->ops[i];
        if (op->n_inputs > most) most = op->n_inputs;
        r->work_limit +=
            ARN_REPLAY_WORK_EACH * (UINT64_C(1) + op->n_inputs + op->n_outputs + op->n_scratch);
    }
    r->over = arn_region_allocate(region, most, sizeof *r->over);
    r->updated = arn_region_allocate(region, n, sizeof *r->updated);
    r->touched = arn_region_allocate(region, n, sizeof *r->touched);
    if (!r->over || !r->updated || !r->touched ||
        !arn_shadow_make(&r->shadow, r->allocator, r->places.n_cells)) {
        return arn_no_memory(r->err);
    }
    for (uint32_t t = 0; t < n; t++) {
        r->updated[t] = 0;
        r->touched[t] = false;
    }
    return ARENAUT_OK;
}

static arenaut_status check_call(const arenaut_program *program, const arenaut_placement *placement,
                                 const arenaut_replay_options *options, arenaut_error *err) {
    if (placement->n_tensors != program->n_tensors) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "the placement is of %" PRIu32 " tensors; the program has %" PRIu32,
                        placement->n_tensors, program->n_tensors);
    }
    if (options->only_method.given && options->only_method.id >= program->n_methods) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "method %" PRIu32 " is to be replayed; there are %" PRIu32,
                        options->only_method.id, program->n_methods);
    }
    if (program->n_tensors >= ARN_OWNER_LIMIT) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "%" PRIu32 " tensors are too many to replay",
                        program->n_tensors);
    }
    return arenaut_program_validate(program, err);
}

arenaut_status arenaut_check_replay(const arenaut_program *program,
                                    const arenaut_placement *placement,
                                    const arenaut_replay_options *options,
                                    const arenaut_allocator *allocator, arenaut_finding *finding,
                                    arenaut_error *err) {
    const arenaut_replay_options usual = {0};
    arn_replay r = {.program = program,
                    .options = options ? *options : usual,
                    .placement = placement,
                    .allocator = allocator,
                    .finding = finding,
                    .err = err};
    *finding = arn_no_finding();
    arenaut_status status = check_call(program, placement, &r.options, err);
    if (status != ARENAUT_OK) return status;
    arn_region region;
    arn_region_init(&region, allocator);
    r.shadow.allocator = arn_allocator_or_default(allocator);
    status = arn_places_make(program, placement, r.options.exclude_io, &region, &r.places, err);
    if (status == ARENAUT_OK) status = allocate(&r, &region);
    if (status == ARENAUT_OK) status = arn_names_make(&r, &region);
    if (status == ARENAUT_OK) status = call_all_twice(&r);
    arn_names_free(&r);
    arn_shadow_free(&r.shadow);
    arn_region_free(&region);
    return status;
}
