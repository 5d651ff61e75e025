/* Tasks on POSIX threads, which take them from a counter under one lock; without threads a loop.
 *
 * The calling thread works too, and is the only one that looks on (`watch`) while others work. The
 * allocator that threads share is the caller's own behind the same lock. */
#include "core/parallel.h"

#include "core/memory.h"

#if ARN_HAVE_THREADS

enum { MOST_THREADS = 64 };

void arn_threads_init(arn_threads *threads, uint32_t most) {
    const arn_threads empty = {.parallel = false};
    *threads = empty;
    threads->caller = pthread_self();
    if (most < 2 || pthread_mutex_init(&threads->lock, NULL) != 0) return;
    threads->parallel = pthread_cond_init(&threads->changed, NULL) == 0;
    if (!threads->parallel) pthread_mutex_destroy(&threads->lock);
}

void arn_threads_free(arn_threads *threads) {
    if (!threads->parallel) return;
    pthread_cond_destroy(&threads->changed);
    pthread_mutex_destroy(&threads->lock);
    threads->parallel = false;
}

void arn_threads_lock(arn_threads *threads) {
    if (threads->parallel) pthread_mutex_lock(&threads->lock);
}

void arn_threads_unlock(arn_threads *threads) {
    if (threads->parallel) pthread_mutex_unlock(&threads->lock);
}

void arn_threads_wake(arn_threads *threads) {
    threads->woken = true;
    if (threads->parallel) pthread_cond_signal(&threads->changed);
}

bool arn_threads_is_caller(const arn_threads *threads) {
    return !threads->parallel || pthread_equal(threads->caller, pthread_self());
}

/* Takes tasks until there are none left. The lock is held on entry and on return. */
static void work(arn_threads *threads) {
    while (threads->next < threads->n_tasks) {
        const uint32_t task = threads->next++;
        arn_threads_unlock(threads);
        threads->run(threads->context, task);
        arn_threads_lock(threads);
        threads->n_done++;
    }
}

static void *thread_main(void *context) {
    arn_threads *threads = context;
    arn_threads_lock(threads);
    work(threads);
    pthread_cond_signal(&threads->changed);
    arn_threads_unlock(threads);
    return NULL;
}

/* While others still work: lets the caller have a look whenever one of them asks for it. */
static void wait_for_others(arn_threads *threads, void (*watch)(void *context)) {
    while (threads->n_done < threads->n_tasks) {
        if (!threads->woken) pthread_cond_wait(&threads->changed, &threads->lock);
        if (!threads->woken) continue;
        threads->woken = false;
        arn_threads_unlock(threads);
        watch(threads->context);
        arn_threads_lock(threads);
    }
}

void arn_threads_run(arn_threads *threads, uint32_t most, uint32_t n_tasks,
                     void (*run)(void *context, uint32_t task), void (*watch)(void *context),
                     void *context) {
    pthread_t helpers[MOST_THREADS];
    uint32_t n_helpers = 0, wanted = most < n_tasks ? most : n_tasks;
    if (wanted > MOST_THREADS) wanted = MOST_THREADS;
    threads->run = run;
    threads->context = context;
    threads->next = threads->n_done = 0;
    threads->n_tasks = n_tasks;
    threads->woken = false;
    /* A thread that cannot be made is one helper less. */
    while (threads->parallel && n_helpers + 1 < wanted &&
           pthread_create(&helpers[n_helpers], NULL, thread_main, threads) == 0) {
        n_helpers++;
    }
    arn_threads_lock(threads);
    work(threads);
    if (n_helpers) wait_for_others(threads, watch);
    arn_threads_unlock(threads);
    for (uint32_t i = 0; i < n_helpers; i++) pthread_join(helpers[i], NULL);
}

#else

void arn_threads_init(arn_threads *threads, uint32_t most) {
    const arn_threads empty = {.parallel = false};
    (void)most;
    *threads = empty;
}

void arn_threads_free(arn_threads *threads) { (void)threads; }
void arn_threads_lock(arn_threads *threads) { (void)threads; }
void arn_threads_unlock(arn_threads *threads) { (void)threads; }
void arn_threads_wake(arn_threads *threads) { (void)threads; }

bool arn_threads_is_caller(const arn_threads *threads) {
    (void)threads;
    return true;
}

void arn_threads_run(arn_threads *threads, uint32_t most, uint32_t n_tasks,
                     void (*run)(void *context, uint32_t task), void (*watch)(void *context),
                     void *context) {
    (void)threads;
    (void)most;
    (void)watch;
    for (uint32_t task = 0; task < n_tasks; task++) run(context, task);
}

#endif

/* ---- an allocator for all of them ---- */

static void *shared_allocate(void *context, size_t size) {
    arn_shared_allocator *shared = context;
    arn_threads_lock(shared->threads);
    void *block = shared->inner.allocate(shared->inner.context, size);
    arn_threads_unlock(shared->threads);
    return block;
}

static void *shared_reallocate(void *context, void *block, size_t old_size, size_t new_size) {
    arn_shared_allocator *shared = context;
    arn_threads_lock(shared->threads);
    void *grown = shared->inner.reallocate(shared->inner.context, block, old_size, new_size);
    arn_threads_unlock(shared->threads);
    return grown;
}

static void shared_release(void *context, void *block) {
    arn_shared_allocator *shared = context;
    arn_threads_lock(shared->threads);
    shared->inner.release(shared->inner.context, block);
    arn_threads_unlock(shared->threads);
}

arenaut_allocator arn_share_allocator(arn_shared_allocator *shared, arn_threads *threads,
                                      const arenaut_allocator *inner) {
    shared->threads = threads;
    shared->inner = arn_allocator_or_default(inner);
    const arenaut_allocator allocator = {shared_allocate, shared_reallocate, shared_release,
                                         shared};
    return threads->parallel ? allocator : shared->inner;
}
