/* Row bands: the stage's results are made some rows at a time, and before them only the rows that
 * these need. First it is counted, from the last op to the first and band by band, which rows of
 * each tensor a band wants, and which of these its op makes; then the ops are put.
 *
 * A window that reaches past an edge of the image needs padding there, and none at the cut edges of
 * a band. Ops pad all four sides by one rule, so a band is padded by an op of its own, unless the
 * rule happens to give what is needed. Or it is cropped: the op pads by itself, gets some rows
 * more, and those of its results that saw a wrong edge are left out. A pool counts what it sees,
 * and is always cropped. */
#include <string.h>

#include "core/memory.h"
#include "rewrite/split/draft_calls.h"
#include "rewrite/split/split_stages.h"

typedef struct rows {
    int64_t begin, end; /* none: begin >= end */
} rows;

/* Some rows of a tensor, in a tensor of the draft. */
typedef struct holder {
    uint32_t tensor;
    rows rows;
} holder;

typedef struct banding {
    arn_draft *draft;
    const arn_split_graph *graph;
    const arenaut_split_stage *stage;
    /* By band, then op: the rows of its result that are wanted, those of them that are not there
     * yet, and those that the op makes for that; and the rows of its images that it wants. */
    rows *want, *make, *run, *input;
    holder *now;     /* per op: its result in this band */
    holder *kept;    /* per op: what was kept of it */
    uint32_t *bands; /* per op, then band: pieces of a result of the stage */
    uint32_t *start; /* per band, and where the last ends: the op of the draft */
} banding;

static bool is_none(rows r) { return r.begin >= r.end; }

static rows hull(rows a, rows b) {
    if (is_none(a)) return b;
    if (is_none(b)) return a;
    return (rows){a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

static bool keeps(const arenaut_split_stage *stage) {
    return stage->mode == ARENAUT_SPLIT_KEPT || stage->mode == ARENAUT_SPLIT_KEPT_CALLED ||
           stage->mode == ARENAUT_SPLIT_KEPT_CROPPED;
}

static bool calls(const arenaut_split_stage *stage) {
    return stage->mode == ARENAUT_SPLIT_ROWS_CALLED || stage->mode == ARENAUT_SPLIT_KEPT_CALLED;
}

/* The rows of a result of the stage that a band makes. Bands that are to be alike are equally high,
 * but for the last. */
static rows own_rows(const arenaut_split_stage *stage, uint32_t band, int64_t all) {
    const int64_t pieces = stage->pieces, step = (all + pieces - 1) / pieces;
    if (!calls(stage)) return (rows){all * band / pieces, all * (band + 1) / pieces};
    return (rows){band * step, all < (band + 1) * step ? all : (band + 1) * step};
}

static const arenaut_op *op_of(const banding *b, uint32_t k) {
    return &b->graph->program->ops[b->stage->first_op + k];
}

static const arn_split_op *facts_of(const banding *b, uint32_t k) {
    return &b->graph->ops[b->stage->first_op + k];
}

static bool crops(const banding *b, uint32_t k) {
    const arenaut_split_mode mode = b->stage->mode;
    const bool asked = mode == ARENAUT_SPLIT_CROPPED || mode == ARENAUT_SPLIT_KEPT_CROPPED;
    return facts_of(b, k)->same && (asked || facts_of(b, k)->kind == ARN_SPLIT_POOL);
}

static int64_t height(const banding *b, uint32_t tensor) {
    return b->graph->program->tensors[tensor].dims[ARN_AXIS_H];
}

/* The op of the stage that makes a tensor band by band; ARENAUT_NONE: it is whole. */
static uint32_t maker(const arn_split_graph *graph, const arenaut_split_stage *stage,
                      uint32_t tensor) {
    if (tensor == ARENAUT_NONE || arn_split_is_fixed(graph, tensor)) return ARENAUT_NONE;
    const uint32_t producer = graph->producer[tensor];
    const bool inside = producer != ARENAUT_NONE && producer >= stage->first_op &&
                        producer < stage->first_op + stage->n_ops;
    return inside ? producer - stage->first_op : ARENAUT_NONE;
}

/* Whether somebody behind the stage needs the result of its op `k`. */
static bool is_result(const arn_split_graph *graph, const arenaut_split_stage *stage, uint32_t k) {
    const uint32_t made = graph->program->ops[stage->first_op + k].outputs[0];
    const uint32_t last = graph->last_reader[made];
    return last != ARENAUT_NONE && last >= stage->first_op + stage->n_ops;
}

static bool reads_computed_constants(const arn_split_graph *graph, uint32_t op) {
    const arenaut_op *o = &graph->program->ops[op];
    for (uint32_t i = 0; i < o->n_inputs; i++) {
        if (o->inputs[i] == ARENAUT_NONE || arn_split_is_constant(graph, o->inputs[i])) continue;
        if (arn_split_is_fixed(graph, o->inputs[i])) return true;
    }
    return false;
}

const char *arn_split_rows_refuse(const arn_split_graph *graph, const arenaut_split_stage *stage) {
    bool some = false;
    for (uint32_t k = 0; k < stage->n_ops; k++) {
        const uint32_t at = stage->first_op + k;
        if (graph->ops[at].of_constants) continue;
        if (graph->ops[at].kind == ARN_SPLIT_OPAQUE) return "it has an op that cannot be split";
        if (calls(stage) && reads_computed_constants(graph, at)) {
            return "it reads weights that ops compute, and each call would copy them";
        }
        if (!is_result(graph, stage, k)) continue;
        some = true;
        const uint32_t made = graph->program->ops[at].outputs[0];
        const int64_t all = graph->program->tensors[made].dims[ARN_AXIS_H];
        if (all < (int64_t)stage->pieces) return "a result of it has fewer rows than pieces";
        if (is_none(own_rows(stage, stage->pieces - 1, all))) {
            return "fewer pieces of equal height have all rows of a result of it";
        }
    }
    return some ? NULL : "nobody needs its results";
}

/* ---- counting ---- */

/* The rows of the input that the rows of an output see; what is outside of the image is padding. */
static rows seen(const arn_split_window *w, rows made) {
    return (rows){made.begin * w->stride - w->before,
                  (made.end - 1) * w->stride - w->before + (w->filter - 1) * w->dilation + 1};
}

static rows inside(rows r, int64_t rows_in_all) {
    return (rows){r.begin < 0 ? 0 : r.begin, r.end > rows_in_all ? rows_in_all : r.end};
}

static int64_t reach(const arn_split_window *w) { return (w->filter - 1) * w->dilation + 1; }

/* What the rule SAME puts in front of so many rows of input, and how many rows come out. */
static int64_t same_front(const arn_split_window *w, int64_t in, int64_t *out) {
    *out = (in + w->stride - 1) / w->stride;
    const int64_t total = (*out - 1) * w->stride + reach(w) - in;
    return total > 0 ? total / 2 : 0;
}

/* Whether the rule SAME pads these rows of input as the windows of `made` need it. */
static bool same_pads(const arn_split_window *w, rows in, rows made) {
    int64_t out;
    const rows all = seen(w, made);
    const int64_t front = same_front(w, in.end - in.begin, &out);
    const int64_t behind = (out - 1) * w->stride + reach(w) - front - (in.end - in.begin);
    return out == made.end - made.begin && front == in.begin - all.begin &&
           (behind > 0 ? behind : 0) == all.end - in.end;
}

/* Whether an op that pads these rows of input by itself makes all of `made` right; `run` gets the
 * rows that it makes, the others wrong. */
static bool covers(const arn_split_window *w, rows in, int64_t height, rows made, rows *run) {
    int64_t out;
    const int64_t first = in.begin - same_front(w, in.end - in.begin, &out) + w->before;
    const rows all = seen(w, made);
    if (first < 0 || first % w->stride != 0) return false;
    *run = (rows){first / w->stride, first / w->stride + out};
    return run->begin <= made.begin && run->end >= made.end &&
           (all.begin >= in.begin || in.begin == 0) && (all.end <= in.end || in.end == height);
}

/* The fewest rows of input with which a cropped op makes `made`. More than a window of them never
 * help.
 */
static bool crop(const arn_split_window *w, int64_t height, rows made, rows *in, rows *run) {
    const rows least = inside(seen(w, made), height);
    const int64_t most = reach(w) + 2 * w->stride;
    for (int64_t more = 0; more <= 2 * most; more++) {
        for (int64_t above = 0; above <= more; above++) {
            *in = inside((rows){least.begin - above, least.end + more - above}, height);
            if (covers(w, *in, height, made, run)) return true;
        }
    }
    return false;
}

/* What op `k` needs of an image, and makes of that, so that it makes `made`. False if it cannot. */
static bool plan_op(const banding *b, uint32_t k, int64_t height_in, rows made, rows *in,
                    rows *run) {
    const arn_split_op *facts = facts_of(b, k);
    const arn_split_window *h = &facts->window[ARN_AXIS_H], *w = &facts->window[ARN_AXIS_W];
    const rows all = seen(h, made);
    *in = inside(all, height_in);
    *run = made;
    if (is_none(*in)) return false; /* it would see nothing but padding */
    if (!crops(b, k) || same_pads(h, *in, made)) return true;
    const bool padded = all.begin < in->begin || all.end > in->end || w->before + w->after > 0;
    return !padded || crop(h, height_in, made, in, run);
}

/* What op `k` wants of the images that it reads, for what it makes in a band. */
static bool ask(banding *b, uint32_t band, uint32_t k) {
    const size_t row = (size_t)band * b->stage->n_ops;
    const arenaut_op *op = op_of(b, k);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] == ARENAUT_NONE || arn_split_is_fixed(b->graph, op->inputs[i])) continue;
        if (!plan_op(b, k, height(b, op->inputs[i]), b->make[row + k], &b->input[row + k],
                     &b->run[row + k])) {
            return false;
        }
        const uint32_t from = maker(b->graph, b->stage, op->inputs[i]);
        if (from == ARENAUT_NONE) continue;
        b->want[row + from] = hull(b->want[row + from], b->input[row + k]);
    }
    return true;
}

/* `done`: per op, the rows made in earlier bands. */
static bool count_band(banding *b, uint32_t band, int64_t *done) {
    const uint32_t n = b->stage->n_ops;
    rows *want = b->want + (size_t)band * n, *make = b->make + (size_t)band * n;
    for (uint32_t k = 0; k < n; k++) {
        want[k] = make[k] = (rows){0, 0};
        if (facts_of(b, k)->of_constants || !is_result(b->graph, b->stage, k)) continue;
        const int64_t all = height(b, op_of(b, k)->outputs[0]);
        want[k] = own_rows(b->stage, band, all);
    }
    for (uint32_t k = n; k-- > 0;) {
        if (is_none(want[k])) continue;
        make[k] = want[k];
        if (keeps(b->stage) && make[k].begin < done[k]) {
            make[k].begin = done[k];
        }
        if (done[k] < want[k].end) done[k] = want[k].end;
        if (!is_none(make[k]) && !ask(b, band, k)) return false;
    }
    return true;
}

static bool count_rows(banding *b) {
    int64_t *done = arn_allocate_zeroed(b->graph->allocator, b->stage->n_ops, sizeof *done);
    bool counted = done != NULL;
    if (!done) b->draft->failed = true;
    for (uint32_t band = 0; band < b->stage->pieces && counted; band++) {
        counted = count_band(b, band, done);
    }
    arn_release(b->graph->allocator, done);
    return counted;
}

/* ---- putting ---- */

static uint32_t take(banding *b, const holder *from, rows wanted) {
    return arn_draft_slice(b->draft, from->tensor, wanted.begin - from->rows.begin,
                           wanted.end - wanted.begin);
}

/* The operands of op `k` in a band: rows of images, and constants as they are. */
static void gather(banding *b, uint32_t k, rows wanted, uint32_t *inputs) {
    const arenaut_op *op = op_of(b, k);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t id = op->inputs[i], from = maker(b->graph, b->stage, id);
        inputs[i] = id;
        if (id == ARENAUT_NONE || arn_split_is_fixed(b->graph, id)) continue;
        if (i > 0 && id == op->inputs[i - 1]) {
            inputs[i] = inputs[i - 1]; /* x * x */
            continue;
        }
        const holder whole = {id, {0, height(b, id)}};
        inputs[i] = take(b, from == ARENAUT_NONE ? &whole : &b->now[from], wanted);
    }
}

/* Lets op `k` make `made`. */
static void put_window(banding *b, uint32_t k, rows made, rows in, uint32_t *inputs,
                       uint32_t output) {
    const arn_split_op *facts = facts_of(b, k);
    const arn_split_window *h = &facts->window[ARN_AXIS_H], *w = &facts->window[ARN_AXIS_W];
    const rows all = seen(h, made);
    const arn_split_window *c = &facts->window[ARN_AXIS_C]; /* none but of a PAD */
    const int64_t pads[6] = {
        in.begin - all.begin, all.end - in.end, w->before, w->after, c->before, c->after};
    const uint32_t at = b->stage->first_op + k;
    const bool some = pads[0] != 0 || pads[1] != 0 || pads[2] != 0 || pads[3] != 0;
    if (facts->kind == ARN_SPLIT_PAD) {
        inputs[1] = arn_draft_paddings(b->draft, pads);
        arn_draft_part(b->draft, at, inputs, output, false);
    } else if (!some) {
        arn_draft_part(b->draft, at, inputs, output, facts->same);
    } else if (crops(b, k) || same_pads(h, in, made)) {
        arn_draft_part(b->draft, at, inputs, output, false);
    } else {
        inputs[0] = arn_draft_pad(b->draft, inputs[0], pads);
        arn_draft_part(b->draft, at, inputs, output, true);
    }
}

/* The op's own rows in this band. */
static void put_op(banding *b, uint32_t band, uint32_t k, holder *made) {
    const size_t row = (size_t)band * b->stage->n_ops;
    const arenaut_op *op = op_of(b, k);
    uint32_t *inputs = arn_allocate(b->graph->allocator, op->n_inputs, sizeof *inputs);
    const rows run = b->run[row + k];
    if (!inputs) {
        b->draft->failed = true;
        return;
    }
    gather(b, k, b->input[row + k], inputs);
    const holder all = {
        arn_draft_piece(b->draft, op->outputs[0], ARN_AXIS_H, 0, run.end - run.begin), run};
    put_window(b, k, run, b->input[row + k], inputs, all.tensor);
    arn_release(b->graph->allocator, inputs);
    made->rows = b->make[row + k];
    made->tensor = take(b, &all, made->rows);
}

/* The first rows that a later band wants of op `k`'s result; past the end: none. */
static int64_t next_wanted(const banding *b, uint32_t band, uint32_t k) {
    for (uint32_t later = band + 1; later < b->stage->pieces; later++) {
        const rows want = b->want[(size_t)later * b->stage->n_ops + k];
        if (!is_none(want)) return want.begin;
    }
    return INT64_MAX;
}

/* Joins what was kept with what is new, and keeps what is wanted again. */
static void keep(banding *b, uint32_t band, uint32_t k, holder made) {
    const uint32_t of = op_of(b, k)->outputs[0];
    const rows want = b->want[(size_t)band * b->stage->n_ops + k];
    holder *now = &b->now[k], *kept = &b->kept[k];
    if (is_none(made.rows)) {
        *now = *kept;
    } else if (want.begin < made.rows.begin) {
        const rows again = {want.begin, made.rows.begin};
        uint32_t both[] = {take(b, kept, again), made.tensor};
        *now = (holder){arn_draft_join(b->draft, ARN_AXIS_H, both, 2, ARENAUT_NONE, of),
                        {want.begin, made.rows.end}};
    } else {
        *now = made;
    }
    const rows wanted = {next_wanted(b, band, k), now->rows.end};
    if (!keeps(b->stage) || is_none(wanted)) return;
    *kept = (holder){take(b, now, wanted), wanted};
}

static void put_band(banding *b, uint32_t band) {
    const uint32_t n = b->stage->n_ops, pieces = b->stage->pieces;
    const size_t row = (size_t)band * n;
    for (uint32_t k = 0; k < n; k++) {
        holder made = {ARENAUT_NONE, {0, 0}};
        if (is_none(b->want[row + k])) continue;
        if (!is_none(b->make[row + k])) put_op(b, band, k, &made);
        keep(b, band, k, made);
        if (!is_result(b->graph, b->stage, k)) continue;
        const int64_t all = height(b, op_of(b, k)->outputs[0]);
        b->bands[(size_t)k * pieces + band] = take(b, &b->now[k], own_rows(b->stage, band, all));
    }
}

static void put_all(banding *b) {
    const uint32_t n = b->stage->n_ops, pieces = b->stage->pieces;
    for (uint32_t k = 0; k < n; k++) {
        if (facts_of(b, k)->of_constants) arn_draft_copy(b->draft, b->stage->first_op + k);
    }
    for (uint32_t band = 0; band < pieces; band++) {
        b->start[band] = b->draft->n_ops;
        put_band(b, band);
    }
    b->start[pieces] = b->draft->n_ops;
    for (uint32_t k = 0; k < n; k++) {
        if (facts_of(b, k)->of_constants || !is_result(b->graph, b->stage, k)) continue;
        const uint32_t whole = op_of(b, k)->outputs[0];
        arn_draft_join(b->draft, ARN_AXIS_H, b->bands + (size_t)k * pieces, pieces, whole, whole);
    }
    if (calls(b->stage)) arn_draft_call_bands(b->draft, b->start, pieces);
}

bool arn_split_put_rows(arn_draft *draft, const arenaut_split_stage *stage) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    const size_t n = stage->n_ops, all = n * stage->pieces;
    banding b = {
        .draft = draft,
        .graph = draft->graph,
        .stage = stage,
        .want = arn_allocate(allocator, all, sizeof(rows)),
        .make = arn_allocate(allocator, all, sizeof(rows)),
        .run = arn_allocate(allocator, all, sizeof(rows)),
        .input = arn_allocate(allocator, all, sizeof(rows)),
        .now = arn_allocate_zeroed(allocator, n, sizeof(holder)),
        .kept = arn_allocate_zeroed(allocator, n, sizeof(holder)),
        .bands = arn_allocate_zeroed(allocator, all, sizeof(uint32_t)),
        .start = arn_allocate(allocator, (size_t)stage->pieces + 1, sizeof(uint32_t)),
    };
    const bool fits = b.want && b.make && b.run && b.input && b.now && b.kept && b.bands && b.start;
    if (!fits) draft->failed = true;
    const bool counted = fits && count_rows(&b);
    if (counted) put_all(&b);
    else draft->refused = "a band of it would have to be padded as no op can";
    arn_release(allocator, b.want);
    arn_release(allocator, b.make);
    arn_release(allocator, b.run);
    arn_release(allocator, b.input);
    arn_release(allocator, b.now);
    arn_release(allocator, b.kept);
    arn_release(allocator, b.bands);
    arn_release(allocator, b.start);
    return !draft->refused && !draft->failed;
}
