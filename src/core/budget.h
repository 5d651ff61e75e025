/* The budget of a search: its effort, its time, and whether it was stopped.
 *
 * Everything in the library that searches, and everything that calls it, takes a budget as an
 * argument, so that every search can be ended. A budget is made of the options of a public call, or
 * is a part of another one: a part has an effort of its own, and a share of the time, which is for
 * the caller's callback to measure, since the library reads no clock. An interrupt ends the whole
 * with the part; time that is up ends the part alone.
 *
 * Work is counted in elementary operations, and every so many of them the caller is asked. Once the
 * answer was no it stays no: the present result is incomplete. Without a callback nothing depends
 * on the counting. */
#ifndef ARN_CORE_BUDGET_H
#define ARN_CORE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/planner.h>

/* Operations between two questions: a fraction of a millisecond. */
enum { ARN_BUDGET_ASKS_EVERY = 1 << 16 };

/* The whole of the time, in the unit of shares. */
enum { ARN_BUDGET_ALL = 1000 };

typedef struct arn_budget {
    uint64_t effort; /* that may be spent, in the unit of the search; 0: the search's default */
    arenaut_progress_fn progress; /* NULL: only the effort ends it */
    void *context;
    struct arn_budget *whole; /* of which this is a part; NULL: none */
    uint32_t from, until;     /* share of the time of the whole, in parts of ARN_BUDGET_ALL */
    uint64_t counted;         /* operations since the last question */
    arenaut_verdict verdict;
} arn_budget;

arn_budget arn_budget_make(uint64_t effort, arenaut_progress_fn progress, void *context);
/* May take from the end of share `from` of the time of the whole to that of `until`. Borrows the
 * whole. */
arn_budget arn_budget_part(arn_budget *whole, uint64_t effort, uint32_t from, uint32_t until);

/* Whether the answer was no. */
static inline bool arn_budget_ended(const arn_budget *budget) {
    return budget->verdict != ARENAUT_GO_ON;
}

/* Polls at once. False: stop. */
bool arn_budget_goes_on(arn_budget *budget);

/* Counts so many operations, and polls the caller every so many of them. */
static inline bool arn_budget_spend(arn_budget *budget, uint64_t operations) {
    budget->counted += operations;
    if (budget->counted < ARN_BUDGET_ASKS_EVERY) return !arn_budget_ended(budget);
    return arn_budget_goes_on(budget);
}

/* Makes a planner with these options poll this budget only. A plan that is made with a part is not
 * the best one of the whole, so that its figures are not passed on. */
void arn_budget_lend(arn_budget *budget, arenaut_plan_options *options);

#endif
