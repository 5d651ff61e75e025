/* The table of formats, and the reader of a file of any format: the first row that recognises the
 * bytes takes them. A limit on memory is kept by an allocator that counts what it gives. */
#include <arenaut/format.h>

#include <inttypes.h>
#include <stdio.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/table.h"
#include "formats/trace/trace.h"
#include "ir/certificate.h"
#include "ir/program.h"
#include "ir/store.h"

#define FORMAT(id) extern const arenaut_format arn_format_##id;
#include "formats/formats.def"
#undef FORMAT

static const arenaut_format *const all[] = {
#define FORMAT(id) &arn_format_##id,
#include "formats/formats.def"
#undef FORMAT
};

ARN_TABLE_LOOKUPS(format)

const arenaut_format *arenaut_format_recognise(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < arenaut_format_count(); i++) {
        if (all[i]->recognise && all[i]->recognise(data, size)) return all[i];
    }
    return NULL;
}

/* The length of the longest of `extensions` (".plan.json .json") that `path` ends in; 0 if
 * it ends in none. A name that is nothing but an extension has none. */
static size_t matching_extension(const char *extensions, const char *path) {
    const size_t path_length = strlen(path);
    size_t longest = 0;
    for (const char *at = extensions; at && *at;) {
        const size_t length = strcspn(at, " ");
        if (length > longest && length < path_length &&
            memcmp(path + path_length - length, at, length) == 0) {
            longest = length;
        }
        at += length + strspn(at + length, " ");
    }
    return longest;
}

/* The longest extension wins, so that "x.plan.json" and "x.problem.json" differ; among equals, the
 * first row. */
const arenaut_format *arenaut_format_for_path(const char *path) {
    const arenaut_format *found = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < arenaut_format_count(); i++) {
        const size_t length = all[i]->write ? matching_extension(all[i]->extensions, path) : 0;
        if (length > longest) {
            longest = length;
            found = all[i];
        }
    }
    return found;
}

/* "csv, tflite, …": the possible values, for a message. */
static void list_readable(char *names, size_t size) {
    size_t used = 0;
    names[0] = '\0';
    for (size_t i = 0; i < arenaut_format_count(); i++) {
        const size_t length = strlen(all[i]->name);
        if (!all[i]->read || used + length + 3 > size) continue;
        if (used) {
            memcpy(names + used, ", ", 2);
            used += 2;
        }
        memcpy(names + used, all[i]->name, length + 1);
        used += length;
    }
}

/* Text that declares an array of bytes, early enough to be all that it is about. */
static bool is_c_source(const uint8_t *data, size_t size) {
    static const char *const types[] = {"unsigned char ", "uint8_t "};
    enum { LOOKED_AT = 65536 };
    const size_t n = size < LOOKED_AT ? size : LOOKED_AT;
    if (memchr(data, '\0', n)) return false;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        const size_t length = strlen(types[k]);
        for (size_t i = 0; i + length <= n; i++) {
            if (memcmp(data + i, types[k], length) == 0) return true;
        }
    }
    return false;
}

/* Files that are mistaken for a model, and the advice for each. */
static const char *other_content(const uint8_t *data, size_t size) {
    static const struct {
        const char *begins, *what;
    } rows[] = {
        {"\x7f"
         "ELF",
         "an ELF file, which is a program: give the model that was built into it"},
        {"\x1f\x8b", "packed by gzip: unpack it first (gunzip)"},
        {"\xfd"
         "7zXZ",
         "packed by xz: unpack it first (unxz)"},
        {"BZh", "packed by bzip2: unpack it first (bunzip2)"},
        {"\x28\xb5\x2f\xfd", "packed by zstd: unpack it first (unzstd)"},
        {"\x89"
         "HDF",
         "an HDF5 file, as Keras writes (.h5): convert it first (tf.lite.TFLiteConverter)"},
        {"PK\x03\x04",
         "a zip archive without a whole PyTorch program in it: unpack it, or convert it first if "
         "it is of "
         "Keras (.keras; tf.lite.TFLiteConverter)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t length = strlen(rows[i].begins);
        if (size >= length && memcmp(data, rows[i].begins, length) == 0) return rows[i].what;
    }
    return is_c_source(data, size)
               ? "C source, in which the command looks for an array of bytes that is a model"
               : NULL;
}

static arenaut_status unknown_format(const uint8_t *data, size_t size, arenaut_error *err) {
    char names[160];
    list_readable(names, sizeof names);
    if (size == 0) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0, "the input is empty; readable formats: %s",
                        names);
    }
    const char *other = other_content(data, size);
    if (other) return arn_fail(err, ARENAUT_BAD_INPUT, 0, "no model: it is %s", other);
    char head[4 * 3 + 1] = "";
    for (size_t i = 0; i < 4 && i < size; i++) {
        snprintf(head + 3 * i, sizeof head - 3 * i, " %02x", (unsigned)data[i]);
    }
    return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                    "the input, which begins with bytes%s, is of no known format; readable "
                    "formats: %s",
                    head, names);
}

/* ---- the limit on memory ---- */

/* An allocator with a limit on all bytes that it gave, less the shrinkage of blocks. It does not
 * know the size of a released block, so released blocks still count. */
typedef struct budget {
    arenaut_allocator inner;
    uint64_t left;
    bool spent;
} budget;

static bool take_from(budget *b, size_t size) {
    if (size > b->left) b->spent = true;
    if (!b->spent) b->left -= size;
    return !b->spent;
}

static void *budget_allocate(void *context, size_t size) {
    budget *b = context;
    return take_from(b, size) ? b->inner.allocate(b->inner.context, size) : NULL;
}

static void *budget_reallocate(void *context, void *block, size_t old_size, size_t new_size) {
    budget *b = context;
    if (!take_from(b, new_size > old_size ? new_size - old_size : 0)) return NULL;
    return b->inner.reallocate(b->inner.context, block, old_size, new_size);
}

static void budget_release(void *context, void *block) {
    budget *b = context;
    b->inner.release(b->inner.context, block);
}

/* The document stays with the caller's own allocator: the budget ends with this call. */
static arenaut_status read_within(const arenaut_format *format, const uint8_t *data, size_t size,
                                  const arenaut_read_options *options,
                                  const arenaut_allocator *allocator, arenaut_document *document,
                                  arenaut_error *err) {
    if (options->max_memory == 0) {
        return format->read(data, size, options, allocator, document, err);
    }
    budget b = {arn_allocator_or_default(allocator), options->max_memory, false};
    const arenaut_allocator limited = {budget_allocate, budget_reallocate, budget_release, &b};
    const arenaut_status st = format->read(data, size, options, &limited, document, err);
    if (st == ARENAUT_NO_MEMORY && b.spent) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                        "reading takes more than the %" PRIu64 " bytes of memory allowed for it",
                        options->max_memory);
    }
    if (st == ARENAUT_OK) {
        arn_program_use_allocator(document->program, &b.inner);
        arn_problem_use_allocator(document->problem, &b.inner);
        arn_plan_use_allocator(document->plan, &b.inner);
        if (document->trace) document->trace->allocator = b.inner;
    }
    return st;
}

arenaut_status arenaut_read(const uint8_t *data, size_t size, const arenaut_format *format,
                            const arenaut_read_options *options, const arenaut_allocator *allocator,
                            arenaut_document *out, arenaut_error *err) {
    static const arenaut_read_options defaults = {.max_memory = 0};
    if (!format) format = arenaut_format_recognise(data, size);
    if (!format) return unknown_format(data, size, err);
    if (!format->read) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "format '%s' can be written but not read",
                        format->name);
    }
    arenaut_document document = {.format = format};
    const arenaut_status st =
        read_within(format, data, size, options ? options : &defaults, allocator, &document, err);
    if (st != ARENAUT_OK) return st;
    document.format = format;
    *out = document;
    return ARENAUT_OK;
}

void arenaut_document_free(arenaut_document *document) {
    arenaut_plan_free(document->plan);
    arenaut_problem_free(document->problem);
    arn_program_free(document->program);
    arn_trace_free(document->trace);
    arn_remat_certificate_free(document->rematerialization);
    const arenaut_document empty = {0};
    *document = empty;
}
