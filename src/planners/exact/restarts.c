/* The restarts of the tree in the search of one case: short runs at changing capacities in
 * randomized styles, beside one growing proof.
 *
 * How long a run takes varies wildly with its style (heavy tails: Gomes, Selman, Crato, Kautz
 * 2000), and hardly ever does a run that has gone wrong early find its way back; so runs are short,
 * little more than a node per item, and there are many. A part of them aims straight at the lower
 * bound. The others climb a ladder: they aim at the bound, then half way between bound and best
 * plan, then closer and closer to the best plan, and go back up whenever one succeeds:
 *
 *     capacity   best plan  ==========================
 *                target     - - - - - - - - - - - - -   proofs: nothing fits below?
 *                rung 2                 x    x
 *                rung 1            x              x     ordinary runs, as time goes by: two
 *                rung 0, the bound x                    fail on a rung, then one below is tried
 *
 * Beside them a proof is attempted just below the best plan, with a limit that grows each time.
 * Its no-goods, the digests of failed states, are kept from one to the next. */
#include "planners/exact/search_runs.h"

#include "core/hash.h"

enum {
    MOST_RUNGS = 63,
    EARLY_RUNS = 64,  /* of which every second aims at the bound, later every fourth, */
    NEAR = 50,        /* but if less than one part in so many is missing */
    FIRST_TRIES = 12, /* on a rung of the ladder, before the next one down */
    PROOF_SHARE = 6,  /* one part in so many of all nodes together goes into the proof */
    FIRST_PROOF = 16, /* its first limit, in ordinary runs */
    GROWTH = 2,       /* of that limit, */
    GROWTH_APART = 4, /* for runs that are apart */
    NOISES = 4,
};

/* Runs that learn from all before them try every rung: an easy problem is through before long. When
 * runs are apart, only rungs that lower the plan by much are tried at first, and one more whenever
 * none of them has succeeded. */
typedef struct ladder {
    uint32_t top, bottom; /* rungs top to bottom - 1, at first */
    uint32_t patience;    /* once these were tried, runs are longer by one part in so many */
} ladder;
static const ladder ladder_together = {0, MOST_RUNGS, 2}, ladder_apart = {1, 3, 8};

static const ladder *ladder_of(const arn_exact_schedule *x) {
    return x->apart ? &ladder_apart : &ladder_together;
}

/* ---- styles ---- */

static uint32_t draw(arn_exact_schedule *x, uint32_t limit) {
    return (uint32_t)((arn_random_next(&x->random) >> 32) % limit);
}

/* On average, weighted choice is best; runs that are apart have the weights of all before them. */
static arn_exact_choice draw_choice(arn_exact_schedule *x) {
    if (draw(x, 2)) return ARN_EXACT_FEWEST_BY_WEIGHT;
    return x->apart ? ARN_EXACT_LOWEST_BY_WEIGHT : (arn_exact_choice)draw(x, ARN_EXACT_CHOICES);
}

/* Each instance has its own styles that work. A style that has led to a packing before may do so
 * again. So half of the styles are drawn blindly, and half are recent successes, with their orders
 * disturbed a little. */
static void draw_style(arn_exact_schedule *x, arn_exact_trial *run) {
    static const uint32_t noises[NOISES] = {0, 4, 9, 24};
    const uint32_t n = x->model->n;
    if (x->n_successes > 0 && arn_exact_has(x->model, ARN_EXACT_STYLES) && draw(x, 2)) {
        const uint32_t recent =
            x->n_successes < ARN_EXACT_RECENT ? x->n_successes : ARN_EXACT_RECENT;
        const uint32_t which = x->n_successes - 1 - draw(x, recent);
        const arn_exact_success *old = &x->successes[which % ARN_EXACT_RECENT];
        run->style = old->style;
        for (uint32_t i = 0; i < n; i++) run->keys[i] = old->keys[i];
        arn_exact_disturb(&x->random, noises[1 + draw(x, NOISES - 1)], run->keys, n);
    } else {
        run->style.choice = draw_choice(x);
        run->style.from_the_end = draw(x, 3) == 0;
        run->style.look_ahead = x->apart || draw(x, 3) == 0;
        arn_exact_make_keys(x->model, draw(x, ARN_EXACT_ORDERS), run->keys);
        arn_exact_disturb(&x->random, noises[draw(x, NOISES)], run->keys, n);
    }
    run->forgets = !x->apart && draw(x, 2);
}

void arn_exact_remember(arn_exact_schedule *x, arn_exact_success *successes,
                        const arn_exact_trial *run) {
    arn_exact_success *new = &successes[x->n_successes++ % ARN_EXACT_RECENT];
    new->style = run->style;
    for (uint32_t i = 0; i < x->model->n; i++) new->keys[i] = run->keys[i];
}

/* ---- the schedule ---- */

static void climb_down(arn_exact_schedule *x) {
    const ladder *l = ladder_of(x);
    if (++x->tries < x->max_tries) return;
    x->tries = 0;
    x->rung++;
    if (x->rung < x->bottom && (x->target - x->low) >> x->rung > 0) return;
    /* Down to the lowest rung: up again, with more patience. */
    x->rung = l->top;
    if (x->bottom < MOST_RUNGS) x->bottom++;
    x->max_tries += x->max_tries / 2;
    x->run_nodes += x->run_nodes / l->patience;
}

static void climb_up(arn_exact_schedule *x) {
    x->tries = 0;
    if (x->rung > ladder_of(x)->top) x->rung--;
}

void arn_exact_part(arn_exact_schedule *x) {
    x->apart = true;
    x->tries = 0;
    x->rung = ladder_of(x)->top;
    x->bottom = ladder_of(x)->bottom;
}

static void next_ordinary(arn_exact_schedule *x, arn_exact_trial *run) {
    const int64_t gap = x->target - x->low;
    const bool often = x->runs < EARLY_RUNS || (x->apart && gap <= x->low / NEAR);
    const bool at_bound =
        x->runs % (often ? 2 : 4) == 0 || !arn_exact_has(x->model, ARN_EXACT_LADDER);
    const uint32_t rung = at_bound ? 0 : x->rung;
    x->runs++;
    draw_style(x, run);
    run->purpose = at_bound ? ARN_EXACT_AT_BOUND : ARN_EXACT_ON_LADDER;
    run->capacity = rung == 0 ? x->low : x->target - (gap >> rung);
    run->limit = x->run_nodes;
}

arn_exact_schedule arn_exact_schedule_of(const arn_exact_model *model, uint64_t seed,
                                         const arn_exact_success *successes) {
    const uint64_t run_nodes = 3 * (uint64_t)model->n / 2 + 32;
    return (arn_exact_schedule){
        .model = model,
        .random = seed,
        .successes = successes,
        .run_nodes = run_nodes,
        .max_tries = FIRST_TRIES,
        .bottom = ladder_together.bottom,
        .proof_limit = FIRST_PROOF * run_nodes,
    };
}

/* Runs that are apart have proofs beside them. */
static bool proof_is_due(const arn_exact_schedule *x) {
    if (!arn_exact_has(x->model, ARN_EXACT_RESTARTS)) return true;
    if (!arn_exact_has(x->model, ARN_EXACT_PROOFS)) return false;
    return !x->apart && x->proof_nodes + x->proof_limit <= x->nodes / PROOF_SHARE;
}

static uint64_t work_of_drawing(const arn_exact_schedule *x) {
    return 16 * (uint64_t)x->model->n + x->model->n_cliques;
}

uint64_t arn_exact_next_proof(arn_exact_schedule *x, arn_exact_trial *run) {
    draw_style(x, run);
    run->style.choice = ARN_EXACT_FEWEST_BY_WEIGHT;
    run->style.look_ahead = false;
    run->purpose = ARN_EXACT_PROOF;
    run->capacity = x->target;
    run->limit = arn_exact_has(x->model, ARN_EXACT_RESTARTS) ? x->proof_limit : UINT64_MAX;
    return work_of_drawing(x);
}

uint64_t arn_exact_next_run(arn_exact_schedule *x, arn_exact_trial *run) {
    if (proof_is_due(x)) return arn_exact_next_proof(x, run);
    next_ordinary(x, run);
    return work_of_drawing(x);
}

uint64_t arn_exact_first_run(arn_exact_schedule *x, arn_exact_trial *run) {
    draw_style(x, run);
    run->purpose = ARN_EXACT_FIRST_PLAN;
    run->capacity = x->target;
    run->limit = UINT64_MAX;
    return work_of_drawing(x);
}

void arn_exact_learn(arn_exact_schedule *x, const arn_exact_trial *run, arn_exact_verdict verdict,
                     uint64_t nodes) {
    x->nodes += nodes;
    if (verdict == ARN_EXACT_IMPOSSIBLE && run->capacity >= x->low) x->low = run->capacity + 1;
    if (run->purpose == ARN_EXACT_PROOF) {
        x->proof_nodes += nodes;
        x->proof_limit *= x->apart ? GROWTH_APART : GROWTH;
    } else if (run->purpose != ARN_EXACT_FIRST_PLAN && verdict == ARN_EXACT_FOUND) {
        climb_up(x);
    } else if (run->purpose == ARN_EXACT_ON_LADDER) {
        climb_down(x);
    }
}
