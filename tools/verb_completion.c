/* completion: a script for bash, zsh or fish that completes verbs, flags and their values. It is
 * made from the tables that the command itself is made of, so that it cannot lag behind; names
 * from the library's tables (planners, targets, formats) are asked for when a key is pressed. */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "verb.h"

/* Puts "a|b" as "a b". */
static void put_choices(const char *choices, arenaut_text *out) {
    for (; *choices; choices++) text_printf(out, "%c", *choices == '|' ? ' ' : *choices);
}

/* Puts text into single quotes of a shell. */
static void put_quoted(const char *text, arenaut_text *out) {
    text_put(out, "'");
    for (; *text; text++) {
        if (*text == '\'') text_put(out, "'\\''");
        else text_printf(out, "%c", *text);
    }
    text_put(out, "'");
}

static void put_verb_names(arenaut_text *out) {
    for (size_t i = 0; i < verb_count(); i++) {
        text_printf(out, "%s%s", i ? " " : "", verb_at(i)->name);
    }
}

static void put_flag_names(unsigned groups, arenaut_text *out) {
    const flag_row *flag;
    for (size_t i = 0, n = 0; (flag = flag_at(i)); i++) {
        if (flag->group & groups) text_printf(out, "%s--%s", n++ ? " " : "", flag->name);
    }
}

static void put_names(const flag_row *flag, arenaut_text *out) {
    text_list names = {0};
    flag->names(&names);
    for (size_t i = 0; i < names.n; i++) text_printf(out, "%s%s", i ? " " : "", names.items[i]);
    free(names.items);
}

static void put_words(const tool_verb *verb, arenaut_text *out) {
    if (*verb->words) put_choices(verb->words, out);
    else put_verb_names(out);
}

/* Lines of a `case` over the verb: its possible arguments, if they are no files. */
static void put_word_cases(arenaut_text *out) {
    for (size_t i = 0; i < verb_count(); i++) {
        if (!verb_at(i)->words) continue;
        text_printf(out, "    %s) words=\"", verb_at(i)->name);
        put_words(verb_at(i), out);
        text_put(out, "\" ;;\n");
    }
}

/* Lines of a `case` over the word in front: the values that may follow a flag-> */
static void put_value_cases(arenaut_text *out) {
    const flag_row *flag;
    for (size_t i = 0; (flag = flag_at(i)); i++) {
        if (!flag->choices && !flag->list && !flag->names) continue;
        text_printf(out, "    --%s) words=\"", flag->name);
        if (flag->choices) put_choices(flag->choices, out);
        else if (flag->names) put_names(flag, out);
        else text_printf(out, "$(arenaut %s 2>/dev/null | sed 's/ .*//')", flag->list);
        text_put(out, "\" ;;\n");
    }
}

static void put_bash(arenaut_text *out) {
    text_put(out,
             "# bash completion of arenaut: source <(arenaut completion bash)\n"
             "_arenaut() {\n"
             "  local current=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" "
             "words=\"\"\n"
             "  COMPREPLY=()\n"
             "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
             "    COMPREPLY=($(compgen -W \"");
    put_verb_names(out);
    text_put(out,
             "\" -- \"$current\"))\n"
             "    return\n"
             "  fi\n"
             "  case \"$before\" in\n");
    put_value_cases(out);
    text_put(out,
             "  esac\n"
             "  if [ -n \"$words\" ]; then\n"
             "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
             "    return\n"
             "  fi\n"
             "  case \"$current\" in -*) ;; *)\n"
             "  case \"${COMP_WORDS[1]}\" in\n");
    put_word_cases(out);
    text_put(
        out,
        "  esac\n"
        "  if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$current\")); fi\n"
        "  return ;; esac\n"
        "  case \"${COMP_WORDS[1]}\" in\n");
    for (size_t i = 0; i < verb_count(); i++) {
        text_printf(out, "    %s) words=\"", verb_at(i)->name);
        put_flag_names(verb_at(i)->groups, out);
        text_put(out, "\" ;;\n");
    }
    text_put(out,
             "  esac\n"
             "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
             "}\n"
             "complete -o default -F _arenaut arenaut\n");
}

/* zsh runs the script for bash through its own bridge, which it ships. */
static void put_zsh(arenaut_text *out) {
    text_put(out,
             "# zsh completion of arenaut: source <(arenaut completion zsh)\n"
             "autoload -Uz +X compinit bashcompinit\n"
             "compinit -u && bashcompinit\n");
    put_bash(out);
}

static void put_fish_flags(const tool_verb *verb, arenaut_text *out) {
    const flag_row *flag;
    for (size_t i = 0; (flag = flag_at(i)); i++) {
        if (!(flag->group & verb->groups)) continue;
        text_printf(out, "complete -c arenaut -n '__fish_seen_subcommand_from %s' -l %s",
                    verb->name, flag->name);
        if (flag->letter) text_printf(out, " -s %c", flag->letter);
        if (flag->choices) {
            text_put(out, " -x -a '");
            put_choices(flag->choices, out);
            text_put(out, "'");
        } else if (flag->names) {
            text_put(out, " -x -a '");
            put_names(flag, out);
            text_put(out, "'");
        } else if (flag->list) {
            text_printf(out, " -x -a '(arenaut %s 2>/dev/null | string replace -r \" .*\" \"\")'",
                        flag->list);
        } else if (flag->value) {
            text_put(out, " -r");
        }
        text_put(out, " -d ");
        put_quoted(flag->help, out);
        text_put(out, "\n");
    }
}

static void put_fish(arenaut_text *out) {
    text_put(out, "# fish completion of arenaut: arenaut completion fish | source\n");
    for (size_t i = 0; i < verb_count(); i++) {
        text_printf(out, "complete -c arenaut -n __fish_use_subcommand -x -a %s -d ",
                    verb_at(i)->name);
        put_quoted(verb_at(i)->summary, out);
        text_put(out, "\n");
    }
    for (size_t i = 0; i < verb_count(); i++) {
        const tool_verb *verb = verb_at(i);
        if (verb->words) {
            text_printf(out, "complete -c arenaut -n '__fish_seen_subcommand_from %s' -x -a '",
                        verb->name);
            put_words(verb, out);
            text_put(out, "'\n");
        }
        put_fish_flags(verb, out);
    }
}

static exit_code unknown_shell(const char *shell) {
    static const char *const shells[] = {"bash", "zsh", "fish"};
    const char *near = nearest(shell, shells, 3);
    return complain(EXIT_USAGE, NULL, "no completion for '%s'; there is bash, zsh and fish%s%s%s",
                    shell, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    const char *shell = options->files.items[0];
    if (strcmp(shell, "bash") == 0) put_bash(out);
    else if (strcmp(shell, "zsh") == 0) put_zsh(out);
    else if (strcmp(shell, "fish") == 0) put_fish(out);
    else return unknown_shell(shell);
    return EXIT_FINE;
}

extern const tool_verb verb_completion;
const tool_verb verb_completion = {
    .name = "completion",
    .summary = "a completion script for bash, zsh or fish",
    .arguments = "bash|zsh|fish",
    .words = "bash|zsh|fish",
    .examples =
        "source <(arenaut completion bash)     # in ~/.bashrc\n"
        "arenaut completion fish | source      # in config.fish",
    .groups = GROUP_COMMON,
    .min_files = 1,
    .max_files = 1,
    .run = run,
};
