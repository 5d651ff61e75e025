/* A ggml graph as a placement problem, and back: times are the numbers of the graph's nodes. */
#include "planned_graph.h"

#include <stdlib.h>
#include <string.h>

typedef struct life {
    int64_t first, end;
    size_t in_place; /* number of the root that this one may be written over; NO_ROOT: none */
    size_t readers;  /* reads by nodes, through views too */
} life;

#define NO_ROOT SIZE_MAX

typedef struct walk {
    planned_graph *out;
    life *lives; /* by number of the root */
    size_t room;
    int64_t n_steps;
} walk;

static struct ggml_tensor *root_of(struct ggml_tensor *tensor) {
    while (tensor->view_src) tensor = tensor->view_src;
    return tensor;
}

static size_t find(struct ggml_tensor **list, size_t n, const struct ggml_tensor *tensor) {
    size_t k = n;
    while (k > 0 && list[k - 1] != tensor) k--; /* recent tensors are looked up most */
    return k > 0 ? k - 1 : NO_ROOT;
}

/* Everything that is read or made is in the lists once; room for it was counted. */
static size_t see(walk *w, struct ggml_tensor *tensor, int64_t step) {
    planned_graph *out = w->out;
    struct ggml_tensor *root = root_of(tensor);
    size_t number = find(out->roots, out->n_roots, root);
    if (find(out->nodes, out->n_nodes, tensor) == NO_ROOT) out->nodes[out->n_nodes++] = tensor;
    if (root->data || root->buffer) return NO_ROOT; /* placed by other code */
    if (number == NO_ROOT) {
        number = out->n_roots++;
        out->roots[number] = root;
        w->lives[number] = (life){step, step + 1, NO_ROOT, 0};
        if (root->op == GGML_OP_NONE || root->flags & GGML_TENSOR_FLAG_INPUT)
            w->lives[number].first = 0;
    }
    if (w->lives[number].end < step + 1) w->lives[number].end = step + 1;
    if (root->flags & GGML_TENSOR_FLAG_OUTPUT) w->lives[number].end = w->n_steps;
    return number;
}

/* Whether the kernel reads each element before it writes the one that takes its place, and no other
 * after. */
static bool is_elementwise(const struct ggml_tensor *node) {
    switch (node->op) {
        case GGML_OP_ADD:
        case GGML_OP_SUB:
        case GGML_OP_MUL:
        case GGML_OP_DIV:
        case GGML_OP_SCALE:
        case GGML_OP_SQR:
        case GGML_OP_SQRT:
        case GGML_OP_CLAMP:
        case GGML_OP_UNARY: return true;
        default: return false;
    }
}

/* The operand that a node may replace in its place if it dies there: laid out alike, and the first
 * one, since later operands are repeated along others. */
static size_t operand_to_overwrite(const walk *w, const struct ggml_tensor *node) {
    struct ggml_tensor *first = node->src[0];
    if (!is_elementwise(node) || node->view_src || !first || first->view_src ||
        first->type != node->type) {
        return NO_ROOT;
    }
    if (!ggml_are_same_shape(first, node) || !ggml_are_same_stride(first, node)) return NO_ROOT;
    return find(w->out->roots, w->out->n_roots, first);
}

static void follow(walk *w, struct ggml_cgraph *graph) {
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        struct ggml_tensor *node = ggml_graph_node(graph, i);
        for (int k = 0; k < GGML_MAX_SRC; k++) {
            if (!node->src[k]) continue;
            const size_t operand = see(w, node->src[k], i);
            if (operand != NO_ROOT) w->lives[operand].readers++;
        }
        const size_t made = see(w, node, i);
        if (made != NO_ROOT && !node->view_src)
            w->lives[made].in_place = operand_to_overwrite(w, node);
    }
}

/* A right to write over an operand holds only where that dies at the very step. */
static arenaut_optional_id right_of(const walk *w, size_t number) {
    const life *own = &w->lives[number];
    if (own->in_place == NO_ROOT) return arenaut_id(ARENAUT_NONE);
    const life *operand = &w->lives[own->in_place];
    const bool dies = operand->end == own->first + 1 && operand->first < own->first;
    return arenaut_id(dies ? (uint32_t)own->in_place : ARENAUT_NONE);
}

static arenaut_status add_buffers(const walk *w, ggml_backend_buffer_type_t type,
                                  arenaut_error *err) {
    const planned_graph *out = w->out;
    arenaut_status st = arenaut_problem_new(NULL, &w->out->problem, err);
    for (size_t k = 0; k < out->n_roots && st == ARENAUT_OK; k++) {
        const life *own = &w->lives[k];
        const arenaut_interval alive = {own->first, own->readers ? own->end : w->n_steps};
        st = arenaut_problem_add_buffer(
            out->problem,
            &(arenaut_buffer){.size = ggml_backend_buft_get_alloc_size(type, out->roots[k]),
                              .align = ggml_backend_buft_get_alignment(type),
                              .lifetimes = &alive,
                              .n_lifetimes = 1,
                              .name = out->roots[k]->name,
                              .same_base = right_of(w, k)},
            NULL, err);
    }
    return st == ARENAUT_OK ? arenaut_problem_finish(out->problem, err) : st;
}

static arenaut_status make(walk *w, struct ggml_cgraph *graph, ggml_backend_buffer_type_t type,
                           arenaut_error *err) {
    planned_graph *out = w->out;
    w->n_steps = ggml_graph_n_nodes(graph);
    w->room = (size_t)w->n_steps * (GGML_MAX_SRC + 1) + 1;
    out->roots = calloc(w->room, sizeof *out->roots);
    out->nodes = calloc(w->room, sizeof(struct ggml_tensor *));
    w->lives = calloc(w->room, sizeof *w->lives);
    if (!out->roots || !out->nodes || !w->lives) return ARENAUT_NO_MEMORY;
    follow(w, graph);
    arenaut_finding finding;
    arenaut_status st = add_buffers(w, type, err);
    if (st == ARENAUT_OK) st = arenaut_plan_make(out->problem, NULL, NULL, &out->plan, err);
    if (st == ARENAUT_OK) st = arenaut_check_plan(out->problem, out->plan, NULL, &finding, err);
    return st;
}

arenaut_status planned_graph_make(struct ggml_cgraph *graph, ggml_backend_buffer_type_t type,
                                  planned_graph *out, arenaut_error *err) {
    walk w = {.out = out};
    *out = (planned_graph){0};
    const arenaut_status st = make(&w, graph, type, err);
    free(w.lives);
    if (st != ARENAUT_OK) planned_graph_free(out);
    return st;
}

ggml_backend_buffer_t planned_graph_allocate(const planned_graph *planned,
                                             ggml_backend_buffer_type_t type) {
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(type, planned->plan->total);
    bool placed = buffer != NULL;
    for (size_t k = 0; k < planned->n_roots && placed; k++) {
        char *base = ggml_backend_buffer_get_base(buffer);
        placed = ggml_backend_tensor_alloc(buffer, planned->roots[k],
                                           base + planned->plan->offset[k]) == GGML_STATUS_SUCCESS;
    }
    for (size_t k = 0; k < planned->n_nodes && placed; k++) {
        struct ggml_tensor *view = planned->nodes[k];
        if (view->view_src && !view->buffer)
            placed = ggml_backend_view_init(view) == GGML_STATUS_SUCCESS;
    }
    if (!placed) ggml_backend_buffer_free(buffer);
    return placed ? buffer : NULL;
}

void planned_graph_free(planned_graph *planned) {
    arenaut_plan_free(planned->plan);
    arenaut_problem_free(planned->problem);
    free(planned->roots);
    free(planned->nodes);
    *planned = (planned_graph){0};
}
