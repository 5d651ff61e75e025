/* Dependences between the ops of a program: read after write, write after read and write after
 * write, per storage, or per byte range of a view. Ops with side effects, and calls, keep their
 * sequence. No op moves across a pinned op, or across the call of a method that accesses state.
 * There are no dependences between methods.
 *
 * A single pass over the ops with the last writer, and the readers since, of each memory cell:
 * O(arguments + dependences). */
#include "analysis/storages.h"
#include "dialects/dialect.h"
#include "ir/program.h"
#include "rewrite/order/dependences.h"

#include <ctype.h>
#include <string.h>

#include <arenaut/dialect.h>

#include "core/sort.h"

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

static bool is_foreign(const arenaut_program *p, const arenaut_op *op) {
    return !p->dialect && !op->pure && op->name && strstr(op->name, "::") &&
           !is_of_known_library(op->name);
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
        foreign = foreign || is_foreign(p, op);
        n_unknown += is_unknown(p, op);
    }
    return n_effects > 1 || foreign ? n_unknown : 0;
}

/* ---- memory cells ---- */

/* Storages are cut at the ends of views that ops write independently, such as operands that lie in
 * the result of a concatenation: ops on different cells are independent. A strided view, or an
 * alias that only its op declares, has no known byte range and covers its whole storage. */

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

static bool find_cells(const arenaut_program *program, const uint32_t *storage, arn_region *region,
                       arn_memory_cells *cells) {
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

/* ---- effects of calls ---- */

/* Topological order of the call graph, callees first (Kahn 1962, reversed): calls form no cycle.
 * `callers` has room for all methods. */
static void sort_methods(const arenaut_program *p, uint32_t *callers, uint32_t *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        for (uint32_t k = 0; k < p->ops[i].n_calls; k++) callers[p->ops[i].calls[k]]++;
    }
    for (uint32_t m = p->n_methods; m-- > 0;) {
        if (callers[m] == 0) list[n++] = m;
    }
    for (uint32_t next = 0; next < n; next++) {
        const arenaut_method *method = &p->methods[list[next]];
        for (uint32_t i = method->first_op; i < method->first_op + method->n_ops; i++) {
            for (uint32_t k = p->ops[i].n_calls; k-- > 0;) {
                const uint32_t callee = p->ops[i].calls[k];
                if (--callers[callee] == 0) list[n++] = callee;
            }
        }
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        const uint32_t m = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = m;
    }
}

/* The method that owns the memory of a tensor; NONE: none, or all. */
static uint32_t home_of(const arenaut_program *p, uint32_t tensor) {
    return p->tensors[arenaut_program_storage(p, tensor, NULL)].method;
}

static bool is_shared(const arenaut_program *p, const arenaut_op *op, uint32_t tensor) {
    const arenaut_tensor *root = &p->tensors[arenaut_program_storage(p, tensor, NULL)];
    if (root->cls == ARENAUT_CONSTANT) return false;
    if (root->cls == ARENAUT_STATE || root->qualified_name) return true;
    const bool nested = p->methods[op->method].outer != ARENAUT_NONE;
    return root->method != op->method && (!nested || root->method == ARENAUT_NONE);
}

static bool any_callee(const bool *facts, const arenaut_op *op) {
    bool any = false;
    for (uint32_t i = 0; i < op->n_calls; i++) any = any || facts[op->calls[i]];
    return any;
}

static void add_op_effects(const arenaut_program *p, const arenaut_op *op, arn_call_effects *c) {
    const bool unknown = op->kind == ARENAUT_OP_DELEGATE || is_foreign(p, op);
    const bool updates = op->kind == ARENAUT_OP_IN_PLACE || unknown;
    const uint32_t m = op->method;
    c->writes[m] = c->writes[m] || any_callee(c->writes, op);
    c->shares[m] = c->shares[m] || any_callee(c->shares, op);
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const bool reads = i < op->n_inputs;
        const uint32_t t = reads ? op->inputs[i] : op->outputs[i - op->n_inputs];
        if (t == ARENAUT_NONE) continue;
        c->shares[m] = c->shares[m] || is_shared(p, op, t);
        c->writes[m] = c->writes[m] || ((!reads || updates) && home_of(p, t) != m);
    }
}

static bool find_call_effects(const arenaut_program *p, arn_region *region,
                              arn_call_effects *calls) {
    const uint32_t n = p->n_methods;
    *calls = (arn_call_effects){0};
    uint32_t *callers;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(callers, n), ARN_ARRAY(calls->callees_first, n),
                           ARN_ARRAY(calls->writes, n), ARN_ARRAY(calls->shares, n))) {
        return false;
    }
    sort_methods(p, callers, calls->callees_first);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t m = calls->callees_first[k];
        const arenaut_method *method = &p->methods[m];
        for (uint32_t i = 0; i < method->n_ops; i++) {
            add_op_effects(p, &p->ops[method->first_op + i], calls);
        }
    }
    return true;
}

/* ---- jumps ---- */

/* Pinned ops of methods with jumps or moves: these ops, jump targets, and ops on memory whose
 * lifetime depends on several ops or aliases. Between pinned ops, memory is live from its
 * definition to its last use, as in a basic block. */

typedef struct finder {
    const arenaut_program *program;
    const uint32_t *storage;
    arn_control_flow *flow;
    uint32_t *seen, *complex_storage; /* per storage: the last method that uses it, and the last one
                                       * in which its lifetime is not that simple */
    uint32_t method;
} finder;

static bool is_flow(arenaut_op_kind kind) {
    return kind == ARENAUT_OP_JUMP || kind == ARENAUT_OP_JUMP_FALSE || kind == ARENAUT_OP_MOVE;
}

static bool may_move(const arenaut_op *op) {
    const bool known = op->kind == ARENAUT_OP_OUT || op->kind == ARENAUT_OP_VIEW ||
                       op->kind == ARENAUT_OP_IN_PLACE || op->kind == ARENAUT_OP_DELEGATE;
    return known && op->file_index.given && !op->arguments_may_alias;
}

static void note_storages(finder *f, const uint32_t *tensors, uint32_t n, bool complex_storage) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] == ARENAUT_NONE) continue;
        const uint32_t s = f->storage[tensors[i]];
        const uint32_t root = arenaut_program_storage(f->program, tensors[i], NULL);
        const bool foreign = f->program->tensors[root].method != f->method;
        f->seen[s] = f->method;
        if (complex_storage || foreign) f->complex_storage[s] = f->method;
    }
}

/* A second definition ends one lifetime and begins another, on any path. */
static void note_results(finder *f, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        const bool makes = arn_makes_output(f->program, op, i);
        const bool again = f->seen[f->storage[op->outputs[i]]] == f->method;
        note_storages(f, &op->outputs[i], 1, op->kind == ARENAUT_OP_MOVE || (makes && again));
    }
}

static bool names_complex(const finder *f, const uint32_t *tensors, uint32_t n) {
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        any = any || (tensors[i] != ARENAUT_NONE &&
                      f->complex_storage[f->storage[tensors[i]]] == f->method);
    }
    return any;
}

static void pin_ops(finder *f, const arenaut_method *method) {
    const arenaut_op *ops = f->program->ops + method->first_op;
    bool *fixed = f->flow->pinned + method->first_op;
    note_storages(f, method->inputs, method->n_inputs, false);
    for (uint32_t i = 0; i < method->n_ops; i++) {
        note_storages(f, ops[i].inputs, ops[i].n_inputs, ops[i].kind == ARENAUT_OP_MOVE);
        note_results(f, &ops[i]);
    }
    for (uint32_t i = 0; i < method->n_ops; i++) {
        const arenaut_op *op = &ops[i];
        const bool jumps = op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE;
        if (jumps && op->target < method->n_ops) fixed[op->target] = true;
        fixed[i] = fixed[i] || !may_move(op) || names_complex(f, op->inputs, op->n_inputs) ||
                   names_complex(f, op->outputs, op->n_outputs);
    }
}

static bool find_control_flow(const arenaut_program *p, const uint32_t *storage, arn_region *region,
                              arn_control_flow *flow) {
    const size_t storages = (size_t)p->n_tensors + 1;
    finder f = {.program = p, .storage = storage, .flow = flow};
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(flow->jumps, p->n_methods),
                           ARN_ARRAY(flow->pinned, p->n_ops), ARN_ARRAY(f.seen, storages),
                           ARN_ARRAY(f.complex_storage, storages))) {
        return false;
    }
    for (size_t s = 0; s < storages; s++) f.seen[s] = f.complex_storage[s] = ARENAUT_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (is_flow(p->ops[i].kind)) flow->jumps[p->ops[i].method] = true;
    }
    for (f.method = 0; f.method < p->n_methods; f.method++) {
        if (flow->jumps[f.method]) pin_ops(&f, &p->methods[f.method]);
    }
    return true;
}

/* ---- dependences ---- */

static void depend_on(arn_dependences *w, uint32_t op, uint32_t first) {
    if (first == ARENAUT_NONE || first == op) return;
    if (w->program->ops[first].method != w->program->ops[op].method) return;
    w->list[w->n++] = (arenaut_order_dependence){op, first};
}

/* Whether results of an op may alias its first operand: in a graph before its passes, only the
 * operator's traits say so. */
static bool may_alias(const arenaut_program *p, const arenaut_op *op) {
    if (op->n_inputs == 0 || op->inputs[0] == ARENAUT_NONE) return false;
    if (op->kind == ARENAUT_OP_VIEW) return true;
    if (op->kind != ARENAUT_OP_FUNCTIONAL) return false;
    const arenaut_operator *known =
        arn_dialect_operator(arenaut_dialect_find(p->dialect), op->name);
    return known && (known->traits & (ARENAUT_TRAIT_VIEW | ARENAUT_TRAIT_MAY_VIEW)) &&
           !(known->traits & ARENAUT_TRAIT_COPIES);
}

static void alias_storage(arn_dependences *w, uint32_t from, uint32_t tensor) {
    if (from == ARENAUT_NONE || tensor == ARENAUT_NONE) return;
    if (w->storage[tensor] == tensor) w->storage[tensor] = w->storage[from];
}

/* The result of an in-place update aliases the updated operand. */
static void find_updated(arn_dependences *w, const arenaut_op *op) {
    for (uint32_t k = 0; k < op->n_in_place; k++) {
        alias_storage(w, op->inputs[op->in_place[k].input], op->outputs[op->in_place[k].output]);
    }
    if (op->n_in_place == 0 && op->n_inputs > 0 && op->n_outputs > 0) {
        alias_storage(w, op->inputs[0], op->outputs[0]);
    }
}

/* Shared state is one storage under any name. Results of views lie in the storage of the operand,
 * even if the tensor does not say so. */
static void find_storages(arn_dependences *w) {
    const arenaut_program *p = w->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const uint32_t s = arenaut_program_storage(p, t, NULL);
        w->storage[t] = p->tensors[s].qualified_name ? p->n_tensors : s;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind == ARENAUT_OP_IN_PLACE) find_updated(w, op);
        if (!may_alias(p, op)) continue;
        for (uint32_t k = 0; k < op->n_outputs; k++)
            alias_storage(w, op->inputs[0], op->outputs[k]);
    }
}

static uint32_t storage_of(const arn_dependences *w, uint32_t tensor) { return w->storage[tensor]; }

/* A cell's history begins anew in each method, whose ops are contiguous. */
static void enter(arn_dependences *w, uint32_t op, uint32_t cell) {
    const uint32_t method = w->program->ops[op].method;
    if (w->used_by[cell] != method) w->writer[cell] = w->reader[cell] = ARENAUT_NONE;
    w->used_by[cell] = method;
}

static void read_cell(arn_dependences *w, uint32_t op, uint32_t cell) {
    enter(w, op, cell);
    depend_on(w, op, w->writer[cell]);
    w->read_by[w->n_reads] = op;
    w->read_before[w->n_reads] = w->reader[cell];
    w->reader[cell] = w->n_reads++;
}

static void write_cell(arn_dependences *w, uint32_t op, uint32_t cell) {
    enter(w, op, cell);
    depend_on(w, op, w->writer[cell]);
    for (uint32_t i = w->reader[cell]; i != ARENAUT_NONE; i = w->read_before[i]) {
        depend_on(w, op, w->read_by[i]);
    }
    w->reader[cell] = ARENAUT_NONE;
    w->writer[cell] = op;
}

static void read(arn_dependences *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    depend_on(w, op, w->maker[tensor]);
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) read_cell(w, op, first + i);
}

static void write(arn_dependences *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) write_cell(w, op, first + i);
    w->maker[tensor] = op;
}

/* Whether an op of the same method writes the tensor's cells before. */
static bool is_written(arn_dependences *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    bool written = false;
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) {
        enter(w, op, first + i);
        written |= w->writer[first + i] != ARENAUT_NONE;
    }
    return written;
}

/* Whether an output is only an alias of an input's memory. */
static bool is_alias(const arn_dependences *w, const arenaut_op *op, uint32_t tensor) {
    if (!may_alias(w->program, op)) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t input = op->inputs[i];
        if (input != ARENAUT_NONE && storage_of(w, input) == storage_of(w, tensor)) return true;
    }
    return false;
}

/* Updates write their operand. Delegates, unknown operators and calls of methods that write
 * captured tensors may write any operand that is no constant. */
static bool may_write(const arn_dependences *w, const arenaut_op *op, uint32_t input) {
    if (op->kind == ARENAUT_OP_IN_PLACE) return true;
    if (op->kind != ARENAUT_OP_DELEGATE && !is_foreign(w->program, op) &&
        !any_callee(w->calls.writes, op)) {
        return false;
    }
    return w->program->tensors[input].cls != ARENAUT_CONSTANT;
}

/* A pinned op depends on all ops before it, and all later ones depend on it. */
static void pin_op(arn_dependences *w, uint32_t i) {
    const arenaut_op *op = &w->program->ops[i];
    const uint32_t first = w->program->methods[op->method].first_op;
    const bool mine = w->last_pinned != ARENAUT_NONE && w->last_pinned >= first;
    if (mine) depend_on(w, i, w->last_pinned);
    if (!w->flow.pinned[i] && !any_callee(w->calls.shares, op)) return;
    for (uint32_t k = mine ? w->last_pinned + 1 : first; k < i; k++) depend_on(w, i, k);
    w->last_pinned = i;
}

static void add_dependences(arn_dependences *w, uint32_t i) {
    const arenaut_op *op = &w->program->ops[i];
    pin_op(w, i);
    if (op->kind == ARENAUT_OP_ALLOC || op->kind == ARENAUT_OP_ALLOC_IN_PLACE) return;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (op->inputs[k] == ARENAUT_NONE) continue;
        read(w, i, op->inputs[k]);
        if (may_write(w, op, op->inputs[k])) write(w, i, op->inputs[k]);
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t t = op->outputs[k];
        if (t == ARENAUT_NONE) continue;
        if (is_alias(w, op, t)) {
            read(w, i, t);
            w->maker[t] = i;
            continue;
        }
        if (op->kind != ARENAUT_OP_IN_PLACE && is_written(w, i, t)) {
            w->rewritten[t] = !w->flow.jumps[op->method];
        }
        write(w, i, t);
    }
    for (uint32_t k = 0; k < op->n_after; k++) {
        depend_on(w, i, w->program->methods[op->method].first_op + op->after[k]);
    }
    if (op->n_calls == 0 && !arn_has_side_effects(w->program, op)) return;
    depend_on(w, i, w->last_effect);
    w->last_effect = i;
}

/* Upper bounds of the lists: a read depends on the tensor's definition and on the last writer of
 * each cell; a write also on each read since then. */
static bool count(const arn_dependences *w, size_t *reads, size_t *dependences) {
    const arenaut_program *p = w->program;
    uint64_t read = 0, made = 0, named = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != ARENAUT_NONE) read += w->cells.n[op->inputs[k]];
        }
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            if (op->outputs[k] != ARENAUT_NONE) made += w->cells.n[op->outputs[k]];
        }
        /* +3: side effects, pinned ops, their successors */
        named += (uint64_t)op->n_inputs + op->n_outputs + op->n_after + 3;
    }
    *reads = (size_t)(read + made);                       /* results that are aliases are read */
    *dependences = (size_t)(3 * read + 2 * made + named); /* operands may be written as well */
    return 3 * read + 2 * made + named <= UINT32_MAX;
}

static void set_none(uint32_t *list, size_t n) {
    for (size_t i = 0; i < n; i++) list[i] = ARENAUT_NONE;
}

static bool allocate(arn_dependences *w, arn_region *region) {
    const size_t tensors = (size_t)w->program->n_tensors + 1;
    size_t reads = 0, dependences = 0;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(w->storage, tensors))) return false;
    find_storages(w);
    if (!find_cells(w->program, w->storage, region, &w->cells)) return false;
    if (!count(w, &reads, &dependences)) return false;
    const size_t cells = w->cells.n_cells;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(w->list, dependences), ARN_ARRAY(w->maker, tensors),
                           ARN_ARRAY(w->writer, cells), ARN_ARRAY(w->reader, cells),
                           ARN_ARRAY(w->used_by, cells), ARN_ARRAY(w->rewritten, tensors),
                           ARN_ARRAY(w->read_by, reads), ARN_ARRAY(w->read_before, reads))) {
        return false;
    }
    set_none(w->maker, tensors);
    set_none(w->writer, cells);
    set_none(w->reader, cells);
    set_none(w->used_by, cells);
    return true;
}

bool arn_dependences_find(const arenaut_program *program, arn_region *region,
                          arn_dependences *dependences) {
    *dependences = (arn_dependences){
        .program = program, .last_effect = ARENAUT_NONE, .last_pinned = ARENAUT_NONE};
    if (!allocate(dependences, region) ||
        !find_call_effects(program, region, &dependences->calls) ||
        !find_control_flow(program, dependences->storage, region, &dependences->flow)) {
        return false;
    }
    for (uint32_t i = 0; i < program->n_ops; i++) add_dependences(dependences, i);
    return true;
}
