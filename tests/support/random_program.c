#include "support/programs.h"
#include "support/test.h"

enum { MAX_AVAILABLE = 48, MAX_LIST = 3 };

/* Tensors that the method being built can read so far. */
typedef struct builder {
    rng *r;
    arenaut_program *program;
    uint32_t available[MAX_AVAILABLE];
    uint32_t n_available;
    uint32_t n_submethods; /* finished ones, which may be called */
} builder;

static void provide(builder *b, uint32_t tensor) {
    if (b->n_available < MAX_AVAILABLE) b->available[b->n_available++] = tensor;
}

static uint32_t any(builder *b) { return b->available[rng_below(b->r, b->n_available)]; }

static uint32_t fresh(builder *b) {
    const uint32_t bytes = rng_once_in(b->r, 20) ? 0 : 1 + rng_below(b->r, 4);
    return add_tensor(b->program, NULL, bytes, ARENAUT_INTERMEDIATE);
}

static uint32_t pick_inputs(builder *b, uint32_t *list, uint32_t least) {
    const uint32_t n = least + rng_below(b->r, 2);
    for (uint32_t i = 0; i < n; i++) list[i] = any(b);
    if (n > 1 && rng_once_in(b->r, 20)) list[n - 1] = ARENAUT_NONE;
    return n;
}

/* A view of something readable, of all of it or of a part. */
static uint32_t random_view(builder *b, uint32_t of) {
    const arenaut_tensor *t = &b->program->tensors[of];
    const uint32_t storage = t->view_of == ARENAUT_NONE ? of : t->view_of;
    const uint32_t bytes = (uint32_t)b->program->tensors[storage].bytes;
    const uint32_t offset = rng_once_in(b->r, 2) ? 0 : rng_below(b->r, bytes + 1);
    return add_view(b->program, NULL, storage, offset,
                    offset ? rng_below(b->r, bytes - offset + 1) : bytes);
}

static void add_plain(builder *b, arenaut_op_kind kind) {
    uint32_t in[MAX_LIST], out[2], scratch;
    arenaut_in_place pairs[2];
    arenaut_op op = {.kind = kind, .inputs = in, .outputs = out, .in_place = pairs};
    op.n_inputs = pick_inputs(b, in, 1);
    op.n_outputs = 1 + rng_once_in(b->r, 4);
    for (uint32_t i = 0; i < op.n_outputs; i++) out[i] = fresh(b);
    /* Half of the pairs are as in-place needs them: equally long. */
    if (rng_once_in(b->r, 2)) {
        b->program->tensors[out[0]].bytes = b->program->tensors[in[0]].bytes;
        for (uint32_t i = 0; i < op.n_inputs && i < 2; i++) {
            if (in[i] == ARENAUT_NONE || rng_once_in(b->r, 3)) continue;
            pairs[op.n_in_place++] = (arenaut_in_place){0, i};
        }
    }
    if (kind == ARENAUT_OP_DELEGATE && rng_once_in(b->r, 2)) {
        op.arguments_may_alias = true;
        in[op.n_inputs++] = fresh(b); /* working memory */
    }
    if (rng_once_in(b->r, 4)) {
        scratch = add_tensor(b->program, NULL, 1 + rng_below(b->r, 4), ARENAUT_SCRATCH);
        op.scratch = &scratch;
        op.n_scratch = 1;
    }
    add_op(b->program, op);
    for (uint32_t i = 0; i < op.n_outputs; i++) provide(b, out[i]);
}

static void add_view_op(builder *b) {
    const uint32_t of = any(b), view = random_view(b, of);
    ADD_OP(b->program, .kind = ARENAUT_OP_VIEW, IN(of), OUT(view));
    provide(b, view);
}

static void add_update(builder *b) {
    const uint32_t target = any(b), other = any(b);
    const bool paired = rng_once_in(b->r, 2);
    const uint32_t memory = arenaut_program_storage(b->program, target, NULL);
    if (b->program->tensors[memory].cls == ARENAUT_CONSTANT) return; /* never written */
    const uint32_t result = paired ? fresh(b) : random_view(b, target);
    if (paired) b->program->tensors[result].bytes = b->program->tensors[target].bytes;
    if (paired) {
        ADD_OP(b->program, .kind = ARENAUT_OP_IN_PLACE, IN(target, other), OUT(result),
               IN_PLACE(0, 0));
    } else {
        ADD_OP(b->program, .kind = ARENAUT_OP_IN_PLACE, IN(target, other), OUT(result));
    }
    if (!rng_once_in(b->r, 3)) provide(b, result);
}

static const arenaut_method *callee(const builder *b, uint32_t method) {
    return &b->program->methods[method];
}

static bool has_loop(const builder *b, uint32_t method) {
    const arenaut_method *m = callee(b, method);
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops; i++) {
        if (b->program->ops[i].kind == ARENAUT_OP_WHILE) return true;
    }
    return false;
}

static void add_call(builder *b, arenaut_op_kind kind) {
    uint32_t in[MAX_LIST + 1], out[MAX_LIST];
    const uint32_t calls[2] = {rng_below(b->r, b->n_submethods), rng_below(b->r, b->n_submethods)};
    const bool two = kind == ARENAUT_OP_IF || kind == ARENAUT_OP_WHILE;
    if (kind == ARENAUT_OP_WHILE && (has_loop(b, calls[0]) || has_loop(b, calls[1]))) return;
    const arenaut_method *first = callee(b, calls[0]), *second = callee(b, calls[two ? 1 : 0]);
    arenaut_op op = {.kind = kind, .inputs = in, .outputs = out, .calls = calls};
    op.n_calls = two ? 2 : 1;
    op.n_inputs = first->n_inputs > second->n_inputs ? first->n_inputs : second->n_inputs;
    op.n_inputs += kind == ARENAUT_OP_IF;
    for (uint32_t i = 0; i < op.n_inputs; i++) in[i] = any(b);
    op.n_outputs = second->n_outputs;
    if (kind == ARENAUT_OP_IF && first->n_outputs < op.n_outputs) op.n_outputs = first->n_outputs;
    if (kind == ARENAUT_OP_WHILE && op.n_inputs < op.n_outputs) op.n_outputs = op.n_inputs;
    if (kind == ARENAUT_OP_CALL_ONCE) op.n_outputs = 0;
    for (uint32_t i = 0; i < op.n_outputs; i++) out[i] = fresh(b);
    add_op(b->program, op);
    for (uint32_t i = 0; i < op.n_outputs; i++) provide(b, out[i]);
}

static void add_random_op(builder *b) {
    static const arenaut_op_kind calls[] = {ARENAUT_OP_IF, ARENAUT_OP_WHILE, ARENAUT_OP_CALL,
                                            ARENAUT_OP_CALL_ONCE};
    switch (rng_below(b->r, 12)) {
        case 0: add_view_op(b); break;
        case 1: add_update(b); break;
        case 2: add_plain(b, ARENAUT_OP_DELEGATE); break;
        case 3: add_plain(b, rng_once_in(b->r, 3) ? ARENAUT_OP_MAKES : ARENAUT_OP_OUT); break;
        case 4:
        case 5:
        case 6:
            if (b->n_submethods > 0) add_call(b, calls[rng_below(b->r, COUNT_OF(calls))]);
            break;
        default: add_plain(b, ARENAUT_OP_OUT);
    }
}

/* State of the method's own, or shared by name with others; a constant now and then. */
static void add_kept(builder *b) {
    if (rng_once_in(b->r, 3)) provide(b, add_tensor(b->program, NULL, 3, ARENAUT_STATE));
    if (rng_once_in(b->r, 6)) provide(b, add_tensor(b->program, NULL, 3, ARENAUT_CONSTANT));
    if (rng_once_in(b->r, 3)) {
        arenaut_tensor shared = arenaut_tensor_default();
        arenaut_error err = {0};
        uint32_t id;
        shared.method = b->program->n_methods - 1;
        shared.qualified_name = "kv.cache";
        if (rng_once_in(b->r, 4)) shared.cls = ARENAUT_CONSTANT;
        shared.bytes = 4;
        assert_ok(arenaut_program_add_tensor(b->program, &shared, &id, &err), err);
        provide(b, id);
    }
}

static void build_method(builder *b, bool entry) {
    uint32_t inputs[2], outputs[2];
    const uint32_t method =
        entry ? begin_method(b->program, NULL) : begin_submethod(b->program, NULL);
    const uint32_t n_inputs = 1 + rng_below(b->r, 2), n_outputs = rng_below(b->r, 3);
    b->n_available = 0;
    for (uint32_t i = 0; i < n_inputs; i++) {
        inputs[i] = fresh(b);
        provide(b, inputs[i]);
    }
    add_kept(b);
    for (uint32_t i = 1 + rng_below(b->r, entry ? 5 : 3); i > 0; i--) add_random_op(b);
    for (uint32_t i = 0; i < n_outputs; i++) outputs[i] = any(b);
    set_io(b->program, method, inputs, n_inputs, outputs, n_outputs);
    if (!entry) b->n_submethods++;
}

arenaut_program *random_program(rng *r) {
    builder b = {.r = r, .program = new_program()};
    for (uint32_t i = rng_below(r, 4); i > 0; i--) build_method(&b, false);
    for (uint32_t i = 1 + rng_below(r, 2); i > 0; i--) build_method(&b, true);
    finish_program(b.program);
    assert_true(b.program->n_tensors <= 120);
    return b.program;
}
