/* Memory in words: the memories that a file states, and the tail of tensor_arena. */
#include <inttypes.h>
#include <stdlib.h>

#include "describe.h"
#include "tool.h"

/* The table of a file's memories: a row for each that a method states, with its size now and with
 * the plan in the file. The sizes are found by src/stages/file_memories.c. */

/* "forward, memory 1". */
static void describe_memory(const arenaut_pipeline *p, const arenaut_memory *memory,
                            arenaut_text *out) {
    const char *name = p->document.program->methods[memory->method].name;
    if (name) text_put_clean(out, shortened(name).text);
    else text_printf(out, "method %" PRIu32, memory->method);
    text_printf(out, ", memory %" PRIu32, memory->id + 1);
    if (memory->device.type || memory->device.index) {
        text_printf(out, " (device %u.%u)", (unsigned)memory->device.type,
                    (unsigned)memory->device.index);
    }
}

void put_memories(const arenaut_pipeline *p, const char *indent, arenaut_text *out) {
    const arenaut_memories *list = &p->memories;
    text_table table;
    table_begin(&table, "llrrrrr");
    for (size_t i = 0; i < list->n; i++) {
        const arenaut_memory *row = &list->rows[i];
        arenaut_text what = {0};
        describe_memory(p, row, &what);
        table_cellf(&table, "%s%-9s", indent, i ? "" : "memories");
        table_cell(&table, what.bytes);
        table_cell(&table, "now");
        table_cell(&table, with_commas(row->now).text);
        table_cell(&table, list->sized ? "planned" : "");
        table_cell(&table, list->sized ? with_commas(row->planned).text : "");
        table_cell(&table, list->sized && row->now && row->planned != row->now
                               ? change_percent(row->now, row->planned).text
                               : "");
        arenaut_text_free(&what);
    }
    table_end(&table, out, "", "");
}

/* Copies between the memories of a plan: ops that read one memory and write another on another
 * device. Methods count once each, whatever calls them, and so do loops. */

typedef struct copies {
    uint32_t n;
    uint64_t bytes; /* of the results */
} copies;

/* The memory that a tensor lies in; NULL: it is not planned. */
static const arenaut_pool *memory_of(const arenaut_pipeline *p, uint32_t tensor) {
    const uint32_t buffer =
        tensor < p->lowering->n_tensors ? p->lowering->buffer[tensor] : ARENAUT_NONE;
    const uint32_t pool = buffer == ARENAUT_NONE ? ARENAUT_NONE : p->plan->pool[buffer];
    return pool < p->problem->n_pools ? &p->problem->pool[pool] : NULL;
}

static bool comes_from_elsewhere(const arenaut_pipeline *p, const arenaut_op *op,
                                 const arenaut_pool *to) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arenaut_pool *from = memory_of(p, op->inputs[i]);
        if (from &&
            (from->device.type != to->device.type || from->device.index != to->device.index))
            return true;
    }
    return false;
}

static copies count_copies(const arenaut_pipeline *p) {
    copies found = {0};
    const arenaut_program *program = p->lowering ? p->document.program : NULL;
    for (uint32_t i = 0; program && p->plan && i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        bool copied = false;
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const arenaut_pool *to = memory_of(p, op->outputs[k]);
            if (!to || !comes_from_elsewhere(p, op, to)) continue;
            copied = true;
            found.bytes += program->tensors[op->outputs[k]].bytes;
        }
        found.n += copied;
    }
    return found;
}

void describe_copies(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    const copies found = count_copies(p);
    if (found.n == 0) return;
    text_printf(out, "%s%" PRIu32 " op%s from one device to another: %s bytes\n", head, found.n,
                found.n == 1 ? "" : "s", with_commas(found.bytes).text);
}

void put_copies_json(const arenaut_pipeline *p, arenaut_text *out) {
    const copies found = count_copies(p);
    if (found.n == 0) return;
    text_printf(out, ",\n  \"copies\": {\"ops\": %" PRIu32 ", \"bytes\": ", found.n);
    text_put_json_u64(out, found.bytes);
    text_put(out, "}");
}

/* The tail of tensor_arena: data that the interpreter keeps as long as it lives, by the kind of
 * struct and by op, as the library counts it. */

typedef struct numbered_tail {
    uint32_t op;
    uint64_t sum;
    arenaut_op_tail tail;
} numbered_tail;

/* The largest first; of equals the first. */
static int by_sum(const void *pa, const void *pb) {
    const numbered_tail *a = pa, *b = pb;
    if (a->sum != b->sum) return a->sum < b->sum ? 1 : -1;
    return (a->op > b->op) - (a->op < b->op);
}

static numbered_tail *list_ops(const arenaut_pipeline *p) {
    const uint32_t n = p->document.program->n_ops;
    numbered_tail *ops = must_allocate(n + (size_t)1, sizeof *ops);
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_op_tail tail = arenaut_op_tail_find(&p->result, p->target, i);
        ops[i] = (numbered_tail){i, tail.node + tail.options + tail.kernel, tail};
    }
    return ops;
}

/* "31 structs of 32 bytes", where a kind has structs of one size. */
static void put_count(const arenaut_pipeline *p, arenaut_tail_kind kind, uint64_t bytes,
                      text_table *table) {
    const arenaut_arena_layout *l = p->target->layout;
    const uint32_t each = kind == ARENAUT_TAIL_TENSORS ? l->tensor
                          : kind == ARENAUT_TAIL_NODES ? l->op
                                                       : 0;
    if (each)
        table_cellf(table, "%" PRIu64 " struct%s of %" PRIu32 " bytes", bytes / each,
                    bytes == each ? "" : "s", each);
    else table_cell(table, "");
}

static void put_part(const char *name, uint64_t bytes, uint64_t whole, text_table *table) {
    table_cellf(table, "    %s", name);
    table_cell(table, with_commas(bytes).text);
    table_cell(table, tenths_percent(bytes, whole).text);
}

static void put_parts(const arenaut_pipeline *p, const arenaut_tensor_arena *arena,
                      arenaut_text *out) {
    text_table table;
    table_begin(&table, "lrrl");
    for (int k = 0; k < ARENAUT_TAIL_KINDS; k++) {
        const arenaut_tail_kind kind = (arenaut_tail_kind)k;
        if (arena->part[k] == 0) continue;
        put_part(arenaut_tail_kind_name(kind), arena->part[k], arena->tail, &table);
        put_count(p, kind, arena->part[k], &table);
    }
    put_part("padding", arena->padding, arena->tail, &table);
    table_cell(&table, "");
    table_end(&table, out, "", "");
}

static void put_ops(const arenaut_pipeline *p, bool all, arenaut_text *out) {
    enum { SHOWN = 5 };
    const arenaut_program *program = p->document.program;
    numbered_tail *ops = list_ops(p);
    text_table table;
    qsort(ops, program->n_ops, sizeof *ops, by_sum);
    table_begin(&table, "lrrrr");
    table_cell(&table, "  by op");
    table_cell(&table, "node");
    table_cell(&table, "options");
    table_cell(&table, "kernel data");
    table_cell(&table, "bytes");
    for (uint32_t i = 0; i < program->n_ops && (all || i < SHOWN); i++) {
        const numbered_tail *o = &ops[i];
        const arenaut_op *op = &program->ops[o->op];
        arenaut_text name = {0};
        text_printf(&name, "    op %" PRIu32 " ", o->op - program->methods[op->method].first_op);
        text_put_clean(&name, op->name ? op->name : "");
        table_cell(&table, name.bytes);
        table_cell(&table, with_commas(o->tail.node).text);
        table_cell(&table, with_commas(o->tail.options).text);
        table_cell(&table, o->tail.known ? with_commas(o->tail.kernel).text : "unknown");
        table_cellf(&table, "%s%s", o->tail.known ? "" : ">= ", with_commas(o->sum).text);
        arenaut_text_free(&name);
    }
    table_end(&table, out, "", "");
    if (!all && program->n_ops > SHOWN) {
        text_printf(out, "    and %" PRIu32 " more ops; -v shows all\n", program->n_ops - SHOWN);
    }
    free(ops);
}

static uint64_t channel_bytes(const arenaut_pipeline *p) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->document.program->n_ops; i++) {
        sum += arenaut_op_tail_find(&p->result, p->target, i).channels;
    }
    return sum;
}

/* How much each gives depends on the model that comes of it. */
static void put_lower(const arenaut_pipeline *p, arenaut_text *out) {
    const uint64_t channels = channel_bytes(p);
    text_put(out,
             "  smaller with fewer ops (activations fused, no RESHAPE before FULLY_CONNECTED)");
    if (channels > 0) {
        text_printf(out,
                    ", and with fewer\n  channels: %s bytes are the multiplier and shift of each "
                    "channel that convolutions make",
                    with_commas(channels).text);
    }
    text_put(out, "\n  in another memory: --pool head=SIZE --pool tail=SIZE\n");
}

exit_code describe_tail(const tool_job *job, bool all, arenaut_text *out) {
    const arenaut_pipeline *p = job->pipeline;
    arenaut_tensor_arena arena;
    if (!has_whole_arena(job) || p->plan->quality == ARENAUT_INFEASIBLE) return EXIT_FINE;
    const exit_code code = find_whole_arena(job, p->figures.planned, &arena);
    if (code != EXIT_FINE) return code;
    text_printf(out,
                "\ntail   %s%s bytes, kept as long as the interpreter; places of tensors do not "
                "change it\n",
                arena.exact ? "" : "at least ", with_commas(arena.tail).text);
    put_parts(p, &arena, out);
    put_ops(p, all, out);
    put_lower(p, out);
    return EXIT_FINE;
}

void put_json_tail_parts(const arenaut_tensor_arena *arena, arenaut_text *out) {
    text_put(out, "{");
    for (int k = 0; k < ARENAUT_TAIL_KINDS; k++) {
        text_put_json(out, arenaut_tail_kind_name((arenaut_tail_kind)k));
        text_put(out, ": ");
        text_put_json_u64(out, arena->part[k]);
        text_put(out, ", ");
    }
    text_put(out, "\"padding\": ");
    text_put_json_u64(out, arena->padding);
    text_put(out, "}");
}

exit_code put_json_tail(const tool_job *job, arenaut_text *out) {
    const arenaut_pipeline *p = job->pipeline;
    arenaut_tensor_arena arena;
    if (!has_whole_arena(job) || p->plan->quality == ARENAUT_INFEASIBLE) return EXIT_FINE;
    const exit_code code = find_whole_arena(job, p->figures.planned, &arena);
    if (code != EXIT_FINE) return code;
    const arenaut_program *program = p->document.program;
    numbered_tail *ops = list_ops(p);
    text_put(out, ",\n  \"tail\": {\"bytes\": ");
    text_put_json_u64(out, arena.tail);
    text_printf(out, ", \"exact\": %s, \"parts\": ", arena.exact ? "true" : "false");
    put_json_tail_parts(&arena, out);
    text_put(out, ", \"ops\": [");
    for (uint32_t i = 0; i < program->n_ops; i++) {
        text_printf(out, "%s\n    {\"op\": %" PRIu32 ", \"name\": ", i ? "," : "", i);
        text_put_json(out, program->ops[i].name);
        text_printf(out, ", \"node\": %" PRIu64 ", \"options\": %" PRIu64 ", \"kernel\": ",
                    ops[i].tail.node, ops[i].tail.options);
        if (ops[i].tail.known) text_put_json_u64(out, ops[i].tail.kernel);
        else text_put(out, "null");
        text_put(out, "}");
    }
    text_put(out, "]}");
    free(ops);
    return EXIT_FINE;
}
