/* header: the plan as a C header: the bytes to reserve, and all places. It needs nothing but
 * <stdint.h> and compiles as C99 and as C++. Behind the runtime's runtime_program.h it also defines
 * the static program (header_program.c). */
#include "report/header_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/tensor_arena.h>
#include <arenaut/version.h>

#include "core/memory.h"
#include "ir/result.h"
#include "ops/ops.h"
#include "report/c_names.h"
#include "report/figures.h"
#include "report/label.h"

/* The ops that the micro runtime's resolver needs, for firmware that adds no others. */

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

/* The ops that the resolver of the micro runtime must know. */
static arenaut_status report_put_resolver(arn_writer *out, const arenaut_program *program,
                                          const char *upper, const arenaut_allocator *allocator,
                                          arenaut_error *err) {
    const char **kinds = arn_allocate(allocator, program->n_ops, sizeof *kinds);
    if (!kinds) return arn_no_memory(err);
    put_kinds(out, kinds, find_kinds(program, kinds), upper);
    arn_release(allocator, (void *)kinds);
    return ARENAUT_OK;
}

/* ---- the report ---- */

typedef struct header {
    const arenaut_result *result;
    arn_writer out;
    arn_c_name lower, upper; /* the model's name, as a prefix of everything */
    const char *type;        /* wide enough for every offset */
    const char *suffix;      /* of a literal of that type */
} header;

/* Whether the planned memory is a part of an arena in which the runtime itself lives, too. */
static bool is_head(const header *h) {
    return strcmp(arn_report_planned_name(h->result), "head") == 0;
}

static void put_opening(header *h) {
    const arenaut_plan *plan = h->result->plan;
    const bool unknown = h->result->scratch == ARENAUT_SCRATCH_UNKNOWN;
    arn_puts(&h->out, "/* Memory plan of ");
    arn_put_c_path(&h->out, h->result->path);
    arn_putf(&h->out, ", made by arenaut %s.\n * %s%s", arenaut_version(),
             is_head(h) ? "head " : "", arn_report_commas(plan->total).text);
    arn_putf(&h->out, " bytes, %s%s (bound %s)",
             plan->quality == ARENAUT_OPTIMAL ? "proven minimal"
             : unknown                        ? "without kernel scratch, which is unknown"
                                              : "not proven minimal",
             arn_report_kernels_label(h->result).text, arn_report_commas(plan->total_bound).text);
    if (h->result->baseline) {
        arn_putf(&h->out, "; %s needs %s", h->result->baseline->planner,
                 arn_report_commas(h->result->baseline->total).text);
    }
    const arenaut_given_ops ops = arenaut_result_ops(h->result);
    if (ops.tiles) {
        arn_puts(&h->out, ";\n * of ops that are tiled, in the model that is written with it");
    } else if (h->result->rewrite || ops.copied || ops.schedule) {
        arn_puts(&h->out,
                 ";\n * of ops in another schedule than the file's, which a model that is "
                 "written with it has");
    }
    if (ops.n_joined > 0) {
        arn_puts(&h->out, ";\n * with parts of joins that are written in place (--passes slices)");
    }
    const arn_label bits = arn_report_bits_label(h->result);
    if (bits.text[0]) arn_putf(&h->out, ";\n * %s", bits.text);
    arn_puts(&h->out,
             ".\n * Offsets count from the start of a pool, which must be aligned as "
             "its ..._ALIGN says. */\n");
    arn_putf(&h->out,
             "#ifndef %s_ARENAUT_PLAN_H\n#define %s_ARENAUT_PLAN_H\n\n#include <stdint.h>\n\n",
             h->upper.text, h->upper.text);
}

static void put_pool(header *h, uint32_t pool) {
    char name[80];
    const arenaut_problem *p = h->result->problem;
    if (p->n_pools == 1) {
        snprintf(name, sizeof name, "ARENA");
    } else {
        const char *own = p->pool[pool].name ? p->pool[pool].name : "pool";
        const arn_c_name id = arn_c_identifier(own, strlen(own), true);
        snprintf(name, sizeof name, "POOL_%" PRIu32 "_%.48s", pool, id.text);
    }
    arn_putf(&h->out, "#define %s_%s_BYTES %" PRIu64 "%s%s\n", h->upper.text, name,
             h->result->plan->arena[pool], h->suffix,
             is_head(h) && p->n_pools == 1 ? " /* the head alone: not all of tensor_arena */" : "");
    arn_putf(&h->out, "#define %s_%s_ALIGN %" PRIu64 "%s\n", h->upper.text, name,
             arn_report_pool_alignment(h->result, pool), h->suffix);
}

static bool is_same_text(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

/* Whether a set before this one in the table has its macro. */
static bool is_listed(size_t index, const char *macro) {
    for (size_t i = 0; i < index; i++) {
        if (is_same_text(arenaut_kernel_set_at(i)->macro, macro)) return true;
    }
    return false;
}

/* Builds of the runtime with other kernels define a macro, which stops the compiler here: the name
 * of a folder of tflite-micro's kernels (OPTIMIZED_KERNEL_DIR), also of one that no set is about.
 * The build of a caller's own set is unknown. */
static void put_guard(header *h, const arenaut_kernel_set *kernels) {
    static const char *const folders[] = {"ARC_MLI", "CEVA", "HEXAGON", "RISCV_VECTOR", "XTENSA"};
    const arenaut_target *target = h->result->target;
    if (!target || !target->layout || arenaut_kernel_set_find(kernels->name) != kernels) return;
    arn_putf(&h->out, "#if !defined(%s_ANY_KERNELS) && \\\n    (", h->upper.text);
    for (size_t i = 0; i < arenaut_kernel_set_count(); i++) {
        const char *macro = arenaut_kernel_set_at(i)->macro;
        if (!macro || is_same_text(macro, kernels->macro) || is_listed(i, macro)) continue;
        arn_putf(&h->out, "defined(%s) || ", macro);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        arn_putf(&h->out, "%sdefined(%s)", i ? " || " : "", folders[i]);
    }
    arn_putf(&h->out,
             ")\n#error \"planned for the kernels '%s', but the build has others: plan with "
             "--kernels\"\n#endif\n",
             kernels->name);
}

/* If results overlap operands, the plan is right for these kernels and no others. */
static void put_kernels(header *h) {
    const arenaut_kernel_set *kernels = h->result->kernels;
    if (!kernels) return;
    const arn_c_name upper = arn_c_identifier(kernels->name, strlen(kernels->name), true);
    arn_putf(&h->out, "#define %s_KERNELS ", h->upper.text);
    arn_put_json_string(&h->out, kernels->name); /* letters and digits, so a C string as well */
    arn_putf(&h->out, "\n#define %s_KERNELS_%s 1\n", h->upper.text, upper.text);
    put_guard(h, kernels);
}

/* The same where head and tail are two memories, each rounded up to the alignment of both. */
static arenaut_status put_two_memories(header *h, const arenaut_allocator *allocator,
                                       arenaut_error *err) {
    const arenaut_result *r = h->result;
    const uint64_t align = r->target->align;
    arenaut_tensor_arena arena = {.apart = true};
    const arenaut_status st =
        arenaut_tensor_arena_add(r, r->plan->total, r->target, allocator, &arena, err);
    if (st != ARENAUT_OK) return st;
    const char *least = arena.exact ? "" : "_AT_LEAST";
    arn_putf(&h->out,
             "/* or in two memories, non-persistent and persistent */\n"
             "#define %s_HEAD_BYTES%s %" PRIu64 "%s\n#define %s_TAIL_BYTES%s %" PRIu64 "%s\n",
             h->upper.text, least, (arena.head + align - 1) / align * align, h->suffix,
             h->upper.text, least, (arena.tail + align - 1) / align * align, h->suffix);
    return ARENAUT_OK;
}

/* For a runtime that lives in the arena itself. */
static arenaut_status put_tensor_arena(header *h, const arenaut_allocator *allocator,
                                       arenaut_error *err) {
    const arenaut_result *r = h->result;
    arenaut_tensor_arena arena;
    if (!r->program || !r->target || !r->target->layout) return ARENAUT_OK;
    arenaut_status st =
        arenaut_tensor_arena_find(r, r->plan->total, r->target, allocator, &arena, err);
    if (st != ARENAUT_OK) return st;
    const arenaut_op_support support = arenaut_kernel_support_all(r->kernels, r->program, NULL);
    const bool refused = support == ARENAUT_OP_REFUSED || support == ARENAUT_OP_MISSING;
    arn_putf(&h->out, "/* %s: head %s, tail %s%s. */\n", r->target->name,
             arn_report_commas(arena.head).text, arn_report_commas(arena.tail).text,
             refused       ? "; its kernels do not take this model"
             : arena.exact ? ""
                           : ", and the kernels' scratch, which is unknown");
    arn_putf(&h->out, "#define %s_TENSOR_ARENA_BYTES%s %" PRIu64 "%s\n", h->upper.text,
             arena.exact ? "" : "_AT_LEAST", arena.total, h->suffix);
    st = put_two_memories(h, allocator, err);
    if (st != ARENAUT_OK) return st;
    return report_put_resolver(&h->out, r->program, h->upper.text, allocator, err);
}

/* The firmware's part: bytes to reserve, and their alignment. */
static void put_sizes(header *h) {
    const arenaut_problem *p = h->result->problem;
    if (p->n_pools > 1) {
        arn_putf(&h->out, "#define %s_ARENA_BYTES %" PRIu64 "%s /* all pools together%s */\n",
                 h->upper.text, h->result->plan->total, h->suffix,
                 is_head(h) ? ": the head alone, not all of tensor_arena" : "");
    }
    for (uint32_t i = 0; i < p->n_pools; i++) put_pool(h, i);
    put_kernels(h);
    arn_putf(&h->out, "#define %s_BUFFER_COUNT %" PRIu32 "u\n", h->upper.text, p->n_buffers);
    arn_putf(&h->out, "#define %s_NOT_IN_ARENA ((%s)-1)\n", h->upper.text, h->type);
}

/* One column of the buffers, `value` of each. */
static void put_column(header *h, const char *type, const char *name,
                       uint64_t (*value)(const header *, uint32_t), bool with_names) {
    const arenaut_problem *p = h->result->problem;
    const char *suffix = type == h->type ? h->suffix : "u";
    if (p->n_buffers == 0) return; /* C has no empty arrays */
    arn_putf(&h->out, "\nstatic const %s %s_%s[%" PRIu32 "] = {\n", type, h->lower.text, name,
             p->n_buffers);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        arn_putf(&h->out, "    %" PRIu64 "%s,", value(h, b), suffix);
        if (with_names) {
            char store[24];
            arn_putf(&h->out, " /* %" PRIu32 " ", b);
            arn_put_c_comment(&h->out, arenaut_problem_buffer_name(p, b, store));
            arn_puts(&h->out, " */");
        }
        arn_puts(&h->out, "\n");
    }
    arn_puts(&h->out, "};\n");
}

/* The columns. */
static uint64_t offset_of(const header *h, uint32_t b) { return h->result->plan->offset[b]; }
static uint64_t size_of(const header *h, uint32_t b) { return h->result->problem->size[b]; }
static uint64_t pool_of(const header *h, uint32_t b) {
    const uint32_t pool = h->result->plan->pool[b];
    return pool == ARENAUT_NONE ? 255 : pool; /* at most 64 pools */
}

/* The offset of a tensor in its pool; false if it is not in one. */
static bool tensor_offset(const header *h, uint32_t tensor, uint64_t *offset) {
    uint32_t pool;
    return arn_report_tensor_place(h->result, tensor, &pool, offset);
}

/* Places of inputs and outputs, without searching a table. */
static void put_arguments(header *h, const arn_c_name *method, const char *kind,
                          const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        uint64_t offset;
        if (tensors[i] == ARENAUT_NONE || !tensor_offset(h, tensors[i], &offset)) continue;
        arn_putf(&h->out, "#define %s_%s_%s_%" PRIu32 "_OFFSET %" PRIu64 "%s\n", h->upper.text,
                 method->text, kind, i, offset, h->suffix);
        arn_putf(&h->out, "#define %s_%s_%s_%" PRIu32 "_BYTES %" PRIu64 "%s\n", h->upper.text,
                 method->text, kind, i, h->result->program->tensors[tensors[i]].bytes, h->suffix);
    }
}

/* A table with one entry per tensor of the method, in the order of the model file. */
static void put_tensor_table(header *h, uint32_t method, const arn_c_name *name) {
    const arenaut_program *p = h->result->program;
    uint32_t count = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].method != method || p->tensors[t].cls == ARENAUT_SCRATCH) continue;
        if (count++ == 0) {
            arn_putf(&h->out, "\nstatic const %s %s_%s_tensor_offset[] = {\n", h->type,
                     h->lower.text, name->text);
        }
        uint64_t offset;
        if (tensor_offset(h, t, &offset))
            arn_putf(&h->out, "    %" PRIu64 "%s,", offset, h->suffix);
        else arn_putf(&h->out, "    %s_NOT_IN_ARENA,", h->upper.text);
        char store[24];
        arn_putf(&h->out, " /* %" PRIu32 " ", p->tensors[t].file_index);
        arn_put_c_comment(&h->out, arenaut_program_tensor_name(p, t, store));
        arn_puts(&h->out, " */\n");
    }
    if (count) arn_puts(&h->out, "};\n");
}

/* Methods are told apart by number: their names may be equal once they are identifiers. */
static arn_c_name method_identifier(const header *h, uint32_t method, bool upper) {
    const char *name = h->result->program->methods[method].name;
    arn_c_name id = arn_c_identifier(name ? name : "", name ? strlen(name) : 0, upper);
    if (!name) snprintf(id.text, sizeof id.text, upper ? "METHOD" : "method");
    for (uint32_t m = 0; m < h->result->program->n_methods; m++) {
        if (m == method) continue;
        const char *other = h->result->program->methods[m].name;
        const arn_c_name same =
            arn_c_identifier(other ? other : "", other ? strlen(other) : 0, upper);
        if (other && name && strcmp(same.text, id.text) != 0) continue;
        const size_t n = strlen(id.text);
        snprintf(id.text + n, sizeof id.text - n, "_%" PRIu32, method);
        break;
    }
    return id;
}

static void put_methods(header *h) {
    const arenaut_program *p = h->result->program;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        const arn_c_name upper = method_identifier(h, m, true),
                         lower = method_identifier(h, m, false);
        arn_puts(&h->out, "\n/* Method ");
        arn_put_c_comment(&h->out, method->name ? method->name : "(unnamed)");
        arn_puts(&h->out, ". */\n");
        put_arguments(h, &upper, "INPUT", method->inputs, method->n_inputs);
        put_arguments(h, &upper, "OUTPUT", method->outputs, method->n_outputs);
        put_tensor_table(h, m, &lower);
    }
}

static arenaut_status emit(const arenaut_result *result, const arenaut_report_options *options,
                           arenaut_sink sink, const arenaut_allocator *allocator,
                           arenaut_error *err) {
    header h = {.result = result, .out = arn_writer_to(sink), .type = "uint32_t", .suffix = "u"};
    (void)options;
    bool wide = result->plan->total >= UINT32_MAX;
    for (uint32_t b = 0; b < result->problem->n_buffers; b++) {
        if (result->problem->size[b] >= UINT32_MAX) wide = true;
    }
    if (wide) {
        h.type = "uint64_t";
        h.suffix = "ull";
    }
    h.lower = arn_c_name_of_path(result->path, false);
    h.upper = arn_c_name_of_path(result->path, true);
    put_opening(&h);
    put_sizes(&h);
    const arenaut_status st = put_tensor_arena(&h, allocator, err);
    if (st != ARENAUT_OK) return st;
    put_column(&h, h.type, "buffer_offset", offset_of, true);
    put_column(&h, h.type, "buffer_bytes", size_of, false);
    if (result->problem->n_pools > 1) put_column(&h, "uint8_t", "buffer_pool", pool_of, false);
    if (result->lowering) put_methods(&h);
    arn_report_put_program(&h.out, result, h.lower.text, h.upper.text);
    arn_puts(&h.out, "\n#endif\n");
    return arn_writer_finish(&h.out, err);
}

extern const arenaut_report arn_report_header;
const arenaut_report arn_report_header = {
    .name = "header",
    .summary = "a C header with sizes and offsets",
    .extension = ".h",
    .needs_plan = true,
    .emit = emit,
};
