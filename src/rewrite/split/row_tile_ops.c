/* Emission of row tiles: the ops of a group once per tile, on the rows that row_tiles.c has
 * counted.
 *
 * A window that reaches past an edge of the image needs padding there, and none at the cut edges of
 * a tile. Ops pad all four sides by one rule, so a tile is padded by an op of its own, unless the
 * rule happens to give the same. Or it is cropped: the op pads by itself, gets some more rows of
 * halo, and the rows of its result that saw a wrong edge are left out. A pool counts the elements
 * that it sees, and is always cropped. */
#include "core/memory.h"
#include "rewrite/split/tile_groups.h"
#include "rewrite/split/tiled_draft.h"

/* Some rows of a tensor, in a tensor of the draft. */
typedef struct holder {
    uint32_t tensor;
    arn_rows rows;
} holder;

typedef struct banding {
    arn_draft *draft;
    const arn_bands *counted;
    const arn_split_graph *graph;
    const arenaut_split_stage *stage;
    holder *now;      /* per op: its result in this band */
    holder *kept;     /* per op: what was kept of it */
    uint32_t *bands;  /* per op, then band: pieces of a result of the stage */
    uint32_t *start;  /* per band, and where the last ends: the op of the draft */
    uint32_t *inputs; /* of the op at work */
} banding;

static const arenaut_op *op_of(const banding *b, uint32_t k) {
    return &b->graph->program->ops[b->stage->first_op + k];
}

static const arn_split_op *facts_of(const banding *b, uint32_t k) {
    return &b->graph->ops[b->stage->first_op + k];
}

static int64_t height(const banding *b, uint32_t tensor) {
    return b->graph->program->tensors[tensor].dims[ARN_AXIS_H];
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
        if (arn_bands_call(stage) && reads_computed_constants(graph, at)) {
            return "it reads weights that ops compute, and each call would copy them";
        }
        if (!arn_band_is_result(graph, stage, k)) continue;
        some = true;
        const uint32_t made = graph->program->ops[at].outputs[0];
        const int64_t all = graph->program->tensors[made].dims[ARN_AXIS_H];
        if (all < (int64_t)stage->pieces) return "a result of it has fewer rows than pieces";
        if (arn_rows_none(arn_band_own(stage, stage->pieces - 1, all))) {
            return "fewer pieces of equal height have all rows of a result of it";
        }
    }
    return some ? NULL : "nobody needs its results";
}

static uint32_t take(banding *b, const holder *from, arn_rows wanted) {
    return arn_draft_slice(b->draft, from->tensor, wanted.begin - from->rows.begin,
                           wanted.end - wanted.begin);
}

/* The operands of op `k` in a band: rows of images, and constants as they are. */
static void gather(banding *b, uint32_t k, arn_rows wanted, uint32_t *inputs) {
    const arenaut_op *op = op_of(b, k);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t id = op->inputs[i], from = arn_band_maker(b->graph, b->stage, id);
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
static void put_window(banding *b, uint32_t k, arn_rows made, arn_rows in, uint32_t *inputs,
                       uint32_t output) {
    const arn_split_op *facts = facts_of(b, k);
    const arn_split_window *h = &facts->window[ARN_AXIS_H], *w = &facts->window[ARN_AXIS_W];
    const arn_rows all = arn_rows_seen(h, made);
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
    } else if (arn_bands_crop(b->counted, k) || arn_rows_same_pads(h, in, made)) {
        arn_draft_part(b->draft, at, inputs, output, false);
    } else {
        inputs[0] = arn_draft_pad(b->draft, inputs[0], pads);
        arn_draft_part(b->draft, at, inputs, output, true);
    }
}

/* The op's own rows in this band. */
static holder put_op(banding *b, const arn_band_op *band, uint32_t k) {
    gather(b, k, band->input, b->inputs);
    const uint32_t made = arn_draft_piece(b->draft, op_of(b, k)->outputs[0], ARN_AXIS_H, 0,
                                          arn_rows_count(band->run));
    put_window(b, k, band->run, band->input, b->inputs, made);
    const holder all = {made, band->run};
    return (holder){take(b, &all, band->make), band->make};
}

/* The first rows that a later band wants of op `k`'s result; past the end: none. */
static int64_t next_wanted(const banding *b, uint32_t band, uint32_t k) {
    for (uint32_t later = band + 1; later < b->stage->pieces; later++) {
        const arn_rows want = arn_band(b->counted, later, k)->want;
        if (!arn_rows_none(want)) return want.begin;
    }
    return INT64_MAX;
}

/* Joins what was kept with what is new, and keeps what is wanted again. */
static void keep(banding *b, uint32_t band, uint32_t k, holder made) {
    const uint32_t of = op_of(b, k)->outputs[0];
    const arn_rows want = arn_band(b->counted, band, k)->want;
    holder *now = &b->now[k], *kept = &b->kept[k];
    if (arn_rows_none(made.rows)) {
        *now = *kept;
    } else if (want.begin < made.rows.begin) {
        const arn_rows again = {want.begin, made.rows.begin};
        uint32_t both[] = {take(b, kept, again), made.tensor};
        *now = (holder){arn_draft_join(b->draft, ARN_AXIS_H, both, 2, ARENAUT_NONE, of),
                        {want.begin, made.rows.end}};
    } else {
        *now = made;
    }
    const arn_rows wanted = {next_wanted(b, band, k), now->rows.end};
    if (!arn_bands_keep(b->stage) || arn_rows_none(wanted)) return;
    *kept = (holder){take(b, now, wanted), wanted};
}

static void put_band(banding *b, uint32_t band) {
    const uint32_t n = b->stage->n_ops, pieces = b->stage->pieces;
    for (uint32_t k = 0; k < n; k++) {
        const arn_band_op *it = arn_band(b->counted, band, k);
        holder made = {ARENAUT_NONE, {0, 0}};
        if (arn_rows_none(it->want)) continue;
        if (!arn_rows_none(it->make)) made = put_op(b, it, k);
        keep(b, band, k, made);
        if (!b->counted->results[k].is_result) continue;
        const arn_rows own = arn_band_own(b->stage, band, b->counted->results[k].height);
        b->bands[(size_t)k * pieces + band] = take(b, &b->now[k], own);
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
        if (!b->counted->results[k].is_result) continue;
        const uint32_t whole = op_of(b, k)->outputs[0];
        arn_draft_join(b->draft, ARN_AXIS_H, b->bands + (size_t)k * pieces, pieces, whole, whole);
    }
    if (arn_bands_call(b->stage)) arn_draft_call_bands(b->draft, b->start, pieces);
}

static uint32_t most_inputs(const banding *b) {
    uint32_t most = 0;
    for (uint32_t k = 0; k < b->stage->n_ops; k++) {
        if (op_of(b, k)->n_inputs > most) most = op_of(b, k)->n_inputs;
    }
    return most;
}

void arn_split_put_bands(arn_draft *draft, const arn_bands *counted) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    const size_t n = counted->stage->n_ops, pieces = counted->stage->pieces;
    banding b = {
        .draft = draft,
        .counted = counted,
        .graph = counted->graph,
        .stage = counted->stage,
        .now = arn_allocate_zeroed(allocator, 2 * n, sizeof(holder)),
        .bands = arn_allocate_zeroed(allocator, (n + 1) * pieces + 1, sizeof(uint32_t)),
    };
    b.inputs = arn_allocate(allocator, most_inputs(&b), sizeof *b.inputs);
    if (b.now && b.bands && b.inputs) {
        b.kept = b.now + n;
        b.start = b.bands + n * pieces;
        put_all(&b);
    } else {
        draft->failed = true;
    }
    arn_release(allocator, b.now);
    arn_release(allocator, b.bands);
    arn_release(allocator, b.inputs);
}

bool arn_split_put_rows(arn_draft *draft, const arenaut_split_stage *stage) {
    arn_bands counted = {0};
    if (arn_bands_count(&counted, draft->graph, stage)) arn_split_put_bands(draft, &counted);
    else draft->refused = "a band of it would have to be padded as no op can";
    if (counted.failed) draft->failed = true;
    arn_bands_free(&counted);
    return !draft->refused && !draft->failed;
}
