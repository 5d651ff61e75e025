/* Targets: the runtime that will use a plan, as far as planning needs to know it.
 *
 * Threads: the table never changes; any thread may read it at any time. */
#ifndef ARENAUT_TARGET_H
#define ARENAUT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/kernels.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An op whose operands and results must lie at multiples of `align`, in the kernels of one
 * library: all the buffers that they are in get at least that. */
typedef struct arenaut_align_rule {
    const char *op;
    uint64_t align; /* power of two */
} arenaut_align_rule;

typedef struct arenaut_target {
    const char *name, *summary;
    const char *format;    /* the format it is the default for; NULL: none */
    uint64_t align;        /* every offset is a multiple of this */
    bool round_sizes;      /* sizes are rounded up to `align` too */
    bool keep_inputs;      /* entry inputs live until their method ends */
    bool keep_outputs;     /* entry outputs live from their method's start */
    bool state_in_arena;   /* false: variables are kept elsewhere by the runtime */
    bool skip_untouched;   /* tensors nothing touches get no memory (else offset 0) */
    bool merge_calls;      /* a method called from several places keeps its tensors from
                            * its first call to its last; what is read but never written
                            * is alive from before the first step */
    bool arena_per_method; /* each method has an arena of its own, but for what they share */
    bool share_apart;      /* what methods share by name lies in a pool of its own */
    bool keep_memories;    /* tensors stay in the arena of their method (given_pool) in which
                            * the file places them */
    bool tokens;           /* memory comes in whole tokens (ARENAUT_PROBLEM_TOKENS) */
    bool op_order;         /* its planner serves values in the order in which ops name them:
                            * buffers are numbered in the order of inputs and then of ops'
                            * outputs, and let go in that of ops' operands, whatever the
                            * order of the tensors */
    const char *offsets;   /* the target that the same would be if it took places in tokens:
                            * what that needs is told beside; NULL: none */
    const char *incumbent; /* the planner that the runtime itself uses */
    bool plan_in_file;     /* the runtime obeys a plan held in the file */
    bool places_scratch;   /* it gives kernel scratch its places itself, around that plan */
    const arenaut_kernel_set *kernels; /* that it is built with unless somebody says otherwise;
                                        * NULL: not known */
    const char *const *outside; /* ops whose results the application may have put outside of the
                                 * arena, which no file tells; ends with NULL. NULL: none */
    const arenaut_align_rule *op_align; /* ends with op == NULL; NULL: none asks for more */
    /* Runtime memory outside the plan, for `size`: bytes of planning temporaries per
     * tensor (constants included), scratch and per planned buffer, which share the head
     * with the plan while it is made. 0: unknown. */
    uint32_t temp_per_tensor, temp_per_buffer;
} arenaut_target;

/* The table, in the order of src/targets/targets.def. */
size_t arenaut_target_count(void);
const arenaut_target *arenaut_target_at(size_t index);       /* NULL past the end */
const arenaut_target *arenaut_target_find(const char *name); /* NULL if unknown */
/* The first target whose `format` is this, else the target "generic". Never NULL. */
const arenaut_target *arenaut_target_for_format(const char *format);

#ifdef __cplusplus
}
#endif
#endif
