/* The Pareto front of tilings, below the plan: a lower bound of the bytes of each, against the ops
 * and the multiplications that it adds. Further to the left and further down is better; none is
 * dominated by another. */
#include <inttypes.h>
#include <stdio.h>

#include "core/checked.h"
#include "report/label.h"
#include "report/svg/svg_drawing.h"
#include "report/ways.h"

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
    arn_putf(&s->out, "%" PRIu32 " ops and ", way->ops);
    arn_putf(&s->out, "%s multiplications more</title>", arn_report_commas(way->macs).text);
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
