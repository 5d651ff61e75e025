/* Building and running programs over images. The kernels here are the plainest loops there are. */
#include "support/image_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

/* ---- building ---- */

static uint32_t add_any(arenaut_program *p, const char *name, const int64_t *dims, uint32_t rank,
                        arenaut_class cls) {
    arenaut_tensor tensor = arenaut_tensor_default();
    uint32_t id;
    char made[16];
    snprintf(made, sizeof made, "t%u", (unsigned)p->n_tensors);
    tensor.name = name ? name : made;
    tensor.method = 0;
    tensor.rank = rank;
    tensor.dims = dims;
    tensor.cls = cls;
    tensor.file_index = p->n_tensors;
    tensor.bytes = 1;
    for (uint32_t i = 0; i < rank; i++) tensor.bytes *= (uint64_t)dims[i];
    assert_int_equal(arenaut_program_add_tensor(p, &tensor, &id, NULL), ARENAUT_OK);
    return id;
}

uint32_t add_image(arenaut_program *p, const char *name, int64_t height, int64_t width,
                   int64_t channels, arenaut_class cls) {
    const int64_t dims[] = {1, height, width, channels};
    return add_any(p, name, dims, 4, cls);
}

uint32_t add_weights(arenaut_program *p, const int64_t dims[4]) {
    return add_any(p, NULL, dims, 4, ARENAUT_CONSTANT);
}

uint32_t add_numbers(arenaut_program *p, const int64_t *numbers, uint32_t n) {
    const int64_t dims[] = {n};
    const uint32_t id = add_any(p, NULL, dims, 1, ARENAUT_CONSTANT);
    int64_t *copy = arenaut_program_alloc(p, n * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, numbers, n * sizeof *copy);
    p->tensors[id].dtype = ARENAUT_DTYPE_INT32;
    p->tensors[id].bytes = 4 * (uint64_t)n;
    p->tensors[id].values = copy;
    p->tensors[id].n_values = n;
    return id;
}

static int64_t made_by(int64_t in, int64_t filter, int64_t stride, int64_t dilation, bool same) {
    const int64_t reach = (filter - 1) * dilation + 1;
    return same ? (in + stride - 1) / stride : in < reach ? 0 : (in - reach) / stride + 1;
}

static uint32_t add_window_op(arenaut_program *p, const char *name, const uint32_t *inputs,
                              uint32_t n_inputs, int64_t channels, const window_form *form) {
    const int64_t *in = p->tensors[inputs[0]].dims;
    const arenaut_attribute attributes[] = {
        {"strides", 2, form->stride, NULL},
        {"dilations", 2, form->dilation, NULL},
        {"padding", 0, NULL, form->same ? "SAME" : "VALID"},
        {"filter", 2, form->filter, NULL},
    };
    const int64_t dims[] = {
        1, made_by(in[1], form->filter[0], form->stride[0], form->dilation[0], form->same),
        made_by(in[2], form->filter[1], form->stride[1], form->dilation[1], form->same), channels};
    const uint32_t made = add_any(p, NULL, dims, 4, ARENAUT_INTERMEDIATE);
    arenaut_op op = {.name = name, .inputs = inputs, .n_inputs = n_inputs, OUT(made)};
    op.attributes = attributes;
    op.n_attributes = n_inputs == 1 ? 4 : 3;
    add_op(p, op);
    return made;
}

uint32_t add_conv(arenaut_program *p, uint32_t image, int64_t channels, window_form form) {
    const int64_t dims[] = {channels, form.filter[0], form.filter[1], p->tensors[image].dims[3]};
    const int64_t one[] = {channels};
    const uint32_t inputs[] = {image, add_weights(p, dims),
                               add_any(p, NULL, one, 1, ARENAUT_CONSTANT)};
    return add_window_op(p, "CONV_2D", inputs, 3, channels, &form);
}

uint32_t add_depthwise(arenaut_program *p, uint32_t image, window_form form) {
    const int64_t channels = p->tensors[image].dims[3];
    const int64_t dims[] = {1, form.filter[0], form.filter[1], channels};
    const uint32_t inputs[] = {image, add_weights(p, dims)};
    return add_window_op(p, "DEPTHWISE_CONV_2D", inputs, 2, channels, &form);
}

uint32_t add_pooling(arenaut_program *p, const char *name, uint32_t image, window_form form) {
    form.dilation[0] = form.dilation[1] = 1;
    return add_window_op(p, name, &image, 1, p->tensors[image].dims[3], &form);
}

/* `mode` of a MIRROR_PAD; NULL: a PAD of zeroes. */
static uint32_t add_margin(arenaut_program *p, uint32_t image, const int64_t pads[4],
                           const char *mode) {
    const int64_t numbers[] = {0, 0, pads[0], pads[1], pads[2], pads[3], 0, 0};
    const int64_t *in = p->tensors[image].dims;
    const int64_t dims[] = {1, in[1] + pads[0] + pads[1], in[2] + pads[2] + pads[3], in[3]};
    const uint32_t paddings = add_numbers(p, numbers, 8);
    const uint32_t made = add_any(p, NULL, dims, 4, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .name = mode ? "MIRROR_PAD" : "PAD", IN(image, paddings), OUT(made),
           .n_attributes = mode ? 1 : 0,
           .attributes = &(const arenaut_attribute){"mode", 0, NULL, mode});
    return made;
}

uint32_t add_pad(arenaut_program *p, uint32_t image, const int64_t pads[4]) {
    return add_margin(p, image, pads, NULL);
}

uint32_t add_mirror(arenaut_program *p, uint32_t image, const int64_t pads[4], bool repeats_edge) {
    return add_margin(p, image, pads, repeats_edge ? "SYMMETRIC" : "REFLECT");
}

uint32_t add_sum(arenaut_program *p, uint32_t a, uint32_t b) {
    const uint32_t made = add_any(p, NULL, p->tensors[a].dims, 4, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .name = "ADD", IN(a, b), OUT(made));
    return made;
}

uint32_t add_relu(arenaut_program *p, uint32_t image) {
    const uint32_t made = add_any(p, NULL, p->tensors[image].dims, 4, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .name = "RELU", IN(image), OUT(made));
    return made;
}

uint32_t add_join(arenaut_program *p, uint32_t a, uint32_t b) {
    const int64_t *x = p->tensors[a].dims, axis = 3;
    const int64_t dims[] = {1, x[1], x[2], x[3] + p->tensors[b].dims[3]};
    const uint32_t made = add_any(p, NULL, dims, 4, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .name = "CONCATENATION", IN(a, b), OUT(made), .n_attributes = 1,
           .attributes = &(const arenaut_attribute){"axis", 1, &axis, NULL});
    return made;
}

void finish_images(arenaut_program *p, uint32_t input, uint32_t result) {
    p->tensors[result].cls = ARENAUT_OUTPUT;
    FINISH(p, LIST(input), LIST(result));
}

static window_form random_form(rng *r, const int64_t *in) {
    window_form form = {.same = rng_below(r, 3) > 0};
    for (int i = 0; i < 2; i++) {
        form.filter[i] = 1 + (int64_t)rng_below(r, 5);
        form.stride[i] = 1 + (int64_t)rng_below(r, 3);
        form.dilation[i] = form.stride[i] == 1 ? 1 + (int64_t)rng_below(r, 2) : 1;
        const bool fits = (form.filter[i] - 1) * form.dilation[i] + 1 <= in[1 + i];
        if (!fits && !form.same) form.filter[i] = form.dilation[i] = 1;
    }
    return form;
}

static uint32_t random_mirror(rng *r, arenaut_program *p, uint32_t image) {
    const bool repeats_edge = rng_below(r, 2);
    int64_t pads[4];
    for (int i = 0; i < 4; i++) {
        const int64_t rows = p->tensors[image].dims[1 + i / 2] - !repeats_edge;
        pads[i] = (int64_t)rng_below(r, (uint32_t)(rows < 6 ? rows : 6) + 1);
    }
    return add_mirror(p, image, pads, repeats_edge);
}

static uint32_t random_op(rng *r, arenaut_program *p, uint32_t image, bool mirrors) {
    const window_form form = random_form(r, p->tensors[image].dims);
    switch (rng_below(r, mirrors ? 9 : 8)) {
        case 0:
        case 1: return add_conv(p, image, 1 + (int64_t)rng_below(r, 9), form);
        case 2: return add_depthwise(p, image, form);
        case 3: return add_pooling(p, "MAX_POOL_2D", image, form);
        case 4: return add_pooling(p, "AVERAGE_POOL_2D", image, form);
        case 5: {
            const int64_t pads[] = {rng_below(r, 3), rng_below(r, 3), rng_below(r, 2),
                                    rng_below(r, 2)};
            return add_pad(p, image, pads);
        }
        case 6: return add_relu(p, image);
        case 7: {
            window_form square = {{3, 3}, {1, 1}, {1, 1}, true};
            const uint32_t other = add_depthwise(p, image, square);
            return rng_below(r, 2) ? add_sum(p, other, image) : add_join(p, image, other);
        }
        default: return random_mirror(r, p, image);
    }
}

arenaut_program *random_images(rng *r, uint32_t most, bool mirrors) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    /* One draw after another: compilers differ in the order of arguments. */
    const int64_t height = 4 + (int64_t)rng_below(r, 14), width = 3 + (int64_t)rng_below(r, 5),
                  channels = 1 + (int64_t)rng_below(r, 4);
    const uint32_t input = add_image(p, "x", height, width, channels, ARENAUT_INPUT);
    uint32_t image = input;
    for (uint32_t i = 1 + (uint32_t)rng_below(r, most); i > 0; i--)
        image = random_op(r, p, image, mirrors);
    finish_images(p, input, image);
    return p;
}

/* ---- running ---- */

typedef struct machine {
    const arenaut_program *p, *before;
    const arenaut_origin *origins;
    uint64_t **values; /* per tensor */
} machine;

static size_t count(const arenaut_tensor *t) {
    size_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++) n *= (size_t)t->dims[i];
    return n;
}

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static void fill_constant(const machine *m, uint32_t t) {
    const arenaut_tensor *tensor = &m->p->tensors[t];
    const arenaut_origin none = {t, true, ARENAUT_NONE, 0};
    const arenaut_origin *origin = m->origins ? &m->origins[t] : &none;
    const bool part = origin->axis != ARENAUT_NONE;
    const arenaut_tensor *whole = part ? &m->before->tensors[origin->tensor] : tensor;
    size_t inner = 1;
    for (uint32_t i = part ? origin->axis + 1 : 0; part && i < whole->rank; i++) {
        inner *= (size_t)whole->dims[i];
    }
    for (size_t i = 0; i < count(tensor); i++) {
        size_t at = i;
        if (part) {
            const size_t own = (size_t)tensor->dims[origin->axis];
            const size_t all = (size_t)whole->dims[origin->axis];
            at = (i / inner / own * all + i / inner % own + (size_t)origin->begin) * inner +
                 i % inner;
        }
        m->values[t][i] = mixed(((uint64_t)origin->tensor << 32) + at + 1);
    }
}

static size_t at_pixel(const arenaut_tensor *t, int64_t y, int64_t x, int64_t c) {
    return (size_t)((y * t->dims[2] + x) * t->dims[3] + c);
}

typedef struct walk {
    int64_t filter[2], stride[2], dilation[2], front[2];
} walk;

static bool begin_walk(const machine *m, const arenaut_op *op, walk *w) {
    const arenaut_tensor *in = &m->p->tensors[op->inputs[0]], *out = &m->p->tensors[op->outputs[0]];
    const bool same = strcmp(arenaut_op_attribute(op, "padding")->text, "SAME") == 0;
    for (int i = 0; i < 2; i++) {
        const arenaut_attribute *filter = arenaut_op_attribute(op, "filter");
        w->filter[i] = filter ? filter->numbers[i] : m->p->tensors[op->inputs[1]].dims[1 + i];
        w->stride[i] = arenaut_op_attribute(op, "strides")->numbers[i];
        w->dilation[i] = arenaut_op_attribute(op, "dilations")->numbers[i];
        const int64_t made =
            made_by(in->dims[1 + i], w->filter[i], w->stride[i], w->dilation[i], same);
        const int64_t total =
            (made - 1) * w->stride[i] + (w->filter[i] - 1) * w->dilation[i] + 1 - in->dims[1 + i];
        w->front[i] = same && total > 0 ? total / 2 : 0;
        if (made != out->dims[1 + i]) return false;
    }
    return true;
}

/* One element of a convolution or pool. */
static uint64_t see(const machine *m, const arenaut_op *op, const walk *w, const int64_t at[3]) {
    const arenaut_tensor *in = &m->p->tensors[op->inputs[0]];
    const bool conv = strcmp(op->name, "CONV_2D") == 0, most = op->name[0] == 'M';
    const bool pool = op->n_inputs == 1;
    const uint64_t *image = m->values[op->inputs[0]];
    uint64_t sum = op->n_inputs > 2 ? m->values[op->inputs[2]][at[2]] : 0, seen = 0;
    for (int64_t v = 0; v < w->filter[0]; v++) {
        for (int64_t u = 0; u < w->filter[1]; u++) {
            const int64_t y = at[0] * w->stride[0] - w->front[0] + v * w->dilation[0];
            const int64_t x = at[1] * w->stride[1] - w->front[1] + u * w->dilation[1];
            if (y < 0 || y >= in->dims[1] || x < 0 || x >= in->dims[2]) continue;
            seen++;
            for (int64_t c = conv ? 0 : at[2]; c < (conv ? in->dims[3] : at[2] + 1); c++) {
                const uint64_t pixel = image[at_pixel(in, y, x, c)];
                if (pool) {
                    sum = !most ? sum + pixel : pixel > sum ? pixel : sum;
                    continue;
                }
                const arenaut_tensor *kernel = &m->p->tensors[op->inputs[1]];
                const size_t row = conv ? (size_t)at[2] : 0;
                sum += pixel *
                       m->values[op->inputs[1]][row * (count(kernel) / (size_t)kernel->dims[0]) +
                                                at_pixel(kernel, v, u, c)];
            }
        }
    }
    return pool && !most ? sum / (seen ? seen : 1) : sum;
}

static bool run_window(const machine *m, const arenaut_op *op) {
    const arenaut_tensor *in = &m->p->tensors[op->inputs[0]], *out = &m->p->tensors[op->outputs[0]];
    walk w;
    if (!begin_walk(m, op, &w)) return false;
    if (op->n_inputs > 1) {
        const arenaut_tensor *kernel = &m->p->tensors[op->inputs[1]];
        const bool conv = strcmp(op->name, "CONV_2D") == 0;
        if (kernel->dims[3] != in->dims[3] || out->dims[3] != kernel->dims[conv ? 0 : 3])
            return false;
    } else if (in->dims[3] != out->dims[3]) {
        return false;
    }
    for (int64_t y = 0; y < out->dims[1]; y++) {
        for (int64_t x = 0; x < out->dims[2]; x++) {
            for (int64_t c = 0; c < out->dims[3]; c++) {
                const int64_t at[] = {y, x, c};
                m->values[op->outputs[0]][at_pixel(out, y, x, c)] = see(m, op, &w, at);
            }
        }
    }
    return true;
}

/* The element that a mirror at each edge of so many shows at `at`; -1: they show none. */
static int64_t reflected(int64_t at, int64_t n, bool repeats_edge) {
    const int64_t more = repeats_edge ? 1 : 0;
    if (at < 0) at = -at - more;
    else if (at >= n) at = 2 * n - 2 - at + more;
    return at < 0 || at >= n ? -1 : at;
}

/* Beyond both edges of a MIRROR_PAD lies as much as there is to be shown. */
static bool run_mirror(const machine *m, const arenaut_op *op) {
    const arenaut_tensor *in = &m->p->tensors[op->inputs[0]], *out = &m->p->tensors[op->outputs[0]];
    const int64_t *pads = m->p->tensors[op->inputs[1]].values;
    const bool repeats_edge = strcmp(arenaut_op_attribute(op, "mode")->text, "SYMMETRIC") == 0;
    for (int i = 0; i < 4; i++) {
        const int64_t before = pads[2 * i], after = pads[2 * i + 1], n = in->dims[i];
        if (before < 0 || after < 0 || n + before + after != out->dims[i]) return false;
        if (before > n - !repeats_edge || after > n - !repeats_edge) return false;
    }
    for (int64_t y = 0; y < out->dims[1]; y++) {
        for (int64_t x = 0; x < out->dims[2]; x++) {
            for (int64_t c = 0; c < out->dims[3]; c++) {
                const int64_t v = reflected(y - pads[2], in->dims[1], repeats_edge);
                const int64_t u = reflected(x - pads[4], in->dims[2], repeats_edge);
                const int64_t k = reflected(c - pads[6], in->dims[3], repeats_edge);
                m->values[op->outputs[0]][at_pixel(out, y, x, c)] =
                    m->values[op->inputs[0]][at_pixel(in, v, u, k)];
            }
        }
    }
    return true;
}

/* PAD and SLICE: the result lies at `begin` of the image, or the image in it. */
static bool run_shift(const machine *m, const arenaut_op *op) {
    const arenaut_tensor *in = &m->p->tensors[op->inputs[0]], *out = &m->p->tensors[op->outputs[0]];
    const int64_t *numbers = m->p->tensors[op->inputs[1]].values;
    const bool pad = op->n_inputs == 2;
    int64_t shift[4];
    for (int i = 0; i < 4; i++) {
        shift[i] = pad ? -numbers[2 * i] : numbers[i];
        const int64_t made = pad ? in->dims[i] + numbers[2 * i] + numbers[2 * i + 1]
                                 : m->p->tensors[op->inputs[2]].values[i];
        if (made != out->dims[i] || (pad && (numbers[2 * i] < 0 || numbers[2 * i + 1] < 0)))
            return false;
        if (!pad && (shift[i] < 0 || shift[i] + made > in->dims[i])) return false;
    }
    for (int64_t y = 0; y < out->dims[1]; y++) {
        for (int64_t x = 0; x < out->dims[2]; x++) {
            for (int64_t c = 0; c < out->dims[3]; c++) {
                const int64_t v = y + shift[1], u = x + shift[2], k = c + shift[3];
                const bool inside = v >= 0 && v < in->dims[1] && u >= 0 && u < in->dims[2] &&
                                    k >= 0 && k < in->dims[3];
                m->values[op->outputs[0]][at_pixel(out, y, x, c)] =
                    inside ? m->values[op->inputs[0]][at_pixel(in, v, u, k)] : 0;
            }
        }
    }
    return true;
}

static bool run_join(const machine *m, const arenaut_op *op) {
    const arenaut_tensor *out = &m->p->tensors[op->outputs[0]];
    const int64_t axis = arenaut_op_attribute(op, "axis")->numbers[0];
    int64_t first[4] = {0};
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const arenaut_tensor *in = &m->p->tensors[op->inputs[k]];
        for (int i = 0; i < 4; i++) {
            if (first[i] + in->dims[i] > out->dims[i]) return false;
            if (i != axis && in->dims[i] != out->dims[i]) return false;
        }
        for (int64_t y = 0; y < in->dims[1]; y++) {
            for (int64_t x = 0; x < in->dims[2]; x++) {
                for (int64_t c = 0; c < in->dims[3]; c++) {
                    m->values[op->outputs[0]]
                             [at_pixel(out, y + first[1], x + first[2], c + first[3])] =
                        m->values[op->inputs[k]][at_pixel(in, y, x, c)];
                }
            }
        }
        first[axis] += in->dims[axis];
    }
    return first[axis] == out->dims[axis];
}

static bool run_elements(const machine *m, const arenaut_op *op) {
    const size_t n = count(&m->p->tensors[op->outputs[0]]);
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (memcmp(m->p->tensors[op->inputs[k]].dims, m->p->tensors[op->outputs[0]].dims,
                   4 * sizeof(int64_t)) != 0) {
            return false;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t a = m->values[op->inputs[0]][i];
        m->values[op->outputs[0]][i] = op->n_inputs == 2 ? a + m->values[op->inputs[1]][i]
                                       : a >> 63         ? 0
                                                         : a;
    }
    return true;
}

static bool run_op(const machine *m, const arenaut_op *op) {
    if (strcmp(op->name, "PAD") == 0 || strcmp(op->name, "SLICE") == 0) return run_shift(m, op);
    if (strcmp(op->name, "MIRROR_PAD") == 0) return run_mirror(m, op);
    if (strcmp(op->name, "CONCATENATION") == 0) return run_join(m, op);
    if (arenaut_op_attribute(op, "padding")) return run_window(m, op);
    return run_elements(m, op);
}

static bool run_copy(const machine *m, uint32_t from, uint32_t to) {
    if (count(&m->p->tensors[from]) != count(&m->p->tensors[to])) return false;
    memcpy(m->values[to], m->values[from], count(&m->p->tensors[to]) * sizeof(uint64_t));
    return true;
}

/* A method's ops, and its callees' ops, for any condition. */
static bool run_method(const machine *m, uint32_t method) {
    const arenaut_method *body = &m->p->methods[method];
    for (uint32_t i = body->first_op; i < body->first_op + body->n_ops; i++) {
        const arenaut_op *op = &m->p->ops[i];
        if (op->n_calls == 0) {
            if (!run_op(m, op)) return false;
            continue;
        }
        const arenaut_method *callee = &m->p->methods[op->calls[0]];
        if (op->n_inputs != callee->n_inputs + 1 || op->n_outputs != callee->n_outputs)
            return false;
        for (uint32_t k = 0; k < callee->n_inputs; k++) {
            if (!run_copy(m, op->inputs[k + 1], callee->inputs[k])) return false;
        }
        if (!run_method(m, op->calls[0])) return false;
        for (uint32_t k = 0; k < callee->n_outputs; k++) {
            if (!run_copy(m, callee->outputs[k], op->outputs[k])) return false;
        }
    }
    return true;
}

bool compute_images(const arenaut_program *p, const arenaut_program *before,
                    const arenaut_origin *origins, uint64_t seed, uint64_t **values, size_t *n) {
    machine m = {p, before, origins, calloc(p->n_tensors, sizeof(uint64_t *))};
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        m.values[t] = calloc(count(&p->tensors[t]) + 1, sizeof(uint64_t));
        if (p->tensors[t].cls == ARENAUT_CONSTANT && !p->tensors[t].values) fill_constant(&m, t);
    }
    const uint32_t input = p->methods[0].inputs[0], result = p->methods[0].outputs[0];
    for (size_t i = 0; i < count(&p->tensors[input]); i++) m.values[input][i] = mixed(seed + i);
    const bool ran = run_method(&m, 0);
    *values = m.values[result];
    *n = count(&p->tensors[result]);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (t != result) free(m.values[t]);
    }
    free(m.values);
    return ran;
}
