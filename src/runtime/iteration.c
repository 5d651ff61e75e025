/* The protocol of an iteration: allocate, run, deallocate, release outputs. */
#include "runtime/iteration.h"

enum { POISON = 0x7f };

static arenaut_storage *own_storage(const arenaut_iteration *it, uint32_t value) {
    return &it->storages.block[it->slot[value]];
}

/* arn_runtime_expect of calls that outputs of the last run forbid. */
static arenaut_status expect_nothing_held(const arenaut_iteration *it, arenaut_fault *fault) {
    const arenaut_status status = arn_runtime_expect(it, false, fault);
    if (status != ARENAUT_OK || it->n_held == 0) return status;
    return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUTS_HELD, 0, 0, 0);
}

/* Buffers. */

static void fill(void *block, size_t size) {
    unsigned char *byte = block;
    for (size_t i = 0; i < size; i++) byte[i] = POISON;
}

static void give_back(arenaut_iteration *it, void **buffer, size_t *size) {
    it->busy = true;
    if (*buffer) it->arena.release(it->arena.context, *buffer, *size);
    it->busy = false;
    *buffer = NULL;
    *size = 0;
}

static void give_back_both(arenaut_iteration *it) {
    give_back(it, &it->buffer, &it->buffer_bytes);
    give_back(it, &it->output_buffer, &it->output_buffer_bytes);
}

/* A block from a source; if it has none, the source's own fault, or else `reason`. */
static arenaut_status take_block(arenaut_iteration *it, const arenaut_source *source, size_t bytes,
                                 arenaut_fault why, void **block, arenaut_fault *fault) {
    const uint32_t reason = why.reason;
    it->busy = true;
    void *taken = source->allocate(source->context, bytes, it->options.align, &why);
    it->busy = false;
    if (taken) {
        *block = taken;
        return ARENAUT_OK;
    }
    if (why.reason == ARENAUT_FAULT_NONE || why.reason >= ARENAUT_FAULT_COUNT) why.reason = reason;
    return arn_runtime_fault(fault, (arenaut_fault_reason)why.reason, why.object, why.found,
                             why.allowed);
}

/* Makes *buffer hold at least `needed` bytes; keeps the present block if it is large enough. */
static arenaut_status take_buffer(arenaut_iteration *it, void **buffer, size_t *size, size_t needed,
                                  arenaut_fault *fault) {
    const arenaut_fault why = {ARENAUT_FAULT_BUFFER_MEMORY, 0, needed, 0};
    if (needed <= *size) return ARENAUT_OK;
    give_back(it, buffer, size);
    const arenaut_status status = take_block(it, &it->arena, needed, why, buffer, fault);
    if (status == ARENAUT_OK) *size = needed;
    return status;
}

/* Both buffers, or, where nothing is kept or the run shall do without, none. */
static arenaut_status take_buffers(arenaut_iteration *it, arenaut_fault *fault) {
    arenaut_status status = take_buffer(it, &it->buffer, &it->buffer_bytes, it->arena_bytes, fault);
    if (status == ARENAUT_OK)
        status =
            take_buffer(it, &it->output_buffer, &it->output_buffer_bytes, it->output_bytes, fault);
    if (status != ARENAUT_OK && (it->options.fall_back || !it->options.keep_buffer))
        give_back_both(it);
    return status;
}

/* The arena, unless it is kept; with `outputs`, their buffer. */
static void drop_buffers(arenaut_iteration *it, bool arena, bool outputs) {
    if (it->options.poison && arena) fill(it->buffer, it->buffer_bytes);
    if (it->options.poison && outputs) fill(it->output_buffer, it->output_buffer_bytes);
    if (it->options.keep_buffer) return;
    if (arena) give_back(it, &it->buffer, &it->buffer_bytes);
    if (outputs) give_back(it, &it->output_buffer, &it->output_buffer_bytes);
}

/* Returns the memory that a storage owns to its source. */
static void release_storage(arenaut_iteration *it, arenaut_storage *storage) {
    if (storage->source && storage->data) {
        it->busy = true;
        storage->source->release(storage->source->context, storage->data, storage->bytes);
        it->busy = false;
    }
    *storage = (arenaut_storage){NULL, 0, NULL};
}

/* Before a run. */

/* This loop, are_untouched and clear_storages are the cost of a run per storage. The columns are
 * taken out of *it first, since for all a compiler knows a storage that is written could be part of
 * it. */
static void hand_out(arenaut_iteration *it, uint32_t from, uint32_t to, char *buffer) {
    arenaut_storage *block = it->storages.block;
    const size_t *planned = it->planned, *offset = it->offset;
    for (uint32_t s = from; s < to; s++) {
        void *data = planned[s] ? buffer + offset[s] : NULL;
        block[s] = (arenaut_storage){data, planned[s], NULL};
    }
}

arenaut_status arenaut_iteration_allocate(arenaut_iteration *it, arenaut_fault *fault) {
    arenaut_status status = arenaut_iteration_plan(it, fault); /* refuses while it runs */
    if (status != ARENAUT_OK) return status;
    it->placed = it->has_plan;
    if (it->has_plan) status = take_buffers(it, fault);
    if (status == ARENAUT_NO_MEMORY && it->options.fall_back) {
        it->placed = false; /* storages are empty, as before the first plan */
        it->runs_without_buffer++;
    } else if (status != ARENAUT_OK) {
        return status;
    }
    if (it->placed) {
        hand_out(it, 0, it->n_arena, it->buffer);
        hand_out(it, it->n_arena, it->n_slots, it->output_buffer);
    }
    for (uint32_t k = 0; k < it->n_outputs; k++) it->length[it->outputs[k]] = ARN_NO_LENGTH;
    it->running = true;
    return ARENAUT_OK;
}

/* During a run. */

/* A size with its slack; without, where that cannot be addressed. */
static size_t with_slack(const arenaut_iteration *it, size_t bytes) {
    const size_t percent = it->options.slack;
    if (!it->has_plan || percent == 0 || bytes / 100 >= (SIZE_MAX - bytes) / percent) return bytes;
    return bytes + bytes / 100 * percent + bytes % 100 * percent / 100;
}

static void learn(arenaut_iteration *it, uint32_t slot, size_t bytes) {
    size_t rounded;
    /* A size that cannot be rounded up cannot be planned: it stays with the default source. */
    if (!arn_runtime_round_up(bytes, it->options.align, &rounded) || rounded <= it->most[slot])
        return;
    it->most[slot] = rounded;
    if (arn_runtime_round_up(with_slack(it, bytes), it->options.align, &rounded))
        it->most[slot] = rounded;
    it->due = true;
}

/* Learns the size of a storage in this run; counts it if it exceeds its place. */
static void note_size(arenaut_iteration *it, uint32_t slot, size_t bytes) {
    learn(it, slot, bytes);
    if (!it->placed || bytes <= it->planned[slot]) return;
    const size_t over = bytes - it->planned[slot];
    it->overflows++;
    it->overflow_bytes += over;
    if (over > it->largest_overflow) it->largest_overflow = over;
}

arenaut_status arenaut_iteration_learn(arenaut_iteration *it, uint32_t value, size_t bytes,
                                       arenaut_fault *fault) {
    uint32_t slot = 0;
    size_t rounded;
    arenaut_status status = arn_runtime_expect(it, it->running, fault); /* whether it runs or not */
    if (status == ARENAUT_OK) status = arn_runtime_find_slot(it, value, &slot, fault);
    if (status != ARENAUT_OK) return status;
    if (!arn_runtime_round_up(bytes, it->options.align, &rounded))
        return arn_runtime_fault(fault, ARENAUT_FAULT_SIZE, value, bytes, 0);
    learn(it, slot, bytes);
    return ARENAUT_OK;
}

arenaut_status arenaut_iteration_resize(arenaut_iteration *it, uint32_t value, size_t bytes,
                                        void **data, arenaut_fault *fault) {
    uint32_t slot = 0;
    const arenaut_fault why = {ARENAUT_FAULT_NO_MEMORY, value, bytes, 0};
    arenaut_status status = arn_runtime_find_during_run(it, value, &slot, fault);
    if (status != ARENAUT_OK) return status;
    arenaut_storage *storage = it->current[value];
    if (bytes > storage->bytes) {
        void *block = NULL;
        status = take_block(it, &it->source, bytes, why, &block, fault);
        if (status != ARENAUT_OK) return status;
        release_storage(it, storage);
        *storage = (arenaut_storage){block, bytes, &it->source};
    }
    it->length[value] = bytes;
    *data = storage->data;
    return ARENAUT_OK;
}

/* An output is held no longer. */
static void let_go(arenaut_iteration *it, uint32_t value) {
    const void *data = it->current[value]->data;
    if (arn_runtime_lies_in(data, it->buffer, it->buffer_bytes)) it->held_in_arena--;
    if (arn_runtime_lies_in(data, it->output_buffer, it->output_buffer_bytes))
        it->held_in_outputs--;
    it->n_held--;
    it->current[value] = own_storage(it, value);
    it->length[value] = ARN_NO_LENGTH;
}

arenaut_status arenaut_iteration_take(arenaut_iteration *it, uint32_t value, arenaut_storage *out,
                                      arenaut_fault *fault) {
    uint32_t slot = 0;
    const bool held = !it->busy && arn_runtime_is_held(it, value);
    const arenaut_status status = held ? arn_runtime_find_slot(it, value, &slot, fault)
                                       : arn_runtime_find_during_run(it, value, &slot, fault);
    if (status != ARENAUT_OK) return status;
    arenaut_storage *storage = it->current[value];
    if (!storage->data || !storage->source)
        return arn_runtime_fault(fault, ARENAUT_FAULT_NOTHING_OWNED, value, 0, 0);
    if (it->running) note_size(it, slot, storage->bytes);
    for (uint32_t k = 0; k < it->n_outputs; k++) {
        const uint32_t v = it->outputs[k];
        if (arn_runtime_is_held(it, v) && it->current[v] == storage) let_go(it, v);
    }
    it->length[value] = ARN_NO_LENGTH;
    *out = *storage;
    *storage = (arenaut_storage){NULL, 0, NULL};
    return ARENAUT_OK;
}

/* After a run. */

/* Whether slots [from, to) are as they were handed out: the usual case. */
static bool are_untouched(const arenaut_iteration *it, uint32_t from, uint32_t to,
                          const char *buffer) {
    const arenaut_storage *block = it->storages.block;
    const size_t *planned = it->planned, *offset = it->offset;
    for (uint32_t s = from; s < to; s++) {
        const void *data = planned[s] ? buffer + offset[s] : NULL;
        if (block[s].data != data || block[s].bytes != planned[s]) return false;
    }
    return true;
}

/* A storage in a planned buffer must be where the plan put it, and no larger. */
static arenaut_status check_storages(const arenaut_iteration *it, uint32_t from,
                                     arenaut_fault *fault) {
    for (uint32_t s = from; s < it->n_slots; s++) {
        const arenaut_storage *storage = &it->storages.block[s];
        if (storage->source || !storage->data) continue;
        if (storage->data != arn_runtime_slot_address(it, s))
            return arn_runtime_fault(fault, ARENAUT_FAULT_POINTER_OUTSIDE, it->named[s], 0, 0);
        if (storage->bytes > it->planned[s])
            return arn_runtime_fault(fault, ARENAUT_FAULT_OVERRUN, it->named[s], storage->bytes,
                                     it->planned[s]);
    }
    return ARENAUT_OK;
}

/* Outputs that have data, wherever it lies, or were asked to have none, are held from now on. */
static void hold_outputs(arenaut_iteration *it) {
    for (uint32_t k = 0; k < it->n_outputs; k++) {
        const uint32_t v = it->outputs[k];
        const arenaut_storage *used = it->current[v];
        if (!used->data && it->length[v] == ARN_NO_LENGTH) {
            it->current[v] = own_storage(it, v);
            it->length[v] = ARN_NO_LENGTH;
            continue;
        }
        if (it->length[v] > used->bytes) it->length[v] = used->bytes;
        it->n_held++;
        if (arn_runtime_lies_in(used->data, it->buffer, it->buffer_bytes)) it->held_in_arena++;
        if (arn_runtime_lies_in(used->data, it->output_buffer, it->output_buffer_bytes))
            it->held_in_outputs++;
    }
}

/* Whether this is a header of the model's own. */
static bool is_foreign(const arenaut_iteration *it, const arenaut_storage *storage) {
    return !arenaut_iteration_is_storage_managed(it, storage);
}

/* The model may have given a value another storage, or several the same one. Sizes come first:
 * a storage that is released has none. */
static void learn_swapped(arenaut_iteration *it) {
    for (uint32_t v = 0; v < it->n_values; v++) {
        if (it->slot[v] != ARENAUT_NO_VALUE && it->current[v] != own_storage(it, v))
            note_size(it, it->slot[v], it->current[v]->bytes);
    }
}

/* Sources of swapped storages that held outputs use are taken away for a while, so that nothing
 * releases the memory of such a storage; given back in reverse, since outputs may share one. */
static void hide_sources(arenaut_iteration *it) {
    for (uint32_t k = 0; k < it->n_outputs; k++) {
        const uint32_t v = it->outputs[k];
        it->hidden[v] = it->current[v]->source;
        if (is_foreign(it, it->current[v])) it->current[v]->source = NULL;
    }
}

static void restore_sources(arenaut_iteration *it) {
    for (uint32_t k = it->n_outputs; k > 0; k--) {
        const uint32_t v = it->outputs[k - 1];
        if (is_foreign(it, it->current[v])) it->current[v]->source = it->hidden[v];
    }
}

static void put_storages_back(arenaut_iteration *it) {
    hide_sources(it);
    for (uint32_t v = 0; v < it->n_values; v++) {
        if (it->slot[v] == ARENAUT_NO_VALUE || it->value[v].kind == ARENAUT_VALUE_OUTPUT) continue;
        arenaut_storage *const used = it->current[v];
        it->current[v] = own_storage(it, v);
        if (used->source && is_foreign(it, used)) release_storage(it, used);
    }
    restore_sources(it);
}

/* Marks the slots, from one on, whose storage is kept: of outputs, unless they were given another
 * one, and the storages that they were given. */
static const uint8_t *mark_kept(arenaut_iteration *it, uint32_t from) {
    uint8_t *kept = (uint8_t *)it->work[0];
    for (uint32_t s = from; s < it->n_slots; s++)
        kept[s] = !it->swapped && arn_runtime_slot_is_output(it, s);
    for (uint32_t k = 0; k < it->n_outputs && it->swapped; k++) {
        const uint32_t v = it->outputs[k];
        if (it->length[v] != ARN_NO_LENGTH && !is_foreign(it, it->current[v]))
            kept[it->current[v] - it->storages.block] = true;
    }
    return kept;
}

/* Learns the size of each storage, and empties all but those of held outputs. */
static void empty_storages(arenaut_iteration *it, uint32_t from) {
    const uint8_t *kept = mark_kept(it, from);
    for (uint32_t s = from; s < it->n_slots; s++) {
        note_size(it, s, it->storages.block[s].bytes);
        if (!kept[s]) release_storage(it, &it->storages.block[s]);
    }
}

/* The same for slots of the arena that are untouched and no outputs: nothing to learn. */
static void clear_storages(arenaut_iteration *it) {
    arenaut_storage *block = it->storages.block;
    const uint32_t n = it->n_arena;
    for (uint32_t s = 0; s < n; s++) block[s] = (arenaut_storage){NULL, 0, NULL};
}

static void call(arenaut_iteration *it, void (*hook)(void *, uint32_t), uint32_t value) {
    it->busy = true;
    if (hook) hook(it->hooks.context, value);
    it->busy = false;
}

/* A returned value becomes its own owner before anything that it may refer to is given up. An
 * aborted run returns nothing. */
static void give_up_unmanaged(arenaut_iteration *it, bool aborted) {
    const arenaut_value_hooks *hooks = &it->hooks;
    for (uint32_t v = 0; v < it->n_values && !aborted; v++) {
        if (it->value[v].kind == ARENAUT_VALUE_BORROWED && it->value[v].returned)
            call(it, hooks->retain, v);
    }
    for (uint32_t v = 0; v < it->n_values; v++) {
        if (it->value[v].kind == ARENAUT_VALUE_BORROWED && (aborted || !it->value[v].returned))
            call(it, hooks->forget, v);
        if (it->value[v].returned) continue;
        if (it->value[v].kind == ARENAUT_VALUE_UNMANAGED) call(it, hooks->release, v);
    }
}

arenaut_status arenaut_iteration_deallocate(arenaut_iteration *it, arenaut_fault *fault) {
    arenaut_status status = arn_runtime_expect(it, true, fault);
    if (status != ARENAUT_OK) return status;
    const bool arena_untouched = it->placed && are_untouched(it, 0, it->n_arena, it->buffer);
    if (ARENAUT_CHECKED) status = check_storages(it, arena_untouched ? it->n_arena : 0, fault);
    if (status == ARENAUT_OK && it->swapped) status = arn_runtime_check_swapped(it, fault);
    if (status != ARENAUT_OK) return status;
    if (it->has_unmanaged) give_up_unmanaged(it, false);
    if (it->swapped) learn_swapped(it);
    hold_outputs(it);
    if (it->swapped) put_storages_back(it);
    const bool clear = arena_untouched && !it->options.outputs_in_arena;
    if (clear) clear_storages(it);
    empty_storages(it, clear ? it->n_arena : 0);
    if (!it->has_plan) it->due = true; /* even if all there was had no bytes */
    it->running = it->swapped = false;
    drop_buffers(it, it->held_in_arena == 0, it->held_in_outputs == 0);
    return ARENAUT_OK;
}

/* Memory that a storage owns goes back; memory that a swapped one borrowed was never ours. */
static void release_used(arenaut_iteration *it, arenaut_storage *storage) {
    if (storage->source || !is_foreign(it, storage)) release_storage(it, storage);
}

arenaut_status arenaut_iteration_abort(arenaut_iteration *it, arenaut_fault *fault) {
    const arenaut_status status = arn_runtime_expect(it, true, fault);
    if (status != ARENAUT_OK) return status;
    if (it->has_unmanaged) give_up_unmanaged(it, true);
    for (uint32_t v = 0; v < it->n_values; v++) {
        if (it->slot[v] == ARENAUT_NO_VALUE) continue;
        release_used(it, it->current[v]);
        it->current[v] = own_storage(it, v);
        it->length[v] = ARN_NO_LENGTH;
    }
    for (uint32_t s = 0; s < it->n_slots; s++) release_storage(it, &it->storages.block[s]);
    it->running = it->swapped = false;
    drop_buffers(it, true, true);
    return ARENAUT_OK;
}

/* Whether an output that is held uses this storage. O(outputs). */
static bool is_used_by_held(const arenaut_iteration *it, const arenaut_storage *storage) {
    for (uint32_t k = 0; k < it->n_outputs; k++) {
        const uint32_t v = it->outputs[k];
        if (it->length[v] != ARN_NO_LENGTH && it->current[v] == storage) return true;
    }
    return false;
}

arenaut_status arenaut_iteration_release_output(arenaut_iteration *it, uint32_t value,
                                                arenaut_fault *fault) {
    const arenaut_status status = arn_runtime_expect(it, false, fault);
    if (status != ARENAUT_OK) return status;
    if (!arn_runtime_is_held(it, value))
        return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUTS_RELEASED, value, 0, 0);
    const uint32_t in_arena = it->held_in_arena, in_outputs = it->held_in_outputs;
    arenaut_storage *used = it->current[value];
    let_go(it, value);
    if (!is_used_by_held(it, used)) {
        const bool planned = !used->source && !is_foreign(it, used);
        if (it->options.poison && planned) fill(used->data, used->bytes);
        release_used(it, used);
    }
    drop_buffers(it, in_arena && !it->held_in_arena, in_outputs && !it->held_in_outputs);
    return ARENAUT_OK;
}

arenaut_status arenaut_iteration_release_outputs(arenaut_iteration *it, arenaut_fault *fault) {
    const bool arena = it->held_in_arena, outputs = it->held_in_outputs;
    const arenaut_status status = arn_runtime_expect(it, false, fault);
    if (status != ARENAUT_OK) return status;
    for (uint32_t k = 0; k < it->n_outputs; k++) {
        const uint32_t v = it->outputs[k];
        if (!arn_runtime_is_held(it, v)) continue;
        release_used(it, it->current[v]);
        it->current[v] = own_storage(it, v);
        it->length[v] = ARN_NO_LENGTH;
    }
    it->n_held = it->held_in_arena = it->held_in_outputs = 0;
    drop_buffers(it, arena, outputs);
    return ARENAUT_OK;
}

/* Their slots stay where they are, with no bytes to plan and no value that leads to them. */
arenaut_status arenaut_iteration_disable_managed_outputs(arenaut_iteration *it,
                                                         arenaut_fault *fault) {
    const arenaut_status status = expect_nothing_held(it, fault);
    if (status != ARENAUT_OK) return status;
    for (uint32_t v = 0; v < it->n_values; v++) {
        if (it->value[v].kind != ARENAUT_VALUE_OUTPUT) continue;
        it->most[it->slot[v]] = it->planned[it->slot[v]] = 0;
        it->slot[v] = ARENAUT_NO_VALUE;
        it->current[v] = NULL;
        it->value[v].kind = ARENAUT_VALUE_UNMANAGED;
        if (it->has_plan) it->due = true;
    }
    it->n_outputs = 0;
    it->options.manage_outputs = false;
    arn_runtime_count_reused(it);
    give_back(it, &it->output_buffer, &it->output_buffer_bytes);
    return ARENAUT_OK;
}

arenaut_status arenaut_iteration_forget(arenaut_iteration *it, arenaut_fault *fault) {
    const arenaut_status status = expect_nothing_held(it, fault);
    if (status != ARENAUT_OK) return status;
    for (uint32_t s = 0; s < it->n_slots; s++) it->most[s] = it->planned[s] = 0;
    it->arena_bytes = it->output_bytes = 0;
    it->has_plan = it->due = false;
    arn_runtime_count_reused(it);
    give_back_both(it);
    return ARENAUT_OK;
}

arenaut_status arenaut_iteration_close(arenaut_iteration *it, arenaut_fault *fault) {
    const arenaut_status status = expect_nothing_held(it, fault);
    if (status != ARENAUT_OK) return status;
    give_back_both(it);
    return ARENAUT_OK;
}
