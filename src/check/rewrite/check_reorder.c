/* Check that a program with reordered and rematerialized ops computes the same as before. Both
 * programs are executed symbolically on version counts: how often each cell of each storage has
 * been written, and each tensor defined. If every op finds the same versions in both, it reads the
 * same values. A copy of a storage has its own versions, which begin at those of the storage: after
 * the same writes it has the same content. Each op runs once to define its results; rematerialized
 * ops define copies only. Ops with side effects run once, in the same sequence. Methods differ only
 * in the sequence of their ops, and the effects of a call are those of its methods. A view may have
 * become a copy if its memory is not written later: it then counts as a copy before, too. Shares no
 * code with the rewrites. */
#include "check/rewrite/check_reorder.h"

#include <string.h>

#include "check/finding.h"
#include "check/updates.h"
#include "core/memory.h"
#include "ir/program.h"

typedef struct reorder_check {
    const arenaut_program *before, *after;
    const arenaut_rewrite *rewrite;
    arn_region region;
    arn_reorder_names were, are; /* of the program before, and of `after` */
    arn_reorder_cells cells;     /* of the program before */
    size_t
        *base; /* per storage of the present program, one more for shared state: its first cell */
    uint32_t *writes; /* per cell */
    uint32_t *names;  /* per tensor: its definitions so far */
    uint32_t
        *found; /* per argument of the ops before: the versions of its cells, and its definitions */
    size_t *first;    /* per op before: the start of its versions; one more for final reads */
    uint32_t *ends;   /* tensors read at the end */
    uint8_t *effects; /* per method: arn_reorder_find_effects */
    bool *moved;      /* per storage: moves give it other aliases */
    bool *stays;      /* per op before: no op may cross it */
    bool *copied;     /* likewise: it was a view, and is a copy */
    bool *made_apart; /* per tensor before: defined by such an op */
    uint32_t op;      /* of `after`, the present one; NONE: none */
    arenaut_finding *finding;
    arenaut_error *err;
} reorder_check;

static arenaut_status reject(reorder_check *c, const char *why) {
    const char *name = c->op == ARENAUT_NONE ? NULL : c->after->ops[c->op].name;
    c->finding->rule = ARENAUT_RULE_REWRITE;
    c->finding->op = c->op;
    return arn_check_reject(c->finding, c->err, "%s%s%s: %s", name ? "op '" : "", name ? name : "",
                            name ? "'" : "the rewritten program", why);
}

/* ---- correspondence ---- */

/* A reordered file may number its tensors anew; origins map them to the old ones, or to the
 * originals of copies. */
static uint32_t before_id(const reorder_check *c, uint32_t tensor) {
    return tensor == ARENAUT_NONE ? tensor : c->rewrite->tensors[tensor].tensor;
}

static bool is_copy(const reorder_check *c, uint32_t tensor) {
    return !c->rewrite->tensors[tensor].same;
}

/* Whether all of these tensors are copies, or none is. */
static bool all_are(const reorder_check *c, bool copies, const uint32_t *tensors, uint32_t n) {
    bool all = true;
    for (uint32_t i = 0; all && i < n; i++) {
        all = tensors[i] == ARENAUT_NONE || is_copy(c, tensors[i]) == copies;
    }
    return all;
}

static bool same_tensors(const reorder_check *c, const uint32_t *old, uint32_t n_old,
                         const uint32_t *new, uint32_t n_new) {
    bool same = n_old == n_new;
    for (uint32_t i = 0; same && i < n_old; i++) same = old[i] == before_id(c, new[i]);
    return same;
}

static bool same_attributes(const arenaut_op *a, const arenaut_op *b) {
    bool same = a->n_attributes == b->n_attributes;
    for (uint32_t i = 0; same && i < a->n_attributes; i++) {
        same = arn_same_attribute(&a->attributes[i], &b->attributes[i]);
    }
    return same;
}

static bool same_op(const reorder_check *c, const arenaut_op *old, const arenaut_op *new) {
    const bool copied = c->copied[old - c->before->ops];
    return (copied ? arn_reorder_is_copy_of(old, new) : arn_same_text(old->name, new->name)) &&
           old->kind == new->kind && old->target == new->target &&
           same_tensors(c, old->inputs, old->n_inputs, new->inputs, new->n_inputs) &&
           same_tensors(c, old->outputs, old->n_outputs, new->outputs, new->n_outputs) &&
           arn_same_ids(old->calls, old->n_calls, new->calls, new->n_calls) &&
           same_attributes(old, new);
}

/* Whether an op defines original results, not copies. */
static bool is_first_run(const reorder_check *c, const arenaut_op *new) {
    return all_are(c, false, new->outputs, new->n_outputs);
}

/* Whether an op states the same control dependences; in a valid program those ops are before it. */
static bool same_after(const reorder_check *c, const arenaut_op *old, const arenaut_op *new) {
    bool same = old->n_after == new->n_after;
    const uint32_t first = c->before->methods[old->method].first_op;
    for (uint32_t i = 0; same && i < old->n_after; i++) {
        const uint32_t after = first + new->after[i];
        same = first + old->after[i] == c->rewrite->ops[after] &&
               is_first_run(c, &c->after->ops[after]);
    }
    return same;
}

static bool same_layout(const reorder_check *c, const arenaut_tensor *old,
                        const arenaut_tensor *new) {
    if (c->made_apart[old - c->before->tensors]) return arn_reorder_is_dense_copy(old, new);
    return old->dtype == new->dtype && old->bytes == new->bytes &&
           old->view_of == before_id(c, new->view_of) && old->view_offset == new->view_offset &&
           old->rank == new->rank &&
           (old->rank == 0 || memcmp(old->dims, new->dims, old->rank * sizeof *old->dims) == 0);
}

/* Constants and state with a new number are identified by name. */
static bool same_tensor(const reorder_check *c, const arenaut_tensor *old,
                        const arenaut_tensor *new, bool renumbered) {
    const bool held = old->cls == ARENAUT_CONSTANT || old->cls == ARENAUT_STATE;
    if (renumbered && held && !old->name) return false;
    return old->cls == new->cls && arn_same_text(old->name, new->name) &&
           arn_same_text(old->qualified_name, new->qualified_name) && same_layout(c, old, new);
}

/* The source of a copy must be defined by ops: it has no content before. */
static bool may_be_copy(const reorder_check *c, const arenaut_tensor *old,
                        const arenaut_tensor *new) {
    const bool made = old->cls == ARENAUT_INTERMEDIATE || old->cls == ARENAUT_OUTPUT;
    const bool strided = (old->strides || new->strides) && !c->made_apart[old - c->before->tensors];
    return made && new->cls == ARENAUT_INTERMEDIATE && !old->qualified_name &&
           !new->qualified_name && !old->caller_owned && !new->caller_owned &&
           old->lanes == new->lanes && old->device.type == new->device.type &&
           old->device.index == new->device.index && same_layout(c, old, new) &&
           (!strided || old->rank == 0 ||
            (old->strides && new->strides &&
             memcmp(old->strides, new->strides, old->rank * sizeof *old->strides) == 0));
}

/* `seen`: per tensor of the program before. */
static arenaut_status check_origins(reorder_check *c, uint32_t *seen) {
    const uint32_t n = c->before->n_tensors;
    uint32_t left = n;
    memset(seen, 0, n * sizeof *seen);
    for (uint32_t t = 0; t < c->after->n_tensors; t++) {
        const arenaut_origin *origin = &c->rewrite->tensors[t];
        if (origin->tensor >= n || (origin->same && seen[origin->tensor]++)) {
            return reject(c, "it has other tensors");
        }
        left -= origin->same;
    }
    return left == 0 ? ARENAUT_OK : reject(c, "a tensor of the program before is missing");
}

static arenaut_status check_tensors(reorder_check *c, uint32_t *seen) {
    arenaut_status st = check_origins(c, seen);
    if (st != ARENAUT_OK) return st;
    memset(seen, 0, c->before->n_tensors * sizeof *seen);
    for (uint32_t m = 0; m < c->before->n_methods; m++) {
        const arenaut_method *method = &c->before->methods[m];
        for (uint32_t i = 0; i < method->n_inputs; i++) seen[method->inputs[i]] = 1;
    }
    for (uint32_t t = 0; t < c->after->n_tensors; t++) {
        const uint32_t old = c->rewrite->tensors[t].tensor;
        const arenaut_tensor *was = &c->before->tensors[old], *is = &c->after->tensors[t];
        if (is_copy(c, t) ? seen[old] || !may_be_copy(c, was, is)
                          : !same_tensor(c, was, is, old != t)) {
            return reject(c, "a tensor is not the one that it is claimed to be");
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
        !arn_same_text(old->name, new->name) ||
        (c->before->n_methods > 1 && old->n_ops != new->n_ops) || old->outer != new->outer ||
        !same_tensors(c, old->inputs, old->n_inputs, new->inputs, new->n_inputs) ||
        !same_tensors(c, old->outputs, old->n_outputs, new->outputs, new->n_outputs) ||
        !all_are(c, false, new->outputs, new->n_outputs)) {
        return reject(c, "it has other inputs or outputs, or concurrent ops");
    }
    return same_bindings(c, old, new) ? ARENAUT_OK : reject(c, "it has other bindings");
}

/* ---- ops ---- */

/* Rematerialized ops must be pure, and define copies of all of their results. */
static const char *check_repeat(const reorder_check *c, const arenaut_op *old,
                                const arenaut_op *new) {
    const bool computes = old->kind == ARENAUT_OP_OUT || old->kind == ARENAUT_OP_FUNCTIONAL ||
                          old->kind == ARENAUT_OP_VIEW;
    if (!computes || arn_reorder_may_do_more(c->before, old) ||
        arn_reorder_may_differ(c->before, old)) {
        return "it is rematerialized, and may have side effects";
    }
    if (!all_are(c, true, new->outputs, new->n_outputs)) {
        return "only some of its results are rematerialized";
    }
    return old->n_after > 0 || new->n_after > 0
               ? "it is rematerialized, and has control dependences"
               : NULL;
}

static const char *check_op(const reorder_check *c, const arenaut_op *old, const arenaut_op *new) {
    if (!same_op(c, old, new)) return "it is not the op that it is claimed to be";
    if (old->method != new->method) return "it is in another method";
    if (!is_first_run(c, new)) return check_repeat(c, old, new);
    return same_after(c, old, new) ? NULL : "it has other control dependences than before";
}

static arenaut_status check_parts(reorder_check *c) {
    const uint32_t n = c->before->n_ops;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t m = 0; m < c->before->n_methods && st == ARENAUT_OK; m++) st = check_method(c, m);
    if (st != ARENAUT_OK) return st;
    for (c->op = 0; c->op < c->after->n_ops; c->op++) {
        if (c->rewrite->ops[c->op] >= n) return reject(c, "it is not an op of the program before");
    }
    for (c->op = 0; c->op < c->after->n_ops; c->op++) {
        const uint32_t old = c->rewrite->ops[c->op];
        const char *why = check_op(c, &c->before->ops[old], &c->after->ops[c->op]);
        if (why) return reject(c, why);
    }
    return ARENAUT_OK;
}

/* ---- versions ---- */

static uint32_t storage_of(const reorder_check *c, const arenaut_program *p, uint32_t tensor) {
    return (p == c->before ? c->were : c->are).storage[tensor];
}

/* A view that became a copy counts as one before, too. */
static bool is_view(const reorder_check *c, const arenaut_program *p, uint32_t op) {
    return arn_reorder_is_view(p, &p->ops[op]) && !(p == c->before && c->copied[op]);
}

static bool only_names(const reorder_check *c, const arenaut_program *p, const arenaut_op *op,
                       uint32_t tensor) {
    const uint32_t storage = storage_of(c, p, tensor);
    bool named = false;
    const bool view = is_view(c, p, (uint32_t)(op - p->ops));
    for (uint32_t i = 0; i < op->n_inputs && view; i++) {
        const uint32_t input = op->inputs[i];
        named = named || (input != ARENAUT_NONE && storage_of(c, p, input) == storage);
    }
    return named;
}

/* The versions of the cells of a tensor. */
static uint32_t *writes_of(const reorder_check *c, const arenaut_program *p, uint32_t tensor,
                           uint32_t *n) {
    const uint32_t old = p == c->before ? tensor : before_id(c, tensor);
    *n = c->cells.n[old];
    return c->writes + c->base[storage_of(c, p, tensor)] + c->cells.first[old];
}

static void add_write(const reorder_check *c, const arenaut_program *p, uint32_t tensor) {
    uint32_t n, *writes = writes_of(c, p, tensor, &n);
    for (uint32_t i = 0; i < n; i++) writes[i]++;
}

/* Whether the op's arguments have the versions in `found`; or stores them. Pure views do not depend
 * on content. */
static bool visit(const reorder_check *c, const arenaut_program *p, const arenaut_op *op,
                  bool notes, uint32_t *found) {
    const bool only_name = arn_reorder_always_names(p, op);
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const uint32_t t = i < op->n_inputs ? op->inputs[i] : op->outputs[i - op->n_inputs];
        if (t == ARENAUT_NONE) continue;
        uint32_t n;
        const uint32_t *writes = writes_of(c, p, t, &n);
        if (notes) {
            memcpy(found, writes, n * sizeof *writes);
            found[n] = c->names[t];
        } else if ((!only_name && memcmp(found, writes, n * sizeof *writes) != 0) ||
                   found[n] != c->names[t]) {
            return false;
        }
        found += n + 1;
    }
    return true;
}

/* Counts the writes of an op. */
static void count(reorder_check *c, const arenaut_program *p, const arenaut_op *op) {
    const bool unknown = op->kind == ARENAUT_OP_DELEGATE || arn_reorder_is_foreign(p, op) ||
                         (arn_reorder_effects_of_calls(c->effects, op) &
                          ARN_REORDER_WRITES_OUT); /* writes anywhere */
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t == ARENAUT_NONE || (!unknown && !arn_updates_operand(op, i))) continue;
        if (unknown && p->tensors[t].cls == ARENAUT_CONSTANT) continue;
        add_write(c, p, t);
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const uint32_t t = op->outputs[i];
        if (t == ARENAUT_NONE) continue;
        c->names[t]++;
        if (!only_names(c, p, op, t)) add_write(c, p, t);
    }
}

/* A copy of a storage has as many cells. */
static void start(reorder_check *c, const arenaut_program *p) {
    size_t n = 0;
    for (uint32_t s = 0; s <= c->after->n_tensors; s++) {
        const bool one = s >= p->n_tensors;
        c->base[s] = n;
        n += one ? 1 : c->cells.width[p == c->before ? s : before_id(c, s)];
    }
    memset(c->writes, 0, n * sizeof *c->writes);
    memset(c->names, 0, c->after->n_tensors * sizeof *c->names);
}

/* Whether each tensor lies in its old storage, or in a copy of it. */
static bool keeps_storages(const reorder_check *c) {
    const uint32_t shared = c->after->n_tensors;
    bool keeps = true;
    for (uint32_t t = 0; keeps && t < c->after->n_tensors; t++) {
        const uint32_t was = c->were.storage[before_id(c, t)], is = c->are.storage[t];
        keeps = was == (is == shared ? shared : before_id(c, is));
    }
    return keeps;
}

/* Whether results of an op are aliases exactly if they were before. */
static bool aliases_alike(const reorder_check *c, const arenaut_op *old, const arenaut_op *new) {
    bool alike = true;
    for (uint32_t i = 0; alike && i < old->n_outputs; i++) {
        alike =
            old->outputs[i] == ARENAUT_NONE || only_names(c, c->before, old, old->outputs[i]) ==
                                                   only_names(c, c->after, new, new->outputs[i]);
    }
    return alike;
}

/* Final reads: results, and the tensors of bindings. */
static size_t count_ends(const arenaut_program *p) {
    size_t n = 0;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        n += p->methods[m].n_outputs + 2 * (size_t)p->methods[m].n_bindings;
    }
    return n;
}

/* A virtual last op for the final reads; its versions are the last of `found`. */
static arenaut_op reader_of_ends(reorder_check *c, const arenaut_program *p) {
    uint32_t n = 0;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        for (uint32_t i = 0; i < method->n_outputs; i++) c->ends[n++] = method->outputs[i];
        for (uint32_t i = 0; i < method->n_bindings; i++) {
            c->ends[n++] = method->bindings[i].value;
            c->ends[n++] = method->bindings[i].target;
        }
    }
    return (arenaut_op){.n_inputs = n, .inputs = c->ends};
}

static void mark_moved(reorder_check *c, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const uint32_t t = i < op->n_inputs ? op->inputs[i] : op->outputs[i - op->n_inputs];
        if (t != ARENAUT_NONE) c->moved[c->were.storage[t]] = true;
    }
}

static bool names_moved(const reorder_check *c, const arenaut_op *op) {
    bool any = false;
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const uint32_t t = i < op->n_inputs ? op->inputs[i] : op->outputs[i - op->n_inputs];
        any = any || (t != ARENAUT_NONE && c->moved[c->were.storage[t]]);
    }
    return any;
}

/* Jumps and their targets are positions in the sequence, and the meaning of a moved alias depends
 * on the path. */
static void find_what_stays(reorder_check *c) {
    const arenaut_program *p = c->before;
    memset(c->moved, 0, ((size_t)c->after->n_tensors + 1) * sizeof *c->moved);
    memset(c->stays, 0, p->n_ops * sizeof *c->stays);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (p->ops[i].kind == ARENAUT_OP_MOVE) mark_moved(c, &p->ops[i]);
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        const arenaut_method *m = &p->methods[op->method];
        const bool jumps = op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE;
        if (jumps && op->target < m->n_ops) c->stays[m->first_op + op->target] = true;
        c->stays[i] = c->stays[i] || jumps || op->kind == ARENAUT_OP_MOVE ||
                      op->kind == ARENAUT_OP_FREE || names_moved(c, op);
    }
}

static void follow_before(reorder_check *c) {
    const arenaut_program *p = c->before;
    const arenaut_op reader = reader_of_ends(c, p);
    find_what_stays(c);
    start(c, p);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        visit(c, p, &p->ops[i], true, c->found + c->first[i]);
        count(c, p, &p->ops[i]);
    }
    visit(c, p, &reader, true, c->found + c->first[p->n_ops]);
}

static arenaut_status follow_after(reorder_check *c) {
    const arenaut_program *p = c->after;
    const arenaut_op reader = reader_of_ends(c, p);
    uint32_t last = 0, end = 0; /* over the ops so far, by old number */
    start(c, p);
    for (c->op = 0; c->op < p->n_ops; c->op++) {
        const arenaut_op *new = &p->ops[c->op];
        const uint32_t old = c->rewrite->ops[c->op];
        if (!visit(c, p, new, false, c->found + c->first[old])) {
            return reject(c, "it reads or overwrites other values than before");
        }
        if (!aliases_alike(c, &c->before->ops[old], new)) {
            return reject(c, "its results lie in other memory");
        }
        count(c, p, new);
        const bool stays = c->stays[old] ||
                           (arn_reorder_effects_of_calls(c->effects, new) & ARN_REORDER_NAMES_MORE);
        if (stays && (old != c->op || end > old)) {
            return reject(
                c, "it jumps, or calls a method that accesses state, and other ops crossed it");
        }
        if (old >= end) end = old + 1;
        if (!arn_reorder_may_do_more(c->before, &c->before->ops[old])) continue;
        if (old < last) return reject(c, "it may have side effects, and runs in another sequence");
        last = old;
    }
    c->op = ARENAUT_NONE;
    return visit(c, p, &reader, false, c->found + c->first[c->before->n_ops])
               ? ARENAUT_OK
               : reject(c, "its results are other values than before");
}

/* Every original op runs once: a second run would write twice, but ops may have no outputs. */
static arenaut_status check_once(reorder_check *c, uint32_t *seen) {
    uint32_t left = c->before->n_ops;
    memset(seen, 0, c->before->n_ops * sizeof *seen);
    for (c->op = 0; c->op < c->after->n_ops; c->op++) {
        if (!is_first_run(c, &c->after->ops[c->op])) continue;
        if (seen[c->rewrite->ops[c->op]]++) return reject(c, "it runs twice");
        left--;
    }
    c->op = ARENAUT_NONE;
    return left == 0 ? ARENAUT_OK : reject(c, "an op is left out");
}

/* The sizes of all tables; with rematerialized ops there is a single method. */
static bool same_counts(const reorder_check *c) {
    const arenaut_program *old = c->before, *new = c->after;
    const bool again = new->n_ops > old->n_ops || new->n_tensors > old->n_tensors;
    return old->n_methods == new->n_methods && (!again || old->n_methods == 1) &&
           new->n_ops >= old->n_ops && new->n_tensors >= old->n_tensors &&
           c->rewrite->n_ops == new->n_ops && c->rewrite->n_tensors == new->n_tensors;
}

/* The number of versions stored for these tensors. */
static size_t count_noted(const reorder_check *c, const uint32_t *tensors, uint32_t n) {
    size_t noted = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] != ARENAUT_NONE) noted += (size_t)c->cells.n[tensors[i]] + 1;
    }
    return noted;
}

static bool allocate_counts(reorder_check *c) {
    const arenaut_program *p = c->before;
    const uint32_t n_tensors = c->after->n_tensors;
    size_t noted = 0, n_cells = 1;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        c->first[i] = noted;
        noted += count_noted(c, op->inputs, op->n_inputs);
        noted += count_noted(c, op->outputs, op->n_outputs);
    }
    const arenaut_op reader = reader_of_ends(c, p);
    c->first[p->n_ops] = noted;
    noted += count_noted(c, reader.inputs, reader.n_inputs);
    for (uint32_t t = 0; t < n_tensors; t++) n_cells += c->cells.width[before_id(c, t)];
    return ARN_REGION_ARRAYS(&c->region, ARN_ARRAY(c->writes, n_cells), ARN_ARRAY(c->found, noted));
}

static bool allocate(reorder_check *c) {
    const uint32_t n_tensors = c->after->n_tensors;
    if (!ARN_REGION_ARRAYS(
            &c->region, ARN_ARRAY(c->first, (size_t)c->before->n_ops + 1),
            ARN_ARRAY(c->base, (size_t)n_tensors + 1), ARN_ARRAY(c->names, n_tensors),
            ARN_ARRAY(c->ends, count_ends(c->before)), ARN_ARRAY(c->effects, c->before->n_methods),
            ARN_ARRAY(c->moved, (size_t)n_tensors + 1), ARN_ARRAY(c->stays, c->before->n_ops))) {
        return false;
    }
    return arn_reorder_names_find(c->before, c->copied, n_tensors, &c->region, &c->were) &&
           arn_reorder_names_find(c->after, NULL, n_tensors, &c->region, &c->are) &&
           arn_reorder_cells_find(c->before, &c->were, n_tensors, &c->region, &c->cells) &&
           allocate_counts(c);
}

/* The names of ops tell which views became copies; all else follows. */
static arenaut_status find_copied(reorder_check *c) {
    const arenaut_program *p = c->before;
    bool any = false, room = true;
    if (!ARN_REGION_ARRAYS(&c->region, ARN_ARRAY(c->copied, p->n_ops),
                           ARN_ARRAY(c->made_apart, p->n_tensors))) {
        return arn_no_memory(c->err);
    }
    for (uint32_t i = 0; i < c->after->n_ops; i++) {
        const uint32_t old = c->rewrite->ops[i];
        if (old >= p->n_ops || !arn_reorder_is_copy_of(&p->ops[old], &c->after->ops[i])) continue;
        any = c->copied[old] = true;
        for (uint32_t k = 0; k < p->ops[old].n_outputs; k++) {
            if (p->ops[old].outputs[k] != ARENAUT_NONE)
                c->made_apart[p->ops[old].outputs[k]] = true;
        }
    }
    const bool keep =
        !any || (p->n_methods == 1 && arn_reorder_copies_keep(p, c->copied, &c->region, &room));
    if (!room) return arn_no_memory(c->err);
    return keep ? ARENAUT_OK
                : reject(c, "the memory of a view that became a copy is written later");
}

static arenaut_status check(reorder_check *c) {
    const uint32_t n =
        c->before->n_ops > c->before->n_tensors ? c->before->n_ops : c->before->n_tensors;
    if (!same_counts(c)) return reject(c, "it has other methods, or rematerialized ops in several");
    arenaut_status made = find_copied(c);
    if (made != ARENAUT_OK) return made;
    uint32_t *seen = arn_region_allocate(&c->region, n, sizeof *seen);
    if (!seen) return arn_no_memory(c->err);
    arenaut_status st = check_tensors(c, seen);
    if (st == ARENAUT_OK) st = check_parts(c);
    if (st == ARENAUT_OK) st = check_once(c, seen);
    if (st != ARENAUT_OK) return st;
    if (!allocate(c)) return arn_no_memory(c->err);
    if (!keeps_storages(c)) return reject(c, "its tensors lie in other memory");
    arn_reorder_find_effects(c->before, c->effects);
    follow_before(c);
    return follow_after(c);
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
