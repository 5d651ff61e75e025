/* substitute: replaces operators by their equivalents after lowering, from the table of the
 * dialect. One look-up for each op. */
#include <arenaut/dialect.h>
#include <arenaut/pass.h>

#include "dialects/dialect.h"

static arenaut_status substitute_run(arenaut_program *p, const arenaut_pass_options *options,
                                     arenaut_error *err) {
    const arenaut_dialect *dialect = arenaut_dialect_find(p->dialect);
    (void)options;
    (void)err;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_operator *known = arn_dialect_operator(dialect, p->ops[i].name);
        if (known && known->substitute) p->ops[i].name = known->substitute;
    }
    return ARENAUT_OK;
}

extern const arenaut_pass arn_pass_substitute;
const arenaut_pass arn_pass_substitute = {
    .name = "substitute",
    .summary = "replaces operators by those that do the same after lowering",
    .run = substitute_run,
};
