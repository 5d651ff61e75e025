/* The result in the file's own format, in memory, with or without bytes that nothing leads to. */
#include "core/memory.h"
#include "pipeline/stages.h"

/* A text fails only for want of memory. */
static arenaut_status in_memory(arenaut_status st, arenaut_error *err) {
    return st == ARENAUT_IO ? arn_no_memory(err) : st;
}

static arenaut_status write_whole(const arenaut_pipeline *p, arenaut_text *bytes,
                                  arenaut_error *err) {
    return in_memory(p->document.format->write(&p->result, arenaut_text_sink(bytes),
                                               arn_pipeline_allocator(p), err),
                     err);
}

static arenaut_status make_compact(const arenaut_pipeline *p, const arenaut_text *whole,
                                   arenaut_text *bytes, arenaut_error *err) {
    return in_memory(
        p->document.format->compact((const uint8_t *)whole->bytes, whole->size,
                                    arenaut_text_sink(bytes), arn_pipeline_allocator(p), err),
        err);
}

arenaut_status arn_pipeline_write_in_memory(const arenaut_pipeline *p, arenaut_text *bytes,
                                            arenaut_error *err) {
    arenaut_text whole = {.allocator = bytes->allocator};
    if (!p->options.compact || !p->document.format->compact) return write_whole(p, bytes, err);
    arenaut_status st = write_whole(p, &whole, err);
    if (st == ARENAUT_OK) st = make_compact(p, &whole, bytes, err);
    if (st == ARENAUT_OK && bytes->size >= whole.size) { /* nothing was dead */
        const arenaut_text larger = *bytes;
        *bytes = whole;
        whole = larger;
    }
    arenaut_text_free(&whole);
    return st;
}

arenaut_status arenaut_pipeline_count_dead(const arenaut_pipeline *p, uint64_t *bytes,
                                           arenaut_error *err) {
    arenaut_text whole = {.allocator = arn_pipeline_allocator(p)}, compact = whole;
    *bytes = 0;
    if (!p->document.format->compact || p->options.compact) return ARENAUT_OK;
    arenaut_status st = write_whole(p, &whole, err);
    if (st == ARENAUT_OK) {
        st = make_compact(p, &whole, &compact, err);
        if (st == ARENAUT_OK && compact.size < whole.size) *bytes = whole.size - compact.size;
        if (st == ARENAUT_REFUSED) st = ARENAUT_OK;
    }
    arenaut_text_free(&whole);
    arenaut_text_free(&compact);
    return st;
}
