/* The length of the schedule with calls followed, known before the first step, so that programs
 * whose calls multiply are refused at once. Counts visits from callers to callees, in O(ops). */
#include "analysis/live_ranges.h"
#include "core/fail.h"
#include "ir/plain_call.h"

/* Arguments looked at, over all visits: a bound on time. */
enum { MAX_ARGUMENTS = 1 << 28, MANY = ARN_MAX_STEPS + 1 };

/* Per method: how often it runs (MANY at most), and how many calls name it that have not
 * been counted yet. */
typedef struct counts {
    uint32_t *visits, *callers;
} counts;

uint32_t arn_live_n_calls(const arn_live *live, const arenaut_op *op) {
    return live->calls_apart && arn_is_plain_call(op) ? 1 : op->n_calls;
}

/* Per method: whether only plain calls run it, if that is to make a difference. */
static void find_apart(arn_live *live) {
    const arenaut_program *p = live->program;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        live->apart[m] = live->calls_apart && !p->methods[m].entry;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (arn_is_plain_call(&p->ops[i])) continue;
        for (uint32_t k = 0; k < p->ops[i].n_calls; k++) live->apart[p->ops[i].calls[k]] = false;
    }
}

static uint32_t saturated(uint64_t visits) { return visits < MANY ? (uint32_t)visits : MANY; }

/* Counts visits from callers to callees, a method when all of its callers are done; calls
 * form no cycle. `ready` has room for every method. */
static void count_visits(const arn_live *live, counts *c, uint32_t *ready) {
    const arenaut_program *p = live->program;
    uint32_t n_ready = 0;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        c->visits[m] = p->methods[m].entry;
        c->callers[m] = 0;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const uint32_t n_calls = arn_live_n_calls(live, &p->ops[i]);
        for (uint32_t k = 0; k < n_calls; k++) c->callers[p->ops[i].calls[k]]++;
    }
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (c->callers[m] == 0) ready[n_ready++] = m;
    }
    while (n_ready > 0) {
        const uint32_t caller = ready[--n_ready];
        const arenaut_method *method = &p->methods[caller];
        for (uint32_t i = method->first_op; i < method->first_op + method->n_ops; i++) {
            const uint32_t n_calls = arn_live_n_calls(live, &p->ops[i]);
            for (uint32_t k = 0; k < n_calls; k++) {
                const uint32_t callee = p->ops[i].calls[k];
                c->visits[callee] = saturated((uint64_t)c->visits[callee] + c->visits[caller]);
                if (--c->callers[callee] == 0) ready[n_ready++] = callee;
            }
        }
    }
}

static uint64_t arguments_of(const arenaut_program *p, const arenaut_method *method) {
    uint64_t n = (uint64_t)method->n_inputs + method->n_outputs;
    for (uint32_t i = method->first_op; i < method->first_op + method->n_ops; i++) {
        n += (uint64_t)p->ops[i].n_inputs + p->ops[i].n_outputs + p->ops[i].n_scratch;
    }
    return n;
}

arenaut_status arn_live_count_steps(arn_live *live, uint32_t *n_steps) {
    const arenaut_program *p = live->program;
    counts c;
    c.visits = arn_region_allocate(live->region, p->n_methods, sizeof *c.visits);
    c.callers = arn_region_allocate(live->region, p->n_methods, sizeof *c.callers);
    uint32_t *ready = arn_region_allocate(live->region, p->n_methods, sizeof *ready);
    live->runs = arn_region_allocate(live->region, p->n_methods, sizeof *live->runs);
    live->apart = arn_region_allocate(live->region, p->n_methods, sizeof *live->apart);
    if (!c.visits || !c.callers || !ready || !live->runs || !live->apart) {
        return arn_no_memory(live->err);
    }
    find_apart(live);
    count_visits(live, &c, ready);
    for (uint32_t m = 0; m < p->n_methods; m++) live->runs[m] = c.visits[m] > 0;
    uint64_t steps = 0, arguments = 0;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        const uint64_t most = UINT64_MAX / 2 / MANY; /* arguments of one visit that count */
        const uint64_t of_one = arguments_of(p, method);
        steps += c.visits[m] * (1 + (uint64_t)method->n_ops);
        arguments += c.visits[m] * (of_one < most ? of_one : most);
        if (steps > ARN_MAX_STEPS || arguments > MAX_ARGUMENTS) {
            return arn_fail(live->err, ARENAUT_UNSUPPORTED, 0,
                            "method '%s' runs so often that calls expand to more than %d steps or "
                            "%d arguments",
                            method->name ? method->name : "", ARN_MAX_STEPS, MAX_ARGUMENTS);
        }
    }
    *n_steps = (uint32_t)steps;
    return ARENAUT_OK;
}
