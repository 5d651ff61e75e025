/* Passes: transformations of a program before lowering, in a table.
 *
 * Threads: passes may run at once on different programs; a program that passes change
 * belongs to one thread. */
#ifndef ARENAUT_PASS_H
#define ARENAUT_PASS_H

#include <arenaut/program.h>
#include <arenaut/result.h>
#include <arenaut/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kernel scratch of one op, as measured or documented for a kernel library. */
typedef struct arenaut_scratch_entry {
    uint32_t method, op; /* op counted within its method, as the file numbers them */
    uint64_t bytes;      /* one entry per request, in the order of the requests */
} arenaut_scratch_entry;

typedef struct arenaut_pass_options {
    const arenaut_target *target;      /* not NULL */
    const arenaut_kernel_set *kernels; /* that it is built with; NULL: the target's own */
    bool unmeasured;                   /* rules of the kernels that were only read count too */
    const arenaut_scratch_entry *scratch;
    size_t n_scratch;
    bool only_this_scratch; /* ops without an entry have none, even if the kernels' sizes give
                             * some */
    const arenaut_in_place_rule *in_place; /* the user's rules; they come before the kernels's */
    size_t n_in_place;
    bool only_these_rules; /* neither the kernels' in-place rules nor the dialect's count */
    const uint32_t *joins; /* results of joins that `slices` writes in place */
    size_t n_joins;
    bool only_these_joins; /* false: it does so wherever that is possible */
    const char *share; /* names "a,b" that are one state in all methods, wherever a file that places
                        * its tensors has them; "auto": each name is; NULL: none, but for state that
                        * the file itself gives one place */
    const struct arenaut_pass *const *user; /* the caller's passes, which `user` runs in order */
    size_t n_user;
    uint64_t reserved[4]; /* zero; later versions of 1.x take their fields here */
} arenaut_pass_options;

typedef struct arenaut_pass {
    const char *name, *summary;
    bool by_default; /* on for every program; others are on where a dialect's pipeline says so */
    arenaut_status (*run)(arenaut_program *program, const arenaut_pass_options *options,
                          arenaut_error *err);
} arenaut_pass;

size_t arenaut_pass_count(void);
const arenaut_pass *arenaut_pass_at(size_t index);       /* NULL past the end */
const arenaut_pass *arenaut_pass_find(const char *name); /* NULL if unknown */

/* Runs the default pipeline with `selection` applied: "a,b" adds, "-c" leaves out; NULL or
 * "" is the default alone, which is the passes that are always on and those of the
 * program's dialect. `after` (may be NULL) is called with each pass that has run.
 * BAD_ARGUMENT for an unknown name. The program is validated at the end. */
arenaut_status arenaut_passes_run(arenaut_program *program, const char *selection,
                                  const arenaut_pass_options *options,
                                  void (*after)(void *context, const arenaut_pass *pass,
                                                const arenaut_program *program),
                                  void *context, arenaut_error *err);

/* The content of a scratch file for one model. */
typedef struct arenaut_scratch_sizes {
    arenaut_scratch_entry *entries;
    size_t n;
    bool known; /* it speaks about this model: ops without a row ask for nothing */
} arenaut_scratch_sizes;

#ifdef __cplusplus
}
#endif
#endif
