/* CSV problems: the meaning of the columns, refusals, and that nothing is lost. */
#include <stdlib.h>

#include "support/corpus.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/oracle.h"
#include "support/problems.h"
#include "support/test.h"

#define HEADER "id,lower,upper,size\n"

static void assert_lifetimes(const arenaut_problem *p, uint32_t b, const arenaut_interval *lives,
                             size_t n) {
    assert_int_equal(arenaut_problem_lifetime_count(p, b), n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(arenaut_problem_lifetimes(p, b)[i].first, lives[i].first);
        assert_int_equal(arenaut_problem_lifetimes(p, b)[i].end, lives[i].end);
    }
}
#define INTERVALS(...) \
    (const arenaut_interval[]){__VA_ARGS__}, COUNT_OF(((const arenaut_interval[]){__VA_ARGS__}))

TEST(a_row_is_a_buffer) {
    arenaut_document d = read_text(NULL, HEADER "b1,0,3,4\nb2,-3,9,9007199254740993\n");
    const arenaut_problem *p = d.problem;
    assert_string_equal(d.format->name, "csv");
    assert_int_equal(p->n_buffers, 2);
    assert_string_equal(p->name[1], "b2");
    assert_true(p->size[1] == UINT64_C(9007199254740993));
    assert_lifetimes(p, 0, INTERVALS({0, 3}));
    assert_lifetimes(p, 1, INTERVALS({-3, 9}));
    assert_int_equal(p->n_pools, 1);
    assert_null(d.plan);
    arenaut_document_free(&d);
}

TEST(columns_come_in_any_order_and_under_other_names) {
    arenaut_document d =
        read_text(NULL, "size,alignment,hint,end,start,buffer_id\n8,4,-1,2,1,x\n8,,12,1,1,y\n");
    const arenaut_problem *p = d.problem;
    assert_string_equal(p->name[0], "x");
    assert_int_equal(arenaut_problem_align(p, 0), 4);
    assert_int_equal(arenaut_problem_align(p, 1), 1);
    assert_true(arenaut_problem_hint(p, 0) == ARENAUT_UNPLACED);
    assert_int_equal(arenaut_problem_hint(p, 1), 12);
    assert_lifetimes(p, 0, INTERVALS({1, 3}));
    assert_lifetimes(p, 1, INTERVALS({1, 2}));
    arenaut_document_free(&d);
}

TEST(spreadsheets_leave_their_marks_without_harm) {
    arenaut_document d = read_text(NULL,
                                   "\xEF\xBB\xBF\"id\", lower ,upper,size\r\n\r\n\"a, "
                                   "\"\"b\"\"\nc\" , 0,1 ,2\r\n \t\nd,0,1,2");
    assert_int_equal(d.problem->n_buffers, 2);
    assert_string_equal(d.problem->name[0], "a, \"b\"\nc");
    assert_string_equal(d.problem->name[1], "d");
    arenaut_text text = write_text("csv", &d);
    assert_string_equal(text.bytes, HEADER "\"a, \"\"b\"\"\nc\",0,1,2\nd,0,1,2\n");
    arenaut_text_free(&text);
    arenaut_document_free(&d);
}

TEST(a_gap_is_a_hole_in_the_lifetime) {
    arenaut_document d = read_text(
        NULL, "id,lower,upper,size,gaps\na,0,10,4,6-8 2-3\nb,0,10,4,\nc,2,9,4,0-3 3-4 8-99 5-5\n");
    assert_lifetimes(d.problem, 0, INTERVALS({0, 2}, {3, 6}, {8, 10}));
    assert_lifetimes(d.problem, 1, INTERVALS({0, 10}));
    assert_lifetimes(d.problem, 2, INTERVALS({4, 8}));
    arenaut_document_free(&d);
    d = read_text(NULL, "id,lower,end,size,gaps\na,0,9,4,2-2\n");
    assert_lifetimes(d.problem, 0, INTERVALS({0, 2}, {3, 10}));
    arenaut_document_free(&d);
}

/* In a windowed gap the rest of the buffer is free for others: 60 bytes for 40 + 20 + 40. */
TEST(a_gap_with_a_window_is_a_buffer_inside) {
    static const char text[] =
        "id,lower,upper,size,gaps,offset\na,0,9,60,3-6@20:40,0\nb,4,5,20,,0\nc,4,5,20,,40\n";
    arenaut_document d = read_text(NULL, text);
    const arenaut_problem *p = d.problem;
    assert_int_equal(p->n_buffers, 4);
    assert_int_equal(arenaut_problem_inside(p, 3), 0);
    assert_int_equal(p->inside_delta[3], 20);
    assert_int_equal(p->size[3], 20);
    assert_lifetimes(p, 0, INTERVALS({0, 3}, {6, 9}));
    assert_lifetimes(p, 3, INTERVALS({3, 6}));
    assert_non_null(d.plan);
    assert_int_equal(d.plan->total, 60);
    assert_true(oracle_accepts_placement(p, d.plan));
    arenaut_text again = write_text("csv", &d);
    assert_string_equal(again.bytes, text);
    arenaut_text_free(&again);
    arenaut_document_free(&d);
}

TEST(all_offsets_are_a_plan_and_some_are_pins) {
    arenaut_document d = read_text(NULL, "id,lower,upper,size,offset\na,0,2,4,4\nb,0,2,4,0\n");
    assert_non_null(d.plan);
    assert_int_equal(d.plan->offset[0], 4);
    assert_int_equal(d.plan->total, 8);
    assert_true(arenaut_problem_fixed_offset(d.problem, 0) == ARENAUT_UNPLACED);
    arenaut_document_free(&d);
    d = read_text(NULL, "id,lower,upper,size,offset\na,0,2,4,4\nb,0,2,4,\nc,0,2,4,-1\n");
    assert_null(d.plan);
    assert_int_equal(arenaut_problem_fixed_offset(d.problem, 0), 4);
    assert_true(arenaut_problem_fixed_offset(d.problem, 1) == ARENAUT_UNPLACED);
    assert_true(arenaut_problem_fixed_offset(d.problem, 2) == ARENAUT_UNPLACED);
    arenaut_document_free(&d);
    d = read_text(NULL, "id,lower,upper,size,offset\na,0,2,4,\nb,0,2,4,\n");
    assert_null(d.plan);
    arenaut_document_free(&d);
    /* A buffer that needs no memory has no place, whatever its row says. */
    d = read_text(NULL, "id,lower,upper,size,offset\na,0,2,4,8\nb,0,2,0,64\nc,2,2,4,64\n");
    assert_non_null(d.plan);
    assert_int_equal(d.plan->total, 12);
    assert_int_equal(d.plan->pool[1], ARENAUT_NONE);
    arenaut_document_free(&d);
}

TEST(pools_go_by_name_or_by_number) {
    arenaut_document d =
        read_text(NULL, "id,lower,upper,size,pool\na,0,2,4,sram\nb,0,2,4,\"dr\"\"am\"\nc,0,2,4,\n");
    assert_int_equal(d.problem->n_pools, 2);
    assert_string_equal(d.problem->pool[0].name, "sram");
    assert_string_equal(d.problem->pool[1].name, "dr\"am");
    assert_int_equal(arenaut_problem_pools(d.problem, 1), 2);
    assert_int_equal(arenaut_problem_pools(d.problem, 2), 3);
    arenaut_document_free(&d);
    d = read_text(NULL, "id,lower,upper,size,pool\na,0,2,4,2\nb,0,2,4,0\n");
    assert_int_equal(d.problem->n_pools, 3);
    assert_int_equal(arenaut_problem_pools(d.problem, 0), 4);
    arenaut_document_free(&d);
}

static void count_note(void *context, const char *text) {
    assert_non_null(strstr(text, "colour"));
    ++*(int *)context;
}

TEST(an_unknown_column_is_noted) {
    static const char text[] = "id,lower,upper,size,colour\na,0,1,2,red\n";
    int notes = 0;
    const arenaut_read_options options = {.note = count_note, .note_context = &notes};
    arenaut_document d;
    arenaut_error err = {0};
    assert_ok(arenaut_read((const uint8_t *)text, sizeof text - 1, NULL, &options, NULL, &d, &err),
              err);
    assert_int_equal(notes, 1);
    arenaut_document_free(&d);
}

TEST(mistakes_are_named_with_their_line) {
    static const struct {
        const char *text, *message;
        arenaut_status status;
    } cases[] = {
        {"", "the header has no column 'id'", ARENAUT_BAD_INPUT},
        {"id,lower,upper\n", "no column 'size'", ARENAUT_BAD_INPUT},
        {"id,lower,upper,size,end\n", "line 1: column 'end': found 'end'", ARENAUT_BAD_INPUT},
        {HEADER "a,0,1\n", "line 2: 3 cells; the header names 4", ARENAUT_BAD_INPUT},
        {HEADER "a,0,1,2,\n", "line 2: 5 cells", ARENAUT_BAD_INPUT},
        {HEADER "\n\na,x,1,2\n", "line 4: column 'lower': found 'x'; expected an integer",
         ARENAUT_BAD_INPUT},
        {HEADER "a,0,1,\n", "column 'size': found ''", ARENAUT_BAD_INPUT},
        {HEADER "a,0,1,-4\n", "column 'size': found '-4'", ARENAUT_BAD_INPUT},
        {HEADER "a,0,1,4.0\n", "column 'size': found '4.0'", ARENAUT_BAD_INPUT},
        {HEADER "a,0,1,9223372036854775808\n", "expected an integer from 0 to 2^63 - 1",
         ARENAUT_BAD_INPUT},
        {HEADER "a,0,99999999999999999999,4\n", "column 'upper'", ARENAUT_BAD_INPUT},
        {HEADER "a,5,4,4\n", "column 'upper': found '4'; expected a step not before",
         ARENAUT_BAD_INPUT},
        {"id,lower,end,size\na,0,9223372036854775807,1\n", "column 'end'", ARENAUT_BAD_INPUT},
        {HEADER "\"a,0,1,2\n", "line 2: a quote is never closed", ARENAUT_BAD_INPUT},
        {HEADER "\"a\"b,0,1,2\n", "line 2: 'b' after a closing quote", ARENAUT_BAD_INPUT},
        {"id,lower,upper,size,alignment\na,0,1,2,3\n", "line 2: buffer 'a': alignment 3",
         ARENAUT_BAD_INPUT},
        {"id,lower,upper,size,gaps\na,0,9,2,1\n", "column 'gaps': found '1'", ARENAUT_BAD_INPUT},
        {"id,lower,upper,size,gaps\na,0,9,2,3-1\n", "column 'gaps': found '3-1'",
         ARENAUT_BAD_INPUT},
        {"id,lower,upper,size,gaps\na,0,9,2,1-3@0:3\n", "HIGH <= size", ARENAUT_BAD_INPUT},
        {"id,lower,upper,size,gaps\na,0,9,8,1-5@0:3 4-6\n", "a gap with a window overlaps",
         ARENAUT_BAD_INPUT},
        {"id,lower,upper,size,gaps\na,0,9,8,0-9@0:3\n", "give each window a row of its own",
         ARENAUT_UNSUPPORTED},
        {"id,lower,upper,size,pool\na,0,9,8,0\nb,0,9,8,x\n", "line 3: column 'pool': found 'x'",
         ARENAUT_BAD_INPUT},
        {"id,lower,upper,size,pool,offset\na,0,9,8,x,0\nb,0,9,8,y,0\nc,0,9,8,,0\n",
         "buffer 'c': a fixed offset needs one fixed pool", ARENAUT_BAD_INPUT},
        {HEADER "a,0,1,9223372036854775807\nb,0,1,9223372036854775807\n", "add up to more than",
         ARENAUT_TOO_LARGE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_unreadable("csv", cases[i].text, cases[i].status, cases[i].message);
    }
}

TEST(a_name_has_no_nul) {
    static const char text[] = HEADER "a\0b,0,1,2\n";
    arenaut_document d;
    arenaut_error err = {0};
    assert_int_equal(try_read("csv", text, sizeof text - 1, NULL, &d, &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "NUL"));
}

TEST(a_problem_that_csv_cannot_hold_is_refused) {
    static const struct {
        const char *members, *message;
    } cases[] = {
        {"\"pools\": [{}, {}]", "several pools"},
        {"\"edges\": [[0, 1]]", "extra conflict edges"},
        {"\"reserved\": [{\"pool\": 0, \"first\": 0, \"end\": 4}]", "reserved ranges"},
    };
    static const char *const buffers[][2] = {
        {"{\"name\": \"b\", \"size\": 4, \"first\": 1, \"end\": 3, \"same_base_as\": 0}",
         "buffer 'b' may start where another one starts"},
        {"{\"name\": \"b\", \"size\": 4, \"first\": 1, \"end\": 3, \"inside\": {\"buffer\": 0}}",
         "buffer 'b' lies inside another"},
        {"{\"size\": 4, \"first\": 1, \"end\": 3, \"inside\": {\"buffer\": 0}}",
         "buffer 'buffer1' lies inside another"},
        {"{\"size\": 4, \"first\": 4, \"end\": 6, \"inside\": {\"buffer\": 0}},"
         "{\"size\": 4, \"first\": 5, \"end\": 7, \"inside\": {\"buffer\": 0}}",
         "buffer 'a' has two parts alive at one time"},
    };
    for (size_t i = 0; i < COUNT_OF(cases) + COUNT_OF(buffers); i++) {
        const bool by_member = i < COUNT_OF(cases);
        char text[512];
        snprintf(
            text, sizeof text,
            "{\"schema\": \"arenaut.problem/1\", \"buffers\": ["
            "{\"name\": \"a\", \"size\": 4, \"first\": 0, \"end\": 2}, %s]%s%s}",
            by_member ? "{\"size\": 4, \"first\": 1, \"end\": 2}" : buffers[i - COUNT_OF(cases)][0],
            by_member ? ", " : "", by_member ? cases[i].members : "");
        arenaut_document d = read_text(NULL, text);
        arenaut_text out = {0};
        arenaut_error err = {0};
        assert_int_equal(try_write("csv", &d, NULL, &out, &err), ARENAUT_REFUSED);
        assert_null(out.bytes);
        const char *message = by_member ? cases[i].message : buffers[i - COUNT_OF(cases)][1];
        if (!strstr(err.msg, message)) fail_msg("%s; expected %s", err.msg, message);
        arenaut_document_free(&d);
    }
}

static bool all_pinned(const arenaut_problem *p) {
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_fixed_offset(p, b) == ARENAUT_UNPLACED) return false;
    }
    return true;
}

TEST(random_problems_come_back_as_they_were) {
    const problem_shape shape = {12, 64, 20,
                                 ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS |
                                     ARENAUT_FEATURE_HINTS | ARENAUT_FEATURE_FIXED_OFFSETS};
    rng r = {1};
    for (int round = 0; round < 300; round++) {
        arenaut_document d = {.problem = random_problem(&r, &shape)};
        arenaut_text first = write_text("csv", &d);
        arenaut_document again = read_text(NULL, first.bytes);
        arenaut_text second = write_text("csv", &again);
        /* Where every buffer is pinned the rows are those of a plan. */
        assert_int_equal(again.plan != NULL, all_pinned(d.problem));
        if (!again.plan) assert_string_equal(first.bytes, second.bytes);
        assert_int_equal(d.problem->n_buffers, again.problem->n_buffers);
        for (uint32_t b = 0; b < d.problem->n_buffers; b++) {
            assert_true(d.problem->size[b] == again.problem->size[b]);
            if (!again.plan) {
                assert_true(arenaut_problem_fixed_offset(d.problem, b) ==
                            arenaut_problem_fixed_offset(again.problem, b));
            }
            assert_lifetimes(again.problem, b, arenaut_problem_lifetimes(d.problem, b),
                             arenaut_problem_lifetime_count(d.problem, b));
        }
        arenaut_text_free(&first);
        arenaut_text_free(&second);
        arenaut_document_free(&d);
        arenaut_document_free(&again);
    }
}

static const char small[] =
    "id,lower,upper,size,alignment,gaps,hint,pool,offset\n"
    "a,0,10,100,4,2-3 5-6@10:20,8,,0\n\"b,\"\"x\",0,4,8,,,,,64\nc,-1,1,2,2,,-1,0,\n";

/* No name is a formula of a spreadsheet or drives a terminal, and all come back as they were. */
TEST(names_are_defused_and_come_back) {
    static const char *const names[] = {
        "=cmd|' /C calc'!A0",
        "+1+2",
        "-2+3",
        "@SUM(A1)",
        "-5",
        "+3.25",
        "'quoted'",
        "'=x",
        "''",
        "'",
        "\t=x",
        "\033[2J",
        "\r",
        "a\rb",
        "\x7F",
        "\xC2\x9B"
        "2J",
        "\xE2\x80\xAE"
        "gpj",
        "\xE2\x81\xA6x",
        "\x80\x80",
        "\xFF",
        "\xE2\x80",
        "C:\\users\\x1b",
        "\\u001b",
        "\\u005c",
        "\\x9b",
        "\\",
        "\\u",
        "two\nlines",
        "a,b",
        "say \"hi\"",
        "",
        " edge ",
        "\xE6\xBC\xA2",
        "=\"a\",\x01",
        "-",
        "=",
        "\\\\x9b",
        "\\u202e",
        "\\u0041",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        arenaut_problem *problem = NULL;
        arenaut_error err = {0};
        const arenaut_interval life = {0, 1};
        arenaut_buffer buffer = ARENAUT_BUFFER_INIT;
        buffer.size = 8;
        buffer.lifetimes = &life;
        buffer.n_lifetimes = 1;
        buffer.name = names[i];
        assert_ok(arenaut_problem_new(NULL, &problem, &err), err);
        assert_ok(arenaut_problem_add_buffer(problem, &buffer, NULL, &err), err);
        assert_ok(arenaut_problem_finish(problem, &err), err);
        const arenaut_document document = {.problem = problem};
        arenaut_text text = write_text("csv", &document);
        const char *cell = strchr(text.bytes, '\n') + 1;
        cell += *cell == '"';
        const char *number = i == 4 || i == 5 ? names[i] : NULL;
        assert_true(!strchr("=+-@", *cell) || (number && *cell == *number));
        for (const char *p = cell; *p; p++) {
            const unsigned char c = (unsigned char)*p;
            assert_true((c >= 0x20 && c != 0x7F) || c == '\n' || c == '\t');
        }
        assert_null(strstr(cell, "\xC2\x9B"));
        assert_null(strstr(cell, "\xE2\x80\xAE"));
        arenaut_document back = read_text("csv", text.bytes);
        assert_string_equal(back.problem->name[0], names[i]);
        arenaut_document_free(&back);
        arenaut_text_free(&text);
        arenaut_problem_free(problem);
    }
}

TEST(damage_is_survived) {
    arenaut_document d = read_text("csv", small);
    arenaut_document_free(&d);
    assert_true(survives_damage("csv", small) > 0);
}

static arenaut_status read_with(void *context, const arenaut_allocator *allocator) {
    arenaut_document d = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_read("csv", context, strlen(context), allocator, &d, &err);
    if (st == ARENAUT_OK) arenaut_document_free(&d);
    assert_true(st == ARENAUT_OK || (!d.problem && !d.plan));
    return st;
}

static arenaut_status write_with(void *context, const arenaut_allocator *allocator) {
    arenaut_text text = {.allocator = NULL};
    arenaut_error err = {0};
    const arenaut_status st = try_write("csv", context, allocator, &text, &err);
    arenaut_text_free(&text);
    return st;
}

TEST(running_out_of_memory_is_survived) {
    char text[sizeof small];
    memcpy(text, small, sizeof small);
    survives_every_allocation_failure(read_with, text);
    static char placed[] = "id,lower,upper,size,gaps,pool,offset\na,0,9,60,3-6@20:40,p,0\n";
    survives_every_allocation_failure(read_with, placed);
    arenaut_document d = read_text("csv", small);
    survives_every_allocation_failure(write_with, &d);
    arenaut_document_free(&d);
}

/* MiniMalloc's own example and record plans: read, and written byte for byte. */
TEST(the_corpus_comes_back_byte_for_byte) {
    static const char *const files[] = {"dsa/example_12.csv", "dsa/challenging/A.1048576.csv",
                                        "dsa/challenging/K.1048576.csv", "dsa/large/g_1.csv"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        char path[1024];
        corpus_path_or_skip(path, files[i]);
        size_t size;
        char *text = load_file(path, &size);
        arenaut_document d = read_text(NULL, text);
        arenaut_text again = write_text("csv", &d);
        assert_string_equal(again.bytes, text);
        arenaut_text_free(&again);
        arenaut_document_free(&d);
        free(text);
    }
}
