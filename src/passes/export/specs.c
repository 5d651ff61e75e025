/* specs: a check that all computed values have a type and a shape, which may vary or be marked as
 * unknown by the reader. Values with both get their bytes. Passes of users make new values; without
 * this check they would be planned as nothing. */
#include <inttypes.h>

#include "core/fail.h"
#include "ir/extent.h"
#include "passes/program_edit.h"

static bool varies(const arenaut_tensor *tensor) {
    bool any = false;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        any = any || (tensor->dim_exprs && tensor->dim_exprs[i] != ARENAUT_NONE);
    }
    return any;
}

static arenaut_status check_spec(arenaut_program *p, uint32_t op, uint32_t t, arenaut_error *err) {
    arenaut_tensor *tensor = &p->tensors[t];
    const char *missing = arenaut_dtype_bits(tensor->dtype) == 0 ? "type with a size" : NULL;
    char store[24];
    if (tensor->unsized || tensor->bytes > 0 || varies(tensor)) return ARENAUT_OK;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] < 0) missing = "shape";
    }
    if (!missing) return arn_tensor_extent_bytes(tensor, &tensor->bytes, err);
    return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                    "value '%s', which op %" PRIu32
                    " '%s' computes, has no %s; a pass that "
                    "makes a value must give it one, or mark it as unknown",
                    arenaut_program_tensor_name(p, t, store), op,
                    p->ops[op].name ? p->ops[op].name : "", missing);
}

static arenaut_status specs_run(arenaut_program *p, const arenaut_pass_options *options,
                                arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    (void)options;
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) {
        for (uint32_t k = 0; k < p->ops[i].n_outputs && st == ARENAUT_OK; k++) {
            const uint32_t t = p->ops[i].outputs[k];
            if (t != ARENAUT_NONE) st = check_spec(p, i, t, err);
        }
    }
    return st;
}

extern const arenaut_pass arn_pass_specs;
const arenaut_pass arn_pass_specs = {
    .name = "specs",
    .summary = "checks that all that is computed has a type and a shape",
    .run = specs_run,
};
