/* Reader of one instruction of a .pte file: a kernel, a delegate, a move or a jump. A kernel's
 * arguments are split into inputs and outputs by its name, in time linear in their
 * number. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "formats/pte/pte_reader.h"
#include "formats/pte/pte_schema.h"
#include "ir/program.h"
#include "ops/ops.h"

/* Effects of kernels on the memory of their arguments, from their names. A kernel that is not
 * listed may update all of its arguments. */

/* The effect of a kernel that is no out variant. */
typedef enum kernel_effect {
    ARN_PTE_UPDATES_ANY,   /* unknown: it may update all of its arguments */
    ARN_PTE_UPDATES_FIRST, /* its first argument */
    ARN_PTE_READS,         /* it updates no tensor */
    ARN_PTE_VIEWS,         /* its last argument becomes another name of its first */
} kernel_effect;

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Whether a call of this operator that ends with earlier arguments writes all of these, and reads
 * nothing of them. Out variants are named so by their overload. Out variants of aten with other
 * names
 * ("max.dim_max", "tanh_backward.grad_input") are known by returning an argument: besides them only
 * ops that work in place do, and these end in an underscore. */
static bool is_out_variant(const char *name, const char *overload) {
    return ends_with(overload, "out") || (starts_with(name, "aten::") && !ends_with(name, "_"));
}

/* The runtime's own kernels, in the order in which they are tried: the first name that the
 * kernel's begins with counts. */
static const struct {
    const char *name;
    kernel_effect effect;
} known[] = {
    {"executorch_prim::et_view", ARN_PTE_VIEWS},
    {"executorch_prim::et_copy_index", ARN_PTE_UPDATES_FIRST},
    {"executorch_prim::", ARN_PTE_READS}, /* arithmetic on numbers, and sizes of tensors */
    {"aten::sym_", ARN_PTE_READS},
    {"aten::_local_scalar_dense", ARN_PTE_READS},
};

static kernel_effect effect_of(const char *name) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (starts_with(name, known[i].name)) return known[i].effect;
    }
    const bool in_place = starts_with(name, "aten::") && ends_with(name, "_");
    return in_place ? ARN_PTE_UPDATES_FIRST : ARN_PTE_UPDATES_ANY;
}

/* Recognition of loops in a .pte file. A value that a loop gathers row by row, or carries from one
 * round to the next, has its memory from the begin of the loop, with content of no meaning; but the
 * first instruction that touches it works in place, as on an earlier value. Exporters begin each
 * loop with the query of its count, and then copy carried values: the query is made to write the
 * values that the loop builds. In another order there may be others between. Loops of another form
 * are left as they are. */

/* The instructions [first, end) of a loop, without its last jump, and the query of its count; those
 * between `asks` and `first` all run once before it. */
typedef struct loop {
    uint32_t asks, first, end;
} loop;

static bool is_named(const arenaut_op *op, const char *name) {
    return op->n_outputs > 0 && op->name && strcmp(op->name, name) == 0;
}

static bool jumps(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE;
}

static bool copies(const arenaut_op *op) { return is_named(op, "aten::copy_"); }

/* `is_target`: per op: some jump leads there. */
static bool find_loop(const arenaut_op *ops, const bool *is_target, uint32_t jump, loop *found) {
    if (ops[jump].kind != ARENAUT_OP_JUMP_FALSE || ops[jump].target > jump) return false;
    *found = (loop){ops[jump].target, ops[jump].target, jump};
    while (found->asks > 0) {
        const arenaut_op *op = &ops[--found->asks];
        if (op->n_outputs == 0 && op->name && strcmp(op->name, "aten::sym_size.int") == 0) {
            return true;
        }
        if (is_target[found->asks] || jumps(op)) return false;
    }
    return false;
}

/* Whether op `at` of the loop ends a round by keeping a value: a row, or a carried value, which was
 * copied before the first round as well. */
static bool keeps(const arenaut_op *ops, const loop *l, uint32_t at) {
    if (is_named(&ops[at], "executorch_prim::et_copy_index.tensor")) return true;
    if (!copies(&ops[at])) return false;
    for (uint32_t i = l->asks + 1; i < l->first; i++) {
        if (copies(&ops[i]) && ops[i].outputs[0] == ops[at].outputs[0]) return true;
    }
    return false;
}

static bool may_begin(const arenaut_tensor *t) {
    return t->cls != ARENAUT_CONSTANT && t->cls != ARENAUT_STATE && t->cls != ARENAUT_INPUT &&
           !t->qualified_name;
}

static arenaut_status begin(arn_pte_reader *r, arenaut_op *ops, const loop *l) {
    r->outputs.n = 0;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = l->first; i < l->end && st == ARENAUT_OK; i++) {
        if (!keeps(ops, l, i) || !may_begin(&r->program->tensors[ops[i].outputs[0]])) continue;
        st = arn_pte_push(r, &r->outputs, ops[i].outputs[0]);
    }
    if (st != ARENAUT_OK || r->outputs.n == 0) return st;
    uint32_t *built = arenaut_program_alloc(r->program, r->outputs.n * sizeof *built);
    if (!built) return arn_no_memory(r->err);
    memcpy(built, r->outputs.ids, r->outputs.n * sizeof *built);
    ops[l->asks].outputs = built;
    ops[l->asks].n_outputs = r->outputs.n;
    return ARENAUT_OK;
}

static arenaut_status begin_all(arn_pte_reader *r, arenaut_op *ops, const bool *is_target) {
    const uint32_t n = r->program->methods[r->method].n_ops;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        loop l = {0, 0, 0};
        const bool found = find_loop(ops, is_target, i, &l);
        st = arn_pte_charge(r, (uint64_t)(found ? l.end - l.first : 1) * (l.first - l.asks), 1);
        if (st == ARENAUT_OK && found) st = begin(r, ops, &l);
    }
    return st;
}

arenaut_status arn_pte_begin_loops(arn_pte_reader *r) {
    const arenaut_method *m = &r->program->methods[r->method];
    if (m->n_ops == 0) return ARENAUT_OK;
    arenaut_op *ops = &r->program->ops[m->first_op];
    bool *is_target = arn_allocate_zeroed(r->allocator, (size_t)m->n_ops + 1, sizeof *is_target);
    if (!is_target) return arn_no_memory(r->err);
    for (uint32_t i = 0; i < m->n_ops; i++) {
        if (jumps(&ops[i])) is_target[ops[i].target] = true;
    }
    const arenaut_status st = begin_all(r, ops, is_target);
    arn_release(r->allocator, is_target);
    return st;
}

/* ---- instructions ---- */

/* The charge for one: the array that holds them doubles as it grows. */
enum { OP_COST = 2 * sizeof(arenaut_op) };

typedef struct instruction {
    uint8_t type;
    arn_fb_table table; /* of its own type */
} instruction;

/* Free gives memory back that the runtime itself had taken, for shapes without a bound: a
 * program that needs it is not planned before it runs. */
static arenaut_status open_instruction(arn_pte_reader *r, arn_fb_table table, instruction *out) {
    out->type = arn_fb_u8(&r->model.fb, table, INSTRUCTION_TYPE, 0);
    out->table = arn_fb_table_field(&r->model.fb, table, INSTRUCTION);
    const arenaut_status st = arn_pte_status(r);
    if (st != ARENAUT_OK) return st;
    if (out->type == PTE_FREE_CALL) {
        return arn_pte_bad(r, ARENAUT_UNSUPPORTED, table.at,
                           "it frees a tensor; only programs whose memory is planned as a whole "
                           "are supported");
    }
    if (out->type < PTE_KERNEL_CALL || out->type > PTE_FREE_CALL) {
        char what[96];
        snprintf(what, sizeof what, "an instruction of type %u is not known; %d to %d are",
                 out->type, PTE_KERNEL_CALL, PTE_FREE_CALL);
        return arn_pte_bad(r, ARENAUT_UNSUPPORTED, table.at, what);
    }
    if (out->table.at == 0) {
        return arn_pte_bad(r, ARENAUT_BAD_INPUT, table.at, "its arguments are missing");
    }
    return ARENAUT_OK;
}

/* The entry of the method's operators or delegates that a call names. */
static arenaut_status find_callee(arn_pte_reader *r, const instruction *call, arn_fb_vector list,
                                  const char *what, arn_fb_table *callee) {
    const int32_t index = arn_fb_i32(&r->model.fb, call->table, CALL_CALLEE, 0);
    if (index < 0 || (uint32_t)index >= list.count) {
        char text[96];
        snprintf(text, sizeof text, "it calls %s %" PRId32 "; the method has %" PRIu32, what, index,
                 list.count);
        return arn_pte_bad(r, ARENAUT_BAD_INPUT, call->table.at, text);
    }
    *callee = arn_fb_item_table(&r->model.fb, list, (uint32_t)index);
    return ARENAUT_OK;
}

/* Stores a kernel's name and overload in r->name and r->overload. */
static arenaut_status name_kernel(arn_pte_reader *r, const instruction *call) {
    arn_fb_table callee;
    arenaut_status st = find_callee(r, call, r->operators, "operator", &callee);
    if (st == ARENAUT_OK) st = arn_pte_text(r, callee, OPERATOR_NAME, r->name);
    if (st == ARENAUT_OK) st = arn_pte_text(r, callee, OPERATOR_OVERLOAD, r->overload);
    return st == ARENAUT_OK ? arn_pte_status(r) : st;
}

/* ---- which values are written ---- */

/* A kernel that is known gives its result in its last argument; any other may do so in any of its
 * arguments. */
static arenaut_status note_call(arn_pte_reader *r, const instruction *call) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector args = arn_fb_vector_field(fb, call->table, CALL_ARGS, 4);
    uint32_t first = 0;
    if (call->type == PTE_KERNEL_CALL) {
        const arenaut_status st = name_kernel(r, call);
        if (st != ARENAUT_OK) return st;
        const bool settled =
            is_out_variant(r->name, r->overload) || effect_of(r->name) != ARN_PTE_UPDATES_ANY;
        if (settled && args.count > 0) first = args.count - 1;
    }
    for (uint32_t i = first; i < args.count; i++) {
        arn_pte_value *value = arn_pte_value_at(r, arn_fb_item_i32(fb, args, i),
                                                args.at + (size_t)i * 4, "an argument");
        if (!value) return ARENAUT_BAD_INPUT;
        value->written = true;
    }
    return arn_pte_charge(r, args.count, 1);
}

arenaut_status arn_pte_note_writes(arn_pte_reader *r, arn_fb_table table) {
    instruction it;
    const arenaut_status st = open_instruction(r, table, &it);
    if (st != ARENAUT_OK) return st;
    if (it.type == PTE_KERNEL_CALL || it.type == PTE_DELEGATE_CALL) return note_call(r, &it);
    if (it.type == PTE_MOVE_CALL) {
        const int32_t to = arn_fb_i32(&r->model.fb, it.table, MOVE_TO, 0);
        arn_pte_value *value = arn_pte_value_at(r, to, it.table.at, "the end of a move");
        if (!value) return ARENAUT_BAD_INPUT;
        value->written = true;
    }
    return ARENAUT_OK;
}

/* ---- numbers that instructions write ---- */

/* A list of numbers is one of values. */
static arenaut_status is_written(arn_pte_reader *r, const arn_pte_value *value, bool *written) {
    arn_flatbuffer *fb = &r->model.fb;
    if (value->type != PTE_INT_LIST) {
        *written = *written ||
                   (value->type < PTE_TENSOR_LIST && value->type != PTE_TENSOR && value->written);
        return ARENAUT_OK;
    }
    const arn_fb_vector items = arn_fb_vector_field(fb, value->table, LIST_ITEMS, 8);
    for (uint32_t i = 0; i < items.count; i++) {
        const uint64_t item = arn_load(fb->data + items.at + 8 * (size_t)i, 8);
        *written = *written || (item < r->n_values && r->values[item].written);
    }
    return arn_pte_charge(r, items.count, 1);
}

static arenaut_status names_written(arn_pte_reader *r, const instruction *it, bool *written) {
    arn_flatbuffer *fb = &r->model.fb;
    *written = it->type == PTE_MOVE_CALL;
    if (it->type != PTE_KERNEL_CALL && it->type != PTE_DELEGATE_CALL) return ARENAUT_OK;
    const arn_fb_vector args = arn_fb_vector_field(fb, it->table, CALL_ARGS, 4);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < args.count && st == ARENAUT_OK; i++) {
        const int32_t index = arn_fb_item_i32(fb, args, i);
        st = is_written(r, &r->values[index], written); /* arguments were found to be values */
    }
    return st;
}

/* Numbers are no tensors, so that nothing else tells which op must come first. */
static arenaut_status keep_place(arn_pte_reader *r, const instruction *it, arenaut_op *op) {
    bool written = false;
    const arenaut_status st = names_written(r, it, &written);
    if (st != ARENAUT_OK || !written) return st;
    op->n_after = r->last_scalar != ARENAUT_NONE;
    op->after = &r->last_scalar;
    return ARENAUT_OK;
}

/* ---- calls ---- */

/* All arguments of a call go to r->args; *last is the begin of the last one's. */
static arenaut_status take_arguments(arn_pte_reader *r, const instruction *call, uint32_t *last) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector args = arn_fb_vector_field(fb, call->table, CALL_ARGS, 4);
    r->args.n = r->inputs.n = r->outputs.n = *last = 0;
    for (uint32_t i = 0; i < args.count; i++) {
        const arn_pte_value *value = arn_pte_value_at(r, arn_fb_item_i32(fb, args, i),
                                                      args.at + (size_t)i * 4, "an argument");
        if (!value) return ARENAUT_BAD_INPUT;
        *last = r->args.n;
        const arenaut_status st = arn_pte_append(r, value, &r->args);
        if (st != ARENAUT_OK) return st;
    }
    return arn_pte_status(r);
}

static void mark(arn_pte_reader *r, uint32_t tensor, bool on) {
    if (tensor != ARENAUT_NONE) r->values[r->program->tensors[tensor].file_index].marked = on;
}

static bool is_marked(const arn_pte_reader *r, uint32_t tensor) {
    return tensor != ARENAUT_NONE && r->values[r->program->tensors[tensor].file_index].marked;
}

/* Whether a call returns tensors, all of which are among its earlier arguments. */
static bool returns_what_it_was_given(arn_pte_reader *r, uint32_t last) {
    bool any = false, all = true;
    for (uint32_t i = 0; i < last; i++) mark(r, r->args.ids[i], true);
    for (uint32_t i = last; i < r->args.n; i++) {
        if (r->args.ids[i] == ARENAUT_NONE) continue;
        any = true;
        all = all && is_marked(r, r->args.ids[i]);
    }
    for (uint32_t i = 0; i < last; i++) mark(r, r->args.ids[i], false);
    return any && all;
}

/* Constants lie in memory that must not be written to. */
static arenaut_status push_updated(arn_pte_reader *r, uint32_t argument) {
    const uint32_t id = argument < r->args.n ? r->args.ids[argument] : ARENAUT_NONE;
    if (id == ARENAUT_NONE || r->program->tensors[id].cls == ARENAUT_CONSTANT) return ARENAUT_OK;
    return arn_pte_push(r, &r->outputs, id);
}

/* The position of a call's first argument that is memory for the kernel's own use; UINT32_MAX: it
 * has none. */
static uint32_t first_scratch(const arn_pte_reader *r) {
    const arn_op_row *row = arn_op_row_find(ARN_OPS_EXECUTORCH, r->name);
    return row && row->scratch ? row->scratch : UINT32_MAX;
}

/* Returned tensors are the written ones. They are given last, so the last mention before is the one
 * that is no input; one with another mention is read too. Scratch is written, and dead behind
 * the call: outputs behind the others. */
static arenaut_status split_arguments(arn_pte_reader *r, uint32_t last) {
    enum { DROPPED = ARENAUT_NONE - 1u };
    arenaut_status st = ARENAUT_OK;
    uint32_t *ids = r->args.ids;
    for (uint32_t i = last; i < r->args.n; i++) mark(r, ids[i], true);
    for (uint32_t i = last; i > 0; i--) {
        if (!is_marked(r, ids[i - 1])) continue;
        mark(r, ids[i - 1], false);
        ids[i - 1] = DROPPED;
    }
    const uint32_t scratch = first_scratch(r);
    for (uint32_t i = 0; i < last && i < scratch && st == ARENAUT_OK; i++) {
        if (ids[i] != DROPPED) st = arn_pte_push(r, &r->inputs, ids[i]);
    }
    for (uint32_t i = last; i < r->args.n && st == ARENAUT_OK; i++) {
        if (ids[i] != ARENAUT_NONE) st = arn_pte_push(r, &r->outputs, ids[i]);
    }
    for (uint32_t i = scratch; i < last && st == ARENAUT_OK; i++) {
        if (ids[i] != DROPPED) st = push_updated(r, i);
    }
    return st;
}

/* Every argument is an input; arguments that the kernel may update are outputs too. Its result (the
 * last argument) is one of the others, if it is a tensor at all. */
static arenaut_status take_effect(arn_pte_reader *r, uint32_t last, arenaut_op_kind *kind) {
    const kernel_effect effect = effect_of(r->name);
    const bool returned = returns_what_it_was_given(r, last);
    const uint32_t n = effect == ARN_PTE_VIEWS || returned ? last : r->args.n;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        st = arn_pte_push(r, &r->inputs, r->args.ids[i]);
    }
    if (st != ARENAUT_OK) return st;
    *kind = ARENAUT_OP_IN_PLACE;
    switch (effect) {
        case ARN_PTE_VIEWS: *kind = ARENAUT_OP_VIEW; return push_updated(r, last);
        case ARN_PTE_READS: *kind = ARENAUT_OP_OUT; return ARENAUT_OK;
        case ARN_PTE_UPDATES_FIRST: return push_updated(r, 0);
        case ARN_PTE_UPDATES_ANY: break;
    }
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) st = push_updated(r, i);
    if (r->outputs.n == 0) *kind = ARENAUT_OP_OUT; /* constants only: it reads them */
    return st;
}

static arenaut_status read_kernel_call(arn_pte_reader *r, const instruction *call, arenaut_op *op) {
    uint32_t last = 0;
    arenaut_status st = take_arguments(r, call, &last);
    if (st == ARENAUT_OK) st = name_kernel(r, call);
    if (st != ARENAUT_OK) return st;
    const bool gives = is_out_variant(r->name, r->overload) && returns_what_it_was_given(r, last);
    op->kind = ARENAUT_OP_OUT;
    if (!gives) st = take_effect(r, last, &op->kind);
    const size_t length = strlen(r->name);
    if (r->overload[0]) {
        snprintf(r->name + length, sizeof r->name - length, ".%s", r->overload);
    }
    return gives ? split_arguments(r, last) : st;
}

static arenaut_status read_delegate_call(arn_pte_reader *r, const instruction *call,
                                         arenaut_op *op) {
    uint32_t last = 0;
    arn_fb_table callee;
    op->kind = ARENAUT_OP_DELEGATE;
    arenaut_status st = take_arguments(r, call, &last);
    if (st == ARENAUT_OK) st = find_callee(r, call, r->delegates, "delegate", &callee);
    if (st == ARENAUT_OK) st = arn_pte_text(r, callee, DELEGATE_ID, r->name);
    for (uint32_t i = 0; i < r->args.n && st == ARENAUT_OK; i++) {
        st = arn_pte_push(r, &r->inputs, r->args.ids[i]);
    }
    return st;
}

/* ---- flow ---- */

/* Numbers move without touching planned memory; that op keeps its place and does nothing. */
static arenaut_status read_move(arn_pte_reader *r, const instruction *move, arenaut_op *op) {
    arn_flatbuffer *fb = &r->model.fb;
    const size_t at = move->table.at;
    const arn_pte_value *from =
        arn_pte_value_at(r, arn_fb_i32(fb, move->table, MOVE_FROM, 0), at, "the start of a move");
    if (!from) return ARENAUT_BAD_INPUT;
    const arn_pte_value *to =
        arn_pte_value_at(r, arn_fb_i32(fb, move->table, MOVE_TO, 0), at, "the end of a move");
    if (!to) return ARENAUT_BAD_INPUT;
    strcpy(r->name, "move");
    const bool lists = from->type >= PTE_TENSOR_LIST || to->type >= PTE_TENSOR_LIST;
    if (lists || (from->type == PTE_TENSOR) != (to->type == PTE_TENSOR)) {
        return arn_pte_bad(r, ARENAUT_UNSUPPORTED, at,
                           lists ? "it moves a list of tensors; only single ones are supported"
                                 : "it moves a tensor to a value that is none, or the reverse");
    }
    op->kind = ARENAUT_OP_OUT;
    if (from->tensor == ARENAUT_NONE) return ARENAUT_OK;
    op->kind = ARENAUT_OP_MOVE;
    const arenaut_status st = arn_pte_push(r, &r->inputs, from->tensor);
    return st == ARENAUT_OK ? arn_pte_push(r, &r->outputs, to->tensor) : st;
}

/* Exporters write an unconditional jump as one on a constant that is false. */
static arenaut_status read_jump(arn_pte_reader *r, const instruction *jump, arenaut_op *op) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_pte_value *condition =
        arn_pte_value_at(r, arn_fb_i32(fb, jump->table, JUMP_CONDITION, 0), jump->table.at,
                         "the condition of a jump");
    if (!condition) return ARENAUT_BAD_INPUT;
    const int32_t target = arn_fb_i32(fb, jump->table, JUMP_DESTINATION, 0);
    if (target < 0 || (uint32_t)target > r->n_instructions) {
        char what[96];
        snprintf(what, sizeof what, "it jumps to instruction %" PRId32 "; there are %" PRIu32,
                 target, r->n_instructions);
        return arn_pte_bad(r, ARENAUT_BAD_INPUT, jump->table.at, what);
    }
    op->target = (uint32_t)target;
    if (condition->type == PTE_BOOL && !condition->written) {
        /* One on a constant that is true never jumps: it goes on to the next. */
        const bool taken = arn_fb_u8(fb, condition->table, BOOL_VALUE, 0) == 0;
        if (!taken) op->target = r->instruction + 1;
        op->kind = ARENAUT_OP_JUMP;
        strcpy(r->name, "jump");
        return ARENAUT_OK;
    }
    op->kind = ARENAUT_OP_JUMP_FALSE;
    strcpy(r->name, "jump_false");
    return condition->type == PTE_TENSOR ? arn_pte_push(r, &r->inputs, condition->tensor)
                                         : ARENAUT_OK;
}

arenaut_status arn_pte_read_instruction(arn_pte_reader *r, arn_fb_table table, const char *source) {
    instruction it;
    arenaut_op op = {.kind = ARENAUT_OP_OUT, .method = r->method, .source = source};
    arn_pte_attributes attributes = {.n = 0};
    r->inputs.n = r->outputs.n = 0;
    arenaut_status st = arn_pte_charge(r, 1, OP_COST);
    if (st == ARENAUT_OK) st = open_instruction(r, table, &it);
    if (st != ARENAUT_OK) return st;
    switch (it.type) {
        case PTE_KERNEL_CALL: st = read_kernel_call(r, &it, &op); break;
        case PTE_DELEGATE_CALL: st = read_delegate_call(r, &it, &op); break;
        case PTE_MOVE_CALL: st = read_move(r, &it, &op); break;
        default: st = read_jump(r, &it, &op); break;
    }
    if (st == ARENAUT_OK) st = keep_place(r, &it, &op);
    if (st == ARENAUT_OK) st = arn_pte_status(r);
    if (st != ARENAUT_OK) return st;
    if (it.type == PTE_KERNEL_CALL) arn_pte_read_attributes(r, it.table, &attributes);
    op.attributes = attributes.made;
    op.n_attributes = attributes.n;
    op.name = r->name;
    op.inputs = r->inputs.ids;
    op.n_inputs = r->inputs.n;
    op.outputs = r->outputs.ids;
    op.n_outputs = r->outputs.n;
    st = arn_program_add_op(r->program, &op, NULL, r->err);
    if (op.after) r->last_scalar = r->instruction;
    return st;
}
