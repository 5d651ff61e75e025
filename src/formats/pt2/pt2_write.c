/* Writer of exported graphs of a rewritten program: nodes in another schedule, some of them
 * rematerialized. A rematerialized node is a copy of the first one, with names of its own for its
 * results; the graph states the same types of these as of the first. Readers of other values than
 * before name them, and views may be copies. All other text stays as it stands. */
#include <inttypes.h>

#include "core/fail.h"
#include "core/memory.h"
#include "formats/json_patch.h"
#include "formats/pt2/pt2.h"
#include "ir/program.h"

/* A node in its new place. */
typedef struct run {
    uint32_t node;
    uint32_t op; /* of the rewritten program; NONE: it is no op */
} run;

/* The nodes of one graph. */
typedef struct nodes {
    uint32_t list;   /* the array */
    uint32_t *value; /* per node */
    bool *is_op;     /* per node */
    bool *has_run;   /* per node: not as a copy */
    run *runs;       /* in their new order */
    uint32_t n, n_put, n_passed;
} nodes;

typedef struct writing {
    const arenaut_rewrite *rewrite;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arenaut_program *program; /* the file's */
    arn_json json;
    arn_json_patch patch;
    arn_region region;
    arn_id_list graphs; /* per method, as values of the JSON */
    arn_id_list named;  /* objects that name tensors, of a node at work: */
    uint32_t n_read;    /* so many of these are operands */
    size_t *first;      /* per op of the rewritten program: its arguments */
    arn_fresh_names fresh;
    const char **name; /* per copy: its name, */
    uint32_t *number;  /* and the number in that */
} writing;

/* ---- the rewrite ---- */

static const arenaut_op *old_op(const writing *w, uint32_t op) {
    return &w->program->ops[w->rewrite->ops[op]];
}

/* Its operands, then its results, as it was made; NULL: as they are in the file. */
static const uint32_t *arguments_of(const writing *w, uint32_t op) {
    return w->rewrite->arguments ? w->rewrite->arguments + w->first[op] : NULL;
}

static uint32_t count_copies(const writing *w) {
    return w->rewrite->n_tensors - w->program->n_tensors;
}

static bool is_copy(const writing *w, uint32_t tensor) {
    return tensor != ARENAUT_NONE && tensor >= w->program->n_tensors;
}

static bool makes_copies(const writing *w, uint32_t op) {
    const uint32_t *arguments = arguments_of(w, op);
    const arenaut_op *old = old_op(w, op);
    bool any = false;
    for (uint32_t i = 0; arguments && i < old->n_outputs; i++) {
        any = any || is_copy(w, arguments[old->n_inputs + i]);
    }
    return any;
}

/* The tensor that is an argument of the op in the file. */
static uint32_t old_argument(const arenaut_op *old, uint32_t i) {
    return i < old->n_inputs ? old->inputs[i] : old->outputs[i - old->n_inputs];
}

/* Whether it has the arguments that it has in the file. */
static bool is_as_before(const writing *w, uint32_t op) {
    const uint32_t *now = arguments_of(w, op);
    const arenaut_op *old = old_op(w, op);
    bool same = true;
    for (uint32_t i = 0; now && same && i < old->n_inputs + old->n_outputs; i++) {
        same = now[i] == old_argument(old, i);
    }
    return same;
}

/* Whether the rewrite is of this file: a caller may have mixed them up. */
static bool is_of_program(const writing *w) {
    const arenaut_rewrite *r = w->rewrite;
    const bool again = r->n_ops > w->program->n_ops || r->n_tensors > w->program->n_tensors;
    bool fits = r->n_ops_before == w->program->n_ops && r->n_ops >= r->n_ops_before &&
                r->n_tensors >= w->program->n_tensors &&
                (!again || (w->program->n_methods == 1 && r->arguments));
    for (uint32_t i = 0; i < r->n_ops && fits; i++) {
        fits = r->ops[i] < w->program->n_ops &&
               (again || old_op(w, i)->method == w->program->ops[i].method);
    }
    for (uint32_t t = 0; t < r->n_tensors && fits; t++) {
        fits = r->tensors[t].tensor < w->program->n_tensors;
    }
    return fits;
}

static bool find_arguments(writing *w) {
    size_t n = 0;
    w->first = arn_region_allocate(&w->region, w->rewrite->n_ops, sizeof *w->first);
    if (!w->first) return false;
    for (uint32_t i = 0; i < w->rewrite->n_ops; i++) {
        w->first[i] = n;
        n += (size_t)old_op(w, i)->n_inputs + old_op(w, i)->n_outputs;
    }
    return true;
}

/* Whether each op has as many arguments as the file's, and makes its results or copies of them. */
static bool has_right_arguments(const writing *w) {
    bool right = true;
    for (uint32_t i = 0; i < w->rewrite->n_ops && right; i++) {
        const uint32_t *now = arguments_of(w, i);
        const arenaut_op *old = old_op(w, i);
        const bool again = makes_copies(w, i);
        for (uint32_t k = 0; now && right && k < old->n_inputs + old->n_outputs; k++) {
            const uint32_t was = old_argument(old, k);
            right = was == ARENAUT_NONE ? now[k] == was : now[k] < w->rewrite->n_tensors;
            if (k < old->n_inputs || was == ARENAUT_NONE) continue;
            right = right && (again ? is_copy(w, now[k]) : now[k] == was);
        }
    }
    return right;
}

/* ---- graphs ---- */

/* The graphs that nodes have as arguments, in the order in which they are read. */
static bool list_graphs_of(writing *w, uint32_t node) {
    const uint32_t inputs = arn_json_get(&w->json, node, "inputs");
    for (uint32_t v = arn_json_first(&w->json, inputs); v != ARN_JSON_NONE;
         v = arn_json_next(&w->json, inputs, v)) {
        const uint32_t arg = arn_json_get(&w->json, v, "arg");
        const uint32_t graph = arn_json_get(&w->json, arg, "as_graph");
        if (graph == ARN_JSON_NONE) continue;
        if (!arn_id_list_push(&w->graphs, w->allocator, arn_json_get(&w->json, graph, "graph"))) {
            return false;
        }
    }
    return true;
}

static bool list_graphs(writing *w) {
    const uint32_t module = arn_json_get(&w->json, 0, "graph_module");
    const uint32_t outermost = arn_json_get(&w->json, module, "graph");
    if (!arn_id_list_push(&w->graphs, w->allocator, outermost)) return false;
    for (uint32_t i = 0; i < w->graphs.n; i++) {
        const uint32_t list = arn_json_get(&w->json, w->graphs.ids[i], "nodes");
        for (uint32_t v = arn_json_first(&w->json, list); v != ARN_JSON_NONE;
             v = arn_json_next(&w->json, list, v)) {
            if (!list_graphs_of(w, v)) return false;
        }
    }
    return true;
}

/* ---- the order of the nodes ---- */

static bool list_nodes(writing *w, uint32_t m, uint32_t n_runs, nodes *x) {
    const arenaut_method *method = &w->program->methods[m];
    x->list = arn_json_get(&w->json, w->graphs.ids[m], "nodes");
    const uint32_t n = arn_json_count(&w->json, x->list);
    if (!ARN_REGION_ARRAYS(&w->region, ARN_ARRAY(x->value, n), ARN_ARRAY(x->is_op, n),
                           ARN_ARRAY(x->has_run, n), ARN_ARRAY(x->runs, (size_t)n + n_runs))) {
        return false;
    }
    for (uint32_t v = arn_json_first(&w->json, x->list); v != ARN_JSON_NONE;
         v = arn_json_next(&w->json, x->list, v)) {
        x->value[x->n++] = v;
    }
    for (uint32_t i = 0; i < method->n_ops; i++) {
        x->is_op[w->program->ops[method->first_op + i].file_index.id] = true;
    }
    return true;
}

/* Nodes that are no ops compute with scalars only: they come before the next that names one. */
static void put_scalars_before(nodes *x, uint32_t node) {
    for (; x->n_passed < node; x->n_passed++) {
        if (!x->is_op[x->n_passed]) x->runs[x->n_put++] = (run){x->n_passed, ARENAUT_NONE};
    }
}

static arenaut_status no_order(const writing *w, uint32_t node) {
    return arn_fail(w->err, ARENAUT_REFUSED, 0,
                    "node %" PRIu32 " of a graph does not stand there as one node any more", node);
}

/* Ops [first, first + n) of the rewritten program, which are the ops of one graph. */
static arenaut_status list_runs(writing *w, nodes *x, uint32_t first, uint32_t n) {
    for (uint32_t i = first; i < first + n; i++) {
        const uint32_t node = old_op(w, i)->file_index.id;
        const bool second = i > first && old_op(w, i - 1)->file_index.id == node &&
                            w->rewrite->ops[i] != w->rewrite->ops[i - 1];
        if (second) { /* a node of two ops */
            if (!is_as_before(w, i)) return no_order(w, node);
            continue;
        }
        if (!makes_copies(w, i)) {
            if (x->has_run[node]) return no_order(w, node);
            x->has_run[node] = true;
        }
        if (arn_pt2_names_scalar(&w->json, x->value[node])) put_scalars_before(x, node);
        x->runs[x->n_put++] = (run){node, i};
    }
    put_scalars_before(x, x->n);
    uint32_t left_out = 0;
    while (left_out < x->n && (!x->is_op[left_out] || x->has_run[left_out])) left_out++;
    return left_out == x->n ? ARENAUT_OK : no_order(w, left_out);
}

/* ---- names ---- */

static const char *name_of(const writing *w, uint32_t tensor) {
    return is_copy(w, tensor) ? w->name[tensor - w->program->n_tensors]
                              : w->program->tensors[tensor].name;
}

static bool name_copies(writing *w) {
    const uint32_t n_before = w->program->n_tensors, n = count_copies(w);
    uint32_t *next;
    if (!ARN_REGION_ARRAYS(&w->region, ARN_ARRAY(next, n_before), ARN_ARRAY(w->name, n),
                           ARN_ARRAY(w->number, n))) {
        return false;
    }
    if (n == 0) return true;
    for (uint32_t t = 0; t < n_before; t++) next[t] = 2;
    if (!arn_pt2_fresh_begin(&w->json, "__again_", w->allocator, &w->region, &w->fresh))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t of = w->rewrite->tensors[n_before + i].tensor;
        if (!arn_pt2_fresh_name(&w->fresh, name_of(w, of), &next[of], &w->name[i])) return false;
        w->number[i] = next[of]++;
    }
    return true;
}

/* Lists the names of the tensors of a node, in the order of the op's. */
static bool list_named(writing *w, uint32_t node) {
    const uint32_t inputs = arn_json_get(&w->json, node, "inputs");
    const uint32_t outputs = arn_json_get(&w->json, node, "outputs");
    bool room = true;
    w->named.n = 0;
    for (uint32_t v = arn_json_first(&w->json, inputs); v != ARN_JSON_NONE && room;
         v = arn_json_next(&w->json, inputs, v)) {
        const uint32_t arg = arn_json_get(&w->json, v, "arg");
        if (arn_json_get(&w->json, arg, "as_graph") != ARN_JSON_NONE) continue;
        room = arn_pt2_list_tensors(&w->json, arg, w->allocator, &w->named);
    }
    w->n_read = w->named.n;
    for (uint32_t v = arn_json_first(&w->json, outputs); v != ARN_JSON_NONE && room;
         v = arn_json_next(&w->json, outputs, v)) {
        room = arn_pt2_list_tensors(&w->json, v, w->allocator, &w->named);
    }
    return room;
}

/* Names among the results of a node, of tensors and of other values. */
static uint32_t count_names_made(const writing *w, uint32_t node) {
    const uint32_t outputs = arn_json_get(&w->json, node, "outputs");
    uint32_t n = 0;
    for (uint32_t v = outputs + 1; v < w->json.nodes[outputs].next; v++) {
        n += arn_json_type_of(&w->json, v) == ARN_JSON_STRING &&
             (arn_json_key_is(&w->json, v, "name") || arn_json_key_is(&w->json, v, "as_name"));
    }
    return n;
}

/* Of the node's tensors `ids` in the file, and `now` in the rewritten program. */
static void rename_tensors(writing *w, const uint32_t *ids, const uint32_t *now, uint32_t first,
                           uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] == now[i]) continue;
        arn_json_patch_text_here(&w->patch, arn_json_get(&w->json, w->named.ids[first + i], "name"),
                                 name_of(w, now[i]));
    }
}

/* A node may have a name beside those of its results: if it equals one of them, they change
 * together. */
static bool rename_node(writing *w, uint32_t node, uint32_t op) {
    const uint32_t value = arn_json_get(&w->json, node, "name");
    const arenaut_op *old = old_op(w, op);
    const uint32_t made = arguments_of(w, op)[old->n_inputs];
    if (value == ARN_JSON_NONE || arn_json_type_of(&w->json, value) != ARN_JSON_STRING) return true;
    const char *name = name_of(w, made);
    if (!arn_json_text_is(&w->json, value, name_of(w, old->outputs[0]))) {
        const uint32_t at = w->json.nodes[value].at;
        char *text = arn_region_allocate(&w->region, arn_json_raw_length(&w->json, at) + 1, 1);
        uint32_t number = w->number[made - w->program->n_tensors];
        if (!text) return false;
        text[arn_json_decode(&w->json, at, text)] = '\0';
        if (!arn_pt2_fresh_name(&w->fresh, text, &number, &name)) return false;
    }
    arn_json_patch_text_here(&w->patch, value, name);
    return true;
}

/* Renames the operands and results of a node in its new place, which was put last. A condition that
 * is a number stands in front of the op's operands, but has no name. */
static arenaut_status rename_run(writing *w, uint32_t node, uint32_t op) {
    const arenaut_op *old = old_op(w, op);
    const uint32_t *now = arguments_of(w, op);
    if (!list_named(w, node)) return arn_no_memory(w->err);
    const uint32_t unnamed = old->n_inputs - w->n_read, n_made = w->named.n - w->n_read;
    const bool again = makes_copies(w, op);
    if (w->n_read > old->n_inputs || n_made != old->n_outputs ||
        (again && count_names_made(w, node) != n_made)) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0,
                        "'%.80s' makes something else than tensors, so that it cannot stand there "
                        "again",
                        old->name);
    }
    rename_tensors(w, old->inputs + unnamed, now + unnamed, 0, w->n_read);
    rename_tensors(w, old->outputs, now + old->n_inputs, w->n_read, n_made);
    if (again && !rename_node(w, node, op)) return arn_no_memory(w->err);
    return ARENAUT_OK;
}

/* ---- the text ---- */

static arenaut_status put_run(writing *w, const nodes *x, uint32_t place) {
    const run r = x->runs[place];
    const bool renamed = r.op != ARENAUT_NONE && !is_as_before(w, r.op);
    if (place >= x->n) {
        arn_json_patch_add(&w->patch, x->list, NULL, x->value[r.node]);
    } else if (renamed || r.node != place) {
        arn_json_patch_move(&w->patch, x->value[place], x->value[r.node]);
    }
    return renamed ? rename_run(w, x->value[r.node], r.op) : ARENAUT_OK;
}

static arenaut_status put_graph(writing *w, uint32_t m) {
    const arenaut_method *method = &w->program->methods[m];
    const bool several = w->program->n_methods > 1;
    const uint32_t first = several ? method->first_op : 0;
    const uint32_t n = several ? method->n_ops : w->rewrite->n_ops;
    nodes x = {.n = 0};
    if (!list_nodes(w, m, n, &x)) return arn_no_memory(w->err);
    arenaut_status st = list_runs(w, &x, first, n);
    for (uint32_t i = 0; i < x.n_put && st == ARENAUT_OK; i++) st = put_run(w, &x, i);
    return st;
}

/* The types of the outermost graph's values, in the order in which they were read. */
static bool put_values(writing *w) {
    const uint32_t n = w->program->n_tensors;
    const uint32_t values = arn_json_get(&w->json, w->graphs.ids[0], "tensor_values");
    uint32_t *value = arn_region_allocate(&w->region, n, sizeof *value), i = 0;
    if (!value) return false;
    for (uint32_t v = arn_json_first(&w->json, values); v != ARN_JSON_NONE && i < n;
         v = arn_json_next(&w->json, values, v)) {
        value[i++] = v;
    }
    for (uint32_t t = n; t < w->rewrite->n_tensors; t++) {
        arn_json_patch_add(&w->patch, values, name_of(w, t), value[w->rewrite->tensors[t].tensor]);
    }
    return true;
}

static arenaut_status put_model(writing *w, arenaut_text *text) {
    arenaut_status st = ARENAUT_OK;
    if (w->graphs.n != w->program->n_methods || !has_right_arguments(w)) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0,
                        "the program is another one: it has %" PRIu32 " methods, the model %" PRIu32
                        " graphs",
                        w->program->n_methods, w->graphs.n);
    }
    for (uint32_t m = 0; m < w->graphs.n && st == ARENAUT_OK; m++) st = put_graph(w, m);
    if (st == ARENAUT_OK) {
        st = arn_pt2_put_copies(&w->json, w->graphs.ids[0], w->program, w->rewrite, &w->region,
                                &w->patch, w->err);
    }
    if (st != ARENAUT_OK) return st;
    if (count_copies(w) > 0 && !put_values(w)) return arn_no_memory(w->err);
    st = arn_json_patch_write(&w->patch, arenaut_text_sink(text), w->err);
    return st == ARENAUT_IO ? arn_no_memory(w->err) : st;
}

/* ---- tiles ---- */

static arenaut_status put_tiles(writing *w, arenaut_text *text) {
    const uint32_t module = arn_json_get(&w->json, 0, "graph_module");
    arenaut_text texts[2] = {{.allocator = w->allocator}, {.allocator = w->allocator}};
    arenaut_status st =
        arn_pt2_put_tiles(&w->json, arn_json_get(&w->json, module, "graph"), w->program, w->rewrite,
                          &w->patch, texts, w->allocator, w->err);
    if (st == ARENAUT_OK) st = arn_json_patch_write(&w->patch, arenaut_text_sink(text), w->err);
    for (int i = 0; i < 2; i++) arenaut_text_free(&texts[i]);
    return st == ARENAUT_IO ? arn_no_memory(w->err) : st;
}

/* ---- all of it ---- */

static arenaut_status put_rewritten(writing *w, arenaut_text *text) {
    if (arenaut_rewrite_is_tiled(w->rewrite)) return put_tiles(w, text);
    return list_graphs(w) && find_arguments(w) && name_copies(w) ? put_model(w, text)
                                                                 : arn_no_memory(w->err);
}

static arenaut_status rewrite_model(writing *w, const uint8_t *model, size_t size,
                                    arenaut_text *text) {
    arenaut_status st = arn_pt2_read(model, size, w->allocator, &w->program, w->err);
    if (st != ARENAUT_OK) return st;
    if (!arenaut_rewrite_is_tiled(w->rewrite) && !is_of_program(w)) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0,
                        "the order is of %" PRIu32 " ops; the graph has %" PRIu32,
                        w->rewrite->n_ops_before, w->program->n_ops);
    }
    st = arn_json_parse(model, size, w->allocator, &w->json, w->err);
    if (st != ARENAUT_OK) return st;
    w->patch = arn_json_patch_begin(&w->json, w->allocator);
    st = put_rewritten(w, text);
    arn_json_patch_free(&w->patch);
    arn_json_free(&w->json);
    return st;
}

arenaut_status arn_pt2_write(const arn_zip *zip, const arn_zip_entry *model, size_t listed,
                             const arenaut_rewrite *rewrite, arenaut_sink sink,
                             const arenaut_allocator *allocator, arenaut_error *err) {
    writing w = {.rewrite = rewrite, .allocator = allocator, .err = err};
    arenaut_text text = {.allocator = allocator};
    const uint8_t *bytes;
    arn_region_init(&w.region, allocator);
    arenaut_status st = arn_zip_bytes(zip, model, &bytes, err);
    if (st == ARENAUT_OK) st = rewrite_model(&w, bytes, (size_t)model->size, &text);
    if (st == ARENAUT_OK) st = arn_pt2_write_model(zip, model, listed, &text, sink, err);
    arenaut_text_free(&text);
    arn_program_free(w.program);
    ARN_RELEASE(allocator, w.graphs.ids, w.named.ids);
    arn_region_free(&w.region);
    return st;
}
