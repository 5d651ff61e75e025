/* Values of graphs: kinds, lifetimes, storage groups. The cases are those of Static Runtime's
 * ManagedTensorRanges and AssignStorageToManagedTensors, in our own words. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/runtime_graph.h>

#include "support/faults.h"
#include "support/memory_source.h"
#include "support/random.h"

enum { MAX_VALUES = 16, MAX_NODES = 12, MAX_ARGUMENTS = 4 };

typedef struct drawing {
    arenaut_graph graph;
    arenaut_node node[MAX_NODES];
    uint32_t argument[MAX_NODES][2][MAX_ARGUMENTS];
    uint32_t over[MAX_NODES][1]; /* of the first output */
    uint8_t type[MAX_VALUES];
    uint32_t output[MAX_ARGUMENTS];
} drawing;

enum { END = ARENAUT_NO_VALUE - 1 }; /* of a list of values */

static void draw(drawing *d, uint32_t n_values) {
    memset(d, 0, sizeof *d);
    for (uint32_t v = 0; v < MAX_VALUES; v++) d->type[v] = ARENAUT_TYPE_TENSOR;
    d->graph = (arenaut_graph){
        .node = d->node, .type = d->type, .n_values = n_values, .outputs = d->output};
}

static uint32_t count_values(const uint32_t *list, uint32_t *to) {
    uint32_t n = 0;
    for (; list[n] != END; n++) to[n] = list[n];
    return n;
}

/* add(&d, KIND, LIST(inputs), LIST(outputs)) */
#define LIST(...) ((const uint32_t[]){__VA_ARGS__, END})
#define EMPTY ((const uint32_t[]){END})
static void add(drawing *d, arenaut_node_kind kind, const uint32_t *inputs,
                const uint32_t *outputs) {
    const uint32_t k = d->graph.n_nodes++;
    d->node[k] = (arenaut_node){(uint8_t)kind,
                                count_values(inputs, d->argument[k][0]),
                                count_values(outputs, d->argument[k][1]),
                                d->argument[k][0],
                                d->argument[k][1],
                                NULL};
}
#define OP ARENAUT_NODE_OUT_VARIANT

static void give_back(drawing *d, arenaut_value_type result, const uint32_t *outputs) {
    d->graph.result = (uint8_t)result;
    d->graph.n_outputs = count_values(outputs, d->output);
}

static void analyse(const drawing *d, const arenaut_iteration_options *options,
                    arenaut_value *value) {
    arenaut_fault fault;
    assert_fine(arenaut_graph_values(&d->graph, options, value, &fault));
}

/* The managed values whose last step is `node`, as bits. */
static uint32_t freed_after(const arenaut_value *value, uint32_t n, uint32_t node) {
    uint32_t bits = 0;
    for (uint32_t v = 0; v < n; v++) {
        if (value[v].kind == ARENAUT_VALUE_MANAGED && value[v].last == node) bits |= 1u << v;
    }
    return bits;
}

/* x ─► y ─► z ─► out, y = x·x, z = y·x, out = z·z */
TEST(a_value_is_freed_after_its_last_reader) {
    enum { X, Y, Z, OUT, N };
    drawing d;
    arenaut_value value[N];
    draw(&d, N);
    add(&d, OP, LIST(X, X), LIST(Y));
    add(&d, OP, LIST(Y, X), LIST(Z));
    add(&d, OP, LIST(Z, Z), LIST(OUT));
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(OUT));
    analyse(&d, NULL, value);
    assert_int_equal(value[X].kind, ARENAUT_VALUE_EXTERNAL);
    assert_int_equal(value[OUT].kind, ARENAUT_VALUE_OUTPUT);
    assert_int_equal(freed_after(value, N, 0), 0);
    assert_int_equal(freed_after(value, N, 1), 1u << Y);
    assert_int_equal(freed_after(value, N, 2), 1u << Z);
    assert_int_equal(value[OUT].last, 3); /* the return */
}

/* z1 = y·y, then a view of y, read by z2: y lives for it. */
TEST(a_view_keeps_its_base_alive) {
    enum { X, Y, Z1, SIZES, VIEW, Z2, OUT, N };
    drawing d;
    arenaut_value value[N];
    draw(&d, N);
    d.type[SIZES] = ARENAUT_TYPE_LIST;
    add(&d, OP, LIST(X, X), LIST(Y));
    add(&d, OP, LIST(Y, Y), LIST(Z1));
    add(&d, ARENAUT_NODE_TENSOR, LIST(Y), LIST(SIZES));
    add(&d, ARENAUT_NODE_ALIAS, LIST(Y, SIZES), LIST(VIEW));
    add(&d, OP, LIST(VIEW), LIST(Z2));
    add(&d, OP, LIST(Z1, Z2), LIST(OUT));
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(OUT));
    analyse(&d, NULL, value);
    for (uint32_t k = 0; k < 4; k++) assert_int_equal(freed_after(value, N, k), 0);
    assert_int_equal(freed_after(value, N, 4), 1u << Y);
    assert_int_equal(freed_after(value, N, 5), 1u << Z1 | 1u << Z2);
    assert_int_equal(value[VIEW].kind, ARENAUT_VALUE_UNMANAGED);
}

TEST(views_copy_and_are_managed_with_out_variants) {
    enum { X, Y, VIEW, OUT, N };
    drawing d;
    arenaut_value value[N];
    arenaut_iteration_options off = arenaut_iteration_defaults();
    off.out_variants = off.manage_outputs = off.optimise_memory = false;
    draw(&d, N);
    add(&d, OP, LIST(X), LIST(Y));
    add(&d, ARENAUT_NODE_VIEW, LIST(Y), LIST(VIEW));
    add(&d, OP, LIST(VIEW), LIST(OUT));
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(OUT));
    analyse(&d, NULL, value);
    assert_int_equal(value[VIEW].kind, ARENAUT_VALUE_MANAGED);
    assert_int_equal(value[Y].last, 1);
    analyse(&d, &off, value);
    assert_int_equal(value[VIEW].kind, ARENAUT_VALUE_UNMANAGED);
    assert_int_equal(value[Y].kind, ARENAUT_VALUE_UNMANAGED);
    assert_int_equal(value[Y].last, 2); /* a view lies in it again */
    assert_int_equal(value[OUT].kind, ARENAUT_VALUE_UNMANAGED);
    assert_true(value[OUT].returned);
}

/* Two values are alive at one step. Those that no node makes are not tracked. */
static bool overlap(const arenaut_value *value, uint32_t a, uint32_t b) {
    const bool tracked =
        value[a].kind != ARENAUT_VALUE_EXTERNAL && value[b].kind != ARENAUT_VALUE_EXTERNAL;
    return tracked && value[a].first <= value[b].last && value[b].first <= value[a].last;
}

TEST(lives_that_meet_at_one_step_overlap) {
    enum { A, B, C, D, E, N };
    drawing d;
    arenaut_value value[N];
    draw(&d, N);
    add(&d, OP, LIST(A), LIST(B));
    add(&d, OP, LIST(B), LIST(C));
    add(&d, OP, LIST(C), LIST(D));
    add(&d, OP, LIST(C), LIST(E));
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(E));
    analyse(&d, NULL, value);
    assert_true(overlap(value, B, C));
    assert_true(overlap(value, C, D));
    assert_true(overlap(value, C, E));
    assert_false(overlap(value, B, D));
    assert_false(overlap(value, B, E));
    for (uint32_t v = B; v < N; v++) assert_false(overlap(value, A, v)); /* not tracked */
}

TEST(tensors_in_a_container_live_as_long_as_it) {
    enum { A, B, C, TUPLE, B2, C2, D, N };
    drawing d;
    arenaut_value value[N];
    draw(&d, N);
    d.type[TUPLE] = ARENAUT_TYPE_TUPLE;
    add(&d, OP, LIST(A), LIST(B));
    add(&d, OP, LIST(A), LIST(C));
    add(&d, ARENAUT_NODE_CONSTRUCT, LIST(B, C), LIST(TUPLE));
    add(&d, ARENAUT_NODE_BORROW, LIST(TUPLE), LIST(B2, C2));
    add(&d, OP, LIST(B2, C2), LIST(D));
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(D));
    analyse(&d, NULL, value);
    assert_true(overlap(value, B, C));
    assert_true(overlap(value, B, D));
    assert_true(overlap(value, C, D));
    assert_int_equal(value[TUPLE].kind, ARENAUT_VALUE_UNMANAGED);
    assert_int_equal(value[B2].kind, ARENAUT_VALUE_BORROWED);
    assert_int_equal(value[B].kind, ARENAUT_VALUE_MANAGED);
}

TEST(a_returned_value_lives_to_the_end) {
    enum { A, OUT, B, N };
    drawing d;
    arenaut_value value[N];
    draw(&d, N);
    add(&d, OP, LIST(A), LIST(OUT));
    add(&d, OP, LIST(A), LIST(B));
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(OUT));
    analyse(&d, NULL, value);
    assert_true(overlap(value, OUT, B));
}

/* A borrowed tensor is returned: its owner cannot be in the arena. */
TEST(the_owner_of_a_returned_borrowed_tensor_is_not_managed) {
    enum { A, B, TUPLE, B2, N };
    drawing d;
    arenaut_value value[N];
    draw(&d, N);
    d.type[TUPLE] = ARENAUT_TYPE_TUPLE;
    add(&d, OP, LIST(A), LIST(B));
    add(&d, ARENAUT_NODE_CONSTRUCT, LIST(B), LIST(TUPLE));
    add(&d, ARENAUT_NODE_BORROW, LIST(TUPLE), LIST(B2));
    give_back(&d, ARENAUT_TYPE_LIST, LIST(B2, A));
    analyse(&d, NULL, value);
    assert_int_equal(value[B].kind, ARENAUT_VALUE_UNMANAGED);
    assert_int_equal(value[B].returned, 0);
    assert_int_equal(value[B].last, 3);
    assert_int_equal(value[TUPLE].returned, 0);
    assert_int_equal(value[B2].kind, ARENAUT_VALUE_BORROWED);
    assert_int_equal(value[B2].returned, 1);
    assert_int_equal(value[A].kind, ARENAUT_VALUE_EXTERNAL); /* an input that is returned */
}

static void count_release(void *context, uint32_t value) {
    uint32_t *released = context;
    *released |= 1u << value;
}

/* The returned container is the caller's; one that is built on the way is given up. */
TEST(a_returned_container_is_not_given_up) {
    enum { X, A, B, PAIR, RESULT, KEY, N };
    drawing d;
    arenaut_value value[N];
    arenaut_fault fault;
    arenaut_iteration *it;
    memory_source memory = {.left = SIZE_MAX};
    uint32_t released = 0;
    draw(&d, N);
    d.type[PAIR] = ARENAUT_TYPE_LIST;
    d.type[RESULT] = ARENAUT_TYPE_DICT;
    d.type[KEY] = ARENAUT_TYPE_SCALAR;
    add(&d, OP, LIST(X), LIST(A));
    add(&d, OP, LIST(A), LIST(B));
    add(&d, ARENAUT_NODE_CONSTRUCT, LIST(A, B), LIST(PAIR));
    add(&d, ARENAUT_NODE_RETURN, LIST(KEY, A, ARENAUT_NO_VALUE, B), LIST(RESULT));
    give_back(&d, ARENAUT_TYPE_DICT, LIST(A, B));
    analyse(&d, NULL, value);
    assert_int_equal(value[A].kind, ARENAUT_VALUE_OUTPUT);
    assert_int_equal(value[B].kind, ARENAUT_VALUE_OUTPUT);
    assert_int_equal(value[RESULT].kind, ARENAUT_VALUE_UNMANAGED);
    assert_int_equal(value[RESULT].returned, 1);
    assert_int_equal(value[RESULT].last, 4); /* the return */
    assert_int_equal(value[PAIR].returned, 0);
    arenaut_iteration_config config = {.value = value,
                                       .n_values = N,
                                       .options = arenaut_iteration_defaults(),
                                       .source = counting_source(&memory),
                                       .hooks = {count_release, NULL, NULL, &released}};
    config.options.grouping = ARENAUT_BY_GROUPS;
    void *room = malloc(arenaut_iteration_bytes(N));
    assert_fine(arenaut_iteration_init(room, arenaut_iteration_bytes(N), &config, &it, &fault));
    assert_fine(arenaut_iteration_allocate(it, &fault));
    assert_fine(arenaut_iteration_deallocate(it, &fault));
    assert_int_equal(released, 1u << PAIR);
    free(room);

    /* Without a node that says so, it is the one that holds all outputs and has no reader. */
    d.node[3].kind = ARENAUT_NODE_CONSTRUCT;
    analyse(&d, NULL, value);
    assert_int_equal(value[RESULT].returned, 1);
    d.type[PAIR] = ARENAUT_TYPE_DICT;
    analyse(&d, NULL, value);
    assert_int_equal(value[RESULT].returned, 1); /* the last */
    assert_int_equal(value[PAIR].returned, 0);
    d.argument[3][0][0] = PAIR; /* read, and its reader holds A no more */
    d.argument[3][0][1] = X;
    analyse(&d, NULL, value);
    assert_int_equal(value[PAIR].returned + value[RESULT].returned, 0);
    d.argument[3][0][0] = KEY;
    analyse(&d, NULL, value);
    assert_int_equal(value[PAIR].returned, 1);
    assert_int_equal(value[RESULT].returned, 0);
    d.argument[3][0][1] = A;
    d.type[PAIR] = ARENAUT_TYPE_LIST;
    d.node[3].kind = ARENAUT_NODE_RETURN;

    d.node[2].kind = ARENAUT_NODE_RETURN;
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, RETURNED_OTHERS);
    d.type[PAIR] = ARENAUT_TYPE_DICT;
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, RETURNED_TWICE);
    assert_int_equal(fault.object, 3);
    assert_int_equal(fault.found, 2);
    d.node[2].kind = ARENAUT_NODE_CONSTRUCT;
    d.argument[3][0][1] = X; /* not output A */
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, RETURNED_OTHERS);
    assert_int_equal(fault.found, 0);
    d.argument[3][0][1] = A;
    d.argument[3][0][0] = PAIR; /* a container in a container */
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), REFUSED, NESTED_OUTPUT);
    d.argument[3][0][0] = KEY;
    give_back(&d, ARENAUT_TYPE_LIST, LIST(A, B));
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, RETURNED_OTHERS);
}

/* Where nothing is returned but the list itself, a list of something else is not that list. */
TEST(an_empty_result_is_a_container_of_nothing) {
    enum { X, A, SOME, NOTHING, N };
    drawing d;
    arenaut_value value[N];
    draw(&d, N);
    d.type[SOME] = d.type[NOTHING] = ARENAUT_TYPE_LIST;
    add(&d, OP, LIST(X), LIST(A));
    add(&d, ARENAUT_NODE_CONSTRUCT, EMPTY, LIST(NOTHING));
    add(&d, ARENAUT_NODE_CONSTRUCT, LIST(A), LIST(SOME)); /* it has no reader */
    give_back(&d, ARENAUT_TYPE_LIST, EMPTY);
    analyse(&d, NULL, value);
    assert_int_equal(value[SOME].returned, 0);
    assert_int_equal(value[NOTHING].returned, 1);
    d.type[NOTHING] = ARENAUT_TYPE_TUPLE;
    analyse(&d, NULL, value);
    assert_int_equal(value[SOME].returned + value[NOTHING].returned, 0);
}

TEST(unknown_kinds_and_types_are_refused) {
    enum { A, B, N };
    drawing d;
    arenaut_value value[N];
    arenaut_fault fault;
    draw(&d, N);
    add(&d, OP, LIST(A), LIST(B));
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(B));
    d.node[0].kind = ARENAUT_NODE_RETURN + 1;
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, NODE_KIND);
    assert_int_equal(fault.object, 0);
    assert_int_equal(fault.allowed, ARENAUT_NODE_RETURN);
    d.node[0].kind = OP;
    d.type[A] = 77; /* an input: nothing is returned of that type */
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, VALUE_TYPE);
    assert_int_equal(fault.object, A);
    assert_int_equal(fault.found, 77);
}

TEST(lists_of_lists_are_refused) {
    enum { A, B, INNER, NUMBER, N };
    drawing d;
    arenaut_value value[N];
    arenaut_fault fault;
    char text[160];
    draw(&d, N);
    d.type[INNER] = ARENAUT_TYPE_LIST;
    d.type[NUMBER] = ARENAUT_TYPE_SCALAR;
    add(&d, OP, LIST(A), LIST(B));
    add(&d, ARENAUT_NODE_CONSTRUCT, LIST(B), LIST(INNER));
    add(&d, ARENAUT_NODE_TENSOR, LIST(B), LIST(NUMBER));
    for (uint8_t inner = ARENAUT_TYPE_LIST; inner <= ARENAUT_TYPE_DICT; inner++) {
        d.type[INNER] = inner;
        give_back(&d, ARENAUT_TYPE_LIST, LIST(B, INNER));
        assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), REFUSED, NESTED_OUTPUT);
    }
    assert_string_equal(arenaut_fault_text(&fault, text, sizeof text),
                        "output 1 is a container: only tensors may be in a list, tuple or dict");
    give_back(&d, ARENAUT_TYPE_TUPLE, LIST(NUMBER));
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), REFUSED, OUTPUT_TYPE);
    give_back(&d, ARENAUT_TYPE_NONE, EMPTY);
    analyse(&d, NULL, value);
    assert_int_equal(value[NUMBER].kind, ARENAUT_VALUE_SCALAR);
    for (uint8_t shape = ARENAUT_TYPE_LIST; shape <= ARENAUT_TYPE_DICT; shape++) {
        give_back(&d, shape, LIST(B));
        analyse(&d, NULL, value);
        assert_int_equal(value[B].kind, ARENAUT_VALUE_OUTPUT);
    }
}

TEST(bad_graphs_are_refused) {
    enum { A, B, C, N };
    drawing d;
    arenaut_value value[N];
    arenaut_fault fault;
    draw(&d, N);
    add(&d, OP, LIST(A, ARENAUT_NO_VALUE), LIST(B)); /* an argument that is not given */
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(B));
    analyse(&d, NULL, value);
    add(&d, OP, LIST(B), LIST(B));
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, VALUE_TWICE);
    d.argument[1][1][0] = A; /* read before it is made */
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, VALUE_TWICE);
    d.argument[1][1][0] = N;
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_ARGUMENT, VALUE);
    d.argument[1][1][0] = C;
    d.argument[1][0][0] = N;
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_ARGUMENT, VALUE);
    d.argument[1][0][0] = B;
    analyse(&d, NULL, value);
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(N));
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_ARGUMENT, VALUE);
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(B, C));
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, OUTPUT_COUNT);
    give_back(&d, ARENAUT_TYPE_TENSOR, EMPTY);
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, OUTPUT_COUNT);
    give_back(&d, ARENAUT_TYPE_NONE, LIST(B));
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, OUTPUT_COUNT);
    give_back(&d, ARENAUT_TYPE_SCALAR, LIST(B));
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), REFUSED, OUTPUT_TYPE);
}

/* An oracle about a random graph: everything by search, nothing in one walk. */
typedef struct oracle {
    const arenaut_graph *graph;
    bool out_variants;
    bool derived[MAX_VALUES][MAX_VALUES]; /* [v][w]: w may lie in v, or refer to it */
} oracle;

static bool passes_memory_on(const oracle *o, uint8_t kind) {
    return kind >= ARENAUT_NODE_ALIAS || (kind == ARENAUT_NODE_VIEW && !o->out_variants);
}

static void find_derived(oracle *o) {
    const arenaut_graph *g = o->graph;
    for (uint32_t v = 0; v < g->n_values; v++) o->derived[v][v] = true;
    for (uint32_t round = 0; round < g->n_nodes; round++) { /* to the fixed point */
        for (uint32_t k = 0; k < g->n_nodes; k++) {
            const arenaut_node *node = &g->node[k];
            if (!passes_memory_on(o, node->kind)) continue;
            for (uint32_t v = 0; v < g->n_values; v++) {
                for (uint32_t i = 0; i < node->n_inputs; i++) {
                    if (!o->derived[v][node->inputs[i]]) continue;
                    for (uint32_t j = 0; j < node->n_outputs; j++)
                        o->derived[v][node->outputs[j]] = true;
                }
            }
        }
    }
}

static bool is_output(const arenaut_graph *g, uint32_t v) {
    for (uint32_t i = 0; i < g->n_outputs; i++) {
        if (g->outputs[i] == v) return true;
    }
    return false;
}

/* The last step at which anything that lies in v is read, made or returned. */
static uint32_t last_step(const oracle *o, uint32_t v, bool *returned) {
    const arenaut_graph *g = o->graph;
    uint32_t last = 0;
    *returned = false;
    for (uint32_t w = 0; w < g->n_values; w++) {
        if (!o->derived[v][w]) continue;
        if (is_output(g, w)) {
            *returned = true;
            last = g->n_nodes;
        }
        for (uint32_t k = 0; k < g->n_nodes; k++) {
            const arenaut_node *node = &g->node[k];
            for (uint32_t i = 0; i < node->n_inputs; i++) {
                if (node->inputs[i] == w && k > last) last = k;
            }
            for (uint32_t j = 0; j < node->n_outputs; j++) {
                if (node->outputs[j] == w && k > last) last = k;
            }
        }
    }
    return last;
}

static void check_against_oracle(const drawing *d, bool out_variants) {
    arenaut_iteration_options options = arenaut_iteration_defaults();
    arenaut_value value[MAX_VALUES];
    oracle o = {.graph = &d->graph, .out_variants = out_variants};
    options.out_variants = options.manage_outputs = options.optimise_memory = out_variants;
    analyse(d, &options, value);
    find_derived(&o);
    for (uint32_t k = 0; k < d->graph.n_nodes; k++) {
        const uint32_t v = d->node[k].outputs[0];
        bool returned;
        const uint32_t last = last_step(&o, v, &returned);
        const bool writes = out_variants && (d->node[k].kind == ARENAUT_NODE_OUT_VARIANT ||
                                             d->node[k].kind == ARENAUT_NODE_VIEW);
        assert_int_equal(value[v].first, k);
        assert_int_equal(value[v].last, last);
        assert_int_equal(value[v].returned, is_output(&d->graph, v));
        assert_int_equal(value[v].kind == ARENAUT_VALUE_MANAGED, writes && !returned);
        assert_int_equal(value[v].kind == ARENAUT_VALUE_OUTPUT, writes && is_output(&d->graph, v));
    }
}

static uint32_t count_readers(const drawing *d, uint32_t v) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < d->graph.n_nodes; k++) {
        for (uint32_t i = 0; i < d->node[k].n_inputs; i++) n += d->node[k].inputs[i] == v;
    }
    return n;
}

/* A permission stays where it does no harm, and only there. */
static void check_permissions(const drawing *d, uint32_t *kept) {
    arenaut_value value[MAX_VALUES];
    oracle o = {.graph = &d->graph, .out_variants = true};
    analyse(d, NULL, value);
    find_derived(&o);
    for (uint32_t k = 0; k < d->graph.n_nodes; k++) {
        const uint32_t out = d->node[k].outputs[0];
        bool returned;
        if (!d->node[k].over) continue;
        const uint32_t in = d->node[k].inputs[d->over[k][0]];
        bool fine =
            (value[out].kind == ARENAUT_VALUE_MANAGED || value[out].kind == ARENAUT_VALUE_OUTPUT) &&
            value[in].kind == ARENAUT_VALUE_MANAGED && last_step(&o, in, &returned) == k &&
            count_readers(d, in) > 0;
        uint32_t here = 0;
        for (uint32_t i = 0; i < d->node[k].n_inputs; i++) here += d->node[k].inputs[i] == in;
        fine = fine && here == 1;
        for (uint32_t w = 0; w < d->graph.n_values; w++) {
            if (w != in && o.derived[in][w]) fine = false;
        }
        assert_int_equal(value[out].over, fine ? in : ARENAUT_NO_VALUE);
        *kept += fine;
    }
}

TEST(permissions_to_overwrite_are_kept_where_they_may_be) {
    enum { X, A, B, C, N };
    drawing d;
    arenaut_value value[N];
    arenaut_fault fault;
    const uint32_t both[] = {0, 0};
    draw(&d, N); /* two results of one node over one input: the first gets it */
    add(&d, OP, LIST(X), LIST(A));
    add(&d, OP, LIST(A), LIST(B, C));
    give_back(&d, ARENAUT_TYPE_NONE, EMPTY);
    d.node[1].over = both;
    analyse(&d, NULL, value);
    assert_int_equal(value[A].over, ARENAUT_NO_VALUE);
    assert_int_equal(value[B].over, A);
    assert_int_equal(value[C].over, ARENAUT_NO_VALUE);
    d.node[0].over = both; /* over an input of the graph */
    analyse(&d, NULL, value);
    assert_int_equal(value[A].over, ARENAUT_NO_VALUE);
    const uint32_t wrong[] = {ARENAUT_NO_VALUE, 1};
    d.node[1].over = wrong;
    assert_fault(arenaut_graph_values(&d.graph, NULL, value, &fault), BAD_INPUT, NODE_INPUT);
    assert_int_equal(fault.object, 1);

    rng r = {11};
    uint32_t kept = 0;
    for (int round = 0; round < 3000; round++) {
        const uint32_t n_nodes = 1 + rng_below(&r, MAX_NODES - 1);
        draw(&d, 2 + n_nodes);
        for (uint32_t k = 0; k < n_nodes; k++) {
            const uint32_t a = rng_below(&r, k + 2), b = rng_below(&r, k + 2);
            const arenaut_node_kind kind =
                rng_below(&r, 4) ? OP : (arenaut_node_kind)rng_below(&r, ARENAUT_NODE_BORROW + 1);
            add(&d, kind, LIST(a, b), LIST(k + 2));
            d.over[k][0] = rng_below(&r, 2);
            if (rng_below(&r, 3)) d.node[k].over = d.over[k];
        }
        if (round % 2) give_back(&d, ARENAUT_TYPE_TENSOR, LIST(n_nodes + 1));
        else give_back(&d, ARENAUT_TYPE_NONE, EMPTY);
        check_permissions(&d, &kept);
    }
    assert_true(kept > 1000);
}

TEST(random_graphs_agree_with_an_oracle) {
    rng r = {7};
    for (int round = 0; round < 3000; round++) {
        drawing d;
        const uint32_t n_nodes = 1 + rng_below(&r, MAX_NODES - 1);
        draw(&d, 2 + n_nodes); /* two inputs, and one result of each node */
        for (uint32_t k = 0; k < n_nodes; k++) {
            const uint32_t a = rng_below(&r, k + 2), b = rng_below(&r, k + 2);
            const uint32_t kind = rng_below(&r, ARENAUT_NODE_BORROW + 1);
            add(&d, (arenaut_node_kind)kind, LIST(a, b), LIST(k + 2));
        }
        const uint32_t first = rng_below(&r, d.graph.n_values);
        const uint32_t second = rng_below(&r, d.graph.n_values);
        give_back(&d, ARENAUT_TYPE_LIST, LIST(first, second));
        check_against_oracle(&d, true);
        check_against_oracle(&d, false);
    }
}

/* Runs twice with storages of one element by groups; offset[v] / 64 is then v's group. Checks as
 * Static Runtime's own tests do: each tensor in one group, no two members of a group alive at one
 * step, and the number of reused ones. */
static void group_of(const drawing *d, uint32_t *group, uint32_t reused) {
    arenaut_value value[MAX_VALUES];
    memory_source memory = {.left = SIZE_MAX};
    arenaut_iteration_config config = {.value = value,
                                       .n_values = d->graph.n_values,
                                       .options = arenaut_iteration_defaults(),
                                       .source = counting_source(&memory)};
    arenaut_iteration *it;
    arenaut_fault fault;
    void *data;
    config.options.grouping = ARENAUT_BY_GROUPS;
    analyse(d, &config.options, value);
    const size_t bytes = arenaut_iteration_bytes(config.n_values);
    void *room = malloc(bytes);
    assert_fine(arenaut_iteration_init(room, bytes, &config, &it, &fault));
    assert_int_equal(arenaut_iteration_count(it).reused, reused);
    for (int run = 0; run < 2; run++) {
        assert_fine(arenaut_iteration_allocate(it, &fault));
        for (uint32_t v = 0; v < config.n_values; v++) {
            if (value[v].kind == ARENAUT_VALUE_MANAGED)
                assert_fine(arenaut_iteration_resize(it, v, 4, &data, &fault));
            group[v] = arenaut_iteration_group(it, v);
            if (run == 1 && value[v].kind == ARENAUT_VALUE_MANAGED)
                assert_int_equal(arenaut_iteration_offset(it, v), 64 * group[v]);
        }
        assert_fine(arenaut_iteration_deallocate(it, &fault));
        assert_fine(arenaut_iteration_release_outputs(it, &fault));
    }
    uint32_t members = 0, member[MAX_VALUES];
    const uint32_t n_groups = arenaut_iteration_group_count(it);
    for (uint32_t g = 0; g < n_groups; g++) {
        const uint32_t n = arenaut_iteration_group_members(it, g, member, MAX_VALUES);
        for (uint32_t i = 0; i < n; i++) assert_int_equal(group[member[i]], g);
        assert_int_equal(arenaut_iteration_group_size(it, g), 64);
        members += n;
    }
    assert_int_equal(members, arenaut_iteration_count(it).managed); /* each in one group */
    assert_int_equal(members - n_groups, reused);
    for (uint32_t a = 0; a < config.n_values; a++) {
        for (uint32_t b = 0; b < a; b++) {
            if (value[a].kind != ARENAUT_VALUE_MANAGED || value[b].kind != ARENAUT_VALUE_MANAGED)
                continue;
            assert_false(group[a] == group[b] && overlap(value, a, b));
        }
    }
    assert_fine(arenaut_iteration_close(it, &fault));
    assert_int_equal(memory.live, 0);
    free(room);
}

TEST(groups_without_aliases) {
    enum { A, B, C, D, E, OUT, N };
    drawing d;
    uint32_t group[N];
    draw(&d, N); /* b [0,3]  c [1,2]  d [2,3]  e [3,4] */
    add(&d, OP, LIST(A), LIST(B));
    add(&d, OP, LIST(B), LIST(C));
    add(&d, OP, LIST(C), LIST(D));
    add(&d, OP, LIST(B, D), LIST(E));
    add(&d, OP, LIST(E), LIST(OUT));
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(OUT));
    group_of(&d, group, 1);
    assert_int_equal(group[B], 0);
    assert_int_equal(group[C], 1);
    assert_int_equal(group[D], 2);
    assert_int_equal(group[E], 1);
}

TEST(groups_with_a_view) {
    enum { A, B, C, D, C2, C3, E, F, OUT, N };
    drawing d;
    uint32_t group[N];
    draw(&d, N); /* b [0,5]  c [1,6], viewed  d [2,5]  e [5,7]  f [6,7] */
    add(&d, OP, LIST(A), LIST(B));
    add(&d, OP, LIST(B), LIST(C));
    add(&d, OP, LIST(B), LIST(D));
    add(&d, ARENAUT_NODE_ALIAS, LIST(C), LIST(C2));
    add(&d, ARENAUT_NODE_ALIAS, LIST(C2), LIST(C3));
    add(&d, OP, LIST(B, D), LIST(E));
    add(&d, OP, LIST(C3), LIST(F));
    add(&d, OP, LIST(E, F), LIST(OUT));
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(OUT));
    group_of(&d, group, 1);
    const uint32_t expected[] = {[B] = 0, [C] = 1, [D] = 2, [E] = 3, [F] = 2};
    for (uint32_t v = B; v < OUT; v++) {
        if (v != C2 && v != C3) assert_int_equal(group[v], expected[v]);
    }
}

TEST(groups_of_results_that_nobody_reads) {
    enum { A, Z, OUT, X, Y, N };
    drawing d;
    uint32_t group[N];
    draw(&d, N); /* z [0,1]  x [2,2]  y [2,2] */
    add(&d, OP, LIST(A), LIST(Z));
    add(&d, OP, LIST(Z), LIST(OUT));
    add(&d, OP, LIST(A), LIST(X, Y));
    give_back(&d, ARENAUT_TYPE_TENSOR, LIST(OUT));
    group_of(&d, group, 1);
    assert_int_equal(group[X], group[Z]);
    assert_int_not_equal(group[X], group[Y]);
}
