/* Runs a program as a runtime would: bytes that kernels read and write, branches taken or not,
 * loops that turn so often. It knows nothing of lifetimes, of the checker or of the passes.
 *
 * A byte holds a number that identifies its writer: a kernel mixes the bytes that it reads into
 * those that it writes, so a wrong byte changes all later ones. A kernel is as hostile as it may
 * be: it spoils its outputs and scratch before it reads operands that it did not promise to read
 * element by element first. */
#ifndef SUPPORT_FLOW_RUN_H
#define SUPPORT_FLOW_RUN_H

#include <arenaut/check.h>
#include <arenaut/program.h>

typedef struct flow_path {
    uint64_t seed; /* of the order of calls, the paths taken, and the inputs */
    uint32_t n_calls;
    bool keep_inputs; /* look at the inputs, too, when a method ends */
    bool late_carry;  /* a while op fills its outputs after it asked for the first time whether to
                       * turn, as tflite-micro does */
} flow_path;

typedef struct flow_event {
    uint32_t op; /* ARENAUT_NONE: the end of an entry */
    uint64_t read;
} flow_event;

enum { FLOW_EVENTS = 4000 };

typedef struct flow_trace {
    flow_event event[FLOW_EVENTS]; /* the reads, in order */
    uint32_t n_events;
    uint64_t results; /* of all calls */
    bool spoiled;     /* a byte was read that was never written */
    bool cut;         /* it ran for too long, or met an op that it does not know */
} flow_trace;

/* Runs entries, in an order that `path` says. `placement` NULL: every tensor has memory of its
 * own. False only if there is no memory. */
bool flow_run(const arenaut_program *program, const arenaut_placement *placement,
              const flow_path *path, flow_trace *trace);

/* Whether everything read was the same. *at gets the first event that differs. */
bool flow_same(const flow_trace *a, const flow_trace *b, uint32_t *at);

#endif
