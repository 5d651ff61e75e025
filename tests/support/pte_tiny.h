/* A small .pte in which each kind of value and instruction occurs, with the places of
 * numbers that a test may want to spoil. */
#ifndef SUPPORT_PTE_TINY_H
#define SUPPORT_PTE_TINY_H

#include <stdbool.h>

#include "support/bytes.h"
#include "support/flatfile.h"

/* Values of the first method, by number. */
enum {
    TINY_X,        /* input, float32 [2, 3], by columns, up to that large, memory 1 at 64 */
    TINY_WEIGHT,   /* constant */
    TINY_Y,        /* memory 1 at 0: no field for the offset */
    TINY_ALPHA,    /* a number */
    TINY_Z,        /* memory 1 at 32 */
    TINY_FALSE,    /* a constant that nothing writes */
    TINY_CHOICE,   /* a truth value that a kernel writes */
    TINY_PAIR,     /* list of Y and Z */
    TINY_MAYBE,    /* list of nothing, Null, and Y */
    TINY_NULL,     /* no value */
    TINY_STATE,    /* "core.state", memory 2 at 0 */
    TINY_RESULT,   /* output, memory 1 at 96 */
    TINY_OUTSIDE,  /* input, provided by the caller */
    TINY_EXTERNAL, /* constant in another file, "far.weight" */
    TINY_TRAINED,  /* memory 1 at 128, with initial values */
    TINY_VALUES,
};

/* Instructions of the first method, by number. */
enum {
    TINY_ADD,      /* aten::add.out x weight alpha y y */
    TINY_SPLIT,    /* aten::split_copy.out x alpha pair pair */
    TINY_COMPARE,  /* executorch_prim::gt.Scalar alpha alpha choice */
    TINY_BRANCH,   /* jump_false choice -> TINY_ELSE */
    TINY_DELEGATE, /* XnnpackBackend y z */
    TINY_MOVE,     /* z -> result */
    TINY_SKIP,     /* jump -> TINY_JOIN */
    TINY_ELSE,     /* aten::index.Tensor_out x maybe result result */
    TINY_JOIN,     /* aten::copy_ state outside null state */
    TINY_CUSTOM,   /* my::op trained external */
    TINY_VIEW,     /* executorch_prim::et_view.default x alpha y */
    TINY_NUMBER,   /* move alpha -> choice */
    TINY_INSTRUCTIONS,
};

typedef struct pte_tiny {
    flatfile *file;
    /* Where things lie: numbers, or the first element of vectors. */
    size_t version, plans, segment_size, values, sizes, devices, device_buffer, device_type;
    size_t chains, instructions, operators, inputs, outputs;
    size_t x_type, x_sizes, x_order, x_dynamism, x_storage, x_memory, x_low, x_device;
    size_t x_place_link, z_place; /* X's offset to its place, and Z's place */
    size_t weight_buffer, trained_buffer, null_type, pair_items, maybe_items;
    size_t add_type, add_operator, add_args, branch_target, branch_condition, skip_target;
    size_t move_from, move_to, delegate_index;
} pte_tiny;

/* Two methods, "forward" and "reset", which share memory 2. `device`: memory 2 is on device
 * 1.3 rather than the host's. */
pte_tiny new_pte_tiny(bool device);

/* The file with an extended header in front of its root and `weights` bytes of segments
 * behind it, aligned to 128; `slack` zeroes more lie between the two. */
bytes pte_with_header(const pte_tiny *tiny, size_t weights, size_t slack);
enum { PTE_HEADER_BYTES = 32 };

#endif
