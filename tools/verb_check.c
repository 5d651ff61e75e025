/* check: is this plan right? The plan in a model is the pipeline's baseline, for runtimes that
 * ignore it too; a plan beside its problem or model is checked against that under the flags, and
 * for a model against the kernels that it names. The checker knows neither lowering nor
 * planners. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bound_proof.h"
#include "describe.h"
#include "remedies.h"
#include "tool.h"
#include "verb.h"
#include "whole_arena.h"

typedef struct verdict {
    const tool_job *job;
    const char *path; /* of the file that the plan is in */
    const arenaut_problem *problem;
    const arenaut_plan *plan;
    uint64_t bytes;    /* of the arenas */
    uint32_t n_placed; /* tensors that a program states places for; then there is no plan */
    arenaut_finding finding;
    const arenaut_kernel_set *kernels; /* that the plan stands on; NULL: on none */
    bool ok, replayed, reaches, shares;
    const arenaut_remat_certificate *proven; /* of rematerialization, checked; NULL: not stated */
    bool claims;       /* the plan's file states a bound, or that there is no plan */
    bound_proof claim; /* then: the proof of it */
    bool none;         /* a model without a plan: there is nothing that could be wrong */
} verdict;

/* "Is the plan right?" has a negative answer where there is none. */
static exit_code no_plan(const char *path, const char *why) {
    return complain(EXIT_NEGATIVE, path, "holds no plan to check%s", why);
}

static bool states_memories(const arenaut_program *program) {
    bool found = false;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        found = found || program->methods[m].n_given_pools;
    }
    return found;
}

static bool holds_places(const arenaut_program *program) {
    return program->given != ARENAUT_GIVEN_NONE || states_memories(program);
}

/* Places for each tensor, which no runtime fills in or makes its own sense of. */
static exit_code check_stated(const tool_job *job, verdict *v) {
    arenaut_stated_places stated;
    arenaut_error err = {0};
    const arenaut_status st =
        arenaut_pipeline_check_stated(job->pipeline, &stated, &v->finding, &err);
    if (st != ARENAUT_OK && st != ARENAUT_REJECTED) return complain_error(job->path, &err);
    v->ok = st == ARENAUT_OK;
    v->replayed = true;
    v->n_placed = stated.n_placed;
    v->bytes = stated.bytes;
    v->kernels = stated.kernels;
    return EXIT_FINE;
}

/* The plan that a model holds. */
static exit_code check_inside_model(tool_job *job, verdict *v) {
    if (arenaut_pipeline_states_places(job->pipeline)) return check_stated(job, v);
    job->pipeline->options.judge_given =
        true; /* a plan in a file can be checked even if its runtime ignores it */
    exit_code code = job_prepare(job);
    if (code != EXIT_FINE) return code;
    v->none = !holds_places(job->pipeline->document.program);
    v->ok = v->none;
    if (v->none && !is_judged(job)) return EXIT_FINE;
    code = job_find_baseline(job);
    if (code != EXIT_FINE || v->none) return code;
    const arenaut_baseline *baseline = &job->pipeline->baseline;
    v->ok = !baseline->overlaps && !baseline->apart;
    v->finding = baseline->finding;
    v->problem = baseline->problem;
    v->plan = baseline->plan;
    v->bytes = v->plan->total;
    v->kernels = baseline->in_place ? job->pipeline->kernels : NULL;
    v->reaches = baseline->reaches;
    v->shares = baseline->shares;
    v->replayed = true;
    return EXIT_FINE;
}

/* A plan against its problem and, for a model, a replay. */
static exit_code check_and_replay(const tool_job *job, const arenaut_plan *plan, verdict *v) {
    const arenaut_pipeline *p = job->pipeline;
    arenaut_error err = {0};
    v->problem = p->problem;
    v->plan = plan;
    v->bytes = plan->total;
    arenaut_status st = arenaut_check_plan(p->problem, plan, NULL, &v->finding, &err);
    v->replayed = st == ARENAUT_OK && p->lowering && plan->quality != ARENAUT_INFEASIBLE;
    if (v->replayed) st = arenaut_pipeline_replay(p, plan, &v->finding, &err);
    v->kernels = arenaut_result_kernels(&p->result);
    v->reaches = p->problem->n_separations > 0;
    v->ok = st == ARENAUT_OK;
    return v->ok || st == ARENAUT_REJECTED ? EXIT_FINE : complain_error(job->path, &err);
}

/* The plan of a plan file, and what that says of all others: of those of its `own` problem, to
 * which flags may have added rights. */
static exit_code check_plan_file(const tool_job *job, const arenaut_plan *plan,
                                 const arenaut_problem *own, verdict *v) {
    exit_code code = check_and_replay(job, plan, v);
    if (code != EXIT_FINE || !v->ok || !claims_bound(plan)) return code;
    v->claims = bound_to_prove(plan) > 0;
    code = check_bound(v->path, v->problem, plan, &v->claim, &v->ok, &v->finding);
    if (!v->ok && v->finding.rule == ARENAUT_RULE_BOUND && own && !same_problem(own, v->problem)) {
        v->ok = true;
        v->claim.kind = NULL;
        snprintf(v->claim.text, sizeof v->claim.text, "the plan was made with other flags");
    }
    return code;
}

/* Whether the joins that the plan's file states, if any, are those in the program. */
static bool are_joined(const arenaut_pipeline *p, const arenaut_given_ops *stated) {
    const arenaut_given_ops *made = &p->result.given_ops;
    return !p->document.program || !stated->joined ||
           (stated->n_joined == made->n_joined &&
            (made->n_joined == 0 ||
             memcmp(stated->joined, made->joined, made->n_joined * sizeof *made->joined) == 0));
}

/* A plan made for other buffers would be rejected for odd reasons; say the real one. */
static exit_code compare_problems(const tool_job *job, const tool_job *plan) {
    const arenaut_problem *a = job->pipeline->problem, *b = plan->pipeline->document.problem;
    if (!b) return EXIT_FINE;
    if (!are_joined(job->pipeline, &plan->pipeline->document.ops)) {
        return complain(EXIT_NEGATIVE, plan->path,
                        "'joins': they cannot be followed with the ops of %s", job->path);
    }
    if (a->n_buffers != b->n_buffers) {
        return complain(EXIT_NEGATIVE, plan->path,
                        "places %" PRIu32 " buffers, and %s has %" PRIu32
                        ": was it made with other flags?",
                        b->n_buffers, job->path, a->n_buffers);
    }
    for (uint32_t i = 0; i < a->n_buffers; i++) {
        char store[24];
        if (a->size[i] == b->size[i]) continue;
        return complain(EXIT_NEGATIVE, plan->path,
                        "buffer %" PRIu32
                        " ('%s') has %s bytes "
                        "here and %s in %s: was the plan made for another file?",
                        i, arenaut_problem_buffer_name(b, i, store), with_commas(b->size[i]).text,
                        with_commas(a->size[i]).text, job->path);
    }
    return EXIT_FINE;
}

/* Arenas and spill that a plan's file does not state are those of the problem that it is held
 * against: its own may know less of pools. */
static exit_code measure_unstated(const tool_job *job, tool_job *plan) {
    const arenaut_document *document = &plan->pipeline->document;
    const arenaut_problem *problem = job->pipeline->problem;
    arenaut_error err = {0};
    if (!document->measured || document->plan->n_pools != problem->n_pools ||
        document->plan->n_buffers != problem->n_buffers) {
        return EXIT_FINE;
    }
    if (arenaut_plan_measure(document->plan, problem, &err) == ARENAUT_OK) return EXIT_FINE;
    return complain_error(plan->path, &err);
}

/* The second file is the first with a plan in it: is that plan right for the first? */
static exit_code check_planned_model(tool_job *job, tool_job *plan, verdict *v) {
    const arenaut_program *planned = plan->pipeline->document.program,
                          *own = job->pipeline->document.program;
    if (!own) {
        return complain(EXIT_USAGE, plan->path,
                        "is a model, and %s a placement problem: a plan for it is a .json or .csv",
                        job->path);
    }
    if (!holds_places(planned) && holds_places(own)) {
        return no_plan(plan->path, ", and the first file does: the planned one comes second");
    }
    if (!holds_places(planned)) return no_plan(plan->path, "");
    arenaut_error err = {0};
    v->path = plan->path;
    if (arenaut_pipeline_take_places(job->pipeline, planned, &err)) {
        return complain_error(plan->path, &err);
    }
    return check_inside_model(job, v);
}

/* Whether some buffer may begin where another does. */
static bool has_bases(const arenaut_problem *problem) {
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (arenaut_problem_same_base(problem, b) != ARENAUT_NONE) return true;
    }
    return false;
}

/* The plan's file states the ops that were planned, if they are not those of the model: tiles or
 * copies of views, and the schedule. */
static void follow_stated_ops(tool_job *job, const tool_job *from) {
    const arenaut_document *plan = &from->pipeline->document;
    const arenaut_given_ops *ops = &plan->ops;
    arenaut_pipeline_options *options = &job->pipeline->options;
    if (!ops->tiles && !ops->copied && !ops->schedule) return;
    const bool repeats =
        !ops->tiles && ops->schedule && ops->n_schedule != job->pipeline->document.program->n_ops;
    job->ops = (stated_ops){from->path, "schedule"};
    options->splitting.on = ops->tiles != NULL;
    options->splitting.stages = ops->tiles;
    options->splitting.n_stages = ops->n_tiles;
    options->splitting.options.rounding = plan->n_rounded > 0;
    options->copying = (arenaut_copying){ops->copied, ops->n_copied};
    options->reordering.on = ops->schedule && !repeats;
    options->reordering.ops = ops->schedule;
    options->reordering.n_ops = ops->n_schedule;
    options->recomputing.on = repeats;
    options->recomputing.ops = ops->schedule;
    options->recomputing.n_ops = ops->n_schedule;
}

/* So does a certificate of rematerialization; times are modelled for the device that it names,
 * unless flags say something else. */
static exit_code follow_schedule(tool_job *job, const tool_job *plan) {
    const tool_options *o = job->options;
    const arenaut_remat_certificate *c = plan->pipeline->document.rematerialization;
    arenaut_recomputing *options = &job->pipeline->options.recomputing;
    const arenaut_given_ops *ops = &plan->pipeline->document.ops;
    if (!job->pipeline->document.program) return EXIT_FINE;
    job->pipeline->options.joining =
        (arenaut_joining){ops->joined != NULL, ops->joined, ops->n_joined};
    if (!c) {
        follow_stated_ops(job, plan);
        return EXIT_FINE;
    }
    if (c->timed && !o->costs) {
        return complain(EXIT_USAGE, plan->path,
                        "its times were given: the check of its bounds needs them too (--costs)");
    }
    job->ops = (stated_ops){plan->path, "rematerialization"};
    if (!o->device) options->options.device = c->device;
    job->pipeline->options.reordering.on = false; /* its runs are moved already */
    options->on = true;
    options->ops = c->runs;
    options->n_ops = c->n_runs;
    return EXIT_FINE;
}

/* Ops that the model does not allow to follow are a negative answer. */
static exit_code prepare_schedule(tool_job *job, const tool_job *plan) {
    const exit_code code = job_prepare(job);
    const arenaut_given_ops *ops = &plan->pipeline->document.ops;
    const bool stated =
        (ops->schedule || ops->tiles || ops->copied) && job->pipeline->document.program;
    if (code == EXIT_FINE && stated && !job->pipeline->rewrite) {
        return complain(EXIT_NEGATIVE, plan->path, "'%s': it cannot be followed with the ops of %s",
                        ops->tiles    ? "tiles"
                        : ops->copied ? "copies"
                                      : "schedule",
                        job->path);
    }
    return code;
}

/* The memories that FILE would state with the plan in it, against those stated beside the plan. */
static exit_code check_memories(tool_job *job, const tool_job *plan, verdict *v) {
    const arenaut_document *document = &plan->pipeline->document;
    const arenaut_memories *own = &job->pipeline->memories;
    arenaut_error err = {0};
    if (!document->memories || !v->ok || !job->pipeline->document.program) return EXIT_FINE;
    const exit_code code = job_find_baseline(job);
    if (code != EXIT_FINE) return code;
    if (arenaut_pipeline_take_plan(job->pipeline, document->plan, &err)) {
        return complain_error(plan->path, &err);
    }
    const size_t n = own->sized ? own->n : 0;
    v->ok = n == document->n_memories;
    v->finding.rule = ARENAUT_RULE_ARENA;
    snprintf(v->finding.msg, sizeof v->finding.msg, "the plan states %zu memories; there are %zu",
             document->n_memories, n);
    for (size_t i = 0; i < n && v->ok; i++) {
        const arenaut_memory *stated = &document->memories[i], *real = &own->rows[i];
        v->ok = stated->method == real->method && stated->id == real->id &&
                stated->device.type == real->device.type &&
                stated->device.index == real->device.index && stated->now == real->now &&
                stated->planned == real->planned;
        snprintf(v->finding.msg, sizeof v->finding.msg,
                 "memory %" PRIu32 " of method %" PRIu32 " is stated with %" PRIu64
                 " bytes now and %" PRIu64 " planned; these are %" PRIu64 " and %" PRIu64,
                 real->id, real->method, stated->now, stated->planned, real->now, real->planned);
    }
    return EXIT_FINE;
}

static exit_code check_bounds(const tool_job *job, const tool_job *plan, verdict *v) {
    const arenaut_remat_certificate *c = plan->pipeline->document.rematerialization;
    arenaut_error err = {0};
    if (!c || !v->ok || !job->pipeline->document.program) return EXIT_FINE;
    const arenaut_status st =
        arenaut_pipeline_check_rematerialization(job->pipeline, c, &v->finding, &err);
    if (st != ARENAUT_OK && st != ARENAUT_REJECTED) return complain_error(plan->path, &err);
    v->ok = st == ARENAUT_OK;
    v->proven = v->ok ? c : NULL;
    return EXIT_FINE;
}

/* Unless flags say otherwise, a plan is checked against the kernels that it names, if any, and may
 * use the rights that its problem used: whether they are given is found from the model anew. */
static exit_code follow_plan(tool_job *job, const tool_job *plan) {
    const tool_options *o = job->options;
    const arenaut_document *document = &plan->pipeline->document;
    const arenaut_given_kernels *named = &document->kernels;
    arenaut_pipeline_options *options = &job->pipeline->options;
    if (!job->pipeline->document.program || !document->problem) return EXIT_FINE;
    const bool reaches = document->problem->n_separations > 0;
    const bool stands = reaches || has_bases(document->problem);
    const arenaut_kernel_set *known = named->name ? arenaut_kernel_set_find(named->name) : NULL;
    if (named->name && !options->kernels && !known && stands) {
        return complain(EXIT_USAGE, plan->path,
                        "the plan was made for the kernels '%s', which this build does not know; "
                        "give the file that describes them (--kernels)",
                        named->name);
    }
    if (named->name && options->kernels && stands &&
        strcmp(options->kernels->name, named->name) != 0) {
        note(plan->path,
             "the plan was made for the kernels '%s', and is looked at with '%s' (--kernels)",
             named->name, options->kernels->name);
    }
    if (!options->kernels) options->kernels = known;
    options->unmeasured = options->unmeasured || named->unmeasured;
    if (!o->overlap) options->overlap = reaches;
    if (!o->inplace && o->inplace_op.n == 0 && stands) options->overwrite = ARENAUT_OVERWRITE_ON;
    return EXIT_FINE;
}

/* Where flags change ops, and the plan's file says nothing of that, it is for the ops as the model
 * has them: others are stated, but for tiles, copies of views and joins in place by older versions,
 * whose plans have as many buffers as the flags lead to. */
static bool keeps_ops(const tool_job *job, const tool_job *plan) {
    const arenaut_document *document = &plan->pipeline->document;
    const arenaut_given_ops *ops = &document->ops;
    const arenaut_rewrite *rewrite = job->pipeline->rewrite;
    if (ops->schedule || ops->tiles || ops->copied || document->rematerialization ||
        !document->problem || !job->pipeline->document.program) {
        return false;
    }
    return (rewrite && !arenaut_rewrite_is_tiled(rewrite) && rewrite->n_copied == 0) ||
           document->problem->n_buffers != job->pipeline->problem->n_buffers;
}

/* Joins in place are those that the plan's file states, or none. */
static exit_code prepare_unchanged(const tool_job *job, tool_job *unchanged) {
    arenaut_pipeline_options options = job->pipeline->options;
    options.reordering.on = options.recomputing.on = options.splitting.on = false;
    options.joining.chosen = true;
    return job_prepare_again(unchanged, job, &options);
}

/* The problem comes first: the plan must fit FILE under the flags. */
static exit_code check_two_files(tool_job *job, tool_job *plan, tool_job *unchanged,
                                 const tool_options *options, verdict *v) {
    tool_options plain = *options;
    plain.from = NULL; /* --from speaks of the first file */
    exit_code code = job_read(plan, options->files.items[1], &plain);
    if (code != EXIT_FINE) return code;
    if (plan->pipeline->document.program) return check_planned_model(job, plan, v);
    code = follow_plan(job, plan);
    if (code == EXIT_FINE) code = follow_schedule(job, plan);
    if (code == EXIT_FINE) code = prepare_schedule(job, plan);
    if (code == EXIT_FINE && keeps_ops(job, plan)) {
        code = prepare_unchanged(job, unchanged);
        v->job = job = unchanged;
    }
    if (code != EXIT_FINE) return code;
    if (!plan->pipeline->document.plan) return no_plan(plan->path, "");
    code = compare_problems(job, plan);
    if (code == EXIT_FINE) code = measure_unstated(job, plan);
    if (code == EXIT_FINE)
        code = check_plan_file(job, plan->pipeline->document.plan, plan->pipeline->document.problem,
                               v);
    if (code == EXIT_FINE) code = check_memories(job, plan, v);
    return code == EXIT_FINE ? check_bounds(job, plan, v) : code;
}

static void put_json_verdict(const verdict *v, arenaut_text *out) {
    text_put(out, "{\"schema\":\"arenaut.check/1\",\"version\":");
    text_put_json(out, arenaut_version());
    text_put(out, ",\"input\":{\"path\":");
    text_put_json(out, v->path);
    text_put(out, ",\"format\":");
    text_put_json(out, v->job->pipeline->document.format->name);
    text_printf(out, "},\"ok\":%s,\"replayed\":%s",
                v->none ? "null"
                : v->ok ? "true"
                        : "false",
                v->replayed ? "true" : "false");
    if (v->kernels) {
        text_put(out, ",\"kernels\":");
        text_put_json(out, v->kernels->name);
    }
    if (v->proven) {
        text_put(out, ",\"rematerialization\":{\"budget\":");
        text_put_json_u64(out, v->proven->budget);
        text_put(out, ",\"added_nanoseconds\":");
        text_put_json_u64(out, v->proven->added);
        text_put(out, ",\"bound_nanoseconds\":");
        text_put_json_u64(out, v->proven->time.value);
        text_put(out, ",\"floor\":");
        text_put_json_u64(out, v->proven->floor.value);
        text_put(out, "}");
    }
    if (v->claims) {
        text_put(out, ",\"bound\":");
        put_json_bound(&v->claim, out);
    }
    if (!v->ok) {
        text_put(out, ",\"finding\":{\"rule\":");
        text_put_json(out, arenaut_rule_name(v->finding.rule));
        text_put(out, ",\"message\":");
        text_put_json(out, v->finding.msg);
        text_put(out, "}");
    }
    text_put(out, "}\n");
}

/* The bounds that the certificate shows for every schedule of the file's ops. */
static void put_bounds(const verdict *v, arenaut_text *out) {
    const arenaut_remat_certificate *c = v->proven;
    const char *ops = c && c->any_op ? "ops" : "cheap ops";
    if (!c) return;
    if (c->floor.value > c->budget) {
        text_printf(out,
                    "  proven: nothing fits %s bytes alive at once: a rematerialization of %s "
                    "needs %s or more\n",
                    with_commas(c->budget).text, ops, with_commas(c->floor.value).text);
        return;
    }
    text_printf(out,
                "  proven: in %s bytes alive at once no schedule that repeats %s adds less "
                "than %" PRIu64 " ns (this one adds %" PRIu64 "); none needs less than %s\n",
                with_commas(c->budget).text, ops, c->time.value, c->added,
                with_commas(c->floor.value).text);
}

/* A plan may be right for these kernels alone. */
static void put_kernels(const verdict *v, arenaut_text *out) {
    if (!v->kernels) return;
    text_printf(out, ", writing %s operands as the kernels '", v->reaches ? "into" : "over");
    text_put_clean(out, v->kernels->name);
    text_put(out, "' allow");
}

static void put_verdict(const verdict *v, const tool_options *options, arenaut_text *out) {
    const text_style style = style_for(options->color);
    text_put_clean(out, base_name(v->path));
    if (!v->ok) {
        text_printf(out, "  %swrong%s (%s): ", style.bad, style.plain,
                    arenaut_rule_name(v->finding.rule));
        text_put_clean(out, v->finding.msg);
        text_put(out, "\n");
        return;
    }
    if (v->none) {
        text_put(out,
                 "  no plan in the file: its runtime plans at load ('arenaut plan' makes one)\n");
        return;
    }
    if (!v->plan) {
        text_printf(out, "  %sok%s: %" PRIu32 " tensor%s in %s bytes; a replay of the ops",
                    style.good, style.plain, v->n_placed, v->n_placed == 1 ? "" : "s",
                    with_commas(v->bytes).text);
        if (v->kernels) {
            text_put(out, ", with the kernels '");
            text_put_clean(out, v->kernels->name);
            text_put(out, "',");
        }
        text_put(out, " finds every byte in place\n");
        return;
    }
    if (v->plan->quality == ARENAUT_INFEASIBLE) {
        text_printf(out, "  %sok%s: %s that there is no plan", style.good, style.plain,
                    v->claims ? "it is proven" : "the witness proves");
        if (v->claims) text_printf(out, " (%s)", v->claim.text);
        text_put(out, "\n");
        return;
    }
    const uint32_t n = planned_buffers(v->problem);
    text_printf(out, "  %sok%s: %" PRIu32 " buffer%s in %s bytes, %s", style.good, style.plain, n,
                n == 1 ? "" : "s", with_commas(v->plan->total).text,
                v->problem->n_separations ? "none further over another than it may"
                : v->shares               ? "some over others"
                                          : "none over another");
    if (v->replayed) text_put(out, "; a replay of the ops finds every byte in place");
    put_kernels(v, out);
    text_put(out, "\n");
    if (v->claims) put_bound(&v->claim, v->job->pipeline->document.program != NULL, out);
    put_bounds(v, out);
}

/* The plan in a model is the baseline's, of the ops as the file has them. */
static exit_code judge_reserved(const verdict *v, const tool_options *options) {
    if (!is_judged(v->job)) return EXIT_FINE;
    const bool own = v->none || (v->plan && v->plan == v->job->pipeline->baseline.plan);
    const reservation need = own ? reserved_as_it_is(v->job) : reserved_for(v->job, v->bytes);
    return check_budget(v->path, options, &need);
}

static exit_code refuse_many(const tool_options *options) {
    if (options->files.n <= 2 || is_merged(options)) return EXIT_FINE;
    return complain(EXIT_USAGE, NULL,
                    "check takes one file and a plan of it, or several with --share");
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    tool_job job = {0}, plan = {0},
             unchanged = {0}; /* the last: the first, with ops as in its file */
    verdict v = {.job = &job, .path = options->files.items[0]};
    exit_code code = refuse_many(options);
    if (code != EXIT_FINE) return code;
    if (is_merged(options)) {
        code = job_read_merged(&job, options);
        v.path = job.path;
    } else {
        code = job_read(&job, options->files.items[0], options);
    }
    if (code != EXIT_FINE) {
        /* nothing to check */
    } else if (options->files.n == 2 && !is_merged(options)) {
        code = check_two_files(&job, &plan, &unchanged, options, &v);
    } else if (job.pipeline->document.program) {
        code = check_inside_model(&job, &v);
    } else if (!job.pipeline->document.plan) {
        code = no_plan(job.path, "");
    } else {
        arenaut_plan *own = job.pipeline->document.plan;
        if (job.pipeline->document.rematerialization) {
            note(job.path,
                 "its bounds of rematerialization are not checked: that takes the "
                 "model ('arenaut check MODEL PLAN')");
        }
        code = job_prepare(&job);
        if (code == EXIT_FINE) code = check_plan_file(&job, own, NULL, &v);
    }
    if (code == EXIT_FINE) {
        if (options->json || options->jsonl) put_json_verdict(&v, out);
        else if (!options->quiet || !v.ok) put_verdict(&v, options, out);
        if (!v.ok) code = EXIT_NEGATIVE;
        else code = judge_reserved(&v, options);
    }
    job_close(&plan);
    job_close(&unchanged);
    job_close(&job);
    return code;
}

extern const tool_verb verb_check;
const tool_verb verb_check = {
    .name = "check",
    .summary = "checks the plan in a model, or a plan for a problem or model",
    .arguments = "FILE [PLAN] | FILE...",
    .examples =
        "arenaut check planned.tflite\n"
        "arenaut check model.tflite planned.tflite\n"
        "arenaut check solved.csv\n"
        "arenaut check problem.csv plan.json\n"
        "arenaut check prefill.pte decode.pte --share auto",
    .notes =
        "PLAN is a plan (.json, .csv) or the same model with a plan in it. The kernels that it "
        "names "
        "count,\n"
        "unless --kernels names others. A program (.program.json) is checked with the places that "
        "it "
        "states.\n"
        "A bound of the arena that PLAN states is proven anew, or called unproven.\n"
        "A wrong plan prints the first counter-example and exits 1.",
    .groups = GROUP_COMMON | GROUP_JSON | GROUP_INPUT | GROUP_MODEL | GROUP_BUDGET,
    .min_files = 1,
    .max_files = SIZE_MAX,
    .run = run,
};
