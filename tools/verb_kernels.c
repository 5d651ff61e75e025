/* kernels: the kernel sets of this build; or one of them, or a kernel-set file, rule by rule. As
 * JSON a set is printed as the file that --kernels reads, so that one's own can start from it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_choice.h"
#include "tool.h"
#include "verb.h"
#include "verb_lists.h"

static bool kernels_row(size_t index, list_row *row) {
    const arenaut_kernel_set *set = arenaut_kernel_set_at(index);
    if (!set) return false;
    row->name = set->name;
    row->summary = set->summary;
    snprintf(row->more, sizeof row->more, "%s%s", set->base ? "builds on " : "",
             set->base ? set->base->name : "");
    return true;
}

static void put_condition(arenaut_text *to, const char *format, const char *word) {
    if (to->size) text_put(to, ", ");
    text_printf(to, format, word);
}

static void put_fact(arenaut_text *to, arenaut_kernel_fact fact, const char *yes, const char *no) {
    if (fact == ARENAUT_KERNEL_EITHER) return;
    put_condition(to, "%s", fact == ARENAUT_KERNEL_YES ? yes : no);
}

static void put_types(arenaut_text *to, uint32_t types) {
    bool any = false;
    for (uint32_t k = 0; k < ARENAUT_DTYPE_COUNT; k++) {
        if ((types >> k & 1) == 0) continue;
        text_printf(to, "%s%s", any ? "|" : "", arenaut_dtype_name((arenaut_dtype)k));
        any = true;
    }
}

static void put_range(arenaut_text *to, uint32_t least, uint32_t most, const char *what) {
    char text[48] = "";
    if (least && least == most) snprintf(text, sizeof text, "%" PRIu32, least);
    else if (least && most) snprintf(text, sizeof text, "%" PRIu32 "..%" PRIu32, least, most);
    else if (least) snprintf(text, sizeof text, ">= %" PRIu32, least);
    else if (most) snprintf(text, sizeof text, "<= %" PRIu32, most);
    else return;
    put_condition(to, what, text);
}

static void cell_condition(text_table *table, const arenaut_kernel_when *when) {
    arenaut_text text = {0};
    put_types(&text, when->types);
    put_fact(&text, when->pointwise, "1x1", "not 1x1");
    put_fact(&text, when->unit_stride, "stride 1", "stride > 1");
    put_fact(&text, when->grouped, "groups", "one group");
    put_fact(&text, when->padded, "padded", "not padded");
    put_fact(&text, when->one_row, "one row", "several rows");
    put_fact(&text, when->dilated, "dilated", "not dilated");
    put_range(&text, when->min_in_channels, when->max_in_channels, "%s channels in");
    put_range(&text, when->min_out_channels, when->max_out_channels, "%s channels out");
    table_cell(table, text.size ? text.bytes : "always");
    arenaut_text_free(&text);
}

static void cell_order(text_table *table, const arenaut_kernel_rule *rule) {
    const char *name = arenaut_kernel_order_name(rule->order);
    if (rule->block) table_cellf(table, "%s:%" PRIu32, name, rule->block);
    else table_cell(table, name);
}

/* "0, 1": the inputs that a result may be written over. */
static void cell_rights(text_table *table, const arenaut_kernel_set *set, const char *op) {
    arenaut_text text = {0};
    for (const arenaut_in_place_rule *rule = set->in_place; rule && rule->op; rule++) {
        if (strcmp(rule->op, op) != 0) continue;
        text_printf(&text, "%sinput %" PRIu32, text.size ? ", " : "", rule->input);
        if (rule->output) text_printf(&text, " (output %" PRIu32 ")", rule->output);
        if (rule->any_shape) text_put(&text, " (any shape)");
    }
    table_cell(table, text.size ? text.bytes : "");
    arenaut_text_free(&text);
}

static void cell_scratch(text_table *table, const arenaut_kernel_set *set, const char *op) {
    arenaut_text text = {0};
    for (const arenaut_scratch_rule *rule = set->scratch; rule && rule->op; rule++) {
        if (strcmp(rule->op, op) != 0) continue;
        text_put(&text, text.size ? ", " : "");
        if (rule->types == 0) {
            text_put(&text, "always");
            continue;
        }
        text_printf(&text, "input %" PRIu32 " is ", rule->input);
        put_types(&text, rule->types);
    }
    table_cell(table, text.size ? text.bytes : "");
    arenaut_text_free(&text);
}

static void put_op(text_table *table, const arenaut_kernel_set *set, const char *op) {
    bool first = true;
    for (const arenaut_kernel_rule *rule = set->rules; rule && rule->op; rule++) {
        if (strcmp(rule->op, op) != 0) continue;
        table_cell(table, op);
        cell_condition(table, &rule->when);
        cell_order(table, rule);
        table_cell(table, rule->measured ? "measured" : "read");
        if (first) cell_rights(table, set, op), cell_scratch(table, set, op);
        else table_cell(table, ""), table_cell(table, "");
        first = false;
    }
    if (!first) return;
    table_cell(table, op);
    for (int i = 0; i < 3; i++) table_cell(table, "");
    cell_rights(table, set, op);
    cell_scratch(table, set, op);
}

/* The ops of a set, each once: those with rules first, as the set names them. */
typedef struct op_list {
    const char **ops;
    size_t n;
} op_list;

static void add_op(op_list *list, const char *op) {
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->ops[i], op) == 0) return;
    }
    list->ops[list->n++] = op;
}

static op_list ops_of(const arenaut_kernel_set *set) {
    size_t room = 0;
    for (const arenaut_kernel_rule *rule = set->rules; rule && rule->op; rule++) room++;
    for (const arenaut_in_place_rule *rule = set->in_place; rule && rule->op; rule++) room++;
    for (const arenaut_scratch_rule *rule = set->scratch; rule && rule->op; rule++) room++;
    op_list list = {must_allocate(room + 1, sizeof *list.ops), 0};
    for (const arenaut_kernel_rule *rule = set->rules; rule && rule->op; rule++) {
        add_op(&list, rule->op);
    }
    for (const arenaut_in_place_rule *rule = set->in_place; rule && rule->op; rule++) {
        add_op(&list, rule->op);
    }
    for (const arenaut_scratch_rule *rule = set->scratch; rule && rule->op; rule++) {
        add_op(&list, rule->op);
    }
    return list;
}

static void put_head(const arenaut_kernel_set *set, arenaut_text *out) {
    text_put_clean(out, set->name);
    if (set->summary) {
        text_put(out, ": ");
        text_put_clean(out, set->summary);
    }
    if (set->version) {
        text_put(out, "\n  of ");
        text_put_clean(out, set->version);
    }
    if (set->base) {
        text_printf(out, "\n  builds on '%s', which holds for all other ops", set->base->name);
    }
    text_put(out, "\n\n");
}

static void put_alignments(const arenaut_kernel_set *set, arenaut_text *out) {
    for (const arenaut_align_rule *rule = set->align; rule && rule->op; rule++) {
        text_put_clean(out, rule->op);
        text_printf(out, ": arguments at multiples of %" PRIu64 " bytes%s\n", rule->align,
                    rule->rounds ? ", with all bytes up to the next one" : "");
    }
}

static void put_rules(const arenaut_kernel_set *set, arenaut_text *out) {
    static const char *const heads[] = {"op",       "when",         "order",
                                        "evidence", "written over", "scratch"};
    text_table table;
    op_list list = ops_of(set);
    table_begin(&table, "llllll");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) table_cell(&table, heads[i]);
    for (size_t i = 0; i < list.n; i++) put_op(&table, set, list.ops[i]);
    table_end(&table, out, "", "");
    if (list.n > 0 && set->align) text_put(out, "\n");
    free(list.ops);
}

static void put_set(const arenaut_kernel_set *set, arenaut_text *out) {
    put_head(set, out);
    if (set->rules || set->in_place || set->scratch || !set->align) put_rules(set, out);
    put_alignments(set, out);
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    if (options->files.n == 0) return print_list(options, out, "kernels", "base", kernels_row);
    kernel_choice choice = {0};
    arenaut_error err = {0};
    const exit_code code = choose_kernels(options->files.items[0], &choice);
    if (code == EXIT_FINE && (options->json || options->jsonl)) {
        if (arenaut_kernel_set_write(choice.set, arenaut_text_sink(out), &err)) {
            kernel_choice_free(&choice);
            return complain_error(options->files.items[0], &err);
        }
    } else if (code == EXIT_FINE) {
        put_set(choice.set, out);
    }
    kernel_choice_free(&choice);
    return code;
}

extern const tool_verb verb_kernels;
const tool_verb verb_kernels = {
    .name = "kernels",
    .summary = "the kernel sets of this build, for --kernels; or the rules of one",
    .arguments = "[NAME|FILE]",
    .examples =
        "arenaut kernels\n"
        "arenaut kernels reference\n"
        "arenaut kernels reference --json > mine.json",
    .notes =
        "FILE is a kernel set of your own (docs/kernels.md). A set says how kernels treat memory:\n"
        "which operand a result may be written over, how far it may reach into one (their order\n"
        "of reading and writing), which ops ask for scratch or for alignment.",
    .groups = GROUP_COMMON | GROUP_JSON,
    .max_files = 1,
    .run = run,
};
