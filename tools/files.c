/* Reading inputs and writing outputs. Outputs are written to a temporary name in the same folder,
 * synced, and then given their name in one step, so a full disk, a crash or a Ctrl-C leaves either
 * the old file or the new one. How the system does that is in os.h; here are the messages for its
 * failures. */
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
    if (!data) return complain(EXIT_IO, path, "does not fit in memory");
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
