#include "support/tflite_planned_round.h"

#include <string.h>

#include <arenaut/arenaut.h>

#include "support/pipelines.h"
#include "support/require.h"

/* A mark that was damaged may name unknown kernels; these have to be given then. */
static bool is_answer(arenaut_status st, const arenaut_error *err) {
    if (st == ARENAUT_BAD_ARGUMENT) return strncmp(err->msg, "kernels: ", 9) == 0;
    return st == ARENAUT_OK || is_refusal(st, err);
}

/* The plan in the file, as the checker sees it; NULL: there is none, or it is refused. */
static arenaut_pipeline *judge(const void *data, size_t size) {
    const arenaut_pipeline_options options = {.judge_given = true};
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    arenaut_status st = pipeline_open(data, size, &options, NULL, &p, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_find_baseline(p, &err);
    REQUIRE(is_answer(st, &err));
    if (st == ARENAUT_OK && p->baseline.from_file) return p;
    arenaut_pipeline_free(p);
    return NULL;
}

static void require_stripped(const arenaut_text *written) {
    arenaut_text stripped = {0};
    arenaut_error err = {0};
    const arenaut_status st = arenaut_format_find("tflite")->strip(
        (const uint8_t *)written->bytes, written->size, arenaut_text_sink(&stripped), NULL, &err);
    REQUIRE(is_answer(st, &err));
    arenaut_text_free(&stripped);
}

/* The written file has the plan, and is right. */
static void require_right(const arenaut_text *written, const arenaut_pipeline *planned) {
    arenaut_pipeline *back = judge(written->bytes, written->size);
    REQUIRE(back);
    if (back->baseline.overlaps) fprintf(stderr, "%s\n", back->baseline.finding.msg);
    REQUIRE(!back->baseline.overlaps);
    REQUIRE(back->figures.now == planned->figures.planned);
    arenaut_pipeline_free(back);
}

static bool plan_anew(const uint8_t *data, size_t size, bool overlap) {
    const arenaut_pipeline_options options = {
        .overlap = overlap, .plan = {.planner = overlap ? "auto" : "tflite-arena", .effort = 200}};
    arenaut_pipeline *p = NULL;
    arenaut_text written = {0};
    arenaut_error err = {0};
    arenaut_status st = arenaut_pipeline_run(data, size, &options, NULL, &p, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_write(p, true, arenaut_text_sink(&written), &err);
    REQUIRE(is_answer(st, &err));
    if (st == ARENAUT_OK) {
        require_right(&written, p);
        require_stripped(&written);
    }
    arenaut_text_free(&written);
    arenaut_pipeline_free(p);
    return st == ARENAUT_OK;
}

bool tflite_planned_property(const uint8_t *data, size_t size) {
    arenaut_pipeline *given = judge(data, size);
    const bool holds_plan = given != NULL;
    arenaut_pipeline_free(given);
    if (!holds_plan) return false;
    const bool apart = plan_anew(data, size, false), over = plan_anew(data, size, true);
    return apart || over;
}
