/* Functions of the ONNX format for its row in the table. */
#ifndef ARN_FORMATS_ONNX_ONNX_H
#define ARN_FORMATS_ONNX_ONNX_H

#include <arenaut/format.h>

#include "core/protobuf.h"
#include "formats/fresh_names.h"

arenaut_status arn_onnx_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                             const arenaut_allocator *allocator, arenaut_program **out,
                             arenaut_error *err);
/* The graph of each method in the file; to be released. */
arenaut_status arn_onnx_list_graphs(const uint8_t *data, size_t size,
                                    const arenaut_allocator *allocator, arn_pb_bytes **graphs,
                                    uint32_t *n, arenaut_error *err);
/* Takes all names of a graph, so that fresh ones are others. False: no memory. */
bool arn_onnx_take_names(arn_fresh_names *fresh, const uint8_t *data, arn_pb_bytes graph);
/* Writes the model with its nodes in another schedule, the part of a result that it can hold. */
arenaut_status arn_onnx_write(const arenaut_result *result, arenaut_sink sink,
                              const arenaut_allocator *allocator, arenaut_error *err);
/* The same with tiles of nodes. */
arenaut_status arn_onnx_write_tiles(const arenaut_result *result, arn_pb_bytes graph,
                                    arenaut_sink sink, const arenaut_allocator *allocator,
                                    arenaut_error *err);

/* As the column list_external of the table. */
void arn_onnx_list_external(const uint8_t *data, size_t size, arenaut_external_fn *each,
                            void *context);

#endif
