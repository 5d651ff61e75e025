/* A diff for people, as two tables in text or in Markdown, and for scripts, as one JSON document
 * (arenaut.diff/1). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "tool.h"

/* Figures that two inputs have under one name: of pools, and of methods. */

/* ---- figures that both sides have, by name ---- */

static void add_figure(figure_list *list, const char *kind, const char *name, int which,
                       uint64_t bytes) {
    size_t i = 0;
    if (!name) name = "";
    while (i < list->n && (strcmp(list->items[i].kind, kind) != 0 ||
                           strcmp(list->items[i].name, name) != 0 || list->items[i].known[which]))
        i++;
    if (i == list->capacity) return; /* there is room for all there can be */
    figure *found = &list->items[i];
    if (i == list->n) *found = (figure){.kind = kind, .name = name};
    if (i == list->n) list->n++;
    found->bytes[which] = bytes;
    found->known[which] = true;
}

typedef struct event {
    int64_t step;
    uint32_t method;
    bool ends;
    uint64_t bytes;
} event;

/* By method and step; at one step, ends come before beginnings. */
static int by_method_then_step(const void *pa, const void *pb) {
    const event *a = pa, *b = pb;
    if (a->method != b->method) return a->method < b->method ? -1 : 1;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    return (int)b->ends - (int)a->ends;
}

/* The most bytes of each method's own buffers that are alive at once. */
static void add_methods(const side *s, int which, figure_list *list) {
    const arenaut_problem *p = s->result.problem;
    size_t n = 0;
    if (!p->method || p->n_methods < 2) return;
    event *events = must_allocate(2 * (size_t)p->n_lifetimes, sizeof *events);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t lives = arenaut_problem_lifetime_count(p, b);
        const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
        for (uint32_t i = 0; i < lives && p->method[b] != ARENAUT_NONE; i++) {
            events[n++] = (event){life[i].first, p->method[b], false, p->size[b]};
            events[n++] = (event){life[i].end, p->method[b], true, p->size[b]};
        }
    }
    if (n) qsort(events, n, sizeof *events, by_method_then_step);
    uint64_t live = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        live = events[i].ends ? live - events[i].bytes : live + events[i].bytes;
        if (live > most) most = live;
        if (i + 1 < n && events[i + 1].method == events[i].method) continue;
        add_figure(list, "method", p->method_name[events[i].method], which, most);
        live = most = 0;
    }
    free(events);
}

/* The arenas of pools, where there are several, and the most bytes of each method's own buffers
 * that are alive at once. Free `items`. */
static figure_list diff_figures(const diff *d) {
    figure_list list = {.n = 0};
    for (int i = 0; i < SIDES; i++) {
        const arenaut_problem *p = d->sides[i].result.problem;
        list.capacity += (size_t)p->n_pools + p->n_methods;
    }
    list.items = must_allocate(list.capacity, sizeof *list.items);
    for (int i = 0; i < SIDES; i++) {
        const arenaut_result *r = &d->sides[i].result;
        const bool several = d->sides[BEFORE].result.problem->n_pools > 1 ||
                             d->sides[AFTER].result.problem->n_pools > 1;
        for (uint32_t k = 0; k < r->problem->n_pools && several; k++) {
            add_figure(&list, "pool", r->problem->pool[k].name, i, r->plan->arena[k]);
        }
        add_methods(&d->sides[i], i, &list);
    }
    return list;
}

/* The name of a buffer that changed. */
static const char *diff_name(const diff *d, change c, char store[24]) {
    const bool gone = c.after == ARENAUT_NONE;
    const arenaut_result *r = &d->sides[gone ? BEFORE : AFTER].result;
    return arenaut_problem_buffer_name(r->problem, gone ? c.before : c.after, store);
}

/* A diff for people: two tables, as text or as Markdown. */

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

/* A diff for scripts: one JSON document, arenaut.diff/1. */

/* ---- JSON ---- */

static void put_json_place(const char *key, const arenaut_result *r, uint32_t b,
                           arenaut_text *out) {
    if (b == ARENAUT_NONE) return;
    text_printf(out, ", \"%s\": {\"id\": %" PRIu32 ", \"size\": ", key, b);
    text_put_json_u64(out, r->problem->size[b]);
    text_put(out, ", \"pool\": ");
    if (r->plan->pool[b] == ARENAUT_NONE) text_put(out, "null");
    else text_printf(out, "%" PRIu32, r->plan->pool[b]);
    text_put(out, ", \"offset\": ");
    text_put_json_u64(out, r->plan->offset[b]);
    text_put(out, "}");
}

static void put_json_side(const char *key, const side *s, arenaut_text *out) {
    text_printf(out, "  \"%s\": {\"path\": ", key);
    text_put_json(out, s->result.path);
    text_put(out, ", \"made_by\": ");
    text_put_json(out, s->made_by);
    text_put(out, ", \"arena\": ");
    text_put_json_u64(out, arena_of(s));
    if (s->whole) {
        text_put(out, ", \"tensor_arena\": ");
        text_put_json_u64(out, s->need.bytes);
        text_printf(out, ", \"exact\": %s", s->need.unknown ? "false" : "true");
    }
    text_put(out, ", \"live_bytes\": ");
    text_put_json_u64(out, s->peak.live_bytes);
    text_printf(out, ", \"step\": %" PRId64 ", \"buffers\": %" PRIu32 "},\n", s->peak.step,
                s->result.problem->n_buffers);
}

static void put_json_figures(const diff *d, arenaut_text *out) {
    static const char *const keys[SIDES] = {"before", "after"};
    figure_list figures = diff_figures(d);
    text_put(out, "  \"parts\": [");
    for (size_t i = 0; i < figures.n; i++) {
        text_printf(out, "%s\n    {\"%s\": ", i ? "," : "", figures.items[i].kind);
        text_put_json(out, figures.items[i].name);
        for (int k = 0; k < SIDES; k++) {
            if (!figures.items[i].known[k]) continue;
            text_printf(out, ", \"%s\": ", keys[k]);
            text_put_json_u64(out, figures.items[i].bytes[k]);
        }
        text_put(out, "}");
    }
    text_put(out, "],\n");
    free(figures.items);
}

void put_json_diff(const diff *d, bool grew, arenaut_text *out) {
    text_printf(out, "{\n  \"schema\": \"arenaut.diff/1\",\n  \"version\": \"%s\",\n",
                ARENAUT_VERSION);
    put_json_side("before", &d->sides[BEFORE], out);
    put_json_side("after", &d->sides[AFTER], out);
    put_json_figures(d, out);
    text_printf(out, "  \"grew_too_much\": %s,\n  \"changes\": [", grew ? "true" : "false");
    for (size_t i = 0; i < d->changes.n; i++) {
        const change c = d->changes.items[i];
        char store[24];
        text_printf(out, "%s\n    {\"kind\": \"%s\", \"name\": ", i ? "," : "",
                    change_name(c.kind));
        text_put_json(out, diff_name(d, c, store));
        put_json_place("before", &d->sides[BEFORE].result, c.before, out);
        put_json_place("after", &d->sides[AFTER].result, c.after, out);
        text_put(out, "}");
    }
    text_put(out, "]\n}\n");
}
