/* Support of an op by a runtime: the type rules of kernel sets, looked up through their base sets.
 * Three answers, since a table that was measured with some types says nothing of others.
 * */
#include <arenaut/kernels.h>

#include <string.h>

#include "kernels/kernel_set.h"
#include "kernels/op_facts.h"

static bool mask_has(uint32_t mask, arenaut_dtype type) { return mask >> type & 1; }

/* Whether a further argument is as a rule wants it. */
static bool fits(uint32_t mask, const arenaut_tensor *tensor, const arenaut_tensor *decider) {
    if (mask == 0 || !tensor) return mask != ARENAUT_TYPES_ANY;
    if (mask == ARENAUT_TYPES_LIKE) return decider && tensor->dtype == decider->dtype;
    return mask_has(mask, tensor->dtype);
}

/* Integers of 8 and 16 bits are quantized by a scale, integers of 32 bits are plain. */
static bool is_scaled_wrong(const arenaut_tensor *tensor) {
    if (!tensor) return false;
    if (tensor->dtype == ARENAUT_DTYPE_INT32) return tensor->n_scales > 0;
    const bool quantized =
        tensor->dtype == ARENAUT_DTYPE_INT8 || tensor->dtype == ARENAUT_DTYPE_INT16;
    return quantized && tensor->n_scales == 0;
}

/* Whether a rule is about this op and its types, and then its answer. */
static bool answers(const arenaut_type_rule *rule, const arenaut_program *p, const arenaut_op *op,
                    arenaut_op_support *answer) {
    const arenaut_tensor *decider = arn_op_input(p, op, rule->input);
    const arenaut_tensor *operand = arn_op_input(p, op, rule->input != 1);
    const arenaut_tensor *third = arn_op_input(p, op, 2), *result = arn_op_output(p, op, 0);
    *answer = ARENAUT_OP_UNKNOWN;
    if (!rule->measured) return true;
    if (!fits(rule->operand, operand, decider) || !fits(rule->third, third, decider) ||
        !fits(rule->result, result, decider)) {
        return false;
    }
    *answer = ARENAUT_OP_RUNS;
    if (rule->runs == ARENAUT_TYPES_ANY) return true;
    if (!decider) return false;
    if (mask_has(rule->refused, decider->dtype)) *answer = ARENAUT_OP_REFUSED;
    else if (!mask_has(rule->runs, decider->dtype)) return false;
    else if (rule->scaled &&
             (is_scaled_wrong(decider) || is_scaled_wrong(operand) || is_scaled_wrong(result))) {
        *answer = ARENAUT_OP_UNKNOWN;
    }
    return true;
}

#define NAMES(list, type, op)                                       \
    do {                                                            \
        for (const type *rule = (list); rule && rule->op; rule++) { \
            if (strcmp(rule->op, op) == 0) return true;             \
        }                                                           \
    } while (0)

/* A set that says how an op treats memory has a kernel for it. */
static bool names_elsewhere(const arenaut_kernel_set *set, const char *op) {
    NAMES(set->rules, arenaut_kernel_rule, op);
    NAMES(set->in_place, arenaut_in_place_rule, op);
    NAMES(set->scratch, arenaut_scratch_rule, op);
    NAMES(set->persistent, arenaut_persistent_rule, op);
    return false;
}

/* The library of an op: "aten" of "aten::add.out", and none of "ADD". */
static size_t library_length(const char *op) {
    const char *end = strstr(op, "::");
    return end ? (size_t)(end - op) : 0;
}

/* A complete set with types is so for the libraries that those name ops of. */
static bool is_complete_for(const arenaut_kernel_set *set, const char *op) {
    const size_t length = library_length(op);
    if (!set->complete || !set->types) return set->complete;
    for (const arenaut_type_rule *rule = set->types; rule->op; rule++) {
        if (library_length(rule->op) == length && strncmp(rule->op, op, length) == 0) return true;
    }
    return false;
}

static bool is_open(const arenaut_tensor *tensor) {
    return tensor && (tensor->compressed || tensor->unsized);
}

/* Arguments with a shape or contents known only to the runtime. */
static bool has_open_arguments(const arenaut_program *p, const arenaut_op *op) {
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (is_open(arn_op_input(p, op, k))) return true;
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        if (is_open(arn_op_output(p, op, k))) return true;
    }
    return false;
}

arenaut_op_support arn_kernel_support(const arenaut_kernel_set *set, const arenaut_program *program,
                                      const arenaut_op *op) {
    bool named = false, complete = false;
    for (; set && op->name; set = set->base) {
        bool stated = false;
        arenaut_op_support answer;
        for (const arenaut_type_rule *rule = set->types; rule && rule->op; rule++) {
            if (strcmp(rule->op, op->name) != 0) continue;
            if (answers(rule, program, op, &answer)) {
                const bool open = answer == ARENAUT_OP_RUNS && has_open_arguments(program, op);
                return open ? ARENAUT_OP_UNKNOWN : answer;
            }
            stated = true;
        }
        if (stated) return ARENAUT_OP_UNKNOWN;
        named = named || names_elsewhere(set, op->name);
        complete = complete || is_complete_for(set, op->name);
    }
    /* Ops of a dialect have other names when the runtime runs them. */
    return complete && !named && !program->dialect ? ARENAUT_OP_MISSING : ARENAUT_OP_UNKNOWN;
}

arenaut_op_support arenaut_kernel_support_all(const arenaut_kernel_set *set,
                                              const arenaut_program *program, uint32_t *op) {
    arenaut_op_support all = set ? ARENAUT_OP_RUNS : ARENAUT_OP_UNKNOWN;
    for (uint32_t i = 0; set && i < program->n_ops && all != ARENAUT_OP_MISSING; i++) {
        const arenaut_op_support one = arn_kernel_support(set, program, &program->ops[i]);
        const bool first = one == ARENAUT_OP_REFUSED && all != ARENAUT_OP_REFUSED;
        if (op && (first || one == ARENAUT_OP_MISSING)) *op = i;
        if (first || one == ARENAUT_OP_MISSING) all = one;
        if (one == ARENAUT_OP_UNKNOWN && all == ARENAUT_OP_RUNS) all = one;
    }
    return all;
}
