/* Whether a new plan takes the place of the old one, and the model with it inside. The rules of
 * "never worse": never larger than the baseline, never in place of another tool's plan unless
 * forced, and a model is not rewritten for nothing. What is written is first written in memory and,
 * where the file states memories, held against all its methods as if it came from elsewhere. */
#include "rewrite/transform.h"

/* Where the baseline overlaps its size says nothing: a correct plan may have to be larger. Nor
 * does it where pools are to be chosen: the baseline knows none of them, and filling the fast ones
 * may well take more in all. */
static bool is_comparable(const arenaut_pipeline *p) {
    return p->baseline.plan && !p->baseline.overlaps && !arenaut_problem_chooses_pools(p->problem);
}

static bool is_larger(const arenaut_pipeline *p) {
    if (p->memories.sized && p->baseline.plan && !p->baseline.overlaps) {
        return arn_pipeline_memory_that_grows(p) != NULL;
    }
    return is_comparable(p) && p->plan->total > p->baseline.plan->total;
}

/* Whether the plan needs less than the baseline, or repairs it. */
static bool is_better(const arenaut_pipeline *p) {
    if (!p->baseline.plan || p->baseline.overlaps) return true;
    if (p->memories.sized) return arn_pipeline_some_memory_shrinks(p);
    return !is_comparable(p) || p->plan->total < p->baseline.plan->total;
}

static arenaut_outcome outcome_in_model(const arenaut_pipeline *p, bool force) {
    const arenaut_given_plan given = p->document.program->given;
    if (p->options.exclude_io) return ARENAUT_OUTCOME_IO_ELSEWHERE;
    if (!p->target->plan_in_file) return ARENAUT_OUTCOME_NOT_OBEYED;
    /* A runtime that lives in its arena has that one; offsets in a model name no pool. */
    if (p->target->layout && p->problem->n_pools > 1) return ARENAUT_OUTCOME_POOLS;
    if (p->op_outside != ARENAUT_NONE) return ARENAUT_OUTCOME_OUTSIDE;
    if (given == ARENAUT_GIVEN_FOREIGN && !force) return ARENAUT_OUTCOME_FOREIGN;
    if (arn_pipeline_memory_that_grows(p)) return ARENAUT_OUTCOME_MEMORY_GROWS;
    if (is_larger(p)) return ARENAUT_OUTCOME_LARGER;
    if (is_better(p)) return ARENAUT_OUTCOME_WRITE;
    return given == ARENAUT_GIVEN_OURS ? ARENAUT_OUTCOME_HELD : ARENAUT_OUTCOME_NO_SMALLER;
}

/* Bytes alive at once, each value from its op to its last reader. */
static arenaut_status measure_alive(const arenaut_pipeline *p, const arenaut_problem *problem,
                                    uint64_t *bytes, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    arenaut_peak peak = {0};
    const arenaut_status st = arenaut_peak_find(problem, allocator, &peak, err);
    *bytes = peak.live_bytes - peak.shared_bytes;
    arenaut_peak_free(&peak, allocator);
    return st;
}

/* What the runtime itself needs for a problem. */
static arenaut_status measure_in_runtime(const arenaut_pipeline *p, const arenaut_problem *problem,
                                         uint64_t *bytes, arenaut_error *err) {
    arenaut_plan *plan = NULL;
    arn_budget own = arn_budget_make(0, NULL, NULL); /* nothing is searched for */
    if (p->target->plans_nothing) return measure_alive(p, problem, bytes, err);
    const arenaut_status st =
        arn_pipeline_run_incumbent(p, &own, p->target->incumbent, problem, &plan, err);
    if (st == ARENAUT_OK) *bytes = plan->total;
    arenaut_plan_free(plan);
    return st;
}

/* The bytes that the runtime needs for the transformed ops, without overrides such as joins. */
static arenaut_status measure_rewritten(const arenaut_pipeline *p, uint64_t *bytes,
                                        arenaut_error *err) {
    arenaut_pipeline_options options = arn_pipeline_without_overrides(&p->options);
    arenaut_pipeline *plain = NULL;
    options.stage = NULL;
    arn_budget own = arn_budget_make(0, NULL, NULL);
    arenaut_status st = arn_trial_new(p, &own, &options, &plain, err);
    if (st == ARENAUT_OK) st = arn_pipeline_lower_transformed(plain, err);
    if (st == ARENAUT_OK) st = measure_in_runtime(p, plain->problem, bytes, err);
    arenaut_pipeline_free(plain);
    return st;
}

/* A rewritten program is right whoever runs it; it is held against the one before in bytes that its
 * runtime needs, unless by force. */
static arenaut_status find_outcome_of_rewrite(const arenaut_pipeline *p, bool force,
                                              arenaut_outcome *outcome, arenaut_error *err) {
    uint64_t before, after = 0;
    *outcome = ARENAUT_OUTCOME_NO_SMALLER;
    if (!p->rewrite) return ARENAUT_OK;
    *outcome = ARENAUT_OUTCOME_WRITE;
    if (!p->baseline.plan || force) return ARENAUT_OK;
    arenaut_status st = ARENAUT_OK;
    before = p->baseline.plan->total;
    if (p->target->plans_nothing) st = measure_alive(p, p->baseline.problem, &before, err);
    if (st == ARENAUT_OK) st = measure_rewritten(p, &after, err);
    if (st == ARENAUT_OK && after > before) *outcome = ARENAUT_OUTCOME_LARGER;
    return st;
}

arenaut_status arenaut_pipeline_outcome(const arenaut_pipeline *p, bool into_model, bool force,
                                        arenaut_outcome *outcome, arenaut_error *err) {
    bool harmless = true;
    arenaut_status st = ARENAUT_OK;
    if (!p->plan || p->plan->quality == ARENAUT_INFEASIBLE || !p->store->compared ||
        (into_model && !p->document.program)) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "there is no plan that was made after find_baseline");
    }
    *outcome = into_model     ? outcome_in_model(p, force)
               : is_larger(p) ? ARENAUT_OUTCOME_LARGER
                              : ARENAUT_OUTCOME_WRITE;
    if (*outcome == ARENAUT_OUTCOME_NOT_OBEYED &&
        arn_transforms_encoded(&p->options, p->document.format)) {
        return find_outcome_of_rewrite(p, force, outcome, err);
    }
    const bool unknown = into_model && p->result.scratch == ARENAUT_SCRATCH_UNKNOWN && !force;
    if (*outcome == ARENAUT_OUTCOME_WRITE && unknown) {
        st = arn_pipeline_scratch_is_harmless(p, &harmless, err);
    }
    if (!harmless) *outcome = ARENAUT_OUTCOME_SCRATCH_UNKNOWN;
    return st;
}

const char *arenaut_outcome_text(arenaut_outcome outcome) {
    static const char *const texts[] = {
#define XX(name, text) text,
        ARENAUT_OUTCOME_MAP(XX)
#undef XX
    };
    return (unsigned)outcome < ARENAUT_OUTCOME_COUNT ? texts[outcome] : NULL;
}

/* What was asked of the plan is in the file now; the file must be right without it. */
static arenaut_status check_written(const arenaut_pipeline *p, const arenaut_text *bytes,
                                    arenaut_error *err) {
    const arenaut_pipeline_options options = arn_pipeline_without_overrides(&p->options);
    const arenaut_pipeline_file file = {NULL, bytes->bytes, bytes->size};
    arenaut_pipeline *written = NULL;
    arenaut_status st = arenaut_pipeline_new(&options, arn_pipeline_allocator(p), &written, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(written, &file, 1, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(written, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_find_baseline(written, err);
    if (st == ARENAUT_OK && written->baseline.overlaps) {
        const char *why = written->baseline.finding.msg;
        st = p->options.method
                 ? arn_fail(err, ARENAUT_REJECTED, 0, "the file would still be wrong: %s", why)
                 : arn_fail(err, ARENAUT_INTERNAL, 0,
                            "the file with the plan in it did not pass the checker: %s", why);
    }
    arenaut_pipeline_free(written);
    return st;
}

arenaut_status arenaut_pipeline_write(const arenaut_pipeline *p, bool force, arenaut_sink sink,
                                      arenaut_error *err) {
    const arenaut_format *format = p->document.format;
    arenaut_outcome outcome = ARENAUT_OUTCOME_WRITE;
    arenaut_text bytes = {.allocator = arn_pipeline_allocator(p)};
    arenaut_status st = arenaut_pipeline_outcome(p, true, force, &outcome, err);
    if (st != ARENAUT_OK) return st;
    if (outcome != ARENAUT_OUTCOME_WRITE) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "the file stays as it is: %s",
                        arenaut_outcome_text(outcome));
    }
    if (!format->write || !format->needs_original || p->store->n_files > 1) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "a file of the format %s holds no plan",
                        format->name);
    }
    if (p->rewrite && p->rewrite->n_ops > p->rewrite->n_ops_before && !format->holds_repeats &&
        p->rewrite->n_stages == 0) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "ops run again, which is not written into a file of the format %s",
                        format->name);
    }
    st = arn_pipeline_write_in_memory(p, &bytes, err);
    if (st == ARENAUT_OK && p->memories.rows) st = check_written(p, &bytes, err);
    if (st == ARENAUT_OK) st = arn_pipeline_check_rewritten(p, &bytes, err);
    if (st == ARENAUT_OK && !sink.put(sink.context, bytes.bytes, bytes.size)) {
        st = arn_fail(err, ARENAUT_IO, 0, "the file could not be written");
    }
    arenaut_text_free(&bytes);
    return st;
}
