/* A problem: buffers with lifetimes, pools to put them in, and constraints. The whole input of a
 * planner.
 *
 * It is plain data, a struct of arrays. Time is counted in steps, an int64_t axis of any
 * origin; a lifetime [first, end) is half open. Sizes, offsets and alignments are bytes.
 * Two buffers *conflict* when some lifetime of one overlaps some lifetime of the other, or
 * when an extra conflict edge names them; conflicting buffers in one pool must not share
 * a byte, unless a relation allows it:
 *
 *   same-base  buffer b with same_base[b] = a may start exactly where a starts, although
 *              both are alive at one step (an op writing its result over its operand). It
 *              is a permission, not a duty: the two may also lie apart. Here b is the *heir*,
 *              which takes over memory, and a its *base*.
 *   inside     buffer b with inside[b] = a lies in a, at offset[a] + inside_delta[b], and
 *              never conflicts with a itself (a concat operand, a split result). A duty.
 *              It may not itself be pinned or hinted, and shares a's pool. Here b is a *slice*,
 *              and a its *host*; a slice may be the host of others.
 *   separation {upper, lower, distance} lets two buffers that are alive together overlap where
 *              offset[upper] - offset[lower] >= distance: an op that walks its operand in
 *              address order writes its result, from below, over the bytes that it has read. Else
 *              they must lie apart as any two. The distance may be 0 or negative. A
 *              permission, like same-base.
 *
 * Buffers of size zero or with no (or only empty) lifetimes conflict with nothing, get
 * offset 0 and need no pool.
 *
 * Rarely used columns are NULL until a buffer needs them; read them through the inline
 * accessors below, which know the defaults.
 *
 * Threads: calls about different problems may run at once; one problem may be read by any
 * number of threads as long as none adds to it. */
#ifndef ARENAUT_PROBLEM_H
#define ARENAUT_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/device.h>
#include <arenaut/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARENAUT_NONE UINT32_MAX           /* no buffer, tensor, op, method or pool */
#define ARENAUT_UNPLACED UINT64_MAX       /* no offset */
#define ARENAUT_UNLIMITED UINT64_MAX      /* no capacity */
#define ARENAUT_SIZE_MAX (UINT64_MAX / 2) /* sizes, offsets and ends stay at or below this */
#define ARENAUT_MAX_POOLS 64u

typedef struct arenaut_interval {
    int64_t first, end; /* steps, [first, end) */
} arenaut_interval;

/* Content classes of buffers; `name` is the word used in JSON. Constants are never planned, but
 * tensors of a program may be constant. */
#define ARENAUT_CLASS_MAP(XX)                                                       \
    XX(INTERMEDIATE, "intermediate")                                                \
    XX(INPUT, "input")                                                              \
    XX(OUTPUT, "output")                                                            \
    XX(STATE, "state")     /* mutable, kept between runs */                         \
    XX(SCRATCH, "scratch") /* a kernel's own working memory, alive during its op */ \
    XX(CONSTANT, "constant")

typedef enum arenaut_class {
#define XX(name, text) ARENAUT_##name,
    ARENAUT_CLASS_MAP(XX)
#undef XX
        ARENAUT_CLASS_COUNT
} arenaut_class;

/* The JSON word for a class; NULL for a number out of range. Static. */
const char *arenaut_class_name(arenaut_class cls);

/* An address range that buffers are placed in. Pools are ranked by cost: the lower the
 * index, the faster the memory, and planners fill the fastest first.
 *
 * To be exact: each buffer counts its pools from its fastest one, which is 0; a buffer in pool
 * number r of its own costs size × uses × r byte-uses, and the sum over all buffers is the *spill*
 * of a plan. Of two plans that fit, the one with less spill is better, and of equal spill the one
 * with the smaller sum of arenas. So a buffer that may go to one pool only (a device's, a method's)
 * costs nothing there, and if no buffer has a choice every plan spills 0 and the sum of arenas
 * decides alone.
 *
 * All zero, it is one of host memory without a limit. In a problem's own array, defaults are filled
 * in: capacity is ARENAUT_UNLIMITED if there is no limit, and 0 only if `closed`; and it is rounded
 * down to the alignment, as an arena, which is rounded up to it, can take no more. */
typedef struct arenaut_pool {
    const char *name;  /* copied; NULL reads as "poolK" */
    uint64_t capacity; /* bytes; 0 reads as ARENAUT_UNLIMITED */
    uint64_t align;    /* power of two; the arena is rounded up to it; 0 reads as 1 */
    arenaut_device device;
    bool closed; /* a capacity of 0 that is meant: nothing can lie here */
} arenaut_pool;

/* Two buffers that may run at the same time although their lifetimes do not overlap. */
typedef struct arenaut_conflict {
    uint32_t a, b; /* a < b */
} arenaut_conflict;

/* See "separation" above. */
typedef struct arenaut_separation {
    uint32_t upper, lower;
    int64_t distance; /* bytes */
} arenaut_separation;

/* An address range of a pool that nothing may be placed in. It does not count towards
 * the arena unless something lies above it. */
typedef struct arenaut_reserved {
    uint32_t pool;
    uint64_t first, end; /* bytes, [first, end) */
} arenaut_reserved;

/* Properties of a problem as a whole, as bits of its `traits`; the text is the JSON word. The first
 * is a constraint, the others say where the problem comes from. */
#define ARENAUT_PROBLEM_TRAIT_MAP(XX)                                                            \
    XX(0, TOKENS, "tokens")     /* memory comes in whole tokens: two buffers of a pool begin at  \
                                 * the same address or have no byte in common, at any time */    \
    XX(1, BRANCHES, "branches") /* part of the program runs on a condition only */               \
    XX(2, SYMBOLIC, "symbolic") /* sizes are upper bounds of such as vary, or some value is left \
                                 * out since nothing is known of its size */

enum {
#define XX(bit, name, text) ARENAUT_PROBLEM_##name = 1u << (bit),
    ARENAUT_PROBLEM_TRAIT_MAP(XX)
#undef XX
        ARENAUT_PROBLEM_TRAITS = 3
};

typedef struct arenaut_problem {
    uint32_t n_buffers, n_pools, n_lifetimes, n_conflicts, n_reserved, n_separations;
    uint32_t traits; /* ARENAUT_PROBLEM_… */

    /* Per buffer. size is never NULL once there is a buffer. */
    uint64_t *size;
    uint64_t *align;          /* NULL: all 1 */
    uint32_t *lifetime_start; /* n_buffers + 1: b owns lifetime[start[b] .. start[b+1]) */
    uint64_t *pools;          /* bit k: pool k is allowed; NULL: all pools */
    uint64_t *fixed_offset;   /* ARENAUT_UNPLACED: free; NULL: all free */
    uint64_t *hint;           /* where it lay before; ARENAUT_UNPLACED: none; NULL: none */
    uint32_t *same_base;      /* ARENAUT_NONE: none; NULL: none at all */
    uint32_t *inside;         /* ARENAUT_NONE: none; NULL: none at all */
    uint64_t *inside_delta;   /* NULL exactly when inside is */
    uint8_t *cls;             /* arenaut_class; NULL: all intermediate */
    uint32_t *uses;           /* how often all its bytes are written or read; NULL: all 1 */
    uint32_t *method;         /* index in method_name; ARENAUT_NONE: none; NULL: none */
    uint32_t *release;        /* of buffers that end at one step, the lower `release` is freed
                               * first, then the lower buffer: for planners that hand out memory as
                               * a runtime does, one request after another; NULL: all 0 */
    const char **name;        /* NULL or NULL entry: unnamed */
    const char **op;          /* the op that makes it, for people; NULL as above */
    const char **source;      /* where it comes from, for people; NULL as above */

    arenaut_interval *lifetime; /* in order, disjoint, not touching, per buffer */
    arenaut_pool *pool;
    arenaut_conflict *conflict;     /* sorted by (a, b), without duplicates, after _finish */
    arenaut_reserved *reserved;     /* sorted by (pool, first), disjoint, after _finish */
    arenaut_separation *separation; /* sorted by (upper, lower), after _finish */

    uint32_t n_methods;
    const char **method_name; /* NULL entries: unnamed */

    struct arenaut_problem_store *store; /* owns the arrays; NULL if the caller does */
} arenaut_problem;

/* An index or an offset that may be left out. Zeroed, it is; else it comes from a call, so
 * that no plain number is taken for one by mistake:
 *
 *     (arenaut_buffer){.size = 64, .lifetimes = &life, .n_lifetimes = 1,
 *                      .same_base = arenaut_id(0), .fixed_offset = arenaut_at(128)} */
typedef struct arenaut_optional_id {
    bool given;
    uint32_t id;
} arenaut_optional_id;

typedef struct arenaut_optional_offset {
    bool given;
    uint64_t bytes;
} arenaut_optional_offset;

static inline arenaut_optional_id arenaut_id(uint32_t id) { /* ARENAUT_NONE: left out */
    arenaut_optional_id optional;
    optional.given = id != ARENAUT_NONE;
    optional.id = id;
    return optional;
}
static inline arenaut_optional_offset arenaut_at(uint64_t offset) { /* ARENAUT_UNPLACED: left out */
    arenaut_optional_offset optional;
    optional.given = offset != ARENAUT_UNPLACED;
    optional.bytes = offset;
    return optional;
}

/* One buffer, as it is handed to arenaut_problem_add_buffer. Zero means left out: a buffer starts
 * from {0}. Strings and lifetimes are copied. */
typedef struct arenaut_buffer {
    uint64_t size;
    uint64_t align;                    /* power of two; 0 reads as 1 */
    const arenaut_interval *lifetimes; /* any order; overlapping and touching ones merge */
    uint32_t n_lifetimes;
    arenaut_class cls;
    uint64_t pools; /* bit k: pool k is allowed; 0: every pool, or those of `inside` */
    arenaut_optional_offset fixed_offset;
    arenaut_optional_offset hint;  /* where it lay before */
    arenaut_optional_id same_base; /* a buffer, added before or after */
    arenaut_optional_id inside;    /* likewise */
    uint64_t inside_delta;         /* bytes from the start of that buffer */
    arenaut_optional_id method;
    const char *name, *op, *source;
    uint32_t release; /* see the column */
    uint32_t uses;    /* how often all its bytes are written or read in a run; 0 reads as 1 */
} arenaut_buffer;

#define ARENAUT_BUFFER_INIT {0} /* a name for it */

/* Makes an empty problem in *out, which the caller frees. */
arenaut_status arenaut_problem_new(const arenaut_allocator *allocator, arenaut_problem **out,
                                   arenaut_error *err);
void arenaut_problem_free(arenaut_problem *problem); /* NULL is fine */

/* Each adds one thing and stores its index in *id (may be NULL). BAD_INPUT for an
 * alignment that is no power of two, a lifetime that ends before it begins, more than
 * ARENAUT_MAX_POOLS pools, a closed pool with a capacity; TOO_LARGE for sizes past
 * ARENAUT_SIZE_MAX. After the last one, call arenaut_problem_finish. Amortised O(1). */
arenaut_status arenaut_problem_add_pool(arenaut_problem *problem, const arenaut_pool *pool,
                                        uint32_t *id, arenaut_error *err);
arenaut_status arenaut_problem_add_method(arenaut_problem *problem, const char *name, uint32_t *id,
                                          arenaut_error *err);
arenaut_status arenaut_problem_add_buffer(arenaut_problem *problem, const arenaut_buffer *buffer,
                                          uint32_t *id, arenaut_error *err);
arenaut_status arenaut_problem_add_conflict(arenaut_problem *problem, uint32_t a, uint32_t b,
                                            arenaut_error *err);
arenaut_status arenaut_problem_add_separation(arenaut_problem *problem,
                                              const arenaut_separation *separation,
                                              arenaut_error *err);
arenaut_status arenaut_problem_add_reserved(arenaut_problem *problem, const arenaut_reserved *range,
                                            arenaut_error *err);

/* Call when all is added, and again if more is added later: adds an unlimited pool 0 named
 * "arena" if there is none, gives a buffer inside another the pools of that one if it names
 * none, sorts edges and ranges, and checks the whole with arenaut_problem_validate. */
arenaut_status arenaut_problem_finish(arenaut_problem *problem, arenaut_error *err);

/* A number for the buffers: sizes, alignments, lifetimes, classes and methods. For plans that
 * come without a program (program.h has the same for programs). The same in every version. */
uint64_t arenaut_problem_fingerprint(const arenaut_problem *problem);

/* Whether some buffer that needs memory may go to one of several pools, so that plans may differ in
 * their spill. O(n). */
bool arenaut_problem_chooses_pools(const arenaut_problem *problem);

/* Checks all that no single call can: relations that name unknown buffers, form cycles, contradict
 * lifetimes (a same-base pair must be alive together at exactly one step, or not at all; an inside
 * buffer must fit its host; separated ones must conflict, and no pair be separated twice) or pools;
 * edges between unknown buffers; unknown pools and methods; sums past ARENAUT_SIZE_MAX, that of the
 * largest spill included. BAD_INPUT or TOO_LARGE, naming the buffer; BAD_ARGUMENT if things were
 * added without arenaut_problem_finish after them. For problems whose arrays the caller owns it
 * also checks the arrays' order. O(n log n). Fixed buffers that overlap, or a buffer larger than
 * its pools, are *not* errors here: such a problem is well formed and infeasible. */
arenaut_status arenaut_problem_validate(const arenaut_problem *problem, arenaut_error *err);

/* Changes one buffer before it is added to a copy. */
typedef void (*arenaut_buffer_edit)(void *context, uint32_t id, arenaut_buffer *buffer);

/* Copies `from`, buffer by buffer, so that ids stay. `pools` replaces its pools; NULL keeps them.
 * `edit` may be NULL. Errors as those of adding each part anew. O(n log n). */
arenaut_status arenaut_problem_copy(const arenaut_problem *from, const arenaut_pool *pools,
                                    uint32_t n_pools, arenaut_buffer_edit edit, void *context,
                                    const arenaut_allocator *allocator, arenaut_problem **out,
                                    arenaut_error *err);

/* A short name for messages: the buffer's name, else "bufferK" written into `store`. */
const char *arenaut_problem_buffer_name(const arenaut_problem *problem, uint32_t buffer,
                                        char store[24]);

static inline uint64_t arenaut_problem_align(const arenaut_problem *p, uint32_t b) {
    return p->align ? p->align[b] : 1;
}
static inline uint64_t arenaut_problem_pools(const arenaut_problem *p, uint32_t b) {
    const uint64_t every = p->n_pools >= 64 ? UINT64_MAX : (UINT64_C(1) << p->n_pools) - 1;
    return p->pools && p->pools[b] ? p->pools[b] : every;
}
static inline uint64_t arenaut_problem_fixed_offset(const arenaut_problem *p, uint32_t b) {
    return p->fixed_offset ? p->fixed_offset[b] : ARENAUT_UNPLACED;
}
static inline uint64_t arenaut_problem_hint(const arenaut_problem *p, uint32_t b) {
    return p->hint ? p->hint[b] : ARENAUT_UNPLACED;
}
static inline uint32_t arenaut_problem_same_base(const arenaut_problem *p, uint32_t b) {
    return p->same_base ? p->same_base[b] : ARENAUT_NONE;
}
static inline uint32_t arenaut_problem_inside(const arenaut_problem *p, uint32_t b) {
    return p->inside ? p->inside[b] : ARENAUT_NONE;
}
static inline arenaut_class arenaut_problem_class(const arenaut_problem *p, uint32_t b) {
    return p->cls ? (arenaut_class)p->cls[b] : ARENAUT_INTERMEDIATE;
}
static inline uint32_t arenaut_problem_release(const arenaut_problem *p, uint32_t b) {
    return p->release ? p->release[b] : 0;
}
static inline uint32_t arenaut_problem_lifetime_count(const arenaut_problem *p, uint32_t b) {
    return p->lifetime_start[b + 1] - p->lifetime_start[b];
}
static inline const arenaut_interval *arenaut_problem_lifetimes(const arenaut_problem *p,
                                                                uint32_t b) {
    /* Without any lifetime the array may be NULL, to which nothing can be added, not even 0. */
    return p->lifetime_start[b] ? p->lifetime + p->lifetime_start[b] : p->lifetime;
}
static inline uint32_t arenaut_problem_uses(const arenaut_problem *p, uint32_t b) {
    return p->uses && p->uses[b] ? p->uses[b] : 1;
}
/* False for a buffer that conflicts with nothing: it is at offset 0 in no pool. */
static inline bool arenaut_problem_needs_memory(const arenaut_problem *p, uint32_t b) {
    return p->size[b] != 0 && arenaut_problem_lifetime_count(p, b) != 0;
}

#ifdef __cplusplus
}
#endif
#endif
