/* Calls in a draft: stretches of its ops that are alike are to run as one method, which is called
 * for each. The draft keeps the ops of every stretch; arn_draft_finish leaves the repeated ones
 * out. */
#ifndef ARN_REWRITE_SPLIT_DRAFT_CALLS_H
#define ARN_REWRITE_SPLIT_DRAFT_CALLS_H

#include "rewrite/split/draft.h"

/* Makes calls of the last `n` bands, once all that reads their results stands: band b has the ops
 * from starts[b] to starts[b + 1]. What a band takes from whole images is put in front of its call;
 * a band that is like no other stays as it is. Refused if they all do. */
void arn_draft_call_bands(arn_draft *draft, const uint32_t *starts, uint32_t n);

/* The call that begins with this op; NULL: none. */
const arn_draft_call *arn_draft_call_at(const arn_draft *draft, uint32_t op);

/* Whether the call is its method's first, whose ops the program gets. */
static inline bool arn_draft_is_body(const arn_draft *draft, const arn_draft_call *call) {
    return &draft->calls[call->body] == call;
}

/* Whether the op stands in a call that is not its method's first, so that the program will not have
 * it. O(log calls). */
bool arn_draft_is_repeated(const arn_draft *draft, uint32_t op);

/* Ops of the program that the draft becomes. */
uint32_t arn_draft_count_ops(const arn_draft *draft);

/* Adds what copies need besides what their ops do, of arguments before and of results behind each
 * call, to the change of what is alive from op to op; first and last are those of tensors' lives.
 */
void arn_draft_add_copies(const arn_draft *draft, const uint32_t *first, const uint32_t *last,
                          int64_t *change);

#endif
