/* Packing buffers into tokens: blocks that each hold one buffer at a time, or two of which one may
 * take over the other's memory (same-base), so that the tokens' arenas add up to as little as can
 * be.
 *
 * Entries are the buffers, from large to small: an entry that opens a token then sets its size, and
 * later entries are no larger. Which pool a token lies in is decided last: till then it may lie in
 * every pool that all of its buffers may use. */
#ifndef ARN_PLANNERS_TOKENS_TOKEN_PACKING_H
#define ARN_PLANNERS_TOKENS_TOKEN_PACKING_H

#include "core/memory.h"
#include "planners/run/meter.h"

/* Entries up to which each two of them have a bit that says whether they conflict, for the search;
 * more are packed by first fit alone. */
enum { ARN_PACKER_MOST = 8192 };

/* Sections [first, end) of time, which begins one wherever some entry comes alive. */
typedef struct arn_life {
    uint32_t first, end;
} arn_life;

/* Which entry is in which token. */
typedef struct arn_packing {
    uint32_t n_tokens;
    uint32_t *token; /* per entry */
    uint64_t total;  /* of the tokens' sizes */
} arn_packing;

/* The places of the tokens of a packing. */
typedef struct arn_layout {
    uint64_t *size,
        *align;      /* per token: the size and alignment of its buffers, in bytes, not rounded */
    uint64_t *pools; /* per token: bit k: all of its buffers may lie in pool k */
    uint32_t *pool;  /* per token */
    uint64_t *start; /* per token */
    uint64_t total;  /* of the arenas; ARENAUT_UNPLACED: the tokens do not fit */
    bool least;      /* these tokens need no less; or cannot fit, if they do not */
} arn_layout;

typedef struct arn_packer {
    const arenaut_problem *problem;
    const arenaut_allocator *allocator;
    uint64_t pools; /* bit k: pool k; the entries may lie in no other */
    uint32_t n, words;
    uint32_t *buffer;  /* per entry */
    uint64_t *size;    /* per entry, rounded up to the grain, of which every offset is a multiple */
    uint64_t *allowed; /* per entry: the pools in which it fits */
    int64_t *first, *end;
    uint32_t n_sections;
    arn_life *lives; /* of entry i: lives_at[i] up to lives_at[i + 1] */
    uint32_t *lives_at;
    uint32_t *edges; /* that keep entries apart which are not alive together, likewise */
    uint32_t *edges_at;
    bool *shares;           /* per entry: it is a base or an heir, ... */
    bool some_share;        /* ... as some are */
    uint64_t *conflicts;    /* `words` for each entry: a bit for each that must be in another token;
                             * NULL past ARN_PACKER_MOST */
    uint64_t *taken;        /* room for arn_fill_by_rounds: of a bit per section, ... */
    uint32_t *owner, *left; /* ... per section, and per entry */
    /* The k-th largest token, counted from 0, has at least a certain size, since the buffers of
     * that size or more that are alive at some step need more than k tokens. floors[k]: those
     * sizes from the k-th on, added up. */
    uint64_t *floors;
    uint32_t n_floors;
    uint64_t grain, waste; /* waste: the most that rounding adds to the topmost tokens */
    uint64_t bound;        /* proven: the arenas add up to no less, ... */
    bool impossible;       /* ... or the entries do not fit at all */
    bool out_of_memory;
    arn_poll *poll; /* polled in all that takes long */
    arn_packing best;
    arn_layout layout; /* of the best; its total is ARENAUT_UNPLACED while there is none */
    arn_layout next;   /* of the packing that is being tried */
    arn_region region;
} arn_packer;

/* Gathers the buffers that need memory in `pools` and may lie in no other. */
arenaut_status arn_packer_make(arn_meter *meter, uint64_t pools, arn_packer *packer);
void arn_packer_free(arn_packer *packer);

/* One of the two may take over the other's memory, although both are alive: in a token they begin
 * together, and that is all that it takes. */
static inline bool arn_packer_may_share(const arn_packer *packer, uint32_t i, uint32_t k) {
    const uint32_t a = packer->buffer[i], b = packer->buffer[k];
    return arenaut_problem_same_base(packer->problem, a) == b ||
           arenaut_problem_same_base(packer->problem, b) == a;
}

/* token_floors.c: fills in floors and bound. `entry_of`: per buffer. False if there is no memory.
 */
bool arn_packer_find_floors(arn_packer *packer, const uint32_t *entry_of);

/* token_rounds.c: puts each entry, in this order, into the first token with room. Returns the
 * effort of that: O(entries × tokens). */
uint64_t arn_fill_by_rounds(arn_packer *packer, const uint32_t *order, arn_packing *packing);

/* A lower bound of the arenas of tokens of `total` bytes. */
uint64_t arn_packer_bound(const arn_packer *packer, uint64_t total);

/* Lays the tokens of a packing into the pools: packer->next says where. `at_once`: without a
 * search, if they fit at all without one. Returns the effort of that; if there was no memory,
 * packer->out_of_memory is set. */
uint64_t arn_packer_lay(arn_packer *packer, const arn_packing *packing, bool at_once);

/* A first packing. */
arenaut_status arn_packer_start(arn_meter *meter, arn_packer *packer);
/* Looks for better ones until there are none, or `effort` is spent: by branch and bound over all
 * packings, then by local search. The stop callback is polled through the meter. */
arenaut_status arn_packer_improve(arn_meter *meter, uint64_t effort, arn_packer *packer);

#endif
