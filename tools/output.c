/* Choice of an output's format by its name: a format, a report, or the input's own model with the
 * plan inside, which the library writes only if that is no worse. An existing model is never
 * replaced by anything else. files.c does the writing itself. */
#include "output.h"

#include <stdlib.h>
#include <string.h>

/* The extensions that could have been given instead. */
static void list_extensions(arenaut_text *text) {
    for (size_t i = 0; i < arenaut_format_count(); i++) {
        const arenaut_format *format = arenaut_format_at(i);
        if (format->write) text_printf(text, "%s%s", text->size ? ", " : "", format->extensions);
    }
    for (size_t i = 0; i < arenaut_report_count(); i++) {
        const arenaut_report *report = arenaut_report_at(i);
        if (report->extension && report->needs_plan) text_printf(text, ", %s", report->extension);
    }
}

/* ".tflite" of "a/b.tflite"; "" where there is none. */
static const char *extension_of(const char *path) {
    const char *dot = strrchr(base_name(path), '.');
    return dot ? dot : "";
}

/* Reports of a plan with an extension (pictures, headers) can be written like formats. */
static const arenaut_report *report_for_path(const char *path) {
    const size_t length = strlen(path);
    for (size_t i = 0; i < arenaut_report_count(); i++) {
        const char *extension = arenaut_report_at(i)->extension;
        const size_t n = extension && arenaut_report_at(i)->needs_plan ? strlen(extension) : 0;
        if (n && n < length && strcmp(path + length - n, extension) == 0) {
            return arenaut_report_at(i);
        }
    }
    return NULL;
}

/* A plan is patched into the bytes of the input, so the two must be of one kind. */
static exit_code check_original(const tool_job *job, const char *path, output_kind kind) {
    if (!kind_is_model(kind) || kind.format == job->pipeline->document.format) return EXIT_FINE;
    return complain(EXIT_USAGE, path,
                    "a plan goes into a file of the format %s by patching one, and the input "
                    "is %s",
                    kind.format->name, job->pipeline->document.format->name);
}

static size_t matching_length(const char *extensions, const char *path) {
    const size_t path_length = strlen(path);
    size_t longest = 0;
    for (const char *at = extensions; at && *at;) {
        const size_t length = strcspn(at, " ");
        const bool ends =
            length < path_length && memcmp(path + path_length - length, at, length) == 0;
        if (ends && length > longest) longest = length;
        at += length + strspn(at + length, " ");
    }
    return longest;
}

/* Whether a model keeps its format: if its own format and another have the same extension, a model
 * that can hold the plan is meant. */
static bool keeps_format(const tool_job *job, const char *path) {
    const arenaut_format *own = job->pipeline->document.format,
                         *other = arenaut_format_for_path(path);
    if (!own->needs_original || !own->write || !other) return false;
    const size_t length = matching_length(own->extensions, path);
    return length > 0 && length >= matching_length(other->extensions, path);
}

/* Whether anything of a result goes into a model of this input: a plan, a schedule of its ops,
 * rematerialized ops, or tiles. */
bool goes_into_model(const tool_job *job) {
    const arenaut_format *own = job->pipeline->document.format;
    const arenaut_pipeline_options *options = &job->pipeline->options;
    if (!own->write || !own->needs_original) return false;
    return arenaut_target_for_format(own->name)->plan_in_file ||
           (own->holds_order && options->reordering.on) ||
           (own->holds_repeats && options->recomputing.on) ||
           (own->holds_tiles && options->splitting.on);
}

/* A device or a pipe has no telling name: a problem comes out as it came in, a model with its
 * plan inside, and where neither can be, the plan as JSON. */
exit_code kind_for_path(const tool_job *job, const char *path, output_kind *kind) {
    os_entry entry;
    *kind = (output_kind){NULL, NULL};
    if (os_look(path, &entry) && entry.kind == OS_FOLDER) {
        return complain(EXIT_IO, path, "is a folder: name the file in it, such as %s/%s", path,
                        base_name(job->path));
    }
    if (output_is_direct(path)) {
        kind->format = job->pipeline->document.format->write && !job->pipeline->document.program
                           ? job->pipeline->document.format
                       : goes_into_model(job) ? job->pipeline->document.format
                                              : arenaut_format_find("plan-json");
        if (kind->format) return EXIT_FINE;
    } else {
        kind->format = keeps_format(job, path) ? job->pipeline->document.format
                                               : arenaut_format_for_path(path);
        if (!kind->format) kind->report = report_for_path(path);
        if (kind->format || kind->report) return check_original(job, path, *kind);
    }
    if (strcmp(extension_of(path), ".c") == 0 || strcmp(extension_of(path), ".cc") == 0) {
        return complain(EXIT_USAGE, path,
                        "a C array is made of a model that holds its plan: write that (-o "
                        "NAME.tflite), then 'arenaut "
                        "export NAME.tflite --as c-array'");
    }
    arenaut_text known = {0};
    list_extensions(&known);
    complain(EXIT_USAGE, path, "its extension names no format; there are: %s", known.bytes);
    arenaut_text_free(&known);
    return EXIT_USAGE;
}

void list_kinds(text_list *names) {
    static const char *const shorter[] = {"json", "problem", "program"};
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++) list_add(names, shorter[i]);
    for (size_t i = 0; i < arenaut_format_count(); i++) {
        const arenaut_format *format = arenaut_format_at(i);
        if (format->write && !format->needs_original) list_add(names, format->name);
    }
    for (size_t i = 0; i < arenaut_report_count(); i++) {
        if (arenaut_report_at(i)->extension) list_add(names, arenaut_report_at(i)->name);
    }
}

static exit_code unknown_kind(const char *name) {
    text_list names = {0};
    arenaut_text known = {0};
    list_kinds(&names);
    const char *near = nearest(name, names.items, names.n);
    for (size_t i = 0; i < names.n; i++) text_printf(&known, "%s%s", i ? ", " : "", names.items[i]);
    if (near) complain(EXIT_USAGE, NULL, "--as: there is no '%s': did you mean '%s'?", name, near);
    else complain(EXIT_USAGE, NULL, "--as: there is no '%s'; there are: %s", name, known.bytes);
    free(names.items);
    arenaut_text_free(&known);
    return EXIT_USAGE;
}

exit_code kind_for_name(const char *name, output_kind *kind) {
    static const struct {
        const char *name, *full;
    } names[] = {{"json", "plan-json"}, {"problem", "problem-json"}, {"program", "program-json"}};
    *kind = (output_kind){NULL, NULL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i].name) == 0) name = names[i].full;
    }
    kind->format = arenaut_format_find(name);
    if (kind->format && kind->format->write && !kind->format->needs_original) return EXIT_FINE;
    kind->format = NULL;
    kind->report = arenaut_report_find(name);
    if (kind->report && kind->report->extension) return EXIT_FINE;
    return unknown_kind(name);
}

bool names_a_file(const char *path) {
    os_entry entry;
    if (os_look(path, &entry) && entry.kind == OS_FOLDER) return false;
    return arenaut_format_for_path(path) || report_for_path(path);
}

bool kind_is_model(output_kind kind) { return kind.format && kind.format->needs_original; }

static bool is_text_of_ours(const arenaut_format *format) {
    static const char *const names[] = {"csv", "problem-json", "plan-json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(format->name, names[i]) == 0) return true;
    }
    return false;
}

/* The format of the model in an existing file; NULL if it holds none, or cannot be read. */
static const arenaut_format *model_at(const char *path) {
    input_file old;
    set_silent(true);
    const exit_code code = input_open(path, &old);
    set_silent(false);
    const arenaut_format *found =
        code == EXIT_FINE ? arenaut_format_recognise(old.data, old.size) : NULL;
    input_close(&old);
    return found && !is_text_of_ours(found) ? found : NULL;
}

exit_code check_replaced(const input_file *input, const char *path, output_kind kind) {
    if (output_is_direct(path)) return EXIT_FINE;
    const char *written = kind.format ? kind.format->name : kind.report->name;
    const arenaut_format *old = model_at(path);
    if (output_is_input(path, input)) {
        const arenaut_format *own = old ? old : arenaut_format_recognise(input->data, input->size);
        if (!own || own == kind.format) return EXIT_FINE;
        return complain(EXIT_USAGE, path,
                        "is the input itself (%s), and the output is %s: write to another file",
                        own->name, written);
    }
    if (!old || old == kind.format) return EXIT_FINE;
    return complain(EXIT_USAGE, path,
                    "holds a model (%s), and is not replaced by something else (%s), not even "
                    "with -f: write to another file, or remove it",
                    old->name, written);
}

exit_code write_bytes(const void *data, size_t size, const char *path, bool force) {
    output_file output;
    const exit_code code = output_open(path, force, &output);
    if (code != EXIT_FINE) return code;
    const arenaut_sink sink = output_sink(&output);
    if (!sink.put(sink.context, data, size)) {
        return output_abandon(&output, NULL, NULL);
    }
    return output_commit(&output);
}

/* ---- files that a model needs beside it ---- */

typedef struct external_files {
    const char *path; /* of a file, as the model has it */
    size_t length;
    bool others;
} external_files;

static void take_external(void *context, const char *path, size_t length) {
    external_files *b = context;
    if (!b->path) {
        b->path = path;
        b->length = length;
    } else if (length != b->length || memcmp(path, b->path, length) != 0) {
        b->others = true;
    }
}

/* Whether a file at `path` lies in the same folder as the input. */
static bool is_in_folder_of(const char *path, const input_file *input) {
    const char *const paths[] = {path, input->path};
    os_entry folders[2];
    if (is_standard_stream(input->path)) return false;
    for (int i = 0; i < 2; i++) {
        arenaut_text folder = {0};
        text_printf(&folder, "%.*s.", (int)os_folder_length(paths[i]), paths[i]);
        const bool there = os_look(folder.bytes, &folders[i]);
        arenaut_text_free(&folder);
        if (!there) return false;
    }
    return os_same_file(&folders[0], &folders[1]);
}

void note_external_files(const input_file *input, const char *path) {
    const arenaut_format *format = arenaut_format_recognise(input->data, input->size);
    external_files found = {0};
    arenaut_text name = {0}, shown = {0};
    if (!format || !format->list_external || output_is_direct(path)) return;
    if (is_in_folder_of(path, input)) return;
    format->list_external(input->data, input->size, take_external, &found);
    if (!found.path) return;
    text_printf(&name, "%.*s", (int)found.length, found.path);
    text_put_clean(&shown, name.bytes);
    note(path, "has weights in '%.200s'%s, which runtimes look for in its folder, as in that of %s",
         shown.bytes, found.others ? " and other files" : "", base_name(input->path));
    arenaut_text_free(&name);
    arenaut_text_free(&shown);
}

exit_code copy_input(const input_file *input, const char *path, bool force) {
    if (output_is_input(path, input)) return EXIT_FINE;
    const exit_code code = write_bytes(input->data, input->size, path, force);
    if (code == EXIT_FINE) note_external_files(input, path);
    return code;
}

exit_code write_result(const tool_job *job, output_kind kind, const arenaut_result *result,
                       const arenaut_report_options *options, const char *path) {
    output_file output;
    arenaut_error err = {0};
    const exit_code code = output_open(path, job->options->force, &output);
    if (code != EXIT_FINE) return code;
    if (arenaut_report_emit(kind.report, result, options, output_sink(&output), NULL, &err)) {
        return output_abandon(&output, job->path, &err);
    }
    return output_commit(&output);
}

exit_code write_part(const tool_job *job, size_t file, const char *path) {
    output_file output;
    arenaut_error err = {0};
    const bool force = job->options->force;
    const exit_code code = output_open(path, force, &output);
    if (code != EXIT_FINE) return code;
    if (arenaut_pipeline_write_file(job->pipeline, file, force, output_sink(&output), &err)) {
        return output_abandon(&output, job->path, &err);
    }
    return output_commit(&output);
}

exit_code write_output(const tool_job *job, output_kind kind, const arenaut_report_options *options,
                       const char *path, uint64_t *written) {
    const arenaut_result *result = &job->pipeline->result;
    const bool force = job->options->force;
    output_file output;
    arenaut_error err = {0};
    exit_code code = output_open(path, force, &output);
    if (code != EXIT_FINE) return code;
    const arenaut_sink sink = output_sink(&output);
    const arenaut_status st =
        kind_is_model(kind) ? arenaut_pipeline_write(job->pipeline, force, sink, &err)
        : kind.format       ? kind.format->write(result, sink, NULL, &err)
                            : arenaut_report_emit(kind.report, result, options, sink, NULL, &err);
    if (st == ARENAUT_REJECTED) {
        output_abandon(&output, NULL, NULL);
        return complain(EXIT_NEGATIVE, job->path,
                        "nothing is written: with only --method %s planned, %s",
                        job->options->method, err.msg);
    }
    if (st != ARENAUT_OK) return output_abandon(&output, job->path, &err);
    if (written) *written = output.written;
    code = output_commit(&output);
    if (code == EXIT_FINE && kind_is_model(kind)) note_external_files(job->inputs, path);
    return code;
}
