/* Scheduling problems of a program, schedules mapped back to its ops, and reordering by them
 * (order.h has the problem alone); schedules together with the forms of ops. */
#ifndef ARN_REWRITE_ORDER_PROGRAM_ORDER_H
#define ARN_REWRITE_ORDER_PROGRAM_ORDER_H

#include <arenaut/lowering.h>
#include <arenaut/order.h>
#include <arenaut/pipeline.h>
#include <arenaut/rewrite.h>

#include "core/budget.h"
#include "core/memory.h"

const char *arn_order_rule_name(arenaut_order_rule rule); /* NULL out of range; static */

/* The scheduling problems of a program (order.h), one for each of its methods that run and have
 * ops, callees before callers; of a method that jumps, one for each stretch of ops between. The ops
 * of a problem are those of the file, in their given order, each with the ops that passes inserted
 * before it; ops that passes appended come last. Sizes are rounded up to the least alignment. If
 * one method runs, buffers have the numbers of the lowering. Else a problem has the method's own
 * buffers and, in an entry, those live in all methods; and for each calling op one more, as
 * large as the lower bound of its callees. */
typedef struct arn_program_order arn_program_order;

/* Peaks of live bytes: of the entry with the greatest, callees included, or the sum over all
 * methods if each has pools of its own. */
typedef struct arn_order_peaks {
    uint64_t given, best, bound; /* of the given order, the best schedules found, any schedule */
    uint64_t heuristics[ARENAUT_ORDER_HEURISTIC_COUNT]; /* of the heuristics; callees have their
                                                         * best schedule */
    bool between_jumps; /* some ops move only between jumps, and bounds hold for these schedules
                         * only */
    uint64_t at_ends;   /* arenas may be smaller than the peak of a schedule by this, since they end
                         * with the last byte of a buffer, whose size counts rounded up */
} arn_order_peaks;

/* REFUSED, with the reason, if ops cannot be reordered, or live bytes do not follow from lifetimes:
 * programs with memory that has several definitions, with concurrent ops, with a method that keeps
 * its memory between calls. In a method that jumps, each stretch of ops between pinned ones is a
 * problem. `lowering` is that of `program`; both must outlive the result. O(arguments +
 * dependences). */
arenaut_status arn_program_order_new(const arenaut_program *program,
                                     const arenaut_lowering *lowering, const arenaut_target *target,
                                     const arenaut_lowering_options *options,
                                     const arenaut_allocator *allocator, arn_program_order **out,
                                     arenaut_error *err);
uint32_t arn_program_order_count(const arn_program_order *order); /* of problems */
/* The method of this problem. */
uint32_t arn_program_order_method(const arn_program_order *order, uint32_t problem);
/* A problem is complete once schedules of all problems before it have been taken. */
const arenaut_order_problem *arn_program_order_problem(const arn_program_order *order,
                                                       uint32_t problem);
/* Takes a schedule of the next problem, whose bound has been checked, and copies it. REFUSED if the
 * peaks of methods cannot be added. */
arenaut_status arn_program_order_take(arn_program_order *order, const arenaut_order *found,
                                      arenaut_error *err);
/* Takes the given schedule of each problem, without a search, to measure its peak: `best` and
 * `bound` of arn_program_order_peaks are that of the given schedule, too, and no claims. */
arenaut_status arn_program_order_take_given(arn_program_order *order, arenaut_error *err);
/* Once schedules of all problems have been taken. */
arn_order_peaks arn_program_order_peaks(const arn_program_order *order);
/* The number of schedules of the whole program to choose from: the best of each problem, then
 * near-optimal ones; and a lower bound of the peak of one of them. */
uint32_t arn_program_order_candidates(const arn_program_order *order);
uint64_t arn_program_order_least(const arn_program_order *order, uint32_t candidate);
/* The buffers live at the peak of the best schedule of the only problem, which must have been
 * taken: `alive` has room for all of its buffers. REFUSED if there are several problems. */
arenaut_status arn_program_order_at_peak(const arn_program_order *order, uint8_t *alive,
                                         arenaut_error *err);
void arn_program_order_free(arn_program_order *order); /* NULL is fine */
/* A copy of bytes [offset, offset + bytes) of another tensor, or of all of them. */
typedef struct arn_part {
    uint32_t tensor, whole;
    uint64_t offset, bytes; /* bytes: at least 1 */
} arn_part;

/* Choices besides the schedule: concatenations in place, views that are copies. */
typedef struct arn_relaxation {
    const uint32_t *joins; /* results of concatenations, in any sequence; the pass */
    uint32_t n_joins;      /* `slices` may write each of them in place */
    const arn_part *parts; /* copies that might be views of their source */
    uint32_t n_parts;
} arn_relaxation;

/* Replaces the problem by a relaxation that is a lower bound of all these choices: `program` is the
 * one without in-place joins, in which each of the parts is a copy. No plan in any schedule, with
 * any choice, needs less than the least peak of this problem. `program` and `lowering` are those of
 * `order`. REFUSED if there are too many parts, or several problems, or a part or its whole shares
 * its buffer with others; `order` can only be freed then. BAD_ARGUMENT for a tensor that does not
 * exist. */
arenaut_status arn_program_order_relax(arn_program_order *order, const arenaut_program *program,
                                       const arenaut_lowering *lowering,
                                       const arn_relaxation *choices, arenaut_error *err);
/* Maps a schedule back to the ops of `file`, the program before its passes: `out` has room for all
 * of them. Ops that passes removed run before their dependents. The file may not say where views
 * lie, so that its ops depend on more: then some run earlier than they do in the schedule, and
 * *as_found is false. */
arenaut_status arn_program_order_ops(const arn_program_order *order, const arenaut_program *file,
                                     uint32_t candidate, const arenaut_allocator *allocator,
                                     uint32_t *out, bool *as_found, arenaut_error *err);

/* Reorders the ops of `program`, each within its method, as a rewrite, which takes `program` over
 * if all goes well. BAD_ARGUMENT if `ops` is no permutation of them. arenaut_check_rewrite decides
 * whether it computes the same. */
arenaut_status arn_reorder(arenaut_program *program, const uint32_t *ops, arenaut_rewrite **out,
                           arenaut_error *err);

/* ---- schedules of a pipeline's program, together with the forms of its ops (forms.c) ---- */

/* Forms are joins that are written in place, and views that are materialized; each is a choice. */

/* The scheduling problems of a lowered trial; the caller's, to be released. */
arenaut_status arn_schedule_problem_of(const arenaut_pipeline *lowered, arn_program_order **problem,
                                       arenaut_error *err);
/* Finds and takes such a schedule for each of them; adds the lines of the proofs. */
arenaut_status arn_find_schedules(const arenaut_pipeline *p, arn_program_order *problem,
                                  arn_budget *budget, uint32_t *n_lines, arenaut_error *err);

/* Views that may be materialized. */
typedef struct arn_copies {
    uint32_t *ops;  /* of the file, ascending */
    uint32_t *base; /* per op: the number of the viewed storage, from 0 on */
    uint32_t n, n_bases;
    bool *late;      /* per op: in the given schedule its view is read after the last read of
                      * another name of the base */
    arn_part *parts; /* their results */
    uint32_t *base_of_part, n_parts;
} arn_copies;

typedef struct arn_form_choices {
    arenaut_joining joins; /* by their results */
    arn_copies copies;
} arn_form_choices;

/* Finds them; the lists are the region's. */
arenaut_status arn_find_forms(const arenaut_pipeline *p, arn_budget *budget, arn_region *region,
                              arn_form_choices *choices, arenaut_error *err);
/* A lower bound of live bytes for any schedule and any choice; 0 if none is known. */
arenaut_status arn_bound_forms(const arenaut_pipeline *p, arn_budget *budget,
                               const arn_form_choices *choices, arenaut_ordering *bound,
                               arenaut_error *err);

#endif
