#include "memories.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_table.h"

bool states_memories(const arenaut_program *program) {
    for (uint32_t m = 0; m < program->n_methods; m++) {
        if (program->methods[m].n_given_pools) return true;
    }
    return false;
}

/* Where each method's memories begin in a list of all; one more entry is their number. Freed
 * with free(). */
static uint32_t *index_memories(const arenaut_program *program) {
    uint32_t *first = must_allocate((size_t)program->n_methods + 1, sizeof *first);
    for (uint32_t m = 0; m < program->n_methods; m++) {
        first[m + 1] = first[m] + program->methods[m].n_given_pools;
    }
    return first;
}

/* Per memory of `program`, the pool of the buffers that lie in it; ARENAUT_NONE without any.
 * Methods may share a pool: what they have in common is one and the same there. */
static uint32_t *pools_of_memories(const arenaut_program *program, const uint32_t *first,
                                   const arenaut_lowering *lowering, const arenaut_plan *plan) {
    const uint32_t n = first[program->n_methods];
    uint32_t *pools = must_allocate(n, sizeof *pools);
    for (uint32_t i = 0; i < n; i++) pools[i] = ARENAUT_NONE;
    for (uint32_t t = 0; t < program->n_tensors && t < lowering->n_tensors; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        const uint32_t buffer = lowering->buffer[t];
        if (buffer == ARENAUT_NONE || tensor->method >= program->n_methods) continue;
        if (tensor->given_pool >= program->methods[tensor->method].n_given_pools) continue;
        if (plan->pool[buffer] == ARENAUT_NONE) continue;
        pools[first[tensor->method] + tensor->given_pool] = plan->pool[buffer];
    }
    return pools;
}

/* What the file's runtime allocates for the methods that are planned. Memories that share a
 * pool are the same memory, as large as the largest; `arena` gets that size per pool, and
 * may be NULL. */
static uint64_t sum_memories(const arenaut_program *program, const arenaut_lowering *lowering,
                             const arenaut_plan *plan, uint64_t *arena) {
    uint64_t sizes[ARENAUT_MAX_POOLS] = {0}, sum = 0;
    uint32_t *first = index_memories(program);
    uint32_t *pools = pools_of_memories(program, first, lowering, plan);
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        for (uint32_t k = 0; k < method->n_given_pools && method->entry; k++) {
            const uint32_t pool = pools[first[m] + k];
            const uint64_t bytes = method->given_pools[k].bytes;
            if (pool == ARENAUT_NONE) sum += bytes;
            else if (bytes > sizes[pool]) sizes[pool] = bytes;
        }
    }
    for (uint32_t k = 0; k < plan->n_pools; k++) sum += sizes[k];
    if (arena) memcpy(arena, sizes, plan->n_pools * sizeof *arena);
    free(pools);
    free(first);
    return sum;
}

void name_pools(const tool_job *job, const arenaut_program *program,
                const arenaut_lowering *lowering, const arenaut_plan *plan, pool_names *names) {
    const arenaut_problem *problem = lowering->problem;
    const bool users = job->options->pool.n && lowering == job->lowering;
    memset(names, 0, sizeof *names);
    for (uint32_t k = 0; users && k < problem->n_pools; k++)
        names->names[k] = problem->pool[k].name;
    if (users || !states_memories(program)) return;
    uint32_t *first = index_memories(program);
    uint32_t *pools = pools_of_memories(program, first, lowering, plan);
    for (uint32_t m = 0; m < program->n_methods; m++) {
        for (uint32_t k = 0; k < program->methods[m].n_given_pools; k++) {
            const uint32_t pool = pools[first[m] + k];
            if (pool == ARENAUT_NONE) continue;
            snprintf(names->text[pool], sizeof names->text[pool], "memory %" PRIu32, k + 1);
            names->names[pool] = names->text[pool];
        }
    }
    free(pools);
    free(first);
}

void set_given_arenas(const tool_job *job, const arenaut_lowering *lowering, arenaut_plan *plan) {
    plan->total = sum_memories(job->document.program, lowering, plan, plan->arena);
}

static uint64_t given_bytes(const arenaut_program *program, uint32_t method, uint32_t memory) {
    const arenaut_method *m = &program->methods[method];
    return memory < m->n_given_pools ? m->given_pools[memory].bytes : 0;
}

/* Lists what either of two programs states, which differ in places and sizes only. */
static void list_rows(memory_list *list, const arenaut_program *now,
                      const arenaut_program *planned) {
    free(list->rows);
    list->n = 0;
    size_t most = 0;
    for (uint32_t m = 0; m < now->n_methods; m++) {
        most += now->methods[m].n_given_pools + planned->methods[m].n_given_pools;
    }
    list->rows = must_allocate(most, sizeof *list->rows);
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
            if (row.now || row.planned) list->rows[list->n++] = row;
        }
    }
}

void list_memories(tool_job *job) {
    const arenaut_program *program = job->document.program;
    if (!program || !states_memories(program)) return;
    list_rows(&job->memories, program, program);
    if (!job->today.plan) return;
    job->memories.now = sum_memories(program, job->today.lowering, job->today.plan, NULL);
}

/* What a memory has beyond the pool that it is, whatever the plan, raises the bound as well. */
static uint64_t raised(uint64_t bound, uint64_t pool, uint64_t memory) {
    const uint64_t extra = memory > pool ? memory - pool : 0;
    return bound + extra < memory ? bound + extra : memory;
}

/* From here on the plan's arenas are what the file makes its runtime allocate, like those of
 * today's: with the room behind them that a delegate may read. Every figure that people or
 * programs are told is then of one kind. */
static void settle_sums(tool_job *job, const arenaut_program *written) {
    memory_list *list = &job->memories;
    arenaut_plan *plan = job->plan;
    uint64_t arena[ARENAUT_MAX_POOLS];
    list->planned = sum_memories(written, job->lowering, plan, arena);
    list->bound = raised(plan->total_bound, plan->total, list->planned);
    list->behind = list->planned > plan->total ? list->planned - plan->total : 0;
    for (uint32_t k = 0; k < plan->n_pools; k++) {
        plan->lower_bound[k] = raised(plan->lower_bound[k], plan->arena[k], arena[k]);
        plan->arena[k] = arena[k];
    }
    plan->total = list->planned;
    plan->total_bound = list->bound;
    job->result.behind = list->behind;
}

static exit_code size_written(tool_job *job, const arenaut_text *bytes) {
    arenaut_document written = {0};
    arenaut_error err = {0};
    if (arenaut_read((const uint8_t *)bytes->bytes, bytes->size, job->document.format, NULL, NULL,
                     &written, &err) != ARENAUT_OK) {
        return complain(EXIT_BUG, job->input.path,
                        "the file with the plan in it cannot be read (a bug in arenaut: please "
                        "report it): %s",
                        err.msg);
    }
    for (uint32_t m = 0; m < written.program->n_methods; m++) {
        written.program->methods[m].entry = job->document.program->methods[m].entry;
    }
    list_rows(&job->memories, job->document.program, written.program);
    settle_sums(job, written.program);
    job->memories.sized = true;
    job->result.memories = job->memories.rows;
    job->result.n_memories = job->memories.n;
    arenaut_document_free(&written);
    return EXIT_FINE;
}

exit_code size_memories(tool_job *job) {
    const arenaut_format *format = job->document.format;
    const bool one_file = !job->together; /* several are not written into any of them */
    const bool can_hold = one_file && job->memories.rows && format->write &&
                          format->needs_original && job->target->plan_in_file &&
                          !job->options->no_alloc_io;
    if (!can_hold || job->plan->quality == ARENAUT_INFEASIBLE) return EXIT_FINE;
    arenaut_text bytes = {0};
    arenaut_error err = {0};
    exit_code code = EXIT_FINE;
    const arenaut_status st = format->write(&job->result, arenaut_text_sink(&bytes), NULL, &err);
    if (st == ARENAUT_OK) code = size_written(job, &bytes);
    else if (st == ARENAUT_REFUSED)
        note(job->input.path, "the file cannot hold this plan: %s", err.msg);
    else code = complain_error(job->input.path, &err);
    arenaut_text_free(&bytes);
    return code;
}

exit_code check_written(const tool_job *job) {
    const tool_options plain = without_overrides(job->options);
    tool_job written = {0};
    arenaut_text bytes = {0};
    arenaut_error err = {0};
    exit_code code = EXIT_FINE;
    if (job->document.format->write(&job->result, arenaut_text_sink(&bytes), NULL, &err)) {
        code = complain_error(job->input.path, &err);
    } else {
        set_quiet(true); /* notes about the file were given already */
        code = job_look_at(&written, job, bytes.bytes, bytes.size, &plain);
        set_quiet(job->options->quiet);
    }
    if (code == EXIT_FINE && written.today.overlaps && job->options->method) {
        code = complain(EXIT_NEGATIVE, job->input.path,
                        "nothing is written: with only --method %s planned, the file would still "
                        "be wrong: %s",
                        job->options->method, written.today.finding.msg);
    } else if (code == EXIT_FINE && written.today.overlaps) {
        code = complain(EXIT_BUG, job->input.path,
                        "the file with the plan in it did not pass the checker (a bug in arenaut: "
                        "please report it): %s",
                        written.today.finding.msg);
    }
    job_close(&written);
    arenaut_text_free(&bytes);
    return code;
}

/* With --pool the file's memories become the user's. Where one of today's is too large for
 * what takes its place, today's sizes are no measure. */
static bool today_fits_pools(const tool_job *job) {
    for (size_t i = 0; i < job->memories.n && job->options->pool.n; i++) {
        const arenaut_memory *row = &job->memories.rows[i];
        const bool exists = row->id < job->problem->n_pools;
        if (row->now && (!exists || row->now > job->problem->pool[row->id].capacity)) {
            return false;
        }
    }
    return true;
}

const arenaut_memory *memory_that_grows(const tool_job *job) {
    const memory_list *list = &job->memories;
    if (!list->sized || job->today.overlaps || !today_fits_pools(job)) return NULL;
    for (size_t i = 0; i < list->n; i++) {
        if (list->rows[i].planned > list->rows[i].now) return &list->rows[i];
    }
    return NULL;
}

bool some_memory_shrinks(const tool_job *job) {
    const memory_list *list = &job->memories;
    if (!today_fits_pools(job)) return true;
    for (size_t i = 0; i < list->n && list->sized; i++) {
        if (list->rows[i].planned < list->rows[i].now) return true;
    }
    return false;
}

void describe_memory(const tool_job *job, const arenaut_memory *memory, arenaut_text *out) {
    const char *name = job->document.program->methods[memory->method].name;
    if (name) text_put_clean(out, shortened(name).text);
    else text_printf(out, "method %" PRIu32, memory->method);
    text_printf(out, ", memory %" PRIu32, memory->id + 1);
    if (memory->device.type || memory->device.index) {
        text_printf(out, " (device %u.%u)", (unsigned)memory->device.type,
                    (unsigned)memory->device.index);
    }
}

void put_memories(const tool_job *job, const char *indent, arenaut_text *out) {
    const memory_list *list = &job->memories;
    text_table table;
    table_begin(&table, "llrrrrr");
    for (size_t i = 0; i < list->n; i++) {
        const arenaut_memory *row = &list->rows[i];
        arenaut_text what = {0};
        describe_memory(job, row, &what);
        table_cellf(&table, "%s%-9s", indent, i ? "" : "memories");
        table_cell(&table, what.bytes);
        table_cell(&table, "now");
        table_cell(&table, with_commas(row->now).text);
        table_cell(&table, list->sized ? "planned" : "");
        table_cell(&table, list->sized ? with_commas(row->planned).text : "");
        table_cell(&table, list->sized && row->now && row->planned != row->now
                               ? change_percent(row->now, row->planned).text
                               : "");
        arenaut_text_free(&what);
    }
    table_end(&table, out, "", "");
}
