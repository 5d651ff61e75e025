/* Memory of a micro runtime besides the plan, counted as it allocates: the tail from the end of the
 * memory downwards, struct by struct, and its notes in the head. Interpreters that share an
 * allocator follow one another in the tail and share the head. */
#include <string.h>

#include <arenaut/program.h>
#include <arenaut/tensor_arena.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/name_tree.h"
#include "kernels/kernel_set.h"

/* Variables that ops read and give values by a handle, not tensors that are state. */

typedef struct arn_variables {
    uint32_t n;     /* by their names */
    uint64_t bytes; /* of all that get a value in the method that names them, each rounded up */
} arn_variables;

/* Count of variables: VAR_HANDLE makes a handle on one, by its name, and the first ASSIGN_VARIABLE
 * with such a handle gives it room. */

typedef struct counting {
    const arenaut_program *program;
    arn_region region; /* of the names */
    arn_name_tree names;
    uint32_t *behind; /* by tensor: the variable that it is a handle on; ARENAUT_NONE: none */
    bool *has_room;   /* by variable */
} counting;

static bool is_op(const arenaut_op *op, const char *name) {
    return op->name && strcmp(op->name, name) == 0;
}

static const char *shared_name(const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        if (strcmp(op->attributes[i].name, "shared_name") == 0) return op->attributes[i].text;
    }
    return NULL;
}

/* Without a name they are one. False if there is no memory. */
static bool take_handle(counting *c, const arenaut_op *op, arn_variables *variables) {
    const char *text = shared_name(op);
    const arn_name name = {(const uint8_t *)(text ? text : ""), text ? strlen(text) : 0};
    uint32_t number = variables->n;
    bool found;
    if (!arn_name_tree_add(&c->names, &c->region, name, &number, &found)) return false;
    variables->n += !found;
    if (op->n_outputs && op->outputs[0] != ARENAUT_NONE) c->behind[op->outputs[0]] = number;
    return true;
}

/* False past 2^63 - 1 bytes. */
static bool take_value(counting *c, const arenaut_op *op, uint64_t align,
                       arn_variables *variables) {
    uint64_t bytes;
    if (op->n_inputs < 2 || op->inputs[0] == ARENAUT_NONE || op->inputs[1] == ARENAUT_NONE) {
        return true;
    }
    const uint32_t number = c->behind[op->inputs[0]];
    if (number == ARENAUT_NONE || c->has_room[number]) return true;
    c->has_room[number] = true;
    return arn_align_up(c->program->tensors[op->inputs[1]].bytes, align, &bytes) &&
           arn_add(variables->bytes, bytes, &variables->bytes);
}

static arenaut_status count(counting *c, uint64_t align, arn_variables *variables,
                            arenaut_error *err) {
    const arenaut_program *p = c->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) c->behind[t] = ARENAUT_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (is_op(op, "VAR_HANDLE") && !take_handle(c, op, variables)) return arn_no_memory(err);
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (!is_op(op, "ASSIGN_VARIABLE") || take_value(c, op, align, variables)) continue;
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "the variables are larger than 2^63 - 1 bytes");
    }
    return ARENAUT_OK;
}

/* TOO_LARGE past 2^63 - 1 bytes. O(tensors + ops), and the names. */
static arenaut_status count_variables(const arenaut_program *program, uint64_t align,
                                      const arenaut_allocator *allocator, arn_variables *variables,
                                      arenaut_error *err) {
    counting c = {.program = program};
    arn_region_init(&c.region, allocator);
    c.behind = arn_allocate(allocator, program->n_tensors, sizeof *c.behind);
    c.has_room = arn_allocate_zeroed(allocator, program->n_ops, sizeof *c.has_room);
    *variables = (arn_variables){0};
    const arenaut_status st =
        c.behind && c.has_room ? count(&c, align, variables, err) : arn_no_memory(err);
    ARN_RELEASE(allocator, c.behind, c.has_room);
    arn_region_free(&c.region);
    return st;
}

/* ---- the arena ---- */

/* Both ends, as allocations come. */
typedef struct arena_count {
    const arenaut_result *result;
    const arenaut_target *target;
    const arenaut_arena_layout *layout;
    arn_variables variables;
    arenaut_tensor_arena *arena;
    bool fits; /* below 2^63 */
} arena_count;

const char *arenaut_tail_kind_name(arenaut_tail_kind kind) {
    static const char *const names[] = {
#define NAME(kind, text) text,
        ARENAUT_TAIL_MAP(NAME)
#undef NAME
    };
    return (unsigned)kind < ARENAUT_TAIL_KINDS ? names[kind] : NULL;
}

/* `n` structs of so many bytes, below those before. */
static bool add_below(uint64_t n, uint64_t bytes, uint64_t align, uint64_t *size, uint64_t *end) {
    uint64_t sum = 0;
    return arn_multiply(n, bytes, size) && arn_add(*end, *size, &sum) &&
           arn_align_up(sum, align, end);
}

static void keep(arena_count *c, arenaut_tail_kind kind, uint64_t n, uint64_t bytes,
                 uint64_t align) {
    arenaut_tensor_arena *arena = c->arena;
    const uint64_t before = arena->tail;
    uint64_t size = 0;
    c->fits = c->fits && add_below(n, bytes, align, &size, &arena->tail);
    if (!c->fits) return;
    arena->part[kind] += size;
    arena->padding += arena->tail - before - size;
}

/* So many bytes of the head are in use while the tail is as large as it is now. */
static void use_head(arena_count *c, uint64_t bytes) {
    uint64_t whole = 0;
    if (!c->arena->apart)
        c->fits = c->fits && arn_align_up(c->arena->tail, c->target->align, &whole);
    c->fits = c->fits && arn_add(whole, bytes, &whole);
    if (c->fits) c->arena->planning = arn_max_u64(c->arena->planning, whole);
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
    if (c->arena->models == 0) {
        keep(c, ARENAUT_TAIL_BASE, 1, c->arena->apart ? l->base_apart : l->base, l->pointer);
    }
    if (c->variables.n) {
        keep(c, ARENAUT_TAIL_VARIABLES, 1, l->variables, c->target->align);
        keep(c, ARENAUT_TAIL_VARIABLES, c->variables.n, l->variable, c->target->align);
    }
    keep(c, ARENAUT_TAIL_BASE, 1, l->builtin, l->pointer);
    keep(c, ARENAUT_TAIL_BASE, p->n_methods, l->method, l->pointer);
    uint64_t n_tensors = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) n_tensors += !is_scratch(&p->tensors[t]);
    keep(c, ARENAUT_TAIL_TENSORS, n_tensors, l->tensor, l->pointer);
    keep(c, ARENAUT_TAIL_NODES, p->n_ops, l->op, l->pointer);
}

/* Flags lie anywhere, numbers at multiples of 4; the larger structs may hold a pointer. */
static uint64_t options_align(uint64_t size, uint32_t pointer) {
    if (size % 4) return 1;
    return size >= 16 && size % pointer == 0 ? pointer : 4;
}

static bool kept_for(const arenaut_result *result, const arenaut_target *target, uint32_t op,
                     arn_persistent *kept) {
    const arenaut_program *p = result->program;
    return arn_kernel_persistent(result->kernels, p, &p->ops[op], target->layout->pointer,
                                 target->align, kept);
}

static bool kept_by(const arena_count *c, uint32_t op, arn_persistent *kept) {
    return kept_for(c->result, c->target, op, kept);
}

arenaut_op_tail arenaut_op_tail_find(const arenaut_result *result, const arenaut_target *target,
                                     uint32_t op) {
    arn_persistent kept;
    arenaut_op_tail tail = {.node = target->layout->op};
    tail.known = kept_for(result, target, op, &kept);
    tail.options = kept.options;
    tail.kernel = kept.data;
    tail.channels = kept.looks_twice ? kept.data - kept.begun : 0;
    return tail;
}

/* The runtime's description of an argument for the kernel that is prepared: a struct of its own,
 * and a list of zero points, one for each scale. */
static void describe_argument(arena_count *c, uint32_t tensor, uint64_t times, arena_count *head) {
    const arenaut_arena_layout *l = c->layout;
    if (tensor == ARENAUT_NONE) return;
    const uint64_t n_scales = c->result->program->tensors[tensor].n_scales;
    for (uint64_t i = 0; i < times; i++) {
        keep(head, ARENAUT_TAIL_ARGUMENTS, 1, l->argument, l->pointer);
        if (n_scales == 0) continue;
        keep(head, ARENAUT_TAIL_ARGUMENTS, 1, l->quantization, l->pointer);
        keep(head, ARENAUT_TAIL_ARGUMENTS, n_scales + 1, 4, l->pointer);
    }
}

/* All arguments of an op at once, behind the requests of scratch. The bias comes last. */
static void prepare_op(arena_count *c, const arenaut_op *op, bool looks_twice) {
    arenaut_tensor_arena bytes = {0};
    arena_count head = {.arena = &bytes, .fits = true};
    enum { BIAS = 2 };
    keep(&head, ARENAUT_TAIL_SCRATCH, count_scratch(c->result->program) + c->layout->n_requests,
         c->layout->request, c->layout->pointer);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const bool is_bias = i >= BIAS && i + 1 == op->n_inputs;
        describe_argument(c, op->inputs[i], looks_twice && !is_bias ? 2 : 1, &head);
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        describe_argument(c, op->outputs[i], looks_twice ? 2 : 1, &head);
    }
    c->fits = c->fits && head.fits;
    use_head(c, bytes.tail);
}

/* Options of all ops come first, then the data with which their kernels begin, then more from each
 * that is prepared. */
static void keep_ops(arena_count *c, uint32_t *unknown) {
    const arenaut_program *p = c->result->program;
    arn_persistent kept;
    uint64_t data = 0;
    *unknown = ARENAUT_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (!kept_by(c, i, &kept) && *unknown == ARENAUT_NONE) *unknown = i;
        keep(c, ARENAUT_TAIL_OPTIONS, 1, kept.options,
             options_align(kept.options, c->layout->pointer));
        c->fits = c->fits && arn_add(data, kept.data, &data);
    }
    if (data || c->variables.bytes) keep(c, ARENAUT_TAIL_KERNELS, 1, 0, c->target->align);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        kept_by(c, i, &kept);
        keep(c, ARENAUT_TAIL_KERNELS, 1, kept.begun, 1);
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        kept_by(c, i, &kept);
        keep(c, ARENAUT_TAIL_KERNELS, 1, kept.data - kept.begun, 1);
        prepare_op(c, &p->ops[i], kept.looks_twice);
    }
    keep(c, ARENAUT_TAIL_VARIABLES, 1, c->variables.bytes, 1);
}

static void keep_variables(arena_count *c) {
    const arenaut_program *p = c->result->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        if (tensor->cls != ARENAUT_STATE || is_planned(tensor)) continue;
        keep(c, ARENAUT_TAIL_VARIABLES, 1, tensor->bytes, c->target->align);
    }
}

/* The application's handles on inputs and outputs, with their quantization. */
static void keep_arguments(arena_count *c, const uint32_t *tensors, uint32_t n) {
    const arenaut_arena_layout *l = c->layout;
    keep(c, ARENAUT_TAIL_ARGUMENTS, n, l->pointer, c->target->align);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t n_scales = c->result->program->tensors[tensors[i]].n_scales;
        keep(c, ARENAUT_TAIL_ARGUMENTS, 1, l->argument, l->pointer);
        if (n_scales == 0) continue;
        keep(c, ARENAUT_TAIL_ARGUMENTS, 1, l->quantization, l->pointer);
        keep(c, ARENAUT_TAIL_ARGUMENTS, n_scales + 1, 4, 4);
    }
}

/* In the head: requests, the start of each method's notes, one for each tensor; then the planner's
 * notes on buffers. */
static uint64_t notes_of(arena_count *c) {
    const arenaut_program *p = c->result->program;
    const arenaut_arena_layout *l = c->layout;
    arenaut_tensor_arena bytes = {0};
    arena_count head = {.arena = &bytes, .fits = true};
    uint64_t n_planned = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) n_planned += is_planned(&p->tensors[t]);
    keep(&head, ARENAUT_TAIL_SCRATCH, count_scratch(p) + l->n_requests, l->request, l->pointer);
    keep(&head, ARENAUT_TAIL_NODES, p->n_methods, l->pointer, l->pointer);
    keep(&head, ARENAUT_TAIL_TENSORS, p->n_tensors, l->tensor_note, c->target->align);
    keep(&head, ARENAUT_TAIL_TENSORS, n_planned, l->buffer_note, 1);
    c->fits = c->fits && head.fits;
    return bytes.tail;
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
static void add_up(arena_count *c, uint32_t *unknown) {
    const arenaut_method *entry = &c->result->program->methods[0];
    arenaut_tensor_arena *arena = c->arena;
    keep_graph(c);
    keep_ops(c, unknown);
    keep(c, ARENAUT_TAIL_SCRATCH, count_scratch(c->result->program), c->layout->scratch,
         c->layout->pointer);
    keep_variables(c);
    const uint64_t notes = notes_of(c);
    arena->notes = arn_max_u64(arena->notes, notes);
    use_head(c, notes);
    keep_arguments(c, entry->inputs, entry->n_inputs);
    keep_arguments(c, entry->outputs, entry->n_outputs);
}

/* Head and sum, once the tail is known. */
static void close_head(arena_count *c) {
    arenaut_tensor_arena *arena = c->arena;
    const uint64_t align = c->target->align;
    const uint64_t less = arena->apart ? 0 : arena->tail;
    uint64_t head = 0, tail = 0;
    arena->head = arn_max_u64(arena->tensors, arena->planning > less ? arena->planning - less : 0);
    c->fits = c->fits && arn_align_up(arena->head, arena->apart ? align : 1, &head) &&
              arn_align_up(arena->tail, arena->apart ? align : 1, &tail) &&
              arn_add(head, tail, &arena->total) &&
              arn_align_up(arena->total, align, &arena->total);
}

/* No arena is enough for a model that the runtime does not take. */
static bool is_refused(const arenaut_result *result) {
    const arenaut_op_support support =
        arenaut_kernel_support_all(result->kernels, result->program, NULL);
    return support == ARENAUT_OP_REFUSED || support == ARENAUT_OP_MISSING;
}

arenaut_status arenaut_tensor_arena_add(const arenaut_result *result, uint64_t planned,
                                        const arenaut_target *target,
                                        const arenaut_allocator *allocator,
                                        arenaut_tensor_arena *arena, arenaut_error *err) {
    if (!result->program || result->program->n_methods == 0 || !target || !target->layout) {
        return arn_fail(
            err, ARENAUT_BAD_ARGUMENT, 0,
            "only a model has a whole arena, in a runtime that keeps its own data there");
    }
    const arenaut_allocator taken = arn_allocator_or_default(allocator);
    arenaut_tensor_arena sum = *arena;
    uint32_t unknown = ARENAUT_NONE;
    arena_count count = {
        .result = result, .target = target, .layout = target->layout, .arena = &sum, .fits = true};
    const arenaut_status st =
        count_variables(result->program, target->align, &taken, &count.variables, err);
    if (st != ARENAUT_OK) return st;
    sum.tensors = arn_max_u64(sum.tensors, planned);
    sum.scratch = arn_max_u64(sum.scratch, most_scratch(result->program));
    add_up(&count, &unknown);
    close_head(&count);
    if (sum.models == 0 || sum.op == ARENAUT_NONE) sum.op = unknown;
    sum.exact = (sum.exact || sum.models == 0) && unknown == ARENAUT_NONE &&
                result->scratch != ARENAUT_SCRATCH_UNKNOWN && !is_refused(result);
    sum.models++;
    if (!count.fits)
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "the arena is larger than 2^63 - 1 bytes");
    *arena = sum;
    return ARENAUT_OK;
}

arenaut_status arenaut_tensor_arena_find(const arenaut_result *result, uint64_t planned,
                                         const arenaut_target *target,
                                         const arenaut_allocator *allocator,
                                         arenaut_tensor_arena *arena, arenaut_error *err) {
    arenaut_tensor_arena found = {0};
    const arenaut_status st =
        arenaut_tensor_arena_add(result, planned, target, allocator, &found, err);
    if (st == ARENAUT_OK) *arena = found;
    return st;
}
