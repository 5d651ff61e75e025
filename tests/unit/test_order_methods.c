/* Claims about schedules of programs with several methods, entries and callees, compared with every
 * schedule of every method: live bytes are counted from the lifetimes that lowering computes. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/pipeline.h>

#include "support/printed.h"
#include "support/random.h"

enum { METHODS = 5, OPS = 5, ORDERS = 150, PROGRAMS = 60 };

typedef struct small_op {
    uint32_t inputs[2], n_inputs, output; /* tensors of the method; input STATE: the shared state */
    uint32_t calls[2], n_calls;
} small_op;

enum { STATE = 50 };

/* Tensor 0 is the method's input, the last op defines its output. */
typedef struct small_method {
    uint32_t n_ops, bytes[OPS + 1];
    small_op op[OPS];
    bool entry, names_state;
} small_method;

typedef struct small_program {
    uint32_t n;
    small_method method[METHODS];
    const char *target;
} small_program;

/* Each callable method is called once, by the one before it in the list or by an entry. */
static void add_call(small_program *p, uint32_t caller, uint32_t *next) {
    small_method *m = &p->method[caller];
    small_op *op = &m->op[m->n_ops / 2];
    op->n_inputs = 1;
    for (uint32_t k = 0; k < 2 && *next < p->n; k++) {
        op->calls[op->n_calls++] = *next;
        p->method[(*next)++].entry = false;
    }
}

static void draw_method(small_method *m, rng *r, bool with_state) {
    m->entry = true;
    m->n_ops = 3 + rng_below(r, OPS - 2);
    for (uint32_t t = 0; t <= m->n_ops; t++) m->bytes[t] = 16 * (1 + rng_below(r, 12));
    for (uint32_t i = 0; i < m->n_ops; i++) {
        small_op *op = &m->op[i];
        op->n_inputs = i > 1 && rng_once_in(r, 3) ? 2 : 1;
        op->output = i + 1;
        for (uint32_t k = 0; k < op->n_inputs; k++) op->inputs[k] = rng_below(r, i + 1);
        if (i == 0) op->inputs[0] = 0;
        if (with_state && rng_once_in(r, 5)) {
            op->inputs[op->n_inputs - 1] = i == 0 ? 0 : (uint32_t)STATE;
            m->names_state = m->names_state || i > 0;
        }
    }
}

static void draw(small_program *p, rng *r) {
    /* One arena, one and another for named state, one each, and calls that are merged. */
    static const char *const targets[] = {"generic", "torch", "executorch", "litert",
                                          "tflite-micro"};
    memset(p, 0, sizeof *p);
    p->n = 1 + rng_below(r, METHODS);
    p->target = targets[rng_below(r, sizeof targets / sizeof *targets)];
    const bool with_state = rng_once_in(r, 2);
    for (uint32_t m = 0; m < p->n; m++) draw_method(&p->method[m], r, with_state);
    uint32_t next = 1;
    for (uint32_t m = 0; m < p->n && m < next; m++) {
        if (rng_once_in(r, 2)) add_call(p, m, &next);
        if (m + 1 == next) next++; /* that one is another entry */
    }
}

/* ---- as a file ---- */

static void put_name(text *t, uint32_t method, uint32_t tensor) {
    if (tensor == STATE) put(t, "\"s%u\"", method);
    else put(t, "\"m%ut%u\"", method, tensor);
}

static void put_op(text *t, uint32_t m, const small_op *op) {
    put(t, "{\"name\": \"%s\", \"kind\": \"%s\", \"inputs\": [", op->n_calls ? "WHILE" : "CONV_2D",
        op->n_calls == 2   ? "if"
        : op->n_calls == 1 ? "call"
                           : "out");
    if (op->n_calls == 2) { /* the condition is the argument, too */
        put_name(t, m, op->inputs[0]);
        put(t, ", ");
    }
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (k) put(t, ", ");
        put_name(t, m, op->inputs[k]);
    }
    put(t, "], \"outputs\": [");
    put_name(t, m, op->output);
    put(t, "], \"calls\": [");
    for (uint32_t k = 0; k < op->n_calls; k++) put(t, "%s%u", k ? ", " : "", op->calls[k]);
    put(t, "]}");
}

/* `ops`: per method, the schedule of its ops. */
static void put_program(text *t, const small_program *p, uint32_t ops[METHODS][OPS]) {
    t->n = 0;
    put(t, "{\"schema\": \"arenaut.program/1\", \"tensors\": [");
    for (uint32_t m = 0; m < p->n; m++) {
        for (uint32_t i = 0; i <= p->method[m].n_ops; i++) {
            put(t, "%s{\"name\": \"m%ut%u\", \"bytes\": %u, \"method\": %u}", m + i ? ", " : "", m,
                i, p->method[m].bytes[i], m);
        }
        if (!p->method[m].names_state) continue;
        put(t,
            ", {\"name\": \"s%u\", \"qualified_name\": \"state\", \"class\": \"state\", \"bytes\": "
            "32, \"method\": %u}",
            m, m);
    }
    put(t, "], \"methods\": [");
    for (uint32_t m = 0; m < p->n; m++) {
        const small_method *method = &p->method[m];
        put(t,
            "%s{\"name\": \"f%u\", \"entry\": %s, \"inputs\": [\"m%ut0\"], \"outputs\": "
            "[\"m%ut%u\"]",
            m ? ", " : "", m, method->entry ? "true" : "false", m, m, method->n_ops);
        put(t, ", \"ops\": [");
        for (uint32_t i = 0; i < method->n_ops; i++) {
            if (i) put(t, ", ");
            put_op(t, m, &method->op[ops[m][i]]);
        }
        put(t, "]}");
    }
    put(t, "]}");
}

/* ---- all schedules ---- */

static bool names_state(const small_program *p, const small_op *op) {
    bool any = false;
    for (uint32_t k = 0; k < op->n_calls; k++) {
        const small_method *m = &p->method[op->calls[k]];
        any = any || m->names_state;
        for (uint32_t i = 0; i < m->n_ops; i++) any = any || names_state(p, &m->op[i]);
    }
    return any;
}

static bool may_run(const small_program *p, const small_method *m, uint32_t ran, uint32_t i) {
    const small_op *op = &m->op[i];
    if ((ran >> i) & 1) return false;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t t = op->inputs[k];
        if (t != STATE && t > 0 && !((ran >> (t - 1)) & 1)) return false;
    }
    for (uint32_t e = 0; e < i; e++) {
        const bool fixed = names_state(p, op) || names_state(p, &m->op[e]);
        if (fixed && !((ran >> e) & 1)) return false;
    }
    return true;
}

typedef struct orders {
    const small_program *program;
    uint32_t ops[METHODS][OPS];
    uint64_t least;
    uint32_t n;
} orders;

static uint64_t alive_at(const arenaut_problem *p, uint32_t pool, int64_t step) {
    uint64_t sum = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        bool alive = (arenaut_problem_pools(p, b) >> pool) & 1;
        bool now = false;
        for (uint32_t k = 0; k < arenaut_problem_lifetime_count(p, b); k++) {
            const arenaut_interval life = arenaut_problem_lifetimes(p, b)[k];
            now = now || (life.first <= step && step < life.end);
        }
        const uint64_t align = arenaut_problem_align(p, b); /* that of all */
        if (alive && now) sum += (p->size[b] + align - 1) / align * align;
    }
    return sum;
}

/* The live bytes, pool by pool. */
static uint64_t count_alive(const arenaut_problem *p, uint32_t n_steps) {
    uint64_t sum = 0;
    for (uint32_t pool = 0; pool < p->n_pools; pool++) {
        uint64_t most = 0;
        for (int64_t step = -1; step <= (int64_t)n_steps; step++) {
            const uint64_t alive = alive_at(p, pool, step);
            if (alive > most) most = alive;
        }
        sum += most;
    }
    return sum;
}

static arenaut_pipeline *run(const text *t, const small_program *program, bool reorder) {
    const arenaut_pipeline_options options = {.target = arenaut_target_find(program->target),
                                              .overwrite = ARENAUT_OVERWRITE_OFF,
                                              .reordering.on = reorder};
    arenaut_pipeline *p = NULL;
    arenaut_error err;
    assert_ok(arenaut_pipeline_run(t->bytes, (size_t)t->n, &options, NULL, &p, &err), err);
    return p;
}

static void try_orders(orders *o) {
    text t;
    put_program(&t, o->program, o->ops);
    arenaut_pipeline *p = run(&t, o->program, false);
    const uint64_t alive = count_alive(p->problem, p->lowering->n_steps);
    if (alive < o->least) o->least = alive;
    o->n++;
    arenaut_pipeline_free(p);
}

/* Schedules of method `m` and later ones; `n` of its ops have run. */
static void list_orders(orders *o, uint32_t m, uint32_t ran, uint32_t n) {
    if (o->n > ORDERS) return;
    if (m == o->program->n) {
        try_orders(o);
        return;
    }
    const small_method *method = &o->program->method[m];
    if (n == method->n_ops) {
        list_orders(o, m + 1, 0, 0);
        return;
    }
    for (uint32_t i = 0; i < method->n_ops; i++) {
        if (!may_run(o->program, method, ran, i)) continue;
        o->ops[m][n] = i;
        list_orders(o, m, ran | UINT32_C(1) << i, n + 1);
    }
}

/* ---- claims ---- */

static bool compare(const small_program *program, bool *gained) {
    orders o = {.program = program, .least = UINT64_MAX};
    text t;
    list_orders(&o, 0, 0, 0);
    for (uint32_t m = 0; m < program->n; m++) {
        for (uint32_t i = 0; i < OPS; i++) o.ops[m][i] = i;
    }
    put_program(&t, program, o.ops);
    arenaut_pipeline *plain = run(&t, program, false), *p = run(&t, program, true);
    const arenaut_ordering *said = &p->ordering;
    assert_true(said->known);
    assert_int_equal(said->given, count_alive(plain->problem, plain->lowering->n_steps));
    assert_int_equal(said->bound, said->best);
    assert_true(p->figures.planned <= plain->figures.planned);
    const bool all = o.n <= ORDERS;
    if (all) assert_int_equal(said->best, o.least);
    if (p->rewrite) {
        assert_true(count_alive(p->problem, p->lowering->n_steps) >= said->bound);
        assert_true(p->figures.planned < plain->figures.planned);
        *gained = true;
    }
    arenaut_pipeline_free(plain);
    arenaut_pipeline_free(p);
    return all;
}

TEST(the_best_orders_of_several_methods_are_those_of_all_orders) {
    rng r = {11};
    uint32_t n_all = 0, n_gained = 0, n_several = 0;
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        small_program p;
        bool gained = false;
        draw(&p, &r);
        n_all += compare(&p, &gained);
        n_gained += gained;
        n_several += p.n > 1;
    }
    assert_true(n_all > PROGRAMS / 2 && n_gained > PROGRAMS / 8 && n_several > PROGRAMS / 2);
}
