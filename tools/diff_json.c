/* A diff for scripts: one JSON document, arenaut.diff/1. */
#include <inttypes.h>
#include <stdlib.h>

#include "diff.h"

/* ---- JSON ---- */

static void put_json_place(const char *key, const arenaut_result *r, uint32_t b,
                           arenaut_text *out) {
    if (b == ARENAUT_NONE) return;
    text_printf(out, ", \"%s\": {\"id\": %" PRIu32 ", \"size\": ", key, b);
    text_put_json_u64(out, r->problem->size[b]);
    text_put(out, ", \"pool\": ");
    if (r->plan->pool[b] == ARENAUT_NONE) text_put(out, "null");
    else text_printf(out, "%" PRIu32, r->plan->pool[b]);
    text_put(out, ", \"offset\": ");
    text_put_json_u64(out, r->plan->offset[b]);
    text_put(out, "}");
}

static void put_json_side(const char *key, const side *s, arenaut_text *out) {
    text_printf(out, "  \"%s\": {\"path\": ", key);
    text_put_json(out, s->result.path);
    text_put(out, ", \"made_by\": ");
    text_put_json(out, s->made_by);
    text_put(out, ", \"arena\": ");
    text_put_json_u64(out, arena_of(s));
    if (s->whole) {
        text_put(out, ", \"tensor_arena\": ");
        text_put_json_u64(out, s->need.bytes);
        text_printf(out, ", \"exact\": %s", s->need.unknown ? "false" : "true");
    }
    text_put(out, ", \"live_bytes\": ");
    text_put_json_u64(out, s->peak.live_bytes);
    text_printf(out, ", \"step\": %" PRId64 ", \"buffers\": %" PRIu32 "},\n", s->peak.step,
                s->result.problem->n_buffers);
}

static void put_json_figures(const diff *d, arenaut_text *out) {
    static const char *const keys[SIDES] = {"before", "after"};
    figure_list figures = diff_figures(d);
    text_put(out, "  \"parts\": [");
    for (size_t i = 0; i < figures.n; i++) {
        text_printf(out, "%s\n    {\"%s\": ", i ? "," : "", figures.items[i].kind);
        text_put_json(out, figures.items[i].name);
        for (int k = 0; k < SIDES; k++) {
            if (!figures.items[i].known[k]) continue;
            text_printf(out, ", \"%s\": ", keys[k]);
            text_put_json_u64(out, figures.items[i].bytes[k]);
        }
        text_put(out, "}");
    }
    text_put(out, "],\n");
    free(figures.items);
}

void put_json_diff(const diff *d, bool grew, arenaut_text *out) {
    text_printf(out, "{\n  \"schema\": \"arenaut.diff/1\",\n  \"version\": \"%s\",\n",
                ARENAUT_VERSION);
    put_json_side("before", &d->sides[BEFORE], out);
    put_json_side("after", &d->sides[AFTER], out);
    put_json_figures(d, out);
    text_printf(out, "  \"grew_too_much\": %s,\n  \"changes\": [", grew ? "true" : "false");
    for (size_t i = 0; i < d->changes.n; i++) {
        const change c = d->changes.items[i];
        char store[24];
        text_printf(out, "%s\n    {\"kind\": \"%s\", \"name\": ", i ? "," : "",
                    change_name(c.kind));
        text_put_json(out, diff_name(d, c, store));
        put_json_place("before", &d->sides[BEFORE].result, c.before, out);
        put_json_place("after", &d->sides[AFTER].result, c.after, out);
        text_put(out, "}");
    }
    text_put(out, "]\n}\n");
}
