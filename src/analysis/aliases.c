/* Alias analysis, as far as tensors and single ops state it: views lie in the storage of another
 * tensor, and results of views and updates in that of an operand. O(arguments of an op) each. */
#include "analysis/aliases.h"
#include "dialects/dialect.h"

uint32_t *arn_storages_find(const arenaut_program *p, arn_region *region) {
    uint32_t *of = arn_region_allocate(region, p->n_tensors, sizeof *of);
    for (uint32_t t = 0; of && t < p->n_tensors; t++) of[t] = arenaut_program_storage(p, t, NULL);
    return of;
}

uint32_t *arn_shared_storages_find(const arenaut_program *p, arn_region *region) {
    uint32_t *of = arn_storages_find(p, region);
    for (uint32_t t = 0; of && t < p->n_tensors; t++) {
        if (p->tensors[of[t]].qualified_name) of[t] = p->n_tensors;
    }
    return of;
}

bool arn_fills_storage(const arenaut_program *p, uint32_t tensor) {
    uint64_t offset;
    const uint32_t storage = arenaut_program_storage(p, tensor, &offset);
    return offset == 0 && p->tensors[tensor].bytes == p->tensors[storage].bytes;
}

uint32_t arn_find_in_storage(const uint32_t *storage_of, const uint32_t *tensors, uint32_t n,
                             uint32_t storage) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] != ARENAUT_NONE && storage_of[tensors[i]] == storage) return tensors[i];
    }
    return ARENAUT_NONE;
}

const arenaut_in_place *arn_updates_of(const arenaut_op *op, uint32_t *n) {
    static const arenaut_in_place first = {0, 0};
    *n = op->n_in_place ? op->n_in_place : op->n_inputs > 0;
    return op->n_in_place ? op->in_place : &first;
}

bool arn_may_update(const arenaut_op *op, uint32_t operand) {
    uint32_t n;
    const arenaut_in_place *pairs = arn_updates_of(op, &n);
    bool updated = op->n_outputs == 0;
    for (uint32_t i = 0; i < n; i++) {
        updated = updated || op->inputs[pairs[i].input] == operand;
    }
    return updated;
}

bool arn_makes_output(const arenaut_program *p, const arenaut_op *op, uint32_t output) {
    if (op->kind == ARENAUT_OP_VIEW) return false;
    if (op->kind != ARENAUT_OP_IN_PLACE) return true;
    if (op->n_in_place == 0 && output == 0) return false;
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        if (op->in_place[i].output == output) return false;
    }
    const uint32_t storage = arenaut_program_storage(p, op->outputs[output], NULL);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && arenaut_program_storage(p, t, NULL) == storage) return false;
    }
    return true;
}

uint32_t arn_traits_of(const arenaut_dialect *dialect, const arenaut_op *op) {
    const arenaut_operator *known = arn_dialect_operator(dialect, op->name);
    return known ? known->traits : 0;
}

bool arn_may_view(const arenaut_dialect *dialect, const arenaut_op *op) {
    if (op->kind == ARENAUT_OP_VIEW) return true;
    const uint32_t traits = arn_traits_of(dialect, op);
    const bool views = traits & (ARENAUT_TRAIT_VIEW | ARENAUT_TRAIT_MAY_VIEW);
    return op->kind == ARENAUT_OP_FUNCTIONAL && views && !(traits & ARENAUT_TRAIT_COPIES);
}
