/* Which ops the resolver of the micro runtime must know, for firmware that adds no more than it
 * needs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "report/c_names.h"
#include "report/header_report.h"

typedef struct resolver_row {
    const char *op, *adds;
} resolver_row;

/* What MicroMutableOpResolver of tflite-micro 90b983c2 can add, custom ops of its own included. */
static const resolver_row rows[] = {
    {"ABS", "AddAbs"},
    {"ADD", "AddAdd"},
    {"ADD_N", "AddAddN"},
    {"ARG_MAX", "AddArgMax"},
    {"ARG_MIN", "AddArgMin"},
    {"ASSIGN_VARIABLE", "AddAssignVariable"},
    {"AVERAGE_POOL_2D", "AddAveragePool2D"},
    {"BATCH_MATMUL", "AddBatchMatMul"},
    {"BATCH_TO_SPACE_ND", "AddBatchToSpaceNd"},
    {"BROADCAST_ARGS", "AddBroadcastArgs"},
    {"BROADCAST_TO", "AddBroadcastTo"},
    {"CALL_ONCE", "AddCallOnce"},
    {"CAST", "AddCast"},
    {"CEIL", "AddCeil"},
    {"CIRCULAR_BUFFER", "AddCircularBuffer"},
    {"CONCATENATION", "AddConcatenation"},
    {"CONV_2D", "AddConv2D"},
    {"COS", "AddCos"},
    {"CUMSUM", "AddCumSum"},
    {"DEPTHWISE_CONV_2D", "AddDepthwiseConv2D"},
    {"DEPTH_TO_SPACE", "AddDepthToSpace"},
    {"DEQUANTIZE", "AddDequantize"},
    {"DIV", "AddDiv"},
    {"DYNAMIC_UPDATE_SLICE", "AddDynamicUpdateSlice"},
    {"ELU", "AddElu"},
    {"EMBEDDING_LOOKUP", "AddEmbeddingLookup"},
    {"EQUAL", "AddEqual"},
    {"EXP", "AddExp"},
    {"EXPAND_DIMS", "AddExpandDims"},
    {"FILL", "AddFill"},
    {"FLOOR", "AddFloor"},
    {"FLOOR_DIV", "AddFloorDiv"},
    {"FLOOR_MOD", "AddFloorMod"},
    {"FULLY_CONNECTED", "AddFullyConnected"},
    {"GATHER", "AddGather"},
    {"GATHER_ND", "AddGatherNd"},
    {"GREATER", "AddGreater"},
    {"GREATER_EQUAL", "AddGreaterEqual"},
    {"HARD_SWISH", "AddHardSwish"},
    {"IF", "AddIf"},
    {"L2_NORMALIZATION", "AddL2Normalization"},
    {"L2_POOL_2D", "AddL2Pool2D"},
    {"LEAKY_RELU", "AddLeakyRelu"},
    {"LESS", "AddLess"},
    {"LESS_EQUAL", "AddLessEqual"},
    {"LOG", "AddLog"},
    {"LOGICAL_AND", "AddLogicalAnd"},
    {"LOGICAL_NOT", "AddLogicalNot"},
    {"LOGICAL_OR", "AddLogicalOr"},
    {"LOGISTIC", "AddLogistic"},
    {"LOG_SOFTMAX", "AddLogSoftmax"},
    {"MAXIMUM", "AddMaximum"},
    {"MAX_POOL_2D", "AddMaxPool2D"},
    {"MEAN", "AddMean"},
    {"MINIMUM", "AddMinimum"},
    {"MIRROR_PAD", "AddMirrorPad"},
    {"MUL", "AddMul"},
    {"NEG", "AddNeg"},
    {"NOT_EQUAL", "AddNotEqual"},
    {"PACK", "AddPack"},
    {"PAD", "AddPad"},
    {"PADV2", "AddPadV2"},
    {"PRELU", "AddPrelu"},
    {"QUANTIZE", "AddQuantize"},
    {"READ_VARIABLE", "AddReadVariable"},
    {"REDUCE_ALL", "AddReduceAll"},
    {"REDUCE_MAX", "AddReduceMax"},
    {"REDUCE_MIN", "AddReduceMin"},
    {"RELU", "AddRelu"},
    {"RELU6", "AddRelu6"},
    {"RESHAPE", "AddReshape"},
    {"RESIZE_BILINEAR", "AddResizeBilinear"},
    {"RESIZE_NEAREST_NEIGHBOR", "AddResizeNearestNeighbor"},
    {"REVERSE_V2", "AddReverseV2"},
    {"ROUND", "AddRound"},
    {"RSQRT", "AddRsqrt"},
    {"SELECT_V2", "AddSelectV2"},
    {"SHAPE", "AddShape"},
    {"SIN", "AddSin"},
    {"SLICE", "AddSlice"},
    {"SOFTMAX", "AddSoftmax"},
    {"SPACE_TO_BATCH_ND", "AddSpaceToBatchNd"},
    {"SPACE_TO_DEPTH", "AddSpaceToDepth"},
    {"SPLIT", "AddSplit"},
    {"SPLIT_V", "AddSplitV"},
    {"SQRT", "AddSqrt"},
    {"SQUARE", "AddSquare"},
    {"SQUARED_DIFFERENCE", "AddSquaredDifference"},
    {"SQUEEZE", "AddSqueeze"},
    {"STRIDED_SLICE", "AddStridedSlice"},
    {"SUB", "AddSub"},
    {"SUM", "AddSum"},
    {"SVDF", "AddSvdf"},
    {"SignalDelay", "AddDelay"},
    {"SignalEnergy", "AddEnergy"},
    {"SignalFftAutoScale", "AddFftAutoScale"},
    {"SignalFilterBank", "AddFilterBank"},
    {"SignalFilterBankLog", "AddFilterBankLog"},
    {"SignalFilterBankSpectralSubtraction", "AddFilterBankSpectralSubtraction"},
    {"SignalFilterBankSquareRoot", "AddFilterBankSquareRoot"},
    {"SignalFramer", "AddFramer"},
    {"SignalIrfft", "AddIrfft"},
    {"SignalOverlapAdd", "AddOverlapAdd"},
    {"SignalPCAN", "AddPCAN"},
    {"SignalRfft", "AddRfft"},
    {"SignalStacker", "AddStacker"},
    {"SignalWindow", "AddWindow"},
    {"TANH", "AddTanh"},
    {"TFLM_DECODE", "AddDecode"},
    {"TFLite_Detection_PostProcess", "AddDetectionPostprocess"},
    {"TRANSPOSE", "AddTranspose"},
    {"TRANSPOSE_CONV", "AddTransposeConv"},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", "AddUnidirectionalSequenceLSTM"},
    {"UNPACK", "AddUnpack"},
    {"VAR_HANDLE", "AddVarHandle"},
    {"WHILE", "AddWhile"},
    {"ZEROS_LIKE", "AddZerosLike"},
    {"ethos-u", "AddEthosU"},
};

static const char *adder_of(const char *op) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].op, op) == 0) return rows[i].adds;
    }
    return NULL;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The kinds of ops of the program, each once, in the order of their names. */
static uint32_t find_kinds(const arenaut_program *program, const char **kinds) {
    uint32_t n = 0, distinct = 0;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        if (program->ops[i].name) kinds[n++] = program->ops[i].name;
    }
    if (n > 0) qsort(kinds, n, sizeof *kinds, compare_texts);
    for (uint32_t i = 0; i < n; i++) {
        if (distinct == 0 || strcmp(kinds[i], kinds[distinct - 1]) != 0) {
            kinds[distinct++] = kinds[i];
        }
    }
    return distinct;
}

static void put_kinds(arn_writer *out, const char *const *kinds, uint32_t n, const char *upper) {
    uint32_t n_others = 0;
    arn_putf(out, "\n/* Room that the op resolver needs, and what adds each op to it. */\n");
    arn_putf(out, "#define %s_OP_KINDS %" PRIu32 "u\n#define %s_RESOLVER_OPS(OP)", upper, n, upper);
    for (uint32_t i = 0; i < n; i++) {
        const char *adds = adder_of(kinds[i]);
        if (adds) arn_putf(out, " \\\n    OP(%s)", adds);
        n_others += !adds;
    }
    arn_puts(out, "\n");
    if (n_others == 0) return;
    arn_puts(out, "/* Ops that it can only add as custom ones:");
    for (uint32_t i = 0; i < n; i++) {
        if (adder_of(kinds[i])) continue;
        arn_puts(out, " ");
        arn_put_c_comment(out, kinds[i]);
    }
    arn_puts(out, ". */\n");
}

arenaut_status arn_report_put_resolver(arn_writer *out, const arenaut_program *program,
                                       const char *upper, const arenaut_allocator *allocator,
                                       arenaut_error *err) {
    const char **kinds = arn_allocate(allocator, program->n_ops, sizeof *kinds);
    if (!kinds) return arn_no_memory(err);
    put_kinds(out, kinds, find_kinds(program, kinds), upper);
    arn_release(allocator, (void *)kinds);
    return ARENAUT_OK;
}
