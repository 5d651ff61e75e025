/* State that the methods of a placed program share by name (--share of .pte files): the target
 * where all methods work in the same memories, the names, whether a file's own plan is one for it,
 * and the result of each of several files. Linear in the program; names are sorted. */
#include "stages/stages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

static const arenaut_target *target_of(const arenaut_pipeline *p, const arenaut_format *format) {
    return p->options.target ? p->options.target : arenaut_target_for_format(format->name);
}

const arenaut_target *arn_pipeline_choose_target(arenaut_pipeline *p) {
    const arenaut_target *own = target_of(p, p->document.format);
    const arenaut_target *usual = arenaut_target_for_format(p->document.format->name);
    const bool asked = usual->joint && strcmp(usual->joint, own->name) == 0;
    if (p->options.share && asked) own = usual;
    p->store->apart = p->options.share && own->joint ? own : NULL;
    return p->store->apart ? arenaut_target_find(own->joint) : own;
}

/* ---- names ---- */

void arn_pipeline_note_naming(const arenaut_pipeline *p, const arenaut_format *format) {
    const char *naming = target_of(p, format)->naming;
    if (naming) arn_pipeline_note(p, "%s", naming);
}

typedef struct named_state {
    const char *name;
    uint32_t method;
} named_state;

static int by_name_and_method(const void *a, const void *b) {
    const named_state *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names != 0 ? names : (x->method > y->method) - (x->method < y->method);
}

/* How many methods have a state of the name that begins at `at`, and the end of its entries. */
static uint32_t count_methods(const named_state *states, uint32_t n, uint32_t at, uint32_t *end) {
    uint32_t count = 1, i = at + 1;
    for (; i < n && strcmp(states[i].name, states[at].name) == 0; i++) {
        if (states[i].method != states[i - 1].method) count++;
    }
    *end = i;
    return count;
}

/* Whether several methods have a state of the name, which ends after `length`; "": of any. */
static bool is_shared(const named_state *states, uint32_t n, const char *name, size_t length) {
    for (uint32_t i = 0, end; i < n; i = end) {
        const bool same = strlen(states[i].name) == length && !memcmp(states[i].name, name, length);
        if (count_methods(states, n, i, &end) > 1 && (!name[0] || same)) return true;
    }
    return false;
}

static arenaut_status find_names(arenaut_pipeline *p, const named_state *states, uint32_t n,
                                 arenaut_error *err) {
    const char *share = p->options.share;
    const bool any = strcmp(share, "auto") == 0;
    for (const char *at = any ? "" : share; at;) {
        const size_t length = strcspn(at, ",");
        if (!is_shared(states, n, at, length)) {
            arn_pipeline_note_naming(p, p->document.format);
            return any ? arn_pipeline_blame(p, err, "share",
                                            "share auto: no buffers of %s can be shared",
                                            p->store->n_files > 1 ? "these files" : "its methods")
                       : arn_pipeline_blame(p, err, "share",
                                            "share: '%.*s' is not the name of a buffer of several "
                                            "methods",
                                            (int)length, at);
        }
        at = at[length] ? at + length + 1 : NULL;
    }
    return ARENAUT_OK;
}

arenaut_status arn_pipeline_check_shared(arenaut_pipeline *p, const arenaut_program *program,
                                         arenaut_error *err) {
    uint32_t n = 0;
    named_state *states =
        arn_allocate(arn_pipeline_allocator(p), program->n_tensors, sizeof *states);
    if (!states) return arn_no_memory(err);
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        if (tensor->qualified_name) {
            states[n++] = (named_state){tensor->qualified_name, tensor->method};
        }
    }
    qsort(states, n, sizeof *states, by_name_and_method);
    const arenaut_status st = find_names(p, states, n, err);
    arn_release(arn_pipeline_allocator(p), states);
    return st;
}

/* ---- the plan in the file ---- */

/* Which pool each memory of the file is, and the reverse; ARENAUT_NONE: not known yet. */
typedef struct pairing {
    uint32_t *pool_of, n_memories;
    uint32_t memory_of[ARENAUT_MAX_POOLS];
} pairing;

/* Notes that a tensor of memory `given` is of `pool`. */
static void pair_up(const arenaut_program *program, uint32_t tensor, uint32_t pool, pairing *pairs,
                    arenaut_finding *finding) {
    const arenaut_tensor *t = &program->tensors[tensor];
    uint32_t *of = &pairs->pool_of[t->given_pool], *memory = &pairs->memory_of[pool];
    const char *method = t->method == ARENAUT_NONE ? NULL : program->methods[t->method].name;
    char store[24];
    const char *name = arenaut_program_tensor_name(program, tensor, store);
    if (*of == ARENAUT_NONE) *of = pool;
    if (*memory == ARENAUT_NONE) *memory = t->given_pool;
    if (*of == pool && *memory == t->given_pool) return;
    *finding = (arenaut_finding){.rule = ARENAUT_RULE_POOL,
                                 .a = tensor,
                                 .b = ARENAUT_NONE,
                                 .op = ARENAUT_NONE,
                                 .method = t->method,
                                 .pool = t->given_pool};
    if (*of != pool) {
        snprintf(finding->msg, sizeof finding->msg,
                 "memory %" PRIu32
                 " holds shared state and tensors of one method, such as '%.60s' "
                 "of method '%.60s'",
                 t->given_pool + 1, name, method ? method : "");
        return;
    }
    snprintf(finding->msg, sizeof finding->msg,
             "'%.60s' of method '%.60s' lies in memory %" PRIu32
             ", and other tensors of its pool in memory %" PRIu32,
             name, method ? method : "", t->given_pool + 1, *memory + 1);
}

/* Before pools are named, a buffer has one. */
static uint32_t pool_of_buffer(const arenaut_problem *problem, uint32_t buffer) {
    uint32_t pool = 0;
    while (!((arenaut_problem_pools(problem, buffer) >> pool) & 1)) pool++;
    return pool;
}

arenaut_status arn_pipeline_check_joint(const arenaut_pipeline *p, const arenaut_program *program,
                                        const arenaut_lowering *lowering, arenaut_finding *finding,
                                        arenaut_error *err) {
    pairing pairs = {.n_memories = 0};
    for (uint32_t m = 0; m < program->n_methods; m++) {
        if (program->methods[m].n_given_pools > pairs.n_memories) {
            pairs.n_memories = program->methods[m].n_given_pools;
        }
    }
    pairs.pool_of = arn_allocate(arn_pipeline_allocator(p), pairs.n_memories, sizeof(uint32_t));
    if (!pairs.pool_of) return arn_no_memory(err);
    for (uint32_t i = 0; i < pairs.n_memories; i++) pairs.pool_of[i] = ARENAUT_NONE;
    for (uint32_t k = 0; k < ARENAUT_MAX_POOLS; k++) pairs.memory_of[k] = ARENAUT_NONE;
    *finding = (arenaut_finding){.rule = ARENAUT_RULE_NONE};
    for (uint32_t t = 0; t < program->n_tensors && finding->rule == ARENAUT_RULE_NONE; t++) {
        const uint32_t b = t < lowering->n_tensors ? lowering->buffer[t] : ARENAUT_NONE;
        if (program->tensors[t].given_pool >= pairs.n_memories || b == ARENAUT_NONE) continue;
        pair_up(program, t, pool_of_buffer(lowering->problem, b), &pairs, finding);
    }
    arn_release(arn_pipeline_allocator(p), pairs.pool_of);
    return ARENAUT_OK;
}

/* ---- one of several files ---- */

/* The tensors of the file alone, numbered as it does: a writer asks for their methods, sizes and
 * buffers, and for no other tensor's. */
static arenaut_status part_of(const arenaut_pipeline *p, const arn_file_part *part,
                              arn_region *region, arenaut_program **program,
                              arenaut_lowering **lowering, arenaut_error *err) {
    const arenaut_program *whole = p->document.program;
    *program = arn_region_allocate(region, 1, sizeof **program);
    *lowering = arn_region_allocate(region, 1, sizeof **lowering);
    arenaut_tensor *tensors = arn_region_allocate(region, part->n_tensors, sizeof *tensors);
    if (!*program || !*lowering || !tensors) return arn_no_memory(err);
    for (uint32_t t = 0; t < part->n_tensors; t++) {
        tensors[t] = whole->tensors[part->first_tensor + t];
        tensors[t].method -= part->first_method;
    }
    **program = *whole;
    (*program)->tensors = tensors;
    (*program)->n_tensors = part->n_tensors;
    (*program)->methods += part->first_method;
    (*program)->n_methods = part->n_methods;
    **lowering = *p->lowering;
    (*lowering)->buffer += part->first_tensor;
    (*lowering)->offset += part->first_tensor;
    (*lowering)->n_tensors = part->n_tensors;
    return ARENAUT_OK;
}

arenaut_status arn_pipeline_result_of(const arenaut_pipeline *p, size_t file, arn_region *region,
                                      arenaut_result *result, arenaut_error *err) {
    arenaut_program *program;
    arenaut_lowering *lowering;
    *result = p->result;
    if (p->store->n_files == 1) return ARENAUT_OK;
    const arenaut_status st = part_of(p, &p->store->parts[file], region, &program, &lowering, err);
    if (st != ARENAUT_OK) return st;
    result->program = program;
    result->lowering = lowering;
    result->file = p->store->files[file].data;
    result->file_size = p->store->files[file].size;
    return ARENAUT_OK;
}
