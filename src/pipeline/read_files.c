/* Reading: the bytes of a file as a document with its sizes bound. Several model files are one
 * program of which the methods share buffers: they are merged (src/ir/merge.c) under the names of
 * their files. */
#include "stages/stages.h"

#include <string.h>

#include "core/file_name.h"
#include "core/memory.h"
#include "ir/merge.h"
#include "shapes/shape_file.h"

/* The files while they are merged, and the name of each in the whole. */
typedef struct merge {
    arenaut_document *documents;
    const arenaut_program **programs;
    const char **names;
    const char **share; /* names to share; NULL: all that can be */
    size_t n_share;
    arn_region texts;
} merge;

/* "prefill" of "models/prefill.pt2". */
static const char *stem(merge *m, const char *path) {
    const char *name = arn_file_name(path);
    return arn_region_copy_text(&m->texts, name, strcspn(name, "."));
}

static arenaut_status read_part(arenaut_pipeline *p, merge *m, size_t i, arenaut_error *err) {
    const arenaut_pipeline_file *file = &p->store->files[i];
    arenaut_document *document = &m->documents[i];
    p->fault.file = i;
    const arenaut_status st = arenaut_read(file->data, file->size, p->options.format, NULL,
                                           arn_pipeline_allocator(p), document, err);
    if (st != ARENAUT_OK) return st;
    if (!document->program) {
        return arn_pipeline_blame(p, err, "share",
                                  "share is about models, and this is a placement problem");
    }
    m->programs[i] = document->program;
    m->names[i] = stem(m, file->name ? file->name : "");
    return m->names[i] ? ARENAUT_OK : arn_no_memory(err);
}

/* The names in "k,v"; none for "auto". */
static arenaut_status split_names(const char *share, merge *m, arenaut_error *err) {
    const size_t length = strlen(share);
    if (strcmp(share, "auto") == 0) return ARENAUT_OK;
    char *at = arn_region_copy_text(&m->texts, share, length);
    m->share = arn_region_allocate(&m->texts, length + 1, sizeof *m->share);
    if (!at || !m->share) return arn_no_memory(err);
    while (at) {
        m->share[m->n_share++] = at;
        at = strchr(at, ',');
        if (at) *at++ = '\0';
    }
    return ARENAUT_OK;
}

/* Where each file begins in the merged program, which has them one after another. */
static arenaut_status keep_parts(arenaut_pipeline *p, const merge *m, arenaut_error *err) {
    arn_file_part at = {0};
    arn_file_part *parts =
        arn_allocate(arn_pipeline_allocator(p), p->store->n_files, sizeof *parts);
    if (!parts) return arn_no_memory(err);
    p->store->parts = parts;
    for (size_t i = 0; i < p->store->n_files; i++) {
        at.n_tensors = m->programs[i]->n_tensors;
        at.n_methods = m->programs[i]->n_methods;
        parts[i] = at;
        at.first_tensor += at.n_tensors;
        at.first_method += at.n_methods;
    }
    return ARENAUT_OK;
}

static arenaut_status merge_parts(arenaut_pipeline *p, merge *m, arenaut_document *document,
                                  arenaut_error *err) {
    arenaut_document merged = {.format = m->documents[0].format};
    p->fault.file = 0;
    arenaut_status st = split_names(p->options.share, m, err);
    if (st != ARENAUT_OK) return st;
    const arn_merge_options options = {m->share, m->n_share};
    st = arn_program_merge(m->programs, m->names, p->store->n_files, &options,
                           arn_pipeline_allocator(p), &merged.program, err);
    if (st == ARENAUT_BAD_ARGUMENT) arn_pipeline_note_naming(p, merged.format);
    if (st == ARENAUT_OK) st = keep_parts(p, m, err);
    if (st == ARENAUT_OK) *document = merged;
    else arenaut_document_free(&merged);
    return st;
}

static arenaut_status merge_files(arenaut_pipeline *p, arenaut_document *document,
                                  arenaut_error *err) {
    const size_t n = p->store->n_files;
    merge m = {.n_share = 0};
    arenaut_status st = ARENAUT_OK;
    if (!p->options.share) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "several files are read to be shared");
    }
    arn_region_init(&m.texts, arn_pipeline_allocator(p));
    if (!ARN_REGION_ARRAYS(&m.texts, ARN_ARRAY(m.documents, n), ARN_ARRAY(m.programs, n),
                           ARN_ARRAY(m.names, n))) {
        arn_region_free(&m.texts);
        return arn_no_memory(err);
    }
    for (size_t i = 0; i < n && st == ARENAUT_OK; i++) st = read_part(p, &m, i, err);
    if (st == ARENAUT_OK) st = merge_parts(p, &m, document, err);
    for (size_t i = 0; i < n; i++) arenaut_document_free(&m.documents[i]);
    arn_region_free(&m.texts);
    return st;
}

static arenaut_status read_shapes(arenaut_pipeline *p, arenaut_program *program,
                                  arenaut_error *err) {
    const arenaut_side_file *shapes = &p->options.shapes;
    if (!shapes->text) return ARENAUT_OK;
    const arenaut_status st = arn_shapes_read(shapes->text, shapes->size, program, err);
    if (st != ARENAUT_OK) p->fault.option = "shapes";
    return st;
}

/* The only file. All that a reader is told, and may object to, are the sizes. */
static arenaut_status read_file(arenaut_pipeline *p, arenaut_document *document,
                                arenaut_error *err) {
    const arenaut_pipeline_options *o = &p->options;
    const arenaut_pipeline_file *file = p->store->files;
    const arenaut_read_options options = {
        .note = o->note, .note_context = o->context, .dims = o->dims, .n_dims = o->n_dims};
    const arenaut_status st = arenaut_read(file->data, file->size, o->format, &options,
                                           arn_pipeline_allocator(p), document, err);
    if (st == ARENAUT_BAD_ARGUMENT) p->fault.option = "dim";
    return st;
}

static arenaut_status read_document(arenaut_pipeline *p, arenaut_document *document,
                                    arenaut_error *err) {
    const bool merged = p->store->n_files > 1;
    arenaut_status st = merged ? merge_files(p, document, err) : read_file(p, document, err);
    if (st != ARENAUT_OK) return st;
    if (p->options.share && document->program) {
        st = arn_pipeline_check_shared(p, document->program, err);
    }
    if (st != ARENAUT_OK) return st;
    if (!document->program) return arn_pipeline_check_dims(p, document, err);
    st = arn_pipeline_bind_dims(p, document->program, err);
    return st == ARENAUT_OK && !merged ? read_shapes(p, document->program, err) : st;
}

static arenaut_status keep_files(arenaut_pipeline *p, const arenaut_pipeline_file *files,
                                 size_t n_files, arenaut_error *err) {
    struct arenaut_pipeline_store *store = p->store;
    store->files = arn_allocate(&store->allocator, n_files, sizeof *store->files);
    if (!store->files) return arn_no_memory(err);
    memcpy(store->files, files, n_files * sizeof *files);
    store->n_files = n_files;
    return ARENAUT_OK;
}

arenaut_status arenaut_pipeline_read(arenaut_pipeline *p, const arenaut_pipeline_file *files,
                                     size_t n_files, arenaut_error *err) {
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_NEW, ARN_PIPELINE_NEW, err);
    if (st != ARENAUT_OK) return st;
    if (n_files == 0) return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "there is no file to read");
    st = keep_files(p, files, n_files, err);
    if (st != ARENAUT_OK) return st;
    arn_pipeline_enter(p, ARENAUT_STAGE_READ);
    st = read_document(p, &p->document, err);
    arn_pipeline_enter(p, ARENAUT_STAGE_OTHER);
    if (st == ARENAUT_OK) arn_pipeline_begin_result(p);
    return arn_pipeline_reach(p, ARN_PIPELINE_READ, st);
}
