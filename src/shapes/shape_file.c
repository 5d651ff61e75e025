/* The shape file: sizes of tensors that neither the model nor inference knows, as CSV. Names are
 * looked up in a tree that is built once; tensors of one name in several methods all get the
 * shape. */
#include <string.h>

#include <arenaut/pass.h>

#include "core/fail.h"
#include "core/name_tree.h"
#include "ir/extent.h"
#include "ir/store.h"
#include "shapes/shape_file.h"

enum { MAX_RANK = 64 };

typedef struct shape_reader {
    arenaut_program *program;
    arn_region region;
    arn_name_tree names;
    uint32_t *next; /* per tensor: the next of the same name, which other methods may have */
    size_t line;
    arenaut_error *err;
} shape_reader;

static bool index_names(shape_reader *r) {
    const arenaut_program *p = r->program;
    r->next = arn_region_allocate(&r->region, p->n_tensors, sizeof *r->next);
    if (!r->next) return false;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const char *text = p->tensors[t].name ? p->tensors[t].name : "";
        const arn_name name = {(const uint8_t *)text, strlen(text)};
        uint32_t first = t;
        bool found;
        if (!arn_name_tree_add(&r->names, &r->region, name, &first, &found)) return false;
        r->next[t] = ARENAUT_NONE;
        if (!found) continue;
        r->next[t] = r->next[first];
        r->next[first] = t;
    }
    return true;
}

/* "2x3x4"; nothing at all is a single number. */
static bool parse_dims(const char *at, const char *end, int64_t dims[MAX_RANK], uint32_t *rank) {
    *rank = 0;
    while (at < end) {
        int64_t n = 0;
        if (*at < '0' || *at > '9' || *rank == MAX_RANK) return false;
        for (; at < end && *at >= '0' && *at <= '9'; at++) {
            if (n > (INT64_MAX - 9) / 10) return false;
            n = n * 10 + (*at - '0');
        }
        dims[(*rank)++] = n;
        if (at < end && (*at++ != 'x' || at == end)) return false;
    }
    return true;
}

/* As if the model stated it: results of inference count more. */
static arenaut_status set_dims(shape_reader *r, uint32_t t, const int64_t *dims, uint32_t rank) {
    arenaut_tensor *tensor = &r->program->tensors[t];
    arenaut_error why;
    int64_t *copy = arenaut_program_alloc(r->program, rank * sizeof *copy);
    if (!copy) return arn_no_memory(r->err);
    if (rank) memcpy(copy, dims, rank * sizeof *copy);
    tensor->rank = rank;
    tensor->dims = copy;
    tensor->dim_exprs = NULL;
    tensor->strides = NULL;
    tensor->dynamic = false;
    if (arenaut_dtype_bits(tensor->dtype) == 0) return ARENAUT_OK; /* not sized by this alone */
    tensor->unsized = false;
    const arenaut_status st =
        arn_tensor_dense_bytes(tensor->dtype, tensor->lanes, dims, rank, &tensor->bytes, &why);
    if (st == ARENAUT_OK) return st;
    return arn_fail(r->err, st, r->line, "line %zu: '%.80s': %s", r->line, tensor->name, why.msg);
}

/* Names may hold commas, so the last one counts. */
static arenaut_status read_line(shape_reader *r, const char *line, const char *end) {
    const char *comma = end;
    int64_t dims[MAX_RANK];
    uint32_t rank, t;
    while (comma > line && comma[-1] != ',') comma--;
    comma -= comma > line; /* to the comma itself */
    if (comma == line || !parse_dims(comma + 1, end, dims, &rank)) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                        "line %zu: '%.*s' is not a name, a comma and sizes such as 2x3x4", r->line,
                        end - line < 80 ? (int)(end - line) : 80, line);
    }
    const arn_name name = {(const uint8_t *)line, (size_t)(comma - line)};
    if (!arn_name_tree_find(&r->names, name, &t)) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                        "line %zu: the model has no tensor '%.*s'", r->line,
                        comma - line < 80 ? (int)(comma - line) : 80, line);
    }
    arenaut_status st = ARENAUT_OK;
    for (; t != ARENAUT_NONE && st == ARENAUT_OK; t = r->next[t]) st = set_dims(r, t, dims, rank);
    return st;
}

static bool is_header(const char *line, const char *end) {
    static const char header[] = "name,dims";
    return (size_t)(end - line) == sizeof header - 1 &&
           memcmp(line, header, sizeof header - 1) == 0;
}

arenaut_status arn_shapes_read(const char *text, size_t size, arenaut_program *program,
                               arenaut_error *err) {
    shape_reader r = {.program = program, .err = err};
    const char *at = text, *end = size ? text + size : text;
    arn_region_init(&r.region, arn_program_allocator(program));
    arenaut_status st = index_names(&r) ? ARENAUT_OK : arn_no_memory(err);
    while (st == ARENAUT_OK && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        const char *line = at;
        at = newline ? newline + 1 : end;
        r.line++;
        while (stop > line && (stop[-1] == '\r' || stop[-1] == ' ')) stop--;
        const bool says_nothing = stop == line || *line == '#';
        if (says_nothing || (r.line == 1 && is_header(line, stop))) continue;
        st = read_line(&r, line, stop);
    }
    arn_region_free(&r.region);
    return st;
}
