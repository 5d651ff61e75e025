/* One arena for the interpreters of several models, of which one runs at a time: as large as the
 * largest head and all tails. */
#ifndef TOOL_ONE_ARENA_H
#define TOOL_ONE_ARENA_H

#include "whole_arena.h"

enum { ARENA_NOW, ARENA_PLANNED, ARENA_SIDES };

/* A model's part: its head, and the bytes by which the tail grew when it was added. */
typedef struct arena_tenant {
    char *name;
    uint64_t head[ARENA_SIDES], tail[ARENA_SIDES];
} arena_tenant;

typedef struct one_arena {
    const tool_options *options;
    const arenaut_target *target;
    arenaut_tensor_arena arena[ARENA_SIDES]; /* as the files are, and as they are planned */
    reservation need[ARENA_SIDES];
    arena_tenant *tenants;
    size_t n;
    bool now_known, apart; /* of all of them */
} one_arena;

/* Complains if the runtime of a job that has its plan has no interpreter that could share, or is
 * another one than that of the models so far. */
exit_code one_arena_check(const one_arena *all, const tool_job *job);
/* Adds the interpreter of such a job, or complains. `kept`: the file stays as it is. */
exit_code one_arena_add(one_arena *all, const tool_job *job, const char *name, bool kept);

/* Whether it is the arena of all `n` models, which came to `code`; complains if a part of them is
 * missing. */
bool one_arena_is_whole(const one_arena *all, size_t n, exit_code code);

/* The side that is judged: the files as they are, where that is known and `planned` is not asked
 * for. */
const reservation *one_arena_need(const one_arena *all, bool planned);

void put_one_arena(const one_arena *all, arenaut_text *out);
/* A document of its own, the last of the list. */
void put_json_one_arena(const one_arena *all, bool planned, arenaut_text *out);
/* Sizes for the compiler, as a C header. */
void put_one_arena_header(const one_arena *all, arenaut_text *out);

void one_arena_free(one_arena *all);

/* Memory of several files that never run at the same time: the maximum over them while they run,
 * and the sum of their state between runs. */

typedef struct together {
    uint64_t kept,
        running; /* of the planned bytes: the sum of the state, the maximum of the rest */
    uint64_t kept_reserved; /* the same of the bytes to reserve */
    reservation running_reserved;
    size_t n; /* files */
} together;

/* Adds a file whose plan has so many bytes, and which needs so much to be reserved for it. */
exit_code together_add(together *sums, const tool_job *job, uint64_t planned,
                       const reservation *need);

uint64_t together_planned(const together *sums);
reservation together_reserved(const together *sums);

#endif
