/* The constraints of a problem that its plan does not show, in columns: of buffers which pools they
 * may go to, whether they are pinned, and the like; of pools capacity and alignment; of pairs the
 * distances; conflicts and reserved ranges. A number that may be missing is stored plus one, and 0
 * if it is missing; distances, which may be negative, are 0, -1, 1, -2 and so on. */
#include "report/page/page_problem.h"

#include <inttypes.h>

#include "report/page/page_columns.h"

static uint64_t may_at(const void *c, uint32_t b) {
    return arenaut_problem_pools((const arenaut_problem *)c, b);
}
static uint64_t fixed_at(const void *c, uint32_t b) {
    return arenaut_problem_fixed_offset((const arenaut_problem *)c, b) + 1;
}
static uint64_t hint_at(const void *c, uint32_t b) {
    return arenaut_problem_hint((const arenaut_problem *)c, b) + 1;
}
static uint64_t delta_at(const void *c, uint32_t b) {
    const arenaut_problem *p = c;
    return p->inside_delta ? p->inside_delta[b] : 0;
}
static uint64_t uses_at(const void *c, uint32_t b) {
    return arenaut_problem_uses((const arenaut_problem *)c, b);
}
static uint64_t release_at(const void *c, uint32_t b) {
    return arenaut_problem_release((const arenaut_problem *)c, b);
}
static uint64_t capacity_at(const void *c, uint32_t k) {
    return ((const arenaut_problem *)c)->pool[k].capacity;
}
static uint64_t pool_align_at(const void *c, uint32_t k) {
    return ((const arenaut_problem *)c)->pool[k].align;
}
static uint64_t distance_at(const void *c, uint32_t i) {
    const int64_t d = ((const arenaut_problem *)c)->separation[i].distance;
    return (uint64_t)d << 1 ^ (d < 0 ? UINT64_MAX : 0);
}
static uint64_t conflict_a_at(const void *c, uint32_t i) {
    return ((const arenaut_problem *)c)->conflict[i].a;
}
static uint64_t conflict_b_at(const void *c, uint32_t i) {
    return ((const arenaut_problem *)c)->conflict[i].b;
}
static uint64_t reserved_pool_at(const void *c, uint32_t i) {
    return ((const arenaut_problem *)c)->reserved[i].pool;
}
static uint64_t reserved_first_at(const void *c, uint32_t i) {
    return ((const arenaut_problem *)c)->reserved[i].first;
}
static uint64_t reserved_end_at(const void *c, uint32_t i) {
    return ((const arenaut_problem *)c)->reserved[i].end;
}

void arn_page_put_problem(arn_writer *out, const arenaut_problem *problem) {
    const struct {
        const char *name;
        uint32_t n;
        arn_column_value value;
    } columns[] = {
        {"may", problem->n_buffers, may_at},
        {"fixed", problem->n_buffers, fixed_at},
        {"hint", problem->n_buffers, hint_at},
        {"delta", problem->n_buffers, delta_at},
        {"uses", problem->n_buffers, uses_at},
        {"release", problem->n_buffers, release_at},
        {"capacity", problem->n_pools, capacity_at},
        {"poolAlign", problem->n_pools, pool_align_at},
        {"distance", problem->n_separations, distance_at},
        {"conflictA", problem->n_conflicts, conflict_a_at},
        {"conflictB", problem->n_conflicts, conflict_b_at},
        {"reservedPool", problem->n_reserved, reserved_pool_at},
        {"reservedFirst", problem->n_reserved, reserved_first_at},
        {"reservedEnd", problem->n_reserved, reserved_end_at},
    };
    arn_putf(out, "{\"traits\":%" PRIu32, problem->traits);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        arn_puts(out, ",\n");
        arn_put_column(out, columns[i].name, columns[i].n, columns[i].value, problem);
    }
    arn_puts(out, "}");
}
