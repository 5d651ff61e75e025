/* The three look-ups that every table of rows offers. */
#ifndef ARN_CORE_TABLE_H
#define ARN_CORE_TABLE_H

#include <stddef.h>
#include <string.h>

/* Defines arenaut_NOUN_count, _at and _find over `static const arenaut_NOUN *const all[]`. */
#define ARN_TABLE_LOOKUPS(noun)                                              \
    size_t arenaut_##noun##_count(void) { return sizeof all / sizeof *all; } \
    const arenaut_##noun *arenaut_##noun##_at(size_t index) {                \
        return index < sizeof all / sizeof *all ? all[index] : NULL;         \
    }                                                                        \
    const arenaut_##noun *arenaut_##noun##_find(const char *name) {          \
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {              \
            if (strcmp(all[i]->name, name) == 0) return all[i];              \
        }                                                                    \
        return NULL;                                                         \
    }

#endif
