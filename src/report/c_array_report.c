/* c-array: the bytes of a model file as a C array, for firmware that has no files. They are the
 * file's own, with the plan in it or without one: it does not plan. It is aligned as flatbuffers
 * with data inside need, and compiles as C11 and as C++11. */
#include <arenaut/report.h>
#include <arenaut/version.h>

#include "core/writer.h"
#include "report/c_names.h"

/* Runtimes use weights where they lie in the file, and the alignment inside counts from its start.
 */
enum { ALIGNMENT = 16, BYTES_A_LINE = 16, DIGITS = 5 };

static void put_opening(arn_writer *out, const arenaut_result *result, const char *name) {
    arn_puts(out, "/* ");
    arn_put_c_path(out, result->path);
    arn_putf(out, ", %zu bytes, as a C array, made by arenaut %s. */\n", result->file_size,
             arenaut_version());
    arn_puts(out,
             "#include <stddef.h>\n"
             "#ifdef __cplusplus\nextern \"C\" {\n#else\n#include <stdalign.h>\n#endif\n\n");
    arn_putf(out,
             "extern const unsigned char %s_model[];\nextern const size_t %s_model_size;\n\n"
             "alignas(%d) const unsigned char %s_model[] = {\n",
             name, name, ALIGNMENT, name);
}

/* A line at a time: a sink may cost a call into the system. */
static void put_bytes(arn_writer *out, const unsigned char *bytes, size_t size) {
    static const char digit[] = "0123456789abcdef";
    char line[BYTES_A_LINE * DIGITS + 1];
    for (size_t at = 0; at < size && !out->failed; at += BYTES_A_LINE) {
        const size_t n = size - at < BYTES_A_LINE ? size - at : BYTES_A_LINE;
        for (size_t i = 0; i < n; i++) {
            char *text = line + i * DIGITS;
            text[0] = '0';
            text[1] = 'x';
            text[2] = digit[bytes[at + i] >> 4];
            text[3] = digit[bytes[at + i] & 15];
            text[4] = ',';
        }
        line[n * DIGITS] = '\n';
        arn_put(out, line, n * DIGITS + 1);
    }
}

static arenaut_status emit(const arenaut_result *result, const arenaut_report_options *options,
                           arenaut_sink sink, const arenaut_allocator *allocator,
                           arenaut_error *err) {
    (void)options;
    (void)allocator;
    if (!result->program || !result->file) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "only one model file is written as a C array");
    }
    arn_writer out = arn_writer_to(sink);
    const arn_c_name name = arn_c_name_of_path(result->path, false);
    put_opening(&out, result, name.text);
    put_bytes(&out, result->file, result->file_size);
    arn_putf(&out,
             "};\nconst size_t %s_model_size = sizeof %s_model;\n\n"
             "#ifdef __cplusplus\n}\n#endif\n",
             name.text, name.text);
    return arn_writer_finish(&out, err);
}

extern const arenaut_report arn_report_c_array;
const arenaut_report arn_report_c_array = {
    .name = "c-array",
    .summary = "the model file as a C array",
    .extension = ".c",
    .needs_plan = false,
    .emit = emit,
};
