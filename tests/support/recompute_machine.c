#include "support/recompute_machine.h"

#include <stdio.h>
#include <string.h>

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "rewrite/find_within.h"
#include "rewrite/order/program_order.h"
#include "rewrite/recompute/recompute_sequence.h"
#include "support/random.h"
#include "support/require.h"
#include "support/unbudgeted.h"

enum { MOST_OPS = 9, MOST_RUNS = 64, MOST_TENSORS = 64 };

/* ---- programs ---- */

static uint32_t add_tensor(arenaut_program *p, const char *name, arenaut_class cls,
                           uint32_t storage) {
    uint32_t t;
    arenaut_tensor tensor = arenaut_tensor_default();
    tensor.name = name;
    tensor.bytes = 16;
    tensor.cls = cls;
    tensor.view_of = storage;
    REQUIRE(arenaut_program_add_tensor(p, &tensor, &t, NULL) == ARENAUT_OK);
    return t;
}

/* `b`: NONE: it reads one operand. */
static void add_op(arenaut_program *p, const char *name, arenaut_op_kind kind, uint32_t a,
                   uint32_t b, uint32_t made) {
    const uint32_t inputs[] = {a, b};
    const arenaut_op op = {.name = name,
                           .kind = kind,
                           .inputs = inputs,
                           .n_inputs = b == ARENAUT_NONE ? 1 : 2,
                           .outputs = &made,
                           .n_outputs = 1};
    REQUIRE(arn_program_add_op(p, &op, NULL, NULL) == ARENAUT_OK);
}

/* One of four tensors is a view, an update or a draw. `made`: readable tensors, the input first. */
static void add_random_op(arenaut_program *p, rng *r, uint32_t i, uint32_t *made, uint32_t *n) {
    static const char *const sums[] = {"ADD", "MUL", "SUB", "RELU"};
    char name[16];
    const uint32_t a = made[rng_below(r, *n)], b = made[rng_below(r, *n)];
    const uint32_t storage = arenaut_program_storage(p, a, NULL), kind = rng_below(r, 10);
    snprintf(name, sizeof name, "t%u", (unsigned)i);
    if (kind == 2 && storage != made[0] && arenaut_program_storage(p, b, NULL) != made[0]) {
        add_op(p, "UPDATE", ARENAUT_OP_IN_PLACE, a, b, a);
        return;
    }
    const uint32_t t = add_tensor(p, name, ARENAUT_INTERMEDIATE, kind < 2 ? storage : ARENAUT_NONE);
    made[(*n)++] = t;
    if (kind < 2) add_op(p, "RESHAPE", ARENAUT_OP_VIEW, a, ARENAUT_NONE, t);
    else if (kind == 3) add_op(p, "RANDOM_UNIFORM", ARENAUT_OP_OUT, a, ARENAUT_NONE, t);
    else add_op(p, sums[rng_below(r, 4)], ARENAUT_OP_OUT, a, b, t);
}

/* Of sums, views, updates and draws, each of a few of the tensors before it. */
static arenaut_program *random_sequence(uint64_t seed) {
    rng r = {seed};
    arenaut_program *p = NULL;
    uint32_t made[MOST_OPS + 1], n = 0;
    REQUIRE(arn_program_new(NULL, &p, NULL) == ARENAUT_OK);
    REQUIRE(arn_program_add_method(p, "main", true, NULL, NULL) == ARENAUT_OK);
    made[n++] = add_tensor(p, "x", ARENAUT_INPUT, ARENAUT_NONE);
    const uint32_t n_ops = 3 + rng_below(&r, MOST_OPS - 2);
    for (uint32_t i = 0; i < n_ops; i++) add_random_op(p, &r, i, made, &n);
    const uint32_t y = add_tensor(p, "y", ARENAUT_OUTPUT, ARENAUT_NONE);
    add_op(p, "ADD", ARENAUT_OP_OUT, made[n - 1], made[rng_below(&r, n)], y);
    const uint32_t outputs[] = {y, made[rng_below(&r, n)]};
    REQUIRE(arenaut_program_set_method_io(p, 0, made, 1, outputs, 2, NULL) == ARENAUT_OK);
    REQUIRE(arn_program_validate(p, NULL) == ARENAUT_OK);
    return p;
}

static bool only_computes(const arenaut_op *op) {
    return op->kind != ARENAUT_OP_IN_PLACE && strcmp(op->name, "RANDOM_UNIFORM") != 0;
}

/* The ops in their order, and some of them again behind. */
static uint32_t random_runs(const arenaut_program *p, rng *r, uint32_t *ops) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const uint32_t again = rng_below(r, p->n_ops);
        if (again < i && n + p->n_ops - i < MOST_RUNS && only_computes(&p->ops[again])) {
            ops[n++] = again;
        }
        ops[n++] = i;
    }
    return n;
}

/* ---- running them with numbers ---- */

typedef struct machine {
    uint64_t content[MOST_TENSORS]; /* per storage */
    uint32_t named[MOST_TENSORS];   /* per tensor: how often it was made; it is another one then */
    uint64_t drawn;
} machine;

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t x = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 29;
    return x * UINT64_C(0x94d049bb133111eb);
}

static uint64_t value_of(const machine *m, const arenaut_program *p, uint32_t t) {
    return mix(m->content[arenaut_program_storage(p, t, NULL)], m->named[t]);
}

/* The reads of an op, with all that counts; then it runs: an update writes its first operand, the
 * only one that is another name of its result. `id`: that of the op before. */
static uint64_t run_op(machine *m, const arenaut_program *p, const arenaut_op *op, uint64_t id) {
    uint64_t read = mix(1, id);
    const uint32_t made = op->outputs[0], storage = arenaut_program_storage(p, made, NULL);
    for (uint32_t i = 0; i < op->n_inputs; i++) read = mix(read, value_of(m, p, op->inputs[i]));
    if (strcmp(op->name, "RANDOM_UNIFORM") == 0) read = mix(read, ++m->drawn);
    const bool names =
        op->kind == ARENAUT_OP_VIEW && arenaut_program_storage(p, op->inputs[0], NULL) == storage;
    read = mix(read, names);
    m->named[made]++;
    if (!names) m->content[storage] = mix(m->content[storage], read);
    if (op->kind == ARENAUT_OP_IN_PLACE) {
        uint64_t *content = &m->content[arenaut_program_storage(p, op->inputs[0], NULL)];
        *content = mix(*content, read);
    }
    return read;
}

static machine begin_machine(const arenaut_program *p) {
    machine m = {.drawn = 0};
    m.content[p->methods[0].inputs[0]] = 7;
    return m;
}

/* Whether each op reads the same as before, and the results are the old ones. */
static bool computes_the_same(const arenaut_program *before, const arenaut_rewrite *rewrite) {
    const arenaut_program *after = rewrite->program;
    machine old = begin_machine(before), new = begin_machine(after);
    uint64_t reads[MOST_RUNS];
    for (uint32_t i = 0; i < before->n_ops; i++) {
        reads[i] = run_op(&old, before, &before->ops[i], i);
    }
    for (uint32_t i = 0; i < after->n_ops; i++) {
        const uint32_t op = rewrite->ops[i];
        if (run_op(&new, after, &after->ops[i], op) != reads[op]) return false;
    }
    for (uint32_t i = 0; i < before->methods[0].n_outputs; i++) {
        const uint32_t t = before->methods[0].outputs[i];
        if (value_of(&old, before, t) != value_of(&new, after, t)) return false;
    }
    return true;
}

/* ---- tampering ---- */

/* Another tensor with the same origin: a copy, or its original. */
static uint32_t other_of_origin(const arenaut_rewrite *rewrite, uint32_t tensor, rng *r) {
    const uint32_t first = rng_below(r, rewrite->n_tensors);
    for (uint32_t k = 0; k < rewrite->n_tensors; k++) {
        const uint32_t t = (first + k) % rewrite->n_tensors;
        if (t != tensor && rewrite->tensors[t].tensor == rewrite->tensors[tensor].tensor) return t;
    }
    return tensor;
}

static void read_another(arenaut_rewrite *rewrite, rng *r) {
    arenaut_op *op = &rewrite->program->ops[rng_below(r, rewrite->n_ops)];
    uint32_t *inputs = (uint32_t *)op->inputs;
    const uint32_t i = rng_below(r, op->n_inputs);
    if (op->kind != ARENAUT_OP_IN_PLACE) inputs[i] = other_of_origin(rewrite, inputs[i], r);
}

static void swap_neighbours(arenaut_rewrite *rewrite, rng *r) {
    const uint32_t at = rng_below(r, rewrite->n_ops - 1);
    arenaut_op *ops = rewrite->program->ops, op = ops[at];
    const uint32_t before = rewrite->ops[at];
    ops[at] = ops[at + 1];
    ops[at + 1] = op;
    rewrite->ops[at] = rewrite->ops[at + 1];
    rewrite->ops[at + 1] = before;
}

static void view_another(arenaut_rewrite *rewrite, rng *r) {
    arenaut_tensor *tensor = &rewrite->program->tensors[rng_below(r, rewrite->n_tensors)];
    if (tensor->view_of == ARENAUT_NONE) return;
    tensor->view_of = other_of_origin(rewrite, tensor->view_of, r);
}

/* ---- one program ---- */

static bool is_accepted(const arenaut_program *before, const arenaut_rewrite *rewrite) {
    arenaut_finding finding;
    const arenaut_status st = arenaut_check_rewrite(before, rewrite, NULL, &finding, NULL);
    REQUIRE(st == ARENAUT_OK || st == ARENAUT_REJECTED);
    REQUIRE(finding.rule == (st == ARENAUT_OK ? ARENAUT_RULE_NONE : ARENAUT_RULE_REWRITE));
    return st == ARENAUT_OK;
}

/* The verdicts on the sequence, and on each of a few changes of it. */
static void try_verdicts(uint64_t seed, const uint32_t *ops, uint32_t n, rng *r,
                         recompute_counts *counts) {
    arenaut_program *before = random_sequence(seed);
    arenaut_rewrite *rewrite = NULL;
    REQUIRE(arn_recompute(random_sequence(seed), ops, n, &rewrite, NULL) == ARENAUT_OK);
    for (int changes = 0; changes < 4; changes++) {
        const bool same = computes_the_same(before, rewrite);
        REQUIRE(is_accepted(before, rewrite) == same);
        counts->accepted += same;
        counts->rejected += !same;
        const uint32_t change = rng_below(r, 3);
        if (change == 0) read_another(rewrite, r);
        else if (change == 1) swap_neighbours(rewrite, r);
        else view_another(rewrite, r);
    }
    arn_rewrite_free(rewrite);
    arn_program_free(before);
}

/* NULL: its order cannot change. */
static arn_recomputation *find(const arenaut_program *p) {
    const arenaut_target *target = arenaut_target_find("generic");
    arenaut_lowering *lowering = NULL;
    arn_program_order *order = NULL;
    arn_recomputation *found = NULL;
    uint32_t base[MOST_OPS + 1];
    for (uint32_t i = 0; i < p->n_ops; i++) base[i] = i;
    REQUIRE(arenaut_lower(p, target, NULL, NULL, &lowering, NULL) == ARENAUT_OK);
    const arenaut_status st = arn_program_order_new(p, lowering, target, NULL, NULL, &order, NULL);
    REQUIRE(st == ARENAUT_OK || st == ARENAUT_REFUSED);
    if (st == ARENAUT_OK && arn_program_order_count(order) == 1) {
        REQUIRE(recompute_find(&(arn_recompute_task){p, lowering, order, p, base, false}, NULL,
                               NULL, &found, NULL) == ARENAUT_OK);
    }
    arn_program_order_free(order);
    arenaut_lowering_free(lowering);
    return found;
}

static void check_found(const arenaut_program *before, uint64_t seed,
                        const arn_recomputation *found) {
    arenaut_rewrite *rewrite = NULL;
    bool same = found->n_ops == before->n_ops;
    for (uint32_t i = 0; i < found->n_ops && same; i++) same = found->ops[i] == i;
    REQUIRE((found->after < found->before) == !same);
    REQUIRE(found->after <= found->before);
    REQUIRE(arn_recompute(random_sequence(seed), found->ops, found->n_ops, &rewrite, NULL) ==
            ARENAUT_OK);
    REQUIRE(computes_the_same(before, rewrite));
    REQUIRE(is_accepted(before, rewrite));
    arn_rewrite_free(rewrite);
}

void recompute_machine_try(uint64_t seed, recompute_counts *counts) {
    rng r = {~seed};
    uint32_t ops[MOST_RUNS];
    arenaut_program *p = random_sequence(seed);
    arn_recomputation *found = find(p);
    if (found) check_found(p, seed, found);
    if (found && found->n_ops > p->n_ops) {
        counts->gained++;
        try_verdicts(seed, found->ops, found->n_ops, &r, counts);
    }
    try_verdicts(seed, ops, random_runs(p, &r, ops), &r, counts);
    arn_recomputation_free(found);
    arn_program_free(p);
}
