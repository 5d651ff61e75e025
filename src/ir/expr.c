/* Symbols, and expressions over them, in growable arrays of the program. The range of each
 * expression is kept with it and brought up to date when a symbol's range changes. */
#include <arenaut/expr.h>

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/suggest.h"
#include "ir/expr.h"
#include "ir/store.h"

/* Limits that no model comes near. Without them a small hostile file could name so many sizes, or
 * one so long, that walking them takes for ever or overflows the stack. */
enum { MAX_SYMBOLS = 10000, MAX_PARTS = 4096, MAX_DEPTH = 512 };

/* The number of newest expressions searched for an equal one. */
enum { NEWEST = 16 };

#define INFINITE INT64_MAX
#define MINUS_INFINITE INT64_MIN

/* ---- whole numbers with both infinities ---- */

static int64_t saturate(bool negative) { return negative ? MINUS_INFINITE : INFINITE; }

static bool is_infinite(int64_t a) { return a == INFINITE || a == MINUS_INFINITE; }

/* An infinite summand decides; two that disagree cannot occur, since ends of ranges are
 * added to ends of the same side. */
static int64_t plus(int64_t a, int64_t b) {
    if (is_infinite(a)) return a;
    if (is_infinite(b)) return b;
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return saturate(b < 0);
    return a + b;
}

static int64_t minus(int64_t a) {
    if (is_infinite(a)) return saturate(a > 0);
    return -a;
}

static int64_t times(int64_t a, int64_t b) {
    if (a == 0 || b == 0) return 0;
    const bool negative = (a < 0) != (b < 0);
    if (is_infinite(a) || is_infinite(b)) return saturate(negative);
    const uint64_t ua = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    const uint64_t ub = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    if (ua > (uint64_t)INT64_MAX / ub) return saturate(negative);
    return a * b;
}

/* Towards minus infinity; b is not 0. */
static int64_t floor_divided(int64_t a, int64_t b) {
    const bool negative = (a < 0) != (b < 0);
    if (is_infinite(a)) return saturate(negative);
    if (is_infinite(b)) return a != 0 && negative ? -1 : 0;
    return a / b - (a % b != 0 && negative);
}

static int64_t ceil_divided(int64_t a, int64_t b) { return minus(floor_divided(minus(a), b)); }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- ranges ---- */

typedef struct range {
    int64_t min, max;
} range;

static const range nothing = {1, 0};

/* The range of a function that rises or falls in each argument: its corners decide. */
static range corners(range a, range b, int64_t (*function)(int64_t, int64_t)) {
    const int64_t at[4] = {function(a.min, b.min), function(a.min, b.max), function(a.max, b.min),
                           function(a.max, b.max)};
    const range all = {least(least(at[0], at[1]), least(at[2], at[3])),
                       most(most(at[0], at[1]), most(at[2], at[3]))};
    return all;
}

static range hull(range a, range b) {
    if (a.min > a.max) return b;
    if (b.min > b.max) return a;
    const range all = {least(a.min, b.min), most(a.max, b.max)};
    return all;
}

/* A divisor is never 0 when the program runs, so only the values on either side count. */
static range divided(range a, range b, int64_t (*function)(int64_t, int64_t)) {
    const range below = {b.min, least(b.max, -1)}, above = {most(b.min, 1), b.max};
    range all = nothing;
    if (below.min <= below.max) all = hull(all, corners(a, below, function));
    if (above.min <= above.max) all = hull(all, corners(a, above, function));
    return all;
}

static range remainder_of(range a, range b) {
    if (b.min == 0 && b.max == 0) return nothing;
    if (a.min == a.max && b.min == b.max && !is_infinite(a.min) && !is_infinite(b.min)) {
        const int64_t rest = a.min % b.min;
        const int64_t value = rest != 0 && (rest < 0) != (b.min < 0) ? rest + b.min : rest;
        return (range){value, value};
    }
    if (a.min >= 0 && b.min > a.max) return a;
    range rest = {b.min < 0 ? plus(b.min, 1) : 0, b.max > 0 ? plus(b.max, -1) : 0};
    if (a.min >= 0 && b.min >= 0) rest.max = least(rest.max, a.max);
    return rest;
}

static range range_of_parts(arenaut_expr_kind kind, range a, range b) {
    if (a.min > a.max || b.min > b.max) return nothing;
    switch (kind) {
        case ARENAUT_EXPR_ADD: return (range){plus(a.min, b.min), plus(a.max, b.max)};
        case ARENAUT_EXPR_SUB: return (range){plus(a.min, minus(b.max)), plus(a.max, minus(b.min))};
        case ARENAUT_EXPR_MUL: return corners(a, b, times);
        case ARENAUT_EXPR_FLOOR_DIV: return divided(a, b, floor_divided);
        case ARENAUT_EXPR_CEIL_DIV: return divided(a, b, ceil_divided);
        case ARENAUT_EXPR_MOD: return remainder_of(a, b);
        case ARENAUT_EXPR_MIN: return corners(a, b, least);
        case ARENAUT_EXPR_MAX: return corners(a, b, most);
        default: return nothing;
    }
}

static range known_range(const arenaut_program *program, uint32_t expr) {
    const arn_expr_facts *facts = &program->store->facts[expr];
    return (range){facts->min, facts->max};
}

static range range_of(const arenaut_program *program, const arenaut_expr *expr) {
    if (expr->kind == ARENAUT_EXPR_VALUE) return (range){expr->value, expr->value};
    if (expr->kind == ARENAUT_EXPR_SYMBOL) {
        const arenaut_symbol *symbol = &program->symbols[expr->a];
        return (range){symbol->min, symbol->max == ARENAUT_UNBOUNDED ? INFINITE : symbol->max};
    }
    return range_of_parts(expr->kind, known_range(program, expr->a), known_range(program, expr->b));
}

static void set_range(arenaut_program *program, uint32_t symbol, int64_t min, int64_t max) {
    if (program->symbols[symbol].min == min && program->symbols[symbol].max == max) return;
    program->symbols[symbol].min = min;
    program->symbols[symbol].max = max;
    for (uint32_t e = 0; e < program->n_exprs; e++) {
        const range now = range_of(program, &program->exprs[e]);
        program->store->facts[e].min = now.min;
        program->store->facts[e].max = now.max;
    }
}

arenaut_status arn_expr_range(const arenaut_program *program, uint32_t expr, int64_t *min,
                              int64_t *max, arenaut_error *err) {
    if (expr >= program->n_exprs) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "expression %" PRIu32 " does not exist; there are %" PRIu32, expr,
                        program->n_exprs);
    }
    const range known = known_range(program, expr);
    if (known.min > known.max) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0, "a size is divided by zero");
    }
    *min = known.min;
    *max = known.max;
    return ARENAUT_OK;
}

/* Depth is limited where expressions are made.
 * NOLINTNEXTLINE(misc-no-recursion) */
static range at_point(const arenaut_program *program, uint32_t expr, unsigned point) {
    const arenaut_expr *e = &program->exprs[expr];
    if (e->kind == ARENAUT_EXPR_VALUE) return range_of(program, e);
    if (e->kind == ARENAUT_EXPR_SYMBOL) {
        const arenaut_symbol *s = &program->symbols[e->a];
        const int64_t small = plus(most(s->min, 1), 2 + (int64_t)(e->a % 100));
        const int64_t large = 1021 + 12 * (int64_t)(e->a % 100); /* most quotients are not 0 */
        const int64_t value = least(most(point ? small : large, s->min), s->max);
        return (range){value, value};
    }
    return range_of_parts(e->kind, at_point(program, e->a, point), at_point(program, e->b, point));
}

int64_t arn_expr_sample(const arenaut_program *program, uint32_t expr, unsigned point) {
    const range value = at_point(program, expr, point);
    return value.min > value.max ? 0 : value.min;
}

static int64_t sample(const arenaut_program *p, int64_t number, const uint32_t *exprs, uint32_t i,
                      unsigned point) {
    const bool varies = exprs && exprs[i] != ARENAUT_NONE;
    return varies ? arn_expr_sample(p, exprs[i], point) : number;
}

bool arn_tensor_is_packed(const arenaut_program *program, const arenaut_tensor *tensor,
                          const uint32_t *order, uint32_t n, unsigned point) {
    uint64_t packed = 1;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = order[k];
        const int64_t dim = sample(program, tensor->dims[i], tensor->dim_exprs, i, point);
        const int64_t stride = sample(program, tensor->strides[i], tensor->stride_exprs, i, point);
        if (dim == 0) return true;
        if (dim < 0) continue;
        if (dim != 1 && (uint64_t)stride != packed) return false;
        if (!arn_multiply(packed, (uint64_t)dim, &packed)) return true;
    }
    return true;
}

/* ---- symbols ---- */

uint32_t arn_program_find_symbol(const arenaut_program *program, const char *name) {
    uint32_t s = 0;
    while (s < program->n_symbols && strcmp(program->symbols[s].name, name) != 0) s++;
    return s < program->n_symbols ? s : ARENAUT_NONE;
}

static arenaut_status check_symbol(const char *name, int64_t min, int64_t max, arenaut_error *err) {
    /* The writer puts unusual names between backquotes. */
    if (name[0] == '\0' || strchr(name, '`')) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "'%s' cannot name a size: names are not empty and hold no backquote", name);
    }
    if (min > max) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "size '%s': no value is at least %" PRId64 " and at most %" PRId64, name,
                        min, max);
    }
    return ARENAUT_OK;
}

static arenaut_status narrow(arenaut_program *program, uint32_t symbol, int64_t min, int64_t max,
                             arenaut_error *err) {
    const arenaut_symbol *old = &program->symbols[symbol];
    const int64_t low = most(old->min, min), high = least(old->max, max);
    if (low > high) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "size '%s' is said to be from %" PRId64 " to %" PRId64 ", and from %" PRId64
                        " to %" PRId64,
                        old->name, old->min, old->max, min, max);
    }
    set_range(program, symbol, low, high);
    return ARENAUT_OK;
}

arenaut_status arn_program_add_symbol(arenaut_program *program, const char *name, int64_t min,
                                      int64_t max, uint32_t *id, arenaut_error *err) {
    arenaut_status st = check_symbol(name, min, max, err);
    if (st != ARENAUT_OK) return st;
    uint32_t s = arn_program_find_symbol(program, name);
    if (s != ARENAUT_NONE) {
        st = narrow(program, s, min, max, err);
    } else if (program->n_symbols == MAX_SYMBOLS) {
        st = arn_fail(err, ARENAUT_TOO_LARGE, 0, "size '%s' is one more than the %d allowed", name,
                      MAX_SYMBOLS);
    } else {
        const arenaut_symbol symbol = {arenaut_program_strdup(program, name, strlen(name)), min,
                                       max};
        if (!symbol.name ||
            !arn_grow(&program->store->allocator, (void **)&program->symbols,
                      &program->store->symbols, (uint64_t)program->n_symbols + 1, sizeof symbol)) {
            return arn_no_memory(err);
        }
        s = program->n_symbols++;
        program->symbols[s] = symbol;
    }
    if (st == ARENAUT_OK && id) *id = s;
    return st;
}

static const char *nearest_symbol(const arenaut_program *program, const char *name) {
    const char *best = NULL;
    /* One at a time against the best so far: no list of names has to be made. */
    for (uint32_t s = 0; s < program->n_symbols; s++) {
        const char *words[2] = {best ? best : program->symbols[s].name, program->symbols[s].name};
        best = arn_suggest(name, strlen(name), words, 2);
    }
    return best;
}

arenaut_status arn_program_bind(arenaut_program *program, const char *name, int64_t min,
                                int64_t max, arenaut_error *err) {
    const uint32_t s = arn_program_find_symbol(program, name);
    if (s == ARENAUT_NONE) {
        const char *nearest = nearest_symbol(program, name);
        if (nearest) {
            return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                            "no size is called '%s'; did you mean '%s'?", name, nearest);
        }
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "no size is called '%s'; %" PRIu32 " vary%s%s", name, program->n_symbols,
                        program->n_symbols ? ", the first is " : "",
                        program->n_symbols ? program->symbols[0].name : "");
    }
    const arenaut_symbol *old = &program->symbols[s];
    if (min > max || max < old->min || min > old->max) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "size '%s' cannot be from %" PRId64 " to %" PRId64
                        "; the model allows from %" PRId64 " to %" PRId64,
                        name, min, max, old->min, old->max);
    }
    set_range(program, s, most(min, old->min), least(max, old->max));
    return ARENAUT_OK;
}

/* ---- expressions ---- */

static bool is_value(const arenaut_program *program, uint32_t expr, int64_t value) {
    const arenaut_expr *e = &program->exprs[expr];
    return e->kind == ARENAUT_EXPR_VALUE && e->value == value;
}

/* The expression that equals a compound one without any computation; NONE if there is none. */
static uint32_t shortcut(const arenaut_program *program, const arenaut_expr *expr) {
    const uint32_t a = expr->a, b = expr->b;
    switch (expr->kind) {
        case ARENAUT_EXPR_ADD:
            if (is_value(program, a, 0)) return b;
            return is_value(program, b, 0) ? a : ARENAUT_NONE;
        case ARENAUT_EXPR_SUB: return is_value(program, b, 0) ? a : ARENAUT_NONE;
        case ARENAUT_EXPR_MUL:
            if (is_value(program, a, 1) || is_value(program, b, 0)) return b;
            return is_value(program, b, 1) || is_value(program, a, 0) ? a : ARENAUT_NONE;
        case ARENAUT_EXPR_FLOOR_DIV:
        case ARENAUT_EXPR_CEIL_DIV: return is_value(program, b, 1) ? a : ARENAUT_NONE;
        case ARENAUT_EXPR_MIN:
        case ARENAUT_EXPR_MAX: return a == b ? a : ARENAUT_NONE;
        default: return ARENAUT_NONE;
    }
}

/* Replaces an operation on two numbers by its result. */
static arenaut_status fold(const arenaut_program *program, arenaut_expr *expr, arenaut_error *err) {
    const arenaut_expr *a = &program->exprs[expr->a], *b = &program->exprs[expr->b];
    if (a->kind != ARENAUT_EXPR_VALUE || b->kind != ARENAUT_EXPR_VALUE) return ARENAUT_OK;
    const range result =
        range_of_parts(expr->kind, known_range(program, expr->a), known_range(program, expr->b));
    *expr = (arenaut_expr){.kind = ARENAUT_EXPR_VALUE, .value = result.min};
    if (!is_infinite(result.min)) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_TOO_LARGE, 0, "a size passes 2^63 - 2");
}

static arenaut_status check_parts(const arenaut_program *program, const arenaut_expr *expr,
                                  arenaut_error *err) {
    if (expr->kind == ARENAUT_EXPR_VALUE) {
        if (!is_infinite(expr->value)) return ARENAUT_OK;
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "a size passes 2^63 - 2");
    }
    if ((unsigned)expr->kind >= ARENAUT_EXPR_COUNT) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0, "unknown kind of expression");
    }
    const bool symbol = expr->kind == ARENAUT_EXPR_SYMBOL;
    if (symbol ? expr->a >= program->n_symbols
               : expr->a >= program->n_exprs || expr->b >= program->n_exprs) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0, "an expression has a part that does not exist");
    }
    const bool divides = expr->kind == ARENAUT_EXPR_FLOOR_DIV ||
                         expr->kind == ARENAUT_EXPR_CEIL_DIV || expr->kind == ARENAUT_EXPR_MOD;
    if (divides && is_value(program, expr->b, 0)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0, "a size is divided by zero");
    }
    return ARENAUT_OK;
}

static bool is_leaf(const arenaut_expr *expr) {
    return expr->kind == ARENAUT_EXPR_VALUE || expr->kind == ARENAUT_EXPR_SYMBOL;
}

static bool same_expr(const arenaut_expr *a, const arenaut_expr *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == ARENAUT_EXPR_VALUE) return a->value == b->value;
    return a->a == b->a && (a->kind == ARENAUT_EXPR_SYMBOL || a->b == b->b);
}

/* Depth and parts are limited where expressions are made. */
static bool equal_exprs(const arenaut_program *program, uint32_t a, uint32_t b) {
    const arenaut_expr *ea = &program->exprs[a], *eb = &program->exprs[b];
    if (a == b || same_expr(ea, eb)) return true;
    if (ea->kind != eb->kind || is_leaf(ea)) return false;
    return equal_exprs(program, ea->a, eb->a) && equal_exprs(program, ea->b, eb->b);
}

bool arn_program_same_sizes(const arenaut_program *program, const arenaut_tensor *a,
                            const arenaut_tensor *b) {
    const bool vary = a->dynamic || b->dynamic;
    if (a->rank != b->rank || a->unsized || b->unsized) return false;
    if (vary && (!a->dim_exprs || !b->dim_exprs)) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        const uint32_t in_a = a->dim_exprs ? a->dim_exprs[i] : ARENAUT_NONE;
        const uint32_t in_b = b->dim_exprs ? b->dim_exprs[i] : ARENAUT_NONE;
        if ((in_a == ARENAUT_NONE) != (in_b == ARENAUT_NONE)) return false;
        if (in_a != ARENAUT_NONE && !equal_exprs(program, in_a, in_b)) return false;
        if (in_a == ARENAUT_NONE && (a->dims[i] != b->dims[i] || a->dims[i] < 0)) return false;
    }
    return true;
}

static uint32_t find_expr(const arenaut_program *program, const arenaut_expr *expr) {
    const uint32_t oldest = program->n_exprs > NEWEST ? program->n_exprs - NEWEST : 0;
    for (uint32_t e = program->n_exprs; e-- > oldest;) {
        if (same_expr(&program->exprs[e], expr)) return e;
    }
    return ARENAUT_NONE;
}

static arenaut_status append(arenaut_program *program, const arenaut_expr *expr, uint32_t *id,
                             arenaut_error *err) {
    struct arenaut_program_store *store = program->store;
    const range values = range_of(program, expr);
    arn_expr_facts facts = {values.min, values.max, 1, 1};
    if (!is_leaf(expr)) {
        const arn_expr_facts *a = &store->facts[expr->a], *b = &store->facts[expr->b];
        facts.parts += a->parts + b->parts;
        facts.depth += a->depth > b->depth ? a->depth : b->depth;
    }
    if (facts.parts > MAX_PARTS || facts.depth > MAX_DEPTH) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                        "an expression has more than %d parts, or is more than %d deep", MAX_PARTS,
                        MAX_DEPTH);
    }
    const uint64_t needed = (uint64_t)program->n_exprs + 1;
    if (!arn_grow(&store->allocator, (void **)&program->exprs, &store->exprs, needed,
                  sizeof *expr) ||
        !arn_grow(&store->allocator, (void **)&store->facts, &store->expr_facts, needed,
                  sizeof facts)) {
        return arn_no_memory(err);
    }
    program->exprs[program->n_exprs] = *expr;
    store->facts[program->n_exprs] = facts;
    *id = program->n_exprs++;
    return ARENAUT_OK;
}

arenaut_status arn_program_add_expr(arenaut_program *program, const arenaut_expr *expr,
                                    uint32_t *id, arenaut_error *err) {
    arenaut_status st = check_parts(program, expr, err);
    if (st != ARENAUT_OK) return st;
    arenaut_expr copy = *expr;
    uint32_t known = ARENAUT_NONE;
    if (!is_leaf(&copy)) {
        known = shortcut(program, &copy);
        st = known == ARENAUT_NONE ? fold(program, &copy, err) : ARENAUT_OK;
    }
    if (st == ARENAUT_OK && known == ARENAUT_NONE) known = find_expr(program, &copy);
    if (st == ARENAUT_OK && known == ARENAUT_NONE) st = append(program, &copy, &known, err);
    if (st == ARENAUT_OK && id) *id = known;
    return st;
}
