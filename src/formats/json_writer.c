/* Writer of members, sizes and devices in all of our JSON: a size above 2^53 - 1 is a decimal
 * string, since readers may keep numbers as doubles. */
#include "formats/json_writer.h"

#include <inttypes.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"

void arn_json_put_key(arn_writer *writer, bool *begun, const char *key) {
    arn_putf(writer, "%s\"%s\": ", *begun ? ", " : "", key);
    *begun = true;
}

void arn_json_put_text_or_null(arn_writer *writer, const char *text) {
    if (text) {
        arn_put_json_string(writer, text);
    } else {
        arn_puts(writer, "null");
    }
}

void arn_json_put_text_member(arn_writer *writer, bool *begun, const char *key, const char *text) {
    if (!text) return;
    arn_json_put_key(writer, begun, key);
    arn_put_json_string(writer, text);
}

void arn_json_put_size_member(arn_writer *writer, bool *begun, const char *key, uint64_t value) {
    arn_json_put_key(writer, begun, key);
    arn_put_json_u64(writer, value);
}

void arn_json_put_device(arn_writer *writer, arenaut_device device) {
    arn_putf(writer, "{\"type\": %" PRIu16 ", \"index\": %" PRIu16 "}", device.type, device.index);
}

void arn_json_put_i64(arn_writer *writer, int64_t value) {
    const int64_t exact = (INT64_C(1) << 53) - 1;
    const bool is_exact = value >= -exact && value <= exact;
    arn_putf(writer, is_exact ? "%" PRId64 : "\"%" PRId64 "\"", value);
}

typedef struct naming {
    arn_name_fn name_of;
    const void *context;
} naming;

static bool name_before(const void *context, uint32_t a, uint32_t b) {
    const naming *names = context;
    return strcmp(names->name_of(names->context, a), names->name_of(names->context, b)) < 0;
}

bool *arn_json_unique_names(arn_name_fn name_of, const void *context, uint32_t n,
                            const arenaut_allocator *allocator) {
    const naming names = {name_of, context};
    bool *unique = arn_allocate_zeroed(allocator, n, sizeof *unique);
    uint32_t *order = arn_allocate(allocator, (size_t)n * 2, sizeof *order);
    if (!unique || !order) {
        ARN_RELEASE(allocator, unique, order);
        return NULL;
    }
    uint32_t named = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (name_of(context, i)) order[named++] = i;
    }
    arn_sort_ids(order, named, name_before, &names, order + n);
    for (uint32_t i = 0; i < named; i++) {
        const bool as_before = i > 0 && !name_before(&names, order[i - 1], order[i]);
        const bool as_after = i + 1 < named && !name_before(&names, order[i], order[i + 1]);
        unique[order[i]] = !as_before && !as_after;
    }
    arn_release(allocator, order);
    return unique;
}
