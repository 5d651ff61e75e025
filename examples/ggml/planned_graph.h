/* Places the tensors of a ggml graph beforehand, instead of ggml_gallocr: everything that has no
 * memory yet lies in one buffer, where arenaut's plan says. ggml's own allocator then finds nothing
 * left to do. */
#ifndef ARENAUT_EXAMPLES_PLANNED_GRAPH_H
#define ARENAUT_EXAMPLES_PLANNED_GRAPH_H

#include <arenaut/arenaut.h>

#include "ggml-backend.h"
#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct planned_graph {
    arenaut_problem *problem;   /* a buffer for each tensor of `roots` */
    arenaut_plan *plan;         /* checked */
    struct ggml_tensor **roots; /* tensors that need memory of their own */
    struct ggml_tensor **nodes; /* all of the graph and their operands, views too, in order */
    size_t n_roots, n_nodes;
} planned_graph;

/* Plans the graph for memory of this type, which is not allocated yet. Tensors flagged as inputs,
 * and leaves, are alive from the start; those flagged as outputs, and those without readers, to the
 * end. On OK the caller frees *out. */
arenaut_status planned_graph_make(struct ggml_cgraph *graph, ggml_backend_buffer_type_t type,
                                  planned_graph *out, arenaut_error *err);

/* Gives every tensor its place in a new buffer, which the caller frees after the graph; NULL
 * without memory. */
ggml_backend_buffer_t planned_graph_allocate(const planned_graph *planned,
                                             ggml_backend_buffer_type_t type);

void planned_graph_free(planned_graph *planned);

#ifdef __cplusplus
}
#endif

#endif
