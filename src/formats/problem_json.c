/* problem-json: problems, the whole input of a planner (arenaut.problem/1). The parts are read and
 * written in problem_json_read.c and problem_json_write.c, which plans share. */
#include "formats/problem_json.h"

#include <arenaut/version.h>

static bool problem_json_recognise(const uint8_t *data, size_t size) {
    return arn_json_has_schema(data, size, "arenaut.problem");
}

#define ROOT_KEYS(XX)          \
    XX(R_SCHEMA, "schema")     \
    XX(R_VERSION, "version")   \
    XX(R_METHODS, "methods")   \
    XX(R_POOLS, "pools")       \
    XX(R_BUFFERS, "buffers")   \
    XX(R_EDGES, "edges")       \
    XX(R_RESERVED, "reserved") \
    XX(R_TRAITS, "traits")     \
    XX(R_SEPARATIONS, "separations")
enum { ROOT_KEYS(ARN_KEY_ENUM) R_KEYS };
static const char *const root_keys[] = {ROOT_KEYS(ARN_KEY_TEXT)};

static arenaut_status problem_json_read(const uint8_t *data, size_t size,
                                        const arenaut_read_options *options,
                                        const arenaut_allocator *allocator, arenaut_document *out,
                                        arenaut_error *err) {
    (void)options;
    arn_json_reader r;
    uint32_t v[R_KEYS];
    arn_json_reader_begin(&r, data, size, "arenaut.problem", allocator, err);
    if (arn_json_fine(&r)) {
        arn_json_members(&r, 0, root_keys, R_KEYS, v);
        arn_json_require(&r, 0, v[R_BUFFERS], "buffers");
    }
    if (arn_json_fine(&r)) {
        const arn_problem_parts parts = {v[R_METHODS],  v[R_POOLS],  v[R_BUFFERS],    v[R_EDGES],
                                         v[R_RESERVED], v[R_TRAITS], v[R_SEPARATIONS]};
        arn_problem_json_read_parts(&r, &parts, &out->problem, NULL);
    }
    arn_json_reader_free(&r);
    return r.status;
}

/* A problem has no offsets, so a plan of the result is not written. */
static arenaut_status problem_json_write(const arenaut_result *result, arenaut_sink sink,
                                         const arenaut_allocator *allocator, arenaut_error *err) {
    arn_problem_json_printer out;
    const arenaut_status st =
        arn_problem_json_begin(&out, sink, result->problem, NULL, allocator, err);
    if (st != ARENAUT_OK) return st;
    bool begun = true;
    arn_puts(&out.writer, "{\n  \"schema\": \"arenaut.problem/1\"");
    arn_json_put_text_member(&out.writer, &begun, "version", arenaut_version());
    if (result->problem->n_methods > 0) {
        arn_json_put_key(&out.writer, &begun, "methods");
        arn_problem_json_put_methods(&out);
    }
    arn_problem_json_put_traits(&out);
    arn_problem_json_put_pools(&out);
    arn_problem_json_put_buffers(&out);
    arn_problem_json_put_edges(&out);
    arn_problem_json_put_separations(&out);
    arn_problem_json_put_reserved(&out);
    arn_puts(&out.writer, "\n}\n");
    return arn_writer_finish(&out.writer, err);
}

extern const arenaut_format arn_format_problem_json;
const arenaut_format arn_format_problem_json = {
    .name = "problem-json",
    .summary = "problems: pools, buffers, lifetimes, relations; everything but offsets",
    .extensions = ".problem.json",
    .recognise = problem_json_recognise,
    .read = problem_json_read,
    .write = problem_json_write,
};
