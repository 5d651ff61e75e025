/* Building a program: tensors, ops and methods in growable arrays, everything they point to in one
 * region. validate_program.c checks it as a whole. */
#include <arenaut/program.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "ir/extent.h"
#include "ir/program.h"
#include "ir/store.h"

const arenaut_allocator *arn_program_allocator(const arenaut_program *program) {
    return program->store ? &program->store->allocator : NULL;
}

void arn_program_use_allocator(arenaut_program *program, const arenaut_allocator *allocator) {
    if (!program) return;
    program->store->allocator = arn_allocator_or_default(allocator);
    program->store->region.allocator = program->store->allocator;
}

arenaut_status arn_program_new(const arenaut_allocator *allocator, arenaut_program **out,
                               arenaut_error *err) {
    struct arenaut_program_store *store = arn_allocate_zeroed(allocator, 1, sizeof *store);
    if (!store) return arn_no_memory(err);
    arn_region_init(&store->region, allocator);
    store->allocator = arn_allocator_or_default(allocator);
    store->program.store = store;
    *out = &store->program;
    return ARENAUT_OK;
}

void arn_program_free(arenaut_program *program) {
    if (!program) return;
    struct arenaut_program_store *store = program->store;
    const arenaut_allocator allocator = store->allocator;
    ARN_RELEASE(&allocator, program->tensors, program->ops, program->methods, program->symbols,
                program->exprs, store->facts);
    arn_region_free(&store->region);
    arn_release(&allocator, store);
}

void arn_rewrite_free(arenaut_rewrite *rewrite) {
    if (rewrite) arn_program_free(rewrite->program);
}

void *arenaut_program_alloc(arenaut_program *program, size_t size) {
    return arn_region_allocate(&program->store->region, size, 1);
}

const char *arenaut_program_strdup(arenaut_program *program, const char *text, size_t length) {
    return arn_region_copy_text(&program->store->region, text, length);
}

static bool copy_text(arenaut_program *program, const char **text) {
    if (!*text) return true;
    *text = arn_region_copy_text(&program->store->region, *text, strlen(*text));
    return *text != NULL;
}

/* Replaces *array, `count` elements of `size` bytes, by a copy; NULL where there are none. */
static bool copy_array(arenaut_program *program, const void **array, uint32_t count, size_t size) {
    if (count == 0) {
        *array = NULL;
        return true;
    }
    void *copy = arn_region_allocate(&program->store->region, count, size);
    if (!copy) return false;
    memcpy(copy, *array, count * size);
    *array = copy;
    return true;
}

static bool copy_ids(arenaut_program *program, const uint32_t **ids, uint32_t count) {
    const void *array = *ids;
    const bool copied = copy_array(program, &array, count, sizeof **ids);
    *ids = array;
    return copied;
}

/* Attributes with all that they point to. */
static bool copy_attributes(arenaut_program *program, arenaut_op *op) {
    const uint32_t n = op->n_attributes;
    arenaut_attribute *copy = NULL;
    if (n > 0) copy = arn_region_allocate(&program->store->region, n, sizeof *copy);
    if (n > 0 && !copy) return false;
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = op->attributes[i];
        const void *numbers = copy[i].numbers;
        if (!copy_text(program, &copy[i].name) || !copy_text(program, &copy[i].text) ||
            !copy_array(program, &numbers, copy[i].n_numbers, sizeof *copy[i].numbers)) {
            return false;
        }
        copy[i].numbers = numbers;
    }
    op->attributes = copy;
    return true;
}

bool arn_op_kind_touches(arenaut_op_kind kind) {
    return kind != ARENAUT_OP_FREE && kind != ARENAUT_OP_ALLOC &&
           kind != ARENAUT_OP_ALLOC_IN_PLACE && kind != ARENAUT_OP_TUPLE &&
           kind != ARENAUT_OP_FIELD && kind != ARENAUT_OP_LET;
}

bool arn_op_kind_brings_memory(arenaut_op_kind kind) {
    return kind == ARENAUT_OP_MAKES || kind == ARENAUT_OP_FUNCTIONAL;
}

arenaut_tensor arenaut_tensor_default(void) {
    const arenaut_tensor tensor = {
        .dtype = ARENAUT_DTYPE_INT8,
        .cls = ARENAUT_INTERMEDIATE,
        .method = ARENAUT_NONE,
        .view_of = ARENAUT_NONE,
        .given_pool = ARENAUT_NONE,
        .given_offset = ARENAUT_UNPLACED,
    };
    return tensor;
}

/* Room for one element more, or for so many at once. */
static bool grow_tensors(arenaut_program *program, uint64_t n) {
    return arn_grow(&program->store->allocator, (void **)&program->tensors,
                    &program->store->tensors, n, sizeof *program->tensors);
}

static bool grow_ops(arenaut_program *program, uint64_t n) {
    return arn_grow(&program->store->allocator, (void **)&program->ops, &program->store->ops, n,
                    sizeof *program->ops);
}

static bool grow_methods(arenaut_program *program, uint64_t n) {
    return arn_grow(&program->store->allocator, (void **)&program->methods,
                    &program->store->methods, n, sizeof *program->methods);
}

/* Replaces all that the tensor points to by copies. */
static bool copy_tensor_parts(arenaut_program *program, arenaut_tensor *copy) {
    const void *dims = copy->dims, *exprs = copy->dim_exprs, *strides = copy->strides;
    const void *values = copy->values, *stride_exprs = copy->stride_exprs;
    if (!copy_text(program, &copy->name) || !copy_text(program, &copy->qualified_name) ||
        !copy_text(program, &copy->source) ||
        !copy_array(program, &dims, copy->rank, sizeof *copy->dims) ||
        !copy_array(program, &exprs, exprs ? copy->rank : 0, sizeof *copy->dim_exprs) ||
        !copy_array(program, &strides, strides ? copy->rank : 0, sizeof *copy->strides) ||
        !copy_array(program, &stride_exprs, stride_exprs ? copy->rank : 0,
                    sizeof *copy->stride_exprs) ||
        !copy_array(program, &values, copy->n_values, sizeof *copy->values)) {
        return false;
    }
    copy->dims = dims;
    copy->dim_exprs = exprs;
    copy->strides = strides;
    copy->stride_exprs = stride_exprs;
    copy->values = values;
    return true;
}

/* The same of an op. */
static bool copy_op_parts(arenaut_program *program, arenaut_op *copy) {
    const void *pairs = copy->in_place, *overlaps = copy->overlaps;
    if (!copy_text(program, &copy->name) || !copy_text(program, &copy->source) ||
        !copy_ids(program, &copy->inputs, copy->n_inputs) ||
        !copy_ids(program, &copy->outputs, copy->n_outputs) ||
        !copy_ids(program, &copy->scratch, copy->n_scratch) ||
        !copy_ids(program, &copy->calls, copy->n_calls) ||
        !copy_ids(program, &copy->after, copy->n_after) ||
        !copy_array(program, &pairs, copy->n_in_place, sizeof *copy->in_place) ||
        !copy_array(program, &overlaps, copy->n_overlaps, sizeof *copy->overlaps) ||
        !copy_attributes(program, copy)) {
        return false;
    }
    copy->in_place = pairs;
    copy->overlaps = overlaps;
    return true;
}

/* And of a method. */
static bool copy_method_parts(arenaut_program *program, arenaut_method *copy) {
    const void *pools = copy->given_pools, *bindings = copy->bindings;
    if (!copy_text(program, &copy->name) || !copy_ids(program, &copy->inputs, copy->n_inputs) ||
        !copy_ids(program, &copy->outputs, copy->n_outputs) ||
        !copy_array(program, &pools, copy->n_given_pools, sizeof *copy->given_pools) ||
        !copy_array(program, &bindings, copy->n_bindings, sizeof *copy->bindings)) {
        return false;
    }
    copy->given_pools = pools;
    copy->bindings = bindings;
    return true;
}

arenaut_status arenaut_program_add_tensor(arenaut_program *program, const arenaut_tensor *tensor,
                                          uint32_t *id, arenaut_error *err) {
    const uint32_t t = program->n_tensors;
    arenaut_tensor copy = *tensor;
    if (!copy_tensor_parts(program, &copy) || !grow_tensors(program, (uint64_t)t + 1)) {
        return arn_no_memory(err);
    }
    program->tensors[t] = copy;
    program->n_tensors = t + 1;
    if (id) *id = t;
    return ARENAUT_OK;
}

arenaut_status arn_program_add_method(arenaut_program *program, const char *name, bool entry,
                                      uint32_t *id, arenaut_error *err) {
    const uint32_t m = program->n_methods;
    arenaut_method method = {
        .name = name, .first_op = program->n_ops, .entry = entry, .outer = ARENAUT_NONE};
    if (!copy_text(program, &method.name) || !grow_methods(program, (uint64_t)m + 1)) {
        return arn_no_memory(err);
    }
    program->methods[m] = method;
    program->n_methods = m + 1;
    if (id) *id = m;
    return ARENAUT_OK;
}

static arenaut_status check_op(const arenaut_program *program, const arenaut_op *op,
                               arenaut_error *err) {
    const char *name = op->name ? op->name : "";
    if (program->n_methods == 0 || op->method != program->n_methods - 1) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "op '%s' belongs to method %" PRIu32
                        "; ops are added to the newest of %" PRIu32 " methods",
                        name, op->method, program->n_methods);
    }
    if (op->file_index.given && op->file_index.id == ARENAUT_NONE) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "op '%s' has the number %" PRIu32 " in its file; numbers end with %" PRIu32,
                        name, op->file_index.id, ARENAUT_NONE - 1);
    }
    return ARENAUT_OK;
}

arenaut_status arn_program_add_op(arenaut_program *program, const arenaut_op *op, uint32_t *id,
                                  arenaut_error *err) {
    const arenaut_status st = check_op(program, op, err);
    if (st != ARENAUT_OK) return st;
    arenaut_op copy = *op;
    if (!copy_op_parts(program, &copy) || !grow_ops(program, (uint64_t)program->n_ops + 1)) {
        return arn_no_memory(err);
    }
    if (!copy.file_index.given) copy.file_index = arenaut_id(program->methods[op->method].n_ops);
    if (id) *id = program->n_ops;
    program->ops[program->n_ops++] = copy;
    program->methods[op->method].n_ops++;
    return ARENAUT_OK;
}

static arenaut_status no_method(const arenaut_program *program, uint32_t method,
                                arenaut_error *err) {
    return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                    "method %" PRIu32 " does not exist; there are %" PRIu32, method,
                    program->n_methods);
}

arenaut_status arenaut_program_set_method_io(arenaut_program *program, uint32_t method,
                                             const uint32_t *inputs, uint32_t n_inputs,
                                             const uint32_t *outputs, uint32_t n_outputs,
                                             arenaut_error *err) {
    if (method >= program->n_methods) return no_method(program, method, err);
    if (!copy_ids(program, &inputs, n_inputs) || !copy_ids(program, &outputs, n_outputs)) {
        return arn_no_memory(err);
    }
    arenaut_method *m = &program->methods[method];
    m->inputs = inputs;
    m->n_inputs = n_inputs;
    m->outputs = outputs;
    m->n_outputs = n_outputs;
    return ARENAUT_OK;
}

arenaut_status arn_program_set_given_pools(arenaut_program *program, uint32_t method,
                                           const arenaut_given_pool *pools, uint32_t n_pools,
                                           arenaut_error *err) {
    if (method >= program->n_methods) return no_method(program, method, err);
    const void *copy = pools;
    if (!copy_array(program, &copy, n_pools, sizeof *pools)) return arn_no_memory(err);
    program->methods[method].given_pools = copy;
    program->methods[method].n_given_pools = n_pools;
    return ARENAUT_OK;
}

arenaut_status arn_program_set_bindings(arenaut_program *program, uint32_t method,
                                        const arenaut_binding *bindings, uint32_t n_bindings,
                                        arenaut_error *err) {
    if (method >= program->n_methods) return no_method(program, method, err);
    const void *copy = bindings;
    if (!copy_array(program, &copy, n_bindings, sizeof *bindings)) return arn_no_memory(err);
    program->methods[method].bindings = copy;
    program->methods[method].n_bindings = n_bindings;
    return ARENAUT_OK;
}

/* Symbols and expressions, and facts about them. */
static bool copy_exprs(const arenaut_program *from, arenaut_program *to) {
    struct arenaut_program_store *store = to->store;
    const arenaut_allocator *allocator = &store->allocator;
    if (!arn_grow(allocator, (void **)&to->symbols, &store->symbols, from->n_symbols,
                  sizeof *to->symbols) ||
        !arn_grow(allocator, (void **)&to->exprs, &store->exprs, from->n_exprs,
                  sizeof *to->exprs) ||
        !arn_grow(allocator, (void **)&store->facts, &store->expr_facts, from->n_exprs,
                  sizeof *store->facts)) {
        return false;
    }
    for (uint32_t e = 0; e < from->n_exprs; e++) {
        to->exprs[e] = from->exprs[e];
        store->facts[e] = from->store->facts[e];
    }
    for (uint32_t s = 0; s < from->n_symbols; s++) {
        to->symbols[s] = from->symbols[s];
        if (!copy_text(to, &to->symbols[s].name)) return false;
    }
    return true;
}

static bool copy_arrays(const arenaut_program *from, arenaut_program *to) {
    if (!grow_tensors(to, from->n_tensors) || !grow_ops(to, from->n_ops) ||
        !grow_methods(to, from->n_methods) || !copy_exprs(from, to)) {
        return false;
    }
    for (uint32_t t = 0; t < from->n_tensors; t++) {
        to->tensors[t] = from->tensors[t];
        if (!copy_tensor_parts(to, &to->tensors[t])) return false;
    }
    for (uint32_t i = 0; i < from->n_ops; i++) {
        to->ops[i] = from->ops[i];
        if (!copy_op_parts(to, &to->ops[i])) return false;
    }
    for (uint32_t m = 0; m < from->n_methods; m++) {
        to->methods[m] = from->methods[m];
        if (!copy_method_parts(to, &to->methods[m])) return false;
    }
    return true;
}

static bool copy_texts(arenaut_program *program) {
    return copy_text(program, &program->description) && copy_text(program, &program->dialect) &&
           copy_text(program, &program->given_note) &&
           copy_text(program, &program->given_kernels.name);
}

arenaut_status arn_program_copy(const arenaut_program *program, const arenaut_allocator *allocator,
                                arenaut_program **out, arenaut_error *err) {
    arenaut_program *copy = NULL;
    const arenaut_status st = arn_program_new(allocator, &copy, err);
    if (st != ARENAUT_OK) return st;
    if (!copy_arrays(program, copy)) {
        arn_program_free(copy);
        return arn_no_memory(err);
    }
    const arenaut_program arrays = *copy;
    *copy = *program;
    copy->tensors = arrays.tensors;
    copy->ops = arrays.ops;
    copy->methods = arrays.methods;
    copy->symbols = arrays.symbols;
    copy->exprs = arrays.exprs;
    copy->store = arrays.store;
    if (copy_texts(copy)) {
        *out = copy;
        return ARENAUT_OK;
    }
    arn_program_free(copy);
    return arn_no_memory(err);
}

arenaut_status arn_program_set_dialect(arenaut_program *program, const char *dialect,
                                       arenaut_error *err) {
    if (!copy_text(program, &dialect)) return arn_no_memory(err);
    program->dialect = dialect;
    return ARENAUT_OK;
}

arenaut_status arenaut_dense_bytes(arenaut_dtype dtype, const int64_t *dims, uint32_t rank,
                                   uint64_t *bytes, arenaut_error *err) {
    return arn_tensor_dense_bytes(dtype, 0, dims, rank, bytes, err);
}

const arenaut_attribute *arenaut_op_attribute(const arenaut_op *op, const char *name) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        if (strcmp(op->attributes[i].name, name) == 0) return &op->attributes[i];
    }
    return NULL;
}

bool arn_op_reads_compressed(const arenaut_program *program, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] == ARENAUT_NONE) continue;
        if (program->tensors[op->inputs[i]].compressed) return true;
    }
    return false;
}

const char *arenaut_program_tensor_name(const arenaut_program *program, uint32_t tensor,
                                        char store[24]) {
    if (tensor < program->n_tensors && program->tensors[tensor].name &&
        program->tensors[tensor].name[0]) {
        return program->tensors[tensor].name;
    }
    snprintf(store, 24, "tensor%" PRIu32, tensor);
    return store;
}

uint32_t arenaut_program_storage(const arenaut_program *program, uint32_t tensor,
                                 uint64_t *offset) {
    const arenaut_tensor *t = &program->tensors[tensor];
    const bool view = t->view_of != ARENAUT_NONE;
    if (offset) *offset = view ? t->view_offset : 0;
    return view ? t->view_of : tensor;
}
