/* The size of --fit, in bytes or as a share of the bytes to reserve for the file as it is, and the
 * files that can be made to fit at all. */
#include <string.h>

#include "describe.h"
#include "fit.h"
#include "tool.h"

bool lever_is_on(const char *value) { return value && strcmp(value, "off") != 0; }

exit_code fit_check_obeyed(const tool_job *job) {
    const arenaut_pipeline *p = job->pipeline;
    if (p->document.program && arenaut_target_for_format(p->document.format->name)->plan_in_file)
        return EXIT_FINE;
    return complain(EXIT_INPUT, job->path, "--fit and --smallest try nothing for the format %s yet",
                    p->document.format->name);
}

bool fits_by_rematerializing(const tool_options *o) {
    return o->fit_text && o->recompute && strcmp(o->recompute, "on") == 0 && !lever_is_on(o->split);
}

/* Bytes to reserve without the flags that --fit decides, silently. */
static exit_code find_needed_as_it_is(const tool_options *given, reservation *need) {
    tool_options once = *given;
    tool_job job;
    once.fit_text = once.recompute = once.reorder = once.dump_after = NULL;
    once.dump_live = false;
    set_quiet(true);
    exit_code code = job_read(&job, given->files.items[0], &once);
    if (code == EXIT_FINE && fits_by_rematerializing(given)) {
        code = job_run_read(&job);
        if (code == EXIT_FINE) *need = reserved_for(&job, job.pipeline->figures.planned);
        if (code == EXIT_NEGATIVE) complain_infeasible(job.pipeline);
    } else if (code == EXIT_FINE) {
        code = fit_check_obeyed(&job);
        if (code == EXIT_FINE) code = job_prepare(&job);
        if (code == EXIT_FINE) code = job_find_baseline(&job);
        if (code == EXIT_FINE) *need = reserved_as_it_is(&job);
    }
    job_close(&job);
    set_quiet(given->quiet);
    return code;
}

static exit_code resolve_percent(const tool_options *given, uint64_t hundredths, uint64_t *bytes) {
    reservation need;
    if (given->files.n > 1 || given->folder) {
        return complain(EXIT_USAGE, NULL, "--fit %s: a percentage is of one file", given->fit_text);
    }
    const exit_code code = find_needed_as_it_is(given, &need);
    if (code != EXIT_FINE) return code;
    if (need.unknown) {
        return complain(EXIT_NEGATIVE, given->files.items[0],
                        "--fit %s: a share of an unknown number (%s); give bytes", given->fit_text,
                        need.unknown);
    }
    *bytes = need.bytes / 10000 * hundredths + need.bytes % 10000 * hundredths / 10000;
    if (*bytes > 0) return EXIT_FINE;
    return complain(EXIT_USAGE, given->files.items[0], "--fit %s: of %s bytes is less than one",
                    given->fit_text, with_commas(need.bytes).text);
}

exit_code refuse_idle_limits(const tool_options *o) {
    const bool fits = o->fit_text && !fits_by_rematerializing(o);
    const bool tiles = fits || o->smallest || lever_is_on(o->split);
    const bool adds = tiles || lever_is_on(o->recompute);
    if (o->max_macs != NOT_GIVEN && !tiles) {
        return complain(
            EXIT_USAGE, NULL,
            "--max-macs bounds multiplications that --split or --fit adds: neither is given");
    }
    if (o->max_ops != NOT_GIVEN && !adds) {
        return complain(
            EXIT_USAGE, NULL,
            "--max-ops bounds ops that --split, --recompute or --fit adds: none is given");
    }
    if (o->rounding && strcmp(o->rounding, "allow") == 0 && !tiles) {
        return complain(EXIT_USAGE, NULL,
                        "--rounding allows tiles, which --split or --fit makes, to round: neither "
                        "is given");
    }
    return EXIT_FINE;
}

exit_code resolve_fit(const tool_options *given, tool_options *resolved) {
    const char *text = given->fit_text;
    uint64_t hundredths;
    *resolved = *given;
    if (!text) return EXIT_FINE;
    if (parse_share(text, &hundredths)) return resolve_percent(given, hundredths, &resolved->fit);
    if (strchr(text, '%')) {
        return complain(EXIT_USAGE, NULL,
                        "--fit: '%s' is not a percentage such as 60%% or 62.5%%, above 0 and no "
                        "more than 100",
                        text);
    }
    if (!parse_size(text, &resolved->fit)) {
        return complain(EXIT_USAGE, NULL,
                        "--fit: '%s' is not a size such as 204800, 200K, 200KB, 200KiB or 0.2M (K "
                        "is 1024), nor a percentage such as 60%%",
                        text);
    }
    if (resolved->fit > 0) return EXIT_FINE;
    return complain(EXIT_USAGE, NULL, "--fit SIZE is at least a byte");
}
