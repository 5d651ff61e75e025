/* Merging of programs: tensors, symbols, expressions, methods and ops of each program go behind
 * those of the programs before, with their references renumbered. */

#include <stdio.h>
#include <string.h>

#include <arenaut/expr.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/expr.h"
#include "ir/merge.h"
#include "ir/program.h"
#include "ir/shared_state.h"
#include "ir/store.h"

typedef struct merger {
    const arenaut_program *const *programs;
    const char *const *names;
    size_t n;
    const arn_merge_options *options;
    arenaut_program *out;
    arn_region scratch;
    /* Of all the programs' tensors with a qualified name, in one list. */
    uint32_t *tensor, *program, *order, n_named;
    bool *shared; /* per entry of the list */
    bool *used;   /* per name to be shared */
    /* Of the program at work. */
    uint32_t *symbol, *expr, *list;
    uint32_t at; /* its number */
    uint32_t first_tensor, first_method;
    arenaut_error *err;
} merger;

/* ---- shared tensors ---- */

static const arenaut_tensor *named(const merger *m, uint32_t i) {
    return &m->programs[m->program[i]]->tensors[m->tensor[i]];
}

static bool name_before(const void *context, uint32_t a, uint32_t b) {
    return strcmp(named(context, a)->qualified_name, named(context, b)->qualified_name) < 0;
}

static bool list_named(merger *m) {
    uint64_t most = 0;
    for (size_t i = 0; i < m->n; i++) most += m->programs[i]->n_tensors;
    if (!ARN_REGION_ARRAYS(&m->scratch, ARN_ARRAY(m->tensor, most), ARN_ARRAY(m->program, most),
                           ARN_ARRAY(m->shared, most), ARN_ARRAY(m->order, 2 * (size_t)most),
                           ARN_ARRAY(m->used, m->options->n_share))) {
        return false;
    }
    for (uint32_t i = 0; i < m->n; i++) {
        for (uint32_t t = 0; t < m->programs[i]->n_tensors; t++) {
            if (!m->programs[i]->tensors[t].qualified_name) continue;
            m->tensor[m->n_named] = t;
            m->program[m->n_named] = i;
            m->order[m->n_named] = m->n_named;
            m->n_named++;
        }
    }
    arn_sort_ids(m->order, m->n_named, name_before, m, m->order + m->n_named);
    return true;
}

static bool is_wanted(const merger *m, const char *name) {
    if (!m->options->share) return true;
    for (size_t i = 0; i < m->options->n_share; i++) {
        if (strcmp(m->options->share[i], name) != 0) continue;
        m->used[i] = true;
        return true;
    }
    return false;
}

static arenaut_status compare(const merger *m, uint32_t i, uint32_t k) {
    const arenaut_tensor *a = named(m, i), *b = named(m, k);
    const arn_difference differs = arn_shared_state_compare(a, b);
    char in_a[ARN_DIFFERENCE_TEXT], in_b[ARN_DIFFERENCE_TEXT];
    if (differs == ARN_SAME) return ARENAUT_OK;
    return arn_fail(m->err, ARENAUT_BAD_INPUT, 0,
                    "'%.60s' is to be shared, but has %s in '%.60s' (%s) than in '%.60s' (%s)",
                    a->qualified_name, arn_shared_state_word(differs), m->names[m->program[k]],
                    arn_shared_state_tell(differs, b, in_b), m->names[m->program[i]],
                    arn_shared_state_tell(differs, a, in_a));
}

/* One run of entries of the same name. Weights that all of them only read stay outside of the
 * arena, whichever method has them. */
static arenaut_status share_run(const merger *m, uint32_t first, uint32_t end) {
    const uint32_t *order = m->order;
    bool several = false, varies = false;
    for (uint32_t i = first; i < end; i++) {
        several = several || m->program[order[i]] != m->program[order[first]];
        varies = varies || named(m, order[i])->cls != ARENAUT_CONSTANT;
    }
    if (!several || !is_wanted(m, named(m, order[first])->qualified_name)) return ARENAUT_OK;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = first; i < end && st == ARENAUT_OK; i++) {
        if (varies && i > first) st = compare(m, order[first], order[i]);
        m->shared[order[i]] = true;
    }
    return st;
}

static arenaut_status find_shared(const merger *m) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0, end; i < m->n_named && st == ARENAUT_OK; i = end) {
        end = i + 1;
        while (end < m->n_named && !name_before(m, m->order[i], m->order[end])) end++;
        st = share_run(m, i, end);
    }
    for (size_t i = 0; i < m->options->n_share && st == ARENAUT_OK; i++) {
        if (m->used[i]) continue;
        st = arn_fail(m->err, ARENAUT_BAD_ARGUMENT, 0,
                      "'%.80s' cannot be shared: fewer than two of the %zu programs have a buffer "
                      "of that name",
                      m->options->share[i], m->n);
    }
    return st;
}

/* ---- copying ---- */

/* "prefill/name"; NULL if there is no memory. */
static const char *prefixed(merger *m, const char *name, char between) {
    const char *front = m->names[m->at];
    const size_t length = strlen(front) + strlen(name) + 2;
    char *text = arn_region_allocate(&m->scratch, length, 1);
    if (text) snprintf(text, length, "%s%c%s", front, between, name);
    return text;
}

static bool is_symbol_elsewhere(const merger *m, const char *name) {
    for (size_t i = 0; i < m->n; i++) {
        if (i != m->at && arn_program_find_symbol(m->programs[i], name) != ARENAUT_NONE)
            return true;
    }
    return false;
}

/* Symbols of one name in two files are two sizes. */
static arenaut_status copy_symbols(merger *m, const arenaut_program *p) {
    arenaut_status st = ARENAUT_OK;
    m->symbol = arn_region_allocate(&m->scratch, p->n_symbols, sizeof *m->symbol);
    if (!m->symbol) return arn_no_memory(m->err);
    for (uint32_t s = 0; s < p->n_symbols && st == ARENAUT_OK; s++) {
        const arenaut_symbol *symbol = &p->symbols[s];
        const char *name = symbol->name;
        if (is_symbol_elsewhere(m, name)) name = prefixed(m, name, ':');
        if (!name) return arn_no_memory(m->err);
        st = arn_program_add_symbol(m->out, name, symbol->min, symbol->max, &m->symbol[s], m->err);
    }
    return st;
}

/* Parts come before their wholes. */
static arenaut_status copy_exprs(merger *m, const arenaut_program *p) {
    arenaut_status st = ARENAUT_OK;
    m->expr = arn_region_allocate(&m->scratch, p->n_exprs, sizeof *m->expr);
    if (!m->expr) return arn_no_memory(m->err);
    for (uint32_t e = 0; e < p->n_exprs && st == ARENAUT_OK; e++) {
        arenaut_expr expr = p->exprs[e];
        if (expr.kind == ARENAUT_EXPR_SYMBOL) {
            expr.a = m->symbol[expr.a];
        } else if (expr.kind != ARENAUT_EXPR_VALUE) {
            expr.a = m->expr[expr.a];
            expr.b = m->expr[expr.b];
        }
        st = arn_program_add_expr(m->out, &expr, &m->expr[e], m->err);
    }
    return st;
}

static uint32_t moved_by(uint32_t id, uint32_t delta) {
    return id == ARENAUT_NONE ? ARENAUT_NONE : id + delta;
}

/* Expressions of a tensor, as the program made has them. */
static arenaut_status renumbered(merger *m, const uint32_t **exprs, uint32_t rank) {
    if (!*exprs || rank == 0) return ARENAUT_OK;
    uint32_t *copy = arn_region_allocate(&m->scratch, rank, sizeof *copy);
    if (!copy) return arn_no_memory(m->err);
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t e = (*exprs)[i];
        copy[i] = e == ARENAUT_NONE ? e : m->expr[e];
    }
    *exprs = copy;
    return ARENAUT_OK;
}

/* `entry` counts the tensors with a qualified name, which come in the list's order. */
static arenaut_status copy_tensor(merger *m, const arenaut_tensor *from, uint32_t *entry) {
    arenaut_tensor copy = *from;
    if (from->qualified_name && !m->shared[(*entry)++]) {
        copy.qualified_name = prefixed(m, from->qualified_name, '/');
        if (!copy.qualified_name) return arn_no_memory(m->err);
    }
    arenaut_status st = renumbered(m, &copy.dim_exprs, copy.rank);
    if (st == ARENAUT_OK) st = renumbered(m, &copy.stride_exprs, copy.rank);
    if (st != ARENAUT_OK) return st;
    copy.method = moved_by(from->method, m->first_method);
    copy.view_of = moved_by(from->view_of, m->first_tensor);
    return arenaut_program_add_tensor(m->out, &copy, NULL, m->err);
}

/* A list of tensors or methods, moved; it lives until the next program is at work. */
static const uint32_t *moved(merger *m, const uint32_t *ids, uint32_t n, uint32_t delta,
                             arenaut_status *st) {
    uint32_t *list = arn_region_allocate(&m->scratch, n, sizeof *list);
    if (!list) {
        *st = arn_no_memory(m->err);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) list[i] = moved_by(ids[i], delta);
    return list;
}

static arenaut_status copy_op(merger *m, const arenaut_op *from) {
    arenaut_op copy = *from;
    arenaut_status st = ARENAUT_OK;
    copy.method += m->first_method;
    copy.inputs = moved(m, from->inputs, from->n_inputs, m->first_tensor, &st);
    copy.outputs = moved(m, from->outputs, from->n_outputs, m->first_tensor, &st);
    copy.scratch = moved(m, from->scratch, from->n_scratch, m->first_tensor, &st);
    copy.calls = moved(m, from->calls, from->n_calls, m->first_method, &st);
    return st == ARENAUT_OK ? arn_program_add_op(m->out, &copy, NULL, m->err) : st;
}

static arenaut_status copy_bindings(merger *m, const arenaut_method *from, uint32_t id) {
    if (from->n_bindings == 0) return ARENAUT_OK;
    arenaut_binding *list = arn_region_allocate(&m->scratch, from->n_bindings, sizeof *list);
    if (!list) return arn_no_memory(m->err);
    for (uint32_t i = 0; i < from->n_bindings; i++) {
        list[i] = from->bindings[i];
        list[i].value = moved_by(list[i].value, m->first_tensor);
        list[i].target = moved_by(list[i].target, m->first_tensor);
    }
    return arn_program_set_bindings(m->out, id, list, from->n_bindings, m->err);
}

static arenaut_status copy_method(merger *m, const arenaut_program *p, uint32_t method) {
    const arenaut_method *from = &p->methods[method];
    uint32_t id = 0;
    const char *name = prefixed(m, from->name ? from->name : "", '/');
    arenaut_status st = name ? ARENAUT_OK : arn_no_memory(m->err);
    if (st == ARENAUT_OK) st = arn_program_add_method(m->out, name, from->entry, &id, m->err);
    for (uint32_t i = 0; i < from->n_ops && st == ARENAUT_OK; i++) {
        st = copy_op(m, &p->ops[from->first_op + i]);
    }
    if (st != ARENAUT_OK) return st;
    m->out->methods[id].outer = moved_by(from->outer, m->first_method);
    m->out->methods[id].concurrent = from->concurrent;
    const uint32_t *inputs = moved(m, from->inputs, from->n_inputs, m->first_tensor, &st);
    const uint32_t *outputs = moved(m, from->outputs, from->n_outputs, m->first_tensor, &st);
    if (st == ARENAUT_OK) {
        st = arenaut_program_set_method_io(m->out, id, inputs, from->n_inputs, outputs,
                                           from->n_outputs, m->err);
    }
    if (st == ARENAUT_OK) {
        st =
            arn_program_set_given_pools(m->out, id, from->given_pools, from->n_given_pools, m->err);
    }
    return st == ARENAUT_OK ? copy_bindings(m, from, id) : st;
}

static arenaut_status copy_program(merger *m, uint32_t *entry) {
    const arenaut_program *p = m->programs[m->at];
    m->first_tensor = m->out->n_tensors;
    m->first_method = m->out->n_methods;
    arenaut_status st = copy_symbols(m, p);
    if (st == ARENAUT_OK) st = copy_exprs(m, p);
    for (uint32_t t = 0; t < p->n_tensors && st == ARENAUT_OK; t++) {
        st = copy_tensor(m, &p->tensors[t], entry);
    }
    for (uint32_t k = 0; k < p->n_methods && st == ARENAUT_OK; k++) st = copy_method(m, p, k);
    return st;
}

/* ---- the whole ---- */

static arenaut_status check_call(const merger *m) {
    if (m->n == 0) return arn_fail(m->err, ARENAUT_BAD_ARGUMENT, 0, "no programs to merge");
    for (size_t i = 1; i < m->n; i++) {
        if (!arn_same_text(m->programs[i]->dialect, m->programs[0]->dialect)) {
            return arn_fail(
                m->err, ARENAUT_BAD_ARGUMENT, 0,
                "'%.80s' and '%.80s' cannot be one program: they are of different kinds",
                m->names[0], m->names[i]);
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(m->names[i], m->names[k]) != 0) continue;
            return arn_fail(m->err, ARENAUT_BAD_ARGUMENT, 0,
                            "two programs are called '%.80s'; names must differ", m->names[i]);
        }
    }
    return ARENAUT_OK;
}

static arenaut_status merge(merger *m) {
    uint32_t entry = 0;
    const char *dialect = m->programs[0]->dialect;
    if (!list_named(m)) return arn_no_memory(m->err);
    arenaut_status st = find_shared(m);
    if (st == ARENAUT_OK && dialect) st = arn_program_set_dialect(m->out, dialect, m->err);
    for (m->at = 0; m->at < m->n && st == ARENAUT_OK; m->at++) st = copy_program(m, &entry);
    return st == ARENAUT_OK ? arn_program_validate(m->out, m->err) : st;
}

arenaut_status arn_program_merge(const arenaut_program *const *programs, const char *const *names,
                                 size_t n, const arn_merge_options *options,
                                 const arenaut_allocator *allocator, arenaut_program **out,
                                 arenaut_error *err) {
    const arn_merge_options all = {NULL, 0};
    merger m = {.programs = programs, .names = names, .n = n, .err = err};
    m.options = options ? options : &all;
    arenaut_status st = check_call(&m);
    if (st == ARENAUT_OK) st = arn_program_new(allocator, &m.out, err);
    if (st != ARENAUT_OK) return st;
    arn_region_init(&m.scratch, allocator);
    st = merge(&m);
    arn_region_free(&m.scratch);
    if (st == ARENAUT_OK) *out = m.out;
    else arn_program_free(m.out);
    return st;
}
