/* A small executor with planned memory: a graph whose ops run many times, in sizes that
 * become known only as they run. Everything that an executor does with an iteration is here:
 *
 *     graph  ─►  arenaut_graph_values  ─►  an iteration for each block  ─►  runs
 *
 *     main(x):   a = x * 2                            inner(y):   t = y * y
 *                b = a + 1         over a                         r = -t       over t
 *                pair = (a2, b)    a2 = x * 3                     return r
 *                p, q = pair       borrowed
 *                c = p + q
 *                d = inner(c)      a block of its own, with an iteration of its own
 *                e = d + c
 *                return (c, e)     a tuple, which belongs to the caller
 *
 * In every third run the kernel of e brings memory of its own instead of using its place. All
 * results are compared with plain loops, and the output with expected.txt by the
 * tests.
 *
 *     cc -std=c11 -Iinclude examples/executor/[a-z]*.c build/libarenaut.a -lpthread -ldl */
#include "executor.h"

#include <stdio.h>
#include <string.h>

/* The blocks: values, nodes, kernels. */
enum { X, A, A2, B, PAIR, P, Q, C, D, E, RESULT, MAIN_VALUES };
enum { Y, T, R, INNER_VALUES };

static void times_two(executor *e, const arenaut_node *node) {
    const tensor *in = input_of(e, node, 0);
    float *out = make_output(e, node, 0, in->n);
    for (size_t i = 0; i < in->n; i++) out[i] = in->data[i] * 2;
}

static void times_three(executor *e, const arenaut_node *node) {
    const tensor *in = input_of(e, node, 0);
    float *out = make_output(e, node, 0, in->n);
    for (size_t i = 0; i < in->n; i++) out[i] = in->data[i] * 3;
}

/* Reads each element before it writes it, so that it may be run in place. */
static void plus_one(executor *e, const arenaut_node *node) {
    const tensor *in = input_of(e, node, 0);
    float *out = make_output(e, node, 0, in->n);
    for (size_t i = 0; i < in->n; i++) out[i] = in->data[i] + 1;
}

static void add(executor *e, const arenaut_node *node) {
    const tensor *a = input_of(e, node, 0), *b = input_of(e, node, 1);
    float *out = make_output(e, node, 0, a->n);
    for (size_t i = 0; i < a->n; i++) out[i] = a->data[i] + b->data[i];
}

static void square(executor *e, const arenaut_node *node) {
    const tensor *in = input_of(e, node, 0);
    float *out = make_output(e, node, 0, in->n);
    for (size_t i = 0; i < in->n; i++) out[i] = in->data[i] * in->data[i];
}

static void negate(executor *e, const arenaut_node *node) {
    const tensor *in = input_of(e, node, 0);
    float *out = make_output(e, node, 0, in->n);
    for (size_t i = 0; i < in->n; i++) out[i] = -in->data[i];
}

/* Containers own nothing here: they are lists of values. */
static void pack(executor *e, const arenaut_node *node) {
    for (uint32_t i = 0; i < node->n_inputs; i++) e->packed[i] = e->tensor[node->inputs[i]];
}

/* An unpacked value is borrowed: the same memory, under another name. */
static void unpack(executor *e, const arenaut_node *node) {
    for (uint32_t i = 0; i < node->n_outputs; i++) e->tensor[node->outputs[i]] = e->packed[i];
}

/* An inner block: its own iteration places its values. Its result is ours until the hook `release`
 * gives it up. */
static void call_inner(executor *e, const arenaut_node *node) {
    executor *inner = e->inner;
    arenaut_storage result;
    inner->tensor[Y] = *input_of(e, node, 0);
    run_block(inner);
    require(inner, arenaut_iteration_output(inner->it, R, &result, &inner->fault));
    e->tensor[node->outputs[0]] = (tensor){result.data, result.bytes / sizeof(float)};
}

/* e = d + c. Every third time the result comes in memory that the kernel has taken itself: the
 * value's storage is swapped, and the output lives there until it is released. */
static void add_or_bring(executor *e, const arenaut_node *node) {
    if (e->runs % 3) {
        add(e, node);
        return;
    }
    const tensor *a = input_of(e, node, 0), *b = input_of(e, node, 1);
    bring_storage(e, node, a->n);
    for (size_t i = 0; i < a->n; i++) e->tensor[E].data[i] = a->data[i] + b->data[i];
}

#define LIST(...) \
    (const uint32_t[]) { __VA_ARGS__ }
#define OP ARENAUT_NODE_OUT_VARIANT
static const arenaut_node main_nodes[] = {
    {OP, 1, 1, LIST(X), LIST(A), NULL},
    {OP, 1, 1, LIST(X), LIST(A2), NULL},
    {OP, 1, 1, LIST(A), LIST(B), LIST(0)},
    {ARENAUT_NODE_CONSTRUCT, 2, 1, LIST(A2, B), LIST(PAIR), NULL},
    {ARENAUT_NODE_BORROW, 1, 2, LIST(PAIR), LIST(P, Q), NULL},
    {OP, 2, 1, LIST(P, Q), LIST(C), NULL},
    {ARENAUT_NODE_TENSOR, 1, 1, LIST(C), LIST(D), NULL},
    {OP, 2, 1, LIST(D, C), LIST(E), NULL},
    {ARENAUT_NODE_RETURN, 2, 1, LIST(C, E), LIST(RESULT), NULL},
};
static kernel *const main_kernels[] = {times_two, times_three, plus_one,     pack, unpack,
                                       add,       call_inner,  add_or_bring, pack};
static const uint8_t main_types[MAIN_VALUES] = {
    ARENAUT_TYPE_TENSOR, ARENAUT_TYPE_TENSOR, ARENAUT_TYPE_TENSOR, ARENAUT_TYPE_TENSOR,
    ARENAUT_TYPE_TUPLE,  ARENAUT_TYPE_TENSOR, ARENAUT_TYPE_TENSOR, ARENAUT_TYPE_TENSOR,
    ARENAUT_TYPE_TENSOR, ARENAUT_TYPE_TENSOR, ARENAUT_TYPE_TUPLE};
static const uint32_t main_outputs[] = {C, E};
static const block main_block = {
    {main_nodes, 9, main_types, MAIN_VALUES, ARENAUT_TYPE_TUPLE, 2, main_outputs}, main_kernels};

static const arenaut_node inner_nodes[] = {{OP, 1, 1, LIST(Y), LIST(T), NULL},
                                           {OP, 1, 1, LIST(T), LIST(R), LIST(0)}};
static kernel *const inner_kernels[] = {square, negate};
static const uint8_t inner_types[INNER_VALUES] = {ARENAUT_TYPE_TENSOR, ARENAUT_TYPE_TENSOR,
                                                  ARENAUT_TYPE_TENSOR};
static const uint32_t inner_outputs[] = {R};
static const block inner_block = {
    {inner_nodes, 2, inner_types, INNER_VALUES, ARENAUT_TYPE_TENSOR, 1, inner_outputs},
    inner_kernels};

/* Holds one output against plain loops, and says where it lies. */
static void inspect(executor *e, uint32_t value, const float *x, size_t n) {
    arenaut_storage found;
    require(e, arenaut_iteration_output(e->it, value, &found, &e->fault));
    const float *data = found.data;
    bool right = found.bytes == n * sizeof *data;
    for (size_t i = 0; i < n && right; i++) {
        const float c = x[i] * 3 + (x[i] * 2 + 1);
        right = data[i] == (value == C ? c : -(c * c) + c);
    }
    const char *where = arenaut_iteration_in_output_buffer(e->it, data)    ? "its place"
                        : found.data == e->brought.data && e->brought.data ? "the kernel's memory"
                                                                           : "memory of its own";
    printf("  %s: %zu bytes in %s, %s\n", value == C ? "c" : "e", found.bytes, where,
           right ? "right" : "WRONG");
}

static void run(executor *e, const float *x, size_t n) {
    e->tensor[X] = (tensor){(float *)x, n}; /* an input: never written */
    run_block(e);
    const arenaut_iteration_figures f = arenaut_iteration_count(e->it);
    printf("run %u, %zu floats: arena %zu, outputs %zu bytes, plan %u\n", (unsigned)e->runs, n,
           f.managed_bytes, f.output_bytes, (unsigned)arenaut_iteration_plan_number(e->it));
    inspect(e, C, x, n);
    inspect(e, E, x, n);
    /* Outputs can be released one by one; the next run begins when all are. */
    require(e, arenaut_iteration_release_output(e->it, C, &e->fault));
    require(e, arenaut_iteration_release_outputs(e->it, &e->fault));
}

static void run_all(uint16_t slack) {
    enum { RUNS = 8, MOST = 400 };
    static const size_t sizes[RUNS] = {100, 100, 100, 200, 220, 240, 260, 40};
    static float x[MOST];
    static executor inner, outer;
    printf("slack %u %%\n", (unsigned)slack);
    open_executor(&inner, &inner_block, NULL, slack);
    open_executor(&outer, &main_block, &inner, slack);
    for (int r = 0; r < RUNS; r++) {
        for (size_t i = 0; i < sizes[r]; i++) x[i] = (float)((i * 7 + (size_t)r) % 31) / 4;
        run(&outer, x, sizes[r]);
    }
    const arenaut_iteration_figures f = arenaut_iteration_count(outer.it);
    printf("managed %u, of which %u share memory; outputs %u; unmanaged %u\n", (unsigned)f.managed,
           (unsigned)f.reused, (unsigned)f.managed_outputs, (unsigned)f.unmanaged);
    printf("outgrew their places: %u times, %zu bytes in all, %zu at most\n", (unsigned)f.overflows,
           f.overflow_bytes, f.largest_overflow);
    close_executor(&outer);
    close_executor(&inner);
}

int main(void) {
    run_all(0);
    run_all(50);
    return 0;
}
