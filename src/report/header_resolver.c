/* The ops that the micro runtime's resolver needs, for firmware that adds no others. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "ops/ops.h"
#include "report/c_names.h"
#include "report/header_report.h"

/* Ops that MicroMutableOpResolver of tflite-micro can add, custom ops of its own included. */
static const char *adder_of(const char *op) {
    const arn_op_row *row = arn_op_row_find(ARN_OPS_TFLITE, op);
    return row ? row->resolver : NULL;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The kinds of ops of the program, each once, in the order of their names. */
static uint32_t find_kinds(const arenaut_program *program, const char **kinds) {
    uint32_t n = 0, distinct = 0;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        if (program->ops[i].name) kinds[n++] = program->ops[i].name;
    }
    if (n > 0) qsort(kinds, n, sizeof *kinds, compare_texts);
    for (uint32_t i = 0; i < n; i++) {
        if (distinct == 0 || strcmp(kinds[i], kinds[distinct - 1]) != 0) {
            kinds[distinct++] = kinds[i];
        }
    }
    return distinct;
}

static void put_kinds(arn_writer *out, const char *const *kinds, uint32_t n, const char *upper) {
    uint32_t n_others = 0;
    arn_putf(out,
             "\n/* Room that the op resolver needs, and the calls that add each op to it. */\n");
    arn_putf(out, "#define %s_OP_KINDS %" PRIu32 "u\n#define %s_RESOLVER_OPS(OP)", upper, n, upper);
    for (uint32_t i = 0; i < n; i++) {
        const char *adds = adder_of(kinds[i]);
        if (adds) arn_putf(out, " \\\n    OP(%s)", adds);
        n_others += !adds;
    }
    arn_puts(out, "\n");
    if (n_others == 0) return;
    arn_puts(out, "/* Ops that it can only add as custom ones:");
    for (uint32_t i = 0; i < n; i++) {
        if (adder_of(kinds[i])) continue;
        arn_puts(out, " ");
        arn_put_c_comment(out, kinds[i]);
    }
    arn_puts(out, ". */\n");
}

arenaut_status arn_report_put_resolver(arn_writer *out, const arenaut_program *program,
                                       const char *upper, const arenaut_allocator *allocator,
                                       arenaut_error *err) {
    const char **kinds = arn_allocate(allocator, program->n_ops, sizeof *kinds);
    if (!kinds) return arn_no_memory(err);
    put_kinds(out, kinds, find_kinds(program, kinds), upper);
    arn_release(allocator, (void *)kinds);
    return ARENAUT_OK;
}
