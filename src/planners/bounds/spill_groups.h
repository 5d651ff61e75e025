/* The groups of the spill bound and the events of its load, for spill.c and spill_groups.c; others
 * need only arn_spill_new and arn_spill_free. */
#ifndef ARN_PLANNERS_BOUNDS_SPILL_GROUPS_H
#define ARN_PLANNERS_BOUNDS_SPILL_GROUPS_H

#include <arenaut/error.h>
#include <arenaut/problem.h>

#include "core/memory.h"
#include "planners/bounds/hosts.h"
#include "planners/bounds/load.h"

/* Buffers that lie in one another share a pool: a group, which goes by its root. */
typedef struct arn_spill_group {
    uint64_t traffic;     /* size × uses of all members */
    uint64_t bytes;       /* their sizes */
    uint32_t first, last; /* its first and last events, as places in the order of time */
    uint32_t start;       /* the first event of its first step */
    uint64_t own_pools;   /* the pools that it fits into */
    /* In the sweep under way: */
    uint64_t pools;
    uint64_t alive; /* bytes, now */
    uint8_t slot;   /* the place of its pool in states; ARN_SPILL_NO_SLOT: see `pool` */
    uint32_t pool;  /* if there is no choice; ARENAUT_NONE: left out */
} arn_spill_group;

enum { ARN_SPILL_NO_SLOT = 0xFF };

typedef struct arn_spill {
    const arenaut_problem *problem;
    const arenaut_allocator *allocator;
    arn_region region;
    arn_load load;
    arn_hosts hosts;
    arn_spill_group *group; /* per buffer; means something for roots */
    uint32_t *roots, n_roots;
    uint64_t *peak; /* maxima over events: a tree, for narrowing */
    uint32_t n_leaves;
} arn_spill;

/* `problem` must outlive it. O(n log n). */
arenaut_status arn_spill_new(const arenaut_problem *problem, const arenaut_allocator *allocator,
                             arn_spill **out, arenaut_error *err);
void arn_spill_free(arn_spill *spill); /* NULL is fine */

static inline uint32_t arn_spill_root(const arn_spill *s, uint32_t b) {
    return s->hosts.root ? s->hosts.root[b] : b;
}

static inline const arn_load_event *arn_spill_event(const arn_spill *s, uint32_t place) {
    return &s->load.event[s->load.by_step[place]];
}

/* The bytes of each pool that are not reserved, of so many sixteenths of its capacity;
 * ARENAUT_UNLIMITED. */
void arn_spill_room(const arenaut_problem *problem, uint32_t sixteenths,
                    uint64_t room[ARENAUT_MAX_POOLS]);

/* Sets each group's `pools`: of the pools that it fits into and that `pool_of` gives (per buffer;
 * ARENAUT_NONE: open; may be NULL), all but the ones dominated by a faster pool into which it fits
 * whatever else may lie there. False if some group has no pool at all. Adds the operations that it
 * took to *work; O(pools × n). */
bool arn_spill_narrow(arn_spill *s, const uint32_t *pool_of, const uint64_t *room, uint64_t *work);

/* Adds the least spill beyond the fastest of each group's pools, as if buffers could be cut, to
 * *least, and the operations to *work. False if there is no memory. */
bool arn_spill_fraction(const arn_spill *s, const uint64_t *room, arn_region *region,
                        uint64_t *least, uint64_t *work);

#endif
