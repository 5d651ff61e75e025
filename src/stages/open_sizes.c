/* Sizes that a model leaves open: they are bound as options.dims says; those still open after the
 * passes are an error that names the inputs' sizes, from which those of other tensors follow.
 * Linear in the tensors and their expressions. */
#include "stages/stages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <arenaut/expr.h>

#include "core/memory.h"
#include "ir/expr.h"
#include "ir/store.h"

static arenaut_status bind(arenaut_pipeline *p, arenaut_program *program, const char *name,
                           const arenaut_dim *dim, arenaut_error *err) {
    arenaut_error why = {0};
    const arenaut_status st = arn_program_bind(program, name, dim->min, dim->max, &why);
    if (st == ARENAUT_OK) return st;
    if (st != ARENAUT_BAD_ARGUMENT) return arn_fail(err, st, why.at, "%s", why.msg);
    return arn_pipeline_blame(p, err, "dim", "dim %s: %s", dim->name, why.msg);
}

/* "*" stands for all that have no value yet. */
static arenaut_status bind_rest(arenaut_pipeline *p, arenaut_program *program,
                                const arenaut_dim *dim, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < program->n_symbols && st == ARENAUT_OK; i++) {
        const arenaut_symbol *symbol = &program->symbols[i];
        if (symbol->max == ARENAUT_UNBOUNDED) st = bind(p, program, symbol->name, dim, err);
    }
    return st;
}

static arenaut_status none_to_bind(arenaut_pipeline *p, const arenaut_dim *dim,
                                   arenaut_error *err) {
    return arn_pipeline_blame(
        p, err, "dim", "dim %s: the file has no symbolic dimension that could be bound", dim->name);
}

static arenaut_status bind_one(arenaut_pipeline *p, arenaut_program *program,
                               const arenaut_dim *dim, arenaut_error *err) {
    return program->n_symbols ? bind(p, program, dim->name, dim, err) : none_to_bind(p, dim, err);
}

arenaut_status arn_pipeline_check_dims(arenaut_pipeline *p, const arenaut_document *document,
                                       arenaut_error *err) {
    const arenaut_pipeline_options *o = &p->options;
    if (o->n_dims == 0 || document->format->binds_dims) return ARENAUT_OK;
    return none_to_bind(p, &o->dims[0], err);
}

arenaut_status arn_pipeline_bind_dims(arenaut_pipeline *p, arenaut_program *program,
                                      arenaut_error *err) {
    const arenaut_pipeline_options *o = &p->options;
    arenaut_status st = ARENAUT_OK;
    /* Names first, in any order: "*" is for the rest. */
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < o->n_dims && st == ARENAUT_OK; i++) {
            const bool rest = strcmp(o->dims[i].name, "*") == 0;
            if (rest != (round == 1)) continue;
            st = rest ? bind_rest(p, program, &o->dims[i], err)
                      : bind_one(p, program, &o->dims[i], err);
        }
    }
    return st;
}

static uint32_t count_unsized(const arenaut_program *program) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < program->n_tensors; t++) n += program->tensors[t].unsized;
    return n;
}

/* Marks the symbols that an expression depends on. Readers keep expressions shallow. */
static void mark_symbols(const arenaut_program *program, uint32_t expr, bool *marked) {
    const arenaut_expr *e = &program->exprs[expr];
    if (e->kind == ARENAUT_EXPR_SYMBOL) marked[e->a] = true;
    if (e->kind == ARENAUT_EXPR_SYMBOL || e->kind == ARENAUT_EXPR_VALUE) return;
    mark_symbols(program, e->a, marked);
    mark_symbols(program, e->b, marked);
}

/* The symbols that inputs have: those of other tensors follow from them, or from nothing that
 * a user could know. */
static void mark_inputs(const arenaut_program *program, bool *marked) {
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        for (uint32_t i = 0; i < method->n_inputs && method->entry; i++) {
            const arenaut_tensor *tensor = &program->tensors[method->inputs[i]];
            for (uint32_t k = 0; k < tensor->rank && tensor->dim_exprs; k++) {
                const uint32_t expr = tensor->dim_exprs[k];
                if (expr != ARENAUT_NONE) mark_symbols(program, expr, marked);
            }
        }
    }
}

/* "the sizes 'a', 'b' are open: give them" */
static arenaut_status open_sizes(const arenaut_pipeline_fault *fault, arenaut_error *err) {
    char names[256] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < fault->n_open && i < ARENAUT_MAX_OPEN_SIZES; i++) {
        snprintf(names + length, sizeof names - length, "%s'%s'", i ? ", " : "", fault->open[i]);
        length = strlen(names);
    }
    const bool several = fault->n_open > 1;
    return arn_fail(err, ARENAUT_BAD_INPUT, 0, "the size%s %s%s %s open: give %s",
                    several ? "s" : "", names,
                    fault->n_open > ARENAUT_MAX_OPEN_SIZES ? " and more" : "",
                    several ? "are" : "is", several ? "them" : "it");
}

arenaut_status arn_pipeline_check_sizes(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_program *program = p->document.program;
    arenaut_pipeline_fault *fault = &p->fault;
    bool *marked =
        arn_allocate_zeroed(arn_pipeline_allocator(p), program->n_symbols, sizeof *marked);
    if (!marked) return arn_no_memory(err);
    mark_inputs(program, marked);
    for (uint32_t i = 0; i < program->n_symbols; i++) {
        const arenaut_symbol *symbol = &program->symbols[i];
        if (!marked[i] || symbol->max != ARENAUT_UNBOUNDED) continue;
        if (fault->n_open < ARENAUT_MAX_OPEN_SIZES) fault->open[fault->n_open] = symbol->name;
        fault->n_open++;
    }
    arn_release(arn_pipeline_allocator(p), marked);
    if (fault->n_open > 0 && count_unsized(program) > 0) return open_sizes(fault, err);
    fault->n_open = 0;
    return ARENAUT_OK;
}

bool arenaut_pipeline_samples_sizes(const arenaut_pipeline *p) {
    return p->document.program && p->document.program->store->sampled;
}

void arn_pipeline_note_sizes(const arenaut_pipeline *p) {
    enum { SHOWN = 5 };
    const arenaut_program *program = p->document.program;
    const uint32_t all = count_unsized(program);
    char names[900] = "";
    size_t length = 0;
    uint32_t n = 0;
    for (uint32_t t = 0; t < program->n_tensors && n < SHOWN; t++) {
        char store[24];
        if (!program->tensors[t].unsized) continue;
        snprintf(names + length, sizeof names - length, "%s'%s'", n++ ? ", " : "",
                 arenaut_program_tensor_name(program, t, store));
        length = strlen(names);
    }
    if (arenaut_pipeline_samples_sizes(p)) {
        arn_pipeline_note(p,
                          "tensors' sizes are known for some values of the open sizes, the largest "
                          "and the smallest among them: for others a tensor may be larger");
    }
    if (all == 0) return;
    arn_pipeline_note(
        p, "%" PRIu32 " tensor%s no size that could be known, and %s not planned: %s%s", all,
        all > 1 ? "s have" : " has", all > 1 ? "are" : "is", names, all > SHOWN ? ", ..." : "");
}
