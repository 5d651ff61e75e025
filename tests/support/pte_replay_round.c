#include "support/pte_replay_round.h"

#include <string.h>

#include <arenaut/check.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "support/pte_round.h"
#include "support/replay_plan.h"
#include "support/require.h"
#include "support/sweep.h"

/* What is refused is refused for a reason that a file can give, and says which. */
static bool fine_or_refused(arenaut_status st, const arenaut_error *err) {
    if (st == ARENAUT_OK) return true;
    REQUIRE(st == ARENAUT_BAD_INPUT || st == ARENAUT_UNSUPPORTED || st == ARENAUT_TOO_LARGE ||
            st == ARENAUT_REFUSED);
    REQUIRE(err->code == st && err->msg[0]);
    return false;
}

/* Whether replay finds every byte in its place where the plan puts the tensors. */
static bool is_right(const arenaut_program *p, const arenaut_lowering *l,
                     const arenaut_plan *plan) {
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st = replay_plan(p, l, plan, &finding, &err);
    if (st == ARENAUT_REJECTED) REQUIRE(finding.rule != ARENAUT_RULE_NONE && finding.msg[0]);
    return st == ARENAUT_REJECTED ? false : fine_or_refused(st, &err);
}

static void plan_and_replay(const arenaut_program *p, const arenaut_lowering *l,
                            pte_sweep *result) {
    const arenaut_plan_options options = {.planner = "executorch-greedy"};
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    if (!fine_or_refused(arenaut_plan_make(l->problem, &options, NULL, &plan, &err), &err)) return;
    REQUIRE(arenaut_check_plan(l->problem, plan, NULL, &finding, &err) == ARENAUT_OK);
    result->planned++;
    result->right += is_right(p, l, plan);
    arenaut_plan_free(plan);
}

static void go_all_the_way(void *context, const uint8_t *data, size_t size) {
    pte_sweep *result = context;
    const arenaut_target *target = arenaut_target_find("executorch");
    const arenaut_pass_options options = {.target = target};
    arenaut_document document = {0};
    arenaut_lowering *lowering = NULL;
    arenaut_error err = {0};
    arenaut_status st =
        arenaut_read(data, size, arenaut_format_find("pte"), NULL, NULL, &document, &err);
    REQUIRE(st == ARENAUT_OK);
    st = arenaut_passes_run(document.program, "inplace", &options, NULL, NULL, &err);
    if (st == ARENAUT_OK) st = arenaut_lower(document.program, target, NULL, NULL, &lowering, &err);
    if (fine_or_refused(st, &err)) plan_and_replay(document.program, lowering, result);
    arenaut_lowering_free(lowering);
    arenaut_document_free(&document);
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
    go_all_the_way(&unused, data, size);
    return true;
}

pte_sweep pte_sweep_run(uint8_t *data, size_t size, size_t step, uint64_t seed) {
    pte_sweep result = {0};
    const sweep s = {.property = pte_property,
                     .accepted = go_all_the_way,
                     .context = &result,
                     .seed = seed,
                     .step = step,
                     .end = program_size(data, size)};
    const sweep_counts counts = sweep_flips(&s, data, size);
    result.tried = counts.tried;
    result.accepted = counts.accepted;
    return result;
}
