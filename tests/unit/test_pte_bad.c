/* .pte files that are wrong: each is refused with its object and place, and no value of any byte of
 * a file makes reader or writer crash, hang or take much memory. */
#include <stdlib.h>

#include "core/flatbuffer.h"
#include "formats/pte/pte_schema.h"
#include "support/bytes.h"
#include "support/corpus.h"
#include "support/pte_replay_round.h"
#include "support/pte_round.h"
#include "support/pte_tiny.h"
#include "support/spoil.h"
#include "support/sweep.h"
#include "support/test.h"
#include "support/thorough.h"

#define BAD ARENAUT_BAD_INPUT
#define UNSUPPORTED ARENAUT_UNSUPPORTED

TEST(wrong_numbers_are_refused_with_the_allowed_ones) {
    const pte_tiny t = new_pte_tiny(true);
    free_flatfile(t.file); /* the places are the same in each */
    const spoil cases[] = {
        {4, 4, 0x31315445, BAD, {"bytes 4 to 7 must be 'ET12'", "not a .pte"}, 0},
        {t.version, 4, 1, UNSUPPORTED, {"schema version 1", "only version 0"}, 0},
        {t.plans - 4, 4, 0, BAD, {"0 methods", "at least one"}, 0},
        {t.plans - 4, 4, UINT32_MAX, BAD, {"program: ", "4294967295"}, 0},
        {t.segment_size, 8, 1, BAD, {"segment 0: 1 bytes", "room for 0"}, 0},
        {t.null_type, 1, 0, UNSUPPORTED, {"value 9: a value of type 0", "1 to 11"}, 0},
        {t.null_type, 1, 12, UNSUPPORTED, {"value 9: a value of type 12", "1 to 11"}, 0},
        {t.null_type, 1, PTE_BOOL, BAD, {"value 9: its content is missing", ""}, 0},
        {t.x_type, 1, 8, UNSUPPORTED, {"value 0: element type 8", ""}, 0},
        {t.x_type, 1, 0xFF, UNSUPPORTED, {"element type -1", ""}, 0},
        {t.x_sizes, 4, UINT32_MAX, BAD, {"method 'forward': value 0", "-1"}, 0},
        {t.x_sizes - 4, 4, 1u << 30, BAD, {"value 0", "1073741824"}, 0},
        {t.x_order, 1, 2, BAD, {"value 0: the order of its dimensions", "each of them once"}, 0},
        {t.x_order, 1, 0, BAD, {"value 0: the order of its dimensions", "each of them once"}, 0},
        {t.x_order - 4,
         4,
         1,
         BAD,
         {"value 0: the order of its dimensions", "each of them once"},
         0},
        {t.x_dynamism,
         1,
         2,
         UNSUPPORTED,
         {"value 0: a tensor whose shape has no upper bound", ""},
         0},
        {t.x_dynamism, 1, 3, UNSUPPORTED, {"a shape of kind 3", "0 to 2"}, 0},
        {t.x_storage, 4, 1, UNSUPPORTED, {"it begins inside its storage", ""}, 0},
        {t.x_memory, 4, 0, BAD, {"it lies in memory 0", "has 2, counted from 1"}, 0},
        {t.x_memory, 4, 3, BAD, {"it lies in memory 3", "has 2, counted from 1"}, 0},
        {t.x_device, 1, 0x80, BAD, {"value 13: its device has a negative number", ""}, 0},
        {t.weight_buffer, 4, 2, BAD, {"value 1: its constant data are number 2", "there are 2"}, 0},
        {t.trained_buffer, 4, 9, BAD, {"value 14: its initial values are number 9", "are 2"}, 0},
        {t.pair_items, 4, UINT32_MAX, BAD, {"an item of a list is value -1", "15 values"}, 0},
        {t.pair_items, 4, TINY_NULL, BAD, {"an item of a list of tensors is no tensor", ""}, 0},
        {t.maybe_items, 4, (uint32_t)-2, BAD, {"an item of a list is value -2", "15 values"}, 0},
        {t.maybe_items, 4, TINY_ALPHA, BAD, {"an item of a list of tensors is no tensor", ""}, 0},
        {t.sizes + 8, 8, UINT64_MAX, BAD, {"memory 1 has a size of -1 bytes", "'forward'"}, 0},
        {t.device_buffer, 4, 0, BAD, {"device table names memory 0", "there are 2"}, 0},
        {t.device_buffer, 4, 3, BAD, {"device table names memory 3", "there are 2"}, 0},
        {t.device_type, 1, 0xFF, BAD, {"memory 2 is on device -1.3", ""}, 0},
        {t.inputs, 4, TINY_VALUES, BAD, {"'forward': an input is value 15", "15 values"}, 0},
        {t.outputs, 4, UINT32_MAX, BAD, {"'forward': an output is value -1", "15 values"}, 0},
        {t.add_type, 1, PTE_FREE_CALL, UNSUPPORTED, {"'forward': instruction 0: it frees", ""}, 0},
        {t.add_type, 1, 0, UNSUPPORTED, {"instruction 0: an instruction of type 0", "1 to 5"}, 0},
        {t.add_type, 1, 6, UNSUPPORTED, {"instruction 0: an instruction of type 6", "1 to 5"}, 0},
        {t.add_operator, 4, 7, BAD, {"instruction 0: it calls operator 7", "has 7"}, 0},
        {t.add_operator, 4, UINT32_MAX, BAD, {"it calls operator -1", "has 7"}, 0},
        {t.add_args, 4, UINT32_MAX, BAD, {"an argument is value -1", "15 values"}, 0},
        {t.delegate_index, 4, 1, BAD, {"instruction 4: it calls delegate 1", "has 1"}, 0},
        {t.branch_target, 4, TINY_INSTRUCTIONS + 1, BAD, {"jumps to instruction 13", "are 12"}, 0},
        {t.branch_target, 4, UINT32_MAX, BAD, {"jumps to instruction -1", "are 12"}, 0},
        {t.branch_condition, 4, 99, BAD, {"the condition of a jump is value 99", "15 values"}, 0},
        {t.move_from, 4, 99, BAD, {"the start of a move is value 99", "15 values"}, 0},
        {t.move_to, 4, 99, BAD, {"the end of a move is value 99", "15 values"}, 0},
        {t.move_to,
         4,
         TINY_ALPHA,
         UNSUPPORTED,
         {"instruction 5: it moves a tensor to a value", ""},
         0},
        {t.move_to, 4, TINY_PAIR, UNSUPPORTED, {"instruction 5: it moves a list", ""}, 0},
        {t.instructions, 4, UINT32_MAX, BAD, {"instruction 0", "lead forward"}, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        pte_tiny tiny = new_pte_tiny(true);
        flat_store(tiny.file, cases[i].at, cases[i].width, cases[i].value);
        expect_refusal("pte", tiny.file->data, tiny.file->size, &cases[i], i);
        free_flatfile(tiny.file);
    }
}

TEST(a_header_may_not_lie) {
    const spoil cases[] = {
        {PTE_HEADER_LENGTH, 4, 23, BAD, {"extended header: a length of 23", "at least 24"}, 0},
        {PTE_HEADER_LENGTH, 4, UINT32_MAX, BAD, {"a length of 4294967295", "end inside"}, 0},
        {PTE_HEADER_PROGRAM_SIZE, 8, 39, BAD, {"a program of 39 bytes", "header alone 40"}, 0},
        {PTE_HEADER_PROGRAM_SIZE, 8, UINT64_MAX, BAD, {"extended header: a program of", ""}, 0},
        {PTE_HEADER_SEGMENT_BASE,
         8,
         128,
         BAD,
         {"segments begin at byte 128", "behind the program"},
         0},
        {PTE_HEADER_SEGMENT_BASE, 8, 1u << 30, BAD, {"segments begin at byte 1073741824", ""}, 0},
        {PTE_HEADER_SEGMENT_SIZE, 8, 101, BAD, {"101 bytes of segments", "file ends at"}, 0},
        {PTE_HEADER_SEGMENT_SIZE, 8, UINT64_MAX, BAD, {"bytes of segments", "file ends at"}, 0},
    };
    pte_tiny tiny = new_pte_tiny(false);
    bytes whole = pte_with_header(&tiny, 100, 0);
    arenaut_error err;
    assert_ok(read_and_free("pte", whole.data, whole.size, &err), err);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bytes file = copy_bytes(whole.data, whole.size);
        for (unsigned k = 0; k < cases[i].width; k++) {
            file.data[cases[i].at + k] = (uint8_t)(cases[i].value >> (8 * k));
        }
        expect_refusal("pte", file.data, file.size, &cases[i], i);
        free_bytes(&file);
    }
    const spoil cut = {0, 0, 0, BAD, {"extended header", "file has"}, 0};
    expect_refusal("pte", whole.data, whole.size - 200, &cut, 99);
    free_bytes(&whole);
    free_flatfile(tiny.file);
}

TEST(several_chains_are_refused) {
    pte_tiny tiny = new_pte_tiny(false);
    /* The count of a vector of one: further findings do not matter. */
    flat_store(tiny.file, tiny.chains - 4, 4, 2);
    const spoil told = {0, 0, 0, UNSUPPORTED, {"method 'forward': 2 chains", "only one"}, 0};
    arenaut_error err;
    assert_int_equal(read_and_free("pte", tiny.file->data, tiny.file->size, &err), UNSUPPORTED);
    assert_non_null(strstr(err.msg, told.told[0]));
    free_flatfile(tiny.file);
}

/* The low half of an offset alone cannot reach 2^63; sizes can. */
TEST(sizes_that_overflow_are_refused) {
    pte_tiny tiny = new_pte_tiny(false);
    flat_store(tiny.file, tiny.x_sizes, 4, INT32_MAX);
    flat_store(tiny.file, tiny.x_sizes + 4, 4, INT32_MAX);
    arenaut_error err;
    assert_int_equal(read_and_free("pte", tiny.file->data, tiny.file->size, &err),
                     ARENAUT_TOO_LARGE);
    assert_non_null(strstr(err.msg, "method 'forward': value 0"));
    free_flatfile(tiny.file);
}

TEST(every_truncation_is_refused_or_harmless) {
    const sweep s = {.property = pte_property};
    pte_tiny tiny = new_pte_tiny(true);
    bytes with_header = pte_with_header(&tiny, 20, 0);
    /* Its header says how long it must be. */
    assert_int_equal(sweep_cuts(&s, with_header.data, with_header.size).accepted, 0);
    (void)sweep_cuts(&s, tiny.file->data, tiny.file->size);
    free_bytes(&with_header);
    free_flatfile(tiny.file);
}

TEST(every_byte_may_say_anything) {
    pte_tiny tiny = new_pte_tiny(true);
    bytes file = pte_with_header(&tiny, 20, 0);
    const sweep s = {.property = pte_property,
                     .seed = 12,
                     .step = one_of(1),
                     .bits = thorough() > 1 ? 8 : 1,
                     .end = file.size - 20};
    const sweep_counts counts = sweep_flips(&s, file.data, file.size);
    /* Names and padding do not matter, so that some must pass; not all, or nothing is checked. */
    assert_true(counts.accepted > counts.tried / 3);
    assert_true(counts.accepted < counts.tried - counts.tried / 10);
    free_bytes(&file);
    (void)sweep_scatter(&s, tiny.file->data, tiny.file->size, drawn(1000));
    free_flatfile(tiny.file);
}

/* Some must pass, since names and padding do not matter; not all, or nothing is checked. */
static void expect_a_mixture(const char *name, pte_sweep counts) {
    const bool mixed = counts.accepted > counts.tried / 5 &&
                       counts.accepted < counts.tried - counts.tried / 10 &&
                       counts.right > counts.accepted / 2;
    if (mixed) return;
    fail_msg("%s: %zu flips, %zu read, %zu planned, %zu right", name, counts.tried, counts.accepted,
             counts.planned, counts.right);
}

/* One byte in 29, all the way to replay; `make fuzz` tries every one. */
TEST(flips_in_our_own_files_are_survived) {
    static const char *const names[] = {
        "branches",          "caller_supplies_io", "condition",   "dynamic_batch",
        "elementwise_chain", "gradients",          "kv_decoder",  "lists",
        "map_rows",          "two_conditions",     "two_methods", "xnnpack_mixed"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes file = data_bytes("pte/%s.pte", names[i]);
        expect_a_mixture(names[i], pte_sweep_run(file.data, file.size, 29, 56 + i));
        free_bytes(&file);
    }
}

/* The program of a corpus file, without its weights: those that lie behind as well as before. */
TEST(flips_in_the_corpus_are_survived) {
    static const char *const names[] = {"twocond",           "counter",           "splitcat",
                                        "cnn_xnnpack_mixed", "twomethods_shared", "gradout"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char path[512], name[64];
        snprintf(name, sizeof name, "pte/%s.pte", names[i]);
        corpus_path_or_skip(path, name);
        bytes file = read_bytes(path);
        expect_a_mixture(names[i], pte_sweep_run(file.data, file.size, 23, 78 + i));
        free_bytes(&file);
    }
}

/* One list of tensors, used by itself over and over: a small file for a huge program. */
TEST(a_file_that_stands_for_much_more_is_refused) {
    enum { ITEMS = 1500, INSTRUCTIONS = 1500 };
    flatfile *f = new_flatfile(PTE_IDENTIFIER);
    const size_t plan = flat_item(f, flat_vector(f, flat_root(f, 8), 1, 4, 1), 0, 10);
    const size_t values = flat_vector(f, plan, PLAN_VALUES, 4, 2);
    const size_t tensor = flat_item(f, values, 0, 2);
    flat_number(f, tensor, VALUE_TYPE, 1, PTE_TENSOR);
    flat_table(f, tensor, VALUE, 10);
    const size_t list = flat_item(f, values, 1, 2);
    flat_number(f, list, VALUE_TYPE, 1, PTE_TENSOR_LIST);
    flat_vector(f, flat_table(f, list, VALUE, 1), LIST_ITEMS, 4, ITEMS);
    const size_t operator = flat_item(f, flat_vector(f, plan, PLAN_OPERATORS, 4, 1), 0, 2);
    flat_text(f, operator, OPERATOR_NAME, "my::op");
    const size_t chain = flat_item(f, flat_vector(f, plan, PLAN_CHAINS, 4, 1), 0, 4);
    const size_t instructions = flat_vector(f, chain, CHAIN_INSTRUCTIONS, 4, INSTRUCTIONS);
    const size_t first = flat_item(f, instructions, 0, 2);
    flat_number(f, first, INSTRUCTION_TYPE, 1, PTE_KERNEL_CALL);
    const size_t call = flat_table(f, first, INSTRUCTION, 2);
    const int32_t args[] = {1, 1, 1, 1};
    flat_numbers(f, call, CALL_ARGS, args, COUNT_OF(args));
    for (unsigned i = 1; i < INSTRUCTIONS; i++) flat_link(f, instructions + 4 * (size_t)i, first);
    arenaut_error err;
    assert_int_equal(read_and_free("pte", f->data, f->size, &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "used so often"));
    free_flatfile(f);
}

/* A delegate that nothing calls lies over a place of the plan: a file that is written would have a
 * delegate that cannot be read. Found by fuzzing. */
TEST(a_plan_over_a_delegate_is_not_changed) {
    bytes file = read_bytes(TEST_DATA "/pte/elementwise_chain.pte");
    file.data[140] = 0x30;  /* where the list of delegates begins, */
    file.data[1492] = 0x24; /* and of whose first item these bytes are a part */
    pte_round round;
    arenaut_text text;
    arenaut_error err = {0};
    assert_ok(pte_round_open(file.data, file.size, NULL, &round, &err), err);
    assert_int_equal(pte_round_write(&round, NULL, &text, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "parts of the file lie over one another"));
    pte_round_close(&round);
    assert_true(pte_property(file.data, file.size));
    free_bytes(&file);
}
