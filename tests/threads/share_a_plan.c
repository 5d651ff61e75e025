/* Four threads run one static program, each on a memory manager of its own, and iterations
 * side by side; all find the same registered device. Every thread finds only its own bytes. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/runtime.h>
#include <arenaut/runtime_allocators.h>

enum { THREADS = 4, ROUNDS = 200, VALUES = 50 };

static const arenaut_pool_need needs[] = {{4096, 64}};
static const arenaut_place places[] = {{0, 1024, 0}, {1024, 2048, 0}, {3072, 1024, 0}};
static const uint32_t in[] = {0}, out[] = {1};
static const arenaut_static_method methods[] = {{"step", 1, 1, in, out}};
static const arenaut_static_program program = {7, 1, 3, 1, 0, needs, places, methods, NULL};

static void require(int fine, const char *what) {
    if (fine) return;
    fprintf(stderr, "failed: %s\n", what);
    abort();
}
#define REQUIRE(what) require(what, #what)

static void run_program(int thread) {
    static const arenaut_device host = {ARENAUT_DEVICE_HOST, 0};
    arenaut_device_buffer buffer = {0};
    REQUIRE(arenaut_device_buffer_create(host, 4096, 64, &buffer, NULL) == ARENAUT_OK);
    const arenaut_span pool[] = {arenaut_device_buffer_span(&buffer)};
    const arenaut_memory_manager memory = arenaut_memory_on_host(pool, 1);
    arenaut_instance instance;
    arenaut_span state, result;
    REQUIRE(arenaut_instance_init(&instance, &program, 7, &memory, NULL) == ARENAUT_OK);
    REQUIRE(arenaut_instance_place(&instance, 2, &state, NULL) == ARENAUT_OK);
    memset(state.data, thread, state.size);
    for (int i = 0; i < ROUNDS; i++) {
        REQUIRE(arenaut_instance_begin(&instance, 0, NULL) == ARENAUT_OK);
        REQUIRE(arenaut_instance_output(&instance, 0, &result, NULL) == ARENAUT_OK);
        memset(result.data, i, result.size);
        REQUIRE(arenaut_instance_end(&instance, NULL) == ARENAUT_OK);
        REQUIRE(((char *)state.data)[i % 1024] == thread);
    }
    arenaut_device_buffer_destroy(&buffer);
}

/* `value` is shared: every thread's iteration is made of it. */
static void run_iteration(const arenaut_value *value, int thread) {
    arenaut_iteration_config config = {.value = value,
                                       .n_values = VALUES,
                                       .options = arenaut_iteration_defaults(),
                                       .source = arenaut_heap_source()};
    arenaut_iteration *it;
    config.options.grouping = ARENAUT_BY_GROUPS;
    void *room = malloc(arenaut_iteration_bytes(VALUES));
    REQUIRE(arenaut_iteration_init(room, arenaut_iteration_bytes(VALUES), &config, &it, NULL) ==
            ARENAUT_OK);
    for (int i = 0; i < ROUNDS; i++) {
        REQUIRE(arenaut_iteration_allocate(it, NULL) == ARENAUT_OK);
        for (uint32_t v = 0; v < VALUES; v++) {
            void *data;
            const size_t size = 100 + (size_t)i * v % 400;
            REQUIRE(arenaut_iteration_resize(it, v, size, &data, NULL) == ARENAUT_OK);
            memset(data, thread, size);
        }
        REQUIRE(arenaut_iteration_deallocate(it, NULL) == ARENAUT_OK);
    }
    REQUIRE(arenaut_iteration_close(it, NULL) == ARENAUT_OK);
    free(room);
}

typedef struct task {
    const arenaut_value *value;
    int thread;
} task;

static void *run(void *context) {
    const task *t = context;
    run_program(t->thread);
    run_iteration(t->value, t->thread);
    return NULL;
}

int main(void) {
    arenaut_host_allocator host;
    arenaut_value value[VALUES];
    pthread_t thread[THREADS];
    task tasks[THREADS];
    arenaut_host_open(&host, NULL, 0);
    REQUIRE(arenaut_device_register(&host.hosted.allocator, NULL) == ARENAUT_OK);
    for (uint32_t v = 0; v < VALUES; v++)
        value[v] =
            (arenaut_value){ARENAUT_VALUE_MANAGED, 0, v, v + 2, ARENAUT_NO_VALUE, ARENAUT_NO_VALUE};
    for (int i = 0; i < THREADS; i++) {
        tasks[i] = (task){value, i + 1};
        REQUIRE(pthread_create(&thread[i], NULL, run, &tasks[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) REQUIRE(pthread_join(thread[i], NULL) == 0);
    REQUIRE(arenaut_device_unregister(&host.hosted.allocator, NULL) == ARENAUT_OK);
    puts("threads ok");
    return 0;
}
