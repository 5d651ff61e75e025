/* planners, formats, passes, targets: the contents of this build's tables. */
#include "verb_lists.h"

#include <string.h>

#include "tool.h"

exit_code print_list(const tool_options *options, arenaut_text *out, const char *kind,
                     const char *third, row_fn row_at) {
    list_row row;
    if (options->json || options->jsonl) {
        text_printf(out, "{\"schema\":\"arenaut.list/1\",\"%s\":[", kind);
        for (size_t i = 0; row_at(i, &row); i++) {
            text_put(out, i ? ",{\"name\":" : "{\"name\":");
            text_put_json(out, row.name);
            text_put(out, ",\"summary\":");
            text_put_json(out, row.summary);
            text_printf(out, ",\"%s\":", third);
            text_put_json(out, row.more);
            text_put(out, "}");
        }
        text_put(out, "]}\n");
        return EXIT_FINE;
    }
    text_table table;
    table_begin(&table, "lll");
    for (size_t i = 0; row_at(i, &row); i++) {
        table_cell(&table, row.name);
        table_cell(&table, row.summary);
        table_cell(&table, row.more);
    }
    table_end(&table, out, "", "");
    return EXIT_FINE;
}

static void set_more(list_row *row, const char *text) {
    size_t n = 0;
    for (; text && text[n] && n + 1 < sizeof row->more; n++) row->more[n] = text[n];
    row->more[n] = '\0';
}

static bool planner_row(size_t index, list_row *row) {
    const arenaut_planner *planner = arenaut_planner_at(index);
    if (!planner) return false;
    row->name = planner->name;
    row->summary = planner->summary;
    set_more(row, planner->settings);
    return true;
}

static bool format_row(size_t index, list_row *row) {
    const arenaut_format *format = arenaut_format_at(index);
    if (!format) return false;
    row->name = format->name;
    row->summary = format->summary;
    arenaut_text text = {0};
    text_printf(&text, "%s%s%s%s", format->read ? "read" : "",
                format->read && format->write ? ", " : "", format->write ? "write" : "",
                format->strip ? ", strip" : "");
    if (format->extensions) text_printf(&text, "  %s", format->extensions);
    set_more(row, text.bytes);
    arenaut_text_free(&text);
    return true;
}

/* Whether "a,b,c" has the name. */
static bool is_listed(const char *names, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = names; at && *at; at += strcspn(at, ","), at += *at == ',') {
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0) return true;
    }
    return false;
}

/* The rows stand in the order in which passes run, so that the rows of one dialect are its default
 * pipeline. */
static void put_pipelines(const char *name, arenaut_text *out) {
    bool any = false;
    for (size_t i = 0; i < arenaut_dialect_count(); i++) {
        const arenaut_dialect *dialect = arenaut_dialect_at(i);
        if (!is_listed(dialect->pipeline, name)) continue;
        text_printf(out, "%s%s", any ? ", " : "on for ", dialect->name);
        any = true;
    }
    if (!any) text_put(out, "off by default");
}

static bool pass_row(size_t index, list_row *row) {
    const arenaut_pass *pass = arenaut_pass_at(index);
    if (!pass) return false;
    row->name = pass->name;
    row->summary = pass->summary;
    arenaut_text text = {0};
    if (pass->by_default) text_put(&text, "on by default");
    else put_pipelines(pass->name, &text);
    set_more(row, text.bytes);
    arenaut_text_free(&text);
    return true;
}

static bool target_row(size_t index, list_row *row) {
    const arenaut_target *target = arenaut_target_at(index);
    if (!target) return false;
    row->name = target->name;
    row->summary = target->summary;
    arenaut_text text = {0};
    text_printf(&text, "plans with %s", target->incumbent ? target->incumbent : "(unknown)");
    if (target->format) text_printf(&text, "; default for %s", target->format);
    set_more(row, text.bytes);
    arenaut_text_free(&text);
    return true;
}

#define LIST_VERB(id, plural, third, what)                                          \
    static exit_code run_##plural(const tool_options *options, arenaut_text *out) { \
        return print_list(options, out, #plural, third, id##_row);                  \
    }                                                                               \
    extern const tool_verb verb_##plural;                                           \
    const tool_verb verb_##plural = {                                               \
        .name = #plural,                                                            \
        .summary = what,                                                            \
        .arguments = "",                                                            \
        .examples = "arenaut " #plural " --json",                                   \
        .groups = GROUP_COMMON | GROUP_JSON,                                        \
        .run = run_##plural,                                                        \
    }

LIST_VERB(planner, planners, "settings", "the planners of this build, for --planner");
LIST_VERB(format, formats, "abilities", "the file formats of this build, for --from and --as");
LIST_VERB(pass, passes, "default", "the passes of this build, for --passes");
LIST_VERB(target, targets, "planning", "the runtimes that this build knows, for --target");
