/* Traces: problems made of events, that impossible events are not believed, and the bytes that the
 * caching allocator would reserve. tests/python/test_traces.py holds that against a model of it. */
#include "support/test.h"

#include <arenaut/check.h>
#include <arenaut/planner.h>
#include <arenaut/trace.h>

#include "formats/trace/trace.h"
#include "support/bytes.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/problems.h"
#include "support/random.h"
#include "support/sweep.h"
#include "support/trace_round.h"

static const char two_streams[] =
    "event,time,address,size,stream,tag,alignment\n"
    "reserve,0,0x1000,4096,1,,\n"
    "alloc,1,0x1000,100,1,first,64\n"
    "alloc,2,0x1080,200,1,second,64\n"
    "free,3,0x1000,,1,,\n"
    "alloc,3,0x9040,50,2,,64\n"
    "alloc,4,0x1040,20,1,,64\n"
    "reserve,4,0x5000,4096,2,,\n"
    "release,5,0x1000,4096,1,,\n";

TEST(a_request_is_a_step) {
    arenaut_document d = read_text(NULL, two_streams);
    const arenaut_problem *p = d.problem;
    assert_string_equal(d.format->name, "trace");
    assert_int_equal(p->n_buffers, 4);
    assert_int_equal(arenaut_problem_lifetimes(p, 0)->first, 0);
    assert_int_equal(arenaut_problem_lifetimes(p, 0)->end, 2);
    assert_int_equal(arenaut_problem_lifetimes(p, 1)->end, 4);
    assert_string_equal(p->op[1], "second");
    assert_string_equal(p->pool[1].name, "stream 2");
    assert_int_equal(arenaut_problem_pools(p, 2), 2);
    const arenaut_trace *t = d.trace;
    assert_int_equal(t->n_events, 8);
    assert_int_equal(t->n_held, 3);
    const uint64_t asked[] = {100, 300, 250, 270}, reserved[] = {4096, 4096, 4096, 8192};
    assert_memory_equal(t->asked, asked, sizeof asked);
    assert_memory_equal(t->reserved, reserved, sizeof reserved);
    assert_int_equal(t->most_asked.bytes, 300);
    assert_int_equal(t->most_asked.step, 1);
    assert_int_equal(t->most_reserved.step, 3);
    arenaut_document_free(&d);
}

/* Gaps between the stretches in use are left out, and alignments are kept. */
TEST(the_addresses_are_a_plan) {
    arenaut_document d = read_text(NULL, two_streams);
    arenaut_finding finding;
    assert_non_null(d.plan);
    assert_int_equal(arenaut_check_plan(d.problem, d.plan, NULL, &finding, NULL), ARENAUT_OK);
    assert_int_equal(d.plan->offset[1], 0x80);
    assert_int_equal(d.plan->offset[3], 0x40);
    assert_int_equal(d.plan->arena[0], 0x80 + 200);
    assert_int_equal(d.plan->offset[2], 4096);
    assert_int_equal(d.plan->arena[1], 4096 + 50);
    arenaut_document_free(&d);
}

static arenaut_status read_with(void *text, const arenaut_allocator *allocator) {
    arenaut_document d = {0};
    arenaut_error err;
    const arenaut_status st = try_read(NULL, text, strlen(text), allocator, &d, &err);
    if (st == ARENAUT_OK) arenaut_document_free(&d);
    return st;
}

static char two_streams_json[] =
    "{\"schema\": \"arenaut.trace/1\", \"events\": [{\"event\": \"alloc\", \"id\": 7, \"size\": "
    "64, "
    "\"tag\": \"x\", \"stream\": 1, \"address\": \"0x40\"}, {\"event\": \"free\", \"id\": \"7\", "
    "\"stream\": 1}, {\"event\": \"alloc\", \"id\": 8, \"size\": 64, \"address\": 64}]}";

TEST(no_memory_at_any_allocation) {
    char csv[sizeof two_streams];
    memcpy(csv, two_streams, sizeof csv);
    survives_every_allocation_failure(read_with, csv);
    survives_every_allocation_failure(read_with, two_streams_json);
}

/* ---- damage ---- */

TEST(damaged_traces_are_refused_or_hold_to_the_property) {
    const char *const names[] = {"streams.trace.csv", "ids.trace.json"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes b = data_bytes("trace/%s", names[i]);
        const sweep each = {.property = trace_property, .seed = i, .bits = 8};
        assert_true(trace_property(b.data, b.size));
        (void)sweep_cuts(&each, b.data, b.size);
        const sweep_counts flips = sweep_flips(&each, b.data, b.size);
        (void)sweep_scatter(&each, b.data, b.size, 1000);
        assert_true(flips.accepted > 40);
        free_bytes(&b);
    }
}

/* ---- impossible events ---- */

enum { CELLS = 40, MOST_TEXT = 2000 };

/* Random requests and releases of few addresses, and whether two ever lie over each other. */
static bool write_random_trace(rng *r, char text[MOST_TEXT]) {
    bool taken[2][CELLS] = {{false}}, good = true;
    uint32_t at[30], size[30], device[30], n = 0;
    size_t used = (size_t)snprintf(text, MOST_TEXT, "event,address,size,device\n");
    const uint32_t n_events = 1 + rng_below(r, 30);
    for (uint32_t i = 0; i < n_events && good; i++) {
        char *const line = text + used;
        const size_t room = MOST_TEXT - used;
        if (n > 0 && rng_once_in(r, 3)) {
            const uint32_t k = rng_below(r, n--);
            snprintf(line, room, "free,%u,,%u\n", at[k], device[k]);
            for (uint32_t c = 0; c < size[k]; c++) taken[device[k]][at[k] + c] = false;
            at[k] = at[n];
            size[k] = size[n];
            device[k] = device[n];
        } else {
            at[n] = rng_below(r, CELLS - 4);
            size[n] = 1 + rng_below(r, 4);
            device[n] = rng_below(r, 2);
            snprintf(line, room, "alloc,0x%x,%u,%u\n", at[n], size[n], device[n]);
            for (uint32_t c = 0; c < size[n]; c++) {
                good = good && !taken[device[n]][at[n] + c];
                taken[device[n]][at[n] + c] = true;
            }
            n++;
        }
        used += strlen(line);
    }
    return good;
}

TEST(blocks_that_lie_over_each_other_are_refused) {
    rng r = {5};
    uint32_t accepted = 0, refused = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        char text[MOST_TEXT];
        arenaut_document d = {0};
        arenaut_error err = {0};
        arenaut_finding finding;
        const bool good = write_random_trace(&r, text);
        const arenaut_status st = try_read(NULL, text, strlen(text), NULL, &d, &err);
        if (good) {
            assert_ok(st, err);
            assert_int_equal(arenaut_check_plan(d.problem, d.plan, NULL, &finding, NULL),
                             ARENAUT_OK);
            arenaut_document_free(&d);
            accepted++;
        } else {
            assert_int_equal(st, ARENAUT_BAD_INPUT);
            assert_non_null(strstr(err.msg, "overlap"));
            refused++;
        }
    }
    assert_true(accepted > 200 && refused > 1000);
}

/* ---- the caching allocator ---- */

TEST(segments_are_kept) {
    enum { MIB = 1 << 20 };
    arenaut_problem *p =
        problem_of((const box[]){{MIB, 0, 1}, {2 * MIB, 1, 2}, {12 * MIB, 2, 3}}, 3);
    uint64_t fixed, expandable;
    arenaut_error err = {0};
    assert_ok(arenaut_caching_reserve(p, false, NULL, &fixed, &err), err);
    assert_ok(arenaut_caching_reserve(p, true, NULL, &expandable, &err), err);
    assert_int_equal(fixed,
                     (2 + 20) * MIB); /* the third is served from the segment of the second */
    assert_int_equal(expandable, (2 + 20) * MIB);
    arenaut_problem_free(p);
}

TEST(features_unknown_to_the_caching_allocator_are_refused) {
    arenaut_problem *p = new_problem();
    const arenaut_interval life = {0, 1};
    arenaut_buffer b = ARENAUT_BUFFER_INIT;
    uint64_t reserved;
    arenaut_error err = {0};
    b.size = 8;
    b.align = 1024;
    b.lifetimes = &life;
    b.n_lifetimes = 1;
    add_buffer(p, &b);
    finish(p);
    assert_int_equal(arenaut_caching_reserve(p, false, NULL, &reserved, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "alignment of 1024"));
    arenaut_problem_free(p);
    p = new_problem();
    b.align = 1;
    b.fixed_offset = arenaut_at(8);
    add_buffer(p, &b);
    finish(p);
    assert_int_equal(arenaut_caching_reserve(p, false, NULL, &reserved, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "fixed offsets"));
    arenaut_problem_free(p);
}

TEST(segments_past_all_sizes) {
    arenaut_problem *p = problem_of((const box[]){{INT64_MAX - 4096, 0, 1}}, 1);
    uint64_t reserved;
    arenaut_error err = {0};
    assert_int_equal(arenaut_caching_reserve(p, false, NULL, &reserved, &err), ARENAUT_TOO_LARGE);
    assert_int_equal(arenaut_caching_reserve(p, true, NULL, &reserved, &err), ARENAUT_TOO_LARGE);
    arenaut_problem_free(p);
}
