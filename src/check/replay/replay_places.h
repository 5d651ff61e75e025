/* Where each tensor lies, worked out once before a replay: its storage (the tensor that
 * stands for all that are the same memory), its cells, and whether it is looked at. */
#ifndef ARN_CHECK_REPLAY_PLACES_H
#define ARN_CHECK_REPLAY_PLACES_H

#include <arenaut/check.h>

#include "core/memory.h"

typedef struct arn_replay_place {
    uint32_t first, end; /* cells; meaningful if neither of the next two says otherwise */
    bool left_alone;     /* a constant, empty, or in memory that no arena holds */
    uint8_t broken;      /* arenaut_rule that touching it breaks; NONE: it may be touched */
} arn_replay_place;

typedef struct arn_replay_places {
    uint32_t *storage;       /* per tensor */
    bool *state;             /* per storage: keeps its bytes from call to call */
    bool *filled;            /* per storage: something in the program gives it its bytes */
    arn_replay_place *place; /* per tensor */
    uint32_t n_cells;
    uint32_t *cell_pool;    /* n_cells + 1: where cell k starts, k - 1 ends */
    uint64_t *cell_address; /* likewise */
    uint32_t *base_pool;    /* per storage: where its memory begins; NONE: nowhere */
    uint64_t *base_offset;  /* per storage */
} arn_replay_places;

/* Takes memory from `region`. OK or NO_MEMORY. */
arenaut_status arn_replay_places_make(const arenaut_program *program,
                                      const arenaut_placement *placement, bool exclude_io,
                                      arn_region *region, arn_replay_places *places,
                                      arenaut_error *err);

#endif
