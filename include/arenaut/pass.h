/* Passes: transformations of a program before liveness, in a table. */
#ifndef ARENAUT_PASS_H
#define ARENAUT_PASS_H

#include <arenaut/program.h>
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
    const arenaut_target *target; /* not NULL */
    const arenaut_scratch_entry *scratch;
    size_t n_scratch;
    const arenaut_in_place_rule *in_place; /* the user's rules; they come before the target's */
    size_t n_in_place;
} arenaut_pass_options;

typedef struct arenaut_pass {
    const char *name, *summary;
    bool by_default; /* in the default pipeline */
    arenaut_status (*run)(arenaut_program *program, const arenaut_pass_options *options,
                          arenaut_error *err);
} arenaut_pass;

size_t arenaut_pass_count(void);
const arenaut_pass *arenaut_pass_at(size_t index);       /* NULL past the end */
const arenaut_pass *arenaut_pass_find(const char *name); /* NULL if unknown */

/* Runs the default pipeline with `selection` applied: "a,b" adds, "-c" leaves out; NULL or
 * "" is the default alone. `after` (may be NULL) is called with each pass that has run.
 * BAD_ARGUMENT for an unknown name. The program is validated at the end. */
arenaut_status arenaut_passes_run(arenaut_program *program, const char *selection,
                                  const arenaut_pass_options *options,
                                  void (*after)(void *context, const arenaut_pass *pass,
                                                const arenaut_program *program),
                                  void *context, arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
