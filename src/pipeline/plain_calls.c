/* Whether plain calls may be planned apart: each call's tensors alive only while it runs. The micro
 * runtime takes them for alive from the first call to the last. That makes no difference to what it
 * is told a place of, but to what it places itself, around that: kernel scratch. So no op that asks
 * for some may run from a method's first call to its last. */
#include "pipeline/stages.h"

#include "ir/plain_call.h"

/* The ops of `method` that make plain calls of `callee`, from the first to behind the last. */
static void find_calls(const arenaut_program *p, uint32_t callee, uint32_t *first, uint32_t *end) {
    *first = *end = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (!arn_is_plain_call(&p->ops[i]) || p->ops[i].calls[0] != callee) continue;
        if (*end == 0) *first = i;
        *end = i + 1;
    }
}

static bool asks(const arenaut_pipeline *p, const arenaut_program *program, uint32_t i) {
    const arenaut_op *op = &program->ops[i];
    const bool listed = p->scratch.known;
    return op->n_scratch > 0 || (!listed && arenaut_op_asks_for_scratch(program, op, p->kernels));
}

static bool asks_among(const arenaut_pipeline *p, const arenaut_program *program, uint32_t first,
                       uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        if (asks(p, program, i)) return true;
    }
    return false;
}

/* Methods that are called by plain calls only from the one that is called from outside, and call
 * none themselves, are followed; others there are not. */
bool arn_pipeline_calls_apart(const arenaut_pipeline *p, const arenaut_program *program) {
    bool any = false;
    if (!p->target->plan_in_file || !p->target->merge_calls) return false;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        if (op->n_calls == 0) continue;
        if (!arn_is_plain_call(op) || op->method != 0 || program->methods[op->calls[0]].entry) {
            return false;
        }
        any = true;
    }
    for (uint32_t m = 1; m < program->n_methods && any; m++) {
        const arenaut_method *method = &program->methods[m];
        uint32_t first, end;
        find_calls(program, m, &first, &end);
        if (end == 0) continue;
        if (asks_among(p, program, first, end) ||
            asks_among(p, program, method->first_op, method->first_op + method->n_ops)) {
            return false;
        }
    }
    return any;
}
