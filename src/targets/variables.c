/* Count of variables: VAR_HANDLE makes a handle on one, by its name, and the first ASSIGN_VARIABLE
 * with such a handle gives it room. */
#include "targets/variables.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/name_tree.h"

typedef struct counting {
    const arenaut_program *program;
    arn_region region; /* of the names */
    arn_name_tree names;
    uint32_t *behind; /* by tensor: the variable that it is a handle on; ARENAUT_NONE: none */
    bool *has_room;   /* by variable */
} counting;

static bool is_op(const arenaut_op *op, const char *name) {
    return op->name && strcmp(op->name, name) == 0;
}

static const char *shared_name(const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        if (strcmp(op->attributes[i].name, "shared_name") == 0) return op->attributes[i].text;
    }
    return NULL;
}

/* Without a name they are one. False if there is no memory. */
static bool take_handle(counting *c, const arenaut_op *op, arn_variables *variables) {
    const char *text = shared_name(op);
    const arn_name name = {(const uint8_t *)(text ? text : ""), text ? strlen(text) : 0};
    uint32_t number = variables->n;
    bool found;
    if (!arn_name_tree_add(&c->names, &c->region, name, &number, &found)) return false;
    variables->n += !found;
    if (op->n_outputs && op->outputs[0] != ARENAUT_NONE) c->behind[op->outputs[0]] = number;
    return true;
}

/* False past 2^63 - 1 bytes. */
static bool take_value(counting *c, const arenaut_op *op, uint64_t align,
                       arn_variables *variables) {
    uint64_t bytes;
    if (op->n_inputs < 2 || op->inputs[0] == ARENAUT_NONE || op->inputs[1] == ARENAUT_NONE) {
        return true;
    }
    const uint32_t number = c->behind[op->inputs[0]];
    if (number == ARENAUT_NONE || c->has_room[number]) return true;
    c->has_room[number] = true;
    return arn_align_up(c->program->tensors[op->inputs[1]].bytes, align, &bytes) &&
           arn_add(variables->bytes, bytes, &variables->bytes);
}

static arenaut_status count(counting *c, uint64_t align, arn_variables *variables,
                            arenaut_error *err) {
    const arenaut_program *p = c->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) c->behind[t] = ARENAUT_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (is_op(op, "VAR_HANDLE") && !take_handle(c, op, variables)) return arn_no_memory(err);
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (!is_op(op, "ASSIGN_VARIABLE") || take_value(c, op, align, variables)) continue;
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "the variables are larger than 2^63 - 1 bytes");
    }
    return ARENAUT_OK;
}

arenaut_status arn_count_variables(const arenaut_program *program, uint64_t align,
                                   const arenaut_allocator *allocator, arn_variables *variables,
                                   arenaut_error *err) {
    counting c = {.program = program};
    arn_region_init(&c.region, allocator);
    c.behind = arn_allocate(allocator, program->n_tensors, sizeof *c.behind);
    c.has_room = arn_allocate_zeroed(allocator, program->n_ops, sizeof *c.has_room);
    *variables = (arn_variables){0};
    const arenaut_status st =
        c.behind && c.has_room ? count(&c, align, variables, err) : arn_no_memory(err);
    arn_release(allocator, c.behind);
    arn_release(allocator, c.has_room);
    arn_region_free(&c.region);
    return st;
}
