/* The rectangles of a pool: of each lifetime one, as many as can be told apart; the rest are cells
 * of a grid, and bytes of two buffers at once are hatched. */
#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "report/label.h"
#include "report/figures.h"
#include "report/svg/svg_drawing.h"

enum {
    GRID_COLUMNS = 160, /* for the rectangles past the ones drawn one by one */
    GRID_ROWS = 100,
    THIN = 40,
};

/* At least a tenth of a pixel each way, so that nothing vanishes. */
static svg_rectangle rectangle_of(const svg_drawing *s, arenaut_interval life, uint64_t first,
                                  uint64_t end) {
    const uint32_t x1 = arn_report_picture_x(&s->picture, life.first, SVG_PLOT);
    const uint32_t x2 = arn_report_picture_x(&s->picture, life.end, SVG_PLOT);
    const uint32_t low = arn_svg_height(s, first), high = arn_svg_height(s, end);
    const svg_rectangle r = {x1, s->height - high, x2 > x1 ? x2 - x1 : 1,
                             high > low ? high - low : 1};
    return r;
}

static svg_rectangle place_of(const svg_drawing *s, uint32_t lifetime) {
    const uint32_t b = s->owner[lifetime];
    const uint64_t offset = s->result->plan->offset[b];
    return rectangle_of(s, s->result->problem->lifetime[lifetime], offset,
                        offset + s->result->problem->size[b]);
}

static bool is_shown(const svg_drawing *s, uint32_t lifetime) {
    const uint32_t b = s->owner[lifetime];
    return s->result->plan->pool[b] == s->pool && s->result->problem->size[b] != 0 &&
           arn_report_picture_shows(&s->picture, s->result->problem->lifetime[lifetime]);
}

static bool more_area(const void *context, uint32_t a, uint32_t b) {
    const svg_rectangle ra = place_of(context, a), rb = place_of(context, b);
    return (uint64_t)ra.width * ra.height > (uint64_t)rb.width * rb.height;
}

/* The lifetimes in this pool, the largest rectangles first if there are more than can be told
 * apart. */
static void choose(svg_drawing *s) {
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

static void put_name(svg_drawing *s, uint32_t b) {
    char store[24];
    arn_svg_escaped(s, arenaut_problem_buffer_name(s->result->problem, b, store));
}

/* Browsers show it when the pointer rests on the rectangle. */
static void put_tooltip(svg_drawing *s, uint32_t b) {
    const arenaut_problem *p = s->result->problem;
    const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
    const arn_label shape = arn_report_shape_label(s->result, b);
    arn_puts(&s->out, "><title>");
    put_name(s, b);
    arn_putf(&s->out, "\n%s bytes at %s, steps %" PRId64 " to %" PRId64,
             arn_report_commas(p->size[b]).text, arn_report_commas(s->result->plan->offset[b]).text,
             life[0].first, life[arenaut_problem_lifetime_count(p, b) - 1].end - 1);
    if (*shape.text) arn_putf(&s->out, "\n%s", shape.text);
    if (p->op && p->op[b]) {
        arn_puts(&s->out, "\nfrom ");
        arn_svg_escaped(s, p->op[b]);
    }
    arn_puts(&s->out, "</title></rect>\n");
}

/* Whether it is alive at the peak. */
static bool is_strong(const svg_drawing *s, uint32_t b) {
    return arn_alive_at(s->result->problem, b, s->picture.peak.step);
}

static void put_rectangles(svg_drawing *s) {
    for (uint32_t i = 0; i < s->n_chosen; i++) {
        const uint32_t b = s->owner[s->chosen[i]];
        const svg_rectangle r = place_of(s, s->chosen[i]);
        char cls[64] = "buffer ";
        strcat(cls, arenaut_class_name(arenaut_problem_class(s->result->problem, b)));
        if (!is_strong(s, b)) strcat(cls, " pale");
        if (r.height < THIN || r.width < THIN) strcat(cls, " thin"); /* else all outline */
        arn_svg_rectangle(s, r, cls);
        put_tooltip(s, b);
    }
}

/* Over both buffers, so that neither hides the other. If they are too many to be told apart they
 * only count. */
static void put_shared(void *context, arn_shared_area area) {
    svg_drawing *s = context;
    if (!arn_report_picture_shows(&s->picture, area.life)) return;
    if (s->n_shared++ >= s->most) return;
    arn_svg_rectangle(s, rectangle_of(s, area.life, area.low, area.high), "shared");
    arn_puts(&s->out, "><title>");
    put_name(s, area.a);
    arn_puts(&s->out, "\nand ");
    put_name(s, area.b);
    arn_putf(&s->out, "\nhold %s bytes at once</title></rect>\n",
             arn_report_commas(area.high - area.low).text);
}

/* The rectangles past the limit as cells of a coarse grid. Corners are noted first and
 * summed up after, so the cost does not depend on how large they are. */
static arenaut_status put_left_over(svg_drawing *s, arenaut_error *err) {
    enum { STRIDE = GRID_COLUMNS + 1 };
    if (s->n_left_over == 0) return ARENAUT_OK;
    int32_t *grid =
        arn_allocate_zeroed(s->picture.allocator, STRIDE * (GRID_ROWS + 1), sizeof *grid);
    if (!grid) return arn_no_memory(err);
    for (uint32_t i = s->n_chosen; i < s->n_chosen + s->n_left_over; i++) {
        const svg_rectangle r = place_of(s, s->chosen[i]);
        const uint32_t x1 = arn_report_scale(r.x, SVG_PLOT + 1, GRID_COLUMNS);
        const uint32_t x2 = arn_report_scale(r.x + r.width - 1, SVG_PLOT + 1, GRID_COLUMNS) + 1;
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
            const svg_rectangle r = {x * SVG_PLOT / GRID_COLUMNS, y * s->height / GRID_ROWS,
                                     (end - x) * SVG_PLOT / GRID_COLUMNS, s->height / GRID_ROWS};
            arn_svg_rectangle(s, r, "rest");
            arn_puts(&s->out, "><title>small buffers, drawn together</title></rect>\n");
        }
    }
    arn_release(s->picture.allocator, grid);
    return ARENAUT_OK;
}

arenaut_status arn_svg_buffers(svg_drawing *s, arenaut_error *err) {
    choose(s);
    const arenaut_status st = put_left_over(s, err);
    put_rectangles(s);
    arn_report_shared_areas(s->result, s->pool, s, put_shared);
    return st;
}

/* Labels of names and sizes on the rectangles: where there is room, and never over one another. */

/* Takes room for so many letters and lines in the middle of a rectangle, unless other buffers'
 * labels, whose rectangles may lie across this one, are in the way. */
static bool take_room(svg_drawing *s, svg_rectangle r, size_t letters, uint32_t lines) {
    const uint32_t width = (uint32_t)letters * SVG_LETTER, height = lines * SVG_LINE;
    const svg_rectangle box = {r.x + r.width / 2 - width / 2, r.y + r.height / 2 - height / 2,
                               width, height};
    for (uint32_t i = 0; i < s->n_labelled; i++) {
        const svg_rectangle other = s->labelled[i];
        if (box.x < other.x + other.width && other.x < box.x + box.width &&
            box.y < other.y + other.height && other.y < box.y + box.height)
            return false;
    }
    s->labelled[s->n_labelled++] = box;
    return true;
}

/* Name and size inside the rectangle, as far as there is room. A name cut to a few letters
 * says less than the size alone. */
static void put_buffer_label(svg_drawing *s, svg_rectangle r, uint32_t b, bool strong) {
    enum { LEAST_LETTERS = 16, PADDING = 50 };
    const char *cls = strong ? "label small" : "label small pl";
    const uint32_t letters = r.width > PADDING ? (r.width - PADDING) / SVG_LETTER : 0;
    const uint32_t middle = s->y + r.y + r.height / 2, x = SVG_LEFT + r.x + r.width / 2;
    const arn_label bytes = arn_report_commas(s->result->problem->size[b]);
    const arn_label whole = arn_report_buffer_label(s->result, b, 90),
                    name = arn_report_buffer_label(s->result, b, letters);
    const bool has_name = letters >= LEAST_LETTERS || arn_report_columns(whole.text) <= letters;
    const bool has_bytes = strlen(bytes.text) <= letters;
    const size_t columns = has_name ? arn_report_columns(name.text) : 0;
    const size_t longest = columns > strlen(bytes.text) ? columns : strlen(bytes.text);
    if (r.height >= 2 * SVG_LINE && has_name && has_bytes) {
        if (!take_room(s, r, longest, 2)) return;
        arn_svg_text(s, x, middle - 20, cls, "middle", name.text);
        arn_svg_text(s, x, middle + 100, cls, "middle", bytes.text);
    } else if (r.height >= SVG_LINE && (has_name || has_bytes)) {
        if (!take_room(s, r, has_name ? columns : strlen(bytes.text), 1)) return;
        arn_svg_text(s, x, middle + 35, cls, "middle", has_name ? name.text : bytes.text);
    }
}

/* After all that could cover them; buffers alive at the peak take their room first. */
void arn_svg_labels(svg_drawing *s) {
    s->n_labelled = 0;
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < s->n_chosen; i++) {
            const uint32_t b = s->owner[s->chosen[i]];
            const bool strong = is_strong(s, b);
            if (strong == (turn == 0)) put_buffer_label(s, place_of(s, s->chosen[i]), b, strong);
        }
    }
}
