/* The version of the headers, and of the library that was linked.
 *
 * Threads: may be called at any time. */
#ifndef ARENAUT_VERSION_H
#define ARENAUT_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define ARENAUT_VERSION "1.0.0-rc1"

const char *arenaut_version(void); /* static */

#ifdef __cplusplus
}
#endif
#endif
