/* The directory of a zip archive behind a model, apart from the model: no part of it may lie in
 * there, also none that the reader has no use for, since those bytes change where the archive
 * moves. Linear in the file. */
#include <inttypes.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "formats/tflite/tflite.h"
#include "formats/tflite/tflite_schema.h"
#include "formats/tflite/tflite_write.h"
#include "ir/program.h"

enum { MOST_OPTIONS = 64 }; /* fields of a table of options that are looked at */

/* Options whose first fields lead to numbers of this width, or to texts. */
static unsigned width_of_options(uint32_t type, unsigned *n) {
    *n = type == OPTIONS_VAR_HANDLE ? 2 : 1;
    switch (type) {
        case OPTIONS_RESHAPE:
        case OPTIONS_SQUEEZE:
        case OPTIONS_BUCKETIZE: return 4;
        case OPTIONS_VAR_HANDLE: return 1;
        default: return 0;
    }
}

/* Of other options it is not known which fields are offsets: one that would lead behind the end is
 * taken for one, since next to no number does. */
static void look_at_fields(arn_tflite_model *model, arn_fb_table options, size_t end) {
    arn_flatbuffer *fb = &model->fb;
    for (unsigned slot = 0; slot < MOST_OPTIONS && !fb->wrong; slot++) {
        const size_t field = arn_fb_field(fb, options, slot, 1);
        if (field == 0 || field + 4 > fb->size) continue;
        const uint64_t to = field + arn_load(fb->data + field, 4);
        if (to >= fb->size && to < end) arn_fb_vector_field(fb, options, slot, 1);
    }
}

/* Options of operators, also of those that the reader has no use for. */
static void look_at_options(arn_tflite_model *model, arn_fb_table op, size_t end) {
    arn_flatbuffer *fb = &model->fb;
    static const unsigned types[] = {OPERATOR_OPTIONS_TYPE, OPERATOR_OPTIONS_2_TYPE};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const arn_fb_table options = arn_fb_table_field(fb, op, types[i] + 1);
        const uint32_t type = i == 0 ? arn_fb_u8(fb, op, types[i], 0) : 0;
        unsigned n;
        const unsigned width = width_of_options(type, &n);
        for (unsigned slot = 0; width > 0 && slot < n; slot++) {
            arn_fb_vector_field(fb, options, slot, width);
        }
        look_at_fields(model, options, end);
    }
    arn_fb_vector_field(fb, op, OPERATOR_CUSTOM_OPTIONS, 1);
    arn_fb_vector_field(fb, op, OPERATOR_MUTATING, 1);
    arn_fb_vector_field(fb, op, OPERATOR_INTERMEDIATES, 4);
}

static void look_at_operators(arn_tflite_model *model, size_t end) {
    arn_flatbuffer *fb = &model->fb;
    for (uint32_t s = 0; s < model->subgraphs.count; s++) {
        const arn_fb_table graph = arn_fb_item_table(fb, model->subgraphs, s);
        const arn_fb_vector operators = arn_fb_vector_field(fb, graph, SUBGRAPH_OPERATORS, 4);
        for (uint32_t i = 0; i < operators.count; i++) {
            look_at_options(model, arn_fb_item_table(fb, operators, i), end);
        }
    }
}

/* A union of numbers: of 32, 16 or 8 bits, by its type, which stands in the slot before. */
static void look_at_indices(arn_flatbuffer *fb, arn_fb_table dimension, unsigned slot) {
    const uint8_t type = arn_fb_u8(fb, dimension, slot - 1, 0);
    const unsigned width = type == 1 ? 4 : type == 2 ? 2 : 1;
    arn_fb_vector_field(fb, arn_fb_table_field(fb, dimension, slot), 0, width);
}

/* Returns the number of entries of lists that tensors may share. */
static uint64_t look_at_tensor(arn_tflite_model *model, arn_fb_table tensor, size_t end) {
    arn_flatbuffer *fb = &model->fb;
    const arn_fb_table quantization = arn_fb_table_field(fb, tensor, TENSOR_QUANTIZATION);
    const arn_fb_table details =
        arn_fb_table_field(fb, quantization, QUANTIZATION_DETAILS_TYPE + 1);
    const arn_fb_table sparsity = arn_fb_table_field(fb, tensor, TENSOR_SPARSITY);
    const arn_fb_vector dimensions = arn_fb_vector_field(fb, sparsity, SPARSITY_DIMENSIONS, 4);
    const arn_fb_vector variants = arn_fb_vector_field(fb, tensor, TENSOR_VARIANTS, 4);
    for (unsigned slot = 0; slot < QUANTIZATION_SCALE; slot++) {
        arn_fb_vector_field(fb, quantization, slot, 4); /* least and greatest values */
    }
    if (arn_fb_u8(fb, quantization, QUANTIZATION_DETAILS_TYPE, 0) == DETAILS_CUSTOM) {
        arn_fb_vector_field(fb, details, 0, 1);
    }
    look_at_fields(model, details, end);
    for (unsigned slot = 0; slot < SPARSITY_DIMENSIONS; slot++) {
        arn_fb_vector_field(fb, sparsity, slot, 4); /* orders of dimensions and blocks */
    }
    for (uint32_t i = 0; i < dimensions.count && !fb->wrong; i++) {
        const arn_fb_table dimension = arn_fb_item_table(fb, dimensions, i);
        look_at_indices(fb, dimension, DIMENSION_SEGMENTS);
        look_at_indices(fb, dimension, DIMENSION_INDICES);
    }
    for (uint32_t i = 0; i < variants.count && !fb->wrong; i++) {
        arn_fb_vector_field(fb, arn_fb_item_table(fb, variants, i), 0, 4);
    }
    return (uint64_t)dimensions.count + variants.count;
}

/* What tensors have beside their bytes. False as for signatures. */
static bool look_at_tensors(arn_tflite_model *model, size_t end) {
    arn_flatbuffer *fb = &model->fb;
    uint64_t n = 0;
    arn_fb_vector_field(fb, model->root, MODEL_METADATA_BUFFER, 4);
    for (uint32_t s = 0; s < model->subgraphs.count; s++) {
        const arn_fb_table graph = arn_fb_item_table(fb, model->subgraphs, s);
        const arn_fb_vector tensors = arn_fb_vector_field(fb, graph, SUBGRAPH_TENSORS, 4);
        for (uint32_t i = 0; i < tensors.count && !fb->wrong; i++) {
            n += look_at_tensor(model, arn_fb_item_table(fb, tensors, i), end);
            if (n > fb->size) return false;
        }
    }
    return true;
}

static void look_at_names(arn_tflite_model *model, arn_fb_vector list) {
    arn_flatbuffer *fb = &model->fb;
    for (uint32_t i = 0; i < list.count && !fb->wrong; i++) {
        const arn_fb_table named = arn_fb_item_table(fb, list, i);
        arn_fb_vector_field(fb, named, SIGNATURE_NAME, 1);
        arn_fb_field(fb, named, SIGNATURE_TENSOR, 4);
    }
}

/* By which callers name inputs and outputs. False if lists are longer in all than the file: they
 * share their bytes, and to look at all could take long. */
static bool look_at_signatures(arn_tflite_model *model) {
    arn_flatbuffer *fb = &model->fb;
    uint64_t n = 0;
    const arn_fb_vector all = arn_fb_vector_field(fb, model->root, MODEL_SIGNATURES, 4);
    for (uint32_t i = 0; i < all.count && !fb->wrong; i++) {
        const arn_fb_table signature = arn_fb_item_table(fb, all, i);
        const arn_fb_vector inputs = arn_fb_vector_field(fb, signature, SIGNATURE_INPUTS, 4);
        const arn_fb_vector outputs = arn_fb_vector_field(fb, signature, SIGNATURE_OUTPUTS, 4);
        arn_fb_vector_field(fb, signature, SIGNATURE_KEY, 1);
        n += (uint64_t)inputs.count + outputs.count;
        if (n > fb->size) return false;
        look_at_names(model, inputs);
        look_at_names(model, outputs);
    }
    return true;
}

arenaut_status arn_tflite_check_apart(const arn_tflite_model *model, size_t directory,
                                      const arenaut_allocator *allocator, arenaut_error *err) {
    arn_tflite_model before;
    arenaut_program *program = NULL;
    arenaut_error why = {0};
    arenaut_status st = arn_tflite_open(model->fb.data, directory, &before, &why);
    for (uint32_t i = 0; st == ARENAUT_OK && i < before.buffers.count; i++) {
        arn_tflite_buffer_data(&before, i);
        if (!before.fb.wrong) continue;
        return arn_fail(err, ARENAUT_REFUSED, directory,
                        "buffer %" PRIu32
                        " reaches over the directory of the zip archive behind "
                        "the model, at byte %zu, which changes where the archive moves",
                        i, directory);
    }
    if (st == ARENAUT_OK) {
        st = arn_tflite_read(model->fb.data, directory, NULL, allocator, &program, &why);
        arn_program_free(program);
    }
    if (st == ARENAUT_OK) {
        look_at_operators(&before, model->fb.size);
        st = arn_fb_status(&before.fb, "operators", &why);
    }
    if (st == ARENAUT_OK) {
        st = look_at_tensors(&before, model->fb.size)
                 ? arn_fb_status(&before.fb, "tensors", &why)
                 : arn_fail(&why, ARENAUT_REFUSED, directory, "tensors share lists");
    }
    if (st == ARENAUT_OK) {
        st = look_at_signatures(&before)
                 ? arn_fb_status(&before.fb, "signatures", &why)
                 : arn_fail(&why, ARENAUT_REFUSED, directory, "signatures share lists of names");
    }
    if (st == ARENAUT_OK) return ARENAUT_OK;
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(err);
    return arn_fail(err, ARENAUT_REFUSED, directory,
                    "the model reaches over the directory of the zip archive behind it, at byte "
                    "%zu, which changes where the archive moves: without it, %s",
                    directory, why.msg);
}
