/* The layout of a plan in a .pte file: a memory and an offset for each tensor that the file places,
 * and a size for each memory of each method.
 *
 * Files number memories per method, problems have one list of pools. If the tensors of each method
 * that share a pool also share a memory in the file, and the reverse, the memories keep their
 * numbers; so does every device. Otherwise, and always if some pool was given a capacity before
 * lowering, the pools are a list that the user made: pool k is memory k + 1 of every method. */
#ifndef ARN_FORMATS_PTE_PTE_LAYOUT_H
#define ARN_FORMATS_PTE_PTE_LAYOUT_H

#include <arenaut/result.h>

#include "core/memory.h"

/* A memory of a method. */
typedef struct arn_pte_memory {
    uint64_t size;
    arenaut_device device;
} arn_pte_memory;

typedef struct arn_pte_layout {
    uint32_t *memory; /* per tensor, counted from 0; ARENAUT_NONE: the file places it nowhere */
    uint64_t *offset; /* per tensor */
    uint32_t *first;  /* per method, and one more: its first entry in `memories` */
    arn_pte_memory *memories;
} arn_pte_layout;

/* The runtime reads a little past the end of an XNNPACK delegate's arguments. */
enum { ARN_PTE_XNNPACK_TAIL = 64 };

/* `held` is the file as read, `has_tail` says per method whether such a delegate is in it. Results
 * live in `region`. REFUSED for plans that a file cannot hold. */
arenaut_status arn_pte_make_layout(const arenaut_result *result, const arenaut_program *held,
                                   const bool *has_tail, arn_region *region, arn_pte_layout *out,
                                   arenaut_error *err);

#endif
