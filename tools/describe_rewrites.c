/* Summaries of the transforms of a program, in words and in JSON: rematerialization, schedules and
 * tiles. */
#include "describe.h"

#include <inttypes.h>
#include <string.h>

#include "tool.h"

/* ---- rematerialization ---- */

/* The lower peak of live bytes, the tensors that are computed twice, and the added work. */

/* Whether a tensor is a copy of one that ops of the file make. */
static bool is_copy(const arenaut_rewrite *r, uint32_t t) {
    return !r->tensors[t].same && r->tensors[t].tensor != ARENAUT_NONE;
}

static const char *name_of(const arenaut_pipeline *p, uint32_t tensor, char store[24]) {
    return arenaut_program_tensor_name(p->document.program, tensor, store);
}

static bool is_first_copy(const arenaut_rewrite *r, uint32_t t) {
    bool first = is_copy(r, t);
    for (uint32_t k = 0; k < t && first; k++) {
        first = r->tensors[k].same || r->tensors[k].tensor != r->tensors[t].tensor;
    }
    return first;
}

/* The largest that was not told yet; NONE: all were. */
static uint32_t next_largest(const arenaut_pipeline *p, uint32_t last) {
    const arenaut_rewrite *r = p->rewrite;
    const arenaut_tensor *tensors = p->document.program->tensors;
    uint32_t best = ARENAUT_NONE;
    for (uint32_t t = 0; t < r->n_tensors; t++) {
        if (!is_copy(r, t)) continue;
        const bool told =
            last != ARENAUT_NONE && (tensors[t].bytes > tensors[last].bytes ||
                                     (tensors[t].bytes == tensors[last].bytes && t <= last));
        const bool larger = best == ARENAUT_NONE || tensors[t].bytes > tensors[best].bytes;
        if (!told && larger && is_first_copy(r, t)) best = t;
    }
    return best;
}

static void put_largest(const arenaut_pipeline *p, int indent, arenaut_text *out) {
    enum { MOST = 4 };
    char store[24];
    uint32_t t = next_largest(p, ARENAUT_NONE);
    text_printf(out, "%*srecomputed:", indent, "");
    for (int i = 0; i < MOST && t != ARENAUT_NONE; i++) {
        text_put(out, i ? ", " : " ");
        text_put_clean(out, name_of(p, p->rewrite->tensors[t].tensor, store));
        text_printf(out, " (%s)", with_commas(p->document.program->tensors[t].bytes).text);
        t = next_largest(p, t);
    }
    text_put(out, t == ARENAUT_NONE ? "\n" : ", ...\n");
}

/* "6.52 %" of the step. */
static void put_percent(uint64_t part, uint64_t whole, arenaut_text *out) {
    text_printf(out, "%.2f %%", whole ? 100 * (double)part / (double)whole : 0);
}

static double milliseconds(uint64_t nanoseconds) { return (double)nanoseconds / 1e6; }

/* The proof is about the ops that may be rematerialized: all pure ops, or cheap ones. */
static void put_time(const arenaut_pipeline *p, int indent, arenaut_text *out) {
    const arenaut_recomputed *r = &p->recomputed;
    const bool has_budget = p->options.recomputing.options.budget > 0;
    text_printf(out, "%*stime: %.3f ms more (+", indent, "", milliseconds(r->added));
    put_percent(r->added, r->base, out);
    if (!r->certificate) {
        text_put(out, "), nothing is proven\n");
        return;
    }
    text_put(out, "); ");
    if (has_budget) text_put(out, "no rematerialization that fits");
    else {
        const uint64_t proven = r->certificate->budget;
        text_printf(out, "of cheap ops, no rematerialization to at most %s live bytes",
                    with_commas(proven < r->after ? proven : r->after).text);
    }
    text_printf(out, " adds less than %.3f ms (", milliseconds(r->bound));
    put_percent(r->bound, r->base, out);
    text_put(out, ", proven), gap ");
    put_percent(r->added > r->bound ? r->added - r->bound : 0, r->base, out);
    text_printf(out, "; %s\n",
                p->options.recomputing.options.costs ? "times as given" : "modelled");
    if (r->device) {
        text_printf(out, "%*s      for %s%s\n", indent, "", r->device,
                    p->options.recomputing.options.costs ? " where they are not" : "");
    }
}

/* Another order alone may do as well as what was found, and is taken then. */
const char *words_of_no_recompute(const arenaut_recomputed *r, const arenaut_ordering *o) {
    if (o->known && r->after < r->before && o->best <= r->after) {
        return r->floor >= o->best
                   ? "no rematerialization of cheap ops lowers the peak of the best order (proven)"
                   : "no copies of cheap ops were found that lower the peak of the best order";
    }
    return r->after < r->before
               ? "the peak of live bytes would be lower, but no smaller arena was found"
           : r->floor >= r->before ? "no rematerialization of cheap ops lowers the peak (proven)"
                                   : "no copies of cheap ops were found that lower the peak";
}

static void put_nothing(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_recomputed *r = &p->recomputed;
    const uint64_t budget = p->options.recomputing.options.budget;
    if (p->rewrite && !p->options.reordering.on) {
        text_printf(out, "no op is rematerialized: where some run later, %s bytes are live",
                    with_commas(r->after).text);
        text_printf(out, " instead of %s\n", with_commas(r->before).text);
    } else if (budget > 0 && r->fits) {
        text_put(out, "no op is rematerialized: the budget is kept without\n");
    } else if (budget > 0 && !r->certificate) {
        text_put(out,
                 "none was found that fits; nothing is proven: other schedules may have other "
                 "aliases\n");
    } else if (budget > 0) {
        text_printf(
            out,
            r->floor > budget
                ? "nothing fits: any rematerialization needs %s bytes (proven)\n"
                : "none was found that fits; any rematerialization needs %s bytes (proven)\n",
            with_commas(r->floor).text);
    } else {
        text_printf(out, "%s\n", words_of_no_recompute(r, &p->ordering));
    }
}

void describe_recompute(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    const arenaut_recomputed *r = &p->recomputed;
    if (!r->known) return;
    text_put(out, head);
    if (r->n_ops == 0) {
        put_nothing(p, out);
        return;
    }
    text_printf(out, "%" PRIu32 " op%s rematerialized: peak of %s live bytes instead of %s",
                r->n_ops, r->n_ops == 1 ? " is" : "s are", with_commas(r->after).text,
                with_commas(r->before).text);
    text_printf(out, "; ops write %s more (%s)\n", with_commas(r->bytes).text,
                change_percent(r->bytes_before, r->bytes_before + r->bytes).text);
    put_time(p, (int)strlen(head), out);
    put_largest(p, (int)strlen(head), out);
}

static void put_figures(const arenaut_recomputed *r, arenaut_text *out) {
    text_put(out, "\"before\": ");
    text_put_json_u64(out, r->before);
    text_put(out, ", \"after\": ");
    text_put_json_u64(out, r->after);
    text_printf(out, ", \"added_ops\": %" PRIu32 ", \"added_bytes\": ", r->n_ops);
    text_put_json_u64(out, r->bytes);
    const uint64_t more[] = {r->bytes_before, r->base, r->added, r->bound, r->floor};
    static const char *const names[] = {"bytes_before", "nanoseconds", "added_nanoseconds",
                                        "bound_nanoseconds", "floor"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        text_printf(out, ", \"%s\": ", names[i]);
        text_put_json_u64(out, more[i]);
    }
}

void put_json_figures_of_recompute(const arenaut_recomputed *recomputed, arenaut_text *out) {
    text_put(out, ", \"recompute\": {");
    put_figures(recomputed, out);
    text_put(out, "}");
}

void put_recompute_json(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_rewrite *r = p->rewrite;
    bool begun = false;
    if (!p->recomputed.known) return;
    text_put(out, ",\n  \"recompute\": {");
    put_figures(&p->recomputed, out);
    text_printf(out, ", \"impossible\": %s, \"tensors\": [",
                p->recomputed.floor > p->recomputed.kept ? "true" : "false");
    for (uint32_t t = 0; p->recomputed.n_ops > 0 && t < r->n_tensors; t++) {
        char store[24];
        if (!is_copy(r, t)) continue;
        text_put(out, begun ? ", " : "");
        text_put_json(out, name_of(p, r->tensors[t].tensor, store));
        begun = true;
    }
    text_put(out, "]}");
}

/* ---- schedules ---- */

/* Peak of live bytes in the given order and in the best
 * schedule, the lower bound that is proven, and whether the ops were put in that schedule. */

/* Whether some op stands before one that was made before it; one after another, they are numbered
 * in the sequence in which they were made. */
static bool are_tiles_reordered(const arenaut_rewrite *r) {
    const arenaut_op *ops = r->program->ops;
    for (uint32_t i = 1; i < r->n_ops; i++) {
        if (ops[i].method == ops[i - 1].method && ops[i].file_index.id < ops[i - 1].file_index.id) {
            return true;
        }
    }
    return false;
}

/* Whether some op of the file stands before one that preceded it; a rematerialized op follows its
 * first run. */
static bool are_ops_reordered(const arenaut_rewrite *r) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < r->n_ops; i++) {
        if (r->ops[i] > next) return true;
        next += r->ops[i] == next;
    }
    return false;
}

static bool is_reordered(const arenaut_pipeline *p) {
    if (!p->rewrite) return false;
    return arenaut_rewrite_is_tiled(p->rewrite) ? are_tiles_reordered(p->rewrite)
                                                : are_ops_reordered(p->rewrite);
}

/* Whether no plan in any order is smaller or uses slower pools less, as far as is proven. */
static bool no_order_helps(const arenaut_pipeline *p, const arenaut_ordering *o) {
    const arenaut_plan *plan = p->plan;
    return plan && plan->quality != ARENAUT_INFEASIBLE && plan->spill == 0 && !is_reordered(p) &&
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
    /* Another order might have let other ops be tiled or rematerialized. */
    const bool rewritten = p->options.splitting.on || p->options.recomputing.on;
    const char *of = rewritten ? " for the ops that there are now" : "";
    if (o->best == o->given && o->bound == o->given) {
        text_printf(out, "%s (proven%s)", words_of_no_order(p, o), of);
    } else if (o->best == o->given) {
        text_printf(out, "no order with a peak below %s live bytes was found",
                    with_commas(o->given).text);
        put_bound(o, "; ", out);
    }
    if (o->best == o->given) return;
    text_printf(out, "peak of %s live bytes instead of %s", with_commas(o->best).text,
                with_commas(o->given).text);
    if (o->bound == o->best) {
        text_printf(out, ", which is proven to be the least%s%s",
                    o->between_jumps ? " of orders between its jumps" : "", of);
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
    /* Orders with the same peak have plans that differ. */
    if (o->best == o->given && is_reordered(p)) {
        text_put(out, "; ops were moved all the same, as the plan is better then");
    }
    if (o->n_joins > 0) {
        text_printf(out, "; %" PRIu32 " of %" PRIu32 " joins in place", o->n_in_place, o->n_joins);
    }
    if (o->n_copied > 0) {
        text_printf(out, "; %" PRIu32 " of %" PRIu32 " views are copies", o->n_copied, o->n_views);
    }
    text_put(out, "\n");
}

static void put_order_figures(const arenaut_ordering *o, arenaut_text *out) {
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
    put_order_figures(o, out);
    text_put(out, "}");
}

void put_order_json(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_ordering *o = &p->ordering;
    if (!o->known) return;
    text_put(out, ",\n  \"order\": {");
    put_order_figures(o, out);
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
    const bool has_numbers = is_reordered(p) && !arenaut_rewrite_is_tiled(p->rewrite);
    text_put(out, ", \"ops\": ");
    for (uint32_t i = 0; has_numbers && i < p->rewrite->n_ops; i++) {
        text_printf(out, "%s%" PRIu32, i ? ", " : "[", p->rewrite->ops[i]);
    }
    text_put(out, has_numbers ? "]}" : "null}");
}

/* ---- tiles ---- */

/* The tile groups, the ops and multiplications that they
 * add, and the operators that the firmware must register besides. */

static bool has_op(const arenaut_rewrite *rewrite, const char *name, bool moves) {
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        if ((rewrite->ops[i] == ARENAUT_NONE) != moves) continue;
        if (strcmp(rewrite->program->ops[i].name, name) == 0) return true;
    }
    return false;
}

enum { N_MOVERS = 4 };

/* Operators that the model did not have. */
static size_t list_new(const arenaut_rewrite *rewrite, const char *names[N_MOVERS]) {
    static const char *const all[N_MOVERS] = {"CONCATENATION", "IF", "PAD", "SLICE"};
    size_t n = 0;
    for (size_t i = 0; i < N_MOVERS; i++) {
        if (has_op(rewrite, all[i], true) && !has_op(rewrite, all[i], false)) names[n++] = all[i];
    }
    return n;
}

static void put_stages(const arenaut_split_stage *stages, uint32_t n, arenaut_text *out) {
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_split_stage *stage = &stages[i];
        text_printf(out, "%s%" PRIu32 "-%" PRIu32 "/%" PRIu32 ":%s", i ? "," : "", stage->first_op,
                    stage->first_op + stage->n_ops - 1, stage->pieces,
                    arenaut_split_mode_name(stage->mode));
    }
}

static uint64_t needed(const arenaut_pipeline *p, const arenaut_split_choice *choice) {
    return choice->head + p->ways.kept + (uint64_t)choice->kept - choice->shared;
}

/* Position of the choice among those found, and the reason for it. */
static void put_taken(const arenaut_pipeline *p, int indent, arenaut_text *out) {
    const arenaut_split_front *front = p->ways.front;
    const uint32_t taken = p->ways.taken;
    const uint64_t budget = p->options.splitting.budget;
    if (!front || (front->n_choices == 2 && taken == 1 && budget == 0)) return; /* the only one */
    if (taken == ARENAUT_NONE) {
        text_printf(out, "%*sa split beside the %" PRIu32 " that were found: its plan needs less\n",
                    indent, "", front->n_choices - 1);
        return;
    }
    text_printf(out, "%*ssplit %" PRIu32 " of %" PRIu32 ": ", indent, "", taken,
                front->n_choices - 1);
    if (p->ways.fitted) {
        text_printf(out, "adds the least of those that fit in %s bytes%s\n",
                    with_commas(budget).text,
                    p->options.splitting.head ? ", each memory in its own" : "");
    } else {
        text_printf(out, "reserves the least memory%s\n",
                    p->options.reordering.on ? " in the order in which tiles are made" : "");
    }
}

void describe_rounded(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    const uint32_t n = arenaut_result_rounded(&p->result);
    if (n == 0) return;
    text_printf(out, "%snot the same bits: tiles of %" PRIu32 " %s may be rounded otherwise\n",
                head, n, n == 1 ? "op" : "ops");
}

void describe_split(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    const arenaut_rewrite *rewrite = p->rewrite;
    const char *names[N_MOVERS];
    if (!arenaut_rewrite_is_tiled(rewrite)) return;
    text_put(out, head);
    put_stages(rewrite->stages, rewrite->n_stages, out);
    text_printf(out, ": %" PRIu32 " ops were %" PRIu32 ", %s multiplications\n", rewrite->n_ops,
                rewrite->n_ops_before, change_percent(rewrite->macs_before, rewrite->macs).text);
    put_taken(p, (int)strlen(head), out);
    if (rewrite->n_rounded > 0) text_pad(out, strlen(head));
    describe_rounded(p, "", out);
    const size_t n = list_new(rewrite, names);
    if (n == 0) return;
    text_printf(out, "%*sthe op resolver needs ", (int)strlen(head), "");
    for (size_t i = 0; i < n; i++) text_printf(out, "%s%s", i ? ", " : "", names[i]);
    text_put(out, " as well\n");
}

static void put_choice(const arenaut_pipeline *p, uint32_t index, bool rounds, text_table *table) {
    const arenaut_split_choice *choice = &p->ways.front->choices[index];
    const uint64_t macs = p->rewrite->macs_before;
    arenaut_text stages = {0};
    put_stages(choice->stages, choice->n_stages, &stages);
    table_cellf(table, "  %2" PRIu32 " %s%s", index, choice->n_stages ? stages.bytes : "as it is",
                index == p->ways.taken ? " (taken)" : "");
    table_cell(table, with_commas(needed(p, choice)).text);
    table_cellf(table, "+%" PRIu32, choice->ops);
    table_cell(table, change_percent(macs, macs + choice->macs).text);
    if (rounds) table_cellf(table, "%" PRIu32, choice->n_rounded);
    arenaut_text_free(&stages);
}

/* Whether tiles of a choice may be rounded otherwise than the whole. */
static bool any_rounds(const arenaut_split_front *front) {
    for (uint32_t i = 0; i < front->n_choices; i++) {
        if (front->choices[i].n_rounded > 0) return true;
    }
    return false;
}

void describe_splits(const arenaut_pipeline *p, arenaut_text *out) {
    enum { LESS = 50 }; /* by that part at least */
    const arenaut_split_front *front = p->ways.front;
    uint64_t last = UINT64_MAX;
    text_table table;
    if (!front || !p->rewrite) return;
    const bool rounds = any_rounds(front);
    table_begin(&table, rounds ? "lrrrr" : "lrrr");
    table_cell(&table, "splits");
    table_cell(&table, "needs at least");
    table_cell(&table, "ops");
    table_cell(&table, "multiplications");
    if (rounds) table_cell(&table, "rounded ops");
    for (uint32_t i = 0; i < front->n_choices; i++) {
        const uint64_t bytes = needed(p, &front->choices[i]);
        const bool told = i + 1 == front->n_choices || i == p->ways.taken;
        if (!told && bytes > last - last / LESS) continue;
        put_choice(p, i, rounds, &table);
        last = bytes;
    }
    text_put(out, "\n");
    table_end(&table, out, "", "");
    if (rounds) {
        text_put(out,
                 "  rounded ops: of which tiles may be rounded otherwise, not the same bits\n");
    }
}

static void put_json_stages(const arenaut_split_stage *stages, uint32_t n, arenaut_text *out) {
    text_put(out, "\"stages\": [");
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_split_stage *stage = &stages[i];
        text_printf(out,
                    "%s{\"first_op\": %" PRIu32 ", \"last_op\": %" PRIu32 ", \"pieces\": %" PRIu32
                    ", \"mode\": \"%s\"}",
                    i ? ", " : "", stage->first_op, stage->first_op + stage->n_ops - 1,
                    stage->pieces, arenaut_split_mode_name(stage->mode));
    }
    text_put(out, "]");
}

static void put_json_choices(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_split_front *front = p->ways.front;
    if (!front) return;
    if (p->ways.taken != ARENAUT_NONE) text_printf(out, ", \"taken\": %" PRIu32, p->ways.taken);
    text_put(out, ", \"ways\": [");
    for (uint32_t i = 0; i < front->n_choices; i++) {
        const arenaut_split_choice *choice = &front->choices[i];
        text_put(out, i ? ",\n    {" : "\n    {");
        put_json_stages(choice->stages, choice->n_stages, out);
        text_put(out, ", \"needs_at_least\": ");
        text_put_json_u64(out, needed(p, choice));
        text_printf(out, ", \"added_ops\": %" PRIu32 ", \"added_macs\": ", choice->ops);
        text_put_json_u64(out, choice->macs);
        text_printf(out, ", \"rounded_ops\": %" PRIu32 "}", choice->n_rounded);
    }
    text_put(out, "]");
}

void put_split_json(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_rewrite *rewrite = p->rewrite;
    const char *names[N_MOVERS];
    if (!arenaut_rewrite_is_tiled(rewrite)) return;
    text_put(out, ",\n  \"split\": {");
    put_json_stages(rewrite->stages, rewrite->n_stages, out);
    text_printf(out,
                ", \"ops\": %" PRIu32 ", \"ops_before\": %" PRIu32 ", \"macs\": ", rewrite->n_ops,
                rewrite->n_ops_before);
    text_put_json_u64(out, rewrite->macs);
    text_put(out, ", \"macs_before\": ");
    text_put_json_u64(out, rewrite->macs_before);
    text_printf(out, ", \"rounded_ops\": %" PRIu32, rewrite->n_rounded);
    text_put(out, ", \"new_operators\": [");
    const size_t n = list_new(rewrite, names);
    for (size_t i = 0; i < n; i++) text_printf(out, "%s\"%s\"", i ? ", " : "", names[i]);
    text_put(out, "]");
    put_json_choices(p, out);
    text_put(out, "}");
}
