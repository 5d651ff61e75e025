/* Why no plan is smaller: the certificate of a plan's bound, made, checked and described. */
#ifndef TOOL_PROOF_H
#define TOOL_PROOF_H

#include "job.h"

typedef struct bound_proof {
    uint64_t bound;   /* the proven bound; ARENAUT_UNPLACED: that there is no plan */
    const char *kind; /* the JSON word; NULL: there is no proof, and `text` says why */
    uint32_t lines, branches;
    char text[80]; /* for people */
} bound_proof;

/* About the job's plan. A certificate that the checker rejects is a bug of ours. */
exit_code prove_bound(const tool_job *job, bound_proof *proof);

/* {"kind":"load","lines":1,"branches":0,"checked":true} */
void put_json_proof(const bound_proof *proof, arenaut_text *out);

#endif
