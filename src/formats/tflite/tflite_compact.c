/* Copying collector of a model: parts of the file that only an older root named, and the bytes of
 * buffers that no tensor has any more, are left out (as Cheney 1970). Tables are copied as they
 * lie, with any fields; only references from one object to another must be known, so they stand in
 * a table, and an unknown one is refused. */

#include "core/cursor.h"
#include "core/fail.h"
#include "core/flatbuffer.h"
#include "core/memory.h"
#include "core/writer.h"
#include "formats/tflite/tflite.h"
#include "formats/tflite/tflite_schema.h"
#include "formats/tflite/tflite_write.h"
#include "ir/program.h"

/* Kinds of tables; a kind of options is OPTIONS_FROM and its number in the union. */
enum {
    MODEL,
    CODE,
    GRAPH,
    TENSOR,
    QUANTIZATION,
    CUSTOM_QUANTIZATION,
    BLOCKWISE,
    SPARSITY,
    DIMENSION,
    NUMBERS_32,
    NUMBERS_16,
    NUMBERS_8,
    OPERATOR,
    BUFFER,
    METADATA,
    SIGNATURE,
    TENSOR_MAP,
    VARIANT,
    OPTIONS_FROM,
};

/* Fields of each that are known. */
static const uint8_t known_slots[OPTIONS_FROM] = {8, 4, 6, 11, 7, 1, 3, 3, 6,
                                                  1, 1, 1, 14, 3, 2, 5, 2, 3};

/* The same for options. */
static const uint8_t known_options[] = {
    0, 7, 7, 3, 1, 6, 3, 2, 5, 1, 2, 2, 1, 4, 5, 4, 1, 1, 3, 1, 1, 1, 0, 2, 0, 0, 0, 1, 2, 1, 1, 3,
    6, 0, 0, 1, 0, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 5, 1, 0, 0, 0, 0, 1, 0, 1, 4, 2, 0, 1, 0, 0,
    2, 0, 0, 0, 0, 6, 4, 6, 0, 0, 2, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 2, 1, 0,
    0, 0, 0, 0, 0, 3, 2, 1, 0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

typedef enum leads_to { NUMBERS, TEXT, TABLE, TABLES, UNION } leads_to;

/* A field that leads to another object: `of` is the width of numbers, the kind of tables, and of a
 * union the kind before that of its type 1; the type stands in the slot before. */
typedef struct field_row {
    uint8_t kind, slot, leads_to, of, n_types;
} field_row;

static const field_row fields[] = {
    {MODEL, MODEL_OPERATOR_CODES, TABLES, CODE, 0},
    {MODEL, MODEL_SUBGRAPHS, TABLES, GRAPH, 0},
    {MODEL, MODEL_DESCRIPTION, TEXT, 1, 0},
    {MODEL, MODEL_BUFFERS, TABLES, BUFFER, 0},
    {MODEL, MODEL_METADATA_BUFFER, NUMBERS, 4, 0},
    {MODEL, MODEL_METADATA, TABLES, METADATA, 0},
    {MODEL, MODEL_SIGNATURES, TABLES, SIGNATURE, 0},
    {CODE, CODE_CUSTOM, TEXT, 1, 0},
    {GRAPH, SUBGRAPH_TENSORS, TABLES, TENSOR, 0},
    {GRAPH, SUBGRAPH_INPUTS, NUMBERS, 4, 0},
    {GRAPH, SUBGRAPH_OUTPUTS, NUMBERS, 4, 0},
    {GRAPH, SUBGRAPH_OPERATORS, TABLES, OPERATOR, 0},
    {GRAPH, SUBGRAPH_NAME, TEXT, 1, 0},
    {TENSOR, TENSOR_SHAPE, NUMBERS, 4, 0},
    {TENSOR, TENSOR_NAME, TEXT, 1, 0},
    {TENSOR, TENSOR_QUANTIZATION, TABLE, QUANTIZATION, 0},
    {TENSOR, TENSOR_SPARSITY, TABLE, SPARSITY, 0},
    {TENSOR, TENSOR_SHAPE_SIGNATURE, NUMBERS, 4, 0},
    {TENSOR, TENSOR_VARIANTS, TABLES, VARIANT, 0},
    {VARIANT, 0, NUMBERS, 4, 0},
    {QUANTIZATION, 0, NUMBERS, 4, 0},
    {QUANTIZATION, 1, NUMBERS, 4, 0},
    {QUANTIZATION, QUANTIZATION_SCALE, NUMBERS, 4, 0},
    {QUANTIZATION, QUANTIZATION_ZERO_POINT, NUMBERS, 8, 0},
    {QUANTIZATION, QUANTIZATION_DETAILS_TYPE + 1, UNION, CUSTOM_QUANTIZATION - 1, 2},
    {CUSTOM_QUANTIZATION, 0, NUMBERS, 1, 0},
    {SPARSITY, 0, NUMBERS, 4, 0},
    {SPARSITY, 1, NUMBERS, 4, 0},
    {SPARSITY, 2, TABLES, DIMENSION, 0},
    {DIMENSION, 3, UNION, NUMBERS_32 - 1, 3},
    {DIMENSION, 5, UNION, NUMBERS_32 - 1, 3},
    {NUMBERS_32, 0, NUMBERS, 4, 0},
    {NUMBERS_16, 0, NUMBERS, 2, 0},
    {NUMBERS_8, 0, NUMBERS, 1, 0},
    {OPERATOR, OPERATOR_INPUTS, NUMBERS, 4, 0},
    {OPERATOR, OPERATOR_OUTPUTS, NUMBERS, 4, 0},
    {OPERATOR, OPERATOR_OPTIONS_TYPE + 1, UNION, OPTIONS_FROM, sizeof known_options - 1},
    {OPERATOR, OPERATOR_CUSTOM_OPTIONS, NUMBERS, 1, 0},
    {OPERATOR, OPERATOR_MUTATING, NUMBERS, 1, 0},
    {OPERATOR, OPERATOR_INTERMEDIATES, NUMBERS, 4, 0},
    {OPERATOR, OPERATOR_OPTIONS_2_TYPE + 1, UNION, 0, 0},
    {BUFFER, BUFFER_DATA, NUMBERS, 1, 0},
    {METADATA, METADATA_NAME, TEXT, 1, 0},
    {SIGNATURE, 0, TABLES, TENSOR_MAP, 0},
    {SIGNATURE, 1, TABLES, TENSOR_MAP, 0},
    {SIGNATURE, 2, TEXT, 1, 0},
    {TENSOR_MAP, 0, TEXT, 1, 0},
    {OPTIONS_FROM + OPTIONS_RESHAPE, 0, NUMBERS, 4, 0},
    {OPTIONS_FROM + OPTIONS_SQUEEZE, 0, NUMBERS, 4, 0},
    {OPTIONS_FROM + OPTIONS_VAR_HANDLE, 0, TEXT, 1, 0},
    {OPTIONS_FROM + OPTIONS_VAR_HANDLE, 1, TEXT, 1, 0},
    {OPTIONS_FROM + OPTIONS_BUCKETIZE, 0, NUMBERS, 4, 0},
};

static const field_row table_row = {0, 0, TABLE, 0, 0}; /* of the elements of a vector */

/* The place of an object of the old file in the new one. */
typedef struct moved {
    uint64_t key; /* 0: a free place */
    size_t to;
} moved;

/* A field or an element of the new file that shall lead to an object of the old one. */
typedef struct pending {
    size_t from;
    const field_row *row;
    arn_fb_table table;   /* TABLE, */
    arn_fb_vector vector; /* or any other; `kind` is that of its tables */
    unsigned kind;
} pending;

/* Objects are queued, so that all that lead to an object are copied before it: offsets lead forward
 * only. An object that comes before one that leads to it is copied again. */
typedef struct copier {
    arn_tflite_model *model;
    arn_fb_prefix out;
    pending *line;
    uint32_t first, end, capacity;
    moved *places;
    uint32_t n_places, room; /* a power of two, twice as many at least; 0: none yet */
    uint8_t *used;           /* per buffer */
    const arenaut_allocator *allocator;
    arenaut_error *err;
} copier;

/* ---- copied objects ---- */

static moved *find_place(const copier *c, uint64_t key) {
    uint32_t at = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (c->room - 1);
    while (c->places[at].key != 0 && c->places[at].key != key) at = (at + 1) & (c->room - 1);
    return &c->places[at];
}

static arenaut_status make_room(copier *c) {
    const copier old = *c;
    if (2 * (uint64_t)c->n_places + 2 <= c->room) return ARENAUT_OK;
    if (c->room > UINT32_MAX / 4) return arn_no_memory(c->err);
    c->room = c->room ? 2 * c->room : 256;
    c->places = arn_allocate_zeroed(c->allocator, c->room, sizeof *c->places);
    if (!c->places) {
        c->places = old.places;
        return arn_no_memory(c->err);
    }
    for (uint32_t i = 0; i < old.room; i++) {
        if (old.places[i].key != 0) *find_place(c, old.places[i].key) = old.places[i];
    }
    arn_release(c->allocator, old.places);
    return ARENAUT_OK;
}

/* Positions are never 0: there is the root offset. */
static uint64_t key_of(size_t at, unsigned kind) { return (uint64_t)at << 9 | kind; }
enum { KIND_VTABLE = 256, KIND_VECTOR = 257, KIND_TABLES = 320 };

static bool is_copied(const copier *c, uint64_t key, size_t *to) {
    if (c->room == 0) return false;
    const moved *place = find_place(c, key);
    *to = place->to;
    return place->key != 0;
}

static arenaut_status remember(copier *c, uint64_t key, size_t to) {
    const arenaut_status st = make_room(c);
    if (st != ARENAUT_OK) return st;
    moved *place = find_place(c, key);
    c->n_places += place->key == 0;
    *place = (moved){key, to};
    return ARENAUT_OK;
}

static arenaut_status enqueue(copier *c, const pending *next) {
    if (!arn_grow(c->allocator, (void **)&c->line, &c->capacity, (uint64_t)c->end + 1,
                  sizeof *c->line)) {
        return arn_no_memory(c->err);
    }
    c->line[c->end++] = *next;
    return ARENAUT_OK;
}

/* ---- objects ---- */

static const char ends_elsewhere[] =
    "the file cannot be made compact: tables in it do not end where they say";

/* A file whose parts lie over one another could be told to become any size. */
static arenaut_status check_growth(const copier *c) {
    if (c->out.failed == ARENAUT_NO_MEMORY) return arn_no_memory(c->err);
    if (!c->out.failed && c->out.size <= 2 * (uint64_t)c->model->fb.size) return ARENAUT_OK;
    return arn_fail(c->err, ARENAUT_REFUSED, 0,
                    "parts of the file lie over one another; it cannot be made compact");
}

static size_t copy_numbers(copier *c, const pending *p) {
    const unsigned width = p->row->of;
    const size_t align = p->row->kind == BUFFER ? 16 : width;
    const size_t to = arn_fb_add_vector(&c->out, p->vector.count, width, align);
    arn_fb_fill(&c->out, to + 4, c->model->fb.data + p->vector.at, (size_t)p->vector.count * width);
    if (p->row->leads_to == TEXT) arn_fb_add_bytes(&c->out, 1, 1, 0);
    return to;
}

static unsigned slots_of(unsigned kind) {
    return kind < OPTIONS_FROM ? known_slots[kind] : known_options[kind - OPTIONS_FROM];
}

static arenaut_status check_known(copier *c, arn_fb_table table, unsigned kind) {
    for (unsigned slot = slots_of(kind); 4 + 2 * slot < table.vtable_size; slot++) {
        if (arn_fb_field(&c->model->fb, table, slot, 1) == 0) continue;
        return arn_fail(c->err, ARENAUT_REFUSED, table.at,
                        "a table has a field %u, which is not known; the file cannot be made "
                        "compact",
                        slot);
    }
    return ARENAUT_OK;
}

static size_t bytes_of(const copier *c, arn_fb_table table) {
    return (size_t)arn_load(c->model->fb.data + table.vtable + 2, 2);
}

/* The table as it lies, at the same distance from a multiple of 8, and its vtable. */
static arenaut_status copy_bytes(copier *c, arn_fb_table table, size_t *to) {
    const uint8_t *data = c->model->fb.data;
    const size_t size = bytes_of(c, table);
    const uint64_t key = key_of(table.vtable, KIND_VTABLE);
    size_t vtable = 0;
    arenaut_status st = ARENAUT_OK;
    if (size < 4 || size > c->model->fb.size - table.at) {
        return arn_fail(c->err, ARENAUT_REFUSED, table.at, "%s", ends_elsewhere);
    }
    if (!is_copied(c, key, &vtable)) {
        vtable = arn_fb_add_bytes(&c->out, table.vtable_size, 2, 0);
        arn_fb_fill(&c->out, vtable, data + table.vtable, table.vtable_size);
        st = remember(c, key, vtable);
    }
    *to = arn_fb_add_bytes(&c->out, size, 8, table.at % 8);
    arn_fb_fill(&c->out, *to, data + table.at, size);
    arn_fb_set(&c->out, *to, (uint32_t)(*to - vtable));
    return st;
}

static bool is_dead(const copier *c, unsigned kind, uint32_t index) {
    return kind == BUFFER && index > 0 && !c->used[index];
}

/* Buffers keep their numbers: unreferenced ones are one that is empty. */
static arenaut_status copy_tables(copier *c, const pending *p, size_t *to) {
    arenaut_status st = ARENAUT_OK;
    size_t empty = 0;
    *to = arn_fb_add_vector(&c->out, p->vector.count, 4, 4);
    for (uint32_t i = 0; i < p->vector.count && st == ARENAUT_OK; i++) {
        const size_t from = arn_fb_element(*to, i);
        if (!is_dead(c, p->kind, i)) {
            const arn_fb_table item = arn_fb_item_table(&c->model->fb, p->vector, i);
            const pending next = {from, &table_row, item, {0, 0}, p->kind};
            st = enqueue(c, &next);
            continue;
        }
        if (empty == 0) empty = arn_fb_add_table(&c->out, 0).at;
        arn_fb_lead(&c->out, from, empty);
    }
    return st;
}

static arenaut_status find_kind(copier *c, arn_fb_table table, const field_row *row,
                                unsigned *kind) {
    const unsigned type = arn_fb_u8(&c->model->fb, table, row->slot - 1u, 0);
    *kind = row->of + type;
    if (type > 0 && type <= row->n_types) return ARENAUT_OK;
    return arn_fail(c->err, ARENAUT_REFUSED, table.at,
                    "a table has options of type %u, which are not known; the file cannot be "
                    "made compact",
                    type);
}

static arenaut_status copy_field(copier *c, arn_fb_table table, const field_row *row, size_t from) {
    arn_flatbuffer *fb = &c->model->fb;
    pending next = {from, row, {0, 0, 0}, {0, 0}, row->of};
    arenaut_status st = ARENAUT_OK;
    switch ((leads_to)row->leads_to) {
        case NUMBERS:
        case TEXT: next.vector = arn_fb_vector_field(fb, table, row->slot, row->of); break;
        case TABLES: next.vector = arn_fb_vector_field(fb, table, row->slot, 4); break;
        case UNION:
            st = find_kind(c, table, row, &next.kind);
            next.table = arn_fb_table_field(fb, table, row->slot);
            break;
        case TABLE: next.table = arn_fb_table_field(fb, table, row->slot); break;
    }
    if (st == ARENAUT_OK) st = arn_fb_status(fb, "model", c->err);
    return st == ARENAUT_OK ? enqueue(c, &next) : st;
}

static arenaut_status copy_table(copier *c, arn_fb_table table, unsigned kind, size_t *to) {
    arenaut_status st = check_known(c, table, kind);
    if (st == ARENAUT_OK) st = copy_bytes(c, table, to);
    for (size_t i = 0; i < sizeof fields / sizeof *fields && st == ARENAUT_OK; i++) {
        if (fields[i].kind != kind) continue;
        const size_t at = arn_fb_field(&c->model->fb, table, fields[i].slot, 4);
        if (at == 0) continue;
        if (at + 4 - table.at > bytes_of(c, table)) {
            return arn_fail(c->err, ARENAUT_REFUSED, table.at, "%s", ends_elsewhere);
        }
        st = copy_field(c, table, &fields[i], *to + (at - table.at));
    }
    return st;
}

static arenaut_status copy_pending(copier *c, const pending *p) {
    const leads_to what = p->row->leads_to;
    const bool table = what == TABLE || what == UNION;
    const uint64_t key = table            ? key_of(p->table.at, p->kind)
                         : what == TABLES ? key_of(p->vector.at, KIND_TABLES + p->kind)
                                          : key_of(p->vector.at, KIND_VECTOR + p->row->of);
    arenaut_status st = arn_fb_status(&c->model->fb, "model", c->err);
    size_t to = 0;
    if (st != ARENAUT_OK) return st;
    if (!is_copied(c, key, &to) || to <= p->from) {
        if (table) st = copy_table(c, p->table, p->kind, &to);
        else if (what == TABLES) st = copy_tables(c, p, &to);
        else to = copy_numbers(c, p);
        if (st == ARENAUT_OK) st = check_growth(c);
        if (st == ARENAUT_OK) st = remember(c, key, to);
    }
    if (st == ARENAUT_OK) arn_fb_lead(&c->out, p->from, to);
    return st;
}

/* ---- the model ---- */

static void mark_used(copier *c, uint32_t buffer) {
    if (buffer < c->model->buffers.count) c->used[buffer] = 1;
}

static void find_used(copier *c) {
    arn_flatbuffer *fb = &c->model->fb;
    const arn_fb_vector of_metadata =
        arn_fb_vector_field(fb, c->model->root, MODEL_METADATA_BUFFER, 4);
    for (uint32_t i = 0; i < of_metadata.count; i++) {
        mark_used(c, arn_fb_item_u32(fb, of_metadata, i));
    }
    for (uint32_t i = 0; i < c->model->metadata.count; i++) {
        mark_used(c,
                  arn_fb_u32(fb, arn_fb_item_table(fb, c->model->metadata, i), METADATA_BUFFER, 0));
    }
    for (uint32_t s = 0; s < c->model->subgraphs.count; s++) {
        const arn_fb_table graph = arn_fb_item_table(fb, c->model->subgraphs, s);
        const arn_fb_vector tensors = arn_fb_vector_field(fb, graph, SUBGRAPH_TENSORS, 4);
        for (uint32_t t = 0; t < tensors.count; t++) {
            mark_used(c, arn_fb_u32(fb, arn_fb_item_table(fb, tensors, t), TENSOR_BUFFER, 0));
        }
    }
}

/* Data about the original file behind a prefix are void now. */
static void forget_original(copier *c, const arn_tflite_plan *plan) {
    uint8_t bytes[ARN_TFLITE_MARK_SIZE];
    size_t at;
    if (!is_copied(c, key_of(plan->mark_data.at, KIND_VECTOR + 1), &at)) return;
    arn_tflite_mark mark = plan->mark;
    mark.prefix_size = mark.original_size = 0;
    mark.archive_moved = false;
    mark.checksum = 0;
    arn_tflite_store_mark(&mark, bytes);
    if (plan->mark_data.count == sizeof bytes) arn_fb_fill(&c->out, at + 4, bytes, sizeof bytes);
}

static arenaut_status copy_model(copier *c, const arn_tflite_plan *plan) {
    const pending root = {0, &table_row, c->model->root, {0, 0}, MODEL};
    c->used = arn_allocate_zeroed(c->allocator, c->model->buffers.count, 1);
    if (!c->used) return arn_no_memory(c->err);
    find_used(c);
    arenaut_status st = enqueue(c, &root);
    while (st == ARENAUT_OK && c->first < c->end) {
        const pending next = c->line[c->first++];
        st = copy_pending(c, &next);
    }
    if (st != ARENAUT_OK) return st;
    forget_original(c, plan);
    return arn_fb_prefix_finish(&c->out, 4, 0, c->err);
}

static arenaut_status fingerprint_of(const uint8_t *data, size_t size,
                                     const arenaut_allocator *allocator, uint64_t *fingerprint,
                                     arenaut_error *err) {
    arenaut_program *program = NULL;
    const arenaut_status st = arn_tflite_read(data, size, NULL, allocator, &program, err);
    if (st == ARENAUT_OK) *fingerprint = arn_program_fingerprint(program);
    arn_program_free(program);
    return st;
}

/* A file whose tables reach past their own ends reads otherwise when it is copied. */
static arenaut_status check_copy(const copier *c) {
    uint64_t before = 0, after = 0;
    const arn_flatbuffer *fb = &c->model->fb;
    arenaut_error why = {0};
    arenaut_status st = fingerprint_of(fb->data, fb->size, c->allocator, &before, c->err);
    if (st != ARENAUT_OK) return st;
    st = fingerprint_of(c->out.bytes, c->out.size, c->allocator, &after, &why);
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(c->err);
    if (st == ARENAUT_OK && before == after) return ARENAUT_OK;
    return arn_fail(c->err, ARENAUT_REFUSED, 0, "%s", ends_elsewhere);
}

arenaut_status arn_tflite_compact(const uint8_t *data, size_t size, arenaut_sink sink,
                                  const arenaut_allocator *allocator, arenaut_error *err) {
    arn_tflite_model model;
    arn_tflite_plan plan;
    uint64_t n_tensors;
    arenaut_status st = arn_tflite_open(data, size, &model, err);
    if (st == ARENAUT_OK) st = arn_tflite_check_movable(&model, err);
    if (st == ARENAUT_OK) st = arn_tflite_count_tensors(&model, &n_tensors, err);
    if (st == ARENAUT_OK) st = arn_tflite_find_plan(&model, n_tensors, &plan, err);
    if (st != ARENAUT_OK) return st;
    if (arn_tflite_zip_find(data, size).directory != size) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "an archive follows the model; the file cannot be made compact");
    }
    copier c = {.model = &model,
                .out = arn_fb_prefix_begin(TFLITE_IDENTIFIER, allocator),
                .allocator = allocator,
                .err = err};
    st = copy_model(&c, &plan);
    if (st == ARENAUT_OK) st = check_copy(&c);
    if (st == ARENAUT_OK) {
        arn_writer writer = arn_writer_to(sink);
        arn_put(&writer, c.out.bytes, c.out.size);
        st = arn_writer_finish(&writer, err);
    }
    arn_fb_prefix_free(&c.out);
    ARN_RELEASE(allocator, c.line, c.places, c.used);
    return st;
}
