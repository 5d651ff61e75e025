/* One op of random shape with a kernel that really computes, in the order of the runtime's
 * reference kernels or by blocks, so that the effect of an overlap on its results can be seen.
 *
 * The arithmetic is none of the operator's: every byte that a step reads is mixed into its writes,
 * so that a byte written over too early shows. Written from the definitions of the operators, apart
 * from the checker's loops and from the formulas of distances. */
#ifndef SUPPORT_NAIVE_KERNELS_H
#define SUPPORT_NAIVE_KERNELS_H

#include <arenaut/kernels.h>

#include "support/random.h"

enum {
    SAMPLE_ARGUMENTS = 5,
    SAMPLE_RANK = 5,
    SAMPLE_VALUES = 10,
    SAMPLE_ATTRIBUTES = 6,
};

typedef struct sample_tensor {
    arenaut_dtype dtype;
    uint32_t rank;
    int64_t dims[SAMPLE_RANK];
    uint32_t n_values; /* it is a constant: the kernel reads its values from here */
    int64_t values[SAMPLE_VALUES];
} sample_tensor;

typedef struct sample_attribute {
    const char *name, *text;
    uint32_t n;
    int64_t numbers[2];
} sample_attribute;

/* Where the arguments lie while a kernel runs. */
typedef struct sample_memory {
    uint8_t *in[SAMPLE_ARGUMENTS], *out[SAMPLE_ARGUMENTS];
    bool copies_backwards; /* as memcpy: in any order */
    bool blocks_by_image;  /* blocks of pixels begin anew with each image */
} sample_memory;

typedef struct sample {
    const char *op;
    void (*run)(const struct sample *sample, const sample_memory *memory);
    uint32_t n_in, n_out, n_attributes;
    sample_tensor in[SAMPLE_ARGUMENTS], out[SAMPLE_ARGUMENTS];
    sample_attribute attributes[SAMPLE_ATTRIBUTES];
    arenaut_kernel_order order;
    uint32_t block;
    /* Of windows: taps, strides, dilations, padding before, of rows and of columns. */
    int64_t taps[2], stride[2], dilation[2], before[2];
    int64_t axis;
} sample;

uint64_t sample_bytes(const sample_tensor *tensor);

/* The kinds of samples; each makes one of random shape, by `raster`. */
typedef struct sample_kind {
    const char *name;
    void (*make)(rng *r, sample *s);
    uint32_t orders; /* bit k: it runs in arenaut_kernel_order k, besides raster */
} sample_kind;
extern const sample_kind sample_kinds[]; /* ends with name == NULL */
const sample_kind *sample_kind_named(const char *name);

/* The sample as a program of one op: its inputs that are not constants come first. */
arenaut_program *sample_program(const sample *sample);

/* Whether output `output` of an op may overlap its input `input`, and from which distance on. */
bool kernel_distance(const arenaut_program *program, const arenaut_op *op,
                     const arenaut_kernel_rule *rule, uint32_t output, uint32_t input,
                     int64_t *distance);

#endif
