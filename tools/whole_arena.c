/* The size of tensor_arena: the library's count, for the file as it is, as
 * planned and, if there is a budget, with the rights that were not asked for. */
#include "whole_arena.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "flag_values.h"
#include "tool.h"

/* One line of the answer. */
typedef struct arena_row {
    const char *what; /* "as it is" */
    const arenaut_target *target;
    arenaut_tensor_arena arena;
    const char *unknown; /* the part that is not counted; NULL: none */
    bool cut_short;      /* time ended a search */
} arena_row;

enum { MAX_ROWS = 8 };

typedef struct arena_rows {
    arena_row items[MAX_ROWS];
    size_t n;
} arena_rows;

bool has_whole_arena(const tool_job *job) {
    const arenaut_pipeline *p = job->pipeline;
    return p->document.program && p->target && p->target->layout && p->problem &&
           job->n_inputs == 1;
}

static exit_code find_for(const tool_job *job, const arenaut_result *result, uint64_t planned,
                          const arenaut_target *target, arenaut_tensor_arena *arena) {
    arenaut_error err = {0};
    *arena = (arenaut_tensor_arena){.apart = job->apart};
    if (arenaut_tensor_arena_add(result, planned, target, NULL, arena, &err)) {
        return complain_error(job->path, &err);
    }
    return EXIT_FINE;
}

static exit_code find(const tool_job *job, uint64_t planned, const arenaut_target *target,
                      arenaut_tensor_arena *arena) {
    return find_for(job, &job->pipeline->result, planned, target, arena);
}

/* Of the ops as the file has them, before any rewrite. */
static exit_code find_as_it_is(const tool_job *job, const arenaut_target *target,
                               arenaut_tensor_arena *arena) {
    arenaut_result result = job->pipeline->result;
    result.program = job->pipeline->baseline.program;
    return find_for(job, &result, job->pipeline->figures.now, target, arena);
}

exit_code find_arena_as_it_is(const tool_job *job, arenaut_tensor_arena *arena) {
    return find_as_it_is(job, job->pipeline->target, arena);
}

exit_code find_whole_arena(const tool_job *job, uint64_t planned, arenaut_tensor_arena *arena) {
    return find(job, planned, job->pipeline->target, arena);
}

/* The part that is not counted; NULL: none. */
static const char *uncounted(const arenaut_pipeline *p) {
    const arenaut_program *program = p->document.program;
    if (is_refused(p)) return "the runtime refuses this model";
    if (p->result.scratch == ARENAUT_SCRATCH_UNKNOWN) {
        return "the scratch of some kernels is unknown; --scratch FILE gives it";
    }
    if (arenaut_pipeline_samples_sizes(p)) return "not all values of the open sizes were looked at";
    for (uint32_t t = 0; program && t < program->n_tensors; t++) {
        if (program->tensors[t].unsized) return "some tensors have no size that could be known";
        if (program->tensors[t].compressed) {
            return "some tensors are compressed, and the memory to unpack them is not counted";
        }
    }
    return NULL;
}

static uint64_t rounded_up(uint64_t bytes, uint64_t align) {
    return (bytes + align - 1) / align * align;
}

reservation reservation_of(const tool_job *job, const arenaut_tensor_arena *arena,
                           const char *unknown) {
    const uint64_t align = job->pipeline->target->align;
    return (reservation){
        .bytes = arena->total,
        .unknown = unknown,
        .whole = true,
        .apart = arena->apart,
        .need = {rounded_up(arena->head, align), rounded_up(arena->tail, align)},
        .size = {job->head, job->tail},
    };
}

static reservation reserve(const tool_job *job, uint64_t planned, bool as_it_is) {
    const arenaut_target *target = job->pipeline->target;
    reservation out = {.bytes = planned, .unknown = uncounted(job->pipeline)};
    arenaut_tensor_arena arena;
    if (!has_whole_arena(job)) return out;
    const exit_code code =
        as_it_is ? find_as_it_is(job, target, &arena) : find(job, planned, target, &arena);
    if (code != EXIT_FINE)
        return (reservation){.bytes = planned, .unknown = "the whole arena cannot be counted"};
    out = reservation_of(job, &arena, out.unknown);
    if (arena.op != ARENAUT_NONE && !is_refused(job->pipeline)) {
        out.unknown = "the kernel set does not say how much some kernels keep";
    } else if (!arena.exact && !out.unknown) {
        out.unknown = "some kernels ask for memory of unknown size";
    }
    return out;
}

reservation reserved_for(const tool_job *job, uint64_t planned) {
    return reserve(job, planned, false);
}

reservation reserved_as_it_is(const tool_job *job) {
    const arenaut_baseline *baseline = &job->pipeline->baseline;
    reservation out = reserve(job, job->pipeline->figures.now, true);
    if (!baseline->plan) out.unknown = "the runtime's own plan of the file is not known";
    if (baseline->overlaps) out.unknown = "the plan in the file is wrong";
    return out;
}

reservation reserved_needed(const tool_job *job) {
    return reserved_for(job, job->pipeline->figures.needed);
}

verdict_on_budget judge_budget(const reservation *need, uint64_t budget) {
    bool limited = budget != NOT_GIVEN || !need->apart;
    if (need->bytes > budget) return BUDGET_EXCEEDED;
    for (int i = 0; i < 2 && need->apart; i++) {
        if (need->need[i] > need->size[i]) return BUDGET_EXCEEDED;
        limited = limited || need->size[i] != ARENAUT_UNLIMITED;
    }
    return need->unknown && limited ? BUDGET_UNKNOWN : BUDGET_KEPT;
}

const char *budget_verdict_json(const reservation *need, uint64_t budget) {
    static const char *const words[] = {
        [BUDGET_KEPT] = "true", [BUDGET_EXCEEDED] = "false", [BUDGET_UNKNOWN] = "null"};
    const verdict_on_budget verdict = judge_budget(need, budget);
    return words[verdict == BUDGET_KEPT && need->unknown ? BUDGET_UNKNOWN : verdict];
}

static exit_code add_row(const tool_job *job, const char *what, uint64_t planned,
                         const arenaut_target *target, arena_rows *rows) {
    arena_row *row = &rows->items[rows->n++];
    row->what = what;
    row->target = target;
    row->unknown = uncounted(job->pipeline);
    row->cut_short = job->watch.cut_short;
    return find(job, planned, target, &row->arena);
}

/* The whole pipeline once more, with a flag that was not given. */
static exit_code add_with(const tool_job *job, const char *what,
                          const arenaut_pipeline_options *changed, arena_rows *rows) {
    tool_job other;
    exit_code code = job_prepare_again(&other, job, changed);
    if (code == EXIT_FINE) code = job_find_baseline(&other);
    if (code == EXIT_FINE) code = job_goes_on(job_make_plan(&other));
    if (code == EXIT_FINE)
        code = add_row(&other, what, other.pipeline->plan->total, job->pipeline->target, rows);
    job_close(&other);
    return code;
}

bool is_judged(const tool_job *job) { return job->options->budget != NOT_GIVEN || job->apart; }

static exit_code add_rights(const tool_job *job, arena_rows *rows) {
    arenaut_pipeline_options changed = job->pipeline->options;
    exit_code code = EXIT_FINE;
    if (!is_judged(job) || job->stopped || !job->pipeline->kernels) return code;
    if (!job->options->inplace && !changed.overlap && !changed.n_in_place_rules &&
        changed.overwrite == ARENAUT_OVERWRITE_BY_RULES) {
        changed.overwrite = ARENAUT_OVERWRITE_ON;
        code = add_with(job, "--inplace on", &changed, rows);
    }
    if (!job->options->overlap && !job->pipeline->options.overlap && code == EXIT_FINE) {
        changed.overlap = true;
        code = add_with(job, "--overlap on", &changed, rows);
    }
    return code;
}

/* First for the target that is judged, then for the same runtime on a wider machine. */
static exit_code collect(const tool_job *job, arena_rows *rows) {
    const arenaut_pipeline *p = job->pipeline;
    const arenaut_target *wide = p->target->wide ? arenaut_target_find(p->target->wide) : NULL;
    const arenaut_target *const targets[] = {p->target, wide};
    exit_code code = EXIT_FINE;
    *rows = (arena_rows){.n = 0};
    for (size_t i = 0; i < 2 && targets[i] && code == EXIT_FINE; i++) {
        if (p->baseline.plan) {
            arena_row *row = &rows->items[rows->n++];
            row->what = "as it is";
            row->target = targets[i];
            row->unknown = p->baseline.overlaps ? "the plan in the file is wrong" : uncounted(p);
            code = find_as_it_is(job, targets[i], &row->arena);
        }
        if (code == EXIT_FINE) code = add_row(job, "planned", p->figures.planned, targets[i], rows);
        if (code == EXIT_FINE && i == 0) code = add_rights(job, rows);
    }
    return code;
}

/* Less than everything keeps no budget. */
static reservation bytes_of_row(const tool_job *job, const arena_row *row) {
    return reservation_of(job, &row->arena, row->arena.exact ? row->unknown : "it is the least");
}

static bool any_fits(const tool_job *job, const arena_rows *rows, uint64_t budget) {
    for (size_t i = 0; i < rows->n; i++) {
        const reservation need = bytes_of_row(job, &rows->items[i]);
        if (judge_budget(&need, budget) == BUDGET_KEPT) return true;
    }
    return false;
}

/* A lower bound may exceed a size, but leaves nothing to spare. */
static void put_margin(uint64_t need, uint64_t size, bool known, text_table *table) {
    if (size == ARENAUT_UNLIMITED) table_cell(table, "");
    else if (need > size) table_cellf(table, "%s missing", with_commas(need - size).text);
    else if (!known) table_cell(table, "unknown");
    else table_cellf(table, "%s to spare", with_commas(size - need).text);
}

/* Head and tail each beside the size of its memory. */
static void put_row_apart(const tool_job *job, const arena_row *row, text_table *table) {
    const arenaut_tensor_arena *a = &row->arena;
    const reservation need = bytes_of_row(job, row);
    table_cellf(table, "    %s", row->what);
    table_cellf(table, "%" PRIu32 "-bit", row->target->layout->pointer * 8);
    table_cellf(table, "%s%s", a->exact ? "" : ">= ", with_commas(need.need[0]).text);
    put_margin(need.need[0], need.size[0], !need.unknown, table);
    table_cellf(table, "%s%s", a->op == ARENAUT_NONE ? "" : ">= ", with_commas(need.need[1]).text);
    put_margin(need.need[1], need.size[1], !need.unknown, table);
    table_cellf(table, "%s%s", a->exact ? "" : ">= ", with_commas(need.bytes).text);
}

static void put_row(const tool_job *job, const arena_row *row, text_table *table) {
    const arenaut_tensor_arena *a = &row->arena;
    const uint64_t budget = job->options->budget;
    const bool known = job->pipeline->result.scratch != ARENAUT_SCRATCH_UNKNOWN;
    const char *least = a->exact ? "" : ">= ";
    const reservation need = bytes_of_row(job, row);
    table_cellf(table, "    %s", row->what);
    table_cellf(table, "%" PRIu32 "-bit", row->target->layout->pointer * 8);
    table_cell(table, with_commas(a->head).text);
    table_cell(table, known ? with_commas(a->scratch).text : "unknown");
    table_cellf(table, "%s%s", a->op == ARENAUT_NONE ? "" : ">= ", with_commas(a->tail).text);
    table_cellf(table, "%s%s", least, with_commas(a->total).text);
    if (budget == NOT_GIVEN) {
        table_cell(table, in_units(a->total).text);
    } else {
        put_margin(a->total, budget, !need.unknown, table);
    }
}

static void put_size_cell(uint64_t size, text_table *table) {
    if (size == NOT_GIVEN) table_cell(table, "");
    else table_cellf(table, "of %s", with_commas(size).text);
}

void put_memory(const tool_options *options, const char *which, arenaut_text *out) {
    const size_t length = strlen(which);
    text_put(out, which);
    for (size_t i = 0; i < options->pool.n; i++) {
        const char *pool = options->pool.items[i], *name;
        const size_t n = memory_name(pool, &name);
        if (n == 0 || strncmp(pool, which, length) != 0 || pool[length] != '=') continue;
        char *alone = must_allocate(n + 1, 1);
        text_put(out, " in ");
        text_put_clean(out, memcpy(alone, name, n));
        free(alone);
    }
}

static void put_memory_cell(const tool_job *job, const char *which, text_table *table) {
    arenaut_text text = {0};
    put_memory(job->options, which, &text);
    table_cell(table, text.bytes ? text.bytes : which);
    arenaut_text_free(&text);
}

static void put_headings(const tool_job *job, text_table *table) {
    table_cell(table, job->apart ? "  two memories" : "  tensor_arena");
    table_cell(table, "");
    put_memory_cell(job, "head", table);
    if (job->apart) put_size_cell(job->head, table);
    else table_cell(table, "scratch");
    put_memory_cell(job, "tail", table);
    if (job->apart) put_size_cell(job->tail, table);
    table_cell(table, "bytes");
    if (!job->apart) put_size_cell(job->options->budget, table);
}

/* Unknown parts, and parts that a smaller plan does not change. */
static void put_remarks(const tool_job *job, const arena_row *planned, arenaut_text *out) {
    const arenaut_pipeline *p = job->pipeline;
    const arenaut_tensor_arena *a = &planned->arena;
    if (is_refused(p)) {
        text_put(
            out,
            "    no arena is enough: these would be the bytes if the runtime took the model\n");
    } else if (a->op != ARENAUT_NONE) {
        const arenaut_op *op = &p->document.program->ops[a->op];
        text_printf(out, "    at least: op %" PRIu32 " ",
                    a->op - p->document.program->methods[op->method].first_op);
        text_put_clean(out, op->name ? op->name : "");
        text_put(out, " keeps data of which the kernel set says nothing\n");
    }
    if (a->head > a->tensors) {
        text_printf(out,
                    "    while it plans, %s itself needs %s bytes in the head: a smaller plan does "
                    "not shrink it\n",
                    p->target->name, with_commas(a->head).text);
    }
}

exit_code put_whole_arena(const tool_job *job, arenaut_text *out) {
    const uint64_t budget = job->options->budget;
    arena_rows rows;
    text_table table;
    const exit_code code = collect(job, &rows);
    if (code != EXIT_FINE) return code;
    table_begin(&table, "llrrrrr");
    put_headings(job, &table);
    for (size_t i = 0; i < rows.n; i++) {
        if (job->apart) put_row_apart(job, &rows.items[i], &table);
        else put_row(job, &rows.items[i], &table);
    }
    table_end(&table, out, "", "");
    if (is_judged(job) && !any_fits(job, &rows, budget) && !is_refused(job->pipeline)) {
        text_put(out,
                 "    'arenaut plan FILE --fit SIZE' also tries other orders, rematerialization, "
                 "splitting and combinations\n");
    }
    for (size_t i = 0; i < rows.n; i++) {
        if (!rows.items[i].cut_short) continue;
        text_printf(out, "    %s\n", TIME_ENDED);
        break;
    }
    put_remarks(job, &rows.items[job->pipeline->baseline.plan ? 1 : 0], out);
    return EXIT_FINE;
}

static void put_member(const char *name, uint64_t value, arenaut_text *out) {
    text_printf(out, ", \"%s\": ", name);
    text_put_json_u64(out, value);
}

exit_code put_json_whole_arena(const tool_job *job, arenaut_text *out) {
    const uint64_t budget = job->options->budget;
    arena_rows rows;
    if (!has_whole_arena(job) || job->pipeline->plan->quality == ARENAUT_INFEASIBLE) {
        return EXIT_FINE;
    }
    const exit_code code = collect(job, &rows);
    if (code != EXIT_FINE) return code;
    text_put(out, ",\n  \"tensor_arena\": [");
    for (size_t i = 0; i < rows.n; i++) {
        const arena_row *row = &rows.items[i];
        text_printf(out, "%s\n    {\"of\": ", i ? "," : "");
        text_put_json(out, row->what);
        text_put(out, ", \"target\": ");
        text_put_json(out, row->target->name);
        put_member("head", row->arena.head, out);
        put_member("scratch", row->arena.scratch, out);
        put_member("tail", row->arena.tail, out);
        put_member("bytes", row->arena.total, out);
        text_put(out, ", \"parts\": ");
        put_json_tail_parts(&row->arena, out);
        text_printf(out, ", \"exact\": %s", row->arena.exact ? "true" : "false");
        if (row->cut_short) text_put(out, ", \"stopped_by\": \"time\"");
        if (is_judged(job)) {
            const reservation need = bytes_of_row(job, row);
            text_printf(out, ", \"fits\": %s", budget_verdict_json(&need, budget));
        }
        text_put(out, "}");
    }
    text_put(out, "\n  ]");
    return EXIT_FINE;
}
