/* program-json: whole programs (arenaut.program/1), for tests and for compilers. They are
 * read in program_json_read.c and written here. */
#include "formats/program_json.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/dialect.h>
#include <arenaut/expr.h>
#include <arenaut/version.h>

#include "core/fail.h"
#include "core/memory.h"
#include "formats/json_reader.h"
#include "formats/json_writer.h"
#include "ir/expr.h"
#include "ir/extent.h"
#include "ir/program.h"
#include "ir/result.h"

/* Writer of a program as arenaut.program/1. With a plan, the file gives each tensor its place in
 * it; empty members are left out. */

typedef struct printer {
    arn_writer writer;
    const arenaut_program *program;
    const arenaut_lowering *lowering; /* with plan; else both NULL */
    const arenaut_plan *plan;
    arenaut_given_kernels kernels; /* that plan, or the places of the program, were made for */
    bool *tensor_unique, *method_unique; /* can be referred to by name */
    const arenaut_allocator *allocator;
    uint32_t lanes; /* of tensors that need not state them */
} printer;

static const char *tensor_name(const void *program, uint32_t t) {
    return ((const arenaut_program *)program)->tensors[t].name;
}

static const char *method_name(const void *program, uint32_t m) {
    return ((const arenaut_program *)program)->methods[m].name;
}

static void put_tensor_ref(printer *out, uint32_t t) {
    if (t == ARENAUT_NONE) {
        arn_puts(&out->writer, "null");
    } else if (out->tensor_unique[t]) {
        arn_put_json_string(&out->writer, out->program->tensors[t].name);
    } else {
        arn_putf(&out->writer, "%" PRIu32, t);
    }
}

/* A method that is called like the word for all methods goes by its number. */
static void put_method_ref(printer *out, uint32_t m) {
    const char *name = out->program->methods[m].name;
    if (out->method_unique[m] && strcmp(name, ARN_EVERY_METHOD) != 0) {
        arn_put_json_string(&out->writer, name);
    } else {
        arn_putf(&out->writer, "%" PRIu32, m);
    }
}

static void put_number(printer *out, uint32_t number) {
    arn_putf(&out->writer, "%" PRIu32, number);
}

static void put_refs(printer *out, bool *begun, const char *key, const uint32_t *ids, uint32_t n,
                     void (*put_ref)(printer *, uint32_t)) {
    if (n == 0) return;
    arn_json_put_key(&out->writer, begun, key);
    for (uint32_t i = 0; i < n; i++) {
        arn_puts(&out->writer, i ? ", " : "[");
        put_ref(out, ids[i]);
    }
    arn_puts(&out->writer, "]");
}

/* ---- tensors ---- */

static bool is_symbolic(const uint32_t *exprs, uint32_t i) {
    return exprs && exprs[i] != ARENAUT_NONE;
}

static void put_expr(printer *out, uint32_t expr) {
    arn_writer *w = &out->writer;
    arenaut_text text = {.allocator = out->allocator};
    if (arn_expr_write(out->program, expr, arenaut_text_sink(&text), NULL) != ARENAUT_OK) {
        w->failed = true;
    } else {
        arn_put_json_string(w, text.bytes);
    }
    arenaut_text_free(&text);
}

/* A symbolic dimension is text; its upper bound, once known, goes into a list beside it. */
static void put_dims(printer *out, bool *begun, const arenaut_tensor *tensor) {
    arn_writer *w = &out->writer;
    bool symbolic = false, known = true;
    if (tensor->rank == 0) return;
    arn_json_put_key(w, begun, "dims");
    for (uint32_t i = 0; i < tensor->rank; i++) {
        arn_puts(w, i ? ", " : "[");
        if (is_symbolic(tensor->dim_exprs, i)) {
            put_expr(out, tensor->dim_exprs[i]);
        } else if (tensor->dims[i] < 0) {
            arn_puts(w, "null");
        } else {
            arn_put_json_u64(w, (uint64_t)tensor->dims[i]);
        }
        symbolic = symbolic || is_symbolic(tensor->dim_exprs, i);
        known = known && tensor->dims[i] >= 0;
    }
    arn_puts(w, "]");
    if (!symbolic || !known) return;
    arn_json_put_key(w, begun, "upper");
    for (uint32_t i = 0; i < tensor->rank; i++) {
        arn_puts(w, i ? ", " : "[");
        arn_put_json_u64(w, (uint64_t)tensor->dims[i]);
    }
    arn_puts(w, "]");
}

static void put_strides(printer *out, bool *begun, const arenaut_tensor *tensor) {
    if (!tensor->strides || tensor->rank == 0) return;
    arn_json_put_key(&out->writer, begun, "strides");
    for (uint32_t i = 0; i < tensor->rank; i++) {
        arn_puts(&out->writer, i ? ", " : "[");
        if (is_symbolic(tensor->stride_exprs, i)) put_expr(out, tensor->stride_exprs[i]);
        else arn_json_put_i64(&out->writer, tensor->strides[i]);
    }
    arn_puts(&out->writer, "]");
}

static void put_flag(arn_writer *w, bool *begun, const char *key, bool value) {
    if (!value) return;
    arn_json_put_key(w, begun, key);
    arn_puts(w, "true");
}

static void put_numbers(arn_writer *w, bool *begun, const char *key, const int64_t *numbers,
                        uint32_t n) {
    arn_json_put_key(w, begun, key);
    for (uint32_t i = 0; i < n; i++) {
        arn_puts(w, i ? ", " : "[");
        arn_json_put_i64(w, numbers[i]);
    }
    arn_puts(w, "]");
}

static void put_shape(printer *out, bool *begun, const arenaut_tensor *tensor) {
    arn_writer *w = &out->writer;
    uint64_t extent = 0; /* as it is read without "bytes" */
    if (tensor->stride_exprs || arn_tensor_extent_bytes(tensor, &extent, NULL) != ARENAUT_OK) {
        extent = 0;
    }
    arn_json_put_text_member(w, begun, "dtype", arenaut_dtype_name(tensor->dtype));
    put_dims(out, begun, tensor);
    if (tensor->lanes != out->lanes) arn_json_put_size_member(w, begun, "lanes", tensor->lanes);
    put_strides(out, begun, tensor);
    if (tensor->n_values) put_numbers(w, begun, "values", tensor->values, tensor->n_values);
    if (tensor->n_scales) arn_json_put_size_member(w, begun, "scales", tensor->n_scales);
    put_flag(w, begun, "dynamic", tensor->dynamic);
    put_flag(w, begun, "unsized", tensor->unsized);
    put_flag(w, begun, "compressed", tensor->compressed);
    put_flag(w, begun, "finite", tensor->finite);
    if (tensor->whole_along) {
        arn_json_put_size_member(w, begun, "whole_along", tensor->whole_along);
    }
    if (tensor->bytes != extent) arn_json_put_size_member(w, begun, "bytes", tensor->bytes);
}

/* The place of the tensor: in the plan, or else in the file that was read. */
static void put_given(printer *out, bool *begun, uint32_t t) {
    const arenaut_tensor *tensor = &out->program->tensors[t];
    uint32_t pool = tensor->given_pool;
    uint64_t offset = tensor->given_offset;
    if (out->plan) {
        const uint32_t buffer = out->lowering->buffer[t];
        pool = buffer == ARENAUT_NONE ? ARENAUT_NONE : out->plan->pool[buffer];
        offset = pool == ARENAUT_NONE ? ARENAUT_UNPLACED
                                      : out->plan->offset[buffer] + out->lowering->offset[t];
    }
    if (offset == ARENAUT_UNPLACED) return;
    arn_json_put_key(&out->writer, begun, "given");
    arn_puts(&out->writer, "{\"pool\": ");
    arn_put_json_u64(&out->writer, pool == ARENAUT_NONE ? 0 : pool);
    arn_puts(&out->writer, ", \"offset\": ");
    arn_put_json_u64(&out->writer, offset);
    arn_puts(&out->writer, "}");
}

static void put_tensor(printer *out, uint32_t t) {
    const arenaut_tensor *tensor = &out->program->tensors[t];
    arn_writer *w = &out->writer;
    bool begun = false;
    arn_puts(w, t ? ",\n    {" : "\n    {");
    arn_json_put_text_member(w, &begun, "name", tensor->name);
    put_shape(out, &begun, tensor);
    arn_json_put_text_member(w, &begun, "class", arenaut_class_name(tensor->cls));
    arn_json_put_key(w, &begun, "method");
    if (tensor->method == ARENAUT_NONE) {
        arn_put_json_string(w, ARN_EVERY_METHOD);
    } else {
        put_method_ref(out, tensor->method);
    }
    if (tensor->align) arn_json_put_size_member(w, &begun, "align", tensor->align);
    if (tensor->device.type || tensor->device.index) {
        arn_json_put_key(w, &begun, "device");
        arn_json_put_device(w, tensor->device);
    }
    if (tensor->view_of != ARENAUT_NONE) {
        arn_json_put_key(w, &begun, "view_of");
        put_tensor_ref(out, tensor->view_of);
    }
    if (tensor->view_offset)
        arn_json_put_size_member(w, &begun, "view_offset", tensor->view_offset);
    arn_json_put_text_member(w, &begun, "qualified_name", tensor->qualified_name);
    put_flag(w, &begun, "caller_owned", tensor->caller_owned);
    if (tensor->file_index != t)
        arn_json_put_size_member(w, &begun, "file_index", tensor->file_index);
    put_given(out, &begun, t);
    arn_json_put_text_member(w, &begun, "source", tensor->source);
    arn_puts(w, "}");
}

/* ---- ops and methods ---- */

static void put_pairs(printer *out, bool *begun, const arenaut_op *op) {
    if (op->n_in_place == 0) return;
    arn_json_put_key(&out->writer, begun, "in_place");
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        arn_putf(&out->writer, "%s[%" PRIu32 ", %" PRIu32 "]", i ? ", " : "[",
                 op->in_place[i].output, op->in_place[i].input);
    }
    arn_puts(&out->writer, "]");
}

static void put_overlaps(printer *out, bool *begun, const arenaut_op *op) {
    arn_writer *w = &out->writer;
    if (op->n_overlaps == 0) return;
    arn_json_put_key(w, begun, "overlaps");
    for (uint32_t i = 0; i < op->n_overlaps; i++) {
        const arenaut_overlap *pair = &op->overlaps[i];
        arn_putf(w, "%s{\"output\": %" PRIu32 ", \"input\": %" PRIu32 ", \"distance\": ",
                 i ? ", " : "[", pair->output, pair->input);
        arn_json_put_i64(w, pair->distance);
        arn_puts(w, "}");
    }
    arn_puts(w, "]");
}

static void put_attributes(printer *out, bool *begun, const arenaut_op *op) {
    arn_writer *w = &out->writer;
    if (op->n_attributes == 0) return;
    arn_json_put_key(w, begun, "attributes");
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        const arenaut_attribute *a = &op->attributes[i];
        bool inner = false;
        arn_puts(w, i ? ", {" : "[{");
        arn_json_put_text_member(w, &inner, "name", a->name);
        arn_json_put_text_member(w, &inner, "text", a->text);
        if (a->n_numbers) put_numbers(w, &inner, "numbers", a->numbers, a->n_numbers);
        arn_puts(w, "}");
    }
    arn_puts(w, "]");
}

static void put_op(printer *out, const arenaut_op *op) {
    arn_writer *w = &out->writer;
    bool begun = false;
    arn_puts(w, "{");
    arn_json_put_text_member(w, &begun, "name", op->name);
    if (op->kind != ARENAUT_OP_OUT) {
        arn_json_put_text_member(w, &begun, "kind", arn_op_kind_name(op->kind));
    }
    put_refs(out, &begun, "inputs", op->inputs, op->n_inputs, put_tensor_ref);
    put_refs(out, &begun, "outputs", op->outputs, op->n_outputs, put_tensor_ref);
    put_refs(out, &begun, "scratch", op->scratch, op->n_scratch, put_tensor_ref);
    put_refs(out, &begun, "calls", op->calls, op->n_calls, put_method_ref);
    put_pairs(out, &begun, op);
    put_overlaps(out, &begun, op);
    put_flag(w, &begun, "arguments_may_alias", op->arguments_may_alias);
    put_flag(w, &begun, "pure", op->pure);
    if (op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE) {
        arn_json_put_size_member(w, &begun, "target", op->target);
    }
    if (op->kind == ARENAUT_OP_FIELD) arn_json_put_size_member(w, &begun, "index", op->target);
    if (op->kind == ARENAUT_OP_LOOP) arn_json_put_size_member(w, &begun, "carries", op->target);
    if (op->stream) arn_json_put_size_member(w, &begun, "stream", op->stream);
    put_refs(out, &begun, "after", op->after, op->n_after, put_number);
    put_attributes(out, &begun, op);
    arn_json_put_text_member(w, &begun, "source", op->source);
    arn_puts(w, "}");
}

/* With a plan, the arenas of the file that was read mean nothing any more. */
static void put_given_pools(printer *out, bool *begun, const arenaut_method *method) {
    if (method->n_given_pools == 0 || out->plan) return;
    arn_json_put_key(&out->writer, begun, "given_pools");
    for (uint32_t i = 0; i < method->n_given_pools; i++) {
        arn_puts(&out->writer, i ? ", {\"bytes\": " : "[{\"bytes\": ");
        arn_put_json_u64(&out->writer, method->given_pools[i].bytes);
        arn_puts(&out->writer, ", \"device\": ");
        arn_json_put_device(&out->writer, method->given_pools[i].device);
        arn_puts(&out->writer, "}");
    }
    arn_puts(&out->writer, "]");
}

static void put_bindings(printer *out, bool *begun, const arenaut_method *method) {
    arn_writer *w = &out->writer;
    if (method->n_bindings == 0) return;
    arn_json_put_key(w, begun, "bindings");
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const arenaut_binding *binding = &method->bindings[i];
        arn_putf(w, "%s{\"kind\": \"%s\", \"value\": ", i ? ", " : "[",
                 arn_binding_kind_name(binding->kind));
        put_tensor_ref(out, binding->value);
        if (binding->target != ARENAUT_NONE) {
            arn_puts(w, ", \"target\": ");
            put_tensor_ref(out, binding->target);
        }
        arn_puts(w, "}");
    }
    arn_puts(w, "]");
}

static void put_method(printer *out, uint32_t m) {
    const arenaut_method *method = &out->program->methods[m];
    arn_writer *w = &out->writer;
    bool begun = false;
    arn_puts(w, m ? ",\n    {" : "\n    {");
    arn_json_put_text_member(w, &begun, "name", method->name);
    arn_json_put_key(w, &begun, "entry");
    arn_puts(w, method->entry ? "true" : "false");
    put_refs(out, &begun, "inputs", method->inputs, method->n_inputs, put_tensor_ref);
    put_refs(out, &begun, "outputs", method->outputs, method->n_outputs, put_tensor_ref);
    if (method->outer != ARENAUT_NONE) {
        arn_json_put_key(w, &begun, "outer");
        put_method_ref(out, method->outer);
    }
    put_flag(w, &begun, "concurrent", method->concurrent);
    put_bindings(out, &begun, method);
    put_given_pools(out, &begun, method);
    arn_json_put_key(w, &begun, "ops");
    arn_puts(w, "[");
    for (uint32_t i = 0; i < method->n_ops; i++) {
        arn_puts(w, i ? ",\n      " : "\n      ");
        put_op(out, &out->program->ops[method->first_op + i]);
    }
    arn_puts(w, "]}");
}

/* ---- the whole ---- */

static void put_symbols(printer *out, bool *begun) {
    arn_writer *w = &out->writer;
    if (out->program->n_symbols == 0) return;
    arn_json_put_key(w, begun, "symbols");
    for (uint32_t i = 0; i < out->program->n_symbols; i++) {
        const arenaut_symbol *symbol = &out->program->symbols[i];
        arn_puts(w, i ? ", {\"name\": " : "[{\"name\": ");
        arn_put_json_string(w, symbol->name);
        if (symbol->min != 0) {
            arn_puts(w, ", \"min\": ");
            arn_json_put_i64(w, symbol->min);
        }
        if (symbol->max != ARENAUT_UNBOUNDED) {
            arn_puts(w, ", \"max\": ");
            arn_json_put_i64(w, symbol->max);
        }
        arn_puts(w, "}");
    }
    arn_puts(w, "]");
}

static void put_given_kernels(printer *out, bool *begun) {
    if (!out->kernels.name) return;
    arn_json_put_text_member(&out->writer, begun, "given_kernels", out->kernels.name);
    if (!out->kernels.unmeasured) return;
    arn_json_put_key(&out->writer, begun, "given_unmeasured");
    arn_puts(&out->writer, "true");
}

static void put_program(printer *out) {
    arn_writer *w = &out->writer;
    const arenaut_program *program = out->program;
    bool begun = true;
    arn_puts(w, "{\n  \"schema\": \"arenaut.program/1\"");
    arn_json_put_text_member(w, &begun, "version", arenaut_version());
    arn_json_put_text_member(w, &begun, "description", program->description);
    arn_json_put_text_member(w, &begun, "dialect", program->dialect);
    if (program->dialect_version) {
        arn_json_put_size_member(w, &begun, "dialect_version", program->dialect_version);
    }
    put_symbols(out, &begun);
    const arenaut_given_plan given = out->plan ? ARENAUT_GIVEN_OURS : program->given;
    if (given != ARENAUT_GIVEN_NONE)
        arn_json_put_text_member(w, &begun, "given", arn_program_json_given_word(given));
    if (!out->plan) arn_json_put_text_member(w, &begun, "given_note", program->given_note);
    put_given_kernels(out, &begun);
    arn_puts(w, ",\n  \"tensors\": [");
    for (uint32_t t = 0; t < program->n_tensors; t++) put_tensor(out, t);
    arn_puts(w, "],\n  \"methods\": [");
    for (uint32_t m = 0; m < program->n_methods; m++) put_method(out, m);
    arn_puts(w, "]\n}\n");
}

static arenaut_status program_json_write(const arenaut_result *result, arenaut_sink sink,
                                         const arenaut_allocator *allocator, arenaut_error *err) {
    const arenaut_program *program = result->program;
    if (!program) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "program JSON cannot hold a bare problem; write problem JSON instead");
    }
    const bool planned = result->plan && result->lowering;
    if (planned && result->plan->quality == ARENAUT_INFEASIBLE) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "program JSON cannot hold that there is no plan; write plan JSON instead");
    }
    const arenaut_dialect *dialect = arenaut_dialect_find(program->dialect);
    printer out = {
        .writer = arn_writer_to(sink),
        .program = program,
        .lowering = planned ? result->lowering : NULL,
        .plan = planned ? result->plan : NULL,
        .kernels = planned ? arn_result_made_for(result) : program->given_kernels,
        .tensor_unique = arn_json_unique_names(tensor_name, program, program->n_tensors, allocator),
        .method_unique = arn_json_unique_names(method_name, program, program->n_methods, allocator),
        .allocator = allocator,
        .lanes = dialect ? dialect->lanes : 0,
    };
    arenaut_status st;
    if (out.tensor_unique && out.method_unique) {
        put_program(&out);
        st = arn_writer_finish(&out.writer, err);
    } else {
        st = arn_no_memory(err);
    }
    ARN_RELEASE(allocator, out.tensor_unique, out.method_unique);
    return st;
}

/* ---- the format ---- */

static bool program_json_recognise(const uint8_t *data, size_t size) {
    return arn_json_has_schema(data, size, "arenaut.program");
}

extern const arenaut_format arn_format_program_json;
const arenaut_format arn_format_program_json = {
    .name = "program-json",
    .summary = "programs: methods, tensors, ops, and where each tensor was placed",
    .extensions = ".program.json",
    .recognise = program_json_recognise,
    .read = arn_program_json_read,
    .holds_order = true,
    .holds_orders = true,
    .holds_repeats = true,
    .write = program_json_write,
};
