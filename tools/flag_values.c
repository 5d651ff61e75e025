/* Conversion of flag texts to the library's options. Names may hold '=', so that the last one of a
 * "NAME=VALUE" counts. Parsed values live in blocks that are freed together. */
#include "flag_values.h"

#include <stdlib.h>
#include <string.h>

/* Zeroed memory that is freed with the list. */
static void *own(flag_values *owned, size_t count, size_t size) {
    void **grown = realloc(owned->blocks, (owned->n + 1) * sizeof *grown);
    void *block = must_allocate(count, size);
    if (!grown) exit(complain_memory(NULL));
    owned->blocks = grown;
    owned->blocks[owned->n++] = block;
    return block;
}

void flag_values_free(flag_values *owned) {
    for (size_t i = 0; i < owned->n; i++) free(owned->blocks[i]);
    free(owned->blocks);
}

/* The name of "NAME=VALUE"; NULL if there is no '='. */
static char *take_name(flag_values *owned, const char *text, const char **value) {
    const char *equals = strrchr(text, '=');
    if (!equals) return NULL;
    const size_t length = (size_t)(equals - text);
    *value = equals + 1;
    return memcpy(own(owned, length + 1, 1), text, length);
}

static bool is_power_of_two(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

static exit_code bad_pool(const char *text, const char *why) {
    return complain(EXIT_USAGE, NULL,
                    "--pool '%s': %s; write NAME=SIZE[@ALIGN][:DEVICE], such as "
                    "sram=256K@16, or slow=unlimited:1 (DEVICE is TYPE or TYPE.INDEX)",
                    text, why);
}

/* "1" or "1.0". */
static bool parse_device(const char *text, arenaut_device *device) {
    char type[8] = "", index[8] = "0";
    const size_t n = strcspn(text, ".");
    uint64_t t, i;
    if (n >= sizeof type || (text[n] && strlen(text + n + 1) >= sizeof index)) return false;
    memcpy(type, text, n);
    if (text[n]) strcpy(index, text + n + 1);
    if (!parse_number(type, &t) || !parse_number(index, &i)) return false;
    if (t > UINT16_MAX || i > UINT16_MAX) return false;
    device->type = (uint16_t)t;
    device->index = (uint16_t)i;
    return true;
}

/* A name that does not look like a size, and so is no device's either. */
static bool names_memory(const char *size) {
    const bool letter = (*size >= 'a' && *size <= 'z') || (*size >= 'A' && *size <= 'Z');
    return letter && strchr(size, ':') && strncmp(size, "unlimited", strlen("unlimited")) != 0;
}

size_t memory_name(const char *pool, const char **name) {
    const char *size = strchr(pool, '=');
    const bool half = strncmp(pool, "head=", 5) == 0 || strncmp(pool, "tail=", 5) == 0;
    if (!size || !half || !names_memory(size + 1)) return 0;
    *name = size + 1;
    return strcspn(*name, ":");
}

const char *pool_problem(char *text, arenaut_pool *pool) {
    const char *memory;
    const size_t named = memory_name(text, &memory);
    char *size = strchr(text, '=');
    if (!size || size == text) return "has no NAME=";
    *size++ = '\0';
    if (named) size += named + 1;
    char *device = strchr(size, ':');
    if (device) *device++ = '\0';
    char *align = strchr(size, '@');
    if (align) *align++ = '\0';

    *pool = (arenaut_pool){.name = text, .capacity = ARENAUT_UNLIMITED};
    if (strcmp(size, "unlimited") != 0 && !parse_size(size, &pool->capacity)) {
        return "the size is neither a number of bytes nor 'unlimited'";
    }
    pool->closed = pool->capacity == 0;
    if (align && (!parse_size(align, &pool->align) || !is_power_of_two(pool->align))) {
        return "the alignment is no power of two";
    }
    if (device && !parse_device(device, &pool->device)) return "the device is no number";
    return NULL;
}

static exit_code parse_pools(const text_list *given, flag_values *owned,
                             arenaut_pipeline_options *out) {
    arenaut_pool *pools = own(owned, given->n, sizeof *pools);
    if (given->n > ARENAUT_MAX_POOLS) {
        return complain(EXIT_USAGE, NULL, "--pool: %zu pools are more than %u", given->n,
                        ARENAUT_MAX_POOLS);
    }
    for (size_t i = 0; i < given->n; i++) {
        const char *text = given->items[i];
        char *copy = strcpy(own(owned, strlen(text) + 1, 1), text);
        const char *wrong = pool_problem(copy, &pools[i]);
        if (wrong) return bad_pool(text, wrong);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(pools[k].name, pools[i].name) != 0) continue;
            return bad_pool(text, "an earlier pool has this name");
        }
    }
    out->pools = pools;
    out->n_pools = (uint32_t)given->n;
    return EXIT_FINE;
}

/* "N" or "TENSOR=N". */
static exit_code parse_aligns(const text_list *given, flag_values *owned,
                              arenaut_pipeline_options *out) {
    arenaut_tensor_align *aligns = own(owned, given->n, sizeof *aligns);
    out->tensor_aligns = aligns;
    for (size_t i = 0; i < given->n; i++) {
        const char *text = given->items[i], *value = text;
        const char *tensor = take_name(owned, text, &value);
        uint64_t align;
        if (!parse_size(value, &align) || !is_power_of_two(align)) {
            return complain(EXIT_USAGE, NULL,
                            "--align '%s': write N or TENSOR=N, where N is a power of two", text);
        }
        if (tensor) aligns[out->n_tensor_aligns++] = (arenaut_tensor_align){tensor, align};
        else out->align = align;
    }
    return EXIT_FINE;
}

/* "TENSOR=POOL" or "TENSOR=POOL:OFFSET". */
static exit_code parse_pins(const text_list *given, flag_values *owned,
                            arenaut_pipeline_options *out) {
    arenaut_pin *pins = own(owned, given->n, sizeof *pins);
    for (size_t i = 0; i < given->n; i++) {
        const char *text = given->items[i], *where;
        const char *tensor = take_name(owned, text, &where);
        if (!tensor) {
            return complain(EXIT_USAGE, NULL, "--pin '%s': write TENSOR=POOL or TENSOR=POOL:OFFSET",
                            text);
        }
        const size_t length = strcspn(where, ":");
        uint64_t offset = ARENAUT_UNPLACED;
        if (where[length] && !parse_size(where + length + 1, &offset)) {
            return complain(EXIT_USAGE, NULL, "--pin '%s': the offset is no number of bytes", text);
        }
        const char *pool = memcpy(own(owned, length + 1, 1), where, length);
        pins[i] = (arenaut_pin){tensor, pool, arenaut_at(offset)};
    }
    out->pins = pins;
    out->n_pins = given->n;
    return EXIT_FINE;
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

/* "OP=INPUT" or "OP=INPUT:OUTPUT". */
static exit_code parse_in_place_rules(const text_list *given, flag_values *owned,
                                      arenaut_pipeline_options *out) {
    arenaut_in_place_rule *rules = own(owned, given->n, sizeof *rules);
    for (size_t i = 0; i < given->n; i++) {
        const char *text = given->items[i], *value = "";
        arenaut_in_place_rule *rule = &rules[i];
        rule->op = take_name(owned, text, &value);
        const size_t length = strcspn(value, ":");
        const bool sound =
            rule->op && *rule->op && parse_position(value, length, &rule->input) &&
            (!value[length] ||
             parse_position(value + length + 1, strlen(value + length + 1), &rule->output));
        if (sound) continue;
        return complain(EXIT_USAGE, NULL,
                        "--inplace-op '%s': write OP=INPUT[:OUTPUT], numbers of arguments from 0, "
                        "such as my::scale.out=0",
                        text);
    }
    out->in_place_rules = rules;
    out->n_in_place_rules = given->n;
    return EXIT_FINE;
}

static exit_code parse_align_rules(const text_list *given, flag_values *owned,
                                   arenaut_pipeline_options *out) {
    arenaut_align_rule *rules = own(owned, given->n, sizeof *rules);
    for (size_t i = 0; i < given->n; i++) {
        const char *text = given->items[i], *value = "";
        rules[i].op = take_name(owned, text, &value);
        if (rules[i].op && *rules[i].op && parse_size(value, &rules[i].align) &&
            is_power_of_two(rules[i].align)) {
            continue;
        }
        return complain(EXIT_USAGE, NULL,
                        "--align-op '%s': write OP=N, with N a power of two, such as "
                        "my::dma.out=64",
                        text);
    }
    out->align_rules = rules;
    out->n_align_rules = (uint32_t)given->n;
    return EXIT_FINE;
}

/* Digits from *at on; moves *at behind them. */
static bool take_number(const char **at, int64_t *number) {
    char digits[24];
    uint64_t value;
    const size_t length = strspn(*at, "0123456789");
    if (length == 0 || length >= sizeof digits) return false;
    memcpy(digits, *at, length);
    digits[length] = '\0';
    if (!parse_number(digits, &value) || value >= INT64_MAX) return false;
    *at += length;
    *number = (int64_t)value;
    return true;
}

/* "N", "LOW..HIGH", or "A,B,...": then all values from the least to the largest. */
static bool parse_range(const char *at, arenaut_dim *out) {
    if (!take_number(&at, &out->min)) return false;
    out->max = out->min;
    if (strncmp(at, "..", 2) == 0) {
        at += 2;
        return take_number(&at, &out->max) && out->max >= out->min && *at == '\0';
    }
    while (*at == ',') {
        int64_t value;
        at++;
        if (!take_number(&at, &value)) return false;
        if (value < out->min) out->min = value;
        if (value > out->max) out->max = value;
    }
    return *at == '\0';
}

static exit_code parse_dims(const text_list *given, flag_values *owned,
                            arenaut_pipeline_options *out) {
    arenaut_dim *dims = own(owned, given->n, sizeof *dims);
    for (size_t i = 0; i < given->n; i++) {
        const char *text = given->items[i], *value = "";
        dims[i].name = take_name(owned, text, &value);
        if (!dims[i].name || !*dims[i].name || !parse_range(value, &dims[i])) {
            return complain(EXIT_USAGE, NULL,
                            "--dim: '%s' is not NAME=N, NAME=LOW..HIGH or NAME=A,B,...", text);
        }
        if (dims[i].max == 0) {
            return complain(EXIT_USAGE, NULL,
                            "--dim %s: a size of 0 leaves nothing to plan; 1 is the least",
                            dims[i].name);
        }
    }
    out->dims = dims;
    out->n_dims = given->n;
    return EXIT_FINE;
}

static exit_code parse_settings(const text_list *given, flag_values *owned,
                                arenaut_pipeline_options *out) {
    arenaut_setting *settings = own(owned, given->n, sizeof *settings);
    for (size_t i = 0; i < given->n; i++) {
        const char *text = given->items[i], *equals = strchr(text, '=');
        if (!equals || equals == text || !equals[1]) {
            return complain(EXIT_USAGE, NULL,
                            "--set '%s': write NAME=VALUE; 'arenaut planners' lists the settings",
                            text);
        }
        /* One copy holds both: the name ends where the '=' was. */
        char *name = strcpy(own(owned, strlen(text) + 1, 1), text);
        name[equals - text] = '\0';
        settings[i] = (arenaut_setting){name, name + (equals - text) + 1};
    }
    out->plan.settings = settings;
    out->plan.n_settings = given->n;
    return EXIT_FINE;
}

static exit_code parse_overwrite(const tool_options *o, arenaut_pipeline_options *out) {
    const char *value = o->inplace;
    out->overwrite = !value                       ? ARENAUT_OVERWRITE_BY_RULES
                     : strcmp(value, "off") == 0  ? ARENAUT_OVERWRITE_OFF
                     : strcmp(value, "only") == 0 ? ARENAUT_OVERWRITE_ONLY
                                                  : ARENAUT_OVERWRITE_ON;
    if (out->overwrite != ARENAUT_OVERWRITE_OFF || o->inplace_op.n == 0) return EXIT_FINE;
    return complain(EXIT_USAGE, NULL, "--inplace-op contradicts --inplace off");
}

static exit_code bad_split(const char *text) {
    const char *modes[ARENAUT_SPLIT_MODE_COUNT + 2];
    arenaut_text listed = {0};
    const char *colon = strrchr(text, ':');
    for (int i = 0; i < ARENAUT_SPLIT_MODE_COUNT; i++) {
        modes[i] = arenaut_split_mode_name((arenaut_split_mode)i);
        text_printf(&listed, "%s%s", i ? ", " : "", modes[i]);
    }
    modes[ARENAUT_SPLIT_MODE_COUNT] = "on";
    modes[ARENAUT_SPLIT_MODE_COUNT + 1] = "off";
    const char *near = colon ? nearest(colon + 1, modes, ARENAUT_SPLIT_MODE_COUNT)
                             : nearest(text, modes + ARENAUT_SPLIT_MODE_COUNT, 2);
    complain(EXIT_USAGE, NULL,
             "--split '%s': write on, off, or tile groups FIRST-LAST/TILES:MODE, such as "
             "2-5/4:kept,9-11/2:channels; the modes are %s%s%s%s",
             text, listed.bytes, near ? ": did you mean '" : "", near ? near : "",
             near ? "'?" : "");
    arenaut_text_free(&listed);
    return EXIT_USAGE;
}

/* Digits up to `end`, which is passed over. */
static bool take_count(char **text, char end, uint32_t *number) {
    char *stop = strchr(*text, end);
    uint64_t parsed;
    if (!stop) return false;
    *stop = '\0';
    if (!parse_number(*text, &parsed) || parsed >= ARENAUT_NONE) return false;
    *number = (uint32_t)parsed;
    *text = stop + 1;
    return true;
}

static bool parse_stage(char *text, arenaut_split_stage *stage) {
    uint32_t last;
    if (!take_count(&text, '-', &stage->first_op) || !take_count(&text, '/', &last) ||
        !take_count(&text, ':', &stage->pieces) || last < stage->first_op) {
        return false;
    }
    stage->n_ops = last - stage->first_op + 1;
    for (int mode = 0; mode < ARENAUT_SPLIT_MODE_COUNT; mode++) {
        stage->mode = (arenaut_split_mode)mode;
        if (strcmp(text, arenaut_split_mode_name(stage->mode)) == 0) return true;
    }
    return false;
}

static arenaut_optional_id limit(uint64_t number) {
    return arenaut_id(number < ARENAUT_NONE ? (uint32_t)number : ARENAUT_NONE);
}

bool seeks_least(const tool_options *o) { return o->smallest || o->one_arena; }

static exit_code parse_splitting(const tool_options *o, flag_values *owned,
                                 arenaut_splitting *out) {
    out->on = o->split && strcmp(o->split, "off") != 0;
    out->options.max_ops = limit(o->max_ops);
    out->options.max_macs = limit(o->max_macs);
    out->options.rounding = o->rounding && strcmp(o->rounding, "allow") == 0;
    out->budget = o->budget == NOT_GIVEN || seeks_least(o) ? 0 : o->budget;
    if (!out->on || strcmp(o->split, "on") == 0) return EXIT_FINE;
    char *text = own(owned, strlen(o->split) + 1, 1);
    strcpy(text, o->split);
    uint32_t n = 1;
    for (const char *at = text; *at; at++) n += *at == ',';
    arenaut_split_stage *stages = own(owned, n, sizeof *stages);
    for (uint32_t i = 0; i < n; i++) {
        char *next = strchr(text, ',');
        if (next) *next++ = '\0';
        if (!parse_stage(text, &stages[i])) return bad_split(o->split);
        text = next;
    }
    out->stages = stages;
    out->n_stages = n;
    return EXIT_FINE;
}

/* "7.8e13:1.24e12": operations and bytes in a second, at least 1e6 each. */
static bool parse_rates(const char *text, arenaut_roofline *device) {
    char *end;
    const double operations = strtod(text, &end);
    if (*end != ':') return false;
    const double bytes = strtod(end + 1, &end);
    if (*end || !(operations >= 1e6 && operations < 1e18 && bytes >= 1e6 && bytes < 1e18)) {
        return false;
    }
    *device = (arenaut_roofline){text, (uint64_t)operations, (uint64_t)bytes, 0};
    return true;
}

static exit_code parse_roofline(const char *text, arenaut_roofline *device) {
    if (!text) return EXIT_FINE;
    const arenaut_roofline *known = arenaut_roofline_find(text);
    if (known) *device = *known;
    if (known || parse_rates(text, device)) return EXIT_FINE;
    static const char *const names[] = {"a100", "h100", "cpu"};
    const char *near = nearest(text, names, sizeof names / sizeof *names);
    return complain(EXIT_USAGE, NULL,
                    "--device %s: a device is a100, h100, cpu, or FLOPS:BYTES, its rates a "
                    "second, from 1e6 to below 1e18, such as 7.8e13:1.24e12%s%s%s",
                    text, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static exit_code parse_recomputing(const tool_options *o, arenaut_recomputing *out) {
    out->on = o->recompute && strcmp(o->recompute, "on") == 0;
    out->options.max_ops = limit(o->max_ops);
    if (o->fit != NOT_GIVEN && out->on) out->options.budget = o->fit;
    return parse_roofline(o->device, &out->options.device);
}

exit_code parse_flag_values(const tool_options *o, flag_values *owned,
                            arenaut_pipeline_options *out) {
    exit_code code = parse_settings(&o->set, owned, out);
    if (code == EXIT_FINE) code = parse_overwrite(o, out);
    if (code == EXIT_FINE) code = parse_in_place_rules(&o->inplace_op, owned, out);
    if (code == EXIT_FINE) code = parse_align_rules(&o->align_op, owned, out);
    if (code == EXIT_FINE) code = parse_aligns(&o->align, owned, out);
    if (code == EXIT_FINE) code = parse_pools(&o->pool, owned, out);
    if (code == EXIT_FINE) code = parse_pins(&o->pin, owned, out);
    if (code == EXIT_FINE) code = parse_dims(&o->dim, owned, out);
    if (code == EXIT_FINE) code = parse_splitting(o, owned, &out->splitting);
    if (code == EXIT_FINE) code = parse_recomputing(o, &out->recomputing);
    out->reordering.on = o->reorder && strcmp(o->reorder, "on") == 0;
    return code;
}

static bool has_op(const arenaut_program *program, const char *name) {
    for (uint32_t i = 0; i < program->n_ops; i++) {
        if (program->ops[i].name && strcmp(program->ops[i].name, name) == 0) return true;
    }
    return false;
}

static void note_if_idle(const arenaut_pipeline *pipeline, const char *op) {
    const arenaut_program *program = pipeline->document.program;
    if (has_op(program, op)) return;
    const char **ops = must_allocate(program->n_ops, sizeof *ops);
    size_t n = 0;
    for (uint32_t k = 0; k < program->n_ops; k++) {
        if (program->ops[k].name) ops[n++] = program->ops[k].name;
    }
    const char *near = nearest(op, ops, n);
    note(pipeline->options.path, "no op is a '%s', of which a rule speaks%s%s%s", op,
         near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(ops);
}

void note_idle_rules(const arenaut_pipeline *pipeline) {
    const arenaut_pipeline_options *o = &pipeline->options;
    for (size_t i = 0; i < o->n_in_place_rules; i++) {
        note_if_idle(pipeline, o->in_place_rules[i].op);
    }
    for (uint32_t i = 0; i < o->n_align_rules; i++) note_if_idle(pipeline, o->align_rules[i].op);
}

/* Whether a set of the table speaks of the op: then it is no slip of the pen. */
static bool is_known_op(const char *op) {
    for (size_t i = 0; i < arenaut_kernel_set_count(); i++) {
        const arenaut_kernel_set *set = arenaut_kernel_set_at(i);
        for (const arenaut_kernel_rule *rule = set->rules; rule && rule->op; rule++) {
            if (strcmp(rule->op, op) == 0) return true;
        }
        if (arenaut_kernel_in_place(set, op) || arenaut_kernel_scratch(set, op) ||
            arenaut_kernel_align(set, op))
            return true;
    }
    return false;
}

void note_idle_kernels(const arenaut_pipeline *pipeline) {
    const arenaut_kernel_set *set = pipeline->options.kernels;
    if (!set) return;
    for (const arenaut_kernel_rule *rule = set->rules; rule && rule->op; rule++) {
        const bool first = rule == set->rules || strcmp(rule->op, rule[-1].op) != 0;
        if (first && !is_known_op(rule->op)) note_if_idle(pipeline, rule->op);
    }
    for (const arenaut_in_place_rule *rule = set->in_place; rule && rule->op; rule++) {
        if (!is_known_op(rule->op)) note_if_idle(pipeline, rule->op);
    }
    for (const arenaut_align_rule *rule = set->align; rule && rule->op; rule++) {
        if (!is_known_op(rule->op)) note_if_idle(pipeline, rule->op);
    }
}
