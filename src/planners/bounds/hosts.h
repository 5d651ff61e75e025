/* Hosts: the buffer that each slice really lies in.
 *
 * A host that needs no memory lies nowhere, so its slices are held to the next host out,
 * and are free if there is none. */
#ifndef ARN_PLANNERS_BOUNDS_HOSTS_H
#define ARN_PLANNERS_BOUNDS_HOSTS_H

#include <stdbool.h>

#include <arenaut/problem.h>

#include "core/memory.h"

typedef struct arn_hosts {
    uint32_t *root;  /* per buffer: the outermost host with memory; itself if it has none */
    uint32_t *host;  /* per buffer: the nearest host with memory; ARENAUT_NONE if none */
    uint64_t *delta; /* per buffer: bytes from the start of its root */
    /* The slices of a buffer, direct or not, have the numbers behind its own: buffer b is
     * number[b], and those in it are up to number[b] + family[b], which is not one. */
    uint32_t *number, *family;
} arn_hosts;

/* All arrays are NULL if the problem has no inside relations. False if there is no memory.
 * O(n). */
bool arn_hosts_find(const arenaut_problem *problem, arn_region *region, arn_hosts *hosts);

/* Whether one of the two lies inside the other, directly or through others. */
bool arn_hosts_nested(const arn_hosts *hosts, uint32_t a, uint32_t b);

#endif
