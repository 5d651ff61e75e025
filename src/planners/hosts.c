#include "planners/hosts.h"

/* Settles buffer `b`, whose own host is already settled. */
static void settle(const arenaut_problem *p, arn_hosts *hosts, uint32_t b) {
    const uint32_t up = p->inside[b];
    hosts->root[b] = b;
    hosts->host[b] = ARENAUT_NONE;
    hosts->delta[b] = 0;
    if (up == ARENAUT_NONE) return;
    const bool up_lies_somewhere =
        arenaut_problem_needs_memory(p, up) || hosts->host[up] != ARENAUT_NONE;
    if (!up_lies_somewhere) return;
    hosts->root[b] = hosts->root[up];
    hosts->host[b] = arenaut_problem_needs_memory(p, up) ? up : hosts->host[up];
    /* Both deltas lie within buffers that fit each other: no overflow. */
    hosts->delta[b] = hosts->delta[up] + p->inside_delta[b];
}

/* A dead host inside a live one keeps its distance from it, so that its own slices can add
 * theirs; a dead one in nothing starts its slices' distances afresh. */
bool arn_hosts_find(const arenaut_problem *p, arn_region *region, arn_hosts *hosts) {
    const arn_hosts none = {NULL, NULL, NULL};
    *hosts = none;
    if (!p->inside) return true;
    hosts->root = arn_region_allocate(region, p->n_buffers, sizeof *hosts->root);
    hosts->host = arn_region_allocate(region, p->n_buffers, sizeof *hosts->host);
    hosts->delta = arn_region_allocate(region, p->n_buffers, sizeof *hosts->delta);
    uint32_t *path = arn_region_allocate(region, p->n_buffers, sizeof *path);
    if (!hosts->root || !hosts->host || !hosts->delta || !path) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) hosts->root[b] = ARENAUT_NONE;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        uint32_t length = 0;
        for (uint32_t at = b; at != ARENAUT_NONE && hosts->root[at] == ARENAUT_NONE;
             at = p->inside[at]) {
            path[length++] = at;
        }
        while (length > 0) settle(p, hosts, path[--length]);
    }
    return true;
}

static bool lies_in(const arn_hosts *hosts, uint32_t b, uint32_t outer) {
    while (b != ARENAUT_NONE && b != outer) b = hosts->host[b];
    return b == outer;
}

bool arn_hosts_kin(const arn_hosts *hosts, uint32_t a, uint32_t b) {
    return hosts->host && (lies_in(hosts, a, b) || lies_in(hosts, b, a));
}
