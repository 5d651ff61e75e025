/* recover-aliases: aliases and state, from the places in programs that already have a plan and
 * whose exporter did not write them down.
 *
 * Some exporters drop an op that only renames memory, and give its result the place of its operand
 * instead; and they do not say which tensors keep their bytes from call to call. Both show in the
 * order of the ops and the places together: a tensor that is read although nothing wrote it is an
 * alias of the tensors with their bytes there or, if there are none, state. Declared state (it has
 * a name, or first values) is never an alias of a tensor that an op has written there, unless the
 * op updates that very state: such a plan destroys the state, which is the checker's to find.
 * Programs whose methods state no arenas are left as they are. */
#include <arenaut/pass.h>

#include "core/fail.h"
#include "core/sort.h"
#include "ir/program.h"
#include "ir/store.h"
#include "passes/recover/recover.h"

static bool is_declared_state(const arenaut_tensor *t) {
    if (t->given_pool == ARENAUT_NONE) return false;
    return t->cls == ARENAUT_STATE || (t->cls == ARENAUT_INTERMEDIATE && t->qualified_name);
}

static void make_state(arn_recover *r, uint32_t tensor) {
    r->program->tensors[tensor].cls = ARENAUT_STATE;
}

/* Whether the content of the tensor at its first touch is in question. Declared state holds the
 * value of the last call. */
static bool is_open(const arn_recover *r, uint32_t tensor) {
    const arenaut_tensor *t = &r->program->tensors[tensor];
    return arn_recover_is_placed(r, tensor) && t->method == r->method &&
           !(r->facts[tensor] & (ARN_RECOVER_TOUCHED | ARN_RECOVER_GIVEN | ARN_RECOVER_DECLARED));
}

/* Makes the tensor an alias of all tensors found; with declared state among them, of that state
 * alone: the others lie there wrongly. */
static void join_found(arn_recover *r, uint32_t tensor) {
    uint32_t state = ARENAUT_NONE;
    for (uint32_t i = 0; i < r->n_found && state == ARENAUT_NONE; i++) {
        if (arn_recover_is_declared(r, r->found[i])) state = r->found[i];
    }
    if (state != ARENAUT_NONE) {
        arn_recover_join(r, tensor, state);
        return;
    }
    for (uint32_t i = 0; i < r->n_found; i++) arn_recover_join(r, tensor, r->found[i]);
}

/* Something reads the tensor that nothing has written yet. */
static arenaut_status ask(arn_recover *r, uint32_t tensor, uint32_t at) {
    bool open;
    const arenaut_status st = arn_recover_find_holders(r, tensor, at, &open);
    if (st != ARENAUT_OK) return st;
    join_found(r, tensor);
    if (r->n_found == 0) make_state(r, tensor);
    return ARENAUT_OK;
}

static arenaut_status read_all(arn_recover *r, const arenaut_op *op, uint32_t at) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < op->n_inputs && st == ARENAUT_OK; i++) {
        const uint32_t t = op->inputs[i];
        if (t == ARENAUT_NONE) continue;
        if (is_open(r, t)) st = ask(r, t, at);
        r->facts[t] |= ARN_RECOVER_TOUCHED | ARN_RECOVER_READ;
    }
    return st;
}

/* Without a place in the file, and no argument of the caller's. */
static bool is_placeless(const arn_recover *r, uint32_t tensor) {
    const arenaut_tensor *t = &r->program->tensors[tensor];
    return t->caller_owned && t->method == r->method &&
           !(r->facts[tensor] & (ARN_RECOVER_TOUCHED | ARN_RECOVER_GIVEN));
}

/* A view that is still an op makes its result stand where its operand is, also a result to which
 * the file gives no place: it has none of its own when the program runs either. */
static void join_view(arn_recover *r, const arenaut_op *op) {
    const uint32_t from = op->n_inputs ? op->inputs[0] : ARENAUT_NONE;
    const uint32_t to = op->n_outputs ? op->outputs[0] : ARENAUT_NONE;
    if (from == ARENAUT_NONE || to == ARENAUT_NONE || from == to) return;
    const bool placeless = is_placeless(r, to);
    if (!arn_recover_is_placed(r, from) || !(placeless || is_open(r, to))) return;
    if (placeless) {
        r->program->tensors[to].caller_owned = false;
        r->program->tensors[to].given_pool = r->program->tensors[from].given_pool;
        r->program->tensors[to].given_offset = r->position[from]; /* for views of it in turn */
    }
    if (r->program->tensors[from].given_pool != r->program->tensors[to].given_pool) return;
    r->position[to] = r->position[from];
    arn_recover_join(r, from, to);
}

static bool lies_in(const arn_recover *r, uint32_t inner, uint32_t outer) {
    const arenaut_tensor *in = &r->program->tensors[inner], *out = &r->program->tensors[outer];
    return in->given_pool == out->given_pool && r->position[inner] >= r->position[outer] &&
           r->position[inner] + in->bytes <= r->position[outer] + out->bytes;
}

/* The result of an op that updates declared state is that state, if it lies there, even after other
 * writes there. */
static void join_updated(arn_recover *r, const arenaut_op *op) {
    for (uint32_t o = 0; o < op->n_outputs; o++) {
        const uint32_t to = op->outputs[o];
        for (uint32_t i = 0; i < op->n_inputs && to != ARENAUT_NONE && is_open(r, to); i++) {
            const uint32_t from = op->inputs[i];
            if (from == ARENAUT_NONE || from == to || !arn_recover_is_placed(r, from)) continue;
            if (!arn_recover_is_declared(r, from) || !lies_in(r, to, from)) continue;
            arn_recover_join(r, from, to);
            r->facts[to] |= ARN_RECOVER_TOUCHED;
        }
    }
}

static bool share_bytes(const arn_recover *r, uint32_t a, uint32_t b) {
    const arenaut_tensor *ta = &r->program->tensors[a], *tb = &r->program->tensors[b];
    return arn_recover_is_placed(r, a) && ta->given_pool == tb->given_pool &&
           r->position[a] < r->position[b] + tb->bytes &&
           r->position[b] < r->position[a] + ta->bytes;
}

/* Whether an op writes any of the tensor's bytes. Of the results of a delegate only the last is
 * known before it is visited. */
static bool writes_bytes(const arn_recover *r, const arenaut_op *op, uint32_t tensor) {
    const bool delegate = op->kind == ARENAUT_OP_DELEGATE && op->n_inputs > 0;
    const uint32_t *written = delegate ? &op->inputs[op->n_inputs - 1] : op->outputs;
    const uint32_t n = delegate ? 1 : op->n_outputs;
    for (uint32_t k = 0; k < n; k++) {
        if (written[k] != ARENAUT_NONE && share_bytes(r, written[k], tensor)) return true;
    }
    return false;
}

/* Whether the next op in the list that writes any of the tensor's bytes, by whatever name, updates
 * what is there: then they had content before. */
static bool is_updated_after(const arn_recover *r, uint32_t tensor, uint32_t at) {
    const arenaut_method *m = &r->program->methods[r->method];
    for (uint32_t i = m->first_op + at + 1; i < m->first_op + m->n_ops; i++) {
        const arenaut_op *op = &r->program->ops[i];
        if (writes_bytes(r, op, tensor)) return op->kind == ARENAUT_OP_IN_PLACE;
    }
    return false;
}

/* An argument of a delegate that nothing has touched and that stands behind all that something has
 * is its result, unless it is for certain a view: a view has the size, type and place of its base.
 * There is a result, so the `last` argument is no view. */
static arenaut_status is_result(arn_recover *r, uint32_t tensor, uint32_t at, bool last,
                                bool *result) {
    const arenaut_tensor *t = &r->program->tensors[tensor];
    bool open, same = true;
    const arenaut_status st = arn_recover_find_holders(r, tensor, at, &open);
    if (st != ARENAUT_OK) return st;
    for (uint32_t i = 0; i < r->n_found; i++) {
        const arenaut_tensor *holder = &r->program->tensors[r->found[i]];
        same = same && holder->bytes == t->bytes && holder->dtype == t->dtype &&
               r->position[r->found[i]] == r->position[tensor];
    }
    const bool view = r->n_found > 0 && same && !open && !last;
    if (view) join_found(r, tensor);
    r->work += r->program->methods[r->method].n_ops;
    const bool state = r->n_found == 0 && is_updated_after(r, tensor, at);
    if (state) make_state(r, tensor);
    *result = !view && !state;
    return ARENAUT_OK;
}

/* The number of arguments up to the last that has content before the call. */
static uint32_t count_certain_inputs(const arn_recover *r, const arenaut_op *op) {
    uint32_t n = op->n_inputs;
    for (; n > 0; n--) {
        const uint32_t t = op->inputs[n - 1];
        if (t != ARENAUT_NONE && r->facts[t] & (ARN_RECOVER_TOUCHED | ARN_RECOVER_GIVEN)) break;
    }
    return n;
}

/* Files list all arguments of a delegate alike, its results last: these become outputs. */
static arenaut_status split_arguments(arn_recover *r, arenaut_op *op, uint32_t at) {
    const size_t n = (size_t)op->n_inputs + op->n_outputs;
    uint32_t *inputs = arenaut_program_alloc(r->program, (n + 1) * sizeof *inputs);
    uint32_t *outputs = arenaut_program_alloc(r->program, (n + 1) * sizeof *outputs);
    uint32_t n_inputs = 0, n_outputs = 0;
    const uint32_t n_certain = count_certain_inputs(r, op);
    bool behind_result = false;
    if (!inputs || !outputs) return arn_no_memory(r->err);
    for (uint32_t i = 0; i < op->n_outputs; i++) outputs[n_outputs++] = op->outputs[i];
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        const bool asked =
            t != ARENAUT_NONE && is_open(r, t) && r->program->tensors[t].cls != ARENAUT_STATE;
        bool result = asked && behind_result;
        arenaut_status st = ARENAUT_OK;
        if (asked && i < n_certain) st = ask(r, t, at);
        else if (asked && !result) st = is_result(r, t, at, i + 1 == op->n_inputs, &result);
        if (st != ARENAUT_OK) return st;
        behind_result = behind_result || result;
        if (result) outputs[n_outputs++] = t;
        else inputs[n_inputs++] = t;
        if (t != ARENAUT_NONE && !result) r->facts[t] |= ARN_RECOVER_TOUCHED | ARN_RECOVER_READ;
    }
    op->inputs = inputs;
    op->n_overlaps = 0; /* which speak of positions */
    op->n_inputs = n_inputs;
    op->outputs = outputs;
    op->n_outputs = n_outputs;
    return ARENAUT_OK;
}

static arenaut_status visit(arn_recover *r, uint32_t at) {
    arenaut_op *op = &r->program->ops[r->program->methods[r->method].first_op + at];
    arenaut_status st = ARENAUT_OK;
    if (!arn_op_kind_touches(op->kind)) return st;
    if (op->kind == ARENAUT_OP_IN_PLACE) join_updated(r, op);
    if (op->kind == ARENAUT_OP_DELEGATE) st = split_arguments(r, op, at);
    else st = read_all(r, op, at);
    if (op->kind == ARENAUT_OP_VIEW) join_view(r, op);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] != ARENAUT_NONE) r->facts[op->outputs[i]] |= ARN_RECOVER_TOUCHED;
    }
    return st;
}

static arenaut_status visit_method(arn_recover *r, uint32_t method) {
    const arenaut_method *m = &r->program->methods[method];
    arenaut_status st = ARENAUT_OK;
    if (!arn_recover_begin_method(r, method)) return arn_no_memory(r->err);
    for (uint32_t i = 0; i < m->n_inputs; i++) r->facts[m->inputs[i]] |= ARN_RECOVER_GIVEN;
    for (uint32_t i = 0; i < m->n_ops; i++) {
        const arenaut_op *op = &r->program->ops[m->first_op + i];
        if (op->kind == ARENAUT_OP_MOVE) r->facts[op->outputs[0]] |= ARN_RECOVER_MOVED_TO;
    }
    for (uint32_t i = 0; i < m->n_ops && st == ARENAUT_OK; i++) st = visit(r, i);
    for (uint32_t i = 0; i < m->n_outputs && st == ARENAUT_OK; i++) {
        const uint32_t t = m->outputs[i];
        if (is_open(r, t)) st = ask(r, t, m->n_ops);
        r->facts[t] |= ARN_RECOVER_TOUCHED | ARN_RECOVER_READ;
    }
    return st;
}

static bool by_method(const void *context, uint32_t a, uint32_t b) {
    const arenaut_tensor *tensors = context;
    return tensors[a].method < tensors[b].method;
}

static bool allocate(arn_recover *r) {
    const uint32_t n = r->program->n_tensors;
    if (!ARN_REGION_ARRAYS(&r->region, ARN_ARRAY(r->facts, n), ARN_ARRAY(r->storage, n),
                           ARN_ARRAY(r->position, n), ARN_ARRAY(r->found, n),
                           ARN_ARRAY(r->found_for, n), ARN_ARRAY(r->declared, 2 * (size_t)n))) {
        return false;
    }
    for (uint32_t t = 0; t < n; t++) {
        const bool declared = is_declared_state(&r->program->tensors[t]);
        if (declared) r->declared[r->n_declared++] = t;
        r->facts[t] = declared ? ARN_RECOVER_DECLARED : 0;
        if (declared) make_state(r, t);
        r->storage[t] = t;
        r->position[t] = r->program->tensors[t].given_offset;
        r->found_for[t] = 0;
    }
    uint32_t *scratch = r->declared + r->n_declared;
    arn_sort_ids(r->declared, r->n_declared, by_method, r->program->tensors, scratch);
    return true;
}

static arenaut_status recover(arn_recover *r) {
    arenaut_program *p = r->program;
    bool any = false;
    for (uint32_t m = 0; m < p->n_methods; m++) any = any || p->methods[m].n_given_pools > 0;
    if (!any) return ARENAUT_OK;
    arn_region_init(&r->region, arn_program_allocator(p));
    arenaut_status st = allocate(r) ? ARENAUT_OK : arn_no_memory(r->err);
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) {
        if (p->methods[m].n_given_pools > 0) st = visit_method(r, m);
    }
    if (st == ARENAUT_OK) st = arn_recover_make_views(r);
    if (r->within_methods) arn_recover_own_state(r);
    else if (st == ARENAUT_OK) st = arn_recover_share_state(r);
    arn_region_free(&r->region);
    return st;
}

static arenaut_status recover_run(arenaut_program *p, const arenaut_pass_options *options,
                                  arenaut_error *err) {
    arn_recover r = {.program = p, .share = options->share, .n_tensors = p->n_tensors, .err = err};
    return recover(&r);
}

arenaut_status arn_recover_within_methods(arenaut_program *p, arenaut_error *err) {
    arn_recover r = {.program = p, .within_methods = true, .n_tensors = p->n_tensors, .err = err};
    return recover(&r);
}

extern const arenaut_pass arn_pass_recover_aliases;
const arenaut_pass arn_pass_recover_aliases = {
    .name = "recover-aliases",
    .summary = "finds views and state in programs that hold a plan of all their tensors",
    .by_default = true,
    .run = recover_run,
};
