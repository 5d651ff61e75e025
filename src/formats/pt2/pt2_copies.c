/* Writer of materialized views: their nodes call the sibling operator that copies, and the graph
 * states that their results are dense, in memory of their own. */
#include <string.h>

#include "core/fail.h"
#include "formats/pt2/pt2.h"

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
