/* Writer of kernel-set files: arenaut.kernels/1. One rule a line, so that texts can be compared;
 * defaults are left out. */
#include <inttypes.h>

#include "formats/json_writer.h"
#include "formats/kernel_set_json.h"

static void put_flag(arn_writer *w, bool *begun, const char *key, bool value) {
    arn_json_put_key(w, begun, key);
    arn_puts(w, value ? "true" : "false");
}

static void put_type_list(arn_writer *w, bool *begun, const char *key, uint32_t types) {
    bool any = false;
    if (types == 0) return;
    arn_json_put_key(w, begun, key);
    arn_puts(w, "[");
    for (uint32_t k = 0; k < ARENAUT_DTYPE_COUNT; k++) {
        if ((types >> k & 1) == 0) continue;
        arn_puts(w, any ? ", " : "");
        arn_put_json_string(w, arenaut_dtype_name((arenaut_dtype)k));
        any = true;
    }
    arn_puts(w, "]");
}

static void put_types(arn_writer *w, bool *begun, uint32_t types) {
    put_type_list(w, begun, "types", types);
}

static void put_fact(arn_writer *w, bool *begun, const char *key, arenaut_kernel_fact fact) {
    if (fact != ARENAUT_KERNEL_EITHER) put_flag(w, begun, key, fact == ARENAUT_KERNEL_YES);
}

static void put_limit(arn_writer *w, bool *begun, const char *key, uint32_t limit) {
    if (limit) arn_json_put_size_member(w, begun, key, limit);
}

static void put_when(arn_writer *w, bool *begun, const arenaut_kernel_when *when) {
#define SAYS(name) || when->name
    bool inner = false;
    if (!(when->types ARN_KERNEL_FACT_MAP(SAYS) ARN_KERNEL_CHANNELS_MAP(SAYS))) return;
    arn_json_put_key(w, begun, "when");
    arn_puts(w, "{");
    put_types(w, &inner, when->types);
#define PUT_FACT(name) put_fact(w, &inner, #name, when->name);
#define PUT_LIMIT(name) put_limit(w, &inner, #name, when->name);
    ARN_KERNEL_FACT_MAP(PUT_FACT)
    ARN_KERNEL_CHANNELS_MAP(PUT_LIMIT)
    arn_puts(w, "}");
}

static void put_rule(arn_writer *w, const arenaut_kernel_rule *rule) {
    bool begun = false;
    arn_json_put_text_member(w, &begun, "op", rule->op);
    put_when(w, &begun, &rule->when);
    arn_json_put_key(w, &begun, "order");
    arn_putf(w, "\"%s", arenaut_kernel_order_name(rule->order));
    if (arn_kernel_order_has_block(rule->order)) arn_putf(w, ":%" PRIu32, rule->block);
    arn_puts(w, "\"");
    arn_json_put_text_member(w, &begun, "evidence", rule->measured ? "measured" : "read");
}

static void put_right(arn_writer *w, const arenaut_in_place_rule *rule) {
    bool begun = false;
    arn_json_put_text_member(w, &begun, "op", rule->op);
    arn_json_put_size_member(w, &begun, "input", rule->input);
    if (rule->output) arn_json_put_size_member(w, &begun, "output", rule->output);
    if (rule->any_shape) put_flag(w, &begun, "any_shape", true);
}

static void put_scratch(arn_writer *w, const arenaut_scratch_rule *rule) {
    bool begun = false;
    arn_json_put_text_member(w, &begun, "op", rule->op);
    if (rule->input) arn_json_put_size_member(w, &begun, "input", rule->input);
    put_types(w, &begun, rule->types);
}

static void put_argument(arn_writer *w, bool *begun, const char *key, uint32_t types) {
    if (types == ARENAUT_TYPES_LIKE) arn_json_put_text_member(w, begun, key, "same");
    else if (types == ARENAUT_TYPES_ANY) arn_json_put_text_member(w, begun, key, "present");
    else put_type_list(w, begun, key, types);
}

static void put_type_rule(arn_writer *w, const arenaut_type_rule *rule) {
    bool begun = false;
    arn_json_put_text_member(w, &begun, "op", rule->op);
    if (rule->input) arn_json_put_size_member(w, &begun, "input", rule->input);
    if (rule->runs != ARENAUT_TYPES_ANY) put_type_list(w, &begun, "runs", rule->runs);
    put_type_list(w, &begun, "refused", rule->refused);
    put_argument(w, &begun, "operand", rule->operand);
    put_argument(w, &begun, "third", rule->third);
    put_argument(w, &begun, "result", rule->result);
    if (rule->scaled) put_flag(w, &begun, "scaled", true);
    if (!rule->measured) arn_json_put_text_member(w, &begun, "evidence", "read");
}

static void put_alignment(arn_writer *w, const arenaut_align_rule *rule) {
    bool begun = false;
    arn_json_put_text_member(w, &begun, "op", rule->op);
    arn_json_put_size_member(w, &begun, "bytes", rule->align);
    if (rule->rounds) put_flag(w, &begun, "rounds", true);
}

static void put_text_line(arn_writer *w, const char *key, const char *text) {
    if (!text) return;
    arn_putf(w, ",\n  \"%s\": ", key);
    arn_put_json_string(w, text);
}

/* The lists end with an entry without an op. */
#define PUT_LIST(key, list, type, put)                                                \
    do {                                                                              \
        for (const type *each = (list); each && each->op; each++) {                   \
            arn_puts(&w, each == (list) ? ",\n  \"" key "\": [\n    {" : ",\n    {"); \
            put(&w, each);                                                            \
            arn_puts(&w, each[1].op ? "}" : "}\n  ]");                                \
        }                                                                             \
    } while (0)

arenaut_status arenaut_kernel_set_write(const arenaut_kernel_set *set, arenaut_sink sink,
                                        arenaut_error *err) {
    arn_writer w = arn_writer_to(sink);
    arn_puts(&w, "{\n  \"schema\": \"" ARN_KERNELS_SCHEMA "/1\"");
    put_text_line(&w, "name", set->name);
    put_text_line(&w, "version", set->version);
    put_text_line(&w, "summary", set->summary);
    put_text_line(&w, "base", set->base ? set->base->name : NULL);
    PUT_LIST("rules", set->rules, arenaut_kernel_rule, put_rule);
    PUT_LIST("in_place", set->in_place, arenaut_in_place_rule, put_right);
    PUT_LIST("scratch", set->scratch, arenaut_scratch_rule, put_scratch);
    PUT_LIST("types", set->types, arenaut_type_rule, put_type_rule);
    PUT_LIST("align", set->align, arenaut_align_rule, put_alignment);
    if (set->complete) arn_puts(&w, ",\n  \"complete\": true");
    arn_puts(&w, "\n}\n");
    return arn_writer_finish(&w, err);
}
