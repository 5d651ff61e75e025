/* Kernels' answers about ops of a draft, memoized: kernels are asked once for each form of an op.
 *
 * The distance of an op depends on its attributes and the sizes and values of its arguments; the
 * bytes that are kept of it, on its channels. Ops that agree in these are one question, named by a
 * hash. Two questions of one hash would only mislead the search, whose result is planned and
 * checked like any other. */
#include "rewrite/split/tile_kernels.h"

#include <string.h>

#include <arenaut/target.h>

#include "core/hash.h"
#include "core/memory.h"
#include "kernels/distance.h"
#include "kernels/kernel_set.h"
#include "rewrite/tile_dialects/tile_dialect.h"

enum {
    FIRST_ANSWERS = 1024,
    /* Bytes that a micro runtime keeps for an op of any kind where pointers have 8 bytes, and for
     * each channel of a convolution: for runtimes of which nothing is known. */
    KEPT_PER_OP = 240,
    KEPT_PER_CHANNEL = 8,
};

arn_draft_kernels arn_draft_kernels_begin(const arenaut_allocator *allocator,
                                          const arenaut_split_options *options) {
    const arn_draft_kernels kernels = {
        .allocator = allocator, .options = options, .steps_left = ARN_MOST_STEPS};
    return kernels;
}

void arn_draft_kernels_free(arn_draft_kernels *kernels) {
    ARN_RELEASE(kernels->allocator, kernels->answers, kernels->tensors, kernels->ids,
                kernels->attributes);
}

/* ---- keys of memoized answers ---- */

static uint64_t hash_words(uint64_t hash, const int64_t *words, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) hash = arn_hash_word(hash, (uint64_t)words[i]);
    return hash;
}

static uint64_t hash_argument(uint64_t hash, const arn_draft *draft, uint32_t tensor) {
    const uint32_t n_before = draft->graph->program->n_tensors;
    if (tensor == ARENAUT_NONE || tensor < n_before) return arn_hash_word(hash, tensor);
    const arn_draft_tensor *t = &draft->tensors[tensor - n_before];
    hash = arn_hash_word(hash, (uint64_t)n_before + t->origin.tensor);
    hash = hash_words(hash, t->dims, t->rank);
    return hash_words(hash, t->values, t->n_values);
}

static uint64_t hash_op(const arn_draft_op *op) {
    return arn_hash_word(arn_hash_word(ARN_HASH_START, op->before), op->move);
}

static uint64_t ask_distance(const arn_draft *draft, const arn_draft_op *op, uint32_t input) {
    uint64_t hash = hash_op(op);
    hash = arn_hash_word(hash, (uint64_t)op->axis << 8 | op->n_pads);
    hash = hash_words(hash, op->pads, ARN_DRAFT_VALUES);
    hash = arn_hash_word(hash, (uint64_t)input + 1);
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        hash = hash_argument(hash, draft, draft->arguments[op->first + i]);
    }
    return hash ? hash : 1;
}

static int64_t channels_of(const arn_draft *draft, const arn_draft_op *op) {
    if (op->before != ARENAUT_NONE && draft->graph->ops[op->before].kind == ARN_TILE_OPAQUE)
        return 0;
    return arn_draft_dims(
        draft, draft->arguments[op->first + op->n_inputs])[arn_tile_dim(draft->graph, ARN_AXIS_C)];
}

/* Input 0 is no number of an operand in the other kind of question. */
static uint64_t ask_kept(const arn_draft *draft, const arn_draft_op *op) {
    uint64_t hash = arn_hash_word(hash_op(op), 0);
    if (op->before != ARENAUT_NONE) {
        hash = arn_hash_word(hash, (uint64_t)channels_of(draft, op));
    } else {
        const arenaut_tensor moved = arn_draft_describe_tensor(draft, draft->arguments[op->first]);
        hash = arn_hash_word(hash, moved.dtype);
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
static bool grow_answers(arn_draft_kernels *kernels) {
    if (2 * kernels->n < kernels->capacity) return true;
    const uint32_t capacity = kernels->capacity ? 2 * kernels->capacity : FIRST_ANSWERS;
    arn_draft_answer *answers = arn_allocate_zeroed(kernels->allocator, capacity, sizeof *answers);
    if (!answers) return false;
    for (uint32_t i = 0; i < kernels->capacity; i++) {
        const arn_draft_answer *old = &kernels->answers[i];
        if (old->question != 0) *place_of(answers, capacity, old->question) = *old;
    }
    arn_release(kernels->allocator, kernels->answers);
    kernels->answers = answers;
    kernels->capacity = capacity;
    return true;
}

/* The op as one of a program of its arguments alone. */
static bool describe(arn_draft_kernels *kernels, const arn_draft *draft, const arn_draft_op *op,
                     arenaut_op *described) {
    const uint32_t n = op->n_inputs + op->n_outputs;
    if (!arn_grow(kernels->allocator, (void **)&kernels->tensors, &kernels->tensors_capacity, n,
                  sizeof *kernels->tensors) ||
        !arn_grow(kernels->allocator, (void **)&kernels->ids, &kernels->ids_capacity, n,
                  sizeof *kernels->ids) ||
        !arn_grow(kernels->allocator, (void **)&kernels->attributes, &kernels->attributes_capacity,
                  arn_draft_most_attributes(draft->graph->program), sizeof *kernels->attributes)) {
        kernels->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t tensor = draft->arguments[op->first + i];
        kernels->ids[i] = tensor == ARENAUT_NONE ? ARENAUT_NONE : i;
        if (tensor != ARENAUT_NONE) kernels->tensors[i] = arn_draft_describe_tensor(draft, tensor);
    }
    arn_draft_describe_op(draft, op, kernels->attributes, described);
    described->inputs = kernels->ids;
    described->n_inputs = op->n_inputs;
    described->outputs = kernels->ids + op->n_inputs;
    described->n_outputs = op->n_outputs;
    return true;
}

/* The kernel may write an element where it has read it, if the two begin at one place. */
static bool may_be_in_place(const arn_draft_kernels *kernels, const arenaut_op *op,
                            uint32_t input) {
    const arenaut_in_place_rule *rule =
        arenaut_kernel_in_place(kernels->options->kernels, op->name);
    const arenaut_tensor *in = &kernels->tensors[input], *out = &kernels->tensors[op->outputs[0]];
    for (; op->name && rule && rule->op; rule++) {
        if (strcmp(rule->op, op->name) == 0 && rule->input == input && rule->output == 0) {
            return in->bytes == out->bytes && in->dtype == out->dtype;
        }
    }
    return false;
}

static uint64_t find_distance(arn_draft_kernels *kernels, const arenaut_op *op, uint32_t input) {
    const arenaut_split_options *options = kernels->options;
    const arenaut_program alone = {.tensors = kernels->tensors,
                                   .n_tensors = kernels->tensors_capacity};
    const arenaut_kernel_rule *rule =
        options->overlap ? arn_kernel_rule_for(options->kernels, &alone, op, options->unmeasured)
                         : NULL;
    arenaut_overlap pair = {0, input, 0};
    bool in_place = false;
    const bool known =
        rule && arn_kernel_distance(&alone, op, rule, &pair, &in_place, &kernels->steps_left);
    if (in_place || may_be_in_place(kernels, op, input)) return 0;
    if (!known) return ARENAUT_SIZE_MAX;
    return pair.distance > 0 ? (uint64_t)pair.distance : 0;
}

static uint64_t find_kept(const arn_draft_kernels *kernels, const arenaut_op *op) {
    const arenaut_target *target = kernels->options->target;
    const arenaut_program alone = {.tensors = kernels->tensors,
                                   .n_tensors = kernels->tensors_capacity};
    arn_persistent kept;
    arn_kernel_persistent(kernels->options->kernels, &alone, op, target->layout->pointer,
                          target->align, &kept);
    return target->layout->op + kept.options + kept.data;
}

static uint64_t guess_kept(const arn_draft *draft, const arn_draft_op *op) {
    const arn_tile_kind kind =
        op->before == ARENAUT_NONE ? ARN_TILE_OPAQUE : draft->graph->ops[op->before].kind;
    const bool convolution = kind == ARN_TILE_CONV || kind == ARN_TILE_DEPTHWISE;
    if (draft->graph->dialect->kept > 0) return draft->graph->dialect->kept;
    return KEPT_PER_OP + (convolution ? KEPT_PER_CHANNEL * (uint64_t)channels_of(draft, op) : 0);
}

/* The place of the answer to a question, and whether it is known; NULL: no memory. */
static arn_draft_answer *look_up(arn_draft_kernels *kernels, uint64_t question, bool *known) {
    if (kernels->failed || !grow_answers(kernels)) {
        kernels->failed = true;
        return NULL;
    }
    arn_draft_answer *answer = place_of(kernels->answers, kernels->capacity, question);
    *known = answer->question != 0;
    return answer;
}

static void remember(arn_draft_kernels *kernels, arn_draft_answer *answer, uint64_t question,
                     uint64_t bytes) {
    *answer = (arn_draft_answer){question, bytes};
    kernels->n++;
}

uint64_t arn_draft_distance(arn_draft_kernels *kernels, const arn_draft *draft,
                            const arn_draft_op *op, uint32_t input) {
    bool known = false;
    arenaut_op described;
    const uint64_t question = ask_distance(draft, op, input);
    arn_draft_answer *answer = look_up(kernels, question, &known);
    if (known) return answer->bytes;
    if (!answer || !describe(kernels, draft, op, &described)) return ARENAUT_SIZE_MAX;
    remember(kernels, answer, question, find_distance(kernels, &described, input));
    return answer->bytes;
}

uint64_t arn_draft_kept(arn_draft_kernels *kernels, const arn_draft *draft,
                        const arn_draft_op *op) {
    bool known = false;
    arenaut_op described;
    const arenaut_target *target = kernels->options->target;
    if (!target || !target->layout) return guess_kept(draft, op);
    const uint64_t question = ask_kept(draft, op);
    arn_draft_answer *answer = look_up(kernels, question, &known);
    if (known) return answer->bytes;
    if (!answer || !describe(kernels, draft, op, &described)) return 0;
    remember(kernels, answer, question, find_kept(kernels, &described));
    return answer->bytes;
}

uint64_t arn_draft_kept_of_call(const arn_draft_kernels *kernels) {
    const arenaut_target *target = kernels->options->target;
    const arenaut_op call = {.name = "IF", .kind = ARENAUT_OP_IF};
    return target && target->layout ? find_kept(kernels, &call) : KEPT_PER_OP;
}
