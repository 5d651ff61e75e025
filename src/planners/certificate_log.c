/* Certificate log: a growing list of lines, 16 bytes each, up to a limit. Lines that turn out not
 * to be part of the proof, such as those of an abandoned tree, are cut off at the end again. */
#include "planners/certificate_log.h"

#include "core/fail.h"
#include "core/memory.h"
#include "ir/certificate.h"

enum { MOST_LINES = 1 << 26 };

void arn_certificate_log_add(arn_certificate_log *log, arenaut_proof_rule rule, uint32_t item,
                             uint64_t value) {
    const arenaut_proof_line line = {(uint32_t)rule, item, value};
    if (log->failed) return;
    if (log->n == MOST_LINES || !arn_grow(log->allocator, (void **)&log->line, &log->room,
                                          (uint64_t)log->n + 1, sizeof *log->line)) {
        log->failed = true;
        return;
    }
    log->line[log->n++] = line;
}

static bool is_branch(uint32_t rule) {
    return rule == ARENAUT_PROOF_BRANCH || rule == ARENAUT_PROOF_KEPT;
}

bool arn_certificate_log_keep(arn_certificate_log *log, uint32_t line, uint64_t serial) {
    if (line >= log->n || log->line[line].value != serial) return false;
    if (!is_branch(log->line[line].rule)) return false;
    log->line[line].rule = ARENAUT_PROOF_KEPT;
    return true;
}

static bool is_decision(uint32_t rule) {
    return rule == ARENAUT_PROOF_ABOVE || rule == ARENAUT_PROOF_LEVEL || rule == ARENAUT_PROOF_HIGH;
}

arenaut_status arn_certificate_log_finish(arn_certificate_log *log, const arenaut_problem *problem,
                                          uint64_t bound, arenaut_certificate **out,
                                          arenaut_error *err) {
    arenaut_certificate *certificate =
        log->failed ? NULL : arn_allocate_zeroed(log->allocator, 1, sizeof *certificate);
    if (!certificate) {
        arn_certificate_log_free(log);
        return arn_no_memory(err);
    }
    certificate->bound = bound;
    certificate->problem = arn_problem_digest(problem);
    certificate->n_lines = log->n;
    certificate->line = log->line;
    certificate->allocator = arn_allocator_or_default(log->allocator);
    for (uint32_t i = 0; i < log->n; i++) {
        arenaut_proof_line *line = &log->line[i];
        certificate->n_branches += is_branch(line->rule) || is_decision(line->rule);
        if (is_branch(line->rule)) line->value = 0;
    }
    log->line = NULL;
    arn_certificate_log_free(log);
    *out = certificate;
    return ARENAUT_OK;
}

void arn_certificate_log_free(arn_certificate_log *log) {
    arn_release(log->allocator, log->line);
    log->line = NULL;
    log->n = log->room = 0;
}
