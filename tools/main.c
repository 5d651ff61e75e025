/* arenaut: the command. Finds the verb, parses its flags, runs it and prints its results. Each verb
 * has a file verb_*.c; verb_table.c lists them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "flag_values.h"
#include "progress.h"
#include "verb.h"

/* Verbs declare how many files they take, so none of them has to look. */
static exit_code check_file_count(const tool_verb *verb, size_t n) {
    if (n < verb->min_files) {
        return complain(EXIT_USAGE, NULL, "%s needs %s: see 'arenaut help %s'", verb->name,
                        n > 0         ? "another file"
                        : verb->words ? verb->words
                                      : "a file",
                        verb->name);
    }
    if (n > verb->max_files) {
        return complain(EXIT_USAGE, NULL, "%s takes %s: see 'arenaut help %s'", verb->name,
                        verb->max_files == 0   ? "no file"
                        : verb->max_files == 1 ? "one file"
                                               : "two files",
                        verb->name);
    }
    return EXIT_FINE;
}

/* With --max-memory any request for more memory fails as if the machine had no more, and the
 * command ends with exit code 4. Inputs that are mapped do not count. */
static exit_code limit_memory(const tool_options *options) {
    if (options->max_memory == NOT_GIVEN) return EXIT_FINE;
    set_memory_limit(options->max_memory);
    if (os_limit_memory(options->max_memory)) return EXIT_FINE;
    return complain(EXIT_IO, NULL, "--max-memory: this system does not limit it: %s",
                    strerror(errno));
}

/* Whether the command line asks for JSON, which is known before all of it is understood. */
static bool asks_for_json(const tool_verb *verb, int argc, char **argv) {
    bool found = false;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        found = found || strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "--jsonl") == 0;
    }
    return found && verb->groups & GROUP_JSON;
}

/* A script that reads JSON reads why there is none as JSON, too. */
static void put_json_error(exit_code code, const arenaut_text *complaints, arenaut_text *out) {
    text_printf(
        out, "{\"schema\": \"arenaut.error/1\", \"version\": \"%s\", \"exit\": %d, \"errors\": [",
        ARENAUT_VERSION, (int)code);
    text_put(out, complaints->bytes);
    text_put(out, "]}\n");
}

/* Flags that exclude each other for every verb. */
static exit_code check_streams(const tool_options *options) {
    const bool json = options->json || options->jsonl;
    if (options->json && options->jsonl) {
        return complain(EXIT_USAGE, NULL, "--json and --jsonl exclude each other");
    }
    if (json && options->output && is_standard_stream(options->output)) {
        return complain(EXIT_USAGE, NULL,
                        "--json and '-o -' would both write to standard output: give -o a file");
    }
    return EXIT_FINE;
}

/* Files are one program, or programs in one arena. */
static exit_code check_together(const tool_options *options) {
    if (!options->one_arena) return EXIT_FINE;
    if (options->share) {
        return complain(
            EXIT_USAGE, NULL,
            "--share and --one-arena exclude each other: one layout for parts of a model, or "
            "one arena for several models");
    }
    const bool repeats = options->recompute && strcmp(options->recompute, "on") == 0;
    if (options->one_arena && options->fit_text && (repeats || options->pool.n > 0)) {
        return complain(EXIT_USAGE, NULL,
                        "--one-arena --fit is for one memory, and without --recompute on, whose "
                        "--fit is a budget of tensors");
    }
    return EXIT_FINE;
}

/* Results are printed in one go at the end: a verb that fails half-way has printed nothing,
 * and a full disk behind standard output is noticed in one place. */
static exit_code run_verb(const tool_verb *verb, int argc, char **argv) {
    tool_options options;
    arenaut_text out = {0}, complaints = {0};
    if (asks_for_json(verb, argc, argv)) keep_complaints(&complaints);
    exit_code code = parse_arguments(argc, argv, verb->name, verb->groups, &options);
    if (code == EXIT_FINE && options.help) {
        print_verb_help(verb, &out);
    } else if (code == EXIT_FINE) {
        set_quiet(options.quiet);
        code = check_file_count(verb, options.files.n);
        if (code == EXIT_FINE) code = check_streams(&options);
        if (code == EXIT_FINE) code = check_together(&options);
        if (code == EXIT_FINE) code = limit_memory(&options);
        if (code == EXIT_FINE) code = read_pools_file(&options);
        if (code == EXIT_FINE) code = expand_folders(verb->max_files > 2, &options);
        if (code == EXIT_FINE) code = verb->run(&options, &out);
    }
    keep_complaints(NULL);
    if (out.size == 0 && complaints.size > 0) put_json_error(code, &complaints, &out);
    const exit_code printed = print_text(&out);
    if (interrupted()) code = EXIT_INTERRUPT; /* also where it came too late to change anything */
    arenaut_text_free(&complaints);
    arenaut_text_free(&out);
    options_free(&options);
    return graver(code, printed);
}

int main(int argc, char **argv) {
    os_start();
    catch_interrupts();
    if (argc < 2) {
        arenaut_text help = {0};
        print_general_help(&help);
        fputs(help.bytes, stderr);
        arenaut_text_free(&help);
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) word = "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) word = "version";
    const tool_verb *verb = verb_find(word);
    if (verb) return run_verb(verb, argc - 2, argv + 2);
    if (word[0] == '-') {
        return complain(EXIT_USAGE, NULL,
                        "the verb comes first: arenaut VERB [flags] FILE...; "
                        "see 'arenaut help'");
    }
    return unknown_verb(word);
}
