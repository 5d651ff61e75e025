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
#include <string.h>

#include "core/checked.h"
#include "formats/iree/iree_reader.h"

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
    if (at < r->line.length) return arn_iree_read_pack(r, at + strlen(word));
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
        arn_iree_read_command(r);
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
    arn_release(r->allocator, r->slots);
    arn_release(r->allocator, r->sizes);
    arn_release(r->allocator, r->slices);
    arn_release(r->allocator, r->dims);
    arn_release(r->allocator, r);
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
    if (st == ARENAUT_OK) st = arn_iree_make_problem(r);
    if (st == ARENAUT_OK) out->problem = r->problem;
    else arenaut_problem_free(r->problem);
    release(r);
    return st;
}
