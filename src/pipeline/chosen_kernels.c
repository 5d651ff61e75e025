/* Which kernels a plan is for. What a plan uses of its kernels is right for them alone, so its mark
 * in the file names them, and the file is looked at again with the same ones unless others are
 * given. */
#include "pipeline/stages.h"

#include <string.h>

/* The mark of a plan that the target obeys; all zero if there is none. */
static arenaut_given_kernels marked_kernels(const arenaut_pipeline *p) {
    const arenaut_program *program = p->document.program;
    const bool ours = program->given == ARENAUT_GIVEN_OURS && p->target->plan_in_file;
    return ours ? program->given_kernels : (arenaut_given_kernels){0};
}

void arn_pipeline_choose_kernels(arenaut_pipeline *p) {
    const arenaut_pipeline_options *o = &p->options;
    const arenaut_given_kernels marked = marked_kernels(p);
    p->kernels = o->kernels ? o->kernels : p->target->kernels;
    p->unmeasured = o->unmeasured;
    if (!o->kernels && marked.name && arenaut_kernel_set_find(marked.name)) {
        p->kernels = arenaut_kernel_set_find(marked.name);
        p->unmeasured = o->unmeasured || marked.unmeasured;
    }
    p->result.kernels = p->kernels;
    p->result.unmeasured = p->unmeasured;
}

const char *arn_pipeline_unknown_kernels(const arenaut_pipeline *p) {
    const arenaut_given_kernels marked = marked_kernels(p);
    const bool known = p->options.kernels || !marked.name || arenaut_kernel_set_find(marked.name);
    return known ? NULL : marked.name;
}

void arn_pipeline_note_other_kernels(const arenaut_pipeline *p) {
    const arenaut_given_kernels marked = marked_kernels(p);
    if (!marked.name || !p->kernels) return;
    if (strcmp(marked.name, p->kernels->name) != 0) {
        arn_pipeline_note(p,
                          "the plan in the file was made for the kernels '%s', and is looked at "
                          "with '%s'",
                          marked.name, p->kernels->name);
    } else if (marked.fingerprint &&
               marked.fingerprint != arenaut_kernel_set_fingerprint(p->kernels)) {
        arn_pipeline_note(p,
                          "the plan in the file was made for the kernels '%s', which were "
                          "described otherwise then",
                          marked.name);
    }
}

/* Whether a set, or what it builds on, says anything of how its kernels walk. */
static bool has_rules(const arenaut_kernel_set *set) {
    for (; set; set = set->base) {
        if (set->rules) return true;
    }
    return false;
}

/* Whether an op says how far a result may reach, by itself or since its kernel is known. */
static bool has_overlaps(const arenaut_program *program) {
    for (uint32_t i = 0; i < program->n_ops; i++) {
        if (program->ops[i].n_overlaps) return true;
    }
    return false;
}

void arn_pipeline_note_overlap(const arenaut_pipeline *p) {
    if (!p->options.overlap || p->problem->n_separations) return;
    if (has_overlaps(p->document.program)) {
        arn_pipeline_note(p,
                          "no result reaches into an operand: each that could be written over is "
                          "needed later, a result, state, a kept input or a part of another");
    } else if (!p->kernels && p->problem->same_base) {
        arn_pipeline_note(p,
                          "results lie over the whole of an operand or beside it: the kernels of "
                          "%s are not known",
                          p->target->name);
    } else if (!p->kernels) {
        arn_pipeline_note(p, "no result reaches into an operand: the kernels of %s are not known",
                          p->target->name);
    } else if (!has_rules(p->kernels)) {
        arn_pipeline_note(
            p, "no result reaches into an operand: how the kernels '%s' walk is not known",
            p->kernels->name);
    } else if (!p->problem->same_base) {
        arn_pipeline_note(p, "no result may lie over an operand, by the kernels '%s'",
                          p->kernels->name);
    }
}
