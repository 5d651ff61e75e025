/* Geometry of row tiles with halo: the rows of every tensor of a group of ops that each tile needs,
 * computes, or has in a line buffer, counted backward from the results (fused-layer tiling: Alwani
 * et al. 2016; patch-based inference: MCUNetV2, Lin et al. 2021), and a lower bound of the live
 * bytes. Nothing here knows operators or kernels.
 *
 * The bound: while an op of a tile runs, these are live: the operands of the group that a later
 * tile reads again; the results of the tiles before; the line buffers of ops further on, and those
 * for the next tile of ops before it; and its own result, with its operand unless the one may lie
 * over the other. Paddings, copies of calls and rounding come on top of that. */
#include "rewrite/split/row_tiles.h"

#include "core/checked.h"
#include "core/memory.h"
#include "rewrite/split/tile_groups.h"

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

static int64_t extent(const arn_split_window *w) { return (w->filter - 1) * w->dilation + 1; }

/* What the rule SAME puts in front of so many rows of input, and how many rows come out. */
static int64_t same_front(const arn_split_window *w, int64_t in, int64_t *out) {
    *out = (in + w->stride - 1) / w->stride;
    const int64_t total = (*out - 1) * w->stride + extent(w) - in;
    return total > 0 ? total / 2 : 0;
}

bool arn_rows_same_pads(const arn_split_window *w, arn_rows in, arn_rows made) {
    int64_t out;
    const arn_rows all = arn_rows_seen(w, made);
    const int64_t front = same_front(w, in.end - in.begin, &out);
    const int64_t behind = (out - 1) * w->stride + extent(w) - front - (in.end - in.begin);
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

/* ---- lower bound ---- */

/* One band. */
typedef struct at_band {
    const arn_bands *bands;
    uint32_t number;
    bool reach, keeps;
    uint64_t others; /* results of the bands before it */
    uint64_t read;   /* of what the stage reads: what this band or a later one reads */
    uint64_t later;  /* what a later one does */
} at_band;

static uint64_t bytes_of(const arn_bands *b, uint32_t op, int64_t rows) {
    return rows > 0 ? (uint64_t)rows * b->results[op].row_bytes : 0;
}

/* Of what the stage reads: what this band or a later one does. */
static uint64_t read_from(const arn_bands *b, uint32_t band) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < b->stage->n_ops; k++) {
        const arn_banded *it = &b->results[k];
        if (it->last != ARENAUT_NONE && it->last >= band) bytes += it->ends;
    }
    return bytes;
}

static uint64_t count_others(const arn_bands *b, uint32_t band) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < b->stage->n_ops; k++) {
        if (!b->results[k].is_result) continue;
        bytes += bytes_of(b, k, arn_band_own(b->stage, band, b->results[k].height).begin);
    }
    return bytes;
}

/* Rows that an op gets from the band before, besides those that it makes. A result of the stage may
 * be there as a piece of it already. */
static uint64_t kept_before(const at_band *a, uint32_t op) {
    const arn_band_op *it = arn_band(a->bands, a->number, op);
    if (!a->keeps || arn_rows_none(it->make) || a->bands->results[op].is_result) return 0;
    return bytes_of(a->bands, op, it->make.begin - it->want.begin);
}

/* Rows of its result that the next band gets. */
static uint64_t kept_for_next(const at_band *a, uint32_t op) {
    const arn_bands *b = a->bands;
    if (!a->keeps || a->number + 1 == b->stage->pieces) return 0;
    const arn_rows next = arn_band(b, a->number + 1, op)->want;
    if (arn_rows_none(next) || b->results[op].is_result) return 0;
    return bytes_of(b, op, arn_band(b, a->number, op)->want.end - next.begin);
}

/* The largest image that the op takes from another of the stage, but for what is kept of it. */
static uint64_t operand(const at_band *a, uint32_t op) {
    const arn_bands *b = a->bands;
    const arenaut_op *it = &b->graph->program->ops[b->stage->first_op + op];
    uint64_t largest = 0;
    for (uint32_t i = 0; i < it->n_inputs; i++) {
        const uint32_t from = arn_band_maker(b->graph, b->stage, it->inputs[i]);
        if (from == ARENAUT_NONE || b->results[from].is_result) continue;
        const uint64_t bytes = bytes_of(b, from, arn_rows_count(arn_band(b, a->number, op)->input));
        const uint64_t kept = kept_for_next(a, from);
        largest = arn_max_u64(largest, bytes > kept ? bytes - kept : 0);
    }
    return largest;
}

static uint64_t bound_of_band(const at_band *a) {
    const arn_bands *b = a->bands;
    uint64_t most = a->read + a->others;
    uint64_t kept = 0; /* for ops that have not run yet, and of those that have for the next band */
    for (uint32_t k = 0; a->keeps && k < b->stage->n_ops; k++) kept += kept_before(a, k);
    for (uint32_t k = 0; k < b->stage->n_ops; k++) {
        const arn_band_op *it = arn_band(b, a->number, k);
        if (arn_rows_none(it->make)) continue;
        kept -= kept_before(a, k);
        const uint64_t own =
            bytes_of(b, k, arn_rows_count(it->run)) + (a->reach ? 0 : operand(a, k));
        most = arn_max_u64(most, a->later + a->others + kept + own);
        kept += kept_for_next(a, k);
    }
    return most;
}

uint64_t arn_split_bands_bound(const arn_bands *bands, bool reach) {
    at_band a = {.bands = bands,
                 .reach = reach,
                 .keeps = arn_bands_keep(bands->stage),
                 .later = read_from(bands, 0)};
    uint64_t most = 0;
    for (; a.number < bands->stage->pieces; a.number++) {
        a.others = count_others(bands, a.number);
        a.read = a.later;
        a.later = read_from(bands, a.number + 1);
        most = arn_max_u64(most, bound_of_band(&a));
    }
    return most;
}
