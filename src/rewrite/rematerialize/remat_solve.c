/* The search of a program's sequence, with bounds that hold for all: where the search makes fewer
 * sequences than there are, bounds are those of a second problem, of the same ops and storages, in
 * which more is allowed. Both answers are checked. */
#include <arenaut/check.h>

#include "core/fail.h"
#include "rewrite/rematerialize/remat_program.h"

static arenaut_status find(const arenaut_remat_problem *problem, arn_budget *budget, uint64_t bytes,
                           const arenaut_allocator *allocator, arenaut_rematerialization **out,
                           arn_remat_runs *all, arenaut_error *err) {
    arenaut_finding finding;
    arenaut_error why = {0};
    arenaut_status st = arn_remat_find(problem, budget, bytes, allocator, out, all, err);
    if (st != ARENAUT_OK) return st;
    st = arenaut_check_rematerialization(problem, *out, allocator, &finding, &why);
    if (st == ARENAUT_OK) return st;
    arenaut_rematerialization_free(*out);
    *out = NULL;
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(err);
    return arn_fail(err, ARENAUT_INTERNAL, 0, "a schedule does not pass the checker: %s", why.msg);
}

/* Bounds, proofs and the storages at the floor; each keeps its sequence. */
static void swap_bounds(arenaut_rematerialization *a, arenaut_rematerialization *b) {
    const arenaut_rematerialization was = *a;
    a->bound = b->bound;
    a->floor = b->floor;
    a->proof = b->proof;
    a->floor_proof = b->floor_proof;
    a->at_floor = b->at_floor;
    a->n_at_floor = b->n_at_floor;
    b->proof = was.proof;
    b->floor_proof = was.floor_proof;
    b->at_floor = was.at_floor;
}

arenaut_status arn_remat_program_solve(const arn_remat_program *p, arn_budget *budget,
                                       uint64_t bytes, const arenaut_allocator *allocator,
                                       arenaut_rematerialization **out, arn_remat_runs *all,
                                       arenaut_error *err) {
    arenaut_rematerialization *any = NULL;
    arenaut_status st = find(&p->problem, budget, bytes, allocator, out, all, err);
    if (st != ARENAUT_OK || !p->apart) return st;
    const uint64_t within = (*out)->budget;
    st = find(&p->any, budget, within > 0 ? within : 1, allocator, &any, NULL, err);
    if (st == ARENAUT_OK) swap_bounds(*out, any);
    arenaut_rematerialization_free(any);
    if (st == ARENAUT_OK) return st;
    arenaut_rematerialization_free(*out);
    *out = NULL;
    return st;
}
