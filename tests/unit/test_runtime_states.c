/* The protocol of iterations as a state machine: every sequence of calls, held call by call
 * against a model that knows nothing of storages and buffers but who uses which, how many bytes
 * they have, and who wrote to them last. */
#include "support/test.h"

#include <stdlib.h>

#include "support/drawn.h"
#include "support/faults.h"
#include "support/memory_source.h"

enum { LENGTH = 5, DEPTH = 7 };   /* of sequences; of those in which nothing is refused */
enum { INNER, OUTPUT, VALUES };   /* a managed value, and a managed output */
enum { SMALL = 64, LARGE = 192 }; /* multiples of the alignment, to keep the model simple */
enum { FOREIGN_SIZE = 128 };

#define CALL_MAP(XX) \
    XX(ALLOCATE)     \
    XX(DEALLOCATE)   \
    XX(RELEASE)      \
    XX(GROW_INNER)   \
    XX(GROW_OUTPUT)  \
    XX(TAKE)         \
    XX(DISABLE)      \
    XX(CLOSE)        \
    XX(SWAP_OUTPUT)  \
    XX(LEND_OUTPUT)  \
    XX(SWAP_INNER)   \
    XX(RELEASE_ONE)  \
    XX(ABORT)        \
    XX(FORGET)
typedef enum call {
#define XX(name) name,
    CALL_MAP(XX)
#undef XX
        CALLS
} call;
static const char *const call_name[] = {
#define XX(name) #name,
    CALL_MAP(XX)
#undef XX
};

typedef struct settings {
    bool keep, in_arena;
} settings;

/* The model. Storages: a slot for each value, one of the model's own that owns its memory, and
 * one that borrows it. */
enum { FOREIGN = VALUES, LENT, STORAGES };
typedef enum holding { NOTHING, PLACE, BLOCK, BORROWED } holding;
typedef struct model_storage {
    holding holds;
    size_t room;
    int written; /* by which call, 0: by none */
} model_storage;

typedef struct model {
    settings settings;
    bool running, held, due, disabled, has_plan;
    uint32_t plans;
    size_t most[VALUES], planned[VALUES];
    int uses[VALUES]; /* a storage */
    model_storage storage[STORAGES];
    size_t asked;          /* of the output in this run, 0: nothing */
    size_t length;         /* of the output that is held */
    size_t arena, outputs; /* sizes of the buffers that exist */
    uint32_t grown;        /* how often the output was asked for, which makes it larger */
    int calls;
} model;

static model_storage *storage_of(model *m, int value) { return &m->storage[m->uses[value]]; }

static void model_learn(model *m, int v, size_t bytes) {
    if (v == OUTPUT && m->disabled) return;
    if (bytes > m->most[v]) {
        m->most[v] = bytes;
        m->due = true;
    }
}

static arenaut_fault_reason model_allocate(model *m) {
    if (m->running) return ARENAUT_FAULT_RUNNING;
    if (m->held) return ARENAUT_FAULT_OUTPUTS_HELD;
    if (m->due) {
        memcpy(m->planned, m->most, sizeof m->planned);
        m->plans++;
        m->has_plan = true;
        m->due = false;
    }
    for (int v = 0; v < VALUES; v++)
        m->storage[v] = (model_storage){m->planned[v] ? PLACE : NOTHING, m->planned[v], 0};
    const size_t apart = m->settings.in_arena ? 0 : m->planned[OUTPUT];
    const size_t arena = m->planned[INNER] + m->planned[OUTPUT] - apart;
    if (arena > m->arena) m->arena = arena;
    if (apart > m->outputs) m->outputs = apart;
    m->running = true;
    m->asked = 0;
    return ARENAUT_FAULT_NONE;
}

static void model_drop(model *m, bool arena, bool outputs) {
    if (m->settings.keep) return;
    if (arena) m->arena = 0;
    if (outputs) m->outputs = 0;
}

static void model_empty(model_storage *s) {
    if (s->holds != BORROWED) *s = (model_storage){NOTHING, 0, 0};
}

static bool output_is_in_place(model *m) {
    return m->held && storage_of(m, OUTPUT)->holds == PLACE;
}

static arenaut_fault_reason model_deallocate(model *m) {
    if (!m->running) return ARENAUT_FAULT_NOT_RUNNING;
    for (int v = 0; v < VALUES; v++) {
        model_learn(m, v, m->storage[v].room);
        model_learn(m, v, storage_of(m, v)->room);
    }
    m->held = storage_of(m, OUTPUT)->holds != NOTHING && !m->disabled;
    const size_t room = storage_of(m, OUTPUT)->room;
    m->length = m->asked && m->asked < room ? m->asked : room;
    for (int s = 0; s < STORAGES; s++) {
        const bool used = s < VALUES || m->uses[INNER] == s || m->uses[OUTPUT] == s;
        if (used && !(m->held && m->uses[OUTPUT] == s)) model_empty(&m->storage[s]);
    }
    m->uses[INNER] = INNER;
    if (!m->held) m->uses[OUTPUT] = OUTPUT;
    if (!m->has_plan) m->due = true;
    m->running = false;
    const bool in_place = output_is_in_place(m);
    model_drop(m, !(in_place && m->settings.in_arena), !in_place || m->settings.in_arena);
    return ARENAUT_FAULT_NONE;
}

static arenaut_fault_reason model_abort(model *m) {
    if (!m->running) return ARENAUT_FAULT_NOT_RUNNING;
    for (int v = 0; v < VALUES; v++) {
        model_empty(storage_of(m, v));
        model_empty(&m->storage[v]);
        m->uses[v] = v;
    }
    m->running = false;
    model_drop(m, true, true);
    return ARENAUT_FAULT_NONE;
}

static void model_let_go(model *m) {
    const bool in_place = output_is_in_place(m);
    model_empty(storage_of(m, OUTPUT));
    m->uses[OUTPUT] = OUTPUT;
    m->held = false;
    model_drop(m, in_place && m->settings.in_arena, in_place && !m->settings.in_arena);
}

static arenaut_fault_reason model_release(model *m, bool one) {
    if (m->running) return ARENAUT_FAULT_RUNNING;
    if (one && !m->held) return ARENAUT_FAULT_OUTPUTS_RELEASED;
    if (m->held) model_let_go(m);
    return ARENAUT_FAULT_NONE;
}

static arenaut_fault_reason model_grow(model *m, int v, size_t bytes) {
    if (!m->running) return ARENAUT_FAULT_NOT_RUNNING;
    if (v == OUTPUT && m->disabled) return ARENAUT_FAULT_VALUE_KIND;
    model_storage *s = storage_of(m, v);
    if (v == OUTPUT) m->asked = bytes;
    if (bytes > s->room) *s = (model_storage){BLOCK, bytes, 0};
    s->written = m->calls;
    return ARENAUT_FAULT_NONE;
}

static arenaut_fault_reason model_take(model *m) {
    if (!m->running && !m->held) return ARENAUT_FAULT_NOT_RUNNING;
    if (m->disabled) return ARENAUT_FAULT_VALUE_KIND;
    if (storage_of(m, OUTPUT)->holds != BLOCK) return ARENAUT_FAULT_NOTHING_OWNED;
    if (m->running) model_learn(m, OUTPUT, storage_of(m, OUTPUT)->room);
    m->asked = 0;
    if (m->held) model_let_go(m);
    else model_empty(storage_of(m, OUTPUT));
    return ARENAUT_FAULT_NONE;
}

static arenaut_fault_reason model_swap(model *m, int v, int storage) {
    if (!m->running) return ARENAUT_FAULT_NOT_RUNNING;
    if (v == OUTPUT && m->disabled) return ARENAUT_FAULT_VALUE_KIND;
    model_storage *s = &m->storage[storage];
    if (s->holds == NOTHING && storage == FOREIGN)
        *s = (model_storage){BLOCK, FOREIGN_SIZE, m->calls};
    if (s->holds != BLOCK && storage == LENT) *s = (model_storage){BORROWED, SMALL, m->calls};
    m->uses[v] = storage;
    if (v == OUTPUT) m->asked = 0;
    for (int other = FOREIGN; other < STORAGES; other++) { /* given up by the test itself */
        if (m->uses[INNER] != other && m->uses[OUTPUT] != other)
            m->storage[other] = (model_storage){NOTHING, 0, 0};
    }
    return ARENAUT_FAULT_NONE;
}

static arenaut_fault_reason model_disable(model *m) {
    if (m->running) return ARENAUT_FAULT_RUNNING;
    if (m->held) return ARENAUT_FAULT_OUTPUTS_HELD;
    if (!m->disabled && m->has_plan) m->due = true;
    m->disabled = true;
    m->most[OUTPUT] = 0;
    m->outputs = 0;
    return ARENAUT_FAULT_NONE;
}

static arenaut_fault_reason model_forget(model *m) {
    if (m->running) return ARENAUT_FAULT_RUNNING;
    if (m->held) return ARENAUT_FAULT_OUTPUTS_HELD;
    memset(m->most, 0, sizeof m->most);
    memset(m->planned, 0, sizeof m->planned);
    m->arena = m->outputs = 0;
    m->has_plan = m->due = false;
    return ARENAUT_FAULT_NONE;
}

static arenaut_fault_reason model_close(model *m) {
    if (m->running) return ARENAUT_FAULT_RUNNING;
    if (m->held) return ARENAUT_FAULT_OUTPUTS_HELD;
    m->arena = m->outputs = 0;
    return ARENAUT_FAULT_NONE;
}

/* Sizes that are asked for: the output grows once, so that it outgrows its place. */
static size_t size_asked(const model *m) { return m->grown == 0 ? SMALL : LARGE; }

static arenaut_fault_reason model_call(model *m, call which) {
    m->calls++;
    switch (which) {
        case ALLOCATE: return model_allocate(m);
        case DEALLOCATE: return model_deallocate(m);
        case ABORT: return model_abort(m);
        case FORGET: return model_forget(m);
        case RELEASE: return model_release(m, false);
        case RELEASE_ONE: return model_release(m, true);
        case GROW_INNER: return model_grow(m, INNER, SMALL);
        case GROW_OUTPUT: return model_grow(m, OUTPUT, size_asked(m));
        case TAKE: return model_take(m);
        case SWAP_OUTPUT: return model_swap(m, OUTPUT, FOREIGN);
        case LEND_OUTPUT: return model_swap(m, OUTPUT, LENT);
        case SWAP_INNER: return model_swap(m, INNER, FOREIGN);
        case DISABLE: return model_disable(m);
        case CLOSE: return model_close(m);
        case CALLS: break;
    }
    fail();
    return ARENAUT_FAULT_NONE;
}

/* The iteration itself. */
typedef struct subject {
    arenaut_iteration *it;
    memory_source memory;
    arenaut_source source;
    arenaut_storage foreign, lent;
    unsigned char bytes[SMALL]; /* that are lent */
    int calls;
    _Alignas(max_align_t) unsigned char room[2048];
} subject;

static arenaut_status end_to_end(void *context, const arenaut_placing *placing) {
    (void)context;
    *placing->arena = 0;
    for (uint32_t i = 0; i < placing->n; i++) {
        placing->offset[i] = *placing->arena;
        *placing->arena += placing->bytes[i];
    }
    return ARENAUT_OK;
}

static void begin(subject *s, settings how) {
    const arenaut_value value[VALUES] = {
        {ARENAUT_VALUE_MANAGED, 0, 0, 1, ARENAUT_NO_VALUE, ARENAUT_NO_VALUE},
        {ARENAUT_VALUE_OUTPUT, 1, 1, 2, ARENAUT_NO_VALUE, ARENAUT_NO_VALUE}};
    arenaut_fault fault;
    s->memory = (memory_source){.left = SIZE_MAX};
    s->source = counting_source(&s->memory);
    s->foreign = s->lent = (arenaut_storage){NULL, 0, NULL};
    s->calls = 0;
    arenaut_iteration_config config = {.value = value,
                                       .n_values = VALUES,
                                       .options = arenaut_iteration_defaults(),
                                       .source = s->source,
                                       .place = end_to_end};
    config.options.keep_buffer = how.keep;
    config.options.outputs_in_arena = how.in_arena;
    assert_fine(arenaut_iteration_init(s->room, sizeof s->room, &config, &s->it, &fault));
}

/* Leaves the number of this call in memory that it asked for. */
static void grow(subject *s, uint32_t value, size_t bytes, arenaut_fault *fault) {
    void *data;
    if (arenaut_iteration_resize(s->it, value, bytes, &data, fault) == ARENAUT_OK)
        memset(data, s->calls, bytes);
}

static void give_up(arenaut_storage *storage) {
    if (storage->source)
        storage->source->release(storage->source->context, storage->data, storage->bytes);
    *storage = (arenaut_storage){NULL, 0, NULL};
}

static bool is_used(const subject *s, const arenaut_storage *storage) {
    return arenaut_iteration_storage(s->it, INNER) == storage ||
           arenaut_iteration_storage(s->it, OUTPUT) == storage;
}

static void swap(subject *s, uint32_t value, arenaut_storage *storage, arenaut_fault *fault) {
    if (arenaut_iteration_swap(s->it, value, storage, fault) != ARENAUT_OK) return;
    if (storage == &s->foreign && !storage->data) {
        void *block = s->source.allocate(s->source.context, FOREIGN_SIZE, 64, fault);
        *storage = (arenaut_storage){block, FOREIGN_SIZE, &s->source};
        memset(block, s->calls, FOREIGN_SIZE);
    }
    if (storage == &s->lent && !storage->source) {
        *storage = (arenaut_storage){s->bytes, SMALL, NULL};
        memset(s->bytes, s->calls, SMALL);
    }
    if (!is_used(s, &s->foreign)) give_up(&s->foreign);
    if (!is_used(s, &s->lent)) give_up(&s->lent);
}

static arenaut_fault_reason subject_call(subject *s, call which, size_t asked) {
    arenaut_fault fault = {ARENAUT_FAULT_NONE, 0, 0, 0};
    arenaut_storage taken;
    s->calls++;
    switch (which) {
        case ALLOCATE: arenaut_iteration_allocate(s->it, &fault); break;
        case DEALLOCATE: arenaut_iteration_deallocate(s->it, &fault); break;
        case ABORT: arenaut_iteration_abort(s->it, &fault); break;
        case FORGET: arenaut_iteration_forget(s->it, &fault); break;
        case RELEASE: arenaut_iteration_release_outputs(s->it, &fault); break;
        case RELEASE_ONE: arenaut_iteration_release_output(s->it, OUTPUT, &fault); break;
        case GROW_INNER: grow(s, INNER, SMALL, &fault); break;
        case GROW_OUTPUT: grow(s, OUTPUT, asked, &fault); break;
        case TAKE:
            if (arenaut_iteration_take(s->it, OUTPUT, &taken, &fault) == ARENAUT_OK)
                give_up(&taken);
            break;
        case SWAP_OUTPUT: swap(s, OUTPUT, &s->foreign, &fault); break;
        case LEND_OUTPUT: swap(s, OUTPUT, &s->lent, &fault); break;
        case SWAP_INNER: swap(s, INNER, &s->foreign, &fault); break;
        case DISABLE: arenaut_iteration_disable_managed_outputs(s->it, &fault); break;
        case CLOSE: arenaut_iteration_close(s->it, &fault); break;
        case CALLS: fail();
    }
    return (arenaut_fault_reason)fault.reason;
}

/* The output that is held is the one that was written last, and as long as was asked. */
static bool outputs_agree(const subject *s, model *m) {
    arenaut_storage found;
    const int written = storage_of(m, OUTPUT)->written;
    const bool there = arenaut_iteration_output(s->it, OUTPUT, &found, NULL) == ARENAUT_OK;
    if (there != m->held || arenaut_iteration_is_held(s->it, OUTPUT) != there) return false;
    if (!there) return true;
    const unsigned char *data = found.data;
    return found.bytes == m->length && !found.source && (!written || data[0] == written);
}

/* All that can be seen from outside. */
static bool agree(const subject *s, model *m) {
    const arenaut_iteration_figures f = arenaut_iteration_count(s->it);
    size_t bytes = m->arena + m->outputs;
    for (int i = 0; i < STORAGES; i++) {
        if (m->storage[i].holds == BLOCK) bytes += m->storage[i].room;
    }
    const bool shows_output =
        !m->disabled && (m->running || m->held) && storage_of(m, OUTPUT)->holds == PLACE;
    const size_t apart = m->settings.in_arena ? 0 : m->planned[OUTPUT];
    return arenaut_iteration_is_running(s->it) == m->running &&
           arenaut_iteration_outputs_are_held(s->it) == m->held &&
           arenaut_iteration_plan_number(s->it) == m->plans && s->memory.bytes == bytes &&
           arenaut_iteration_is_managed_output(s->it, OUTPUT) == shows_output &&
           outputs_agree(s, m) && f.output_bytes == apart &&
           f.managed_bytes == m->planned[INNER] + m->planned[OUTPUT] - apart &&
           f.managed_outputs == !m->disabled &&
           (arenaut_iteration_buffer(s->it) != NULL) == (m->arena > 0) &&
           (arenaut_iteration_output_buffer(s->it) != NULL) == (m->outputs > 0);
}

static void complain(const call *sequence, int n, const char *what) {
    char text[200] = "";
    for (int i = 0; i < n; i++) {
        strcat(text, call_name[sequence[i]]);
        strcat(text, " ");
    }
    fail_msg("%s after %s", what, text);
}

/* Whatever came before, this leaves nothing behind. */
static void wind_up(subject *s) {
    if (arenaut_iteration_is_running(s->it)) arenaut_iteration_deallocate(s->it, NULL);
    arenaut_iteration_release_outputs(s->it, NULL);
    assert_int_equal(arenaut_iteration_close(s->it, NULL), ARENAUT_OK);
    assert_int_equal(s->memory.live, 0);
}

/* Plays `n` calls; returns the number of the first that was refused, or n. */
static int play(const call *sequence, int n, settings how) {
    static subject s;
    model m = {.settings = how, .uses = {INNER, OUTPUT}};
    int refused = n;
    begin(&s, how);
    for (int i = 0; i < n; i++) {
        const size_t asked = size_asked(&m);
        const arenaut_fault_reason expected = model_call(&m, sequence[i]);
        if (sequence[i] == GROW_OUTPUT) m.grown++;
        if (subject_call(&s, sequence[i], asked) != expected)
            complain(sequence, i + 1, "another fault than the model's");
        if (!agree(&s, &m)) complain(sequence, i + 1, "another state than the model's");
        if (expected != ARENAUT_FAULT_NONE && refused == n) refused = i;
    }
    wind_up(&s);
    return refused;
}

/* The next sequence that differs in call `at` or before; false if there is none. */
static bool advance(call *sequence, int at, int n, int calls) {
    while (at >= 0 && (int)sequence[at] == calls - 1) at--;
    if (at < 0) return false;
    sequence[at] = (call)(sequence[at] + 1);
    for (int i = at + 1; i < n; i++) sequence[i] = ALLOCATE;
    return true;
}

/* One call less where an Nth of the cases is tried, which the last call has CALLS of. */
static int less(void) { return drawn(CALLS) < CALLS; }

/* Sequences that differ only after the last call are prefixes of one another, so playing all
 * of the full length plays the shorter ones, too. */
static void play_all(settings how) {
    call sequence[LENGTH] = {0};
    const int n = LENGTH - less();
    do play(sequence, n, how);
    while (advance(sequence, n - 1, n, CALLS));
}

/* Longer ones, up to the first call that is refused: that one changes nothing, as the
 * sequences above have shown. */
static void play_without_refusals(settings how) {
    call sequence[DEPTH] = {0};
    const int n = DEPTH - less();
    int refused;
    do refused = play(sequence, n, how);
    while (advance(sequence, refused < n ? refused : n - 1, n, CALLS));
}

TEST(every_sequence_with_outputs_apart) {
    play_all((settings){.keep = false, .in_arena = false});
    play_without_refusals((settings){.keep = false, .in_arena = false});
}

TEST(every_sequence_with_buffers_kept) {
    play_all((settings){.keep = true, .in_arena = false});
    play_without_refusals((settings){.keep = true, .in_arena = false});
}

TEST(every_sequence_with_outputs_in_the_arena) {
    play_all((settings){.keep = false, .in_arena = true});
    play_without_refusals((settings){.keep = false, .in_arena = true});
}
