/* The pass manager: the table of passes, and runs of the selected ones: the defaults, the
 * dialect's, then the caller's additions and omissions. They run in the order of passes.def,
 * independent of the order in which they are named, and the program is validated before and
 * after. */
#include <arenaut/dialect.h>
#include <arenaut/pass.h>

#include "core/fail.h"
#include "core/table.h"
#include "ir/program.h"
#include "ops/ops.h"
#include "passes/pass_table.h"

#define PASS(id) extern const arenaut_pass arn_pass_##id;
#include "passes/passes.def"
#undef PASS

static const arenaut_pass *const all[] = {
#define PASS(id) &arn_pass_##id,
#include "passes/passes.def"
#undef PASS
};

enum { N_PASSES = sizeof all / sizeof *all };

ARN_TABLE_LOOKUPS(pass)

/* N_PASSES if there is no pass of this name. */
static size_t find_named(const char *name, size_t length) {
    size_t i = 0;
    while (i < N_PASSES &&
           (strlen(all[i]->name) != length || memcmp(all[i]->name, name, length) != 0)) {
        i++;
    }
    return i;
}

/* Applies "a,b,-c" to the selection. */
static arenaut_status apply(const char *selection, bool chosen[N_PASSES], arenaut_error *err) {
    while (selection && *selection) {
        const bool leave_out = *selection == '-';
        const char *name = selection + leave_out;
        const size_t length = strcspn(name, ",");
        const size_t found = find_named(name, length);
        if (found == N_PASSES) {
            return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "there is no pass '%.*s'",
                            length < 64 ? (int)length : 64, name);
        }
        chosen[found] = !leave_out;
        selection = name + length + (name[length] == ',');
    }
    return ARENAUT_OK;
}

static arenaut_status select_passes(const arenaut_program *program, const char *selection,
                                    bool chosen[N_PASSES], arenaut_error *err) {
    const arenaut_dialect *dialect = arenaut_dialect_find(program->dialect);
    for (size_t i = 0; i < N_PASSES; i++) chosen[i] = all[i]->by_default;
    arenaut_status st = dialect ? apply(dialect->pipeline, chosen, err) : ARENAUT_OK;
    return st == ARENAUT_OK ? apply(selection, chosen, err) : st;
}

static bool is_chosen(const bool chosen[N_PASSES], const char *name) {
    const size_t found = find_named(name, strlen(name));
    return found < N_PASSES && chosen[found];
}

bool arn_pass_runs_by_default(const arenaut_program *program, const char *name) {
    bool chosen[N_PASSES];
    return select_passes(program, NULL, chosen, NULL) == ARENAUT_OK && is_chosen(chosen, name);
}

static bool is_join(const arenaut_op *op) { return arn_op_is_join(op->name); }

/* A call that export wraps, so that it returns copies of the operands that it updates. */
static bool is_wrapped_call(const arenaut_op *op) {
    uint32_t n_bases;
    return arn_wrapped_operator(op, &n_bases) != NULL;
}

static bool has_op(const arenaut_program *program, bool (*is)(const arenaut_op *op)) {
    bool any = false;
    for (uint32_t i = 0; i < program->n_ops && !any; i++) any = is(&program->ops[i]);
    return any;
}

bool arn_aliases_follow_schedule(const arenaut_program *program, const char *selection) {
    bool chosen[N_PASSES];
    if (select_passes(program, selection, chosen, NULL) != ARENAUT_OK) return true;
    return is_chosen(chosen, "reinplace") ||
           (is_chosen(chosen, "undo-functionalization") && has_op(program, is_wrapped_call)) ||
           (is_chosen(chosen, "slices") && has_op(program, is_join));
}

arenaut_status arenaut_passes_run(arenaut_program *program, const char *selection,
                                  const arenaut_pass_options *options,
                                  void (*after)(void *context, const arenaut_pass *pass,
                                                const arenaut_program *program),
                                  void *context, arenaut_error *err) {
    bool chosen[N_PASSES];
    arenaut_status st = select_passes(program, selection, chosen, err);
    /* Passes use the program's indices, so it must be valid before the first, too. */
    if (st == ARENAUT_OK) st = arn_program_validate(program, err);
    for (size_t i = 0; i < N_PASSES && st == ARENAUT_OK; i++) {
        if (!chosen[i]) continue;
        st = all[i]->run(program, options, err);
        if (st == ARENAUT_OK && after) after(context, all[i], program);
    }
    return st == ARENAUT_OK ? arn_program_validate(program, err) : st;
}
