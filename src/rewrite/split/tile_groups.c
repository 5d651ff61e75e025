/* The tile groups that a caller asks for (arenaut_split): each checked, then the whole program in a
 * draft, and the program of that. O(ops of the new program × tiles). */
#include "rewrite/split/tile_groups.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/fail.h"

const char *arenaut_split_mode_name(arenaut_split_mode mode) {
    static const char *const names[] = {
#define XX(name, text) text,
        ARENAUT_SPLIT_MODE_MAP(XX)
#undef XX
    };
    return (unsigned)mode < ARENAUT_SPLIT_MODE_COUNT ? names[mode] : NULL;
}

bool arn_split_put_program(arn_draft *draft, const arenaut_split_stage *stages, uint32_t n_stages,
                           uint32_t *bad) {
    uint32_t op = 0;
    for (uint32_t s = 0; s < n_stages; s++) {
        while (op < stages[s].first_op) arn_draft_copy(draft, op++);
        *bad = s;
        if (arn_split_by_channels(stages[s].mode)) arn_split_put_channels(draft, &stages[s]);
        else if (!arn_split_put_rows(draft, &stages[s])) return false;
        op += stages[s].n_ops;
    }
    while (op < draft->graph->program->n_ops) arn_draft_copy(draft, op++);
    return !draft->failed;
}

static const char *refuse(const arn_split_graph *graph, const arenaut_split_stage *stage,
                          uint32_t from) {
    if (stage->first_op < from) return "it begins before the one before it ends";
    if (stage->pieces < 2) return "a stage is split into 2 pieces at least";
    if ((unsigned)stage->mode >= ARENAUT_SPLIT_MODE_COUNT) return "there is no such mode";
    return arn_split_by_channels(stage->mode) ? arn_split_channels_refuse(graph, stage)
                                              : arn_split_rows_refuse(graph, stage);
}

static arenaut_status refused(const arenaut_split_stage *stage, const char *why,
                              arenaut_error *err) {
    return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                    "ops %" PRIu32 " to %" PRIu32 " cannot be split so: %s", stage->first_op,
                    stage->first_op + stage->n_ops - 1, why);
}

static bool are_ops(const arenaut_program *program, const arenaut_split_stage *stage) {
    const uint32_t n = program->n_ops;
    return stage->n_ops > 0 && stage->first_op < n && stage->n_ops <= n - stage->first_op;
}

static arenaut_status refused_ops(const arenaut_program *program, const arenaut_split_stage *stage,
                                  arenaut_error *err) {
    char why[64];
    snprintf(why, sizeof why, "the program has %" PRIu32 " ops, numbered from 0", program->n_ops);
    return refused(stage, why, err);
}

static arenaut_status split(const arn_split_graph *graph, const arenaut_split_stage *stages,
                            uint32_t n_stages, arenaut_rewrite **out, arenaut_error *err) {
    uint32_t from = 0, bad = 0;
    for (uint32_t s = 0; s < n_stages; s++) {
        if (!are_ops(graph->program, &stages[s])) {
            return refused_ops(graph->program, &stages[s], err);
        }
        const char *why = refuse(graph, &stages[s], from);
        if (why) return refused(&stages[s], why, err);
        from = stages[s].first_op + stages[s].n_ops;
    }
    arn_draft draft = arn_draft_begin(graph);
    arenaut_status st = ARENAUT_OK;
    if (arn_split_put_program(&draft, stages, n_stages, &bad)) {
        arn_draft_share_constants(&draft);
        st = arn_draft_finish(&draft, stages, n_stages, out, err);
    } else if (draft.failed) {
        st = arn_no_memory(err);
    } else {
        st = refused(&stages[bad], draft.refused, err);
    }
    arn_draft_free(&draft);
    return st;
}

arenaut_status arenaut_split(const arenaut_program *program, const arenaut_split_stage *stages,
                             uint32_t n_stages, const arenaut_allocator *allocator,
                             arenaut_rewrite **out, arenaut_error *err) {
    arn_split_graph graph;
    arenaut_status st = arn_split_graph_make(program, allocator, &graph, err);
    if (st != ARENAUT_OK) return st;
    st = split(&graph, stages, n_stages, out, err);
    arn_split_graph_free(&graph);
    return st;
}
