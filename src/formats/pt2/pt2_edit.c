/* Common functions of the .pt2 writers: fresh names for added nodes, nodes that call the sibling
 * operator that copies, and the archive with another text of the model. */
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/writer.h"
#include "formats/pt2/pt2.h"

/* Fresh names for added nodes: no text of the model may be one of them. */

/* The string that begins at byte `at`. */
static bool take_text(const arn_json *json, uint32_t at, const arenaut_allocator *allocator,
                      arn_fresh_names *fresh) {
    const size_t raw = arn_json_raw_length(json, at);
    const uint8_t *text = (const uint8_t *)json->text + at + 1;
    if (!arn_fresh_names_mind(fresh, text, raw) && !memchr(text, '\\', raw)) return true;
    char *decoded = arn_allocate(allocator, raw, 1);
    if (!decoded) return false;
    const size_t length = arn_json_decode(json, at, decoded);
    const bool room = arn_fresh_names_take(fresh, (const uint8_t *)decoded, length);
    arn_release(allocator, decoded);
    return room;
}

bool arn_pt2_fresh_begin(const arn_json *json, const char *mark, const arenaut_allocator *allocator,
                         arn_region *region, arn_fresh_names *fresh) {
    bool room = true;
    *fresh = (arn_fresh_names){.region = region, .mark = mark};
    for (uint32_t v = 0; v < json->n_nodes && room; v++) {
        const arn_json_node *node = &json->nodes[v];
        if (node->key) room = take_text(json, node->key, allocator, fresh);
        if (room && arn_json_type_of(json, v) == ARN_JSON_STRING) {
            room = take_text(json, node->at, allocator, fresh);
        }
    }
    return room;
}

bool arn_pt2_fresh_name(arn_fresh_names *fresh, const char *base, uint32_t *number,
                        const char **name) {
    const arn_name of = {(const uint8_t *)base, strlen(base)};
    arn_name made;
    if (!arn_fresh_names_make(fresh, of, number, &made)) return false;
    *name = (const char *)made.text;
    return true;
}

/* Writer of materialized views: their nodes call the sibling operator that copies, and the graph
 * states that their results are dense, in memory of their own. */

typedef struct copying {
    const arn_json *json;
    arn_json_patch *patch;
    arn_region *region;
    arenaut_error *err;
} copying;

/* "torch.ops.aten.slice.Tensor" becomes "torch.ops.aten.slice_copy.Tensor". */
static arenaut_status call_copy(const copying *c, uint32_t node) {
    static const char suffix[] = "_copy";
    const uint32_t value = arn_json_get(c->json, node, "target");
    const uint32_t at = c->json->nodes[value].at;
    const size_t room = arn_json_raw_length(c->json, at) + sizeof suffix;
    char *text = arn_region_allocate(c->region, room, 1);
    if (!text) return arn_no_memory(c->err);
    const size_t length = arn_json_decode(c->json, at, text);
    text[length] = '\0';
    char *overload = strrchr(text, '.');
    if (!overload) return arn_fail(c->err, ARENAUT_REFUSED, 0, "'%.80s' is no operator", text);
    memmove(overload + sizeof suffix - 1, overload, strlen(overload) + 1);
    memcpy(overload, suffix, sizeof suffix - 1);
    arn_json_patch_text(c->patch, value, text);
    return ARENAUT_OK;
}

/* A size is an object with its kind. */
static arenaut_status set_size(const copying *c, uint32_t size, uint64_t number) {
    const uint32_t value = arn_json_get(c->json, size, "as_int");
    if (size == ARN_JSON_NONE || value == ARN_JSON_NONE) {
        return arn_fail(c->err, ARENAUT_REFUSED, 0, "a view whose sizes vary cannot be a copy");
    }
    arn_json_patch_number(c->patch, value, number);
    return ARENAUT_OK;
}

/* `tensor`: of the file; `value`: its entry in the graph. */
static arenaut_status say_dense(const copying *c, const arenaut_tensor *tensor, uint32_t value) {
    const uint32_t strides = arn_json_get(c->json, value, "strides");
    uint32_t at = arn_json_first(c->json, strides);
    uint64_t elements = 1;
    uint64_t *distance = arn_region_allocate(c->region, tensor->rank, sizeof *distance);
    if (!distance) return arn_no_memory(c->err);
    if (arn_json_count(c->json, strides) != tensor->rank) {
        return arn_fail(c->err, ARENAUT_REFUSED, 0, "'%.80s' has other strides than dimensions",
                        tensor->name);
    }
    for (uint32_t i = tensor->rank; i-- > 0;) {
        distance[i] = elements;
        if (tensor->dims[i] > 0) elements *= (uint64_t)tensor->dims[i]; /* below its bytes */
    }
    arenaut_status st = set_size(c, arn_json_get(c->json, value, "storage_offset"), 0);
    for (uint32_t i = 0; i < tensor->rank && st == ARENAUT_OK; i++) {
        st = set_size(c, at, distance[i]);
        at = arn_json_next(c->json, strides, at);
    }
    return st;
}

arenaut_status arn_pt2_put_copies(const arn_json *json, uint32_t graph,
                                  const arenaut_program *program, const arenaut_rewrite *rewrite,
                                  arn_region *region, arn_json_patch *patch, arenaut_error *err) {
    const copying c = {json, patch, region, err};
    const uint32_t nodes = arn_json_get(json, graph, "nodes");
    const uint32_t values = arn_json_get(json, graph, "tensor_values");
    uint32_t node = arn_json_first(json, nodes), number = 0;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < rewrite->n_copied && st == ARENAUT_OK; i++) {
        if (rewrite->copied[i] >= program->n_ops || program->n_methods != 1) {
            return arn_fail(err, ARENAUT_REFUSED, 0, "the copies are of another program");
        }
        const arenaut_op *op = &program->ops[rewrite->copied[i]];
        for (; number < op->file_index.id && node != ARN_JSON_NONE; number++) {
            node = arn_json_next(json, nodes, node);
        }
        if (node == ARN_JSON_NONE || number != op->file_index.id) {
            return arn_fail(err, ARENAUT_REFUSED, 0,
                            "the copies are not in the order of the graph");
        }
        st = call_copy(&c, node);
        for (uint32_t k = 0; k < op->n_outputs && st == ARENAUT_OK; k++) {
            const arenaut_tensor *tensor = &program->tensors[op->outputs[k]];
            st = say_dense(&c, tensor, arn_json_get(json, values, tensor->name));
        }
    }
    return st;
}

/* Writer of an archive with another text of the model. */

enum { ALIGNMENT = 64 }; /* of the bytes of each entry, as PyTorch writes them */

/* Blanks behind a JSON text mean nothing. */
static arenaut_status pad(arenaut_text *text, uint64_t size, arenaut_error *err) {
    static const char blanks[] = "                                                                ";
    arn_writer out = arn_writer_to(arenaut_text_sink(text));
    while (text->size < size && !out.failed) {
        arn_put(&out, blanks, (size_t)arn_min_u64(size - text->size, sizeof blanks - 1));
    }
    return out.failed ? arn_no_memory(err) : ARENAUT_OK;
}

arenaut_status arn_pt2_write_model(const arn_zip *zip, const arn_zip_entry *model, size_t listed,
                                   arenaut_text *text, arenaut_sink sink, arenaut_error *err) {
    uint64_t size = model->size, more = 0;
    if (text->size > size) {
        if (!arn_align_up(text->size - size, ALIGNMENT, &more) || !arn_add(size, more, &size)) {
            return arn_fail(err, ARENAUT_TOO_LARGE, 0, "the model is too large to be written");
        }
    }
    const arenaut_status st = pad(text, size, err);
    if (st != ARENAUT_OK) return st;
    return arn_zip_replace(zip, listed, text->bytes, text->size, sink, err);
}
