/* The operating system as WebAssembly's system interface has it, for the command in a web page
 * (explorer/command): files lie in the page's memory, there is one thread and no other process, and
 * a request to end comes from the page. Outputs need no handler of signals: the page drops a run
 * that fails. os_posix.c is the same for a system of its own. */
#define _XOPEN_SOURCE 700

#include "os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Whether the page was asked to end the run. */
__attribute__((import_module("page"), import_name("interrupted"))) int page_interrupted(void);

void os_start(void) {}

static void describe(const struct stat *info, os_entry *entry) {
    entry->kind = S_ISREG(info->st_mode) ? OS_FILE : S_ISDIR(info->st_mode) ? OS_FOLDER : OS_STREAM;
    entry->size = info->st_size > 0 ? (uint64_t)info->st_size : 0;
    entry->device = 0;
    entry->number = (uint64_t)info->st_ino;
}

bool os_look(const char *path, os_entry *entry) {
    struct stat info;
    if (stat(path, &info) != 0) return false;
    describe(&info, entry);
    return true;
}

bool os_look_at_link(const char *path, os_entry *entry) { return os_look(path, entry); }

bool os_same_file(const os_entry *a, const os_entry *b) { return a->number == b->number; }

size_t os_folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

int os_open_input(const char *path, os_entry *entry) {
    struct stat info;
    const int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &info) != 0) return -1;
    describe(&info, entry);
    return file;
}

ptrdiff_t os_read(int file, void *bytes, size_t size) { return read(file, bytes, size); }

/* The caller reads the file instead. */
void *os_map(int file, size_t size, int shrunk_code) {
    (void)file, (void)size, (void)shrunk_code;
    return NULL;
}

void os_unmap(void *bytes, size_t size) { (void)bytes, (void)size; }

int os_open_stream(const char *path) { return open(path, O_WRONLY); }

bool os_write(int file, const void *bytes, size_t size) {
    for (const char *at = bytes; size > 0;) {
        const ssize_t n = write(file, at, size);
        if (n < 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

bool os_close(int file, bool sync) {
    (void)sync;
    return close(file) == 0;
}

char *os_follow_links(const char *path) { return strdup(path); }

static char temporary[4096]; /* "" if there is none */

int os_open_temporary(const char *final_path) {
    const int length = snprintf(temporary, sizeof temporary, "%s.part", final_path);
    if (length >= 0 && (size_t)length < sizeof temporary)
        return open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    temporary[0] = '\0';
    errno = ENAMETOOLONG;
    return -1;
}

bool os_keep_temporary(const char *final_path, bool replace) {
    os_entry there;
    if (!replace && os_look(final_path, &there)) {
        errno = EEXIST;
        return false;
    }
    if (rename(temporary, final_path) != 0) return false;
    temporary[0] = '\0';
    return true;
}

void os_drop_temporary(void) {
    if (temporary[0]) unlink(temporary);
    temporary[0] = '\0';
}

bool os_make_folder(const char *path) { return mkdir(path, 0777) == 0; }

bool os_list_folder(const char *path, void (*each)(void *context, const char *name),
                    void *context) {
    DIR *folder = opendir(path);
    if (!folder) return false;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] != '.') each(context, entry->d_name);
    }
    closedir(folder);
    return true;
}

static void *refuse(void) {
    errno = ENOSYS;
    return NULL;
}

char *os_make_private_folder(void) { return refuse(); }

bool os_show(const char *path, const char **program) {
    (void)path;
    *program = "a program that shows files";
    return refuse() != NULL;
}

/* The page shows progress as a terminal does, and results as the text that they are. */
bool os_is_terminal(int file) { return file == OS_STANDARD_ERROR; }

unsigned os_terminal_width(void) { return 0; }

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

uint32_t os_cores(void) { return 1; }

bool os_limit_memory(uint64_t bytes) {
    (void)bytes;
    return refuse() != NULL;
}

void catch_interrupts(void) {}

bool interrupted(void) { return page_interrupted() != 0; }
