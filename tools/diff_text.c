/* A diff for people: two tables, as text or as Markdown. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "text_table.h"

/* The step's name, as the side's own program has it. */
static void put_peak_step(const side *s, arenaut_text *out) {
    const arenaut_lowering *lowering = s->result.lowering;
    const int64_t step = s->peak.step;
    const bool known = lowering && step >= 0 && step < (int64_t)lowering->n_steps;
    const uint32_t op = known ? lowering->steps[step].op : ARENAUT_NONE;
    if (op == ARENAUT_NONE) {
        text_printf(out, known ? "the start" : "step %" PRId64, step);
        return;
    }
    const arenaut_op *found = &s->result.program->ops[op];
    text_printf(out, "op %" PRIu32 " ", op - s->result.program->methods[found->method].first_op);
    text_put_clean(out, found->name ? found->name : "");
}

/* ---- text and Markdown ---- */

static void put_difference(uint64_t before, uint64_t after, arenaut_text *out) {
    if (before == after) return;
    text_printf(out, "%s%s (%s)", after > before ? "+" : "-",
                with_commas(after > before ? after - before : before - after).text,
                change_percent(before, after).text);
}

/* Rows of four cells; Markdown needs its own lines. */
typedef struct rows {
    text_table table;
    arenaut_text *markdown; /* NULL: text */
} rows;

static void put_row(rows *r, const char *first, const char *second, const char *third,
                    const char *fourth) {
    const char *cells[] = {first, second, third, fourth};
    for (size_t i = 0; i < 4; i++) {
        if (r->markdown) text_printf(r->markdown, "| %s ", cells[i]);
        else table_cell(&r->table, cells[i]);
    }
    if (r->markdown) text_put(r->markdown, "|\n");
}

static void put_bytes_row(rows *r, const char *title, const figure *f) {
    arenaut_text by = {0};
    if (f->known[BEFORE] && f->known[AFTER]) {
        put_difference(f->bytes[BEFORE], f->bytes[AFTER], &by);
    }
    put_row(r, title, f->known[BEFORE] ? with_commas(f->bytes[BEFORE]).text : "-",
            f->known[AFTER] ? with_commas(f->bytes[AFTER]).text : "-", by.bytes ? by.bytes : "");
    arenaut_text_free(&by);
}

/* Text from a file in a Markdown cell: nothing in it is markup. */
static void put_markdown_text(const char *text, arenaut_text *out) {
    arenaut_text clean = {0};
    text_put_clean(&clean, text);
    for (const char *at = clean.bytes ? clean.bytes : ""; *at; at++) {
        text_printf(out, strchr("\\|`*_<>[]#!@", *at) ? "\\%c" : "%c", *at);
    }
    arenaut_text_free(&clean);
}

static void put_name(const rows *r, const char *name, arenaut_text *out) {
    if (r->markdown) put_markdown_text(name, out);
    else text_put_clean(out, name);
}

static void put_totals(const diff *d, rows *r) {
    const side *a = &d->sides[BEFORE], *b = &d->sides[AFTER];
    const bool known[] = {true, true};
    figure f = {.bytes = {arena_of(a), arena_of(b)}};
    memcpy(f.known, known, sizeof known);
    put_bytes_row(r, a->whole || b->whole ? "head" : "arena", &f);
    if (compares_whole(d)) {
        f.bytes[BEFORE] = a->need.bytes;
        f.bytes[AFTER] = b->need.bytes;
        put_bytes_row(
            r, a->need.unknown || b->need.unknown ? "tensor_arena, at least" : "tensor_arena", &f);
    }
    f.bytes[BEFORE] = a->peak.live_bytes;
    f.bytes[AFTER] = b->peak.live_bytes;
    put_bytes_row(r, "alive at the peak", &f);
    figure_list figures = diff_figures(d);
    for (size_t i = 0; i < figures.n; i++) {
        arenaut_text title = {0};
        text_printf(&title, "%s ", figures.items[i].kind);
        put_name(r, figures.items[i].name, &title);
        put_bytes_row(r, title.bytes, &figures.items[i]);
        arenaut_text_free(&title);
    }
    free(figures.items);
    arenaut_text steps[SIDES] = {{0}, {0}};
    for (int i = 0; i < SIDES; i++) {
        arenaut_text where = {0};
        put_peak_step(&d->sides[i], &where);
        put_name(r, where.bytes, &steps[i]);
        arenaut_text_free(&where);
    }
    put_row(r, "peak at", steps[BEFORE].bytes, steps[AFTER].bytes, "");
    put_row(r, "made by", a->made_by, b->made_by, "");
    for (int i = 0; i < SIDES; i++) arenaut_text_free(&steps[i]);
}

static void put_counts(const diff *d, arenaut_text *out) {
    const char *before = "";
    for (int kind = 0; kind < CHANGE_KINDS; kind++) {
        if (!d->changes.count[kind]) continue;
        text_printf(out, "%s%zu %s (%s bytes)", before, d->changes.count[kind],
                    change_name((change_kind)kind), with_commas(d->changes.bytes[kind]).text);
        before = ", ";
    }
    text_put(out, *before ? "\n" : "no buffer changed\n");
}

/* "1,024 at 64", or nothing where there is no such buffer. */
static void put_place(const arenaut_result *r, uint32_t b, arenaut_text *out) {
    if (b == ARENAUT_NONE) return;
    text_printf(out, "%s at %s", with_commas(r->problem->size[b]).text,
                with_commas(r->plan->offset[b]).text);
    if (r->problem->n_pools < 2 || r->plan->pool[b] == ARENAUT_NONE) return;
    text_put(out, " of ");
    const char *pool = r->problem->pool[r->plan->pool[b]].name;
    text_put_clean(out, pool ? pool : "");
}

static void put_change(const diff *d, change c, rows *r) {
    char store[24];
    arenaut_text name = {0}, before = {0}, after = {0};
    put_name(r, r->markdown ? diff_name(d, c, store) : shortened(diff_name(d, c, store)).text,
             &name);
    put_place(&d->sides[BEFORE].result, c.before, &before);
    put_place(&d->sides[AFTER].result, c.after, &after);
    put_row(r, change_name(c.kind), name.bytes ? name.bytes : "", before.bytes ? before.bytes : "",
            after.bytes ? after.bytes : "");
    arenaut_text_free(&name);
    arenaut_text_free(&before);
    arenaut_text_free(&after);
}

/* The largest of each kind: of all of them only with -v. */
void put_diff(const diff *d, arenaut_text *out) {
    enum { SHOWN = 8 };
    const bool markdown = d->options->markdown;
    const text_style style = style_for(d->options->color);
    rows r = {.markdown = markdown ? out : NULL};
    if (!markdown) table_begin(&r.table, "lrrr");
    put_row(&r, markdown ? "memory" : "", "before", "after", "");
    if (markdown) text_put(out, "| --- | ---: | ---: | ---: |\n");
    put_totals(d, &r);
    if (!markdown) table_end(&r.table, out, style.bold, style.plain);
    text_put(out, "\n");
    put_counts(d, out);
    if (d->changes.n == 0) return;
    text_put(out, "\n");
    if (!markdown) table_begin(&r.table, "llrr");
    if (markdown) put_row(&r, "change", "buffer", "before", "after");
    if (markdown) text_put(out, "| --- | --- | ---: | ---: |\n");
    size_t shown[CHANGE_KINDS] = {0}, left = 0;
    for (size_t i = 0; i < d->changes.n; i++) {
        const bool all = d->options->verbose > 0;
        if (shown[d->changes.items[i].kind]++ < SHOWN || all)
            put_change(d, d->changes.items[i], &r);
        else left++;
    }
    if (!markdown) table_end(&r.table, out, "", "");
    if (left)
        text_printf(out, "%sand %zu smaller changes (-v shows all)\n", markdown ? "\n" : "", left);
}
