/* Reads --set NAME=VALUE into the library's settings of a planner. Only the form is looked at here:
 * which names and values there are is for the planner to say. */
#include "setting_flags.h"

#include <stdlib.h>
#include <string.h>

exit_code parse_settings(const tool_options *options, planner_settings *settings) {
    const text_list *given = &options->set;
    settings->items = must_allocate(given->n, sizeof *settings->items);
    for (size_t i = 0; i < given->n; i++) {
        const char *text = given->items[i], *equals = strchr(text, '=');
        if (!equals || equals == text || !equals[1]) {
            return complain(EXIT_USAGE, NULL,
                            "--set '%s': write NAME=VALUE; 'arenaut planners' lists the settings",
                            text);
        }
        /* One copy holds both: the name ends where the '=' was. */
        char *name = must_allocate(strlen(text) + 1, 1);
        strcpy(name, text);
        name[equals - text] = '\0';
        settings->items[settings->n++] = (arenaut_setting){name, name + (equals - text) + 1};
    }
    return EXIT_FINE;
}

void planner_settings_free(planner_settings *settings) {
    for (size_t i = 0; i < settings->n; i++) free((char *)settings->items[i].name);
    free(settings->items);
}
