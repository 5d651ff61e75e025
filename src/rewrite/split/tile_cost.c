/* The cost of a draft: its peak of live bytes, by a sweep over live ranges; the bytes that the
 * runtime keeps of its ops and tensors; its multiplications. Where results may lie over operands,
 * the distance is the kernel's own (tile_kernels.h). */
#include "rewrite/split/tile_groups.h"

#include <arenaut/target.h>

#include "core/checked.h"
#include "core/memory.h"
#include "kernels/kernel_set.h"

/* ---- the program ---- */

arn_costing arn_costing_begin(const arn_tile_graph *graph, const arenaut_split_options *options) {
    const arenaut_program *p = graph->program;
    arn_costing c = {.graph = graph,
                     .options = options,
                     .kernels = arn_draft_kernels_begin(graph->allocator, options),
                     .first_use = arn_allocate(graph->allocator, p->n_tensors, sizeof(uint32_t))};
    c.failed = !c.first_use || !arn_grow(graph->allocator, (void **)&c.first, &c.first_capacity,
                                         p->n_tensors, sizeof *c.first);
    if (c.failed) return c;
    for (uint32_t t = 0; t < p->n_tensors; t++) c.first_use[t] = c.first[t] = ARENAUT_NONE;
    for (uint32_t i = p->n_ops; i-- > 0;) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != ARENAUT_NONE) c.first_use[op->inputs[k]] = i;
        }
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            if (op->outputs[k] != ARENAUT_NONE) c.first_use[op->outputs[k]] = i;
        }
    }
    return c;
}

void arn_costing_free(arn_costing *costing) {
    const arenaut_allocator *allocator = costing->graph->allocator;
    arn_draft_kernels_free(&costing->kernels);
    ARN_RELEASE(allocator, costing->first_use, costing->first, costing->last, costing->seen,
                costing->mark, costing->change);
}

uint64_t arn_tile_bytes(const arn_tile_graph *graph, uint32_t tensor) {
    return arn_aligned(arn_tile_planned_bytes(graph, tensor), ARN_DRAFT_ROUNDING);
}

static bool is_earlier(const arn_tile_graph *graph, uint32_t tensor, arn_op_range range) {
    const uint32_t def = arn_tile_def(graph, tensor);
    return def == ARENAUT_NONE || def < range.first;
}

static bool is_later(const arn_tile_graph *graph, uint32_t tensor, arn_op_range range) {
    const uint32_t last = arn_tile_last_use(graph, tensor);
    return last != ARENAUT_NONE && last >= range.end;
}

uint64_t arn_tile_live_through(const arn_tile_graph *graph, arn_op_range range) {
    uint64_t live_through = 0;
    for (uint32_t t = 0; t < graph->program->n_tensors; t++) {
        if (is_earlier(graph, t, range) && is_later(graph, t, range)) {
            live_through += arn_tile_bytes(graph, t);
        }
    }
    return live_through;
}

uint64_t arn_tile_scratch(const arn_costing *costing, uint32_t op) {
    const arenaut_program *p = costing->graph->program;
    arenaut_scratch_requests requests = {0};
    uint64_t bytes = 0;
    if (!arn_kernel_scratch_sizes(costing->options->kernels, p, &p->ops[op], &requests)) return 0;
    for (uint32_t i = 0; i < requests.n; i++)
        bytes += arn_aligned(requests.bytes[i], ARN_DRAFT_ROUNDING);
    return bytes;
}

/* ---- live bytes ---- */

/* One draft of one range. */
typedef struct counting {
    arn_costing *costing;
    const arn_tile_graph *graph;
    const arn_draft *draft;
    arn_op_range range;
    uint32_t n_before, n_seen;
    uint32_t *first, *last;
} counting;

static uint64_t bytes_of(const counting *c, uint32_t tensor) {
    if (tensor < c->n_before) return arn_tile_bytes(c->graph, tensor);
    return arn_aligned(c->draft->tensors[tensor - c->n_before].bytes, ARN_DRAFT_ROUNDING);
}

static bool goes_past(const counting *c, uint32_t tensor) {
    return tensor < c->n_before && is_earlier(c->graph, tensor, c->range) &&
           is_later(c->graph, tensor, c->range);
}

/* A tensor of the program is live from the range's begin, or to its end, if ops outside read it. */
static void note_use(counting *c, uint32_t tensor, uint32_t op) {
    const bool old = tensor < c->n_before;
    if (c->first[tensor] == ARENAUT_NONE) {
        c->costing->seen[c->n_seen++] = tensor;
        c->first[tensor] = old && is_earlier(c->graph, tensor, c->range) ? 0 : op;
    }
    c->last[tensor] = old && is_later(c->graph, tensor, c->range) ? c->draft->n_ops - 1 : op;
}

/* With an alias, the tensor that it is of. */
static void note_argument(counting *c, uint32_t tensor, uint32_t op) {
    note_use(c, tensor, op);
    if (tensor < c->n_before || !c->draft->tensors[tensor - c->n_before].alias) return;
    note_use(c, c->draft->tensors[tensor - c->n_before].origin.tensor, op);
}

static void find_lives(counting *c) {
    for (uint32_t i = 0; i < c->draft->n_ops; i++) {
        const arn_draft_op *op = &c->draft->ops[i];
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            const uint32_t tensor = c->draft->arguments[op->first + k];
            if (tensor != ARENAUT_NONE) note_argument(c, tensor, i);
        }
    }
}

/* The result may overwrite this operand: it is read for the last time, and once. */
static bool is_read_up(const counting *c, uint32_t op, uint32_t input) {
    const uint32_t *inputs = c->draft->arguments + c->draft->ops[op].first, t = inputs[input];
    if (t == ARENAUT_NONE || c->last[t] != op || bytes_of(c, t) == 0) return false;
    for (uint32_t i = 0; i < input; i++) {
        if (inputs[i] == t) return false;
    }
    return t >= c->n_before || !is_later(c->graph, t, c->range);
}

/* Bytes of the only result, if results may lie over operands; else 0. */
static uint64_t reaching_result(const counting *c, uint32_t index) {
    const arn_draft_op *op = &c->draft->ops[index];
    const arenaut_split_options *options = c->costing->options;
    if ((!options->overlap && !options->in_place) || op->n_outputs != 1) return 0;
    const uint32_t made = c->draft->arguments[op->first + op->n_inputs];
    return made == ARENAUT_NONE || c->first[made] != index ? 0 : bytes_of(c, made);
}

/* Upper bound of the bytes that an op saves, whatever its kernel demands. */
static uint64_t most_saved(const counting *c, uint32_t index) {
    const arn_draft_op *op = &c->draft->ops[index];
    const uint64_t result = reaching_result(c, index);
    uint64_t read_up = 0;
    for (uint32_t i = 0; i < op->n_inputs && read_up < result; i++) {
        if (is_read_up(c, index, i)) read_up += bytes_of(c, c->draft->arguments[op->first + i]);
    }
    return arn_min_u64(read_up, result);
}

/* Where an operand that is read up may begin, behind the result's begin: as far as the kernel
 * demands. `result`: nowhere in the result. */
static uint64_t release_of(const counting *c, uint32_t index, uint32_t input, uint64_t result) {
    const arn_draft_op *op = &c->draft->ops[index];
    if (!is_read_up(c, index, input)) return result;
    const uint64_t distance = arn_draft_distance(&c->costing->kernels, c->draft, op, input);
    return distance >= result ? result : arn_aligned(distance, ARN_DRAFT_ROUNDING);
}

/* The operand that may begin first, of those that may behind (`from`, `after`), or at `from` with a
 * larger number than `after`; ARENAUT_NONE: none reaches into the result. *from becomes its begin.
 */
static uint32_t next_released(const counting *c, uint32_t index, uint64_t result, uint64_t *from,
                              uint32_t after) {
    const uint64_t last = *from;
    uint32_t next = ARENAUT_NONE;
    for (uint32_t i = 0; i < c->draft->ops[index].n_inputs; i++) {
        const uint64_t release = release_of(c, index, i, result);
        const bool done =
            release < last || (release == last && after != ARENAUT_NONE && i <= after);
        if (done || release >= result || (next != ARENAUT_NONE && release >= *from)) continue;
        next = i;
        *from = release;
    }
    return next;
}

/* Bytes that an op saves when its result reaches into the operands that it reads up: as many of
 * their bytes as can lie within the result. They lie in the order in which they may begin, which
 * leaves least of it without any (the earliest release date first, Jackson 1955). */
static uint64_t saved_by_reach(const counting *c, uint32_t index) {
    const arn_draft_op *op = &c->draft->ops[index];
    const uint64_t result = reaching_result(c, index);
    uint64_t end = 0, apart = result, release = 0;
    uint32_t i = ARENAUT_NONE;
    while ((i = next_released(c, index, result, &release, i)) != ARENAUT_NONE) {
        const uint64_t bytes = bytes_of(c, c->draft->arguments[op->first + i]);
        end = arn_max_u64(end, release) + bytes;
        apart += bytes;
    }
    const uint64_t together = arn_max_u64(end, result);
    return together < apart ? apart - together : 0;
}

/* Live bytes at each op of the draft, were nothing saved. */
static const int64_t *find_live(const counting *c, uint64_t live_through) {
    int64_t *change = c->costing->change;
    const uint32_t n_ops = c->draft->n_ops;
    for (uint32_t i = 0; i <= n_ops; i++) change[i] = 0;
    for (uint32_t i = 0; i < c->n_seen; i++) {
        const uint32_t tensor = c->costing->seen[i];
        if (goes_past(c, tensor)) continue;
        change[c->first[tensor]] += (int64_t)bytes_of(c, tensor);
        change[c->last[tensor] + 1] -= (int64_t)bytes_of(c, tensor);
    }
    arn_draft_add_copies(c->draft, c->first, c->last, change);
    change[0] += (int64_t)live_through;
    for (uint32_t i = 1; i < n_ops; i++) change[i] += change[i - 1];
    return change;
}

/* The peak of live bytes. Kernels are asked only if it matters: not at ops whose live bytes are
 * below those of another for sure. */
static uint64_t find_peak(const counting *c, uint64_t live_through) {
    const int64_t *live = find_live(c, live_through);
    uint64_t peak = live_through;
    for (uint32_t i = 0; i < c->draft->n_ops; i++) {
        const uint64_t now = (uint64_t)live[i];
        if (now > peak) peak = arn_max_u64(peak, now - most_saved(c, i));
    }
    for (uint32_t i = 0; i < c->draft->n_ops; i++) {
        const uint64_t now = (uint64_t)live[i];
        if (now > peak) peak = arn_max_u64(peak, now - saved_by_reach(c, i));
    }
    return peak;
}

/* ---- bytes that are kept ---- */

enum { MAIN = 1 }; /* the mark of the program's own method */

/* More than before. */
typedef struct tensor_count {
    int64_t tensors, planned;
    int64_t constants; /* of the program's own method, and the condition: one for all groups */
} tensor_count;

/* Tensors that only the range's ops use, and the draft no longer: new ones get their places. */
static void count_freed(counting *c, tensor_count *count) {
    const arenaut_program *p = c->graph->program;
    for (uint32_t i = c->range.first; i < c->range.end; i++) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            const uint32_t t = k < op->n_inputs ? op->inputs[k] : op->outputs[k - op->n_inputs];
            if (t == ARENAUT_NONE || c->first[t] != ARENAUT_NONE) continue;
            if (c->costing->first_use[t] < c->range.first || is_later(c->graph, t, c->range)) {
                continue;
            }
            c->costing->seen[c->n_seen++] = t;
            c->first[t] = 0;
            count->tensors--;
            count->planned -= bytes_of(c, t) > 0;
        }
    }
}

/* Counts arguments that were not yet met under this mark; of a method's own all, else new ones. */
static void count_arguments(const counting *c, uint32_t first, uint32_t n, uint32_t mark,
                            tensor_count *count) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t t = c->draft->arguments[first + i];
        if (t == ARENAUT_NONE || c->costing->mark[t] == mark) continue;
        c->costing->mark[t] = mark;
        if (mark == MAIN && t < c->n_before) continue;
        count->tensors++;
        count->planned += bytes_of(c, t) > 0;
        count->constants += mark == MAIN && c->draft->tensors[t - c->n_before].n_values > 0;
    }
}

/* Methods that are called have tensors of their own: their arguments and constants, too. */
static void count_methods(const counting *c, tensor_count *count) {
    const arn_draft *d = c->draft;
    count->tensors++; /* the condition */
    count->constants++;
    for (uint32_t k = 0; k < d->n_calls; k++) {
        const arn_draft_call *call = &d->calls[k];
        if (!arn_draft_is_body(d, call)) continue;
        count_arguments(c, call->first, call->n_inputs, MAIN + 1 + k, count);
        for (uint32_t i = call->first_op; i < call->first_op + call->n_ops; i++) {
            const arn_draft_op *op = &d->ops[i];
            count_arguments(c, op->first, op->n_inputs + op->n_outputs, MAIN + 1 + k, count);
        }
    }
}

static void count_tensors(counting *c, arn_draft_cost *cost) {
    const arenaut_target *target = c->costing->options->target;
    const arn_draft *d = c->draft;
    tensor_count count = {0};
    if (!target || !target->layout) return;
    for (uint32_t i = 0; i < c->n_seen; i++) c->costing->mark[c->costing->seen[i]] = 0;
    for (uint32_t i = 0; i < d->n_ops; i++) {
        const arn_draft_call *call = arn_draft_call_at(d, i);
        const arn_draft_op *op = &d->ops[i];
        if (call) count_arguments(c, call->first, call->n_inputs + call->n_outputs, MAIN, &count);
        else count_arguments(c, op->first, op->n_inputs + op->n_outputs, MAIN, &count);
        if (call) i += call->n_ops - 1;
    }
    if (d->n_calls > 0) count_methods(c, &count);
    count_freed(c, &count);
    cost->kept += count.tensors * target->layout->tensor;
    cost->shared = count.constants * target->layout->tensor;
    cost->notes +=
        count.tensors * target->layout->tensor_note + count.planned * target->layout->buffer_note;
}

static uint64_t macs_of(const arn_draft *draft, const arn_draft_op *op) {
    const arn_tile_graph *graph = draft->graph;
    if (op->before == ARENAUT_NONE) return 0;
    if (graph->ops[op->before].kind == ARN_TILE_OPAQUE) return graph->macs[op->before];
    const int64_t *made = arn_draft_dims(draft, draft->arguments[op->first + op->n_inputs]);
    const arenaut_tensor *whole =
        &graph->program->tensors[graph->program->ops[op->before].outputs[0]];
    double share = 1;
    for (uint32_t i = 0; i < whole->rank; i++) share *= (double)made[i] / (double)whole->dims[i];
    return (uint64_t)((double)graph->macs[op->before] * share + 0.5);
}

uint64_t arn_draft_macs(const arn_draft *draft) {
    uint64_t macs = 0;
    for (uint32_t i = 0; i < draft->n_ops; i++) macs += macs_of(draft, &draft->ops[i]);
    return macs;
}

/* ---- all together ---- */

static void count_ops(counting *c, arn_draft_cost *cost) {
    const arenaut_target *target = c->costing->options->target;
    const arn_draft *d = c->draft;
    arn_draft_kernels *kernels = &c->costing->kernels;
    cost->n_ops = arn_draft_count_ops(d);
    for (uint32_t i = 0; i < d->n_ops; i++) {
        cost->macs += macs_of(d, &d->ops[i]);
        if (arn_draft_is_repeated(d, i)) continue;
        cost->kept += (int64_t)arn_draft_kept(kernels, d, &d->ops[i]);
    }
    for (uint32_t k = 0; k < d->n_calls; k++) {
        cost->kept += (int64_t)arn_draft_kept_of_call(kernels);
        if (!arn_draft_is_body(d, &d->calls[k]) || !target || !target->layout) continue;
        cost->kept += target->layout->method;
    }
}

static bool make_room(arn_costing *c, const arn_draft *draft) {
    const arenaut_allocator *allocator = c->graph->allocator;
    const uint64_t n = (uint64_t)c->graph->program->n_tensors + draft->n_tensors;
    const bool fits =
        !draft->failed && !c->failed &&
        arn_grow(allocator, (void **)&c->first, &c->first_capacity, n, sizeof *c->first) &&
        arn_grow(allocator, (void **)&c->last, &c->last_capacity, n, sizeof *c->last) &&
        arn_grow(allocator, (void **)&c->mark, &c->mark_capacity, n, sizeof *c->mark) &&
        arn_grow(allocator, (void **)&c->seen, &c->seen_capacity, n, sizeof *c->seen) &&
        arn_grow(allocator, (void **)&c->change, &c->change_capacity, (uint64_t)draft->n_ops + 1,
                 sizeof *c->change);
    c->failed = !fits;
    return fits;
}

static bool begin(arn_costing *costing, const arn_draft *draft, arn_op_range range, counting *c) {
    if (!make_room(costing, draft)) return false;
    *c = (counting){.costing = costing,
                    .graph = costing->graph,
                    .draft = draft,
                    .range = range,
                    .n_before = costing->graph->program->n_tensors,
                    .first = costing->first,
                    .last = costing->last};
    for (uint32_t t = 0; t < draft->n_tensors; t++) c->first[c->n_before + t] = ARENAUT_NONE;
    find_lives(c);
    return true;
}

static bool end(const counting *c) {
    arn_costing *costing = c->costing;
    for (uint32_t i = 0; i < c->n_seen; i++) c->first[costing->seen[i]] = ARENAUT_NONE;
    costing->failed = costing->kernels.failed;
    return !costing->failed;
}

bool arn_draft_peak_of(arn_costing *costing, const arn_draft *draft, arn_op_range range,
                       uint64_t live_through, uint64_t *peak) {
    counting c;
    if (!begin(costing, draft, range, &c)) return false;
    *peak = find_peak(&c, live_through);
    return end(&c);
}

bool arn_draft_cost_of(arn_costing *costing, const arn_draft *draft, arn_op_range range,
                       arn_draft_cost *cost) {
    counting c;
    if (!begin(costing, draft, range, &c)) return false;
    *cost = (arn_draft_cost){0};
    count_ops(&c, cost);
    count_tensors(&c, cost);
    return end(&c);
}
