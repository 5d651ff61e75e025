/* From a path to a checked plan: turns the command line into the options of the library's pipeline
 * and lets that run stage by stage. Refusals of a stage are worded here, with the nearest name if
 * one was not found, and the flag's dashes. The clock is read here as well. */
#include "job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "dump.h"
#include "args.h"
#include "sha256.h"

/* "there is no KIND 'x': did you mean 'y'? ('arenaut KINDs' lists them)" */
static exit_code unknown_name(const char *kind, const char *name, const char *const *names,
                              size_t n) {
    const char *near = nearest(name, names, n);
    const char *plural = strcmp(kind, "pass") == 0 ? "es" : "s";
    return complain(EXIT_USAGE, NULL, "there is no %s '%s'%s%s%s ('arenaut %s%s' lists them)", kind,
                    name, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "", kind,
                    plural);
}

#define NAMES_OF(noun)                                             \
    static size_t noun##_names(const char *names[], size_t room) { \
        size_t n = 0;                                              \
        for (; n < arenaut_##noun##_count() && n < room; n++) {    \
            names[n] = arenaut_##noun##_at(n)->name;               \
        }                                                          \
        return n;                                                  \
    }
NAMES_OF(format)
NAMES_OF(target)
NAMES_OF(planner)
NAMES_OF(pass)

enum { MAX_NAMES = 128 };

/* Looks up --planner and --from, suggesting the nearest name. The first is NULL after a
 * complaint. */
static const arenaut_format *named_format(const char *name) {
    const char *names[MAX_NAMES];
    const arenaut_format *format = arenaut_format_find(name);
    if (!format) unknown_name("format", name, names, format_names(names, MAX_NAMES));
    return format;
}

exit_code check_planner_name(const char *name) {
    const char *names[MAX_NAMES];
    if (arenaut_planner_find(name)) return EXIT_FINE;
    return unknown_name("planner", name, names, planner_names(names, MAX_NAMES));
}

static const arenaut_target *named_target(const char *name) {
    const char *names[MAX_NAMES];
    const arenaut_target *target = arenaut_target_find(name);
    if (!target) unknown_name("target", name, names, target_names(names, MAX_NAMES));
    return target;
}

/* Each name in --passes, so that a wrong one gets a suggestion. */
static exit_code check_pass_names(const char *passes) {
    while (passes && *passes) {
        const char *names[MAX_NAMES];
        char name[64];
        if (*passes == '-') passes++;
        const size_t length = strcspn(passes, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name),
                 passes);
        if (!arenaut_pass_find(name)) {
            return unknown_name("pass", name, names, pass_names(names, MAX_NAMES));
        }
        passes += length + (passes[length] == ',');
    }
    return EXIT_FINE;
}

/* "--pin: there is no tensor 'x'", and a remedy. */
static exit_code complain_tensor(const arenaut_pipeline *p, const arenaut_error *err) {
    const uint32_t n = p->lowering ? p->document.program->n_tensors : p->problem->n_buffers;
    char (*stores)[24] = must_allocate(n, sizeof *stores);
    const char **names = must_allocate(n, sizeof *names);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = p->lowering ? arenaut_program_tensor_name(p->document.program, i, stores[i])
                               : arenaut_problem_buffer_name(p->problem, i, stores[i]);
    }
    const char *near = nearest(p->fault.unknown, names, n);
    const exit_code code =
        near ? complain(EXIT_USAGE, p->options.path, "--%s: did you mean '%s'?", err->msg, near)
             : complain(EXIT_USAGE, p->options.path,
                        "--%s among the %" PRIu32
                        " of this file ('arenaut export --as csv' lists them)",
                        err->msg, n);
    free(names);
    free(stores);
    return code;
}

/* "the size 'n' is open: give it, e.g. with --dim 'n=1'" */
static exit_code complain_open_sizes(const arenaut_pipeline *p, const arenaut_error *err) {
    arenaut_text flags = {0};
    for (uint32_t i = 0; i < p->fault.n_open && i < ARENAUT_MAX_OPEN_SIZES; i++) {
        text_put(&flags, " --dim '");
        text_put_clean(&flags, p->fault.open[i]);
        text_put(&flags, "=1'");
    }
    const exit_code code =
        complain(EXIT_INPUT, p->options.path, "%s, e.g. with%s", err->msg, flags.bytes);
    arenaut_text_free(&flags);
    return code;
}

/* The member of a plan's file that an option of the pipeline was taken from; NULL: none. */
static const char *stated_member(const tool_job *job, const char *option) {
    if (!job->ops.path) return NULL;
    if (strcmp(option, "split") == 0) return "tiles";
    if (strcmp(option, "copying") == 0) return "copies";
    const bool moves = strcmp(option, "recompute") == 0 || strcmp(option, "reorder") == 0;
    return moves ? job->ops.schedule : NULL;
}

/* Reports the error of a stage of the job's pipeline. */
static exit_code complain_stage(const tool_job *job, const arenaut_error *err) {
    const arenaut_pipeline *p = job->pipeline;
    const arenaut_pipeline_fault *fault = &p->fault;
    const char *path = job->path;
    if (job->label && !p->document.program) path = job->inputs[fault->file].path;
    if (err->code == ARENAUT_NO_MEMORY) return complain_memory(path);
    if (fault->unknown) return complain_tensor(p, err);
    if (fault->n_open) return complain_open_sizes(p, err);
    if (!fault->option) return complain_error(path, err);
    if (strcmp(fault->option, "shapes") == 0) return complain_error(job->shapes.path, err);
    if (strcmp(fault->option, "scratch") == 0) return complain_error(job->scratch.path, err);
    if (strcmp(fault->option, "costs") == 0) return complain_error(job->costs.path, err);
    const char *member = stated_member(job, fault->option);
    if (member) { /* ops that compute something else are a negative answer */
        return complain(EXIT_NEGATIVE, job->ops.path, "'%s': %s", member,
                        err->msg + strlen(fault->option) + strlen(": "));
    }
    return complain(exit_for_status(err->code), path, "--%s", err->msg);
}

static exit_code check_search_options(const tool_options *o) {
    if (o->planner) {
        const exit_code code = check_planner_name(o->planner);
        if (code != EXIT_FINE) return code;
    }
    if (o->effort == 0) return complain(EXIT_USAGE, NULL, "--effort 0: at least one step");
    if (o->capacity == 0) return complain(EXIT_USAGE, NULL, "--capacity 0: at least one byte");
    if (o->threads == 0 || (o->threads != NOT_GIVEN && o->threads > 1024)) {
        return complain(EXIT_USAGE, NULL, "--threads: between 1 and 1024");
    }
    return EXIT_FINE;
}

static void pass_on_note(void *context, const char *text) {
    const tool_job *job = context;
    note(job->path, "%s", text);
}

/* The time that is told is the planner's alone: reading and checking are not in it. All that comes
 * before the plan counts against --time, and each plan has that for itself. */
static void watch_stage(void *context, arenaut_stage stage) {
    tool_job *job = context;
    const bool watched = stage != ARENAUT_STAGE_CHECK && stage != ARENAUT_STAGE_REPLAY &&
                         stage != ARENAUT_STAGE_OTHER;
    watch_end(&job->watch);
    if (job->stage == ARENAUT_STAGE_PLAN) {
        job->planner_seconds = seconds_now() - job->watch.started;
        job->watch.began = 0;
    }
    if (watched) watch_start(&job->watch, job->options);
    job->stage = stage;
}

/* Whether the pass of --dump-after ran. */
static exit_code check_dump(const tool_job *job) {
    const char *wanted = job->options->dump_after;
    const char *names[MAX_NAMES];
    if (!wanted || job->dumped) return job->dump_code;
    if (!arenaut_pass_find(wanted)) {
        return unknown_name("pass", wanted, names, pass_names(names, MAX_NAMES));
    }
    return complain(EXIT_USAGE, NULL, "--dump-after %s: this pass does not run (--passes adds it)",
                    wanted);
}

/* A number that may be left out: the library's 0 stands for its default. */
static uint64_t or_zero(uint64_t number) { return number == NOT_GIVEN ? 0 : number; }

/* Of time and effort that limits which is given; both if both are. */
static arenaut_plan_options plan_options(const tool_options *o, planner_watch *watch) {
    const bool timed = o->effort == NOT_GIVEN && o->time_ms != NOT_GIVEN;
    return (arenaut_plan_options){
        .planner = o->planner,
        .effort = timed ? ARENAUT_NO_EFFORT_LIMIT : or_zero(o->effort),
        .seed = or_zero(o->seed),
        .capacity = or_zero(o->capacity),
        .threads = o->threads == NOT_GIVEN ? os_cores() : (uint32_t)o->threads,
        .progress = watch_progress,
        .progress_context = watch,
    };
}

static exit_code open_side_file(const char *path, input_file *input, arenaut_side_file *out) {
    if (!path) return EXIT_FINE;
    const exit_code code = input_open(path, input);
    *out = (arenaut_side_file){input->size ? (const char *)input->data : "", input->size};
    return code;
}

static exit_code fill_options(tool_job *job, arenaut_pipeline_options *out) {
    const tool_options *o = job->options;
    *out = (arenaut_pipeline_options){
        .path = job->path,
        .method = o->method,
        .passes = o->passes,
        .share = o->share,
        .preserve_inputs = o->preserve_inputs,
        .exclude_io = o->no_alloc_io,
        .unmeasured = o->unmeasured,
        .compact = o->compact,
        .overlap = o->overlap && strcmp(o->overlap, "on") == 0,
        .plan = plan_options(o, &job->watch),
        .context = job,
        .note = pass_on_note,
        .stage = watch_stage,
        .after_pass = o->dump_after ? dump_program : NULL,
    };
    if (o->from && !(out->format = named_format(o->from))) return EXIT_USAGE;
    if (o->target && !(out->target = named_target(o->target))) return EXIT_USAGE;
    exit_code code = parse_flag_values(o, &job->values, out);
    if (code == EXIT_FINE && o->kernels) code = choose_kernels(o->kernels, &job->kernels);
    out->kernels = job->kernels.set;
    return code == EXIT_FINE ? open_side_file(o->shapes, &job->shapes, &out->shapes) : code;
}

/* Where --from names another format than the bytes have. */
static void suggest_format(const tool_job *job) {
    const arenaut_format *asked = job->pipeline->options.format;
    const input_file *input = &job->inputs[job->pipeline->fault.file];
    const arenaut_format *found = asked ? arenaut_format_recognise(input->data, input->size) : NULL;
    if (found && found != asked) {
        note(input->path, "its bytes look like %s: leave out --from %s", found->name, asked->name);
    }
}

/* Reads the inputs, whichever job opened them. */
static exit_code read_inputs(tool_job *job, const arenaut_pipeline_options *options) {
    arenaut_error err = {0};
    arenaut_pipeline_file *files = must_allocate(job->n_inputs, sizeof *files);
    for (size_t i = 0; i < job->n_inputs; i++) {
        const input_file *input = &job->inputs[i];
        files[i] = (arenaut_pipeline_file){input->path, input->data, input->size};
    }
    exit_code code = EXIT_FINE;
    if (arenaut_pipeline_new(options, NULL, &job->pipeline, &err)) {
        code = complain_error(job->path, &err);
    } else if (arenaut_pipeline_read(job->pipeline, files, job->n_inputs, &err)) {
        code = complain_stage(job, &err);
        suggest_format(job);
    }
    free(files);
    return code;
}

/* Several jobs may be at work on the same bytes; the one that opened them closes them. */
static exit_code open_and_read(tool_job *job, const char *const *paths, size_t n) {
    arenaut_pipeline_options options;
    exit_code code = check_search_options(job->options);
    job->inputs = must_allocate(n, sizeof *job->inputs);
    for (; job->n_inputs < n && code == EXIT_FINE; job->n_inputs++) {
        code = input_open(paths[job->n_inputs], &job->inputs[job->n_inputs]);
        if (code == EXIT_FINE && !job->options->from) {
            input_take_c_array(&job->inputs[job->n_inputs]);
        }
    }
    if (!job->label) job->path = job->inputs->path ? job->inputs->path : job->path;
    if (code == EXIT_FINE) code = fill_options(job, &options);
    if (code == EXIT_FINE) code = read_inputs(job, &options);
    if (code == EXIT_FINE && job->options->hash) {
        sha256_hex(job->inputs->data, job->inputs->size, job->sha256);
        job->pipeline->result.sha256 = job->sha256;
    }
    return code;
}

exit_code job_read(tool_job *job, const char *path, const tool_options *options) {
    *job = (tool_job){
        .options = options, .path = path, .head = ARENAUT_UNLIMITED, .tail = ARENAUT_UNLIMITED};
    return open_and_read(job, &path, 1);
}

bool is_merged(const tool_options *options) { return options->share && options->files.n > 1; }

/* "prefill.pt2 + decode.pt2", for messages. */
static char *merged_label(const tool_options *options) {
    arenaut_text label = {0};
    for (size_t i = 0; i < options->files.n; i++) {
        text_put(&label, i ? " + " : "");
        text_put(&label, base_name(options->files.items[i]));
    }
    return label.bytes;
}

exit_code job_read_merged(tool_job *job, const tool_options *options) {
    *job = (tool_job){.options = options,
                      .label = merged_label(options),
                      .head = ARENAUT_UNLIMITED,
                      .tail = ARENAUT_UNLIMITED};
    job->path = job->label;
    if (options->hash) {
        return complain(EXIT_USAGE, NULL,
                        "--hash is of one file, and --share makes one program of several");
    }
    for (size_t i = 0; i < options->files.n; i++) {
        if (!is_standard_stream(options->files.items[i])) continue;
        return complain(EXIT_USAGE, options->files.items[i],
                        "standard input cannot be one of several files");
    }
    return open_and_read(job, options->files.items, options->files.n);
}

/* Flags about models, given for a bare placement problem. */
static exit_code check_problem_flags(const tool_job *job) {
    const char *flag = flag_about_models_given(job->options);
    if (!flag) return EXIT_FINE;
    return complain(EXIT_USAGE, job->path, "--%s is about models, and this is a placement problem",
                    flag);
}

/* "mlperf_vww" of "models/mlperf_vww.planned.tflite": the model's name in a scratch file. */
static char *model_name(const char *path) {
    const char *name = base_name(path);
    const size_t length = strcspn(name, ".");
    return memcpy(must_allocate(length + 1, 1), name, length);
}

static const arenaut_pool *pool_named(const arenaut_pipeline_options *o, const char *name) {
    for (uint32_t i = 0; i < o->n_pools; i++) {
        if (strcmp(o->pools[i].name, name) == 0) return &o->pools[i];
    }
    return NULL;
}

/* Tiles are taken that add least, of those that keep both memories and the budget; the least if
 * there is no such limit, or if the least is asked for. */
static void set_tile_budget(tool_job *job, uint64_t head, uint64_t tail) {
    arenaut_splitting *o = &job->pipeline->options.splitting;
    if (seeks_least(job->options) || head >= ARENAUT_SIZE_MAX || tail >= ARENAUT_SIZE_MAX) {
        o->budget = 0;
        return;
    }
    if (o->budget == 0 || o->budget > head + tail) o->budget = head + tail;
    o->head = head;
    o->tail = tail;
}

/* Pools called head and tail, and no others, are the two memories of a runtime that has both in its
 * arena: tensors all lie in the head. */
static exit_code take_two_memories(tool_job *job) {
    arenaut_pipeline_options *o = &job->pipeline->options;
    const arenaut_pool *head = pool_named(o, "head"), *tail = pool_named(o, "tail");
    const arenaut_target *target =
        o->target ? o->target : arenaut_target_for_format(job->pipeline->document.format->name);
    if (!target->layout || (!head && !tail)) return EXIT_FINE;
    if (!head || !tail || o->n_pools != 2) {
        return complain(EXIT_USAGE, job->path,
                        "--pool head=SIZE and --pool tail=SIZE are the two memories of %s's arena: "
                        "give both and no other pool",
                        target->name);
    }
    job->apart = true;
    job->head = head->capacity;
    job->tail = tail->capacity;
    o->n_pools = 0;
    set_tile_budget(job, head->capacity, tail->capacity);
    o->recomputing.options.budget = 0;
    return EXIT_FINE;
}

/* Names are checked before anything is computed. */
static exit_code check_model_flags(tool_job *job) {
    const tool_options *o = job->options;
    arenaut_pipeline_options *options = &job->pipeline->options;
    exit_code code = check_pass_names(o->passes);
    if (code == EXIT_FINE) code = open_side_file(o->scratch, &job->scratch, &options->scratch);
    options->scratch_model = job->model = model_name(job->path);
    if (code == EXIT_FINE) code = refuse_other_runtime(job->pipeline);
    if (code == EXIT_FINE)
        code = open_side_file(o->costs, &job->costs, &options->recomputing.costs);
    if (code == EXIT_FINE) code = take_two_memories(job);
    if (code == EXIT_FINE) note_idle_rules(job->pipeline);
    if (code == EXIT_FINE) note_idle_kernels(job->pipeline);
    return code;
}

/* The library takes it as that of the first pool alone. */
static exit_code check_capacity(const tool_job *job) {
    const uint32_t n = job->pipeline->problem->n_pools;
    if (job->options->capacity == NOT_GIVEN || n < 2) return EXIT_FINE;
    return complain(EXIT_USAGE, job->path,
                    "--capacity is of one pool, and there are %" PRIu32
                    ": --pool NAME=SIZE states that of each",
                    n);
}

exit_code job_prepare(tool_job *job) {
    const tool_options *o = job->options;
    arenaut_pipeline *p = job->pipeline;
    arenaut_error err = {0};
    exit_code code = p->document.program ? check_model_flags(job) : check_problem_flags(job);
    if (code != EXIT_FINE) return code;
    const arenaut_status st = arenaut_pipeline_prepare(p, &err);
    const bool passed = p->document.program && (st == ARENAUT_OK || p->fault.n_open);
    if (passed) code = check_dump(job);
    if (code != EXIT_FINE) return code;
    if (st != ARENAUT_OK) return complain_stage(job, &err);
    code = check_capacity(job);
    if (code != EXIT_FINE) return code;
    if (o->dump_live) dump_live(job);
    if (o->scratch && !p->scratch.known) {
        note(job->path, "%s says nothing about model '%s'", o->scratch, p->options.scratch_model);
    }
    return EXIT_FINE;
}

exit_code job_find_baseline(tool_job *job) {
    arenaut_error err = {0};
    if (arenaut_pipeline_find_baseline(job->pipeline, &err)) return complain_stage(job, &err);
    return EXIT_FINE;
}

exit_code job_judge_plan(tool_job *job, arenaut_status status, const arenaut_error *err) {
    job->pipeline->result.seconds = job->planner_seconds;
    job->stopped = interrupted();
    if (status == ARENAUT_OK) return EXIT_FINE;
    if (status == ARENAUT_NO_PLAN) return EXIT_NEGATIVE;
    if (status != ARENAUT_STOPPED) return complain_stage(job, err);
    if (job->stopped) return EXIT_INTERRUPT;
    return complain(EXIT_NEGATIVE, job->path,
                    "no plan was found within %s, although there may be one",
                    job->options->time_ms == NOT_GIVEN ? "the effort (--effort)" : "--time");
}

exit_code job_end(const tool_job *job, exit_code code) {
    if (!job->stopped) return code;
    if (job->pipeline->plan) return EXIT_INTERRUPT;
    return complain(EXIT_INTERRUPT, job->path, "interrupted before a plan");
}

exit_code job_goes_on(exit_code code) {
    return code == EXIT_FINE && interrupted() ? EXIT_INTERRUPT : code;
}

exit_code job_make_plan(tool_job *job) {
    arenaut_error err = {0};
    const arenaut_status st = arenaut_pipeline_plan(job->pipeline, &err);
    return job_judge_plan(job, st, &err);
}

bool job_is_answered(const tool_job *job, exit_code code) {
    return (code == EXIT_FINE || code == EXIT_NEGATIVE) && job->pipeline && job->pipeline->plan;
}

exit_code job_run_read(tool_job *job) {
    exit_code code = job_prepare(job);
    if (code == EXIT_FINE) code = job_find_baseline(job);
    return code == EXIT_FINE ? job_make_plan(job) : code;
}

/* Whether flags exclude some rights: options of the pipeline do not tell that from rights that were
 * not asked for. */
static bool refuses_rights(const tool_options *o) {
    return o->inplace || o->overlap || o->split || o->reorder || o->recompute;
}

static exit_code describe(tool_job *job, bool or_better) {
    arenaut_error err = {0};
    exit_code code = job_prepare(job);
    if (code == EXIT_FINE) code = job_find_baseline(job);
    if (code != EXIT_FINE) return code;
    if (refuses_rights(job->options)) return job_make_plan(job);
    const arenaut_status st = arenaut_pipeline_describe(job->pipeline, or_better, &err);
    return job_judge_plan(job, st, &err);
}

exit_code job_describe(tool_job *job) { return describe(job, false); }

exit_code job_describe_or_better(tool_job *job) {
    const exit_code code = describe(job, true);
    const arenaut_baseline *baseline = &job->pipeline->baseline;
    if (!job_is_answered(job, code) || !baseline->in_place || refuses_rights(job->options) ||
        job->pipeline->figures.planned == job->pipeline->figures.now) {
        return code;
    }
    note(job->path,
         "planned with results %s operands, as in the file's plan; --%s off plans without",
         baseline->reaches ? "that reach into" : "over", baseline->reaches ? "overlap" : "inplace");
    return code;
}

exit_code job_run(tool_job *job, const char *path, const tool_options *options) {
    const exit_code code = job_read(job, path, options);
    return code == EXIT_FINE ? job_describe(job) : code;
}

exit_code job_prepare_again(tool_job *job, const tool_job *first,
                            const arenaut_pipeline_options *options) {
    arenaut_pipeline_options quiet = *options;
    arenaut_error err = {0};
    *job = (tool_job){.options = first->options,
                      .path = first->path,
                      .inputs = first->inputs,
                      .n_inputs = first->n_inputs,
                      .apart = first->apart,
                      .head = first->head,
                      .tail = first->tail,
                      .borrowed = true};
    quiet.context = job;
    quiet.plan.progress_context = &job->watch;
    quiet.note = NULL; /* notes about the file were given already */
    quiet.after_pass = NULL;
    exit_code code = job_goes_on(EXIT_FINE);
    if (code == EXIT_FINE) code = job_goes_on(read_inputs(job, &quiet));
    if (code != EXIT_FINE) return code;
    if (arenaut_pipeline_prepare(job->pipeline, &err)) return complain_stage(job, &err);
    return job_goes_on(EXIT_FINE);
}

void job_close(tool_job *job) {
    arenaut_pipeline_free(job->pipeline);
    kernel_choice_free(&job->kernels);
    flag_values_free(&job->values);
    input_close(&job->shapes);
    input_close(&job->scratch);
    input_close(&job->costs);
    for (size_t i = 0; i < job->n_inputs && !job->borrowed; i++) input_close(&job->inputs[i]);
    if (!job->borrowed) free(job->inputs);
    free(job->label);
    free(job->model);
}
