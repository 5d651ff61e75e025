/* Roles of the values of the outermost graph: parameters, buffers, constants; results, mutations
 * and gradients. Targets are found by their name in the model, O(log n) each. */
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "formats/pt2/pt2.h"
#include "ir/program.h"

/* Fingerprints of the first values of buffers, which tell two of them apart: the archive's
 * directory has a sum of each entry, so no weight is read. One pass over the directory. */

/* Names looked at, over all buffers: a bound on time. Real archives take a thousandth. */
enum { MAX_LOOKS = 1 << 24 };

typedef struct archive {
    const arn_zip *zip;
    const char *folder; /* in which everything lies, with its slash */
    size_t folder_length;
    arn_json config; /* names of the model to names of files */
    uint32_t names;  /* the object */
    uint64_t looks;
} archive;

static bool find_entry(archive *a, const char *path, const char *name, size_t length,
                       arn_zip_entry *found) {
    const size_t n = strlen(path);
    arn_zip_entry e;
    for (size_t at = a->zip->directory; at < a->zip->end && a->looks < MAX_LOOKS; a->looks++) {
        if (arn_zip_next(a->zip, &at, &e, NULL) != ARENAUT_OK) return false;
        if (e.name_length != a->folder_length + n + length) continue;
        if (memcmp(e.name, a->folder, a->folder_length) != 0) continue;
        if (memcmp(e.name + a->folder_length, path, n) != 0) continue;
        if (memcmp(e.name + a->folder_length + n, name, length) != 0) continue;
        *found = e;
        return true;
    }
    return false;
}

/* 0: unknown. Else the checksum and the length of its bytes. */
static uint64_t first_value(archive *a, const char *name) {
    char file[128];
    arn_zip_entry entry;
    if (a->looks >= MAX_LOOKS) return 0;
    a->looks += arn_json_count(&a->config, a->names);
    const uint32_t value = arn_json_get(&a->config, a->names, name);
    const uint32_t path =
        value == ARN_JSON_NONE ? value : arn_json_get(&a->config, value, "path_name");
    if (path == ARN_JSON_NONE || arn_json_type_of(&a->config, path) != ARN_JSON_STRING) return 0;
    const uint32_t at = a->config.nodes[path].at;
    if (arn_json_raw_length(&a->config, at) > sizeof file) return 0;
    const size_t length = arn_json_decode(&a->config, at, file);
    if (!find_entry(a, "data/weights/", file, length, &entry)) return 0;
    return (uint64_t)entry.crc << 32 | (entry.size & 0x7FFFFFFF) << 1 | 1;
}

static void read_values(archive *a, arenaut_program *program) {
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        arenaut_tensor *tensor = &program->tensors[t];
        if (tensor->cls != ARENAUT_STATE || !tensor->qualified_name) continue;
        tensor->first_value = first_value(a, tensor->qualified_name);
    }
}

arenaut_status arn_pt2_read_first_values(const arn_zip *zip, const arn_zip_entry *model,
                                         arenaut_program *program,
                                         const arenaut_allocator *allocator, arenaut_error *err) {
    static const char config[] = "model_weights_config.json";
    arn_zip_entry entry;
    const uint8_t *bytes;
    const char *slash = memchr(model->name, '/', model->name_length);
    archive a = {.zip = zip, .folder = model->name};
    a.folder_length = (size_t)(slash - model->name) + 1;
    if (!find_entry(&a, "data/weights/", config, sizeof config - 1, &entry)) return ARENAUT_OK;
    if (arn_zip_bytes(zip, &entry, &bytes, NULL) != ARENAUT_OK) return ARENAUT_OK;
    const arenaut_status st = arn_json_parse(bytes, (size_t)entry.size, allocator, &a.config, NULL);
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(err);
    if (st != ARENAUT_OK) return ARENAUT_OK;
    a.names = arn_json_get(&a.config, 0, "config");
    if (a.names != ARN_JSON_NONE) read_values(&a, program);
    arn_json_free(&a.config);
    return ARENAUT_OK;
}

/* ---- inputs ---- */

/* One kind of input: the member that names it in the model, and its role here. Buffers that nothing
 * writes become constants later, by a pass. */
static const struct input_kind {
    const char *key, *name_key;
    arenaut_class cls;
} input_kinds[] = {
    {"parameter", "parameter_name", ARENAUT_CONSTANT},
    {"buffer", "buffer_name", ARENAUT_STATE},
    {"tensor_constant", "tensor_constant_name", ARENAUT_CONSTANT},
    {"user_input", NULL, ARENAUT_INPUT},
};

/* {"name": …}, or {"as_tensor": {"name": …}}; ARN_JSON_NONE for other arguments than tensors. */
static uint32_t name_of_argument(const arn_pt2 *r, uint32_t spec) {
    const uint32_t arg = arn_pt2_get(r, spec, "arg");
    const uint32_t name = arn_pt2_get(r, arg, "name");
    return name != ARN_JSON_NONE ? name : arn_pt2_get(r, arn_pt2_get(r, arg, "as_tensor"), "name");
}

static void read_input(arn_pt2 *r, uint32_t spec, const struct input_kind *kind,
                       const arn_pt2_scope *scope) {
    const uint32_t name = name_of_argument(r, spec);
    if (name == ARN_JSON_NONE) return; /* a number */
    const uint32_t *place = arn_pt2_place(r, scope, name);
    if (!place) return;
    arenaut_tensor *tensor = &r->program->tensors[*place];
    tensor->cls = kind->cls;
    if (kind->cls == ARENAUT_INPUT) {
        arn_pt2_push(r, &r->inputs, *place);
    } else {
        const char *text = arn_pt2_text(r, arn_pt2_need(r, spec, kind->name_key));
        if (!text) return;
        tensor->qualified_name = arenaut_program_strdup(r->program, text, strlen(text));
        if (!tensor->qualified_name) r->json.status = arn_no_memory(r->json.err);
    }
}

static void read_inputs(arn_pt2 *r, uint32_t specs, const arn_pt2_scope *scope) {
    ARN_JSON_EACH(&r->json, v, specs) {
        for (size_t k = 0; k < sizeof input_kinds / sizeof *input_kinds; k++) {
            const uint32_t spec = arn_pt2_get(r, v, input_kinds[k].key);
            if (spec != ARN_JSON_NONE) read_input(r, spec, &input_kinds[k], scope);
        }
    }
}

/* ---- outputs ---- */

/* One kind of output: what it binds, and the member that names its target: by the model's name, or
 * as an input of the graph. */
static const struct output_kind {
    const char *key;
    arenaut_binding_kind kind;
    const char *target_key;
    bool is_input;
} output_kinds[] = {
    {"buffer_mutation", ARENAUT_BINDING_MUTATES, "buffer_name", false},
    {"parameter_mutation", ARENAUT_BINDING_MUTATES, "parameter_name", false},
    {"user_input_mutation", ARENAUT_BINDING_MUTATES, "user_input_name", true},
    {"gradient_to_parameter", ARENAUT_BINDING_GRADIENT, "parameter_name", false},
    {"gradient_to_user_input", ARENAUT_BINDING_GRADIENT, "user_input_name", true},
    {"loss_output", ARENAUT_BINDING_LOSS, NULL, false},
};

typedef struct bindings {
    arenaut_binding *list;
    uint32_t n, capacity;
    uint32_t *named, n_named; /* tensors with a name in the model, by that name */
} bindings;

static bool sort_names(arn_pt2 *r, bindings *b) {
    const arenaut_program *p = r->program;
    b->named = arn_region_allocate(&r->names, p->n_tensors, 2 * sizeof *b->named);
    if (!b->named) {
        r->json.status = arn_no_memory(r->json.err);
        return false;
    }
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].qualified_name) b->named[b->n_named++] = t;
    }
    arn_sort_ids(b->named, b->n_named, arn_by_qualified_name, p->tensors, b->named + b->n_named);
    return true;
}

static uint32_t find_named(arn_pt2 *r, const bindings *b, uint32_t value) {
    const char *name = arn_pt2_text(r, value);
    uint32_t low = 0, high = b->n_named;
    if (!name) return ARENAUT_NONE;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2, t = b->named[middle];
        const int order = strcmp(r->program->tensors[t].qualified_name, name);
        if (order == 0) return t;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    arn_json_fail(&r->json, value, ARENAUT_BAD_INPUT,
                  "the signature has no parameter or buffer '%.80s'", name);
    return ARENAUT_NONE;
}

static void read_binding(arn_pt2 *r, uint32_t spec, const struct output_kind *kind,
                         const arn_pt2_scope *scope, bindings *b) {
    arenaut_binding binding = {kind->kind, ARENAUT_NONE, ARENAUT_NONE};
    const uint32_t name = name_of_argument(r, spec);
    if (name == ARN_JSON_NONE) return; /* a gradient that is none */
    const uint32_t *place = arn_pt2_place(r, scope, name);
    if (!place) return;
    binding.value = *place;
    if (kind->target_key) {
        const uint32_t target = arn_pt2_need(r, spec, kind->target_key);
        if (!arn_pt2_fine(r)) return;
        const uint32_t *input = kind->is_input ? arn_pt2_place(r, scope, target) : NULL;
        binding.target =
            kind->is_input ? (input ? *input : ARENAUT_NONE) : find_named(r, b, target);
    }
    if (!arn_pt2_fine(r)) return;
    if (kind->kind == ARENAUT_BINDING_MUTATES &&
        r->program->tensors[binding.target].cls == ARENAUT_CONSTANT) {
        r->program->tensors[binding.target].cls = ARENAUT_STATE;
    }
    if (arn_pt2_grow(r, (void **)&b->list, &b->capacity, (uint64_t)b->n + 1, sizeof *b->list)) {
        b->list[b->n++] = binding;
    }
}

static void read_output(arn_pt2 *r, uint32_t output, const arn_pt2_scope *scope, bindings *b) {
    const uint32_t user = arn_pt2_get(r, output, "user_output");
    if (user != ARN_JSON_NONE) {
        const uint32_t name = name_of_argument(r, user);
        const uint32_t *place = name == ARN_JSON_NONE ? NULL : arn_pt2_place(r, scope, name);
        if (place) arn_pt2_push(r, &r->outputs, *place);
    }
    for (size_t k = 0; k < sizeof output_kinds / sizeof *output_kinds; k++) {
        const uint32_t spec = arn_pt2_get(r, output, output_kinds[k].key);
        if (spec != ARN_JSON_NONE) read_binding(r, spec, &output_kinds[k], scope, b);
    }
}

void arn_pt2_read_signature(arn_pt2 *r, uint32_t signature, const arn_pt2_scope *scope) {
    bindings b = {.list = NULL};
    r->inputs.n = r->outputs.n = 0;
    read_inputs(r, arn_pt2_need(r, signature, "input_specs"), scope);
    const uint32_t specs = arn_pt2_need(r, signature, "output_specs");
    if (arn_pt2_fine(r) && sort_names(r, &b)) {
        ARN_JSON_EACH(&r->json, v, specs) {
            read_output(r, v, scope, &b);
        }
    }
    if (arn_pt2_fine(r)) {
        r->json.status = arenaut_program_set_method_io(r->program, 0, r->inputs.ids, r->inputs.n,
                                                       r->outputs.ids, r->outputs.n, r->json.err);
    }
    if (arn_pt2_fine(r)) {
        r->json.status = arn_program_set_bindings(r->program, 0, b.list, b.n, r->json.err);
    }
    arn_release(r->json.allocator, b.list);
}
