/* Holds a reordered program against the one before. Both are run, with nothing but counts: how
 * often each storage has been written, and each tensor been given its name. If every op finds the
 * same counts in both, it reads what it read before. What may do more than compute its results
 * keeps its place among its like. Shares no code with what reorders. */
#include "check/check_reorder.h"

#include <string.h>

#include "check/finding.h"
#include "core/memory.h"

typedef struct reorder_check {
    const arenaut_program *before, *after;
    const arenaut_rewrite *rewrite;
    arn_region region;
    uint32_t *storage; /* per tensor of the program before: whose memory it is */
    uint32_t *writes;  /* per storage, one more for what methods share */
    uint32_t *names;   /* per tensor: how often it was made */
    uint32_t *found;   /* per argument of the ops before: two counts */
    size_t *first;     /* per op before: of its counts */
    uint32_t op;       /* of `after`, at work; NONE: none */
    arenaut_finding *finding;
    arenaut_error *err;
} reorder_check;

static arenaut_status reject(reorder_check *c, const char *why) {
    const char *name = c->op == ARENAUT_NONE ? NULL : c->after->ops[c->op].name;
    c->finding->rule = ARENAUT_RULE_REWRITE;
    c->finding->op = c->op;
    return arn_check_reject(c->finding, c->err, "%s%s%s: %s", name ? "op '" : "", name ? name : "",
                            name ? "'" : "the reordered program", why);
}

/* ---- the same parts ---- */

/* A file in another order may number its tensors anew; origins say which is which. */
static uint32_t before_id(const reorder_check *c, uint32_t tensor) {
    return tensor == ARENAUT_NONE ? tensor : c->rewrite->tensors[tensor].tensor;
}

static bool same_tensors(const reorder_check *c, const uint32_t *old, uint32_t n_old,
                         const uint32_t *new, uint32_t n_new) {
    bool same = n_old == n_new;
    for (uint32_t i = 0; same && i < n_old; i++) same = old[i] == before_id(c, new[i]);
    return same;
}

static bool same_ids(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b) {
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}

static bool same_text(const char *a, const char *b) {
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool same_attributes(const arenaut_op *a, const arenaut_op *b) {
    if (a->n_attributes != b->n_attributes) return false;
    for (uint32_t i = 0; i < a->n_attributes; i++) {
        const arenaut_attribute *x = &a->attributes[i], *y = &b->attributes[i];
        if (!same_text(x->name, y->name) || !same_text(x->text, y->text) ||
            x->n_numbers != y->n_numbers) {
            return false;
        }
        const size_t size = x->n_numbers * sizeof *x->numbers;
        if (size > 0 && memcmp(x->numbers, y->numbers, size) != 0) return false;
    }
    return true;
}

static bool same_op(const reorder_check *c, const arenaut_op *old, const arenaut_op *new) {
    return same_text(old->name, new->name) && old->kind == new->kind &&
           old->target == new->target &&
           same_tensors(c, old->inputs, old->n_inputs, new->inputs, new->n_inputs) &&
           same_tensors(c, old->outputs, old->n_outputs, new->outputs, new->n_outputs) &&
           same_ids(old->calls, old->n_calls, new->calls, new->n_calls) &&
           same_attributes(old, new);
}

/* Whether an op states to run after the same ones; a valid program has them in front of it. */
static bool same_after(const reorder_check *c, const arenaut_op *old, const arenaut_op *new) {
    bool same = old->n_after == new->n_after;
    for (uint32_t i = 0; same && i < old->n_after; i++) {
        same = old->after[i] == c->rewrite->ops[new->after[i]];
    }
    return same;
}

/* What no op makes and no input brings is known by its name alone, unless it has the number that
 * it had. */
static bool same_tensor(const reorder_check *c, const arenaut_tensor *old,
                        const arenaut_tensor *new, bool renumbered) {
    const bool held = old->cls == ARENAUT_CONSTANT || old->cls == ARENAUT_STATE;
    if (renumbered && held && !old->name) return false;
    return old->dtype == new->dtype && old->bytes == new->bytes && old->cls == new->cls &&
           old->view_of == before_id(c, new->view_of) && old->view_offset == new->view_offset &&
           same_text(old->name, new->name) && same_text(old->qualified_name, new->qualified_name) &&
           old->rank == new->rank &&
           (old->rank == 0 || memcmp(old->dims, new->dims, old->rank * sizeof *old->dims) == 0);
}

/* `seen`: per tensor of the program before. */
static arenaut_status check_tensors(reorder_check *c, uint32_t *seen) {
    const uint32_t n = c->before->n_tensors;
    memset(seen, 0, n * sizeof *seen);
    for (uint32_t t = 0; t < n; t++) {
        const arenaut_origin *origin = &c->rewrite->tensors[t];
        if (!origin->same || origin->tensor >= n || seen[origin->tensor]++) {
            return reject(c, "it has other tensors");
        }
    }
    for (uint32_t t = 0; t < n; t++) {
        const uint32_t old = c->rewrite->tensors[t].tensor;
        if (!same_tensor(c, &c->before->tensors[old], &c->after->tensors[t], old != t)) {
            return reject(c, "a tensor is not the one that it is said to be");
        }
    }
    return ARENAUT_OK;
}

static bool same_bindings(const reorder_check *c, const arenaut_method *old,
                          const arenaut_method *new) {
    bool same = old->n_bindings == new->n_bindings;
    for (uint32_t i = 0; same && i < old->n_bindings; i++) {
        const arenaut_binding *a = &old->bindings[i], *b = &new->bindings[i];
        same = a->kind == b->kind && a->value == before_id(c, b->value) &&
               a->target == before_id(c, b->target);
    }
    return same;
}

static arenaut_status check_method(reorder_check *c, uint32_t method) {
    const arenaut_method *old = &c->before->methods[method], *new = &c->after->methods[method];
    if (old->concurrent || new->concurrent || old->entry != new->entry ||
        !same_text(old->name, new->name) || old->n_ops != new->n_ops ||
        !same_tensors(c, old->inputs, old->n_inputs, new->inputs, new->n_inputs) ||
        !same_tensors(c, old->outputs, old->n_outputs, new->outputs, new->n_outputs)) {
        return reject(c, "it has other inputs or outputs, or ops that run at the same time");
    }
    return same_bindings(c, old, new) ? ARENAUT_OK : reject(c, "its values are for something else");
}

static arenaut_status check_parts(reorder_check *c) {
    const uint32_t n = c->before->n_ops;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t m = 0; m < c->before->n_methods && st == ARENAUT_OK; m++) st = check_method(c, m);
    if (st != ARENAUT_OK) return st;
    for (c->op = 0; c->op < n; c->op++) {
        const uint32_t old_op = c->rewrite->ops[c->op];
        if (old_op >= n || !same_op(c, &c->before->ops[old_op], &c->after->ops[c->op])) {
            return reject(c, "it is not the op that it is said to be");
        }
        if (!same_after(c, &c->before->ops[old_op], &c->after->ops[c->op])) {
            return reject(c, "it runs after others than before");
        }
        if (c->after->ops[c->op].n_calls > 0) return reject(c, "it calls a method");
    }
    return ARENAUT_OK;
}

/* ---- what ops find ---- */

static uint32_t storage_of(const reorder_check *c, uint32_t tensor) { return c->storage[tensor]; }

/* A view may name its operand's memory without a word in the tensor itself. */
static void find_storages(reorder_check *c) {
    for (uint32_t t = 0; t < c->before->n_tensors; t++) {
        const uint32_t s = arenaut_program_storage(c->before, t, NULL);
        c->storage[t] = c->before->tensors[s].qualified_name ? c->before->n_tensors : s;
    }
    for (uint32_t i = 0; i < c->before->n_ops; i++) {
        const arenaut_op *op = &c->before->ops[i];
        if (op->kind != ARENAUT_OP_VIEW || op->n_inputs == 0 || op->inputs[0] == ARENAUT_NONE) {
            continue;
        }
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const uint32_t t = op->outputs[k];
            if (t == ARENAUT_NONE || storage_of(c, t) != t) continue;
            c->storage[t] = storage_of(c, op->inputs[0]);
        }
    }
}

static bool only_names(const reorder_check *c, const arenaut_op *op, uint32_t tensor) {
    bool named = false;
    for (uint32_t i = 0; i < op->n_inputs && op->kind == ARENAUT_OP_VIEW; i++) {
        const uint32_t input = op->inputs[i];
        named = named || (input != ARENAUT_NONE && storage_of(c, input) == storage_of(c, tensor));
    }
    return named;
}

/* Whether an op finds the counts in its arguments that are noted in `found`; or notes them. */
static bool visit(const reorder_check *c, const arenaut_op *op, bool notes, uint32_t *found) {
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const bool reads = i < op->n_inputs;
        const uint32_t t = reads ? op->inputs[i] : op->outputs[i - op->n_inputs];
        if (t == ARENAUT_NONE) continue;
        const uint32_t writes = c->writes[storage_of(c, t)], names = c->names[t];
        uint32_t *counts = found + 2 * (size_t)i;
        if (notes) {
            counts[0] = writes;
            counts[1] = names;
        } else if (counts[0] != writes || counts[1] != names) {
            return false;
        }
    }
    return true;
}

/* A kernel of a library that is not known may write what it is given to read. */
static bool is_foreign_name(const arenaut_program *p, const char *name) {
    const char *end = strstr(name, "::");
    const size_t length = end ? (size_t)(end - name) : 0;
    static const char *const known[] = {"aten", "dim_order_ops", "executorch_prim",
                                        "quantized_decomposed"};
    if (p->dialect || !end) return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i]) == length && strncmp(name, known[i], length) == 0) return false;
    }
    return true;
}

/* Counts what an op writes. */
static void count(reorder_check *c, const arenaut_op *op) {
    const bool unknown = op->kind == ARENAUT_OP_DELEGATE ||
                         (op->name && is_foreign_name(c->before, op->name)); /* writes anywhere */
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t == ARENAUT_NONE || (op->kind != ARENAUT_OP_IN_PLACE && !unknown)) continue;
        if (unknown && c->before->tensors[t].cls == ARENAUT_CONSTANT) continue;
        c->writes[storage_of(c, t)]++;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const uint32_t t = op->outputs[i];
        if (t == ARENAUT_NONE) continue;
        c->names[t]++;
        if (!only_names(c, op, t)) c->writes[storage_of(c, t)]++;
    }
}

static void start(reorder_check *c) {
    memset(c->writes, 0, ((size_t)c->before->n_tensors + 1) * sizeof *c->writes);
    memset(c->names, 0, c->before->n_tensors * sizeof *c->names);
}

/* ---- what may do more ---- */

static bool contains(const char *name, const char *lower) {
    const size_t n = strlen(lower);
    for (; *name; name++) {
        size_t i = 0;
        while (i < n && name[i] && ((unsigned char)name[i] | 0x20) == (unsigned char)lower[i]) i++;
        if (i == n) return true;
    }
    return false;
}

static bool is_plain_name(const arenaut_program *p, const char *name) {
    static const char *const wary[] = {
        "rand",        "multinomial", "dropout", "bernoulli", "aten.normal", "aten::normal",
        "log_normal",  "uniform",     "poisson", "cauchy",    "geometric",   "binomial",
        "exponential", "hashtable",   "custom",  "print",     "assert"};
    const char *capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    for (size_t i = 0; i < sizeof wary / sizeof *wary; i++) {
        if (contains(name, wary[i])) return false;
    }
    return p->dialect || strspn(name, capitals) == strlen(name) ||
           (strstr(name, "::") && !is_foreign_name(p, name));
}

static bool may_do_more(const arenaut_program *p, const arenaut_op *op) {
    if (!op->name || !is_plain_name(p, op->name)) return true;
    if (op->kind == ARENAUT_OP_DELEGATE || op->n_outputs == 0) return true;
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const uint32_t t = i < op->n_inputs ? op->inputs[i] : op->outputs[i - op->n_inputs];
        if (t == ARENAUT_NONE) continue;
        const arenaut_dtype dtype = p->tensors[t].dtype;
        if (dtype == ARENAUT_DTYPE_RESOURCE || dtype == ARENAUT_DTYPE_VARIANT) return true;
    }
    return false;
}

static arenaut_status follow(reorder_check *c) {
    uint32_t last = 0;
    find_storages(c);
    start(c);
    for (uint32_t i = 0; i < c->before->n_ops; i++) {
        visit(c, &c->before->ops[i], true, c->found + 2 * c->first[i]);
        count(c, &c->before->ops[i]);
    }
    start(c);
    for (c->op = 0; c->op < c->after->n_ops; c->op++) {
        const uint32_t old = c->rewrite->ops[c->op];
        if (!visit(c, &c->before->ops[old], false, c->found + 2 * c->first[old])) {
            return reject(c, "it reads or overwrites what it did not before");
        }
        count(c, &c->before->ops[old]);
        if (!may_do_more(c->before, &c->before->ops[old])) continue;
        if (old < last) return reject(c, "it may do more than compute, and runs in another order");
        last = old;
    }
    return ARENAUT_OK;
}

/* Every op once: what runs twice writes twice, but ops may have no outputs. */
static arenaut_status check_once(reorder_check *c, uint32_t *seen) {
    memset(seen, 0, c->before->n_ops * sizeof *seen);
    for (c->op = 0; c->op < c->after->n_ops; c->op++) {
        if (seen[c->rewrite->ops[c->op]]++) return reject(c, "it runs twice");
    }
    c->op = ARENAUT_NONE;
    return ARENAUT_OK;
}

/* What everything else looks things up by; all ops are of one method. */
static bool same_counts(const reorder_check *c) {
    const arenaut_program *old = c->before, *new = c->after;
    bool single = false;
    for (uint32_t m = 0; m < old->n_methods; m++) {
        single = single || old->methods[m].n_ops == old->n_ops;
    }
    return single && old->n_methods == new->n_methods && new->n_ops == old->n_ops &&
           c->rewrite->n_ops == old->n_ops && new->n_tensors == old->n_tensors &&
           c->rewrite->n_tensors == old->n_tensors;
}

static bool allocate(reorder_check *c) {
    const uint32_t n_tensors = c->before->n_tensors, n_ops = c->before->n_ops;
    size_t arguments = 0;
    for (uint32_t i = 0; i < n_ops; i++) {
        arguments += (size_t)c->before->ops[i].n_inputs + c->before->ops[i].n_outputs;
    }
    c->first = arn_region_allocate(&c->region, n_ops, sizeof *c->first);
    c->storage = arn_region_allocate(&c->region, n_tensors, sizeof *c->storage);
    c->writes = arn_region_allocate(&c->region, (size_t)n_tensors + 1, sizeof *c->writes);
    c->names = arn_region_allocate(&c->region, n_tensors, sizeof *c->names);
    c->found = arn_region_allocate(&c->region, arguments, 2 * sizeof *c->found);
    if (!c->first || !c->storage || !c->writes || !c->names || !c->found) return false;
    arguments = 0;
    for (uint32_t i = 0; i < n_ops; i++) {
        c->first[i] = arguments;
        arguments += (size_t)c->before->ops[i].n_inputs + c->before->ops[i].n_outputs;
    }
    return true;
}

static arenaut_status check(reorder_check *c) {
    const uint32_t n =
        c->before->n_ops > c->before->n_tensors ? c->before->n_ops : c->before->n_tensors;
    if (!same_counts(c)) return reject(c, "it has other methods, or more than one has ops");
    uint32_t *seen = arn_region_allocate(&c->region, n, sizeof *seen);
    if (!seen || !allocate(c)) return arn_no_memory(c->err);
    arenaut_status st = check_tensors(c, seen);
    if (st == ARENAUT_OK) st = check_parts(c);
    if (st == ARENAUT_OK) st = check_once(c, seen);
    return st == ARENAUT_OK ? follow(c) : st;
}

arenaut_status arn_check_reorder(const arenaut_program *before, const arenaut_rewrite *rewrite,
                                 const arenaut_allocator *allocator, arenaut_finding *finding,
                                 arenaut_error *err) {
    reorder_check c = {.before = before,
                       .after = rewrite->program,
                       .rewrite = rewrite,
                       .op = ARENAUT_NONE,
                       .finding = finding,
                       .err = err};
    arn_region_init(&c.region, allocator);
    const arenaut_status st = check(&c);
    arn_region_free(&c.region);
    return st;
}
