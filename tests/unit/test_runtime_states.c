/* The protocol of iterations as a state machine: every sequence of calls up to six long, held
 * call by call against a model that knows nothing of storages and buffers but their sizes. */
#include "support/test.h"

#include <stdlib.h>

#include "support/faults.h"
#include "support/memory_source.h"

enum { LENGTH = 6 };
enum { INNER, OUTPUT, VALUES };   /* a managed value, and a managed output */
enum { SMALL = 64, LARGE = 192 }; /* multiples of the alignment, to keep the model simple */

#define CALL_MAP(XX) \
    XX(ALLOCATE)     \
    XX(DEALLOCATE) XX(RELEASE) XX(GROW_INNER) XX(GROW_OUTPUT) XX(TAKE) XX(DISABLE) XX(CLOSE)
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

/* The model. */
typedef struct model {
    settings settings;
    bool running, held, due, disabled;
    uint32_t plans;
    size_t most[VALUES], planned[VALUES], room[VALUES]; /* room: of the storage in use */
    bool owned[VALUES], in_place[VALUES];
    size_t arena, outputs; /* sizes of the buffers that exist */
    uint32_t grown;        /* how often the output was asked for, which makes it larger */
} model;

static void model_learn(model *m, int v) {
    if (m->room[v] > m->most[v]) {
        m->most[v] = m->room[v];
        m->due = true;
    }
}

static arenaut_fault_reason model_allocate(model *m) {
    if (m->running) return ARENAUT_FAULT_RUNNING;
    if (m->held) return ARENAUT_FAULT_OUTPUTS_HELD;
    if (m->due) {
        memcpy(m->planned, m->most, sizeof m->planned);
        m->plans++;
        m->due = false;
    }
    for (int v = 0; v < VALUES; v++) {
        m->room[v] = m->planned[v];
        m->in_place[v] = m->room[v] > 0;
    }
    const size_t apart = m->settings.in_arena ? 0 : m->planned[OUTPUT];
    const size_t arena = m->planned[INNER] + m->planned[OUTPUT] - apart;
    if (arena > m->arena) m->arena = arena;
    if (apart > m->outputs) m->outputs = apart;
    m->running = true;
    return ARENAUT_FAULT_NONE;
}

static void model_drop(model *m, bool arena, bool outputs) {
    if (m->settings.keep) return;
    if (arena) m->arena = 0;
    if (outputs) m->outputs = 0;
}

static arenaut_fault_reason model_deallocate(model *m) {
    if (!m->running) return ARENAUT_FAULT_NOT_RUNNING;
    for (int v = 0; v < VALUES; v++) {
        model_learn(m, v);
        m->owned[v] = false;
        m->room[v] = 0;
    }
    m->held = m->in_place[OUTPUT] && !m->disabled;
    if (m->plans == 0) m->due = true;
    m->running = false;
    model_drop(m, !(m->held && m->settings.in_arena), !m->held);
    return ARENAUT_FAULT_NONE;
}

static arenaut_fault_reason model_release(model *m) {
    if (m->running) return ARENAUT_FAULT_RUNNING;
    if (m->held) model_drop(m, m->settings.in_arena, true);
    m->held = false;
    return ARENAUT_FAULT_NONE;
}

static arenaut_fault_reason model_grow(model *m, int v, size_t bytes) {
    if (!m->running) return ARENAUT_FAULT_NOT_RUNNING;
    if (v == OUTPUT && m->disabled) return ARENAUT_FAULT_VALUE_KIND;
    if (bytes <= m->room[v]) return ARENAUT_FAULT_NONE;
    m->room[v] = bytes;
    m->owned[v] = true;
    m->in_place[v] = false;
    return ARENAUT_FAULT_NONE;
}

static arenaut_fault_reason model_take(model *m) {
    if (!m->running) return ARENAUT_FAULT_NOT_RUNNING;
    if (m->disabled) return ARENAUT_FAULT_VALUE_KIND;
    if (!m->owned[OUTPUT]) return ARENAUT_FAULT_NOTHING_OWNED;
    model_learn(m, OUTPUT);
    m->owned[OUTPUT] = false;
    m->room[OUTPUT] = 0;
    return ARENAUT_FAULT_NONE;
}

static arenaut_fault_reason model_disable(model *m) {
    if (m->running) return ARENAUT_FAULT_RUNNING;
    if (m->held) return ARENAUT_FAULT_OUTPUTS_HELD;
    if (!m->disabled && m->plans) m->due = true;
    m->disabled = true;
    m->most[OUTPUT] = 0;
    m->outputs = 0;
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
    switch (which) {
        case ALLOCATE:
            return model_allocate(m);
        case DEALLOCATE:
            return model_deallocate(m);
        case RELEASE:
            return model_release(m);
        case GROW_INNER:
            return model_grow(m, INNER, SMALL);
        case GROW_OUTPUT:
            return model_grow(m, OUTPUT, size_asked(m));
        case TAKE:
            return model_take(m);
        case DISABLE:
            return model_disable(m);
        case CLOSE:
            return model_close(m);
        case CALLS:
            break;
    }
    fail();
    return ARENAUT_FAULT_NONE;
}

/* The iteration itself. */
typedef struct subject {
    arenaut_iteration *it;
    memory_source memory;
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
    arenaut_iteration_config config = {.value = value,
                                       .n_values = VALUES,
                                       .options = arenaut_iteration_defaults(),
                                       .source = counting_source(&s->memory),
                                       .place = end_to_end};
    arenaut_fault fault;
    config.options.keep_buffer = how.keep;
    config.options.outputs_in_arena = how.in_arena;
    s->memory = (memory_source){.left = SIZE_MAX};
    assert_fine(arenaut_iteration_init(s->room, sizeof s->room, &config, &s->it, &fault));
}

static arenaut_fault_reason subject_call(subject *s, call which, size_t asked) {
    arenaut_fault fault = {ARENAUT_FAULT_NONE, 0, 0, 0};
    arenaut_storage taken;
    void *data;
    switch (which) {
        case ALLOCATE:
            arenaut_iteration_allocate(s->it, &fault);
            break;
        case DEALLOCATE:
            arenaut_iteration_deallocate(s->it, &fault);
            break;
        case RELEASE:
            arenaut_iteration_release_outputs(s->it, &fault);
            break;
        case GROW_INNER:
            arenaut_iteration_resize(s->it, INNER, SMALL, &data, &fault);
            break;
        case GROW_OUTPUT:
            arenaut_iteration_resize(s->it, OUTPUT, asked, &data, &fault);
            break;
        case TAKE:
            if (arenaut_iteration_take(s->it, OUTPUT, &taken, &fault) == ARENAUT_OK)
                taken.source->release(taken.source->context, taken.data, taken.bytes);
            break;
        case DISABLE:
            arenaut_iteration_disable_managed_outputs(s->it, &fault);
            break;
        case CLOSE:
            arenaut_iteration_close(s->it, &fault);
            break;
        case CALLS:
            fail();
    }
    return (arenaut_fault_reason)fault.reason;
}

/* All that can be seen from outside. */
static bool agree(const subject *s, const model *m) {
    const arenaut_iteration_figures f = arenaut_iteration_count(s->it);
    const size_t bytes = m->arena + m->outputs + (m->owned[INNER] ? m->room[INNER] : 0) +
                         (m->owned[OUTPUT] ? m->room[OUTPUT] : 0);
    const bool shows_output = !m->disabled && (m->running || m->held) && m->in_place[OUTPUT];
    const size_t apart = m->settings.in_arena ? 0 : m->planned[OUTPUT];
    return arenaut_iteration_is_running(s->it) == m->running &&
           arenaut_iteration_outputs_are_held(s->it) == m->held &&
           arenaut_iteration_plan_number(s->it) == m->plans && s->memory.bytes == bytes &&
           arenaut_iteration_is_managed_output(s->it, OUTPUT) == shows_output &&
           f.output_bytes == apart &&
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

static void play(const call *sequence, settings how) {
    static subject s;
    model m = {.settings = how};
    begin(&s, how);
    for (int i = 0; i < LENGTH; i++) {
        const size_t asked = size_asked(&m);
        const arenaut_fault_reason expected = model_call(&m, sequence[i]);
        if (sequence[i] == GROW_OUTPUT) m.grown++;
        if (subject_call(&s, sequence[i], asked) != expected)
            complain(sequence, i + 1, "another fault than the model's");
        if (!agree(&s, &m)) complain(sequence, i + 1, "another state than the model's");
    }
    wind_up(&s);
}

/* Sequences that differ only after the last call are prefixes of one another, so playing all
 * of the full length plays the shorter ones, too. */
static void play_all(settings how) {
    call sequence[LENGTH] = {0};
    for (;;) {
        play(sequence, how);
        int i = LENGTH - 1;
        while (i >= 0 && sequence[i] == CALLS - 1) sequence[i--] = 0;
        if (i < 0) return;
        sequence[i] = (call)(sequence[i] + 1);
    }
}

static void every_sequence_with_outputs_apart(void **state) {
    (void)state;
    play_all((settings){.keep = false, .in_arena = false});
}

static void every_sequence_with_buffers_kept(void **state) {
    (void)state;
    play_all((settings){.keep = true, .in_arena = false});
}

static void every_sequence_with_outputs_in_the_arena(void **state) {
    (void)state;
    play_all((settings){.keep = false, .in_arena = true});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sequence_with_outputs_apart),
        cmocka_unit_test(every_sequence_with_buffers_kept),
        cmocka_unit_test(every_sequence_with_outputs_in_the_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
