/* The state that the parts of shape inference share. passes/shapes.c binds sizes and stores
 * results; shape_infer.c goes through methods and ops, and has the table of operators
 * and their functions. The functions are in shape_{elementwise,layout,contract,window,make}.c, by
 * kind, and stand on shape_arguments.c. shape_values.c computes the few values
 * that shapes depend on.
 *
 * All sizes are numbers: if one varies, inference is done for value after value.
 * Unknown sizes are ARN_SHAPE_ANY. */
#ifndef ARN_SHAPES_SHAPES_H
#define ARN_SHAPES_SHAPES_H

#include <arenaut/program.h>

#include "core/memory.h"

#define ARN_SHAPE_ANY INT64_MIN /* an unknown size or value */

enum {
    ARN_SHAPE_MAX_VALUES = 1024, /* elements whose values are followed */
    ARN_SHAPE_MAX_RANK = 64,     /* more is refused: no operator of any runtime takes it */
};

typedef struct arn_shape {
    bool ranked;  /* false: nothing is known but perhaps the type */
    bool at_most; /* only a run shows how much smaller the sizes are: nothing is computed of them */
    uint32_t rank;
    int64_t *dims;       /* ARN_SHAPE_ANY where unknown */
    arenaut_dtype dtype; /* OTHER: unknown */
    uint32_t n_values;
    int64_t *values; /* of all elements, ARN_SHAPE_ANY where unknown; NULL: none is known. Floats
                      * are kept as the bits of doubles */
} arn_shape;

typedef struct arn_shapes {
    arenaut_program *program;
    arn_region *region;
    arn_shape *of;        /* per tensor: the inferred shape */
    arn_shape *stated;    /* per tensor: the file's own shape, with sizes as they are bound */
    const arenaut_op *op; /* at work */
    uint64_t work;        /* ops that may still be visited before calls are left alone */
    uint32_t depth;       /* calls within calls */
    arenaut_status status;
    arenaut_error *err;
} arn_shapes;

typedef void (*arn_shape_function)(arn_shapes *s);

/* Visits all ops of a method, whose inputs have been set. */
void arn_shape_visit(arn_shapes *s, uint32_t method);

/* ---- for functions of operators; indices are positions in the op's lists ---- */

/* Notes an error of the model: "op N 'Name' (node): TEXT". The first one stays. */
void arn_shape_fail(arn_shapes *s, const char *what);
void arn_shape_fail_memory(arn_shapes *s);

/* The shape of an argument; a shape of which nothing is known for one left out. */
const arn_shape *arn_shape_input(const arn_shapes *s, uint32_t i);
bool arn_shape_has_input(const arn_shapes *s, uint32_t i);

/* Sets the shape of an output; dims are copied. Unknown types stay as they are. NULL dims of a rank
 * above 0 are all unknown. */
void arn_shape_set(arn_shapes *s, uint32_t output, arenaut_dtype dtype, uint32_t rank,
                   const int64_t *dims);
void arn_shape_set_dtype(arn_shapes *s, uint32_t output, arenaut_dtype dtype);
void arn_shape_set_like(arn_shapes *s, uint32_t output, arenaut_dtype dtype, const arn_shape *like);
/* Room for the values of an output whose shape has been set, all ARN_SHAPE_ANY; NULL if it has too
 * many elements, or if their number is unknown. */
int64_t *arn_shape_new_values(arn_shapes *s, uint32_t output);
/* The output's values are those of `from`, in the same order. */
void arn_shape_copy_values(arn_shapes *s, uint32_t output, const arn_shape *from);

/* Attributes; the numbers of an absent one are 0. */
const arenaut_attribute *arn_shape_attribute(const arn_shapes *s, const char *name);
int64_t arn_shape_number(const arn_shapes *s, const char *name, int64_t otherwise);

/* Whole numbers from an input if it is there, else from the attribute; false if unknown or
 * absent. They live as long as the region. */
typedef struct arn_shape_numbers {
    uint32_t n;
    const int64_t *at;
} arn_shape_numbers;
bool arn_shape_numbers_of(const arn_shapes *s, uint32_t input, const char *attribute,
                          arn_shape_numbers *out);
bool arn_shape_all_known(arn_shape_numbers numbers);

/* axis in 0 .. rank, counting from the end if negative. False, and noted, if it is not. */
bool arn_shape_axis(arn_shapes *s, int64_t axis, uint32_t rank, uint32_t *out);

/* Arithmetic on sizes: unknown if one side is, or where the result passes 63 bits. */
int64_t arn_shape_plus(int64_t a, int64_t b);
int64_t arn_shape_times(int64_t a, int64_t b);
int64_t arn_shape_product(const int64_t *dims, uint32_t from, uint32_t to);

/* Rounded down; without the C library's, which would be one more library to link. */
double arn_shape_floor(double value);
double arn_shape_as_double(int64_t bits);
int64_t arn_shape_as_bits(double value);
static inline bool arn_shape_is_float(arenaut_dtype dtype) {
    return dtype == ARENAUT_DTYPE_FLOAT32 || dtype == ARENAUT_DTYPE_FLOAT64;
}

/* Scratch for dims of one op. NULL, with the status set, if there is no memory. */
int64_t *arn_shape_new_dims(arn_shapes *s, uint32_t rank);

/* The shape of two operands together: sizes of 1 are stretched. False, and noted, if they do
 * not fit; *rank is then untouched. `dims` has room for ARN_SHAPE_MAX_RANK. */
bool arn_shape_broadcast(arn_shapes *s, const arn_shape *a, const arn_shape *b, uint32_t *rank,
                         int64_t *dims);

/* Computes the values of elementwise operators if those of their operands are known. */
void arn_shape_compute_values(arn_shapes *s);

/* The functions of operators. Several operators have the same: it is declared again then. That of
 * `none` is nowhere defined. */
#define ARN_SHAPE_FUNCTION(name) void arn_shape_of_##name(arn_shapes *s)
#define ONNX(op, family, purity, cost, window, traits, in_place, shape) ARN_SHAPE_FUNCTION(shape);
#include "ops/ops.def"

#endif
