/* Reading inputs and writing outputs: files, C arrays, and folders. */
#include "files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Files up to this size are copied into memory: a mapped file that becomes shorter while it is read
 * ends the process, a copy does not. Larger ones are mostly weights, which are not read at all, and
 * are mapped. */
enum { COPY_UP_TO = 16 << 20 };

bool is_standard_stream(const char *path) { return strcmp(path, "-") == 0; }

/* Reads until the end of a pipe or a file, which must come within `limit` bytes. */
static exit_code read_all(int fd, const char *path, size_t expected, uint64_t limit,
                          input_file *input) {
    size_t capacity = expected + 1, size = 0;
    uint8_t *data = malloc(capacity);
    while (data) {
        if (size > limit) {
            free(data);
            return complain(EXIT_IO, path,
                            "does not end within %s bytes, the limit of inputs that are no regular "
                            "files: write it to a file first",
                            with_commas(limit).text);
        }
        const ptrdiff_t n = os_read(fd, data + size, capacity - size);
        if (n < 0 && errno == EINTR) {
            free(data);
            return complain(EXIT_INTERRUPT, path, "interrupted before it was read");
        }
        if (n < 0) {
            const int error = errno;
            free(data);
            return complain(EXIT_IO, path, "cannot be read: %s", strerror(error));
        }
        if (n == 0) break;
        size += (size_t)n;
        if (size < capacity) continue;
        capacity = capacity > SIZE_MAX / 2 ? SIZE_MAX : capacity * 2;
        uint8_t *grown = realloc(data, capacity);
        if (!grown) free(data);
        data = grown;
    }
    if (!data) return complain_memory(path);
    input->data = data;
    input->size = size;
    return EXIT_FINE;
}

/* Where mapping is not possible (some network and special file systems), reading is. */
static exit_code map_file(int fd, const char *path, size_t size, input_file *input) {
    void *data = os_map(fd, size, EXIT_IO);
    if (!data) return read_all(fd, path, size, size, input);
    input->data = data;
    input->size = size;
    input->mapped = true;
    return EXIT_FINE;
}

exit_code input_open(const char *path, input_file *input) {
    *input = (input_file){.path = path};
    if (is_standard_stream(path)) {
        input->path = "standard input";
        return read_all(OS_STANDARD_INPUT, input->path, COPY_UP_TO / 16, INPUT_STREAM_LIMIT, input);
    }
    os_entry *entry = &input->entry;
    const int fd = os_open_input(path, entry);
    if (fd < 0) return complain(EXIT_IO, path, "cannot be opened: %s", strerror(errno));
    exit_code code;
    if (entry->kind == OS_FOLDER) {
        code = complain(EXIT_IO, path, "is a folder, not a file");
    } else if (entry->kind == OS_FILE && entry->size > SIZE_MAX - 1) {
        code = complain(EXIT_IO, path, "does not fit in memory");
    } else if (entry->kind == OS_FILE && entry->size > COPY_UP_TO) {
        code = map_file(fd, path, (size_t)entry->size, input);
    } else {
        code =
            read_all(fd, path, entry->size ? (size_t)entry->size : 4096, INPUT_STREAM_LIMIT, input);
    }
    os_close(fd, false);
    return code;
}

void input_close(input_file *input) {
    if (input->mapped) os_unmap((void *)(uintptr_t)input->data, input->size);
    else free((void *)(uintptr_t)input->data);
    input->data = NULL;
}

bool output_is_direct(const char *path) {
    os_entry entry;
    return is_standard_stream(path) || (os_look(path, &entry) && entry.kind == OS_STREAM);
}

bool output_is_input(const char *path, const input_file *input) {
    os_entry entry;
    return !is_standard_stream(path) && os_look(path, &entry) && entry.kind == OS_FILE &&
           os_same_file(&entry, &input->entry);
}

static bool folder_exists(const char *path) {
    os_entry entry;
    const size_t length = os_folder_length(path);
    char *folder = must_allocate(length + 2, 1);
    memcpy(folder, path, length);
    strcpy(folder + length, "."); /* "FOLDER/." or, without any, "." */
    const bool exists = os_look(folder, &entry) && entry.kind == OS_FOLDER;
    free(folder);
    return exists;
}

/* Refuses early. output_commit looks again, since the world may change while we plan. */
exit_code output_check(const char *path, bool force, bool binary) {
    os_entry entry;
    if (is_standard_stream(path)) {
        if (!binary || !os_is_terminal(OS_STANDARD_OUTPUT)) return EXIT_FINE;
        return complain(EXIT_USAGE, NULL,
                        "a model is not written to a terminal: "
                        "redirect standard output, or use -o FILE");
    }
    if (os_look_at_link(path, &entry)) {
        if (entry.kind == OS_FOLDER) return complain(EXIT_IO, path, "is a folder, not a file");
        if (entry.kind == OS_STREAM || force) return EXIT_FINE;
        return complain(EXIT_IO, path, "exists already: -f overwrites it");
    }
    if (errno != ENOENT) {
        return complain(EXIT_IO, path, "cannot be written: %s", strerror(errno));
    }
    return folder_exists(path)
               ? EXIT_FINE
               : complain(EXIT_IO, path, "cannot be written: its folder does not exist");
}

static exit_code open_temporary(output_file *output) {
    const char *path = output->path;
    /* With -f a symbolic link is followed, so that the link stays one. */
    if (output->force) output->final_path = os_follow_links(path);
    else output->final_path = strcpy(must_allocate(strlen(path) + 1, 1), path);
    if (output->final_path) output->fd = os_open_temporary(output->final_path);
    output->temporary = output->fd >= 0;
    if (output->temporary) return EXIT_FINE;
    if (errno == ENAMETOOLONG) {
        return complain(EXIT_IO, path, "cannot be written: the name is too long");
    }
    return complain(EXIT_IO, path, "cannot be written: %s", strerror(errno));
}

enum { BUFFER = 1 << 16 };

exit_code output_open(const char *path, bool force, output_file *output) {
    *output = (output_file){.path = path, .fd = -1, .force = force};
    output->buffer = must_allocate(BUFFER, 1);
    if (is_standard_stream(path)) {
        output->path = "standard output";
        output->fd = OS_STANDARD_OUTPUT;
        return EXIT_FINE;
    }
    if (output_is_direct(path)) {
        output->fd = os_open_stream(path);
        if (output->fd >= 0) return EXIT_FINE;
        output->error = errno;
        return output_abandon(output, NULL, NULL);
    }
    const exit_code code = open_temporary(output);
    if (code != EXIT_FINE) output_abandon(output, NULL, NULL);
    return code;
}

static bool write_all(output_file *output, const void *bytes, size_t size) {
    const bool written = os_write(output->fd, bytes, size);
    if (!written) output->error = errno;
    return written;
}

static bool flush(output_file *output) {
    const size_t size = output->buffered;
    output->buffered = 0;
    return write_all(output, output->buffer, size);
}

static bool output_put(void *context, const void *bytes, size_t size) {
    output_file *output = context;
    output->written += size;
    if (size > BUFFER - output->buffered && !flush(output)) return false;
    if (size > BUFFER) return write_all(output, bytes, size);
    memcpy(output->buffer + output->buffered, bytes, size);
    output->buffered += size;
    return true;
}

arenaut_sink output_sink(output_file *output) {
    const arenaut_sink sink = {output_put, output};
    return sink;
}

static void output_release(output_file *output) {
    if (output->temporary) os_drop_temporary();
    else if (output->fd > OS_STANDARD_ERROR) os_close(output->fd, false);
    free(output->final_path);
    free(output->buffer);
    *output = (output_file){.path = output->path, .fd = -1};
}

exit_code output_abandon(output_file *output, const char *about, const arenaut_error *reason) {
    const int error = output->error;
    output_release(output);
    if (error) return complain(EXIT_IO, output->path, "cannot be written: %s", strerror(error));
    return reason ? complain_error(about, reason) : EXIT_IO;
}

exit_code output_commit(output_file *output) {
    if (!flush(output)) return output_abandon(output, NULL, NULL);
    if (output->temporary &&
        (!os_close(output->fd, true) || !os_keep_temporary(output->final_path, output->force))) {
        output->error = errno;
        return output_abandon(output, NULL, NULL);
    }
    output_release(output);
    return EXIT_FINE;
}

/* Not stdio: the error of the last write must not get lost in a buffer. */
exit_code print_text(const arenaut_text *text) {
    output_file output;
    if (text->size == 0) return EXIT_FINE;
    exit_code code = output_open("-", false, &output);
    if (code != EXIT_FINE) return code;
    const arenaut_sink sink = output_sink(&output);
    if (!sink.put(sink.context, text->bytes, text->size))
        return output_abandon(&output, NULL, NULL);
    return output_commit(&output);
}

/* A scanner of C initializers: "= {", whole numbers between commas, "}", with comments and strings
 * passed over and nothing else of the language looked at. The first list of bytes that a format
 * recognises is the model. Linear in the text. */

typedef struct scan {
    const char *at, *end;
    uint8_t *bytes; /* room for as many as the text may have: two characters for each */
    size_t n;
} scan;

/* Behind a comment or a string or character that begins here; NULL where none does. */
static const char *past_comment(const scan *s) {
    const char *at = s->at;
    const size_t left = (size_t)(s->end - at);
    if (left >= 2 && at[0] == '/' && at[1] == '*') {
        for (at += 2; s->end - at >= 2; at++) {
            if (at[0] == '*' && at[1] == '/') return at + 2;
        }
        return s->end;
    }
    if (left >= 2 && at[0] == '/' && at[1] == '/') {
        const char *line = memchr(at, '\n', left);
        return line ? line : s->end;
    }
    if (*at != '"' && *at != '\'') return NULL;
    for (const char quote = *at++; at < s->end; at++) {
        if (*at == '\\') at++;
        else if (*at == quote) return at + 1;
    }
    return s->end;
}

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_blanks(scan *s) {
    while (s->at < s->end) {
        const char *past = is_blank(*s->at) ? s->at + 1 : *s->at == '/' ? past_comment(s) : NULL;
        if (!past) return;
        s->at = past;
    }
}

static bool take(scan *s, char c) {
    skip_blanks(s);
    if (s->at == s->end || *s->at != c) return false;
    s->at++;
    return true;
}

static int digit_of(char c) {
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : 16;
}

/* A number of 8 bits, with a sign or without: "0x1c", "28", "034", "-1". */
static bool take_byte(scan *s) {
    const bool negative = take(s, '-');
    int base = 10, value = 0;
    skip_blanks(s);
    if (s->end - s->at >= 2 && s->at[0] == '0') {
        base = (s->at[1] | 0x20) == 'x' ? 16 : 8;
        s->at += base == 16 ? 2 : 0;
    }
    const char *first = s->at;
    for (; s->at < s->end && digit_of(*s->at) < base; s->at++) {
        value = value * base + digit_of(*s->at);
        if (value > (negative ? 128 : 255)) return false;
    }
    while (s->at > first && s->at < s->end && (*s->at | 0x20) == 'u') s->at++;
    if (s->at == first) return false;
    s->bytes[s->n++] = (uint8_t)(negative ? 256 - value : value);
    return true;
}

/* The list behind "= {"; false, and somewhere within it, if it holds anything but bytes. */
static bool take_list(scan *s) {
    s->n = 0;
    while (!take(s, '}')) {
        if (!take_byte(s)) return false;
        if (!take(s, ',')) return take(s, '}');
    }
    return true;
}

static bool find_model(scan *s) {
    while (s->at < s->end) {
        const char *past = past_comment(s);
        const bool assigned = !past && *s->at == '=';
        s->at = past ? past : s->at + 1;
        if (!assigned || !take(s, '{') || !take_list(s)) continue;
        const arenaut_format *format = arenaut_format_recognise(s->bytes, s->n);
        if (format && format->needs_original) return true;
    }
    return false;
}

/* Text has no zero bytes, and models do, soon. */
static bool is_text(const input_file *input) {
    enum { LOOKED_AT = 4096 };
    const size_t n = input->size < LOOKED_AT ? input->size : LOOKED_AT;
    return n > 0 && !memchr(input->data, '\0', n);
}

void input_take_c_array(input_file *input) {
    if (!is_text(input) || arenaut_format_recognise(input->data, input->size)) return;
    const char *text = (const char *)input->data;
    scan s = {.at = text, .end = text + input->size};
    s.bytes = must_allocate(input->size / 2 + 1, 1);
    const bool found = find_model(&s);
    if (!found) {
        free(s.bytes);
        return;
    }
    input_close(input);
    input->data = s.bytes;
    input->size = s.n;
    input->mapped = false;
}

/* Recursive list of the input files below a folder. A file is recognised by its content, since
 * models have all kinds of names; plans as JSON, which are outputs, are no inputs. Names are
 * sorted, as the order in which a system lists them means nothing. */

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
