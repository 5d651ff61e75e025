/* Fingerprints: a hash, in 64 bits, of all that a plan depends on (core/hash.h). */
#include <arenaut/problem.h>
#include <arenaut/program.h>

#include "core/hash.h"
#include "ir/program.h"

/* Tensors go by their number in the file, which no pass changes. */
static uint64_t hash_tensors(uint64_t hash, const arenaut_program *program, const uint32_t *ids,
                             uint32_t count) {
    hash = arn_hash_number(hash, count);
    for (uint32_t i = 0; i < count; i++) {
        hash = arn_hash_number(
            hash, ids[i] == ARENAUT_NONE ? ARENAUT_NONE : program->tensors[ids[i]].file_index);
    }
    return hash;
}

static uint64_t hash_op(uint64_t hash, const arenaut_program *program, const arenaut_op *op) {
    const char *name = op->name ? op->name : "";
    hash = arn_hash_text(hash, name);
    hash = hash_tensors(hash, program, op->inputs, op->n_inputs);
    hash = hash_tensors(hash, program, op->outputs, op->n_outputs);
    for (uint32_t i = 0; i < op->n_calls; i++) hash = arn_hash_number(hash, op->calls[i]);
    return hash;
}

uint64_t arn_program_fingerprint(const arenaut_program *program) {
    uint64_t hash = ARN_HASH_START;
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        if (tensor->cls == ARENAUT_SCRATCH) continue;
        hash = arn_hash_number(hash, tensor->method);
        hash = arn_hash_number(hash, tensor->bytes);
        hash = arn_hash_number(hash, tensor->cls);
    }
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        hash = arn_hash_number(hash, method->n_ops);
        hash = hash_tensors(hash, program, method->inputs, method->n_inputs);
        hash = hash_tensors(hash, program, method->outputs, method->n_outputs);
        for (uint32_t i = 0; i < method->n_ops; i++) {
            hash = hash_op(hash, program, &program->ops[method->first_op + i]);
        }
    }
    return hash;
}

uint64_t arenaut_problem_fingerprint(const arenaut_problem *problem) {
    uint64_t hash = arn_hash_number(ARN_HASH_START, problem->n_buffers);
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        const uint32_t n = arenaut_problem_lifetime_count(problem, b);
        const arenaut_interval *life = arenaut_problem_lifetimes(problem, b);
        hash = arn_hash_number(hash, problem->size[b]);
        hash = arn_hash_number(hash, arenaut_problem_align(problem, b));
        hash = arn_hash_number(hash, arenaut_problem_class(problem, b));
        hash = arn_hash_number(hash, problem->method ? problem->method[b] : ARENAUT_NONE);
        hash = arn_hash_number(hash, n);
        for (uint32_t i = 0; i < n; i++) {
            hash = arn_hash_number(hash, (uint64_t)life[i].first);
            hash = arn_hash_number(hash, (uint64_t)life[i].end);
        }
    }
    return hash;
}
