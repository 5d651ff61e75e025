/* ExecuTorch programs from the file to a plan: the least that each needs, that a plan of that size
 * is found and stands up to replay, and which files hold a wrong one. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/format.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "ir/program.h"
#include "support/bytes.h"
#include "support/corpus.h"
#include "support/lowerings.h"
#include "support/plans.h"

/* The runtime reads past the end of the operands of an XNNPACK delegate; the writer adds that to a
 * method's first memory, the problem does not know of it. */
enum { XNNPACK_TAIL = 64 };

typedef struct model {
    const char *name;
    uint64_t arena;                /* all methods and memories together */
    bool in_place, xnnpack, wrong; /* in the file */
} model;

static const model models[] = {
    {"cnn", 81920, false, false, false},
    {"cnn_xnnpack_mixed", 57408, false, true, false},
    {"cond", 5136, false, false, false},
    {"counter", 1216, false, false, false},
    {"efficientnet_b0", 14450688, false, false, false},
    {"elemchain", 49152, false, false, false},
    {"elemchain", 32768, true, false, false},
    {"gpt2_tiny", 70656, false, false, false},
    {"gradout", 4112, false, false, false},
    {"inception_v3", 11063808, false, false, false},
    {"kvllama", 99840, false, false, false},
    {"kvllama_reinplace", 67088, false, false, false},
    {"mlp", 73728, false, false, false},
    {"mlp_dynbatch", 81920, false, false, false},
    {"mlp_linear_preserved", 8192, false, false, false},
    {"mlp_noio", 73728, false, false, false},
    {"mobilenetv2_035", 4816896, false, false, false},
    {"mobilenetv2_035_xnnpack", 602224, false, true, false},
    {"mobilenetv2_100", 9633792, false, false, false},
    {"mobilenetv3_small_100", 4104096, false, false, false},
    {"resnet18", 6422528, false, false, false},
    {"splitcat", 14336, false, false, false},
    {"train_joint", 8432, false, false, false},
    {"twocond", 1568, false, false, true},
    {"twomethods_shared", 1152 + 64 + 80 + 64, false, false, false}, /* the state counts once */
    {"twomethods_unshared", 1424, false, false, false},
    {"unet", 786432, false, false, false},
    {"vit_tiny", 1700320, false, false, false},
};

static arenaut_program *read_model(const char *path, bool in_place) {
    bytes file = read_bytes(path);
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_pass_options options = {.target = arenaut_target_find("executorch")};
    assert_ok(arenaut_read(file.data, file.size, NULL, NULL, NULL, &document, &err), err);
    free_bytes(&file);
    assert_non_null(document.program);
    assert_ok(arenaut_passes_run(document.program, in_place ? "inplace" : NULL, &options, NULL,
                                 NULL, &err),
              err);
    return document.program;
}

TEST(every_program_gets_the_least_it_can_have) {
    const arenaut_plan_options options = {0};
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        char path[512], name[128];
        snprintf(name, sizeof name, "pte/%s.pte", models[i].name);
        corpus_path_or_skip(path, name);
        arenaut_program *p = read_model(path, models[i].in_place);
        arenaut_lowering *l = lower_program(p, "executorch");
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_ok(arenaut_plan_make(l->problem, &options, NULL, &plan, &err), err);
        const uint64_t tail = models[i].xnnpack ? XNNPACK_TAIL : 0;
        if (plan->total + tail != models[i].arena || plan->quality != ARENAUT_OPTIMAL) {
            fail_msg("%s: %lu bytes (%s), expected %lu", models[i].name,
                     (unsigned long)(plan->total + tail), arenaut_quality_name(plan->quality),
                     (unsigned long)models[i].arena);
        }
        assert_plan_stands(p, l, plan);
        arenaut_plan_free(plan);
        free_lowering(l, p);
    }
}

/* The places in the file, with one pool for each memory of each method but for those that hold
 * state shared by methods. */
static arenaut_status replay_file(const arenaut_program *p, arenaut_finding *finding) {
    uint32_t *pool = calloc(p->n_tensors, sizeof *pool);
    uint64_t *offset = calloc(p->n_tensors, sizeof *offset);
    assert_true(pool && offset);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        const bool placed = tensor->given_pool != ARENAUT_NONE;
        const uint32_t method = tensor->given_pool == 0 ? tensor->method : 0;
        pool[t] = placed ? method * 8 + tensor->given_pool : ARENAUT_NONE;
        offset[t] = placed ? tensor->given_offset : 0;
    }
    const arenaut_placement placement = {p->n_tensors, 64, pool, offset, NULL};
    const arenaut_status st = arenaut_check_replay(p, &placement, NULL, NULL, finding, NULL);
    free(pool);
    free(offset);
    return st;
}

TEST(the_plans_in_the_files_are_right_but_for_one) {
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        char path[512], name[128];
        snprintf(name, sizeof name, "pte/%s.pte", models[i].name);
        corpus_path_or_skip(path, name);
        arenaut_program *p = read_model(path, false);
        arenaut_finding finding;
        const arenaut_status st = replay_file(p, &finding);
        if (st != (models[i].wrong ? ARENAUT_REJECTED : ARENAUT_OK)) {
            fail_msg("%s: %s", models[i].name, finding.msg);
        }
        if (models[i].wrong) {
            /* A value that left the first conditional by a move, overwritten in the second. */
            assert_int_equal(finding.rule, ARENAUT_RULE_CLOBBERED);
            assert_int_equal(finding.op, 20);
            assert_int_equal(finding.first, 0);
            assert_int_equal(finding.end, 512);
            assert_non_null(strstr(finding.msg, "aten::sub.out"));
            assert_non_null(strstr(finding.msg, "forward"));
            assert_non_null(strstr(finding.msg, "'v2'"));
            assert_non_null(strstr(finding.msg, "'v22'"));
        }
        arn_program_free(p);
    }
}
