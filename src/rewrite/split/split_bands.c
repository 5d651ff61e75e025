/* Counting the rows of bands. */
#include "rewrite/split/split_bands.h"

#include "core/memory.h"

static arn_rows hull(arn_rows a, arn_rows b) {
    if (arn_rows_none(a)) return b;
    if (arn_rows_none(b)) return a;
    return (arn_rows){a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

bool arn_bands_keep(const arenaut_split_stage *stage) {
    return stage->mode == ARENAUT_SPLIT_KEPT || stage->mode == ARENAUT_SPLIT_KEPT_CALLED ||
           stage->mode == ARENAUT_SPLIT_KEPT_CROPPED;
}

bool arn_bands_call(const arenaut_split_stage *stage) {
    return stage->mode == ARENAUT_SPLIT_ROWS_CALLED || stage->mode == ARENAUT_SPLIT_KEPT_CALLED;
}

/* Bands that are to be alike are equally high, but for the last. */
arn_rows arn_band_own(const arenaut_split_stage *stage, uint32_t band, int64_t all) {
    const int64_t pieces = stage->pieces, step = (all + pieces - 1) / pieces;
    if (!arn_bands_call(stage)) return (arn_rows){all * band / pieces, all * (band + 1) / pieces};
    return (arn_rows){band * step, all < (band + 1) * step ? all : (band + 1) * step};
}

static const arn_split_op *facts_of(const arn_bands *b, uint32_t op) {
    return &b->graph->ops[b->stage->first_op + op];
}

bool arn_bands_crop(const arn_bands *b, uint32_t op) {
    const arenaut_split_mode mode = b->stage->mode;
    const bool asked = mode == ARENAUT_SPLIT_CROPPED || mode == ARENAUT_SPLIT_KEPT_CROPPED;
    return facts_of(b, op)->same && (asked || facts_of(b, op)->counts_zeroes);
}

bool arn_band_is_result(const arn_split_graph *graph, const arenaut_split_stage *stage,
                        uint32_t op) {
    const uint32_t at = stage->first_op + op;
    if (graph->ops[at].of_constants) return false;
    const uint32_t last = graph->last_reader[graph->program->ops[at].outputs[0]];
    return last != ARENAUT_NONE && last >= stage->first_op + stage->n_ops;
}

/* ---- windows ---- */

arn_rows arn_rows_seen(const arn_split_window *w, arn_rows made) {
    return (arn_rows){made.begin * w->stride - w->before,
                      (made.end - 1) * w->stride - w->before + (w->filter - 1) * w->dilation + 1};
}

static arn_rows inside(arn_rows r, int64_t rows_in_all) {
    return (arn_rows){r.begin < 0 ? 0 : r.begin, r.end > rows_in_all ? rows_in_all : r.end};
}

static int64_t reach(const arn_split_window *w) { return (w->filter - 1) * w->dilation + 1; }

/* What the rule SAME puts in front of so many rows of input, and how many rows come out. */
static int64_t same_front(const arn_split_window *w, int64_t in, int64_t *out) {
    *out = (in + w->stride - 1) / w->stride;
    const int64_t total = (*out - 1) * w->stride + reach(w) - in;
    return total > 0 ? total / 2 : 0;
}

bool arn_rows_same_pads(const arn_split_window *w, arn_rows in, arn_rows made) {
    int64_t out;
    const arn_rows all = arn_rows_seen(w, made);
    const int64_t front = same_front(w, in.end - in.begin, &out);
    const int64_t behind = (out - 1) * w->stride + reach(w) - front - (in.end - in.begin);
    return out == made.end - made.begin && front == in.begin - all.begin &&
           (behind > 0 ? behind : 0) == all.end - in.end;
}

/* Whether an op that pads these rows of input by itself makes all of `made` right; `run` gets the
 * rows that it makes, the others wrong. */
static bool covers(const arn_split_window *w, arn_rows in, int64_t height, arn_rows made,
                   arn_rows *run) {
    int64_t out;
    const int64_t first = in.begin - same_front(w, in.end - in.begin, &out) + w->before;
    const arn_rows all = arn_rows_seen(w, made);
    if (first < 0 || first % w->stride != 0) return false;
    *run = (arn_rows){first / w->stride, first / w->stride + out};
    return run->begin <= made.begin && run->end >= made.end &&
           (all.begin >= in.begin || in.begin == 0) && (all.end <= in.end || in.end == height);
}

static int64_t modulo(int64_t a, int64_t n) { return (a % n + n) % n; }

/* The fewest rows of input with which a cropped op makes `made`. So many rows are padded alike,
 * wherever they lie, and windows begin where those of the whole do for one row in a stride; of
 * these places the last reaches farthest down. */
static bool crop(const arn_split_window *w, int64_t height, arn_rows made, arn_rows *in,
                 arn_rows *run, uint64_t *places) {
    const arn_rows least = inside(arn_rows_seen(w, made), height);
    const int64_t below = height - least.end;
    for (int64_t more = 0; more <= least.begin + below; more++) {
        int64_t out;
        ++*places;
        const int64_t rows = least.end - least.begin + more;
        const int64_t first = least.begin - same_front(w, rows, &out) + w->before;
        int64_t above = more > below ? more - below : 0;
        above += modulo(first - above, w->stride);
        if (above > more || above > least.begin) continue;
        *in = (arn_rows){least.begin - above, least.end + more - above};
        if (covers(w, *in, height, made, run)) return true;
    }
    return false;
}

/* ---- counting ---- */

/* What an op needs of an image, and makes of that, so that it makes `op->make`. False if it cannot.
 */
static bool plan_op(arn_bands *b, uint32_t k, int64_t height, arn_band_op *op) {
    const arn_split_op *facts = facts_of(b, k);
    const arn_split_window *h = &facts->window[ARN_AXIS_H], *w = &facts->window[ARN_AXIS_W];
    const arn_rows all = arn_rows_seen(h, op->make);
    op->input = inside(all, height);
    op->run = op->make;
    if (arn_rows_none(op->input)) return false; /* it would see nothing but padding */
    if (!arn_bands_crop(b, k) || arn_rows_same_pads(h, op->input, op->make)) return true;
    const bool padded =
        all.begin < op->input.begin || all.end > op->input.end || w->before + w->after > 0;
    return !padded || crop(h, height, op->make, &op->input, &op->run, &b->places);
}

/* What op `k` wants of the images that it reads, for what it makes in a band. */
static bool ask(arn_bands *b, arn_band_op *band, uint32_t k) {
    const arenaut_op *op = &b->graph->program->ops[b->stage->first_op + k];
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t id = op->inputs[i];
        if (id == ARENAUT_NONE || arn_split_is_fixed(b->graph, id)) continue;
        const int64_t height = b->graph->program->tensors[id].dims[ARN_AXIS_H];
        if (!plan_op(b, k, height, &band[k])) return false;
        const uint32_t from = arn_band_maker(b->graph, b->stage, id);
        if (from != ARENAUT_NONE) band[from].want = hull(band[from].want, band[k].input);
    }
    return true;
}

static bool count_band(arn_bands *b, uint32_t number) {
    const uint32_t n = b->stage->n_ops;
    arn_band_op *band = b->ops + (size_t)number * n;
    for (uint32_t k = 0; k < n; k++) {
        band[k] = (arn_band_op){{0, 0}, {0, 0}, {0, 0}, {0, 0}};
        if (!b->results[k].is_result) continue;
        band[k].want = arn_band_own(b->stage, number, b->results[k].height);
    }
    for (uint32_t k = n; k-- > 0;) {
        int64_t *done = &b->results[k].done;
        if (arn_rows_none(band[k].want)) continue;
        band[k].make = band[k].want;
        if (arn_bands_keep(b->stage) && band[k].make.begin < *done) band[k].make.begin = *done;
        if (*done < band[k].want.end) *done = band[k].want.end;
        if (arn_rows_none(band[k].make)) continue;
        b->results[k].last = number;
        if (!ask(b, band, k)) return false;
    }
    return true;
}

/* Bytes of images from before the stage that the op is the last to read. */
static uint64_t ended_by(const arn_split_graph *graph, const arenaut_split_stage *stage,
                         uint32_t at) {
    const arenaut_op *op = &graph->program->ops[at];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t == ARENAUT_NONE || arn_split_is_fixed(graph, t) || graph->last_reader[t] != at ||
            (i > 0 && op->inputs[i - 1] == t)) {
            continue;
        }
        if (arn_band_maker(graph, stage, t) == ARENAUT_NONE) {
            bytes += graph->program->tensors[t].bytes;
        }
    }
    return bytes;
}

static arn_banded result_of(const arn_split_graph *graph, const arenaut_split_stage *stage,
                            uint32_t k) {
    const uint32_t at = stage->first_op + k;
    if (graph->ops[at].of_constants) return (arn_banded){0};
    const arenaut_tensor *made = &graph->program->tensors[graph->program->ops[at].outputs[0]];
    const int64_t height = made->dims[ARN_AXIS_H];
    return (arn_banded){.height = height,
                        .row_bytes = made->bytes / (uint64_t)height,
                        .ends = ended_by(graph, stage, at),
                        .is_result = arn_band_is_result(graph, stage, k)};
}

/* Of one range, many numbers of pieces and modes are counted. */
static void take_results(arn_bands *b) {
    const arenaut_split_stage *stage = b->stage;
    const bool known = b->first_op == stage->first_op && b->n_ops == stage->n_ops;
    for (uint32_t k = 0; k < stage->n_ops; k++) {
        if (!known) b->results[k] = result_of(b->graph, stage, k);
        b->results[k].done = 0;
        b->results[k].last = ARENAUT_NONE;
    }
    b->first_op = stage->first_op;
    b->n_ops = stage->n_ops;
}

bool arn_bands_count(arn_bands *b, const arn_split_graph *graph, const arenaut_split_stage *stage) {
    const uint64_t all = (uint64_t)stage->n_ops * stage->pieces;
    b->graph = graph;
    b->stage = stage;
    if (!arn_grow(graph->allocator, (void **)&b->ops, &b->ops_capacity, all, sizeof *b->ops) ||
        !arn_grow(graph->allocator, (void **)&b->results, &b->results_capacity, stage->n_ops,
                  sizeof *b->results)) {
        b->failed = true;
        return false;
    }
    take_results(b);
    bool counted = true;
    for (uint32_t band = 0; band < stage->pieces && counted; band++) counted = count_band(b, band);
    return counted;
}

uint32_t arn_bands_repeats(const arn_bands *b, uint32_t op) {
    uint32_t bands = 0;
    for (uint32_t band = 0; band < b->stage->pieces; band++) {
        bands += !arn_rows_none(arn_band(b, band, op)->make);
    }
    return bands > 0 ? bands - 1 : 0;
}

void arn_bands_free(arn_bands *b) {
    if (!b->graph) return;
    arn_release(b->graph->allocator, b->ops);
    arn_release(b->graph->allocator, b->results);
}
