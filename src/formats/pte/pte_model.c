/* The base of the .pte reader: the extended header, the outermost table, and common functions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "formats/pte/pte.h"
#include "formats/pte/pte_reader.h"
#include "formats/pte/pte_schema.h"

static uint64_t number_at(const uint8_t *data, size_t size, size_t at, unsigned width) {
    arn_cursor cursor = arn_cursor_at(data, size, at);
    return arn_take(&cursor, width);
}

/* The end of the program and the begin of its segments. Without a header the program is the whole
 * file. */
static arenaut_status read_header(const uint8_t *data, size_t size, arn_pte_model *model,
                                  uint64_t *program_size, arenaut_error *err) {
    const size_t file_size = model->file_size;
    *program_size = size;
    model->segment_base = 0;
    model->has_header =
        size >= PTE_HEADER_LENGTH && memcmp(data + PTE_HEADER_AT, PTE_HEADER_MAGIC, 4) == 0;
    if (!model->has_header) return ARENAUT_OK;
    const uint64_t length = number_at(data, size, PTE_HEADER_LENGTH, 4);
    if (length < PTE_HEADER_MIN_LENGTH || length > size - PTE_HEADER_AT) {
        return arn_fail(err, ARENAUT_BAD_INPUT, PTE_HEADER_LENGTH,
                        "extended header: a length of %" PRIu64
                        " bytes; it must be at least %d and end inside the file of %zu bytes",
                        length, PTE_HEADER_MIN_LENGTH, file_size);
    }
    *program_size = number_at(data, size, PTE_HEADER_PROGRAM_SIZE, 8);
    model->segment_base = number_at(data, size, PTE_HEADER_SEGMENT_BASE, 8);
    if (*program_size < PTE_HEADER_AT + length || *program_size > size) {
        return arn_fail(err, ARENAUT_BAD_INPUT, PTE_HEADER_PROGRAM_SIZE,
                        "extended header: a program of %" PRIu64
                        " bytes; the file has %zu, and the header alone %" PRIu64,
                        *program_size, file_size, PTE_HEADER_AT + length);
    }
    const uint64_t base = model->segment_base;
    if (base != 0 && (base < *program_size || base > file_size)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, PTE_HEADER_SEGMENT_BASE,
                        "extended header: segments begin at byte %" PRIu64
                        "; they must lie behind the program of %" PRIu64 " bytes, in a file of %zu",
                        base, *program_size, file_size);
    }
    if (length < PTE_HEADER_SEGMENT_SIZE_LENGTH) return ARENAUT_OK;
    const uint64_t behind = number_at(data, size, PTE_HEADER_SEGMENT_SIZE, 8);
    if (behind > file_size - base) {
        return arn_fail(err, ARENAUT_BAD_INPUT, PTE_HEADER_SEGMENT_SIZE,
                        "extended header: %" PRIu64 " bytes of segments from byte %" PRIu64
                        "; the file ends at %zu",
                        behind, base, file_size);
    }
    return ARENAUT_OK;
}

/* Segments are never read, but one that ends outside the file is a sign of a broken file. Exporters
 * leave an empty one, in a file without a place for any, if all data is kept elsewhere. */
static arenaut_status check_segments(arn_pte_model *model, arenaut_error *err) {
    arn_flatbuffer *fb = &model->fb;
    const arn_fb_vector segments = arn_fb_vector_field(fb, model->root, PROGRAM_SEGMENTS, 4);
    const uint64_t room = model->segment_base ? model->file_size - model->segment_base : 0;
    for (uint32_t i = 0; i < segments.count; i++) {
        const arn_fb_table segment = arn_fb_item_table(fb, segments, i);
        const uint64_t offset = arn_fb_u64(fb, segment, SEGMENT_OFFSET, 0);
        const uint64_t size = arn_fb_u64(fb, segment, SEGMENT_SIZE, 0);
        if (fb->wrong) break;
        if (size == 0 || (offset <= room && size <= room - offset)) continue;
        return arn_fail(err, ARENAUT_BAD_INPUT, segment.at,
                        "segment %" PRIu32 ": %" PRIu64 " bytes from byte %" PRIu64
                        " of the segments; the file has room for %" PRIu64,
                        i, size, offset, room);
    }
    return arn_fb_status(fb, "program", err);
}

arenaut_status arn_pte_open(const uint8_t *data, size_t size, size_t file_size,
                            arn_pte_model *model, arenaut_error *err) {
    if (!arn_fb_identified(data, size, PTE_IDENTIFIER)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, size >= 8 ? 4 : 0,
                        "not a .pte file that can be read: bytes 4 to 7 must be '%s' (the file "
                        "has %zu bytes)",
                        PTE_IDENTIFIER, file_size);
    }
    uint64_t program_size;
    model->file_size = file_size;
    arenaut_status st = read_header(data, size, model, &program_size, err);
    if (st != ARENAUT_OK) return st;
    model->fb = arn_fb_open(data, (size_t)program_size);
    arn_flatbuffer *fb = &model->fb;
    model->root = arn_fb_root(fb);
    model->plans = arn_fb_vector_field(fb, model->root, PROGRAM_EXECUTION_PLAN, 4);
    const uint32_t version = arn_fb_u32(fb, model->root, PROGRAM_VERSION, 0);
    if (fb->wrong) return arn_fb_status(fb, "program", err);
    if (version != PTE_VERSION) {
        return arn_fail(err, ARENAUT_UNSUPPORTED, model->root.at,
                        "program: schema version %" PRIu32 "; only version %d is supported",
                        version, PTE_VERSION);
    }
    if (model->plans.count == 0) {
        return arn_fail(err, ARENAUT_BAD_INPUT, model->root.at,
                        "program: 0 methods; at least one is needed");
    }
    return check_segments(model, err);
}

static bool is_letter(uint8_t byte, char letter) {
    return byte == (uint8_t)letter || byte == (uint8_t)(letter - 'a' + 'A');
}

/* Exporters look for the name in any case, anywhere in a delegate's. */
static bool contains_xnnpack(const uint8_t *text, size_t size) {
    static const char name[] = "xnnpack";
    enum { LENGTH = sizeof name - 1 };
    for (size_t i = 0; i + LENGTH <= size; i++) {
        size_t same = 0;
        while (same < LENGTH && is_letter(text[i + same], name[same])) same++;
        if (same == LENGTH) return true;
    }
    return false;
}

bool arn_pte_has_xnnpack(arn_pte_model *model, arn_fb_table plan) {
    arn_flatbuffer *fb = &model->fb;
    const arn_fb_vector delegates = arn_fb_vector_field(fb, plan, PLAN_DELEGATES, 4);
    for (uint32_t i = 0; i < delegates.count; i++) {
        const arn_fb_table delegate = arn_fb_item_table(fb, delegates, i);
        const arn_fb_vector id = arn_fb_vector_field(fb, delegate, DELEGATE_ID, 1);
        if (contains_xnnpack(fb->data + id.at, id.count)) return true;
    }
    return false;
}

/* Common functions of the .pte reader: the place for messages, the allowance, texts, and the values
 * that lists and instructions name. Each costs what it copies. pte_read.c is the walk. */

static const char *pte_place(const arn_pte_reader *r, char store[ARN_PTE_PLACE_SIZE]) {
    if (r->method == ARENAUT_NONE) return "program";
    const char *name =
        r->method < r->program->n_methods ? r->program->methods[r->method].name : NULL;
    const int used = name ? snprintf(store, ARN_PTE_PLACE_SIZE, "method '%.60s'", name)
                          : snprintf(store, ARN_PTE_PLACE_SIZE, "method %" PRIu32, r->method);
    if (r->object && used > 0) {
        snprintf(store + used, ARN_PTE_PLACE_SIZE - (size_t)used, ": %s %" PRIu32, r->object,
                 r->object_index);
    }
    return store;
}

void arn_pte_now(arn_pte_reader *r, const char *object, uint32_t index) {
    r->object = object;
    r->object_index = index;
}

arenaut_status arn_pte_status(const arn_pte_reader *r) {
    char store[ARN_PTE_PLACE_SIZE];
    return r->model.fb.wrong ? arn_fb_status(&r->model.fb, pte_place(r, store), r->err)
                             : ARENAUT_OK;
}

arenaut_status arn_pte_bad(const arn_pte_reader *r, arenaut_status code, size_t at,
                           const char *what) {
    char store[ARN_PTE_PLACE_SIZE];
    return arn_fail(r->err, code, at, "%s: %s", pte_place(r, store), what);
}

arenaut_status arn_pte_charge(arn_pte_reader *r, uint64_t count, uint64_t cost) {
    if (arn_allowance_take(&r->allowance, count, cost)) return ARENAUT_OK;
    char store[ARN_PTE_PLACE_SIZE];
    return arn_allowance_spent(&r->allowance, pte_place(r, store),
                               "parts of the file are used so often that it", r->err);
}

arenaut_status arn_pte_text(arn_pte_reader *r, arn_fb_table table, unsigned slot, char *store) {
    const arn_fb_vector bytes = arn_fb_vector_field(&r->model.fb, table, slot, 1);
    store[0] = '\0';
    if (bytes.count == 0) return ARENAUT_OK;
    const size_t length = arn_fb_copy_text(&r->model.fb, bytes, ARN_PTE_NAME_LIMIT, store);
    return arn_pte_charge(r, 1, length + 32);
}

arn_pte_value *arn_pte_value_at(arn_pte_reader *r, int32_t index, size_t at, const char *what) {
    if (index >= 0 && (uint32_t)index < r->n_values) return &r->values[index];
    char store[ARN_PTE_PLACE_SIZE];
    arn_fail(r->err, ARENAUT_BAD_INPUT, at,
             "%s: %s is value %" PRId32 "; the method has %" PRIu32 " values", pte_place(r, store),
             what, index, r->n_values);
    return NULL;
}

arenaut_status arn_pte_push(arn_pte_reader *r, arn_id_list *to, uint32_t id) {
    if (!arn_id_list_push(to, r->allocator, id)) return arn_no_memory(r->err);
    return arn_pte_charge(r, 1, 3 * sizeof *to->ids);
}

/* Only lists of optional tensors have items that are left out or none. */
static arenaut_status append_item(arn_pte_reader *r, int32_t index, size_t at, bool optional,
                                  arn_id_list *to) {
    if (optional && index == -1) return arn_pte_push(r, to, ARENAUT_NONE);
    const arn_pte_value *item = arn_pte_value_at(r, index, at, "an item of a list");
    if (!item) return ARENAUT_BAD_INPUT;
    if (item->type == PTE_TENSOR || (optional && item->type == PTE_NULL)) {
        return arn_pte_push(r, to, item->tensor);
    }
    return arn_pte_bad(r, ARENAUT_BAD_INPUT, at, "an item of a list of tensors is no tensor");
}

arenaut_status arn_pte_append(arn_pte_reader *r, const arn_pte_value *value, arn_id_list *to) {
    if (value->type != PTE_TENSOR_LIST && value->type != PTE_OPTIONAL_TENSOR_LIST) {
        return arn_pte_push(r, to, value->tensor);
    }
    const bool optional = value->type == PTE_OPTIONAL_TENSOR_LIST;
    const arn_fb_vector items = arn_fb_vector_field(&r->model.fb, value->table, LIST_ITEMS, 4);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < items.count && st == ARENAUT_OK; i++) {
        const int32_t index = arn_fb_item_i32(&r->model.fb, items, i);
        st = append_item(r, index, items.at + (size_t)i * 4, optional, to);
    }
    return st;
}
