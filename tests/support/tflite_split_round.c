#include "support/tflite_split_round.h"

#include <string.h>

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "rewrite/split/tile_groups.h"
#include "support/pipelines.h"
#include "support/random.h"
#include "support/require.h"

enum { STAGES = 12 }; /* that are tried */

/* The same for the same bytes. */
static rng drawn_by(const uint8_t *data, size_t size) {
    rng r = {size};
    for (size_t i = 0; i < size; i++) r.state = r.state * 31 + data[i];
    return r;
}

static arenaut_split_stage draw_stage(rng *r, uint32_t n_ops) {
    arenaut_split_stage stage = {
        .first_op = rng_below(r, n_ops),
        .pieces = 2 + rng_below(r, 3),
        .mode = (arenaut_split_mode)rng_below(r, ARENAUT_SPLIT_MODE_COUNT)};
    const uint32_t left = n_ops - stage.first_op;
    stage.n_ops = 1 + rng_below(r, left < 5 ? left : 5);
    return stage;
}

/* Whether the stage can be split; the checker must then agree. */
static bool splits(const arenaut_program *program, const arenaut_split_stage *stage) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st = arn_split(program, stage, 1, false, NULL, &rewrite, &err);
    if (st != ARENAUT_OK) {
        REQUIRE(st == ARENAUT_BAD_ARGUMENT || st == ARENAUT_REFUSED);
        REQUIRE(err.msg[0]);
        return false;
    }
    if (arenaut_check_rewrite(program, rewrite, NULL, &finding, &err) != ARENAUT_OK) {
        fprintf(stderr, "ops %u to %u in %u: %s\n", (unsigned)stage->first_op,
                (unsigned)(stage->first_op + stage->n_ops - 1), (unsigned)stage->pieces,
                finding.msg);
        REQUIRE(!"the split program is accepted");
    }
    arn_rewrite_free(rewrite);
    return true;
}

/* False where it is refused. */
static bool strip(const void *data, size_t size, arenaut_text *stripped) {
    arenaut_error err = {0};
    const arenaut_status st =
        arenaut_format_find("tflite")->strip(data, size, arenaut_text_sink(stripped), NULL, &err);
    REQUIRE(st == ARENAUT_OK || is_refusal(st, &err));
    return st == ARENAUT_OK;
}

static bool is_same(const arenaut_text *text, const void *data, size_t size) {
    return text->size == size && memcmp(text->bytes, data, size) == 0;
}

/* A plan of ours in a file that is as it was written is taken out as well. */
static void require_strip_undoes(const arenaut_text *written, const uint8_t *data, size_t size) {
    arenaut_text stripped = {0}, original = {0};
    REQUIRE(strip(written->bytes, written->size, &stripped));
    REQUIRE(is_same(&stripped, data, size) ||
            (strip(data, size, &original) && is_same(&stripped, original.bytes, original.size)));
    arenaut_text_free(&stripped);
    arenaut_text_free(&original);
}

static void require_written(const uint8_t *data, size_t size, const arenaut_split_stage *stage) {
    const arenaut_pipeline_options options = {
        .splitting = {.on = true, .stages = stage, .n_stages = 1},
        .plan = {.planner = "tflite-arena"}};
    arenaut_pipeline *p = NULL;
    arenaut_text text = {0};
    arenaut_error err = {0};
    arenaut_status st = arenaut_pipeline_run(data, size, &options, NULL, &p, &err);
    if (st == ARENAUT_OK) {
        st = arenaut_pipeline_write(p, true, arenaut_text_sink(&text), &err);
        if (st == ARENAUT_OK) require_strip_undoes(&text, data, size);
    }
    REQUIRE(st == ARENAUT_OK || is_refusal(st, &err) || st == ARENAUT_BAD_ARGUMENT);
    arenaut_text_free(&text);
    arenaut_pipeline_free(p);
}

bool tflite_split_property(const uint8_t *data, size_t size) {
    rng r = drawn_by(data, size);
    arenaut_document document = {0};
    arenaut_error err = {0};
    bool any = false;
    const arenaut_status st =
        arenaut_read(data, size, arenaut_format_find("tflite"), NULL, NULL, &document, &err);
    if (st != ARENAUT_OK) {
        REQUIRE(is_refusal(st, &err));
        return false;
    }
    for (int i = 0; i < STAGES && document.program->n_ops > 0; i++) {
        const arenaut_split_stage stage = draw_stage(&r, document.program->n_ops);
        if (!splits(document.program, &stage)) continue;
        if (!any) require_written(data, size, &stage);
        any = true;
    }
    arenaut_document_free(&document);
    return any;
}
