/* --max-memory: a limit on this process. */
#ifndef TOOL_LIMITS_H
#define TOOL_LIMITS_H

#include "args.h"

/* From now on, memory past --max-memory cannot be had: whatever asks for it fails as if the
 * machine had no more, and the command ends with exit code 4. Inputs that are mapped do not
 * count. Does nothing without the flag. */
exit_code limit_memory(const tool_options *options);

#endif
