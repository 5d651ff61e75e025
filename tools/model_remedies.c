/* Changes of the model itself that would help, and are no flag: inputs that are only quantised, and
 * convolutions that the kernels walk channel by channel. */
#include "remedies.h"

#include <inttypes.h>
#include <string.h>

#include "describe.h"

/* The tensor that an input of the model becomes, if it is only ever quantised, and once; NONE. */
static uint32_t quantised_to(const arenaut_program *program, uint32_t input) {
    uint32_t made = ARENAUT_NONE;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != input) continue;
            if (made != ARENAUT_NONE || op->n_outputs != 1 || !op->name ||
                strcmp(op->name, "QUANTIZE") != 0) {
                return ARENAUT_NONE;
            }
            made = op->outputs[0];
        }
    }
    return made;
}

/* Another interface is no flag, but often the only obstacle. */
static void put_float_inputs(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_program *program = p->document.program;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        for (uint32_t i = 0; i < method->n_inputs; i++) {
            const uint32_t input = method->inputs[i], made = quantised_to(program, input);
            char store[24];
            if (!method->entry || made == ARENAUT_NONE) continue;
            const arenaut_tensor *wide = &program->tensors[input],
                                 *narrow = &program->tensors[made];
            if (wide->dtype != ARENAUT_DTYPE_FLOAT32 || narrow->bytes >= wide->bytes) continue;
            text_put(out, "  input ");
            text_put_clean(out, arenaut_program_tensor_name(program, input, store));
            text_printf(out,
                        " is only quantised: a model that takes %s there needs %s bytes less "
                        "for it\n",
                        arenaut_dtype_name(narrow->dtype),
                        with_commas(wide->bytes - narrow->bytes).text);
        }
    }
}

/* Whether the set has a kernel for 1x1 convolutions that lets nothing overlap, unless they are
 * dilated. */
static bool bars_pointwise(const arenaut_kernel_set *set) {
    for (const arenaut_kernel_rule *r = set ? set->rules : NULL; r && r->op; r++) {
        if (r->order == ARENAUT_KERNEL_NONE && r->when.pointwise == ARENAUT_KERNEL_YES &&
            r->when.dilated == ARENAUT_KERNEL_NO)
            return true;
    }
    return set && !set->rules && bars_pointwise(set->base);
}

/* A convolution of one group of 1x1 filters on int8, stride 1, not dilated. */
static bool is_pointwise(const arenaut_program *program, const arenaut_op *op) {
    static const char *const ones[] = {"strides", "dilations"};
    if (!op->name || strcmp(op->name, "CONV_2D") != 0 || op->n_inputs < 2) return false;
    if (op->inputs[0] == ARENAUT_NONE || op->inputs[1] == ARENAUT_NONE) return false;
    const arenaut_tensor *image = &program->tensors[op->inputs[0]],
                         *filter = &program->tensors[op->inputs[1]];
    for (size_t i = 0; i < 2; i++) {
        const arenaut_attribute *a = arenaut_op_attribute(op, ones[i]);
        if (!a || a->n_numbers != 2 || a->numbers[0] != 1 || a->numbers[1] != 1) return false;
    }
    return image->dtype == ARENAUT_DTYPE_INT8 && image->rank == 4 && filter->rank == 4 &&
           filter->dims[1] == 1 && filter->dims[2] == 1 && filter->dims[3] == image->dims[3];
}

/* A change of the model that lets results overlap, and is no flag. */
static void put_barred(const arenaut_pipeline *p, arenaut_text *out) {
    uint32_t n = 0;
    if (!bars_pointwise(p->kernels)) return;
    for (uint32_t i = 0; i < p->document.program->n_ops; i++)
        n += is_pointwise(p->document.program, &p->document.program->ops[i]);
    if (n == 0) return;
    text_printf(out,
                "  no result can reach into operands of %" PRIu32
                " 1x1 convolution%s with these "
                "kernels, unless dilated\n  (docs/kernels.md, CMSIS-NN, kernel by kernel)\n",
                n, n == 1 ? "" : "s");
}

void put_model_remedies(const arenaut_pipeline *p, arenaut_text *out) {
    if (!p->lowering) return;
    put_float_inputs(p, out);
    put_barred(p, out);
}
