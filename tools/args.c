/* Parses the command line against the table of flags (flags.c). A word is a file unless it begins
 * with a dash; a flag's value is stored in its field of tool_options as its kind says. Sizes, times
 * and numbers are exact, without floating point. */
#include "args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* "60%", "62.5%": more than nothing, and no more than all, in hundredths of a percent. */
bool parse_share(const char *text, uint64_t *hundredths) {
    const size_t length = decimal_length(text);
    return strcmp(text + length, "%") == 0 && parse_decimal(text, length, 100, hundredths) &&
           *hundredths > 0 && *hundredths <= 10000;
}

/* "2s", "500ms", "1.5m", "2" (seconds), in milliseconds. */
static bool parse_time(const char *text, uint64_t *milliseconds) {
    const size_t length = decimal_length(text);
    const char *suffix = text + length;
    const uint64_t unit = strcmp(suffix, "ms") == 0                     ? 1
                          : strcmp(suffix, "m") == 0                    ? 60000
                          : strcmp(suffix, "s") == 0 || *suffix == '\0' ? 1000
                                                                        : 0;
    return unit != 0 && parse_decimal(text, length, unit, milliseconds);
}

/* "5%", "5". */
static bool parse_percent(const char *text, uint64_t *percent) {
    char digits[24] = "";
    const size_t length = strcspn(text, "%");
    if (length >= sizeof digits || text[length + (text[length] == '%')]) return false;
    memcpy(digits, text, length);
    return parse_number(digits, percent);
}

void list_add(text_list *list, const char *item) {
    const char **grown = realloc(list->items, (list->n + 1) * sizeof *grown);
    if (!grown) exit(complain_memory(NULL));
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

/* "--inplace: 'onn' is not one of on|off|only: did you mean 'on'?" */
static exit_code bad_choice(const flag_row *flag, const char *value) {
    char *choices = strcpy(must_allocate(strlen(flag->choices) + 1, 1), flag->choices);
    text_list names = {0};
    for (char *at = choices; at;) {
        char *bar = strchr(at, '|');
        if (bar) *bar++ = '\0';
        list_add(&names, at);
        at = bar;
    }
    const char *near = nearest(value, names.items, names.n);
    complain(EXIT_USAGE, NULL, "--%s: '%s' is not one of %s%s%s%s", flag->name, value,
             flag->choices, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(names.items);
    free(choices);
    return EXIT_USAGE;
}

/* Stores a value in the field of its flag, whose type the kind tells. */
static exit_code set_value(const flag_row *flag, const char *value, tool_options *options) {
    void *field = (char *)options + flag->field;
    switch (flag->kind) {
        case FLAG_TEXT:
            if (flag->choices && !is_choice(flag->choices, value)) return bad_choice(flag, value);
            if (flag->traits & GIVEN_ONCE && *(const char **)field) {
                return complain(EXIT_USAGE, NULL, "--%s is given twice: '%s' and '%s'", flag->name,
                                *(const char **)field, value);
            }
            *(const char **)field = value;
            return EXIT_FINE;
        case FLAG_LIST: list_add(field, value); return EXIT_FINE;
        case FLAG_NUMBER:
            if (parse_number(value, field)) return EXIT_FINE;
            return complain(EXIT_USAGE, NULL,
                            "--%s: '%s' is not a whole number in digits alone, such as 1000000",
                            flag->name, value);
        case FLAG_PERCENT:
            if (parse_percent(value, field)) return EXIT_FINE;
            return complain(EXIT_USAGE, NULL, "--%s: '%s' is not a whole percentage such as 5%%",
                            flag->name, value);
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
    const flag_row *flag;
    for (size_t i = 0; (flag = flag_at(i)); i++) {
        if (strlen(flag->name) == length && memcmp(flag->name, name, length) == 0) break;
    }
    return flag;
}

static const flag_row *find_letter(char letter) {
    const flag_row *flag;
    for (size_t i = 0; (flag = flag_at(i)); i++) {
        if (flag->letter == letter) break;
    }
    return flag;
}

/* Suggests only among the flags that the verb takes. */
static exit_code unknown_flag(const char *word, size_t length, const char *verb, unsigned groups) {
    text_list names = {0};
    const flag_row *flag;
    for (size_t i = 0; (flag = flag_at(i)); i++) {
        if (flag->group & groups) list_add(&names, flag->name);
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word);
    const char *near = nearest(name, names.items, names.n);
    free(names.items);
    if (near) {
        return complain(EXIT_USAGE, NULL, "unknown flag '--%s': did you mean '--%s'?", name, near);
    }
    return complain(EXIT_USAGE, NULL, "unknown flag '--%s': see 'arenaut help %s'", name, verb);
}

static exit_code misplaced(const flag_row *flag, const char *verb) {
    if (flag->group == GROUP_HELP) {
        return complain(EXIT_USAGE, NULL,
                        "'%s' has no flag '--%s': 'arenaut help %s --%s' shows all of its flags",
                        verb, flag->name, verb, flag->name);
    }
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
    options_default(options);
    word_list words = {argc, 0, argv, verb, groups};
    bool only_files = false;
    while (words.next < argc) {
        const char *word = argv[words.next++];
        exit_code code = EXIT_FINE;
        if (word[0] == '\0') {
            code =
                complain(EXIT_USAGE, NULL, "the name of a file is empty: '' among the arguments");
        } else if (only_files || word[0] != '-' || word[1] == '\0') {
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
