/* Splitting, between reading and passes: those are then about the ops that will run. What a file's
 * own plan says goes with the file's program; the baseline reads it there (baseline.c). A program
 * that cannot be split, or needs no less when it is, stays as it is, unless the caller has said
 * which stages to split. */
#include "pipeline/stages.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/tensor_arena.h>

#include "core/memory.h"

/* The op that an op of the file has become; NONE if it is split, or there is no such op. */
static uint32_t op_now(const arenaut_rewrite *rewrite, uint32_t op) {
    uint32_t now = ARENAUT_NONE;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        if (rewrite->ops[i] != op) continue;
        if (now != ARENAUT_NONE) return ARENAUT_NONE;
        now = i;
    }
    return now;
}

/* Sizes of scratch are given for the ops of the file. */
static arenaut_status renumber_scratch(arenaut_pipeline *p, const arenaut_rewrite *rewrite,
                                       arenaut_error *err) {
    const arenaut_scratch_sizes *given = &p->scratch;
    arenaut_scratch_sizes renumbered = *given;
    renumbered.entries = arn_allocate(arn_pipeline_allocator(p), given->n, sizeof *given->entries);
    if (!renumbered.entries) return arn_no_memory(err);
    for (size_t i = 0; i < given->n; i++) {
        renumbered.entries[i] = given->entries[i];
        renumbered.entries[i].op = op_now(rewrite, given->entries[i].op);
        if (renumbered.entries[i].op != ARENAUT_NONE) continue;
        arn_release(arn_pipeline_allocator(p), renumbered.entries);
        return arn_pipeline_blame(p, err, "split",
                                  "split: a size of scratch is given for op %" PRIu32
                                  ", which would run piece by piece",
                                  given->entries[i].op);
    }
    p->store->file_scratch = *given;
    p->scratch = renumbered;
    return ARENAUT_OK;
}

static arenaut_status blame_stages(arenaut_pipeline *p, arenaut_status st, arenaut_error *err) {
    const arenaut_error why = err ? *err : (arenaut_error){0};
    if (st != ARENAUT_BAD_ARGUMENT && st != ARENAUT_REFUSED) return st;
    return arn_pipeline_blame(p, err, "split", "split: %s", why.msg);
}

/* What is to be reserved for the plan: what the runtime keeps for ops counts as well, where its
 * layout is known, since every piece costs some. */
static arenaut_status find_reserved(const arenaut_pipeline *p, uint64_t *bytes,
                                    arenaut_error *err) {
    arenaut_tensor_arena arena;
    *bytes = p->figures.planned;
    if (!p->target->layout || p->problem->n_pools != 1) return ARENAUT_OK;
    const arenaut_status st = arenaut_tensor_arena_find(&p->result, *bytes, p->target,
                                                        arn_pipeline_allocator(p), &arena, err);
    if (st == ARENAUT_OK) *bytes = arena.total;
    return st;
}

/* Search steps of a plan that is only made to be compared: the compared ones end within a second.
 */
enum { COMPARING_EFFORT = 500000 };

/* What is to be reserved if the program is split so. */
static arenaut_status plan_split(const arenaut_pipeline *p, arenaut_splitting splitting,
                                 uint64_t *bytes, arenaut_error *err) {
    arenaut_pipeline_options options = p->options;
    arenaut_pipeline *other = NULL;
    options.splitting = splitting;
    options.note = NULL;
    options.stage = NULL;
    options.after_pass = NULL;
    options.plan.effort = COMPARING_EFFORT;
    options.plan.progress = NULL;
    *bytes = UINT64_MAX;
    arenaut_status st = arenaut_pipeline_new(&options, arn_pipeline_allocator(p), &other, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(other, p->store->files, 1, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(other, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_plan(other, err);
    if (st == ARENAUT_OK) st = find_reserved(other, bytes, err);
    arenaut_pipeline_free(other);
    return st == ARENAUT_NO_PLAN ? ARENAUT_OK : st;
}

/* Stages, and what is to be reserved with them; with none, it is the program as it is. */
typedef struct candidate {
    arenaut_split_stage *stages;
    uint32_t n;
    uint64_t bytes;
} candidate;

/* `kernels`: results may lie over operands as they allow; NULL: all tensors lie apart. */
static arenaut_status find_stages(const arenaut_pipeline *p, const arenaut_kernel_set *kernels,
                                  candidate *found, arenaut_error *err) {
    arenaut_split_options options = p->options.splitting.options;
    options.kernels = kernels;
    options.unmeasured = p->unmeasured;
    options.run_by = p->scratch.known ? NULL : p->kernels;
    return arenaut_split_find(p->document.program, &options, arn_pipeline_allocator(p),
                              &found->stages, &found->n, err);
}

/* Leaves the better one in *best. */
static arenaut_status compare(const arenaut_pipeline *p, candidate *found, candidate *best,
                              arenaut_error *err) {
    const arenaut_splitting split = {.on = true, .stages = found->stages, .n_stages = found->n};
    const arenaut_status st = plan_split(p, split, &found->bytes, err);
    if (st != ARENAUT_OK || found->bytes >= best->bytes) return st;
    const candidate worse = *best;
    *best = *found;
    *found = worse;
    return ARENAUT_OK;
}

/* Stages are found by what is alive at once. What that comes to is only known of plans: the program
 * as it is may need less than a split one, so all are planned. */
static arenaut_status take_best(const arenaut_pipeline *p, candidate *found, uint32_t n,
                                candidate *best, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    bool any = false;
    for (uint32_t i = 0; i < n; i++) any = any || found[i].n > 0;
    if (any) st = plan_split(p, (arenaut_splitting){0}, &best->bytes, err);
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        if (found[i].n > 0) st = compare(p, &found[i], best, err);
    }
    return st;
}

/* Splits as is best; *out stays NULL where nothing is gained. */
static arenaut_status split_found(arenaut_pipeline *p, arenaut_rewrite **out, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    const bool over = p->options.overlap && p->kernels;
    candidate found[2] = {{0}}, best = {0};
    arenaut_error why = {0};
    arenaut_status st = find_stages(p, NULL, &found[0], &why);
    if (st == ARENAUT_REFUSED) {
        arn_pipeline_note(p, "nothing is split: %s", why.msg);
        return ARENAUT_OK;
    }
    if (st == ARENAUT_OK && over) st = find_stages(p, p->kernels, &found[1], &why);
    if (st != ARENAUT_OK && err) *err = why;
    if (st == ARENAUT_OK) st = take_best(p, found, 2, &best, err);
    if (st == ARENAUT_OK && best.n > 0) {
        st = arenaut_split(p->document.program, best.stages, best.n, allocator, out, err);
    }
    arenaut_split_stages_free(found[0].stages, allocator);
    arenaut_split_stages_free(found[1].stages, allocator);
    arenaut_split_stages_free(best.stages, allocator);
    return st;
}

/* Makes the split program; *out stays NULL where there is none. */
static arenaut_status make_split(arenaut_pipeline *p, arenaut_rewrite **out, arenaut_error *err) {
    const arenaut_splitting *o = &p->options.splitting;
    if (!o->stages) return split_found(p, out, err);
    return blame_stages(p,
                        arenaut_split(p->document.program, o->stages, o->n_stages,
                                      arn_pipeline_allocator(p), out, err),
                        err);
}

/* What the file says of itself besides its tensors and ops. */
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

/* Never unchecked: what is not proven to be the same model is not used. */
static arenaut_status check(const arenaut_pipeline *p, const arenaut_program *before,
                            const arenaut_rewrite *rewrite, arenaut_error *err) {
    arenaut_finding finding;
    arenaut_error why = {0};
    const arenaut_status st =
        arenaut_check_rewrite(before, rewrite, arn_pipeline_allocator(p), &finding, &why);
    if (st == ARENAUT_REJECTED) {
        return arn_fail(err, ARENAUT_INTERNAL, 0, "the split program did not pass the checker: %s",
                        finding.msg);
    }
    if (st != ARENAUT_OK && err) *err = why;
    return st;
}

arenaut_status arn_pipeline_check_split(const arenaut_pipeline *p, const arenaut_text *bytes,
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
        arenaut_rewrite written = *p->rewrite;
        written.program = after.program;
        st = check(p, before.program, &written, err);
    }
    arenaut_document_free(&before);
    arenaut_document_free(&after);
    return st;
}

arenaut_status arn_pipeline_split(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_rewrite *rewrite = NULL;
    if (!p->options.splitting.on) return ARENAUT_OK;
    arenaut_status st = make_split(p, &rewrite, err);
    if (st != ARENAUT_OK || !rewrite) return st;
    st = check(p, p->document.program, rewrite, err);
    if (st == ARENAUT_OK) st = copy_notes(p->document.program, rewrite->program, err);
    if (st == ARENAUT_OK) st = renumber_scratch(p, rewrite, err);
    if (st != ARENAUT_OK) {
        arenaut_rewrite_free(rewrite);
        return st;
    }
    arenaut_program_free(p->document.program);
    p->result.program = p->document.program = rewrite->program;
    p->result.rewrite = p->rewrite = rewrite;
    return ARENAUT_OK;
}
