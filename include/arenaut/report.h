/* Reports: forms of a result for people and for other programs, in a table.
 *
 * Threads: reports may be written at once, also of the same result, which they only read. */
#ifndef ARENAUT_REPORT_H
#define ARENAUT_REPORT_H

#include <arenaut/result.h>
#include <arenaut/sink.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARENAUT_REPORT_MAX_WIDTH 1000

/* Another plan of the same input, or of another one, for reports that compare: the result of
 * another flag, the runtime's own plan, an earlier plan. */
typedef struct arenaut_variant {
    const char *name;  /* "results over operands" */
    const char *flags; /* "--inplace on"; NULL: it is none of the command's */
    uint64_t arena;
    const arenaut_result *result; /* NULL: only the arena is known, or the plan is the same */
    uint64_t reserve;             /* the arena with the runtime's own memory; 0: unknown */
    uint64_t saves; /* bytes fewer to reserve than without the flags; else fewer of the arena */
} arenaut_variant;

typedef struct arenaut_report_options {
    uint32_t width; /* columns for text; 0: 80; above ARENAUT_REPORT_MAX_WIDTH: that many */
    uint32_t top;   /* rows of "largest" tables, rectangles of a picture's pool; 0: the report's
                     * own default */
    bool color;     /* ANSI colour; nothing depends on it */
    bool unicode;   /* block characters; else plain ASCII */
    const arenaut_variant *variants; /* to compare with; NULL: none */
    uint32_t n_variants;
    arenaut_interval steps;               /* shown in a picture; empty: all of them */
    bool replan;                          /* the page has the planner in it */
    const arenaut_recompute_curve *curve; /* of peak against time, on the page; NULL: none */
    uint64_t reserved[4];                 /* zero; later versions of 1.x take their fields here */
} arenaut_report_options;

typedef struct arenaut_report {
    const char *name, *summary;
    const char *extension; /* ".svg"; NULL: text for a terminal */
    bool needs_plan;
    arenaut_status (*emit)(const arenaut_result *result, const arenaut_report_options *options,
                           arenaut_sink sink, const arenaut_allocator *allocator,
                           arenaut_error *err);
} arenaut_report;

size_t arenaut_report_count(void);
const arenaut_report *arenaut_report_at(size_t index);       /* NULL past the end */
const arenaut_report *arenaut_report_find(const char *name); /* NULL if unknown */

/* Runs one report; REFUSED if it needs a plan and there is none. `options` may be NULL. */
arenaut_status arenaut_report_emit(const arenaut_report *report, const arenaut_result *result,
                                   const arenaut_report_options *options, arenaut_sink sink,
                                   const arenaut_allocator *allocator, arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
