#include "support/pte_replay_round.h"

#include <string.h>

#include "support/pipelines.h"
#include "support/pte_round.h"
#include "support/require.h"
#include "support/sweep.h"

/* A refusal has a reason that a file can give, and states it. */
static bool fine_or_refused(arenaut_status st, const arenaut_error *err) {
    REQUIRE(st == ARENAUT_OK || is_refusal(st, err));
    return st == ARENAUT_OK;
}

static void plan_and_replay(const arenaut_pipeline *p, const char *planner, pte_sweep *result) {
    const arenaut_plan_options options = {.planner = planner};
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    if (!fine_or_refused(arenaut_plan_make(p->problem, &options, NULL, &plan, &err), &err)) return;
    REQUIRE(arenaut_check_plan(p->problem, plan, NULL, &finding, &err) == ARENAUT_OK);
    result->planned++;
    const arenaut_status st = arenaut_pipeline_replay(p, plan, &finding, &err);
    if (st == ARENAUT_REJECTED) REQUIRE(finding.rule != ARENAUT_RULE_NONE && finding.msg[0]);
    else result->right += fine_or_refused(st, &err);
    arenaut_plan_free(plan);
}

static void pass_through_with(const uint8_t *data, size_t size, bool overlap, const char *planner,
                              pte_sweep *result) {
    const arenaut_pipeline_options options = {.format = arenaut_format_find("pte"),
                                              .overwrite = ARENAUT_OVERWRITE_ON,
                                              .overlap = overlap};
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    if (!fine_or_refused(pipeline_open(data, size, &options, NULL, &p, &err), &err)) return;
    plan_and_replay(p, planner, result);
    arenaut_pipeline_free(p);
}

/* With results over operands too, of which every plan must replay or be rejected with a reason. */
static void pass_through(void *context, const uint8_t *data, size_t size) {
    pte_sweep unused = {0};
    pass_through_with(data, size, false, "executorch-greedy", context);
    pass_through_with(data, size, true, "overlap", &unused);
}

/* Where the weights begin, as the header has it. */
static size_t program_size(const uint8_t *data, size_t size) {
    uint64_t stated = 0;
    if (size < 24 || memcmp(data + 8, "eh00", 4) != 0) return size;
    for (unsigned i = 0; i < 8; i++) stated |= (uint64_t)data[16 + i] << (8 * i);
    return stated < size ? (size_t)stated : size;
}

bool pte_replay_property(const uint8_t *data, size_t size) {
    pte_sweep unused = {0};
    if (!pte_property(data, size)) return false;
    pass_through(&unused, data, size);
    return true;
}

pte_sweep pte_sweep_run(uint8_t *data, size_t size, size_t step, uint64_t seed) {
    pte_sweep result = {0};
    const sweep s = {.property = pte_property,
                     .accepted = pass_through,
                     .context = &result,
                     .seed = seed,
                     .step = step,
                     .end = program_size(data, size)};
    const sweep_counts counts = sweep_flips(&s, data, size);
    result.tried = counts.tried;
    result.accepted = counts.accepted;
    return result;
}
