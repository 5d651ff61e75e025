/* Values of an iteration from a graph: the managed ones, and their live ranges.
 *
 * The rules are those of PyTorch's Static Runtime. Only results of ops with an out variant are
 * managed; with out variants on, ops that produce views copy instead, and so have one. A value that
 * may lie in an input or a constant is never managed, nor one that may share memory with a returned
 * value. A value lives from the op that makes it to its last reader, or as long as anything that
 * may lie in it; a returned value lives to the end.
 *
 * Threads: calls may run at once; graphs are only read. */
#ifndef ARENAUT_RUNTIME_GRAPH_H
#define ARENAUT_RUNTIME_GRAPH_H

#include <arenaut/runtime_iteration.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum arenaut_value_type {
    ARENAUT_TYPE_NONE,
    ARENAUT_TYPE_TENSOR,
    ARENAUT_TYPE_SCALAR,
    ARENAUT_TYPE_LIST,
    ARENAUT_TYPE_TUPLE,
    ARENAUT_TYPE_DICT,
} arenaut_value_type;

typedef enum arenaut_node_kind {
    ARENAUT_NODE_OUT_VARIANT, /* writes its results into given memory */
    ARENAUT_NODE_VIEW,        /* its results lie in its inputs; with out variants on it copies */
    ARENAUT_NODE_TENSOR,      /* makes memory of its own */
    ARENAUT_NODE_ALIAS,       /* its results may lie in its inputs, with any options */
    ARENAUT_NODE_CONSTRUCT,   /* builds a container of its inputs */
    ARENAUT_NODE_BORROW,      /* unpacks or selects: its results refer to its input */
    ARENAUT_NODE_RETURN, /* builds the list, tuple or dict that is returned, from its inputs: it is
                          * the caller's, and not released after a run. At most one; without one
                          * that is the last container of the result's type that holds every output
                          * and that nothing reads; of a result without outputs it holds nothing */
} arenaut_node_kind;

typedef struct arenaut_node {
    uint8_t kind; /* arenaut_node_kind */
    uint32_t n_inputs, n_outputs;
    const uint32_t *inputs, *outputs; /* values */
    const uint32_t *over; /* for each output the number of the input, among `inputs`, that the
                           * kernel lets it overwrite; ARENAUT_NO_VALUE: none. NULL: none at all */
} arenaut_node;

/* A value that no node makes is an input or a constant. */
typedef struct arenaut_graph {
    const arenaut_node *node;
    uint32_t n_nodes;
    const uint8_t *type; /* arenaut_value_type of each value */
    uint32_t n_values;
    uint8_t result;          /* ARENAUT_TYPE_NONE, TENSOR, LIST, TUPLE or DICT */
    uint32_t n_outputs;      /* 0 for NONE, 1 for TENSOR */
    const uint32_t *outputs; /* tensors: the elements of a list, tuple or dict */
} arenaut_graph;

/* Fills `value`, an array of n_values. Step k is node k; a returned value lives to step n_nodes,
 * the return. `options` may be NULL: the defaults. Refused are lists of lists (NESTED_OUTPUT),
 * outputs that are no tensors (OUTPUT_TYPE), more or fewer than the result has (OUTPUT_COUNT),
 * values that do not exist (VALUE) or are made twice (VALUE_TWICE), kinds and types that are none
 * of the above (NODE_KIND, VALUE_TYPE), a second node that returns (RETURNED_TWICE), and one whose
 * result is none of the graph's type or lacks an output (RETURNED_OTHERS). Takes no memory.
 *
 * Where a kernel lets an output overwrite an input (`over` of a node), the value may be written
 * over the other if that one is managed, is read here for the last time and only once, and if
 * nothing else may lie in it; else the permission is dropped. NODE_INPUT for an input that the
 * node does not have. */
arenaut_status arenaut_graph_values(const arenaut_graph *graph,
                                    const arenaut_iteration_options *options, arenaut_value *value,
                                    arenaut_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
