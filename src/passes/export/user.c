/* user: the caller's own passes, run while the graph is functional but for its updates: after
 * write-back and before specs, which checks the values that they make. */
#include "passes/program_edit.h"

#include "ir/program.h"

static arenaut_status user_run(arenaut_program *p, const arenaut_pass_options *options,
                               arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    for (size_t i = 0; i < options->n_user && st == ARENAUT_OK; i++) {
        st = options->user[i]->run(p, options, err);
        if (st == ARENAUT_OK) st = arn_program_validate(p, err);
    }
    return st;
}

extern const arenaut_pass arn_pass_user;
const arenaut_pass arn_pass_user = {
    .name = "user",
    .summary = "the caller's own passes, given through the library",
    .by_default = true, /* there are none, unless the caller gives some */
    .run = user_run,
};
