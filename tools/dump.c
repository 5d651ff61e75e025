/* Dumps for debugging: a program after a pass, as JSON (--dump-after), and the live ranges of its
 * values, as a table (--dump-live). */
#include "dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void dump_program(void *context, const arenaut_pass *pass, const arenaut_program *program) {
    tool_job *job = context;
    arenaut_text text = {0};
    arenaut_error err = {0};
    const arenaut_format *format = arenaut_format_find("program-json");
    if (strcmp(pass->name, job->options->dump_after) != 0) return;
    job->dumped = true;
    arenaut_result result = job->pipeline->result;
    result.program = program;
    if (!format || !format->write) {
        job->dump_code = complain(EXIT_BUG, NULL, "this build cannot write programs");
    } else if (format->write(&result, arenaut_text_sink(&text), NULL, &err) != ARENAUT_OK) {
        job->dump_code = complain_error(job->path, &err);
    } else {
        fputs(text.bytes, stderr);
    }
    arenaut_text_free(&text);
}

static void put_name(arenaut_text *out, const arenaut_program *program, uint32_t tensor) {
    char store[24];
    text_put_clean(out, arenaut_program_tensor_name(program, tensor, store));
}

/* "NAME BYTES [FIRST, END) STORAGE", with tabs between: a value lives as long as the storage that
 * it lies in, which may have several live ranges. */
static void put_value(arenaut_text *out, const arenaut_result *result, uint32_t tensor) {
    const uint32_t buffer = result->lowering->buffer[tensor];
    const arenaut_problem *problem = result->lowering->problem;
    const arenaut_interval *live = arenaut_problem_lifetimes(problem, buffer);
    put_name(out, result->program, tensor);
    text_printf(out, "\t%" PRIu64 "\t", result->program->tensors[tensor].bytes);
    for (uint32_t k = 0; k < arenaut_problem_lifetime_count(problem, buffer); k++) {
        text_printf(out, "%s[%" PRId64 ", %" PRId64 ")", k ? " " : "", live[k].first, live[k].end);
    }
    text_put(out, "\t");
    put_name(out, result->program, result->lowering->tensor[buffer]);
    text_put(out, "\n");
}

void dump_live(const tool_job *job) {
    const arenaut_result *result = &job->pipeline->result;
    arenaut_text text = {0};
    if (job->options->files.n > 1) {
        text_put_clean(&text, job->path);
        text_put(&text, "\n");
    }
    text_put(&text, "value\tbytes\tlive\tstorage\n");
    for (uint32_t t = 0; t < result->lowering->n_tensors; t++) {
        if (result->lowering->buffer[t] != ARENAUT_NONE) put_value(&text, result, t);
    }
    fputs(text.bytes, stderr);
    arenaut_text_free(&text);
}
