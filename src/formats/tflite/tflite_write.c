/* Writer of a plan into a .tflite file, and its removal.
 *
 * The plan is a list of one 32-bit offset per tensor of the file, in the metadata that the
 * micro runtime obeys; -1 leaves a tensor to the runtime. A file that is as we wrote it gets the
 * new plan in the place of the old one; any other gets a prefix (tflite_prefix.c), so that nothing
 * of it changes and strip can give it back as it was. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/version.h>

#include "core/checked.h"
#include "core/cursor.h"
#include "core/fail.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/writer.h"
#include "formats/tflite/tflite_schema.h"
#include "formats/tflite/tflite.h"
#include "formats/tflite/tflite_write.h"
#include "ir/program.h"
#include "kernels/kernel_set.h"

enum {
    ONLINE = -1,       /* the runtime finds a place by itself */
    OFFSET_ALIGN = 16, /* the runtime does not check it, and reads wrong values otherwise */
};

/* Conditions on a result for writing. */
static arenaut_status check_result(const arenaut_result *result, arenaut_error *err) {
    if (!result->file || !result->program || !result->lowering || !result->plan) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "writing a .tflite needs the original file, its program, the lowering "
                        "and a plan");
    }
    if (result->target && !result->target->plan_in_file) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "target '%s' takes no plan from a model file; 'tflite-micro' does",
                        result->target->name);
    }
    if (result->plan->quality == ARENAUT_INFEASIBLE) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "there is no plan to write: it is infeasible");
    }
    return ARENAUT_OK;
}

/* The micro runtime knows no such files, so there is nothing to gain by moving it along. */
arenaut_status arn_tflite_check_movable(arn_tflite_model *model, arenaut_error *err) {
    arn_flatbuffer *fb = &model->fb;
    for (uint32_t i = 0; i < model->buffers.count; i++) {
        const arn_fb_table buffer = arn_fb_item_table(fb, model->buffers, i);
        const uint64_t offset = arn_fb_u64(fb, buffer, BUFFER_OFFSET, 0);
        if (offset <= 1) continue;
        return arn_fail(err, ARENAUT_REFUSED, buffer.at,
                        "buffer %" PRIu32 " lies outside the flatbuffer, at byte %" PRIu64
                        " of the file; only models with all data inside can be given a plan",
                        i, offset);
    }
    for (uint32_t s = 0; s < model->subgraphs.count; s++) {
        const arn_fb_table graph = arn_fb_item_table(fb, model->subgraphs, s);
        const arn_fb_vector operators = arn_fb_vector_field(fb, graph, SUBGRAPH_OPERATORS, 4);
        for (uint32_t i = 0; i < operators.count; i++) {
            const arn_fb_table op = arn_fb_item_table(fb, operators, i);
            const uint64_t offset = arn_fb_u64(fb, op, OPERATOR_LARGE_OPTIONS_OFFSET, 0);
            if (offset <= 1) continue;
            return arn_fail(err, ARENAUT_REFUSED, op.at,
                            "operator %" PRIu32 " of subgraph %" PRIu32
                            " keeps its options outside the flatbuffer, at byte %" PRIu64
                            " of the file; only models with all data inside can be given a plan",
                            i, s, offset);
        }
    }
    return arn_fb_status(fb, "model", err);
}

/* The offsets. */

/* Constants lie in the file, variables in memory of their own, and handles with their
 * operators: the runtime plans none of them. */
static bool runtime_plans(const arenaut_tensor *tensor) {
    return tensor->bytes != 0 && (tensor->cls == ARENAUT_INTERMEDIATE ||
                                  tensor->cls == ARENAUT_INPUT || tensor->cls == ARENAUT_OUTPUT);
}

static arenaut_status planned_offset(const arenaut_result *result, uint32_t t, int32_t *offset,
                                     arenaut_error *err) {
    const arenaut_tensor *tensor = &result->program->tensors[t];
    const uint32_t b = result->lowering->buffer[t];
    char store[24];
    const char *name = arenaut_program_tensor_name(result->program, t, store);
    if (result->plan->pool[b] != 0) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "tensor '%.120s' is not in pool 0; a .tflite holds the plan of one pool",
                        name);
    }
    uint64_t at, end;
    if (!arn_add(result->plan->offset[b], result->lowering->offset[t], &at) ||
        !arn_add(at, tensor->bytes, &end) || end > INT32_MAX || at % OFFSET_ALIGN != 0) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "tensor '%.120s' of %" PRIu64 " bytes is at offset %" PRIu64 " + %" PRIu64
                        "; the micro runtime needs multiples of %d, ending below 2^31",
                        name, tensor->bytes, result->plan->offset[b], result->lowering->offset[t],
                        OFFSET_ALIGN);
    }
    *offset = (int32_t)at;
    return ARENAUT_OK;
}

/* One tensor's entry. The runtime sets memory aside even for unreachable tensors; at offset 0 that
 * costs nothing. A tensor that is not part of the problem, because the caller provides it, is left
 * to the runtime. */
static arenaut_status entry_of(const arenaut_result *result, uint32_t t, int32_t *offset,
                               arenaut_error *err) {
    const uint32_t b = result->lowering->buffer[t];
    *offset = ONLINE;
    if (b == ARENAUT_NONE || !runtime_plans(&result->program->tensors[t])) return ARENAUT_OK;
    if (arenaut_problem_needs_memory(result->problem, b)) {
        return planned_offset(result, t, offset, err);
    }
    *offset = 0;
    return ARENAUT_OK;
}

/* Fills in the offsets of a plan that has room for `n_offsets`. Scratch is not part of the
 * file; all other tensors are in the file's order. */
static arenaut_status store_offsets(const arenaut_result *result, uint32_t n_offsets, uint8_t *plan,
                                    arenaut_error *err) {
    const arenaut_program *program = result->program;
    uint32_t stored = 0;
    for (uint32_t t = 0; t < program->n_tensors && stored < n_offsets; t++) {
        if (program->tensors[t].cls == ARENAUT_SCRATCH) continue;
        int32_t offset;
        const arenaut_status st = entry_of(result, t, &offset, err);
        if (st != ARENAUT_OK) return st;
        arn_store_u32(plan + ARN_TFLITE_PLAN_HEAD + 4 * (size_t)stored++, (uint32_t)offset);
    }
    return ARENAUT_OK;
}

/* To see whether a variable is planned, the runtime looks its number up without adding those of the
 * subgraphs before its own. If it so finds another tensor's offset, it leaves the variable without
 * memory. */
static arenaut_status check_variables(const arenaut_program *held, const uint8_t *plan, size_t size,
                                      arenaut_error *err) {
    const arn_flatbuffer bytes = arn_fb_open(plan, size);
    const arn_fb_vector offsets = {ARN_TFLITE_PLAN_HEAD, held->n_tensors};
    for (uint32_t t = 0; t < held->n_tensors; t++) {
        const arenaut_tensor *tensor = &held->tensors[t];
        if (tensor->cls != ARENAUT_STATE) continue;
        if (arn_fb_item_i32(&bytes, offsets, tensor->file_index) == ONLINE) continue;
        char store[24];
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "variable '%.120s', tensor %" PRIu32 " of subgraph %" PRIu32
                        ": the micro runtime would take tensor %" PRIu32
                        " of the main subgraph, which is planned, for it, and give it no memory",
                        arenaut_program_tensor_name(held, t, store), tensor->file_index,
                        tensor->method, tensor->file_index);
    }
    return ARENAUT_OK;
}

/* The metadata's bytes: version 0, number of subgraphs, number of offsets, offsets. */
static arenaut_status make_plan(const arenaut_result *result, const arenaut_program *held,
                                const arenaut_allocator *allocator, uint8_t **out, size_t *size,
                                arenaut_error *err) {
    const uint32_t n = result->rewrite ? result->rewrite->n_tensors : held->n_tensors;
    *size = ARN_TFLITE_PLAN_HEAD + 4 * (size_t)n;
    uint8_t *plan = arn_allocate_zeroed(allocator, *size, 1);
    if (!plan) return arn_no_memory(err);
    arn_store_u32(plan + 4, result->program->n_methods);
    arn_store_u32(plan + 8, n);
    arenaut_status st = store_offsets(result, n, plan, err);
    if (st == ARENAUT_OK) st = check_variables(held, plan, *size, err);
    if (st == ARENAUT_OK) *out = plan;
    else arn_release(allocator, plan);
    return st;
}

/* The bytes. */

/* Whether the file is one of ours as we wrote it: prefix, then the original. The plan must lie in
 * the prefix, so that the original is left alone with any mark. */
static bool has_our_prefix(const arn_tflite_model *model, const arn_tflite_plan *plan) {
    const arn_tflite_mark *mark = &plan->mark;
    return plan->mark_data.at != 0 && mark->prefix_size <= model->fb.size &&
           mark->original_size == model->fb.size - mark->prefix_size &&
           plan->data.at + plan->data.count <= mark->prefix_size &&
           plan->mark_data.at + plan->mark_data.count <= mark->prefix_size;
}

/* Whether the bytes after our prefix are still a model. */
static bool has_original(const arn_tflite_model *model, const arn_tflite_plan *plan) {
    const size_t prefix = has_our_prefix(model, plan) ? (size_t)plan->mark.prefix_size : 0;
    return prefix != 0 &&
           arn_fb_identified(model->fb.data + prefix, model->fb.size - prefix, TFLITE_IDENTIFIER);
}

/* The hash of the file's bytes up to an archive behind it, as it was before its mark got the
 * checksum. */
static uint64_t hash_without_checksum(const uint8_t *data, size_t archive, size_t mark_at) {
    static const uint8_t none[ARN_TFLITE_CHECKSUM_SIZE];
    const size_t at = mark_at + ARN_TFLITE_CHECKSUM_AT, behind = at + sizeof none;
    uint64_t hash = arn_hash_bytes(ARN_HASH_START, data, at);
    hash = arn_hash_bytes(hash, none, sizeof none);
    return arn_hash_bytes(hash, data + behind, archive - behind);
}

/* Whether nothing was changed since we wrote it, up to an archive behind it. In a file that was,
 * operators, weights, texts and anything else may lie over the plan, so that another plan would
 * change them. */
static bool is_as_written(const arn_tflite_model *model, const arn_tflite_plan *plan) {
    const size_t archive = arn_tflite_zip_find(model->fb.data, model->fb.size).directory;
    return has_our_prefix(model, plan) && plan->mark_data.count == ARN_TFLITE_MARK_SIZE &&
           plan->mark.prefix_size <= archive &&
           plan->mark.checksum == arn_tflite_checksum(hash_without_checksum(model->fb.data, archive,
                                                                            plan->mark_data.at));
}

/* The end of a file from some place on, made ready for another distance from the start. */
typedef struct tail {
    size_t at; /* the file's size, if nothing there depends on the distance */
    uint8_t *bytes;
} tail;

/* An archive behind the model is told that it moves by `delta` (modulo 2^32). */
static arenaut_status make_tail(const arn_tflite_model *model, uint32_t delta,
                                const arenaut_allocator *allocator, tail *out, arenaut_error *err) {
    const size_t size = model->fb.size;
    const arn_tflite_zip_tail zip = arn_tflite_zip_find(model->fb.data, size);
    out->at = size;
    out->bytes = NULL;
    if (zip.large) {
        return arn_fail(err, ARENAUT_REFUSED, zip.end,
                        "a zip archive of the 64-bit kind follows the model; only the plain kind "
                        "can be moved");
    }
    if (zip.directory == size) return ARENAUT_OK;
    const arenaut_status st = arn_tflite_check_apart(model, zip.directory, allocator, err);
    if (st != ARENAUT_OK) return st;
    out->bytes = arn_allocate(allocator, size - zip.directory, 1);
    if (!out->bytes) return arn_no_memory(err);
    memcpy(out->bytes, model->fb.data + zip.directory, size - zip.directory);
    arn_tflite_zip_move(out->bytes, &zip, delta);
    out->at = zip.directory;
    return ARENAUT_OK;
}

/* The model's bytes from `first` on, with that end. */
static void put_with_tail(const arn_tflite_model *model, size_t first, const tail *end,
                          arn_writer *writer) {
    arn_put(writer, model->fb.data + first, end->at - first);
    arn_put(writer, end->bytes, model->fb.size - end->at);
}

/* The file as it is, but for the bytes of plan and mark. */
static void put_patched(const arn_tflite_model *model, const arn_tflite_plan *old,
                        const uint8_t *plan, const arn_tflite_mark *mark, arn_writer *writer) {
    const uint8_t *data = model->fb.data;
    uint8_t marked[ARN_TFLITE_MARK_SIZE];
    arn_tflite_store_mark(mark, marked);
    const bool plan_first = old->data.at < old->mark_data.at;
    const arn_fb_vector first = plan_first ? old->data : old->mark_data;
    const arn_fb_vector second = plan_first ? old->mark_data : old->data;
    const size_t between = first.at + first.count, behind = second.at + second.count;
    arn_put(writer, data, first.at);
    arn_put(writer, plan_first ? plan : marked, first.count);
    arn_put(writer, data + between, second.at - between);
    arn_put(writer, plan_first ? marked : plan, second.count);
    arn_put(writer, data + behind, model->fb.size - behind);
}

static bool are_apart(arn_fb_vector a, arn_fb_vector b) {
    return a.at + a.count <= b.at || b.at + b.count <= a.at;
}

/* The contents of the new file. */
typedef struct contents {
    arn_tflite_new_graph graph;
    uint8_t *plan;
    size_t plan_size;
    arn_tflite_mark mark;
} contents;

static const arn_tflite_plan no_plan;

/* A model that is as we wrote it, with the plan `old`, keeps its prefix behind the new one; both go
 * when the plan is taken out. */
static arenaut_status put_prefixed(arn_tflite_model *model, const arn_tflite_plan *old,
                                   contents *new, arn_writer *writer,
                                   const arenaut_allocator *allocator, arenaut_error *err) {
    arn_fb_prefix prefix = arn_fb_prefix_begin(TFLITE_IDENTIFIER, allocator);
    arn_tflite_mark *mark = &new->mark;
    tail end = {0, NULL};
    arenaut_status st = arn_tflite_check_movable(model, err);
    if (st == ARENAUT_OK) {
        mark->prefix_size = has_original(model, old) ? old->mark.prefix_size : 0;
        mark->archive_moved =
            arn_tflite_zip_find(model->fb.data, model->fb.size).directory != model->fb.size;
        st = arn_tflite_make_prefix(model, &new->graph, new->plan, new->plan_size, mark, &prefix,
                                    err);
    }
    if (st == ARENAUT_OK) st = make_tail(model, prefix.size, allocator, &end, err);
    if (st == ARENAUT_OK) {
        arn_put(writer, prefix.bytes, prefix.size);
        put_with_tail(model, 0, &end, writer);
    }
    arn_fb_prefix_free(&prefix);
    arn_release(allocator, end.bytes);
    return st;
}

/* Whether the bytes hold the program that was planned. */
static arenaut_status is_planned(const arenaut_text *file, const contents *new,
                                 const arenaut_allocator *allocator, bool *is, arenaut_error *err) {
    arenaut_program *program = NULL;
    const arenaut_status st =
        arn_tflite_read((const uint8_t *)file->bytes, file->size, NULL, allocator, &program, err);
    *is = st == ARENAUT_OK &&
          arn_program_fingerprint(program) == arn_program_fingerprint(new->graph.before);
    arn_program_free(program);
    return st == ARENAUT_NO_MEMORY ? st : ARENAUT_OK;
}

/* The file with the new plan where the old one lay. */
static arenaut_status patch(const arn_tflite_model *model, const arn_tflite_plan *old,
                            contents *new, arenaut_text *patched, arenaut_error *err) {
    arn_writer writer = arn_writer_to(arenaut_text_sink(patched));
    arn_tflite_mark *mark = &new->mark;
    mark->prefix_size = old->mark.prefix_size;
    mark->original_size = old->mark.original_size;
    mark->archive_moved = old->mark.archive_moved;
    put_patched(model, old, new->plan, mark, &writer);
    const arenaut_status st = arn_writer_finish(&writer, err);
    if (st != ARENAUT_OK) return st == ARENAUT_IO ? arn_no_memory(err) : st;
    uint8_t *bytes = (uint8_t *)patched->bytes;
    const size_t archive = arn_tflite_zip_find(model->fb.data, model->fb.size).directory;
    mark->checksum = arn_tflite_checksum(hash_without_checksum(bytes, archive, old->mark_data.at));
    arn_tflite_store_mark(mark, bytes + old->mark_data.at);
    return ARENAUT_OK;
}

/* Replaces the plan in a file that is as we wrote it. Nothing is put if the program would be
 * another: the checksum guards against accidents only. */
static arenaut_status put_replaced(const arn_tflite_model *model, const arn_tflite_plan *old,
                                   contents *new, arn_writer *writer,
                                   const arenaut_allocator *allocator, bool *done,
                                   arenaut_error *err) {
    arenaut_text replaced = {.allocator = allocator};
    *done = false;
    if (old->data.count != new->plan_size || !are_apart(old->data, old->mark_data)) {
        return ARENAUT_OK;
    }
    arenaut_status st = patch(model, old, new, &replaced, err);
    if (st == ARENAUT_OK) st = is_planned(&replaced, new, allocator, done, err);
    if (st == ARENAUT_OK && *done) arn_put(writer, replaced.bytes, replaced.size);
    arenaut_text_free(&replaced);
    return st;
}

/* Strip takes away every layer of a file that is as we wrote it, and gives any other back as it
 * was. */
static arenaut_status put_model(arn_tflite_model *model, const arn_tflite_plan *old, contents *new,
                                arenaut_sink sink, const arenaut_allocator *allocator,
                                arenaut_error *err) {
    arn_writer writer = arn_writer_to(sink);
    const bool as_written = is_as_written(model, old);
    bool done = false;
    arenaut_status st = ARENAUT_OK;
    if (as_written && !new->graph.rewrite) {
        st = put_replaced(model, old, new, &writer, allocator, &done, err);
    }
    if (st == ARENAUT_OK && !done) {
        st = put_prefixed(model, as_written ? old : &no_plan, new, &writer, allocator, err);
    }
    return st == ARENAUT_OK ? arn_writer_finish(&writer, err) : st;
}

static void fill_mark(const arenaut_result *result, contents *new) {
    arn_tflite_mark *mark = &new->mark;
    mark->fingerprint = arn_program_fingerprint(result->program);
    mark->plan_hash = arn_hash_bytes(ARN_HASH_START, new->plan, new->plan_size);
    mark->arena = result->plan->n_pools ? result->plan->arena[0] : 0;
    if (result->plan->planner) {
        strncpy(mark->planner, result->plan->planner, sizeof mark->planner - 1);
    }
    strncpy(mark->version, arenaut_version(), sizeof mark->version - 1);
    if (!result->kernels) return;
    strncpy(mark->kernels, result->kernels->name, sizeof mark->kernels - 1);
    mark->kernels_fingerprint = arn_kernel_set_fingerprint(result->kernels);
    mark->unmeasured = result->unmeasured;
}

/* The file is read again, so that the plan fits the file after any passes. */
static arenaut_status read_held(const arenaut_result *result, arn_tflite_model *model,
                                const arenaut_allocator *allocator, arenaut_program **held,
                                arenaut_error *err) {
    arenaut_status st = arn_tflite_open(result->file, result->file_size, model, err);
    if (st == ARENAUT_OK) {
        st = arn_tflite_read(result->file, result->file_size, NULL, allocator, held, err);
    }
    if (st != ARENAUT_OK) return st;
    const uint64_t in_file = arn_program_fingerprint(*held);
    const uint64_t planned = arn_program_fingerprint(result->program);
    const arenaut_rewrite *rewrite = result->rewrite;
    if (rewrite ? in_file == rewrite->before && planned == rewrite->after : in_file == planned) {
        return ARENAUT_OK;
    }
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "the program that was planned is not the one in the file: passes have changed "
                    "its tensors, their sizes or the order of its operators, which a .tflite plan "
                    "cannot express");
}

arenaut_status arn_tflite_write(const arenaut_result *result, arenaut_sink sink,
                                const arenaut_allocator *allocator, arenaut_error *err) {
    arn_tflite_model model;
    arn_tflite_plan old;
    arenaut_program *held = NULL;
    contents new = {.plan = NULL};
    arenaut_status st = check_result(result, err);
    if (st == ARENAUT_OK) st = read_held(result, &model, allocator, &held, err);
    if (st == ARENAUT_OK) st = arn_tflite_find_plan(&model, held->n_tensors, &old, err);
    if (st == ARENAUT_OK) {
        st = make_plan(result, held, allocator, &new.plan, &new.plan_size, err);
    }
    if (st == ARENAUT_OK) {
        fill_mark(result, &new);
        new.graph = (arn_tflite_new_graph){held, result->rewrite};
        st = put_model(&model, &old, &new, sink, allocator, err);
    }
    arn_release(allocator, new.plan);
    arn_program_free(held);
    return st;
}

arenaut_status arn_tflite_strip(const uint8_t *data, size_t size, arenaut_sink sink,
                                const arenaut_allocator *allocator, arenaut_error *err) {
    arn_tflite_model model;
    arn_tflite_plan plan;
    uint64_t n_tensors;
    arenaut_status st = arn_tflite_open(data, size, &model, err);
    if (st == ARENAUT_OK) st = arn_tflite_count_tensors(&model, &n_tensors, err);
    if (st == ARENAUT_OK) st = arn_tflite_find_plan(&model, n_tensors, &plan, err);
    if (st != ARENAUT_OK) return st;
    if (plan.mark_data.at == 0) {
        return arn_fail(
            err, ARENAUT_REFUSED, 0,
            "%s; only a plan that arenaut wrote can be "
            "taken out",
            plan.data.at ? "the plan in the file is another tool's" : "the file holds no plan");
    }
    if (plan.mark.prefix_size == 0) {
        return arn_fail(err, ARENAUT_REFUSED, plan.mark_data.at,
                        "the file was made compact: parts of the original are gone");
    }
    if (!has_original(&model, &plan)) {
        return arn_fail(err, ARENAUT_REFUSED, plan.mark_data.at,
                        "the mark says that %" PRIu64 " bytes were put in front of %" PRIu64
                        ", but the file of %zu bytes has been rewritten since; the original "
                        "cannot be told",
                        plan.mark.prefix_size, plan.mark.original_size, size);
    }
    const size_t prefix = (size_t)plan.mark.prefix_size;
    tail end = {size, NULL};
    if (plan.mark.archive_moved) {
        st = make_tail(&model, 0u - (uint32_t)prefix, allocator, &end, err);
        if (st != ARENAUT_OK) return st;
    }
    arn_writer writer = arn_writer_to(sink);
    put_with_tail(&model, prefix, &end, &writer);
    arn_release(allocator, end.bytes);
    return arn_writer_finish(&writer, err);
}
