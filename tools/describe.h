/* Descriptions of a planned input, as text and as JSON: the plan itself, its schedules, tiles and
 * rematerialization, its trace. */
#ifndef TOOL_DESCRIBE_H
#define TOOL_DESCRIBE_H

#include "job.h"
#include "tool.h"
#include "whole_arena.h"

/* "op 4 DEPTHWISE_CONV_2D", or "step 12" for a bare problem. */
void describe_step(const arenaut_pipeline *p, int64_t step, arenaut_text *out);

uint64_t largest_buffer(const arenaut_problem *problem);
uint32_t planned_buffers(const arenaut_problem *problem); /* that need memory */

/* "optimal", "feasible, at most 1.3 % above the minimum", … */
void describe_quality(const arenaut_pipeline *p, arenaut_text *out);

/* Whether the plan relies on rights of the kernels: results over operands, or into them. */
static inline bool stands_on_kernels(const arenaut_pipeline *p) {
    return arenaut_result_kernels_name(&p->result) != NULL;
}
/* " with the kernels 'reference'", where it is known which the runtime has. */
void describe_kernel_set(const arenaut_pipeline *p, arenaut_text *out);

/* Whether the runtime refuses the model, and why: an op of it that its kernels do not take. */
bool is_refused(const arenaut_pipeline *p);
void describe_refused(const arenaut_pipeline *p, const char *head, arenaut_text *out);
/* Says, behind `head`, which kernels the plan is for, where that matters or was asked for. */
void describe_kernels(const arenaut_pipeline *p, const char *head, arenaut_text *out);

/* Says, behind `head`, which op's results may lie outside of the arena; nothing if none may. */
void describe_outside(const arenaut_pipeline *p, const char *head, arenaut_text *out);

/* Which constant is compressed, and how many more; nothing if none is. */
void describe_compressed(const arenaut_pipeline *p, const char *head, arenaut_text *out);

/* A line for each pool, and one for spilled bytes if pools are chosen; nothing for a single pool.
 * `width`: of the words in front. */
void put_pools(const arenaut_pipeline *p, size_t width, arenaut_text *out);

/* Says why no plan exists, from the witness. */
void describe_witness(const arenaut_pipeline *p, arenaut_text *out);

/* The same as a complaint; returns EXIT_NEGATIVE. */
exit_code complain_infeasible(const arenaut_pipeline *p);

/* Over --budget, or is that not known? Complains and returns EXIT_NEGATIVE if so. */
exit_code check_budget(const char *about, const tool_options *options, const reservation *need);

/* The plan as JSON, one document, with the facts that the text states beside the plan: the
 * runtime's own needs, the error of the plan in the file, whether the budget is kept. */
exit_code put_json(const tool_job *job, arenaut_text *out);
/* The same with `needed` bytes held against the budget, and `more` members, each with a comma in
 * front; NULL: none. */
exit_code put_json_with(const tool_job *job, const reservation *needed, const char *more,
                        arenaut_text *out);

/* Several files: with --json an array, with --jsonl a line each. Called around each
 * document, in order. */
void begin_json_item(const tool_options *options, size_t index, arenaut_text *out);
void end_json_items(const tool_options *options, size_t n, arenaut_text *out);

/* ---- schedules ---- */

/* Summary of the schedules of a program, as text and as JSON; nothing if it was not asked for. */

/* If the given order is proven to be the best: among which schedules, and by which measure. */
const char *words_of_no_order(const arenaut_pipeline *p, const arenaut_ordering *ordering);

/* A line behind `head`. */
void describe_order(const arenaut_pipeline *p, const char *head, arenaut_text *out);

/* The member "order", with a comma in front. */
void put_order_json(const arenaut_pipeline *p, arenaut_text *out);

/* The member "order" of something smaller: the figures alone. */
void put_json_figures_of_order(const arenaut_ordering *ordering, arenaut_text *out);

/* ---- tiles ---- */

/* Summary of tiling, as text and as JSON; nothing if nothing was tiled. */

/* Lines with the tile groups and their cost, behind `head`. */
void describe_split(const arenaut_pipeline *p, const char *head, arenaut_text *out);
/* Says, behind `head`, of how many ops tiles may be rounded otherwise; nothing if none may. */
void describe_rounded(const arenaut_pipeline *p, const char *head, arenaut_text *out);

/* A table of the candidate tilings: the least memory that each needs, and its cost. Rows that need
 * hardly less than the one above are left out. */
void describe_splits(const arenaut_pipeline *p, arenaut_text *out);

/* The member "split", with a comma in front. */
void put_split_json(const arenaut_pipeline *p, arenaut_text *out);

/* ---- rematerialization ---- */

/* Summary of rematerialization, as text and as JSON; nothing if it was not asked for. */

/* A line behind `head`, and one for the largest tensors that are computed again. */
void describe_recompute(const arenaut_pipeline *p, const char *head, arenaut_text *out);

/* Why nothing is rematerialized, where no budget asks for it. `o`: of the same program. */
const char *words_of_no_recompute(const arenaut_recomputed *r, const arenaut_ordering *o);

/* The member "recompute", with a comma in front. */
void put_recompute_json(const arenaut_pipeline *p, arenaut_text *out);

/* The member "recompute" of something smaller: the figures alone. */
void put_json_figures_of_recompute(const arenaut_recomputed *recomputed, arenaut_text *out);

/* ---- peak against time ---- */

/* The curve of peak against time: how fast a training step can be within some budgets. */

/* With --recompute on: six budgets; else, and for what has no such curve, *curve is NULL. The
 * caller frees it. */
exit_code find_curve(const tool_job *job, arenaut_recompute_curve **curve);

/* A table, and the tensors that set the floor; nothing for NULL. */
void put_curve(const tool_job *job, const arenaut_recompute_curve *curve, arenaut_text *out);

/* The member "curve", with a comma in front; likewise. */
void put_json_curve(const arenaut_recompute_curve *curve, arenaut_text *out);

/* ---- traces ---- */

/* Facts of a trace beside its problem: requested and reserved bytes, and the bytes that another
 * allocator would have reserved. Nothing for other files. */

exit_code describe_trace(const tool_job *job, arenaut_text *out);
/* `,\n  "trace": {…}` */
exit_code put_trace_json(const tool_job *job, arenaut_text *out);

/* The memories that a file states: for some formats each method has a list of arenas, with their
 * sizes. The memory that such a file makes its runtime allocate counts there. */

/* The lines of a table: one for each memory, with its size now and as planned. */
void put_memories(const arenaut_pipeline *p, const char *indent, arenaut_text *out);
/* Ops of the plan that read the memory of one device and write another's, with the bytes of their
 * results; nothing if there are none. */
void describe_copies(const arenaut_pipeline *p, const char *head, arenaut_text *out);
void put_copies_json(const arenaut_pipeline *p, arenaut_text *out);

/* The persistent part of a micro runtime's arena by kind and by op, and remedies. */

/* A section for people; nothing where the runtime keeps nothing beside tensors. `all`: every op,
 * else those with the most. */
exit_code describe_tail(const tool_job *job, bool all, arenaut_text *out);

/* The same as a member of the JSON document. */
exit_code put_json_tail(const tool_job *job, arenaut_text *out);

/* {"runtime": 132, ..., "padding": 5} */
void put_json_tail_parts(const arenaut_tensor_arena *arena, arenaut_text *out);

#endif
