/* Choice of an output's format by its name, and writing it. */
#ifndef TOOL_OUTPUT_H
#define TOOL_OUTPUT_H

#include "job.h"

/* The writer of an output: a format or a report, never both. */
typedef struct output_kind {
    const arenaut_format *format;
    const arenaut_report *report;
} output_kind;

/* Of a job that has read its input. */
bool goes_into_model(const tool_job *job);
/* By the output's name; for "-" or a device the input's own format. Complains if nothing fits. */
exit_code kind_for_path(const tool_job *job, const char *path, output_kind *kind);
/* By --as: a format, a report, or the short names json, problem, program. */
exit_code kind_for_name(const char *name, output_kind *kind);
/* The names that --as takes. */
void list_kinds(text_list *names);
/* Whether the name is that of a file, by its extension, and of no folder that is there. */
bool names_a_file(const char *path);
bool kind_is_model(output_kind kind); /* the plan goes into the input's own file */

/* A model is never replaced by something that is not that model, even with -f: complains if `path`
 * is the input itself or holds a model, and `kind` writes another format. */
exit_code check_replaced(const input_file *input, const char *path, output_kind kind);

exit_code write_bytes(const void *data, size_t size, const char *path, bool force);
/* Copies the input to `path` byte for byte; does nothing where that is the input itself. */
exit_code copy_input(const input_file *input, const char *path, bool force);

/* Says which files the model that was written to `path` needs in its folder, if that is another one
 * than the input's. */
void note_external_files(const input_file *input, const char *path);

/* Writes the job's result, as --force has it; *written gets the number of bytes (may be NULL). */
exit_code write_output(const tool_job *job, output_kind kind, const arenaut_report_options *options,
                       const char *path, uint64_t *written);
/* Writes one of several files, with its part of the plan inside. */
exit_code write_part(const tool_job *job, size_t file, const char *path);
/* Writes a report about another result than the job's own. */
exit_code write_result(const tool_job *job, output_kind kind, const arenaut_result *result,
                       const arenaut_report_options *options, const char *path);

#endif
