/* Reader of IREE's dumps before it lays out its slabs. Of the whole text these lines count:
 *
 *     util.func public @main(…                             whose names come now
 *       %c64 = arith.constant 64 : index                    a size
 *       %7 = arith.muli %0, %c64 : index                    one that depends on others
 *       %2:3 = stream.resource.pack … slices({              a slab, of total %2#0
 *         [0, 2] = %c64,                                    at %2#1, alive in steps 0 to 2
 *         [1, 3] = %7                                       at %2#2
 *       }) : index
 *         stream.cmd.dispatch @exe::@entry {                what writes:
 *           wo %arg5[%2#1 for %c64] : …                     a slice
 *
 * A slab is a pool; nothing tells how steps of two slabs interleave, so they follow one another.
 * Slices of sizes that are not known are laid out by the compiler behind the others, and are left
 * out here, with a note. The compiler prints a function, or the whole module, each time that the
 * pass runs: the last print of a function counts. O(n log n) in the text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/utf8.h"
#include "formats/iree/iree_reader.h"

/* Slabs: their slices, and which op writes a slice first, for its label. */

enum { ALIGN = 64 }; /* of offsets and sizes, where the text states nothing else: IREE's default */

/* ---- writers ---- */

/* "stream.cmd.dispatch @exe::@entry {": the last of these symbols. */
static void read_op(arn_iree *r, size_t at) {
    arn_name symbol;
    while (arn_iree_take_name(r->line, &at, '@', &symbol)) {
        r->op = symbol;
        if (!arn_iree_take(r->line, &at, "::")) return;
    }
}

/* The slices in a line with results of the op at hand. */
static void note_writes(arn_iree *r) {
    for (size_t at = 0; (at = arn_iree_find(r->line, at, "[%")) < r->line.length;) {
        arn_name name;
        uint64_t result;
        uint32_t number;
        at++;
        if (!arn_iree_take_name(r->line, &at, '%', &name) || !arn_iree_take(r->line, &at, "#") ||
            !arn_iree_take_number(r->line, &at, &result) ||
            !arn_iree_get(r, &r->packs_by_name, name, &number)) {
            continue;
        }
        const arn_iree_pack *p = &r->packs[number];
        if (result == 0 || result > p->n_slices) continue;
        arn_iree_slice *written = &r->slices[p->first_slice + result - 1];
        if (written->op.length == 0) written->op = r->op;
    }
}

static void iree_read_command(arn_iree *r) {
    static const char dispatch[] = "stream.cmd.dispatch";
    const size_t at = arn_iree_find(r->line, 0, dispatch);
    if (at < r->line.length) {
        read_op(r, at + strlen(dispatch));
    } else if (arn_iree_has(r->line, "stream.cmd.fill")) {
        r->op = arn_iree_name_of("fill");
        note_writes(r);
    } else if (arn_iree_has(r->line, "stream.cmd.copy")) {
        r->op = arn_iree_name_of("copy");
        note_writes(r);
    } else if (arn_iree_has(r->line, "wo %") || arn_iree_has(r->line, "rw %")) {
        note_writes(r);
    }
}

/* ---- slabs ---- */

/* Drops an earlier print of this function. */
static void drop_older(arn_iree *r) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->n_packs; i++) {
        const bool old = r->packs[i].section != r->section &&
                         arn_iree_same_name(r->packs[i].function, r->function);
        if (!old) r->packs[kept++] = r->packs[i];
    }
    r->n_packs = kept;
}

/* "%c64", or "%5#1", the name of a result of several, which is no size that is known. */
static bool take_value(const arn_iree *r, size_t *at, arn_name *value) {
    uint64_t result;
    if (!arn_iree_take_name(r->line, at, '%', value)) return false;
    size_t behind = *at;
    if (arn_iree_take(r->line, &behind, "#") && arn_iree_take_number(r->line, &behind, &result)) {
        *at = behind;
        value->length = (size_t)(r->line.text + behind - (const char *)value->text);
    }
    return true;
}

/* "[0, 2] = %c64" */
static arenaut_status read_slice(arn_iree *r, size_t *at) {
    enum { MOST_STEPS = INT32_MAX }; /* so that the steps of all slabs together are numbers */
    arn_iree_slice s = {.op = {NULL, 0}};
    uint64_t first, last;
    if (!arn_iree_take(r->line, at, "[") || !arn_iree_take_number(r->line, at, &first) ||
        !arn_iree_take(r->line, at, ",") || !arn_iree_take_number(r->line, at, &last) ||
        !arn_iree_take(r->line, at, "]") || !arn_iree_take(r->line, at, "=") ||
        !take_value(r, at, &s.value)) {
        return arn_iree_fail(r, "expected a slice such as [0, 2] = %c64, or the end of them, })");
    }
    if (first > last || last >= MOST_STEPS) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->number,
                        "line %zu: a slice is alive from step %" PRIu64 " to step %" PRIu64
                        "; the first is at most the last, which is below %d",
                        r->number, first, last, MOST_STEPS);
    }
    s.first = (int64_t)first;
    s.last = (int64_t)last;
    s.size = arn_iree_size_of(r, s.value);
    if (!arn_grow(r->allocator, (void **)&r->slices, &r->slice_capacity, (uint64_t)r->n_slices + 1,
                  sizeof *r->slices)) {
        return arn_no_memory(r->err);
    }
    r->slices[r->n_slices++] = s;
    return ARENAUT_OK;
}

/* From behind "slices({" to "})", over as many lines as it takes. */
static arenaut_status read_slices(arn_iree *r, size_t at) {
    const size_t first_line = r->number;
    while (!arn_iree_take(r->line, &at, "})")) {
        if (arn_iree_at_end(r->line, at)) {
            if (!arn_iree_next_line(r)) {
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
static arenaut_status iree_read_pack(arn_iree *r, size_t at) {
    arn_iree_pack p = {.function = r->function,
                       .section = r->section,
                       .first_slice = r->n_slices,
                       .align = r->align ? r->align : ALIGN};
    const size_t number = r->number;
    uint64_t n_results = 1;
    size_t before = 0;
    if (!arn_iree_take_name(r->line, &before, '%', &p.result)) {
        return arn_iree_fail(r, "a stream.resource.pack has results, such as %2:3 =");
    }
    if (arn_iree_take(r->line, &before, ":") &&
        !arn_iree_take_number(r->line, &before, &n_results)) {
        return arn_iree_fail(r, "expected how many results there are, such as %2:3");
    }
    at = arn_iree_find(r->line, at, "slices({");
    if (at >= r->line.length) return arn_iree_fail(r, "a stream.resource.pack without slices({");
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
    return arn_iree_set(r, &r->packs_by_name, p.result, r->n_packs++);
}

/* Problem from slabs: a pool for each, its slices one after the other. Omissions are noted. */

/* ---- pools and buffers ---- */

/* A C string of at most ARN_IREE_NAME_LIMIT bytes of a name; `out` has room for it. */
static void copy_name(arn_name name, char *out) {
    const size_t length = arn_utf8_cut(name.text, name.length, ARN_IREE_NAME_LIMIT);
    for (size_t i = 0; i < length; i++) out[i] = name.text[i] ? (char)name.text[i] : '?';
    out[length] = '\0';
}

/* Named by its function, and, if that has several slabs, its number among them. */
static arenaut_status add_pool(arn_iree *r, uint32_t number) {
    const arn_iree_pack *p = &r->packs[number];
    char name[ARN_IREE_NAME_LIMIT + 16];
    uint32_t before = 0, all = 0;
    for (uint32_t i = 0; i < r->n_packs; i++) {
        if (!arn_iree_same_name(r->packs[i].function, p->function)) continue;
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

static arenaut_status add_slice(arn_iree *r, uint32_t pool, uint32_t number, int64_t start) {
    const arn_iree_pack *p = &r->packs[pool];
    const arn_iree_slice *s = &r->slices[p->first_slice + number];
    char name[ARN_IREE_NAME_LIMIT + 16] = "%", op[ARN_IREE_NAME_LIMIT + 1];
    const arenaut_interval life = {start + s->first, start + s->last + 1};
    copy_name(p->result, name + 1);
    const size_t used = strlen(name);
    snprintf(name + used, sizeof name - used, "#%" PRIu32, number + 1);
    copy_name(s->op, op);
    if (s->size.min < s->size.max) r->problem->traits |= ARENAUT_PROBLEM_SYMBOLIC;
    const arenaut_buffer buffer = {.size = s->size.max,
                                   .align = p->align,
                                   .lifetimes = &life,
                                   .n_lifetimes = 1,
                                   .pools = UINT64_C(1) << pool,
                                   .name = name,
                                   .op = *op ? op : NULL};
    return arenaut_problem_add_buffer(r->problem, &buffer, NULL, r->err);
}

/* ---- omissions ---- */

/* The first few of some names, each once, as text. */
enum { FEW = 4 };
typedef struct name_list {
    arn_name shown[FEW];
    uint32_t n;
    bool more;
    char text[300];
    size_t used;
} name_list;

static void add_name(name_list *list, const char *mark, arn_name name) {
    uint32_t known = 0;
    while (known < list->n && !arn_iree_same_name(list->shown[known], name)) known++;
    list->more = list->more || (known == list->n && list->n == FEW);
    if (known < list->n || list->n == FEW) return;
    list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used,
                                   "%s%s%.*s", list->n ? ", " : "", mark, ARN_IREE_TEXT(name));
    list->shown[list->n++] = name;
}

static const char *rest_of(const name_list *list) { return list->more ? ", …" : ""; }

/* The slices of unknown size of a slab, and the dimensions that determine them. */
static uint32_t list_open(const arn_iree *r, const arn_iree_pack *p, name_list *values,
                          name_list *dims) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_slices; i++) {
        const arn_iree_slice *s = &r->slices[p->first_slice + i];
        if (s->size.known) continue;
        n++;
        add_name(values, "%", s->value);
        if (s->size.open == ARENAUT_NONE) continue;
        add_name(dims, "", arn_iree_name_of(r->dims[s->size.open]));
    }
    return n;
}

/* Says which slices of a slab are left out. Where all of all slabs are, nothing is left to say. */
static arenaut_status tell_open(arn_iree *r, const arn_iree_pack *p) {
    name_list values = {.n = 0}, dims = {.n = 0};
    char text[800], hint[360] = "";
    const uint32_t n = list_open(r, p, &values, &dims);
    if (n == 0) return ARENAUT_OK;
    if (dims.n > 0) {
        snprintf(hint, sizeof hint, "; sizes that can be given a value: %s%s", dims.text,
                 rest_of(&dims));
    }
    if (r->problem->n_buffers == 0) {
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                        "all sizes of slices are known only when it runs (%s%s)%s", values.text,
                        rest_of(&values), hint);
    }
    r->problem->traits |= ARENAUT_PROBLEM_SYMBOLIC;
    if (!r->options->note) return ARENAUT_OK;
    snprintf(text, sizeof text,
             "@%.*s: %" PRIu32 " of %" PRIu32
             " slices have sizes that are known only when it runs (%s%s): they are left out%s",
             ARN_IREE_TEXT(p->function), n, p->n_slices, values.text, rest_of(&values), hint);
    r->options->note(r->options->note_context, text);
    return ARENAUT_OK;
}

/* Makes r->problem. */
static arenaut_status iree_make_problem(arn_iree *r) {
    arenaut_status st = arenaut_problem_new(r->allocator, &r->problem, r->err);
    int64_t start = 0;
    for (uint32_t i = 0; i < r->n_packs && st == ARENAUT_OK; i++) st = add_pool(r, i);
    for (uint32_t i = 0; i < r->n_packs && st == ARENAUT_OK; i++) {
        const arn_iree_pack *p = &r->packs[i];
        int64_t end = start;
        for (uint32_t k = 0; k < p->n_slices && st == ARENAUT_OK; k++) {
            const arn_iree_slice *s = &r->slices[p->first_slice + k];
            if (start + s->last + 1 > end) end = start + s->last + 1;
            if (s->size.known) st = add_slice(r, i, k, start);
        }
        start = end;
    }
    if (st == ARENAUT_OK) st = arenaut_problem_finish(r->problem, r->err);
    for (uint32_t i = 0; i < r->n_packs && st == ARENAUT_OK; i++) {
        st = tell_open(r, &r->packs[i]);
    }
    return st;
}

/* ---- the walk ---- */

/* Names are good within their function: another's are others. */
static void enter_function(arn_iree *r, arn_name function) {
    r->function = function;
    r->op = (arn_name){NULL, 0};
    r->sizes_by_name = (arn_name_tree){NULL};
    r->packs_by_name = (arn_name_tree){NULL};
}

/* The device's alignments in the text: of the two the larger serves for both. */
static arenaut_status read_alignment(arn_iree *r, const char *key) {
    size_t at = arn_iree_find(r->line, 0, key);
    uint64_t align;
    if (at >= r->line.length) return ARENAUT_OK;
    at += strlen(key);
    if (!arn_iree_take(r->line, &at, "=") || !arn_iree_take_number(r->line, &at, &align) ||
        !arn_is_power_of_two(align)) {
        return arn_iree_fail(r, "an alignment is a power of two");
    }
    r->align = arn_max_u64(r->align, align);
    return ARENAUT_OK;
}

/* The name behind the '@' of a line that begins a function. */
static void read_function(arn_iree *r) {
    size_t at = arn_iree_find(r->line, 0, "@");
    arn_name name = arn_iree_name_of("?");
    (void)arn_iree_take_name(r->line, &at, '@', &name);
    enter_function(r, name);
}

static arenaut_status read_line(arn_iree *r) {
    static const char word[] = "stream.resource.pack";
    const size_t at = arn_iree_find(r->line, 0, word);
    if (at < r->line.length) return iree_read_pack(r, at + strlen(word));
    if (arn_iree_has(r->line, "// -----// IR Dump")) {
        r->section++;
        r->align = 0;
        enter_function(r, arn_iree_name_of("?"));
    } else if (arn_iree_has(r->line, "util.func ") || arn_iree_has(r->line, "func.func ")) {
        read_function(r);
    } else if (arn_iree_has(r->line, "util.initializer")) {
        enter_function(r, arn_iree_name_of("initializer"));
    } else {
        const arenaut_status st = arn_iree_read_size(r);
        if (st != ARENAUT_OK) return st;
        iree_read_command(r);
    }
    const arenaut_status st = read_alignment(r, "min_buffer_offset_alignment");
    return st == ARENAUT_OK ? read_alignment(r, "min_buffer_range_alignment") : st;
}

static arenaut_status read_text(arn_iree *r) {
    arenaut_status st = ARENAUT_OK;
    enter_function(r, arn_iree_name_of("?"));
    while (st == ARENAUT_OK && arn_iree_next_line(r)) st = read_line(r);
    if (st != ARENAUT_OK) return st;
    if (r->n_packs > 0) return arn_iree_check_dims(r);
    return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                    "there is no stream.resource.pack in it: the program needs no slab, or this is "
                    "no dump by iree-compile before the pass iree-stream-layout-slices");
}

static void release(arn_iree *r) {
    arn_region_free(&r->region);
    ARN_RELEASE(r->allocator, r->slots, r->sizes, r->slices, r->dims, r);
}

arenaut_status arn_iree_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                             const arenaut_allocator *allocator, arenaut_document *out,
                             arenaut_error *err) {
    /* On the heap because of its slabs, which would take 4 KiB of stack. */
    arn_iree *r = arn_allocate_zeroed(allocator, 1, sizeof *r);
    if (!r) return arn_no_memory(err);
    r->text = (arn_iree_line){(const char *)data, size};
    r->options = options;
    r->allocator = allocator;
    r->err = err;
    arn_region_init(&r->region, allocator);
    arenaut_status st = read_text(r);
    if (st == ARENAUT_OK) st = iree_make_problem(r);
    if (st == ARENAUT_OK) out->problem = r->problem;
    else arenaut_problem_free(r->problem);
    release(r);
    return st;
}
