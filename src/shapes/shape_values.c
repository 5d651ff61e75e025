/* Constant evaluation of the few numbers that shapes depend on: element by element, if both
 * operands are known. Results are cut to their type, as a run cuts them; the doubles in which
 * floats are computed have bits enough that rounding twice does no harm. */
#include <string.h>

#include "shapes/shapes.h"

typedef enum operation {
    NOTHING,
    ADD,
    SUB,
    MUL,
    DIV,
    MOD,
    REMAINDER,
    MIN_OF,
    MAX_OF,
    EQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    AND,
    OR,
    XOR,
    NOT,
    NEG,
    ABS,
    FLOOR,
    CEIL,
    CAST,
    SIGN,
} operation;

static operation operation_of(const char *name) {
    static const struct {
        const char *name;
        operation operation;
    } all[] = {
        {"Add", ADD},         {"Sub", SUB},
        {"Mul", MUL},         {"Div", DIV},
        {"Mod", MOD},         {"Min", MIN_OF},
        {"Max", MAX_OF},      {"Equal", EQUAL},
        {"Less", LESS},       {"LessOrEqual", LESS_EQUAL},
        {"Greater", GREATER}, {"GreaterOrEqual", GREATER_EQUAL},
        {"And", AND},         {"Or", OR},
        {"Xor", XOR},         {"Not", NOT},
        {"Neg", NEG},         {"Abs", ABS},
        {"Floor", FLOOR},     {"Ceil", CEIL},
        {"Cast", CAST},       {"CastLike", CAST},
        {"Sign", SIGN},       {"Sum", ADD},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) == 0) return all[i].operation;
    }
    return NOTHING;
}

/* The sign of a. */
static int64_t remainder_of(int64_t a, int64_t b) {
    if (b == 0) return ARN_SHAPE_ANY;
    return b == -1 ? 0 : a % b; /* by -1 the division would overflow */
}

/* The sign of b. */
static int64_t modulo(int64_t a, int64_t b) {
    const int64_t rest = remainder_of(a, b);
    return rest != ARN_SHAPE_ANY && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t on_whole(operation op, int64_t a, int64_t b) {
    switch (op) {
        case ADD: return arn_shape_plus(a, b);
        case SUB: return arn_shape_plus(a, -b);
        case MUL: return arn_shape_times(a, b);
        case DIV: return b == 0 ? ARN_SHAPE_ANY : a / b; /* towards zero, as C does */
        case MOD: return modulo(a, b);
        case REMAINDER: return remainder_of(a, b);
        case MIN_OF: return a < b ? a : b;
        case MAX_OF: return a > b ? a : b;
        case EQUAL: return a == b;
        case LESS: return a < b;
        case LESS_EQUAL: return a <= b;
        case GREATER: return a > b;
        case GREATER_EQUAL: return a >= b;
        case AND: return a && b;
        case OR: return a || b;
        case XOR: return !a != !b;
        case NOT: return !a;
        case NEG: return -a;
        case ABS: return a < 0 ? -a : a;
        case SIGN: return (a > 0) - (a < 0);
        default: return ARN_SHAPE_ANY;
    }
}

static int64_t on_floats(operation op, double a, double b) {
    switch (op) {
        case ADD: return arn_shape_as_bits(a + b);
        case SUB: return arn_shape_as_bits(a - b);
        case MUL: return arn_shape_as_bits(a * b);
        case DIV: return arn_shape_as_bits(a / b);
        case MIN_OF: return arn_shape_as_bits(a < b ? a : b);
        case MAX_OF: return arn_shape_as_bits(a > b ? a : b);
        case EQUAL: return a == b;
        case LESS: return a < b;
        case LESS_EQUAL: return a <= b;
        case GREATER: return a > b;
        case GREATER_EQUAL: return a >= b;
        case NEG: return arn_shape_as_bits(-a);
        case ABS: return arn_shape_as_bits(a < 0 ? -a : a);
        case FLOOR: return arn_shape_as_bits(arn_shape_floor(a));
        case CEIL: return arn_shape_as_bits(-arn_shape_floor(-a));
        default: return ARN_SHAPE_ANY;
    }
}

static int64_t converted(int64_t value, arenaut_dtype from, arenaut_dtype to) {
    if (to == ARENAUT_DTYPE_BOOL) {
        return arn_shape_is_float(from) ? arn_shape_as_double(value) != 0.0 : value != 0;
    }
    if (!arn_shape_is_float(from)) {
        return arn_shape_is_float(to) ? arn_shape_as_bits((double)value) : value;
    }
    const double wide = arn_shape_as_double(value);
    if (arn_shape_is_float(to)) return value;
    return wide > -9.0e18 && wide < 9.0e18 ? (int64_t)wide : ARN_SHAPE_ANY;
}

/* A value as its type has it: floats are rounded, whole numbers lose their high bits. Those of
 * uint64 past 63 bits are unknown. */
static int64_t cut_to(arenaut_dtype dtype, int64_t value) {
    const uint32_t bits = arenaut_dtype_bits(dtype);
    if (value == ARN_SHAPE_ANY || dtype == ARENAUT_DTYPE_BOOL || dtype == ARENAUT_DTYPE_FLOAT64)
        return value;
    if (dtype == ARENAUT_DTYPE_FLOAT32)
        return arn_shape_as_bits((double)(float)arn_shape_as_double(value));
    if (bits == 64) return dtype == ARENAUT_DTYPE_UINT64 && value < 0 ? ARN_SHAPE_ANY : value;
    const int64_t half = INT64_C(1) << (bits - 1), low = value & (2 * half - 1);
    const bool is_signed =
        dtype == ARENAUT_DTYPE_INT8 || dtype == ARENAUT_DTYPE_INT16 || dtype == ARENAUT_DTYPE_INT32;
    return is_signed && low >= half ? low - 2 * half : low;
}

/* Whether values of a type are kept as they are; others are unknown. */
static bool has_values(arenaut_dtype dtype) {
    return arn_shape_is_float(dtype) || dtype == ARENAUT_DTYPE_BOOL ||
           (dtype >= ARENAUT_DTYPE_INT8 && dtype <= ARENAUT_DTYPE_UINT64);
}

/* The source of element `at` of the result in an operand that may be broadcast. */
static uint32_t source_of(const arn_shape *out, const arn_shape *in, uint32_t at) {
    uint32_t index = 0, step = 1, rest = at;
    for (uint32_t i = 0; i < in->rank; i++) {
        const uint32_t size = (uint32_t)out->dims[out->rank - 1 - i];
        const uint32_t place = rest % size, own = (uint32_t)in->dims[in->rank - 1 - i];
        rest /= size;
        if (own != 1) index += place * step;
        step *= own;
    }
    return index;
}

static int64_t element(const arn_shape *out, const arn_shape *in, uint32_t at) {
    if (!in->values) return ARN_SHAPE_ANY;
    const uint32_t source = source_of(out, in, at);
    return source < in->n_values ? in->values[source] : ARN_SHAPE_ANY;
}

/* A condition that is known chooses among values that need not both be. */
static void compute_where(arn_shapes *s, const arn_shape *out, int64_t *values) {
    const arn_shape *condition = arn_shape_input(s, 0), *yes = arn_shape_input(s, 1),
                    *no = arn_shape_input(s, 2);
    for (uint32_t i = 0; i < out->n_values; i++) {
        const int64_t taken = element(out, condition, i);
        const int64_t a = element(out, yes, i), b = element(out, no, i);
        values[i] = taken == ARN_SHAPE_ANY ? (a == b ? a : ARN_SHAPE_ANY) : taken ? a : b;
    }
}

static int64_t apply(operation op, const arn_shape *a, int64_t x, int64_t y, arenaut_dtype to) {
    if (x == ARN_SHAPE_ANY || y == ARN_SHAPE_ANY) return ARN_SHAPE_ANY;
    if (op == CAST) return cut_to(to, converted(x, a->dtype, to));
    if (arn_shape_is_float(a->dtype))
        return cut_to(to, on_floats(op, arn_shape_as_double(x), arn_shape_as_double(y)));
    return cut_to(to, on_whole(op, x, y));
}

static void compute_each(arn_shapes *s, operation what, const arn_shape *out, int64_t *values) {
    const arn_shape *a = arn_shape_input(s, 0);
    const uint32_t n = what == CAST ? 1 : s->op->n_inputs;
    for (uint32_t k = 0; k < out->n_values; k++) {
        int64_t x = element(out, a, k);
        if (n < 2) x = apply(what, a, x, x, out->dtype);
        for (uint32_t i = 1; i < n; i++) {
            x = apply(what, a, x, element(out, arn_shape_input(s, i), k), out->dtype);
        }
        values[k] = x;
    }
}

void arn_shape_compute_values(arn_shapes *s) {
    const arenaut_op *op = s->op;
    const bool where = strcmp(op->name, "Where") == 0;
    const operation named = where ? NOTHING : operation_of(op->name);
    const operation what = named == MOD && arn_shape_number(s, "fmod", 0) != 0 ? REMAINDER : named;
    const arn_shape *a = arn_shape_input(s, 0);
    const uint32_t n = op->n_inputs;
    if (!where && (what == NOTHING || !a->values)) return;
    for (uint32_t i = 0; i < n && what != CAST; i++) {
        if (!arn_shape_input(s, i)->ranked || (!where && !arn_shape_input(s, i)->values)) return;
    }
    if (op->n_outputs == 0 || op->outputs[0] == ARENAUT_NONE ||
        !has_values(arn_shape_input(s, n > 2)->dtype))
        return;
    int64_t *values = arn_shape_new_values(s, 0);
    if (!values) return;
    const arn_shape *out = &s->of[op->outputs[0]];
    if (!has_values(out->dtype)) return;
    if (where) {
        compute_where(s, out, values);
        return;
    }
    compute_each(s, what, out, values);
}
