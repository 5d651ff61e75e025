#include "rules.h"

#include <stdlib.h>
#include <string.h>

/* Cuts "NAME=VALUE" at the last '=': names of operators may have others before it. The name is
 * kept in the rules; NULL if there is none. */
static const char *take_name(op_rules *rules, const char *text, const char **value) {
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || !equals[1]) return NULL;
    const size_t length = (size_t)(equals - text);
    char *name = must_allocate(length + 1, 1);
    memcpy(name, text, length);
    rules->names[rules->n_names++] = name;
    *value = equals + 1;
    return name;
}

static bool parse_position(const char *text, size_t length, uint32_t *position) {
    char digits[12] = "";
    uint64_t number;
    if (length == 0 || length >= sizeof digits) return false;
    memcpy(digits, text, length);
    if (!parse_number(digits, &number) || number >= ARENAUT_NONE) return false;
    *position = (uint32_t)number;
    return true;
}

static exit_code add_in_place(op_rules *rules, const char *text) {
    const char *value = NULL;
    arenaut_in_place_rule rule = {.op = take_name(rules, text, &value)};
    const size_t length = rule.op ? strcspn(value, ":") : 0;
    const bool sound = rule.op && parse_position(value, length, &rule.input) &&
                       (!value[length] || parse_position(value + length + 1,
                                                         strlen(value + length + 1), &rule.output));
    if (!sound) {
        return complain(EXIT_USAGE, NULL,
                        "--inplace-op '%s': write OP=INPUT[:OUTPUT], numbers of arguments from 0, "
                        "such as my::scale.out=0",
                        text);
    }
    rules->in_place[rules->n_in_place++] = rule;
    return EXIT_FINE;
}

static exit_code add_align(op_rules *rules, const char *text) {
    const char *value = NULL;
    arenaut_align_rule rule = {.op = take_name(rules, text, &value)};
    if (!rule.op || !parse_size(value, &rule.align) || rule.align == 0 ||
        (rule.align & (rule.align - 1)) != 0) {
        return complain(EXIT_USAGE, NULL,
                        "--align-op '%s': write OP=N, with N a power of two, such as "
                        "my::dma.out=64",
                        text);
    }
    rules->align[rules->n_align++] = rule;
    return EXIT_FINE;
}

exit_code parse_op_rules(const tool_options *options, op_rules *rules) {
    const text_list *in_place = &options->inplace_op, *align = &options->align_op;
    exit_code code = EXIT_FINE;
    rules->in_place = must_allocate(in_place->n, sizeof *rules->in_place);
    rules->align = must_allocate(align->n, sizeof *rules->align);
    rules->names = must_allocate(in_place->n + align->n, sizeof *rules->names);
    if (in_place->n && options->inplace && strcmp(options->inplace, "off") == 0) {
        return complain(EXIT_USAGE, NULL, "--inplace-op says what --inplace off forbids");
    }
    for (size_t i = 0; i < in_place->n && code == EXIT_FINE; i++) {
        code = add_in_place(rules, in_place->items[i]);
    }
    for (size_t i = 0; i < align->n && code == EXIT_FINE; i++) {
        code = add_align(rules, align->items[i]);
    }
    return code;
}

void op_rules_free(op_rules *rules) {
    for (size_t i = 0; i < rules->n_names; i++) free(rules->names[i]);
    free(rules->names);
    free(rules->in_place);
    free(rules->align);
}

static bool has_op(const arenaut_program *program, const char *name) {
    for (uint32_t i = 0; i < program->n_ops; i++) {
        if (program->ops[i].name && strcmp(program->ops[i].name, name) == 0) return true;
    }
    return false;
}

void note_idle_rules(const op_rules *rules, const char *path, const arenaut_program *program) {
    for (size_t i = 0; i < rules->n_names; i++) {
        if (has_op(program, rules->names[i])) continue;
        const char **ops = must_allocate(program->n_ops, sizeof *ops);
        size_t n = 0;
        for (uint32_t k = 0; k < program->n_ops; k++) {
            if (program->ops[k].name) ops[n++] = program->ops[k].name;
        }
        const char *near = nearest(rules->names[i], ops, n);
        note(path, "no op is a '%s', of which a rule speaks%s%s%s", rules->names[i],
             near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
        free(ops);
    }
}

bool wants_in_place(const tool_options *options) {
    if (options->inplace) return strcmp(options->inplace, "off") != 0;
    return options->inplace_op.n > 0;
}
