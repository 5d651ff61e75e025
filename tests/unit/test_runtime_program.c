/* Static programs: a plan on memory, several methods with shared state, and sources of plans: one
 * made just now, plan JSON, models with a plan inside. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/runtime_plan.h>

#include "ir/program.h"
#include "support/aligned.h"
#include "support/bytes.h"
#include "support/documents.h"
#include "support/fake_device.h"
#include "support/faults.h"
#include "support/fuse.h"
#include "support/programs.h"
#include "support/pte_tiny.h"
#include "support/tflite_round.h"

/* Two methods over one pool: state at 0, each method's own tensors behind it. */
enum { STATE, FIRST_IN, FIRST_OUT, SECOND_OUT, ELSEWHERE, PLACES };
static const arenaut_pool_need needs[] = {{256, 64}};
static const arenaut_place places[PLACES] = {
    {0, 64, 0}, {64, 64, 0}, {128, 64, 0}, {64, 128, 0}, {0, 0, ARENAUT_NO_POOL}};
static const uint32_t first_in[] = {FIRST_IN, ELSEWHERE}, first_out[] = {FIRST_OUT};
static const uint32_t second_out[] = {SECOND_OUT};
static const arenaut_static_method methods[] = {{"first", 2, 1, first_in, first_out},
                                                {NULL, 0, 1, NULL, second_out}};
static const arenaut_static_program program = {0xABCD, 1,      PLACES,  2,   0,
                                               needs,  places, methods, NULL};

typedef struct rig {
    _Alignas(64) unsigned char bytes[256 + 64];
    arenaut_span pool[1];
    arenaut_memory_manager memory;
    arenaut_instance instance;
} rig;

static void set_up(rig *r) {
    r->pool[0] = (arenaut_span){r->bytes, 256};
    r->memory = arenaut_memory_on_host(r->pool, 1);
    r->instance = (arenaut_instance){NULL, NULL, 77};
}

#define INIT(p, fingerprint) arenaut_instance_init(&r.instance, p, fingerprint, &r.memory, &fault)

TEST(memory_that_does_not_fit_is_refused) {
    rig r;
    arenaut_fault fault;
    char text[160];
    set_up(&r);
    r.pool[0].size = 255;
    assert_fault(INIT(&program, 0xABCD), BAD_ARGUMENT, POOL_SMALL);
    assert_string_equal(arenaut_fault_text(&fault, text, sizeof text),
                        "pool 0: 255 bytes are given, the plan needs 256");
    r.pool[0] = (arenaut_span){r.bytes + 16, 256};
    assert_fault(INIT(&program, 0xABCD), BAD_ARGUMENT, POOL_MISALIGNED);
    assert_int_equal(fault.found, 16);
    assert_int_equal(fault.allowed, 64);
    r.pool[0] = (arenaut_span){NULL, 256};
    assert_fault(INIT(&program, 0xABCD), BAD_ARGUMENT, POOL_SMALL);
    r.memory.n_pools = 0;
    assert_fault(INIT(&program, 0xABCD), BAD_ARGUMENT, POOL_COUNT);
    assert_int_equal(r.instance.running, 77); /* untouched */
    assert_null(r.instance.program);
}

TEST(the_plan_of_another_program_is_refused) {
    rig r;
    arenaut_fault fault;
    set_up(&r);
    assert_fault(INIT(&program, 0xABCE), BAD_INPUT, OTHER_PROGRAM);
    assert_fault(INIT(&program, UINT64_C(0xABCD) << 32 | 0xABCD), BAD_INPUT, OTHER_PROGRAM);
    assert_fine(INIT(&program, 0xABCD));
    assert_fine(INIT(&program, 0)); /* not asked */
}

TEST(a_plan_that_reaches_outside_is_refused) {
    static const struct {
        arenaut_place place;
        arenaut_fault_reason reason;
    } wrong[] = {{{193, 64, 0}, ARENAUT_FAULT_PLACE_BAD},
                 {{257, 0, 0}, ARENAUT_FAULT_PLACE_BAD},
                 {{SIZE_MAX - 3, 8, 0}, ARENAUT_FAULT_PLACE_BAD},
                 {{0, 8, 1}, ARENAUT_FAULT_POOL}};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        rig r;
        arenaut_fault fault;
        arenaut_place bad[PLACES];
        arenaut_static_program copy = program;
        memcpy(bad, places, sizeof bad);
        bad[3] = wrong[i].place;
        copy.place = bad;
        set_up(&r);
        assert_int_not_equal(INIT(&copy, 0), ARENAUT_OK);
        assert_int_equal(fault.reason, wrong[i].reason);
    }
    rig r;
    arenaut_fault fault;
    static const arenaut_pool_need odd[] = {{256, 48}};
    arenaut_static_program copy = program;
    copy.pool = odd;
    set_up(&r);
    assert_fault(INIT(&copy, 0), BAD_ARGUMENT, ALIGNMENT);
}

TEST(one_method_runs_at_a_time) {
    rig r;
    arenaut_fault fault;
    arenaut_span span = {NULL, 9};
    set_up(&r);
    assert_fine(INIT(&program, 0));
    assert_fault(arenaut_instance_end(&r.instance, &fault), BAD_ARGUMENT, METHOD_IDLE);
    assert_fault(arenaut_instance_input(&r.instance, 0, &span, &fault), BAD_ARGUMENT, METHOD_IDLE);
    assert_fault(arenaut_instance_begin(&r.instance, 2, &fault), BAD_ARGUMENT, METHOD);
    assert_fine(arenaut_instance_begin(&r.instance, 0, &fault));
    assert_fault(arenaut_instance_begin(&r.instance, 1, &fault), BAD_ARGUMENT, METHOD_RUNS);
    assert_fault(arenaut_instance_begin(&r.instance, 0, &fault), BAD_ARGUMENT, METHOD_RUNS);
    assert_fault(arenaut_instance_input(&r.instance, 2, &span, &fault), BAD_ARGUMENT,
                 METHOD_ARGUMENT);
    assert_int_equal(fault.allowed, 2);
    assert_fault(arenaut_instance_output(&r.instance, 1, &span, &fault), BAD_ARGUMENT,
                 METHOD_ARGUMENT);
    assert_fault(arenaut_instance_input(&r.instance, 1, &span, &fault), BAD_ARGUMENT,
                 PLACE_ELSEWHERE);
    assert_fault(arenaut_instance_place(&r.instance, PLACES, &span, &fault), BAD_ARGUMENT, PLACE);
    assert_null(span.data); /* as it was */
    assert_int_equal(span.size, 9);
    assert_fine(arenaut_instance_input(&r.instance, 0, &span, &fault));
    assert_ptr_equal(span.data, r.bytes + 64);
    assert_int_equal(span.size, 64);
    assert_fine(arenaut_instance_end(&r.instance, &fault));
    assert_fine(arenaut_instance_begin(&r.instance, 1, &fault));
    assert_fine(arenaut_instance_output(&r.instance, 0, &span, &fault));
    assert_int_equal(span.size, 128);
    assert_fine(arenaut_instance_end(&r.instance, &fault));
}

/* add: total += x, y = x + total;  read: z = total. Memory that is no state is poisoned between. */
TEST(methods_share_memory_and_keep_their_state) {
    arenaut_program *p = new_program();
    begin_method(p, "add");
    const uint32_t total = add_tensor(p, "total", 64, ARENAUT_STATE);
    p->tensors[total].method = ARENAUT_NONE;
    const uint32_t x = add_tensor(p, "x", 64, ARENAUT_INPUT);
    const uint32_t y = add_tensor(p, "y", 64, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "ADD_TO", .kind = ARENAUT_OP_IN_PLACE, IN(total, x), OUT(total),
           IN_PLACE(0, 0));
    ADD_OP(p, .name = "ADD", IN(x, total), OUT(y));
    SET_IO(p, 0, LIST(x), LIST(y));
    begin_method(p, "read");
    const uint32_t z = add_tensor(p, "z", 64, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "COPY", IN(total), OUT(z));
    SET_IO(p, 1, NO_LIST, LIST(z));
    finish_program(p);

    arenaut_lowering *lowering;
    arenaut_plan *plan;
    arenaut_static_program *made;
    arenaut_error err;
    assert_ok(arenaut_lower(p, arenaut_target_find("generic"), NULL, NULL, &lowering, &err), err);
    assert_ok(arenaut_plan_make(lowering->problem, NULL, NULL, &plan, &err), err);
    const arenaut_result result = {
        .program = p, .lowering = lowering, .problem = lowering->problem, .plan = plan};
    assert_ok(arenaut_static_program_new(&result, NULL, &made, &err), err);
    const uint64_t fingerprint = arn_program_fingerprint(p);
    const size_t arena = (size_t)plan->total;
    arenaut_plan_free(plan);
    arenaut_lowering_free(lowering);
    arn_program_free(p); /* nothing of these is needed any more */

    unsigned char *block = aligned_take(64, arena);
    const arenaut_span pool[] = {{block, arena}};
    const arenaut_memory_manager memory = arenaut_memory_on_host(pool, 1);
    arenaut_instance instance;
    arenaut_fault fault;
    arenaut_span in, out, kept;
    assert_fine(arenaut_instance_init(&instance, made, fingerprint, &memory, &fault));
    assert_string_equal(made->method[1].name, "read");
    assert_fine(arenaut_instance_place(&instance, total, &kept, &fault));
    unsigned char *sum = kept.data;
    memset(sum, 0, 64);
    for (int call = 1; call <= 3; call++) {
        for (size_t i = 0; i < arena; i++) {
            if (block + i < sum || block + i >= sum + 64) block[i] = 0xA5;
        }
        assert_fine(arenaut_instance_begin(&instance, 0, &fault));
        assert_fine(arenaut_instance_input(&instance, 0, &in, &fault));
        assert_fine(arenaut_instance_output(&instance, 0, &out, &fault));
        memset(in.data, call, 64);
        for (int i = 0; i < 64; i++) sum[i] = (unsigned char)(sum[i] + call);
        for (int i = 0; i < 64; i++)
            ((unsigned char *)out.data)[i] =
                (unsigned char)(sum[i] + ((unsigned char *)in.data)[i]);
        assert_int_equal(((unsigned char *)out.data)[63], call * (call + 1) / 2 + call);
        assert_fine(arenaut_instance_end(&instance, &fault));
        assert_fine(arenaut_instance_begin(&instance, 1, &fault));
        assert_fine(arenaut_instance_output(&instance, 0, &out, &fault));
        memcpy(out.data, sum, 64);
        assert_int_equal(((unsigned char *)out.data)[0], call * (call + 1) / 2);
        assert_fine(arenaut_instance_end(&instance, &fault));
    }
    aligned_give(block);
    arenaut_static_program_free(made);
    arenaut_static_program_free(NULL);
}

static const char plan_json[] =
    "{\"schema\": \"arenaut.plan/1\", \"result\": {\"status\": \"feasible\", \"arena\": 192},"
    " \"input\": {\"methods\": [\"main\"]},"
    " \"pools\": [{\"name\": \"sram\", \"align\": 64, \"arena\": 192}],"
    " \"buffers\": ["
    "{\"name\": \"x\", \"size\": 100, \"first\": 0, \"end\": 2, \"class\": \"input\","
    " \"method\": 0, \"pool\": 0, \"offset\": 64},"
    "{\"name\": \"y\", \"size\": 64, \"first\": 1, \"end\": 3, \"class\": \"output\","
    " \"method\": 0, \"pool\": 0, \"offset\": 0},"
    "{\"name\": \"z\", \"size\": 60, \"align\": 128, \"first\": 2, \"end\": 3, \"pool\": 0,"
    " \"offset\": 128},"
    "{\"name\": \"nothing\", \"size\": 0, \"first\": 2, \"end\": 3}]}";

static arenaut_status read_plan(const char *text, arenaut_static_program **out,
                                arenaut_error *err) {
    return arenaut_static_program_read((const uint8_t *)text, strlen(text), NULL, out, err);
}

TEST(a_plan_json_can_be_run) {
    arenaut_static_program *p;
    arenaut_error err;
    assert_ok(read_plan(plan_json, &p, &err), err);
    assert_int_equal(p->n_pools, 1);
    assert_int_equal(p->pool[0].bytes, 192);
    assert_int_equal(p->pool[0].align, 128); /* the strictest of its buffers decides */
    assert_int_equal(p->n_places, 4);
    assert_int_equal(p->place[2].offset, 128);
    assert_int_equal(p->place[2].bytes, 60);
    assert_int_equal(p->place[3].pool, ARENAUT_NO_POOL);
    assert_int_equal(p->n_methods, 1);
    assert_string_equal(p->method[0].name, "main");
    assert_int_equal(p->method[0].n_inputs, 1);
    assert_int_equal(p->method[0].inputs[0], 0);
    assert_int_equal(p->method[0].n_outputs, 1);
    assert_int_equal(p->method[0].outputs[0], 1);
    assert_true(p->fingerprint != 0);
    arenaut_static_program_free(p);
}

TEST(a_plan_that_is_wrong_is_not_run) {
    arenaut_static_program *p = NULL;
    arenaut_error err = {0};
    char *text = malloc(sizeof plan_json);
    memcpy(text, plan_json, sizeof plan_json);
    memcpy(strstr(text, "\"offset\": 64"), "\"offset\": 32", 12); /* x over y */
    assert_int_equal(read_plan(text, &p, &err), ARENAUT_REJECTED);
    assert_non_null(strstr(err.msg, "x"));
    free(text);
    assert_int_equal(read_plan("{\"schema\": \"arenaut.problem/1\", \"buffers\": []}", &p, &err),
                     ARENAUT_REFUSED);
    assert_int_equal(read_plan("{\"schema\": \"arenaut.plan/1\"", &p, &err), ARENAUT_BAD_INPUT);
    assert_int_equal(read_plan("no file of any kind", &p, &err), ARENAUT_BAD_INPUT);
    arenaut_result nothing = {0};
    assert_int_equal(arenaut_static_program_new(&nothing, NULL, &p, &err), ARENAUT_REFUSED);
    assert_null(p);
}

/* The fingerprint is of all that a plan depends on: it changes with sizes, not with places. */
TEST(fingerprints_tell_problems_apart) {
    arenaut_static_program *a, *b, *c;
    arenaut_error err;
    char *moved = malloc(sizeof plan_json), *grown = malloc(sizeof plan_json);
    memcpy(moved, plan_json, sizeof plan_json);
    memcpy(grown, plan_json, sizeof plan_json);
    memcpy(strstr(moved, "\"name\": \"z\""), "\"name\": \"w\"", 11);
    memcpy(strstr(grown, "\"size\": 60"), "\"size\": 61", 10);
    assert_ok(read_plan(plan_json, &a, &err), err);
    assert_ok(read_plan(moved, &b, &err), err);
    assert_ok(read_plan(grown, &c, &err), err);
    assert_true(a->fingerprint == b->fingerprint);
    assert_true(a->fingerprint != c->fingerprint);
    arenaut_static_program_free(a);
    arenaut_static_program_free(b);
    arenaut_static_program_free(c);
    free(moved);
    free(grown);
}

/* A model with a plan inside gives the places that the plan had when it was written. */
TEST(a_planned_tflite_can_be_run) {
    bytes model = read_bytes(TEST_DATA "/mobilenet_v1_025_96_int8.tflite");
    tflite_round round;
    arenaut_error err;
    arenaut_text file = {0};
    arenaut_static_program *planned, *found, *none = NULL;
    assert_int_equal(arenaut_static_program_read(model.data, model.size, NULL, &none, &err),
                     ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "no plan"));
    assert_ok(tflite_round_open(model.data, model.size, 0, NULL, &round, &err), err);
    assert_ok(arenaut_static_program_new(&round.result, NULL, &planned, &err), err);
    assert_ok(tflite_round_write(&round, NULL, &file, &err), err);
    assert_ok(
        arenaut_static_program_read((const uint8_t *)file.bytes, file.size, NULL, &found, &err),
        err);
    assert_true(planned->fingerprint == found->fingerprint);
    assert_int_equal(found->n_pools, 1);
    assert_int_equal(found->pool[0].align, 16);
    assert_true(found->pool[0].bytes <= planned->pool[0].bytes);
    uint32_t placed = 0;
    for (uint32_t t = 0; t < found->n_places; t++) {
        if (found->place[t].pool == ARENAUT_NO_POOL) continue;
        assert_int_equal(found->place[t].offset, planned->place[t].offset);
        assert_int_equal(found->place[t].bytes, planned->place[t].bytes);
        placed++;
    }
    assert_true(placed > 20);
    assert_int_equal(found->method[0].n_inputs, 1);
    assert_int_not_equal(found->place[found->method[0].inputs[0]].pool, ARENAUT_NO_POOL);
    arenaut_static_program_free(planned);
    arenaut_static_program_free(found);
    arenaut_text_free(&file);
    tflite_round_close(&round);
    free_bytes(&model);
}

/* Methods of an ExecuTorch program share their memories, with the state in them. */
TEST(a_pte_of_two_methods_can_be_run) {
    bytes model = read_bytes(TEST_DATA "/pte/two_methods.pte");
    arenaut_static_program *p;
    arenaut_error err;
    arenaut_fault fault;
    assert_ok(arenaut_static_program_read(model.data, model.size, NULL, &p, &err), err);
    assert_true(p->n_methods >= 2);
    arenaut_span *pool = malloc(p->n_pools * sizeof *pool);
    for (uint32_t i = 0; i < p->n_pools; i++) {
        const size_t size = p->pool[i].bytes;
        pool[i] = (arenaut_span){aligned_take(64, size ? size : 64), size};
    }
    const arenaut_memory_manager memory = arenaut_memory_on_host(pool, p->n_pools);
    arenaut_instance instance;
    assert_fine(arenaut_instance_init(&instance, p, p->fingerprint, &memory, &fault));
    for (uint32_t m = 0; m < p->n_methods; m++) {
        assert_fine(arenaut_instance_begin(&instance, m, &fault));
        for (uint32_t t = 0; t < p->n_places; t++) {
            arenaut_span span;
            if (p->place[t].pool == ARENAUT_NO_POOL) continue;
            assert_fine(arenaut_instance_place(&instance, t, &span, &fault));
            memset(span.data, 1, span.size);
        }
        assert_fine(arenaut_instance_end(&instance, &fault));
    }
    for (uint32_t i = 0; i < p->n_pools; i++) aligned_give(pool[i].data);
    free(pool);
    arenaut_static_program_free(p);
    free_bytes(&model);
}

/* Of any file with a plan for devices: its memories are made through the registry, and memory
 * elsewhere is refused. `type` and `index` are those of the last pool. */
static void run_on_devices(const uint8_t *data, size_t size, uint16_t type, uint16_t index) {
    enum { POOLS = 8 };
    fake_device host, first, other;
    arenaut_device_buffer buffer[POOLS] = {{0}};
    arenaut_span span[POOLS];
    arenaut_memory_manager memory;
    arenaut_instance instance;
    arenaut_static_program *p;
    arenaut_error err;
    arenaut_fault fault;
    arenaut_device device;
    fake_device_init(&host, ARENAUT_DEVICE_HOST, 1);
    fake_device_init(&first, 1, 4);
    fake_device_init(&other, 2, 4);
    assert_fine(arenaut_device_register(&host.base, &fault));
    assert_fine(arenaut_device_register(&first.base, &fault));
    assert_fine(arenaut_device_register(&other.base, &fault));
    assert_ok(arenaut_static_program_read(data, size, NULL, &p, &err), err);
    const uint32_t last = p->n_pools - 1;
    assert_in_range(p->n_pools, 2, POOLS);
    const arenaut_method_memory wanted = arenaut_static_program_memory(p);
    assert_fine(arenaut_method_buffer_device(&wanted, last, &device, &fault));
    assert_int_equal(device.type, type);
    assert_int_equal(device.index, index);
    assert_fine(arenaut_method_buffer_device(&wanted, 0, &device, &fault));
    assert_int_equal(device.type, ARENAUT_DEVICE_HOST);
    assert_fine(arenaut_memory_create(&wanted, buffer, span, &memory, &fault));
    assert_true(host.live > 0 && first.live > 0);
    assert_fine(arenaut_instance_init(&instance, p, p->fingerprint, &memory, &fault));
    for (uint32_t i = 0; i < p->n_places; i++) {
        if (p->place[i].pool != last) continue;
        assert_fine(arenaut_instance_device(&instance, i, &device, &fault));
        assert_int_equal(device.type, type);
        assert_int_equal(device.index, index);
    }
    assert_fault(arenaut_instance_device(&instance, p->n_places, &device, &fault), BAD_ARGUMENT,
                 PLACE);

    const arenaut_memory_manager on_host = arenaut_memory_on_host(span, p->n_pools);
    assert_fault(arenaut_instance_init(&instance, p, p->fingerprint, &on_host, &fault),
                 BAD_ARGUMENT, POOL_DEVICE);
    assert_int_equal(fault.found, ARENAUT_DEVICE_HOST);
    arenaut_pool_device moved[POOLS];
    for (int by_type = 0; by_type < 2; by_type++) {
        for (uint32_t i = 0; i < p->n_devices; i++) moved[i] = p->device[i];
        arenaut_device *wrong = &moved[p->n_devices - 1].device;
        if (by_type) wrong->type = 2;
        else wrong->index++;
        assert_fine(
            arenaut_memory_init_devices(&memory, span, p->n_pools, moved, p->n_devices, &fault));
        const arenaut_fault_reason reason =
            by_type ? ARENAUT_FAULT_POOL_DEVICE : ARENAUT_FAULT_POOL_DEVICE_INDEX;
        assert_int_equal(arenaut_instance_init(&instance, p, 0, &memory, &fault),
                         ARENAUT_BAD_ARGUMENT);
        assert_int_equal(fault.reason, reason);
        assert_int_equal(fault.object, last);
    }
    for (uint32_t i = 0; i < p->n_pools; i++) arenaut_device_buffer_destroy(&buffer[i]);
    arenaut_static_program_free(p);
    assert_int_equal(host.live + first.live + other.live, 0);
    assert_fine(arenaut_device_unregister(&host.base, &fault));
    assert_fine(arenaut_device_unregister(&first.base, &fault));
    assert_fine(arenaut_device_unregister(&other.base, &fault));
}

static const char device_plan[] =
    "{\"schema\": \"arenaut.plan/1\", \"result\": {\"status\": \"feasible\", \"arena\": 192},"
    " \"pools\": [{\"name\": \"ram\", \"arena\": 64},"
    " {\"name\": \"near\", \"device\": 1, \"arena\": 64},"
    " {\"name\": \"far\", \"device\": {\"type\": 1, \"index\": 2}, \"arena\": 64}],"
    " \"buffers\": ["
    "{\"size\": 64, \"first\": 0, \"end\": 2, \"pool\": 0, \"offset\": 0},"
    "{\"size\": 64, \"first\": 0, \"end\": 2, \"pool\": 1, \"offset\": 0},"
    "{\"size\": 64, \"first\": 0, \"end\": 2, \"pool\": 2, \"offset\": 0}]}";

TEST(plans_for_devices_are_run_there_and_nowhere_else) {
    pte_tiny tiny = new_pte_tiny(true);
    run_on_devices(tiny.file->data, tiny.file->size, 1, 3);
    free_flatfile(tiny.file);
    run_on_devices((const uint8_t *)device_plan, sizeof device_plan - 1, 1, 2);
}

TEST(a_plan_for_the_host_is_not_run_on_a_device) {
    rig r;
    arenaut_fault fault;
    const arenaut_pool_device table[] = {{0, {1, 0}}};
    set_up(&r);
    r.memory.device = table;
    r.memory.n_devices = 1;
    assert_fault(INIT(&program, 0), BAD_ARGUMENT, POOL_DEVICE);
    assert_int_equal(fault.found, 1);
    /* A table that does not rise, or names pools that are not there, is no table. */
    arenaut_static_program bad = program;
    const arenaut_pool_device twice[] = {{0, {1, 0}}, {0, {1, 0}}},
                              past[] = {{0, {1, 0}}, {1, {1, 0}}};
    bad.n_devices = 2;
    bad.device = twice;
    assert_fault(INIT(&bad, 0), BAD_ARGUMENT, DEVICE_TABLE);
    bad.device = past;
    assert_fault(INIT(&bad, 0), BAD_ARGUMENT, DEVICE_TABLE);
    assert_int_equal(fault.object, 1);
    bad.n_devices = 1;
    assert_fine(INIT(&bad, 0));
}

/* Memory 1 of one method on the host and of the other on a device: no pool can be both. */
TEST(methods_that_disagree_on_a_device_are_refused) {
    arenaut_static_program *p = NULL;
    arenaut_error err = {0};
    static const char text[] =
        "{\"schema\": \"arenaut.program/1\", \"tensors\": ["
        "{\"name\": \"x\", \"bytes\": 64, \"given\": {\"pool\": 0, \"offset\": 0}},"
        "{\"name\": \"y\", \"bytes\": 64, \"device\": 1, \"given\": {\"pool\": 0, \"offset\": "
        "64}}],"
        "\"inputs\": [\"x\"], \"outputs\": [\"y\"],"
        "\"ops\": [{\"name\": \"f\", \"inputs\": [\"x\"], \"outputs\": [\"y\"]}]}";
    assert_int_equal(read_plan(text, &p, &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "memory 0 lies on device 0.0 and on device 1.0"));
    assert_null(p);
}

static arenaut_status read_once(void *context, const arenaut_allocator *allocator) {
    const bytes *file = context;
    arenaut_static_program *p = NULL;
    const arenaut_status status =
        arenaut_static_program_read(file->data, file->size, allocator, &p, NULL);
    assert_int_equal(p != NULL, status == ARENAUT_OK);
    arenaut_static_program_free(p);
    return status;
}

TEST(making_a_static_program_survives_running_out_of_memory) {
    bytes json = copy_bytes(plan_json, sizeof plan_json - 1),
          model = read_bytes(TEST_DATA "/pte/two_methods.pte");
    survives_every_allocation_failure(read_once, &json);
    survives_every_allocation_failure(read_once, &model);
    free_bytes(&json);
    free_bytes(&model);
}

static arenaut_status place_once(void *context, const arenaut_allocator *allocator) {
    arenaut_iteration_planner planner = {.allocator = allocator};
    const arenaut_placing *placing = context;
    return arenaut_iteration_place(&planner, placing);
}

TEST(placing_for_an_iteration_survives_running_out_of_memory) {
    const size_t size[] = {64, 128, 64};
    const uint32_t first[] = {0, 1, 2}, last[] = {1, 2, UINT32_MAX},
                   over[] = {ARENAUT_NO_VALUE, 0, 1};
    size_t offset[3], arena;
    const size_t before[] = {64, 0, 0};
    for (int again = 0; again < 2; again++) {
        arenaut_placing placing = {
            3, size, first, last, over, 64, offset, &arena, again ? before : NULL};
        survives_every_allocation_failure(place_once, &placing);
        assert_int_equal(arena, 128);
    }
}
