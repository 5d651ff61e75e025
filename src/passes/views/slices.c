/* slices: joins in place: a tensor that is only concatenated is written at its place in the whole
 * from the start, so that the join copies nothing. That is possible where the slices of the whole
 * are stretches of its memory: along the outermost dimension that is longer than 1.
 *
 * Not a default: kernels must accept results that begin within a larger buffer, at no more
 * than the alignment of an element, and the whole is alive as soon as its first slice is. */
#include <arenaut/pass.h>

#include "analysis/aliases.h"
#include "analysis/def_use.h"
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/program.h"
#include "ir/store.h"
#include "ops/ops.h"

/* Whether the tensor differs from the whole in dimension `axis` only. */
static bool is_slice(const arenaut_tensor *part, const arenaut_tensor *whole, uint32_t axis) {
    if (part->rank != whole->rank || part->dtype != whole->dtype || part->strides) return false;
    for (uint32_t i = 0; i < part->rank; i++) {
        if (i != axis && part->dims[i] != whole->dims[i]) return false;
    }
    return true;
}

/* Whether nothing keeps the tensor from lying in the memory of another one. */
static bool is_free(const arenaut_program *p, const arn_def_use *uses, uint32_t t,
                    uint32_t method) {
    const arenaut_tensor *tensor = &p->tensors[t];
    return tensor->view_of == ARENAUT_NONE && tensor->cls == ARENAUT_INTERMEDIATE &&
           tensor->method == method && !uses[t].kept && !uses[t].bound && !tensor->unsized &&
           !tensor->dynamic && !tensor->caller_owned;
}

typedef struct joins {
    arenaut_program *program;
    const arn_def_use *uses;
    const arn_def_use *writes; /* with updates, and without results that only name memory */
    const arn_def_use *memory; /* likewise, per storage */
    const uint8_t *chosen;     /* per tensor: its parts may be written in place; NULL: all may */
    bool *has_views;           /* other tensors that ops use are views of it */
    uint32_t *height; /* per tensor: how many joins deep it is made of parts; 0: no join makes it */
    uint32_t *ops;    /* the joins, in the order in which they are looked at */
    uint32_t n;
} joins;

static bool can_hold(const joins *j, const arenaut_op *op, uint64_t *bytes) {
    const arenaut_program *p = j->program;
    const uint32_t to = op->outputs[0];
    const arenaut_tensor *whole = &p->tensors[to];
    uint32_t axis = 0;
    while (axis < whole->rank && whole->dims[axis] == 1) axis++;
    if (axis == whole->rank || whole->strides || whole->dynamic || whole->unsized) return false;
    *bytes = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t == ARENAUT_NONE || !is_free(p, j->uses, t, op->method) || j->has_views[t])
            return false;
        const uint32_t writer = arn_only_def(&j->writes[t]);
        if (writer == ARENAUT_NONE || !is_slice(&p->tensors[t], whole, axis)) return false;
        if (p->ops[writer].kind != ARENAUT_OP_OUT) return false;
        for (uint32_t k = 0; k < i; k++) {
            if (op->inputs[k] == t) return false;
        }
        if (!arn_add(*bytes, p->tensors[t].bytes, bytes)) return false;
    }
    return *bytes == whole->bytes;
}

/* A whole that is written once more differs from its parts, so that no other op may read them. */
static bool are_unread(const joins *j, const arenaut_op *op) {
    bool unread = true;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        unread = unread && j->uses[op->inputs[i]].n_uses == 1;
    }
    return unread;
}

/* The whole may itself be a slice of another by now: names lead to the owner of the memory. */
static arenaut_status join(const joins *j, arenaut_op *op) {
    arenaut_program *p = j->program;
    uint64_t at = 0, bytes;
    enum { MOST_PARTS = 64 }; /* each is compared with all */
    if (op->kind != ARENAUT_OP_OUT || op->n_inputs < 2 || op->n_inputs > MOST_PARTS ||
        (j->chosen && !j->chosen[op->outputs[0]]) || !can_hold(j, op, &bytes)) {
        return ARENAUT_OK;
    }
    const uint32_t base = arenaut_program_storage(p, op->outputs[0], &at);
    if (j->memory[base].first_def != j->memory[base].last_def && !are_unread(j, op))
        return ARENAUT_OK;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        arenaut_tensor *part = &p->tensors[op->inputs[i]];
        part->view_of = base;
        part->view_offset = at;
        at += part->bytes;
    }
    j->has_views[base] = true;
    op->kind = ARENAUT_OP_VIEW;
    return ARENAUT_OK;
}

/* Reads by dropped ops alone, such as assertions, are no reason to leave its memory as it is. */
static bool is_used(const joins *j, uint32_t t) {
    const arn_def_use *use = &j->uses[t];
    return use->n_uses > 0 || use->kept || use->bound || j->writes[t].first_def != ARENAUT_NONE;
}

static void find_views(const joins *j) {
    const arenaut_program *p = j->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const uint32_t whole = p->tensors[t].view_of;
        if (whole != ARENAUT_NONE && is_used(j, t)) j->has_views[whole] = true;
    }
}

/* Unused views move along with their bases. */
static void move_views(arenaut_program *p) {
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        arenaut_tensor *view = &p->tensors[t];
        if (view->view_of == ARENAUT_NONE) continue;
        const arenaut_tensor *whole = &p->tensors[view->view_of];
        if (whole->view_of == ARENAUT_NONE) continue;
        view->view_offset += whole->view_offset;
        view->view_of = whole->view_of;
    }
}

static bool comes_first(const void *context, uint32_t a, uint32_t b) {
    const joins *j = context;
    const uint32_t x = j->program->ops[a].outputs[0], y = j->program->ops[b].outputs[0];
    return j->height[x] != j->height[y] ? j->height[x] > j->height[y] : x > y;
}

/* The highest first, so that a whole that becomes a slice itself is known to be one; the host of a
 * slice does not depend on the schedule. */
static void list_joins(joins *j, uint32_t *scratch) {
    const arenaut_program *p = j->program;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (!arn_op_is_join(op->name) || op->n_outputs != 1 || op->outputs[0] == ARENAUT_NONE)
            continue;
        uint32_t most = 0;
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            const uint32_t t = op->inputs[k];
            if (t != ARENAUT_NONE && j->height[t] > most) most = j->height[t];
        }
        j->height[op->outputs[0]] = most + 1;
        j->ops[j->n++] = i;
    }
    arn_sort_ids(j->ops, j->n, comes_first, j, scratch);
}

static void choose(const arenaut_pass_options *options, uint32_t n_tensors, uint8_t *chosen) {
    for (size_t i = 0; i < options->n_joins; i++) {
        if (options->joins[i] < n_tensors) chosen[options->joins[i]] = 1;
    }
}

static arenaut_status slices_run(arenaut_program *p, const arenaut_pass_options *options,
                                 arenaut_error *err) {
    const unsigned writes = ARN_TOUCHING | ARN_NO_NAMES | ARN_UPDATES;
    arn_region region;
    arn_region_init(&region, arn_program_allocator(p));
    uint8_t *chosen = NULL;
    joins j = {.program = p};
    const uint32_t *storage_of = arn_storages_find(p, &region);
    j.uses = arn_def_use_find(p, NULL, 0, &region);
    j.writes = arn_def_use_find(p, NULL, writes, &region);
    j.memory = storage_of ? arn_def_use_find(p, storage_of, writes, &region) : NULL;
    const bool room =
        j.uses && j.writes && j.memory &&
        ARN_REGION_ARRAYS(&region, ARN_ARRAY(chosen, p->n_tensors),
                          ARN_ARRAY(j.has_views, p->n_tensors), ARN_ARRAY(j.height, p->n_tensors),
                          ARN_ARRAY(j.ops, 2 * (size_t)p->n_ops));
    arenaut_status st = room ? ARENAUT_OK : arn_no_memory(err);
    if (room) {
        if (options->only_these_joins) j.chosen = chosen;
        choose(options, p->n_tensors, chosen);
        find_views(&j);
        list_joins(&j, j.ops + p->n_ops);
    }
    for (uint32_t i = 0; i < j.n && st == ARENAUT_OK; i++) st = join(&j, &p->ops[j.ops[i]]);
    if (st == ARENAUT_OK) move_views(p);
    arn_region_free(&region);
    return st;
}

extern const arenaut_pass arn_pass_slices;
const arenaut_pass arn_pass_slices = {
    .name = "slices",
    .summary = "writes operands of a join at their place in the whole, so that it copies nothing",
    .run = slices_run,
};
