/* Reader of arenaut.program/1. Tensors come first, since ops refer to them; members that the text
 * leaves out (class, method, entry) are then concluded from their uses. Every value is visited
 * once. */
#include <string.h>

#include <arenaut/dialect.h>
#include <arenaut/expr.h>

#include "formats/program_json_reader.h"
#include "ir/expr.h"
#include "ir/program.h"

/* Ops of arenaut.program/1: references to tensors and methods, the pairs that may share memory, and
 * attributes. A reference by name costs the logarithm of the list that it points into. */

typedef arn_program_json_reader reader;

static bool fine(const reader *r) { return arn_json_fine(&r->json); }

static const char *kind_word(uint32_t k) { return arn_op_kind_name((arenaut_op_kind)k); }

#define OP_KEYS(XX)                    \
    XX(O_NAME, "name")                 \
    XX(O_KIND, "kind")                 \
    XX(O_INPUTS, "inputs")             \
    XX(O_OUTPUTS, "outputs")           \
    XX(O_SCRATCH, "scratch")           \
    XX(O_CALLS, "calls")               \
    XX(O_IN_PLACE, "in_place")         \
    XX(O_ALIAS, "arguments_may_alias") \
    XX(O_PURE, "pure")                 \
    XX(O_TARGET, "target")             \
    XX(O_SOURCE, "source")             \
    XX(O_INDEX, "index")               \
    XX(O_STREAM, "stream")             \
    XX(O_AFTER, "after")               \
    XX(O_CARRIES, "carries")           \
    XX(O_ATTRIBUTES, "attributes")     \
    XX(O_OVERLAPS, "overlaps")
enum { OP_KEYS(ARN_KEY_ENUM) O_KEYS };
static const char *const op_keys[] = {OP_KEYS(ARN_KEY_TEXT)};

/* References, appended to r->ids; null is an argument left out. */
static arn_program_json_ids program_json_read_ids(reader *r, uint32_t array, arn_json_list *list) {
    const arn_program_json_ids empty = {r->n_ids, 0};
    arn_program_json_ids ids = empty;
    ARN_JSON_EACH(&r->json, v, array) {
        if (!arn_program_json_grow(r, (void **)&r->ids, &r->id_capacity, (uint64_t)r->n_ids + 1,
                                   sizeof *r->ids)) {
            return empty;
        }
        const bool none = arn_json_type_of(&r->json.json, v) == ARN_JSON_NULL;
        const uint32_t id =
            none ? ARENAUT_NONE : arn_json_reference(&r->json, list, v, ARENAUT_NONE);
        r->ids[r->n_ids++] = id;
        ids.n++;
    }
    return fine(r) ? ids : empty;
}

/* Ops of the same method, by number, appended likewise. */
static arn_program_json_ids read_numbers(reader *r, uint32_t array) {
    arn_program_json_ids ids = {r->n_ids, 0};
    ARN_JSON_EACH(&r->json, v, array) {
        if (!arn_program_json_grow(r, (void **)&r->ids, &r->id_capacity, (uint64_t)r->n_ids + 1,
                                   sizeof *r->ids)) {
            break;
        }
        r->ids[r->n_ids++] = arn_json_below(&r->json, v, ARENAUT_NONE, 0);
        ids.n++;
    }
    return ids;
}

static uint32_t read_pairs(reader *r, uint32_t array) {
    uint32_t n = 0;
    ARN_JSON_EACH(&r->json, v, array) {
        uint32_t pair[2];
        arn_json_tuple(&r->json, v, 2, pair);
        if (!arn_program_json_grow(r, (void **)&r->pairs, &r->pair_capacity, (uint64_t)n + 1,
                                   sizeof *r->pairs)) {
            return 0;
        }
        r->pairs[n].output = arn_json_below(&r->json, pair[0], ARENAUT_NONE, 0);
        r->pairs[n].input = arn_json_below(&r->json, pair[1], ARENAUT_NONE, 0);
        n++;
    }
    return n;
}

static uint32_t read_overlaps(reader *r, uint32_t array) {
    static const char *const keys[] = {"output", "input", "distance"};
    uint32_t n = 0;
    ARN_JSON_EACH(&r->json, v, array) {
        uint32_t m[3];
        arn_json_members(&r->json, v, keys, 3, m);
        for (uint32_t k = 0; k < 3; k++) arn_json_require(&r->json, v, m[k], keys[k]);
        if (!arn_program_json_grow(r, (void **)&r->overlaps, &r->overlap_capacity, (uint64_t)n + 1,
                                   sizeof *r->overlaps)) {
            return 0;
        }
        r->overlaps[n].output = arn_json_below(&r->json, m[0], ARENAUT_NONE, 0);
        r->overlaps[n].input = arn_json_below(&r->json, m[1], ARENAUT_NONE, 0);
        r->overlaps[n++].distance = arn_json_step(&r->json, m[2], 0);
    }
    return n;
}

/* The value of an attribute; its numbers are set when r->numbers no longer moves. */
static void read_attribute(reader *r, uint32_t object, arenaut_attribute *attribute) {
    static const char *const keys[] = {"name", "text", "numbers"};
    uint32_t v[3];
    arn_json_members(&r->json, object, keys, 3, v);
    arn_json_require(&r->json, object, v[0], keys[0]);
    attribute->name = arn_json_string(&r->json, v[0]);
    attribute->text = arn_json_string(&r->json, v[1]);
    attribute->n_numbers = arn_program_json_read_values(r, v[2]);
}

/* They live in the program from the start: there are few, and most have one number. */
static const arenaut_attribute *read_attributes(reader *r, uint32_t array, uint32_t *n) {
    arenaut_attribute *all = NULL;
    uint32_t k = 0;
    *n = fine(r) && array != ARN_JSON_NONE ? arn_json_count(&r->json.json, array) : 0;
    if (*n == 0) return NULL;
    r->n_numbers = 0;
    all = arenaut_program_alloc(r->program, (size_t)*n * sizeof *all);
    if (!all) {
        r->json.status = arn_no_memory(r->json.err);
        return NULL;
    }
    ARN_JSON_EACH(&r->json, v, array) {
        read_attribute(r, v, &all[k++]);
    }
    const int64_t *numbers = r->numbers;
    for (uint32_t i = 0; i < k; i++) {
        all[i].numbers = all[i].n_numbers ? numbers : NULL;
        numbers += all[i].n_numbers ? all[i].n_numbers : 0;
    }
    return fine(r) ? all : NULL;
}

/* The lists of an op, before r->ids has stopped moving. */
typedef struct op_lists {
    arn_program_json_ids inputs, outputs, scratch, calls, after;
} op_lists;

static void set_lists(const reader *r, const op_lists *lists, arenaut_op *op) {
    op->n_inputs = lists->inputs.n;
    op->inputs = arn_program_json_at(r, lists->inputs);
    op->n_outputs = lists->outputs.n;
    op->outputs = arn_program_json_at(r, lists->outputs);
    op->n_scratch = lists->scratch.n;
    op->scratch = arn_program_json_at(r, lists->scratch);
    op->n_calls = lists->calls.n;
    op->calls = arn_program_json_at(r, lists->calls);
    op->n_after = lists->after.n;
    op->after = arn_program_json_at(r, lists->after);
}

/* The number that some kinds have: which field, how many a loop carries, where a jump goes. */
static uint32_t read_target(reader *r, uint32_t object, const uint32_t *v, arenaut_op_kind kind) {
    const bool field = kind == ARENAUT_OP_FIELD;
    const unsigned key = field ? O_INDEX : kind == ARENAUT_OP_LOOP ? O_CARRIES : O_TARGET;
    const uint32_t target = arn_json_below(&r->json, v[key], ARENAUT_NONE, 0);
    if (field) arn_json_require(&r->json, object, v[O_INDEX], op_keys[O_INDEX]);
    return target;
}

static void program_json_read_op(reader *r, uint32_t object, uint32_t method) {
    uint32_t v[O_KEYS];
    arn_json_reader *json = &r->json;
    arenaut_op op = {.method = method};
    op_lists lists;
    arn_json_members(json, object, op_keys, O_KEYS, v);
    arn_json_hold(json, object);
    r->n_ids = 0;
    op.name = arn_json_string(json, v[O_NAME]);
    op.kind = (arenaut_op_kind)arn_json_word(json, v[O_KIND], kind_word, ARENAUT_OP_KIND_COUNT,
                                             ARENAUT_OP_OUT);
    lists.inputs = program_json_read_ids(r, v[O_INPUTS], &r->tensors);
    lists.outputs = program_json_read_ids(r, v[O_OUTPUTS], &r->tensors);
    lists.scratch = program_json_read_ids(r, v[O_SCRATCH], &r->tensors);
    lists.calls = program_json_read_ids(r, v[O_CALLS], &r->methods);
    op.n_in_place = read_pairs(r, v[O_IN_PLACE]);
    op.in_place = r->pairs;
    op.n_overlaps = read_overlaps(r, v[O_OVERLAPS]);
    op.overlaps = r->overlaps;
    op.arguments_may_alias = arn_json_flag(json, v[O_ALIAS], false);
    op.pure = arn_json_flag(json, v[O_PURE], false);
    op.target = read_target(r, object, v, op.kind);
    op.stream = arn_json_below(json, v[O_STREAM], ARENAUT_NONE, 0);
    lists.after = read_numbers(r, v[O_AFTER]);
    op.attributes = read_attributes(r, v[O_ATTRIBUTES], &op.n_attributes);
    op.source = arn_json_string(json, v[O_SOURCE]);
    if (!fine(r)) return;
    set_lists(r, &lists, &op);
    arn_program_json_note_use(r, lists.inputs, method);
    arn_program_json_note_use(r, lists.outputs, method);
    arn_program_json_note_use(r, lists.scratch, method);
    arn_program_json_conclude_class(r, op.scratch, op.n_scratch, ARENAUT_SCRATCH);
    json->status = arn_program_add_op(r->program, &op, NULL, json->err);
}

/* ---- the whole ---- */

static const char *binding_word(uint32_t k) {
    return arn_binding_kind_name((arenaut_binding_kind)k);
}

#define METHOD_KEYS(XX)              \
    XX(M_NAME, "name")               \
    XX(M_ENTRY, "entry")             \
    XX(M_INPUTS, "inputs")           \
    XX(M_OUTPUTS, "outputs")         \
    XX(M_OPS, "ops")                 \
    XX(M_GIVEN_POOLS, "given_pools") \
    XX(M_BINDINGS, "bindings")       \
    XX(M_OUTER, "outer")             \
    XX(M_CONCURRENT, "concurrent")
enum { METHOD_KEYS(ARN_KEY_ENUM) M_KEYS };
static const char *const method_keys[] = {METHOD_KEYS(ARN_KEY_TEXT)};

static void read_method_body(reader *r, uint32_t method, uint32_t inputs_at, uint32_t outputs_at,
                             uint32_t ops_at) {
    r->n_ids = 0;
    const arn_program_json_ids inputs = program_json_read_ids(r, inputs_at, &r->tensors);
    const arn_program_json_ids outputs = program_json_read_ids(r, outputs_at, &r->tensors);
    if (!fine(r)) return;
    arn_program_json_note_use(r, inputs, method);
    arn_program_json_note_use(r, outputs, method);
    r->json.status =
        arenaut_program_set_method_io(r->program, method, arn_program_json_at(r, inputs), inputs.n,
                                      arn_program_json_at(r, outputs), outputs.n, r->json.err);
    ARN_JSON_EACH(&r->json, v, ops_at) {
        program_json_read_op(r, v, method);
    }
}

static void read_concurrent(reader *r, uint32_t method, uint32_t value) {
    const bool concurrent = arn_json_flag(&r->json, value, false);
    if (fine(r)) r->program->methods[method].concurrent = concurrent;
}

/* The arenas that the file states for a method. */
static void read_given_pools(reader *r, uint32_t array, uint32_t method) {
    static const char *const keys[] = {"bytes", "device"};
    arenaut_given_pool pools[ARENAUT_MAX_POOLS];
    uint32_t n = 0;
    ARN_JSON_EACH(&r->json, v, array) {
        uint32_t members[2];
        if (n == ARENAUT_MAX_POOLS) {
            arn_json_fail(&r->json, v, ARENAUT_BAD_INPUT, "more than %u pools", ARENAUT_MAX_POOLS);
            return;
        }
        arn_json_members(&r->json, v, keys, 2, members);
        arn_json_require(&r->json, v, members[0], keys[0]);
        pools[n].bytes = arn_json_size(&r->json, members[0], 0);
        pools[n++].device = arn_json_device(&r->json, members[1]);
    }
    if (!fine(r) || n == 0) return;
    r->json.status = arn_program_set_given_pools(r->program, method, pools, n, r->json.err);
}

/* The bindings of a method's values. */
static void read_bindings(reader *r, uint32_t array, uint32_t method) {
    static const char *const keys[] = {"kind", "value", "target"};
    uint32_t n = 0;
    ARN_JSON_EACH(&r->json, v, array) {
        uint32_t members[3];
        if (!arn_program_json_grow(r, (void **)&r->bindings, &r->binding_capacity, (uint64_t)n + 1,
                                   sizeof *r->bindings)) {
            return;
        }
        arn_json_members(&r->json, v, keys, 3, members);
        arn_json_require(&r->json, v, members[0], keys[0]);
        arn_json_require(&r->json, v, members[1], keys[1]);
        arenaut_binding *binding = &r->bindings[n++];
        binding->kind = (arenaut_binding_kind)arn_json_word(&r->json, members[0], binding_word,
                                                            ARENAUT_BINDING_COUNT, 0);
        binding->value = arn_json_reference(&r->json, &r->tensors, members[1], ARENAUT_NONE);
        binding->target = arn_json_reference(&r->json, &r->tensors, members[2], ARENAUT_NONE);
    }
    if (!fine(r) || n == 0) return;
    r->json.status = arn_program_set_bindings(r->program, method, r->bindings, n, r->json.err);
}

static void read_method(reader *r, uint32_t object, uint32_t method) {
    uint32_t v[M_KEYS];
    arn_json_members(&r->json, object, method_keys, M_KEYS, v);
    arn_json_hold(&r->json, object);
    const char *name = arn_json_string(&r->json, v[M_NAME]);
    const bool entry = arn_json_flag(&r->json, v[M_ENTRY], true);
    if (!fine(r)) return;
    r->entry_stated[method] = v[M_ENTRY] != ARN_JSON_NONE;
    r->json.status = arn_program_add_method(r->program, name, entry, NULL, r->json.err);
    if (fine(r)) read_method_body(r, method, v[M_INPUTS], v[M_OUTPUTS], v[M_OPS]);
    read_concurrent(r, method, v[M_CONCURRENT]);
    if (fine(r)) read_given_pools(r, v[M_GIVEN_POOLS], method);
    if (fine(r)) read_bindings(r, v[M_BINDINGS], method);
    const uint32_t outer = arn_json_reference(&r->json, &r->methods, v[M_OUTER], ARENAUT_NONE);
    if (fine(r)) r->program->methods[method].outer = outer;
}

/* ---- the whole ---- */

#define ROOT_KEYS(XX)                        \
    XX(R_SCHEMA, "schema")                   \
    XX(R_VERSION, "version")                 \
    XX(R_DESCRIPTION, "description")         \
    XX(R_GIVEN, "given")                     \
    XX(R_GIVEN_NOTE, "given_note")           \
    XX(R_TENSORS, "tensors")                 \
    XX(R_METHODS, "methods")                 \
    XX(R_INPUTS, "inputs")                   \
    XX(R_OUTPUTS, "outputs")                 \
    XX(R_OPS, "ops")                         \
    XX(R_DIALECT, "dialect")                 \
    XX(R_SYMBOLS, "symbols")                 \
    XX(R_DIALECT_VERSION, "dialect_version") \
    XX(R_CONCURRENT, "concurrent")           \
    XX(R_GIVEN_KERNELS, "given_kernels")     \
    XX(R_GIVEN_UNMEASURED, "given_unmeasured")
enum { ROOT_KEYS(ARN_KEY_ENUM) R_KEYS };
static const char *const root_keys[] = {ROOT_KEYS(ARN_KEY_TEXT)};

/* Methods that an op calls are not entries, unless the text says so. */
static void conclude_entries(reader *r) {
    arenaut_program *program = r->program;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        for (uint32_t k = 0; k < op->n_calls; k++) {
            const uint32_t callee = op->calls[k];
            if (callee < program->n_methods && !r->entry_stated[callee]) {
                program->methods[callee].entry = false;
            }
        }
    }
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        if (!method->entry) continue;
        arn_program_json_conclude_class(r, method->inputs, method->n_inputs, ARENAUT_INPUT);
        arn_program_json_conclude_class(r, method->outputs, method->n_outputs, ARENAUT_OUTPUT);
    }
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        if (program->tensors[t].method == ARN_METHOD_UNSEEN) {
            program->tensors[t].method = program->n_methods == 1 ? 0 : ARENAUT_NONE;
        }
    }
}

/* A program of one method may have its parts at the top. */
static void read_methods(reader *r, const uint32_t *v) {
    const bool at_top =
        v[R_OPS] != ARN_JSON_NONE || v[R_INPUTS] != ARN_JSON_NONE || v[R_OUTPUTS] != ARN_JSON_NONE;
    if (at_top && v[R_METHODS] != ARN_JSON_NONE) {
        arn_json_fail(&r->json, v[R_METHODS], ARENAUT_BAD_INPUT,
                      "either 'methods', or 'inputs', 'outputs' and 'ops' of the only one");
        return;
    }
    if (at_top) {
        r->json.status = arn_program_add_method(r->program, "main", true, NULL, r->json.err);
        if (fine(r)) read_method_body(r, 0, v[R_INPUTS], v[R_OUTPUTS], v[R_OPS]);
        read_concurrent(r, 0, v[R_CONCURRENT]);
        return;
    }
    uint32_t method = 0;
    ARN_JSON_EACH(&r->json, m, v[R_METHODS]) {
        read_method(r, m, method++);
    }
}

static void keep_text(reader *r, const char *text, const char **to) {
    if (!fine(r) || !text) return;
    *to = arenaut_program_strdup(r->program, text, strlen(text));
    if (!*to) r->json.status = arn_no_memory(r->json.err);
}

static void read_description(reader *r, const uint32_t *v) {
    arn_json_hold(&r->json, 0);
    const char *description = arn_json_string(&r->json, v[R_DESCRIPTION]);
    const char *note = arn_json_string(&r->json, v[R_GIVEN_NOTE]);
    const char *kernels = arn_json_string(&r->json, v[R_GIVEN_KERNELS]);
    arenaut_program *program = r->program;
    program->given =
        (arenaut_given_plan)arn_json_word(&r->json, v[R_GIVEN], arn_program_json_given_word, 3, 0);
    program->given_kernels.unmeasured = arn_json_flag(&r->json, v[R_GIVEN_UNMEASURED], false);
    keep_text(r, description, &program->description);
    keep_text(r, note, &program->given_note);
    keep_text(r, kernels, &program->given_kernels.name);
}

/* Sizes that vary. Sizes named by expressions alone are from 0 on. */
static void read_symbols(reader *r, uint32_t array) {
    static const char *const keys[] = {"name", "min", "max"};
    ARN_JSON_EACH(&r->json, v, array) {
        uint32_t members[3];
        arenaut_error inner = {ARENAUT_OK, 0, ""};
        arn_json_members(&r->json, v, keys, 3, members);
        arn_json_hold(&r->json, v);
        arn_json_require(&r->json, v, members[0], keys[0]);
        const char *name = arn_json_string(&r->json, members[0]);
        const int64_t min = arn_json_step(&r->json, members[1], 0);
        const int64_t max = arn_json_step(&r->json, members[2], ARENAUT_UNBOUNDED);
        if (!fine(r)) return;
        const arenaut_status st = arn_program_add_symbol(r->program, name, min, max, NULL, &inner);
        arn_json_pass(&r->json, v, st, &inner);
    }
}

static void read_dialect(reader *r, uint32_t value) {
    if (value == ARN_JSON_NONE || !fine(r)) return;
    arn_json_hold(&r->json, 0);
    const char *name = arn_json_string(&r->json, value);
    if (!fine(r)) return;
    const arenaut_dialect *dialect = arenaut_dialect_find(name);
    if (dialect) r->lanes = dialect->lanes;
    r->json.status = arn_program_set_dialect(r->program, name, r->json.err);
}

static void read_program(reader *r) {
    uint32_t v[R_KEYS];
    arn_json_members(&r->json, 0, root_keys, R_KEYS, v);
    if (!fine(r)) return;
    r->tensors = arn_json_list_of(&r->json, v[R_TENSORS], "tensor");
    r->methods = arn_json_list_of(&r->json, v[R_METHODS], "method");
    if (!fine(r)) return;
    r->stated = arn_allocate_zeroed(r->json.allocator, r->tensors.n, sizeof *r->stated);
    r->entry_stated =
        arn_allocate_zeroed(r->json.allocator, (size_t)r->methods.n + 1, sizeof *r->entry_stated);
    if (!r->stated || !r->entry_stated) {
        r->json.status = arn_no_memory(r->json.err);
        return;
    }
    read_description(r, v);
    read_dialect(r, v[R_DIALECT]);
    r->program->dialect_version = arn_json_below(&r->json, v[R_DIALECT_VERSION], ARENAUT_NONE, 0);
    read_symbols(r, v[R_SYMBOLS]);
    arn_program_json_read_tensors(r);
    if (fine(r)) read_methods(r, v);
    if (!fine(r)) return;
    conclude_entries(r);
    r->json.status = arn_program_validate(r->program, r->json.err);
}

arenaut_status arn_program_json_read(const uint8_t *data, size_t size,
                                     const arenaut_read_options *options,
                                     const arenaut_allocator *allocator, arenaut_document *out,
                                     arenaut_error *err) {
    (void)options;
    reader r = {.program = NULL};
    arn_json_reader_begin(&r.json, data, size, "arenaut.program", allocator, err);
    if (fine(&r)) r.json.status = arn_program_new(allocator, &r.program, err);
    if (fine(&r)) read_program(&r);
    const arenaut_status st = r.json.status;
    if (st == ARENAUT_OK) {
        out->program = r.program;
    } else {
        arn_program_free(r.program);
    }
    ARN_RELEASE(allocator, r.stated, r.entry_stated, r.ids, r.dims, r.strides, r.numbers, r.exprs,
                r.stride_exprs, r.bindings, r.pairs, r.overlaps);
    arn_json_reader_free(&r.json);
    return st;
}
