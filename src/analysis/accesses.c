/* Accesses of ops: the memory cells that they read and write, their side effects, and the data
 * dependences that follow. */
#include "analysis/accesses.h"

#include <ctype.h>
#include <string.h>

#include <arenaut/problem.h>

#include "analysis/aliases.h"
#include "analysis/dependences.h"
#include "core/sort.h"
#include "ir/program.h"

bool arn_accesses_make(arn_accesses *a, arn_region *region, size_t n_cells, size_t n_reads) {
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(a->writer, n_cells), ARN_ARRAY(a->reader, n_cells),
                           ARN_ARRAY(a->reads, n_reads))) {
        return false;
    }
    for (size_t i = 0; i < n_cells; i++) a->writer[i] = a->reader[i] = ARENAUT_NONE;
    return true;
}

void arn_accesses_read(arn_accesses *a, uint32_t op, uint32_t cell) {
    a->depend(a->context, op, a->writer[cell], false);
    a->reads[a->n_reads] = (arn_access){op, a->reader[cell]};
    a->reader[cell] = a->n_reads++;
}

void arn_accesses_write(arn_accesses *a, uint32_t op, uint32_t cell) {
    a->depend(a->context, op, a->writer[cell], false);
    for (uint32_t i = a->reader[cell]; i != ARENAUT_NONE; i = a->reads[i].before) {
        a->depend(a->context, op, a->reads[i].op, true);
    }
    a->reader[cell] = ARENAUT_NONE;
    a->writer[cell] = op;
}

void arn_accesses_forget(arn_accesses *a, uint32_t cell) {
    a->writer[cell] = a->reader[cell] = ARENAUT_NONE;
}

/* Memory cells: storages cut at the ends of views that ops write independently, such as operands
 * that lie in the result of a concatenation. Ops on different cells are independent. A strided
 * view, or an alias that only its op declares, has no known byte range and covers its whole
 * storage. O(arguments + cuts log cuts). */

enum { MOST_TOUCHES = 1 << 24 }; /* cells, over all arguments */

typedef struct cut {
    uint64_t at; /* in bytes, from the start of the storage */
    uint32_t storage;
} cut;

typedef struct cutter {
    const arenaut_program *program;
    const uint32_t *storage;
    uint32_t *begin; /* per storage, one more for shared state, and the end: its first cut */
    cut *cuts;       /* sorted, without duplicates */
    uint32_t n_cuts;
} cutter;

/* Whether a tensor has a known byte range in its storage. */
static bool is_stretch(const cutter *c, uint32_t tensor) {
    const arenaut_tensor *t = &c->program->tensors[tensor];
    return t->view_of != ARENAUT_NONE && t->view_of == c->storage[tensor] && !t->strides &&
           t->bytes > 0;
}

static void add_cut(cutter *c, uint32_t storage, uint64_t at) {
    if (at == 0 || at >= c->program->tensors[storage].bytes) return;
    c->cuts[c->n_cuts++] = (cut){at, storage};
}

static void cut_at_outputs(cutter *c) {
    const arenaut_program *p = c->program;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (!arn_op_kind_touches(op->kind)) continue;
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const uint32_t t = op->outputs[k];
            if (t == ARENAUT_NONE || !is_stretch(c, t)) continue;
            const arenaut_tensor *piece = &p->tensors[t];
            add_cut(c, piece->view_of, piece->view_offset);
            add_cut(c, piece->view_of, piece->view_offset + piece->bytes);
        }
    }
}

static bool cut_before(const void *context, uint32_t a, uint32_t b) {
    const cut *cuts = context, *x = &cuts[a], *y = &cuts[b];
    return x->storage != y->storage ? x->storage < y->storage : x->at < y->at;
}

static bool sort_cuts(cutter *c, arn_region *region) {
    uint32_t *ids = arn_region_allocate(region, c->n_cuts, 2 * sizeof *ids);
    cut *sorted = arn_region_allocate(region, c->n_cuts, sizeof *sorted);
    uint32_t n = 0;
    if (!ids || !sorted) return false;
    for (uint32_t i = 0; i < c->n_cuts; i++) ids[i] = i;
    arn_sort_ids(ids, c->n_cuts, cut_before, c->cuts, ids + c->n_cuts);
    for (uint32_t i = 0; i < c->n_cuts; i++) {
        const cut next = c->cuts[ids[i]];
        const bool again =
            n > 0 && sorted[n - 1].storage == next.storage && sorted[n - 1].at == next.at;
        if (!again) sorted[n++] = next;
    }
    c->cuts = sorted;
    c->n_cuts = n;
    for (uint32_t s = 0, i = 0; s <= c->program->n_tensors + 1; s++) {
        while (i < n && c->cuts[i].storage < s) i++;
        c->begin[s] = i;
    }
    return true;
}

/* The number of cuts of the storage below a byte. */
static uint32_t cuts_below(const cutter *c, uint32_t storage, uint64_t at) {
    uint32_t low = c->begin[storage], high = c->begin[storage + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (c->cuts[middle].at < at) low = middle + 1;
        else high = middle;
    }
    return low - c->begin[storage];
}

/* A storage has one cell more than cuts, so that the number of its first cell is the number of all
 * cuts and storages before it. */
static void number_cells(const cutter *c, arn_memory_cells *cells) {
    const arenaut_program *p = c->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        const uint32_t s = c->storage[t];
        uint32_t first = 0, last = c->begin[s + 1] - c->begin[s];
        if (is_stretch(c, t)) {
            first = cuts_below(c, s, tensor->view_offset + 1);
            last = cuts_below(c, s, tensor->view_offset + tensor->bytes);
        }
        cells->first[t] = s + c->begin[s] + first;
        cells->n[t] = last - first + 1;
    }
    cells->n_cells = p->n_tensors + 1 + c->n_cuts;
}

static uint64_t count_touches(const arenaut_program *p, const arn_memory_cells *cells) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            const uint32_t t = k < op->n_inputs ? op->inputs[k] : op->outputs[k - op->n_inputs];
            if (t != ARENAUT_NONE) n += cells->n[t];
        }
    }
    return n;
}

bool arn_memory_cells_find(const arenaut_program *program, const uint32_t *storage,
                           arn_region *region, arn_memory_cells *cells) {
    const size_t n = program->n_tensors;
    size_t outputs = 0;
    cutter c = {.program = program, .storage = storage};
    for (uint32_t i = 0; i < program->n_ops; i++) outputs += program->ops[i].n_outputs;
    if (n + 2 * outputs > UINT32_MAX / 2) return false;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(cells->first, n), ARN_ARRAY(cells->n, n),
                           ARN_ARRAY(c.begin, n + 2), ARN_ARRAY(c.cuts, 2 * outputs))) {
        return false;
    }
    cut_at_outputs(&c);
    if (!sort_cuts(&c, region)) return false;
    number_cells(&c, cells);
    cells->too_many = c.n_cuts > 0 && count_touches(program, cells) > MOST_TOUCHES;
    if (!cells->too_many) return true;
    c.n_cuts = 0;
    for (size_t s = 0; s < n + 2; s++) c.begin[s] = 0;
    number_cells(&c, cells);
    return true;
}

/* Side effects of ops, by the names of their operators and the types of their operands: which ops
 * have to keep their sequence. O(arguments of an op). */

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
        "aten::",         "dim_order_ops::", "executorch_prim::", "quantized_decomposed::",
        "higher_order::", "prims::"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0) return true;
    }
    return false;
}

static bool has_any(const char *name, const char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (strstr(name, words[i])) return true;
    }
    return false;
}

/* Forms of PyTorch's operators that draw nothing: attention on the CPU, gradients of values that
 * were drawn, single cells, and functions of the gamma and Poisson distributions. */
static bool draws_nothing(const char *name) {
    static const char *const forms[] = {"_for_cpu",      "_backward", "_grad",    "_cell",
                                        "special_gamma", "_nll_loss", "scalarand"};
    return strncmp(name, "aten::", 6) == 0 && has_any(name, forms, sizeof forms / sizeof *forms);
}

/* Attention and recurrent nets draw where their arguments say so. */
static bool has_word(const char *name) {
    static const char *const words[] = {
        "rand",        "multinomial",       "dropout",   "bernoulli", "aten.normal",   "::normal",
        "log_normal",  "uniform",           "poisson",   "cauchy",    "geometric",     "binomial",
        "exponential", "hashtable",         "custom",    "print",     "assert",        "rrelu",
        "scaled_dot",  "attention_forward", "torchbind", "::lstm",    "n_rnn",         "lstm_mps",
        "::rnn_",      "inductor_seed",     "rng_state", "::gru",     "leaf_function", "_gamma",
        "dirichlet"};
    char lower[128] = {0};
    for (size_t i = 0; name[i] && i + 1 < sizeof lower; i++) {
        lower[i] = (char)tolower((unsigned char)name[i]);
    }
    return has_any(lower, words, sizeof words / sizeof *words) && !draws_nothing(lower);
}

static bool is_opaque(const arenaut_program *p, uint32_t tensor) {
    if (tensor == ARENAUT_NONE) return false;
    const arenaut_dtype dtype = p->tensors[tensor].dtype;
    return dtype == ARENAUT_DTYPE_RESOURCE || dtype == ARENAUT_DTYPE_VARIANT;
}

/* Custom operators of ONNX and TVM have no effect but their results; PyTorch's may have. */
bool arn_is_foreign(const arenaut_program *p, const arenaut_op *op) {
    const bool any_library = !p->dialect || strcmp(p->dialect, "aten") == 0;
    return any_library && !op->pure && op->name && strstr(op->name, "::") &&
           !is_of_known_library(op->name);
}

bool arn_may_write(const arenaut_program *p, const arenaut_op *op, uint32_t operand) {
    if (op->kind == ARENAUT_OP_IN_PLACE && arn_may_update(op, operand)) return true;
    return (op->kind == ARENAUT_OP_DELEGATE || arn_is_foreign(p, op)) &&
           p->tensors[operand].cls != ARENAUT_CONSTANT;
}

static bool is_known(const arenaut_program *p, const arenaut_op *op) {
    if (op->pure) return true;
    if (!op->name || !*op->name) return false;
    if (p->dialect) return !arn_is_foreign(p, op);
    return is_builtin(op->name) || is_of_known_library(op->name);
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
