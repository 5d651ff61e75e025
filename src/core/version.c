#include <arenaut/version.h>

const char *arenaut_version(void) { return ARENAUT_VERSION; }
