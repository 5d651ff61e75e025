/* Copies of a problem with other pools or changed buffers: for overrides, given offsets, and bounds
 * without a buffer. Each part is added anew, so that a copy has passed the rules that every problem
 * has. O(n log n). */
#include <arenaut/problem.h>

/* The inverse of arenaut_problem_add_buffer. */
static arenaut_buffer buffer_of(const arenaut_problem *p, uint32_t b) {
    arenaut_buffer buffer = {0};
    buffer.size = p->size[b];
    buffer.align = arenaut_problem_align(p, b);
    buffer.lifetimes = arenaut_problem_lifetimes(p, b);
    buffer.n_lifetimes = arenaut_problem_lifetime_count(p, b);
    buffer.cls = arenaut_problem_class(p, b);
    buffer.uses = arenaut_problem_uses(p, b);
    buffer.pools = p->pools ? p->pools[b] : 0;
    buffer.fixed_offset = arenaut_at(arenaut_problem_fixed_offset(p, b));
    buffer.hint = arenaut_at(arenaut_problem_hint(p, b));
    buffer.same_base = arenaut_id(arenaut_problem_same_base(p, b));
    buffer.inside = arenaut_id(arenaut_problem_inside(p, b));
    buffer.inside_delta = p->inside_delta ? p->inside_delta[b] : 0;
    if (p->method) buffer.method = arenaut_id(p->method[b]);
    buffer.name = p->name ? p->name[b] : NULL;
    buffer.op = p->op ? p->op[b] : NULL;
    buffer.source = p->source ? p->source[b] : NULL;
    buffer.release = arenaut_problem_release(p, b);
    return buffer;
}

static arenaut_status copy_parts(const arenaut_problem *from, const arenaut_pool *pools,
                                 uint32_t n_pools, arenaut_buffer_edit edit, void *context,
                                 arenaut_problem *to, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n_pools && st == ARENAUT_OK; i++) {
        st = arenaut_problem_add_pool(to, &pools[i], NULL, err);
    }
    for (uint32_t i = 0; i < from->n_methods && st == ARENAUT_OK; i++) {
        st = arenaut_problem_add_method(to, from->method_name[i], NULL, err);
    }
    for (uint32_t b = 0; b < from->n_buffers && st == ARENAUT_OK; b++) {
        arenaut_buffer buffer = buffer_of(from, b);
        if (edit) edit(context, b, &buffer);
        st = arenaut_problem_add_buffer(to, &buffer, NULL, err);
    }
    for (uint32_t i = 0; i < from->n_conflicts && st == ARENAUT_OK; i++) {
        st = arenaut_problem_add_conflict(to, from->conflict[i].a, from->conflict[i].b, err);
    }
    for (uint32_t i = 0; i < from->n_separations && st == ARENAUT_OK; i++) {
        st = arenaut_problem_add_separation(to, &from->separation[i], err);
    }
    for (uint32_t i = 0; i < from->n_reserved && st == ARENAUT_OK; i++) {
        st = arenaut_problem_add_reserved(to, &from->reserved[i], err);
    }
    to->traits = from->traits;
    return st == ARENAUT_OK ? arenaut_problem_finish(to, err) : st;
}

arenaut_status arenaut_problem_copy(const arenaut_problem *from, const arenaut_pool *pools,
                                    uint32_t n_pools, arenaut_buffer_edit edit, void *context,
                                    const arenaut_allocator *allocator, arenaut_problem **out,
                                    arenaut_error *err) {
    arenaut_problem *copy = NULL;
    arenaut_status st = arenaut_problem_new(allocator, &copy, err);
    if (st != ARENAUT_OK) return st;
    st = copy_parts(from, pools ? pools : from->pool, pools ? n_pools : from->n_pools, edit,
                    context, copy, err);
    if (st == ARENAUT_OK) *out = copy;
    else arenaut_problem_free(copy);
    return st;
}
