/* scratch: kernel scratch of ops, as tensors that are alive at their op alone: the sizes of a side
 * file, else those of the kernel set. scratch_file.c reads the file; an op that a row is about must
 * exist. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <arenaut/pass.h>

#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"
#include "ir/store.h"
#include "kernels/kernel_set.h"
#include "passes/scratch.h"

static arenaut_status check_entry(const arenaut_program *p, const arenaut_scratch_entry *entry,
                                  size_t number, arenaut_error *err) {
    if (entry->method >= p->n_methods) {
        return arn_fail(err, ARENAUT_BAD_INPUT, number,
                        "scratch entry %zu: method %" PRIu32 " does not exist; there are %" PRIu32,
                        number, entry->method, p->n_methods);
    }
    const arenaut_method *method = &p->methods[entry->method];
    if (entry->op >= method->n_ops) {
        return arn_fail(err, ARENAUT_BAD_INPUT, number,
                        "scratch entry %zu: op %" PRIu32 " does not exist; method %" PRIu32
                        " ('%s') has %" PRIu32 " ops",
                        number, entry->op, entry->method, method->name ? method->name : "",
                        method->n_ops);
    }
    if (entry->bytes > ARENAUT_SIZE_MAX) {
        return arn_fail(err, ARENAUT_TOO_LARGE, number,
                        "scratch entry %zu: %" PRIu64 " bytes are past the largest, 2^63 - 1",
                        number, entry->bytes);
    }
    return ARENAUT_OK;
}

static uint32_t op_of(const arenaut_program *p, const arenaut_scratch_entry *entry) {
    return p->methods[entry->method].first_op + entry->op;
}

/* Entries, those of the caller first. */
typedef struct entry_list {
    arenaut_scratch_entry *entries;
    size_t n;
} entry_list;

/* Appends the kernels' requests for this op to the list. */
static void add_sizes(const arenaut_program *p, const arenaut_kernel_set *kernels, uint32_t method,
                      uint32_t op, entry_list *list) {
    arenaut_scratch_requests requests;
    const arenaut_op *asks = &p->ops[p->methods[method].first_op + op];
    if (asks->n_scratch || !arn_op_asks_for_scratch(p, asks, kernels)) return;
    if (arn_op_reads_compressed(p, asks)) return; /* how much more that takes is not known */
    if (!arn_kernel_scratch_sizes(kernels, p, asks, &requests)) return;
    for (uint32_t i = 0; i < requests.n; i++) {
        list->entries[list->n++] = (arenaut_scratch_entry){method, op, requests.bytes[i]};
    }
}

/* `listed` counts the caller's entries of each op. */
static arenaut_status gather(const arenaut_program *p, const arenaut_pass_options *options,
                             const uint32_t *listed, entry_list *list, arenaut_error *err) {
    enum { MOST = sizeof((arenaut_scratch_requests){0}).bytes / sizeof(uint64_t) };
    const arenaut_kernel_set *kernels =
        options->kernels ? options->kernels : options->target->kernels;
    const uint64_t room = options->n_scratch + (uint64_t)MOST * p->n_ops;
    list->entries = arn_allocate(arn_program_allocator(p), room, sizeof *list->entries);
    if (!list->entries) return arn_no_memory(err);
    list->n = options->n_scratch;
    if (list->n) memcpy(list->entries, options->scratch, list->n * sizeof *list->entries);
    for (uint32_t m = 0; m < p->n_methods && !options->only_this_scratch; m++) {
        for (uint32_t op = 0; op < p->methods[m].n_ops; op++) {
            if (listed[p->methods[m].first_op + op] == 0) add_sizes(p, kernels, m, op, list);
        }
    }
    return ARENAUT_OK;
}

/* A longer list for each op with requests; added[op] counts them, and is left 0. */
static arenaut_status grow_lists(arenaut_program *p, const entry_list *list, uint32_t *added,
                                 uint32_t **lists, arenaut_error *err) {
    memset(added, 0, p->n_ops * sizeof *added);
    for (size_t i = 0; i < list->n; i++) added[op_of(p, &list->entries[i])]++;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        if (added[op] == 0) continue;
        const uint64_t length = (uint64_t)p->ops[op].n_scratch + added[op];
        lists[op] = length < SIZE_MAX / sizeof **lists
                        ? arenaut_program_alloc(p, (size_t)length * sizeof **lists)
                        : NULL;
        if (!lists[op]) return arn_no_memory(err);
        if (p->ops[op].n_scratch) {
            memcpy(lists[op], p->ops[op].scratch, p->ops[op].n_scratch * sizeof **lists);
        }
        added[op] = 0;
    }
    return ARENAUT_OK;
}

static arenaut_status add_tensors(arenaut_program *p, const entry_list *list, uint32_t *added,
                                  uint32_t **lists, arenaut_error *err) {
    for (size_t i = 0; i < list->n; i++) {
        const arenaut_scratch_entry *entry = &list->entries[i];
        const uint32_t op = op_of(p, entry);
        char name[32];
        snprintf(name, sizeof name, "scratch%zu", i);
        arenaut_tensor tensor = arenaut_tensor_default();
        tensor.name = name;
        tensor.bytes = entry->bytes;
        tensor.cls = ARENAUT_SCRATCH;
        tensor.method = entry->method;
        uint32_t id;
        const arenaut_status st = arenaut_program_add_tensor(p, &tensor, &id, err);
        if (st != ARENAUT_OK) return st;
        lists[op][p->ops[op].n_scratch + added[op]++] = id;
    }
    return ARENAUT_OK;
}

static arenaut_status add_scratch(arenaut_program *p, const entry_list *list, uint32_t *added,
                                  arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    const uint32_t n_tensors = p->n_tensors;
    uint32_t **lists = arn_allocate_zeroed(allocator, p->n_ops, sizeof *lists);
    arenaut_status st = lists ? grow_lists(p, list, added, lists, err) : arn_no_memory(err);
    if (st == ARENAUT_OK) st = add_tensors(p, list, added, lists, err);
    for (uint32_t op = 0; op < p->n_ops && st == ARENAUT_OK; op++) {
        if (added[op] == 0) continue;
        p->ops[op].scratch = lists[op];
        p->ops[op].n_scratch += added[op];
    }
    if (st != ARENAUT_OK) p->n_tensors = n_tensors; /* as it was: no op names the new ones yet */
    arn_release(allocator, lists);
    return st;
}

static arenaut_status scratch_run(arenaut_program *p, const arenaut_pass_options *options,
                                  arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    entry_list list = {0};
    arenaut_status st = ARENAUT_OK;
    for (size_t i = 0; i < options->n_scratch && st == ARENAUT_OK; i++) {
        st = check_entry(p, &options->scratch[i], i, err);
    }
    if (st != ARENAUT_OK || p->n_ops == 0) return st;
    uint32_t *added = arn_allocate_zeroed(allocator, p->n_ops, sizeof *added);
    if (!added) return arn_no_memory(err);
    for (size_t i = 0; i < options->n_scratch; i++) added[op_of(p, &options->scratch[i])]++;
    st = gather(p, options, added, &list, err);
    if (st == ARENAUT_OK && list.n) st = add_scratch(p, &list, added, err);
    arn_release(allocator, list.entries);
    arn_release(allocator, added);
    return st;
}

extern const arenaut_pass arn_pass_scratch;
const arenaut_pass arn_pass_scratch = {
    .name = "scratch",
    .summary =
        "gives ops the kernel scratch that a file or the kernels' sizes state, to be planned with "
        "the rest",
    .by_default = true,
    .run = scratch_run,
};

uint32_t arn_find_outside(const arenaut_program *program, const arenaut_target *target) {
    for (uint32_t i = 0; i < program->n_ops && target->outside; i++) {
        const char *name = program->ops[i].name;
        for (const char *const *op = target->outside; name && *op; op++) {
            if (strcmp(name, *op) == 0) return i;
        }
    }
    return ARENAUT_NONE;
}

static bool is_listed(const arenaut_program *program, const arenaut_op *op,
                      const arenaut_kernel_set *kernels) {
    for (const arenaut_scratch_rule *rule = arenaut_kernel_scratch(kernels, op->name);
         rule && rule->op; rule++) {
        if (strcmp(rule->op, op->name) != 0) continue;
        if (rule->types == 0) return true;
        if (rule->input >= op->n_inputs || op->inputs[rule->input] == ARENAUT_NONE) continue;
        if (rule->types >> program->tensors[op->inputs[rule->input]].dtype & 1) return true;
    }
    return false;
}

bool arn_op_asks_for_scratch(const arenaut_program *program, const arenaut_op *op,
                             const arenaut_kernel_set *kernels) {
    arenaut_scratch_requests requests;
    if (arn_op_reads_compressed(program, op)) return true;
    if (!is_listed(program, op, kernels)) return false;
    return !arn_kernel_scratch_sizes(kernels, program, op, &requests) || requests.n > 0;
}

arenaut_scratch_knowledge arn_scratch_known(const arenaut_program *program,
                                            const arenaut_kernel_set *kernels,
                                            const arenaut_scratch_sizes *sizes) {
    const bool listed = sizes && sizes->known;
    bool given = listed;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        if (op->n_scratch > 0) {
            given = true;
        } else if (!listed && arn_op_asks_for_scratch(program, op, kernels)) {
            return ARENAUT_SCRATCH_UNKNOWN;
        }
    }
    return given ? ARENAUT_SCRATCH_GIVEN : ARENAUT_SCRATCH_NONE;
}
