/* Common parts of arenaut.problem/1 and arenaut.plan/1: a plan's text is that of its problem, with
 * the place of each buffer. */
#ifndef ARN_FORMATS_PROBLEM_JSON_H
#define ARN_FORMATS_PROBLEM_JSON_H

#include <arenaut/format.h>

#include "formats/json_reader.h"
#include "formats/json_writer.h"

/* The parts in the text; ARN_JSON_NONE for those that are absent. */
typedef struct arn_problem_parts {
    uint32_t methods, pools, buffers, edges, reserved, traits, separations;
} arn_problem_parts;

/* Reads and finishes the problem. With `plan` not NULL, pools and buffers may (and else must not)
 * have members of a plan: *plan gets places, arenas and bounds; *measured, which may be NULL,
 * whether none of the arenas is stated. On failure the reader's status says
 * so, and nothing is handed out. */
void arn_problem_json_read_parts(arn_json_reader *r, const arn_problem_parts *parts,
                                 arenaut_problem **problem, arenaut_plan **plan, bool *measured);

/* Writes parts as members of an object that has begun. `plan` may be NULL. */
typedef struct arn_problem_json_printer {
    arn_writer writer;
    const arenaut_problem *problem;
    const arenaut_plan *plan;
    bool methods_by_name; /* each has one of its own */
} arn_problem_json_printer;

/* NO_MEMORY or OK. */
arenaut_status arn_problem_json_begin(arn_problem_json_printer *out, arenaut_sink sink,
                                      const arenaut_problem *problem, const arenaut_plan *plan,
                                      const arenaut_allocator *allocator, arenaut_error *err);
void arn_problem_json_put_methods(arn_problem_json_printer *out); /* the array alone */
void arn_problem_json_put_method_ref(arn_problem_json_printer *out, uint32_t method);
void arn_problem_json_put_pools(arn_problem_json_printer *out);
void arn_problem_json_put_traits(arn_problem_json_printer *out); /* nothing if there are none */
void arn_problem_json_put_buffers(arn_problem_json_printer *out);
void arn_problem_json_put_separations(arn_problem_json_printer *out); /* likewise */
void arn_problem_json_put_edges(arn_problem_json_printer *out);    /* nothing if there are none */
void arn_problem_json_put_reserved(arn_problem_json_printer *out); /* likewise */

#endif
