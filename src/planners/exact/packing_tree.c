/* Depth-first search over an explicit stack of nodes, so that it can be left at any node and that
 * its depth is no concern.
 *
 * Children are made in batches of the best few, as a node seldom gets to the rest. Which clique a
 * node branches on and which child comes first depends on the style (the branching heuristic); what
 * may be branched on at all, and what fails, does not. */
#include "planners/exact/packing_search.h"

#include "core/fail.h"

/* ---- no-goods ---- */

static bool is_placed(const arn_exact_state *s, uint32_t item) {
    return s->lowest[item] == ARN_EXACT_PLACED;
}

enum { WORK_PER_POLL = 1 << 19, NO_GOODS_PER_ITEM = 256, MOST_NO_GOODS = 1 << 18 };

/* With groups, all that is placed counts, wherever it lies. */
static uint64_t state_key(const arn_exact_tree *t, uint32_t first, uint32_t end) {
    const arn_exact_state *s = &t->state;
    uint64_t key = (uint64_t)s->capacity * UINT64_C(0x9e3779b97f4a7c15) + t->salt;
    if (s->model->tied) {
        first = 0;
        end = s->model->n_cliques;
    }
    for (uint32_t c = first; c < end; c++) key += s->digest[c];
    key ^= key >> 31;
    return key ? key : 1;
}

static void remember_no_good(arn_exact_tree *t, const arn_exact_node *node) {
    const uint64_t slot = node->key & (t->n_no_goods - 1);
    t->no_good[slot] = node->key;
    if (!t->log) return;
    t->no_good_line[slot] = node->line;
    t->no_good_serial[slot] = node->serial;
}

/* Whether the state is known to fail; in a log, whether that was proven by a line that is still
 * there. */
static bool is_no_good(arn_exact_tree *t, uint64_t key) {
    const uint64_t slot = key & (t->n_no_goods - 1);
    if (t->no_good[slot] != key || !arn_exact_has(t->state.model, ARN_EXACT_NO_GOODS)) return false;
    if (!t->log) return true;
    if (!arn_certificate_log_keep(t->log, t->no_good_line[slot], t->no_good_serial[slot]))
        return false;
    arn_certificate_log_add(t->log, ARENAUT_PROOF_SAME, 0, t->no_good_line[slot]);
    return true;
}

/* ---- the log ---- */

static void log_item(arn_exact_tree *t, arenaut_proof_rule rule, uint32_t item) {
    if (t->log) arn_certificate_log_add(t->log, rule, t->state.model->buffer[item], 0);
}

static void log_clique(arn_exact_tree *t, uint32_t clique) {
    const arn_exact_model *m = t->state.model;
    if (clique < m->n_moments) {
        arn_certificate_log_add(t->log, ARENAUT_PROOF_OVER, 0, (uint64_t)m->origin[clique]);
    } else {
        arn_certificate_log_add(t->log, ARENAUT_PROOF_EDGE, (uint32_t)m->origin[clique], 0);
    }
}

/* Why the last move failed. */
static void log_failure(arn_exact_tree *t) {
    if (!t->log) return;
    if (t->state.item_failed) arn_certificate_log_add(t->log, ARENAUT_PROOF_DEAD, 0, 0);
    else log_clique(t, t->state.overfull);
}

/* The members of a rejected floor that were no options, and then the rejection. */
static void log_reject(arn_exact_tree *t, uint32_t clique) {
    const arn_exact_state *s = &t->state;
    const arn_exact_model *m = s->model;
    if (!t->log) return;
    for (uint32_t k = m->member_start[clique]; k < m->member_start[clique + 1]; k++) {
        const uint32_t i = m->member[k], first = m->alike[i];
        if (s->lowest[i] != s->floor[clique] || first == ARENAUT_NONE) continue;
        if (is_placed(s, first)) continue;
        arn_certificate_log_add(t->log, ARENAUT_PROOF_ALIKE, m->buffer[i], m->buffer[first]);
    }
    arn_certificate_log_add(t->log, ARENAUT_PROOF_REJECT, 0, 0);
}

/* Items without a remaining lifetime, since others cover them, interfere with no other. The proof
 * leaves them out from the beginning: else they would be left out in some parts only, and a state
 * proven with them is not the same without. */
static void log_start(arn_exact_tree *t) {
    const arn_exact_model *m = t->state.model;
    if (!t->log || !m->cuts || m->n_moments == 0) return;
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->span_start[i] < m->span_start[i + 1]) continue;
        arn_certificate_log_add(t->log, ARENAUT_PROOF_UNTIL, 0,
                                (uint64_t)m->origin[m->n_moments - 1]);
        return;
    }
}

/* The lines that follow are about the cliques from `first` to `end` only. A border that is also one
 * of the whole stretch is not logged. */
static void log_part(arn_exact_tree *t, const arn_exact_node *parts, uint32_t first, uint32_t end) {
    const arn_exact_model *m = t->state.model;
    if (!t->log) return;
    arn_certificate_log_cut(t->log, parts->line);
    if (first > parts->first) {
        arn_certificate_log_add(t->log, ARENAUT_PROOF_FROM, 0, (uint64_t)m->origin[first]);
    }
    if (end < parts->end) {
        arn_certificate_log_add(t->log, ARENAUT_PROOF_UNTIL, 0, (uint64_t)m->origin[end - 1]);
    }
}

/* ---- choosing a clique ---- */

/* Whether neighbour `j` is still to be placed and could lie below `item`. */
static bool may_lie_below(const arn_exact_state *s, uint32_t j, uint32_t item) {
    const int64_t at = s->lowest[item];
    return s->lowest[j] < at && s->lowest[j] + s->model->size[j] <= at;
}

/* All cliques of the item have their floors where it may lie: then no neighbour could lie below. */
static bool is_level(arn_exact_state *s, uint32_t item) {
    const arn_exact_model *m = s->model;
    bool level = true;
    for (uint32_t k = m->span_start[item]; level && k < m->span_start[item + 1]; k++) {
        for (uint32_t c = m->span[k].first; level && c < m->span[k].end; c++) {
            level = s->floor[c] == s->lowest[item];
        }
        s->work += m->span[k].end - m->span[k].first;
    }
    return level;
}

/* Whether no neighbour that is still to be placed could lie below `item`. One that could is most
 * often the one that could at the node before; its work counts as if it were looked for. */
static bool is_clear_below(arn_exact_tree *t, uint32_t item) {
    arn_exact_state *s = &t->state;
    const arn_exact_model *m = s->model;
    const uint32_t k = m->span_start[item], known = t->below[item];
    const bool is_known = known != ARENAUT_NONE && may_lie_below(s, known, item);
    if (is_known && m->span_start[item + 1] == k + 1) {
        s->work += m->span[k].end - m->span[k].first;
        return false;
    }
    if (is_level(s, item)) return true;
    if (is_known) return false;
    const uint32_t end = m->neighbour_start[item + 1];
    for (uint32_t i = m->neighbour_start[item]; i < end; i++) {
        if (!may_lie_below(s, m->neighbour[i], item)) continue;
        t->below[item] = m->neighbour[i];
        return false;
    }
    s->work += end - m->neighbour_start[item];
    return true;
}

static bool is_safe(arn_exact_tree *t, uint32_t item) {
    if (t->safe[item] >> 1 != t->visited) {
        t->safe[item] = t->visited * 2 + is_clear_below(t, item);
    }
    return t->safe[item] & 1;
}

/* Whether a node may branch on `clique`, which has unplaced members: see packing_search.h. */
static bool may_branch(arn_exact_tree *t, uint32_t clique) {
    arn_exact_state *s = &t->state;
    const arn_exact_model *m = s->model;
    const int64_t floor = s->floor[clique];
    uint32_t k = m->member_start[clique];
    const uint32_t end = m->member_start[clique + 1];
    while (k < end && (s->lowest[m->member[k]] != floor || is_safe(t, m->member[k]))) k++;
    s->work += k - m->member_start[clique];
    return k == end;
}

/* The score of a clique of which so many members lie at its floor. Each counts twice, so that one
 * that may be rejected comes just behind one that may not. */
static uint64_t weight_of(const arn_exact_tree *t, uint32_t c) {
    return arn_exact_has(t->state.model, ARN_EXACT_WEIGHTS) ? t->weight[c] : 1;
}

static arn_exact_score score_of(const arn_exact_tree *t, uint32_t c, uint32_t at_floor) {
    const arn_exact_state *s = &t->state;
    const int64_t slack = arn_exact_slack(s, c);
    const uint64_t children = 2 * (uint64_t)at_floor + (slack > 0);
    switch (t->style.choice) {
        case ARN_EXACT_FEWEST: return (arn_exact_score){0, children, 1};
        case ARN_EXACT_FEWEST_BY_WEIGHT: return (arn_exact_score){0, children, weight_of(t, c)};
        case ARN_EXACT_LOWEST_FEWEST: return (arn_exact_score){(uint64_t)s->floor[c], children, 1};
        case ARN_EXACT_LOWEST_BY_WEIGHT:
            return (arn_exact_score){(uint64_t)s->floor[c], children, weight_of(t, c)};
        default: return (arn_exact_score){(uint64_t)slack, children, 1};
    }
}

static bool is_less(arn_exact_score a, arn_exact_score b) {
    if (a.first != b.first) return a.first < b.first;
    return a.children * b.weight < b.children * a.weight;
}

/* The score of clique `c`, or, if it is no less than `best`, some bound of it that is no less
 * either: members at the floor are counted only as far as that matters. */
static arn_exact_score score_up_to(arn_exact_tree *t, uint32_t c, arn_exact_score best) {
    arn_exact_state *s = &t->state;
    const arn_exact_model *m = s->model;
    arn_exact_score score = score_of(t, c, 1);
    const int64_t floor = s->floor[c];
    uint32_t k = m->member_start[c], n = 0;
    if (!is_less(score, best)) return score;
    for (; k < m->member_start[c + 1]; k++) {
        if (s->lowest[m->member[k]] != floor || n++ == 0) continue;
        score.children += 2;
        if (!is_less(score, best)) break;
    }
    s->work += k - m->member_start[c];
    return score;
}

/* The best so far, among cliques from `first` to `end`. */
typedef struct choosing {
    uint32_t first, end;
    bool safely; /* only of those that a node may branch on */
    arn_exact_score best;
    uint32_t chosen;
} choosing;

static const arn_exact_score no_score = {UINT64_MAX, 1, 1};

/* Looks at the cliques of a block. The least of all their scores is a lower bound of what is found
 * there, until one of them changes. */
static void look_at_block(arn_exact_tree *t, uint32_t block, choosing *x) {
    arn_exact_state *s = &t->state;
    const uint32_t from = block * ARN_EXACT_BLOCK, to = from + ARN_EXACT_BLOCK;
    const uint32_t first = from > x->first ? from : x->first, end = to < x->end ? to : x->end;
    arn_exact_score least = no_score;
    for (uint32_t k = first; k < end; k++) {
        const uint32_t c = t->style.from_the_end ? end - 1 - (k - first) : k;
        if (s->load[c] == 0) continue;
        const arn_exact_score candidate = score_up_to(t, c, x->best);
        if (is_less(candidate, least)) least = candidate;
        if (!is_less(candidate, x->best) || (x->safely && !may_branch(t, c))) continue;
        x->best = candidate;
        x->chosen = c;
    }
    if (!s->changed[block] || end - first < ARN_EXACT_BLOCK) return;
    t->least[block] = least;
    s->changed[block] = false;
}

/* Few cliques change from node to node, so that most blocks need no look. Work is counted as if
 * they did: what is found within an effort is the same then as by a scan. */
static uint32_t best_clique(arn_exact_tree *t, uint32_t first, uint32_t end, bool safely) {
    arn_exact_state *s = &t->state;
    choosing x = {first, end, safely, no_score, ARENAUT_NONE};
    const uint32_t lowest = first / ARN_EXACT_BLOCK, highest = (end - 1) / ARN_EXACT_BLOCK;
    for (uint32_t k = lowest; k <= highest; k++) {
        const uint32_t block = t->style.from_the_end ? highest - (k - lowest) : k;
        if (!s->changed[block] && !is_less(t->least[block], x.best)) continue;
        look_at_block(t, block, &x);
    }
    s->work += end - first;
    return x.chosen;
}

/* With groups a child raises its neighbours no further than it must, so that every clique will
 * do; but those are better in which nothing is left to be put below. */
static uint32_t choose_clique(arn_exact_tree *t, uint32_t first, uint32_t end) {
    const uint32_t chosen = best_clique(t, first, end, true);
    if (chosen != ARENAUT_NONE || !t->state.model->tied) return chosen;
    return best_clique(t, first, end, false);
}

/* ---- children ---- */

/* Fills the node's batch with the options that come next in rank. */
static void next_batch(arn_exact_tree *t, arn_exact_node *node, bool from_start) {
    arn_exact_state *s = &t->state;
    const arn_exact_model *m = s->model;
    const int64_t floor = s->floor[node->clique];
    node->n = node->tried = 0;
    for (uint32_t k = m->member_start[node->clique]; k < m->member_start[node->clique + 1]; k++) {
        const uint32_t i = m->member[k];
        if (s->lowest[i] != floor || (!from_start && t->rank[i] <= node->last)) continue;
        if (m->alike[i] != ARENAUT_NONE && !is_placed(s, m->alike[i])) continue;
        uint32_t at = node->n;
        if (at == ARN_EXACT_BATCH) {
            if (t->rank[node->option[--at]] < t->rank[i]) continue;
        } else {
            node->n++;
        }
        for (; at > 0 && t->rank[node->option[at - 1]] > t->rank[i]; at--) {
            node->option[at] = node->option[at - 1];
        }
        node->option[at] = i;
    }
    s->work += m->member_start[node->clique + 1] - m->member_start[node->clique];
    node->more = node->n == ARN_EXACT_BATCH;
    if (node->n) node->last = t->rank[node->option[node->n - 1]];
}

/* A move has failed there. */
static void add_weight(arn_exact_tree *t, uint32_t clique) {
    t->weight[clique]++;
    t->state.changed[clique / ARN_EXACT_BLOCK] = true;
}

/* Tries every option of the batch for one move, drops the failing ones, and puts the least wasteful
 * first. */
static void look_ahead(arn_exact_tree *t, arn_exact_node *node) {
    arn_exact_state *s = &t->state;
    int64_t waste[ARN_EXACT_BATCH];
    uint32_t kept = 0;
    for (uint32_t k = 0; k < node->n; k++) {
        const uint32_t i = node->option[k];
        const uint64_t before = s->wasted;
        const bool fits = arn_exact_place(s, i);
        const int64_t wasted = (int64_t)(s->wasted - before);
        arn_exact_undo(s, node->n_trail);
        if (!fits) {
            add_weight(t, s->overfull);
            continue;
        }
        uint32_t at = kept++;
        for (; at > 0 && waste[at - 1] > wasted; at--) {
            waste[at] = waste[at - 1];
            node->option[at] = node->option[at - 1];
        }
        waste[at] = wasted;
        node->option[at] = i;
    }
    node->n = kept;
}

static void fill_batch(arn_exact_tree *t, arn_exact_node *node, bool from_start) {
    next_batch(t, node, from_start);
    const bool looks = t->style.look_ahead && arn_exact_has(t->state.model, ARN_EXACT_LOOK_AHEAD);
    if (looks && node->n > 1) look_ahead(t, node);
}

/* Makes the node's next move that does not fail at once. False if there is none left. */
static bool next_move(arn_exact_tree *t, arn_exact_node *node) {
    arn_exact_state *s = &t->state;
    for (;;) {
        if (arn_poll_ended(s->model->poll)) return false;
        if (node->tried < node->n) {
            const uint32_t item = node->option[node->tried++];
            log_item(t, ARENAUT_PROOF_PLACE, item);
            if (arn_exact_place(s, item)) return true;
        } else if (node->more) {
            fill_batch(t, node, false);
            continue;
        } else if (!node->rejected) {
            node->rejected = true;
            log_reject(t, node->clique);
            if (arn_exact_reject(s, node->clique)) return true;
        } else {
            return false;
        }
        add_weight(t, s->overfull);
        log_failure(t);
        arn_exact_undo(s, node->n_trail);
    }
}

/* ---- walking ---- */

typedef enum step { ENTER, SUCCEED, FAIL, GIVE_UP, PAUSE } step;

static arn_exact_node *push(arn_exact_tree *t, uint32_t first, uint32_t end) {
    arn_exact_node *node = &t->node[t->n_nodes++];
    node->first = first;
    node->end = end;
    node->n_trail = t->state.n_trail;
    node->line = t->log ? t->log->n : 0;
    return node;
}

/* The end of the part that begins at `first`: the first border that no unplaced item crosses. */
static uint32_t part_end(const arn_exact_tree *t, uint32_t first, uint32_t end) {
    const arn_exact_state *s = &t->state;
    if (!s->model->cuts) return end;
    for (uint32_t c = first; c + 1 < end; c++) {
        if (s->crossing[c] == 0) return c + 1;
    }
    return end;
}

static bool must_give_up(arn_exact_tree *t, uint64_t max_visited) {
    if (t->log && t->log->failed) return true;
    if (t->visited >= max_visited || t->n_nodes + 2 > t->node_room) return true;
    if (!arn_exact_has_room(&t->state)) return true;
    if (t->state.work < t->next_poll) return false;
    t->next_poll = t->state.work + WORK_PER_POLL;
    return !t->go_on(t->context);
}

static step enter(arn_exact_tree *t, uint64_t max_visited) {
    arn_exact_state *s = &t->state;
    while (t->first < t->end && s->load[t->first] == 0) t->first++;
    while (t->first < t->end && s->load[t->end - 1] == 0) t->end--;
    if (t->first == t->end) return SUCCEED;
    if (must_give_up(t, max_visited)) return GIVE_UP;
    if (t->state.work >= t->stop_at) return PAUSE;
    const uint32_t part = part_end(t, t->first, t->end);
    if (part < t->end) {
        arn_exact_node *parts = push(t, t->first, t->end);
        parts->key = 0;
        parts->clique = part;
        t->end = part;
        log_part(t, parts, t->first, t->end);
    }
    const uint64_t key = state_key(t, t->first, t->end);
    if (is_no_good(t, key)) return FAIL;
    t->visited++;
    arn_exact_node *node = push(t, t->first, t->end);
    node->serial = t->visited;
    if (t->log) arn_certificate_log_add(t->log, ARENAUT_PROOF_BRANCH, 0, node->serial);
    node->key = key;
    node->clique = choose_clique(t, t->first, t->end);
    node->rejected = false;
    fill_batch(t, node, true);
    return next_move(t, node) ? ENTER : FAIL;
}

/* The top node's subtree has succeeded: goes up to the next part that is still to do. */
static step go_up(arn_exact_tree *t) {
    while (t->n_nodes > 0) {
        arn_exact_node *node = &t->node[t->n_nodes - 1];
        if (node->key == 0 && node->clique < node->end) {
            t->first = node->clique;
            t->end = part_end(t, t->first, node->end);
            node->clique = t->end;
            log_part(t, node, t->first, t->end);
            return ENTER;
        }
        t->n_nodes--;
    }
    return SUCCEED;
}

/* The top node's current child has failed: goes back to the next child that may do. */
static step go_back(arn_exact_tree *t) {
    while (t->n_nodes > 0) {
        arn_exact_node *node = &t->node[t->n_nodes - 1];
        arn_exact_undo(&t->state, node->n_trail);
        if (node->key != 0) {
            if (next_move(t, node)) {
                t->first = node->first;
                t->end = node->end;
                return ENTER;
            }
            if (arn_poll_ended(t->state.model->poll)) return GIVE_UP;
            remember_no_good(t, node);
        }
        t->n_nodes--;
    }
    return FAIL;
}

/* Whether the root may be feasible; if not, logs why. */
static bool root_fits(arn_exact_tree *t) {
    const arn_exact_state *s = &t->state;
    const arn_exact_model *m = s->model;
    for (uint32_t c = 0; c < m->n_cliques; c++) {
        if (s->load[c] > 0 && arn_exact_slack(s, c) < 0) {
            if (t->log) log_clique(t, c);
            return false;
        }
    }
    for (uint32_t i = 0; i < m->n; i++) {
        if (s->lowest[i] + m->size[i] > s->capacity) {
            if (t->log) arn_certificate_log_add(t->log, ARENAUT_PROOF_DEAD, 0, 0);
            return false;
        }
    }
    return true;
}

void arn_exact_tree_begin(arn_exact_tree *t, int64_t capacity) {
    arn_exact_undo(&t->state, 0);
    arn_exact_set_capacity(&t->state, capacity);
    for (uint32_t k = 0; k < arn_exact_blocks(t->state.model); k++) t->state.changed[k] = true;
    t->n_nodes = 0;
    t->first = 0;
    t->end = t->state.model->n_cliques;
    t->begun = false;
}

/* Goes through the tree until it is done, or must pause. */
static step walk(arn_exact_tree *t, uint64_t max_visited) {
    step next = ENTER;
    for (;;) {
        if (arn_poll_ended(t->state.model->poll)) return GIVE_UP;
        if (next == ENTER) {
            next = enter(t, max_visited);
            continue;
        }
        if (next == GIVE_UP || next == PAUSE) return next;
        const step after = next == SUCCEED ? go_up(t) : go_back(t);
        if (after == next) return next;
        next = after;
    }
}

arn_exact_verdict arn_exact_tree_go_on(arn_exact_tree *t, uint64_t max_nodes) {
    if (arn_poll_ended(t->state.model->poll)) return ARN_EXACT_GAVE_UP;
    if (!t->begun && !root_fits(t)) return ARN_EXACT_IMPOSSIBLE;
    if (!t->begun) log_start(t);
    t->begun = true;
    const step last = walk(t, t->visited + max_nodes);
    if (last == PAUSE) return ARN_EXACT_PAUSED;
    arn_exact_undo(&t->state, 0);
    if (arn_poll_ended(t->state.model->poll)) return ARN_EXACT_GAVE_UP;
    return last == SUCCEED ? ARN_EXACT_FOUND
           : last == FAIL  ? ARN_EXACT_IMPOSSIBLE
                           : ARN_EXACT_GAVE_UP;
}

arn_exact_verdict arn_exact_tree_run(arn_exact_tree *t, int64_t capacity, uint64_t max_nodes) {
    arn_exact_tree_begin(t, capacity);
    return arn_exact_tree_go_on(t, max_nodes);
}

static uint32_t node_room(const arn_exact_model *m) { return 4 * m->n + 1024; }

uint64_t arn_exact_no_goods(const arn_exact_model *m) {
    uint64_t n = NO_GOODS_PER_ITEM;
    while (n < MOST_NO_GOODS && n < NO_GOODS_PER_ITEM * (uint64_t)m->n) n *= 2;
    return n;
}

uint64_t arn_exact_tree_size(const arn_exact_model *m, uint64_t n_no_goods) {
    enum { PER_ITEM = 64, PER_CLIQUE = 68 };
    return n_no_goods * sizeof(uint64_t) +
           arn_exact_trail_room(m) * (uint64_t)sizeof(arn_exact_change) +
           node_room(m) * (uint64_t)sizeof(arn_exact_node) + m->n * (uint64_t)PER_ITEM +
           m->n_cliques * (uint64_t)PER_CLIQUE;
}

arenaut_status arn_exact_tree_init(arn_exact_tree *t, const arn_exact_model *model,
                                   uint64_t n_no_goods, arn_region *region, arenaut_error *err) {
    const arn_exact_tree empty = {
        .node_room = node_room(model), .n_no_goods = n_no_goods, .stop_at = UINT64_MAX};
    *t = empty;
    const arenaut_status st = arn_exact_state_init(&t->state, model, region, err);
    if (st != ARENAUT_OK) return st;
    t->rank = arn_region_allocate(region, model->n, sizeof *t->rank);
    t->weight = arn_region_allocate(region, model->n_cliques, sizeof *t->weight);
    t->least = arn_region_allocate(region, arn_exact_blocks(model), sizeof *t->least);
    t->node = arn_region_allocate(region, t->node_room, sizeof *t->node);
    t->safe = arn_region_allocate(region, model->n, sizeof *t->safe);
    t->below = arn_region_allocate(region, model->n, sizeof *t->below);
    t->no_good = arn_region_allocate(region, (size_t)t->n_no_goods, sizeof *t->no_good);
    if (!t->rank || !t->weight || !t->least || !t->node || !t->safe || !t->below || !t->no_good) {
        return arn_no_memory(err);
    }
    for (uint32_t i = 0; i < model->n; i++) {
        t->rank[i] = i;
        t->safe[i] = UINT64_MAX;
        t->below[i] = ARENAUT_NONE;
    }
    for (uint32_t c = 0; c < model->n_cliques; c++) t->weight[c] = 1;
    for (uint64_t k = 0; k < t->n_no_goods; k++) t->no_good[k] = 0;
    return ARENAUT_OK;
}

arenaut_status arn_exact_tree_log(arn_exact_tree *t, arn_certificate_log *log, arn_region *region,
                                  arenaut_error *err) {
    t->log = log;
    t->no_good_line = arn_region_allocate(region, (size_t)t->n_no_goods, sizeof *t->no_good_line);
    t->no_good_serial =
        arn_region_allocate(region, (size_t)t->n_no_goods, sizeof *t->no_good_serial);
    return t->no_good_line && t->no_good_serial ? ARENAUT_OK : arn_no_memory(err);
}
