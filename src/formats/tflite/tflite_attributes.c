/* Reader of an operator's options that a kernel's walk over memory depends on: fields of the
 * schema's tables that distances and shapes need, one row each. Other fields, such as activations,
 * are ignored, and so is an unknown word: a missing attribute only costs memory. O(rows) for an
 * operator. */

#include "formats/tflite/tflite_reader.h"
#include "formats/tflite/tflite_schema.h"

typedef enum form {
    NUMBER, /* 32 bits, signed */
    PAIR,   /* two of them, height first, though files have the width first */
    FLAG,   /* a byte, 0 or 1 */
    PADDING,
    MIRROR,
    TEXT,
} form;

/* By number, as the schema's enums have them. */
static const char *const padding_words[] = {"SAME", "VALID"};
static const char *const mirror_words[] = {"REFLECT", "SYMMETRIC"};

typedef struct field {
    uint8_t options; /* the table's number in the union BuiltinOptions */
    uint8_t slot, second_slot;
    uint8_t form;
    int32_t fallback; /* where the file leaves it out */
    const char *name;
} field;

static const field fields[] = {
    /* CONV_2D */
    {1, 2, 1, PAIR, 0, "strides"},
    {1, 5, 4, PAIR, 1, "dilations"},
    {1, 0, 0, PADDING, 0, "padding"},
    /* DEPTHWISE_CONV_2D */
    {2, 2, 1, PAIR, 0, "strides"},
    {2, 6, 5, PAIR, 1, "dilations"},
    {2, 0, 0, PADDING, 0, "padding"},
    {2, 3, 0, NUMBER, 0, "depth_multiplier"},
    /* AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D */
    {5, 2, 1, PAIR, 0, "strides"},
    {5, 4, 3, PAIR, 0, "filter"},
    {5, 0, 0, PADDING, 0, "padding"},
    /* SVDF */
    {6, 0, 0, NUMBER, 0, "rank"},
    /* FULLY_CONNECTED */
    {8, 2, 0, FLAG, 0, "keep_num_dims"},
    /* CONCATENATION */
    {10, 0, 0, NUMBER, 0, "axis"},
    /* RESIZE_BILINEAR */
    {15, 2, 0, FLAG, 0, "align_corners"},
    {15, 3, 0, FLAG, 0, "half_pixel_centers"},
    /* SPACE_TO_DEPTH */
    {19, 0, 0, NUMBER, 0, "block_size"},
    /* GATHER */
    {23, 0, 0, NUMBER, 0, "axis"},
    {23, 1, 0, NUMBER, 0, "batch_dims"},
    /* MEAN, SUM, REDUCE_… */
    {27, 0, 0, FLAG, 0, "keep_dims"},
    /* STRIDED_SLICE */
    {32, 0, 0, NUMBER, 0, "begin_mask"},
    {32, 1, 0, NUMBER, 0, "end_mask"},
    {32, 2, 0, NUMBER, 0, "ellipsis_mask"},
    {32, 3, 0, NUMBER, 0, "new_axis_mask"},
    {32, 4, 0, NUMBER, 0, "shrink_axis_mask"},
    {32, 5, 0, FLAG, 0, "offset"},
    /* SPLIT */
    {35, 0, 0, NUMBER, 0, "num_splits"},
    /* TRANSPOSE_CONV */
    {49, 2, 1, PAIR, 0, "strides"},
    {49, 0, 0, PADDING, 0, "padding"},
    /* PACK */
    {59, 0, 0, NUMBER, 0, "values_count"},
    {59, 1, 0, NUMBER, 0, "axis"},
    /* UNPACK */
    {64, 0, 0, NUMBER, 0, "num"},
    {64, 1, 0, NUMBER, 0, "axis"},
    /* UNIDIRECTIONAL_SEQUENCE_LSTM */
    {71, 3, 0, FLAG, 0, "time_major"},
    /* RESIZE_NEAREST_NEIGHBOR */
    {74, 0, 0, FLAG, 0, "align_corners"},
    {74, 1, 0, FLAG, 0, "half_pixel_centers"},
    /* MIRROR_PAD */
    {77, 0, 0, MIRROR, 0, "mode"},
    /* SPLIT_V */
    {79, 0, 0, NUMBER, 0, "num_splits"},
    /* DEPTH_TO_SPACE */
    {94, 0, 0, NUMBER, 0, "block_size"},
    /* BATCH_MATMUL */
    {101, 0, 0, FLAG, 0, "adj_x"},
    {101, 1, 0, FLAG, 0, "adj_y"},
    /* VAR_HANDLE */
    {111, 1, 0, TEXT, 0, "shared_name"},
};

static const char *word_of(uint8_t number, const char *const words[2]) {
    return number < 2 ? words[number] : NULL;
}

/* False if it says nothing: a word that is not known. At most one field of an operator is text. */
static bool take_field(arn_tflite_reader *r, arn_fb_table options, const field *row,
                       int64_t numbers[2], arenaut_attribute *attribute) {
    arn_flatbuffer *fb = &r->model.fb;
    *attribute = (arenaut_attribute){.name = row->name, .numbers = numbers};
    switch ((form)row->form) {
        case PAIR:
            numbers[1] = arn_fb_i32(fb, options, row->second_slot, row->fallback);
            attribute->n_numbers = 1; /* fall through */
        case NUMBER:
            numbers[0] = arn_fb_i32(fb, options, row->slot, row->fallback);
            attribute->n_numbers++;
            return true;
        case FLAG:
            numbers[0] = arn_fb_u8(fb, options, row->slot, (uint8_t)row->fallback) != 0;
            attribute->n_numbers = 1;
            return true;
        case PADDING:
            attribute->text = word_of(arn_fb_u8(fb, options, row->slot, 0), padding_words);
            return attribute->text != NULL;
        case MIRROR:
            attribute->text = word_of(arn_fb_u8(fb, options, row->slot, 0), mirror_words);
            return attribute->text != NULL;
        case TEXT:
            return arn_tflite_text(r, options, row->slot, &attribute->text) == ARENAUT_OK &&
                   attribute->text;
    }
    return false;
}

arenaut_status arn_tflite_attributes(arn_tflite_reader *r, arn_fb_table table,
                                     arn_tflite_attribute_list *list) {
    arn_flatbuffer *fb = &r->model.fb;
    const uint8_t type = arn_fb_u8(fb, table, OPERATOR_OPTIONS_TYPE, 0);
    list->n = 0;
    if (type == 0) return ARENAUT_OK;
    const arn_fb_table options = arn_fb_table_field(fb, table, OPERATOR_OPTIONS_TYPE + 1);
    if (options.at == 0) return arn_tflite_status(r);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i].options != type) continue;
        list->n +=
            take_field(r, options, &fields[i], list->numbers[list->n], &list->attributes[list->n]);
    }
    const arenaut_status st = arn_tflite_status(r);
    return st == ARENAUT_OK ? arn_tflite_charge(r, list->n, ARN_TFLITE_ATTRIBUTE_COST) : st;
}
