/* scratch: kernel scratch of ops, as tensors that are alive at their op alone: the sizes of a side
 * file, else those of the kernel set. An op that a row is about must exist. */
#include "passes/scratch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <arenaut/pass.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"
#include "ir/store.h"
#include "kernels/kernel_set.h"

/* The scratch file: kernel scratch bytes per op, as CSV. Rows go into a table in which ops are
 * looked up; errors name the line. O(rows). */

enum { MAX_CELLS = 16, MODEL = 0, METHOD, OP, BYTES, N_COLUMNS };

typedef struct cell {
    const char *text; /* no NUL behind it */
    size_t length;
} cell;

typedef struct scratch_reader {
    const char *at, *end;
    size_t line;
    cell cells[MAX_CELLS];
    size_t n_cells;
    size_t column[N_COLUMNS]; /* where each is; MAX_CELLS: absent */
    const char *model;
    const arenaut_program *program;
    const arenaut_allocator *allocator;
    arenaut_scratch_sizes sizes;
    uint32_t capacity;
    arenaut_error *err;
} scratch_reader;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool cell_is(const cell *c, const char *text) {
    return strlen(text) == c->length && memcmp(text, c->text, c->length) == 0;
}

/* For messages: at most so many characters of a cell. */
static int shown(const cell *c) { return c->length < 64 ? (int)c->length : 64; }

static cell trimmed(const char *first, const char *end) {
    while (first < end && is_blank(*first)) first++;
    while (end > first && is_blank(end[-1])) end--;
    const cell c = {first, (size_t)(end - first)};
    return c;
}

/* Takes the next line that is neither empty nor a comment; false at the end. */
static bool next_line(scratch_reader *r) {
    while (r->at < r->end) {
        const char *line = r->at;
        const char *newline = memchr(line, '\n', (size_t)(r->end - line));
        const char *line_end = newline ? newline : r->end;
        r->at = newline ? newline + 1 : r->end;
        r->line++;
        const cell whole = trimmed(line, line_end);
        if (whole.length == 0 || whole.text[0] == '#') continue;
        r->n_cells = 0;
        while (r->n_cells < MAX_CELLS) {
            const char *comma = memchr(line, ',', (size_t)(line_end - line));
            r->cells[r->n_cells++] = trimmed(line, comma ? comma : line_end);
            if (!comma) break;
            line = comma + 1;
        }
        return true;
    }
    return false;
}

static arenaut_status read_header(scratch_reader *r) {
    static const char *const names[N_COLUMNS] = {"model", "method", "op", "bytes"};
    if (!next_line(r)) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, 0,
                        "a scratch file begins with a header that names the columns op and bytes");
    }
    for (size_t k = 0; k < N_COLUMNS; k++) {
        r->column[k] = MAX_CELLS;
        for (size_t i = 0; i < r->n_cells; i++) {
            if (cell_is(&r->cells[i], names[k])) r->column[k] = i;
        }
    }
    if (r->column[OP] != MAX_CELLS && r->column[BYTES] != MAX_CELLS) return ARENAUT_OK;
    return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                    "line %zu: the header must name the columns op and bytes, and may name "
                    "method and model",
                    r->line);
}

/* Decimal digits only. */
static bool parse_number(const cell *c, uint64_t *number) {
    if (c->length == 0) return false;
    *number = 0;
    for (size_t i = 0; i < c->length; i++) {
        if (c->text[i] < '0' || c->text[i] > '9') return false;
        if (!arn_multiply(*number, 10, number)) return false;
        if (!arn_add(*number, (uint64_t)(c->text[i] - '0'), number)) return false;
    }
    return true;
}

static arenaut_status find_method(const scratch_reader *r, const cell *c, uint32_t *method) {
    const arenaut_program *p = r->program;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (p->methods[m].name && cell_is(c, p->methods[m].name)) {
            *method = m;
            return ARENAUT_OK;
        }
    }
    uint64_t number;
    if (!parse_number(c, &number) || number >= p->n_methods) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                        "line %zu: there is no method '%.*s'; the model has %" PRIu32, r->line,
                        shown(c), c->text, p->n_methods);
    }
    *method = (uint32_t)number;
    return ARENAUT_OK;
}

static arenaut_status read_entry(const scratch_reader *r, arenaut_scratch_entry *entry) {
    const cell *op_cell = &r->cells[r->column[OP]], *bytes_cell = &r->cells[r->column[BYTES]];
    uint64_t op;
    if (r->column[METHOD] < r->n_cells) {
        const arenaut_status st = find_method(r, &r->cells[r->column[METHOD]], &entry->method);
        if (st != ARENAUT_OK) return st;
    }
    const uint32_t n_ops =
        entry->method < r->program->n_methods ? r->program->methods[entry->method].n_ops : 0;
    if (!parse_number(op_cell, &op) || op >= n_ops) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                        "line %zu: there is no op '%.*s' in method %" PRIu32 ", which has %" PRIu32
                        " ops",
                        r->line, shown(op_cell), op_cell->text, entry->method, n_ops);
    }
    entry->op = (uint32_t)op;
    if (!parse_number(bytes_cell, &entry->bytes)) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                        "line %zu: '%.*s' is no number of bytes", r->line, shown(bytes_cell),
                        bytes_cell->text);
    }
    return ARENAUT_OK;
}

static arenaut_status read_row(scratch_reader *r) {
    arenaut_scratch_entry entry = {0, 0, 0};
    const size_t model = r->column[MODEL];
    if (r->model && model < r->n_cells && !cell_is(&r->cells[model], r->model)) return ARENAUT_OK;
    if (r->column[OP] >= r->n_cells || r->column[BYTES] >= r->n_cells) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                        "line %zu: has %zu cells, fewer than the header's columns op and bytes "
                        "need",
                        r->line, r->n_cells);
    }
    r->sizes.known = true;
    /* The row of a model without scratch. */
    if (r->cells[r->column[OP]].length == 0 && r->cells[r->column[BYTES]].length == 0) {
        return ARENAUT_OK;
    }
    const arenaut_status st = read_entry(r, &entry);
    if (st != ARENAUT_OK) return st;
    if (!arn_grow(r->allocator, (void **)&r->sizes.entries, &r->capacity, (uint64_t)r->sizes.n + 1,
                  sizeof entry)) {
        return arn_no_memory(r->err);
    }
    r->sizes.entries[r->sizes.n++] = entry;
    return ARENAUT_OK;
}

arenaut_status arn_scratch_read(const char *text, size_t size, const char *model,
                                const arenaut_program *program, const arenaut_allocator *allocator,
                                arenaut_scratch_sizes *out, arenaut_error *err) {
    scratch_reader r = {.model = model, .program = program, .allocator = allocator, .err = err};
    r.at = text;
    r.end = text + size;
    arenaut_status st = read_header(&r);
    while (st == ARENAUT_OK && next_line(&r)) st = read_row(&r);
    if (st != ARENAUT_OK) {
        arn_scratch_sizes_free(&r.sizes, allocator);
        return st;
    }
    /* Without a model column the whole file is about this one. */
    if (r.column[MODEL] == MAX_CELLS) r.sizes.known = true;
    *out = r.sizes;
    return ARENAUT_OK;
}

void arn_scratch_sizes_free(arenaut_scratch_sizes *sizes, const arenaut_allocator *allocator) {
    arn_release(allocator, sizes->entries);
    *sizes = (arenaut_scratch_sizes){NULL, 0, false};
}

/* ---- the pass ---- */

static arenaut_status check_entry(const arenaut_program *p, const arenaut_scratch_entry *entry,
                                  size_t number, arenaut_error *err) {
    if (entry->method >= p->n_methods) {
        return arn_fail(err, ARENAUT_BAD_INPUT, number,
                        "scratch entry %zu: method %" PRIu32 " does not exist; there are %" PRIu32,
                        number, entry->method, p->n_methods);
    }
    const arenaut_method *method = &p->methods[entry->method];
    if (entry->op >= method->n_ops) {
        return arn_fail(err, ARENAUT_BAD_INPUT, number,
                        "scratch entry %zu: op %" PRIu32 " does not exist; method %" PRIu32
                        " ('%s') has %" PRIu32 " ops",
                        number, entry->op, entry->method, method->name ? method->name : "",
                        method->n_ops);
    }
    if (entry->bytes > ARENAUT_SIZE_MAX) {
        return arn_fail(err, ARENAUT_TOO_LARGE, number,
                        "scratch entry %zu: %" PRIu64 " bytes are past the largest, 2^63 - 1",
                        number, entry->bytes);
    }
    return ARENAUT_OK;
}

static uint32_t op_of(const arenaut_program *p, const arenaut_scratch_entry *entry) {
    return p->methods[entry->method].first_op + entry->op;
}

/* Entries, those of the caller first. */
typedef struct entry_list {
    arenaut_scratch_entry *entries;
    size_t n;
} entry_list;

/* Appends the kernels' requests for this op to the list. */
static void add_sizes(const arenaut_program *p, const arenaut_kernel_set *kernels, uint32_t method,
                      uint32_t op, entry_list *list) {
    arenaut_scratch_requests requests;
    const arenaut_op *asks = &p->ops[p->methods[method].first_op + op];
    if (asks->n_scratch || !arn_op_asks_for_scratch(p, asks, kernels)) return;
    if (arn_op_reads_compressed(p, asks)) return; /* how much more that takes is not known */
    if (!arn_kernel_scratch_sizes(kernels, p, asks, &requests)) return;
    for (uint32_t i = 0; i < requests.n; i++) {
        list->entries[list->n++] = (arenaut_scratch_entry){method, op, requests.bytes[i]};
    }
}

/* `listed` counts the caller's entries of each op. */
static arenaut_status gather(const arenaut_program *p, const arenaut_pass_options *options,
                             const uint32_t *listed, entry_list *list, arenaut_error *err) {
    enum { MOST = sizeof((arenaut_scratch_requests){0}).bytes / sizeof(uint64_t) };
    const arenaut_kernel_set *kernels =
        options->kernels ? options->kernels : options->target->kernels;
    const uint64_t room = options->n_scratch + (uint64_t)MOST * p->n_ops;
    list->entries = arn_allocate(arn_program_allocator(p), room, sizeof *list->entries);
    if (!list->entries) return arn_no_memory(err);
    list->n = options->n_scratch;
    if (list->n) memcpy(list->entries, options->scratch, list->n * sizeof *list->entries);
    for (uint32_t m = 0; m < p->n_methods && !options->only_this_scratch; m++) {
        for (uint32_t op = 0; op < p->methods[m].n_ops; op++) {
            if (listed[p->methods[m].first_op + op] == 0) add_sizes(p, kernels, m, op, list);
        }
    }
    return ARENAUT_OK;
}

/* A longer list for each op with requests; added[op] counts them, and is left 0. */
static arenaut_status grow_lists(arenaut_program *p, const entry_list *list, uint32_t *added,
                                 uint32_t **lists, arenaut_error *err) {
    memset(added, 0, p->n_ops * sizeof *added);
    for (size_t i = 0; i < list->n; i++) added[op_of(p, &list->entries[i])]++;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        if (added[op] == 0) continue;
        const uint64_t length = (uint64_t)p->ops[op].n_scratch + added[op];
        lists[op] = length < SIZE_MAX / sizeof **lists
                        ? arenaut_program_alloc(p, (size_t)length * sizeof **lists)
                        : NULL;
        if (!lists[op]) return arn_no_memory(err);
        if (p->ops[op].n_scratch) {
            memcpy(lists[op], p->ops[op].scratch, p->ops[op].n_scratch * sizeof **lists);
        }
        added[op] = 0;
    }
    return ARENAUT_OK;
}

static arenaut_status add_tensors(arenaut_program *p, const entry_list *list, uint32_t *added,
                                  uint32_t **lists, arenaut_error *err) {
    for (size_t i = 0; i < list->n; i++) {
        const arenaut_scratch_entry *entry = &list->entries[i];
        const uint32_t op = op_of(p, entry);
        char name[32];
        snprintf(name, sizeof name, "scratch%zu", i);
        arenaut_tensor tensor = arenaut_tensor_default();
        tensor.name = name;
        tensor.bytes = entry->bytes;
        tensor.cls = ARENAUT_SCRATCH;
        tensor.method = entry->method;
        uint32_t id;
        const arenaut_status st = arenaut_program_add_tensor(p, &tensor, &id, err);
        if (st != ARENAUT_OK) return st;
        lists[op][p->ops[op].n_scratch + added[op]++] = id;
    }
    return ARENAUT_OK;
}

static arenaut_status add_scratch(arenaut_program *p, const entry_list *list, uint32_t *added,
                                  arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    const uint32_t n_tensors = p->n_tensors;
    uint32_t **lists = arn_allocate_zeroed(allocator, p->n_ops, sizeof *lists);
    arenaut_status st = lists ? grow_lists(p, list, added, lists, err) : arn_no_memory(err);
    if (st == ARENAUT_OK) st = add_tensors(p, list, added, lists, err);
    for (uint32_t op = 0; op < p->n_ops && st == ARENAUT_OK; op++) {
        if (added[op] == 0) continue;
        p->ops[op].scratch = lists[op];
        p->ops[op].n_scratch += added[op];
    }
    if (st != ARENAUT_OK) p->n_tensors = n_tensors; /* as it was: no op names the new ones yet */
    arn_release(allocator, lists);
    return st;
}

static arenaut_status scratch_run(arenaut_program *p, const arenaut_pass_options *options,
                                  arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    entry_list list = {0};
    arenaut_status st = ARENAUT_OK;
    for (size_t i = 0; i < options->n_scratch && st == ARENAUT_OK; i++) {
        st = check_entry(p, &options->scratch[i], i, err);
    }
    if (st != ARENAUT_OK || p->n_ops == 0) return st;
    uint32_t *added = arn_allocate_zeroed(allocator, p->n_ops, sizeof *added);
    if (!added) return arn_no_memory(err);
    for (size_t i = 0; i < options->n_scratch; i++) added[op_of(p, &options->scratch[i])]++;
    st = gather(p, options, added, &list, err);
    if (st == ARENAUT_OK && list.n) st = add_scratch(p, &list, added, err);
    ARN_RELEASE(allocator, list.entries, added);
    return st;
}

extern const arenaut_pass arn_pass_scratch;
const arenaut_pass arn_pass_scratch = {
    .name = "scratch",
    .summary =
        "gives ops the kernel scratch that a file or the kernels' sizes state, to be planned with "
        "the rest",
    .by_default = true,
    .run = scratch_run,
};

uint32_t arn_find_outside(const arenaut_program *program, const arenaut_target *target) {
    for (uint32_t i = 0; i < program->n_ops && target->outside; i++) {
        const char *name = program->ops[i].name;
        for (const char *const *op = target->outside; name && *op; op++) {
            if (strcmp(name, *op) == 0) return i;
        }
    }
    return ARENAUT_NONE;
}

static bool is_listed(const arenaut_program *program, const arenaut_op *op,
                      const arenaut_kernel_set *kernels) {
    for (const arenaut_scratch_rule *rule = arenaut_kernel_scratch(kernels, op->name);
         rule && rule->op; rule++) {
        if (strcmp(rule->op, op->name) != 0) continue;
        if (rule->types == 0) return true;
        if (rule->input >= op->n_inputs || op->inputs[rule->input] == ARENAUT_NONE) continue;
        if (rule->types >> program->tensors[op->inputs[rule->input]].dtype & 1) return true;
    }
    return false;
}

bool arn_op_asks_for_scratch(const arenaut_program *program, const arenaut_op *op,
                             const arenaut_kernel_set *kernels) {
    arenaut_scratch_requests requests;
    if (arn_op_reads_compressed(program, op)) return true;
    if (!is_listed(program, op, kernels)) return false;
    return !arn_kernel_scratch_sizes(kernels, program, op, &requests) || requests.n > 0;
}

arenaut_scratch_knowledge arn_scratch_known(const arenaut_program *program,
                                            const arenaut_kernel_set *kernels,
                                            const arenaut_scratch_sizes *sizes) {
    const bool listed = sizes && sizes->known;
    bool given = listed;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        if (op->n_scratch > 0) {
            given = true;
        } else if (!listed && arn_op_asks_for_scratch(program, op, kernels)) {
            return ARENAUT_SCRATCH_UNKNOWN;
        }
    }
    return given ? ARENAUT_SCRATCH_GIVEN : ARENAUT_SCRATCH_NONE;
}
