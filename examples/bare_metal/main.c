/* A program of two methods on planned memory, without heap, library or system: `add` puts
 * an input into a running total, `measure` reads the total. Their tensors lie in one
 * arena whose layout came from
 *
 *     arenaut export counter.program.json --as header -o counter.h
 *
 * All that is not state is overwritten between calls, to show that only state must last. */
#include <arenaut/runtime_program.h>

#include "counter.h"
#include "start.h"

enum { ELEMENTS = 64, TOTAL = 0, DOUBLED = 2, SQUARES = 4 }; /* tensors, by their numbers */

static _Alignas(8) unsigned char arena[COUNTER_ARENA_BYTES];
static arenaut_instance model;
static arenaut_fault fault;

/* Where a tensor lies. An error ends the example. */
static void *at(uint32_t tensor) {
    arenaut_span span;
    if (arenaut_instance_place(&model, tensor, &span, &fault) != ARENAUT_OK) leave(false);
    return span.data;
}

static void *argument(arenaut_status (*which)(const arenaut_instance *, uint32_t, arenaut_span *,
                                              arenaut_fault *)) {
    arenaut_span span;
    if (which(&model, 0, &span, &fault) != ARENAUT_OK) leave(false);
    return span.data;
}

static void begin(uint32_t method) {
    if (arenaut_instance_begin(&model, method, &fault) != ARENAUT_OK) leave(false);
}

static void end(void) {
    if (arenaut_instance_end(&model, &fault) != ARENAUT_OK) leave(false);
}

/* y = -(total += 2 x) */
static int32_t add(int32_t first) {
    begin(0);
    int32_t *x = argument(arenaut_instance_input), *y = argument(arenaut_instance_output);
    int32_t *doubled = at(DOUBLED), *total = at(TOTAL);
    for (int i = 0; i < ELEMENTS; i++) x[i] = first + i;
    for (int i = 0; i < ELEMENTS; i++) doubled[i] = 2 * x[i];
    for (int i = 0; i < ELEMENTS; i++) total[i] += doubled[i];
    for (int i = 0; i < ELEMENTS; i++) y[i] = -total[i];
    const int32_t last = y[ELEMENTS - 1];
    end();
    return last;
}

/* The sum of the squares of the total. */
static int64_t measure(void) {
    begin(1);
    const int32_t *total = at(TOTAL);
    int64_t *squares = at(SQUARES), *energy = argument(arenaut_instance_output);
    for (int i = 0; i < ELEMENTS; i++) squares[i] = (int64_t)total[i] * total[i];
    *energy = 0;
    for (int i = 0; i < ELEMENTS; i++) *energy += squares[i];
    const int64_t result = *energy;
    end();
    return result;
}

/* Everything but the state gets a pattern that no kernel would like to read. */
static void poison(void) {
    arenaut_span state;
    if (arenaut_instance_place(&model, TOTAL, &state, &fault) != ARENAUT_OK) leave(false);
    const unsigned char *from = state.data, *to = from + state.size;
    for (size_t i = 0; i < sizeof arena; i++) {
        if (&arena[i] < from || &arena[i] >= to) arena[i] = 0xa5;
    }
}

static bool agrees(const char *what, int64_t found, int64_t expected) {
    print(found == expected ? "ok     " : "WRONG  ");
    print(what);
    print("\n");
    return found == expected;
}

/* A call that must fail, and say why. */
static bool is_refused(const char *what, arenaut_status status, uint32_t reason) {
    const bool refused = status != ARENAUT_OK && fault.reason == reason;
    print(refused ? "ok     " : "WRONG  ");
    print(what);
    print(": found ");
    print_number((uint32_t)fault.found);
    print(", allowed ");
    print_number((uint32_t)fault.allowed);
    print("\n");
    return refused;
}

int main(void) {
    const arenaut_span pool[] = {{arena, sizeof arena}}, half[] = {{arena, sizeof arena / 2}};
    const arenaut_span odd[] = {{arena + 1, sizeof arena}};
    const arenaut_memory_manager memory = arenaut_memory_on_host(pool, 1);
    const arenaut_memory_manager small = arenaut_memory_on_host(half, 1);
    const arenaut_memory_manager misaligned = arenaut_memory_on_host(odd, 1);
    bool fine = true;

    fine &= is_refused(
        "half the memory is refused",
        arenaut_instance_init(&model, &counter_program, COUNTER_FINGERPRINT, &small, &fault),
        ARENAUT_FAULT_POOL_SMALL);
    fine &= is_refused(
        "misaligned memory is refused",
        arenaut_instance_init(&model, &counter_program, COUNTER_FINGERPRINT, &misaligned, &fault),
        ARENAUT_FAULT_POOL_MISALIGNED);
    fine &= is_refused(
        "the plan of another program is refused",
        arenaut_instance_init(&model, &counter_program, COUNTER_FINGERPRINT + 1, &memory, &fault),
        ARENAUT_FAULT_OTHER_PROGRAM);
    if (arenaut_instance_init(&model, &counter_program, COUNTER_FINGERPRINT, &memory, &fault) !=
        ARENAUT_OK) {
        print("the memory does not fit the plan\n");
        return 1;
    }
    fine &= is_refused("an input of a method that does not run is refused",
                       arenaut_instance_input(&model, 0, &(arenaut_span){0}, &fault),
                       ARENAUT_FAULT_METHOD_IDLE);

    int64_t energy = 0;
    for (int i = 0; i < ELEMENTS; i++) energy += (int64_t)(2 * (11 + 2 * i)) * (2 * (11 + 2 * i));
    poison();
    fine &= agrees("add 1, 2, 3 ...", add(1), -2 * 64);
    poison();
    fine &= agrees("add 10, 11, 12 ... to the kept total", add(10), -2 * (64 + 73));
    poison();
    fine &= agrees("measure the total of both calls", measure(), energy);
    poison();
    fine &= agrees("measure it again", measure(), energy);
    print("arena ");
    print_number(COUNTER_ARENA_BYTES);
    print(" bytes\n");
    return fine ? 0 : 1;
}
