/* ascii: a picture of a plan for terminals, logs and comments. Steps run to the right,
 * addresses upwards; a letter is a buffer, explained below. Buffers too small for a cell
 * still get one, unless a larger one is there. Where an operand and a result hold the same bytes at
 * once, their letters take turns. */
#include <inttypes.h>
#include <string.h>

#include "core/file_name.h"
#include "core/memory.h"
#include "ir/lifetimes.h"
#include "report/label.h"
#include "report/picture.h"
#include "report/figures.h"

enum { ROWS = 24, MARGIN = 12, LETTERS = 52, DEFAULT_NAMED = 12 };

static const char letter[LETTERS + 1] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

typedef struct ascii {
    const arenaut_result *result;
    const arenaut_report_options *options;
    arn_report_picture picture;
    arn_writer out;
    uint32_t columns;
    uint32_t *cells;         /* ROWS × columns; row 0 is the lowest; ARENAUT_NONE: empty */
    uint64_t arena;          /* bytes of the pool that is drawn now */
    bool has_shared;         /* some cells belong to two buffers */
    uint32_t named[LETTERS]; /* the buffers with letters, largest first; the
                              * largest of them are also explained */
    uint32_t n_named;
} ascii;

static bool is_shown(const ascii *a, uint32_t b) {
    const arenaut_problem *p = a->result->problem;
    for (uint32_t i = p->lifetime_start[b]; i < p->lifetime_start[b + 1]; i++) {
        if (arn_report_picture_shows(&a->picture, p->lifetime[i])) return true;
    }
    return false;
}

/* Keeps the largest buffers; insertion into a short list. */
static void choose_named(ascii *a, uint32_t pool) {
    const arenaut_problem *p = a->result->problem;
    a->n_named = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (a->result->plan->pool[b] != pool || !arenaut_problem_needs_memory(p, b)) continue;
        if (!is_shown(a, b)) continue;
        uint32_t at = a->n_named;
        while (at > 0 && p->size[a->named[at - 1]] < p->size[b]) at--;
        if (at == LETTERS) continue;
        if (a->n_named < LETTERS) a->n_named++;
        memmove(a->named + at + 1, a->named + at, (a->n_named - at - 1) * sizeof *a->named);
        a->named[at] = b;
    }
}

static char letter_of(const ascii *a, uint32_t buffer) {
    for (uint32_t i = 0; i < a->n_named; i++) {
        if (a->named[i] == buffer) return letter[i];
    }
    return '#';
}

/* Cells of the picture, from the first to before the end; at least one each way. */
typedef struct cell_range {
    uint32_t x, end_x, y, end_y;
} cell_range;

static uint32_t at_most(uint32_t a, uint32_t b) { return a < b ? a : b; }

static cell_range cells_of(const ascii *a, arenaut_interval life, uint64_t low, uint64_t high) {
    cell_range r = {.x = arn_report_picture_x(&a->picture, life.first, a->columns),
                    .end_x = arn_report_picture_x(&a->picture, life.end, a->columns),
                    .y = arn_report_scale(low, a->arena, ROWS),
                    .end_y = arn_report_scale(high, a->arena, ROWS)};
    if (r.end_x <= r.x) r.end_x = r.x + 1;
    if (r.end_y <= r.y) r.end_y = r.y + 1;
    r.end_x = at_most(r.end_x, a->columns);
    r.end_y = at_most(r.end_y, ROWS);
    return r;
}

static void fill(ascii *a, uint32_t buffer, arenaut_interval life) {
    const arenaut_problem *p = a->result->problem;
    const uint64_t offset = a->result->plan->offset[buffer];
    const cell_range r = cells_of(a, life, offset, offset + p->size[buffer]);
    for (uint32_t y = r.y; y < r.end_y; y++) {
        for (uint32_t x = r.x; x < r.end_x; x++) {
            uint32_t *cell = &a->cells[y * a->columns + x];
            if (*cell == ARENAUT_NONE || p->size[*cell] < p->size[buffer]) *cell = buffer;
        }
    }
}

/* Over the cells that both buffers filled, like a chessboard, so that neither hides the other. */
static void fill_shared(void *context, arn_shared_area area) {
    ascii *a = context;
    if (!arn_report_picture_shows(&a->picture, area.life)) return;
    const cell_range r = cells_of(a, area.life, area.low, area.high);
    for (uint32_t y = r.y; y < r.end_y; y++) {
        for (uint32_t x = r.x; x < r.end_x; x++) {
            a->cells[y * a->columns + x] = (x + y) % 2 ? area.a : area.b;
        }
    }
    a->has_shared = true;
}

/* Every lifetime gets its cells; a buffer with gaps shows them. */
static void fill_cells(ascii *a, uint32_t pool) {
    const arenaut_problem *p = a->result->problem;
    a->arena = a->result->plan->arena[pool];
    a->has_shared = false;
    for (uint32_t i = 0; i < ROWS * a->columns; i++) a->cells[i] = ARENAUT_NONE;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (a->result->plan->pool[b] != pool || !arenaut_problem_needs_memory(p, b)) continue;
        for (uint32_t i = p->lifetime_start[b]; i < p->lifetime_start[b + 1]; i++) {
            if (arn_report_picture_shows(&a->picture, p->lifetime[i])) fill(a, b, p->lifetime[i]);
        }
    }
    arn_report_shared_areas(a->result, pool, a, fill_shared);
}

/* One of six colours by id, the letter stays the distinction. */
static void put_color(ascii *a, uint32_t buffer) {
    static const int colors[] = {117, 180, 115, 182, 187, 153}; /* light: black text reads well */
    if (!a->options->color) return;
    if (buffer == ARENAUT_NONE) arn_puts(&a->out, "\033[0m");
    else arn_putf(&a->out, "\033[48;5;%d;30m", colors[buffer % 6]);
}

static void put_margin(ascii *a, const char *text) {
    arn_report_put_spaces(&a->out, arn_report_columns_left(MARGIN - 2, strlen(text)));
    arn_putf(&a->out, "%s %s", text, a->options->unicode ? "\xE2\x94\x82" : "|");
}

/* From the highest address down, without blanks at the ends of lines. */
static void put_rows(ascii *a) {
    for (uint32_t y = ROWS; y-- > 0;) {
        const bool ticked = y + 1 == ROWS || y == ROWS / 2 - 1;
        put_margin(a, !ticked ? "" : arn_report_kib(y + 1 == ROWS ? a->arena : a->arena / 2).text);
        uint32_t last = ARENAUT_NONE, columns = a->columns;
        while (columns > 0 && a->cells[y * a->columns + columns - 1] == ARENAUT_NONE) columns--;
        for (uint32_t x = 0; x < columns; x++) {
            const uint32_t cell = a->cells[y * a->columns + x];
            if (cell != last) put_color(a, cell);
            last = cell;
            const char shown = cell == ARENAUT_NONE ? ' ' : letter_of(a, cell);
            arn_put(&a->out, &shown, 1);
        }
        if (last != ARENAUT_NONE) put_color(a, ARENAUT_NONE);
        arn_puts(&a->out, "\n");
    }
}

/* The step axis, with a mark under the peak. */
static void put_axis(ascii *a) {
    const uint32_t peak = arn_report_picture_x(&a->picture, a->picture.peak.step, a->columns);
    put_margin(a, "0 B");
    for (uint32_t x = 0; x < a->columns; x++) {
        arn_puts(&a->out, a->options->unicode ? "\xE2\x94\x80" : "-");
    }
    arn_puts(&a->out, "\n");
    const uint32_t last = (uint32_t)arn_report_columns_left(a->columns, 1);
    arn_report_put_spaces(&a->out, MARGIN - 1 + (peak < last ? peak : last));
    arn_puts(&a->out, "^\n");
}

/* Bytes alive over time: eighths of a block each, or '.' to '#'. */
static void put_curve(ascii *a) {
    static const char plain[] = " .:-=+*%#";
    const uint64_t most = a->picture.most ? a->picture.most : 1;
    put_margin(a, "alive");
    for (uint32_t x = 0; x < a->columns; x++) {
        const uint64_t live = a->picture.live[x];
        const uint32_t level = live ? 1 + arn_report_scale(live, most, 7) : 0;
        const char block[3] = {(char)0xE2, (char)0x96, (char)(0x80 + level)};
        if (a->options->unicode && level) arn_put(&a->out, block, sizeof block);
        else arn_put(&a->out, &plain[level], 1);
    }
    arn_puts(&a->out, "\n");
}

static void put_title(ascii *a) {
    const arenaut_plan *plan = a->result->plan;
    arn_report_put_clean(&a->out, arn_file_name(a->result->path));
    arn_putf(&a->out, "  %s %s bytes (%s), ", arn_report_planned_name(a->result),
             arn_report_commas(plan->total).text, arn_report_kib(plan->total).text);
    if (plan->quality == ARENAUT_OPTIMAL) arn_puts(&a->out, "proven minimal");
    else arn_putf(&a->out, "bound %s", arn_report_commas(plan->total_bound).text);
    arn_puts(&a->out, arn_report_kernels_label(a->result).text);
    if (a->result->baseline) {
        arn_putf(&a->out, "; now %s", arn_report_commas(a->result->baseline->total).text);
    }
    const arn_label bits = arn_report_bits_label(a->result);
    if (bits.text[0]) arn_putf(&a->out, "\n  %s", bits.text);
    arn_puts(&a->out, "\n\n");
}

/* The key to the letters, by size; buffers alive at the peak are starred. */
static void put_names(ascii *a) {
    const arenaut_problem *p = a->result->problem;
    enum { LEAST_NAME = 16, AROUND_NAME = 46 };
    const size_t rest = arn_report_columns_left((size_t)a->columns + MARGIN, AROUND_NAME);
    const uint32_t room = rest > LEAST_NAME ? (uint32_t)rest : LEAST_NAME;
    const uint32_t most = a->options->top ? a->options->top : DEFAULT_NAMED;
    for (uint32_t i = 0; i < a->n_named && i < most; i++) {
        const uint32_t b = a->named[i];
        const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
        const arn_label name = arn_report_buffer_label(a->result, b, room);
        const bool at_peak = arn_alive_at(p, b, a->picture.peak.step);
        arn_putf(&a->out, "  %c %c %s", letter[i], at_peak ? '*' : ' ', name.text);
        arn_report_put_spaces(&a->out,
                              arn_report_columns_left(room, arn_report_columns(name.text)));
        arn_putf(&a->out, " %14s  steps %" PRId64 "-%" PRId64 "\n",
                 arn_report_commas(p->size[b]).text, life[0].first,
                 life[arenaut_problem_lifetime_count(p, b) - 1].end - 1);
    }
    if (a->n_named > most) {
        arn_putf(&a->out, "      and %" PRIu32 " more with letters, by size\n", a->n_named - most);
    }
    if (a->has_shared) {
        arn_puts(&a->out,
                 "\n  two letters in turn: an operand, and the result that is written over it\n");
    }
    arn_putf(&a->out, "\n  * alive at the peak, %s: %s bytes\n",
             arn_report_step_label(a->result, a->picture.peak.step).text,
             arn_report_commas(a->picture.at_peak).text);
}

static void draw(ascii *a) {
    put_title(a);
    put_curve(a);
    for (uint32_t pool = 0; pool < a->result->plan->n_pools; pool++) {
        const char *name = a->result->problem->pool[pool].name;
        if (a->result->plan->arena[pool] == 0) continue;
        if (a->result->plan->n_pools > 1) {
            arn_puts(&a->out, "\n");
            arn_report_put_clean(&a->out, name ? name : "(unnamed pool)");
            arn_puts(&a->out, "\n");
        }
        choose_named(a, pool);
        fill_cells(a, pool);
        put_rows(a);
        put_axis(a);
        put_names(a);
    }
}

static arenaut_status emit(const arenaut_result *result, const arenaut_report_options *options,
                           arenaut_sink sink, const arenaut_allocator *allocator,
                           arenaut_error *err) {
    ascii a = {.result = result, .options = options, .out = arn_writer_to(sink)};
    a.columns = options->width > MARGIN + 20 ? options->width - MARGIN : 20;
    arenaut_status st =
        arn_report_picture_make(result, options->steps, a.columns, allocator, &a.picture, err);
    if (st != ARENAUT_OK) return st;
    a.cells = arn_allocate(allocator, (size_t)ROWS * a.columns, sizeof *a.cells);
    if (a.cells) {
        draw(&a);
        st = arn_writer_finish(&a.out, err);
    } else {
        st = arn_no_memory(err);
    }
    arn_release(allocator, a.cells);
    arn_report_picture_free(&a.picture);
    return st;
}

extern const arenaut_report arn_report_ascii;
const arenaut_report arn_report_ascii = {
    .name = "ascii",
    .summary = "a picture made of characters, for a terminal",
    .needs_plan = true,
    .emit = emit,
};
