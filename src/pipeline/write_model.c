/* Writing of a model with its plan, under the rules of *never worse*: never larger than the
 * baseline, never in place of another tool's plan unless forced, and no model is rewritten for
 * nothing. It is first written in memory and, if the file states memories, held against all its
 * methods as if it came from elsewhere; a transformed program is validated once more. */
#include "rewrite/transform.h"

#include <inttypes.h>

#include <arenaut/expr.h>

#include "ir/program.h"
#include "passes/recover/recover.h"
#include "rewrite/order/program_order.h"
#include "rewrite/order/schedule_problem.h"

/* The size of a baseline that overlaps says nothing: a correct plan may have to be larger. Nor does
 * it if it misses a demand, or if pools are to be chosen: the baseline knows none of them, and
 * filling the fast ones may well take more in all. */
static bool is_comparable(const arenaut_pipeline *p) {
    return p->baseline.plan && !p->baseline.overlaps && !p->store->misses_demand &&
           !arenaut_problem_chooses_pools(p->problem);
}

/* Where methods work in the same memories, their sum counts, and not the size that each states. */
static bool is_known_to_be_larger(const arenaut_pipeline *p) {
    const arenaut_plan *baseline = p->baseline.plan;
    return baseline && !p->baseline.overlaps && p->plan->total > baseline->total;
}

static bool is_larger(const arenaut_pipeline *p) {
    if (p->store->apart) return is_known_to_be_larger(p);
    if (p->memories.sized && p->baseline.plan && !p->baseline.overlaps) {
        return arn_pipeline_memory_that_grows(p) != NULL;
    }
    return is_comparable(p) && p->plan->total > p->baseline.plan->total;
}

/* True if the plan needs less than the baseline, or repairs it. Bytes, and not the objective: the
 * promise is that a file never needs more of them. */
static bool is_better(const arenaut_pipeline *p) {
    if (!p->baseline.plan || p->baseline.overlaps) return true;
    if (p->store->runtime) return true; /* a state of each method becomes one */
    if (p->store->apart) return p->plan->total < p->baseline.plan->total;
    if (p->memories.sized) return arn_pipeline_some_memory_shrinks(p);
    return !is_comparable(p) || p->plan->total < p->baseline.plan->total;
}

static arenaut_outcome outcome_in_model(const arenaut_pipeline *p, bool force) {
    const arenaut_given_plan given = p->document.program->given;
    if (p->options.exclude_io) return ARENAUT_OUTCOME_IO_ELSEWHERE;
    if (!p->target->plan_in_file) return ARENAUT_OUTCOME_NOT_OBEYED;
    /* A runtime that lives in its arena has that one; offsets in a model name no pool. */
    if (p->target->layout && p->problem->n_pools > 1) return ARENAUT_OUTCOME_POOLS;
    if (p->store->apart && p->options.n_pools > 0) return ARENAUT_OUTCOME_POOLS;
    if (p->op_outside != ARENAUT_NONE) return ARENAUT_OUTCOME_OUTSIDE;
    if (given == ARENAUT_GIVEN_FOREIGN && !force) return ARENAUT_OUTCOME_FOREIGN;
    if (arn_pipeline_memory_that_grows(p)) return ARENAUT_OUTCOME_MEMORY_GROWS;
    if (is_larger(p)) return ARENAUT_OUTCOME_LARGER;
    if (is_better(p)) return ARENAUT_OUTCOME_WRITE;
    return given == ARENAUT_GIVEN_OURS ? ARENAUT_OUTCOME_HELD : ARENAUT_OUTCOME_NO_SMALLER;
}

/* The bytes that the runtime itself needs for a problem. */
static arenaut_status measure_in_runtime(const arenaut_pipeline *p, const arenaut_problem *problem,
                                         uint64_t *bytes, arenaut_error *err) {
    arenaut_plan *plan = NULL;
    arn_budget own = arn_budget_make(0, NULL, NULL); /* nothing is searched for */
    if (p->target->plans_nothing) return arn_pipeline_measure_alive(p, problem, bytes, err);
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
    arenaut_status st = arn_trial_lower(p, &own, &options, ARN_AS_IS, &plain, err);
    if (st == ARENAUT_OK) st = measure_in_runtime(p, plain->problem, bytes, err);
    arenaut_pipeline_free(plain);
    return st;
}

/* A transformed program is right in any runtime; it is held against the one before in bytes that
 * its runtime needs, unless by force. */
static arenaut_status find_outcome_of_rewrite(const arenaut_pipeline *p, bool force,
                                              arenaut_outcome *outcome, arenaut_error *err) {
    uint64_t before, after = 0;
    *outcome = ARENAUT_OUTCOME_NO_SMALLER;
    if (!p->rewrite) return ARENAUT_OK;
    *outcome = ARENAUT_OUTCOME_WRITE;
    if (!p->baseline.plan || force) return ARENAUT_OK;
    arenaut_status st = ARENAUT_OK;
    before = p->baseline.plan->total;
    if (p->target->plans_nothing)
        st = arn_pipeline_measure_alive(p, p->baseline.problem, &before, err);
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
        (p->store->gave_up || arn_transforms_encoded(&p->options, p->document.format))) {
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

/* ---- a written file, read back ---- */

typedef struct match {
    const arenaut_program *before, *after;
    arenaut_origin *origins; /* per tensor of `after` */
    bool *taken;             /* per tensor of `before` */
    bool *known;             /* per tensor of `after` */
} match;

/* `same`: it is that tensor, else a copy of it. */
static void pair(match *m, uint32_t before, uint32_t after, bool same) {
    if (before == ARENAUT_NONE || after == ARENAUT_NONE || m->known[after] ||
        (same && m->taken[before])) {
        return;
    }
    m->origins[after] = (arenaut_origin){.tensor = before, .same = same, .axis = ARENAUT_NONE};
    m->taken[before] = m->taken[before] || same;
    m->known[after] = true;
}

static void pair_lists(match *m, const uint32_t *before, uint32_t n_before, const uint32_t *after,
                       uint32_t n_after) {
    for (uint32_t i = 0; i < n_before && i < n_after; i++) pair(m, before[i], after[i], true);
}

/* The arguments of an op as it was made: the first run of an op in the file may make the copies,
 * and a later one the tensors that the file had before. */
static void pair_made(match *m, const arenaut_rewrite *made, const uint32_t *arguments,
                      uint32_t n_made, const uint32_t *after, uint32_t n_after) {
    for (uint32_t i = 0; i < n_made && i < n_after; i++) {
        if (arguments[i] == ARENAUT_NONE) continue;
        const arenaut_origin origin = made->tensors[arguments[i]];
        pair(m, origin.tensor, after[i], origin.same);
    }
}

/* Without arguments, only views became copies. */
static void pair_ops(match *m, const arenaut_rewrite *made) {
    const uint32_t *arguments = made->arguments;
    for (uint32_t i = 0; i < made->n_ops && i < m->after->n_ops; i++) {
        const arenaut_op *old = &m->before->ops[made->ops[i]], *new = &m->after->ops[i];
        if (!arguments) {
            pair_lists(m, old->inputs, old->n_inputs, new->inputs, new->n_inputs);
            pair_lists(m, old->outputs, old->n_outputs, new->outputs, new->n_outputs);
            continue;
        }
        pair_made(m, made, arguments, old->n_inputs, new->inputs, new->n_inputs);
        arguments += old->n_inputs;
        pair_made(m, made, arguments, old->n_outputs, new->outputs, new->n_outputs);
        arguments += old->n_outputs;
    }
}

/* A tensor that no op names keeps its place among its like. */
static void pair_rest(match *m) {
    uint32_t before = 0;
    for (uint32_t t = 0; t < m->after->n_tensors; t++) {
        if (m->known[t]) continue;
        while (before < m->before->n_tensors && m->taken[before]) before++;
        if (before < m->before->n_tensors) pair(m, before, t, true);
    }
}

static arenaut_status match_written(const arenaut_program *before, arenaut_rewrite *written,
                                    const arenaut_allocator *allocator, arenaut_error *err) {
    const arenaut_program *after = written->program;
    match m = {.before = before, .after = after};
    m.origins = arn_allocate_zeroed(allocator, after->n_tensors, sizeof *m.origins);
    m.taken = arn_allocate_zeroed(allocator, before->n_tensors, sizeof *m.taken);
    m.known = arn_allocate_zeroed(allocator, after->n_tensors, sizeof *m.known);
    if (!m.origins || !m.taken || !m.known) {
        ARN_RELEASE(allocator, m.origins, m.taken, m.known);
        return arn_no_memory(err);
    }
    pair_ops(&m, written);
    for (uint32_t i = 0; i < before->n_methods && i < after->n_methods; i++) {
        const arenaut_method *old = &before->methods[i], *new = &after->methods[i];
        pair_lists(&m, old->inputs, old->n_inputs, new->inputs, new->n_inputs);
        pair_lists(&m, old->outputs, old->n_outputs, new->outputs, new->n_outputs);
    }
    pair_rest(&m);
    ARN_RELEASE(allocator, m.taken, m.known);
    written->tensors = m.origins;
    written->n_tensors = after->n_tensors;
    return ARENAUT_OK;
}

/* The ops in the sequence in which tiles were made, of which they have their numbers. */
static bool find_made_sequence(const arenaut_program *program, arn_region *region, uint32_t *made) {
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        arn_file_numbers numbers;
        if (!arn_file_numbers_find(program, m, region, &numbers)) return false;
        for (uint32_t i = 0; i < numbers.n; i++) made[method->first_op + i] = numbers.ops[i];
    }
    return true;
}

/* Tiles in another order: that in which they were made computes the same, by the check of reordered
 * programs, and is a tiling, by that of tiles, which keeps ops that it does not follow in
 * sequence. */
static arenaut_status check_in_two_steps(const arenaut_pipeline *p, const arenaut_program *before,
                                         const arenaut_rewrite *written, const uint32_t *made,
                                         uint32_t *ops, arenaut_error *err) {
    arenaut_program *copy = NULL;
    arenaut_rewrite *back = NULL, tiled = *written;
    arenaut_status st = arn_program_copy(written->program, arn_pipeline_allocator(p), &copy, err);
    if (st == ARENAUT_OK) st = arn_reorder(copy, made, &back, err);
    if (st != ARENAUT_OK) {
        arn_program_free(copy);
        return st;
    }
    for (uint32_t i = 0; i < written->n_ops; i++) ops[i] = written->ops[made[i]];
    tiled.program = back->program;
    tiled.ops = ops;
    st = arn_check_rewrite(p, written->program, back, err);
    if (st == ARENAUT_OK) st = arn_check_rewrite(p, before, &tiled, err);
    arn_rewrite_free(back);
    return st;
}

static arenaut_status check_matched(const arenaut_pipeline *p, const arenaut_program *before,
                                    const arenaut_rewrite *written, arenaut_error *err) {
    const uint32_t n = written->n_ops;
    uint32_t *made, *ops;
    bool moved = false;
    arn_region region;
    arn_region_init(&region, arn_pipeline_allocator(p));
    if (!ARN_REGION_ARRAYS(&region, ARN_ARRAY(made, n), ARN_ARRAY(ops, n)) ||
        !find_made_sequence(p->rewrite->program, &region, made)) {
        arn_region_free(&region);
        return arn_no_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) moved = moved || made[i] != i;
    moved = moved && written->program->n_ops == n;
    const arenaut_status st = moved ? check_in_two_steps(p, before, written, made, ops, err)
                                    : arn_check_rewrite(p, before, written, err);
    arn_region_free(&region);
    return st;
}

/* Sizes that the file leaves open are those that were asked for when it was read. */
static arenaut_status check_tiles(const arenaut_pipeline *p, arenaut_program *before,
                                  arenaut_rewrite *written, arenaut_error *err) {
    const arenaut_program *as_read = p->store->as_read;
    if (!before->dialect) return check_matched(p, before, written, err);
    for (uint32_t i = 0; i < before->n_symbols && i < as_read->n_symbols; i++) {
        before->symbols[i].min = as_read->symbols[i].min;
        before->symbols[i].max = as_read->symbols[i].max;
    }
    arenaut_status st = arn_pipeline_fix_sizes(before, err);
    if (st == ARENAUT_OK) st = arn_pipeline_fix_sizes(written->program, err);
    if (st == ARENAUT_OK) {
        st = arn_pipeline_match_tiles(p->rewrite, written, arn_pipeline_allocator(p), err);
    }
    if (st != ARENAUT_OK) return st;
    st = check_matched(p, before, written, err);
    arn_release(arn_pipeline_allocator(p), written->tensors);
    return st;
}

/* The places alone tell which of a delegate's arguments are results. One of several may lie where a
 * dead value of its size and type did, and then reads like a view of that. */
static arenaut_status check_delegates(const arenaut_program *before, const arenaut_rewrite *written,
                                      arenaut_error *err) {
    for (uint32_t i = 0; i < written->n_ops && i < written->program->n_ops; i++) {
        const arenaut_op *old = &before->ops[written->ops[i]], *new = &written->program->ops[i];
        if (old->kind != ARENAUT_OP_DELEGATE || old->n_outputs == new->n_outputs) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "the file stays as it is: in the new order of ops, a result of op %" PRIu32
                        " (%s) would lie where a value of its size and type was, and could not be "
                        "told from a view of it; without --reorder the plan can be written",
                        written->ops[i], old->name ? old->name : "a delegate");
    }
    return ARENAUT_OK;
}

/* In another schedule, shared memory is found anew from the new places. Each method has an order of
 * its own, so what methods share stays open: the plan may have brought state together that the file
 * has apart, in one memory or under one name. */
static arenaut_status check_equal(const arenaut_pipeline *p, arenaut_program *before,
                                  arenaut_program *after, arenaut_error *err) {
    arenaut_rewrite written = *p->rewrite;
    written.program = after;
    if (arenaut_rewrite_is_tiled(&written)) return check_tiles(p, before, &written, err);
    arenaut_status st = arn_recover_within_methods(before, err);
    if (st == ARENAUT_OK) st = arn_recover_within_methods(after, err);
    if (st == ARENAUT_OK) st = check_delegates(before, &written, err);
    if (st == ARENAUT_OK) {
        st = match_written(before, &written, arn_pipeline_allocator(p), err);
    }
    if (st != ARENAUT_OK) return st;
    st = arn_check_rewrite(p, before, &written, err);
    arn_release(arn_pipeline_allocator(p), written.tensors);
    return st;
}

static arenaut_status check_rewritten(const arenaut_pipeline *p, const arenaut_text *bytes,
                                      arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    const arenaut_pipeline_file *file = p->store->files;
    const arenaut_format *format = p->document.format;
    arenaut_document before = {0}, after = {0};
    if (!p->rewrite) return ARENAUT_OK;
    arenaut_status st = arenaut_read(file->data, file->size, format, NULL, allocator, &before, err);
    if (st == ARENAUT_OK) {
        st = arenaut_read((const uint8_t *)bytes->bytes, bytes->size, format, NULL, allocator,
                          &after, err);
    }
    if (st == ARENAUT_OK) {
        st = check_equal(p, before.program, after.program, err);
    }
    arenaut_document_free(&before);
    arenaut_document_free(&after);
    return st;
}

/* Reads the written files again: *out, which is to be freed even if that fails, is a pipeline of
 * them. */
static arenaut_status read_written(const arenaut_pipeline *p, const arenaut_text *written,
                                   const arenaut_pipeline_options *options, arenaut_pipeline **out,
                                   arenaut_error *err) {
    const size_t n = p->store->n_files;
    arenaut_pipeline_file *files = arn_allocate(arn_pipeline_allocator(p), n, sizeof *files);
    if (!files) return arn_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        files[i] =
            (arenaut_pipeline_file){p->store->files[i].name, written[i].bytes, written[i].size};
    }
    arenaut_status st = arenaut_pipeline_new(options, arn_pipeline_allocator(p), out, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(*out, files, n, err);
    arn_release(arn_pipeline_allocator(p), files);
    return st;
}

/* The files must be right by these options. */
static arenaut_status check_by(const arenaut_pipeline *p, const arenaut_text *files,
                               const arenaut_pipeline_options *options, arenaut_error *err) {
    arenaut_pipeline *written = NULL;
    arenaut_status st = read_written(p, files, options, &written, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(written, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_find_baseline(written, err);
    if (st == ARENAUT_OK && written->baseline.overlaps) {
        const char *why = written->baseline.finding.msg;
        st = p->options.method
                 ? arn_fail(err, ARENAUT_REJECTED, 0, "the file would still be wrong: %s", why)
                 : arn_fail(err, ARENAUT_INTERNAL, 0,
                            "the file with the plan in it did not pass the checker: %s", why);
    }
    if (st == ARENAUT_OK && options->share && written->store->runtime) {
        st = arn_fail(err, ARENAUT_INTERNAL, 0,
                      "with the plan in them, methods cannot work in the same memories");
    }
    arenaut_pipeline_free(written);
    return st;
}

/* The demands of the caller are in the file now; it must be right without them, but for the
 * walks of kernels, which such files do not name. Where methods are to work in the same memories,
 * they must be right in these. */
static arenaut_status check_written(const arenaut_pipeline *p, const arenaut_text *files,
                                    arenaut_error *err) {
    arenaut_pipeline_options options = arn_pipeline_without_overrides(&p->options);
    options.overlap = p->options.overlap;
    arenaut_status st = ARENAUT_OK;
    if (p->store->n_files == 1) st = check_by(p, files, &options, err);
    options.share = p->options.share;
    if (st != ARENAUT_OK || !p->store->apart) return st;
    return check_by(p, files, &options, err);
}

static arenaut_status refuse(const arenaut_pipeline *p, bool force, arenaut_error *err) {
    const arenaut_format *format = p->document.format;
    arenaut_outcome outcome = ARENAUT_OUTCOME_WRITE;
    const arenaut_status st = arenaut_pipeline_outcome(p, true, force, &outcome, err);
    if (st != ARENAUT_OK) return st;
    if (outcome != ARENAUT_OUTCOME_WRITE) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "the file stays as it is: %s",
                        arenaut_outcome_text(outcome));
    }
    if (!format->write || !format->needs_original || (p->store->n_files > 1 && !p->store->apart)) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "a file of the format %s holds no plan",
                        format->name);
    }
    if (p->rewrite && p->rewrite->n_ops > p->rewrite->n_ops_before && !format->holds_repeats &&
        !arenaut_rewrite_is_tiled(p->rewrite)) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "ops are rematerialized, which is not written into a file of the format %s",
                        format->name);
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_pipeline_write_file(const arenaut_pipeline *p, size_t file, bool force,
                                           arenaut_sink sink, arenaut_error *err) {
    arenaut_text *files = NULL;
    if (file >= p->store->n_files) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "there is no file %zu: there are %zu", file,
                        p->store->n_files);
    }
    arenaut_status st = refuse(p, force, err);
    if (st == ARENAUT_OK) st = arn_pipeline_write_in_memory(p, &files, err);
    if (st == ARENAUT_OK && p->memories.rows) st = check_written(p, files, err);
    if (st == ARENAUT_OK) st = check_rewritten(p, &files[file], err);
    if (st == ARENAUT_OK && !sink.put(sink.context, files[file].bytes, files[file].size)) {
        st = arn_fail(err, ARENAUT_IO, 0, "the file could not be written");
    }
    arn_pipeline_free_written(p, files);
    return st;
}

arenaut_status arenaut_pipeline_write(const arenaut_pipeline *p, bool force, arenaut_sink sink,
                                      arenaut_error *err) {
    if (p->store->n_files > 1) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "%zu files are one program: each is written by itself", p->store->n_files);
    }
    return arenaut_pipeline_write_file(p, 0, force, sink, err);
}
