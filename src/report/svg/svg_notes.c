/* Text beside the rectangles: the title, the levels of arena and bound, the legend, and the list of
 * buffers alive at the peak. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/file_name.h"
#include "report/figures.h"
#include "report/label.h"
#include "report/svg/svg_drawing.h"

enum { MOST_LISTED = 12, BYTES_COLUMN = 7600 };

typedef struct level {
    uint64_t bytes;
    const char *cls, *name;
} level;

/* Lines across the plot with their numbers at the right, moved apart where they would
 * cover one another; `levels` go from the highest down. */
static void put_levels(svg_drawing *s, const level *levels, uint32_t n) {
    uint32_t lowest_text = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t y = s->y + s->height - arn_svg_height(s, levels[i].bytes);
        uint32_t text_y = y + 40;
        const bool arena = strcmp(levels[i].cls, "arena") == 0;
        arn_svg_line(s, SVG_LEFT, y, SVG_LEFT + SVG_PLOT + 60, y, levels[i].cls);
        if (text_y < lowest_text) text_y = lowest_text;
        lowest_text = text_y + 2 * SVG_LINE + SVG_LINE / 4;
        arn_svg_text(s, SVG_LEFT + SVG_PLOT + 100, text_y, "soft", NULL, levels[i].name);
        arn_svg_text(s, SVG_LEFT + SVG_PLOT + 100, text_y + SVG_LINE, arena ? "ink strong" : "ink",
                     NULL, arn_report_commas(levels[i].bytes).text);
    }
}

void arn_svg_levels(svg_drawing *s) {
    const arenaut_plan *plan = s->result->plan, *baseline = s->result->baseline;
    level levels[3];
    uint32_t n = 0;
    const bool single = plan->n_pools == 1;
    if (single && baseline && baseline->total > plan->total && baseline->total <= s->top) {
        levels[n++] = (level){baseline->total, "today", "now"};
    }
    const uint64_t bound = single ? plan->total_bound : plan->lower_bound[s->pool];
    const bool reached = bound >= plan->arena[s->pool];
    char planned[16];
    snprintf(planned, sizeof planned, "%s%s", arn_report_planned_name(s->result),
             reached ? " = bound" : "");
    levels[n++] = (level){plan->arena[s->pool], "arena", planned};
    if (!reached) levels[n++] = (level){bound, "bound", "bound"};
    put_levels(s, levels, n);
}

/* The result in one line, so that the picture can stand alone. */
void arn_svg_title(svg_drawing *s) {
    const arenaut_plan *plan = s->result->plan;
    char text[400] = "";
    arn_svg_text(s, SVG_LEFT, 320, "title ink", NULL, arn_file_name(s->result->path));
    if (s->called) {
        strncat(text, s->called, 60);
        strcat(text, ": ");
    }
    strcat(text, arn_report_planned_name(s->result));
    strcat(text, " ");
    strcat(text, arn_report_commas(plan->total).text);
    strcat(text, " bytes (");
    strcat(text, arn_report_kib(plan->total).text);
    strcat(text, "), ");
    if (plan->quality == ARENAUT_OPTIMAL) {
        strcat(text, "proven minimal");
    } else {
        strcat(text, "bound ");
        strcat(text, arn_report_commas(plan->total_bound).text);
    }
    strcat(text, arn_report_kernels_label(s->result).text);
    if (s->result->baseline) {
        strcat(text, "; now ");
        strcat(text, arn_report_commas(s->result->baseline->total).text);
        strcat(text, " (");
        strncat(text, s->result->baseline->planner, 40);
        strcat(text, ")");
    }
    arn_svg_text(s, SVG_LEFT, 530, "soft", NULL, text);
    const arn_label bits = arn_report_bits_label(s->result);
    if (bits.text[0]) arn_svg_text(s, SVG_LEFT, 530 + SVG_LINE, "warn strong", NULL, bits.text);
}

/* A swatch and its meaning; returns the begin of the next one. */
static uint32_t put_swatch(svg_drawing *s, uint32_t x, const char *cls, const char *name) {
    const svg_rectangle swatch = {x, 0, 110, 110};
    arn_svg_rectangle(s, swatch, cls);
    arn_puts(&s->out, "/>\n");
    arn_svg_text(s, SVG_LEFT + x + 160, s->y + 95, "soft", NULL, name);
    return x + 160 + (uint32_t)strlen(name) * SVG_LETTER + 200;
}

/* The legend, of the swatches that occur. */
void arn_svg_legend(svg_drawing *s) {
    uint32_t x = 0;
    bool used[ARENAUT_CLASS_COUNT] = {false};
    for (uint32_t b = 0; b < s->result->problem->n_buffers; b++) {
        if (arenaut_problem_needs_memory(s->result->problem, b)) {
            used[arenaut_problem_class(s->result->problem, b)] = true;
        }
    }
    for (uint32_t i = 0; i < ARENAUT_CLASS_COUNT; i++) {
        const char *name = arenaut_class_name((arenaut_class)i);
        char cls[48] = "buffer ";
        if (used[i]) x = put_swatch(s, x, strcat(cls, name), name);
    }
    if (s->n_shared) x = put_swatch(s, x, "shared", "both operand and result");
    arn_svg_text(s, SVG_LEFT + x, s->y + 95, "soft", NULL,
                 s->n_left_over ? "strong: alive at the peak; grey: small buffers, drawn together"
                                : "strong: alive at the peak");
}

/* If steps are too many to be named, so are most buffers: the ones alive at the peak are listed,
 * with their places. */
uint32_t arn_svg_listed(const svg_drawing *s) {
    const uint32_t n = s->picture.peak.n_live;
    const bool few = s->result->problem->n_buffers <= SVG_MOST_NAMED;
    return few || arn_svg_names_ops(s) ? 0 : n < MOST_LISTED ? n : MOST_LISTED;
}

void arn_svg_peak_list(svg_drawing *s) {
    const uint32_t n = arn_svg_listed(s);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = s->picture.peak.live[i], y = s->y + (i + 2) * SVG_LINE;
        char place[sizeof(arn_label) + 4];
        if (i == 0)
            arn_svg_text(s, SVG_LEFT, y - SVG_LINE, "ink strong", NULL, "alive at the peak");
        arn_svg_text(s, SVG_LEFT, y, "ink", NULL, arn_report_buffer_label(s->result, b, 90).text);
        snprintf(place, sizeof place, "at %s", arn_report_commas(s->result->plan->offset[b]).text);
        arn_svg_text(s, SVG_LEFT + BYTES_COLUMN, y, "ink", "end",
                     arn_report_commas(s->result->problem->size[b]).text);
        arn_svg_text(s, SVG_LEFT + SVG_PLOT, y, "soft", "end", place);
    }
    if (s->picture.peak.n_live <= n || n == 0) return;
    char rest[64];
    snprintf(rest, sizeof rest, "and %" PRIu32 " smaller ones", s->picture.peak.n_live - n);
    arn_svg_text(s, SVG_LEFT, s->y + (n + 2) * SVG_LINE, "soft", NULL, rest);
}

/* The Pareto front of tilings, below the plan: a lower bound of the bytes of each, against the ops
 * and the multiplications that it adds. Further to the left and further down is better; none is
 * dominated by another. */

enum { ABOVE = 420, HEIGHT = 1900, BELOW = 420, BETWEEN = 400, INSET = 120 };

/* One of the two plots, which have one scale of bytes. */
typedef struct ways_plot {
    const char *name;
    uint32_t left, width;
    uint64_t most; /* of the additions */
} ways_plot;

uint32_t arn_svg_ways_height(const svg_drawing *s) {
    return arn_report_ways(s->result) ? ABOVE + HEIGHT + BELOW : 0;
}

/* "12 2-10/2:cropped: at least 37,264 bytes, 26 ops and 1,000 multiplications more" */
static void put_way_title(svg_drawing *s, uint32_t number) {
    const arenaut_split_choice *way = &arn_report_ways(s->result)->choices[number];
    arn_putf(&s->out, "<title>%" PRIu32 " ", number);
    arn_report_put_stages(&s->out, way);
    arn_putf(&s->out, ": at least %s bytes, ",
             arn_report_commas(arn_report_way_needs(s->result, way)).text);
    arn_putf(&s->out, "%" PRIu32 " op%s and ", way->ops, way->ops == 1 ? "" : "s");
    arn_putf(&s->out, "%s multiplications more", arn_report_commas(way->macs).text);
    if (way->n_rounded > 0)
        arn_putf(&s->out, "; %s", arn_report_rounded_label(way->n_rounded).text);
    arn_puts(&s->out, "</title>");
}

/* Numbers are written where they cover no other: of the first, the last and the one taken. */
static void put_way(svg_drawing *s, const ways_plot *plot, uint32_t number, uint64_t added) {
    const arenaut_split_front *front = arn_report_ways(s->result);
    const bool taken = number == s->result->ways->taken;
    const uint32_t x =
        plot->left + INSET + arn_report_scale(added, plot->most, plot->width - 2 * INSET);
    const uint32_t y = s->y + s->height -
                       arn_svg_height(s, arn_report_way_needs(s->result, &front->choices[number]));
    char text[16];
    arn_puts(&s->out, "<circle cx=\"");
    arn_svg_tenths(s, x);
    arn_puts(&s->out, "\" cy=\"");
    arn_svg_tenths(s, y);
    arn_putf(&s->out, "\" r=\"%d\" class=\"buffer %s\">", taken ? 7 : 4,
             taken ? "output" : "intermediate");
    put_way_title(s, number);
    arn_puts(&s->out, "</circle>\n");
    if (!taken && number > 0 && number + 1 < front->n_choices) return;
    snprintf(text, sizeof text, "%" PRIu32, number);
    arn_svg_text(s, x, y - 90, taken ? "ink strong" : "soft small", "middle", text);
}

static void put_frame(svg_drawing *s, const ways_plot *plot) {
    const svg_rectangle frame = {plot->left - SVG_LEFT, 0, plot->width, s->height};
    const uint32_t below = s->y + s->height + 130;
    arn_svg_rectangle(s, frame, "frame");
    arn_puts(&s->out, "/>\n");
    arn_svg_text(s, plot->left + INSET, below, "soft small", "middle", "0");
    arn_svg_text(s, plot->left + plot->width - INSET, below, "soft small", "end",
                 arn_report_commas(plot->most).text);
    arn_svg_text(s, plot->left + plot->width / 2, below, "soft", "middle", plot->name);
}

void arn_svg_ways(svg_drawing *s) {
    const arenaut_split_front *front = arn_report_ways(s->result);
    const uint32_t width = (SVG_PLOT - BETWEEN) / 2;
    if (!front) return;
    ways_plot ops = {"ops more", SVG_LEFT, width, 1};
    ways_plot macs = {"multiplications more", SVG_LEFT + width + BETWEEN, width, 1};
    for (uint32_t i = 0; i < front->n_choices; i++) {
        ops.most = arn_max_u64(ops.most, front->choices[i].ops);
        macs.most = arn_max_u64(macs.most, front->choices[i].macs);
    }
    arn_svg_text(s, SVG_LEFT, s->y + ABOVE - 120, "ink strong", NULL,
                 "splits: bytes to reserve at least, with the runtime's own");
    s->y += ABOVE;
    s->height = HEIGHT;
    s->top = arn_report_way_needs(s->result, &front->choices[0]) * 11 / 10 + 1;
    put_frame(s, &ops);
    put_frame(s, &macs);
    arn_svg_byte_ticks(s, 4);
    for (uint32_t i = 0; i < front->n_choices; i++) {
        put_way(s, &ops, i, front->choices[i].ops);
        put_way(s, &macs, i, front->choices[i].macs);
    }
    s->y += HEIGHT + BELOW;
}
