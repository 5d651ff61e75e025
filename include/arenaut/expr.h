/* Sizes that vary: symbols with a range, and integer expressions over them. They belong to
 * a program; tensors name them in dim_exprs. All values are whole numbers.
 *
 * Threads: as for the program that an expression belongs to: many may read, one may add. */
#ifndef ARENAUT_EXPR_H
#define ARENAUT_EXPR_H

#include <arenaut/program.h>
#include <arenaut/sink.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A size without a known end. */
#define ARENAUT_UNBOUNDED INT64_MAX

typedef struct arenaut_symbol {
    const char *name;
    int64_t min, max; /* both included; min == max: it has a value; max may be UNBOUNDED */
} arenaut_symbol;

/* Name, text; a and b are expressions, but for the first two. */
#define ARENAUT_EXPR_MAP(XX)                               \
    XX(VALUE, "value")   /* the number `value` */          \
    XX(SYMBOL, "symbol") /* symbol `a` */                  \
    XX(ADD, "+")                                           \
    XX(SUB, "-")                                           \
    XX(MUL, "*")                                           \
    XX(FLOOR_DIV, "floordiv") /* towards minus infinity */ \
    XX(CEIL_DIV, "ceildiv")                                \
    XX(MOD, "mod") /* the sign of b, as FLOOR_DIV's */     \
    XX(MIN, "min")                                         \
    XX(MAX, "max")

typedef enum arenaut_expr_kind {
#define XX(name, text) ARENAUT_EXPR_##name,
    ARENAUT_EXPR_MAP(XX)
#undef XX
        ARENAUT_EXPR_COUNT
} arenaut_expr_kind;

typedef struct arenaut_expr {
    arenaut_expr_kind kind;
    uint32_t a, b;
    int64_t value;
} arenaut_expr;

#ifdef __cplusplus
}
#endif
#endif
