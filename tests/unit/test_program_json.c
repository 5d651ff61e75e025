/* Programs as JSON: optional members, that nothing is lost, and the messages about mistakes. */
#include <stdlib.h>

#include <arenaut/expr.h>

#include "support/documents.h"
#include "support/fuse.h"
#include "support/programs.h"
#include "support/random.h"
#include "support/test.h"

#define PROGRAM(rest) "{\"schema\": \"arenaut.program/1\", " rest "}"
#define XY "\"tensors\": [{\"name\": \"x\", \"bytes\": 4}, {\"name\": \"y\", \"bytes\": 4}], "
#define OPS(list) PROGRAM(XY "\"ops\": [" list "]")

static char *data(const char *name) {
    size_t size;
    return data_text(&size, "json/%s", name);
}

TEST(a_small_program_needs_little_text) {
    char *text = data("small.program.json");
    arenaut_document d = read_text(NULL, text);
    const arenaut_program *p = d.program;
    assert_string_equal(d.format->name, "program-json");
    assert_int_equal(p->n_methods, 1);
    assert_string_equal(p->methods[0].name, "main");
    assert_true(p->methods[0].entry);
    assert_int_equal(p->n_ops, 2);
    assert_int_equal(p->tensors[0].cls, ARENAUT_INPUT);
    assert_int_equal(p->tensors[1].cls, ARENAUT_INTERMEDIATE);
    assert_int_equal(p->tensors[2].cls, ARENAUT_OUTPUT);
    assert_int_equal(p->tensors[1].bytes, 64);
    assert_int_equal(p->tensors[1].method, 0);
    assert_int_equal(p->ops[0].kind, ARENAUT_OP_OUT);
    assert_int_equal(p->ops[1].in_place[0].output, 0);
    arenaut_document_free(&d);
    free(text);
}

TEST(every_member_is_understood) {
    char *text = data("everything.program.json");
    arenaut_document d = read_text(NULL, text);
    const arenaut_program *p = d.program;
    const arenaut_tensor *t = p->tensors;
    assert_string_equal(p->description, "a loop, a view, state that two methods share");
    assert_int_equal(p->given, ARENAUT_GIVEN_FOREIGN);
    assert_string_equal(p->given_note, "another tool");
    assert_int_equal(p->n_tensors, 14);
    assert_int_equal(t[0].align, 64);
    assert_string_equal(t[0].source, "model.py:3");
    assert_int_equal(t[0].cls, ARENAUT_INPUT);
    assert_int_equal(t[1].view_of, 0);
    assert_int_equal(t[2].view_offset, 16);
    assert_int_equal(t[3].bytes, 5);
    assert_int_equal(t[3].method, ARENAUT_NONE);
    assert_string_equal(t[4].qualified_name, "kv");
    assert_int_equal(t[5].cls, ARENAUT_SCRATCH);
    assert_int_equal(t[6].given_pool, 1);
    assert_int_equal(t[6].given_offset, 4096);
    assert_int_equal(t[7].bytes, 0);
    assert_true(t[8].caller_owned);
    assert_int_equal(t[8].file_index, 40);
    assert_int_equal(t[8].device.type, 2);
    assert_int_equal(t[9].device.index, 1);
    assert_int_equal(t[9].method, 1);
    assert_int_equal(t[9].cls, ARENAUT_INTERMEDIATE); /* its method is no entry */
    assert_int_equal(t[9].file_index, 9);
    assert_int_equal(t[11].cls, ARENAUT_OUTPUT);
    assert_int_equal(p->n_methods, 4);
    assert_true(p->methods[0].entry);
    assert_false(p->methods[1].entry);
    const arenaut_op *conv = &p->ops[1];
    assert_int_equal(conv->n_inputs, 3);
    assert_int_equal(conv->inputs[2], ARENAUT_NONE);
    assert_int_equal(conv->n_outputs, 2);
    assert_int_equal(conv->scratch[0], 5);
    assert_string_equal(conv->source, "block1/conv");
    assert_int_equal(p->ops[3].kind, ARENAUT_OP_WHILE);
    assert_int_equal(p->ops[3].calls[0], 1);
    assert_int_equal(p->ops[3].calls[1], 2);
    assert_true(p->ops[4].arguments_may_alias);
    assert_int_equal(p->methods[0].n_given_pools, 2);
    assert_int_equal(p->methods[0].given_pools[1].bytes, 4128);
    assert_int_equal(p->methods[0].given_pools[1].device.type, 2);
    const arenaut_op *jump = &p->ops[p->methods[3].first_op + 1];
    assert_int_equal(jump->kind, ARENAUT_OP_JUMP_FALSE);
    assert_int_equal(jump->target, 3);
    arenaut_text written = write_text("program-json", &d);
    arenaut_document again = read_text(NULL, written.bytes);
    assert_same_program(p, again.program);
    arenaut_text_free(&written);
    arenaut_document_free(&again);
    arenaut_document_free(&d);
    free(text);
}

/* Any program that is valid; whether it means something does not matter here. */
static arenaut_program *odd_program(rng *r) {
    static const char *const names[] = {NULL, "t", "*", "a \"b\"", "\xC3\xA9"};
    arenaut_program *p = new_program();
    const uint32_t methods = 1 + rng_below(r, 3);
    for (uint32_t m = 0; m < methods; m++) {
        const char *name = names[rng_below(r, COUNT_OF(names))];
        uint32_t ids[6];
        if (m == 0 || rng_once_in(r, 2)) begin_method(p, name);
        else begin_submethod(p, name);
        for (uint32_t i = 0; i < COUNT_OF(ids); i++) {
            arenaut_tensor t = arenaut_tensor_default();
            const int64_t dims[] = {rng_below(r, 5), rng_below(r, 5)};
            char unique[16];
            snprintf(unique, sizeof unique, "m%u/t%u", m, i);
            t.name = rng_once_in(r, 2) ? unique : names[rng_below(r, COUNT_OF(names))];
            t.source = names[rng_below(r, COUNT_OF(names))];
            t.dtype = (arenaut_dtype)rng_below(r, ARENAUT_DTYPE_COUNT);
            t.rank = rng_below(r, 3);
            t.dims = dims;
            t.bytes = rng_below(r, 100);
            t.cls = (arenaut_class)rng_below(r, ARENAUT_SCRATCH);
            t.method = rng_once_in(r, 4) ? ARENAUT_NONE : m;
            t.align = rng_once_in(r, 3) ? UINT64_C(1) << rng_below(r, 8) : 0;
            t.device.type = (uint16_t)rng_below(r, 2);
            t.caller_owned = rng_once_in(r, 5);
            t.file_index = rng_below(r, 20);
            if (rng_once_in(r, 3)) {
                t.given_pool = rng_below(r, 3);
                t.given_offset = rng_below(r, 1000);
            }
            if (i > 0 && rng_once_in(r, 4)) {
                t.view_of = ids[0];
                t.bytes = rng_below(r, (uint32_t)p->tensors[ids[0]].bytes + 1);
                t.view_offset = rng_below(r, (uint32_t)(p->tensors[ids[0]].bytes - t.bytes) + 1);
                t.device = p->tensors[ids[0]].device;
            }
            arenaut_error err = {0};
            assert_ok(arenaut_program_add_tensor(p, &t, &ids[i], &err), err);
        }
        SET_IO(p, m, LIST(ids[0]), LIST(ids[5], ids[4]));
        for (uint32_t i = rng_below(r, 4); i > 0; i--) {
            ADD_OP(p, .name = names[rng_below(r, COUNT_OF(names))], .source = "s",
                   .kind = rng_once_in(r, 2) ? ARENAUT_OP_OUT : ARENAUT_OP_DELEGATE,
                   IN(ids[rng_below(r, 6)], ARENAUT_NONE, ids[rng_below(r, 6)]),
                   OUT(ids[rng_below(r, 6)]), IN_PLACE(0, 2),
                   .arguments_may_alias = rng_once_in(r, 2));
        }
    }
    finish_program(p);
    return p;
}

TEST(random_programs_come_back_as_they_were) {
    rng r = {11};
    for (int round = 0; round < 300; round++) {
        arenaut_document d = {.program = odd_program(&r)};
        arenaut_text text = write_text("program-json", &d);
        arenaut_document again = read_text(NULL, text.bytes);
        assert_same_program(d.program, again.program);
        arenaut_text_free(&text);
        arenaut_document_free(&again);
        arenaut_document_free(&d);
    }
}

/* Each tensor's place is its buffer's place, plus where it lies in that. */
TEST(a_plan_is_written_as_what_is_given) {
    arenaut_document d = read_text(
        NULL, PROGRAM("\"tensors\": [{\"name\": \"x\", \"bytes\": 8}, {\"name\": \"v\", "
                      "\"bytes\": 4, \"view_of\": \"x\", \"view_offset\": 4}, {\"name\": \"c\", "
                      "\"bytes\": 4, \"class\": \"constant\"}], \"given\": \"foreign\", "
                      "\"given_note\": \"old\""));
    uint32_t buffer[] = {0, 0, ARENAUT_NONE}, tensor[] = {0};
    uint64_t offset[] = {0, 4, 0};
    const arenaut_lowering lowering = {
        .n_tensors = 3, .buffer = buffer, .offset = offset, .tensor = tensor};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_new(1, 1, NULL, &plan, &err), err);
    plan->pool[0] = 0;
    plan->offset[0] = 32;
    arenaut_result result = {
        .path = "x", .program = d.program, .lowering = &lowering, .plan = plan};
    arenaut_text text = {0};
    assert_ok(d.format->write(&result, arenaut_text_sink(&text), NULL, &err), err);
    arenaut_document again = read_text(NULL, text.bytes);
    assert_int_equal(again.program->given, ARENAUT_GIVEN_OURS);
    assert_null(again.program->given_note);
    assert_int_equal(again.program->tensors[0].given_offset, 32);
    assert_int_equal(again.program->tensors[1].given_offset, 36);
    assert_true(again.program->tensors[2].given_offset == ARENAUT_UNPLACED);
    arenaut_text_free(&text);
    plan->quality = ARENAUT_INFEASIBLE;
    assert_int_equal(d.format->write(&result, arenaut_text_sink(&text), NULL, &err),
                     ARENAUT_REFUSED);
    result.program = NULL;
    assert_int_equal(d.format->write(&result, arenaut_text_sink(&text), NULL, &err),
                     ARENAUT_REFUSED);
    assert_null(text.bytes);
    arenaut_plan_free(plan);
    arenaut_document_free(&again);
    arenaut_document_free(&d);
}

TEST(mistakes_are_named_with_their_place) {
    static const struct {
        const char *text, *message;
        arenaut_status status;
    } cases[] = {
        {PROGRAM("\"tensors\": [{\"name\": \"x\"}]"), "a tensor needs 'bytes', or",
         ARENAUT_BAD_INPUT},
        {PROGRAM("\"tensors\": [{\"byte\": 4}]"), "'byte': unknown key; did you mean 'bytes'?",
         ARENAUT_BAD_INPUT},
        {PROGRAM("\"tensors\": [{\"dtype\": \"flot32\"}]"),
         "found \"flot32\"; expected one of bool", ARENAUT_BAD_INPUT},
        {PROGRAM("\"tensors\": [{\"dims\": [-1]}]"), "found -1; expected an integer from 0",
         ARENAUT_BAD_INPUT},
        {PROGRAM("\"tensors\": [{\"dtype\": \"int8\", \"dims\": [4294967296, 4294967296]}]"),
         "passes 2^63 - 1 bits", ARENAUT_TOO_LARGE},
        {PROGRAM("\"tensors\": [{\"bytes\": 4, \"given\": {\"pool\": 0}}]"),
         "'given': 'offset' is missing", ARENAUT_BAD_INPUT},
        {PROGRAM("\"tensors\": [{\"bytes\": 4, \"method\": \"mian\"}], \"methods\": [{\"name\": "
                 "\"main\"}]"),
         "no method is named \"mian\"; did you mean \"main\"?", ARENAUT_BAD_INPUT},
        {PROGRAM("\"tensors\": [{\"bytes\": 4, \"align\": 3}]"), "alignment is not a power of two",
         ARENAUT_BAD_INPUT},
        {OPS("{\"inputs\": [\"z\"]}"), "no tensor is named \"z\"", ARENAUT_BAD_INPUT},
        {OPS("{\"inputs\": [2]}"), "expected a tensor: its name, or an index below 2",
         ARENAUT_BAD_INPUT},
        {OPS("{\"inputs\": \"x\"}"), "'inputs': found \"x\"; expected an array", ARENAUT_BAD_INPUT},
        {OPS("{\"kind\": \"vieew\"}"), "found \"vieew\"; expected one of out functional view",
         ARENAUT_BAD_INPUT},
        {OPS("{\"in_place\": [[0, 0]]}"), "names an argument that it does not have",
         ARENAUT_BAD_INPUT},
        {OPS("{\"in_place\": [0]}"), "found 0; expected an array", ARENAUT_BAD_INPUT},
        {OPS("{\"calls\": [0]}"), "an index below 0", ARENAUT_BAD_INPUT},
        {OPS("{\"kind\": \"call\"}"), "calls 0 methods; it must call 1", ARENAUT_BAD_INPUT},
        {OPS("{\"scratch\": [null]}"), "scratch 0 is tensor", ARENAUT_BAD_INPUT},
        {PROGRAM("\"methods\": [], \"ops\": []"), "either 'methods', or", ARENAUT_BAD_INPUT},
        {PROGRAM("\"methods\": [{\"name\": \"m\", \"ops\": [{\"kind\": \"call\", \"calls\": "
                 "[\"m\"]}]}]"),
         "recursion is not allowed", ARENAUT_BAD_INPUT},
        {PROGRAM("\"given\": \"mine\""), "expected one of none ours foreign", ARENAUT_BAD_INPUT},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_unreadable("program-json", cases[i].text, cases[i].status, cases[i].message);
    }
}

TEST(damage_is_survived) {
    char *text = data("small.program.json");
    assert_true(survives_damage("program-json", text) > 0);
    free(text);
    text = data("everything.program.json");
    assert_true(survives_damage("program-json", text) > 0);
    free(text);
}

static arenaut_status read_with(void *context, const arenaut_allocator *allocator) {
    arenaut_document d = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_read(NULL, context, strlen(context), allocator, &d, &err);
    if (st == ARENAUT_OK) arenaut_document_free(&d);
    assert_true(st == ARENAUT_OK || !d.program);
    return st;
}

static arenaut_status write_with(void *context, const arenaut_allocator *allocator) {
    arenaut_text text = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_write("program-json", context, allocator, &text, &err);
    arenaut_text_free(&text);
    return st;
}

TEST(running_out_of_memory_is_survived) {
    char *text = data("everything.program.json");
    survives_every_allocation_failure(read_with, text);
    arenaut_document d = read_text(NULL, text);
    survives_every_allocation_failure(write_with, &d);
    arenaut_document_free(&d);
    free(text);
}

TEST(without_bytes_a_layout_has_those_between_its_rows) {
    arenaut_document document = read_text(
        "program-json",
        "{\"schema\": \"arenaut.program/1\", \"symbols\": [{\"name\": \"n\"}], \"tensors\": [\n"
        " {\"name\": \"x\", \"dtype\": \"float32\", \"dims\": [5, 10], \"strides\": [20, 2]},\n"
        " {\"name\": \"y\", \"dtype\": \"float32\", \"dims\": [5, 10], "
        "\"strides\": [\"n - 3000\", 1]}],\n"
        " \"methods\": [{\"name\": \"main\", \"inputs\": [\"x\", \"y\"], \"ops\": []}]}");
    assert_int_equal(document.program->tensors[0].bytes, (4 * 20 + 9 * 2 + 1) * 4);
    assert_int_equal(document.program->tensors[1].bytes, 0); /* until n has bounds */
    arenaut_text text = write_text("program-json", &document);
    assert_null(strstr(text.bytes, "bytes"));
    arenaut_text_free(&text);
    arenaut_document_free(&document);
}

/* Statements of graphs that are not lowered yet. */
static const char unlowered[] =
    "{\"schema\": \"arenaut.program/1\", \"dialect\": \"aten\",\n"
    " \"symbols\": [{\"name\": \"s0\", \"min\": 2, \"max\": 64}, {\"name\": \"u0\", \"min\": "
    "-1}],\n"
    " \"tensors\": [\n"
    "  {\"name\": \"x\", \"dtype\": \"float32\", \"dims\": [3, \"4*s0\", \"floor(s0/2 - 1/2)\"],\n"
    "   \"upper\": [3, 256, 32], \"strides\": [8192, 1, \"4*s0\"], \"dynamic\": "
    "true},\n"
    "  {\"name\": \"y\", \"dtype\": \"float32\", \"dims\": [\"u0 + n\", null], \"unsized\": "
    "true},\n"
    "  {\"name\": \"k\", \"bytes\": 64, \"class\": \"state\"}, {\"name\": \"new_k\", \"bytes\": "
    "64},\n"
    "  {\"name\": \"z\", \"bytes\": 64}, {\"name\": \"c\", \"dtype\": \"bool\"}],\n"
    " \"methods\": [{\"name\": \"main\", \"inputs\": [\"x\", \"c\"], \"outputs\": [\"z\"],\n"
    "   \"bindings\": [{\"kind\": \"mutates\", \"value\": \"new_k\", \"target\": \"k\"},\n"
    "     {\"kind\": \"loss\", \"value\": \"z\"}],\n"
    "   \"ops\": [{\"name\": \"f\", \"kind\": \"functional\", \"inputs\": [\"x\", \"k\"],\n"
    "     \"outputs\": [\"new_k\"]},\n"
    "    {\"name\": \"alloc\", \"kind\": \"alloc\", \"outputs\": [\"z\"]},\n"
    "    {\"name\": \"if\", \"kind\": \"if\", \"inputs\": [\"c\", \"new_k\"], \"outputs\": "
    "[\"z\"],\n"
    "     \"calls\": [1, 2]}]},\n"
    "  {\"name\": \"then\", \"outer\": \"main\", \"outputs\": [\"new_k\"]},\n"
    "  {\"name\": \"else\", \"outer\": 0, \"outputs\": [\"new_k\"]}]}";

TEST(programs_before_lowering_are_understood) {
    arenaut_document document = read_text("program-json", unlowered);
    const arenaut_program *p = document.program;
    assert_string_equal(p->dialect, "aten");
    assert_int_equal(p->n_symbols, 3); /* n is named by an expression only */
    assert_int_equal(p->symbols[1].min, -1);
    assert_int_equal(p->tensors[0].dims[1], 256);
    assert_int_equal(p->tensors[0].bytes, 0); /* until the strides' bounds are known */
    assert_int_equal(p->tensors[0].strides[2], 256);
    assert_int_equal(p->tensors[0].dim_exprs[0], ARENAUT_NONE);
    assert_int_equal(p->tensors[0].stride_exprs[0], ARENAUT_NONE);
    assert_int_equal(p->tensors[0].stride_exprs[2], p->tensors[0].dim_exprs[1]);
    assert_int_equal(p->tensors[1].dims[0], -1);
    assert_int_equal(p->tensors[1].dims[1], -1);
    assert_int_equal(p->tensors[1].bytes, 0);
    assert_int_equal(p->methods[0].n_bindings, 2);
    assert_int_equal(p->methods[0].bindings[0].target, 2);
    assert_int_equal(p->methods[0].bindings[1].target, ARENAUT_NONE);
    assert_int_equal(p->methods[1].outer, 0);
    arenaut_text text = write_text("program-json", &document);
    arenaut_document again = read_text("program-json", text.bytes);
    assert_same_program(p, again.program);
    assert_non_null(strstr(text.bytes, "\"4*s0\""));
    assert_non_null(strstr(text.bytes, "[8192, 1, \"4*s0\"]"));
    arenaut_text_free(&text);
    arenaut_document_free(&again);
    arenaut_document_free(&document);
    survives_damage("program-json", unlowered);
}

/* A called method may name tensors that its only caller lists, and nothing else of other
 * methods. */
TEST(captured_values_must_be_listed) {
#define NESTED(inputs, more)                                                                       \
    "{\"schema\": \"arenaut.program/1\", \"tensors\": [{\"name\": \"a\", \"bytes\": 4, "           \
    "\"method\": "                                                                                 \
    "0}, {\"name\": \"b\", \"bytes\": 4}], \"methods\": [{\"name\": \"m\", \"inputs\": [\"a\"], "  \
    "\"ops\": [{\"name\": \"c\", \"kind\": \"call\", \"inputs\": " inputs ", \"calls\": [1]}" more \
    "]}, {\"name\": \"n\", \"outer\": 0, \"ops\": [{\"inputs\": [\"a\"], \"outputs\": "            \
    "[\"b\"]}]}]}"
    arenaut_document document = read_text("program-json", NESTED("[\"a\"]", ""));
    arenaut_document_free(&document);
    assert_unreadable("program-json", NESTED("[]", ""), ARENAUT_BAD_INPUT, "belongs to method 0");
    assert_unreadable("program-json", NESTED("[\"a\"]", ", {\"kind\": \"call\", \"calls\": [1]}"),
                      ARENAUT_BAD_INPUT, "exactly one op");
#undef NESTED
    assert_unreadable("program-json",
                      "{\"schema\": \"arenaut.program/1\", \"methods\": [{\"outer\": 0}]}",
                      ARENAUT_BAD_INPUT, "outer method");
}

/* A view lies where its storage does, whichever of them comes first. */
TEST(views_are_of_the_device_of_their_storage) {
#define VIEWS(device)                                                                    \
    "{\"schema\": \"arenaut.program/1\", \"tensors\": [{\"name\": \"v\", \"bytes\": 4, " \
    "\"view_of\": \"s\"" device "}, {\"name\": \"s\", \"bytes\": 8, \"device\": 2}], \"ops\": []}"
    arenaut_document d = read_text("program-json", VIEWS(""));
    assert_int_equal(d.program->tensors[0].device.type, 2);
    arenaut_document_free(&d);
    assert_unreadable("program-json", VIEWS(", \"device\": 1"), ARENAUT_BAD_INPUT,
                      "'v' of device 1.0 is a view of 's' of device 2.0");
}
