/* svg: a still picture of a plan. Steps run to the right and addresses upwards; a rectangle
 * is a buffer for as long as it lives. Above lies the curve of bytes alive. What is alive
 * at the peak is strong, the rest pale, so that the eye finds what sets the arena. Bytes that an
 * operand and a result hold at once are hatched.
 *
 * Coordinates are tenths of a pixel, in integers, so that every machine draws the same
 * bytes. Colours are Okabe and Ito's, which can be told apart by the colour-blind. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "report/label.h"
#include "report/picture.h"
#include "report/shared_areas.h"

enum {
    LEFT = 960,
    RIGHT = 1700,
    WIDTH = 12000, /* tenths of a pixel */
    PLOT = WIDTH - LEFT - RIGHT,
    TITLE = 760,
    CURVE = 1100,
    GAP = 320,
    POOL_HEIGHT = 4600,
    LEGEND = 160,
    OP_NAMES = 1160,
    STEP_NUMBERS = 360,
    MOST_OP_NAMES = 64, /* more would overlap */
    MOST_RECTANGLES = 5000,
    MOST_LISTED = 12,
    BYTES_COLUMN = 7600,
    GRID_COLUMNS = 160,
    GRID_ROWS = 100, /* for the rectangles past that */
    LETTER = 62,
    LINE = 140, /* of labels */
    THIN = 40,
};

typedef struct rectangle {
    uint32_t x, y, width, height; /* in the plot, from its upper left corner */
} rectangle;

typedef struct svg {
    const arenaut_result *result;
    arn_report_picture picture;
    arn_writer out;
    uint64_t top; /* bytes at the upper edge of a pool's plot */
    uint32_t y;   /* the upper edge of what is drawn now */
    uint32_t height;
    uint32_t pool;
    uint32_t *chosen; /* lifetimes that get a rectangle of their own, in order */
    uint32_t *owner;  /* per lifetime: its buffer */
    uint32_t n_chosen, n_left_over;
    uint32_t most;       /* rectangles in a pool */
    uint64_t least_top;  /* of the first pool's scale */
    uint32_t above;      /* pixels that another picture takes above this one */
    uint32_t n_shared;   /* areas that two buffers hold at once */
    rectangle *labelled; /* in this pool: where names and sizes stand, one per lifetime at most */
    uint32_t n_labelled;
} svg;

static const char style[] =
    "<style>\n"
    ".bg{fill:#fff}.ink{fill:#1a1a1a}.soft{fill:#5f6368}.frame{fill:#f6f7f9;stroke:#c9cdd2}"
    ".grid{stroke:#e3e6ea}.area{fill:#0072B2;fill-opacity:.22;stroke:#0072B2}"
    ".intermediate{fill:#56B4E9}.input{fill:#009E73}.output{fill:#E69F00}.state{fill:#CC79A7}"
    ".scratch{fill:#F0E442}.constant{fill:#999}.rest{fill:#9aa0a6;fill-opacity:.6}"
    ".shared{fill:url(#shared);stroke:#1a1a1a;stroke-width:1.2}.hatch{stroke:#1a1a1a;"
    "stroke-width:1.5;stroke-opacity:.8}"
    ".buffer{stroke:#1a1a1a;stroke-width:.7;stroke-opacity:.6}.thin{stroke:none}.pale{fill-opacity:"
    ".32;stroke-opacity:.3}"
    ".arena{stroke:#1a1a1a;stroke-width:1.6}.bound{stroke:#0072B2;stroke-dasharray:7 4;"
    "stroke-width:1.4}.today{stroke:#D55E00;stroke-dasharray:2 3;stroke-width:1.6}"
    ".peak{stroke:#D55E00;stroke-width:1.2;stroke-dasharray:4 3}.warn{fill:#B34700}"
    ".label{fill:#111;stroke:#fff;stroke-opacity:.55;stroke-width:2.5;paint-order:stroke}text{font:"
    "11px system-ui,-apple-system,'Segoe UI',sans-serif}"
    ".title{font-size:17px;font-weight:600}.small{font-size:10px}.strong{font-weight:600}\n"
    "@media(prefers-color-scheme:dark){.bg{fill:#16181c}.ink{fill:#eceff3}.soft{fill:#a6adb8}"
    ".frame{fill:#1d2026;stroke:#3b414b}.grid{stroke:#2b3038}.arena{stroke:#eceff3}"
    ".buffer{stroke:#000}.pale{fill-opacity:.45}.label{fill:#000}.pl{fill:#eceff3;stroke:#000}"
    ".warn{fill:#ff9a57}.bound{stroke:#56B4E9}.area{fill:#56B4E9;stroke:#56B4E9}}\n"
    "</style>\n"
    "<defs><pattern id=\"shared\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><path class=\"hatch\" d=\"M0 0V7\"/></pattern></defs>\n";

/* ---- primitives ---- */

static void put_tenths(svg *s, uint32_t n) {
    arn_putf(&s->out, n % 10 ? "%" PRIu32 ".%" PRIu32 : "%" PRIu32, n / 10, n % 10);
}

static void put_attribute(svg *s, const char *name, uint32_t tenths) {
    arn_putf(&s->out, " %s=\"", name);
    put_tenths(s, tenths);
    arn_puts(&s->out, "\"");
}

/* Text from a file as XML text: escaped, and without the characters XML forbids, which are
 * control characters and U+FFFE and U+FFFF. */
static void put_escaped(svg *s, const char *text) {
    while (*text) {
        const size_t n = arn_report_shown_length(text);
        const bool forbidden = n == 3 && (memcmp(text, "\xEF\xBF\xBE", 3) == 0 ||
                                          memcmp(text, "\xEF\xBF\xBF", 3) == 0);
        if (n == 0 || forbidden) arn_puts(&s->out, "?");
        else if (*text == '&') arn_puts(&s->out, "&amp;");
        else if (*text == '<') arn_puts(&s->out, "&lt;");
        else if (*text == '>') arn_puts(&s->out, "&gt;");
        else if (*text == '"') arn_puts(&s->out, "&quot;");
        else arn_put(&s->out, text, n);
        text += n ? n : 1;
    }
}

static void put_text(svg *s, uint32_t x, uint32_t y, const char *cls, const char *anchor,
                     const char *text) {
    arn_puts(&s->out, "<text");
    put_attribute(s, "x", x);
    put_attribute(s, "y", y);
    arn_putf(&s->out, " class=\"%s\"", cls);
    if (anchor) arn_putf(&s->out, " text-anchor=\"%s\"", anchor);
    arn_puts(&s->out, ">");
    put_escaped(s, text);
    arn_puts(&s->out, "</text>\n");
}

static void put_line(svg *s, uint32_t x1, uint32_t y1, uint32_t x2, uint32_t y2, const char *cls) {
    arn_puts(&s->out, "<line");
    put_attribute(s, "x1", x1);
    put_attribute(s, "y1", y1);
    put_attribute(s, "x2", x2);
    put_attribute(s, "y2", y2);
    arn_putf(&s->out, " class=\"%s\"/>\n", cls);
}

/* Leaves the tag open, for a title. */
static void put_rectangle(svg *s, rectangle r, const char *cls) {
    arn_puts(&s->out, "<rect");
    put_attribute(s, "x", LEFT + r.x);
    put_attribute(s, "y", s->y + r.y);
    put_attribute(s, "width", r.width);
    put_attribute(s, "height", r.height);
    arn_putf(&s->out, " class=\"%s\"", cls);
}

/* ---- axes ---- */

static uint32_t height_of(const svg *s, uint64_t bytes) {
    return arn_report_scale(bytes < s->top ? bytes : s->top, s->top, s->height);
}

static void put_frame(svg *s) {
    const rectangle all = {0, 0, PLOT, s->height};
    put_rectangle(s, all, "frame");
    arn_puts(&s->out, "/>\n");
}

/* Ticks at multiples of a power of two, `wanted` at most. */
static void put_byte_ticks(svg *s, uint32_t wanted) {
    uint64_t step = 1;
    while (s->top / step > wanted) step *= 2;
    for (uint64_t at = 0; at <= s->top; at += step) {
        const uint32_t y = s->y + s->height - height_of(s, at);
        if (at) put_line(s, LEFT, y, LEFT + PLOT, y, "grid");
        put_text(s, LEFT - 80, y + 40, "soft small", "end", arn_report_kib(at).text);
    }
}

static bool names_ops(const svg *s) {
    return s->result->lowering && s->picture.end - s->picture.first <= MOST_OP_NAMES;
}

static void put_op_names(svg *s) {
    for (int64_t step = s->picture.first; step < s->picture.end; step++) {
        const uint32_t a = arn_report_picture_x(&s->picture, step, PLOT);
        const uint32_t b = arn_report_picture_x(&s->picture, step + 1, PLOT);
        const uint32_t x = LEFT + (a + b) / 2 + 30, y = s->y + 110;
        arn_label label = arn_report_step_label(s->result, step);
        const bool at_peak = step == s->picture.peak.step;
        if (strncmp(label.text, "op ", 3) == 0)
            memmove(label.text, label.text + 3, sizeof label.text - 3);
        if (strlen(label.text) > 20) strcpy(label.text + 18, "..");
        arn_putf(&s->out, "<text transform=\"translate(");
        put_tenths(s, x);
        arn_puts(&s->out, " ");
        put_tenths(s, y);
        arn_putf(&s->out, ") rotate(-55)\" text-anchor=\"end\" class=\"%s\">",
                 at_peak ? "warn small strong" : "soft small");
        put_escaped(s, label.text);
        arn_puts(&s->out, "</text>\n");
    }
}

static void put_step_numbers(svg *s) {
    const uint64_t range = (uint64_t)s->picture.end - (uint64_t)s->picture.first;
    const uint64_t step = arn_report_nice_step(range / 12 + 1);
    for (uint64_t at = 0; at < range; at += step) {
        const int64_t t = (int64_t)((uint64_t)s->picture.first + at);
        const arn_label number = arn_report_commas(t < 0 ? (uint64_t)0 - (uint64_t)t : (uint64_t)t);
        char text[1 + sizeof number.text] = "-";
        memcpy(text + 1, number.text, sizeof number.text);
        put_text(s, LEFT + arn_report_picture_x(&s->picture, t, PLOT), s->y + 130, "soft small",
                 "middle", t < 0 ? text : text + 1);
        if (at > UINT64_MAX - step) break;
    }
    put_text(s, LEFT + PLOT / 2, s->y + 290, "soft", "middle", "step");
}

/* ---- the curve ---- */

/* Only columns where the curve changes are written. */
static void put_curve(svg *s) {
    const arn_report_picture *p = &s->picture;
    put_frame(s);
    put_byte_ticks(s, 3);
    arn_puts(&s->out, "<path class=\"area\" d=\"M");
    put_tenths(s, LEFT);
    arn_puts(&s->out, " ");
    put_tenths(s, s->y + s->height);
    for (uint32_t c = 0; c < p->columns; c++) {
        if (c == 0 || p->live[c] != p->live[c - 1]) {
            arn_puts(&s->out, "H");
            put_tenths(s, LEFT + (uint32_t)((uint64_t)c * PLOT / p->columns));
            arn_puts(&s->out, "V");
            put_tenths(s, s->y + s->height - height_of(s, p->live[c]));
        }
    }
    arn_puts(&s->out, "H");
    put_tenths(s, LEFT + PLOT);
    arn_puts(&s->out, "V");
    put_tenths(s, s->y + s->height);
    arn_puts(&s->out, "Z\"/>\n");
    put_text(s, LEFT + PLOT + 100, s->y + 110, "soft", NULL, "bytes alive");
    arn_label text = arn_report_commas(p->at_peak);
    put_text(s, LEFT + PLOT + 100, s->y + 260, "warn strong", NULL, text.text);
    text = arn_report_step_label(s->result, p->peak.step);
    if (strlen(text.text) > 25) strcpy(text.text + 23, "..");
    put_text(s, LEFT + PLOT + 100, s->y + 400, "warn small", NULL, text.text);
}

/* Through both plots, in the middle of the peak's step. */
static void put_peak_marker(svg *s, uint32_t from, uint32_t to) {
    const arenaut_interval peak = {s->picture.peak.step, s->picture.peak.step + 1};
    const uint32_t a = arn_report_picture_x(&s->picture, peak.first, PLOT);
    const uint32_t b = arn_report_picture_x(&s->picture, peak.end, PLOT);
    if (!arn_report_picture_shows(&s->picture, peak)) return;
    put_line(s, LEFT + (a + b) / 2, from, LEFT + (a + b) / 2, to, "peak");
}

/* ---- buffers ---- */

/* At least a tenth of a pixel each way, so that nothing vanishes. */
static rectangle place_of(const svg *s, arenaut_interval life, uint64_t first, uint64_t end) {
    const uint32_t x1 = arn_report_picture_x(&s->picture, life.first, PLOT);
    const uint32_t x2 = arn_report_picture_x(&s->picture, life.end, PLOT);
    const uint32_t low = height_of(s, first), high = height_of(s, end);
    const rectangle r = {x1, s->height - high, x2 > x1 ? x2 - x1 : 1, high > low ? high - low : 1};
    return r;
}

static rectangle place(const svg *s, uint32_t lifetime) {
    const uint32_t b = s->owner[lifetime];
    const uint64_t offset = s->result->plan->offset[b];
    return place_of(s, s->result->problem->lifetime[lifetime], offset,
                    offset + s->result->problem->size[b]);
}

static bool is_shown(const svg *s, uint32_t lifetime) {
    const uint32_t b = s->owner[lifetime];
    return s->result->plan->pool[b] == s->pool && s->result->problem->size[b] != 0 &&
           arn_report_picture_shows(&s->picture, s->result->problem->lifetime[lifetime]);
}

static bool more_area(const void *context, uint32_t a, uint32_t b) {
    const rectangle ra = place(context, a), rb = place(context, b);
    return (uint64_t)ra.width * ra.height > (uint64_t)rb.width * rb.height;
}

/* The lifetimes in this pool, those with the largest rectangles first if there are more
 * than can be told apart. */
static void choose(svg *s) {
    const arenaut_problem *p = s->result->problem;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_lifetimes; i++) {
        if (is_shown(s, i)) s->chosen[n++] = i;
    }
    s->n_left_over = 0;
    if (n > s->most) {
        arn_sort_ids(s->chosen, n, more_area, s, s->chosen + n);
        s->n_left_over = n - s->most;
    }
    s->n_chosen = n - s->n_left_over;
}

/* Browsers show it when the pointer rests on the rectangle. */
static void put_tooltip(svg *s, uint32_t b) {
    const arenaut_problem *p = s->result->problem;
    const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
    const arn_label shape = arn_report_shape_label(s->result, b);
    char store[24];
    arn_puts(&s->out, "><title>");
    put_escaped(s, arenaut_problem_buffer_name(p, b, store));
    arn_putf(&s->out, "\n%s bytes at %s, steps %" PRId64 " to %" PRId64,
             arn_report_commas(p->size[b]).text, arn_report_commas(s->result->plan->offset[b]).text,
             life[0].first, life[arenaut_problem_lifetime_count(p, b) - 1].end - 1);
    if (*shape.text) arn_putf(&s->out, "\n%s", shape.text);
    if (p->op && p->op[b]) {
        arn_puts(&s->out, "\nfrom ");
        put_escaped(s, p->op[b]);
    }
    arn_puts(&s->out, "</title></rect>\n");
}

/* Takes room for so many letters and lines in the middle of a rectangle, unless other buffers'
 * labels, whose rectangles may lie across this one, are in the way. */
static bool take_room(svg *s, rectangle r, size_t letters, uint32_t lines) {
    const uint32_t width = (uint32_t)letters * LETTER, height = lines * LINE;
    const rectangle box = {r.x + r.width / 2 - width / 2, r.y + r.height / 2 - height / 2, width,
                           height};
    for (uint32_t i = 0; i < s->n_labelled; i++) {
        const rectangle other = s->labelled[i];
        if (box.x < other.x + other.width && other.x < box.x + box.width &&
            box.y < other.y + other.height && other.y < box.y + box.height)
            return false;
    }
    s->labelled[s->n_labelled++] = box;
    return true;
}

/* Name and size inside the rectangle, as far as there is room. A name cut to a few letters
 * says less than the size alone. */
static void put_buffer_label(svg *s, rectangle r, uint32_t b, bool strong) {
    enum { LEAST_LETTERS = 16, PADDING = 50 };
    const char *cls = strong ? "label small" : "label small pl";
    const uint32_t letters = r.width > PADDING ? (r.width - PADDING) / LETTER : 0;
    const uint32_t middle = s->y + r.y + r.height / 2, x = LEFT + r.x + r.width / 2;
    const arn_label bytes = arn_report_commas(s->result->problem->size[b]);
    const arn_label whole = arn_report_buffer_label(s->result, b, 90),
                    name = arn_report_buffer_label(s->result, b, letters);
    const bool has_name = letters >= LEAST_LETTERS || arn_report_columns(whole.text) <= letters;
    const bool has_bytes = strlen(bytes.text) <= letters;
    const size_t columns = has_name ? arn_report_columns(name.text) : 0;
    const size_t longest = columns > strlen(bytes.text) ? columns : strlen(bytes.text);
    if (r.height >= 2 * LINE && has_name && has_bytes) {
        if (!take_room(s, r, longest, 2)) return;
        put_text(s, x, middle - 20, cls, "middle", name.text);
        put_text(s, x, middle + 100, cls, "middle", bytes.text);
    } else if (r.height >= LINE && (has_name || has_bytes)) {
        if (!take_room(s, r, has_name ? columns : strlen(bytes.text), 1)) return;
        put_text(s, x, middle + 35, cls, "middle", has_name ? name.text : bytes.text);
    }
}

static bool is_strong(const svg *s, uint32_t b) {
    return arn_alive_at(s->result->problem, b, s->picture.peak.step);
}

static void put_buffers(svg *s) {
    for (uint32_t i = 0; i < s->n_chosen; i++) {
        const uint32_t b = s->owner[s->chosen[i]];
        const rectangle r = place(s, s->chosen[i]);
        char cls[64] = "buffer ";
        strcat(cls, arenaut_class_name(arenaut_problem_class(s->result->problem, b)));
        if (!is_strong(s, b)) strcat(cls, " pale");
        if (r.height < THIN || r.width < THIN) strcat(cls, " thin"); /* else all outline */
        put_rectangle(s, r, cls);
        put_tooltip(s, b);
    }
}

/* After all that could cover them; what is alive at the peak takes its room first. */
static void put_buffer_labels(svg *s) {
    s->n_labelled = 0;
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < s->n_chosen; i++) {
            const uint32_t b = s->owner[s->chosen[i]];
            const bool strong = is_strong(s, b);
            if (strong == (turn == 0)) put_buffer_label(s, place(s, s->chosen[i]), b, strong);
        }
    }
}

/* Over both buffers, so that neither hides the other. Where they are too many to be told apart
 * they only count. */
static void put_shared(void *context, arn_shared_area area) {
    svg *s = context;
    if (!arn_report_picture_shows(&s->picture, area.life)) return;
    if (s->n_shared++ >= s->most) return;
    put_rectangle(s, place_of(s, area.life, area.low, area.high), "shared");
    arn_puts(&s->out, "/>\n");
}

/* The rectangles past the limit as cells of a coarse grid. Corners are noted first and
 * summed up after, so the cost does not depend on how large they are. */
static arenaut_status put_left_over(svg *s, arenaut_error *err) {
    enum { STRIDE = GRID_COLUMNS + 1 };
    if (s->n_left_over == 0) return ARENAUT_OK;
    int32_t *grid =
        arn_allocate_zeroed(s->picture.allocator, STRIDE * (GRID_ROWS + 1), sizeof *grid);
    if (!grid) return arn_no_memory(err);
    for (uint32_t i = s->n_chosen; i < s->n_chosen + s->n_left_over; i++) {
        const rectangle r = place(s, s->chosen[i]);
        const uint32_t x1 = arn_report_scale(r.x, PLOT + 1, GRID_COLUMNS);
        const uint32_t x2 = arn_report_scale(r.x + r.width - 1, PLOT + 1, GRID_COLUMNS) + 1;
        const uint32_t y1 = arn_report_scale(r.y, s->height + 1, GRID_ROWS);
        const uint32_t y2 = arn_report_scale(r.y + r.height - 1, s->height + 1, GRID_ROWS) + 1;
        grid[y1 * STRIDE + x1]++;
        grid[y1 * STRIDE + x2]--;
        grid[y2 * STRIDE + x1]--;
        grid[y2 * STRIDE + x2]++;
    }
    for (uint32_t y = 0; y < GRID_ROWS; y++) {
        for (uint32_t x = 0; x < STRIDE; x++) {
            if (x) grid[y * STRIDE + x] += grid[y * STRIDE + x - 1];
        }
        for (uint32_t x = 0; x < STRIDE && y; x++)
            grid[y * STRIDE + x] += grid[(y - 1) * STRIDE + x];
        for (uint32_t x = 0, end; x < GRID_COLUMNS; x = end) { /* runs of covered cells */
            for (end = x + 1; end < GRID_COLUMNS; end++) {
                if ((grid[y * STRIDE + end] > 0) != (grid[y * STRIDE + x] > 0)) break;
            }
            if (grid[y * STRIDE + x] <= 0) continue;
            const rectangle r = {x * PLOT / GRID_COLUMNS, y * s->height / GRID_ROWS,
                                 (end - x) * PLOT / GRID_COLUMNS, s->height / GRID_ROWS};
            put_rectangle(s, r, "rest");
            arn_puts(&s->out, "><title>small buffers, drawn together</title></rect>\n");
        }
    }
    arn_release(s->picture.allocator, grid);
    return ARENAUT_OK;
}

/* ---- levels ---- */

typedef struct level {
    uint64_t bytes;
    const char *cls, *name;
} level;

/* Lines across the plot with their numbers at the right, moved apart where they would
 * cover one another; `levels` go from the highest down. */
static void put_levels(svg *s, const level *levels, uint32_t n) {
    uint32_t lowest_text = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t y = s->y + s->height - height_of(s, levels[i].bytes);
        uint32_t text_y = y + 40;
        const bool arena = strcmp(levels[i].cls, "arena") == 0;
        put_line(s, LEFT, y, LEFT + PLOT + 60, y, levels[i].cls);
        if (text_y < lowest_text) text_y = lowest_text;
        lowest_text = text_y + 2 * LINE + LINE / 4;
        put_text(s, LEFT + PLOT + 100, text_y, "soft", NULL, levels[i].name);
        put_text(s, LEFT + PLOT + 100, text_y + LINE, arena ? "ink strong" : "ink", NULL,
                 arn_report_commas(levels[i].bytes).text);
    }
}

static void put_pool_levels(svg *s) {
    const arenaut_plan *plan = s->result->plan, *baseline = s->result->baseline;
    level levels[3];
    uint32_t n = 0;
    const bool single = plan->n_pools == 1;
    if (single && baseline && baseline->total > plan->total && baseline->total <= s->top) {
        levels[n++] = (level){baseline->total, "today", "now"};
    }
    const uint64_t bound = single ? plan->total_bound : plan->lower_bound[s->pool];
    const bool reached = bound >= plan->arena[s->pool];
    levels[n++] = (level){plan->arena[s->pool], "arena", reached ? "arena = bound" : "arena"};
    if (!reached) levels[n++] = (level){bound, "bound", "bound"};
    put_levels(s, levels, n);
}

static void put_pool_name(svg *s) {
    const char *name = s->result->problem->pool[s->pool].name;
    if (s->result->plan->n_pools == 1) return;
    put_text(s, LEFT, s->y - 60, "ink strong", NULL, name ? name : "(unnamed pool)");
}

static arenaut_status put_pool(svg *s, arenaut_error *err) {
    put_frame(s);
    put_byte_ticks(s, 6);
    put_pool_name(s);
    choose(s);
    const arenaut_status st = put_left_over(s, err);
    put_buffers(s);
    arn_report_shared_areas(s->result, s->pool, s, put_shared);
    put_buffer_labels(s);
    put_pool_levels(s);
    return st;
}

/* ---- the whole ---- */

/* The highest address worth showing: today's arena too, if it is not far off. */
static uint64_t top_of_pool(const svg *s, uint32_t pool) {
    const arenaut_plan *plan = s->result->plan, *baseline = s->result->baseline;
    uint64_t top = plan->arena[pool];
    if (plan->n_pools == 1 && baseline && baseline->total > top && baseline->total - top <= top) {
        top = baseline->total;
    }
    if (pool == 0 && top < s->least_top) top = s->least_top;
    return top ? top : 1;
}

/* The result in one line, so that the picture can stand alone. */
static void put_title(svg *s) {
    const arenaut_plan *plan = s->result->plan;
    const char *name = strrchr(s->result->path, '/');
    char text[400] = "arena ";
    put_text(s, LEFT, 320, "title ink", NULL, name && name[1] ? name + 1 : s->result->path);
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
    put_text(s, LEFT, 530, "soft", NULL, text);
}

/* A swatch and what it stands for; returns where the next one begins. */
static uint32_t put_swatch(svg *s, uint32_t x, const char *cls, const char *name) {
    const rectangle swatch = {x, 0, 110, 110};
    put_rectangle(s, swatch, cls);
    arn_puts(&s->out, "/>\n");
    put_text(s, LEFT + x + 160, s->y + 95, "soft", NULL, name);
    return x + 160 + (uint32_t)strlen(name) * LETTER + 200;
}

/* Only what occurs. */
static void put_legend(svg *s) {
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
    put_text(s, LEFT + x, s->y + 95, "soft", NULL,
             s->n_left_over ? "strong: alive at the peak; grey: small buffers, drawn together"
                            : "strong: alive at the peak");
}

/* Where steps are too many to be named, so are most buffers: those that are alive at the peak are
 * listed, with where they lie. */
static uint32_t listed(const svg *s) {
    const uint32_t n = s->picture.peak.n_live;
    const bool few = s->result->problem->n_buffers <= MOST_OP_NAMES;
    return few || names_ops(s) ? 0 : n < MOST_LISTED ? n : MOST_LISTED;
}

static void put_peak_list(svg *s) {
    const uint32_t n = listed(s);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = s->picture.peak.live[i], y = s->y + (i + 2) * LINE;
        char place[sizeof(arn_label) + 4];
        if (i == 0) put_text(s, LEFT, y - LINE, "ink strong", NULL, "alive at the peak");
        put_text(s, LEFT, y, "ink", NULL, arn_report_buffer_label(s->result, b, 90).text);
        snprintf(place, sizeof place, "at %s", arn_report_commas(s->result->plan->offset[b]).text);
        put_text(s, LEFT + BYTES_COLUMN, y, "ink", "end",
                 arn_report_commas(s->result->problem->size[b]).text);
        put_text(s, LEFT + PLOT, y, "soft", "end", place);
    }
    if (s->picture.peak.n_live <= n || n == 0) return;
    char rest[64];
    snprintf(rest, sizeof rest, "and %" PRIu32 " smaller ones", s->picture.peak.n_live - n);
    put_text(s, LEFT, s->y + (n + 2) * LINE, "soft", NULL, rest);
}

/* Pools that nothing was placed in are left out. */
static uint32_t total_height(const svg *s) {
    uint32_t pools = 0;
    for (uint32_t i = 0; i < s->result->plan->n_pools; i++) pools += s->result->plan->arena[i] != 0;
    return TITLE + CURVE + GAP + (pools ? pools : 1) * (POOL_HEIGHT + GAP) +
           (names_ops(s) ? OP_NAMES : STEP_NUMBERS) + LEGEND - GAP + 100 +
           (listed(s) ? (listed(s) + 3) * LINE : 0);
}

static arenaut_status draw(svg *s, arenaut_error *err) {
    const uint32_t height = total_height(s);
    uint64_t most = s->picture.most;
    arenaut_status st = ARENAUT_OK;
    arn_puts(&s->out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    if (s->above) arn_putf(&s->out, " y=\"%" PRIu32 "\"", s->above);
    arn_putf(&s->out, " viewBox=\"0 0 %d %" PRIu32 "\" role=\"img\"", WIDTH / 10,
             (height + 9) / 10);
    arn_putf(&s->out, " width=\"%d\" height=\"%" PRIu32 "\">\n<title>Memory plan</title>\n",
             WIDTH / 10, (height + 9) / 10);
    arn_puts(&s->out, style);
    arn_puts(&s->out, "<rect width=\"100%\" height=\"100%\" class=\"bg\"/>\n");
    put_title(s);
    s->y = TITLE;
    s->height = CURVE;
    s->top = most ? most : 1;
    put_curve(s);
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
    put_peak_marker(s, TITLE, s->y);
    if (names_ops(s)) put_op_names(s);
    else put_step_numbers(s);
    s->y += names_ops(s) ? OP_NAMES : STEP_NUMBERS;
    put_legend(s);
    s->y += LEGEND;
    put_peak_list(s);
    arn_puts(&s->out, "</svg>\n");
    return st;
}

static void close_picture(svg *s) {
    arn_release(s->picture.allocator, s->chosen);
    arn_release(s->picture.allocator, s->owner);
    arn_release(s->picture.allocator, s->labelled);
    arn_report_picture_free(&s->picture);
}

/* All that is needed to draw a result; close it, unless this fails. */
static arenaut_status open_picture(svg *s, const arenaut_result *result,
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

/* The plan below what it is compared with, both to one scale. */
static arenaut_status draw_both(svg *s, svg *before, arenaut_error *err) {
    const uint64_t top = arn_max_u64(top_of_pool(s, 0), top_of_pool(before, 0));
    const uint32_t first = (total_height(before) + 9) / 10, second = (total_height(s) + 9) / 10;
    s->least_top = before->least_top = top;
    s->above = first;
    before->out = s->out;
    arn_puts(&s->out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    arn_putf(&s->out, " viewBox=\"0 0 %d %" PRIu32 "\" width=\"%d\" height=\"%" PRIu32 "\">\n",
             WIDTH / 10, first + second, WIDTH / 10, first + second);
    arenaut_status st = draw(before, err);
    s->out.failed |= before->out.failed;
    if (st == ARENAUT_OK) st = draw(s, err);
    arn_puts(&s->out, "</svg>\n");
    return st;
}

/* The first variant that has a plan. */
static const arenaut_result *compared(const arenaut_report_options *options) {
    for (uint32_t i = 0; i < options->n_variants; i++) {
        if (options->variants[i].result) return options->variants[i].result;
    }
    return NULL;
}

static arenaut_status emit(const arenaut_result *result, const arenaut_report_options *options,
                           arenaut_sink sink, const arenaut_allocator *allocator,
                           arenaut_error *err) {
    const arenaut_result *other = compared(options);
    svg s = {.out = arn_writer_to(sink)}, before = s;
    arenaut_status st = open_picture(&s, result, options, allocator, err);
    if (st != ARENAUT_OK) return st;
    if (other) {
        st = open_picture(&before, other, options, allocator, err);
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
