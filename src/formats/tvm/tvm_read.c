/* Reader from a TVM graph to a program. Entry e becomes tensor e.
 *
 * Arguments (inputs and parameters look alike here) are memory of the caller's, and never
 * planned. For the rest the file has a plan: a storage id is a block of memory as large as the
 * largest value that has it. Such a block is told as a stretch of addresses, the blocks of one
 * device end to end in the order of their ids. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "formats/tvm/tvm_graph.h"
#include "ir/program.h"

typedef struct reader {
    arn_tvm_graph graph;
    arenaut_program *program;
    uint64_t *bytes;    /* per entry */
    uint64_t *block;    /* per storage id: its size, then where it begins */
    uint32_t *op;       /* per node that is no argument: its op */
    bool *taken_over;   /* per storage id that is not planned: several values have it in turn */
    uint32_t last_turn; /* the last op so far on such an id; ARENAUT_NONE: none */
    uint32_t *holder; /* per storage id that is not planned: the entry whose value it has by now */
    int64_t *dims;
    uint32_t *ids; /* arguments of one node */
    uint32_t dim_capacity, id_capacity;
    uint32_t n_memories;
    arenaut_given_pool memories[ARENAUT_MAX_POOLS];
} reader;

static bool fine(const reader *r) { return arn_json_fine(&r->graph.json); }

static arn_json *text_of(reader *r) { return &r->graph.json.json; }

static bool grow(reader *r, void **array, uint32_t *capacity, uint64_t needed, size_t size) {
    if (arn_grow(r->graph.json.allocator, array, capacity, needed, size)) return true;
    if (fine(r)) r->graph.json.status = arn_no_memory(r->graph.json.err);
    return false;
}

/* Room that lasts until the end of reading. */
static void *allocate(reader *r, size_t count, size_t size) {
    void *block = arn_region_allocate(&r->graph.json.texts, count, size);
    if (!block && fine(r)) r->graph.json.status = arn_no_memory(r->graph.json.err);
    return block;
}

/* ---- types and shapes ---- */

typedef struct value_type {
    arenaut_dtype dtype; /* OTHER where there is no word of ours for it */
    uint32_t bits, lanes;
} value_type;

static arenaut_dtype dtype_named(const char *name) {
    for (uint32_t k = 0; k < ARENAUT_DTYPE_COUNT; k++) {
        if (strcmp(arenaut_dtype_name((arenaut_dtype)k), name) == 0) return (arenaut_dtype)k;
    }
    return ARENAUT_DTYPE_OTHER;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static uint32_t take_number(const char **at) {
    uint32_t n = 0;
    while (is_digit(**at) && n <= UINT16_MAX) n = 10 * n + (uint32_t)(*(*at)++ - '0');
    return n;
}

/* "float32", "int8x4", "float8_e4m3fn": a word, bits, perhaps a variant, perhaps lanes. */
static bool parse_type(const char *text, value_type *type) {
    const char *at = text;
    *type = (value_type){ARENAUT_DTYPE_OTHER, 0, 1};
    while (*at && !is_digit(*at)) at++;
    if (strcmp(text, "bool") == 0 || strcmp(text, "handle") == 0) {
        type->bits = text[0] == 'b' ? 1 : 64;
    } else {
        if (at == text) return false;
        type->bits = take_number(&at);
        if (type->bits == 0 || type->bits > UINT16_MAX) return false;
    }
    if (*at == '\0') type->dtype = dtype_named(strcmp(text, "uint1") ? text : "bool");
    if (*at == '_') at += strcspn(at, "x");
    if (*at == 'x') {
        at++;
        type->lanes = take_number(&at);
        if (type->lanes == 0 || type->lanes > UINT16_MAX) return false;
    }
    return *at == '\0';
}

static value_type read_type(reader *r, uint32_t value) {
    value_type type = {ARENAUT_DTYPE_OTHER, 8, 1};
    arn_json_hold(&r->graph.json, value);
    const char *text = arn_json_string(&r->graph.json, value);
    if (text && !parse_type(text, &type)) {
        arn_json_unexpected(&r->graph.json, value, "a type such as float32, bool or int8x4");
    }
    return type;
}

/* Every element takes whole bytes: the runtime packs lanes, but not elements. */
static uint64_t read_shape(reader *r, uint32_t list, const value_type *type, uint32_t *rank) {
    uint64_t bytes = ((uint64_t)type->bits * type->lanes + 7) / 8;
    *rank = 0;
    ARN_JSON_EACH(&r->graph.json, v, list) {
        const int64_t dim = arn_json_step(&r->graph.json, v, 0);
        if (fine(r) && dim < 0) {
            arn_json_fail(&r->graph.json, v, ARENAUT_BAD_INPUT,
                          "found the dimension %" PRId64
                          "; expected 0 or more, since the graph "
                          "executor allocates before it knows sizes",
                          dim);
        }
        if (!grow(r, (void **)&r->dims, &r->dim_capacity, (uint64_t)*rank + 1, sizeof *r->dims)) {
            return 0;
        }
        r->dims[(*rank)++] = dim;
        if (fine(r) && !arn_multiply(bytes, (uint64_t)dim, &bytes)) {
            arn_json_fail(&r->graph.json, list, ARENAUT_TOO_LARGE, "more than 2^63 - 1 bytes");
        }
    }
    return bytes;
}

/* ---- tensors ---- */

/* The memories of the file, one per device, in the order of their first values. */
static uint32_t memory_of(reader *r, uint16_t device) {
    for (uint32_t k = 0; k < r->n_memories; k++) {
        if (r->memories[k].device.type == device) return k;
    }
    if (r->n_memories == ARENAUT_MAX_POOLS) {
        arn_json_fail(&r->graph.json, r->graph.storage_ids, ARENAUT_UNSUPPORTED,
                      "values on more than %u devices", ARENAUT_MAX_POOLS);
        return 0;
    }
    r->memories[r->n_memories] = (arenaut_given_pool){0, {device, 0}};
    return r->n_memories++;
}

/* Turns the sizes of blocks into where they begin. */
static void stack_blocks(reader *r) {
    const arn_tvm_graph *g = &r->graph;
    uint32_t *memory = allocate(r, g->n_ids, sizeof *memory);
    if (!memory) return;
    for (uint32_t k = 0; k < g->n_ids; k++) memory[k] = ARENAUT_NONE;
    for (uint32_t e = 0; e < g->n_entries && fine(r); e++) {
        if (g->kept[e]) continue;
        uint64_t *block = &r->block[g->id[e]];
        *block = arn_max_u64(*block, r->bytes[e]);
        memory[g->id[e]] = memory_of(r, g->device[e]);
    }
    for (uint32_t k = 0; k < g->n_ids && fine(r); k++) {
        if (memory[k] == ARENAUT_NONE) continue;
        uint64_t *end = &r->memories[memory[k]].bytes, size = r->block[k];
        r->block[k] = *end;
        if (!arn_add(*end, size, end)) {
            arn_json_fail(&r->graph.json, g->storage_ids, ARENAUT_TOO_LARGE,
                          "the blocks add up to more than 2^63 - 1 bytes");
        }
    }
}

/* Values of one node are called alike but for their number. */
static void set_name(reader *r, uint32_t node, uint32_t e, arenaut_tensor *tensor) {
    const arn_tvm_graph *g = &r->graph;
    const uint32_t name = arn_json_get(text_of(r), g->node[node], "name");
    arn_json_hold(&r->graph.json, g->node[node]);
    const char *text = arn_json_string(&r->graph.json, name);
    if (!text || g->row[node + 1] - g->row[node] == 1) {
        tensor->name = text;
        return;
    }
    const size_t room = strlen(text) + 16;
    char *numbered = allocate(r, room, 1);
    if (!numbered) return;
    snprintf(numbered, room, "%s:%" PRIu32, text, e - g->row[node]);
    tensor->name = numbered;
}

static void add_tensor(reader *r, uint32_t node, uint32_t e, uint32_t type_at, uint32_t shape_at) {
    const arn_tvm_graph *g = &r->graph;
    arenaut_tensor tensor = arenaut_tensor_default();
    const value_type type = read_type(r, type_at);
    tensor.lanes = type.lanes;
    tensor.bytes = r->bytes[e] = read_shape(r, shape_at, &type, &tensor.rank);
    tensor.dtype = type.dtype;
    tensor.dims = r->dims;
    tensor.method = 0;
    tensor.device = (arenaut_device){g->device[e], 0};
    tensor.caller_owned = g->kept[e];
    tensor.file_index = e;
    if (arn_tvm_is_argument(g, node)) tensor.cls = ARENAUT_INPUT;
    set_name(r, node, e, &tensor);
    if (!fine(r)) return;
    r->graph.json.status = arenaut_program_add_tensor(r->program, &tensor, NULL, r->graph.json.err);
}

static void add_tensors(reader *r) {
    const arn_tvm_graph *g = &r->graph;
    const uint32_t types = arn_tvm_column(&r->graph, "dltype", "list_str", true);
    const uint32_t shapes = arn_tvm_column(&r->graph, "shape", "list_shape", true);
    if (!fine(r)) return;
    uint32_t type = arn_json_first(text_of(r), types), shape = arn_json_first(text_of(r), shapes);
    for (uint32_t i = 0; i < g->n_nodes && fine(r); i++) {
        for (uint32_t e = g->row[i]; e < g->row[i + 1] && fine(r); e++) {
            add_tensor(r, i, e, type, shape);
            type = arn_json_next(text_of(r), types, type);
            shape = arn_json_next(text_of(r), shapes, shape);
        }
    }
}

/* Only a value in a block of its own has a place; a view lies where its operand does. */
static void place_tensors(reader *r) {
    const arn_tvm_graph *g = &r->graph;
    for (uint32_t e = 0; e < g->n_entries; e++) {
        arenaut_tensor *tensor = &r->program->tensors[e];
        if (g->kept[e]) continue;
        tensor->given_pool = memory_of(r, g->device[e]);
        tensor->given_offset = r->block[g->id[e]];
    }
}

/* ---- ops ---- */

/* The runtime runs nothing for such a node, so its value can only be its operand's memory. */
static void make_view(reader *r, uint32_t node, uint32_t operand) {
    const arn_tvm_graph *g = &r->graph;
    for (uint32_t e = g->row[node]; e < g->row[node + 1] && fine(r); e++) {
        arenaut_tensor *tensor = &r->program->tensors[e];
        const arenaut_tensor *source = &r->program->tensors[operand];
        if (g->id[e] != g->id[operand]) {
            arn_json_fail(&r->graph.json, g->node[node], ARENAUT_BAD_INPUT,
                          "node %" PRIu32
                          " ('%s') does nothing when it runs, but its result has the storage id %d "
                          "and its operand %d",
                          node, tensor->name ? tensor->name : "", g->id[e], g->id[operand]);
        }
        tensor->view_of = source->view_of == ARENAUT_NONE ? operand : source->view_of;
    }
}

/* NNVM let results be written over operands, and says where. */
static uint32_t list_pairs(reader *r, uint32_t node, const uint32_t *over, uint32_t n_inputs,
                           arenaut_in_place *pairs) {
    const arn_tvm_graph *g = &r->graph;
    uint32_t n = 0;
    for (uint32_t e = g->row[node]; over && e < g->row[node + 1]; e++) {
        if (over[e] >= n_inputs || g->kept[e]) continue;
        if (g->id[e] == g->id[r->ids[over[e]]]) {
            pairs[n++] = (arenaut_in_place){e - g->row[node], over[e]};
        }
    }
    return n;
}

/* Appends the entries of a list of references to r->ids. */
static uint32_t read_references(reader *r, uint32_t list, uint32_t limit) {
    uint32_t n = 0;
    ARN_JSON_EACH(&r->graph.json, v, list) {
        if (!grow(r, (void **)&r->ids, &r->id_capacity, (uint64_t)n + 1, sizeof *r->ids)) return 0;
        r->ids[n++] = arn_tvm_entry(&r->graph, v, limit);
    }
    return n;
}

/* Values in memory that is not planned share it by their ids alone: an op's result may take over
 * that of an argument. */
static void find_taken_over(reader *r) {
    const arn_tvm_graph *g = &r->graph;
    bool *has_value = allocate(r, g->n_ids, sizeof *has_value);
    r->taken_over = allocate(r, g->n_ids, sizeof *r->taken_over);
    for (uint32_t k = 0; k < g->n_ids && fine(r); k++) has_value[k] = r->taken_over[k] = false;
    for (uint32_t i = 0; i < g->n_nodes && fine(r); i++) {
        for (uint32_t e = g->row[i]; e < g->row[i + 1] && !arn_tvm_is_view(g, i); e++) {
            if (!g->kept[e] || g->id[e] == ARN_TVM_NO_ID) continue;
            r->taken_over[g->id[e]] = has_value[g->id[e]];
            has_value[g->id[e]] = true;
        }
    }
}

static bool is_taken_over(const reader *r, uint32_t e) {
    return r->graph.id[e] != ARN_TVM_NO_ID && r->taken_over[r->graph.id[e]];
}

/* Whether an op, whose operands are in r->ids, reads or writes memory that values have in turn:
 * such ops keep their sequence. */
static bool has_turn(const reader *r, uint32_t node, uint32_t n_inputs) {
    bool any = false;
    for (uint32_t k = 0; k < n_inputs; k++) any = any || is_taken_over(r, r->ids[k]);
    for (uint32_t e = r->graph.row[node]; e < r->graph.row[node + 1]; e++) {
        any = any || is_taken_over(r, e);
    }
    return any;
}

/* ---- values in turn ---- */

static const char *name_of(const reader *r, uint32_t e) {
    const char *name = r->program->tensors[e].name;
    return name ? name : "";
}

static bool has_holder(const reader *r, uint32_t e) {
    return r->graph.kept[e] && r->graph.id[e] != ARN_TVM_NO_ID;
}

/* Arguments have their values before the first node runs. */
static void hold_arguments(reader *r) {
    const arn_tvm_graph *g = &r->graph;
    r->holder = allocate(r, g->n_ids, sizeof *r->holder);
    for (uint32_t k = 0; k < g->n_ids && fine(r); k++) r->holder[k] = ARENAUT_NONE;
    for (uint32_t i = 0; i < g->n_nodes && fine(r); i++) {
        const uint32_t e = g->row[i];
        if (!arn_tvm_is_argument(g, i) || !has_holder(r, e)) continue;
        uint32_t *holder = &r->holder[g->id[e]];
        if (*holder != ARENAUT_NONE) {
            arn_json_fail(
                &r->graph.json, g->storage_ids, ARENAUT_BAD_INPUT,
                "the arguments '%.60s' and '%.60s' have the storage id %d; each holds its "
                "value from the start",
                name_of(r, *holder), name_of(r, e), g->id[e]);
            return;
        }
        *holder = e;
    }
}

/* Memory that is not planned must still have the value that is read. */
static void read_held(reader *r, uint32_t at, uint32_t e) {
    const uint32_t view_of = r->program->tensors[e].view_of;
    const uint32_t value = view_of == ARENAUT_NONE ? e : view_of;
    if (!fine(r) || !has_holder(r, e) || r->holder[r->graph.id[e]] == value) return;
    arn_json_fail(&r->graph.json, at, ARENAUT_BAD_INPUT,
                  "reads '%.60s', whose storage id %d, which is not planned, has the value of "
                  "'%.60s' by then",
                  name_of(r, value), r->graph.id[e], name_of(r, r->holder[r->graph.id[e]]));
}

/* A result takes over such memory, that of an operand only where the graph says that it may. */
static void write_held(reader *r, uint32_t node, uint32_t e, uint32_t n_inputs, uint32_t over) {
    const arn_tvm_graph *g = &r->graph;
    if (!has_holder(r, e)) return;
    for (uint32_t k = 0; k < n_inputs && fine(r); k++) {
        if (g->id[r->ids[k]] != g->id[e] || k == over) continue;
        arn_json_fail(&r->graph.json, g->node[node], ARENAUT_BAD_INPUT,
                      "'%.60s' is written over its operand '%.60s', both of storage id %d",
                      name_of(r, e), name_of(r, r->ids[k]), g->id[e]);
    }
    r->holder[g->id[e]] = e;
}

/* An op, no view, whose operands are in r->ids. */
static void take_turn(reader *r, uint32_t node, uint32_t n_inputs, const uint32_t *over) {
    const arn_tvm_graph *g = &r->graph;
    for (uint32_t k = 0; k < n_inputs; k++) read_held(r, g->node[node], r->ids[k]);
    for (uint32_t e = g->row[node]; e < g->row[node + 1]; e++) {
        write_held(r, node, e, n_inputs, over ? over[e] : ARENAUT_NONE);
    }
}

/* ---- nodes ---- */

/* Control dependences of a node: numbers of ops; `first` is one, or NONE. */
static uint32_t *read_control(reader *r, uint32_t node, uint32_t first, uint32_t *n) {
    const uint32_t list = arn_json_get(text_of(r), r->graph.node[node], "control_deps");
    const size_t stated = list == ARN_JSON_NONE ? 0 : arn_json_count(text_of(r), list);
    uint32_t *after = allocate(r, stated + 1, sizeof *after);
    *n = 0;
    if (!after) return NULL;
    if (first != ARENAUT_NONE) after[(*n)++] = first;
    if (list == ARN_JSON_NONE) return after;
    ARN_JSON_EACH(&r->graph.json, v, list) {
        const uint32_t before = arn_json_below(&r->graph.json, v, node, 0);
        if (fine(r) && !arn_tvm_is_argument(&r->graph, before)) after[(*n)++] = r->op[before];
    }
    return after;
}

static const char *function_name(reader *r, uint32_t node) {
    const uint32_t function = arn_tvm_attribute(&r->graph, node, "func_name");
    arn_json_hold(&r->graph.json, r->graph.node[node]);
    return arn_json_string(&r->graph.json, function);
}

static void add_op(reader *r, uint32_t node, const uint32_t *over, uint32_t *outputs,
                   arenaut_in_place *pairs) {
    const arn_tvm_graph *g = &r->graph;
    const uint32_t inputs = arn_json_get(text_of(r), g->node[node], "inputs");
    const uint32_t n_inputs = read_references(r, inputs, node);
    const uint32_t n_outputs = g->row[node + 1] - g->row[node];
    if (!fine(r)) return;
    const bool view = arn_tvm_is_view(g, node) && n_inputs > 0;
    const bool turn = has_turn(r, node, n_inputs);
    if (view) make_view(r, node, r->ids[0]);
    else take_turn(r, node, n_inputs, over);
    if (!fine(r)) return;
    for (uint32_t k = 0; k < n_outputs; k++) outputs[k] = g->row[node] + k;
    uint32_t n_after;
    const uint32_t *after = read_control(r, node, turn ? r->last_turn : ARENAUT_NONE, &n_after);
    const arenaut_op op = {
        .name = function_name(r, node),
        .source = n_outputs ? r->program->tensors[g->row[node]].name : NULL,
        .kind = view ? ARENAUT_OP_VIEW : ARENAUT_OP_OUT,
        .n_inputs = n_inputs,
        .inputs = r->ids,
        .n_outputs = n_outputs,
        .outputs = outputs,
        .n_in_place = view ? 0 : list_pairs(r, node, over, n_inputs, pairs),
        .in_place = pairs,
        .n_after = n_after,
        .after = after,
    };
    if (!fine(r)) return;
    r->graph.json.status = arn_program_add_op(r->program, &op, &r->op[node], r->graph.json.err);
    if (fine(r) && turn) r->last_turn = r->op[node];
}

/* Per entry the operand that it was written over, or a number that no operand has; NULL where
 * the compiler does not say. */
static uint32_t *read_overwriting(reader *r) {
    const uint32_t list = arn_tvm_column(&r->graph, "storage_inplace_index", "list_int", false);
    if (list == ARN_JSON_NONE) return NULL;
    uint32_t *over = allocate(r, r->graph.n_entries, sizeof *over), e = 0;
    ARN_JSON_EACH(&r->graph.json, v, list) {
        const int64_t index = arn_json_step(&r->graph.json, v, 0);
        over[e++] = index < 0 || index >= ARENAUT_NONE ? ARENAUT_NONE : (uint32_t)index;
    }
    return fine(r) ? over : NULL;
}

static void add_ops(reader *r) {
    const arn_tvm_graph *g = &r->graph;
    const uint32_t *over = read_overwriting(r);
    uint32_t most = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (g->row[i + 1] - g->row[i] > most) most = g->row[i + 1] - g->row[i];
    }
    uint32_t *outputs = allocate(r, most, sizeof *outputs);
    arenaut_in_place *pairs = allocate(r, most, sizeof *pairs);
    r->op = allocate(r, g->n_nodes, sizeof *r->op);
    r->last_turn = ARENAUT_NONE;
    find_taken_over(r);
    hold_arguments(r);
    for (uint32_t i = 0; i < g->n_nodes && fine(r); i++) {
        if (!arn_tvm_is_argument(g, i)) add_op(r, i, over, outputs, pairs);
    }
}

/* ---- the method ---- */

/* Arguments are named by node, results by entry. */
static void set_io(reader *r) {
    arn_tvm_graph *g = &r->graph;
    const uint32_t n_heads = read_references(r, g->heads, g->n_nodes);
    for (uint32_t k = 0; k < n_heads && fine(r); k++) read_held(r, g->heads, r->ids[k]);
    uint32_t *arguments = allocate(r, g->n_nodes, sizeof *arguments), n = 0;
    ARN_JSON_EACH(&g->json, v, g->arg_nodes) {
        const uint32_t node = arn_json_below(&g->json, v, g->n_nodes, 0);
        if (fine(r) && (!arn_tvm_is_argument(g, node) || n == g->n_nodes)) {
            arn_json_fail(
                &g->json, v, ARENAUT_BAD_INPUT,
                "node %" PRIu32 " is no argument (its op is not \"null\"), or listed twice", node);
        }
        if (fine(r)) arguments[n++] = g->row[node];
    }
    if (!fine(r)) return;
    g->json.status =
        arenaut_program_set_method_io(r->program, 0, arguments, n, r->ids, n_heads, g->json.err);
}

static void read_program(reader *r) {
    arn_tvm_graph *g = &r->graph;
    r->bytes = allocate(r, g->n_entries, sizeof *r->bytes);
    r->block = allocate(r, g->n_ids, sizeof *r->block);
    if (!fine(r)) return;
    for (uint32_t k = 0; k < g->n_ids; k++) r->block[k] = 0;
    g->json.status = arn_program_add_method(r->program, "main", true, NULL, g->json.err);
    if (fine(r)) g->json.status = arn_program_set_dialect(r->program, "tvm", g->json.err);
    if (fine(r)) add_tensors(r);
    if (fine(r)) stack_blocks(r);
    if (fine(r)) place_tensors(r);
    if (fine(r)) add_ops(r);
    if (fine(r)) set_io(r);
    if (!fine(r) || r->n_memories == 0) return;
    g->json.status =
        arn_program_set_given_pools(r->program, 0, r->memories, r->n_memories, g->json.err);
}

arenaut_status arn_tvm_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                            const arenaut_allocator *allocator, arenaut_document *out,
                            arenaut_error *err) {
    (void)options;
    reader r = {.program = NULL};
    arn_tvm_graph_open(&r.graph, data, size, allocator, err);
    if (fine(&r)) r.graph.json.status = arn_program_new(allocator, &r.program, err);
    if (fine(&r)) read_program(&r);
    if (fine(&r)) r.graph.json.status = arn_program_validate(r.program, err);
    const arenaut_status st = r.graph.json.status;
    if (st == ARENAUT_OK) out->program = r.program;
    else arn_program_free(r.program);
    ARN_RELEASE(allocator, r.dims, r.ids);
    arn_tvm_graph_close(&r.graph);
    return st;
}
