/* Tiled programs of formats that state fewer sizes than tiles need, and number tensors by the ops
 * that make them. */
#include <arenaut/expr.h>

#include "core/memory.h"
#include "passes/pass_table.h"
#include "stages/stages.h"

/* ---- sizes ---- */

static bool are_fixed(const arenaut_program *program) {
    for (uint32_t i = 0; i < program->n_symbols; i++) {
        if (program->symbols[i].min != program->symbols[i].max) return false;
    }
    return true;
}

/* By the passes that do so in its dialect; other runtimes compute at run time all that depends on
 * constants alone. Of a program without dialect, the file states all. */
arenaut_status arn_pipeline_fix_sizes(arenaut_program *program, arenaut_error *err) {
    static const char *const names[] = {"fold-constants", "shapes"};
    const arenaut_pass_options none = {0};
    arenaut_status st = ARENAUT_OK;
    if (!program->dialect) return ARENAUT_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && st == ARENAUT_OK; i++) {
        const arenaut_pass *pass = arenaut_pass_find(names[i]);
        if (!pass || !arn_pass_runs_by_default(program, names[i])) continue;
        st = pass->run(program, &none, err);
    }
    if (st != ARENAUT_OK || !are_fixed(program)) return st;
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        program->tensors[t].dim_exprs = program->tensors[t].stride_exprs = NULL;
    }
    program->n_symbols = program->n_exprs = 0;
    return ARENAUT_OK;
}

/* ---- tensors ---- */

arenaut_status arn_pipeline_match_tiles(const arenaut_rewrite *made, arenaut_rewrite *written,
                                        const arenaut_allocator *allocator, arenaut_error *err) {
    const arenaut_program *after = written->program;
    const arenaut_method *new = &after->methods[0], *old = &made->program->methods[0];
    const arenaut_origin none = {ARENAUT_NONE, false, ARENAUT_NONE, 0};
    arenaut_origin *origins = arn_allocate(allocator, after->n_tensors, sizeof *origins);
    if (!origins) return arn_no_memory(err);
    for (uint32_t t = 0; t < after->n_tensors; t++) origins[t] = none;
    for (uint32_t i = 0; i < new->n_inputs && i < old->n_inputs; i++) {
        origins[new->inputs[i]] = made->tensors[old->inputs[i]];
    }
    const uint32_t *arguments = made->arguments;
    for (uint32_t i = 0; i < made->n_ops && i < after->n_ops; i++) {
        const arenaut_op *op = &after->ops[i], *as_made = &made->program->ops[i];
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            const uint32_t t = k < op->n_inputs ? op->inputs[k] : op->outputs[k - op->n_inputs];
            if (k >= as_made->n_inputs + as_made->n_outputs) break;
            if (t != ARENAUT_NONE && arguments[k] != ARENAUT_NONE) {
                origins[t] = made->tensors[arguments[k]];
            }
        }
        arguments += as_made->n_inputs + as_made->n_outputs;
    }
    written->tensors = origins;
    written->n_tensors = after->n_tensors;
    return ARENAUT_OK;
}
