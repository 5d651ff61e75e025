/* Tensors of a .pte file: type, shape and strides of one, whether it has values, its place, and
 * the alignment that all of them were given. */
#include <inttypes.h>
#include <stdio.h>

#include "core/checked.h"
#include "core/cursor.h"
#include "core/fail.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/sort.h"
#include "formats/pte/pte_reader.h"
#include "formats/pte/pte_schema.h"

/* The charge for one: the array that holds them doubles as it grows. */
enum { TENSOR_COST = 2 * sizeof(arenaut_tensor) };

/* By number of the scalar type; NONE if the runtime has no such type. Types that the runtime keeps
 * one to a byte are so here, with any number of bits. */
enum { NONE = ARENAUT_DTYPE_COUNT };
static const uint8_t dtypes[] = {ARENAUT_DTYPE_UINT8,
                                 ARENAUT_DTYPE_INT8,
                                 ARENAUT_DTYPE_INT16,
                                 ARENAUT_DTYPE_INT32,
                                 ARENAUT_DTYPE_INT64,
                                 ARENAUT_DTYPE_FLOAT16,
                                 ARENAUT_DTYPE_FLOAT32,
                                 ARENAUT_DTYPE_FLOAT64,
                                 NONE,
                                 ARENAUT_DTYPE_COMPLEX64,
                                 ARENAUT_DTYPE_COMPLEX128,
                                 ARENAUT_DTYPE_BOOL,
                                 ARENAUT_DTYPE_INT8,
                                 ARENAUT_DTYPE_UINT8,
                                 ARENAUT_DTYPE_INT32,
                                 ARENAUT_DTYPE_BFLOAT16,
                                 ARENAUT_DTYPE_UINT8,
                                 ARENAUT_DTYPE_UINT8,
                                 NONE,
                                 NONE,
                                 NONE,
                                 NONE,
                                 ARENAUT_DTYPE_UINT16,
                                 ARENAUT_DTYPE_FLOAT8,
                                 ARENAUT_DTYPE_FLOAT8,
                                 ARENAUT_DTYPE_FLOAT8,
                                 ARENAUT_DTYPE_FLOAT8,
                                 ARENAUT_DTYPE_UINT16,
                                 ARENAUT_DTYPE_UINT32,
                                 ARENAUT_DTYPE_UINT64};

static arenaut_status take_dtype(arn_pte_reader *r, arn_fb_table table, arenaut_tensor *tensor) {
    const int8_t type = arn_fb_i8(&r->model.fb, table, TENSOR_SCALAR_TYPE, 0);
    if (type >= 0 && (size_t)type < sizeof dtypes && dtypes[type] != NONE) {
        tensor->dtype = (arenaut_dtype)dtypes[type];
        return ARENAUT_OK;
    }
    char what[80];
    snprintf(what, sizeof what, "element type %d is not known", type);
    return arn_pte_bad(r, ARENAUT_UNSUPPORTED, table.at, what);
}

/* If the shape may change, the file states its upper bound. */
static arenaut_status take_shape(arn_pte_reader *r, arn_fb_table table, arenaut_tensor *tensor) {
    arn_flatbuffer *fb = &r->model.fb;
    const int8_t dynamism = arn_fb_i8(fb, table, TENSOR_DYNAMISM, PTE_STATIC);
    if (dynamism == PTE_DYNAMIC_UNBOUND) {
        return arn_pte_bad(r, ARENAUT_UNSUPPORTED, table.at,
                           "a tensor whose shape has no upper bound, which can be given no place "
                           "before the program runs");
    }
    if (dynamism != PTE_STATIC && dynamism != PTE_DYNAMIC_BOUND) {
        char what[80];
        snprintf(what, sizeof what, "a shape of kind %d is not known; 0 to %d are", dynamism,
                 PTE_DYNAMIC_UNBOUND);
        return arn_pte_bad(r, ARENAUT_UNSUPPORTED, table.at, what);
    }
    tensor->dynamic = dynamism == PTE_DYNAMIC_BOUND;
    if (tensor->dynamic) r->n_dynamic++;
    const arn_fb_vector sizes = arn_fb_vector_field(fb, table, TENSOR_SIZES, 4);
    const arenaut_status st = arn_pte_charge(r, sizes.count, 2 * sizeof *r->dims);
    if (st != ARENAUT_OK) return st;
    if (!arn_grow(r->allocator, (void **)&r->dims, &r->dims_capacity, sizes.count,
                  sizeof *r->dims)) {
        return arn_no_memory(r->err);
    }
    for (uint32_t i = 0; i < sizes.count; i++) r->dims[i] = arn_fb_item_i32(fb, sizes, i);
    tensor->dims = r->dims;
    tensor->rank = sizes.count;
    arenaut_error why;
    const arenaut_status dense =
        arenaut_dense_bytes(tensor->dtype, tensor->dims, tensor->rank, &tensor->bytes, &why);
    return dense == ARENAUT_OK ? dense : arn_pte_bad(r, dense, table.at, why.msg);
}

/* The order in which dimensions lie in memory, outermost first, as strides; left out where it
 * is that of the shape. */
static arenaut_status take_layout(arn_pte_reader *r, arn_fb_table table, arenaut_tensor *tensor) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector order = arn_fb_vector_field(fb, table, TENSOR_DIM_ORDER, 1);
    arenaut_status st = arn_pte_status(r);
    if (st != ARENAUT_OK || order.count == 0) return st;
    if (!arn_grow(r->allocator, (void **)&r->strides, &r->strides_capacity, tensor->rank,
                  sizeof *r->strides)) {
        return arn_no_memory(r->err);
    }
    bool ordinary = true, sound = order.count == tensor->rank;
    uint64_t stride = 1; /* of one that is dense, it stays below its bytes */
    for (uint32_t i = 0; i < tensor->rank; i++) r->strides[i] = -1;
    for (uint32_t i = tensor->rank; i-- > 0 && sound;) {
        const uint32_t dim = fb->data[order.at + i];
        sound = dim < tensor->rank && r->strides[dim] == -1;
        if (!sound) break;
        r->strides[dim] = (int64_t)stride;
        stride *= (uint64_t)tensor->dims[dim];
        ordinary = ordinary && dim == i;
    }
    if (!sound) {
        return arn_pte_bad(r, ARENAUT_BAD_INPUT, order.at,
                           "the order of its dimensions does not name each of them once");
    }
    if (!ordinary) tensor->strides = r->strides;
    return ordinary ? ARENAUT_OK : arn_pte_charge(r, tensor->rank, 2 * sizeof *r->strides);
}

/* A number that leads to data which is not read must lead somewhere all the same. */
static arenaut_status check_data(arn_pte_reader *r, arn_fb_table table, uint32_t buffer,
                                 uint64_t segment, bool planned) {
    uint32_t count = r->n_constants;
    if (planned && segment < r->mutable_segments.count) {
        const arn_fb_table entry =
            arn_fb_item_table(&r->model.fb, r->mutable_segments, (uint32_t)segment);
        count = arn_fb_vector_field(&r->model.fb, entry, SUBSEGMENT_OFFSETS, 8).count;
    } else if (planned) {
        count = 0;
    }
    if (buffer < count) return arn_pte_status(r);
    char what[120];
    snprintf(what, sizeof what, "its %s are number %" PRIu32 "; there are %" PRIu32,
             planned ? "initial values" : "constant data", buffer, count);
    return arn_pte_bad(r, ARENAUT_BAD_INPUT, table.at, what);
}

/* Bytes hashed over all tensors, for each of the file: real files have a state once per method. */
enum { HASHED_PER_BYTE = 64 };

/* A fingerprint of the bytes that a state begins with, by which two of one name are told apart; 0
 * if they are not in the file, or not at hand. */
static uint64_t first_value(arn_pte_reader *r, uint32_t buffer, uint64_t segment, uint64_t bytes) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector segments = arn_fb_vector_field(fb, r->model.root, PROGRAM_SEGMENTS, 4);
    const arn_fb_table entry = arn_fb_item_table(fb, r->mutable_segments, (uint32_t)segment);
    const arn_fb_vector offsets = arn_fb_vector_field(fb, entry, SUBSEGMENT_OFFSETS, 8);
    const uint32_t number = arn_fb_u32(fb, entry, SUBSEGMENT_SEGMENT, 0);
    if (fb->wrong || number >= segments.count ||
        r->n_hashed > r->size * (uint64_t)HASHED_PER_BYTE) {
        return 0;
    }
    uint64_t at = arn_load(fb->data + offsets.at + 8 * (size_t)buffer, 8), end;
    const uint64_t from =
        arn_fb_u64(fb, arn_fb_item_table(fb, segments, number), SEGMENT_OFFSET, 0);
    const bool inside = arn_add(at, from, &at) && arn_add(at, r->model.segment_base, &at) &&
                        arn_add(at, bytes, &end) && end <= r->size;
    if (!inside || bytes == 0) return 0;
    r->n_hashed += bytes;
    const uint64_t hash = arn_hash_bytes(ARN_HASH_START, r->data + (size_t)at, (size_t)bytes);
    return hash ? hash : 1;
}

/* Its place in the file. */
static arenaut_status take_place(arn_pte_reader *r, arn_fb_table allocation,
                                 arenaut_tensor *tensor) {
    arn_flatbuffer *fb = &r->model.fb;
    const uint32_t id = arn_fb_u32(fb, allocation, ALLOCATION_MEMORY_ID, 0);
    const uint64_t low = arn_fb_u32(fb, allocation, ALLOCATION_OFFSET_LOW, 0);
    const uint64_t high = arn_fb_u32(fb, allocation, ALLOCATION_OFFSET_HIGH, 0);
    uint64_t end;
    char what[120];
    if (id < 1 || id > r->n_pools) {
        snprintf(what, sizeof what,
                 "it lies in memory %" PRIu32 "; the method has %" PRIu32 ", counted from 1", id,
                 r->n_pools);
        return arn_pte_bad(r, ARENAUT_BAD_INPUT, allocation.at, what);
    }
    tensor->given_pool = id - 1;
    tensor->given_offset = low | high << 32;
    if (!arn_add(tensor->given_offset, tensor->bytes, &end)) {
        snprintf(what, sizeof what, "%" PRIu64 " bytes at offset %" PRIu64 " end past 2^63 - 1",
                 tensor->bytes, tensor->given_offset);
        return arn_pte_bad(r, ARENAUT_BAD_INPUT, allocation.at, what);
    }
    /* Its memory is what counts: an exporter may leave tensors that are marked for another
     * device in the host's. */
    tensor->device = r->pools[id - 1].device;
    return ARENAUT_OK;
}

/* The role of the tensor: with values or without, placed or not. Values that come from outside have
 * the number of no data in this file. */
static arenaut_status take_role(arn_pte_reader *r, arn_fb_table table, arn_fb_table extra,
                                arenaut_tensor *tensor) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_table allocation = arn_fb_table_field(fb, table, TENSOR_ALLOCATION);
    const bool planned = allocation.at != 0;
    const bool external = arn_fb_u8(fb, extra, EXTRA_LOCATION, PTE_IN_SEGMENT) == PTE_EXTERNAL;
    const uint32_t buffer = arn_fb_u32(fb, table, TENSOR_DATA_BUFFER, 0);
    const uint64_t segment = arn_fb_u64(fb, extra, EXTRA_MUTABLE_SEGMENT, 0);
    const int8_t device = arn_fb_i8(fb, extra, EXTRA_DEVICE_TYPE, 0);
    const int8_t device_index = arn_fb_i8(fb, extra, EXTRA_DEVICE_INDEX, 0);
    arenaut_status st = arn_pte_status(r);
    if (st == ARENAUT_OK && !external && buffer > 0) {
        st = check_data(r, table, buffer, segment, planned);
    }
    if (st != ARENAUT_OK) return st;
    if (device < 0 || device_index < 0) {
        return arn_pte_bad(r, ARENAUT_BAD_INPUT, extra.at, "its device has a negative number");
    }
    tensor->device.type = (uint16_t)device;
    tensor->device.index = (uint16_t)device_index;
    const bool has_values = external || buffer > 0;
    if (!planned) {
        tensor->cls = has_values ? ARENAUT_CONSTANT : ARENAUT_INTERMEDIATE;
        tensor->caller_owned = !has_values;
        return ARENAUT_OK;
    }
    /* A tensor with a name of its own outlives a call, as do initial values. */
    tensor->qualified_name = tensor->name;
    tensor->cls = has_values || tensor->name ? ARENAUT_STATE : ARENAUT_INTERMEDIATE;
    if (!external && buffer > 0)
        tensor->first_value = first_value(r, buffer, segment, tensor->bytes);
    return take_place(r, allocation, tensor);
}

arenaut_status arn_pte_read_tensor(arn_pte_reader *r, uint32_t index) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_table table = r->values[index].table;
    arenaut_tensor tensor = arenaut_tensor_default();
    tensor.method = r->method;
    tensor.file_index = index;
    const arn_fb_table extra = arn_fb_table_field(fb, table, TENSOR_EXTRA);
    arenaut_status st = arn_pte_charge(r, 1, TENSOR_COST);
    if (st == ARENAUT_OK) st = arn_pte_text(r, extra, EXTRA_QUALIFIED_NAME, r->name);
    if (st == ARENAUT_OK) st = arn_pte_status(r);
    if (st == ARENAUT_OK) st = take_dtype(r, table, &tensor);
    if (st == ARENAUT_OK) st = take_shape(r, table, &tensor);
    if (st == ARENAUT_OK) st = take_layout(r, table, &tensor);
    if (st != ARENAUT_OK) return st;
    if (arn_fb_i32(fb, table, TENSOR_STORAGE_OFFSET, 0) != 0) {
        return arn_pte_bad(r, ARENAUT_UNSUPPORTED, table.at,
                           "it begins inside its storage, which no runtime supports");
    }
    if (r->name[0]) tensor.name = r->name;
    st = take_role(r, table, extra, &tensor);
    if (st == ARENAUT_OK) st = arn_pte_status(r);
    if (st != ARENAUT_OK) return st;
    char numbered[16];
    snprintf(numbered, sizeof numbered, "v%" PRIu32, index);
    if (!tensor.name) tensor.name = numbered;
    return arenaut_program_add_tensor(r->program, &tensor, &r->values[index].tensor, r->err);
}

/* Inference of the alignment that an exporter gave a method's tensors. The file does not state it,
 * but exporters round sizes up to it, and that shows: bytes between one tensor and the next that
 * nothing ever uses. If there are such, and all offsets have a larger common power of two than the
 * runtime needs, it is not by chance. Without them it may well be (a few large tensors are enough),
 * and to keep to it would cost memory. */

enum {
    GRAIN = 16, /* of the runtime: no smaller alignment counts, and no gap */
    LIMIT = 4096,
};

static bool lies_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_tensor *tensors = context;
    if (tensors[a].given_pool != tensors[b].given_pool) {
        return tensors[a].given_pool < tensors[b].given_pool;
    }
    return tensors[a].given_offset < tensors[b].given_offset;
}

/* The alignment of the tensors `ids` of one memory, in order; 0: the target's. */
static uint64_t alignment_of(const arenaut_tensor *tensors, const uint32_t *ids, uint32_t n) {
    uint64_t bits = LIMIT, top = 0, largest_gap = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t at = tensors[ids[i]].given_offset;
        uint64_t end;
        if (!arn_align_up(at + tensors[ids[i]].bytes, GRAIN, &end)) return 0;
        bits |= at;
        if (at > top) largest_gap = arn_max_u64(largest_gap, at - top);
        top = arn_max_u64(top, end);
    }
    const uint64_t align = bits & (~bits + 1);
    return align > GRAIN && largest_gap > 0 && largest_gap < align ? align : 0;
}

arenaut_status arn_pte_find_alignment(arn_pte_reader *r, uint32_t first_tensor) {
    arenaut_tensor *tensors = r->program->tensors;
    const uint32_t n_tensors = r->program->n_tensors - first_tensor;
    arenaut_status st = arn_pte_charge(r, n_tensors, 2 * sizeof(uint32_t));
    if (st != ARENAUT_OK) return st;
    uint32_t *ids = arn_allocate(r->allocator, n_tensors, 2 * sizeof *ids);
    if (!ids) return arn_no_memory(r->err);
    uint32_t n = 0;
    for (uint32_t t = first_tensor; t < r->program->n_tensors; t++) {
        if (tensors[t].given_pool != ARENAUT_NONE) ids[n++] = t;
    }
    arn_sort_ids(ids, n, lies_before, tensors, ids + n_tensors);
    for (uint32_t from = 0, to = 0; from < n; from = to) {
        const uint32_t pool = tensors[ids[from]].given_pool;
        while (to < n && tensors[ids[to]].given_pool == pool) to++;
        const uint64_t align = alignment_of(tensors, ids + from, to - from);
        for (uint32_t i = from; i < to; i++) tensors[ids[i]].align = align;
    }
    arn_release(r->allocator, ids);
    return ARENAUT_OK;
}
