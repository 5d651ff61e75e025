/* The table of verbs, made from verbs.def. The command looks verbs up here; help, completion and
 * the manual walk it. */
#include <string.h>

#include "verb.h"

#define VERB(id) extern const tool_verb verb_##id;
#include "verbs.def"
#undef VERB

static const tool_verb *const all[] = {
#define VERB(id) &verb_##id,
#include "verbs.def"
#undef VERB
};
enum { N_VERBS = sizeof all / sizeof *all };

size_t verb_count(void) { return N_VERBS; }
const tool_verb *verb_at(size_t index) { return index < N_VERBS ? all[index] : NULL; }

const tool_verb *verb_find(const char *name) {
    for (size_t i = 0; i < N_VERBS; i++) {
        if (strcmp(all[i]->name, name) == 0) return all[i];
    }
    return NULL;
}

/* Suggests the nearest verb. Names kept free for later verbs are unknown like any other. */
exit_code unknown_verb(const char *name) {
    const char *names[N_VERBS];
    for (size_t i = 0; i < N_VERBS; i++) names[i] = all[i]->name;
    const char *near = nearest(name, names, N_VERBS);
    if (near) {
        return complain(EXIT_USAGE, NULL, "unknown verb '%s': did you mean '%s'?", name, near);
    }
    return complain(EXIT_USAGE, NULL, "unknown verb '%s': see 'arenaut help'", name);
}
