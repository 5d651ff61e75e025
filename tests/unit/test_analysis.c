/* The analyses that passes, lowering and rewrites share, held against slow definitions: ends of
 * def-use chains against a look at each op for each tensor, dependences of accesses against all
 * pairs that conflict. */
#include "support/test.h"

#include <string.h>

#include "analysis/accesses.h"
#include "analysis/aliases.h"
#include "analysis/def_use.h"
#include "ir/program.h"
#include "support/fuse.h"
#include "support/programs.h"

static uint32_t count(const uint32_t *list, uint32_t n, uint32_t id) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) found += list[i] == id;
    return found;
}

static void assert_ends(const arenaut_program *p, uint32_t t, unsigned which,
                        const arn_def_use *found) {
    arn_def_use d = {.first_def = ARENAUT_NONE, .last_def = ARENAUT_NONE, .last_use = ARENAUT_NONE};
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if ((which & ARN_TOUCHING) && !arn_op_kind_touches(op->kind)) continue;
        const bool named = op->kind == ARENAUT_OP_VIEW && (which & ARN_NO_NAMES);
        const bool defined = (!named && count(op->outputs, op->n_outputs, t)) ||
                             count(op->scratch, op->n_scratch, t);
        const uint32_t uses = count(op->inputs, op->n_inputs, t);
        if (defined && d.first_def == ARENAUT_NONE) d.first_def = i;
        if (defined) d.last_def = i;
        if (uses) d.last_use = i;
        d.n_uses += uses;
    }
    assert_int_equal(found->first_def, d.first_def);
    assert_int_equal(found->last_def, d.last_def);
    assert_int_equal(found->n_uses, d.n_uses);
    assert_int_equal(found->last_use, d.last_use);
}

TEST(ends_of_def_use_chains_are_those_of_a_slow_look) {
    static const unsigned kinds[] = {0, ARN_TOUCHING, ARN_TOUCHING | ARN_NO_NAMES};
    rng r = {29};
    for (int round = 0; round < 60; round++) {
        arenaut_program *p = random_program(&r);
        arn_region region;
        arn_region_init(&region, NULL);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            const arn_def_use *found = arn_def_use_find(p, NULL, kinds[k], &region);
            assert_non_null(found);
            for (uint32_t t = 0; t < p->n_tensors; t++) assert_ends(p, t, kinds[k], &found[t]);
        }
        arn_region_free(&region);
        arn_program_free(p);
    }
}

/*  x -> relu -> y;  v names y;  z = add(y, y);  w = abs(v) */
TEST(a_value_dies_behind_all_of_its_names) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t y = add_tensor(p, "y", 16, ARENAUT_INTERMEDIATE);
    const uint32_t v = add_view(p, "v", y, 0, 8);
    const uint32_t z = add_tensor(p, "z", 16, ARENAUT_INTERMEDIATE);
    const uint32_t w = add_tensor(p, "w", 8, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .name = "relu", IN(x), OUT(y));
    ADD_OP(p, .name = "view", .kind = ARENAUT_OP_VIEW, IN(y), OUT(v));
    ADD_OP(p, .name = "add", IN(y, y), OUT(z));
    ADD_OP(p, .name = "abs", IN(v), OUT(w));
    FINISH(p, LIST(x), LIST(z, w));
    arn_region region;
    arn_region_init(&region, NULL);
    const arn_def_use *of_names = arn_def_use_find(p, NULL, ARN_ALIASES, &region);
    const uint32_t *storage_of = arn_storages_find(p, &region);
    const arn_def_use *memory = arn_def_use_find(p, storage_of, ARN_TOUCHING, &region);
    assert_int_equal(of_names[y].n_uses, 3);
    assert_int_equal(of_names[y].last_use, 2);
    assert_false(arn_dies_at(&of_names[y], 2)); /* v is read behind it */
    assert_true(arn_dies_at(&of_names[v], 3));
    assert_true(of_names[z].wanted && of_names[z].kept && !of_names[y].kept);
    assert_int_equal(memory[y].last_use, 3);
    assert_int_equal(memory[v].n_uses, 0); /* it has no storage of its own */
    assert_int_equal(arn_find_in_storage(storage_of, p->ops[3].inputs, 1, y), v);
    assert_true(arn_fills_storage(p, y) && !arn_fills_storage(p, v));
    arn_region_free(&region);
    arn_program_free(p);
}

/* ---- accesses ---- */

enum { MOST = 24, CELLS = 3 };

typedef struct history {
    bool after[MOST][MOST]; /* by dependences, and what these depend on */
} history;

static void depend(void *context, uint32_t op, uint32_t first, bool on_read) {
    history *h = context;
    (void)on_read;
    if (first == ARENAUT_NONE || first == op) return;
    assert_true(first < op);
    h->after[op][first] = true;
    for (uint32_t i = 0; i < first; i++) h->after[op][i] = h->after[op][i] || h->after[first][i];
}

TEST(accesses_that_conflict_are_in_order_and_others_need_not_be) {
    rng r = {7};
    for (int round = 0; round < 200; round++) {
        bool reads[MOST][CELLS] = {{0}}, writes[MOST][CELLS] = {{0}}, order[MOST][MOST] = {{0}};
        history h = {{{0}}};
        arn_accesses a = {.depend = depend, .context = &h};
        arn_region region;
        arn_region_init(&region, NULL);
        assert_true(arn_accesses_make(&a, &region, CELLS, MOST * CELLS));
        for (uint32_t op = 0; op < MOST; op++) {
            for (uint32_t c = 0; c < CELLS; c++) {
                reads[op][c] = rng_once_in(&r, 3);
                writes[op][c] = rng_once_in(&r, 5);
                if (reads[op][c]) arn_accesses_read(&a, op, c);
                if (writes[op][c]) arn_accesses_write(&a, op, c);
            }
            for (uint32_t i = op; i-- > 0;) {
                bool conflict = false;
                for (uint32_t c = 0; c < CELLS; c++) {
                    conflict = conflict || (writes[i][c] && (reads[op][c] || writes[op][c])) ||
                               (reads[i][c] && writes[op][c]);
                }
                if (!conflict) continue;
                order[op][i] = true;
                for (uint32_t k = 0; k < i; k++) order[op][k] = order[op][k] || order[i][k];
            }
        }
        assert_memory_equal(h.after, order, sizeof order);
        arn_region_free(&region);
    }
}

static arenaut_status find_all(void *context, const arenaut_allocator *allocator) {
    const arenaut_program *p = context;
    arn_region region;
    arn_region_init(&region, allocator);
    const uint32_t *of = arn_storages_find(p, &region);
    const arn_def_use *found = of ? arn_def_use_find(p, of, ARN_UPDATES, &region) : NULL;
    arn_region_free(&region);
    return found ? ARENAUT_OK : ARENAUT_NO_MEMORY;
}

TEST(analyses_survive_every_allocation_failure) {
    rng r = {3};
    arenaut_program *p = random_program(&r);
    survives_every_allocation_failure(find_all, p);
    arn_program_free(p);
}
