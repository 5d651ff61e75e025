#include "support/pte_round.h"

#include <string.h>

#include <arenaut/lowering.h>
#include <arenaut/pass.h>

#include "ir/program.h"
#include "support/random.h"
#include "support/require.h"

/* The pool that stands for a memory of a method: they are counted one after another. */
static uint32_t pool_of(const arenaut_program *program, const arenaut_tensor *tensor) {
    uint32_t pool = tensor->given_pool;
    for (uint32_t m = 0; m < tensor->method; m++) pool += program->methods[m].n_given_pools;
    return pool;
}

static arenaut_status add_pools(pte_round *round, arenaut_error *err) {
    const arenaut_program *program = round->document.program;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        for (uint32_t i = 0; i < method->n_given_pools && st == ARENAUT_OK; i++) {
            const arenaut_pool pool = {.device = method->given_pools[i].device};
            st = arenaut_problem_add_pool(round->problem, &pool, NULL, err);
        }
    }
    return st;
}

static arenaut_status add_buffers(pte_round *round, arenaut_error *err) {
    const arenaut_program *program = round->document.program;
    const arenaut_interval life = {0, 1};
    arenaut_status st = ARENAUT_OK;
    for (uint32_t t = 0; t < program->n_tensors && st == ARENAUT_OK; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        arenaut_buffer buffer = ARENAUT_BUFFER_INIT;
        round->lowering.buffer[t] = ARENAUT_NONE;
        round->lowering.offset[t] = 0;
        if (tensor->given_pool == ARENAUT_NONE) continue;
        buffer.size = (tensor->bytes + 15) / 16 * 16;
        buffer.lifetimes = &life;
        buffer.n_lifetimes = 1;
        buffer.pools = UINT64_C(1) << pool_of(program, tensor);
        st = arenaut_problem_add_buffer(round->problem, &buffer, &round->lowering.buffer[t], err);
    }
    return st;
}

static arenaut_status lower_plainly(pte_round *round, const arenaut_allocator *allocator,
                                    arenaut_error *err) {
    const uint32_t n = round->document.program->n_tensors;
    arenaut_status st = arenaut_problem_new(allocator, &round->problem, err);
    if (st != ARENAUT_OK) return st;
    round->lowering.problem = round->problem;
    round->lowering.n_tensors = n;
    round->lowering.buffer = malloc(((size_t)n + 1) * sizeof *round->lowering.buffer);
    round->lowering.offset = malloc(((size_t)n + 1) * sizeof *round->lowering.offset);
    if (!round->lowering.buffer || !round->lowering.offset) abort();
    st = add_pools(round, err);
    if (st == ARENAUT_OK) st = add_buffers(round, err);
    return st == ARENAUT_OK ? arenaut_problem_finish(round->problem, err) : st;
}

static arenaut_status plan_as_given(pte_round *round, const arenaut_allocator *allocator,
                                    arenaut_error *err) {
    const arenaut_program *program = round->document.program;
    const arenaut_status st = arenaut_plan_new(round->problem->n_buffers, round->problem->n_pools,
                                               allocator, &round->plan, err);
    if (st != ARENAUT_OK) return st;
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const uint32_t b = round->lowering.buffer[t];
        if (b == ARENAUT_NONE) continue;
        round->plan->pool[b] = pool_of(program, &program->tensors[t]);
        round->plan->offset[b] = program->tensors[t].given_offset;
    }
    return arenaut_plan_measure(round->plan, round->problem, err);
}

arenaut_status pte_round_open(const void *data, size_t size, const arenaut_allocator *allocator,
                              pte_round *round, arenaut_error *err) {
    memset(round, 0, sizeof *round);
    arenaut_status st = arenaut_read(data, size, arenaut_format_find("pte"), NULL, allocator,
                                     &round->document, err);
    if (st == ARENAUT_OK) st = lower_plainly(round, allocator, err);
    if (st == ARENAUT_OK) st = plan_as_given(round, allocator, err);
    if (st != ARENAUT_OK) {
        pte_round_close(round);
        return st;
    }
    round->result.path = "test.pte";
    round->result.format = "pte";
    round->result.file = data;
    round->result.file_size = size;
    round->result.program = round->document.program;
    round->result.lowering = &round->lowering;
    round->result.problem = round->problem;
    round->result.plan = round->plan;
    round->result.seconds = -1;
    return ARENAUT_OK;
}

void pte_round_close(pte_round *round) {
    arenaut_plan_free(round->plan);
    arenaut_problem_free(round->problem);
    free(round->lowering.buffer);
    free(round->lowering.offset);
    arenaut_document_free(&round->document);
    memset(round, 0, sizeof *round);
}

void pte_round_shuffle(pte_round *round, uint64_t seed) {
    const uint32_t n = round->problem->n_buffers;
    uint64_t *top = calloc(round->problem->n_pools + 1u, sizeof *top);
    uint32_t *order = malloc((n + 1u) * sizeof *order);
    arenaut_error err;
    rng r = {seed};
    if (!top || !order) abort();
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = rng_below(&r, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = order[i], pool = round->plan->pool[b];
        round->plan->offset[b] = top[pool];
        top[pool] += (round->problem->size[b] + 15) / 16 * 16;
    }
    if (arenaut_plan_measure(round->plan, round->problem, &err) != ARENAUT_OK) abort();
    free(order);
    free(top);
}

arenaut_status pte_round_write(const pte_round *round, const arenaut_allocator *allocator,
                               arenaut_text *out, arenaut_error *err) {
    memset(out, 0, sizeof *out);
    out->allocator = allocator;
    const arenaut_status st =
        round->document.format->write(&round->result, arenaut_text_sink(out), allocator, err);
    if (st != ARENAUT_OK) arenaut_text_free(out);
    return st;
}

static void require_places(const pte_round *round, const arenaut_program *back) {
    const arenaut_program *program = round->document.program;
    REQUIRE(back->n_tensors == program->n_tensors && back->n_ops == program->n_ops);
    for (uint32_t t = 0; t < back->n_tensors; t++) {
        const uint32_t b = round->lowering.buffer[t];
        const arenaut_tensor *tensor = &back->tensors[t];
        REQUIRE(tensor->given_pool == program->tensors[t].given_pool);
        REQUIRE(b != ARENAUT_NONE || tensor->given_offset == ARENAUT_UNPLACED);
        REQUIRE(b == ARENAUT_NONE || tensor->given_offset == round->plan->offset[b]);
    }
}

/* True if it could be written. */
static bool require_written_back(const pte_round *round) {
    arenaut_text written, again;
    arenaut_error err = {0};
    pte_round second;
    const arenaut_status st = pte_round_write(round, NULL, &written, &err);
    if (st != ARENAUT_OK) {
        /* BAD_INPUT: writing looks at delegates that nothing calls. */
        REQUIRE(st == ARENAUT_REFUSED || st == ARENAUT_TOO_LARGE || st == ARENAUT_BAD_INPUT);
        REQUIRE(err.code == st && err.msg[0]);
        return false;
    }
    REQUIRE(pte_round_open(written.bytes, written.size, NULL, &second, &err) == ARENAUT_OK);
    require_places(round, second.document.program);
    REQUIRE(pte_round_write(&second, NULL, &again, &err) == ARENAUT_OK);
    REQUIRE(again.size == written.size && memcmp(again.bytes, written.bytes, again.size) == 0);
    arenaut_text_free(&again);
    arenaut_text_free(&written);
    pte_round_close(&second);
    return true;
}

/* The passes, and the stages behind them, refuse a program with a message or go through. Replay of
 * the places that the file has may find a fault, which has a name then. */
static void require_passes(arenaut_program *program) {
    const arenaut_target *target = arenaut_target_find("executorch");
    const arenaut_pass_options options = {.target = target};
    arenaut_error err = {0};
    arenaut_lowering *lowering = NULL;
    arenaut_status st = arenaut_passes_run(program, "inplace", &options, NULL, NULL, &err);
    REQUIRE(st != ARENAUT_NO_MEMORY && st != ARENAUT_INTERNAL && st != ARENAUT_BAD_ARGUMENT);
    if (st == ARENAUT_OK) {
        REQUIRE(arn_program_validate(program, &err) == ARENAUT_OK);
        st = arenaut_lower(program, target, NULL, NULL, &lowering, &err);
        REQUIRE(st != ARENAUT_NO_MEMORY && st != ARENAUT_INTERNAL && st != ARENAUT_BAD_ARGUMENT);
    }
    if (st != ARENAUT_OK) REQUIRE(err.code == st && err.msg[0]);
    arenaut_lowering_free(lowering);
}

bool pte_property(const uint8_t *data, size_t size) {
    pte_round round;
    arenaut_error err = {0};
    arenaut_document document;
    const arenaut_status st =
        arenaut_read(data, size, arenaut_format_find("pte"), NULL, NULL, &document, &err);
    REQUIRE(st != ARENAUT_NO_MEMORY && st != ARENAUT_INTERNAL && st != ARENAUT_BAD_ARGUMENT);
    if (st != ARENAUT_OK) {
        REQUIRE(err.code == st && err.msg[0]);
        return false;
    }
    REQUIRE(arn_program_validate(document.program, &err) == ARENAUT_OK);
    require_passes(document.program);
    arenaut_document_free(&document);
    /* More memories than pools, or sizes past 2^63 all together: there is no problem then. */
    if (pte_round_open(data, size, NULL, &round, &err) != ARENAUT_OK) return true;
    require_written_back(&round);
    pte_round_shuffle(&round, size);
    require_written_back(&round);
    pte_round_close(&round);
    return true;
}
