/* The table of dialects, and the look-up of operators in one by binary search, as the tables are in
 * the order of strcmp. */
#include <string.h>

#include <arenaut/dialect.h>

#include "dialects/dialect.h"

#define DIALECT(id) extern const arenaut_dialect arn_dialect_##id;
#include "dialects/dialects.def"
#undef DIALECT

static const arenaut_dialect *const all[] = {
#define DIALECT(id) &arn_dialect_##id,
#include "dialects/dialects.def"
#undef DIALECT
};

size_t arenaut_dialect_count(void) { return sizeof all / sizeof *all; }

const arenaut_dialect *arenaut_dialect_at(size_t index) {
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}

const arenaut_dialect *arenaut_dialect_find(const char *name) {
    for (size_t i = 0; name && i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i]->name, name) == 0) return all[i];
    }
    return NULL;
}

/* Operators that passes make if a dialect has no word for them. */
static const arenaut_operator own[] = {
#define OWN(name, family, purity, cost, traits) {name, traits, NULL},
#include "ops/ops.def"
};

static const arenaut_operator *find_own(const char *name) {
    for (size_t i = 0; name && i < sizeof own / sizeof *own; i++) {
        if (strcmp(own[i].name, name) == 0) return &own[i];
    }
    return NULL;
}

const arenaut_operator *arn_dialect_operator(const arenaut_dialect *dialect, const char *name) {
    size_t low = 0, high = dialect && name ? dialect->n_operators : 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(dialect->operators[middle].name, name);
        if (order == 0) return &dialect->operators[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return find_own(name);
}
