/* The decoder of Stable Diffusion's VAE, with random weights, placed by ggml_gallocr and by a plan:
 *
 *     vae_decoder LATENT WIDTH [--run]
 *
 * prints the bytes that each needs for images of 8 x LATENT; `--run` computes both and compares the
 * images byte by byte. The real one has a width of 128, and 64 is its usual latent: 512 x 512
 * pixels. Exit status 1: images differ. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ggml-alloc.h"
#include "ggml-cpu.h"
#include "planned_graph.h"

enum { MAX_TENSORS = 4096, MAX_NODES = 8192, GROUPS = 32 };

typedef struct builder {
    struct ggml_context *weights, *work;
} builder;

static struct ggml_tensor *normed(builder *b, struct ggml_tensor *x) {
    struct ggml_tensor *scale = ggml_new_tensor_3d(b->weights, GGML_TYPE_F32, 1, 1, x->ne[2]);
    struct ggml_tensor *shift = ggml_new_tensor_3d(b->weights, GGML_TYPE_F32, 1, 1, x->ne[2]);
    x = ggml_group_norm(b->work, x, GROUPS, 1e-6F);
    return ggml_add(b->work, ggml_mul(b->work, x, scale), shift);
}

static struct ggml_tensor *conv(builder *b, struct ggml_tensor *x, int64_t channels, int kernel) {
    struct ggml_tensor *weight =
        ggml_new_tensor_4d(b->weights, GGML_TYPE_F16, kernel, kernel, x->ne[2], channels);
    struct ggml_tensor *bias = ggml_new_tensor_3d(b->weights, GGML_TYPE_F32, 1, 1, channels);
    x = ggml_conv_2d(b->work, weight, x, 1, 1, kernel / 2, kernel / 2, 1, 1);
    return ggml_add(b->work, x, bias);
}

static struct ggml_tensor *residual(builder *b, struct ggml_tensor *x, int64_t channels) {
    struct ggml_tensor *h = conv(b, ggml_silu(b->work, normed(b, x)), channels, 3);
    h = conv(b, ggml_silu(b->work, normed(b, h)), channels, 3);
    if (x->ne[2] != channels) x = conv(b, x, channels, 1);
    return ggml_add(b->work, x, h);
}

/* A pixel is a token; one head. */
static struct ggml_tensor *attention(builder *b, struct ggml_tensor *x) {
    struct ggml_context *c = b->work;
    const int64_t wide = x->ne[0], high = x->ne[1], channels = x->ne[2], n = wide * high;
    struct ggml_tensor *h = normed(b, x);
    struct ggml_tensor *q = conv(b, h, channels, 1), *k = conv(b, h, channels, 1),
                       *v = conv(b, h, channels, 1);
    q = ggml_cont(c, ggml_permute(c, ggml_reshape_2d(c, q, n, channels), 1, 0, 2, 3));
    k = ggml_cont(c, ggml_permute(c, ggml_reshape_2d(c, k, n, channels), 1, 0, 2, 3));
    v = ggml_reshape_2d(c, v, n, channels);
    struct ggml_tensor *weight = ggml_soft_max(c, ggml_scale(c, ggml_mul_mat(c, k, q), 0.044F));
    h = ggml_cont(c, ggml_permute(c, ggml_mul_mat(c, v, weight), 1, 0, 2, 3));
    return ggml_add(c, conv(b, ggml_reshape_3d(c, h, wide, high, channels), channels, 1), x);
}

static struct ggml_cgraph *build(builder *b, struct ggml_tensor *x, int64_t width) {
    static const int wide[] = {4, 4, 2,
                               1}; /* times the width, from the smallest picture to the largest */
    x = conv(b, x, 4 * width, 3);
    x = residual(b, attention(b, residual(b, x, 4 * width)), 4 * width);
    for (int stage = 0; stage < 4; stage++) {
        for (int k = 0; k < 3; k++) x = residual(b, x, wide[stage] * width);
        if (stage == 3) break;
        x = conv(b, ggml_upscale(b->work, x, 2, GGML_SCALE_MODE_NEAREST), wide[stage] * width, 3);
    }
    x = conv(b, ggml_silu(b->work, normed(b, x)), 3, 3);
    ggml_set_output(x);
    struct ggml_cgraph *graph = ggml_new_graph_custom(b->work, MAX_NODES, false);
    ggml_build_forward_expand(graph, x);
    return graph;
}

static void fill(struct ggml_tensor *tensor, uint64_t *state) {
    for (int64_t i = 0; i < ggml_nelements(tensor); i++) {
        *state = *state * 6364136223846793005U + 1442695040888963407U;
        const float value = ((float)(*state >> 40) / 16777216.0F - 0.5F) / 8;
        if (tensor->type == GGML_TYPE_F16)
            ((ggml_fp16_t *)tensor->data)[i] = ggml_fp32_to_fp16(value);
        else ((float *)tensor->data)[i] = value;
    }
}

/* Weights and the latent have memory of their own, which lasts. */
static ggml_backend_buffer_t fill_weights(const builder *b, ggml_backend_buffer_type_t type) {
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors_from_buft(b->weights, type);
    uint64_t state = 1;
    struct ggml_tensor *one = buffer ? ggml_get_first_tensor(b->weights) : NULL;
    for (; one; one = ggml_get_next_tensor(b->weights, one)) fill(one, &state);
    return buffer;
}

typedef struct decoder {
    builder b;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t weights;
} decoder;

/* A graph can be placed once, so that each method of placement has one of its own. */
static decoder decoder_new(int64_t latent, int64_t width, ggml_backend_buffer_type_t type) {
    const struct ggml_init_params for_weights = {MAX_TENSORS * ggml_tensor_overhead(), NULL, true};
    const struct ggml_init_params for_work = {
        MAX_TENSORS * ggml_tensor_overhead() + ggml_graph_overhead_custom(MAX_NODES, false), NULL,
        true};
    decoder made = {.b = {ggml_init(for_weights), ggml_init(for_work)}};
    struct ggml_tensor *x = ggml_new_tensor_3d(made.b.weights, GGML_TYPE_F32, latent, latent, 4);
    made.graph = build(&made.b, x, width);
    made.weights = fill_weights(&made.b, type);
    return made;
}

static void decoder_free(decoder *d) {
    ggml_backend_buffer_free(d->weights);
    ggml_free(d->b.work);
    ggml_free(d->b.weights);
}

/* Runs it; a copy of the picture, which the caller frees. */
static float *picture_of(const decoder *d, ggml_backend_t backend, size_t *size) {
    if (ggml_backend_graph_compute(backend, d->graph) != GGML_STATUS_SUCCESS) return NULL;
    struct ggml_tensor *picture = ggml_graph_node(d->graph, -1);
    float *copy = malloc(*size = ggml_nbytes(picture));
    if (copy) memcpy(copy, picture->data, *size);
    return copy;
}

static int compare(decoder *theirs, decoder *ours, ggml_gallocr_t gallocr,
                   const planned_graph *planned, ggml_backend_t backend) {
    ggml_backend_buffer_type_t type = ggml_backend_cpu_buffer_type();
    ggml_backend_buffer_t buffer = planned_graph_allocate(planned, type);
    size_t size[2] = {0};
    float *pictures[2] = {NULL, NULL};
    if (buffer && ggml_gallocr_reserve(gallocr, theirs->graph) &&
        ggml_gallocr_alloc_graph(gallocr, theirs->graph)) {
        pictures[0] = picture_of(theirs, backend, &size[0]);
        pictures[1] = picture_of(ours, backend, &size[1]);
    }
    const bool same = pictures[0] && pictures[1] && size[0] == size[1] &&
                      memcmp(pictures[0], pictures[1], size[0]) == 0 &&
                      pictures[0][0] == pictures[0][0];
    printf("pictures of %zu bytes: %s\n", size[0], same ? "the same" : "DIFFERENT");
    free(pictures[0]);
    free(pictures[1]);
    ggml_backend_buffer_free(buffer);
    return same ? 0 : 1;
}

int main(int argc, char **argv) {
    const int64_t latent = argc > 1 ? atoll(argv[1]) : 0, width = argc > 2 ? atoll(argv[2]) : 0;
    const bool runs = argc > 3 && strcmp(argv[3], "--run") == 0;
    if (latent < 1 || width < 32 || width % 32) {
        fprintf(stderr, "usage: vae_decoder LATENT WIDTH [--run]   (the width a multiple of 32)\n");
        return 2;
    }
    ggml_backend_buffer_type_t type = ggml_backend_cpu_buffer_type();
    decoder theirs = decoder_new(latent, width, type), ours = decoder_new(latent, width, type);
    ggml_gallocr_t gallocr = ggml_gallocr_new(type);
    planned_graph planned;
    arenaut_error err;
    size_t needed = 0;
    ggml_gallocr_reserve_n_size(gallocr, theirs.graph, NULL, NULL, &needed);
    if (planned_graph_make(ours.graph, type, &planned, &err) != ARENAUT_OK) {
        fprintf(stderr, "%s\n", err.msg);
        return 2;
    }
    printf("latent %" PRId64 ", width %" PRId64 ": ggml_gallocr %zu, planned %" PRIu64
           ", at least %" PRIu64 "\n",
           latent, width, needed, planned.plan->total, planned.plan->total_bound);
    ggml_backend_t backend = ggml_backend_cpu_init();
    const int code = runs ? compare(&theirs, &ours, gallocr, &planned, backend) : 0;
    ggml_backend_free(backend);
    planned_graph_free(&planned);
    ggml_gallocr_free(gallocr);
    decoder_free(&theirs);
    decoder_free(&ours);
    return code;
}
