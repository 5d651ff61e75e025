/* toy: problems as lines of text. After "toy 1" each line has a buffer: the step at which it comes
 * alive, the one at which it is no longer, and its bytes. Offsets are written likewise. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <arenaut/format.h>

#include "core/fail.h"

static const char HEAD[] = "toy 1\n";

static bool toy_recognise(const uint8_t *data, size_t size) {
    return size >= sizeof HEAD - 1 && memcmp(data, HEAD, sizeof HEAD - 1) == 0;
}

/* A number below 10^9 and the one character behind it. */
static bool take(const uint8_t **at, const uint8_t *end, char behind, int64_t *number) {
    const uint8_t *first = *at;
    for (*number = 0; *at < end && **at >= '0' && **at <= '9' && *at - first < 9; ++*at) {
        *number = *number * 10 + (**at - '0');
    }
    return *at > first && *at < end && *(*at)++ == (uint8_t)behind;
}

static arenaut_status read_lines(const uint8_t *data, size_t size, arenaut_problem *problem,
                                 arenaut_error *err) {
    const uint8_t *at = data + sizeof HEAD - 1;
    while (at < data + size) {
        const size_t line = (size_t)(at - data);
        arenaut_interval life;
        int64_t bytes;
        if (!take(&at, data + size, ' ', &life.first) || !take(&at, data + size, ' ', &life.end) ||
            !take(&at, data + size, '\n', &bytes)) {
            return arn_fail(err, ARENAUT_BAD_INPUT, line,
                            "the line at byte %zu must be three numbers below 10^9", line);
        }
        const arenaut_buffer buffer = {
            .size = (uint64_t)bytes, .lifetimes = &life, .n_lifetimes = 1};
        const arenaut_status st = arenaut_problem_add_buffer(problem, &buffer, NULL, err);
        if (st != ARENAUT_OK) return st;
    }
    return arenaut_problem_finish(problem, err);
}

static arenaut_status toy_read(const uint8_t *data, size_t size,
                               const arenaut_read_options *options,
                               const arenaut_allocator *allocator, arenaut_document *out,
                               arenaut_error *err) {
    (void)options;
    if (!toy_recognise(data, size)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0, "the first line must be 'toy 1'");
    }
    arenaut_status st = arenaut_problem_new(allocator, &out->problem, err);
    if (st == ARENAUT_OK) st = read_lines(data, size, out->problem, err);
    return st;
}

static arenaut_status toy_write(const arenaut_result *result, arenaut_sink sink,
                                const arenaut_allocator *allocator, arenaut_error *err) {
    (void)allocator;
    bool fine = sink.put(sink.context, HEAD, sizeof HEAD - 1);
    for (uint32_t b = 0; b < result->plan->n_buffers && fine; b++) {
        char line[24];
        const int n = snprintf(line, sizeof line, "%" PRIu64 "\n", result->plan->offset[b]);
        fine = sink.put(sink.context, line, (size_t)n);
    }
    return fine ? ARENAUT_OK : arn_fail(err, ARENAUT_IO, 0, "the lines cannot be written");
}

extern const arenaut_format arn_format_toy_lines;
const arenaut_format arn_format_toy_lines = {
    .name = "toy",
    .summary = "problems as lines of three numbers",
    .extensions = ".toy",
    .recognise = toy_recognise,
    .read = toy_read,
    .write = toy_write,
};
