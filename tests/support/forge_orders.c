/* Forged proofs of schedules: the same as forge_certificates.c, with the lines of arenaut/order.h.
 * The schedule shown with a proof is the first one found, not the best. */
#include "support/forge_proofs.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/arenaut.h>

#include "rewrite/order/program_order.h"
#include "support/order_brute.h"
#include "support/random.h"

enum {
    MOST_LINES = 400,
    OPS = 6,
    BUFFERS = 7,
    RIGHTS = 3,
    USES = 3 * BUFFERS,
    DEPENDENCES = OPS * OPS
};

typedef struct forger {
    rng r;
    arenaut_order_problem p;
    uint64_t size[BUFFERS];
    uint8_t boundary[BUFFERS];
    arenaut_order_use uses[USES];
    arenaut_order_dependence dependences[DEPENDENCES];
    arenaut_order_right rights[RIGHTS];
    uint64_t least; /* peak over all schedules */
    uint32_t ops[OPS], n_states;
    arenaut_order order; /* with the proof being made */
    arenaut_order_line line[MOST_LINES];
    forge_counts *counts;
    FILE *log;
} forger;

typedef enum verdict { REFUSED, GOES_ON, PROVEN } verdict;

/* ---- problems ---- */

static bool is_used(const forger *f, uint32_t op, uint32_t buffer) {
    for (uint32_t i = 0; i < f->p.n_uses; i++) {
        if (f->uses[i].op == op && f->uses[i].buffer == buffer) return true;
    }
    return false;
}

static void draw_rights(forger *f) {
    for (uint32_t i = 0; i < RIGHTS; i++) {
        const arenaut_order_right r = {rng_below(&f->r, f->p.n_ops),
                                       rng_below(&f->r, f->p.n_buffers),
                                       rng_below(&f->r, f->p.n_buffers), 0};
        if (r.made == r.over || !is_used(f, r.op, r.made) || !is_used(f, r.op, r.over)) continue;
        const uint64_t made = f->size[r.made], over = f->size[r.over];
        f->rights[f->p.n_rights] = r;
        f->rights[f->p.n_rights++].bytes =
            1 + rng_below(&f->r, (uint32_t)(made < over ? made : over));
    }
}

static void draw_problem(forger *f) {
    f->p = (arenaut_order_problem){.n_ops = 2 + rng_below(&f->r, OPS - 1),
                                   .n_buffers = 2 + rng_below(&f->r, BUFFERS - 1),
                                   .size = f->size,
                                   .boundary = f->boundary,
                                   .uses = f->uses,
                                   .dependences = f->dependences,
                                   .rights = f->rights};
    for (uint32_t b = 0; b < f->p.n_buffers; b++) {
        f->size[b] = 1 + rng_below(&f->r, 8);
        f->boundary[b] = (uint8_t)(rng_once_in(&f->r, 3) ? rng_below(&f->r, 4) : 0);
        for (uint32_t n = 1 + rng_below(&f->r, 3); n > 0; n--) {
            f->uses[f->p.n_uses++] = (arenaut_order_use){rng_below(&f->r, f->p.n_ops), b};
        }
    }
    for (uint32_t op = 1; op < f->p.n_ops; op++) {
        for (uint32_t first = 0; first < op; first++) {
            if (!rng_once_in(&f->r, 5)) continue;
            f->dependences[f->p.n_dependences++] = (arenaut_order_dependence){op, first};
        }
    }
    if (rng_once_in(&f->r, 2)) draw_rights(f);
}

/* ---- the oracle ---- */

static verdict ask(forger *f) {
    arenaut_finding finding;
    arenaut_error err = {0};
    f->counts->calls++;
    const arenaut_status st = arenaut_check_order(&f->p, &f->order, NULL, &finding, &err);
    if (st == ARENAUT_OK) return PROVEN;
    return st == ARENAUT_REJECTED && finding.first == f->order.n_lines ? GOES_ON : REFUSED;
}

static verdict try_lines(forger *f, const arenaut_order_line *lines, uint32_t n) {
    const uint32_t before = f->order.n_lines;
    if (before + n > MOST_LINES) return REFUSED;
    memcpy(f->line + before, lines, n * sizeof *lines);
    f->order.n_lines += n;
    const verdict v = ask(f);
    if (v == REFUSED) f->order.n_lines = before;
    return v;
}

static verdict try_line(forger *f, uint32_t rule, uint32_t item) {
    const arenaut_order_line line = {rule, item};
    return try_lines(f, &line, 1);
}

static bool log_forgery(forger *f, const char *how) {
    f->counts->forgeries++;
    fprintf(f->log, "%s: bound %" PRIu64 ", least peak %" PRIu64 "\n", how, f->order.bound,
            f->least);
    for (uint32_t i = 0; i < f->order.n_lines; i++) {
        const arenaut_order_line *l = &f->order.lines[i];
        const char *name = arn_order_rule_name((arenaut_order_rule)l->rule);
        fprintf(f->log, "  %s %" PRIu32 "\n", name ? name : "(no rule)", l->item);
    }
    return false;
}

/* ---- lines ---- */

/* Committed ops: AHEAD or BACK, and a few RUN. */
static verdict try_run_for_good(forger *f, bool searching) {
    arenaut_order_line lines[4];
    const uint32_t n = 1 + rng_below(&f->r, 3);
    const bool back = !searching && rng_once_in(&f->r, 2);
    lines[0] = (arenaut_order_line){back ? ARENAUT_ORDER_BACK : ARENAUT_ORDER_AHEAD, n};
    for (uint32_t i = 1; i <= n; i++) {
        lines[i] = (arenaut_order_line){ARENAUT_ORDER_RUN, rng_below(&f->r, f->p.n_ops)};
    }
    const verdict v = try_lines(f, lines, n + 1);
    if (v != REFUSED) f->n_states += searching;
    return v;
}

static verdict try_any(forger *f, bool *searching) {
    const uint32_t kind = rng_below(&f->r, 20), op = rng_below(&f->r, f->p.n_ops);
    verdict v = REFUSED;
    if (kind < 4 && !*searching) {
        v = try_line(f, ARENAUT_ORDER_SEARCH, rng_below(&f->r, 2));
        *searching = v != REFUSED;
    } else if (kind < 7) {
        v = try_run_for_good(f, *searching);
    } else if (kind < 9) {
        v = try_line(f, ARENAUT_ORDER_SAFE, op);
    } else if (kind < 13) {
        v = try_line(f, ARENAUT_ORDER_EACH, 0);
        if (v != REFUSED) f->n_states++;
    } else if (kind < 17) {
        v = try_line(f, ARENAUT_ORDER_RUN, op);
    } else {
        v = try_line(f, ARENAUT_ORDER_SAME, rng_below(&f->r, f->n_states + 1));
    }
    return v;
}

static bool build(forger *f) {
    enum { TRIES = 40 };
    bool searching = false;
    f->order.lines = f->line;
    f->order.n_lines = f->n_states = 0;
    for (uint32_t op = 0; op < f->p.n_ops; op++) {
        if (try_line(f, ARENAUT_ORDER_CUT, op) == PROVEN) return true;
        f->order.n_lines = 0;
    }
    for (;;) {
        verdict v = searching ? try_line(f, ARENAUT_ORDER_END, 0) : REFUSED;
        for (uint32_t i = 0; i < TRIES && v == REFUSED; i++) v = try_any(f, &searching);
        if (v != GOES_ON) return v == PROVEN;
    }
}

/* ---- claims ---- */

static bool build_false(forger *f) {
    for (uint32_t i = 0; i < 3; i++) {
        f->order.bound = f->least + 1 + (i ? rng_below(&f->r, 8) : 0);
        f->counts->built++;
        if (build(f)) return log_forgery(f, "built line by line");
    }
    return true;
}

static void build_true(forger *f) {
    enum { ATTEMPTS = 10 };
    f->order.bound = f->least;
    if (f->least == 0) return;
    f->counts->truths++;
    for (uint32_t i = 0; i < ATTEMPTS; i++) {
        if (!build(f)) continue;
        f->counts->proven++;
        return;
    }
}

static void change_line(forger *f) {
    const uint32_t at = rng_below(&f->r, f->order.n_lines);
    const arenaut_order_line fresh = {rng_below(&f->r, ARENAUT_ORDER_RULE_COUNT),
                                      rng_once_in(&f->r, 30) ? UINT32_MAX : rng_below(&f->r, 8)};
    const size_t behind = f->order.n_lines - at;
    switch (rng_below(&f->r, 4)) {
        case 0: f->line[at].rule = fresh.rule; break;
        case 1: f->line[at].item = fresh.item; break;
        case 2:
            memmove(f->line + at, f->line + at + 1, (behind - 1) * sizeof *f->line);
            f->order.n_lines--;
            break;
        default:
            if (f->order.n_lines == MOST_LINES) break;
            memmove(f->line + at + 1, f->line + at, behind * sizeof *f->line);
            f->line[at] = fresh;
            f->order.n_lines++;
            break;
    }
}

static bool try_mutants(forger *f, const arenaut_order *proof) {
    const uint32_t n = proof->n_lines < MOST_LINES / 2 ? proof->n_lines : MOST_LINES / 2;
    for (uint32_t i = 0; i < 30; i++) {
        if (n) memcpy(f->line, proof->lines, n * sizeof *f->line);
        f->order.lines = f->line;
        f->order.n_lines = n;
        f->order.bound = f->least + 1 + rng_below(&f->r, 8);
        for (uint32_t k = rng_below(&f->r, 4); k > 0 && f->order.n_lines; k--) change_line(f);
        f->counts->mutants++;
        if (ask(f) == PROVEN) return log_forgery(f, "a mutant");
    }
    return true;
}

/* The given order and its peak, which the checker reveals by refusing all others. */
static bool find_peak(forger *f) {
    arenaut_finding finding;
    arenaut_error err = {0};
    for (uint32_t i = 0; i < f->p.n_ops; i++) f->ops[i] = i;
    f->order = (arenaut_order){.n_ops = f->p.n_ops, .ops = f->ops, .lines = f->line};
    for (f->order.peak = 0; f->order.peak <= 8 * BUFFERS; f->order.peak++) {
        if (arenaut_check_order(&f->p, &f->order, NULL, &finding, &err) == ARENAUT_OK) return true;
    }
    return false;
}

static bool try_all(forger *f) {
    arenaut_order *found = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    bool right = find_peak(f);
    f->counts->problems++;
    if (arenaut_order_find(&f->p, NULL, NULL, &found, &err) != ARENAUT_OK) return false;
    right = right && found->bound <= f->least && found->peak >= f->least &&
            arenaut_check_order(&f->p, found, NULL, &finding, &err) == ARENAUT_OK;
    f->counts->calls++;
    f->counts->certified++;
    if (!right) fprintf(f->log, "arenaut_order_find: bound %" PRIu64 "\n", found->bound);
    right = right && try_mutants(f, found);
    arenaut_order_free(found);
    if (!right || !build_false(f)) return false;
    if (rng_once_in(&f->r, 4)) build_true(f);
    return true;
}

bool forge_orders(uint64_t seed, FILE *log, forge_counts *counts) {
    forger f = {.r = {seed}, .counts = counts, .log = log};
    draw_problem(&f);
    f.least = order_brute_peak(&f.p);
    const bool right = try_all(&f);
    if (!right) fprintf(log, "orders, seed %" PRIu64 "\n", seed);
    return right;
}
