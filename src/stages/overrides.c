/* Demands on the plan: pools, pins, alignments, a capacity. They change a copy of the problem,
 * buffer by buffer. A tensor may begin inside its buffer (a view), so its buffer moves by as much.
 * Demands are few, so each looks through all names, and each buffer at all demands. */
#include "stages/stages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "kernels/kernel_set.h"

bool arn_pipeline_overrides(const arenaut_pipeline_options *o) {
    return o->overwrite == ARENAUT_OVERWRITE_ON || o->overwrite == ARENAUT_OVERWRITE_ONLY ||
           o->n_in_place_rules || o->overlap || o->splitting.on || o->recomputing.on ||
           o->reordering.on || o->passes || o->exclude_io || o->preserve_inputs || o->align ||
           o->n_tensor_aligns || o->n_align_rules || o->n_pools || o->n_pins ||
           arn_kernels_align(o->kernels);
}

arenaut_pipeline_options arn_pipeline_without_overrides(const arenaut_pipeline_options *o) {
    return (arenaut_pipeline_options){
        .path = o->path,
        .format = o->format,
        .target = o->target,
        .kernels = o->kernels,
        .unmeasured = o->unmeasured,
        .shapes = o->shapes,
        .scratch = o->scratch,
        .scratch_model = o->scratch_model,
        .in_place_rules = o->in_place_rules,
        .n_in_place_rules = o->n_in_place_rules,
        .dims = o->dims,
        .n_dims = o->n_dims,
        .plan = {.progress = o->plan.progress, .progress_context = o->plan.progress_context},
        .context = o->context,
        .stage = o->stage,
    };
}

/* A demand on one buffer. */
typedef struct demand {
    uint32_t buffer;
    uint64_t align;        /* 0: none */
    uint64_t pools;        /* 0: none */
    uint64_t fixed_offset; /* ARENAUT_UNPLACED: none */
} demand;

typedef struct overrides {
    arenaut_pipeline *pipeline;
    const arenaut_problem *problem; /* with the pools that are asked for */
    demand *demands;
    size_t n;
} overrides;

static const char *name_of(const arenaut_pipeline *p, uint32_t id, char store[24]) {
    return p->lowering ? arenaut_program_tensor_name(p->document.program, id, store)
                       : arenaut_problem_buffer_name(p->problem, id, store);
}

/* The buffer of the tensor called `name`, and the tensor's offset in it. */
static arenaut_status find_tensor(arenaut_pipeline *p, const char *option, const char *name,
                                  uint32_t *buffer, uint64_t *offset, arenaut_error *err) {
    const uint32_t n = p->lowering ? p->document.program->n_tensors : p->problem->n_buffers;
    uint32_t found = ARENAUT_NONE, n_found = 0;
    char store[24];
    for (uint32_t i = 0; i < n && n_found < 2; i++) {
        if (strcmp(name_of(p, i, store), name) != 0) continue;
        found = i;
        n_found++;
    }
    *buffer = n_found != 1 ? ARENAUT_NONE : p->lowering ? p->lowering->buffer[found] : found;
    *offset = n_found == 1 && p->lowering ? p->lowering->offset[found] : 0;
    if (*buffer != ARENAUT_NONE) return ARENAUT_OK;
    if (n_found == 0) {
        p->fault.unknown = name;
        return arn_pipeline_blame(p, err, option, "%s: there is no tensor '%s'", option, name);
    }
    return arn_pipeline_blame(p, err, option,
                              n_found > 1 ? "%s: several tensors are called '%s'"
                                          : "%s: '%s' needs no memory in the arena",
                              option, name);
}

static arenaut_status bad_alignment(arenaut_pipeline *p, uint64_t align, arenaut_error *err) {
    return arn_pipeline_blame(p, err, "align", "align: %" PRIu64 " is no power of two", align);
}

static arenaut_status add_alignment(overrides *o, const arenaut_tensor_align *wanted,
                                    arenaut_error *err) {
    demand *d = &o->demands[o->n++];
    uint64_t offset;
    *d = (demand){.align = wanted->align, .fixed_offset = ARENAUT_UNPLACED};
    const arenaut_status st =
        find_tensor(o->pipeline, "align", wanted->tensor, &d->buffer, &offset, err);
    if (st != ARENAUT_OK) return st;
    if (!arn_is_power_of_two(wanted->align)) return bad_alignment(o->pipeline, wanted->align, err);
    if (offset % wanted->align == 0) return ARENAUT_OK;
    return arn_pipeline_blame(
        o->pipeline, err, "align",
        "align: '%s' lies %" PRIu64
        " bytes inside another tensor, so it cannot start at a multiple of %" PRIu64,
        wanted->tensor, offset, wanted->align);
}

static arenaut_status find_pool(const overrides *o, const char *name, uint32_t *pool,
                                arenaut_error *err) {
    const arenaut_problem *problem = o->problem;
    char names[256] = "";
    size_t length = 0;
    for (*pool = 0; *pool < problem->n_pools; ++*pool) {
        const char *each = problem->pool[*pool].name;
        if (each && strcmp(each, name) == 0) return ARENAUT_OK;
        snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "",
                 each ? each : "(unnamed)");
        length = strlen(names);
    }
    return arn_pipeline_blame(o->pipeline, err, "pin",
                              "pin: there is no pool '%s'; the pools are: %s", name, names);
}

static arenaut_status add_pin(overrides *o, const arenaut_pin *pin, arenaut_error *err) {
    demand *d = &o->demands[o->n++];
    uint64_t inner = 0;
    uint32_t pool = 0;
    *d = (demand){.fixed_offset = ARENAUT_UNPLACED};
    arenaut_status st = find_tensor(o->pipeline, "pin", pin->tensor, &d->buffer, &inner, err);
    if (st == ARENAUT_OK) st = find_pool(o, pin->pool, &pool, err);
    if (st != ARENAUT_OK) return st;
    d->pools = UINT64_C(1) << pool;
    if (!pin->offset.given) return ARENAUT_OK;
    d->fixed_offset = pin->offset.bytes - inner;
    if (pin->offset.bytes >= inner) return ARENAUT_OK;
    return arn_pipeline_blame(o->pipeline, err, "pin",
                              "pin: '%s' lies %" PRIu64
                              " bytes inside another tensor, so it cannot be at %" PRIu64,
                              pin->tensor, inner, pin->offset.bytes);
}

/* The pools of a buffer once all demands are met. */
static uint64_t pools_demanded(const overrides *o, uint32_t id) {
    uint64_t pools = arenaut_problem_pools(o->problem, id);
    for (size_t i = 0; i < o->n; i++) {
        if (o->demands[i].buffer == id && o->demands[i].pools) pools = o->demands[i].pools;
    }
    return pools;
}

static void meet_demands(void *context, uint32_t id, arenaut_buffer *buffer) {
    const overrides *o = context;
    const arenaut_pipeline *p = o->pipeline;
    if (!p->lowering) buffer->align = arn_max_u64(buffer->align, p->options.align);
    for (size_t i = 0; i < o->n; i++) {
        const demand *d = &o->demands[i];
        if (d->buffer != id) continue;
        buffer->align = arn_max_u64(buffer->align, d->align);
        if (d->pools) buffer->pools = d->pools;
        if (d->fixed_offset != ARENAUT_UNPLACED) buffer->fixed_offset = arenaut_at(d->fixed_offset);
    }
    /* A right to be written over another is a permission, and void if they cannot meet. */
    const uint32_t base = arenaut_problem_same_base(o->problem, id);
    if (base != ARENAUT_NONE && !(pools_demanded(o, id) & pools_demanded(o, base))) {
        buffer->same_base = (arenaut_optional_id){0};
    }
}

/* New pools for a bare problem: only if it did not name pools of its own, to whose numbers its
 * buffers might refer. The capacity limits the first pool in the problem itself, so that the
 * checker holds the plan, or the proof that there is none, against it. */
static arenaut_status replacement_pools(arenaut_pipeline *p, arenaut_pool *pools, uint32_t *n_pools,
                                        arenaut_error *err) {
    const arenaut_problem *problem = p->problem;
    const arenaut_pipeline_options *o = &p->options;
    const uint64_t capacity = o->plan.capacity;
    const bool named = !p->lowering && o->n_pools > 0;
    if (named && (problem->n_pools > 1 || problem->pools)) {
        return arn_pipeline_blame(p, err, "pool", "pool: this problem names its own pools");
    }
    if (o->n_pools > ARENAUT_MAX_POOLS) {
        return arn_pipeline_blame(p, err, "pool", "pool: %" PRIu32 " pools are more than %u",
                                  o->n_pools, ARENAUT_MAX_POOLS);
    }
    if (!named && !capacity) return ARENAUT_OK;
    *n_pools = named ? o->n_pools : problem->n_pools;
    memcpy(pools, named ? o->pools : problem->pool, *n_pools * sizeof *pools);
    if (capacity && *n_pools > 0 && pools[0].capacity > capacity) pools[0].capacity = capacity;
    return ARENAUT_OK;
}

static arenaut_status collect_demands(overrides *o, arenaut_error *err) {
    const arenaut_pipeline_options *options = &o->pipeline->options;
    arenaut_status st = ARENAUT_OK;
    if (options->align && !arn_is_power_of_two(options->align)) {
        return bad_alignment(o->pipeline, options->align, err);
    }
    for (size_t i = 0; i < options->n_tensor_aligns && st == ARENAUT_OK; i++) {
        st = add_alignment(o, &options->tensor_aligns[i], err);
    }
    for (size_t i = 0; i < options->n_pins && st == ARENAUT_OK; i++) {
        st = add_pin(o, &options->pins[i], err);
    }
    return st;
}

arenaut_status arn_pipeline_override(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    const arenaut_pipeline_options *options = &p->options;
    arenaut_pool pools[ARENAUT_MAX_POOLS];
    uint32_t n_pools = 0;
    arenaut_problem *with_pools = NULL;
    overrides o = {p, p->problem, NULL, 0};
    const size_t n_demands = options->n_tensor_aligns + options->n_pins;
    if (!n_demands && !options->align && !options->n_pools && !options->plan.capacity) {
        return ARENAUT_OK;
    }
    o.demands = arn_allocate(allocator, n_demands, sizeof *o.demands);
    arenaut_status st = o.demands ? replacement_pools(p, pools, &n_pools, err) : arn_no_memory(err);
    if (st == ARENAUT_OK && n_pools > 0) { /* pins name the new pools, so these come first */
        st = arenaut_problem_copy(p->problem, pools, n_pools, NULL, NULL, allocator, &with_pools,
                                  err);
        if (st == ARENAUT_OK) o.problem = with_pools;
    }
    if (st == ARENAUT_OK) st = collect_demands(&o, err);
    if (st == ARENAUT_OK) {
        st = arenaut_problem_copy(o.problem, NULL, 0, meet_demands, &o, allocator,
                                  &p->store->overridden, err);
    }
    if (st == ARENAUT_OK) p->problem = p->store->overridden;
    arenaut_problem_free(with_pools);
    arn_release(allocator, o.demands);
    return st;
}
