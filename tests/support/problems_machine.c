/* Drawing problems, and holding claims against the truth. */
#include "support/problems_machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include <arenaut/arenaut.h>

#include "ir/problem.h"
#include "planners/bounds/bounds.h"
#include "support/problems_brute.h"
#include "support/random.h"

/* ---- drawing ---- */

/* A problem, and the library's own facts about it. */
typedef struct drawn {
    brute_problem p;
    int hint[BRUTE_BUFFERS];
    arenaut_class cls[BRUTE_BUFFERS];
    int device[BRUTE_POOLS];
    int64_t epoch; /* the library's step 0 */
    uint32_t traits;
    int capacity;   /* asked for in the options; 0: none */
    uint64_t scale; /* bytes of the library's for each one here */
} drawn;

typedef struct draw {
    rng r;
    uint32_t features, max_buffers;
    bool coarse; /* sizes and walls are even */
    drawn *d;
} draw;

static int below(draw *x, int limit) { return (int)rng_below(&x->r, (uint32_t)limit); }
static bool once_in(draw *x, uint32_t n) { return rng_once_in(&x->r, n); }

static int draw_bytes(draw *x, int limit) {
    return x->coarse ? below(x, limit / 2 + 1) * 2 : below(x, limit + 1);
}

static int draw_align(draw *x, int most) {
    int align = 1;
    while (align < most && once_in(x, 2)) align *= 2;
    return align;
}

static void draw_pools(draw *x) {
    brute_problem *p = &x->d->p;
    p->n_pools = x->features & ARENAUT_FEATURE_POOLS ? 1 + below(x, BRUTE_POOLS) : 1;
    const bool devices = once_in(x, 6);
    for (int k = 0; k < p->n_pools; k++) {
        const bool capped = x->features & ARENAUT_FEATURE_CAPACITY && !once_in(x, 3);
        p->pool[k].capacity = capped ? 3 + below(x, 14) : BRUTE_NOTHING;
        p->pool[k].align = x->features & ARENAUT_FEATURE_ALIGNMENT ? draw_align(x, 8) : 1;
        x->d->device[k] = devices && !once_in(x, 3);
    }
    if (x->features & ARENAUT_FEATURE_CAPACITY && once_in(x, 8)) x->d->capacity = 3 + below(x, 14);
}

enum { STEPS = 8 };

static void draw_lives(draw *x, brute_buffer *b) {
    const bool gaps = x->features & ARENAUT_FEATURE_GAPS;
    b->n_lives = gaps && once_in(x, 2) ? 1 + below(x, BRUTE_LIVES) : 1;
    if (once_in(x, 20)) b->n_lives = 0;
    for (int i = 0; i < b->n_lives; i++) {
        b->first[i] = below(x, STEPS);
        b->end[i] = b->first[i] + below(x, STEPS - b->first[i] + 1);
        if (b->end[i] == b->first[i] && !once_in(x, 4)) b->end[i]++;
    }
}

static void draw_buffer(draw *x, int b) {
    brute_problem *p = &x->d->p;
    brute_buffer *buffer = &p->buffer[b];
    const unsigned every = (1u << p->n_pools) - 1;
    *buffer = (brute_buffer){.align = 1,
                             .pools = every,
                             .fixed = BRUTE_NOTHING,
                             .same_base = BRUTE_NOTHING,
                             .inside = BRUTE_NOTHING};
    buffer->size = once_in(x, 16) ? 0 : 1 + below(x, 7);
    if (x->coarse && buffer->size) buffer->size = (buffer->size + 2) / 2 * 2;
    draw_lives(x, buffer);
    if (x->features & ARENAUT_FEATURE_ALIGNMENT) buffer->align = draw_align(x, 8);
    if (x->features & ARENAUT_FEATURE_POOLS && !once_in(x, 3)) {
        buffer->pools = 1u + (unsigned)below(x, (int)every);
    }
    if (x->features & ARENAUT_FEATURE_POOLS && once_in(x, 2)) buffer->uses = below(x, 5);
    if (x->features & ARENAUT_FEATURE_FIXED_OFFSETS && once_in(x, 4)) {
        buffer->pools = 1u << below(x, p->n_pools);
        buffer->fixed = draw_bytes(x, 14);
        if (!once_in(x, 8)) buffer->fixed -= buffer->fixed % buffer->align;
    }
    x->d->hint[b] = BRUTE_NOTHING;
    if (x->features & ARENAUT_FEATURE_HINTS && once_in(x, 2)) x->d->hint[b] = draw_bytes(x, 15);
    static const arenaut_class classes[] = {ARENAUT_INPUT, ARENAUT_OUTPUT, ARENAUT_STATE,
                                            ARENAUT_SCRATCH};
    x->d->cls[b] = once_in(x, 6) ? classes[below(x, 4)] : ARENAUT_INTERMEDIATE;
}

static int shared_steps(const brute_buffer *a, const brute_buffer *b) {
    int shared = 0;
    for (int step = 0; step <= 2 * STEPS; step++) {
        bool in_a = false, in_b = false;
        for (int i = 0; i < a->n_lives; i++) in_a |= a->first[i] <= step && step < a->end[i];
        for (int i = 0; i < b->n_lives; i++) in_b |= b->first[i] <= step && step < b->end[i];
        shared += in_a && in_b;
    }
    return shared;
}

/* Makes `b` the successor of `base` at one of its last steps, mostly; or else it need not be
 * alive together with it at all. */
static void draw_same_base(draw *x, int b, int base) {
    brute_problem *p = &x->d->p;
    brute_buffer *heir = &p->buffer[b];
    const brute_buffer *of = &p->buffer[base], before = *heir;
    if (of->n_lives && of->end[of->n_lives - 1] > 0 && !once_in(x, 5)) {
        heir->n_lives = 1;
        heir->first[0] = of->end[of->n_lives - 1] - 1;
        heir->end[0] = heir->first[0] + 1 + below(x, 3);
    }
    if (!(heir->pools & of->pools)) heir->pools = of->pools;
    if (heir->fixed != BRUTE_NOTHING && heir->pools & (heir->pools - 1)) heir->pools = before.pools;
    const bool valid = shared_steps(heir, of) <= 1 && heir->pools & of->pools;
    if (valid) heir->same_base = base;
    else *heir = before;
}

static void draw_inside(draw *x, int b, int host) {
    brute_buffer *slice = &x->d->p.buffer[b];
    const brute_buffer *of = &x->d->p.buffer[host];
    if (slice->fixed != BRUTE_NOTHING || slice->same_base != BRUTE_NOTHING) {
        if (!once_in(x, 3)) return;
        slice->fixed = BRUTE_NOTHING;
    }
    if (slice->same_base != BRUTE_NOTHING &&
        !(x->d->p.buffer[slice->same_base].pools & of->pools)) {
        return;
    }
    slice->inside = host;
    slice->pools = of->pools;
    if (slice->align > of->align) slice->align = of->align;
    slice->delta = draw_bytes(x, of->size);
    slice->delta -= slice->delta % slice->align;
    if (slice->size > of->size - slice->delta) slice->size = of->size - slice->delta;
    x->d->hint[b] = BRUTE_NOTHING;
}

/* Relations point to buffers that come before in an order drawn at random, so that there is no
 * cycle; often to the one just before, which makes chains, or to its base, which makes stars. */
static void draw_relations(draw *x) {
    brute_problem *p = &x->d->p;
    int order[BRUTE_BUFFERS];
    for (int b = 0; b < p->n_buffers; b++) {
        const int at = below(x, b + 1);
        order[b] = order[at];
        order[at] = b;
    }
    for (int i = 1; i < p->n_buffers; i++) {
        int other = order[once_in(x, 2) ? i - 1 : below(x, i)];
        const int base = p->buffer[other].same_base, host = p->buffer[other].inside;
        if (x->features & ARENAUT_FEATURE_SAME_BASE && once_in(x, 2)) {
            draw_same_base(x, order[i], base != BRUTE_NOTHING && once_in(x, 3) ? base : other);
        }
        other = order[below(x, i)];
        if (x->features & ARENAUT_FEATURE_INSIDE && once_in(x, 2)) {
            draw_inside(x, order[i], host != BRUTE_NOTHING && once_in(x, 3) ? host : other);
        }
    }
}

static bool have_edge(const brute_problem *p, int a, int b) {
    for (int i = 0; i < p->n_edges; i++) {
        if ((p->edge[i].a == a && p->edge[i].b == b) || (p->edge[i].a == b && p->edge[i].b == a)) {
            return true;
        }
    }
    return false;
}

static bool are_separated(const brute_problem *p, int a, int b) {
    for (int i = 0; i < p->n_separations; i++) {
        const int upper = p->separation[i].upper, lower = p->separation[i].lower;
        if ((upper == a && lower == b) || (upper == b && lower == a)) return true;
    }
    return false;
}

/* Distances from where nothing is forbidden to where nothing is gained, and one more. */
static void draw_separations(draw *x) {
    brute_problem *p = &x->d->p;
    const int wanted = p->n_buffers > 1 ? 1 + below(x, BRUTE_SEPARATIONS) : 0;
    for (int i = 0; i < wanted; i++) {
        const int a = below(x, p->n_buffers), b = below(x, p->n_buffers);
        if (a == b || are_separated(p, a, b)) continue;
        if (!shared_steps(&p->buffer[a], &p->buffer[b]) && !have_edge(p, a, b)) continue;
        const int lowest = -p->buffer[a].size - 1, highest = p->buffer[b].size + 1;
        p->separation[p->n_separations].upper = a;
        p->separation[p->n_separations].lower = b;
        p->separation[p->n_separations++].distance = lowest + below(x, highest - lowest + 1);
    }
}

static void draw_rest(draw *x) {
    brute_problem *p = &x->d->p;
    if (x->features & ARENAUT_FEATURE_CONFLICTS && p->n_buffers > 1) {
        p->n_edges = 1 + below(x, p->n_buffers);
        for (int i = 0; i < p->n_edges; i++) {
            p->edge[i].a = below(x, p->n_buffers - 1);
            p->edge[i].b = p->edge[i].a + 1 + below(x, p->n_buffers - 1 - p->edge[i].a);
        }
    }
    if (x->features & ARENAUT_FEATURE_RESERVED) p->n_ranges = below(x, BRUTE_RANGES + 1);
    for (int i = 0; i < p->n_ranges; i++) {
        p->range[i].pool = below(x, p->n_pools);
        p->range[i].first = draw_bytes(x, 16);
        p->range[i].end = p->range[i].first + 1 + x->coarse + draw_bytes(x, 3);
    }
    if (x->features & ARENAUT_FEATURE_SEPARATIONS) draw_separations(x);
    if (once_in(x, 8)) x->d->traits |= ARENAUT_PROBLEM_BRANCHES;
    if (once_in(x, 8)) x->d->traits |= ARENAUT_PROBLEM_SYMBOLIC;
    if (x->features & ARENAUT_FEATURE_TOKENS) x->d->traits |= ARENAUT_PROBLEM_TOKENS;
    p->tokens = x->features & ARENAUT_FEATURE_TOKENS;
    x->d->epoch = once_in(x, 4) ? -5 : 0;
}

bool differential_makes_sense(uint32_t features) {
    const uint32_t places =
        ARENAUT_FEATURE_FIXED_OFFSETS | ARENAUT_FEATURE_INSIDE | ARENAUT_FEATURE_SEPARATIONS;
    return !(features & ARENAUT_FEATURE_TOKENS) || !(features & places);
}

static drawn draw_problem(uint64_t seed, const differential_shape *shape) {
    drawn d = {.scale = 1};
    draw x = {{seed}, shape->features, shape->max_buffers, false, &d};
    x.coarse = once_in(&x, 3);
    draw_pools(&x);
    d.p.n_buffers = 1 + below(&x, (int)x.max_buffers);
    for (int b = 0; b < d.p.n_buffers; b++) draw_buffer(&x, b);
    draw_relations(&x);
    draw_rest(&x);
    return d;
}

/* ---- the library's problem ---- */

static arenaut_status add_one(const drawn *d, int b, arenaut_problem *out, arenaut_error *err) {
    const brute_buffer *buffer = &d->p.buffer[b];
    arenaut_interval lives[BRUTE_LIVES];
    arenaut_buffer add = {0};
    for (int i = 0; i < buffer->n_lives; i++) {
        lives[i].first = d->epoch + buffer->first[i];
        lives[i].end = d->epoch + buffer->end[i];
    }
    add.size = d->scale * (uint64_t)buffer->size;
    add.align = d->scale * (uint64_t)buffer->align;
    add.lifetimes = lives;
    add.n_lifetimes = (uint32_t)buffer->n_lives;
    add.cls = d->cls[b];
    add.pools = buffer->pools;
    add.uses = (uint32_t)buffer->uses;
    if (buffer->fixed != BRUTE_NOTHING)
        add.fixed_offset = arenaut_at(d->scale * (uint64_t)buffer->fixed);
    if (d->hint[b] != BRUTE_NOTHING) add.hint = arenaut_at((uint64_t)d->hint[b]);
    if (buffer->same_base != BRUTE_NOTHING) add.same_base = arenaut_id((uint32_t)buffer->same_base);
    if (buffer->inside != BRUTE_NOTHING) {
        add.inside = arenaut_id((uint32_t)buffer->inside);
        add.inside_delta = d->scale * (uint64_t)buffer->delta;
    }
    return arenaut_problem_add_buffer(out, &add, NULL, err);
}

static arenaut_status build(const drawn *d, arenaut_problem **out, arenaut_error *err) {
    arenaut_status st = arenaut_problem_new(NULL, out, err);
    for (int k = 0; k < d->p.n_pools && st == ARENAUT_OK; k++) {
        const int capacity = d->p.pool[k].capacity;
        const arenaut_pool pool = {.capacity = capacity == BRUTE_NOTHING
                                                   ? ARENAUT_UNLIMITED
                                                   : d->scale * (uint64_t)capacity,
                                   .align = d->scale * (uint64_t)d->p.pool[k].align,
                                   .device = {(uint8_t)d->device[k], 0},
                                   .closed = capacity == 0};
        st = arenaut_problem_add_pool(*out, &pool, NULL, err);
    }
    for (int b = 0; b < d->p.n_buffers && st == ARENAUT_OK; b++) st = add_one(d, b, *out, err);
    for (int i = 0; i < d->p.n_edges && st == ARENAUT_OK; i++) {
        const uint32_t a = (uint32_t)d->p.edge[i].a, b = (uint32_t)d->p.edge[i].b;
        st = arenaut_problem_add_conflict(*out, a, b, err);
    }
    for (int i = 0; i < d->p.n_ranges && st == ARENAUT_OK; i++) {
        const arenaut_reserved range = {(uint32_t)d->p.range[i].pool,
                                        d->scale * (uint64_t)d->p.range[i].first,
                                        d->scale * (uint64_t)d->p.range[i].end};
        st = arenaut_problem_add_reserved(*out, &range, err);
    }
    for (int i = 0; i < d->p.n_separations && st == ARENAUT_OK; i++) {
        const arenaut_separation pair = {(uint32_t)d->p.separation[i].upper,
                                         (uint32_t)d->p.separation[i].lower,
                                         d->p.separation[i].distance * (int64_t)d->scale};
        st = arenaut_problem_add_separation(*out, &pair, err);
    }
    if (st == ARENAUT_OK) {
        (*out)->traits = d->traits;
        st = arenaut_problem_finish(*out, err);
    }
    if (st != ARENAUT_OK) arenaut_problem_free(*out);
    return st;
}

arenaut_problem *differential_draw(uint64_t seed, const differential_shape *shape, uint64_t scale,
                                   brute_problem *truth) {
    drawn d = draw_problem(seed, shape);
    arenaut_problem *p = NULL;
    arenaut_error err;
    d.scale = scale;
    *truth = d.p;
    return build(&d, &p, &err) == ARENAUT_OK ? p : NULL;
}

/* ---- one problem under examination ---- */

typedef struct trial {
    const drawn *d;
    brute_problem truth; /* with the capacity that the options ask for */
    arenaut_problem *p;
    const differential_shape *shape;
    differential_counts *counts;
    char *message;
    uint64_t highest_bound; /* of all that was claimed: no cost is smaller */
    const char *who;        /* claims it */
    bool impossible;        /* some planner says that there is no plan at all */
    const char *who_says_so;
    uint64_t least; /* cost that was found, as in problems_brute.h; UINT64_MAX: none */
    const char *finder;
    uint64_t spent; /* by auto, or what it might have spent */
    uint64_t rival; /* cost that was found within that */
    const char *rival_name;
} trial;

static bool wrong(trial *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(t->message, 256, format, args);
    va_end(args);
    return false;
}

static brute_places places_of(const arenaut_problem *p, const arenaut_plan *plan) {
    brute_places at = {{0}, {0}};
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const bool far = plan->offset[b] > 1000000;
        at.pool[b] = plan->pool[b] < p->n_pools ? (int)plan->pool[b] : BRUTE_NOTHING;
        at.offset[b] = far ? 1000000 : (int)plan->offset[b];
    }
    return at;
}

static uint64_t cost_of(uint64_t spill, uint64_t total) {
    return spill * (uint64_t)BRUTE_SPILL + total;
}

static void claim_bound(trial *t, uint64_t bound, const char *who) {
    t->counts->bounds++;
    if (bound <= t->highest_bound) return;
    t->highest_bound = bound;
    t->who = who;
}

static bool look_at_sizes(trial *t, const arenaut_plan *plan, const brute_places *at,
                          const char *who) {
    uint64_t total = 0;
    for (int k = 0; k < t->truth.n_pools; k++) {
        const uint64_t arena = (uint64_t)brute_arena(&t->truth, at, k);
        total += arena;
        if (plan->arena[k] != arena) return wrong(t, "%s: a wrong arena of pool %d", who, k);
        if (plan->lower_bound[k] > arena) return wrong(t, "%s: bound above arena %d", who, k);
    }
    if (plan->total != total) return wrong(t, "%s: a wrong total", who);
    if (plan->total_bound > total) return wrong(t, "%s: the bound is above the total", who);
    if (plan->spill != (uint64_t)brute_spill(&t->truth, at)) {
        return wrong(t, "%s: a wrong spill", who);
    }
    if (plan->spill_bound > plan->spill) return wrong(t, "%s: the bound is above the spill", who);
    const bool reached = plan->total_bound == total && plan->spill_bound == plan->spill;
    if ((plan->quality == ARENAUT_OPTIMAL) != reached) {
        return wrong(t, "%s: optimal is a plan that reaches its bound, and no other", who);
    }
    return true;
}

/* The plan's claims about each pool, given its buffers. */
static bool look_at_pools(trial *t, const arenaut_plan *plan, const brute_places *at,
                          const char *who) {
    for (int k = 0; k < t->truth.n_pools; k++) {
        const brute_problem one = brute_one_pool(&t->truth, at, k);
        long tries = t->shape->tries;
        brute_places better;
        if (plan->lower_bound[k] == 0) continue;
        t->counts->bounds++;
        switch (brute_search(&one, (long)plan->lower_bound[k], &tries, &better)) {
            case BRUTE_FOUND:
                return wrong(t, "%s: pool %d is said to need %" PRIu64 ", but %ld will do", who, k,
                             plan->lower_bound[k], brute_cost(&one, &better));
            case BRUTE_GAVE_UP: t->counts->given_up++; break;
            case BRUTE_IMPOSSIBLE: break;
        }
    }
    return true;
}

static bool look_at_plan(trial *t, const arenaut_plan *plan, const char *who) {
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_check_plan(t->p, plan, NULL, &finding, &err);
    t->counts->plans++;
    if (plan->quality == ARENAUT_INFEASIBLE) {
        /* The checker is shown the problem as it is; the capacity asked for is not part of it. */
        if (!t->d->capacity && st != ARENAUT_OK) return wrong(t, "%s: %s", who, err.msg);
        t->impossible = true;
        t->who_says_so = who;
        return true;
    }
    const brute_places at = places_of(t->p, plan);
    const char *fault = brute_fault(&t->truth, &at);
    if (fault) return wrong(t, "%s: %s", who, fault);
    if (st != ARENAUT_OK) return wrong(t, "%s: the checker rejects it: %s", who, err.msg);
    if (!look_at_sizes(t, plan, &at, who)) return false;
    claim_bound(t, cost_of(plan->spill_bound, plan->total_bound), who);
    if (plan->quality == ARENAUT_OPTIMAL) t->counts->optima++;
    if (strcmp(who, "auto") == 0 && plan->effort > t->spent) t->spent = plan->effort;
    const uint64_t cost = cost_of(plan->spill, plan->total);
    if (cost < t->least) {
        t->least = cost;
        t->finder = who;
    }
    if (cost < t->rival && plan->effort <= t->spent) {
        t->rival = cost;
        t->rival_name = who;
    }
    return t->truth.n_pools == 1 || look_at_pools(t, plan, &at, who);
}

/* ---- planners ---- */

static arenaut_status make_plan(const trial *t, const char *planner, uint32_t threads,
                                arenaut_plan **plan, arenaut_error *err) {
    arenaut_plan_options options = {.planner = planner, .effort = t->shape->effort};
    options.threads = threads;
    options.capacity = (uint64_t)t->d->capacity;
    *plan = NULL;
    return arenaut_plan_make(t->p, &options, NULL, plan, err);
}

static bool is_answer(arenaut_status st) { return st == ARENAUT_OK || st == ARENAUT_NO_PLAN; }

static uint32_t features_used(const trial *t) {
    return arn_problem_features(t->p) | (t->d->capacity ? ARENAUT_FEATURE_CAPACITY : 0);
}

/* Whether a planner may decline: by the name of an unsupported feature, or, if memory is limited,
 * because it found nothing that fits. */
static bool may_decline(const trial *t, const arenaut_planner *planner, arenaut_status st,
                        const char *why) {
    const uint32_t features = features_used(t);
    if (st != ARENAUT_REFUSED && st != ARENAUT_NOT_FOUND && st != ARENAUT_STOPPED) return false;
    if (features & ~planner->handles) return strstr(why, "does not handle") != NULL;
    if (t->p->traits & planner->refuses) return strstr(why, "does not plan") != NULL;
    if (strstr(why, "have a device")) return strcmp(planner->name, "tvm-tokens") == 0;
    /* Out of effort before there was a plan; `auto` has one at once where any will do. */
    if (st == ARENAUT_STOPPED && strcmp(planner->name, "auto") != 0) return true;
    /* Where pools are chosen, buffers are planned apart first, and there may be no such plan. */
    const bool limited = features & ARENAUT_FEATURE_CAPACITY ||
                         ((t->p->n_separations || strcmp(planner->name, "overlap") == 0) &&
                          arenaut_problem_chooses_pools(t->p));
    return limited && strstr(why, "capacit") != NULL;
}

static bool are_equal(const arenaut_plan *a, const arenaut_plan *b) {
    for (uint32_t i = 0; i < a->n_buffers; i++) {
        if (a->pool[i] != b->pool[i] || a->offset[i] != b->offset[i]) return false;
    }
    return a->quality == b->quality && a->total_bound == b->total_bound &&
           a->spill_bound == b->spill_bound && a->stopped_by == b->stopped_by &&
           a->effort == b->effort;
}

static bool look_at_threads(trial *t, const char *name, const arenaut_plan *plan) {
    arenaut_plan *other;
    arenaut_error err = {0};
    if (!is_answer(make_plan(t, name, 3, &other, &err))) {
        return wrong(t, "%s: no plan with three threads: %s", name, err.msg);
    }
    const bool same = are_equal(plan, other);
    arenaut_plan_free(other);
    return same || wrong(t, "%s: another plan with three threads", name);
}

/* A planner that searches through everything has a proof that can be followed, but of tokens, about
 * which certificates say nothing, and of how pools are best chosen. */
static bool look_at_certificate(trial *t, const char *name, const arenaut_plan *plan) {
    arenaut_certificate *certificate = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    arenaut_status st = arenaut_certify(t->p, plan, 0, NULL, &certificate, &err);
    if (st != ARENAUT_OK) {
        const bool chosen = plan->quality != ARENAUT_INFEASIBLE && st == ARENAUT_REFUSED &&
                            arenaut_problem_chooses_pools(t->p);
        const bool fine = t->truth.tokens || plan->quality == ARENAUT_FEASIBLE || chosen;
        t->counts->uncertified++;
        return fine || wrong(t, "%s: no certificate: %.180s", name, err.msg);
    }
    t->counts->certificates++;
    st = arenaut_check_certificate(t->p, certificate, NULL, &finding, &err);
    if (certificate->bound != ARENAUT_UNPLACED) claim_bound(t, certificate->bound, name);
    arenaut_certificate_free(certificate);
    return st == ARENAUT_OK || wrong(t, "%s: %.220s", name, err.msg);
}

static bool look_closer(trial *t, const char *name, const arenaut_plan *plan) {
    const bool is_auto = strcmp(name, "auto") == 0;
    const bool searches = is_auto || strcmp(name, "exact") == 0 || strcmp(name, "overlap") == 0;
    const bool uses_threads = is_auto || strcmp(name, "local-search") == 0;
    if (searches && !t->d->capacity && !look_at_certificate(t, name, plan)) return false;
    return !uses_threads || look_at_threads(t, name, plan);
}

static bool run_planner(trial *t, const arenaut_planner *planner, arenaut_plan **plan) {
    arenaut_error err = {0};
    const arenaut_status st = make_plan(t, planner->name, 1, plan, &err);
    if (is_answer(st)) {
        if ((st == ARENAUT_OK) == ((*plan)->quality == ARENAUT_INFEASIBLE)) {
            return wrong(t, "%s: the status and the plan say different things", planner->name);
        }
        return look_at_plan(t, *plan, planner->name) && look_closer(t, planner->name, *plan);
    }
    t->counts->refusals++;
    if (may_decline(t, planner, st, err.msg)) return true;
    return wrong(t, "%s: %.200s", planner->name, err.msg);
}

static bool run_planners(trial *t) {
    arenaut_plan *best = NULL; /* auto's, the first of the table */
    bool right = true;
    for (size_t i = 0; i < arenaut_planner_count() && right; i++) {
        arenaut_plan *plan = NULL;
        right = run_planner(t, arenaut_planner_at(i), &plan);
        if (i == 0) best = plan;
        else arenaut_plan_free(plan);
    }
    const bool found = best && best->quality != ARENAUT_INFEASIBLE;
    t->counts->open += found && best->quality == ARENAUT_FEASIBLE;
    if (right && t->least != UINT64_MAX && !found) {
        right = wrong(t, "auto finds nothing, %s %" PRIu64, t->finder, t->least);
    }
    const bool fair = !t->d->capacity; /* to fit into it is all that is asked for then */
    const uint64_t cost = found ? cost_of(best->spill, best->total) : 0;
    if (right && found && fair && cost > t->rival) {
        right = wrong(t, "auto finds %" PRIu64 ", %s %" PRIu64, cost, t->rival_name, t->rival);
    }
    arenaut_plan_free(best);
    return right;
}

/* ---- the truth ---- */

/* Problems this small are solved within so much. */
enum { ENOUGH_EFFORT = 20000 };

static bool confirm(trial *t) {
    const bool nothing = t->least == UINT64_MAX;
    const long under = nothing ? BRUTE_ANY_COST : (long)t->highest_bound;
    long tries = t->shape->tries;
    brute_places at;
    if (t->impossible && !nothing) {
        return wrong(t, "%s finds no plan possible, %s has one", t->who_says_so, t->finder);
    }
    switch (brute_search(&t->truth, under, &tries, &at)) {
        case BRUTE_GAVE_UP: t->counts->given_up++; return true;
        case BRUTE_IMPOSSIBLE: t->counts->impossible += t->impossible; return true;
        case BRUTE_FOUND: break;
    }
    const long cost = brute_cost(&t->truth, &at);
    if (t->impossible) {
        return wrong(t, "%s says that there is no plan, but there is one of %ld", t->who_says_so,
                     cost);
    }
    if (nothing && t->shape->effort < ENOUGH_EFFORT) return true;
    if (nothing && t->p->n_separations && arenaut_problem_chooses_pools(t->p)) return true;
    if (nothing) return wrong(t, "no planner finds a plan, but there is one of %ld", cost);
    return wrong(t, "%s says that no plan is below %" PRIu64 ", but there is one of %ld", t->who,
                 t->highest_bound, cost);
}

/* ---- the log ---- */

static void write_one(const drawn *d, int b, FILE *log) {
    const brute_buffer *buffer = &d->p.buffer[b];
    fprintf(log, "%s\n  {\"size\": %d, \"align\": %d, \"lifetimes\": [", b ? "," : "", buffer->size,
            buffer->align);
    for (int i = 0; i < buffer->n_lives; i++) {
        fprintf(log, "%s[%d, %d]", i ? ", " : "", buffer->first[i], buffer->end[i]);
    }
    fprintf(log, "], \"uses\": %d, \"class\": \"%s\", \"allowed_pools\": [",
            buffer->uses ? buffer->uses : 1, arenaut_class_name(d->cls[b]));
    for (int k = 0, n = 0; k < d->p.n_pools; k++) {
        if (buffer->pools >> k & 1) fprintf(log, "%s%d", n++ ? ", " : "", k);
    }
    fprintf(log, "]");
    if (buffer->fixed != BRUTE_NOTHING) fprintf(log, ", \"fixed_offset\": %d", buffer->fixed);
    if (d->hint[b] != BRUTE_NOTHING) fprintf(log, ", \"hint\": %d", d->hint[b]);
    if (buffer->same_base != BRUTE_NOTHING)
        fprintf(log, ", \"same_base_as\": %d", buffer->same_base);
    if (buffer->inside != BRUTE_NOTHING) {
        fprintf(log, ", \"inside\": {\"of\": %d, \"delta\": %d}", buffer->inside, buffer->delta);
    }
    fprintf(log, "}");
}

static void write_problem(const drawn *d, FILE *log) {
    fprintf(log, "{\"schema\": \"arenaut.problem/1\", \"traits\": [");
    for (uint32_t bit = 0, n = 0; bit < ARENAUT_PROBLEM_TRAITS; bit++) {
        if (!(d->traits >> bit & 1)) continue;
        fprintf(log, "%s\"%s\"", n++ ? ", " : "", arn_problem_trait_name(bit));
    }
    fprintf(log, "],\n\"pools\": [");
    for (int k = 0; k < d->p.n_pools; k++) {
        fprintf(log, "%s{\"name\": \"p%d\", \"align\": %d", k ? ", " : "", k, d->p.pool[k].align);
        if (d->p.pool[k].capacity != BRUTE_NOTHING) {
            fprintf(log, ", \"capacity\": %d", d->p.pool[k].capacity);
        }
        fprintf(log, ", \"device\": {\"type\": %d, \"index\": 0}}", d->device[k]);
    }
    fprintf(log, "],\n\"buffers\": [");
    for (int b = 0; b < d->p.n_buffers; b++) write_one(d, b, log);
    fprintf(log, "],\n\"edges\": [");
    for (int i = 0; i < d->p.n_edges; i++) {
        fprintf(log, "%s[%d, %d]", i ? ", " : "", d->p.edge[i].a, d->p.edge[i].b);
    }
    fprintf(log, "],\n\"separations\": [");
    for (int i = 0; i < d->p.n_separations; i++) {
        fprintf(log, "%s{\"upper\": %d, \"lower\": %d, \"distance\": %d}", i ? ", " : "",
                d->p.separation[i].upper, d->p.separation[i].lower, d->p.separation[i].distance);
    }
    fprintf(log, "],\n\"reserved\": [");
    for (int i = 0; i < d->p.n_ranges; i++) {
        fprintf(log, "%s{\"pool\": %d, \"first\": %d, \"end\": %d}", i ? ", " : "",
                d->p.range[i].pool, d->p.range[i].first, d->p.range[i].end);
    }
    fprintf(log, "]}\n");
    if (d->capacity) fprintf(log, "with a capacity of %d asked for\n", d->capacity);
}

/* ---- all of it ---- */

static bool look_at_all(trial *t) {
    uint64_t bytes;
    arenaut_error err = {0};
    if (arenaut_lower_bound(t->p, NULL, &bytes, NULL, &err) != ARENAUT_OK) {
        return wrong(t, "no lower bound: %s", err.msg);
    }
    claim_bound(t, bytes, "arenaut_lower_bound");
    return run_planners(t) && confirm(t);
}

bool differential_run(uint64_t seed, const differential_shape *shape, FILE *log,
                      differential_counts *counts, char message[256]) {
    const drawn d = draw_problem(seed, shape);
    trial t = {.d = &d, .truth = d.p, .shape = shape, .counts = counts, .message = message};
    arenaut_error err = {0};
    t.least = t.rival = UINT64_MAX;
    t.spent = shape->effort;
    if (d.capacity) {
        int *capacity = &t.truth.pool[0].capacity;
        if (*capacity == BRUTE_NOTHING || *capacity > d.capacity) *capacity = d.capacity;
    }
    counts->problems++;
    if (build(&d, &t.p, &err) != ARENAUT_OK) {
        counts->refused_problems++;
        return true;
    }
    const bool right = look_at_all(&t);
    arenaut_problem_free(t.p);
    if (right) return true;
    fprintf(log, "seed %" PRIu64 ", features %#x, effort %" PRIu64 ": %s\n", seed, shape->features,
            shape->effort, message);
    write_problem(&d, log);
    return false;
}
