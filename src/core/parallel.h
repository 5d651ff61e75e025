/* Tasks that do not depend on each other, on several threads where there are threads.
 *
 * Nothing here decides anything: a task must come out the same on whichever thread it runs
 * and whatever runs beside it. Where threads cannot be had (ARENAUT_NO_THREADS, a platform
 * without POSIX threads, no resources), the calling thread runs the tasks one by one. */
#ifndef ARN_CORE_PARALLEL_H
#define ARN_CORE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/allocator.h>

#if !defined(ARENAUT_NO_THREADS) && (defined(__unix__) || defined(__APPLE__))
#define ARN_HAVE_THREADS 1
#include <pthread.h>
#else
#define ARN_HAVE_THREADS 0
#endif

/* What the threads of one call share. Belongs to the thread that made it. */
typedef struct arn_crew {
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
} arn_crew;

/* For at most one thread no locks are made. */
void arn_crew_init(arn_crew *crew, uint32_t threads);
void arn_crew_free(arn_crew *crew);

/* Runs tasks 0 to n - 1 on at most `threads` threads, the caller's among them; they are
 * begun in the order of their numbers. `watch` is called from the calling thread when that
 * has nothing left to run and another has called arn_crew_wake. */
void arn_crew_run(arn_crew *crew, uint32_t threads, uint32_t n_tasks,
                  void (*run)(void *context, uint32_t task), void (*watch)(void *context),
                  void *context);

/* Whether this is the thread that the crew belongs to. */
bool arn_crew_is_caller(const arn_crew *crew);

/* Around whatever tasks share. */
void arn_crew_lock(arn_crew *crew);
void arn_crew_unlock(arn_crew *crew);
/* Lets the calling thread watch; the lock must be held. */
void arn_crew_wake(arn_crew *crew);

/* The same allocator, but never called from two threads at once. */
typedef struct arn_shared_allocator {
    arn_crew *crew;
    arenaut_allocator inner;
} arn_shared_allocator;

/* What is taken through it, `shared` and the crew must outlive. */
arenaut_allocator arn_share_allocator(arn_shared_allocator *shared, arn_crew *crew,
                                      const arenaut_allocator *inner);

#endif
