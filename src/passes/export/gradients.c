/* gradients: makes the loss and the gradients results of their method. Training reads them after
 * the call, but to an exported graph they are values like any other. O(bindings). */
#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"
#include "ir/store.h"
#include "passes/program_edit.h"

static bool is_output(const uint32_t *outputs, uint32_t n, uint32_t tensor) {
    uint32_t i = 0;
    while (i < n && outputs[i] != tensor) i++;
    return i < n;
}

/* The bindings that stay, in front of `kept`; the values of the others behind `outputs`. */
static arenaut_status add_results(arenaut_program *p, uint32_t m, uint32_t *outputs,
                                  arenaut_binding *kept, arenaut_error *err) {
    const arenaut_method *method = &p->methods[m];
    uint32_t n = 0, n_kept = 0;
    for (; n < method->n_outputs; n++) outputs[n] = method->outputs[n];
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const arenaut_binding *b = &method->bindings[i];
        const bool new_value =
            b->kind == ARENAUT_BINDING_MUTATES || b->kind == ARENAUT_BINDING_MUTATED;
        if (new_value) kept[n_kept++] = *b;
        else if (!is_output(outputs, n, b->value)) outputs[n++] = b->value;
    }
    arenaut_status st =
        arenaut_program_set_method_io(p, m, method->inputs, method->n_inputs, outputs, n, err);
    return st == ARENAUT_OK ? arn_program_set_bindings(p, m, kept, n_kept, err) : st;
}

static arenaut_status gradients_run(arenaut_program *p, const arenaut_pass_options *options,
                                    arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    arenaut_status st = ARENAUT_OK;
    (void)options;
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) {
        const arenaut_method *method = &p->methods[m];
        if (method->n_bindings == 0) continue;
        uint32_t *outputs = arn_allocate(allocator, (size_t)method->n_outputs + method->n_bindings,
                                         sizeof *outputs);
        arenaut_binding *kept = arn_allocate(allocator, method->n_bindings, sizeof *kept);
        st = outputs && kept ? add_results(p, m, outputs, kept, err) : arn_no_memory(err);
        arn_release(allocator, outputs);
        arn_release(allocator, kept);
    }
    return st;
}

extern const arenaut_pass arn_pass_gradients;
const arenaut_pass arn_pass_gradients = {
    .name = "gradients",
    .summary = "makes results of the loss and the gradients",
    .run = gradients_run,
};
