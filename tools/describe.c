/* A pipeline's result in words and in JSON: the quality of a plan, the step of the peak, the
 * witness if there is no plan, the facts of a trace. It states no more than is proven. Verbs
 * combine these parts; describe_rewrites.c has those about transforms, describe_memory.c and
 * remedies.c have theirs, and the plan itself is written as JSON by the library. */
#include "describe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/trace.h>

#include "whole_arena.h"

/* Ops are counted within their method, as the file and its viewers number them. */
void describe_step(const arenaut_pipeline *p, int64_t step, arenaut_text *out) {
    const arenaut_lowering *lowering = p->lowering;
    if (!lowering || step < 0 || step >= (int64_t)lowering->n_steps) {
        text_printf(out, "step %" PRId64, step);
        return;
    }
    const arenaut_step *at = &lowering->steps[step];
    const arenaut_program *program = p->document.program;
    if (at->op == ARENAUT_NONE) {
        text_put(out, "the start");
    } else {
        const uint32_t first = program->methods[at->method].first_op;
        text_printf(out, "op %" PRIu32 " ", at->op - first);
        text_put_clean(out, program->ops[at->op].name ? program->ops[at->op].name : "");
    }
    if (program->n_methods > 1) {
        text_put(out, " of ");
        const char *name = program->methods[at->method].name;
        if (name) text_put_clean(out, name);
        else text_printf(out, "method %" PRIu32, at->method);
    }
}

uint64_t largest_buffer(const arenaut_problem *problem) {
    uint64_t largest = 0;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (problem->size[b] > largest) largest = problem->size[b];
    }
    return largest;
}

uint32_t planned_buffers(const arenaut_problem *problem) {
    uint32_t n = 0;
    for (uint32_t b = 0; b < problem->n_buffers; b++) n += arenaut_problem_needs_memory(problem, b);
    return n;
}

/* Summary of the program's ops, under the kernel set of the plan. */
static arenaut_op_support support_of(const arenaut_pipeline *p, uint32_t *op) {
    const arenaut_program *program = p->document.program;
    return program ? arenaut_kernel_support_all(p->kernels, program, op) : ARENAUT_OP_UNKNOWN;
}

bool is_refused(const arenaut_pipeline *p) {
    uint32_t op;
    const arenaut_op_support support = support_of(p, &op);
    return support == ARENAUT_OP_REFUSED || support == ARENAUT_OP_MISSING;
}

/* "float32 with int8", of the first two operands. */
static void put_types(const arenaut_program *program, const arenaut_op *op, arenaut_text *out) {
    for (uint32_t k = 0; k < op->n_inputs && k < 2; k++) {
        if (op->inputs[k] == ARENAUT_NONE) continue;
        text_printf(out, "%s%s", k ? " with " : " of ",
                    arenaut_dtype_name(program->tensors[op->inputs[k]].dtype));
    }
}

/* "op 244 TILE is not in tflite-micro: the runtime refuses this model" */
static void put_refusal(const arenaut_pipeline *p, arenaut_text *out) {
    uint32_t at = 0;
    const arenaut_op_support support = support_of(p, &at);
    const arenaut_program *program = p->document.program;
    const arenaut_op *op = &program->ops[at];
    text_printf(out, "op %" PRIu32 " ", at - program->methods[op->method].first_op);
    text_put_clean(out, op->name ? op->name : "");
    if (support == ARENAUT_OP_MISSING) {
        text_printf(out, " is not in %s", p->target->name);
    } else {
        put_types(program, op, out);
        text_printf(out, " has no kernel in %s", p->target->name);
    }
    text_put(out, ": the runtime refuses this model");
}

void describe_refused(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    if (!is_refused(p)) return;
    text_printf(out, "%sno: ", head);
    put_refusal(p, out);
    text_put(out, "\n");
}

/* "runs" is false where the runtime refuses an op, and why; null where nothing is known. */
static void put_runs(const arenaut_pipeline *p, arenaut_text *out) {
    uint32_t op;
    const arenaut_op_support support = support_of(p, &op);
    arenaut_text why = {0};
    if (!p->kernels || !p->document.program) return;
    text_printf(out, ", \"runs\": %s",
                is_refused(p)                ? "false"
                : support == ARENAUT_OP_RUNS ? "true"
                                             : "null");
    if (!is_refused(p)) return;
    put_refusal(p, &why);
    text_put(out, ", \"refused\": ");
    text_put_json(out, why.bytes);
    arenaut_text_free(&why);
}

void describe_kernel_set(const arenaut_pipeline *p, arenaut_text *out) {
    if (!p->kernels) return;
    text_put(out, " with the kernels '");
    text_put_clean(out, p->kernels->name);
    text_put(out, "'");
}

void describe_kernels(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    const bool asked = p->kernels && (p->options.kernels || p->unmeasured);
    const arenaut_given_kernels *given = &p->result.given_kernels;
    if (!asked && !stands_on_kernels(p)) return;
    text_put(out, head);
    text_put_clean(out, p->kernels ? p->kernels->name : given->name);
    if (p->unmeasured || given->unmeasured)
        text_put(out, ", with rules that were only read in their source");
    text_put(out, stands_on_kernels(p) ? "; with others, results may be wrong\n" : "\n");
}

/* Says no more than is proven: a gap is an upper limit, and with scratch unknown even a plan
 * that meets the bound meets only that of the tensors. */
void describe_quality(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_plan *plan = p->plan;
    arenaut_text scope = {0};
    if (p->lowering) text_put(&scope, " for this order of ops");
    const char *kernels = arenaut_result_kernels_name(&p->result);
    if (kernels) {
        text_printf(&scope, "%s the kernels '", p->lowering ? " and" : " for");
        text_put_clean(&scope, kernels);
        text_put(&scope, "'");
    }
    const char *order = scope.size ? scope.bytes : "";
    if (plan->quality == ARENAUT_OPTIMAL) {
        text_printf(out, "proven minimal%s%s", order,
                    plan->spill ? " and the least use of slower pools"
                    : arenaut_problem_chooses_pools(p->problem) ? " with nothing in slower pools"
                                                                : "");
    } else if (plan->total == plan->total_bound && plan->spill > plan->spill_bound) {
        text_put(out, "at the lower bound");
    } else if (plan->total == plan->total_bound) {
        text_put(out, p->op_outside != ARENAUT_NONE ? "minimal, if all of them lie in the arena"
                                                    : "at the lower bound of the tensors alone");
    } else if (plan->total_bound == 0) {
        text_put(out, "how far from the minimum is not known");
    } else {
        text_printf(out, "at most %s above the minimum%s (bound %s)",
                    tenths_percent(plan->total - plan->total_bound, plan->total_bound).text, order,
                    with_commas(plan->total_bound).text);
        if (plan->stopped_by == ARENAUT_STOP_EFFORT) text_put(out, "; more --effort may help");
    }
    arenaut_text_free(&scope);
}

void describe_outside(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    const uint32_t at = p->op_outside;
    if (at == ARENAUT_NONE) return;
    const arenaut_op *op = &p->document.program->ops[at];
    const uint32_t first = p->document.program->methods[op->method].first_op;
    text_printf(out, "%sunknown: results of op %" PRIu32 " ", head, at - first);
    text_put_clean(out, op->name);
    text_printf(out,
                " may lie in other memory, if\n%*sthe application gives %s any; they are "
                "counted here as if they lay in the arena\n",
                (int)strlen(head), "", p->target->name);
}

void describe_compressed(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    const arenaut_program *program = p->document.program;
    uint32_t first = ARENAUT_NONE, n = 0;
    char store[24];
    for (uint32_t t = 0; program && t < program->n_tensors; t++) {
        if (!program->tensors[t].compressed) continue;
        if (first == ARENAUT_NONE) first = t;
        n++;
    }
    if (n == 0) return;
    text_printf(out, "%stensor '", head);
    text_put_clean(out, arenaut_program_tensor_name(program, first, store));
    text_put(out, "'");
    if (n > 1) text_printf(out, " and %" PRIu32 " more are", n - 1);
    else text_put(out, " is");
    text_printf(out,
                " compressed: a runtime that unpacks such asks for\n%*smemory at each op that "
                "reads one, which is not counted\n",
                (int)strlen(head), "");
}

void put_pools(const arenaut_pipeline *p, size_t width, arenaut_text *out) {
    const arenaut_plan *plan = p->plan;
    const int column = (int)width;
    for (uint32_t i = 0; i < plan->n_pools && plan->n_pools > 1; i++) {
        const arenaut_pool *pool = &p->problem->pool[i];
        text_printf(out, "  %-*s", column, i ? "" : "pools");
        text_put_clean(out, pool->name ? pool->name : "(unnamed)");
        text_printf(out, "  %s", with_commas(plan->arena[i]).text);
        if (pool->capacity != ARENAUT_UNLIMITED) {
            text_printf(out, " of %s", with_commas(pool->capacity).text);
        }
        text_put(out, "\n");
    }
    if (!arenaut_problem_chooses_pools(p->problem)) return;
    text_printf(out, "  %-*s%s byte-uses in slower pools", column, "spill",
                with_commas(plan->spill).text);
    if (plan->spill == plan->spill_bound) {
        text_put(out, plan->spill ? ", proven minimal" : "");
    } else {
        text_printf(out, "; at least %s", with_commas(plan->spill_bound).text);
        if (plan->stopped_by == ARENAUT_STOP_EFFORT) text_put(out, "; more --effort may help");
    }
    text_put(out, "\n");
}

/* If the user fixed offsets, more bytes would not help. */
static bool describe_fixed(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_witness *witness = &p->plan->witness;
    const arenaut_problem *problem = p->problem;
    for (uint32_t i = 0; i < witness->n_buffers; i++) {
        if (arenaut_problem_fixed_offset(problem, witness->buffers[i]) == ARENAUT_UNPLACED)
            return false;
    }
    if (witness->n_buffers > 1) {
        text_printf(out, " are fixed over one another, %s bytes too close",
                    with_commas(witness->bytes_over).text);
        return true;
    }
    const uint64_t at = arenaut_problem_fixed_offset(problem, witness->buffers[0]);
    const uint64_t align = arenaut_problem_align(problem, witness->buffers[0]);
    if ((at & (align - 1)) == 0) return false;
    text_printf(out, " is fixed at offset %s, no multiple of its alignment of %s",
                with_commas(at).text, with_commas(align).text);
    return true;
}

/* Flags may have given the program other ops or another order: of these not all are tried. */
static const char *scope_of_none(const arenaut_pipeline_options *o) {
    const bool open = o->reordering.on || o->recomputing.on || o->splitting.on;
    return open ? "there is no plan for these ops in this order" : "there is no plan";
}

/* Names a few buffers and how far they are over; the JSON has all of them. */
void describe_witness(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_witness *witness = &p->plan->witness;
    text_put(out, scope_of_none(&p->options));
    if (witness->n_buffers == 0) return;
    text_put(out, ": at ");
    describe_step(p, witness->step, out);
    text_put(out, witness->n_buffers == 1 ? " the buffer " : " the buffers ");
    enum { SHOWN = 4 };
    for (uint32_t i = 0; i < witness->n_buffers && i < SHOWN; i++) {
        char store[24];
        const uint32_t b = witness->buffers[i];
        text_put(out, i ? ", " : "");
        const char *name = arenaut_problem_buffer_name(p->problem, b, store);
        text_put_clean(out, shortened(name).text);
        text_printf(out, " (%s)", with_commas(p->problem->size[b]).text);
    }
    if (witness->n_buffers > SHOWN)
        text_printf(out, " and %" PRIu32 " more", witness->n_buffers - SHOWN);
    if (witness->bytes_over == 0) {
        text_put(out,
                 " are alive, and however buffers are divided among the pools, one of these is "
                 "too small here at the latest");
        return;
    }
    if (describe_fixed(p, out)) return;
    text_printf(out, " need%s %s byte%s more than ", witness->n_buffers == 1 ? "s" : "",
                with_commas(witness->bytes_over).text, witness->bytes_over == 1 ? "" : "s");
    if (witness->pool == ARENAUT_NONE) {
        text_put(out, "there are");
    } else {
        const arenaut_pool *pool = &p->problem->pool[witness->pool];
        text_put(out, "pool '");
        if (pool->name) text_put_clean(out, pool->name);
        else text_printf(out, "%" PRIu32, witness->pool);
        text_put(out, "' has");
        if (pool->align > 1) text_printf(out, " in multiples of %" PRIu64, pool->align);
    }
}

exit_code complain_infeasible(const arenaut_pipeline *p) {
    arenaut_text why = {0};
    describe_witness(p, &why);
    complain(EXIT_NEGATIVE, p->options.path, "%s", why.bytes);
    arenaut_text_free(&why);
    return EXIT_NEGATIVE;
}

/* Two memories, of which either may be too small. */
static exit_code check_memories(const char *about, const reservation *need) {
    static const char *const names[] = {"head", "tail"};
    exit_code code = EXIT_FINE;
    if (!need->apart) return code;
    for (int i = 0; i < 2; i++) {
        if (need->need[i] <= need->size[i]) continue;
        code = complain(
            EXIT_NEGATIVE, about, "the %s needs %s%s bytes, %s over the %s of its memory", names[i],
            need->unknown ? "at least " : "", with_commas(need->need[i]).text,
            with_commas(need->need[i] - need->size[i]).text, with_commas(need->size[i]).text);
    }
    if (code != EXIT_FINE || judge_budget(need, NOT_GIVEN) == BUDGET_KEPT) return code;
    return complain(EXIT_NEGATIVE, about, "whether its two memories are enough is not known: %s",
                    need->unknown);
}

static void put_memories_json(const reservation *need, arenaut_text *out) {
    static const char *const names[] = {"head", "tail"};
    text_put(out, ",\n  \"two_memories\": {");
    for (int i = 0; i < 2; i++) {
        text_printf(out, "%s\"%s\": {\"bytes\": ", i ? ", " : "", names[i]);
        if (need->size[i] == ARENAUT_UNLIMITED) text_put(out, "null");
        else text_put_json_u64(out, need->size[i]);
        text_put(out, ", \"needed\": ");
        text_put_json_u64(out, need->need[i]);
        text_put(out, "}");
    }
    text_printf(out, ", \"fits\": %s}", budget_verdict_json(need, NOT_GIVEN));
}

exit_code check_budget(const char *about, const tool_options *options, const reservation *need) {
    const uint64_t budget = options->budget;
    const char *least = need->unknown ? "at least " : "";
    const char *what = need->whole ? "tensor_arena" : "the arena";
    const exit_code apart = check_memories(about, need);
    if (apart != EXIT_FINE) return apart;
    if (budget == NOT_GIVEN) return EXIT_FINE;
    switch (judge_budget(need, budget)) {
        case BUDGET_KEPT: return EXIT_FINE;
        case BUDGET_EXCEEDED:
            return complain(EXIT_NEGATIVE, about, "%s needs %s%s bytes, %s over the budget of %s",
                            what, least, with_commas(need->bytes).text,
                            with_commas(need->bytes - budget).text, with_commas(budget).text);
        case BUDGET_UNKNOWN: break;
    }
    return complain(
        EXIT_NEGATIVE, about,
        "%s needs at least %s bytes; whether it keeps the budget of %s is not known: %s", what,
        with_commas(need->bytes).text, with_commas(budget).text, need->unknown);
}

/* One line: a newline is never inside a JSON string, and indentation follows only one. */
static void put_on_one_line(const arenaut_text *text, arenaut_text *out) {
    for (const char *at = text->bytes; at && *at;) {
        const size_t length = strcspn(at, "\n");
        text_printf(out, "%.*s", (int)length, at);
        at += length;
        at += strspn(at, "\n ");
    }
    text_put(out, "\n");
}

/* Memory of the runtime beside the planned tensors. */
static void put_head(const tool_job *job, arenaut_text *out) {
    arenaut_tensor_arena arena;
    if (!has_whole_arena(job)) return;
    if (find_whole_arena(job, job->pipeline->plan->total, &arena)) return;
    text_put(out, ", \"planning_bytes\": ");
    text_put_json_u64(out, arena.notes);
    text_put(out, ", \"head\": ");
    text_put_json_u64(out, arena.head);
    text_put(out, ", \"tail\": ");
    text_put_json_u64(out, arena.tail);
    text_printf(out, ", \"exact\": %s", arena.exact ? "true" : "false");
}

/* Figures of the tool beside the plan; a budget is compared with `needed`. Everything planned has
 * been checked by now. */
static void put_context(const tool_job *job, const reservation *needed, arenaut_text *out) {
    const arenaut_pipeline *p = job->pipeline;
    const bool feasible = p->plan->quality != ARENAUT_INFEASIBLE;
    if (p->target) {
        text_put(out, ",\n  \"runtime\": {\"target\": ");
        text_put_json(out, p->target->name);
        put_runs(p, out);
        if (feasible) put_head(job, out);
        text_put(out, "}");
    }
    if (feasible) put_copies_json(p, out);
    put_split_json(p, out);
    put_recompute_json(p, out);
    put_order_json(p, out);
    if (p->baseline.plan) {
        text_printf(out, ",\n  \"baseline_plan\": {\"from_file\": %s, \"wrong\": ",
                    p->baseline.from_file ? "true" : "false");
        text_put_json(out, p->baseline.overlaps ? p->baseline.finding.msg : NULL);
        text_put(out, "}");
    }
    if (needed->apart && feasible) put_memories_json(needed, out);
    if (job->options->budget != NOT_GIVEN && feasible) {
        const uint64_t budget = job->options->budget;
        text_put(out, ",\n  \"budget\": {\"bytes\": ");
        text_put_json_u64(out, budget);
        text_put(out, ", \"needed\": ");
        text_put_json_u64(out, needed->bytes);
        text_printf(out, ", \"fits\": %s}", budget_verdict_json(needed, budget));
    }
}

exit_code put_json(const tool_job *job, arenaut_text *out) {
    const reservation needed = reserved_needed(job);
    return put_json_with(job, &needed, NULL, out);
}

exit_code put_json_with(const tool_job *job, const reservation *needed, const char *more,
                        arenaut_text *out) {
    static const char end[] = "\n}\n";
    const arenaut_format *format = arenaut_format_find("plan-json");
    arenaut_text text = {0};
    arenaut_error err = {0};
    exit_code code = EXIT_FINE;
    if (!format || !format->write) return complain(EXIT_BUG, NULL, "this build cannot write JSON");
    if (format->write(&job->pipeline->result, arenaut_text_sink(&text), NULL, &err)) {
        code = complain_error(job->path, &err);
        arenaut_text_free(&text);
        return code;
    }
    text.size -= sizeof end - 1; /* the members below come before it */
    text.bytes[text.size] = '\0';
    put_context(job, needed, &text);
    text_put(&text, more ? more : "");
    text_put(&text, end);
    if (job->options->jsonl) {
        put_on_one_line(&text, out);
    } else {
        text_put(out, text.bytes);
    }
    arenaut_text_free(&text);
    return code;
}

/* A folder gives a list, even of a single file, and a shared arena is one more document. */
static bool is_list(const tool_options *options) {
    return options->json && (options->files.n > 1 || options->folder || options->one_arena);
}

void begin_json_item(const tool_options *options, size_t index, arenaut_text *out) {
    if (is_list(options)) text_put(out, index ? "," : "[");
}

void end_json_items(const tool_options *options, size_t n, arenaut_text *out) {
    if (is_list(options)) text_put(out, n ? "]\n" : "[]\n");
}

/* ---- traces ---- */

/* Facts of a trace beside its problem. The allocator's waste is the reserved minus the requested
 * bytes; it is given for tenths of the run, each at the moment of the greatest waste. */

/* Bytes that PyTorch's allocator would reserve; `known` is false if its replica cannot plan the
 * problem. */
typedef struct caching {
    bool known;
    uint64_t fixed, expandable;
} caching;

static exit_code find_caching(const tool_job *job, caching *found) {
    const arenaut_problem *problem = job->pipeline->problem;
    arenaut_error err = {0};
    arenaut_status st = arenaut_caching_reserve(problem, false, NULL, &found->fixed, &err);
    if (st == ARENAUT_OK) {
        st = arenaut_caching_reserve(problem, true, NULL, &found->expandable, &err);
    }
    found->known = st == ARENAUT_OK;
    return st == ARENAUT_OK || st == ARENAUT_REFUSED ? EXIT_FINE : complain_error(job->path, &err);
}

static uint64_t unused_at(const arenaut_trace *trace, uint32_t step) {
    const uint64_t asked = trace->asked[step], reserved = trace->reserved[step];
    return reserved > asked ? reserved - asked : 0;
}

/* The step in [first, end) at which most is reserved for nothing. */
static uint32_t worst_step(const arenaut_trace *trace, uint32_t first, uint32_t end) {
    uint32_t worst = first;
    for (uint32_t s = first + 1; s < end; s++) {
        if (unused_at(trace, s) > unused_at(trace, worst)) worst = s;
    }
    return worst;
}

/* `n` / `of` in tenths of a percent. */
static uint64_t per_mille(uint64_t n, uint64_t of) {
    return of == 0 ? 0 : (uint64_t)((double)n * 1000 / (double)of + 0.5);
}

static void put_unused(const arenaut_trace *trace, arenaut_text *out) {
    enum { PARTS = 10 };
    const uint32_t n = trace->n_requests, parts = n < PARTS ? n : PARTS;
    text_put(out, "  unused   ");
    for (uint32_t i = 0; i < parts; i++) {
        const uint32_t first = (uint32_t)((uint64_t)n * i / parts);
        const uint32_t end = (uint32_t)((uint64_t)n * (i + 1) / parts);
        const uint32_t worst = worst_step(trace, first, end);
        const uint64_t share = per_mille(unused_at(trace, worst), trace->reserved[worst]);
        text_printf(out, "%" PRIu64 " ", (share + 5) / 10);
    }
    text_printf(out, "%% of the reserved bytes, %s\n",
                parts == PARTS ? "a tenth of the run after the other" : "request by request");
}

static void put_reserved(const arenaut_trace *trace, arenaut_text *out) {
    if (!trace->reserved) return;
    const uint64_t asked = trace->most_asked.bytes, reserved = trace->most_reserved.bytes;
    text_printf(out, "  reserved at most %s bytes (%s)", with_commas(reserved).text,
                in_units(reserved).text);
    if (reserved > asked) {
        const uint64_t share = per_mille(reserved - asked, asked);
        text_printf(out, ", %" PRIu64 ".%" PRIu64 " %% more than was ever asked for", share / 10,
                    share % 10);
    }
    text_put(out, "\n");
    if (trace->n_requests > 0) put_unused(trace, out);
}

exit_code describe_trace(const tool_job *job, arenaut_text *out) {
    const arenaut_trace *trace = job->pipeline->document.trace;
    caching found = {0};
    if (!trace) return EXIT_FINE;
    const exit_code code = find_caching(job, &found);
    if (code != EXIT_FINE) return code;
    text_printf(out, "  asked    at most %s bytes (%s) at once, at step %" PRId64 " of %" PRIu32,
                with_commas(trace->most_asked.bytes).text, in_units(trace->most_asked.bytes).text,
                trace->most_asked.step, trace->n_requests);
    if (trace->n_held > 0)
        text_printf(out, "; %" PRIu32 " block%s never released", trace->n_held,
                    trace->n_held == 1 ? " is" : "s are");
    text_put(out, "\n");
    put_reserved(trace, out);
    if (found.known) {
        text_printf(out,
                    "  caching  PyTorch's allocator would reserve %s bytes, with expandable "
                    "segments %s\n",
                    with_commas(found.fixed).text, with_commas(found.expandable).text);
    }
    return EXIT_FINE;
}

static void put_peak(const char *name, const arenaut_trace_peak *peak, arenaut_text *out) {
    text_printf(out, ", \"%s\": {\"peak\": ", name);
    text_put_json_u64(out, peak->bytes);
    text_printf(out, ", \"step\": %" PRId64 "}", peak->step);
}

/* Step, requested bytes and reserved bytes, at a bounded number of steps. */
static void put_trace_curve(const arenaut_trace *trace, arenaut_text *out) {
    enum { POINTS = 100 };
    const uint32_t n = trace->n_requests, points = n < POINTS ? n : POINTS;
    text_put(out, ", \"curve\": [");
    for (uint32_t i = 0; i < points; i++) {
        const uint32_t first = (uint32_t)((uint64_t)n * i / points);
        const uint32_t end = (uint32_t)((uint64_t)n * (i + 1) / points);
        const uint32_t step = trace->reserved ? worst_step(trace, first, end) : first;
        text_printf(out, "%s[%" PRIu32 ", ", i ? ", " : "", step);
        text_put_json_u64(out, trace->asked[step]);
        if (trace->reserved) {
            text_put(out, ", ");
            text_put_json_u64(out, trace->reserved[step]);
        }
        text_put(out, "]");
    }
    text_put(out, "]");
}

exit_code put_trace_json(const tool_job *job, arenaut_text *out) {
    const arenaut_trace *trace = job->pipeline->document.trace;
    caching found = {0};
    if (!trace) return EXIT_FINE;
    const exit_code code = find_caching(job, &found);
    text_printf(out,
                ",\n  \"trace\": {\"events\": %" PRIu64 ", \"requests\": %" PRIu32
                ", \"held\": %" PRIu32,
                trace->n_events, trace->n_requests, trace->n_held);
    put_peak("asked", &trace->most_asked, out);
    if (trace->reserved) put_peak("reserved", &trace->most_reserved, out);
    if (found.known) {
        text_put(out, ", \"caching\": {\"fixed\": ");
        text_put_json_u64(out, found.fixed);
        text_put(out, ", \"expandable\": ");
        text_put_json_u64(out, found.expandable);
        text_put(out, "}");
    }
    put_trace_curve(trace, out);
    text_put(out, "}");
    return code;
}
