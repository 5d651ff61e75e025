/* The lines of `plan` about one file, for people and issue reports. */
#include "planning.h"

#include <inttypes.h>

#include "describe.h"
#include "tool.h"

static void put_header(const arenaut_pipeline *p, const text_style *style, arenaut_text *out) {
    const arenaut_program *program = p->document.program;
    text_put(out, style->bold);
    text_put_clean(out, base_name(p->options.path));
    text_put(out, style->plain);
    if (program) {
        text_printf(out, "  %" PRIu32 " op%s, %" PRIu32 " tensors, %" PRIu32 " in the arena   %s",
                    program->n_ops, program->n_ops == 1 ? "" : "s", program->n_tensors,
                    planned_buffers(p->problem), p->target->name);
        describe_kernel_set(p, out);
        if (p->target->align > 1) text_printf(out, ", %" PRIu64 "-byte aligned", p->target->align);
    } else {
        text_printf(out, "  %" PRIu32 " buffer%s", p->problem->n_buffers,
                    p->problem->n_buffers == 1 ? "" : "s");
    }
    text_put(out, "\n");
}

static void put_arena_lines(const tool_job *job, arenaut_text *out) {
    const arenaut_pipeline *p = job->pipeline;
    const char *of = has_whole_arena(job) ? "  head   " : "  arena  ";
    const arenaut_plan *baseline = p->baseline.plan;
    const uint64_t planned = p->figures.planned;
    text_table table;
    table_begin(&table, "llrrl");
    if (baseline) {
        table_cell(&table, of);
        table_cell(&table, "now");
        table_cell(&table, with_commas(p->figures.now).text);
        table_cell(&table, in_units(p->figures.now).text);
        table_cellf(&table, "%s%s",
                    p->baseline.from_file ? "the plan in the file" : baseline->planner,
                    p->baseline.overlaps ? ", which is wrong" : "");
    }
    table_cell(&table, baseline ? "" : of);
    table_cell(&table, "planned");
    table_cell(&table, with_commas(planned).text);
    table_cell(&table, in_units(planned).text);
    arenaut_text quality = {0};
    if (baseline) text_printf(&quality, "%s  ", change_percent(p->figures.now, planned).text);
    describe_quality(p, &quality);
    table_cell(&table, quality.bytes);
    arenaut_text_free(&quality);
    table_end(&table, out, "", "");
}

static void put_pool_lines(const arenaut_pipeline *p, arenaut_text *out) {
    if (p->memories.n > 1) put_memories(p, "  ", out);
    if (p->memories.rows && p->options.n_pools == 0) return;
    put_pools(p, 11, out);
}

/* The largest buffers there; "explain" has the whole story. */
static exit_code put_peak_line(const arenaut_pipeline *p, arenaut_text *out) {
    enum { SHOWN = 3 };
    arenaut_peak peak;
    arenaut_error err = {0};
    if (arenaut_peak_find(p->problem, NULL, &peak, &err)) {
        return complain_error(p->options.path, &err);
    }
    if (peak.n_live) {
        text_put(out, "  peak       at ");
        describe_step(p, peak.step, out);
        text_printf(out, ": %" PRIu32 " buffer%s, ", peak.n_live, peak.n_live == 1 ? "" : "s");
        for (uint32_t i = 0; i < peak.n_live && i < SHOWN; i++) {
            text_printf(out, "%s%s", i ? " + " : "",
                        with_commas(p->problem->size[peak.live[i]]).text);
        }
        if (peak.n_live > SHOWN) text_printf(out, " + %" PRIu32 " more", peak.n_live - SHOWN);
        if (peak.shared_bytes) {
            text_printf(out, ", %s of them shared", with_commas(peak.shared_bytes).text);
        }
        text_put(out, "\n");
    }
    arenaut_peak_free(&peak, NULL);
    return EXIT_FINE;
}

const char *kept_text(const planning *p) {
    return !kind_is_model(p->kind)                       ? "the baseline"
           : p->job.options->files.n > 1 && p->job.label ? "copies of the inputs"
                                                         : "a copy of the input";
}

bool stays_as_it_is(const planning *p) {
    const arenaut_pipeline *pipeline = p->job.pipeline;
    const arenaut_baseline *baseline = &pipeline->baseline;
    if (!baseline->plan || baseline->overlaps) return false;
    if (p->output || p->one || p->keep) return p->stays || p->kept;
    return baseline->from_file && pipeline->target->plan_in_file &&
           pipeline->figures.now < pipeline->figures.planned;
}

reservation what_it_takes(const planning *p) {
    return stays_as_it_is(p) ? reserved_as_it_is(&p->job)
                             : reserved_for(&p->job, p->job.pipeline->figures.planned);
}

static void put_size_of_memory(bool apart, uint64_t size, arenaut_text *out) {
    if (apart && size != ARENAUT_UNLIMITED) text_printf(out, " of %s", with_commas(size).text);
}

/* All that the application has to reserve, where the runtime itself lives there too. */
static void put_reserve_line(const planning *made, arenaut_text *out) {
    const tool_job *job = &made->job;
    const arenaut_pipeline *p = job->pipeline;
    const bool stays = stays_as_it_is(made);
    arenaut_tensor_arena arena;
    if (!has_whole_arena(job)) return;
    if (stays ? find_arena_as_it_is(job, &arena)
              : find_whole_arena(job, p->figures.planned, &arena))
        return;
    const reservation need = what_it_takes(made);
    text_printf(out, "  reserve    %s%s bytes %s: ", need.unknown ? "at least " : "",
                with_commas(arena.total).text, need.apart ? "in two memories" : "of tensor_arena");
    put_memory(job->options, "head", out);
    text_printf(out, " %s", with_commas(need.apart ? need.need[0] : arena.head).text);
    put_size_of_memory(need.apart, need.size[0], out);
    text_put(out, ", ");
    put_memory(job->options, "tail", out);
    text_printf(out, " %s", with_commas(need.apart ? need.need[1] : arena.tail).text);
    put_size_of_memory(need.apart, need.size[1], out);
    if (need.unknown) text_printf(out, "; no more is known: %s", need.unknown);
    if (arena.head > arena.tensors) {
        text_printf(out, "; %s needs this head while it plans", p->target->name);
    }
    if (stays && p->baseline.from_file) text_put(out, ", with the plan in the file");
    text_put(out, "\n");
}

static void put_check_line(const arenaut_pipeline *p, const text_style *style, arenaut_text *out) {
    const uint32_t n = planned_buffers(p->problem);
    const char *alone = n == 1 ? "s" : "";
    text_printf(out, "  check      %sok%s: %" PRIu32 " buffer%s ", style->good, style->plain, n,
                n == 1 ? "" : "s");
    if (p->problem->n_separations) text_printf(out, "overlap%s no further than they may", alone);
    else text_printf(out, "lie%s apart%s", alone, stands_on_kernels(p) ? ", or over operands" : "");
    if (p->lowering) text_put(out, ", and a replay of the ops finds every byte in place");
    text_put(out, "\n");
}

static void put_written(const planning *p, arenaut_text *out) {
    const arenaut_baseline *baseline = &p->job.pipeline->baseline;
    const size_t before = p->job.inputs->size;
    text_put(out, "  written    ");
    text_put_clean(out, p->output);
    if (kind_is_model(p->kind) && p->written > before) {
        text_printf(out, "  (+%s bytes)", with_commas(p->written - before).text);
    }
    text_put(out, "\n");
    if (p->dead > 0) {
        text_printf(out,
                    "             %s bytes of it are unreferenced; --compact leaves them "
                    "out, which strip cannot undo\n",
                    with_commas(p->dead).text);
    }
    if (baseline->overlaps) {
        text_put(out, "  repaired   the plan in the file was wrong: ");
        text_put_clean(out, baseline->finding.msg);
        text_put(out, "\n");
    }
}

static void put_file(const planning *p, arenaut_text *out) {
    if (p->wrote && !is_standard_stream(p->output)) {
        put_written(p, out);
    } else if (p->kept && output_is_input(p->output, p->job.inputs)) {
        text_printf(out, "  written    nothing, the file stays as it is: %s\n", p->reason);
    } else if (p->kept) {
        text_put(out, "  written    ");
        text_put_clean(out, p->output);
        text_printf(out, "  (%s: %s)\n", kept_text(p), p->reason);
    }
}

static void put_outcome(const planning *p, const text_style *style, arenaut_text *out) {
    const tool_job *job = &p->job;
    const arenaut_pipeline *pipeline = job->pipeline;
    describe_split(pipeline, "  split      ", out);
    describe_recompute(pipeline, "  recompute  ", out);
    describe_order(pipeline, "  order      ", out);
    describe_outside(pipeline, "  outside    ", out);
    describe_copies(pipeline, "  copies     ", out);
    describe_kernels(pipeline, "  kernels    ", out);
    describe_refused(pipeline, "  runs       ", out);
    if (pipeline->result.scratch == ARENAUT_SCRATCH_UNKNOWN) {
        text_put(out,
                 "  scratch    unknown: some kernels want memory that the file does not tell; "
                 "see --scratch\n");
    }
    describe_compressed(pipeline, "  packed     ", out);
    put_reserve_line(p, out);
    if (job->options->verbose > 0) {
        const arenaut_stop why = pipeline->plan->stopped_by;
        text_printf(out, "  search     %s, %s%s after %s steps, %.3f s\n", pipeline->plan->planner,
                    why == ARENAUT_STOP_END ? "at its " : "stopped by ", arenaut_stop_name(why),
                    with_commas(pipeline->plan->effort).text, pipeline->result.seconds);
    }
    put_check_line(pipeline, style, out);
    put_file(p, out);
}

exit_code put_summary(const planning *p, const tool_options *options, arenaut_text *out) {
    const text_style style = style_for(options->color);
    const arenaut_pipeline *pipeline = p->job.pipeline;
    put_header(pipeline, &style, out);
    put_arena_lines(&p->job, out);
    put_pool_lines(pipeline, out);
    const exit_code code = put_peak_line(pipeline, out);
    put_outcome(p, &style, out);
    return code;
}
