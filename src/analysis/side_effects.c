/* Side effects of ops, by the names of their operators and the types of their operands: which ops
 * have to keep their sequence. O(arguments of an op). */
#include "analysis/dependences.h"

#include <ctype.h>
#include <string.h>

static bool is_builtin(const char *name) {
    for (; *name; name++) {
        const unsigned char c = (unsigned char)*name;
        if (!isupper(c) && !isdigit(c) && c != '_') return false;
    }
    return true;
}

/* The out variants of these libraries write their results and nothing else. */
static bool is_of_known_library(const char *name) {
    static const char *const libraries[] = {
        "aten::", "dim_order_ops::", "executorch_prim::", "quantized_decomposed::"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0) return true;
    }
    return false;
}

static bool has_word(const char *name) {
    static const char *const words[] = {
        "rand",        "multinomial", "dropout", "bernoulli", "aten.normal", "aten::normal",
        "log_normal",  "uniform",     "poisson", "cauchy",    "geometric",   "binomial",
        "exponential", "hashtable",   "custom",  "print",     "assert"};
    char lower[128] = {0};
    for (size_t i = 0; name[i] && i + 1 < sizeof lower; i++) {
        lower[i] = (char)tolower((unsigned char)name[i]);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(lower, words[i])) return true;
    }
    return false;
}

static bool is_opaque(const arenaut_program *p, uint32_t tensor) {
    if (tensor == ARENAUT_NONE) return false;
    const arenaut_dtype dtype = p->tensors[tensor].dtype;
    return dtype == ARENAUT_DTYPE_RESOURCE || dtype == ARENAUT_DTYPE_VARIANT;
}

bool arn_is_foreign(const arenaut_program *p, const arenaut_op *op) {
    return !p->dialect && !op->pure && op->name && strstr(op->name, "::") &&
           !is_of_known_library(op->name);
}

bool arn_may_write(const arenaut_program *p, const arenaut_op *op, uint32_t operand) {
    if (op->kind == ARENAUT_OP_IN_PLACE) return true;
    return (op->kind == ARENAUT_OP_DELEGATE || arn_is_foreign(p, op)) &&
           p->tensors[operand].cls != ARENAUT_CONSTANT;
}

static bool is_known(const arenaut_program *p, const arenaut_op *op) {
    if (op->pure) return true;
    if (!op->name || !*op->name) return false;
    return p->dialect || is_builtin(op->name) || is_of_known_library(op->name);
}

static bool names_opaque(const arenaut_program *p, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (is_opaque(p, op->inputs[i])) return true;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (is_opaque(p, op->outputs[i])) return true;
    }
    return false;
}

bool arn_has_side_effects(const arenaut_program *p, const arenaut_op *op) {
    if (op->kind == ARENAUT_OP_DELEGATE || op->n_outputs == 0 || !is_known(p, op)) return true;
    return (!op->pure && has_word(op->name)) || names_opaque(p, op);
}

/* Jumps, moves and frees have no operator. Custom operators of a .tflite have any name, builtin
 * ones are in capitals. */
static bool is_unknown(const arenaut_program *p, const arenaut_op *op) {
    const bool computes = op->kind == ARENAUT_OP_OUT || op->kind == ARENAUT_OP_FUNCTIONAL ||
                          op->kind == ARENAUT_OP_VIEW || op->kind == ARENAUT_OP_IN_PLACE;
    return computes && op->n_calls == 0 && op->n_outputs > 0 && !is_known(p, op);
}

/* A single op with effects depends on no other, unless it may write its inputs. */
uint32_t arn_order_count_held(const arenaut_program *p) {
    uint32_t n_effects = 0, n_unknown = 0;
    bool foreign = false;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->n_calls == 0 && !arn_has_side_effects(p, op)) continue;
        n_effects++;
        foreign = foreign || arn_is_foreign(p, op);
        n_unknown += is_unknown(p, op);
    }
    return n_effects > 1 || foreign ? n_unknown : 0;
}
