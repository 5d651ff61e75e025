/* Reading and writing ExecuTorch programs: our own small ones, and the corpus. */
#include <stdlib.h>

#include "formats/pte/pte_schema.h"
#include "support/bytes.h"
#include "support/corpus.h"
#include "support/fuse.h"
#include "support/pte_round.h"
#include "support/pte_tiny.h"
#include "support/test.h"

static arenaut_program *read_or_fail(const void *data, size_t size, arenaut_document *document) {
    arenaut_error err;
    assert_ok(arenaut_read(data, size, NULL, NULL, NULL, document, &err), err);
    assert_string_equal(document->format->name, "pte");
    return document->program;
}

/* The tensor that is this value of the first method. */
static const arenaut_tensor *value_of(const arenaut_program *p, uint32_t value) {
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].method == 0 && p->tensors[t].file_index == value) return &p->tensors[t];
    }
    fail_msg("value %u is no tensor", (unsigned)value);
    return NULL;
}

/* Compares ids with values of the first method, -1 for none, up to -2. */
static void expect_values(const arenaut_program *p, const uint32_t *ids, uint32_t n,
                          const int32_t *values) {
    uint32_t i = 0;
    for (; values[i] != -2; i++) {
        assert_true(i < n);
        const int32_t found = ids[i] == ARENAUT_NONE ? -1 : (int32_t)p->tensors[ids[i]].file_index;
        assert_int_equal(found, values[i]);
    }
    assert_int_equal(n, i);
}

typedef struct expected_op {
    arenaut_op_kind kind;
    const char *name;
    uint32_t target;
    int32_t inputs[8], outputs[8];
} expected_op;

TEST(each_instruction_is_one_op_with_what_it_touches) {
    static const expected_op expected[TINY_INSTRUCTIONS] = {
        [TINY_ADD] =
            {ARENAUT_OP_OUT, "aten::add.out", 0, {TINY_X, TINY_WEIGHT, -1, -2}, {TINY_Y, -2}},
        [TINY_SPLIT] =
            {ARENAUT_OP_OUT, "aten::split_copy.out", 0, {TINY_X, -1, -2}, {TINY_Y, TINY_Z, -2}},
        [TINY_COMPARE] = {ARENAUT_OP_OUT, "executorch_prim::gt.Scalar", 0, {-1, -1, -1, -2}, {-2}},
        [TINY_BRANCH] = {ARENAUT_OP_JUMP_FALSE, "jump_false", TINY_ELSE, {-2}, {-2}},
        [TINY_DELEGATE] = {ARENAUT_OP_DELEGATE, "XnnpackBackend", 0, {TINY_Y, TINY_Z, -2}, {-2}},
        [TINY_MOVE] = {ARENAUT_OP_MOVE, "move", 0, {TINY_Z, -2}, {TINY_RESULT, -2}},
        [TINY_SKIP] = {ARENAUT_OP_JUMP, "jump", TINY_JOIN, {-2}, {-2}},
        [TINY_ELSE] = {ARENAUT_OP_OUT,
                       "aten::index.Tensor_out",
                       0,
                       {TINY_X, -1, -1, TINY_Y, -2},
                       {TINY_RESULT, -2}},
        [TINY_JOIN] = {ARENAUT_OP_IN_PLACE,
                       "aten::copy_",
                       0,
                       {TINY_STATE, TINY_OUTSIDE, -1, -2},
                       {TINY_STATE, -2}},
        [TINY_CUSTOM] = {ARENAUT_OP_IN_PLACE,
                         "my::op",
                         0,
                         {TINY_TRAINED, TINY_EXTERNAL, -2},
                         {TINY_TRAINED, -2}},
        [TINY_VIEW] = {ARENAUT_OP_VIEW,
                       "executorch_prim::et_view.default",
                       0,
                       {TINY_X, -1, -2},
                       {TINY_Y, -2}},
        [TINY_NUMBER] = {ARENAUT_OP_OUT, "move", 0, {-2}, {-2}},
    };
    pte_tiny tiny = new_pte_tiny(false);
    arenaut_document document;
    const arenaut_program *p = read_or_fail(tiny.file->data, tiny.file->size, &document);
    assert_int_equal(p->methods[0].n_ops, TINY_INSTRUCTIONS);
    for (uint32_t i = 0; i < TINY_INSTRUCTIONS; i++) {
        assert_int_equal(p->ops[i].kind, expected[i].kind);
        assert_string_equal(p->ops[i].name, expected[i].name);
        assert_int_equal(p->ops[i].target, expected[i].target);
        expect_values(p, p->ops[i].inputs, p->ops[i].n_inputs, expected[i].inputs);
        expect_values(p, p->ops[i].outputs, p->ops[i].n_outputs, expected[i].outputs);
    }
    assert_string_equal(p->ops[TINY_ADD].source, "model.py:12");
    assert_null(p->ops[TINY_SPLIT].source);
    arenaut_document_free(&document);
    free_flatfile(tiny.file);
}

/* These name a number that some instruction or the caller writes, or move something. */
TEST(instructions_that_name_numbers_which_are_written_stay_in_their_order) {
    static const uint32_t chain[] = {TINY_ADD,  TINY_SPLIT, TINY_COMPARE,
                                     TINY_MOVE, TINY_VIEW,  TINY_NUMBER};
    pte_tiny tiny = new_pte_tiny(false);
    arenaut_document document;
    const arenaut_program *p = read_or_fail(tiny.file->data, tiny.file->size, &document);
    uint32_t n_waiting = 0;
    for (uint32_t i = 0; i < TINY_INSTRUCTIONS; i++) n_waiting += p->ops[i].n_after;
    assert_int_equal(n_waiting, COUNT_OF(chain) - 1);
    for (uint32_t i = 1; i < COUNT_OF(chain); i++) {
        assert_int_equal(p->ops[chain[i]].n_after, 1);
        assert_int_equal(p->ops[chain[i]].after[0], chain[i - 1]);
    }
    arenaut_document_free(&document);
    free_flatfile(tiny.file);
}

TEST(tensors_have_the_class_and_place_that_the_file_gives_them) {
    static const struct {
        uint32_t value;
        arenaut_class cls;
        uint32_t pool;
        uint64_t offset;
        bool caller_owned;
        const char *name, *qualified;
    } expected[] = {
        {TINY_X, ARENAUT_INPUT, 0, 64, false, "v0", NULL},
        {TINY_Y, ARENAUT_INTERMEDIATE, 0, 0, false, "v2", NULL},
        {TINY_RESULT, ARENAUT_OUTPUT, 0, 96, false, "v11", NULL},
        {TINY_WEIGHT, ARENAUT_CONSTANT, ARENAUT_NONE, ARENAUT_UNPLACED, false, "v1", NULL},
        {TINY_EXTERNAL, ARENAUT_CONSTANT, ARENAUT_NONE, ARENAUT_UNPLACED, false, "far.weight",
         NULL},
        {TINY_STATE, ARENAUT_STATE, 1, 0, false, "core.state", "core.state"},
        {TINY_TRAINED, ARENAUT_STATE, 0, 128, false, "v14", NULL},
        {TINY_OUTSIDE, ARENAUT_INPUT, ARENAUT_NONE, ARENAUT_UNPLACED, true, "v12", NULL},
    };
    pte_tiny tiny = new_pte_tiny(true);
    arenaut_document document;
    const arenaut_program *p = read_or_fail(tiny.file->data, tiny.file->size, &document);
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const arenaut_tensor *tensor = value_of(p, expected[i].value);
        assert_int_equal(tensor->cls, expected[i].cls);
        assert_int_equal(tensor->given_pool, expected[i].pool);
        assert_int_equal(tensor->given_offset, expected[i].offset);
        assert_int_equal(tensor->caller_owned, expected[i].caller_owned);
        assert_string_equal(tensor->name, expected[i].name);
        assert_int_equal(tensor->qualified_name != NULL, expected[i].qualified != NULL);
        assert_int_equal(tensor->dtype, ARENAUT_DTYPE_FLOAT32);
        assert_int_equal(tensor->bytes, 24);
        assert_int_equal(tensor->device.type, expected[i].pool == 1 ? 1 : 0);
        assert_int_equal(tensor->device.index, expected[i].pool == 1 ? 3 : 0);
    }
    assert_int_equal(p->given, ARENAUT_GIVEN_NONE);
    arenaut_document_free(&document);
    free_flatfile(tiny.file);
}

TEST(layouts_that_are_not_the_ordinary_one_are_strides) {
    pte_tiny tiny = new_pte_tiny(false);
    arenaut_document document;
    const arenaut_program *p = read_or_fail(tiny.file->data, tiny.file->size, &document);
    const arenaut_tensor *x = value_of(p, TINY_X), *y = value_of(p, TINY_Y);
    assert_non_null(x->strides);
    assert_int_equal(x->strides[0], 1); /* two rows: columns are 2 apart */
    assert_int_equal(x->strides[1], 2);
    assert_true(x->dynamic);
    assert_null(y->strides);
    assert_false(y->dynamic);
    arenaut_document_free(&document);
    free_flatfile(tiny.file);
}

TEST(methods_have_the_memories_and_devices_that_the_file_states) {
    pte_tiny tiny = new_pte_tiny(true);
    arenaut_document document;
    const arenaut_program *p = read_or_fail(tiny.file->data, tiny.file->size, &document);
    assert_int_equal(p->n_methods, 2);
    assert_string_equal(p->methods[1].name, "reset");
    assert_true(p->methods[0].entry && p->methods[1].entry);
    assert_int_equal(p->methods[0].n_given_pools, 2);
    assert_int_equal(p->methods[0].given_pools[0].bytes, 224);
    assert_int_equal(p->methods[0].given_pools[1].bytes, 64);
    assert_int_equal(p->methods[0].given_pools[0].device.type, 0);
    assert_int_equal(p->methods[0].given_pools[1].device.type, 1);
    assert_int_equal(p->methods[0].given_pools[1].device.index, 3);
    /* Inputs that are numbers are none of ours. */
    static const int32_t inputs[] = {TINY_X, TINY_OUTSIDE, -2}, outputs[] = {TINY_RESULT, -2};
    expect_values(p, p->methods[0].inputs, p->methods[0].n_inputs, inputs);
    expect_values(p, p->methods[0].outputs, p->methods[0].n_outputs, outputs);
    arenaut_document_free(&document);
    free_flatfile(tiny.file);
}

static void count_note(void *context, const char *text) {
    assert_non_null(strstr(text, "1 tensors have shapes that may change"));
    ++*(int *)context;
}

TEST(bounded_shapes_are_planned_by_their_bound_and_said_so) {
    pte_tiny tiny = new_pte_tiny(false);
    int notes = 0;
    const arenaut_read_options options = {.note = count_note, .note_context = &notes};
    arenaut_document document;
    arenaut_error err;
    assert_ok(arenaut_read(tiny.file->data, tiny.file->size, NULL, &options, NULL, &document, &err),
              err);
    assert_int_equal(notes, 1);
    arenaut_document_free(&document);
    free_flatfile(tiny.file);
}

/* ---- writing ---- */

static arenaut_text write_or_fail(const pte_round *round) {
    arenaut_text out;
    arenaut_error err;
    assert_ok(pte_round_write(round, NULL, &out, &err), err);
    return out;
}

static void expect_same_bytes_for_the_same_plan(const void *data, size_t size) {
    pte_round round;
    arenaut_error err;
    assert_ok(pte_round_open(data, size, NULL, &round, &err), err);
    arenaut_text out = write_or_fail(&round);
    assert_int_equal(out.size, size);
    assert_memory_equal(out.bytes, data, size);
    arenaut_text_free(&out);
    pte_round_close(&round);
}

TEST(a_plan_that_changes_nothing_changes_no_byte) {
    for (int device = 0; device < 2; device++) {
        pte_tiny tiny = new_pte_tiny(device == 1);
        expect_same_bytes_for_the_same_plan(tiny.file->data, tiny.file->size);
        bytes file = pte_with_header(&tiny, 100, 7);
        expect_same_bytes_for_the_same_plan(file.data, file.size);
        free_bytes(&file);
        free_flatfile(tiny.file);
    }
}

static uint64_t number_at(const void *data, size_t at) {
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++) value |= (uint64_t)((const uint8_t *)data)[at + i] << (8 * i);
    return value;
}

/* Y has no room for an offset, and gets a place behind the program. */
TEST(tables_without_room_are_appended_and_no_others_move) {
    for (size_t slack = 0; slack <= 512; slack += 512) {
        pte_tiny tiny = new_pte_tiny(false);
        bytes file = pte_with_header(&tiny, 100, slack);
        pte_round round;
        arenaut_error err;
        assert_ok(pte_round_open(file.data, file.size, NULL, &round, &err), err);
        const arenaut_program *p = round.document.program;
        round.plan->offset[round.lowering.buffer[value_of(p, TINY_Y) - p->tensors]] = 160;
        arenaut_text out = write_or_fail(&round);
        const uint64_t old_size = number_at(file.data, PTE_HEADER_PROGRAM_SIZE);
        const uint64_t old_base = number_at(file.data, PTE_HEADER_SEGMENT_BASE);
        const uint64_t size = number_at(out.bytes, PTE_HEADER_PROGRAM_SIZE);
        const uint64_t base = number_at(out.bytes, PTE_HEADER_SEGMENT_BASE);
        assert_true(size > old_size && size <= base);
        assert_int_equal(base % 128, 0);
        assert_int_equal(out.size, base + 100);
        assert_memory_equal(out.bytes + base, file.data + old_base, 100);
        if (slack) assert_int_equal(base, old_base);
        arenaut_document document;
        const arenaut_program *back = read_or_fail(out.bytes, out.size, &document);
        assert_int_equal(value_of(back, TINY_Y)->given_offset, 160);
        assert_int_equal(value_of(back, TINY_X)->given_offset, 64);
        /* 160 + 32, and the bytes that XNNPACK may read past the end. */
        assert_int_equal(back->methods[0].given_pools[0].bytes, 192 + 64);
        arenaut_document_free(&document);
        arenaut_text_free(&out);
        pte_round_close(&round);
        free_bytes(&file);
        free_flatfile(tiny.file);
    }
}

static void expect_random_plans_read_back(const void *data, size_t size) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        pte_round round;
        arenaut_error err;
        assert_ok(pte_round_open(data, size, NULL, &round, &err), err);
        pte_round_shuffle(&round, seed);
        arenaut_text out = write_or_fail(&round);
        arenaut_document document;
        const arenaut_program *back = read_or_fail(out.bytes, out.size, &document);
        for (uint32_t t = 0; t < back->n_tensors; t++) {
            const uint32_t b = round.lowering.buffer[t];
            if (b == ARENAUT_NONE) continue;
            assert_int_equal(back->tensors[t].given_pool,
                             round.document.program->tensors[t].given_pool);
            assert_int_equal(back->tensors[t].given_offset, round.plan->offset[b]);
        }
        expect_same_bytes_for_the_same_plan(out.bytes, out.size);
        arenaut_document_free(&document);
        arenaut_text_free(&out);
        pte_round_close(&round);
    }
}

TEST(any_places_can_be_written_and_read_back) {
    pte_tiny tiny = new_pte_tiny(true);
    expect_random_plans_read_back(tiny.file->data, tiny.file->size);
    free_flatfile(tiny.file);
}

TEST(places_past_4_gib_use_the_high_half) {
    pte_tiny tiny = new_pte_tiny(false);
    pte_round round;
    arenaut_error err;
    assert_ok(pte_round_open(tiny.file->data, tiny.file->size, NULL, &round, &err), err);
    const arenaut_program *p = round.document.program;
    round.plan->offset[round.lowering.buffer[value_of(p, TINY_X) - p->tensors]] =
        UINT64_C(0x500000010);
    arenaut_text out = write_or_fail(&round);
    arenaut_document document;
    const arenaut_program *back = read_or_fail(out.bytes, out.size, &document);
    assert_int_equal(value_of(back, TINY_X)->given_offset, UINT64_C(0x500000010));
    assert_int_equal(back->methods[0].given_pools[0].bytes, UINT64_C(0x500000030) + 64);
    arenaut_document_free(&document);
    arenaut_text_free(&out);
    pte_round_close(&round);
    free_flatfile(tiny.file);
}

/* A list of pools with capacities, as a user gives it: pool k is memory k + 1. */
TEST(pools_of_a_user_are_memories_by_position) {
    pte_tiny tiny = new_pte_tiny(false);
    pte_round round;
    arenaut_error err;
    assert_ok(pte_round_open(tiny.file->data, tiny.file->size, NULL, &round, &err), err);
    const arenaut_program *p = round.document.program;
    for (uint32_t i = 0; i < round.problem->n_pools; i++) round.problem->pool[i].capacity = 4096;
    for (uint32_t b = 0; b < round.problem->n_buffers; b++) round.plan->pool[b] = 0;
    const uint32_t x = round.lowering.buffer[value_of(p, TINY_X) - p->tensors];
    round.plan->pool[x] = 2; /* a memory that no method has yet */
    arenaut_text out = write_or_fail(&round);
    arenaut_document document;
    const arenaut_program *back = read_or_fail(out.bytes, out.size, &document);
    assert_int_equal(back->methods[0].n_given_pools, 3);
    assert_int_equal(back->methods[1].n_given_pools, 2);
    assert_int_equal(value_of(back, TINY_X)->given_pool, 2);
    assert_int_equal(value_of(back, TINY_STATE)->given_pool, 0);
    assert_int_equal(back->methods[0].given_pools[0].bytes, 160 + 64);
    assert_int_equal(back->methods[0].given_pools[1].bytes, 0);
    assert_int_equal(back->methods[0].given_pools[2].bytes, 64 + 32 + 64);
    arenaut_document_free(&document);
    arenaut_text_free(&out);

    round.problem->pool[2].capacity = 64 + 32;
    assert_int_equal(pte_round_write(&round, NULL, &out, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "64 of them behind the arguments of XNNPACK; it has 96"));
    pte_round_close(&round);
    free_flatfile(tiny.file);
}

/* The device of a memory goes where its pool goes. */
TEST(devices_move_with_their_pools) {
    pte_tiny tiny = new_pte_tiny(true);
    pte_round round;
    arenaut_error err;
    assert_ok(pte_round_open(tiny.file->data, tiny.file->size, NULL, &round, &err), err);
    const arenaut_program *p = round.document.program;
    for (uint32_t i = 0; i < 2; i++) {
        round.problem->pool[i].capacity = 4096;
        round.problem->pool[i].device = p->methods[0].given_pools[1 - i].device;
    }
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const uint32_t b = round.lowering.buffer[t];
        if (b != ARENAUT_NONE) round.plan->pool[b] = p->tensors[t].device.type == 1 ? 0 : 1;
    }
    arenaut_text out = write_or_fail(&round);
    arenaut_document document;
    const arenaut_program *back = read_or_fail(out.bytes, out.size, &document);
    assert_int_equal(back->methods[0].given_pools[0].device.type, 1);
    assert_int_equal(back->methods[0].given_pools[0].device.index, 3);
    assert_int_equal(back->methods[0].given_pools[1].device.type, 0);
    assert_int_equal(value_of(back, TINY_STATE)->given_pool, 0);
    assert_int_equal(value_of(back, TINY_STATE)->device.type, 1);
    assert_int_equal(value_of(back, TINY_X)->given_pool, 1);
    arenaut_document_free(&document);
    arenaut_text_free(&out);
    pte_round_close(&round);
    free_flatfile(tiny.file);
}

/* Two tensors at one place may share the table that says so, until they part. */
TEST(a_shared_place_is_split_when_its_tensors_part) {
    pte_tiny tiny = new_pte_tiny(false);
    flat_link(tiny.file, tiny.x_place_link, tiny.z_place);
    pte_round round;
    arenaut_error err;
    assert_ok(pte_round_open(tiny.file->data, tiny.file->size, NULL, &round, &err), err);
    const arenaut_program *p = round.document.program;
    assert_int_equal(value_of(p, TINY_X)->given_offset, 32);
    round.plan->offset[round.lowering.buffer[value_of(p, TINY_X) - p->tensors]] = 64;
    arenaut_text out = write_or_fail(&round);
    arenaut_document document;
    const arenaut_program *back = read_or_fail(out.bytes, out.size, &document);
    assert_int_equal(value_of(back, TINY_X)->given_offset, 64);
    assert_int_equal(value_of(back, TINY_Z)->given_offset, 32);
    arenaut_document_free(&document);
    arenaut_text_free(&out);
    pte_round_close(&round);
    free_flatfile(tiny.file);
}

/* All offsets are multiples of 32 to begin with; a shorter X leaves bytes behind it. */
TEST(an_alignment_is_kept_where_rounding_shows_it) {
    for (uint32_t rows = 2; rows > 0; rows--) {
        pte_tiny tiny = new_pte_tiny(false);
        flat_store(tiny.file, tiny.x_sizes, 4, rows);
        arenaut_document document;
        const arenaut_program *p = read_or_fail(tiny.file->data, tiny.file->size, &document);
        assert_int_equal(value_of(p, TINY_Y)->align, rows == 1 ? 32 : 0);
        assert_int_equal(value_of(p, TINY_STATE)->align, 0);
        assert_int_equal(value_of(p, TINY_WEIGHT)->align, 0);
        arenaut_document_free(&document);
        free_flatfile(tiny.file);
    }
}

/* State that methods share has one size in all of them, also when it moves. */
TEST(shared_state_has_one_size_in_every_method) {
    pte_tiny tiny = new_pte_tiny(false);
    pte_round round;
    arenaut_error err;
    assert_ok(pte_round_open(tiny.file->data, tiny.file->size, NULL, &round, &err), err);
    const arenaut_program *p = round.document.program;
    /* Both methods' memory 2 in one pool, "reset" naming it at the same place. */
    const uint32_t first = round.lowering.buffer[value_of(p, TINY_STATE) - p->tensors];
    const uint32_t second = round.lowering.buffer[p->n_tensors - 1];
    assert_int_equal(p->tensors[p->n_tensors - 1].method, 1);
    round.plan->pool[second] = round.plan->pool[first];
    round.plan->offset[first] = round.plan->offset[second] = 256;
    const uint64_t tail = 64 - 32; /* the exporter's: XNNPACK runs in "forward" */
    arenaut_text out = write_or_fail(&round);
    arenaut_document document;
    const arenaut_program *back = read_or_fail(out.bytes, out.size, &document);
    assert_int_equal(back->methods[0].given_pools[1].bytes, 256 + 32 + tail);
    assert_int_equal(back->methods[1].given_pools[1].bytes, 256 + 32 + tail);
    arenaut_document_free(&document);
    arenaut_text_free(&out);
    pte_round_close(&round);
    free_flatfile(tiny.file);
}

/* Tensors without a buffer stay where they were while they fit, and else go to the bottom. */
TEST(idle_tensors_stay_inside_their_memory) {
    pte_tiny tiny = new_pte_tiny(false);
    pte_round round;
    arenaut_error err;
    assert_ok(pte_round_open(tiny.file->data, tiny.file->size, NULL, &round, &err), err);
    const arenaut_program *p = round.document.program;
    const uint32_t idle[] = {TINY_Z, TINY_TRAINED};
    for (size_t i = 0; i < COUNT_OF(idle); i++) {
        round.lowering.buffer[value_of(p, idle[i]) - p->tensors] = ARENAUT_NONE;
    }
    round.plan->offset[round.lowering.buffer[value_of(p, TINY_X) - p->tensors]] = 0;
    round.plan->offset[round.lowering.buffer[value_of(p, TINY_RESULT) - p->tensors]] = 0;
    arenaut_text out = write_or_fail(&round);
    arenaut_document document;
    const arenaut_program *back = read_or_fail(out.bytes, out.size, &document);
    assert_int_equal(back->methods[0].given_pools[0].bytes, 32 + 64);
    assert_int_equal(value_of(back, TINY_Z)->given_offset, 32);
    assert_int_equal(value_of(back, TINY_TRAINED)->given_offset, 0);
    arenaut_document_free(&document);
    arenaut_text_free(&out);
    pte_round_close(&round);
    free_flatfile(tiny.file);
}

TEST(a_plan_for_another_program_is_refused) {
    pte_tiny tiny = new_pte_tiny(false);
    pte_round round;
    arenaut_error err;
    arenaut_text out;
    assert_ok(pte_round_open(tiny.file->data, tiny.file->size, NULL, &round, &err), err);
    round.document.program->tensors[0].bytes++;
    assert_int_equal(pte_round_write(&round, NULL, &out, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "not the one in the file"));
    round.document.program->tensors[0].bytes--;
    round.plan->quality = ARENAUT_INFEASIBLE;
    assert_int_equal(pte_round_write(&round, NULL, &out, &err), ARENAUT_REFUSED);
    round.result.lowering = NULL;
    assert_int_equal(pte_round_write(&round, NULL, &out, &err), ARENAUT_BAD_ARGUMENT);
    pte_round_close(&round);
    free_flatfile(tiny.file);
}

/* ---- without memory ---- */

static arenaut_status attempt_reading(void *context, const arenaut_allocator *allocator) {
    const pte_tiny *tiny = context;
    arenaut_document document;
    const arenaut_status st =
        arenaut_read(tiny->file->data, tiny->file->size, NULL, NULL, allocator, &document, NULL);
    if (st == ARENAUT_OK) arenaut_document_free(&document);
    return st;
}

static arenaut_status attempt_writing(void *context, const arenaut_allocator *allocator) {
    arenaut_text out;
    const arenaut_status st = pte_round_write(context, allocator, &out, NULL);
    if (st == ARENAUT_OK) arenaut_text_free(&out);
    /* The growing text is a sink like any other, which has no words for why it refuses. */
    return st == ARENAUT_IO ? ARENAUT_NO_MEMORY : st;
}

TEST(reading_and_writing_survive_every_allocation_failure) {
    pte_tiny tiny = new_pte_tiny(true);
    survives_every_allocation_failure(attempt_reading, &tiny);
    pte_round round;
    arenaut_error err;
    assert_ok(pte_round_open(tiny.file->data, tiny.file->size, NULL, &round, &err), err);
    pte_round_shuffle(&round, 5);
    survives_every_allocation_failure(attempt_writing, &round);
    pte_round_close(&round);
    free_flatfile(tiny.file);
}

/* ---- the corpus ---- */

typedef struct expected_file {
    const char *name;
    uint32_t n_methods, n_tensors, n_ops;
    uint64_t first_arena;
} expected_file;

static const expected_file corpus[] = {
    {"cnn", 1, 23, 12, 81920},
    {"cnn_xnnpack_mixed", 1, 7, 6, 57408},
    {"cond", 1, 23, 18, 6176},
    {"counter", 1, 12, 6, 1216},
    {"efficientnet_b0", 1, 748, 288, 14753792},
    {"elemchain", 1, 11, 7, 49152},
    {"elemchain_reinplace", 1, 5, 7, 49152},
    {"gpt2_tiny", 1, 212, 118, 70656},
    {"gradout", 1, 25, 19, 5264},
    {"inception_v3", 1, 1074, 314, 13723904},
    {"kvllama", 1, 190, 114, 100352},
    {"kvllama_reinplace", 1, 186, 110, 67600},
    {"mlp", 1, 15, 8, 73728},
    {"mlp_dynbatch", 1, 15, 8, 81920},
    {"mlp_linear_preserved", 1, 12, 5, 8192},
    {"mlp_noio", 1, 15, 8, 73728},
    {"mobilenetv2_035", 1, 572, 152, 4816896},
    {"mobilenetv2_035_xnnpack", 1, 54, 1, 602224},
    {"mobilenetv2_100", 1, 572, 152, 9936896},
    {"mobilenetv3_small_100", 1, 685, 315, 4898816},
    {"resnet18", 1, 234, 69, 6422528},
    {"splitcat", 1, 18, 11, 14336},
    {"train_joint", 4, 66, 60, 8432},
    {"twocond", 1, 21, 21, 2592},
    {"twomethods_shared", 3, 18, 10, 64},
    {"twomethods_unshared", 3, 18, 10, 64},
    {"unet", 1, 72, 38, 786432},
    {"vit_tiny", 1, 899, 527, 2141488},
};

TEST(the_corpus_is_read_as_its_exporter_reads_it) {
    for (size_t i = 0; i < COUNT_OF(corpus); i++) {
        char path[512], name[64];
        snprintf(name, sizeof name, "pte/%s.pte", corpus[i].name);
        corpus_path_or_skip(path, name);
        bytes file = read_bytes(path);
        arenaut_document document;
        const arenaut_program *p = read_or_fail(file.data, file.size, &document);
        assert_int_equal(p->n_methods, corpus[i].n_methods);
        assert_int_equal(p->n_tensors, corpus[i].n_tensors);
        assert_int_equal(p->n_ops, corpus[i].n_ops);
        assert_int_equal(p->methods[0].given_pools[0].bytes, corpus[i].first_arena);
        arenaut_document_free(&document);
        free_bytes(&file);
    }
}

TEST(the_corpus_is_written_unchanged_and_changed) {
    for (size_t i = 0; i < COUNT_OF(corpus); i++) {
        char path[512], name[64];
        snprintf(name, sizeof name, "pte/%s.pte", corpus[i].name);
        corpus_path_or_skip(path, name);
        bytes file = read_bytes(path);
        expect_same_bytes_for_the_same_plan(file.data, file.size);
        expect_random_plans_read_back(file.data, file.size);
        free_bytes(&file);
    }
}

/* Two branches whose results meet, as the exporter writes them: the second jump of each
 * pair is on a constant, and no more a question. */
TEST(jumps_on_constants_are_unconditional) {
    char path[512];
    corpus_path_or_skip(path, "pte/twocond.pte");
    bytes file = read_bytes(path);
    arenaut_document document;
    const arenaut_program *p = read_or_fail(file.data, file.size, &document);
    static const struct {
        uint32_t op, target;
        arenaut_op_kind kind;
    } expected[] = {{0, 6, ARENAUT_OP_JUMP_FALSE},
                    {5, 10, ARENAUT_OP_JUMP},
                    {10, 16, ARENAUT_OP_JUMP_FALSE},
                    {15, 20, ARENAUT_OP_JUMP}};
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(p->ops[expected[i].op].kind, expected[i].kind);
        assert_int_equal(p->ops[expected[i].op].target, expected[i].target);
    }
    arenaut_document_free(&document);
    free_bytes(&file);
}
