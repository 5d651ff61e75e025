/* html: a page that shows the plan in a browser, as one file that needs no network. The template,
 * with its script and style, is made from explorer/ (`make page`) and lies in explorer/dist, of
 * which the build makes page_text.h; here the title, the data and, for browsers without scripts,
 * the still picture and a table are put into it.
 *
 * Names come from files. They are in the data, where no '<' can be, since each is written as its
 * escape in JSON; in the title and the table they are escaped; the picture is an image of its own.
 */
#include <inttypes.h>
#include <string.h>

#include "core/memory.h"
#include "report/label.h"
#include "report/page/page_columns.h"
#include "report/page/page_plan.h"
#include "report/figures.h"

#include "page_text.h"

enum { STILL_RECTANGLES = 400, TABLE_ROWS = 100, NAME_COLUMNS = 90 };

typedef struct html {
    const arenaut_result *result;
    const arenaut_report_options *options;
    const arenaut_allocator *allocator;
    arn_writer out;
    arenaut_error *err;
} html;

/* Puts the template from *at to MARK, behind which *at is then. */
static void put_before(html *h, const char *mark, const char **at) {
    const char *end = strstr(*at, mark);
    arn_put(&h->out, *at, (size_t)(end - *at));
    *at = end + strlen(mark);
}

static void put_escaped(html *h, const char *text) {
    for (size_t n; *text; text += n ? n : 1) {
        n = arn_report_shown_length(text);
        if (n == 0) arn_puts(&h->out, "?");
        else if (*text == '&') arn_puts(&h->out, "&amp;");
        else if (*text == '<') arn_puts(&h->out, "&lt;");
        else if (*text == '>') arn_puts(&h->out, "&gt;");
        else if (*text == '"') arn_puts(&h->out, "&quot;");
        else arn_put(&h->out, text, n);
    }
}

/* ---- for browsers without scripts ---- */

static bool is_plain_in_url(unsigned char c) { return c >= ' ' && c < 0x7f && !strchr("'&<%#", c); }

/* In single quotes, which the picture's own double quotes may stand in. */
static bool put_in_url(void *context, const void *bytes, size_t size) {
    arn_writer *out = context;
    const unsigned char *p = bytes;
    for (size_t i = 0, from = 0; i < size; from = i) {
        while (i < size && is_plain_in_url(p[i])) i++;
        arn_put(out, (const char *)p + from, i - from);
        if (i < size) arn_putf(out, "%%%02X", p[i++]);
    }
    return !out->failed;
}

/* As an image: its styles are not the page's, and nothing in it can run. */
static arenaut_status put_still(html *h) {
    const arenaut_report_options options = {.top = STILL_RECTANGLES, .steps = h->options->steps};
    const arenaut_sink sink = {put_in_url, &h->out};
    arn_puts(&h->out,
             "<img alt=\"The plan: steps to the right, addresses upwards\" "
             "src='data:image/svg+xml,");
    const arenaut_status st = arenaut_report_emit(arenaut_report_find("svg"), h->result, &options,
                                                  sink, h->allocator, h->err);
    arn_puts(&h->out, "'>\n");
    return st;
}

static void put_row(html *h, uint32_t b, uint64_t *sum) {
    const arenaut_problem *p = h->result->problem;
    *sum += p->size[b];
    arn_puts(&h->out, "<tr><td>");
    put_escaped(h, arn_report_buffer_label(h->result, b, NAME_COLUMNS).text);
    arn_puts(&h->out, "<td>");
    put_escaped(h, arn_report_shape_label(h->result, b).text);
    arn_putf(&h->out, "<td>%s", arn_report_commas(p->size[b]).text);
    arn_putf(&h->out, "<td>%s", arn_report_commas(*sum).text);
    arn_putf(&h->out, "<td>%s\n", arn_report_commas(h->result->plan->offset[b]).text);
}

static arenaut_status put_table(html *h) {
    arenaut_peak peak;
    uint64_t sum = 0;
    const arenaut_status st = arenaut_peak_find(h->result->problem, h->allocator, &peak, h->err);
    if (st != ARENAUT_OK) return st;
    arn_putf(&h->out, "<p>Arena %s bytes; %s bytes are alive at the peak, ",
             arn_report_commas(h->result->plan->total).text,
             arn_report_commas(peak.live_bytes - peak.shared_bytes).text);
    put_escaped(h, arn_report_step_label(h->result, peak.step).text);
    const arn_label bits = arn_report_bits_label(h->result);
    if (bits.text[0]) arn_putf(&h->out, "; %s", bits.text);
    arn_puts(&h->out, ".<table><tr><th>alive at the peak<th>shape<th>bytes<th>sum<th>offset\n");
    for (uint32_t i = 0; i < peak.n_live && i < TABLE_ROWS; i++) put_row(h, peak.live[i], &sum);
    arn_puts(&h->out, "</table>\n");
    if (peak.n_live > TABLE_ROWS)
        arn_putf(&h->out, "<p>And %" PRIu32 " smaller ones.\n", peak.n_live - TABLE_ROWS);
    arenaut_peak_free(&peak, h->allocator);
    return ARENAUT_OK;
}

/* ---- the data ---- */

/* In JSON '<' is in strings only, and there an escape says the same. */
static bool put_without_markup(void *context, const void *bytes, size_t size) {
    arn_writer *out = context;
    const char *p = bytes, *const end = p + size;
    while (p < end) {
        const char *open = memchr(p, '<', (size_t)(end - p));
        arn_put(out, p, (size_t)((open ? open : end) - p));
        if (open) arn_puts(out, "\\u003c");
        p = open ? open + 1 : end;
    }
    return !out->failed;
}

static void put_variants(html *h, arn_writer *out) {
    arn_puts(out, "],\"variants\":[");
    for (uint32_t i = 0, plan = 1; i < h->options->n_variants; i++) {
        const arenaut_variant *v = &h->options->variants[i];
        arn_puts(out, i ? ",{\"name\":" : "{\"name\":");
        arn_put_json_string(out, v->name);
        arn_puts(out, ",\"flags\":");
        if (v->flags) arn_put_json_string(out, v->flags);
        else arn_puts(out, "null");
        if (v->result) arn_putf(out, ",\"plan\":%" PRIu32, plan++);
        arn_putf(out, ",\"arena\":\"%" PRIu64 "\"", v->arena);
        if (v->reserve) arn_putf(out, ",\"reserve\":\"%" PRIu64 "\"", v->reserve);
        arn_putf(out, ",\"saves\":\"%" PRIu64 "\"}", v->saves);
    }
}

static void put_ways(const html *h, arn_writer *out) {
    const arenaut_split_front *front = arn_report_ways(h->result);
    if (!front) return;
    arn_puts(out, ",\"ways\":[");
    for (uint32_t i = 0; i < front->n_choices; i++) {
        const arenaut_split_choice *way = &front->choices[i];
        arn_puts(out, i ? ",{\"stages\":\"" : "{\"stages\":\"");
        arn_report_put_stages(out, way);
        arn_putf(out, "\",\"bytes\":\"%" PRIu64 "\",\"ops\":%" PRIu32,
                 arn_report_way_needs(h->result, way), way->ops);
        arn_putf(out, ",\"macs\":\"%" PRIu64 "\",\"rounded\":%" PRIu32 ",\"taken\":%s}", way->macs,
                 way->n_rounded, i == h->result->ways->taken ? "true" : "false");
    }
    arn_puts(out, "]");
}

static void put_size(arn_writer *out, const char *key, uint64_t value) {
    arn_putf(out, "\"%s\":\"%" PRIu64 "\"", key, value);
}

static void put_points(const arenaut_recompute_curve *c, arn_writer *out) {
    arn_puts(out, ",\"points\":[");
    for (uint32_t i = 0; i < c->n_points; i++) {
        const arenaut_curve_point *point = &c->points[i];
        arn_putf(out, "%s{\"percent\":%" PRIu32 ",\"fits\":%s,\"ops\":%" PRIu32 ",", i ? "," : "",
                 point->percent, point->fits ? "true" : "false", point->n_copies);
        put_size(out, "budget", point->budget);
        arn_puts(out, ",");
        put_size(out, "peak", point->peak);
        arn_puts(out, ",");
        put_size(out, "added", point->added);
        arn_puts(out, ",");
        put_size(out, "bound", point->bound);
        arn_puts(out, "}");
    }
    arn_puts(out, "]");
}

/* Ops of the file that stand in the schedule more than once, in its order. */
static arenaut_status put_repeated(const html *h, arn_writer *out) {
    const arenaut_rewrite *r = h->result->rewrite;
    const uint32_t n = r ? r->n_ops_before : 0;
    uint32_t *runs = arn_allocate_zeroed(h->allocator, n, sizeof *runs), listed = 0;
    if (!runs) return arn_no_memory(h->err);
    for (uint32_t i = 0; r && i < r->n_ops; i++) runs[r->ops[i]]++;
    arn_puts(out, ",\"again\":[");
    for (uint32_t i = 0; r && i < r->n_ops; i++) {
        const uint32_t op = r->ops[i];
        const char *name = h->result->program->ops[i].name;
        if (runs[op] < 2) continue;
        arn_putf(out, "%s{\"number\":%" PRIu32 ",\"times\":%" PRIu32 ",\"op\":", listed ? "," : "",
                 op, runs[op] - 1);
        arn_put_json_string(out, name ? name : "");
        arn_puts(out, "}");
        runs[op] = 1;
        listed++;
    }
    arn_puts(out, "]");
    arn_release(h->allocator, runs);
    return ARENAUT_OK;
}

static arenaut_status put_curve(const html *h, arn_writer *out) {
    const arenaut_recompute_curve *c = h->options->curve;
    const arenaut_remat_certificate *own = h->result->rematerialization;
    if (!c) return ARENAUT_OK;
    arn_puts(out, ",\"curve\":{");
    put_size(out, "before", c->before);
    arn_puts(out, ",");
    put_size(out, "base", c->base);
    arn_puts(out, ",");
    put_size(out, "floor", c->floor);
    put_points(c, out);
    arn_puts(out, ",\"now\":{");
    put_size(out, "arena", h->result->plan->total);
    arn_puts(out, ",");
    put_size(out, "added", own ? own->added : 0);
    arn_puts(out, "}");
    const arenaut_status st = put_repeated(h, out);
    arn_puts(out, "}");
    return st;
}

static arenaut_status put_data(html *h) {
    const arenaut_sink sink = {put_without_markup, &h->out};
    arn_writer out = arn_writer_to(sink);
    arn_puts(&out, "{\"schema\":\"arenaut.page/1\",\"plans\":[");
    const bool replan = h->options->replan;
    arenaut_status st = arn_page_put_plan(&out, h->result, replan, h->allocator, h->err);
    for (uint32_t i = 0; i < h->options->n_variants && st == ARENAUT_OK; i++) {
        if (!h->options->variants[i].result) continue;
        arn_puts(&out, ",\n");
        st = arn_page_put_plan(&out, h->options->variants[i].result, replan, h->allocator, h->err);
    }
    put_variants(h, &out);
    arn_puts(&out, "]");
    put_ways(h, &out);
    if (st == ARENAUT_OK) st = put_curve(h, &out);
    if (h->options->steps.first < h->options->steps.end) {
        arn_putf(&out, ",\"steps\":[\"%" PRId64 "\",\"%" PRId64 "\"]", h->options->steps.first,
                 h->options->steps.end);
    }
    arn_puts(&out, "}");
    return st;
}

static arenaut_status html_emit(const arenaut_result *result, const arenaut_report_options *options,
                                arenaut_sink sink, const arenaut_allocator *allocator,
                                arenaut_error *err) {
    html h = {.result = result,
              .options = options,
              .allocator = allocator,
              .out = arn_writer_to(sink),
              .err = err};
    const char *at = page_template;
    put_before(&h, "@@RIGHTS@@", &at);
    if (options->replan) arn_puts(&h.out, " 'wasm-unsafe-eval'; worker-src blob:");
    put_before(&h, "@@TITLE@@", &at);
    put_escaped(&h, arn_page_file_name(result));
    put_before(&h, "@@STILL@@", &at);
    arenaut_status st = put_still(&h);
    if (st == ARENAUT_OK) st = put_table(&h);
    put_before(&h, "@@DATA@@", &at);
    if (st == ARENAUT_OK) st = put_data(&h);
    put_before(&h, "@@PLANNER@@", &at);
    if (options->replan) arn_puts(&h.out, page_planner);
    arn_puts(&h.out, at);
    return st == ARENAUT_OK ? arn_writer_finish(&h.out, err) : st;
}

extern const arenaut_report arn_report_html;
const arenaut_report arn_report_html = {
    .name = "html",
    .summary = "a page for the browser: one file, without network",
    .extension = ".html",
    .needs_plan = true,
    .emit = html_emit,
};
