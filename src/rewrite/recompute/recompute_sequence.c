/* A program as another schedule of its ops, some of which are rematerialized. The first run of an
 * op makes its results, each further one copies of these, and a reader takes the latest. */
#include "rewrite/recompute/recompute_sequence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/aliases.h"
#include "analysis/dependences.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/utf8.h"
#include "ir/program.h"
#include "ops/ops.h"

enum { NAME_LIMIT = 200 }; /* bytes of an old name that a new one keeps */

typedef struct sequence {
    arenaut_program *program;
    arenaut_rewrite *made;
    uint32_t n_before;  /* tensors */
    uint32_t *storage;  /* per tensor before: its own storage there */
    uint32_t *latest;   /* likewise: the tensor that holds its value by now */
    uint32_t *n_runs;   /* per op before */
    uint32_t *now;      /* likewise: where it runs first; NONE: it has not run */
    uint32_t *copy;     /* likewise: the first tensor that its next run but the first makes, */
    uint32_t *number;   /* and the number of that run */
    arenaut_op *ops;    /* the new ones */
    uint32_t n_numbers; /* that ops of the file have */
    arenaut_error *err;
} sequence;

static uint32_t latest_of(const sequence *s, uint32_t tensor) {
    return tensor == ARENAUT_NONE ? tensor : s->latest[tensor];
}

/* The memory of a result of `old`: a view goes with its operand. */
static uint32_t view_now(const sequence *s, const arenaut_op *old, uint32_t result) {
    const uint32_t was = s->program->tensors[result].view_of;
    if (was == ARENAUT_NONE || old->kind != ARENAUT_OP_VIEW) return was;
    const uint32_t operand =
        arn_find_in_storage(s->storage, old->inputs, old->n_inputs, s->storage[result]);
    return operand == ARENAUT_NONE ? was
                                   : arenaut_program_storage(s->program, s->latest[operand], NULL);
}

/* "relu" is made again as "relu/2", "relu/3", … */
static void name_copy(const sequence *s, uint32_t tensor, uint32_t run,
                      char name[NAME_LIMIT + 16]) {
    const char *base = s->program->tensors[tensor].name;
    const size_t length = base ? arn_utf8_cut((const uint8_t *)base, strlen(base), NAME_LIMIT) : 0;
    if (base) memcpy(name, base, length);
    snprintf(name + length, 16, "/%" PRIu32, run);
}

/* Whatever the file said of places was said of another program. */
static arenaut_status add_copy(sequence *s, uint32_t tensor, uint32_t run) {
    char name[NAME_LIMIT + 16];
    arenaut_tensor copy = s->program->tensors[tensor];
    name_copy(s, tensor, run, name);
    copy.name = name;
    copy.cls = ARENAUT_INTERMEDIATE;
    copy.file_index = s->program->n_tensors;
    copy.given_pool = ARENAUT_NONE;
    copy.given_offset = ARENAUT_UNPLACED;
    s->made->tensors[s->program->n_tensors] =
        (arenaut_origin){.tensor = tensor, .axis = ARENAUT_NONE};
    return arenaut_program_add_tensor(s->program, &copy, NULL, s->err);
}

/* Op by op, so that runs of different ops may be exchanged without new numbers. */
static arenaut_status add_copies(sequence *s) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < s->program->n_ops && st == ARENAUT_OK; i++) {
        const arenaut_op *op = &s->program->ops[i];
        s->copy[i] = s->program->n_tensors;
        s->number[i] = s->n_numbers;
        s->n_numbers += s->n_runs[i] - 1;
        for (uint32_t run = 2; run <= s->n_runs[i] && st == ARENAUT_OK; run++) {
            for (uint32_t k = 0; k < op->n_outputs && st == ARENAUT_OK; k++) {
                if (op->outputs[k] != ARENAUT_NONE) st = add_copy(s, op->outputs[k], run);
            }
        }
    }
    return st;
}

/* An update keeps its operand; an operand that is updated has no copies that count. */
static uint32_t operand_now(const sequence *s, const arenaut_op *op, uint32_t tensor) {
    const bool updated = tensor != ARENAUT_NONE && op->kind == ARENAUT_OP_IN_PLACE &&
                         arn_find_in_storage(s->storage, op->outputs, op->n_outputs,
                                             s->storage[tensor]) != ARENAUT_NONE;
    return updated ? tensor : latest_of(s, tensor);
}

static bool take_operands(sequence *s, arenaut_op *op) {
    uint32_t *inputs = arenaut_program_alloc(s->program, op->n_inputs * sizeof *inputs);
    if (!inputs) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) inputs[i] = operand_now(s, op, op->inputs[i]);
    op->inputs = inputs;
    return true;
}

/* Makes the results of the op. */
static void run_first(sequence *s, const arenaut_op *old) {
    for (uint32_t i = 0; i < old->n_outputs; i++) {
        const uint32_t t = old->outputs[i];
        if (t != ARENAUT_NONE) s->program->tensors[t].view_of = view_now(s, old, t);
    }
}

static bool run_again(sequence *s, uint32_t before, arenaut_op *op) {
    const uint32_t *old = s->program->ops[before].outputs;
    uint32_t *outputs = arenaut_program_alloc(s->program, op->n_outputs * sizeof *outputs);
    if (!outputs) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        outputs[i] = old[i] == ARENAUT_NONE ? old[i] : s->copy[before]++;
        if (old[i] == ARENAUT_NONE) continue;
        s->program->tensors[outputs[i]].view_of = view_now(s, &s->program->ops[before], old[i]);
        s->latest[old[i]] = outputs[i];
    }
    op->outputs = outputs;
    op->n_after = 0;
    op->file_index = arenaut_id(s->number[before]++);
    return true;
}

static arenaut_status add_run(sequence *s, uint32_t at, uint32_t before) {
    const arenaut_op *old = &s->program->ops[before];
    arenaut_op *op = &s->ops[at];
    *op = *old;
    s->made->ops[at] = before;
    if (!take_operands(s, op)) return arn_no_memory(s->err);
    if (s->now[before] != ARENAUT_NONE) {
        return run_again(s, before, op) ? ARENAUT_OK : arn_no_memory(s->err);
    }
    run_first(s, old);
    s->now[before] = at;
    return ARENAUT_OK;
}

/* Stated dependences have new numbers, too. */
static bool renumber_after(sequence *s, arenaut_op *op) {
    uint32_t *after = arenaut_program_alloc(s->program, op->n_after * sizeof *after);
    if (!after) return false;
    const uint32_t first = s->program->methods[op->method].first_op;
    for (uint32_t k = 0; k < op->n_after; k++) after[k] = s->now[first + op->after[k]] - first;
    op->after = after;
    return true;
}

/* The program's own list has room for all once they have been added to it. */
static arenaut_status put_ops(sequence *s) {
    const uint32_t n = s->made->n_ops;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = s->program->n_ops; i < n && st == ARENAUT_OK; i++) {
        st = arn_program_add_op(s->program, &s->ops[i], NULL, s->err);
    }
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        if (!renumber_after(s, &s->ops[i])) st = arn_no_memory(s->err);
        s->program->ops[i] = s->ops[i];
    }
    return st;
}

/* Copies of ops have numbers behind all of them; there are `more` of these. */
static arenaut_status find_numbers(sequence *s, uint32_t more) {
    for (uint32_t i = 0; i < s->program->n_ops; i++) {
        const arenaut_optional_id own = s->program->ops[i].file_index;
        if (own.given && own.id >= s->n_numbers) s->n_numbers = own.id + 1;
    }
    if (more <= ARENAUT_NONE - s->n_numbers) return ARENAUT_OK;
    return arn_fail(s->err, ARENAUT_TOO_LARGE, 0,
                    "%" PRIu32 " copies of ops, behind op %" PRIu32
                    " of the file; numbers end with %" PRIu32,
                    more, s->n_numbers - 1, ARENAUT_NONE - 1);
}

static arenaut_status keep_arguments(sequence *s) {
    size_t n = 0;
    for (uint32_t i = 0; i < s->made->n_ops; i++) {
        n += (size_t)s->ops[i].n_inputs + s->ops[i].n_outputs;
    }
    uint32_t *put = s->made->arguments = arenaut_program_alloc(s->program, n * sizeof *put);
    if (!put) return arn_no_memory(s->err);
    for (uint32_t i = 0; i < s->made->n_ops; i++) {
        const arenaut_op *op = &s->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) *put++ = op->inputs[k];
        for (uint32_t k = 0; k < op->n_outputs; k++) *put++ = op->outputs[k];
    }
    return ARENAUT_OK;
}

static arenaut_status run_all(sequence *s, const uint32_t *ops) {
    const uint32_t n_before = s->program->n_ops;
    arenaut_status st = find_numbers(s, s->made->n_ops - n_before);
    if (st == ARENAUT_OK) st = add_copies(s);
    for (uint32_t i = 0; i < n_before; i++) s->now[i] = ARENAUT_NONE;
    for (uint32_t t = 0; t < s->n_before; t++) {
        s->storage[t] = arenaut_program_storage(s->program, t, NULL);
        s->latest[t] = t;
        s->made->tensors[t] = (arenaut_origin){.tensor = t, .same = true, .axis = ARENAUT_NONE};
    }
    for (uint32_t i = 0; i < s->made->n_ops && st == ARENAUT_OK; i++) st = add_run(s, i, ops[i]);
    if (st == ARENAUT_OK) st = put_ops(s);
    if (st == ARENAUT_OK) st = keep_arguments(s);
    s->made->n_tensors = s->program->n_tensors;
    s->made->after = arn_program_fingerprint(s->program);
    return st;
}

/* Each op of the program at least once, and of its only method if one is rematerialized.
 * `n_copies`: tensors that runs after the first make. */
static bool is_sequence(const arenaut_program *program, const uint32_t *ops, uint32_t n_ops,
                        uint32_t *n_runs, size_t *n_copies) {
    uint32_t left = program->n_ops;
    *n_copies = 0;
    memset(n_runs, 0, program->n_ops * sizeof *n_runs);
    for (uint32_t i = 0; i < n_ops; i++) {
        if (ops[i] >= program->n_ops) return false;
        if (n_runs[ops[i]]++ > 0) *n_copies += program->ops[ops[i]].n_outputs;
        else left--;
    }
    return left == 0 && (program->n_methods == 1 || n_ops == program->n_ops);
}

arenaut_status arn_recompute(arenaut_program *program, const uint32_t *ops, uint32_t n_ops,
                             arenaut_rewrite **out, arenaut_error *err) {
    const size_t n = program->n_tensors, n_before = program->n_ops;
    size_t n_copies;
    uint32_t *n_runs = arenaut_program_alloc(program, n_before * sizeof *n_runs);
    if (!n_runs) return arn_no_memory(err);
    if (!is_sequence(program, ops, n_ops, n_runs, &n_copies)) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "it is no sequence in which all ops of one method run");
    }
    arenaut_rewrite made = {.program = program,
                            .n_ops = n_ops,
                            .n_ops_before = program->n_ops,
                            .before = arn_program_fingerprint(program)};
    made.tensors = arenaut_program_alloc(program, (n + n_copies) * sizeof *made.tensors);
    made.ops = arenaut_program_alloc(program, n_ops * sizeof *made.ops);
    arenaut_rewrite *kept = arenaut_program_alloc(program, sizeof *kept);
    sequence s = {.program = program,
                  .made = kept,
                  .n_before = program->n_tensors,
                  .n_runs = n_runs,
                  .err = err};
    s.storage = arenaut_program_alloc(program, n * sizeof *s.storage);
    s.latest = arenaut_program_alloc(program, n * sizeof *s.latest);
    s.now = arenaut_program_alloc(program, n_before * sizeof *s.now);
    s.copy = arenaut_program_alloc(program, n_before * sizeof *s.copy);
    s.number = arenaut_program_alloc(program, n_before * sizeof *s.number);
    s.ops = arenaut_program_alloc(program, n_ops * sizeof *s.ops);
    if (!made.tensors || !made.ops || !kept || !s.storage || !s.latest || !s.now || !s.copy ||
        !s.number || !s.ops) {
        return arn_no_memory(err);
    }
    *kept = made;
    const arenaut_status st = run_all(&s, ops);
    if (st == ARENAUT_OK) *out = kept;
    return st;
}

/* ---- dead runs ---- */

/* Runs whose results are not read before their op is repeated: the later run takes the place of the
 * first. Schedules are followed from their end, so that operands of dead runs alone are dead as
 * well. O(arguments of all runs). */

typedef struct follower {
    const arenaut_program *file;
    uint32_t
        *next_read; /* per tensor of the file, if it is a storage: the next run that reads there */
    uint32_t *next_dependence; /* per op: the next run that states to come after it */
    uint32_t *next_run;        /* per op: its own */
} follower;

static uint32_t storage_of(const follower *f, uint32_t tensor) {
    return arenaut_program_storage(f->file, tensor, NULL);
}

static bool is_unread(const follower *f, uint32_t op) {
    const arenaut_op *own = &f->file->ops[op];
    const uint32_t again = f->next_run[op];
    bool unread = again != ARENAUT_NONE && f->next_dependence[op] > again;
    for (uint32_t i = 0; i < own->n_outputs && unread; i++) {
        const uint32_t t = own->outputs[i];
        unread = t == ARENAUT_NONE || f->next_read[storage_of(f, t)] > again;
    }
    return unread;
}

static void note(follower *f, uint32_t op, uint32_t at) {
    const arenaut_op *own = &f->file->ops[op];
    const uint32_t first = f->file->methods[own->method].first_op;
    for (uint32_t i = 0; i < own->n_inputs; i++) {
        if (own->inputs[i] != ARENAUT_NONE) f->next_read[storage_of(f, own->inputs[i])] = at;
    }
    for (uint32_t i = 0; i < own->n_after; i++) f->next_dependence[first + own->after[i]] = at;
    f->next_run[op] = at;
}

bool arn_recompute_leave_out_unread(const arenaut_program *file, arn_region *region, uint32_t *ops,
                                    uint32_t *n_ops) {
    const uint32_t n = *n_ops;
    follower f = {.file = file};
    uint32_t *kept, begin = n;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(f.next_read, file->n_tensors),
                           ARN_ARRAY(f.next_dependence, file->n_ops),
                           ARN_ARRAY(f.next_run, file->n_ops), ARN_ARRAY(kept, n))) {
        return false;
    }
    for (uint32_t t = 0; t < file->n_tensors; t++) f.next_read[t] = ARENAUT_NONE;
    for (uint32_t i = 0; i < file->n_ops; i++) f.next_dependence[i] = f.next_run[i] = ARENAUT_NONE;
    for (uint32_t at = n; at-- > 0;) {
        if (is_unread(&f, ops[at])) continue;
        note(&f, ops[at], at);
        kept[--begin] = ops[at];
    }
    if (n - begin == file->n_ops) return true; /* an order, without copies of ops */
    for (uint32_t i = begin; i < n; i++) ops[i - begin] = kept[i];
    *n_ops = n - begin;
    return true;
}

/* ---- ops that may be repeated ---- */

/* A second run would draw other numbers, if the op draws any. */
static bool may_draw(const char *name) {
    const arn_op_row *row = arn_op_row_any(name);
    return row && (row->purity == ARN_PURITY_RANDOM || row->purity == ARN_PURITY_MAY_DRAW);
}

static bool may_be_copied(const arenaut_tensor *tensor) {
    const bool made = tensor->cls == ARENAUT_INTERMEDIATE || tensor->cls == ARENAUT_OUTPUT;
    return made && !tensor->qualified_name && !tensor->caller_owned;
}

/* Where no dialect says so, an op may write state that it reads. Scratch that a file states is of
 * one op alone. */
bool arn_recompute_may_repeat(const arenaut_program *program, const arenaut_op *op) {
    if (op->kind != ARENAUT_OP_OUT && op->kind != ARENAUT_OP_FUNCTIONAL &&
        op->kind != ARENAUT_OP_VIEW) {
        return false;
    }
    if (op->n_after > 0 || op->n_calls > 0 || op->n_scratch > 0) return false;
    if (arn_has_side_effects(program, op) || may_draw(op->name)) return false;
    for (uint32_t i = 0; i < op->n_inputs && !program->dialect; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && program->tensors[t].cls == ARENAUT_STATE) return false;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const uint32_t t = op->outputs[i];
        if (t != ARENAUT_NONE && !may_be_copied(&program->tensors[t])) return false;
    }
    return true;
}
