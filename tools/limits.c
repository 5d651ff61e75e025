/* The limit is the system's on the data of a process: it holds for the planners' threads and
 * for all that a library does, wherever an allocation is made. */
#define _XOPEN_SOURCE 700

#include "limits.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

exit_code limit_memory(const tool_options *options) {
    struct rlimit limit;
    if (options->max_memory == NOT_GIVEN) return EXIT_FINE;
    if (getrlimit(RLIMIT_DATA, &limit) == 0) {
        const rlim_t wanted = (rlim_t)options->max_memory;
        if (limit.rlim_max != RLIM_INFINITY && wanted > limit.rlim_max) return EXIT_FINE;
        limit.rlim_cur = wanted;
        if (setrlimit(RLIMIT_DATA, &limit) == 0) return EXIT_FINE;
    }
    return complain(EXIT_IO, NULL, "--max-memory: this system does not limit it: %s",
                    strerror(errno));
}
