/* A remedy is a flag that was not given. The whole pipeline from the file to a checked plan runs
 * once more with it, so that the reported savings are those that the user will get. */
#include "remedies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/dialect.h>
#include <arenaut/pass.h>

#include "describe.h"
#include "whole_arena.h"

bool same_problem(const arenaut_problem *a, const arenaut_problem *b) {
    if (a->n_buffers != b->n_buffers || a->n_separations != b->n_separations) return false;
    for (uint32_t i = 0; i < a->n_separations; i++) {
        const arenaut_separation *x = &a->separation[i], *y = &b->separation[i];
        if (x->upper != y->upper || x->lower != y->lower || x->distance != y->distance)
            return false;
    }
    for (uint32_t i = 0; i < a->n_buffers; i++) {
        const uint32_t n = arenaut_problem_lifetime_count(a, i);
        if (a->size[i] != b->size[i] || n != arenaut_problem_lifetime_count(b, i) ||
            arenaut_problem_same_base(a, i) != arenaut_problem_same_base(b, i) ||
            arenaut_problem_inside(a, i) != arenaut_problem_inside(b, i) ||
            arenaut_problem_align(a, i) != arenaut_problem_align(b, i)) {
            return false;
        }
        for (uint32_t k = 0; k < n; k++) {
            const arenaut_interval *la = arenaut_problem_lifetimes(a, i) + k;
            const arenaut_interval *lb = arenaut_problem_lifetimes(b, i) + k;
            if (la->first != lb->first || la->end != lb->end) return false;
        }
    }
    return true;
}

static uint64_t reserve_for(const tool_job *job, bool *exact) {
    const reservation need = reserved_for(job, job->pipeline->figures.planned);
    *exact = !need.unknown;
    return need.bytes;
}

/* *found: there is a checked plan. That there is none is no failure of the trials. */
static exit_code try_plan(tool_job *job, bool *found) {
    arenaut_error err = {0};
    exit_code code = job_find_baseline(job);
    *found = false;
    if (code != EXIT_FINE) return code;
    const arenaut_status st = arenaut_pipeline_plan(job->pipeline, &err);
    code = job_goes_on(EXIT_FINE);
    const bool none = st == ARENAUT_NO_PLAN || st == ARENAUT_NOT_FOUND || st == ARENAUT_STOPPED ||
                      st == ARENAUT_REFUSED; /* rights that the planner lacks */
    if (code != EXIT_FINE || none) return code;
    code = job_judge_plan(job, st, &err);
    *found = code == EXIT_FINE;
    return code;
}

static void fill_in(tool_job *other, const remedy_list *list, remedy *with) {
    with->arena = other->pipeline->plan->total;
    with->reserve = reserve_for(other, &with->exact);
    with->saves = with->reserve < list->reserve ? list->reserve - with->reserve : 0;
    with->job = other;
}

/* Fills in the needs with `changed`, and the job that found them if the problem is another one, or
 * is planned `anew` in any case. */
static exit_code plan_problem_with(const tool_job *job, remedy_list *list, bool anew,
                                   const arenaut_pipeline_options *changed, remedy *with) {
    tool_job *other = must_allocate(1, sizeof *other);
    *with = list->anew;
    exit_code code = job_prepare_again(other, job, changed);
    if (code == EXIT_FINE) {
        with->order = other->pipeline->ordering;
        with->again = other->pipeline->recomputed;
    }
    anew = anew ||
           (code == EXIT_FINE && !same_problem(job->pipeline->problem, other->pipeline->problem));
    if (code == EXIT_FINE && anew) {
        bool found;
        code = try_plan(other, &found);
        with->fails = code == EXIT_FINE && !found;
        if (found) fill_in(other, list, with);
    }
    with->cut_short = other->watch.cut_short;
    list->cut_short = list->cut_short || with->cut_short;
    if (with->job) return code;
    job_close(other);
    free(other);
    return code;
}

static exit_code plan_with(const tool_job *job, remedy_list *list,
                           const arenaut_pipeline_options *changed, remedy *with) {
    return plan_problem_with(job, list, false, changed, with);
}

static void drop_job(remedy *with) {
    if (with->job) job_close(with->job);
    free(with->job);
    with->job = NULL;
}

static void set_flags(char flags[static 48], const char *flag, const char *value) {
    snprintf(flags, 48, "%s%s%s", flag, *value ? " " : "", value);
}

static void add_failed(remedy_list *list, const char *what, const char *flag, const char *value) {
    if (list->n_failed == MAX_REMEDIES) return;
    without_plan *added = &list->failed[list->n_failed++];
    added->what = what;
    set_flags(added->flags, flag, value);
}

static void add_remedy(remedy_list *list, const char *what, const char *flag, const char *value,
                       remedy with) {
    if (with.fails || !list->keeps || list->n == MAX_REMEDIES) drop_job(&with);
    if (with.fails) add_failed(list, what, flag, value);
    if (with.fails || list->n == MAX_REMEDIES) return;
    remedy *added = &list->items[list->n++];
    *added = with;
    added->what = what;
    set_flags(added->flags, flag, value);
}

void remedies_free(remedy_list *list) {
    for (size_t i = 0; i < list->n; i++) drop_job(&list->items[i]);
    list->n = 0;
}

static bool is_listed(const char *names, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = names; at && (at = strstr(at, name)); at += length) {
        const bool begins = at == names || strchr(",-", at[-1]);
        if (begins && (at[length] == '\0' || at[length] == ',')) return true;
    }
    return false;
}

/* Passes that do not run unless asked for: the passes of a dialect's pipeline define the meaning of
 * its programs, and are no choice. In place and overlap have flags of their own. */
static bool is_optional(const arenaut_pass *pass) {
    if (pass->by_default || is_listed("inplace,overlaps", pass->name)) return false;
    for (size_t i = 0; i < arenaut_dialect_count(); i++) {
        if (is_listed(arenaut_dialect_at(i)->pipeline, pass->name)) return false;
    }
    return true;
}

static exit_code try_pass(const tool_job *job, const arenaut_pass *pass, remedy_list *list) {
    arenaut_pipeline_options changed = job->pipeline->options;
    const char *before = changed.passes ? changed.passes : "";
    char selection[1024];
    remedy with;
    if (is_listed(before, pass->name)) return EXIT_FINE; /* the user has chosen */
    const int length =
        snprintf(selection, sizeof selection, "%s%s%s", before, *before ? "," : "", pass->name);
    if (length < 0 || (size_t)length >= sizeof selection) return EXIT_FINE;
    changed.passes = selection;
    const exit_code code = plan_with(job, list, &changed, &with);
    if (code != EXIT_FINE) return code;
    if (list->no_plan ? !with.fails : with.saves > list->anew.saves) {
        add_remedy(list, pass->summary, "--passes", pass->name, with);
    } else {
        drop_job(&with);
    }
    return code;
}

/* Whether anything is known of how far results may reach into operands. */
static bool has_rules(const arenaut_kernel_set *set) {
    for (; set; set = set->base) {
        if (set->rules) return true;
    }
    return false;
}

/* Whether results may lie over operands by any known rule: of the kernels, or of the dialect for
 * every runtime of its ops. */
static bool has_rights(const arenaut_pipeline *p) {
    const arenaut_dialect *dialect = arenaut_dialect_find(p->document.program->dialect);
    return p->kernels || (dialect && dialect->in_place);
}

/* Rights of the kernels that were not asked for: results over operands, or as far into them as
 * possible.
 * */
static exit_code try_kernels(const tool_job *job, remedy_list *list) {
    arenaut_pipeline_options changed = job->pipeline->options;
    const arenaut_kernel_set *kernels = job->pipeline->kernels;
    exit_code code = EXIT_FINE;
    remedy with;
    if (has_rights(job->pipeline) && !changed.overlap && !job->options->inplace &&
        !changed.n_in_place_rules && changed.overwrite == ARENAUT_OVERWRITE_BY_RULES) {
        changed.overwrite = ARENAUT_OVERWRITE_ON;
        code = plan_with(job, list, &changed, &with);
        if (code == EXIT_FINE) {
            add_remedy(list, "results over operands", "--inplace", "on", with);
        }
        changed.overwrite = ARENAUT_OVERWRITE_BY_RULES;
    }
    if (code == EXIT_FINE && !job->options->overlap && !changed.overlap && has_rules(kernels)) {
        changed.overlap = true;
        code = plan_with(job, list, &changed, &with);
        if (code == EXIT_FINE) {
            add_remedy(list, "results that reach into operands", "--overlap", "on", with);
        }
    }
    return code;
}

/* Rewrites, each a flag that may be left out of the trials, but not in silence. */
typedef enum rewrite { TILES, ORDER, AGAIN } rewrite;

static const struct {
    const char *what, *flag;
} rewrites[] = {[TILES] = {"tiled ops", "--split"},
                [ORDER] = {"ops in another order", "--reorder"},
                [AGAIN] = {"cheap ops again for late readers", "--recompute"}};

static void leave_out(remedy_list *list, rewrite which, const char *why) {
    list->left_out[list->n_left_out++] =
        (left_out){rewrites[which].what, rewrites[which].flag, why};
}

static bool may_split(const tool_job *job) {
    const arenaut_pipeline *p = job->pipeline;
    return !job->options->split && !p->options.splitting.on && job->n_inputs == 1 &&
           (p->document.format->holds_tiles || (p->target->plan_in_file && p->target->layout));
}

static const char *why_unknown(const remedy *with) {
    return with->cut_short ? "time was over before it began" : "not possible for this program";
}

/* A rewrite whose result is `known`. */
static void add_rewrite(remedy_list *list, rewrite which, const char *what, bool known,
                        remedy with) {
    if (known || with.fails) {
        add_remedy(list, what, rewrites[which].flag, "on", with);
    } else {
        drop_job(&with);
        leave_out(list, which, why_unknown(&with));
    }
}

/* Tiled ops, in a runtime for which that is known to pay, if the search takes no longer than an
 * answer should. */
static exit_code try_split(const tool_job *job, remedy_list *list) {
    enum { MOST_OPS = 200 };
    arenaut_pipeline_options changed = job->pipeline->options;
    remedy with;
    if (!may_split(job)) return EXIT_FINE;
    if (!job->pipeline->target->layout || job->pipeline->document.program->n_ops > MOST_OPS) {
        leave_out(list, TILES, "its search may take seconds");
        return EXIT_FINE;
    }
    changed.splitting.on = true;
    const exit_code code = plan_with(job, list, &changed, &with);
    if (code == EXIT_FINE) add_rewrite(list, TILES, rewrites[TILES].what, true, with);
    return code;
}

/* Whether schedules and rematerialization are tried if they were not asked for. */
static bool may_reschedule(const tool_job *job, bool on, const char *given) {
    return !on && !given && job->n_inputs == 1;
}

/* Why they are not; NULL: they are. */
static const char *why_not_rescheduled(const arenaut_pipeline *p) {
    enum { MOST_OPS = 5000 };
    if (p->options.splitting.on) return "tiles are planned first";
    return p->document.program->n_ops > MOST_OPS ? "its search may take minutes" : NULL;
}

/* The best schedule of the ops, if it is not known already; with less effort, since it was not
 * asked for. */
static exit_code try_reorder(const tool_job *job, remedy_list *list) {
    enum { EFFORT = 2000000 };
    arenaut_pipeline_options changed = job->pipeline->options;
    const char *why_not = why_not_rescheduled(job->pipeline);
    remedy with;
    if (!may_reschedule(job, changed.reordering.on, job->options->reorder)) return EXIT_FINE;
    if (why_not) leave_out(list, ORDER, why_not);
    if (why_not) return EXIT_FINE;
    changed.reordering = (arenaut_reordering){.on = true, .options.effort = EFFORT};
    const exit_code code = plan_with(job, list, &changed, &with);
    if (code != EXIT_FINE) return code;
    const char *what =
        with.order.n_copied > 0 ? "ops in another order, or views as copies" : rewrites[ORDER].what;
    add_rewrite(list, ORDER, what, with.order.known, with);
    return code;
}

/* Cheap ops again for late readers, with less effort, too. */
static exit_code try_recompute(const tool_job *job, remedy_list *list) {
    enum { EFFORT = 5000000 };
    arenaut_pipeline_options changed = job->pipeline->options;
    const char *why_not = why_not_rescheduled(job->pipeline);
    remedy with;
    if (!may_reschedule(job, changed.recomputing.on, job->options->recompute)) return EXIT_FINE;
    if (why_not) leave_out(list, AGAIN, why_not);
    if (why_not) return EXIT_FINE;
    changed.recomputing.on = true;
    changed.recomputing.options.effort = EFFORT;
    const exit_code code = plan_with(job, list, &changed, &with);
    if (code != EXIT_FINE) return code;
    add_rewrite(list, AGAIN, rewrites[AGAIN].what, with.again.known, with);
    return code;
}

/* An interrupt ends the trials; earlier findings are still true. */
static exit_code end_at_interrupt(remedy_list *list, exit_code code) {
    list->interrupted = list->interrupted || code == EXIT_INTERRUPT;
    return code == EXIT_INTERRUPT ? EXIT_FINE : code;
}

/* No remedies, but often asked for: the cost of alignment to vectors, caches and pages. */
exit_code find_alignments(const tool_job *job, remedy_list *list) {
    static const struct {
        uint64_t bytes;
        const char *what, *value;
    } common[] = {{16, "buffers aligned to 16 bytes", "16"},
                  {64, "buffers aligned to 64 bytes", "64"},
                  {4096, "buffers aligned to 4,096 bytes", "4096"}};
    exit_code code = EXIT_FINE;
    if (!job->pipeline->lowering || list->interrupted) return code;
    for (size_t i = 0; i < sizeof common / sizeof *common && code == EXIT_FINE; i++) {
        arenaut_pipeline_options changed = job->pipeline->options;
        remedy with;
        if (changed.align >= common[i].bytes) continue;
        changed.align = common[i].bytes;
        code = plan_with(job, list, &changed, &with);
        if (code == EXIT_FINE && with.job)
            add_remedy(list, common[i].what, "--align", common[i].value, with);
    }
    return end_at_interrupt(list, code);
}

/* Another plan than that of the file, which is described: a remedy if it needs less. */
static exit_code try_anew(const tool_job *job, remedy_list *list) {
    remedy with;
    if (job->pipeline->problem != job->pipeline->baseline.problem) return EXIT_FINE;
    const exit_code code = plan_problem_with(job, list, true, &job->pipeline->options, &with);
    list->anew = with;
    list->anew.job = NULL;
    if (with.saves > 0) add_remedy(list, "a new plan", "-f", "", with);
    else drop_job(&with);
    return code;
}

static exit_code try_all(const tool_job *job, remedy_list *list) {
    arenaut_pipeline_options changed = job->pipeline->options;
    remedy with;
    exit_code code = try_anew(job, list);
    if (code == EXIT_FINE) code = try_kernels(job, list);
    if (code == EXIT_FINE) code = try_split(job, list);
    if (code == EXIT_FINE) code = try_reorder(job, list);
    if (code == EXIT_FINE) code = try_recompute(job, list);
    if (code == EXIT_FINE && !changed.exclude_io) {
        changed.exclude_io = true;
        code = plan_with(job, list, &changed, &with);
        if (code == EXIT_FINE) {
            add_remedy(list, "inputs and outputs elsewhere", "--no-alloc-io", "", with);
        }
    }
    for (size_t i = 0; i < arenaut_pass_count() && code == EXIT_FINE; i++) {
        const arenaut_pass *pass = arenaut_pass_at(i);
        if (is_optional(pass)) code = try_pass(job, pass, list);
    }
    return code;
}

exit_code find_remedies(const tool_job *job, remedy_list *list) {
    list->n = 0;
    list->n_left_out = 0;
    list->interrupted = job->stopped;
    list->cut_short = job->watch.cut_short;
    list->n_failed = 0;
    if (!job->pipeline->lowering) return EXIT_FINE;
    list->no_plan = job->pipeline->plan->quality == ARENAUT_INFEASIBLE;
    list->anew = (remedy){.fails = list->no_plan};
    if (!list->no_plan) {
        list->reserve = reserve_for(job, &list->exact);
        list->anew = (remedy){
            .arena = job->pipeline->plan->total, .reserve = list->reserve, .exact = list->exact};
    }
    return job->stopped ? EXIT_FINE : end_at_interrupt(list, try_all(job, list));
}

/* Why ops in another order save nothing; "" where there is no more to say. */
static void put_why_nothing(const arenaut_pipeline *p, const arenaut_ordering *o,
                            arenaut_text *out) {
    if (!o->known) return;
    if (o->bound == o->given) {
        text_printf(out, ": %s (proven)", words_of_no_order(p, o));
        return;
    }
    text_put(out, o->best < o->given
                      ? ": one has a lower peak of live bytes, but no smaller arena was found"
                      : ": no better one was found");
}

static void put_work(const arenaut_recomputed *r, arenaut_text *out) {
    if (r->n_ops > 0) {
        text_printf(out, ": %" PRIu32 " op%s more, which write%s %s bytes", r->n_ops,
                    r->n_ops == 1 ? "" : "s", r->n_ops == 1 ? "s" : "", with_commas(r->bytes).text);
    }
    text_put(out, "\n");
}

/* What a remedy is good for. */
static void put_gain(const arenaut_pipeline *p, const remedy_list *list, const remedy *r,
                     arenaut_text *out) {
    if (list->no_plan) {
        text_put(out, "for which there is a plan");
        put_work(&r->again, out);
    } else if (r->saves > 0) {
        text_printf(out, "saves %s (%s)", with_commas(r->saves).text,
                    change_percent(list->reserve, r->reserve).text);
        put_work(&r->again, out);
    } else {
        text_put(out, "saves nothing");
        if (!p->options.reordering.on) put_why_nothing(p, &r->order, out);
        if (r->again.known && !p->options.recomputing.on)
            text_printf(out, ": %s", words_of_no_recompute(&r->again, &r->order));
        text_put(out, "\n");
    }
}

static void put_remedy(const tool_job *job, const remedy_list *list, const remedy *r,
                       arenaut_text *out) {
    const bool whole = has_whole_arena(job);
    text_printf(out, "  %s (%s): %s %s, ", r->what, r->flags, whole ? "head" : "arena",
                with_commas(r->arena).text);
    if (whole)
        text_printf(out, "to reserve %s%s, ", r->exact ? "" : "at least ",
                    with_commas(r->reserve).text);
    put_gain(job->pipeline, list, r, out);
}

void put_remedies(const tool_job *job, const remedy_list *list, arenaut_text *out) {
    const arenaut_pipeline *p = job->pipeline;
    const bool whole = has_whole_arena(job);
    if (whole && list->n > 0 && !list->no_plan) {
        text_printf(out, "  to reserve, with the data of %s: %s%s bytes\n", p->target->name,
                    list->exact ? "" : "at least ", with_commas(list->reserve).text);
    }
    for (size_t i = 0; i < list->n; i++) put_remedy(job, list, &list->items[i], out);
    for (size_t i = 0; i < list->n_failed; i++)
        text_printf(out, "  %s (%s): no plan found\n", list->failed[i].what, list->failed[i].flags);
    if (list->n > 0 && p->options.plan.capacity)
        text_put(out,
                 "  each is the first plan found within --capacity, perhaps not the smallest\n");
    for (size_t i = 0; i < list->n_left_out; i++) {
        const left_out *l = &list->left_out[i];
        text_printf(out, "  %s (%s on): not tried here: %s\n", l->what, l->flag, l->why);
    }
    if (whole)
        text_put(out, "  combinations of these: 'arenaut plan FILE --smallest', or --fit SIZE\n");
    if (list->interrupted) text_put(out, "  interrupted: other flags may help, too\n");
    if (list->cut_short) text_printf(out, "  %s\n", TIME_ENDED);
    put_model_remedies(p, out);
}

typedef struct removal {
    const arenaut_problem *problem;
    uint32_t gone;
} removal;

/* Sets the size of a buffer and of its slices to zero. */
static void take_away(void *context, uint32_t id, arenaut_buffer *buffer) {
    const removal *r = context;
    uint32_t host = id;
    while (host != r->gone && arenaut_problem_inside(r->problem, host) != ARENAUT_NONE) {
        host = arenaut_problem_inside(r->problem, host);
    }
    if (host != r->gone) return;
    buffer->size = 0;
    buffer->inside = arenaut_id(ARENAUT_NONE);
    buffer->inside_delta = 0;
}

static exit_code put_bound_without(const tool_job *job, uint32_t buffer, uint64_t bound,
                                   arenaut_text *out) {
    removal r = {job->pipeline->problem, buffer};
    arenaut_problem *without = NULL;
    arenaut_error err = {0};
    uint64_t bytes = 0;
    int64_t step = 0;
    arenaut_status st =
        arenaut_problem_copy(r.problem, NULL, 0, take_away, &r, NULL, &without, &err);
    if (st == ARENAUT_OK) st = arenaut_lower_bound(without, NULL, &bytes, &step, &err);
    arenaut_problem_free(without);
    if (st != ARENAUT_OK) return complain_error(job->path, &err);
    arenaut_text where = {0};
    describe_step(job->pipeline, step, &where);
    text_printf(out, "{\"without\": %" PRIu32 ", \"bound\": ", buffer);
    text_put_json_u64(out, bytes);
    text_put(out, ", \"saves\": ");
    text_put_json_u64(out, bytes < bound ? bound - bytes : 0);
    text_put(out, ", \"then\": ");
    text_put_json(out, where.bytes);
    text_put(out, "}");
    arenaut_text_free(&where);
    return EXIT_FINE;
}

static void put_json_left_out(const remedy_list *list, arenaut_text *out) {
    if (list->n_failed > 0) text_put(out, ",\n  \"remedies_without_plan\": [");
    for (size_t i = 0; i < list->n_failed; i++) {
        text_put(out, i ? ", " : "");
        text_put_json(out, list->failed[i].flags);
    }
    if (list->n_failed > 0) text_put(out, "]");
    if (list->n_left_out > 0) text_put(out, ",\n  \"remedies_not_tried\": [");
    for (size_t i = 0; i < list->n_left_out; i++) {
        const left_out *l = &list->left_out[i];
        text_printf(out, "%s{\"flags\": \"%s on\", \"why\": \"%s\"}%s", i ? ", " : "", l->flag,
                    l->why, i + 1 == list->n_left_out ? "]" : "");
    }
}

exit_code put_json_remedies(const tool_job *job, const remedy_list *list, arenaut_text *out) {
    enum { LARGEST = 4 }; /* as many as the report has */
    arenaut_peak peak;
    arenaut_error err = {0};
    uint64_t bound = 0;
    if (arenaut_peak_find(job->pipeline->problem, NULL, &peak, &err) ||
        arenaut_lower_bound(job->pipeline->problem, NULL, &bound, NULL, &err)) {
        return complain_error(job->path, &err);
    }
    exit_code code = EXIT_FINE;
    text_put(out, ",\n  \"remedies\": [");
    for (uint32_t i = 0; i < peak.n_live && i < LARGEST && code == EXIT_FINE; i++) {
        text_put(out, i ? ",\n    " : "\n    ");
        code = put_bound_without(job, peak.live[i], bound, out);
    }
    for (size_t i = 0; i < list->n; i++) {
        const remedy *r = &list->items[i];
        text_printf(out, "%s\n    {\"flags\": ", peak.n_live || i ? "," : "");
        text_put_json(out, r->flags);
        text_put(out, ", \"arena\": ");
        text_put_json_u64(out, r->arena);
        if (has_whole_arena(job)) {
            text_put(out, ", \"reserve\": ");
            text_put_json_u64(out, r->reserve);
            text_printf(out, ", \"exact\": %s", r->exact ? "true" : "false");
        }
        if (!list->no_plan) {
            text_put(out, ", \"saves\": ");
            text_put_json_u64(out, r->saves);
        }
        if (r->order.known) put_json_figures_of_order(&r->order, out);
        if (r->again.n_ops > 0) put_json_figures_of_recompute(&r->again, out);
        text_put(out, "}");
    }
    text_put(out, "]");
    put_json_left_out(list, out);
    if (list->interrupted || list->cut_short)
        text_printf(out, ",\n  \"remedies_stopped_by\": \"%s\"",
                    list->interrupted ? "interrupt" : "time");
    arenaut_peak_free(&peak, NULL);
    return code;
}
