/* Common parts of the reader and the writer of torch.export archives. pt2_read.c walks the graphs
 * and their nodes, pt2_arguments.c lists the tensors among their arguments, pt2_attributes.c reads
 * the other arguments, pt2_tensor.c types of values, pt2_signature.c their roles, pt2_srepr.c sizes
 * that vary; pt2_reader.c has their common functions.
 *
 * The writer: pt2_write.c puts the nodes of a rewritten program into the model, pt2_tiled.c its
 * tiles, pt2_edit.c has their common functions. */
#ifndef ARN_FORMATS_PT2_H
#define ARN_FORMATS_PT2_H

#include <arenaut/expr.h>
#include <arenaut/format.h>
#include <arenaut/rewrite.h>

#include "core/memory.h"
#include "core/name_tree.h"
#include "core/zip.h"
#include "formats/fresh_names.h"
#include "formats/json_patch.h"
#include "formats/json_reader.h"

/* The values that a graph names, for looking them up. */
typedef struct arn_pt2_scope {
    const char **names;
    uint32_t *tensors; /* per name */
    uint32_t *order;   /* by name */
    uint32_t n;
    uint32_t method;
} arn_pt2_scope;

typedef struct arn_pt2 {
    arn_json_reader json;
    arenaut_program *program;
    arn_region names;              /* of values */
    arn_id_list inputs, outputs;   /* of the present node, or of a graph */
    arn_id_list written;           /* operands of the present node, beside its results */
    arn_id_list named;             /* objects that name the tensors of an argument */
    arenaut_attribute *attributes; /* of the node at work */
    uint32_t n_attributes, attribute_capacity;
    uint32_t last_scalar;    /* the last op of the method at work that names a scalar; NONE: none */
    int64_t *dims, *strides; /* of the tensor at work */
    uint32_t *exprs, *stride_exprs, *order;
    uint32_t dim_capacity, stride_capacity, expr_capacity, stride_expr_capacity, order_capacity;
    char *text; /* of the expression at work */
    uint32_t text_capacity;
} arn_pt2;

static inline bool arn_pt2_fine(const arn_pt2 *r) { return arn_json_fine(&r->json); }

/* The member of an object; ARN_JSON_NONE if the object is not there, either. */
uint32_t arn_pt2_get(const arn_pt2 *r, uint32_t object, const char *name);
/* The same, failing if it is absent. */
uint32_t arn_pt2_need(arn_pt2 *r, uint32_t object, const char *name);
/* A string that lives until the reader ends; NULL on failure. */
const char *arn_pt2_text(arn_pt2 *r, uint32_t value);
/* The same of the name of a member. */
const char *arn_pt2_key(arn_pt2 *r, uint32_t value);
/* Both are false, and the status is set, where there is no memory. */
bool arn_pt2_grow(arn_pt2 *r, void **array, uint32_t *capacity, uint64_t needed, size_t size);
bool arn_pt2_push(arn_pt2 *r, arn_id_list *list, uint32_t id);

/* Ranges of the symbols. */
void arn_pt2_read_ranges(arn_pt2 *r, uint32_t constraints);

/* The names in tensor_values; none has a tensor yet. */
void arn_pt2_read_names(arn_pt2 *r, uint32_t values, arn_pt2_scope *scope);
/* The slot of the tensor with the name in `value`; fails, and gives NULL, if the graph has none of
 * that name. */
uint32_t *arn_pt2_place(arn_pt2 *r, const arn_pt2_scope *scope, uint32_t value);
/* Adds a tensor to the newest method for each name that has none. */
void arn_pt2_read_tensors(arn_pt2 *r, uint32_t values, arn_pt2_scope *scope);

/* Sets the roles of the inputs, and the inputs, outputs and bindings of method 0. */
void arn_pt2_read_signature(arn_pt2 *r, uint32_t signature, const arn_pt2_scope *scope);
/* A nested graph that is still to be read. */
typedef struct arn_pt2_pending {
    uint32_t graph;              /* {"name": …, "graph": …} */
    uint32_t outer;              /* the method whose op calls it */
    uint32_t n_own;              /* inputs that are handed over: copies; the others are captured */
    uint32_t first, n_arguments; /* arguments that the op hands over and lists, in the queue's */
} arn_pt2_pending;

/* Filled by nodes, in the order in which their graphs become methods. */
typedef struct arn_pt2_queue {
    arn_pt2_pending *list;
    uint32_t n, capacity;
    arn_id_list arguments;
} arn_pt2_queue;

/* Appends the objects that name the tensors of one argument of any kind. False if there is no
 * memory. */
bool arn_pt2_list_tensors(const arn_json *json, uint32_t arg, const arenaut_allocator *allocator,
                          arn_id_list *list);
/* Appends these tensors of the graph; fails if it has none of such a name. */
void arn_pt2_push_tensors(arn_pt2 *r, const arn_pt2_scope *scope, uint32_t arg, arn_id_list *list);

/* "aten::add.Tensor" of "torch.ops.aten.add.Tensor"; other targets as they are. It lives until the
 * reader ends; NULL on failure. */
const char *arn_pt2_operator_name(arn_pt2 *r, const char *target);
/* Gives the op, whose name and inputs are known, the arguments in `array` that are no tensors, as
 * far as anything depends on them. They last until the next node. */
void arn_pt2_read_attributes(arn_pt2 *r, uint32_t array, arenaut_op *op);

/* Whether a node reads or makes a scalar, as a size is, by its name. Such nodes keep their order
 * among themselves: the scalars, which are no tensors, are not followed. */
bool arn_pt2_names_scalar(const arn_json *json, uint32_t node);

/* Reads models/model.json. */
arenaut_status arn_pt2_read(const uint8_t *data, size_t size, const arenaut_allocator *allocator,
                            arenaut_program **out, arenaut_error *err);

/* Writes the archive with the nodes of its graphs, in the entry `model`, as a rewritten program has
 * them: in another order, and some of them again. `listed`: where the directory lists that entry.
 */
arenaut_status arn_pt2_write(const arn_zip *zip, const arn_zip_entry *model, size_t listed,
                             const arenaut_rewrite *rewrite, arenaut_sink sink,
                             const arenaut_allocator *allocator, arenaut_error *err);

/* Materializes the views of `graph`, whose nodes are the ops of `program`, that the rewrite copies,
 * and states the layout of their results in the graph. REFUSED if the graph states less than it
 * should. */
arenaut_status arn_pt2_put_copies(const arn_json *json, uint32_t graph,
                                  const arenaut_program *program, const arenaut_rewrite *rewrite,
                                  arn_region *region, arn_json_patch *patch, arenaut_error *err);

/* Writes the archive with another text of the model. Blanks make that as long as it was, or longer
 * by a multiple of alignments, so that weights stay aligned as they are. Blanks are appended to
 * `text`. */
arenaut_status arn_pt2_write_model(const arn_zip *zip, const arn_zip_entry *model, size_t listed,
                                   arenaut_text *text, arenaut_sink sink, arenaut_error *err);

/* Puts the tiles of a rewritten program into `graph`, the only one, whose nodes are the ops of
 * `program`. `texts` must last as long as the patch. REFUSED, with the op, if the file cannot state
 * it. */
arenaut_status arn_pt2_put_tiles(const arn_json *json, uint32_t graph,
                                 const arenaut_program *program, const arenaut_rewrite *rewrite,
                                 arn_json_patch *patch, arenaut_text texts[2],
                                 const arenaut_allocator *allocator, arenaut_error *err);

/* Looks at all texts of the model. `mark`: as in fresh_names.h. False if there is no memory; so
 * below. */
bool arn_pt2_fresh_begin(const arn_json *json, const char *mark, const arenaut_allocator *allocator,
                         arn_region *region, arn_fresh_names *fresh);
/* As arn_fresh_names_make. */
bool arn_pt2_fresh_name(arn_fresh_names *fresh, const char *base, uint32_t *number,
                        const char **name);

/* Gives buffers a fingerprint of their first values, from the sums in the archive's directory: the
 * weights themselves are not read. Others stay unknown. `model` is the entry that the program comes
 * from. OK or NO_MEMORY. */
arenaut_status arn_pt2_read_first_values(const arn_zip *zip, const arn_zip_entry *model,
                                         arenaut_program *program,
                                         const arenaut_allocator *allocator, arenaut_error *err);

/* Turns SymPy's srepr ("Add(Symbol('s0', integer=True), Integer(1))") into the notation of
 * arn_expr_parse; false if it is broken or has a function that sizes do not have. `to` has room
 * for ARN_PT2_INFIX * length + 1 bytes. O(length). */
bool arn_pt2_infix(const char *text, size_t length, char *to);
enum { ARN_PT2_INFIX = 3 };

#endif
