/* Fingerprints of the first values of buffers, which tell two of them apart: the archive's
 * directory has a sum of each entry, so no weight is read. One pass over the directory. */
#include <string.h>

#include "core/fail.h"
#include "formats/pt2/pt2.h"

/* Names looked at, over all buffers: a bound on time. Real archives take a thousandth. */
enum { MAX_LOOKS = 1 << 24 };

typedef struct archive {
    const arn_zip *zip;
    const char *folder; /* in which everything lies, with its slash */
    size_t folder_length;
    arn_json config; /* names of the model to names of files */
    uint32_t names;  /* the object */
    uint64_t looks;
} archive;

static bool find_entry(archive *a, const char *path, const char *name, size_t length,
                       arn_zip_entry *found) {
    const size_t n = strlen(path);
    arn_zip_entry e;
    for (size_t at = a->zip->directory; at < a->zip->end && a->looks < MAX_LOOKS; a->looks++) {
        if (arn_zip_next(a->zip, &at, &e, NULL) != ARENAUT_OK) return false;
        if (e.name_length != a->folder_length + n + length) continue;
        if (memcmp(e.name, a->folder, a->folder_length) != 0) continue;
        if (memcmp(e.name + a->folder_length, path, n) != 0) continue;
        if (memcmp(e.name + a->folder_length + n, name, length) != 0) continue;
        *found = e;
        return true;
    }
    return false;
}

/* 0: unknown. Else the checksum and the length of its bytes. */
static uint64_t first_value(archive *a, const char *name) {
    char file[128];
    arn_zip_entry entry;
    if (a->looks >= MAX_LOOKS) return 0;
    a->looks += arn_json_count(&a->config, a->names);
    const uint32_t value = arn_json_get(&a->config, a->names, name);
    const uint32_t path =
        value == ARN_JSON_NONE ? value : arn_json_get(&a->config, value, "path_name");
    if (path == ARN_JSON_NONE || arn_json_type_of(&a->config, path) != ARN_JSON_STRING) return 0;
    const uint32_t at = a->config.nodes[path].at;
    if (arn_json_raw_length(&a->config, at) > sizeof file) return 0;
    const size_t length = arn_json_decode(&a->config, at, file);
    if (!find_entry(a, "data/weights/", file, length, &entry)) return 0;
    return (uint64_t)entry.crc << 32 | (entry.size & 0x7FFFFFFF) << 1 | 1;
}

static void read_values(archive *a, arenaut_program *program) {
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        arenaut_tensor *tensor = &program->tensors[t];
        if (tensor->cls != ARENAUT_STATE || !tensor->qualified_name) continue;
        tensor->first_value = first_value(a, tensor->qualified_name);
    }
}

arenaut_status arn_pt2_read_first_values(const arn_zip *zip, const arn_zip_entry *model,
                                         arenaut_program *program,
                                         const arenaut_allocator *allocator, arenaut_error *err) {
    static const char config[] = "model_weights_config.json";
    arn_zip_entry entry;
    const uint8_t *bytes;
    const char *slash = memchr(model->name, '/', model->name_length);
    archive a = {.zip = zip, .folder = model->name};
    a.folder_length = (size_t)(slash - model->name) + 1;
    if (!find_entry(&a, "data/weights/", config, sizeof config - 1, &entry)) return ARENAUT_OK;
    if (arn_zip_bytes(zip, &entry, &bytes, NULL) != ARENAUT_OK) return ARENAUT_OK;
    const arenaut_status st = arn_json_parse(bytes, (size_t)entry.size, allocator, &a.config, NULL);
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(err);
    if (st != ARENAUT_OK) return ARENAUT_OK;
    a.names = arn_json_get(&a.config, 0, "config");
    if (a.names != ARN_JSON_NONE) read_values(&a, program);
    arn_json_free(&a.config);
    return ARENAUT_OK;
}
