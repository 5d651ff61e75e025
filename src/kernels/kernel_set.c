/* Rules of a kernel set for an op, looked up through its base sets; and the hash of all its
 * rules. */
#include <arenaut/kernels.h>

#include <string.h>

#include "core/hash.h"
#include "kernels/kernel_set.h"

const char *arenaut_kernel_order_name(arenaut_kernel_order order) {
    static const char *const names[] = {
#define XX(name, text) text,
        ARENAUT_KERNEL_ORDER_MAP(XX)
#undef XX
    };
    return (unsigned)order < ARENAUT_KERNEL_ORDER_COUNT ? names[order] : NULL;
}

static bool has_rules(const arenaut_kernel_set *set, const char *op) {
    for (const arenaut_kernel_rule *rule = set->rules; rule && rule->op; rule++) {
        if (strcmp(rule->op, op) == 0) return true;
    }
    return false;
}

const arenaut_in_place_rule *arenaut_kernel_in_place(const arenaut_kernel_set *set,
                                                     const char *op) {
    for (; set && op; set = has_rules(set, op) ? NULL : set->base) {
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
        const bool its_own = has_rules(set, op->name) || names_scratch(set, op->name);
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
    }
    return hash;
}
