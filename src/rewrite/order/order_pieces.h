/* What buffers consist of where joins may be written in place and views may be copies. */
#ifndef ARN_REWRITE_ORDER_PIECES_H
#define ARN_REWRITE_ORDER_PIECES_H

#include <arenaut/lowering.h>
#include <arenaut/rewrite.h>

#include "core/memory.h"

/* Pieces have the numbers of buffers that are not cut, and further ones. A join consists of those
 * of its operands, a copy of those of what it is a copy of. All arrays are the region's. */
typedef struct arn_order_pieces {
    uint32_t n;      /* numbers of pieces are below this */
    uint64_t *bytes; /* per piece: what it has, not rounded; of a buffer that is not one, 0 */
    bool *is_part;   /* per piece: it may lie within something else */
    bool *is_whole;  /* per buffer: it is cut, or put together: a list says of what, else itself */
    bool *is_made;   /* per buffer: of those, it is put together: making it costs nothing */
    bool *may_leave; /* per buffer: it may be a part of what is not in the arena */
    uint32_t *first, *count; /* per buffer that has one: its list, without repetition */
    uint32_t *list;
} arn_order_pieces;

/* REFUSED where there are too many, or what is to be cut or joined is no buffer of its own. */
arenaut_status arn_order_find_pieces(const arenaut_program *program,
                                     const arenaut_lowering *lowering,
                                     const arenaut_loosening *choices, uint32_t max_pieces,
                                     arn_region *region, arn_order_pieces *out, arenaut_error *err);

#endif
