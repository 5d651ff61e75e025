/* The operating system as Windows has it, by the Win32 API and Microsoft's C library: see os.h, and
 * os_posix.c for the same elsewhere. Files are read, never mapped. An error of Windows becomes the
 * nearest errno, since callers only print it and compare it with ENOENT and EEXIST. */
#include "os.h"

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include <shellapi.h>

/* Colours are codes in the text, which older consoles would show as they are. */
void os_start(void) {
    const HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD mode;
    for (int file = OS_STANDARD_INPUT; file <= OS_STANDARD_ERROR; file++) _setmode(file, _O_BINARY);
    if (GetConsoleMode(console, &mode) &&
        !SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING)) {
        _putenv("TERM=dumb");
    }
}

static bool fail_as_windows(void) {
    switch (GetLastError()) {
        case ERROR_FILE_NOT_FOUND:
        case ERROR_PATH_NOT_FOUND:
        case ERROR_INVALID_NAME: errno = ENOENT; break;
        case ERROR_FILE_EXISTS:
        case ERROR_ALREADY_EXISTS: errno = EEXIST; break;
        case ERROR_DISK_FULL: errno = ENOSPC; break;
        case ERROR_NOT_ENOUGH_MEMORY: errno = ENOMEM; break;
        case ERROR_CALL_NOT_IMPLEMENTED:
        case ERROR_NOT_SUPPORTED: errno = ENOSYS; break;
        default: errno = EACCES; break;
    }
    return false;
}

static bool describe(HANDLE handle, os_entry *entry) {
    BY_HANDLE_FILE_INFORMATION info;
    *entry = (os_entry){.kind = OS_STREAM};
    if (GetFileType(handle) != FILE_TYPE_DISK) return true;
    if (!GetFileInformationByHandle(handle, &info)) return fail_as_windows();
    const bool folder = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    entry->kind = folder ? OS_FOLDER : OS_FILE;
    entry->size = folder ? 0 : (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow;
    entry->device = info.dwVolumeSerialNumber;
    entry->number = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow;
    return true;
}

bool os_look(const char *path, os_entry *entry) {
    const DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    const HANDLE handle =
        CreateFileA(path, 0, share, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE) return fail_as_windows();
    const bool done = describe(handle, entry);
    CloseHandle(handle);
    return done;
}

/* Links are rare here, and need a privilege to be made: a link counts as its target. */
bool os_look_at_link(const char *path, os_entry *entry) { return os_look(path, entry); }

bool os_same_file(const os_entry *a, const os_entry *b) {
    return a->device == b->device && a->number == b->number;
}

/* As the library's arn_folder_length (src/core/file_name.h). */
size_t os_folder_length(const char *path) {
    size_t length = path[0] && path[1] == ':' ? 2 : 0;
    for (size_t i = length; path[i]; i++) {
        if (path[i] == '/' || path[i] == '\\') length = i + 1;
    }
    return length;
}

/* A folder cannot be opened like a file; `entry` has its kind, and there is nothing to read. */
int os_open_input(const char *path, os_entry *entry) {
    if (!os_look(path, entry)) return -1;
    return _open(entry->kind == OS_FOLDER ? "NUL" : path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
}

ptrdiff_t os_read(int file, void *bytes, size_t size) {
    const unsigned most = 1u << 30;
    return _read(file, bytes, size < most ? (unsigned)size : most);
}

void *os_map(int file, size_t size, int shrunk_code) {
    (void)file;
    (void)size;
    (void)shrunk_code;
    return NULL;
}

void os_unmap(void *bytes, size_t size) {
    (void)bytes;
    (void)size;
}

int os_open_stream(const char *path) { return _open(path, _O_WRONLY | _O_BINARY | _O_NOINHERIT); }

bool os_write(int file, const void *bytes, size_t size) {
    const unsigned most = 1u << 26;
    for (const char *at = bytes; size > 0;) {
        const int n = _write(file, at, size < most ? (unsigned)size : most);
        if (n < 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static char temporary[4096]; /* "" if there is none */
static int temporary_file = -1;

bool os_close(int file, bool sync) {
    const bool synced = !sync || _commit(file) == 0;
    const int error = errno;
    if (file == temporary_file) temporary_file = -1;
    if (_close(file) != 0 && synced) return false;
    if (!synced) errno = error;
    return synced;
}

char *os_follow_links(const char *path) { return _strdup(path); }

/* "FOLDER\.NAME.PROCESS.NUMBER". */
int os_open_temporary(const char *final_path) {
    static bool registered;
    const int flags = _O_CREAT | _O_EXCL | _O_RDWR | _O_BINARY | _O_NOINHERIT;
    const size_t folder = os_folder_length(final_path);
    if (folder + 300 > sizeof temporary) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (!registered) registered = atexit(os_drop_temporary) == 0;
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(temporary, sizeof temporary, "%.*s.%.200s.%lu.%u", (int)folder, final_path,
                 final_path + folder, (unsigned long)GetCurrentProcessId(), i);
        temporary_file = _open(temporary, flags, _S_IREAD | _S_IWRITE);
        if (temporary_file >= 0) return temporary_file;
        if (errno != EEXIST) break;
    }
    temporary[0] = '\0';
    return -1;
}

bool os_keep_temporary(const char *final_path, bool replace) {
    const DWORD flags = MOVEFILE_WRITE_THROUGH | (replace ? MOVEFILE_REPLACE_EXISTING : 0);
    if (!MoveFileExA(temporary, final_path, flags)) return fail_as_windows();
    temporary[0] = '\0';
    return true;
}

void os_drop_temporary(void) {
    if (temporary_file >= 0) _close(temporary_file);
    if (temporary[0]) _unlink(temporary);
    temporary_file = -1;
    temporary[0] = '\0';
}

bool os_make_folder(const char *path) { return _mkdir(path) == 0; }

bool os_list_folder(const char *path, void (*each)(void *context, const char *name),
                    void *context) {
    WIN32_FIND_DATAA found;
    char *pattern = malloc(strlen(path) + 3);
    if (!pattern) return false;
    strcat(strcpy(pattern, path), "/*");
    const HANDLE search = FindFirstFileA(pattern, &found);
    free(pattern);
    if (search == INVALID_HANDLE_VALUE) return fail_as_windows();
    do {
        if (found.cFileName[0] != '.') each(context, found.cFileName);
    } while (FindNextFileA(search, &found));
    FindClose(search);
    return true;
}

char *os_make_private_folder(void) {
    char path[MAX_PATH + 32];
    const DWORD length = GetTempPathA(MAX_PATH, path);
    if (length == 0 || length > MAX_PATH) {
        fail_as_windows();
        return NULL;
    }
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(path + length, sizeof path - length, "arenaut-%lu-%u", GetCurrentProcessId(), i);
        if (_mkdir(path) == 0) return _strdup(path);
        if (errno != EEXIST) return NULL;
    }
    return NULL;
}

/* A program that is named by hand is told by its name only, so that it is found as others are. */
bool os_show(const char *path, const char **program) {
    const char *chosen = getenv("BROWSER");
    *program = chosen && *chosen ? chosen : "explorer";
    if (chosen && *chosen) return _spawnlp(_P_NOWAIT, chosen, chosen, path, NULL) != -1;
    /* Above 32 it is done, says its manual. */
    if ((INT_PTR)ShellExecuteA(NULL, "open", path, NULL, NULL, SW_SHOWNORMAL) > 32) return true;
    return fail_as_windows();
}

bool os_is_terminal(int file) {
    DWORD mode;
    return GetConsoleMode((HANDLE)_get_osfhandle(file), &mode);
}

unsigned os_terminal_width(void) {
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info)) return 0;
    return (unsigned)(info.srWindow.Right - info.srWindow.Left + 1);
}

uint32_t os_cores(void) {
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return system.dwNumberOfProcessors < OS_MOST_CORES ? system.dwNumberOfProcessors
                                                       : OS_MOST_CORES;
}

double seconds_now(void) {
    LARGE_INTEGER now, frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}

/* Limit of the process's committed memory, by a job object of its own that lasts as long as it
 * does. */
bool os_limit_memory(uint64_t bytes) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limit = {0};
    const HANDLE job = CreateJobObjectA(NULL, NULL);
    if (!job) return fail_as_windows();
    limit.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_PROCESS_MEMORY;
    limit.ProcessMemoryLimit = bytes < SIZE_MAX ? (SIZE_T)bytes : SIZE_MAX;
    return (SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limit, sizeof limit) &&
            AssignProcessToJobObject(job, GetCurrentProcess())) ||
           fail_as_windows();
}

static volatile sig_atomic_t interrupt_seen;

/* The first one asks the planner to stop. Windows forgets the handler each time it is called. */
static void remember_interrupt(int signal_number) {
    if (interrupt_seen) {
        os_drop_temporary();
        _exit(130);
    }
    interrupt_seen = 1;
    signal(signal_number, remember_interrupt);
}

void catch_interrupts(void) {
    signal(SIGINT, remember_interrupt);
    signal(SIGTERM, remember_interrupt);
    signal(SIGBREAK, remember_interrupt);
}

bool interrupted(void) { return interrupt_seen != 0; }
