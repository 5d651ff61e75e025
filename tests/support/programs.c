#include "support/programs.h"

#include "ir/program.h"
#include "support/test.h"

arenaut_program *new_program(void) {
    arenaut_program *program = NULL;
    arenaut_error err = {0};
    assert_ok(arn_program_new(NULL, &program, &err), err);
    return program;
}

static uint32_t add_method(arenaut_program *program, const char *name, bool entry) {
    uint32_t id = ARENAUT_NONE;
    arenaut_error err = {0};
    assert_ok(arn_program_add_method(program, name, entry, &id, &err), err);
    return id;
}

uint32_t begin_method(arenaut_program *program, const char *name) {
    return add_method(program, name, true);
}

uint32_t begin_submethod(arenaut_program *program, const char *name) {
    return add_method(program, name, false);
}

static uint32_t store_tensor(arenaut_program *program, arenaut_tensor tensor) {
    uint32_t id = ARENAUT_NONE;
    arenaut_error err = {0};
    if (program->n_methods > 0) tensor.method = program->n_methods - 1;
    assert_ok(arenaut_program_add_tensor(program, &tensor, &id, &err), err);
    return id;
}

uint32_t add_tensor(arenaut_program *program, const char *name, uint64_t bytes, arenaut_class cls) {
    arenaut_tensor tensor = arenaut_tensor_default();
    tensor.name = name;
    tensor.bytes = bytes;
    tensor.cls = cls;
    return store_tensor(program, tensor);
}

uint32_t add_shaped(arenaut_program *p, arenaut_class cls, arenaut_dtype dtype, const int64_t *dims,
                    uint32_t rank) {
    arenaut_tensor tensor = arenaut_tensor_default();
    uint32_t id;
    char name[16];
    snprintf(name, sizeof name, "t%u", (unsigned)p->n_tensors);
    tensor.name = name;
    tensor.method = 0;
    tensor.cls = cls;
    tensor.dtype = dtype;
    tensor.rank = rank;
    tensor.dims = dims;
    assert_int_equal(arenaut_dense_bytes(dtype, dims, rank, &tensor.bytes, NULL), ARENAUT_OK);
    assert_int_equal(arenaut_program_add_tensor(p, &tensor, &id, NULL), ARENAUT_OK);
    return id;
}

uint32_t add_view(arenaut_program *program, const char *name, uint32_t storage, uint64_t offset,
                  uint64_t bytes) {
    arenaut_tensor tensor = arenaut_tensor_default();
    tensor.name = name;
    tensor.bytes = bytes;
    tensor.view_of = storage;
    tensor.view_offset = offset;
    return store_tensor(program, tensor);
}

uint32_t add_op(arenaut_program *program, arenaut_op op) {
    uint32_t id = ARENAUT_NONE;
    arenaut_error err = {0};
    assert_true(program->n_methods > 0);
    op.method = program->n_methods - 1;
    if (!op.name) op.name = arn_op_kind_name(op.kind);
    assert_ok(arn_program_add_op(program, &op, &id, &err), err);
    return id;
}

void set_io(arenaut_program *program, uint32_t method, const uint32_t *inputs, size_t n_inputs,
            const uint32_t *outputs, size_t n_outputs) {
    arenaut_error err = {0};
    assert_ok(arenaut_program_set_method_io(program, method, inputs, (uint32_t)n_inputs, outputs,
                                            (uint32_t)n_outputs, &err),
              err);
}

void finish_program(arenaut_program *program) {
    arenaut_error err = {0};
    assert_ok(arn_program_validate(program, &err), err);
}
