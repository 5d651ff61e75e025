/* The table of operators, and looking operators up in it: by halves, as rows are in the order of
 * strcmp. */
#include "ops/ops.h"

#include <ctype.h>
#include <string.h>

enum {
    IN_NONE = 0,
    IN_FIRST = 1,
    IN_SECOND = 2,
    IN_BOTH = 3,
    IN_LATER = 6,
    IN_FIRST_THIRD = 5,
    IN_FIRST_FIFTH = 17
};

enum { TILING_WHOLE = false, TILING_TILED = true };

#define COMMON(operator, kind, pure, price, sides, operands)                      \
    .name = (operator), .family = ARN_FAMILY_##kind, .purity = ARN_PURITY_##pure, \
    .cost = ARN_COST_##price, .window = ARN_WINDOW_##sides, .in_place = IN_##operands

static const arn_op_row tflite[] = {
#define CUSTOM(name, family, purity, cost, window, tiling, walk, in_place, adder)         \
    {COMMON(name, family, purity, cost, window, in_place), .overlap = ARN_OVERLAP_##walk, \
     .tiled = TILING_##tiling, .resolver = (adder)},
#define TFLITE(name, number, family, purity, cost, window, tiling, walk, in_place, adder) \
    CUSTOM(name, family, purity, cost, window, tiling, walk, in_place, adder)
#include "ops/ops.def"
};

static const arn_op_row aten[] = {
#define ATEN(name, family, purity, cost, window, traits, in_place, substitute) \
    {COMMON(name, family, purity, cost, window, in_place)},
#include "ops/ops.def"
};

static const arn_op_row onnx[] = {
#define ONNX(name, family, purity, cost, window, traits, in_place, shape) \
    {COMMON(name, family, purity, cost, window, in_place)},
#include "ops/ops.def"
};

static const arn_op_row tvm[] = {
#define TVM(name, family, purity, cost) {COMMON(name, family, purity, cost, NONE, NONE)},
#include "ops/ops.def"
};

static const arn_op_row executorch[] = {
#define EXECUTORCH(name, family, purity, cost, window, walk, in_place, own)               \
    {COMMON(name, family, purity, cost, window, in_place), .overlap = ARN_OVERLAP_##walk, \
     .scratch = (own)},
#include "ops/ops.def"
};

static const arn_op_row own[] = {
#define OWN(name, family, purity, cost, traits) {COMMON(name, family, purity, cost, NONE, NONE)},
#include "ops/ops.def"
};

#define ROWS(table) {table, sizeof(table) / sizeof *(table)}
static const struct {
    const arn_op_row *rows;
    size_t n;
} dialects[ARN_OPS_COUNT] = {
    [ARN_OPS_TFLITE] = ROWS(tflite),
    [ARN_OPS_ATEN] = ROWS(aten),
    [ARN_OPS_ONNX] = ROWS(onnx),
    [ARN_OPS_TVM] = ROWS(tvm),
    [ARN_OPS_EXECUTORCH] = ROWS(executorch),
    [ARN_OPS_OWN] = ROWS(own),
};

const arn_op_row *arn_op_rows(arn_op_dialect dialect, size_t *n) {
    *n = dialects[dialect].n;
    return dialects[dialect].rows;
}

/* Lower bound of `name`, of which `length` characters count: the first row that is not below it. */
static const arn_op_row *lower_bound(arn_op_dialect dialect, const char *name, size_t length) {
    size_t low = 0, high = dialects[dialect].n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strncmp(dialects[dialect].rows[middle].name, name, length) < 0) low = middle + 1;
        else high = middle;
    }
    return low < dialects[dialect].n ? &dialects[dialect].rows[low] : NULL;
}

const arn_op_row *arn_op_row_find(arn_op_dialect dialect, const char *name) {
    const arn_op_row *row = name ? lower_bound(dialect, name, strlen(name) + 1) : NULL;
    return row && strcmp(row->name, name) == 0 ? row : NULL;
}

/* "aten::add" comes before "aten::add.Scalar", and that before all longer names. */
static const arn_op_row *find_overload(const char *name) {
    const char *overload = strchr(name, '.');
    const size_t length = overload ? (size_t)(overload - name) : strlen(name);
    const arn_op_row *row = lower_bound(ARN_OPS_ATEN, name, length);
    const bool same = row && strncmp(row->name, name, length) == 0;
    return same && (row->name[length] == '\0' || row->name[length] == '.') ? row : NULL;
}

const arn_op_row *arn_op_row_any(const char *name) {
    for (int dialect = 0; dialect < ARN_OPS_COUNT; dialect++) {
        const arn_op_row *row = arn_op_row_find((arn_op_dialect)dialect, name);
        if (row) return row;
    }
    return name ? find_overload(name) : NULL;
}

bool arn_op_is_join(const char *name) {
    const arn_op_row *row = arn_op_row_any(name);
    return row && row->family == ARN_FAMILY_CONCATENATION;
}

/* The next character that counts; '\0' where the overload begins. */
static char next_plain(const char **at) {
    while (**at == '_') ++*at;
    if (**at == '\0' || **at == '.') return '\0';
    return (char)tolower((unsigned char)*(*at)++);
}

static const char *without_namespace(const char *name) {
    const char *behind = strrchr(name, ':');
    return behind ? behind + 1 : name;
}

static bool are_alike(const char *a, const char *b) {
    for (;;) {
        const char x = next_plain(&a), y = next_plain(&b);
        if (x != y) return false;
        if (x == '\0') return true;
    }
}

bool arn_op_is_cheap(const char *name) {
    if (!name) return false;
    name = without_namespace(name);
    for (int dialect = 0; dialect < ARN_OPS_COUNT; dialect++) {
        for (size_t i = 0; i < dialects[dialect].n; i++) {
            const arn_op_row *row = &dialects[dialect].rows[i];
            if (row->cost == ARN_COST_CHEAP && are_alike(without_namespace(row->name), name)) {
                return true;
            }
        }
    }
    return false;
}
