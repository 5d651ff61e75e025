/* The table of formats: promises of every row, and how files find their row. */
#include <stdlib.h>

#include "support/documents.h"
#include "support/fuse.h"
#include "support/random.h"
#include "support/test.h"

TEST(every_row_can_be_found) {
    assert_true(arenaut_format_count() >= 4);
    for (size_t i = 0; i < arenaut_format_count(); i++) {
        const arenaut_format *format = arenaut_format_at(i);
        assert_ptr_equal(arenaut_format_find(format->name), format);
        assert_true(format->name[0] && format->summary[0]);
        assert_true(format->read || format->write);
        assert_true(!format->recognise == !format->read);
    }
    assert_null(arenaut_format_at(arenaut_format_count()));
    assert_null(arenaut_format_find("no such format"));
}

TEST(files_to_be_written_go_by_their_longest_extension) {
    static const struct {
        const char *path, *format;
    } cases[] = {
        {"q.csv", "csv"},
        {"dir.json/x.plan.json", "plan-json"},
        {"x.json", "plan-json"},
        {"x.problem.json", "problem-json"},
        {"a.b/x.program.json", "program-json"},
        {"x.unheard-of", NULL},
        {"csv", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const arenaut_format *format = arenaut_format_for_path(cases[i].path);
        assert_int_equal(format == NULL, cases[i].format == NULL);
        if (format) assert_string_equal(format->name, cases[i].format);
    }
}

TEST(content_decides_not_order_of_keys) {
    static const struct {
        const char *text, *format;
    } cases[] = {
        {"id,lower,upper,size\n", "csv"},
        {"\n\nsize,end,start,buffer", "csv"},
        {"\xEF\xBB\xBF{ \"schema\" : \"arenaut.plan/1\"", "plan-json"},
        {"{\"schema\":\"arenaut.problem/7\"", "problem-json"},
        {"{\"a\": [{\"schema\": \"arenaut.plan/1\"}, \"]}\\\"\"], \"b\": \"schema\",\n"
         "\"schema\": \"arenaut.program/1\"}",
         "program-json"},
        {"{\"a\": {\"schema\": \"arenaut.plan/1\"}}", NULL},
        {"{\"schema\": \"arenaut.plan\"}", NULL},
        {"{\"schema\": \"other/1\"}", NULL},
        {"[\"schema\", \"arenaut.plan/1\"]", NULL},
        {"{\"schema\"", NULL},
        {"{\"schema", NULL},
        {"{\"a\\", NULL},
        {"id,lower,upper\n", NULL},
        {"\"", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const size_t size = strlen(cases[i].text);
        uint8_t *exact = malloc(size);
        memcpy(exact, cases[i].text, size);
        const arenaut_format *format = arenaut_format_recognise(exact, size);
        free(exact);
        if ((format == NULL) != (cases[i].format == NULL)) fail_msg("%s", cases[i].text);
        if (format) assert_string_equal(format->name, cases[i].format);
    }
}

TEST(unknown_input_is_said_to_be_so) {
    assert_unreadable(NULL, "", ARENAUT_BAD_INPUT, "the input is empty");
    assert_unreadable(NULL,
                      "\x7F"
                      "EL",
                      ARENAUT_BAD_INPUT, "begins with bytes 7f 45 4c");
    assert_unreadable(NULL,
                      "\x7F"
                      "ELF",
                      ARENAUT_BAD_INPUT, "it is an ELF file");
    assert_unreadable(NULL, "PK\3\4", ARENAUT_BAD_INPUT, "without a whole PyTorch program");
    assert_unreadable(NULL, "\x1F\x8B", ARENAUT_BAD_INPUT, "packed by gzip");
    assert_unreadable(NULL,
                      "\xFD"
                      "7zXZ",
                      ARENAUT_BAD_INPUT, "packed by xz");
    assert_unreadable(NULL, "BZh91AY", ARENAUT_BAD_INPUT, "packed by bzip2");
    assert_unreadable(NULL, "\x28\xB5\x2F\xFD", ARENAUT_BAD_INPUT, "packed by zstd");
    assert_unreadable(NULL, "unsigned char x[] = {1};", ARENAUT_BAD_INPUT, "it is C source");
    assert_unreadable(NULL, "x", ARENAUT_BAD_INPUT, "csv, ");
}

/* Noise, and the beginnings of real files with noise behind: never more than an error. */
TEST(noise_is_refused_by_every_reader) {
    static const char *const heads[] = {"", "{\"schema\": \"arenaut.plan/1\", ",
                                        "id,lower,upper,size\n", "    TFL3"};
    rng r = {5};
    uint8_t noise[96];
    for (int round = 0; round < 2000; round++) {
        const char *head = heads[rng_below(&r, COUNT_OF(heads))];
        for (size_t i = 0; i < sizeof noise; i++) noise[i] = (uint8_t)rng_next(&r);
        memcpy(noise, head, strlen(head));
        for (size_t i = 0; i < arenaut_format_count(); i++) {
            const arenaut_format *format = arenaut_format_at(i);
            arenaut_document d = {0};
            arenaut_error err = {0};
            if (!format->read) continue;
            const arenaut_status st =
                try_read(format->name, noise, rng_below(&r, sizeof noise), NULL, &d, &err);
            assert_true(st != ARENAUT_INTERNAL && st != ARENAUT_NO_MEMORY);
            if (st == ARENAUT_OK) arenaut_document_free(&d);
        }
    }
}

/* The limit holds, its message names it, and data read within it outlive the call. */
TEST(memory_can_be_limited) {
    static const char *const texts[] = {
        "id,lower,upper,size,offset\na,0,1,2,0\nb,1,2,3,0\n",
        ("{\"schema\": \"arenaut.plan/1\", \"result\": {\"status\": \"feasible\"}, \"buffers\": "
         "[{\"size\": 1, \"first\": 0, \"end\": 1, \"pool\": 0, \"offset\": 0}]}"),
        "{\"schema\": \"arenaut.program/1\", \"tensors\": [{\"bytes\": 4}]}",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        bool refused = false, accepted = false;
        for (uint64_t limit = 256; limit <= 1 << 20; limit *= 2) {
            fuse f = {.left = SIZE_MAX};
            const arenaut_allocator allocator = fuse_allocator(&f);
            const arenaut_read_options options = {.max_memory = limit};
            arenaut_document d = {0};
            arenaut_error err = {0};
            const arenaut_status st = arenaut_read((const uint8_t *)texts[i], strlen(texts[i]),
                                                   NULL, &options, &allocator, &d, &err);
            if (st == ARENAUT_OK) {
                accepted = true;
                assert_true(f.live > 0);
            } else {
                assert_int_equal(st, ARENAUT_TOO_LARGE);
                assert_non_null(strstr(err.msg, "bytes of memory allowed"));
                assert_false(accepted);
                refused = true;
            }
            arenaut_document_free(&d);
            assert_int_equal(f.live, 0);
        }
        assert_true(refused && accepted);
    }
}
