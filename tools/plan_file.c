/* A plan of one file: from reading through the check of the output to the outcome. The library
 * decides whether a plan may replace the old one; the reasons are worded here. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "planning.h"
#include "what_if.h"

/* A plan that a model cannot express is a wrong request, no reason to keep the old one. */
static exit_code refuse_in_model(const planning *p, arenaut_outcome outcome) {
    if (outcome == ARENAUT_OUTCOME_IO_ELSEWHERE) {
        return complain(EXIT_USAGE, p->output,
                        "--no-alloc-io cannot be put into a model: its "
                        "runtime keeps inputs and outputs in the arena");
    }
    if (outcome == ARENAUT_OUTCOME_NOT_OBEYED) {
        const arenaut_format *format = p->job.pipeline->document.format;
        return complain(EXIT_USAGE, p->output,
                        "%s obeys no plan inside a model: write a .json or "
                        "a .h%s%s%s",
                        p->job.pipeline->target->name,
                        format->holds_order ? ", or the order of its ops with --reorder on" : "",
                        format->holds_repeats ? ", or rematerialized ops with --recompute on" : "",
                        format->holds_tiles ? ", or tiles of its ops with --split on" : "");
    }
    if (outcome == ARENAUT_OUTCOME_POOLS && p->job.options->share) {
        return complain(EXIT_USAGE, p->output,
                        "with --pool methods cannot work in the same memories: state that they "
                        "share has to have one of its own");
    }
    if (outcome == ARENAUT_OUTCOME_POOLS) {
        return complain(EXIT_USAGE, p->output,
                        "%s plans in one arena, and a plan in %" PRIu32
                        " pools would not run as stated: write a .json or a .h",
                        p->job.pipeline->target->name, p->job.pipeline->problem->n_pools);
    }
    return EXIT_FINE;
}

const char *planning_reason(const arenaut_pipeline *p, arenaut_outcome outcome) {
    switch (outcome) {
        case ARENAUT_OUTCOME_OUTSIDE:
            return "results of TFLM_DECODE may lie outside of the arena, as the application "
                   "decides; offsets in the file would say otherwise";
        case ARENAUT_OUTCOME_FOREIGN:
            return p->baseline.overlaps
                       ? "the file holds another tool's plan; it is wrong, and -f replaces it"
                       : "the file holds another tool's plan, which -f replaces";
        case ARENAUT_OUTCOME_MEMORY_GROWS: return "a memory of the file would grow";
        case ARENAUT_OUTCOME_LARGER:
            return p->baseline.from_file ? "the plan in the file needs less"
                   : p->rewrite && !p->target->plan_in_file
                       ? "the runtime needs less for the file as it is, and -f writes the new order"
                       : "the runtime needs less for the file as it is";
        case ARENAUT_OUTCOME_HELD: return "the file holds this plan already";
        case ARENAUT_OUTCOME_NO_SMALLER:
            return !p->target->plan_in_file ? "its ops stay in their order"
                   : p->memories.rows       ? "the plan in the file needs no more"
                   : p->result.scratch == ARENAUT_SCRATCH_UNKNOWN
                       ? "the tensors alone need no less than in the file as it is, and scratch is "
                         "unknown"
                       : "the runtime needs no more for the file as it is";
        case ARENAUT_OUTCOME_SCRATCH_UNKNOWN:
            return "with the kernels' scratch, which is unknown, it could need more than the file "
                   "as it is; "
                   "give --scratch, or -f";
        default: return NULL;
    }
}

exit_code planning_write_baseline(planning *p, exit_code (*write)(planning *p)) {
    arenaut_result *result = &p->job.pipeline->result;
    const arenaut_result made = *result;
    arenaut_memory *memories =
        made.n_memories > 0 ? must_allocate(made.n_memories, sizeof *memories) : NULL;
    for (size_t i = 0; i < made.n_memories; i++) {
        memories[i] = made.memories[i];
        memories[i].planned = memories[i].now;
    }
    incumbent_of(&p->job, result);
    result->baseline = made.baseline;
    result->memories = memories;
    const exit_code code = write(p);
    *result = made;
    free(memories);
    return code;
}

static exit_code write_to_output(planning *p) {
    return write_output(&p->job, p->kind, NULL, p->output, &p->written);
}

/* After exit 0 the output exists, even if the new plan is not written: a model is copied as it is,
 * and otherwise the baseline is written, if it places the same buffers. */
static exit_code keep_what_is(planning *p) {
    const arenaut_pipeline *pipeline = p->job.pipeline;
    exit_code code;
    if (kind_is_model(p->kind)) {
        code = copy_input(p->job.inputs, p->output, p->job.options->force);
    } else if (pipeline->baseline.shares) {
        return complain(
            EXIT_NEGATIVE, p->job.path,
            "nothing is written to %s: the plan in the file needs less, and lets values "
            "share memory as only its maker can know to be safe",
            p->output);
    } else if (pipeline->baseline.problem == pipeline->problem) {
        code = planning_write_baseline(p, write_to_output);
    } else {
        return complain(
            EXIT_NEGATIVE, p->job.path,
            "nothing is written to %s: with these flags %s bytes are needed, and %s without",
            p->output, with_commas(pipeline->figures.planned).text,
            with_commas(pipeline->figures.now).text);
    }
    p->kept = code == EXIT_FINE;
    return code;
}

exit_code planning_find_reason(planning *p, bool into_model) {
    const arenaut_pipeline *pipeline = p->job.pipeline;
    arenaut_outcome outcome;
    arenaut_error err = {0};
    if (arenaut_pipeline_outcome(pipeline, into_model, p->job.options->force, &outcome, &err)) {
        return complain_error(p->job.path, &err);
    }
    p->reason = p->keep ? p->keep : planning_reason(pipeline, outcome);
    return refuse_in_model(p, outcome);
}

/* The contract, which is the library's: never larger than the baseline, never in place of another
 * tool's plan unless asked, and a model is not rewritten without gain. */
static exit_code write_plan(planning *p) {
    const bool into_model = kind_is_model(p->kind);
    const arenaut_pipeline *pipeline = p->job.pipeline;
    arenaut_error err = {0};
    exit_code code = planning_find_reason(p, into_model);
    if (code != EXIT_FINE) return code;
    if (p->reason) return keep_what_is(p);
    code = write_to_output(p);
    p->wrote = code == EXIT_FINE;
    if (p->wrote && into_model && pipeline->rewrite &&
        arenaut_pipeline_count_dead(pipeline, &p->dead, &err) != ARENAUT_OK) {
        return complain_error(p->job.path, &err);
    }
    return code;
}

/* Names of files in a folder need not imply a format: they keep their format and, if that cannot
 * hold a plan, get one beside them. */
static exit_code choose_kind(planning *p) {
    const arenaut_format *own = p->job.pipeline->document.format;
    if (!p->job.options->folder) return kind_for_path(&p->job, p->output, &p->kind);
    p->kind = (output_kind){own, NULL};
    if (goes_into_model(&p->job) || (own->write && !p->job.pipeline->document.program)) {
        return EXIT_FINE;
    }
    p->renamed = must_allocate(strlen(p->output) + sizeof ".plan.json", 1);
    strcat(strcpy(p->renamed, p->output), ".plan.json");
    p->output = p->renamed;
    p->kind.format = arenaut_format_find("plan-json");
    return EXIT_FINE;
}

exit_code planning_check_output(planning *p) {
    if (!p->output) return EXIT_FINE;
    const exit_code code = choose_kind(p);
    if (code != EXIT_FINE) return code;
    const exit_code refused = check_replaced(p->job.inputs, p->output, p->kind);
    if (refused != EXIT_FINE) return refused;
    return output_check(p->output, p->job.options->force, kind_is_model(p->kind));
}

/* A plan that misses its --fit is not written. */
static exit_code check_fit(const planning *p) {
    const arenaut_pipeline *pipeline = p->job.pipeline;
    const uint64_t size = p->job.options->fit;
    if (size == NOT_GIVEN) return EXIT_FINE;
    const reservation need = what_it_takes(p);
    if (judge_budget(&need, size) == BUDGET_KEPT) return EXIT_FINE;
    const arenaut_recomputed *r = &pipeline->recomputed;
    const reservation anew = reserved_for(&p->job, pipeline->figures.planned);
    if (stays_as_it_is(p) && judge_budget(&anew, size) == BUDGET_KEPT) {
        return complain(EXIT_NEGATIVE, p->job.path,
                        "a plan was found that needs %s bytes, but the file stays as it is, and "
                        "needs %s%s",
                        with_commas(anew.bytes).text, need.unknown ? "at least " : "",
                        with_commas(need.bytes).text);
    }
    if (r->known && r->floor > size) {
        return complain(EXIT_NEGATIVE, p->job.path,
                        "nothing fits %s bytes: any rematerialization needs at least %s (proven)",
                        with_commas(size).text, with_commas(r->floor).text);
    }
    return complain(EXIT_NEGATIVE, p->job.path,
                    "no plan of %s bytes was found%s: this one needs %s%s", with_commas(size).text,
                    need.apart ? " that keeps both memories" : "", need.unknown ? "at least " : "",
                    with_commas(need.bytes).text);
}

/* Whether a model stays as it is where it would be written. */
static exit_code find_whether_it_stays(planning *p) {
    arenaut_outcome outcome;
    arenaut_error err = {0};
    if (arenaut_pipeline_outcome(p->job.pipeline, true, p->job.options->force, &outcome, &err)) {
        return complain_error(p->job.path, &err);
    }
    p->stays = p->keep || planning_reason(p->job.pipeline, outcome);
    return EXIT_FINE;
}

exit_code planning_make(planning *p, const char *path, const tool_options *options) {
    exit_code code = job_read(&p->job, path, options);
    if (code == EXIT_FINE) code = planning_check_output(p);
    if (code == EXIT_FINE) code = job_run_read(&p->job);
    if (code == EXIT_FINE && p->one) code = one_arena_check(p->one, &p->job);
    const bool into_model = p->output && kind_is_model(p->kind);
    if (code == EXIT_FINE && (p->keep || p->one || into_model)) code = find_whether_it_stays(p);
    if (code == EXIT_FINE) code = check_fit(p);
    if (code == EXIT_FINE && p->output) code = write_plan(p);
    return code;
}

exit_code planning_report(const planning *p, const tool_options *options, arenaut_text *out) {
    if (p->judged) return EXIT_FINE;
    if (p->output && is_standard_stream(p->output)) {
        if (p->kept) note(p->job.path, "written is %s: %s", kept_text(p), p->reason);
        return EXIT_FINE;
    }
    if (options->json || options->jsonl) {
        if (p->kept) note(p->job.path, "written is %s: %s", kept_text(p), p->reason);
        if (!is_merged(options)) begin_json_item(options, out->size, out);
        const reservation need = what_it_takes(p);
        return put_json_with(&p->job, &need, p->more, out);
    }
    return options->quiet ? EXIT_FINE : put_summary(p, options, out);
}
