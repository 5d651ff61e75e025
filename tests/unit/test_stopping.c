/* Stopping: a caller that is asked and says no gets an answer at once, for any problem, and
 * unfinished work is then neither a plan nor a proof. */
#include "support/test.h"

#include <stdlib.h>
#include <time.h>

#include <arenaut/certificate.h>
#include <arenaut/planner.h>

#include "core/checked.h"
#include "ir/lifetimes.h"
#include "planners/bounds/bounds.h"
#include "planners/bounds/load.h"
#include "planners/exact/exact.h"
#include "support/oracle.h"
#include "support/problems.h"

/* ---- problems on which some loop is long ---- */

/* All of them may lie on the first, and no two of them on each other. */
static arenaut_problem *star(uint32_t n) {
    arenaut_problem *p = new_problem();
    const uint32_t base = add_box(p, 8, 0, n);
    for (uint32_t i = 1; i < n; i++) {
        ADD_BUFFER(p, .size = 8, LIFE(n - 1, (int64_t)n + i), .same_base = arenaut_id(base));
    }
    finish(p);
    return p;
}

/* Each lies in the one before it. */
static arenaut_problem *nest(uint32_t n) {
    arenaut_problem *p = new_problem();
    for (uint32_t i = 0; i < n; i++) {
        ADD_BUFFER(p, .size = 2 * (uint64_t)n - i, LIFE(0, 2),
                   .inside = arenaut_id(i > 0 ? i - 1 : ARENAUT_NONE), .inside_delta = i > 0);
    }
    finish(p);
    return p;
}

/* Slices side by side in one host. */
static arenaut_problem *slices(uint32_t n) {
    arenaut_problem *p = new_problem();
    const uint32_t host = add_box(p, 8 * (uint64_t)n, 0, 10);
    for (uint32_t i = 0; i < n; i++) {
        ADD_BUFFER(p, .size = 8, LIFE(i % 7, i % 7 + 3), .inside = arenaut_id(host),
                   .inside_delta = 8 * (uint64_t)i);
    }
    finish(p);
    return p;
}

/* Buffers with many gaps, in each of which a part of them lives on. */
static arenaut_problem *gap_windows(uint32_t n, uint32_t gaps) {
    arenaut_problem *p = new_problem();
    arenaut_interval *life = calloc(gaps, sizeof *life);
    assert_non_null(life);
    for (uint32_t g = 0; g < gaps; g++) life[g] = (arenaut_interval){3 * g, 3 * g + 1};
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t host = ADD_BUFFER(p, .size = 64, .lifetimes = life, .n_lifetimes = gaps);
        for (uint32_t g = 0; g < gaps; g++) {
            ADD_BUFFER(p, .size = 1 + g % 63, LIFE(3 * g + 1, 3 * g + 3),
                       .inside = arenaut_id(host));
        }
    }
    free(life);
    finish(p);
    return p;
}

static arenaut_problem *with_pools(uint32_t n, uint32_t n_pools, uint32_t at_once) {
    arenaut_problem *p = new_problem();
    for (uint32_t k = 0; k < n_pools; k++) {
        char name[16];
        snprintf(name, sizeof name, "p%u", k);
        add_pool(p, name, ARENAUT_UNLIMITED, 1);
    }
    for (uint32_t i = 0; i < n; i++) add_box(p, 9 + i * 31 % 83, i / at_once, i / at_once + 5);
    finish(p);
    return p;
}

/* Small holes everywhere, and nothing that would fit into them. */
static arenaut_problem *reserved_ranges(uint32_t n) {
    arenaut_problem *p = new_problem();
    const uint32_t pool = add_pool(p, "holes", ARENAUT_UNLIMITED, 1);
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_reserved range = {pool, 40 * (uint64_t)i, 40 * (uint64_t)i + 8};
        arenaut_error err;
        assert_ok(arenaut_problem_add_reserved(p, &range, &err), err);
        add_box(p, 40 + i % 3, i % 100, i % 100 + 5);
    }
    finish(p);
    return p;
}

/* Everybody has an edge to those that come soon after. */
static arenaut_problem *edges(uint32_t n, uint32_t reach) {
    arenaut_problem *p = new_problem();
    for (uint32_t i = 0; i < n; i++) add_box(p, 8 + i % 5, i, i + 1);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = i + 1; k < n && k < i + reach; k++) {
            arenaut_error err;
            assert_ok(arenaut_problem_add_conflict(p, i, k, &err), err);
        }
    }
    finish(p);
    return p;
}

/* One place for all, one after another. */
static arenaut_problem *fixed_in_turn(uint32_t n) {
    arenaut_problem *p = new_problem();
    for (uint32_t i = 0; i < n; i++) {
        ADD_BUFFER(p, .size = 8, LIFE(i, i + 1), .fixed_offset = arenaut_at(0));
    }
    finish(p);
    return p;
}

static arenaut_problem *in_tokens(uint32_t n, uint32_t lives) {
    arenaut_problem *p = new_problem();
    arenaut_interval *life = calloc(lives, sizeof *life);
    assert_non_null(life);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < lives; k++) {
            life[k] = (arenaut_interval){40 * k + i % 20, 40 * k + i % 20 + 3};
        }
        ADD_BUFFER(p, .size = 1 + i * 7 % 90, .lifetimes = life, .n_lifetimes = lives);
    }
    free(life);
    p->traits |= ARENAUT_PROBLEM_TOKENS;
    finish(p);
    return p;
}

/* ---- being asked, and saying no ---- */

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

typedef struct patience {
    uint32_t calls, most; /* so many questions are answered with yes */
    uint32_t after;       /* questions after the first no */
    double last, longest; /* CPU-seconds between two questions, or before the first */
} patience;

static arenaut_verdict answer(void *context, const arenaut_progress *progress) {
    patience *p = context;
    const double now = cpu_seconds();
    assert_non_null(progress->planner);
    if (now - p->last > p->longest) p->longest = now - p->last;
    p->last = now;
    if (p->calls == p->most) {
        p->after++;
        return ARENAUT_OUT_OF_TIME;
    }
    p->calls++;
    return ARENAUT_GO_ON;
}

/* The times are a hundred times those without sanitizers on an idle machine: the mistakes that they
 * are to find took minutes or hours. */
enum { LONGEST = 4, MOST_QUESTIONS_AFTER = 64 };

/* Stops the planner after so many questions. `some`: there must be a plan then. */
static void assert_stops(const arenaut_problem *problem, const char *planner, uint32_t questions,
                         bool some) {
    patience p = {.most = questions, .last = cpu_seconds()};
    const arenaut_plan_options options = {.planner = planner,
                                          .effort = ARENAUT_NO_EFFORT_LIMIT,
                                          .progress = answer,
                                          .progress_context = &p};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_plan_make(problem, &options, NULL, &plan, &err);
    const double since = cpu_seconds() - p.last;
    if (p.longest > LONGEST || since > LONGEST || p.after > MOST_QUESTIONS_AFTER) {
        fail_msg(
            "%s after %u questions: %.1f s until it asked, %.1f s after the last question, "
            "%u questions after the first no",
            planner, questions, p.longest, since, p.after);
    }
    if (!some && (st == ARENAUT_STOPPED || st == ARENAUT_REFUSED)) return; /* REFUSED: too large */
    assert_ok(st, err);
    assert_plan_accepted(problem, plan);
    if (p.after && plan->quality != ARENAUT_OPTIMAL) {
        assert_int_equal(plan->stopped_by, ARENAUT_STOP_TIME);
    }
    arenaut_plan_free(plan);
}

/* Every planner that handles the problem; `auto` always has a plan. */
static void assert_all_stop(arenaut_problem *problem) {
    const uint32_t features = arn_problem_features(problem);
    for (size_t i = 0; i < arenaut_planner_count(); i++) {
        const arenaut_planner *planner = arenaut_planner_at(i);
        if (features & ~planner->handles) continue;
        assert_stops(problem, planner->name, 2, strcmp(planner->name, "auto") == 0);
    }
    assert_stops(problem, "auto", 0, true);
    assert_stops(problem, "auto", 40, true);
    arenaut_problem_free(problem);
}

TEST(a_star_of_heirs_does_not_hold_anybody_up) {
    assert_all_stop(star(4000));
    assert_all_stop(star(20000));
}

/* Each buffer lives for `steps` steps from its number on, and may overlap the one after it. */
static arenaut_problem *overlapping_chain(uint32_t n, int64_t steps) {
    arenaut_problem *p = new_problem();
    arenaut_error err = {0};
    for (uint32_t b = 0; b < n; b++) add_box(p, 64 + 7 * (b % 11), b, b + steps);
    for (uint32_t b = 0; b + 1 < n; b++) {
        const arenaut_separation pair = {b, b + 1, 5 + b % 40};
        assert_ok(arenaut_problem_add_separation(p, &pair, &err), err);
    }
    finish(p);
    return p;
}

TEST(overlaps_do_not) {
    assert_all_stop(overlapping_chain(20000, 2));
    assert_all_stop(overlapping_chain(1200, 600));
    assert_all_stop(overlapping_chain(6000, 6000));
}

TEST(slices_of_slices_do_not) {
    assert_all_stop(nest(20000));
    assert_all_stop(slices(20000));
    assert_all_stop(gap_windows(40, 600));
}

TEST(pools_do_not) {
    assert_all_stop(with_pools(80, 64, 1));
    assert_all_stop(with_pools(2000, 64, 1));
}

/* A measure of this machine at this moment, and of what its compiler adds: one look at a problem.
 */
static double seconds_to_validate(const arenaut_problem *problem) {
    enum { TIMES = 8 };
    arenaut_error err;
    const double begin = cpu_seconds();
    for (int i = 0; i < TIMES; i++) assert_ok(arenaut_problem_validate(problem, &err), err);
    return (cpu_seconds() - begin) / TIMES;
}

/* Stops at the first question, or the second, before there is a plan. */
static void assert_asks_early(const arenaut_problem *problem, uint32_t questions) {
    enum { LOOKS = 100 }; /* some 20 of an optimized build, 40 under sanitizers */
    const double most = LOOKS * seconds_to_validate(problem), first = cpu_seconds();
    patience p = {.most = questions, .last = first};
    const arenaut_plan_options options = {
        .effort = ARENAUT_NO_EFFORT_LIMIT, .progress = answer, .progress_context = &p};
    arenaut_plan *plan = NULL;
    arenaut_error err;
    assert_ok(arenaut_plan_make(problem, &options, NULL, &plan, &err), err);
    assert_plan_accepted(problem, plan);
    if (p.longest > most) {
        fail_msg("%.2f s without a question, %.2f s in all; at most %.2f", p.longest,
                 p.last - first, most);
    }
    arenaut_plan_free(plan);
}

/* Bounds look at every event for every pool and for all alignments: two hundred looks at the
 * problem without a question, when they did not ask. */
TEST(bounds_of_many_pools_and_alignments_do_not) {
    arenaut_problem *p = new_problem();
    for (uint32_t k = 0; k < ARENAUT_MAX_POOLS; k++) {
        char name[16];
        snprintf(name, sizeof name, "p%u", k);
        add_pool(p, name, ARENAUT_UNLIMITED, 1);
    }
    for (uint32_t i = 0; i < 200000; i++) {
        ADD_BUFFER(p, .size = 9 + 2 * (i * 31 % 83), LIFE(i, i + 1 + i % 5),
                   .align = UINT64_C(1) << i % 40, .pools = UINT64_C(1) << i % 64);
    }
    finish(p);
    assert_asks_early(p, 0);
    assert_asks_early(p, 1);
    arenaut_problem_free(p);
}

/* By then a hundred thousand cases wait, and each of those done is a look at all buffers and pools.
 */
TEST(pools_do_not_later_either) {
    arenaut_problem *p = with_pools(2000, 64, 5);
    assert_stops(p, "auto", 5000, true);
    arenaut_problem_free(p);
}

TEST(reserved_and_fixed_bytes_do_not) {
    assert_all_stop(reserved_ranges(20000));
    assert_all_stop(fixed_in_turn(20000));
}

TEST(edges_do_not) { assert_all_stop(edges(3000, 200)); }

TEST(tokens_do_not) { assert_all_stop(in_tokens(8000, 20)); }

/* Nine tenths of the time were without a poll, when only search steps counted: now each star is
 * settled before it comes to that. */
TEST(a_star_is_planned_in_no_time) {
    arenaut_problem *p = star(2000);
    const arenaut_plan_options options = {.planner = "skyline"};
    arenaut_plan *plan = NULL;
    arenaut_error err;
    const double before = cpu_seconds();
    assert_ok(arenaut_plan_make(p, &options, NULL, &plan, &err), err);
    assert_int_equal(plan->total, 8 * 1999);
    assert_true(cpu_seconds() - before < 3 * LONGEST);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* ---- half of a proof is none ---- */

/* Says no at the n-th question, and wants to be asked after every operation. */
typedef struct nag {
    arn_poll *poll;
    uint64_t left;
} nag;

static arenaut_verdict answer_nag(void *context) {
    nag *n = context;
    n->poll->counted = ARN_POLL_EVERY; /* again at once */
    if (n->left == 0) return ARENAUT_INTERRUPTED;
    n->left--;
    return ARENAUT_GO_ON;
}

typedef struct room_for_plan {
    uint64_t offset[16];
    uint32_t pool[16];
} room_for_plan;

/* With runs apart after so much effort; 0: after as much as ever. */
static arn_exact_output search_until(const arenaut_problem *p, uint64_t together,
                                     uint64_t questions, room_for_plan *room, bool *asked_enough) {
    arn_poll poll = {.callback = answer_nag, .counted = ARN_POLL_EVERY};
    nag n = {&poll, questions};
    const arn_exact_input in = {
        .problem = p, .arena = ARENAUT_UNPLACED, .effort = 200000, .together = together};
    arn_exact_output out = {.offset = room->offset, .pool_of = room->pool};
    arenaut_error err;
    poll.context = &n;
    assert_ok(arn_exact_run(&in, &poll, &out, &err), err);
    *asked_enough = arn_poll_ended(&poll);
    return out;
}

static void assert_lies_right(const arenaut_problem *p, const room_for_plan *room) {
    arenaut_plan *plan;
    arenaut_error err;
    assert_ok(arenaut_plan_new(p->n_buffers, p->n_pools, NULL, &plan, &err), err);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        plan->pool[b] = p->n_pools > 1 ? room->pool[b] : 0;
        plan->offset[b] = room->offset[b];
    }
    assert_true(oracle_accepts_placement(p, plan));
    arenaut_plan_free(plan);
}

/* Whatever is interrupted, and where: no bound above the smallest arena, no claim that there is
 * none, and no plan that is wrong. */
TEST(exact_search_may_be_interrupted_anywhere) {
    const uint32_t ties = ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_INSIDE;
    const uint32_t kinds[] = {ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_ALIGNMENT, ties,
                              ties | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_FIXED_OFFSETS,
                              ARENAUT_FEATURE_CONFLICTS | ARENAUT_FEATURE_RESERVED | ties,
                              ARENAUT_FEATURE_POOLS | ties};
    rng r = {31};
    for (uint32_t round = 0; round < 60; round++) {
        const problem_shape shape = {10, 6, 8, kinds[round % COUNT_OF(kinds)]};
        arenaut_problem *p = random_problem(&r, &shape);
        room_for_plan room = {{0}, {0}};
        bool ended;
        const uint64_t together = round % 2;
        const arn_exact_output whole = search_until(p, together, UINT64_MAX, &room, &ended);
        assert_false(ended);
        uint64_t step = 1;
        ended = true;
        for (uint64_t at = 0; ended && whole.stopped_by == ARENAUT_STOP_PROOF; at += step) {
            const arn_exact_output part = search_until(p, together, at, &room, &ended);
            assert_true(part.bound <= whole.arena || !ended);
            assert_true(part.arena >= whole.arena);
            if (part.stopped_by == ARENAUT_STOP_PROOF) assert_int_equal(part.arena, whole.arena);
            if (ended && whole.arena != ARENAUT_UNPLACED) {
                assert_true(part.bound != ARENAUT_UNPLACED);
            }
            if (part.improved) assert_lies_right(p, &room);
            step += step / 6 + at / 40;
        }
        arenaut_problem_free(p);
    }
}

/* ---- places that are given ---- */

static bool meet(const arenaut_problem *p, uint32_t a, uint32_t b) {
    for (int64_t t = 0; t < 40; t++) {
        if (arn_alive_at(p, a, t) && arn_alive_at(p, b, t)) return true;
    }
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const arenaut_conflict e = p->conflict[i];
        if ((e.a == a && e.b == b) || (e.a == b && e.b == a)) return true;
    }
    return false;
}

static bool lies_in(const arenaut_problem *p, uint32_t slice, uint32_t host) {
    for (; slice != ARENAUT_NONE; slice = arenaut_problem_inside(p, slice)) {
        if (slice == host) return true;
    }
    return false;
}

static bool collide(const arenaut_problem *p, const arn_given_place *x, const arn_given_place *y) {
    const uint32_t a = x->buffer, b = y->buffer;
    const bool related =
        arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a;
    if (x->space != y->space || x->first >= y->end || y->first >= x->end) return false;
    if (lies_in(p, a, b) || lies_in(p, b, a) || (related && x->first == y->first)) return false;
    return meet(p, a, b);
}

/* Hosts lie anywhere, and slices where their hosts do. */
static uint32_t draw_places(rng *r, const arenaut_problem *p, arn_given_place *places) {
    uint32_t n = 0, at[32], space[32];
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        at[b] = rng_below(r, 9);
        space[b] = rng_once_in(r, 20);
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        uint64_t first = 0;
        uint32_t root = b;
        for (; arenaut_problem_inside(p, root) != ARENAUT_NONE; root = p->inside[root]) {
            first += p->inside_delta[root];
        }
        const uint32_t base = arenaut_problem_same_base(p, root);
        if (base != ARENAUT_NONE && rng_once_in(r, 2)) at[root] = at[base];
        first += at[root];
        if (!arenaut_problem_needs_memory(p, b) || rng_once_in(r, 8)) continue;
        places[n++] = (arn_given_place){b, space[root], first, first + p->size[b]};
    }
    return n;
}

/* Against a look at every pair. */
TEST(collisions_are_those_of_pairs) {
    rng r = {32};
    uint32_t found = 0, rounds = 4000;
    for (uint32_t round = 0; round < rounds; round++) {
        const problem_shape shape = {1 + round % 24, 4, 30,
                                     ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_INSIDE |
                                         ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_CONFLICTS};
        arenaut_problem *p = random_problem(&r, &shape);
        arn_given_place places[32];
        const uint32_t n = draw_places(&r, p, places);
        arn_region region;
        arn_region_init(&region, NULL);
        arn_hosts hosts;
        arn_collision c;
        bool any = false;
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t k = 0; k < i; k++) any = any || collide(p, &places[i], &places[k]);
        }
        assert_true(arn_hosts_find(p, &region, &hosts));
        assert_true(arn_find_collision(p, &hosts, places, n, &region, &c));
        assert_int_equal(c.one != NULL, any);
        if (c.one) {
            assert_true(collide(p, c.one, c.other));
            assert_int_equal(c.bytes, arn_min_u64(c.one->end, c.other->end) -
                                          arn_max_u64(c.one->first, c.other->first));
            found++;
        }
        arn_region_free(&region);
        arenaut_problem_free(p);
    }
    assert_true(found > rounds / 10 && found < rounds - rounds / 10);
}

/* ---- empty pools ---- */

static bool is_free(const arenaut_problem *p, uint32_t pool, uint64_t address) {
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool == pool && r->first <= address && address < r->end) return false;
    }
    return true;
}

static uint64_t free_from(const arenaut_problem *p, uint32_t pool, uint64_t at, uint64_t most) {
    uint64_t n = 0;
    while (n < most && is_free(p, pool, at + n)) n++;
    return n;
}

static void assert_rooms_of(const arn_rooms *rooms, uint32_t b, uint32_t pool) {
    const arenaut_problem *p = rooms->problem;
    const uint64_t align = arenaut_problem_align(p, b), capacity = p->pool[pool].capacity;
    uint64_t lowest = arenaut_problem_fixed_offset(p, b), most = 0, bytes = 0, end = 0;
    if (lowest == ARENAUT_UNPLACED) {
        for (lowest = 0; free_from(p, pool, lowest, p->size[b]) < p->size[b];) lowest += align;
    }
    const bool fits = lowest + p->size[b] <= capacity;
    assert_int_equal(arn_lowest_end(rooms, b, pool), fits ? lowest + p->size[b] : ARENAUT_UNPLACED);
    for (uint64_t at = 0; capacity < 1000 && at < capacity; at += align) {
        most = arn_max_u64(most, free_from(p, pool, at, capacity - at));
    }
    if (capacity < 1000) assert_int_equal(arn_largest_room(rooms, b, pool), most);
    for (; bytes < p->size[b]; end++) bytes += is_free(p, pool, end);
    assert_int_equal(arn_rooms_end_of_free_bytes(rooms, pool, p->size[b]), end);
}

TEST(rooms_are_what_is_not_reserved) {
    rng r = {33};
    const problem_shape shape = {6, 12, 4,
                                 ARENAUT_FEATURE_RESERVED | ARENAUT_FEATURE_POOLS |
                                     ARENAUT_FEATURE_CAPACITY | ARENAUT_FEATURE_ALIGNMENT |
                                     ARENAUT_FEATURE_FIXED_OFFSETS};
    for (uint32_t round = 0; round < 1500; round++) {
        arenaut_problem *p = random_problem(&r, &shape);
        arn_rooms rooms;
        assert_true(arn_rooms_make(&rooms, p, NULL));
        for (uint32_t b = 0; b < p->n_buffers; b++) {
            for (uint32_t k = 0; k < p->n_pools && p->size[b]; k++) assert_rooms_of(&rooms, b, k);
        }
        arn_rooms_free(&rooms);
        arenaut_problem_free(p);
    }
}

/* ---- time without effort ---- */

/* A planner that needs four times the default effort, and notes its allowance. */
typedef struct slow {
    uint32_t rounds;
    uint64_t effort[8];
} slow;

static arenaut_status run_slow(const arenaut_planner *self, arenaut_planning *planning) {
    slow *s = (slow *)self->data;
    const uint64_t effort = planning->options->effort;
    const bool enough = effort >= 4 * arenaut_default_effort();
    arenaut_plan *plan = planning->plan;
    assert_true(s->rounds < COUNT_OF(s->effort));
    s->effort[s->rounds++] = effort;
    plan->pool[0] = plan->pool[1] = 0;
    plan->offset[1] = enough ? 8 : 64 - 8 * s->rounds;
    plan->stopped_by = enough ? ARENAUT_STOP_PROOF : ARENAUT_STOP_EFFORT;
    plan->effort = effort;
    const arenaut_progress progress = {
        .planner = "slow", .best = plan->offset[1] + 8, .effort = effort};
    if (planning->options->progress &&
        planning->options->progress(planning->options->progress_context, &progress)) {
        plan->offset[1] = 256; /* a round that was cut short is no better */
        plan->stopped_by = ARENAUT_STOP_TIME;
    }
    return ARENAUT_OK;
}

static arenaut_plan *plan_slowly(slow *s, uint64_t effort, patience *p) {
    const arenaut_planner planner = {
        .name = "slow", .handles = ARENAUT_FEATURE_ALL, .run = run_slow, .data = s};
    const box boxes[] = {{8, 0, 2}, {8, 1, 3}};
    arenaut_problem *problem = problem_of(boxes, 2);
    const arenaut_plan_options options = {
        .custom = &planner, .effort = effort, .progress = p ? answer : NULL, .progress_context = p};
    arenaut_plan *plan = NULL;
    arenaut_error err;
    assert_ok(arenaut_plan_make(problem, &options, NULL, &plan, &err), err);
    assert_plan_accepted(problem, plan);
    arenaut_problem_free(problem);
    return plan;
}

TEST(without_a_limit_rounds_go_on_until_there_is_a_proof) {
    const uint64_t once = arenaut_default_effort();
    slow s = {0};
    arenaut_plan *plan = plan_slowly(&s, ARENAUT_NO_EFFORT_LIMIT, NULL);
    assert_int_equal(s.rounds, 3);
    for (uint32_t k = 0; k < 3; k++) assert_int_equal(s.effort[k], once << k);
    assert_int_equal(plan->total, 16);
    assert_int_equal(plan->effort, 7 * once);
    assert_int_equal(plan->stopped_by, ARENAUT_STOP_PROOF);
    arenaut_plan_free(plan);
}

TEST(with_a_limit_there_is_one_round) {
    slow s = {0};
    arenaut_plan *plan = plan_slowly(&s, 0, NULL);
    assert_int_equal(s.rounds, 1);
    assert_int_equal(plan->stopped_by, ARENAUT_STOP_EFFORT);
    arenaut_plan_free(plan);
}

TEST(a_round_that_is_cut_short_does_not_lose_what_there_was) {
    slow s = {0};
    patience p = {.most = 1};
    arenaut_plan *plan = plan_slowly(&s, ARENAUT_NO_EFFORT_LIMIT, &p);
    assert_int_equal(s.rounds, 2);
    assert_int_equal(plan->total, 64);
    assert_int_equal(plan->stopped_by, ARENAUT_STOP_TIME);
    arenaut_plan_free(plan);
}
