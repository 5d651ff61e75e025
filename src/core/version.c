/* The library's version at run time, for callers that were compiled against another header. */
#include <arenaut/version.h>

const char *arenaut_version(void) { return ARENAUT_VERSION; }
