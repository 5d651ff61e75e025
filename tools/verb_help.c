/* help: the verbs of the command, and the flags of each. A verb's help begins with examples and the
 * flags that most people use; the others follow in groups, each with its default, and then the exit
 * codes. All of it is printed from the tables of verbs and flags. */
#include <stdio.h>
#include <string.h>

#include "flags.h"
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
    {GROUP_COMMON, "messages"},
};

static void put_flag(const flag_row *flag, arenaut_text *out) {
    enum { COLUMN = 31 };
    char left[80];
    const int n = snprintf(left, sizeof left, "%c%c%s--%s%s%s", flag->letter ? '-' : ' ',
                           flag->letter ? flag->letter : ' ', flag->letter ? ", " : "  ",
                           flag->name, flag->value ? " " : "", flag->value ? flag->value : "");
    text_printf(out, "  %s", left);
    if (n > COLUMN) text_put(out, "\n");
    text_pad(out, n > COLUMN ? COLUMN + 4 : columns_left(COLUMN + 2, (size_t)n));
    text_put(out, flag->help);
    put_default(flag, out);
    text_put(out, "\n");
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

/* Examples come first, since most readers look for them. */
void print_verb_help(const tool_verb *verb, arenaut_text *out) {
    text_printf(out, "arenaut %s%s%s: %s\n", verb->name, *verb->arguments ? " " : "",
                verb->arguments, verb->summary);
    if (verb->examples) {
        text_put(out, "\n");
        print_lines(out, verb->examples);
    }
    put_flags("most used", verb->groups, true, out);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        put_flags(sections[i].heading, sections[i].groups & verb->groups, false, out);
    }
    if (verb->notes) {
        text_put(out, "\n");
        print_lines(out, verb->notes);
    }
    put_exit_codes(out);
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    if (options->files.n == 0) {
        print_general_help(out);
        return EXIT_FINE;
    }
    const tool_verb *verb = verb_find(options->files.items[0]);
    if (!verb) return unknown_verb(options->files.items[0]);
    print_verb_help(verb, out);
    return EXIT_FINE;
}

extern const tool_verb verb_help;
const tool_verb verb_help = {
    .name = "help",
    .summary = "help on a verb",
    .arguments = "[VERB]",
    .words = "",
    .examples = "arenaut help plan",
    .groups = GROUP_COMMON,
    .max_files = 1,
    .run = run,
};
