#include "support/report_round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/format.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "core/utf8.h"

/* Output of one report so far. */
typedef struct reading {
    const arenaut_report *report;
    uint64_t room; /* bytes it may still write */
    arenaut_text text;
} reading;

static void require(bool holds, const reading *r, const char *what) {
    if (holds) return;
    fprintf(stderr, "report '%s': %s\n", r->report->name, what);
    abort();
}

/* Stops a report that would never end, rather than waiting for it. */
static bool take(void *context, const void *bytes, size_t size) {
    reading *r = context;
    require(size <= r->room, r, "writes more than its input explains");
    r->room -= size;
    const arenaut_sink sink = arenaut_text_sink(&r->text);
    return sink.put(sink.context, bytes, size);
}

static uint64_t length_of(const char *text) { return text ? strlen(text) : 0; }

/* Every name is shown a few times, and every character of it as at most six; rows are no
 * longer than the widest report; the style sheet of a picture comes on top. A byte of the file
 * takes five characters in C, and a sixth pays for the ends of lines. */
static uint64_t bound_of(const arenaut_result *result) {
    enum { PER_BYTE = 6, PER_CHARACTER = 6 * 16, PER_THING = 4096, ALWAYS = 1 << 18 };
    const arenaut_problem *p = result->problem;
    const arenaut_program *program = result->program;
    uint64_t characters = length_of(result->path),
             things = p->n_buffers + p->n_pools + p->n_separations;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        characters += length_of(p->name ? p->name[b] : NULL) + length_of(p->op ? p->op[b] : NULL) +
                      length_of(p->source ? p->source[b] : NULL);
        things += arenaut_problem_lifetime_count(p, b);
    }
    for (uint32_t i = 0; i < p->n_pools; i++) characters += length_of(p->pool[i].name);
    for (uint32_t t = 0; program && t < program->n_tensors; t++) {
        characters += length_of(program->tensors[t].name);
        things += 1;
    }
    for (uint32_t i = 0; program && i < program->n_ops; i++) {
        things += 1 + program->ops[i].n_inputs + program->ops[i].n_outputs;
    }
    for (uint32_t m = 0; program && m < program->n_methods; m++) {
        characters += length_of(program->methods[m].name);
        things += 1 + program->methods[m].n_inputs + program->methods[m].n_outputs;
    }
    return ALWAYS + PER_BYTE * (uint64_t)result->file_size + PER_CHARACTER * characters +
           PER_THING * things;
}

static void require_plain_text(const reading *r) {
    const unsigned char *p = (const unsigned char *)(r->text.bytes ? r->text.bytes : "");
    const unsigned char *const end = p + r->text.size;
    while (p < end) {
        const size_t n = arn_utf8_length(p, (size_t)(end - p));
        require(n > 0, r, "is not UTF-8");
        require(n > 1 || *p == '\n' || (*p >= 0x20 && *p != 0x7F), r, "holds a control character");
        require(n != 2 || p[0] != 0xC2 || p[1] >= 0xA0, r, "holds a C1 control character");
        const bool turns = n == 3 && p[0] == 0xE2 &&
                           ((p[1] == 0x80 && p[2] >= 0xAA && p[2] <= 0xAE) ||
                            (p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9));
        require(!turns, r, "holds a character that turns the direction");
        p += n;
    }
}

static void require_sound(const arenaut_report *report, const arenaut_result *result,
                          const arenaut_report_options *options) {
    reading r = {.report = report, .room = bound_of(result)};
    const arenaut_sink sink = {take, &r};
    arenaut_error err = {0};
    const arenaut_status st = arenaut_report_emit(report, result, options, sink, NULL, &err);
    require(st == ARENAUT_OK || (st == ARENAUT_REFUSED && err.msg[0]), &r, "fails");
    require_plain_text(&r);
    arenaut_text_free(&r.text);
}

void require_sound_reports(const arenaut_result *result) {
    static const uint32_t widths[] = {0, 1, 45, 61, 100, UINT32_MAX};
    for (size_t i = 0; i < arenaut_report_count(); i++) {
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            const arenaut_report_options options = {
                .width = widths[w], .top = w % 2 ? UINT32_MAX : 0, .unicode = w % 2 == 0};
            require_sound(arenaut_report_at(i), result, &options);
        }
    }
}

bool report_property(const uint8_t *data, size_t size) {
    const arenaut_plan_options plan_options = {.planner = "greedy-by-size", .effort = 1000};
    arenaut_document document = {0};
    arenaut_lowering *lowering = NULL;
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    arenaut_status st = arenaut_read(data, size, NULL, NULL, NULL, &document, &err);
    if (st != ARENAUT_OK) return false;
    const arenaut_problem *problem = document.problem;
    const arenaut_target *target = NULL;
    if (document.program) {
        target = arenaut_target_for_format(document.format->name);
        const arenaut_pass_options options = {.target = target};
        st = arenaut_passes_run(document.program, NULL, &options, NULL, NULL, &err);
        if (st == ARENAUT_OK) {
            st = arenaut_lower(document.program, target, NULL, NULL, &lowering, &err);
        }
        problem = lowering ? lowering->problem : NULL;
    }
    if (st == ARENAUT_OK) st = arenaut_plan_make(problem, &plan_options, NULL, &plan, &err);
    const arenaut_result result = {.path = "a/model",
                                   .format = document.format->name,
                                   .file = data,
                                   .file_size = size,
                                   .program = document.program,
                                   .target = target,
                                   .lowering = lowering,
                                   .problem = problem,
                                   .plan = plan,
                                   .baseline = plan,
                                   .seconds = -1};
    if (problem) require_sound_reports(&result);
    const bool planned = plan != NULL;
    arenaut_plan_free(plan);
    arenaut_lowering_free(lowering);
    arenaut_document_free(&document);
    return planned;
}
