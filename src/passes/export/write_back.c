/* write-back: copies the new values of states and inputs into them at the end of a method. The
 * copies write memory that is there already, so no later pass gives them an out variant.
 *
 * In the graph all states change at once, and a state's name stands for its old value; the copies
 * come one after another. So one that reads a state (a delay line: d1 gets d0, d0 gets x) comes
 * before the one that overwrites it. In a cycle of them (two states change places), and if a result
 * or the new value itself lies in overwritten memory, the old value is saved first, in memory of
 * its own. */
#include <stdio.h>
#include <string.h>

#include "analysis/aliases.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"
#include "ir/store.h"
#include "passes/program_edit.h"

typedef struct copy {
    uint32_t target, value;
    bool done;
} copy;

typedef struct writer {
    const arenaut_dialect *dialect;
    bool aten;
    uint32_t n_tensors; /* at the begin; saved values come behind these */
    uint32_t *same;     /* union-find over tensors: the same memory, each all of it */
    uint32_t *shared;   /* the same over tensors that may have memory in common */
    uint32_t *saved;    /* per tensor: the holder of its old value; ARENAUT_NONE */
    uint32_t *writer;   /* per set of `shared`: the copy that overwrites it; ARENAUT_NONE */
    uint32_t *readers;  /* per set: how many copies have not read it yet */
    copy *copies;       /* of the method at work */
    uint32_t *ready;    /* copies that no other copy has to come before any more */
    uint32_t n_copies, n_ready, copy_capacity, ready_capacity;
} writer;

/* ---- sets of tensors with memory in common ---- */

static uint32_t root_of(uint32_t *sets, uint32_t tensor) {
    while (sets[tensor] != tensor) {
        sets[tensor] = sets[sets[tensor]];
        tensor = sets[tensor];
    }
    return tensor;
}

static void join(uint32_t *sets, uint32_t a, uint32_t b) {
    if (a == ARENAUT_NONE || b == ARENAUT_NONE) return;
    a = root_of(sets, a);
    b = root_of(sets, b);
    sets[a < b ? b : a] = a < b ? a : b;
}

/* A saved value shares no memory. */
static uint32_t set_of(writer *w, uint32_t tensor) {
    return tensor < w->n_tensors ? root_of(w->shared, tensor) : ARENAUT_NONE;
}

static bool may_view(const writer *w, const arenaut_op *op) {
    return op->kind == ARENAUT_OP_MOVE || op->kind == ARENAUT_OP_LET ||
           arn_may_view(w->dialect, op);
}

static void join_arguments(writer *w, const arenaut_op *op) {
    if (op->n_inputs == 0) return;
    if (may_view(w, op)) {
        for (uint32_t i = 0; i < op->n_outputs; i++) join(w->shared, op->inputs[0], op->outputs[i]);
    }
    if (op->kind != ARENAUT_OP_IN_PLACE || op->n_outputs == 0) return;
    uint32_t n;
    const arenaut_in_place *pairs = arn_updates_of(op, &n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t from = op->inputs[pairs[i].input], to = op->outputs[pairs[i].output];
        join(w->same, from, to);
        join(w->shared, from, to);
    }
}

static void find_sets(writer *w, const arenaut_program *p) {
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        w->same[t] = w->shared[t] = t;
        w->saved[t] = w->writer[t] = ARENAUT_NONE;
        w->readers[t] = 0;
    }
    for (uint32_t t = 0; t < p->n_tensors; t++) join(w->shared, t, p->tensors[t].view_of);
    for (uint32_t i = 0; i < p->n_ops; i++) join_arguments(w, &p->ops[i]);
}

static bool same_layout(const arenaut_tensor *a, const arenaut_tensor *b) {
    if (a->rank != b->rank || a->bytes != b->bytes || (!a->strides) != (!b->strides)) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i]) return false;
        if (a->strides && a->strides[i] != b->strides[i]) return false;
    }
    return true;
}

/* Whether the new value is in the state's memory already, as a result of an update is. */
static bool is_there(writer *w, const arenaut_program *p, const arenaut_binding *b) {
    if (root_of(w->same, b->value) == root_of(w->same, b->target)) return true;
    uint64_t offset;
    const uint32_t storage = arenaut_program_storage(p, b->value, &offset);
    return storage == b->target && offset == 0 &&
           same_layout(&p->tensors[b->value], &p->tensors[b->target]);
}

/* ---- saving old values ---- */

/* A copy is dense, even of a tensor that is not. Sizes that vary are known later. */
static arenaut_status lie_densely(arenaut_tensor *t, arenaut_error *err) {
    uint64_t dense;
    if (!t->strides) return ARENAUT_OK;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] >= 0) continue;
        t->strides = NULL;
        return ARENAUT_OK;
    }
    const arenaut_status st = arenaut_dense_bytes(t->dtype, t->dims, t->rank, &dense, err);
    if (st == ARENAUT_OK && dense != t->bytes) {
        t->strides = NULL;
        t->bytes = dense;
    }
    return st;
}

static arenaut_status add_saved(arn_pass_edit *edit, uint32_t m, uint32_t tensor, uint32_t *saved) {
    arenaut_program *p = edit->program;
    arenaut_tensor t = p->tensors[tensor];
    char name[256];
    if (t.name) {
        const size_t room = sizeof name - sizeof ".old", length = strlen(t.name);
        snprintf(name, sizeof name, "%.*s.old", (int)(length < room ? length : room), t.name);
        t.name = name;
    }
    t.qualified_name = NULL;
    t.first_value = 0;
    t.cls = ARENAUT_INTERMEDIATE;
    t.method = m;
    t.view_of = ARENAUT_NONE;
    t.view_offset = 0;
    t.caller_owned = false;
    t.file_index = ARENAUT_NONE;
    t.given_pool = ARENAUT_NONE;
    t.given_offset = ARENAUT_UNPLACED;
    const arenaut_status st = lie_densely(&t, edit->err);
    return st == ARENAUT_OK ? arenaut_program_add_tensor(p, &t, saved, edit->err) : st;
}

static bool is_saved(const writer *w, const arenaut_program *p, uint32_t m, uint32_t tensor) {
    return w->saved[tensor] != ARENAUT_NONE && p->tensors[w->saved[tensor]].method == m;
}

/* *tensor becomes the holder of its value from here on. */
static arenaut_status save(writer *w, arn_pass_edit *edit, uint32_t m, uint32_t *tensor) {
    const uint32_t old = *tensor;
    if (!is_saved(w, edit->program, m, old)) {
        arenaut_status st = add_saved(edit, m, old, &w->saved[old]);
        const arenaut_op op = {.name = w->aten ? "aten::clone" : "copy",
                               .kind = ARENAUT_OP_FUNCTIONAL,
                               .method = m,
                               .n_inputs = 1,
                               .inputs = arn_pass_edit_list(edit->program, &old, 1),
                               .n_outputs = 1,
                               .outputs = arn_pass_edit_list(edit->program, &w->saved[old], 1)};
        if (st == ARENAUT_OK && (!op.inputs || !op.outputs)) st = arn_no_memory(edit->err);
        if (st == ARENAUT_OK) st = arn_pass_edit_put(edit, &op);
        if (st != ARENAUT_OK) return st;
    }
    *tensor = w->saved[old];
    return ARENAUT_OK;
}

/* Saves results that lie in overwritten memory. */
static arenaut_status save_results(writer *w, arn_pass_edit *edit, uint32_t m) {
    const arenaut_method *method = &edit->program->methods[m];
    uint32_t *outputs = arn_pass_edit_list(edit->program, method->outputs, method->n_outputs);
    if (!outputs) return arn_no_memory(edit->err);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < method->n_outputs && st == ARENAUT_OK; i++) {
        if (w->writer[set_of(w, outputs[i])] == ARENAUT_NONE) continue;
        st = save(w, edit, m, &outputs[i]);
    }
    if (st != ARENAUT_OK) return st;
    return arenaut_program_set_method_io(edit->program, m, method->inputs, method->n_inputs,
                                         outputs, method->n_outputs, edit->err);
}

/* ---- the copies of a method ---- */

static arenaut_status put_copy(writer *w, arn_pass_edit *edit, uint32_t m, const copy *c) {
    const uint32_t pair[2] = {c->target, c->value};
    const arenaut_op op = {
        .name = w->aten ? "aten::copy_" : "write_back",
        .kind = ARENAUT_OP_IN_PLACE,
        .method = m,
        .n_inputs = 2,
        .inputs = arn_pass_edit_list(edit->program, pair, 2),
    };
    return op.inputs ? arn_pass_edit_put(edit, &op) : arn_no_memory(edit->err);
}

static bool has_room(writer *w, const arenaut_allocator *allocator, uint32_t n) {
    return arn_grow(allocator, (void **)&w->copies, &w->copy_capacity, n, sizeof *w->copies) &&
           arn_grow(allocator, (void **)&w->ready, &w->ready_capacity, n, sizeof *w->ready);
}

/* Collects the copies. *several: two of them write memory that may be one. */
static arenaut_status collect(writer *w, arn_pass_edit *edit, uint32_t m, bool *several) {
    const arenaut_program *p = edit->program;
    const arenaut_method *method = &p->methods[m];
    char store[24];
    w->n_copies = w->n_ready = 0;
    *several = false;
    if (!has_room(w, arn_program_allocator(p), method->n_bindings)) return arn_no_memory(edit->err);
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const arenaut_binding *b = &method->bindings[i];
        if (b->kind != ARENAUT_BINDING_MUTATES || is_there(w, p, b)) continue;
        uint32_t *writes = &w->writer[set_of(w, b->target)];
        if (*writes != ARENAUT_NONE) *several = true;
        if (*writes != ARENAUT_NONE && w->copies[*writes].target == b->target) {
            return arn_fail(edit->err, ARENAUT_BAD_INPUT, 0,
                            "method '%s': '%.60s' is given two new values; it can have one",
                            method->name ? method->name : "method",
                            arenaut_program_tensor_name(p, b->target, store));
        }
        *writes = w->n_copies;
        w->copies[w->n_copies++] = (copy){b->target, b->value, false};
    }
    return ARENAUT_OK;
}

/* Saves the values that no schedule of the copies keeps, and counts the copies that read each set.
 * If several targets may be one memory, no schedule is searched for: everything is saved. */
static arenaut_status count_readers(writer *w, arn_pass_edit *edit, uint32_t m, bool several) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < w->n_copies && st == ARENAUT_OK; i++) {
        copy *c = &w->copies[i];
        uint32_t set = set_of(w, c->value);
        const bool overwritten = w->writer[set] != ARENAUT_NONE;
        if (overwritten &&
            (several || set == set_of(w, c->target) || is_saved(w, edit->program, m, c->value))) {
            st = save(w, edit, m, &c->value);
        } else {
            w->readers[set]++;
        }
    }
    return st;
}

static void offer(writer *w, uint32_t i) {
    if (w->readers[set_of(w, w->copies[i].target)] == 0) w->ready[w->n_ready++] = i;
}

/* The copy has its value: the copy that overwrites that may be ready now. */
static void release(writer *w, uint32_t value) {
    const uint32_t set = set_of(w, value);
    if (set == ARENAUT_NONE) return;
    w->readers[set]--;
    const uint32_t waiting = w->writer[set];
    if (waiting != ARENAUT_NONE && !w->copies[waiting].done) offer(w, waiting);
}

/* Each blocked copy blocks just one other, so these form cycles. Breaks the cycle of `first` at its
 * smallest value. */
static arenaut_status break_circle(writer *w, arn_pass_edit *edit, uint32_t m, uint32_t first) {
    const arenaut_program *p = edit->program;
    uint32_t best = first;
    for (uint32_t i = w->writer[set_of(w, w->copies[first].value)]; i != first;
         i = w->writer[set_of(w, w->copies[i].value)]) {
        const copy *c = &w->copies[i];
        if (p->tensors[c->value].bytes < p->tensors[w->copies[best].value].bytes) best = i;
    }
    const uint32_t value = w->copies[best].value;
    const arenaut_status st = save(w, edit, m, &w->copies[best].value);
    if (st == ARENAUT_OK) release(w, value);
    return st;
}

static arenaut_status put_in_order(writer *w, arn_pass_edit *edit, uint32_t m) {
    arenaut_status st = ARENAUT_OK;
    uint32_t first = 0, n_put = 0;
    for (uint32_t i = 0; i < w->n_copies; i++) offer(w, i);
    while (n_put < w->n_copies && st == ARENAUT_OK) {
        if (n_put == w->n_ready) {
            while (w->copies[first].done) first++;
            st = break_circle(w, edit, m, first);
            continue;
        }
        copy *c = &w->copies[w->ready[n_put++]];
        c->done = true;
        st = put_copy(w, edit, m, c);
        if (st == ARENAUT_OK) release(w, c->value);
    }
    return st;
}

/* A value in the memory of the state already needs no copy. */
static arenaut_status leave(void *context, arn_pass_edit *edit, uint32_t m) {
    writer *w = context;
    bool several;
    arenaut_status st = collect(w, edit, m, &several);
    if (st != ARENAUT_OK || w->n_copies == 0) return st;
    st = save_results(w, edit, m);
    if (st == ARENAUT_OK) st = count_readers(w, edit, m, several);
    if (st == ARENAUT_OK) st = put_in_order(w, edit, m);
    for (uint32_t i = 0; i < w->n_copies; i++) {
        w->writer[set_of(w, w->copies[i].target)] = ARENAUT_NONE;
    }
    return st;
}

static arenaut_status keep(void *context, arn_pass_edit *edit, uint32_t at) {
    (void)context;
    return arn_pass_edit_put(edit, &edit->program->ops[at]);
}

/* ---- the pass ---- */

/* The new values are where they belong. */
static arenaut_status settle(arenaut_program *p, uint32_t m, arenaut_error *err) {
    const arenaut_method *method = &p->methods[m];
    arenaut_binding *settled = arenaut_program_alloc(p, method->n_bindings * sizeof *settled);
    if (!settled) return arn_no_memory(err);
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        settled[i] = method->bindings[i];
        if (settled[i].kind == ARENAUT_BINDING_MUTATES) settled[i].kind = ARENAUT_BINDING_MUTATED;
    }
    return arn_program_set_bindings(p, m, settled, method->n_bindings, err);
}

static bool has_work(const arenaut_program *p) {
    for (uint32_t m = 0; m < p->n_methods; m++) {
        for (uint32_t i = 0; i < p->methods[m].n_bindings; i++) {
            if (p->methods[m].bindings[i].kind == ARENAUT_BINDING_MUTATES) return true;
        }
    }
    return false;
}

static arenaut_status write_back_run(arenaut_program *p, const arenaut_pass_options *options,
                                     arenaut_error *err) {
    (void)options;
    if (!has_work(p)) return ARENAUT_OK;
    writer w = {.dialect = arenaut_dialect_find(p->dialect), .n_tensors = p->n_tensors};
    w.aten = p->dialect && strcmp(p->dialect, "aten") == 0;
    arn_region region;
    arn_region_init(&region, arn_program_allocator(p));
    uint32_t **const arrays[] = {&w.same, &w.shared, &w.saved, &w.writer, &w.readers};
    arenaut_status st = ARENAUT_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && st == ARENAUT_OK; i++) {
        *arrays[i] = arn_region_allocate(&region, p->n_tensors, sizeof **arrays[i]);
        if (!*arrays[i]) st = arn_no_memory(err);
    }
    if (st == ARENAUT_OK) {
        find_sets(&w, p);
        st = arn_pass_edit_ops(p, keep, leave, &w, err);
    }
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) {
        if (p->methods[m].n_bindings > 0) st = settle(p, m, err);
    }
    ARN_RELEASE(arn_program_allocator(p), w.copies, w.ready);
    arn_region_free(&region);
    return st;
}

extern const arenaut_pass arn_pass_write_back;
const arenaut_pass arn_pass_write_back = {
    .name = "write-back",
    .summary = "copies new values of states and inputs into them at the end of a method",
    .run = write_back_run,
};
