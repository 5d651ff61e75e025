/* The command's interface to the operating system: os_posix.c or os_windows.c, one of which is
 * built. Nothing here complains; failures set errno, which callers word. */
#ifndef TOOL_OS_H
#define TOOL_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called once, first: standard streams pass bytes as they are. */
void os_start(void);

/* Files that are open have small numbers, as in C's descendants of Unix. */
enum { OS_STANDARD_INPUT = 0, OS_STANDARD_OUTPUT = 1, OS_STANDARD_ERROR = 2 };

typedef enum os_kind {
    OS_FILE,
    OS_FOLDER,
    OS_LINK,   /* a symbolic one; only os_look_at_link says so */
    OS_STREAM, /* a device or a pipe: without a size, written to in place */
} os_kind;

/* The entry at the end of a path. Two are the same file if `device` and `number` are. */
typedef struct os_entry {
    os_kind kind;
    uint64_t size, device, number;
} os_entry;

bool os_look(const char *path, os_entry *entry);
bool os_look_at_link(const char *path, os_entry *entry); /* does not follow the last link */
bool os_same_file(const os_entry *a, const os_entry *b);

/* The length of a path's folder with the separator, 0 if it has none. */
size_t os_folder_length(const char *path);

/* Opens a file for reading and looks at it; -1 if that fails. */
int os_open_input(const char *path, os_entry *entry);
/* As read(): the number of bytes, 0 at the end, -1 on errors; EINTR is one. */
ptrdiff_t os_read(int file, void *bytes, size_t size);
/* The file's bytes without copying them; NULL where that is not possible. A file that becomes
 * shorter meanwhile ends the command with `shrunk_code` and a message. */
void *os_map(int file, size_t size, int shrunk_code);
void os_unmap(void *bytes, size_t size);

int os_open_stream(const char *path);                    /* for writing; -1 on errors */
bool os_write(int file, const void *bytes, size_t size); /* all of them */
/* Closes it; with `sync` only once the bytes are on the medium. */
bool os_close(int file, bool sync);

/* The file that a path leads to through symbolic links, which need not exist; NULL where they lead
 * in a circle. Freed with free(). */
char *os_follow_links(const char *path);

/* Creates a file beside `final_path`, with the owner, group and mode of the file of that name as
 * far as this process may give them. It is removed when the process ends by itself or by a signal,
 * unless it was given its name or dropped before. -1 on errors. At most one at a time. */
int os_open_temporary(const char *final_path);
/* Gives the temporary file, closed before, its name in one step. Without `replace` it fails with
 * EEXIST if there is one. */
bool os_keep_temporary(const char *final_path, bool replace);
void os_drop_temporary(void); /* closed or not; does nothing if there is none */

bool os_make_folder(const char *path); /* fails with EEXIST if there is anything of that name */
/* Calls `each` with every name in a folder but hidden ones, in any order. */
bool os_list_folder(const char *path, void (*each)(void *context, const char *name), void *context);

/* A new folder that only this user can read, where temporary files go: its path, freed with free();
 * NULL on errors. */
char *os_make_private_folder(void);
/* Starts the program that shows files ($BROWSER, else the system's own) and returns before its
 * end. False where it cannot be started; *program gets its name, which is static or the
 * environment's. */
bool os_show(const char *path, const char **program);

bool os_is_terminal(int file);
unsigned os_terminal_width(void); /* columns of standard output; 0: unknown */

double seconds_now(void); /* of a clock that is never set */

/* Processors at work; of more than so many, the threads of the exact search (docs/exact.md). */
enum { OS_MOST_CORES = 16 };
uint32_t os_cores(void);

/* Limits the memory that this process can get. */
bool os_limit_memory(uint64_t bytes);

/* From now on the first request to end (Ctrl-C, SIGTERM, SIGHUP) is only noted, and a second one,
 * as other signals that end a process, ends it without leaving a temporary file behind. */
void catch_interrupts(void);
bool interrupted(void);

#endif
