/* Adoption of a rewrite as the program of a pipeline, with translation validation: the checker
 * proves that it computes the same. */
#include "rewrite/transform.h"

#include <inttypes.h>
#include <string.h>

#include "core/memory.h"
#include "ir/program.h"

/* The number of ops that each do all of this op of the program before. */
static size_t count_runs(const arenaut_rewrite *rewrite, uint32_t op) {
    size_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) n += rewrite->ops[i] == op;
    return n == 1 || !arenaut_rewrite_is_tiled(rewrite) ? n : 0;
}

/* Sizes of scratch are given for the ops of the program before. */
static arenaut_status renumber_scratch(arenaut_pipeline *p, const arenaut_rewrite *rewrite,
                                       arenaut_error *err) {
    const arenaut_scratch_sizes given = p->scratch;
    size_t n = 0;
    for (size_t i = 0; i < given.n; i++) {
        const size_t runs = count_runs(rewrite, given.entries[i].op);
        if (runs == 0) {
            return arn_pipeline_blame(p, err, "split",
                                      "split: a size of scratch is given for op %" PRIu32
                                      ", which would run piece by piece",
                                      given.entries[i].op);
        }
        n += runs;
    }
    arenaut_scratch_entry *entries =
        arn_allocate(arn_pipeline_allocator(p), n, sizeof *given.entries);
    if (!entries) return arn_no_memory(err);
    n = 0;
    for (size_t i = 0; i < given.n; i++) {
        for (uint32_t op = 0; op < rewrite->n_ops; op++) {
            if (rewrite->ops[op] != given.entries[i].op) continue;
            entries[n] = given.entries[i];
            entries[n++].op = op;
        }
    }
    if (p->rewrite) arn_release(arn_pipeline_allocator(p), given.entries);
    else p->store->file_scratch = given;
    p->scratch.entries = entries;
    p->scratch.n = n;
    return ARENAUT_OK;
}

/* Properties of the file besides its tensors and ops. */
static arenaut_status copy_notes(const arenaut_program *from, arenaut_program *to,
                                 arenaut_error *err) {
    const char *const texts[] = {from->description, from->given_note};
    const char **const copies[] = {&to->description, &to->given_note};
    for (int i = 0; i < 2; i++) {
        if (!texts[i]) continue;
        *copies[i] = arenaut_program_strdup(to, texts[i], strlen(texts[i]));
        if (!*copies[i]) return arn_no_memory(err);
    }
    to->given = from->given;
    return ARENAUT_OK;
}

arenaut_status arn_check_rewrite(const arenaut_pipeline *p, const arenaut_program *before,
                                 const arenaut_rewrite *rewrite, arenaut_error *err) {
    arenaut_finding finding;
    arenaut_error why = {0};
    const arenaut_status st =
        arenaut_check_rewrite(before, rewrite, arn_pipeline_allocator(p), &finding, &why);
    if (st == ARENAUT_REJECTED) {
        return arn_fail(err, ARENAUT_INTERNAL, 0,
                        "the rewritten program did not pass the checker: %s", finding.msg);
    }
    if (st != ARENAUT_OK && err) *err = why;
    return st;
}

static uint32_t count_arguments(const arenaut_op *op) { return op->n_inputs + op->n_outputs; }

/* Of tiles in another sequence. The ops of `second` are those of `first`, each once. */
static arenaut_status keep_tiles(const arenaut_rewrite *first, arenaut_rewrite *second,
                                 arenaut_error *err) {
    const arenaut_program *tiled = first->program;
    arenaut_program *program = second->program;
    size_t n = 0;
    for (uint32_t i = 0; i < first->n_ops; i++) n += count_arguments(&tiled->ops[i]);
    size_t *begin = arenaut_program_alloc(program, (first->n_ops + (size_t)1) * sizeof *begin);
    second->arguments = arenaut_program_alloc(program, n * sizeof *second->arguments);
    second->stages = arenaut_program_alloc(program, first->n_stages * sizeof *second->stages);
    second->tiles = arenaut_program_alloc(program, second->n_ops * sizeof *second->tiles);
    if (!begin || !second->arguments || !second->stages || !second->tiles) {
        return arn_no_memory(err);
    }
    memcpy(second->tiles, second->ops, second->n_ops * sizeof *second->tiles);
    begin[0] = 0;
    for (uint32_t i = 0; i < first->n_ops; i++) {
        begin[i + 1] = begin[i] + count_arguments(&tiled->ops[i]);
    }
    n = 0;
    for (uint32_t i = 0; i < second->n_ops; i++) {
        const uint32_t op = second->ops[i];
        for (size_t k = begin[op]; k < begin[op + 1]; k++) {
            second->arguments[n++] = first->arguments[k];
        }
    }
    memcpy(second->stages, first->stages, first->n_stages * sizeof *second->stages);
    second->n_stages = first->n_stages;
    second->macs = first->macs;
    second->macs_before = first->macs_before;
    second->n_rounded = first->n_rounded;
    second->rounded = first->rounded;
    return ARENAUT_OK;
}

/* Both as one rewrite of the file's program: views are materialized first, or ops are tiled, then
 * they are rematerialized, then scheduled. */
static arenaut_status compose(const arenaut_rewrite *first, arenaut_rewrite *second,
                              arenaut_error *err) {
    const uint32_t n = first->n_copied;
    second->copied = arenaut_program_alloc(second->program, n * sizeof *second->copied);
    if (!second->copied) return arn_no_memory(err);
    for (uint32_t i = 0; i < n; i++) second->copied[i] = first->copied[i];
    second->n_copied = n;
    if (arenaut_rewrite_is_tiled(first)) {
        const arenaut_status st = keep_tiles(first, second, err);
        if (st != ARENAUT_OK) return st;
    }
    for (uint32_t i = 0; i < second->n_ops; i++) second->ops[i] = first->ops[second->ops[i]];
    for (uint32_t t = 0; t < second->n_tensors; t++) {
        second->tensors[t] = first->tensors[second->tensors[t].tensor];
    }
    second->n_ops_before = first->n_ops_before;
    second->before = first->before;
    return ARENAUT_OK;
}

/* Writers need a tiled program as it was made, so that passes get a copy of it. */
static arenaut_status hand_over(arenaut_pipeline *p, arenaut_rewrite *rewrite,
                                arenaut_program **program, arenaut_error *err) {
    *program = rewrite->program;
    if (!arenaut_rewrite_is_tiled(rewrite)) return ARENAUT_OK;
    return arn_program_copy(rewrite->program, arn_pipeline_allocator(p), program, err);
}

arenaut_status arn_adopt_rewrite(arenaut_pipeline *p, arenaut_rewrite *rewrite,
                                 arenaut_error *err) {
    arenaut_program *program = NULL;
    arenaut_status st = arn_check_rewrite(p, p->document.program, rewrite, err);
    if (st == ARENAUT_OK) st = copy_notes(p->document.program, rewrite->program, err);
    if (st == ARENAUT_OK) st = renumber_scratch(p, rewrite, err);
    if (st == ARENAUT_OK && p->rewrite) st = compose(p->rewrite, rewrite, err);
    if (st == ARENAUT_OK) st = hand_over(p, rewrite, &program, err);
    if (st != ARENAUT_OK) {
        arn_rewrite_free(rewrite);
        return st;
    }
    arn_program_free(p->document.program);
    if (program != rewrite->program) {
        arn_rewrite_free(p->store->split);
        p->store->split = rewrite;
    }
    p->result.program = p->document.program = program;
    p->result.rewrite = p->rewrite = rewrite;
    return ARENAUT_OK;
}

arenaut_status arn_apply_rewriting(arenaut_pipeline *p, arn_rewriting rewriting,
                                   const uint32_t *ops, uint32_t n_ops, arenaut_error *err) {
    arenaut_program *copy = NULL;
    arenaut_rewrite *rewrite = NULL;
    arenaut_status st =
        arn_program_copy(p->document.program, arn_pipeline_allocator(p), &copy, err);
    if (st == ARENAUT_OK) st = rewriting(copy, ops, n_ops, &rewrite, err);
    if (st == ARENAUT_OK) return arn_adopt_rewrite(p, rewrite, err);
    arn_program_free(copy);
    return st;
}

/* ---- the certificate of its schedule ---- */

static arenaut_status keep_runs(arenaut_pipeline *p, arenaut_remat_certificate *c,
                                arenaut_error *err) {
    const arenaut_rewrite *r = p->rewrite;
    c->added = p->recomputed.n_ops > 0 ? p->recomputed.added : 0;
    c->n_runs = p->document.program->n_ops;
    c->runs = arn_allocate(&c->allocator, c->n_runs, sizeof *c->runs);
    if (!c->runs) return arn_no_memory(err);
    for (uint32_t i = 0; i < c->n_runs; i++) c->runs[i] = r ? r->ops[i] : i;
    return ARENAUT_OK;
}

arenaut_status arn_state_rematerialization(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_remat_certificate *c = p->store->remat_certificate;
    const bool is_of_file = !p->rewrite || p->rewrite->n_copied == 0;
    if (!c || !is_of_file) return ARENAUT_OK;
    const arenaut_status st = keep_runs(p, c, err);
    if (st == ARENAUT_OK) p->result.rematerialization = c;
    return st;
}
