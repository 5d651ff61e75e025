/* Static programs from plans: of a result that was just planned, or of a file that holds one. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/check.h>
#include <arenaut/format.h>
#include <arenaut/runtime_plan.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"

/* Everything of a static program lives in one region, so that freeing it is one call. */
typedef struct owned_program {
    arenaut_static_program program;
    arn_region region;
} owned_program;

typedef struct builder {
    owned_program *owned;
    arenaut_pool_need *pool;
    arenaut_place *place;
    arenaut_static_method *method;
    arenaut_pool_device *device; /* room for one of each pool */
    arenaut_error *err;
} builder;

static arenaut_status start(builder *b, uint32_t n_pools, uint32_t n_places, uint32_t n_methods,
                            const arenaut_allocator *allocator, arenaut_error *err) {
    arn_region region;
    arn_region_init(&region, allocator);
    *b = (builder){.err = err};
    if (!ARN_REGION_ARRAYS(&region, ARN_ARRAY(b->owned, 1), ARN_ARRAY(b->pool, n_pools),
                           ARN_ARRAY(b->place, n_places), ARN_ARRAY(b->method, n_methods),
                           ARN_ARRAY(b->device, n_pools))) {
        arn_region_free(&region);
        return arn_no_memory(err);
    }
    *b->owned = (owned_program){.program = {.n_pools = n_pools,
                                            .n_places = n_places,
                                            .n_methods = n_methods,
                                            .pool = b->pool,
                                            .place = b->place,
                                            .method = b->method,
                                            .device = b->device},
                                .region = region};
    for (uint32_t i = 0; i < n_pools; i++) b->pool[i] = (arenaut_pool_need){0, 1};
    for (uint32_t i = 0; i < n_places; i++) b->place[i] = (arenaut_place){0, 0, ARENAUT_NO_POOL};
    return ARENAUT_OK;
}

static arenaut_status finish(builder *b, arenaut_status status, arenaut_static_program **out) {
    if (status == ARENAUT_OK) *out = &b->owned->program;
    else arenaut_static_program_free(&b->owned->program);
    return status;
}

static arenaut_status too_large(builder *b, const char *what, uint64_t bytes) {
    return arn_fail(b->err, ARENAUT_TOO_LARGE, 0,
                    "a %s that ends at byte %" PRIu64 " cannot be addressed", what, bytes);
}

static arenaut_status need_pool(builder *b, uint32_t pool, uint64_t bytes, uint64_t align) {
    arenaut_pool_need *need = &b->pool[pool];
    if (bytes > SIZE_MAX || align > SIZE_MAX) return too_large(b, "pool", bytes);
    if (bytes > need->bytes) need->bytes = (size_t)bytes;
    if (align > need->align) need->align = (size_t)align;
    return ARENAUT_OK;
}

/* The table of devices is sparse and rises: pools come in their order. */
static void put_device(builder *b, uint32_t pool, arenaut_device device) {
    if (device.type == ARENAUT_DEVICE_HOST && device.index == 0) return;
    b->device[b->owned->program.n_devices++] = (arenaut_pool_device){pool, device};
}

static arenaut_status put_place(builder *b, uint32_t place, uint32_t pool, uint64_t offset,
                                uint64_t bytes) {
    uint64_t end;
    if (!arn_add(offset, bytes, &end) || end > SIZE_MAX) return too_large(b, "place", offset);
    b->place[place] = (arenaut_place){(size_t)offset, (size_t)bytes, pool};
    return ARENAUT_OK;
}

/* Methods of a program: names and lists are copied, since the program may be freed first. */
static arenaut_status copy_methods(builder *b, const arenaut_program *program) {
    arn_region *region = &b->owned->region;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *from = &program->methods[m];
        uint32_t *inputs = arn_region_allocate(region, from->n_inputs, sizeof *inputs);
        uint32_t *outputs = arn_region_allocate(region, from->n_outputs, sizeof *outputs);
        const char *name =
            from->name ? arn_region_copy_text(region, from->name, strlen(from->name)) : NULL;
        if (!inputs || !outputs || (from->name && !name)) return arn_no_memory(b->err);
        for (uint32_t i = 0; i < from->n_inputs; i++) inputs[i] = from->inputs[i];
        for (uint32_t i = 0; i < from->n_outputs; i++) outputs[i] = from->outputs[i];
        b->method[m] =
            (arenaut_static_method){name, from->n_inputs, from->n_outputs, inputs, outputs};
    }
    return ARENAUT_OK;
}

/* Where the plan of a result puts its program's tensors. */
static arenaut_status place_tensors(builder *b, const arenaut_result *result) {
    const arenaut_lowering *lowering = result->lowering;
    arenaut_status status = ARENAUT_OK;
    for (uint32_t t = 0; t < lowering->n_tensors && status == ARENAUT_OK; t++) {
        const uint32_t buffer = lowering->buffer[t];
        if (buffer == ARENAUT_NONE || result->plan->pool[buffer] == ARENAUT_NONE) continue;
        status = put_place(b, t, result->plan->pool[buffer],
                           result->plan->offset[buffer] + lowering->offset[t],
                           result->program->tensors[t].bytes);
    }
    return status;
}

/* The buffers of one method and class, as the list of arguments that they stand for. */
static arenaut_status list_buffers(builder *b, const arenaut_problem *problem, uint32_t method,
                                   arenaut_class cls, uint32_t *count, const uint32_t **list) {
    uint32_t n = 0, *ids = NULL;
    for (int fill = 0; fill < 2; fill++) {
        n = 0;
        for (uint32_t i = 0; i < problem->n_buffers; i++) {
            const uint32_t of = problem->method ? problem->method[i] : ARENAUT_NONE;
            if (arenaut_problem_class(problem, i) != cls) continue;
            if (of != method && of != ARENAUT_NONE) continue;
            if (fill) ids[n] = i;
            n++;
        }
        if (!fill) ids = arn_region_allocate(&b->owned->region, n, sizeof *ids);
        if (!ids) return arn_no_memory(b->err);
    }
    *count = n;
    *list = ids;
    return ARENAUT_OK;
}

/* A bare problem: its buffers are the places, and their classes give their uses. */
static arenaut_status place_buffers(builder *b, const arenaut_result *result) {
    const arenaut_problem *problem = result->problem;
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < problem->n_buffers && status == ARENAUT_OK; i++) {
        if (result->plan->pool[i] == ARENAUT_NONE) continue;
        status = put_place(b, i, result->plan->pool[i], result->plan->offset[i], problem->size[i]);
    }
    for (uint32_t m = 0; m < b->owned->program.n_methods && status == ARENAUT_OK; m++) {
        arenaut_static_method *method = &b->method[m];
        const char *name = m < problem->n_methods ? problem->method_name[m] : NULL;
        if (name) method->name = arn_region_copy_text(&b->owned->region, name, strlen(name));
        if (name && !method->name) return arn_no_memory(b->err);
        status = list_buffers(b, problem, m, ARENAUT_INPUT, &method->n_inputs, &method->inputs);
        if (status == ARENAUT_OK)
            status =
                list_buffers(b, problem, m, ARENAUT_OUTPUT, &method->n_outputs, &method->outputs);
    }
    return status;
}

static arenaut_status need_pools(builder *b, const arenaut_result *result) {
    const arenaut_problem *problem = result->problem;
    const arenaut_plan *plan = result->plan;
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < plan->n_pools && status == ARENAUT_OK; i++) {
        status = need_pool(b, i, plan->arena[i], problem->pool[i].align);
        put_device(b, i, problem->pool[i].device);
    }
    for (uint32_t i = 0; i < problem->n_buffers && status == ARENAUT_OK; i++) {
        if (plan->pool[i] == ARENAUT_NONE) continue;
        status = need_pool(b, plan->pool[i], 0, arenaut_problem_align(problem, i));
    }
    return status;
}

arenaut_status arenaut_static_program_new(const arenaut_result *result,
                                          const arenaut_allocator *allocator,
                                          arenaut_static_program **out, arenaut_error *err) {
    const arenaut_program *program = result->lowering ? result->program : NULL;
    builder b;
    if (!result->plan || result->plan->quality == ARENAUT_INFEASIBLE)
        return arn_fail(err, ARENAUT_REFUSED, 0, "there is no plan to run");
    const uint32_t n_places = program ? program->n_tensors : result->problem->n_buffers;
    const uint32_t n_methods = program                      ? program->n_methods
                               : result->problem->n_methods ? result->problem->n_methods
                                                            : 1;
    arenaut_status status = start(&b, result->plan->n_pools, n_places, n_methods, allocator, err);
    if (status != ARENAUT_OK) return status;
    b.owned->program.fingerprint =
        program ? arn_program_fingerprint(program) : arenaut_problem_fingerprint(result->problem);
    status = need_pools(&b, result);
    if (status == ARENAUT_OK)
        status = program ? place_tensors(&b, result) : place_buffers(&b, result);
    if (status == ARENAUT_OK && program) status = copy_methods(&b, program);
    return finish(&b, status, out);
}

void arenaut_static_program_free(arenaut_static_program *program) {
    if (!program) return;
    arn_region region = ((owned_program *)program)->region; /* which it lies in itself */
    arn_region_free(&region);
}

/* Files. */

/* How many pools the methods of a program have: pool k of one is pool k of all. */
static uint32_t count_given_pools(const arenaut_program *program) {
    uint32_t n = 1;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        if (program->methods[m].n_given_pools > n) n = program->methods[m].n_given_pools;
    }
    return n;
}

static bool has_place(const arenaut_tensor *tensor) {
    return tensor->given_offset <= ARENAUT_SIZE_MAX;
}

static uint32_t given_pool(const arenaut_tensor *tensor) {
    return tensor->given_pool == ARENAUT_NONE ? 0 : tensor->given_pool;
}

/* The device of pool k: of memory k of every method, and of the places in it. */
typedef struct pool_device {
    arenaut_device device;
    bool known;
} pool_device;

static arenaut_status agree_on_device(builder *b, uint32_t pool, arenaut_device device,
                                      pool_device *found) {
    if (found->known && (found->device.type != device.type || found->device.index != device.index))
        return arn_fail(b->err, ARENAUT_BAD_INPUT, 0,
                        "memory %" PRIu32
                        " lies on device %u.%u and on device %u.%u: all methods "
                        "and all that lies in it must agree",
                        pool, (unsigned)found->device.type, (unsigned)found->device.index,
                        (unsigned)device.type, (unsigned)device.index);
    *found = (pool_device){device, true};
    return ARENAUT_OK;
}

static arenaut_status put_device_of(builder *b, const arenaut_program *program, uint32_t pool) {
    pool_device found = {{ARENAUT_DEVICE_HOST, 0}, false};
    arenaut_status status = ARENAUT_OK;
    for (uint32_t m = 0; m < program->n_methods && status == ARENAUT_OK; m++) {
        const arenaut_method *method = &program->methods[m];
        if (pool < method->n_given_pools)
            status = agree_on_device(b, pool, method->given_pools[pool].device, &found);
    }
    for (uint32_t t = 0; t < program->n_tensors && status == ARENAUT_OK; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        if (has_place(tensor) && given_pool(tensor) == pool)
            status = agree_on_device(b, pool, tensor->device, &found);
    }
    if (status == ARENAUT_OK) put_device(b, pool, found.device);
    return status;
}

/* Tensors where the file puts them; one whose place the file leaves to its runtime has none. */
static arenaut_status place_given(builder *b, const arenaut_program *program, uint64_t align) {
    const uint32_t n_pools = b->owned->program.n_pools;
    arenaut_status status = ARENAUT_OK;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        for (uint32_t k = 0; k < method->n_given_pools && status == ARENAUT_OK; k++)
            status = need_pool(b, k, method->given_pools[k].bytes, align);
    }
    for (uint32_t t = 0; t < program->n_tensors && status == ARENAUT_OK; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        const uint32_t pool = given_pool(tensor);
        if (!has_place(tensor)) continue;
        if (pool >= n_pools)
            return arn_fail(b->err, ARENAUT_BAD_INPUT, 0,
                            "tensor %" PRIu32 " lies in memory %" PRIu32 "; there are %" PRIu32, t,
                            pool, n_pools);
        status = put_place(b, t, pool, tensor->given_offset, tensor->bytes);
        if (status == ARENAUT_OK)
            status = need_pool(b, pool, tensor->given_offset + tensor->bytes, align);
    }
    return status;
}

static arenaut_status from_program(const arenaut_document *document,
                                   const arenaut_allocator *allocator, arenaut_static_program **out,
                                   arenaut_error *err) {
    const arenaut_program *program = document->program;
    const uint64_t align = arenaut_target_for_format(document->format->name)->align;
    uint32_t placed = 0;
    builder b;
    for (uint32_t t = 0; t < program->n_tensors; t++) placed += has_place(&program->tensors[t]);
    if (placed == 0)
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "the file holds no plan: its runtime plans at load");
    arenaut_status status = start(&b, count_given_pools(program), program->n_tensors,
                                  program->n_methods, allocator, err);
    if (status != ARENAUT_OK) return status;
    b.owned->program.fingerprint = arn_program_fingerprint(program);
    status = place_given(&b, program, align);
    for (uint32_t k = 0; k < b.owned->program.n_pools && status == ARENAUT_OK; k++)
        status = put_device_of(&b, program, k);
    if (status == ARENAUT_OK) status = copy_methods(&b, program);
    return finish(&b, status, out);
}

arenaut_status arenaut_static_program_read(const uint8_t *data, size_t size,
                                           const arenaut_allocator *allocator,
                                           arenaut_static_program **out, arenaut_error *err) {
    arenaut_document document;
    arenaut_status status = arenaut_read(data, size, NULL, NULL, allocator, &document, err);
    if (status != ARENAUT_OK) return status;
    if (document.program) {
        status = from_program(&document, allocator, out, err);
    } else if (document.plan) {
        arenaut_finding finding;
        const arenaut_result result = {.problem = document.problem, .plan = document.plan};
        status = arenaut_check_plan(document.problem, document.plan, allocator, &finding, err);
        if (status == ARENAUT_OK) status = arenaut_static_program_new(&result, allocator, out, err);
    } else {
        status = arn_fail(err, ARENAUT_REFUSED, 0, "the file holds a problem, and no plan for it");
    }
    arenaut_document_free(&document);
    return status;
}
