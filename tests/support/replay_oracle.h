/* Slow and obvious: a replay that keeps an owner for every single byte. */
#ifndef SUPPORT_REPLAY_ORACLE_H
#define SUPPORT_REPLAY_ORACLE_H

#include <arenaut/check.h>

enum { ORACLE_POOLS = 2, ORACLE_BYTES = 256 };

/* Whether the program runs correctly with this placement. Pools and bytes past the limits above
 * count as outside. Does not return for programs whose loops nest deeply. */
bool oracle_accepts_replay(const arenaut_program *program, const arenaut_placement *placement,
                           const arenaut_replay_options *options);

#endif
