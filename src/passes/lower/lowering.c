/* Lowering: turns a program into a problem. Each step has a file of its own (lower.h lists them):
 * the length of the schedule, storages, their live ranges, rights to overwrite, pools. Here they
 * are called in order, and storages that need memory become buffers. O(ops * arguments * log)
 * without jumps; the limits are in analysis/live_flow.h. */
#include <arenaut/lowering.h>

#include <inttypes.h>

#include "analysis/def_use.h"
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/program.h"
#include "passes/lower/lower.h"

struct arenaut_lowering_store {
    arn_region region;
    arenaut_allocator allocator;
    arenaut_lowering lowering;
};

void arenaut_lowering_free(arenaut_lowering *lowering) {
    if (!lowering) return;
    struct arenaut_lowering_store *store = lowering->store;
    const arenaut_allocator allocator = store->allocator;
    arenaut_problem_free(lowering->problem);
    arn_region_free(&store->region);
    arn_release(&allocator, store);
}

/* Buffers go method by method, tensors in the order in which they are made, where the target
 * wants that, else of their numbers; scratch comes after everything else, as runtimes request
 * it. */
static bool comes_before(const void *context, uint32_t a, uint32_t b) {
    const arn_lower *lower = context;
    const arenaut_tensor *tensors = lower->program->tensors;
    const bool scratch_a = tensors[a].cls == ARENAUT_SCRATCH;
    const bool scratch_b = tensors[b].cls == ARENAUT_SCRATCH;
    if (scratch_a != scratch_b) return scratch_b;
    if (scratch_a) return false;
    if (tensors[a].method != tensors[b].method) return tensors[a].method < tensors[b].method;
    return lower->made && lower->made[a] < lower->made[b];
}

/* Fills lowering->tensor with the storages that get a buffer, in order, and returns how
 * many there are. `ids` has room for twice the tensors. */
static uint32_t choose_buffers(const arn_lower *lower, uint32_t *ids) {
    const arenaut_program *p = lower->program;
    uint32_t n = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (arn_lower_has_buffer(lower, t)) ids[n++] = t;
    }
    arn_sort_ids(ids, n, comes_before, lower, ids + n);
    return n;
}

/* Counts the tensors of the list that no op has made before. */
static void count_made(arn_lower *lower, const uint32_t *tensors, uint32_t n, uint32_t *count) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *made =
            tensors[i] == ARENAUT_NONE ? NULL : &lower->made[lower->live.storage.of[tensors[i]]];
        if (made && *made == 0) *made = ++*count;
    }
}

/* The order in which storages are made, inputs first, and the position at which the last op
 * that reads each names it last: that is when a runtime that counts readers lets it go. */
static arenaut_status order_by_ops(arn_lower *lower) {
    const arenaut_program *p = lower->program;
    uint32_t count = 0;
    if (!lower->target->op_order) return ARENAUT_OK;
    lower->made = arn_region_allocate(&lower->scratch, p->n_tensors, sizeof *lower->made);
    lower->release = arn_region_allocate(&lower->scratch, p->n_tensors, sizeof *lower->release);
    if (!lower->made || !lower->release) return arn_no_memory(lower->err);
    for (uint32_t t = 0; t < p->n_tensors; t++) lower->made[t] = lower->release[t] = 0;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        count_made(lower, method->inputs, method->n_inputs, &count);
        for (uint32_t i = method->first_op; i < method->first_op + method->n_ops; i++) {
            const arenaut_op *op = &p->ops[i];
            if (!arn_op_kind_touches(op->kind)) continue;
            count_made(lower, op->outputs, op->n_outputs, &count);
            for (uint32_t k = 0; k < op->n_inputs; k++) {
                if (op->inputs[k] != ARENAUT_NONE)
                    lower->release[lower->live.storage.of[op->inputs[k]]] = k;
            }
        }
    }
    return ARENAUT_OK;
}

/* A tensor states its class; a result or an argument of the program without one has that of its
 * role. */
static arenaut_class class_of(const arn_lower *lower, uint32_t storage) {
    const arenaut_class own = lower->program->tensors[storage].cls;
    const uint8_t facts = lower->live.storage.facts[storage];
    if (facts & ARN_ALWAYS_ALIVE) return ARENAUT_STATE;
    if (own != ARENAUT_INTERMEDIATE) return own;
    if (facts & ARN_ENTRY_OUTPUT) return ARENAUT_OUTPUT;
    return facts & ARN_ENTRY_INPUT ? ARENAUT_INPUT : ARENAUT_INTERMEDIATE;
}

/* The sources of the buffers' columns. */
typedef struct columns {
    const uint32_t *base;      /* per storage: the storage it may be written over */
    const arn_def_use *memory; /* per storage; ops that only declare memory define nothing */
    const uint32_t *uses;      /* per storage: see find_uses; NULL: they do not matter */
    int64_t untouched_step;    /* where the last tensor lies that nothing touches */
} columns;

/* The lifetimes of a buffer. One that no op touches gets a step of its own before all others: it
 * needs room in the arena, but may share it with everything. */
static void set_lifetimes(const arn_lower *lower, uint32_t storage, columns *c,
                          arenaut_interval *single, arenaut_buffer *buffer) {
    const arn_lives *lives = &lower->live.lives;
    buffer->lifetimes = single;
    buffer->n_lifetimes = 1;
    if (lower->live.storage.facts[storage] & ARN_ALWAYS_ALIVE) {
        *single = (arenaut_interval){0, lives->n_steps};
    } else if (arn_lower_is_touched(lower, storage)) {
        buffer->lifetimes = lives->life + lives->start[storage];
        buffer->n_lifetimes = lives->start[storage + 1] - lives->start[storage];
    } else {
        *single = (arenaut_interval){c->untouched_step - 1, c->untouched_step};
        c->untouched_step--;
    }
}

static arenaut_status add_buffer(const arn_lower *lower, uint32_t storage, columns *c,
                                 const uint32_t *buffer_of, arenaut_problem *problem) {
    const arenaut_tensor *tensor = &lower->program->tensors[storage];
    const uint32_t base = c->base[storage], maker = c->memory[storage].first_def;
    arenaut_interval single;
    arenaut_buffer buffer = {0};
    const uint64_t whole = lower->target->round_sizes ? lower->target->align : 1;
    const uint64_t unit =
        arn_max_u64(lower->unit ? lower->unit[storage] : 1, arn_max_u64(whole, 1));
    if (!arn_align_up(tensor->bytes, unit, &buffer.size)) {
        char store[24];
        return arn_fail(lower->err, ARENAUT_TOO_LARGE, 0,
                        "tensor '%s': %" PRIu64 " bytes rounded up to %" PRIu64 " pass 2^63 - 1",
                        arenaut_program_tensor_name(lower->program, storage, store), tensor->bytes,
                        unit);
    }
    buffer.align = lower->live.storage.align[storage];
    buffer.cls = class_of(lower, storage);
    buffer.pools = problem->n_pools > 1 ? lower->pools[storage] : 0;
    if (c->uses) buffer.uses = c->uses[storage];
    if (base != ARENAUT_NONE) buffer.same_base = arenaut_id(buffer_of[base]);
    buffer.method = arenaut_id(tensor->method);
    buffer.release = lower->release ? lower->release[storage] : 0;
    buffer.name = tensor->name;
    buffer.source = tensor->source;
    if (maker != ARENAUT_NONE) buffer.op = lower->program->ops[maker].name;
    if (!buffer.source && maker != ARENAUT_NONE) buffer.source = lower->program->ops[maker].source;
    set_lifetimes(lower, storage, c, &single, &buffer);
    return arenaut_problem_add_buffer(problem, &buffer, NULL, lower->err);
}

/* Some storage has a choice of pools, so that it matters how busy buffers are. */
static bool may_choose_pools(const arn_lower *lower) {
    for (uint32_t t = 0; t < lower->program->n_tensors; t++) {
        if (lower->pools[t] & (lower->pools[t] - 1)) return true;
    }
    return false;
}

static void count_uses(const arn_lower *lower, const uint32_t *tensors, uint32_t n,
                       uint32_t *uses) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] != ARENAUT_NONE) uses[lower->live.storage.of[tensors[i]]]++;
    }
}

/* Per storage, how often it is written or read: once for each operand and result of each op that
 * touches memory, twice for scratch, and once for each input and result of a method, which its
 * caller writes and reads. Loops count once, since how often they run is unknown. */
static const uint32_t *find_uses(arn_lower *lower) {
    const arenaut_program *p = lower->program;
    uint32_t *uses = arn_region_allocate(&lower->scratch, p->n_tensors, sizeof *uses);
    if (!uses) return NULL;
    for (uint32_t t = 0; t < p->n_tensors; t++) uses[t] = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (!lower->live.runs[op->method] || !arn_op_kind_touches(op->kind) ||
            op->kind == ARENAUT_OP_VIEW) {
            continue;
        }
        count_uses(lower, op->inputs, op->n_inputs, uses);
        count_uses(lower, op->outputs, op->n_outputs, uses);
        for (int k = 0; k < 2; k++) count_uses(lower, op->scratch, op->n_scratch, uses);
    }
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (!lower->live.runs[m]) continue;
        count_uses(lower, p->methods[m].inputs, p->methods[m].n_inputs, uses);
        count_uses(lower, p->methods[m].outputs, p->methods[m].n_outputs, uses);
    }
    return uses;
}

static arenaut_status add_methods(const arn_lower *lower, arenaut_problem *problem) {
    const arenaut_program *p = lower->program;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) {
        st = arenaut_problem_add_method(problem, p->methods[m].name, NULL, lower->err);
    }
    return st;
}

/* With unwritten tensors that begin at step -1: the steps before it are free. */
static int64_t first_step(const arn_lower *lower) {
    const arn_lives *lives = &lower->live.lives;
    const uint32_t n_lives = lives->start[lower->program->n_tensors];
    int64_t first = 0;
    for (uint32_t i = 0; i < n_lives; i++) {
        if (lives->life[i].first < first) first = lives->life[i].first;
    }
    return first;
}

/* The possible uses of a plan of such a problem. A method that no op calls does not run. */
static uint32_t traits_of(const arn_lower *lower) {
    const arenaut_program *p = lower->program;
    uint32_t traits = lower->target->tokens ? ARENAUT_PROBLEM_TOKENS : 0;
    for (uint32_t k = 0; k < lower->live.lives.n_steps; k++) {
        const uint32_t at = lower->live.lives.steps[k].op;
        if (at != ARENAUT_NONE && arn_lower_is_branch(p->ops[at].kind) &&
            !arn_is_plain_call(&p->ops[at])) {
            traits |= ARENAUT_PROBLEM_BRANCHES;
        }
    }
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const bool open =
            p->tensors[t].unsized && arn_lower_is_touched(lower, lower->live.storage.of[t]);
        if (open || (p->tensors[t].dynamic && arn_lower_has_buffer(lower, t))) {
            traits |= ARENAUT_PROBLEM_SYMBOLIC;
        }
    }
    return traits;
}

static arenaut_status make_problem(arn_lower *lower, arenaut_lowering *lowering,
                                   uint32_t n_buffers) {
    arenaut_problem *problem = NULL;
    columns c = {.untouched_step = first_step(lower),
                 .memory = arn_def_use_find(lower->program, lower->live.storage.of,
                                            ARN_TOUCHING | ARN_NO_NAMES, &lower->scratch)};
    if (!c.memory) return arn_no_memory(lower->err);
    arenaut_status st = arenaut_problem_new(&lower->allocator, &problem, lower->err);
    if (st != ARENAUT_OK) return st;
    lowering->problem = problem;
    problem->traits = traits_of(lower);
    st = add_methods(lower, problem);
    if (st == ARENAUT_OK) st = arn_lower_pools(lower, problem);
    if (st == ARENAUT_OK) st = arn_lower_reuse(lower, &c.base);
    if (st == ARENAUT_OK && may_choose_pools(lower)) {
        c.uses = find_uses(lower);
        if (!c.uses) st = arn_no_memory(lower->err);
    }
    for (uint32_t b = 0; b < n_buffers && st == ARENAUT_OK; b++) {
        st = add_buffer(lower, lowering->tensor[b], &c, lowering->buffer, problem);
    }
    if (st == ARENAUT_OK) st = arn_lower_overlaps(lower, lowering->buffer, problem);
    if (st == ARENAUT_OK) st = arn_lower_streams(lower, lowering->buffer, problem);
    return st == ARENAUT_OK ? arenaut_problem_finish(problem, lower->err) : st;
}

/* Everything that is known per tensor and per buffer but the problem itself. */
static arenaut_status map_tensors(const arn_lower *lower, arenaut_lowering *lowering,
                                  uint32_t *n_buffers) {
    const arenaut_program *p = lower->program;
    arn_region *region = &lowering->store->region;
    lowering->n_tensors = p->n_tensors;
    lowering->buffer = arn_region_allocate(region, p->n_tensors, sizeof *lowering->buffer);
    lowering->offset = arn_region_allocate(region, p->n_tensors, sizeof *lowering->offset);
    lowering->tensor = arn_region_allocate(region, p->n_tensors, 2 * sizeof *lowering->tensor);
    if (!lowering->buffer || !lowering->offset || !lowering->tensor) {
        return arn_no_memory(lower->err);
    }
    *n_buffers = choose_buffers(lower, lowering->tensor);
    for (uint32_t t = 0; t < p->n_tensors; t++) lowering->buffer[t] = ARENAUT_NONE;
    for (uint32_t b = 0; b < *n_buffers; b++) lowering->buffer[lowering->tensor[b]] = b;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        lowering->buffer[t] = lowering->buffer[lower->live.storage.of[t]];
        arenaut_program_storage(p, t, &lowering->offset[t]);
    }
    return ARENAUT_OK;
}

static arenaut_status lower_into(arn_lower *lower, arenaut_lowering *lowering) {
    uint32_t n_buffers = 0;
    arenaut_status st = arn_live_count_steps(&lower->live, &lowering->n_steps);
    if (st != ARENAUT_OK) return st;
    lowering->steps =
        arn_region_allocate(&lowering->store->region, lowering->n_steps, sizeof *lowering->steps);
    if (!lowering->steps) return arn_no_memory(lower->err);
    lower->live.lives.steps = lowering->steps;
    st = arn_lower_storage(lower);
    if (st == ARENAUT_OK) st = arn_live_ranges_find(&lower->live);
    if (st == ARENAUT_OK) st = arn_lower_order(lower);
    if (st == ARENAUT_OK) st = order_by_ops(lower);
    if (st == ARENAUT_OK) st = map_tensors(lower, lowering, &n_buffers);
    if (st == ARENAUT_OK) st = make_problem(lower, lowering, n_buffers);
    return st;
}

arenaut_status arenaut_lower(const arenaut_program *program, const arenaut_target *target,
                             const arenaut_lowering_options *options,
                             const arenaut_allocator *allocator, arenaut_lowering **out,
                             arenaut_error *err) {
    arenaut_status st = arn_program_validate(program, err);
    if (st != ARENAUT_OK) return st;
    struct arenaut_lowering_store *store = arn_allocate_zeroed(allocator, 1, sizeof *store);
    if (!store) return arn_no_memory(err);
    arn_region_init(&store->region, allocator);
    store->allocator = arn_allocator_or_default(allocator);
    store->lowering.store = store;

    arn_lower lower = {.program = program, .target = target, .allocator = store->allocator};
    lower.err = err;
    if (options) lower.options = *options;
    arn_region_init(&lower.scratch, allocator);
    lower.live = (arn_live){.program = program,
                            .merge_calls = target->merge_calls,
                            .keep_inputs = target->keep_inputs || lower.options.preserve_inputs,
                            .keep_outputs = target->keep_outputs,
                            .calls_apart = lower.options.apart,
                            .region = &lower.scratch,
                            .allocator = store->allocator,
                            .err = err};
    st = lower_into(&lower, &store->lowering);
    arn_region_free(&lower.scratch);
    if (st != ARENAUT_OK) {
        arenaut_lowering_free(&store->lowering);
        return st;
    }
    *out = &store->lowering;
    return ARENAUT_OK;
}
