/* manual: the man page, made from the same tables as the help (`arenaut manual | man -l -`).
 * `make install` puts it where man looks. */

#include "args.h"
#include "verb.h"

/* roff takes a leading period or quote for a request, a backslash for an escape, and a plain
 * hyphen for a typographic one. */
static void put_roff(const char *text, arenaut_text *out) {
    bool at_start = true;
    for (; *text; text++) {
        if (at_start && (*text == '.' || *text == '\'')) text_put(out, "\\&");
        if (*text == '-') text_put(out, "\\-");
        else if (*text == '\\') text_put(out, "\\e");
        else text_printf(out, "%c", *text);
        at_start = *text == '\n';
    }
}

static void put_flag(const flag_row *flag, arenaut_text *out) {
    text_put(out, ".TP\n\\fB");
    if (flag->letter) text_printf(out, "\\-%c\\fR, \\fB", flag->letter);
    text_put(out, "\\-\\-");
    put_roff(flag->name, out);
    text_put(out, "\\fR");
    if (flag->value) {
        text_put(out, " \\fI");
        put_roff(flag->value, out);
        text_put(out, "\\fR");
    }
    text_put(out, "\n");
    arenaut_text help = {0};
    text_put(&help, flag->help);
    put_default(flag, &help);
    put_roff(help.bytes, out);
    text_put(out, "\n");
    arenaut_text_free(&help);
}

static void put_verb(const tool_verb *verb, arenaut_text *out) {
    text_put(out, ".SS arenaut ");
    put_roff(verb->name, out);
    text_put(out, " ");
    put_roff(verb->arguments, out);
    text_put(out, "\n");
    put_roff(verb->summary, out);
    text_put(out, ".\n");
    if (verb->examples) {
        text_put(out, ".PP\n.nf\n");
        put_roff(verb->examples, out);
        text_put(out, "\n.fi\n");
    }
    if (verb->notes) {
        text_put(out, ".PP\n");
        put_roff(verb->notes, out);
        text_put(out, "\n");
    }
    const flag_row *flag;
    text_put(out, ".PP\nFlags:");
    for (size_t i = 0; (flag = flag_at(i)); i++) {
        if (!(flag->group & verb->groups)) continue;
        text_put(out, " \\fB\\-\\-");
        put_roff(flag->name, out);
        text_put(out, "\\fR");
    }
    text_put(out, "\n");
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    (void)options;
    text_printf(out, ".TH ARENAUT 1 \"\" \"arenaut %s\" \"User Commands\"\n", arenaut_version());
    text_put(out,
             ".SH NAME\narenaut \\- plans the memory of tensor programs\n"
             ".SH SYNOPSIS\n\\fBarenaut\\fR \\fIVERB\\fR [\\fIflags\\fR] \\fIFILE\\fR...\n"
             ".SH DESCRIPTION\nPlaces every buffer of a tensor program at an offset in an arena as "
             "small as can be, says how far that is from the proven minimum, checks the plan, and "
             "writes it back into the model.\n.SH VERBS\n");
    for (size_t i = 0; i < verb_count(); i++) put_verb(verb_at(i), out);
    text_put(out, ".SH FLAGS\n");
    const flag_row *flag;
    for (size_t i = 0; (flag = flag_at(i)); i++) put_flag(flag, out);
    text_put(out, ".SH EXIT STATUS\n");
    exit_code code;
    for (size_t i = 0; exit_code_at(i, &code); i++) {
        text_printf(out, ".TP\n%d\n", (int)code);
        put_roff(exit_code_at(i, &code), out);
        text_put(out, "\n");
    }
    text_put(out, ".SH ENVIRONMENT\n.TP\nNO_COLOR\nno colour on any terminal\n");
    return EXIT_FINE;
}

extern const tool_verb verb_manual;
const tool_verb verb_manual = {
    .name = "manual",
    .summary = "the man page, as roff",
    .arguments = "",
    .examples = "arenaut manual | man -l -",
    .groups = GROUP_COMMON,
    .run = run,
};
