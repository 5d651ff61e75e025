/* Tokens: a plan as blocks of memory (TVM's storage ids), for runtimes with a block for each value
 * and no place in it.
 *
 * Threads: calls may run at once, also about the same problem and plan, which they only read. */
#ifndef ARENAUT_TOKENS_H
#define ARENAUT_TOKENS_H

#include <arenaut/plan.h>
#include <arenaut/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct arenaut_tokens {
    uint32_t n;      /* numbered in the order in which they are first needed */
    uint64_t *bytes; /* per token: as large as its largest buffer */
    uint32_t *pool;  /* per token; its device is the pool's */
    uint64_t total;  /* of all bytes */
    uint32_t n_buffers;
    uint32_t *of; /* per buffer: its token; ARENAUT_NONE if it needs no memory */
} arenaut_tokens;

/* Buffers that begin at one address of a pool are one token. REFUSED, naming both, if two
 * buffers share a part of their memory only, alive together or not. Fills *out, which the
 * caller frees with the same allocator (NULL: the C library). O(n log n). */
arenaut_status arenaut_tokens_find(const arenaut_problem *problem, const arenaut_plan *plan,
                                   const arenaut_allocator *allocator, arenaut_tokens *out,
                                   arenaut_error *err);
void arenaut_tokens_free(arenaut_tokens *tokens, const arenaut_allocator *allocator);

#ifdef __cplusplus
}
#endif
#endif
