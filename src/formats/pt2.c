/* torch.export archives: a zip with weights, of which only models/model.json is looked at. It can
 * hold no plan, but a schedule of the nodes of its graphs, rematerialized nodes, and tiles. The
 * parts lie in pt2/. */
#include <string.h>

#include "core/fail.h"
#include "core/zip.h"
#include "formats/pt2/pt2.h"
#include "ir/program.h"

static const char model_path[] = "/models/model.json";

/* Everything lies in one folder that is called like the archive was. */
static bool is_model(const arn_zip_entry *entry) {
    const size_t length = sizeof model_path - 1;
    return entry->name_length > length &&
           memcmp(entry->name + entry->name_length - length, model_path, length) == 0 &&
           !memchr(entry->name, '/', entry->name_length - length);
}

/* `listed`: where the directory lists it. */
static arenaut_status find_model(const arn_zip *zip, arn_zip_entry *found, size_t *listed,
                                 bool *any, arenaut_error *err) {
    arn_zip_entry entry;
    *any = false;
    for (size_t at = zip->directory; at < zip->end;) {
        const size_t begin = at;
        const arenaut_status st = arn_zip_next(zip, &at, &entry, err);
        if (st != ARENAUT_OK) return st;
        if (!is_model(&entry)) continue;
        if (*any) {
            return arn_fail(err, ARENAUT_BAD_INPUT, at,
                            "zip archive: two entries are called models/model.json");
        }
        *found = entry;
        *listed = begin;
        *any = true;
    }
    return ARENAUT_OK;
}

static bool recognise(const uint8_t *data, size_t size) {
    arn_zip zip;
    arn_zip_entry entry;
    size_t listed;
    bool any;
    if (!arn_zip_begins(data, size)) return false;
    return arn_zip_open(data, size, &zip, NULL) == ARENAUT_OK &&
           find_model(&zip, &entry, &listed, &any, NULL) == ARENAUT_OK && any;
}

static arenaut_status read_document(const uint8_t *data, size_t size,
                                    const arenaut_read_options *options,
                                    const arenaut_allocator *allocator, arenaut_document *out,
                                    arenaut_error *err) {
    arn_zip zip;
    arn_zip_entry entry;
    const uint8_t *model;
    size_t listed;
    bool any = false;
    (void)options;
    arenaut_status st = arn_zip_open(data, size, &zip, err);
    if (st == ARENAUT_OK) st = find_model(&zip, &entry, &listed, &any, err);
    if (st == ARENAUT_OK && !any) {
        st = arn_fail(err, ARENAUT_BAD_INPUT, 0,
                      "zip archive: no models/model.json in it, so torch.export did not write it");
    }
    if (st == ARENAUT_OK) st = arn_zip_bytes(&zip, &entry, &model, err);
    if (st == ARENAUT_OK)
        st = arn_pt2_read(model, (size_t)entry.size, allocator, &out->program, err);
    if (st == ARENAUT_OK) {
        st = arn_pt2_read_first_values(&zip, &entry, out->program, allocator, err);
        if (st != ARENAUT_OK) {
            arn_program_free(out->program);
            out->program = NULL;
        }
    }
    return st;
}

static arenaut_status write_nodes(const arenaut_result *result, arenaut_sink sink,
                                  const arenaut_allocator *allocator, arenaut_error *err) {
    arn_zip zip;
    arn_zip_entry entry;
    size_t listed = 0;
    bool any = false;
    if (!result->rewrite) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "an exported graph holds an order of its nodes, rematerialized ones, and "
                        "tiles, but no plan: it stays as it is");
    }
    arenaut_status st = arn_zip_open(result->file, result->file_size, &zip, err);
    if (st == ARENAUT_OK) st = find_model(&zip, &entry, &listed, &any, err);
    if (st == ARENAUT_OK && !any) {
        st = arn_fail(err, ARENAUT_BAD_INPUT, 0, "zip archive: no models/model.json in it");
    }
    if (st != ARENAUT_OK) return st;
    return arn_pt2_write(&zip, &entry, listed, result->rewrite, sink, allocator, err);
}

extern const arenaut_format arn_format_pt2;
const arenaut_format arn_format_pt2 = {
    .name = "pt2",
    .summary =
        "torch.export archive; tiles, an order of its nodes, and rematerialized ones go inside",
    .extensions = ".pt2",
    .recognise = recognise,
    .read = read_document,
    .write = write_nodes,
    .needs_original = true,
    .holds_order = true,
    .holds_orders = true,
    .holds_repeats = true,
    .holds_tiles = true,
};
