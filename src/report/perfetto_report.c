/* perfetto: the plan as a trace, for ui.perfetto.dev, chrome://tracing and speedscope: a step is a
 * microsecond, a pool is a process, and each buffer lies for as long as it lives in one of its
 * pool's lanes, which are as many as buffers are alive at once. Above is a counter of bytes alive.
 *
 * The format is the JSON of Trace Event Format. Events of one lane must not overlap: a buffer that
 * ends at a step gives its lane back before one that begins there takes one. O(n log n). */
#include <inttypes.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "core/writer.h"
#include "report/label.h"

typedef struct trace {
    const arenaut_result *result;
    arn_writer out;
    uint32_t *events;      /* lifetime * 2, + 1 for its end; in order */
    uint32_t *owner;       /* per lifetime */
    uint32_t *lane;        /* per lifetime */
    uint32_t *free_lane;   /* freed ones, of one pool */
    int64_t origin;        /* the first step */
    const char *separator; /* before the next event */
} trace;

static int64_t time_of(const arenaut_problem *p, uint32_t event) {
    return event % 2 ? p->lifetime[event / 2].end : p->lifetime[event / 2].first;
}

static bool event_before(const void *context, uint32_t a, uint32_t b) {
    const int64_t at = time_of(context, a), bt = time_of(context, b);
    return at != bt ? at < bt : a % 2 > b % 2;
}

static void begin_event(trace *t, const char *kind, uint32_t process) {
    arn_putf(&t->out, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32, t->separator, kind, process);
    t->separator = ",";
}

static uint64_t since_origin(const trace *t, int64_t step) {
    return (uint64_t)step - (uint64_t)t->origin;
}

static void put_process_name(trace *t, uint32_t pool) {
    const char *name = t->result->problem->pool[pool].name;
    begin_event(t, "M", pool + 1);
    arn_puts(&t->out, ",\"name\":\"process_name\",\"args\":{\"name\":");
    arn_put_json_string(&t->out, name ? name : "(unnamed pool)");
    arn_puts(&t->out, "}}");
}

static void put_lifetime(trace *t, uint32_t i) {
    const arenaut_problem *p = t->result->problem;
    const uint32_t b = t->owner[i];
    const arenaut_interval life = p->lifetime[i];
    const arn_label shape = arn_report_shape_label(t->result, b);
    char store[24];
    begin_event(t, "X", t->result->plan->pool[b] + 1);
    arn_putf(&t->out, ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"name\":",
             t->lane[i] + 1, since_origin(t, life.first),
             (uint64_t)life.end - (uint64_t)life.first);
    arn_put_json_string(&t->out, arenaut_problem_buffer_name(p, b, store));
    arn_puts(&t->out, ",\"args\":{\"bytes\":");
    arn_put_json_u64(&t->out, p->size[b]);
    arn_puts(&t->out, ",\"offset\":");
    arn_put_json_u64(&t->out, t->result->plan->offset[b]);
    arn_putf(&t->out, ",\"class\":\"%s\"", arenaut_class_name(arenaut_problem_class(p, b)));
    if (*shape.text) {
        arn_puts(&t->out, ",\"shape\":");
        arn_put_json_string(&t->out, shape.text);
    }
    if (p->op && p->op[b]) {
        arn_puts(&t->out, ",\"op\":");
        arn_put_json_string(&t->out, p->op[b]);
    }
    arn_puts(&t->out, "}}");
}

static void put_pool(trace *t, uint32_t pool) {
    const arenaut_problem *p = t->result->problem;
    uint32_t n_lanes = 0, n_free = 0;
    if (t->result->plan->arena[pool] == 0) return;
    put_process_name(t, pool);
    for (size_t k = 0; k < 2 * (size_t)p->n_lifetimes; k++) {
        const uint32_t i = t->events[k] / 2, b = t->owner[i];
        if (t->result->plan->pool[b] != pool || p->size[b] == 0) continue;
        if (t->events[k] % 2) {
            t->free_lane[n_free++] = t->lane[i];
        } else {
            t->lane[i] = n_free ? t->free_lane[--n_free] : n_lanes++;
            put_lifetime(t, i);
        }
    }
}

/* A value for each step at which it changes. */
static void put_counter(trace *t) {
    const arenaut_problem *p = t->result->problem;
    const size_t n = 2 * (size_t)p->n_lifetimes;
    uint64_t live = 0;
    for (size_t k = 0; k < n; k++) {
        const uint64_t size = p->size[t->owner[t->events[k] / 2]];
        live = t->events[k] % 2 ? live - size : live + size;
        if (k + 1 < n && time_of(p, t->events[k + 1]) == time_of(p, t->events[k])) continue;
        begin_event(t, "C", 0);
        arn_putf(&t->out,
                 ",\"ts\":%" PRIu64 ",\"name\":\"bytes alive\",\"args\":{\"bytes\":%" PRIu64 "}}",
                 since_origin(t, time_of(p, t->events[k])), live);
    }
}

static void put_trace(trace *t) {
    const arenaut_problem *p = t->result->problem;
    const size_t n = 2 * (size_t)p->n_lifetimes;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        for (uint32_t i = p->lifetime_start[b]; i < p->lifetime_start[b + 1]; i++) t->owner[i] = b;
    }
    for (size_t i = 0; i < n; i++) t->events[i] = (uint32_t)i;
    arn_sort_ids(t->events, n, event_before, p, t->events + n);
    t->origin = n ? time_of(p, t->events[0]) : 0;
    arn_puts(&t->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    put_counter(t);
    for (uint32_t pool = 0; pool < p->n_pools; pool++) put_pool(t, pool);
    arn_puts(&t->out, "]}\n");
}

static arenaut_status perfetto_emit(const arenaut_result *result,
                                    const arenaut_report_options *options, arenaut_sink sink,
                                    const arenaut_allocator *allocator, arenaut_error *err) {
    trace t = {.result = result, .out = arn_writer_to(sink), .separator = ""};
    const size_t n = result->problem->n_lifetimes;
    (void)options;
    if (n > UINT32_MAX / 2) return arn_fail(err, ARENAUT_TOO_LARGE, 0, "more than 2^31 lifetimes");
    arn_region region;
    arn_region_init(&region, allocator);
    const bool ready =
        ARN_REGION_ARRAYS(&region, ARN_ARRAY(t.events, 4 * n), /* half of it to sort with */
                          ARN_ARRAY(t.owner, n), ARN_ARRAY(t.lane, n), ARN_ARRAY(t.free_lane, n));
    if (ready) put_trace(&t);
    arn_region_free(&region);
    return ready ? arn_writer_finish(&t.out, err) : arn_no_memory(err);
}

extern const arenaut_report arn_report_perfetto;
const arenaut_report arn_report_perfetto = {
    .name = "perfetto",
    .summary = "a trace for ui.perfetto.dev: a step is a microsecond",
    .extension = ".trace",
    .needs_plan = true,
    .emit = perfetto_emit,
};
