/* Live ranges without jumps: one walk over the schedule, stepping into called methods.
 *
 * An op's step is its own; called methods get the steps after it. The op's inputs and outputs are
 * alive over all of them, since a called method's inputs and outputs are copied from and to them at
 * either end. A method that is called from several places is visited several times; each visit
 * gives its tensors a life of their own, or, for targets that merge calls, all visits together one.
 *
 * With plain calls apart, such an op's inputs are alive until the method's first step, in which
 * they are copied, and its outputs from the last. */
#include "analysis/live_ranges.h"

#include "analysis/basic_blocks.h"
#include "core/fail.h"
#include "ir/program.h"

/* The length of the schedule with calls followed, known before the first step, so that programs
 * whose calls multiply are refused at once. Counts visits from callers to callees, in O(ops). */

/* Arguments looked at, over all visits: a bound on time. */
enum { MAX_ARGUMENTS = 1 << 28, MANY = ARN_MAX_STEPS + 1 };

/* Per method: how often it runs (MANY at most), and how many calls name it that have not
 * been counted yet. */
typedef struct counts {
    uint32_t *visits, *callers;
} counts;

/* The number of calls that an op makes in the schedule: a plain call names its method twice. */
static uint32_t live_n_calls(const arn_live *live, const arenaut_op *op) {
    return live->calls_apart && arn_is_plain_call(op) ? 1 : op->n_calls;
}

/* Per method: whether only plain calls run it, if that is to make a difference. */
static void find_apart(arn_live *live) {
    const arenaut_program *p = live->program;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        live->apart[m] = live->calls_apart && !p->methods[m].entry;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (arn_is_plain_call(&p->ops[i])) continue;
        for (uint32_t k = 0; k < p->ops[i].n_calls; k++) live->apart[p->ops[i].calls[k]] = false;
    }
}

static uint32_t saturated(uint64_t visits) { return visits < MANY ? (uint32_t)visits : MANY; }

/* Counts visits from callers to callees, a method when all of its callers are done; calls
 * form no cycle. `ready` has room for every method. */
static void count_visits(const arn_live *live, counts *c, uint32_t *ready) {
    const arenaut_program *p = live->program;
    uint32_t n_ready = 0;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        c->visits[m] = p->methods[m].entry;
        c->callers[m] = 0;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const uint32_t n_calls = live_n_calls(live, &p->ops[i]);
        for (uint32_t k = 0; k < n_calls; k++) c->callers[p->ops[i].calls[k]]++;
    }
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (c->callers[m] == 0) ready[n_ready++] = m;
    }
    while (n_ready > 0) {
        const uint32_t caller = ready[--n_ready];
        const arenaut_method *method = &p->methods[caller];
        for (uint32_t i = method->first_op; i < method->first_op + method->n_ops; i++) {
            const uint32_t n_calls = live_n_calls(live, &p->ops[i]);
            for (uint32_t k = 0; k < n_calls; k++) {
                const uint32_t callee = p->ops[i].calls[k];
                c->visits[callee] = saturated((uint64_t)c->visits[callee] + c->visits[caller]);
                if (--c->callers[callee] == 0) ready[n_ready++] = callee;
            }
        }
    }
}

static uint64_t arguments_of(const arenaut_program *p, const arenaut_method *method) {
    uint64_t n = (uint64_t)method->n_inputs + method->n_outputs;
    for (uint32_t i = method->first_op; i < method->first_op + method->n_ops; i++) {
        n += (uint64_t)p->ops[i].n_inputs + p->ops[i].n_outputs + p->ops[i].n_scratch;
    }
    return n;
}

arenaut_status arn_live_count_steps(arn_live *live, uint32_t *n_steps) {
    const arenaut_program *p = live->program;
    counts c;
    c.visits = arn_region_allocate(live->region, p->n_methods, sizeof *c.visits);
    c.callers = arn_region_allocate(live->region, p->n_methods, sizeof *c.callers);
    uint32_t *ready = arn_region_allocate(live->region, p->n_methods, sizeof *ready);
    live->runs = arn_region_allocate(live->region, p->n_methods, sizeof *live->runs);
    live->apart = arn_region_allocate(live->region, p->n_methods, sizeof *live->apart);
    if (!c.visits || !c.callers || !ready || !live->runs || !live->apart) {
        return arn_no_memory(live->err);
    }
    find_apart(live);
    count_visits(live, &c, ready);
    for (uint32_t m = 0; m < p->n_methods; m++) live->runs[m] = c.visits[m] > 0;
    uint64_t steps = 0, arguments = 0;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        const uint64_t most = UINT64_MAX / 2 / MANY; /* arguments of one visit that count */
        const uint64_t of_one = arguments_of(p, method);
        steps += c.visits[m] * (1 + (uint64_t)method->n_ops);
        arguments += c.visits[m] * (of_one < most ? of_one : most);
        if (steps > ARN_MAX_STEPS || arguments > MAX_ARGUMENTS) {
            return arn_fail(live->err, ARENAUT_UNSUPPORTED, 0,
                            "method '%s' runs so often that calls expand to more than %d steps or "
                            "%d arguments",
                            method->name ? method->name : "", ARN_MAX_STEPS, MAX_ARGUMENTS);
        }
    }
    *n_steps = (uint32_t)steps;
    return ARENAUT_OK;
}

/* ---- the ranges ---- */

/* Life of a storage in the visit that last touched it. */
typedef struct current {
    int64_t first, last;
    uint32_t visit; /* 0: never touched */
} current;

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
    arn_live *live;
    current *now; /* per storage */
    arn_life_list past;
    frame *frames;
    uint32_t depth, frame_capacity, visits;
} walk;

static bool close_life(walk *w, uint32_t storage) {
    const current *c = &w->now[storage];
    return arn_live_push(w->live, &w->past, storage, (arenaut_interval){c->first, c->last + 1});
}

/* Marks `tensor` as written or read at `step`. A tensor that is read before it was written had
 * content already when its method began. */
static bool touch(walk *w, const frame *f, uint32_t tensor, uint32_t step, bool written) {
    if (tensor == ARENAUT_NONE) return true;
    const arn_live *live = w->live;
    const bool merge = live->merge_calls && !live->apart[f->method];
    const uint32_t storage = live->storage.of[tensor];
    const uint32_t home = live->program->tensors[storage].method;
    const bool foreign = home != f->method;
    /* Captured: the op that calls this method lists it, and keeps it alive until it ends. */
    const bool nested = live->program->methods[f->method].outer != ARENAUT_NONE;
    if (foreign && nested && home != ARENAUT_NONE) return true;
    const bool own = !merge && !foreign;
    const uint32_t visit = own ? f->visit : EVERY_VISIT;
    current *c = &w->now[storage];
    /* It may be carried round a loop, past its end in this walk. */
    if (foreign && w->depth > 1) live->storage.facts[storage] |= ARN_ALWAYS_ALIVE;
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
    arn_lives *lives = &w->live->lives;
    lives->steps[lives->n_steps++] = (arenaut_step){method, op};
}

static bool enter(walk *w, uint32_t m) {
    const arenaut_method *method = &w->live->program->methods[m];
    if (!arn_grow(&w->live->allocator, (void **)&w->frames, &w->frame_capacity,
                  (uint64_t)w->depth + 1, sizeof *w->frames)) {
        return false;
    }
    const bool outermost = w->depth == 0;
    frame *f = &w->frames[w->depth++];
    *f = (frame){.method = m,
                 .visit = ++w->visits,
                 .start = w->live->lives.n_steps,
                 .op = method->first_op,
                 .end = method->first_op + method->n_ops};
    add_step(w, m, ARENAUT_NONE);
    if (!touch_all(w, f, method->inputs, method->n_inputs, f->start, true)) return false;
    if (!outermost || !w->live->keep_outputs) return true;
    return touch_all(w, f, method->outputs, method->n_outputs, f->start, true);
}

/* A tensor of the caller that a method has changed is a result, too. */
static bool touch_mutated(walk *w, const frame *f, const arenaut_method *method, uint32_t last) {
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const arenaut_binding *b = &method->bindings[i];
        if (b->kind != ARENAUT_BINDING_MUTATED) continue;
        if (!touch_all(w, f, &b->target, 1, last, true)) return false;
    }
    return true;
}

static bool leave(walk *w) {
    const frame *f = &w->frames[w->depth - 1];
    const arenaut_method *method = &w->live->program->methods[f->method];
    const uint32_t last = w->live->lives.n_steps - 1;
    w->depth--;
    if (!touch_all(w, f, method->outputs, method->n_outputs, last, true)) return false;
    if (!touch_mutated(w, f, method, last)) return false;
    if (w->depth > 0 || !w->live->keep_inputs) return true;
    return touch_all(w, f, method->inputs, method->n_inputs, last, false);
}

static bool copies_apart(const walk *w, const arenaut_op *op) {
    return w->live->calls_apart && arn_is_plain_call(op);
}

static bool enter_call(walk *w) {
    frame *f = &w->frames[w->depth - 1];
    const arenaut_op *op = &w->live->program->ops[f->op];
    const uint32_t start = w->live->lives.n_steps, callee = op->calls[f->call++];
    if (copies_apart(w, op) && !touch_all(w, f, op->inputs, op->n_inputs, start, false)) {
        return false;
    }
    return enter(w, callee);
}

static bool begin_op(walk *w, frame *f) {
    const arenaut_op *op = &w->live->program->ops[f->op];
    const uint32_t step = w->live->lives.n_steps;
    f->call = 0;
    f->in_op = true;
    add_step(w, f->method, f->op);
    if (!arn_op_kind_touches(op->kind)) return true;
    return (copies_apart(w, op) || touch_all(w, f, op->outputs, op->n_outputs, step, true)) &&
           touch_all(w, f, op->scratch, op->n_scratch, step, true);
}

static bool end_op(walk *w, frame *f) {
    const arenaut_op *op = &w->live->program->ops[f->op];
    const uint32_t last = w->live->lives.n_steps - 1;
    f->in_op = false;
    f->op++;
    if (!arn_op_kind_touches(op->kind)) return true;
    return (copies_apart(w, op) || touch_all(w, f, op->inputs, op->n_inputs, last, false)) &&
           touch_all(w, f, op->outputs, op->n_outputs, last, true) &&
           touch_all(w, f, op->scratch, op->n_scratch, last, true);
}

/* One move of the method on top: into a call, to the end of an op, to the next op, out. */
static bool advance(walk *w) {
    frame *f = &w->frames[w->depth - 1];
    if (f->in_op) {
        const arenaut_op *op = &w->live->program->ops[f->op];
        return f->call < live_n_calls(w->live, op) ? enter_call(w) : end_op(w, f);
    }
    return f->op < f->end ? begin_op(w, f) : leave(w);
}

static arenaut_status run_calls(walk *w, uint32_t m) {
    bool room = enter(w, m);
    while (room && w->depth > 0) room = advance(w);
    return room ? ARENAUT_OK : arn_no_memory(w->live->err);
}

/* A tensor of no method, or of another, has a life that live_flow.c does not know: it is alive from
 * here to the method's last step. */
static bool touch_foreign(walk *w, const frame *f, const uint32_t *tensors, uint32_t count,
                          uint32_t last) {
    for (uint32_t i = 0; i < count; i++) {
        if (tensors[i] == ARENAUT_NONE) continue;
        if (w->live->program->tensors[tensors[i]].method == f->method) continue;
        if (!touch(w, f, tensors[i], f->start, false) || !touch(w, f, tensors[i], last, false)) {
            return false;
        }
    }
    return true;
}

static arenaut_status run_flow(walk *w, uint32_t m) {
    const arenaut_program *p = w->live->program;
    const arenaut_method *method = &p->methods[m];
    const frame f = {.method = m, .visit = ++w->visits, .start = w->live->lives.n_steps};
    const uint32_t last = f.start + method->n_ops;
    bool room = touch_foreign(w, &f, method->inputs, method->n_inputs, last) &&
                touch_foreign(w, &f, method->outputs, method->n_outputs, last);
    add_step(w, m, ARENAUT_NONE);
    for (uint32_t i = method->first_op; i < method->first_op + method->n_ops && room; i++) {
        const arenaut_op *op = &p->ops[i];
        add_step(w, m, i);
        room = touch_foreign(w, &f, op->inputs, op->n_inputs, last) &&
               touch_foreign(w, &f, op->outputs, op->n_outputs, last) &&
               touch_foreign(w, &f, op->scratch, op->n_scratch, last);
    }
    if (!room) return arn_no_memory(w->live->err);
    return arn_live_flow(w->live, m, f.start, &w->past);
}

/* No format has ops that jump in one method with ops that call, so that is not looked into. */
static arenaut_status refuse_mixture(const arn_live *live, const bool *flows) {
    const arenaut_program *p = live->program;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_calls; k++) {
            const uint32_t m = flows[op->method] ? op->method : op->calls[k];
            if (!flows[m]) continue;
            return arn_fail(live->err, ARENAUT_UNSUPPORTED, 0,
                            "method '%.80s': ops that jump or move, in a method that calls others "
                            "or is called, are not supported",
                            p->methods[m].name ? p->methods[m].name : "");
        }
    }
    return ARENAUT_OK;
}

static arenaut_status run(walk *w) {
    const arenaut_program *p = w->live->program;
    bool *flows = arn_region_allocate(w->live->region, p->n_methods, sizeof *flows);
    if (!flows) return arn_no_memory(w->live->err);
    for (uint32_t m = 0; m < p->n_methods; m++) flows[m] = arn_has_control_flow(p, m);
    arenaut_status st = refuse_mixture(w->live, flows);
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) {
        if (p->methods[m].entry) st = flows[m] ? run_flow(w, m) : run_calls(w, m);
    }
    return st;
}

/* Merged storages stand for all their tensors. */
static void apply_merges(arn_live *live) {
    if (!live->merged_into) return;
    for (uint32_t t = 0; t < live->program->n_tensors; t++) {
        live->storage.of[t] = live->merged_into[live->storage.of[t]];
    }
}

/* Gathers the lives by storage. They were closed in order of time, and stay so. */
static arenaut_status gather(walk *w) {
    arn_live *live = w->live;
    arn_lives *lives = &live->lives;
    const uint32_t n = live->program->n_tensors;
    lives->start = arn_region_allocate(live->region, (size_t)n + 1, sizeof *lives->start);
    lives->life = arn_region_allocate(live->region, w->past.n, sizeof *lives->life);
    uint32_t *next = arn_region_allocate(live->region, n, sizeof *next);
    if (!lives->start || !lives->life || !next) return arn_no_memory(live->err);
    for (uint32_t s = 0; s <= n; s++) lives->start[s] = 0;
    for (uint32_t i = 0; i < w->past.n; i++) lives->start[w->past.lives[i].storage + 1]++;
    for (uint32_t s = 0; s < n; s++) {
        lives->start[s + 1] += lives->start[s];
        next[s] = lives->start[s];
    }
    for (uint32_t i = 0; i < w->past.n; i++) {
        lives->life[next[w->past.lives[i].storage]++] = w->past.lives[i].life;
    }
    return ARENAUT_OK;
}

arenaut_status arn_live_ranges_find(arn_live *live) {
    const uint32_t n = live->program->n_tensors;
    walk w = {.live = live, .visits = EVERY_VISIT};
    w.now = arn_allocate_zeroed(&live->allocator, n, sizeof *w.now);
    arenaut_status st = w.now ? run(&w) : arn_no_memory(live->err);
    for (uint32_t s = 0; s < n && st == ARENAUT_OK; s++) {
        if (w.now[s].visit != 0 && !close_life(&w, s)) st = arn_no_memory(live->err);
    }
    if (st == ARENAUT_OK) st = gather(&w);
    if (st == ARENAUT_OK) apply_merges(live);
    ARN_RELEASE(&live->allocator, w.now, w.past.lives, w.frames);
    return st;
}
