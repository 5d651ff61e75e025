/* explain: the causes of the peak, on one screen: its step, the buffers alive there and the ops
 * that need them, the waste of the arena above it, and remedies. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/planner.h>

#include "core/memory.h"
#include "ir/pair_relations.h"
#include "report/figures.h"
#include "report/label.h"

enum { DEFAULT_TOP = 8, READERS_SHOWN = 2, HOLES_SHOWN = 4, REMEDIES = 4 };

typedef struct explain {
    const arenaut_result *result;
    const arenaut_report_options *options;
    const arenaut_allocator *allocator;
    arn_writer out;
    arenaut_peak peak;
    uint64_t needed; /* at the peak: live bytes, shared ones once */
    uint64_t bound;  /* on the arena: at least that, more with pinned buffers */
    arenaut_error *err;
} explain;

static const char *bold(const explain *e) { return e->options->color ? "\033[1m" : ""; }
static const char *plain(const explain *e) { return e->options->color ? "\033[0m" : ""; }

/* NULL: there is none. */
static const arenaut_plan *plan_of(const arenaut_result *r) {
    return r->plan && r->plan->quality != ARENAUT_INFEASIBLE ? r->plan : NULL;
}

/* If plans may put more into slower pools, a minimal one need not be the smallest in all. */
static bool is_smallest(const arenaut_result *r) {
    return r->plan->quality == ARENAUT_OPTIMAL && !arenaut_problem_chooses_pools(r->problem);
}

/* The bytes of the plan beyond the peak. */
static void put_arena(explain *e) {
    const arenaut_result *r = e->result;
    const uint64_t used = e->needed + r->behind;
    const uint64_t waste = r->plan->total > used ? r->plan->total - used : 0;
    arn_putf(&e->out, "%s%-5s%s  %s bytes: ", bold(e), arn_report_planned_name(r), plain(e),
             arn_report_commas(r->plan->total).text);
    if (r->behind) {
        arn_putf(&e->out, "%s of them behind the buffers, for the runtime; ",
                 arn_report_commas(r->behind).text);
    }
    if (r->plan->total < e->needed && r->problem->n_separations) {
        arn_putf(&e->out, "%s below the peak, as results overlap operands\n",
                 arn_report_commas(e->needed - r->plan->total).text);
    } else if (r->plan->total < e->needed) {
        arn_putf(&e->out, "%s below the peak, as values share memory in the file's plan\n",
                 arn_report_commas(e->needed - r->plan->total).text);
    } else if (waste == 0) arn_puts(&e->out, "no waste, the peak itself\n");
    else
        arn_putf(&e->out, "%s (%s) above the peak, %s\n", arn_report_commas(waste).text,
                 arn_report_percent(waste, e->needed).text,
                 is_smallest(r) ? "which is proven to be unavoidable" : "perhaps avoidable");
}

/* Three numbers that are often confused: bytes needed at once, bytes of the plan, and bytes of the
 * runtime's own plan. */
static void put_summary(explain *e) {
    const arenaut_result *r = e->result;
    arn_putf(&e->out, "%speak%s   %s bytes (%s) at %s", bold(e), plain(e),
             arn_report_commas(e->needed).text, arn_report_kib(e->needed).text,
             arn_report_step_label(r, e->peak.step).text);
    if (r->lowering)
        arn_putf(&e->out, ", step %" PRId64 " of %" PRIu32, e->peak.step, r->lowering->n_steps);
    arn_puts(&e->out, "\n");
    if (plan_of(r)) put_arena(e);
    if (r->baseline) {
        arn_putf(&e->out, "%snow%s    %s bytes (%s)", bold(e), plain(e),
                 arn_report_commas(r->baseline->total).text, r->baseline->planner);
        if (plan_of(r) && r->baseline->total > r->plan->total) {
            arn_putf(&e->out, ": %s more than planned",
                     arn_report_commas(r->baseline->total - r->plan->total).text);
        }
        arn_puts(&e->out, "\n");
    }
}

/* Marks the buffers with an argument of an opaque op; the number of such ops, and the first. */
static uint32_t mark_opaque(const arenaut_result *r, bool *theirs, uint32_t *first) {
    uint32_t n = 0;
    for (uint32_t i = r->program->n_ops; i-- > 0;) {
        const arenaut_op *op = &r->program->ops[i];
        if (op->kind != ARENAUT_OP_DELEGATE) continue;
        n++;
        *first = i;
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            const uint32_t t = k < op->n_inputs ? op->inputs[k] : op->outputs[k - op->n_inputs];
            const uint32_t b = t == ARENAUT_NONE ? t : r->lowering->buffer[t];
            if (b != ARENAUT_NONE) theirs[b] = true;
        }
    }
    return n;
}

/* Memory of ExecuTorch's delegates beside their arguments, from their sources. */
static const struct {
    const char *delegate, *keeps;
} delegates[] = {
    {"EthosUBackend",
     "scratch from the method's temporary allocator, with copies of its arguments"},
    {"XnnpackBackend", "a workspace in the heap of the process"},
};

static void put_kept_memory(explain *e) {
    const arenaut_program *p = e->result->program;
    for (size_t k = 0; k < sizeof delegates / sizeof delegates[0]; k++) {
        bool called = false;
        for (uint32_t i = 0; i < p->n_ops && !called; i++) {
            const arenaut_op *op = &p->ops[i];
            called = op->kind == ARENAUT_OP_DELEGATE && op->name &&
                     strcmp(op->name, delegates[k].delegate) == 0;
        }
        if (!called) continue;
        arn_putf(&e->out, "       %s keeps %s\n", delegates[k].delegate, delegates[k].keeps);
    }
}

/* Ops that are opaque to a planner: the part of the plan that they decide, beside memory of their
 * own. */
static arenaut_status put_opaque_ops(explain *e) {
    const arenaut_result *r = e->result;
    uint32_t first = 0, touched = 0;
    uint64_t at_peak = 0;
    if (!r->lowering || r->problem->n_buffers == 0) return ARENAUT_OK;
    bool *theirs = arn_allocate_zeroed(e->allocator, r->problem->n_buffers, sizeof *theirs);
    if (!theirs) return arn_no_memory(e->err);
    const uint32_t n = mark_opaque(r, theirs, &first);
    for (uint32_t b = 0; b < r->problem->n_buffers; b++) touched += theirs[b];
    for (uint32_t i = 0; i < e->peak.n_live; i++) {
        if (theirs[e->peak.live[i]]) at_peak += r->problem->size[e->peak.live[i]];
    }
    arn_release(e->allocator, theirs);
    if (n == 0) return ARENAUT_OK;
    arn_putf(&e->out,
             "%sopaque%s %" PRIu32 " of %" PRIu32
             " ops, from %s on: delegates or custom ops, whose "
             "own memory is not counted;\n",
             bold(e), plain(e), n, r->program->n_ops, arn_report_op_label(r->program, first).text);
    arn_putf(&e->out,
             "       they read or write %s of the bytes at the peak, in %" PRIu32 " of the %" PRIu32
             " buffers that are planned\n",
             arn_report_commas(at_peak).text, touched, r->problem->n_buffers);
    put_kept_memory(e);
    return ARENAUT_OK;
}

/* Whether one of an op's arguments lies in `buffer`. */
static bool touches(const arenaut_result *r, const uint32_t *tensors, uint32_t n, uint32_t buffer) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] != ARENAUT_NONE && r->lowering->buffer[tensors[i]] == buffer) return true;
    }
    return false;
}

/* The op that makes it and its later readers: the reason why it is alive at the peak. */
static void put_makers_and_readers(explain *e, uint32_t buffer) {
    const arenaut_program *p = e->result->program;
    uint32_t readers = 0, producer = ARENAUT_NONE;
    arn_label shown[READERS_SHOWN];
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (producer == ARENAUT_NONE && (touches(e->result, op->outputs, op->n_outputs, buffer) ||
                                         touches(e->result, op->scratch, op->n_scratch, buffer))) {
            producer = i;
        }
        if (!touches(e->result, op->inputs, op->n_inputs, buffer)) continue;
        if (readers < READERS_SHOWN) shown[readers] = arn_report_op_label(p, i);
        readers++;
    }
    if (producer != ARENAUT_NONE)
        arn_putf(&e->out, "from %s", arn_report_op_label(p, producer).text);
    else arn_puts(&e->out, "from outside");
    for (uint32_t i = 0; i < readers && i < READERS_SHOWN; i++) {
        arn_putf(&e->out, "%s%s", i ? ", " : "; read by ", shown[i].text);
    }
    if (readers > READERS_SHOWN)
        arn_putf(&e->out, " and %" PRIu32 " more", readers - READERS_SHOWN);
}

/* For a bare problem: the file's text, and the lifetime. */
static void put_story_of_buffer(explain *e, uint32_t buffer) {
    const arenaut_problem *p = e->result->problem;
    const arenaut_interval *life = arenaut_problem_lifetimes(p, buffer);
    const uint32_t n = arenaut_problem_lifetime_count(p, buffer);
    if (p->op && p->op[buffer]) {
        arn_puts(&e->out, "from ");
        arn_report_put_clean(&e->out, p->op[buffer]);
        arn_puts(&e->out, "; ");
    }
    arn_putf(&e->out, "alive from step %" PRId64 " to %" PRId64, life[0].first,
             life[n - 1].end - 1);
    if (n > 1) arn_putf(&e->out, ", with %" PRIu32 " gaps", n - 1);
}

/* Columns of a buffer's first line: its rank, its name, and its numbers. */
enum { RANK = 5, AFTER_NAME = 36, LEAST_NAME = 16, EDGE = 3 };

static uint32_t name_room(const explain *e) {
    const size_t room = arn_report_columns_left(e->options->width, RANK + AFTER_NAME + EDGE);
    return room < LEAST_NAME ? LEAST_NAME : (uint32_t)room;
}

/* Two lines: name and numbers in columns, then its maker and readers. */
static void put_buffer(explain *e, uint32_t rank, uint64_t *sum) {
    const arenaut_problem *p = e->result->problem;
    const uint32_t b = e->peak.live[rank];
    const uint32_t room = name_room(e);
    const arn_label name = arn_report_buffer_label(e->result, b, room);
    const arn_label bytes = arn_report_commas(p->size[b]);
    *sum += p->size[b];
    arn_putf(&e->out, "%3" PRIu32 "  %s", rank + 1, name.text);
    arn_report_put_spaces(&e->out, arn_report_columns_left(room, arn_report_columns(name.text)));
    arn_putf(&e->out, "%16s%10s%10s\n", bytes.text,
             arn_report_percent(p->size[b], e->peak.live_bytes).text,
             arn_report_percent(*sum, e->peak.live_bytes).text);
    arn_puts(&e->out, "       ");
    const arn_label shape = arn_report_shape_label(e->result, b);
    if (*shape.text) arn_putf(&e->out, "%s, ", shape.text);
    const arenaut_class cls = arenaut_problem_class(p, b);
    if (cls != ARENAUT_INTERMEDIATE) arn_putf(&e->out, "%s, ", arenaut_class_name(cls));
    if (e->result->lowering) put_makers_and_readers(e, b);
    else put_story_of_buffer(e, b);
    arn_puts(&e->out, "\n");
    const char *own = p->name ? p->name[b] : NULL, *source = p->source ? p->source[b] : NULL;
    if (source && (!own || strcmp(own, source) != 0)) {
        arn_putf(&e->out, "       %s\n", arn_report_text_label(source, room + AFTER_NAME).text);
    }
}

/* The largest first, with their running sum: a few usually make most of the peak. */
static void put_buffers(explain *e) {
    static const char heading[] = "alive at the peak";
    const uint32_t top = e->options->top ? e->options->top : DEFAULT_TOP;
    uint64_t sum = 0;
    arn_putf(&e->out, "\n%s%s", bold(e), heading);
    arn_report_put_spaces(&e->out, arn_report_columns_left(RANK + name_room(e), strlen(heading)));
    arn_putf(&e->out, "%16s%10s%10s%s\n", "bytes", "share", "sum", plain(e));
    for (uint32_t i = 0; i < e->peak.n_live && i < top; i++) put_buffer(e, i, &sum);
    if (e->peak.n_live > top) {
        arn_putf(&e->out, "     and %" PRIu32 " smaller ones, %s bytes together\n",
                 e->peak.n_live - top, arn_report_commas(e->peak.live_bytes - sum).text);
    }
    if (e->peak.shared_bytes > 0) {
        arn_putf(&e->out, "     %s of these bytes are shared: results written over operands",
                 arn_report_commas(e->peak.shared_bytes).text);
        if (e->result->kernels) {
            arn_putf(&e->out, ", as the kernels '%s' allow", e->result->kernels->name);
        }
        arn_puts(&e->out, "\n");
    }
}

/* Whether the op's result may be written over the operand of this overlap in the plan at hand. */
static bool is_granted(const arenaut_result *r, const arenaut_op *op, const arenaut_overlap *pair) {
    const uint32_t upper = r->lowering->buffer[op->inputs[pair->input]];
    const uint32_t lower = r->lowering->buffer[op->outputs[pair->output]];
    return upper != ARENAUT_NONE && lower != ARENAUT_NONE &&
           (arn_find_separation(r->problem, upper, lower) != NULL ||
            arenaut_problem_same_base(r->problem, lower) == upper);
}

/* Overlaps that kernels allow and the program does not. Shown if results reach into operands at
 * all: otherwise there is a note. */
static void put_kept_apart(explain *e) {
    const arenaut_result *r = e->result;
    uint64_t n = 0;
    if (!r->lowering || r->problem->n_separations == 0) return;
    for (uint32_t i = 0; i < r->program->n_ops; i++) {
        const arenaut_op *op = &r->program->ops[i];
        for (uint32_t k = 0; k < op->n_overlaps; k++) n += !is_granted(r, op, &op->overlaps[k]);
    }
    if (n == 0) return;
    arn_putf(&e->out,
             "     operands kept whole though results could reach into them: %" PRIu64
             "; each is "
             "needed later,\n     a result, state, a kept input or a part of another\n",
             n);
}

/* Ids of the live buffers in `pool`, lowest first; insertion sort, since few are alive. */
static uint32_t live_by_offset(const explain *e, uint32_t pool, uint32_t *ids) {
    const arenaut_plan *plan = e->result->plan;
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->peak.n_live; i++) {
        const uint32_t b = e->peak.live[i];
        if (plan->pool[b] != pool) continue;
        uint32_t at = n++;
        for (; at > 0 && plan->offset[ids[at - 1]] > plan->offset[b]; at--) ids[at] = ids[at - 1];
        ids[at] = b;
    }
    return n;
}

/* Addresses below the pool's need at which no buffer lies at the peak. */
static void put_holes_of_pool(explain *e, uint32_t pool, uint32_t *ids, uint32_t *shown) {
    const arenaut_plan *plan = e->result->plan;
    const uint32_t n = live_by_offset(e, pool, ids);
    uint64_t used = 0;
    for (uint32_t i = 0; i <= n; i++) {
        const uint64_t next = i < n ? plan->offset[ids[i]] : plan->arena[pool];
        if (next > used && *shown < HOLES_SHOWN) {
            arn_puts(&e->out, *shown ? ", " : "\nunused at the peak: ");
            arn_putf(&e->out, "%s bytes at %s", arn_report_commas(next - used).text,
                     arn_report_commas(used).text);
            ++*shown;
        }
        if (i == n) break;
        const uint64_t end = plan->offset[ids[i]] + e->result->problem->size[ids[i]];
        if (end > used) used = end;
    }
}

static arenaut_status put_holes(explain *e) {
    enum { MOST = 4096 }; /* sorting more by insertion would take long; holes are few then */
    uint32_t shown = 0;
    if (!plan_of(e->result) || e->peak.n_live > MOST) return ARENAUT_OK;
    uint32_t *ids = arn_allocate(e->allocator, e->peak.n_live, sizeof *ids);
    if (!ids) return arn_no_memory(e->err);
    for (uint32_t pool = 0; pool < e->result->plan->n_pools; pool++) {
        put_holes_of_pool(e, pool, ids, &shown);
    }
    if (shown) arn_puts(&e->out, "\n");
    arn_release(e->allocator, ids);
    return ARENAUT_OK;
}

/* The bound without each of the largest buffers. */
static arenaut_status put_remedies(explain *e) {
    const uint32_t n = e->peak.n_live < REMEDIES ? e->peak.n_live : REMEDIES;
    arn_bound_without without[REMEDIES];
    const arenaut_status st = arn_report_bounds_without(e->result->problem, e->peak.live, n,
                                                        e->allocator, without, e->err);
    if (st != ARENAUT_OK || n == 0) return st;
    arn_putf(&e->out, "\n%sremedies%s\n", bold(e), plain(e));
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t bytes = without[i].bytes;
        arn_putf(&e->out, "  without %" PRIu32 ": at least %s", i + 1,
                 arn_report_commas(bytes).text);
        if (bytes >= e->bound) arn_puts(&e->out, ", saves nothing");
        else arn_putf(&e->out, ", saves %s", arn_report_commas(e->bound - bytes).text);
        arn_putf(&e->out, "; then the peak is at %s\n",
                 arn_report_step_label(e->result, without[i].step).text);
    }
    return ARENAUT_OK;
}

static arenaut_status emit(const arenaut_result *result, const arenaut_report_options *options,
                           arenaut_sink sink, const arenaut_allocator *allocator,
                           arenaut_error *err) {
    explain e = {.result = result,
                 .options = options,
                 .allocator = allocator,
                 .out = arn_writer_to(sink),
                 .err = err};
    arenaut_status st = arenaut_peak_find(result->problem, allocator, &e.peak, err);
    if (st != ARENAUT_OK) return st;
    e.needed = e.peak.live_bytes - e.peak.shared_bytes;
    st = arenaut_lower_bound(result->problem, allocator, &e.bound, NULL, err);
    if (st == ARENAUT_OK) {
        put_summary(&e);
        st = put_opaque_ops(&e);
    }
    if (st == ARENAUT_OK) {
        put_buffers(&e);
        put_kept_apart(&e);
        st = put_holes(&e);
    }
    if (st == ARENAUT_OK) st = put_remedies(&e);
    arenaut_peak_free(&e.peak, allocator);
    return st == ARENAUT_OK ? arn_writer_finish(&e.out, err) : st;
}

extern const arenaut_report arn_report_explain;
const arenaut_report arn_report_explain = {
    .name = "explain",
    .summary = "the causes of the peak",
    .emit = emit,
};
