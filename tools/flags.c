/* The table of flags and the loops over it. Parsing, help, completion and the manual read the rows;
 * so does code that must know all flags of some kind, such as flags that a bare placement problem
 * cannot have. A new flag is a row here, a field of tool_options and its use. */
#include "args.h"

#include "output.h"

#include <stdlib.h>
#include <string.h>

#define FIELD(name) offsetof(tool_options, name)

/* The order is that of help. A flag belongs to one group, and a verb takes whole groups: a flag
 * that a verb does not take is a usage error, never ignored. */
static const flag_row flags[] = {
    {"output", 'o', FLAG_TEXT, GROUP_OUTPUT, FIELD(output), "FILE",
     .help = "write here; '-' is standard output", .traits = COMMONLY_USED | GIVEN_ONCE},
    {"force", 'f', FLAG_SWITCH, GROUP_OUTPUT, FIELD(force), NULL,
     .help = "overwrite a file, or another tool's plan", .traits = COMMONLY_USED},
    {"compact", 0, FLAG_SWITCH, GROUP_WRITE, FIELD(compact), NULL,
     .help = "leave out unreferenced bytes; strip cannot undo it", .traits = ABOUT_MODELS},
    {"as", 0, FLAG_TEXT, GROUP_EXPORT, FIELD(as), "FORMAT",
     .help = "the output's format (see below)", .names = list_kinds, .traits = COMMONLY_USED},
    {"svg", 0, FLAG_SWITCH, GROUP_VIEW, FIELD(svg), NULL, .help = "a picture as SVG",
     .traits = COMMONLY_USED},
    {"html", 0, FLAG_SWITCH, GROUP_VIEW, FIELD(html), NULL,
     .help = "a page for the browser: one file, without network", .traits = COMMONLY_USED},
    {"what-if", 0, FLAG_SWITCH, GROUP_VIEW, FIELD(what_if), NULL,
     .help = "the page also has the baseline, and a plan for each remedy"},
    {"replan", 0, FLAG_SWITCH, GROUP_VIEW, FIELD(replan), NULL,
     .help = "the page has the planner in it (140 KB), to try other constraints"},
    {"ascii", 0, FLAG_SWITCH, GROUP_VIEW, FIELD(ascii), NULL,
     .help = "a picture made of characters", .traits = COMMONLY_USED},
    {"steps", 0, FLAG_TEXT, GROUP_VIEW, FIELD(steps), "A..B", .help = "show these steps",
     .standard = "all"},
    {"compare", 0, FLAG_SWITCH, GROUP_VIEW, FIELD(compare), NULL,
     .help = "with --svg: below the baseline"},
    {"open", 0, FLAG_SWITCH, GROUP_VIEW, FIELD(open), NULL,
     .help = "show it in the browser; without -o, a page in a folder for temporary files"},
    {"width", 0, FLAG_NUMBER, GROUP_VIEW, FIELD(width), "N", .help = "columns of --ascii",
     .standard = "the terminal's, else 80"},
    {"fail-on-growth", 0, FLAG_TEXT, GROUP_DIFF, FIELD(fail_on_growth), "PERCENT",
     .help = "exit 1 if the bytes to reserve grew by more", .traits = COMMONLY_USED},
    {"planned", 0, FLAG_SWITCH, GROUP_DIFF, FIELD(planned), NULL,
     .help = "compare new plans of both", .traits = COMMONLY_USED},
    {"markdown", 0, FLAG_SWITCH, GROUP_DIFF, FIELD(markdown), NULL,
     .help = "tables for a pull request", .traits = COMMONLY_USED},
    {"budget", 0, FLAG_SIZE, GROUP_BUDGET, FIELD(budget), "SIZE",
     .help = "exit 1 if more bytes must be reserved", .traits = COMMONLY_USED},
    {"fit", 0, FLAG_TEXT, GROUP_WRITE | GROUP_VIEW, FIELD(fit_text), "SIZE|PERCENT%",
     .help = "the gentlest combination that fits; else exit 1",
     .traits = COMMONLY_USED | ABOUT_MODELS},
    {"smallest", 0, FLAG_SWITCH, GROUP_WRITE, FIELD(smallest), NULL,
     .help = "the combination that needs least", .traits = COMMONLY_USED | ABOUT_MODELS},
    {"json", 0, FLAG_SWITCH, GROUP_JSON, FIELD(json), NULL,
     .help = "one JSON document on standard output", .traits = COMMONLY_USED},
    {"jsonl", 0, FLAG_SWITCH, GROUP_JSON, FIELD(jsonl), NULL, .help = "one JSON document per file"},

    {"from", 0, FLAG_TEXT, GROUP_INPUT, FIELD(from), "FORMAT", .help = "the input's format",
     .standard = "by content", .list = "formats"},
    {"hash", 0, FLAG_SWITCH, GROUP_INPUT, FIELD(hash), NULL, .help = "compute the file's sha256"},
    {"max-memory", 0, FLAG_SIZE, GROUP_INPUT, FIELD(max_memory), "SIZE", .help = "of this process",
     .standard = "the system's limit"},

    {"target", 0, FLAG_TEXT, GROUP_PROGRAM, FIELD(target), "NAME", .help = "the runtime",
     .standard = "by format", .list = "targets", .traits = COMMONLY_USED | ABOUT_MODELS},
    {"kernels", 0, FLAG_TEXT, GROUP_PROGRAM, FIELD(kernels), "NAME|FILE",
     .help = "the runtime's kernels", .standard = "the target's", .list = "kernels",
     .traits = COMMONLY_USED | ABOUT_MODELS},
    {"unmeasured", 0, FLAG_SWITCH, GROUP_PROGRAM, FIELD(unmeasured), NULL,
     .help = "also use kernel rules inferred from source, not measured", .traits = ABOUT_MODELS},
    {"method", 0, FLAG_TEXT, GROUP_PROGRAM, FIELD(method), "NAME", .help = "only this entry method",
     .standard = "all", .traits = ABOUT_MODELS},
    {"scratch", 0, FLAG_TEXT, GROUP_PROGRAM, FIELD(scratch), "FILE",
     .help = "kernel scratch bytes per op, CSV: method,op,bytes", .traits = ABOUT_MODELS},
    {"dim", 0, FLAG_LIST, GROUP_PROGRAM, FIELD(dim), "NAME=N",
     .help = "a size that the file leaves open; or LOW..HIGH, or A,B"},
    {"shapes", 0, FLAG_TEXT, GROUP_PROGRAM, FIELD(shapes), "FILE",
     .help = "sizes of tensors that are not inferred, CSV: name,2x3x4", .traits = ABOUT_MODELS},
    {"share", 0, FLAG_TEXT, GROUP_PROGRAM, FIELD(share), "NAMES|auto",
     .help = "buffers that several files share: one layout"},
    {"one-arena", 0, FLAG_SWITCH, GROUP_SEVERAL, FIELD(one_arena), NULL,
     .help = "one tensor_arena; one model runs at a time", .traits = COMMONLY_USED | ABOUT_MODELS},
    {"passes", 0, FLAG_TEXT, GROUP_PROGRAM, FIELD(passes), "a,b,-c",
     .help = "add passes, leave out others", .list = "passes", .traits = ABOUT_MODELS},
    {"dump-after", 0, FLAG_TEXT, GROUP_PROGRAM, FIELD(dump_after), "PASS",
     .help = "the program after this pass, as JSON on standard error", .list = "passes",
     .traits = ABOUT_MODELS},
    {"dump-live", 0, FLAG_SWITCH, GROUP_PROGRAM, FIELD(dump_live), NULL,
     .help = "the live ranges of values, as a table on standard error", .traits = ABOUT_MODELS},

    {"pool", 0, FLAG_LIST, GROUP_MEMORY, FIELD(pool), "NAME=SIZE",
     .help = "memory, fastest first; or NAME=SIZE@ALIGN:DEVICE", .traits = COMMONLY_USED},
    {"pools", 0, FLAG_TEXT, GROUP_MEMORY, FIELD(pools_file), "FILE.toml",
     .help = "such memory as a file describes it (docs/pools.md)"},
    {"pin", 0, FLAG_LIST, GROUP_MEMORY, FIELD(pin), "TENSOR=POOL[:OFFSET]",
     .help = "keep a tensor in a pool, or at an offset"},
    {"align", 0, FLAG_LIST, GROUP_MEMORY, FIELD(align), "N|TENSOR=N",
     .help = "at least this alignment", .standard = "the target's"},
    {"align-op", 0, FLAG_LIST, GROUP_MEMORY, FIELD(align_op), "OP=N",
     .help = "at least this alignment for all arguments of these ops; repeat. Of offsets: the "
             "application aligns the memory; constants and the callers' tensors are not covered",
     .traits = ABOUT_MODELS},
    {"no-alloc-io", 0, FLAG_SWITCH, GROUP_MEMORY, FIELD(no_alloc_io), NULL,
     .help = "inputs and outputs are not in the arena", .traits = ABOUT_MODELS},
    {"preserve-inputs", 0, FLAG_SWITCH, GROUP_MEMORY, FIELD(preserve_inputs), NULL,
     .help = "inputs keep their bytes", .standard = "may be overwritten after their last use",
     .traits = ABOUT_MODELS},
    {"inplace", 0, FLAG_TEXT, GROUP_MEMORY, FIELD(inplace), "on|off|only",
     .help = "results may lie over operands", .standard = "off", .choices = "on|off|only",
     .traits = COMMONLY_USED | ABOUT_MODELS},
    {"overlap", 0, FLAG_TEXT, GROUP_MEMORY, FIELD(overlap), "on|off",
     .help = "results may reach into operands", .standard = "off", .choices = "on|off",
     .traits = COMMONLY_USED | ABOUT_MODELS},
    {"split", 0, FLAG_TEXT, GROUP_MEMORY, FIELD(split), "on|off|GROUPS",
     .help = "tile ops; or groups: 2-5/4:kept", .standard = "off",
     .traits = COMMONLY_USED | ABOUT_MODELS},
    {"recompute", 0, FLAG_TEXT, GROUP_MEMORY, FIELD(recompute), "on|off",
     .help = "rematerialize cheap ops", .standard = "off", .choices = "on|off",
     .traits = COMMONLY_USED | ABOUT_MODELS},
    {"costs", 0, FLAG_TEXT, GROUP_MEMORY, FIELD(costs), "FILE",
     .help = "times of ops, CSV: method,op,nanoseconds", .standard = "modelled",
     .traits = ABOUT_MODELS},
    {"device", 0, FLAG_TEXT, GROUP_MEMORY, FIELD(device), "NAME|FLOPS:BYTES",
     .help = "models their times: a100, h100, cpu, or rates a second", .standard = "a100",
     .traits = ABOUT_MODELS},
    {"reorder", 0, FLAG_TEXT, GROUP_MEMORY, FIELD(reorder), "on|off", .help = "reschedule ops",
     .standard = "off", .choices = "on|off", .traits = COMMONLY_USED | ABOUT_MODELS},
    {"max-ops", 0, FLAG_NUMBER, GROUP_MEMORY, FIELD(max_ops), "N",
     .help = "of ops that tiling or rematerialization may add", .standard = "any number",
     .traits = ABOUT_MODELS},
    {"max-macs", 0, FLAG_PERCENT, GROUP_MEMORY, FIELD(max_macs), "PERCENT",
     .help = "of multiplications that tiling may add", .standard = "any number",
     .traits = ABOUT_MODELS},
    {"rounding", 0, FLAG_TEXT, GROUP_MEMORY, FIELD(rounding), "refuse|allow",
     .help = "allow: tiles may round otherwise than the whole, not the same bits",
     .standard = "refuse", .choices = "refuse|allow", .traits = ABOUT_MODELS},
    {"inplace-op", 0, FLAG_LIST, GROUP_MEMORY, FIELD(inplace_op), "OP=IN[:OUT]",
     .help = "this kernel may write an output over that input, numbered from 0; no other with "
             "--inplace only; repeat",
     .traits = ABOUT_MODELS},

    {"planner", 0, FLAG_TEXT, GROUP_SEARCH, FIELD(planner), "NAME",
     .help = "how offsets are found; bench takes a,b,...", .standard = "auto", .list = "planners"},
    {"set", 0, FLAG_LIST, GROUP_SEARCH, FIELD(set), "NAME=VALUE",
     .help = "a setting of that planner, such as match_range=0; repeat"},
    {"effort", 0, FLAG_NUMBER, GROUP_SEARCH, FIELD(effort), "N", .help = "search effort, in steps"},
    {"time", 0, FLAG_TIME, GROUP_SEARCH, FIELD(time_ms), "TIME",
     .help = "search so long, e.g. 500ms or 2 (seconds); with --effort, whichever is first"},
    {"seed", 0, FLAG_NUMBER, GROUP_SEARCH, FIELD(seed), "N", .help = "of random choices",
     .standard = "0"},
    {"threads", 'j', FLAG_NUMBER, GROUP_SEARCH, FIELD(threads), "N",
     .help = "never changes the result", .standard = "the processor's cores"},
    {"capacity", 0, FLAG_SIZE, GROUP_SEARCH, FIELD(capacity), "SIZE",
     .help = "fit into SIZE rather than minimise"},
    {"no-progress", 0, FLAG_SWITCH, GROUP_SEARCH, FIELD(no_progress), NULL,
     .help = "no progress line on a terminal"},

    {"quiet", 'q', FLAG_SWITCH, GROUP_COMMON, FIELD(quiet), NULL,
     .help = "results and errors only"},
    {"verbose", 'v', FLAG_LEVEL, GROUP_COMMON, FIELD(verbose), NULL,
     .help = "say more; -vv still more"},
    {"color", 0, FLAG_TEXT, GROUP_COMMON, FIELD(color), "WHEN", .help = "auto, always or never",
     .standard = "auto", .choices = "auto|always|never"},
    {"all", 0, FLAG_SWITCH, GROUP_HELP, FIELD(all), NULL,
     .help = "every flag of the verb, and the modes of --split", .traits = COMMONLY_USED},
    {"help", 'h', FLAG_SWITCH, GROUP_COMMON, FIELD(help), NULL, .help = "this help"},
};
enum { N_FLAGS = sizeof flags / sizeof *flags };

const flag_row *flag_at(size_t index) { return index < N_FLAGS ? &flags[index] : NULL; }

static void *field_of(tool_options *options, const flag_row *flag) {
    return (char *)options + flag->field;
}

static const void *value_of(const tool_options *options, const flag_row *flag) {
    return (const char *)options + flag->field;
}

static bool is_counted(const flag_row *flag) {
    return flag->kind == FLAG_NUMBER || flag->kind == FLAG_PERCENT || flag->kind == FLAG_SIZE ||
           flag->kind == FLAG_TIME;
}

/* "--inplace off" states the default, so it counts as not given. */
static bool is_given(const tool_options *options, const flag_row *flag) {
    const void *field = value_of(options, flag);
    switch (flag->kind) {
        case FLAG_SWITCH: return *(const bool *)field;
        case FLAG_LEVEL: return *(const unsigned *)field > 0;
        case FLAG_TEXT: {
            const char *text = *(const char *const *)field;
            return text && !(flag->standard && strcmp(text, flag->standard) == 0);
        }
        case FLAG_LIST: return ((const text_list *)field)->n > 0;
        case FLAG_NUMBER:
        case FLAG_PERCENT:
        case FLAG_SIZE:
        case FLAG_TIME: return *(const uint64_t *)field != NOT_GIVEN;
    }
    return false;
}

void options_default(tool_options *options) {
    *options = (tool_options){.fit = NOT_GIVEN};
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (is_counted(&flags[i])) *(uint64_t *)field_of(options, &flags[i]) = NOT_GIVEN;
    }
}

void options_free(tool_options *options) {
    for (size_t i = 0; i < options->owned.n; i++) free((void *)(uintptr_t)options->owned.items[i]);
    free(options->owned.items);
    free(options->names.items);
    free(options->files.items);
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (flags[i].kind == FLAG_LIST) free(((text_list *)field_of(options, &flags[i]))->items);
    }
}

const char *flag_about_models_given(const tool_options *options) {
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (flags[i].traits & ABOUT_MODELS && is_given(options, &flags[i])) return flags[i].name;
    }
    return NULL;
}

/* The default of a flag: a number of the library for one of them, else the row's. */
void put_default(const flag_row *flag, arenaut_text *out) {
    if (flag->standard) text_printf(out, " (default: %s)", flag->standard);
    if (flag->field == FIELD(effort)) {
        text_printf(out, " (default: %s)", with_commas(arenaut_default_effort()).text);
    }
}
