/* Asks the kernels about ops of a draft, and remembers what they said. What an op's distance
 * depends on is its own attributes, and the sizes and values of its arguments: ops that agree in
 * these are one question, named by a hash. Two questions of one hash would only mislead the search,
 * whose result is planned and checked like any other. */
#include "rewrite/split/draft_reach.h"

#include <string.h>

#include "core/hash.h"
#include "core/memory.h"
#include "kernels/distance.h"

enum { FIRST_ANSWERS = 1024 };

arn_draft_reach arn_draft_reach_begin(const arenaut_allocator *allocator,
                                      const arenaut_kernel_set *kernels, bool unmeasured) {
    const arn_draft_reach reach = {.allocator = allocator,
                                   .kernels = kernels,
                                   .unmeasured = unmeasured,
                                   .steps_left = ARN_MOST_STEPS};
    return reach;
}

void arn_draft_reach_free(arn_draft_reach *reach) {
    arn_release(reach->allocator, reach->answers);
    arn_release(reach->allocator, reach->tensors);
    arn_release(reach->allocator, reach->ids);
    arn_release(reach->allocator, reach->attributes);
}

/* ---- questions ---- */

static uint64_t hash_argument(uint64_t hash, const arn_draft *draft, uint32_t tensor) {
    const uint32_t n_before = draft->graph->program->n_tensors;
    if (tensor == ARENAUT_NONE || tensor < n_before) return arn_hash_number(hash, tensor);
    const arn_draft_tensor *t = &draft->tensors[tensor - n_before];
    hash = arn_hash_number(hash, (uint64_t)n_before + t->origin.tensor);
    hash = arn_hash_bytes(hash, t->dims, t->rank * sizeof *t->dims);
    return arn_hash_bytes(hash, t->values, t->n_values * sizeof *t->values);
}

static uint64_t question_of(const arn_draft *draft, const arn_draft_op *op, uint32_t input) {
    uint64_t hash = arn_hash_number(ARN_HASH_START, op->before);
    if (op->name) hash = arn_hash_text(hash, op->name);
    hash = arn_hash_number(hash, (uint64_t)op->axis << 1 | op->valid);
    hash = arn_hash_number(hash, input);
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        hash = hash_argument(hash, draft, draft->arguments[op->first + i]);
    }
    return hash ? hash : 1;
}

/* ---- answers ---- */

/* The place of a question, or a free one. */
static arn_draft_answer *place_of(arn_draft_answer *answers, uint32_t capacity, uint64_t question) {
    uint32_t at = (uint32_t)(question & (capacity - 1));
    while (answers[at].question != 0 && answers[at].question != question) {
        at = (at + 1) & (capacity - 1);
    }
    return &answers[at];
}

/* At least half of the places stay free. */
static bool make_room(arn_draft_reach *reach) {
    if (2 * reach->n < reach->capacity) return true;
    const uint32_t capacity = reach->capacity ? 2 * reach->capacity : FIRST_ANSWERS;
    arn_draft_answer *answers = arn_allocate_zeroed(reach->allocator, capacity, sizeof *answers);
    if (!answers) return false;
    for (uint32_t i = 0; i < reach->capacity; i++) {
        const arn_draft_answer *old = &reach->answers[i];
        if (old->question != 0) *place_of(answers, capacity, old->question) = *old;
    }
    arn_release(reach->allocator, reach->answers);
    reach->answers = answers;
    reach->capacity = capacity;
    return true;
}

/* The op as one of a program of its arguments alone. */
static bool describe(arn_draft_reach *reach, const arn_draft *draft, const arn_draft_op *op,
                     arenaut_op *described) {
    const uint32_t n = op->n_inputs + op->n_outputs;
    if (!arn_grow(reach->allocator, (void **)&reach->tensors, &reach->tensors_capacity, n,
                  sizeof *reach->tensors) ||
        !arn_grow(reach->allocator, (void **)&reach->ids, &reach->ids_capacity, n,
                  sizeof *reach->ids) ||
        !arn_grow(reach->allocator, (void **)&reach->attributes, &reach->attributes_capacity,
                  arn_draft_most_attributes(draft->graph->program), sizeof *reach->attributes)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t tensor = draft->arguments[op->first + i];
        reach->ids[i] = tensor == ARENAUT_NONE ? ARENAUT_NONE : i;
        if (tensor != ARENAUT_NONE) reach->tensors[i] = arn_draft_describe_tensor(draft, tensor);
    }
    arn_draft_describe_op(draft, op, reach->attributes, described);
    described->inputs = reach->ids;
    described->n_inputs = op->n_inputs;
    described->outputs = reach->ids + op->n_inputs;
    described->n_outputs = op->n_outputs;
    return true;
}

/* The kernel may write an element where it has read it, if the two begin at one place. */
static bool may_be_in_place(const arn_draft_reach *reach, const arenaut_op *op, uint32_t input) {
    const arenaut_in_place_rule *rule = arenaut_kernel_in_place(reach->kernels, op->name);
    const arenaut_tensor *in = &reach->tensors[input], *out = &reach->tensors[op->outputs[0]];
    for (; op->name && rule && rule->op; rule++) {
        if (strcmp(rule->op, op->name) == 0 && rule->input == input && rule->output == 0) {
            return in->bytes == out->bytes && in->dtype == out->dtype;
        }
    }
    return false;
}

static uint64_t ask(arn_draft_reach *reach, const arenaut_op *op, uint32_t input) {
    const arenaut_program alone = {.tensors = reach->tensors, .n_tensors = reach->tensors_capacity};
    const arenaut_kernel_rule *rule =
        arenaut_kernel_rule_for(reach->kernels, &alone, op, reach->unmeasured);
    arenaut_overlap pair = {0, input, 0};
    bool in_place = false;
    const bool known =
        rule && arn_kernel_distance(&alone, op, rule, &pair, &in_place, &reach->steps_left);
    if (in_place || may_be_in_place(reach, op, input)) return 0;
    if (!known) return ARENAUT_SIZE_MAX;
    return pair.distance > 0 ? (uint64_t)pair.distance : 0;
}

uint64_t arn_draft_distance(arn_draft_reach *reach, const arn_draft *draft, const arn_draft_op *op,
                            uint32_t input) {
    arenaut_op described;
    if (reach->failed || !make_room(reach)) {
        reach->failed = true;
        return ARENAUT_SIZE_MAX;
    }
    const uint64_t question = question_of(draft, op, input);
    arn_draft_answer *answer = place_of(reach->answers, reach->capacity, question);
    if (answer->question != 0) return answer->distance;
    if (!describe(reach, draft, op, &described)) {
        reach->failed = true;
        return ARENAUT_SIZE_MAX;
    }
    answer->question = question;
    answer->distance = ask(reach, &described, input);
    reach->n++;
    return answer->distance;
}
