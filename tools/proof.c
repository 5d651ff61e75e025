/* Why no plan is below a bound: a certificate is made for the plan (src/planners/certify.c),
 * followed by the checker, and told in a word. It costs the search for the bound once more. Used by
 * bench. */
#include "proof.h"

#include <inttypes.h>
#include <stdio.h>

#include "tool.h"

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
        snprintf(text, room, "search, %s branches", with_commas(c->n_branches).text);
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

static exit_code check_proof(const tool_job *job, const arenaut_certificate *certificate,
                             bound_proof *proof) {
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_problem *problem = job->pipeline->problem;
    const arenaut_status st = arenaut_check_certificate(problem, certificate, NULL, &finding, &err);
    if (st == ARENAUT_TOO_LARGE || st == ARENAUT_STOPPED) {
        snprintf(proof->text, sizeof proof->text, "too large to check");
        return EXIT_FINE;
    }
    if (st == ARENAUT_REJECTED) {
        return complain(EXIT_BUG, job->path,
                        "the proof of the bound did not pass the checker (a bug in arenaut: please "
                        "report it): %s",
                        finding.msg);
    }
    if (st != ARENAUT_OK) return complain_error(job->path, &err);
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

exit_code prove_bound(const tool_job *job, bound_proof *proof) {
    const arenaut_problem *problem = job->pipeline->problem;
    const arenaut_plan_options options = {
        .effort = job->options->effort == NOT_GIVEN ? 0 : job->options->effort,
        .progress = heed_interrupts};
    const arenaut_plan *plan = job->pipeline->plan;
    arenaut_certificate *certificate = NULL;
    arenaut_error err = {0};
    *proof = (bound_proof){.bound = plan->quality == ARENAUT_INFEASIBLE ? ARENAUT_UNPLACED
                                                                        : plan->total_bound};
    const arenaut_status st =
        arenaut_certify_with(problem, plan, &options, NULL, &certificate, &err);
    if (st == ARENAUT_STOPPED || st == ARENAUT_REFUSED) {
        snprintf(proof->text, sizeof proof->text, "%s",
                 st == ARENAUT_STOPPED                    ? "not found again"
                 : arenaut_problem_chooses_pools(problem) ? "by search: no certificate covers pools"
                                                          : "too large to find again");
        return EXIT_FINE;
    }
    if (st != ARENAUT_OK) return complain_error(job->path, &err);
    const exit_code code = check_proof(job, certificate, proof);
    arenaut_certificate_free(certificate);
    return code;
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
