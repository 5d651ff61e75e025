/* write-back: copies the new values of states and inputs into them at the end of a method. The
 * copies write memory that is there already, so no later pass gives them an out variant. */
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "passes/edit.h"

static arenaut_status keep(void *context, arn_edit *edit, uint32_t at) {
    (void)context;
    return arn_edit_put(edit, &edit->program->ops[at]);
}

static arenaut_status write_back(arn_edit *edit, uint32_t m, const arenaut_binding *b) {
    const uint32_t pair[2] = {b->target, b->value};
    const char *dialect = edit->program->dialect;
    const bool aten = dialect && strcmp(dialect, "aten") == 0;
    const arenaut_op copy = {
        .name = aten ? "aten::copy_" : "write_back",
        .kind = ARENAUT_OP_IN_PLACE,
        .method = m,
        .n_inputs = 2,
        .inputs = arn_edit_list(edit->program, pair, 2),
    };
    return copy.inputs ? arn_edit_put(edit, &copy) : arn_no_memory(edit->err);
}

/* What has the memory of the state already needs no copy. */
static arenaut_status leave(void *context, arn_edit *edit, uint32_t m) {
    const arenaut_method *method = &edit->program->methods[m];
    arenaut_status st = ARENAUT_OK;
    (void)context;
    for (uint32_t i = 0; i < method->n_bindings && st == ARENAUT_OK; i++) {
        const arenaut_binding *b = &method->bindings[i];
        if (b->kind != ARENAUT_BINDING_MUTATES) continue;
        const uint32_t storage = arenaut_program_storage(edit->program, b->value, NULL);
        if (storage != b->target) st = write_back(edit, m, b);
    }
    return st;
}

/* The bindings that are none of this pass's. */
static arenaut_status drop_mutations(arenaut_program *p, uint32_t m, arenaut_error *err) {
    const arenaut_method *method = &p->methods[m];
    uint32_t n = 0;
    arenaut_binding *kept = arenaut_program_alloc(p, method->n_bindings * sizeof *kept);
    if (!kept) return arn_no_memory(err);
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        if (method->bindings[i].kind != ARENAUT_BINDING_MUTATES) kept[n++] = method->bindings[i];
    }
    return arenaut_program_set_bindings(p, m, kept, n, err);
}

static arenaut_status write_back_run(arenaut_program *p, const arenaut_pass_options *options,
                                     arenaut_error *err) {
    (void)options;
    arenaut_status st = arn_edit_ops(p, keep, leave, NULL, err);
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) {
        if (p->methods[m].n_bindings > 0) st = drop_mutations(p, m, err);
    }
    return st;
}

extern const arenaut_pass arn_pass_write_back;
const arenaut_pass arn_pass_write_back = {
    .name = "write-back",
    .summary = "copies new values of states and inputs into them at the end of a method",
    .run = write_back_run,
};
