/* replay_access: single reads and writes of a replay, the messages of its findings, and its budget
 * of work.
 *
 * A read asks the shadow for the first cell in the tensor's range with another content, a write
 * fills that range: O(log cells) each. A tensor that is an alias is read and written through all
 * the tensors that it may point to. */
#include "check/replay/replay.h"

#include <inttypes.h>
#include <stdio.h>

#include "check/finding.h"

enum { WHERE = 120, POOL = 48 };

/* "op 3 'ADD' of method 'main'", or the method alone. */
static const char *where(const arn_replay *r, char text[WHERE]) {
    const char *method = r->program->methods[r->method].name;
    char unnamed[24];
    snprintf(unnamed, sizeof unnamed, "method%" PRIu32, r->method);
    if (r->op == ARENAUT_NONE) {
        snprintf(text, WHERE, "method '%.40s'", method ? method : unnamed);
    } else {
        const char *name = r->program->ops[r->op].name;
        snprintf(text, WHERE, "op %" PRIu32 " '%.40s' of method '%.40s'",
                 r->op - r->program->methods[r->method].first_op, name ? name : "op",
                 method ? method : unnamed);
    }
    return text;
}

/* "memory 1", or the caller's name for it; else "pool 0". */
static const char *pool_label(const arn_replay *r, uint32_t pool, char text[POOL]) {
    const char *const *names = r->options.pool_names;
    if (names && pool < r->placement->n_pools && names[pool])
        snprintf(text, POOL, "%.40s", names[pool]);
    else snprintf(text, POOL, "pool %" PRIu32, pool);
    return text;
}

/* The common fields of findings. The bytes are those that both tensors have in the pool, or the one
 * cell that was found if there is no second tensor. */
static void fill_in(arn_replay *r, arenaut_rule rule, uint32_t a, uint32_t b, uint32_t cell) {
    const arn_replay_places *p = &r->places;
    arenaut_finding *f = r->finding;
    f->rule = rule;
    f->a = a;
    f->b = b;
    f->op = r->op;
    f->method = r->method;
    if (cell == ARENAUT_NONE) return;
    uint32_t first = cell, end = cell + 1;
    if (b != ARENAUT_NONE && p->place[b].first <= cell && cell < p->place[b].end) {
        first = p->place[a].first > p->place[b].first ? p->place[a].first : p->place[b].first;
        end = p->place[a].end < p->place[b].end ? p->place[a].end : p->place[b].end;
    }
    f->pool = p->cell_pool[cell];
    f->first = p->cell_address[first];
    f->end = p->cell_address[end];
}

static arenaut_status reject_broken(arn_replay *r, uint32_t tensor) {
    const arn_replay_places *p = &r->places;
    const uint32_t storage = p->storage[tensor];
    const uint64_t bytes = r->program->tensors[tensor].bytes;
    char at[WHERE], names[2][24], pool[POOL];
    const char *name = arenaut_program_tensor_name(r->program, tensor, names[0]);
    const arenaut_rule rule = (arenaut_rule)p->place[tensor].broken;
    fill_in(r, rule, tensor, ARENAUT_NONE, ARENAUT_NONE);
    r->finding->pool = p->base_pool[storage];
    if (rule == ARENAUT_RULE_NO_PLACE) {
        return arn_check_reject(r->finding, r->err,
                                "%s uses '%.60s' of %" PRIu64 " bytes, which has no place",
                                where(r, at), name, bytes);
    }
    uint64_t delta;
    (void)arenaut_program_storage(r->program, tensor, &delta);
    r->finding->first = p->base_offset[storage] + delta;
    r->finding->end = r->finding->first + bytes;
    if (rule == ARENAUT_RULE_OUTSIDE) {
        return arn_check_reject(r->finding, r->err,
                                "%s uses '%.60s' of %" PRIu64 " bytes at offset %" PRIu64
                                ", which is not inside the arena of %s",
                                where(r, at), name, bytes, r->finding->first,
                                pool_label(r, p->base_pool[storage], pool));
    }
    r->finding->b = storage;
    const uint32_t own_pool = r->placement->pool[tensor];
    char its[POOL];
    return arn_check_reject(
        r->finding, r->err,
        "%s uses '%.60s', which is placed apart from the memory that it shares with "
        "'%.60s': it is at offset %" PRIu64 " of %s, and that at %" PRIu64 " of %s",
        where(r, at), name, arenaut_program_tensor_name(r->program, storage, names[1]),
        r->placement->offset[tensor], pool_label(r, own_pool, its), r->finding->first,
        pool_label(r, p->base_pool[storage], pool));
}

arenaut_status arn_replay_touch(arn_replay *r, uint32_t tensor, bool *skip) {
    const arn_replay_place *place = &r->places.place[tensor];
    *skip = place->left_alone;
    if (place->left_alone) return ARENAUT_OK;
    if (place->broken != ARENAUT_RULE_NONE) return reject_broken(r, tensor);
    r->touched[r->places.storage[tensor]] = true;
    return ARENAUT_OK;
}

/* Of the storages that met at a cell, one that is not the reader. */
static uint32_t other_content(const arn_replay *r, uint32_t cell, uint32_t storage) {
    for (int i = 0; i < 2; i++) {
        const uint32_t met = r->shadow.met[i][cell];
        if (met != storage && met < ARN_SHADOW_LIMIT) return met;
    }
    return ARENAUT_NONE;
}

/* "'b'", or "'b' (moved from 'a')": the tensor, and the one it points to. */
static const char *label(const arn_replay *r, uint32_t tensor, uint32_t pointee, char text[WHERE]) {
    char names[2][24];
    const char *name = arenaut_program_tensor_name(r->program, tensor, names[0]);
    if (pointee == tensor) {
        snprintf(text, WHERE, "'%.60s'", name);
    } else {
        snprintf(text, WHERE, "'%.40s' (moved from '%.40s')", name,
                 arenaut_program_tensor_name(r->program, pointee, names[1]));
    }
    return text;
}

/* `tensor` was to be found in the memory of `pointee`, of which a cell holds bytes of `holder`. */
static arenaut_status reject_read(arn_replay *r, uint32_t tensor, uint32_t pointee, uint32_t holder,
                                  uint32_t cell) {
    const uint32_t storage = r->places.storage[pointee];
    const bool state = r->places.state[storage];
    char at[WHERE], labelled[WHERE], names[2][24], pool[POOL];
    const char *name = label(r, tensor, pointee, labelled);
    const char *how = r->op == ARENAUT_NONE ? "at the end needs" : "reads";
    if (holder < ARN_SHADOW_LIMIT || holder == ARN_SHADOW_VARIES) {
        const uint32_t other =
            holder == ARN_SHADOW_VARIES ? other_content(r, cell, storage) : holder;
        const bool lost = state && r->op == ARENAUT_NONE;
        const bool unwritten = other == ARENAUT_NONE && !state; /* on the path that others came */
        fill_in(r,
                lost        ? ARENAUT_RULE_STATE_LOST
                : unwritten ? ARENAUT_RULE_UNWRITTEN
                            : ARENAUT_RULE_CLOBBERED,
                pointee, other, cell);
        r->finding->a = tensor;
        return arn_check_reject(
            r->finding, r->err,
            "%s %s %s, but bytes [%" PRIu64 ", %" PRIu64 ") of %s hold %s'%.60s'%s", where(r, at),
            how, name, r->finding->first, r->finding->end, pool_label(r, r->finding->pool, pool),
            holder == ARN_SHADOW_VARIES ? "on one way through the program " : "",
            other == ARENAUT_NONE ? "nothing"
                                  : arenaut_program_tensor_name(r->program, other, names[1]),
            lost ? "; the state is gone at the next call" : "");
    }
    const uint32_t state_there =
        holder == ARN_SHADOW_UNWRITTEN && state ? other_content(r, cell, storage) : ARENAUT_NONE;
    if (state_there != ARENAUT_NONE && r->places.state[state_there]) {
        fill_in(r, ARENAUT_RULE_STATE_LOST, pointee, state_there, cell);
        r->finding->a = tensor;
        return arn_check_reject(r->finding, r->err,
                                "%s %s %s, but bytes [%" PRIu64 ", %" PRIu64
                                ") of %s may hold '%.60s', whose memory they are as well",
                                where(r, at), how, name, r->finding->first, r->finding->end,
                                pool_label(r, r->finding->pool, pool),
                                arenaut_program_tensor_name(r->program, state_there, names[1]));
    }
    const uint32_t stale =
        holder == ARN_SHADOW_UNWRITTEN ? ARENAUT_NONE : holder & ~ARN_SHADOW_STALE;
    fill_in(r, state ? ARENAUT_RULE_STATE_LOST : ARENAUT_RULE_UNWRITTEN, pointee, stale, cell);
    r->finding->a = tensor;
    return arn_check_reject(
        r->finding, r->err,
        "%s %s %s, but nothing has written its bytes [%" PRIu64 ", %" PRIu64 ") of %s%s%.60s",
        where(r, at), how, name, r->finding->first, r->finding->end,
        pool_label(r, r->finding->pool, pool),
        stale == ARENAUT_NONE ? "" : " since an earlier call left ",
        stale == ARENAUT_NONE ? "" : arenaut_program_tensor_name(r->program, stale, names[1]));
}

arenaut_status arn_replay_reject_arguments(arn_replay *r, uint32_t tensor, uint32_t cell) {
    const uint32_t other = arn_replay_shadow_content(&r->shadow, cell);
    char at[WHERE], names[2][24], pool[POOL];
    fill_in(r, ARENAUT_RULE_ARGUMENTS, tensor, other, cell);
    return arn_check_reject(r->finding, r->err,
                            "%s: its arguments '%.60s' and '%.60s' share bytes [%" PRIu64
                            ", %" PRIu64 ") of %s, which nothing allows",
                            where(r, at), arenaut_program_tensor_name(r->program, tensor, names[0]),
                            arenaut_program_tensor_name(r->program, other, names[1]),
                            r->finding->first, r->finding->end,
                            pool_label(r, r->finding->pool, pool));
}

/* The pair that a walk is about: the output that lies over the byte, else the input's first. */
static const arn_walk_pair *guilty_pair(const arn_walk *walk) {
    const arn_walk_pair *first = &walk->pairs[0];
    const bool named = walk->end == ARN_WALK_CORRUPTS || walk->end == ARN_WALK_SMEARS;
    for (uint32_t i = walk->n_pairs; i-- > 0 && named;) {
        const arn_walk_pair *pair = &walk->pairs[i];
        if (pair->input != walk->input) continue;
        const int64_t byte = (int64_t)walk->byte - pair->shift;
        const uint64_t bytes = walk->program->tensors[walk->op->outputs[pair->output]].bytes;
        first = pair;
        if (byte >= 0 && (uint64_t)byte < bytes) break;
    }
    return first;
}

arenaut_status arn_replay_reject_walk(arn_replay *r, const arn_walk *walk) {
    const arn_walk_pair *pair = guilty_pair(walk);
    const uint32_t input = walk->op->inputs[pair->input], output = walk->op->outputs[pair->output];
    const uint32_t a = arn_replay_sole_pointee(r, input), b = arn_replay_sole_pointee(r, output);
    const arn_replay_place *from = &r->places.place[a], *to = &r->places.place[b];
    char at[WHERE], kernels[WHERE], names[2][24], pool[POOL];
    const char *in = arenaut_program_tensor_name(r->program, input, names[0]);
    const char *out = arenaut_program_tensor_name(r->program, output, names[1]);
    fill_in(r, ARENAUT_RULE_ARGUMENTS, a, b, from->first > to->first ? from->first : to->first);
    r->finding->a = input;
    snprintf(kernels, WHERE, "the kernels '%.40s' (%s)", r->options.kernels->name,
             arenaut_kernel_order_name(walk->rule->order));
    if (walk->end == ARN_WALK_CORRUPTS) {
        return arn_check_reject(r->finding, r->err,
                                "%s: %s read byte %" PRIu64
                                " of '%.60s' when they have written "
                                "%" PRIu64 " bytes, and byte %" PRId64 " of '%.60s' over it",
                                where(r, at), kernels, walk->byte, in, walk->written,
                                (int64_t)walk->byte - pair->shift, out);
    }
    if (walk->end == ARN_WALK_SMEARS) {
        return arn_check_reject(r->finding, r->err,
                                "%s: %s copy a run from byte %" PRIu64
                                " of '%.60s' on to a part of "
                                "'%.60s' that is partly the same memory; a copy must be apart or "
                                "all the same",
                                where(r, at), kernels, walk->byte, in, out);
    }
    return arn_check_reject(r->finding, r->err,
                            "%s: its arguments '%.60s' and '%.60s' share bytes [%" PRIu64
                            ", %" PRIu64 ") of %s, and how %s walk over them is not known: %s",
                            where(r, at), in, out, r->finding->first, r->finding->end,
                            pool_label(r, r->finding->pool, pool), kernels, walk->why);
}

/* The first cell of the tensor's memory that does not hold its bytes. */
static uint32_t foreign_cell(arn_replay *r, uint32_t tensor) {
    const arn_replay_place *place = &r->places.place[tensor];
    return arn_replay_shadow_find(&r->shadow, place->first, place->end, r->places.storage[tensor],
                                  0);
}

/* Each memory that the tensor may stand for must be intact. */
static arenaut_status read_moved(arn_replay *r, uint32_t tensor) {
    for (uint32_t i = 0; i < arn_replay_pointee_count(r, tensor); i++) {
        uint32_t known;
        bool skip;
        const uint32_t pointee = arn_replay_pointee_at(r, tensor, i, &known);
        if (pointee == ARENAUT_NONE) continue;
        const arenaut_status status = arn_replay_touch(r, pointee, &skip);
        if (status != ARENAUT_OK) return status;
        if (skip || known == ARN_ALIAS_INTACT) continue;
        const uint32_t cell = foreign_cell(r, pointee);
        return reject_read(r, tensor, pointee, known,
                           cell == ARENAUT_NONE ? r->places.place[pointee].first : cell);
    }
    return ARENAUT_OK;
}

arenaut_status arn_replay_read(arn_replay *r, uint32_t tensor) {
    bool skip;
    if (arn_replay_is_alias(r, tensor)) return read_moved(r, tensor);
    const arenaut_status status = arn_replay_touch(r, tensor, &skip);
    if (status != ARENAUT_OK || skip) return status;
    const uint32_t cell = foreign_cell(r, tensor);
    if (cell == ARENAUT_NONE) return ARENAUT_OK;
    return reject_read(r, tensor, tensor, arn_replay_shadow_content(&r->shadow, cell), cell);
}

/* Writes memory; with `apart`, refuses where this version has written already. */
static arenaut_status write_pointee(arn_replay *r, uint32_t tensor, bool apart) {
    bool skip;
    const arenaut_status status = arn_replay_touch(r, tensor, &skip);
    if (status != ARENAUT_OK || skip) return status;
    const arn_replay_place *place = &r->places.place[tensor];
    const uint32_t storage = r->places.storage[tensor];
    /* One tensor, or two views of one storage, may be named twice: the program says so. */
    const uint32_t cell =
        apart ? arn_replay_shadow_find(&r->shadow, place->first, place->end, storage, r->version)
              : ARENAUT_NONE;
    if (cell != ARENAUT_NONE) return arn_replay_reject_arguments(r, tensor, cell);
    arn_replay_shadow_write(&r->shadow, place->first, place->end, storage, r->version);
    arn_replay_aliases_written(r, tensor);
    return ARENAUT_OK;
}

/* A tensor that may stand for several memories writes one of them (a weak update); the others keep
 * their content, so that each counts as written. Those may lie over one another. */
static arenaut_status write(arn_replay *r, uint32_t tensor, bool apart) {
    const uint32_t sole = arn_replay_sole_pointee(r, tensor);
    arenaut_status status = ARENAUT_OK;
    uint32_t known;
    if (sole != ARENAUT_NONE) return write_pointee(r, sole, apart);
    for (uint32_t i = 0; i < arn_replay_pointee_count(r, tensor) && status == ARENAUT_OK; i++) {
        const uint32_t pointee = arn_replay_pointee_at(r, tensor, i, &known);
        if (pointee != ARENAUT_NONE) status = write_pointee(r, pointee, false);
    }
    if (status == ARENAUT_OK) arn_replay_aliases_rewritten(r, tensor);
    return status;
}

arenaut_status arn_replay_write(arn_replay *r, uint32_t tensor) { return write(r, tensor, false); }

arenaut_status arn_replay_write_apart(arn_replay *r, uint32_t tensor) {
    return write(r, tensor, true);
}

/* Whether a copy would find its source half overwritten: memory may be copied onto itself,
 * but not to a place that only partly is the same. */
static bool copies_onto_part_of_itself(const arn_replay *r, uint32_t from, uint32_t to) {
    const arn_replay_place *a = &r->places.place[from], *b = &r->places.place[to];
    return a->first != b->first && a->first < b->end && b->first < a->end;
}

arenaut_status arn_replay_copy(arn_replay *r, uint32_t from, uint32_t to) {
    bool skip_from = false, skip_to = false;
    arenaut_status status = arn_replay_read(r, from);
    if (status == ARENAUT_OK) status = arn_replay_touch(r, from, &skip_from);
    if (status == ARENAUT_OK) status = arn_replay_touch(r, to, &skip_to);
    if (status != ARENAUT_OK || skip_to) return status;
    r->version++;
    if (!skip_from && copies_onto_part_of_itself(r, from, to)) {
        const uint32_t cell = r->places.place[from].first > r->places.place[to].first
                                  ? r->places.place[from].first
                                  : r->places.place[to].first;
        return arn_replay_reject_arguments(r, to, cell);
    }
    return arn_replay_write(r, to);
}

/* ---- work ---- */

arenaut_status arn_replay_too_much(const arn_replay *r, const char *what, uint64_t limit) {
    const char *name = r->program->methods[r->method].name;
    return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                    "method '%.80s' cannot be replayed: %s; the limit is %" PRIu64,
                    name ? name : "", what, limit);
}

arenaut_status arn_replay_charge(arn_replay *r) {
    enum { OP = 16 }; /* an op without arguments takes as long as so many nodes */
    r->shadow.work += OP;
    if (r->shadow.work <= r->work_limit) return ARENAUT_OK;
    return arn_replay_too_much(r, "its calls and loops multiply into too much work", r->work_limit);
}
