/* The runtime, all of it: plans that drive programs. It stands alone: its headers
 * (device.h, error.h, runtime*.h) and the files in src/runtime/, with src/core/number_set.h,
 * need nothing else of arenaut, no heap and no C library but for memcpy and the like.
 * runtime_plan.h, which brings in the planners, is not part of it. See docs/runtime.md. */
#ifndef ARENAUT_RUNTIME_H
#define ARENAUT_RUNTIME_H

#include <arenaut/runtime_device.h>
#include <arenaut/runtime_fault.h>
#include <arenaut/runtime_graph.h>
#include <arenaut/runtime_iteration.h>
#include <arenaut/runtime_memory.h>
#include <arenaut/runtime_program.h>

#endif
