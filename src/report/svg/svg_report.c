/* svg: a still picture of a plan. Steps run to the right and addresses upwards; a rectangle is a
 * buffer for as long as it lives. Above lies the curve of live bytes, and of a trace that of
 * reserved bytes. Buffers alive at the peak are strong, the rest pale, so that the eye finds the
 * cause of the arena's size. Bytes that an operand and a result hold at once are hatched.
 *
 * Coordinates are tenths of a pixel, in integers, so that every machine draws the same
 * bytes. Colours are Okabe and Ito's, which can be told apart by the colour-blind. */
#include <inttypes.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "report/svg/svg_drawing.h"

enum {
    TITLE = 760,
    CURVE = 1100,
    GAP = 320,
    POOL_HEIGHT = 4600,
    LEGEND = 160,
    OP_NAMES = 1160,
    STEP_NUMBERS = 360,
    MOST_RECTANGLES = 5000,
};

static const char style[] =
    "<style>\n"
    ".bg{fill:#fff}.ink{fill:#1a1a1a}.soft{fill:#5f6368}.frame{fill:#f6f7f9;stroke:#c9cdd2}"
    ".grid{stroke:#e3e6ea}.area{fill:#0072B2;fill-opacity:.22;stroke:#0072B2}"
    ".reserved{fill:none;stroke:#8F3F72;stroke-width:1.4}.held{fill:#8F3F72}"
    ".intermediate{fill:#56B4E9}.input{fill:#009E73}.output{fill:#E69F00}.state{fill:#CC79A7}"
    ".scratch{fill:#F0E442}.constant{fill:#999}.rest{fill:#9aa0a6;fill-opacity:.6}"
    ".shared{fill:url(#shared);stroke:#1a1a1a;stroke-width:1.2}.hatch{stroke:#1a1a1a;"
    "stroke-width:1.5;stroke-opacity:.8}"
    ".buffer{stroke:#1a1a1a;stroke-width:.7;stroke-opacity:.6}.thin{stroke:none}.pale{fill-opacity:"
    ".32;stroke-opacity:.3}"
    ".arena{stroke:#1a1a1a;stroke-width:1.6}.bound{stroke:#0072B2;stroke-dasharray:7 4;"
    "stroke-width:1.4}.today{stroke:#D55E00;stroke-dasharray:2 3;stroke-width:1.6}"
    ".peak{stroke:#D55E00;stroke-width:1.2;stroke-dasharray:4 3}.warn{fill:#B34700}"
    ".label{fill:#111;stroke:#fff;stroke-opacity:.55;stroke-width:2.5;paint-order:stroke;pointer-"
    "events:none}text{font:"
    "11px system-ui,-apple-system,'Segoe UI',sans-serif}"
    ".title{font-size:17px;font-weight:600}.small{font-size:10px}.strong{font-weight:600}\n"
    "@media(prefers-color-scheme:dark){.bg{fill:#16181c}.ink{fill:#eceff3}.soft{fill:#a6adb8}"
    ".frame{fill:#1d2026;stroke:#3b414b}.grid{stroke:#2b3038}.arena{stroke:#eceff3}"
    ".buffer{stroke:#000}.pale{fill-opacity:.45}.label{fill:#000}.pl{fill:#eceff3;stroke:#000}"
    ".warn{fill:#ff9a57}.bound{stroke:#56B4E9}.area{fill:#56B4E9;stroke:#56B4E9}"
    ".reserved{stroke:#E29AC4}.held{fill:#E29AC4}}\n"
    "</style>\n"
    "<defs><pattern id=\"shared\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><path class=\"hatch\" d=\"M0 0V7\"/></pattern></defs>\n";

static void put_pool_name(svg_drawing *s) {
    const char *name = s->result->problem->pool[s->pool].name;
    if (s->result->plan->n_pools == 1) return;
    arn_svg_text(s, SVG_LEFT, s->y - 60, "ink strong", NULL, name ? name : "(unnamed pool)");
}

static arenaut_status put_pool(svg_drawing *s, arenaut_error *err) {
    arn_svg_frame(s);
    arn_svg_byte_ticks(s, 6);
    put_pool_name(s);
    const arenaut_status st = arn_svg_buffers(s, err);
    arn_svg_labels(s);
    arn_svg_levels(s);
    return st;
}

/* ---- the whole ---- */

/* The highest address worth showing: the runtime's own arena too, if it is not far off. */
static uint64_t top_of_pool(const svg_drawing *s, uint32_t pool) {
    const arenaut_plan *plan = s->result->plan, *baseline = s->result->baseline;
    uint64_t top = plan->arena[pool];
    if (plan->n_pools == 1 && baseline && baseline->total > top && baseline->total - top <= top) {
        top = baseline->total;
    }
    if (pool == 0 && top < s->least_top) top = s->least_top;
    return top ? top : 1;
}

/* Pools that nothing was placed in are left out. */
static uint32_t total_height(const svg_drawing *s) {
    uint32_t pools = 0;
    for (uint32_t i = 0; i < s->result->plan->n_pools; i++) pools += s->result->plan->arena[i] != 0;
    return TITLE + CURVE + GAP + (pools ? pools : 1) * (POOL_HEIGHT + GAP) +
           (arn_svg_names_ops(s) ? OP_NAMES : STEP_NUMBERS) + LEGEND - GAP + 100 +
           (arn_svg_listed(s) ? (arn_svg_listed(s) + 3) * SVG_LINE : 0) + arn_svg_ways_height(s);
}

static arenaut_status draw(svg_drawing *s, arenaut_error *err) {
    const uint32_t height = total_height(s);
    arenaut_status st = ARENAUT_OK;
    arn_puts(&s->out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    if (s->above) arn_putf(&s->out, " y=\"%" PRIu32 "\"", s->above);
    arn_putf(&s->out, " viewBox=\"0 0 %d %" PRIu32 "\" role=\"img\"", SVG_WIDTH / 10,
             (height + 9) / 10);
    arn_putf(&s->out, " width=\"%d\" height=\"%" PRIu32 "\">\n<title>Memory plan</title>\n",
             SVG_WIDTH / 10, (height + 9) / 10);
    arn_puts(&s->out, style);
    arn_puts(&s->out, "<rect width=\"100%\" height=\"100%\" class=\"bg\"/>\n");
    arn_svg_title(s);
    s->y = TITLE;
    s->height = CURVE;
    s->top = arn_svg_top_of_curve(s);
    arn_svg_curve(s);
    s->y += CURVE + GAP;
    s->height = POOL_HEIGHT;
    for (uint32_t i = 0; i < s->result->plan->n_pools && st == ARENAUT_OK; i++) {
        if (s->result->plan->arena[i] == 0 && s->result->plan->n_pools > 1) continue;
        s->pool = i;
        s->top = top_of_pool(s, i);
        st = put_pool(s, err);
        s->y += POOL_HEIGHT + GAP;
    }
    s->y -= GAP;
    arn_svg_peak_marker(s, TITLE, s->y);
    if (arn_svg_names_ops(s)) arn_svg_op_names(s);
    else arn_svg_step_numbers(s);
    s->y += arn_svg_names_ops(s) ? OP_NAMES : STEP_NUMBERS;
    arn_svg_legend(s);
    s->y += LEGEND;
    arn_svg_peak_list(s);
    s->y = height - arn_svg_ways_height(s);
    arn_svg_ways(s);
    arn_puts(&s->out, "</svg>\n");
    return st;
}

static void close_picture(svg_drawing *s) {
    ARN_RELEASE(s->picture.allocator, s->chosen, s->owner, s->labelled);
    arn_report_picture_free(&s->picture);
}

/* All that is needed to draw a result; close it, unless this fails. */
static arenaut_status open_picture(svg_drawing *s, const arenaut_result *result,
                                   const arenaut_report_options *options,
                                   const arenaut_allocator *allocator, arenaut_error *err) {
    enum { CURVE_COLUMNS = 960 };
    const arenaut_problem *p = result->problem;
    const size_t n = p->n_lifetimes;
    s->result = result;
    s->most = options->top ? options->top : MOST_RECTANGLES;
    const arenaut_status st =
        arn_report_picture_make(result, options->steps, CURVE_COLUMNS, allocator, &s->picture, err);
    if (st != ARENAUT_OK) return st;
    s->chosen = arn_allocate(allocator, 2 * n, sizeof *s->chosen); /* half of it to sort with */
    s->owner = arn_allocate(allocator, n, sizeof *s->owner);
    s->labelled = arn_allocate(allocator, n, sizeof *s->labelled);
    if (!s->chosen || !s->owner || !s->labelled) {
        close_picture(s);
        return arn_no_memory(err);
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        for (uint32_t i = p->lifetime_start[b]; i < p->lifetime_start[b + 1]; i++) s->owner[i] = b;
    }
    return ARENAUT_OK;
}

/* The plan below the one that it is compared with, both to one scale. */
static arenaut_status draw_both(svg_drawing *s, svg_drawing *before, arenaut_error *err) {
    const uint64_t top = arn_max_u64(top_of_pool(s, 0), top_of_pool(before, 0));
    const uint32_t first = (total_height(before) + 9) / 10, second = (total_height(s) + 9) / 10;
    s->least_top = before->least_top = top;
    s->above = first;
    before->out = s->out;
    arn_puts(&s->out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    arn_putf(&s->out, " viewBox=\"0 0 %d %" PRIu32 "\" width=\"%d\" height=\"%" PRIu32 "\">\n",
             SVG_WIDTH / 10, first + second, SVG_WIDTH / 10, first + second);
    arenaut_status st = draw(before, err);
    s->out.failed |= before->out.failed;
    if (st == ARENAUT_OK) st = draw(s, err);
    arn_puts(&s->out, "</svg>\n");
    return st;
}

/* The first variant that has a plan. */
static const arenaut_variant *compared(const arenaut_report_options *options) {
    for (uint32_t i = 0; i < options->n_variants; i++) {
        if (options->variants[i].result) return &options->variants[i];
    }
    return NULL;
}

static arenaut_status emit(const arenaut_result *result, const arenaut_report_options *options,
                           arenaut_sink sink, const arenaut_allocator *allocator,
                           arenaut_error *err) {
    const arenaut_variant *other = compared(options);
    svg_drawing s = {.out = arn_writer_to(sink)}, before = s;
    arenaut_status st = open_picture(&s, result, options, allocator, err);
    if (st != ARENAUT_OK) return st;
    if (other) {
        s.called = "planned";
        before.called = other->name;
        st = open_picture(&before, other->result, options, allocator, err);
        if (st == ARENAUT_OK) {
            st = draw_both(&s, &before, err);
            close_picture(&before);
        }
    } else {
        st = draw(&s, err);
    }
    close_picture(&s);
    return st == ARENAUT_OK ? arn_writer_finish(&s.out, err) : st;
}

extern const arenaut_report arn_report_svg;
const arenaut_report arn_report_svg = {
    .name = "svg",
    .summary = "a picture: steps to the right, addresses upwards",
    .extension = ".svg",
    .needs_plan = true,
    .emit = emit,
};
