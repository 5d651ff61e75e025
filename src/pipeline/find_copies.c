/* Views that may be copies, for the sake of what they are a part of: that is alive as long as
 * anybody reads one of its names. Of a view as large as what it names a copy gains nothing, nor of
 * what is there to the end anyway, unless a join could then be written in place: neither names nor
 * what has them can. What is updated is no part of what it was. */
#include <string.h>

#include "core/memory.h"
#include "stages/stages.h"

typedef struct views {
    const arenaut_program *file, *program; /* as it was read; behind its passes */
    const arenaut_lowering *lowering;
    bool *kept;        /* per tensor of the program: whoever reads a part, all of it stays */
    bool *is_joined;   /* likewise: an operand or the result of a join that may be in place */
    bool *is_state;    /* likewise */
    bool *is_result;   /* likewise: a method returns it, under this name */
    uint32_t *updated; /* likewise: behind which op of the file what it names is written; 0: none */
    bool *is_read;     /* per tensor of the program */
    bool *is_choice;   /* per op of the file */
    uint32_t *readers; /* per tensor of the file: how many of its readers name its memory */
    uint32_t *number;  /* per tensor of the file: of the whole; NONE: it is none */
    uint32_t *last;    /* per tensor of the file: the op that reads it last, under this name */
    uint32_t *first_end; /* per storage: the op behind which it has a name that is read no more */
    arn_copies *copies;
} views;

static uint32_t storage_of(const views *v, uint32_t tensor) {
    return arenaut_program_storage(v->program, tensor, NULL);
}

static bool is_named(const views *v, uint32_t tensor, uint32_t storage) {
    return tensor != ARENAUT_NONE && storage_of(v, tensor) == storage;
}

static bool only_reads(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_OUT || op->kind == ARENAUT_OP_FUNCTIONAL ||
           op->kind == ARENAUT_OP_VIEW;
}

/* What methods return, and what is not in the arena. */
static void find_kept(const views *v) {
    const arenaut_program *p = v->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const bool planned =
            p->tensors[t].cls == ARENAUT_INTERMEDIATE || p->tensors[t].cls == ARENAUT_INPUT;
        v->kept[t] = !planned || v->lowering->buffer[t] == ARENAUT_NONE;
    }
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        for (uint32_t i = 0; i < method->n_outputs; i++) {
            v->is_result[method->outputs[i]] = true;
            v->kept[storage_of(v, method->outputs[i])] = true;
        }
        for (uint32_t i = 0; i < method->n_bindings; i++) {
            const uint32_t value = storage_of(v, method->bindings[i].value);
            const uint32_t target = storage_of(v, method->bindings[i].target);
            v->kept[value] = v->kept[target] = v->is_state[value] = v->is_state[target] = true;
        }
    }
}

static bool is_result(const arenaut_joining *joins, uint32_t tensor) {
    bool among = false;
    for (uint32_t i = 0; i < joins->n; i++) among = among || joins->results[i] == tensor;
    return among;
}

/* NULL: any may. */
static void find_joined(const views *v, const arenaut_joining *joins) {
    const arenaut_program *p = v->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) v->is_joined[t] = !joins;
    for (uint32_t i = 0; joins && i < joins->n; i++) v->is_joined[joins->results[i]] = true;
    for (uint32_t i = 0; joins && i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind != ARENAUT_OP_OUT || op->n_outputs != 1 || !is_result(joins, op->outputs[0])) {
            continue;
        }
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != ARENAUT_NONE) v->is_joined[op->inputs[k]] = true;
        }
    }
}

/* Where memory is written other than by what makes it; and whose memory has yet another name. */
static void find_names(const views *v) {
    for (uint32_t i = 0; i < v->program->n_ops; i++) {
        const arenaut_op *op = &v->program->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != ARENAUT_NONE) v->is_read[op->inputs[k]] = true;
        }
    }
    for (uint32_t i = 0; i < v->file->n_ops; i++) {
        const arenaut_op *op = &v->file->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            const uint32_t t = op->inputs[k];
            if (t == ARENAUT_NONE) continue;
            const uint32_t storage = storage_of(v, t);
            if (!only_reads(op)) v->updated[storage] = i;
            bool names = !only_reads(op);
            for (uint32_t o = 0; o < op->n_outputs; o++) {
                names = names || is_named(v, op->outputs[o], storage);
            }
            v->readers[t] += names;
        }
    }
}

/* Whether a copy of this part may gain anything, if it may be one. */
static bool may_gain(const views *v, uint32_t part, uint32_t whole) {
    const arenaut_tensor *tensors = v->program->tensors;
    if (v->is_joined[part] || v->is_joined[whole]) return true;
    return !v->kept[whole] && tensors[part].bytes < tensors[whole].bytes;
}

/* Whether the op names parts that somebody reads, whose names nothing names in turn. */
static bool is_choice(const views *v, uint32_t i) {
    const arenaut_op *op = &v->file->ops[i];
    if (!arenaut_view_may_be_copy(v->file, i)) return false;
    const uint32_t whole = storage_of(v, op->inputs[0]);
    bool choice = !v->is_state[whole] && v->updated[whole] <= i, read = false, gains = false;
    for (uint32_t k = 0; choice && k < op->n_outputs; k++) {
        const uint32_t t = op->outputs[k];
        read = read || v->is_read[t];
        gains = gains || may_gain(v, t, whole);
        choice = v->program->tensors[t].view_of == whole && v->readers[t] == 0 &&
                 !v->is_result[t] && v->program->tensors[t].bytes > 0;
    }
    return choice && read && gains;
}

/* A name that is never read has no end. */
static void find_ends(const views *v) {
    for (uint32_t i = 0; i < v->file->n_ops; i++) {
        const arenaut_op *op = &v->file->ops[i];
        if (v->is_choice[i]) continue;
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != ARENAUT_NONE) v->last[op->inputs[k]] = i;
        }
    }
    for (uint32_t t = 0; t < v->file->n_tensors; t++) {
        const uint32_t storage = storage_of(v, t);
        if (v->last[t] < v->first_end[storage]) v->first_end[storage] = v->last[t];
    }
}

static bool is_late(const views *v, const arenaut_op *op) {
    const uint32_t end = v->first_end[storage_of(v, op->inputs[0])];
    bool late = false;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t last = v->last[op->outputs[k]];
        late = late || (last != ARENAUT_NONE && last > end);
    }
    return late;
}

static void add_choice(const views *v, uint32_t i) {
    const arenaut_op *op = &v->file->ops[i];
    arn_copies *c = v->copies;
    const uint32_t whole = storage_of(v, op->inputs[0]);
    if (v->number[whole] == ARENAUT_NONE) v->number[whole] = c->n_wholes++;
    c->ops[c->n] = i;
    c->late[c->n] = is_late(v, op);
    c->whole[c->n++] = v->number[whole];
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const arenaut_tensor *part = &v->program->tensors[op->outputs[k]];
        c->whole_of_part[c->n_parts] = v->number[whole];
        c->parts[c->n_parts++] =
            (arenaut_part){op->outputs[k], whole, part->view_offset, part->bytes};
    }
}

static bool allocate(views *v, arn_region *region) {
    const size_t n = v->program->n_tensors;
    size_t outputs = 0;
    for (uint32_t i = 0; i < v->file->n_ops; i++) outputs += v->file->ops[i].n_outputs;
    v->kept = arn_region_allocate(region, n, 5 * sizeof *v->kept);
    v->updated = arn_region_allocate(region, n, 5 * sizeof *v->updated);
    v->is_choice = arn_region_allocate(region, v->file->n_ops, 2 * sizeof *v->is_choice);
    v->copies->ops = arn_region_allocate(region, v->file->n_ops, 2 * sizeof *v->copies->ops);
    v->copies->parts = arn_region_allocate(region, outputs, sizeof *v->copies->parts);
    v->copies->whole_of_part = arn_region_allocate(region, outputs, sizeof *v->number);
    if (!v->kept || !v->updated || !v->is_choice || !v->copies->ops || !v->copies->parts ||
        !v->copies->whole_of_part) {
        return false;
    }
    v->is_read = v->kept + n;
    v->is_joined = v->is_read + n;
    v->is_state = v->is_joined + n;
    v->is_result = v->is_state + n;
    memset(v->kept, false, 5 * n * sizeof *v->kept);
    v->copies->whole = v->copies->ops + v->file->n_ops;
    v->copies->late = v->is_choice + v->file->n_ops;
    v->readers = v->updated + n;
    v->number = v->readers + n;
    v->last = v->number + n;
    v->first_end = v->last + n;
    memset(v->updated, 0, 2 * n * sizeof *v->updated);
    for (size_t t = 0; t < 3 * n; t++) v->number[t] = ARENAUT_NONE;
    return true;
}

arenaut_status arn_pipeline_find_copies(const arenaut_pipeline *p, const arenaut_pipeline *given,
                                        const arenaut_joining *joins, arn_region *region,
                                        arn_copies *copies, arenaut_error *err) {
    views v = {.file = p->document.program,
               .program = given->document.program,
               .lowering = given->lowering,
               .copies = copies};
    *copies = (arn_copies){0};
    if (!allocate(&v, region)) return arn_no_memory(err);
    find_kept(&v);
    find_joined(&v, joins);
    find_names(&v);
    for (uint32_t i = 0; i < v.file->n_ops; i++) v.is_choice[i] = is_choice(&v, i);
    find_ends(&v);
    for (uint32_t i = 0; i < v.file->n_ops; i++) {
        if (v.is_choice[i]) add_choice(&v, i);
    }
    return ARENAUT_OK;
}
