/* Summary of rematerialization: the lower peak of live bytes, the tensors that are computed twice,
 * and the added work. */
#include "describe_recompute.h"

#include <inttypes.h>
#include <string.h>

/* Whether a tensor is a copy of one that ops of the file make. */
static bool is_copy(const arenaut_rewrite *r, uint32_t t) {
    return !r->tensors[t].same && r->tensors[t].tensor != ARENAUT_NONE;
}

static const char *name_of(const arenaut_pipeline *p, uint32_t tensor, char store[24]) {
    return arenaut_program_tensor_name(p->document.program, tensor, store);
}

static bool is_first_copy(const arenaut_rewrite *r, uint32_t t) {
    bool first = is_copy(r, t);
    for (uint32_t k = 0; k < t && first; k++) {
        first = r->tensors[k].same || r->tensors[k].tensor != r->tensors[t].tensor;
    }
    return first;
}

/* The largest that was not told yet; NONE: all were. */
static uint32_t next_largest(const arenaut_pipeline *p, uint32_t last) {
    const arenaut_rewrite *r = p->rewrite;
    const arenaut_tensor *tensors = p->document.program->tensors;
    uint32_t best = ARENAUT_NONE;
    for (uint32_t t = 0; t < r->n_tensors; t++) {
        if (!is_copy(r, t)) continue;
        const bool told =
            last != ARENAUT_NONE && (tensors[t].bytes > tensors[last].bytes ||
                                     (tensors[t].bytes == tensors[last].bytes && t <= last));
        const bool larger = best == ARENAUT_NONE || tensors[t].bytes > tensors[best].bytes;
        if (!told && larger && is_first_copy(r, t)) best = t;
    }
    return best;
}

static void put_largest(const arenaut_pipeline *p, int indent, arenaut_text *out) {
    enum { MOST = 4 };
    char store[24];
    uint32_t t = next_largest(p, ARENAUT_NONE);
    text_printf(out, "%*srecomputed:", indent, "");
    for (int i = 0; i < MOST && t != ARENAUT_NONE; i++) {
        text_put(out, i ? ", " : " ");
        text_put_clean(out, name_of(p, p->rewrite->tensors[t].tensor, store));
        text_printf(out, " (%s)", with_commas(p->document.program->tensors[t].bytes).text);
        t = next_largest(p, t);
    }
    text_put(out, t == ARENAUT_NONE ? "\n" : ", ...\n");
}

/* "6.52 %" of the step. */
static void put_percent(uint64_t part, uint64_t whole, arenaut_text *out) {
    text_printf(out, "%.2f %%", whole ? 100 * (double)part / (double)whole : 0);
}

static double milliseconds(uint64_t nanoseconds) { return (double)nanoseconds / 1e6; }

/* The proof is about the ops that may be rematerialized: all pure ops, or cheap ones. */
static void put_time(const arenaut_pipeline *p, int indent, arenaut_text *out) {
    const arenaut_recomputed *r = &p->recomputed;
    const bool has_budget = p->options.recomputing.options.budget > 0;
    text_printf(out, "%*stime: %.3f ms more (+", indent, "", milliseconds(r->added));
    put_percent(r->added, r->base, out);
    text_printf(out, "); %s", has_budget ? "no sequence that fits" : "with cheap ops, no sequence");
    text_printf(out, " adds less than %.3f ms (", milliseconds(r->bound));
    put_percent(r->bound, r->base, out);
    text_put(out, ", proven), gap ");
    put_percent(r->added > r->bound ? r->added - r->bound : 0, r->base, out);
    text_printf(out, "; %s\n",
                p->options.recomputing.options.costs ? "times as given" : "modelled");
    if (r->device) {
        text_printf(out, "%*s      for %s%s\n", indent, "", r->device,
                    p->options.recomputing.options.costs ? " where they are not" : "");
    }
}

static void put_nothing(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_recomputed *r = &p->recomputed;
    const uint64_t budget = p->options.recomputing.options.budget;
    if (budget > 0 && r->fits) {
        text_put(out, "no op is rematerialized: the budget is kept without\n");
    } else if (budget > 0) {
        text_printf(out,
                    r->floor > budget ? "nothing fits: any sequence needs %s bytes (proven)\n"
                                      : "none was found that fits; any needs %s bytes (proven)\n",
                    with_commas(r->floor).text);
    } else if (r->after < r->before) {
        text_put(out, "the peak of live bytes would be lower, but no smaller arena was found\n");
    } else if (r->floor >= r->before) {
        text_put(out, "no rematerialization of cheap ops lowers the peak (proven)\n");
    } else {
        text_put(out, "no copies of cheap ops were found that lower the peak\n");
    }
}

void describe_recompute(const arenaut_pipeline *p, const char *head, arenaut_text *out) {
    const arenaut_recomputed *r = &p->recomputed;
    if (!r->known) return;
    text_put(out, head);
    if (r->n_ops == 0) {
        put_nothing(p, out);
        return;
    }
    text_printf(out, "%" PRIu32 " op%s rematerialized: peak of %s live bytes instead of %s",
                r->n_ops, r->n_ops == 1 ? " is" : "s are", with_commas(r->after).text,
                with_commas(r->before).text);
    text_printf(out, "; ops write %s more (%s)\n", with_commas(r->bytes).text,
                change_percent(r->bytes_before, r->bytes_before + r->bytes).text);
    put_time(p, (int)strlen(head), out);
    put_largest(p, (int)strlen(head), out);
}

static void put_figures(const arenaut_recomputed *r, arenaut_text *out) {
    text_put(out, "\"before\": ");
    text_put_json_u64(out, r->before);
    text_put(out, ", \"after\": ");
    text_put_json_u64(out, r->after);
    text_printf(out, ", \"added_ops\": %" PRIu32 ", \"added_bytes\": ", r->n_ops);
    text_put_json_u64(out, r->bytes);
    const uint64_t more[] = {r->bytes_before, r->base, r->added, r->bound, r->floor};
    static const char *const names[] = {"bytes_before", "nanoseconds", "added_nanoseconds",
                                        "bound_nanoseconds", "floor"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        text_printf(out, ", \"%s\": ", names[i]);
        text_put_json_u64(out, more[i]);
    }
}

void put_json_figures_of_recompute(const arenaut_recomputed *recomputed, arenaut_text *out) {
    text_put(out, ", \"recompute\": {");
    put_figures(recomputed, out);
    text_put(out, "}");
}

void put_recompute_json(const arenaut_pipeline *p, arenaut_text *out) {
    const arenaut_rewrite *r = p->rewrite;
    bool begun = false;
    if (!p->recomputed.known) return;
    text_put(out, ",\n  \"recompute\": {");
    put_figures(&p->recomputed, out);
    text_put(out, ", \"tensors\": [");
    for (uint32_t t = 0; p->recomputed.n_ops > 0 && t < r->n_tensors; t++) {
        char store[24];
        if (!is_copy(r, t)) continue;
        text_put(out, begun ? ", " : "");
        text_put_json(out, name_of(p, r->tensors[t].tensor, store));
        begun = true;
    }
    text_put(out, "]}");
}
