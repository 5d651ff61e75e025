/* Files with repeated ops: damaged, they are read rightly or refused, memory may run out at any
 * point, and combinations that do not go together are not written. */
#include "support/test.h"
#include "support/thorough.h"

#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "support/bytes.h"
#include "support/fuse.h"
#include "support/pt2_round.h"
#include "support/pt2_again_round.h"
#include "support/sweep.h"

static arenaut_pipeline *run_again(const bytes *file) {
    const arenaut_pipeline_options options = {.recomputing = {.on = true}};
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_pipeline_run(file->data, file->size, &options, NULL, &p, &err), err);
    assert_non_null(p->rewrite);
    return p;
}

TEST(written_files_hold_a_node_for_each_run) {
    bytes file = data_bytes("pt2/waiting.pt2");
    arenaut_pipeline *p = run_again(&file);
    arenaut_text text = {0};
    arenaut_document back = {0};
    arenaut_error err = {0};
    assert_ok(arenaut_pipeline_write(p, false, arenaut_text_sink(&text), &err), err);
    assert_ok(arenaut_read((const uint8_t *)text.bytes, text.size, NULL, NULL, NULL, &back, &err),
              err);
    const arenaut_program *program = back.program;
    assert_int_equal(program->n_ops, p->rewrite->n_ops);
    assert_int_equal(program->n_tensors, p->rewrite->n_tensors);
    const uint32_t *argument = p->rewrite->arguments;
    uint32_t n_copies = 0;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) assert_int_equal(op->inputs[k], *argument++);
        for (uint32_t k = 0; k < op->n_outputs; k++) assert_int_equal(op->outputs[k], *argument++);
    }
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        n_copies += strstr(program->tensors[t].name, "__again_2") != NULL;
    }
    assert_int_equal(n_copies, 4); /* the result of one op, and three of another */
    arenaut_document_free(&back);
    arenaut_text_free(&text);
    arenaut_pipeline_free(p);
    free_bytes(&file);
}

/* The archive's sums reveal changes of the model, so the model is damaged by itself. */
TEST(damaged_files_are_survived_before_and_after_ops_run_again) {
    arenaut_error err = {0};
    bytes file = data_bytes("pt2/waiting.pt2");
    arenaut_text text = {0};
    uint32_t n_again = 0;
    assert_true(pt2_again_property(file.data, file.size));
    assert_ok(pt2_again_write(file.data, file.size, false, NULL, &text, &n_again, &err), err);
    assert_true(n_again > 0);
    bytes written = copy_bytes(text.bytes, text.size);
    bytes all[] = {file, written, pt2_json(&file), pt2_json(&written)};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        const sweep s = {
            .property = pt2_again_property, .seed = i, .step = one_of(2 * all[i].size / 150 + 1)};
        assert_true(sweep_flips(&s, all[i].data, all[i].size).tried > 0);
        (void)sweep_cuts(&s, all[i].data, all[i].size);
        (void)sweep_scatter(&s, all[i].data, all[i].size, 60 * thorough());
        free_bytes(&all[i]);
    }
    arenaut_text_free(&text);
}

static arenaut_status write_with(void *context, const arenaut_allocator *allocator) {
    const bytes *file = context;
    arenaut_text text = {0}; /* whose sink may not fail */
    uint32_t n_again = 0;
    const arenaut_status st =
        pt2_again_write(file->data, file->size, false, allocator, &text, &n_again, NULL);
    if (st == ARENAUT_OK) assert_true(n_again > 0);
    arenaut_text_free(&text);
    return st;
}

TEST(writing_ops_again_survives_running_out_of_memory) {
    static const char *const names[] = {"pt2/waiting.pt2", "onnx/waiting.onnx"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes file = data_bytes("%s", names[i]);
        survives_every_allocation_failure(write_with, &file);
        free_bytes(&file);
    }
}

/* ---- the curve ---- */

/* b waits over the large h; s is updated in between, so that bounds are of a problem of their own.
 */
static const char updated[] =
    "{\"schema\": \"arenaut.program/1\", \"tensors\": ["
    "{\"name\": \"x\", \"bytes\": 16}, {\"name\": \"s\", \"bytes\": 16}, "
    "{\"name\": \"b\", \"bytes\": 512}, {\"name\": \"k\", \"bytes\": 16}, "
    "{\"name\": \"s1\", \"bytes\": 16, \"view_of\": \"s\"}, "
    "{\"name\": \"h\", \"bytes\": 1024}, {\"name\": \"y\", \"bytes\": 16}], "
    "\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": ["
    "{\"name\": \"A\", \"pure\": true, \"inputs\": [\"x\"], \"outputs\": [\"s\"]}, "
    "{\"name\": \"B\", \"pure\": true, \"inputs\": [\"s\"], \"outputs\": [\"b\"]}, "
    "{\"name\": \"K\", \"pure\": true, \"inputs\": [\"b\"], \"outputs\": [\"k\"]}, "
    "{\"name\": \"U\", \"kind\": \"in_place\", \"in_place\": [[0, 0]], "
    "\"inputs\": [\"s\", \"k\"], \"outputs\": [\"s1\"]}, "
    "{\"name\": \"H\", \"pure\": true, \"inputs\": [\"s1\"], \"outputs\": [\"h\"]}, "
    "{\"name\": \"R\", \"pure\": true, \"inputs\": [\"b\", \"h\"], \"outputs\": [\"y\"]}]}";

static arenaut_status find_curve(void *context, const arenaut_allocator *allocator) {
    const arenaut_pipeline_options options = {
        .recomputing = {.on = true, .options = {.budget = 1200}}};
    arenaut_recompute_curve *curve = NULL;
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    (void)context;
    arenaut_status st = arenaut_pipeline_run((const uint8_t *)updated, sizeof updated - 1, &options,
                                             allocator, &p, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_find_curve(p, &curve, &err);
    if (st == ARENAUT_OK) assert_true(curve->n_points > 0);
    if (st != ARENAUT_OK && st != ARENAUT_NO_MEMORY) fail_msg("%s", err.msg);
    arenaut_recompute_curve_free(curve);
    arenaut_pipeline_free(p);
    return st;
}

TEST(a_curve_whose_bounds_are_apart_survives_running_out_of_memory) {
    survives_every_allocation_failure(find_curve, NULL);
}

/* ---- ONNX ---- */

/* Holds for any bytes: they are refused with a message, or a written file is read back. */
static bool onnx_property(const uint8_t *data, size_t size) {
    arenaut_text written = {0};
    arenaut_document back = {0};
    arenaut_error err = {0};
    uint32_t n_again = 0;
    const arenaut_status st = pt2_again_write(data, size, true, NULL, &written, &n_again, &err);
    assert_true(st == ARENAUT_OK || st == ARENAUT_NO_PLAN || err.msg[0] != '\0');
    assert_true(st != ARENAUT_INTERNAL && st != ARENAUT_NO_MEMORY);
    if (st == ARENAUT_OK) {
        assert_ok(arenaut_read((const uint8_t *)written.bytes, written.size, NULL, NULL, NULL,
                               &back, &err),
                  err);
        arenaut_document_free(&back);
    }
    arenaut_text_free(&written);
    return n_again > 0;
}

TEST(damaged_models_are_survived_before_and_after_nodes_run_again) {
    arenaut_error err = {0};
    bytes file = data_bytes("onnx/waiting.onnx");
    arenaut_text text = {0};
    uint32_t n_again = 0;
    assert_true(onnx_property(file.data, file.size));
    assert_ok(pt2_again_write(file.data, file.size, false, NULL, &text, &n_again, &err), err);
    assert_true(n_again > 0);
    bytes all[] = {file, copy_bytes(text.bytes, text.size)};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        const sweep s = {
            .property = onnx_property, .seed = i, .step = one_of(2 * all[i].size / 1000 + 1)};
        assert_true(sweep_flips(&s, all[i].data, all[i].size).tried > 0);
        (void)sweep_cuts(&s, all[i].data, all[i].size);
        (void)sweep_scatter(&s, all[i].data, all[i].size, 200 * thorough());
        free_bytes(&all[i]);
    }
    arenaut_text_free(&text);
}

/* ---- rewrites that are of another file, or of none ---- */

typedef void (*spoiler)(arenaut_rewrite *r);

static void have_other_ops(arenaut_rewrite *r) { r->n_ops_before--; }
static void have_fewer_ops(arenaut_rewrite *r) { r->n_ops = r->n_ops_before - 1; }
static void have_fewer_tensors(arenaut_rewrite *r) { r->n_tensors -= 5; }
static void be_of_no_op(arenaut_rewrite *r) { r->ops[3] = r->n_ops_before; }
static void be_of_no_tensor(arenaut_rewrite *r) { r->tensors[2].tensor = r->n_tensors; }
static void have_no_arguments(arenaut_rewrite *r) { r->arguments = NULL; }
static void read_nothing(arenaut_rewrite *r) { r->arguments[0] = ARENAUT_NONE; }
static void read_what_is_not_there(arenaut_rewrite *r) { r->arguments[0] = r->n_tensors; }
static void make_what_another_makes(arenaut_rewrite *r) { r->arguments[2] = r->arguments[0]; }
static void run_an_op_twice(arenaut_rewrite *r) { r->ops[1] = r->ops[0]; }
static void leave_an_op_out(arenaut_rewrite *r) { r->ops[4] = r->ops[5]; }

TEST(a_rewrite_of_something_else_is_refused) {
    static const spoiler spoilers[] = {
        have_other_ops,          have_fewer_ops,    have_fewer_tensors, be_of_no_op,
        be_of_no_tensor,         have_no_arguments, read_nothing,       read_what_is_not_there,
        make_what_another_makes, run_an_op_twice,   leave_an_op_out,
    };
    static const char *const names[] = {"pt2/waiting.pt2", "onnx/waiting.onnx"};
    for (size_t i = 0; i < COUNT_OF(names) * COUNT_OF(spoilers); i++) {
        bytes file = data_bytes("%s", names[i / COUNT_OF(spoilers)]);
        arenaut_pipeline *p = run_again(&file);
        arenaut_rewrite spoiled = *p->rewrite;
        arenaut_result result = p->result;
        arenaut_text text = {0};
        arenaut_error err = {0};
        result.rewrite = &spoiled;
        spoilers[i % COUNT_OF(spoilers)](&spoiled);
        const arenaut_status st =
            p->document.format->write(&result, arenaut_text_sink(&text), NULL, &err);
        if (st != ARENAUT_REFUSED) fail_msg("%zu: status %d", i, st);
        assert_int_equal(text.size, 0);
        assert_true(err.msg[0] != '\0');
        arenaut_text_free(&text);
        arenaut_pipeline_free(p);
        free_bytes(&file);
    }
}

/* ---- ops that cannot be repeated ---- */

/* The model with one part of its text replaced, as an archive. */
static bytes with_text(const bytes *file, const char *part, const char *other) {
    bytes json = pt2_json(file);
    char *text = calloc(json.size + strlen(other) + 1, 1);
    assert_non_null(text);
    memcpy(text, json.data, json.size);
    char *at = strstr(text, part);
    assert_non_null(at);
    const size_t behind = strlen(at + strlen(part)) + 1;
    memmove(at + strlen(other), at + strlen(part), behind);
    memcpy(at, other, strlen(other));
    const bytes changed = pt2_of(text, strlen(text));
    free(text);
    free_bytes(&json);
    return changed;
}

static const char made[] = "\"outputs\": [{\"as_tensor\": {\"name\": \"sigmoid\"}}";

TEST(a_node_that_makes_more_than_tensors_stands_there_once) {
    static const char *const more[] = {
        "\"outputs\": [{\"as_tensor\": {\"name\": \"sigmoid\"}}, {\"as_sym_int\": {\"as_name\": "
        "\"n\"}}",
        "\"outputs\": [{\"as_tensor\": {\"name\": \"sigmoid\"}}, {\"as_custom_obj\": {\"name\": "
        "\"n\"}}"};
    for (size_t i = 0; i < COUNT_OF(more); i++) {
        bytes file = data_bytes("pt2/waiting.pt2"), changed = with_text(&file, made, more[i]);
        arenaut_text text = {0};
        arenaut_error err = {0};
        uint32_t n_again = 0;
        const arenaut_status st =
            pt2_again_write(changed.data, changed.size, false, NULL, &text, &n_again, &err);
        assert_int_equal(n_again, 2);
        assert_int_equal(st, ARENAUT_REFUSED);
        if (!strstr(err.msg, "sigmoid' makes something else than tensors")) fail_msg("%s", err.msg);
        assert_int_equal(text.size, 0);
        arenaut_text_free(&text);
        free_bytes(&changed);
        free_bytes(&file);
    }
}

/* ---- orders that are no sequence of the file's ops ---- */

/* In the best order of its rematerialized program, ops read results of another run than the latest.
 */
static const char exchanging[] =
    "{\"schema\": \"arenaut.program/1\", \"inputs\": [0], \"outputs\": [6, 7, 8, 9], \"tensors\": "
    "[{\"bytes\": 1000}, {\"bytes\": 5000}, {\"bytes\": 2000}, {\"bytes\": 6007}, {\"bytes\": "
    "3000}, {\"bytes\": 1000}, {\"bytes\": 1000}, {\"bytes\": 1000}, {\"bytes\": 1000}, "
    "{\"bytes\": 1000}], \"ops\": ["
    "{\"name\": \"Relu\", \"inputs\": [0], \"outputs\": [1], \"pure\": true}, "
    "{\"name\": \"Relu\", \"inputs\": [1], \"outputs\": [2], \"pure\": true}, "
    "{\"name\": \"Neg\", \"inputs\": [2], \"outputs\": [3], \"pure\": true}, "
    "{\"name\": \"Add\", \"inputs\": [2], \"outputs\": [4, 5], \"pure\": true}, "
    "{\"name\": \"Neg\", \"inputs\": [3], \"outputs\": [6], \"pure\": true}, "
    "{\"name\": \"Relu\", \"inputs\": [1, 5], \"outputs\": [7, 8], \"pure\": true}, "
    "{\"name\": \"Relu\", \"inputs\": [0, 4], \"outputs\": [9], \"pure\": true}]}";

static arenaut_status plan_exchanging(const arenaut_pipeline_options *options,
                                      const arenaut_allocator *allocator, uint64_t *arena) {
    arenaut_pipeline *p = NULL;
    const arenaut_status st = arenaut_pipeline_run(
        (const uint8_t *)exchanging, sizeof exchanging - 1, options, allocator, &p, NULL);
    if (st == ARENAUT_OK) *arena = p->figures.planned;
    arenaut_pipeline_free(p);
    return st;
}

static void hear(void *context, const char *text) {
    *(bool *)context = *(bool *)context || strstr(text, "lowest peak is not taken");
}

TEST(a_given_sequence_stays_and_a_note_says_why) {
    static const uint32_t given[] = {0, 1, 3, 0, 1, 2, 4, 0, 5, 0, 1, 3, 6};
    uint64_t arena = 0, found = 0;
    bool said = false;
    arenaut_pipeline_options options = {
        .recomputing = {.on = true, .ops = given, .n_ops = COUNT_OF(given)},
        .reordering = {.on = true},
        .note = hear,
        .context = &said};
    assert_int_equal(plan_exchanging(&options, NULL, &arena), ARENAUT_OK);
    assert_int_equal(arena, 11000);
    assert_true(said);
    options.recomputing = (arenaut_recomputing){.on = true};
    said = false;
    assert_int_equal(plan_exchanging(&options, NULL, &found), ARENAUT_OK);
    assert_int_equal(found, 10000);
    assert_false(said);
}

static arenaut_status plan_anew(void *context, const arenaut_allocator *allocator) {
    const arenaut_pipeline_options options = {
        .recomputing = {.on = true}, .reordering = {.on = true}, .plan = {.effort = 512}};
    uint64_t arena = 0;
    (void)context;
    const arenaut_status st = plan_exchanging(&options, allocator, &arena);
    if (st == ARENAUT_OK) assert_int_equal(arena, 10000);
    return st;
}

TEST(asking_for_another_sequence_survives_running_out_of_memory) {
    survives_every_allocation_failure(plan_anew, NULL);
}
