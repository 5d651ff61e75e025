/* --dim NAME=N gives a size of a model one value; NAME=LOW..HIGH and NAME=A,B,... all values
 * from the least to the largest, and the plan is then for the largest tensors. */
#include "dims.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/expr.h>

#include "files.h"

typedef struct dim {
    const char *name;
    size_t length;
    int64_t min, max;
} dim;

/* Digits from *at on; moves *at behind them. */
static bool take_number(const char **at, int64_t *number) {
    char digits[24];
    uint64_t value;
    const size_t length = strspn(*at, "0123456789");
    if (length == 0 || length >= sizeof digits) return false;
    memcpy(digits, *at, length);
    digits[length] = '\0';
    if (!parse_number(digits, &value) || value >= INT64_MAX) return false;
    *at += length;
    *number = (int64_t)value;
    return true;
}

/* Names may hold '=', so the last one counts. */
static bool parse_dim(const char *text, dim *out) {
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text) return false;
    const char *at = equals + 1;
    out->name = text;
    out->length = (size_t)(equals - text);
    if (!take_number(&at, &out->min)) return false;
    out->max = out->min;
    if (strncmp(at, "..", 2) == 0) {
        at += 2;
        return take_number(&at, &out->max) && out->max >= out->min && *at == '\0';
    }
    while (*at == ',') {
        int64_t value;
        at++;
        if (!take_number(&at, &value)) return false;
        if (value < out->min) out->min = value;
        if (value > out->max) out->max = value;
    }
    return *at == '\0';
}

static exit_code bind(const char *path, arenaut_program *program, const char *name, const dim *d) {
    arenaut_error err = {0};
    if (arenaut_program_bind(program, name, d->min, d->max, &err) == ARENAUT_OK) return EXIT_FINE;
    return complain(EXIT_USAGE, path, "--dim %.*s: %s", (int)d->length, d->name, err.msg);
}

/* "*" stands for all that have no value yet. */
static exit_code bind_rest(const char *path, arenaut_program *program, const dim *d) {
    exit_code code = EXIT_FINE;
    for (uint32_t i = 0; i < program->n_symbols && code == EXIT_FINE; i++) {
        const arenaut_symbol *symbol = &program->symbols[i];
        if (symbol->max == ARENAUT_UNBOUNDED) code = bind(path, program, symbol->name, d);
    }
    return code;
}

static exit_code bind_one(const char *path, arenaut_program *program, const dim *d) {
    char name[256];
    if (d->length >= sizeof name) {
        return complain(EXIT_USAGE, path, "--dim: the name is too long");
    }
    if (program->n_symbols == 0) {
        return complain(EXIT_USAGE, path,
                        "--dim %.*s: the file has no symbolic dimension that could be bound",
                        (int)d->length, d->name);
    }
    memcpy(name, d->name, d->length);
    name[d->length] = '\0';
    return bind(path, program, name, d);
}

exit_code bind_dims(const char *path, const tool_options *options, arenaut_program *program) {
    const dim everything = {"*", 1, 0, 0};
    exit_code code = EXIT_FINE;
    /* Names first, whatever the order: "*" is for the rest. */
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < options->dim.n && code == EXIT_FINE; i++) {
            const char *text = options->dim.items[i];
            dim d;
            if (!parse_dim(text, &d)) {
                return complain(EXIT_USAGE, NULL,
                                "--dim: '%s' is not NAME=N, NAME=LOW..HIGH or NAME=A,B,...", text);
            }
            if (d.max == 0) {
                return complain(EXIT_USAGE, NULL,
                                "--dim %.*s: a size of 0 leaves nothing to plan; 1 is the least",
                                (int)d.length, d.name);
            }
            const bool rest = d.length == everything.length && d.name[0] == '*';
            if (rest == (round == 1)) {
                code = rest ? bind_rest(path, program, &d) : bind_one(path, program, &d);
            }
        }
    }
    return code;
}

exit_code read_shapes(const char *file, arenaut_program *program) {
    input_file input;
    arenaut_error err = {0};
    exit_code code = input_open(file, &input);
    if (code == EXIT_FINE &&
        arenaut_shapes_read((const char *)input.data, input.size, program, &err)) {
        code = complain_error(file, &err);
    }
    input_close(&input);
    return code;
}

static uint32_t count_unsized(const arenaut_program *program) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < program->n_tensors; t++) n += program->tensors[t].unsized;
    return n;
}

/* Marks the symbols that an expression depends on. Readers keep expressions shallow. */
static void mark_symbols(const arenaut_program *program, uint32_t expr, bool *marked) {
    const arenaut_expr *e = &program->exprs[expr];
    if (e->kind == ARENAUT_EXPR_SYMBOL) marked[e->a] = true;
    if (e->kind == ARENAUT_EXPR_SYMBOL || e->kind == ARENAUT_EXPR_VALUE) return;
    mark_symbols(program, e->a, marked);
    mark_symbols(program, e->b, marked);
}

/* The symbols that inputs have: those of other tensors follow from them, or from nothing that
 * a user could know. */
static bool *symbols_of_inputs(const arenaut_program *program) {
    bool *marked = must_allocate(program->n_symbols, sizeof *marked);
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        for (uint32_t i = 0; i < method->n_inputs && method->entry; i++) {
            const arenaut_tensor *tensor = &program->tensors[method->inputs[i]];
            for (uint32_t k = 0; k < tensor->rank && tensor->dim_exprs; k++) {
                const uint32_t expr = tensor->dim_exprs[k];
                if (expr != ARENAUT_NONE) mark_symbols(program, expr, marked);
            }
        }
    }
    return marked;
}

exit_code check_dims(const char *path, const arenaut_program *program) {
    arenaut_text names = {0}, flags = {0};
    uint32_t n = 0;
    enum { SHOWN = 8 };
    bool *of_inputs = symbols_of_inputs(program);
    for (uint32_t i = 0; i < program->n_symbols; i++) {
        const arenaut_symbol *symbol = &program->symbols[i];
        if (!of_inputs[i] || symbol->max != ARENAUT_UNBOUNDED || n++ >= SHOWN) continue;
        text_printf(&names, "%s'", names.size ? ", " : "");
        text_put_clean(&names, symbol->name);
        text_put(&names, "'");
        text_put(&flags, " --dim '");
        text_put_clean(&flags, symbol->name);
        text_put(&flags, "=1'");
    }
    free(of_inputs);
    exit_code code = EXIT_FINE;
    if (n > 0 && count_unsized(program) > 0) {
        code = complain(EXIT_INPUT, path, "the size%s %s%s %s open: give %s, e.g. with%s",
                        n > 1 ? "s" : "", names.bytes, n > SHOWN ? " and more" : "",
                        n > 1 ? "are" : "is", n > 1 ? "them" : "it", flags.bytes);
    }
    arenaut_text_free(&names);
    arenaut_text_free(&flags);
    return code;
}

void note_unsized(const char *path, const arenaut_program *program) {
    enum { SHOWN = 5 };
    const uint32_t all = count_unsized(program);
    arenaut_text names = {0};
    uint32_t n = 0;
    if (all == 0) return;
    for (uint32_t t = 0; t < program->n_tensors && n < SHOWN; t++) {
        char store[24];
        if (!program->tensors[t].unsized) continue;
        text_put(&names, n++ ? ", '" : "'");
        text_put_clean(&names, arenaut_program_tensor_name(program, t, store));
        text_put(&names, "'");
    }
    note(path, "%" PRIu32 " tensor%s no size that could be known, and %s not planned: %s%s", all,
         all > 1 ? "s have" : " has", all > 1 ? "are" : "is", names.bytes,
         all > SHOWN ? ", ..." : "");
    arenaut_text_free(&names);
}
