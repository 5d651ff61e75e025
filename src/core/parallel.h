/* Independent tasks, on several threads if there are threads.
 *
 * Nothing here decides anything: a task must have the same result on any thread and beside any
 * other task. Without threads (ARENAUT_NO_THREADS, a platform without POSIX threads, no resources),
 * the calling thread runs the tasks one by one. */
#ifndef ARN_CORE_PARALLEL_H
#define ARN_CORE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/allocator.h>

#if !defined(ARENAUT_NO_THREADS) && \
    (defined(__unix__) || defined(__APPLE__) || defined(__MINGW32__))
#define ARN_HAVE_THREADS 1
#include <pthread.h>
#else
#define ARN_HAVE_THREADS 0
#endif

/* State shared by the threads of one call. Belongs to the thread that made it. */
typedef struct arn_threads {
    bool parallel; /* there are locks; otherwise all is done by the calling thread */
#if ARN_HAVE_THREADS
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t caller;
#endif
    /* Of the run under way. */
    void (*run)(void *context, uint32_t task);
    void *context;
    uint32_t next, n_tasks, n_done;
    bool woken;
} arn_threads;

/* For at most one thread no locks are made. */
void arn_threads_init(arn_threads *threads, uint32_t most);
void arn_threads_free(arn_threads *threads);

/* Runs tasks 0 to n - 1 on at most `most` threads, the caller's among them; they are
 * begun in the order of their numbers. `watch` is called from the calling thread when that
 * has nothing left to run and another has called arn_threads_wake. */
void arn_threads_run(arn_threads *threads, uint32_t most, uint32_t n_tasks,
                     void (*run)(void *context, uint32_t task), void (*watch)(void *context),
                     void *context);

/* Whether this is the thread that made them. */
bool arn_threads_is_caller(const arn_threads *threads);

/* A lock around the data that tasks share. */
void arn_threads_lock(arn_threads *threads);
void arn_threads_unlock(arn_threads *threads);
/* Lets the calling thread watch; the lock must be held. */
void arn_threads_wake(arn_threads *threads);

/* The same allocator, but never called from two threads at once. */
typedef struct arn_shared_allocator {
    arn_threads *threads;
    arenaut_allocator inner;
} arn_shared_allocator;

/* `shared` and the threads must outlive all blocks taken through it. */
arenaut_allocator arn_share_allocator(arn_shared_allocator *shared, arn_threads *threads,
                                      const arenaut_allocator *inner);

#endif
