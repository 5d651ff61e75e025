/* Several programs as one. */
#include "support/test.h"

#include <arenaut/expr.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "ir/expr.h"
#include "ir/merge.h"
#include "ir/program.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/lowerings.h"
#include "support/oracle.h"

#define STATE(name, bytes, more)                 \
    "{\"name\": \"" name "\", \"bytes\": " bytes \
    ", \"class\": \"state\", \"qualified_name\": \"" name "\"" more "}"
#define T(name, bytes) "{\"name\": \"" name "\", \"bytes\": " bytes "}"
#define PROGRAM(dialect, tensors, inputs, outputs, ops)                                         \
    "{\"schema\": \"arenaut.program/1\", " dialect "\"tensors\": [" tensors                     \
    "], \"methods\": "                                                                          \
    "[{\"name\": \"forward\", \"inputs\": " inputs ", \"outputs\": " outputs ", \"ops\": [" ops \
    "]}]}"
#define OP(in, out) "{\"name\": \"f\", \"inputs\": " in ", \"outputs\": " out "}"

/* Both have a cache; each has scratch state and values of its own. */
static const char prefill[] = PROGRAM(
    "",
    STATE("kv", "128", "") ", " STATE("own", "32", "") ", " T("x", "256") ", " T("h", "512") ", " T(
        "y", "64"),
    "[\"x\"]", "[\"y\"]", OP("[\"x\", \"kv\"]", "[\"h\"]") ", " OP("[\"h\", \"own\"]", "[\"y\"]"));
static const char decode[] =
    PROGRAM("", STATE("kv", "128", "") ", " T("x", "16") ", " T("h", "1024") ", " T("y", "16"),
            "[\"x\"]", "[\"y\"]", OP("[\"x\"]", "[\"h\"]") ", " OP("[\"h\", \"kv\"]", "[\"y\"]"));

static arenaut_status merge_texts(const char *const *texts, const char *const *names, size_t n,
                                  const arn_merge_options *options, arenaut_program **out,
                                  arenaut_error *err) {
    arenaut_document documents[4] = {{0}};
    const arenaut_program *programs[4] = {NULL};
    for (size_t i = 0; i < n; i++) {
        documents[i] = read_text("program-json", texts[i]);
        programs[i] = documents[i].program;
    }
    const arenaut_status st = arn_program_merge(programs, names, n, options, NULL, out, err);
    for (size_t i = 0; i < n; i++) arenaut_document_free(&documents[i]);
    return st;
}

static arenaut_program *merge_two(const char *a, const char *b, const arn_merge_options *options) {
    const char *const texts[] = {a, b};
    static const char *const names[] = {"prefill", "decode"};
    arenaut_program *program = NULL;
    arenaut_error err = {0};
    assert_ok(merge_texts(texts, names, 2, options, &program, &err), err);
    return program;
}

static void refuse(const char *a, const char *b, const arn_merge_options *options,
                   const char *part) {
    const char *const texts[] = {a, b};
    static const char *const names[] = {"prefill", "decode"};
    arenaut_program *program = NULL;
    arenaut_error err = {0};
    assert_true(merge_texts(texts, names, 2, options, &program, &err) != ARENAUT_OK);
    assert_null(program);
    if (!strstr(err.msg, part)) fail_msg("%s", err.msg);
}

TEST(methods_are_called_after_their_program) {
    arenaut_program *p = merge_two(prefill, decode, NULL);
    assert_int_equal(p->n_methods, 2);
    assert_string_equal(p->methods[0].name, "prefill/forward");
    assert_string_equal(p->methods[1].name, "decode/forward");
    assert_string_equal(p->tensors[0].qualified_name, "kv");
    assert_string_equal(p->tensors[1].qualified_name, "prefill/own"); /* no other owner */
    assert_int_equal(p->tensors[5].method, 1);
    assert_int_equal(p->ops[2].inputs[0], 6);
    arn_program_free(p);
}

/* One buffer for the cache, in a pool of its own, alive from the first step to the last;
 * everything else overlaps. */
TEST(shared_state_has_one_place_for_all_methods) {
    arenaut_program *p = merge_two(prefill, decode, NULL);
    arenaut_lowering *l = lower_program(p, "torch");
    const uint32_t kv = l->buffer[0];
    assert_int_equal(l->buffer[5], kv);
    assert_int_equal(l->problem->n_pools, 2);
    assert_string_equal(l->problem->pool[1].name, "arena.shared");
    assert_true(l->problem->pools[kv] == 2);
    assert_true(l->problem->pools[l->buffer[1]] == 1);
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_make(l->problem, NULL, NULL, &plan, &err), err);
    assert_plan_accepted(l->problem, plan);
    assert_int_equal(plan->arena[1], 128);
    assert_int_equal(plan->arena[0], 1024 + 16 + 32); /* as decode alone, and prefill's own */
    arenaut_plan_free(plan);
    free_lowering(l, p);
}

TEST(only_what_is_named_is_shared) {
    static const char *const kv[] = {"kv"}, *const none[] = {"own"};
    const arn_merge_options one = {kv, 1}, wrong = {none, 1}, nothing = {none, 0};
    arenaut_program *p = merge_two(prefill, decode, &one);
    assert_string_equal(p->tensors[0].qualified_name, "kv");
    arn_program_free(p);
    p = merge_two(prefill, decode, &nothing);
    assert_string_equal(p->tensors[0].qualified_name, "prefill/kv");
    assert_string_equal(p->tensors[5].qualified_name, "decode/kv");
    arn_program_free(p);
    refuse(prefill, decode, &wrong, "'own' cannot be shared");
}

TEST(tensors_that_differ_cannot_be_shared) {
#define OTHER(kv) PROGRAM("", kv ", " T("y", "16"), "[]", "[\"y\"]", OP("[\"kv\"]", "[\"y\"]"))
    refuse(prefill, OTHER(STATE("kv", "64", "")), NULL, "another size in 'decode'");
    refuse(prefill, OTHER(STATE("kv", "128", ", \"dtype\": \"int16\", \"dims\": [64]")), NULL,
           "another type in 'decode'");
    refuse(prefill, OTHER(STATE("kv", "128", ", \"device\": 1")), NULL, "another device");
    arenaut_program *first = merge_two(prefill, decode, NULL), *merged = NULL;
    arenaut_program *second = merge_two(prefill, decode, NULL);
    const arenaut_program *const both[] = {first, second};
    static const char *const names[] = {"a", "b"};
    arenaut_error err = {0};
    first->tensors[0].first_value = 1;
    second->tensors[0].first_value = 2;
    assert_int_equal(arn_program_merge(both, names, 2, NULL, NULL, &merged, &err),
                     ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "initial value"));
    second->tensors[0].first_value = 1;
    assert_ok(arn_program_merge(both, names, 2, NULL, NULL, &merged, &err), err);
    arn_program_free(merged);
    arn_program_free(first);
    arn_program_free(second);
}

/* Buffers that nothing writes are constants, unless methods share them. */
TEST(shared_tensors_that_are_only_read_are_state) {
    const arenaut_pass_options options = {.target = arenaut_target_find("torch")};
    arenaut_program *p = merge_two(prefill, decode, NULL);
    arenaut_error err = {0};
    assert_ok(arenaut_passes_run(p, "constants", &options, NULL, NULL, &err), err);
    assert_int_equal(p->tensors[0].cls, ARENAUT_STATE);
    assert_int_equal(p->tensors[1].cls, ARENAUT_CONSTANT);
    arn_program_free(p);
}

TEST(sizes_of_one_name_are_two_sizes) {
#define SYMBOLIC(name, dims)                                                             \
    "{\"schema\": \"arenaut.program/1\", \"symbols\": [{\"name\": \"s0\", \"max\": 8}, " \
    "{\"name\": \"" name                                                                 \
    "\"}], \"tensors\": [{\"name\": \"x\", \"dtype\": \"int8\", \"dims\": [" dims        \
    "]}], \"inputs\": [\"x\"]}"
    arenaut_program *p = merge_two(SYMBOLIC("a", "\"s0*a\""), SYMBOLIC("b", "\"b + s0\""), NULL);
    assert_int_equal(p->n_symbols, 4);
    assert_string_equal(p->symbols[0].name, "prefill:s0");
    assert_string_equal(p->symbols[1].name, "a");
    assert_string_equal(p->symbols[2].name, "decode:s0");
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_ok(arn_expr_write(p, p->tensors[1].dim_exprs[0], arenaut_text_sink(&text), &err), err);
    assert_string_equal(text.bytes, "b + decode:s0");
    arenaut_text_free(&text);
    arn_program_free(p);
}

TEST(names_and_dialects_must_fit) {
    const char *const texts[] = {prefill, decode};
    static const char *const same[] = {"model", "model"};
    arenaut_program *program = NULL;
    arenaut_error err = {0};
    assert_int_equal(merge_texts(texts, same, 2, NULL, &program, &err), ARENAUT_BAD_ARGUMENT);
    assert_int_equal(merge_texts(texts, same, 0, NULL, &program, &err), ARENAUT_BAD_ARGUMENT);
    refuse(prefill,
           PROGRAM("\"dialect\": \"onnx\", ", T("y", "16"), "[]", "[\"y\"]", OP("[]", "[\"y\"]")),
           NULL, "different kinds");
}

typedef struct pair {
    const arenaut_program *programs[2];
} pair;

static arenaut_status attempt(void *context, const arenaut_allocator *allocator) {
    const pair *p = context;
    static const char *const names[] = {"prefill", "decode"};
    arenaut_program *program = NULL;
    arenaut_error err = {0};
    const arenaut_status st =
        arn_program_merge(p->programs, names, 2, NULL, allocator, &program, &err);
    arn_program_free(program);
    return st;
}

TEST(running_out_of_memory_is_survived) {
    arenaut_document a = read_text("program-json", prefill), b = read_text("program-json", decode);
    pair p = {{a.program, b.program}};
    survives_every_allocation_failure(attempt, &p);
    arenaut_document_free(&a);
    arenaut_document_free(&b);
}
