/* Writer of a new root in front of a model. A flatbuffer's offsets lead forward only, so an old
 * file cannot be given a new root behind it. It can be given one in front: a Model table whose
 * fields lead to the old file's parts, which stay as they are, byte for byte. Only the list of
 * buffers and the list of metadata are written anew, each with two entries more, and the graph if
 * it was rewritten. */

#include <string.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "core/hash.h"
#include "formats/tflite/tflite_schema.h"
#include "formats/tflite/tflite_write.h"

/* The zip archive behind a model: found by its end record, held to be one only if its
 * directory's entries fill exactly the bytes up to that. Moving it changes one number an entry. */

enum {
    END_SIZE = 22, /* the end record without its comment */
    END_ENTRIES_AT = 10,
    END_DIRECTORY_SIZE_AT = 12,
    END_DIRECTORY_AT = 16,
    END_COMMENT_AT = 20,
    ENTRY_SIZE = 46, /* a directory entry without its name, extra field and comment */
    ENTRY_LENGTHS_AT = 28,
    ENTRY_PLACE_AT = 42,
    LOCATOR_SIZE = 20, /* in front of the end record, where 64-bit records are in use */
};

/* The end record whose comment reaches exactly to the end of the file; `size` if none. */
static size_t find_end(const uint8_t *data, size_t size) {
    for (size_t comment = 0; comment <= UINT16_MAX && size >= END_SIZE + comment; comment++) {
        const uint8_t *end = data + size - END_SIZE - comment;
        if (memcmp(end, "PK\5\6", 4) == 0 && arn_load(end + END_COMMENT_AT, 2) == comment) {
            return size - END_SIZE - comment;
        }
    }
    return size;
}

static size_t entry_size(const uint8_t *entry) {
    const uint8_t *lengths =
        entry + ENTRY_LENGTHS_AT; /* of the name, the extra field, the comment */
    return ENTRY_SIZE +
           (size_t)(arn_load(lengths, 2) + arn_load(lengths + 2, 2) + arn_load(lengths + 4, 2));
}

/* Whether the directory's entries fill exactly the bytes up to the end record. Anything
 * else is chance, or an archive whose places do not count from the file's start. */
static bool directory_fits(const uint8_t *data, const arn_tflite_zip_tail *zip) {
    size_t at = zip->directory;
    for (uint32_t i = 0; i < zip->entries; i++) {
        if (zip->end - at < ENTRY_SIZE || memcmp(data + at, "PK\1\2", 4) != 0) return false;
        const size_t size = entry_size(data + at);
        if (size > zip->end - at) return false;
        at += size;
    }
    return at == zip->end;
}

arn_tflite_zip_tail arn_tflite_zip_find(const uint8_t *data, size_t size) {
    const arn_tflite_zip_tail none = {size, size, 0, false};
    const size_t end = find_end(data, size);
    if (end == size) return none;
    arn_tflite_zip_tail zip = {(size_t)arn_load(data + end + END_DIRECTORY_AT, 4), end,
                               (uint32_t)arn_load(data + end + END_ENTRIES_AT, 2), false};
    if (end >= LOCATOR_SIZE && memcmp(data + end - LOCATOR_SIZE, "PK\6\7", 4) == 0) {
        zip.directory = end;
        zip.large = true;
        return zip;
    }
    const uint64_t directory_size = arn_load(data + end + END_DIRECTORY_SIZE_AT, 4);
    if (zip.directory + directory_size != end || !directory_fits(data, &zip)) return none;
    return zip;
}

void arn_tflite_zip_move(uint8_t *tail, const arn_tflite_zip_tail *zip, uint32_t delta) {
    size_t at = 0;
    for (uint32_t i = 0; i < zip->entries; i++) {
        arn_store_u32(tail + at + ENTRY_PLACE_AT,
                      (uint32_t)arn_load(tail + at + ENTRY_PLACE_AT, 4) + delta);
        at += entry_size(tail + at);
    }
    arn_store_u32(tail + at + END_DIRECTORY_AT,
                  (uint32_t)arn_load(tail + at + END_DIRECTORY_AT, 4) + delta);
}

/* ---- the new root ---- */

enum {
    /* Alignments of the old file are kept, up to a cache line. */
    PREFIX_ALIGN = 64,
    DATA_ALIGN = 16,
    MODEL_SLOTS = 10,
};

/* An entry of the metadata: a name, and so many bytes. */
typedef struct entry {
    const char *name;
    size_t size;
    size_t data; /* where they are to be, once that is known */
} entry;

static bool is_replaced(arn_tflite_model *model, uint32_t index) {
    return arn_tflite_metadata_is(model, index, ARN_TFLITE_PLAN_NAME) ||
           arn_tflite_metadata_is(model, index, ARN_TFLITE_MARK_NAME);
}

/* Slots that are always written anew. */
static uint32_t slots_anew(const arenaut_rewrite *rewrite) {
    const uint32_t graph = ARN_FB_SLOT(MODEL_OPERATOR_CODES) | ARN_FB_SLOT(MODEL_SUBGRAPHS);
    return ARN_FB_SLOT(MODEL_VERSION) | ARN_FB_SLOT(MODEL_BUFFERS) | ARN_FB_SLOT(MODEL_METADATA) |
           (rewrite ? graph : 0);
}

/* A root that shares all the rest with the old one. */
static arn_fb_new_table add_root(arn_fb_prefix *prefix, arn_tflite_model *model, uint32_t anew) {
    uint32_t present = anew;
    for (unsigned slot = 0; slot < MODEL_SLOTS; slot++) {
        if (arn_fb_field(&model->fb, model->root, slot, 4) != 0) present |= ARN_FB_SLOT(slot);
    }
    const arn_fb_new_table root = arn_fb_add_table(prefix, present);
    arn_fb_lead(prefix, 0, root.at);
    arn_fb_set(prefix, arn_fb_slot(root, MODEL_VERSION), TFLITE_VERSION);
    for (unsigned slot = 0; slot < MODEL_SLOTS; slot++) {
        if (!((present & ~anew) >> slot & 1)) continue;
        const arn_fb_vector old = arn_fb_vector_field(&model->fb, model->root, slot, 1);
        arn_fb_lead_behind(prefix, arn_fb_slot(root, slot), old.at - 4);
    }
    return root;
}

/* The old vector's tables, with room for `more` behind them. */
static size_t add_buffers(arn_fb_prefix *prefix, arn_tflite_model *model, uint32_t more) {
    const size_t vector = arn_fb_add_vector(prefix, (size_t)model->buffers.count + more, 4, 4);
    for (uint32_t i = 0; i < model->buffers.count; i++) {
        const arn_fb_table old = arn_fb_item_table(&model->fb, model->buffers, i);
        arn_fb_lead_behind(prefix, arn_fb_element(vector, i), old.at);
    }
    return vector;
}

static size_t add_metadata(arn_fb_prefix *prefix, arn_tflite_model *model, uint32_t more,
                           uint32_t *first) {
    *first = 0;
    for (uint32_t i = 0; i < model->metadata.count; i++) *first += !is_replaced(model, i);
    const size_t vector = arn_fb_add_vector(prefix, (size_t)*first + more, 4, 4);
    for (uint32_t i = 0, at = 0; i < model->metadata.count; i++) {
        if (is_replaced(model, i)) continue;
        const arn_fb_table old = arn_fb_item_table(&model->fb, model->metadata, i);
        arn_fb_lead_behind(prefix, arn_fb_element(vector, at++), old.at);
    }
    return vector;
}

/* An entry's Metadata and Buffer tables, linked from their vectors, with room for the contents. */
static void add_entry(arn_fb_prefix *prefix, size_t from_metadata, size_t from_buffers,
                      uint32_t buffer, entry *e) {
    const arn_fb_new_table table =
        arn_fb_add_table(prefix, ARN_FB_SLOT(METADATA_NAME) | ARN_FB_SLOT(METADATA_BUFFER));
    arn_fb_lead(prefix, from_metadata, table.at);
    arn_fb_set(prefix, arn_fb_slot(table, METADATA_BUFFER), buffer);
    arn_fb_lead(prefix, arn_fb_slot(table, METADATA_NAME), arn_fb_add_text(prefix, e->name));
    const arn_fb_new_table holder = arn_fb_add_table(prefix, ARN_FB_SLOT(BUFFER_DATA));
    arn_fb_lead(prefix, from_buffers, holder.at);
    const size_t vector = arn_fb_add_vector(prefix, e->size, 1, DATA_ALIGN);
    arn_fb_lead(prefix, arn_fb_slot(holder, BUFFER_DATA), vector);
    e->data = vector + 4;
}

/* Fields that a later schema may have added cannot be carried over: whether they hold a
 * number or an offset, which would have to change, is not known. */
static arenaut_status check_fields(arn_tflite_model *model, arenaut_error *err) {
    for (unsigned slot = MODEL_SLOTS; 4 + 2 * slot < model->root.vtable_size; slot++) {
        if (arn_fb_field(&model->fb, model->root, slot, 1) == 0) continue;
        return arn_fail(err, ARENAUT_REFUSED, model->root.at,
                        "model: field %u is not known (fields 0 to %d are), so the model cannot "
                        "be given a plan",
                        slot, MODEL_SLOTS - 1);
    }
    if (model->buffers.count > 0) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, model->root.at,
                    "model: 0 buffers; the empty buffer 0 is needed to add a plan");
}

/* Last of all, for its checksum. That is of no archive behind, which moves. */
static void fill_mark(const arn_tflite_model *model, arn_tflite_mark *mark, arn_fb_prefix *prefix,
                      size_t at) {
    uint8_t bytes[ARN_TFLITE_MARK_SIZE];
    mark->checksum = 0;
    arn_tflite_store_mark(mark, bytes);
    arn_fb_fill(prefix, at, bytes, sizeof bytes);
    uint64_t hash = arn_hash_bytes(ARN_HASH_START, prefix->bytes, prefix->size);
    hash = arn_hash_bytes(hash, model->fb.data,
                          arn_tflite_zip_find(model->fb.data, model->fb.size).directory);
    mark->checksum = arn_tflite_checksum(hash);
    arn_tflite_store_mark(mark, bytes);
    arn_fb_fill(prefix, at, bytes, sizeof bytes);
}

arenaut_status arn_tflite_make_prefix(arn_tflite_model *model, const arn_tflite_new_graph *graph,
                                      const uint8_t *plan, size_t plan_size, arn_tflite_mark *mark,
                                      arn_fb_prefix *prefix, arenaut_error *err) {
    entry entries[] = {{ARN_TFLITE_PLAN_NAME, plan_size, 0},
                       {ARN_TFLITE_MARK_NAME, ARN_TFLITE_MARK_SIZE, 0}};
    const uint32_t n_entries = sizeof entries / sizeof *entries;
    arenaut_status st = check_fields(model, err);
    if (st != ARENAUT_OK) return st;
    const arenaut_rewrite *rewrite = graph->rewrite;
    const arn_fb_new_table root = add_root(prefix, model, slots_anew(rewrite));
    const uint32_t n_added = rewrite ? arn_tflite_added_buffers(rewrite) : 0;
    uint32_t n_kept;
    const size_t buffers = add_buffers(prefix, model, n_added + n_entries);
    const size_t metadata = add_metadata(prefix, model, n_entries, &n_kept);
    arn_fb_lead(prefix, arn_fb_slot(root, MODEL_BUFFERS), buffers);
    arn_fb_lead(prefix, arn_fb_slot(root, MODEL_METADATA), metadata);
    for (uint32_t i = 0; i < n_entries; i++) {
        const uint32_t buffer = model->buffers.count + n_added + i;
        add_entry(prefix, arn_fb_element(metadata, n_kept + i), arn_fb_element(buffers, buffer),
                  buffer, &entries[i]);
    }
    if (rewrite) {
        st = arn_tflite_add_rewritten(prefix, model, graph->before, rewrite, root, buffers, err);
    }
    if (model->fb.wrong) return arn_fb_status(&model->fb, "model", err);
    if (st == ARENAUT_OK) st = arn_fb_prefix_finish(prefix, PREFIX_ALIGN, model->fb.size, err);
    if (st != ARENAUT_OK) return st;
    mark->original_size = model->fb.size - mark->prefix_size;
    mark->prefix_size += prefix->size;
    arn_fb_fill(prefix, entries[0].data, plan, plan_size);
    fill_mark(model, mark, prefix, entries[1].data);
    return ARENAUT_OK;
}
