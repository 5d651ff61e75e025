/* Names of operators, and the few with other effects on memory than "reads its inputs, writes its
 * outputs". */
#include <string.h>

#include "formats/tflite/tflite_schema.h"
#include "formats/tflite/tflite.h"

/* By number, as the schema's enum BuiltinOperator has them. */
static const char *const names[] = {
#define TFLITE(name, number, family, purity, cost, window, tiling, overlap, in_place, resolver) \
    [number] = (name),
#include "ops/ops.def"
};

const char *arn_tflite_operator_name(int32_t builtin) {
    return builtin >= 0 && (size_t)builtin < sizeof names / sizeof *names ? names[builtin] : NULL;
}

bool arn_tflite_is_operator_name(const char *name) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

/* The numbers of the options' types are positions in the schema's two unions. */
#define OPTIONS OPERATOR_OPTIONS_TYPE
#define OPTIONS_2 OPERATOR_OPTIONS_2_TYPE
static const arn_tflite_operator specials[] = {
    {BUILTIN_IF, ARENAUT_OP_IF, OPTIONS, 92, 2, {0, 1}, false},
    {BUILTIN_WHILE, ARENAUT_OP_WHILE, OPTIONS, 93, 2, {0, 1}, false},
    {BUILTIN_CALL_ONCE, ARENAUT_OP_CALL_ONCE, OPTIONS, 103, 1, {0, 0}, false},
    {BUILTIN_CALL, ARENAUT_OP_CALL, OPTIONS, 16, 1, {0, 0}, false},
    {BUILTIN_DELEGATE, ARENAUT_OP_DELEGATE, 0, 0, 0, {0, 0}, false},
    {BUILTIN_STABLEHLO_WHILE, ARENAUT_OP_WHILE, OPTIONS_2, 15, 2, {0, 1}, false},
    {BUILTIN_STABLEHLO_COMPOSITE, ARENAUT_OP_CALL, OPTIONS_2, 21, 1, {1, 0}, false},
    {BUILTIN_STABLEHLO_REDUCE, ARENAUT_OP_OUT, OPTIONS_2, 6, 1, {1, 0}, true},
    {BUILTIN_STABLEHLO_SCATTER, ARENAUT_OP_OUT, OPTIONS_2, 7, 1, {6, 0}, true},
    {BUILTIN_STABLEHLO_REDUCE_WINDOW, ARENAUT_OP_OUT, OPTIONS_2, 13, 1, {5, 0}, true},
    {BUILTIN_STABLEHLO_SORT, ARENAUT_OP_OUT, OPTIONS_2, 14, 1, {2, 0}, true},
};

const arn_tflite_operator *arn_tflite_special_operator(int32_t builtin) {
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        if (specials[i].builtin == builtin) return &specials[i];
    }
    return NULL;
}
