/* The bridge between the runtime and the planners: for programs that link the whole library.
 *
 * Threads: one planner record serves one call at a time; different ones may be at work at
 * once. */
#ifndef ARENAUT_RUNTIME_PLAN_H
#define ARENAUT_RUNTIME_PLAN_H

#include <arenaut/planner.h>
#include <arenaut/result.h>
#include <arenaut/runtime_iteration.h>
#include <arenaut/runtime_program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Places the storages of an iteration with any planner, and has the checker look at the answer:
 * `place` of an iteration's config, with this as `place_context`. Zero-initialised it takes the C
 * library's memory, and plans for a live loop, in which `allocate` is blocked meanwhile, with
 * `mended-skyline`: the plan in force with the new sizes, if that is near the bound, else a pass of
 * the skyline; then of up to 13,000 values up to seven more in better orders, and of 2,000 and more
 * a limited amount of work at the places that are too high. `allocate` then mostly takes at
 * most twice the processor time that it takes with storage groups through the same call
 * (bench/replan.sh plans by both in turn; tests/pytest/test_replan.py counts instructions).
 * Arenas are mostly within 2 % of the bound, those of groups 20 % and more above it. With time
 * before the first run, or one plan for many runs, point `options` to zeroed ones: `auto` with its
 * default effort, which may search for seconds; planners that are asked for plan as if for the
 * first time. The message of a failure is in `error`. */
typedef struct arenaut_iteration_planner {
    const arenaut_plan_options *options; /* NULL: those for a live loop */
    const arenaut_allocator *allocator;  /* NULL: the C library */
    arenaut_error error;
    uint64_t lower_bound; /* of the last plan */
    arenaut_quality quality;
    uint64_t effort; /* search steps that it took */
} arenaut_iteration_planner;

arenaut_status arenaut_iteration_place(void *planner, const arenaut_placing *placing);

/* The static program of a plan: of a program's tensors where the result has one, else of the
 * problem's buffers. It keeps nothing of the result. Free it with _free. TOO_LARGE for sizes that
 * this machine cannot address; REFUSED without a plan, or for one that is infeasible. */
arenaut_status arenaut_static_program_new(const arenaut_result *result,
                                          const arenaut_allocator *allocator,
                                          arenaut_static_program **out, arenaut_error *err);
/* Only for results of the two calls here. NULL is fine. */
void arenaut_static_program_free(arenaut_static_program *program);

/* The static program of a file that holds a plan. Of a plan JSON or a solved CSV the plan is
 * checked first (REJECTED); the fingerprint is that of its problem. Of a model (`.tflite`, `.pte`,
 * program JSON) the tensors lie at the file's places, unchecked ('arenaut check' checks them),
 * memory k of every method is pool k, on the device that the file says (BAD_INPUT if methods or its
 * tensors disagree), and the fingerprint is that of the program. REFUSED for files without a plan,
 * else the errors of arenaut_read. */
arenaut_status arenaut_static_program_read(const uint8_t *data, size_t size,
                                           const arenaut_allocator *allocator,
                                           arenaut_static_program **out, arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
