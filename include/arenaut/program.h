/* A program: methods (entry points, subgraphs, branches) over tensors, each method a sequence of
 * ops. Readers make it, passes transform it, and lowering (lowering.h) turns it into a problem.
 *
 * Tensors, ops and methods are named by index. The ops of one method are contiguous and
 * in the order in which they run. A method that is called by an op (a branch, a loop
 * body) runs inside that op; entry methods are called from outside, never at the same
 * time, and no intermediate of one outlives its call.
 *
 * Threads: calls about different programs may run at once; one program may be read by any
 * number of threads as long as none changes it. */
#ifndef ARENAUT_PROGRAM_H
#define ARENAUT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>
#include <arenaut/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types: enum name, JSON word, bits per element (0: no fixed size). */
#define ARENAUT_DTYPE_MAP(XX)         \
    XX(BOOL, "bool", 8)               \
    XX(INT2, "int2", 2)               \
    XX(INT4, "int4", 4)               \
    XX(UINT4, "uint4", 4)             \
    XX(INT8, "int8", 8)               \
    XX(UINT8, "uint8", 8)             \
    XX(INT16, "int16", 16)            \
    XX(UINT16, "uint16", 16)          \
    XX(INT32, "int32", 32)            \
    XX(UINT32, "uint32", 32)          \
    XX(INT64, "int64", 64)            \
    XX(UINT64, "uint64", 64)          \
    XX(FLOAT4, "float4", 4)           \
    XX(FLOAT8, "float8", 8)           \
    XX(FLOAT16, "float16", 16)        \
    XX(BFLOAT16, "bfloat16", 16)      \
    XX(FLOAT32, "float32", 32)        \
    XX(FLOAT64, "float64", 64)        \
    XX(COMPLEX64, "complex64", 64)    \
    XX(COMPLEX128, "complex128", 128) \
    XX(STRING, "string", 0)           \
    XX(RESOURCE, "resource", 0)       \
    XX(VARIANT, "variant", 0)         \
    XX(OTHER, "other", 0)

typedef enum arenaut_dtype {
#define XX(name, text, bits) ARENAUT_DTYPE_##name,
    ARENAUT_DTYPE_MAP(XX)
#undef XX
        ARENAUT_DTYPE_COUNT
} arenaut_dtype;

const char *arenaut_dtype_name(arenaut_dtype dtype); /* NULL out of range; static */
uint32_t arenaut_dtype_bits(arenaut_dtype dtype);    /* 0 out of range too */

/* Bytes of a dense tensor: ceil(product(dims) * bits / 8); 1 element if rank is 0.
 * BAD_INPUT for a negative dim, TOO_LARGE past ARENAUT_SIZE_MAX, UNSUPPORTED for a type
 * without fixed size. */
arenaut_status arenaut_dense_bytes(arenaut_dtype dtype, const int64_t *dims, uint32_t rank,
                                   uint64_t *bytes, arenaut_error *err);

/* A value. Zero bytes: nothing to plan (a resource handle, an unsized value). */
typedef struct arenaut_tensor {
    const char *name;           /* may be NULL */
    const char *qualified_name; /* names shared state across methods; NULL if not shared */
    const char *source;         /* where the model's author wrote it; NULL if unknown */
    arenaut_dtype dtype;
    uint32_t rank;
    const int64_t *dims; /* rank entries; upper bounds where symbolic, and once they are known:
                          * negative before that */
    const uint32_t *dim_exprs;    /* rank expressions (expr.h); ARENAUT_NONE: dims says it.
                                   * NULL: dims says all */
    const int64_t *strides;       /* rank entries, in elements; NULL: dense, last dim fastest */
    const uint32_t *stride_exprs; /* rank expressions, of which strides has a sample until upper
                                   * bounds are known; ARENAUT_NONE: strides says it. NULL: all */
    uint32_t lanes; /* 0: elements lie bit by bit, two of int4 in a byte; else each is a vector of
                     * so many of its dtype (a bool is one bit there) and takes whole bytes */
    uint32_t n_values;     /* elements of `values` */
    const int64_t *values; /* the elements of a small constant, as far as shapes need them: whole
                            * numbers, or the bits of doubles; NULL: unknown */
    uint32_t n_scales;     /* it is quantized with so many scales, one for all or one for each
                            * channel; 0: it is not, or that is not known */
    uint64_t first_value;  /* a fingerprint of a state's first value; 0: unknown */
    bool dynamic;          /* dims are upper bounds: smaller ones may come at run time */
    bool unsized;          /* its shape is not known: it is not planned, and reports name it */
    bool compressed;       /* a constant that a runtime may unpack, into memory of its own, before
                            * an op reads it */
    uint8_t whole_along;   /* of a constant: a bit for each axis, from the first on, along which its
                            * format cannot store a part of it */
    bool finite;    /* a constant of floating point that is known to hold neither infinity nor NaN;
                     * readers look only at possible weights of convolutions */
    uint64_t bytes; /* unrounded */
    uint64_t align; /* power of two; 0: the target's */
    arenaut_class cls;
    uint32_t method;      /* the method it belongs to; ARENAUT_NONE: to all */
    uint32_t view_of;     /* the tensor whose storage it lies in; ARENAUT_NONE: its own */
    uint64_t view_offset; /* bytes from the start of view_of; ARENAUT_SIZE_MAX: not known, in graphs
                           * before their views are found */
    arenaut_device device;
    bool caller_owned;   /* the runtime, not the arena, provides the memory: never planned */
    uint32_t file_index; /* the number the file's own format gives it within its method */
    /* The placement that the file holds, ARENAUT_UNPLACED if none. As it stands there, right
     * or wrong: a negative number of a file wraps, to past ARENAUT_SIZE_MAX. */
    uint32_t given_pool;
    uint64_t given_offset;
} arenaut_tensor;

/* Kinds of ops, by the memory of their outputs; the text is the JSON word. */
#define ARENAUT_OP_KIND_MAP(XX)                                                                  \
    XX(OUT, "out")               /* writes memory that it is given: the ordinary case */         \
    XX(FUNCTIONAL, "functional") /* returns new tensors, as a graph before lowering does:        \
                                  * brings its own memory, until a pass gives it some */         \
    XX(VIEW, "view")             /* outputs are other names for its inputs' memory */            \
    XX(IN_PLACE, "in_place")     /* updates an input; its outputs alias that input */            \
    XX(MAKES, "makes")           /* brings its own memory for its outputs: not planned */        \
    XX(IF, "if")                 /* calls[0] or calls[1] */                                      \
    XX(WHILE, "while")           /* calls[0] is the condition, calls[1] the body */              \
    XX(LOOP, "loop")             /* calls[0], any number of times, none included */              \
    XX(CALL, "call")             /* calls[0], each time */                                       \
    XX(CALL_ONCE, "call_once")   /* calls[0], on the first run only */                           \
    XX(DELEGATE, "delegate")     /* touches all its arguments at once, in an unknown sequence */ \
    XX(JUMP, "jump")             /* goes on at op `target` of its method */                      \
    XX(JUMP_FALSE, "jump_false") /* the same if its value is false, else the next op */          \
    XX(MOVE, "move")             /* outputs[0] becomes another name of inputs[0]'s memory */     \
    XX(FREE, "free")             /* says that its inputs are done with: touches nothing */       \
    XX(ALLOC, "alloc")           /* says that its outputs get memory here: touches nothing */    \
    XX(ALLOC_IN_PLACE, "alloc_in_place") /* the same, in the memory of inputs[0] */              \
    XX(TUPLE, "tuple") /* outputs[0] stands for all its inputs; no memory of its own */          \
    XX(FIELD, "field") /* outputs[0] is field `target` of the tuple inputs[0] */                 \
    XX(LET, "let")     /* outputs[0] is another name for inputs[0] */

typedef enum arenaut_op_kind {
#define XX(name, text) ARENAUT_OP_##name,
    ARENAUT_OP_KIND_MAP(XX)
#undef XX
        ARENAUT_OP_KIND_COUNT
} arenaut_op_kind;

/* Output `output` of an op may be written over input `input` (positions in its lists):
 * the kernel reads each element of that input before it writes there. */
typedef struct arenaut_in_place {
    uint32_t output, input;
} arenaut_in_place;

/* Output `output` of an op may overlap input `input` wherever that begins at least `distance` bytes
 * above it: the kernel walks both in address order, and reads each byte of the input before it
 * writes as far as that. Of the distance: problem.h, "separation". */
typedef struct arenaut_overlap {
    uint32_t output, input;
    int64_t distance;
} arenaut_overlap;

/* A field of an op besides its arguments, as far as shapes need it. */
typedef struct arenaut_attribute {
    const char *name;
    uint32_t n_numbers;
    const int64_t *numbers; /* whole numbers, or the bits of doubles: the operator tells */
    const char *text;       /* NULL: it is numbers */
} arenaut_attribute;

typedef struct arenaut_op {
    const char *name;   /* the operator, as the format spells it */
    const char *source; /* layer path or file:line; NULL if unknown */
    arenaut_op_kind kind;
    uint32_t method;
    uint32_t n_inputs, n_outputs, n_scratch, n_calls, n_in_place;
    const uint32_t *inputs;  /* tensors; ARENAUT_NONE: an optional argument left out */
    const uint32_t *outputs; /* tensors; ARENAUT_NONE likewise */
    const uint32_t *scratch; /* tensors of class scratch, alive while the op runs */
    const uint32_t *calls;   /* methods; their inputs and outputs are copied from and to
                              * the op's own, in order (a condition's output is not) */
    const arenaut_in_place *in_place;
    bool arguments_may_alias; /* an opaque custom op known to allow it (Ethos-U) */
    bool pure;                /* it only computes its outputs from its inputs, the same each time,
                               * even if its name suggests otherwise; without meaning for a
                               * delegate */
    uint32_t target;          /* of a jump: the op to go to, counted within its method; its n_ops is
                               * the method's end. Of a field: which one. Of a loop: how many values it
                               * carries from turn to turn, its first inputs and outputs and its method's;
                               * a result more of that method than the op has is whether to go on */
    uint32_t stream;          /* ops of one stream run in order; see arenaut_method.concurrent */
    uint32_t n_after;
    const uint32_t *after; /* ops of its method, counted within it, that must have ended first */
    uint32_t n_attributes;
    const arenaut_attribute *attributes;
    uint32_t n_overlaps;
    const arenaut_overlap *overlaps;
    arenaut_optional_id file_index; /* the number of the op of the file that it stands for, within
                                     * its method; left out: a pass added it */
} arenaut_op;

/* An arena as the file states it, for one method. */
typedef struct arenaut_given_pool {
    uint64_t bytes;
    arenaut_device device;
} arenaut_given_pool;

/* The use of a value that a method computes, besides being a result. */
typedef enum arenaut_binding_kind {
    ARENAUT_BINDING_MUTATES,  /* the new value of the state or input `target` */
    ARENAUT_BINDING_GRADIENT, /* the gradient with respect to `target` */
    ARENAUT_BINDING_LOSS,     /* the loss; no target */
    ARENAUT_BINDING_MUTATED,  /* as MUTATES, done: ops of the method give `target` the value of
                               * `value`. The name `target` in the method still stands for the value
                               * at the begin of the call, and may not be read once that is gone */
    ARENAUT_BINDING_COUNT
} arenaut_binding_kind;

typedef struct arenaut_binding {
    arenaut_binding_kind kind;
    uint32_t value, target; /* tensors; target may be ARENAUT_NONE */
} arenaut_binding;

typedef struct arenaut_method {
    const char *name; /* may be NULL */
    uint32_t first_op, n_ops;
    uint32_t n_inputs, n_outputs;
    const uint32_t *inputs, *outputs; /* tensors */
    bool entry;                       /* called from outside */
    uint32_t n_given_pools; /* arenas that the file states for it; tensors' given_pool counts
                             * in this list */
    const arenaut_given_pool *given_pools;
    uint32_t n_bindings;
    const arenaut_binding *bindings; /* from a graph's signature; passes turn them into ops and
                                      * outputs */
    uint32_t outer;  /* the method whose op calls this one, and whose tensors its ops may name
                      * (captured values, which that op lists among its inputs, after those that
                      * it hands over); ARENAUT_NONE: it sees only its own */
    bool concurrent; /* ops of different streams may run at the same time, but an op depends on the
                      * makers of its operands and on the ops in `after`; else ops run one after
                      * another */
} arenaut_method;

/* Origin of the plan in a file, if it holds one. */
typedef enum arenaut_given_plan {
    ARENAUT_GIVEN_NONE,
    ARENAUT_GIVEN_OURS,    /* carries our mark */
    ARENAUT_GIVEN_FOREIGN, /* another tool's */
} arenaut_given_plan;

/* The kernels that a plan of ours in the file was made for, as its mark says. */
typedef struct arenaut_given_kernels {
    const char *name;     /* NULL: not said */
    uint64_t fingerprint; /* a hash of the rules of that set then; 0: not said */
    bool unmeasured;      /* rules that were only read counted too */
} arenaut_given_kernels;

typedef struct arenaut_program {
    uint32_t n_tensors, n_ops, n_methods;
    arenaut_tensor *tensors;
    arenaut_op *ops;
    arenaut_method *methods;
    const char *description;  /* from the file; may be NULL */
    const char *dialect;      /* of the operators that its ops name (dialect.h); NULL: unknown */
    uint32_t dialect_version; /* of these operators, as the file states it; 0: unknown */
    uint32_t n_symbols, n_exprs;
    struct arenaut_symbol *symbols; /* sizes that vary, and expressions over them: expr.h */
    struct arenaut_expr *exprs;
    arenaut_given_plan given;
    const char *given_note; /* the writer of the plan in the file, for messages; may be NULL */
    arenaut_given_kernels given_kernels;
    struct arenaut_program_store *store;
} arenaut_program;

/* Adds a tensor, by copy with strings and arrays, and stores its index in *id (may be NULL).
 * Amortised O(1). */
arenaut_status arenaut_program_add_tensor(arenaut_program *program, const arenaut_tensor *tensor,
                                          uint32_t *id, arenaut_error *err);

/* Replaces the inputs and outputs of a method, by copy. */
arenaut_status arenaut_program_set_method_io(arenaut_program *program, uint32_t method,
                                             const uint32_t *inputs, uint32_t n_inputs,
                                             const uint32_t *outputs, uint32_t n_outputs,
                                             arenaut_error *err);

/* Memory that lives as long as the program, for passes that replace an op's lists.
 * Aligned as malloc's; NULL if there is none. */
void *arenaut_program_alloc(arenaut_program *program, size_t size);
const char *arenaut_program_strdup(arenaut_program *program, const char *text, size_t length);

/* A tensor with every field at its default: no name, no view, nothing given, INT8. */
arenaut_tensor arenaut_tensor_default(void);

/* The attribute of that name; NULL: there is none. O(attributes). */
const arenaut_attribute *arenaut_op_attribute(const arenaut_op *op, const char *name);

/* A name for messages: the tensor's own, else "tensorK" written into `store`. */
const char *arenaut_program_tensor_name(const arenaut_program *program, uint32_t tensor,
                                        char store[24]);

/* The tensor whose storage `tensor` lies in (itself if it is no view); *offset gets the
 * distance from that storage's start in bytes (may be NULL). Needs a valid program. */
uint32_t arenaut_program_storage(const arenaut_program *program, uint32_t tensor, uint64_t *offset);

#ifdef __cplusplus
}
#endif
#endif
