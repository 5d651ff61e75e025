#include "cuda_tape.h"

#include <pthread.h>
#include <stdio.h>

#include <arenaut/runtime_allocators.h>
#include <arenaut/runtime_fault.h>

enum { ALIGN = 512 };

static struct {
    pthread_mutex_t lock;
    arenaut_cuda_allocator cuda;
    bool open, running;
    arenaut_tape *tape; /* made by the first recording */
    int device;
    void *stream; /* of the tape */
    void *arena;
    uint64_t arena_size;
    arenaut_gpu_figures figures;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the driver ---- */

static arenaut_status fail(arenaut_error *err, arenaut_status status, const char *message) {
    if (err) {
        err->code = status;
        err->at = 0;
        snprintf(err->msg, sizeof err->msg, "%s", message);
    }
    return status;
}

static arenaut_status pass_fault(arenaut_error *err, arenaut_status status,
                                 const arenaut_fault *fault) {
    char text[200];
    arenaut_fault_text(fault, text, sizeof text);
    return fail(err, status, text);
}

static arenaut_status open_driver(const char *library, arenaut_error *err) {
    arenaut_fault fault = {0};
    if (state.open) return ARENAUT_OK;
    const arenaut_status st = arenaut_cuda_open(&state.cuda, library, NULL, 0, &fault);
    state.open = st == ARENAUT_OK;
    return state.open ? ARENAUT_OK : pass_fault(err, st, &fault);
}

static void *take_from_driver(uint64_t size, int device, arenaut_error *err) {
    arenaut_device_allocator *driver = &state.cuda.hosted.allocator;
    arenaut_fault fault = {0};
    void *block = NULL;
    if (open_driver(NULL, err) != ARENAUT_OK) return NULL;
    const arenaut_status st =
        driver->allocate(driver, (size_t)size, 256, (uint32_t)device, &block, &fault);
    if (st != ARENAUT_OK) {
        pass_fault(err, st, &fault);
        return NULL;
    }
    state.figures.driver_calls++;
    return block;
}

static void give_to_driver(void *block, int device) {
    arenaut_device_allocator *driver = &state.cuda.hosted.allocator;
    driver->deallocate(driver, block, (uint32_t)device);
}

static void count_taken(uint64_t size) {
    arenaut_gpu_figures *f = &state.figures;
    f->driver += size;
    if (f->driver > f->most) f->most = f->driver;
}

/* The tape's heap is its device's memory. The driver aligns all blocks to 256 bytes at least, and
 * those of 512 bytes and more in fact to 512, which the tape does not rely on. */
static void *heap_allocate(void *context, uint64_t size, uint64_t align) {
    (void)context;
    (void)align;
    return take_from_driver(size, state.device, NULL);
}

static void heap_release(void *context, void *block) {
    (void)context;
    give_to_driver(block, state.device);
}

/* ---- PyTorch's entry points ---- */

static bool is_of_run(int device, const void *stream) {
    return state.running && device == state.device && stream == state.stream;
}

void *arenaut_gpu_malloc(ssize_t size, int device, void *stream) {
    if (size <= 0) return NULL;
    pthread_mutex_lock(&state.lock);
    void *block = is_of_run(device, stream)
                      ? arenaut_tape_allocate(state.tape, (uint64_t)size, ALIGN)
                      : take_from_driver((uint64_t)size, device, NULL);
    const bool planned = block && state.tape && arenaut_tape_owns(state.tape, block);
    if (block && !planned) count_taken((uint64_t)size);
    pthread_mutex_unlock(&state.lock);
    return block;
}

/* Where a block goes back to depends on where it lies, not on the stream or time of its request. */
void arenaut_gpu_free(void *block, ssize_t size, int device, void *stream) {
    if (!block) return;
    pthread_mutex_lock(&state.lock);
    const bool planned = state.tape && arenaut_tape_owns(state.tape, block);
    if (!planned) state.figures.driver -= (uint64_t)size;
    if (is_of_run(device, stream)) arenaut_tape_release(state.tape, block);
    else if (planned) arenaut_tape_release_elsewhere(state.tape, block);
    else give_to_driver(block, device);
    pthread_mutex_unlock(&state.lock);
}

arenaut_status arenaut_gpu_driver(const char *library, arenaut_error *err) {
    pthread_mutex_lock(&state.lock);
    const arenaut_status st = state.open ? fail(err, ARENAUT_REFUSED, "a driver is open already")
                                         : open_driver(library, err);
    pthread_mutex_unlock(&state.lock);
    return st;
}

/* ---- runs ---- */

static arenaut_status give_up_arena(arenaut_error *err) {
    if (!state.arena) return ARENAUT_OK;
    const arenaut_status st = arenaut_tape_bind(state.tape, NULL, 0, err);
    if (st != ARENAUT_OK) return st;
    give_to_driver(state.arena, state.device);
    state.figures.driver -= state.arena_size;
    state.arena = NULL;
    state.arena_size = 0;
    return ARENAUT_OK;
}

static arenaut_status begin_recording(int device, void *stream, arenaut_error *err) {
    if (state.running) return fail(err, ARENAUT_REFUSED, "a run is under way");
    arenaut_status st = open_driver(NULL, err);
    if (st == ARENAUT_OK) st = give_up_arena(err);
    if (st == ARENAUT_OK && !state.tape) {
        const arenaut_tape_options options = {
            .heap = {heap_allocate, heap_release, NULL}, .align = ALIGN, .exact = true};
        st = arenaut_tape_new(&options, NULL, &state.tape, err);
    }
    if (st == ARENAUT_OK) st = arenaut_tape_record(state.tape, err);
    if (st != ARENAUT_OK) return st;
    state.device = device;
    state.stream = stream;
    state.running = true;
    return ARENAUT_OK;
}

arenaut_status arenaut_gpu_record(int device, void *stream, arenaut_error *err) {
    pthread_mutex_lock(&state.lock);
    const arenaut_status st = begin_recording(device, stream, err);
    pthread_mutex_unlock(&state.lock);
    return st;
}

arenaut_status arenaut_gpu_play(arenaut_error *err) {
    pthread_mutex_lock(&state.lock);
    arenaut_status st = ARENAUT_OK;
    if (!state.arena) st = fail(err, ARENAUT_REFUSED, "nothing is planned");
    if (st == ARENAUT_OK) st = arenaut_tape_play(state.tape, err);
    if (st == ARENAUT_OK) state.running = true;
    pthread_mutex_unlock(&state.lock);
    return st;
}

arenaut_status arenaut_gpu_end(arenaut_error *err) {
    pthread_mutex_lock(&state.lock);
    const arenaut_status st = state.running ? arenaut_tape_end(state.tape, err)
                                            : fail(err, ARENAUT_REFUSED, "no run is under way");
    state.running = false;
    pthread_mutex_unlock(&state.lock);
    return st;
}

static arenaut_status take_arena(arenaut_error *err) {
    uint64_t align;
    const uint64_t size = arenaut_tape_arena(state.tape, &align);
    /* The driver promises 256 bytes; the arena begins where its blocks are aligned as planned. */
    const uint64_t room = size + align;
    char *memory = take_from_driver(room, state.device, err);
    if (!memory) return ARENAUT_NO_MEMORY;
    char *start = memory + (align - (uintptr_t)memory % align) % align;
    const arenaut_status st = arenaut_tape_bind(state.tape, start, size, err);
    if (st != ARENAUT_OK) {
        give_to_driver(memory, state.device);
        return st;
    }
    state.arena = memory;
    state.arena_size = room;
    state.figures.arena = size;
    state.figures.bound = arenaut_tape_bound(state.tape);
    count_taken(room);
    return ARENAUT_OK;
}

arenaut_status arenaut_gpu_plan(arenaut_error *err) {
    pthread_mutex_lock(&state.lock);
    arenaut_status st = ARENAUT_OK;
    if (!state.tape || state.running) st = fail(err, ARENAUT_REFUSED, "nothing was recorded");
    if (st == ARENAUT_OK) st = arenaut_tape_plan(state.tape, NULL, err);
    if (st == ARENAUT_OK) st = take_arena(err);
    pthread_mutex_unlock(&state.lock);
    return st;
}

arenaut_status arenaut_gpu_forget(arenaut_error *err) {
    pthread_mutex_lock(&state.lock);
    arenaut_status st = ARENAUT_OK;
    if (state.running) st = fail(err, ARENAUT_REFUSED, "a run is under way");
    if (st == ARENAUT_OK) st = give_up_arena(err);
    if (st == ARENAUT_OK) {
        arenaut_tape_free(state.tape);
        state.tape = NULL;
        state.figures.arena = state.figures.bound = 0;
    }
    pthread_mutex_unlock(&state.lock);
    return st;
}

void arenaut_gpu_count(arenaut_gpu_figures *figures) {
    pthread_mutex_lock(&state.lock);
    if (state.tape) arenaut_tape_count(state.tape, &state.figures.counts);
    *figures = state.figures;
    pthread_mutex_unlock(&state.lock);
}
