/* Slabs: their slices, and which op writes a slice first, for its label. */
#include <inttypes.h>
#include <string.h>

#include "formats/iree/iree_reader.h"

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

void arn_iree_read_command(arn_iree *r) {
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

/* "[0, 2] = %c64" */
static arenaut_status read_slice(arn_iree *r, size_t *at) {
    enum { MOST_STEPS = INT32_MAX }; /* so that the steps of all slabs together are numbers */
    arn_iree_slice s = {.op = {NULL, 0}};
    uint64_t first, last;
    if (!arn_iree_take(r->line, at, "[") || !arn_iree_take_number(r->line, at, &first) ||
        !arn_iree_take(r->line, at, ",") || !arn_iree_take_number(r->line, at, &last) ||
        !arn_iree_take(r->line, at, "]") || !arn_iree_take(r->line, at, "=") ||
        !arn_iree_take_name(r->line, at, '%', &s.value)) {
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
arenaut_status arn_iree_read_pack(arn_iree *r, size_t at) {
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
