/* Puts the nodes of an exported graph in another order. They change places in the JSON, which stays
 * as long as it was, so that of the archive nothing else changes but the sum of these bytes. */
#include <inttypes.h>
#include <string.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "core/memory.h"
#include "formats/json_patch.h"
#include "formats/pt2/pt2.h"

enum {
    HEADER_SUM_AT = 14,   /* in the header in front of an entry's bytes */
    LISTED_SUM_AT = 16,   /* in the directory */
    SUM_FOLLOWS = 1 << 3, /* flag: the sum comes behind the bytes */
};

typedef struct nodes {
    arn_json json;
    uint32_t *value; /* per node */
    bool *is_op;     /* per node */
    uint32_t *order; /* the nodes in their new order */
    uint32_t n, n_put, n_passed;
} nodes;

/* ---- the order of the nodes ---- */

static bool list_nodes(nodes *x, arn_region *region, const arenaut_program *program) {
    const uint32_t module = arn_json_get(&x->json, 0, "graph_module");
    const uint32_t list = arn_json_get(&x->json, arn_json_get(&x->json, module, "graph"), "nodes");
    const uint32_t n = arn_json_count(&x->json, list);
    x->value = arn_region_allocate(region, n, sizeof *x->value);
    x->is_op = arn_region_allocate(region, n, sizeof *x->is_op);
    x->order = arn_region_allocate(region, n, sizeof *x->order);
    if (!x->value || !x->is_op || !x->order) return false;
    for (uint32_t v = arn_json_first(&x->json, list); v != ARN_JSON_NONE;
         v = arn_json_next(&x->json, list, v)) {
        x->is_op[x->n] = false;
        x->value[x->n++] = v;
    }
    for (uint32_t i = 0; i < program->n_ops; i++) x->is_op[program->ops[i].file_index.id] = true;
    return true;
}

/* Nodes that are no ops compute with scalars only: they come before the next that names one. */
static void put_scalars_before(nodes *x, uint32_t node) {
    for (; x->n_passed < node; x->n_passed++) {
        if (!x->is_op[x->n_passed]) x->order[x->n_put++] = x->n_passed;
    }
}

static void list_order(nodes *x, const arenaut_program *program, const arenaut_rewrite *rewrite) {
    uint32_t last = ARENAUT_NONE;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const uint32_t node = program->ops[rewrite->ops[i]].file_index.id;
        if (node == last) continue; /* a node of two ops */
        if (arn_pt2_names_scalar(&x->json, x->value[node])) put_scalars_before(x, node);
        x->order[x->n_put++] = last = node;
    }
    put_scalars_before(x, x->n);
}

/* ---- the archive ---- */

typedef struct archive {
    const arn_zip *zip;
    size_t copied;
    arn_writer out;
} archive;

static void put_up_to(archive *a, size_t at) {
    arn_put(&a->out, a->zip->data + a->copied, at - a->copied);
    a->copied = at;
}

/* The sum, where the old one stands at `at`. */
static void put_sum(archive *a, size_t at, uint32_t before, uint32_t sum) {
    uint8_t bytes[4];
    if (a->zip->size - at < sizeof bytes || arn_load(a->zip->data + at, 4) != before) return;
    put_up_to(a, at);
    arn_store_u32(bytes, sum);
    arn_put(&a->out, bytes, sizeof bytes);
    a->copied += sizeof bytes;
}

static arenaut_status put_archive(const arn_zip *zip, const arn_zip_entry *model, size_t listed,
                                  const uint8_t *old, const arenaut_text *text, arenaut_sink sink,
                                  arenaut_error *err) {
    archive a = {zip, 0, arn_writer_to(sink)};
    const uint32_t sum = arn_zip_sum((const uint8_t *)text->bytes, text->size);
    const size_t begin = (size_t)(old - zip->data), end = begin + text->size;
    put_sum(&a, (size_t)model->place + HEADER_SUM_AT, model->crc, sum);
    put_up_to(&a, begin);
    arn_put(&a.out, text->bytes, text->size);
    a.copied = end;
    if (model->flags & SUM_FOLLOWS && zip->size - end >= 4) {
        const bool marked = memcmp(zip->data + end, "PK\7\10", 4) == 0;
        put_sum(&a, marked ? end + 4 : end, model->crc, sum);
    }
    put_sum(&a, listed + LISTED_SUM_AT, model->crc, sum);
    put_up_to(&a, zip->size);
    return arn_writer_finish(&a.out, err);
}

/* ---- all of it ---- */

static arenaut_status write_model(nodes *x, const arenaut_allocator *allocator, arenaut_text *text,
                                  arenaut_error *err) {
    arn_json_patch patch = arn_json_patch_begin(&x->json, allocator);
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->order[i] != i) arn_json_patch_move(&patch, x->value[i], x->value[x->order[i]]);
    }
    const arenaut_status st = arn_json_patch_write(&patch, arenaut_text_sink(text), err);
    arn_json_patch_free(&patch);
    return st == ARENAUT_IO ? arn_no_memory(err) : st;
}

static arenaut_status order_model(const uint8_t *model, size_t size, const arenaut_rewrite *rewrite,
                                  const arenaut_allocator *allocator, arenaut_text *text,
                                  arenaut_error *err) {
    arenaut_program *program = NULL;
    nodes x = {.n = 0};
    arn_region region;
    arenaut_status st = arn_pt2_read(model, size, allocator, &program, err);
    if (st != ARENAUT_OK) return st;
    arn_region_init(&region, allocator);
    if (program->n_ops != rewrite->n_ops) {
        st = arn_fail(err, ARENAUT_REFUSED, 0,
                      "the order is of %" PRIu32 " ops; the graph has %" PRIu32, rewrite->n_ops,
                      program->n_ops);
    }
    if (st == ARENAUT_OK) st = arn_json_parse(model, size, allocator, &x.json, err);
    if (st == ARENAUT_OK) {
        if (list_nodes(&x, &region, program)) {
            list_order(&x, program, rewrite);
            st = write_model(&x, allocator, text, err);
        } else {
            st = arn_no_memory(err);
        }
        arn_json_free(&x.json);
    }
    arn_region_free(&region);
    arenaut_program_free(program);
    return st;
}

arenaut_status arn_pt2_write(const arn_zip *zip, const arn_zip_entry *model, size_t listed,
                             const arenaut_rewrite *rewrite, arenaut_sink sink,
                             const arenaut_allocator *allocator, arenaut_error *err) {
    arenaut_text text = {.allocator = allocator};
    const uint8_t *bytes;
    arenaut_status st = arn_zip_bytes(zip, model, &bytes, err);
    if (st == ARENAUT_OK) {
        st = order_model(bytes, (size_t)model->size, rewrite, allocator, &text, err);
    }
    if (st == ARENAUT_OK) st = put_archive(zip, model, listed, bytes, &text, sink, err);
    arenaut_text_free(&text);
    return st;
}
