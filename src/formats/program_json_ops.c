/* Ops of arenaut.program/1: references to tensors and methods, the pairs that may share memory, and
 * attributes. A reference by name costs the logarithm of the list that it points into. */
#include "formats/program_json_reader.h"

#include "ir/program.h"

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

arn_program_json_ids arn_program_json_read_ids(reader *r, uint32_t array, arn_json_list *list) {
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

void arn_program_json_read_op(reader *r, uint32_t object, uint32_t method) {
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
    lists.inputs = arn_program_json_read_ids(r, v[O_INPUTS], &r->tensors);
    lists.outputs = arn_program_json_read_ids(r, v[O_OUTPUTS], &r->tensors);
    lists.scratch = arn_program_json_read_ids(r, v[O_SCRATCH], &r->tensors);
    lists.calls = arn_program_json_read_ids(r, v[O_CALLS], &r->methods);
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
