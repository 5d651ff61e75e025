/* The arenas that exist, so that `free` can tell the owner of a block by its address. */
#ifndef PRELOAD_ARENAS_H
#define PRELOAD_ARENAS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `block` lies in an arena. A few comparisons, without a lock: a block that is out keeps
 * its arena from going away. */
bool arena_holds(const void *block);
/* Gives a block of an arena back to its tape, from any thread. */
void arena_release(void *block);
/* The size of a block of an arena that is out. */
size_t arena_block_size(const void *block);

#endif
