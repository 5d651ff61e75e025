/* Setting up an iteration in the caller's memory: checks the given values, counts the bytes needed,
 * and lays its arrays out. The only place that validates the caller's arguments; the rest of the
 * runtime relies on it. O(values log values). */
#include "runtime/iteration.h"

arenaut_iteration_options arenaut_iteration_defaults(void) {
    const arenaut_iteration_options options = {
        .out_variants = true, .manage_outputs = true, .optimise_memory = true, .fall_back = true};
    return options;
}

arenaut_status arenaut_iteration_options_check(const arenaut_iteration_options *options,
                                               arenaut_fault *fault) {
    if (options->manage_outputs && !options->out_variants)
        return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUTS_WITHOUT_VARIANTS, 0, 0, 0);
    if (options->optimise_memory && !options->out_variants)
        return arn_runtime_fault(fault, ARENAUT_FAULT_OPTIMISE_WITHOUT_VARIANTS, 0, 0, 0);
    if (options->outputs_in_arena && !options->manage_outputs)
        return arn_runtime_fault(fault, ARENAUT_FAULT_ARENA_WITHOUT_OUTPUTS, 0, 0, 0);
    if (options->grouping > ARENAUT_BY_GROUPS)
        return arn_runtime_fault(fault, ARENAUT_FAULT_GROUPING, 0, options->grouping,
                                 ARENAUT_BY_GROUPS);
    if (options->align != 0 && !arn_runtime_is_power(options->align))
        return arn_runtime_fault(fault, ARENAUT_FAULT_ALIGNMENT, 0, options->align, 0);
    return ARENAUT_OK;
}

/* Cuts columns from one block, the widest first, so that none needs padding. */
typedef struct carving {
    char *at;
    size_t used;
    uint32_t count; /* entries of every column */
    bool fits;
} carving;

static void *carve(carving *c, size_t entry) {
    void *column = c->at ? c->at + c->used : NULL;
    if (c->count && entry > (SIZE_MAX - c->used) / c->count) c->fits = false;
    else c->used += entry * c->count;
    return column;
}

/* Sets every column of *it to its place behind it. */
static void carve_columns(arenaut_iteration *it, carving *c) {
    arenaut_storage *block;
    block = carve(c, sizeof *block);
    it->current = carve(c, sizeof *it->current);
    it->hidden = carve(c, sizeof *it->hidden);
    it->length = carve(c, sizeof *it->length);
    it->most = carve(c, sizeof *it->most);
    it->planned = carve(c, sizeof *it->planned);
    it->offset = carve(c, sizeof *it->offset);
    it->next_offset = carve(c, sizeof *it->next_offset);
    it->group_bytes = carve(c, sizeof *it->group_bytes);
    it->value = carve(c, sizeof *it->value);
    it->slot = carve(c, sizeof *it->slot);
    it->first = carve(c, sizeof *it->first);
    it->last = carve(c, sizeof *it->last);
    it->over = carve(c, sizeof *it->over);
    it->named = carve(c, sizeof *it->named);
    it->group = carve(c, sizeof *it->group);
    it->outputs = carve(c, sizeof *it->outputs);
    for (int i = 0; i < 3; i++) it->work[i] = carve(c, sizeof *it->work[i]);
    it->storages = (arenaut_storages){block, c->count, 0};
}

size_t arenaut_iteration_bytes(uint32_t n_values) {
    arenaut_iteration nowhere = {0};
    carving c = {NULL, sizeof nowhere, n_values, true};
    carve_columns(&nowhere, &c);
    return c.fits ? c.used : 0;
}

/* Kind of a value under these options: without out variants nothing is managed, and outputs that
 * are not managed are the caller's. */
static arenaut_value under_options(const arenaut_value *given,
                                   const arenaut_iteration_options *options) {
    arenaut_value value = *given;
    if (value.kind == ARENAUT_VALUE_OUTPUT) {
        value.returned = true;
        if (!options->manage_outputs) value.kind = ARENAUT_VALUE_UNMANAGED;
    }
    if (value.kind == ARENAUT_VALUE_MANAGED && !options->out_variants)
        value.kind = ARENAUT_VALUE_UNMANAGED;
    return value;
}

static bool is_managed(const arenaut_value *value) {
    return value->kind == ARENAUT_VALUE_MANAGED || value->kind == ARENAUT_VALUE_OUTPUT;
}

static uint32_t storage_of(const arenaut_value *value, uint32_t v) {
    return value->storage == ARENAUT_NO_VALUE ? v : value->storage;
}

static arenaut_status check_value(const arenaut_iteration_config *config, uint32_t v,
                                  arenaut_fault *fault) {
    const arenaut_value *value = &config->value[v];
    if (value->kind > ARENAUT_VALUE_SCALAR)
        return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE_KIND, v, value->kind, 0);
    if (!is_managed(value)) return ARENAUT_OK;
    if (value->last < value->first)
        return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE_LIFE, v, value->last, value->first);
    const uint32_t root = storage_of(value, v);
    if (root >= config->n_values)
        return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE, root, 0, config->n_values);
    if (storage_of(&config->value[root], root) != root || !is_managed(&config->value[root]))
        return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE_STORAGE, v, root, 0);
    if (config->value[root].kind != value->kind)
        return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE_STORAGE_KIND, v, root, 0);
    if (value->over != ARENAUT_NO_VALUE && value->over >= config->n_values)
        return arn_runtime_fault(fault, ARENAUT_FAULT_VALUE, value->over, 0, config->n_values);
    return ARENAUT_OK;
}

static arenaut_status check_config(const arenaut_iteration_config *config, arenaut_fault *fault) {
    const arenaut_iteration_options *options = &config->options;
    arenaut_status status = arenaut_iteration_options_check(options, fault);
    if (status != ARENAUT_OK) return status;
    if (config->n_values && !config->value)
        return arn_runtime_fault(fault, ARENAUT_FAULT_ARGUMENT, 0, 0, config->n_values);
    if (options->optimise_memory && options->grouping == ARENAUT_BY_OFFSETS && !config->place)
        return arn_runtime_fault(fault, ARENAUT_FAULT_OFFSETS_WITHOUT_PLANNER, 0, 0, 0);
    if (!config->source.allocate || !config->source.release ||
        (config->arena.allocate && !config->arena.release))
        return arn_runtime_fault(fault, ARENAUT_FAULT_ARGUMENT, 0, 0, 0);
    const arenaut_source *arena = config->arena.allocate ? &config->arena : &config->source;
    if (options->poison && arena->device.type != ARENAUT_DEVICE_HOST)
        return arn_runtime_fault(fault, ARENAUT_FAULT_POISON_DEVICE, arena->device.type, 0, 0);
    for (uint32_t v = 0; v < config->n_values && status == ARENAUT_OK; v++)
        status = check_value(config, v, fault);
    return status;
}

/* A new slot for the storage of value `v`. */
static void add_slot(arenaut_iteration *it, uint32_t v) {
    const uint32_t s = it->n_slots++;
    const arenaut_storage model = {NULL, 0, NULL};
    arenaut_storages_append(&it->storages, &model, NULL); /* there is room for every value */
    it->slot[v] = s;
    it->named[s] = v;
    it->most[s] = it->planned[s] = it->offset[s] = 0;
    it->first[s] = it->value[v].first;
    it->last[s] = it->value[v].last;
    it->over[s] = ARENAUT_NO_VALUE;
}

static void add_slots(arenaut_iteration *it, arenaut_value_kind kind) {
    for (uint32_t v = 0; v < it->n_values; v++) {
        if (it->value[v].kind == kind && storage_of(&it->value[v], v) == v) add_slot(it, v);
    }
}

/* Values that lie in another's storage, and the lifetime of a storage over all of them. */
static void join_storages(arenaut_iteration *it) {
    for (uint32_t v = 0; v < it->n_values; v++) {
        const arenaut_value *value = &it->value[v];
        it->current[v] = NULL;
        it->length[v] = ARN_NO_LENGTH;
        if (!is_managed(value)) continue;
        const uint32_t s = it->slot[storage_of(value, v)];
        it->slot[v] = s;
        it->current[v] = &it->storages.block[s];
        if (value->first < it->first[s]) it->first[s] = value->first;
        if (value->last > it->last[s]) it->last[s] = value->last;
        if (value->kind != ARENAUT_VALUE_OUTPUT) continue;
        it->last[s] = UINT32_MAX; /* till released */
        it->outputs[it->n_outputs++] = v;
    }
}

/* Permissions to be written over another storage: dropped if that one lives on, under any name, or
 * lies elsewhere, and if a value in this storage begins before the one that has the permission. */
static void set_permissions(arenaut_iteration *it) {
    for (uint32_t s = 0; s < it->n_arena; s++) {
        const arenaut_value *named = &it->value[it->named[s]];
        const uint32_t over = named->over;
        const uint32_t under = over == ARENAUT_NO_VALUE ? over : it->slot[over];
        if (under < it->n_arena && under != s && named->first == it->first[s] &&
            it->last[under] == it->first[s])
            it->over[s] = under;
    }
}

static void set_up_slots(arenaut_iteration *it) {
    for (uint32_t v = 0; v < it->n_values; v++) it->slot[v] = ARENAUT_NO_VALUE;
    add_slots(it, ARENAUT_VALUE_MANAGED);
    it->n_arena = it->n_slots;
    add_slots(it, ARENAUT_VALUE_OUTPUT);
    if (it->options.outputs_in_arena) it->n_arena = it->n_slots;
    join_storages(it);
    set_permissions(it);
    if (it->options.optimise_memory && it->options.grouping == ARENAUT_BY_GROUPS) {
        arn_runtime_assign_groups(it);
        arn_runtime_count_reused(it);
    }
}

arenaut_status arenaut_iteration_init(void *memory, size_t bytes,
                                      const arenaut_iteration_config *config,
                                      arenaut_iteration **out, arenaut_fault *fault) {
    const size_t needed = arenaut_iteration_bytes(config->n_values);
    if (needed == 0) return arn_runtime_fault(fault, ARENAUT_FAULT_SIZE, 0, 0, 0);
    if (!memory || bytes < needed)
        return arn_runtime_fault(fault, ARENAUT_FAULT_WORKSPACE, 0, memory ? bytes : 0, needed);
    if ((uintptr_t)memory % _Alignof(arenaut_iteration))
        return arn_runtime_fault(fault, ARENAUT_FAULT_WORKSPACE_MISALIGNED, 0, 0,
                                 _Alignof(arenaut_iteration));
    const arenaut_status status = check_config(config, fault);
    if (status != ARENAUT_OK) return status;

    arenaut_iteration *it = memory;
    *it = (arenaut_iteration){.options = config->options,
                              .source = config->source,
                              .arena = config->arena.allocate ? config->arena : config->source,
                              .place = config->place,
                              .place_context = config->place_context,
                              .hooks = config->hooks,
                              .n_values = config->n_values};
    if (it->options.align == 0) it->options.align = 64;
    carving c = {memory, sizeof *it, config->n_values, true};
    carve_columns(it, &c);
    for (uint32_t v = 0; v < it->n_values; v++) {
        it->value[v] = under_options(&config->value[v], &it->options);
        const uint8_t kind = it->value[v].kind;
        it->has_unmanaged |= kind == ARENAUT_VALUE_UNMANAGED || kind == ARENAUT_VALUE_BORROWED;
    }
    set_up_slots(it);
    *out = it;
    return ARENAUT_OK;
}
