/* Lowering against replay, which knows nothing of lifetimes: random programs are lowered,
 * packed as tightly as their lifetimes allow, and run over a shadow of the arena. If a life
 * were too short, or a buffer written over another too early, some read would find another
 * tensor's bytes. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "support/lowerings.h"
#include "support/programs.h"
#include "support/random.h"

/* ---- random programs ---- */

enum { MAX_KNOWN = 64 };

/* The method being written: its tensors that hold something by now. */
typedef struct author {
    arenaut_program *program;
    rng *r;
    uint32_t known[MAX_KNOWN], n_known;
    uint32_t first_callee, n_callees; /* methods it may call */
} author;

static uint32_t any(author *a) { return a->known[rng_below(a->r, a->n_known)]; }

static uint32_t fresh(author *a, uint64_t bytes) {
    char name[16];
    snprintf(name, sizeof name, "t%u", (unsigned)a->program->n_tensors);
    return add_tensor(a->program, name, bytes, ARENAUT_INTERMEDIATE);
}

static void knows(author *a, uint32_t tensor) {
    if (a->n_known < MAX_KNOWN) a->known[a->n_known++] = tensor;
}

static uint32_t storage_of(const author *a, uint32_t tensor) {
    return arenaut_program_storage(a->program, tensor, NULL);
}

/* An ordinary op of one or two inputs; where sizes agree it may declare pairs. */
static void write_kernel(author *a) {
    const uint64_t bytes = 16 + 16 * rng_below(a->r, 2);
    const uint32_t in[] = {any(a), any(a)}, out = fresh(a, bytes);
    arenaut_in_place pairs[2];
    arenaut_op op = {.inputs = in,
                     .n_inputs = 1 + rng_below(a->r, 2),
                     .outputs = &out,
                     .n_outputs = 1,
                     .in_place = pairs};
    for (uint32_t i = 0; i < op.n_inputs; i++) {
        const bool alike = a->program->tensors[in[i]].bytes == bytes;
        if (alike && !rng_once_in(a->r, 3)) pairs[op.n_in_place++] = (arenaut_in_place){0, i};
    }
    const uint32_t scratch =
        rng_once_in(a->r, 4) ? add_tensor(a->program, "s", 16, ARENAUT_SCRATCH) : ARENAUT_NONE;
    if (scratch != ARENAUT_NONE) {
        op.scratch = &scratch;
        op.n_scratch = 1;
    }
    add_op(a->program, op);
    knows(a, out);
}

/* Another name for all or half of something known. */
static void write_view(author *a) {
    const uint32_t of = any(a), host = storage_of(a, of);
    const uint64_t bytes = a->program->tensors[host].bytes;
    const bool half = rng_once_in(a->r, 2);
    const uint32_t view =
        add_view(a->program, NULL, host, half ? bytes / 2 : 0, half ? bytes / 2 : bytes);
    ADD_OP(a->program, .kind = ARENAUT_OP_VIEW, IN(host), OUT(view));
    knows(a, view);
}

/* Writes where something known lies. */
static void write_update(author *a) {
    const uint32_t t = any(a), with = any(a);
    ADD_OP(a->program, .kind = ARENAUT_OP_IN_PLACE, IN(t, with), OUT(t), IN_PLACE(0, 0));
}

/* Everything passed to and from methods has 32 bytes. */
static uint32_t argument(author *a) {
    const uint32_t t = fresh(a, 32);
    ADD_OP(a->program, IN(any(a)), OUT(t));
    return t;
}

static void write_call(author *a) {
    if (a->n_callees == 0) return;
    const uint32_t f = a->first_callee + rng_below(a->r, a->n_callees);
    const uint32_t g = a->first_callee + rng_below(a->r, a->n_callees);
    const uint32_t x = argument(a), y = fresh(a, 32);
    switch (rng_below(a->r, 3)) {
        case 0: ADD_OP(a->program, .kind = ARENAUT_OP_CALL, IN(x), OUT(y), CALLS(f)); break;
        case 1:
            ADD_OP(a->program, .kind = ARENAUT_OP_IF, IN(any(a), x), OUT(y),
                   CALLS(f, rng_once_in(a->r, 2) ? f : g));
            break;
        default: ADD_OP(a->program, .kind = ARENAUT_OP_WHILE, IN(x), OUT(y), CALLS(f, g)); break;
    }
    knows(a, y);
}

static void write_ops(author *a) {
    static void (*const kinds[])(author *) = {
        write_kernel, write_kernel, write_kernel, write_view, write_update, write_call,
    };
    for (uint32_t n = 2 + rng_below(a->r, 5); n > 0; n--) {
        kinds[rng_below(a->r, (uint32_t)COUNT_OF(kinds))](a);
    }
}

static void write_method(author *a, uint32_t m, bool entry) {
    if (entry) begin_method(a->program, "entry");
    else begin_submethod(a->program, "sub");
    a->n_known = 0;
    const uint32_t x = add_tensor(a->program, "x", 32, ARENAUT_INTERMEDIATE);
    knows(a, x);
    if (entry && rng_once_in(a->r, 2)) {
        const uint32_t state = add_tensor(a->program, "state", 32, ARENAUT_STATE);
        a->program->tensors[state].qualified_name = "shared";
        knows(a, state);
    }
    write_ops(a);
    /* A result of the right size, sometimes of an op that could write it over its input. */
    const uint32_t last = any(a), y = fresh(a, 32);
    if (a->program->tensors[last].bytes == 32) {
        ADD_OP(a->program, IN(last), OUT(y), IN_PLACE(0, 0));
    } else {
        ADD_OP(a->program, IN(last), OUT(y));
    }
    knows(a, y);
    if (rng_once_in(a->r, 2)) write_ops(a);
    SET_IO(a->program, m, LIST(x), LIST(y));
}

/* One or two entry methods, then up to three that they call, each calling later ones. */
static arenaut_program *write_program(rng *r) {
    author a = {.program = new_program(), .r = r};
    const uint32_t n_entries = 1 + rng_below(r, 2), n = n_entries + rng_below(r, 4);
    for (uint32_t m = 0; m < n; m++) {
        a.first_callee = m < n_entries ? n_entries : m + 1;
        a.n_callees = n - a.first_callee;
        write_method(&a, m, m < n_entries);
    }
    finish_program(a.program);
    return a.program;
}

/* ---- packing ---- */

static bool share_a_step(const arenaut_problem *p, uint32_t a, uint32_t b) {
    for (uint32_t i = p->lifetime_start[a]; i < p->lifetime_start[a + 1]; i++) {
        for (uint32_t k = p->lifetime_start[b]; k < p->lifetime_start[b + 1]; k++) {
            if (p->lifetime[i].first < p->lifetime[k].end &&
                p->lifetime[k].first < p->lifetime[i].end) {
                return true;
            }
        }
    }
    return false;
}

static bool may_lie_at(const arenaut_problem *p, uint32_t b, uint64_t at, const uint64_t *offset) {
    for (uint32_t o = 0; o < p->n_buffers; o++) {
        if (o == b || offset[o] == ARENAUT_UNPLACED) continue;
        const bool related =
            arenaut_problem_same_base(p, b) == o || arenaut_problem_same_base(p, o) == b;
        if (related && offset[o] == at) continue;
        if (at < offset[o] + p->size[o] && offset[o] < at + p->size[b] && share_a_step(p, b, o)) {
            return false;
        }
    }
    return true;
}

/* In a random order, each at its base if it may, else as low as it fits. Sizes are multiples
 * of `grain`. */
static uint64_t *pack(const arenaut_problem *p, rng *r, uint64_t grain) {
    uint64_t *offset = malloc((p->n_buffers + 1) * sizeof *offset);
    assert_non_null(offset);
    for (uint32_t b = 0; b < p->n_buffers; b++) offset[b] = ARENAUT_UNPLACED;
    for (uint32_t left = p->n_buffers; left > 0; left--) {
        uint32_t b = 0;
        for (uint32_t skip = rng_below(r, left) + 1; skip > 0; b++) {
            if (offset[b] == ARENAUT_UNPLACED) skip--;
        }
        b--;
        const uint32_t base = arenaut_problem_same_base(p, b);
        uint64_t at = base != ARENAUT_NONE && offset[base] != ARENAUT_UNPLACED ? offset[base] : 0;
        if (!may_lie_at(p, b, at, offset)) at = 0;
        while (!may_lie_at(p, b, at, offset)) at += grain;
        offset[b] = at;
    }
    return offset;
}

/* Nothing shares anything. */
static uint64_t *lay_apart(const arenaut_problem *p) {
    uint64_t *offset = malloc((p->n_buffers + 1) * sizeof *offset), end = 0;
    assert_non_null(offset);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        offset[b] = end;
        end += p->size[b];
    }
    return offset;
}

static arenaut_status replay(const arenaut_program *program, const arenaut_lowering *l,
                             const uint64_t *offset, arenaut_finding *finding) {
    uint32_t *pools = malloc((program->n_tensors + 1) * sizeof *pools);
    uint64_t *at = malloc((program->n_tensors + 1) * sizeof *at);
    assert_non_null(pools);
    assert_non_null(at);
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        pools[t] = l->buffer[t] == ARENAUT_NONE ? ARENAUT_NONE : 0;
        at[t] = l->buffer[t] == ARENAUT_NONE ? 0 : offset[l->buffer[t]] + l->offset[t];
    }
    const arenaut_placement placement = {program->n_tensors, 1, pools, at, NULL};
    const arenaut_replay_options options = {0};
    arenaut_error err = {0};
    const arenaut_status st =
        arenaut_check_replay(program, &placement, &options, NULL, finding, &err);
    free(pools);
    free(at);
    return st;
}

enum { SEEDS = 3000 };

TEST(replay_finds_no_fault_in_what_lowering_says) {
    arenaut_target targets[2] = {*arenaut_target_find("generic"),
                                 *arenaut_target_find("tflite-micro")};
    targets[1].state_in_arena = true; /* replay wants a place for everything */
    uint32_t pairs = 0, shorter = 0;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        rng r = {seed};
        arenaut_program *program = write_program(&r);
        uint32_t n_steps = 0;
        for (size_t i = 0; i < 2 * COUNT_OF(targets); i++) {
            const arenaut_lowering_options options = {.apart = i % 2 == 1};
            arenaut_lowering *l = lower_for(program, &targets[i / 2], &options);
            shorter += options.apart && l->n_steps < n_steps;
            n_steps = l->n_steps;
            uint64_t *offset = pack(l->problem, &r, 16);
            arenaut_finding finding;
            if (replay(program, l, offset, &finding) != ARENAUT_OK) {
                fail_msg("seed %u, %s: %s", (unsigned)seed, targets[i / 2].name, finding.msg);
            }
            for (uint32_t b = 0; b < l->problem->n_buffers; b++) {
                pairs += arenaut_problem_same_base(l->problem, b) != ARENAUT_NONE;
            }
            free(offset);
            arenaut_lowering_free(l);
        }
        arn_program_free(program);
    }
    assert_true(pairs > SEEDS / 2); /* in-place pairs were put to the test */
    assert_true(shorter > SEEDS / 20);
}

/* Programs with delegates, deeper nesting and smaller tensors. Some read tensors without a writer,
 * and fail under any plan: they are known by failing with everything apart. */
TEST(programs_of_all_kinds_stay_right_when_they_are_packed) {
    const arenaut_target *target = arenaut_target_find("generic");
    uint32_t sound = 0, pairs = 0;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        rng r = {seed};
        arenaut_program *program = random_program(&r);
        arenaut_lowering *l = lower_for(program, target, NULL);
        uint64_t *apart = lay_apart(l->problem), *packed = pack(l->problem, &r, 1);
        arenaut_finding finding;
        if (replay(program, l, apart, &finding) == ARENAUT_OK) {
            sound++;
            if (replay(program, l, packed, &finding) != ARENAUT_OK) {
                fail_msg("seed %u: %s", (unsigned)seed, finding.msg);
            }
            for (uint32_t b = 0; b < l->problem->n_buffers; b++) {
                pairs += arenaut_problem_same_base(l->problem, b) != ARENAUT_NONE;
            }
        }
        free(apart);
        free(packed);
        free_lowering(l, program);
    }
    assert_true(sound > SEEDS / 2);
    assert_true(pairs > SEEDS / 10);
}

/* The first again, with the end of one life cut off: replay must notice often. */
TEST(replay_would_notice_a_life_that_ends_too_early) {
    uint32_t noticed = 0;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        rng r = {seed};
        arenaut_program *program = write_program(&r);
        arenaut_lowering *l = lower_program(program, "generic");
        arenaut_interval *life = &l->problem->lifetime[rng_below(&r, l->problem->n_lifetimes)];
        if (life->end - life->first > 1) life->end--;
        uint64_t *offset = pack(l->problem, &r, 16);
        arenaut_finding finding;
        noticed += replay(program, l, offset, &finding) == ARENAUT_REJECTED;
        free(offset);
        free_lowering(l, program);
    }
    assert_true(noticed > SEEDS / 20);
}
