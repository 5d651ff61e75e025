/* For tests of the runtime: a call that must fail for a stated reason. */
#ifndef SUPPORT_FAULTS_H
#define SUPPORT_FAULTS_H

#include <arenaut/runtime_fault.h>

#include "support/test.h"

/* Uses the caller's `fault`, which keeps the numbers. */
#define assert_fault(call, status, why)                      \
    do {                                                     \
        fault = (arenaut_fault){0};                          \
        assert_int_equal(call, ARENAUT_##status);            \
        assert_int_equal(fault.reason, ARENAUT_FAULT_##why); \
    } while (0)

/* Fails with the fault's sentence rather than with a bare number. */
#define assert_fine(call)                                                                          \
    do {                                                                                           \
        char assert_fine_text[160];                                                                \
        if ((call) != ARENAUT_OK)                                                                  \
            fail_msg("%s", arenaut_fault_text(&fault, assert_fine_text, sizeof assert_fine_text)); \
    } while (0)

#endif
