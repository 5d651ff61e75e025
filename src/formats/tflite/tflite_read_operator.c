/* Reader of one operator of a .tflite file: its kind, its inputs and outputs, and the subgraphs
 * that its options name. The few with other effects on memory are in tflite_operators.c. */
#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "formats/tflite/tflite_reader.h"
#include "formats/tflite/tflite_schema.h"
#include "ir/program.h"

/* The charge for one: the array that holds them doubles as it grows. */
enum { OP_COST = 2 * sizeof(arenaut_op) };

/* The kind of an operator: a builtin by its number, a custom one by its name, unless that is a
 * builtin's, whose kernel it does not run. */
static arenaut_status take_code(arn_tflite_reader *r, arn_fb_table table, int32_t *builtin,
                                const char **name) {
    arn_flatbuffer *fb = &r->model.fb;
    char store[ARN_TFLITE_PLACE_SIZE];
    const uint32_t index = arn_fb_u32(fb, table, OPERATOR_CODE, 0);
    if (index >= r->model.operator_codes.count) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, table.at,
                        "%s: operator code %" PRIu32 " does not exist; there are %" PRIu32,
                        arn_tflite_place(r, store), index, r->model.operator_codes.count);
    }
    const arn_fb_table code = arn_fb_item_table(fb, r->model.operator_codes, index);
    /* The old field is a byte; numbers past it are in the new one, and either may lack. */
    const int32_t old = arn_fb_i8(fb, code, CODE_DEPRECATED_BUILTIN, 0);
    const int32_t new = arn_fb_i32(fb, code, CODE_BUILTIN, 0);
    *builtin = old > new ? old : new;
    *name = arn_tflite_operator_name(*builtin);
    if (!*name) {
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, code.at,
                        "%s: builtin operator %" PRId32 " is not known; 0 to %d are",
                        arn_tflite_place(r, store), *builtin, BUILTIN_STABLEHLO_CASE);
    }
    if (*builtin != BUILTIN_CUSTOM) return ARENAUT_OK;
    const char *custom;
    const arenaut_status st = arn_tflite_text(r, code, CODE_CUSTOM, &custom);
    if (custom && custom[0] && !arn_tflite_is_operator_name(custom)) *name = custom;
    return st;
}

/* The subgraphs that an operator names in its options. */
static arenaut_status take_calls(arn_tflite_reader *r, arn_fb_table table,
                                 const arn_tflite_operator *special, const char *name,
                                 uint32_t calls[2]) {
    arn_flatbuffer *fb = &r->model.fb;
    char store[ARN_TFLITE_PLACE_SIZE];
    const uint8_t type = arn_fb_u8(fb, table, special->options_slot, 0);
    if (type != special->options_type) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, table.at,
                        "%s (%s): its options are of type %u; they must be of type %u",
                        arn_tflite_place(r, store), name, type, special->options_type);
    }
    const arn_fb_table options = arn_fb_table_field(fb, table, special->options_slot + 1u);
    for (uint32_t i = 0; i < special->n_calls; i++) {
        const int32_t callee = arn_fb_i32(fb, options, special->call_slot[i], 0);
        if (callee < 0 || (uint32_t)callee >= r->model.subgraphs.count) {
            return arn_fail(r->err, ARENAUT_BAD_INPUT, table.at,
                            "%s (%s) calls subgraph %" PRId32 "; there are %" PRIu32,
                            arn_tflite_place(r, store), name, callee, r->model.subgraphs.count);
        }
        calls[i] = (uint32_t)callee;
        r->called[callee] = 1;
    }
    return ARENAUT_OK;
}

/* Tensors are named after the layer of the author's model that they come from. */
static arenaut_status take_source(arn_tflite_reader *r, arenaut_op *op) {
    if (op->n_outputs == 0 || op->outputs[0] == ARENAUT_NONE) return ARENAUT_OK;
    op->source = r->program->tensors[op->outputs[0]].name;
    return op->source ? arn_tflite_charge(r, 1, strlen(op->source) + 32) : ARENAUT_OK;
}

/* The runtime keeps a handle with the operator that makes it, not in the arena. */
static void forget_handles(arenaut_program *program, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        arenaut_tensor *tensor = &program->tensors[op->outputs[i]];
        tensor->bytes = 0;
        tensor->given_pool = ARENAUT_NONE;
        tensor->given_offset = ARENAUT_UNPLACED;
    }
}

arenaut_status arn_tflite_read_operator(arn_tflite_reader *r, arn_fb_table table) {
    arenaut_op op = {.kind = ARENAUT_OP_OUT, .method = r->subgraph};
    arn_tflite_attribute_list attributes;
    uint32_t calls[2];
    int32_t builtin = 0;
    arenaut_status st = arn_tflite_charge(r, 1, OP_COST);
    if (st == ARENAUT_OK) {
        st = arn_tflite_ids(r, table, OPERATOR_INPUTS, true, "input", &r->inputs);
    }
    if (st == ARENAUT_OK) {
        st = arn_tflite_ids(r, table, OPERATOR_OUTPUTS, true, "output", &r->outputs);
    }
    if (st == ARENAUT_OK) st = take_code(r, table, &builtin, &op.name);
    if (st != ARENAUT_OK) return st;
    op.inputs = r->inputs.ids;
    op.n_inputs = r->inputs.n;
    op.outputs = r->outputs.ids;
    op.n_outputs = r->outputs.n;
    op.calls = calls;
    const arn_tflite_operator *special = arn_tflite_special_operator(builtin);
    if (special && special->n_calls) st = take_calls(r, table, special, op.name, calls);
    if (st == ARENAUT_OK) st = arn_tflite_attributes(r, table, &attributes);
    if (st == ARENAUT_OK) st = arn_tflite_status(r);
    if (st != ARENAUT_OK) return st;
    op.attributes = attributes.attributes;
    op.n_attributes = attributes.n;
    if (special) op.kind = special->kind;
    if (special && !special->call_is_recipe) op.n_calls = special->n_calls;
    if (builtin == BUILTIN_STABLEHLO_CASE) {
        char store[ARN_TFLITE_PLACE_SIZE];
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, table.at,
                        "%s: %s may call any number of subgraphs; IF with two is supported",
                        arn_tflite_place(r, store), op.name);
    }
    /* One command stream for the whole model: it uses all its arguments as it likes, and
     * the compiler that wrote it has laid them over one another where that is safe. */
    if (builtin == BUILTIN_CUSTOM && strcmp(op.name, "ethos-u") == 0) {
        op.kind = ARENAUT_OP_DELEGATE;
        op.arguments_may_alias = true;
    }
    if (builtin == BUILTIN_VAR_HANDLE || builtin == BUILTIN_HASHTABLE) {
        forget_handles(r->program, &op);
    }
    st = take_source(r, &op);
    if (st != ARENAUT_OK) return st;
    return arn_program_add_op(r->program, &op, NULL, r->err);
}
