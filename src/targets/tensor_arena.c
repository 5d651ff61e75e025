/* Memory of a micro runtime besides the plan, counted as it allocates: the tail from the end of the
 * memory downwards, struct by struct, and its notes in the head. */
#include <arenaut/tensor_arena.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "kernels/kernel_set.h"
#include "targets/variables.h"

/* Both ends, as allocations come. */
typedef struct arena_count {
    const arenaut_result *result;
    const arenaut_target *target;
    const arenaut_arena_layout *layout;
    arn_variables variables;
    uint64_t tail, padding;
    bool fits; /* below 2^63 */
} arena_count;

/* `n` structs of so many bytes, below the structs before. */
static void keep(arena_count *c, uint64_t n, uint64_t bytes, uint64_t align) {
    uint64_t size, end = 0;
    c->fits = c->fits && arn_multiply(n, bytes, &size) && arn_add(c->tail, size, &end) &&
              arn_align_up(end, align, &c->tail);
    if (c->fits) c->padding += c->tail - end;
}

static bool is_scratch(const arenaut_tensor *tensor) { return tensor->cls == ARENAUT_SCRATCH; }

/* Whether the runtime gives the tensor a place when it plans. */
static bool is_planned(const arenaut_tensor *tensor) {
    if (tensor->cls == ARENAUT_STATE) return tensor->given_offset != ARENAUT_UNPLACED;
    return tensor->cls != ARENAUT_CONSTANT && tensor->bytes > 0;
}

static uint64_t count_scratch(const arenaut_program *p) {
    uint64_t n = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) n += is_scratch(&p->tensors[t]);
    return n;
}

/* Memory kept before kernels are prepared. */
static void keep_graph(arena_count *c) {
    const arenaut_program *p = c->result->program;
    const arenaut_arena_layout *l = c->layout;
    keep(c, 1, l->base, l->pointer);
    if (c->variables.n) {
        keep(c, 1, l->variables, c->target->align);
        keep(c, c->variables.n, l->variable, c->target->align);
    }
    keep(c, 1, l->builtin, l->pointer);
    keep(c, p->n_methods, l->method, l->pointer);
    uint64_t n_tensors = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) n_tensors += !is_scratch(&p->tensors[t]);
    keep(c, n_tensors, l->tensor, l->pointer);
    keep(c, p->n_ops, l->op, l->pointer);
}

/* Flags lie anywhere, numbers at multiples of 4; the larger structs may hold a pointer. */
static uint64_t options_align(uint64_t size, uint32_t pointer) {
    if (size % 4) return 1;
    return size >= 16 && size % pointer == 0 ? pointer : 4;
}

/* Options of all ops come first, then the data of their kernels. */
static void keep_ops(arena_count *c, arenaut_tensor_arena *arena) {
    const arenaut_program *p = c->result->program;
    uint64_t data = c->variables.bytes;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        arn_persistent kept;
        const bool known = arn_kernel_persistent(c->result->kernels, p, &p->ops[i],
                                                 c->layout->pointer, c->target->align, &kept);
        if (!known && arena->op == ARENAUT_NONE) arena->op = i;
        keep(c, 1, kept.options, options_align(kept.options, c->layout->pointer));
        c->fits = c->fits && arn_add(data, kept.data, &data);
    }
    if (data) keep(c, 1, 0, c->target->align);
    keep(c, 1, data, 1);
}

static void keep_variables(arena_count *c) {
    const arenaut_program *p = c->result->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        if (tensor->cls != ARENAUT_STATE || is_planned(tensor)) continue;
        keep(c, 1, tensor->bytes, c->target->align);
    }
}

/* The application's handles on inputs and outputs, with their quantization. */
static void keep_arguments(arena_count *c, const uint32_t *tensors, uint32_t n) {
    const arenaut_arena_layout *l = c->layout;
    keep(c, n, l->pointer, c->target->align);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t n_scales = c->result->program->tensors[tensors[i]].n_scales;
        keep(c, 1, l->argument, l->pointer);
        if (n_scales == 0) continue;
        keep(c, 1, l->quantization, l->pointer);
        keep(c, n_scales + 1, 4, 4);
    }
}

/* In the head: requests, the start of each method's notes, one for each tensor; then the planner's
 * notes on buffers. */
static uint64_t notes_of(arena_count *c) {
    const arenaut_program *p = c->result->program;
    const arenaut_arena_layout *l = c->layout;
    arena_count head = {.fits = true};
    uint64_t n_planned = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) n_planned += is_planned(&p->tensors[t]);
    keep(&head, count_scratch(p) + l->n_requests, l->request, l->pointer);
    keep(&head, p->n_methods, l->pointer, l->pointer);
    keep(&head, p->n_tensors, l->tensor_note, c->target->align);
    keep(&head, n_planned, l->buffer_note, 1);
    c->fits = c->fits && head.fits;
    return head.tail;
}

static uint64_t most_scratch(const arenaut_program *p) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        uint64_t sum = 0;
        for (uint32_t k = 0; k < p->ops[i].n_scratch; k++) {
            const uint64_t bytes = p->tensors[p->ops[i].scratch[k]].bytes;
            if (!arn_add(sum, bytes, &sum)) sum = UINT64_MAX;
        }
        most = arn_max_u64(most, sum);
    }
    return most;
}

/* The notes are made before the handles on inputs and outputs: then the tail is shorter. */
static void add_up(arena_count *c, arenaut_tensor_arena *arena) {
    const arenaut_method *entry = &c->result->program->methods[0];
    keep_graph(c);
    keep_ops(c, arena);
    keep(c, count_scratch(c->result->program), c->layout->scratch, c->layout->pointer);
    keep_variables(c);
    uint64_t planning = 0;
    arena->notes = notes_of(c);
    c->fits = c->fits && arn_align_up(c->tail, c->target->align, &planning) &&
              arn_add(planning, arena->notes, &planning);
    keep_arguments(c, entry->inputs, entry->n_inputs);
    keep_arguments(c, entry->outputs, entry->n_outputs);
    arena->tail = c->tail;
    arena->padding = c->padding;
    arena->head = arn_max_u64(arena->tensors, planning > c->tail ? planning - c->tail : 0);
    c->fits = c->fits && arn_add(arena->head, arena->tail, &arena->total) &&
              arn_align_up(arena->total, c->target->align, &arena->total);
}

/* No arena is enough for a model that the runtime does not take. */
static bool is_refused(const arenaut_result *result) {
    const arenaut_op_support support =
        arenaut_kernel_support_all(result->kernels, result->program, NULL);
    return support == ARENAUT_OP_REFUSED || support == ARENAUT_OP_MISSING;
}

arenaut_status arenaut_tensor_arena_find(const arenaut_result *result, uint64_t planned,
                                         const arenaut_target *target,
                                         const arenaut_allocator *allocator,
                                         arenaut_tensor_arena *arena, arenaut_error *err) {
    if (!result->program || result->program->n_methods == 0 || !target || !target->layout) {
        return arn_fail(
            err, ARENAUT_BAD_ARGUMENT, 0,
            "only a model has a whole arena, in a runtime that keeps its own data there");
    }
    const arenaut_allocator taken = arn_allocator_or_default(allocator);
    arena_count count = {
        .result = result, .target = target, .layout = target->layout, .fits = true};
    const arenaut_status st =
        arn_count_variables(result->program, target->align, &taken, &count.variables, err);
    if (st != ARENAUT_OK) return st;
    *arena = (arenaut_tensor_arena){.tensors = planned, .op = ARENAUT_NONE};
    arena->scratch = most_scratch(result->program);
    add_up(&count, arena);
    arena->exact = arena->op == ARENAUT_NONE && result->scratch != ARENAUT_SCRATCH_UNKNOWN &&
                   !is_refused(result);
    if (count.fits) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_TOO_LARGE, 0, "the arena is larger than 2^63 - 1 bytes");
}
