/* Lifetimes and kinds of a graph's values: one walk forward for definitions and last uses, one
 * backward for values that outlive their last reader because another value may lie in them. Needs
 * no memory but the caller's array. */
#include <arenaut/runtime_graph.h>

#include "runtime/fault.h"

/* While the walks are at it: a value that no node made yet, and one that was read before. */
#define NOT_MADE UINT32_MAX
#define NOT_READ UINT32_MAX
#define READ 0u
/* Bits of `returned`: all but the first are gone again when the walks are over. */
enum { RETURNED = 1, MAY_HOLD_RETURNED = 2, HAS_ALIAS = 4 };

static bool is_made(const arenaut_value *value) { return value->first != NOT_MADE; }

static arenaut_status check_index(const arenaut_graph *graph, uint32_t v, arenaut_fault *fault) {
    if (v < graph->n_values) return ARENAUT_OK;
    return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE, v, 0, graph->n_values);
}

static arenaut_status read_inputs(const arenaut_graph *graph, uint32_t k, arenaut_value *value,
                                  arenaut_fault *fault) {
    const arenaut_node *node = &graph->node[k];
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const uint32_t v = node->inputs[i];
        if (v == ARENAUT_NO_VALUE) continue;
        const arenaut_status status = check_index(graph, v, fault);
        if (status != ARENAUT_OK) return status;
        value[v].last = is_made(&value[v]) ? k : READ;
    }
    return ARENAUT_OK;
}

static arenaut_status make_outputs(const arenaut_graph *graph, uint32_t k, arenaut_value *value,
                                   arenaut_fault *fault) {
    const arenaut_node *node = &graph->node[k];
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        const uint32_t v = node->outputs[i];
        const arenaut_status status = check_index(graph, v, fault);
        if (status != ARENAUT_OK) return status;
        if (is_made(&value[v]) || value[v].last != NOT_READ)
            return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE_TWICE, v, k, 0);
        value[v].first = value[v].last = k;
    }
    return ARENAUT_OK;
}

static arenaut_status check_kinds(const arenaut_graph *graph, arenaut_fault *fault) {
    for (uint32_t k = 0; k < graph->n_nodes; k++) {
        if (graph->node[k].kind > ARENAUT_NODE_RETURN)
            return arn_runtime_fault(fault, ARENAUT_FAULT_NODE_KIND, k, graph->node[k].kind,
                                     ARENAUT_NODE_RETURN);
    }
    for (uint32_t v = 0; v < graph->n_values; v++) {
        if (graph->type[v] > ARENAUT_TYPE_DICT)
            return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE_TYPE, v, graph->type[v],
                                     ARENAUT_TYPE_DICT);
    }
    return ARENAUT_OK;
}

static arenaut_status check_outputs(const arenaut_graph *graph, arenaut_fault *fault) {
    const uint32_t most = graph->result == ARENAUT_TYPE_NONE     ? 0
                          : graph->result == ARENAUT_TYPE_TENSOR ? 1
                                                                 : UINT32_MAX;
    if (graph->result == ARENAUT_TYPE_SCALAR || graph->result > ARENAUT_TYPE_DICT)
        return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUT_TYPE, 0, graph->result, 0);
    if (graph->n_outputs > most || (most == 1 && graph->n_outputs == 0))
        return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUT_COUNT, 0, graph->n_outputs, most);
    for (uint32_t i = 0; i < graph->n_outputs; i++) {
        const arenaut_status status = check_index(graph, graph->outputs[i], fault);
        if (status != ARENAUT_OK) return status;
        const uint8_t type = graph->type[graph->outputs[i]];
        if (type >= ARENAUT_TYPE_LIST)
            return arn_runtime_fault(fault, ARENAUT_FAULT_NESTED_OUTPUT, i, type, 0);
        if (type != ARENAUT_TYPE_TENSOR)
            return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUT_TYPE, i, type, 0);
    }
    return ARENAUT_OK;
}

/* Whether this node is among the inputs of that one. */
static bool has_input(const arenaut_node *node, uint32_t v) {
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == v) return true;
    }
    return false;
}

/* Whether a node builds a container of the result's type. */
static bool builds_result(const arenaut_graph *graph, const arenaut_node *node) {
    return graph->result >= ARENAUT_TYPE_LIST && node->n_outputs == 1 &&
           graph->type[node->outputs[0]] == graph->result;
}

/* The first output that a container does not hold; n_outputs: it holds all. */
static uint32_t find_missing(const arenaut_graph *graph, const arenaut_node *node) {
    uint32_t i = 0;
    while (i < graph->n_outputs && has_input(node, graph->outputs[i])) i++;
    return i;
}

/* The node that builds the returned container: of the result's type, and with every output in it.
 * Its other elements may be keys, and tensors that existed before. */
static arenaut_status check_returned(const arenaut_graph *graph, uint32_t k, arenaut_fault *fault) {
    const arenaut_node *node = &graph->node[k];
    const uint32_t missing = find_missing(graph, node);
    if (!builds_result(graph, node) || missing < graph->n_outputs)
        return arn_runtime_fault(fault, ARENAUT_FAULT_RETURNED_OTHERS, k, missing, 0);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const uint32_t v = node->inputs[i];
        if (v != ARENAUT_NO_VALUE && graph->type[v] >= ARENAUT_TYPE_LIST)
            return arn_runtime_fault(fault, ARENAUT_FAULT_NESTED_OUTPUT, i, graph->type[v], 0);
    }
    return ARENAUT_OK;
}

/* Where no node says that it returns: the last container of the result's type that holds every
 * output and that nothing reads. n_nodes: there is none. */
static uint32_t guess_returning(const arenaut_graph *graph, const arenaut_value *value) {
    for (uint32_t k = graph->n_nodes; k > 0; k--) {
        const arenaut_node *node = &graph->node[k - 1];
        /* Of an empty result any list would hold every output: it is one that holds nothing. */
        const bool fits = graph->n_outputs || !node->n_inputs;
        if (node->kind == ARENAUT_NODE_CONSTRUCT && fits && builds_result(graph, node) &&
            value[node->outputs[0]].last == k - 1 && find_missing(graph, node) == graph->n_outputs)
            return k - 1;
    }
    return graph->n_nodes;
}

/* Marks the container that is returned, if a node builds it, as returned. */
static arenaut_status mark_container(const arenaut_graph *graph, arenaut_value *value,
                                     arenaut_fault *fault) {
    uint32_t found = graph->n_nodes;
    for (uint32_t k = 0; k < graph->n_nodes; k++) {
        if (graph->node[k].kind != ARENAUT_NODE_RETURN) continue;
        if (found < graph->n_nodes)
            return arn_runtime_fault(fault, ARENAUT_FAULT_RETURNED_TWICE, k, found, 0);
        const arenaut_status status = check_returned(graph, k, fault);
        if (status != ARENAUT_OK) return status;
        found = k;
    }
    if (found == graph->n_nodes) found = guess_returning(graph, value);
    if (found == graph->n_nodes) return ARENAUT_OK;
    arenaut_value *container = &value[graph->node[found].outputs[0]];
    container->returned = RETURNED;
    container->last = graph->n_nodes;
    return ARENAUT_OK;
}

/* Ops that produce views copy instead where out variants are on. */
static uint8_t effective_kind(const arenaut_node *node, bool out_variants) {
    if (node->kind != ARENAUT_NODE_VIEW) return node->kind;
    return out_variants ? ARENAUT_NODE_OUT_VARIANT : ARENAUT_NODE_ALIAS;
}

static uint8_t kind_of_value(const arenaut_value *value, uint8_t type, uint8_t node,
                             const arenaut_iteration_options *options) {
    if (node == ARENAUT_NODE_BORROW) return ARENAUT_VALUE_BORROWED;
    if (type == ARENAUT_TYPE_SCALAR || type == ARENAUT_TYPE_NONE) return ARENAUT_VALUE_SCALAR;
    if (node != ARENAUT_NODE_OUT_VARIANT || type != ARENAUT_TYPE_TENSOR || !options->out_variants)
        return ARENAUT_VALUE_UNMANAGED;
    if (value->returned & RETURNED)
        return options->manage_outputs ? ARENAUT_VALUE_OUTPUT : ARENAUT_VALUE_UNMANAGED;
    return value->returned & MAY_HOLD_RETURNED ? ARENAUT_VALUE_UNMANAGED : ARENAUT_VALUE_MANAGED;
}

/* A value that an output may lie in, or refer to, must live as long, and leave the graph with
 * it. */
static void extend_inputs(const arenaut_node *node, const arenaut_value *output,
                          arenaut_value *value) {
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const uint32_t v = node->inputs[i];
        if (v == ARENAUT_NO_VALUE || !is_made(&value[v])) continue;
        if (output->last > value[v].last) value[v].last = output->last;
        value[v].returned |= HAS_ALIAS;
        if (output->returned & (RETURNED | MAY_HOLD_RETURNED))
            value[v].returned |= MAY_HOLD_RETURNED;
    }
}

/* Nodes backward: values that may lie in this node's results were settled before. */
static void settle(const arenaut_graph *graph, uint32_t k, const arenaut_iteration_options *options,
                   arenaut_value *value) {
    const arenaut_node *node = &graph->node[k];
    const uint8_t kind = effective_kind(node, options->out_variants);
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        arenaut_value *output = &value[node->outputs[i]];
        output->kind = kind_of_value(output, graph->type[node->outputs[i]], kind, options);
        if (kind >= ARENAUT_NODE_ALIAS) extend_inputs(node, output, value);
        output->returned &= RETURNED | HAS_ALIAS;
    }
}

/* Whether output i of node k may lie where its input `v` does: that one ends here, and has
 * no alias. */
static bool may_overwrite(const arenaut_node *node, uint32_t k, uint32_t i, uint32_t v,
                          const arenaut_value *value) {
    const uint8_t kind = value[node->outputs[i]].kind;
    uint32_t reads = 0;
    for (uint32_t j = 0; j < node->n_inputs; j++) reads += node->inputs[j] == v;
    for (uint32_t j = 0; j < i; j++) {
        if (value[node->outputs[j]].over == v) return false;
    }
    return (kind == ARENAUT_VALUE_MANAGED || kind == ARENAUT_VALUE_OUTPUT) && reads == 1 &&
           is_made(&value[v]) && value[v].kind == ARENAUT_VALUE_MANAGED && value[v].last == k &&
           !(value[v].returned & HAS_ALIAS);
}

static arenaut_status set_over(const arenaut_graph *graph, uint32_t k, arenaut_value *value,
                               arenaut_fault *fault) {
    const arenaut_node *node = &graph->node[k];
    for (uint32_t i = 0; i < node->n_outputs && node->over; i++) {
        const uint32_t j = node->over[i];
        if (j == ARENAUT_NO_VALUE) continue;
        if (j >= node->n_inputs)
            return arn_runtime_fault(fault, ARENAUT_FAULT_NODE_INPUT, k, j, node->n_inputs);
        const uint32_t v = node->inputs[j];
        if (v != ARENAUT_NO_VALUE && may_overwrite(node, k, i, v, value))
            value[node->outputs[i]].over = v;
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_graph_values(const arenaut_graph *graph,
                                    const arenaut_iteration_options *options, arenaut_value *value,
                                    arenaut_fault *fault) {
    const arenaut_iteration_options defaults = arenaut_iteration_defaults();
    if (!options) options = &defaults;
    arenaut_status status = arenaut_iteration_options_check(options, fault);
    if (status == ARENAUT_OK) status = check_kinds(graph, fault);
    if (status == ARENAUT_OK) status = check_outputs(graph, fault);
    if (status != ARENAUT_OK) return status;
    for (uint32_t v = 0; v < graph->n_values; v++)
        value[v] = (arenaut_value){.kind = ARENAUT_VALUE_EXTERNAL,
                                   .first = NOT_MADE,
                                   .last = NOT_READ,
                                   .storage = ARENAUT_NO_VALUE,
                                   .over = ARENAUT_NO_VALUE};
    for (uint32_t k = 0; k < graph->n_nodes; k++) {
        status = read_inputs(graph, k, value, fault);
        if (status == ARENAUT_OK) status = make_outputs(graph, k, value, fault);
        if (status != ARENAUT_OK) return status;
    }
    for (uint32_t i = 0; i < graph->n_outputs; i++) {
        arenaut_value *output = &value[graph->outputs[i]];
        output->returned = RETURNED;
        if (is_made(output)) output->last = graph->n_nodes;
    }
    status = mark_container(graph, value, fault);
    if (status != ARENAUT_OK) return status;
    for (uint32_t k = graph->n_nodes; k > 0; k--) settle(graph, k - 1, options, value);
    for (uint32_t k = 0; k < graph->n_nodes; k++) {
        status = set_over(graph, k, value, fault);
        if (status != ARENAUT_OK) return status;
    }
    for (uint32_t v = 0; v < graph->n_values; v++) {
        value[v].returned &= RETURNED;
        if (!is_made(&value[v])) value[v].first = value[v].last = 0;
    }
    return ARENAUT_OK;
}
