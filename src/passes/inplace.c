/* inplace: the in-place pairs of each op: an input, and an output that may be written over it.
 *
 * The kernels that read an element before they write there stand in tables: the user's rules, the
 * target's and the dialect's. The conditions on the program, for any schedule of its ops, are
 * checked here: the input is no constant, state or result, and has the output's shape and bytes.
 * Lowering later turns those pairs into same-base relations of buffers that meet in one step, that
 * is, if the input is dead afterwards; another schedule has other such pairs. O(arguments) for the
 * facts, O(inputs * outputs) for each op with a rule. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/dialect.h>
#include <arenaut/pass.h>

#include "analysis/aliases.h"
#include "analysis/def_use.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"
#include "ir/store.h"

/* Facts about the storage of a tensor; see arenaut_program_storage. */
enum {
    KEPT = 1 << 0,   /* constant, state, shared, the caller's, or an input that must survive */
    RESULT = 1 << 1, /* of a method, or a tensor of its caller that it has changed */
};

typedef struct inplace {
    arenaut_program *program;
    const arenaut_pass_options *options;
    const uint32_t *of;        /* per tensor: its storage */
    uint8_t *facts;            /* per storage */
    const arn_def_use *memory; /* per storage */
    uint32_t *alloc;           /* per tensor: the op that allocates it, and nothing else; or none */
    arenaut_in_place *pairs;
    uint32_t n_pairs, capacity; /* of the op at work */
    arenaut_error *err;
} inplace;

static void gather_from_tensors(inplace *pass) {
    const arenaut_program *p = pass->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        const bool kept = tensor->cls == ARENAUT_CONSTANT || tensor->cls == ARENAUT_STATE ||
                          tensor->qualified_name || tensor->caller_owned;
        pass->alloc[t] = ARENAUT_NONE;
        if (kept) pass->facts[pass->of[t]] |= KEPT;
    }
}

static void gather_from_method(inplace *pass, const arenaut_method *method) {
    for (uint32_t i = 0; i < method->n_outputs; i++) {
        pass->facts[pass->of[method->outputs[i]]] |= RESULT;
    }
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const arenaut_binding *b = &method->bindings[i];
        const bool changed = b->kind == ARENAUT_BINDING_MUTATED;
        if (changed) pass->facts[pass->of[b->target]] |= RESULT;
    }
    if (!method->entry || !pass->options->target->keep_inputs) return;
    for (uint32_t i = 0; i < method->n_inputs; i++) {
        pass->facts[pass->of[method->inputs[i]]] |= KEPT;
    }
}

static void gather_from_op(inplace *pass, uint32_t at) {
    const arenaut_program *p = pass->program;
    const arenaut_op *op = &p->ops[at];
    if (op->kind == ARENAUT_OP_ALLOC && op->n_outputs == 1) pass->alloc[op->outputs[0]] = at;
    if (!arn_op_kind_touches(op->kind)) return;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (op->inputs[k] == ARENAUT_NONE) continue;
        const uint32_t storage = pass->of[op->inputs[k]];
        const uint32_t home = p->tensors[storage].method;
        /* A called method may read captured values once more, in the next turn of a loop. */
        if (home != ARENAUT_NONE && home != op->method) pass->facts[storage] |= KEPT;
    }
}

static void gather_facts(inplace *pass) {
    const arenaut_program *p = pass->program;
    gather_from_tensors(pass);
    for (uint32_t m = 0; m < p->n_methods; m++) gather_from_method(pass, &p->methods[m]);
    for (uint32_t i = 0; i < p->n_ops; i++) gather_from_op(pass, i);
}

static bool is_noted(const inplace *pass, arenaut_in_place pair) {
    for (uint32_t i = 0; i < pass->n_pairs; i++) {
        const arenaut_in_place noted = pass->pairs[i];
        if (noted.output == pair.output && noted.input == pair.input) return true;
    }
    return false;
}

static bool is_single(const arenaut_tensor *t) {
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] != 1) return false;
    }
    return !t->dynamic && !t->unsized && !t->dim_exprs;
}

/* Whether all other operands are single elements, so that the result of an elementwise op has the
 * shape of operand `input`, whatever that is at run time. */
static bool decides_shape(const arenaut_program *p, const arenaut_op *op, uint32_t input) {
    const uint32_t from = op->inputs[input];
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t == ARENAUT_NONE || t == from) continue;
        if (!is_single(&p->tensors[t]) || p->tensors[t].rank > p->tensors[from].rank) return false;
    }
    return true;
}

/* Sizes that may be smaller at run time may then differ from one another, unless they are one
 * expression, or the operator makes one of the other. */
static bool vary_alike(const arenaut_program *p, const arenaut_op *op, arenaut_in_place pair,
                       bool any_shape) {
    const arenaut_tensor *a = &p->tensors[op->inputs[pair.input]];
    const arenaut_tensor *b = &p->tensors[op->outputs[pair.output]];
    const bool fixed = !a->dynamic && !b->dynamic && !a->dim_exprs && !b->dim_exprs;
    if (fixed || arn_program_same_sizes(p, a, b)) return true;
    const bool bounds = a->dynamic && b->dynamic && !a->dim_exprs && !b->dim_exprs;
    return bounds && !any_shape && op->n_outputs == 1 && decides_shape(p, op, pair.input);
}

/* The distance of neighbours along dimension `i`, in elements. Sizes that do not go with the
 * tensor's bytes may wrap, which then equals nothing that is stated. */
static uint64_t stride_of(const arenaut_tensor *tensor, uint32_t i) {
    if (tensor->strides) return (uint64_t)tensor->strides[i];
    uint64_t stride = 1;
    for (uint32_t k = tensor->rank; k-- > i + 1;) stride *= (uint64_t)tensor->dims[k];
    return stride;
}

/* Whether each element has the same place in both; the stride of a dimension of 1 is without
 * meaning. */
static bool same_layout(const arenaut_tensor *a, const arenaut_tensor *b) {
    if (a->rank != b->rank) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i]) return false;
        if (a->dims[i] > 1 && stride_of(a, i) != stride_of(b, i)) return false;
    }
    return true;
}

/* Whether output and input of the pair of op `at` are alike enough to change places in memory. */
static bool fits(const inplace *pass, uint32_t at, arenaut_in_place pair, bool any_shape,
                 bool of_library) {
    const arenaut_program *p = pass->program;
    const arenaut_op *op = &p->ops[at];
    const uint32_t from = op->inputs[pair.input], to = op->outputs[pair.output];
    if (from == ARENAUT_NONE || to == ARENAUT_NONE) return false;
    const arenaut_tensor *input = &p->tensors[from], *output = &p->tensors[to];
    const uint32_t base = pass->of[from], result = pass->of[to];
    if (base == result || input->bytes != output->bytes) return false;
    if (arenaut_dtype_bits(input->dtype) != arenaut_dtype_bits(output->dtype)) return false;
    /* The result of a user's op on smaller operands is not known. */
    if (!vary_alike(p, op, pair, any_shape || !of_library)) return false;
    if (any_shape ? input->strides || output->strides : !same_layout(input, output)) return false;
    /* Written over, a part would take the rest of its storage along. */
    if (!arn_fills_storage(p, from) || !arn_fills_storage(p, to)) return false;
    return !pass->facts[base] && !(pass->facts[result] & KEPT);
}

static arenaut_status note(inplace *pass, arenaut_in_place pair) {
    if (is_noted(pass, pair)) return ARENAUT_OK;
    if (!arn_grow(arn_program_allocator(pass->program), (void **)&pass->pairs, &pass->capacity,
                  (uint64_t)pass->n_pairs + 1, sizeof *pass->pairs)) {
        return arn_no_memory(pass->err);
    }
    pass->pairs[pass->n_pairs++] = pair;
    return ARENAUT_OK;
}

/* Whether the rule is about this op, as far as its lists of arguments are concerned. */
static bool is_about(const arenaut_op *op, const arenaut_in_place_rule *rule) {
    return op->kind == ARENAUT_OP_OUT && op->name && strcmp(rule->op, op->name) == 0;
}

/* A rule of the user's that names an argument which the op does not have, or which never is a
 * tensor, is a mistake; one of a target's is not, since its table serves every version of an
 * op. */
static arenaut_status check_rule(const inplace *pass, const arenaut_in_place_rule *rule) {
    const arenaut_program *p = pass->program;
    uint32_t at = ARENAUT_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (!is_about(op, rule)) continue;
        if (rule->input >= op->n_inputs || rule->output >= op->n_outputs) {
            return arn_fail(pass->err, ARENAUT_BAD_INPUT, 0,
                            "in-place rule for '%s': output %" PRIu32 " over input %" PRIu32
                            ", but op %" PRIu32 " has %" PRIu32 " inputs and %" PRIu32 " outputs",
                            rule->op, rule->output, rule->input, i, op->n_inputs, op->n_outputs);
        }
        if (op->inputs[rule->input] != ARENAUT_NONE && op->outputs[rule->output] != ARENAUT_NONE) {
            return ARENAUT_OK;
        }
        at = i;
    }
    if (at == ARENAUT_NONE) return ARENAUT_OK;
    return arn_fail(pass->err, ARENAUT_BAD_INPUT, 0,
                    "in-place rule for '%s': output %" PRIu32 " over input %" PRIu32
                    ", but these are not both tensors in any op, such as op %" PRIu32,
                    rule->op, rule->output, rule->input, at);
}

static arenaut_status apply_rule(inplace *pass, uint32_t at, const arenaut_in_place_rule *rule,
                                 bool of_library) {
    const arenaut_op *op = &pass->program->ops[at];
    const arenaut_in_place pair = {rule->output, rule->input};
    if (!is_about(op, rule) || rule->input >= op->n_inputs || rule->output >= op->n_outputs) {
        return ARENAUT_OK;
    }
    return fits(pass, at, pair, rule->any_shape, of_library) ? note(pass, pair) : ARENAUT_OK;
}

/* Whether the other arguments that lie in the input's storage allow the pair: inputs if
 * the same output may be written over them as well (x * x), outputs never. */
static bool others_allow(const inplace *pass, const arenaut_op *op, arenaut_in_place pair) {
    const uint32_t base = pass->of[op->inputs[pair.input]];
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arenaut_in_place other = {pair.output, i};
        if (op->inputs[i] == ARENAUT_NONE || pass->of[op->inputs[i]] != base) continue;
        if (!is_noted(pass, other)) return false;
    }
    return arn_find_in_storage(pass->of, op->outputs, op->n_outputs, base) == ARENAUT_NONE;
}

/* Gives the op the noted pairs that stand in view of all of its arguments. Pairs that it
 * had already come first and stay. */
static arenaut_status store_pairs(inplace *pass, arenaut_op *op) {
    if (pass->n_pairs == op->n_in_place) return ARENAUT_OK;
    arenaut_in_place *kept = arenaut_program_alloc(pass->program, pass->n_pairs * sizeof *kept);
    if (!kept) return arn_no_memory(pass->err);
    uint32_t n = 0;
    for (uint32_t i = 0; i < pass->n_pairs; i++) {
        const bool stated = i < op->n_in_place;
        if (stated || others_allow(pass, op, pass->pairs[i])) kept[n++] = pass->pairs[i];
    }
    op->in_place = kept;
    op->n_in_place = n;
    return ARENAUT_OK;
}

/* If the program allocates the result explicitly, it now allocates it in the operand's memory: the
 * first operand that is dead afterwards. */
static arenaut_status say_in_program(inplace *pass, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        const uint32_t at = pass->alloc[op->outputs[op->in_place[i].output]];
        const uint32_t base = pass->of[op->inputs[op->in_place[i].input]];
        if (pass->memory[base].last_use != (uint32_t)(op - pass->program->ops)) continue;
        if (at == ARENAUT_NONE || pass->program->ops[at].kind != ARENAUT_OP_ALLOC) continue;
        uint32_t *named = arenaut_program_alloc(pass->program, sizeof *named);
        if (!named) return arn_no_memory(pass->err);
        arenaut_op *alloc = &pass->program->ops[at];
        *named = op->inputs[op->in_place[i].input];
        alloc->kind = ARENAUT_OP_ALLOC_IN_PLACE;
        alloc->inputs = named;
        alloc->n_inputs = 1;
    }
    return ARENAUT_OK;
}

static arenaut_status visit(inplace *pass, uint32_t at) {
    const arenaut_pass_options *options = pass->options;
    arenaut_op *op = &pass->program->ops[at];
    arenaut_status st = ARENAUT_OK;
    if (op->kind != ARENAUT_OP_OUT) return ARENAUT_OK;
    pass->n_pairs = 0;
    for (uint32_t i = 0; i < op->n_in_place && st == ARENAUT_OK; i++) {
        st = note(pass, op->in_place[i]);
    }
    for (size_t i = 0; i < options->n_in_place && st == ARENAUT_OK; i++) {
        st = apply_rule(pass, at, &options->in_place[i], false);
    }
    const arenaut_kernel_set *kernels =
        options->kernels ? options->kernels : options->target->kernels;
    const arenaut_in_place_rule *rule =
        options->only_these_rules ? NULL : arenaut_kernel_in_place(kernels, op->name);
    for (; rule && rule->op && st == ARENAUT_OK; rule++) {
        st = apply_rule(pass, at, rule, true);
    }
    const arenaut_dialect *dialect = arenaut_dialect_find(pass->program->dialect);
    rule = dialect && !options->only_these_rules ? dialect->in_place : NULL;
    for (; rule && rule->op && st == ARENAUT_OK; rule++) {
        st = apply_rule(pass, at, rule, false);
    }
    if (st == ARENAUT_OK) st = store_pairs(pass, op);
    return st == ARENAUT_OK ? say_in_program(pass, op) : st;
}

static arenaut_status inplace_run(arenaut_program *p, const arenaut_pass_options *options,
                                  arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    inplace pass = {.program = p, .options = options, .err = err};
    arn_region region;
    arn_region_init(&region, allocator);
    pass.of = arn_storages_find(p, &region);
    pass.memory = pass.of ? arn_def_use_find(p, pass.of, ARN_TOUCHING, &region) : NULL;
    const bool room = pass.memory && ARN_REGION_ARRAYS(&region, ARN_ARRAY(pass.facts, p->n_tensors),
                                                       ARN_ARRAY(pass.alloc, p->n_tensors));
    arenaut_status st = room ? ARENAUT_OK : arn_no_memory(err);
    for (size_t i = 0; i < options->n_in_place && st == ARENAUT_OK; i++) {
        st = check_rule(&pass, &options->in_place[i]);
    }
    if (st == ARENAUT_OK) gather_facts(&pass);
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) st = visit(&pass, i);
    arn_release(allocator, pass.pairs);
    arn_region_free(&region);
    return st;
}

extern const arenaut_pass arn_pass_inplace;
const arenaut_pass arn_pass_inplace = {
    .name = "inplace",
    .summary = "lets ops write over an operand that is dead afterwards, if kernels allow it",
    .by_default = false,
    .run = inplace_run,
};
