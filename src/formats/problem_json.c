/* problem-json: problems, the whole input of a planner (arenaut.problem/1). The parts are
 * read in problem_json_read.c and written here, for plans, too. */
#include "formats/problem_json.h"

#include <inttypes.h>

#include <arenaut/version.h>

#include "core/fail.h"
#include "core/memory.h"
#include "ir/problem.h"

/* Writer of the parts of a problem, and of its plan if there is one, as JSON. One buffer a line, so
 * that texts can be compared; empty members are left out. */

static const char *method_name(const void *problem, uint32_t m) {
    return ((const arenaut_problem *)problem)->method_name[m];
}

arenaut_status arn_problem_json_begin(arn_problem_json_printer *out, arenaut_sink sink,
                                      const arenaut_problem *problem, const arenaut_plan *plan,
                                      const arenaut_allocator *allocator, arenaut_error *err) {
    const arn_problem_json_printer begun = {arn_writer_to(sink), problem, plan, true};
    bool *unique = arn_json_unique_names(method_name, problem, problem->n_methods, allocator);
    if (!unique) return arn_no_memory(err);
    *out = begun;
    for (uint32_t m = 0; m < problem->n_methods; m++) {
        if (!unique[m]) out->methods_by_name = false;
    }
    arn_release(allocator, unique);
    return ARENAUT_OK;
}

void arn_problem_json_put_methods(arn_problem_json_printer *out) {
    arn_puts(&out->writer, "[");
    for (uint32_t m = 0; m < out->problem->n_methods; m++) {
        if (m) arn_puts(&out->writer, ", ");
        arn_json_put_text_or_null(&out->writer, out->problem->method_name[m]);
    }
    arn_puts(&out->writer, "]");
}

void arn_problem_json_put_method_ref(arn_problem_json_printer *out, uint32_t method) {
    if (method >= out->problem->n_methods) {
        arn_puts(&out->writer, "null");
    } else if (out->methods_by_name) {
        arn_put_json_string(&out->writer, out->problem->method_name[method]);
    } else {
        arn_putf(&out->writer, "%" PRIu32, method);
    }
}

static void put_size_or_null(arn_writer *writer, uint64_t value) {
    if (value == UINT64_MAX) {
        arn_puts(writer, "null");
    } else {
        arn_put_json_u64(writer, value);
    }
}

/* A pool's own standing: it may be at its bound while another is not. */
static const char *pool_status(const arenaut_plan *plan, uint32_t p) {
    if (plan->quality == ARENAUT_FEASIBLE && plan->arena[p] == plan->lower_bound[p]) {
        return arenaut_quality_name(ARENAUT_OPTIMAL);
    }
    return arenaut_quality_name(plan->quality);
}

static void put_pool(arn_problem_json_printer *out, uint32_t p) {
    const arenaut_pool *pool = &out->problem->pool[p];
    arn_writer *w = &out->writer;
    bool begun = false;
    arn_puts(w, p ? ",\n    {" : "\n    {");
    arn_json_put_size_member(w, &begun, "id", p);
    arn_json_put_text_member(w, &begun, "name", pool->name);
    arn_json_put_key(w, &begun, "device");
    arn_json_put_device(w, pool->device);
    arn_json_put_key(w, &begun, "capacity");
    put_size_or_null(w, pool->capacity);
    arn_json_put_size_member(w, &begun, "align", pool->align);
    if (out->plan) {
        arn_json_put_size_member(w, &begun, "arena", out->plan->arena[p]);
        arn_json_put_size_member(w, &begun, "lower_bound", out->plan->lower_bound[p]);
        arn_json_put_text_member(w, &begun, "status", pool_status(out->plan, p));
    }
    arn_puts(w, "}");
}

void arn_problem_json_put_pools(arn_problem_json_printer *out) {
    arn_puts(&out->writer, ",\n  \"pools\": [");
    for (uint32_t p = 0; p < out->problem->n_pools; p++) put_pool(out, p);
    arn_puts(&out->writer, "]");
}

static void put_lifetimes(arn_problem_json_printer *out, bool *begun, uint32_t b) {
    const arenaut_interval *life = arenaut_problem_lifetimes(out->problem, b);
    const uint32_t n = arenaut_problem_lifetime_count(out->problem, b);
    arn_writer *w = &out->writer;
    arn_json_put_key(w, begun, "first");
    arn_json_put_i64(w, n ? life[0].first : 0);
    arn_json_put_key(w, begun, "end");
    arn_json_put_i64(w, n ? life[n - 1].end : 0);
    if (n < 2) return;
    arn_json_put_key(w, begun, "lifetimes");
    for (uint32_t i = 0; i < n; i++) {
        arn_puts(w, i ? ", [" : "[[");
        arn_json_put_i64(w, life[i].first);
        arn_puts(w, ", ");
        arn_json_put_i64(w, life[i].end);
        arn_puts(w, "]");
    }
    arn_puts(w, "]");
}

static void put_place(arn_problem_json_printer *out, bool *begun, uint32_t b) {
    const arenaut_plan *plan = out->plan;
    if (!plan) return;
    const bool placed = plan->quality != ARENAUT_INFEASIBLE && plan->pool[b] != ARENAUT_NONE;
    arn_json_put_key(&out->writer, begun, "pool");
    put_size_or_null(&out->writer, placed ? plan->pool[b] : UINT64_MAX);
    arn_json_put_key(&out->writer, begun, "offset");
    put_size_or_null(&out->writer, placed ? plan->offset[b] : UINT64_MAX);
}

static void put_allowed_pools(arn_problem_json_printer *out, bool *begun, uint32_t b) {
    const uint64_t pools = out->problem->pools ? out->problem->pools[b] : 0;
    if (pools == 0) return;
    arn_json_put_key(&out->writer, begun, "allowed_pools");
    const char *separator = "[";
    for (uint32_t p = 0; p < out->problem->n_pools; p++) {
        if (!(pools >> p & 1)) continue;
        arn_putf(&out->writer, "%s%" PRIu32, separator, p);
        separator = ", ";
    }
    arn_puts(&out->writer, "]");
}

static void put_relations(arn_problem_json_printer *out, bool *begun, uint32_t b) {
    const arenaut_problem *p = out->problem;
    arn_writer *w = &out->writer;
    const uint64_t fixed = arenaut_problem_fixed_offset(p, b), hint = arenaut_problem_hint(p, b);
    const uint32_t base = arenaut_problem_same_base(p, b), host = arenaut_problem_inside(p, b);
    if (fixed != ARENAUT_UNPLACED) arn_json_put_size_member(w, begun, "fixed_offset", fixed);
    if (hint != ARENAUT_UNPLACED) arn_json_put_size_member(w, begun, "hint", hint);
    if (base != ARENAUT_NONE) arn_json_put_size_member(w, begun, "same_base_as", base);
    if (host == ARENAUT_NONE) return;
    arn_json_put_key(w, begun, "inside");
    arn_putf(w, "{\"buffer\": %" PRIu32 ", \"delta\": ", host);
    arn_put_json_u64(w, p->inside_delta[b]);
    arn_puts(w, "}");
}

static void put_buffer(arn_problem_json_printer *out, uint32_t b) {
    const arenaut_problem *p = out->problem;
    arn_writer *w = &out->writer;
    bool begun = false;
    arn_puts(w, b ? ",\n    {" : "\n    {");
    arn_json_put_size_member(w, &begun, "id", b);
    arn_json_put_key(w, &begun, "name");
    arn_json_put_text_or_null(w, p->name ? p->name[b] : NULL);
    arn_json_put_key(w, &begun, "method");
    arn_problem_json_put_method_ref(out, p->method ? p->method[b] : ARENAUT_NONE);
    arn_json_put_text_member(w, &begun, "class", arenaut_class_name(arenaut_problem_class(p, b)));
    arn_json_put_size_member(w, &begun, "size", p->size[b]);
    arn_json_put_size_member(w, &begun, "align", arenaut_problem_align(p, b));
    if (arenaut_problem_uses(p, b) != 1)
        arn_json_put_size_member(w, &begun, "uses", arenaut_problem_uses(p, b));
    put_lifetimes(out, &begun, b);
    const uint32_t release = arenaut_problem_release(p, b);
    if (release != 0) arn_json_put_size_member(w, &begun, "release", release);
    put_place(out, &begun, b);
    put_allowed_pools(out, &begun, b);
    put_relations(out, &begun, b);
    arn_json_put_key(w, &begun, "op");
    arn_json_put_text_or_null(w, p->op ? p->op[b] : NULL);
    arn_json_put_text_member(w, &begun, "source", p->source ? p->source[b] : NULL);
    arn_puts(w, "}");
}

void arn_problem_json_put_buffers(arn_problem_json_printer *out) {
    arn_puts(&out->writer, ",\n  \"buffers\": [");
    for (uint32_t b = 0; b < out->problem->n_buffers; b++) put_buffer(out, b);
    arn_puts(&out->writer, "]");
}

void arn_problem_json_put_traits(arn_problem_json_printer *out) {
    const char *separator = ",\n  \"traits\": [";
    if (out->problem->traits == 0) return;
    for (uint32_t k = 0; k < ARENAUT_PROBLEM_TRAITS; k++) {
        if (!(out->problem->traits >> k & 1)) continue;
        arn_puts(&out->writer, separator);
        arn_put_json_string(&out->writer, arn_problem_trait_name(k));
        separator = ", ";
    }
    arn_puts(&out->writer, "]");
}

void arn_problem_json_put_edges(arn_problem_json_printer *out) {
    const arenaut_problem *p = out->problem;
    if (p->n_conflicts == 0) return;
    arn_puts(&out->writer, ",\n  \"edges\": [");
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        arn_putf(&out->writer, "%s[%" PRIu32 ", %" PRIu32 "]", i ? ", " : "", p->conflict[i].a,
                 p->conflict[i].b);
    }
    arn_puts(&out->writer, "]");
}

void arn_problem_json_put_separations(arn_problem_json_printer *out) {
    const arenaut_problem *p = out->problem;
    if (p->n_separations == 0) return;
    arn_puts(&out->writer, ",\n  \"separations\": [");
    for (uint32_t i = 0; i < p->n_separations; i++) {
        const arenaut_separation *pair = &p->separation[i];
        arn_putf(&out->writer,
                 "%s{\"upper\": %" PRIu32 ", \"lower\": %" PRIu32 ", \"distance\": ", i ? ", " : "",
                 pair->upper, pair->lower);
        arn_json_put_i64(&out->writer, pair->distance);
        arn_puts(&out->writer, "}");
    }
    arn_puts(&out->writer, "]");
}

void arn_problem_json_put_reserved(arn_problem_json_printer *out) {
    const arenaut_problem *p = out->problem;
    if (p->n_reserved == 0) return;
    arn_puts(&out->writer, ",\n  \"reserved\": [");
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *range = &p->reserved[i];
        arn_putf(&out->writer, "%s{\"pool\": %" PRIu32 ", \"first\": ", i ? ", " : "", range->pool);
        arn_put_json_u64(&out->writer, range->first);
        arn_puts(&out->writer, ", \"end\": ");
        arn_put_json_u64(&out->writer, range->end);
        arn_puts(&out->writer, "}");
    }
    arn_puts(&out->writer, "]");
}

/* ---- the format ---- */

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
        arn_problem_json_read_parts(&r, &parts, &out->problem, NULL, NULL);
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
