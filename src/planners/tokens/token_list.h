/* Tokens: blocks of memory that each hold one buffer at a time, each from its start. The result of
 * planners that give buffers whole blocks rather than places. */
#ifndef ARN_PLANNERS_TOKENS_TOKEN_LIST_H
#define ARN_PLANNERS_TOKENS_TOKEN_LIST_H

#include "core/memory.h"
#include "planners/run/meter.h"

typedef struct arn_token_list {
    uint32_t n;
    uint32_t *of;    /* per buffer; ARENAUT_NONE if it needs no memory */
    uint32_t *pool;  /* per token */
    uint64_t *size;  /* per token: its largest buffer's */
    uint64_t *align; /* per token: the size of its largest buffer */
    uint64_t *start; /* per token: the place at which it was kept last */
    arn_region region;
} arn_token_list;

/* Room for a token for each buffer, and none yet. False if there is no memory. The caller frees the
 * region in any case. */
bool arn_token_list_make(const arenaut_planning *planning, arn_token_list *tokens);

/* A new token for `buffer`, or one that it joins. */
uint32_t arn_token_list_add(const arenaut_problem *problem, arn_token_list *tokens,
                            uint32_t buffer);
void arn_token_list_join(const arenaut_problem *problem, arn_token_list *tokens, uint32_t token,
                         uint32_t buffer);

/* The first step of a buffer's life and the end of it, whatever gaps it has; and an order by the
 * former for arn_sort_ids, whose context is the problem. */
int64_t arn_token_list_birth(const arenaut_problem *p, uint32_t buffer);
int64_t arn_token_list_death(const arenaut_problem *p, uint32_t buffer);
bool arn_token_list_born_before(const void *problem, uint32_t a, uint32_t b);

/* Lays the tokens of each pool end to end, in their order, and makes that the plan if it is
 * the best so far and fits. */
void arn_token_list_keep(arn_meter *meter, arn_token_list *tokens);

#endif
