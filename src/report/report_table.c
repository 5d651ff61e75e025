/* The table of reports, and runs of one. The plan that a report needs is checked for here, once for
 * all. */
#include <arenaut/report.h>

#include "core/fail.h"
#include "core/table.h"

#define REPORT(id) extern const arenaut_report arn_report_##id;
#include "report/reports.def"
#undef REPORT

static const arenaut_report *const all[] = {
#define REPORT(id) &arn_report_##id,
#include "report/reports.def"
#undef REPORT
};

ARN_TABLE_LOOKUPS(report)

arenaut_status arenaut_report_emit(const arenaut_report *report, const arenaut_result *result,
                                   const arenaut_report_options *options, arenaut_sink sink,
                                   const arenaut_allocator *allocator, arenaut_error *err) {
    arenaut_report_options chosen = {0};
    if (options) chosen = *options;
    if (chosen.width == 0) chosen.width = 80;
    if (chosen.width > ARENAUT_REPORT_MAX_WIDTH) chosen.width = ARENAUT_REPORT_MAX_WIDTH;
    const bool planned = result->plan && result->plan->quality != ARENAUT_INFEASIBLE;
    if (report->needs_plan && !planned) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "report '%s' needs a plan, and there is none",
                        report->name);
    }
    return report->emit(result, &chosen, sink, allocator, err);
}
