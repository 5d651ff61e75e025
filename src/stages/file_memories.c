/* Memories that a file states, with their sizes, now and with the plan in it: those in the file as
 * it would be written, read back from memory. The arenas of plan and baseline are of one kind then.
 * Linear in the file. */
#include "stages/stages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "ir/program.h"

/* A text fails only for want of memory. */
static arenaut_status in_memory(arenaut_status st, arenaut_error *err) {
    return st == ARENAUT_IO ? arn_no_memory(err) : st;
}

static arenaut_status write_whole(const arenaut_pipeline *p, size_t file, arenaut_text *bytes,
                                  arenaut_error *err) {
    arn_region region;
    arenaut_result result;
    arn_region_init(&region, arn_pipeline_allocator(p));
    arenaut_status st = arn_pipeline_result_of(p, file, &region, &result, err);
    if (st == ARENAUT_OK) {
        st = in_memory(p->document.format->write(&result, arenaut_text_sink(bytes),
                                                 arn_pipeline_allocator(p), err),
                       err);
    }
    arn_region_free(&region);
    return st;
}

static arenaut_status make_compact(const arenaut_pipeline *p, const arenaut_text *whole,
                                   arenaut_text *bytes, arenaut_error *err) {
    return in_memory(
        p->document.format->compact((const uint8_t *)whole->bytes, whole->size,
                                    arenaut_text_sink(bytes), arn_pipeline_allocator(p), err),
        err);
}

static arenaut_status write_one(const arenaut_pipeline *p, size_t file, arenaut_text *bytes,
                                arenaut_error *err) {
    arenaut_text whole = {.allocator = bytes->allocator};
    if (!p->options.compact || !p->document.format->compact) {
        return write_whole(p, file, bytes, err);
    }
    arenaut_status st = write_whole(p, file, &whole, err);
    if (st == ARENAUT_OK) st = make_compact(p, &whole, bytes, err);
    if (st == ARENAUT_OK && bytes->size >= whole.size) { /* nothing was dead */
        const arenaut_text larger = *bytes;
        *bytes = whole;
        whole = larger;
    }
    arenaut_text_free(&whole);
    return st;
}

arenaut_status arn_pipeline_write_in_memory(const arenaut_pipeline *p, arenaut_text **files,
                                            arenaut_error *err) {
    const size_t n = p->store->n_files;
    arenaut_text *texts = arn_allocate(arn_pipeline_allocator(p), n, sizeof *texts);
    arenaut_status st = texts ? ARENAUT_OK : arn_no_memory(err);
    for (size_t i = 0; texts && i < n; i++) {
        texts[i] = (arenaut_text){.allocator = arn_pipeline_allocator(p)};
        if (st == ARENAUT_OK) st = write_one(p, i, &texts[i], err);
    }
    if (st == ARENAUT_OK) *files = texts;
    else arn_pipeline_free_written(p, texts);
    return st;
}

void arn_pipeline_free_written(const arenaut_pipeline *p, arenaut_text *files) {
    for (size_t i = 0; files && i < p->store->n_files; i++) arenaut_text_free(&files[i]);
    arn_release(arn_pipeline_allocator(p), files);
}

arenaut_status arenaut_pipeline_count_dead(const arenaut_pipeline *p, uint64_t *bytes,
                                           arenaut_error *err) {
    arenaut_text whole = {.allocator = arn_pipeline_allocator(p)}, compact = whole;
    *bytes = 0;
    if (!p->document.format->compact || p->options.compact) return ARENAUT_OK;
    arenaut_status st = write_whole(p, 0, &whole, err);
    if (st == ARENAUT_OK) {
        st = make_compact(p, &whole, &compact, err);
        if (st == ARENAUT_OK && compact.size < whole.size) *bytes = whole.size - compact.size;
        if (st == ARENAUT_REFUSED) st = ARENAUT_OK;
    }
    arenaut_text_free(&whole);
    arenaut_text_free(&compact);
    return st;
}

bool arn_states_memories(const arenaut_program *program) {
    for (uint32_t m = 0; m < program->n_methods; m++) {
        if (program->methods[m].n_given_pools) return true;
    }
    return false;
}

/* All methods' memories in one row. */
typedef struct memory_index {
    uint32_t *first; /* per method, and one more entry: their number */
    uint32_t *pool;  /* per memory: the pool of the buffers in it; ARENAUT_NONE without any */
} memory_index;

/* Methods may share a pool, in which a buffer of both is one. One block, which starts at `first`,
 * is the caller's. */
static arenaut_status index_memories(const arenaut_program *program,
                                     const arenaut_lowering *lowering, const arenaut_plan *plan,
                                     const arenaut_allocator *allocator, memory_index *index,
                                     arenaut_error *err) {
    size_t n = 0;
    for (uint32_t m = 0; m < program->n_methods; m++) n += program->methods[m].n_given_pools;
    index->first = arn_allocate(allocator, program->n_methods + 1 + n, sizeof *index->first);
    if (!index->first) return arn_no_memory(err);
    index->pool = index->first + program->n_methods + 1;
    index->first[0] = 0;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        index->first[m + 1] = index->first[m] + program->methods[m].n_given_pools;
    }
    for (size_t i = 0; i < n; i++) index->pool[i] = ARENAUT_NONE;
    for (uint32_t t = 0; t < program->n_tensors && t < lowering->n_tensors; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        const uint32_t buffer = lowering->buffer[t];
        if (buffer == ARENAUT_NONE || tensor->method >= program->n_methods) continue;
        if (tensor->given_pool >= program->methods[tensor->method].n_given_pools) continue;
        if (plan->pool[buffer] == ARENAUT_NONE) continue;
        index->pool[index->first[tensor->method] + tensor->given_pool] = plan->pool[buffer];
    }
    return ARENAUT_OK;
}

/* The bytes that the file's runtime allocates for the methods that are planned. Memories that share
 * a pool are the same memory, as large as the largest; `arena` gets that size per pool. */
static arenaut_status sum_memories(const arenaut_pipeline *p, const arenaut_program *program,
                                   const arenaut_lowering *lowering, const arenaut_plan *plan,
                                   uint64_t arena[ARENAUT_MAX_POOLS], uint64_t *sum,
                                   arenaut_error *err) {
    memory_index index;
    const arenaut_status st =
        index_memories(program, lowering, plan, arn_pipeline_allocator(p), &index, err);
    if (st != ARENAUT_OK) return st;
    memset(arena, 0, ARENAUT_MAX_POOLS * sizeof *arena);
    *sum = 0;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        for (uint32_t k = 0; k < method->n_given_pools && method->entry; k++) {
            const uint32_t pool = index.pool[index.first[m] + k];
            const uint64_t bytes = method->given_pools[k].bytes;
            if (pool == ARENAUT_NONE) *sum += bytes;
            else if (bytes > arena[pool]) arena[pool] = bytes;
        }
    }
    for (uint32_t k = 0; k < plan->n_pools; k++) *sum += arena[k];
    arn_release(arn_pipeline_allocator(p), index.first);
    return ARENAUT_OK;
}

arenaut_status arn_pipeline_name_pools(const arenaut_pipeline *p, const arenaut_program *program,
                                       const arenaut_lowering *lowering, const arenaut_plan *plan,
                                       arn_pool_names *names, arenaut_error *err) {
    const arenaut_problem *problem = lowering->problem;
    const bool named = p->options.n_pools && lowering == p->lowering;
    memset(names, 0, sizeof *names);
    for (uint32_t k = 0; named && k < problem->n_pools; k++) {
        names->names[k] = problem->pool[k].name;
    }
    if (named || !arn_states_memories(program)) return ARENAUT_OK;
    memory_index index;
    const arenaut_status st =
        index_memories(program, lowering, plan, arn_pipeline_allocator(p), &index, err);
    if (st != ARENAUT_OK) return st;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        for (uint32_t k = 0; k < program->methods[m].n_given_pools; k++) {
            const uint32_t pool = index.pool[index.first[m] + k];
            if (pool == ARENAUT_NONE) continue;
            snprintf(names->text[pool], sizeof names->text[pool], "memory %" PRIu32, k + 1);
            names->names[pool] = names->text[pool];
        }
    }
    arn_release(arn_pipeline_allocator(p), index.first);
    return ARENAUT_OK;
}

arenaut_status arn_pipeline_set_given_arenas(const arenaut_pipeline *p, arenaut_plan *plan,
                                             arenaut_error *err) {
    uint64_t arena[ARENAUT_MAX_POOLS];
    const arenaut_status st =
        sum_memories(p, p->document.program, p->baseline.lowering, plan, arena, &plan->total, err);
    if (st == ARENAUT_OK) memcpy(plan->arena, arena, plan->n_pools * sizeof *arena);
    return st;
}

static uint64_t given_bytes(const arenaut_program *program, uint32_t method, uint32_t memory) {
    const arenaut_method *m = &program->methods[method];
    return memory < m->n_given_pools ? m->given_pools[memory].bytes : 0;
}

/* Lists the memories of either of two programs, which differ in places and sizes only. */
static arenaut_status list_rows(arenaut_pipeline *p, const arenaut_program *now,
                                const arenaut_program *planned, arenaut_error *err) {
    arenaut_memories *list = &p->memories;
    size_t most = 0;
    for (uint32_t m = 0; m < now->n_methods; m++) {
        most += now->methods[m].n_given_pools + planned->methods[m].n_given_pools;
    }
    arenaut_memory *rows = arn_allocate(arn_pipeline_allocator(p), most, sizeof *rows);
    if (!rows) return arn_no_memory(err);
    arn_release(arn_pipeline_allocator(p), list->rows);
    list->rows = rows;
    list->n = 0;
    for (uint32_t m = 0; m < now->n_methods; m++) {
        const arenaut_method *a = &now->methods[m], *b = &planned->methods[m];
        const uint32_t n =
            a->n_given_pools > b->n_given_pools ? a->n_given_pools : b->n_given_pools;
        for (uint32_t k = 0; k < n && a->entry; k++) {
            const arenaut_method *stating = k < a->n_given_pools ? a : b;
            const arenaut_memory row = {.method = m,
                                        .id = k,
                                        .device = stating->given_pools[k].device,
                                        .now = given_bytes(now, m, k),
                                        .planned = given_bytes(planned, m, k)};
            if (row.now || row.planned) rows[list->n++] = row;
        }
    }
    return ARENAUT_OK;
}

arenaut_status arn_pipeline_list_memories(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_program *program = p->document.program;
    const arenaut_baseline *baseline = &p->baseline;
    uint64_t arena[ARENAUT_MAX_POOLS];
    if (!arn_states_memories(program)) return ARENAUT_OK;
    const arenaut_status st = list_rows(p, program, program, err);
    if (st != ARENAUT_OK || !baseline->plan) return st;
    return sum_memories(p, program, baseline->lowering, baseline->plan, arena, &p->figures.now,
                        err);
}

/* The excess of a memory over its pool, in any plan, raises the bound as well. */
static uint64_t raised(uint64_t bound, uint64_t pool, uint64_t memory) {
    const uint64_t extra = memory > pool ? memory - pool : 0;
    return bound + extra < memory ? bound + extra : memory;
}

/* From here on the plan's arenas are the memories that the file makes its runtime allocate, like
 * those of the baseline: with the room behind them that a delegate may read. All reported figures
 * are then of one kind. */
static arenaut_status settle_sums(arenaut_pipeline *p, const arenaut_program *written,
                                  arenaut_error *err) {
    arenaut_plan *plan = p->plan;
    uint64_t arena[ARENAUT_MAX_POOLS], sum;
    const arenaut_status st = sum_memories(p, written, p->lowering, plan, arena, &sum, err);
    if (st != ARENAUT_OK) return st;
    p->result.behind = sum > plan->total ? sum - plan->total : 0;
    plan->total_bound = raised(plan->total_bound, plan->total, sum);
    plan->total = sum;
    for (uint32_t k = 0; k < plan->n_pools; k++) {
        plan->lower_bound[k] = raised(plan->lower_bound[k], plan->arena[k], arena[k]);
        plan->arena[k] = arena[k];
    }
    p->memories.sized = true;
    p->result.memories = p->memories.rows;
    p->result.n_memories = p->memories.n;
    return ARENAUT_OK;
}

/* Takes the places and memories that a written file states for its part of the program. */
static arenaut_status take_written(const arenaut_pipeline *p, const arenaut_text *file,
                                   arn_file_part part, arenaut_program *program,
                                   arenaut_error *err) {
    arenaut_document written = {0};
    arenaut_error why = {0};
    arenaut_status st = arenaut_read((const uint8_t *)file->bytes, file->size, p->document.format,
                                     NULL, arn_pipeline_allocator(p), &written, &why);
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(err);
    if (st != ARENAUT_OK) {
        return arn_fail(err, ARENAUT_INTERNAL, 0, "the file with the plan in it cannot be read: %s",
                        why.msg);
    }
    const arenaut_program *own = written.program;
    for (uint32_t t = 0; t < own->n_tensors; t++) {
        program->tensors[part.first_tensor + t].given_pool = own->tensors[t].given_pool;
    }
    for (uint32_t m = 0; m < own->n_methods && st == ARENAUT_OK; m++) {
        st =
            arn_program_set_given_pools(program, part.first_method + m, own->methods[m].given_pools,
                                        own->methods[m].n_given_pools, err);
    }
    arenaut_document_free(&written);
    return st;
}

/* Tensors that passes have added are in no file. */
static arenaut_status size_written(arenaut_pipeline *p, const arenaut_text *files,
                                   arenaut_error *err) {
    const arn_file_part all = {0};
    arenaut_program *program = NULL;
    arenaut_status st =
        arn_program_copy(p->document.program, arn_pipeline_allocator(p), &program, err);
    for (uint32_t t = 0; st == ARENAUT_OK && t < program->n_tensors; t++) {
        program->tensors[t].given_pool = ARENAUT_NONE;
    }
    for (size_t i = 0; i < p->store->n_files && st == ARENAUT_OK; i++) {
        st = take_written(p, &files[i], p->store->parts ? p->store->parts[i] : all, program, err);
    }
    if (st == ARENAUT_OK) st = list_rows(p, p->document.program, program, err);
    if (st == ARENAUT_OK) st = settle_sums(p, program, err);
    arn_program_free(program);
    return st;
}

arenaut_status arn_pipeline_size_memories(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_format *format = p->document.format;
    const bool whole = p->store->n_files == 1 || p->store->parts;
    const bool can_hold = whole && p->memories.rows && format->write && format->needs_original &&
                          p->target->plan_in_file && !p->options.exclude_io;
    if (!can_hold) return ARENAUT_OK;
    arenaut_text *files = NULL;
    arenaut_error why = {0};
    arenaut_status st = arn_pipeline_write_in_memory(p, &files, &why);
    if (st == ARENAUT_OK) st = size_written(p, files, err);
    else if (st == ARENAUT_REFUSED)
        arn_pipeline_note(p, "the file cannot hold this plan: %s", why.msg);
    else arn_fail(err, st, why.at, "%s", why.msg);
    arn_pipeline_free_written(p, files);
    return st == ARENAUT_REFUSED ? ARENAUT_OK : st;
}

arenaut_status arenaut_pipeline_take_plan(arenaut_pipeline *p, const arenaut_plan *plan,
                                          arenaut_error *err) {
    arenaut_plan *own = NULL;
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_COMPARED, ARN_PIPELINE_COMPARED, err);
    if (st == ARENAUT_OK) st = arn_pipeline_copy_plan(p, plan, &own, err);
    if (st != ARENAUT_OK) return st;
    arn_pipeline_keep_plan(p, own);
    return arn_pipeline_size_memories(p, err);
}

/* Named pools take the place of the file's memories. If one of these is larger than the pool in its
 * place, their sizes are no measure. */
static bool baseline_fits_pools(const arenaut_pipeline *p) {
    for (size_t i = 0; i < p->memories.n && p->options.n_pools; i++) {
        const arenaut_memory *row = &p->memories.rows[i];
        const bool exists = row->id < p->problem->n_pools;
        if (row->now && (!exists || row->now > p->problem->pool[row->id].capacity)) return false;
    }
    return true;
}

const arenaut_memory *arn_pipeline_memory_that_grows(const arenaut_pipeline *p) {
    const arenaut_memories *list = &p->memories;
    if (!list->sized || p->baseline.overlaps || !baseline_fits_pools(p)) return NULL;
    if (p->store->apart) return NULL; /* the measure is the sum over methods */
    for (size_t i = 0; i < list->n; i++) {
        if (list->rows[i].planned > list->rows[i].now) return &list->rows[i];
    }
    return NULL;
}

bool arn_pipeline_some_memory_shrinks(const arenaut_pipeline *p) {
    const arenaut_memories *list = &p->memories;
    if (!baseline_fits_pools(p)) return true;
    for (size_t i = 0; i < list->n && list->sized; i++) {
        if (list->rows[i].planned < list->rows[i].now) return true;
    }
    return false;
}
