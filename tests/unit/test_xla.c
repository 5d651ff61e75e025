/* XLA's dumps: buffers, lives and places of real ones (tests/models/make_xla.py), odd ones that are
 * written here field by field, and refusals. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/pipeline.h>
#include <arenaut/planner.h>

#include "formats/xla/xla_schema.h"
#include "support/bytes.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/plans.h"
#include "support/sweep.h"
#include "support/wire.h"
#include "support/xla_round.h"

/* ---- dumps made here ---- */

static void add_number(wire *w, uint32_t field, uint64_t value) {
    if (value) wire_number(w, field, value); /* zeroes are left out, as protocol buffers do */
}

static void add_value(wire *assignment, uint64_t id, uint64_t size, uint64_t instruction) {
    wire value = {0}, place = {0};
    add_number(&value, VALUE_ID, id);
    add_number(&value, VALUE_SIZE, size);
    add_number(&place, LOCATION_INSTRUCTION, instruction);
    wire_message(&value, VALUE_DEFINED_AT, &place);
    wire_message(assignment, ASSIGNMENT_VALUE, &value);
}

static void assign(wire *allocation, uint64_t id, uint64_t offset, uint64_t size) {
    wire assigned = {0};
    add_number(&assigned, ASSIGNED_VALUE, id);
    add_number(&assigned, ASSIGNED_OFFSET, offset);
    add_number(&assigned, ASSIGNED_SIZE, size);
    wire_message(allocation, ALLOCATION_ASSIGNED, &assigned);
}

static wire allocation_of(uint64_t index, uint64_t size, uint32_t flag) {
    wire allocation = {0};
    add_number(&allocation, ALLOCATION_INDEX, index);
    add_number(&allocation, ALLOCATION_SIZE, size);
    if (flag) wire_number(&allocation, flag, 1);
    return allocation;
}

static void add_event(wire *trace, uint64_t kind, uint64_t id, uint64_t canonical) {
    wire event = {0};
    add_number(&event, EVENT_KIND, kind);
    add_number(&event, EVENT_VALUE, id);
    add_number(&event, EVENT_CANONICAL, canonical);
    wire_message(trace, TRACE_EVENT, &event);
}

static void add_instruction(wire *computation, uint64_t id, const char *name, const char *opcode) {
    wire instruction = {0}, metadata = {0};
    wire_text(&instruction, INSTRUCTION_NAME, name);
    wire_text(&instruction, INSTRUCTION_OPCODE, opcode);
    wire_text(&metadata, METADATA_OP_NAME, "jit(f)/mul");
    wire_number(&metadata, METADATA_FRAME, 1);
    wire_message(&instruction, INSTRUCTION_METADATA, &metadata);
    wire_number(&instruction, INSTRUCTION_ID, id);
    wire_message(computation, COMPUTATION_INSTRUCTIONS, &instruction);
}

static wire module_of_two(void) {
    wire module = {0}, computation = {0}, frames = {0}, place = {0}, frame = {0};
    wire_text(&module, 1, "jit_f");
    wire_text(&module, 2, "main");
    wire_text(&computation, 1, "main");
    add_instruction(&computation, 7, "multiply.1", "multiply");
    add_instruction(&computation, 8, "add.2", "add");
    wire_message(&module, MODULE_COMPUTATIONS, &computation);
    wire_text(&frames, FRAMES_FILE_NAME, "train.py");
    wire_number(&place, PLACE_FILE_NAME, 1);
    wire_number(&place, PLACE_LINE, 12);
    wire_message(&frames, FRAMES_PLACE, &place);
    wire_number(&frame, FRAME_PLACE, 1);
    wire_message(&frames, FRAMES_FRAME, &frame);
    wire_message(&module, MODULE_STACK_FRAMES, &frames);
    return module;
}

/* Takes the assignment. */
static wire dump_of(wire *assignment) {
    wire dump = {0}, module = module_of_two();
    wire_message(&dump, HLO_MODULE, &module);
    wire_message(&dump, HLO_BUFFER_ASSIGNMENT, assignment);
    return dump;
}

/* Where a value lies: id, offset, bytes. */
typedef uint64_t laid[3];

/* One allocation, with these values in it. The first is made by instruction 7. */
static wire assignment_of(uint64_t index, uint64_t size, const laid *values, size_t n) {
    wire assignment = {0}, allocation = allocation_of(index, size, 0);
    for (size_t i = 0; i < n; i++) {
        add_value(&assignment, values[i][0], values[i][2], i ? 8 : 7);
        assign(&allocation, values[i][0], values[i][1], values[i][2]);
    }
    wire_message(&assignment, ASSIGNMENT_ALLOCATION, &allocation);
    return assignment;
}

#define ASSIGNMENT(index, size, ...) \
    assignment_of(index, size, (const laid[]){__VA_ARGS__}, COUNT_OF(((const laid[]){__VA_ARGS__})))

static wire two_values(void) { return ASSIGNMENT(3, 96, {1, 0, 64}, {2, 64, 32}); }

/* Moves of the simulator: kind, value, and the value whose place it takes. */
typedef uint64_t event[3];

static void add_trace(wire *assignment, const event *events, size_t n) {
    wire trace = {0};
    for (size_t i = 0; i < n; i++) add_event(&trace, events[i][0], events[i][1], events[i][2]);
    wire_message(assignment, ASSIGNMENT_TRACE, &trace);
}

#define ADD_TRACE(assignment, ...) \
    add_trace(assignment, (const event[]){__VA_ARGS__}, COUNT_OF(((const event[]){__VA_ARGS__})))

/* Frees the assignment. */
static arenaut_document read_assignment(wire *assignment) {
    wire dump = dump_of(assignment);
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_read(NULL, dump.bytes, dump.size, NULL, &document, &err);
    if (st != ARENAUT_OK) fail_msg("%s", err.msg);
    assert_string_equal(document.format->name, "xla");
    assert_true(xla_property(dump.bytes, dump.size));
    wire_free(&dump);
    return document;
}

/* Frees the dump. */
static void assert_dump_refused(wire *dump, arenaut_status status, const char *part) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_read("xla", dump->bytes, dump->size, NULL, &document, &err);
    if (st != status || !strstr(err.msg, part)) {
        fail_msg("\"%s\": %s; expected \"%s\"", arenaut_status_text(st), err.msg, part);
    }
    assert_null(document.problem);
    wire_free(dump);
}

/* Frees the assignment. */
static void assert_refused(wire *assignment, arenaut_status status, const char *part) {
    wire dump = dump_of(assignment);
    assert_dump_refused(&dump, status, part);
}

static void assert_given_stands(const arenaut_document *document) {
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_int_equal(arenaut_check_plan(document->problem, document->plan, NULL, &finding, &err),
                     ARENAUT_OK);
}

/* ---- reading ---- */

TEST(buffers_live_from_their_allocation_to_their_release) {
    wire assignment = two_values();
    ADD_TRACE(&assignment, {EVENT_ALLOC, 1}, {EVENT_ALLOC, 2}, {EVENT_FREE, 1}, {EVENT_FREE, 2});
    arenaut_document document = read_assignment(&assignment);
    const arenaut_problem *p = document.problem;
    assert_int_equal(p->n_buffers, 2);
    assert_int_equal(arenaut_problem_lifetimes(p, 0)->first, 0);
    assert_int_equal(arenaut_problem_lifetimes(p, 0)->end, 2);
    assert_int_equal(arenaut_problem_lifetimes(p, 1)->first, 1);
    assert_int_equal(arenaut_problem_lifetimes(p, 1)->end, 3);
    assert_int_equal(arenaut_problem_align(p, 0), 64); /* all offsets are multiples of this */
    assert_string_equal(p->pool[0].name, "temp");
    assert_string_equal(p->name[0], "multiply.1");
    assert_string_equal(p->op[1], "add");
    assert_string_equal(p->source[0], "jit(f)/mul (train.py:12)");
    assert_string_equal(document.plan->planner, "xla");
    assert_int_equal(document.plan->offset[1], 64);
    assert_int_equal(document.plan->total, 96);
    assert_given_stands(&document);
    arenaut_document_free(&document);
}

/*  step   0 1 2 3 4 5
 *  1 (64) +---+            one place: 3 takes it over from 1,
 *  3 (64)     +-----+      with a step for both
 *  2 (32)       +-----+                                           */
TEST(values_in_one_place_are_one_buffer) {
    wire assignment = ASSIGNMENT(0, 96, {1, 0, 64}, {2, 64, 32}, {3, 0, 64});
    ADD_TRACE(&assignment, {EVENT_ALLOC, 1}, {EVENT_SHARE_WITH, 3, 1}, {EVENT_FREE, 1},
              {EVENT_ALLOC, 2}, {EVENT_FREE, 3}, {EVENT_FREE, 2});
    arenaut_document document = read_assignment(&assignment);
    const arenaut_problem *p = document.problem;
    assert_int_equal(p->n_buffers, 2);
    assert_int_equal(arenaut_problem_lifetime_count(p, 0), 1);
    assert_int_equal(arenaut_problem_lifetimes(p, 0)->end, 4);
    assert_given_stands(&document);
    arenaut_document_free(&document);
}

/* 2 takes over the place of 1 but needs half of it; while it does, 3 lies in the other half. 4
 * shares with 2, at the same time. */
TEST(a_smaller_one_leaves_the_rest_of_its_place_to_others) {
    wire assignment = ASSIGNMENT(0, 64, {1, 0, 64}, {2, 0, 32}, {3, 32, 32}, {4, 0, 16});
    ADD_TRACE(&assignment, {EVENT_ALLOC, 1}, {EVENT_FREE, 1}, {EVENT_SHARE_WITH, 2, 1},
              {EVENT_ALLOC, 3}, {EVENT_SHARE_WITH, 4, 2}, {EVENT_FREE, 2}, {EVENT_FREE, 3},
              {EVENT_FREE, 4});
    arenaut_document document = read_assignment(&assignment);
    const arenaut_problem *p = document.problem;
    assert_int_equal(p->n_buffers, 4);
    assert_int_equal(arenaut_problem_inside(p, 1), 0);
    assert_int_equal(arenaut_problem_inside(p, 2), 1);
    assert_given_stands(&document);
    arenaut_plan *plan = plan_by(p, "auto");
    assert_int_equal(plan->total, 64);
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    arenaut_plan_free(plan);
    arenaut_document_free(&document);
}

/* The number that a trace states is another allocation's: where its buffers lie decides. */
TEST(a_trace_is_of_the_allocation_that_its_buffers_lie_in) {
    wire assignment = two_values(), wrong = allocation_of(5, 8, ALLOCATION_CONSTANT), trace = {0};
    wire_message(&assignment, ASSIGNMENT_ALLOCATION, &wrong);
    add_event(&trace, EVENT_ALLOC, 1, 0);
    add_event(&trace, EVENT_FREE, 1, 0);
    wire_number(&trace, 3, 5); /* its own word for which allocation it is of */
    wire_message(&assignment, ASSIGNMENT_TRACE, &trace);
    arenaut_document document = read_assignment(&assignment);
    const arenaut_problem *p = document.problem;
    assert_int_equal(p->n_pools, 2);
    assert_string_equal(p->pool[0].name, "temp");
    assert_string_equal(p->pool[1].name, "constants");
    /* No trace tells of 2: it is alive all the time. */
    assert_int_equal(p->n_buffers, 3);
    assert_int_equal(p->size[1], 32);
    assert_int_equal(arenaut_problem_lifetimes(p, 1)->end, 2);
    assert_int_equal(document.plan->total, 96 + 8);
    arenaut_document_free(&document);
}

TEST(allocations_without_a_trace_are_blocks_in_a_pool_of_their_kind) {
    static const struct {
        uint32_t flag;
        const char *pool;
        arenaut_class cls;
    } kinds[] = {{ALLOCATION_PARAMETER, "parameters", ARENAUT_INPUT},
                 {ALLOCATION_LIVE_OUT, "outputs", ARENAUT_OUTPUT},
                 {ALLOCATION_CONSTANT, "constants", ARENAUT_INPUT},
                 {0, "others", ARENAUT_INTERMEDIATE}};
    wire assignment = {0}, local = allocation_of(9, 1000, ALLOCATION_THREAD_LOCAL);
    wire_message(&assignment, ASSIGNMENT_ALLOCATION, &local);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        wire allocation = allocation_of(i, 8 + i, kinds[i].flag);
        wire_message(&assignment, ASSIGNMENT_ALLOCATION, &allocation);
    }
    arenaut_document document = read_assignment(&assignment);
    const arenaut_problem *p = document.problem;
    assert_int_equal(p->n_buffers, COUNT_OF(kinds));
    for (uint32_t i = 0; i < COUNT_OF(kinds); i++) {
        assert_string_equal(p->pool[document.plan->pool[i]].name, kinds[i].pool);
        assert_int_equal(arenaut_problem_class(p, i), kinds[i].cls);
        assert_int_equal(p->size[i], 8 + i);
    }
    arenaut_document_free(&document);
}

/* Each of its own pool and steps: those of the second come behind. */
TEST(traces_follow_one_another) {
    wire assignment = {0};
    for (uint64_t i = 0; i < 2; i++) {
        wire allocation = allocation_of(4 + i, 64, 0);
        add_value(&assignment, i, 64, 7 + i);
        assign(&allocation, i, 0, 64);
        wire_message(&assignment, ASSIGNMENT_ALLOCATION, &allocation);
        ADD_TRACE(&assignment, {EVENT_ALLOC, i}, {EVENT_FREE, i});
    }
    arenaut_document document = read_assignment(&assignment);
    const arenaut_problem *p = document.problem;
    assert_string_equal(p->pool[0].name, "temp.4");
    assert_string_equal(p->pool[1].name, "temp.5");
    assert_int_equal(arenaut_problem_lifetimes(p, 1)->first, 2);
    assert_int_equal(document.plan->total, 128);
    arenaut_document_free(&document);
}

/* A called computation and its caller, whose buffers may be alive all the while. */
TEST(two_traces_of_one_allocation_are_refused) {
    wire assignment = two_values();
    ADD_TRACE(&assignment, {EVENT_ALLOC, 1}, {EVENT_FREE, 1});
    ADD_TRACE(&assignment, {EVENT_ALLOC, 2}, {EVENT_FREE, 2});
    assert_refused(&assignment, ARENAUT_UNSUPPORTED, "allocation 3 is of an earlier trace, too");
}

/* As before ids: a place names its instruction, and metadata their file and line. */
TEST(older_dumps_name_instructions_in_their_places) {
    wire assignment = {0}, allocation = allocation_of(0, 64, 0), value = {0}, place = {0};
    wire_number(&value, VALUE_ID, 1);
    wire_number(&value, VALUE_SIZE, 64);
    wire_text(&place, LOCATION_INSTRUCTION_NAME, "while.3");
    wire_bytes(&place, LOCATION_SHAPE_INDEX, "\1\0", 2);
    wire_message(&value, VALUE_DEFINED_AT, &place);
    wire_number(&value, 99, 1); /* an unknown field */
    wire_message(&assignment, ASSIGNMENT_VALUE, &value);
    assign(&allocation, 1, 0, 64);
    wire_message(&assignment, ASSIGNMENT_ALLOCATION, &allocation);
    arenaut_document document = read_assignment(&assignment);
    assert_string_equal(document.problem->name[0], "while.3{1,0}");
    arenaut_document_free(&document);
}

TEST(a_program_without_buffers_is_a_problem_without_any) {
    wire assignment = {0}, allocation = allocation_of(0, 0, ALLOCATION_LIVE_OUT);
    wire_message(&assignment, ASSIGNMENT_ALLOCATION, &allocation);
    arenaut_document document = read_assignment(&assignment);
    assert_int_equal(document.plan->total, 0);
    arenaut_document_free(&document);
}

/* ---- refusals ---- */

TEST(a_dump_without_a_buffer_assignment_is_refused) {
    wire dump = {0}, module = module_of_two();
    wire_message(&dump, HLO_MODULE, &module);
    assert_dump_refused(&dump, ARENAUT_UNSUPPORTED, "the module has no buffer assignment");
}

TEST(events_that_cannot_be_are_refused_with_their_place) {
    static const struct {
        event events[2];
        arenaut_status status;
        const char *part;
    } cases[] = {
        {{{EVENT_FREE, 1}}, ARENAUT_BAD_INPUT, "logical buffer 1 is freed, but was given no"},
        {{{EVENT_ALLOC, 1}, {EVENT_ALLOC, 1}}, ARENAUT_BAD_INPUT, "is given memory a second time"},
        {{{EVENT_ALLOC, 1}, {EVENT_SHARE_WITH, 2, 1}},
         ARENAUT_BAD_INPUT,
         "one that lies elsewhere"},
        {{{EVENT_SHARE_WITH, 1, 2}}, ARENAUT_BAD_INPUT, "shares with one that has no place yet"},
        {{{EVENT_SHARE_WITH, 1, 1}}, ARENAUT_BAD_INPUT, "shares with one that has no place yet"},
        {{{EVENT_SHARE_WITH, 1, 44}}, ARENAUT_BAD_INPUT, "there is no logical buffer 44"},
        {{{EVENT_ALLOC, 44}}, ARENAUT_BAD_INPUT, "there is no logical buffer 44"},
        {{{EVENT_ALLOC, 1}, {EVENT_ALLOC, 2}}, ARENAUT_BAD_INPUT, "is never freed"},
        {{{7, 1}}, ARENAUT_UNSUPPORTED, "event 0 at byte"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        wire assignment = two_values();
        add_trace(&assignment, cases[i].events, cases[i].events[1][1] ? 2 : 1);
        assert_refused(&assignment, cases[i].status, cases[i].part);
    }
}

TEST(a_buffer_that_is_freed_twice_is_refused) {
    wire assignment = two_values();
    ADD_TRACE(&assignment, {EVENT_ALLOC, 1}, {EVENT_FREE, 1}, {EVENT_FREE, 1});
    assert_refused(&assignment, ARENAUT_BAD_INPUT, "event 2 at byte");
}

TEST(a_buffer_of_a_trace_that_lies_nowhere_is_refused) {
    wire assignment = two_values();
    add_value(&assignment, 6, 64, 7);
    ADD_TRACE(&assignment, {EVENT_ALLOC, 6});
    assert_refused(&assignment, ARENAUT_BAD_INPUT, "logical buffer 6 lies in no allocation");
}

TEST(buffers_that_are_there_twice_are_refused) {
    wire assignment = two_values();
    add_value(&assignment, 1, 64, 7);
    assert_refused(&assignment, ARENAUT_BAD_INPUT, "logical buffer 1 is there twice");
    assignment = two_values();
    wire other = allocation_of(4, 64, 0);
    assign(&other, 1, 0, 64);
    wire_message(&assignment, ASSIGNMENT_ALLOCATION, &other);
    assert_refused(&assignment, ARENAUT_BAD_INPUT, "lies in allocation 3 and again in 4");
}

TEST(sizes_that_cannot_be_are_refused) {
    wire assignment = ASSIGNMENT(3, 96, {1, 64, 64});
    assert_refused(&assignment, ARENAUT_BAD_INPUT,
                   "has 64 bytes at 64 of allocation 3, which has 96");
    assignment = ASSIGNMENT(3, UINT64_MAX, {1, 64, 64}); /* -1 */
    assert_refused(&assignment, ARENAUT_TOO_LARGE, "allocation 3 has more than 2^63 - 1 bytes");
    assignment = (wire){0};
    for (uint64_t i = 0; i < 2; i++) {
        wire allocation = allocation_of(i, UINT64_MAX / 2, ALLOCATION_PARAMETER);
        wire_message(&assignment, ASSIGNMENT_ALLOCATION, &allocation);
    }
    assert_refused(&assignment, ARENAUT_TOO_LARGE, "add up to more than 2^63 - 1 bytes");
}

TEST(more_allocations_with_traces_than_pools_are_refused) {
    wire assignment = {0};
    for (uint64_t i = 0; i < 65; i++) {
        wire allocation = allocation_of(i, 64, 0);
        add_value(&assignment, i, 64, 7);
        assign(&allocation, i, 0, 64);
        wire_message(&assignment, ASSIGNMENT_ALLOCATION, &allocation);
        ADD_TRACE(&assignment, {EVENT_ALLOC, i}, {EVENT_FREE, i});
    }
    assert_refused(&assignment, ARENAUT_UNSUPPORTED, "more than 64 pools");
}

TEST(names_are_cut_where_they_are_too_long) {
    char text[3000];
    memset(text, 'n', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    wire assignment = two_values(), dump = {0}, module = {0}, computation = {0};
    add_instruction(&computation, 7, text, text);
    wire_message(&module, MODULE_COMPUTATIONS, &computation);
    wire_message(&dump, HLO_MODULE, &module);
    ADD_TRACE(&assignment, {EVENT_ALLOC, 1}, {EVENT_FREE, 1});
    wire_message(&dump, HLO_BUFFER_ASSIGNMENT, &assignment);
    arenaut_document document = {0};
    arenaut_error err = {0};
    assert_int_equal(try_read("xla", dump.bytes, dump.size, NULL, &document, &err), ARENAUT_OK);
    assert_int_equal(strlen(document.problem->name[0]), 256);
    arenaut_document_free(&document);
    wire_free(&dump);
}

/* ---- real ones ---- */

static arenaut_document read_real(const char *name) {
    bytes b = data_bytes("xla/%s.hlo.pb", name);
    arenaut_document document = {0};
    arenaut_error err = {0};
    if (arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err) != ARENAUT_OK) {
        fail_msg("%s: %s", name, err.msg);
    }
    free_bytes(&b);
    return document;
}

/* XLA's own offsets pass the checker, and its temporary allocation is as large as it says. */
TEST(layouts_of_xla_for_real_programs_pass_the_checker) {
    static const struct {
        const char *name;
        uint64_t temp; /* the size that the allocation states */
    } dumps[] = {{"chain", 256}, {"cnn_train", 68072}, {"transformer", 9216}, {"scan", 728}};
    for (size_t i = 0; i < COUNT_OF(dumps); i++) {
        arenaut_document document = read_real(dumps[i].name);
        assert_string_equal(document.problem->pool[0].name, "temp");
        assert_int_equal(document.plan->arena[0], dumps[i].temp);
        assert_given_stands(&document);
        arenaut_document_free(&document);
    }
}

/* A plan of XLA's that was spoilt is found out. */
TEST(a_wrong_offset_in_a_dump_is_found) {
    wire assignment = ASSIGNMENT(3, 96, {1, 0, 64}, {2, 32, 32});
    ADD_TRACE(&assignment, {EVENT_ALLOC, 1}, {EVENT_ALLOC, 2}, {EVENT_FREE, 1}, {EVENT_FREE, 2});
    arenaut_document document = read_assignment(&assignment);
    arenaut_finding finding = {0};
    arenaut_error err = {0};
    assert_int_equal(arenaut_check_plan(document.problem, document.plan, NULL, &finding, &err),
                     ARENAUT_REJECTED);
    assert_int_equal(finding.rule, ARENAUT_RULE_OVERLAP);
    arenaut_document_free(&document);
}

TEST(damaged_dumps_are_refused_or_hold_to_the_property) {
    bytes whole = data_bytes("xla/chain.hlo.pb"), loops = data_bytes("xla/scan.hlo.pb");
    const sweep each = {.property = xla_property, .seed = 1};
    const sweep some = {.property = xla_property, .seed = 2, .step = 17, .bits = 1};
    const sweep_counts cuts = sweep_cuts(&each, whole.data, whole.size);
    assert_int_equal(cuts.accepted, 0); /* the assignment comes last */
    (void)sweep_flips(&each, whole.data, whole.size);
    (void)sweep_flips(&some, loops.data, loops.size);
    (void)sweep_scatter(&each, whole.data, whole.size, 300);
    (void)sweep_scatter(&some, loops.data, loops.size, 300);
    free_bytes(&whole);
    free_bytes(&loops);
}

static arenaut_status read_scan(void *context, const arenaut_allocator *allocator) {
    const bytes *b = context;
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_read("xla", b->data, b->size, allocator, &document, &err);
    arenaut_document_free(&document);
    return st;
}

TEST(reading_a_dump_survives_every_allocation_failure) {
    bytes b = data_bytes("xla/scan.hlo.pb");
    survives_every_allocation_failure(read_scan, &b);
    free_bytes(&b);
}
