/* Symbols and expressions of a program: added, parsed, bounded by interval arithmetic, written.
 * Their form is in <arenaut/expr.h>. */
#ifndef ARN_IR_EXPR_H
#define ARN_IR_EXPR_H

#include <arenaut/expr.h>

/* Adds a symbol, or finds the one of that name and intersects its range with this one (BAD_INPUT if
 * nothing is left). TOO_LARGE past 10000 symbols. Cost: a walk over them, and over the expressions
 * if a range changes. */
arenaut_status arn_program_add_symbol(arenaut_program *program, const char *name, int64_t min,
                                      int64_t max, uint32_t *id, arenaut_error *err);

/* Adds an expression whose parts exist already; constant parts are folded, and an equal of one of
 * the newest few is not added again. BAD_INPUT for a part that does not exist, a division by zero;
 * TOO_LARGE if a folded constant passes 63 bits, or the expression 4096 parts or 512 levels.
 * O(1). */
arenaut_status arn_program_add_expr(arenaut_program *program, const arenaut_expr *expr,
                                    uint32_t *id, arenaut_error *err);

/* Reads an expression as people and ONNX files write it: numbers, names, + - * / // % ** ( ),
 * and, in any case, floor( ) ceil( ) ceiling( ) min( , ) max( , ) mod( , ) floordiv( , ) and
 * ceildiv( , ). `/` may leave fractions inside floor and ceil. Elsewhere numbers must come
 * out whole, and a symbolic quotient is taken to, rounded up. Names begin with a letter or _,
 * go on with these, digits, '.' and ':', and are of any kind between backquotes; new ones
 * become symbols from 0 to UNBOUNDED, which stay if the rest is refused. BAD_INPUT with the
 * column, from 1, in err->at. */
arenaut_status arn_expr_parse(arenaut_program *program, const char *text, size_t length,
                              uint32_t *id, arenaut_error *err);

/* The range of values that `expr` can have, by interval arithmetic over the symbols' ranges; it may
 * be wider than the values that occur. *max is UNBOUNDED if nothing limits it. BAD_INPUT if its
 * divisor can only be zero. O(1). */
arenaut_status arn_expr_range(const arenaut_program *program, uint32_t expr, int64_t *min,
                              int64_t *max, arenaut_error *err);

/* The value of `expr` where each symbol has one that it may have, unlike the others' and, where its
 * range allows it, another at each of the two points (0 and 1): an order or a product of sizes that
 * is found at both is taken to be that of all values. 0 if it divides by zero. */
int64_t arn_expr_sample(const arenaut_program *program, uint32_t expr, unsigned point);

/* Whether dimensions lie in one another without gaps at a point of the sizes: the `n` of `order`,
 * the fastest first. A dimension of 1 may have any stride. */
bool arn_tensor_is_packed(const arenaut_program *program, const arenaut_tensor *tensor,
                          const uint32_t *order, uint32_t n, unsigned point);

/* Gives a symbol a value (min == max) or a range; this can only narrow the range that it has.
 * BAD_ARGUMENT if it may be nothing of that, or naming the nearest symbol. */
arenaut_status arn_program_bind(arenaut_program *program, const char *name, int64_t min,
                                int64_t max, arenaut_error *err);

/* Writes an expression so that arn_expr_parse reads it back. */
arenaut_status arn_expr_write(const arenaut_program *program, uint32_t expr, arenaut_sink sink,
                              arenaut_error *err);

#endif
