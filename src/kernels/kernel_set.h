/* Rules of kernel sets, looked up for an op: scratch, the walk over its operands, persistent
 * memory, element types. A set and its base answer together. */
#ifndef ARN_KERNELS_KERNEL_SET_H
#define ARN_KERNELS_KERNEL_SET_H

#include <arenaut/kernels.h>

/* A hash of all rules of the set and of its base, in their order: not of name, version and summary.
 * Marks in files hold it, to tell that a set is another one by now. */
uint64_t arn_kernel_set_fingerprint(const arenaut_kernel_set *set);

/* Whether the set or its base has an alignment of any op. `set` may be NULL. */
bool arn_kernels_align(const arenaut_kernel_set *set);

/* The scratch of the kernel of this op, which may be none. False: unknown, as for an op that a set
 * names without sizes. O(rules + rank). */
bool arn_kernel_scratch_sizes(const arenaut_kernel_set *set, const arenaut_program *program,
                              const arenaut_op *op, arenaut_scratch_requests *requests);

/* The rule of `set`, or of its base, for this op: the first with its conditions met. An unmeasured
 * one counts only if `unmeasured`; else it hides the rules behind it. An op with rules of its own
 * in a set does not go on to the base, whether a condition was met or not. NULL: none, so that its
 * arguments must be disjoint; an op with a compressed operand has none. O(rules + inputs). */
const arenaut_kernel_rule *arn_kernel_rule_for(const arenaut_kernel_set *set,
                                               const arenaut_program *program, const arenaut_op *op,
                                               bool unmeasured);

/* By the first set on the way from `set` to its base that has type rules for the op; a set that
 * names the op only in other lists has a kernel of its own, of unknown types. UNKNOWN also if an
 * argument is compressed or of unknown size, or the op lacks an operand that its kernel reads or
 * has more than it takes. `set` may be NULL. O(rules + operands). */
arenaut_op_support arn_kernel_support(const arenaut_kernel_set *set, const arenaut_program *program,
                                      const arenaut_op *op);

/* Persistent bytes of an op if pointers have `pointer` bytes, 4 or 8: of its options, and of its
 * kernel, each request rounded up to `align`. An op with rules in a set that names it not among the
 * persistent has its own, unknown kernel there. False: that is so, or no set names the op, or a
 * tensor of it is compressed or of unknown size. O(rules). */
typedef struct arn_persistent {
    uint64_t options, data;
    uint64_t begun;   /* of `data`: whatever the shapes, at the latest when its kernel begins; the
                       * rest comes while it is prepared */
    bool looks_twice; /* its kernel holds the descriptions of its arguments twice while it is
                       * prepared, of all but a bias */
} arn_persistent;
bool arn_kernel_persistent(const arenaut_kernel_set *set, const arenaut_program *program,
                           const arenaut_op *op, uint32_t pointer, uint64_t align,
                           arn_persistent *kept);

/* Whether the set itself, not one that it builds on, has rules for an op. */
bool arn_kernel_set_has_rules(const arenaut_kernel_set *set, const char *op);

#endif
