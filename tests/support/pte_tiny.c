#include "support/pte_tiny.h"

#include <stdlib.h>

#include "formats/pte/pte_schema.h"
#include "support/test.h"

enum { FLOAT32 = 6, SEGMENT_ALIGN = 128, NUMBER = 2 };

static size_t add_value(pte_tiny *t, unsigned index, uint8_t type, unsigned slots) {
    const size_t value = flat_item(t->file, t->values, index, 2);
    const size_t at = flat_number(t->file, value, VALUE_TYPE, 1, type);
    if (type == PTE_NULL) t->null_type = at;
    return slots ? flat_table(t->file, value, VALUE, slots) : 0;
}

/* The other method has a value of that number too, but comes later. */
static bool is_x(const pte_tiny *t, unsigned index) { return index == TINY_X && t->inputs == 0; }

static size_t add_tensor(pte_tiny *t, unsigned index) {
    static const int32_t shape[] = {2, 3};
    const size_t tensor = add_value(t, index, PTE_TENSOR, 10);
    const size_t type = flat_number(t->file, tensor, TENSOR_SCALAR_TYPE, 1, FLOAT32);
    const size_t sizes = flat_numbers(t->file, tensor, TENSOR_SIZES, shape, 2);
    if (is_x(t, index)) {
        t->x_type = type;
        t->x_sizes = sizes;
        t->x_order = flat_vector(t->file, tensor, TENSOR_DIM_ORDER, 1, 2);
        flat_store(t->file, t->x_order, 2, 0x0001); /* dimension 1, then 0 */
        t->x_storage = flat_number(t->file, tensor, TENSOR_STORAGE_OFFSET, 4, 0);
        t->x_dynamism = flat_number(t->file, tensor, TENSOR_DYNAMISM, 1, PTE_DYNAMIC_BOUND);
    }
    return tensor;
}

/* As exporters write it: zeros are left out. */
static void place(pte_tiny *t, unsigned index, size_t tensor, uint32_t memory, uint32_t offset) {
    const size_t at = flat_table(t->file, tensor, TENSOR_ALLOCATION, 3);
    const size_t memory_at = flat_number(t->file, at, ALLOCATION_MEMORY_ID, 4, memory);
    const size_t low = offset ? flat_number(t->file, at, ALLOCATION_OFFSET_LOW, 4, offset) : 0;
    if (index == TINY_Z) t->z_place = at;
    if (is_x(t, index)) {
        t->x_place_link = tensor + 8 + 8 * TENSOR_ALLOCATION; /* as flatfile lays tables out */
        t->x_memory = memory_at;
        t->x_low = low;
    }
}

static void add_placed(pte_tiny *t, unsigned index, uint32_t offset) {
    place(t, index, add_tensor(t, index), 1, offset);
}

static void add_state(pte_tiny *t, unsigned index) {
    const size_t tensor = add_tensor(t, index);
    const size_t extra = flat_table(t->file, tensor, TENSOR_EXTRA, 5);
    flat_text(t->file, extra, EXTRA_QUALIFIED_NAME, "core.state");
    place(t, index, tensor, 2, 0);
}

static void add_tensors(pte_tiny *t) {
    flatfile *f = t->file;
    add_placed(t, TINY_X, 64);
    add_placed(t, TINY_Y, 0);
    add_placed(t, TINY_Z, 32);
    add_placed(t, TINY_RESULT, 96);
    add_state(t, TINY_STATE);
    add_tensor(t, TINY_OUTSIDE);
    t->weight_buffer = flat_number(f, add_tensor(t, TINY_WEIGHT), TENSOR_DATA_BUFFER, 4, 1);
    const size_t external = flat_table(f, add_tensor(t, TINY_EXTERNAL), TENSOR_EXTRA, 5);
    flat_text(f, external, EXTRA_QUALIFIED_NAME, "far.weight");
    flat_number(f, external, EXTRA_LOCATION, 1, PTE_EXTERNAL);
    t->x_device = flat_number(f, external, EXTRA_DEVICE_TYPE, 1, 0);
    const size_t trained = add_tensor(t, TINY_TRAINED);
    t->trained_buffer = flat_number(f, trained, TENSOR_DATA_BUFFER, 4, 1);
    place(t, TINY_TRAINED, trained, 1, 128);
}

static void add_others(pte_tiny *t) {
    static const int32_t pair[] = {TINY_Y, TINY_Z}, maybe[] = {-1, TINY_NULL, TINY_Y};
    flatfile *f = t->file;
    add_value(t, TINY_ALPHA, NUMBER, 1);
    add_value(t, TINY_FALSE, PTE_BOOL, 1);
    add_value(t, TINY_CHOICE, PTE_BOOL, 1);
    t->pair_items =
        flat_numbers(f, add_value(t, TINY_PAIR, PTE_TENSOR_LIST, 1), LIST_ITEMS, pair, 2);
    t->maybe_items = flat_numbers(f, add_value(t, TINY_MAYBE, PTE_OPTIONAL_TENSOR_LIST, 1),
                                  LIST_ITEMS, maybe, 3);
    add_value(t, TINY_NULL, PTE_NULL, 0);
}

static const struct {
    const char *name, *overload;
} operators[] = {
    {"aten::add", "out"},
    {"aten::split_copy", "out"},
    {"executorch_prim::gt", "Scalar"},
    {"aten::index", "Tensor_out"},
    {"aten::copy_", ""},
    {"my::op", ""},
    {"executorch_prim::et_view", "default"},
};

static void add_operators(pte_tiny *t, size_t plan) {
    flatfile *f = t->file;
    t->operators = flat_vector(f, plan, PLAN_OPERATORS, 4, COUNT_OF(operators));
    for (unsigned i = 0; i < COUNT_OF(operators); i++) {
        const size_t at = flat_item(f, t->operators, i, 2);
        flat_text(f, at, OPERATOR_NAME, operators[i].name);
        flat_text(f, at, OPERATOR_OVERLOAD, operators[i].overload);
    }
    const size_t delegates = flat_vector(f, plan, PLAN_DELEGATES, 4, 1);
    flat_text(f, flat_item(f, delegates, 0, 3), DELEGATE_ID, "XnnpackBackend");
}

static size_t add_instruction(pte_tiny *t, unsigned index, uint8_t type, size_t *type_at) {
    const size_t at = flat_item(t->file, t->instructions, index, 2);
    *type_at = flat_number(t->file, at, INSTRUCTION_TYPE, 1, type);
    return flat_table(t->file, at, INSTRUCTION, 2);
}

static void add_call(pte_tiny *t, unsigned index, uint8_t type, uint32_t callee,
                     const int32_t *args, uint32_t n_args) {
    size_t type_at;
    const size_t call = add_instruction(t, index, type, &type_at);
    const size_t callee_at = flat_number(t->file, call, CALL_CALLEE, 4, callee);
    const size_t args_at = flat_numbers(t->file, call, CALL_ARGS, args, n_args);
    if (index == TINY_ADD) {
        t->add_type = type_at;
        t->add_operator = callee_at;
        t->add_args = args_at;
    }
    if (type == PTE_DELEGATE_CALL) t->delegate_index = callee_at;
}

#define CALL(t, index, type, callee, ...)                                 \
    do {                                                                  \
        const int32_t call_args[] = {__VA_ARGS__};                        \
        add_call(t, index, type, callee, call_args, COUNT_OF(call_args)); \
    } while (0)

/* Jumps and moves: two numbers. */
static void add_pair(pte_tiny *t, unsigned index, uint8_t type, uint32_t first, uint32_t second,
                     size_t *first_at, size_t *second_at) {
    size_t type_at;
    const size_t at = add_instruction(t, index, type, &type_at);
    *first_at = flat_number(t->file, at, 0, 4, first);
    *second_at = flat_number(t->file, at, 1, 4, second);
}

static void add_instructions(pte_tiny *t) {
    size_t unused;
    CALL(t, TINY_ADD, PTE_KERNEL_CALL, 0, TINY_X, TINY_WEIGHT, TINY_ALPHA, TINY_Y, TINY_Y);
    CALL(t, TINY_SPLIT, PTE_KERNEL_CALL, 1, TINY_X, TINY_ALPHA, TINY_PAIR, TINY_PAIR);
    CALL(t, TINY_COMPARE, PTE_KERNEL_CALL, 2, TINY_ALPHA, TINY_ALPHA, TINY_CHOICE);
    add_pair(t, TINY_BRANCH, PTE_JUMP_FALSE_CALL, TINY_CHOICE, TINY_ELSE, &t->branch_condition,
             &t->branch_target);
    CALL(t, TINY_DELEGATE, PTE_DELEGATE_CALL, 0, TINY_Y, TINY_Z);
    add_pair(t, TINY_MOVE, PTE_MOVE_CALL, TINY_Z, TINY_RESULT, &t->move_from, &t->move_to);
    add_pair(t, TINY_SKIP, PTE_JUMP_FALSE_CALL, TINY_FALSE, TINY_JOIN, &unused, &t->skip_target);
    CALL(t, TINY_ELSE, PTE_KERNEL_CALL, 3, TINY_X, TINY_MAYBE, TINY_RESULT, TINY_RESULT);
    CALL(t, TINY_JOIN, PTE_KERNEL_CALL, 4, TINY_STATE, TINY_OUTSIDE, TINY_NULL, TINY_STATE);
    CALL(t, TINY_CUSTOM, PTE_KERNEL_CALL, 5, TINY_TRAINED, TINY_EXTERNAL);
    CALL(t, TINY_VIEW, PTE_KERNEL_CALL, 6, TINY_X, TINY_ALPHA, TINY_Y);
    add_pair(t, TINY_NUMBER, PTE_MOVE_CALL, TINY_ALPHA, TINY_CHOICE, &unused, &unused);
}

/* Where each instruction comes from, for the first one alone. */
static void add_trace(pte_tiny *t, size_t chain) {
    flatfile *f = t->file;
    const size_t traces = flat_vector(f, chain, CHAIN_STACKTRACE, 4, 1);
    const size_t frames = flat_vector(f, flat_item(f, traces, 0, 1), FRAMES_ITEMS, 4, 2);
    flat_text(f, flat_item(f, frames, 0, 4), FRAME_FILE, "outer.py");
    const size_t inner = flat_item(f, frames, 1, 4);
    flat_text(f, inner, FRAME_FILE, "model.py");
    flat_number(f, inner, FRAME_LINE, 4, 12);
}

static void add_forward(pte_tiny *t, bool device) {
    static const int32_t inputs[] = {TINY_X, TINY_OUTSIDE, TINY_ALPHA}, outputs[] = {TINY_RESULT};
    flatfile *f = t->file;
    const size_t plan = flat_item(f, t->plans, 0, 10);
    flat_text(f, plan, PLAN_NAME, "forward");
    t->values = flat_vector(f, plan, PLAN_VALUES, 4, TINY_VALUES);
    add_tensors(t);
    add_others(t);
    t->inputs = flat_numbers(f, plan, PLAN_INPUTS, inputs, COUNT_OF(inputs));
    t->outputs = flat_numbers(f, plan, PLAN_OUTPUTS, outputs, COUNT_OF(outputs));
    add_operators(t, plan);
    t->chains = flat_vector(f, plan, PLAN_CHAINS, 4, 1);
    const size_t chain = flat_item(f, t->chains, 0, 4);
    t->instructions = flat_vector(f, chain, CHAIN_INSTRUCTIONS, 4, TINY_INSTRUCTIONS);
    add_instructions(t);
    add_trace(t, chain);
    /* The vector's elements are 16 bytes ahead of a multiple of 16, and so aligned. */
    t->sizes = flat_vector(f, plan, PLAN_BUFFER_SIZES, 8, 3);
    flat_store(f, t->sizes + 8, 8, 160 + 64);
    flat_store(f, t->sizes + 16, 8, 64);
    if (!device) return;
    t->devices = flat_vector(f, plan, PLAN_BUFFER_DEVICES, 4, 1);
    const size_t entry = flat_item(f, t->devices, 0, 3);
    t->device_buffer = flat_number(f, entry, DEVICE_BUFFER, 4, 2);
    t->device_type = flat_number(f, entry, DEVICE_TYPE, 1, 1);
    flat_number(f, entry, DEVICE_INDEX, 1, 3);
}

/* Names the state alone, and has no instructions. */
static void add_reset(pte_tiny *t, bool device) {
    flatfile *f = t->file;
    const size_t forward_values = t->values;
    const size_t plan = flat_item(f, t->plans, 1, 10);
    flat_text(f, plan, PLAN_NAME, "reset");
    t->values = flat_vector(f, plan, PLAN_VALUES, 4, 1);
    add_state(t, 0);
    t->values = forward_values;
    const size_t sizes = flat_vector(f, plan, PLAN_BUFFER_SIZES, 8, 3);
    flat_store(f, sizes + 16, 8, 64);
    if (!device) return;
    const size_t entry = flat_item(f, flat_vector(f, plan, PLAN_BUFFER_DEVICES, 4, 1), 0, 3);
    flat_number(f, entry, DEVICE_BUFFER, 4, 2);
    flat_number(f, entry, DEVICE_TYPE, 1, 1);
    flat_number(f, entry, DEVICE_INDEX, 1, 3);
}

pte_tiny new_pte_tiny(bool device) {
    pte_tiny t = {.file = new_flatfile(PTE_IDENTIFIER)};
    flatfile *f = t.file;
    const size_t root = flat_root(f, 8);
    t.version = flat_number(f, root, PROGRAM_VERSION, 4, PTE_VERSION);
    const size_t segments = flat_vector(f, root, PROGRAM_SEGMENTS, 4, 1);
    t.segment_size = flat_number(f, flat_item(f, segments, 0, 2), SEGMENT_SIZE, 8, 0);
    const size_t constants = flat_table(f, root, PROGRAM_CONSTANT_SEGMENT, 2);
    flat_vector(f, constants, SUBSEGMENT_OFFSETS, 8, 2);
    const size_t mutables = flat_vector(f, root, PROGRAM_MUTABLE_DATA_SEGMENTS, 4, 1);
    flat_vector(f, flat_item(f, mutables, 0, 2), SUBSEGMENT_OFFSETS, 8, 2);
    t.plans = flat_vector(f, root, PROGRAM_EXECUTION_PLAN, 4, 2);
    add_forward(&t, device);
    add_reset(&t, device);
    return t;
}

bytes pte_with_header(const pte_tiny *tiny, size_t weights, size_t slack) {
    flatfile *f = tiny->file;
    const size_t program = f->size + PTE_HEADER_BYTES;
    const size_t base = (program + slack + SEGMENT_ALIGN - 1) / SEGMENT_ALIGN * SEGMENT_ALIGN;
    flat_store(f, tiny->segment_size, 8, weights);
    const bytes file = {calloc(base + weights, 1), base + weights};
    assert_non_null(file.data);
    memcpy(file.data, f->data, 8);
    memcpy(file.data + PTE_HEADER_AT, PTE_HEADER_MAGIC, 4);
    memcpy(file.data + PTE_HEADER_AT + PTE_HEADER_BYTES, f->data + 8, f->size - 8);
    const struct {
        size_t at;
        unsigned width;
        uint64_t value;
    } numbers[] = {
        {PTE_HEADER_LENGTH, 4, PTE_HEADER_BYTES},
        {PTE_HEADER_PROGRAM_SIZE, 8, program},
        {PTE_HEADER_SEGMENT_BASE, 8, base},
        {PTE_HEADER_SEGMENT_SIZE, 8, weights},
    };
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        for (unsigned k = 0; k < numbers[i].width; k++) {
            file.data[numbers[i].at + k] = (uint8_t)(numbers[i].value >> (8 * k));
        }
    }
    file.data[0] = (uint8_t)(file.data[0] + PTE_HEADER_BYTES); /* the root is further away */
    for (size_t i = 0; i < weights; i++) file.data[base + i] = (uint8_t)(0xA0 + i);
    return file;
}
