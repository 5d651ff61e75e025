/* toy-no-softmax: refuses programs with a softmax. */
#include <string.h>

#include <arenaut/pass.h>

#include "core/fail.h"

static arenaut_status toy_no_softmax_run(arenaut_program *p, const arenaut_pass_options *options,
                                         arenaut_error *err) {
    (void)options;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const char *name = p->ops[i].name;
        if (!name || strcmp(name, "SOFTMAX") != 0) continue;
        return arn_fail(err, ARENAUT_REFUSED, i, "op %u is a softmax, and a toy has none",
                        (unsigned)i);
    }
    return ARENAUT_OK;
}

extern const arenaut_pass arn_pass_toy_no_softmax;
const arenaut_pass arn_pass_toy_no_softmax = {
    .name = "toy-no-softmax",
    .summary = "refuses programs with a softmax",
    .run = toy_no_softmax_run,
};
