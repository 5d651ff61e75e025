/* What splitting made of a program, in words and in JSON: the stages, the ops and multiplications
 * that they cost, and what the firmware must be able to run now. */
#include "describe_split.h"

#include <inttypes.h>
#include <string.h>

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

static void put_stage(const arenaut_split_stage *stage, arenaut_text *out) {
    text_printf(out, "%" PRIu32 "-%" PRIu32 "/%" PRIu32 ":%s", stage->first_op,
                stage->first_op + stage->n_ops - 1, stage->pieces,
                arenaut_split_mode_name(stage->mode));
}

void describe_split(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    const arenaut_rewrite *rewrite = p->rewrite;
    const char *names[N_MOVERS];
    if (!rewrite || rewrite->n_stages == 0) return;
    text_put(out, head);
    for (uint32_t i = 0; i < rewrite->n_stages; i++) {
        text_put(out, i ? "," : "");
        put_stage(&rewrite->stages[i], out);
    }
    text_printf(out, ": %" PRIu32 " ops were %" PRIu32 ", %s multiplications\n", rewrite->n_ops,
                rewrite->n_ops_before, change_percent(rewrite->macs_before, rewrite->macs).text);
    const size_t n = list_new(rewrite, names);
    if (n == 0) return;
    text_printf(out, "%*sthe op resolver needs ", (int)strlen(head), "");
    for (size_t i = 0; i < n; i++) text_printf(out, "%s%s", i ? ", " : "", names[i]);
    text_put(out, " as well\n");
}

void put_split_json(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_rewrite *rewrite = p->rewrite;
    const char *names[N_MOVERS];
    if (!rewrite || rewrite->n_stages == 0) return;
    text_put(out, ",\n  \"split\": {\"stages\": [");
    for (uint32_t i = 0; i < rewrite->n_stages; i++) {
        const arenaut_split_stage *stage = &rewrite->stages[i];
        text_printf(out,
                    "%s{\"first_op\": %" PRIu32 ", \"last_op\": %" PRIu32 ", \"pieces\": %" PRIu32
                    ", \"mode\": \"%s\"}",
                    i ? ", " : "", stage->first_op, stage->first_op + stage->n_ops - 1,
                    stage->pieces, arenaut_split_mode_name(stage->mode));
    }
    text_printf(out,
                "], \"ops\": %" PRIu32 ", \"ops_before\": %" PRIu32 ", \"macs\": ", rewrite->n_ops,
                rewrite->n_ops_before);
    text_put_json_u64(out, rewrite->macs);
    text_put(out, ", \"macs_before\": ");
    text_put_json_u64(out, rewrite->macs_before);
    text_put(out, ", \"new_operators\": [");
    const size_t n = list_new(rewrite, names);
    for (size_t i = 0; i < n; i++) text_printf(out, "%s\"%s\"", i ? ", " : "", names[i]);
    text_put(out, "]}");
}
