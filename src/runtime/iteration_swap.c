/* Storages that the model gives to values for one run, in place of their own. A place in the arena
 * is shared by time, as lives were planned; a value that comes to lie there without having been
 * planned there is refused, unless nothing else has those bytes while it lives. O(slots) a swap. */
#include "runtime/iteration.h"

arenaut_status arn_runtime_find_during_run(const arenaut_iteration *it, uint32_t value,
                                           uint32_t *slot, arenaut_fault *fault) {
    const arenaut_status status = arn_runtime_expect(it, true, fault);
    return status == ARENAUT_OK ? arn_runtime_find_slot(it, value, slot, fault) : status;
}

static bool is_output(const arenaut_iteration *it, uint32_t value) {
    return it->value[value].kind == ARENAUT_VALUE_OUTPUT;
}

static bool share_bytes(const arenaut_iteration *it, uint32_t a, uint32_t b) {
    const size_t at_a = it->offset[a], at_b = it->offset[b];
    return it->planned[a] && it->planned[b] && at_a < at_b + it->planned[b] &&
           at_b < at_a + it->planned[a];
}

/* A slot that would write over `value` in the place of slot `at`, or over which it would: one
 * with bytes there that is alive with it. The slot itself is shared on purpose, if it began before
 * the value. n_arena: there is none. */
static uint32_t find_clash(const arenaut_iteration *it, uint32_t value, uint32_t at) {
    const uint32_t first = it->value[value].first;
    const uint32_t last = is_output(it, value) ? UINT32_MAX : it->value[value].last;
    uint32_t s = 0;
    for (; s < it->n_arena; s++) {
        if (s == at && it->first[s] <= first) continue;
        if (share_bytes(it, s, at) && it->first[s] <= last && first <= it->last[s]) break;
    }
    return s;
}

/* A header of the model's must not point into the arena. One without bytes lies nowhere. */
static arenaut_status check_foreign(const arenaut_iteration *it, uint32_t value,
                                    const arenaut_storage *storage, arenaut_fault *fault) {
    if (!arn_runtime_lies_in(storage->data, it->buffer, it->buffer_bytes) &&
        !arn_runtime_lies_in(it->buffer, storage->data, storage->bytes))
        return ARENAUT_OK;
    return arn_runtime_fault(
        fault,
        is_output(it, value) ? ARENAUT_FAULT_OUTPUT_IN_ARENA : ARENAUT_FAULT_STORAGE_IN_ARENA,
        value, value, 0);
}

/* The managed storage of another value: that of an output must not end with the run. */
static arenaut_status check_managed(const arenaut_iteration *it, uint32_t value,
                                    const arenaut_storage *storage, arenaut_fault *fault) {
    const uint32_t at = (uint32_t)(storage - it->storages.block);
    if (at == it->slot[value]) return ARENAUT_OK;
    if (is_output(it, value) && !arn_runtime_slot_is_output(it, at))
        return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUT_IN_ARENA, value, it->named[at], 0);
    const bool lies_in_arena = at < it->n_arena && storage->data && !storage->source;
    if (!lies_in_arena) return ARENAUT_OK;
    const uint32_t clash = find_clash(it, value, at);
    if (clash == it->n_arena) return ARENAUT_OK;
    return arn_runtime_fault(fault, ARENAUT_FAULT_STORAGE_IN_ARENA, value, it->named[clash], 0);
}

arenaut_status arenaut_iteration_swap(arenaut_iteration *it, uint32_t value,
                                      arenaut_storage *storage, arenaut_fault *fault) {
    uint32_t slot = 0;
    arenaut_status status = arn_runtime_find_during_run(it, value, &slot, fault);
    if (status != ARENAUT_OK) return status;
    if (!storage) return arn_runtime_fault(fault, ARENAUT_FAULT_ARGUMENT, value, 0, 0);
    status = arenaut_iteration_is_storage_managed(it, storage)
                 ? check_managed(it, value, storage, fault)
                 : check_foreign(it, value, storage, fault);
    if (status != ARENAUT_OK) return status;
    it->current[value] = storage;
    it->length[value] = ARN_NO_LENGTH;
    it->swapped = true;
    return ARENAUT_OK;
}

arenaut_status arn_runtime_check_swapped(const arenaut_iteration *it, arenaut_fault *fault) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t v = 0; v < it->n_values && status == ARENAUT_OK; v++) {
        const arenaut_storage *used = it->current[v];
        if (used && !arenaut_iteration_is_storage_managed(it, used))
            status = check_foreign(it, v, used, fault);
    }
    return status;
}
