/* When each storage is alive: runs through the schedule once, stepping into called methods.
 *
 * An op's step is its own; what it calls gets the steps after it. The op's inputs and
 * outputs are alive over all of them, since a called method's inputs and outputs are
 * copied from and to them at either end. A method that is called from several places is
 * visited several times; each visit gives its tensors a life of their own, or, for targets
 * that merge calls, all visits together one. */
#include "core/fail.h"
#include "passes/lower/lower.h"

/* Life of a storage in the visit that last touched it. */
typedef struct current {
    int64_t first, last;
    uint32_t visit; /* 0: never touched */
} current;

/* A life that is over. */
typedef struct closed {
    uint32_t storage;
    arenaut_interval life;
} closed;

/* A method at work. */
typedef struct frame {
    uint32_t method, visit;
    uint32_t start;   /* its first step */
    uint32_t op, end; /* the next op, or the one at work; one past the last */
    uint32_t call;    /* how many of its calls have been made */
    bool in_op;
} frame;

/* Tensors of no method, and all of them when calls are merged, live in this visit. */
enum { EVERY_VISIT = 1 };

typedef struct walk {
    arn_lower *lower;
    current *now; /* per storage */
    closed *past;
    frame *frames;
    uint32_t n_past, past_capacity, depth, frame_capacity, visits;
} walk;

static bool close_life(walk *w, uint32_t storage) {
    const current *c = &w->now[storage];
    const closed life = {storage, {c->first, c->last + 1}};
    if (!arn_grow(&w->lower->allocator, (void **)&w->past, &w->past_capacity,
                  (uint64_t)w->n_past + 1, sizeof *w->past)) {
        return false;
    }
    w->past[w->n_past++] = life;
    return true;
}

/* Marks `tensor` as written or read at `step`. What is read before it was written held
 * something already when its method began. */
static bool touch(walk *w, const frame *f, uint32_t tensor, uint32_t step, bool written) {
    if (tensor == ARENAUT_NONE) return true;
    const arn_lower *lower = w->lower;
    const bool merge = lower->target->merge_calls;
    const uint32_t storage = lower->storage.of[tensor];
    const bool foreign = lower->program->tensors[storage].method != f->method;
    const bool own = !merge && !foreign;
    const uint32_t visit = own ? f->visit : EVERY_VISIT;
    current *c = &w->now[storage];
    /* It may be carried round a loop, past the end of what is seen of it here. */
    if (foreign && w->depth > 1) lower->storage.facts[storage] |= ARN_ALWAYS_ALIVE;
    if (c->visit != visit) {
        if (c->visit != 0 && !close_life(w, storage)) return false;
        const int64_t filled_before = merge ? -1 : own ? (int64_t)f->start : 0;
        c->visit = visit;
        c->first = written ? (int64_t)step : filled_before;
    }
    c->last = step;
    return true;
}

static bool touch_all(walk *w, const frame *f, const uint32_t *tensors, uint32_t count,
                      uint32_t step, bool written) {
    for (uint32_t i = 0; i < count; i++) {
        if (!touch(w, f, tensors[i], step, written)) return false;
    }
    return true;
}

static void add_step(walk *w, uint32_t method, uint32_t op) {
    arn_lives *lives = &w->lower->lives;
    lives->steps[lives->n_steps++] = (arenaut_step){method, op};
}

static bool enter(walk *w, uint32_t m) {
    const arenaut_method *method = &w->lower->program->methods[m];
    if (!arn_grow(&w->lower->allocator, (void **)&w->frames, &w->frame_capacity,
                  (uint64_t)w->depth + 1, sizeof *w->frames)) {
        return false;
    }
    const bool outermost = w->depth == 0;
    frame *f = &w->frames[w->depth++];
    *f = (frame){.method = m,
                 .visit = ++w->visits,
                 .start = w->lower->lives.n_steps,
                 .op = method->first_op,
                 .end = method->first_op + method->n_ops};
    add_step(w, m, ARENAUT_NONE);
    if (!touch_all(w, f, method->inputs, method->n_inputs, f->start, true)) return false;
    if (!outermost || !w->lower->target->keep_outputs) return true;
    return touch_all(w, f, method->outputs, method->n_outputs, f->start, true);
}

static bool leave(walk *w) {
    const frame *f = &w->frames[w->depth - 1];
    const arenaut_method *method = &w->lower->program->methods[f->method];
    const uint32_t last = w->lower->lives.n_steps - 1;
    w->depth--;
    if (!touch_all(w, f, method->outputs, method->n_outputs, last, true)) return false;
    if (w->depth > 0 || !arn_keeps_inputs(w->lower)) return true;
    return touch_all(w, f, method->inputs, method->n_inputs, last, false);
}

static bool begin_op(walk *w, frame *f) {
    const arenaut_op *op = &w->lower->program->ops[f->op];
    const uint32_t step = w->lower->lives.n_steps;
    f->call = 0;
    f->in_op = true;
    add_step(w, f->method, f->op);
    return touch_all(w, f, op->outputs, op->n_outputs, step, true) &&
           touch_all(w, f, op->scratch, op->n_scratch, step, true);
}

static bool end_op(walk *w, frame *f) {
    const arenaut_op *op = &w->lower->program->ops[f->op];
    const uint32_t last = w->lower->lives.n_steps - 1;
    f->in_op = false;
    f->op++;
    return touch_all(w, f, op->inputs, op->n_inputs, last, false) &&
           touch_all(w, f, op->outputs, op->n_outputs, last, true) &&
           touch_all(w, f, op->scratch, op->n_scratch, last, true);
}

/* One move of the method on top: into a call, to the end of an op, to the next op, out. */
static bool advance(walk *w) {
    frame *f = &w->frames[w->depth - 1];
    if (f->in_op) {
        const arenaut_op *op = &w->lower->program->ops[f->op];
        return f->call < op->n_calls ? enter(w, op->calls[f->call++]) : end_op(w, f);
    }
    return f->op < f->end ? begin_op(w, f) : leave(w);
}

static bool run(walk *w) {
    const arenaut_program *p = w->lower->program;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (!p->methods[m].entry) continue;
        if (!enter(w, m)) return false;
        while (w->depth > 0) {
            if (!advance(w)) return false;
        }
    }
    return true;
}

/* Gathers the lives by storage. They were closed in order of time, and stay so. */
static arenaut_status gather(walk *w) {
    arn_lower *lower = w->lower;
    arn_lives *lives = &lower->lives;
    const uint32_t n = lower->program->n_tensors;
    lives->start = arn_region_allocate(&lower->scratch, (size_t)n + 1, sizeof *lives->start);
    lives->life = arn_region_allocate(&lower->scratch, w->n_past, sizeof *lives->life);
    uint32_t *next = arn_region_allocate(&lower->scratch, n, sizeof *next);
    if (!lives->start || !lives->life || !next) return arn_no_memory(lower->err);
    for (uint32_t s = 0; s <= n; s++) lives->start[s] = 0;
    for (uint32_t i = 0; i < w->n_past; i++) lives->start[w->past[i].storage + 1]++;
    for (uint32_t s = 0; s < n; s++) {
        lives->start[s + 1] += lives->start[s];
        next[s] = lives->start[s];
    }
    for (uint32_t i = 0; i < w->n_past; i++) {
        lives->life[next[w->past[i].storage]++] = w->past[i].life;
    }
    return ARENAUT_OK;
}

arenaut_status arn_lower_walk(arn_lower *lower) {
    const uint32_t n = lower->program->n_tensors;
    walk w = {.lower = lower, .visits = EVERY_VISIT};
    w.now = arn_allocate_zeroed(&lower->allocator, n, sizeof *w.now);
    bool done = w.now && run(&w);
    for (uint32_t s = 0; s < n && done; s++) {
        if (w.now[s].visit != 0) done = close_life(&w, s);
    }
    const arenaut_status st = done ? gather(&w) : arn_no_memory(lower->err);
    arn_release(&lower->allocator, w.now);
    arn_release(&lower->allocator, w.past);
    arn_release(&lower->allocator, w.frames);
    return st;
}
