/* Parsing the command line. A flag is one row of the table; nothing else knows flags. */
#include "args.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum flag_kind {
    FLAG_SWITCH, /* bool */
    FLAG_LEVEL,  /* unsigned, counts up */
    FLAG_TEXT,   /* const char * */
    FLAG_LIST,   /* text_list, repeatable */
    FLAG_NUMBER, /* uint64_t, and so the next two */
    FLAG_SIZE,
    FLAG_TIME,
} flag_kind;

typedef struct flag_row {
    const char *name;
    char letter; /* 0: none */
    flag_kind kind;
    unsigned group;
    size_t field;        /* offset in options */
    const char *value;   /* what help calls its value; choices are "a|b" in `choices` */
    const char *choices; /* NULL: any */
    const char *help;
} flag_row;

#define FIELD(name) offsetof(tool_options, name)

/* The order is that of help. A flag belongs to one group, and a verb takes whole groups: what
 * a verb does not take is a usage error, never ignored. */
static const flag_row flags[] = {
    {"output", 'o', FLAG_TEXT, GROUP_OUTPUT, FIELD(output), "FILE", NULL,
     "write here; '-' is standard output"},
    {"force", 'f', FLAG_SWITCH, GROUP_OUTPUT, FIELD(force), NULL, NULL,
     "overwrite an existing file; replace another tool's plan"},
    {"as", 0, FLAG_TEXT, GROUP_EXPORT, FIELD(as), "FORMAT", NULL, "what to write (see below)"},
    {"svg", 0, FLAG_SWITCH, GROUP_VIEW, FIELD(svg), NULL, NULL, "a picture as SVG"},
    {"ascii", 0, FLAG_SWITCH, GROUP_VIEW, FIELD(ascii), NULL, NULL, "a picture made of characters"},
    {"width", 0, FLAG_NUMBER, GROUP_VIEW, FIELD(width), "N", NULL,
     "columns of --ascii (default: the terminal's, else 80)"},

    {"planner", 0, FLAG_TEXT, GROUP_SEARCH, FIELD(planner), "NAME", NULL,
     "default auto; 'arenaut planners' lists them; bench takes a,b,..."},
    {"set", 0, FLAG_LIST, GROUP_SEARCH, FIELD(set), "NAME=VALUE", NULL,
     "a setting of that planner, such as match_range=0; repeat"},
    {"effort", 0, FLAG_NUMBER, GROUP_SEARCH, FIELD(effort), "N", NULL, "search steps"},
    {"time", 0, FLAG_TIME, GROUP_SEARCH, FIELD(time_ms), "TIME", NULL,
     "search so long, e.g. 2s or 500ms; with --effort, whichever is first"},
    {"seed", 0, FLAG_NUMBER, GROUP_SEARCH, FIELD(seed), "N", NULL, "of random choices (default 0)"},
    {"threads", 'j', FLAG_NUMBER, GROUP_SEARCH, FIELD(threads), "N", NULL,
     "never changes the result (default 1)"},
    {"capacity", 0, FLAG_SIZE, GROUP_SEARCH, FIELD(capacity), "SIZE", NULL,
     "fit into SIZE rather than minimise"},
    {"no-progress", 0, FLAG_SWITCH, GROUP_SEARCH, FIELD(no_progress), NULL, NULL,
     "no progress line on a terminal"},
    {"budget", 0, FLAG_SIZE, GROUP_BUDGET, FIELD(budget), "SIZE", NULL,
     "exit 1 if the arena is larger"},

    {"from", 0, FLAG_TEXT, GROUP_INPUT, FIELD(from), "FORMAT", NULL,
     "the input's format (default: by content)"},
    {"hash", 0, FLAG_SWITCH, GROUP_INPUT, FIELD(hash), NULL, NULL, "compute the file's sha256"},
    {"max-memory", 0, FLAG_SIZE, GROUP_INPUT, FIELD(max_memory), "SIZE", NULL,
     "of this process (default: what the system gives)"},
    {"target", 0, FLAG_TEXT, GROUP_MODEL, FIELD(target), "NAME", NULL,
     "the runtime (default: by format; 'arenaut targets')"},
    {"method", 0, FLAG_TEXT, GROUP_MODEL, FIELD(method), "NAME", NULL,
     "only this entry method (default: all)"},
    {"scratch", 0, FLAG_TEXT, GROUP_MODEL, FIELD(scratch), "FILE", NULL,
     "kernel scratch bytes per op, CSV: method,op,bytes"},
    {"align", 0, FLAG_LIST, GROUP_MODEL, FIELD(align), "N|TENSOR=N", NULL,
     "at least this alignment (default: the target's)"},
    {"align-op", 0, FLAG_LIST, GROUP_MODEL, FIELD(align_op), "OP=N", NULL,
     "at least this alignment for all arguments of these ops; repeat"},
    {"no-alloc-io", 0, FLAG_SWITCH, GROUP_MODEL, FIELD(no_alloc_io), NULL, NULL,
     "inputs and outputs are not in the arena"},
    {"preserve-inputs", 0, FLAG_SWITCH, GROUP_MODEL, FIELD(preserve_inputs), NULL, NULL,
     "inputs keep their bytes (default: may be overwritten after their last use)"},
    {"inplace", 0, FLAG_TEXT, GROUP_MODEL, FIELD(inplace), "on|off|only", "on|off|only",
     "ops may write over an operand (default off); only: where --inplace-op says"},
    {"inplace-op", 0, FLAG_LIST, GROUP_MODEL, FIELD(inplace_op), "OP=INPUT[:OUTPUT]", NULL,
     "this kernel may write an output over that input (numbered from 0); repeat"},
    {"reorder", 0, FLAG_TEXT, GROUP_MODEL, FIELD(reorder), "off|on", "off|on",
     "only off: this build keeps the order of ops"},
    {"dim", 0, FLAG_LIST, GROUP_MODEL, FIELD(dim), "NAME=N", NULL,
     "a size that the model leaves open; or LOW..HIGH, or A,B"},
    {"shapes", 0, FLAG_TEXT, GROUP_MODEL, FIELD(shapes), "FILE", NULL,
     "sizes of tensors that nothing else tells, CSV: name,2x3x4"},
    {"share", 0, FLAG_TEXT, GROUP_MODEL, FIELD(share), "NAMES|auto", NULL,
     "buffers that several files share: one layout"},
    {"passes", 0, FLAG_TEXT, GROUP_MODEL, FIELD(passes), "a,b,-c", NULL,
     "add passes, leave out others ('arenaut passes')"},
    {"dump-after", 0, FLAG_TEXT, GROUP_MODEL, FIELD(dump_after), "PASS", NULL,
     "the program after this pass, as JSON on standard error"},
    {"pool", 0, FLAG_LIST, GROUP_MODEL, FIELD(pool), "NAME=SIZE[@ALIGN][:DEVICE]", NULL,
     "memory to place buffers in; repeat, fastest first"},
    {"pools", 0, FLAG_TEXT, GROUP_MODEL, FIELD(pools_file), "FILE.toml", NULL,
     "the same from a file; not in this build"},
    {"pin", 0, FLAG_LIST, GROUP_MODEL, FIELD(pin), "TENSOR=POOL[:OFFSET]", NULL,
     "keep a tensor in a pool, or at an offset"},

    {"json", 0, FLAG_SWITCH, GROUP_JSON, FIELD(json), NULL, NULL,
     "one JSON document on standard output"},
    {"jsonl", 0, FLAG_SWITCH, GROUP_JSON, FIELD(jsonl), NULL, NULL, "one JSON document per file"},
    {"quiet", 'q', FLAG_SWITCH, GROUP_COMMON, FIELD(quiet), NULL, NULL, "results and errors only"},
    {"verbose", 'v', FLAG_LEVEL, GROUP_COMMON, FIELD(verbose), NULL, NULL,
     "say more; -vv still more"},
    {"color", 0, FLAG_TEXT, GROUP_COMMON, FIELD(color), "WHEN", "auto|always|never",
     "auto, always or never (default auto)"},
    {"help", 'h', FLAG_SWITCH, GROUP_COMMON, FIELD(help), NULL, NULL, "this help"},
};
enum { N_FLAGS = sizeof flags / sizeof *flags };

bool flag_at(size_t index, flag_entry *entry) {
    if (index >= N_FLAGS) return false;
    const flag_row *row = &flags[index];
    *entry = (flag_entry){row->name, row->letter, row->group, row->value, row->choices, row->help};
    return true;
}

/* Digits only. UINT64_MAX is refused, since it stands for "not given". */
bool parse_number(const char *text, uint64_t *number) {
    uint64_t n = 0;
    if (!*text) return false;
    for (; *text; text++) {
        const unsigned digit = (unsigned)(*text - '0');
        if (digit > 9 || n > (UINT64_MAX - 1 - digit) / 10) return false;
        n = n * 10 + digit;
    }
    *number = n;
    return true;
}

/* Reads "12.345" in multiples of `unit`, rounded down, without leaving the integers. The
 * fraction is taken from its last digit inwards; flooring at each step changes nothing,
 * since floor((n + floor(x)) / 10) = floor((n + x) / 10). */
static bool parse_decimal(const char *text, size_t length, uint64_t unit, uint64_t *value) {
    const char *point = memchr(text, '.', length);
    const size_t whole_length = point ? (size_t)(point - text) : length;
    uint64_t whole = 0, fraction = 0;
    if (whole_length == 0 || (point && whole_length + 1 == length)) return false;
    for (size_t i = 0; i < whole_length; i++) {
        const unsigned digit = (unsigned)(text[i] - '0');
        if (digit > 9 || whole > (UINT64_MAX - digit) / 10) return false;
        whole = whole * 10 + digit;
    }
    for (size_t i = length; i-- > whole_length + 1;) {
        const unsigned digit = (unsigned)(text[i] - '0');
        if (digit > 9) return false;
        fraction = (digit * unit + fraction) / 10;
    }
    if (whole > (ARENAUT_SIZE_MAX - fraction) / unit) return false;
    *value = whole * unit + fraction;
    return true;
}

/* The length of the leading digits and points. */
static size_t decimal_length(const char *text) { return strspn(text, "0123456789."); }

/* K, KB and KiB are the same, as the contract has it: K is 1024. */
bool parse_size(const char *text, uint64_t *bytes) {
    static const char letters[] = "KMGTP";
    const size_t length = decimal_length(text);
    const char *suffix = text + length;
    uint64_t unit = 1;
    const char *letter = *suffix ? strchr(letters, *suffix & ~0x20) : NULL;
    if (letter) {
        unit <<= 10 * (letter - letters + 1);
        suffix++;
        if (strcmp(suffix, "iB") == 0) suffix++;
        if (strcmp(suffix, "B") == 0) suffix++;
    } else if (strcmp(suffix, "B") == 0) {
        suffix++;
    }
    return *suffix == '\0' && parse_decimal(text, length, unit, bytes);
}

bool parse_time(const char *text, uint64_t *milliseconds) {
    const size_t length = decimal_length(text);
    const char *suffix = text + length;
    const uint64_t unit = strcmp(suffix, "ms") == 0                     ? 1
                          : strcmp(suffix, "m") == 0                    ? 60000
                          : strcmp(suffix, "s") == 0 || *suffix == '\0' ? 1000
                                                                        : 0;
    return unit != 0 && parse_decimal(text, length, unit, milliseconds);
}

void list_add(text_list *list, const char *item) {
    const char **grown = realloc(list->items, (list->n + 1) * sizeof *grown);
    if (!grown) exit(complain(EXIT_IO, NULL, "out of memory"));
    list->items = grown;
    list->items[list->n++] = item;
}

static bool is_choice(const char *choices, const char *value) {
    const size_t length = strlen(value);
    for (const char *at = choices;; at++) {
        const size_t n = strcspn(at, "|");
        if (n == length && strncmp(at, value, n) == 0) return true;
        at += n;
        if (!*at) return false;
    }
}

/* Stores a value in the field of its flag, whose type the kind tells. */
static exit_code set_value(const flag_row *flag, const char *value, tool_options *options) {
    void *field = (char *)options + flag->field;
    switch (flag->kind) {
        case FLAG_TEXT:
            if (flag->choices && !is_choice(flag->choices, value)) {
                return complain(EXIT_USAGE, NULL, "--%s: '%s' is not one of %s", flag->name, value,
                                flag->choices);
            }
            *(const char **)field = value;
            return EXIT_FINE;
        case FLAG_LIST: list_add(field, value); return EXIT_FINE;
        case FLAG_NUMBER:
            if (parse_number(value, field)) return EXIT_FINE;
            return complain(EXIT_USAGE, NULL, "--%s: '%s' is not a whole number", flag->name,
                            value);
        case FLAG_SIZE:
            if (parse_size(value, field)) return EXIT_FINE;
            return complain(EXIT_USAGE, NULL,
                            "--%s: '%s' is not a size such as 204800, 200K, "
                            "200KB, 200KiB or 0.2M (K is 1024)",
                            flag->name, value);
        case FLAG_TIME:
            if (parse_time(value, field)) return EXIT_FINE;
            return complain(EXIT_USAGE, NULL, "--%s: '%s' is not a time such as 2s, 500ms or 1.5m",
                            flag->name, value);
        case FLAG_SWITCH:
        case FLAG_LEVEL: break;
    }
    return EXIT_BUG;
}

static const flag_row *find_flag(const char *name, size_t length) {
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (strlen(flags[i].name) == length && memcmp(flags[i].name, name, length) == 0) {
            return &flags[i];
        }
    }
    return NULL;
}

static const flag_row *find_letter(char letter) {
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (flags[i].letter == letter) return &flags[i];
    }
    return NULL;
}

/* Suggests only among the flags that the verb takes. */
static exit_code unknown_flag(const char *word, size_t length, const char *verb, unsigned groups) {
    const char *names[N_FLAGS];
    size_t n = 0;
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (flags[i].group & groups) names[n++] = flags[i].name;
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word);
    const char *near = nearest(name, names, n);
    if (near) {
        return complain(EXIT_USAGE, NULL, "unknown flag '--%s': did you mean '--%s'?", name, near);
    }
    return complain(EXIT_USAGE, NULL, "unknown flag '--%s': see 'arenaut help %s'", name, verb);
}

static exit_code misplaced(const flag_row *flag, const char *verb) {
    return complain(EXIT_USAGE, NULL, "'%s' has no flag '--%s': see 'arenaut help %s'", verb,
                    flag->name, verb);
}

/* Takes a flag without a value; false if it needs one. */
static bool take_switch(const flag_row *flag, tool_options *options) {
    void *field = (char *)options + flag->field;
    if (flag->kind == FLAG_SWITCH) *(bool *)field = true;
    if (flag->kind == FLAG_LEVEL) ++*(unsigned *)field;
    return flag->kind == FLAG_SWITCH || flag->kind == FLAG_LEVEL;
}

typedef struct word_list {
    int argc, next;
    char **argv;
    const char *verb;
    unsigned groups;
} word_list;

/* The value is attached ("--seed=3", "-j4") or the next word, even if that begins with "-". */
static exit_code take_value(word_list *words, const flag_row *flag, const char *attached,
                            tool_options *options) {
    if (attached) return set_value(flag, attached, options);
    if (words->next >= words->argc) {
        return complain(EXIT_USAGE, NULL, "--%s needs a value: %s", flag->name, flag->value);
    }
    return set_value(flag, words->argv[words->next++], options);
}

static exit_code take_long(word_list *words, const char *word, tool_options *options) {
    const size_t length = strcspn(word, "=");
    const char *attached = word[length] ? word + length + 1 : NULL;
    const flag_row *flag = find_flag(word, length);
    if (!flag) return unknown_flag(word, length, words->verb, words->groups);
    if (!(flag->group & words->groups)) return misplaced(flag, words->verb);
    if (!flag->value) {
        if (attached) return complain(EXIT_USAGE, NULL, "--%s takes no value", flag->name);
        take_switch(flag, options);
        return EXIT_FINE;
    }
    return take_value(words, flag, attached, options);
}

/* "-fq", "-vv", "-j4", "-o FILE". */
static exit_code take_letters(word_list *words, const char *letters, tool_options *options) {
    for (; *letters; letters++) {
        const flag_row *flag = find_letter(*letters);
        if (!flag) {
            return complain(EXIT_USAGE, NULL, "unknown flag '-%c': see 'arenaut help %s'", *letters,
                            words->verb);
        }
        if (!(flag->group & words->groups)) return misplaced(flag, words->verb);
        if (!take_switch(flag, options)) {
            return take_value(words, flag, letters[1] ? letters + 1 : NULL, options);
        }
    }
    return EXIT_FINE;
}

exit_code parse_arguments(int argc, char **argv, const char *verb, unsigned groups,
                          tool_options *options) {
    *options = (tool_options){.effort = NOT_GIVEN,
                              .time_ms = NOT_GIVEN,
                              .seed = NOT_GIVEN,
                              .threads = NOT_GIVEN,
                              .capacity = NOT_GIVEN,
                              .budget = NOT_GIVEN,
                              .max_memory = NOT_GIVEN,
                              .width = NOT_GIVEN,
                              .color = "auto"};
    word_list words = {argc, 0, argv, verb, groups};
    bool only_files = false;
    while (words.next < argc) {
        const char *word = argv[words.next++];
        exit_code code = EXIT_FINE;
        if (only_files || word[0] != '-' || word[1] == '\0') {
            list_add(&options->files, word);
        } else if (strcmp(word, "--") == 0) {
            only_files = true;
        } else if (word[1] == '-') {
            code = take_long(&words, word + 2, options);
        } else {
            code = take_letters(&words, word + 1, options);
        }
        if (code != EXIT_FINE) return code;
    }
    return EXIT_FINE;
}

void options_free(tool_options *options) {
    for (size_t i = 0; i < options->owned.n; i++) free((void *)(uintptr_t)options->owned.items[i]);
    free(options->owned.items);
    free(options->names.items);
    free(options->files.items);
    free(options->align.items);
    free(options->align_op.items);
    free(options->inplace_op.items);
    free(options->dim.items);
    free(options->pool.items);
    free(options->pin.items);
    free(options->set.items);
}

/* The values that help must take from the library. */
static void print_computed_default(arenaut_text *out, const flag_row *flag) {
    if (flag->field == FIELD(effort)) {
        text_printf(out, " (default %s)", with_commas(arenaut_default_effort()).text);
    }
}

void print_flags(arenaut_text *out, unsigned groups) {
    enum { COLUMN = 31 };
    for (size_t i = 0; i < N_FLAGS; i++) {
        const flag_row *flag = &flags[i];
        if (!(flag->group & groups)) continue;
        char left[80];
        const int n = snprintf(left, sizeof left, "%c%c%s--%s%s%s", flag->letter ? '-' : ' ',
                               flag->letter ? flag->letter : ' ', flag->letter ? ", " : "  ",
                               flag->name, flag->value ? " " : "", flag->value ? flag->value : "");
        text_printf(out, "  %s", left);
        if (n > COLUMN) text_put(out, "\n");
        text_pad(out, n > COLUMN ? COLUMN + 4 : columns_left(COLUMN + 2, (size_t)n));
        text_put(out, flag->help);
        print_computed_default(out, flag);
        text_put(out, "\n");
    }
}
