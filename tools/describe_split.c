/* Summary of tiling, in words and in JSON: the tile groups, the ops and multiplications that they
 * add, and the operators that the firmware must register besides. */
#include "describe_split.h"

#include <inttypes.h>
#include <string.h>

#include "text_table.h"

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
    return choice->head + p->ways.kept + (uint64_t)choice->kept;
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
    if (budget > 0 && needed(p, &front->choices[taken]) <= budget) {
        text_printf(out, "adds the least of those that fit in %s bytes\n",
                    with_commas(budget).text);
    } else {
        text_printf(out, "reserves the least memory%s\n",
                    budget > 0 ? "; none fits the budget" : "");
    }
}

void describe_split(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    const arenaut_rewrite *rewrite = p->rewrite;
    const char *names[N_MOVERS];
    if (!rewrite || rewrite->n_stages == 0) return;
    text_put(out, head);
    put_stages(rewrite->stages, rewrite->n_stages, out);
    text_printf(out, ": %" PRIu32 " ops were %" PRIu32 ", %s multiplications\n", rewrite->n_ops,
                rewrite->n_ops_before, change_percent(rewrite->macs_before, rewrite->macs).text);
    put_taken(p, (int)strlen(head), out);
    const size_t n = list_new(rewrite, names);
    if (n == 0) return;
    text_printf(out, "%*sthe op resolver needs ", (int)strlen(head), "");
    for (size_t i = 0; i < n; i++) text_printf(out, "%s%s", i ? ", " : "", names[i]);
    text_put(out, " as well\n");
}

static void put_choice(const arenaut_pipeline *p, uint32_t index, text_table *table) {
    const arenaut_split_choice *choice = &p->ways.front->choices[index];
    const uint64_t macs = p->rewrite->macs_before;
    arenaut_text stages = {0};
    put_stages(choice->stages, choice->n_stages, &stages);
    table_cellf(table, "  %2" PRIu32 " %s%s", index, choice->n_stages ? stages.bytes : "as it is",
                index == p->ways.taken ? " (taken)" : "");
    table_cell(table, with_commas(needed(p, choice)).text);
    table_cellf(table, "+%" PRIu32, choice->ops);
    table_cell(table, change_percent(macs, macs + choice->macs).text);
    arenaut_text_free(&stages);
}

void describe_splits(const arenaut_pipeline *p, arenaut_text *out) {
    enum { LESS = 50 }; /* by that part at least */
    const arenaut_split_front *front = p->ways.front;
    uint64_t last = UINT64_MAX;
    text_table table;
    if (!front || !p->rewrite) return;
    table_begin(&table, "lrrr");
    table_cell(&table, "splits");
    table_cell(&table, "needs at least");
    table_cell(&table, "ops");
    table_cell(&table, "multiplications");
    for (uint32_t i = 0; i < front->n_choices; i++) {
        const uint64_t bytes = needed(p, &front->choices[i]);
        const bool told = i + 1 == front->n_choices || i == p->ways.taken;
        if (!told && bytes > last - last / LESS) continue;
        put_choice(p, i, &table);
        last = bytes;
    }
    text_put(out, "\n");
    table_end(&table, out, "", "");
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
        text_put(out, "}");
    }
    text_put(out, "]");
}

void put_split_json(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_rewrite *rewrite = p->rewrite;
    const char *names[N_MOVERS];
    if (!rewrite || rewrite->n_stages == 0) return;
    text_put(out, ",\n  \"split\": {");
    put_json_stages(rewrite->stages, rewrite->n_stages, out);
    text_printf(out,
                ", \"ops\": %" PRIu32 ", \"ops_before\": %" PRIu32 ", \"macs\": ", rewrite->n_ops,
                rewrite->n_ops_before);
    text_put_json_u64(out, rewrite->macs);
    text_put(out, ", \"macs_before\": ");
    text_put_json_u64(out, rewrite->macs_before);
    text_put(out, ", \"new_operators\": [");
    const size_t n = list_new(rewrite, names);
    for (size_t i = 0; i < n; i++) text_printf(out, "%s\"%s\"", i ? ", " : "", names[i]);
    text_put(out, "]");
    put_json_choices(p, out);
    text_put(out, "}");
}
