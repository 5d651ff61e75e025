/* torch.export archives: reading, the pipeline's passes, and bad input. The models of our own are
 * made by tests/models/make_pt2.py. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/dialect.h>
#include <arenaut/expr.h>
#include <arenaut/pass.h>

#include "dialects/dialect.h"
#include "formats/pt2/pt2.h"
#include "ir/expr.h"
#include "support/bytes.h"
#include "support/corpus.h"
#include "support/fuse.h"
#include "support/pt2_round.h"
#include "support/sweep.h"

/* ---- helpers ---- */

static arenaut_pipeline *open_file(const char *path, const char *selection) {
    arenaut_pipeline *round = NULL;
    arenaut_error err = {0};
    bytes b = read_bytes(path);
    const arenaut_status st = pt2_open(b.data, b.size, selection, NULL, &round, &err);
    if (st != ARENAUT_OK) fail_msg("%s: %s", path, err.msg);
    free_bytes(&b);
    return round;
}

static arenaut_pipeline *open_own(const char *name, const char *selection) {
    char path[300];
    snprintf(path, sizeof path, "%s/pt2/%s.pt2", TEST_DATA, name);
    return open_file(path, selection);
}

static uint64_t own_arena(const char *name, const char *selection) {
    arenaut_pipeline *round = open_own(name, selection);
    const uint64_t arena = round->plan->total;
    arenaut_pipeline_free(round);
    return arena;
}

static const arenaut_tensor *tensor_named(const arenaut_program *p, const char *name) {
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].name && strcmp(p->tensors[t].name, name) == 0) return &p->tensors[t];
    }
    fail_msg("no tensor '%s'", name);
    return NULL;
}

static const arenaut_op *op_named(const arenaut_program *p, const char *name) {
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (p->ops[i].name && strcmp(p->ops[i].name, name) == 0) return &p->ops[i];
    }
    return NULL;
}

/* The tensor whose memory it lies in. */
static const char *storage_of(const arenaut_program *p, const char *name) {
    const uint32_t t = (uint32_t)(tensor_named(p, name) - p->tensors);
    return p->tensors[arenaut_program_storage(p, t, NULL)].name;
}

/* As read, before any pass. */
static arenaut_document read_own(const char *name) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    bytes b = data_bytes("pt2/%s.pt2", name);
    assert_ok(arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err), err);
    free_bytes(&b);
    assert_string_equal(document.format->name, "pt2");
    return document;
}

/* ---- reading ---- */

TEST(parameters_buffers_and_inputs_are_told_apart) {
    arenaut_document document = read_own("cache");
    const arenaut_program *p = document.program;
    assert_string_equal(p->dialect, "aten");
    assert_int_equal(tensor_named(p, "b_kv")->cls, ARENAUT_STATE);
    assert_string_equal(tensor_named(p, "b_kv")->qualified_name, "kv");
    assert_int_equal(tensor_named(p, "b_table")->cls, ARENAUT_STATE); /* until a pass looks */
    assert_int_equal(tensor_named(p, "x")->cls, ARENAUT_INPUT);
    assert_int_equal(tensor_named(p, "at")->dtype, ARENAUT_DTYPE_INT64);
    assert_int_equal(p->methods[0].n_inputs, 2);
    assert_int_equal(p->methods[0].n_outputs, 1);
    assert_string_equal(p->methods[0].name, "forward");
    const arenaut_op *copy = op_named(p, "aten::index_copy_");
    assert_non_null(copy);
    assert_int_equal(copy->kind, ARENAUT_OP_IN_PLACE);
    assert_true(strncmp(copy->source, "make_pt2.py:", 12) == 0);
    arenaut_document_free(&document);
    document = read_own("chain");
    assert_int_equal(tensor_named(document.program, "p_first_weight")->cls, ARENAUT_CONSTANT);
    assert_non_null(strstr(op_named(document.program, "aten::linear")->source, " in first"));
    arenaut_document_free(&document);
}

TEST(mutations_gradients_and_losses_are_bound) {
    arenaut_document document = read_own("cache_functional");
    const arenaut_method *m = &document.program->methods[0];
    assert_int_equal(m->n_bindings, 1);
    assert_int_equal(m->bindings[0].kind, ARENAUT_BINDING_MUTATES);
    assert_string_equal(document.program->tensors[m->bindings[0].target].name, "b_kv");
    arenaut_document_free(&document);
    document = read_own("gradients");
    m = &document.program->methods[0];
    unsigned n[ARENAUT_BINDING_COUNT] = {0};
    for (uint32_t i = 0; i < m->n_bindings; i++) n[m->bindings[i].kind]++;
    assert_int_equal(n[ARENAUT_BINDING_LOSS], 1);
    assert_int_equal(n[ARENAUT_BINDING_GRADIENT], 4);
    assert_int_equal(m->n_outputs, 0);
    arenaut_document_free(&document);
}

/* ---- windows ---- */

static void assert_numbers(const arenaut_op *op, const char *name, const int64_t *numbers,
                           uint32_t n) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        const arenaut_attribute *a = &op->attributes[i];
        if (strcmp(a->name, name) != 0) continue;
        assert_null(a->text);
        assert_int_equal(a->n_numbers, n);
        assert_memory_equal(a->numbers, numbers, n * sizeof *numbers);
        return;
    }
    fail_msg("'%s' has no '%s'", op->name, name);
}
#define ASSERT_NUMBERS(op, name, ...)                        \
    assert_numbers(op, name, (const int64_t[]){__VA_ARGS__}, \
                   sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static const char *text_of(const arenaut_op *op, const char *name) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        if (strcmp(op->attributes[i].name, name) == 0) return op->attributes[i].text;
    }
    return NULL;
}

TEST(windows_are_attributes_in_the_forms_of_onnx) {
    arenaut_document document = read_own("windows");
    const arenaut_program *p = document.program;
    const arenaut_op *conv = op_named(p, "aten::conv2d");
    ASSERT_NUMBERS(conv, "strides", 2, 1);
    ASSERT_NUMBERS(conv, "pads", 1, 2, 1, 2);
    ASSERT_NUMBERS(conv + 1, "dilations", 2, 2);
    ASSERT_NUMBERS(conv + 1, "group", 2);
    assert_string_equal(text_of(op_named(p, "aten::conv2d.padding"), "pads"), "same");
    const arenaut_op *pool = op_named(p, "aten::max_pool2d");
    ASSERT_NUMBERS(pool, "kernel_shape", 3, 3);
    ASSERT_NUMBERS(pool, "strides", 2, 2);
    ASSERT_NUMBERS(pool, "pads", 1, 1, 1, 1);
    pool = op_named(p, "aten::avg_pool2d"); /* whose strides are left out */
    ASSERT_NUMBERS(pool, "strides", 2, 2);
    ASSERT_NUMBERS(pool, "count_include_pad", 1);
    ASSERT_NUMBERS(op_named(p, "aten::cat"), "axis", 1);
    ASSERT_NUMBERS(op_named(p, "aten::slice.Tensor"), "start", 2);
    ASSERT_NUMBERS(op_named(p, "aten::upsample_bilinear2d.vec"), "scales", 2, 2);
    ASSERT_NUMBERS(op_named(p, "aten::pad"), "pads", 0, 0, 0, 1, 0, 0, 3, 2);
    assert_string_equal(text_of(op_named(p, "aten::pad"), "value"), "1.5");
    assert_string_equal(text_of(op_named(p, "aten::hardtanh"), "min_val"), "-0.5");
    ASSERT_NUMBERS(op_named(p, "aten::batch_norm"), "training", 0);
    arenaut_document_free(&document);
    document = read_own("windows_core");
    conv = op_named(document.program, "aten::convolution");
    ASSERT_NUMBERS(conv, "transposed", 0);
    ASSERT_NUMBERS(conv + 1, "pads", 2, 2, 2, 2);
    ASSERT_NUMBERS(op_named(document.program, "aten::constant_pad_nd"), "pads", 0, 0, 0, 1, 0, 0, 3,
                   2);
    arenaut_document_free(&document);
}

TEST(sizes_that_vary_are_expressions_with_ranges) {
    arenaut_document document = read_own("sizes");
    arenaut_program *p = document.program;
    const arenaut_tensor *x = tensor_named(p, "x"), *cat = tensor_named(p, "cat");
    int64_t min, max;
    assert_true(x->dynamic);
    assert_int_equal(x->dims[1], 16);
    assert_int_equal(x->dims[0], -1);
    assert_int_equal(arn_expr_range(p, x->dim_exprs[0], &min, &max, NULL), ARENAUT_OK);
    assert_int_equal(min, 2);
    assert_int_equal(max, 64);
    assert_int_equal(arn_expr_range(p, cat->dim_exprs[0], &min, &max, NULL), ARENAUT_OK);
    assert_int_equal(max, 96);
    assert_null(cat->strides);
    /* A transposed tensor says so, and does not lie densely. */
    const arenaut_tensor *turned = tensor_named(p, "transpose");
    assert_non_null(turned->strides);
    assert_true(turned->strides[0] < turned->strides[1]);
    arenaut_document_free(&document);
}

TEST(branches_capture_and_loops_carry) {
    arenaut_document document = read_own("branches");
    const arenaut_program *p = document.program;
    assert_int_equal(p->n_methods, 5);
    const arenaut_op *cond = op_named(p, "higher_order::cond");
    assert_int_equal(cond->kind, ARENAUT_OP_IF);
    assert_int_equal(cond->n_calls, 2);
    assert_int_equal(p->methods[cond->calls[0]].outer, 0);
    assert_int_equal(p->methods[cond->calls[0]].n_inputs, 0);
    assert_false(p->methods[cond->calls[0]].entry);
    arenaut_document_free(&document);

    document = read_own("loop");
    p = document.program;
    const arenaut_op *loop = op_named(p, "higher_order::while_loop");
    assert_int_equal(loop->kind, ARENAUT_OP_WHILE);
    assert_int_equal(loop->n_inputs, 4);
    assert_int_equal(loop->n_outputs, 2);
    assert_int_equal(p->methods[loop->calls[1]].n_inputs, 2); /* the other two are captured */
    assert_int_equal(p->methods[loop->calls[1]].n_outputs, 2);
    arenaut_document_free(&document);

    document = read_own("scan");
    p = document.program;
    loop = op_named(p, "higher_order::scan");
    assert_int_equal(loop->kind, ARENAUT_OP_LOOP);
    assert_int_equal(loop->target, 1);
    assert_int_equal(p->methods[loop->calls[0]].n_inputs, 2);
    arenaut_document_free(&document);
}

TEST(srepr_becomes_infix) {
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"Symbol('s77', positive=True, integer=True)", "`s77`"},
        {"Integer(-1)", "(-1)"},
        {"Add(FloorDiv(Add(Symbol('s0', integer=True), Integer(-1)), Integer(2)), Integer(1))",
         "(floordiv((`s0` + (-1)), (2)) + (1))"},
        {"Mul(Rational(1, 2), Symbol('u0'))", "((1/2)*`u0`)"},
        {"Max(Integer(1), Symbol('u0', integer=True))", "max((1), `u0`)"},
        {"Pow(Symbol('s0'), Integer(2))", "(`s0`**(2))"},
        {"PythonMod(Symbol('s0'), Integer(8))", "mod(`s0`, (8))"},
    };
    static const char *const wrong[] = {
        "",          "Symbol(",        "Symbol('x'",  "Piecewise(Integer(1))",
        "Integer()", "Add(Integer(1)", "Integer(1))", "Integer(x)",
        "Add(,)",    "Symbol('a`b')"};
    char text[400];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(arn_pt2_infix(cases[i].from, strlen(cases[i].from), text));
        assert_string_equal(text, cases[i].to);
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        if (arn_pt2_infix(wrong[i], strlen(wrong[i]), text)) fail_msg("'%s' is accepted", wrong[i]);
    }
    char deep[1000] = "";
    for (int i = 0; i < 100; i++) strcat(deep, "Add(");
    char *room = malloc(4 * sizeof deep);
    assert_non_null(room);
    assert_false(arn_pt2_infix(deep, strlen(deep), room));
    free(room);
}

/* Two archives of one graph, with other weights: the directory's sums tell. */
static uint64_t first_value_of_kv(const char *weight, const char *config) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    bytes archive = data_bytes("pt2/cache.pt2"), json = pt2_json(&archive);
    const zip_part parts[] = {
        {"m/models/model.json", json.data, json.size},
        {"m/data/weights/model_weights_config.json", config, strlen(config)},
        {"m/data/weights/weight_0", weight, strlen(weight)},
    };
    bytes b = zip_of(parts, COUNT_OF(parts), true);
    assert_ok(arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err), err);
    const uint64_t value = tensor_named(document.program, "b_kv")->first_value;
    arenaut_document_free(&document);
    free_bytes(&b);
    free_bytes(&json);
    free_bytes(&archive);
    return value;
}

TEST(first_values_are_told_apart) {
    static const char config[] = "{\"config\": {\"kv\": {\"path_name\": \"weight_0\"}}}";
    const uint64_t zeroes = first_value_of_kv("0000", config);
    assert_true(zeroes != 0);
    assert_true(first_value_of_kv("0000", config) == zeroes);
    assert_true(first_value_of_kv("0001", config) != zeroes);
    assert_true(first_value_of_kv("0000", "{\"config\": {}}") == 0);
    assert_true(first_value_of_kv("0000", "{\"config\"") == 0);
    assert_true(first_value_of_kv("0000", "{\"config\": {\"kv\": {\"path_name\": \"x\"}}}") == 0);
}

/* ---- through the pipeline ---- */

TEST(every_own_model_has_a_plan_that_stands_up_to_replay) {
    static const struct {
        const char *name;
        uint64_t arena;
    } models[] = {
        {"branches", 1040}, {"cache", 1088},        {"cache_functional", 1600},
        {"chain", 1024},    {"count", 768},         {"custom_functional", 512},
        {"decode", 656},    {"decode_larger", 912}, {"gradients", 1248},
        {"loop", 1088},     {"norm", 336},          {"norm_functional", 480},
        {"scan", 768},      {"sizes", 12480},
    };
    static const char *const selections[] = {"", "inplace", "reinplace,slices,inplace"};
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        for (size_t k = 0; k < COUNT_OF(selections); k++) {
            const uint64_t arena = own_arena(models[i].name, selections[k]);
            if (k == 0 && arena > models[i].arena) {
                fail_msg("%s: %lu bytes", models[i].name, (unsigned long)arena);
            }
        }
    }
}

/* Where no op updates anything, views may as well be copies. */
TEST(views_may_be_left_as_copies) {
    assert_true(own_arena("chain", "-views") > own_arena("chain", NULL));
    assert_true(own_arena("gradients", "-views") >= own_arena("gradients", NULL));
}

TEST(sizes_without_end_are_named) {
    arenaut_pipeline *round = NULL;
    arenaut_error err = {0};
    bytes b = data_bytes("pt2/endless.pt2");
    assert_int_equal(pt2_open(b.data, b.size, NULL, NULL, &round, &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "has no upper bound"));
    free_bytes(&b);
}

TEST(views_lie_in_what_they_view) {
    arenaut_pipeline *round = open_own("chain", NULL);
    const arenaut_program *p = round->document.program;
    assert_string_equal(storage_of(p, "transpose"), "relu"); /* not the reshape between them */
    assert_string_equal(storage_of(p, "contiguous"), "contiguous"); /* that one copies */
    assert_string_equal(storage_of(p, "unsqueeze"), "linear_1");
    arenaut_pipeline_free(round);
}

/* The training form updates the state; the functional form does once that is found again. */
TEST(both_forms_of_a_model_get_the_same_plan) {
    assert_int_equal(own_arena("cache_functional", "reinplace"), own_arena("cache", NULL));
    assert_true(own_arena("cache_functional", NULL) > own_arena("cache", NULL));
    arenaut_pipeline *functional = open_own("cache_functional", NULL);
    const arenaut_op *back = op_named(functional->document.program, "aten::copy_");
    assert_non_null(back);
    assert_int_equal(back->kind, ARENAUT_OP_IN_PLACE); /* it has no out variant */
    arenaut_pipeline_free(functional);
}

TEST(buffers_that_nothing_writes_stay_outside) {
    arenaut_pipeline *round = open_own("cache", NULL);
    const arenaut_program *p = round->document.program;
    assert_int_equal(tensor_named(p, "b_kv")->cls, ARENAUT_STATE);
    assert_int_equal(tensor_named(p, "b_table")->cls, ARENAUT_CONSTANT);
    arenaut_pipeline_free(round);
}

/* The schema of batch_norm does not say that it writes its running statistics. */
TEST(running_statistics_are_written) {
    arenaut_pipeline *round = open_own("norm", NULL);
    const arenaut_program *p = round->document.program;
    const arenaut_op *update = op_named(p, "update_operands");
    assert_non_null(update);
    assert_int_equal(update->kind, ARENAUT_OP_IN_PLACE);
    assert_int_equal(tensor_named(p, "b_norm_running_mean")->cls, ARENAUT_STATE);
    assert_int_equal(tensor_named(p, "b_norm_running_var")->cls, ARENAUT_STATE);
    arenaut_pipeline_free(round);
}

TEST(wrapped_updates_are_undone) {
    arenaut_pipeline *round = open_own("custom_functional", NULL);
    const arenaut_program *p = round->document.program;
    const arenaut_op *op = op_named(p, "tests::scale_");
    assert_non_null(op);
    assert_int_equal(op->kind, ARENAUT_OP_IN_PLACE);
    assert_string_equal(storage_of(p, "getitem_1"), "add");
    arenaut_pipeline_free(round);
    assert_true(own_arena("custom_functional", "-undo-functionalization") >=
                own_arena("custom_functional", NULL));
}

TEST(a_wrapped_update_may_return_a_tensor_as_well) {
    arenaut_pipeline *round = open_own("custom_returns", NULL);
    const arenaut_program *p = round->document.program;
    const arenaut_op *op = op_named(p, "tests::two");
    assert_non_null(op);
    assert_int_equal(op->kind, ARENAUT_OP_IN_PLACE);
    assert_int_equal(op->n_outputs, 3);
    assert_string_equal(storage_of(p, "getitem_1"), "mul");
    assert_string_equal(storage_of(p, "getitem"), "getitem");
    arenaut_pipeline_free(round);
    assert_int_equal(own_arena("custom_returns", NULL), 256);
    assert_int_equal(own_arena("custom_returns", "-undo-functionalization"), 384);
}

TEST(gradients_are_results) {
    arenaut_pipeline *round = open_own("gradients", NULL);
    assert_int_equal(round->document.program->methods[0].n_outputs, 5);
    arenaut_pipeline_free(round);
}

TEST(asserts_and_questions_about_sizes_are_gone) {
    arenaut_pipeline *round = open_own("count", NULL);
    const arenaut_program *p = round->document.program;
    assert_null(op_named(p, "aten::_assert_scalar"));
    assert_null(op_named(p, "aten::sym_size.int"));
    assert_int_equal(tensor_named(p, "nonzero")->dims[0], 32);
    assert_true(tensor_named(p, "nonzero")->dynamic);
    arenaut_pipeline_free(round);
}

/* ---- the corpus ---- */

/* Greedy by size; the notes on each are looked at below. */
TEST(corpus_models_have_plans_that_stand_up_to_replay) {
    static const struct {
        const char *name;
        uint64_t arena;
    } models[] = {
        {"symnet", 536870912},
        {"odd_stride", 335544320},
        {"unbacked_nonzero", 1600},
        {"kv_buffer", 4368},
        {"kv_buffer_functional", 8480},
        {"bn_train", 1573024},
        {"bn_train_functional", 1573248},
        {"cond_hop", 24592},
        {"mobilenetv2_050", 308281344},
        {"resnet18", 411041792},
        {"vit_tiny", 87146496},
    };
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        char path[300], file[64];
        snprintf(file, sizeof file, "pt2/%s.pt2", models[i].name);
        corpus_path_or_skip(path, file);
        arenaut_pipeline *round = open_file(path, NULL);
        if (round->plan->total != models[i].arena) {
            fail_msg("%s: %lu bytes", file, (unsigned long)round->plan->total);
        }
        arenaut_pipeline_free(round);
    }
}

TEST(corpus_forms_agree) {
    char path[300], functional[300];
    corpus_path_or_skip(path, "pt2/kv_buffer.pt2");
    corpus_path_or_skip(functional, "pt2/kv_buffer_functional.pt2");
    arenaut_pipeline *a = open_file(path, NULL), *b = open_file(functional, "reinplace");
    assert_int_equal(a->plan->total, b->plan->total);
    arenaut_pipeline_free(a);
    arenaut_pipeline_free(b);
}

TEST(the_table_knows_every_view_of_the_corpus) {
    char path[300], line[200];
    corpus_path_or_skip(path, "pt2/aten_alias.csv");
    static const char *const views[] = {
        "view",       "permute",      "transpose.int",      "select.int",
        "expand",     "slice.Tensor", "unsqueeze",          "split.Tensor",
        "unbind.int", "reshape",      "flatten.using_ints", "contiguous",
        "to.dtype"};
    const arenaut_dialect *aten = arenaut_dialect_find("aten");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t found = 0;
    while (fgets(line, sizeof line, file)) {
        for (size_t i = 0; i < COUNT_OF(views); i++) {
            char row[100], name[100];
            const char *overload = strchr(views[i], '.') ? "" : ".default";
            snprintf(row, sizeof row, "torch.ops.aten.%s%s,view,", views[i], overload);
            if (strncmp(line, row, strlen(row)) != 0) continue;
            snprintf(name, sizeof name, "aten::%s", views[i]);
            const arenaut_operator *known = arn_dialect_operator(aten, name);
            assert_non_null(known);
            assert_true(known->traits & (ARENAUT_TRAIT_VIEW | ARENAUT_TRAIT_MAY_VIEW));
            found++;
        }
    }
    fclose(file);
    assert_int_equal(found, COUNT_OF(views));
    for (size_t i = 1; i < aten->n_operators; i++) {
        assert_true(strcmp(aten->operators[i - 1].name, aten->operators[i].name) < 0);
    }
}

/* ---- bad input ---- */

#define GRAPH(nodes, values, specs)                                                        \
    "{\"schema_version\": {\"major\": 8}, \"graph_module\": {\"graph\": {\"inputs\": [], " \
    "\"outputs\": [], \"nodes\": [" nodes "], \"tensor_values\": {" values                 \
    "}}, \"signature\": "                                                                  \
    "{\"input_specs\": [], \"output_specs\": [" specs "]}}}"
#define VALUE(name, sizes, strides) \
    "\"" name "\": {\"dtype\": 7, \"sizes\": [" sizes "], \"strides\": [" strides "]}"
#define RELU(from, to)                                                                            \
    "{\"target\": \"torch.ops.aten.relu.default\", \"inputs\": [{\"name\": \"self\", \"arg\": "   \
    "{\"as_tensor\": {\"name\": \"" from "\"}}}], \"outputs\": [{\"as_tensor\": {\"name\": \"" to \
    "\"}}]}"

#define ON(name, device) \
    "\"" name "\": {\"dtype\": 7, \"sizes\": [], \"strides\": [], \"device\": " device "}"

/* Numbers are those of device.h where it has one; devices without memory count as the host. */
TEST(devices_are_numbered_as_everywhere) {
    static const char json[] = GRAPH(
        "", ON("a", "{\"type\": \"cpu\", \"index\": null}") ", "
        ON("b", "{\"type\": \"cuda\", \"index\": 3}") ", "
        ON("c", "{\"type\": \"opencl\"}") ", " ON("d", "{\"type\": \"mkldnn\"}") ", "
        ON("e", "{\"type\": \"meta\"}") ", " ON("f", "{\"type\": \"mps\", \"index\": 0}"), "");
    static const struct {
        const char *name;
        uint16_t type, index;
    } expected[] = {{"a", ARENAUT_DEVICE_HOST, 0},   {"b", ARENAUT_DEVICE_CUDA, 3},
                    {"c", ARENAUT_DEVICE_OPENCL, 0}, {"d", 4, 0},
                    {"e", ARENAUT_DEVICE_HOST, 0},   {"f", 13, 0}};
    arenaut_document document = {0};
    arenaut_error err = {0};
    bytes b = pt2_of(json, strlen(json));
    assert_ok(arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err), err);
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const arenaut_tensor *t = tensor_named(document.program, expected[i].name);
        assert_int_equal(t->device.type, expected[i].type);
        assert_int_equal(t->device.index, expected[i].index);
    }
    arenaut_document_free(&document);
    free_bytes(&b);
}

#define SIZES "{\"as_int\": 1}, {\"as_int\": 1}, {\"as_int\": 1}, {\"as_int\": 1}"
#define NAMED(name) "{\"name\": \"" name "\"}"
#define TENSOR(name) "{\"as_tensor\": " NAMED(name) "}"

/* Each form that names tensors in an argument; they are read in the order of the text. */
TEST(tensors_are_found_wherever_arguments_hold_them) {
    static const char *const arguments[] = {
        "\"as_tensors\": [" NAMED("a") ", " NAMED("b") ", " NAMED("c") "]",
        "\"as_optional_tensors\": [" TENSOR("a") ", {\"as_none\": true}, " TENSOR("b") ", " TENSOR("c") "]",
        "\"as_nested_tensors\": [[" NAMED("a") "], [], [" NAMED("b") ", " NAMED("c") "]]",
        "\"as_string_to_argument\": {\"k\": " TENSOR("a") ", \"n\": {\"as_int\": 1}, \"l\": "
        "{\"as_string_to_argument\": {\"m\": {\"as_tensors\": [" NAMED("b") ", " NAMED("c") "]}}}}",
    };
    for (size_t i = 0; i < COUNT_OF(arguments); i++) {
        char json[2000];
        arenaut_document document = {0};
        arenaut_error err = {0};
        snprintf(json, sizeof json,
                 GRAPH("{\"target\": \"f\", \"inputs\": [{\"name\": \"x\", \"arg\": {%s}}], "
                       "\"outputs\": [" TENSOR("d") "]}",
                       VALUE("a", "", "") ", " VALUE("b", "", "") ", " VALUE(
                           "c", "", "") ", " VALUE("d", "", ""),
                       ""),
                 arguments[i]);
        bytes b = pt2_of(json, strlen(json));
        assert_ok(arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err), err);
        const arenaut_op *op = &document.program->ops[0];
        assert_int_equal(op->n_inputs, 3);
        for (uint32_t k = 0; k < 3; k++) assert_int_equal(op->inputs[k], k);
        arenaut_document_free(&document);
        free_bytes(&b);
    }
}

/* Whether a stride is left out, spelled out for both axes, or no number to anybody. */
TEST(windows_of_unknown_forms_are_no_numbers) {
    static const struct {
        const char *argument, *text;
        uint32_t n;
    } cases[] = {
        {"\"as_none\": true", NULL, 0},
        {"\"as_ints\": [3]", NULL, 2},
        {"\"as_ints\": [3, 3]", NULL, 2},
        {"\"as_ints\": [2.5]", "?", 0},
        {"\"as_ints\": \"ab\"", "?", 0},
        {"\"as_ints\": [[3]]", "?", 0},
        {"\"as_sym_ints\": [3]", "?", 0},
        {"\"as_int\": 1e99", "?", 0},
        {"\"as_float\": \"Infinity\"", "Infinity", 0},
        {"\"as_float\": 3e0", "3e0", 0},
        {"\"as_ints\": [1, 1, 1, 1, 1, 1, 1, 1, 1]", "?", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char json[2000];
        arenaut_document document = {0};
        arenaut_error err = {0};
        snprintf(json, sizeof json,
                 GRAPH("{\"target\": \"torch.ops.aten.conv2d.default\", \"inputs\": [{\"name\": "
                       "\"input\", \"arg\": " TENSOR("a") "}, {\"name\": \"stride\", \"arg\": "
                                                          "{%s}}], \"outputs\": [" TENSOR("b") "]}",
                       VALUE("a", SIZES, SIZES) ", " VALUE("b", "", ""), ""),
                 cases[i].argument);
        bytes b = pt2_of(json, strlen(json));
        assert_ok(arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err), err);
        const arenaut_op *op = &document.program->ops[0];
        assert_int_equal(op->n_attributes, cases[i].n > 0 || cases[i].text);
        if (cases[i].text) assert_string_equal(text_of(op, "strides"), cases[i].text);
        else if (cases[i].n > 0) ASSERT_NUMBERS(op, "strides", 3, 3);
        arenaut_document_free(&document);
        free_bytes(&b);
    }
}

#define OPERAND(name, arg) "{\"name\": \"" name "\", \"arg\": " arg "}"
#define NOTHING "{\"as_none\": true}"
#define OPTIONAL(arg) "{\"as_optional_tensor\": " arg "}"

/* What is left out of its operands, or is in another order than in the schema, is said. */
TEST(operands_in_another_order_have_their_places) {
    static const struct {
        const char *target, *arguments;
        uint32_t n;
        int64_t places[5]; /* all 0: as in the schema */
    } cases[] = {
        {"conv2d", OPERAND("input", TENSOR("a")), 1, {0}},
        {"conv2d",
         OPERAND("input", TENSOR("a")) ", " OPERAND("weight", TENSOR("b")) ", " OPERAND("bias",
                                                                                        NOTHING),
         2,
         {0}},
        {"conv2d",
         OPERAND("input", TENSOR("a")) ", " OPERAND("weight", TENSOR("b")) ", " OPERAND(
             "bias", TENSOR("c")),
         3,
         {0}},
        {"conv2d",
         OPERAND("input", TENSOR("a")) ", " OPERAND("bias", TENSOR("c")) ", " OPERAND("weight",
                                                                                      TENSOR("b")),
         3,
         {0, 2, 1}},
        {"conv2d", OPERAND("weight", TENSOR("a")) ", " OPERAND("input", TENSOR("b")), 2, {1, 0}},
        {"conv2d", OPERAND("input", TENSOR("a")) ", " OPERAND("other", TENSOR("b")), 2, {0, -1}},
        {"group_norm",
         OPERAND("input", TENSOR("a")) ", " OPERAND("weight", TENSOR("b")) ", " OPERAND(
             "num_groups", "{\"as_int\": 1}") ", " OPERAND("bias", OPTIONAL(TENSOR("c"))),
         3,
         {0}},
        {"group_norm",
         OPERAND("input", TENSOR("a")) ", " OPERAND("weight", OPTIONAL(NOTHING)) ", " OPERAND(
             "bias", TENSOR("c")),
         2,
         {0, 2}},
        {"instance_norm",
         OPERAND("input", TENSOR("a")) ", " OPERAND("weight", NOTHING) ", " OPERAND(
             "bias", NOTHING) ", " OPERAND("running_mean", TENSOR("b")) ", " OPERAND("running_var",
                                                                                     TENSOR("c")),
         3,
         {0, 3, 4}},
        {"batch_norm",
         OPERAND("input", TENSOR("a")) ", " OPERAND("running_mean", TENSOR("b")) ", " OPERAND(
             "running_var", TENSOR("c")),
         3,
         {0, 3, 4}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char json[2000];
        arenaut_document document = {0};
        arenaut_error err = {0};
        snprintf(json, sizeof json,
                 GRAPH("{\"target\": \"torch.ops.aten.%s.default\", \"inputs\": [%s], "
                       "\"outputs\": [" TENSOR("d") "]}",
                       VALUE("a", SIZES, SIZES) ", " VALUE("b", "", "") ", " VALUE(
                           "c", "", "") ", " VALUE("d", "", ""),
                       ""),
                 cases[i].target, cases[i].arguments);
        bytes b = pt2_of(json, strlen(json));
        assert_ok(arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err), err);
        const arenaut_op *op = &document.program->ops[0];
        const arenaut_attribute *places = arenaut_op_attribute(op, "operands");
        assert_int_equal(op->n_inputs, cases[i].n);
        assert_int_equal(places != NULL,
                         cases[i].n > 1 && (cases[i].places[0] || cases[i].places[1]));
        if (places) {
            assert_int_equal(places->n_numbers, cases[i].n);
            assert_memory_equal(places->numbers, cases[i].places,
                                cases[i].n * sizeof *places->numbers);
        }
        arenaut_document_free(&document);
        free_bytes(&b);
    }
}

/* A normalization that trains with one statistic of the two updates that one alone. */
TEST(one_running_statistic_is_written) {
    static const char *const names[] = {"running_mean", "running_var"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char json[2000];
        arenaut_document document = {0};
        arenaut_error err = {0};
        snprintf(
            json, sizeof json,
            GRAPH("{\"target\": \"torch.ops.aten.instance_norm.default\", \"inputs\": "
                  "[" OPERAND("input", TENSOR("a")) ", {\"name\": \"%s\", \"arg\": " TENSOR(
                      "b") "}, " OPERAND("use_input_stats",
                                         "{\"as_bool\": true}") "], "
                                                                "\"outputs\": "
                                                                "[" TENSOR("c") "]}",
                  VALUE("a", SIZES, SIZES) ", " VALUE("b", "", "") ", " VALUE("c", "", ""), ""),
            names[i]);
        bytes b = pt2_of(json, strlen(json));
        assert_ok(arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err), err);
        assert_int_equal(document.program->n_ops, 2);
        const arenaut_op *update = &document.program->ops[1];
        assert_int_equal(update->kind, ARENAUT_OP_IN_PLACE);
        assert_int_equal(update->n_inputs, 1);
        assert_string_equal(document.program->tensors[update->inputs[0]].name, "b");
        arenaut_document_free(&document);
        free_bytes(&b);
    }
}

/* However many a node has. */
TEST(all_written_operands_are_kept) {
#define WRITTEN "{\"name\": \"scale\", \"arg\": " TENSOR("b") "}"
    static const char json[] = GRAPH(
        "{\"target\": \"torch.ops.aten._fused_moving_avg_obs_fq_helper.default\", \"inputs\": "
        "[" OPERAND("self", TENSOR("a")) ", " WRITTEN ", " WRITTEN ", " WRITTEN ", " WRITTEN
                                         ", {\"name\": \"zero_point\", \"arg\": " TENSOR(
                                             "c") "}], \"outputs\": [" TENSOR("d") "]}",
        VALUE("a", SIZES, SIZES) ", " VALUE("b", "", "") ", " VALUE("c", "", "") ", " VALUE("d", "",
                                                                                            ""),
        "");
    arenaut_document document = {0};
    arenaut_error err = {0};
    bytes b = pt2_of(json, strlen(json));
    assert_ok(arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err), err);
    assert_int_equal(document.program->n_ops, 2);
    const arenaut_op *update = &document.program->ops[1];
    assert_int_equal(update->n_inputs, 5);
    assert_string_equal(document.program->tensors[update->inputs[4]].name, "c");
    arenaut_document_free(&document);
    free_bytes(&b);
}
#undef WRITTEN

/* Its first operand is the result; of the others it writes one. */
TEST(updates_write_more_than_their_results) {
    static const char json[] = GRAPH(
        "{\"target\": \"torch.ops.aten.rrelu_with_noise_.default\", \"inputs\": [" OPERAND(
            "self", TENSOR("a")) ", " OPERAND("noise",
                                              TENSOR("b")) "], \"outputs\": [" TENSOR("d") "]}",
        VALUE("a", SIZES, SIZES) ", " VALUE("b", SIZES, SIZES) ", " VALUE("d", SIZES, SIZES), "");
    arenaut_document document = {0};
    arenaut_error err = {0};
    bytes b = pt2_of(json, strlen(json));
    assert_ok(arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err), err);
    assert_int_equal(document.program->n_ops, 2);
    const arenaut_op *update = &document.program->ops[1];
    assert_int_equal(update->kind, ARENAUT_OP_IN_PLACE);
    assert_int_equal(update->n_inputs, 1);
    assert_string_equal(document.program->tensors[update->inputs[0]].name, "b");
    arenaut_document_free(&document);
    free_bytes(&b);
}

TEST(mistakes_are_named) {
    static const struct {
        const char *json, *part;
    } cases[] = {
        {"{", "line 1"},
        {"{}", "'schema_version' is missing"},
        {"{\"schema_version\": {\"major\": 99}}", "version"},
        {"{\"schema_version\": {\"major\": 8}}", "'graph_module' is missing"},
        {GRAPH(RELU("a", "b"), "", ""), "no value 'a'"},
        {GRAPH(RELU("a", "b"), VALUE("a", "", ""), ""), "no value 'b'"},
        {GRAPH("", VALUE("a", "{\"as_int\": 4}", ""), ""), "0 strides"},
        {GRAPH("", VALUE("a", "{\"as_int\": -4}", "{\"as_int\": 1}"), ""), "a size"},
        {GRAPH("", VALUE("a", "{}", "{}"), ""), "a size"},
        {GRAPH("",
               VALUE("a", "{\"as_int\": 9007199254740992}, {\"as_int\": 9007199254740992}",
                     "{\"as_int\": 9007199254740992}, {\"as_int\": 1}"),
               ""),
         "2^63"},
        {GRAPH("", VALUE("a", "", "") ", " VALUE("a", "", ""), ""), "a"},
        {GRAPH("", "\"a\": {}", ""), "'dtype' is missing"},
        {GRAPH("", ON("a", "{\"type\": \"warp\", \"index\": 0}"), ""),
         "found \"warp\"; expected a type"},
        {GRAPH("", ON("a", "{\"type\": 1}"), ""), "a type of device"},
        {GRAPH("", ON("a", "{\"type\": \"cuda\", \"index\": -1}"), ""), "the index of a device"},
        {GRAPH("", ON("a", "{\"type\": \"cuda\", \"index\": 65536}"), ""), "the index of a device"},
        {GRAPH("{\"target\": 1}", "", ""), "a string"},
        {GRAPH("{}", "", ""), "'target' is missing"},
        {GRAPH("", "",
               "{\"buffer_mutation\": {\"arg\": {\"name\": \"x\"}, \"buffer_name\": \"k\"}}"),
         "no value 'x'"},
        {GRAPH("", VALUE("x", "", ""),
               "{\"buffer_mutation\": {\"arg\": {\"name\": \"x\"}, \"buffer_name\": \"k\"}}"),
         "no parameter or buffer 'k'"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_document document = {0};
        arenaut_error err = {0};
        bytes b = pt2_of(cases[i].json, strlen(cases[i].json));
        assert_true(arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err) != ARENAUT_OK);
        if (!strstr(err.msg, cases[i].part)) fail_msg("%zu: %s", i, err.msg);
        free_bytes(&b);
    }
}

TEST(archives_of_others_are_not_taken_for_ours) {
    static const zip_part other[] = {{"a/data.pkl", "x", 1}};
    static const zip_part twice[] = {{"a/models/model.json", "{}", 2},
                                     {"b/models/model.json", "{}", 2}};
    arenaut_document document = {0};
    arenaut_error err = {0};
    bytes b = zip_of(other, 1, false);
    assert_null(arenaut_format_recognise(b.data, b.size));
    assert_int_equal(
        arenaut_read(b.data, b.size, arenaut_format_find("pt2"), NULL, NULL, &document, &err),
        ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "no models/model.json"));
    free_bytes(&b);
    b = zip_of(twice, 2, false);
    assert_int_equal(
        arenaut_read(b.data, b.size, arenaut_format_find("pt2"), NULL, NULL, &document, &err),
        ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "two entries"));
    free_bytes(&b);
}

/* Whatever a model.json says, in an archive whose sums are right. */
TEST(damaged_graphs_are_survived) {
    static const char *const names[] = {"custom_functional", "cache_functional", "scan"};
    const sweep cuts = {.property = pt2_property, .step = 100},
                flips = {.property = pt2_property, .step = 2};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes archive = data_bytes("pt2/%s.pt2", names[i]);
        bytes json = pt2_json(&archive);
        assert_int_equal(sweep_cuts(&cuts, json.data, json.size).accepted, 0);
        (void)sweep_flips(&flips, json.data, json.size);
        free_bytes(&json);
        free_bytes(&archive);
    }
}

TEST(cut_archives_are_refused) {
    const sweep s = {.property = pt2_property, .step = 7};
    bytes archive = data_bytes("pt2/cache.pt2");
    assert_int_equal(sweep_cuts(&s, archive.data, archive.size).accepted, 0);
    free_bytes(&archive);
}

static arenaut_status attempt(void *context, const arenaut_allocator *allocator) {
    const bytes *b = context;
    arenaut_pipeline *round = NULL;
    arenaut_error err = {0};
    const arenaut_status st =
        pt2_open(b->data, b->size, "reinplace,slices,inplace", allocator, &round, &err);
    if (st == ARENAUT_OK) arenaut_pipeline_free(round);
    return st;
}

TEST(running_out_of_memory_is_survived) {
    static const char *const names[] = {"custom_functional", "custom_returns", "sizes", "branches",
                                        "norm"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes b = data_bytes("pt2/%s.pt2", names[i]);
        survives_every_allocation_failure(attempt, &b);
        free_bytes(&b);
    }
}
