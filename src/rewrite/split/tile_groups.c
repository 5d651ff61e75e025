/* The tile groups that a caller asks for (arn_split): each checked, then the whole program in a
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

bool arn_tile_groups_put(arn_draft *draft, const arenaut_split_stage *groups, uint32_t n_groups,
                         uint32_t *bad) {
    uint32_t op = 0;
    for (uint32_t s = 0; s < n_groups; s++) {
        while (op < groups[s].first_op) arn_draft_copy(draft, op++);
        *bad = s;
        if (arn_tile_by_channels(groups[s].mode)) arn_channel_tiles_put(draft, &groups[s]);
        else if (!arn_row_tiles_put(draft, &groups[s])) return false;
        op += groups[s].n_ops;
    }
    while (op < draft->graph->program->n_ops) arn_draft_copy(draft, op++);
    return !draft->failed;
}

static const char *refuse(const arn_tile_graph *graph, const arenaut_split_stage *group,
                          uint32_t from) {
    if (group->first_op < from) return "it begins within the group before it";
    if (group->pieces < 2) return "a group has at least 2 tiles";
    if ((unsigned)group->mode >= ARENAUT_SPLIT_MODE_COUNT) return "there is no such mode";
    return arn_tile_by_channels(group->mode) ? arn_channel_tiles_refuse(graph, group)
                                             : arn_row_tiles_refuse(graph, group);
}

static arenaut_status refused(const arenaut_split_stage *group, const char *why,
                              arenaut_error *err) {
    return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                    "ops %" PRIu32 " to %" PRIu32 " cannot be split so: %s", group->first_op,
                    group->first_op + group->n_ops - 1, why);
}

static bool are_ops(const arenaut_program *program, const arenaut_split_stage *group) {
    const uint32_t n = program->n_ops;
    return group->n_ops > 0 && group->first_op < n && group->n_ops <= n - group->first_op;
}

static arenaut_status refused_ops(const arenaut_program *program, const arenaut_split_stage *group,
                                  arenaut_error *err) {
    char why[64];
    snprintf(why, sizeof why, "the program has %" PRIu32 " ops, numbered from 0", program->n_ops);
    return refused(group, why, err);
}

static arenaut_status split(const arn_tile_graph *graph, const arenaut_split_stage *groups,
                            uint32_t n_groups, arenaut_rewrite **out, arenaut_error *err) {
    uint32_t from = 0, bad = 0;
    for (uint32_t s = 0; s < n_groups; s++) {
        if (!are_ops(graph->program, &groups[s])) {
            return refused_ops(graph->program, &groups[s], err);
        }
        const char *why = refuse(graph, &groups[s], from);
        if (why) return refused(&groups[s], why, err);
        from = groups[s].first_op + groups[s].n_ops;
    }
    arn_draft draft = arn_draft_begin(graph);
    arenaut_status st = ARENAUT_OK;
    if (arn_tile_groups_put(&draft, groups, n_groups, &bad)) {
        arn_draft_share_constants(&draft);
        st = arn_draft_finish(&draft, groups, n_groups, out, err);
    } else if (draft.failed) {
        st = arn_no_memory(err);
    } else {
        st = refused(&groups[bad], draft.refused, err);
    }
    arn_draft_free(&draft);
    return st;
}

arenaut_status arn_split(const arenaut_program *program, const arenaut_split_stage *groups,
                         uint32_t n_groups, const arenaut_allocator *allocator,
                         arenaut_rewrite **out, arenaut_error *err) {
    arn_tile_graph graph;
    arenaut_status st = arn_tile_graph_make(program, allocator, &graph, err);
    if (st != ARENAUT_OK) return st;
    st = split(&graph, groups, n_groups, out, err);
    arn_tile_graph_free(&graph);
    return st;
}
