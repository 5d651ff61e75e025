/* The part of the report "header" that the runtime takes (runtime_program.h): the plan as one
 * const struct. Its places are the program's tensors in their order or, of a bare problem,
 * the buffers. */
#include <inttypes.h>
#include <string.h>

#include "ir/program.h"
#include "report/header_report.h"

/* O(buffers). */
uint64_t arn_report_pool_alignment(const arenaut_result *result, uint32_t pool) {
    const arenaut_problem *p = result->problem;
    uint64_t align = p->pool[pool].align ? p->pool[pool].align : 1;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (result->plan->pool[b] != pool) continue;
        if (arenaut_problem_align(p, b) > align) align = arenaut_problem_align(p, b);
    }
    return align;
}

bool arn_report_tensor_place(const arenaut_result *result, uint32_t tensor, uint32_t *pool,
                             uint64_t *offset) {
    const arenaut_lowering *lowering = result->lowering;
    if (tensor >= lowering->n_tensors) return false;
    const uint32_t buffer = lowering->buffer[tensor];
    if (buffer == ARENAUT_NONE || result->plan->pool[buffer] == ARENAUT_NONE) return false;
    *pool = result->plan->pool[buffer];
    *offset = result->plan->offset[buffer] + lowering->offset[tensor];
    return true;
}

typedef struct printer {
    arn_writer *out;
    const arenaut_result *result;
    const char *lower;
    uint32_t n_methods;
} printer;

static void put_pools(const printer *p) {
    const arenaut_plan *plan = p->result->plan;
    arn_putf(p->out, "static const arenaut_pool_need %s_pools[] = {\n", p->lower);
    for (uint32_t i = 0; i < plan->n_pools; i++) {
        arn_putf(p->out, "    {%" PRIu64 "u, %" PRIu64 "u},\n", plan->arena[i],
                 arn_report_pool_alignment(p->result, i));
    }
    arn_puts(p->out, "};\n");
}

static void put_place(const printer *p, bool placed, uint32_t pool, uint64_t offset,
                      uint64_t bytes) {
    if (placed) {
        arn_putf(p->out, "    {%" PRIu64 "u, %" PRIu64 "u, %" PRIu32 "u},\n", offset, bytes, pool);
    } else {
        arn_puts(p->out, "    {0, 0, ARENAUT_NO_POOL},\n");
    }
}

/* The sparse table of pools elsewhere than on device 0 of the host; nothing at all where there
 * are none. Returns how many there are. */
static uint32_t put_devices(const printer *p) {
    const arenaut_problem *problem = p->result->problem;
    uint32_t n = 0;
    for (uint32_t i = 0; i < problem->n_pools; i++) {
        const arenaut_device device = problem->pool[i].device;
        if (device.type == ARENAUT_DEVICE_HOST && device.index == 0) continue;
        if (n++ == 0)
            arn_putf(p->out, "static const arenaut_pool_device %s_devices[] = {\n", p->lower);
        arn_putf(p->out, "    {%" PRIu32 "u, {%u, %u}},\n", i, (unsigned)device.type,
                 (unsigned)device.index);
    }
    if (n) arn_puts(p->out, "};\n");
    return n;
}

/* Returns how many there are. */
static uint32_t put_places(const printer *p) {
    const arenaut_result *r = p->result;
    const uint32_t n = r->lowering ? r->program->n_tensors : r->problem->n_buffers;
    if (n == 0) return 0; /* C has no empty arrays */
    arn_putf(p->out, "static const arenaut_place %s_places[] = {\n", p->lower);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pool = 0;
        uint64_t offset = 0;
        if (r->lowering) {
            const bool placed = arn_report_tensor_place(r, i, &pool, &offset);
            put_place(p, placed, pool, offset, r->program->tensors[i].bytes);
        } else {
            put_place(p, r->plan->pool[i] != ARENAUT_NONE, r->plan->pool[i], r->plan->offset[i],
                      r->problem->size[i]);
        }
    }
    arn_puts(p->out, "};\n");
    return n;
}

/* A list of places; one that is empty has no array. Absent tensors have a number past all others,
 * which the runtime refuses. */
static void put_list(const printer *p, uint32_t method, const char *what, const uint32_t *list,
                     uint32_t n) {
    if (n == 0) return;
    arn_putf(p->out, "static const uint32_t %s_%" PRIu32 "_%s[] = {", p->lower, method, what);
    for (uint32_t i = 0; i < n; i++) arn_putf(p->out, "%s%" PRIu32 "u", i ? ", " : "", list[i]);
    arn_puts(p->out, "};\n");
}

/* A name as a literal of C: characters with a meaning there become '_'. */
static void put_literal(const printer *p, const char *name) {
    if (!name) {
        arn_puts(p->out, "0");
        return;
    }
    arn_puts(p->out, "\"");
    for (; *name; name++) {
        const bool fine = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                          (*name >= '0' && *name <= '9') || strchr(" _-.:/()[]", *name);
        arn_put(p->out, fine ? name : "_", 1);
    }
    arn_puts(p->out, "\"");
}

/* Of an array that is only there if it is not empty. */
static void put_pointer(const printer *p, const char *what, bool there) {
    if (there) arn_putf(p->out, ", %s_%s", p->lower, what);
    else arn_puts(p->out, ", 0");
}

static void put_list_name(const printer *p, uint32_t method, const char *what, uint32_t n) {
    if (n) arn_putf(p->out, ", %s_%" PRIu32 "_%s", p->lower, method, what);
    else arn_puts(p->out, ", 0");
}

static void put_methods(const printer *p) {
    const arenaut_program *program = p->result->program;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        put_list(p, m, "inputs", method->inputs, method->n_inputs);
        put_list(p, m, "outputs", method->outputs, method->n_outputs);
    }
    if (p->n_methods == 0) return;
    arn_putf(p->out, "static const arenaut_static_method %s_methods[] = {\n", p->lower);
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        arn_puts(p->out, "    {");
        put_literal(p, method->name);
        arn_putf(p->out, ", %" PRIu32 "u, %" PRIu32 "u", method->n_inputs, method->n_outputs);
        put_list_name(p, m, "inputs", method->n_inputs);
        put_list_name(p, m, "outputs", method->n_outputs);
        arn_puts(p->out, "},\n");
    }
    arn_puts(p->out, "};\n");
}

void arn_report_put_program(arn_writer *out, const arenaut_result *result, const char *lower,
                            const char *upper) {
    const printer p = {out, result, lower, result->lowering ? result->program->n_methods : 0};
    const uint64_t fingerprint = result->lowering ? arn_program_fingerprint(result->program)
                                                  : arenaut_problem_fingerprint(result->problem);
    arn_putf(out, "\n#define %s_FINGERPRINT 0x%016" PRIX64 "ull\n", upper, fingerprint);
    arn_puts(out,
             "\n/* For the runtime, where its header was included before this one. */\n"
             "#ifdef ARENAUT_RUNTIME_PROGRAM_H\n");
    put_pools(&p);
    const uint32_t n_devices = put_devices(&p);
    const uint32_t n_places = put_places(&p);
    put_methods(&p);
    arn_putf(out, "static const arenaut_static_program %s_program = {\n    %s_FINGERPRINT", lower,
             upper);
    arn_putf(out, ", %" PRIu32 "u, %" PRIu32 "u, %" PRIu32 "u, %" PRIu32 "u", result->plan->n_pools,
             n_places, p.n_methods, n_devices);
    put_pointer(&p, "pools", true);
    put_pointer(&p, "places", n_places > 0);
    put_pointer(&p, "methods", p.n_methods > 0);
    put_pointer(&p, "devices", n_devices > 0);
    arn_puts(out, "};\n");
    arn_puts(out, "#endif\n");
}
