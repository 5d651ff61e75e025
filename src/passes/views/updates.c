/* updates: results of ops that update an operand become names for that operand's memory. Other
 * results of such an op stay tensors of their own. In programs of dialects with views, `views` has
 * done that already, in the order of the ops, so that views of results lie there, too. */
#include <arenaut/pass.h>

#include "analysis/aliases.h"
#include "core/checked.h"
#include "core/fail.h"
#include "passes/views/views.h"

static bool is_sized(const arenaut_tensor *t) {
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] < 0) return false;
    }
    return !t->unsized;
}

bool arn_pass_alias(arenaut_program *p, uint32_t from, uint32_t to) {
    uint64_t offset, end;
    const uint32_t base = arenaut_program_storage(p, from, NULL);
    const arenaut_tensor *storage = &p->tensors[base];
    arenaut_tensor *tensor = &p->tensors[to];
    if (to == base || tensor->view_of != ARENAUT_NONE) return tensor->view_of == base;
    if (tensor->device.type != storage->device.type ||
        tensor->device.index != storage->device.index ||
        tensor->view_offset < storage->view_offset) {
        return false;
    }
    offset = tensor->view_offset - storage->view_offset;
    const bool sized = is_sized(tensor) && is_sized(storage);
    if (sized && (!arn_add(offset, tensor->bytes, &end) || end > storage->bytes)) return false;
    tensor->view_of = base;
    tensor->view_offset = sized ? offset : arn_min_u64(offset, storage->bytes);
    if (!sized) tensor->bytes = 0;
    return true;
}

arenaut_status arn_pass_name_updated(arenaut_program *p, const arenaut_op *op, arenaut_error *err) {
    uint32_t n;
    const arenaut_in_place *pairs = arn_updates_of(op, &n);
    for (uint32_t i = 0; i < n && op->n_outputs > 0; i++) {
        const uint32_t from = op->inputs[pairs[i].input], to = op->outputs[pairs[i].output];
        if (from == ARENAUT_NONE || to == ARENAUT_NONE) continue;
        /* It lies where its operand does, even if its file differs. */
        arenaut_tensor *result = &p->tensors[to];
        const arenaut_tensor *operand = &p->tensors[from];
        if (result->view_of != ARENAUT_NONE || to == arenaut_program_storage(p, from, NULL))
            continue;
        const uint32_t base = arenaut_program_storage(p, from, NULL);
        const uint64_t own = base == from ? operand->view_offset
                                          : operand->view_offset + p->tensors[base].view_offset;
        result->view_offset = own;
        if (arn_pass_alias(p, from, to)) continue;
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "op '%s' updates '%.60s', but its result '%.60s' does not fit there",
                        op->name ? op->name : "", operand->name ? operand->name : "",
                        result->name ? result->name : "");
    }
    return ARENAUT_OK;
}

static arenaut_status updates_run(arenaut_program *p, const arenaut_pass_options *options,
                                  arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    (void)options;
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind == ARENAUT_OP_IN_PLACE) st = arn_pass_name_updated(p, op, err);
    }
    return st;
}

extern const arenaut_pass arn_pass_updates;
const arenaut_pass arn_pass_updates = {
    .name = "updates",
    .summary = "makes results of updates names of the updated operands",
    .by_default = true,
    .run = updates_run,
};
