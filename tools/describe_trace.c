/* Facts of a trace beside its problem. The allocator's waste is the reserved minus the requested
 * bytes; it is given for tenths of the run, each at the moment of the greatest waste. */
#include "describe_trace.h"

#include <arenaut/trace.h>

#include <inttypes.h>

#include "describe.h"

/* Bytes that PyTorch's allocator would reserve; `known` is false if its replica cannot plan the
 * problem. */
typedef struct caching {
    bool known;
    uint64_t fixed, expandable;
} caching;

static exit_code find_caching(const tool_job *job, caching *found) {
    const arenaut_problem *problem = job->pipeline->problem;
    arenaut_error err = {0};
    arenaut_status st = arenaut_caching_reserve(problem, false, NULL, &found->fixed, &err);
    if (st == ARENAUT_OK) {
        st = arenaut_caching_reserve(problem, true, NULL, &found->expandable, &err);
    }
    found->known = st == ARENAUT_OK;
    return st == ARENAUT_OK || st == ARENAUT_REFUSED ? EXIT_FINE : complain_error(job->path, &err);
}

static uint64_t unused_at(const arenaut_trace *trace, uint32_t step) {
    const uint64_t asked = trace->asked[step], reserved = trace->reserved[step];
    return reserved > asked ? reserved - asked : 0;
}

/* The step in [first, end) at which most is reserved for nothing. */
static uint32_t worst_step(const arenaut_trace *trace, uint32_t first, uint32_t end) {
    uint32_t worst = first;
    for (uint32_t s = first + 1; s < end; s++) {
        if (unused_at(trace, s) > unused_at(trace, worst)) worst = s;
    }
    return worst;
}

/* `n` / `of` in tenths of a percent. */
static uint64_t per_mille(uint64_t n, uint64_t of) {
    return of == 0 ? 0 : (uint64_t)((double)n * 1000 / (double)of + 0.5);
}

static void put_unused(const arenaut_trace *trace, arenaut_text *out) {
    enum { PARTS = 10 };
    const uint32_t n = trace->n_requests, parts = n < PARTS ? n : PARTS;
    text_put(out, "  unused   ");
    for (uint32_t i = 0; i < parts; i++) {
        const uint32_t first = (uint32_t)((uint64_t)n * i / parts);
        const uint32_t end = (uint32_t)((uint64_t)n * (i + 1) / parts);
        const uint32_t worst = worst_step(trace, first, end);
        const uint64_t share = per_mille(unused_at(trace, worst), trace->reserved[worst]);
        text_printf(out, "%" PRIu64 " ", (share + 5) / 10);
    }
    text_printf(out, "%% of the reserved bytes, %s\n",
                parts == PARTS ? "a tenth of the run after the other" : "request by request");
}

static void put_reserved(const arenaut_trace *trace, arenaut_text *out) {
    if (!trace->reserved) return;
    const uint64_t asked = trace->most_asked.bytes, reserved = trace->most_reserved.bytes;
    text_printf(out, "  reserved at most %s bytes (%s)", with_commas(reserved).text,
                in_units(reserved).text);
    if (reserved > asked) {
        const uint64_t share = per_mille(reserved - asked, asked);
        text_printf(out, ", %" PRIu64 ".%" PRIu64 " %% more than was ever asked for", share / 10,
                    share % 10);
    }
    text_put(out, "\n");
    if (trace->n_requests > 0) put_unused(trace, out);
}

exit_code describe_trace(const tool_job *job, arenaut_text *out) {
    const arenaut_trace *trace = job->pipeline->document.trace;
    caching found = {0};
    if (!trace) return EXIT_FINE;
    const exit_code code = find_caching(job, &found);
    if (code != EXIT_FINE) return code;
    text_printf(out, "  asked    at most %s bytes (%s) at once, at step %" PRId64 " of %" PRIu32,
                with_commas(trace->most_asked.bytes).text, in_units(trace->most_asked.bytes).text,
                trace->most_asked.step, trace->n_requests);
    if (trace->n_held > 0)
        text_printf(out, "; %" PRIu32 " blocks are never released", trace->n_held);
    text_put(out, "\n");
    put_reserved(trace, out);
    if (found.known) {
        text_printf(out,
                    "  caching  PyTorch's allocator would reserve %s bytes, with expandable "
                    "segments %s\n",
                    with_commas(found.fixed).text, with_commas(found.expandable).text);
    }
    return EXIT_FINE;
}

static void put_peak(const char *name, const arenaut_trace_peak *peak, arenaut_text *out) {
    text_printf(out, ", \"%s\": {\"peak\": ", name);
    text_put_json_u64(out, peak->bytes);
    text_printf(out, ", \"step\": %" PRId64 "}", peak->step);
}

/* Step, requested bytes and reserved bytes, at a bounded number of steps. */
static void put_curve(const arenaut_trace *trace, arenaut_text *out) {
    enum { POINTS = 100 };
    const uint32_t n = trace->n_requests, points = n < POINTS ? n : POINTS;
    text_put(out, ", \"curve\": [");
    for (uint32_t i = 0; i < points; i++) {
        const uint32_t first = (uint32_t)((uint64_t)n * i / points);
        const uint32_t end = (uint32_t)((uint64_t)n * (i + 1) / points);
        const uint32_t step = trace->reserved ? worst_step(trace, first, end) : first;
        text_printf(out, "%s[%" PRIu32 ", ", i ? ", " : "", step);
        text_put_json_u64(out, trace->asked[step]);
        if (trace->reserved) {
            text_put(out, ", ");
            text_put_json_u64(out, trace->reserved[step]);
        }
        text_put(out, "]");
    }
    text_put(out, "]");
}

exit_code put_trace_json(const tool_job *job, arenaut_text *out) {
    const arenaut_trace *trace = job->pipeline->document.trace;
    caching found = {0};
    if (!trace) return EXIT_FINE;
    const exit_code code = find_caching(job, &found);
    text_printf(out,
                ",\n  \"trace\": {\"events\": %" PRIu64 ", \"requests\": %" PRIu32
                ", \"held\": %" PRIu32,
                trace->n_events, trace->n_requests, trace->n_held);
    put_peak("asked", &trace->most_asked, out);
    if (trace->reserved) put_peak("reserved", &trace->most_reserved, out);
    if (found.known) {
        text_put(out, ", \"caching\": {\"fixed\": ");
        text_put_json_u64(out, found.fixed);
        text_put(out, ", \"expandable\": ");
        text_put_json_u64(out, found.expandable);
        text_put(out, "}");
    }
    put_curve(trace, out);
    text_put(out, "}");
    return code;
}
