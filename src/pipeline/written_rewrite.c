/* What files in different orders of ops say of the same tensors. Which is which: formats that
 * number values by the ops that make them number them anew; it is a claim, and the checker decides.
 * And which share memory, where that shows in their places alone. */
#include <string.h>

#include "core/memory.h"
#include "rewrite/transform.h"

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

/* Views that became copies are all that changed where no arguments are kept. */
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

/* What no op names keeps its place among its like. */
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
        arn_release(allocator, m.origins);
        arn_release(allocator, m.taken);
        arn_release(allocator, m.known);
        return arn_no_memory(err);
    }
    pair_ops(&m, written);
    for (uint32_t i = 0; i < before->n_methods && i < after->n_methods; i++) {
        const arenaut_method *old = &before->methods[i], *new = &after->methods[i];
        pair_lists(&m, old->inputs, old->n_inputs, new->inputs, new->n_inputs);
        pair_lists(&m, old->outputs, old->n_outputs, new->outputs, new->n_outputs);
    }
    pair_rest(&m);
    arn_release(allocator, m.taken);
    arn_release(allocator, m.known);
    written->tensors = m.origins;
    written->n_tensors = after->n_tensors;
    return ARENAUT_OK;
}

/* In another order, what shares memory is found anew from the new places. */
static arenaut_status check_written(const arenaut_pipeline *p, arenaut_program *before,
                                    arenaut_program *after, arenaut_error *err) {
    arenaut_rewrite written = *p->rewrite;
    written.program = after;
    if (written.n_stages > 0) return arn_check_rewrite(p, before, &written, err);
    arenaut_status st = arn_pipeline_recover_aliases(before, err);
    if (st == ARENAUT_OK) st = arn_pipeline_recover_aliases(after, err);
    if (st == ARENAUT_OK) {
        st = match_written(before, &written, arn_pipeline_allocator(p), err);
    }
    if (st != ARENAUT_OK) return st;
    st = arn_check_rewrite(p, before, &written, err);
    arn_release(arn_pipeline_allocator(p), written.tensors);
    return st;
}

arenaut_status arn_pipeline_check_rewritten(const arenaut_pipeline *p, const arenaut_text *bytes,
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
        st = check_written(p, before.program, after.program, err);
    }
    arenaut_document_free(&before);
    arenaut_document_free(&after);
    return st;
}
