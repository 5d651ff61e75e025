/* Reading what IREE prints before it lays out its slabs. Of the whole text these lines count:
 *
 *     util.func public @main(…                             whose names come now
 *       %c64 = arith.constant 64 : index                    a size
 *       %2:3 = stream.resource.pack … slices({              a slab, of total %2#0
 *         [0, 2] = %c64,                                    at %2#1, alive in steps 0 to 2
 *         [1, 3] = %7                                       at %2#2; the size is not a constant
 *       }) : index
 *         stream.cmd.dispatch @exe::@entry {                what writes:
 *           wo %arg5[%2#1 for %c64] : …                     a slice
 *
 * A slab is a pool; nothing tells how steps of two slabs interleave, so they follow one another.
 * Slices of sizes that are not constant are laid out by the compiler behind the others, and are
 * left out here, with a note. The compiler prints a function, or the whole module, each time that
 * the pass runs: what it prints last of a function counts. O(n log n) in the text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/utf8.h"
#include "formats/iree/iree.h"
#include "formats/iree/iree_text.h"

enum {
    ARN_IREE_NAME_LIMIT = 256, /* longer names are cut */
    ALIGN = 64, /* of offsets and sizes, where the text states nothing else: IREE's own default */
};

typedef struct slice {
    int64_t first, last;
    uint64_t size;
    arn_name constant; /* of which the size is; dynamic if it is unknown there */
    arn_name op;       /* that writes it first; length 0: not seen */
    bool dynamic;
} slice;

typedef struct pack {
    arn_name function, result;
    uint32_t section, first_slice, n_slices;
    uint64_t align;
} pack;

typedef struct reader {
    arn_iree_line text, line; /* all, and the line at hand */
    size_t at, number;        /* where the next line begins; the number of this one */
    const arenaut_read_options *options;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arn_region region;
    arn_name_tree constants, packs_by_name; /* of the function at hand */
    arn_name function, op;                  /* at hand; the op: a dispatch, a fill, … */
    uint32_t section;
    uint64_t align;
    uint64_t *values; /* of constants */
    slice *slices;
    pack packs[ARENAUT_MAX_POOLS];
    uint32_t n_values, n_slices, n_packs, value_capacity, slice_capacity;
    arenaut_problem *problem;
} reader;

/* For "%.*s": at most so much of a name as a message can hold. */
#define TEXT(name) ((name).length < 60 ? (int)(name).length : 60), (const char *)(name).text

static bool same_name(arn_name a, arn_name b) {
    return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

static arn_name name_of(const char *text) {
    return (arn_name){(const uint8_t *)text, strlen(text)};
}

static arenaut_status fail(const reader *r, const char *what) {
    return arn_fail(r->err, ARENAUT_BAD_INPUT, r->number, "line %zu: %s", r->number, what);
}

/* ---- names ---- */

/* Names are good within their function: another's are others. */
static void enter_function(reader *r, arn_name function) {
    r->function = function;
    r->op = (arn_name){NULL, 0};
    r->constants = (arn_name_tree){NULL};
    r->packs_by_name = (arn_name_tree){NULL};
}

/* A name that is there again in another part of the function is another value: the last counts. */
static arenaut_status set_name(reader *r, arn_name_tree *tree, arn_name name, uint64_t value) {
    bool found = false;
    uint32_t slot = r->n_values;
    if (!arn_grow(r->allocator, (void **)&r->values, &r->value_capacity, (uint64_t)slot + 1,
                  sizeof *r->values) ||
        !arn_name_tree_add(tree, &r->region, name, &slot, &found)) {
        return arn_no_memory(r->err);
    }
    if (!found) r->n_values++;
    r->values[slot] = value;
    return ARENAUT_OK;
}

static bool find_name(const reader *r, const arn_name_tree *tree, arn_name name, uint64_t *value) {
    uint32_t slot;
    if (!arn_name_tree_find(tree, name, &slot)) return false;
    *value = r->values[slot];
    return true;
}

/* ---- lines ---- */

static bool next_line(reader *r) {
    if (r->at >= r->text.length) return false;
    const char *first = r->text.text + r->at;
    const char *end = memchr(first, '\n', r->text.length - r->at);
    r->line = (arn_iree_line){first, end ? (size_t)(end - first) : r->text.length - r->at};
    r->at += r->line.length + 1;
    r->number++;
    return true;
}

/* "%c64 = arith.constant 64 : index" */
static arenaut_status read_constant(reader *r) {
    size_t at = 0;
    arn_name name;
    uint64_t value;
    if (!arn_iree_take_name(r->line, &at, '%', &name) || !arn_iree_take(r->line, &at, "=") ||
        !arn_iree_take(r->line, &at, "arith.constant") ||
        !arn_iree_take_number(r->line, &at, &value) || !arn_iree_take(r->line, &at, ":") ||
        !arn_iree_take(r->line, &at, "index")) {
        return ARENAUT_OK;
    }
    return set_name(r, &r->constants, name, value);
}

/* What the text says of the device's alignments: of the two the larger serves for both. */
static arenaut_status read_alignment(reader *r, const char *key) {
    size_t at = arn_iree_find(r->line, 0, key);
    uint64_t align;
    if (at >= r->line.length) return ARENAUT_OK;
    at += strlen(key);
    if (!arn_iree_take(r->line, &at, "=") || !arn_iree_take_number(r->line, &at, &align) ||
        !arn_is_power_of_two(align)) {
        return fail(r, "an alignment is a power of two");
    }
    r->align = arn_max_u64(r->align, align);
    return ARENAUT_OK;
}

/* "stream.cmd.dispatch @exe::@entry {": the last of these symbols. */
static void read_op(reader *r, size_t at) {
    arn_name symbol;
    while (arn_iree_take_name(r->line, &at, '@', &symbol)) {
        r->op = symbol;
        if (!arn_iree_take(r->line, &at, "::")) return;
    }
}

/* The slices in a line that says what the op at hand writes. */
static void note_writes(reader *r) {
    for (size_t at = 0; (at = arn_iree_find(r->line, at, "[%")) < r->line.length;) {
        arn_name name;
        uint64_t result, number;
        at++;
        if (!arn_iree_take_name(r->line, &at, '%', &name) || !arn_iree_take(r->line, &at, "#") ||
            !arn_iree_take_number(r->line, &at, &result) ||
            !find_name(r, &r->packs_by_name, name, &number)) {
            continue;
        }
        const pack *p = &r->packs[number];
        if (result == 0 || result > p->n_slices) continue;
        slice *written = &r->slices[p->first_slice + result - 1];
        if (written->op.length == 0) written->op = r->op;
    }
}

static void read_command(reader *r) {
    static const char dispatch[] = "stream.cmd.dispatch";
    const size_t at = arn_iree_find(r->line, 0, dispatch);
    if (at < r->line.length) {
        read_op(r, at + strlen(dispatch));
    } else if (arn_iree_has(r->line, "stream.cmd.fill")) {
        r->op = name_of("fill");
        note_writes(r);
    } else if (arn_iree_has(r->line, "stream.cmd.copy")) {
        r->op = name_of("copy");
        note_writes(r);
    } else if (arn_iree_has(r->line, "wo %") || arn_iree_has(r->line, "rw %")) {
        note_writes(r);
    }
}

/* ---- slabs ---- */

/* What was printed before of this function has been replaced. */
static void drop_older(reader *r) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->n_packs; i++) {
        const bool old =
            r->packs[i].section != r->section && same_name(r->packs[i].function, r->function);
        if (!old) r->packs[kept++] = r->packs[i];
    }
    r->n_packs = kept;
}

/* "[0, 2] = %c64" */
static arenaut_status read_slice(reader *r, size_t *at) {
    enum { MOST_STEPS = INT32_MAX }; /* so that the steps of all slabs together are numbers */
    slice s = {.op = {NULL, 0}};
    uint64_t first, last;
    if (!arn_iree_take(r->line, at, "[") || !arn_iree_take_number(r->line, at, &first) ||
        !arn_iree_take(r->line, at, ",") || !arn_iree_take_number(r->line, at, &last) ||
        !arn_iree_take(r->line, at, "]") || !arn_iree_take(r->line, at, "=") ||
        !arn_iree_take_name(r->line, at, '%', &s.constant)) {
        return fail(r, "expected a slice such as [0, 2] = %c64, or the end of them, })");
    }
    if (first > last || last >= MOST_STEPS) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->number,
                        "line %zu: a slice is alive from step %" PRIu64 " to step %" PRIu64
                        "; the first is at most the last, which is below %d",
                        r->number, first, last, MOST_STEPS);
    }
    s.first = (int64_t)first;
    s.last = (int64_t)last;
    s.dynamic = !find_name(r, &r->constants, s.constant, &s.size);
    if (!arn_grow(r->allocator, (void **)&r->slices, &r->slice_capacity, (uint64_t)r->n_slices + 1,
                  sizeof *r->slices)) {
        return arn_no_memory(r->err);
    }
    r->slices[r->n_slices++] = s;
    return ARENAUT_OK;
}

/* From behind "slices({" to "})", over as many lines as it takes. */
static arenaut_status read_slices(reader *r, size_t at) {
    const size_t first_line = r->number;
    while (!arn_iree_take(r->line, &at, "})")) {
        if (arn_iree_at_end(r->line, at)) {
            if (!next_line(r)) {
                return arn_fail(r->err, ARENAUT_BAD_INPUT, first_line,
                                "line %zu: the list of slices that begins here is cut off",
                                first_line);
            }
            at = 0;
            continue;
        }
        const arenaut_status st = read_slice(r, &at);
        if (st != ARENAUT_OK) return st;
        (void)arn_iree_take(r->line, &at, ",");
    }
    return ARENAUT_OK;
}

/* "%2:3 = stream.resource.pack on(…) slices({", with `at` behind the word. */
static arenaut_status read_pack(reader *r, size_t at) {
    pack p = {.function = r->function,
              .section = r->section,
              .first_slice = r->n_slices,
              .align = r->align ? r->align : ALIGN};
    const size_t number = r->number;
    uint64_t n_results = 1;
    size_t before = 0;
    if (!arn_iree_take_name(r->line, &before, '%', &p.result)) {
        return fail(r, "a stream.resource.pack has results, such as %2:3 =");
    }
    if (arn_iree_take(r->line, &before, ":") &&
        !arn_iree_take_number(r->line, &before, &n_results)) {
        return fail(r, "expected how many results there are, such as %2:3");
    }
    at = arn_iree_find(r->line, at, "slices({");
    if (at >= r->line.length) return fail(r, "a stream.resource.pack without slices({");
    const arenaut_status st = read_slices(r, at + strlen("slices({"));
    if (st != ARENAUT_OK) return st;
    p.n_slices = r->n_slices - p.first_slice;
    if (n_results != (uint64_t)p.n_slices + 1) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, number,
                        "line %zu: %" PRIu64 " results for %" PRIu32
                        " slices; it must be one more than that",
                        number, n_results, p.n_slices);
    }
    drop_older(r);
    if (r->n_packs == ARENAUT_MAX_POOLS) {
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, number,
                        "line %zu: more than %u slabs, each of which is a pool", number,
                        ARENAUT_MAX_POOLS);
    }
    r->packs[r->n_packs] = p;
    return set_name(r, &r->packs_by_name, p.result, r->n_packs++);
}

/* ---- the text ---- */

/* The name behind the '@' of a line that begins a function. */
static void read_function(reader *r) {
    size_t at = arn_iree_find(r->line, 0, "@");
    arn_name name = name_of("?");
    (void)arn_iree_take_name(r->line, &at, '@', &name);
    enter_function(r, name);
}

static arenaut_status read_line(reader *r) {
    static const char word[] = "stream.resource.pack";
    const size_t at = arn_iree_find(r->line, 0, word);
    if (at < r->line.length) return read_pack(r, at + strlen(word));
    if (arn_iree_has(r->line, "// -----// IR Dump")) {
        r->section++;
        r->align = 0;
        enter_function(r, name_of("?"));
    } else if (arn_iree_has(r->line, "util.func ") || arn_iree_has(r->line, "func.func ")) {
        read_function(r);
    } else if (arn_iree_has(r->line, "util.initializer")) {
        enter_function(r, name_of("initializer"));
    } else if (arn_iree_has(r->line, "arith.constant")) {
        return read_constant(r);
    } else {
        read_command(r);
    }
    const arenaut_status st = read_alignment(r, "min_buffer_offset_alignment");
    return st == ARENAUT_OK ? read_alignment(r, "min_buffer_range_alignment") : st;
}

static arenaut_status read_text(reader *r) {
    arenaut_status st = ARENAUT_OK;
    enter_function(r, name_of("?"));
    while (st == ARENAUT_OK && next_line(r)) st = read_line(r);
    if (st != ARENAUT_OK || r->n_packs > 0) return st;
    return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                    "there is no stream.resource.pack in it: the program needs no slab, or this is "
                    "not what iree-compile prints before the pass iree-stream-layout-slices");
}

/* ---- the problem ---- */

/* A C string of at most ARN_IREE_NAME_LIMIT bytes of a name; `out` has room for it. */
static void copy_name(arn_name name, char *out) {
    const size_t length = arn_utf8_cut(name.text, name.length, ARN_IREE_NAME_LIMIT);
    for (size_t i = 0; i < length; i++) out[i] = name.text[i] ? (char)name.text[i] : '?';
    out[length] = '\0';
}

/* Named by its function, and its number among those of that where there are several. */
static arenaut_status add_pool(reader *r, uint32_t number) {
    const pack *p = &r->packs[number];
    char name[ARN_IREE_NAME_LIMIT + 16];
    uint32_t before = 0, all = 0;
    for (uint32_t i = 0; i < r->n_packs; i++) {
        if (!same_name(r->packs[i].function, p->function)) continue;
        all++;
        before += i < number;
    }
    copy_name(p->function, name);
    if (all > 1) {
        const size_t used = strlen(name);
        snprintf(name + used, sizeof name - used, ".%" PRIu32, before);
    }
    const arenaut_pool pool = {.name = name, .align = p->align};
    return arenaut_problem_add_pool(r->problem, &pool, NULL, r->err);
}

static arenaut_status add_slice(reader *r, uint32_t pool, uint32_t number, int64_t start) {
    const pack *p = &r->packs[pool];
    const slice *s = &r->slices[p->first_slice + number];
    char name[ARN_IREE_NAME_LIMIT + 16] = "%", op[ARN_IREE_NAME_LIMIT + 1];
    const arenaut_interval life = {start + s->first, start + s->last + 1};
    copy_name(p->result, name + 1);
    const size_t used = strlen(name);
    snprintf(name + used, sizeof name - used, "#%" PRIu32, number + 1);
    copy_name(s->op, op);
    const arenaut_buffer buffer = {.size = s->size,
                                   .align = p->align,
                                   .lifetimes = &life,
                                   .n_lifetimes = 1,
                                   .pools = UINT64_C(1) << pool,
                                   .name = name,
                                   .op = *op ? op : NULL};
    return arenaut_problem_add_buffer(r->problem, &buffer, NULL, r->err);
}

/* The first few of the sizes that are not constants, as text, and how many slices have such. */
static uint32_t list_dynamic(const reader *r, const pack *p, char *names, size_t room) {
    enum { FEW = 4 };
    arn_name shown[FEW];
    uint32_t n = 0, n_shown = 0;
    size_t used = 0;
    bool more = false;
    names[0] = '\0';
    for (uint32_t i = 0; i < p->n_slices; i++) {
        const slice *s = &r->slices[p->first_slice + i];
        uint32_t known = 0;
        if (!s->dynamic) continue;
        n++;
        while (known < n_shown && !same_name(shown[known], s->constant)) known++;
        more = more || (known == n_shown && n_shown == FEW);
        if (known < n_shown || n_shown == FEW) continue;
        shown[n_shown++] = s->constant;
        used += (size_t)snprintf(names + used, room - used, "%s%%%.*s", n_shown > 1 ? ", " : "",
                                 TEXT(s->constant));
    }
    if (more) snprintf(names + used, room - used, ", …");
    return n;
}

/* Says which slices of a slab are left out. Where all of all slabs are, nothing is left to say. */
static arenaut_status tell_dynamic(reader *r, const pack *p) {
    char text[512], names[300];
    const uint32_t n = list_dynamic(r, p, names, sizeof names);
    if (n == 0) return ARENAUT_OK;
    if (r->problem->n_buffers == 0) {
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                        "all sizes of slices are known only when it runs (%s)", names);
    }
    r->problem->traits |= ARENAUT_PROBLEM_SYMBOLIC;
    if (!r->options->note) return ARENAUT_OK;
    snprintf(text, sizeof text,
             "@%.*s: %" PRIu32 " of %" PRIu32
             " slices have sizes that are known only when it "
             "runs (%s): they are left out",
             TEXT(p->function), n, p->n_slices, names);
    r->options->note(r->options->note_context, text);
    return ARENAUT_OK;
}

static arenaut_status make_problem(reader *r) {
    arenaut_status st = arenaut_problem_new(r->allocator, &r->problem, r->err);
    int64_t start = 0;
    for (uint32_t i = 0; i < r->n_packs && st == ARENAUT_OK; i++) st = add_pool(r, i);
    for (uint32_t i = 0; i < r->n_packs && st == ARENAUT_OK; i++) {
        const pack *p = &r->packs[i];
        int64_t end = start;
        for (uint32_t k = 0; k < p->n_slices && st == ARENAUT_OK; k++) {
            const slice *s = &r->slices[p->first_slice + k];
            if (start + s->last + 1 > end) end = start + s->last + 1;
            if (!s->dynamic) st = add_slice(r, i, k, start);
        }
        start = end;
    }
    if (st == ARENAUT_OK) st = arenaut_problem_finish(r->problem, r->err);
    for (uint32_t i = 0; i < r->n_packs && st == ARENAUT_OK; i++) {
        st = tell_dynamic(r, &r->packs[i]);
    }
    return st;
}

arenaut_status arn_iree_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                             const arenaut_allocator *allocator, arenaut_document *out,
                             arenaut_error *err) {
    /* On the heap because of its slabs, which would take 4 KiB of stack. */
    reader *r = arn_allocate_zeroed(allocator, 1, sizeof *r);
    if (!r) return arn_no_memory(err);
    r->text = (arn_iree_line){(const char *)data, size};
    r->options = options;
    r->allocator = allocator;
    r->err = err;
    arn_region_init(&r->region, allocator);
    arenaut_status st = read_text(r);
    if (st == ARENAUT_OK) st = make_problem(r);
    if (st == ARENAUT_OK) out->problem = r->problem;
    else arenaut_problem_free(r->problem);
    arn_region_free(&r->region);
    arn_release(allocator, r->values);
    arn_release(allocator, r->slices);
    arn_release(allocator, r);
    return st;
}
