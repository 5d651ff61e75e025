/* Several models of which one runs at a time: one arena for their interpreters, and the sum of
 * their state between runs. */
#include "one_arena.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "tool.h"

static const char *const side_names[] = {"as it is", "planned"};

static exit_code complain_alone(const tool_job *job, const char *why) {
    return complain(EXIT_USAGE, job->path, "--one-arena: %s", why);
}

exit_code one_arena_check(const one_arena *all, const tool_job *job) {
    const arenaut_target *target = job->pipeline->target;
    if (!has_whole_arena(job)) {
        return complain_alone(job, "its runtime has no interpreters that share an arena");
    }
    if (all->n > 0 && all->target != target) {
        return complain_alone(job, "all models have to be for one runtime");
    }
    return EXIT_FINE;
}

static exit_code add_side(one_arena *all, const tool_job *job, int side, bool as_it_is) {
    arenaut_result result = job->pipeline->result;
    arenaut_tensor_arena *arena = &all->arena[side];
    arenaut_error err = {0};
    const uint64_t before = arena->tail;
    const reservation own =
        as_it_is ? reserved_as_it_is(job) : reserved_for(job, job->pipeline->figures.planned);
    if (as_it_is) result.program = job->pipeline->baseline.program;
    const uint64_t head = as_it_is ? job->pipeline->figures.now : job->pipeline->figures.planned;
    if (all->n == 0) arena->apart = job->apart;
    if (arenaut_tensor_arena_add(&result, head, job->pipeline->target, NULL, arena, &err)) {
        return complain_error(job->path, &err);
    }
    const char *unknown = own.unknown ? own.unknown : all->need[side].unknown;
    all->tenants[all->n].head[side] = head;
    all->tenants[all->n].tail[side] = arena->tail - before;
    all->need[side] = reservation_of(job, arena, unknown);
    return EXIT_FINE;
}

exit_code one_arena_add(one_arena *all, const tool_job *job, const char *name, bool kept) {
    exit_code code = one_arena_check(all, job);
    if (code != EXIT_FINE) return code;
    const bool known = job->pipeline->baseline.plan;
    arena_tenant *grown = realloc(all->tenants, (all->n + 1) * sizeof *grown);
    if (!grown) return complain_memory(NULL);
    all->tenants = grown;
    all->target = job->pipeline->target;
    all->options = job->options;
    all->apart = job->apart;
    all->now_known = (all->n == 0 || all->now_known) && known;
    grown[all->n] = (arena_tenant){.name = strcpy(must_allocate(strlen(name) + 1, 1), name)};
    code = add_side(all, job, ARENA_NOW, known);
    if (code == EXIT_FINE) code = add_side(all, job, ARENA_PLANNED, kept && known);
    all->n++;
    return code;
}

bool one_arena_is_whole(const one_arena *all, size_t n, exit_code code) {
    if (code == EXIT_FINE && all->n == n && !interrupted()) return true;
    complain(code, "one arena", "its size is not known: %s",
             interrupted() ? "the command was interrupted" : "not every model has a plan");
    return false;
}

const reservation *one_arena_need(const one_arena *all, bool planned) {
    return &all->need[all->now_known && !planned ? ARENA_NOW : ARENA_PLANNED];
}

static void put_tenant(const one_arena *all, const arena_tenant *tenant, text_table *table) {
    arenaut_text name = {0};
    text_put(&name, "    ");
    text_put_clean(&name, tenant->name);
    table_cell(table, name.bytes);
    arenaut_text_free(&name);
    table_cell(table, all->now_known ? with_commas(tenant->head[ARENA_NOW]).text : "-");
    table_cell(table, with_commas(tenant->head[ARENA_PLANNED]).text);
    table_cell(table, with_commas(tenant->tail[ARENA_PLANNED]).text);
    for (int i = 0; i < 2; i++) table_cell(table, "");
}

static void put_margin(const one_arena *all, int side, text_table *table) {
    const uint64_t budget = all->options->budget;
    const reservation *need = &all->need[side];
    const uint64_t missing = budget != NOT_GIVEN && need->bytes > budget ? need->bytes - budget : 0;
    if (all->apart) {
        table_cell(table, judge_budget(need, budget) == BUDGET_EXCEEDED  ? "too large"
                          : judge_budget(need, budget) == BUDGET_UNKNOWN ? "unknown"
                                                                         : "fits");
    } else if (budget == NOT_GIVEN) {
        table_cell(table, in_units(need->bytes).text);
    } else if (missing > 0) {
        table_cellf(table, "%s missing", with_commas(missing).text);
    } else if (need->unknown) {
        table_cell(table, "unknown");
    } else {
        table_cellf(table, "%s to spare", with_commas(budget - need->bytes).text);
    }
}

static void put_sum(const one_arena *all, int side, text_table *table) {
    const arenaut_tensor_arena *arena = &all->arena[side];
    const number_text head = with_commas(arena->head);
    table_cellf(table, "    all, %s", side_names[side]);
    table_cell(table, side == ARENA_NOW ? head.text : "");
    table_cell(table, side == ARENA_PLANNED ? head.text : "");
    table_cell(table, with_commas(arena->tail).text);
    table_cellf(table, "%s%s", all->need[side].unknown ? ">= " : "",
                with_commas(all->need[side].bytes).text);
    put_margin(all, side, table);
}

void put_one_arena(const one_arena *all, arenaut_text *out) {
    const uint64_t budget = all->options->budget;
    text_table table;
    if (all->n == 0) return;
    table_begin(&table, "lrrrRR");
    table_cell(&table, "  one arena");
    table_cell(&table, "head");
    table_cell(&table, "planned");
    table_cell(&table, "tail");
    table_cell(&table, "tensor_arena");
    if (all->apart || budget == NOT_GIVEN) table_cell(&table, "");
    else table_cellf(&table, "of %s", with_commas(budget).text);
    for (size_t i = 0; i < all->n; i++) put_tenant(all, &all->tenants[i], &table);
    if (all->now_known) put_sum(all, ARENA_NOW, &table);
    put_sum(all, ARENA_PLANNED, &table);
    table_end(&table, out, "", "");
    if (budget != NOT_GIVEN && judge_budget(one_arena_need(all, true), budget) == BUDGET_EXCEEDED) {
        text_put(out,
                 "    'arenaut plan FILES --one-arena --fit SIZE' also tries other levers and "
                 "combinations for each\n");
    }
    text_put(out,
             "    one of the models runs at a time; the results of one are gone when another "
             "has run\n");
}

static void put_json_member(const char *name, uint64_t value, arenaut_text *out) {
    text_printf(out, ", \"%s\": ", name);
    text_put_json_u64(out, value);
}

static void put_json_side(const one_arena *all, int side, arenaut_text *out) {
    const arenaut_tensor_arena *arena = &all->arena[side];
    const uint64_t budget = all->options->budget;
    text_put(out, "{\"head\": ");
    text_put_json_u64(out, arena->head);
    put_json_member("scratch", arena->scratch, out);
    put_json_member("tail", arena->tail, out);
    put_json_member("bytes", all->need[side].bytes, out);
    text_printf(out, ", \"exact\": %s", all->need[side].unknown ? "false" : "true");
    if (budget != NOT_GIVEN || all->apart) {
        text_printf(out, ", \"fits\": %s", budget_verdict_json(&all->need[side], budget));
    }
    text_put(out, "}");
}

void put_json_one_arena(const one_arena *all, bool planned, arenaut_text *out) {
    const uint64_t budget = all->options->budget;
    const char *line = all->options->jsonl ? " " : "\n  ";
    if (all->n == 0) return;
    text_printf(out, "{%s\"schema\": \"arenaut.one-arena/1\",%s\"target\": ", line, line);
    text_put_json(out, all->target->name);
    text_printf(out, ",%s\"models\": [", line);
    for (size_t i = 0; i < all->n; i++) {
        const arena_tenant *t = &all->tenants[i];
        text_put(out, i ? ", {\"name\": " : "{\"name\": ");
        text_put_json(out, t->name);
        if (all->now_known) put_json_member("head", t->head[ARENA_NOW], out);
        put_json_member("planned_head", t->head[ARENA_PLANNED], out);
        put_json_member("tail", t->tail[ARENA_PLANNED], out);
        text_put(out, "}");
    }
    text_printf(out, "],%s\"as_it_is\": ", line);
    if (all->now_known) put_json_side(all, ARENA_NOW, out);
    else text_put(out, "null");
    text_printf(out, ",%s\"planned\": ", line);
    put_json_side(all, ARENA_PLANNED, out);
    if (budget != NOT_GIVEN) {
        const reservation *need = one_arena_need(all, planned);
        text_printf(out, ",%s\"budget\": {\"bytes\": ", line);
        text_put_json_u64(out, budget);
        put_json_member("needed", need->bytes, out);
        text_printf(out, ", \"fits\": %s}", budget_verdict_json(need, budget));
    }
    text_put(out, all->options->jsonl ? " }\n" : "\n}\n");
}

void put_one_arena_header(const one_arena *all, arenaut_text *out) {
    const arenaut_tensor_arena *arena = &all->arena[ARENA_PLANNED];
    const char *least = all->need[ARENA_PLANNED].unknown ? "_AT_LEAST" : "";
    text_printf(
        out,
        "/* One tensor_arena for %zu models, of which one runs at a time, made by arenaut "
        "%s.\n * %s: one MicroAllocator for all interpreters; the head of the largest, and "
        "all tails. They are made in\n * the order in which the models were named; in another, "
        "more may be needed. */\n#ifndef ONE_ARENA_H\n#define ONE_ARENA_H\n\n",
        all->n, arenaut_version(), all->target->name);
    if (arena->apart) {
        text_printf(out, "#define ONE_ARENA_HEAD_BYTES%s %" PRIu64 "u\n", least,
                    all->need[ARENA_PLANNED].need[0]);
        text_printf(out, "#define ONE_ARENA_TAIL_BYTES%s %" PRIu64 "u\n", least,
                    all->need[ARENA_PLANNED].need[1]);
    } else {
        text_printf(out, "#define ONE_ARENA_BYTES%s %" PRIu64 "u\n", least, arena->total);
    }
    text_put(out, "\n#endif\n");
}

void one_arena_free(one_arena *all) {
    for (size_t i = 0; i < all->n; i++) free(all->tenants[i].name);
    free(all->tenants);
}

/* Sums of state: it is alive at every step, so that no other buffer lies where it does, and a plan
 * may be cut there: without it, the buffers behind it move down by its size, in whole multiples of
 * the largest alignment. All states lie side by side then, and the rest of the largest behind
 * them. */

typedef struct state {
    uint64_t kept; /* bytes for it in a memory of its own */
    uint64_t cut;  /* that the plan is smaller without it */
    bool any;
} state;

static uint64_t largest_alignment(const arenaut_problem *problem) {
    uint64_t largest = 1;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        const uint64_t align = arenaut_problem_align(problem, b);
        if (align > largest) largest = align;
    }
    for (uint32_t k = 0; k < problem->n_pools; k++) {
        if (problem->pool[k].align > largest) largest = problem->pool[k].align;
    }
    return largest;
}

/* Where buffers may share bytes, one of them may reach into a state. */
static bool may_share(const arenaut_problem *problem) {
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (arenaut_problem_same_base(problem, b) != ARENAUT_NONE ||
            arenaut_problem_inside(problem, b) != ARENAUT_NONE) {
            return true;
        }
    }
    return problem->n_separations > 0;
}

static void add_buffer(const arenaut_problem *problem, uint32_t b, uint64_t align, state *found) {
    found->cut += problem->size[b] / align * align;
    found->kept += (problem->size[b] + align - 1) / align * align;
}

/* Several states may be names of one buffer. */
static state find_state(const arenaut_pipeline *p, uint64_t planned) {
    const arenaut_program *program = p->document.program;
    state found = {0};
    if (!program || !p->lowering) return found;
    const uint64_t align = largest_alignment(p->problem);
    bool *seen = must_allocate(p->problem->n_buffers, sizeof *seen);
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        if (program->tensors[t].cls != ARENAUT_STATE) continue;
        const uint32_t b = p->lowering->buffer[t];
        found.any = true;
        if (b == ARENAUT_NONE || seen[b]) continue;
        seen[b] = true;
        add_buffer(p->problem, b, align, &found);
    }
    free(seen);
    if (found.kept > 0 && (may_share(p->problem) || found.cut > planned)) {
        found.kept = found.cut = planned;
    }
    return found;
}

static uint64_t sum_of(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

static void add(uint64_t whole, uint64_t kept, uint64_t cut, uint64_t *sum, uint64_t *running) {
    *sum = sum_of(*sum, kept);
    const uint64_t rest = whole > cut ? whole - cut : 0; /* the tail may be that of another plan */
    if (rest > *running) *running = rest;
}

exit_code together_add(together *sums, const tool_job *job, uint64_t planned,
                       const reservation *need) {
    const state found = find_state(job->pipeline, planned);
    arenaut_tensor_arena arena = {0}; /* its tail lives as long as the state in it */
    if (found.any && has_whole_arena(job)) {
        const exit_code code = find_whole_arena(job, planned, &arena);
        if (code != EXIT_FINE) return code;
    }
    add(planned, found.kept, found.cut, &sums->kept, &sums->running);
    add(need->bytes, found.kept + arena.tail, found.cut + arena.tail, &sums->kept_reserved,
        &sums->running_reserved.bytes);
    if (need->unknown) sums->running_reserved.unknown = need->unknown;
    sums->running_reserved.whole = need->whole && (sums->n == 0 || sums->running_reserved.whole);
    sums->running_reserved.apart = need->apart;
    sums->n++;
    for (int i = 0; i < 2; i++) {
        uint64_t *most = &sums->running_reserved.need[i];
        *most = need->need[i] > *most ? need->need[i] : *most;
        sums->running_reserved.size[i] = need->size[i];
    }
    return EXIT_FINE;
}

uint64_t together_planned(const together *sums) { return sum_of(sums->kept, sums->running); }

reservation together_reserved(const together *sums) {
    reservation all = sums->running_reserved;
    all.bytes = sum_of(all.bytes, sums->kept_reserved);
    return all;
}
