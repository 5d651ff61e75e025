/* recover-aliases, part: tensors that are the same memory become one storage, at the distances that
 * the file gives them: joined pair by pair (union-find), in the end the member that spans all of
 * the memory is the storage, and the others are views of it. */
#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "passes/recover/recover.h"

uint32_t arn_recover_storage_of(arn_recover *r, uint32_t tensor) {
    while (r->storage[tensor] != tensor) {
        r->storage[tensor] = r->storage[r->storage[tensor]];
        tensor = r->storage[tensor];
    }
    return tensor;
}

void arn_recover_join(arn_recover *r, uint32_t a, uint32_t b) {
    a = arn_recover_storage_of(r, a);
    b = arn_recover_storage_of(r, b);
    const uint32_t first = a < b ? a : b, second = a < b ? b : a;
    r->facts[first] |= r->facts[second] & ARN_RECOVER_DECLARED;
    r->storage[second] = first;
}

bool arn_recover_is_declared(arn_recover *r, uint32_t tensor) {
    return r->facts[arn_recover_storage_of(r, tensor)] & ARN_RECOVER_DECLARED;
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
        r->storage[t] = arn_recover_storage_of(r, t);
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
