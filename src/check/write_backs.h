/* A check of exported programs: new values of states that never reach their state. */
#ifndef ARN_CHECK_WRITE_BACKS_H
#define ARN_CHECK_WRITE_BACKS_H

#include <arenaut/check.h>

/* Looks for new values of states that an exporter lost, in a program whose file places its tensors:
 * a state that is read, by any name, behind the op that copies its new value into it
 * (aten::copy_; exporters copy last), and a state with a qualified name, as only those have that
 * change, which no op of any method writes. `read` is the program as its reader made it, `program`
 * the same behind passes. The ops alone are a correct program: that another one was meant is
 * likely, and not proven. Returns as arenaut_check_plan, with the rule STALE. O(arguments + names ·
 * log). */
arenaut_status arn_check_write_backs(const arenaut_program *read, const arenaut_program *program,
                                     const arenaut_allocator *allocator, arenaut_finding *finding,
                                     arenaut_error *err);

#endif
