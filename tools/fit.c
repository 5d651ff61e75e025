/* A search over combinations of rewrites and rights, each planned by the whole pipeline: offsets
 * alone, results over operands, results that reach into operands, another schedule, rematerialized
 * ops, tiled ops. They are tried from the gentlest to the one that changes most: rights first, then
 * schedules, then rewrites that add ops. Tiling is searched only if nothing gentler fits, and never
 * beside rematerialization, which does not go with it; a right more may mean fewer tiles, so the
 * tilings are listed by the time and the ops that they add. At most eighteen plans. */
#include "fit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "planning.h"
#include "remedies.h"
#include "tool.h"

enum { IN_PLACE = 1, REACHING = 2, N_RIGHTS = 3, MAX_COMBINATIONS = 19 };

/* A combination of levers, and its result. */
typedef struct combination {
    int rights; /* 0, IN_PLACE or REACHING */
    bool reorders, repeats, splits;
    bool tried, refused; /* planned; or not to be done with this file */
    uint64_t head;
    reservation need;
    arenaut_cost cost; /* of `need` and the ops */
    int64_t more_ops;
    int64_t more_macs;
    uint64_t macs; /* of the file; 0 where no op is tiled */
    arenaut_text quality;
    const char *kept; /* why the file stays as it is although this differs; NULL: it does not */
    bool by_force;    /* with -f it would not */
    bool stays;       /* in a model the plan of the file stays, for any reason */
} combination;

typedef struct combinations {
    const tool_options *given;
    combination items[MAX_COMBINATIONS]; /* the first: the file as it is */
    size_t n;
    const char *of;        /* the planned memory: "head" or "arena" */
    arenaut_text of_model; /* changes of the model that would help */
    bool only_whole_ops;   /* the cost of more ops is unknown for this runtime: no tiling */
    bool cut_short;        /* time has ended a search */
} combinations;

/* Whether a lever may be set so: flags of the user are kept. */
static bool may_be(const char *given, bool on) { return !given || lever_is_on(given) == on; }

static bool is_allowed(const tool_options *o, const combination *w) {
    return (w->rights == REACHING || may_be(o->inplace, w->rights == IN_PLACE)) &&
           may_be(o->overlap, w->rights == REACHING) && may_be(o->reorder, w->reorders) &&
           may_be(o->recompute, w->repeats) && may_be(o->split, w->splits);
}

/* The gentlest first. */
static void list_combinations(combinations *all) {
    enum { REWRITES = 3 }; /* none, rematerialization, tiling */
    all->n = 1;
    for (int k = 0; k < 2 * REWRITES; k++) {
        for (int rights = 0; rights < N_RIGHTS; rights++) {
            const combination w = {
                .rights = rights, .reorders = k & 1, .repeats = k / 2 == 1, .splits = k / 2 == 2};
            if (is_allowed(all->given, &w)) all->items[all->n++] = w;
        }
    }
}

static void free_combinations(combinations *all) {
    for (size_t i = 0; i < all->n; i++) arenaut_text_free(&all->items[i].quality);
    arenaut_text_free(&all->of_model);
}

/* The given flags and the levers of a combination. Tiling searches for the same budget, in two
 * memories for the least; rematerialization, whose budget would be of the tensors alone, for the
 * least. */
static tool_options options_of(const combinations *all, const combination *w) {
    tool_options o = *all->given;
    if (w == all->items) o.inplace = o.overlap = o.reorder = o.split = o.recompute = NULL;
    if (!o.inplace && w->rights >= IN_PLACE) o.inplace = "on";
    if (!o.overlap && w->rights == REACHING) o.overlap = "on";
    if (!o.reorder && w->reorders) o.reorder = "on";
    if (!o.split && w->splits) o.split = "on";
    if (o.fit < o.budget) o.budget = o.fit;
    if (w->repeats) o.fit = NOT_GIVEN;
    if (!o.recompute && w->repeats) o.recompute = "on";
    return o;
}

/* "--split on --overlap on": the levers that were not given as flags. */
static void put_flags(const combinations *all, const combination *w, arenaut_text *out) {
    const tool_options *o = all->given;
    if (w->splits && !o->split) text_put(out, " --split on");
    if (w->reorders && !o->reorder) text_put(out, " --reorder on");
    if (w->repeats && !o->recompute) text_put(out, " --recompute on");
    if (w->rights >= IN_PLACE && !o->inplace) text_put(out, " --inplace on");
    if (w->rights == REACHING && !o->overlap) text_put(out, " --overlap on");
}

/* Within --fit, if it is given, and in two memories each. */
static bool keeps(const combinations *all, const combination *w) {
    return w->tried && !w->kept && judge_budget(&w->need, all->given->fit) == BUDGET_KEPT;
}

static bool fits(const combinations *all, const combination *w) {
    return all->given->fit != NOT_GIVEN && keeps(all, w);
}

/* The file as it is, beside its first plan. */
static void take_baseline(combinations *all, const tool_job *job, bool into_model) {
    combination *as_it_is = &all->items[0];
    if (!job->pipeline->baseline.plan) return;
    as_it_is->tried = true;
    as_it_is->head = job->pipeline->figures.now;
    as_it_is->need = reserved_as_it_is(job);
    as_it_is->cost =
        (arenaut_cost){.spill = job->pipeline->baseline.plan->spill, .total = as_it_is->need.bytes};
    if (!into_model && job->pipeline->baseline.problem != job->pipeline->problem)
        as_it_is->kept = "the plan that is in the file is written by 'arenaut export'";
    all->of = has_whole_arena(job) ? "head" : "arena";
}

/* The same for an output that is no model, and where the file's own plan cannot stand in. */
static exit_code find_whether_written(const combinations *all, const tool_job *job,
                                      combination *w) {
    const arenaut_pipeline *p = job->pipeline;
    arenaut_outcome outcome;
    arenaut_error err = {0};
    if (arenaut_pipeline_outcome(p, false, all->given->force, &outcome, &err) != ARENAUT_OK)
        return complain_error(job->path, &err);
    if (p->baseline.problem != p->problem) w->kept = planning_reason(p, outcome);
    return EXIT_FINE;
}

static bool put_nowhere(void *context, const void *bytes, size_t n) {
    (void)context, (void)bytes, (void)n;
    return true;
}

/* What a rewritten file would be read as may refuse it: such a combination is not possible. */
static exit_code find_whether_writable(const combinations *all, const tool_job *job) {
    const arenaut_pipeline *p = job->pipeline;
    const arenaut_sink nowhere = {put_nowhere, NULL};
    arenaut_error err = {0};
    if (!p->rewrite) return EXIT_FINE;
    const arenaut_status st = arenaut_pipeline_write(p, all->given->force, nowhere, &err);
    return st == ARENAUT_REFUSED ? complain_error(job->path, &err) : EXIT_FINE;
}

/* Whether a model gets this plan, or stays as it is for another reason than that its own needs no
 * more. */
static exit_code find_whether_kept(const combinations *all, const tool_job *job, combination *w) {
    const arenaut_pipeline *p = job->pipeline;
    arenaut_outcome outcome, forced;
    arenaut_error err = {0};
    if (arenaut_pipeline_outcome(p, true, all->given->force, &outcome, &err) != ARENAUT_OK ||
        arenaut_pipeline_outcome(p, true, true, &forced, &err) != ARENAUT_OK)
        return complain_error(job->path, &err);
    w->stays = outcome != ARENAUT_OUTCOME_WRITE;
    if (outcome == ARENAUT_OUTCOME_FOREIGN || outcome == ARENAUT_OUTCOME_OUTSIDE ||
        outcome == ARENAUT_OUTCOME_MEMORY_GROWS || outcome == ARENAUT_OUTCOME_SCRATCH_UNKNOWN) {
        w->kept = planning_reason(p, outcome);
        w->by_force = forced == ARENAUT_OUTCOME_WRITE;
    }
    return w->stays ? EXIT_FINE : find_whether_writable(all, job);
}

static exit_code try_combination(combinations *all, combination *w) {
    tool_options options = options_of(all, w);
    tool_job job;
    output_kind kind = {NULL, NULL};
    options.dump_live = false; /* of the plan that is taken alone */
    options.dump_after = NULL;
    exit_code code = job_read(&job, options.files.items[0], &options);
    if (code == EXIT_FINE) code = fit_check_obeyed(&job);
    if (code == EXIT_FINE && options.output) code = kind_for_path(&job, options.output, &kind);
    const bool into_model = !options.output || kind_is_model(kind);
    if (code == EXIT_FINE) code = job_run_read(&job);
    if (code == EXIT_FINE) {
        const arenaut_pipeline *p = job.pipeline;
        w->tried = true;
        all->cut_short = all->cut_short || job.watch.cut_short;
        w->head = p->figures.planned;
        all->only_whole_ops = !p->target->layout;
        w->need = reserved_for(&job, w->head);
        w->cost = arenaut_pipeline_cost(p);
        w->cost.total = w->need.bytes;
        if (p->rewrite) {
            w->more_ops = (int64_t)p->document.program->n_ops - p->baseline.program->n_ops;
            w->more_macs = (int64_t)(p->rewrite->macs - p->rewrite->macs_before);
            w->macs = p->rewrite->macs_before;
        }
        describe_quality(p, &w->quality);
        if (!all->items[0].tried) {
            take_baseline(all, &job, into_model);
            put_model_remedies(p, &all->of_model);
        }
        code = into_model ? find_whether_kept(all, &job, w) : find_whether_written(all, &job, w);
    }
    if (code == EXIT_NEGATIVE && job_is_answered(&job, code)) complain_infeasible(job.pipeline);
    if (code != EXIT_FINE) w->tried = false;
    job_close(&job);
    return code;
}

/* They come last. */
static void drop_rewrites(combinations *all) {
    while (all->n > 2 && ((all->items[all->n - 1].splits && !all->given->split) ||
                          (all->items[all->n - 1].repeats && !all->given->recompute)))
        all->n--;
}

static bool adds_less(const combination *a, const combination *b) {
    const arenaut_cost of_a = {.time = a->cost.time, .ops = a->cost.ops};
    const arenaut_cost of_b = {.time = b->cost.time, .ops = b->cost.ops};
    return a->tried && (!b->tried || arenaut_costs_less(of_a, of_b));
}

/* Tilings come last: by what they add, of equals in the order of levers. */
static void sort_tilings(combinations *all) {
    for (size_t i = 2; i < all->n; i++) {
        const combination w = all->items[i];
        size_t at = i;
        for (; all->items[at - 1].splits && adds_less(&w, &all->items[at - 1]); at--)
            all->items[at] = all->items[at - 1];
        all->items[at] = w;
    }
}

/* Errors of the file are reported for the first combination. One that is refused later, as tiling
 * several subgraphs, is left out. */
static exit_code try_all(combinations *all) {
    exit_code code = EXIT_FINE;
    bool enough = false;
    set_quiet(true);
    for (size_t i = 1; i < all->n && code == EXIT_FINE; i++) {
        if (enough && all->items[i].splits) break;
        set_silent(i > 1);
        code = try_combination(all, &all->items[i]);
        all->items[i].refused = code != EXIT_FINE;
        if (i > 1 && code != EXIT_INTERRUPT) code = EXIT_FINE;
        if (i == 1 && all->only_whole_ops) drop_rewrites(all);
        code = job_goes_on(code);
        enough = enough || fits(all, &all->items[0]) ||
                 (!all->items[i].splits && fits(all, &all->items[i]));
    }
    sort_tilings(all);
    set_silent(false);
    set_quiet(all->given->quiet);
    return code;
}

static bool is_better(const combinations *all, const combination *w, const combination *best) {
    if (w->kept || best->kept) return !w->kept;
    const bool kept = keeps(all, w);
    return kept != keeps(all, best) ? kept : arenaut_costs_less(w->cost, best->cost);
}

/* With --fit the first that fits, else the least, of those that keep their memories if any does;
 * of equals the gentlest. NULL: none was tried. */
static const combination *choose(const combinations *all) {
    const combination *best = NULL;
    for (size_t i = 0; i < all->n; i++) {
        const combination *w = &all->items[i];
        if (fits(all, w)) return w;
        if (w->tried && (!best || is_better(all, w, best))) best = w;
    }
    return best;
}

static void put_name(const combinations *all, const combination *w, arenaut_text *out) {
    const tool_options *o = all->given;
    const bool decided = o->inplace || o->overlap || o->reorder || o->split || o->recompute;
    arenaut_text flags = {0};
    put_flags(all, w, &flags);
    if (w == all->items) text_put(out, "as it is");
    else if (flags.size) text_put(out, flags.bytes + 1);
    else text_put(out, decided ? "as asked for" : "places alone");
    arenaut_text_free(&flags);
}

/* Where nothing is rematerialized, the plan is the one without. */
static bool repeats_nothing(const combination *w) {
    return w->repeats && w->tried && w->more_ops == 0;
}

/* "head 6,160 missing", behind `before`; nothing if neither memory is exceeded. */
static bool put_memory_missing(const reservation *need, const char *before, arenaut_text *out) {
    for (int i = 0; i < 2 && need->apart; i++) {
        if (need->need[i] <= need->size[i]) continue;
        text_printf(out, "%s%s %s missing", before, i == 0 ? "head" : "tail",
                    with_commas(need->need[i] - need->size[i]).text);
        return true;
    }
    return false;
}

static void put_margin(const combination *w, uint64_t size, text_table *table) {
    const reservation *need = &w->need;
    arenaut_text missing = {0};
    if (!w->tried) table_cell(table, "");
    else if (need->bytes > size)
        table_cellf(table, "%s missing", with_commas(need->bytes - size).text);
    else if (put_memory_missing(need, "", &missing)) table_cell(table, missing.bytes);
    else if (size == NOT_GIVEN) table_cell(table, "");
    else if (need->unknown) table_cell(table, "unknown");
    else table_cellf(table, "%s to spare", with_commas(size - need->bytes).text);
    arenaut_text_free(&missing);
}

static void put_row(const combinations *all, const combination *w, const combination *chosen,
                    text_table *table) {
    const uint64_t size = all->given->fit;
    const char *least = w->need.unknown ? ">= " : "";
    arenaut_text name = {0};
    text_put(&name, "  ");
    put_name(all, w, &name);
    table_cell(table, name.bytes);
    arenaut_text_free(&name);
    table_cell(table, w->tried ? with_commas(w->head).text : "");
    if (w->tried) table_cellf(table, "%s%s", least, with_commas(w->need.bytes).text);
    else table_cell(table, w->refused ? "not possible" : "not tried");
    put_margin(w, size, table);
    if (repeats_nothing(w)) table_cell(table, "no op");
    else if (w->more_ops) table_cellf(table, "%+" PRId64 " ops", w->more_ops);
    else table_cell(table, "");
    if (w->macs) table_cell(table, change_percent(w->macs, w->macs + (uint64_t)w->more_macs).text);
    else table_cell(table, "");
    table_cell(table, w->kept       ? w->by_force ? "only with -f" : "not written"
                      : w != chosen ? ""
                      : size == NOT_GIVEN || fits(all, w) ? "taken"
                                                          : "the least");
}

/* Why rows are not written, and which are missing. */
static void put_notes(const combinations *all, const combination *chosen, arenaut_text *out) {
    const combination *last = &all->items[all->n - 1];
    bool repeats = false;
    for (size_t i = 0; i < all->n; i++) repeats = repeats || all->items[i].repeats;
    for (size_t i = 0; i < all->n; i++) {
        if (!all->items[i].kept) continue;
        text_printf(out, "  %s\n", all->items[i].kept);
        break;
    }
    if (repeats && last->splits)
        text_put(out, "  --split on and --recompute on do not go together: each is tried alone\n");
    if (all->cut_short) text_printf(out, "  %s\n", TIME_ENDED);
    if (all->given->fit != NOT_GIVEN && !fits(all, chosen) && all->of_model.size)
        text_put(out, all->of_model.bytes);
}

static void put_table(const combinations *all, const combination *chosen, arenaut_text *out) {
    text_table table;
    table_begin(&table, "lrrRRRl");
    table_cell(&table, "  levers");
    table_cell(&table, all->of);
    table_cell(&table, "to reserve");
    if (all->given->fit == NOT_GIVEN) table_cell(&table, "");
    else table_cellf(&table, "of %s", with_commas(all->given->fit).text);
    table_cell(&table, "adds");
    table_cell(&table, "macs");
    table_cell(&table, "");
    bool said = false; /* one row for all that rematerialize nothing */
    for (size_t i = 0; i < all->n; i++) {
        const combination *w = &all->items[i];
        if (!repeats_nothing(w) || !said || w == chosen) put_row(all, w, chosen, &table);
        said = said || repeats_nothing(w);
    }
    table_end(&table, out, "", "");
    put_notes(all, chosen, out);
}

/* "; 880 with -f, by places alone: the file holds another tool's plan, which -f replaces" */
static void put_least_by_force(const combinations *all, const combination *least,
                               arenaut_text *out) {
    const combination *best = least;
    for (size_t i = 0; i < all->n; i++) {
        const combination *w = &all->items[i];
        if (w->by_force && w->need.bytes < best->need.bytes) best = w;
    }
    if (best == least) return;
    text_printf(out, "; with -f %s%s, by ", best->need.unknown ? "at least " : "",
                with_commas(best->need.bytes).text);
    put_name(all, best, out);
    text_printf(out, ": %s", best->kept);
}

/* "nothing fits into 20,480 bytes: the least is 61,072, with --split on; ..." */
static exit_code complain_too_large(const combinations *all, const combination *least) {
    arenaut_text with = {0};
    put_name(all, least, &with);
    text_printf(&with, ": %s %s", all->of, with_commas(least->head).text);
    if (least->quality.size) text_printf(&with, ", %s", least->quality.bytes);
    if (least->need.unknown) text_printf(&with, "; %s", least->need.unknown);
    put_memory_missing(&least->need, "; ", &with);
    put_least_by_force(all, least, &with);
    if (all->cut_short) text_printf(&with, "; %s", TIME_ENDED);
    const exit_code code = complain(
        EXIT_NEGATIVE, all->given->files.items[0],
        "nothing is known to fit into %s bytes%s: the least to reserve is %s%s (%s)",
        with_commas(all->given->fit).text, least->need.apart ? " in its two memories" : "",
        least->need.unknown ? "at least " : "", with_commas(least->need.bytes).text, with.bytes);
    arenaut_text_free(&with);
    return code;
}

static void put_json_combinations(const combinations *all, const combination *chosen,
                                  arenaut_text *out) {
    text_put(out, ",\n  \"fit\": {\"size\": ");
    if (all->given->fit == NOT_GIVEN) text_put(out, "null");
    else text_put_json_u64(out, all->given->fit);
    text_put(out, ", \"ways\": [");
    for (size_t i = 0; i < all->n; i++) {
        const combination *w = &all->items[i];
        arenaut_text name = {0};
        put_name(all, w, &name);
        text_put(out, i ? ",\n    {\"levers\": " : "\n    {\"levers\": ");
        text_put_json(out, name.bytes);
        arenaut_text_free(&name);
        if (w->tried) {
            text_put(out, ", \"planned\": ");
            text_put_json_u64(out, w->head);
            text_put(out, ", \"reserve\": ");
            text_put_json_u64(out, w->need.bytes);
            text_printf(out,
                        ", \"exact\": %s, \"added_ops\": %" PRId64 ", \"added_macs\": %" PRId64,
                        w->need.unknown ? "false" : "true", w->more_ops, w->more_macs);
        }
        if (w->kept) {
            text_put(out, ", \"kept\": ");
            text_put_json(out, w->kept);
        }
        text_printf(
            out, ", \"taken\": %s}",
            w == chosen && (all->given->fit == NOT_GIVEN || fits(all, w)) ? "true" : "false");
    }
    text_printf(out, "]%s}", all->cut_short ? ", \"stopped_by\": \"time\"" : "");
}

/* Why the file stays as it is: it fits, or no plan that may be written needs less. */
static const char *reason_to_keep(const combinations *all) {
    if (all->given->fit != NOT_GIVEN) return "it fits as it is";
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].kept) return all->items[i].kept;
    return "nothing needs less";
}

static exit_code complain_both_rewrites(void) {
    return complain(EXIT_USAGE, NULL,
                    "--recompute and --split do not go together: give one, or none, and both "
                    "are tried");
}

static void complain_interrupted(const tool_options *options) {
    complain(EXIT_INTERRUPT, options->files.items[0], "interrupted before all levers were tried");
}

exit_code find_fit(const tool_options *options, fit *found) {
    *found = (fit){.options = *options};
    combinations all = {.given = options, .of = "arena"};
    list_combinations(&all);
    if (all.n == 1) return complain_both_rewrites();
    exit_code code = try_all(&all);
    const combination *chosen = code == EXIT_FINE ? choose(&all) : NULL;
    if (code == EXIT_INTERRUPT) complain_interrupted(options);
    if (chosen) put_table(&all, chosen, &found->table);
    if (chosen) put_json_combinations(&all, chosen, &found->json);
    if (chosen && options->fit != NOT_GIVEN && !fits(&all, chosen)) {
        code = complain_too_large(&all, chosen);
    } else if (chosen) {
        found->options = options_of(&all, chosen);
        if (chosen == all.items) found->keep = reason_to_keep(&all);
    }
    free_combinations(&all);
    return code;
}

/* A model that stays as it is under a combination, as it does under others then, counts so. */
static void add_choice(const combinations *all, const combination *w, choice_list *found) {
    const combination *result = w->stays && all->items[0].tried ? all->items : w;
    for (size_t i = 0; i < found->n; i++)
        if (found->items[i].as_it_is && result == all->items) return;
    lever_choice *made = &found->items[found->n++];
    *made = (lever_choice){
        .options = options_of(all, w), .need = result->need, .as_it_is = result == all->items};
    put_name(all, result, &made->name);
}

exit_code find_choices(const tool_options *options, choice_list *found) {
    tool_options every = *options; /* nothing is enough, so that all are tried */
    combinations all = {.given = &every, .of = "arena"};
    *found = (choice_list){.n = 0};
    every.fit = NOT_GIVEN;
    every.output = NULL; /* a folder of models */
    list_combinations(&all);
    const exit_code code = all.n > 1 ? try_all(&all) : complain_both_rewrites();
    if (code == EXIT_INTERRUPT) complain_interrupted(options);
    found->items = must_allocate(all.n, sizeof *found->items);
    for (size_t i = 1; i < all.n && code == EXIT_FINE; i++) {
        const combination *w = &all.items[i];
        if (w->tried && (!repeats_nothing(w) || found->n == 0)) add_choice(&all, w, found);
    }
    found->cut_short = all.cut_short;
    free_combinations(&all);
    return code;
}

void choices_free(choice_list *choices) {
    for (size_t i = 0; i < choices->n; i++) arenaut_text_free(&choices->items[i].name);
    free(choices->items);
}

void fit_free(fit *found) {
    arenaut_text_free(&found->table);
    arenaut_text_free(&found->json);
}
