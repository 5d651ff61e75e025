/* Costs of ops, modelled or measured.
 *
 * Arithmetic is modelled from shapes: of convolutions, products and attention by their formulas, of
 * all else one operation per element. Traffic is the bytes of operands and results. Unknown shapes
 * count as one element per byte or less, never as nothing. */
#include "rewrite/rematerialize/remat_cost.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"

enum { NANOSECONDS = 1000000000 };

static uint64_t elements(const arenaut_tensor *t) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] <= 0 || !arn_multiply(n, (uint64_t)t->dims[i], &n)) return t->bytes;
    }
    return t->rank > 0 ? n : arn_max_u64(t->bytes / 4, 1);
}

static const arenaut_tensor *tensor_at(const arenaut_program *p, const uint32_t *list, uint32_t n,
                                       uint32_t i) {
    return i < n && list[i] != ARENAUT_NONE ? &p->tensors[list[i]] : NULL;
}

static uint64_t times(uint64_t a, uint64_t b) {
    uint64_t product;
    return arn_multiply(a, b, &product) ? product : ARENAUT_SIZE_MAX;
}

/* Each element of a result takes a window of all the weights of its channel. */
static uint64_t convolution(const arenaut_program *p, const arenaut_op *op, bool backward) {
    const arenaut_tensor *weights = tensor_at(p, op->inputs, op->n_inputs, backward ? 2 : 1);
    const arenaut_tensor *made = backward ? tensor_at(p, op->inputs, op->n_inputs, 0)
                                          : tensor_at(p, op->outputs, op->n_outputs, 0);
    if (!weights || !made || weights->rank == 0 || weights->dims[0] <= 0) return 0;
    const uint64_t each = elements(weights) / (uint64_t)weights->dims[0];
    uint64_t n = 0; /* gradients of the image and of the weights, as far as they are wanted */
    for (uint32_t i = 0; i < op->n_outputs && i < 2; i++) n += op->outputs[i] != ARENAUT_NONE;
    return times(backward ? 2 * n : 2, times(elements(made), each));
}

/* The last but one operand of two dimensions or more is multiplied along its last one. */
static uint64_t product(const arenaut_program *p, const arenaut_op *op) {
    const arenaut_tensor *left = NULL, *right = NULL;
    const arenaut_tensor *made = tensor_at(p, op->outputs, op->n_outputs, 0);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arenaut_tensor *t = tensor_at(p, op->inputs, op->n_inputs, i);
        if (!t || t->rank < 2) continue;
        left = right;
        right = t;
    }
    if (!left || !made || left->dims[left->rank - 1] <= 0) return 0;
    return times(2, times(elements(made), (uint64_t)left->dims[left->rank - 1]));
}

static uint64_t attention(const arenaut_program *p, const arenaut_op *op, bool backward) {
    const arenaut_tensor *query = tensor_at(p, op->inputs, op->n_inputs, backward ? 1 : 0);
    const arenaut_tensor *key = tensor_at(p, op->inputs, op->n_inputs, backward ? 2 : 1);
    if (!query || !key || key->rank < 2 || key->dims[key->rank - 2] <= 0) return 0;
    return times(backward ? 10 : 4, times(elements(query), (uint64_t)key->dims[key->rank - 2]));
}

/* The bare name of an operator in small letters and digits, as far as there is room. */
static void plain_name(const char *name, char *plain, size_t size) {
    const char *behind = strrchr(name, ':');
    size_t n = 0;
    if (behind) name = behind + 1;
    for (; *name && *name != '.' && n + 1 < size; name++) {
        if (*name != '_') plain[n++] = (char)tolower((unsigned char)*name);
    }
    plain[n] = '\0';
}

static bool is_product(const char *name) {
    static const char *const names[] = {"addmm", "baddbmm", "batchmatmul", "bmm", "fullyconnected",
                                        "gemm",  "linear",  "matmul",      "mm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

static uint64_t operations(const arenaut_program *p, const arenaut_op *op) {
    char name[48];
    uint64_t n = 0, made = 0;
    plain_name(op->name ? op->name : "", name, sizeof name);
    const bool backward = strstr(name, "backward") != NULL;
    if (strstr(name, "conv") == name) n = convolution(p, op, backward);
    else if (is_product(name)) n = product(p, op);
    else if (strstr(name, "scaleddotproduct")) n = attention(p, op, backward);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const arenaut_tensor *t = tensor_at(p, op->outputs, op->n_outputs, i);
        if (t && !arn_add(made, elements(t), &made)) return ARENAUT_SIZE_MAX;
    }
    return arn_max_u64(n, made);
}

static uint64_t traffic(const arenaut_program *p, const arenaut_op *op) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const uint32_t t = i < op->n_inputs ? op->inputs[i] : op->outputs[i - op->n_inputs];
        if (t != ARENAUT_NONE && !arn_add(bytes, p->tensors[t].bytes, &bytes)) {
            return ARENAUT_SIZE_MAX;
        }
    }
    return bytes;
}

/* Of a rate per second. Long division, digit by digit: the product with 1e9 may be too large. */
static uint64_t nanoseconds(uint64_t amount, uint64_t rate) {
    if (rate == 0) return 0;
    rate = arn_min_u64(rate, UINT64_MAX / 10);
    uint64_t time = amount / rate, rest = amount % rate;
    for (uint32_t unit = NANOSECONDS; unit > 1; unit /= 10) {
        time = times(time, 10) + 10 * rest / rate;
        rest = 10 * rest % rate;
    }
    return time;
}

uint64_t arn_remat_cost(const arenaut_program *p, const arenaut_op *op,
                        const arenaut_roofline *device) {
    if (op->kind == ARENAUT_OP_VIEW || !arn_op_kind_touches(op->kind)) return 0;
    const uint64_t arithmetic = nanoseconds(operations(p, op), device->operations);
    const uint64_t moving = nanoseconds(traffic(p, op), device->bytes);
    return arn_min_u64(arn_max_u64(arithmetic, moving), ARENAUT_SIZE_MAX / 2) + device->launch;
}

static const arenaut_roofline devices[] = {
    {"a100", UINT64_C(78000000000000), UINT64_C(1240000000000), 4000},
    {"h100", UINT64_C(250000000000000), UINT64_C(2600000000000), 4000},
    {"cpu", UINT64_C(200000000000), UINT64_C(40000000000), 1000},
};

const arenaut_roofline *arenaut_roofline_find(const char *name) {
    for (size_t i = 0; name && i < sizeof devices / sizeof *devices; i++) {
        if (strcmp(devices[i].name, name) == 0) return &devices[i];
    }
    return NULL;
}

const arenaut_roofline *arn_roofline_of(const arenaut_recompute_options *options) {
    return options->device.operations > 0 ? &options->device : arenaut_roofline_find("a100");
}

uint64_t arn_roofline_operations(const arenaut_roofline *device, uint64_t macs, uint64_t ops) {
    const uint64_t launch = times(device->launch, device->operations / NANOSECONDS);
    const uint64_t launches = times(ops, launch);
    uint64_t all;
    return arn_add(times(2, macs), launches, &all) ? all : ARENAUT_SIZE_MAX;
}

/* ---- the cost file ---- */

enum { METHOD, OP, COST, N_CELLS };
static const uint64_t MOST_COST = ARENAUT_SIZE_MAX / 2;

typedef struct cost_reader {
    const arenaut_program *program;
    const char *at, *end;
    size_t line;
    const char *cell[N_CELLS];
    size_t length[N_CELLS];
    arenaut_error *err;
} cost_reader;

static arenaut_status fail(const cost_reader *r, const char *why, const char *cell, size_t length) {
    return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line, "line %zu: %s '%.*s'", r->line, why,
                    length < 64 ? (int)length : 64, cell);
}

static arenaut_status fail_number(const cost_reader *r, int cell, const char *what, uint64_t end) {
    const size_t length = r->length[cell];
    return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                    "line %zu: '%s' is '%.*s'; allowed: whole numbers below %" PRIu64, r->line,
                    what, length < 64 ? (int)length : 64, r->cell[cell], end);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Takes the next line that is neither empty nor a comment; *n: its cells. False at the end. */
static bool next_line(cost_reader *r, size_t *n) {
    while (r->at < r->end) {
        const char *line = r->at, *stop = memchr(line, '\n', (size_t)(r->end - line));
        if (!stop) stop = r->end;
        r->at = stop < r->end ? stop + 1 : stop;
        r->line++;
        while (stop > line && is_blank(stop[-1])) stop--;
        if (line == stop || *line == '#') continue;
        for (*n = 0; line <= stop; (*n)++) {
            const char *comma = memchr(line, ',', (size_t)(stop - line)), *begin = line;
            const char *end = comma ? comma : stop;
            line = end + 1;
            while (begin < end && is_blank(*begin)) begin++;
            while (end > begin && is_blank(end[-1])) end--;
            if (*n >= N_CELLS) continue;
            r->cell[*n] = begin;
            r->length[*n] = (size_t)(end - begin);
        }
        return true;
    }
    return false;
}

static bool is_text(const cost_reader *r, int cell, const char *text) {
    return strlen(text) == r->length[cell] && memcmp(text, r->cell[cell], r->length[cell]) == 0;
}

static bool read_number(const cost_reader *r, int cell, uint64_t *number) {
    *number = 0;
    for (size_t i = 0; i < r->length[cell]; i++) {
        const char c = r->cell[cell][i];
        if (c < '0' || c > '9' || !arn_multiply(*number, 10, number) ||
            !arn_add(*number, (uint64_t)(c - '0'), number)) {
            return false;
        }
    }
    return r->length[cell] > 0;
}

/* By its name or number; the first, if the cell is empty. */
static uint32_t find_method(const cost_reader *r) {
    uint64_t number = 0;
    if (r->length[METHOD] == 0) return r->program->n_methods > 0 ? 0 : ARENAUT_NONE;
    for (uint32_t i = 0; i < r->program->n_methods; i++) {
        const char *name = r->program->methods[i].name;
        if (name && is_text(r, METHOD, name)) return i;
    }
    if (!read_number(r, METHOD, &number) || number >= r->program->n_methods) return ARENAUT_NONE;
    return (uint32_t)number;
}

static arenaut_status read_row(cost_reader *r, size_t n, uint64_t *costs) {
    uint64_t op, cost;
    if (n != N_CELLS) return fail(r, "a row has a method, an op and nanoseconds, not", "", 0);
    const uint32_t method = find_method(r);
    if (method == ARENAUT_NONE) return fail(r, "no method", r->cell[METHOD], r->length[METHOD]);
    const arenaut_method *m = &r->program->methods[method];
    if (!read_number(r, OP, &op) || op >= m->n_ops) return fail_number(r, OP, "op", m->n_ops);
    if (!read_number(r, COST, &cost) || cost > MOST_COST) {
        return fail_number(r, COST, "nanoseconds", MOST_COST + 1);
    }
    if (costs[m->first_op + op] != ARENAUT_COST_UNKNOWN) {
        return fail(r, "a second row for op", r->cell[OP], r->length[OP]);
    }
    costs[m->first_op + op] = cost;
    return ARENAUT_OK;
}

arenaut_status arn_costs_read(const char *text, size_t size, const arenaut_program *program,
                              const arenaut_allocator *allocator, uint64_t **out,
                              arenaut_error *err) {
    cost_reader r = {.program = program, .at = text, .end = text + size, .err = err};
    size_t n = 0;
    const bool begun = next_line(&r, &n) && n == N_CELLS;
    if (!begun || !is_text(&r, METHOD, "method") || !is_text(&r, OP, "op") ||
        !is_text(&r, COST, "nanoseconds")) {
        return arn_fail(err, ARENAUT_BAD_INPUT, r.line,
                        "a cost file begins with the header method,op,nanoseconds");
    }
    uint64_t *costs = arn_allocate(allocator, program->n_ops, sizeof *costs);
    if (!costs) return arn_no_memory(err);
    for (uint32_t i = 0; i < program->n_ops; i++) costs[i] = ARENAUT_COST_UNKNOWN;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && next_line(&r, &n)) st = read_row(&r, n, costs);
    if (st == ARENAUT_OK) *out = costs;
    else arn_release(allocator, costs);
    return st;
}
