/* Places that a program states for each tensor by itself, as program JSON does: after all passes,
 * of any maker and for any runtime. Nothing fills them in; the program is replayed over just these.
 * O(tensors), and the cost of the replay. */
#include "stages/stages.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "ir/program.h"

bool arenaut_pipeline_states_places(const arenaut_pipeline *p) {
    const arenaut_document *document = &p->document;
    return document->program && strcmp(document->format->name, "program-json") == 0 &&
           document->program->given != ARENAUT_GIVEN_NONE &&
           !arn_states_memories(document->program);
}

typedef struct places {
    uint32_t *pool;
    uint64_t *offset;
    uint64_t arena[ARENAUT_MAX_POOLS];
    uint32_t n_pools;
} places;

static void place_tensors(const arenaut_program *program, places *placed,
                          arenaut_stated_places *stated) {
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        const bool has_place = tensor->given_offset <= ARENAUT_SIZE_MAX - tensor->bytes &&
                               tensor->given_pool < ARENAUT_MAX_POOLS;
        const uint32_t pool = has_place ? tensor->given_pool : ARENAUT_NONE;
        placed->pool[t] = pool;
        placed->offset[t] = has_place ? tensor->given_offset : 0;
        if (!has_place) continue;
        uint64_t *arena = &placed->arena[pool];
        *arena = arn_max_u64(*arena, tensor->given_offset + tensor->bytes);
        if (pool >= placed->n_pools) placed->n_pools = pool + 1;
        stated->n_placed++;
    }
    for (uint32_t k = 0; k < placed->n_pools; k++) stated->bytes += placed->arena[k];
}

static const arenaut_kernel_set *choose_kernels(const arenaut_pipeline *p,
                                                const arenaut_target *target) {
    const char *name = p->document.program->given_kernels.name;
    const arenaut_kernel_set *named = name ? arenaut_kernel_set_find(name) : NULL;
    if (p->options.kernels) return p->options.kernels;
    return named ? named : p->options.overlap ? target->kernels : NULL;
}

static arenaut_status replay(const arenaut_pipeline *p, const places *placed,
                             arenaut_stated_places *stated, arenaut_finding *finding,
                             arenaut_error *err) {
    const arenaut_pipeline_options *o = &p->options;
    const arenaut_program *program = p->document.program;
    const arenaut_target *target =
        o->target ? o->target : arenaut_target_for_format(p->document.format->name);
    const arenaut_placement placement = {program->n_tensors, placed->n_pools, placed->pool,
                                         placed->offset, placed->arena};
    stated->kernels = choose_kernels(p, target);
    const arenaut_replay_options options = {
        .keep_inputs = o->preserve_inputs || target->keep_inputs,
        .exclude_io = o->exclude_io,
        .kernels = stated->kernels,
        .unmeasured = o->unmeasured || program->given_kernels.unmeasured};
    return arenaut_check_replay(program, &placement, &options, arn_pipeline_allocator(p), finding,
                                err);
}

arenaut_status arenaut_pipeline_check_stated(const arenaut_pipeline *p,
                                             arenaut_stated_places *stated,
                                             arenaut_finding *finding, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_READ, ARN_PIPELINE_READ, err);
    if (st != ARENAUT_OK) return st;
    const uint32_t n = p->document.program->n_tensors;
    places placed = {.pool = arn_allocate(allocator, n, sizeof *placed.pool),
                     .offset = arn_allocate(allocator, n, sizeof *placed.offset)};
    *stated = (arenaut_stated_places){0};
    if (placed.pool && placed.offset) {
        place_tensors(p->document.program, &placed, stated);
        st = replay(p, &placed, stated, finding, err);
    } else {
        st = arn_no_memory(err);
    }
    ARN_RELEASE(allocator, placed.pool, placed.offset);
    return st;
}

static void copy_places(const arenaut_program *from, arenaut_program *to) {
    to->given = from->given;
    to->given_kernels = from->given_kernels;
    for (uint32_t t = 0; t < to->n_tensors; t++) {
        to->tensors[t].given_pool = from->tensors[t].given_pool;
        to->tensors[t].given_offset = from->tensors[t].given_offset;
    }
    for (uint32_t m = 0; m < to->n_methods; m++) {
        to->methods[m].given_pools = from->methods[m].given_pools;
        to->methods[m].n_given_pools = from->methods[m].n_given_pools;
    }
}

static bool same_op(const arenaut_op *a, const arenaut_op *b) {
    return a->kind == b->kind && a->method == b->method &&
           arn_same_ids(a->inputs, a->n_inputs, b->inputs, b->n_inputs) &&
           arn_same_ids(a->outputs, a->n_outputs, b->outputs, b->n_outputs) &&
           strcmp(a->name ? a->name : "", b->name ? b->name : "") == 0;
}

static arenaut_status compare_programs(const char *path, const arenaut_program *a,
                                       const arenaut_program *b, arenaut_error *err) {
    char store[24];
    if (a->n_methods != b->n_methods || a->n_tensors != b->n_tensors || a->n_ops != b->n_ops) {
        return arn_fail(err, ARENAUT_REJECTED, 0,
                        "is another program: %" PRIu32 " methods, %" PRIu32 " ops, %" PRIu32
                        " tensors; %s has %" PRIu32 ", %" PRIu32 ", %" PRIu32,
                        b->n_methods, b->n_ops, b->n_tensors, path, a->n_methods, a->n_ops,
                        a->n_tensors);
    }
    for (uint32_t t = 0; t < a->n_tensors; t++) {
        const arenaut_tensor *ta = &a->tensors[t], *tb = &b->tensors[t];
        if (ta->bytes == tb->bytes && ta->cls == tb->cls && ta->method == tb->method) {
            continue;
        }
        return arn_fail(err, ARENAUT_REJECTED, 0,
                        "is another program: tensor %" PRIu32 " ('%s') has %" PRIu64
                        " bytes, and %" PRIu64 " in %s",
                        t, arenaut_program_tensor_name(b, t, store), tb->bytes, ta->bytes, path);
    }
    for (uint32_t i = 0; i < a->n_ops; i++) {
        if (same_op(&a->ops[i], &b->ops[i])) continue;
        return arn_fail(err, ARENAUT_REJECTED, 0,
                        "is another program: op %" PRIu32 " ('%s') differs", i,
                        b->ops[i].name ? b->ops[i].name : "");
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_pipeline_take_places(arenaut_pipeline *p, const arenaut_program *planned,
                                            arenaut_error *err) {
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_READ, ARN_PIPELINE_READ, err);
    if (st == ARENAUT_OK) {
        st = compare_programs(p->options.path, p->document.program, planned, err);
    }
    if (st != ARENAUT_OK) return st;
    copy_places(planned, p->document.program);
    return ARENAUT_OK;
}
