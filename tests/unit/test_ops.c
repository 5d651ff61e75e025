/* The table of operators against all that is written beside it: kernel sets, the checker's loops
 * and rules, the order of effects. A row that is forgotten in one of them fails here. */
#include "support/test.h"

#include <arenaut/dialect.h>
#include <arenaut/kernels.h>

#include "analysis/dependences.h"
#include "check/finding.h"
#include "check/replay/kernel_steps.h"
#include "check/rewrite/rewrite_labels.h"
#include "dialects/dialect.h"
#include "formats/tflite/tflite.h"
#include "formats/tflite/tflite_schema.h"
#include "ir/program.h"
#include "ops/ops.h"
#include "support/programs.h"

/* Every row of a dialect. */
#define EACH_ROW(row, dialect)                                                                     \
    for (size_t row##_n, row##_once = 1; row##_once; row##_once = 0)                               \
        for (const arn_op_row *row = arn_op_rows((dialect), &row##_n), *row##_end = row + row##_n; \
             row < row##_end; row++)

#define EACH_RULE(rule, type, list) for (const type *rule = (list); rule && rule->op; rule++)

static bool is_of_tflite(const char *name) { return strstr(name, "::") == NULL; }

static const arn_op_row *row_of(const char *name) {
    return is_of_tflite(name) ? arn_op_row_find(ARN_OPS_TFLITE, name) : arn_op_row_any(name);
}

/* Ops whose order of reads and writes a set may state. */
static bool has_order(const arn_op_row *row) {
    return row->overlap != ARN_OVERLAP_NONE && row->overlap != ARN_OVERLAP_AT_ONCE &&
           row->overlap != ARN_OVERLAP_IMAGE_THIRD;
}

TEST(rows_are_in_the_order_in_which_they_are_looked_up) {
    for (int dialect = 0; dialect < ARN_OPS_COUNT; dialect++) {
        const char *last = "";
        EACH_ROW(row, (arn_op_dialect)dialect) {
            if (strcmp(last, row->name) >= 0) fail_msg("'%s' comes before '%s'", last, row->name);
            assert_ptr_equal(arn_op_row_find((arn_op_dialect)dialect, row->name), row);
            last = row->name;
        }
    }
    assert_null(arn_op_row_find(ARN_OPS_TFLITE, NULL));
    assert_null(arn_op_row_find(ARN_OPS_TFLITE, "ZZZ"));
    assert_null(arn_op_row_find(ARN_OPS_TFLITE, "AB"));
}

TEST(overloads_without_a_row_are_told_by_their_operator) {
    assert_string_equal(arn_op_row_any("aten::cat.out")->name, "aten::cat");
    assert_string_equal(arn_op_row_any("aten::add.out")->name, "aten::add.Scalar");
    assert_string_equal(arn_op_row_any("aten::add.Tensor")->name, "aten::add.Tensor");
    assert_null(arn_op_row_any("aten::ad"));
    assert_null(arn_op_row_any("aten::cat_.out"));
    assert_null(arn_op_row_any("mine::cat"));
    assert_null(arn_op_row_any(NULL));
}

/* ---- rows against one another ---- */

/* Names are told alike there, so that rows of several dialects must agree. */
TEST(operators_of_one_name_cost_the_same_in_all_dialects) {
    for (int dialect = 0; dialect < ARN_OPS_COUNT; dialect++) {
        EACH_ROW(row, (arn_op_dialect)dialect) {
            if (arn_op_is_cheap(row->name) != (row->cost == ARN_COST_CHEAP))
                fail_msg("'%s' is cheap in one row and dear in another", row->name);
        }
    }
    assert_true(arn_op_is_cheap("aten::hardtanh.out") && arn_op_is_cheap("HARD_SWISH"));
    assert_false(arn_op_is_cheap("aten::convolution") || arn_op_is_cheap("") ||
                 arn_op_is_cheap(NULL));
}

TEST(tiled_operators_have_a_family_with_a_rule_and_name_their_windows) {
    EACH_ROW(row, ARN_OPS_TFLITE) {
        const bool windowed =
            row->family == ARN_FAMILY_CONVOLUTION || row->family == ARN_FAMILY_POOL;
        const bool ruled = windowed || row->family == ARN_FAMILY_PAD ||
                           row->family == ARN_FAMILY_CONCATENATION ||
                           row->family == ARN_FAMILY_ELEMENTWISE;
        if (row->tiled && (!ruled || windowed != (row->window != ARN_WINDOW_NONE)))
            fail_msg("'%s' cannot run on tiles", row->name);
    }
}

TEST(every_number_of_the_schema_has_one_name) {
    int32_t n = 0;
    while (arn_tflite_operator_name(n)) n++;
    size_t numbered = 0;
    EACH_ROW(row, ARN_OPS_TFLITE) numbered += arn_tflite_is_operator_name(row->name);
    assert_int_equal(n, 210);
    assert_int_equal(numbered, n);
    assert_string_equal(arn_tflite_operator_name(BUILTIN_IF), "IF");
}

TEST(dialects_list_their_rows) {
    static const struct {
        const char *name;
        arn_op_dialect rows;
    } pairs[] = {{"aten", ARN_OPS_ATEN}, {"onnx", ARN_OPS_ONNX}};
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        const arenaut_dialect *dialect = arenaut_dialect_find(pairs[i].name);
        EACH_ROW(row, pairs[i].rows) {
            const arenaut_operator *known = arn_dialect_operator(dialect, row->name);
            assert_non_null(known);
            const bool varies = known->traits & ARENAUT_TRAIT_VARIES;
            if (varies && row->purity != ARN_PURITY_RANDOM && row->purity != ARN_PURITY_MAY_DRAW)
                fail_msg("'%s' varies and is pure", row->name);
            if (row->purity == ARN_PURITY_RANDOM && !varies)
                fail_msg("'%s' draws numbers and does not vary", row->name);
        }
    }
}

/* ---- against kernel sets ---- */

static void hold_set(const arenaut_kernel_set *set) {
    EACH_RULE(rule, arenaut_kernel_rule, set->rules) {
        const arn_op_row *row = row_of(rule->op);
        const bool whole = rule->order == ARENAUT_KERNEL_ANY || rule->order == ARENAUT_KERNEL_NONE;
        if (!row || row->overlap == ARN_OVERLAP_NONE || (!whole && !has_order(row)))
            fail_msg("%s: rule of '%s', which has no distance", set->name, rule->op);
    }
    EACH_RULE(rule, arenaut_in_place_rule, set->in_place) {
        const arn_op_row *row = row_of(rule->op);
        if (!row || (is_of_tflite(rule->op) && !(row->in_place >> rule->input & 1)))
            fail_msg("%s: '%s' may write over input %u, which its row does not say", set->name,
                     rule->op, (unsigned)rule->input);
    }
    EACH_RULE(rule, arenaut_scratch_rule, set->scratch) {
        if (!row_of(rule->op)) fail_msg("%s: scratch of '%s', of no row", set->name, rule->op);
    }
    EACH_RULE(rule, arenaut_persistent_rule, set->persistent) {
        if (!row_of(rule->op)) fail_msg("%s: '%s' is kept, of no row", set->name, rule->op);
    }
}

TEST(kernel_sets_speak_of_operators_that_have_rows) {
    for (size_t i = 0; i < arenaut_kernel_set_count(); i++) hold_set(arenaut_kernel_set_at(i));
}

static bool has_types(const arenaut_kernel_set *set, const char *op) {
    EACH_RULE(rule, arenaut_type_rule, set->types) {
        if (strcmp(rule->op, op) == 0) return true;
    }
    return false;
}

static bool has_rule(const arenaut_kernel_set *set, const char *op) {
    EACH_RULE(rule, arenaut_kernel_rule, set->rules) {
        if (strcmp(rule->op, op) == 0) return true;
    }
    return false;
}

/* The Ethos-U is a driver, not a kernel. */
TEST(the_resolver_adds_the_kernels_of_the_micro_runtime) {
    const arenaut_kernel_set *set = arenaut_kernel_set_find("reference");
    EACH_ROW(row, ARN_OPS_TFLITE) {
        const bool added = row->resolver && strcmp(row->name, "ethos-u") != 0;
        if (added != has_types(set, row->name))
            fail_msg("'%s' is %s", row->name, added ? "added and of no types" : "of types only");
    }
}

/* An op with a distance and a kernel has a rule, so that it may overlap. */
TEST(every_distance_is_used_by_a_rule) {
    const arenaut_kernel_set *set = arenaut_kernel_set_find("reference");
    EACH_ROW(row, ARN_OPS_TFLITE) {
        const bool wants = row->overlap != ARN_OVERLAP_NONE && row->resolver;
        if (wants != has_rule(set, row->name))
            fail_msg("'%s' has %s", row->name, wants ? "a distance, and no rule" : "a rule alone");
    }
}

/* An op of ExecuTorch's programs has the rule in the set of its library; rights name operands that
 * its row has. */
TEST(rows_of_executorch_are_used_by_its_kernel_sets) {
    const arenaut_kernel_set *portable = arenaut_kernel_set_find("portable");
    const arenaut_kernel_set *cortex_m = arenaut_kernel_set_find("cortex-m");
    EACH_ROW(row, ARN_OPS_EXECUTORCH) {
        const arenaut_kernel_set *set = strncmp(row->name, "aten::", 6) == 0 ? portable : cortex_m;
        uint32_t rights = 0;
        EACH_RULE(rule, arenaut_in_place_rule, set->in_place) {
            if (strcmp(rule->op, row->name) == 0) rights |= UINT32_C(1) << rule->input;
        }
        if (rights != row->in_place || has_rule(set, row->name) != (row->overlap != 0))
            fail_msg("'%s' has other rules in '%s'", row->name, set->name);
    }
}

/* ---- against the checker, which shares no row ---- */

static const arn_kernel_family *loops_of(const char *op) {
    const arn_kernel_family *const tables[] = {arn_window_kernels, arn_plane_kernels,
                                               arn_element_kernels, arn_moving_kernels,
                                               arn_matrix_kernels};
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        EACH_RULE(family, arn_kernel_family, tables[i]) {
            if (strcmp(family->op, op) == 0) return family;
        }
    }
    return NULL;
}

/* An op that renames bytes has loops and no distance: it lies in place or not. */
TEST(every_distance_has_loops_in_the_checker) {
    EACH_ROW(row, ARN_OPS_TFLITE) {
        const bool wants = row->overlap != ARN_OVERLAP_NONE;
        const bool renames = row->family == ARN_FAMILY_LAYOUT && row->in_place == 1;
        if (wants && !loops_of(row->name))
            fail_msg("the checker has no loops of '%s' (src/check/replay/kernel_steps*)",
                     row->name);
        if (!wants && !renames && loops_of(row->name))
            fail_msg("the checker has loops of '%s', which has no distance", row->name);
    }
    EACH_ROW(row, ARN_OPS_EXECUTORCH) {
        if ((row->overlap != ARN_OVERLAP_NONE) != (loops_of(row->name) != NULL))
            fail_msg("'%s' has a distance, or loops in the checker, alone", row->name);
    }
}

TEST(the_checker_follows_all_tiled_operators) {
    EACH_ROW(row, ARN_OPS_TFLITE) {
        if (row->tiled != (arn_rewrite_row_find(arn_rewrite_rules_find(NULL), row->name) != NULL))
            fail_msg(
                "'%s' is %s", row->name,
                row->tiled
                    ? "tiled, and the checker has no rule (src/check/rewrite/rewrite_kernels.c)"
                    : "never tiled, and the checker has a rule");
    }
}

/* ---- against the dependences of ops ---- */

static bool has_effects(arn_op_dialect rows, const char *name) {
    arenaut_program *p = new_program();
    static const char *const dialects[ARN_OPS_COUNT] = {[ARN_OPS_ATEN] = "aten",
                                                        [ARN_OPS_ONNX] = "onnx"};
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .kind = ARENAUT_OP_OUT, .name = name, IN(x), OUT(y));
    p->dialect = dialects[rows];
    const bool found = arn_has_side_effects(p, &p->ops[0]);
    arn_program_free(p);
    return found;
}

/* These are held by a part of their names though they need not be: an exponential is a
 * distribution, too, and the mask of a dropout is an operand of its gradient. */
static bool sounds_random(const char *name) {
    return strcmp(name, "STABLEHLO_EXPONENTIAL") == 0 ||
           strcmp(name, "aten::native_dropout_backward") == 0;
}

/* Updates and calls are told by the op's kind; tflite-micro's own custom ops are held like all. */
TEST(pure_ops_may_move_and_ops_with_side_effects_may_not) {
    for (int dialect = 0; dialect < ARN_OPS_TVM; dialect++) {
        EACH_ROW(row, (arn_op_dialect)dialect) {
            const bool builtin =
                dialect != ARN_OPS_TFLITE || arn_tflite_is_operator_name(row->name);
            const bool held = has_effects((arn_op_dialect)dialect, row->name);
            const bool holds = row->purity == ARN_PURITY_RANDOM || row->purity == ARN_PURITY_EFFECT;
            if (holds && !held) fail_msg("'%s' is not pure, and may move", row->name);
            if (row->purity == ARN_PURITY_PURE && builtin && held && !sounds_random(row->name))
                fail_msg("'%s' is pure, and may not move", row->name);
        }
    }
}
