/* Names of ops whose place among one another matters. Custom ops of a .tflite are called what they
 * like, builtin ones in capitals. */
#include "rewrite/order/order_effects.h"

#include <ctype.h>
#include <string.h>

static bool is_builtin(const char *name) {
    for (; *name; name++) {
        const unsigned char c = (unsigned char)*name;
        if (!isupper(c) && !isdigit(c) && c != '_') return false;
    }
    return true;
}

/* Of these, kernels that are called out variants write what they return, and nothing else. */
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

bool arn_order_is_foreign(const arenaut_program *p, const arenaut_op *op) {
    return !p->dialect && op->name && strstr(op->name, "::") && !is_of_known_library(op->name);
}

bool arn_order_has_effects(const arenaut_program *p, const arenaut_op *op) {
    if (!op->name || op->kind == ARENAUT_OP_DELEGATE || op->n_outputs == 0) return true;
    const bool known = p->dialect || is_builtin(op->name) || is_of_known_library(op->name);
    if (has_word(op->name) || !known) return true;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (is_opaque(p, op->inputs[i])) return true;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (is_opaque(p, op->outputs[i])) return true;
    }
    return false;
}
