/* Filling in the caller's fault: a code, its subject, and two numbers, without text, so that
 * programs that never print one do not link the sentences (fault_text.c). */
#include "runtime/fault.h"

/* A status per reason, in bytes: the sentences are elsewhere, so that a small machine need
 * not hold them. */
static const uint8_t status_of[ARENAUT_FAULT_COUNT] = {
#define XX(name, status, text) ARENAUT_##status,
    ARENAUT_FAULT_MAP(XX)
#undef XX
};

arenaut_status arn_runtime_fault(arenaut_fault *fault, arenaut_fault_reason reason, uint32_t object,
                                 size_t found, size_t allowed) {
    if (fault) {
        fault->reason = reason;
        fault->object = object;
        fault->found = found;
        fault->allowed = allowed;
    }
    return (arenaut_status)status_of[reason];
}
