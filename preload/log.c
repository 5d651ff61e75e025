#define _GNU_SOURCE
#include "log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arenaut/hook.h>

#include "real.h"
#include "tape/addresses.h"

enum { LINE = 96, ROOM = 1 << 16, MOST_PATH = 4096 };

/* Nothing here may ask the heap for memory on its own behalf but past the hooks. */
static struct {
    pthread_mutex_t lock;
    atomic_bool on;
    int file;
    size_t least;
    struct timespec start;
    arn_tape_addresses live; /* blocks that were logged; releases of others are not */
    char text[ROOM];
    size_t used;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

/* ---- text ---- */

static void stop(void) {
    atomic_store(&state.on, false);
    if (state.file >= 0) close(state.file);
    state.file = -1;
}

/* A file that cannot be written any more ends the log: there is no channel for an error. */
static void flush_text(void) {
    for (size_t done = 0; done < state.used;) {
        const ssize_t n = write(state.file, state.text + done, state.used - done);
        if (n <= 0) {
            stop();
            break;
        }
        done += (size_t)n;
    }
    state.used = 0;
}

static void put_text(const char *text) {
    const size_t length = strlen(text);
    memcpy(state.text + state.used, text, length);
    state.used += length;
}

static void put_number(uint64_t number, unsigned base) {
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    put_text(digits + at);
}

static uint64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)(now.tv_sec - state.start.tv_sec) * 1000000000u + (uint64_t)now.tv_nsec -
           (uint64_t)state.start.tv_nsec;
}

static void put_event(const char *event, const void *block, size_t size) {
    if (ROOM - state.used < LINE) flush_text();
    put_text(event);
    put_text(",");
    put_number(nanoseconds(), 10);
    put_text(",0x");
    put_number((uintptr_t)block, 16);
    put_text(",");
    if (size != SIZE_MAX) put_number(size, 10);
    put_text("\n");
}

/* ---- events ---- */

static bool enter(void) {
    if (!atomic_load_explicit(&state.on, memory_order_relaxed)) return false;
    pthread_mutex_lock(&state.lock);
    if (atomic_load(&state.on)) return true;
    pthread_mutex_unlock(&state.lock);
    return false;
}

static void leave(void) { pthread_mutex_unlock(&state.lock); }

static void note_request(const void *block, size_t size) {
    if (!block || size < state.least) return;
    if (!arn_tape_addresses_add(&state.live, arenaut_hook_allocator(), block, 0)) {
        stop(); /* a release that is not known would make the file a lie */
        return;
    }
    put_event("alloc", block, size);
}

static void note_release(const void *block) {
    if (arn_tape_addresses_remove(&state.live, block) == ARENAUT_NONE) return;
    put_event("free", block, SIZE_MAX);
}

void log_request(const void *block, size_t size) {
    if (!enter()) return;
    note_request(block, size);
    leave();
}

void log_release(const void *block) {
    if (!block || !enter()) return;
    note_release(block);
    leave();
}

/* The heap may give the old block to another thread at once, so that this is done under the lock.
 * Where a block moved, both were there for a moment. */
void *log_reallocate(void *block, size_t size) {
    if (!enter()) return real_realloc(block, size);
    const uintptr_t before = (uintptr_t)block;
    void *moved = real_realloc(block, size);
    const bool gone = before && (moved || size == 0), stayed = (uintptr_t)moved == before;
    if (gone && stayed) note_release((const void *)before);
    note_request(moved, size);
    if (gone && !stayed) note_release((const void *)before);
    leave();
    return moved;
}

/* ---- the file ---- */

/* Stores `pattern` with the number of the process in the place of %p. False if it is too long. */
static bool make_path(const char *pattern, char path[MOST_PATH]) {
    const char *mark = strstr(pattern, "%p");
    const size_t head = mark ? (size_t)(mark - pattern) : strlen(pattern);
    if (strlen(pattern) + 24 > MOST_PATH) return false;
    memcpy(path, pattern, head);
    path[head] = '\0';
    if (!mark) return true;
    state.used = 0;
    put_number((uint64_t)getpid(), 10);
    memcpy(path + head, state.text, state.used);
    strcpy(path + head + state.used, mark + 2);
    state.used = 0;
    return true;
}

/* Half-written lines that a child inherits are its parent's. */
static void before_fork(void) { pthread_mutex_lock(&state.lock); }
static void parent_after_fork(void) { pthread_mutex_unlock(&state.lock); }
static void child_after_fork(void) {
    stop();
    state.used = 0;
    pthread_mutex_unlock(&state.lock);
}

/* One file is one process: the first, also once it has become another program (exec). */
static bool is_ours(const char *pattern) {
    static const char name[] = "ARENAUT_TRACE_PROCESS";
    const char *first = getenv(name);
    char number[24] = "";
    if (strstr(pattern, "%p")) return true;
    put_number((uint64_t)getpid(), 10);
    memcpy(number, state.text, state.used);
    state.used = 0;
    if (first) return strcmp(first, number) == 0;
    return setenv(name, number, 1) == 0;
}

__attribute__((constructor)) static void open_log(void) {
    const char *pattern = getenv("ARENAUT_TRACE"), *least = getenv("ARENAUT_TRACE_MIN");
    char path[MOST_PATH];
    if (!pattern || !*pattern || !is_ours(pattern) || !make_path(pattern, path)) return;
    state.file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (state.file < 0) {
        static const char message[] = "arenaut: the file of ARENAUT_TRACE cannot be written\n";
        if (write(STDERR_FILENO, message, sizeof message - 1) < 0) return;
        return;
    }
    state.least = least ? (size_t)strtoull(least, NULL, 10) : 0;
    clock_gettime(CLOCK_MONOTONIC, &state.start);
    put_text("event,time,address,size\n");
    pthread_atfork(before_fork, parent_after_fork, child_after_fork);
    atomic_store(&state.on, true);
}

__attribute__((destructor)) static void close_log(void) {
    if (!enter()) return;
    flush_text();
    stop();
    leave();
}
