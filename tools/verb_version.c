/* arenaut version: the version of the library, as text or JSON. */
#include "verb.h"

static exit_code run(const tool_options *options, arenaut_text *out) {
    if (options->json || options->jsonl) {
        text_put(out, "{\"schema\":\"arenaut.version/1\",\"version\":");
        text_put_json(out, arenaut_version());
        text_put(out, "}\n");
    } else {
        text_printf(out, "arenaut %s\n", arenaut_version());
    }
    return EXIT_FINE;
}

extern const tool_verb verb_version;
const tool_verb verb_version = {
    .name = "version",
    .summary = "the version of this build",
    .arguments = "",
    .examples = "arenaut version --json",
    .groups = GROUP_COMMON | GROUP_JSON,
    .run = run,
};
