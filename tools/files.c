/* Files. Outputs are written to a temporary name in the same folder, synced, and then
 * given their name in one step, so a full disk, a crash or a Ctrl-C leaves either the old
 * file or the new one. */
#define _XOPEN_SOURCE 700 /* pthread_sigmask, readlink, fchown */

#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files up to this size are copied into memory: a mapped file that somebody truncates
 * under our feet ends in SIGBUS, a copy does not. Larger ones are mostly weights, which
 * nobody reads, and are mapped. */
enum { COPY_UP_TO = 16 << 20 };

/* The temporary file of the output under way, for the handlers that may have to end the
 * process; "" if there is none. */
static char pending_temporary[4096];

void output_drop_pending(void) {
    if (pending_temporary[0]) unlink(pending_temporary);
}

static void file_shrank(int signal_number) {
    static const char text[] = "arenaut: an input file became shorter while it was read\n";
    (void)signal_number;
    output_drop_pending();
    (void)!write(STDERR_FILENO, text, sizeof text - 1); /* there is nobody left to tell */
    _exit(EXIT_IO);
}

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
                            "does not end within %s bytes, which is the limit for what is no "
                            "regular file: give it as one",
                            with_commas(limit).text);
        }
        const ssize_t n = read(fd, data + size, capacity - size);
        if (n < 0 && errno == EINTR) {
            free(data);
            return EXIT_INTERRUPT;
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
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return read_all(fd, path, size, size, input);
    signal(SIGBUS, file_shrank);
    input->data = data;
    input->size = size;
    input->mapped = true;
    return EXIT_FINE;
}

exit_code input_open(const char *path, input_file *input) {
    *input = (input_file){.path = path};
    if (is_standard_stream(path)) {
        input->path = "standard input";
        return read_all(STDIN_FILENO, input->path, COPY_UP_TO / 16, INPUT_STREAM_LIMIT, input);
    }
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        const int error = errno;
        if (fd >= 0) close(fd);
        return complain(EXIT_IO, path, "cannot be opened: %s", strerror(error));
    }
    exit_code code;
    if (S_ISDIR(info.st_mode)) {
        code = complain(EXIT_IO, path, "is a folder, not a file");
    } else if (S_ISREG(info.st_mode) && info.st_size > COPY_UP_TO) {
        code = map_file(fd, path, (size_t)info.st_size, input);
    } else {
        code = read_all(fd, path, info.st_size > 0 ? (size_t)info.st_size : 4096,
                        INPUT_STREAM_LIMIT, input);
    }
    input->device = info.st_dev;
    input->inode = info.st_ino;
    close(fd);
    return code;
}

void input_close(input_file *input) {
    if (input->mapped) munmap((void *)(uintptr_t)input->data, input->size);
    else free((void *)(uintptr_t)input->data);
    input->data = NULL;
}

/* A device or a pipe is written to directly: there is nothing to overwrite. */
static bool is_direct(const struct stat *info) {
    return !S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode) && !S_ISLNK(info->st_mode);
}

bool output_is_direct(const char *path) {
    struct stat info;
    return is_standard_stream(path) || (stat(path, &info) == 0 && is_direct(&info));
}

bool output_is_input(const char *path, const input_file *input) {
    struct stat info;
    return !is_standard_stream(path) && stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
           info.st_dev == input->device && info.st_ino == input->inode;
}

/* Refuses early. output_commit looks again, since the world may change while we plan. */
exit_code output_check(const char *path, bool force, bool binary) {
    struct stat info;
    if (is_standard_stream(path)) {
        if (!binary || !isatty(STDOUT_FILENO)) return EXIT_FINE;
        return complain(EXIT_USAGE, NULL,
                        "a model is not written to a terminal: "
                        "redirect standard output, or use -o FILE");
    }
    if (lstat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return complain(EXIT_IO, path, "is a folder, not a file");
        if (is_direct(&info) || force) return EXIT_FINE;
        return complain(EXIT_IO, path, "exists already: -f overwrites it");
    }
    if (errno != ENOENT) {
        return complain(EXIT_IO, path, "cannot be written: %s", strerror(errno));
    }
    char *copy = strdup(path);
    const bool folder = copy && stat(dirname(copy), &info) == 0 && S_ISDIR(info.st_mode);
    free(copy);
    return folder ? EXIT_FINE
                  : complain(EXIT_IO, path, "cannot be written: its folder does not exist");
}

/* Makes "FOLDER/.NAME.XXXXXX". */
static char *temporary_name(const char *final_path) {
    const char *slash = strrchr(final_path, '/');
    const size_t folder = slash ? (size_t)(slash - final_path) + 1 : 0;
    const size_t length = strlen(final_path) + 16;
    char *name = must_allocate(length, 1);
    /* A long name is shortened: with the suffix it might pass what file systems take. */
    snprintf(name, length, "%.*s.%.200s.XXXXXX", (int)folder, final_path, final_path + folder);
    return name;
}

/* The file that a path leads to through symbolic links, which need not exist; NULL where they
 * lead in a circle. Freed with free(). */
static char *follow_links(const char *path) {
    enum { MOST_LINKS = 40 };
    char *at = strdup(path);
    for (int i = 0; at; i++) {
        char target[4096];
        const ssize_t length = readlink(at, target, sizeof target - 1);
        if (length < 0) return at; /* no link, or nothing at all */
        target[length] = '\0';
        const char *slash = strrchr(at, '/');
        const size_t folder = target[0] != '/' && slash ? (size_t)(slash - at) + 1 : 0;
        char *next = i < MOST_LINKS ? must_allocate(folder + (size_t)length + 1, 1) : NULL;
        if (next) {
            memcpy(next, at, folder);
            memcpy(next + folder, target, (size_t)length + 1);
        } else {
            errno = ELOOP;
        }
        free(at);
        at = next;
    }
    return NULL;
}

/* The new file gets the owner, group and mode of the one it replaces, as far as this process
 * may give them; what runs with its owner's rights is never handed to another owner. A new
 * name gets what the user's umask says. */
static void set_owner_and_mode(const output_file *output) {
    struct stat old, made;
    if (stat(output->final_path, &old) != 0 || !S_ISREG(old.st_mode)) {
        const mode_t mask = umask(0);
        umask(mask);
        fchmod(output->fd, 0666 & ~mask);
        return;
    }
    mode_t mode = old.st_mode & 07777;
    if (fstat(output->fd, &made) != 0) return;
    const bool same_owner = made.st_uid == old.st_uid && made.st_gid == old.st_gid;
    if (!same_owner && fchown(output->fd, old.st_uid, old.st_gid) != 0) {
        mode &= (mode_t) ~(S_ISUID | S_ISGID);
        const bool same_group =
            made.st_gid == old.st_gid || fchown(output->fd, (uid_t)-1, old.st_gid) == 0;
        if (!same_group) mode &= (mode_t)~S_IRWXG; /* it was said of another group */
    }
    fchmod(output->fd, mode);
}

/* The file must not exist under a name that the handlers of signals do not know. */
static int make_temporary(char *name) {
    static bool registered;
    sigset_t all, before;
    sigfillset(&all);
    if (!registered) registered = atexit(output_drop_pending) == 0;
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const int fd = mkstemp(name), error = errno;
    if (fd >= 0) strcpy(pending_temporary, name);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

static exit_code open_temporary(output_file *output) {
    /* With -f a symbolic link is followed, so that the link stays one. */
    output->final_path = output->force ? follow_links(output->path) : strdup(output->path);
    if (!output->final_path) {
        return complain(EXIT_IO, output->path, "cannot be written: %s", strerror(errno));
    }
    output->temporary = temporary_name(output->final_path);
    if (strlen(output->temporary) >= sizeof pending_temporary) {
        free(output->temporary);
        output->temporary = NULL;
        return complain(EXIT_IO, output->path, "cannot be written: the name is too long");
    }
    output->fd = make_temporary(output->temporary);
    if (output->fd < 0) {
        const int error = errno;
        free(output->temporary);
        output->temporary = NULL;
        return complain(EXIT_IO, output->path, "cannot be written: %s", strerror(error));
    }
    set_owner_and_mode(output);
    return EXIT_FINE;
}

enum { BUFFER = 1 << 16 };

exit_code output_open(const char *path, bool force, output_file *output) {
    struct stat info;
    *output = (output_file){.path = path, .fd = -1, .force = force};
    output->buffer = must_allocate(BUFFER, 1);
    if (is_standard_stream(path)) {
        output->path = "standard output";
        output->fd = STDOUT_FILENO;
        return EXIT_FINE;
    }
    if (stat(path, &info) == 0 && is_direct(&info)) {
        output->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (output->fd >= 0) return EXIT_FINE;
        output->error = errno;
        return output_abandon(output, NULL, NULL);
    }
    const exit_code code = open_temporary(output);
    if (code != EXIT_FINE) output_abandon(output, NULL, NULL);
    return code;
}

/* Counts on: short writes and interruptions by signals are not errors. */
static bool write_all(output_file *output, const char *at, size_t size) {
    while (size > 0) {
        const ssize_t n = write(output->fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            output->error = errno;
            return false;
        }
        at += n;
        size -= (size_t)n;
    }
    return true;
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
    if (output->fd > STDERR_FILENO) close(output->fd);
    output->fd = -1;
    pending_temporary[0] = '\0';
    free(output->temporary);
    free(output->final_path);
    free(output->buffer);
    output->temporary = output->final_path = output->buffer = NULL;
}

exit_code output_abandon(output_file *output, const char *about, const arenaut_error *reason) {
    const int error = output->error;
    if (output->temporary) unlink(output->temporary);
    output_release(output);
    if (error) return complain(EXIT_IO, output->path, "cannot be written: %s", strerror(error));
    return reason ? complain_error(about, reason) : EXIT_IO;
}

/* Without -f the name must still be free: link() fails where rename() would overwrite. */
static bool give_name(const output_file *output) {
    if (output->force) return rename(output->temporary, output->final_path) == 0;
    if (link(output->temporary, output->final_path) == 0) {
        unlink(output->temporary);
        return true;
    }
    if (errno == EEXIST) return false;
    return rename(output->temporary, output->final_path) == 0; /* no hard links here */
}

/* Makes the new name last through a crash; file systems that cannot are let off. */
static void sync_folder(const char *final_path) {
    char *copy = strdup(final_path);
    const int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(copy);
}

exit_code output_commit(output_file *output) {
    if (!flush(output)) return output_abandon(output, NULL, NULL);
    if (output->temporary) {
        if (fsync(output->fd) != 0) output->error = errno;
        if (close(output->fd) != 0 && !output->error) output->error = errno;
        output->fd = -1;
        if (!output->error && !give_name(output)) output->error = errno;
        if (output->error) return output_abandon(output, NULL, NULL);
        sync_folder(output->final_path);
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
