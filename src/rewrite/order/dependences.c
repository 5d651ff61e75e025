/* Names of ops whose place among one another matters. Custom ops of a .tflite are called what they
 * like, builtin ones in capitals. */
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

bool arn_order_has_effects(const arenaut_program *p, const arenaut_op *op) {
    if (op->kind == ARENAUT_OP_DELEGATE || op->n_outputs == 0 || !is_known(p, op)) return true;
    return (!op->pure && has_word(op->name)) || names_opaque(p, op);
}

/* Instructions that jump, move and free have no operator. */
static bool is_unknown(const arenaut_program *p, const arenaut_op *op) {
    const bool computes = op->kind == ARENAUT_OP_OUT || op->kind == ARENAUT_OP_FUNCTIONAL ||
                          op->kind == ARENAUT_OP_VIEW || op->kind == ARENAUT_OP_IN_PLACE;
    return computes && op->n_calls == 0 && op->n_outputs > 0 && !is_known(p, op);
}

/* One of them alone waits for nobody, but if it may write what it is given to read. */
uint32_t arn_order_count_held(const arenaut_program *p) {
    uint32_t n_effects = 0, n_unknown = 0;
    bool foreign = false;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->n_calls == 0 && !arn_order_has_effects(p, op)) continue;
        n_effects++;
        foreign = foreign || arn_order_is_foreign(p, op);
        n_unknown += is_unknown(p, op);
    }
    return n_effects > 1 || foreign ? n_unknown : 0;
}

/* ======== */
/* Cuts memory where pieces of it begin and end that ops write by themselves, as operands of a join
 * that lie in its result from the start: ops that touch different cells need not wait for one
 * another. Of a view that reaches over its bytes with strides, or that only its op makes a name of
 * other memory, nothing is known but that it lies there: it takes all of its storage. */

enum { MOST_TOUCHES = 1 << 24 }; /* cells, over all arguments */

typedef struct cut {
    uint64_t at; /* in bytes, from the beginning of the storage */
    uint32_t storage;
} cut;

typedef struct cutter {
    const arenaut_program *program;
    const uint32_t *storage;
    uint32_t *begin; /* per storage, one more for what methods share, and one for the end: of its
                      * cuts */
    cut *cuts;       /* once they are sorted, each once */
    uint32_t n_cuts;
} cutter;

/* Whether a tensor is known to lie at a certain place in the storage. */
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
        if (!arenaut_op_kind_touches(op->kind)) continue;
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

/* How many cuts of the storage lie below a place. */
static uint32_t cuts_below(const cutter *c, uint32_t storage, uint64_t at) {
    uint32_t low = c->begin[storage], high = c->begin[storage + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (c->cuts[middle].at < at) low = middle + 1;
        else high = middle;
    }
    return low - c->begin[storage];
}

/* A storage has a cell more than cuts, so that its first one has a number higher than those cuts
 * that come before it by as many storages as do. */
static void number_cells(const cutter *c, arn_order_cells *cells) {
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

static uint64_t count_touches(const arenaut_program *p, const arn_order_cells *cells) {
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

bool arn_order_cells_find(const arenaut_program *program, const uint32_t *storage,
                          arn_region *region, arn_order_cells *cells) {
    const size_t n = program->n_tensors;
    size_t outputs = 0;
    cutter c = {.program = program, .storage = storage};
    for (uint32_t i = 0; i < program->n_ops; i++) outputs += program->ops[i].n_outputs;
    if (n + 2 * outputs > UINT32_MAX / 2) return false;
    cells->first = arn_region_allocate(region, n, sizeof *cells->first);
    cells->n = arn_region_allocate(region, n, sizeof *cells->n);
    c.begin = arn_region_allocate(region, n + 2, sizeof *c.begin);
    c.cuts = arn_region_allocate(region, 2 * outputs, sizeof *c.cuts);
    if (!cells->first || !cells->n || !c.begin || !c.cuts) return false;
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

/* ======== */
/* What methods do whose ops run inside another op: followed from callees to callers, each once. */

/* Callers first, then the other way round; calls form no cycle. `callers` has room for all. */
static void sort_methods(const arenaut_program *p, uint32_t *callers, uint32_t *list) {
    uint32_t n = 0;
    for (uint32_t m = 0; m < p->n_methods; m++) callers[m] = 0;
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

/* The method that the memory of a tensor is of; NONE: of none, or of all. */
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

static void look_at(const arenaut_program *p, const arenaut_op *op, arn_order_calls *c) {
    const bool unknown = op->kind == ARENAUT_OP_DELEGATE || arn_order_is_foreign(p, op);
    const bool updates = op->kind == ARENAUT_OP_IN_PLACE || unknown;
    const uint32_t m = op->method;
    c->writes[m] = c->writes[m] || arn_order_calls_any(c->writes, op);
    c->shares[m] = c->shares[m] || arn_order_calls_any(c->shares, op);
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const bool reads = i < op->n_inputs;
        const uint32_t t = reads ? op->inputs[i] : op->outputs[i - op->n_inputs];
        if (t == ARENAUT_NONE) continue;
        c->shares[m] = c->shares[m] || is_shared(p, op, t);
        c->writes[m] = c->writes[m] || ((!reads || updates) && home_of(p, t) != m);
    }
}

bool arn_order_calls_find(const arenaut_program *p, arn_region *region, arn_order_calls *calls) {
    const uint32_t n = p->n_methods;
    *calls = (arn_order_calls){0};
    uint32_t *callers = arn_region_allocate(region, n, sizeof *callers);
    calls->callees_first = arn_region_allocate(region, n, sizeof *calls->callees_first);
    calls->writes = arn_region_allocate(region, n, sizeof *calls->writes);
    calls->shares = arn_region_allocate(region, n, sizeof *calls->shares);
    if (!callers || !calls->callees_first || !calls->writes || !calls->shares) {
        return false;
    }
    sort_methods(p, callers, calls->callees_first);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t m = calls->callees_first[k];
        const arenaut_method *method = &p->methods[m];
        calls->writes[m] = calls->shares[m] = false;
        for (uint32_t i = 0; i < method->n_ops; i++) {
            look_at(p, &p->ops[method->first_op + i], calls);
        }
    }
    return true;
}

/* ======== */
/* Which ops stay where they are in methods that jump or move: these themselves, what something
 * jumps to, and all that name memory of which several ops or names tell the lives. Between them,
 * memory is alive from the op that makes it to its last reader, as anywhere else. */

typedef struct finder {
    const arenaut_program *program;
    const uint32_t *storage;
    arn_order_flow *flow;
    uint32_t *seen, *odd; /* per storage: the last method in which it was named, and in which it is
                           * not as simple as that */
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

static void see(finder *f, const uint32_t *tensors, uint32_t n, bool odd) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] == ARENAUT_NONE) continue;
        const uint32_t s = f->storage[tensors[i]];
        const uint32_t root = arenaut_program_storage(f->program, tensors[i], NULL);
        const bool foreign = f->program->tensors[root].method != f->method;
        f->seen[s] = f->method;
        if (odd || foreign) f->odd[s] = f->method;
    }
}

/* What is written anew ends one life and begins another, wherever the flow comes from. */
static void see_results(finder *f, const arenaut_op *op) {
    const bool makes = op->kind != ARENAUT_OP_IN_PLACE && op->kind != ARENAUT_OP_VIEW;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        const bool again = f->seen[f->storage[op->outputs[i]]] == f->method;
        see(f, &op->outputs[i], 1, op->kind == ARENAUT_OP_MOVE || (makes && again));
    }
}

static bool names_odd(const finder *f, const uint32_t *tensors, uint32_t n) {
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        any = any || (tensors[i] != ARENAUT_NONE && f->odd[f->storage[tensors[i]]] == f->method);
    }
    return any;
}

static void fix(finder *f, const arenaut_method *method) {
    const arenaut_op *ops = f->program->ops + method->first_op;
    bool *fixed = f->flow->fixed + method->first_op;
    see(f, method->inputs, method->n_inputs, false);
    for (uint32_t i = 0; i < method->n_ops; i++) {
        see(f, ops[i].inputs, ops[i].n_inputs, ops[i].kind == ARENAUT_OP_MOVE);
        see_results(f, &ops[i]);
    }
    for (uint32_t i = 0; i < method->n_ops; i++) {
        const arenaut_op *op = &ops[i];
        const bool jumps = op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE;
        if (jumps && op->target < method->n_ops) fixed[op->target] = true;
        fixed[i] = fixed[i] || !may_move(op) || names_odd(f, op->inputs, op->n_inputs) ||
                   names_odd(f, op->outputs, op->n_outputs);
    }
}

bool arn_order_flow_find(const arenaut_program *p, const uint32_t *storage, arn_region *region,
                         arn_order_flow *flow) {
    const size_t storages = (size_t)p->n_tensors + 1;
    finder f = {.program = p, .storage = storage, .flow = flow};
    flow->flows = arn_region_allocate(region, p->n_methods, sizeof *flow->flows);
    flow->fixed = arn_region_allocate(region, p->n_ops, sizeof *flow->fixed);
    f.seen = arn_region_allocate(region, storages, sizeof *f.seen);
    f.odd = arn_region_allocate(region, storages, sizeof *f.odd);
    if (!flow->flows || !flow->fixed || !f.seen || !f.odd) return false;
    memset(flow->flows, 0, p->n_methods * sizeof *flow->flows);
    memset(flow->fixed, 0, p->n_ops * sizeof *flow->fixed);
    for (size_t s = 0; s < storages; s++) f.seen[s] = f.odd[s] = ARENAUT_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (is_flow(p->ops[i].kind)) flow->flows[p->ops[i].method] = true;
    }
    for (f.method = 0; f.method < p->n_methods; f.method++) {
        if (flow->flows[f.method]) fix(&f, &p->methods[f.method]);
    }
    return true;
}

/* ======== */
/* What ops of a program wait for: for those that wrote what they read and, before they write, for
 * those that read or wrote there; of views that is their storage, or the part of it that they are.
 * Ops that may do more than compute their results stay in their order, like those that call
 * methods. No op goes past one that calls a method in which state is named, or that stays for the
 * sake of jumps. Methods wait for nothing of one another. */

static void wait_for(arn_order_waits *w, uint32_t op, uint32_t first) {
    if (first == ARENAUT_NONE || first == op) return;
    if (w->program->ops[first].method != w->program->ops[op].method) return;
    w->list[w->n++] = (arenaut_order_wait){op, first};
}

/* Whether results of an op may be names of its first operand's memory: those of a graph before its
 * passes say so only by their names. */
static bool may_name(const arenaut_program *p, const arenaut_op *op) {
    if (op->n_inputs == 0 || op->inputs[0] == ARENAUT_NONE) return false;
    if (op->kind == ARENAUT_OP_VIEW) return true;
    if (op->kind != ARENAUT_OP_FUNCTIONAL) return false;
    const arenaut_operator *known =
        arenaut_dialect_operator(arenaut_dialect_find(p->dialect), op->name);
    return known && (known->traits & (ARENAUT_TRAIT_VIEW | ARENAUT_TRAIT_MAY_VIEW)) &&
           !(known->traits & ARENAUT_TRAIT_COPIES);
}

static void lie_in(arn_order_waits *w, uint32_t from, uint32_t tensor) {
    if (from == ARENAUT_NONE || tensor == ARENAUT_NONE) return;
    if (w->storage[tensor] == tensor) w->storage[tensor] = w->storage[from];
}

/* What an update returns is what it has updated. */
static void find_updated(arn_order_waits *w, const arenaut_op *op) {
    for (uint32_t k = 0; k < op->n_in_place; k++) {
        lie_in(w, op->inputs[op->in_place[k].input], op->outputs[op->in_place[k].output]);
    }
    if (op->n_in_place == 0 && op->n_inputs > 0 && op->n_outputs > 0) {
        lie_in(w, op->inputs[0], op->outputs[0]);
    }
}

/* Shared state is one storage, whatever its names; and what an op makes another name of its
 * operand's memory lies there, even if the tensor does not say so. */
static void find_storages(arn_order_waits *w) {
    const arenaut_program *p = w->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const uint32_t s = arenaut_program_storage(p, t, NULL);
        w->storage[t] = p->tensors[s].qualified_name ? p->n_tensors : s;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind == ARENAUT_OP_IN_PLACE) find_updated(w, op);
        if (!may_name(p, op)) continue;
        for (uint32_t k = 0; k < op->n_outputs; k++) lie_in(w, op->inputs[0], op->outputs[k]);
    }
}

static uint32_t storage_of(const arn_order_waits *w, uint32_t tensor) { return w->storage[tensor]; }

/* What a method finds in a cell was there before it; the ops of one stand together. */
static void enter(arn_order_waits *w, uint32_t op, uint32_t cell) {
    const uint32_t method = w->program->ops[op].method;
    if (w->used_by[cell] != method) w->writer[cell] = w->reader[cell] = ARENAUT_NONE;
    w->used_by[cell] = method;
}

static void read_cell(arn_order_waits *w, uint32_t op, uint32_t cell) {
    enter(w, op, cell);
    wait_for(w, op, w->writer[cell]);
    w->read_by[w->n_reads] = op;
    w->read_before[w->n_reads] = w->reader[cell];
    w->reader[cell] = w->n_reads++;
}

static void write_cell(arn_order_waits *w, uint32_t op, uint32_t cell) {
    enter(w, op, cell);
    wait_for(w, op, w->writer[cell]);
    for (uint32_t i = w->reader[cell]; i != ARENAUT_NONE; i = w->read_before[i]) {
        wait_for(w, op, w->read_by[i]);
    }
    w->reader[cell] = ARENAUT_NONE;
    w->writer[cell] = op;
}

static void read(arn_order_waits *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    wait_for(w, op, w->maker[tensor]);
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) read_cell(w, op, first + i);
}

static void write(arn_order_waits *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) write_cell(w, op, first + i);
    w->maker[tensor] = op;
}

/* By an op of the same method. */
static bool is_written(arn_order_waits *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    bool written = false;
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) {
        enter(w, op, first + i);
        written |= w->writer[first + i] != ARENAUT_NONE;
    }
    return written;
}

/* Whether an output only is another name for an input's memory. */
static bool is_name(const arn_order_waits *w, const arenaut_op *op, uint32_t tensor) {
    if (!may_name(w->program, op)) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t input = op->inputs[i];
        if (input != ARENAUT_NONE && storage_of(w, input) == storage_of(w, tensor)) return true;
    }
    return false;
}

/* Updates write what they read, and delegates, what no list knows, and calls of methods that write
 * what they capture may write whatever they are given, but for constants. */
static bool may_write(const arn_order_waits *w, const arenaut_op *op, uint32_t input) {
    if (op->kind == ARENAUT_OP_IN_PLACE) return true;
    if (op->kind != ARENAUT_OP_DELEGATE && !arn_order_is_foreign(w->program, op) &&
        !arn_order_calls_any(w->calls.writes, op)) {
        return false;
    }
    return w->program->tensors[input].cls != ARENAUT_CONSTANT;
}

/* All before such an op run before it, all behind it after. */
static void keep_place(arn_order_waits *w, uint32_t i) {
    const arenaut_op *op = &w->program->ops[i];
    const uint32_t first = w->program->methods[op->method].first_op;
    const bool mine = w->fixed != ARENAUT_NONE && w->fixed >= first;
    if (mine) wait_for(w, i, w->fixed);
    if (!w->flow.fixed[i] && !arn_order_calls_any(w->calls.shares, op)) return;
    for (uint32_t k = mine ? w->fixed + 1 : first; k < i; k++) wait_for(w, i, k);
    w->fixed = i;
}

static void add_waits(arn_order_waits *w, uint32_t i) {
    const arenaut_op *op = &w->program->ops[i];
    keep_place(w, i);
    if (op->kind == ARENAUT_OP_ALLOC || op->kind == ARENAUT_OP_ALLOC_IN_PLACE) return;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (op->inputs[k] == ARENAUT_NONE) continue;
        read(w, i, op->inputs[k]);
        if (may_write(w, op, op->inputs[k])) write(w, i, op->inputs[k]);
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t t = op->outputs[k];
        if (t == ARENAUT_NONE) continue;
        if (is_name(w, op, t)) {
            read(w, i, t);
            w->maker[t] = i;
            continue;
        }
        if (op->kind != ARENAUT_OP_IN_PLACE && is_written(w, i, t)) {
            w->anew[t] = !w->flow.flows[op->method];
        }
        write(w, i, t);
    }
    for (uint32_t k = 0; k < op->n_after; k++) {
        wait_for(w, i, w->program->methods[op->method].first_op + op->after[k]);
    }
    if (op->n_calls == 0 && !arn_order_has_effects(w->program, op)) return;
    wait_for(w, i, w->last_effect);
    w->last_effect = i;
}

/* A read waits for what made the tensor, and in each cell for what wrote there last; so does a
 * write, and for each read since. */
static bool count(const arn_order_waits *w, size_t *reads, size_t *waits) {
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
        /* One for effects; one for what stays in its place, and one that waits for it there. */
        named += (uint64_t)op->n_inputs + op->n_outputs + op->n_after + 3;
    }
    *reads = (size_t)(read + made);                 /* what is named is read */
    *waits = (size_t)(3 * read + 2 * made + named); /* operands may be written, too */
    return 3 * read + 2 * made + named <= UINT32_MAX;
}

static uint32_t *no_ops(arn_region *region, size_t n) {
    uint32_t *list = arn_region_allocate(region, n, sizeof *list);
    for (size_t i = 0; list && i < n; i++) list[i] = ARENAUT_NONE;
    return list;
}

static bool allocate(arn_order_waits *w, arn_region *region) {
    const size_t tensors = (size_t)w->program->n_tensors + 1;
    size_t reads = 0, waits = 0;
    w->storage = arn_region_allocate(region, tensors, sizeof *w->storage);
    if (!w->storage) return false;
    find_storages(w);
    if (!arn_order_cells_find(w->program, w->storage, region, &w->cells)) return false;
    if (!count(w, &reads, &waits)) return false;
    w->list = arn_region_allocate(region, waits, sizeof *w->list);
    w->maker = no_ops(region, tensors);
    w->writer = no_ops(region, w->cells.n_cells);
    w->reader = no_ops(region, w->cells.n_cells);
    w->used_by = no_ops(region, w->cells.n_cells);
    w->anew = arn_region_allocate(region, tensors, sizeof *w->anew);
    w->read_by = arn_region_allocate(region, reads, sizeof *w->read_by);
    w->read_before = arn_region_allocate(region, reads, sizeof *w->read_before);
    if (!w->list || !w->maker || !w->writer || !w->reader || !w->anew || !w->read_by ||
        !w->read_before || !w->used_by) {
        return false;
    }
    for (size_t t = 0; t < tensors; t++) w->anew[t] = false;
    return true;
}

bool arn_order_waits_find(const arenaut_program *program, arn_region *region,
                          arn_order_waits *waits) {
    *waits =
        (arn_order_waits){.program = program, .last_effect = ARENAUT_NONE, .fixed = ARENAUT_NONE};
    if (!allocate(waits, region) || !arn_order_calls_find(program, region, &waits->calls) ||
        !arn_order_flow_find(program, waits->storage, region, &waits->flow)) {
        return false;
    }
    for (uint32_t i = 0; i < program->n_ops; i++) add_waits(waits, i);
    return true;
}
