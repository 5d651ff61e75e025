/* Fingerprints: what a plan depends on, in 64 bits. FNV-1a: guards against accidents, not
 * against malice. What one hashes to is kept in files, so it never changes. */
#include <string.h>

#include <arenaut/problem.h>
#include <arenaut/program.h>

static const uint64_t hash_start = UINT64_C(0xCBF29CE484222325);

static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
    return hash;
}

/* Little-endian, whatever the machine. */
static uint64_t hash_number(uint64_t hash, uint64_t number) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(number >> 8 * i);
    return hash_bytes(hash, bytes, sizeof bytes);
}

/* Tensors go by their number in the file, which no pass changes. */
static uint64_t hash_tensors(uint64_t hash, const arenaut_program *program, const uint32_t *ids,
                             uint32_t count) {
    hash = hash_number(hash, count);
    for (uint32_t i = 0; i < count; i++) {
        hash = hash_number(
            hash, ids[i] == ARENAUT_NONE ? ARENAUT_NONE : program->tensors[ids[i]].file_index);
    }
    return hash;
}

static uint64_t hash_op(uint64_t hash, const arenaut_program *program, const arenaut_op *op) {
    const char *name = op->name ? op->name : "";
    hash = hash_bytes(hash, (const uint8_t *)name, strlen(name) + 1);
    hash = hash_tensors(hash, program, op->inputs, op->n_inputs);
    hash = hash_tensors(hash, program, op->outputs, op->n_outputs);
    for (uint32_t i = 0; i < op->n_calls; i++) hash = hash_number(hash, op->calls[i]);
    return hash;
}

uint64_t arenaut_program_fingerprint(const arenaut_program *program) {
    uint64_t hash = hash_start;
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        if (tensor->cls == ARENAUT_SCRATCH) continue;
        hash = hash_number(hash, tensor->method);
        hash = hash_number(hash, tensor->bytes);
        hash = hash_number(hash, tensor->cls);
    }
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        hash = hash_number(hash, method->n_ops);
        hash = hash_tensors(hash, program, method->inputs, method->n_inputs);
        hash = hash_tensors(hash, program, method->outputs, method->n_outputs);
        for (uint32_t i = 0; i < method->n_ops; i++) {
            hash = hash_op(hash, program, &program->ops[method->first_op + i]);
        }
    }
    return hash;
}

uint64_t arenaut_problem_fingerprint(const arenaut_problem *problem) {
    uint64_t hash = hash_number(hash_start, problem->n_buffers);
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        const uint32_t n = arenaut_problem_lifetime_count(problem, b);
        const arenaut_interval *life = arenaut_problem_lifetimes(problem, b);
        hash = hash_number(hash, problem->size[b]);
        hash = hash_number(hash, arenaut_problem_align(problem, b));
        hash = hash_number(hash, arenaut_problem_class(problem, b));
        hash = hash_number(hash, problem->method ? problem->method[b] : ARENAUT_NONE);
        hash = hash_number(hash, n);
        for (uint32_t i = 0; i < n; i++) {
            hash = hash_number(hash, (uint64_t)life[i].first);
            hash = hash_number(hash, (uint64_t)life[i].end);
        }
    }
    return hash;
}
