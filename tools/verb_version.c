/* arenaut version: the version of the library, the commit of the sources and the compiler, as text
 * or JSON. */
#include "verb.h"

#include "commit.h" /* made by cmake/commit.cmake */

#if defined __clang__
#define COMPILER "clang " __clang_version__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "another compiler"
#endif

static void put_json(arenaut_text *out) {
    text_put(out, "{\"schema\":\"arenaut.version/1\",\"version\":");
    text_put_json(out, arenaut_version());
    text_put(out, ",\"commit\":");
    if (*ARENAUT_COMMIT) text_put_json(out, ARENAUT_COMMIT);
    else text_put(out, "null");
    text_put(out, ",\"compiler\":");
    text_put_json(out, COMPILER);
    text_put(out, "}\n");
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    if (options->json || options->jsonl) {
        put_json(out);
    } else {
        text_printf(out, "arenaut %s\ncommit %s, %s\n", arenaut_version(),
                    *ARENAUT_COMMIT ? ARENAUT_COMMIT : "unknown", COMPILER);
    }
    return EXIT_FINE;
}

extern const tool_verb verb_version;
const tool_verb verb_version = {
    .name = "version",
    .summary = "the version, the commit and the compiler of this build",
    .arguments = "",
    .examples = "arenaut version --json",
    .groups = GROUP_COMMON | GROUP_JSON,
    .run = run,
};
