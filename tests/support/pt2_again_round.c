#include "support/pt2_again_round.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/zip.h"
#include "support/pt2_round.h"
#include "support/require.h"

arenaut_status pt2_again_write(const void *data, size_t size, bool reorder,
                               const arenaut_allocator *allocator, arenaut_text *out,
                               uint32_t *n_again, arenaut_error *err) {
    static const arenaut_dim all = {
        "*", 2, 2}; /* open sizes; bytes of another format may have none to bind */
    const arenaut_pipeline_options options = {
        .format = arenaut_format_find(arn_zip_begins(data, size) ? "pt2" : "onnx"),
        .dims = &all,
        .n_dims = 1,
        .recomputing = {.on = true, .options = {.effort = 20000}},
        .reordering = {.on = reorder, .options = {.effort = 20000}},
        .plan = {.effort = 200}};
    arenaut_pipeline *p = NULL;
    arenaut_status st = arenaut_pipeline_run(data, size, &options, allocator, &p, err);
    if (st == ARENAUT_OK) {
        *n_again = p->rewrite ? p->rewrite->n_ops - p->rewrite->n_ops_before : 0;
        st = arenaut_pipeline_write(p, true, arenaut_text_sink(out), err);
    }
    arenaut_pipeline_free(p);
    return st;
}

static bool is_answer(arenaut_status st, const arenaut_error *err) {
    const bool fine = st == ARENAUT_OK || st == ARENAUT_NO_PLAN || is_refusal(st, err);
    if (!fine) fprintf(stderr, "%s\n", err->msg);
    return fine;
}

static bool archive_property(const uint8_t *data, size_t size, bool reorder) {
    arenaut_text written = {0};
    arenaut_document back = {0};
    arenaut_error err = {0};
    uint32_t n_again = 0;
    arenaut_status st = pt2_again_write(data, size, reorder, NULL, &written, &n_again, &err);
    REQUIRE(is_answer(st, &err));
    if (st == ARENAUT_OK) {
        st = arenaut_read((const uint8_t *)written.bytes, written.size, NULL, NULL, NULL, &back,
                          &err);
        REQUIRE(st == ARENAUT_OK);
        arenaut_document_free(&back);
    }
    arenaut_text_free(&written);
    return n_again > 0;
}

bool pt2_again_property(const uint8_t *data, size_t size) {
    bytes archive = {NULL, 0};
    if (!arn_zip_begins(data, size)) archive = pt2_of(data, size);
    if (archive.data) {
        data = archive.data;
        size = archive.size;
    }
    const bool again = archive_property(data, size, false);
    const bool both = archive_property(data, size, true);
    free(archive.data);
    return again || both;
}
