/* help: the verbs of the command, and the flags of each. A verb's help fits a screen: examples, the
 * flags that most people use, and the names of the others, which --all describes in groups, each
 * with its default. All of it is printed from the tables of verbs and flags. */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "verb.h"

const char *exit_code_at(size_t index, exit_code *code) {
    static const struct {
        exit_code code;
        const char *text;
    } rows[] = {
        {EXIT_FINE, "fine"},
        {EXIT_NEGATIVE, "a negative answer: over budget, check failed, infeasible"},
        {EXIT_USAGE, "usage"},
        {EXIT_INPUT, "malformed or unsupported input"},
        {EXIT_IO, "input/output, or memory that could not be had"},
        {EXIT_BUG, "a bug in arenaut: please report it"},
        {EXIT_INTERRUPT, "interrupted; the best plan so far was written"},
    };
    if (index >= sizeof rows / sizeof *rows) return NULL;
    *code = rows[index].code;
    return rows[index].text;
}

static void put_exit_codes(arenaut_text *out) {
    exit_code code;
    text_put(out, "\nexit codes; of several files the gravest counts\n");
    for (size_t i = 0; exit_code_at(i, &code); i++) {
        text_printf(out, "  %-5d%s\n", (int)code, exit_code_at(i, &code));
    }
}

void print_general_help(arenaut_text *out) {
    text_put(out,
             "arenaut plans the memory of tensor programs: every buffer at an offset in an "
             "arena\nas small as can be, with a proof of how small that is.\n\n"
             "  arenaut size model.tflite                     how big must my arena be?\n"
             "  arenaut explain model.tflite                  why is it that big?\n"
             "  arenaut plan model.tflite -o planned.tflite   the same model in less memory\n"
             "  arenaut check planned.tflite                  is that plan right?\n\n");
    for (size_t i = 0; i < verb_count(); i++) {
        const tool_verb *verb = verb_at(i);
        text_printf(out, "  %-12s%s\n", verb->name, verb->summary);
    }
    text_put(out, "\n'arenaut help VERB' shows a verb's flags and examples.\n");
    put_exit_codes(out);
}

static void print_lines(arenaut_text *out, const char *lines) {
    while (*lines) {
        const size_t n = strcspn(lines, "\n");
        text_printf(out, "  %.*s\n", (int)n, lines);
        lines += n + (lines[n] == '\n');
    }
}

static const struct {
    unsigned groups;
    const char *heading;
} sections[] = {
    {GROUP_OUTPUT | GROUP_WRITE | GROUP_EXPORT | GROUP_VIEW | GROUP_DIFF | GROUP_BUDGET |
         GROUP_JSON,
     "output"},
    {GROUP_INPUT, "input"},
    {GROUP_PROGRAM | GROUP_SEVERAL, "the model"},
    {GROUP_MEMORY, "where tensors may lie"},
    {GROUP_SEARCH, "the search"},
    {GROUP_COMMON | GROUP_HELP, "messages"},
};

enum { SCREEN = 80, FLAG_COLUMN = 26 };

/* Words of `text` in lines that end before the screen does, each but the first behind `indent`
 * spaces; the first begins at `column`. */
static void put_wrapped(const char *text, size_t indent, size_t column, arenaut_text *out) {
    bool begun = false;
    while (*text) {
        const size_t n = strcspn(text, " ");
        const bool breaks = begun && column + 1 + n >= SCREEN;
        if (breaks) {
            text_put(out, "\n");
            text_pad(out, indent);
            column = indent;
        } else if (begun) {
            text_put(out, " ");
            column++;
        }
        text_printf(out, "%.*s", (int)n, text);
        column += n;
        begun = true;
        text += n + strspn(text + n, " ");
    }
    text_put(out, "\n");
}

static void put_flag(const flag_row *flag, arenaut_text *out) {
    char left[80];
    arenaut_text help = {0};
    const int n = snprintf(left, sizeof left, "%c%c%s--%s%s%s", flag->letter ? '-' : ' ',
                           flag->letter ? flag->letter : ' ', flag->letter ? ", " : "  ",
                           flag->name, flag->value ? " " : "", flag->value ? flag->value : "");
    text_printf(out, "  %s", left);
    if (n > FLAG_COLUMN) text_put(out, "\n");
    text_pad(out, n > FLAG_COLUMN ? FLAG_COLUMN + 4 : columns_left(FLAG_COLUMN + 2, (size_t)n));
    text_put(&help, flag->help);
    put_default(flag, &help);
    put_wrapped(help.bytes, FLAG_COLUMN + 4, FLAG_COLUMN + 4, out);
    arenaut_text_free(&help);
}

/* The flags of `groups` under a heading: the commonly used ones, or the others. */
static void put_flags(const char *heading, unsigned groups, bool common, arenaut_text *out) {
    const flag_row *flag;
    bool begun = false;
    for (size_t i = 0; (flag = flag_at(i)); i++) {
        if (!(flag->group & groups) || !!(flag->traits & COMMONLY_USED) != common) continue;
        if (!begun) text_printf(out, "\n%s\n", heading);
        begun = true;
        put_flag(flag, out);
    }
}

/* The flags that were not described, by name. */
static void put_other_flags(const tool_verb *verb, arenaut_text *out) {
    const flag_row *flag;
    arenaut_text names = {0};
    for (size_t i = 0; (flag = flag_at(i)); i++) {
        if (!(flag->group & verb->groups) || flag->traits & COMMONLY_USED) continue;
        text_printf(&names, "%s--%s", names.size ? " " : "", flag->name);
    }
    text_printf(out, "\nmore ('arenaut help %s --all' describes them)\n  ", verb->name);
    put_wrapped(names.bytes, 2, 2, out);
    arenaut_text_free(&names);
}

static void put_split_modes(arenaut_text *out) {
    arenaut_text modes = {0};
    for (int i = 0; i < ARENAUT_SPLIT_MODE_COUNT; i++) {
        text_printf(&modes, "%s%s", i ? ", " : "", arenaut_split_mode_name((arenaut_split_mode)i));
    }
    text_put(out,
             "\nmodes of --split FIRST-LAST/TILES:MODE (docs/split.md says how each cuts)\n  ");
    put_wrapped(modes.bytes, 2, 2, out);
    arenaut_text_free(&modes);
}

static void put_all_flags(const tool_verb *verb, arenaut_text *out) {
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        put_flags(sections[i].heading, sections[i].groups & verb->groups, false, out);
    }
    if (verb->groups & GROUP_MEMORY) put_split_modes(out);
}

static void put_notes(const char *notes, arenaut_text *out) {
    text_put(out, "\n");
    for (const char *end = notes; *end; notes = end + 1) {
        arenaut_text line = {0};
        end = notes + strcspn(notes, "\n");
        text_printf(&line, "%.*s", (int)(end - notes), notes);
        text_put(out, "  ");
        put_wrapped(line.bytes, 2, 2, out);
        arenaut_text_free(&line);
    }
}

/* Examples come first, since most readers look for them. */
static void put_verb_help(const tool_verb *verb, bool all, arenaut_text *out) {
    text_printf(out, "arenaut %s%s%s: %s\n", verb->name, *verb->arguments ? " " : "",
                verb->arguments, verb->summary);
    if (verb->examples) {
        text_put(out, "\n");
        print_lines(out, verb->examples);
    }
    put_flags("most used", verb->groups, true, out);
    if (all) put_all_flags(verb, out);
    else put_other_flags(verb, out);
    if (verb->notes) put_notes(verb->notes, out);
    if (all) put_exit_codes(out);
    else
        text_put(out,
                 "\nexit 0 fine, 1 a negative answer, 2 usage, 3 bad input; more: 'arenaut "
                 "help'\n");
}

void print_verb_help(const tool_verb *verb, arenaut_text *out) { put_verb_help(verb, false, out); }

static exit_code run(const tool_options *options, arenaut_text *out) {
    if (options->files.n == 0) {
        print_general_help(out);
        return EXIT_FINE;
    }
    const tool_verb *verb = verb_find(options->files.items[0]);
    if (!verb) return unknown_verb(options->files.items[0]);
    put_verb_help(verb, options->all, out);
    return EXIT_FINE;
}

extern const tool_verb verb_help;
const tool_verb verb_help = {
    .name = "help",
    .summary = "help on a verb",
    .arguments = "[VERB]",
    .words = "",
    .examples = "arenaut help plan\narenaut help plan --all   # every flag",
    .groups = GROUP_COMMON | GROUP_HELP,
    .max_files = 1,
    .run = run,
};
