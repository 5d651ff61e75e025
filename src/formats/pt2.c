/* torch.export archives: a zip with weights, of which only models/model.json is looked at.
 * The parts lie in pt2/. */
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/zip.h"
#include "formats/pt2/pt2.h"

static const char model_path[] = "/models/model.json";

/* Everything lies in one folder that is called like the archive was. */
static bool is_model(const arn_zip_entry *entry) {
    const size_t length = sizeof model_path - 1;
    return entry->name_length > length &&
           memcmp(entry->name + entry->name_length - length, model_path, length) == 0 &&
           !memchr(entry->name, '/', entry->name_length - length);
}

static arenaut_status find_model(const arn_zip *zip, arn_zip_entry *found, bool *any,
                                 arenaut_error *err) {
    arn_zip_entry entry;
    *any = false;
    for (size_t at = zip->directory; at < zip->end;) {
        const arenaut_status st = arn_zip_next(zip, &at, &entry, err);
        if (st != ARENAUT_OK) return st;
        if (!is_model(&entry)) continue;
        if (*any) {
            return arn_fail(err, ARENAUT_BAD_INPUT, at,
                            "zip archive: two entries are called models/model.json");
        }
        *found = entry;
        *any = true;
    }
    return ARENAUT_OK;
}

static bool recognise(const uint8_t *data, size_t size) {
    arn_zip zip;
    arn_zip_entry entry;
    bool any;
    if (!arn_zip_begins(data, size)) return false;
    return arn_zip_open(data, size, &zip, NULL) == ARENAUT_OK &&
           find_model(&zip, &entry, &any, NULL) == ARENAUT_OK && any;
}

/* What other versions of the schema say is not known here. */
static void check_version(arn_pt2 *r) {
    enum { OLDEST = 5, NEWEST = 8 };
    uint64_t major = 0;
    const uint32_t version = arn_pt2_need(r, 0, "schema_version");
    const uint32_t number = arn_pt2_need(r, version, "major");
    if (!arn_pt2_fine(r)) return;
    if (arn_json_to_u64(&r->json.json, number, &major) && major >= OLDEST && major <= NEWEST)
        return;
    arn_json_fail(&r->json, number, ARENAUT_UNSUPPORTED,
                  "the export schema is not of a version from %d to %d", OLDEST, NEWEST);
}

static void read_model(arn_pt2 *r) {
    check_version(r);
    if (arn_pt2_fine(r)) arn_pt2_read_ranges(r, arn_pt2_get(r, 0, "range_constraints"));
    if (arn_pt2_fine(r)) arn_pt2_read_graphs(r, arn_pt2_need(r, 0, "graph_module"));
    if (arn_pt2_fine(r)) {
        r->json.status = arenaut_program_set_dialect(r->program, "aten", r->json.err);
    }
    if (arn_pt2_fine(r)) r->json.status = arenaut_program_validate(r->program, r->json.err);
}

static arenaut_status read_json(const uint8_t *data, size_t size,
                                const arenaut_allocator *allocator, arenaut_document *out,
                                arenaut_error *err) {
    arn_pt2 r = {.program = NULL};
    arn_region_init(&r.names, allocator);
    arn_json_reader_open(&r.json, data, size, allocator, err);
    if (arn_pt2_fine(&r)) r.json.status = arenaut_program_new(allocator, &r.program, err);
    if (arn_pt2_fine(&r)) read_model(&r);
    const arenaut_status st = r.json.status;
    if (st == ARENAUT_OK) {
        out->program = r.program;
    } else {
        arenaut_program_free(r.program);
    }
    arn_release(allocator, r.inputs.ids);
    arn_release(allocator, r.outputs.ids);
    arn_release(allocator, r.dims);
    arn_release(allocator, r.strides);
    arn_release(allocator, r.exprs);
    arn_release(allocator, r.text);
    arn_region_free(&r.names);
    arn_json_reader_free(&r.json);
    return st;
}

static arenaut_status read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                           const arenaut_allocator *allocator, arenaut_document *out,
                           arenaut_error *err) {
    arn_zip zip;
    arn_zip_entry entry;
    const uint8_t *model;
    bool any = false;
    (void)options;
    arenaut_status st = arn_zip_open(data, size, &zip, err);
    if (st == ARENAUT_OK) st = find_model(&zip, &entry, &any, err);
    if (st == ARENAUT_OK && !any) {
        st = arn_fail(err, ARENAUT_BAD_INPUT, 0,
                      "zip archive: no models/model.json in it, so torch.export did not write it");
    }
    if (st == ARENAUT_OK) st = arn_zip_bytes(&zip, &entry, &model, err);
    if (st == ARENAUT_OK) st = read_json(model, (size_t)entry.size, allocator, out, err);
    if (st == ARENAUT_OK) {
        st = arn_pt2_read_first_values(&zip, &entry, out->program, allocator, err);
        if (st != ARENAUT_OK) {
            arenaut_program_free(out->program);
            out->program = NULL;
        }
    }
    return st;
}

extern const arenaut_format arn_format_pt2;
const arenaut_format arn_format_pt2 = {
    .name = "pt2",
    .summary = "torch.export archive; of its bytes only the graph is read",
    .extensions = ".pt2",
    .recognise = recognise,
    .read = read,
};
