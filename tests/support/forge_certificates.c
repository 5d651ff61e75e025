/* Forging certificates: the random search for lines, and the changing of true ones. */
#include "support/forge_proofs.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/arenaut.h>

#include "ir/certificate.h"
#include "support/problems_brute.h"
#include "support/problems_machine.h"
#include "support/random.h"

enum {
    MOST_LINES = 400,
    MOST_TRIES = 100000, /* offsets, of a search through all places */
    MOST_STEPS = 12,
    ANY_TOTAL = 40, /* where there is no plan, bounds are drawn as if this was the total */
};

typedef struct forger {
    rng r;
    arenaut_problem *p;
    brute_problem truth;
    uint64_t scale;
    uint64_t total; /* the least, ARENAUT_UNPLACED: there is no plan */
    uint32_t flavour;
    int64_t steps[MOST_STEPS]; /* at which a buffer begins */
    uint32_t n_steps;
    arenaut_certificate c; /* being made */
    arenaut_proof_line line[MOST_LINES];
    forge_counts *counts;
    FILE *log;
} forger;

typedef enum verdict { REFUSED, GOES_ON, PROVEN } verdict;

/* ---- the oracle ---- */

static verdict ask(forger *f) {
    arenaut_finding finding;
    arenaut_error err = {0};
    f->counts->calls++;
    const arenaut_status st = arenaut_check_certificate(f->p, &f->c, NULL, &finding, &err);
    if (st == ARENAUT_OK) return PROVEN;
    const bool open = st == ARENAUT_REJECTED && strstr(err.msg, "ends before its proof does");
    return open ? GOES_ON : REFUSED;
}

static verdict try_line(forger *f, uint32_t rule, uint32_t item, uint64_t value) {
    if (f->c.n_lines == MOST_LINES) return REFUSED;
    f->line[f->c.n_lines++] = (arenaut_proof_line){rule, item, value};
    const verdict v = ask(f);
    if (v == REFUSED) f->c.n_lines--;
    return v;
}

static bool is_false(const forger *f) { return f->total != ARENAUT_UNPLACED; }

static bool log_forgery(forger *f, const char *how) {
    f->counts->forgeries++;
    fprintf(f->log, "%s: bound %" PRIu64 ", least total %" PRIu64 ", scale %" PRIu64 "\n", how,
            f->c.bound, f->total, f->scale);
    for (uint32_t b = 0; b < f->p->n_buffers; b++) {
        fprintf(f->log, "  buffer %" PRIu32 ": %" PRIu64 " bytes, pools %" PRIu64 "\n", b,
                f->p->size[b], arenaut_problem_pools(f->p, b));
    }
    for (uint32_t i = 0; i < f->c.n_lines; i++) {
        const arenaut_proof_line *l = &f->c.line[i];
        const char *name = arn_proof_rule_name((arenaut_proof_rule)l->rule);
        fprintf(f->log, "  %s %" PRIu32 " %" PRIu64 "\n", name ? name : "(no rule)", l->item,
                l->value);
    }
    return false;
}

/* ---- lines ---- */

/* Sources of the drawn items and values. */
typedef enum source { NOTHING, BUFFER, POOL, POOL_SET, STEP, BYTES, EDGE, LINE } source;

typedef struct row {
    uint32_t rule;
    source item, value;
    uint32_t weight;
    uint32_t flavours; /* bit k: only proofs of flavour k have it */
} row;

enum {
    FLAVOURS = 6,
    ANY_FLAVOUR = (1 << FLAVOURS) - 1,
    PLACES = 2,
    SIDES = 4,
    LESS = 8,
    CASES = 48
};

static const row openings[] = {
    {ARENAUT_PROOF_PLACE, BUFFER, NOTHING, 20, ANY_FLAVOUR},
    {ARENAUT_PROOF_REJECT, NOTHING, NOTHING, 12, ANY_FLAVOUR},
    {ARENAUT_PROOF_ALIKE, BUFFER, BUFFER, 4, ANY_FLAVOUR},
    {ARENAUT_PROOF_BRANCH, NOTHING, NOTHING, 10, ANY_FLAVOUR},
    {ARENAUT_PROOF_KEPT, NOTHING, NOTHING, 4, ANY_FLAVOUR},
    {ARENAUT_PROOF_JOIN, BUFFER, NOTHING, 10, ANY_FLAVOUR},
    {ARENAUT_PROOF_POOL, BUFFER, NOTHING, 6, ANY_FLAVOUR},
    {ARENAUT_PROOF_ARENA, POOL, BYTES, 6, ANY_FLAVOUR},
    {ARENAUT_PROOF_POOLS, NOTHING, POOL_SET, 8, ANY_FLAVOUR},
    {ARENAUT_PROOF_WITHOUT, BUFFER, NOTHING, 4, LESS | SIDES},
    {ARENAUT_PROOF_FROM, NOTHING, STEP, 3, LESS},
    {ARENAUT_PROOF_UNTIL, NOTHING, STEP, 3, LESS},
    {ARENAUT_PROOF_ABOVE, BUFFER, BUFFER, 16, SIDES | CASES | 1},
    {ARENAUT_PROOF_LEVEL, BUFFER, BUFFER, 6, SIDES | CASES | 1},
    {ARENAUT_PROOF_HIGH, BUFFER, BYTES, 8, SIDES | CASES | 1},
};

enum { N_OPENINGS = sizeof openings / sizeof *openings };

/* Now and then a number that means something special somewhere, or is past all that exists. */
static uint64_t odd_number(forger *f) {
    static const uint64_t odd[] = {
        UINT64_MAX, UINT64_MAX - 1, ARENAUT_SIZE_MAX, ARENAUT_SIZE_MAX + 1, UINT32_MAX, 0, 64,
    };
    return odd[rng_below(&f->r, sizeof odd / sizeof *odd)];
}

static uint64_t draw_number(forger *f, source from) {
    const uint64_t top = is_false(f) ? f->total / f->scale : ANY_TOTAL;
    if (from != NOTHING && rng_once_in(&f->r, 50)) return odd_number(f);
    switch (from) {
        case BUFFER: return rng_below(&f->r, f->p->n_buffers);
        case POOL: return rng_below(&f->r, f->p->n_pools);
        case POOL_SET: return 1 + rng_below(&f->r, (1u << f->p->n_pools) - 1);
        case STEP: return f->n_steps ? (uint64_t)f->steps[rng_below(&f->r, f->n_steps)] : 0;
        case BYTES: return rng_below(&f->r, (uint32_t)top + 2) * f->scale;
        case EDGE: return rng_below(&f->r, f->p->n_conflicts);
        case LINE: return rng_below(&f->r, f->c.n_lines + 1);
        default: return 0;
    }
}

/* Any line that closes the open case. */
static verdict try_closing(forger *f) {
    verdict v = try_line(f, ARENAUT_PROOF_DEAD, 0, 0);
    for (uint32_t i = 0; i < f->n_steps && v == REFUSED; i++) {
        v = try_line(f, ARENAUT_PROOF_LOAD, 0, (uint64_t)f->steps[i]);
    }
    for (uint32_t i = 0; i < f->n_steps && v == REFUSED; i++) {
        v = try_line(f, ARENAUT_PROOF_OVER, 0, (uint64_t)f->steps[i]);
    }
    for (uint32_t i = 0; i < f->p->n_conflicts && v == REFUSED; i++) {
        v = try_line(f, ARENAUT_PROOF_EDGE, i, 0);
    }
    for (uint32_t i = 0; i < f->c.n_lines && v == REFUSED; i++) {
        if (f->line[i].rule == ARENAUT_PROOF_KEPT) v = try_line(f, ARENAUT_PROOF_SAME, 0, i);
    }
    return v;
}

static verdict try_opening(forger *f) {
    const row *o = &openings[rng_below(&f->r, N_OPENINGS)];
    if (!(o->flavours >> f->flavour & 1) || rng_below(&f->r, 20) >= o->weight) return REFUSED;
    return try_line(f, o->rule, (uint32_t)draw_number(f, o->item), draw_number(f, o->value));
}

/* Builds a proof of f->c.bound from nothing, greedily and blindly. */
static bool build(forger *f, uint32_t most_lines) {
    enum { TRIES = 60 };
    f->c.line = f->line;
    f->c.n_lines = 0;
    f->flavour = rng_below(&f->r, FLAVOURS);
    while (f->c.n_lines < most_lines) {
        verdict v = rng_once_in(&f->r, 8) ? REFUSED : try_closing(f);
        for (uint32_t i = 0; i < TRIES && v == REFUSED; i++) v = try_opening(f);
        if (v != GOES_ON) return v == PROVEN;
    }
    return false;
}

/* ---- claims ---- */

/* The least total of arenas; false if that is too much to search. */
static bool find_total(forger *f) {
    brute_places at;
    long tries = MOST_TRIES, below = BRUTE_ANY_COST;
    brute_answer answer;
    f->truth.spills_free = true;
    while ((answer = brute_search(&f->truth, below, &tries, &at)) == BRUTE_FOUND) {
        below = brute_cost(&f->truth, &at);
    }
    f->total = below == BRUTE_ANY_COST ? ARENAUT_UNPLACED : (uint64_t)below * f->scale;
    return answer == BRUTE_IMPOSSIBLE;
}

static void list_steps(forger *f) {
    const arenaut_problem *p = f->p;
    f->n_steps = 0;
    for (uint32_t i = 0; i < p->n_lifetimes && f->n_steps < MOST_STEPS; i++) {
        bool known = false;
        for (uint32_t k = 0; k < f->n_steps; k++) known |= f->steps[k] == p->lifetime[i].first;
        if (!known) f->steps[f->n_steps++] = p->lifetime[i].first;
    }
}

static uint64_t false_bound(forger *f) {
    if (rng_once_in(&f->r, 4)) return ARENAUT_UNPLACED;
    return f->total + 1 + rng_below(&f->r, 4) * f->scale;
}

static bool build_false(forger *f) {
    for (uint32_t i = 0; i < 3; i++) {
        f->c.bound = i == 0 ? f->total + 1 : false_bound(f);
        f->counts->built++;
        if (build(f, rng_once_in(&f->r, 5) ? 300 : 60)) return log_forgery(f, "built line by line");
    }
    return true;
}

static void build_true(forger *f) {
    enum { ATTEMPTS = 16 };
    f->c.bound = f->total;
    if (f->total == 0) return;
    f->counts->truths++;
    for (uint32_t i = 0; i < ATTEMPTS; i++) {
        if (!build(f, 80)) continue;
        f->counts->proven++;
        return;
    }
}

static void insert_line(forger *f, uint32_t at, arenaut_proof_line line) {
    if (f->c.n_lines == MOST_LINES) return;
    memmove(f->line + at + 1, f->line + at, (f->c.n_lines - at) * sizeof *f->line);
    f->line[at] = line;
    f->c.n_lines++;
}

static void remove_lines(forger *f, uint32_t at, uint32_t n) {
    if (n > f->c.n_lines - at) n = f->c.n_lines - at;
    memmove(f->line + at, f->line + at + n, (f->c.n_lines - at - n) * sizeof *f->line);
    f->c.n_lines -= n;
}

static void change_line(forger *f) {
    const uint32_t at = rng_below(&f->r, f->c.n_lines), with = rng_below(&f->r, f->c.n_lines);
    const arenaut_proof_line was = f->line[at];
    const arenaut_proof_line fresh = {rng_below(&f->r, ARENAUT_PROOF_COUNT),
                                      (uint32_t)draw_number(f, BUFFER), draw_number(f, STEP)};
    switch (rng_below(&f->r, 7)) {
        case 0: f->line[at].rule = fresh.rule; break;
        case 1: f->line[at].item = fresh.item; break;
        case 2: f->line[at].value = draw_number(f, BYTES); break;
        case 3: remove_lines(f, at, 1 + rng_below(&f->r, 4)); break;
        case 4: insert_line(f, at, fresh); break;
        case 5: insert_line(f, with, was); break;
        default:
            f->line[at] = f->line[with];
            f->line[with] = was;
            break;
    }
}

static bool try_mutants(forger *f, const arenaut_certificate *proof) {
    const uint32_t n = proof->n_lines < MOST_LINES / 2 ? proof->n_lines : MOST_LINES / 2;
    for (uint32_t i = 0; i < 40; i++) {
        if (n) memcpy(f->line, proof->line, n * sizeof *f->line);
        f->c.line = f->line;
        f->c.n_lines = n;
        f->c.bound = false_bound(f);
        for (uint32_t k = rng_below(&f->r, 4); k > 0 && f->c.n_lines; k--) change_line(f);
        f->counts->mutants++;
        if (ask(f) == PROVEN) return log_forgery(f, "a mutant");
    }
    return true;
}

/* The library's own proof of the problem, and its mutations. */
static bool try_certificate(forger *f, const arenaut_plan *plan) {
    arenaut_certificate *proof = NULL;
    arenaut_error err = {0};
    if (arenaut_certify(f->p, plan, 0, NULL, &proof, &err) != ARENAUT_OK) return true;
    arenaut_finding finding;
    bool right = arenaut_check_certificate(f->p, proof, NULL, &finding, &err) == ARENAUT_OK;
    f->counts->calls++;
    f->counts->certified++;
    if (is_false(f) && (proof->bound == ARENAUT_UNPLACED || proof->bound > f->total)) right = false;
    f->c = *proof;
    if (!right) right = log_forgery(f, "arenaut_certify");
    else if (is_false(f)) right = try_mutants(f, proof);
    arenaut_certificate_free(proof);
    return right;
}

static bool try_all(forger *f) {
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    f->counts->problems++;
    (void)arenaut_plan_make(f->p, NULL, NULL, &plan, &err);
    const bool right = !plan || try_certificate(f, plan);
    arenaut_plan_free(plan);
    f->c = (arenaut_certificate){.problem = arn_problem_digest(f->p)};
    if (!right || (is_false(f) && !build_false(f))) return false;
    if (rng_once_in(&f->r, 4)) build_true(f);
    return true;
}

bool forge_certificates(uint64_t seed, FILE *log, forge_counts *counts) {
    enum { ALL = (1 << DIFFERENTIAL_FEATURES) - 1 };
    forger f = {.r = {seed}, .counts = counts, .log = log, .scale = 1};
    differential_shape shape = {.max_buffers = 5};
    shape.features = (uint32_t)rng_next(&f.r) & ALL & ~(uint32_t)ARENAUT_FEATURE_TOKENS;
    if (rng_once_in(&f.r, 2)) shape.features &= (uint32_t)rng_next(&f.r);
    if (rng_once_in(&f.r, 5)) f.scale = UINT64_C(1) << (8 + rng_below(&f.r, 46));
    f.p = differential_draw(rng_next(&f.r), &shape, f.scale, &f.truth);
    if (!f.p || !find_total(&f)) {
        counts->skipped++;
        arenaut_problem_free(f.p);
        return true;
    }
    list_steps(&f);
    const bool right = try_all(&f);
    if (!right) fprintf(log, "certificates, seed %" PRIu64 "\n", seed);
    arenaut_problem_free(f.p);
    return right;
}
