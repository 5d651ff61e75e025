/* Finding the kernel set that the user names: in the table, else in a file. */
#include "kernel_choice.h"

#include <string.h>

#include "files.h"

static exit_code unknown_kernels(const char *name) {
    enum { ROOM = 64 };
    const char *names[ROOM];
    size_t n = 0;
    for (; n < arenaut_kernel_set_count() && n < ROOM; n++) {
        names[n] = arenaut_kernel_set_at(n)->name;
    }
    const char *near = nearest(name, names, n);
    return complain(EXIT_USAGE, NULL,
                    "there is neither a kernel set nor a file '%s'%s%s%s ('arenaut kernels' lists "
                    "the sets)",
                    name, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

exit_code choose_kernels(const char *name_or_path, kernel_choice *choice) {
    input_file file = {0};
    arenaut_error err = {0};
    os_entry entry;
    choice->set = arenaut_kernel_set_find(name_or_path);
    if (choice->set) return EXIT_FINE;
    if (!is_standard_stream(name_or_path) && !os_look(name_or_path, &entry)) {
        return unknown_kernels(name_or_path);
    }
    exit_code code = input_open(name_or_path, &file);
    if (code == EXIT_FINE && arenaut_kernel_set_read(file.size ? (const char *)file.data : "",
                                                     file.size, NULL, &choice->owned, &err)) {
        code = complain_error(name_or_path, &err);
    }
    input_close(&file);
    choice->set = choice->owned;
    return code;
}

/* Whether a set, or one of its bases, has a rule for an op. */
static bool is_named(const arenaut_kernel_set *set, const char *op) {
    for (const arenaut_kernel_set *s = set; s; s = s->base) {
        for (const arenaut_kernel_rule *rule = s->rules; rule && rule->op; rule++) {
            if (strcmp(rule->op, op) == 0) return true;
        }
        for (const arenaut_type_rule *rule = s->types; rule && rule->op; rule++) {
            if (strcmp(rule->op, op) == 0) return true;
        }
    }
    return arenaut_kernel_in_place(set, op) || arenaut_kernel_scratch(set, op);
}

/* Whether a set names an op that another one names, too: the sets of one runtime share most of
 * theirs. */
static bool shares_ops(const arenaut_kernel_set *set, const arenaut_kernel_set *other) {
    for (const arenaut_kernel_set *s = set; s; s = s->base) {
        for (const arenaut_kernel_rule *rule = s->rules; rule && rule->op; rule++) {
            if (is_named(other, rule->op)) return true;
        }
        for (const arenaut_in_place_rule *rule = s->in_place; rule && rule->op; rule++) {
            if (is_named(other, rule->op)) return true;
        }
        for (const arenaut_type_rule *rule = s->types; rule && rule->op; rule++) {
            if (is_named(other, rule->op)) return true;
        }
    }
    return false;
}

exit_code refuse_other_runtime(const arenaut_pipeline *pipeline) {
    const arenaut_pipeline_options *o = &pipeline->options;
    const arenaut_kernel_set *asked = o->kernels  ? o->kernels
                                      : o->target ? o->target->kernels
                                                  : NULL;
    const arenaut_target *own = arenaut_target_for_format(pipeline->document.format->name);
    if (!asked || !own->kernels || arenaut_kernel_set_find(asked->name) != asked) return EXIT_FINE;
    if (shares_ops(asked, own->kernels)) return EXIT_FINE;
    return complain(EXIT_USAGE, o->path,
                    "--%s %s: that is another runtime, which has none of the ops of %s, the "
                    "runtime of this file",
                    o->kernels ? "kernels" : "target", o->kernels ? asked->name : o->target->name,
                    own->name);
}

void kernel_choice_free(kernel_choice *choice) {
    arenaut_kernel_set_free(choice->owned);
    choice->owned = NULL;
}
