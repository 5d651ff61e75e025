/* All of arenaut; each concept's header can also be included alone. */
#ifndef ARENAUT_H
#define ARENAUT_H

#include <arenaut/allocator.h>
#include <arenaut/certificate.h>
#include <arenaut/check.h>
#include <arenaut/dialect.h>
#include <arenaut/cost.h>
#include <arenaut/error.h>
#include <arenaut/expr.h>
#include <arenaut/format.h>
#include <arenaut/kernels.h>
#include <arenaut/lowering.h>
#include <arenaut/order.h>
#include <arenaut/pass.h>
#include <arenaut/pipeline.h>
#include <arenaut/plan.h>
#include <arenaut/planner.h>
#include <arenaut/problem.h>
#include <arenaut/program.h>
#include <arenaut/rematerialization.h>
#include <arenaut/report.h>
#include <arenaut/result.h>
#include <arenaut/rewrite.h>
#include <arenaut/runtime.h>
#include <arenaut/runtime_allocators.h>
#include <arenaut/runtime_plan.h>
#include <arenaut/sink.h>
#include <arenaut/tape.h>
#include <arenaut/target.h>
#include <arenaut/tensor_arena.h>
#include <arenaut/tokens.h>
#include <arenaut/trace.h>
#include <arenaut/version.h>

#endif
