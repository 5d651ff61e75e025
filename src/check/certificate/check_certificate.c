/* check_certificate: replay of a branch-and-bound proof, line by line (the rules are in
 * arenaut/certificate.h). The assumption of a line is undone by a trail when its proof has ended,
 * so nothing is kept but the path from the first line to the present one. Time: for each line, work
 * about the neighbours of its group; for each case, the listing of its interference graph
 * (proof_case.c). */
#include <inttypes.h>

#include <arenaut/certificate.h>

#include "check/certificate/proof_load.h"
#include "check/certificate/proof_sides.h"
#include "check/certificate/proof_state.h"
#include "check/finding.h"
#include "check/plan/plan_rules.h"
#include "core/checked.h"
#include "core/memory.h"
#include "ir/certificate.h"

/* The subject of the lines at hand: the case as a whole, or the groups of one pool, with ranges of
 * either offsets (places) or pairwise differences (sides). */
typedef enum view { VIEW_CASE, VIEW_PLACES, VIEW_SIDES } view;

/* A line whose proof has not ended. */
typedef struct frame {
    uint32_t line, rule, item;
    view view; /* at its beginning; in a view of one pool also: */
    bool dead;
    uint32_t n_trail;
    uint32_t first; /* BRANCH: its groups are chosen[first ..] */
    uint32_t next; /* BRANCH: it was rejected; JOIN, ARENA and ABOVE, LEVEL, HIGH: the part at work;
                      POOL: the pool after the one at work */
    uint64_t before; /* the assumption undone at the end: POOLS, POOL: the pools; ARENA: at most so
                        large, */
    uint64_t least;  /* and at least so large */
    arn_proof_split split; /* ABOVE, LEVEL, HIGH */
} frame;

/* A state that a SAME may refer to. */
typedef struct memory {
    uint32_t line;
    bool proven;
    uint64_t *lowest;
    uint8_t *state;
} memory;

typedef struct replay {
    const arn_plan_check *check;
    const arenaut_certificate *certificate;
    arn_proof_meter meter; /* the check's allocator is of it */
    arn_check_slices slices;
    arn_proof_case c;
    view view;             /* `state` or `sides` is of the one pool in `pools` */
    arn_proof_state state; /* in VIEW_PLACES */
    arn_proof_sides sides; /* in VIEW_SIDES */
    bool failed;           /* there was no memory */
    uint64_t pools;        /* the pools in view */
    uint64_t every_pool;
    uint32_t at;     /* the next line */
    bool child_next; /* it belongs to the branch on top */
    const char *why; /* the defect of the line before; NULL: none */
    frame *frames;
    uint32_t n_frames, frame_room;
    uint32_t *chosen; /* the groups of all open branches, one after another */
    uint32_t n_chosen, chosen_room;
    memory *memories; /* of the present state's case */
    uint32_t n_memories, memory_room;
    arn_region remembered;
} replay;

static arenaut_status no_memory(const replay *r) { return arn_no_memory(r->check->err); }

static arenaut_status refuse(replay *r, const char *why) {
    r->why = why;
    return ARENAUT_OK;
}

/* ---- case and state ---- */

/* Opens the case for the one pool in view; r->why if it is not one. */
static arenaut_status open_pool(replay *r, bool neighbours, uint64_t *limit) {
    if (r->pools == 0 || r->pools & (r->pools - 1))
        return refuse(r, "it needs one pool, and POOLS has not chosen it");
    const uint32_t pool = arn_lowest_bit(r->pools);
    *limit = arn_min_u64(arn_proof_limit(&r->c, pool), ARENAUT_SIZE_MAX);
    return arn_proof_case_open(&r->c, pool, neighbours);
}

/* Enters the view of places in one pool of the case as it is now. */
static arenaut_status look_at_places(replay *r) {
    uint64_t limit;
    if (r->view == VIEW_PLACES) return ARENAUT_OK;
    if (r->check->problem->n_separations)
        return refuse(r, "buffers may overlap, so places say nothing");
    if (r->view == VIEW_SIDES)
        return refuse(r, "it is about places, after the first line about sides");
    arenaut_status st = open_pool(r, true, &limit);
    if (st != ARENAUT_OK || r->why) return st;
    st = arn_proof_state_init(&r->state, &r->c, limit);
    if (st == ARENAUT_OK) r->view = VIEW_PLACES;
    arn_region_init(&r->remembered, r->check->allocator);
    return st;
}

/* Likewise, the view of sides: pairwise orders in one pool. */
static arenaut_status look_at_sides(replay *r) {
    uint64_t limit;
    if (r->view == VIEW_SIDES) return ARENAUT_OK;
    if (r->view == VIEW_PLACES)
        return refuse(r, "it is about sides, after the first line about places");
    arenaut_status st = open_pool(r, false, &limit);
    if (st != ARENAUT_OK || r->why) return st;
    st = arn_proof_sides_init(&r->sides, &r->c, limit);
    if (st == ARENAUT_OK) r->view = VIEW_SIDES;
    return st;
}

static void leave_pool(replay *r) {
    if (r->view == VIEW_SIDES) arn_proof_sides_free(&r->sides);
    if (r->view == VIEW_PLACES) {
        arn_proof_state_free(&r->state);
        arn_region_free(&r->remembered);
        r->n_memories = 0;
    }
    r->view = VIEW_CASE;
}

static frame *push(replay *r, const arenaut_proof_line *line) {
    if (!arn_grow(r->check->allocator, (void **)&r->frames, &r->frame_room,
                  (uint64_t)r->n_frames + 1, sizeof *r->frames)) {
        return NULL;
    }
    frame *f = &r->frames[r->n_frames++];
    const frame empty = {.line = r->at - 1,
                         .rule = line->rule,
                         .item = line->item,
                         .first = r->n_chosen,
                         .before = r->pools,
                         .view = r->view};
    *f = empty;
    if (r->view == VIEW_PLACES) {
        f->n_trail = r->state.n_trail;
        f->dead = r->state.dead;
    } else if (r->view == VIEW_SIDES) {
        f->n_trail = r->sides.n_trail;
        f->dead = r->sides.dead;
    }
    return f;
}

/* Backtracks to the beginning of the frame. */
static void rewind_to(replay *r, const frame *f) {
    if (f->view == VIEW_CASE) leave_pool(r);
    if (r->view == VIEW_PLACES) arn_proof_undo(&r->state, f->n_trail, f->dead);
    if (r->view == VIEW_SIDES) arn_proof_sides_undo(&r->sides, f->n_trail, f->dead);
}

/* ---- closing lines ---- */

static bool refers_to_proven(const replay *r, uint64_t line) {
    for (uint32_t low = 0, high = r->n_memories; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        const memory *m = &r->memories[middle];
        if (m->line == line) {
            return m->proven && arn_proof_is_no_freer(&r->state, m->lowest, m->state);
        }
        if (m->line < line) low = middle + 1;
        else high = middle;
    }
    return false;
}

static int64_t step_of(const arenaut_proof_line *line) { return (int64_t)line->value; }

/* Limits contradict each other if a set of pools needs more than it may have. */
static bool limits_contradict(const replay *r) {
    const arn_proof_case *c = &r->c;
    for (uint32_t k = 0; k < c->problem->n_pools; k++) {
        const uint64_t room = arn_min_u64(c->most[k], arn_proof_room(c, UINT64_C(1) << k));
        if (c->least[k] > room) return true;
    }
    return false;
}

static arenaut_status close_by_load(replay *r, const arenaut_proof_line *line, bool *closed) {
    if (r->view != VIEW_CASE) return refuse(r, "LOAD belongs before the first line about blocks");
    return arn_proof_is_overloaded(&r->c, r->pools, step_of(line), closed);
}

static arenaut_status close_by_sides(replay *r, bool *closed) {
    const arenaut_status st = look_at_sides(r);
    if (st == ARENAUT_OK && !r->why) *closed = r->sides.dead;
    return st;
}

static arenaut_status close_by_places(replay *r, const arenaut_proof_line *line, bool *closed) {
    const arenaut_status st = look_at_places(r);
    if (st != ARENAUT_OK || r->why) return st;
    *closed = r->state.dead;
    if (line->rule == ARENAUT_PROOF_OVER) {
        *closed = *closed || arn_proof_is_over(&r->state, step_of(line));
    } else if (line->rule == ARENAUT_PROOF_EDGE) {
        *closed = *closed || arn_proof_is_edge_over(&r->state, line->item);
    } else if (line->rule == ARENAUT_PROOF_SAME) {
        *closed = *closed || refers_to_proven(r, line->value);
    }
    return ARENAUT_OK;
}

static arenaut_status close_line(replay *r, const arenaut_proof_line *line) {
    const bool dead = line->rule == ARENAUT_PROOF_DEAD;
    bool closed = false;
    arenaut_status st = ARENAUT_OK;
    if (line->rule == ARENAUT_PROOF_LOAD) {
        st = close_by_load(r, line, &closed);
    } else if (dead && r->view == VIEW_CASE && limits_contradict(r)) {
        closed = true;
    } else if (dead && (r->view == VIEW_SIDES || r->check->problem->n_separations)) {
        st = close_by_sides(r, &closed);
    } else {
        st = close_by_places(r, line, &closed);
    }
    if (st == ARENAUT_OK && !closed && !r->why) r->why = "it does not close the case";
    return st;
}

/* ---- relaxations: fewer pools, steps or buffers ---- */

static bool piece_remains(const arn_proof_case *c, const arn_proof_piece *piece,
                          const arenaut_proof_line *line) {
    if (piece->n_lives == 0) return false;
    const arenaut_interval *lives = c->lives + piece->life;
    return line->rule == ARENAUT_PROOF_FROM ? lives[piece->n_lives - 1].end > step_of(line)
                                            : lives[0].first <= step_of(line);
}

static arenaut_status narrow_time(replay *r, const arenaut_proof_line *line) {
    if (!push(r, line)) return no_memory(r);
    const arenaut_status st = look_at_places(r);
    for (uint32_t k = 0; k < r->c.n_groups && st == ARENAUT_OK && !r->why; k++) {
        const arn_proof_group *b = &r->c.group[k];
        bool remains = r->state.state[k] != ARN_GROUP_OPEN;
        (void)arn_proof_charge(&r->meter, b->n_pieces);
        for (uint32_t i = b->piece; i < b->piece + b->n_pieces && !remains; i++) {
            remains = piece_remains(&r->c, &r->c.piece[i], line);
        }
        if (!remains && !arn_proof_leave(&r->state, k)) return no_memory(r);
    }
    return st;
}

static arenaut_status narrow_pools(replay *r, const arenaut_proof_line *line) {
    if (r->view != VIEW_CASE) return refuse(r, "POOLS belongs before the first line about blocks");
    if (line->value & ~r->pools || line->value == 0)
        return refuse(r, "it names pools that were not looked at");
    if (!push(r, line)) return no_memory(r);
    r->pools = line->value;
    return ARENAUT_OK;
}

static arenaut_status leave_out(replay *r, const arenaut_proof_line *line) {
    const arenaut_problem *p = r->check->problem;
    if (r->view != VIEW_CASE)
        return refuse(r, "WITHOUT belongs before the first line about blocks");
    if (line->item >= p->n_buffers || r->c.left_out[line->item])
        return refuse(r, "there is no such buffer, or it is left out already");
    if (!push(r, line)) return no_memory(r);
    arn_proof_case_close(&r->c);
    r->c.left_out[line->item] = true;
    return ARENAUT_OK;
}

static void take_back_in(replay *r, const frame *f) {
    arn_proof_case_close(&r->c);
    r->c.left_out[f->item] = false;
}

/* ---- splitting a case ---- */

static bool splits_too_late(replay *r) {
    if (r->view != VIEW_CASE || r->pools != r->every_pool) {
        r->why = "cases are split before pools and blocks are looked at";
        return true;
    }
    arn_proof_case_close(&r->c);
    return false;
}

static arenaut_status split_pair(replay *r, const arenaut_proof_line *line) {
    const arenaut_problem *p = r->check->problem;
    if (splits_too_late(r)) return ARENAUT_OK;
    if (line->item >= p->n_buffers || arenaut_problem_same_base(p, line->item) == ARENAUT_NONE ||
        !arenaut_problem_needs_memory(p, line->item) ||
        !arenaut_problem_needs_memory(p, p->same_base[line->item]) ||
        r->c.pair[line->item] != ARN_PAIR_OPEN) {
        return refuse(r, "the buffer has no base, or that is settled already");
    }
    if (!push(r, line)) return no_memory(r);
    r->c.pair[line->item] = ARN_PAIR_JOINED;
    return ARENAUT_OK;
}

/* Chooses the next pool of the buffer; false: there is none left. */
static bool next_pool(replay *r, frame *f) {
    while (f->next < ARENAUT_MAX_POOLS && !(f->before >> f->next & 1)) f->next++;
    if (f->next == ARENAUT_MAX_POOLS) return false;
    r->c.pools[f->item] = UINT64_C(1) << f->next++;
    return true;
}

static arenaut_status split_buffer(replay *r, const arenaut_proof_line *line) {
    const arenaut_problem *p = r->check->problem;
    if (splits_too_late(r)) return ARENAUT_OK;
    if (line->item >= p->n_buffers || !arenaut_problem_needs_memory(p, line->item))
        return refuse(r, "there is no such buffer in any pool");
    frame *f = push(r, line);
    if (!f) return no_memory(r);
    f->before = r->c.pools[line->item];
    next_pool(r, f);
    return ARENAUT_OK;
}

static arenaut_status split_arena(replay *r, const arenaut_proof_line *line) {
    if (splits_too_late(r)) return ARENAUT_OK;
    if (line->item >= r->check->problem->n_pools || line->value >= ARENAUT_SIZE_MAX)
        return refuse(r, "there is no such pool, or no such arena");
    frame *f = push(r, line);
    if (!f) return no_memory(r);
    f->before = r->c.most[line->item];
    f->least = r->c.least[line->item];
    r->c.most[line->item] = arn_min_u64(f->before, line->value);
    return ARENAUT_OK;
}

/* ---- sides ---- */

static bool find_split(const replay *r, const arenaut_proof_line *line, arn_proof_split *split) {
    if (line->rule == ARENAUT_PROOF_HIGH) {
        return arn_proof_split_offset(&r->sides, line->item, line->value, split);
    }
    const bool level = line->rule == ARENAUT_PROOF_LEVEL;
    return arn_proof_split_pair(&r->sides, line->item, line->value, level, split);
}

static arenaut_status split_sides(replay *r, const arenaut_proof_line *line) {
    arn_proof_split split;
    const arenaut_status st = look_at_sides(r);
    if (st != ARENAUT_OK || r->why) return st;
    if (!find_split(r, line, &split))
        return refuse(r, "these are no buffers of this pool that are in each other's way");
    frame *f = push(r, line);
    if (!f || !arn_proof_take_side(&r->sides, &split, true)) return no_memory(r);
    f->split = split;
    return ARENAUT_OK;
}

/* The complement, once the first half is proven; false: that was the complement. */
static bool take_other_side(replay *r, frame *f) {
    if (f->next) return false;
    f->next = 1;
    r->failed = !arn_proof_take_side(&r->sides, &f->split, false);
    return true;
}

/* ---- branches ---- */

static arenaut_status remember(replay *r) {
    const uint32_t n = r->c.n_groups;
    (void)arn_proof_charge(&r->meter, n);
    if (!arn_grow(r->check->allocator, (void **)&r->memories, &r->memory_room,
                  (uint64_t)r->n_memories + 1, sizeof *r->memories)) {
        return no_memory(r);
    }
    memory *m = &r->memories[r->n_memories];
    m->line = r->at - 1;
    m->proven = false;
    if (!ARN_REGION_ARRAYS(&r->remembered, ARN_ARRAY(m->lowest, n), ARN_ARRAY(m->state, n)))
        return no_memory(r);
    for (uint32_t k = 0; k < n; k++) {
        m->lowest[k] = r->state.lowest[k];
        m->state[k] = r->state.state[k];
    }
    r->n_memories++;
    return ARENAUT_OK;
}

static arenaut_status begin_branch(replay *r, const arenaut_proof_line *line) {
    const arenaut_status st = look_at_places(r);
    if (st != ARENAUT_OK || r->why) return st;
    if (!push(r, line)) return no_memory(r);
    r->child_next = true;
    return line->rule == ARENAUT_PROOF_KEPT ? remember(r) : ARENAUT_OK;
}

/* The group of a line; ARENAUT_NONE, with the reason, if it is not open. */
static uint32_t open_group(replay *r, uint64_t buffer) {
    if (buffer < r->check->problem->n_buffers && r->c.piece_of[buffer] != ARENAUT_NONE) {
        const uint32_t group = r->c.piece[r->c.piece_of[buffer]].group;
        if (r->state.state[group] == ARN_GROUP_OPEN) return group;
    }
    r->why = "the block is not one that is still to be placed";
    return ARENAUT_NONE;
}

static bool is_chosen(replay *r, const frame *f, uint32_t group) {
    (void)arn_proof_charge(&r->meter, r->n_chosen - f->first);
    for (uint32_t i = f->first; i < r->n_chosen; i++) {
        if (r->chosen[i] == group) return true;
    }
    return false;
}

static arenaut_status choose(replay *r, uint32_t group) {
    if (!arn_grow(r->check->allocator, (void **)&r->chosen, &r->chosen_room,
                  (uint64_t)r->n_chosen + 1, sizeof *r->chosen)) {
        return no_memory(r);
    }
    r->chosen[r->n_chosen++] = group;
    return ARENAUT_OK;
}

static arenaut_status leave_out_alike(replay *r, const frame *f, uint32_t group, uint64_t buffer) {
    const uint32_t other = open_group(r, buffer);
    if (other == ARENAUT_NONE) return ARENAUT_OK;
    if (is_chosen(r, f, other) && arn_proof_is_alike(&r->state, group, other)) {
        return choose(r, group);
    }
    return refuse(r, "the two are not alike, or the other does not stand before it");
}

/* None of the branch's groups lies at its lowest: an argument about the lowest of them, so there
 * must be one. */
static arenaut_status reject_chosen(replay *r, frame *f) {
    if (r->n_chosen == f->first)
        return refuse(r, "it rejects no block: the branch has placed none");
    f->next = 1;
    const bool done = arn_proof_reject(&r->state, r->chosen + f->first, r->n_chosen - f->first);
    return done ? ARENAUT_OK : no_memory(r);
}

/* The next line of the branch on top. */
static arenaut_status follow_child(replay *r, const arenaut_proof_line *line) {
    frame *f = &r->frames[r->n_frames - 1];
    if (line->rule != ARENAUT_PROOF_PLACE && line->rule != ARENAUT_PROOF_ALIKE &&
        line->rule != ARENAUT_PROOF_REJECT) {
        return refuse(r, "the branch before it has not ended");
    }
    r->child_next = line->rule == ARENAUT_PROOF_ALIKE;
    if (line->rule == ARENAUT_PROOF_REJECT) return reject_chosen(r, f);
    const uint32_t group = open_group(r, line->item);
    if (group == ARENAUT_NONE) return ARENAUT_OK;
    if (is_chosen(r, f, group)) return refuse(r, "the block was placed or left out before");
    if (line->rule == ARENAUT_PROOF_ALIKE) return leave_out_alike(r, f, group, line->value);
    const arenaut_status st = choose(r, group);
    if (st != ARENAUT_OK || r->state.dead) return st;
    return arn_proof_place(&r->state, group) ? ARENAUT_OK : no_memory(r);
}

/* ---- ends of proofs, and next parts ---- */

static void mark_proven(replay *r, uint32_t line) {
    for (uint32_t i = r->n_memories; i-- > 0;) {
        if (r->memories[i].line == line) r->memories[i].proven = true;
        if (r->memories[i].line <= line) break;
    }
}

/* Assumes that the arena is larger than the line said. It is a multiple of its alignment. */
static void assume_larger_arena(replay *r, const frame *f) {
    const uint64_t value = r->certificate->line[f->line].value;
    const uint64_t next = arn_aligned(value + 1, r->check->problem->pool[f->item].align);
    r->c.most[f->item] = f->before;
    r->c.least[f->item] = arn_max_u64(f->least, next);
}

/* The next part of a split case; false: that was the last one. */
static bool next_part(replay *r, frame *f) {
    arn_proof_case *c = &r->c;
    const bool last = f->next > 0;
    if (f->rule == ARENAUT_PROOF_POOL) {
        arn_proof_case_close(c);
        if (next_pool(r, f)) return true;
        c->pools[f->item] = f->before;
        return false;
    }
    f->next = 1;
    if (f->rule == ARENAUT_PROOF_ARENA) {
        if (last) c->least[f->item] = f->least;
        else assume_larger_arena(r, f);
    } else {
        arn_proof_case_close(c);
        c->pair[f->item] = last ? ARN_PAIR_OPEN : ARN_PAIR_APART;
    }
    return !last;
}

/* The part of the top frame at work is proven. True: another part follows. */
static bool goes_on(replay *r, frame *f) {
    rewind_to(r, f);
    switch (f->rule) {
        case ARENAUT_PROOF_BRANCH:
        case ARENAUT_PROOF_KEPT:
            if (!f->next) return r->child_next = true;
            mark_proven(r, f->line);
            r->n_chosen = f->first;
            return false;
        case ARENAUT_PROOF_JOIN:
        case ARENAUT_PROOF_POOL:
        case ARENAUT_PROOF_ARENA: return next_part(r, f);
        case ARENAUT_PROOF_ABOVE:
        case ARENAUT_PROOF_LEVEL:
        case ARENAUT_PROOF_HIGH: return take_other_side(r, f);
        case ARENAUT_PROOF_WITHOUT: take_back_in(r, f); return false;
        default: r->pools = f->before; return false;
    }
}

static void end_parts(replay *r) {
    while (r->n_frames > 0 && !goes_on(r, &r->frames[r->n_frames - 1])) r->n_frames--;
}

/* ---- all lines ---- */

static arenaut_status follow_line(replay *r, const arenaut_proof_line *line) {
    if (r->child_next) return follow_child(r, line);
    switch (line->rule) {
        case ARENAUT_PROOF_DEAD:
        case ARENAUT_PROOF_LOAD:
        case ARENAUT_PROOF_OVER:
        case ARENAUT_PROOF_EDGE:
        case ARENAUT_PROOF_SAME: {
            const arenaut_status st = close_line(r, line);
            if (st == ARENAUT_OK && !r->why) end_parts(r);
            return r->failed ? no_memory(r) : st;
        }
        case ARENAUT_PROOF_POOLS: return narrow_pools(r, line);
        case ARENAUT_PROOF_FROM:
        case ARENAUT_PROOF_UNTIL: return narrow_time(r, line);
        case ARENAUT_PROOF_BRANCH:
        case ARENAUT_PROOF_KEPT: return begin_branch(r, line);
        case ARENAUT_PROOF_JOIN: return split_pair(r, line);
        case ARENAUT_PROOF_POOL: return split_buffer(r, line);
        case ARENAUT_PROOF_ARENA: return split_arena(r, line);
        case ARENAUT_PROOF_WITHOUT: return leave_out(r, line);
        case ARENAUT_PROOF_ABOVE:
        case ARENAUT_PROOF_LEVEL:
        case ARENAUT_PROOF_HIGH: return split_sides(r, line);
        default: return refuse(r, "it stands outside of a branch");
    }
}

static arenaut_status reject_line(const replay *r) {
    const arenaut_proof_line *line = &r->certificate->line[r->at - 1];
    const char *name = arn_proof_rule_name((arenaut_proof_rule)line->rule);
    r->check->finding->rule = ARENAUT_RULE_PROOF;
    return arn_check_reject(r->check->finding, r->check->err,
                            "line %" PRIu32 " of the certificate, %s %" PRIu32 " %" PRIu64 ": %s",
                            r->at - 1, name ? name : "(no rule)", line->item, line->value, r->why);
}

static arenaut_status reject_all(const replay *r, const char *why) {
    r->check->finding->rule = ARENAUT_RULE_PROOF;
    return arn_check_reject(r->check->finding, r->check->err, "the certificate %s", why);
}

static arenaut_status follow_lines(replay *r) {
    const arenaut_certificate *certificate = r->certificate;
    if (certificate->bound == 0) {
        return certificate->n_lines ? reject_all(r, "has lines, but nothing to prove") : ARENAUT_OK;
    }
    do {
        if (r->at == certificate->n_lines) return reject_all(r, "ends before its proof does");
        const arenaut_status st = follow_line(r, &certificate->line[r->at++]);
        if (st != ARENAUT_OK) return st;
        if (r->meter.spent) return no_memory(r);
        if (r->why) return reject_line(r);
    } while (r->n_frames > 0);
    return r->at == certificate->n_lines ? ARENAUT_OK : reject_all(r, "goes on after its proof");
}

static arenaut_status replay_lines(replay *r) {
    const uint32_t n_pools = r->check->problem->n_pools;
    r->every_pool = n_pools >= 64 ? UINT64_MAX : (UINT64_C(1) << n_pools) - 1;
    r->pools = r->every_pool;
    arenaut_status st = arn_proof_case_init(&r->c, r->check, &r->slices, r->certificate->bound);
    if (st != ARENAUT_OK) return st;
    r->c.meter = &r->meter;
    st = follow_lines(r);
    leave_pool(r);
    arn_proof_case_free(&r->c);
    ARN_RELEASE(r->check->allocator, r->frames, r->chosen, r->memories);
    return st;
}

/* Nothing is known of the proof if the caller's memory or effort was not enough. */
static arenaut_status tell_if_spent(const replay *r, arenaut_status st) {
    if (!r->meter.spent) return st;
    return arn_fail(r->check->err, ARENAUT_STOPPED, 0,
                    "the certificate, at line %" PRIu32 " of %" PRIu32
                    ": following it takes more work or memory than is allowed",
                    r->at, r->certificate->n_lines);
}

arenaut_status arenaut_check_certificate_within(const arenaut_problem *problem,
                                                const arenaut_certificate *certificate,
                                                const arenaut_check_limits *limits,
                                                const arenaut_allocator *allocator,
                                                arenaut_finding *finding, arenaut_error *err) {
    replay r = {.certificate = certificate};
    const arn_plan_check check = {problem, NULL, &r.meter.allocator, finding, err};
    r.check = &check;
    *finding = arn_check_no_finding();
    arenaut_status st = arenaut_problem_validate(problem, err);
    if (st != ARENAUT_OK) return st;
    if (certificate->problem != arn_problem_digest(problem)) {
        return reject_all(&r, "is about another problem");
    }
    if (!arn_proof_meter_init(&r.meter, limits, problem, certificate, allocator)) {
        return arn_no_memory(err);
    }
    st = arn_check_slices_make(&check, &r.slices);
    if (st == ARENAUT_OK) {
        st = replay_lines(&r);
        arn_region_free(&r.slices.region);
    }
    return tell_if_spent(&r, st);
}

arenaut_status arenaut_check_certificate(const arenaut_problem *problem,
                                         const arenaut_certificate *certificate,
                                         const arenaut_allocator *allocator,
                                         arenaut_finding *finding, arenaut_error *err) {
    return arenaut_check_certificate_within(problem, certificate, NULL, allocator, finding, err);
}
