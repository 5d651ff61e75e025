/* What the search for an order knows by now: orders that may be worth it, and what is proven. */
#ifndef ARN_PIPELINE_FORMS_SEARCH_H
#define ARN_PIPELINE_FORMS_SEARCH_H

#include "core/memory.h"
#include "stages/stages.h"

/* An order of the file's ops that may be worth it, in these forms. */
typedef struct arn_order_candidate {
    arn_forms forms;
    const uint32_t *ops; /* NULL: they stay where they are */
    uint64_t peak;       /* bytes that are alive at once */
} arn_order_candidate;

typedef struct arn_order_search {
    arenaut_pipeline *pipeline;
    arn_region region; /* of all lists */
    arn_form_choices choices;
    arn_order_candidate *list;
    uint32_t n, capacity;
    arenaut_ordering known;
} arn_order_search;

/* Looks for orders in these forms. *peak: what is alive in the best of them;
 * `at_peak`, unless NULL: per whole that views may be copied of, whether something of it is there.
 */
arenaut_status arn_order_search_in(arn_order_search *search, arn_budget *budget, arn_forms forms,
                                   uint64_t *peak, bool *at_peak, arenaut_error *err);

/* choose_forms.c: how many joins and views there are to choose from. */
uint32_t arn_order_search_choices(const arn_order_search *search);
/* Looks for orders in today's forms, and in others that may be better; and for a bound of all. */
arenaut_status arn_order_search_forms(arn_order_search *search, arn_budget *budget,
                                      arenaut_error *err);

#endif
