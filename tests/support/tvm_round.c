#include "support/tvm_round.h"

#include <string.h>

#include <arenaut/check.h>
#include <arenaut/pass.h>

#include "support/require.h"

void tvm_round_close(tvm_round *round) {
    arenaut_plan_free(round->plan);
    arenaut_lowering_free(round->lowering);
    arenaut_document_free(&round->document);
}

arenaut_status tvm_round_open(const void *data, size_t size, const char *target,
                              const char *planner, const arenaut_allocator *allocator,
                              tvm_round *round, arenaut_error *err) {
    const arenaut_plan_options options = {.planner = planner, .effort = 20000};
    const arenaut_target *t = arenaut_target_find(target);
    const arenaut_pass_options pass_options = {.target = t};
    *round = (tvm_round){.plan = NULL};
    arenaut_status st = arenaut_read(data, size, arenaut_format_find("tvm-json"), NULL, allocator,
                                     &round->document, err);
    if (st != ARENAUT_OK) return st;
    arenaut_program *program = round->document.program;
    st = arenaut_passes_run(program, NULL, &pass_options, NULL, NULL, err);
    if (st == ARENAUT_OK) {
        st = arenaut_lower(program, t, NULL, allocator, &round->lowering, err);
    }
    if (st == ARENAUT_OK) {
        st = arenaut_plan_make(round->lowering->problem, &options, allocator, &round->plan, err);
    }
    if (st != ARENAUT_OK) {
        tvm_round_close(round);
        return st;
    }
    round->result = (arenaut_result){.path = "graph.json",
                                     .format = "tvm-json",
                                     .file = data,
                                     .file_size = size,
                                     .program = program,
                                     .target = t,
                                     .lowering = round->lowering,
                                     .problem = round->lowering->problem,
                                     .plan = round->plan,
                                     .seconds = -1};
    return ARENAUT_OK;
}

arenaut_status tvm_round_write(const tvm_round *round, const arenaut_allocator *allocator,
                               arenaut_text *out, arenaut_error *err) {
    *out = (arenaut_text){.allocator = allocator};
    const arenaut_status st = arenaut_format_find("tvm-json")
                                  ->write(&round->result, arenaut_text_sink(out), allocator, err);
    if (st != ARENAUT_OK) arenaut_text_free(out);
    return st;
}

uint64_t tvm_round_now(const tvm_round *round) {
    const arenaut_method *main = &round->document.program->methods[0];
    uint64_t sum = 0;
    for (uint32_t k = 0; k < main->n_given_pools; k++) sum += main->given_pools[k].bytes;
    return sum;
}

static void require_written_back(const tvm_round *round) {
    arenaut_text written, again;
    arenaut_error err = {0};
    tvm_round second;
    REQUIRE(tvm_round_write(round, NULL, &written, &err) == ARENAUT_OK);
    REQUIRE(tvm_round_open(written.bytes, written.size, "tvm", "shared-objects", NULL, &second,
                           &err) == ARENAUT_OK);
    REQUIRE(tvm_round_now(&second) == round->plan->total);
    REQUIRE(second.plan->total <= round->plan->total);
    REQUIRE(tvm_round_write(&second, NULL, &again, &err) == ARENAUT_OK);
    REQUIRE(again.size == written.size && memcmp(again.bytes, written.bytes, again.size) == 0);
    arenaut_text_free(&again);
    arenaut_text_free(&written);
    tvm_round_close(&second);
}

bool tvm_property(const uint8_t *data, size_t size) {
    tvm_round round;
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st =
        tvm_round_open(data, size, "tvm", "shared-objects", NULL, &round, &err);
    REQUIRE(st != ARENAUT_NO_MEMORY && st != ARENAUT_INTERNAL && st != ARENAUT_BAD_ARGUMENT);
    if (st != ARENAUT_OK) {
        REQUIRE(err.code == st && err.msg[0]);
        return false;
    }
    REQUIRE(arenaut_program_validate(round.document.program, &err) == ARENAUT_OK);
    REQUIRE(arenaut_check_plan(round.lowering->problem, round.plan, NULL, &finding, &err) ==
            ARENAUT_OK);
    require_written_back(&round);
    tvm_round_close(&round);
    return true;
}
