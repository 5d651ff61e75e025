/* Reads pools from a small part of TOML: [[pool]] tables of strings and whole numbers, and
 * comments. Each pool becomes the text that --pool takes, so that both mean the same and one parser
 * (flag_values.c) judges them. Unknown text is an error with its line: a misspelt key that went
 * unnoticed would be a plan for another machine. */

#include <stdlib.h>
#include <string.h>

#include "flag_values.h"
#include "files.h"

/* A value is tried as the only part of a --pool text that could be wrong. */
static const struct {
    const char *key, *before, *after;
} keys[] = {{"name", "", "=1"}, {"size", "x=", ""}, {"align", "x=1@", ""}, {"device", "x=1:", ""}};
enum { NAME, SIZE, ALIGN, DEVICE, N_KEYS };

typedef struct pools_reader {
    tool_options *options;
    const char *path;
    size_t line, pool_line;     /* from 1; pool_line: 0 before the first pool */
    const char *values[N_KEYS]; /* of the pool that is being read; NULL: not said */
} pools_reader;

static exit_code bad_line(const pools_reader *r, size_t line, const char *what, const char *about) {
    return complain(EXIT_INPUT, r->path, "line %zu: %s%s%s%s", line, what, about ? " '" : "",
                    about ? about : "", about ? "'" : "");
}

static char *joined(const char *const parts[], size_t n) {
    size_t length = 1;
    for (size_t i = 0; i < n; i++) length += strlen(parts[i]);
    char *text = must_allocate(length, 1);
    for (size_t i = 0; i < n; i++) strcat(text, parts[i]);
    return text;
}

/* Adds the pool that was read, if one was. */
static exit_code end_pool(pools_reader *r) {
    text_list *pools = &r->options->pool;
    const char *const *v = r->values;
    if (r->pool_line == 0) return EXIT_FINE;
    if (!v[NAME]) return bad_line(r, r->pool_line, "the pool has no name", NULL);
    if (!v[SIZE]) return bad_line(r, r->pool_line, "the pool has no size", NULL);
    if (pools->n == ARENAUT_MAX_POOLS) return bad_line(r, r->pool_line, "one pool too many", NULL);
    for (size_t i = 0; i < pools->n; i++) {
        const size_t length = strcspn(pools->items[i], "=");
        if (strlen(v[NAME]) != length || strncmp(pools->items[i], v[NAME], length) != 0) continue;
        return bad_line(r, r->pool_line, "an earlier pool is called", v[NAME]);
    }
    const char *const parts[] = {v[NAME],
                                 "=",
                                 v[SIZE],
                                 v[ALIGN] ? "@" : "",
                                 v[ALIGN] ? v[ALIGN] : "",
                                 v[DEVICE] ? ":" : "",
                                 v[DEVICE] ? v[DEVICE] : ""};
    char *pool = joined(parts, sizeof parts / sizeof *parts);
    list_add(&r->options->owned, pool);
    list_add(pools, pool);
    return EXIT_FINE;
}

static char *skip_blanks(char *at) { return at + strspn(at, " \t"); }

static bool is_end(const char *at) { return *at == '\0' || *at == '#'; }

/* Whether this is a whole number; underscores between its digits are dropped. */
static bool clean_number(char *number) {
    char *to = number;
    for (const char *from = number; *from; from++) {
        const bool between = from > number && from[-1] != '_' && from[1] != '\0';
        if (*from >= '0' && *from <= '9') *to++ = *from;
        else if (*from != '_' || !between) return false;
    }
    *to = '\0';
    return to > number;
}

/* The string or number at `at`, ended in place. NULL if it is neither, or something follows. */
static const char *take_value(char *at) {
    const char quote = *at == '"' || *at == '\'' ? *at : '\0';
    char *end = quote ? strchr(at + 1, quote) : at + strcspn(at, " \t#");
    if (!end || !is_end(skip_blanks(quote ? end + 1 : end))) return NULL;
    *end = '\0';
    if (!quote) return clean_number(at) ? at : NULL;
    return quote == '"' && strchr(at, '\\') ? NULL : at + 1;
}

static exit_code take_key(pools_reader *r, char *at) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t length = strspn(at, letters);
    char *equals = skip_blanks(at + length);
    if (length == 0 || *equals != '=') {
        return bad_line(r, r->line, "neither [[pool]] nor KEY = VALUE", NULL);
    }
    at[length] = '\0';
    size_t k = 0;
    while (k < N_KEYS && strcmp(keys[k].key, at) != 0) k++;
    if (k == N_KEYS) {
        return bad_line(r, r->line, "a pool has name, size, align and device, and no", at);
    }
    if (r->pool_line == 0) return bad_line(r, r->line, "[[pool]] comes before", at);
    if (r->values[k]) return bad_line(r, r->line, "this pool has a second", at);
    const char *value = take_value(skip_blanks(equals + 1));
    if (!value) {
        return bad_line(r, r->line, "expected a whole number or a \"string\" without escapes as",
                        at);
    }
    if (!*value || value[strcspn(value, "=@:\t")]) {
        return bad_line(r, r->line, "there must be text without '=', '@' and ':' as", at);
    }
    const char *const parts[] = {keys[k].before, value, keys[k].after};
    char *text = joined(parts, 3);
    arenaut_pool pool;
    const char *wrong = pool_problem(text, &pool);
    free(text);
    if (wrong) return bad_line(r, r->line, wrong, NULL);
    r->values[k] = value;
    return EXIT_FINE;
}

static exit_code take_line(pools_reader *r, char *at) {
    static const char header[] = "[[pool]]";
    const size_t length = strlen(at);
    if (length && at[length - 1] == '\r') at[length - 1] = '\0';
    at = skip_blanks(at);
    if (is_end(at)) return EXIT_FINE;
    if (*at != '[') return take_key(r, at);
    const bool known = strncmp(at, header, sizeof header - 1) == 0;
    if (!known || !is_end(skip_blanks(at + sizeof header - 1))) {
        return bad_line(r, r->line, "the only table is [[pool]], not", at);
    }
    const exit_code code = end_pool(r);
    r->pool_line = r->line;
    memset(r->values, 0, sizeof r->values);
    return code;
}

static exit_code read_text(pools_reader *r, char *text, size_t size) {
    exit_code code = EXIT_FINE;
    char *next = text;
    while (next && code == EXIT_FINE) {
        char *line = next;
        next = memchr(line, '\n', size - (size_t)(line - text));
        if (next) *next++ = '\0';
        r->line++;
        code = take_line(r, line);
    }
    if (code == EXIT_FINE) code = end_pool(r);
    if (code == EXIT_FINE && r->pool_line == 0) {
        code = complain(EXIT_INPUT, r->path, "holds no [[pool]]");
    }
    return code;
}

exit_code read_pools_file(tool_options *options) {
    input_file input;
    if (!options->pools_file) return EXIT_FINE;
    if (options->pool.n) {
        return complain(EXIT_USAGE, NULL, "--pool and --pools exclude each other");
    }
    exit_code code = input_open(options->pools_file, &input);
    if (code == EXIT_FINE && input.size && memchr(input.data, '\0', input.size)) {
        code = complain(EXIT_INPUT, input.path, "is no text: it holds a byte 0");
    }
    if (code == EXIT_FINE) {
        pools_reader r = {.options = options, .path = input.path};
        char *text = must_allocate(input.size + 1, 1);
        if (input.size) memcpy(text, input.data, input.size);
        code = read_text(&r, text, input.size);
        free(text);
    }
    input_close(&input);
    return code;
}
