/* Searches of the library with a budget made from their own options: in the library it is a part of
 * their caller's. */
#ifndef SUPPORT_UNBUDGETED_H
#define SUPPORT_UNBUDGETED_H

#include "rewrite/find_within.h"

/* `options` may be NULL. */
static inline arenaut_status split_find(const arenaut_program *program,
                                        const arenaut_split_options *options, arn_region *region,
                                        arenaut_split_front **front, arenaut_error *err) {
    static const arenaut_split_options none = {0};
    const arenaut_split_options *o = options ? options : &none;
    arn_budget budget = arn_budget_make(o->effort, o->progress, o->progress_context);
    return arn_split_find(program, &budget, o, region, front, err);
}

/* `options` may be NULL. */
static inline arenaut_status recompute_find(const arn_recompute_task *task,
                                            const arenaut_recompute_options *options,
                                            const arenaut_allocator *allocator,
                                            arn_recomputation **out, arenaut_error *err) {
    static const arenaut_recompute_options none = {0};
    const arenaut_recompute_options *o = options ? options : &none;
    arn_budget budget = arn_budget_make(o->effort, o->progress, o->progress_context);
    return arn_recompute_find(task, &budget, o, allocator, out, err);
}

#endif
