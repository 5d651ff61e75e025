/* Summary of the schedules of a program: peak of live bytes in the given order and in the best
 * schedule, the lower bound that is proven, and whether the ops were put in that schedule. */
#include "describe_order.h"

#include <inttypes.h>

/* Whether some op stands before one that preceded it; a rematerialized op follows its first run.
 * */
static bool is_reordered(const arenaut_pipeline *p) {
    const arenaut_rewrite *r = p->rewrite;
    uint32_t next = 0;
    for (uint32_t i = 0; r && r->n_stages == 0 && i < r->n_ops; i++) {
        if (r->ops[i] > next) return true;
        next += r->ops[i] == next;
    }
    return false;
}

bool no_order_helps(const arenaut_pipeline *p, const arenaut_ordering *o) {
    const arenaut_plan *plan = p->plan;
    return plan && plan->quality != ARENAUT_INFEASIBLE && plan->spill == 0 &&
           plan->total + o->at_ends <= o->bound;
}

const char *words_of_no_order(const arenaut_pipeline *p, const arenaut_ordering *o) {
    static const char *const words[2][2][2] = {
        {{"no other order has a lower peak of live bytes", "no other order helps"},
         {"no other order between its jumps has a lower peak of live bytes",
          "no other order between its jumps helps"}},
        {{"no other order of the ops that may move has a lower peak of live bytes",
          "no other order of the ops that may move helps"},
         {"no other order between its jumps of the ops that may move has a lower peak of live "
          "bytes",
          "no other order between its jumps of the ops that may move helps"}}};
    return words[o->n_held > 0][o->between_jumps][no_order_helps(p, o)];
}

/* Of all choices of joins in programs of several methods there is none. */
static void put_bound(const arenaut_ordering *o, const char *between, arenaut_text *out) {
    text_put(out, between);
    if (o->bound > 0) text_printf(out, "at least %s in any", with_commas(o->bound).text);
    else text_put(out, "no bound of all choices is known");
}

/* The restriction on the schedules for which the figures hold, and its reason. */
static void put_held(const arenaut_ordering *o, arenaut_text *out) {
    if (o->n_held == 0) return;
    text_printf(out,
                "; of orders that keep %" PRIu32
                " op%s in file order, as it is not known whether "
                "%s only comput%s (\"pure\")",
                o->n_held, o->n_held > 1 ? "s" : "", o->n_held > 1 ? "they" : "it",
                o->n_held > 1 ? "e" : "es");
}

static void describe_figures(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_ordering *o = &p->ordering;
    if (o->best == o->given && o->bound == o->given) {
        text_printf(out, "%s (proven)", words_of_no_order(p, o));
        return;
    }
    if (o->best == o->given) {
        text_printf(out, "no order with a peak below %s live bytes was found",
                    with_commas(o->given).text);
        put_bound(o, "; ", out);
        return;
    }
    text_printf(out, "peak of %s live bytes instead of %s", with_commas(o->best).text,
                with_commas(o->given).text);
    if (o->bound == o->best) {
        text_printf(out, ", which is proven to be the least%s",
                    o->between_jumps ? " of orders between its jumps" : "");
    } else {
        put_bound(o, ", ", out);
    }
    if (!is_reordered(p)) text_put(out, "; the ops stay in their order");
}

void describe_order(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    const arenaut_ordering *o = &p->ordering;
    if (!o->known) return;
    text_put(out, head);
    describe_figures(p, out);
    put_held(o, out);
    if (o->n_joins > 0) {
        text_printf(out, "; %" PRIu32 " of %" PRIu32 " joins in place", o->n_in_place, o->n_joins);
    }
    if (o->n_copied > 0) {
        text_printf(out, "; %" PRIu32 " of %" PRIu32 " views are copies", o->n_copied, o->n_views);
    }
    text_put(out, "\n");
}

static void put_figures(const arenaut_ordering *o, arenaut_text *out) {
    text_put(out, "\"given\": ");
    text_put_json_u64(out, o->given);
    text_put(out, ", \"best\": ");
    text_put_json_u64(out, o->best);
    text_put(out, ", \"bound\": ");
    text_put_json_u64(out, o->bound);
    text_printf(out, ", \"proven\": %s", o->bound == o->best ? "true" : "false");
    if (o->between_jumps) text_put(out, ", \"between_jumps\": true");
    if (o->n_held > 0) text_printf(out, ", \"held\": %" PRIu32, o->n_held);
}

void put_json_figures_of_order(const arenaut_ordering *o, arenaut_text *out) {
    text_put(out, ", \"order\": {");
    put_figures(o, out);
    text_put(out, "}");
}

void put_order_json(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_ordering *o = &p->ordering;
    if (!o->known) return;
    text_put(out, ",\n  \"order\": {");
    put_figures(o, out);
    text_put(out, ", \"ways\": {");
    for (int h = 0; h < ARENAUT_ORDER_HEURISTIC_COUNT; h++) {
        text_printf(out, "%s\"%s\": ", h ? ", " : "",
                    arenaut_order_heuristic_name((arenaut_order_heuristic)h));
        text_put_json_u64(out, o->heuristics[h]);
    }
    text_put(out, "}");
    if (o->n_joins > 0) {
        text_printf(out, ", \"joins\": {\"in_place\": %" PRIu32 ", \"of\": %" PRIu32 "}",
                    o->n_in_place, o->n_joins);
    }
    if (o->n_views > 0) {
        text_printf(out, ", \"views\": {\"copied\": %" PRIu32 ", \"of\": %" PRIu32 "}", o->n_copied,
                    o->n_views);
    }
    text_put(out, ", \"ops\": ");
    for (uint32_t i = 0; is_reordered(p) && i < p->rewrite->n_ops; i++) {
        text_printf(out, "%s%" PRIu32, i ? ", " : "[", p->rewrite->ops[i]);
    }
    text_put(out, is_reordered(p) ? "]}" : "null}");
}
