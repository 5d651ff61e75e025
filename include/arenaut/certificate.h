/* A certificate: a proof that no plan is smaller than a bound, or that there is no plan at all,
 * written line by line, so that it can be checked without searching (arenaut_check_certificate).
 *
 * A proof shows that a *case* is impossible: that nothing meets all of
 *
 *   - the problem's constraints,
 *   - a total of arenas below the certificate's bound, if it has one,
 *   - what was assumed on the way: how same-base pairs lie, pools of buffers, arenas of pools.
 *
 * From an assumed total follows how high each pool may be used: its *limit*. Relaxing a case is
 * always allowed, since a case that is impossible with fewer constraints stays so with more.
 *
 * Buffers that keep their distance move together, as *groups*: a slice with its host, a same-base
 * pair that is assumed to be joined (the heir starts where its base does). Covered bytes count
 * once: at a step where a slice's host is alive, the slice is left out, and of a same-base pair
 * that is not assumed to be apart the smaller one is (of equals, the one that lies in more hosts,
 * then the one with the higher number).
 * Two buffers are in each other's way if the rest of their lives meets, or an edge joins them,
 * unless they are of one group or such a pair.
 *
 * Below its case a proof works in one pool, with groups that may lie in no other. Some are
 * *placed*, each other has a *lowest* offset: it keeps clear of reserved ranges and of placed
 * groups in its way, is aligned, and nothing lower remains possible. At first only fixed groups are
 * placed. The argument is about the member of the case whose sum of offsets is the least: in it, no
 * group can be moved down by itself. So for any set of groups that is not empty, either one of them
 * lies at its lowest (PLACE it), or none does (REJECT them all), and then for each there is an
 * unplaced group in the way at its lowest, and it rests on the end of such a one: at the next place
 * that it may take from there. Ends are at least the lowest ends. Where resting on one another
 * means lying higher, the lowest group of the set rests on one outside of it. Higher than its
 * lowest means higher by a *grain* at least: the largest number of which all sizes, distances in
 * groups, fixed offsets and reserved ranges of the pool are multiples, and each alignment is one or
 * divides it. Rounding all offsets down to multiples of that keeps groups disjoint, so that in the
 * member with the least sum they are such multiples.
 *
 * Where separations let buffers overlap, resting on one another means nothing of the kind, and none
 * of that is used. Instead each group has a range of offsets that are still possible, and each two
 * in each other's way (whose whole lives meet, or which an edge joins) a range of differences. A
 * buffer above another one starts at its end or higher, or, if they are separated so, at their
 * distance or higher; below likewise; and a same-base pair may start together. A range does not
 * begin or end at an offset that these forbid, nor at one that is not aligned; the ranges of two
 * offsets narrow that of their difference, and the other way round.
 *
 * A proof is one of
 *
 *   DEAD                    what is assumed contradicts itself: a group ends above the limit,
 *                           two groups that cannot move overlap, a rejected group has nothing
 *                           in its way, a range is empty, or limits leave less than is needed
 *   LOAD value              the buffers alive at step `value` are more than the chosen pools
 *                           can hold below their limits. Of two that are separated the most that
 *                           they may share is taken off. In one pool it is enough that for some
 *                           grain, a power of two, they have more *multiples* in them, wherever
 *                           they lie, than there are below the start of the topmost, and in that
 *   OVER value              the unplaced groups alive at step `value` do not fit between the
 *                           lowest of their lowest offsets and the limit, or have more multiples
 *                           of some grain in them than there are
 *   EDGE item               nor do the two ends of conflict `item`
 *   SAME value              line `value`, a KEPT, was proven before, and is no stricter
 *   POOLS value, proof      looks at groups only that may lie in no pool outside of this set
 *   FROM value, proof       looks at groups only that are alive at step `value` or later,
 *   UNTIL value, proof      or at that step or before
 *   WITHOUT item, proof     looks at all buffers but `item`
 *   BRANCH, PLACE item, proof, … REJECT, proof
 *                           places each of some groups, one at least, then rejects them all.
 *                           Among the children may be ALIKE item value: exchanging the two groups
 *                           changes nothing, and `value` stands before it
 *   KEPT, …                 a BRANCH that some SAME refers to
 *   JOIN item, proof, proof buffer `item` lies on its base; they lie apart
 *   POOL item, proof, …     buffer `item` lies in each of its pools, from the lowest on
 *   ARENA item value, proof, proof
 *                           pool `item` has an arena of at most `value` bytes; of more
 *   ABOVE item value, proof, proof
 *                           buffer `item` lies above buffer `value`; it does not
 *   LEVEL item value, proof, proof
 *                           buffer `item` starts where buffer `value` does, or higher; lower
 *   HIGH item value, proof, proof
 *                           buffer `item` starts at offset `value` or higher; lower
 *
 * JOIN, POOL and ARENA come before the others, and WITHOUT before the first line about groups.
 * Above and below each other's ABOVE, LEVEL and HIGH there are no lines of the other kind, about
 * where groups rest: a problem with separations has none of those. `item` of PLACE and ALIKE is a
 * buffer, which stands for its group; so is `value` of ALIKE.
 *
 * Threads: any number of calls may run at once, also about the same problem and plan, which
 * they only read. */
#ifndef ARENAUT_CERTIFICATE_H
#define ARENAUT_CERTIFICATE_H

#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>
#include <arenaut/plan.h>
#include <arenaut/planner.h>
#include <arenaut/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARENAUT_PROOF_MAP(XX) \
    XX(DEAD, "dead")          \
    XX(LOAD, "load")          \
    XX(OVER, "over")          \
    XX(EDGE, "edge")          \
    XX(SAME, "same")          \
    XX(POOLS, "pools")        \
    XX(FROM, "from")          \
    XX(UNTIL, "until")        \
    XX(BRANCH, "branch")      \
    XX(KEPT, "kept")          \
    XX(PLACE, "place")        \
    XX(ALIKE, "alike")        \
    XX(REJECT, "reject")      \
    XX(JOIN, "join")          \
    XX(POOL, "pool")          \
    XX(ARENA, "arena")        \
    XX(WITHOUT, "without")    \
    XX(ABOVE, "above")        \
    XX(LEVEL, "level")        \
    XX(HIGH, "high")

typedef enum arenaut_proof_rule {
#define XX(name, text) ARENAUT_PROOF_##name,
    ARENAUT_PROOF_MAP(XX)
#undef XX
        ARENAUT_PROOF_COUNT
} arenaut_proof_rule;

typedef struct arenaut_proof_line {
    uint32_t rule; /* arenaut_proof_rule */
    uint32_t item; /* 0 where it means nothing, as is `value` */
    uint64_t value;
} arenaut_proof_line;

typedef struct arenaut_certificate {
    uint64_t bound;   /* no plan has a smaller total; ARENAUT_UNPLACED: there is no plan */
    uint64_t problem; /* a hash of all parts of the problem that a proof can refer to */
    uint32_t n_lines, n_branches; /* the latter: BRANCH, KEPT, ABOVE, LEVEL, HIGH */
    arenaut_proof_line *line;
    arenaut_allocator allocator; /* that the lines are from */
} arenaut_certificate;

/* The proof of a proven plan: that no plan has a smaller total than plan->total_bound or, where it
 * is infeasible, that there is none. This works the proof out anew; nothing is kept while planning.
 * Usually it is one line: the step at which so much is alive. Otherwise it takes about as long as
 * the exact search took. Spends at most `effort`; 0: arenaut_default_effort(). `problem` has the
 * capacities that the plan was made for. On OK the caller frees *out. STOPPED: the effort was not
 * enough; REFUSED: too large for exact search, or the bound is not so high, or buffers have a
 * choice of pools and there is a plan: certificates know arenas only, and no spill; NO_MEMORY. */
arenaut_status arenaut_certify(const arenaut_problem *problem, const arenaut_plan *plan,
                               uint64_t effort, const arenaut_allocator *allocator,
                               arenaut_certificate **out, arenaut_error *err);
/* The same with the effort and the callback of these options, which may say stop: then STOPPED. */
arenaut_status arenaut_certify_with(const arenaut_problem *problem, const arenaut_plan *plan,
                                    const arenaut_plan_options *options,
                                    const arenaut_allocator *allocator, arenaut_certificate **out,
                                    arenaut_error *err);
void arenaut_certificate_free(arenaut_certificate *certificate); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
