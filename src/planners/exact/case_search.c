/* The search of one case: its runs one after the other, or several at a time with the same outcome.
 *
 * Almost every run ends without news, and what comes after it is then known beforehand. So further
 * runs are begun while one is still under way, on other threads, as if it had no news. If it has,
 * those behind it are broken off, and count as if they had never been begun; the schedule goes back
 * to where it was, and learns the news. Runs count in the order of their numbers:
 *
 *     thread 0  |== 0 ==|== 3 ==|== 4 ==|= 7       =   work
 *     thread 1  |=== 1 ====|== 5 ===x           x   news: 6 and 7 are broken off, and the next
 *     thread 2  |== 2 ===|=== 6 ===                 runs are drawn with what 5 has found
 *
 * So that the outcome is the same for any number of threads, and on none but the calling one, runs
 * depend on nothing that another one of their batch leaves behind: all begin with the weights that
 * the batches before have learned, and each remembers its own no-goods only. But a growing proof
 * does better with the no-goods of the last one, and takes long. It has a tree of its own, in which
 * it goes on for a while as the first run of each batch, and then pauses. An easy problem does
 * better if all runs learn from all: a search begins like that, one run at a time. */
#include "planners/exact/packing_search.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/parallel.h"
#include "planners/exact/item_model.h"
#include "planners/exact/search_runs.h"

enum {
    MOST_THREADS = 16,
    LEAST_RUNS = 16, /* of a batch of runs that are apart */
    MOST_RUNS = 256,
    PROOF_PART = 16,      /* of all work apart, one part in so many is of proofs: a core's share */
    RUNS_BEFORE = 4,      /* a batch is of one in so many runs: more would learn too late */
    MOST_BYTES = 3 << 24, /* of the trees */
    OWN_NO_GOODS = 1 << 13, /* of a run by itself */
};
/* For `path`. */
static const uint32_t path_threads[ARN_EXACT_PATHS] = {2, MOST_THREADS};
/* The effort before runs are apart. */
static const uint64_t TOGETHER = 350000;

struct search;

/* Makes runs. Changes nothing that it shares with others but what is behind the lock. */
typedef struct runner {
    struct search *search;
    arn_exact_model model; /* the case's, but for its `poll` */
    arn_poll poll;
    arn_exact_tree tree;
    uint64_t *learned; /* per clique: the weight that its runs of this batch have added */
    uint32_t *ids;
    arn_exact_trial run;
    uint32_t number; /* of the run */
    uint64_t work_before, nodes_before;
    arn_exact_verdict verdict;
    arn_exact_schedule schedule; /* after the run was drawn */
    bool goes_on;                /* the run was begun before, and paused */
} runner;

/* Of a run of this batch. */
typedef struct result {
    uint64_t work, nodes;
    bool done;
} result;

typedef struct search {
    const arn_exact_input *in;
    arn_exact_output *out;
    arn_exact_model model;
    arn_region region;
    arn_exact_pairs pairs;
    arn_exact_schedule schedule;
    arn_exact_success successes[ARN_EXACT_RECENT];
    uint64_t best_end; /* the end of the best plan, before its arena is rounded up */
    bool out_of_effort;
    uint64_t work, most;            /* operations that count; and how many there may be */
    uint64_t n_runs, n_together;    /* that count; of these, before runs were apart */
    uint64_t path[ARN_EXACT_PATHS]; /* operations */

    /* The first makes all runs at first, and later the proofs. */
    runner *runner;
    uint32_t n_runners;
    bool apart;
    uint64_t *weight;                /* of cliques, with which runs that are apart begin */
    uint64_t apart_from, proof_work; /* the work before runs were apart, and of proofs since then */
    uint64_t proof_nodes;            /* of the proof that has paused, */
    bool proving;                    /* if there is one */
    arn_threads threads;

    /* Of this batch, behind the lock while runs are made: */
    arenaut_verdict verdict;
    result *result;
    uint32_t n_begun, most_runs;
    uint32_t n_in_order;               /* runs that were made without a gap; */
    uint64_t work_in_order, work_made; /* their work, and that of all that were made */
    uint32_t news;                     /* the number of the first run with news; ARENAUT_NONE */
    runner *teller;                    /* that made it */
} search;

static uint64_t pool_align(const search *x) { return x->in->problem->pool[x->in->pool].align; }

static uint64_t arena_of(const search *x, int64_t top) {
    return arn_aligned((uint64_t)top * x->model.unit, pool_align(x));
}

/* The highest capacity that would make for a smaller arena than the best one, and fits. */
static int64_t next_target(const search *x) {
    uint64_t bytes = x->in->problem->pool[x->in->pool].capacity;
    if (x->out->arena != ARENAUT_UNPLACED) {
        if (x->out->arena < pool_align(x)) return -1;
        bytes = arn_min_u64(bytes, x->out->arena - pool_align(x));
    }
    return (int64_t)arn_min_u64(bytes / x->model.unit, (uint64_t)x->model.upper_bound);
}

static bool is_proven(const search *x) { return x->schedule.low > x->schedule.target; }

static bool finished(const search *x) {
    return is_proven(x) || (x->in->enough && x->best_end <= x->in->enough);
}

static bool stopped(const search *x) {
    return arn_poll_ended(x->in->poll) || x->out_of_effort || x->verdict != ARENAUT_GO_ON ||
           x->out->open_pair != ARENAUT_NONE;
}

/* ---- polls ---- */

/* Work that is sure to count; of the run at hand if nothing before it is under way or has news. */
static uint64_t work_so_far(const search *x, const runner *at_hand) {
    uint64_t work = x->work + x->work_in_order;
    if (at_hand && at_hand->number == x->n_in_order && at_hand->number <= x->news) {
        work += at_hand->tree.state.work - at_hand->work_before;
    }
    return arn_min_u64(work, arn_max_u64(x->most, x->work));
}

/* Reports to the caller and asks whether to stop; on the calling thread. */
static void report(search *x, const runner *at_hand) {
    arn_threads_lock(&x->threads);
    const uint64_t work = work_so_far(x, at_hand);
    arenaut_verdict verdict = x->verdict;
    arn_threads_unlock(&x->threads);
    if (arn_poll_ended(x->in->poll)) verdict = x->in->poll->verdict;
    if (verdict == ARENAUT_GO_ON && x->in->progress) {
        verdict =
            x->in->progress(x->in->progress_context, x->out->arena, arena_of(x, x->schedule.low),
                            work / ARN_EXACT_OPERATIONS_PER_EFFORT);
    } else if (verdict == ARENAUT_GO_ON && !arn_poll_after(x->in->poll, ARN_POLL_EVERY)) {
        verdict = x->in->poll->verdict;
    }
    arn_threads_lock(&x->threads);
    x->verdict = verdict;
    arn_threads_unlock(&x->threads);
}

static void watch(void *context) { report(context, NULL); }

/* The callback of a runner's poll. */
static arenaut_verdict poll_runner(void *context) {
    const runner *r = context;
    search *x = r->search;
    const bool is_caller = arn_threads_is_caller(&x->threads);
    if (is_caller) report(x, r);
    arn_threads_lock(&x->threads);
    if (!is_caller) arn_threads_wake(&x->threads);
    const bool wanted = x->verdict == ARENAUT_GO_ON && r->number <= x->news;
    arn_threads_unlock(&x->threads);
    return wanted ? ARENAUT_GO_ON : ARENAUT_INTERRUPTED;
}

static bool go_on(void *context) {
    runner *r = context;
    return arn_poll_after(&r->poll, ARN_POLL_EVERY);
}

/* ---- runners ---- */

static arenaut_status open_runner(search *x, uint64_t n_no_goods, arenaut_error *err) {
    runner *r = &x->runner[x->n_runners++];
    const uint32_t n = x->model.n;
    r->search = x;
    r->model = x->model;
    r->model.poll = &r->poll;
    r->poll.callback = poll_runner;
    r->poll.context = r;
    if (!ARN_REGION_ARRAYS(&x->region, ARN_ARRAY(r->run.keys, n),
                           ARN_ARRAY(r->learned, x->model.n_cliques),
                           ARN_ARRAY(r->ids, 2 * (size_t)n))) {
        return arn_no_memory(err);
    }
    const arenaut_status st = arn_exact_tree_init(&r->tree, &r->model, n_no_goods, &x->region, err);
    r->tree.go_on = go_on;
    r->tree.context = r;
    return st;
}

/* How many runs may be made at a time; 0: the memory allows for none beside the proofs. */
static uint32_t most_at_a_time(const search *x) {
    const uint64_t proofs = arn_exact_tree_size(&x->model, arn_exact_no_goods(&x->model));
    const uint64_t each = arn_exact_tree_size(&x->model, OWN_NO_GOODS);
    const uint64_t room = proofs < MOST_BYTES ? (MOST_BYTES - proofs) / each : 0;
    return (uint32_t)arn_min_u64(room, MOST_THREADS);
}

/* From here on runs of a batch learn nothing from each other. Not for a relaxation, as a packing of
 * that ends the search before long. */
static arenaut_status part_runs(search *x, arenaut_error *err) {
    const uint32_t wanted = x->in->threads > 1 ? x->in->threads : 1;
    const uint32_t n = (uint32_t)arn_min_u64(most_at_a_time(x), wanted);
    const uint32_t n_cliques = x->model.n_cliques;
    arenaut_status st = ARENAUT_OK;
    x->weight = arn_region_allocate(&x->region, n_cliques, sizeof *x->weight);
    if (!x->weight) return arn_no_memory(err);
    for (uint32_t c = 0; c < n_cliques; c++) x->weight[c] = x->runner[0].tree.weight[c];
    for (uint32_t k = 0; k < n && st == ARENAUT_OK; k++) st = open_runner(x, OWN_NO_GOODS, err);
    if (st == ARENAUT_NO_MEMORY && x->n_runners > 2) {
        x->n_runners--; /* fewer threads find the same, and one is enough */
        st = ARENAUT_OK;
    }
    x->apart = n > 0;
    x->n_together = x->n_runs;
    x->apart_from = x->work;
    if (x->apart) arn_exact_part(&x->schedule);
    return st;
}

/* ---- one run ---- */

static void begin_tree(runner *r) {
    arn_exact_tree *t = &r->tree;
    arn_exact_rank(r->run.keys, r->model.n, r->ids, t->rank);
    t->style = r->run.style;
    for (uint32_t c = 0; c < r->model.n_cliques && r->run.forgets; c++) t->weight[c] = 1;
    arn_exact_tree_begin(t, r->run.capacity);
}

static void make_run(runner *r) {
    begin_tree(r);
    r->verdict = arn_exact_tree_go_on(&r->tree, r->run.limit);
}

/* Goes on with the growing proof. */
static void make_piece(runner *r) {
    if (!r->goes_on) begin_tree(r);
    r->verdict = arn_exact_tree_go_on(&r->tree, r->run.limit - r->search->proof_nodes);
}

/* Makes a run that depends on none of its batch. */
static void make_run_apart(runner *r) {
    const uint64_t *weight = r->search->weight;
    arn_exact_tree *t = &r->tree;
    for (uint32_t c = 0; c < r->model.n_cliques; c++) t->weight[c] = weight[c];
    make_run(r);
    for (uint32_t c = 0; c < r->model.n_cliques; c++) r->learned[c] += t->weight[c] - weight[c];
}

static bool may_begin(const search *x) {
    if (x->verdict != ARENAUT_GO_ON || x->news != ARENAUT_NONE || x->n_begun == x->most_runs)
        return false;
    return x->work + x->work_made < x->most;
}

/* How far the growing proof may go on in this batch: to its part of all work so far. */
static uint64_t work_for_proof(const search *x) {
    const uint64_t part = (x->work - x->apart_from) / PROOF_PART;
    if (!arn_exact_has(&x->model, ARN_EXACT_PROOFS)) return 0;
    return x->apart && part > x->proof_work ? part - x->proof_work : 0;
}

static void number_run(search *x, runner *r, uint64_t most_work) {
    const uint64_t left = x->most - x->work - x->work_made;
    r->number = x->n_begun++;
    r->work_before = r->tree.state.work;
    r->nodes_before = r->tree.visited;
    r->tree.stop_at = arn_min_u64(left, most_work);
    r->tree.stop_at += arn_min_u64(UINT64_MAX - r->tree.stop_at, r->work_before);
}

/* The growing proof goes on, or the next one begins. */
static void begin_piece(search *x, runner *r) {
    number_run(x, r, work_for_proof(x));
    r->goes_on = x->proving && r->run.capacity == x->schedule.target;
    if (!r->goes_on) {
        r->tree.state.work += arn_exact_next_proof(&x->schedule, &r->run);
        x->proof_nodes = 0;
    }
    r->schedule = x->schedule;
}

static void begin_run(search *x, runner *r) {
    number_run(x, r, UINT64_MAX);
    r->tree.state.work += arn_exact_next_run(&x->schedule, &r->run);
    r->tree.salt = x->apart ? x->n_runs + r->number + 1 : 0;
    r->schedule = x->schedule;
    if (x->apart) arn_exact_learn(&x->schedule, &r->run, ARN_EXACT_GAVE_UP, r->run.limit);
}

static void note_result(search *x, runner *r) {
    result *made = &x->result[r->number];
    made->work = r->tree.state.work - r->work_before;
    made->nodes = r->tree.visited - r->nodes_before;
    made->done = !arn_poll_ended(&r->poll);
    x->work_made += made->work;
    const bool told = r->verdict == ARN_EXACT_FOUND || r->verdict == ARN_EXACT_IMPOSSIBLE;
    if (made->done && told && r->number < x->news) {
        x->news = r->number;
        x->teller = r;
    }
    while (x->n_in_order < x->n_begun && x->n_in_order <= x->news &&
           x->result[x->n_in_order].done) {
        x->work_in_order += x->result[x->n_in_order++].work;
    }
}

/* Makes one run after the other, until there are news or no more may be begun. */
static void make_runs(void *context, uint32_t index) {
    search *x = context;
    arn_threads_lock(&x->threads);
    while (may_begin(x)) {
        const bool is_piece = x->n_begun == 0 && work_for_proof(x) > 0;
        runner *r = &x->runner[is_piece ? 0 : index + x->apart];
        if (is_piece) begin_piece(x, r);
        else begin_run(x, r);
        arn_threads_unlock(&x->threads);
        if (is_piece) make_piece(r);
        else if (x->apart) make_run_apart(r);
        else make_run(r);
        arn_threads_lock(&x->threads);
        note_result(x, r);
        x->teller = x->apart || x->teller ? x->teller : r;
    }
    arn_threads_unlock(&x->threads);
}

/* ---- a batch of runs ---- */

/* Takes a packing as the best plan. False if it violates an open pair. */
static bool keep_packing(search *x, const arn_exact_tree *tree) {
    const arn_exact_model *m = &x->model;
    x->out->open_pair = arn_exact_open_pair(&x->pairs, m, tree->state.offset);
    x->work += (uint64_t)x->pairs.n_covered * x->in->problem->n_buffers;
    if (x->out->open_pair != ARENAUT_NONE) return false;
    const int64_t top = arn_exact_write_places(m, tree->state.offset, x->out->offset);
    x->out->improved = true;
    x->out->arena = arena_of(x, top);
    x->best_end = (uint64_t)top * m->unit;
    x->schedule.target = next_target(x);
    return true;
}

/* What a run has found, which is the last one that counts. */
static void take_news(search *x, runner *r) {
    const uint64_t nodes = r->tree.visited - r->nodes_before;
    const bool found = r->verdict == ARN_EXACT_FOUND,
               first = r->run.purpose == ARN_EXACT_FIRST_PLAN;
    const int64_t low = r->schedule.low;
    x->schedule = r->schedule;
    if (found && !keep_packing(x, &r->tree)) return;
    if (found && !first) arn_exact_remember(&x->schedule, x->successes, &r->run);
    arn_exact_learn(&x->schedule, &r->run, r->verdict, nodes);
    if (found || x->schedule.low != low) report(x, NULL);
}

/* How long runs 0 to n - 1 take on so many threads. */
static uint64_t longest_path(const search *x, uint32_t n, uint32_t threads) {
    uint64_t end[MOST_THREADS] = {0}, longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = 0;
        for (uint32_t k = 1; k < threads; k++) first = end[k] < end[first] ? k : first;
        end[first] += x->result[i].work;
        longest = arn_max_u64(longest, end[first]);
    }
    return longest;
}

/* Counts the runs in their order. One that ends with the effort or beyond does not count. Returns
 * how many do. */
static uint32_t count_runs(search *x) {
    const uint32_t n = x->news == ARENAUT_NONE ? x->n_begun : x->news + 1;
    uint32_t i = 0;
    for (; i < n && x->result[i].done; i++) {
        if (x->result[i].work >= x->most - x->work) {
            x->work = x->most;
            x->out_of_effort = true;
            break;
        }
        x->work += x->result[i].work;
        x->out->nodes += x->result[i].nodes;
    }
    return i;
}

/* Adds the weights that the runs of this batch have learned; where one has news, its own alone. */
static void add_weights(search *x) {
    for (uint32_t k = 1; k < x->n_runners; k++) {
        runner *r = &x->runner[k];
        const bool counts = x->news == ARENAUT_NONE;
        for (uint32_t c = 0; c < x->model.n_cliques; c++) {
            if (counts) x->weight[c] += r->learned[c];
            else if (r == x->teller) x->weight[c] = r->tree.weight[c];
            r->learned[c] = 0;
        }
    }
}

/* Runs that were broken off leave no-goods behind, and others get their numbers. */
static void forget_broken_off(search *x) {
    for (uint32_t k = 1; k < x->n_runners && x->news != ARENAUT_NONE; k++) {
        arn_exact_tree *t = &x->runner[k].tree;
        for (uint64_t i = 0; i < t->n_no_goods; i++) t->no_good[i] = 0;
    }
}

/* A batch grows with the number of runs before it, so that its own lessons are an ever smaller part
 * of all, and threads are seldom idle at its end. */
static uint32_t runs_of_batch(const search *x) {
    const uint64_t part = arn_min_u64((x->n_runs - x->n_together) / RUNS_BEFORE, MOST_RUNS);
    if (!x->apart) return 1;
    return part < LEAST_RUNS ? LEAST_RUNS : (uint32_t)part;
}

/* The growing proof after its piece, which counts: whether it is over. */
static void end_piece(search *x) {
    const runner *r = &x->runner[0];
    x->proof_work += x->result[0].work;
    x->proof_nodes += x->result[0].nodes;
    x->proving = r->verdict == ARN_EXACT_PAUSED;
    if (r->verdict == ARN_EXACT_GAVE_UP) {
        arn_exact_learn(&x->schedule, &r->run, r->verdict, x->proof_nodes);
    }
}

static void make_batch(search *x) {
    const bool has_piece = work_for_proof(x) > 0;
    forget_broken_off(x);
    x->most_runs = runs_of_batch(x);
    x->n_begun = x->n_in_order = 0;
    x->work_in_order = x->work_made = 0;
    x->news = ARENAUT_NONE;
    x->teller = NULL;
    for (uint32_t k = 0; k < x->n_runners; k++) x->runner[k].poll.verdict = ARENAUT_GO_ON;
    for (uint32_t i = 0; i < x->most_runs; i++) x->result[i].done = false;
    const uint32_t n = x->apart ? x->n_runners - 1 : 1;
    arn_threads_run(&x->threads, n, n, make_runs, watch, x);
    const uint32_t counted = count_runs(x);
    x->work_in_order = 0;
    x->n_runs += counted;
    for (uint32_t k = 0; k < ARN_EXACT_PATHS; k++) {
        x->path[k] += longest_path(x, counted, path_threads[k]);
    }
    /* After a stop, what was found all the same still counts. */
    const bool told =
        x->news != ARENAUT_NONE &&
        (counted == x->news + 1 || (x->verdict != ARENAUT_GO_ON && !x->out_of_effort));
    if (told || (!x->apart && counted == 1)) take_news(x, x->teller);
    if (has_piece && counted > 0) end_piece(x);
    add_weights(x);
}

static arenaut_status search_on(search *x, arenaut_error *err) {
    const uint64_t alone = x->in->together ? x->in->together : TOGETHER;
    arenaut_status st = ARENAUT_OK;
    bool together = true;
    while (st == ARENAUT_OK && !finished(x) && !stopped(x)) {
        if (x->work >= x->most) {
            x->out_of_effort = true;
        } else if (together && x->work / ARN_EXACT_OPERATIONS_PER_EFFORT >= alone &&
                   x->pairs.n_open == 0) {
            together = false;
            st = part_runs(x, err);
        } else {
            make_batch(x);
        }
    }
    return st;
}

/* ---- begin and end ---- */

/* The lowest top, in units, of an arena of at least `bytes` once it is rounded up. */
static int64_t lowest_top(const search *x, uint64_t bytes) {
    if (bytes < pool_align(x)) return 0;
    return (int64_t)((bytes - pool_align(x)) / x->model.unit + 1);
}

static arenaut_status begin(search *x, const arn_exact_case *assumed, arenaut_error *err) {
    const arn_exact_model *m = &x->model;
    const int64_t known = lowest_top(x, x->in->bound);
    const uint64_t most = UINT64_MAX / ARN_EXACT_OPERATIONS_PER_EFFORT;
    if (!ARN_REGION_ARRAYS(&x->region, ARN_ARRAY(x->runner, MOST_THREADS + 1),
                           ARN_ARRAY(x->result, MOST_RUNS)) ||
        !arn_exact_list_pairs(assumed, &x->region, &x->pairs)) {
        return arn_no_memory(err);
    }
    for (uint32_t k = 0; k < ARN_EXACT_RECENT; k++) {
        x->successes[k].keys = arn_region_allocate(&x->region, m->n, sizeof(int64_t));
        if (!x->successes[k].keys) return arn_no_memory(err);
    }
    x->schedule = arn_exact_schedule_of(m, x->in->seed, x->successes);
    x->best_end = x->in->arena;
    x->schedule.low = m->bound;
    if (known > x->schedule.low) x->schedule.low = known;
    x->schedule.target = next_target(x);
    if (m->clash) x->schedule.low = INT64_MAX;
    x->most = arn_min_u64(x->in->effort, most) * ARN_EXACT_OPERATIONS_PER_EFFORT;
    return open_runner(x, arn_exact_no_goods(m), err);
}

/* With no plan to start from, the first run is free to waste as much as it likes. */
static void first_plan(search *x) {
    runner *r = &x->runner[0];
    if (x->out->arena != ARENAUT_UNPLACED || finished(x) ||
        x->schedule.target < x->model.upper_bound)
        return;
    x->news = ARENAUT_NONE;
    r->tree.state.work += arn_exact_first_run(&x->schedule, &r->run);
    r->schedule = x->schedule;
    make_run(r);
    x->work += r->tree.state.work;
    x->out->nodes += r->tree.visited;
    for (uint32_t k = 0; k < ARN_EXACT_PATHS; k++) x->path[k] = x->work;
    if (!arn_poll_ended(&r->poll)) take_news(x, r);
}

static void end(search *x) {
    arn_exact_output *out = x->out;
    if (arn_poll_ended(x->in->poll) && x->verdict == ARENAUT_GO_ON)
        x->verdict = x->in->poll->verdict;
    out->effort = x->work / ARN_EXACT_OPERATIONS_PER_EFFORT;
    for (uint32_t k = 0; k < ARN_EXACT_PATHS; k++) {
        out->path[k] = x->path[k] / ARN_EXACT_OPERATIONS_PER_EFFORT;
    }
    out->stopped_by = arn_stop_of(x->verdict);
    if (finished(x)) out->stopped_by = ARENAUT_STOP_PROOF;
    if (!is_proven(x)) {
        out->bound = arena_of(x, x->schedule.low);
    } else if (out->arena != ARENAUT_UNPLACED) {
        out->bound = out->arena;
    } else {
        out->bound = ARENAUT_UNPLACED;
    }
}

arenaut_status arn_exact_search(const arn_exact_case *assumed, arn_exact_output *out,
                                arenaut_error *err) {
    const arn_exact_input *in = &assumed->in;
    search x = {.in = in, .out = out};
    out->improved = false;
    out->open_pair = ARENAUT_NONE;
    out->arena = in->arena;
    out->bound = in->bound;
    out->effort = out->nodes = 0;
    arenaut_status st = arn_exact_model_make(assumed, &x.model, err);
    if (st == ARENAUT_STOPPED) {
        out->stopped_by = arn_stop_of(in->poll->verdict);
        return ARENAUT_OK;
    }
    if (st != ARENAUT_OK) return st;
    arn_region_init(&x.region, in->allocator);
    arn_threads_init(&x.threads, in->threads);
    st = begin(&x, assumed, err);
    if (st == ARENAUT_OK) {
        first_plan(&x);
        st = search_on(&x, err);
    }
    if (st == ARENAUT_OK) end(&x);
    arn_threads_free(&x.threads);
    arn_region_free(&x.region);
    arn_exact_model_free(&x.model);
    return st;
}
