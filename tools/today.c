/* What the file's runtime does today: its own planner's answer or, where the file holds a
 * plan that the runtime obeys, that plan with whatever it leaves open filled in. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "edit.h"
#include "job_parts.h"
#include "memories.h"
#include "progress.h"

/* Lowers the program as the runtime does, with the passes in `selection`. The user's own
 * document serves where nothing was changed in it. */
static exit_code lower_today(tool_job *job, const char *selection) {
    todays_plan *today = &job->today;
    arenaut_error err = {0};
    arenaut_lowering_free(today->own_lowering);
    today->own_lowering = NULL;
    arenaut_document_free(&today->document);
    today->document = (arenaut_document){0};
    if (!selection && !has_overrides(job->options)) {
        today->lowering = job->lowering;
        today->problem = job->lowering->problem;
        return EXIT_FINE;
    }
    exit_code code = read_document(job, &today->document);
    if (code == EXIT_FINE) code = choose_method(job, today->document.program);
    if (code == EXIT_FINE) code = run_passes(job, today->document.program, selection, false);
    if (code != EXIT_FINE) return code;
    if (arenaut_lower(today->document.program, job->target, NULL, NULL, &today->own_lowering,
                      &err)) {
        return complain_error(job->input.path, &err);
    }
    today->lowering = today->own_lowering;
    today->problem = today->own_lowering->problem;
    return EXIT_FINE;
}

static const arenaut_program *todays_program(const tool_job *job) {
    return job->today.own_lowering ? job->today.document.program : job->document.program;
}

/* Where the file puts a buffer; ARENAUT_UNPLACED if it leaves that open. */
static uint64_t given_offset(const tool_job *job, uint32_t buffer) {
    const arenaut_lowering *lowering = job->today.lowering;
    const uint32_t tensor = lowering->tensor[buffer];
    const uint64_t given = todays_program(job)->tensors[tensor].given_offset;
    return given == ARENAUT_UNPLACED ? given : given - lowering->offset[tensor];
}

/* As the runtime does: what the file places is fixed, the rest finds its way around it. */
static void fix_given(void *context, uint32_t id, arenaut_buffer *buffer) {
    const uint64_t given = given_offset(context, id);
    if (given != ARENAUT_UNPLACED) buffer->fixed_offset = arenaut_at(given);
}

/* The incumbent is a planner of the table, so what it says is as testable as any plan. */
static exit_code run_incumbent(tool_job *job, const arenaut_problem *problem, arenaut_plan **plan,
                               arenaut_error *err) {
    planner_watch watch;
    const arenaut_plan_options options = {
        .planner = job->target->incumbent, .progress = watch_progress, .progress_context = &watch};
    watch_start(&watch, job->options);
    const arenaut_status st = arenaut_plan_make(problem, &options, NULL, plan, err);
    watch_end(&watch);
    job->today.seconds += seconds_now() - watch.started;
    return exit_for_status(st);
}

/* Before the user names pools, a buffer has one: that of its device and method. */
static uint32_t first_pool(const arenaut_problem *p, uint32_t b) {
    uint32_t pool = 0;
    while (!(arenaut_problem_pools(p, b) >> pool & 1)) pool++;
    return pool;
}

/* The file's plan taken literally, overlaps and all; what it leaves open goes on top. */
static exit_code literal_plan(tool_job *job, arenaut_plan **out) {
    const arenaut_problem *p = job->today.problem;
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    uint64_t tops[ARENAUT_MAX_POOLS] = {0};
    if (arenaut_plan_new(p->n_buffers, p->n_pools, NULL, &plan, &err)) {
        return complain_error(job->input.path, &err);
    }
    for (uint32_t round = 0; round < 2; round++) { /* first what is given, then the rest */
        for (uint32_t b = 0; b < p->n_buffers; b++) {
            uint64_t offset = given_offset(job, b);
            if (!arenaut_problem_needs_memory(p, b)) continue;
            if ((offset == ARENAUT_UNPLACED) != (round == 1)) continue;
            const uint32_t pool = first_pool(p, b);
            uint64_t *top = &tops[pool];
            if (round == 1) {
                const uint64_t align = arenaut_problem_align(p, b);
                offset = (*top + align - 1) & ~(align - 1);
            }
            plan->pool[b] = pool;
            plan->offset[b] = offset;
            if (offset + p->size[b] > *top) *top = offset + p->size[b];
        }
    }
    if (arenaut_plan_measure(plan, p, &err)) {
        arenaut_plan_free(plan);
        return complain_error(job->input.path, &err);
    }
    plan->planner = "file";
    *out = plan;
    return EXIT_FINE;
}

/* Runtimes do not refuse such an offset: they compute with it. Nothing sensible can. */
static exit_code check_given(const tool_job *job) {
    const arenaut_program *program = todays_program(job);
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        if (tensor->given_offset <= ARENAUT_SIZE_MAX || tensor->given_offset == ARENAUT_UNPLACED) {
            continue;
        }
        return complain(EXIT_INPUT, job->input.path,
                        "the plan in the file puts tensor '%s' at offset -%" PRIu64
                        "; 0 or more is allowed, and -1 to leave it to the runtime",
                        tensor->name ? tensor->name : "(unnamed)", 0 - tensor->given_offset);
    }
    return EXIT_FINE;
}

/* Fills in what the file's plan leaves open, as the runtime will; literally if the runtime
 * would be given buffers that overlap. */
static exit_code obey_file(tool_job *job, arenaut_plan **out) {
    arenaut_problem *fixed = NULL;
    arenaut_error err = {0};
    exit_code code = check_given(job);
    if (code != EXIT_FINE) return code;
    if (problem_copy(job->today.problem, NULL, 0, fix_given, job, &fixed, &err)) {
        return complain_error(job->input.path, &err);
    }
    code = run_incumbent(job, fixed, out, &err);
    arenaut_problem_free(fixed);
    if (code == EXIT_FINE) {
        (*out)->planner = "file";
        return code;
    }
    arenaut_plan_free(*out);
    *out = NULL;
    return literal_plan(job, out);
}

/* Replay has the last word on overlaps: it knows of aliases that a problem cannot state,
 * such as an accelerator's command that may read and write one block. */
static exit_code judge(tool_job *job, arenaut_plan *plan, arenaut_finding *finding) {
    arenaut_error err = {0};
    const bool stated = states_memories(job->document.program);
    const arenaut_status st = arenaut_check_plan(job->today.problem, plan, NULL, finding, &err);
    const bool overlaps = st == ARENAUT_REJECTED && finding->rule == ARENAUT_RULE_OVERLAP;
    /* An exporter's alignment is its own affair; the sizes that it states are not. */
    if (st == ARENAUT_REJECTED && !overlaps && !stated) return EXIT_NEGATIVE;
    if (st != ARENAUT_OK && st != ARENAUT_REJECTED) return complain_error(job->input.path, &err);
    job->today.shares = overlaps;
    if (stated) set_given_arenas(job, job->today.lowering, plan);
    return stated ? replay_file(job, todays_program(job), job->today.lowering, plan, finding)
                  : replay_plan(job, todays_program(job), job->today.lowering, plan, finding);
}

static void keep_today(tool_job *job, arenaut_plan *plan) {
    arenaut_plan_free(job->today.plan);
    job->today.plan = plan;
    job->result.baseline = plan;
}

/* Tries the file's plan, first as it stands, then with the operands that the runtime's
 * kernels may overwrite: our own in-place plans need that. */
static exit_code find_in_file(tool_job *job) {
    static const char *const attempts[] = {NULL, "inplace"};
    const size_t n = arenaut_pass_find("inplace") ? 2 : 1;
    todays_plan *today = &job->today;
    arenaut_finding first_finding = {0};
    today->from_file = true;
    for (size_t i = 0; i < n; i++) {
        arenaut_plan *plan = NULL;
        arenaut_finding finding = {0};
        exit_code code = lower_today(job, attempts[i]);
        if (code == EXIT_FINE) {
            const bool stated = states_memories(job->document.program);
            /* Whole tokens have no place beside what is fixed: the plan is taken as it is. */
            const bool filled = !stated && job->target->plan_in_file && !job->target->tokens;
            code = filled ? obey_file(job, &plan) : literal_plan(job, &plan);
        }
        if (code != EXIT_FINE) return code;
        code = judge(job, plan, &finding);
        if (code == EXIT_FINE || i == 0) keep_today(job, plan);
        else arenaut_plan_free(plan);
        today->overlaps = code == EXIT_NEGATIVE;
        today->in_place = code == EXIT_FINE && i > 0;
        if (code != EXIT_NEGATIVE) return code;
        if (i == 0) first_finding = finding;
    }
    today->finding = first_finding;
    return lower_today(job, NULL); /* the finding speaks of the program as it stands */
}

/* Not knowing what the runtime does today is no reason to fail: the plan is still right, and
 * the report says that there is nothing to compare it with. */
static exit_code find_incumbent(tool_job *job) {
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    arenaut_finding finding;
    exit_code code = lower_today(job, NULL);
    if (code != EXIT_FINE) return code;
    code = run_incumbent(job, job->today.problem, &plan, &err);
    if (code == EXIT_FINE &&
        arenaut_check_plan(job->today.problem, plan, NULL, &finding, &err) == ARENAUT_REJECTED) {
        code = complain(EXIT_BUG, job->input.path,
                        "what %s does today did not pass the checker "
                        "(a bug in arenaut: please report it): %s",
                        job->target->name, finding.msg);
    } else if (code == EXIT_FINE) {
        keep_today(job, plan);
        return EXIT_FINE;
    } else {
        note(job->input.path, "what %s does today is not known: %s", job->target->name,
             err.msg[0] ? err.msg : "it finds no plan");
        code = EXIT_FINE;
    }
    arenaut_plan_free(plan);
    return code;
}

exit_code job_find_today(tool_job *job) {
    if (job->document.program) {
        const exit_code code = job_holds_plan(job) ? find_in_file(job) : find_incumbent(job);
        if (code == EXIT_FINE && job->target->plan_in_file) list_memories(job);
        return code;
    }
    if (job->document.plan && !job->edited) { /* a solved problem */
        arenaut_error err = {0};
        keep_today(job, job->document.plan);
        job->today.problem = job->problem;
        job->document.plan = NULL;
        const arenaut_status st =
            arenaut_check_plan(job->problem, job->today.plan, NULL, &job->today.finding, &err);
        job->today.overlaps = st == ARENAUT_REJECTED;
        if (st != ARENAUT_OK && st != ARENAUT_REJECTED) {
            return complain_error(job->input.path, &err);
        }
    }
    return EXIT_FINE;
}

uint64_t job_bytes_needed(const tool_job *job) {
    const uint64_t planned = job_bytes_planned(job);
    const bool obeyed = job->today.plan && job->today.from_file && !job->today.overlaps;
    if (!obeyed || has_overrides(job->options)) return planned;
    return job_bytes_now(job) < planned ? job_bytes_now(job) : planned;
}

bool job_holds_plan(const tool_job *job) {
    const arenaut_program *program = job->document.program;
    return (job->target->plan_in_file || job->judge_given) &&
           (program->given != ARENAUT_GIVEN_NONE || states_memories(program));
}

/* A tensor's offset is written into the file; scratch finds its own place around them. */
static void fix_planned(void *context, uint32_t id, arenaut_buffer *buffer) {
    const tool_job *job = context;
    if (buffer->cls != ARENAUT_SCRATCH && job->plan->pool[id] != ARENAUT_NONE) {
        buffer->fixed_offset = arenaut_at(job->plan->offset[id]);
    }
}

/* Whether any of the planned scratch will lie elsewhere than it is planned. */
static bool runtime_places_scratch(const tool_job *job) {
    if (!job->target || !job->target->places_scratch || job->plan->n_pools != 1) return false;
    for (uint32_t b = 0; b < job->problem->n_buffers; b++) {
        if (arenaut_problem_class(job->problem, b) == ARENAUT_SCRATCH) return true;
    }
    return false;
}

/* What the joint plan becomes when the runtime places the scratch in it. */
static exit_code deploy(tool_job *job) {
    arenaut_problem *fixed = NULL;
    arenaut_plan *deployed = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    if (problem_copy(job->problem, NULL, 0, fix_planned, job, &fixed, &err)) {
        return complain_error(job->input.path, &err);
    }
    const exit_code code = run_incumbent(job, fixed, &deployed, &err);
    arenaut_problem_free(fixed);
    if (code != EXIT_FINE) {
        arenaut_plan_free(deployed);
        note(job->input.path, "how %s will place scratch is not known: %s", job->target->name,
             err.msg[0] ? err.msg : "it finds no place");
        job->plan->quality = ARENAUT_FEASIBLE;
        return EXIT_FINE;
    }
    deployed->total_bound = job->plan->total_bound;
    memcpy(deployed->lower_bound, job->plan->lower_bound,
           job->plan->n_pools * sizeof *deployed->lower_bound);
    const bool optimal = deployed->total == job->plan->total_bound;
    deployed->quality = optimal ? ARENAUT_OPTIMAL : ARENAUT_FEASIBLE;
    deployed->stopped_by = job->plan->stopped_by;
    deployed->effort = job->plan->effort;
    deployed->planner = job->plan->planner;
    arenaut_plan_free(job->plan);
    job->plan = deployed;
    job->result.plan = deployed;
    if (arenaut_check_plan(job->problem, deployed, NULL, &finding, &err) == ARENAUT_OK) {
        return EXIT_FINE;
    }
    return complain(EXIT_BUG, job->input.path,
                    "the plan with the scratch placed by %s did not "
                    "pass the checker (a bug in arenaut: please report it): %s",
                    job->target->name, finding.msg);
}

exit_code account_for_scratch(tool_job *job) {
    if (job->plan->quality == ARENAUT_INFEASIBLE) return EXIT_FINE;
    const exit_code code = runtime_places_scratch(job) ? deploy(job) : EXIT_FINE;
    const bool unknown =
        job->result.scratch == ARENAUT_SCRATCH_UNKNOWN || job_op_outside(job) != ARENAUT_NONE;
    if (unknown && job->plan->quality == ARENAUT_OPTIMAL) job->plan->quality = ARENAUT_FEASIBLE;
    return code;
}
