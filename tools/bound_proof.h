/* Why no plan is below a bound: a certificate is made for it (src/planners/certify.c), followed by
 * the checker, and told in a word. It costs the search for the bound once more. */
#ifndef TOOL_BOUND_PROOF_H
#define TOOL_BOUND_PROOF_H

#include "tool.h"

typedef struct bound_proof {
    uint64_t bound;   /* the bound at issue; ARENAUT_UNPLACED: that there is no plan */
    bool spills;      /* buffers choose pools: it is of plans that spill no more than this one */
    const char *kind; /* the JSON word; NULL: there is no proof, and `text` says why */
    uint32_t lines, branches;
    char text[80]; /* for people */
} bound_proof;

/* ARENAUT_UNPLACED for an infeasible plan. */
uint64_t bound_to_prove(const arenaut_plan *plan);
/* Proves the bound of the plan, within the effort; 0: the default. That there is no proof is no
 * error; a certificate that the checker rejects is a bug of ours. `path` is for messages. */
exit_code prove_bound(const char *path, const arenaut_problem *problem, const arenaut_plan *plan,
                      uint64_t effort, bound_proof *proof);
/* Whether a plan says more than its places do, and than its witness shows: that no plan needs less
 * than a bound, in all or in a pool, or spills less, or that there is none. */
bool claims_bound(const arenaut_plan *plan);
/* Whether that holds. The bound of the total is proven. Without a proof, or where it does not show
 * those of the pools, a plan that needs less is looked for, with the default effort: where there is
 * one, and where the plan is called infeasible, *ok is false and *finding says why. */
exit_code check_bound(const char *path, const arenaut_problem *problem, const arenaut_plan *plan,
                      bound_proof *proof, bool *ok, arenaut_finding *finding);

/* "  proven: no plan needs less than 12 bytes (load at step 1)"; `of_ops`: the buffers are those of
 * a program, whose order counts. */
void put_bound(const bound_proof *proof, bool of_ops, arenaut_text *out);
/* {"bytes":12,"proof":{…}}; null bytes: that there is no plan */
void put_json_bound(const bound_proof *proof, arenaut_text *out);
/* {"kind":"load","lines":1,"branches":0,"checked":true} */
void put_json_proof(const bound_proof *proof, arenaut_text *out);

#endif
