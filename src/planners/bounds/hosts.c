/* The forest of "inside" relations: follows them from each slice outwards to the host that has
 * memory, and numbers the slices of a host in one stretch (a preorder of the forest), so that "lies
 * inside, directly or not" is a comparison. O(n).
 *
 * A host without memory inside one that has some keeps its distance from it, so that its own slices
 * can add theirs; one that lies in nothing starts its slices' distances afresh. */
#include "planners/bounds/hosts.h"

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

/* Counts the slices of each buffer (its family, itself included) from the innermost outwards, and
 * hands out numbers from the outermost inwards. `order` has every buffer behind its host; `next` is
 * the first number that is still free in a buffer's family. */
static void number_families(arn_hosts *hosts, const uint32_t *order, uint32_t n, uint32_t *next) {
    uint32_t free_number = 0;
    for (uint32_t b = 0; b < n; b++) hosts->family[b] = 1;
    for (uint32_t i = n; i-- > 0;) {
        const uint32_t host = hosts->host[order[i]];
        if (host != ARENAUT_NONE) hosts->family[host] += hosts->family[order[i]];
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = order[i], host = hosts->host[b];
        uint32_t *at = host != ARENAUT_NONE ? &next[host] : &free_number;
        hosts->number[b] = *at;
        next[b] = *at + 1;
        *at += hosts->family[b];
    }
}

bool arn_hosts_find(const arenaut_problem *p, arn_region *region, arn_hosts *hosts) {
    const arn_hosts none = {NULL, NULL, NULL, NULL, NULL};
    *hosts = none;
    if (!p->inside) return true;
    uint32_t *path, *order;
    if (!ARN_REGION_ARRAYS(
            region, ARN_ARRAY(hosts->root, p->n_buffers), ARN_ARRAY(hosts->host, p->n_buffers),
            ARN_ARRAY(hosts->delta, p->n_buffers), ARN_ARRAY(hosts->number, p->n_buffers),
            ARN_ARRAY(hosts->family, p->n_buffers), ARN_ARRAY(path, p->n_buffers),
            ARN_ARRAY(order, p->n_buffers))) {
        return false;
    }
    uint32_t settled = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) hosts->root[b] = ARENAUT_NONE;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        uint32_t length = 0;
        for (uint32_t at = b; at != ARENAUT_NONE && hosts->root[at] == ARENAUT_NONE;
             at = p->inside[at]) {
            path[length++] = at;
        }
        while (length > 0) {
            settle(p, hosts, path[--length]);
            order[settled++] = path[length];
        }
    }
    number_families(hosts, order, settled, path);
    return true;
}

static bool lies_in(const arn_hosts *hosts, uint32_t b, uint32_t outer) {
    return hosts->number[b] - hosts->number[outer] < hosts->family[outer];
}

bool arn_hosts_nested(const arn_hosts *hosts, uint32_t a, uint32_t b) {
    return hosts->host && (lies_in(hosts, a, b) || lies_in(hosts, b, a));
}
