/* check_replay: abstract interpretation of a program over shadow memory of its arenas, which has
 * for each byte the tensor that it belongs to, and reports the first read of foreign bytes.
 *
 * Here state gets its first value and every entry of the program is called twice, each after all
 * the others; replay_control.c runs a call. Storages, aliases and lifetimes, which lowering derives
 * too, are derived a second time by code of the checker's own, on purpose: a mistake there cannot
 * hide itself here. Time: O(log cells) for each read and write, times the turns of loops. */
#include "check/replay/replay.h"

#include <inttypes.h>

#include "check/finding.h"
#include "ir/program.h"

/* Results, kept and changed inputs, and state must be whole when the call has ended. */
static arenaut_status check_end(arn_replay *r, const arenaut_method *m) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < m->n_outputs && status == ARENAUT_OK; i++) {
        status = arn_replay_read(r, m->outputs[i]);
    }
    for (uint32_t i = 0; i < m->n_bindings && status == ARENAUT_OK; i++) {
        const arenaut_binding *b = &m->bindings[i];
        if (b->kind == ARENAUT_BINDING_MUTATED) status = arn_replay_read(r, b->target);
    }
    for (uint32_t i = 0; i < m->n_inputs && r->options.keep_inputs && status == ARENAUT_OK; i++) {
        status = arn_replay_read(r, m->inputs[i]);
    }
    r->shadow.work += r->program->n_tensors;
    for (uint32_t t = 0; t < r->program->n_tensors && status == ARENAUT_OK; t++) {
        if (r->places.storage[t] == t && r->places.state[t] && r->touched[t])
            status = arn_replay_read(r, t);
    }
    return status;
}

/* A call from outside. The caller may fill the inputs in any order. */
static arenaut_status call_entry(arn_replay *r, uint32_t method) {
    const arenaut_method *m = &r->program->methods[method];
    r->method = method;
    r->op = ARENAUT_NONE;
    r->version++;
    arenaut_status status = arn_replay_charge(r);
    if (status != ARENAUT_OK) return status;
    arn_replay_shadow_retire(&r->shadow, r->places.state);
    arn_replay_aliases_begin(r);
    for (uint32_t i = 0; i < m->n_inputs && status == ARENAUT_OK; i++) {
        status = arn_replay_write_apart(r, m->inputs[i]);
    }
    if (status == ARENAUT_OK) status = arn_replay_method(r, method, 1);
    return status == ARENAUT_OK ? check_end(r, m) : status;
}

static bool has_first_value(const arn_replay *r, uint32_t t) {
    const arn_replay_places *p = &r->places;
    return p->storage[t] == t && p->state[t] && !p->place[t].left_alone &&
           p->place[t].broken == ARENAUT_RULE_NONE;
}

static void mark_storages(const arn_replay *r, const uint32_t *tensors, uint32_t n, bool *named) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] != ARENAUT_NONE) named[r->places.storage[tensors[i]]] = true;
    }
}

/* Marks the storages that an op or a method names, be it only to make a view. */
static void find_named(const arn_replay *r, bool *named) {
    const arenaut_program *program = r->program;
    for (uint32_t t = 0; t < program->n_tensors; t++) named[t] = false;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        mark_storages(r, program->ops[i].inputs, program->ops[i].n_inputs, named);
        mark_storages(r, program->ops[i].outputs, program->ops[i].n_outputs, named);
    }
    for (uint32_t i = 0; i < program->n_methods; i++) {
        mark_storages(r, program->methods[i].inputs, program->methods[i].n_inputs, named);
        mark_storages(r, program->methods[i].outputs, program->methods[i].n_outputs, named);
    }
}

static void fill_in_order(arn_replay *r, const bool *named, bool wanted, bool backwards) {
    const uint32_t n = r->program->n_tensors;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t t = backwards ? n - 1 - i : i;
        if (named[t] != wanted || !has_first_value(r, t)) continue;
        arn_replay_shadow_write(&r->shadow, r->places.place[t].first, r->places.place[t].end, t, 0);
    }
}

/* State has its first value before the first call, loaded in no particular order: bytes shared by
 * two states belong to neither. State that no op or method names lies below the others: files list
 * such, and no runtime loads it. */
static arenaut_status fill_state(arn_replay *r) {
    bool *named = arn_allocate(r->allocator, r->program->n_tensors, sizeof *named);
    arn_replay_shadow_node *other = NULL;
    if (named) {
        find_named(r, named);
        fill_in_order(r, named, false, false);
        other = arn_replay_shadow_save(&r->shadow);
    }
    if (other) {
        arn_replay_shadow_node *const one = r->shadow.nodes;
        fill_in_order(r, named, true, false);
        r->shadow.nodes = other;
        fill_in_order(r, named, true, true);
        r->shadow.nodes = one;
        (void)arn_replay_shadow_meet(&r->shadow, one, other);
    }
    const arenaut_status status = other ? ARENAUT_OK : arn_no_memory(r->err);
    ARN_RELEASE(r->allocator, other, named);
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
            if (wanted && time == 0) status = arn_replay_check_mutations(r, m);
            if (wanted && status == ARENAUT_OK) status = call_entry(r, m);
            const bool once = status == ARENAUT_OK && time == 0;
            if (wanted && once && r->program->methods[m].concurrent)
                status = arn_replay_check_races(r, m);
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
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(r->over, most), ARN_ARRAY(r->updated, n),
                           ARN_ARRAY(r->touched, n), ARN_ARRAY(r->followed, r->program->n_ops)) ||
        !arn_replay_shadow_make(&r->shadow, r->allocator, r->places.n_cells)) {
        return arn_no_memory(r->err);
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
    if (program->n_tensors >= ARN_SHADOW_LIMIT) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "%" PRIu32 " tensors are too many to replay",
                        program->n_tensors);
    }
    return arn_program_validate(program, err);
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
    *finding = arn_check_no_finding();
    arenaut_status status = check_call(program, placement, &r.options, err);
    if (status != ARENAUT_OK) return status;
    arn_region region;
    arn_region_init(&region, allocator);
    r.shadow.allocator = arn_allocator_or_default(allocator);
    status =
        arn_replay_places_make(program, placement, r.options.exclude_io, &region, &r.places, err);
    if (status == ARENAUT_OK) status = allocate(&r, &region);
    if (status == ARENAUT_OK) status = arn_replay_aliases_make(&r, &region);
    if (status == ARENAUT_OK) status = call_all_twice(&r);
    arn_replay_aliases_free(&r);
    arn_replay_shadow_free(&r.shadow);
    arn_release(allocator, r.pairs);
    arn_region_free(&region);
    return status;
}
