/* The state that the parts of the pass recover-aliases share: holders.c finds the tensors whose
 * bytes lie in a tensor's place, recover_storages.c makes tensors of one memory one storage,
 * and finds the state that methods share; recover_aliases.c draws the conclusions. */
#ifndef ARN_PASSES_RECOVER_H
#define ARN_PASSES_RECOVER_H

#include <arenaut/program.h>

#include "core/memory.h"

enum { ARN_MAX_RECOVER_WORK = 1 << 27 };

/* Facts about a tensor. */
enum {
    ARN_RECOVER_TOUCHED = 1 << 0, /* by an op or as an argument, seen in the order of the ops */
    ARN_RECOVER_MOVED_TO = 1 << 1,
    ARN_RECOVER_READ = 1 << 2,
    ARN_RECOVER_GIVEN = 1 << 3,    /* an input of its method, which so has bytes from the start */
    ARN_RECOVER_DECLARED = 1 << 4, /* the file itself calls it state: it has its bytes from call to
                                    * call. Of the representative of a memory: some name of it is */
};

typedef struct arn_recover {
    arenaut_program *program;
    const char *share;   /* as in arenaut_pass_options */
    bool within_methods; /* each method has state of its own */
    arn_region region;
    arenaut_error *err;
    uint32_t n_tensors;  /* when it began; more may be added */
    uint8_t *facts;      /* per tensor */
    uint32_t *storage;   /* per tensor: another of its memory, towards the representative
                          * (union-find); itself: it is the one */
    uint64_t *position;  /* per tensor: where the file places it */
    uint32_t *found;     /* the results of arn_recover_find_holders, each once */
    uint32_t *found_for; /* per tensor: the last question it was found for */
    uint32_t n_found, question;
    uint64_t work;

    uint32_t *declared, n_declared; /* state that the file itself calls so, by method */

    uint32_t method;                       /* at work */
    uint32_t first_declared, end_declared; /* its own, in `declared` */
    /* Of that method, per op and its end: */
    uint32_t *before_start, *before; /* the ops that come before it */
    uint32_t *asked;                 /* the last question that came by */
    bool *reached;                   /* some path leads to it */
    bool *waiting;                   /* it is on the stack */
    uint64_t *low, *high;            /* the bytes that were open then */
    uint32_t *stack;
} arn_recover;

/* Gets ready for questions about a method; methods come in ascending order. False if there is no
 * memory. */
bool arn_recover_begin_method(arn_recover *r, uint32_t method);

/* Finds the tensors whose bytes may lie in `tensor`'s place when op `at` of its method is reached
 * (n_ops: its end), into r->found. *open: on some path not all bytes have been written. */
arenaut_status arn_recover_find_holders(arn_recover *r, uint32_t tensor, uint32_t at, bool *open);

/* Whether the file places the tensor, and it is read and written at its place. */
bool arn_recover_is_placed(const arn_recover *r, uint32_t tensor);

void arn_recover_join(arn_recover *r, uint32_t a, uint32_t b);
/* Whether the file itself calls the tensor's memory state. */
bool arn_recover_is_declared(arn_recover *r, uint32_t tensor);
/* Makes the members of each storage views of it. */
arenaut_status arn_recover_make_views(arn_recover *r);
/* Makes all state that of its method alone. */
void arn_recover_own_state(arn_recover *r);
/* Decides which state several methods have in common. */
arenaut_status arn_recover_share_state(arn_recover *r);

/* The pass, as if each method had state of its own: what methods share stays open. */
arenaut_status arn_recover_within_methods(arenaut_program *program, arenaut_error *err);

#endif
