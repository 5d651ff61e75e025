/* Geometry of row tiles with halo: the rows of every tensor of a group of ops that each tile needs,
 * computes, or has in a line buffer, counted backward from the results (fused-layer tiling: Alwani
 * et al. 2016; patch-based inference: MCUNetV2, Lin et al. 2021). Nothing here knows operators or
 * kernels. */
#include "rewrite/split/tile_groups.h"

#include "core/memory.h"

enum { MOST_PASSES = 8 }; /* for each tile of the results */

#define ARN_TILE_IS_LOW                                                              \
    "a row tile of it is so low that its kernel makes other bits, which --rounding " \
    "allow permits"

static arn_rows hull(arn_rows a, arn_rows b) {
    if (arn_rows_none(a)) return b;
    if (arn_rows_none(b)) return a;
    return (arn_rows){a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

bool arn_row_tiles_keep(const arenaut_split_stage *group) {
    return group->mode == ARENAUT_SPLIT_KEPT || group->mode == ARENAUT_SPLIT_KEPT_CALLED ||
           group->mode == ARENAUT_SPLIT_KEPT_CROPPED;
}

bool arn_row_tiles_call(const arenaut_split_stage *group) {
    return group->mode == ARENAUT_SPLIT_ROWS_CALLED || group->mode == ARENAUT_SPLIT_KEPT_CALLED;
}

/* Tiles that are to be alike have equal heights, but for the last. */
arn_rows arn_row_tile_own(const arenaut_split_stage *group, uint32_t tile, int64_t all) {
    const int64_t n_tiles = group->pieces, step = (all + n_tiles - 1) / n_tiles;
    if (!arn_row_tiles_call(group))
        return (arn_rows){all * tile / n_tiles, all * (tile + 1) / n_tiles};
    return (arn_rows){tile * step, all < (tile + 1) * step ? all : (tile + 1) * step};
}

bool arn_row_tiles_pace(const arn_tile_graph *graph, const arenaut_split_stage *group) {
    const uint32_t least = graph->dialect->own_heights;
    return least > 0 && group->n_ops >= least && arn_row_tiles_keep(group);
}

static const arn_tile_op *facts_of(const arn_row_tiles *b, uint32_t op) {
    return &b->graph->ops[b->group->first_op + op];
}

uint32_t arn_row_tiles_sweep(const arn_row_tiles *b, uint32_t tile) {
    uint32_t sweep = 0;
    while (sweep + 1 < b->n_sweeps && tile >= b->first_tile[sweep + 1]) sweep++;
    return sweep;
}

bool arn_row_tiles_makes(const arn_row_tiles *b, uint32_t sweep, uint32_t op) {
    const arn_tiled_result *it = &b->results[op];
    return facts_of(b, op)->reduces ? it->ready == sweep + 1
                                    : it->is_result && sweep + 1 == b->n_sweeps;
}

arn_rows arn_row_tile_result(const arn_row_tiles *b, uint32_t tile, uint32_t op) {
    const uint32_t sweep = arn_row_tiles_sweep(b, tile);
    if (!arn_row_tiles_makes(b, sweep, op)) return (arn_rows){0, 0};
    return arn_row_tiles_pace(b->graph, b->group)
               ? arn_row_tile(b, tile, op)->make
               : arn_row_tile_own(b->group, tile - b->first_tile[sweep], b->results[op].height);
}

bool arn_row_tiles_crop(const arn_row_tiles *b, uint32_t op) {
    const arenaut_split_mode mode = b->group->mode;
    const bool asked = mode == ARENAUT_SPLIT_CROPPED || mode == ARENAUT_SPLIT_KEPT_CROPPED;
    return facts_of(b, op)->same && (asked || facts_of(b, op)->counts_zeroes);
}

bool arn_tile_is_result(const arn_tile_graph *graph, const arenaut_split_stage *group,
                        uint32_t op) {
    const uint32_t at = group->first_op + op;
    if (arn_tile_runs_whole(&graph->ops[at])) return false;
    const uint32_t last = arn_tile_last_use(graph, graph->program->ops[at].outputs[0]);
    return last != ARENAUT_NONE && last >= group->first_op + group->n_ops;
}

/* ---- counting ---- */

/* Input rows (with halo) needed to produce the rows `op->make`. False if no op can. */
static bool find_input_rows(arn_row_tiles *b, uint32_t k, int64_t height, arn_row_tile_op *op) {
    const arn_tile_op *facts = facts_of(b, k);
    const arn_tile_window *h = &facts->window[ARN_AXIS_H], *w = &facts->window[ARN_AXIS_W];
    const arn_rows all = arn_rows_with_halo(h, op->make);
    op->input = arn_rows_inside(all, height);
    op->run = op->make;
    if (facts->reflects)
        arn_rows_reflect(h, height, facts->repeats_edge, op->make, &op->input, &op->run);
    if (arn_rows_none(op->input)) return false; /* it would see nothing but padding */
    const bool interpolates = facts->in_blocks && h->filter == 2 * h->up;
    if (interpolates && op->input.begin == 0 && op->input.end == 1 && height > 1)
        op->input.end = 2; /* the first rows lie between rows 0 and 1, with no part of row 1 */
    if (facts->in_blocks) op->run = (arn_rows){op->input.begin * h->up, op->input.end * h->up};
    if (facts->mirrors) arn_rows_mirror(h, height, op->make, &op->input, &op->run);
    if (!arn_row_tiles_crop(b, k) || arn_rows_same_pads(h, op->input, op->make)) return true;
    const bool padded =
        all.begin < op->input.begin || all.end > op->input.end || w->before + w->after > 0;
    return !padded || arn_rows_crop(h, height, op->make, &op->input, &op->run, &b->places);
}

/* The fewest rows from `begin` on that the kernel makes the same bits of, where so many are to be
 * made. */
static int64_t rows_by_rule(const arn_tile_op *facts, int64_t begin, int64_t rows) {
    const int64_t unit = facts->window[ARN_AXIS_H].up > 1 ? facts->window[ARN_AXIS_H].up : 1;
    const bool aligned = facts->also != 0 && begin % unit == 0;
    for (int64_t n = (rows + unit - 1) / unit;
         aligned && n < ARN_TILE_ALSO && n * unit < facts->least; n++) {
        if (facts->also >> n & 1) return n * unit;
    }
    if (rows < facts->least) rows = facts->least;
    return facts->multiple > 1 ? (rows + facts->multiple - 1) / facts->multiple * facts->multiple
                               : rows;
}

/* As many rows as are made at once; with rounding allowed any number. */
static int64_t rows_for(const arn_row_tiles *b, uint32_t k, int64_t begin, int64_t rows) {
    return b->graph->rounding ? rows : rows_by_rule(facts_of(b, k), begin, rows);
}

/* The tile is so low that its kernel makes other bits, which is remembered where it is allowed. */
static bool is_low(arn_row_tiles *b, uint32_t k, const arn_row_tile_op *op) {
    const int64_t rows = arn_rows_count(op->run);
    const bool low =
        rows < rows_by_rule(facts_of(b, k), op->run.begin, rows) && rows < b->results[k].height;
    if (low) b->results[k].is_rounded = true;
    return low && !b->graph->rounding;
}

/* Adds the input rows of op `k` to the rows that the tile needs of its producers. */
static bool require_inputs(arn_row_tiles *b, arn_row_tile_op *tile, uint32_t k) {
    const arenaut_op *op = &b->graph->program->ops[b->group->first_op + k];
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t id = op->inputs[i];
        if (id == ARENAUT_NONE || arn_tile_is_fixed(b->graph, id)) continue;
        const uint32_t from = arn_tile_producer(b->graph, b->group, id);
        if (arn_tile_repeats_row(b->graph, b->group->first_op + k, id)) {
            if (from != ARENAUT_NONE) tile[from].want = (arn_rows){0, 1};
            continue;
        }
        if (!find_input_rows(b, k, arn_tile_height(b->graph, id), &tile[k])) {
            b->refused = "a row tile of it needs a padding that no op can do";
            return false;
        }
        if (from != ARENAUT_NONE) tile[from].want = hull(tile[from].want, tile[k].input);
    }
    return true;
}

/* Rows that are to be made become as many as the kernel needs, below them, or above at the end of
 * the image: line buffers keep those below for later tiles, which then make none. */
static void heighten(const arn_row_tiles *b, uint32_t k, arn_row_tile_op *op) {
    const int64_t height = b->results[k].height, begin = op->make.begin;
    int64_t rows = rows_for(b, k, begin, arn_rows_count(op->make));
    if (arn_rows_count(op->make) == rows && !arn_row_tiles_pace(b->graph, b->group)) return;
    for (int64_t left = height - begin - rows; /* too few may be left for a later tile */
         arn_row_tiles_keep(b->group) && left > 0 && rows_for(b, k, height - left, left) > left;
         left = height - begin - rows) {
        rows = rows_for(b, k, begin, rows + 1);
    }
    op->make.end = begin + rows < height ? begin + rows : height;
    if (arn_rows_count(op->make) < rows) op->make.begin = height > rows ? height - rows : 0;
    op->want = hull(op->want, op->make);
}

/* Of the rows that a tile needs, those that line buffers have not. A reader that leaves rows out,
 * by its stride, may leave out some that a later tile shows in reverse: these are computed, too. */
static arn_rows not_kept(const arn_row_tiles *b, arn_rows want, int64_t done) {
    if (!arn_row_tiles_keep(b->group)) return want;
    return (arn_rows){want.begin < done || b->reflects ? done : want.begin, want.end};
}

/* Number `tile` of its sweep. */
static bool count_tile(arn_row_tiles *b, uint32_t sweep, uint32_t own) {
    const uint32_t number = b->first_tile[sweep] + own;
    const uint32_t n = b->group->n_ops;
    arn_row_tile_op *tile = b->ops + (size_t)number * n;
    for (uint32_t k = 0; k < n; k++) {
        tile[k] = (arn_row_tile_op){{0, 0}, {0, 0}, {0, 0}, {0, 0}, INT64_MAX};
        if (!arn_row_tiles_makes(b, sweep, k)) continue;
        tile[k].want = arn_row_tile_own(b->group, own, b->results[k].height);
    }
    for (uint32_t k = n; k-- > 0;) {
        int64_t *done = &b->results[k].done;
        if (arn_rows_none(tile[k].want)) continue;
        tile[k].make = not_kept(b, tile[k].want, *done);
        if (arn_rows_none(tile[k].make)) continue;
        tile[k].want = hull(tile[k].want, tile[k].make);
        heighten(b, k, &tile[k]);
        if (*done < tile[k].make.end) *done = tile[k].make.end;
        b->results[k].last = number;
        if (!require_inputs(b, tile, k)) return false;
        if (!is_low(b, k, &tile[k])) continue;
        b->refused = ARN_TILE_IS_LOW;
        return false;
    }
    return true;
}

/* Lets the tile before know which rows this one and later ones need. A later one may need rows
 * above those of this one, near an edge that is reflected: a line buffer hands them on. */
static void look_ahead(arn_row_tiles *b, uint32_t tile) {
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        arn_row_tile_op *it = &b->ops[(size_t)tile * b->group->n_ops + k];
        int64_t first = it->next;
        if (!arn_rows_none(it->want)) {
            if (it->want.begin < first) first = it->want.begin;
            if (arn_row_tiles_keep(b->group)) it->want.begin = first;
        }
        b->ops[(size_t)(tile - 1) * b->group->n_ops + k].next = first;
    }
}

/* Bytes of live-in images that the op is the last to read. */
static uint64_t ended_by(const arn_tile_graph *graph, const arenaut_split_stage *group,
                         uint32_t at) {
    const arenaut_op *op = &graph->program->ops[at];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t == ARENAUT_NONE || arn_tile_is_fixed(graph, t) || arn_tile_last_use(graph, t) != at ||
            (i > 0 && op->inputs[i - 1] == t)) {
            continue;
        }
        if (arn_tile_maker(graph, group, t) == ARENAUT_NONE) {
            bytes += arn_tile_planned_bytes(graph, t);
        }
    }
    return bytes;
}

static arn_tiled_result result_of(const arn_tile_graph *graph, const arenaut_split_stage *group,
                                  uint32_t k) {
    const uint32_t at = group->first_op + k;
    if (arn_tile_runs_whole(&graph->ops[at])) return (arn_tiled_result){0};
    const arenaut_tensor *made = &graph->program->tensors[graph->program->ops[at].outputs[0]];
    const int64_t height = arn_tile_rows(graph, at);
    const bool reduces = graph->ops[at].reduces;
    return (arn_tiled_result){.height = height,
                              .row_bytes = reduces ? made->bytes : made->bytes / (uint64_t)height,
                              .ends = ended_by(graph, group, at),
                              .is_result = arn_tile_is_result(graph, group, k)};
}

/* Sweeps behind which all that the op reads is there. */
static uint32_t find_ready(const arn_row_tiles *b, uint32_t k) {
    const arenaut_op *op = &b->graph->program->ops[b->group->first_op + k];
    uint32_t ready = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t from = arn_tile_maker(b->graph, b->group, op->inputs[i]);
        if (from != ARENAUT_NONE && ready < b->results[from].ready) ready = b->results[from].ready;
    }
    return ready + (facts_of(b, k)->reduces != ARN_MOVE_NONE);
}

/* An op on constants must run before the readers of its result: a reduction reads it in the
 * sweep behind which its own result is there. */
static void run_before(arn_row_tiles *b, uint32_t k) {
    const arenaut_op *op = &b->graph->program->ops[b->group->first_op + k];
    const uint32_t latest = b->results[k].ready - (facts_of(b, k)->reduces != ARN_MOVE_NONE);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t id = op->inputs[i];
        if (id == ARENAUT_NONE || !arn_tile_is_fixed(b->graph, id)) continue;
        const uint32_t maker = b->graph->uses[id].last_def;
        if (maker == ARENAUT_NONE || maker < b->group->first_op) continue;
        arn_tiled_result *it = &b->results[maker - b->group->first_op];
        if (it->ready > latest) it->ready = latest;
    }
}

/* Ops on constants run as late as they may, and none of them behind another that it was in front
 * of, or an op that is squeezed. */
static void delay_constants(arn_row_tiles *b) {
    uint32_t latest = 0;
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        if (latest < b->results[k].ready) latest = b->results[k].ready;
    }
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        if (facts_of(b, k)->of_constants) b->results[k].ready = latest;
    }
    for (uint32_t k = b->group->n_ops; k-- > 0;) {
        arn_tiled_result *it = &b->results[k];
        if (facts_of(b, k)->of_constants && it->ready > latest) it->ready = latest;
        if (arn_tile_runs_whole(facts_of(b, k)) && latest > it->ready) latest = it->ready;
        run_before(b, k);
    }
}

/* The sweeps that there must be. Ops that run whole keep the sequence that they had. */
static bool find_sweeps(arn_row_tiles *b) {
    uint32_t before = 0;
    b->n_sweeps = 1;
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        const arn_tiled_result *it = &b->results[k];
        const uint32_t needed = it->ready + it->is_result;
        if (arn_tile_runs_whole(facts_of(b, k)) && it->ready < before) {
            b->refused = "ops between a reduction and its readers would change places";
            return false;
        }
        if (arn_tile_runs_whole(facts_of(b, k))) before = it->ready;
        else if (facts_of(b, k)->reduces && b->n_sweeps < it->ready) b->n_sweeps = it->ready;
        else if (!facts_of(b, k)->reduces && b->n_sweeps < needed) b->n_sweeps = needed;
    }
    if (b->n_sweeps > 1 && arn_row_tiles_call(b->group)) {
        b->refused = "an op in it reads a reduction of all rows, which calls cannot run behind";
    } else if (b->n_sweeps > ARN_MOST_SWEEPS) {
        b->refused =
            "its tiles would go over all rows more than four times, since each reduction "
            "in it needs those before";
    }
    return !b->refused;
}

/* Of one range, many numbers of tiles and modes are counted. */
static void take_results(arn_row_tiles *b) {
    const arenaut_split_stage *group = b->group;
    const bool known = b->first_op == group->first_op && b->n_ops == group->n_ops;
    b->reflects = false;
    for (uint32_t k = 0; k < group->n_ops; k++) {
        b->reflects = b->reflects || facts_of(b, k)->reflects;
        if (!known) {
            b->results[k] = result_of(b->graph, group, k);
            b->results[k].ready = find_ready(b, k);
        }
        b->results[k].is_rounded = facts_of(b, k)->norm == ARN_NORM_ITSELF;
        b->results[k].last = ARENAUT_NONE;
    }
    if (!known) delay_constants(b);
    b->first_op = group->first_op;
    b->n_ops = group->n_ops;
}

/* ---- passes ---- */

/* Demand-driven line buffers: to compute rows of an op, those of its operands are computed as far
 * as it needs them, each op in steps of its own height. So the top of a U-Net runs in many low
 * tiles for each tall one that its bottom must have. */

static arn_row_tile_op *new_tile(arn_row_tiles *b) {
    const uint32_t n = b->group->n_ops;
    const uint64_t all = ((uint64_t)b->n_tiles + 1) * n;
    if (!arn_grow(b->graph->allocator, (void **)&b->ops, &b->ops_capacity, all, sizeof *b->ops)) {
        b->failed = true;
        return NULL;
    }
    arn_row_tile_op *tile = b->ops + (size_t)b->n_tiles++ * n;
    for (uint32_t k = 0; k < n; k++) tile[k] = (arn_row_tile_op){.next = INT64_MAX};
    b->latest = 0;
    return tile;
}

static void need_rows(arn_row_tile_op *tile, arn_rows rows) { tile->want = hull(tile->want, rows); }

/* Puts the rows of op `k` into the last pass, or into a new one if that has gone past the op. */
static bool add_to_pass(arn_row_tiles *b, uint32_t k, const arn_row_tile_op *made) {
    const arenaut_op *op = &b->graph->program->ops[b->group->first_op + k];
    arn_row_tile_op *tile = b->ops + (size_t)(b->n_tiles - 1) * b->group->n_ops;
    if (k < b->latest || !arn_rows_none(tile[k].make)) tile = new_tile(b);
    if (!tile) return false;
    const arn_rows want = hull(tile[k].want, made->make);
    tile[k] = *made;
    tile[k].want = want;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t from = arn_tile_producer(b->graph, b->group, op->inputs[i]);
        if (from == ARENAUT_NONE) continue;
        const bool repeats = arn_tile_repeats_row(b->graph, b->group->first_op + k, op->inputs[i]);
        need_rows(&tile[from], repeats ? (arn_rows){0, 1} : made->input);
    }
    b->latest = k;
    b->results[k].done = made->make.end;
    b->results[k].last = b->n_tiles - 1;
    return true;
}

/* Rows of an op that a reader needs, while those of its own operands are computed. */
struct arn_row_demand {
    uint32_t op, input; /* the operand that comes next */
    int64_t end;        /* of the rows */
    bool begun;
    arn_row_tile_op made; /* the rows under way */
};

/* Of the `needed` rows those that are computed next: about one step. */
static arn_rows next_rows(const arn_tiled_result *result, int64_t needed) {
    const int64_t step = result->step, steps = (needed + step / 2) / step;
    const int64_t rows = steps > 0 ? (needed + steps - 1) / steps : (step + 1) / 2;
    const int64_t end = result->done + rows;
    return (arn_rows){result->done, end < result->height ? end : result->height};
}

/* The op of the next operand of a demand, and how far it must have been computed; ARENAUT_NONE: it
 * has been, or there is none. */
static uint32_t next_operand(arn_row_tiles *b, struct arn_row_demand *d, int64_t *end) {
    const uint32_t at = b->group->first_op + d->op;
    const uint32_t id = b->graph->program->ops[at].inputs[d->input++];
    if (id == ARENAUT_NONE || arn_tile_is_fixed(b->graph, id)) return ARENAUT_NONE;
    const bool repeats = arn_tile_repeats_row(b->graph, at, id);
    if (!repeats && !find_input_rows(b, d->op, arn_tile_height(b->graph, id), &d->made)) {
        b->refused = "a row tile of it needs a padding that no op can do";
        return ARENAUT_NONE;
    }
    const uint32_t from = arn_tile_producer(b->graph, b->group, id);
    *end = repeats ? 1 : d->made.input.end;
    return from == ARENAUT_NONE || b->results[from].done >= *end ? ARENAUT_NONE : from;
}

/* Puts the rows under way into a pass, with all that they need before them. */
static bool finish_rows(arn_row_tiles *b, struct arn_row_demand *d) {
    d->begun = false;
    if (is_low(b, d->op, &d->made)) {
        b->refused = ARN_TILE_IS_LOW;
    } else if (b->n_tiles > MOST_PASSES * b->group->pieces * b->n_sweeps) {
        b->refused = "its ops would run in more turns than it has tiles by far";
    }
    return !b->refused && add_to_pass(b, d->op, &d->made);
}

static void begin_rows(arn_row_tiles *b, struct arn_row_demand *d) {
    d->made = (arn_row_tile_op){.next = INT64_MAX};
    d->made.make = next_rows(&b->results[d->op], d->end - b->results[d->op].done);
    heighten(b, d->op, &d->made);
    d->input = 0;
    d->begun = true;
}

/* Depth first from the result to its operands. The stack is the caller's, as deep as the longest
 * chain of ops. */
static bool compute_to(arn_row_tiles *b, uint32_t k, int64_t end) {
    const arenaut_op *ops = &b->graph->program->ops[b->group->first_op];
    uint32_t depth = 0;
    b->demands[0] = (struct arn_row_demand){.op = k, .end = end};
    while (!b->refused) {
        struct arn_row_demand *d = &b->demands[depth];
        if (!d->begun && b->results[d->op].done >= d->end) {
            if (depth-- == 0) return true;
            continue;
        }
        if (!d->begun) begin_rows(b, d);
        if (d->input == ops[d->op].n_inputs) {
            if (!finish_rows(b, d)) return false;
            continue;
        }
        const uint32_t from = next_operand(b, d, &end);
        if (from != ARENAUT_NONE) {
            b->demands[++depth] = (struct arn_row_demand){.op = from, .end = end};
        }
    }
    return false;
}

/* Rows that line buffers hold: those that this pass or a later one of the sweep reads. */
static void keep_rows(arn_row_tiles *b, uint32_t sweep) {
    const uint32_t n = b->group->n_ops;
    for (uint32_t k = 0; k < n; k++) {
        int64_t done = 0;
        for (uint32_t tile = b->first_tile[sweep]; tile < b->first_tile[sweep + 1]; tile++) {
            arn_row_tile_op *it = &b->ops[(size_t)tile * n + k];
            if (!arn_rows_none(it->make)) done = it->make.end;
            const bool needed = !arn_rows_none(it->want) && it->want.begin < it->next;
            const int64_t first = needed ? it->want.begin : it->next;
            it->want = first < done ? (arn_rows){first, done} : it->make;
        }
    }
}

/* Rows that op `k` computes at a time: as many as its share in each tile of the results, or as its
 * kernel needs. Ops that need no halo follow those that they read. */
static int64_t step_of(const arn_row_tiles *b, uint32_t k) {
    const arenaut_op *op = &b->graph->program->ops[b->group->first_op + k];
    const arn_tile_op *facts = facts_of(b, k);
    const int64_t height = b->results[k].height, pieces = b->group->pieces;
    int64_t step = rows_for(b, k, 0, (height + pieces - 1) / pieces);
    if (facts->kind != ARN_TILE_ELEMENTWISE && facts->kind != ARN_TILE_JOIN) return step;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t from = arn_tile_producer(b->graph, b->group, op->inputs[i]);
        if (from != ARENAUT_NONE && step < b->results[from].step) step = b->results[from].step;
    }
    return step;
}

static bool count_passes(arn_row_tiles *b, uint32_t sweep) {
    const arenaut_split_stage *group = b->group;
    if (!new_tile(b)) return false;
    for (uint32_t tile = 0; tile < group->pieces; tile++) {
        for (uint32_t k = 0; k < group->n_ops; k++) {
            if (!arn_row_tiles_makes(b, sweep, k)) continue;
            if (!compute_to(b, k, arn_row_tile_own(group, tile, b->results[k].height).end)) {
                return false;
            }
        }
    }
    return true;
}

static bool begin_passes(arn_row_tiles *b) {
    if (!arn_grow(b->graph->allocator, (void **)&b->demands, &b->demands_capacity, b->group->n_ops,
                  sizeof *b->demands)) {
        b->failed = true;
        return false;
    }
    for (uint32_t k = 0; k < b->group->n_ops; k++) b->results[k].step = step_of(b, k);
    return true;
}

/* ---- sweeps ---- */

static bool count_tiles(arn_row_tiles *b, uint32_t sweep) {
    const uint32_t n = b->group->pieces;
    const uint64_t all = (uint64_t)b->group->n_ops * ((uint64_t)b->n_tiles + n);
    if (!arn_grow(b->graph->allocator, (void **)&b->ops, &b->ops_capacity, all, sizeof *b->ops)) {
        b->failed = true;
        return false;
    }
    b->n_tiles += n;
    for (uint32_t own = 0; own < n; own++) {
        if (!count_tile(b, sweep, own)) return false;
    }
    return true;
}

static bool count_sweep(arn_row_tiles *b, uint32_t sweep) {
    const bool paced = arn_row_tiles_pace(b->graph, b->group);
    b->first_tile[sweep] = b->n_tiles;
    for (uint32_t k = 0; k < b->group->n_ops; k++) b->results[k].done = 0;
    if (!(paced ? count_passes(b, sweep) : count_tiles(b, sweep))) return false;
    b->first_tile[sweep + 1] = b->n_tiles;
    for (uint32_t tile = b->n_tiles; tile-- > b->first_tile[sweep] + 1;) look_ahead(b, tile);
    if (paced) keep_rows(b, sweep);
    return true;
}

bool arn_row_tiles_count(arn_row_tiles *b, const arn_tile_graph *graph,
                         const arenaut_split_stage *group) {
    b->graph = graph;
    b->group = group;
    b->n_tiles = 0;
    b->refused = NULL;
    if (!arn_grow(graph->allocator, (void **)&b->results, &b->results_capacity, group->n_ops,
                  sizeof *b->results)) {
        b->failed = true;
        return false;
    }
    take_results(b);
    bool counted = find_sweeps(b) && (!arn_row_tiles_pace(graph, group) || begin_passes(b));
    for (uint32_t sweep = 0; sweep < b->n_sweeps && counted; sweep++) {
        counted = count_sweep(b, sweep);
    }
    return counted;
}

uint32_t arn_row_tiles_repeats(const arn_row_tiles *b, uint32_t op) {
    uint32_t tiles = 0;
    for (uint32_t tile = 0; tile < b->n_tiles; tile++) {
        tiles += !arn_rows_none(arn_row_tile(b, tile, op)->make);
    }
    return tiles > 0 ? tiles - 1 : 0;
}

void arn_row_tiles_free(arn_row_tiles *b) {
    if (!b->graph) return;
    ARN_RELEASE(b->graph->allocator, b->ops, b->results, b->demands);
}
