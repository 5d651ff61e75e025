/* The table of operators: family, purity, cost, window attributes, and rights of results to share
 * memory with operands. One row per operator and dialect, in ops.def, from which dialects, shape
 * inference, split, rematerialization, distances and the op resolver of headers are made (QBE's
 * ops.h is the model). The checker reads none of it, on purpose. */
#ifndef ARN_OPS_OPS_H
#define ARN_OPS_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum arn_op_dialect {
    ARN_OPS_TFLITE,
    ARN_OPS_ATEN,
    ARN_OPS_ONNX,
    ARN_OPS_TVM,
    ARN_OPS_EXECUTORCH, /* names of kernels in its programs, where they differ from aten's */
    ARN_OPS_OWN,        /* of every dialect: ops that passes make */
    ARN_OPS_COUNT
} arn_op_dialect;

/* The family of an operator, as far as its tiles and rematerialization need it. */
typedef enum arn_op_family {
    ARN_FAMILY_CONVOLUTION, /* a window of the image times weights, in groups or not */
    ARN_FAMILY_TRANSPOSED_CONVOLUTION,
    ARN_FAMILY_POOL,        /* a window of the image, without weights */
    ARN_FAMILY_RESIZE,      /* an image of other sides, interpolated */
    ARN_FAMILY_PAD,         /* its operand with elements around it */
    ARN_FAMILY_ELEMENTWISE, /* an element of each operand, or one that is repeated */
    ARN_FAMILY_NORMALIZATION,
    ARN_FAMILY_CONCATENATION, /* its operands behind one another along an axis that all have */
    ARN_FAMILY_MATMUL,
    ARN_FAMILY_SOFTMAX,
    ARN_FAMILY_ATTENTION,
    ARN_FAMILY_LAYOUT, /* the elements of its operands, in another shape or order, or repeated */
    ARN_FAMILY_SLICE,  /* a part of its operand, or all parts */
    ARN_FAMILY_REDUCTION,
    ARN_FAMILY_GATHER,  /* its reads depend on data */
    ARN_FAMILY_SCATTER, /* its first operand, with a part replaced */
    ARN_FAMILY_RECURRENT,
    ARN_FAMILY_CONTROL, /* runs other methods */
    ARN_FAMILY_STATE,   /* variables and tables that live on from run to run */
    ARN_FAMILY_SOURCE,  /* made of shapes, numbers or chance, not of a tensor's elements */
    ARN_FAMILY_SCALAR,  /* numbers outside of planned memory */
    ARN_FAMILY_OTHER
} arn_op_family;

/* Whether an operator may run twice, and change places with others. */
typedef enum arn_op_purity {
    ARN_PURITY_PURE,     /* the same results from the same operands, and nothing else */
    ARN_PURITY_RANDOM,   /* other results each time */
    ARN_PURITY_MAY_DRAW, /* so if an argument says so, or results that are not initialized */
    ARN_PURITY_UPDATE,   /* writes state that it reads, in an operand or by a handle */
    ARN_PURITY_EFFECT,   /* does something else: asserts, prints, fills tables, is not known */
    ARN_PURITY_CALLS     /* as pure as its callee, or the op it stands for */
} arn_op_purity;

typedef enum arn_op_cost { ARN_COST_CHEAP, ARN_COST_DEAR } arn_op_cost;

/* Where the sides of an operator's window stand. Strides, dilations and padding are the attributes
 * "strides", "dilations" and "padding" ("SAME", "VALID") in tflite; "strides", "dilations", "pads",
 * "auto_pad" and "group" in ONNX, and in aten the same but for "auto_pad". */
typedef enum arn_op_window {
    ARN_WINDOW_NONE,
    ARN_WINDOW_WEIGHTS,  /* the shape of operand 1 */
    ARN_WINDOW_CHANNELS, /* likewise, each channel of the image by itself */
    ARN_WINDOW_FILTER,   /* "filter" in tflite, "kernel_shape" in ONNX and aten */
    ARN_WINDOW_WHOLE     /* all of the image */
} arn_op_window;

/* Which walk over the operands tells how far a result may reach into them: src/kernels has the
 * distances, src/check the loops. */
typedef enum arn_op_overlap {
    ARN_OVERLAP_NONE, /* nothing is known, or its reads depend on data */
    ARN_OVERLAP_WINDOW,
    ARN_OVERLAP_CHANNELS_LAST, /* the same on images whose shape has channels second */
    ARN_OVERLAP_IMAGE_THIRD,   /* of input 2, only where all is read before anything is written */
    ARN_OVERLAP_AT_ONCE,       /* likewise, of input 0 */
    ARN_OVERLAP_PLANES,        /* of images that have channels outside, plane after plane */
    ARN_OVERLAP_RESIZE,
    ARN_OVERLAP_DENSE,
    ARN_OVERLAP_UNARY,
    ARN_OVERLAP_BINARY,
    ARN_OVERLAP_PAD,
    ARN_OVERLAP_MIRROR_PAD,
    ARN_OVERLAP_CONCATENATION,
    ARN_OVERLAP_PACK,
    ARN_OVERLAP_SPLIT,
    ARN_OVERLAP_SPLIT_SIZES,
    ARN_OVERLAP_SLICE,
    ARN_OVERLAP_STRIDED_SLICE,
    ARN_OVERLAP_TRANSPOSE,
    ARN_OVERLAP_DEPTH_TO_SPACE,
    ARN_OVERLAP_SPACE_TO_DEPTH,
    ARN_OVERLAP_MATMUL,
    ARN_OVERLAP_MEAN,
    ARN_OVERLAP_ARG,
    ARN_OVERLAP_SEQUENCE,
    ARN_OVERLAP_COUNT
} arn_op_overlap;

typedef struct arn_op_row {
    const char *name;
    arn_op_family family;
    arn_op_purity purity;
    arn_op_cost cost;
    arn_op_window window;
    uint32_t in_place; /* bit k: input k */
    /* Of tflite and ExecuTorch alone: */
    arn_op_overlap overlap;
    uint32_t scratch; /* of ExecuTorch: the first argument that is the kernel's own; 0: none */
    /* Of tflite alone: */
    bool tiled;
    const char *resolver; /* NULL: none */
} arn_op_row;

/* The rows of a dialect, sorted by name. */
const arn_op_row *arn_op_rows(arn_op_dialect dialect, size_t *n);

/* The row of that name, NULL for NULL and if there is none. O(log n). */
const arn_op_row *arn_op_row_find(arn_op_dialect dialect, const char *name);

/* The same in any dialect; an overload that aten has no row for is told by the operator's name, so
 * that "aten::cat.out" is "aten::cat". O(log n). */
const arn_op_row *arn_op_row_any(const char *name);

/* Whether the operator of that name is a concatenation, in any dialect. O(log n). */
bool arn_op_is_join(const char *name);

/* Whether the operator is cheap, by its name without namespace, overload, underscores and capitals:
 * "aten::hardtanh.out" and "HARD_SWISH" are told as "hardtanh" and "hardswish". O(rows). */
bool arn_op_is_cheap(const char *name);

#endif
