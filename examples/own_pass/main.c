/* A pass and a planner of a caller's own, in the stages of which arenaut_pipeline_run is made:
 *
 *     file  ─ arenaut_read ─►  program  ─ arenaut_passes_run ─►  program  ─ arenaut_lower ─►
 *     problem  ─ arenaut_plan_make ─►  plan  ─ arenaut_check_plan, arenaut_check_replay
 *
 * The pass has the storages of all convolutions' results begin at multiples of 64, as an engine for
 * them might need. The planner reuses nothing. Its plan and that of `auto` are checked alike.
 *
 *     cc -std=c11 -Iinclude examples/own_pass/main.c build/libarenaut.a -lpthread -ldl -o own_pass
 *     ./own_pass tests/data/resnet_int8.tflite */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/arenaut.h>

enum { ENGINE_ALIGN = 64, MOST_BYTES = 1 << 24 };

static arenaut_status align_convolutions(arenaut_program *p, const arenaut_pass_options *options,
                                         arenaut_error *err) {
    (void)options, (void)err;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (strcmp(p->ops[i].name, "CONV_2D") != 0) continue;
        arenaut_tensor *storage =
            &p->tensors[arenaut_program_storage(p, p->ops[i].outputs[0], NULL)];
        if (storage->align < ENGINE_ALIGN) storage->align = ENGINE_ALIGN;
    }
    return ARENAUT_OK;
}

/* Buffers one behind another. A buffer that needs no memory has none; a view of another one, or one
 * with a place of its own, would be a feature, which `handles` leaves out. */
static arenaut_status place_in_a_row(const arenaut_planner *self, arenaut_planning *planning) {
    (void)self;
    const arenaut_problem *p = planning->problem;
    uint64_t end = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        const uint64_t align = arenaut_problem_align(p, b);
        planning->plan->pool[b] = 0;
        planning->plan->offset[b] = (end + align - 1) / align * align;
        end = planning->plan->offset[b] + p->size[b];
    }
    return ARENAUT_OK;
}

/* Plans, checks, and prints the arena. */
static arenaut_status plan_with(const arenaut_planner *custom, const arenaut_program *program,
                                const arenaut_lowering *lowering, arenaut_error *err) {
    const arenaut_plan_options options = {.custom = custom};
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_status st = arenaut_plan_make(lowering->problem, &options, NULL, &plan, err);
    if (st == ARENAUT_OK) st = arenaut_check_plan(lowering->problem, plan, NULL, &finding, err);
    uint32_t *pool = malloc(program->n_tensors * sizeof *pool);
    uint64_t *offset = malloc(program->n_tensors * sizeof *offset);
    if (st == ARENAUT_OK && !(pool && offset)) st = ARENAUT_NO_MEMORY;
    for (uint32_t t = 0; t < program->n_tensors && st == ARENAUT_OK; t++) {
        const uint32_t b = lowering->buffer[t];
        pool[t] = b == ARENAUT_NONE ? ARENAUT_NONE : plan->pool[b];
        offset[t] = b == ARENAUT_NONE ? 0 : plan->offset[b] + lowering->offset[t];
    }
    if (st == ARENAUT_OK) {
        const arenaut_placement placement = {program->n_tensors, plan->n_pools, pool, offset,
                                             plan->arena};
        st = arenaut_check_replay(program, &placement, NULL, NULL, &finding, err);
    }
    if (st == ARENAUT_OK) printf("%-8s %8" PRIu64 " bytes\n", plan->planner, plan->total);
    free(pool);
    free(offset);
    arenaut_plan_free(plan);
    return st;
}

static const arenaut_planner in_a_row = {.name = "row",
                                         .summary = "no reuse",
                                         .handles = ARENAUT_FEATURE_ALIGNMENT,
                                         .run = place_in_a_row};

static arenaut_status run(const unsigned char *data, size_t size, arenaut_error *err) {
    const arenaut_pass pass = {
        .name = "align", .summary = "for the engine", .run = align_convolutions};
    const arenaut_pass *own[] = {&pass};
    arenaut_document document = {0};
    arenaut_lowering *lowering = NULL;
    arenaut_status st = arenaut_read(data, size, NULL, NULL, NULL, &document, err);
    if (st == ARENAUT_OK && !document.program) st = ARENAUT_UNSUPPORTED;
    if (st == ARENAUT_OK) {
        const arenaut_target *target = arenaut_target_for_format(document.format->name);
        const arenaut_pass_options options = {.target = target, .user = own, .n_user = 1};
        st = arenaut_passes_run(document.program, "user", &options, NULL, NULL, err);
        if (st == ARENAUT_OK) {
            st = arenaut_lower(document.program, target, NULL, NULL, &lowering, err);
        }
    }
    if (st == ARENAUT_OK) st = plan_with(&in_a_row, document.program, lowering, err);
    if (st == ARENAUT_OK) st = plan_with(NULL, document.program, lowering, err);
    arenaut_lowering_free(lowering);
    arenaut_document_free(&document);
    return st;
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: own_pass MODEL.tflite\n");
        return 2;
    }
    unsigned char *data = malloc(MOST_BYTES);
    const size_t size = data ? fread(data, 1, MOST_BYTES, file) : 0;
    fclose(file);
    arenaut_error err = {0};
    const arenaut_status st = run(data, size, &err);
    if (st != ARENAUT_OK) fprintf(stderr, "%s: %s\n", arenaut_status_text(st), err.msg);
    free(data);
    return st == ARENAUT_OK ? 0 : 1;
}
