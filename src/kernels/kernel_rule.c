/* Lookup of a kernel set's rule for an op: the first whose conditions hold, in the set itself or,
 * if it has none for such ops, in its base. */
#include <arenaut/kernels.h>

#include <string.h>

#include "ir/program.h"
#include "kernels/distance.h"
#include "kernels/kernel_set.h"
#include "kernels/op_facts.h"

/* Subjects of conditions; windows only if the op has some. */
typedef struct facts {
    const arenaut_tensor *operand, *result; /* NULL: none */
    bool has_windows;
    arn_windows windows;
} facts;

static facts facts_of(const arenaut_program *program, const arenaut_op *op) {
    facts f = {.operand = arn_op_input(program, op, arn_first_operand(op)),
               .result = arn_op_output(program, op, 0)};
    f.has_windows = arn_op_windows(program, op, &f.windows);
    return f;
}

static bool is_met(arenaut_kernel_fact wanted, const facts *f, bool found) {
    if (wanted == ARENAUT_KERNEL_EITHER) return true;
    return f->has_windows && found == (wanted == ARENAUT_KERNEL_YES);
}

static bool has_channels(const arenaut_tensor *tensor, uint32_t least, uint32_t most) {
    if (least == 0 && most == 0) return true;
    if (!tensor || tensor->rank == 0) return false;
    const int64_t channels = tensor->dims[tensor->rank - 1];
    return channels >= least && (most == 0 || channels <= most);
}

static bool holds(const arenaut_kernel_when *when, const facts *f) {
    const arn_window_axis *y = &f->windows.y, *x = &f->windows.x;
    if (when->types && (!f->operand || !(when->types >> f->operand->dtype & 1))) return false;
    return is_met(when->pointwise, f, y->taps == 1 && x->taps == 1) &&
           is_met(when->unit_stride, f, y->stride == 1 && x->stride == 1) &&
           is_met(when->grouped, f, f->windows.groups > 1) &&
           is_met(when->padded, f,
                  f->has_windows && (arn_axis_is_padded(y) || arn_axis_is_padded(x))) &&
           is_met(when->one_row, f, y->in == 1 && y->taps == 1) &&
           is_met(when->dilated, f, y->dilation > 1 || x->dilation > 1) &&
           has_channels(f->operand, when->min_in_channels, when->max_in_channels) &&
           has_channels(f->result, when->min_out_channels, when->max_out_channels);
}

const arenaut_kernel_rule *arn_kernel_rule_for(const arenaut_kernel_set *set,
                                               const arenaut_program *program, const arenaut_op *op,
                                               bool unmeasured) {
    if (!op->name || op->kind != ARENAUT_OP_OUT) return NULL;
    if (arn_op_reads_compressed(program, op)) return NULL;
    const facts f = facts_of(program, op);
    bool named = false;
    for (; set && !named; set = set->base) {
        for (const arenaut_kernel_rule *rule = set->rules; rule && rule->op; rule++) {
            if (strcmp(rule->op, op->name) != 0) continue;
            named = true;
            if (holds(&rule->when, &f)) return rule->measured || unmeasured ? rule : NULL;
        }
    }
    return NULL;
}
