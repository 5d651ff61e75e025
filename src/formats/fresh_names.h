/* Fresh names, which a file has nowhere yet: a copy of "relu" is "relu__again_2", and a tile of it
 * "relu__tile_2". */
#ifndef ARN_FORMATS_FRESH_NAMES_H
#define ARN_FORMATS_FRESH_NAMES_H

#include "core/memory.h"
#include "core/name_tree.h"

typedef struct arn_fresh_names {
    arn_region *region;
    const char *mark; /* "__again_" or "__tile_" */
    arn_name_tree taken;
} arn_fresh_names;

/* Whether a name may equal such a fresh one: others need not be taken. */
bool arn_fresh_names_mind(const arn_fresh_names *fresh, const uint8_t *text, size_t length);
/* A name that the file has; it is copied. False if there is no memory. */
bool arn_fresh_names_take(arn_fresh_names *fresh, const uint8_t *text, size_t length);
/* The first free name with a number from *number on, which becomes that number; it ends in a NUL,
 * and lasts as long as the region. False if there is no memory. */
bool arn_fresh_names_make(arn_fresh_names *fresh, arn_name base, uint32_t *number, arn_name *name);

#endif
