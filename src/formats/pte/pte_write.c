/* Writer of a plan, and of another schedule of instructions, into a .pte file.
 *
 * The places that the file gives its tensors and the sizes of its memories are overwritten in
 * place. Flatbuffers leave out numbers that are zero, so a tensor may have no room for its offset;
 * its place is then given anew behind the program, in the padding before the segments if that will
 * do, and nothing else moves (pte_patch.h). The new file is read and compared with the old one
 * before anything is written. */
#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/cursor.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/writer.h"
#include "formats/pte/pte_layout.h"
#include "formats/pte/pte_patch.h"
#include "formats/pte/pte.h"
#include "formats/pte/pte_schema.h"
#include "ir/program.h"

typedef struct writing {
    const arenaut_result *result;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arn_pte_model model;
    arenaut_program *held; /* the file, as read again */
    arn_region region;
    arn_pte_layout layout;
    arn_pte_patch patch;
    uint32_t *order; /* per op: the instruction of its method that comes there; NULL: as it was */
    bool *has_tail;  /* per method: an XNNPACK delegate may add memories behind those of its plan */
    size_t file_size; /* of the new file */
    uint64_t segment_base;
} writing;

/* ---- conditions ---- */

static arenaut_status check_result(const arenaut_result *result, arenaut_error *err) {
    if (!result->file || !result->program || !result->lowering || !result->plan) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "writing a .pte needs the original file, its program, the lowering and a "
                        "plan");
    }
    if (result->target && !result->target->plan_in_file) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "target '%s' takes no plan from a program file; 'executorch' does",
                        result->target->name);
    }
    if (result->plan->quality == ARENAUT_INFEASIBLE) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "there is no plan to write: it is infeasible");
    }
    if (arenaut_rewrite_is_tiled(result->rewrite)) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "a .pte holds no ops that were split");
    }
    return ARENAUT_OK;
}

/* Passes may add tensors and say more of those that there are, but the file's own must
 * still be there, in order and of their size. */
static arenaut_status check_tensors(const writing *w) {
    const arenaut_program *held = w->held, *planned = w->result->program;
    bool same = planned->n_tensors >= held->n_tensors && planned->n_methods >= held->n_methods &&
                w->result->lowering->n_tensors >= held->n_tensors;
    for (uint32_t t = 0; t < held->n_tensors && same; t++) {
        const arenaut_tensor *a = &held->tensors[t], *b = &planned->tensors[t];
        same = a->method == b->method && a->file_index == b->file_index && a->bytes == b->bytes;
    }
    if (same) return ARENAUT_OK;
    return arn_fail(w->err, ARENAUT_REFUSED, 0,
                    "the program that was planned is not the one in the file: passes have changed "
                    "its tensors or their sizes, which a .pte cannot express");
}

static arenaut_status make_layout(writing *w) {
    w->has_tail = arn_region_allocate(&w->region, w->held->n_methods, sizeof *w->has_tail);
    if (!w->has_tail) return arn_no_memory(w->err);
    for (uint32_t m = 0; m < w->held->n_methods; m++) {
        const arn_fb_table plan = arn_fb_item_table(&w->model.fb, w->model.plans, m);
        w->has_tail[m] = arn_pte_has_xnnpack(&w->model, plan);
    }
    const arenaut_status st = arn_fb_status(&w->model.fb, "delegates", w->err);
    if (st != ARENAUT_OK) return st;
    return arn_pte_make_layout(w->result, w->held, w->has_tail, &w->region, &w->layout, w->err);
}

/* ---- changing the program ---- */

static arenaut_status patch_tensors(writing *w, bool in_place) {
    arn_flatbuffer *fb = &w->patch.fb;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t t = 0; t < w->held->n_tensors && st == ARENAUT_OK; t++) {
        const arenaut_tensor *tensor = &w->held->tensors[t];
        if (tensor->given_pool == ARENAUT_NONE) continue;
        const arn_fb_table plan = arn_fb_item_table(fb, w->model.plans, tensor->method);
        const arn_fb_vector values = arn_fb_vector_field(fb, plan, PLAN_VALUES, 4);
        if (tensor->file_index >= values.count) break; /* overwritten: the check will tell */
        const arn_fb_table value = arn_fb_item_table(fb, values, tensor->file_index);
        st = arn_pte_patch_place(&w->patch, arn_fb_table_field(fb, value, VALUE),
                                 w->layout.memory[t] + 1, w->layout.offset[t], in_place);
    }
    return st;
}

static arenaut_status patch_methods(writing *w, bool in_place) {
    arn_flatbuffer *fb = &w->patch.fb;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t m = 0; m < w->held->n_methods && st == ARENAUT_OK; m++) {
        const arenaut_method *method = &w->held->methods[m];
        const arn_fb_table plan = arn_fb_item_table(fb, w->model.plans, m);
        const arn_pte_memory *memories = w->layout.memories + w->layout.first[m];
        const uint32_t n = w->layout.first[m + 1] - w->layout.first[m];
        st = arn_pte_patch_sizes(&w->patch, plan, memories, n, in_place);
        if (st != ARENAUT_OK || !in_place) continue;
        st = arn_pte_patch_devices(&w->patch, plan, memories, n, method->given_pools,
                                   method->n_given_pools);
    }
    return st;
}

/* The first round overwrites. If two tables share overwritten bytes, one of them now reads wrong,
 * and the second round gives it its own. */
static arenaut_status patch_program(writing *w) {
    const arn_flatbuffer *fb = &w->model.fb;
    arenaut_status st = arn_pte_patch_open(fb->data, fb->size, w->allocator, &w->patch, w->err);
    for (int round = 0; round < 2 && st == ARENAUT_OK; round++) {
        st = patch_tensors(w, round == 0);
        if (st == ARENAUT_OK) st = patch_methods(w, round == 0);
    }
    return st;
}

/* ---- the order of the instructions ---- */

/* Lines of the source go with their instructions: there is one for each, or there are none. */
static arenaut_status order_chain(writing *w, arn_fb_table chain, const uint32_t *order,
                                  uint32_t n) {
    arn_flatbuffer *fb = &w->model.fb;
    const arn_fb_vector instructions = arn_fb_vector_field(fb, chain, CHAIN_INSTRUCTIONS, 4);
    const arn_fb_vector traces = arn_fb_vector_field(fb, chain, CHAIN_STACKTRACE, 4);
    if (instructions.count != n || (traces.count > 0 && traces.count < n)) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0,
                        "the order is of %" PRIu32 " instructions; the file has %" PRIu32
                        ", and sources of %" PRIu32,
                        n, instructions.count, traces.count);
    }
    const arenaut_status st = arn_pte_patch_order(&w->patch, fb, instructions, order, n);
    if (st != ARENAUT_OK || traces.count == 0) return st;
    return arn_pte_patch_order(&w->patch, fb, traces, order, n);
}

/* `order`, per op of the program, becomes the instruction that comes there, within its method. */
static void list_order(const writing *w, uint32_t *order) {
    const arenaut_rewrite *rewrite = w->result->rewrite;
    for (uint32_t m = 0; m < w->held->n_methods; m++) {
        const arenaut_method *method = &w->held->methods[m];
        for (uint32_t i = 0; i < method->n_ops; i++) {
            order[method->first_op + i] = rewrite->ops[method->first_op + i] - method->first_op;
        }
    }
}

static arenaut_status order_program(writing *w) {
    const arenaut_rewrite *rewrite = w->result->rewrite;
    arn_flatbuffer *fb = &w->model.fb;
    if (!rewrite) return ARENAUT_OK;
    if (rewrite->n_ops != w->held->n_ops) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0, "the order is of another program");
    }
    w->order = arn_region_allocate(&w->region, rewrite->n_ops, sizeof *w->order);
    if (!w->order) return arn_no_memory(w->err);
    list_order(w, w->order);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t m = 0; m < w->held->n_methods && st == ARENAUT_OK; m++) {
        const arenaut_method *method = &w->held->methods[m];
        const arn_fb_table plan = arn_fb_item_table(fb, w->model.plans, m);
        const arn_fb_vector chains = arn_fb_vector_field(fb, plan, PLAN_CHAINS, 4);
        if (chains.count == 0) continue;
        st = order_chain(w, arn_fb_item_table(fb, chains, 0), w->order + method->first_op,
                         method->n_ops);
    }
    return st;
}

/* ---- segments ---- */

/* Segments stay as well aligned as they are, as far as anyone maps files by pages, and no
 * worse than exporters do by default. */
static uint64_t segment_alignment(writing *w) {
    enum { DEFAULT = 128, LIMIT = 1 << 16 };
    arn_flatbuffer *fb = &w->model.fb;
    uint64_t bits = w->segment_base | LIMIT;
    const arn_fb_vector segments = arn_fb_vector_field(fb, w->model.root, PROGRAM_SEGMENTS, 4);
    for (uint32_t i = 0; i < segments.count; i++) {
        bits |= arn_fb_u64(fb, arn_fb_item_table(fb, segments, i), SEGMENT_OFFSET, 0);
    }
    return arn_max_u64(bits & (~bits + 1), DEFAULT);
}

/* Sets the program's new size and the place of its segments in the header. */
static arenaut_status patch_header(writing *w) {
    const size_t old_size = w->model.fb.size, size = w->patch.fb.size;
    uint64_t file_size;
    w->segment_base = w->model.segment_base;
    w->file_size = w->model.file_size;
    if (size == old_size) return ARENAUT_OK;
    if (w->segment_base == 0) {
        w->file_size += size - old_size;
    } else if (size > w->segment_base) {
        const uint64_t behind = w->model.file_size - w->segment_base;
        if (!arn_align_up(size, segment_alignment(w), &w->segment_base) ||
            !arn_add(w->segment_base, behind, &file_size) || file_size > SIZE_MAX) {
            return arn_fail(w->err, ARENAUT_TOO_LARGE, 0, "the file would be too large");
        }
        w->file_size = (size_t)file_size;
    }
    if (!w->model.has_header) return ARENAUT_OK;
    arn_store_u64(w->patch.bytes + PTE_HEADER_PROGRAM_SIZE, size);
    arn_store_u64(w->patch.bytes + PTE_HEADER_SEGMENT_BASE, w->segment_base);
    return ARENAUT_OK;
}

static void put_zeroes(arn_writer *writer, uint64_t count) {
    static const uint8_t zeroes[256];
    for (; count > sizeof zeroes; count -= sizeof zeroes) arn_put(writer, zeroes, sizeof zeroes);
    arn_put(writer, zeroes, (size_t)count);
}

static arenaut_status put_file(const writing *w, arenaut_sink sink) {
    const uint8_t *data = w->result->file;
    const size_t size = w->patch.fb.size, old_file_size = w->model.file_size;
    const uint64_t old_base = w->model.segment_base;
    arn_writer writer = arn_writer_to(sink);
    arn_put(&writer, w->patch.bytes, size);
    if (w->segment_base != old_base) {
        put_zeroes(&writer, w->segment_base - size);
        arn_put(&writer, data + old_base, old_file_size - (size_t)old_base);
    } else {
        /* Padding before segments may have shrunk; where there are none, nothing has. */
        const size_t from = old_base != 0 ? size : w->model.fb.size;
        arn_put(&writer, data + from, old_file_size - from);
    }
    return arn_writer_finish(&writer, w->err);
}

/* ---- check of the result ---- */

static bool same_tensor(const arenaut_tensor *a, const arenaut_tensor *b) {
    return arn_same_text(a->name, b->name) && arn_same_text(a->qualified_name, b->qualified_name) &&
           a->dtype == b->dtype && a->bytes == b->bytes && a->cls == b->cls &&
           a->method == b->method && a->file_index == b->file_index &&
           a->caller_owned == b->caller_owned;
}

static bool same_op(const arenaut_op *a, const arenaut_op *b) {
    return arn_same_text(a->name, b->name) && arn_same_text(a->source, b->source) &&
           a->kind == b->kind && a->method == b->method && a->target == b->target &&
           arn_same_ids(a->inputs, a->n_inputs, b->inputs, b->n_inputs) &&
           arn_same_ids(a->outputs, a->n_outputs, b->outputs, b->n_outputs);
}

static bool same_method(const arenaut_method *a, const arenaut_method *b) {
    return arn_same_text(a->name, b->name) && a->n_ops == b->n_ops &&
           arn_same_ids(a->inputs, a->n_inputs, b->inputs, b->n_inputs) &&
           arn_same_ids(a->outputs, a->n_outputs, b->outputs, b->n_outputs);
}

/* All but the places; the ops of `b` are in the new order. */
static bool same_program(const arenaut_program *a, const arenaut_program *b,
                         const uint32_t *order) {
    bool same =
        a->n_tensors == b->n_tensors && a->n_ops == b->n_ops && a->n_methods == b->n_methods;
    for (uint32_t i = 0; i < a->n_tensors && same; i++) {
        same = same_tensor(&a->tensors[i], &b->tensors[i]);
    }
    for (uint32_t i = 0; i < a->n_methods && same; i++) {
        same = same_method(&a->methods[i], &b->methods[i]);
    }
    for (uint32_t i = 0; i < a->n_ops && same; i++) {
        const uint32_t first = a->methods[b->ops[i].method].first_op;
        same = same_op(&a->ops[order ? first + order[i] : i], &b->ops[i]);
    }
    return same;
}

static bool is_laid_out(const arn_pte_layout *layout, const arenaut_program *program) {
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        if (tensor->given_pool != layout->memory[t] || tensor->given_offset != layout->offset[t]) {
            return false;
        }
    }
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        const arn_pte_memory *memories = layout->memories + layout->first[m];
        if (method->n_given_pools != layout->first[m + 1] - layout->first[m]) return false;
        for (uint32_t i = 0; i < method->n_given_pools; i++) {
            const arenaut_given_pool *pool = &method->given_pools[i];
            if (pool->bytes != memories[i].size || pool->device.type != memories[i].device.type ||
                pool->device.index != memories[i].device.index) {
                return false;
            }
        }
    }
    return true;
}

/* Whether delegates can be read as they were, those that nothing calls included. */
static bool keeps_delegates(const writing *w) {
    arn_pte_model model;
    arenaut_error why;
    const size_t size = w->patch.fb.size;
    bool same = arn_pte_open(w->patch.bytes, size, w->file_size, &model, &why) == ARENAUT_OK &&
                model.plans.count == w->model.plans.count;
    for (uint32_t m = 0; m < w->held->n_methods && same; m++) {
        const arn_fb_table plan = arn_fb_item_table(&model.fb, model.plans, m);
        same = arn_pte_has_xnnpack(&model, plan) == w->has_tail[m];
    }
    return same && arn_fb_status(&model.fb, "delegates", &why) == ARENAUT_OK;
}

/* A file may use the bytes of one thing for another as well: then changing one has changed
 * the other. */
static arenaut_status check_patched(const writing *w) {
    arenaut_program *back = NULL;
    arenaut_error why;
    const arenaut_status st = arn_pte_read(w->patch.bytes, w->patch.fb.size, w->file_size, NULL,
                                           w->allocator, &back, &why);
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(w->err);
    const bool fine = st == ARENAUT_OK && same_program(w->held, back, w->order) &&
                      is_laid_out(&w->layout, back) && keeps_delegates(w);
    arn_program_free(back);
    if (fine) return ARENAUT_OK;
    return arn_fail(w->err, ARENAUT_REFUSED, 0,
                    "parts of the file lie over one another, so its plan cannot be changed "
                    "without changing more%s%.160s",
                    st == ARENAUT_OK ? "" : ": ", st == ARENAUT_OK ? "" : why.msg);
}

arenaut_status arn_pte_write(const arenaut_result *result, arenaut_sink sink,
                             const arenaut_allocator *allocator, arenaut_error *err) {
    arenaut_status st = check_result(result, err);
    if (st != ARENAUT_OK) return st;
    writing w;
    memset(&w, 0, sizeof w);
    w.result = result;
    w.allocator = allocator;
    w.err = err;
    arn_region_init(&w.region, allocator);
    const size_t size = result->file_size;
    st = arn_pte_open(result->file, size, size, &w.model, err);
    if (st == ARENAUT_OK) {
        st = arn_pte_read(result->file, size, size, NULL, allocator, &w.held, err);
    }
    if (st == ARENAUT_OK) st = check_tensors(&w);
    if (st == ARENAUT_OK) st = make_layout(&w);
    if (st == ARENAUT_OK) st = patch_program(&w);
    if (st == ARENAUT_OK) st = order_program(&w);
    if (st == ARENAUT_OK) st = patch_header(&w);
    if (st == ARENAUT_OK) st = check_patched(&w);
    if (st == ARENAUT_OK) st = put_file(&w, sink);
    arn_pte_patch_close(&w.patch);
    arn_region_free(&w.region);
    arn_program_free(w.held);
    return st;
}
