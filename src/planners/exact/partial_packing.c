/* A partial packing: its two moves with their propagation, and a trail to take them back.
 *
 * Placing an item goes through its neighbours in the interference graph and raises those that
 * could have lain there. Each clique watches one of its members at the floor, and only when that
 * one is raised, it looks for another one, or for its new floor (watched literals: Moskewicz et al.
 * 2001; Gent, Jefferson, Miguel 2006). That is done once, after the move, for all of them. A watch
 * that was moved stays valid when moves are taken back. The search spends its time in these loops,
 * and `work` counts them. Rejecting a floor is the second move, at the end. */
#include "planners/exact/packing_search.h"

#include "core/fail.h"

enum { LOWEST, FLOOR, UNPLACED };

/* To raise an item and take that back. */
enum { RAISE_WORK = 4 };

static uint64_t scramble(uint64_t x) {
    x ^= x >> 29;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

/* The term of an unplaced item in the digest of its first clique. Sums of these differ by the items
 * that are unplaced and by their lowest places (compare Zobrist hashing, 1970). */
static uint64_t digest_of(const arn_exact_state *s, uint32_t i, int64_t lowest) {
    return scramble(s->code[i] + (uint64_t)lowest * UINT64_C(0x9e3779b97f4a7c15));
}

static void log_change(arn_exact_state *s, uint32_t kind, uint32_t index, int64_t before) {
    const arn_exact_change change = {.before = before, .index = index, .kind = kind};
    s->trail[s->n_trail++] = change;
}

static void log_floor(arn_exact_state *s, uint32_t clique) {
    const arn_exact_change change = {
        .before = s->floor[clique], .index = clique, .kind = FLOOR, .watch = s->watch[clique]};
    s->trail[s->n_trail++] = change;
}

bool arn_exact_has_room(const arn_exact_state *s) {
    const arn_exact_model *m = s->model;
    return s->trail_room - s->n_trail > m->largest_group * (m->n + 1) + m->n_cliques;
}

/* ---- room above a floor ---- */

/* The marks below the highest place that an item may take, with its own: the most of all members if
 * it is the topmost. Negative if it does not fit at all. */
static int64_t most_marks_of(const arn_exact_state *s, uint32_t i, uint8_t grain) {
    const arn_exact_model *m = s->model;
    if (s->capacity < m->size[i]) return -1;
    const int64_t start = (s->capacity - m->size[i]) & -m->align[i];
    return arn_exact_marks_below(start, grain) + arn_exact_marks(m, i, grain);
}

void arn_exact_set_capacity(arn_exact_state *s, int64_t capacity) {
    const arn_exact_model *m = s->model;
    s->capacity = capacity;
    for (uint32_t c = 0; c < m->n_cliques && m->has_marks; c++) {
        s->most_marks[c] = -1;
        for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1] && m->grain[c]; k++) {
            const int64_t marks = most_marks_of(s, m->member[k], m->grain[c]);
            if (marks > s->most_marks[c]) s->most_marks[c] = marks;
        }
    }
    if (m->has_marks) s->work += m->member_start[m->n_cliques];
}

int64_t arn_exact_slack(const arn_exact_state *s, uint32_t c) {
    const arn_exact_model *m = s->model;
    const int64_t slack = s->capacity - arn_exact_need(m, c, s->floor[c], s->load[c]);
    if (!m->has_marks || m->grain[c] == 0) return slack;
    const int64_t below = arn_exact_marks_below(s->floor[c], m->grain[c]);
    const int64_t marks = s->most_marks[c] - s->marks[c] - below;
    return marks < slack ? marks : slack;
}

/* ---- floors ---- */

/* Floors or loads of cliques from `first` to `end` change. */
static void note_cliques(arn_exact_state *s, uint32_t first, uint32_t end) {
    for (uint32_t k = first / ARN_EXACT_BLOCK; k * ARN_EXACT_BLOCK < end; k++) s->changed[k] = true;
}

/* Clique `c` watches `item` from now on. */
static void watch(arn_exact_state *s, uint32_t c, uint32_t item) {
    const uint32_t next = s->next_watched[c], before = s->watched_before[c], old = s->watch[c];
    if (next != ARENAUT_NONE) s->watched_before[next] = before;
    if (before != ARENAUT_NONE) s->next_watched[before] = next;
    else if (old != ARENAUT_NONE) s->first_watched[old] = next;
    const uint32_t first = s->first_watched[item];
    if (first != ARENAUT_NONE) s->watched_before[first] = c;
    s->next_watched[c] = first;
    s->watched_before[c] = ARENAUT_NONE;
    s->first_watched[item] = c;
    s->watch[c] = item;
}

/* Clique `c` has lost the member that it watches: finds another one at its floor, or its new floor,
 * which is known to be no less than `least`. False if the unplaced members do not fit above it.
 * Which cliques only find another member depends on all that happened before, so that is no
 * work. */
static bool find_floor(arn_exact_state *s, uint32_t c, int64_t least) {
    const arn_exact_model *m = s->model;
    int64_t floor = ARN_EXACT_PLACED;
    uint32_t lowest = s->watch[c], k = m->member_start[c];
    for (; k < m->member_start[c + 1] && floor > least; k++) {
        const uint32_t i = m->member[k];
        if (s->lowest[i] >= floor) continue;
        floor = s->lowest[i];
        lowest = i;
    }
    if (floor != s->floor[c]) {
        s->work += k - m->member_start[c];
        log_floor(s, c);
        if (floor != ARN_EXACT_PLACED) s->wasted += (uint64_t)(floor - s->floor[c]);
        s->floor[c] = floor;
        note_cliques(s, c, c + 1);
    }
    if (lowest != ARENAUT_NONE) watch(s, c, lowest); /* else it has no members */
    return floor == ARN_EXACT_PLACED || arn_exact_slack(s, c) >= 0;
}

/* Cliques that have filled up to `top`: no unplaced member can lie lower. */
typedef struct filled {
    arn_exact_span span;
    int64_t top;
} filled;

static int64_t least_floor(const arn_exact_state *s, const filled *below, uint32_t c) {
    const bool known = below && c >= below->span.first && c < below->span.end;
    return known ? below->top : s->floor[c];
}

/* Of several overfull cliques the one with the least lot is blamed. The order in which they are
 * found depends on who watched whom, and so on other runs; by their places in time, the early ones
 * would hide the late ones, and far fewer hard problems are solved. */
static uint64_t lot_of(const arn_exact_state *s, uint32_t clique) {
    if (!arn_exact_has(s->model, ARN_EXACT_LOTS)) return clique;
    return scramble(((uint64_t)clique + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

static void blame(arn_exact_state *s, uint32_t clique, bool first) {
    if (first || lot_of(s, clique) < lot_of(s, s->overfull)) s->overfull = clique;
}

/* Ends a move: finds the floors that it has raised, unless `fits` is false already. Returns whether
 * the move still fits, and notes a clique in which it does not. `below` may be NULL. */
static bool find_floors(arn_exact_state *s, bool fits, const filled *below) {
    const uint32_t n = fits ? s->n_dirty : 0;
    s->item_failed = !fits;
    s->n_dirty = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t c = s->dirty[k];
        if (find_floor(s, c, least_floor(s, below, c))) continue;
        blame(s, c, fits);
        fits = false;
    }
    return fits;
}

/* Item `i` is raised, placed, or put back. */
static void note_item(arn_exact_state *s, uint32_t i) {
    const arn_exact_model *m = s->model;
    for (uint32_t k = m->span_start[i]; k < m->span_start[i + 1]; k++) {
        note_cliques(s, m->span[k].first, m->span[k].end);
    }
}

/* Item `i`, until now at `lowest`, leaves the floors that it was part of. Of a group an item may be
 * raised several times in one move; its cliques are dirty from the first time on. */
static void leave_floors(arn_exact_state *s, uint32_t i, int64_t lowest) {
    for (uint32_t c = s->first_watched[i]; c != ARENAUT_NONE; c = s->next_watched[c]) {
        if (s->floor[c] == lowest) s->dirty[s->n_dirty++] = c;
    }
    note_item(s, i);
    s->work += RAISE_WORK;
}

/* False if the item would end above the capacity. The state is changed all the same, so that
 * there is one way to undo. */
static bool raise(arn_exact_state *s, uint32_t i, int64_t lowest) {
    const int64_t before = s->lowest[i];
    log_change(s, LOWEST, i, before);
    s->digest[s->hull_first[i]] += digest_of(s, i, lowest) - digest_of(s, i, before);
    s->lowest[i] = lowest;
    leave_floors(s, i, before);
    return lowest <= s->capacity - s->model->size[i];
}

/* Past the placed neighbours that the item would run into at `at`. */
static int64_t past_placed(const arn_exact_state *s, uint32_t i, int64_t at) {
    const arn_exact_model *m = s->model;
    for (uint32_t k = m->neighbour_start[i]; k < m->neighbour_start[i + 1]; k++) {
        const uint32_t j = m->neighbour[k];
        if (s->lowest[j] != ARN_EXACT_PLACED) continue;
        const int64_t top = s->offset[j] + m->size[j];
        if (at < top && s->offset[j] < at + m->size[i]) at = top;
    }
    return at;
}

/* The lowest place from `at` on for an item with its group that is clear of walls and of placed
 * items; some place above the capacity if there is none below. */
static int64_t settle(arn_exact_state *s, uint32_t item, int64_t at) {
    const arn_exact_model *m = s->model;
    if (!m->tied) return arn_exact_snap(m, item, at);
    const uint32_t g = m->group[item];
    for (bool moved = true; moved && at <= s->capacity;) {
        moved = false;
        at = arn_exact_snap_group(m, item, at);
        for (uint32_t k = m->group_start[g]; k < m->group_start[g + 1]; k++) {
            const uint32_t j = m->group_item[k];
            const int64_t own = at - m->delta[item] + m->delta[j], free = past_placed(s, j, own);
            moved = moved || free != own;
            at += free - own;
            s->work += m->neighbour_start[j + 1] - m->neighbour_start[j];
            if (!arn_poll_after(m->poll, m->neighbour_start[j + 1] - m->neighbour_start[j])) break;
        }
        if (arn_poll_ended(m->poll)) break;
    }
    return at;
}

/* Raises an item with its group. False if some of it would end above the capacity; the change is
 * made all the same, so that there is one way to undo. */
static bool raise_group(arn_exact_state *s, uint32_t item, int64_t lowest) {
    const arn_exact_model *m = s->model;
    if (!m->tied) return raise(s, item, lowest);
    const uint32_t g = m->group[item];
    bool fits = true;
    for (uint32_t k = m->group_start[g]; k < m->group_start[g + 1]; k++) {
        const uint32_t j = m->group_item[k];
        if (!raise(s, j, lowest - m->delta[item] + m->delta[j])) fits = false;
    }
    return fits;
}

/* ---- moves ---- */

/* Takes `i` out of the unplaced items (sign 1), or puts it back (sign -1). It leaves or rejoins
 * floors, too, which notes its cliques. */
static void count_out(arn_exact_state *s, uint32_t i, int64_t sign) {
    const arn_exact_model *m = s->model;
    const int64_t size = sign * m->size[i];
    for (uint32_t k = m->span_start[i]; k < m->span_start[i + 1]; k++) {
        for (uint32_t c = m->span[k].first; c < m->span[k].end; c++) s->load[c] -= size;
        for (uint32_t c = m->span[k].first; c < m->span[k].end && m->has_marks; c++) {
            if (m->grain[c]) s->marks[c] -= sign * arn_exact_marks(m, i, m->grain[c]);
        }
        s->wasted -= (uint64_t)size * (m->span[k].end - m->span[k].first);
    }
    for (uint32_t c = s->hull_first[i]; c + 1 < s->hull_end[i]; c++) {
        s->crossing[c] -= (uint32_t)sign;
    }
    s->n_unplaced -= (uint32_t)sign;
}

/* If unplaced items may lie below placed ones, a digest depends on the places of these. */
static uint64_t digest_of_placed(const arn_exact_state *s, uint32_t item) {
    return s->model->tied ? ~digest_of(s, item, s->offset[item]) : 0;
}

/* Places one item, and raises the neighbours that it displaces. */
static bool place_item(arn_exact_state *s, uint32_t item) {
    const arn_exact_model *m = s->model;
    const int64_t at = s->lowest[item], top = at + m->size[item];
    s->offset[item] = at;
    log_change(s, UNPLACED, item, at);
    s->digest[s->hull_first[item]] += digest_of_placed(s, item) - digest_of(s, item, at);
    count_out(s, item, 1);
    leave_floors(s, item, at);
    s->lowest[item] = ARN_EXACT_PLACED;
    const uint32_t end = m->neighbour_start[item + 1];
    bool fits = true;
    for (uint32_t k = m->neighbour_start[item]; k < end; k++) {
        const uint32_t j = m->neighbour[k];
        if (s->lowest[j] >= top) continue;
        if (m->tied && s->lowest[j] + m->size[j] <= at) continue;
        if (raise_group(s, j, settle(s, j, m->tied ? s->lowest[j] : top))) continue;
        s->overfull = m->span[m->span_start[j]].first;
        fits = false;
    }
    s->work += end - m->neighbour_start[item];
    return fits;
}

/* Places an item with the others of its group. */
static bool place_group(arn_exact_state *s, uint32_t item) {
    const arn_exact_model *m = s->model;
    const uint32_t g = m->group[item];
    bool fits = true;
    for (uint32_t k = m->group_start[g]; k < m->group_start[g + 1]; k++) {
        if (arn_poll_ended(m->poll)) return false;
        fits = place_item(s, m->group_item[k]) && fits;
    }
    return fits;
}

bool arn_exact_place(arn_exact_state *s, uint32_t item) {
    const arn_exact_model *m = s->model;
    if (m->tied) return find_floors(s, place_group(s, item), NULL);
    filled below = {.top = s->lowest[item] + m->size[item]};
    if (m->span_start[item] < m->span_start[item + 1]) below.span = m->span[m->span_start[item]];
    return find_floors(s, place_item(s, item), &below);
}

void arn_exact_undo(arn_exact_state *s, uint32_t n_trail) {
    while (s->n_trail > n_trail) {
        const arn_exact_change *change = &s->trail[--s->n_trail];
        const uint32_t k = change->index;
        switch (change->kind) {
            case LOWEST:
                s->digest[s->hull_first[k]] +=
                    digest_of(s, k, change->before) - digest_of(s, k, s->lowest[k]);
                s->lowest[k] = change->before;
                note_item(s, k);
                break;
            case FLOOR:
                if (s->floor[k] != ARN_EXACT_PLACED) {
                    s->wasted -= (uint64_t)(s->floor[k] - change->before);
                }
                s->floor[k] = change->before;
                watch(s, k, change->watch);
                note_cliques(s, k, k + 1);
                break;
            default:
                s->lowest[k] = change->before;
                s->digest[s->hull_first[k]] +=
                    digest_of(s, k, change->before) - digest_of_placed(s, k);
                count_out(s, k, -1);
                note_item(s, k);
                break;
        }
    }
}

/* ---- the empty packing ---- */

/* An item is raised once per placed neighbour at most, and by rejections; floors change less
 * often. A run that needs more room is abandoned. */
uint32_t arn_exact_trail_room(const arn_exact_model *m) {
    const uint32_t n = m->n, c = m->n_cliques;
    const uint32_t room = m->neighbour_start[n] + m->member_start[c] + 16 * (n + c) + 1024;
    /* An item of a group is raised for each of the group, and when one of them is. */
    return m->tied ? 2 * room + m->largest_group * (n + 1) : room;
}

static bool allocate_state(arn_exact_state *s, arn_region *region) {
    const size_t n = s->model->n, c = s->model->n_cliques;
    s->trail_room = arn_exact_trail_room(s->model);
    s->trail = arn_region_allocate(region, s->trail_room, sizeof *s->trail);
    return s->trail &&
           ARN_REGION_ARRAYS(
               region, ARN_ARRAY(s->lowest, n), ARN_ARRAY(s->offset, n), ARN_ARRAY(s->next, n),
               ARN_ARRAY(s->candidate, n), ARN_ARRAY(s->code, n), ARN_ARRAY(s->hull_first, n),
               ARN_ARRAY(s->hull_end, n), ARN_ARRAY(s->floor, c), ARN_ARRAY(s->load, c),
               ARN_ARRAY(s->marks, c), ARN_ARRAY(s->most_marks, c), ARN_ARRAY(s->watch, c),
               ARN_ARRAY(s->next_watched, c), ARN_ARRAY(s->watched_before, c),
               ARN_ARRAY(s->first_watched, n), ARN_ARRAY(s->crossing, c),
               ARN_ARRAY(s->digest, c + 1), ARN_ARRAY(s->changed, arn_exact_blocks(s->model)),
               ARN_ARRAY(s->dirty, c));
}

static void find_hull(arn_exact_state *s, uint32_t i) {
    const arn_exact_model *m = s->model;
    s->hull_first[i] = s->model->n_cliques; /* one that is covered all its life is in none */
    s->hull_end[i] = 0;
    for (uint32_t k = m->span_start[i]; k < m->span_start[i + 1]; k++) {
        if (m->span[k].first < s->hull_first[i]) s->hull_first[i] = m->span[k].first;
        if (m->span[k].end > s->hull_end[i]) s->hull_end[i] = m->span[k].end;
    }
    for (uint32_t c = s->hull_first[i]; c + 1 < s->hull_end[i]; c++) s->crossing[c]++;
}

arenaut_status arn_exact_state_init(arn_exact_state *s, const arn_exact_model *model,
                                    arn_region *region, arenaut_error *err) {
    const arn_exact_state empty = {.model = model, .n_unplaced = model->n};
    *s = empty;
    if (!allocate_state(s, region)) return arn_no_memory(err);
    for (uint32_t c = 0; c < model->n_cliques; c++) {
        s->load[c] = model->load[c];
        s->marks[c] = model->marks[c];
        s->watch[c] = s->next_watched[c] = s->watched_before[c] = ARENAUT_NONE;
    }
    for (uint32_t i = 0; i < model->n; i++) s->first_watched[i] = ARENAUT_NONE;
    for (uint32_t i = 0; i < model->n; i++) {
        /* Contradictory groups have no places, and no packing is looked for. */
        const int64_t bottom = model->tied ? model->delta[i] : 0;
        s->lowest[i] = model->clash ? 0 : arn_exact_snap_group(model, i, bottom);
        s->offset[i] = s->lowest[i];
        s->code[i] = scramble(((uint64_t)i + 1) * UINT64_C(0xd6e8feb86659fd93));
        find_hull(s, i);
        s->digest[s->hull_first[i]] += digest_of(s, i, s->lowest[i]);
    }
    arn_exact_set_capacity(s, model->upper_bound);
    for (uint32_t c = 0; c < model->n_cliques; c++) find_floor(s, c, s->floor[c]);
    s->n_trail = 0;
    s->wasted = 0;
    return ARENAUT_OK;
}

/* ---- reject a floor ---- */

/* The places of the members at a clique's floor if none of them lies there. Items by themselves
 * need one look at their neighbours, and the smallest size of the others that are rejected with
 * them; groups need more, since one may rest on the other by different items. */

/* ---- candidates ---- */

/* Lists the members of `clique` that are at its floor and marks them in `next`. */
static uint32_t list_candidates(arn_exact_state *s, uint32_t clique) {
    const arn_exact_model *m = s->model;
    uint32_t n = 0;
    for (uint32_t k = m->member_start[clique]; k < m->member_start[clique + 1]; k++) {
        const uint32_t i = m->member[k];
        if (s->lowest[i] != s->floor[clique]) continue;
        s->candidate[n++] = i;
        s->next[i] = ARN_EXACT_PLACED;
    }
    s->work += m->member_start[clique + 1] - m->member_start[clique];
    return n;
}

/* ---- items by themselves ---- */

/* The lowest place of item `i` if it rests on an unplaced neighbour that is no candidate;
 * ARN_EXACT_PLACED if there is none. Sets *blocked if some unplaced neighbour may block its place
 * at `floor`. */
static int64_t next_rest(arn_exact_state *s, uint32_t i, int64_t floor, bool *blocked) {
    const arn_exact_model *m = s->model;
    int64_t rest = ARN_EXACT_PLACED;
    *blocked = false;
    const uint32_t end = m->neighbour_start[i + 1];
    for (uint32_t k = m->neighbour_start[i]; k < end; k++) {
        const uint32_t j = m->neighbour[k];
        const int64_t lowest = s->lowest[j];
        if (lowest == ARN_EXACT_PLACED) continue;
        if (lowest < floor + m->size[i]) *blocked = true;
        if (s->next[j] == ARN_EXACT_PLACED) continue; /* a candidate */
        if (lowest + m->size[j] < rest) rest = lowest + m->size[j];
    }
    s->work += end - m->neighbour_start[i];
    return rest == ARN_EXACT_PLACED ? rest : arn_exact_snap(m, i, rest);
}

/* The two smallest sizes among the candidates. */
static void smallest_two(const arn_exact_state *s, uint32_t n, int64_t two[2]) {
    two[0] = two[1] = ARN_EXACT_PLACED;
    for (uint32_t k = 0; k < n; k++) {
        const int64_t size = s->model->size[s->candidate[k]];
        if (size < two[0]) {
            two[1] = two[0];
            two[0] = size;
        } else if (size < two[1]) {
            two[1] = size;
        }
    }
}

/* The lowest candidate rests on an item that is none, at `lowest` or higher; each other one rests
 * likewise, or on another candidate, of which the smallest ends soonest. */
static bool rest_on_candidates(arn_exact_state *s, uint32_t n, int64_t lowest) {
    const arn_exact_model *m = s->model;
    int64_t two[2];
    smallest_two(s, n, two);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = s->candidate[k];
        const int64_t other = two[m->size[i] == two[0]];
        int64_t next = s->next[i];
        if (other != ARN_EXACT_PLACED && lowest + other < next) {
            next = arn_exact_snap(m, i, lowest + other);
            if (next > s->next[i]) next = s->next[i];
        }
        s->next[i] = next;
        if (next > s->capacity - m->size[i]) return false;
    }
    return true;
}

/* Writes the next place of each of the n candidates into `next`. False if one of them has no place,
 * or nothing blocks its place at the floor. */
static bool find_rests(arn_exact_state *s, uint32_t n, int64_t floor) {
    int64_t lowest = ARN_EXACT_PLACED;
    bool blocked;
    /* `next` marks the candidates until every rest is known; `offset` is free to hold those. */
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = s->candidate[k];
        s->offset[i] = next_rest(s, i, floor, &blocked);
        if (s->offset[i] < lowest) lowest = s->offset[i];
        if (!blocked) return false;
    }
    for (uint32_t k = 0; k < n; k++) s->next[s->candidate[k]] = s->offset[s->candidate[k]];
    return lowest != ARN_EXACT_PLACED && rest_on_candidates(s, n, lowest);
}

/* ---- groups ---- */

/* The supports on which a candidate may rest with its group. Places are those of the candidate,
 * although another item of its group may be the one that rests. The rule is that of
 * arenaut/certificate.h. */
typedef struct rest {
    int64_t outside; /* the lowest end of a neighbour that is no candidate, or PLACED */
    int64_t any;     /* of any neighbour */
    int64_t rise;    /* how much higher it lies at least if it rests on another candidate */
    bool above;      /* resting on another candidate means lying higher than that */
    bool blocked;    /* something may block its place at the floor */
} rest;

/* Whether an item, or one of its group, is a candidate. */
static bool is_candidate(const arn_exact_state *s, uint32_t item) {
    const arn_exact_model *m = s->model;
    for (uint32_t k = m->group_start[m->group[item]]; k < m->group_start[m->group[item] + 1]; k++) {
        if (s->next[m->group_item[k]] == ARN_EXACT_PLACED) return true;
    }
    return false;
}

/* Takes into account that item `i`, which lies `up` above its group's candidate, may rest on
 * `j`. */
static void rest_on(const arn_exact_state *s, uint32_t i, int64_t up, uint32_t j, rest *r) {
    const arn_exact_model *m = s->model;
    const int64_t end = s->lowest[j] + m->size[j] - up;
    /* How far apart the starts of the two groups are then. */
    const int64_t rise = m->delta[j] + m->size[j] - m->delta[i];
    if (s->lowest[j] < s->lowest[i] + m->size[i]) r->blocked = true;
    if (end < r->any) r->any = end;
    if (!is_candidate(s, j)) {
        if (end < r->outside) r->outside = end;
    } else if (rise > 0) {
        if (rise < r->rise) r->rise = rise;
    } else {
        r->above = false;
    }
}

static rest find_group_rest(arn_exact_state *s, uint32_t candidate) {
    const arn_exact_model *m = s->model;
    const uint32_t g = m->group[candidate];
    rest r = {ARN_EXACT_PLACED, ARN_EXACT_PLACED, ARN_EXACT_PLACED, true, false};
    for (uint32_t a = m->group_start[g]; a < m->group_start[g + 1]; a++) {
        const uint32_t i = m->group_item[a], end = m->neighbour_start[i + 1];
        for (uint32_t k = m->neighbour_start[i]; k < end; k++) {
            const uint32_t j = m->neighbour[k];
            if (s->lowest[j] == ARN_EXACT_PLACED) continue;
            rest_on(s, i, m->delta[i] - m->delta[candidate], j, &r);
        }
        const uint64_t in_group = m->group_start[g + 1] - m->group_start[g];
        if (!arn_poll_after(m->poll, (end - m->neighbour_start[i]) * in_group)) break;
        s->work += 2 * (end - m->neighbour_start[i]);
    }
    return r;
}

/* The lowest place from `at` on, but above its present lowest, for a candidate's group. */
static int64_t settle_above(arn_exact_state *s, uint32_t candidate, int64_t at) {
    const int64_t above = s->lowest[candidate] + 1;
    return settle(s, candidate, at < above ? above : at);
}

/* Writes into `offset` the place of each candidate that rests on an item that is none, and into
 * *lowest the start of the lowest of their groups then. Sets *above if resting on another candidate
 * means lying higher, for all of them. False if nothing blocks one of them. */
static bool rest_outside(arn_exact_state *s, uint32_t n, int64_t *lowest, bool *above) {
    const arn_exact_model *m = s->model;
    *lowest = ARN_EXACT_PLACED;
    *above = true;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = s->candidate[k];
        const rest r = find_group_rest(s, i);
        if (!r.blocked || arn_poll_ended(m->poll)) return false;
        *above = *above && r.above;
        s->offset[i] = r.outside;
        if (r.outside == ARN_EXACT_PLACED) continue;
        s->offset[i] = settle_above(s, i, r.outside);
        if (s->offset[i] - m->delta[i] < *lowest) *lowest = s->offset[i] - m->delta[i];
    }
    return true;
}

/* Lowers the next place of candidate `i` if it may rest on another candidate; the groups of all of
 * these start at `lowest` or higher. */
static void rest_inside(arn_exact_state *s, uint32_t i, const rest *r, int64_t lowest) {
    if (r->rise == ARN_EXACT_PLACED) return; /* it may not */
    const int64_t at = lowest + r->rise + s->model->delta[i];
    if (at >= s->offset[i]) return;
    const int64_t next = settle_above(s, i, at);
    if (next < s->offset[i]) s->offset[i] = next;
}

/* As find_rests; candidates are compared by the starts of their groups. */
static bool find_group_rests(arn_exact_state *s, uint32_t n) {
    const arn_exact_model *m = s->model;
    int64_t lowest;
    bool above;
    if (!rest_outside(s, n, &lowest, &above)) return false;
    if (above && lowest == ARN_EXACT_PLACED) return false;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = s->candidate[k];
        const rest r = find_group_rest(s, i);
        if (arn_poll_ended(m->poll)) return false;
        if (above) rest_inside(s, i, &r, lowest);
        else s->offset[i] = settle_above(s, i, r.any);
        if (s->offset[i] > s->capacity - m->size[i]) return false;
    }
    for (uint32_t k = 0; k < n; k++) s->next[s->candidate[k]] = s->offset[s->candidate[k]];
    return true;
}

/* ---- the move ---- */

bool arn_exact_reject(arn_exact_state *s, uint32_t clique) {
    const int64_t floor = s->floor[clique];
    const uint32_t n = list_candidates(s, clique);
    bool fits = s->model->tied ? find_group_rests(s, n) : find_rests(s, n, floor);
    if (!fits) s->overfull = clique;
    for (uint32_t k = 0; k < n && fits; k++) {
        fits = raise_group(s, s->candidate[k], s->next[s->candidate[k]]);
        if (!fits) s->overfull = clique;
    }
    for (uint32_t k = 0; k < n; k++) s->next[s->candidate[k]] = 0;
    return find_floors(s, fits, NULL);
}
