#include "support/documents.h"

#include <stdlib.h>

#include <arenaut/expr.h>

#include "support/bytes.h"
#include "support/test.h"

arenaut_status try_read(const char *format, const void *data, size_t size,
                        const arenaut_allocator *allocator, arenaut_document *out,
                        arenaut_error *err) {
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    if (size) memcpy(exact, data, size);
    const arenaut_format *row = format ? arenaut_format_find(format) : NULL;
    if (format) assert_non_null(row);
    const arenaut_status st = arenaut_read(exact, size, row, NULL, allocator, out, err);
    free(exact);
    return st;
}

arenaut_document read_text(const char *format, const char *text) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    assert_ok(try_read(format, text, strlen(text), NULL, &document, &err), err);
    return document;
}

void assert_unreadable(const char *format, const char *text, arenaut_status status,
                       const char *part) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_read(format, text, strlen(text), NULL, &document, &err);
    if (st != status || !strstr(err.msg, part)) {
        fail_msg("status \"%s\", message \"%s\"; expected \"%s\" for %s", arenaut_status_text(st),
                 err.msg, part, text);
    }
    assert_int_equal(err.code, status);
    assert_null(document.problem);
    assert_null(document.program);
    assert_null(document.plan);
}

char *load_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    data[*size] = '\0';
    fclose(file);
    return data;
}

char *data_text(size_t *size, const char *format, ...) {
    char path[DATA_PATH_LIMIT];
    va_list list;
    va_start(list, format);
    print_data_path(path, format, list);
    va_end(list);
    return load_file(path, size);
}

arenaut_status try_write(const char *format, const arenaut_document *document,
                         const arenaut_allocator *allocator, arenaut_text *text,
                         arenaut_error *err) {
    const arenaut_result result = {
        .path = "test",
        .format = document->format ? document->format->name : "none",
        .program = document->program,
        .problem = document->problem,
        .plan = document->plan,
        .rematerialization = document->rematerialization,
        .seconds = -1,
        .given_kernels = document->kernels,
    };
    return arenaut_format_find(format)->write(&result, arenaut_text_sink(text), allocator, err);
}

arenaut_text write_text(const char *format, const arenaut_document *document) {
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_ok(try_write(format, document, NULL, &text, &err), err);
    return text;
}

static void assert_same_text(const char *a, const char *b) {
    assert_int_equal(a == NULL, b == NULL);
    if (a) assert_string_equal(a, b);
}

static const char *text_of(const char *const *column, uint32_t b) {
    return column ? column[b] : NULL;
}

static void assert_same_buffer(const arenaut_problem *a, const arenaut_problem *b, uint32_t i) {
    assert_true(a->size[i] == b->size[i]);
    assert_true(arenaut_problem_align(a, i) == arenaut_problem_align(b, i));
    assert_true(arenaut_problem_pools(a, i) == arenaut_problem_pools(b, i));
    assert_true(arenaut_problem_fixed_offset(a, i) == arenaut_problem_fixed_offset(b, i));
    assert_true(arenaut_problem_hint(a, i) == arenaut_problem_hint(b, i));
    assert_true(arenaut_problem_release(a, i) == arenaut_problem_release(b, i));
    assert_true(arenaut_problem_same_base(a, i) == arenaut_problem_same_base(b, i));
    assert_true(arenaut_problem_inside(a, i) == arenaut_problem_inside(b, i));
    if (arenaut_problem_inside(a, i) != ARENAUT_NONE) {
        assert_true(a->inside_delta[i] == b->inside_delta[i]);
    }
    assert_true(arenaut_problem_class(a, i) == arenaut_problem_class(b, i));
    assert_true((a->method ? a->method[i] : ARENAUT_NONE) ==
                (b->method ? b->method[i] : ARENAUT_NONE));
    assert_same_text(text_of(a->name, i), text_of(b->name, i));
    assert_same_text(text_of(a->op, i), text_of(b->op, i));
    assert_same_text(text_of(a->source, i), text_of(b->source, i));
    const uint32_t n = arenaut_problem_lifetime_count(a, i);
    assert_int_equal(n, arenaut_problem_lifetime_count(b, i));
    for (uint32_t k = 0; k < n; k++) {
        assert_true(arenaut_problem_lifetimes(a, i)[k].first ==
                    arenaut_problem_lifetimes(b, i)[k].first);
        assert_true(arenaut_problem_lifetimes(a, i)[k].end ==
                    arenaut_problem_lifetimes(b, i)[k].end);
    }
}

void assert_same_problem(const arenaut_problem *a, const arenaut_problem *b) {
    assert_int_equal(a->n_buffers, b->n_buffers);
    assert_int_equal(a->n_pools, b->n_pools);
    assert_int_equal(a->n_methods, b->n_methods);
    assert_int_equal(a->n_conflicts, b->n_conflicts);
    assert_int_equal(a->n_reserved, b->n_reserved);
    for (uint32_t i = 0; i < a->n_buffers; i++) assert_same_buffer(a, b, i);
    for (uint32_t i = 0; i < a->n_pools; i++) {
        assert_same_text(a->pool[i].name, b->pool[i].name);
        assert_true(a->pool[i].capacity == b->pool[i].capacity);
        assert_true(a->pool[i].align == b->pool[i].align);
        assert_int_equal(a->pool[i].device.type, b->pool[i].device.type);
        assert_int_equal(a->pool[i].device.index, b->pool[i].device.index);
    }
    for (uint32_t i = 0; i < a->n_methods; i++) {
        assert_same_text(a->method_name[i], b->method_name[i]);
    }
    assert_int_equal(a->n_separations, b->n_separations);
    for (uint32_t i = 0; i < a->n_separations; i++) {
        assert_int_equal(a->separation[i].upper, b->separation[i].upper);
        assert_int_equal(a->separation[i].lower, b->separation[i].lower);
        assert_int_equal(a->separation[i].distance, b->separation[i].distance);
    }
    for (uint32_t i = 0; i < a->n_conflicts; i++) {
        assert_int_equal(a->conflict[i].a, b->conflict[i].a);
        assert_int_equal(a->conflict[i].b, b->conflict[i].b);
    }
    for (uint32_t i = 0; i < a->n_reserved; i++) {
        assert_int_equal(a->reserved[i].pool, b->reserved[i].pool);
        assert_true(a->reserved[i].first == b->reserved[i].first);
        assert_true(a->reserved[i].end == b->reserved[i].end);
    }
}

static void assert_same_ids(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb) {
    assert_int_equal(na, nb);
    for (uint32_t i = 0; i < na; i++) assert_int_equal(a[i], b[i]);
}

/* Expressions may be numbered differently; where one stands, one must stand. Their texts are
 * compared by writing twice. */
static void assert_same_layout(const arenaut_tensor *a, const arenaut_tensor *b) {
    assert_int_equal(a->n_scales, b->n_scales);
    assert_int_equal(a->whole_along, b->whole_along);
    assert_int_equal(a->finite, b->finite);
    assert_int_equal(a->dynamic, b->dynamic);
    assert_int_equal(a->unsized, b->unsized);
    assert_int_equal(a->strides != NULL, b->strides != NULL);
    assert_int_equal(a->dim_exprs != NULL, b->dim_exprs != NULL);
    assert_int_equal(a->stride_exprs != NULL, b->stride_exprs != NULL);
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->strides) assert_true(a->strides[i] == b->strides[i]);
        if (a->stride_exprs) {
            assert_int_equal(a->stride_exprs[i] == ARENAUT_NONE,
                             b->stride_exprs[i] == ARENAUT_NONE);
        }
        if (!a->dim_exprs) continue;
        assert_int_equal(a->dim_exprs[i] == ARENAUT_NONE, b->dim_exprs[i] == ARENAUT_NONE);
    }
}

static void assert_same_tensor(const arenaut_tensor *a, const arenaut_tensor *b) {
    assert_same_layout(a, b);
    assert_same_text(a->name, b->name);
    assert_same_text(a->qualified_name, b->qualified_name);
    assert_same_text(a->source, b->source);
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->lanes, b->lanes);
    assert_int_equal(a->rank, b->rank);
    for (uint32_t i = 0; i < a->rank; i++) assert_true(a->dims[i] == b->dims[i]);
    assert_true(a->bytes == b->bytes);
    assert_true(a->align == b->align);
    assert_int_equal(a->cls, b->cls);
    assert_int_equal(a->method, b->method);
    assert_int_equal(a->view_of, b->view_of);
    assert_true(a->view_offset == b->view_offset);
    assert_int_equal(a->device.type, b->device.type);
    assert_int_equal(a->device.index, b->device.index);
    assert_int_equal(a->caller_owned, b->caller_owned);
    assert_int_equal(a->file_index, b->file_index);
    assert_int_equal(a->given_pool, b->given_pool);
    assert_true(a->given_offset == b->given_offset);
}

static void assert_same_op(const arenaut_op *a, const arenaut_op *b) {
    assert_same_text(a->name, b->name);
    assert_same_text(a->source, b->source);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->method, b->method);
    assert_int_equal(a->arguments_may_alias, b->arguments_may_alias);
    assert_int_equal(a->pure, b->pure);
    assert_int_equal(a->target, b->target);
    assert_int_equal(a->stream, b->stream);
    assert_same_ids(a->after, a->n_after, b->after, b->n_after);
    assert_int_equal(a->target, b->target);
    assert_int_equal(a->n_attributes, b->n_attributes);
    for (uint32_t i = 0; i < a->n_attributes; i++) {
        const arenaut_attribute *x = &a->attributes[i], *y = &b->attributes[i];
        assert_same_text(x->name, y->name);
        assert_same_text(x->text, y->text);
        assert_int_equal(x->n_numbers, y->n_numbers);
        for (uint32_t k = 0; k < x->n_numbers; k++) assert_int_equal(x->numbers[k], y->numbers[k]);
    }
    assert_same_ids(a->inputs, a->n_inputs, b->inputs, b->n_inputs);
    assert_same_ids(a->outputs, a->n_outputs, b->outputs, b->n_outputs);
    assert_same_ids(a->scratch, a->n_scratch, b->scratch, b->n_scratch);
    assert_same_ids(a->calls, a->n_calls, b->calls, b->n_calls);
    assert_int_equal(a->n_overlaps, b->n_overlaps);
    for (uint32_t i = 0; i < a->n_overlaps; i++) {
        assert_int_equal(a->overlaps[i].output, b->overlaps[i].output);
        assert_int_equal(a->overlaps[i].input, b->overlaps[i].input);
        assert_int_equal(a->overlaps[i].distance, b->overlaps[i].distance);
    }
    assert_int_equal(a->n_in_place, b->n_in_place);
    for (uint32_t i = 0; i < a->n_in_place; i++) {
        assert_int_equal(a->in_place[i].output, b->in_place[i].output);
        assert_int_equal(a->in_place[i].input, b->in_place[i].input);
    }
}

void assert_same_program(const arenaut_program *a, const arenaut_program *b) {
    assert_int_equal(a->n_tensors, b->n_tensors);
    assert_int_equal(a->n_ops, b->n_ops);
    assert_int_equal(a->n_methods, b->n_methods);
    assert_int_equal(a->given, b->given);
    assert_same_text(a->description, b->description);
    assert_same_text(a->given_note, b->given_note);
    assert_same_text(a->given_kernels.name, b->given_kernels.name);
    assert_int_equal(a->given_kernels.unmeasured, b->given_kernels.unmeasured);
    assert_same_text(a->dialect, b->dialect);
    assert_int_equal(a->n_symbols, b->n_symbols);
    for (uint32_t i = 0; i < a->n_symbols; i++) {
        assert_same_text(a->symbols[i].name, b->symbols[i].name);
        assert_true(a->symbols[i].min == b->symbols[i].min &&
                    a->symbols[i].max == b->symbols[i].max);
    }
    for (uint32_t i = 0; i < a->n_tensors; i++) assert_same_tensor(&a->tensors[i], &b->tensors[i]);
    for (uint32_t i = 0; i < a->n_ops; i++) assert_same_op(&a->ops[i], &b->ops[i]);
    for (uint32_t i = 0; i < a->n_methods; i++) {
        const arenaut_method *ma = &a->methods[i], *mb = &b->methods[i];
        assert_same_text(ma->name, mb->name);
        assert_int_equal(ma->entry, mb->entry);
        assert_int_equal(ma->n_given_pools, mb->n_given_pools);
        for (uint32_t k = 0; k < ma->n_given_pools; k++) {
            assert_true(ma->given_pools[k].bytes == mb->given_pools[k].bytes);
            assert_int_equal(ma->given_pools[k].device.type, mb->given_pools[k].device.type);
            assert_int_equal(ma->given_pools[k].device.index, mb->given_pools[k].device.index);
        }
        assert_int_equal(ma->outer, mb->outer);
        assert_int_equal(ma->concurrent, mb->concurrent);
        assert_int_equal(ma->n_bindings, mb->n_bindings);
        for (uint32_t k = 0; k < ma->n_bindings; k++) {
            assert_int_equal(ma->bindings[k].kind, mb->bindings[k].kind);
            assert_int_equal(ma->bindings[k].value, mb->bindings[k].value);
            assert_int_equal(ma->bindings[k].target, mb->bindings[k].target);
        }
        assert_int_equal(ma->first_op, mb->first_op);
        assert_int_equal(ma->n_ops, mb->n_ops);
        assert_same_ids(ma->inputs, ma->n_inputs, mb->inputs, mb->n_inputs);
        assert_same_ids(ma->outputs, ma->n_outputs, mb->outputs, mb->n_outputs);
    }
}

/* An accepted document is written, read and written again: both texts are the same. */
static void assert_reads_back(const char *format, const arenaut_document *document) {
    arenaut_text first = write_text(format, document);
    arenaut_document again = {0};
    arenaut_error err = {0};
    assert_ok(try_read(format, first.bytes, first.size, NULL, &again, &err), err);
    arenaut_text second = write_text(format, &again);
    assert_string_equal(first.bytes, second.bytes);
    arenaut_text_free(&first);
    arenaut_text_free(&second);
    arenaut_document_free(&again);
}

static size_t read_damaged(const char *format, const char *text, size_t size) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_read(format, text, size, NULL, &document, &err);
    if (st != ARENAUT_OK) {
        assert_int_equal(err.code, st);
        assert_true(err.msg[0] != '\0');
        return 0;
    }
    assert_reads_back(format, &document);
    arenaut_document_free(&document);
    return 1;
}

size_t survives_damage(const char *format, const char *text) {
    const size_t size = strlen(text);
    size_t accepted = 0;
    for (size_t cut = 0; cut < size; cut++) accepted += read_damaged(format, text, cut);
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, text, size + 1);
    for (size_t i = 0; i < size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            copy[i] = (char)(text[i] ^ (1 << bit));
            accepted += read_damaged(format, copy, size);
        }
        copy[i] = text[i];
    }
    free(copy);
    return accepted;
}
