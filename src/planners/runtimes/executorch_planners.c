/* executorch-naive and executorch-greedy: replicas of the planners of ExecuTorch's exporter
 * (exir/memory_planning.py).
 *
 * ExecuTorch plans the bodies of conditionals and loops first, each from offset 0, and then keeps
 * as many bytes free below the values of the method that they belong to. This *reserve* is either
 * a range of the problem that begins at 0, or the setting "reserve", which is for pool 0: the pool
 * of a method's intermediates. Lifetimes are from first use to last, without gaps.
 *
 * naive, without reuse: buffers lie end to end in the order of their numbers. O(n).
 *
 * greedy, the default: buffers go from large to small, equal ones from the last number to the
 * first, into *objects*: stretches of the arena as large as the first buffer put into them, which
 * never grow. Each buffer goes
 *   1. to the start of the first object that has no buffer alive with it, else
 *   2. behind the buffers alive with it in the first object that has room there (never into a
 *      hole below one of them), else
 *   3. into an object of its own.
 * In the end the objects lie end to end in the order in which they were made. O(n²) at worst, as
 * the original. */
#include <string.h>

#include <arenaut/planner.h>

#include "core/checked.h"
#include "core/fail.h"
#include "planners/placing/buffer_groups.h"
#include "planners/placing/trial.h"
#include "planners/run/meter.h"
#include "planners/run/planner_rows.h"

#define SETTING "reserve=BYTES"

/* ---- shared by both ---- */

/* Plain decimal digits: settings are written by programs, not by people. */
static bool parse_bytes(const char *text, uint64_t *bytes) {
    if (*text == '\0') return false;
    for (*bytes = 0; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        if (!arn_multiply(*bytes, 10, bytes)) return false;
        if (!arn_add(*bytes, (uint64_t)(*text - '0'), bytes)) return false;
    }
    return true;
}

/* BAD_ARGUMENT for another setting, or a value that is no number of bytes. */
static arenaut_status read_reserve(const arenaut_planning *planning, const arenaut_planner *self,
                                   uint64_t *reserve) {
    const char *value = arn_setting(planning, "reserve", "0");
    const arenaut_status st = arn_settings_check(planning, self, "reserve");
    if (st != ARENAUT_OK) return st;
    if (parse_bytes(value, reserve)) return ARENAUT_OK;
    return arn_setting_bad(planning, self, "reserve", value);
}

/* ExecuTorch gives a value one pool before it plans; of several allowed, the fastest. */
static uint32_t pool_of(const arn_group *group) { return arn_lowest_bit(group->pools); }

/* The lowest place of the first group without a fixed offset in each pool: above the reserve, the
 * ranges that the problem reserves and the groups that are fixed. */
static void find_floors(const arn_groups *groups, uint64_t reserve,
                        uint64_t floor[ARENAUT_MAX_POOLS]) {
    const arenaut_problem *p = groups->problem;
    memset(floor, 0, ARENAUT_MAX_POOLS * sizeof *floor);
    floor[0] = reserve;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        uint64_t *at = &floor[p->reserved[i].pool];
        *at = arn_max_u64(*at, p->reserved[i].end);
    }
    for (uint32_t i = 0; i < groups->n; i++) {
        const arn_group *group = &groups->group[i];
        if (group->fixed == ARENAUT_UNPLACED) continue;
        uint64_t *at = &floor[pool_of(group)];
        *at = arn_max_u64(*at, group->fixed + group->extent);
    }
}

/* Writes the place of a group as places of its buffers. */
static void keep_group(const arn_groups *groups, const arn_group *group, uint64_t offset,
                       arenaut_plan *plan) {
    for (uint32_t m = 0; m < group->n_members; m++) {
        const uint32_t b = groups->member[group->member + m];
        plan->pool[b] = pool_of(group);
        plan->offset[b] = offset + arn_groups_delta(groups, b);
    }
}

/* The sum of the arenas of pools that are used up to `end`; ARENAUT_UNPLACED if a pool is too small
 * or the sum overflows. */
static uint64_t sum_arenas(const arenaut_problem *p, const uint64_t *end) {
    uint64_t total = 0;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        uint64_t arena;
        if (!arn_align_up(end[k], p->pool[k].align ? p->pool[k].align : 1, &arena) ||
            end[k] > p->pool[k].capacity || !arn_add(total, arena, &total)) {
            return ARENAUT_UNPLACED;
        }
    }
    return total;
}

/* ---- executorch-naive ---- */

/* Writes all places and returns the sum of the arenas; ARENAUT_UNPLACED if a pool is too
 * small or the sum overflows. */
static uint64_t lay_end_to_end(const arn_groups *groups, uint64_t *end, arenaut_plan *plan) {
    for (uint32_t i = 0; i < groups->n; i++) {
        const arn_group *group = &groups->group[i];
        uint64_t at = group->fixed;
        if (at == ARENAUT_UNPLACED) {
            uint64_t *top = &end[pool_of(group)];
            if (!arn_align_up(*top, group->align, &at)) return ARENAUT_UNPLACED;
            if (!arn_add(at, group->extent, top)) return ARENAUT_UNPLACED;
        }
        keep_group(groups, group, at, plan);
    }
    return sum_arenas(groups->problem, end);
}

static arenaut_status executorch_naive_run(const arenaut_planner *self,
                                           arenaut_planning *planning) {
    arn_groups groups;
    uint64_t reserve = 0, floor[ARENAUT_MAX_POOLS];
    arn_meter meter = arn_meter_start(planning, self->name);
    arenaut_status st = read_reserve(planning, self, &reserve);
    if (st == ARENAUT_OK) {
        st = arn_groups_make(planning->problem, ARN_COLLAPSE, planning->allocator, &groups,
                             planning->err);
    }
    if (st != ARENAUT_OK) return st;
    find_floors(&groups, reserve, floor);
    const uint64_t total = lay_end_to_end(&groups, floor, planning->plan);
    arn_meter_spend(&meter, groups.n);
    if (total != ARENAUT_UNPLACED) arn_meter_improved(&meter, arn_plan_cost(0, total));
    arn_groups_free(&groups);
    return arn_meter_finish(&meter);
}

extern const arenaut_planner arn_planner_executorch_naive;
const arenaut_planner arn_planner_executorch_naive = {
    .name = "executorch-naive",
    .summary = "ExecuTorch's own without reuse: end to end above the reserve",
    .settings = SETTING,
    .handles = ARENAUT_FEATURE_ALL,
    .run = executorch_naive_run,
};

/* ---- executorch-greedy ---- */

typedef struct object {
    uint64_t size, align, offset;
    uint32_t pool;
    uint32_t last;      /* the group put in last; they are chained by `previous` */
    int64_t first, end; /* the hull of its groups' lifetimes, to pass over it quickly */
} object;

typedef struct shelf {
    const arn_groups *groups;
    object *object; /* room for one per group */
    uint32_t n_objects;
    uint32_t *in;       /* per group: its object */
    uint32_t *previous; /* per group: the group put into that object before it */
    uint64_t *at;       /* per group: bytes from its object's start */
    uint32_t
        *apart_from; /* per group: the last group that an edge was found to keep it apart from */
    uint64_t looked; /* groups and objects looked at, for the meter */
} shelf;

enum { LOOKS_PER_STEP = 256 };

static bool shelf_init(shelf *s, arn_workspace *space) {
    const uint32_t n = space->groups.n;
    s->groups = &space->groups;
    s->n_objects = 0;
    s->looked = 0;
    if (!ARN_REGION_ARRAYS(&space->groups.region, ARN_ARRAY(s->object, n), ARN_ARRAY(s->in, n),
                           ARN_ARRAY(s->previous, n), ARN_ARRAY(s->at, n),
                           ARN_ARRAY(s->apart_from, n))) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) s->apart_from[i] = ARENAUT_NONE;
    return true;
}

/* Marks the groups that an edge of the problem keeps apart from `group` although their lifetimes do
 * not. */
static void mark_edges(shelf *s, uint32_t group) {
    const arn_groups *groups = s->groups;
    for (uint32_t m = 0; m < groups->group[group].n_members && groups->edge_start; m++) {
        const uint32_t b = groups->member[groups->group[group].member + m];
        for (uint32_t r = groups->edge_start[b]; r < groups->edge_start[b + 1]; r++) {
            const uint32_t other = groups->owner[groups->edge[r]];
            if (other != ARENAUT_NONE) s->apart_from[other] = group;
        }
    }
}

/* Whether `other` must be kept apart from `group`, with the edges of `group` marked. */
static bool meet(const shelf *s, uint32_t other, uint32_t group) {
    const arn_group *x = &s->groups->group[other], *y = &s->groups->group[group];
    return (x->first < y->end && y->first < x->end) || s->apart_from[other] == group;
}

/* The end of the groups in the object that are alive with `group`; 0 if there are none. */
static uint64_t end_of_neighbours(shelf *s, const object *o, uint32_t group) {
    const arn_group *new = &s->groups->group[group];
    uint64_t end = 0;
    s->looked++;
    if (!new->related && (new->first >= o->end || new->end <= o->first)) return 0;
    for (uint32_t i = o->last; i != ARENAUT_NONE; i = s->previous[i]) {
        s->looked++;
        if (meet(s, i, group)) end = arn_max_u64(end, s->at[i] + s->groups->group[i].extent);
    }
    return end;
}

static void put(shelf *s, uint32_t group, uint32_t into, uint64_t at) {
    object *o = &s->object[into];
    const arn_group *new = &s->groups->group[group];
    s->in[group] = into;
    s->at[group] = at;
    s->previous[group] = o->last;
    o->last = group;
    o->align = arn_max_u64(o->align, new->align);
    if (new->first < o->first) o->first = new->first;
    if (new->end > o->end) o->end = new->end;
}

/* Both rules in one walk: a free object further on wins over room behind neighbours. */
static void place(shelf *s, uint32_t group) {
    const arn_group *new = &s->groups->group[group];
    const uint32_t pool = pool_of(new);
    uint32_t roomy = ARENAUT_NONE;
    uint64_t behind = 0;
    mark_edges(s, group);
    for (uint32_t k = 0; k < s->n_objects; k++) {
        const object *o = &s->object[k];
        if (o->pool != pool) continue;
        const uint64_t end = arn_aligned(end_of_neighbours(s, o, group), new->align);
        if (end == 0) {
            put(s, group, k, 0);
            return;
        }
        if (roomy == ARENAUT_NONE && end + new->extent <= o->size) {
            roomy = k;
            behind = end;
        }
    }
    if (roomy == ARENAUT_NONE) {
        roomy = s->n_objects++;
        const object fresh = {new->extent, 1, 0, pool, ARENAUT_NONE, INT64_MAX, INT64_MIN};
        s->object[roomy] = fresh;
    }
    put(s, group, roomy, behind);
}

/* Lays the objects end to end. The sum of the arenas, or ARENAUT_UNPLACED if a pool is too
 * small or the sum overflows. */
static uint64_t lay_objects(shelf *s, uint64_t *end) {
    for (uint32_t k = 0; k < s->n_objects; k++) {
        object *o = &s->object[k];
        if (!arn_align_up(end[o->pool], o->align, &o->offset) ||
            !arn_add(o->offset, o->size, &end[o->pool])) {
            return ARENAUT_UNPLACED;
        }
    }
    return sum_arenas(s->groups->problem, end);
}

static void keep(const shelf *s, arenaut_plan *plan) {
    for (uint32_t i = 0; i < s->groups->n; i++) {
        const arn_group *group = &s->groups->group[i];
        const bool fixed = group->fixed != ARENAUT_UNPLACED;
        const uint64_t at = fixed ? group->fixed : s->object[s->in[i]].offset + s->at[i];
        keep_group(s->groups, group, at, plan);
    }
}

/* The caller's effort is no limit here: half a plan is none. Time and interrupts are. */
static bool was_stopped(const arn_meter *meter) {
    return meter->stopped && meter->why != ARENAUT_STOP_EFFORT;
}

static arenaut_status fill(arn_workspace *space, uint64_t reserve, arn_meter *meter) {
    shelf s;
    uint64_t floor[ARENAUT_MAX_POOLS], counted = 0;
    if (!shelf_init(&s, space)) return arn_no_memory(meter->planning->err);
    arn_orders_sort(&space->orders, "Z-", space->order);
    for (uint32_t i = 0; i < space->groups.n && !was_stopped(meter); i++) {
        const uint32_t group = space->order[i];
        if (space->groups.group[group].fixed != ARENAUT_UNPLACED) continue;
        place(&s, group);
        arn_meter_spend(meter, 1 + (s.looked - counted) / LOOKS_PER_STEP);
        counted = s.looked;
    }
    if (was_stopped(meter)) return ARENAUT_OK;
    find_floors(&space->groups, reserve, floor);
    const uint64_t total = lay_objects(&s, floor);
    if (total == ARENAUT_UNPLACED) return ARENAUT_OK;
    keep(&s, meter->planning->plan);
    arn_meter_improved(meter, arn_plan_cost(0, total));
    return ARENAUT_OK;
}

static arenaut_status executorch_greedy_run(const arenaut_planner *self,
                                            arenaut_planning *planning) {
    arn_workspace space;
    uint64_t reserve = 0;
    arn_meter meter = arn_meter_start(planning, self->name);
    arenaut_status st = read_reserve(planning, self, &reserve);
    if (st == ARENAUT_OK) st = arn_workspace_open(&space, planning, ARN_COLLAPSE | ARN_HULL);
    if (st != ARENAUT_OK) return st;
    st = fill(&space, reserve, &meter);
    arn_workspace_close(&space);
    return st == ARENAUT_OK ? arn_meter_finish(&meter) : st;
}

extern const arenaut_planner arn_planner_executorch_greedy;
const arenaut_planner arn_planner_executorch_greedy = {
    .name = "executorch-greedy",
    .summary = "ExecuTorch's own: by size into objects that never grow",
    .settings = SETTING,
    .handles = ARENAUT_FEATURE_ALL,
    .run = executorch_greedy_run,
};
