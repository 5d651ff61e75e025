/* A result as one JSON object: figures as they are, and a column for each property of buffers, of
 * lifetimes, of ops and of steps. Indices that may be missing are counted from 1. Names of
 * operators and shapes, which repeat, are numbers into a list of words. */
#include "report/page/page_plan.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/planner.h>
#include <arenaut/problem.h>
#include <arenaut/tensor_arena.h>

#include "core/fail.h"
#include "core/file_name.h"
#include "core/memory.h"
#include "core/name_tree.h"
#include "core/writer.h"
#include "ir/program.h"
#include "report/figures.h"
#include "report/label.h"
#include "report/page/page_columns.h"

/* The problem of a plan, as far as the page needs it to plan again. */

/* The constraints of a problem that its plan does not show, in columns: of buffers which pools they
 * may go to, whether they are pinned, and the like; of pools capacity and alignment; of pairs the
 * distances; conflicts and reserved ranges. A number that may be missing is stored plus one, and 0
 * if it is missing; distances, which may be negative, are 0, -1, 1, -2 and so on. */

static uint64_t may_at(const void *c, uint32_t b) {
    return arenaut_problem_pools((const arenaut_problem *)c, b);
}
static uint64_t fixed_at(const void *c, uint32_t b) {
    return arenaut_problem_fixed_offset((const arenaut_problem *)c, b) + 1;
}
static uint64_t hint_at(const void *c, uint32_t b) {
    return arenaut_problem_hint((const arenaut_problem *)c, b) + 1;
}
static uint64_t delta_at(const void *c, uint32_t b) {
    const arenaut_problem *p = c;
    return p->inside_delta ? p->inside_delta[b] : 0;
}
static uint64_t uses_at(const void *c, uint32_t b) {
    return arenaut_problem_uses((const arenaut_problem *)c, b);
}
static uint64_t release_at(const void *c, uint32_t b) {
    return arenaut_problem_release((const arenaut_problem *)c, b);
}
static uint64_t capacity_at(const void *c, uint32_t k) {
    return ((const arenaut_problem *)c)->pool[k].capacity;
}
static uint64_t pool_align_at(const void *c, uint32_t k) {
    return ((const arenaut_problem *)c)->pool[k].align;
}
static uint64_t distance_at(const void *c, uint32_t i) {
    const int64_t d = ((const arenaut_problem *)c)->separation[i].distance;
    return (uint64_t)d << 1 ^ (d < 0 ? UINT64_MAX : 0);
}
static uint64_t conflict_a_at(const void *c, uint32_t i) {
    return ((const arenaut_problem *)c)->conflict[i].a;
}
static uint64_t conflict_b_at(const void *c, uint32_t i) {
    return ((const arenaut_problem *)c)->conflict[i].b;
}
static uint64_t reserved_pool_at(const void *c, uint32_t i) {
    return ((const arenaut_problem *)c)->reserved[i].pool;
}
static uint64_t reserved_first_at(const void *c, uint32_t i) {
    return ((const arenaut_problem *)c)->reserved[i].first;
}
static uint64_t reserved_end_at(const void *c, uint32_t i) {
    return ((const arenaut_problem *)c)->reserved[i].end;
}

/* A JSON object of columns beside those of the plan, see explorer/src/replan.js. */
static void page_put_problem(arn_writer *out, const arenaut_problem *problem) {
    const struct {
        const char *name;
        uint32_t n;
        arn_column_value value;
    } columns[] = {
        {"may", problem->n_buffers, may_at},
        {"fixed", problem->n_buffers, fixed_at},
        {"hint", problem->n_buffers, hint_at},
        {"delta", problem->n_buffers, delta_at},
        {"uses", problem->n_buffers, uses_at},
        {"release", problem->n_buffers, release_at},
        {"capacity", problem->n_pools, capacity_at},
        {"poolAlign", problem->n_pools, pool_align_at},
        {"distance", problem->n_separations, distance_at},
        {"conflictA", problem->n_conflicts, conflict_a_at},
        {"conflictB", problem->n_conflicts, conflict_b_at},
        {"reservedPool", problem->n_reserved, reserved_pool_at},
        {"reservedFirst", problem->n_reserved, reserved_first_at},
        {"reservedEnd", problem->n_reserved, reserved_end_at},
    };
    arn_putf(out, "{\"traits\":%" PRIu32, problem->traits);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        arn_puts(out, ",\n");
        arn_put_column(out, columns[i].name, columns[i].n, columns[i].value, problem);
    }
    arn_puts(out, "}");
}

/* ---- the whole ---- */

enum { WITHOUT = 4 }; /* as many as explain has */

typedef struct page {
    arn_writer *out;
    const arenaut_result *result;
    const arenaut_problem *problem;
    const arenaut_plan *plan;
    const arenaut_program *program; /* NULL for a bare problem, and so the next */
    const arenaut_lowering *lowering;
    int64_t origin;    /* the first step */
    arn_region region; /* of the arrays below */
    arn_name_tree tree;
    const char **word; /* room for all that are asked for */
    uint32_t n_words;
    uint32_t *op_word;               /* per op */
    uint32_t *shape_word, *op_of;    /* per buffer: numbers of words, from 1 */
    uint32_t *argument, n_arguments; /* buffers of ops, from 1: results first, then operands */
    uint32_t *n_results, *n_operands;
} page;

/* ---- words ---- */

static bool find_word(page *p, const char *text, uint32_t *number) {
    const size_t length = strlen(text);
    char *copy = arn_region_copy_text(&p->region, text, length);
    bool found;
    const arn_name name = {(const uint8_t *)copy, length};
    *number = p->n_words;
    if (!copy || !arn_name_tree_add(&p->tree, &p->region, name, number, &found)) return false;
    if (!found) p->word[p->n_words++] = copy;
    ++*number;
    return true;
}

static bool find_words(page *p) {
    const uint32_t n = p->problem->n_buffers, n_ops = p->program ? p->program->n_ops : 0;
    if (!ARN_REGION_ARRAYS(&p->region, ARN_ARRAY(p->word, 2 * (size_t)n + n_ops),
                           ARN_ARRAY(p->op_word, n_ops), ARN_ARRAY(p->shape_word, n),
                           ARN_ARRAY(p->op_of, n))) {
        return false;
    }
    for (uint32_t i = 0; i < n_ops; i++) {
        const char *name = p->program->ops[i].name;
        if (!find_word(p, name ? name : "", &p->op_word[i])) return false;
    }
    for (uint32_t b = 0; b < n; b++) {
        const arn_label shape = arn_report_shape_label(p->result, b);
        const char *op = p->problem->op ? p->problem->op[b] : NULL;
        if (*shape.text && !find_word(p, shape.text, &p->shape_word[b])) return false;
        if (op && !find_word(p, op, &p->op_of[b])) return false;
    }
    return true;
}

/* ---- arguments ---- */

/* Counts, and notes where there is room, the buffers behind `n` tensors. */
static uint32_t note_buffers(page *p, const uint32_t *tensors, uint32_t n) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b =
            tensors[i] == ARENAUT_NONE ? ARENAUT_NONE : p->lowering->buffer[tensors[i]];
        if (b == ARENAUT_NONE) continue;
        if (p->argument) p->argument[p->n_arguments++] = b + 1;
        found++;
    }
    return found;
}

static bool find_arguments(page *p) {
    const uint32_t n = p->program ? p->program->n_ops : 0;
    uint64_t sum = 0;
    if (!ARN_REGION_ARRAYS(&p->region, ARN_ARRAY(p->n_results, n), ARN_ARRAY(p->n_operands, n)))
        return false;
    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < n; i++) {
            const arenaut_op *op = &p->program->ops[i];
            p->n_results[i] = note_buffers(p, op->outputs, op->n_outputs) +
                              note_buffers(p, op->scratch, op->n_scratch);
            p->n_operands[i] = note_buffers(p, op->inputs, op->n_inputs);
            sum += (uint64_t)p->n_results[i] + p->n_operands[i];
        }
        if (p->argument) break;
        if (sum > UINT32_MAX) return false; /* no memory for these */
        p->argument = arn_region_allocate(&p->region, (size_t)sum, sizeof *p->argument);
        if (!p->argument) return false;
    }
    return true;
}

/* ---- values of columns ---- */

/* Whether it is a trace with reserved bytes. */
static bool says_reserved(const page *p) { return p->result->trace && p->result->trace->reserved; }

static uint64_t from_one(uint32_t index) { return index == ARENAUT_NONE ? 0 : (uint64_t)index + 1; }

static uint64_t size_at(const void *c, uint32_t i) { return ((const page *)c)->problem->size[i]; }
static uint64_t align_at(const void *c, uint32_t i) {
    return arenaut_problem_align(((const page *)c)->problem, i);
}
static uint64_t offset_at(const void *c, uint32_t i) { return ((const page *)c)->plan->offset[i]; }
static uint64_t pool_at(const void *c, uint32_t i) {
    return from_one(((const page *)c)->plan->pool[i]);
}
static uint64_t class_at(const void *c, uint32_t i) {
    return (uint64_t)arenaut_problem_class(((const page *)c)->problem, i);
}
static uint64_t base_at(const void *c, uint32_t i) {
    return from_one(arenaut_problem_same_base(((const page *)c)->problem, i));
}
static uint64_t host_at(const void *c, uint32_t i) {
    return from_one(arenaut_problem_inside(((const page *)c)->problem, i));
}
static uint64_t method_at(const void *c, uint32_t i) {
    const arenaut_problem *p = ((const page *)c)->problem;
    return p->method ? from_one(p->method[i]) : 0;
}
static uint64_t shape_at(const void *c, uint32_t i) { return ((const page *)c)->shape_word[i]; }
static uint64_t op_of_at(const void *c, uint32_t i) { return ((const page *)c)->op_of[i]; }
static uint64_t lives_at(const void *c, uint32_t i) {
    return arenaut_problem_lifetime_count(((const page *)c)->problem, i);
}
static uint64_t first_at(const void *c, uint32_t i) {
    const page *p = c;
    return (uint64_t)p->problem->lifetime[i].first - (uint64_t)p->origin;
}
static uint64_t length_at(const void *c, uint32_t i) {
    const arenaut_interval life = ((const page *)c)->problem->lifetime[i];
    return (uint64_t)life.end - (uint64_t)life.first;
}
static uint64_t upper_at(const void *c, uint32_t i) {
    return ((const page *)c)->problem->separation[i].upper;
}
static uint64_t lower_at(const void *c, uint32_t i) {
    return ((const page *)c)->problem->separation[i].lower;
}
static uint64_t op_word_at(const void *c, uint32_t i) { return ((const page *)c)->op_word[i]; }
static uint64_t op_method_at(const void *c, uint32_t i) {
    return ((const page *)c)->program->ops[i].method;
}
static uint64_t op_kind_at(const void *c, uint32_t i) {
    return (uint64_t)((const page *)c)->program->ops[i].kind;
}
static uint64_t results_at(const void *c, uint32_t i) { return ((const page *)c)->n_results[i]; }
static uint64_t operands_at(const void *c, uint32_t i) { return ((const page *)c)->n_operands[i]; }
static uint64_t argument_at(const void *c, uint32_t i) { return ((const page *)c)->argument[i]; }
static uint64_t step_op_at(const void *c, uint32_t i) {
    return from_one(((const page *)c)->lowering->steps[i].op);
}
static uint64_t step_method_at(const void *c, uint32_t i) {
    return ((const page *)c)->lowering->steps[i].method;
}
static uint64_t reserved_at(const void *c, uint32_t i) {
    return ((const page *)c)->result->trace->reserved[i];
}
static const char *name_at(const void *c, uint32_t i) {
    const arenaut_problem *p = ((const page *)c)->problem;
    return p->name ? p->name[i] : NULL;
}
static const char *source_at(const void *c, uint32_t i) {
    const arenaut_problem *p = ((const page *)c)->problem;
    const char *source = p->source ? p->source[i] : NULL, *name = p->name ? p->name[i] : NULL;
    return source && name && strcmp(source, name) == 0 ? NULL : source;
}
static const char *op_source_at(const void *c, uint32_t i) {
    return ((const page *)c)->program->ops[i].source;
}
static const char *word_at(const void *c, uint32_t i) { return ((const page *)c)->word[i]; }

typedef struct column {
    const char *name;
    arn_column_value value;
} column;

static void put_columns(page *p, const column *columns, size_t n_columns, uint32_t n) {
    for (size_t i = 0; i < n_columns; i++) {
        arn_put_column(p->out, columns[i].name, n, columns[i].value, p);
        arn_puts(p->out, ",\n");
    }
}
#define PUT_COLUMNS(p, columns, n) put_columns(p, columns, sizeof(columns) / sizeof *(columns), n)

static void put_all_columns(page *p) {
    static const column of_buffers[] = {
        {"size", size_at},   {"align", align_at}, {"offset", offset_at}, {"pool", pool_at},
        {"class", class_at}, {"base", base_at},   {"host", host_at},     {"method", method_at},
        {"shape", shape_at}, {"maker", op_of_at}, {"lives", lives_at}};
    static const column of_lifetimes[] = {{"first", first_at}, {"length", length_at}};
    static const column of_pairs[] = {{"upper", upper_at}, {"lower", lower_at}};
    static const column of_ops[] = {{"opName", op_word_at},
                                    {"opMethod", op_method_at},
                                    {"opKind", op_kind_at},
                                    {"results", results_at},
                                    {"operands", operands_at}};
    static const column of_steps[] = {{"stepOp", step_op_at}, {"stepMethod", step_method_at}};
    static const column of_arguments[] = {{"argument", argument_at}};
    static const column of_requests[] = {{"reserved", reserved_at}};
    const uint32_t n_ops = p->program ? p->program->n_ops : 0;
    arn_puts(p->out, "\"columns\":{\n");
    PUT_COLUMNS(p, of_buffers, p->problem->n_buffers);
    PUT_COLUMNS(p, of_lifetimes, p->problem->n_lifetimes);
    PUT_COLUMNS(p, of_pairs, p->problem->n_separations);
    PUT_COLUMNS(p, of_ops, n_ops);
    PUT_COLUMNS(p, of_steps, p->lowering ? p->lowering->n_steps : 0);
    PUT_COLUMNS(p, of_arguments, p->n_arguments);
    if (says_reserved(p)) PUT_COLUMNS(p, of_requests, p->result->trace->n_requests);
    arn_put_text_column(p->out, "name", p->problem->n_buffers, name_at, p);
    arn_puts(p->out, ",\n");
    arn_put_text_column(p->out, "source", p->problem->n_buffers, source_at, p);
    arn_puts(p->out, ",\n");
    arn_put_text_column(p->out, "opSource", n_ops, op_source_at, p);
    arn_puts(p->out, ",\n");
    arn_put_text_column(p->out, "word", p->n_words, word_at, p);
    arn_puts(p->out, "}");
}

/* ---- figures ---- */

static void put_text(page *p, const char *key, const char *text) {
    arn_putf(p->out, "\"%s\":", key);
    if (text) arn_put_json_string(p->out, text);
    else arn_puts(p->out, "null");
    arn_puts(p->out, ",\n");
}

static void put_bytes(page *p, const char *key, uint64_t bytes) {
    arn_putf(p->out, "\"%s\":\"%" PRIu64 "\",\n", key, bytes);
}

static void put_pools(page *p) {
    arn_puts(p->out, "\"pools\":[");
    for (uint32_t i = 0; i < p->problem->n_pools; i++) {
        const arenaut_pool *pool = &p->problem->pool[i];
        arn_puts(p->out, i ? ",\n{" : "{");
        put_text(p, "name", pool->name);
        put_bytes(p, "arena", p->plan->arena[i]);
        if (pool->capacity != ARENAUT_UNLIMITED) put_bytes(p, "capacity", pool->capacity);
        arn_putf(p->out, "\"bound\":\"%" PRIu64 "\"}", p->plan->lower_bound[i]);
    }
    arn_puts(p->out, "],\n");
}

static void put_methods(page *p) {
    const uint32_t n = p->program ? p->program->n_methods : p->problem->n_methods;
    arn_puts(p->out, "\"methods\":[");
    for (uint32_t i = 0; i < n; i++) {
        const char *name = p->program ? p->program->methods[i].name : p->problem->method_name[i];
        arn_puts(p->out, i ? ",{" : "{");
        put_text(p, "name", name);
        arn_putf(p->out, "\"firstOp\":%" PRIu32 "}",
                 p->program ? p->program->methods[i].first_op : 0);
    }
    arn_puts(p->out, "],\n");
}

static void put_class_names(page *p) {
    arn_puts(p->out, "\"classes\":[");
    for (uint32_t i = 0; i < ARENAUT_CLASS_COUNT; i++) {
        arn_putf(p->out, "%s\"%s\"", i ? "," : "", arenaut_class_name((arenaut_class)i));
    }
    arn_puts(p->out, "],\n\"opKinds\":[");
    for (uint32_t i = 0; i < ARENAUT_OP_KIND_COUNT; i++) {
        arn_putf(p->out, "%s\"%s\"", i ? "," : "", arn_op_kind_name((arenaut_op_kind)i));
    }
    arn_puts(p->out, "],\n");
}

static void put_baseline(page *p) {
    const arenaut_plan *baseline = p->result->baseline;
    if (!baseline) return;
    arn_puts(p->out, "\"today\":{");
    put_text(p, "planner", baseline->planner);
    arn_putf(p->out, "\"arena\":\"%" PRIu64 "\"},\n", baseline->total);
}

/* All that has to be reserved, where the runtime keeps more than the tensors in its arena. */
static arenaut_status put_reserve(page *p, const arenaut_allocator *allocator, arenaut_error *err) {
    const arenaut_result *r = p->result;
    arenaut_tensor_arena arena;
    if (!r->program || !r->file || !r->target || !r->target->layout) return ARENAUT_OK;
    const arenaut_status st =
        arenaut_tensor_arena_find(r, p->plan->total, r->target, allocator, &arena, err);
    if (st != ARENAUT_OK) return st;
    put_bytes(p, "head", arena.head);
    put_bytes(p, "tail", arena.tail);
    put_bytes(p, "reserve", arena.total);
    arn_putf(p->out, "\"exact\":%s,\n", arena.exact ? "true" : "false");
    return ARENAUT_OK;
}

static void put_figures(page *p, uint64_t bound) {
    static const char *const scratch[] = {"none", "given", "unknown"};
    const arenaut_result *r = p->result;
    put_text(p, "file", arn_page_file_name(r));
    put_text(p, "format", r->format);
    put_text(p, "target", r->target ? r->target->name : NULL);
    put_text(p, "kernels", arenaut_result_kernels_name(r));
    put_text(p, "planner", p->plan->planner);
    put_text(p, "quality", arenaut_quality_name(p->plan->quality));
    put_text(p, "scratch", scratch[r->scratch]);
    if (arenaut_result_rounded(r) > 0)
        arn_putf(p->out, "\"rounded\":%" PRIu32 ",\n", arenaut_result_rounded(r));
    put_bytes(p, "arena", p->plan->total);
    put_bytes(p, "bound", p->plan->total_bound);
    put_bytes(p, "needed", bound);
    put_bytes(p, "behind", r->behind);
    if (says_reserved(p)) put_bytes(p, "reserved", r->trace->most_reserved.bytes);
    arn_putf(p->out, "\"origin\":\"%" PRId64 "\",\n", p->origin);
    put_baseline(p);
    put_class_names(p);
    put_methods(p);
    put_pools(p);
}

/* The peak, and the bound without each of the largest buffers there. */
static arenaut_status put_peak(page *p, const arenaut_allocator *allocator, arenaut_error *err) {
    arn_bound_without without[WITHOUT];
    arenaut_peak peak;
    arenaut_status st = arenaut_peak_find(p->problem, allocator, &peak, err);
    if (st != ARENAUT_OK) return st;
    const uint32_t n = peak.n_live < WITHOUT ? peak.n_live : WITHOUT;
    st = arn_report_bounds_without(p->problem, peak.live, n, allocator, without, err);
    if (st == ARENAUT_OK) {
        arn_putf(p->out,
                 "\"peak\":{\"step\":\"%" PRId64 "\",\"live\":\"%" PRIu64 "\",\"shared\":\"%" PRIu64
                 "\",\"without\":[",
                 peak.step, peak.live_bytes, peak.shared_bytes);
        for (uint32_t i = 0; i < n; i++) {
            arn_putf(p->out,
                     "%s{\"buffer\":%" PRIu32 ",\"bound\":\"%" PRIu64 "\",\"step\":\"%" PRId64
                     "\"}",
                     i ? "," : "", peak.live[i], without[i].bytes, without[i].step);
        }
        arn_puts(p->out, "]},\n");
    }
    arenaut_peak_free(&peak, allocator);
    return st;
}

static int64_t first_step(const arenaut_problem *p) {
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; i < p->n_lifetimes; i++) {
        if (p->lifetime[i].first < first) first = p->lifetime[i].first;
    }
    return p->n_lifetimes ? first : 0;
}

const char *arn_page_file_name(const arenaut_result *result) { return arn_file_name(result->path); }

arenaut_status arn_page_put_plan(arn_writer *out, const arenaut_result *result, bool with_problem,
                                 const arenaut_allocator *allocator, arenaut_error *err) {
    page p = {.out = out,
              .result = result,
              .problem = result->problem,
              .plan = result->plan,
              .program = result->lowering ? result->program : NULL,
              .lowering = result->lowering,
              .origin = first_step(result->problem)};
    uint64_t bound;
    arenaut_status st = arenaut_lower_bound(result->problem, allocator, &bound, NULL, err);
    if (st != ARENAUT_OK) return st;
    arn_region_init(&p.region, allocator);
    if (find_words(&p) && find_arguments(&p)) {
        arn_puts(out, "{");
        put_figures(&p, bound);
        st = put_reserve(&p, allocator, err);
        if (st == ARENAUT_OK) st = put_peak(&p, allocator, err);
        put_all_columns(&p);
        if (with_problem) {
            arn_puts(out, ",\n\"problem\":");
            page_put_problem(out, result->problem);
        }
        arn_puts(out, "}");
    } else {
        st = arn_no_memory(err);
    }
    arn_region_free(&p.region);
    return st;
}
