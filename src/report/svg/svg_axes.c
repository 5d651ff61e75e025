/* Axes around the rectangles: addresses at the left, steps below, the curve of live bytes above,
 * for a trace with the reserved bytes, and the marker of the peak through all of it. */
#include <string.h>

#include "core/checked.h"
#include "report/label.h"
#include "report/svg/svg_drawing.h"

uint32_t arn_svg_height(const svg_drawing *s, uint64_t bytes) {
    return arn_report_scale(bytes < s->top ? bytes : s->top, s->top, s->height);
}

void arn_svg_frame(svg_drawing *s) {
    const svg_rectangle all = {0, 0, SVG_PLOT, s->height};
    arn_svg_rectangle(s, all, "frame");
    arn_puts(&s->out, "/>\n");
}

/* Ticks at multiples of a power of two, `wanted` at most. */
void arn_svg_byte_ticks(svg_drawing *s, uint32_t wanted) {
    uint64_t step = 1;
    while (s->top / step > wanted) step *= 2;
    for (uint64_t at = 0; at <= s->top; at += step) {
        const uint32_t y = s->y + s->height - arn_svg_height(s, at);
        if (at) arn_svg_line(s, SVG_LEFT, y, SVG_LEFT + SVG_PLOT, y, "grid");
        arn_svg_text(s, SVG_LEFT - 80, y + 40, "soft small", "end", arn_report_kib(at).text);
    }
}

bool arn_svg_names_ops(const svg_drawing *s) {
    return s->result->lowering && s->picture.end - s->picture.first <= SVG_MOST_NAMED;
}

void arn_svg_op_names(svg_drawing *s) {
    for (int64_t step = s->picture.first; step < s->picture.end; step++) {
        const uint32_t a = arn_report_picture_x(&s->picture, step, SVG_PLOT);
        const uint32_t b = arn_report_picture_x(&s->picture, step + 1, SVG_PLOT);
        const uint32_t x = SVG_LEFT + (a + b) / 2 + 30, y = s->y + 110;
        arn_label label = arn_report_step_label(s->result, step);
        const bool at_peak = step == s->picture.peak.step;
        if (strncmp(label.text, "op ", 3) == 0)
            memmove(label.text, label.text + 3, sizeof label.text - 3);
        if (strlen(label.text) > 20) strcpy(label.text + 18, "..");
        arn_putf(&s->out, "<text transform=\"translate(");
        arn_svg_tenths(s, x);
        arn_puts(&s->out, " ");
        arn_svg_tenths(s, y);
        arn_putf(&s->out, ") rotate(-55)\" text-anchor=\"end\" class=\"%s\">",
                 at_peak ? "warn small strong" : "soft small");
        arn_svg_escaped(s, label.text);
        arn_puts(&s->out, "</text>\n");
    }
}

void arn_svg_step_numbers(svg_drawing *s) {
    const uint64_t range = (uint64_t)s->picture.end - (uint64_t)s->picture.first;
    const uint64_t step = arn_report_nice_step(range / 12 + 1);
    for (uint64_t at = 0; at < range; at += step) {
        const int64_t t = (int64_t)((uint64_t)s->picture.first + at);
        const arn_label number = arn_report_commas(t < 0 ? (uint64_t)0 - (uint64_t)t : (uint64_t)t);
        char text[1 + sizeof number.text] = "-";
        memcpy(text + 1, number.text, sizeof number.text);
        arn_svg_text(s, SVG_LEFT + arn_report_picture_x(&s->picture, t, SVG_PLOT), s->y + 130,
                     "soft small", "middle", t < 0 ? text : text + 1);
        if (at > UINT64_MAX - step) break;
    }
    arn_svg_text(s, SVG_LEFT + SVG_PLOT / 2, s->y + 290, "soft", "middle", "step");
}

/* ---- the curves ---- */

/* From the lower left corner to the right edge, by columns where the bytes change. The tag is left
 * open. */
static void open_stairs(svg_drawing *s, const char *cls, const uint64_t *bytes) {
    const uint32_t columns = s->picture.columns;
    arn_putf(&s->out, "<path class=\"%s\" d=\"M", cls);
    arn_svg_tenths(s, SVG_LEFT);
    arn_puts(&s->out, " ");
    arn_svg_tenths(s, s->y + s->height);
    for (uint32_t c = 0; c < columns; c++) {
        if (c == 0 || bytes[c] != bytes[c - 1]) {
            arn_puts(&s->out, "H");
            arn_svg_tenths(s, SVG_LEFT + (uint32_t)((uint64_t)c * SVG_PLOT / columns));
            arn_puts(&s->out, "V");
            arn_svg_tenths(s, s->y + s->height - arn_svg_height(s, bytes[c]));
        }
    }
    arn_puts(&s->out, "H");
    arn_svg_tenths(s, SVG_LEFT + SVG_PLOT);
}

/* The bytes that a trace's allocator held over time, and those of a plan: all between the first and
 * the live bytes was reserved for nothing. */
static void put_recorded(svg_drawing *s) {
    const arenaut_trace *trace = s->result->trace;
    const uint32_t x = SVG_LEFT + SVG_PLOT, arena = arn_svg_height(s, s->result->plan->total);
    if (!s->picture.reserved) return;
    open_stairs(s, "reserved", s->picture.reserved);
    arn_puts(&s->out, "\"/>\n");
    arn_svg_line(s, SVG_LEFT, s->y + s->height - arena, x, s->y + s->height - arena, "arena");
    arn_svg_text(s, x + 100, s->y + 570, "held", NULL, "reserved at most");
    arn_svg_text(s, x + 100, s->y + 710, "held strong", NULL,
                 arn_report_commas(trace->most_reserved.bytes).text);
    arn_svg_text(s, x + 100, s->y + 880, "soft", NULL, "arena");
    arn_svg_text(s, x + 100, s->y + 1020, "ink strong", NULL,
                 arn_report_commas(s->result->plan->total).text);
}

/* Of a trace, to the most of all that is drawn. */
uint64_t arn_svg_top_of_curve(const svg_drawing *s) {
    uint64_t most = s->picture.most;
    if (s->picture.reserved) {
        most = arn_max_u64(most, s->result->plan->total);
        most = arn_max_u64(most, s->result->trace->most_reserved.bytes);
    }
    return most ? most : 1;
}

void arn_svg_curve(svg_drawing *s) {
    const arn_report_picture *p = &s->picture;
    arn_svg_frame(s);
    arn_svg_byte_ticks(s, 3);
    open_stairs(s, "area", p->live);
    arn_puts(&s->out, "V");
    arn_svg_tenths(s, s->y + s->height);
    arn_puts(&s->out, "Z\"/>\n");
    put_recorded(s);
    arn_svg_text(s, SVG_LEFT + SVG_PLOT + 100, s->y + 110, "soft", NULL, "bytes alive");
    arn_label text = arn_report_commas(p->at_peak);
    arn_svg_text(s, SVG_LEFT + SVG_PLOT + 100, s->y + 260, "warn strong", NULL, text.text);
    text = arn_report_step_label(s->result, p->peak.step);
    if (strlen(text.text) > 25) strcpy(text.text + 23, "..");
    arn_svg_text(s, SVG_LEFT + SVG_PLOT + 100, s->y + 400, "warn small", NULL, text.text);
}

/* Through both plots, in the middle of the peak's step. */
void arn_svg_peak_marker(svg_drawing *s, uint32_t from, uint32_t to) {
    const arenaut_interval peak = {s->picture.peak.step, s->picture.peak.step + 1};
    const uint32_t a = arn_report_picture_x(&s->picture, peak.first, SVG_PLOT);
    const uint32_t b = arn_report_picture_x(&s->picture, peak.end, SVG_PLOT);
    if (!arn_report_picture_shows(&s->picture, peak)) return;
    arn_svg_line(s, SVG_LEFT + (a + b) / 2, from, SVG_LEFT + (a + b) / 2, to, "peak");
}
