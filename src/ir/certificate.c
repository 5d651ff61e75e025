/* certificate: certificates as data, and the digest that ties one to its problem. The digest mixes
 * everything about a problem that a proof may rest on, in the order of its arrays, with the
 * finalizer of splitmix64; names, hints and classes are left out. O(problem). Certificates are made
 * in planners/exact/prove.c and followed in check/certificate/check_certificate.c. */
#include <arenaut/certificate.h>

#include "core/memory.h"
#include "ir/certificate.h"

const char *arn_proof_rule_name(arenaut_proof_rule rule) {
    switch (rule) {
#define XX(name, text) \
    case ARENAUT_PROOF_##name: return text;
        ARENAUT_PROOF_MAP(XX)
#undef XX
        default: return NULL;
    }
}

void arenaut_certificate_free(arenaut_certificate *certificate) {
    if (!certificate) return;
    const arenaut_allocator allocator = certificate->allocator;
    ARN_RELEASE(&allocator, certificate->line, certificate);
}

void arn_remat_certificate_free(arenaut_remat_certificate *c) {
    if (!c) return;
    const arenaut_allocator allocator = c->allocator;
    ARN_RELEASE(&allocator, c->runs, c->time.flows, c->time.cases, c->floor.flows, c->floor.cases,
                c);
}

static uint64_t mix(uint64_t digest, uint64_t value) {
    uint64_t z = (digest ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    return z ^ (z >> 27);
}

static uint64_t mix_buffer(uint64_t digest, const arenaut_problem *p, uint32_t b) {
    const uint32_t n = arenaut_problem_lifetime_count(p, b);
    const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
    digest = mix(digest, p->size[b]);
    digest = mix(digest, arenaut_problem_align(p, b));
    digest = mix(digest, arenaut_problem_pools(p, b));
    digest = mix(digest, arenaut_problem_fixed_offset(p, b));
    digest = mix(digest, arenaut_problem_same_base(p, b));
    digest = mix(digest, arenaut_problem_inside(p, b));
    if (arenaut_problem_inside(p, b) != ARENAUT_NONE) digest = mix(digest, p->inside_delta[b]);
    digest = mix(digest, n);
    for (uint32_t i = 0; i < n; i++) {
        digest = mix(mix(digest, (uint64_t)life[i].first), (uint64_t)life[i].end);
    }
    return digest;
}

uint64_t arn_problem_digest(const arenaut_problem *p) {
    uint64_t digest = mix(p->n_buffers, p->n_pools);
    for (uint32_t k = 0; k < p->n_pools; k++) {
        digest = mix(mix(digest, p->pool[k].capacity), p->pool[k].align);
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) digest = mix_buffer(digest, p, b);
    digest = mix(digest, p->n_conflicts);
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        digest = mix(mix(digest, p->conflict[i].a), p->conflict[i].b);
    }
    for (uint32_t i = 0; i < p->n_separations; i++) {
        digest = mix(mix(digest, p->separation[i].upper), p->separation[i].lower);
        digest = mix(digest, (uint64_t)p->separation[i].distance);
    }
    digest = mix(digest, p->n_reserved);
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        digest = mix(mix(digest, p->reserved[i].pool), p->reserved[i].first);
        digest = mix(digest, p->reserved[i].end);
    }
    return digest;
}
