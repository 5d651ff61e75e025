#include "support/tflite_round.h"

#include <string.h>

#include "formats/tflite/tflite.h"
#include "formats/tflite/tflite_schema.h"
#include "ir/program.h"
#include "support/require.h"

static arenaut_status stack_buffers(tflite_round *round, uint64_t base,
                                    const arenaut_allocator *allocator, arenaut_error *err) {
    const arenaut_problem *problem = round->lowering->problem;
    const arenaut_status st =
        arenaut_plan_new(problem->n_buffers, problem->n_pools, allocator, &round->plan, err);
    if (st != ARENAUT_OK) return st;
    uint64_t at = base;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(problem, b)) continue;
        round->plan->pool[b] = 0;
        round->plan->offset[b] = at;
        at = (at + problem->size[b] + 15) / 16 * 16;
    }
    round->plan->planner = "stacked";
    return arenaut_plan_measure(round->plan, problem, err);
}

arenaut_status tflite_round_open(const void *data, size_t size, uint64_t base,
                                 const arenaut_allocator *allocator, tflite_round *round,
                                 arenaut_error *err) {
    const arenaut_target *target = arenaut_target_find("tflite-micro");
    memset(round, 0, sizeof *round);
    arenaut_status st = arenaut_read(data, size, arenaut_format_find("tflite"), NULL, allocator,
                                     &round->document, err);
    if (st == ARENAUT_OK) {
        st = arenaut_lower(round->document.program, target, NULL, allocator, &round->lowering, err);
    }
    if (st == ARENAUT_OK) st = stack_buffers(round, base, allocator, err);
    if (st != ARENAUT_OK) {
        tflite_round_close(round);
        return st;
    }
    round->result.path = "test.tflite";
    round->result.format = "tflite";
    round->result.file = data;
    round->result.file_size = size;
    round->result.program = round->document.program;
    round->result.target = target;
    round->result.lowering = round->lowering;
    round->result.problem = round->lowering->problem;
    round->result.plan = round->plan;
    round->result.seconds = -1;
    return ARENAUT_OK;
}

void tflite_round_close(tflite_round *round) {
    arenaut_plan_free(round->plan);
    arenaut_lowering_free(round->lowering);
    arenaut_document_free(&round->document);
    memset(round, 0, sizeof *round);
}

arenaut_status tflite_round_write(const tflite_round *round, const arenaut_allocator *allocator,
                                  arenaut_text *out, arenaut_error *err) {
    memset(out, 0, sizeof *out);
    out->allocator = allocator;
    const arenaut_status st =
        round->document.format->write(&round->result, arenaut_text_sink(out), allocator, err);
    if (st != ARENAUT_OK) arenaut_text_free(out);
    return st;
}

static void require_offsets(const tflite_round *round, const arenaut_program *back) {
    const arenaut_program *program = round->document.program;
    REQUIRE(back->given == ARENAUT_GIVEN_OURS);
    REQUIRE(back->n_tensors == program->n_tensors);
    for (uint32_t t = 0; t < back->n_tensors; t++) {
        const uint32_t b = round->lowering->buffer[t];
        const arenaut_class cls = program->tensors[t].cls;
        if (b == ARENAUT_NONE || round->plan->pool[b] == ARENAUT_NONE) continue;
        if (cls == ARENAUT_STATE || cls == ARENAUT_CONSTANT) {
            REQUIRE(back->tensors[t].given_offset == ARENAUT_UNPLACED);
            continue;
        }
        REQUIRE(back->tensors[t].given_pool == 0);
        REQUIRE(back->tensors[t].given_offset ==
                round->plan->offset[b] + round->lowering->offset[t]);
    }
}

static void require_strip_undoes(const arenaut_text *written, const uint8_t *data, size_t size) {
    arenaut_text stripped = {0};
    arenaut_error err;
    REQUIRE(arenaut_format_find("tflite")->strip((const uint8_t *)written->bytes, written->size,
                                                 arenaut_text_sink(&stripped), NULL,
                                                 &err) == ARENAUT_OK);
    REQUIRE(stripped.size == size && memcmp(stripped.bytes, data, size) == 0);
    arenaut_text_free(&stripped);
}

static arn_fb_vector data_of(arn_tflite_model *model, arn_fb_vector tensors, uint32_t t) {
    const arn_fb_table tensor = arn_fb_item_table(&model->fb, tensors, t);
    return arn_tflite_buffer_data(model, arn_fb_u32(&model->fb, tensor, TENSOR_BUFFER, 0));
}

/* Nothing of what tensors hold changes, wherever in the file it lies. */
static void require_constants(const uint8_t *data, size_t size, const arenaut_text *written) {
    arn_tflite_model models[2];
    arenaut_error err;
    REQUIRE(arn_tflite_open(data, size, &models[0], &err) == ARENAUT_OK);
    REQUIRE(arn_tflite_open((const uint8_t *)written->bytes, written->size, &models[1], &err) ==
            ARENAUT_OK);
    for (uint32_t s = 0; s < models[0].subgraphs.count; s++) {
        arn_fb_vector tensors[2];
        for (int k = 0; k < 2; k++) {
            arn_flatbuffer *fb = &models[k].fb;
            const arn_fb_table graph = arn_fb_item_table(fb, models[k].subgraphs, s);
            tensors[k] = arn_fb_vector_field(fb, graph, SUBGRAPH_TENSORS, 4);
        }
        for (uint32_t t = 0; t < tensors[0].count; t++) {
            const arn_fb_vector was = data_of(&models[0], tensors[0], t);
            const arn_fb_vector is = data_of(&models[1], tensors[1], t);
            REQUIRE(was.count == is.count);
            REQUIRE(memcmp(data + was.at, written->bytes + is.at, was.count) == 0);
        }
    }
}

/* Without unreferenced bytes it is the same program, with the same plan, and no larger. */
static void require_compact(const arenaut_text *written, const tflite_round *back) {
    arenaut_text compact = {0};
    arenaut_error err = {0};
    tflite_round read;
    const arenaut_status st = arenaut_format_find("tflite")->compact(
        (const uint8_t *)written->bytes, written->size, arenaut_text_sink(&compact), NULL, &err);
    REQUIRE(st == ARENAUT_OK || st == ARENAUT_REFUSED || st == ARENAUT_BAD_INPUT);
    if (st != ARENAUT_OK) {
        REQUIRE(err.code == st && err.msg[0]);
        return;
    }
    REQUIRE(tflite_round_open(compact.bytes, compact.size, 0, NULL, &read, &err) == ARENAUT_OK);
    REQUIRE(arn_program_fingerprint(read.document.program) ==
            arn_program_fingerprint(back->document.program));
    require_offsets(back, read.document.program);
    tflite_round_close(&read);
    arenaut_text_free(&compact);
}

static void require_written_back(const tflite_round *round, const uint8_t *data, size_t size) {
    arenaut_text written, again;
    arenaut_error err = {0};
    tflite_round second;
    const arenaut_status st = tflite_round_write(round, NULL, &written, &err);
    if (st != ARENAUT_OK) {
        /* BAD_INPUT: writing looks at parts of the file that reading has no use for. */
        REQUIRE(st == ARENAUT_REFUSED || st == ARENAUT_BAD_INPUT);
        REQUIRE(err.code == st && err.msg[0]);
        return;
    }
    REQUIRE(tflite_round_open(written.bytes, written.size, 0, NULL, &second, &err) == ARENAUT_OK);
    require_offsets(round, second.document.program);
    require_constants(data, size, &written);
    require_compact(&written, &second);
    REQUIRE(tflite_round_write(&second, NULL, &again, &err) == ARENAUT_OK);
    REQUIRE(again.size == written.size && memcmp(again.bytes, written.bytes, again.size) == 0);
    /* A plan of ours was replaced where it lay, so taking it out does not give `data`. */
    if (written.size != size) require_strip_undoes(&written, data, size);
    arenaut_text_free(&again);
    arenaut_text_free(&written);
    tflite_round_close(&second);
}

bool tflite_property(const uint8_t *data, size_t size) {
    tflite_round round;
    arenaut_error err = {0};
    const arenaut_status st = tflite_round_open(data, size, 0, NULL, &round, &err);
    REQUIRE(st != ARENAUT_NO_MEMORY && st != ARENAUT_INTERNAL && st != ARENAUT_BAD_ARGUMENT);
    if (st != ARENAUT_OK) {
        REQUIRE(err.code == st && err.msg[0]);
        return false;
    }
    REQUIRE(arn_program_validate(round.document.program, &err) == ARENAUT_OK);
    require_written_back(&round, data, size);
    tflite_round_close(&round);
    return true;
}
