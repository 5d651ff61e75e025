/* The walk over the graphs of an exported program, and their nodes. A node becomes an op, unless it
 * computes with sizes only; the effect of an operator on its arguments follows from its name. A
 * graph that a node has as an argument is queued, and becomes a method of its own; values that it
 * only reads are captured, as the runtime hands over references and copies nothing. Time and memory
 * follow the size of the JSON; a node costs the length of its arguments times the logarithm of the
 * values in its graph. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "formats/pt2/pt2.h"
#include "ir/program.h"

/* A node at work. */
typedef struct node {
    uint32_t at; /* in the text */
    const char *target;
    arenaut_op op;
    uint32_t graphs[2], n_graphs;
    uint32_t group[4], n_groups; /* where the lists of tensors among the arguments end */
    uint32_t condition;          /* a tensor in front of the graphs */
    bool trains;                 /* unless an argument says otherwise */
    bool is_out_variant;         /* its last operands are its results */
    uint32_t after;              /* an op of the method */
} node;

static bool begins_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_false(const arn_pt2 *r, uint32_t value) {
    return value != ARN_JSON_NONE && arn_json_type_of(&r->json.json, value) == ARN_JSON_BOOL &&
           r->json.json.text[r->json.json.nodes[value].at] == 'f';
}

/* Operands that operators write whose names do not say so, by parts of the operators' names and the
 * arguments'. Most schemas of normalizations do not mention their running statistics. */
static const struct {
    const char *operator, *argument;
} writers[] = {
    {"_norm", "running_mean"},
    {"_norm", "running_var"},
    {"_moving_avg_obs_", "running_min"},
    {"_moving_avg_obs_", "running_max"},
    {"_moving_avg_obs_", "scale"},
    {"_moving_avg_obs_", "zero_point"},
    {"::rrelu_with_noise", "noise"},
    {"::_amp_update_scale_", "growth_tracker"},
    {"::_cummax_helper", "values"},
    {"::_cummax_helper", "indices"},
    {"::_cummin_helper", "values"},
    {"::_cummin_helper", "indices"},
    {"::_flash_attention_forward_no_dropout_inplace", "out"},
    {"prims::copy_to", "a"},
    {"prims::resize", "a"},
};

/* Forms of these operators that only read the same arguments. */
static bool only_reads(const char *name) {
    static const char *const forms[] = {"functional", "backward", "_no_training", "_no_update"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strstr(name, forms[i])) return true;
    }
    return false;
}

static bool is_written(const arn_pt2 *r, const char *name, uint32_t argument) {
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        if (strstr(name, writers[i].operator) &&
            arn_json_text_is(&r->json.json, argument, writers[i].argument)) {
            return !only_reads(name);
        }
    }
    return false;
}

static void look_for_written(arn_pt2 *r, const arn_pt2_scope *scope, uint32_t input, node *n) {
    static const char *const flags[] = {"training", "train", "use_input_stats"};
    const uint32_t name = arn_pt2_get(r, input, "name"), arg = arn_pt2_get(r, input, "arg");
    const uint32_t tensor = arn_pt2_get(r, arg, "as_tensor");
    if (name == ARN_JSON_NONE) return;
    if (tensor != ARN_JSON_NONE && is_written(r, n->op.name, name)) {
        const uint32_t *place = arn_pt2_place(r, scope, arn_pt2_need(r, tensor, "name"));
        if (!place || !arn_pt2_push(r, &r->written, *place)) return;
    }
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        if (!arn_json_text_is(&r->json.json, name, flags[k])) continue;
        n->trains = n->trains && !is_false(r, arn_pt2_get(r, arg, "as_bool"));
    }
}

/* "dim_max" of "aten::max.dim_max"; "" of the default overload. */
static const char *overload_of(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : "";
}

/* add.out, add.Scalar_out, xlogy.OutTensor, div.out_mode. */
static bool says_out(const char *overload) {
    const char *end = strrchr(overload, '_');
    const bool begins = begins_with(overload, "out") || begins_with(overload, "Out");
    return (begins && !(overload[3] >= 'a' && overload[3] <= 'z')) ||
           (end && strcmp(end, "_out") == 0);
}

/* Or the overload is called after the first of the results, a tensor that must be named in calls:
 * max.dim_max, sort.values_stable; but linalg_pinv.atol_rtol_tensor is after what it reads. */
static void look_for_result(arn_pt2 *r, uint32_t input, node *n) {
    enum { KEYWORD = 2 };
    uint64_t kind = 0;
    const char *overload = overload_of(n->op.name);
    const uint32_t name = arn_pt2_get(r, input, "name"), form = arn_pt2_get(r, input, "kind");
    const uint32_t arg = arn_pt2_get(r, input, "arg");
    if (name == ARN_JSON_NONE || form == ARN_JSON_NONE || strstr(overload, "_tensor") ||
        arn_pt2_get(r, arg, "as_tensor") == ARN_JSON_NONE ||
        !arn_json_to_u64(&r->json.json, form, &kind) || kind != KEYWORD) {
        return;
    }
    const char *text = arn_pt2_text(r, name);
    if (text && *text && strstr(overload, text)) n->is_out_variant = true;
}

static void read_inputs(arn_pt2 *r, const arn_pt2_scope *scope, uint32_t array, node *n) {
    n->is_out_variant = says_out(overload_of(n->op.name));
    r->inputs.n = r->written.n = 0;
    ARN_JSON_EACH(&r->json, v, array) {
        const uint32_t arg = arn_pt2_need(r, v, "arg");
        const uint32_t graph = arn_pt2_get(r, arg, "as_graph");
        const uint32_t before = r->inputs.n;
        if (graph != ARN_JSON_NONE) {
            if (n->n_graphs < 2) n->graphs[n->n_graphs] = graph;
            n->n_graphs++;
            continue;
        }
        look_for_written(r, scope, v, n);
        look_for_result(r, v, n);
        arn_pt2_push_tensors(r, scope, arg, &r->inputs);
        if (n->n_graphs == 0 && r->inputs.n == before + 1 && n->condition == ARENAUT_NONE) {
            n->condition = r->inputs.ids[before];
        }
        /* Lists behind the graphs: carried, walked over, and captured values. */
        const bool list = arn_pt2_get(r, arg, "as_tensors") != ARN_JSON_NONE;
        if (n->n_graphs > 0 && list && n->n_groups < 4) n->group[n->n_groups++] = r->inputs.n;
    }
}

static void read_outputs(arn_pt2 *r, const arn_pt2_scope *scope, uint32_t array) {
    r->outputs.n = 0;
    ARN_JSON_EACH(&r->json, v, array) {
        arn_pt2_push_tensors(r, scope, v, &r->outputs);
    }
}

/* ---- kinds of nodes ---- */

/* Operators that update their first argument end in an underscore, or are called as Python
 * calls them: __iadd__. */
static bool updates_in_place(const char *name) {
    const char *base = strstr(name, "::");
    base = base ? base + 2 : name;
    const size_t length = strcspn(base, ".");
    if (length > 4 && begins_with(base, "__")) return base[2] == 'i' && !begins_with(base, "__in");
    return length > 1 && base[length - 1] == '_';
}

/* The results of an out variant, if it returns any, are the operands that it writes. */
static void pair_results(arn_pt2 *r, node *n) {
    const uint32_t n_made = r->outputs.n, n_read = r->inputs.n - n_made;
    if (!n->is_out_variant || n->n_graphs > 0 || n_made > r->inputs.n) return;
    if (updates_in_place(n->op.name)) return;
    arenaut_in_place *pairs = arn_region_allocate(&r->names, n_made, sizeof *pairs);
    if (!pairs) r->json.status = arn_no_memory(r->json.err);
    for (uint32_t k = 0; pairs && k < n_made; k++) pairs[k] = (arenaut_in_place){k, n_read + k};
    n->op.in_place = pairs;
    n->op.n_in_place = n_made;
}

static arenaut_op_kind kind_of(arn_pt2 *r, const node *n) {
    const char *name = n->op.name;
    const bool hop = begins_with(name, "higher_order::");
    if (hop && strcmp(name, "higher_order::cond") == 0 && n->n_graphs == 2) return ARENAUT_OP_IF;
    if (hop && strcmp(name, "higher_order::while_loop") == 0 && n->n_graphs == 2) {
        return ARENAUT_OP_WHILE;
    }
    const bool writes = n->op.n_in_place > 0 || (n->is_out_variant && r->outputs.n == 0);
    if (n->n_graphs == 0)
        return writes || updates_in_place(name) ? ARENAUT_OP_IN_PLACE : ARENAUT_OP_FUNCTIONAL;
    if (n->n_graphs == 1 && (strstr(name, "scan") || strstr(name, "map"))) return ARENAUT_OP_LOOP;
    if (n->n_graphs == 1) return ARENAUT_OP_CALL;
    if (arn_pt2_fine(r)) {
        arn_json_fail(&r->json, n->at, ARENAUT_UNSUPPORTED,
                      "'%.80s' has %" PRIu32
                      " graphs among its arguments; only cond and while_loop "
                      "may have two",
                      name, n->n_graphs);
    }
    return ARENAUT_OP_FUNCTIONAL;
}

/* Whether a frame, which begins at a file's path, lies in PyTorch itself, as it is installed. */
static bool is_of_torch(const char *path) {
    static const char folder[] = "-packages/torch/";
    const char *quote = strchr(path, '"');
    if (!quote) return false;
    for (const char *at = path; (at = memchr(at, folder[0], (size_t)(quote - at))); at++) {
        if (begins_with(at, folder)) return true;
    }
    return false;
}

/* "file.py:11" of the last frame of a stack trace outside of PyTorch, which is the model author's
 * line; of the last one, where all are within. O(length). */
static const char *line_of(arn_pt2 *r, uint32_t metadata) {
    static const char frame[] = "File \"", line[] = ", line ";
    const uint32_t trace = arn_pt2_get(r, metadata, "stack_trace");
    if (trace == ARN_JSON_NONE || !arn_pt2_fine(r)) return NULL;
    char *text = (char *)arn_pt2_text(r, trace);
    char *last = NULL;
    bool last_of_torch = false;
    for (char *at = text ? strstr(text, frame) : NULL; at; at = strstr(at, frame)) {
        at += strlen(frame);
        const bool of_torch = is_of_torch(at);
        if (last && of_torch && !last_of_torch) continue;
        last = at;
        last_of_torch = of_torch;
    }
    if (!last) return NULL;
    char *quote = strchr(last, '"');
    if (!quote || !begins_with(quote + 1, line)) return NULL;
    const char *digits = quote + 1 + strlen(line);
    const size_t n_digits = strspn(digits, "0123456789");
    *quote = ':';
    memmove(quote + 1, digits, n_digits);
    quote[1 + n_digits] = '\0';
    return last;
}

/* The end of a field: the first comma outside of brackets, or the end of the text. */
static char *end_of_field(char *text) {
    size_t depth = 0;
    for (; *text && (*text != ',' || depth > 0); text++) {
        if (*text == '(' || *text == '[') depth++;
        if ((*text == ')' || *text == ']') && depth > 0) depth--;
    }
    return text;
}

/* "encoder.layer.0", the innermost module: of "KEY,PATH,CLASS" for each one, parted by ";", the
 * last path, without the number of the call that torch may add ("act@1", "act:1"). A key may have
 * commas in brackets ("getattr(L['self'].net, '0')"). NULL in the outermost module, and where the
 * graph has been traced anew. */
static const char *module_of(arn_pt2 *r, uint32_t metadata) {
    const uint32_t modules = arn_pt2_get(r, metadata, "nn_module_stack");
    if (modules == ARN_JSON_NONE || !arn_pt2_fine(r)) return NULL;
    char *text = (char *)arn_pt2_text(r, modules);
    if (!text) return NULL;
    char *last = strrchr(text, ';');
    char *comma = end_of_field(last ? last + 1 : text);
    if (*comma == '\0') return NULL;
    char *path = comma + 1, *end = end_of_field(path);
    if (*end == '\0' || begins_with(path, "_empty_nn_module_stack")) return NULL;
    *end = '\0';
    path[strcspn(path, "@:")] = '\0';
    return *path ? path : NULL;
}

/* "file.py:11 in encoder.layer.0", or as much of it as there is. */
static const char *source_of(arn_pt2 *r, uint32_t metadata) {
    const char *line = line_of(r, metadata), *module = module_of(r, metadata);
    if (!module || !arn_pt2_fine(r)) return line;
    const char *before = line ? line : "", *space = line ? " " : "";
    const size_t room = strlen(before) + strlen(" in ") + strlen(module) + 1;
    char *text = arn_region_allocate(&r->names, room, 1);
    if (!text) {
        r->json.status = arn_no_memory(r->json.err);
        return NULL;
    }
    snprintf(text, room, "%s%sin %s", before, space, module);
    return text;
}

/* ---- nested graphs ---- */

/* The number of inputs of the called graphs that are handed over as copies: values that a loop
 * carries, and values that it walks over slice by slice. A branch's and a call's are all
 * captured. */
static uint32_t count_own(const node *n) {
    if (n->op.kind == ARENAUT_OP_WHILE) return n->n_groups > 0 ? n->group[0] : 0;
    if (n->op.kind != ARENAUT_OP_LOOP || n->n_groups == 0) return 0;
    return strstr(n->op.name, "scan") && n->n_groups > 1 ? n->group[1] : n->group[0];
}

static void enqueue(arn_pt2 *r, arn_pt2_queue *q, node *n, uint32_t method) {
    static const uint32_t most = 2;
    const bool condition = n->op.kind == ARENAUT_OP_IF && n->condition != ARENAUT_NONE;
    uint32_t *calls = arn_region_allocate(&r->names, most, sizeof *calls);
    if (!calls) r->json.status = arn_no_memory(r->json.err);
    for (uint32_t k = 0; k < n->n_graphs && arn_pt2_fine(r); k++) {
        if (!arn_pt2_grow(r, (void **)&q->list, &q->capacity, (uint64_t)q->n + 1,
                          sizeof *q->list)) {
            return;
        }
        const uint32_t first = q->arguments.n;
        for (uint32_t i = condition; i < r->inputs.n; i++) {
            if (!arn_pt2_push(r, &q->arguments, r->inputs.ids[i])) return;
        }
        q->list[q->n++] =
            (arn_pt2_pending){n->graphs[k], method, count_own(n), first, q->arguments.n - first};
        calls[k] = q->n; /* the outermost graph is method 0 */
    }
    n->op.calls = calls;
    n->op.n_calls = n->n_graphs;
    if (n->op.kind == ARENAUT_OP_LOOP) {
        n->op.target = strstr(n->op.name, "scan") && n->n_groups > 0 ? n->group[0] : 0;
    }
}

/* A branch whose condition is a number has no tensor there. */
static bool set_condition(arn_pt2 *r, node *n) {
    if (n->op.kind != ARENAUT_OP_IF || n->condition != ARENAUT_NONE) return true;
    if (!arn_pt2_push(r, &r->inputs, ARENAUT_NONE)) return false;
    memmove(r->inputs.ids + 1, r->inputs.ids, (r->inputs.n - 1) * sizeof *r->inputs.ids);
    r->inputs.ids[0] = ARENAUT_NONE;
    return true;
}

/* ---- nodes ---- */

static bool add_op(arn_pt2 *r, node *n) {
    n->op.inputs = r->inputs.ids;
    n->op.n_inputs = r->inputs.n;
    n->op.outputs = r->outputs.ids;
    n->op.n_outputs = r->outputs.n;
    r->json.status = arn_program_add_op(r->program, &n->op, NULL, r->json.err);
    return arn_pt2_fine(r);
}

/* The update of operands beside the results, as an op that writes them in place behind the one that
 * computes. Its results are these operands. */
static void add_update(arn_pt2 *r, node *n) {
    const bool known = n->op.kind == ARENAUT_OP_FUNCTIONAL || n->op.kind == ARENAUT_OP_IN_PLACE;
    if (!n->trains || r->written.n == 0 || !known) return;
    const arenaut_op update = {.name = "update_operands",
                               .source = n->op.source,
                               .kind = ARENAUT_OP_IN_PLACE,
                               .method = n->op.method,
                               .file_index = n->op.file_index,
                               .n_inputs = r->written.n,
                               .inputs = r->written.ids};
    r->json.status = arn_program_add_op(r->program, &update, NULL, r->json.err);
}

static void keep_place(arn_pt2 *r, node *n) {
    if (!arn_pt2_names_scalar(&r->json.json, n->at)) return;
    n->after = r->last_scalar;
    n->op.n_after = n->after != ARENAUT_NONE;
    n->op.after = &n->after;
    r->last_scalar = r->program->methods[n->op.method].n_ops;
}

static void read_node(arn_pt2 *r, uint32_t at, uint32_t number, const arn_pt2_scope *scope,
                      arn_pt2_queue *q) {
    node n = {.at = at, .condition = ARENAUT_NONE, .trains = true};
    n.target = arn_pt2_text(r, arn_pt2_need(r, at, "target"));
    n.op.name = n.target ? arn_pt2_operator_name(r, n.target) : NULL;
    n.op.method = scope->method;
    n.op.file_index = arenaut_id(number);
    const uint32_t inputs = arn_pt2_need(r, at, "inputs");
    if (!arn_pt2_fine(r)) return;
    read_inputs(r, scope, inputs, &n);
    read_outputs(r, scope, arn_pt2_need(r, at, "outputs"));
    if (!arn_pt2_fine(r)) return;
    n.op.inputs = r->inputs.ids;
    n.op.n_inputs = r->inputs.n;
    arn_pt2_read_attributes(r, inputs, &n.op);
    if (arn_pt2_fine(r)) pair_results(r, &n);
    if (!arn_pt2_fine(r)) return;
    n.op.kind = kind_of(r, &n);
    n.op.source = source_of(r, arn_pt2_get(r, at, "metadata"));
    if (!arn_pt2_fine(r)) return;
    if (n.n_graphs > 0) enqueue(r, q, &n, scope->method);
    /* Arithmetic on sizes has nothing to do with memory. */
    if (n.n_graphs == 0 && r->inputs.n == 0 && r->outputs.n == 0) return;
    if (!arn_pt2_fine(r) || !set_condition(r, &n)) return;
    keep_place(r, &n);
    if (!add_op(r, &n)) return;
    add_update(r, &n);
}

/* Adds the ops of a graph to its method, and the graphs that they hold to the queue. */
static void read_nodes(arn_pt2 *r, uint32_t nodes, const arn_pt2_scope *scope, arn_pt2_queue *q) {
    uint32_t number = 0;
    r->last_scalar = ARENAUT_NONE;
    ARN_JSON_EACH(&r->json, v, nodes) {
        read_node(r, v, number++, scope, q);
    }
}

/* ---- the walk ---- */

/* Binds the graph's inputs to the calling op's arguments. Inputs of its own become tensors and the
 * method's inputs; the others are the caller's tensors by another name. */
static void bind_inputs(arn_pt2 *r, uint32_t inputs, const arn_pt2_scope *scope,
                        const arn_pt2_queue *q, const arn_pt2_pending *p) {
    uint32_t k = 0;
    ARN_JSON_EACH(&r->json, v, inputs) {
        const uint32_t tensor = arn_pt2_get(r, v, "as_tensor");
        if (tensor == ARN_JSON_NONE) continue;
        uint32_t *place = arn_pt2_place(r, scope, arn_pt2_need(r, tensor, "name"));
        if (place && k == p->n_arguments) {
            arn_json_fail(&r->json, v, ARENAUT_BAD_INPUT,
                          "the graph has more inputs than the %" PRIu32 " that it is given",
                          p->n_arguments);
        }
        if (!arn_pt2_fine(r)) return;
        if (k >= p->n_own) *place = q->arguments.ids[p->first + k];
        k++;
    }
}

static void read_nested_io(arn_pt2 *r, uint32_t graph, const arn_pt2_scope *scope,
                           const arn_pt2_pending *p) {
    r->inputs.n = r->outputs.n = 0;
    const uint32_t inputs = arn_pt2_need(r, graph, "inputs");
    for (uint32_t v = arn_json_elements(&r->json, inputs);
         v != ARN_JSON_NONE && arn_pt2_fine(r) && r->inputs.n < p->n_own;
         v = arn_json_next(&r->json.json, inputs, v)) {
        arn_pt2_push_tensors(r, scope, v, &r->inputs);
    }
    const uint32_t outputs = arn_pt2_need(r, graph, "outputs");
    ARN_JSON_EACH(&r->json, v, outputs) {
        arn_pt2_push_tensors(r, scope, v, &r->outputs);
    }
    if (!arn_pt2_fine(r)) return;
    r->json.status =
        arenaut_program_set_method_io(r->program, scope->method, r->inputs.ids, r->inputs.n,
                                      r->outputs.ids, r->outputs.n, r->json.err);
}

static void read_nested(arn_pt2 *r, arn_pt2_queue *q, uint32_t index) {
    const arn_pt2_pending p = q->list[index];
    arn_pt2_scope scope = {.n = 0};
    const char *name = arn_pt2_text(r, arn_pt2_need(r, p.graph, "name"));
    const uint32_t graph = arn_pt2_need(r, p.graph, "graph");
    if (!arn_pt2_fine(r)) return;
    r->json.status = arn_program_add_method(r->program, name, false, &scope.method, r->json.err);
    if (!arn_pt2_fine(r)) return;
    r->program->methods[scope.method].outer = p.outer;
    const uint32_t values = arn_pt2_need(r, graph, "tensor_values");
    arn_pt2_read_names(r, values, &scope);
    if (arn_pt2_fine(r)) bind_inputs(r, arn_pt2_need(r, graph, "inputs"), &scope, q, &p);
    arn_pt2_read_tensors(r, values, &scope);
    if (arn_pt2_fine(r)) read_nodes(r, arn_pt2_need(r, graph, "nodes"), &scope, q);
    if (arn_pt2_fine(r)) read_nested_io(r, graph, &scope, &p);
}

/* All graphs, the outermost first. */
static void read_graphs(arn_pt2 *r, uint32_t module) {
    arn_pt2_queue q = {.list = NULL};
    arn_pt2_scope scope = {.n = 0};
    const uint32_t graph = arn_pt2_need(r, module, "graph");
    const uint32_t values = arn_pt2_need(r, graph, "tensor_values");
    if (arn_pt2_fine(r)) {
        r->json.status = arn_program_add_method(r->program, "forward", true, NULL, r->json.err);
    }
    arn_pt2_read_names(r, values, &scope);
    arn_pt2_read_tensors(r, values, &scope);
    if (arn_pt2_fine(r)) read_nodes(r, arn_pt2_need(r, graph, "nodes"), &scope, &q);
    if (arn_pt2_fine(r)) {
        arn_pt2_read_signature(r, arn_pt2_need(r, module, "signature"), &scope);
    }
    for (uint32_t i = 0; i < q.n && arn_pt2_fine(r); i++) read_nested(r, &q, i);
    ARN_RELEASE(r->json.allocator, q.list, q.arguments.ids);
}

/* ---- the model ---- */

/* Other versions of the schema are unknown here. */
static void check_version(arn_pt2 *r) {
    enum { OLDEST = 5, NEWEST = 8 };
    uint64_t major = 0;
    const uint32_t version = arn_pt2_need(r, 0, "schema_version");
    const uint32_t number = arn_pt2_need(r, version, "major");
    if (!arn_pt2_fine(r)) return;
    if (arn_json_to_u64(&r->json.json, number, &major) && major >= OLDEST && major <= NEWEST)
        return;
    arn_json_fail(&r->json, number, ARENAUT_UNSUPPORTED,
                  "the export schema is not of a version from %d to %d", OLDEST, NEWEST);
}

static void read_model(arn_pt2 *r) {
    check_version(r);
    if (arn_pt2_fine(r)) arn_pt2_read_ranges(r, arn_pt2_get(r, 0, "range_constraints"));
    if (arn_pt2_fine(r)) read_graphs(r, arn_pt2_need(r, 0, "graph_module"));
    if (arn_pt2_fine(r)) {
        r->json.status = arn_program_set_dialect(r->program, "aten", r->json.err);
    }
    if (arn_pt2_fine(r)) r->json.status = arn_program_validate(r->program, r->json.err);
}

arenaut_status arn_pt2_read(const uint8_t *data, size_t size, const arenaut_allocator *allocator,
                            arenaut_program **out, arenaut_error *err) {
    arn_pt2 r = {.program = NULL};
    arn_region_init(&r.names, allocator);
    arn_json_reader_open(&r.json, data, size, allocator, err);
    if (arn_pt2_fine(&r)) r.json.status = arn_program_new(allocator, &r.program, err);
    if (arn_pt2_fine(&r)) read_model(&r);
    const arenaut_status st = r.json.status;
    if (st == ARENAUT_OK) {
        *out = r.program;
    } else {
        arn_program_free(r.program);
    }
    ARN_RELEASE(allocator, r.inputs.ids, r.outputs.ids, r.written.ids, r.named.ids, r.attributes,
                r.dims, r.strides, r.exprs, r.stride_exprs, r.order, r.text);
    arn_region_free(&r.names);
    arn_json_reader_free(&r.json);
    return st;
}
