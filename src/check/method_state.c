/* State of one method in a memory that other methods work in, too. ExecuTorch's C++ Module gives
 * each method memory of its own unless it is asked for one for all (share_memory_arenas), its
 * Python Runtime gives all methods one; the file does not say by which it will run. A sweep
 * over the tensors of a memory by the places at which they begin. */
#include <inttypes.h>

#include "check/finding.h"
#include "check/method_state.h"
#include "core/checked.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/program.h"

/* Of two methods each the tensor that ends last, of those that begin no later than the one at work;
 * NONE. */
typedef struct latest {
    uint32_t tensor[2];
} latest;

/* Facts about a memory of the same number in all methods. */
typedef struct contents {
    latest states, values;
    bool joint; /* it has state that several methods have in common */
} contents;

static bool lies_in_memory(const arenaut_program *p, uint32_t t, uint32_t n_memories) {
    const arenaut_tensor *tensor = &p->tensors[t];
    return tensor->given_pool < n_memories && tensor->bytes > 0 && tensor->method != ARENAUT_NONE &&
           tensor->cls != ARENAUT_CONSTANT && tensor->view_of == ARENAUT_NONE;
}

static uint64_t end_of(const arenaut_program *p, uint32_t t) {
    uint64_t end = UINT64_MAX;
    if (t == ARENAUT_NONE) return 0;
    return arn_add(p->tensors[t].given_offset, p->tensors[t].bytes, &end) ? end : UINT64_MAX;
}

static bool in_one_method(const arenaut_program *p, uint32_t a, uint32_t b) {
    return a != ARENAUT_NONE && p->tensors[a].method == p->tensors[b].method;
}

static void keep(const arenaut_program *p, latest *l, uint32_t t) {
    const bool again = in_one_method(p, l->tensor[0], t);
    const bool longest = end_of(p, t) > end_of(p, l->tensor[0]);
    if (longest && !again) l->tensor[1] = l->tensor[0];
    if (longest) l->tensor[0] = t;
    else if (!again && end_of(p, t) > end_of(p, l->tensor[1])) l->tensor[1] = t;
}

/* One of another method; `over`: in whose bytes the tensor begins. NONE: there is none. */
static uint32_t of_another(const arenaut_program *p, const latest *l, uint32_t t, bool over) {
    for (int i = 0; i < 2; i++) {
        const uint32_t other = l->tensor[i];
        if (other == ARENAUT_NONE || in_one_method(p, other, t)) continue;
        if (!over || end_of(p, other) > p->tensors[t].given_offset) return other;
    }
    return ARENAUT_NONE;
}

/* State of one name in several methods is one thing: passes have taken other names away. */
static void find_joint(const arenaut_program *p, contents *memory, uint32_t *named, uint32_t n) {
    arn_sort_ids(named, n, arn_by_qualified_name, p->tensors, named + n);
    for (uint32_t i = 1; i < n; i++) {
        const arenaut_tensor *a = &p->tensors[named[i - 1]], *b = &p->tensors[named[i]];
        if (a->method == b->method || arn_by_qualified_name(p->tensors, named[i - 1], named[i]))
            continue;
        memory[a->given_pool].joint = memory[b->given_pool].joint = true;
    }
}

/* State, and a tensor of another method in its memory: over it, if there is one such pair. */
typedef struct encounter {
    uint32_t state, other;
    bool over;
} encounter;

static void meet(encounter *e, uint32_t state, uint32_t other, bool over) {
    if (state == ARENAUT_NONE || other == ARENAUT_NONE) return;
    if (e->state == ARENAUT_NONE || (over && !e->over)) *e = (encounter){state, other, over};
}

/* Tensors come by the places at which they begin. */
static void visit(const arenaut_program *p, contents *c, uint32_t t, encounter *e) {
    const bool state = p->tensors[t].cls == ARENAUT_STATE;
    for (int over = 0; over < 2; over++) {
        const uint32_t before = of_another(p, &c->states, t, over);
        if (state) meet(e, t, of_another(p, &c->values, t, over), over);
        meet(e, before, t, over);
    }
    keep(p, state ? &c->states : &c->values, t);
}

static encounter find_encounter(const arenaut_program *p, contents *memory, uint32_t n_memories,
                                uint32_t *ids, uint64_t *begin) {
    encounter e = {ARENAUT_NONE, ARENAUT_NONE, false};
    uint32_t n = 0;
    for (uint32_t k = 0; k < n_memories; k++) {
        const latest none = {{ARENAUT_NONE, ARENAUT_NONE}};
        memory[k] = (contents){none, none, false};
    }
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        if (!lies_in_memory(p, t, n_memories)) continue;
        if (tensor->cls == ARENAUT_STATE && tensor->qualified_name) ids[n++] = t;
    }
    find_joint(p, memory, ids, n);
    n = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        begin[t] = p->tensors[t].given_offset;
        if (lies_in_memory(p, t, n_memories) && !memory[p->tensors[t].given_pool].joint) {
            ids[n++] = t;
        }
    }
    arn_sort_by_key(ids, n, begin, ids + n);
    for (uint32_t i = 0; i < n; i++) visit(p, &memory[p->tensors[ids[i]].given_pool], ids[i], &e);
    return e;
}

static arenaut_status reject(const arenaut_program *p, const encounter *e, arenaut_finding *finding,
                             arenaut_error *err) {
    char store[24];
    const arenaut_tensor *tensor = &p->tensors[e->state];
    finding->rule = ARENAUT_RULE_STATE_LOST;
    finding->a = e->state;
    finding->b = e->other;
    finding->method = tensor->method;
    return arn_check_reject(
        finding, err,
        "'%.40s' of method '%.40s' is kept in memory %" PRIu32
        ", which method '%.40s' has too: %s "
        "where all methods have one memory (Python's Runtime, share_memory_arenas); "
        "share_mutable_buffers=True exports state apart",
        arenaut_program_tensor_name(p, e->state, store), p->methods[tensor->method].name,
        tensor->given_pool + 1, p->methods[p->tensors[e->other].method].name,
        e->over ? "it is overwritten" : "not in this plan, but in others it may be overwritten");
}

arenaut_status arn_check_method_state(const arenaut_program *read, const arenaut_program *program,
                                      const arenaut_allocator *allocator, arenaut_finding *finding,
                                      arenaut_error *err) {
    uint32_t n_memories = 0, *ids;
    uint64_t *begin;
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
                          ARN_ARRAY(begin, program->n_tensors),
                          ARN_ARRAY(ids, 2 * (size_t)program->n_tensors))) {
        const encounter e = find_encounter(program, memory, n_memories, ids, begin);
        if (e.state != ARENAUT_NONE) st = reject(program, &e, finding, err);
    } else {
        st = arn_no_memory(err);
    }
    arn_region_free(&region);
    return st;
}
