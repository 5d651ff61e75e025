#include "support/split_checked.h"

#include <arenaut/check.h>

#include "rewrite/split/tile_groups.h"
#include "support/test.h"

arenaut_status split_checked(const arenaut_program *p, const arenaut_split_stage *stages,
                             uint32_t n_stages, bool rounding, const arenaut_allocator *allocator) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_status st = arn_split(p, stages, n_stages, rounding, allocator, &rewrite, NULL);
    if (st == ARENAUT_OK) st = arenaut_check_rewrite(p, rewrite, allocator, &finding, NULL);
    arn_rewrite_free(rewrite);
    return st;
}

static arenaut_rewrite *split_one(const arenaut_program *p, arenaut_split_stage stage,
                                  bool rounding) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arn_split(p, &stage, 1, rounding, NULL, &rewrite, &err), err);
    if (arenaut_check_rewrite(p, rewrite, NULL, &finding, NULL) != ARENAUT_OK) {
        fail_msg("%s", finding.msg);
    }
    return rewrite;
}

arenaut_rewrite *split_tiles(const arenaut_program *p, arenaut_split_stage stage) {
    return split_one(p, stage, false);
}

arenaut_rewrite *split_rounded(const arenaut_program *p, arenaut_split_stage stage) {
    return split_one(p, stage, true);
}

uint32_t count_named(const arenaut_rewrite *rewrite, const char *name) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        n += strcmp(rewrite->program->ops[i].name, name) == 0;
    }
    return n;
}

static void expect_failure(const arenaut_program *p, arenaut_split_stage stage, bool rounding,
                           arenaut_status expected, const char *why) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    assert_int_equal(arn_split(p, &stage, 1, rounding, NULL, &rewrite, &err), expected);
    if (!strstr(err.msg, why)) fail_msg("expected \"%s\": %s", why, err.msg);
    assert_null(rewrite);
}

void expect_unsplit(const arenaut_program *p, arenaut_split_stage stage, const char *why) {
    expect_failure(p, stage, false, ARENAUT_BAD_ARGUMENT, why);
}

void expect_whole(const arenaut_program *p, arenaut_split_stage stage, const char *why) {
    expect_failure(p, stage, true, ARENAUT_BAD_ARGUMENT, why);
}

void expect_refused(const arenaut_program *p, const char *why) {
    expect_failure(p, (arenaut_split_stage){0, 1, 2, ARENAUT_SPLIT_ROWS}, false, ARENAUT_REFUSED,
                   why);
}

bool is_same_program(const arenaut_program *p, const arenaut_rewrite *rewrite) {
    arenaut_finding finding;
    return arenaut_check_rewrite(p, rewrite, NULL, &finding, NULL) == ARENAUT_OK;
}

bool same_sizes(const arenaut_tensor *a, const arenaut_tensor *b) {
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

/* Elements that only say that something has run are as good as others. */
static bool is_free(const arenaut_op *op) {
    return strcmp(op->name, "GatherND") == 0 || strcmp(op->name, "Max") == 0 ||
           strcmp(op->name, "ArgMax") == 0;
}

static bool is_alias_of(const arenaut_rewrite *rewrite, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &rewrite->program->ops[i];
        if (strcmp(op->name, "Reshape") != 0) continue;
        if (op->inputs[0] == a && op->outputs[0] == b) return true;
        if (op->inputs[0] == b && op->outputs[0] == a) return true;
    }
    return false;
}

/* The op of the new program that makes a tensor; n_ops: none. */
static uint32_t maker_of(const arenaut_rewrite *rewrite, uint32_t tensor) {
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        if (rewrite->program->ops[i].outputs[0] == tensor) return i;
    }
    return rewrite->n_ops;
}

static bool say_the_same(const arenaut_op *a, const arenaut_op *b) {
    bool same = strcmp(a->name, b->name) == 0 && a->n_attributes == b->n_attributes;
    for (uint32_t k = 0; k < a->n_attributes && same; k++) {
        const arenaut_attribute *x = &a->attributes[k], *y = &b->attributes[k];
        same = x->n_numbers == y->n_numbers &&
               (x->n_numbers == 0 ||
                memcmp(x->numbers, y->numbers, x->n_numbers * sizeof *x->numbers) == 0);
    }
    return same;
}

/* Two tensors have the same elements, made twice. */
static bool are_alike(const arenaut_rewrite *rewrite, uint32_t a, uint32_t b) {
    const uint32_t x = maker_of(rewrite, a), y = maker_of(rewrite, b);
    if (a == b) return true;
    if (x == rewrite->n_ops || y == rewrite->n_ops || rewrite->ops[x] != rewrite->ops[y] ||
        a == ARENAUT_NONE || b == ARENAUT_NONE) {
        return false;
    }
    const arenaut_op *one = &rewrite->program->ops[x], *other = &rewrite->program->ops[y];
    if (!say_the_same(one, other) || one->n_inputs != other->n_inputs) return false;
    for (uint32_t k = 0; k < one->n_inputs && strcmp(one->name, "ArgMax") != 0; k++) {
        if (!are_alike(rewrite, one->inputs[k], other->inputs[k])) return false;
    }
    return true;
}

/* Operands of a tiled program that are exchanged for another tensor of their sizes, of which the
 * checker takes none. */
uint32_t spoil_tiles(const arenaut_program *p, arenaut_split_stage stage) {
    uint32_t n = 0;
    arenaut_rewrite *rewrite = split_rounded(p, stage);
    arenaut_program *made = rewrite->program;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &made->ops[i];
        for (uint32_t k = 0; k < op->n_inputs && !is_free(op); k++) {
            uint32_t *input = (uint32_t *)(uintptr_t)&op->inputs[k];
            const uint32_t right = *input;
            if (right == ARENAUT_NONE || made->tensors[right].rank < 2) continue;
            for (uint32_t t = 0; t < rewrite->n_tensors; t++) {
                if (t == right || !same_sizes(&made->tensors[t], &made->tensors[right])) continue;
                if (is_alias_of(rewrite, t, right) || are_alike(rewrite, t, right)) continue;
                *input = t;
                if (is_same_program(p, rewrite)) fail_msg("op %u reads tensor %u", i, t);
                n++;
            }
            *input = right;
        }
    }
    arn_rewrite_free(rewrite);
    return n;
}
