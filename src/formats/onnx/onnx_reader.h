/* The state that the parts of the .onnx reader share: onnx_read.c walks the model and its graphs,
 * onnx_types.c takes types and tensors, onnx_attributes.c attributes, onnx_nodes.c nodes,
 * onnx_functions.c binds a function's body to the node that calls it and finds captured values of
 * subgraphs, and onnx_reader.c has their common functions.
 *
 * Functions that call functions can make a small file stand for a huge program. All that is
 * made is therefore charged against an allowance (core/allowance.h). */
#ifndef ARN_FORMATS_ONNX_ONNX_READER_H
#define ARN_FORMATS_ONNX_ONNX_READER_H

#include <arenaut/expr.h>

#include "core/allowance.h"
#include "core/memory.h"
#include "core/name_tree.h"
#include "core/protobuf.h"
#include "formats/onnx/onnx.h"

enum {
    ARN_ONNX_DEPTH = 60,        /* graphs within graphs and functions within functions; replay
                                 * follows 64 calls */
    ARN_ONNX_MAX_VALUES = 1024, /* elements of a constant that shapes may depend on */
    ARN_ONNX_NAME_LIMIT = 4096, /* longer names are cut */
};

/* The target of references by attributes of a function's body: the node that calls the function. */
typedef struct arn_onnx_call {
    arn_pb_bytes node, function;
    const struct arn_onnx_call *outer; /* the call whose function that node lies in */
    uint32_t depth;
    const char *prefix; /* of the names in the body; "" outside of functions */
} arn_onnx_call;

/* The values that the nodes of one graph or function body can name. */
typedef struct arn_onnx_scope {
    arn_name_tree names;                /* of tensors; ARENAUT_NONE: an argument left out */
    const struct arn_onnx_scope *outer; /* of the graph around it; NULL: none */
    const arn_onnx_call *call;
} arn_onnx_scope;

/* A graph that will be read as a method. */
typedef struct arn_onnx_pending {
    arn_pb_bytes graph;
    const arn_onnx_scope *scope; /* of the node that calls it; NULL: the main graph */
    uint32_t outer, depth;       /* the method of that node */
    /* Arguments that come first in the file and last in the method: a program's loops begin with
     * carried values, ONNX's with the number of the turn and the condition. */
    uint32_t rotate_inputs, rotate_outputs;
    uint32_t n_inputs, n_outputs; /* as the node was found to give and take */
} arn_onnx_pending;

typedef struct arn_onnx {
    const uint8_t *data;
    size_t size;
    const arenaut_read_options *options;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arenaut_program *program;
    arn_region region; /* scopes and names, gone when the program is read */
    arn_allowance allowance;
    arn_pb_bytes graph;
    arn_name_tree functions; /* "domain:name:overload" to an index below */
    arn_pb_bytes *function;
    uint32_t n_functions, function_capacity;
    arn_onnx_pending *pending; /* by method; the ones before `method` have been read */
    uint32_t n_pending, pending_capacity;
    uint32_t method, depth; /* at work */
    uint32_t node;          /* likewise, counted within its graph, for messages */
    uint32_t *made_by;      /* per tensor: 1 + the op that makes it; 0: it is there before any */
    uint32_t made_by_capacity;
    /* Work space. */
    arn_id_list inputs, outputs;
    int64_t *numbers;
    uint32_t n_numbers, number_capacity;
    int64_t *values;
    arenaut_attribute *attributes;
    uint32_t n_attributes, attribute_capacity;
} arn_onnx;

enum { ARN_ONNX_NOT_MADE = UINT32_MAX }; /* in made_by: its op comes later */

/* TOO_LARGE or BAD_INPUT when the allowance is spent. */
arenaut_status arn_onnx_charge(arn_onnx *r, uint64_t count, uint64_t cost);

static inline arn_name arn_onnx_name(const arn_onnx *r, arn_pb_bytes bytes) {
    const arn_name name = {r->data + bytes.at, bytes.size};
    return name;
}

/* For "%.*s": at most so much of a name as a message can hold. */
#define ARN_ONNX_TEXT(r, bytes) \
    ((bytes).size < 80 ? (int)(bytes).size : 80), (const char *)(r)->data + (bytes).at

static inline bool arn_onnx_is(const arn_onnx *r, arn_pb_bytes bytes, const char *text) {
    size_t i = 0;
    while (i < bytes.size && text[i] && r->data[bytes.at + i] == (uint8_t)text[i]) i++;
    return i == bytes.size && !text[i];
}

/* A copy that lives as long as the program, cut to ARN_ONNX_NAME_LIMIT; NULL if there is no
 * memory. `prefix` comes before it. */
const char *arn_onnx_copy_name(arn_onnx *r, const char *prefix, arn_pb_bytes bytes);

/* The tensor that a name stands for; BAD_INPUT if nothing has that name. */
arenaut_status arn_onnx_find(arn_onnx *r, const arn_onnx_scope *scope, arn_pb_bytes name,
                             uint32_t *tensor);
/* Adds a tensor to the program under that name; BAD_INPUT if the scope has it already. */
arenaut_status arn_onnx_define(arn_onnx *r, arn_onnx_scope *scope, arn_pb_bytes name,
                               const arenaut_tensor *tensor, uint32_t made_by, uint32_t *id);
/* Adds a value that an op makes and that has no name. */
arenaut_status arn_onnx_define_nameless(arn_onnx *r, uint32_t *id);
arenaut_status arn_onnx_push(arn_onnx *r, arn_id_list *list, uint32_t id);
/* To r->numbers. */
arenaut_status arn_onnx_push_number(arn_onnx *r, int64_t number);
/* A float, as values are kept: the bits of a double. */
int64_t arn_onnx_widen(uint32_t bits);
/* Rotates the first ones to the end; `by` is at most n, and at most 2. */
void arn_onnx_rotate(uint32_t *ids, uint32_t n, uint32_t by);
/* The number of fields of this number in a message. */
uint32_t arn_onnx_count(const arn_onnx *r, arn_pb_bytes bytes, uint32_t number);

/* ---- onnx_types.c ---- */

/* The header of a TensorProto, and its values if they are few. Takes no more memory than
 * ARN_ONNX_MAX_VALUES numbers, and looks at none of a large tensor's bytes. */
typedef struct arn_onnx_constant {
    arn_pb_bytes name;
    arenaut_tensor tensor; /* dims and values are good until the next call */
} arn_onnx_constant;

arenaut_status arn_onnx_take_constant(arn_onnx *r, arn_pb_bytes bytes, bool sparse,
                                      arn_onnx_constant *out);
/* Gives a tensor of the program the type that a ValueInfoProto states. Sizes without a name
 * get one if the tensor is an `input`: "NAME.AXIS". */
arenaut_status arn_onnx_take_type(arn_onnx *r, arn_pb_bytes type, uint32_t tensor, bool input);
/* The type for a number of onnx.proto; false if it is unknown. */
bool arn_onnx_dtype(uint64_t number, arenaut_dtype *dtype);

/* The name and the type of a ValueInfoProto. */
arenaut_status arn_onnx_take_value_info(arn_onnx *r, arn_pb_bytes bytes, arn_pb_bytes *name,
                                        arn_pb_bytes *type);
/* Types of the values of a graph or body. */
arenaut_status arn_onnx_take_types(arn_onnx *r, arn_pb_bytes body, uint32_t field,
                                   const arn_onnx_scope *scope);

/* ---- onnx_attributes.c ---- */

/* One attribute, with references to attributes of a function's call followed. */
typedef struct arn_onnx_attribute {
    arn_pb_bytes name;
    arn_pb_bytes value;        /* the AttributeProto that says it */
    const arn_onnx_call *call; /* the target of references in its subgraphs */
} arn_onnx_attribute;

/* False at the end, or if the node is not well formed. References to attributes that the call lacks
 * are passed over. */
bool arn_onnx_next_attribute(const arn_onnx *r, arn_pb *node, const arn_onnx_call *call,
                             arn_onnx_attribute *attribute);
/* Fills r->attributes with the numbers and words in a node's attributes. */
arenaut_status arn_onnx_take_attributes(arn_onnx *r, arn_pb_bytes node, const arn_onnx_call *call);
/* The subgraph or tensor that the node's attribute of this name holds; at == 0: none. */
arn_pb_bytes arn_onnx_part(const arn_onnx *r, arn_pb_bytes node, const arn_onnx_call *call,
                           const char *name, uint32_t field);

/* ---- onnx_nodes.c ---- */

/* Adds tensors for all that the nodes of a graph or body make. */
arenaut_status arn_onnx_define_outputs(arn_onnx *r, arn_pb_bytes body, uint32_t node_field,
                                       arn_onnx_scope *scope);
/* Adds ops for them. */
arenaut_status arn_onnx_read_nodes(arn_onnx *r, arn_pb_bytes body, uint32_t node_field,
                                   arn_onnx_scope *scope);
/* The content of a node without its attributes. */
typedef struct arn_onnx_node {
    arn_pb_bytes bytes, name, op_type, domain, overload;
} arn_onnx_node;

/* ---- onnx_functions.c ---- */

arenaut_status arn_onnx_add_function(arn_onnx *r, arn_pb_bytes function);
/* The function that a node calls; false if it calls none. */
bool arn_onnx_called_function(const arn_onnx *r, const arn_onnx_node *node, arn_pb_bytes *function);
/* A function's body where a node calls it: a scope in which the function's arguments are the
 * caller's values. */
typedef struct arn_onnx_body {
    arn_onnx_scope *scope;
    uint32_t *results, n_results; /* of the body, for the caller */
} arn_onnx_body;
/* r->inputs and r->outputs are the node's. */
arenaut_status arn_onnx_enter_function(arn_onnx *r, const arn_onnx_node *node,
                                       arn_pb_bytes function, const arn_onnx_scope *scope,
                                       arn_onnx_body *out);
/* BAD_INPUT unless the body, which has been read, made all of its results. */
arenaut_status arn_onnx_check_results(const arn_onnx *r, const arn_onnx_node *node,
                                      const arn_onnx_body *body);

/* Lists the captures of subgraphs among the inputs of the ops that call them. */
arenaut_status arn_onnx_list_captures(arn_onnx *r);

#endif
