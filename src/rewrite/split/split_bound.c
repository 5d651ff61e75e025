/* While an op of a piece runs, these are alive: what the stage reads and a later piece reads again;
 * the results of the pieces before; rows that were kept for ops further on, and those that ops
 * before it keep for the next piece; and its own result, with its operand unless the one may lie
 * over the other. Paddings, what calls copy and how bytes are rounded come on top of that. */
#include "rewrite/split/split_bound.h"

#include "core/checked.h"
#include "rewrite/split/split_stages.h"

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
