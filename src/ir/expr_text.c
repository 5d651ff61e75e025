/* Parser and printer of expressions, in the notation of people and of model files.
 *
 * In the parser, every value is a quotient of two expressions, so that halves and thirds inside
 * floor( ) and ceil( ) are exact: floor(floor(h/2 - 1/2)/2) is two divisions of whole numbers, and
 * nothing is ever rounded that the text does not round. */
#include <arenaut/expr.h>

#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "core/writer.h"
#include "ir/expr.h"
#include "ir/store.h"

enum { MAX_NESTING = 64, MAX_NAME = 255, MAX_POWER = 8 };

typedef struct parser {
    arenaut_program *program;
    const char *text;
    size_t length, at;
    unsigned nesting;
    uint32_t one;
    arenaut_status status;
    arenaut_error *err;
} parser;

/* over / under; under is the number 1 where the value is whole. */
typedef struct quotient {
    uint32_t over, under;
} quotient;

static bool fine(const parser *p) { return p->status == ARENAUT_OK; }

static void fail_here(parser *p, const char *what) {
    if (!fine(p)) return;
    p->status = arn_fail(p->err, ARENAUT_BAD_INPUT, p->at + 1, "column %zu of '%.*s': %s",
                         p->at + 1, p->length < 80 ? (int)p->length : 80, p->text, what);
}

/* ---- values ---- */

static uint32_t make(parser *p, arenaut_expr_kind kind, uint32_t a, uint32_t b) {
    const arenaut_expr expr = {.kind = kind, .a = a, .b = b};
    uint32_t id = p->one;
    arenaut_error inner = {ARENAUT_OK, 0, ""};
    if (!fine(p)) return id;
    p->status = arn_program_add_expr(p->program, &expr, &id, &inner);
    if (!fine(p)) {
        arn_fail(p->err, p->status, p->at + 1, "column %zu of '%.*s': %s", p->at + 1,
                 p->length < 80 ? (int)p->length : 80, p->text, inner.msg);
    }
    return id;
}

static uint32_t make_value(parser *p, int64_t value) {
    const arenaut_expr expr = {.kind = ARENAUT_EXPR_VALUE, .value = value};
    uint32_t id = p->one;
    if (fine(p)) p->status = arn_program_add_expr(p->program, &expr, &id, p->err);
    return id;
}

/* The number that an expression is; 0 where it is none. */
static int64_t number_of(const parser *p, uint32_t expr) {
    const arenaut_expr *e = &p->program->exprs[expr];
    return e->kind == ARENAUT_EXPR_VALUE ? e->value : 0;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* expr == factor * *other, as far as one sees without computing. */
static int64_t visible_factor(const parser *p, uint32_t expr, uint32_t *other) {
    const arenaut_expr *e = &p->program->exprs[expr];
    *other = p->one;
    if (e->kind == ARENAUT_EXPR_VALUE) return e->value;
    const bool left = e->kind == ARENAUT_EXPR_MUL && number_of(p, e->a) != 0;
    const bool right = e->kind == ARENAUT_EXPR_MUL && number_of(p, e->b) != 0;
    *other = left ? e->b : right ? e->a : expr;
    return left ? number_of(p, e->a) : right ? number_of(p, e->b) : 1;
}

/* Cancels numbers that both sides have, so that 2*x/2 is whole and 4/2 is 2; the denominator is
 * positive afterwards. */
static quotient reduce(parser *p, quotient q) {
    const int64_t under = number_of(p, q.under);
    if (!fine(p) || q.under == p->one || under == 0) return q;
    uint32_t other;
    const int64_t factor = visible_factor(p, q.over, &other);
    int64_t common = greatest_common_divisor(factor, under);
    if (under < 0) common = -common;
    if (common == 1) return q;
    const uint32_t rest = make_value(p, factor / common);
    q.over = make(p, ARENAUT_EXPR_MUL, rest, other);
    q.under = make_value(p, under / common);
    return q;
}

static quotient whole_number(parser *p, uint32_t expr) { return (quotient){expr, p->one}; }

/* Both over one denominator, then `kind` of the numerators. */
static quotient combine(parser *p, arenaut_expr_kind kind, quotient a, quotient b) {
    if (number_of(p, a.under) != 0 && number_of(p, a.under) == number_of(p, b.under)) {
        const uint32_t over = make(p, kind, a.over, b.over);
        return reduce(p, (quotient){over, a.under});
    }
    const uint32_t left = make(p, ARENAUT_EXPR_MUL, a.over, b.under);
    const uint32_t right = make(p, ARENAUT_EXPR_MUL, b.over, a.under);
    const uint32_t over = make(p, kind, left, right);
    const uint32_t under = make(p, ARENAUT_EXPR_MUL, a.under, b.under);
    return reduce(p, (quotient){over, under});
}

static quotient multiplied(parser *p, quotient a, quotient b) {
    const uint32_t over = make(p, ARENAUT_EXPR_MUL, a.over, b.over);
    const uint32_t under = make(p, ARENAUT_EXPR_MUL, a.under, b.under);
    return reduce(p, (quotient){over, under});
}

static quotient divided(parser *p, quotient a, quotient b) {
    if (p->program->exprs[b.over].kind == ARENAUT_EXPR_VALUE && number_of(p, b.over) == 0) {
        fail_here(p, "division by zero");
    }
    return multiplied(p, a, (quotient){b.under, b.over});
}

static quotient rounded(parser *p, arenaut_expr_kind kind, quotient q) {
    if (q.under == p->one) return q;
    return whole_number(p, make(p, kind, q.over, q.under));
}

/* A division that rounds. Of whole numbers it stays as it is written. */
static quotient divided_whole(parser *p, arenaut_expr_kind kind, quotient a, quotient b) {
    if (a.under != p->one || b.under != p->one) return rounded(p, kind, divided(p, a, b));
    return whole_number(p, make(p, kind, a.over, b.over));
}

/* A quotient as a size. A number must come out whole; of a symbolic size the file says so, and
 * rounding upwards is safe in case it does not. */
static uint32_t whole(parser *p, quotient q) {
    if (q.under != p->one && p->program->exprs[q.over].kind == ARENAUT_EXPR_VALUE &&
        number_of(p, q.under) != 0) {
        fail_here(p, "the number is not whole; only inside floor( ) and ceil( ) it may be");
    }
    return rounded(p, ARENAUT_EXPR_CEIL_DIV, q).over;
}

/* ---- words and signs ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool begins_name(char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || c == '_'; }
static bool in_name(char c) { return begins_name(c) || is_digit(c) || c == '.' || c == ':'; }

static char next_char(parser *p) {
    while (p->at < p->length && is_space(p->text[p->at])) p->at++;
    return p->at < p->length ? p->text[p->at] : '\0';
}

static bool take(parser *p, const char *sign) {
    next_char(p);
    const size_t length = strlen(sign);
    if (p->length - p->at < length || memcmp(p->text + p->at, sign, length) != 0) return false;
    p->at += length;
    return true;
}

static void expect(parser *p, const char *sign) {
    if (!take(p, sign)) fail_here(p, *sign == ')' ? "expected ')'" : "expected ','");
}

static quotient parse_sum(parser *p);

/* Digits, of which some may stand behind a point. */
static quotient parse_number(parser *p) {
    int64_t over = 0, under = 1;
    quotient q;
    bool point = false, any = false;
    for (; p->at < p->length; p->at++) {
        const char c = p->text[p->at];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(c)) break;
        if (over > (INT64_MAX - 10) / 10 || under > INT64_MAX / 10) {
            fail_here(p, "the number has too many digits");
            break;
        }
        over = over * 10 + (c - '0');
        if (point) under *= 10;
        any = true;
    }
    if (!any) fail_here(p, "expected a number");
    q.over = make_value(p, over);
    q.under = make_value(p, under);
    return reduce(p, q);
}

static quotient parse_symbol(parser *p, const char *name, size_t length) {
    char copy[MAX_NAME + 1];
    if (length == 0 || length > MAX_NAME) {
        fail_here(p, "a name has from 1 to 255 letters");
        return whole_number(p, p->one);
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    arenaut_expr expr = {.kind = ARENAUT_EXPR_SYMBOL};
    uint32_t id = p->one;
    expr.a = arn_program_find_symbol(p->program, copy);
    if (fine(p) && expr.a == ARENAUT_NONE) {
        p->status = arn_program_add_symbol(p->program, copy, 0, ARENAUT_UNBOUNDED, &expr.a, p->err);
    }
    if (fine(p)) p->status = arn_program_add_expr(p->program, &expr, &id, p->err);
    return whole_number(p, id);
}

typedef enum call { FLOOR, CEIL, MIN, MAX, MOD, FLOOR_DIV, CEIL_DIV, NO_CALL } call;

static bool same_word(const char *text, size_t length, const char *word) {
    size_t i = 0;
    while (i < length && word[i] && lower(text[i]) == word[i]) i++;
    return i == length && !word[i];
}

static call call_named(const char *text, size_t length) {
    static const struct {
        const char *word;
        call call;
    } words[] = {
        {"floor", FLOOR}, {"ceil", CEIL}, {"ceiling", CEIL},       {"min", MIN},
        {"max", MAX},     {"mod", MOD},   {"floordiv", FLOOR_DIV}, {"ceildiv", CEIL_DIV},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (same_word(text, length, words[i].word)) return words[i].call;
    }
    return NO_CALL;
}

static quotient remainder_of(parser *p, quotient a, quotient b) {
    const uint32_t left = whole(p, a), right = whole(p, b);
    return whole_number(p, make(p, ARENAUT_EXPR_MOD, left, right));
}

/* min and max of any number of arguments. */
static quotient parse_choice(parser *p, arenaut_expr_kind kind) {
    quotient q = parse_sum(p);
    while (fine(p) && take(p, ",")) q = combine(p, kind, q, parse_sum(p));
    return q;
}

static quotient parse_pair(parser *p, call called) {
    const quotient a = parse_sum(p);
    expect(p, ",");
    const quotient b = parse_sum(p);
    if (called == MOD) return remainder_of(p, a, b);
    const bool up = called == CEIL_DIV;
    return divided_whole(p, up ? ARENAUT_EXPR_CEIL_DIV : ARENAUT_EXPR_FLOOR_DIV, a, b);
}

static quotient parse_call(parser *p, call called) {
    quotient q;
    take(p, "(");
    switch (called) {
        case FLOOR: q = rounded(p, ARENAUT_EXPR_FLOOR_DIV, parse_sum(p)); break;
        case CEIL: q = rounded(p, ARENAUT_EXPR_CEIL_DIV, parse_sum(p)); break;
        case MIN: q = parse_choice(p, ARENAUT_EXPR_MIN); break;
        case MAX: q = parse_choice(p, ARENAUT_EXPR_MAX); break;
        default: q = parse_pair(p, called); break;
    }
    expect(p, ")");
    return q;
}

/* A name in front of a parenthesis is a function. */
static quotient parse_name(parser *p) {
    const char *name = p->text + p->at;
    const size_t from = p->at;
    while (p->at < p->length && in_name(p->text[p->at])) p->at++;
    const size_t length = p->at - from;
    if (next_char(p) != '(') return parse_symbol(p, name, length);
    const call found = call_named(name, length);
    if (found != NO_CALL) return parse_call(p, found);
    p->at = from;
    fail_here(p, "unknown function; there are floor, ceil, min, max, mod, floordiv and ceildiv");
    return whole_number(p, p->one);
}

static quotient parse_atom(parser *p) {
    const char c = next_char(p);
    if (c == '`') {
        const char *name = p->text + p->at + 1;
        const char *end = memchr(name, '`', p->length - p->at - 1);
        if (end) {
            p->at += (size_t)(end - name) + 2;
            return parse_symbol(p, name, (size_t)(end - name));
        }
        fail_here(p, "a backquote without its partner");
    }
    if (take(p, "(")) {
        const quotient q = parse_sum(p);
        expect(p, ")");
        return q;
    }
    if (begins_name(c)) return parse_name(p);
    if (is_digit(c) || c == '.') return parse_number(p);
    fail_here(p, "expected a number, a name or '('");
    return whole_number(p, p->one);
}

static quotient parse_unary(parser *p);

static quotient parse_power(parser *p) {
    const quotient base = parse_atom(p);
    if (!fine(p) || !take(p, "**")) return base;
    const quotient exponent = parse_unary(p);
    const arenaut_expr *e = &p->program->exprs[exponent.over];
    if (!fine(p) || exponent.under != p->one || e->kind != ARENAUT_EXPR_VALUE || e->value < 0 ||
        e->value > MAX_POWER) {
        fail_here(p, "powers are whole numbers from 0 to 8");
        return base;
    }
    quotient power = whole_number(p, p->one);
    for (int64_t n = e->value; n > 0; n--) power = multiplied(p, power, base);
    return power;
}

/* All that nests passes through here, so that depth is counted in one place. */
static quotient parse_unary(parser *p) {
    if (p->nesting == MAX_NESTING) fail_here(p, "nested too deeply");
    if (!fine(p)) return whole_number(p, p->one);
    p->nesting++;
    quotient q;
    if (take(p, "-")) {
        q = parse_unary(p);
        q.over = make(p, ARENAUT_EXPR_MUL, make_value(p, -1), q.over);
    } else if (take(p, "+")) {
        q = parse_unary(p);
    } else {
        q = parse_power(p);
    }
    p->nesting--;
    return q;
}

static quotient parse_product(parser *p) {
    quotient q = parse_unary(p);
    while (fine(p)) {
        if (take(p, "*")) q = multiplied(p, q, parse_unary(p));
        else if (take(p, "//")) q = divided_whole(p, ARENAUT_EXPR_FLOOR_DIV, q, parse_unary(p));
        else if (take(p, "/")) q = divided(p, q, parse_unary(p));
        else if (take(p, "%")) q = remainder_of(p, q, parse_unary(p));
        else break;
    }
    return q;
}

static quotient parse_sum(parser *p) {
    quotient q = parse_product(p);
    while (fine(p)) {
        if (take(p, "+")) q = combine(p, ARENAUT_EXPR_ADD, q, parse_product(p));
        else if (take(p, "-")) q = combine(p, ARENAUT_EXPR_SUB, q, parse_product(p));
        else break;
    }
    return q;
}

arenaut_status arn_expr_parse(arenaut_program *program, const char *text, size_t length,
                              uint32_t *id, arenaut_error *err) {
    parser p = {.program = program, .text = text, .length = length, .err = err};
    p.one = make_value(&p, 1);
    if (!fine(&p)) return p.status;
    const quotient q = parse_sum(&p);
    if (fine(&p) && (next_char(&p) != '\0' || p.at < length)) {
        fail_here(&p, "expected an operator or the end");
    }
    const uint32_t result = fine(&p) ? whole(&p, q) : ARENAUT_NONE;
    if (fine(&p)) *id = result;
    return p.status;
}

/* ---- writing ---- */

/* Precedence: sums least, atoms (without parentheses) most. */
enum { SUM = 1, PRODUCT, ATOM };

static void put_symbol(arn_writer *w, const char *name) {
    bool plain = begins_name(name[0]);
    for (const char *c = name; *c && plain; c++) plain = in_name(*c);
    arn_putf(w, plain ? "%s" : "`%s`", name);
}

static void put_expr(arn_writer *w, const arenaut_program *program, uint32_t expr, int around);

static void put_operator(arn_writer *w, const arenaut_program *program, const arenaut_expr *e,
                         const char *sign, int bound, int around) {
    if (bound < around) arn_puts(w, "(");
    put_expr(w, program, e->a, bound);
    arn_puts(w, sign);
    put_expr(w, program, e->b, bound + 1);
    if (bound < around) arn_puts(w, ")");
}

static void put_call(arn_writer *w, const arenaut_program *program, const arenaut_expr *e,
                     const char *name) {
    arn_puts(w, name);
    put_expr(w, program, e->a, SUM);
    arn_puts(w, ", ");
    put_expr(w, program, e->b, SUM);
    arn_puts(w, ")");
}

/* Expressions are never deeper than adding them allows. */
static void put_expr(arn_writer *w, const arenaut_program *program, uint32_t expr, int around) {
    const arenaut_expr *e = &program->exprs[expr];
    switch (e->kind) {
        case ARENAUT_EXPR_VALUE: arn_putf(w, "%" PRId64, e->value); break;
        case ARENAUT_EXPR_SYMBOL: put_symbol(w, program->symbols[e->a].name); break;
        case ARENAUT_EXPR_ADD: put_operator(w, program, e, " + ", SUM, around); break;
        case ARENAUT_EXPR_SUB: put_operator(w, program, e, " - ", SUM, around); break;
        case ARENAUT_EXPR_MUL: put_operator(w, program, e, "*", PRODUCT, around); break;
        case ARENAUT_EXPR_FLOOR_DIV: put_operator(w, program, e, "//", PRODUCT, around); break;
        case ARENAUT_EXPR_MOD: put_operator(w, program, e, " % ", PRODUCT, around); break;
        case ARENAUT_EXPR_CEIL_DIV: put_call(w, program, e, "ceildiv("); break;
        case ARENAUT_EXPR_MIN: put_call(w, program, e, "min("); break;
        case ARENAUT_EXPR_MAX: put_call(w, program, e, "max("); break;
        default: break;
    }
}

arenaut_status arn_expr_write(const arenaut_program *program, uint32_t expr, arenaut_sink sink,
                              arenaut_error *err) {
    if (expr >= program->n_exprs) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "expression %" PRIu32 " does not exist; there are %" PRIu32, expr,
                        program->n_exprs);
    }
    arn_writer writer = arn_writer_to(sink);
    put_expr(&writer, program, expr, SUM);
    return arn_writer_finish(&writer, err);
}
