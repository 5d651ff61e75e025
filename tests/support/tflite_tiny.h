/* A .tflite file small enough to spoil byte by byte, with the place of every number that a
 * test may want to overwrite:
 *
 *     subgraph 0 "main":  b = RELU(a)      CALL_ONCE 1       a, b: "a", "b" [4, 8] float32
 *     subgraph 1 "init":  d = RELU(c)                        c, d: [2] int8, c constant
 *     metadata:           OfflineMemoryAllocation: a at 0, b at 128, c at 0, d at -1
 */
#ifndef SUPPORT_TFLITE_TINY_H
#define SUPPORT_TFLITE_TINY_H

#include "support/flatfile.h"

typedef struct tflite_tiny {
    flatfile *file;
    size_t model, version;
    size_t subgraphs, buffers, operators;       /* first elements; operators of subgraph 0 */
    size_t code, relu_code, call_code;          /* RELU's table, and the builtin numbers */
    size_t tensor_a, type_a, shape_a, buffer_c; /* a's table and numbers; c's buffer */
    size_t tensor_d;
    size_t relu, relu_opcode, relu_inputs, relu_outputs;
    size_t call_options_type, call_subgraph;
    size_t inputs, outputs; /* of subgraph 0 */
    size_t constant;        /* the Buffer table of c */
    size_t plan, plan_data; /* the Metadata table, and the bytes: head, then 4 offsets */
} tflite_tiny;

tflite_tiny new_tflite_tiny(void);

#endif
