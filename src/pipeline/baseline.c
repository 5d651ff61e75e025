/* Baseline: the plan of the file's runtime as it is. That is its own planner's answer or, if the
 * file holds a plan that the runtime obeys, that plan with open places filled in. If overrides
 * changed the program, the one that was read is lowered once more as the runtime does it. A new
 * plan is held against this one (write_model.c); it is checked like any other, and may be found
 * wrong. */
#include "stages/stages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/method_state.h"
#include "check/write_backs.h"
#include "core/checked.h"
#include "ir/lifetimes.h"
#include "ir/program.h"
#include "kernels/kernel_set.h"

/* True if the file's plan leaves the runtime nothing to place but scratch: then plain calls may be
 * apart in it. */
static bool is_placed(const arenaut_program *program) {
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        const bool left =
            tensor->cls == ARENAUT_CONSTANT || tensor->cls == ARENAUT_SCRATCH || tensor->bytes == 0;
        if (!left && tensor->given_offset == ARENAUT_UNPLACED) return false;
    }
    return true;
}

static bool holds_plan(const arenaut_pipeline *p) {
    const arenaut_program *program = p->document.program;
    return (p->target->plan_in_file || p->options.judge_given) &&
           (program->given != ARENAUT_GIVEN_NONE || arn_states_memories(program));
}

/* An exporter's alignment is its own affair, until its user demands one. */
static bool demands_alignment(const arenaut_pipeline_options *o) {
    return o->align || o->n_tensor_aligns || o->n_align_rules || arn_kernels_align(o->kernels);
}

/* Places that a file can state, or states, are held against all demands. */
static bool is_held(const arenaut_pipeline *p) {
    return holds_plan(p) || (p->target->plan_in_file && demands_alignment(&p->options));
}

static void align_tensors(const arenaut_pipeline_options *o, arenaut_program *program) {
    for (size_t i = 0; i < o->n_tensor_aligns; i++) {
        const arenaut_tensor_align *wanted = &o->tensor_aligns[i];
        for (uint32_t t = 0; t < program->n_tensors; t++) {
            arenaut_tensor *tensor = &program->tensors[t];
            if (!tensor->name || strcmp(tensor->name, wanted->tensor) != 0) continue;
            tensor->align = arn_max_u64(tensor->align, wanted->align);
        }
    }
}

/* Lowers the program as the runtime does, with the passes in `selection`; `overlap`: its ops'
 * overlaps count. The planned document serves if nothing was changed in it. */
static arenaut_status lower_as_runtime(arenaut_pipeline *p, const char *selection, bool overlap,
                                       arenaut_error *err) {
    struct arenaut_pipeline_store *store = p->store;
    const bool apart = store->calls_apart && is_placed(p->document.program);
    arenaut_lowering_options options = {.overlap = overlap, .apart = apart};
    const arenaut_target *target = store->runtime ? store->runtime : p->target;
    arenaut_baseline *baseline = &p->baseline;
    if (is_held(p)) {
        options.align = p->options.align;
        options.op_align = p->options.align_rules;
        options.n_op_align = p->options.n_align_rules;
        options.kernels = p->options.kernels;
    }
    arenaut_lowering_free(store->baseline_lowering);
    store->baseline_lowering = NULL;
    arenaut_document_free(&store->baseline_document);
    store->baseline_document = (arenaut_document){0};
    baseline->lowering = p->lowering;
    baseline->program = p->document.program;
    if (selection || store->runtime || arn_pipeline_overrides(&p->options) ||
        apart != store->calls_apart) {
        store->baseline_document.format = p->document.format;
        arenaut_status st = arn_program_copy(store->as_read, arn_pipeline_allocator(p),
                                             &store->baseline_document.program, err);
        arenaut_program *program = store->baseline_document.program;
        if (st == ARENAUT_OK) st = arn_pipeline_choose_method(p, program, err);
        if (st == ARENAUT_OK && is_held(p)) align_tensors(&p->options, program);
        if (st == ARENAUT_OK) st = arn_pipeline_run_passes(p, program, selection, false, err);
        if (st == ARENAUT_OK) {
            st = arenaut_lower(program, target, &options, arn_pipeline_allocator(p),
                               &store->baseline_lowering, err);
        }
        if (st != ARENAUT_OK) return st;
        baseline->lowering = store->baseline_lowering;
        baseline->program = program;
    }
    baseline->problem = baseline->lowering->problem;
    return ARENAUT_OK;
}

/* The file's place of a buffer; ARENAUT_UNPLACED if it leaves that open. */
static uint64_t given_offset(const arenaut_baseline *baseline, uint32_t buffer) {
    const arenaut_lowering *lowering = baseline->lowering;
    const uint32_t tensor = lowering->tensor[buffer];
    const uint64_t given = baseline->program->tensors[tensor].given_offset;
    return given == ARENAUT_UNPLACED ? given : given - lowering->offset[tensor];
}

/* The alignment that the runtime gives to a buffer whose place is left to it: it knows of no
 * demand. */
static uint64_t align_of_open(const arenaut_pipeline *p, uint32_t buffer) {
    const arenaut_problem *problem = p->baseline.problem;
    const bool scratch = arenaut_problem_class(problem, buffer) == ARENAUT_SCRATCH;
    return scratch || !demands_alignment(&p->options) ? arenaut_problem_align(problem, buffer)
                                                      : arn_max_u64(p->target->align, 1);
}

/* As the runtime does: given places are fixed, and the rest is planned around them. */
static void fix_given(void *context, uint32_t id, arenaut_buffer *buffer) {
    const arenaut_pipeline *p = context;
    const uint64_t given = given_offset(&p->baseline, id);
    if (given != ARENAUT_UNPLACED) buffer->fixed_offset = arenaut_at(given);
    else buffer->align = align_of_open(p, id);
}

/* The file's plan taken literally, overlaps and all; buffers without a place go on top. */
static void place_literally(const arenaut_pipeline *pipeline, arenaut_plan *plan) {
    const arenaut_baseline *baseline = &pipeline->baseline;
    const arenaut_problem *p = baseline->problem;
    uint64_t tops[ARENAUT_MAX_POOLS] = {0};
    for (uint32_t round = 0; round < 2; round++) { /* first the given places, then the rest */
        for (uint32_t b = 0; b < p->n_buffers; b++) {
            uint64_t offset = given_offset(baseline, b);
            if (!arenaut_problem_needs_memory(p, b)) continue;
            if ((offset == ARENAUT_UNPLACED) != (round == 1)) continue;
            const uint32_t pool = arn_lowest_pool(p, b); /* its only one, before pools are named */
            uint64_t *top = &tops[pool];
            if (round == 1) offset = arn_aligned(*top, align_of_open(pipeline, b));
            plan->pool[b] = pool;
            plan->offset[b] = offset;
            if (offset + p->size[b] > *top) *top = offset + p->size[b];
        }
    }
}

static arenaut_status literal_plan(const arenaut_pipeline *p, arenaut_plan **out,
                                   arenaut_error *err) {
    const arenaut_problem *problem = p->baseline.problem;
    arenaut_plan *plan = NULL;
    arenaut_status st = arenaut_plan_new(problem->n_buffers, problem->n_pools,
                                         arn_pipeline_allocator(p), &plan, err);
    if (st != ARENAUT_OK) return st;
    place_literally(p, plan);
    plan->planner = "file";
    st = arenaut_plan_measure(plan, problem, err);
    if (st == ARENAUT_OK) *out = plan;
    else arenaut_plan_free(plan);
    return st;
}

/* Runtimes do not refuse such an offset: they compute with it. Nothing sensible can. */
static arenaut_status check_given(const arenaut_program *program, arenaut_error *err) {
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        if (tensor->given_offset <= ARENAUT_SIZE_MAX || tensor->given_offset == ARENAUT_UNPLACED) {
            continue;
        }
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "the plan in the file puts tensor '%s' at offset -%" PRIu64
                        "; 0 or more is allowed, and -1 to leave it to the runtime",
                        tensor->name ? tensor->name : "(unnamed)", 0 - tensor->given_offset);
    }
    return ARENAUT_OK;
}

/* Fills in the places that the file leaves open, as the runtime will; literally if the runtime
 * would be given buffers that overlap. */
static arenaut_status obey_file(arenaut_pipeline *p, arenaut_plan **out, arenaut_error *err) {
    arenaut_problem *fixed = NULL;
    arenaut_status st = check_given(p->baseline.program, err);
    if (st != ARENAUT_OK) return st;
    st = arenaut_problem_copy(p->baseline.problem, NULL, 0, fix_given, p, arn_pipeline_allocator(p),
                              &fixed, err);
    if (st != ARENAUT_OK) return st;
    arn_budget budget = arn_pipeline_budget(p, 0);
    st = arn_pipeline_run_incumbent(p, &budget, p->target->incumbent, fixed, out, err);
    arenaut_problem_free(fixed);
    if (st == ARENAUT_NO_MEMORY || st == ARENAUT_STOPPED) return st;
    if (st == ARENAUT_OK) {
        (*out)->planner = "file";
        return st;
    }
    arenaut_plan_free(*out);
    *out = NULL;
    return literal_plan(p, out, err);
}

/* REJECTED, with the finding, unless each pinned tensor lies where it is wanted. */
static arenaut_status check_pins(const arenaut_pipeline *p, const arenaut_plan *plan,
                                 arenaut_finding *finding) {
    const arenaut_lowering *lowering = p->baseline.lowering;
    const arenaut_program *program = p->baseline.program;
    char store[24];
    for (size_t i = 0; i < p->options.n_pins; i++) {
        const arenaut_pin *pin = &p->options.pins[i];
        for (uint32_t t = 0; t < program->n_tensors; t++) {
            const uint32_t b = lowering->buffer[t];
            if (b == ARENAUT_NONE || plan->pool[b] >= p->problem->n_pools) continue;
            if (strcmp(arenaut_program_tensor_name(program, t, store), pin->tensor) != 0) continue;
            const uint64_t at = plan->offset[b] + lowering->offset[t];
            const char *pool = p->problem->pool[plan->pool[b]].name;
            const bool there = pool && strcmp(pool, pin->pool) == 0;
            if (there && (!pin->offset.given || pin->offset.bytes == at)) break;
            *finding = (arenaut_finding){
                .rule = there ? ARENAUT_RULE_FIXED : ARENAUT_RULE_POOL, .a = b, .b = ARENAUT_NONE};
            const int length = snprintf(finding->msg, sizeof finding->msg,
                                        "tensor '%s' lies at %s:%" PRIu64 ", and is pinned to %s",
                                        pin->tensor, pool ? pool : "(unnamed)", at, pin->pool);
            if (pin->offset.given && length > 0 && (size_t)length < sizeof finding->msg)
                snprintf(finding->msg + length, sizeof finding->msg - (size_t)length, ":%" PRIu64,
                         pin->offset.bytes);
            return ARENAUT_REJECTED;
        }
    }
    return ARENAUT_OK;
}

/* Replay has the last word on overlaps: it knows of aliases that a problem cannot state,
 * such as an accelerator's command that may read and write one block. */
static arenaut_status judge(arenaut_pipeline *p, arenaut_plan *plan, arenaut_finding *finding,
                            arenaut_error *err) {
    arenaut_baseline *baseline = &p->baseline;
    const bool stated = arn_states_memories(p->document.program);
    arenaut_status st =
        arenaut_check_plan(baseline->problem, plan, arn_pipeline_allocator(p), finding, err);
    const bool overlaps = st == ARENAUT_REJECTED && finding->rule == ARENAUT_RULE_OVERLAP;
    if (st == ARENAUT_REJECTED && !overlaps && !stated) return st;
    if (st == ARENAUT_REJECTED && finding->rule == ARENAUT_RULE_ALIGNMENT &&
        demands_alignment(&p->options) && !(baseline->problem->traits & ARENAUT_PROBLEM_TOKENS))
        return st;
    if (st != ARENAUT_OK && st != ARENAUT_REJECTED) return st;
    if (check_pins(p, plan, finding) == ARENAUT_REJECTED) return ARENAUT_REJECTED;
    baseline->shares = overlaps;
    st = stated ? arn_pipeline_set_given_arenas(p, plan, err) : ARENAUT_OK;
    if (st != ARENAUT_OK) return st;
    return arn_pipeline_replay(p, baseline->program, baseline->lowering, plan, stated, finding,
                               err);
}

static void keep_baseline(arenaut_pipeline *p, arenaut_plan *plan) {
    arenaut_plan_free(p->baseline.plan);
    p->baseline.plan = plan;
    p->result.baseline = plan;
}

static arenaut_status plan_of_file(arenaut_pipeline *p, arenaut_plan **plan, arenaut_error *err) {
    const bool stated = arn_states_memories(p->document.program);
    /* Whole tokens have no place beside fixed buffers: the plan is taken as it is. */
    const bool filled = !stated && p->target->plan_in_file && !p->target->tokens;
    return filled ? obey_file(p, plan, err) : literal_plan(p, plan, err);
}

/* Rights of the kernels that a plan in a file may have used, from none to all. */
typedef struct attempt {
    const char *passes;
    bool overlap;
} attempt;

static const attempt attempts[] = {{NULL, false}, {"inplace", false}, {"inplace,overlaps", true}};

/* The number of these worth trying. Overlaps are taken for right only if the plan's mark names the
 * kernels, or the user does: another tool's plan is as likely to be wrong. */
static size_t attempts_for(const arenaut_pipeline *p) {
    const bool named = p->options.kernels || p->options.overlap ||
                       (p->document.program->given == ARENAUT_GIVEN_OURS &&
                        p->document.program->given_kernels.name);
    if (!arenaut_pass_find("inplace") || arn_pipeline_unknown_kernels(p)) return 1;
    return named && p->kernels && arenaut_pass_find("overlaps") ? 3 : 2;
}

/* Holds the file's plan against one set of rights. *finding: the reason if it is REJECTED; with the
 * first attempt the plan is kept all the same. */
static arenaut_status try_file(arenaut_pipeline *p, const attempt *each, arenaut_finding *finding,
                               arenaut_error *err) {
    arenaut_baseline *baseline = &p->baseline;
    arenaut_plan *plan = NULL;
    arenaut_status st = lower_as_runtime(p, each->passes, each->overlap, err);
    if (st == ARENAUT_OK) st = plan_of_file(p, &plan, err);
    if (st != ARENAUT_OK) return st;
    st = judge(p, plan, finding, err);
    if (st == ARENAUT_OK || each == attempts) keep_baseline(p, plan);
    else arenaut_plan_free(plan);
    baseline->overlaps = st == ARENAUT_REJECTED;
    baseline->in_place = st == ARENAUT_OK && each != attempts;
    baseline->reaches = st == ARENAUT_OK && each->overlap;
    return st;
}

/* Our own plan, for kernels that this build does not know: right or wrong, it is not to be replaced
 * for that. */
static arenaut_status blame_unknown_kernels(arenaut_pipeline *p, arenaut_error *err) {
    return arn_pipeline_blame(p, err, "kernels",
                              "kernels: the plan in the file was made for the kernels '%s', which "
                              "this build does not know; give the file that describes them",
                              arn_pipeline_unknown_kernels(p));
}

/* Tries the file's plan, first as it stands, then with the operands that the runtime's kernels may
 * overwrite, and as far as they may reach into one: our own plans may need that. One that is right
 * but shares memory that the problem keeps apart does not show the runtime's places of scratch; the
 * next attempt may. */
static arenaut_status find_for_runtime(arenaut_pipeline *p, arenaut_error *err) {
    const size_t n = attempts_for(p);
    size_t right = n;
    arenaut_finding told = {0};
    p->baseline.from_file = true;
    for (size_t i = 0; i < n; i++) {
        arenaut_finding finding = {0};
        const arenaut_status st = try_file(p, &attempts[i], &finding, err);
        if (st == ARENAUT_OK && i > 0 && i + 1 < n && p->baseline.shares) {
            right = i;
            continue;
        }
        if (st != ARENAUT_REJECTED) return st;
        if (i == 0 && arn_pipeline_unknown_kernels(p)) return blame_unknown_kernels(p, err);
        if (i == 0) arn_pipeline_note_other_kernels(p);
        /* The walks of kernels that are named say more than that something overlaps. */
        if (i == 0 || attempts[i].overlap) told = finding;
    }
    if (right < n) return try_file(p, &attempts[right], &told, err);
    p->baseline.finding = told;
    return lower_as_runtime(p, NULL, false, err); /* the finding speaks of the program as it is */
}

/* As the file's plan is, where methods are to work in the same memories; *joint: it is right. */
static arenaut_status try_joint(arenaut_pipeline *p, bool *joint, arenaut_error *err) {
    arenaut_finding finding;
    arenaut_status st = lower_as_runtime(p, NULL, false, err);
    if (st == ARENAUT_OK) {
        st = arn_pipeline_check_joint(p, p->baseline.program, p->baseline.lowering, &finding, err);
    }
    if (st == ARENAUT_OK && finding.rule == ARENAUT_RULE_NONE) {
        st = find_for_runtime(p, err);
        finding = p->baseline.finding;
        *joint = st == ARENAUT_OK && !p->baseline.overlaps;
    }
    p->baseline.finding = finding;
    return st;
}

/* Where methods are to work in the same memories, they may do so already; else the plan is judged
 * with memories of each method's own. */
static arenaut_status find_in_file(arenaut_pipeline *p, arenaut_error *err) {
    bool joint = false;
    p->store->runtime = NULL;
    if (!p->store->apart) return find_for_runtime(p, err);
    arenaut_status st = try_joint(p, &joint, err);
    if (st != ARENAUT_OK || joint) return st;
    const arenaut_finding finding = p->baseline.finding;
    p->store->runtime = p->store->apart;
    st = find_for_runtime(p, err);
    p->baseline.apart = st == ARENAUT_OK && !p->baseline.overlaps;
    if (p->baseline.apart) p->baseline.finding = finding;
    return st;
}

/* The plan that the planner of `target` makes of a problem. Without one the new plan is still
 * right, and the report says that there is nothing to compare it with. */
static arenaut_status ask_incumbent(arenaut_pipeline *p, const arenaut_target *target,
                                    const arenaut_problem *problem, arenaut_error *err) {
    arenaut_plan *plan = NULL;
    arenaut_error why = {0};
    arenaut_finding finding;
    arn_budget budget = arn_pipeline_budget(p, 0);
    arenaut_status st =
        arn_pipeline_run_incumbent(p, &budget, target->incumbent, problem, &plan, &why);
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(err);
    if (st != ARENAUT_OK) {
        arenaut_plan_free(plan);
        arn_pipeline_note(p, "the baseline of %s is not known: %s", target->name,
                          why.msg[0] ? why.msg : "it finds no plan");
        return ARENAUT_OK;
    }
    keep_baseline(p, plan);
    st = arenaut_check_plan(problem, plan, arn_pipeline_allocator(p), &finding, err);
    if (st != ARENAUT_REJECTED) return st == ARENAUT_NO_MEMORY ? st : ARENAUT_OK;
    return arn_fail(err, ARENAUT_INTERNAL, 0, "the baseline of %s did not pass the checker: %s",
                    target->name, finding.msg);
}

/* The runtime's planner knows of no demand on places. Where it does not happen to keep them, only a
 * plan in the file does. */
static arenaut_status find_incumbent(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_problem *open = NULL;
    arenaut_finding finding;
    arenaut_status st = lower_as_runtime(p, NULL, false, err);
    if (st == ARENAUT_OK && is_held(p))
        st = arenaut_problem_copy(p->baseline.problem, NULL, 0, fix_given, p,
                                  arn_pipeline_allocator(p), &open, err);
    if (st == ARENAUT_OK) st = ask_incumbent(p, p->target, open ? open : p->baseline.problem, err);
    if (st == ARENAUT_OK && p->baseline.plan && p->target->plan_in_file) {
        if (open)
            st = arenaut_check_plan(p->baseline.problem, p->baseline.plan,
                                    arn_pipeline_allocator(p), &finding, err);
        if (st == ARENAUT_OK) st = check_pins(p, p->baseline.plan, &finding);
        p->store->misses_demand = st == ARENAUT_REJECTED;
    }
    arenaut_problem_free(open);
    return st == ARENAUT_REJECTED ? ARENAUT_OK : st;
}

/* A problem that a compiler states before it solves it: only such a format has a target. */
static arenaut_status find_compilers(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_target *target = arenaut_target_for_format(p->document.format->name);
    if (!target->format || p->store->overridden) return ARENAUT_OK;
    p->baseline.problem = p->problem;
    return ask_incumbent(p, target, p->problem, err);
}

/* That there is no plan is no solution. */
static bool holds_solution(const arenaut_pipeline *p) {
    return p->document.plan && p->document.plan->quality != ARENAUT_INFEASIBLE;
}

/* A solved problem holds the plan that is the baseline, as long as it is the same problem. */
static arenaut_status take_solution(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_baseline *baseline = &p->baseline;
    if (p->store->overridden) return ARENAUT_OK;
    keep_baseline(p, p->document.plan);
    p->store->solved = true;
    p->document.plan = NULL;
    baseline->problem = p->problem;
    const arenaut_status st = arenaut_check_plan(
        p->problem, baseline->plan, arn_pipeline_allocator(p), &baseline->finding, err);
    baseline->overlaps = st == ARENAUT_REJECTED;
    return baseline->overlaps ? ARENAUT_OK : st;
}

/* If it was stopped, nothing is said of the file's plan. */
static arenaut_status obey_in_time(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_error why = {0};
    const arenaut_status st = find_in_file(p, &why);
    if (st != ARENAUT_STOPPED) {
        if (st != ARENAUT_OK && err) *err = why;
        return st;
    }
    keep_baseline(p, NULL);
    p->baseline.from_file = p->baseline.overlaps = p->baseline.in_place = p->baseline.reaches =
        p->baseline.shares = false;
    arn_pipeline_note(p, "the baseline of %s is not known: %s", p->target->name, why.msg);
    return lower_as_runtime(p, NULL, false, err);
}

typedef arenaut_status state_check(const arenaut_program *, const arenaut_program *,
                                   const arenaut_allocator *, arenaut_finding *, arenaut_error *);

/* State that no plan can mend, since its exporter lost it, or the runtime may: notes. Where methods
 * are to work in one memory, plans keep state from all of them. */
static arenaut_status note_states(const arenaut_pipeline *p, arenaut_error *err) {
    state_check *const checks[] = {arn_check_write_backs, arn_check_method_state};
    const size_t n = p->options.share ? 1 : 2;
    if (!p->options.note || !arn_states_memories(p->store->as_read)) return ARENAUT_OK;
    for (size_t i = 0; i < n; i++) {
        arenaut_finding finding;
        arenaut_error why = {0};
        const arenaut_status st = checks[i](p->store->as_read, p->baseline.program,
                                            arn_pipeline_allocator(p), &finding, &why);
        if (st == ARENAUT_REJECTED) arn_pipeline_note(p, "%s", finding.msg);
        if (st == ARENAUT_NO_MEMORY) return arn_no_memory(err);
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_pipeline_find_baseline(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_PREPARED, ARN_PIPELINE_PREPARED, err);
    if (st != ARENAUT_OK) return st;
    if (holds_solution(p)) st = take_solution(p, err);
    else if (!p->document.program) st = find_compilers(p, err);
    else if (holds_plan(p)) st = obey_in_time(p, err);
    else st = find_incumbent(p, err);
    if (p->baseline.plan) p->figures.now = p->baseline.plan->total;
    const bool stated = p->document.program && p->target->plan_in_file;
    if (st == ARENAUT_OK && stated) st = arn_pipeline_list_memories(p, err);
    if (st == ARENAUT_OK && stated) st = note_states(p, err);
    return arn_pipeline_reach(p, ARN_PIPELINE_COMPARED, st);
}
