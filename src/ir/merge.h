/* Several programs as one: methods that never run at the same time, over tensors of which
 * they share some by name.
 *
 * Threads: calls may run at once, also on the same programs, which they only read. */
#ifndef ARN_IR_MERGE_H
#define ARN_IR_MERGE_H

#include <arenaut/program.h>

typedef struct arn_merge_options {
    /* Fully qualified names of the shared tensors; NULL: all that several programs have under the
     * same name. Everything else is each program's own. */
    const char *const *share;
    size_t n_share;
} arn_merge_options;

/* Makes one program of `n` others, which stay as they are. `names[i]` is put in front of the
 * methods of program i ("prefill/forward"), of its own tensors, and of symbols of one name in
 * several programs. `options` may be NULL.
 *
 * A shared tensor must be of one size, type, device and, as far as that is known, first value
 * everywhere: else BAD_INPUT, naming both. BAD_ARGUMENT for no programs, for names that are not all
 * different, for a name to be shared that fewer than two programs have, and for programs of
 * different dialects. O(size of the programs · log of their tensors). */
arenaut_status arn_program_merge(const arenaut_program *const *programs, const char *const *names,
                                 size_t n, const arn_merge_options *options,
                                 const arenaut_allocator *allocator, arenaut_program **out,
                                 arenaut_error *err);

#endif
