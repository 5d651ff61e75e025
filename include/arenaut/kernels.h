/* Kernel sets: the memory behaviour of the kernels that a runtime is built with.
 *
 * A model file states the computation of an op and nothing about its kernel: the operand that it
 * may write over, how far its output may reach into its input, the scratch that it needs. That is a
 * matter of the kernel library, of how it was compiled, and of which of its kernels takes a call. A
 * set is a table of rules that says so; each rule is `measured` (the kernel was run, every byte of
 * it, as docs/kernels.md describes) or only `read` in the source. A plan that uses a set is right
 * for these kernels and no others.
 *
 * Threads: the built-in sets never change; any thread may read them at any time. */
#ifndef ARENAUT_KERNELS_H
#define ARENAUT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>
#include <arenaut/program.h>
#include <arenaut/sink.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The order in which a kernel reads its input and writes its output; the text is the word in files
 * and reports. A pixel is all channels of one place of an image; for ops without images, the
 * results of the innermost loop of the reference kernel. */
#define ARENAUT_KERNEL_ORDER_MAP(XX)                                                              \
    XX(NONE, "none")     /* input and output must be disjoint */                                  \
    XX(ANY, "any")       /* nothing is read once anything is written: they may lie anyhow */      \
    XX(RASTER, "raster") /* as the runtime's reference kernel of this op */                       \
    XX(BLOCK, "block")   /* `block` output pixels at a time: all that they need is read, then     \
                          * they are written */                                                   \
    XX(BLOCK_REREAD, "block-reread") /* `block` output pixels at a time, channel by channel; what \
                                      * they need is read again for each channel */               \
    XX(ROWS, "rows")                 /* block-reread with an output row as the block */

typedef enum arenaut_kernel_order {
#define XX(name, text) ARENAUT_KERNEL_##name,
    ARENAUT_KERNEL_ORDER_MAP(XX)
#undef XX
        ARENAUT_KERNEL_ORDER_COUNT
} arenaut_kernel_order;

const char *arenaut_kernel_order_name(arenaut_kernel_order order); /* NULL out of range; static */

/* A condition with two answers, or none. */
typedef enum arenaut_kernel_fact {
    ARENAUT_KERNEL_EITHER,
    ARENAUT_KERNEL_NO,
    ARENAUT_KERNEL_YES,
} arenaut_kernel_fact;

/* The condition of a rule. All zero: always met. A condition on an argument that an op does not
 * have (the filter of an ADD) is not met. */
typedef struct arenaut_kernel_when {
    uint32_t types;                /* bit k: the operand (input 0, but for a few) may be of
                                    * arenaut_dtype k; 0: any type */
    arenaut_kernel_fact pointwise; /* the filter is 1x1 */
    arenaut_kernel_fact unit_stride;
    arenaut_kernel_fact grouped;                 /* a convolution of several groups */
    arenaut_kernel_fact padded;                  /* windows reach outside of the image */
    arenaut_kernel_fact one_row;                 /* the image is one row, and so is the filter */
    arenaut_kernel_fact dilated;                 /* by attribute, whatever the filter's size */
    uint32_t min_in_channels, max_in_channels;   /* 0: no limit */
    uint32_t min_out_channels, max_out_channels; /* 0: no limit */
} arenaut_kernel_when;

/* The walk of the kernels of one op, if the condition is met. */
typedef struct arenaut_kernel_rule {
    const char *op; /* operator name as the reader spells it */
    arenaut_kernel_when when;
    arenaut_kernel_order order;
    uint32_t block; /* output pixels; 0 where the order has no block */
    bool measured;  /* else read in the source only, and not used unless asked for */
} arenaut_kernel_rule;

/* Output `output` of an op may be written over input `input`, where they have one shape and type:
 * the kernel reads each element before it writes there. */
typedef struct arenaut_in_place_rule {
    const char *op;
    uint32_t input;  /* position of the argument that may be overwritten */
    uint32_t output; /* position of the output that is written over it */
    bool any_shape;  /* copies bytes as they are, so shapes may differ (RESHAPE) */
} arenaut_in_place_rule;

/* An op that needs kernel scratch. */
typedef struct arenaut_scratch_rule {
    const char *op;
    uint32_t input; /* position of the argument whose type decides */
    uint32_t types; /* bit k: needed if that argument is of arenaut_dtype k; 0: always */
} arenaut_scratch_rule;

/* The scratch requests of a kernel for one op, in their order; not rounded. */
typedef struct arenaut_scratch_requests {
    uint32_t n;
    uint64_t bytes[4]; /* no kernel of known sizes has more */
} arenaut_scratch_requests;

/* Persistent memory of a kernel for an op, beyond the bytes that are the same for all ops of its
 * name. */
typedef enum arenaut_persistent_extra {
    ARENAUT_PERSISTENT_NOTHING,
    ARENAUT_PERSISTENT_CHANNELS,    /* two numbers of 4 bytes for each output channel of input 1 */
    ARENAUT_PERSISTENT_SCALES,      /* the same for each scale of input 1, where it has several */
    ARENAUT_PERSISTENT_SHAPE,       /* a copy of its output's shape */
    ARENAUT_PERSISTENT_LOOKUP,      /* two tables of 513 numbers of 2 bytes */
    ARENAUT_PERSISTENT_TRANSPOSED,  /* the operands of BATCH_MATMUL that it transposes, and the
                                     * output's shape */
    ARENAUT_PERSISTENT_SUMS,        /* a sum of 8 bytes for each channel of its output, and one */
    ARENAUT_PERSISTENT_ESTIMATES,   /* a number of 4 bytes for each channel of its output */
    ARENAUT_PERSISTENT_FFT,         /* the tables of a real FFT with an output of that length */
    ARENAUT_PERSISTENT_GATES,       /* eight sums of 4 bytes for each unit of an LSTM; of 8 bytes if
                                     * its input is of int16 */
    ARENAUT_PERSISTENT_ROW_SUMS,    /* a sum of 4 bytes for each row of input 1 */
    ARENAUT_PERSISTENT_SCALES_SUMS, /* SCALES, and a sum of 4 bytes for each output channel, if
                                     * weights and bias are constant and no 1x1 convolution takes
                                     * the op */
} arenaut_persistent_extra;

/* Persistent memory for an op: its options, as the runtime parses them, and its kernel's data. */
typedef struct arenaut_persistent_rule {
    const char *op;
    uint32_t input, types; /* as in arenaut_scratch_rule; the first rule that is met counts */
    uint16_t options[2];   /* bytes where pointers have 4, and where they have 8 */
    uint16_t data[2];      /* likewise */
    arenaut_persistent_extra extra;
} arenaut_persistent_rule;

/* Masks of a type rule that stand for no list of types. */
#define ARENAUT_TYPES_ANY UINT32_MAX
#define ARENAUT_TYPES_LIKE (UINT32_C(1) << 31) /* the type of the argument that decides */

/* Element types that the kernel of an op takes. Rules of one op are tried in their order: the first
 * with its conditions on the other arguments met answers for the types that it names. */
typedef struct arenaut_type_rule {
    const char *op;
    uint32_t input;   /* position of the argument whose type decides */
    uint32_t runs;    /* bit k: the kernel takes arenaut_dtype k there; ARENAUT_TYPES_ANY: all, also
                       * where there is no such argument */
    uint32_t refused; /* likewise: the runtime refuses a model with it */
    uint32_t operand; /* only if input 1 (input 0, if input 1 decides) is of these types, or left
                       * out; 0: any; ARENAUT_TYPES_ANY: any, and it is there */
    uint32_t third;   /* the same of input 2 */
    uint32_t result;  /* only if output 0 is of these types; 0: any */
    bool scaled;      /* arguments of int8 and int16 run only with a scale, int32 only without */
    bool measured;    /* else only read in the source: the op is there, its types are not known */
} arenaut_type_rule;

/* An op, or a delegate by its id, whose operands and results must lie at multiples of `align`: all
 * the buffers that they are in get at least that. */
typedef struct arenaut_align_rule {
    const char *op;
    uint64_t align; /* power of two */
    bool rounds;    /* it may touch all bytes up to the next multiple behind each of them, so that
                     * these are theirs */
} arenaut_align_rule;

typedef struct arenaut_kernel_set {
    const char *name, *summary;
    const char *version;                       /* of the sources that were measured and read */
    const struct arenaut_kernel_set *base;     /* its rules hold for the ops that this set does not
                                                * name, list by list; NULL: none */
    const arenaut_kernel_rule *rules;          /* the first that is about an op counts; ends with
                                                * op == NULL; NULL: none */
    const arenaut_in_place_rule *in_place;     /* ends with op == NULL; NULL: none known */
    const arenaut_scratch_rule *scratch;       /* ends with op == NULL; NULL: no op needs any */
    const arenaut_persistent_rule *persistent; /* ends with op == NULL; NULL: none known */
    bool (*scratch_sizes)(const arenaut_program *program, const arenaut_op *op,
                          arenaut_scratch_requests *requests); /* adds to none; false: not known;
                                                                * NULL: of no op */
    const char *macro; /* that the runtime's own build defines for these kernels; NULL: none */
    const arenaut_type_rule *types; /* ends with op == NULL; NULL: none known */
    bool complete; /* an op that neither this set nor its base names in any list is missing from the
                    * runtime; where `types` names ops, only one of their libraries: "aten" is that
                    * of "aten::add.out", and ops without a name before "::" are of one, too */
    const arenaut_align_rule *align; /* ends with op == NULL; NULL: none needs more than the
                                      * target's alignment */
} arenaut_kernel_set;

/* The table, in the order of src/kernels/kernels.def. */
size_t arenaut_kernel_set_count(void);
const arenaut_kernel_set *arenaut_kernel_set_at(size_t index);       /* NULL past the end */
const arenaut_kernel_set *arenaut_kernel_set_find(const char *name); /* NULL if unknown */

/* Reads a kernel-set file: JSON, `"schema": "arenaut.kernels/1"` (docs/formats.md). On OK *out is
 * the caller's, to be freed with arenaut_kernel_set_free; its `base` is one of the table. BAD_INPUT
 * with the line in err->at for mistakes: unknown keys, words and numbers out of range, rules that
 * no op can reach, and the name of a set of the table for one with other rules. Any operator may be
 * named, since models have operators of their own. */
arenaut_status arenaut_kernel_set_read(const char *text, size_t size,
                                       const arenaut_allocator *allocator, arenaut_kernel_set **out,
                                       arenaut_error *err);
/* Only for sets from arenaut_kernel_set_read; NULL is fine. */
void arenaut_kernel_set_free(arenaut_kernel_set *set);

/* Writes a set as such a file, which reads back as the same. */
arenaut_status arenaut_kernel_set_write(const arenaut_kernel_set *set, arenaut_sink sink,
                                        arenaut_error *err);

/* The list with an op's rights to write in place, or its scratch: that of `set` or, if it does not
 * name the op there, that of its base. An op with rules in a set has its own kernel there, so that
 * the base's rights do not hold for it. The list ends with op == NULL, and may name other ops, too;
 * NULL: none does. `set` and `op` may be NULL. O(rules). */
const arenaut_in_place_rule *arenaut_kernel_in_place(const arenaut_kernel_set *set, const char *op);
const arenaut_scratch_rule *arenaut_kernel_scratch(const arenaut_kernel_set *set, const char *op);
/* The alignment of its arguments: the rule of `set` or, if that has none, of its base. NULL: none
 * beyond the target's. */
const arenaut_align_rule *arenaut_kernel_align(const arenaut_kernel_set *set, const char *op);

/* Whether the runtime takes an op, or a program: the text is the word in messages. */
typedef enum arenaut_op_support {
    ARENAUT_OP_UNKNOWN, /* nothing is known */
    ARENAUT_OP_RUNS,    /* a kernel takes arguments of these types */
    ARENAUT_OP_REFUSED, /* there is a kernel, but not for these types */
    ARENAUT_OP_MISSING, /* the runtime has no such op */
} arenaut_op_support;

/* Of all ops, called or not, since a runtime prepares them all: the first that is missing decides,
 * since it looks for all ops first, else the first that is refused, and is *op; else RUNS if every
 * op does. `op` may be NULL. O(ops * rules). */
arenaut_op_support arenaut_kernel_support_all(const arenaut_kernel_set *set,
                                              const arenaut_program *program, uint32_t *op);

#ifdef __cplusplus
}
#endif
#endif
