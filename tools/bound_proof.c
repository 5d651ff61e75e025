/* Proofs of bounds, and plans that show that there is none. */
#include "bound_proof.h"

#include <inttypes.h>
#include <stdio.h>

#include "job.h"

/* The one line that closes a proof of buffers left out and nothing else; NULL for any other. */
static const arenaut_proof_line *only_line(const arenaut_certificate *c, uint32_t *left_out) {
    *left_out = 0;
    while (*left_out < c->n_lines && c->line[*left_out].rule == ARENAUT_PROOF_WITHOUT) ++*left_out;
    return *left_out + 1 == c->n_lines ? &c->line[*left_out] : NULL;
}

/* The premises of the proof. */
static const char *kind_of(const arenaut_problem *p, const arenaut_certificate *c) {
    uint32_t left_out;
    const arenaut_proof_line *only = only_line(c, &left_out);
    if (c->n_lines == 0) return "nothing";
    if (c->n_branches > 0) return "search";
    if (!only) return "cases";
    return only->rule == ARENAUT_PROOF_LOAD   ? "load"
           : only->rule == ARENAUT_PROOF_EDGE ? "edge"
           : p->n_separations                 ? "ranges"
                                              : "buffer";
}

static void describe(const arenaut_problem *p, const arenaut_certificate *c, bound_proof *proof) {
    char *text = proof->text;
    const size_t room = sizeof proof->text;
    uint32_t left_out;
    const arenaut_proof_line *only = only_line(c, &left_out);
    if (c->n_lines == 0) {
        snprintf(text, room, "needs none");
    } else if (c->n_branches > 0) {
        snprintf(text, room, "search, %s branch%s", with_commas(c->n_branches).text,
                 c->n_branches == 1 ? "" : "es");
    } else if (!only) {
        snprintf(text, room, "cases, %s lines", with_commas(c->n_lines).text);
    } else if (only->rule == ARENAUT_PROOF_LOAD) {
        const int n = snprintf(text, room, "load at step %" PRId64, (int64_t)only->value);
        if (left_out) snprintf(text + n, room - (size_t)n, " without %" PRIu32, left_out);
    } else if (only->rule == ARENAUT_PROOF_EDGE) {
        snprintf(text, room, "conflict %" PRIu32, only->item);
    } else {
        snprintf(text, room, p->n_separations ? "ranges of offsets" : "one buffer");
    }
}

static exit_code check_proof(const char *path, const arenaut_problem *problem,
                             const arenaut_certificate *certificate, bound_proof *proof) {
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_check_certificate(problem, certificate, NULL, &finding, &err);
    if (st == ARENAUT_TOO_LARGE || st == ARENAUT_STOPPED) {
        snprintf(proof->text, sizeof proof->text, "too large to check");
        return EXIT_FINE;
    }
    if (st == ARENAUT_REJECTED) {
        return complain(EXIT_BUG, path,
                        "the proof of the bound did not pass the checker (a bug in arenaut: please "
                        "report it): %s",
                        finding.msg);
    }
    if (st != ARENAUT_OK) return complain_error(path, &err);
    proof->kind = kind_of(problem, certificate);
    proof->lines = certificate->n_lines;
    proof->branches = certificate->n_branches;
    describe(problem, certificate, proof);
    return EXIT_FINE;
}

/* It has the planner's effort again, and no limit of time. */
static arenaut_verdict heed_interrupts(void *context, const arenaut_progress *progress) {
    (void)context;
    (void)progress;
    return interrupted() ? ARENAUT_INTERRUPTED : ARENAUT_GO_ON;
}

uint64_t bound_to_prove(const arenaut_plan *plan) {
    return plan->quality == ARENAUT_INFEASIBLE ? ARENAUT_UNPLACED : plan->total_bound;
}

exit_code prove_bound(const char *path, const arenaut_problem *problem, const arenaut_plan *plan,
                      uint64_t effort, bound_proof *proof) {
    const arenaut_plan_options options = {.effort = effort, .progress = heed_interrupts};
    arenaut_certificate *certificate = NULL;
    arenaut_error err = {0};
    *proof = (bound_proof){.bound = bound_to_prove(plan),
                           .spills = arenaut_problem_chooses_pools(problem)};
    const arenaut_status st =
        arenaut_certify_with(problem, plan, &options, NULL, &certificate, &err);
    if (st == ARENAUT_STOPPED || st == ARENAUT_REFUSED) {
        snprintf(proof->text, sizeof proof->text, "%s",
                 st == ARENAUT_STOPPED                    ? "not found again"
                 : arenaut_problem_chooses_pools(problem) ? "by search: no certificate covers pools"
                                                          : "too large to find again");
        return EXIT_FINE;
    }
    if (st != ARENAUT_OK) return complain_error(path, &err);
    const exit_code code = check_proof(path, problem, certificate, proof);
    arenaut_certificate_free(certificate);
    return code;
}

/* A pool of which `stated` says that no plan that uses the pools thus needs less, and `plan` does;
 * n_pools: none. */
static uint32_t smaller_pool(const arenaut_problem *problem, const arenaut_plan *stated,
                             const arenaut_plan *plan) {
    uint32_t k = 0;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (arenaut_problem_needs_memory(problem, b) && stated->pool[b] != plan->pool[b]) {
            return plan->n_pools;
        }
    }
    while (k < plan->n_pools && plan->arena[k] >= stated->lower_bound[k]) k++;
    return k;
}

/* Whether `plan` shows that what `stated` says of all plans is false. */
static bool contradicts(const arenaut_problem *problem, const arenaut_plan *stated,
                        const arenaut_plan *plan, arenaut_finding *finding) {
    char *msg = finding->msg;
    const size_t room = sizeof finding->msg;
    const bool none = stated->quality == ARENAUT_INFEASIBLE;
    finding->rule = none ? ARENAUT_RULE_WITNESS : ARENAUT_RULE_BOUND;
    if (none) {
        snprintf(msg, room, "the plan is called infeasible, but there is one of %" PRIu64 " bytes",
                 plan->total);
    } else if (plan->spill < stated->spill_bound) {
        snprintf(msg, room,
                 "the plan states that none spills less than %" PRIu64
                 " byte-uses, but there is one with %" PRIu64,
                 stated->spill_bound, plan->spill);
    } else if (plan->spill <= stated->spill && plan->total < stated->total_bound) {
        snprintf(msg, room,
                 "the plan states that none needs less than %" PRIu64
                 " bytes, but there is one of %" PRIu64,
                 stated->total_bound, plan->total);
    } else {
        const uint32_t k = smaller_pool(problem, stated, plan);
        if (k == plan->n_pools) return false;
        snprintf(msg, room,
                 "the plan states that none needs less than %" PRIu64 " bytes in pool %" PRIu32
                 ", but there is one of %" PRIu64,
                 stated->lower_bound[k], k, plan->arena[k]);
    }
    return true;
}

/* Looks for a plan that shows the claim to be false, with the default effort, and that the checker
 * accepts. */
static exit_code disprove(const char *path, const arenaut_problem *problem,
                          const arenaut_plan *stated, arenaut_finding *finding, bool *found) {
    const arenaut_plan_options options = {.progress = heed_interrupts};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    arenaut_status st = arenaut_plan_make(problem, &options, NULL, &plan, &err);
    *found = false;
    if (st == ARENAUT_NO_MEMORY) return complain_error(path, &err);
    if (st == ARENAUT_OK) st = arenaut_check_plan(problem, plan, NULL, finding, &err);
    if (st == ARENAUT_OK) *found = contradicts(problem, stated, plan, finding);
    arenaut_plan_free(plan);
    return interrupted() ? EXIT_INTERRUPT : EXIT_FINE;
}

bool claims_bound(const arenaut_plan *plan) {
    const arenaut_witness *w = &plan->witness;
    bool claims = plan->total_bound > 0 || plan->spill_bound > 0;
    for (uint32_t k = 0; k < plan->n_pools; k++) claims = claims || plan->lower_bound[k] > 0;
    return plan->quality == ARENAUT_INFEASIBLE ? w->n_buffers == 0 || w->bytes_over == 0 : claims;
}

/* Whether the bounds of the pools follow from that of the total: if it is reached, no pool can be
 * smaller. */
static bool proves_pools(const arenaut_plan *plan) {
    return plan->quality == ARENAUT_INFEASIBLE || plan->total_bound == plan->total ||
           (plan->n_pools == 1 && plan->lower_bound[0] <= plan->total_bound);
}

exit_code check_bound(const char *path, const arenaut_problem *problem, const arenaut_plan *plan,
                      bound_proof *proof, bool *ok, arenaut_finding *finding) {
    bool found = false;
    exit_code code = prove_bound(path, problem, plan, 0, proof);
    if (code == EXIT_FINE && !(proof->kind && proves_pools(plan))) {
        code = disprove(path, problem, plan, finding, &found);
    }
    const bool open = proof->bound == ARENAUT_UNPLACED && !proof->kind && !found;
    if (open) {
        finding->rule = ARENAUT_RULE_WITNESS;
        snprintf(finding->msg, sizeof finding->msg,
                 "the plan is called infeasible without a witness, and no proof of that was found");
    }
    *ok = !open && !found;
    return code;
}

void put_bound(const bound_proof *proof, bool of_ops, arenaut_text *out) {
    text_printf(out, "  %sproven: no plan %s%sneeds less than %s bytes (%s)\n",
                proof->kind ? "" : "not ", of_ops ? "for this order of ops " : "",
                proof->spills ? "that spills no more " : "", with_commas(proof->bound).text,
                proof->text);
}

void put_json_bound(const bound_proof *proof, arenaut_text *out) {
    text_put(out, "{\"bytes\":");
    if (proof->bound == ARENAUT_UNPLACED) text_put(out, "null");
    else text_put_json_u64(out, proof->bound);
    text_put(out, ",\"proof\":");
    put_json_proof(proof, out);
    text_put(out, "}");
}

void put_json_proof(const bound_proof *proof, arenaut_text *out) {
    if (!proof->kind) {
        text_put(out, "{\"checked\":false,\"why\":");
        text_put_json(out, proof->text);
        text_put(out, "}");
        return;
    }
    text_printf(out,
                "{\"kind\":\"%s\",\"lines\":%" PRIu32 ",\"branches\":%" PRIu32 ",\"checked\":true}",
                proof->kind, proof->lines, proof->branches);
}
