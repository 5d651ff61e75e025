/* The table of kernel sets, and the rules of one for an op (order of its walk, types), looked up
 * through its base sets: the first whose conditions hold. */
#include "kernels/kernel_set.h"

#include <string.h>

#include <arenaut/kernels.h>

#include "core/hash.h"
#include "core/table.h"
#include "ir/program.h"
#include "kernels/distance.h"
#include "kernels/op_facts.h"
#include "kernels/operand_counts.h"

const char *arenaut_kernel_order_name(arenaut_kernel_order order) {
    static const char *const names[] = {
#define XX(name, text) text,
        ARENAUT_KERNEL_ORDER_MAP(XX)
#undef XX
    };
    return (unsigned)order < ARENAUT_KERNEL_ORDER_COUNT ? names[order] : NULL;
}

bool arn_kernel_set_has_rules(const arenaut_kernel_set *set, const char *op) {
    for (const arenaut_kernel_rule *rule = set->rules; rule && rule->op; rule++) {
        if (strcmp(rule->op, op) == 0) return true;
    }
    return false;
}

const arenaut_in_place_rule *arenaut_kernel_in_place(const arenaut_kernel_set *set,
                                                     const char *op) {
    for (; set && op; set = arn_kernel_set_has_rules(set, op) ? NULL : set->base) {
        for (const arenaut_in_place_rule *rule = set->in_place; rule && rule->op; rule++) {
            if (strcmp(rule->op, op) == 0) return rule;
        }
    }
    return NULL;
}

const arenaut_scratch_rule *arenaut_kernel_scratch(const arenaut_kernel_set *set, const char *op) {
    for (; set && op; set = set->base) {
        for (const arenaut_scratch_rule *rule = set->scratch; rule && rule->op; rule++) {
            if (strcmp(rule->op, op) == 0) return rule;
        }
    }
    return NULL;
}

const arenaut_align_rule *arenaut_kernel_align(const arenaut_kernel_set *set, const char *op) {
    for (; set && op; set = set->base) {
        for (const arenaut_align_rule *rule = set->align; rule && rule->op; rule++) {
            if (strcmp(rule->op, op) == 0) return rule;
        }
    }
    return NULL;
}

bool arn_kernels_align(const arenaut_kernel_set *set) {
    for (; set; set = set->base) {
        if (set->align && set->align->op) return true;
    }
    return false;
}

static bool names_scratch(const arenaut_kernel_set *set, const char *op) {
    for (const arenaut_scratch_rule *rule = set->scratch; rule && rule->op; rule++) {
        if (strcmp(rule->op, op) == 0) return true;
    }
    return false;
}

bool arn_kernel_scratch_sizes(const arenaut_kernel_set *set, const arenaut_program *program,
                              const arenaut_op *op, arenaut_scratch_requests *requests) {
    while (set && op->name) {
        *requests = (arenaut_scratch_requests){0};
        if (set->scratch_sizes && set->scratch_sizes(program, op, requests)) return true;
        const bool its_own =
            arn_kernel_set_has_rules(set, op->name) || names_scratch(set, op->name);
        set = its_own ? NULL : set->base;
    }
    return false;
}

/* Conditions that came later count only where they are stated, so that a set that knows nothing of
 * them is the one that marks in older files speak of. */
static uint64_t hash_when(uint64_t hash, const arenaut_kernel_when *when) {
    hash = arn_hash_number(hash, when->types);
    hash = arn_hash_number(hash, when->pointwise);
    hash = arn_hash_number(hash, when->unit_stride);
    hash = arn_hash_number(hash, when->grouped);
    hash = arn_hash_number(hash, when->padded);
    hash = arn_hash_number(hash, when->min_in_channels);
    hash = arn_hash_number(hash, when->max_in_channels);
    hash = arn_hash_number(hash, when->min_out_channels);
    hash = arn_hash_number(hash, when->max_out_channels);
    if (when->one_row) hash = arn_hash_number(hash, when->one_row);
    return when->dilated ? arn_hash_number(hash, 8 + (uint64_t)when->dilated) : hash;
}

static uint64_t hash_rules(uint64_t hash, const arenaut_kernel_rule *rule) {
    for (; rule && rule->op; rule++) {
        hash = hash_when(arn_hash_text(hash, rule->op), &rule->when);
        hash = arn_hash_text(hash, arenaut_kernel_order_name(rule->order));
        hash = arn_hash_number(hash, rule->block);
        hash = arn_hash_number(hash, rule->measured);
    }
    return arn_hash_text(hash, "");
}

uint64_t arn_kernel_set_fingerprint(const arenaut_kernel_set *set) {
    uint64_t hash = ARN_HASH_START;
    for (; set; set = set->base) {
        hash = hash_rules(hash, set->rules);
        for (const arenaut_in_place_rule *rule = set->in_place; rule && rule->op; rule++) {
            hash = arn_hash_text(hash, rule->op);
            hash = arn_hash_number(hash, rule->input);
            hash = arn_hash_number(hash, rule->output);
            hash = arn_hash_number(hash, rule->any_shape);
        }
        hash = arn_hash_text(hash, "");
        for (const arenaut_scratch_rule *rule = set->scratch; rule && rule->op; rule++) {
            hash = arn_hash_text(hash, rule->op);
            hash = arn_hash_number(hash, rule->input);
            hash = arn_hash_number(hash, rule->types);
        }
        hash = arn_hash_text(hash, "");
        for (const arenaut_align_rule *rule = set->align; rule && rule->op; rule++) {
            hash = arn_hash_text(hash, rule->op);
            hash = arn_hash_number(hash, rule->align);
            hash = arn_hash_number(hash, rule->rounds);
        }
    }
    return hash;
}

/* Lookup of a kernel set's rule for an op: the first whose conditions hold, in the set itself or,
 * if it has none for such ops, in its base. */

/* Subjects of conditions; windows only if the op has some. */
typedef struct facts {
    const arenaut_tensor *operand, *result; /* NULL: none */
    bool has_windows;
    arn_windows windows;
} facts;

static facts facts_of(const arenaut_program *program, const arenaut_op *op) {
    facts f = {.operand = arn_op_input(program, op, arn_first_operand(op)),
               .result = arn_op_output(program, op, 0)};
    f.has_windows = arn_op_windows(program, op, &f.windows);
    return f;
}

static bool is_met(arenaut_kernel_fact wanted, const facts *f, bool found) {
    if (wanted == ARENAUT_KERNEL_EITHER) return true;
    return f->has_windows && found == (wanted == ARENAUT_KERNEL_YES);
}

/* Of an image; of all else, the last dimension. */
static bool has_channels(const facts *f, const arenaut_tensor *tensor, uint32_t least,
                         uint32_t most) {
    if (least == 0 && most == 0) return true;
    if (!tensor || tensor->rank == 0) return false;
    int64_t channels = tensor->dims[tensor->rank - 1];
    if (f->has_windows)
        channels = tensor == f->result ? f->windows.out_channels : f->windows.in_channels;
    return channels >= least && (most == 0 || channels <= most);
}

static bool holds(const arenaut_kernel_when *when, const facts *f) {
    const arn_window_axis *y = &f->windows.y, *x = &f->windows.x;
    if (when->types && (!f->operand || !(when->types >> f->operand->dtype & 1))) return false;
    return is_met(when->pointwise, f, y->taps == 1 && x->taps == 1) &&
           is_met(when->unit_stride, f, y->stride == 1 && x->stride == 1) &&
           is_met(when->grouped, f, f->windows.groups > 1) &&
           is_met(when->padded, f,
                  f->has_windows && (arn_axis_is_padded(y) || arn_axis_is_padded(x))) &&
           is_met(when->one_row, f, y->in == 1 && y->taps == 1) &&
           is_met(when->dilated, f, y->dilation > 1 || x->dilation > 1) &&
           has_channels(f, f->operand, when->min_in_channels, when->max_in_channels) &&
           has_channels(f, f->result, when->min_out_channels, when->max_out_channels);
}

const arenaut_kernel_rule *arn_kernel_rule_for(const arenaut_kernel_set *set,
                                               const arenaut_program *program, const arenaut_op *op,
                                               bool unmeasured) {
    if (!op->name || op->kind != ARENAUT_OP_OUT) return NULL;
    if (arn_op_reads_compressed(program, op)) return NULL;
    const facts f = facts_of(program, op);
    bool named = false;
    for (; set && !named; set = set->base) {
        for (const arenaut_kernel_rule *rule = set->rules; rule && rule->op; rule++) {
            if (strcmp(rule->op, op->name) != 0) continue;
            named = true;
            if (holds(&rule->when, &f)) return rule->measured || unmeasured ? rule : NULL;
        }
    }
    return NULL;
}

/* Support of an op by a runtime: the type rules of kernel sets, looked up through their base sets.
 * Three answers, since a table that was measured with some types says nothing of others.
 * */

static bool mask_has(uint32_t mask, arenaut_dtype type) { return mask >> type & 1; }

/* Whether a further argument is as a rule wants it. */
static bool fits(uint32_t mask, const arenaut_tensor *tensor, const arenaut_tensor *decider) {
    if (mask == 0 || !tensor) return mask != ARENAUT_TYPES_ANY;
    if (mask == ARENAUT_TYPES_LIKE) return decider && tensor->dtype == decider->dtype;
    return mask_has(mask, tensor->dtype);
}

/* Integers of 8 and 16 bits are quantized by a scale, integers of 32 bits are plain. */
static bool is_scaled_wrong(const arenaut_tensor *tensor) {
    if (!tensor) return false;
    if (tensor->dtype == ARENAUT_DTYPE_INT32) return tensor->n_scales > 0;
    const bool quantized =
        tensor->dtype == ARENAUT_DTYPE_INT8 || tensor->dtype == ARENAUT_DTYPE_INT16;
    return quantized && tensor->n_scales == 0;
}

/* Whether a rule is about this op and its types, and then its answer. */
static bool answers(const arenaut_type_rule *rule, const arenaut_program *p, const arenaut_op *op,
                    arenaut_op_support *answer) {
    const arenaut_tensor *decider = arn_op_input(p, op, rule->input);
    const arenaut_tensor *operand = arn_op_input(p, op, rule->input != 1);
    const arenaut_tensor *third = arn_op_input(p, op, 2), *result = arn_op_output(p, op, 0);
    *answer = ARENAUT_OP_UNKNOWN;
    if (!rule->measured) return true;
    if (!fits(rule->operand, operand, decider) || !fits(rule->third, third, decider) ||
        !fits(rule->result, result, decider)) {
        return false;
    }
    *answer = ARENAUT_OP_RUNS;
    if (rule->runs == ARENAUT_TYPES_ANY) return true;
    if (!decider) return false;
    if (mask_has(rule->refused, decider->dtype)) *answer = ARENAUT_OP_REFUSED;
    else if (!mask_has(rule->runs, decider->dtype)) return false;
    else if (rule->scaled &&
             (is_scaled_wrong(decider) || is_scaled_wrong(operand) || is_scaled_wrong(result))) {
        *answer = ARENAUT_OP_UNKNOWN;
    }
    return true;
}

#define NAMES(list, type, op)                                       \
    do {                                                            \
        for (const type *rule = (list); rule && rule->op; rule++) { \
            if (strcmp(rule->op, op) == 0) return true;             \
        }                                                           \
    } while (0)

/* A set that says how an op treats memory has a kernel for it. */
static bool names_elsewhere(const arenaut_kernel_set *set, const char *op) {
    NAMES(set->rules, arenaut_kernel_rule, op);
    NAMES(set->in_place, arenaut_in_place_rule, op);
    NAMES(set->scratch, arenaut_scratch_rule, op);
    NAMES(set->persistent, arenaut_persistent_rule, op);
    NAMES(set->align, arenaut_align_rule, op);
    return false;
}

/* The library of an op: "aten" of "aten::add.out", and none of "ADD". */
static size_t library_length(const char *op) {
    const char *end = strstr(op, "::");
    return end ? (size_t)(end - op) : 0;
}

/* A complete set with types is so for the libraries that those name ops of. */
static bool is_complete_for(const arenaut_kernel_set *set, const char *op) {
    const size_t length = library_length(op);
    if (!set->complete || !set->types) return set->complete;
    for (const arenaut_type_rule *rule = set->types; rule->op; rule++) {
        if (library_length(rule->op) == length && strncmp(rule->op, op, length) == 0) return true;
    }
    return false;
}

static bool is_open(const arenaut_tensor *tensor) {
    return tensor && (tensor->compressed || tensor->unsized);
}

/* Arguments with a shape or contents known only to the runtime. */
static bool has_open_arguments(const arenaut_program *p, const arenaut_op *op) {
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (is_open(arn_op_input(p, op, k))) return true;
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        if (is_open(arn_op_output(p, op, k))) return true;
    }
    return false;
}

/* Type rules tell of ops whose arguments are known, and are those that kernels want. */
static bool is_as_measured(const arenaut_program *p, const arenaut_op *op) {
    return arn_has_usual_operands(p, op) && !has_open_arguments(p, op);
}

arenaut_op_support arn_kernel_support(const arenaut_kernel_set *set, const arenaut_program *program,
                                      const arenaut_op *op) {
    bool named = false, complete = false;
    for (; set && op->name; set = set->base) {
        bool stated = false;
        arenaut_op_support answer;
        for (const arenaut_type_rule *rule = set->types; rule && rule->op; rule++) {
            if (strcmp(rule->op, op->name) != 0) continue;
            if (answers(rule, program, op, &answer)) {
                return answer == ARENAUT_OP_RUNS && !is_as_measured(program, op)
                           ? ARENAUT_OP_UNKNOWN
                           : answer;
            }
            stated = true;
        }
        if (stated) return ARENAUT_OP_UNKNOWN;
        named = named || names_elsewhere(set, op->name);
        complete = complete || is_complete_for(set, op->name);
    }
    /* Ops of a dialect have other names when the runtime runs them. */
    return complete && !named && !program->dialect ? ARENAUT_OP_MISSING : ARENAUT_OP_UNKNOWN;
}

arenaut_op_support arenaut_kernel_support_all(const arenaut_kernel_set *set,
                                              const arenaut_program *program, uint32_t *op) {
    arenaut_op_support all = set ? ARENAUT_OP_RUNS : ARENAUT_OP_UNKNOWN;
    for (uint32_t i = 0; set && i < program->n_ops && all != ARENAUT_OP_MISSING; i++) {
        const arenaut_op_support one = arn_kernel_support(set, program, &program->ops[i]);
        const bool first = one == ARENAUT_OP_REFUSED && all != ARENAUT_OP_REFUSED;
        if (op && (first || one == ARENAUT_OP_MISSING)) *op = i;
        if (first || one == ARENAUT_OP_MISSING) all = one;
        if (one == ARENAUT_OP_UNKNOWN && all == ARENAUT_OP_RUNS) all = one;
    }
    return all;
}

/* The table of kernel sets, looked up by name; there are few, so one after the other. */

#define KERNELS(id) extern const arenaut_kernel_set arn_kernels_##id;
#include "kernels/kernels.def"
#undef KERNELS

static const arenaut_kernel_set *const all[] = {
#define KERNELS(id) &arn_kernels_##id,
#include "kernels/kernels.def"
#undef KERNELS
};

ARN_TABLE_LOOKUPS(kernel_set)
