/* reorder_effects: side effects of ops, for the check of reordered programs: by their kinds, by the
 * classes of their arguments and, where no dialect is known, by their names. O(arguments); of
 * methods that call others, times the depth of the calls. */
#include <string.h>

#include <arenaut/dialect.h>

#include "check/rewrite/check_reorder.h"
#include "check/updates.h"
#include "dialects/dialect.h"

static char to_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

static bool contains(const char *name, const char *lower) {
    const size_t n = strlen(lower);
    for (; *name; name++) {
        size_t i = 0;
        while (i < n && name[i] && to_lower(name[i]) == lower[i]) i++;
        if (i == n) return true;
    }
    return false;
}

bool arn_reorder_is_foreign(const arenaut_program *p, const arenaut_op *op) {
    const char *name = op->name ? op->name : "";
    const char *end = strstr(name, "::");
    const size_t length = end ? (size_t)(end - name) : 0;
    static const char *const known[] = {
        "aten",         "dim_order_ops", "executorch_prim", "quantized_decomposed",
        "higher_order", "prims"};
    if (op->pure || !end || (p->dialect && strcmp(p->dialect, "aten") != 0)) return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i]) == length && strncmp(name, known[i], length) == 0) return false;
    }
    return true;
}

/* Whether an operator of PyTorch has a wary name and is one of those that draw no numbers: they are
 * given what was drawn, or compute with a distribution. */
static bool is_calm(const char *name) {
    static const char *const calm[] = {"_for_cpu",      "_backward", "_grad",    "_cell",
                                       "special_gamma", "_nll_loss", "ScalarAnd"};
    if (strncmp(name, "aten::", strlen("aten::")) != 0) return false;
    for (size_t i = 0; i < sizeof calm / sizeof *calm; i++) {
        if (strstr(name, calm[i])) return true;
    }
    return false;
}

/* Attention and recurrent nets draw where their arguments say so. */
static bool is_plain(const arenaut_program *p, const arenaut_op *op) {
    const char *name = op->name ? op->name : "";
    static const char *const wary[] = {
        "rand",        "multinomial",       "dropout",   "bernoulli", "aten.normal",   "::normal",
        "log_normal",  "uniform",           "poisson",   "cauchy",    "geometric",     "binomial",
        "exponential", "hashtable",         "custom",    "print",     "assert",        "rrelu",
        "scaled_dot",  "attention_forward", "torchbind", "::lstm",    "n_rnn",         "lstm_mps",
        "::rnn_",      "inductor_seed",     "rng_state", "::gru",     "leaf_function", "_gamma",
        "dirichlet"};
    const char *capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (op->pure || !*name) return op->pure;
    for (size_t i = 0; i < sizeof wary / sizeof *wary; i++) {
        if (contains(name, wary[i]) && !is_calm(name)) return false;
    }
    if (arn_reorder_is_foreign(p, op)) return false;
    return p->dialect || strspn(name, capitals) == strlen(name) || strstr(name, "::");
}

bool arn_reorder_may_do_more(const arenaut_program *p, const arenaut_op *op) {
    if (!is_plain(p, op)) return true;
    if (op->kind == ARENAUT_OP_DELEGATE || op->n_calls > 0 || op->n_outputs == 0) return true;
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const uint32_t t = i < op->n_inputs ? op->inputs[i] : op->outputs[i - op->n_inputs];
        if (t == ARENAUT_NONE) continue;
        const arenaut_dtype dtype = p->tensors[t].dtype;
        if (dtype == ARENAUT_DTYPE_RESOURCE || dtype == ARENAUT_DTYPE_VARIANT) return true;
    }
    return false;
}

uint8_t arn_reorder_effects_of_calls(const uint8_t *effects, const arenaut_op *op) {
    uint8_t all = 0;
    for (uint32_t i = 0; i < op->n_calls; i++) all |= effects[op->calls[i]];
    return all;
}

static uint8_t effects_of_argument(const arenaut_program *p, const arenaut_op *op, uint32_t tensor,
                                   bool written) {
    const arenaut_tensor *t = &p->tensors[arenaut_program_storage(p, tensor, NULL)];
    const bool foreign = t->method != op->method;
    const bool listed = p->methods[op->method].outer != ARENAUT_NONE && t->method != ARENAUT_NONE;
    uint8_t all = written && foreign ? ARN_REORDER_WRITES_OUT : 0;
    if (t->cls == ARENAUT_CONSTANT) return all;
    if (t->cls == ARENAUT_STATE || t->qualified_name || (foreign && !listed))
        all |= ARN_REORDER_NAMES_MORE;
    return all;
}

static uint8_t effects_of_op(const arenaut_program *p, const uint8_t *effects,
                             const arenaut_op *op) {
    uint8_t all = arn_reorder_effects_of_calls(effects, op);
    const bool any = op->kind == ARENAUT_OP_DELEGATE || arn_reorder_is_foreign(p, op);
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const bool reads = i < op->n_inputs;
        const uint32_t t = reads ? op->inputs[i] : op->outputs[i - op->n_inputs];
        const bool written = !reads || any || arn_updates_operand(op, i);
        if (t != ARENAUT_NONE) all |= effects_of_argument(p, op, t, written);
    }
    return all;
}

/* A fixed point from callees to callers; calls form no cycle. */
void arn_reorder_find_effects(const arenaut_program *p, uint8_t *effects) {
    memset(effects, 0, p->n_methods * sizeof *effects);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = p->n_ops; i-- > 0;) {
            uint8_t *own = &effects[p->ops[i].method];
            const uint8_t all = *own | effects_of_op(p, effects, &p->ops[i]);
            more = more || all != *own;
            *own = all;
        }
    }
}

bool arn_reorder_may_differ(const arenaut_program *p, const arenaut_op *op) {
    static const char *const drawing[] = {"rrelu", "sample", "empty"};
    const arenaut_operator *known =
        arn_dialect_operator(arenaut_dialect_find(p->dialect), op->name);
    if (known && (known->traits & ARENAUT_TRAIT_VARIES)) return true;
    for (size_t i = 0; i < sizeof drawing / sizeof *drawing; i++) {
        if (contains(op->name, drawing[i])) return true;
    }
    for (uint32_t i = 0; i < op->n_inputs && !p->dialect; i++) {
        if (op->inputs[i] != ARENAUT_NONE && p->tensors[op->inputs[i]].cls == ARENAUT_STATE) {
            return true;
        }
    }
    return false;
}
