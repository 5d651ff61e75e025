/* Rights of storages to be written over others, or to overlap them partly: the in-place pairs and
 * overlaps of ops that hold for whole buffers and whole lives. Uncertain pairs are left out; that
 * only costs memory. In place, each storage is written over by one other at most: the first pair in
 * program order. O(pairs * arguments). */
#include "analysis/aliases.h"
#include "core/fail.h"
#include "passes/lower/lower.h"

static bool has_one_life(const arn_lower *lower, uint32_t storage) {
    return lower->live.lives.start[storage + 1] - lower->live.lives.start[storage] == 1;
}

static arenaut_interval life_of(const arn_lower *lower, uint32_t storage, uint32_t i) {
    return lower->live.lives.life[lower->live.lives.start[storage] + i];
}

/* Whether two are alive together only at steps of the op, at each of which a life of the one ends
 * and one of the other begins: in a method that is called several times, at one step for each
 * call. */
static bool meet_at(const arn_lower *lower, const arenaut_op *op, uint32_t base, uint32_t child) {
    const uint32_t *start = lower->live.lives.start, n = start[base + 1] - start[base];
    if (n != start[child + 1] - start[child]) return false;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t meeting = life_of(lower, child, i).first;
        if (meeting < 0 || life_of(lower, base, i).end != meeting + 1) return false;
        if (lower->live.lives.steps[meeting].op != (uint32_t)(op - lower->program->ops))
            return false;
        if (i + 1 < n && life_of(lower, child, i).end > life_of(lower, base, i + 1).first) {
            return false;
        }
    }
    return n > 0;
}

/* Whether one of the tensors lies in that storage. */
static bool named(const arn_lower *lower, const uint32_t *tensors, uint32_t n, uint32_t storage) {
    return arn_find_in_storage(lower->live.storage.of, tensors, n, storage) != ARENAUT_NONE;
}

static bool is_pair(const arenaut_op *op, uint32_t output, uint32_t input) {
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        if (op->in_place[i].output == output && op->in_place[i].input == input) return true;
    }
    return false;
}

/* Whether every other argument of `op` that lies in `base` may be overwritten by this
 * output too: x * x over x is fine when both positions allow it. */
static bool nothing_else_in(const arn_lower *lower, const arenaut_op *op, uint32_t output,
                            uint32_t base) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] == ARENAUT_NONE || lower->live.storage.of[op->inputs[i]] != base)
            continue;
        if (!is_pair(op, output, i) || !arn_fills_storage(lower->program, op->inputs[i]))
            return false;
    }
    return !named(lower, op->outputs, op->n_outputs, base);
}

/* Whether the content of `base` is dead after this step. */
static bool is_free_after(const arn_lower *lower, uint32_t base) {
    uint8_t needed = ARN_NO_BUFFER | ARN_ALWAYS_ALIVE | ARN_RESULT | ARN_ALIASED;
    if (lower->live.keep_inputs) needed |= ARN_ENTRY_INPUT;
    return !(lower->live.storage.facts[base] & needed);
}

/* Whether the op's output may take over memory of its input: both fill their buffers, nothing
 * needs the input afterwards, and the two meet in steps of the op. */
static bool takes_over(const arn_lower *lower, const arenaut_op *op, uint32_t from, uint32_t to) {
    const uint32_t base = lower->live.storage.of[from], child = lower->live.storage.of[to];
    if (base == child || !arn_fills_storage(lower->program, from) ||
        !arn_fills_storage(lower->program, to))
        return false;
    if (!is_free_after(lower, base) || named(lower, op->inputs, op->n_inputs, child)) return false;
    if (lower->live.storage.facts[child] & (ARN_NO_BUFFER | ARN_ALWAYS_ALIVE)) return false;
    if (lower->pools[base] != lower->pools[child]) return false;
    return arn_lower_ends_with(lower, base, (uint32_t)(op - lower->program->ops)) &&
           meet_at(lower, op, base, child);
}

static bool may_replace(const arn_lower *lower, const arenaut_op *op, arenaut_in_place pair) {
    const arenaut_tensor *tensors = lower->program->tensors;
    const uint32_t from = op->inputs[pair.input], to = op->outputs[pair.output];
    return tensors[from].bytes == tensors[to].bytes && takes_over(lower, op, from, to) &&
           has_one_life(lower, lower->live.storage.of[from]) &&
           nothing_else_in(lower, op, pair.output, lower->live.storage.of[from]);
}

static const arenaut_overlap *find_overlap(const arenaut_op *op, uint32_t output, uint32_t input) {
    for (uint32_t i = 0; i < op->n_overlaps; i++) {
        const arenaut_overlap *pair = &op->overlaps[i];
        if (pair->output == output && pair->input == input) return pair;
    }
    return NULL;
}

/* The distance of this output to storage `from`, which the op may name at several positions: the
 * largest of them. False if one of them has none, or if the output is written over it by name. */
static bool distance_to(const arn_lower *lower, const arenaut_op *op, uint32_t output,
                        uint32_t from, int64_t *distance) {
    const uint32_t to = lower->live.storage.of[op->outputs[output]];
    *distance = INT64_MIN;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] == ARENAUT_NONE) continue;
        const uint32_t storage = lower->live.storage.of[op->inputs[i]];
        const arenaut_overlap *pair = storage == from ? find_overlap(op, output, i) : NULL;
        if (storage == from && !pair) return false;
        if (pair && !arn_fills_storage(lower->program, op->inputs[i])) return false;
        if (pair && pair->distance > *distance) *distance = pair->distance;
    }
    return !named(lower, op->outputs, op->n_outputs, from) &&
           !named(lower, op->outputs, output, to) &&
           !named(lower, op->outputs + output + 1, op->n_outputs - output - 1, to);
}

/* Whether the pair becomes a separation, and its distance. */
static bool is_separated(const arn_lower *lower, const arenaut_op *op, uint32_t output,
                         uint32_t input, int64_t *distance) {
    if (!lower->options.overlap || op->kind != ARENAUT_OP_OUT) return false;
    if (!find_overlap(op, output, input)) return false;
    const uint32_t from = op->inputs[input], to = op->outputs[output];
    return takes_over(lower, op, from, to) &&
           distance_to(lower, op, output, lower->live.storage.of[from], distance);
}

arenaut_status arn_lower_overlaps(arn_lower *lower, const uint32_t *buffer_of,
                                  arenaut_problem *problem) {
    const arenaut_program *p = lower->program;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_overlaps && st == ARENAUT_OK; k++) {
            const uint32_t input = op->overlaps[k].input, output = op->overlaps[k].output;
            const uint32_t from = op->inputs[input], to = op->outputs[output];
            int64_t distance;
            if (!is_separated(lower, op, output, input, &distance)) continue;
            if (named(lower, op->inputs, input, lower->live.storage.of[from])) continue;
            if (buffer_of[from] == ARENAUT_NONE || buffer_of[to] == ARENAUT_NONE) continue;
            const arenaut_separation pair = {buffer_of[from], buffer_of[to], distance};
            st = arenaut_problem_add_separation(problem, &pair, lower->err);
        }
    }
    return st;
}

/* A separation of distance 0 or less lets the two begin at one place too, and more than one such
 * input may. */
static bool is_separated_at_zero(const arn_lower *lower, const arenaut_op *op,
                                 arenaut_in_place pair) {
    int64_t distance;
    return is_separated(lower, op, pair.output, pair.input, &distance) && distance <= 0;
}

arenaut_status arn_lower_reuse(arn_lower *lower, const uint32_t **result) {
    const arenaut_program *p = lower->program;
    uint32_t *base = arn_region_allocate(&lower->scratch, p->n_tensors, sizeof *base);
    bool *taken = arn_region_allocate(&lower->scratch, p->n_tensors, sizeof *taken);
    if (!base || !taken) return arn_no_memory(lower->err);
    for (uint32_t s = 0; s < p->n_tensors; s++) {
        base[s] = ARENAUT_NONE;
        taken[s] = false;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind != ARENAUT_OP_OUT) continue;
        for (uint32_t k = 0; k < op->n_in_place; k++) {
            const uint32_t from = lower->live.storage.of[op->inputs[op->in_place[k].input]];
            const uint32_t to = lower->live.storage.of[op->outputs[op->in_place[k].output]];
            if (base[to] != ARENAUT_NONE || taken[from]) continue;
            if (!may_replace(lower, op, op->in_place[k])) continue;
            if (is_separated_at_zero(lower, op, op->in_place[k])) continue;
            base[to] = from;
            taken[from] = true;
        }
    }
    *result = base;
    return ARENAUT_OK;
}
