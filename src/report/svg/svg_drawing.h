/* A still picture while it is drawn, and the parts that it is drawn by, each in a file of its own.
 * Coordinates are tenths of a pixel, in integers, so that every machine draws the same bytes. */
#ifndef ARN_REPORT_SVG_DRAWING_H
#define ARN_REPORT_SVG_DRAWING_H

#include "core/writer.h"
#include "report/picture.h"

enum {
    SVG_LEFT = 960,
    SVG_RIGHT = 1700,
    SVG_WIDTH = 12000,
    SVG_PLOT = SVG_WIDTH - SVG_LEFT - SVG_RIGHT,
    SVG_LETTER = 62,
    SVG_LINE = 140,      /* of labels */
    SVG_MOST_NAMED = 64, /* steps or buffers: more names would overlap */
};

typedef struct svg_rectangle {
    uint32_t x, y, width, height; /* in the plot, from its upper left corner */
} svg_rectangle;

typedef struct svg_drawing {
    const arenaut_result *result;
    const char *called; /* which plan of the input this is, beside another; else NULL */
    arn_report_picture picture;
    arn_writer out;
    uint64_t top; /* bytes at the upper edge of a pool's plot */
    uint32_t y;   /* the upper edge of the present part */
    uint32_t height;
    uint32_t pool;
    uint32_t *chosen; /* lifetimes that get a rectangle of their own, in order */
    uint32_t *owner;  /* per lifetime: its buffer */
    uint32_t n_chosen, n_left_over;
    uint32_t most;      /* rectangles in a pool */
    uint64_t least_top; /* of the first pool's scale */
    uint32_t above;     /* pixels that another picture takes above this one */
    uint32_t n_shared;  /* areas that two buffers hold at once */
    svg_rectangle
        *labelled; /* in this pool: where names and sizes stand, one per lifetime at most */
    uint32_t n_labelled;
} svg_drawing;

/* ---- svg_canvas.c ---- */

void arn_svg_tenths(svg_drawing *s, uint32_t n); /* 12.3 */
/* Text from a file as XML text: escaped, and without the characters that XML forbids. */
void arn_svg_escaped(svg_drawing *s, const char *text);
void arn_svg_text(svg_drawing *s, uint32_t x, uint32_t y, const char *cls, const char *anchor,
                  const char *text); /* anchor: NULL, "middle" or "end" */
void arn_svg_line(svg_drawing *s, uint32_t x1, uint32_t y1, uint32_t x2, uint32_t y2,
                  const char *cls);
/* In the plot. Leaves the tag open, for a title. */
void arn_svg_rectangle(svg_drawing *s, svg_rectangle r, const char *cls);

/* ---- svg_axes.c ---- */

uint32_t arn_svg_height(const svg_drawing *s, uint64_t bytes); /* above the plot's lower edge */
void arn_svg_frame(svg_drawing *s);
/* Ticks at multiples of a power of two, `wanted` at most. */
void arn_svg_byte_ticks(svg_drawing *s, uint32_t wanted);
bool arn_svg_names_ops(const svg_drawing *s); /* whether steps are few enough for that */
void arn_svg_op_names(svg_drawing *s);
void arn_svg_step_numbers(svg_drawing *s);
uint64_t arn_svg_top_of_curve(const svg_drawing *s);
void arn_svg_curve(svg_drawing *s); /* of bytes alive, with its frame; of a trace, of more */
void arn_svg_peak_marker(svg_drawing *s, uint32_t from, uint32_t to);

/* ---- svg_buffers.c ---- */

/* All of this pool, into `chosen` the ones with a rectangle of their own. */
arenaut_status arn_svg_buffers(svg_drawing *s, arenaut_error *err);
void arn_svg_labels(svg_drawing *s); /* of the chosen, after all rectangles */

/* ---- svg_notes.c ---- */

void arn_svg_title(svg_drawing *s);
void arn_svg_levels(svg_drawing *s); /* arena, bound and the runtime's own plan */
void arn_svg_legend(svg_drawing *s);
uint32_t arn_svg_listed(const svg_drawing *s); /* lines of the list below */
void arn_svg_peak_list(svg_drawing *s);

uint32_t arn_svg_ways_height(const svg_drawing *s); /* 0: there is none to draw */
void arn_svg_ways(svg_drawing *s);

#endif
