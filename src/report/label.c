/* Numbers and names as reports print them. Names come from files, so control characters are
 * replaced, and columns are counted in characters. */
#include "report/label.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/utf8.h"

arn_label arn_report_commas(uint64_t n) {
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    arn_label out = {""};
    char *to = out.text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    return out;
}

arn_label arn_report_percent(uint64_t part, uint64_t whole) {
    while (part > UINT64_MAX / 2048) { /* thousandths must not overflow */
        part >>= 1;
        whole >>= 1;
    }
    const uint64_t tenths = whole ? (part * 1000 + whole / 2) / whole : 0;
    arn_label out;
    snprintf(out.text, sizeof out.text, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
    return out;
}

arn_label arn_report_kernels_label(const arenaut_result *result) {
    const char *kernels = arenaut_result_kernels_name(result);
    arn_label out = {""};
    if (kernels) snprintf(out.text, sizeof out.text, " for the kernels '%.64s'", kernels);
    return out;
}

arn_label arn_report_rounded_label(uint32_t n_ops) {
    arn_label out = {""};
    if (n_ops == 0) return out;
    snprintf(out.text, sizeof out.text,
             "not the same bits: tiles of %" PRIu32 " %s may be rounded otherwise", n_ops,
             n_ops == 1 ? "op" : "ops");
    return out;
}

arn_label arn_report_bits_label(const arenaut_result *result) {
    return arn_report_rounded_label(arenaut_result_rounded(result));
}

arn_label arn_report_kib(uint64_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    arn_label out;
    unsigned unit = 0;
    if (bytes < 1024) {
        snprintf(out.text, sizeof out.text, "%" PRIu64 " B", bytes);
        return out;
    }
    while (unit + 1 < sizeof units / sizeof *units && bytes >> (10 * (unit + 2))) unit++;
    const unsigned shift = 10 * (unit + 1);
    const uint64_t below = bytes & ((UINT64_C(1) << shift) - 1);
    snprintf(out.text, sizeof out.text, "%" PRIu64 ".%" PRIu64 " %s", bytes >> shift,
             (below >> (shift - 10)) * 10 >> 10, units[unit]);
    return out;
}

/* Bytes that a sequence at `text` may take: up to the end of the string, at most 4. */
static size_t sequence_room(const char *text) {
    size_t n = 0;
    while (n < 4 && text[n]) n++;
    return n;
}

/* No control characters (C0, DEL, C1) and none that turn the direction of writing. */
size_t arn_report_shown_length(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    const size_t n = arn_utf8_length(p, sequence_room(text));
    return arn_utf8_unshown(p, n) ? 0 : n;
}

/* Bytes of `text` that are shown as one character: a sequence as it is, or a byte as '?'. */
static size_t next_shown(const char *text) {
    const size_t n = arn_report_shown_length(text);
    return n ? n : 1;
}

void arn_report_put_clean(arn_writer *writer, const char *text) {
    while (*text) {
        const size_t n = arn_report_shown_length(text);
        arn_put(writer, n ? text : "?", n ? n : 1);
        text += n ? n : 1;
    }
}

void arn_report_put_spaces(arn_writer *writer, size_t n) {
    while (n-- > 0 && !writer->failed) arn_puts(writer, " ");
}

size_t arn_report_columns(const char *text) {
    size_t n = 0;
    for (; *text; text += next_shown(text)) n++;
    return n;
}

size_t arn_report_columns_left(size_t width, size_t used) {
    return width > used ? width - used : 0;
}

/* The last `columns` characters of `text` as they are shown, in less than `room` bytes; "..."
 * stands for the cut part. */
static arn_label cut_left(const char *text, uint32_t columns, size_t room) {
    static const char dots[] = "...";
    enum { DOTS = sizeof dots - 1 };
    arn_label out = {""};
    size_t used = 0, left = arn_report_columns(text), bytes = strlen(text);
    if (left > columns || bytes >= room) {
        const size_t most = arn_report_columns_left(columns, DOTS);
        for (; left > most || bytes >= room - DOTS; left--) {
            const size_t n = next_shown(text);
            text += n;
            bytes -= n;
        }
        memcpy(out.text, dots, used = DOTS);
    }
    for (; *text; text += next_shown(text)) {
        const size_t n = arn_report_shown_length(text);
        memcpy(out.text + used, n ? text : "?", n ? n : 1);
        used += n ? n : 1;
    }
    out.text[used] = '\0';
    return out;
}

arn_label arn_report_text_label(const char *text, uint32_t columns) {
    return cut_left(text, columns, sizeof(arn_label));
}

arn_label arn_report_buffer_label(const arenaut_result *result, uint32_t buffer, uint32_t columns) {
    char store[24];
    return arn_report_text_label(arenaut_problem_buffer_name(result->problem, buffer, store),
                                 columns);
}

arn_label arn_report_shape_label(const arenaut_result *result, uint32_t buffer) {
    arn_label out = {""};
    if (!result->lowering) return out;
    const arenaut_tensor *tensor = &result->program->tensors[result->lowering->tensor[buffer]];
    const size_t room = sizeof out.text;
    int used = snprintf(out.text, room, "%s [", arenaut_dtype_name(tensor->dtype));
    for (uint32_t i = 0; i < tensor->rank && used > 0 && (size_t)used + 26 < room; i++) {
        used += snprintf(out.text + used, room - (size_t)used, "%s%" PRId64, i ? "," : "",
                         tensor->dims[i]);
    }
    snprintf(out.text + used, room - (size_t)used, "]");
    return out;
}

/* Bytes of a name within another label, so that no sequence is cut in two. */
enum { WITHIN = 61 };

arn_label arn_report_op_label(const arenaut_program *program, uint32_t op) {
    const arenaut_op *o = &program->ops[op];
    const uint32_t first = program->methods[o->method].first_op;
    const arn_label name = cut_left(o->name ? o->name : "", 40, WITHIN);
    arn_label out;
    snprintf(out.text, sizeof out.text, "op %" PRIu32 " %.60s", op - first, name.text);
    return out;
}

arn_label arn_report_step_label(const arenaut_result *result, int64_t step) {
    const arenaut_lowering *lowering = result->lowering;
    arn_label out;
    if (!lowering || step < 0 || step >= (int64_t)lowering->n_steps) {
        snprintf(out.text, sizeof out.text, "step %" PRId64, step);
        return out;
    }
    const arenaut_step *at = &lowering->steps[step];
    if (at->op != ARENAUT_NONE) return arn_report_op_label(result->program, at->op);
    const char *name = result->program->methods[at->method].name;
    const arn_label clean = cut_left(name ? name : "the method", 40, WITHIN);
    snprintf(out.text, sizeof out.text, "start of %.60s", clean.text);
    return out;
}
