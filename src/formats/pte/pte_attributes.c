/* Attributes of a .pte file's calls, for the operators whose windows kernels slide over an
 * image: numbers among a call's arguments, by the operator's schema, in the forms of pt2
 * files (ops/ops.h). Where a number is written while the program runs, or is missing, all of the
 * call's are left out. O(arguments). */
#include <string.h>

#include "core/cursor.h"
#include "formats/pte/pte_reader.h"
#include "formats/pte/pte_schema.h"

/* A number, or one for each axis: that of a list of one, and if the list is empty, `usual` or the
 * window's side, which a pool's first field has. */
typedef enum form { ONE, AXES, AXES_TWICE } form;
enum { AS_WINDOW = -1 };

typedef struct field {
    const char *op, *name;
    uint32_t argument;
    form form;
    int64_t usual;
} field;

#define CONVOLUTION "aten::convolution.out"
#define MAX_POOL "aten::max_pool2d_with_indices.out"
#define AVERAGE_POOL "aten::avg_pool2d.out"
#define CORTEX_M(name) "cortex_m::quantized_" name ".out"
#define CORTEX_M_CONVOLUTION CORTEX_M("conv2d")
#define CORTEX_M_DEPTHWISE CORTEX_M("depthwise_conv2d")
#define CORTEX_M_MAX_POOL CORTEX_M("max_pool2d")
#define CORTEX_M_AVERAGE_POOL CORTEX_M("avg_pool2d")

static const field fields[] = {
    {CONVOLUTION, "strides", 3, AXES, 1},
    {CONVOLUTION, "pads", 4, AXES_TWICE, 0},
    {CONVOLUTION, "dilations", 5, AXES, 1},
    {CONVOLUTION, "transposed", 6, ONE, 0},
    {CONVOLUTION, "group", 8, ONE, 1},
    {MAX_POOL, "kernel_shape", 1, AXES, 1},
    {MAX_POOL, "strides", 2, AXES, AS_WINDOW},
    {MAX_POOL, "pads", 3, AXES_TWICE, 0},
    {MAX_POOL, "dilations", 4, AXES, 1},
    {AVERAGE_POOL, "kernel_shape", 1, AXES, 1},
    {AVERAGE_POOL, "strides", 2, AXES, AS_WINDOW},
    {AVERAGE_POOL, "pads", 3, AXES_TWICE, 0},
    {CORTEX_M_CONVOLUTION, "strides", 3, AXES, 1},
    {CORTEX_M_CONVOLUTION, "pads", 4, AXES_TWICE, 0},
    {CORTEX_M_CONVOLUTION, "dilations", 5, AXES, 1},
    {CORTEX_M_DEPTHWISE, "strides", 3, AXES, 1},
    {CORTEX_M_DEPTHWISE, "pads", 4, AXES_TWICE, 0},
    {CORTEX_M_DEPTHWISE, "dilations", 5, AXES, 1},
    {CORTEX_M_MAX_POOL, "kernel_shape", 1, AXES, 1},
    {CORTEX_M_MAX_POOL, "strides", 2, AXES, AS_WINDOW},
    {CORTEX_M_MAX_POOL, "pads", 3, AXES_TWICE, 0},
    {CORTEX_M_AVERAGE_POOL, "kernel_shape", 1, AXES, 1},
    {CORTEX_M_AVERAGE_POOL, "strides", 2, AXES, AS_WINDOW},
    {CORTEX_M_AVERAGE_POOL, "pads", 3, AXES_TWICE, 0},
};

/* A number that no instruction writes. */
static bool take_number(arn_pte_reader *r, const arn_pte_value *value, int64_t *number) {
    if (value->written) return false;
    if (value->type == PTE_INT) {
        *number = (int64_t)arn_fb_u64(&r->model.fb, value->table, INT_VALUE, 0);
        return true;
    }
    *number = arn_fb_u8(&r->model.fb, value->table, BOOL_VALUE, 0);
    return value->type == PTE_BOOL;
}

/* The numbers of two axes. */
static bool take_axes(arn_pte_reader *r, const arn_pte_value *list, const int64_t usual[2],
                      int64_t numbers[2]) {
    arn_flatbuffer *fb = &r->model.fb;
    if (list->type != PTE_INT_LIST) return false;
    const arn_fb_vector items = arn_fb_vector_field(fb, list->table, LIST_ITEMS, 8);
    memcpy(numbers, usual, 2 * sizeof *numbers);
    for (uint32_t i = 0; i < items.count && i < 2; i++) {
        const uint64_t item = arn_load(fb->data + items.at + 8 * (size_t)i, 8);
        if (item >= r->n_values || !take_number(r, &r->values[item], &numbers[i])) return false;
    }
    if (items.count == 1) numbers[1] = numbers[0];
    return items.count <= 2;
}

static bool take_field(arn_pte_reader *r, const field *of, const arn_pte_value *value,
                       const int64_t window[2], arenaut_attribute *made, int64_t *numbers) {
    const int64_t usual[] = {of->usual == AS_WINDOW ? window[0] : of->usual,
                             of->usual == AS_WINDOW ? window[1] : of->usual};
    *made = (arenaut_attribute){of->name, of->form == ONE ? 1 : 2, numbers, NULL};
    if (of->form == ONE) return take_number(r, value, numbers);
    if (!take_axes(r, value, usual, numbers)) return false;
    if (of->form == AXES_TWICE) {
        memcpy(numbers + 2, numbers, 2 * sizeof *numbers);
        made->n_numbers = 4;
    }
    return true;
}

void arn_pte_read_attributes(arn_pte_reader *r, arn_fb_table call, arn_pte_attributes *out) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector args = arn_fb_vector_field(fb, call, CALL_ARGS, 4);
    uint32_t n = 0;
    out->n = 0;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const field *of = &fields[i];
        if (strcmp(of->op, r->name) != 0) continue;
        if (of->argument >= args.count) return;
        /* Arguments were found to be values. */
        const arn_pte_value *value = &r->values[arn_fb_item_i32(fb, args, of->argument)];
        if (!take_field(r, of, value, out->numbers[0], &out->made[n], out->numbers[n])) return;
        n++;
    }
    out->n = n;
}
