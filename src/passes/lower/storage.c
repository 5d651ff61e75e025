/* Alias classes: tensors that are one storage, and storages that need memory from the arena. A view
 * is its source's storage, and tensors of one qualified name are one. Storages outside of arenas
 * (constants, the caller's, those of no bytes) get no buffer. O(tensors log tensors +
 * arguments). */
#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "ir/program.h"
#include "ir/shared_state.h"
#include "kernels/kernel_set.h"
#include "passes/lower/lower.h"

/* Lets the first tensor of each qualified name stand for all of that name. */
static arenaut_status join_names(arn_lower *lower) {
    const arenaut_program *p = lower->program;
    uint32_t n = 0;
    uint32_t *named = arn_region_allocate(&lower->scratch, p->n_tensors, 2 * sizeof *named);
    if (!named) return arn_no_memory(lower->err);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].qualified_name && p->tensors[t].view_of == ARENAUT_NONE) named[n++] = t;
    }
    arn_sort_ids(named, n, arn_by_qualified_name, p->tensors, named + n);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = p->tensors[named[i]].qualified_name;
        const bool joins = i > 0 && strcmp(name, p->tensors[named[i - 1]].qualified_name) == 0;
        if (!joins) continue;
        const arenaut_status st = arn_shared_state_check(p, named[i - 1], named[i], lower->err);
        if (st != ARENAUT_OK) return st;
        lower->live.storage.of[named[i]] = lower->live.storage.of[named[i - 1]];
    }
    return ARENAUT_OK;
}

static void mark(arn_lower *lower, const uint32_t *tensors, uint32_t count, uint8_t facts) {
    for (uint32_t i = 0; i < count; i++) {
        if (tensors[i] == ARENAUT_NONE) continue;
        lower->live.storage.facts[lower->live.storage.of[tensors[i]]] |= facts;
    }
}

/* Facts from the tensor itself. */
static uint8_t own_facts(const arn_lower *lower, const arenaut_tensor *tensor) {
    const bool state = tensor->cls == ARENAUT_STATE || tensor->qualified_name;
    uint8_t facts = state ? ARN_ALWAYS_ALIVE : 0;
    if (tensor->cls != ARENAUT_CONSTANT) facts |= ARN_NOT_CONSTANT;
    if (tensor->caller_owned || tensor->bytes == 0 || (state && !lower->target->state_in_arena)) {
        facts |= ARN_NO_BUFFER;
    }
    return facts;
}

/* Facts from the methods and ops that name the tensors. */
static void mark_uses(arn_lower *lower) {
    const arenaut_program *p = lower->program;
    const uint8_t excluded = lower->options.exclude_io ? ARN_NO_BUFFER : 0;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        mark(lower, method->outputs, method->n_outputs, ARN_RESULT);
        if (!method->entry) continue;
        mark(lower, method->inputs, method->n_inputs, (uint8_t)(ARN_ENTRY_INPUT | excluded));
        mark(lower, method->outputs, method->n_outputs, (uint8_t)(ARN_ENTRY_OUTPUT | excluded));
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (arn_op_kind_brings_memory(op->kind))
            mark(lower, op->outputs, op->n_outputs, ARN_NO_BUFFER);
    }
}

/* If methods have arenas of their own, methods that do not run are left out: tensors that only they
 * use stay unplanned. */
static void leave_out_idle_methods(arn_lower *lower) {
    const arenaut_program *p = lower->program;
    uint8_t *facts = lower->live.storage.facts;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const uint32_t method = p->tensors[t].method;
        if (method == ARENAUT_NONE || lower->live.runs[method])
            facts[lower->live.storage.of[t]] |= ARN_RUNS;
    }
    for (uint32_t t = 0; t < p->n_tensors && lower->target->arena_per_method; t++) {
        if (!(facts[t] & ARN_RUNS)) facts[t] |= ARN_NO_BUFFER;
    }
}

/* The alignment that an op needs of its arguments; 0: none of its own. */
static arenaut_align_rule align_of_op(const arn_lower *lower, const char *name) {
    const arenaut_align_rule *rule = arenaut_kernel_align(lower->options.kernels, name);
    arenaut_align_rule found = rule ? *rule : (arenaut_align_rule){.op = name};
    for (uint32_t i = 0; i < lower->options.n_op_align && name; i++) {
        rule = &lower->options.op_align[i];
        if (strcmp(rule->op, name) == 0) found.align = arn_max_u64(found.align, rule->align);
    }
    return found;
}

/* A view lies as well as its buffer does only at a multiple of the alignment in it, and the bytes
 * behind it are its own only where it is the last. */
static arenaut_status raise_alignment(arn_lower *lower, const arenaut_align_rule *rule,
                                      const uint32_t *tensors, uint32_t n) {
    const uint64_t align = rule->align;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t t = tensors[i], s = t == ARENAUT_NONE ? t : lower->live.storage.of[t];
        if (t == ARENAUT_NONE || (lower->live.storage.facts[s] & ARN_NO_BUFFER)) continue;
        uint64_t offset;
        arenaut_program_storage(lower->program, t, &offset);
        const arenaut_tensor *tensor = &lower->program->tensors[t];
        const bool cut = rule->rounds && tensor->bytes % align != 0 &&
                         tensor->bytes < lower->program->tensors[s].bytes - offset;
        if (offset % align != 0 || cut) {
            char store[24];
            return arn_fail(
                lower->err, ARENAUT_REFUSED, 0,
                "op '%.60s' wants its arguments %s multiples of %" PRIu64
                "; tensor '%.60s' is a view of %" PRIu64 " bytes at byte %" PRIu64 " of its buffer",
                rule->op, cut ? "to be" : "at", align,
                arenaut_program_tensor_name(lower->program, t, store), tensor->bytes, offset);
        }
        lower->live.storage.align[s] = arn_max_u64(lower->live.storage.align[s], align);
        if (rule->rounds) lower->unit[s] = arn_max_u64(lower->unit[s], align);
    }
    return ARENAUT_OK;
}

static arenaut_status align_for_ops(arn_lower *lower) {
    const arenaut_program *p = lower->program;
    arenaut_status st = ARENAUT_OK;
    if (!arn_kernels_align(lower->options.kernels) && lower->options.n_op_align == 0) return st;
    lower->unit = arn_region_allocate(&lower->scratch, p->n_tensors, sizeof *lower->unit);
    if (!lower->unit) return arn_no_memory(lower->err);
    for (uint32_t t = 0; t < p->n_tensors; t++) lower->unit[t] = 1;
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) {
        const arenaut_op *op = &p->ops[i];
        const arenaut_align_rule rule = align_of_op(lower, op->name);
        if (rule.align == 0 || !arn_op_kind_touches(op->kind)) continue;
        if (!arn_is_power_of_two(rule.align)) {
            return arn_fail(lower->err, ARENAUT_BAD_ARGUMENT, 0,
                            "op '%.60s': the alignment %" PRIu64 " is no power of two", op->name,
                            rule.align);
        }
        st = raise_alignment(lower, &rule, op->inputs, op->n_inputs);
        if (st == ARENAUT_OK) st = raise_alignment(lower, &rule, op->outputs, op->n_outputs);
    }
    return st;
}

/* A size that is still open here would be planned as nothing. Tensors marked `unsized` are left
 * out, and reports name them. */
static arenaut_status check_sizes(const arn_lower *lower) {
    const arenaut_program *p = lower->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        const bool planned = tensor->view_of == ARENAUT_NONE && !tensor->caller_owned &&
                             tensor->cls != ARENAUT_CONSTANT;
        for (uint32_t i = 0; i < tensor->rank && planned && tensor->bytes == 0; i++) {
            if (tensor->unsized || tensor->dims[i] >= 0) continue;
            char store[24];
            return arn_fail(
                lower->err, ARENAUT_BAD_INPUT, 0,
                "tensor '%.60s': the size of its shape is open, since dimension %" PRIu32
                " is not known; state it, or the bytes, or that it is 'unsized'",
                arenaut_program_tensor_name(p, t, store), i);
        }
    }
    return ARENAUT_OK;
}

/* Whether an op that updates operands updates this one: by its pairs, else where an output is
 * that operand, else the first. */
static bool updates_operand(const arn_lower *lower, const arenaut_op *op, uint32_t input) {
    const uint32_t *of = lower->live.storage.of;
    bool any = false;
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        if (op->in_place[i].input == input) return true;
    }
    for (uint32_t o = 0; o < op->n_outputs && op->n_in_place == 0; o++) {
        if (op->outputs[o] == ARENAUT_NONE) continue;
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            if (op->inputs[i] == ARENAUT_NONE || of[op->inputs[i]] != of[op->outputs[o]]) continue;
            if (i == input) return true;
            any = true;
        }
    }
    return input == 0 && !any && op->n_in_place == 0;
}

static arenaut_status check_update(const arn_lower *lower, const arenaut_op *op, uint32_t tensor) {
    const uint8_t facts = lower->live.storage.facts[lower->live.storage.of[tensor]];
    const char *name = op->name ? op->name : "op";
    char store[24];
    if (!(facts & ARN_NOT_CONSTANT)) {
        return arn_fail(lower->err, ARENAUT_BAD_INPUT, 0,
                        "op '%.60s' writes over '%.60s', which is a constant; it may write over "
                        "values, inputs and state",
                        name, arenaut_program_tensor_name(lower->program, tensor, store));
    }
    if ((facts & ARN_ENTRY_INPUT) && lower->options.preserve_inputs) {
        return arn_fail(
            lower->err, ARENAUT_REFUSED, 0,
            "op '%.60s' writes over '%.60s', an input that is to be preserved; it would "
            "have to write to a copy",
            name, arenaut_program_tensor_name(lower->program, tensor, store));
    }
    return ARENAUT_OK;
}

/* Mistakes in updates that are wrong with any plan. */
static arenaut_status check_updates(const arn_lower *lower) {
    const arenaut_program *p = lower->program;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_inputs && op->kind == ARENAUT_OP_IN_PLACE; k++) {
            if (op->inputs[k] == ARENAUT_NONE || !updates_operand(lower, op, k)) continue;
            st = check_update(lower, op, op->inputs[k]);
            if (st != ARENAUT_OK) return st;
        }
    }
    return st;
}

arenaut_status arn_lower_storage(arn_lower *lower) {
    const arenaut_program *p = lower->program;
    arn_storage *storage = &lower->live.storage;
    storage->of = arn_region_allocate(&lower->scratch, p->n_tensors, sizeof *storage->of);
    storage->facts = arn_region_allocate(&lower->scratch, p->n_tensors, sizeof *storage->facts);
    storage->align = arn_region_allocate(&lower->scratch, p->n_tensors, sizeof *storage->align);
    if (!storage->of || !storage->facts || !storage->align) return arn_no_memory(lower->err);
    for (uint32_t t = 0; t < p->n_tensors; t++) storage->of[t] = t;
    arenaut_status st = join_names(lower);
    if (st != ARENAUT_OK) return st;

    const uint64_t least = arn_max_u64(lower->target->align, lower->options.align);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const uint32_t of = p->tensors[t].view_of;
        if (of != ARENAUT_NONE) storage->of[t] = storage->of[of];
        storage->facts[t] = 0;
        storage->align[t] = arn_max_u64(least, 1);
    }
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        const uint32_t s = storage->of[t];
        storage->align[s] = arn_max_u64(storage->align[s], tensor->align);
        /* Of a view, nothing but its alignment says anything about the storage. */
        if (tensor->view_of == ARENAUT_NONE) storage->facts[s] |= own_facts(lower, tensor);
    }
    /* A constant of one method is state if another one writes it. */
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (!(storage->facts[t] & ARN_NOT_CONSTANT)) storage->facts[t] |= ARN_NO_BUFFER;
    }
    st = check_sizes(lower);
    if (st != ARENAUT_OK) return st;
    mark_uses(lower);
    st = check_updates(lower);
    if (st != ARENAUT_OK) return st;
    leave_out_idle_methods(lower);
    return align_for_ops(lower);
}
