/* Reader of one tensor of a .tflite file: its type and shape, whether its values are in the file,
 * the bytes that the micro runtime sets aside for it, and its place in the file's plan. */
#include <inttypes.h>
#include <stdio.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "core/memory.h"
#include "formats/tflite/tflite_reader.h"
#include "formats/tflite/tflite_schema.h"

/* Constants that are stored compressed: the metadata of that name holds a flatbuffer of its own,
 * with a list of them for each subgraph. A runtime built with compression unpacks each into scratch
 * before an op reads it; others would compute with the stored bytes. */

arenaut_status arn_tflite_find_compressed(arn_tflite_reader *r) {
    uint32_t entry;
    const arn_fb_vector data = arn_tflite_metadata(&r->model, ARN_TFLITE_COMPRESSION_NAME, &entry);
    const arenaut_status st = arn_tflite_status(r);
    if (st != ARENAUT_OK || data.count == 0) return st;
    r->compression = arn_fb_open(r->model.fb.data + data.at, data.count);
    r->compressed = arn_fb_vector_field(&r->compression, arn_fb_root(&r->compression),
                                        COMPRESSION_SUBGRAPHS, 4);
    return arn_fb_status(&r->compression, "metadata '" ARN_TFLITE_COMPRESSION_NAME "'", r->err);
}

/* The values of such a constant are unknown. */
static void mark(arenaut_tensor *tensor) {
    tensor->compressed = true;
    tensor->n_values = 0;
    tensor->values = NULL;
}

arenaut_status arn_tflite_take_compressed(arn_tflite_reader *r) {
    arn_flatbuffer *fb = &r->compression;
    if (r->subgraph >= r->compressed.count) return ARENAUT_OK;
    const arn_fb_table graph = arn_fb_item_table(fb, r->compressed, r->subgraph);
    const arn_fb_vector list = arn_fb_vector_field(fb, graph, COMPRESSION_TENSORS, 4);
    arenaut_status st = arn_tflite_charge(r, list.count, 1);
    for (uint32_t i = 0; i < list.count && st == ARENAUT_OK && !fb->wrong; i++) {
        const arn_fb_table each = arn_fb_item_table(fb, list, i);
        const uint32_t tensor = arn_fb_u32(fb, each, COMPRESSED_TENSOR, 0);
        if (tensor < r->n_tensors) {
            mark(&r->program->tensors[r->first_tensor + tensor]);
        } else if (!fb->wrong) {
            st = arn_fail(r->err, ARENAUT_BAD_INPUT, each.at,
                          "metadata '%s': tensor %" PRIu32 " of subgraph %" PRIu32
                          "; that has %" PRIu32,
                          ARN_TFLITE_COMPRESSION_NAME, tensor, r->subgraph, r->n_tensors);
        }
    }
    if (st != ARENAUT_OK) return st;
    return arn_fb_status(fb, "metadata '" ARN_TFLITE_COMPRESSION_NAME "'", r->err);
}

/* ---- tensors ---- */

/* The charge for one: the array that holds them doubles as it grows. */
enum { TENSOR_COST = 2 * sizeof(arenaut_tensor) };

enum { MOST_VALUES = 64 }; /* of a constant, that the program gets to know */

static const uint8_t dtypes[] = {
    ARENAUT_DTYPE_FLOAT32,  ARENAUT_DTYPE_FLOAT16,  ARENAUT_DTYPE_INT32,
    ARENAUT_DTYPE_UINT8,    ARENAUT_DTYPE_INT64,    ARENAUT_DTYPE_STRING,
    ARENAUT_DTYPE_BOOL,     ARENAUT_DTYPE_INT16,    ARENAUT_DTYPE_COMPLEX64,
    ARENAUT_DTYPE_INT8,     ARENAUT_DTYPE_FLOAT64,  ARENAUT_DTYPE_COMPLEX128,
    ARENAUT_DTYPE_UINT64,   ARENAUT_DTYPE_RESOURCE, ARENAUT_DTYPE_VARIANT,
    ARENAUT_DTYPE_UINT32,   ARENAUT_DTYPE_UINT16,   ARENAUT_DTYPE_INT4,
    ARENAUT_DTYPE_BFLOAT16, ARENAUT_DTYPE_INT2,     ARENAUT_DTYPE_UINT4,
    ARENAUT_DTYPE_FLOAT8,   ARENAUT_DTYPE_FLOAT8,
};

static arenaut_status bad_tensor(const arn_tflite_reader *r, arenaut_status code, size_t at,
                                 const char *what) {
    char store[ARN_TFLITE_PLACE_SIZE];
    return arn_fail(r->err, code, at, "%s ('%.120s'): %s", arn_tflite_place(r, store), r->name,
                    what);
}

static arenaut_status take_dtype(arn_tflite_reader *r, arn_fb_table table, arenaut_tensor *tensor) {
    const uint8_t type = arn_fb_u8(&r->model.fb, table, TENSOR_TYPE, 0);
    if (type < sizeof dtypes) {
        tensor->dtype = (arenaut_dtype)dtypes[type];
        return ARENAUT_OK;
    }
    char what[80];
    snprintf(what, sizeof what, "element type %u is not known; 0 to %zu are", type,
             sizeof dtypes - 1);
    return bad_tensor(r, ARENAUT_UNSUPPORTED, table.at, what);
}

/* `shape` always holds the sizes that a runtime starts with; where `shape_signature` says
 * that some may change, both runtimes plan with `shape` all the same. That is worth a word,
 * but not where only a batch of one may grow: nearly every converted model says so. */
static arenaut_status take_dims(arn_tflite_reader *r, arn_fb_table table, arenaut_tensor *tensor) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector shape = arn_fb_vector_field(fb, table, TENSOR_SHAPE, 4);
    const arenaut_status st = arn_tflite_charge(r, shape.count, 2 * sizeof *r->dims);
    if (st != ARENAUT_OK) return st;
    if (!arn_grow(r->allocator, (void **)&r->dims, &r->dims_capacity, shape.count,
                  sizeof *r->dims)) {
        return arn_no_memory(r->err);
    }
    for (uint32_t i = 0; i < shape.count; i++) {
        r->dims[i] = arn_fb_item_i32(fb, shape, i);
        if (r->dims[i] >= 0) continue;
        char what[112];
        snprintf(what, sizeof what, "dimension %" PRIu32 " is %" PRId64 "%s; it must be 0 or more",
                 i, r->dims[i], r->dims[i] == -1 ? ", a size known only at run time" : "");
        return bad_tensor(r, r->dims[i] == -1 ? ARENAUT_UNSUPPORTED : ARENAUT_BAD_INPUT,
                          shape.at + (size_t)i * 4, what);
    }
    tensor->dims = r->dims;
    tensor->rank = shape.count;
    const arn_fb_vector signature = arn_fb_vector_field(fb, table, TENSOR_SHAPE_SIGNATURE, 4);
    for (uint32_t i = 0; i < signature.count && i < shape.count; i++) {
        const bool batch_of_one = i == 0 && shape.count > 1 && r->dims[i] == 1;
        if (arn_fb_item_i32(fb, signature, i) >= 0 || batch_of_one) continue;
        r->n_dynamic++;
        break;
    }
    return ARENAUT_OK;
}

/* The place of the tensor's values. A large file keeps them behind the flatbuffer and gives their
 * place in the file instead. */
typedef struct value_place {
    bool constant;
    uint64_t at, size; /* bytes of the file; 0 of them if they are in no part of it */
} value_place;

static arenaut_status take_place(arn_tflite_reader *r, arn_fb_table table, value_place *place) {
    arn_flatbuffer *fb = &r->model.fb;
    const uint32_t buffer = arn_fb_u32(fb, table, TENSOR_BUFFER, 0);
    place->constant = arn_fb_u32(fb, table, TENSOR_EXTERNAL_BUFFER, 0) != 0;
    if (buffer == 0) return ARENAUT_OK;
    if (buffer >= r->model.buffers.count) {
        char what[80];
        snprintf(what, sizeof what, "buffer %" PRIu32 " does not exist; there are %" PRIu32, buffer,
                 r->model.buffers.count);
        return bad_tensor(r, ARENAUT_BAD_INPUT, table.at, what);
    }
    const arn_fb_table entry = arn_fb_item_table(fb, r->model.buffers, buffer);
    const arn_fb_vector data = arn_fb_vector_field(fb, entry, BUFFER_DATA, 1);
    const uint64_t offset = arn_fb_u64(fb, entry, BUFFER_OFFSET, 0);
    const uint64_t size = arn_fb_u64(fb, entry, BUFFER_SIZE, 0);
    const bool outside = offset > 1; /* 1 is a place holder that writers leave behind */
    if (outside && (offset > fb->size || size > fb->size - offset)) {
        char what[144];
        snprintf(what, sizeof what,
                 "buffer %" PRIu32 " lies at %" PRIu64 " with %" PRIu64
                 " bytes; the file ends at %zu",
                 buffer, offset, size, fb->size);
        return bad_tensor(r, ARENAUT_BAD_INPUT, entry.at, what);
    }
    place->at = data.count > 0 ? data.at : offset;
    place->size = data.count > 0 ? data.count : outside ? size : 0;
    if (place->size > 0) place->constant = true;
    return ARENAUT_OK;
}

/* Small whole numbers may be shapes, axes and paddings of operators. */
static arenaut_status take_values(arn_tflite_reader *r, const value_place *place,
                                  arenaut_tensor *tensor, int64_t values[MOST_VALUES]) {
    const unsigned width = tensor->dtype == ARENAUT_DTYPE_INT64 ? 8 : 4;
    const uint64_t n = place->size / width;
    const bool whole = tensor->dtype == ARENAUT_DTYPE_INT64 || tensor->dtype == ARENAUT_DTYPE_INT32;
    if (!whole || tensor->cls != ARENAUT_CONSTANT || n == 0 || n > MOST_VALUES) return ARENAUT_OK;
    if (tensor->bytes != place->size) return ARENAUT_OK;
    const uint8_t *bytes = r->model.fb.data + place->at;
    for (uint32_t i = 0; i < n; i++) {
        values[i] = arn_signed(arn_load(bytes + (size_t)i * width, width), width);
    }
    tensor->values = values;
    tensor->n_values = (uint32_t)n;
    return arn_tflite_charge(r, n, sizeof *values);
}

/* The bytes that the micro runtime sets aside. It gives elements of less than a byte one
 * each, unless they are packed in the file, and 4 bytes to a handle. */
static arenaut_status take_bytes(arn_tflite_reader *r, arn_fb_table table, arenaut_tensor *tensor) {
    arenaut_dtype sized = tensor->dtype;
    if (sized == ARENAUT_DTYPE_STRING || sized == ARENAUT_DTYPE_VARIANT) return ARENAUT_OK;
    if (sized == ARENAUT_DTYPE_RESOURCE) sized = ARENAUT_DTYPE_INT32;
    if (arenaut_dtype_bits(sized) < 8 && tensor->cls != ARENAUT_CONSTANT) {
        sized = ARENAUT_DTYPE_INT8;
    }
    arenaut_error why;
    const arenaut_status st =
        arenaut_dense_bytes(sized, tensor->dims, tensor->rank, &tensor->bytes, &why);
    return st == ARENAUT_OK ? st : bad_tensor(r, st, table.at, why.msg);
}

/* A tensor is quantized where both scales and zero points are stated. */
static void take_scales(arn_tflite_reader *r, arn_fb_table table, arenaut_tensor *tensor) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_table quantization = arn_fb_table_field(fb, table, TENSOR_QUANTIZATION);
    if (quantization.at == 0) return;
    const arn_fb_vector scales = arn_fb_vector_field(fb, quantization, QUANTIZATION_SCALE, 4);
    const arn_fb_vector zeros = arn_fb_vector_field(fb, quantization, QUANTIZATION_ZERO_POINT, 8);
    if (zeros.count > 0) tensor->n_scales = scales.count;
}

/* Along which axes no part of a constant can be stored, since its scales, and no others, can be
 * divided with it. Files there are that count the axis of these past the last. */
static uint8_t take_whole_axes(arn_tflite_reader *r, arn_fb_table table, const value_place *place,
                               const arenaut_tensor *tensor) {
    arn_flatbuffer *fb = &r->model.fb;
    if (tensor->cls != ARENAUT_CONSTANT) return 0;
    if (arn_fb_field(fb, table, TENSOR_SPARSITY, 4) != 0 || place->size != tensor->bytes) {
        return UINT8_MAX;
    }
    const arn_fb_table quantization = arn_fb_table_field(fb, table, TENSOR_QUANTIZATION);
    if (quantization.at == 0) return 0;
    const arn_fb_vector scale = arn_fb_vector_field(fb, quantization, QUANTIZATION_SCALE, 4);
    const arn_fb_vector zero = arn_fb_vector_field(fb, quantization, QUANTIZATION_ZERO_POINT, 8);
    const uint32_t axis = arn_fb_u32(fb, quantization, QUANTIZATION_DIMENSION, 0);
    if (scale.count <= 1 && zero.count <= 1) return 0;
    unsigned whole = UINT8_MAX;
    for (uint32_t i = 0; i < tensor->rank && i < 8; i++) {
        const bool along = axis == i || axis >= tensor->rank;
        const bool each =
            scale.count == tensor->dims[i] && (zero.count <= 1 || zero.count == tensor->dims[i]);
        const bool plain = arn_fb_u8(fb, quantization, QUANTIZATION_DETAILS_TYPE, 0) == 0;
        if (along && each && plain) whole &= ~(1u << i);
    }
    return (uint8_t)whole;
}

/* Whether all numbers of a constant are known, and finite: the bits of the exponent, of which the
 * file has the last ones first, are not all set. Only weights of convolutions matter, which have
 * four dimensions. */
static bool is_finite(const arn_tflite_reader *r, const value_place *place,
                      const arenaut_tensor *tensor) {
    const bool half = tensor->dtype == ARENAUT_DTYPE_FLOAT16;
    if (tensor->cls != ARENAUT_CONSTANT || tensor->rank != 4 || place->size == 0) return false;
    if (!half && tensor->dtype != ARENAUT_DTYPE_FLOAT32) return false;
    const size_t width = half ? 2 : 4;
    const unsigned high = half ? 0x7c : 0x7f, low = half ? 0 : 0x80;
    const uint8_t *bytes = r->model.fb.data + place->at;
    bool finite = place->size % width == 0;
    for (uint64_t at = 0; at + width <= place->size && finite; at += width) {
        const unsigned last = bytes[at + width - 1], before = bytes[at + width - 2];
        finite = (last & high) != high || (before & low) != low;
    }
    return finite;
}

/* The place in the file's plan. The runtime ignores places of constants and of tensors without
 * bytes. A negative offset other than -1 wraps to a huge one, so that the checker, not the reader,
 * has the last word on a bad plan. */
static void take_given(const arn_tflite_reader *r, arenaut_tensor *tensor, uint32_t id) {
    if (r->plan.data.at == 0 || tensor->cls == ARENAUT_CONSTANT || tensor->bytes == 0) return;
    const arn_fb_vector offsets = {r->plan.offsets, r->plan.n_offsets};
    const int32_t offset = arn_fb_item_i32(&r->model.fb, offsets, id);
    if (offset == -1) return;
    tensor->given_pool = 0;
    tensor->given_offset = (uint64_t)(int64_t)offset;
}

arenaut_status arn_tflite_read_tensor(arn_tflite_reader *r, arn_fb_table table, uint32_t index) {
    arenaut_tensor tensor = arenaut_tensor_default();
    tensor.method = r->subgraph;
    tensor.file_index = index;
    value_place place = {0};
    int64_t values[MOST_VALUES];
    r->name[0] = '\0';
    arenaut_status st = arn_tflite_charge(r, 1, TENSOR_COST);
    if (st == ARENAUT_OK) st = arn_tflite_text(r, table, TENSOR_NAME, &tensor.name);
    if (st == ARENAUT_OK) st = take_dtype(r, table, &tensor);
    if (st == ARENAUT_OK) st = take_dims(r, table, &tensor);
    if (st == ARENAUT_OK) st = take_place(r, table, &place);
    take_scales(r, table, &tensor);
    const bool variable = arn_fb_u8(&r->model.fb, table, TENSOR_IS_VARIABLE, 0) != 0;
    if (st == ARENAUT_OK) st = arn_tflite_status(r);
    if (st != ARENAUT_OK) return st;
    tensor.cls = variable         ? ARENAUT_STATE
                 : place.constant ? ARENAUT_CONSTANT
                                  : ARENAUT_INTERMEDIATE;
    st = take_bytes(r, table, &tensor);
    if (st == ARENAUT_OK) st = take_values(r, &place, &tensor, values);
    if (st != ARENAUT_OK) return st;
    tensor.whole_along = take_whole_axes(r, table, &place, &tensor);
    tensor.finite = is_finite(r, &place, &tensor);
    take_given(r, &tensor, r->first_tensor + index);
    return arenaut_program_add_tensor(r->program, &tensor, NULL, r->err);
}
