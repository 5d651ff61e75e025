/* Recursive list of the input files below a folder. A file is recognised by its content, since
 * models have all kinds of names; plans as JSON, which are outputs, are no inputs. Names are
 * sorted, as the order in which a system lists them means nothing. */
#include "folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

typedef struct walk {
    const tool_options *options;
    text_list found, names;
    size_t other, unreadable;
    size_t top; /* length of the folder's path, with its slash */
} walk;

static char *join(const char *folder, const char *name) {
    const size_t length = strlen(folder);
    const bool slash = length > 0 && os_folder_length(folder) == length;
    char *path = must_allocate(length + strlen(name) + 2, 1);
    memcpy(path, folder, length);
    if (!slash) path[length] = '/';
    strcpy(path + length + !slash, name);
    return path;
}

/* Takes over `path`. */
static void take_file(walk *w, char *path) {
    input_file input;
    set_silent(true);
    const exit_code code = input_open(path, &input);
    set_silent(false);
    const arenaut_format *format =
        code == EXIT_FINE ? arenaut_format_recognise(input.data, input.size) : NULL;
    input_close(&input);
    if (!format || !format->read || strcmp(format->name, "plan-json") == 0) {
        w->other += code == EXIT_FINE;
        w->unreadable += code != EXIT_FINE;
        free(path);
        return;
    }
    list_add(&w->found, path);
    list_add(&w->names, path + w->top);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_name(void *context, const char *name) {
    list_add(context, strcpy(must_allocate(strlen(name) + 1, 1), name));
}

/* The names in a folder, sorted, to be freed one by one. */
static exit_code list_folder(const char *path, text_list *names) {
    if (!os_list_folder(path, add_name, names)) {
        return complain(EXIT_IO, path, "cannot be opened: %s", strerror(errno));
    }
    if (names->n) qsort(names->items, names->n, sizeof *names->items, by_text);
    return EXIT_FINE;
}

static bool is_output(const walk *w, const os_entry *entry) {
    os_entry output;
    return w->options->output && !is_standard_stream(w->options->output) &&
           os_look(w->options->output, &output) && os_same_file(&output, entry);
}

enum { DEEPEST = 64 };

/* Complains only about the topmost folder; below it, unreadable entries are counted. */
static exit_code walk_folder(walk *w, const char *path, int depth) {
    text_list names = {0};
    set_silent(depth > 0);
    const exit_code code = list_folder(path, &names);
    set_silent(false);
    w->unreadable += code != EXIT_FINE;
    for (size_t i = 0; i < names.n; i++) {
        os_entry entry, target;
        char *below = join(path, names.items[i]);
        free((void *)(uintptr_t)names.items[i]);
        if (!os_look_at_link(below, &entry)) {
            w->unreadable++;
            free(below);
        } else if (entry.kind == OS_FOLDER) {
            if (depth == DEEPEST) w->other++;
            else if (!is_output(w, &entry)) walk_folder(w, below, depth + 1);
            free(below);
        } else if (os_look(below, &target) && target.kind == OS_FILE) {
            take_file(w, below);
        } else {
            w->other++; /* a device, a pipe, a link to a folder or to nothing */
            free(below);
        }
    }
    free(names.items);
    return code;
}

static exit_code expand(tool_options *options, const char *path, text_list *files,
                        text_list *names) {
    walk w = {.options = options};
    w.top = strlen(path) + (os_folder_length(path) != strlen(path));
    const exit_code opened = walk_folder(&w, path, 0);
    for (size_t i = 0; i < w.found.n; i++) {
        list_add(files, w.found.items[i]);
        list_add(names, w.names.items[i]);
        list_add(&options->owned, w.found.items[i]);
    }
    free(w.found.items);
    free(w.names.items);
    if (opened != EXIT_FINE) return opened;
    if (w.other || w.unreadable) {
        note(path, "%zu file%s no input that can be read%s", w.other + w.unreadable,
             w.other + w.unreadable == 1 ? " is" : "s are", w.unreadable ? ", or may not be" : "");
    }
    return w.found.n ? EXIT_FINE : complain(EXIT_INPUT, path, "holds no file that can be read");
}

exit_code expand_folders(bool many, tool_options *options) {
    text_list files = {0}, names = {0};
    exit_code code = EXIT_FINE;
    for (size_t i = 0; i < options->files.n && code == EXIT_FINE; i++) {
        os_entry entry;
        const char *path = options->files.items[i];
        if (i == options->files.n / 2) options->n_first = files.n;
        const bool folder =
            !is_standard_stream(path) && os_look(path, &entry) && entry.kind == OS_FOLDER;
        if (folder && many) {
            options->folder = true;
            code = expand(options, path, &files, &names);
        } else {
            list_add(&files, path); /* a verb for one file says that this is none */
            list_add(&names, base_name(path));
        }
    }
    free(options->files.items);
    options->files = files;
    options->names = names;
    return code;
}
