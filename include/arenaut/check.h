/* The checker: accepts or rejects a plan. It shares no code with lowering or planners but helpers
 * for numbers, lists and texts.
 *
 * Part one holds a plan against its problem. Part two, replay, runs the program's own schedule over
 * a shadow of the arena in which each byte remembers the content written there; it knows nothing of
 * lifetimes, so it also catches a wrong lowering.
 *
 * Threads: any number of checks may run at once, also of the same plan, problem or program,
 * which they only read. */
#ifndef ARENAUT_CHECK_H
#define ARENAUT_CHECK_H

#include <arenaut/certificate.h>
#include <arenaut/kernels.h>
#include <arenaut/order.h>
#include <arenaut/plan.h>
#include <arenaut/problem.h>
#include <arenaut/program.h>
#include <arenaut/rematerialization.h>
#include <arenaut/rewrite.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The broken rule; the text is the JSON word. */
#define ARENAUT_RULE_MAP(XX)                                                                \
    XX(NONE, "none")                                                                        \
    /* plan against problem */                                                              \
    XX(SHAPE, "shape")       /* counts of buffers or pools differ */                        \
    XX(UNPLACED, "unplaced") /* a buffer that needs memory has no pool */                   \
    XX(POOL, "pool")         /* in a pool that is not allowed or does not exist */          \
    XX(ALIGNMENT, "alignment")                                                              \
    XX(OVERFLOW, "overflow") /* offset + size past ARENAUT_SIZE_MAX */                      \
    XX(CAPACITY, "capacity")                                                                \
    XX(FIXED, "fixed")   /* a fixed offset not kept */                                      \
    XX(INSIDE, "inside") /* not at its delta in its host */                                 \
    XX(RESERVED, "reserved")                                                                \
    XX(OVERLAP, "overlap") /* two conflicting buffers share bytes */                        \
    XX(TOKENS, "tokens")   /* two buffers share a part of a token */                        \
    XX(ARENA, "arena")     /* the stated arena is not the highest address */                \
    XX(BOUND, "bound")     /* the stated lower bound is above the arena, or the             \
                              plan is called optimal without being at it */                 \
    XX(WITNESS, "witness") /* the list of an infeasible plan proves nothing */              \
    XX(PROOF, "proof")     /* a certificate does not prove its claim */                     \
    /* replay */                                                                            \
    XX(OUTSIDE, "outside")       /* a tensor ends past its arena */                         \
    XX(CLOBBERED, "clobbered")   /* a read finds another tensor's bytes */                  \
    XX(UNWRITTEN, "unwritten")   /* a read finds bytes that nothing wrote */                \
    XX(ARGUMENTS, "arguments")   /* an op's outputs or scratch overlap its own arguments */ \
    XX(STATE_LOST, "state_lost") /* state is gone at the second call */                     \
    XX(NO_PLACE, "no_place")     /* a tensor that is used has no placement */               \
    XX(RACE, "race")             /* two ops that may run at the same time use the same      \
                                    bytes, one of them writing */                           \
    XX(STALE, "stale")           /* by the name of a state's old value its new one is       \
                                    read, or it never gets its new one */                   \
    /* a rewritten program against the one before */                                        \
    XX(REWRITE, "rewrite") /* it may compute something else */                              \
    XX(ORDER, "order")     /* a schedule violates a dependence, or has another peak */

typedef enum arenaut_rule {
#define XX(name, text) ARENAUT_RULE_##name,
    ARENAUT_RULE_MAP(XX)
#undef XX
        ARENAUT_RULE_COUNT
} arenaut_rule;

const char *arenaut_rule_name(arenaut_rule rule); /* NULL out of range; static */

/* The first counter-example found. Which fields mean something depends on the rule. */
typedef struct arenaut_finding {
    arenaut_rule rule;   /* ARENAUT_RULE_NONE: the plan is fine */
    uint32_t a, b;       /* buffers (part one) or tensors (replay); ARENAUT_NONE: none */
    uint32_t op;         /* replay: the op at work */
    uint32_t method;     /* replay: the method at work */
    int64_t step;        /* part one: a step at which both are alive */
    uint64_t first, end; /* the bytes in question, [first, end) in the pool */
    uint32_t pool;
    char msg[320]; /* for people: object, place, found, allowed */
} arenaut_finding;

/* Holds a plan against its problem: every rule of "plan against problem" above. Returns OK
 * with finding->rule NONE if the plan is fine, REJECTED with the finding (and its text in
 * *err) otherwise, and other errors (NO_MEMORY, or BAD_INPUT for a problem that is not
 * valid) as usual. An infeasible plan's witness is checked instead: the listed buffers must
 * need at least `bytes_over` more than there is, or be fixed and in each other's way; a
 * plan without witness is believed if its search was finished. O((n + edges) log n). */
arenaut_status arenaut_check_plan(const arenaut_problem *problem, const arenaut_plan *plan,
                                  const arenaut_allocator *allocator, arenaut_finding *finding,
                                  arenaut_error *err);

/* Limits on the cost of following a proof, all lines together. 0: the default, which true proofs
 * stay far below. With parts = buffers, lifetimes, edges, reserved ranges, separations and pools,
 * pairs = lifetimes that meet (16777216 at most), lines = those of the certificate, and looks =
 * those of them that are JOIN, POOL, ARENA, POOLS, WITHOUT, ABOVE, LEVEL or HIGH:
 *
 *   effort  1 Mi + 64 * ((parts + pairs) * (looks + 16) + parts * (lines + 16))
 *   memory  1 MiB + 256 * (parts + pairs) + 64 * lines + 16 * buffers * (lines that are KEPT) */
typedef struct arenaut_check_limits {
    uint64_t effort; /* looks at a buffer, or at two that are in each other's way */
    uint64_t memory; /* bytes in use at once */
} arenaut_check_limits;

/* Follows a certificate's proof: OK if it proves its claim about this problem, REJECTED with the
 * first line that does not hold (rule PROOF), and other errors as above; TOO_LARGE where a proof is
 * about more pairs of buffers than can be listed; STOPPED where following it costs more than the
 * default limits allow, and nothing is known of it. Time: for each line work about the neighbours
 * of its buffer, for each case (JOIN, POOL) that of listing them. */
arenaut_status arenaut_check_certificate(const arenaut_problem *problem,
                                         const arenaut_certificate *certificate,
                                         const arenaut_allocator *allocator,
                                         arenaut_finding *finding, arenaut_error *err);

/* The same with limits of the caller's; NULL: the default. */
arenaut_status arenaut_check_certificate_within(const arenaut_problem *problem,
                                                const arenaut_certificate *certificate,
                                                const arenaut_check_limits *limits,
                                                const arenaut_allocator *allocator,
                                                arenaut_finding *finding, arenaut_error *err);

/* The place of each tensor, from a plan or from a file. */
typedef struct arenaut_placement {
    uint32_t n_tensors, n_pools;
    const uint32_t *pool;   /* per tensor; ARENAUT_NONE: not in an arena */
    const uint64_t *offset; /* per tensor */
    const uint64_t *arena;  /* per pool: its size in bytes; NULL: unlimited */
} arenaut_placement;

typedef struct arenaut_replay_options {
    arenaut_optional_id only_method; /* left out: all entry methods */
    bool keep_inputs;                /* inputs must still hold their bytes when their method ends */
    bool exclude_io;                 /* entry inputs and outputs without a place are the caller's */
    /* The kernels that run the ops. If they have a rule for an op, its outputs may overlap its
     * inputs as far as its own steps, in the order of the rule, read no byte that they have written
     * over; the op's own statements do not count. NULL, or no rule: the op's own statements are
     * believed. */
    const arenaut_kernel_set *kernels;
    bool unmeasured; /* rules of the kernels that were only read count too */
    /* The name of each pool in findings of the placement; NULL, or NULL entries: "pool 0", … */
    const char *const *pool_names;
    uint64_t reserved[4]; /* zero; later versions of 1.x take their fields here */
} arenaut_replay_options;

/* Replays every entry method twice: both sides of branches, loops to a fixed point, delegates with
 * all arguments touched at once. Tensors that nothing touches, and those of class constant or owned
 * by the caller, are left alone; so is state without a place, which the runtime keeps. Another
 * touched tensor without a place is NO_PLACE. An op's outputs and scratch are written before its
 * inputs are read, except a declared in-place pair that lies at the same offset, the output no
 * longer than the input, and outputs that overlap an input as the options' kernels allow, whose
 * ranges read and written are followed in their order: for operators that the checker has loops of,
 * others are refused. A call's arguments are copied into the method's inputs and its outputs back;
 * a loop carries its values in its op's outputs, and its initial values are whole until its
 * condition has run once. Jumps are followed along every path, to a fixed point; a tensor that may
 * point to several tensors' memory after moves must be whole in each of them. State must be whole
 * whenever an entry method ends; nothing else outlasts it. Where a method's bindings say which
 * state its ops have MUTATED, that state's own name stands for its old value: it may be read until
 * the new one is written, which must be there in the end. Returns as arenaut_check_plan;
 * UNSUPPORTED for calls nested more than 64 deep, for methods that never end, calls, loops and
 * jumps that multiply into too much work, or kernels of too many steps. O(ops × arguments × log)
 * for programs without calls and jumps, and the steps of each op whose arguments overlap. `options`
 * may be NULL. */
arenaut_status arenaut_check_replay(const arenaut_program *program,
                                    const arenaut_placement *placement,
                                    const arenaut_replay_options *options,
                                    const arenaut_allocator *allocator, arenaut_finding *finding,
                                    arenaut_error *err);

/* Holds a rewritten program against the one that it was made of: every result must be, element by
 * element and bit by bit, the old one, if the kernels compute each element of a result from its own
 * window alone. Returns as arenaut_check_plan, with the rule REWRITE; an op that is not understood
 * is REJECTED, and so are tiles beside ops that are not followed and run in another sequence than
 * before: a writer proves that their order as made computes the same, and is a tiling. O(elements
 * along the axes of all tensors × taps of a window). */
arenaut_status arenaut_check_rewrite(const arenaut_program *before, const arenaut_rewrite *rewrite,
                                     const arenaut_allocator *allocator, arenaut_finding *finding,
                                     arenaut_error *err);

/* Checks a schedule against its problem: all ops run once, after their predecessors, the peak is as
 * stated, and the proof shows the bound. Follows the proof without searching. Returns as
 * arenaut_check_plan, with the rule ORDER, or PROOF with the line in finding->first. Time: for each
 * line O(ready ops); a maximum flow for a CUT, and for each AHEAD and BACK of more than one op. */
arenaut_status arenaut_check_order(const arenaut_order_problem *problem, const arenaut_order *order,
                                   const arenaut_allocator *allocator, arenaut_finding *finding,
                                   arenaut_error *err);

/* Holds runs and bounds against their problem: every op runs, behind its dependences, repeated only
 * as long as it may be; as much is alive and added as is said; and the flows show the bounds. Adds
 * them up without searching. Returns as arenaut_check_plan, with the rule ORDER, or PROOF;
 * BAD_ARGUMENT for a number that is out of range; TOO_LARGE for sums that are. O(runs ×
 * arguments). */
arenaut_status arenaut_check_rematerialization(const arenaut_remat_problem *problem,
                                               const arenaut_rematerialization *r,
                                               const arenaut_allocator *allocator,
                                               arenaut_finding *finding, arenaut_error *err);

/* The same of the bounds alone, where runs are not known: bound, floor, budget and their proofs. */
arenaut_status arenaut_check_remat_bounds(const arenaut_remat_problem *problem,
                                          const arenaut_rematerialization *r,
                                          const arenaut_allocator *allocator,
                                          arenaut_finding *finding, arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
