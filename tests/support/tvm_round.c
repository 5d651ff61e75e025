#include "support/tvm_round.h"

#include <string.h>

#include "ir/program.h"
#include "support/require.h"

arenaut_status tvm_open(const void *data, size_t size, const char *target, const char *planner,
                        const arenaut_allocator *allocator, arenaut_pipeline **out,
                        arenaut_error *err) {
    const arenaut_pipeline_options options = {.path = "graph.json",
                                              .format = arenaut_format_find("tvm-json"),
                                              .target = arenaut_target_find(target),
                                              .plan = {.planner = planner, .effort = 20000}};
    return pipeline_open(data, size, &options, allocator, out, err);
}

arenaut_status tvm_write(const arenaut_pipeline *p, const arenaut_allocator *allocator,
                         arenaut_text *out, arenaut_error *err) {
    *out = (arenaut_text){.allocator = allocator};
    const arenaut_status st =
        p->document.format->write(&p->result, arenaut_text_sink(out), allocator, err);
    if (st != ARENAUT_OK) arenaut_text_free(out);
    return st;
}

uint64_t tvm_bytes_now(const arenaut_pipeline *p) {
    const arenaut_method *main = &p->document.program->methods[0];
    uint64_t sum = 0;
    for (uint32_t k = 0; k < main->n_given_pools; k++) sum += main->given_pools[k].bytes;
    return sum;
}

static void require_written_back(const arenaut_pipeline *p) {
    arenaut_text written, again;
    arenaut_error err = {0};
    arenaut_pipeline *second = NULL;
    REQUIRE(tvm_write(p, NULL, &written, &err) == ARENAUT_OK);
    REQUIRE(tvm_open(written.bytes, written.size, "tvm", "shared-objects", NULL, &second, &err) ==
            ARENAUT_OK);
    REQUIRE(tvm_bytes_now(second) == p->plan->total);
    REQUIRE(second->plan->total <= p->plan->total);
    REQUIRE(tvm_write(second, NULL, &again, &err) == ARENAUT_OK);
    REQUIRE(again.size == written.size && memcmp(again.bytes, written.bytes, again.size) == 0);
    arenaut_pipeline_free(second);
    arenaut_text_free(&again);
    arenaut_text_free(&written);
}

bool tvm_property(const uint8_t *data, size_t size) {
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    const arenaut_status st = tvm_open(data, size, "tvm", "shared-objects", NULL, &p, &err);
    if (st != ARENAUT_OK) {
        REQUIRE(is_refusal(st, &err));
        return false;
    }
    REQUIRE(arn_program_validate(p->document.program, &err) == ARENAUT_OK);
    require_written_back(p);
    arenaut_pipeline_free(p);
    return true;
}
