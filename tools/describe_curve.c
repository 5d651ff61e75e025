/* The curve of peak against time, as a table and as JSON: per budget the live bytes and the time
 * that the fastest schedule found adds, the proven bound on that, and the gap; and the tensors that
 * no schedule can do without at once, which set the floor. */
#include "describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

enum { MOST_TENSORS = 6, FEW_TENSORS = 4, LOWEST_PERCENT = 30 };

exit_code find_curve(const tool_job *job, arenaut_recompute_curve **curve) {
    const arenaut_pipeline *p = job->pipeline;
    arenaut_error err = {0};
    *curve = NULL;
    if (!p->options.recomputing.on || !p->document.program) return EXIT_FINE;
    const arenaut_status st = arenaut_pipeline_find_curve(p, curve, &err);
    if (st == ARENAUT_OK) return job_goes_on(EXIT_FINE);
    if (st != ARENAUT_REFUSED && st != ARENAUT_STOPPED) return complain_error(job->path, &err);
    note(job->path, "there is no curve of peak against time: %s", err.msg);
    return EXIT_FINE;
}

static double percent_of(uint64_t part, uint64_t whole) {
    return whole ? 100 * (double)part / (double)whole : 0;
}

static bool is_impossible(const arenaut_recompute_curve *c, const arenaut_curve_point *point) {
    return c->floor > point->budget;
}

static uint64_t gap_of(const arenaut_curve_point *point) {
    return point->added > point->bound ? point->added - point->bound : 0;
}

/* ---- for people ---- */

static void put_point(const arenaut_recompute_curve *c, size_t i, text_table *table) {
    const arenaut_curve_point *point = &c->points[i];
    table_cellf(table, "  %" PRIu32 " %%", point->percent);
    table_cell(table, with_commas(point->budget).text);
    if (is_impossible(c, point)) {
        table_cell(table, "impossible (proven)");
        for (int k = 0; k < 4; k++) table_cell(table, "");
        return;
    }
    table_cell(table, point->fits ? with_commas(point->peak).text : "none found");
    if (point->fits) table_cellf(table, "+%.2f %%", percent_of(point->added, c->base));
    else table_cell(table, "");
    table_cellf(table, "+%.2f %%", percent_of(point->bound, c->base));
    if (point->fits) table_cellf(table, "%.2f %%", percent_of(gap_of(point), c->base));
    else table_cell(table, "");
    if (point->fits) table_cellf(table, "%" PRIu32, point->n_copies);
    else table_cell(table, "");
}

static void put_points(const arenaut_recompute_curve *c, arenaut_text *out) {
    static const char *const heads[] = {"  budget", "bytes", "alive at once", "time",
                                        "proven",   "gap",   "copies"};
    text_table table;
    table_begin(&table, "lrrrrrr");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) table_cell(&table, heads[i]);
    for (size_t i = 0; i < c->n_points; i++) put_point(c, i, &table);
    table_end(&table, out, "", "");
}

/* A few tensors that are most of the floor want another program, not another schedule. */
static void put_advice(const arenaut_recompute_curve *c, arenaut_text *out) {
    uint64_t sum = 0;
    uint32_t n = 0;
    if (percent_of(c->floor, c->before) <= LOWEST_PERCENT) return;
    while (n < c->n_tensors && n < FEW_TENSORS && sum < c->floor / 10 * 8) {
        sum += c->tensors[n++].bytes;
    }
    if (sum < c->floor / 10 * 8) return;
    text_printf(out,
                "    %" PRIu32
                " tensor%s %.0f %% of that: no schedule helps, but to fuse the ops "
                "between them or to run these in parts\n",
                n, n == 1 ? " is" : "s are", percent_of(sum, c->floor));
}

static void put_floor(const arenaut_recompute_curve *c, arenaut_text *out) {
    if (c->floor == 0) {
        text_put(out, "  floor: nothing is proven\n");
        return;
    }
    text_printf(out,
                "  floor: every rematerialization has %s bytes (%.1f %%) alive at once (proven)",
                with_commas(c->floor).text, percent_of(c->floor, c->before));
    if (c->floor_op) {
        text_put(out, ", where ");
        text_put_clean(out, c->floor_op);
        text_put(out, " runs first");
    } else {
        text_put(out, ", at the end");
    }
    text_put(out, c->n_tensors ? ":\n" : "\n");
    for (uint32_t i = 0; i < c->n_tensors && i < MOST_TENSORS; i++) {
        text_printf(out, "    %15s  ", with_commas(c->tensors[i].bytes).text);
        text_put_clean(out, c->tensors[i].name);
        text_put(out, c->tensors[i].op ? ", made by " : "");
        text_put_clean(out, c->tensors[i].op ? c->tensors[i].op : "");
        text_put(out, "\n");
    }
    if (c->n_tensors > MOST_TENSORS) {
        text_printf(out, "    and %" PRIu32 " more\n", c->n_tensors - MOST_TENSORS);
    }
    put_advice(c, out);
}

void put_curve(const tool_job *job, const arenaut_recompute_curve *c, arenaut_text *out) {
    const arenaut_recompute_options *o = &job->pipeline->options.recomputing.options;
    const bool given = job->pipeline->options.recomputing.costs.text != NULL;
    if (!c) return;
    text_printf(
        out,
        "\ncurve: any op may be rematerialized (--recompute on --fit SIZE). Each op once: %s bytes "
        "alive at once, %.3f ms,\n  %s%s; less than \"proven\" no schedule adds within "
        "the budget\n",
        with_commas(c->before).text, (double)c->base / 1e6,
        given ? "as given, else modelled for " : "modelled for ",
        o->device.name ? o->device.name : "a100");
    put_points(c, out);
    put_floor(c, out);
}

/* ---- JSON ---- */

static void put_number(const char *key, uint64_t value, arenaut_text *out) {
    text_printf(out, "\"%s\": ", key);
    text_put_json_u64(out, value);
}

static void put_json_point(const arenaut_recompute_curve *c, size_t i, arenaut_text *out) {
    const arenaut_curve_point *point = &c->points[i];
    text_printf(out, "%s\n    {\"percent\": %" PRIu32 ", ", i ? "," : "", point->percent);
    put_number("budget", point->budget, out);
    text_printf(out, ", \"fits\": %s, \"impossible\": %s, ", point->fits ? "true" : "false",
                is_impossible(c, point) ? "true" : "false");
    put_number("bound_nanoseconds", point->bound, out);
    if (point->fits) {
        text_put(out, ", ");
        put_number("peak", point->peak, out);
        text_put(out, ", ");
        put_number("added_nanoseconds", point->added, out);
        text_printf(out, ", \"added_ops\": %" PRIu32, point->n_copies);
    }
    text_put(out, "}");
}

void put_json_curve(const arenaut_recompute_curve *c, arenaut_text *out) {
    if (!c) return;
    text_put(out, ",\n  \"curve\": {");
    put_number("before", c->before, out);
    text_put(out, ", ");
    put_number("nanoseconds", c->base, out);
    text_put(out, ", \"points\": [");
    for (size_t i = 0; i < c->n_points; i++) put_json_point(c, i, out);
    text_put(out, "],\n    \"floor\": {");
    put_number("bytes", c->floor, out);
    text_put(out, ", \"op\": ");
    text_put_json(out, c->floor_op);
    text_put(out, ", \"tensors\": [");
    for (uint32_t i = 0; i < c->n_tensors; i++) {
        text_put(out, i ? ", {\"name\": " : "{\"name\": ");
        text_put_json(out, c->tensors[i].name);
        text_put(out, ", \"op\": ");
        text_put_json(out, c->tensors[i].op);
        text_put(out, ", ");
        put_number("bytes", c->tensors[i].bytes, out);
        text_put(out, "}");
    }
    text_put(out, "]}}");
}
