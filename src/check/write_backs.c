/* Write-backs that an exporter lost. An exported graph changes all its states at once, in the end;
 * a file has ops that copy new values one after another. Of a copy that was left out, and of a
 * state that is read behind its copy although its old value was meant, a replay sees nothing wrong:
 * every byte is as the ops say. But exporters copy last, and name only states that change. One walk
 * over the ops, and the names sorted. */
#include <arenaut/check.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/finding.h"
#include "check/write_backs.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/program.h"

typedef struct write_backs {
    const arenaut_program *read, *program;
    arenaut_finding *finding;
    arenaut_error *err;
    uint32_t *copy_at; /* per storage: the op of the method at work that copied into it; NONE */
    bool *written;     /* per storage: by some op */
} write_backs;

/* ---- read behind the copy ---- */

static uint32_t storage_of(const write_backs *w, uint32_t tensor) {
    return arenaut_program_storage(w->program, tensor, NULL);
}

/* The storage of the state that the op copies a value into, all of it; NONE for other ops. */
static uint32_t copied_into(const write_backs *w, const arenaut_op *op) {
    const arenaut_tensor *tensors = w->program->tensors;
    const uint32_t to = op->n_outputs > 0 ? op->outputs[0] : ARENAUT_NONE;
    const bool copies =
        op->kind == ARENAUT_OP_IN_PLACE && op->name && strcmp(op->name, "aten::copy_") == 0;
    if (!copies || to == ARENAUT_NONE) return ARENAUT_NONE;
    const uint32_t s = storage_of(w, to);
    const bool whole = tensors[s].cls == ARENAUT_STATE && tensors[s].bytes == tensors[to].bytes;
    return whole ? s : ARENAUT_NONE;
}

static arenaut_status reject_reader(const write_backs *w, uint32_t method, uint32_t state,
                                    uint32_t reader) {
    const arenaut_program *p = w->program;
    const uint32_t first = p->methods[method].first_op, at = w->copy_at[storage_of(w, state)];
    char store[24], by[96] = "is a result";
    w->finding->rule = ARENAUT_RULE_STALE;
    w->finding->a = state;
    w->finding->method = method;
    w->finding->op = reader;
    if (reader != ARENAUT_NONE) {
        snprintf(by, sizeof by, "is read by op %" PRIu32 " '%.40s'", reader - first,
                 p->ops[reader].name ? p->ops[reader].name : "op");
    }
    return arn_check_reject(w->finding, w->err,
                            "'%.60s' of method '%.60s' %s behind op %" PRIu32
                            " '%s', which writes it back: if its old value is meant, the program "
                            "was exported wrong",
                            arenaut_program_tensor_name(p, state, store),
                            p->methods[method].name ? p->methods[method].name : "", by, at - first,
                            p->ops[at].name);
}

static arenaut_status look_for_reader(const write_backs *w, uint32_t method, uint32_t reader,
                                      const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t t = tensors[i];
        if (t == ARENAUT_NONE || w->copy_at[storage_of(w, t)] == ARENAUT_NONE) continue;
        return reject_reader(w, method, t, reader);
    }
    return ARENAUT_OK;
}

static arenaut_status walk(const write_backs *w, uint32_t method) {
    const arenaut_program *p = w->program;
    const arenaut_method *m = &p->methods[method];
    arenaut_status st = ARENAUT_OK;
    for (uint32_t t = 0; t < p->n_tensors; t++) w->copy_at[t] = ARENAUT_NONE;
    for (uint32_t at = m->first_op; at < m->first_op + m->n_ops && st == ARENAUT_OK; at++) {
        const arenaut_op *op = &p->ops[at];
        if (arn_op_kind_touches(op->kind)) {
            st = look_for_reader(w, method, at, op->inputs, op->n_inputs);
        }
        const uint32_t state = copied_into(w, op);
        if (state != ARENAUT_NONE) w->copy_at[state] = at;
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            if (op->outputs[i] == ARENAUT_NONE) continue;
            w->written[storage_of(w, op->outputs[i])] = true;
        }
    }
    if (st != ARENAUT_OK) return st;
    return look_for_reader(w, method, ARENAUT_NONE, m->outputs, m->n_outputs);
}

/* ---- never written ---- */

static arenaut_status reject_unwritten(const write_backs *w, uint32_t state) {
    const arenaut_tensor *tensor = &w->read->tensors[state];
    const char *method =
        tensor->method == ARENAUT_NONE ? NULL : w->read->methods[tensor->method].name;
    w->finding->rule = ARENAUT_RULE_STALE;
    w->finding->a = state;
    w->finding->method = tensor->method;
    return arn_check_reject(w->finding, w->err,
                            "'%.60s' of method '%.60s' has a name, as states have that change, and "
                            "no op writes it: the export may have left out the copy of its new "
                            "value",
                            tensor->qualified_name, method ? method : "");
}

/* The program that was read has the names that the file states. */
static arenaut_status find_unwritten(const write_backs *w, uint32_t *named) {
    const arenaut_tensor *tensors = w->read->tensors;
    uint32_t n = 0;
    for (uint32_t t = 0; t < w->read->n_tensors; t++) {
        if (tensors[t].qualified_name && tensors[t].given_pool != ARENAUT_NONE) named[n++] = t;
    }
    arn_sort_ids(named, n, arn_by_qualified_name, tensors, named + n);
    for (uint32_t i = 0, end; i < n; i = end) {
        bool written = false;
        for (end = i; end < n && !arn_by_qualified_name(tensors, named[i], named[end]); end++) {
            written = written || w->written[storage_of(w, named[end])];
        }
        if (!written) return reject_unwritten(w, named[i]);
    }
    return ARENAUT_OK;
}

arenaut_status arn_check_write_backs(const arenaut_program *read, const arenaut_program *program,
                                     const arenaut_allocator *allocator, arenaut_finding *finding,
                                     arenaut_error *err) {
    const uint32_t n = program->n_tensors;
    write_backs w = {.read = read, .program = program, .finding = finding, .err = err};
    arenaut_status st = ARENAUT_OK;
    arn_region region;
    uint32_t *named;
    arn_region_init(&region, allocator);
    *finding = arn_check_no_finding();
    if (!ARN_REGION_ARRAYS(&region, ARN_ARRAY(named, 2 * (size_t)read->n_tensors),
                           ARN_ARRAY(w.copy_at, n), ARN_ARRAY(w.written, n))) {
        st = arn_no_memory(err);
    }
    for (uint32_t m = 0; m < program->n_methods && st == ARENAUT_OK; m++) st = walk(&w, m);
    if (st == ARENAUT_OK) st = find_unwritten(&w, named);
    arn_region_free(&region);
    return st;
}
