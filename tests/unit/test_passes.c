/* The table of passes, the scratch file and pass, the in-place pass, and the peak. */
#include "support/test.h"

#include <arenaut/arenaut.h>

#include "ir/expr.h"
#include "ir/program.h"
#include "kernels/kernel_set.h"
#include "passes/scratch.h"
#include "support/fuse.h"
#include "support/lowerings.h"
#include "support/problems.h"
#include "support/programs.h"

enum { X, A, B, Y };

/* x ─ MEAN ─ a ─ RELU ─ b ─ G ─ y, and an op in a second method. Tensors are 2 × 8 bytes. */
static arenaut_program *small(void) {
    static const int64_t dims[] = {2, 8};
    static const char *const names[] = {"x", "a", "b", "y"};
    arenaut_program *p = new_program();
    begin_method(p, "main");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        arenaut_tensor tensor = arenaut_tensor_default();
        tensor.name = names[i];
        tensor.bytes = 16;
        tensor.rank = 2;
        tensor.dims = dims;
        tensor.method = 0;
        assert_int_equal(arenaut_program_add_tensor(p, &tensor, NULL, NULL), ARENAUT_OK);
    }
    ADD_OP(p, .name = "MEAN", IN(X), OUT(A));
    ADD_OP(p, .name = "RELU", IN(A), OUT(B));
    ADD_OP(p, .name = "G", IN(B), OUT(Y));
    SET_IO(p, 0, LIST(X), LIST(Y));
    begin_submethod(p, "helper");
    const uint32_t s = add_tensor(p, "s", 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .name = "SUM", IN(s), OUT(s));
    finish_program(p);
    return p;
}

static arenaut_pass_options micro(void) {
    const arenaut_pass_options options = {.target = arenaut_target_find("tflite-micro")};
    return options;
}

static void run(arenaut_program *p, const char *selection, const arenaut_pass_options *options) {
    arenaut_error err = {0};
    assert_ok(arenaut_passes_run(p, selection, options, NULL, NULL, &err), err);
}

/* ---- the table ---- */

TEST(passes_are_found_by_name) {
    assert_true(arenaut_pass_count() >= 2);
    for (size_t i = 0; i < arenaut_pass_count(); i++) {
        const arenaut_pass *pass = arenaut_pass_at(i);
        assert_ptr_equal(arenaut_pass_find(pass->name), pass);
        assert_non_null(pass->summary);
        assert_non_null(pass->run);
    }
    assert_null(arenaut_pass_at(arenaut_pass_count()));
    assert_null(arenaut_pass_find("no such pass"));
    assert_true(arenaut_pass_find("scratch")->by_default);
    assert_false(arenaut_pass_find("inplace")->by_default);
}

static void append_name(void *context, const arenaut_pass *pass, const arenaut_program *program) {
    char *names = context;
    assert_non_null(program);
    strcat(names, pass->name);
    strcat(names, " ");
}

TEST(selections_add_and_leave_out) {
    static const struct {
        const char *selection, *expected;
    } cases[] = {
        {NULL, "tuples user updates upper-bounds recover-aliases scratch alloc-in-place "},
        {"", "tuples user updates upper-bounds recover-aliases scratch alloc-in-place "},
        {"inplace",
         "tuples user updates upper-bounds recover-aliases scratch alloc-in-place inplace "},
        {"inplace,scratch",
         "tuples user updates upper-bounds recover-aliases scratch alloc-in-place inplace "},
        {"-scratch", "tuples user updates upper-bounds recover-aliases alloc-in-place "},
        {"-recover-aliases", "tuples user updates upper-bounds scratch alloc-in-place "},
        {"inplace,-scratch",
         "tuples user updates upper-bounds recover-aliases alloc-in-place inplace "},
        {"inplace,-inplace",
         "tuples user updates upper-bounds recover-aliases scratch alloc-in-place "},
    };
    const arenaut_pass_options options = micro();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_program *p = small();
        char names[128] = "";
        arenaut_error err = {0};
        assert_ok(arenaut_passes_run(p, cases[i].selection, &options, append_name, names, &err),
                  err);
        assert_string_equal(names, cases[i].expected);
        arn_program_free(p);
    }
}

TEST(unknown_passes_are_named) {
    static const char *const wrong[] = {"inplac", "inplace,scratchy", "-", ",inplace", "in place"};
    const arenaut_pass_options options = micro();
    arenaut_program *p = small();
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        arenaut_error err = {0};
        assert_int_equal(arenaut_passes_run(p, wrong[i], &options, NULL, NULL, &err),
                         ARENAUT_BAD_ARGUMENT);
        assert_non_null(strstr(err.msg, "no pass '"));
    }
    arn_program_free(p);
}

TEST(a_broken_program_runs_no_pass) {
    const arenaut_pass_options options = micro();
    arenaut_program *p = small();
    const uint32_t far_away = 99;
    p->ops[0].inputs = &far_away;
    assert_int_equal(arenaut_passes_run(p, "inplace", &options, NULL, NULL, NULL),
                     ARENAUT_BAD_INPUT);
    arn_program_free(p);
}

/* ---- scratch ---- */

TEST(scratch_is_added_in_the_order_of_requests) {
    static const arenaut_scratch_entry entries[] = {{1, 0, 5}, {0, 0, 40}, {0, 2, 0}, {0, 0, 24}};
    arenaut_pass_options options = micro();
    options.scratch = entries;
    options.n_scratch = COUNT_OF(entries);
    arenaut_program *p = small();
    const uint32_t before = p->n_tensors;
    run(p, NULL, &options);
    assert_int_equal(p->n_tensors, before + 4);
    assert_int_equal(p->ops[0].n_scratch, 2);
    assert_int_equal(p->ops[0].scratch[0], before + 1);
    assert_int_equal(p->ops[0].scratch[1], before + 3);
    assert_int_equal(p->ops[1].n_scratch, 0);
    assert_int_equal(p->ops[2].n_scratch, 1);
    assert_int_equal(p->ops[3].scratch[0], before);
    assert_int_equal(p->tensors[before].method, 1);
    assert_int_equal(p->tensors[before + 3].bytes, 24);
    assert_int_equal(p->tensors[before].cls, ARENAUT_SCRATCH);
    arenaut_lowering *l = lower_program(p, "tflite-micro");
    expect_life(l, "scratch1", "[1,2)");
    expect_life(l, "scratch3", "[1,2)");
    assert_int_equal(l->problem->size[buffer_named(l, "scratch1")], 48);
    assert_string_equal(l->problem->op[buffer_named(l, "scratch1")], "MEAN");
    free_lowering(l, p);
}

TEST(scratch_joins_what_an_op_has_already) {
    static const arenaut_scratch_entry entry = {0, 1, 8};
    arenaut_pass_options options = micro();
    options.scratch = &entry;
    options.n_scratch = 1;
    arenaut_program *p = small();
    run(p, NULL, &options);
    run(p, NULL, &options);
    assert_int_equal(p->ops[1].n_scratch, 2);
    assert_int_not_equal(p->ops[1].scratch[0], p->ops[1].scratch[1]);
    arn_program_free(p);
}

TEST(scratch_for_an_op_that_does_not_exist_names_the_entry) {
    static const struct {
        arenaut_scratch_entry entry;
        arenaut_status status;
        const char *message;
    } cases[] = {
        {{2, 0, 8}, ARENAUT_BAD_INPUT, "scratch entry 1: method 2 does not exist; there are 2"},
        {{0, 3, 8}, ARENAUT_BAD_INPUT, "scratch entry 1: op 3 does not exist; method 0 ('main')"},
        {{0, 0, UINT64_MAX}, ARENAUT_TOO_LARGE, "scratch entry 1:"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const arenaut_scratch_entry entries[] = {{0, 0, 8}, cases[i].entry};
        arenaut_pass_options options = micro();
        options.scratch = entries;
        options.n_scratch = 2;
        arenaut_program *p = small();
        const uint32_t before = p->n_tensors;
        arenaut_error err = {0};
        assert_int_equal(arenaut_passes_run(p, NULL, &options, NULL, NULL, &err), cases[i].status);
        assert_non_null(strstr(err.msg, cases[i].message));
        assert_int_equal(p->n_tensors, before);
        assert_int_equal(p->ops[0].n_scratch, 0);
        arn_program_free(p);
    }
}

/* x [2,8] of int8 ─ MEAN over one axis ─ y [2]. */
static arenaut_program *averaged(void) {
    static const int64_t sides[] = {2, 8}, one = 1;
    const struct {
        const char *name;
        arenaut_dtype dtype;
        uint32_t rank;
        const int64_t *dims;
        uint64_t bytes;
    } tensors[] = {
        {"x", ARENAUT_DTYPE_INT8, 2, sides, 16},
        {"axes", ARENAUT_DTYPE_INT32, 1, &one, 4},
        {"y", ARENAUT_DTYPE_INT8, 1, sides, 2},
    };
    arenaut_program *p = new_program();
    begin_method(p, "main");
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        arenaut_tensor tensor = arenaut_tensor_default();
        tensor.name = tensors[i].name;
        tensor.dtype = tensors[i].dtype;
        tensor.rank = tensors[i].rank;
        tensor.dims = tensors[i].dims;
        tensor.bytes = tensors[i].bytes;
        tensor.method = 0;
        assert_int_equal(arenaut_program_add_tensor(p, &tensor, NULL, NULL), ARENAUT_OK);
    }
    p->tensors[1].cls = ARENAUT_CONSTANT;
    ADD_OP(p, .name = "MEAN", IN(0, 1), OUT(2));
    FINISH(p, LIST(0), LIST(2));
    return p;
}

TEST(scratch_is_added_by_the_kernels_sizes) {
    const arenaut_pass_options options = micro();
    arenaut_program *p = averaged();
    run(p, NULL, &options);
    assert_int_equal(p->ops[0].n_scratch, 3);
    static const uint64_t bytes[] = {8, 8, 4}; /* sums, a position, the axes */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(p->tensors[p->ops[0].scratch[i]].bytes, bytes[i]);
    }
    assert_int_equal(arn_scratch_known(p, options.target->kernels, NULL), ARENAUT_SCRATCH_GIVEN);
    run(p, NULL, &options);
    assert_int_equal(p->ops[0].n_scratch, 3); /* it has its own by now */
    arn_program_free(p);
}

TEST(entries_come_before_the_kernels_sizes) {
    static const arenaut_scratch_entry entry = {0, 0, 40};
    arenaut_pass_options options = micro();
    options.only_this_scratch = true;
    arenaut_program *p = averaged();
    run(p, NULL, &options);
    assert_int_equal(p->ops[0].n_scratch, 0);
    options.only_this_scratch = false;
    options.scratch = &entry;
    options.n_scratch = 1;
    run(p, NULL, &options);
    assert_int_equal(p->ops[0].n_scratch, 1);
    assert_int_equal(p->tensors[p->ops[0].scratch[0]].bytes, 40);
    arn_program_free(p);
}

TEST(sizes_of_other_kernels_and_open_shapes_are_not_known) {
    const arenaut_kernel_set *reference = arenaut_kernel_set_find("reference");
    const arenaut_scratch_rule names_it[] = {{"MEAN", 0, 0}, {NULL, 0, 0}};
    const arenaut_kernel_set other = {.name = "other", .base = reference, .scratch = names_it};
    const arenaut_kernel_set silent = {.name = "silent", .base = reference};
    arenaut_scratch_requests asked;
    arenaut_program *p = averaged();
    arenaut_op *mean = &p->ops[0];
    assert_true(arn_kernel_scratch_sizes(reference, p, mean, &asked));
    assert_true(arn_kernel_scratch_sizes(&silent, p, mean, &asked));
    assert_false(arn_kernel_scratch_sizes(&other, p, mean, &asked));
    assert_false(arn_kernel_scratch_sizes(NULL, p, mean, &asked));
    p->tensors[0].dtype = ARENAUT_DTYPE_INT32; /* never tried */
    assert_false(arn_kernel_scratch_sizes(reference, p, mean, &asked));
    p->tensors[0].dtype = ARENAUT_DTYPE_INT8;
    p->tensors[0].dynamic = true;
    assert_false(arn_kernel_scratch_sizes(reference, p, mean, &asked));
    p->tensors[0].dynamic = false;
    p->tensors[2].bytes = 3; /* not as the shape says */
    assert_false(arn_kernel_scratch_sizes(reference, p, mean, &asked));
    p->tensors[2].bytes = 2;
    mean->n_inputs = 1;
    assert_false(arn_kernel_scratch_sizes(reference, p, mean, &asked));
    arn_program_free(p);
}

/* ---- the scratch file ---- */

static arenaut_status read_text(const char *text, const char *model, arenaut_scratch_sizes *sizes,
                                arenaut_error *err) {
    arenaut_program *p = small();
    const arenaut_status st = arn_scratch_read(text, strlen(text), model, p, NULL, sizes, err);
    arn_program_free(p);
    return st;
}

TEST(a_scratch_file_lists_requests) {
    static const char text[] =
        "# measured\r\n\r\n bytes , op,operator,method\r\n"
        "40, 0,MEAN,0\r\n24,0,MEAN,main\r\n# more\r\n8,0,SUM,helper";
    arenaut_scratch_sizes sizes = {0};
    arenaut_error err = {0};
    assert_ok(read_text(text, "any", &sizes, &err), err);
    assert_true(sizes.known);
    assert_int_equal(sizes.n, 3);
    static const arenaut_scratch_entry expected[] = {{0, 0, 40}, {0, 0, 24}, {1, 0, 8}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(sizes.entries[i].method, expected[i].method);
        assert_int_equal(sizes.entries[i].op, expected[i].op);
        assert_int_equal(sizes.entries[i].bytes, expected[i].bytes);
    }
    arn_scratch_sizes_free(&sizes, NULL);
}

TEST(one_scratch_file_serves_several_models) {
    static const char text[] = "model,op,bytes\none,0,16\ntwo,1,32\nquiet,,\none,9999,junk\n";
    static const struct {
        const char *model;
        size_t n;
        bool known;
    } cases[] = {{"two", 1, true}, {"quiet", 0, true}, {"unheard of", 0, false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_scratch_sizes sizes = {0};
        arenaut_error err = {0};
        assert_ok(read_text(text, cases[i].model, &sizes, &err), err);
        assert_int_equal(sizes.n, cases[i].n);
        assert_int_equal(sizes.known, cases[i].known);
        arn_scratch_sizes_free(&sizes, NULL);
    }
}

TEST(malformed_scratch_files_are_refused_by_line) {
    static const struct {
        const char *text;
        size_t line;
    } cases[] = {
        {"", 0},
        {"# only a comment\n", 0},
        {"method,op\n", 1},
        {"\nop,size\n", 2},
        {"op,bytes\n0\n", 2},
        {"op,bytes\n0,16\n3,16\n", 3},
        {"op,bytes\n-1,16\n", 2},
        {"op,bytes\n0,16K\n", 2},
        {"op,bytes\n0,\n", 2},
        {"op,bytes\n0,99999999999999999999\n", 2},
        {"method,op,bytes\nnowhere,0,16\n", 2},
        {"method,op,bytes\n2,0,16\n", 2},
        {"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,op,bytes\n", 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_scratch_sizes sizes = {.n = 77};
        arenaut_error err = {0};
        assert_int_equal(read_text(cases[i].text, NULL, &sizes, &err), ARENAUT_BAD_INPUT);
        assert_int_equal(err.at, cases[i].line);
        assert_int_equal(sizes.n, 77); /* untouched */
    }
}

TEST(scratch_knowledge_is_honest) {
    const arenaut_kernel_set *kernels = arenaut_kernel_set_find("reference");
    arenaut_program *p = small();
    assert_int_equal(arn_scratch_known(p, kernels, NULL), ARENAUT_SCRATCH_UNKNOWN);
    assert_int_equal(arn_scratch_known(p, NULL, NULL), ARENAUT_SCRATCH_NONE);
    const arenaut_scratch_sizes silent = {.known = false}, speaks = {.known = true};
    assert_int_equal(arn_scratch_known(p, kernels, &silent), ARENAUT_SCRATCH_UNKNOWN);
    assert_int_equal(arn_scratch_known(p, kernels, &speaks), ARENAUT_SCRATCH_GIVEN);

    /* Once the pass has given both of the ops theirs, nothing is unknown. */
    static const arenaut_scratch_entry entries[] = {{0, 0, 8}, {1, 0, 8}};
    arenaut_pass_options options = micro();
    options.scratch = entries;
    options.n_scratch = 1;
    run(p, NULL, &options);
    assert_int_equal(arn_scratch_known(p, kernels, NULL), ARENAUT_SCRATCH_UNKNOWN);
    options.scratch = entries + 1;
    run(p, NULL, &options);
    assert_int_equal(arn_scratch_known(p, kernels, NULL), ARENAUT_SCRATCH_GIVEN);
    arn_program_free(p);
}

TEST(scratch_may_depend_on_the_type_of_an_argument) {
    const arenaut_kernel_set *kernels = arenaut_kernel_set_find("reference");
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t w = add_tensor(p, "w", 16, ARENAUT_CONSTANT);
    ADD_OP(p, .name = "CONV_2D", IN(x, w), OUT(x));
    ADD_OP(p, .name = "FULLY_CONNECTED", IN(x), OUT(x));
    assert_int_equal(arn_scratch_known(p, kernels, NULL), ARENAUT_SCRATCH_NONE);
    p->tensors[w].dtype = ARENAUT_DTYPE_INT4;
    assert_int_equal(arn_scratch_known(p, kernels, NULL), ARENAUT_SCRATCH_UNKNOWN);
    arn_program_free(p);
}

/* ---- inplace ---- */

TEST(inplace_notes_what_the_targets_kernels_allow) {
    arenaut_program *p = small();
    const arenaut_pass_options options = micro();
    run(p, "inplace", &options);
    assert_int_equal(p->ops[0].n_in_place, 0); /* MEAN is on no list */
    assert_int_equal(p->ops[1].n_in_place, 1);
    assert_int_equal(p->ops[1].in_place[0].input, 0);
    assert_int_equal(p->ops[1].in_place[0].output, 0);
    arenaut_lowering *l = lower_program(p, "tflite-micro");
    expect_base(l, "b", "a");
    arenaut_lowering_free(l);
    run(p, "inplace", &options); /* again changes nothing */
    assert_int_equal(p->ops[1].n_in_place, 1);
    arn_program_free(p);
}

TEST(inplace_is_off_by_default) {
    arenaut_program *p = small();
    const arenaut_pass_options options = micro();
    run(p, NULL, &options);
    assert_int_equal(p->ops[1].n_in_place, 0);
    arn_program_free(p);
}

TEST(users_rules_come_first_and_may_replace_the_targets) {
    static const arenaut_in_place_rule rules[] = {{"G", 0, 0, false}};
    arenaut_pass_options options = micro();
    options.in_place = rules;
    options.n_in_place = COUNT_OF(rules);
    arenaut_program *p = small();
    run(p, "inplace", &options);
    assert_int_equal(p->ops[1].n_in_place, 1);
    assert_int_equal(p->ops[2].n_in_place, 1);
    arn_program_free(p);
    options.only_these_rules = true;
    p = small();
    run(p, "inplace", &options);
    assert_int_equal(p->ops[1].n_in_place, 0);
    assert_int_equal(p->ops[2].n_in_place, 1);
    arn_program_free(p);
}

TEST(a_users_rule_must_name_arguments_that_exist) {
    static const arenaut_in_place_rule wrong[] = {{"G", 1, 0, false}, {"G", 0, 1, false}};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        arenaut_pass_options options = micro();
        options.in_place = &wrong[i];
        options.n_in_place = 1;
        arenaut_program *p = small();
        arenaut_error err = {0};
        assert_int_equal(arenaut_passes_run(p, "inplace", &options, NULL, NULL, &err),
                         ARENAUT_BAD_INPUT);
        assert_non_null(strstr(err.msg, "'G'"));
        assert_non_null(strstr(err.msg, "1 inputs and 1 outputs"));
        arn_program_free(p);
    }
}

/* Numbers and texts stand among the arguments, too. */
TEST(a_users_rule_must_name_a_tensor) {
    static const arenaut_in_place_rule rule = {"G", 1, 0, false};
    static const uint32_t with_number[] = {B, ARENAUT_NONE};
    arenaut_pass_options options = micro();
    options.in_place = &rule;
    options.n_in_place = 1;
    arenaut_program *p = small();
    arenaut_error err = {0};
    p->ops[2].inputs = with_number;
    p->ops[2].n_inputs = 2;
    assert_int_equal(arenaut_passes_run(p, "inplace", &options, NULL, NULL, &err),
                     ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "not both tensors in any op, such as op 2"));
    p->ops[1].name = "G"; /* where it is one, the other may have left it out */
    p->ops[1].inputs = (const uint32_t[]){X, A};
    p->ops[1].n_inputs = 2;
    run(p, "inplace", &options);
    assert_int_equal(p->ops[1].n_in_place, 1);
    assert_int_equal(p->ops[2].n_in_place, 0);
    arn_program_free(p);
}

/* How many pairs RELU gets when something about the program has been changed. */
static uint32_t pairs_after(void (*spoil)(arenaut_program *p)) {
    const arenaut_pass_options options = micro();
    arenaut_program *p = small();
    spoil(p);
    finish_program(p);
    run(p, "inplace", &options);
    const uint32_t n = p->ops[1].n_in_place;
    arn_program_free(p);
    return n;
}

static void spoil_nothing(arenaut_program *p) { p->description = NULL; }
static void broadcast(arenaut_program *p) {
    static const int64_t dims[] = {1, 16};
    p->tensors[A].dims = dims;
}
static void lower_rank(arenaut_program *p) { p->tensors[A].rank = 1; }
static void other_bytes(arenaut_program *p) { p->tensors[A].bytes = 17; }
static void other_width(arenaut_program *p) { p->tensors[A].dtype = ARENAUT_DTYPE_INT16; }
static void constant(arenaut_program *p) { p->tensors[A].cls = ARENAUT_CONSTANT; }
static void mutable(arenaut_program *p) { p->tensors[A].cls = ARENAUT_STATE; }
static void shared(arenaut_program *p) { p->tensors[A].qualified_name = "a"; }
static void borrowed(arenaut_program *p) { p->tensors[A].caller_owned = true; }
static void output_borrowed(arenaut_program *p) { p->tensors[B].caller_owned = true; }
static void a_result(arenaut_program *p) { SET_IO(p, 0, LIST(X), LIST(A, Y)); }
static void read_later(arenaut_program *p) {
    static const uint32_t both[] = {B, A};
    p->ops[2].inputs = both;
    p->ops[2].n_inputs = 2;
}
static void read_later_through_a_view(arenaut_program *p) {
    static uint32_t both[] = {B, 0};
    p->n_methods = 1; /* the view belongs to main */
    both[1] = add_view(p, "view", A, 0, 4);
    p->n_methods = 2;
    p->ops[2].inputs = both;
    p->ops[2].n_inputs = 2;
}
static void part_of_a_buffer(arenaut_program *p) {
    p->n_methods = 1;
    const uint32_t host = add_tensor(p, "host", 64, ARENAUT_INTERMEDIATE);
    p->n_methods = 2;
    p->tensors[A].view_of = host;
}
static void a_delegate(arenaut_program *p) { p->ops[1].kind = ARENAUT_OP_DELEGATE; }
static void left_out(arenaut_program *p) {
    static const uint32_t none[] = {ARENAUT_NONE};
    p->ops[1].inputs = none;
}
static void output_left_out(arenaut_program *p) {
    static const uint32_t none[] = {ARENAUT_NONE};
    p->ops[1].outputs = none;
}
static void other_layout(arenaut_program *p) {
    static const int64_t by_columns[] = {1, 2};
    p->tensors[A].strides = by_columns;
}
static void operand_may_be_smaller(arenaut_program *p) { p->tensors[A].dynamic = true; }
static void result_may_be_smaller(arenaut_program *p) { p->tensors[B].dynamic = true; }
static void both_vary(arenaut_program *p) { p->tensors[A].dynamic = p->tensors[B].dynamic = true; }
static void vary_beside(arenaut_program *p, const int64_t *dims, uint32_t rank) {
    static uint32_t both[] = {A, 0};
    p->n_methods = 1;
    both[1] = add_tensor(p, "beside", 16, ARENAUT_CONSTANT);
    p->n_methods = 2;
    p->tensors[both[1]].dims = dims;
    p->tensors[both[1]].rank = rank;
    p->ops[1].inputs = both;
    p->ops[1].n_inputs = 2;
    both_vary(p);
}
static void both_vary_beside_one_element(arenaut_program *p) {
    static const int64_t single[] = {1, 1};
    vary_beside(p, single, 2);
}
static void both_vary_beside_a_row(arenaut_program *p) {
    static const int64_t row[] = {16};
    vary_beside(p, row, 1);
}
static void symbolic(arenaut_program *p) {
    static uint32_t exprs[] = {ARENAUT_NONE, ARENAUT_NONE};
    arenaut_error err = {0};
    assert_ok(arn_program_add_symbol(p, "n", 1, p->tensors[B].dims[0], NULL, &err), err);
    assert_ok(arn_expr_parse(p, "n", 1, &exprs[0], &err), err);
    p->tensors[B].dim_exprs = exprs;
}
static void no_arguments(arenaut_program *p) { p->ops[1].n_inputs = 0; }
static void another_name(arenaut_program *p) { p->ops[1].name = "RELU99"; }
static void no_name(arenaut_program *p) { p->ops[1].name = NULL; }

TEST(inplace_passes_over_what_is_not_safe) {
    static void (*const spoilers[])(arenaut_program *) = {
        broadcast,
        lower_rank,
        other_bytes,
        other_width,
        constant,
        mutable,
        shared,
        borrowed,
        output_borrowed,
        a_result,
        part_of_a_buffer,
        other_layout,
        operand_may_be_smaller,
        result_may_be_smaller,
        both_vary_beside_a_row,
        symbolic,
        a_delegate,
        left_out,
        output_left_out,
        no_arguments,
        another_name,
        no_name,
    };
    assert_int_equal(pairs_after(spoil_nothing), 1);
    for (size_t i = 0; i < COUNT_OF(spoilers); i++) {
        if (pairs_after(spoilers[i]) != 0) fail_msg("case %zu was not passed over", i);
    }
}

/* In another order it may be read no more; lowering knows when it is. */
TEST(inplace_notes_rights_over_what_is_read_later) {
    assert_int_equal(pairs_after(read_later), 1);
    assert_int_equal(pairs_after(read_later_through_a_view), 1);
}

/* Whose bounds are equal, one is of the other's shape whatever that is. */
TEST(inplace_follows_the_only_operand_that_varies) {
    assert_int_equal(pairs_after(both_vary), 1);
    assert_int_equal(pairs_after(both_vary_beside_one_element), 1);
}

/* The same strides, whether they are stated or follow from the shape. */
TEST(layouts_may_be_stated_or_not) {
    static const int64_t dense[] = {8, 1}, by_columns[] = {1, 2};
    const arenaut_pass_options options = micro();
    for (int both = 0; both < 2; both++) {
        arenaut_program *p = small();
        p->tensors[A].strides = both ? by_columns : dense;
        if (both) p->tensors[B].strides = by_columns;
        run(p, "inplace", &options);
        assert_int_equal(p->ops[1].n_in_place, 1);
        arn_program_free(p);
    }
}

static uint32_t pairs_of_reshape(const int64_t *strides) {
    static const int64_t flat[] = {16};
    arenaut_program *p = small();
    const arenaut_pass_options options = micro();
    p->ops[1].name = "RESHAPE";
    p->tensors[A].strides = strides;
    p->tensors[B].rank = 1;
    p->tensors[B].dims = flat;
    run(p, "inplace", &options);
    const uint32_t n = p->ops[1].n_in_place;
    arn_program_free(p);
    return n;
}

/* Bytes in an order of their own are no mere copy under another shape. */
TEST(copies_of_bytes_may_change_the_shape) {
    static const int64_t by_columns[] = {1, 2};
    assert_int_equal(pairs_of_reshape(NULL), 1);
    assert_int_equal(pairs_of_reshape(by_columns), 0);
}

TEST(inputs_that_the_target_keeps_are_not_overwritten) {
    arenaut_pass_options options = micro();
    arenaut_program *p = small();
    p->ops[0].name = "RELU";
    run(p, "inplace", &options);
    assert_int_equal(p->ops[0].n_in_place, 1);
    arn_program_free(p);
    arenaut_target keeps = *options.target;
    keeps.keep_inputs = true;
    options.target = &keeps;
    p = small();
    p->ops[0].name = "RELU";
    run(p, "inplace", &options);
    assert_int_equal(p->ops[0].n_in_place, 0);
    arn_program_free(p);
}

/* MUL(a, a): fine, since either operand may be overwritten. SignalPCAN(a, a): not, since
 * its second one may not. */
TEST(the_same_tensor_twice_needs_both_rules) {
    static const uint32_t twice[] = {A, A};
    static const struct {
        const char *name;
        uint32_t expected;
    } cases[] = {{"MUL", 2}, {"SignalPCAN", 0}};
    const arenaut_pass_options options = micro();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_program *p = small();
        p->ops[1].name = cases[i].name;
        p->ops[1].inputs = twice;
        p->ops[1].n_inputs = 2;
        run(p, "inplace", &options);
        assert_int_equal(p->ops[1].n_in_place, cases[i].expected);
        arn_program_free(p);
    }
}

TEST(pairs_that_the_file_states_stay) {
    static const arenaut_in_place stated = {0, 0};
    arenaut_program *p = small();
    p->ops[0].in_place = &stated; /* MEAN, which no table lists */
    p->ops[0].n_in_place = 1;
    const arenaut_pass_options options = micro();
    run(p, "inplace", &options);
    assert_int_equal(p->ops[0].n_in_place, 1);
    assert_int_equal(p->ops[1].n_in_place, 1);
    arn_program_free(p);
}

/* ---- joins in place ---- */

enum { JX, JA, JB, JC, JW, JV, JY };

/* x is made a, b and c; w joins a and b, and v joins c and b if `twice`, else w and c. One of them
 * is updated then, and read with the others that are to be read. */
static arenaut_program *joins(bool twice, uint32_t updated, uint32_t read) {
    static const int64_t one[] = {1, 8}, two[] = {2, 8}, three[] = {3, 8};
    const int64_t *const dims[] = {one, one, one, one, two, twice ? two : three, one};
    arenaut_program *p = new_program();
    begin_method(p, "main");
    for (size_t i = 0; i < COUNT_OF(dims); i++) {
        arenaut_tensor tensor = arenaut_tensor_default();
        tensor.bytes = (uint64_t)(8 * dims[i][0]);
        tensor.rank = 2;
        tensor.dims = dims[i];
        tensor.method = 0;
        tensor.cls = i == JX ? ARENAUT_INPUT : i == JY ? ARENAUT_OUTPUT : ARENAUT_INTERMEDIATE;
        assert_int_equal(arenaut_program_add_tensor(p, &tensor, NULL, NULL), ARENAUT_OK);
    }
    ADD_OP(p, .name = "MAKE", IN(JX), OUT(JA));
    ADD_OP(p, .name = "MAKE", IN(JX), OUT(JB));
    ADD_OP(p, .name = "MAKE", IN(JX), OUT(JC));
    ADD_OP(p, .name = "CONCATENATION", IN(JA, JB), OUT(JW));
    if (twice) ADD_OP(p, .name = "CONCATENATION", IN(JC, JB), OUT(JV));
    else ADD_OP(p, .name = "CONCATENATION", IN(JW, JC), OUT(JV));
    if (updated != JX) {
        ADD_OP(p, .name = "UPDATE", .kind = ARENAUT_OP_IN_PLACE, IN(updated), OUT(updated));
    }
    ADD_OP(p, .name = "READ", IN(JV, read), OUT(JY));
    FINISH(p, LIST(JX), LIST(JY));
    return p;
}

/* Bits: w is in place, v is. */
static int joined(arenaut_program *p, const arenaut_pass_options *options) {
    run(p, "slices", options);
    const int found = (p->ops[3].kind == ARENAUT_OP_VIEW) + 2 * (p->ops[4].kind == ARENAUT_OP_VIEW);
    arn_program_free(p);
    return found;
}

TEST(joins_are_written_in_place_one_in_another) {
    const arenaut_pass_options all = micro();
    assert_int_equal(joined(joins(false, JX, JA), &all), 3);
    assert_int_equal(joined(joins(false, JX, JW), &all), 3);
    assert_int_equal(joined(joins(true, JX, JW), &all), 2); /* b can be in one of them only */
}

TEST(which_joins_are_in_place_may_be_said) {
    static const uint32_t both[] = {JW, JV, 1000};
    arenaut_pass_options some = micro();
    some.only_these_joins = true;
    some.joins = both;
    for (size_t n = 0; n <= COUNT_OF(both); n++) {
        some.n_joins = n;
        assert_int_equal(joined(joins(false, JX, JA), &some), n < 2 ? (int)n : 3);
    }
    some.n_joins = 1;
    assert_int_equal(joined(joins(true, JX, JW), &some), 1);
}

enum { KX, KA, KB, KW, KZ, KY };

/* x is made a and b; w joins them, and z is a view of b, which is read if `read`. */
static arenaut_program *join_and_view(bool read) {
    static const int64_t one[] = {1, 8}, two[] = {2, 8};
    arenaut_program *p = new_program();
    begin_method(p, "main");
    for (uint32_t i = KX; i <= KY; i++) {
        arenaut_tensor tensor = arenaut_tensor_default();
        tensor.bytes = i == KW ? 16 : i == KZ ? 4 : 8;
        tensor.rank = i == KZ ? 0 : 2;
        tensor.dims = i == KW ? two : one;
        tensor.method = 0;
        tensor.cls = i == KX ? ARENAUT_INPUT : i == KY ? ARENAUT_OUTPUT : ARENAUT_INTERMEDIATE;
        if (i == KZ) tensor.view_of = KB;
        if (i == KZ) tensor.view_offset = 3;
        assert_int_equal(arenaut_program_add_tensor(p, &tensor, NULL, NULL), ARENAUT_OK);
    }
    ADD_OP(p, .name = "MAKE", IN(KX), OUT(KA));
    ADD_OP(p, .name = "MAKE", IN(KX), OUT(KB));
    ADD_OP(p, .name = "VIEW", .kind = ARENAUT_OP_VIEW, IN(KB), OUT(KZ));
    ADD_OP(p, .name = "CONCATENATION", IN(KA, KB), OUT(KW));
    if (read) ADD_OP(p, .name = "READ", IN(KW, KZ), OUT(KY));
    else ADD_OP(p, .name = "READ", IN(KW), OUT(KY));
    FINISH(p, LIST(KX), LIST(KY));
    return p;
}

TEST(views_that_nobody_reads_do_not_keep_what_they_name_from_being_joined) {
    const arenaut_pass_options all = micro();
    for (int read = 0; read < 2; read++) {
        arenaut_program *p = join_and_view(read);
        run(p, "slices", &all);
        assert_int_equal(p->ops[3].kind, read ? ARENAUT_OP_OUT : ARENAUT_OP_VIEW);
        assert_int_equal(p->tensors[KZ].view_of, read ? KB : KW);
        assert_int_equal(p->tensors[KZ].view_offset, read ? 3 : 11);
        arn_program_free(p);
    }
}

/* A reader of a part, or an alias of a part, behind an update would read new values. */
TEST(a_join_that_is_updated_is_in_place_only_if_its_parts_are_not_read) {
    const arenaut_pass_options all = micro();
    assert_int_equal(joined(joins(false, JV, JX), &all), 3);
    assert_int_equal(joined(joins(false, JV, JA), &all), 2);
    assert_int_equal(joined(joins(false, JV, JC), &all), 1);
    assert_int_equal(joined(joins(false, JV, JW), &all), 1);
    assert_int_equal(joined(joins(false, JA, JX), &all), 2); /* a part itself */
    assert_int_equal(joined(joins(false, JC, JX), &all), 1);
}

/* ---- the peak ---- */

TEST(the_peak_is_the_first_step_with_most_bytes) {
    static const box boxes[] = {
        {10, 0, 3}, {20, 2, 4}, {5, 2, 3}, {30, 5, 6}, {5, 5, 7}, {0, 0, 9}, {7, 4, 4},
    };
    arenaut_problem *problem = problem_of(boxes, COUNT_OF(boxes));
    arenaut_peak peak;
    arenaut_error err = {0};
    assert_ok(arenaut_peak_find(problem, NULL, &peak, &err), err);
    assert_int_equal(peak.step, 2);
    assert_int_equal(peak.live_bytes, 35);
    assert_int_equal(peak.shared_bytes, 0);
    assert_int_equal(peak.n_live, 3);
    assert_int_equal(peak.live[0], 1);
    assert_int_equal(peak.live[1], 0);
    assert_int_equal(peak.live[2], 2);
    arenaut_peak_free(&peak, NULL);
    arenaut_problem_free(problem);
}

/* Nothing lives in a gap. */
TEST(the_peak_looks_at_every_lifetime) {
    static const arenaut_interval twice[] = {{0, 1}, {8, 9}};
    arenaut_problem *problem = new_problem();
    ADD_BUFFER(problem, .size = 10, .lifetimes = twice, .n_lifetimes = 2);
    add_box(problem, 4, 3, 4);
    add_box(problem, 4, 8, 12);
    finish(problem);
    arenaut_peak peak;
    arenaut_error err = {0};
    assert_ok(arenaut_peak_find(problem, NULL, &peak, &err), err);
    assert_int_equal(peak.step, 8);
    assert_int_equal(peak.live_bytes, 14);
    assert_int_equal(peak.n_live, 2);
    arenaut_peak_free(&peak, NULL);
    arenaut_problem_free(problem);
}

/* At step 1 there are twice 30 bytes, but one is written over the other; at step 4 there are
 * 42, of which a slice of 10 lies in a buffer that is alive too. */
TEST(the_peak_counts_shared_bytes_once) {
    arenaut_problem *problem = new_problem();
    add_box(problem, 30, 0, 2);
    arenaut_buffer child = ARENAUT_BUFFER_INIT;
    const arenaut_interval after = {1, 3};
    child.size = 30;
    child.lifetimes = &after;
    child.n_lifetimes = 1;
    child.same_base = arenaut_id(0);
    add_buffer(problem, &child);
    add_box(problem, 31, 3, 5);
    arenaut_buffer slice = ARENAUT_BUFFER_INIT;
    const arenaut_interval late = {4, 6};
    slice.size = 10;
    slice.lifetimes = &late;
    slice.n_lifetimes = 1;
    slice.inside = arenaut_id(2);
    add_buffer(problem, &slice);
    add_box(problem, 1, 4, 5);
    finish(problem);
    arenaut_peak peak;
    arenaut_error err = {0};
    assert_ok(arenaut_peak_find(problem, NULL, &peak, &err), err);
    assert_int_equal(peak.step, 4);
    assert_int_equal(peak.live_bytes, 42);
    assert_int_equal(peak.shared_bytes, 10);
    assert_int_equal(peak.n_live, 3);
    arenaut_peak_free(&peak, NULL);
    arenaut_problem_free(problem);
}

TEST(an_empty_problem_has_an_empty_peak) {
    arenaut_problem *problem = problem_of(NULL, 0);
    arenaut_peak peak;
    arenaut_error err = {0};
    assert_ok(arenaut_peak_find(problem, NULL, &peak, &err), err);
    assert_int_equal(peak.live_bytes, 0);
    assert_int_equal(peak.n_live, 0);
    arenaut_peak_free(&peak, NULL);
    arenaut_problem_free(problem);
}

/* ---- running out of memory ---- */

static arenaut_status all_passes_once(void *context, const arenaut_allocator *allocator) {
    static const arenaut_scratch_entry entries[] = {{0, 0, 40}, {1, 0, 8}};
    const arenaut_program *model = context;
    arenaut_pass_options options = micro();
    options.scratch = entries;
    options.n_scratch = 2;
    arenaut_program *p = NULL;
    arenaut_status st = arn_program_new(allocator, &p, NULL);
    for (uint32_t t = 0; t < model->n_tensors && st == ARENAUT_OK; t++) {
        st = arenaut_program_add_tensor(p, &model->tensors[t], NULL, NULL);
    }
    for (uint32_t m = 0; m < model->n_methods && st == ARENAUT_OK; m++) {
        const arenaut_method *method = &model->methods[m];
        st = arn_program_add_method(p, method->name, method->entry, NULL, NULL);
        for (uint32_t i = 0; i < method->n_ops && st == ARENAUT_OK; i++) {
            st = arn_program_add_op(p, &model->ops[method->first_op + i], NULL, NULL);
        }
    }
    if (st == ARENAUT_OK) st = arenaut_passes_run(p, "inplace", &options, NULL, NULL, NULL);
    arn_program_free(p);
    return st;
}

static arenaut_status read_scratch_once(void *context, const arenaut_allocator *allocator) {
    static const char text[] = "op,bytes\n0,16\n1,16\n";
    arenaut_scratch_sizes sizes = {0};
    const arenaut_status st =
        arn_scratch_read(text, sizeof text - 1, NULL, context, allocator, &sizes, NULL);
    arn_scratch_sizes_free(&sizes, allocator);
    return st;
}

static arenaut_status find_peak_once(void *context, const arenaut_allocator *allocator) {
    arenaut_peak peak = {0};
    const arenaut_status st = arenaut_peak_find(context, allocator, &peak, NULL);
    arenaut_peak_free(&peak, allocator);
    return st;
}

TEST(everything_survives_running_out_of_memory) {
    static const box boxes[] = {{10, 0, 3}, {20, 2, 4}};
    arenaut_program *p = small();
    arenaut_problem *problem = problem_of(boxes, COUNT_OF(boxes));
    survives_every_allocation_failure(all_passes_once, p);
    survives_every_allocation_failure(read_scratch_once, p);
    survives_every_allocation_failure(find_peak_once, problem);
    arenaut_problem_free(problem);
    arn_program_free(p);
}
