/* Elimination of dead runs, with results that are not read before their op is repeated: the later
 * run takes the place of the first. Schedules are followed from their end, so that operands of dead
 * runs alone are dead as well. O(arguments of all runs). */
#include "rewrite/recompute/recompute_unread.h"

typedef struct follower {
    const arenaut_program *file;
    uint32_t
        *next_read; /* per tensor of the file, if it is a storage: the next run that reads there */
    uint32_t *next_dependence; /* per op: the next run that states to come after it */
    uint32_t *next_run;        /* per op: its own */
} follower;

static uint32_t storage_of(const follower *f, uint32_t tensor) {
    return arenaut_program_storage(f->file, tensor, NULL);
}

static bool is_unread(const follower *f, uint32_t op) {
    const arenaut_op *own = &f->file->ops[op];
    const uint32_t again = f->next_run[op];
    bool unread = again != ARENAUT_NONE && f->next_dependence[op] > again;
    for (uint32_t i = 0; i < own->n_outputs && unread; i++) {
        const uint32_t t = own->outputs[i];
        unread = t == ARENAUT_NONE || f->next_read[storage_of(f, t)] > again;
    }
    return unread;
}

static void note(follower *f, uint32_t op, uint32_t at) {
    const arenaut_op *own = &f->file->ops[op];
    const uint32_t first = f->file->methods[own->method].first_op;
    for (uint32_t i = 0; i < own->n_inputs; i++) {
        if (own->inputs[i] != ARENAUT_NONE) f->next_read[storage_of(f, own->inputs[i])] = at;
    }
    for (uint32_t i = 0; i < own->n_after; i++) f->next_dependence[first + own->after[i]] = at;
    f->next_run[op] = at;
}

bool arn_recompute_leave_out_unread(const arenaut_program *file, arn_region *region, uint32_t *ops,
                                    uint32_t *n_ops) {
    const uint32_t n = *n_ops;
    follower f = {.file = file};
    uint32_t *kept, begin = n;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(f.next_read, file->n_tensors),
                           ARN_ARRAY(f.next_dependence, file->n_ops),
                           ARN_ARRAY(f.next_run, file->n_ops), ARN_ARRAY(kept, n))) {
        return false;
    }
    for (uint32_t t = 0; t < file->n_tensors; t++) f.next_read[t] = ARENAUT_NONE;
    for (uint32_t i = 0; i < file->n_ops; i++) f.next_dependence[i] = f.next_run[i] = ARENAUT_NONE;
    for (uint32_t at = n; at-- > 0;) {
        if (is_unread(&f, ops[at])) continue;
        note(&f, ops[at], at);
        kept[--begin] = ops[at];
    }
    if (n - begin == file->n_ops) return true; /* an order, without copies of ops */
    for (uint32_t i = begin; i < n; i++) ops[i - begin] = kept[i];
    *n_ops = n - begin;
    return true;
}
