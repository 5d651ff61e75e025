/* From a path to a checked plan. What the runtime does today is in today.c. */
#include "job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dims.h"
#include "edit.h"
#include "job_parts.h"
#include "memories.h"
#include "progress.h"
#include "sha256.h"
#include "together.h"

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

const arenaut_format *named_format(const char *name) {
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

static void pass_on_note(void *context, const char *text) {
    const tool_job *job = context;
    note(job->input.path, "%s", text);
}

/* Lends `to` the places in `from`, which is the same program. */
static void copy_given(const arenaut_program *from, arenaut_program *to) {
    to->given = from->given;
    for (uint32_t t = 0; t < to->n_tensors; t++) {
        to->tensors[t].given_pool = from->tensors[t].given_pool;
        to->tensors[t].given_offset = from->tensors[t].given_offset;
    }
    for (uint32_t m = 0; m < to->n_methods; m++) {
        to->methods[m].given_pools = from->methods[m].given_pools;
        to->methods[m].n_given_pools = from->methods[m].n_given_pools;
    }
}

static bool same_list(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b) {
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}

static bool same_op(const arenaut_op *a, const arenaut_op *b) {
    return a->kind == b->kind && a->method == b->method &&
           same_list(a->inputs, a->n_inputs, b->inputs, b->n_inputs) &&
           same_list(a->outputs, a->n_outputs, b->outputs, b->n_outputs) &&
           strcmp(a->name ? a->name : "", b->name ? b->name : "") == 0;
}

/* What makes a plan for the one a plan for the other: the same tensors in the same ops. */
static exit_code compare_programs(const char *path_a, const arenaut_program *a, const char *path_b,
                                  const arenaut_program *b) {
    char store[24];
    if (a->n_methods != b->n_methods || a->n_tensors != b->n_tensors || a->n_ops != b->n_ops) {
        return complain(EXIT_NEGATIVE, path_b,
                        "is another program: %" PRIu32 " methods, %" PRIu32 " ops, %" PRIu32
                        " tensors; %s has %" PRIu32 ", %" PRIu32 ", %" PRIu32,
                        b->n_methods, b->n_ops, b->n_tensors, path_a, a->n_methods, a->n_ops,
                        a->n_tensors);
    }
    for (uint32_t t = 0; t < a->n_tensors; t++) {
        const arenaut_tensor *ta = &a->tensors[t], *tb = &b->tensors[t];
        if (ta->bytes == tb->bytes && ta->cls == tb->cls && ta->method == tb->method) {
            continue;
        }
        return complain(EXIT_NEGATIVE, path_b,
                        "is another program: tensor %" PRIu32 " ('%s') has %s bytes, and %s in %s",
                        t, arenaut_program_tensor_name(b, t, store), with_commas(tb->bytes).text,
                        with_commas(ta->bytes).text, path_a);
    }
    for (uint32_t i = 0; i < a->n_ops; i++) {
        if (same_op(&a->ops[i], &b->ops[i])) continue;
        return complain(EXIT_NEGATIVE, path_b, "is another program: op %" PRIu32 " ('%s') differs",
                        i, b->ops[i].name ? b->ops[i].name : "");
    }
    return EXIT_FINE;
}

exit_code job_take_given(tool_job *job, const char *path, const arenaut_program *planned) {
    const exit_code code = compare_programs(job->input.path, job->document.program, path, planned);
    if (code != EXIT_FINE) return code;
    job->given_by = planned;
    copy_given(planned, job->document.program);
    return EXIT_FINE;
}

/* Reads job->input once more or for the first time. */
exit_code read_document(tool_job *job, arenaut_document *document) {
    arenaut_error err = {0};
    if (job->together) {
        const exit_code code = read_together(job->options, document);
        return code == EXIT_FINE ? bind_dims(job->input.path, job->options, document->program)
                                 : code;
    }
    arenaut_read_options options = {.note = document == &job->document ? pass_on_note : NULL,
                                    .note_context = job};
    const arenaut_format *format = NULL;
    if (job->options->from && !(format = named_format(job->options->from))) return EXIT_USAGE;
    if (arenaut_read(job->input.data, job->input.size, format, &options, NULL, document, &err)) {
        return complain_error(job->input.path, &err);
    }
    if (!document->program) return EXIT_FINE; /* what --dim is for: see refuse_for_problem */
    if (job->given_by) copy_given(job->given_by, document->program);
    const exit_code code = bind_dims(job->input.path, job->options, document->program);
    if (code != EXIT_FINE || !job->options->shapes) return code;
    return read_shapes(job->options->shapes, document->program);
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

/* Reads job->input, whoever opened it. */
static exit_code read_input(tool_job *job) {
    const tool_options *options = job->options;
    const exit_code code = read_document(job, &job->document);
    if (code != EXIT_FINE) return code;
    const bool hash = options->hash && !job->together; /* it is of one file's bytes */
    if (hash) sha256_hex(job->input.data, job->input.size, job->sha256);
    job->result = (arenaut_result){
        .path = job->input.path,
        .format = job->document.format->name,
        .sha256 = hash ? job->sha256 : NULL,
        .file = job->input.data,
        .file_size = job->input.size,
        .program = job->document.program,
        .problem = job->document.problem,
        .plan = job->document.plan,
        .seconds = -1,
    };
    job->problem = job->document.problem;
    return EXIT_FINE;
}

/* What this build cannot do for any input is refused here, rather than ignored. */
static exit_code refuse_unavailable(const char *path, const tool_options *o) {
    if (o->share && !wants_together(o)) {
        return complain(EXIT_USAGE, path, "--share %s: sharing needs several files", o->share);
    }
    return EXIT_FINE;
}

/* Flags about models, given for a bare placement problem. */
static exit_code refuse_for_problem(const tool_job *job) {
    const char *flag = flag_about_models_given(job->options);
    if (!flag) return EXIT_FINE;
    return complain(EXIT_USAGE, job->input.path,
                    "--%s is about models, and this is a placement "
                    "problem",
                    flag);
}

/* Without --target the format decides, as its files are mostly run by one runtime. */
exit_code job_choose_target(tool_job *job) {
    const char *names[MAX_NAMES], *name = job->options->target;
    job->target =
        name ? arenaut_target_find(name) : arenaut_target_for_format(job->document.format->name);
    job->result.target = job->target;
    if (job->target) return EXIT_FINE;
    return unknown_name("target", name, names, target_names(names, MAX_NAMES));
}

/* Leaves only the wanted entry method; the others, and what only they use, are not planned. */
exit_code choose_method(const tool_job *job, arenaut_program *program) {
    const char *name = job->options->method;
    arenaut_method *wanted = NULL;
    arenaut_text names = {0};
    if (!name) return EXIT_FINE;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        arenaut_method *method = &program->methods[m];
        if (!method->entry) continue;
        text_printf(&names, "%s%s", names.size ? ", " : "",
                    method->name ? method->name : "(unnamed)");
        if (method->name && strcmp(method->name, name) == 0 && !wanted) wanted = method;
        else method->entry = false;
    }
    if (!wanted) {
        complain(EXIT_USAGE, job->input.path, "there is no entry method '%s'; there are: %s", name,
                 names.bytes ? names.bytes : "none");
    }
    arenaut_text_free(&names);
    return wanted ? EXIT_FINE : EXIT_USAGE;
}

typedef struct dump_request {
    const tool_job *job;
    bool seen;
    exit_code code;
} dump_request;

/* Standard error, so that --dump-after goes together with any result. */
static void dump_program(void *context, const arenaut_pass *pass, const arenaut_program *program) {
    dump_request *dump = context;
    arenaut_text text = {0};
    arenaut_error err = {0};
    const char *wanted = dump->job->options->dump_after;
    const arenaut_format *format = arenaut_format_find("program-json");
    if (!wanted || strcmp(pass->name, wanted) != 0) return;
    dump->seen = true;
    arenaut_result result = dump->job->result;
    result.program = program;
    if (!format || !format->write) {
        dump->code = complain(EXIT_BUG, NULL, "this build cannot write programs");
    } else if (format->write(&result, arenaut_text_sink(&text), NULL, &err) != ARENAUT_OK) {
        dump->code = complain_error(dump->job->input.path, &err);
    } else {
        fputs(text.bytes, stderr);
    }
    arenaut_text_free(&text);
}

/* Runs the passes; `with_wishes` also those that the user asked for. */
exit_code run_passes(tool_job *job, arenaut_program *program, const char *selection, bool show) {
    const tool_options *o = job->options;
    const arenaut_pass_options options = {
        .target = job->target,
        .scratch = job->scratch.entries,
        .n_scratch = job->scratch.n,
        .in_place = job->rules.in_place,
        .n_in_place = job->rules.n_in_place,
        .only_these_rules = o->inplace && strcmp(o->inplace, "only") == 0};
    arenaut_error err = {0};
    dump_request dump = {job, false, EXIT_FINE};
    if (arenaut_passes_run(program, selection, &options, show ? dump_program : NULL, &dump, &err)) {
        return complain_error(job->input.path, &err);
    }
    const char *wanted = show ? job->options->dump_after : NULL;
    if (!wanted || dump.seen) return dump.code;
    if (arenaut_pass_find(wanted)) {
        return complain(EXIT_USAGE, NULL,
                        "--dump-after %s: this pass does not run (--passes adds "
                        "it)",
                        wanted);
    }
    const char *names[MAX_NAMES];
    return unknown_name("pass", wanted, names, pass_names(names, MAX_NAMES));
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

/* The user's --passes, with what --inplace adds; freed with free(). */
static char *pass_selection(const tool_options *o) {
    const char *passes = o->passes ? o->passes : "";
    char *selection = must_allocate(strlen(passes) + sizeof ",-inplace", 1);
    strcpy(selection, passes);
    if (o->inplace || o->inplace_op.n) {
        if (*passes) strcat(selection, ",");
        strcat(selection, wants_in_place(o) ? "inplace" : "-inplace");
    }
    return selection;
}

static exit_code lower_program(tool_job *job) {
    const tool_options *o = job->options;
    arenaut_pool pools[ARENAUT_MAX_POOLS];
    arenaut_lowering_options options = {.preserve_inputs = o->preserve_inputs,
                                        .exclude_io = o->no_alloc_io,
                                        .op_align = job->rules.align,
                                        .n_op_align = job->rules.n_align};
    arenaut_error err = {0};
    char *names = NULL;
    exit_code code = plain_alignment(o, &options.align);
    if (code == EXIT_FINE && o->pool.n) code = parse_pools(o, pools, &options.n_pools, &names);
    if (options.n_pools) options.pools = pools;
    if (code == EXIT_FINE &&
        arenaut_lower(job->document.program, job->target, &options, NULL, &job->lowering, &err)) {
        code = complain_error(job->input.path, &err);
    }
    free(names);
    return code;
}

/* "mlperf_vww" of "models/mlperf_vww.planned.tflite": what a scratch file calls the model.
 * Freed with free(). */
static char *model_name(const char *path) {
    const char *name = base_name(path);
    const size_t length = strcspn(name, ".");
    char *copy = must_allocate(length + 1, 1);
    memcpy(copy, name, length);
    return copy;
}

static exit_code read_scratch(tool_job *job) {
    const char *path = job->options->scratch;
    input_file input;
    arenaut_error err = {0};
    exit_code code = input_open(path, &input);
    char *model = model_name(job->input.path);
    if (code == EXIT_FINE &&
        arenaut_scratch_read((const char *)input.data, input.size, model, job->document.program,
                             NULL, &job->scratch, &err)) {
        code = complain_error(path, &err);
    }
    input_close(&input);
    if (code == EXIT_FINE && !job->scratch.known) {
        note(job->input.path, "%s says nothing about model '%s'", path, model);
    }
    free(model);
    return code;
}

/* The order is that of the data: names are checked before anything is computed. */
static exit_code prepare_program(tool_job *job) {
    exit_code code = check_pass_names(job->options->passes);
    if (code == EXIT_FINE) code = parse_op_rules(job->options, &job->rules);
    if (code == EXIT_FINE) code = job_choose_target(job);
    if (code == EXIT_FINE) code = choose_method(job, job->document.program);
    if (code == EXIT_FINE && job->options->scratch) code = read_scratch(job);
    if (code != EXIT_FINE) return code;
    note_idle_rules(&job->rules, job->input.path, job->document.program);
    char *selection = pass_selection(job->options);
    code = run_passes(job, job->document.program, selection, true);
    free(selection);
    if (code == EXIT_FINE) code = check_dims(job->input.path, job->document.program);
    if (code == EXIT_FINE) code = lower_program(job);
    if (code != EXIT_FINE) return code;
    note_unsized(job->input.path, job->document.program);
    job->problem = job->lowering->problem;
    job->result.lowering = job->lowering;
    job->result.scratch = arenaut_scratch_known(job->document.program, job->target, &job->scratch);
    return EXIT_FINE;
}

/* What the flags say of the search comes before any work. */
static exit_code read_search_options(tool_job *job) {
    const exit_code code = check_search_options(job->options);
    return code == EXIT_FINE ? parse_settings(job->options, &job->settings) : code;
}

exit_code job_read(tool_job *job, const char *path, const tool_options *options) {
    *job = (tool_job){.options = options};
    exit_code code = read_search_options(job);
    if (code == EXIT_FINE) code = input_open(path, &job->input);
    return code == EXIT_FINE ? read_input(job) : code;
}

exit_code job_read_together(tool_job *job, const tool_options *options) {
    *job = (tool_job){.options = options, .borrowed = true};
    const exit_code code = read_search_options(job);
    if (code != EXIT_FINE) return code;
    job->together = together_label(options);
    job->input.path = job->together;
    return read_input(job);
}

exit_code job_prepare(tool_job *job) {
    exit_code code = refuse_unavailable(job->input.path, job->options);
    if (code != EXIT_FINE) return code;
    code = job->document.program ? prepare_program(job) : refuse_for_problem(job);
    if (code == EXIT_FINE) {
        code = apply_edits(job->input.path, job->options, job->document.program, job->lowering,
                           job->problem, &job->edited);
    }
    if (job->edited) job->problem = job->edited;
    job->result.problem = job->problem;
    job->result.plan = NULL;
    return code;
}

/* Each tensor lies where its buffer does, plus its place inside that buffer. In a file, what
 * methods share by name has a place in each of them, right or wrong. */
static uint64_t offset_of(const arenaut_program *program, const arenaut_lowering *lowering,
                          const arenaut_plan *plan, uint32_t tensor, bool as_in_file) {
    uint64_t inside;
    const uint32_t storage = arenaut_program_storage(program, tensor, &inside);
    const arenaut_tensor *own = &program->tensors[storage];
    if (as_in_file && own->qualified_name && own->given_offset != ARENAUT_UNPLACED) {
        return own->given_offset + inside;
    }
    return plan->offset[lowering->buffer[tensor]] + lowering->offset[tensor];
}

static exit_code replay(const tool_job *job, const arenaut_program *program,
                        const arenaut_lowering *lowering, const arenaut_plan *plan, bool as_in_file,
                        arenaut_finding *finding) {
    const uint32_t n = program->n_tensors;
    uint32_t *pool = must_allocate(n, sizeof *pool);
    uint64_t *offset = must_allocate(n, sizeof *offset);
    for (uint32_t t = 0; t < n; t++) {
        const uint32_t buffer = t < lowering->n_tensors ? lowering->buffer[t] : ARENAUT_NONE;
        const bool placed = buffer != ARENAUT_NONE && plan->pool[buffer] != ARENAUT_NONE;
        pool[t] = placed ? plan->pool[buffer] : ARENAUT_NONE;
        offset[t] = placed ? offset_of(program, lowering, plan, t, as_in_file) : 0;
    }
    pool_names names;
    name_pools(job, program, lowering, plan, &names);
    const arenaut_placement placement = {n, plan->n_pools, pool, offset, plan->arena};
    const arenaut_replay_options options = {
        .keep_inputs = job->options->preserve_inputs || job->target->keep_inputs,
        .exclude_io = job->options->no_alloc_io,
        .pool_names = names.names};
    arenaut_error err = {0};
    const arenaut_status st =
        arenaut_check_replay(program, &placement, &options, NULL, finding, &err);
    free(pool);
    free(offset);
    if (st == ARENAUT_OK) return EXIT_FINE;
    return st == ARENAUT_REJECTED ? EXIT_NEGATIVE : complain_error(job->input.path, &err);
}

exit_code replay_plan(const tool_job *job, const arenaut_program *program,
                      const arenaut_lowering *lowering, const arenaut_plan *plan,
                      arenaut_finding *finding) {
    return replay(job, program, lowering, plan, false, finding);
}

exit_code replay_file(const tool_job *job, const arenaut_program *program,
                      const arenaut_lowering *lowering, const arenaut_plan *plan,
                      arenaut_finding *finding) {
    return replay(job, program, lowering, plan, true, finding);
}

/* Whether no plan could pass: with memory of its own for every buffer, the replay still finds
 * a read of what nobody wrote, or an op that writes over its own operand. */
static bool program_is_wrong(const tool_job *job, arenaut_finding *finding) {
    const arenaut_plan_options options = {.planner = "naive"};
    const arenaut_program *program = job->document.program;
    arenaut_lowering *lowering = NULL;
    arenaut_plan *apart = NULL;
    arenaut_error err;
    bool wrong = false;
    if (arenaut_lower(program, job->target, NULL, NULL, &lowering, &err) == ARENAUT_OK &&
        arenaut_plan_make(lowering->problem, &options, NULL, &apart, &err) == ARENAUT_OK &&
        replay_plan(job, program, lowering, apart, finding) == EXIT_NEGATIVE) {
        wrong = finding->rule == ARENAUT_RULE_UNWRITTEN ||
                (finding->rule == ARENAUT_RULE_ARGUMENTS && finding->a == finding->b);
    }
    arenaut_plan_free(apart);
    arenaut_lowering_free(lowering);
    return wrong;
}

/* Nothing is claimed or written before this has passed. A rejection is our own bug, unless
 * the program itself is at fault. */
static exit_code verify(tool_job *job) {
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_check_plan(job->problem, job->plan, NULL, &finding, &err);
    if (st != ARENAUT_OK && st != ARENAUT_REJECTED) return complain_error(job->input.path, &err);
    exit_code code = st == ARENAUT_OK ? EXIT_FINE : EXIT_NEGATIVE;
    const bool replay = job->lowering && job->plan->quality != ARENAUT_INFEASIBLE;
    if (code == EXIT_FINE && replay) {
        code = replay_plan(job, job->document.program, job->lowering, job->plan, &finding);
    }
    if (code != EXIT_NEGATIVE) return code;
    arenaut_finding fault;
    if (st == ARENAUT_OK && program_is_wrong(job, &fault)) {
        return complain(EXIT_INPUT, job->input.path,
                        "the program itself is wrong, however its buffers are placed: %s",
                        fault.msg);
    }
    return complain(EXIT_BUG, job->input.path,
                    "the plan of %s did not pass the checker (a bug in "
                    "arenaut: please report it): %s",
                    job->plan->planner, finding.msg);
}

/* Of time and effort that limits which is given; both if both are. */
static uint64_t effort_of(const tool_options *o) {
    if (o->effort != NOT_GIVEN) return o->effort;
    return o->time_ms == NOT_GIVEN ? 0 : ARENAUT_NO_EFFORT_LIMIT;
}

/* The time is the planner's alone: reading and checking are not in it. */
static arenaut_status run_planner(tool_job *job, arenaut_error *err) {
    const tool_options *o = job->options;
    planner_watch watch;
    const arenaut_plan_options options = {
        .planner = o->planner,
        .effort = effort_of(o),
        .seed = o->seed == NOT_GIVEN ? 0 : o->seed,
        .capacity = o->capacity == NOT_GIVEN ? 0 : o->capacity,
        .threads = o->threads == NOT_GIVEN ? 1 : (uint32_t)o->threads,
        .progress = watch_progress,
        .progress_context = &watch,
        .settings = job->settings.items,
        .n_settings = job->settings.n,
    };
    watch_start(&watch, o);
    watch_spent(&watch, job->today.seconds);
    const arenaut_status st = arenaut_plan_make(job->problem, &options, NULL, &job->plan, err);
    watch_end(&watch);
    job->result.seconds = seconds_now() - watch.started;
    return st;
}

exit_code job_plan_with(tool_job *job, const char **refusal) {
    arenaut_error err = {0};
    *refusal = NULL;
    const arenaut_status st = run_planner(job, &err);
    job->stopped = interrupted();
    if (st == ARENAUT_REFUSED) {
        strcpy(job->refusal, err.msg);
        *refusal = job->refusal;
        return EXIT_INPUT;
    }
    if (st == ARENAUT_STOPPED && job->stopped) return EXIT_INTERRUPT;
    if (st == ARENAUT_STOPPED) {
        return complain(EXIT_NEGATIVE, job->input.path,
                        "no plan was found within %s, although there may be one",
                        job->options->time_ms == NOT_GIVEN ? "the effort (--effort)" : "--time");
    }
    if (st != ARENAUT_OK && st != ARENAUT_NO_PLAN) return complain_error(job->input.path, &err);
    job->result.plan = job->plan;
    const exit_code code = verify(job);
    return code == EXIT_FINE && job->plan->quality == ARENAUT_INFEASIBLE ? EXIT_NEGATIVE : code;
}

exit_code job_make_plan(tool_job *job) {
    const char *refusal;
    const exit_code code = job_plan_with(job, &refusal);
    if (refusal) return complain(EXIT_INPUT, job->input.path, "%s", refusal);
    if (code != EXIT_FINE) return code;
    const exit_code accounted = account_for_scratch(job);
    return accounted == EXIT_FINE ? size_memories(job) : accounted;
}

exit_code job_run_read(tool_job *job) {
    exit_code code = job_prepare(job);
    if (code == EXIT_FINE) code = job_find_today(job);
    if (code == EXIT_FINE) code = job_make_plan(job);
    return code;
}

exit_code job_run(tool_job *job, const char *path, const tool_options *options) {
    const exit_code code = job_read(job, path, options);
    return code == EXIT_FINE ? job_run_read(job) : code;
}

exit_code job_read_again(tool_job *job, const tool_job *first, const tool_options *options) {
    *job = (tool_job){.options = options, .input = first->input, .borrowed = true};
    return read_input(job);
}

exit_code job_run_again(tool_job *job, const tool_job *first, const tool_options *options) {
    const exit_code code = job_read_again(job, first, options);
    return code == EXIT_FINE ? job_run_read(job) : code;
}

exit_code job_look_at(tool_job *job, const tool_job *first, const void *data, size_t size,
                      const tool_options *options) {
    *job = (tool_job){.options = options, .input = first->input, .borrowed = true};
    job->input.data = data;
    job->input.size = size;
    exit_code code = read_input(job);
    if (code == EXIT_FINE) code = job_prepare(job);
    return code == EXIT_FINE ? job_find_today(job) : code;
}

/* Where today's plan overlaps its size says nothing: a correct plan may have to be larger. Nor
 * does it where pools are to be chosen: today's knows none of them, and filling the fast ones may
 * well take more in all. */
static bool is_comparable(const tool_job *job) {
    return job->today.plan && !job->today.overlaps && !arenaut_problem_chooses_pools(job->problem);
}

bool job_is_larger(const tool_job *job) {
    if (job->memories.sized && job->today.plan && !job->today.overlaps) {
        return memory_that_grows(job) != NULL;
    }
    return is_comparable(job) && job->plan->total > job->today.plan->total;
}

bool job_is_better(const tool_job *job) {
    if (!job->today.plan || job->today.overlaps) return true;
    if (job->memories.sized) return some_memory_shrinks(job);
    return !is_comparable(job) || job->plan->total < job->today.plan->total;
}

uint64_t job_bytes_now(const tool_job *job) {
    return job->memories.rows ? job->memories.now : job->today.plan->total;
}

uint64_t job_bytes_planned(const tool_job *job) {
    return job->memories.sized ? job->memories.planned : job->plan->total;
}

uint32_t job_op_outside(const tool_job *job) {
    const arenaut_program *program = job->document.program;
    return program && job->target ? arenaut_find_outside(program, job->target) : ARENAUT_NONE;
}

uint64_t job_bytes_bound(const tool_job *job) {
    return job->memories.sized ? job->memories.bound : job->plan->total_bound;
}

void job_close(tool_job *job) {
    free(job->memories.rows);
    arenaut_plan_free(job->plan);
    arenaut_plan_free(job->today.plan);
    arenaut_lowering_free(job->today.own_lowering);
    arenaut_document_free(&job->today.document);
    arenaut_problem_free(job->edited);
    arenaut_lowering_free(job->lowering);
    arenaut_scratch_sizes_free(&job->scratch, NULL);
    op_rules_free(&job->rules);
    planner_settings_free(&job->settings);
    arenaut_document_free(&job->document);
    if (!job->borrowed) input_close(&job->input);
    free(job->together);
}
