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

/* The memory of a runtime with its interpreter in the same arena as the tensors: a *head*, with the
 * tensors and scratch and, while it plans, its notes about them; and a *tail* that grows towards
 * it. Sizes in bytes. */
typedef struct arenaut_arena_layout {
    uint32_t pointer;             /* 4 or 8, the alignment of structs with pointers */
    uint32_t base;                /* of the tail: allocator, planner and the like, for any model */
    uint32_t base_apart;          /* the same if head and tail are two memories */
    uint32_t builtin;             /* and the allocator of parsed options */
    uint32_t method, tensor, op;  /* for each of the model's */
    uint32_t argument;            /* for each input and output of the first method */
    uint32_t quantization;        /* and more if it is quantized */
    uint32_t scratch;             /* for each request of a kernel */
    uint32_t variables, variable; /* where there are variables, and for each */
    uint32_t request, n_requests; /* of the head, before: room for requests of scratch,
                                   * so many more than there are */
    uint32_t tensor_note, buffer_note; /* while planning: for each tensor, constants and
                                        * scratch included, and for each planned one */
} arenaut_arena_layout;

typedef struct arenaut_target {
    const char *name, *summary;
    const char *format;    /* the format it is the default for; NULL: none */
    uint64_t align;        /* every offset is a multiple of this */
    bool round_sizes;      /* sizes are rounded up to `align` too */
    bool keep_inputs;      /* entry inputs live until their method ends */
    bool keep_outputs;     /* entry outputs live from their method's start */
    bool state_in_arena;   /* false: variables are kept elsewhere by the runtime */
    bool skip_untouched;   /* tensors nothing touches get no memory (else offset 0) */
    bool merge_calls;      /* a method called from several places keeps its tensors from its first
                            * call to its last; a tensor that is read but never written is alive
                            * from before the first step */
    bool arena_per_method; /* each method has an arena of its own, but for shared tensors */
    bool share_apart;      /* tensors that methods share by name lie in a pool of their own */
    bool keep_memories;    /* tensors stay in the arena of their method (given_pool) in which
                            * the file places them */
    bool tokens;           /* memory comes in whole tokens (ARENAUT_PROBLEM_TOKENS) */
    bool op_order;         /* its planner serves values in the order in which ops name them: buffers
                            * are numbered in the order of inputs and then of ops' outputs, and let
                            * go in that of ops' operands, for any order of the tensors */
    const char *offsets;   /* the target of the same runtime with places inside tokens: its need is
                            * reported beside; NULL: none */
    const char *incumbent; /* the planner that the runtime itself uses */
    bool plans_nothing; /* the runtime of the files themselves has no planner: a value has memory of
                         * its own until its last reader has run. Then `incumbent` is that of a
                         * runtime they are on their way to, and a rewritten file is judged by the
                         * bytes that are alive at once */
    bool plan_in_file;  /* the runtime obeys a plan held in the file */
    bool places_scratch; /* it gives kernel scratch its places itself, around that plan */
    const arenaut_kernel_set *kernels; /* that it is built with by default; NULL: unknown */
    const char *const *outside; /* ops whose results the application may have put outside of the
                                 * arena, which no file states; ends with NULL. NULL: none */
    const arenaut_arena_layout *layout; /* NULL: the arena holds nothing else, or that is unknown */
    const char *joint; /* the target that is the same runtime where the application has all methods,
                        * of one file or of several, work in the same memories: what --share plans
                        * for; NULL: this one is, or there is none */
    const char *naming; /* how its exporters give state the names by which it is shared; NULL: they
                         * always do, or there is nothing to be said */
    const char *wide; /* the target that is the same runtime where pointers have 8 bytes; NULL: this
                       * one is, or that makes no difference */
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
