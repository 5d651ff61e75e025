/* recover-aliases, part: tensors that are the same memory become one storage, at the distances that
 * the file gives them: joined pair by pair (union-find), in the end the member that spans all of
 * the memory is the storage, and the others are views of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "ir/program.h"
#include "ir/shared_state.h"
#include "passes/recover/recover.h"

/* recover-aliases, part: state shared by methods. Each method has arenas of its own, and a runtime
 * can give several methods one and the same for those that hold nothing but state. Tensors of one
 * name there are one state; without names, those of one place are. In other arenas, one name stands
 * for one state per method, unless it looks shared there too: at one offset, in an arena that has
 * one size in all methods. */

/* Facts about an arena, over all methods. */
typedef struct contents {
    uint64_t end;
    bool state, named, others;
} contents;

static bool is_in(const arenaut_tensor *t, uint32_t pool) {
    return t->given_pool == pool && t->bytes > 0 && t->cls != ARENAUT_CONSTANT;
}

static void look_at(const arn_recover *r, uint32_t tensor, contents *c) {
    const arenaut_tensor *t = &r->program->tensors[tensor];
    const arenaut_tensor *storage =
        &r->program->tensors[arenaut_program_storage(r->program, tensor, NULL)];
    uint64_t end = ARENAUT_SIZE_MAX;
    /* A result that nothing reads may be how a method sets state that it does not use. */
    const uint8_t facts = tensor < r->n_tensors ? r->facts[tensor] : 0;
    const bool read = (facts & ARN_RECOVER_READ) && (facts & ARN_RECOVER_TOUCHED);
    if (storage->cls == ARENAUT_STATE) c->state = true;
    else if (read) c->others = true;
    if ((facts & ARN_RECOVER_GIVEN) || t->caller_owned || t->device.type || t->device.index ||
        !arn_add(t->given_offset, t->bytes, &end)) {
        c->others = true;
    }
    if (storage->qualified_name || t->qualified_name) c->named = true;
    c->end = arn_max_u64(c->end, end);
}

static contents look_into(const arn_recover *r, uint32_t pool) {
    contents c = {0, false, false, false};
    for (uint32_t t = 0; t < r->program->n_tensors; t++) {
        if (is_in(&r->program->tensors[t], pool)) look_at(r, t, &c);
    }
    return c;
}

/* ---- state without names ---- */

/* The block that the arena of a method becomes. */
static arenaut_status add_block(arn_recover *r, uint32_t method, uint32_t pool, uint64_t bytes,
                                uint32_t *id) {
    char name[48];
    arenaut_tensor block = arenaut_tensor_default();
    snprintf(name, sizeof name, "state of memory %" PRIu32, pool + 1);
    block.name = block.qualified_name = name;
    block.dtype = ARENAUT_DTYPE_UINT8;
    block.bytes = bytes;
    block.cls = ARENAUT_STATE;
    block.method = method;
    block.file_index = ARENAUT_NONE;
    block.given_pool = pool;
    block.given_offset = 0;
    return arenaut_program_add_tensor(r->program, &block, id, r->err);
}

/* All that lies in this arena of any method becomes a part of its block. */
static arenaut_status make_blocks(arn_recover *r, uint32_t pool, uint64_t bytes) {
    const arenaut_program *p = r->program;
    uint32_t *block = arn_region_allocate(&r->region, p->n_methods, sizeof *block);
    arenaut_status st = block ? ARENAUT_OK : arn_no_memory(r->err);
    for (uint32_t m = 0; block && m < p->n_methods; m++) block[m] = ARENAUT_NONE;
    const uint32_t n = p->n_tensors;
    for (uint32_t t = 0; t < n && st == ARENAUT_OK; t++) {
        const uint32_t method = p->tensors[t].method;
        if (!is_in(&p->tensors[t], pool) || method == ARENAUT_NONE) continue;
        if (block[method] == ARENAUT_NONE) st = add_block(r, method, pool, bytes, &block[method]);
        p->tensors[t].view_of = block[method];
        p->tensors[t].view_offset = p->tensors[t].given_offset;
    }
    return st;
}

/* ---- state with names ---- */

/* Sets of arenas, by number: bits. Those past the width of a set are in none. */
typedef struct arenas {
    uint64_t only_state; /* hold nothing else, in any method */
    uint64_t one_size;   /* have it in all methods that have them */
} arenas;

static bool is_one(uint64_t set, uint32_t pool) { return pool < 64 && ((set >> pool) & 1); }

static uint64_t find_one_size(const arenaut_program *p, uint32_t n_pools) {
    uint64_t set = 0;
    for (uint32_t pool = 0; pool < n_pools && pool < 64; pool++) {
        uint64_t bytes = 0;
        bool one = true;
        for (uint32_t m = 0; m < p->n_methods; m++) {
            const arenaut_method *method = &p->methods[m];
            const uint64_t there =
                pool < method->n_given_pools ? method->given_pools[pool].bytes : 0;
            if (bytes != 0 && there != 0 && there != bytes) one = false;
            if (there != 0) bytes = there;
        }
        if (one) set |= UINT64_C(1) << pool;
    }
    return set;
}

static bool same_place(const arn_recover *r, uint32_t a, uint32_t b) {
    const arenaut_tensor *ta = &r->program->tensors[a], *tb = &r->program->tensors[b];
    return ta->given_pool == tb->given_pool && ta->given_offset == tb->given_offset &&
           arn_shared_state_compare(ta, tb) == ARN_SAME;
}

/* Whether the caller wants the name to mean one thing. */
static bool is_asked_for(const arn_recover *r, const char *name) {
    const size_t length = strlen(name);
    if (!r->share) return false;
    if (strcmp(r->share, "auto") == 0) return true;
    for (const char *at = r->share; at; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strcspn(at, ",") == length && memcmp(at, name, length) == 0) return true;
    }
    return false;
}

static void own_name(arenaut_tensor *t) {
    t->qualified_name = NULL;
    if (t->cls != ARENAUT_CONSTANT) t->cls = ARENAUT_STATE;
}

void arn_recover_own_state(arn_recover *r) {
    for (uint32_t t = 0; t < r->program->n_tensors; t++) {
        arenaut_tensor *tensor = &r->program->tensors[t];
        if (tensor->qualified_name && tensor->given_pool != ARENAUT_NONE) own_name(tensor);
    }
}

/* In an arena of nothing but state a name means one thing, and lying apart is a mistake of
 * the file's, for the checker to find. */
static void judge_name(arn_recover *r, const uint32_t *named, uint32_t n, const arenas *sets) {
    arenaut_tensor *tensors = r->program->tensors;
    bool shared = true;
    if (is_asked_for(r, tensors[named[0]].qualified_name)) return;
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t pool = tensors[named[i]].given_pool;
        const bool even = is_one(sets->one_size, pool) && same_place(r, named[0], named[i]);
        if (!is_one(sets->only_state, pool) && !even) shared = false;
    }
    for (uint32_t i = 0; i < n && !shared; i++) own_name(&tensors[named[i]]);
}

static arenaut_status judge_names(arn_recover *r, const arenas *sets) {
    const arenaut_program *p = r->program;
    uint32_t *named = arn_region_allocate(&r->region, p->n_tensors, 2 * sizeof *named), n = 0;
    if (!named) return arn_no_memory(r->err);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        if (tensor->qualified_name && tensor->given_pool != ARENAUT_NONE) named[n++] = t;
    }
    arn_sort_ids(named, n, arn_by_qualified_name, p->tensors, named + n);
    for (uint32_t i = 0, end; i < n; i = end) {
        const char *name = p->tensors[named[i]].qualified_name;
        for (end = i; end < n && strcmp(p->tensors[named[end]].qualified_name, name) == 0;) end++;
        judge_name(r, named + i, end - i, sets);
    }
    return ARENAUT_OK;
}

arenaut_status arn_recover_share_state(arn_recover *r) {
    const arenaut_program *p = r->program;
    uint32_t n_pools = 0;
    uint64_t blocks = 0, bytes[ARENAUT_MAX_POOLS];
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (p->methods[m].n_given_pools > n_pools) n_pools = p->methods[m].n_given_pools;
    }
    arenas sets = {.only_state = 0, .one_size = find_one_size(p, n_pools)};
    /* Problems have no more pools than that, either. */
    for (uint32_t pool = 0; pool < n_pools && pool < ARENAUT_MAX_POOLS; pool++) {
        const contents c = look_into(r, pool);
        bytes[pool] = c.end;
        if (!c.state || c.others) continue;
        sets.only_state |= UINT64_C(1) << pool;
        if (!c.named) blocks |= UINT64_C(1) << pool;
    }
    arenaut_status st = judge_names(r, &sets);
    for (uint32_t pool = 0; pool < ARENAUT_MAX_POOLS && st == ARENAUT_OK; pool++) {
        if ((blocks >> pool) & 1) st = make_blocks(r, pool, bytes[pool]);
    }
    return st;
}

/* ---- storages ---- */

static uint32_t storage_of(arn_recover *r, uint32_t tensor) {
    while (r->storage[tensor] != tensor) {
        r->storage[tensor] = r->storage[r->storage[tensor]];
        tensor = r->storage[tensor];
    }
    return tensor;
}

void arn_recover_join(arn_recover *r, uint32_t a, uint32_t b) {
    a = storage_of(r, a);
    b = storage_of(r, b);
    const uint32_t first = a < b ? a : b, second = a < b ? b : a;
    r->facts[first] |= r->facts[second] & ARN_RECOVER_DECLARED;
    r->storage[second] = first;
}

bool arn_recover_is_declared(arn_recover *r, uint32_t tensor) {
    return r->facts[storage_of(r, tensor)] & ARN_RECOVER_DECLARED;
}

static bool by_storage(const void *context, uint32_t a, uint32_t b) {
    const uint32_t *storage = context;
    return storage[a] < storage[b];
}

/* The union of the members of a storage. */
typedef struct whole {
    uint64_t low, high;
    uint32_t named; /* one with a qualified name; ARENAUT_NONE: none has */
    bool state;
} whole;

static whole measure(const arn_recover *r, const uint32_t *members, uint32_t n) {
    const arenaut_tensor *tensors = r->program->tensors;
    whole w = {UINT64_MAX, 0, ARENAUT_NONE, false};
    for (uint32_t i = n; i-- > 0;) {
        const uint32_t t = members[i];
        w.low = arn_min_u64(w.low, r->position[t]);
        w.high = arn_max_u64(w.high, r->position[t] + tensors[t].bytes);
        if (tensors[t].qualified_name) w.named = t;
        if (tensors[t].cls == ARENAUT_STATE || tensors[t].qualified_name) w.state = true;
    }
    return w;
}

static bool spans(const arn_recover *r, uint32_t tensor, const whole *w) {
    return r->position[tensor] == w->low && r->program->tensors[tensor].bytes == w->high - w->low;
}

/* The member that is all of the memory, best one that is known by a name; a tensor made for
 * it if there is none. */
static arenaut_status find_spanning(arn_recover *r, const uint32_t *members, uint32_t n,
                                    const whole *w, uint32_t *storage) {
    if (w->named != ARENAUT_NONE && spans(r, w->named, w)) {
        *storage = w->named;
        return ARENAUT_OK;
    }
    for (uint32_t i = 0; i < n; i++) {
        *storage = members[i];
        if (spans(r, members[i], w)) return ARENAUT_OK;
    }
    arenaut_tensor all = r->program->tensors[members[0]];
    all.rank = 0;
    all.dims = NULL;
    all.dtype = ARENAUT_DTYPE_UINT8;
    all.bytes = w->high - w->low;
    all.given_offset = w->low;
    all.file_index = ARENAUT_NONE;
    all.cls = ARENAUT_INTERMEDIATE;
    all.qualified_name =
        w->named == ARENAUT_NONE ? NULL : r->program->tensors[w->named].qualified_name;
    return arenaut_program_add_tensor(r->program, &all, storage, r->err);
}

static arenaut_status make_storage(arn_recover *r, const uint32_t *members, uint32_t n) {
    const whole w = measure(r, members, n);
    uint32_t storage;
    const arenaut_status st = find_spanning(r, members, n, &w, &storage);
    if (st != ARENAUT_OK) return st;
    arenaut_tensor *tensors = r->program->tensors;
    if (w.state) tensors[storage].cls = ARENAUT_STATE;
    for (uint32_t i = 0; i < n; i++) {
        if (members[i] == storage) continue;
        tensors[members[i]].view_of = storage;
        tensors[members[i]].view_offset = r->position[members[i]] - w.low;
    }
    return ARENAUT_OK;
}

arenaut_status arn_recover_make_views(arn_recover *r) {
    const uint32_t n_tensors = r->program->n_tensors;
    uint32_t *members = arn_region_allocate(&r->region, n_tensors, 2 * sizeof *members), n = 0;
    if (!members) return arn_no_memory(r->err);
    for (uint32_t t = 0; t < n_tensors; t++) {
        r->storage[t] = storage_of(r, t);
        if (r->storage[t] == t) continue;
        members[n++] = t;
    }
    arn_sort_ids(members, n, by_storage, r->storage, members + n);
    /* In front of each run, its representative, which is in no run itself. */
    uint32_t *run = arn_region_allocate(&r->region, (size_t)n + 1, sizeof *run);
    if (!run) return arn_no_memory(r->err);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK;) {
        uint32_t length = 1;
        run[0] = r->storage[members[i]];
        for (; i < n && r->storage[members[i]] == run[0]; i++) run[length++] = members[i];
        st = make_storage(r, run, length);
    }
    return st;
}
