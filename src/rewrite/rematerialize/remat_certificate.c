/* Certificates of rematerialization, between a search's proofs and files: Lagrangian multipliers
 * and an integer flow, as a list of its nonzero entries. To check one, the problem is made anew of
 * the program, and the entries are put back to the reads of it. O(reads × entries of an op). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "ir/certificate.h"
#include "rewrite/find_within.h"
#include "rewrite/rematerialize/remat_certificate.h"

/* ---- made of proofs ---- */

/* Of several cases, as they are. */
static bool keep_cases(const arenaut_remat_proof *proof, const arenaut_allocator *allocator,
                       arenaut_remat_bound *bound) {
    bound->flows = arn_allocate(allocator, proof->n_flows, sizeof *bound->flows);
    bound->cases = arn_allocate(allocator, proof->n_cases, sizeof *bound->cases);
    if (!bound->flows || !bound->cases) return false;
    if (proof->n_flows > 0)
        memcpy(bound->flows, proof->flows, proof->n_flows * sizeof *bound->flows);
    memcpy(bound->cases, proof->cases, proof->n_cases * sizeof *bound->cases);
    bound->n_flows = proof->n_flows;
    bound->n_cases = proof->n_cases;
    bound->byte_price = bound->time_price = 0;
    return true;
}

static bool keep_flows(const arenaut_remat_problem *p, const arenaut_remat_proof *proof,
                       const arenaut_allocator *allocator, arenaut_remat_bound *bound) {
    uint32_t n = 0;
    if (proof->n_cases > 0) return keep_cases(proof, allocator, bound);
    for (uint32_t i = 0; i < p->n_reads; i++) n += proof->flow[i] > 0;
    bound->flows = arn_allocate(allocator, n, sizeof *bound->flows);
    if (!bound->flows) return false;
    for (uint32_t i = 0; i < p->n_reads; i++) {
        if (proof->flow[i] == 0) continue;
        bound->flows[bound->n_flows++] =
            (arenaut_remat_flow){p->reads[i].op, p->reads[i].buffer, proof->flow[i]};
    }
    return true;
}

static arenaut_remat_bound bound_of(uint64_t value, const arenaut_remat_proof *proof) {
    arenaut_remat_bound bound = {.value = value,
                                 .op = proof->op,
                                 .n_later = proof->n_later,
                                 .byte_price = proof->byte_price,
                                 .time_price = proof->time_price};
    memcpy(bound.later, proof->later, sizeof bound.later);
    return bound;
}

static const arenaut_roofline *device_of(const arenaut_recompute_options *o) {
    return o->device.operations > 0 ? &o->device : arenaut_roofline_find("a100");
}

arenaut_status arn_remat_certificate_make(const arn_remat_program *program,
                                          const arenaut_rematerialization *found,
                                          const arenaut_allocator *allocator,
                                          arenaut_remat_certificate **out, arenaut_error *err) {
    const arenaut_recompute_options *o = program->options;
    arenaut_remat_certificate *c = arn_allocate_zeroed(allocator, 1, sizeof *c);
    if (!c) return arn_no_memory(err);
    *c = (arenaut_remat_certificate){.budget = found->budget,
                                     .base = found->base,
                                     .any_op = o->budget > 0,
                                     .timed = o->costs != NULL,
                                     .device = *device_of(o),
                                     .time = bound_of(found->bound, &found->proof),
                                     .floor = bound_of(found->floor, &found->floor_proof),
                                     .allocator = arn_allocator_or_default(allocator)};
    const arenaut_roofline *known = arenaut_roofline_find(c->device.name);
    c->device.name = known ? known->name : NULL;
    if (!keep_flows(&program->any, &found->proof, &c->allocator, &c->time) ||
        !keep_flows(&program->any, &found->floor_proof, &c->allocator, &c->floor)) {
        arn_remat_certificate_free(c);
        return arn_no_memory(err);
    }
    *out = c;
    return ARENAUT_OK;
}

/* ---- checked against a program ---- */

typedef struct examiner {
    const arenaut_remat_certificate *certificate;
    arn_remat_program program;
    arn_region region;
    arenaut_finding *finding;
    arenaut_error *err;
} examiner;

static arenaut_status reject(examiner *x, const char *what, uint64_t here, uint64_t there) {
    x->finding->rule = ARENAUT_RULE_PROOF;
    snprintf(x->finding->msg, sizeof x->finding->msg,
             "%s: %" PRIu64 " by the file, %" PRIu64
             " in the certificate: was it made with other flags, or for another file?",
             what, here, there);
    return arn_fail(x->err, ARENAUT_REJECTED, 0, "%s", x->finding->msg);
}

static arenaut_status reject_flow(examiner *x, const arenaut_remat_flow *flow, const char *why) {
    x->finding->rule = ARENAUT_RULE_PROOF;
    snprintf(x->finding->msg, sizeof x->finding->msg,
             "the bound is not shown: flow from op %" PRIu32 " to storage %" PRIu32 " %s", flow->op,
             flow->storage, why);
    return arn_fail(x->err, ARENAUT_REJECTED, 0, "%s", x->finding->msg);
}

/* Reads of an op lie together. */
static uint32_t find_read(const arenaut_remat_problem *p, const arenaut_remat_flow *flow) {
    uint32_t low = 0, high = p->n_reads;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->reads[middle].op < flow->op) low = middle + 1;
        else high = middle;
    }
    while (low < p->n_reads && p->reads[low].op == flow->op) {
        if (p->reads[low].buffer == flow->storage) return low;
        low++;
    }
    return ARENAUT_NONE;
}

static arenaut_status put_flows(examiner *x, const arenaut_remat_bound *bound,
                                arenaut_remat_proof *proof) {
    const arenaut_remat_problem *p = &x->program.any;
    *proof = (arenaut_remat_proof){.op = bound->op,
                                   .n_later = bound->n_later,
                                   .byte_price = bound->byte_price,
                                   .time_price = bound->time_price};
    memcpy(proof->later, bound->later, sizeof proof->later);
    proof->flow = arn_region_allocate(&x->region, p->n_reads, sizeof *proof->flow);
    if (!proof->flow) return arn_no_memory(x->err);
    memset(proof->flow, 0, p->n_reads * sizeof *proof->flow);
    if (bound->n_cases > 0) {
        proof->n_cases = bound->n_cases;
        proof->cases = bound->cases;
        proof->n_flows = bound->n_flows;
        proof->flows = bound->flows;
        return ARENAUT_OK;
    }
    for (uint32_t i = 0; i < bound->n_flows; i++) {
        const arenaut_remat_flow *flow = &bound->flows[i];
        const uint32_t read = find_read(p, flow);
        if (read == ARENAUT_NONE) return reject_flow(x, flow, "that it does not read");
        if (!arn_add(proof->flow[read], flow->flow, &proof->flow[read])) {
            return reject_flow(x, flow, "that cannot be added");
        }
    }
    return ARENAUT_OK;
}

/* Times of the whole and of the copies. */
static arenaut_status check_times(examiner *x) {
    const arenaut_remat_certificate *c = x->certificate;
    const arn_remat_program *p = &x->program;
    uint64_t base = 0, all = 0, once = 0;
    bool ok = true;
    for (uint32_t i = 0; i < p->problem.n_ops && ok; i++) {
        ok = arn_add(base, p->problem.cost[i], &base);
    }
    for (uint32_t i = 0; i < p->task->file->n_ops && ok; i++) {
        ok = arn_add(once, p->file_cost[i], &once);
    }
    for (uint32_t i = 0; i < c->n_runs && ok; i++) {
        if (c->runs[i] >= p->task->file->n_ops) {
            return reject(x, "number of ops", p->task->file->n_ops, c->runs[i]);
        }
        ok = arn_add(all, p->file_cost[c->runs[i]], &all);
    }
    if (!ok) return arn_fail(x->err, ARENAUT_TOO_LARGE, 0, "costs cannot be added");
    if (base != c->base) return reject(x, "nanoseconds of all ops", base, c->base);
    const uint64_t added = c->n_runs > 0 && all > once ? all - once : 0;
    if (added != c->added) return reject(x, "nanoseconds added", added, c->added);
    return ARENAUT_OK;
}

static arenaut_status examine(examiner *x, const arn_recompute_task *task,
                              const arenaut_recompute_options *options) {
    const arenaut_remat_certificate *c = x->certificate;
    if (task->open_aliases) {
        return arn_fail(x->err, ARENAUT_REFUSED, 0,
                        "nothing is proven of a program whose aliases depend on the schedule");
    }
    arenaut_recompute_options same = *options;
    same.budget = c->any_op ? c->budget : 0;
    arenaut_status st = arn_remat_program_make(task, &same, &x->region, &x->program, x->err);
    arenaut_rematerialization claimed = {
        .budget = c->budget, .bound = c->time.value, .floor = c->floor.value};
    if (st == ARENAUT_OK) st = check_times(x);
    if (st == ARENAUT_OK) st = put_flows(x, &c->time, &claimed.proof);
    if (st == ARENAUT_OK) st = put_flows(x, &c->floor, &claimed.floor_proof);
    if (st != ARENAUT_OK) return st;
    return arenaut_check_remat_bounds(&x->program.any, &claimed, &x->region.allocator, x->finding,
                                      x->err);
}

arenaut_status arn_recompute_check(const arn_recompute_task *task,
                                   const arenaut_recompute_options *options,
                                   const arenaut_remat_certificate *certificate,
                                   const arenaut_allocator *allocator, arenaut_finding *finding,
                                   arenaut_error *err) {
    examiner x = {.certificate = certificate, .finding = finding, .err = err};
    const arenaut_finding none = {.rule = ARENAUT_RULE_NONE};
    *finding = none;
    arn_region_init(&x.region, allocator);
    const arenaut_status st = examine(&x, task, options);
    arn_region_free(&x.region);
    return st;
}
