/* dot: the program for Graphviz: ops as boxes, method by method, and an arrow from the op that
 * makes a buffer to each that reads it, with the buffer's bytes, its place and the steps of its
 * life. Buffers alive at the peak are strong. Ops are named as viewers of models number them.
 * O(arguments). */
#include <inttypes.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/writer.h"
#include "ir/lifetimes.h"
#include "report/label.h"

typedef struct graph {
    const arenaut_result *result;
    arn_writer out;
    arenaut_peak peak;
    uint32_t *maker; /* per buffer: the op that wrote it last, so far */
} graph;

/* Within a string of dot, where only quotes and backslashes say more than themselves. */
static void put_escaped(graph *g, const char *text) {
    for (size_t n; *text; text += n ? n : 1) {
        n = arn_report_shown_length(text);
        if (n == 0) arn_puts(&g->out, "?");
        else if (*text == '"' || *text == '\\') arn_putf(&g->out, "\\%c", *text);
        else arn_put(&g->out, text, n);
    }
}

static void put_label(graph *g, uint32_t b) {
    const arenaut_problem *p = g->result->problem;
    const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
    const uint32_t n = arenaut_problem_lifetime_count(p, b);
    put_escaped(g, arn_report_buffer_label(g->result, b, 60).text);
    arn_putf(&g->out, "\\n%s bytes at ", arn_report_commas(p->size[b]).text);
    arn_puts(&g->out, arn_report_commas(g->result->plan->offset[b]).text);
    if (n)
        arn_putf(&g->out, "\\nsteps %" PRId64 " to %" PRId64, life[0].first, life[n - 1].end - 1);
}

static void put_arrow(graph *g, uint32_t b, uint32_t reader) {
    const bool strong = arn_alive_at(g->result->problem, b, g->peak.step);
    if (g->maker[b] == ARENAUT_NONE)
        arn_putf(&g->out, "in%" PRIu32 " [shape=plaintext, label=\"\"]\nin%" PRIu32, b, b);
    else arn_putf(&g->out, "op%" PRIu32, g->maker[b]);
    arn_putf(&g->out, " -> op%" PRIu32 " [label=\"", reader);
    put_label(g, b);
    arn_puts(&g->out, strong ? "\", color=\"#d55e00\", penwidth=2]\n" : "\"]\n");
}

/* The buffer of a tensor that needs memory; NONE where it does not. */
static uint32_t buffer_of(const graph *g, uint32_t tensor) {
    return tensor == ARENAUT_NONE ? tensor : g->result->lowering->buffer[tensor];
}

static void put_op(graph *g, uint32_t i) {
    const arenaut_op *op = &g->result->program->ops[i];
    arn_putf(&g->out, "op%" PRIu32 " [label=\"", i);
    put_escaped(g, arn_report_op_label(g->result->program, i).text);
    arn_puts(&g->out, "\"]\n");
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t b = buffer_of(g, op->inputs[k]);
        if (b != ARENAUT_NONE) put_arrow(g, b, i);
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t b = buffer_of(g, op->outputs[k]);
        if (b != ARENAUT_NONE) g->maker[b] = i;
    }
}

static void put_graph(graph *g) {
    const arenaut_program *p = g->result->program;
    for (uint32_t b = 0; b < g->result->problem->n_buffers; b++) g->maker[b] = ARENAUT_NONE;
    arn_puts(&g->out,
             "digraph plan {\nnode [shape=box, fontname=sans, fontsize=11]\n"
             "edge [fontname=sans, fontsize=9]\n");
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        arn_putf(&g->out, "subgraph cluster%" PRIu32 " {\nlabel=\"", m);
        put_escaped(g, arn_report_text_label(method->name ? method->name : "", 60).text);
        arn_puts(&g->out, "\"\n");
        for (uint32_t i = 0; i < method->n_ops; i++) put_op(g, method->first_op + i);
        arn_puts(&g->out, "}\n");
    }
    arn_puts(&g->out, "}\n");
}

static arenaut_status dot_emit(const arenaut_result *result, const arenaut_report_options *options,
                               arenaut_sink sink, const arenaut_allocator *allocator,
                               arenaut_error *err) {
    graph g = {.result = result, .out = arn_writer_to(sink)};
    (void)options;
    if (!result->lowering) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "a graph is made of a model's ops, and this is a bare problem");
    }
    arenaut_status st = arenaut_peak_find(result->problem, allocator, &g.peak, err);
    if (st != ARENAUT_OK) return st;
    g.maker = arn_allocate(allocator, result->problem->n_buffers, sizeof *g.maker);
    if (g.maker) put_graph(&g);
    else st = arn_no_memory(err);
    arn_release(allocator, g.maker);
    arenaut_peak_free(&g.peak, allocator);
    return st == ARENAUT_OK ? arn_writer_finish(&g.out, err) : st;
}

extern const arenaut_report arn_report_dot;
const arenaut_report arn_report_dot = {
    .name = "dot",
    .summary = "the model's ops for Graphviz, with buffers as arrows",
    .extension = ".dot",
    .needs_plan = true,
    .emit = dot_emit,
};
