#include "core/parallel.h"

#include "core/memory.h"

#if ARN_HAVE_THREADS

enum { MOST_THREADS = 64 };

void arn_crew_init(arn_crew *crew, uint32_t threads) {
    const arn_crew empty = {.parallel = false};
    *crew = empty;
    crew->caller = pthread_self();
    if (threads < 2 || pthread_mutex_init(&crew->lock, NULL) != 0) return;
    crew->parallel = pthread_cond_init(&crew->changed, NULL) == 0;
    if (!crew->parallel) pthread_mutex_destroy(&crew->lock);
}

void arn_crew_free(arn_crew *crew) {
    if (!crew->parallel) return;
    pthread_cond_destroy(&crew->changed);
    pthread_mutex_destroy(&crew->lock);
    crew->parallel = false;
}

void arn_crew_lock(arn_crew *crew) {
    if (crew->parallel) pthread_mutex_lock(&crew->lock);
}

void arn_crew_unlock(arn_crew *crew) {
    if (crew->parallel) pthread_mutex_unlock(&crew->lock);
}

void arn_crew_wake(arn_crew *crew) {
    crew->woken = true;
    if (crew->parallel) pthread_cond_signal(&crew->changed);
}

bool arn_crew_is_caller(const arn_crew *crew) {
    return !crew->parallel || pthread_equal(crew->caller, pthread_self());
}

/* Takes tasks until there are none left. The lock is held on entry and on return. */
static void work(arn_crew *crew) {
    while (crew->next < crew->n_tasks) {
        const uint32_t task = crew->next++;
        arn_crew_unlock(crew);
        crew->run(crew->context, task);
        arn_crew_lock(crew);
        crew->n_done++;
    }
}

static void *thread_main(void *context) {
    arn_crew *crew = context;
    arn_crew_lock(crew);
    work(crew);
    pthread_cond_signal(&crew->changed);
    arn_crew_unlock(crew);
    return NULL;
}

/* While others still work: lets the caller have a look whenever one of them asks for it. */
static void wait_for_others(arn_crew *crew, void (*watch)(void *context)) {
    while (crew->n_done < crew->n_tasks) {
        if (!crew->woken) pthread_cond_wait(&crew->changed, &crew->lock);
        if (!crew->woken) continue;
        crew->woken = false;
        arn_crew_unlock(crew);
        watch(crew->context);
        arn_crew_lock(crew);
    }
}

void arn_crew_run(arn_crew *crew, uint32_t threads, uint32_t n_tasks,
                  void (*run)(void *context, uint32_t task), void (*watch)(void *context),
                  void *context) {
    pthread_t helpers[MOST_THREADS];
    uint32_t n_helpers = 0, wanted = threads < n_tasks ? threads : n_tasks;
    if (wanted > MOST_THREADS) wanted = MOST_THREADS;
    crew->run = run;
    crew->context = context;
    crew->next = crew->n_done = 0;
    crew->n_tasks = n_tasks;
    crew->woken = false;
    /* A thread that cannot be made is one helper less. */
    while (crew->parallel && n_helpers + 1 < wanted &&
           pthread_create(&helpers[n_helpers], NULL, thread_main, crew) == 0) {
        n_helpers++;
    }
    arn_crew_lock(crew);
    work(crew);
    if (n_helpers) wait_for_others(crew, watch);
    arn_crew_unlock(crew);
    for (uint32_t i = 0; i < n_helpers; i++) pthread_join(helpers[i], NULL);
}

#else

void arn_crew_init(arn_crew *crew, uint32_t threads) {
    const arn_crew empty = {.parallel = false};
    (void)threads;
    *crew = empty;
}

void arn_crew_free(arn_crew *crew) { (void)crew; }
void arn_crew_lock(arn_crew *crew) { (void)crew; }
void arn_crew_unlock(arn_crew *crew) { (void)crew; }
void arn_crew_wake(arn_crew *crew) { (void)crew; }

bool arn_crew_is_caller(const arn_crew *crew) {
    (void)crew;
    return true;
}

void arn_crew_run(arn_crew *crew, uint32_t threads, uint32_t n_tasks,
                  void (*run)(void *context, uint32_t task), void (*watch)(void *context),
                  void *context) {
    (void)crew;
    (void)threads;
    (void)watch;
    for (uint32_t task = 0; task < n_tasks; task++) run(context, task);
}

#endif

/* ---- an allocator for all of them ---- */

static void *shared_allocate(void *context, size_t size) {
    arn_shared_allocator *shared = context;
    arn_crew_lock(shared->crew);
    void *block = shared->inner.allocate(shared->inner.context, size);
    arn_crew_unlock(shared->crew);
    return block;
}

static void *shared_reallocate(void *context, void *block, size_t old_size, size_t new_size) {
    arn_shared_allocator *shared = context;
    arn_crew_lock(shared->crew);
    void *grown = shared->inner.reallocate(shared->inner.context, block, old_size, new_size);
    arn_crew_unlock(shared->crew);
    return grown;
}

static void shared_release(void *context, void *block) {
    arn_shared_allocator *shared = context;
    arn_crew_lock(shared->crew);
    shared->inner.release(shared->inner.context, block);
    arn_crew_unlock(shared->crew);
}

arenaut_allocator arn_share_allocator(arn_shared_allocator *shared, arn_crew *crew,
                                      const arenaut_allocator *inner) {
    shared->crew = crew;
    shared->inner = arn_allocator_or_default(inner);
    const arenaut_allocator allocator = {shared_allocate, shared_reallocate, shared_release,
                                         shared};
    return crew->parallel ? allocator : shared->inner;
}
