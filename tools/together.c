#include "together.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"

bool wants_together(const tool_options *options) { return options->share && options->files.n > 1; }

/* The files while they are put together, and what each is called in the whole. */
typedef struct parts {
    size_t n;
    arenaut_document *documents;
    const arenaut_program **programs;
    char **names;
} parts;

/* "prefill" of "models/prefill.pt2". */
static char *stem(const char *path) {
    const char *name = base_name(path);
    const size_t length = strcspn(name, ".");
    char *copy = must_allocate(length + 1, 1);
    memcpy(copy, name, length);
    return copy;
}

static exit_code read_part(const tool_options *options, const char *path, parts *p) {
    input_file input;
    arenaut_error err = {0};
    arenaut_document *document = &p->documents[p->n];
    const arenaut_format *format = NULL;
    if (options->from && !(format = named_format(options->from))) return EXIT_USAGE;
    if (is_standard_stream(path)) {
        return complain(EXIT_USAGE, path, "standard input cannot be one of several files");
    }
    exit_code code = input_open(path, &input);
    if (code != EXIT_FINE) return code;
    if (arenaut_read(input.data, input.size, format, NULL, NULL, document, &err)) {
        code = complain_error(path, &err);
    } else {
        p->programs[p->n] = document->program;
        p->names[p->n++] = stem(path);
        if (!document->program) {
            code = complain(EXIT_USAGE, path,
                            "--share is about models, and this is a placement "
                            "problem");
        }
    }
    input_close(&input);
    return code;
}

/* The names in "k,v"; NULL for "auto". Freed with free(), the text as well. */
static const char **split_names(const char *share, char **text, size_t *n) {
    *n = 0;
    *text = NULL;
    if (strcmp(share, "auto") == 0) return NULL;
    *text = must_allocate(strlen(share) + 1, 1);
    strcpy(*text, share);
    const char **names = must_allocate(strlen(share) + 1, sizeof *names);
    for (char *at = *text; at; *n += 1) {
        names[*n] = at;
        at = strchr(at, ',');
        if (at) *at++ = '\0';
    }
    return names;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether two files have anything of one name. */
static bool anything_shared(const arenaut_program *program) {
    const char **names = must_allocate(program->n_tensors, sizeof *names);
    size_t n = 0;
    bool found = false;
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        if (program->tensors[t].qualified_name) names[n++] = program->tensors[t].qualified_name;
    }
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 1; i < n; i++) found = found || strcmp(names[i - 1], names[i]) == 0;
    free(names);
    return found;
}

static exit_code merge_parts(const tool_options *options, const parts *p,
                             arenaut_document *document) {
    char *text;
    size_t n_share;
    arenaut_error err = {0};
    const char *first = options->files.items[0];
    const char **share = split_names(options->share, &text, &n_share);
    const arenaut_merge_options merge = {share, n_share};
    arenaut_document merged = {.format = p->documents[0].format};
    const arenaut_status st = arenaut_program_merge(p->programs, (const char *const *)p->names,
                                                    p->n, &merge, NULL, &merged.program, &err);
    free(share);
    free(text);
    if (st != ARENAUT_OK) return complain_error(first, &err);
    if (!anything_shared(merged.program)) {
        arenaut_document_free(&merged);
        return complain(EXIT_USAGE, first, "--share %s: no buffers of these files can be shared",
                        options->share);
    }
    *document = merged;
    return EXIT_FINE;
}

exit_code read_together(const tool_options *options, arenaut_document *document) {
    const size_t n = options->files.n;
    parts p = {.n = 0};
    p.documents = must_allocate(n, sizeof *p.documents);
    p.programs = must_allocate(n, sizeof *p.programs);
    p.names = must_allocate(n, sizeof *p.names);
    memset(p.documents, 0, n * sizeof *p.documents);
    exit_code code = EXIT_FINE;
    for (size_t i = 0; i < n && code == EXIT_FINE; i++) {
        code = read_part(options, options->files.items[i], &p);
    }
    if (code == EXIT_FINE) code = merge_parts(options, &p, document);
    for (size_t i = 0; i < n; i++) arenaut_document_free(&p.documents[i]);
    for (size_t i = 0; i < p.n; i++) free(p.names[i]);
    free(p.documents);
    free(p.programs);
    free(p.names);
    return code;
}

char *together_label(const tool_options *options) {
    size_t length = 1;
    for (size_t i = 0; i < options->files.n; i++) {
        length += strlen(base_name(options->files.items[i])) + 3;
    }
    char *label = must_allocate(length, 1);
    label[0] = '\0';
    for (size_t i = 0; i < options->files.n; i++) {
        if (i) strcat(label, " + ");
        strcat(label, base_name(options->files.items[i]));
    }
    return label;
}
