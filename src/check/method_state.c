/* State of one method in a memory that other methods work in, too. ExecuTorch's C++ Module gives
 * each method memory of its own unless it is asked for one for all (share_memory_arenas), its
 * Python Runtime gives all methods one; the file does not say by which it will run. One walk over
 * the tensors, which finds the methods that have values in a memory, one over the state, and the
 * names sorted. */
#include <inttypes.h>
#include <string.h>

#include "check/finding.h"
#include "check/method_state.h"
#include "core/memory.h"
#include "core/sort.h"

/* Facts about a memory of the same number in all methods. */
typedef struct contents {
    uint32_t value[2]; /* values of two methods, of one, or of none (NONE) */
    bool joint;        /* it has state that several methods have in common */
} contents;

static bool lies_in_memory(const arenaut_program *p, uint32_t t, uint32_t n_memories) {
    const arenaut_tensor *tensor = &p->tensors[t];
    return tensor->given_pool < n_memories && tensor->bytes > 0 && tensor->method != ARENAUT_NONE &&
           tensor->cls != ARENAUT_CONSTANT;
}

static void note_value(const arenaut_program *p, contents *c, uint32_t t) {
    if (c->value[0] == ARENAUT_NONE) c->value[0] = t;
    else if (p->tensors[c->value[0]].method != p->tensors[t].method) c->value[1] = t;
}

static bool by_name(const void *context, uint32_t a, uint32_t b) {
    const arenaut_tensor *tensors = context;
    return strcmp(tensors[a].qualified_name, tensors[b].qualified_name) < 0;
}

/* State of one name in several methods is one thing: passes have taken other names away. */
static void find_joint(const arenaut_program *p, contents *memory, uint32_t *named, uint32_t n) {
    arn_sort_ids(named, n, by_name, p->tensors, named + n);
    for (uint32_t i = 1; i < n; i++) {
        const arenaut_tensor *a = &p->tensors[named[i - 1]], *b = &p->tensors[named[i]];
        if (a->method == b->method || by_name(p->tensors, named[i - 1], named[i])) continue;
        memory[a->given_pool].joint = memory[b->given_pool].joint = true;
    }
}

/* A value of another method in the memory of state `t`; NONE: none is in its way. */
static uint32_t find_other(const arenaut_program *p, const contents *memory, uint32_t t) {
    const arenaut_tensor *state = &p->tensors[t];
    const contents *c = &memory[state->given_pool];
    for (int i = 0; i < 2 && !c->joint; i++) {
        if (c->value[i] == ARENAUT_NONE) continue;
        if (p->tensors[c->value[i]].method != state->method) return c->value[i];
    }
    return ARENAUT_NONE;
}

static arenaut_status reject(const arenaut_program *p, uint32_t state, uint32_t other,
                             arenaut_finding *finding, arenaut_error *err) {
    char store[24];
    const arenaut_tensor *tensor = &p->tensors[state];
    finding->rule = ARENAUT_RULE_STATE_LOST;
    finding->a = state;
    finding->b = other;
    finding->method = tensor->method;
    return arn_check_reject(
        finding, err,
        "'%.40s' of method '%.40s' is kept in memory %" PRIu32
        ", which method '%.40s' has too: it "
        "lasts where each method has memory of its own, not where all have one (Python's Runtime, "
        "share_memory_arenas); share_mutable_buffers=True exports state apart",
        arenaut_program_tensor_name(p, state, store), p->methods[tensor->method].name,
        tensor->given_pool + 1, p->methods[p->tensors[other].method].name);
}

/* What lies in each memory, and the state, at the front of `ids`, which has room for three times
 * the tensors; returns their number. */
static uint32_t look_into(const arenaut_program *p, contents *memory, uint32_t n_memories,
                          uint32_t *ids) {
    uint32_t n = 0, n_named = 0, *named = ids + p->n_tensors;
    for (uint32_t k = 0; k < n_memories; k++) {
        memory[k] = (contents){{ARENAUT_NONE, ARENAUT_NONE}, false};
    }
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        if (!lies_in_memory(p, t, n_memories) || tensor->view_of != ARENAUT_NONE) continue;
        if (tensor->cls == ARENAUT_STATE) ids[n++] = t;
        else note_value(p, &memory[tensor->given_pool], t);
        if (tensor->cls == ARENAUT_STATE && tensor->qualified_name) named[n_named++] = t;
    }
    find_joint(p, memory, named, n_named);
    return n;
}

arenaut_status arn_check_method_state(const arenaut_program *read, const arenaut_program *program,
                                      const arenaut_allocator *allocator, arenaut_finding *finding,
                                      arenaut_error *err) {
    uint32_t n_memories = 0, *ids;
    contents *memory;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const uint32_t n = program->methods[m].n_given_pools;
        if (n > n_memories) n_memories = n;
    }
    (void)read;
    *finding = arn_check_no_finding();
    arenaut_status st = ARENAUT_OK;
    arn_region region;
    arn_region_init(&region, allocator);
    if (ARN_REGION_ARRAYS(&region, ARN_ARRAY(memory, n_memories),
                          ARN_ARRAY(ids, 3 * (size_t)program->n_tensors))) {
        const uint32_t n = look_into(program, memory, n_memories, ids);
        for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
            const uint32_t other = find_other(program, memory, ids[i]);
            if (other != ARENAUT_NONE) st = reject(program, ids[i], other, finding, err);
        }
    } else {
        st = arn_no_memory(err);
    }
    arn_region_free(&region);
    return st;
}
