/* The tile groups that a caller asks for (arn_split): each checked, then the whole program in a
 * draft, and the program of that. O(ops of the new program × tiles). */
#include "rewrite/split/tile_groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/utf8.h"
#include "ir/program.h"
#include "rewrite/split/tiled_draft.h"

const char *arenaut_split_mode_name(arenaut_split_mode mode) {
    static const char *const names[] = {
#define XX(name, text) text,
        ARENAUT_SPLIT_MODE_MAP(XX)
#undef XX
    };
    return (unsigned)mode < ARENAUT_SPLIT_MODE_COUNT ? names[mode] : NULL;
}

bool arn_tile_groups_put(arn_draft *draft, const arenaut_split_stage *groups, uint32_t n_groups,
                         uint32_t *bad) {
    uint32_t op = 0;
    for (uint32_t s = 0; s < n_groups; s++) {
        while (op < groups[s].first_op) arn_draft_copy(draft, op++);
        *bad = s;
        if (arn_tile_by_channels(groups[s].mode)) arn_channel_tiles_put(draft, &groups[s]);
        else if (!arn_row_tiles_put(draft, &groups[s])) return false;
        op += groups[s].n_ops;
    }
    while (op < draft->graph->program->n_ops) arn_draft_copy(draft, op++);
    return !draft->failed;
}

static const char *refuse(const arn_tile_graph *graph, const arenaut_split_stage *group,
                          uint32_t from) {
    if (group->first_op < from) return "it begins within the group before it";
    if (group->pieces < 2) return "a group has at least 2 tiles";
    if ((unsigned)group->mode >= ARENAUT_SPLIT_MODE_COUNT) return "there is no such mode";
    return arn_tile_by_channels(group->mode) ? arn_channel_tiles_refuse(graph, group)
                                             : arn_row_tiles_refuse(graph, group);
}

static arenaut_status refused(const arenaut_split_stage *group, const char *why,
                              arenaut_error *err) {
    return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                    "ops %" PRIu32 " to %" PRIu32 " cannot be split so: %s", group->first_op,
                    group->first_op + group->n_ops - 1, why);
}

static bool are_ops(const arenaut_program *program, const arenaut_split_stage *group) {
    const uint32_t n = program->n_ops;
    return group->n_ops > 0 && group->first_op < n && group->n_ops <= n - group->first_op;
}

static arenaut_status refused_ops(const arenaut_program *program, const arenaut_split_stage *group,
                                  arenaut_error *err) {
    char why[64];
    snprintf(why, sizeof why, "the program has %" PRIu32 " ops, numbered from 0", program->n_ops);
    return refused(group, why, err);
}

static arenaut_status split(const arn_tile_graph *graph, const arenaut_split_stage *groups,
                            uint32_t n_groups, arenaut_rewrite **out, arenaut_error *err) {
    uint32_t from = 0, bad = 0;
    for (uint32_t s = 0; s < n_groups; s++) {
        if (!are_ops(graph->program, &groups[s])) {
            return refused_ops(graph->program, &groups[s], err);
        }
        const char *why = refuse(graph, &groups[s], from);
        if (why) return refused(&groups[s], why, err);
        from = groups[s].first_op + groups[s].n_ops;
    }
    arn_draft draft = arn_draft_begin(graph);
    arenaut_status st = ARENAUT_OK;
    if (arn_tile_groups_put(&draft, groups, n_groups, &bad)) {
        arn_draft_share_constants(&draft);
        st = arn_draft_finish(&draft, groups, n_groups, out, err);
    } else if (draft.failed) {
        st = arn_no_memory(err);
    } else {
        st = refused(&groups[bad], draft.refused, err);
    }
    arn_draft_free(&draft);
    return st;
}

arenaut_status arn_split(const arenaut_program *program, const arenaut_split_stage *groups,
                         uint32_t n_groups, bool rounding, const arenaut_allocator *allocator,
                         arenaut_rewrite **out, arenaut_error *err) {
    arn_tile_graph graph;
    arenaut_status st = arn_tile_graph_make(program, rounding, allocator, &graph, err);
    if (st != ARENAUT_OK) return st;
    st = split(&graph, groups, n_groups, out, err);
    arn_tile_graph_free(&graph);
    return st;
}

/* ---- the program of a draft ---- */

/* Numbers of tensors that are no longer used go to new ones first, so that
 * numbers from outside the ops, such as those of signatures, stay right. */

enum { NAME_LIMIT = 200 };

typedef struct making {
    const arn_draft *draft;
    const arenaut_program *before;
    arenaut_rewrite *made;
    uint32_t method;    /* at work */
    uint32_t n_tensors; /* of the new program */
    uint32_t n_main;    /* of its first method */
    uint32_t *number; /* per tensor of the draft, the old ones included: its number in the method at
                       * work; ARENAUT_NONE: none */
    uint32_t *new_there;           /* per tensor of the first method: the one of the draft */
    uint32_t *methods;             /* per call of the draft: the method that it calls */
    uint32_t *parts;               /* per tensor before: new ones named after it so far */
    uint32_t *ids;                 /* arguments of the op at work */
    arenaut_attribute *attributes; /* likewise */
    uint32_t n_constants;
    size_t n_arguments; /* of the ops so far */
    arenaut_error *err;
} making;

static void mark(uint8_t *used, const uint32_t *ids, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] != ARENAUT_NONE) used[ids[i]] = 1;
    }
}

static void mark_op(uint8_t *used, const arn_draft *draft, const arn_draft_op *op) {
    mark(used, draft->arguments + op->first, op->n_inputs + op->n_outputs);
}

/* Marks the tensors of the first method's ops. */
static void mark_main(uint8_t *used, const arn_draft *draft) {
    for (uint32_t i = 0; i < draft->n_ops; i++) {
        const arn_draft_call *call = arn_draft_call_at(draft, i);
        if (!call) {
            mark_op(used, draft, &draft->ops[i]);
            continue;
        }
        mark(used, draft->arguments + call->first, call->n_inputs + call->n_outputs);
        i += call->n_ops - 1;
    }
}

/* Numbers that the ops of the program before use, and those of the first method do not, go to new
 * tensors of that; `used`: used by these ops. */
static void number_main(making *m, const uint8_t *was_used, const uint8_t *used) {
    const uint32_t n_before = m->before->n_tensors, n = n_before + m->draft->n_tensors;
    uint32_t next = 0;
    for (uint32_t t = n_before; t < n; t++) {
        if (!used[t]) continue;
        while (next < n_before && (!was_used[next] || used[next])) next++;
        m->number[t] = next < n_before ? next : m->n_main++;
        m->new_there[m->number[t]] = t;
        if (next < n_before) next++;
    }
}

/* Graphs of a dialect list their inputs, even if no op reads them. */
static bool is_named_outside(const making *m, uint32_t t) {
    const arenaut_class cls = m->before->tensors[t].cls;
    return m->before->dialect && (cls == ARENAUT_CONSTANT || cls == ARENAUT_STATE);
}

static arenaut_status number_tensors(making *m) {
    const arenaut_allocator *allocator = m->draft->graph->allocator;
    const uint32_t n_before = m->before->n_tensors, n = n_before + m->draft->n_tensors;
    const arenaut_method *method = &m->before->methods[0];
    uint8_t *used = arn_allocate_zeroed(allocator, n, 2);
    if (!used) return arn_no_memory(m->err);
    uint8_t *was_used = used + n;
    for (uint32_t i = 0; i < m->before->n_ops; i++) {
        const arenaut_op *op = &m->before->ops[i];
        mark(was_used, op->inputs, op->n_inputs);
        mark(was_used, op->outputs, op->n_outputs);
    }
    for (uint32_t t = 0; t < n_before; t++) {
        if (is_named_outside(m, t)) was_used[t] = 0;
    }
    mark_main(used, m->draft);
    mark(used, method->inputs, method->n_inputs);
    mark(used, method->outputs, method->n_outputs);
    for (uint32_t t = 0; t < n; t++) {
        m->number[t] = t < n_before ? t : ARENAUT_NONE;
        m->new_there[t] = t;
    }
    m->n_main = n_before;
    number_main(m, was_used, used);
    arn_release(allocator, used);
    return ARENAUT_OK;
}

/* "conv1/2" is the second tensor that comes from "conv1". */
static void name_tensor(making *m, const arn_draft_tensor *from, char name[NAME_LIMIT + 16]) {
    const uint32_t source = from->origin.tensor;
    if (source == ARENAUT_NONE) {
        snprintf(name, NAME_LIMIT, "split/%" PRIu32, ++m->n_constants);
        return;
    }
    const char *base = m->before->tensors[source].name;
    const size_t length = base ? arn_utf8_cut((const uint8_t *)base, strlen(base), NAME_LIMIT) : 0;
    if (base) memcpy(name, base, length);
    snprintf(name + length, 16, "/%" PRIu32, ++m->parts[source]);
}

static arenaut_status add_made(making *m, arenaut_tensor *tensor, arenaut_origin origin,
                               uint32_t index) {
    const uint32_t t = m->n_tensors++;
    tensor->method = m->method;
    m->made->tensors[t] = origin;
    const arenaut_status st = arenaut_program_add_tensor(m->made->program, tensor, NULL, m->err);
    /* It may be read and written back: its number in the file is its place among its method's
     * tensors. */
    if (st == ARENAUT_OK) m->made->program->tensors[t].file_index = index;
    return st;
}

static arenaut_status add_new(making *m, uint32_t number, uint32_t index) {
    char name[NAME_LIMIT + 16];
    const arn_draft_tensor *from = &m->draft->tensors[number - m->before->n_tensors];
    arenaut_tensor tensor = arn_draft_describe_tensor(m->draft, number);
    name_tensor(m, from, name);
    tensor.name = name;
    const arenaut_status st =
        arenaut_dense_bytes(tensor.dtype, tensor.dims, tensor.rank, &tensor.bytes, m->err);
    return st == ARENAUT_OK ? add_made(m, &tensor, from->origin, index) : st;
}

/* Places in the file belong to another program. In another method than before it is another tensor:
 * if it was computed, that is an argument of the method. */
static arenaut_status add_old(making *m, uint32_t t, uint32_t index) {
    arenaut_tensor tensor = m->before->tensors[t];
    const arenaut_origin origin = {t, m->method == 0, ARENAUT_NONE, 0};
    tensor.given_pool = ARENAUT_NONE;
    tensor.given_offset = ARENAUT_UNPLACED;
    if (m->method != 0 && tensor.cls != ARENAUT_CONSTANT) tensor.cls = ARENAUT_INTERMEDIATE;
    return add_made(m, &tensor, origin, index);
}

static arenaut_status add_one(making *m, uint32_t number, uint32_t index) {
    return number < m->before->n_tensors ? add_old(m, number, index) : add_new(m, number, index);
}

/* The condition of all calls. Both of its branches are the same. */
static arenaut_status add_condition(making *m) {
    static const int64_t always = 1;
    arenaut_tensor tensor = arenaut_tensor_default();
    tensor.name = "split/call";
    tensor.dtype = ARENAUT_DTYPE_BOOL;
    tensor.cls = ARENAUT_CONSTANT;
    tensor.rank = 1;
    tensor.dims = &always;
    tensor.bytes = 1;
    tensor.values = &always;
    tensor.n_values = 1;
    return add_made(m, &tensor, (arenaut_origin){ARENAUT_NONE, false, ARENAUT_NONE, 0}, m->n_main);
}

static arenaut_status add_main_tensors(making *m) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t t = 0; t < m->n_main && st == ARENAUT_OK; t++) {
        st = add_one(m, m->new_there[t], t);
    }
    if (st == ARENAUT_OK && m->draft->n_calls > 0) st = add_condition(m);
    return st;
}

static void take_ids(const making *m, uint32_t first, uint32_t n, uint32_t *ids) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t id = m->draft->arguments[first + i];
        ids[i] = id == ARENAUT_NONE ? id : m->number[id];
    }
}

/* Adds an op, with its arguments as they are made: passes may change those of the program. */
static arenaut_status add_made_op(making *m, const arenaut_op *op, uint32_t before) {
    uint32_t *arguments = m->made->arguments + m->n_arguments;
    memcpy(arguments, m->ids, ((size_t)op->n_inputs + op->n_outputs) * sizeof *arguments);
    m->n_arguments += (size_t)op->n_inputs + op->n_outputs;
    m->made->ops[m->made->n_ops++] = before;
    return arn_program_add_op(m->made->program, op, NULL, m->err);
}

/* Tiles are ops of their own in the file that is written, each with the next number; ops that stand
 * for one of the file share its. */
static arenaut_optional_id number_op(const making *m, uint32_t before) {
    const arenaut_rewrite *made = m->made;
    const arenaut_op *ops = m->before->ops;
    const uint32_t last = made->n_ops > 0 ? made->ops[made->n_ops - 1] : ARENAUT_NONE;
    const bool follows = last != ARENAUT_NONE && before == last + 1;
    const bool is_shared = follows && ops[before].method == ops[last].method &&
                           ops[before].file_index.id == ops[last].file_index.id;
    return is_shared ? made->program->ops[made->n_ops - 1].file_index : (arenaut_optional_id){0};
}

static arenaut_status add_op(making *m, uint32_t index) {
    const arn_draft_op *from = &m->draft->ops[index];
    arenaut_op op;
    arn_draft_describe_op(m->draft, from, m->attributes, &op);
    op.file_index = number_op(m, from->before);
    take_ids(m, from->first, from->n_inputs + from->n_outputs, m->ids);
    op.method = m->method;
    op.inputs = m->ids;
    op.n_inputs = from->n_inputs;
    op.outputs = m->ids + from->n_inputs;
    op.n_outputs = from->n_outputs;
    return add_made_op(m, &op, from->before);
}

static arenaut_status add_call(making *m, const arn_draft_call *call) {
    const uint32_t method = m->methods[call->body], both[] = {method, method};
    m->ids[0] = m->n_main;
    take_ids(m, call->first, call->n_inputs + call->n_outputs, m->ids + 1);
    const arenaut_op op = {.name = "IF",
                           .kind = ARENAUT_OP_IF,
                           .inputs = m->ids,
                           .n_inputs = 1 + call->n_inputs,
                           .outputs = m->ids + 1 + call->n_inputs,
                           .n_outputs = call->n_outputs,
                           .calls = both,
                           .n_calls = 2};
    return add_made_op(m, &op, ARENAUT_NONE);
}

static arenaut_status add_main(making *m) {
    const arenaut_method *old = &m->before->methods[0];
    arenaut_program *program = m->made->program;
    arenaut_status st = arn_program_add_method(program, old->name, old->entry, NULL, m->err);
    if (st == ARENAUT_OK) st = add_main_tensors(m);
    for (uint32_t i = 0; i < m->draft->n_ops && st == ARENAUT_OK; i++) {
        const arn_draft_call *call = arn_draft_call_at(m->draft, i);
        st = call ? add_call(m, call) : add_op(m, i);
        if (call) i += call->n_ops - 1;
    }
    return st != ARENAUT_OK ? st
                            : arenaut_program_set_method_io(program, 0, old->inputs, old->n_inputs,
                                                            old->outputs, old->n_outputs, m->err);
}

/* Adds those of the draft's tensors that the method does not have yet. */
static arenaut_status add_body_tensors(making *m, uint32_t first, uint32_t n, uint32_t *count) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        const uint32_t id = m->draft->arguments[first + i];
        if (id == ARENAUT_NONE || m->number[id] != ARENAUT_NONE) continue;
        m->number[id] = m->n_tensors;
        st = add_one(m, id, (*count)++);
    }
    return st;
}

/* The method of a call, with tensors of its own for its operands and the arguments of its ops. */
static arenaut_status add_body(making *m, const arn_draft_call *call) {
    const arn_draft *draft = m->draft;
    arenaut_program *program = m->made->program;
    const uint32_t n_all = m->before->n_tensors + draft->n_tensors;
    const uint32_t end = call->first_op + call->n_ops;
    uint32_t count = 0;
    char name[32];
    snprintf(name, sizeof name, "split/band/%" PRIu32, ++m->method);
    for (uint32_t t = 0; t < n_all; t++) m->number[t] = ARENAUT_NONE;
    arenaut_status st = arn_program_add_method(program, name, false, NULL, m->err);
    if (st == ARENAUT_OK) st = add_body_tensors(m, call->first, call->n_inputs, &count);
    for (uint32_t i = call->first_op; i < end && st == ARENAUT_OK; i++) {
        const arn_draft_op *op = &draft->ops[i];
        st = add_body_tensors(m, op->first, op->n_inputs + op->n_outputs, &count);
    }
    for (uint32_t i = call->first_op; i < end && st == ARENAUT_OK; i++) st = add_op(m, i);
    if (st != ARENAUT_OK) return st;
    take_ids(m, call->first, call->n_inputs + call->n_outputs, m->ids);
    return arenaut_program_set_method_io(program, m->method, m->ids, call->n_inputs,
                                         m->ids + call->n_inputs, call->n_outputs, m->err);
}

static arenaut_status add_methods(making *m) {
    const arn_draft *draft = m->draft;
    arenaut_program *program = m->made->program;
    uint32_t n_methods = 1;
    for (uint32_t i = 0; i < draft->n_calls; i++) {
        if (arn_draft_is_body(draft, &draft->calls[i])) m->methods[i] = n_methods++;
    }
    arenaut_status st = add_main(m);
    for (uint32_t i = 0; i < draft->n_calls && st == ARENAUT_OK; i++) {
        if (arn_draft_is_body(draft, &draft->calls[i])) st = add_body(m, &draft->calls[i]);
    }
    if (st == ARENAUT_OK && m->before->dialect) {
        st = arn_program_set_dialect(program, m->before->dialect, m->err);
    }
    program->dialect_version = m->before->dialect_version;
    if (st == ARENAUT_OK) st = arn_program_validate(program, m->err);
    m->made->n_tensors = program->n_tensors;
    if (st == ARENAUT_OK) m->made->after = arn_program_fingerprint(program);
    return st;
}

/* No fewer than the tensors of the program that is made: each method's are arguments of its ops. */
static size_t most_tensors(const making *m) {
    return (size_t)m->n_main + 1 + (m->draft->n_calls > 0 ? m->draft->n_arguments : 0);
}

/* Arguments of all ops that the program gets: those of the draft, and a condition for each call. */
static size_t most_arguments(const making *m) {
    return (size_t)m->draft->n_arguments + m->draft->n_calls;
}

/* The rewrite lives as long as the program, which owns its memory. */
static arenaut_status make(making *m, const arenaut_split_stage *groups, uint32_t n_groups) {
    arenaut_program *program = NULL;
    uint64_t macs_before = 0;
    for (uint32_t i = 0; i < m->before->n_ops; i++) macs_before += m->draft->graph->macs[i];
    arenaut_status st = arn_program_new(m->draft->graph->allocator, &program, m->err);
    if (st != ARENAUT_OK) return st;
    m->made = arenaut_program_alloc(program, sizeof *m->made);
    arenaut_rewrite made = {
        .program = program,
        .before = arn_program_fingerprint(m->before),
        .tensors = arenaut_program_alloc(program, most_tensors(m) * sizeof *made.tensors),
        .ops = arenaut_program_alloc(program, arn_draft_count_ops(m->draft) * sizeof *made.ops),
        .arguments = arenaut_program_alloc(program, most_arguments(m) * sizeof *made.arguments),
        .stages = arenaut_program_alloc(program, n_groups * sizeof *groups),
        .n_stages = n_groups,
        .n_ops_before = m->before->n_ops,
        .macs = arn_draft_macs(m->draft),
        .macs_before = macs_before,
        .n_rounded = m->draft->n_rounded,
        .rounded = m->draft->rounded,
    };
    if (m->made && made.tensors && made.ops && made.arguments && made.stages) {
        if (n_groups > 0) memcpy(made.stages, groups, n_groups * sizeof *groups);
        *m->made = made;
        st = add_methods(m);
    } else {
        st = arn_no_memory(m->err);
    }
    if (st != ARENAUT_OK) arn_program_free(program);
    return st;
}

arenaut_status arn_draft_finish(const arn_draft *draft, const arenaut_split_stage *groups,
                                uint32_t n_groups, arenaut_rewrite **out, arenaut_error *err) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    const arenaut_program *before = draft->graph->program;
    const size_t n = (size_t)before->n_tensors + draft->n_tensors;
    if (draft->failed) return arn_no_memory(err);
    making m = {.draft = draft, .before = before, .err = err};
    m.number = arn_allocate(allocator, n, sizeof *m.number);
    m.new_there = arn_allocate(allocator, n, sizeof *m.new_there);
    m.parts = arn_allocate_zeroed(allocator, n, sizeof *m.parts);
    m.methods = arn_allocate(allocator, draft->n_calls, sizeof *m.methods);
    m.ids = arn_allocate(allocator, (size_t)draft->n_arguments + 1, sizeof *m.ids);
    m.attributes = arn_allocate(allocator, arn_draft_most_attributes(before), sizeof *m.attributes);
    arenaut_status st = m.number && m.new_there && m.parts && m.methods && m.ids && m.attributes
                            ? number_tensors(&m)
                            : arn_no_memory(err);
    if (st == ARENAUT_OK) st = make(&m, groups, n_groups);
    if (st == ARENAUT_OK) *out = m.made;
    ARN_RELEASE(allocator, m.number, m.new_there, m.parts, m.methods, m.ids, m.attributes);
    return st;
}
