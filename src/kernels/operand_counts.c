/* As many operands and results as kernels of tflite-micro want of each op, which they do without,
 * and types of the further ones. A kernel that is handed others refuses the model, or reads through
 * a null pointer. Each row was compared with the wheel, with models that lack one operand or the
 * last ones, or have one more (tests/pytest/test_runnable.py); where no such model could be built,
 * its source was read. */
#include <string.h>

#include <arenaut/kernels.h>

#include "kernels/op_facts.h"
#include "kernels/operand_counts.h"

#define BIT(k) (UINT32_C(1) << (k))
#define MANY UINT32_MAX

enum {
    /* Of an LSTM: */
    PEEPHOLES = BIT(9) | BIT(10) | BIT(11),
    PROJECTION = BIT(16) | BIT(17),
    NORMALIZATION = BIT(20) | BIT(21) | BIT(22) | BIT(23),
};

typedef struct counts {
    const char *op;
    uint32_t least, most; /* operands */
    uint32_t results;
    uint32_t optional; /* bit k: operand k may be left out */
    uint32_t absent;   /* it has to be */
    const char *count; /* the attribute that kernels take for the count that may be MANY */
} counts;

static const counts table[] = {
    {"ABS", 1, 1, 1, 0, 0, NULL},
    {"ADD", 2, 2, 1, 0, 0, NULL},
    {"ADD_N", 2, MANY, 1, 0, 0, NULL},
    {"ARG_MAX", 2, 2, 1, 0, 0, NULL},
    {"ARG_MIN", 2, 2, 1, 0, 0, NULL},
    {"ASSIGN_VARIABLE", 2, 2, 0, 0, 0, NULL},
    {"AVERAGE_POOL_2D", 1, 1, 1, 0, 0, NULL},
    {"BATCH_MATMUL", 2, 2, 1, 0, 0, NULL},
    {"BATCH_TO_SPACE_ND", 3, 3, 1, 0, 0, NULL},
    {"BROADCAST_ARGS", 2, 2, 1, 0, 0, NULL},
    {"BROADCAST_TO", 2, 2, 1, 0, 0, NULL},
    {"CALL_ONCE", 0, 0, 0, 0, 0, NULL},
    {"CAST", 1, 1, 1, 0, 0, NULL},
    {"CEIL", 1, 1, 1, 0, 0, NULL},
    {"CONCATENATION", 1, MANY, 1, 0, 0, NULL},
    {"CONV_2D", 2, 3, 1, BIT(2), 0, NULL},
    {"COS", 1, 1, 1, 0, 0, NULL},
    {"CUMSUM", 2, 2, 1, 0, 0, NULL},
    {"DEPTHWISE_CONV_2D", 2, 3, 1, 0, 0, NULL},
    {"DEPTH_TO_SPACE", 1, 1, 1, 0, 0, NULL},
    {"DEQUANTIZE", 1, 1, 1, 0, 0, NULL},
    {"DIV", 2, 2, 1, 0, 0, NULL},
    {"DYNAMIC_UPDATE_SLICE", 3, 3, 1, 0, 0, NULL},
    {"ELU", 1, 1, 1, 0, 0, NULL},
    {"EMBEDDING_LOOKUP", 2, 2, 1, 0, 0, NULL},
    {"EQUAL", 2, 2, 1, 0, 0, NULL},
    {"EXP", 1, 1, 1, 0, 0, NULL},
    {"EXPAND_DIMS", 2, 2, 1, 0, 0, NULL},
    {"FILL", 2, 2, 1, 0, 0, NULL},
    {"FLOOR", 1, 1, 1, 0, 0, NULL},
    {"FLOOR_DIV", 2, 2, 1, 0, 0, NULL},
    {"FLOOR_MOD", 2, 2, 1, 0, 0, NULL},
    {"FULLY_CONNECTED", 2, 3, 1, BIT(2), 0, NULL},
    {"GATHER", 2, 2, 1, 0, 0, NULL},
    {"GATHER_ND", 2, 2, 1, 0, 0, NULL},
    {"GREATER", 2, 2, 1, 0, 0, NULL},
    {"GREATER_EQUAL", 2, 2, 1, 0, 0, NULL},
    {"HARD_SWISH", 1, 1, 1, 0, 0, NULL},
    {"IF", 1, MANY, MANY, 0, 0, NULL},
    {"L2_NORMALIZATION", 1, 1, 1, 0, 0, NULL},
    {"L2_POOL_2D", 1, 1, 1, 0, 0, NULL},
    {"LEAKY_RELU", 1, 1, 1, 0, 0, NULL},
    {"LESS", 2, 2, 1, 0, 0, NULL},
    {"LESS_EQUAL", 2, 2, 1, 0, 0, NULL},
    {"LOG", 1, 1, 1, 0, 0, NULL},
    {"LOGICAL_AND", 2, 2, 1, 0, 0, NULL},
    {"LOGICAL_NOT", 1, 1, 1, 0, 0, NULL},
    {"LOGICAL_OR", 2, 2, 1, 0, 0, NULL},
    {"LOGISTIC", 1, 1, 1, 0, 0, NULL},
    {"LOG_SOFTMAX", 1, 1, 1, 0, 0, NULL},
    {"MAXIMUM", 2, 2, 1, 0, 0, NULL},
    {"MAX_POOL_2D", 1, 1, 1, 0, 0, NULL},
    {"MEAN", 2, 2, 1, 0, 0, NULL},
    {"MINIMUM", 2, 2, 1, 0, 0, NULL},
    {"MIRROR_PAD", 2, 2, 1, 0, 0, NULL},
    {"MUL", 2, 2, 1, 0, 0, NULL},
    {"NEG", 1, 1, 1, 0, 0, NULL},
    {"NOT_EQUAL", 2, 2, 1, 0, 0, NULL},
    {"PACK", 1, MANY, 1, 0, 0, "values_count"},
    {"PAD", 2, 2, 1, 0, 0, NULL},
    {"PADV2", 2, 3, 1, BIT(2), 0, NULL},
    {"PRELU", 2, 2, 1, 0, 0, NULL},
    {"QUANTIZE", 1, 1, 1, 0, 0, NULL},
    {"READ_VARIABLE", 1, 1, 1, 0, 0, NULL},
    {"REDUCE_ALL", 2, 2, 1, 0, 0, NULL},
    {"REDUCE_MAX", 2, 2, 1, 0, 0, NULL},
    {"REDUCE_MIN", 2, 2, 1, 0, 0, NULL},
    {"RELU", 1, 1, 1, 0, 0, NULL},
    {"RELU6", 1, 1, 1, 0, 0, NULL},
    {"RESHAPE", 1, 2, 1, BIT(1), 0, NULL},
    {"RESIZE_BILINEAR", 2, 2, 1, 0, 0, NULL},
    {"RESIZE_NEAREST_NEIGHBOR", 2, 2, 1, 0, 0, NULL},
    {"REVERSE_V2", 2, 2, 1, 0, 0, NULL},
    {"ROUND", 1, 1, 1, 0, 0, NULL},
    {"RSQRT", 1, 1, 1, 0, 0, NULL},
    {"SELECT_V2", 3, 3, 1, 0, 0, NULL},
    {"SHAPE", 1, 1, 1, 0, 0, NULL},
    {"SIN", 1, 1, 1, 0, 0, NULL},
    {"SLICE", 3, 3, 1, 0, 0, NULL},
    {"SOFTMAX", 1, 1, 1, 0, 0, NULL},
    {"SPACE_TO_BATCH_ND", 3, 3, 1, 0, 0, NULL},
    {"SPACE_TO_DEPTH", 1, 1, 1, 0, 0, NULL},
    {"SPLIT", 2, 2, MANY, 0, 0, NULL},
    {"SPLIT_V", 3, 3, MANY, 0, 0, NULL},
    {"SQRT", 1, 1, 1, 0, 0, NULL},
    {"SQUARE", 1, 1, 1, 0, 0, NULL},
    {"SQUARED_DIFFERENCE", 2, 2, 1, 0, 0, NULL},
    {"SQUEEZE", 1, 1, 1, 0, 0, NULL},
    {"STRIDED_SLICE", 4, 4, 1, 0, 0, NULL},
    {"SUB", 2, 2, 1, 0, 0, NULL},
    {"SUM", 2, 2, 1, 0, 0, NULL},
    {"SVDF", 5, 5, 1, 0, 0, NULL},
    {"SignalDelay", 1, 1, 1, 0, 0, NULL},
    {"SignalEnergy", 1, 1, 1, 0, 0, NULL},
    {"SignalFftAutoScale", 1, 1, 2, 0, 0, NULL},
    {"SignalFilterBank", 6, 6, 1, 0, 0, NULL},
    {"SignalFilterBankLog", 1, 1, 1, 0, 0, NULL},
    {"SignalFilterBankSpectralSubtraction", 1, 1, 2, 0, 0, NULL},
    {"SignalFilterBankSquareRoot", 2, 2, 1, 0, 0, NULL},
    {"SignalFramer", 1, 1, 2, 0, 0, NULL},
    {"SignalIrfft", 1, 1, 1, 0, 0, NULL},
    {"SignalOverlapAdd", 1, 1, 1, 0, 0, NULL},
    {"SignalPCAN", 3, 3, 1, 0, 0, NULL},
    {"SignalRfft", 1, 1, 1, 0, 0, NULL},
    {"SignalStacker", 1, 1, 2, 0, 0, NULL},
    {"SignalWindow", 2, 2, 1, 0, 0, NULL},
    {"TANH", 1, 1, 1, 0, 0, NULL},
    {"TFLite_Detection_PostProcess", 3, 3, 4, 0, 0, NULL},
    {"TRANSPOSE", 2, 2, 1, 0, 0, NULL},
    {"TRANSPOSE_CONV", 3, 4, 1, BIT(0) | BIT(3), 0, NULL},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 24, 24, 1, 0, PEEPHOLES | PROJECTION | NORMALIZATION, NULL},
    {"UNPACK", 1, 1, MANY, 0, 0, "num"},
    {"VAR_HANDLE", 0, 0, 1, 0, 0, NULL},
    {"WHILE", 0, MANY, MANY, 0, 0, NULL},
    {"ZEROS_LIKE", 1, 1, 1, 0, 0, NULL},
};

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)
#define ANY ARENAUT_TYPES_ANY

/* What kernels want of operands that type rules do not reach, where one has a given type. */
typedef struct wants {
    const char *op;
    uint32_t decider, types; /* an operand, and its types that the row is about */
    uint32_t first, last;    /* these operands are there, */
    uint32_t wanted;         /* and have one of these types */
} wants;

static const wants further[] = {
    {"STRIDED_SLICE", 0, ANY, 3, 3, TYPE(INT32)},
    {"SVDF", 0, TYPE(FLOAT32), 3, 4, TYPE(FLOAT32)},
    {"SVDF", 0, TYPE(INT8), 3, 3, TYPE(INT32)},
    {"SVDF", 0, TYPE(INT8), 4, 4, TYPE(INT8) | TYPE(INT16)},
    {"TRANSPOSE_CONV", 2, TYPE(INT16), 3, 3, ANY}, /* a library's kernel reads the bias */
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, TYPE(FLOAT32), 1, 8, TYPE(FLOAT32)},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, TYPE(FLOAT32), 12, 15, TYPE(FLOAT32)},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, TYPE(FLOAT32), 18, 19, TYPE(FLOAT32)},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, TYPE(INT8), 1, 8, TYPE(INT8)},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, TYPE(INT8), 12, 15, TYPE(INT32)},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, TYPE(INT8), 18, 18, TYPE(INT8)},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, TYPE(INT8), 19, 19, TYPE(INT16)},
};

static bool has_type(const arenaut_program *p, const arenaut_op *op, uint32_t k, uint32_t types) {
    const arenaut_tensor *tensor = arn_op_input(p, op, k);
    return tensor && (types >> tensor->dtype & 1);
}

static bool has_further_types(const arenaut_program *p, const arenaut_op *op) {
    for (size_t i = 0; i < sizeof further / sizeof further[0]; i++) {
        const wants *w = &further[i];
        if (strcmp(w->op, op->name) != 0 || !has_type(p, op, w->decider, w->types)) continue;
        for (uint32_t k = w->first; k <= w->last; k++) {
            if (!has_type(p, op, k, w->wanted)) return false;
        }
    }
    return true;
}

static const counts *counts_of(const char *name) {
    for (size_t i = 0; name && i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].op, name) == 0) return &table[i];
    }
    return NULL;
}

static bool is_left_out(const arenaut_op *op, uint32_t k) { return op->inputs[k] == ARENAUT_NONE; }

/* Kernels that do not count arguments believe the attribute. */
static bool is_count_stated(const counts *c, const arenaut_op *op) {
    int64_t stated;
    if (!c->count) return true;
    return arn_op_number(op, c->count, &stated) &&
           stated == (c->most == MANY ? op->n_inputs : op->n_outputs);
}

static bool has_all_it_reads(const counts *c, const arenaut_op *op) {
    if (op->n_inputs < c->least || op->n_inputs > c->most) return false;
    if (c->results != MANY && op->n_outputs != c->results) return false;
    if (!is_count_stated(c, op)) return false;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t bit = k < 32 ? BIT(k) : 0;
        if (is_left_out(op, k) ? !((c->optional | c->absent) & bit) : (c->absent & bit) != 0)
            return false;
    }
    return true;
}

bool arn_has_usual_operands(const arenaut_program *p, const arenaut_op *op) {
    const counts *c = counts_of(op->name);
    return !c || (has_all_it_reads(c, op) && has_further_types(p, op));
}
