/* write-back: many states change at once in the graph, and the copies that change them come one
 * after another. The arena of a planned program at the end is held against the meaning of the
 * graph, and programs that copy in a wrong order are refused by the replay. */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include <arenaut/check.h>
#include <arenaut/lowering.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "ir/program.h"
#include "support/fuse.h"
#include "support/programs.h"
#include "support/random.h"

enum { MAX_TENSORS = 64, TENSOR_BYTES = 64, MAX_ARENA = 1 << 14, CALLS_MADE = 3 };

/* ---- programs ---- */

static uint32_t add(arenaut_program *p, arenaut_class cls) {
    static const int64_t dims[] = {16};
    arenaut_tensor t = arenaut_tensor_default();
    arenaut_error err = {0};
    char name[16];
    uint32_t id;
    snprintf(name, sizeof name, "%c%u", cls == ARENAUT_STATE ? 's' : 't', (unsigned)p->n_tensors);
    t.name = name;
    if (cls == ARENAUT_STATE) t.qualified_name = name;
    t.dtype = ARENAUT_DTYPE_FLOAT32;
    t.rank = 1;
    t.dims = dims;
    t.bytes = TENSOR_BYTES;
    t.cls = cls;
    t.method = 0;
    assert_ok(arenaut_program_add_tensor(p, &t, &id, &err), err);
    return id;
}

static arenaut_program *begin_in(const char *dialect) {
    arenaut_program *p = new_program();
    arenaut_error err = {0};
    if (dialect) assert_ok(arn_program_set_dialect(p, dialect, &err), err);
    begin_method(p, "forward");
    return p;
}

static arenaut_program *begin(void) { return begin_in("aten"); }

static void bind(arenaut_program *p, const arenaut_binding *bindings, uint32_t n) {
    arenaut_error err = {0};
    assert_ok(arn_program_set_bindings(p, 0, bindings, n, &err), err);
    finish_program(p);
}

static void apply(arenaut_program *p, const char *selection) {
    const arenaut_pass_options options = {.target = arenaut_target_find("torch")};
    arenaut_error err = {0};
    assert_ok(arenaut_passes_run(p, selection, &options, NULL, NULL, &err), err);
}

/* Some states, an input, values computed from all of them, and new values of any kind: other
 * states, the input, computed values, views of states. */
static arenaut_program *random_graph(rng *r) {
    arenaut_program *p = begin();
    arenaut_binding bindings[8];
    uint32_t known[24], n_known = 0, outputs[4], n_outputs = 0, n_bindings = 0;
    const uint32_t n_states = 1 + rng_below(r, 6);
    for (uint32_t i = 0; i < n_states; i++) known[n_known++] = add(p, ARENAUT_STATE);
    const uint32_t x = known[n_known++] = add(p, ARENAUT_INPUT);
    for (uint32_t i = rng_below(r, 8); i > 0; i--) {
        const uint32_t from = known[rng_below(r, n_known)], to = add(p, ARENAUT_INTERMEDIATE);
        const uint32_t with = known[rng_below(r, n_known)];
        static const char *const names[] = {"aten::view", "aten::neg", "aten::neg"};
        const char *name = names[rng_below(r, COUNT_OF(names))];
        if (rng_once_in(r, 4))
            ADD_OP(p, .name = "aten::copy", .kind = ARENAUT_OP_FUNCTIONAL, IN(from, with), OUT(to));
        else ADD_OP(p, .name = name, .kind = ARENAUT_OP_FUNCTIONAL, IN(from), OUT(to));
        known[n_known++] = to;
    }
    const bool only_states = rng_once_in(r, 2); /* so that circles are not rare */
    for (uint32_t i = 0; i < n_states; i++) {
        if (rng_once_in(r, 6)) continue;
        const uint32_t value = known[rng_below(r, only_states ? n_states : n_known)];
        bindings[n_bindings++] = (arenaut_binding){ARENAUT_BINDING_MUTATES, value, known[i]};
    }
    if (rng_once_in(r, 4)) { /* and the caller's own input is changed */
        const uint32_t value = known[rng_below(r, n_known)];
        bindings[n_bindings++] = (arenaut_binding){ARENAUT_BINDING_MUTATES, value, x};
    }
    while (n_outputs < 1 + rng_below(r, 3)) outputs[n_outputs++] = known[rng_below(r, n_known)];
    SET_IO(p, 0, &x, 1, outputs, n_outputs);
    bind(p, bindings, n_bindings);
    return p;
}

/* ---- its meaning: every value is a number ---- */

typedef struct meaning {
    uint64_t value[MAX_TENSORS], next[MAX_TENSORS], result[4];
    uint32_t n_results;
} meaning;

static uint64_t negated(uint64_t v) {
    rng r = {v};
    return rng_next(&r) | 1;
}

static uint64_t fed(int call) { return 1000 + (uint64_t)call; }

/* One call of the graph as it was before any pass: nothing changes before all is computed. */
static void evaluate(const arenaut_program *p, meaning *m, int call) {
    const arenaut_method *f = &p->methods[0];
    m->value[f->inputs[0]] = fed(call);
    for (uint32_t i = 0; i < f->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        const uint64_t v = m->value[op->inputs[op->n_inputs - 1]];
        m->value[op->outputs[0]] = strcmp(op->name, "aten::neg") == 0 ? negated(v) : v;
    }
    m->n_results = f->n_outputs;
    for (uint32_t i = 0; i < f->n_outputs; i++) m->result[i] = m->value[f->outputs[i]];
    memcpy(m->next, m->value, sizeof m->next);
    for (uint32_t i = 0; i < f->n_bindings; i++) {
        m->next[f->bindings[i].target] = m->value[f->bindings[i].value];
    }
    memcpy(m->value, m->next, sizeof m->value);
}

/* ---- its effect: the planned program, in its arena ---- */

typedef struct machine {
    const arenaut_program *p;
    arenaut_lowering *lowering;
    arenaut_plan *plan;
    uint64_t arena[MAX_ARENA / sizeof(uint64_t)];
    uint64_t outside[MAX_TENSORS][TENSOR_BYTES / sizeof(uint64_t)]; /* constants */
} machine;

static uint64_t *memory_of(machine *m, uint32_t tensor) {
    const uint32_t storage = arenaut_program_storage(m->p, tensor, NULL);
    const uint32_t buffer = m->lowering->buffer[storage];
    if (buffer == ARENAUT_NONE) return m->outside[storage];
    const uint64_t offset = m->plan->offset[buffer] + m->lowering->offset[storage];
    assert_true(offset % sizeof(uint64_t) == 0 && offset + TENSOR_BYTES <= MAX_ARENA);
    return m->arena + offset / sizeof(uint64_t);
}

static void store(machine *m, uint32_t tensor, uint64_t value) {
    uint64_t *at = memory_of(m, tensor);
    for (size_t i = 0; i < TENSOR_BYTES / sizeof *at; i++) at[i] = value;
}

/* 0 if parts of it are something else. */
static uint64_t load(machine *m, uint32_t tensor) {
    const uint64_t *at = memory_of(m, tensor);
    for (size_t i = 1; i < TENSOR_BYTES / sizeof *at; i++) {
        if (at[i] != at[0]) return 0;
    }
    return at[0];
}

static void call_planned(machine *m, int call) {
    const arenaut_method *f = &m->p->methods[0];
    store(m, f->inputs[0], fed(call));
    for (uint32_t i = 0; i < f->n_ops; i++) {
        const arenaut_op *op = &m->p->ops[i];
        if (!arn_op_kind_touches(op->kind) || op->kind == ARENAUT_OP_VIEW) continue;
        const uint64_t v = load(m, op->inputs[op->n_inputs - 1]);
        const bool changes = strcmp(op->name, "aten::neg") == 0;
        store(m, op->n_outputs ? op->outputs[0] : op->inputs[0], changes ? negated(v) : v);
    }
}

static void plan(machine *m) {
    arenaut_error err = {0};
    assert_ok(arenaut_lower(m->p, arenaut_target_find("torch"), NULL, NULL, &m->lowering, &err),
              err);
    assert_ok(arenaut_plan_make(m->lowering->problem, NULL, NULL, &m->plan, &err), err);
    arenaut_finding finding;
    assert_ok(arenaut_check_plan(m->lowering->problem, m->plan, NULL, &finding, &err), err);
    uint32_t pools[MAX_TENSORS];
    uint64_t offsets[MAX_TENSORS];
    for (uint32_t t = 0; t < m->p->n_tensors; t++) {
        const uint32_t buffer = m->lowering->buffer[t];
        const bool placed = buffer != ARENAUT_NONE;
        pools[t] = placed ? m->plan->pool[buffer] : ARENAUT_NONE;
        offsets[t] = placed ? m->plan->offset[buffer] + m->lowering->offset[t] : 0;
    }
    const arenaut_placement placement = {m->p->n_tensors, m->lowering->problem->n_pools, pools,
                                         offsets, NULL};
    assert_ok(arenaut_check_replay(m->p, &placement, NULL, NULL, &finding, &err), err);
}

static void run_and_compare(const arenaut_program *graph, const arenaut_program *planned) {
    machine *m = calloc(1, sizeof *m);
    meaning expected = {.n_results = 0};
    assert_non_null(m);
    assert_true(planned->n_tensors <= MAX_TENSORS);
    m->p = planned;
    plan(m);
    for (uint32_t t = 0; t < graph->n_tensors; t++) {
        if (graph->tensors[t].cls != ARENAUT_STATE) continue;
        expected.value[t] = 1 + t;
        store(m, t, 1 + t);
    }
    for (int call = 0; call < CALLS_MADE; call++) {
        evaluate(graph, &expected, call);
        call_planned(m, call);
        for (uint32_t i = 0; i < expected.n_results; i++) {
            assert_int_equal(load(m, planned->methods[0].outputs[i]), expected.result[i]);
        }
        for (uint32_t t = 0; t < graph->n_tensors; t++) {
            if (graph->tensors[t].cls != ARENAUT_STATE) continue;
            assert_int_equal(load(m, t), expected.value[t]);
        }
        for (uint32_t i = 0; i < graph->methods[0].n_bindings; i++) {
            const uint32_t target = graph->methods[0].bindings[i].target;
            assert_int_equal(load(m, target), expected.value[target]);
        }
    }
    arenaut_plan_free(m->plan);
    arenaut_lowering_free(m->lowering);
    free(m);
}

TEST(random_changes_of_state_are_what_the_graph_means) {
    static const char *const selections[] = {NULL, "reinplace", "inplace", "reinplace,inplace"};
    for (uint64_t seed = 0; seed < 1500; seed++) {
        rng one = {seed}, other = {seed};
        arenaut_program *graph = random_graph(&one), *planned = random_graph(&other);
        apply(planned, selections[seed % COUNT_OF(selections)]);
        run_and_compare(graph, planned);
        arn_program_free(graph);
        arn_program_free(planned);
    }
}

/* ---- the copies ---- */

/* "s1<-s0 s0<-t3": the copies and the saved values, by name. */
static void expect_copies(const arenaut_program *p, const char *expected) {
    char text[400] = "";
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        const bool copies = strcmp(op->name, "aten::copy_") == 0;
        if (!copies && strcmp(op->name, "aten::clone") != 0) continue;
        const uint32_t to = copies ? op->inputs[0] : op->outputs[0], from = op->inputs[copies];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s<-%s", *text ? " " : "",
                 p->tensors[to].name, p->tensors[from].name);
    }
    assert_string_equal(text, expected);
}

/* The graphs below begin with these: three states and an input. */
enum { D0, D1, D2, X };

static arenaut_program *with_states(arenaut_program *p) {
    for (uint32_t i = D0; i <= D2; i++) add(p, ARENAUT_STATE);
    add(p, ARENAUT_INPUT);
    return p;
}

static arenaut_program *begin_with_states(void) { return with_states(begin()); }

#define MUTATES(value, target) {ARENAUT_BINDING_MUTATES, value, target}
#define MUTATED(value, target) {ARENAUT_BINDING_MUTATED, value, target}

static void expect(const arenaut_binding *bindings, uint32_t n, uint32_t result,
                   const char *copies) {
    arenaut_program *graphs[2];
    for (int i = 0; i < 2; i++) {
        arenaut_program *p = graphs[i] = begin_with_states();
        SET_IO(p, 0, LIST(X), LIST(result));
        bind(p, bindings, n);
    }
    apply(graphs[1], NULL);
    expect_copies(graphs[1], copies);
    run_and_compare(graphs[0], graphs[1]);
    arn_program_free(graphs[0]);
    arn_program_free(graphs[1]);
}

TEST(a_delay_line_is_copied_from_its_end) {
    const arenaut_binding line[] = {MUTATES(X, D0), MUTATES(D0, D1), MUTATES(D1, D2)};
    expect(line, 3, X, "s2<-s1 s1<-s0 s0<-t3");
}

TEST(states_that_change_places_take_one_more) {
    const arenaut_binding swap[] = {MUTATES(D1, D0), MUTATES(D0, D1)};
    expect(swap, 2, X, "s1.old<-s1 s1<-s0 s0<-s1.old");
    const arenaut_binding round[] = {MUTATES(D1, D0), MUTATES(D2, D1), MUTATES(D0, D2)};
    expect(round, 3, X, "s1.old<-s1 s1<-s2 s2<-s0 s0<-s1.old");
}

TEST(the_old_value_may_be_a_result) {
    const arenaut_binding one[] = {MUTATES(X, D0)};
    expect(one, 1, D0, "s0.old<-s0 s0<-t3");
    /* A value that is saved for the caller serves the circle, too. */
    const arenaut_binding swap[] = {MUTATES(D1, D0), MUTATES(D0, D1)};
    expect(swap, 2, D0, "s0.old<-s0 s0<-s1 s1<-s0.old");
}

TEST(a_state_that_stays_is_not_copied) {
    const arenaut_binding same[] = {MUTATES(D0, D0), MUTATES(D0, D1)};
    expect(same, 2, D0, "s1<-s0");
}

TEST(two_new_values_of_one_state_are_refused) {
    arenaut_program *p = begin_with_states();
    const arenaut_binding twice[] = {MUTATES(X, D0), MUTATES(D1, D0)};
    SET_IO(p, 0, LIST(X), LIST(X));
    bind(p, twice, 2);
    const arenaut_pass_options options = {.target = arenaut_target_find("torch")};
    arenaut_error err = {0};
    assert_int_equal(arenaut_passes_run(p, NULL, &options, NULL, NULL, &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "'s0' is given two new values"));
    arn_program_free(p);
}

/* ---- wrong programs in the replay ---- */

static void copy_to(arenaut_program *p, uint32_t target, uint32_t value) {
    ADD_OP(p, .name = "aten::copy_", .kind = ARENAUT_OP_IN_PLACE, IN(target, value));
}

/* Every tensor in a place of its own: only the meaning can be wrong. */
static arenaut_rule replay(const arenaut_program *p, arenaut_finding *finding) {
    uint32_t pools[MAX_TENSORS];
    uint64_t offsets[MAX_TENSORS];
    arenaut_error err = {0};
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        pools[t] = 0;
        offsets[t] = (uint64_t)t * TENSOR_BYTES;
        if (p->tensors[t].view_of != ARENAUT_NONE) {
            offsets[t] = (uint64_t)p->tensors[t].view_of * TENSOR_BYTES;
        }
    }
    const arenaut_placement placement = {p->n_tensors, 1, pools, offsets, NULL};
    const arenaut_status st = arenaut_check_replay(p, &placement, NULL, NULL, finding, &err);
    assert_int_equal(st, finding->rule == ARENAUT_RULE_NONE ? ARENAUT_OK : ARENAUT_REJECTED);
    return finding->rule;
}

TEST(copies_in_a_wrong_order_are_refused) {
    for (int wrong = 0; wrong < 2; wrong++) {
        arenaut_program *p = begin_with_states();
        arenaut_finding finding;
        const arenaut_binding line[] = {MUTATED(X, D0), MUTATED(D0, D1)};
        if (!wrong) copy_to(p, D1, D0);
        copy_to(p, D0, X);
        if (wrong) copy_to(p, D1, D0);
        SET_IO(p, 0, LIST(X), LIST(X));
        bind(p, line, 2);
        assert_int_equal(replay(p, &finding), wrong ? ARENAUT_RULE_STALE : ARENAUT_RULE_NONE);
        if (wrong) {
            assert_int_equal(finding.a, D0);
            assert_int_equal(finding.op, 1);
            assert_string_equal(finding.msg,
                                "aten::copy_ of method 'forward' reads the new value "
                                "by the name of the old one, 's0': op 0 "
                                "'aten::copy_' writes it");
        }
        arn_program_free(p);
    }
}

TEST(an_old_value_cannot_be_returned_from_what_is_overwritten) {
    for (int wrong = 0; wrong < 2; wrong++) {
        arenaut_program *p = begin_with_states();
        arenaut_finding finding;
        const uint32_t old = add(p, ARENAUT_INTERMEDIATE);
        const arenaut_binding one[] = {MUTATED(X, D0)};
        ADD_OP(p, .name = "aten::clone", IN(D0), OUT(old));
        copy_to(p, D0, X);
        SET_IO(p, 0, LIST(X), LIST(wrong ? D0 : old));
        bind(p, one, 1);
        assert_int_equal(replay(p, &finding), wrong ? ARENAUT_RULE_STALE : ARENAUT_RULE_NONE);
        arn_program_free(p);
    }
}

TEST(a_new_value_has_to_get_there) {
    for (int variant = 0; variant < 4; variant++) {
        arenaut_program *p = begin_with_states();
        arenaut_finding finding;
        const uint32_t saved = add(p, ARENAUT_INTERMEDIATE);
        const arenaut_binding one[] = {MUTATED(X, D0)};
        ADD_OP(p, .name = "aten::clone", IN(X), OUT(saved));
        if (variant == 1) copy_to(p, D0, D1);
        if (variant >= 2) copy_to(p, D0, variant == 2 ? saved : X);
        SET_IO(p, 0, LIST(X), LIST(saved));
        bind(p, one, 1);
        assert_int_equal(replay(p, &finding), variant < 2 ? ARENAUT_RULE_STALE : ARENAUT_RULE_NONE);
        arn_program_free(p);
    }
}

/* The stored value went through an op first: the dialect says whether it is the same value
 * still. */
TEST(a_copy_is_what_the_dialect_says_is_one) {
    static const struct {
        const char *dialect, *op;
        bool same;
    } cases[] = {
        {"aten", "aten::clone", true},
        {"aten", "aten::alias_copy", true},
        {"aten", "aten::contiguous", true},
        {"aten", "aten::neg", false},
        {"aten", "aten::_to_copy", false},
        {"aten", "aten::nothing_known", false},
        {"aten", "copy", true},
        {"tvm", "copy", true},
        {NULL, "copy", true},
        {NULL, "write_back", false},
        {NULL, "aten::clone", false},
        {"onnx", "aten::clone", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_program *p = with_states(begin_in(cases[i].dialect));
        arenaut_finding finding;
        const uint32_t made = add(p, ARENAUT_INTERMEDIATE);
        const arenaut_binding one[] = {MUTATED(X, D0)};
        ADD_OP(p, .name = cases[i].op, IN(X), OUT(made));
        copy_to(p, D0, made);
        SET_IO(p, 0, LIST(X), LIST(made));
        bind(p, one, 1);
        const arenaut_rule rule = replay(p, &finding);
        if (rule != (cases[i].same ? ARENAUT_RULE_NONE : ARENAUT_RULE_STALE)) {
            fail_msg("'%s': %s", cases[i].op, finding.msg);
        }
        arn_program_free(p);
    }
}

/* An update in place, and a reader of the state as it was. */
TEST(the_old_value_of_an_update_in_place_is_gone) {
    for (int wrong = 0; wrong < 2; wrong++) {
        arenaut_program *p = begin_with_states();
        arenaut_finding finding;
        const uint32_t y = add(p, ARENAUT_INTERMEDIATE), t = add(p, ARENAUT_INTERMEDIATE);
        p->tensors[t].view_of = D0;
        const arenaut_binding one[] = {MUTATED(t, D0)};
        ADD_OP(p, .name = "aten::add", .kind = ARENAUT_OP_IN_PLACE, IN(D0, X), OUT(t));
        ADD_OP(p, .name = "aten::neg", IN(wrong ? D0 : t), OUT(y));
        SET_IO(p, 0, LIST(X), LIST(y));
        bind(p, one, 1);
        assert_int_equal(replay(p, &finding), wrong ? ARENAUT_RULE_STALE : ARENAUT_RULE_NONE);
        arn_program_free(p);
    }
}

/* ---- memory ---- */

static arenaut_status attempt(void *context, const arenaut_allocator *allocator) {
    static const int64_t dims[] = {16};
    arenaut_program *p = NULL;
    arenaut_error err = {0};
    (void)context;
    arenaut_status st = arn_program_new(allocator, &p, &err);
    if (st != ARENAUT_OK) return st;
    st = arn_program_set_dialect(p, "aten", &err);
    if (st == ARENAUT_OK) st = arn_program_add_method(p, "forward", true, NULL, &err);
    for (uint32_t i = 0; i < 3 && st == ARENAUT_OK; i++) {
        arenaut_tensor t = arenaut_tensor_default();
        t.name = "s";
        t.dtype = ARENAUT_DTYPE_FLOAT32;
        t.rank = 1;
        t.dims = dims;
        t.bytes = TENSOR_BYTES;
        t.cls = ARENAUT_STATE;
        t.method = 0;
        st = arenaut_program_add_tensor(p, &t, NULL, &err);
    }
    const arenaut_binding swap[] = {MUTATES(1, 0), MUTATES(0, 1), MUTATES(0, 2)};
    const uint32_t output = 2;
    if (st == ARENAUT_OK) st = arenaut_program_set_method_io(p, 0, NULL, 0, &output, 1, &err);
    if (st == ARENAUT_OK) st = arn_program_set_bindings(p, 0, swap, 3, &err);
    const arenaut_pass_options options = {.target = arenaut_target_find("torch")};
    if (st == ARENAUT_OK) st = arenaut_passes_run(p, NULL, &options, NULL, NULL, &err);
    const uint32_t pools[8] = {0};
    const uint64_t offsets[8] = {0, 64, 128, 192, 256, 320, 384, 448};
    arenaut_finding finding;
    if (st == ARENAUT_OK) {
        assert_in_range(p->n_tensors, 4, 8);
        const arenaut_placement placement = {p->n_tensors, 1, pools, offsets, NULL};
        st = arenaut_check_replay(p, &placement, NULL, allocator, &finding, &err);
    }
    arn_program_free(p);
    return st;
}

TEST(it_survives_running_out_of_memory) { survives_every_allocation_failure(attempt, NULL); }
