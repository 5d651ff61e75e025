/* The protocol of an iteration: allocate, run, deallocate, release outputs. */
#include "runtime/iteration.h"

enum { POISON = 0x7f };

bool arn_runtime_slot_is_output(const arenaut_iteration *it, uint32_t slot) {
    return it->value[it->named[slot]].kind == ARENAUT_VALUE_OUTPUT;
}

bool arn_runtime_is_held(const arenaut_iteration *it, uint32_t value) {
    return !it->running && value < it->n_values && it->value[value].kind == ARENAUT_VALUE_OUTPUT &&
           it->length[value] != ARN_NO_LENGTH;
}

static arenaut_storage *own_storage(const arenaut_iteration *it, uint32_t value) {
    return &it->storages.block[it->slot[value]];
}

void *arn_runtime_slot_address(const arenaut_iteration *it, uint32_t slot) {
    char *buffer = slot < it->n_arena ? it->buffer : it->output_buffer;
    return buffer && it->planned[slot] ? buffer + it->offset[slot] : NULL;
}

arenaut_status arn_runtime_find_slot(const arenaut_iteration *it, uint32_t value, uint32_t *slot,
                                     arenaut_fault *fault) {
    if (value >= it->n_values)
        return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE, value, 0, it->n_values);
    if (it->slot[value] == ARENAUT_NO_VALUE)
        return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE_KIND, value, 0, 0);
    *slot = it->slot[value];
    return ARENAUT_OK;
}

/* Buffers. */

static void fill(void *block, size_t size) {
    unsigned char *byte = block;
    for (size_t i = 0; i < size; i++) byte[i] = POISON;
}

static void give_back(arenaut_iteration *it, void **buffer, size_t *size) {
    if (*buffer) it->arena.release(it->arena.context, *buffer, *size);
    *buffer = NULL;
    *size = 0;
}

/* A block from a source; if it has none, why: what it says itself, or else `reason`. */
static arenaut_status take_block(const arenaut_source *source, size_t bytes, size_t align,
                                 arenaut_fault why, void **block, arenaut_fault *fault) {
    const uint32_t reason = why.reason;
    void *taken = source->allocate(source->context, bytes, align, &why);
    if (taken) {
        *block = taken;
        return ARENAUT_OK;
    }
    if (why.reason == ARENAUT_FAULT_NONE || why.reason >= ARENAUT_FAULT_COUNT) why.reason = reason;
    return arn_runtime_fault(fault, (arenaut_fault_reason)why.reason, why.object, why.found,
                             why.allowed);
}

/* Makes *buffer hold at least `needed` bytes, through what is there if it can. */
static arenaut_status take_buffer(arenaut_iteration *it, void **buffer, size_t *size, size_t needed,
                                  arenaut_fault *fault) {
    const arenaut_fault why = {ARENAUT_FAULT_BUFFER_MEMORY, 0, needed, 0};
    if (needed <= *size) return ARENAUT_OK;
    give_back(it, buffer, size);
    const arenaut_status status =
        take_block(&it->arena, needed, it->options.align, why, buffer, fault);
    if (status == ARENAUT_OK) *size = needed;
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

/* What a storage owns goes back to its source. */
static void release_storage(arenaut_storage *storage) {
    if (storage->source && storage->data)
        storage->source->release(storage->source->context, storage->data, storage->bytes);
    *storage = (arenaut_storage){NULL, 0, NULL};
}

/* Before a run. */

/* This loop, are_untouched and clear_storages are what every run costs for every storage.
 * The columns are taken out of *it first, since for all a compiler knows a storage that is
 * written could be part of it. */
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
    if (it->plan_number) {
        status = take_buffer(it, &it->buffer, &it->buffer_bytes, it->arena_bytes, fault);
        if (status != ARENAUT_OK) return status;
        status =
            take_buffer(it, &it->output_buffer, &it->output_buffer_bytes, it->output_bytes, fault);
        if (status != ARENAUT_OK) {
            if (!it->options.keep_buffer) give_back(it, &it->buffer, &it->buffer_bytes);
            return status;
        }
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
    if (it->plan_number == 0 || percent == 0 || bytes / 100 >= (SIZE_MAX - bytes) / percent)
        return bytes;
    return bytes + bytes / 100 * percent + bytes % 100 * percent / 100;
}

static void learn(arenaut_iteration *it, uint32_t slot, size_t bytes) {
    size_t rounded;
    /* What cannot be rounded up cannot be planned: it stays with the default source. */
    if (!arn_runtime_round_up(bytes, it->options.align, &rounded) || rounded <= it->most[slot])
        return;
    it->most[slot] = rounded;
    if (arn_runtime_round_up(with_slack(it, bytes), it->options.align, &rounded))
        it->most[slot] = rounded;
    it->due = true;
}

/* What a storage came to in this run: learned, and counted if that is more than its place. */
static void note_size(arenaut_iteration *it, uint32_t slot, size_t bytes) {
    learn(it, slot, bytes);
    if (it->plan_number == 0 || bytes <= it->planned[slot]) return;
    const size_t over = bytes - it->planned[slot];
    it->overflows++;
    it->overflow_bytes += over;
    if (over > it->largest_overflow) it->largest_overflow = over;
}

arenaut_status arenaut_iteration_learn(arenaut_iteration *it, uint32_t value, size_t bytes,
                                       arenaut_fault *fault) {
    uint32_t slot = 0;
    size_t rounded;
    const arenaut_status status = arn_runtime_find_slot(it, value, &slot, fault);
    if (status != ARENAUT_OK) return status;
    if (!arn_runtime_round_up(bytes, it->options.align, &rounded))
        return arn_runtime_fault(fault, ARENAUT_FAULT_SIZE, value, bytes, 0);
    learn(it, slot, bytes);
    return ARENAUT_OK;
}

/* The slot of a value whose storage may be changed now. */
static arenaut_status find_during_run(const arenaut_iteration *it, uint32_t value, uint32_t *slot,
                                      arenaut_fault *fault) {
    if (!it->running) return arn_runtime_fault(fault, ARENAUT_FAULT_NOT_RUNNING, 0, 0, 0);
    return arn_runtime_find_slot(it, value, slot, fault);
}

arenaut_status arenaut_iteration_resize(arenaut_iteration *it, uint32_t value, size_t bytes,
                                        void **data, arenaut_fault *fault) {
    uint32_t slot = 0;
    const arenaut_fault why = {ARENAUT_FAULT_NO_MEMORY, value, bytes, 0};
    arenaut_status status = find_during_run(it, value, &slot, fault);
    if (status != ARENAUT_OK) return status;
    arenaut_storage *storage = it->current[value];
    if (bytes > storage->bytes) {
        void *block = NULL;
        status = take_block(&it->source, bytes, it->options.align, why, &block, fault);
        if (status != ARENAUT_OK) return status;
        release_storage(storage);
        *storage = (arenaut_storage){block, bytes, &it->source};
    }
    it->length[value] = bytes;
    *data = storage->data;
    return ARENAUT_OK;
}

/* Whether this is the header of a managed storage that ends with the run. */
static bool ends_with_run(const arenaut_iteration *it, const arenaut_storage *storage) {
    return arenaut_iteration_is_storage_managed(it, storage) &&
           !arn_runtime_slot_is_output(it, (uint32_t)(storage - it->storages.block));
}

arenaut_status arenaut_iteration_swap(arenaut_iteration *it, uint32_t value,
                                      arenaut_storage *storage, arenaut_fault *fault) {
    uint32_t slot = 0;
    const arenaut_status status = find_during_run(it, value, &slot, fault);
    if (status != ARENAUT_OK) return status;
    if (!storage) return arn_runtime_fault(fault, ARENAUT_FAULT_ARGUMENT, value, 0, 0);
    if (arn_runtime_slot_is_output(it, slot) && ends_with_run(it, storage))
        return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUT_IN_ARENA, value, 0, 0);
    it->current[value] = storage;
    it->length[value] = ARN_NO_LENGTH;
    it->swapped = true;
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
    const arenaut_status status = arn_runtime_is_held(it, value)
                                      ? arn_runtime_find_slot(it, value, &slot, fault)
                                      : find_during_run(it, value, &slot, fault);
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

/* What lies in a planned buffer must be where the plan put it, and no larger. */
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

/* A swapped output must outlive the arena. Its storage may have been pointed there after the
 * swap, so this is looked at when the run is over. */
static arenaut_status check_swapped_outputs(const arenaut_iteration *it, arenaut_fault *fault) {
    for (uint32_t k = 0; k < it->n_outputs; k++) {
        const uint32_t v = it->outputs[k];
        if (arenaut_iteration_is_storage_managed(it, it->current[v])) continue;
        if (arn_runtime_lies_in(it->current[v]->data, it->buffer, it->buffer_bytes))
            return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUT_IN_ARENA, v, 0, 0);
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

static bool is_used_by_held(const arenaut_iteration *it, const arenaut_storage *storage) {
    for (uint32_t k = 0; k < it->n_outputs; k++) {
        const uint32_t v = it->outputs[k];
        if (it->length[v] != ARN_NO_LENGTH && it->current[v] == storage) return true;
    }
    return false;
}

/* The model may have given a value another storage, or several the same one. Sizes come first:
 * a storage that is released has none. */
static void learn_swapped(arenaut_iteration *it) {
    for (uint32_t v = 0; v < it->n_values; v++) {
        if (it->slot[v] != ARENAUT_NO_VALUE && it->current[v] != own_storage(it, v))
            note_size(it, it->slot[v], it->current[v]->bytes);
    }
}

static void put_storages_back(arenaut_iteration *it) {
    for (uint32_t v = 0; v < it->n_values; v++) {
        if (it->slot[v] == ARENAUT_NO_VALUE || it->value[v].kind == ARENAUT_VALUE_OUTPUT) continue;
        arenaut_storage *const own = own_storage(it, v), *used = it->current[v];
        it->current[v] = own;
        if (used->source && !arenaut_iteration_is_storage_managed(it, used) &&
            !is_used_by_held(it, used))
            release_storage(used);
    }
}

/* Learns what each storage came to, and empties all but those of held outputs. */
static void empty_storages(arenaut_iteration *it, uint32_t from, uint32_t to) {
    for (uint32_t s = from; s < to; s++) {
        arenaut_storage *storage = &it->storages.block[s];
        note_size(it, s, storage->bytes);
        const bool kept =
            arn_runtime_slot_is_output(it, s) && (!it->swapped || is_used_by_held(it, storage));
        if (!kept) release_storage(storage);
    }
}

/* The same for slots of the arena that are untouched and no outputs: nothing to learn. */
static void clear_storages(arenaut_iteration *it) {
    arenaut_storage *block = it->storages.block;
    const uint32_t n = it->n_arena;
    for (uint32_t s = 0; s < n; s++) block[s] = (arenaut_storage){NULL, 0, NULL};
}

static void call(void (*hook)(void *, uint32_t), void *context, uint32_t value) {
    if (hook) hook(context, value);
}

/* What is returned becomes its own owner before anything that it may refer to is given up. Of
 * a run that is aborted nothing is returned. */
static void give_up_unmanaged(arenaut_iteration *it, bool aborted) {
    const arenaut_value_hooks *hooks = &it->hooks;
    for (uint32_t v = 0; v < it->n_values && !aborted; v++) {
        if (it->value[v].kind == ARENAUT_VALUE_BORROWED && it->value[v].returned)
            call(hooks->retain, hooks->context, v);
    }
    for (uint32_t v = 0; v < it->n_values; v++) {
        if (it->value[v].kind == ARENAUT_VALUE_BORROWED && (aborted || !it->value[v].returned))
            call(hooks->forget, hooks->context, v);
        if (it->value[v].returned) continue;
        if (it->value[v].kind == ARENAUT_VALUE_UNMANAGED) call(hooks->release, hooks->context, v);
    }
}

arenaut_status arenaut_iteration_deallocate(arenaut_iteration *it, arenaut_fault *fault) {
    arenaut_status status = ARENAUT_OK;
    if (!it->running) return arn_runtime_fault(fault, ARENAUT_FAULT_NOT_RUNNING, 0, 0, 0);
    const bool arena_untouched = are_untouched(it, 0, it->n_arena, it->buffer);
    if (ARENAUT_CHECKED) status = check_storages(it, arena_untouched ? it->n_arena : 0, fault);
    if (status == ARENAUT_OK && it->swapped) status = check_swapped_outputs(it, fault);
    if (status != ARENAUT_OK) return status;
    if (it->has_unmanaged) give_up_unmanaged(it, false);
    if (it->swapped) learn_swapped(it);
    hold_outputs(it);
    if (it->swapped) put_storages_back(it);
    if (arena_untouched && !it->options.outputs_in_arena) clear_storages(it);
    else empty_storages(it, 0, it->n_arena);
    empty_storages(it, it->n_arena, it->n_slots);
    if (it->plan_number == 0) it->due = true; /* even if all there was had no bytes */
    it->running = it->swapped = false;
    drop_buffers(it, it->held_in_arena == 0, it->held_in_outputs == 0);
    return ARENAUT_OK;
}

/* What a storage owns goes back; what a swapped one borrowed was never ours. */
static void release_used(arenaut_iteration *it, arenaut_storage *storage) {
    if (storage->source || arenaut_iteration_is_storage_managed(it, storage))
        release_storage(storage);
}

arenaut_status arenaut_iteration_abort(arenaut_iteration *it, arenaut_fault *fault) {
    if (!it->running) return arn_runtime_fault(fault, ARENAUT_FAULT_NOT_RUNNING, 0, 0, 0);
    if (it->has_unmanaged) give_up_unmanaged(it, true);
    for (uint32_t v = 0; v < it->n_values; v++) {
        if (it->slot[v] == ARENAUT_NO_VALUE) continue;
        release_used(it, it->current[v]);
        it->current[v] = own_storage(it, v);
        it->length[v] = ARN_NO_LENGTH;
    }
    for (uint32_t s = 0; s < it->n_slots; s++) release_storage(&it->storages.block[s]);
    it->running = it->swapped = false;
    drop_buffers(it, true, true);
    return ARENAUT_OK;
}

arenaut_status arenaut_iteration_release_output(arenaut_iteration *it, uint32_t value,
                                                arenaut_fault *fault) {
    if (it->running) return arn_runtime_fault(fault, ARENAUT_FAULT_RUNNING, 0, 0, 0);
    if (!arn_runtime_is_held(it, value))
        return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUTS_RELEASED, value, 0, 0);
    const uint32_t in_arena = it->held_in_arena, in_outputs = it->held_in_outputs;
    arenaut_storage *used = it->current[value];
    let_go(it, value);
    if (!is_used_by_held(it, used)) {
        const bool planned = !used->source && arenaut_iteration_is_storage_managed(it, used);
        if (it->options.poison && planned) fill(used->data, used->bytes);
        release_used(it, used);
    }
    drop_buffers(it, in_arena && !it->held_in_arena, in_outputs && !it->held_in_outputs);
    return ARENAUT_OK;
}

arenaut_status arenaut_iteration_release_outputs(arenaut_iteration *it, arenaut_fault *fault) {
    const bool arena = it->held_in_arena, outputs = it->held_in_outputs;
    if (it->running) return arn_runtime_fault(fault, ARENAUT_FAULT_RUNNING, 0, 0, 0);
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
    if (it->running) return arn_runtime_fault(fault, ARENAUT_FAULT_RUNNING, 0, 0, 0);
    if (it->n_held) return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUTS_HELD, 0, 0, 0);
    for (uint32_t v = 0; v < it->n_values; v++) {
        if (it->value[v].kind != ARENAUT_VALUE_OUTPUT) continue;
        it->most[it->slot[v]] = it->planned[it->slot[v]] = 0;
        it->slot[v] = ARENAUT_NO_VALUE;
        it->current[v] = NULL;
        it->value[v].kind = ARENAUT_VALUE_UNMANAGED;
        if (it->plan_number) it->due = true;
    }
    it->n_outputs = 0;
    it->options.manage_outputs = false;
    arn_runtime_count_reused(it);
    give_back(it, &it->output_buffer, &it->output_buffer_bytes);
    return ARENAUT_OK;
}

arenaut_status arenaut_iteration_close(arenaut_iteration *it, arenaut_fault *fault) {
    if (it->running) return arn_runtime_fault(fault, ARENAUT_FAULT_RUNNING, 0, 0, 0);
    if (it->n_held) return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUTS_HELD, 0, 0, 0);
    give_back(it, &it->buffer, &it->buffer_bytes);
    give_back(it, &it->output_buffer, &it->output_buffer_bytes);
    return ARENAUT_OK;
}
