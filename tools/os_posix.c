/* The operating system as POSIX has it: Linux, macOS, the BSDs. Outputs are written under a
 * temporary name in their own folder and renamed at the end; the handlers of signals know that
 * name. All else is one call for one call. os_windows.c is the same for Windows. */
#define _XOPEN_SOURCE 700
#define _DARWIN_C_SOURCE /* terminals' width, O_DIRECTORY, fchown */
#define _DEFAULT_SOURCE

#include "os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void os_start(void) {}

static void describe(const struct stat *info, os_entry *entry) {
    entry->kind = S_ISREG(info->st_mode)   ? OS_FILE
                  : S_ISDIR(info->st_mode) ? OS_FOLDER
                  : S_ISLNK(info->st_mode) ? OS_LINK
                                           : OS_STREAM;
    entry->size = info->st_size > 0 ? (uint64_t)info->st_size : 0;
    entry->device = (uint64_t)info->st_dev;
    entry->number = (uint64_t)info->st_ino;
}

bool os_look(const char *path, os_entry *entry) {
    struct stat info;
    if (stat(path, &info) != 0) return false;
    describe(&info, entry);
    return true;
}

bool os_look_at_link(const char *path, os_entry *entry) {
    struct stat info;
    if (lstat(path, &info) != 0) return false;
    describe(&info, entry);
    return true;
}

bool os_same_file(const os_entry *a, const os_entry *b) {
    return a->device == b->device && a->number == b->number;
}

size_t os_folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

int os_open_input(const char *path, os_entry *entry) {
    struct stat info;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    if (fstat(file, &info) != 0) {
        const int error = errno;
        close(file);
        errno = error;
        return -1;
    }
    describe(&info, entry);
    return file;
}

ptrdiff_t os_read(int file, void *bytes, size_t size) { return read(file, bytes, size); }

static char temporary[4096]; /* "" if there is none; read by the handlers of signals */
static int temporary_file = -1;
static volatile sig_atomic_t shrunk_exit_code;

static void file_shrank(int signal_number) {
    static const char text[] = "arenaut: an input file became shorter while it was read\n";
    (void)signal_number;
    if (temporary[0]) unlink(temporary);
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(shrunk_exit_code);
}

void *os_map(int file, size_t size, int shrunk_code) {
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) return NULL;
    shrunk_exit_code = shrunk_code;
    signal(SIGBUS, file_shrank);
    return bytes;
}

void os_unmap(void *bytes, size_t size) { munmap(bytes, size); }

int os_open_stream(const char *path) { return open(path, O_WRONLY | O_CLOEXEC); }

/* Counts on: short writes and interruptions by signals are not errors. */
bool os_write(int file, const void *bytes, size_t size) {
    for (const char *at = bytes; size > 0;) {
        const ssize_t n = write(file, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

bool os_close(int file, bool sync) {
    const bool synced = !sync || fsync(file) == 0;
    const int error = errno;
    if (file == temporary_file) temporary_file = -1;
    if (close(file) != 0 && synced) return false;
    if (!synced) errno = error;
    return synced;
}

char *os_follow_links(const char *path) {
    enum { MOST_LINKS = 40 };
    char *at = strdup(path);
    for (int i = 0; at; i++) {
        char target[4096];
        const ssize_t length = readlink(at, target, sizeof target - 1);
        if (length < 0) return at; /* no link, or nothing at all */
        target[length] = '\0';
        const size_t folder = target[0] == '/' ? 0 : os_folder_length(at);
        char *next = i < MOST_LINKS ? malloc(folder + (size_t)length + 1) : NULL;
        if (next) {
            memcpy(next, at, folder);
            memcpy(next + folder, target, (size_t)length + 1);
        } else if (i == MOST_LINKS) {
            errno = ELOOP;
        }
        free(at);
        at = next;
    }
    return NULL;
}

/* The new file gets the owner, group and mode of the one it replaces, as far as this process may
 * give them; a set-user-ID file is never handed to another owner. A new name gets the mode of the
 * user's umask. */
static void set_owner_and_mode(int file, const char *final_path) {
    struct stat old, made;
    if (stat(final_path, &old) != 0 || !S_ISREG(old.st_mode)) {
        const mode_t mask = umask(0);
        umask(mask);
        fchmod(file, 0666 & ~mask);
        return;
    }
    mode_t mode = old.st_mode & 07777;
    if (fstat(file, &made) != 0) return;
    const bool same_owner = made.st_uid == old.st_uid && made.st_gid == old.st_gid;
    if (!same_owner && fchown(file, old.st_uid, old.st_gid) != 0) {
        mode &= (mode_t) ~(S_ISUID | S_ISGID);
        const bool same_group =
            made.st_gid == old.st_gid || fchown(file, (uid_t)-1, old.st_gid) == 0;
        if (!same_group) mode &= (mode_t)~S_IRWXG; /* it was said of another group */
    }
    fchmod(file, mode);
}

/* The file must not exist under a name that the handlers of signals do not know. */
static int make_temporary(char *name) {
    static bool registered;
    sigset_t all, before;
    sigfillset(&all);
    if (!registered) registered = atexit(os_drop_temporary) == 0;
    sigprocmask(SIG_BLOCK, &all, &before);
    const int file = mkstemp(name), error = errno;
    if (file >= 0) strcpy(temporary, name);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return file;
}

/* "FOLDER/.NAME.XXXXXX". A long name is shortened: with the suffix it might exceed the limit of
 * file systems. */
int os_open_temporary(const char *final_path) {
    char name[sizeof temporary];
    const size_t folder = os_folder_length(final_path);
    if (folder + 300 > sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(name, sizeof name, "%.*s.%.200s.XXXXXX", (int)folder, final_path, final_path + folder);
    temporary_file = make_temporary(name);
    if (temporary_file >= 0) set_owner_and_mode(temporary_file, final_path);
    return temporary_file;
}

/* Makes the new name last through a crash; file systems that cannot are let off. */
static void sync_folder(const char *path) {
    char folder[sizeof temporary];
    const size_t length = os_folder_length(path);
    if (length >= sizeof folder) return;
    memcpy(folder, path, length);
    strcpy(folder + length, length ? "" : ".");
    const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return;
    fsync(file);
    close(file);
}

/* Without `replace` the name must still be free: link() fails where rename() would overwrite. */
static bool give_name(const char *final_path, bool replace) {
    if (!replace && link(temporary, final_path) == 0) {
        unlink(temporary);
        return true;
    }
    if (!replace && errno == EEXIST) return false;
    return rename(temporary, final_path) == 0; /* also where there are no hard links */
}

bool os_keep_temporary(const char *final_path, bool replace) {
    if (!give_name(final_path, replace)) return false;
    temporary[0] = '\0';
    sync_folder(final_path);
    return true;
}

void os_drop_temporary(void) {
    if (temporary_file >= 0) close(temporary_file);
    if (temporary[0]) unlink(temporary);
    temporary_file = -1;
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

char *os_make_private_folder(void) {
    const char *parent = getenv("TMPDIR");
    if (!parent || !*parent) parent = "/tmp";
    static const char pattern[] = "/arenaut-XXXXXX";
    char *path = malloc(strlen(parent) + sizeof pattern);
    if (!path) return NULL;
    strcat(strcpy(path, parent), pattern);
    if (mkdtemp(path)) return path;
    const int error = errno;
    free(path);
    errno = error;
    return NULL;
}

static const char *viewer(void) {
    const char *chosen = getenv("BROWSER");
    if (chosen && *chosen) return chosen;
#ifdef __APPLE__
    return "open";
#else
    return "xdg-open";
#endif
}

/* The pipe closes when the program runs, and else says why it does not. */
bool os_show(const char *path, const char **program) {
    int ends[2], error = 0;
    *program = viewer();
    if (pipe(ends) != 0) return false;
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const pid_t child = fork();
    if (child == 0) {
        setsid(); /* it goes on when this terminal is closed */
        execlp(*program, *program, path, (char *)NULL);
        error = errno;
        (void)!write(ends[1], &error, sizeof error);
        _exit(127);
    }
    if (child < 0) error = errno;
    close(ends[1]);
    if (child > 0 && os_read(ends[0], &error, sizeof error) <= 0) error = 0;
    close(ends[0]);
    errno = error;
    return error == 0;
}

bool os_is_terminal(int file) { return isatty(file); }

unsigned os_terminal_width(void) {
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

uint32_t os_cores(void) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > OS_MOST_CORES ? OS_MOST_CORES : (uint32_t)cores;
}

/* The system's limit on the data of a process: it holds for the planners' threads and for all that
 * a library does, wherever an allocation is made. A lower limit that is there already stays. */
bool os_limit_memory(uint64_t bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) != 0) return false;
    const rlim_t wanted = (rlim_t)bytes;
    if (limit.rlim_max != RLIM_INFINITY && wanted > limit.rlim_max) return true;
    limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_DATA, &limit) == 0;
}

static volatile sig_atomic_t interrupt_seen;

/* Ends as the signal does by default, but for the temporary file. */
static void end_at_once(int signal_number) {
    if (temporary[0]) unlink(temporary);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* The first signal asks the planner to stop, and the best plan so far is written; a second one ends
 * at once. */
static void remember_interrupt(int signal_number) {
    if (interrupt_seen) end_at_once(signal_number);
    interrupt_seen = 1;
}

static void handle(int signal_number, void (*handler)(int)) {
    struct sigaction action, before;
    /* Signals that our parent ignores stay ignored: nohup, or a job in the background. */
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler == SIG_IGN) return;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    /* No SA_RESTART: waiting for a pipe must end as well. */
    sigaction(signal_number, &action, NULL);
}

void catch_interrupts(void) {
    handle(SIGINT, remember_interrupt);
    handle(SIGTERM, remember_interrupt);
    handle(SIGHUP, remember_interrupt);
    handle(SIGQUIT, end_at_once); /* with a core dump */
    handle(SIGPIPE, end_at_once); /* the reader of the results is gone */
    handle(SIGXCPU, end_at_once);
    /* A limit on the size of files is an error of write(), to be told like a full disk. */
    signal(SIGXFSZ, SIG_IGN);
}

bool interrupted(void) { return interrupt_seen != 0; }
