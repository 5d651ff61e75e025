/* check: is this plan right? The checker knows neither liveness nor planners. */
#include <inttypes.h>
#include <string.h>

#include "describe.h"
#include "table.h"
#include "verb.h"

typedef struct verdict {
    const tool_job *job;
    const arenaut_problem *problem;
    const arenaut_plan *plan;
    arenaut_finding finding;
    bool ok, replayed, in_place, shares;
} verdict;

/* "Is the plan right?" has a negative answer where there is none. */
static exit_code no_plan(const char *path, const char *why) {
    return complain(EXIT_NEGATIVE, path, "holds no plan to check%s", why);
}

/* The plan that a model holds. */
static exit_code check_inside_model(tool_job *job, verdict *v) {
    exit_code code = job_prepare(job);
    if (code != EXIT_FINE) return code;
    if (!job_holds_plan(job) && job->document.program->given == ARENAUT_GIVEN_NONE) {
        return no_plan(job->input.path, ": its runtime plans at load ('arenaut plan' makes one)");
    }
    if (!job->target->plan_in_file) {
        return complain(EXIT_USAGE, job->input.path, "%s obeys no plan in a file",
                        job->target->name);
    }
    code = job_find_today(job);
    if (code != EXIT_FINE) return code;
    v->ok = !job->today.overlaps;
    v->finding = job->today.finding;
    v->problem = job->today.problem;
    v->plan = job->today.plan;
    v->in_place = job->today.in_place;
    v->shares = job->today.shares;
    v->replayed = true;
    return EXIT_FINE;
}

/* A plan against its problem and, for a model, a replay. */
static exit_code check_beside(const tool_job *job, const arenaut_plan *plan, verdict *v) {
    arenaut_error err = {0};
    v->problem = job->problem;
    v->plan = plan;
    const arenaut_status st = arenaut_check_plan(job->problem, plan, NULL, &v->finding, &err);
    if (st != ARENAUT_OK && st != ARENAUT_REJECTED) return complain_error(job->input.path, &err);
    v->ok = st == ARENAUT_OK;
    if (!v->ok || !job->lowering || plan->quality == ARENAUT_INFEASIBLE) return EXIT_FINE;
    const exit_code code =
        replay_plan(job, job->document.program, job->lowering, plan, &v->finding);
    v->replayed = true;
    v->ok = code == EXIT_FINE;
    return code == EXIT_NEGATIVE ? EXIT_FINE : code;
}

/* A plan made for other buffers would be rejected for odd reasons; say the real one. */
static exit_code compare_problems(const tool_job *job, const tool_job *plan) {
    const arenaut_problem *a = job->problem, *b = plan->document.problem;
    if (!b) return EXIT_FINE;
    if (a->n_buffers != b->n_buffers) {
        return complain(EXIT_NEGATIVE, plan->input.path,
                        "places %" PRIu32 " buffers, and %s has %" PRIu32
                        ": was it made with other flags?",
                        b->n_buffers, job->input.path, a->n_buffers);
    }
    for (uint32_t i = 0; i < a->n_buffers; i++) {
        char store[24];
        if (a->size[i] == b->size[i]) continue;
        return complain(EXIT_NEGATIVE, plan->input.path,
                        "buffer %" PRIu32
                        " ('%s') has %s bytes "
                        "here and %s in %s: was the plan made for another file?",
                        i, arenaut_problem_buffer_name(b, i, store), with_commas(b->size[i]).text,
                        with_commas(a->size[i]).text, job->input.path);
    }
    return EXIT_FINE;
}

/* The problem comes first: what the flags make of FILE is what the plan must fit. */
static exit_code check_two_files(tool_job *job, tool_job *plan, const tool_options *options,
                                 verdict *v) {
    tool_options plain = *options;
    plain.from = NULL; /* --from speaks of the first file */
    exit_code code = job_prepare(job);
    if (code == EXIT_FINE) code = job_read(plan, options->files.items[1], &plain);
    if (code != EXIT_FINE) return code;
    if (!plan->document.plan) return no_plan(plan->input.path, "");
    code = compare_problems(job, plan);
    return code == EXIT_FINE ? check_beside(job, plan->document.plan, v) : code;
}

static void put_json_verdict(const verdict *v, arenaut_text *out) {
    text_put(out, "{\"schema\":\"arenaut.check/1\",\"version\":");
    text_put_json(out, arenaut_version());
    text_put(out, ",\"input\":{\"path\":");
    text_put_json(out, v->job->input.path);
    text_put(out, ",\"format\":");
    text_put_json(out, v->job->document.format->name);
    text_printf(out, "},\"ok\":%s,\"replayed\":%s", v->ok ? "true" : "false",
                v->replayed ? "true" : "false");
    if (!v->ok) {
        text_put(out, ",\"finding\":{\"rule\":");
        text_put_json(out, arenaut_rule_name(v->finding.rule));
        text_put(out, ",\"message\":");
        text_put_json(out, v->finding.msg);
        text_put(out, "}");
    }
    text_put(out, "}\n");
}

static void put_verdict(const verdict *v, const tool_options *options, arenaut_text *out) {
    const text_style style = style_for(options->color);
    text_put_clean(out, base_name(v->job->input.path));
    if (!v->ok) {
        text_printf(out, "  %swrong%s (%s): ", style.bad, style.plain,
                    arenaut_rule_name(v->finding.rule));
        text_put_clean(out, v->finding.msg);
        text_put(out, "\n");
        return;
    }
    if (v->plan->quality == ARENAUT_INFEASIBLE) {
        text_printf(out, "  %sok%s: the witness proves that there is no plan\n", style.good,
                    style.plain);
        return;
    }
    text_printf(out, "  %sok%s: %" PRIu32 " buffers in %s bytes, %s", style.good, style.plain,
                planned_buffers(v->problem), with_commas(v->plan->total).text,
                v->shares ? "some over others" : "none over another");
    if (v->replayed) text_put(out, "; a replay of the ops finds every byte in place");
    if (v->in_place) text_put(out, ", writing over operands as the kernels allow");
    text_put(out, "\n");
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    tool_job job, plan = {0};
    verdict v = {.job = &job};
    exit_code code = job_read(&job, options->files.items[0], options);
    if (code != EXIT_FINE) {
        /* nothing to check */
    } else if (options->files.n == 2) {
        code = check_two_files(&job, &plan, options, &v);
    } else if (job.document.program) {
        code = check_inside_model(&job, &v);
    } else if (!job.document.plan) {
        code = no_plan(job.input.path, "");
    } else {
        arenaut_plan *own = job.document.plan;
        code = job_prepare(&job);
        if (code == EXIT_FINE) code = check_beside(&job, own, &v);
    }
    if (code == EXIT_FINE) {
        if (options->json || options->jsonl)
            put_json_verdict(&v, out);
        else if (!options->quiet || !v.ok)
            put_verdict(&v, options, out);
        if (!v.ok)
            code = EXIT_NEGATIVE;
        else
            code = check_budget(job.input.path, options, v.plan->total);
    }
    job_close(&plan);
    job_close(&job);
    return code;
}

extern const tool_verb verb_check;
const tool_verb verb_check = {
    .name = "check",
    .summary = "checks the plan in a model, or a plan for a problem or model",
    .arguments = "FILE [PLAN]",
    .examples =
        "arenaut check planned.tflite\n"
        "arenaut check solved.csv\n"
        "arenaut check problem.csv plan.json",
    .notes = "A wrong plan prints the first counter-example and exits 1.",
    .groups = GROUP_COMMON | GROUP_JSON | GROUP_INPUT | GROUP_MODEL | GROUP_BUDGET,
    .min_files = 1,
    .max_files = 2,
    .run = run,
};
