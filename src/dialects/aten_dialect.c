/* aten: the operators of PyTorch, spelled "namespace::name.overload" without ".default".
 *
 * Others return new memory, and are taken to have an out variant: docs/executorch.md names the
 * seven that have none. Operators that update an operand are told by their names, when a graph is
 * read. */
#include "dialects/dialect.h"

enum {
    VIEW = ARENAUT_TRAIT_VIEW,
    MAY_VIEW = ARENAUT_TRAIT_MAY_VIEW,
    ASSERT = ARENAUT_TRAIT_ASSERT,
    /* An operator that does something to each element has a form that does it in place. */
    ELEMENTWISE = ARENAUT_TRAIT_ELEMENTWISE | ARENAUT_TRAIT_UPDATES,
    UPDATE = ARENAUT_TRAIT_UPDATES,
    COPY_VIEW = ARENAUT_TRAIT_MAY_VIEW | ARENAUT_TRAIT_COPIES,
    SAME = ARENAUT_TRAIT_SAME_VALUE,
    /* Views of a part, each of which has a sibling that copies. */
    PART_VIEW = ARENAUT_TRAIT_VIEW | ARENAUT_TRAIT_HAS_COPY,
    VARIES = ARENAUT_TRAIT_VARIES,
};

/* Views are those that the operators' schemas state; of MAY_VIEW, layouts decide. Queries of sizes
 * and assertions have no effect on memory. */
static const arenaut_operator operators[] = {
#define ATEN(name, family, purity, cost, window, traits, in_place, substitute) \
    {name, traits, substitute},
#include "ops/ops.def"
    {NULL, 0, NULL},
};

/* Operators that read each element before they write there, and updates of a part, where all
 * the rest stays as it is. */
static const arenaut_in_place_rule in_place[] = {
#define ATEN(name, family, purity, cost, window, traits, in_place, substitute) \
    ARN_IN_PLACE_##in_place(name)
#include "ops/ops.def"
    {NULL, 0, 0, false},
};

extern const arenaut_dialect arn_dialect_aten;
const arenaut_dialect arn_dialect_aten = {
    .name = "aten",
    .summary = "the operators of PyTorch",
    .pipeline =
        "gradients,undo-functionalization,write-back,specs,substitute,asserts,views,"
        "upper-bounds,out-variants,constants",
    .operators = operators,
    .n_operators = sizeof operators / sizeof *operators - 1,
    .in_place = in_place,
};
