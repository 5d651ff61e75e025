/* The part of the executor that knows of memory. */
#include "executor.h"

#include <stdio.h>
#include <stdlib.h>

void require(const executor *e, arenaut_status status) {
    char text[200];
    if (status == ARENAUT_OK) return;
    fprintf(stderr, "WRONG: %s\n", arenaut_fault_text(&e->fault, text, sizeof text));
    if (e->planner.error.code != ARENAUT_OK) fprintf(stderr, "%s\n", e->planner.error.msg);
    exit(1);
}

/* Hooks: release and use of values that the iteration does not manage. A tensor of an inner block
 * is one of its held outputs; a container owns nothing here. */
static void on_release(void *context, uint32_t value) {
    executor *e = context;
    if (e->block->graph.type[value] == ARENAUT_TYPE_TENSOR)
        require(e->inner, arenaut_iteration_release_outputs(e->inner->it, &e->inner->fault));
    e->tensor[value] = (tensor){NULL, 0};
}

/* Borrowed: nothing to give up. */
static void on_forget(void *context, uint32_t value) {
    executor *e = context;
    e->tensor[value] = (tensor){NULL, 0};
}

void open_executor(executor *e, const block *of, executor *inner, uint16_t slack) {
    *e = (executor){.block = of, .inner = inner, .source = arenaut_heap_source()};
    arenaut_iteration_config config = {.value = e->value,
                                       .n_values = of->graph.n_values,
                                       .options = arenaut_iteration_defaults(),
                                       .source = e->source,
                                       .place = arenaut_iteration_place,
                                       .place_context = &e->planner,
                                       .hooks = {on_release, on_forget, NULL, e}};
    config.options.slack = slack;
    require(e, arenaut_graph_values(&of->graph, &config.options, e->value, &e->fault));
    const size_t bytes = arenaut_iteration_bytes(config.n_values);
    e->room = malloc(bytes);
    require(e, arenaut_iteration_init(e->room, bytes, &config, &e->it, &e->fault));
}

void close_executor(executor *e) {
    require(e, arenaut_iteration_close(e->it, &e->fault));
    free(e->room);
}

void run_block(executor *e) {
    const arenaut_graph *graph = &e->block->graph;
    e->runs++;
    e->brought = (arenaut_storage){NULL, 0, NULL};
    require(e, arenaut_iteration_allocate(e->it, &e->fault));
    for (uint32_t k = 0; k < graph->n_nodes; k++) e->block->kernels[k](e, &graph->node[k]);
    require(e, arenaut_iteration_deallocate(e->it, &e->fault));
}

const tensor *input_of(const executor *e, const arenaut_node *node, uint32_t i) {
    return &e->tensor[node->inputs[i]];
}

float *make_output(executor *e, const arenaut_node *node, uint32_t i, size_t n) {
    const uint32_t value = node->outputs[i];
    void *data;
    require(e, arenaut_iteration_resize(e->it, value, n * sizeof(float), &data, &e->fault));
    e->tensor[value] = (tensor){data, n};
    return data;
}

void bring_storage(executor *e, const arenaut_node *node, size_t n) {
    const uint32_t value = node->outputs[0];
    const size_t bytes = n * sizeof(float);
    void *data = e->source.allocate(e->source.context, bytes, 64, &e->fault);
    if (!data) exit(1);
    e->brought = (arenaut_storage){data, bytes, &e->source};
    require(e, arenaut_iteration_swap(e->it, value, &e->brought, &e->fault));
    e->tensor[value] = (tensor){data, n};
}
