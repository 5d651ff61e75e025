/* Effects of kernels on the memory of their arguments, from their names. A kernel that is not
 * listed may update all of its arguments. */
#include <string.h>

#include "formats/pte/pte_reader.h"

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Out variants are named so by their overload. Out variants of aten with other names
 * ("max.dim_max", "tanh_backward.grad_input") are known by returning an argument: besides them only
 * ops that work in place do, and these end in an underscore. */
bool arn_pte_is_out_variant(const char *name, const char *overload) {
    return ends_with(overload, "out") || (starts_with(name, "aten::") && !ends_with(name, "_"));
}

/* The runtime's own kernels, in the order in which they are tried: the first name that the
 * kernel's begins with counts. */
static const struct {
    const char *name;
    arn_pte_effect effect;
} known[] = {
    {"executorch_prim::et_view", ARN_PTE_VIEWS},
    {"executorch_prim::et_copy_index", ARN_PTE_UPDATES_FIRST},
    {"executorch_prim::", ARN_PTE_READS}, /* arithmetic on numbers, and sizes of tensors */
    {"aten::sym_", ARN_PTE_READS},
    {"aten::_local_scalar_dense", ARN_PTE_READS},
};

arn_pte_effect arn_pte_kernel_effect(const char *name) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (starts_with(name, known[i].name)) return known[i].effect;
    }
    const bool in_place = starts_with(name, "aten::") && ends_with(name, "_");
    return in_place ? ARN_PTE_UPDATES_FIRST : ARN_PTE_UPDATES_ANY;
}
