#include "support/trace_round.h"

#include <arenaut/format.h>
#include <arenaut/trace.h>

#include "support/pipelines.h"
#include "support/require.h"

/* The allocator holds at least the bytes that are out at once, and the figures of each step are
 * below the peaks. */
static void require_measured(const arenaut_document *document) {
    const arenaut_trace *trace = document->trace;
    uint64_t reserved;
    arenaut_error err = {0};
    REQUIRE(trace->n_requests == document->problem->n_buffers);
    for (uint32_t b = 0; b < trace->n_requests; b++) {
        REQUIRE(trace->asked[b] <= trace->most_asked.bytes);
        REQUIRE(!trace->reserved || trace->reserved[b] <= trace->most_reserved.bytes);
    }
    for (int expandable = 0; expandable < 2; expandable++) {
        const arenaut_status st =
            arenaut_caching_reserve(document->problem, expandable, NULL, &reserved, &err);
        if (st == ARENAUT_OK) REQUIRE(reserved >= trace->most_asked.bytes);
        else REQUIRE(is_refusal(st, &err));
    }
}

bool trace_property(const uint8_t *data, size_t size) {
    arenaut_document document = {0};
    if (!problem_property("trace", "torch-caching", data, size)) return false;
    REQUIRE(arenaut_read(data, size, arenaut_format_find("trace"), NULL, NULL, &document, NULL) ==
            ARENAUT_OK);
    require_measured(&document);
    arenaut_document_free(&document);
    return true;
}
