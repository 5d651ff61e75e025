/* A program and a placement of its tensors, for tests of the replay that move one tensor and say
 * which rule that breaks. Small functions with short names, so all of it is in this header. */
#ifndef SUPPORT_REPLAY_SCENE_H
#define SUPPORT_REPLAY_SCENE_H

#include <arenaut/check.h>

#include "ir/program.h"
#include "support/programs.h"
#include "support/test.h"

enum { MAX_TENSORS = 160 };

/* A program under construction and where its tensors lie. Every tensor gets a place of its
 * own, 16 bytes each, until a test moves it. */
typedef struct scene {
    arenaut_program *p;
    uint32_t pool[MAX_TENSORS];
    uint64_t offset[MAX_TENSORS];
    uint64_t arena[2];
    arenaut_replay_options options;
    arenaut_finding finding;
    arenaut_error err;
} scene;

static inline void open_scene(scene *s) {
    memset(s, 0, sizeof *s);
    s->p = new_program();
    s->arena[0] = s->arena[1] = MAX_TENSORS * 16;
    for (uint32_t t = 0; t < MAX_TENSORS; t++) s->offset[t] = t * 16;
}

static inline void close_scene(scene *s) { arn_program_free(s->p); }

static inline arenaut_status replay(scene *s, const arenaut_allocator *allocator) {
    const arenaut_placement placement = {s->p->n_tensors, 2, s->pool, s->offset, s->arena};
    return arenaut_check_replay(s->p, &placement, &s->options, allocator, &s->finding, &s->err);
}

static inline void expect(scene *s, arenaut_rule rule) {
    const arenaut_status status = replay(s, NULL);
    if (s->finding.rule != rule) {
        fail_msg("expected \"%s\", found \"%s\": %s", arenaut_rule_name(rule),
                 arenaut_rule_name(s->finding.rule), s->finding.msg);
    }
    assert_int_equal(status, rule == ARENAUT_RULE_NONE ? ARENAUT_OK : ARENAUT_REJECTED);
    if (rule != ARENAUT_RULE_NONE) assert_string_equal(s->finding.msg, s->err.msg);
}

/* At `op` (NONE: at a method's end), `a` is hurt by `b`. */
static inline void expect_at(scene *s, arenaut_rule rule, uint32_t op, uint32_t a, uint32_t b) {
    expect(s, rule);
    assert_int_equal(s->finding.op, op);
    assert_int_equal(s->finding.a, a);
    assert_int_equal(s->finding.b, b);
}

/* Puts `tensor` where `on` is, `delta` bytes further. */
static inline void put(scene *s, uint32_t tensor, uint32_t on, uint64_t delta) {
    s->offset[tensor] = s->offset[on] + delta;
}

static inline uint32_t input(scene *s, const char *name) {
    return add_tensor(s->p, name, 16, ARENAUT_INPUT);
}
static inline uint32_t output(scene *s, const char *name) {
    return add_tensor(s->p, name, 16, ARENAUT_OUTPUT);
}
static inline uint32_t value(scene *s, const char *name) {
    return add_tensor(s->p, name, 16, ARENAUT_INTERMEDIATE);
}
static inline uint32_t scratch(scene *s, const char *name) {
    return add_tensor(s->p, name, 16, ARENAUT_SCRATCH);
}

#endif
