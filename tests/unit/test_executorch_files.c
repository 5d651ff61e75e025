/* ExecuTorch's two planners on the programs that it exported: their arenas are ExecuTorch's own,
 * byte for byte. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/format.h>
#include <arenaut/lowering.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "ir/program.h"
#include "support/corpus.h"
#include "support/documents.h"
#include "support/lowerings.h"
#include "support/oracle.h"
#include "support/problems.h"

static arenaut_program *read_program(const char *path) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    size_t size;
    char *bytes = load_file(path, &size);
    assert_ok(try_read("pte", bytes, size, NULL, &document, &err), err);
    free(bytes);
    return document.program;
}

/* Frees nothing. */
static uint64_t total_by(const arenaut_problem *problem, const char *planner, uint64_t reserve) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)reserve);
    const arenaut_setting setting = {"reserve", text};
    const arenaut_plan_options options = {
        .planner = planner, .settings = &setting, .n_settings = 1};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_make(problem, &options, NULL, &plan, &err), err);
    assert_plan_accepted(problem, plan);
    const uint64_t total = plan->total;
    arenaut_plan_free(plan);
    return total;
}

static void assert_total(const char *file, const char *planner, uint64_t found, uint64_t wanted) {
    if (found == wanted) return;
    fail_msg("%s: %s needs %llu bytes, and ExecuTorch needed %llu", file, planner,
             (unsigned long long)found, (unsigned long long)wanted);
}

/* ---- programs that run straight through ---- */

/* As ExecuTorch reported them. */
static const struct {
    const char *file;
    uint64_t naive, greedy;
} straight[] = {
    {"cnn", 214448, 81920},
    {"cnn_xnnpack_mixed", 57664, 57408},
    {"counter", 1424, 1216},
    {"efficientnet_b0", 119071824, 14753792},
    {"elemchain", 147456, 49152},
    {"gpt2_tiny", 620592, 70656},
    {"gradout", 11312, 5264},
    {"inception_v3", 144086864, 13723904},
    {"kvllama", 530352, 100352},
    {"mlp", 122176, 73728},
    {"mlp_dynbatch", 140928, 81920},
    {"mlp_linear_preserved", 18752, 8192},
    {"mlp_noio", 119808, 73728},
    {"mobilenetv2_035", 34383024, 4816896},
    {"mobilenetv2_035_xnnpack", 602160, 602224},
    {"mobilenetv2_100", 84444832, 9936896},
    {"mobilenetv3_small_100", 35290464, 4898816},
    {"resnet18", 37177248, 6422528},
    {"splitcat", 19984, 14336},
    {"train_joint", 24048, 8432},
    {"unet", 3301376, 786432},
    {"vit_tiny", 132376352, 2141488},
};

/* Planned buffers that the file does not show as tensors: for each state that is written back at
 * the end, a result of its size. The greedy planner puts these over something else; the other one
 * gives each of them memory. */
static uint64_t written_back(const arenaut_program *p) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (strcmp(op->name, "aten::copy_") != 0) continue;
        const arenaut_tensor *to = &p->tensors[arenaut_program_storage(p, op->outputs[0], NULL)];
        if (to->cls == ARENAUT_STATE) bytes += (to->bytes + 15) / 16 * 16;
    }
    return bytes;
}

/* Bytes that ExecuTorch's greedy planner, and it alone, adds for the delegate. */
static uint64_t tail_for_xnnpack(const arenaut_program *p) {
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (strcmp(p->ops[i].name, "XnnpackBackend") == 0) return 64;
    }
    return 0;
}

TEST(both_need_what_executorch_needed) {
    const arenaut_target *target = arenaut_target_find("executorch");
    const arenaut_pass_options options = {.target = target};
    char path[1024];
    assert_non_null(target);
    for (size_t i = 0; i < COUNT_OF(straight); i++) {
        char name[64];
        arenaut_error err = {0};
        snprintf(name, sizeof name, "pte/%s.pte", straight[i].file);
        corpus_path_or_skip(path, name);
        arenaut_program *p = read_program(path);
        assert_ok(arenaut_passes_run(p, NULL, &options, NULL, NULL, &err), err);
        arenaut_lowering *l = lower_for(p, target, NULL);
        assert_total(name, "executorch-naive",
                     total_by(l->problem, "executorch-naive", written_back(p)), straight[i].naive);
        assert_total(name, "executorch-greedy",
                     total_by(l->problem, "executorch-greedy", 0) + tail_for_xnnpack(p),
                     straight[i].greedy);
        free_lowering(l, p);
    }
}

/* ---- conditionals ---- */

/* A program as its exporter saw it: each side of a conditional is a graph of its own, which
 * is planned first, and one moment for the graph around it. */
typedef struct exporters_view {
    const arenaut_program *program;
    uint32_t *side;  /* per op: the side that it is in, counted from 1; 0: none */
    int64_t *moment; /* per op: for the graph around: the conditional's own op */
    uint32_t n_sides;
} exporters_view;

static void mark_side(exporters_view *v, uint32_t first, uint32_t end, uint32_t conditional) {
    v->n_sides++;
    for (uint32_t op = first; op < end; op++) {
        assert_int_equal(v->side[op], 0); /* nested ones are not in these files */
        v->side[op] = v->n_sides;
        v->moment[op] = conditional;
    }
}

static exporters_view view_of(const arenaut_program *p) {
    exporters_view v = {p, calloc(p->n_ops, sizeof *v.side), calloc(p->n_ops, sizeof *v.moment), 0};
    assert_int_equal(p->n_methods, 1);
    for (uint32_t op = 0; op < p->n_ops; op++) v.moment[op] = op;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        if (p->ops[op].kind != ARENAUT_OP_JUMP_FALSE) continue;
        const uint32_t other = p->ops[op].target;
        assert_true(other > op + 1 && p->ops[other - 1].kind == ARENAUT_OP_JUMP);
        mark_side(&v, op + 1, other - 1, op);
        mark_side(&v, other, p->ops[other - 1].target, op);
        op = p->ops[other - 1].target - 1;
    }
    return v;
}

static bool touches(const arenaut_op *op, uint32_t tensor) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] == tensor) return true;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == tensor) return true;
    }
    return false;
}

static bool is_in(const uint32_t *list, uint32_t n, uint32_t tensor) {
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] == tensor) return true;
    }
    return false;
}

/* The only side that touches a tensor; 0 if it belongs to the graph around. The target of a move of
 * a side's result belongs there, like all that comes in or goes out. */
static uint32_t home_of(const exporters_view *v, uint32_t tensor) {
    const arenaut_method *m = &v->program->methods[0];
    uint32_t home = UINT32_MAX;
    if (is_in(m->inputs, m->n_inputs, tensor) || is_in(m->outputs, m->n_outputs, tensor)) return 0;
    for (uint32_t i = 0; i < v->program->n_ops; i++) {
        const arenaut_op *op = &v->program->ops[i];
        if (!touches(op, tensor)) continue;
        const bool received = op->kind == ARENAUT_OP_MOVE && op->outputs[0] == tensor;
        const uint32_t side = received ? 0 : v->side[i];
        if (home != UINT32_MAX && home != side) return 0;
        home = side;
    }
    return home;
}

/* The tensors of one graph: 0 is the one around all sides. */
static arenaut_problem *graph_of(const exporters_view *v, uint32_t graph) {
    const arenaut_program *program = v->program;
    const arenaut_method *m = &program->methods[0];
    arenaut_problem *problem = new_problem();
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        if (program->tensors[t].given_pool == ARENAUT_NONE || home_of(v, t) != graph) continue;
        int64_t first = INT64_MAX, last = -1;
        for (uint32_t op = 0; op < program->n_ops; op++) {
            if (!touches(&program->ops[op], t)) continue;
            const int64_t at = graph ? op : v->moment[op];
            if (at < first) first = at;
            if (at > last) last = at;
        }
        if (is_in(m->inputs, m->n_inputs, t)) first = -1;
        if (is_in(m->outputs, m->n_outputs, t)) last = program->n_ops;
        add_box(problem, (program->tensors[t].bytes + 15) / 16 * 16, first, last + 1);
    }
    finish(problem);
    return problem;
}

/* The need of the largest side is kept free at the bottom, whichever planner does the rest. */
static uint64_t reserve_for_sides(const exporters_view *v) {
    uint64_t most = 0;
    for (uint32_t side = 1; side <= v->n_sides; side++) {
        arenaut_problem *problem = graph_of(v, side);
        const uint64_t total = total_by(problem, "executorch-greedy", 0);
        if (total > most) most = total;
        arenaut_problem_free(problem);
    }
    return most;
}

TEST(conditionals_are_planned_above_the_reserve_for_their_sides) {
    static const struct {
        const char *file;
        uint64_t naive, greedy;
    } files[] = {{"pte/cond.pte", 7200, 6176}, {"pte/twocond.pte", 3104, 2592}};
    char path[1024];
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        corpus_path_or_skip(path, files[i].file);
        arenaut_program *p = read_program(path);
        exporters_view v = view_of(p);
        const uint64_t reserve = reserve_for_sides(&v);
        arenaut_problem *around = graph_of(&v, 0);
        assert_int_equal(reserve, 1040);
        assert_total(files[i].file, "executorch-naive",
                     total_by(around, "executorch-naive", reserve), files[i].naive);
        assert_total(files[i].file, "executorch-greedy",
                     total_by(around, "executorch-greedy", reserve), files[i].greedy);
        arenaut_problem_free(around);
        free(v.side);
        free(v.moment);
        arn_program_free(p);
    }
}
