/* plan-json: a plan, with its problem and facts about both (arenaut.plan/1), as printed by --json.
 * Read back it gives problem, plan, the plan's kernels, and a certificate of rematerialization;
 * other members are only checked for being known. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/version.h>

#include "core/checked.h"
#include "core/memory.h"
#include "formats/problem_json.h"
#include "formats/remat_json.h"
#include "ir/certificate.h"
#include "ir/result.h"
#include "ir/store.h"

static bool plan_json_recognise(const uint8_t *data, size_t size) {
    return arn_json_has_schema(data, size, "arenaut.plan");
}

/* ---- reading ---- */

/* The old key of "baseline_plan" is accepted as well. */
#define ROOT_KEYS(XX)                                    \
    XX(R_SCHEMA, "schema")                               \
    XX(R_VERSION, "version")                             \
    XX(R_INPUT, "input")                                 \
    XX(R_RESULT, "result")                               \
    XX(R_BASELINE, "baseline")                           \
    XX(R_POOLS, "pools")                                 \
    XX(R_BUFFERS, "buffers")                             \
    XX(R_EDGES, "edges")                                 \
    XX(R_RESERVED, "reserved")                           \
    XX(R_TRAITS, "traits")                               \
    XX(R_SCRATCH, "scratch")                             \
    XX(R_WITNESS, "witness")                             \
    XX(R_PEAK, "peak")                                   \
    XX(R_MEMORIES, "memories")                           \
    XX(R_UNSIZED, "unsized")                             \
    XX(R_RUNTIME, "runtime")                             \
    XX(R_TENSOR_ARENA, "tensor_arena")                   \
    XX(R_BASELINE_PLAN, "baseline_plan")                 \
    XX(R_TODAY, "today")                                 \
    XX(R_BUDGET, "budget")                               \
    XX(R_REMEDIES, "remedies")                           \
    XX(R_REMEDIES_STOPPED_BY, "remedies_stopped_by")     \
    XX(R_REMEDIES_NOT_TRIED, "remedies_not_tried")       \
    XX(R_REMEDIES_WITHOUT_PLAN, "remedies_without_plan") \
    XX(R_FIT, "fit")                                     \
    XX(R_TAIL, "tail")                                   \
    XX(R_TWO_MEMORIES, "two_memories")                   \
    XX(R_TOKENS, "tokens")                               \
    XX(R_ORDER, "order")                                 \
    XX(R_RECOMPUTE, "recompute")                         \
    XX(R_SCHEDULE, "schedule")                           \
    XX(R_TILES, "tiles")                                 \
    XX(R_COPIES, "copies")                               \
    XX(R_JOINS, "joins")                                 \
    XX(R_CERTIFICATE, "rematerialization")               \
    XX(R_CURVE, "curve")                                 \
    XX(R_SPLIT, "split")                                 \
    XX(R_TRACE, "trace")                                 \
    XX(R_SEPARATIONS, "separations")
enum { ROOT_KEYS(ARN_KEY_ENUM) R_KEYS };
static const char *const root_keys[] = {ROOT_KEYS(ARN_KEY_TEXT)};

#define INPUT_KEYS(XX)     \
    XX(I_PATH, "path")     \
    XX(I_FORMAT, "format") \
    XX(I_SHA256, "sha256") \
    XX(I_METHODS, "methods")
enum { INPUT_KEYS(ARN_KEY_ENUM) I_KEYS };
static const char *const input_keys[] = {INPUT_KEYS(ARN_KEY_TEXT)};

#define RESULT_KEYS(XX)              \
    XX(S_STATUS, "status")           \
    XX(S_ARENA, "arena")             \
    XX(S_LOWER_BOUND, "lower_bound") \
    XX(S_PLANNER, "planner")         \
    XX(S_STOPPED_BY, "stopped_by")   \
    XX(S_EFFORT, "effort")           \
    XX(S_SECONDS, "seconds")         \
    XX(S_SPILL, "spill")             \
    XX(S_SPILL_BOUND, "spill_bound") \
    XX(S_KERNELS, "kernels")         \
    XX(S_UNMEASURED, "unmeasured")   \
    XX(S_ROUNDED, "rounded_ops")
enum { RESULT_KEYS(ARN_KEY_ENUM) S_KEYS };
static const char *const result_keys[] = {RESULT_KEYS(ARN_KEY_TEXT)};

static const char *quality_word(uint32_t k) { return arenaut_quality_name((arenaut_quality)k); }
static const char *stop_word(uint32_t k) { return arenaut_stop_name((arenaut_stop)k); }

/* A copy that lives as long as the plan; NULL: not stated, or the reader has failed. */
static const char *keep_text(arn_json_reader *r, uint32_t value, arenaut_plan *plan) {
    const char *text = arn_json_string(r, value);
    if (!arn_json_fine(r) || !text) return NULL;
    const char *kept = arn_plan_copy_text(plan, text, strlen(text));
    if (!kept) r->status = arn_no_memory(r->err);
    return kept;
}

static void read_result(arn_json_reader *r, uint32_t object, arenaut_document *out) {
    arenaut_plan *plan = out->plan;
    uint32_t v[S_KEYS];
    arn_json_members(r, object, result_keys, S_KEYS, v);
    arn_json_hold(r, object);
    arn_json_require(r, object, v[S_STATUS], "status");
    plan->quality =
        (arenaut_quality)arn_json_word(r, v[S_STATUS], quality_word, 3, ARENAUT_FEASIBLE);
    out->measured = out->measured && v[S_ARENA] == ARN_JSON_NONE && v[S_SPILL] == ARN_JSON_NONE;
    plan->total = arn_json_size(r, v[S_ARENA], plan->total);
    plan->total_bound = arn_json_size(r, v[S_LOWER_BOUND], 0);
    plan->spill = arn_json_size(r, v[S_SPILL], plan->spill);
    plan->spill_bound = arn_json_size(r, v[S_SPILL_BOUND], 0);
    plan->stopped_by =
        (arenaut_stop)arn_json_word(r, v[S_STOPPED_BY], stop_word, 5, ARENAUT_STOP_END);
    plan->effort = arn_json_size(r, v[S_EFFORT], 0);
    out->kernels.unmeasured = arn_json_flag(r, v[S_UNMEASURED], false);
    out->n_rounded = arn_json_below(r, v[S_ROUNDED], ARENAUT_NONE, 0);
    out->kernels.name = keep_text(r, v[S_KERNELS], plan);
    const char *planner = keep_text(r, v[S_PLANNER], plan);
    if (planner) plan->planner = planner;
}

#define WITNESS_KEYS(XX)     \
    XX(W_STEP, "step")       \
    XX(W_POOL, "pool")       \
    XX(W_BUFFERS, "buffers") \
    XX(W_BYTES_OVER, "bytes_over")
enum { WITNESS_KEYS(ARN_KEY_ENUM) W_KEYS };
static const char *const witness_keys[] = {WITNESS_KEYS(ARN_KEY_TEXT)};

static void read_witness(arn_json_reader *r, uint32_t object, arenaut_plan *plan) {
    uint32_t v[W_KEYS];
    arn_json_members(r, object, witness_keys, W_KEYS, v);
    arn_json_require(r, object, v[W_BUFFERS], "buffers");
    const arn_json_list buffers = arn_json_list_of(r, v[W_BUFFERS], "buffer");
    arenaut_witness *witness = &plan->witness;
    witness->step = arn_json_step(r, v[W_STEP], 0);
    witness->pool = arn_json_below(r, v[W_POOL], plan->n_pools, ARENAUT_NONE);
    witness->bytes_over = arn_json_size(r, v[W_BYTES_OVER], 0);
    if (!arn_json_fine(r)) return;
    witness->buffers = arn_allocate(r->allocator, buffers.n, sizeof *witness->buffers);
    if (!witness->buffers) {
        r->status = arn_no_memory(r->err);
        return;
    }
    ARN_JSON_EACH(r, b, buffers.array) {
        witness->buffers[witness->n_buffers++] = arn_json_below(r, b, plan->n_buffers, 0);
    }
}

#define MEMORY_KEYS(XX)    \
    XX(M_METHOD, "method") \
    XX(M_ID, "id")         \
    XX(M_DEVICE, "device") \
    XX(M_NOW, "now")       \
    XX(M_PLANNED, "planned")
enum { MEMORY_KEYS(ARN_KEY_ENUM) M_KEYS };
static const char *const memory_keys[] = {MEMORY_KEYS(ARN_KEY_TEXT)};

static void read_memories(arn_json_reader *r, uint32_t array, uint32_t methods,
                          arenaut_document *out) {
    arn_json_list names = arn_json_list_of(r, methods, "method");
    const arn_json_list list = arn_json_list_of(r, array, "memory");
    if (!arn_json_fine(r)) return;
    arenaut_memory *rows = arn_plan_allocate(out->plan, list.n, sizeof *rows);
    if (!rows) {
        r->status = arn_no_memory(r->err);
        return;
    }
    out->memories = rows;
    ARN_JSON_EACH(r, memory, list.array) {
        uint32_t v[M_KEYS];
        arn_json_members(r, memory, memory_keys, M_KEYS, v);
        arn_json_hold(r, memory);
        arn_json_require(r, memory, v[M_NOW], "now");
        arn_json_require(r, memory, v[M_PLANNED], "planned");
        rows[out->n_memories++] = (arenaut_memory){
            .method = arn_json_reference(r, &names, v[M_METHOD], ARENAUT_NONE),
            .id = arn_json_below(r, v[M_ID], ARENAUT_NONE, 0),
            .device = arn_json_device(r, v[M_DEVICE]),
            .now = arn_json_size(r, v[M_NOW], 0),
            .planned = arn_json_size(r, v[M_PLANNED], 0),
        };
    }
}

/* What the memories come to, with the plan inside. */
static uint64_t sum_memories(const arenaut_document *document) {
    uint64_t sum = 0;
    for (size_t i = 0; i < document->n_memories; i++) {
        if (!arn_add(sum, document->memories[i].planned, &sum)) return UINT64_MAX;
    }
    return sum;
}

/* What a plan states of its arenas, in front of a measurement. */
typedef struct stated {
    uint64_t arena[ARENAUT_MAX_POOLS], total, spill;
} stated;

static stated keep_stated(const arenaut_plan *plan) {
    stated s = {.total = plan->total, .spill = plan->spill};
    memcpy(s.arena, plan->arena, plan->n_pools * sizeof *s.arena);
    return s;
}

static void put_back(const stated *s, arenaut_plan *plan) {
    plan->total = s->total;
    plan->spill = s->spill;
    memcpy(plan->arena, s->arena, plan->n_pools * sizeof *s->arena);
}

static bool is_some_memory(const arenaut_document *document, uint64_t bytes) {
    for (size_t i = 0; i < document->n_memories; i++) {
        if (document->memories[i].planned == bytes) return true;
    }
    return false;
}

/* Whether the stated arenas may be memories that hold the measured plan, and no stated bound is
 * above them. Tokens, of which each is aligned by itself, may be smaller. */
static bool may_be_memories(const stated *s, const arenaut_document *document, bool tokens) {
    const arenaut_plan *plan = document->plan;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < plan->n_pools; k++) {
        if (s->arena[k] != plan->arena[k] && !is_some_memory(document, s->arena[k])) return false;
        if (!tokens && s->arena[k] < plan->arena[k]) return false;
        if (plan->lower_bound[k] > s->arena[k]) return false;
        if (!arn_add(sum, s->arena[k], &sum)) return false;
    }
    return s->total == sum && plan->total_bound <= sum && (tokens || s->spill >= plan->spill);
}

/* Arenas of a model whose file states its memories are those memories, which may be larger
 * than the plan itself: that one is measured by its buffers. So may it be larger than memories that
 * come in tokens, each of which is aligned by itself: it is no optimum of its own then. Arenas that
 * are no memories' are left as stated, for the checker. */
static void measure(arn_json_reader *r, uint32_t memories, arenaut_document *out) {
    arenaut_plan *plan = out->plan;
    const bool tokens = out->problem->traits & ARENAUT_PROBLEM_TOKENS;
    const uint64_t bytes = sum_memories(out);
    if (!arn_json_fine(r) || plan->quality == ARENAUT_INFEASIBLE || out->measured) return;
    if (plan->total > bytes) {
        arn_json_fail(r, memories, ARENAUT_BAD_INPUT,
                      "memories of %" PRIu64 " bytes in all, for arenas of %" PRIu64, bytes,
                      plan->total);
        return;
    }
    const stated s = keep_stated(plan);
    r->status = arenaut_plan_measure(plan, out->problem, r->err);
    if (!arn_json_fine(r)) return;
    if (!may_be_memories(&s, out, tokens)) {
        put_back(&s, plan);
        return;
    }
    for (uint32_t k = 0; k < plan->n_pools; k++) {
        plan->lower_bound[k] = arn_min_u64(plan->lower_bound[k], plan->arena[k]);
    }
    plan->total_bound = arn_min_u64(plan->total_bound, plan->total);
    if (tokens && plan->total_bound < plan->total && plan->quality == ARENAUT_OPTIMAL) {
        arn_plan_call_feasible(plan);
    }
}

/* Numbers of ops or tensors, which live as long as the plan. */
static const uint32_t *read_ids(arn_json_reader *r, uint32_t array, const char *what, uint32_t *n,
                                arenaut_plan *plan) {
    const arn_json_list list = arn_json_list_of(r, array, what);
    if (array == ARN_JSON_NONE || !arn_json_fine(r)) return NULL;
    uint32_t *ids = arn_plan_allocate(plan, list.n, sizeof *ids);
    if (!ids) {
        r->status = arn_no_memory(r->err);
        return NULL;
    }
    ARN_JSON_EACH(r, id, array) ids[(*n)++] = arn_json_below(r, id, ARENAUT_NONE, 0);
    return ids;
}

#define TILE_KEYS(XX)       \
    XX(T_FIRST, "first_op") \
    XX(T_LAST, "last_op")   \
    XX(T_PIECES, "pieces")  \
    XX(T_MODE, "mode")
enum { TILE_KEYS(ARN_KEY_ENUM) T_KEYS };
static const char *const tile_keys[] = {TILE_KEYS(ARN_KEY_TEXT)};

static const char *mode_word(uint32_t k) { return arenaut_split_mode_name((arenaut_split_mode)k); }

static arenaut_split_stage read_tile_group(arn_json_reader *r, uint32_t object) {
    uint32_t v[T_KEYS];
    arn_json_members(r, object, tile_keys, T_KEYS, v);
    arn_json_hold(r, object);
    for (uint32_t k = 0; k < T_KEYS; k++) arn_json_require(r, object, v[k], tile_keys[k]);
    const uint32_t first = arn_json_below(r, v[T_FIRST], ARENAUT_NONE, 0);
    const uint32_t last = arn_json_below(r, v[T_LAST], ARENAUT_NONE, 0);
    if (arn_json_fine(r) && last < first) {
        arn_json_fail(r, v[T_LAST], ARENAUT_BAD_INPUT, "below 'first_op'");
    }
    return (arenaut_split_stage){
        .first_op = first,
        .n_ops = last - first + 1,
        .pieces = arn_json_below(r, v[T_PIECES], ARENAUT_NONE, 0),
        .mode =
            (arenaut_split_mode)arn_json_word(r, v[T_MODE], mode_word, ARENAUT_SPLIT_MODE_COUNT, 0),
    };
}

static void read_tiles(arn_json_reader *r, uint32_t array, arenaut_document *out) {
    const arn_json_list list = arn_json_list_of(r, array, "tile group");
    if (array == ARN_JSON_NONE || !arn_json_fine(r) || list.n == 0) return;
    arenaut_split_stage *tiles = arn_plan_allocate(out->plan, list.n, sizeof *tiles);
    if (!tiles) {
        r->status = arn_no_memory(r->err);
        return;
    }
    out->ops.tiles = tiles;
    ARN_JSON_EACH(r, group, array) tiles[out->ops.n_tiles++] = read_tile_group(r, group);
}

/* No tiles and no copies are the same as none stated. */
static void read_given_ops(arn_json_reader *r, const uint32_t *v, arenaut_document *out) {
    arenaut_given_ops *ops = &out->ops;
    ops->schedule = read_ids(r, v[R_SCHEDULE], "op", &ops->n_schedule, out->plan);
    ops->copied = read_ids(r, v[R_COPIES], "op", &ops->n_copied, out->plan);
    ops->joined = read_ids(r, v[R_JOINS], "tensor", &ops->n_joined, out->plan);
    if (ops->n_copied == 0) ops->copied = NULL;
    read_tiles(r, v[R_TILES], out);
}

static void read_parts(arn_json_reader *r, arenaut_document *out) {
    uint32_t v[R_KEYS],
        input[I_KEYS] = {ARN_JSON_NONE, ARN_JSON_NONE, ARN_JSON_NONE, ARN_JSON_NONE};
    arn_json_members(r, 0, root_keys, R_KEYS, v);
    arn_json_require(r, 0, v[R_BUFFERS], "buffers");
    arn_json_require(r, 0, v[R_RESULT], "result");
    if (!arn_json_fine(r)) return;
    if (v[R_INPUT] != ARN_JSON_NONE) arn_json_members(r, v[R_INPUT], input_keys, I_KEYS, input);
    const arn_problem_parts parts = {input[I_METHODS], v[R_POOLS],  v[R_BUFFERS],    v[R_EDGES],
                                     v[R_RESERVED],    v[R_TRAITS], v[R_SEPARATIONS]};
    if (!arn_json_fine(r)) return;
    arn_problem_json_read_parts(r, &parts, &out->problem, &out->plan, &out->measured);
    if (!arn_json_fine(r)) return;
    read_result(r, v[R_RESULT], out);
    if (v[R_MEMORIES] != ARN_JSON_NONE && arn_json_fine(r)) {
        read_memories(r, v[R_MEMORIES], input[I_METHODS], out);
        measure(r, v[R_MEMORIES], out);
    }
    if (v[R_WITNESS] != ARN_JSON_NONE && arn_json_fine(r)) {
        read_witness(r, v[R_WITNESS], out->plan);
    }
    read_given_ops(r, v, out);
    if (v[R_CERTIFICATE] != ARN_JSON_NONE && arn_json_fine(r)) {
        out->rematerialization = arn_remat_json_read(r, v[R_CERTIFICATE]);
    }
    if (out->ops.schedule && out->rematerialization && arn_json_fine(r)) {
        arn_json_fail(r, v[R_SCHEDULE], ARENAUT_BAD_INPUT,
                      "stated beside 'rematerialization', which states the runs");
    }
}

static arenaut_status plan_json_read(const uint8_t *data, size_t size,
                                     const arenaut_read_options *options,
                                     const arenaut_allocator *allocator, arenaut_document *out,
                                     arenaut_error *err) {
    (void)options;
    arn_json_reader r;
    arenaut_document document = *out;
    arn_json_reader_begin(&r, data, size, "arenaut.plan", allocator, err);
    if (arn_json_fine(&r)) read_parts(&r, &document);
    arn_json_reader_free(&r);
    if (r.status == ARENAUT_OK) {
        *out = document;
    } else {
        arenaut_plan_free(document.plan);
        arenaut_problem_free(document.problem);
        arn_remat_certificate_free(document.rematerialization);
    }
    return r.status;
}

/* ---- writing ---- */

static void put_input(arn_problem_json_printer *out, const arenaut_result *result) {
    arn_writer *w = &out->writer;
    bool begun = false;
    arn_puts(w, ",\n  \"input\": {");
    arn_json_put_text_member(w, &begun, "path", result->path);
    arn_json_put_text_member(w, &begun, "format", result->format);
    arn_json_put_text_member(w, &begun, "sha256", result->sha256);
    arn_json_put_key(w, &begun, "methods");
    arn_problem_json_put_methods(out);
    arn_puts(w, "}");
}

/* In whole microseconds, because the C library would print the locale's decimal point. */
static void put_seconds(arn_writer *writer, bool *begun, double seconds) {
    const double most = 1e9;
    if (!(seconds >= 0)) return;
    const uint64_t micros = (uint64_t)((seconds < most ? seconds : most) * 1e6 + 0.5);
    arn_json_put_key(writer, begun, "seconds");
    arn_putf(writer, "%" PRIu64 ".%06" PRIu64, micros / 1000000, micros % 1000000);
}

/* A plan is right for the kernels that it was made for. */
static void put_kernels(arn_writer *w, bool *begun, arenaut_given_kernels kernels) {
    if (!kernels.name) return;
    arn_json_put_text_member(w, begun, "kernels", kernels.name);
    if (!kernels.unmeasured) return;
    arn_json_put_key(w, begun, "unmeasured");
    arn_puts(w, "true");
}

static void put_result(arn_problem_json_printer *out, const arenaut_result *result) {
    const arenaut_plan *plan = out->plan;
    arn_writer *w = &out->writer;
    bool begun = false;
    arn_puts(w, ",\n  \"result\": {");
    arn_json_put_text_member(w, &begun, "status", arenaut_quality_name(plan->quality));
    arn_json_put_size_member(w, &begun, "arena", plan->total);
    arn_json_put_size_member(w, &begun, "lower_bound", plan->total_bound);
    if (arenaut_problem_chooses_pools(out->problem)) {
        arn_json_put_size_member(w, &begun, "spill", plan->spill);
        arn_json_put_size_member(w, &begun, "spill_bound", plan->spill_bound);
    }
    arn_json_put_text_member(w, &begun, "planner", plan->planner);
    arn_json_put_text_member(w, &begun, "stopped_by", arenaut_stop_name(plan->stopped_by));
    arn_json_put_size_member(w, &begun, "effort", plan->effort);
    put_seconds(w, &begun, result->seconds);
    put_kernels(w, &begun, arn_result_made_for(result));
    if (arenaut_result_rounded(result) > 0)
        arn_json_put_size_member(w, &begun, "rounded_ops", arenaut_result_rounded(result));
    arn_puts(w, "}");
    if (!result->baseline) return;
    begun = false;
    arn_puts(w, ",\n  \"baseline\": {");
    arn_json_put_text_member(w, &begun, "planner", result->baseline->planner);
    arn_json_put_size_member(w, &begun, "arena", result->baseline->total);
    arn_puts(w, "}");
}

/* The file's memories of its methods, counted from 0 like pools. */
static void put_memories(arn_problem_json_printer *out, const arenaut_result *result) {
    arn_writer *w = &out->writer;
    if (!result->memories) return;
    arn_puts(w, ",\n  \"memories\": [");
    for (size_t i = 0; i < result->n_memories; i++) {
        const arenaut_memory *memory = &result->memories[i];
        bool begun = true;
        arn_puts(w, i ? ",\n    {\"method\": " : "\n    {\"method\": ");
        arn_problem_json_put_method_ref(out, memory->method);
        arn_json_put_size_member(w, &begun, "id", memory->id);
        arn_json_put_key(w, &begun, "device");
        arn_json_put_device(w, memory->device);
        arn_json_put_size_member(w, &begun, "now", memory->now);
        arn_json_put_size_member(w, &begun, "planned", memory->planned);
        arn_puts(w, "}");
    }
    arn_puts(w, "]");
}

static void put_ids(arn_writer *writer, const uint32_t *ids, uint32_t n) {
    arn_puts(writer, "[");
    for (uint32_t i = 0; i < n; i++) arn_putf(writer, "%s%" PRIu32, i ? ", " : "", ids[i]);
    arn_puts(writer, "]");
}

static void put_scratch_and_witness(arn_problem_json_printer *out, const arenaut_result *result) {
    static const char *const knowledge[] = {"none", "given", "unknown"};
    const arenaut_witness *witness = &out->plan->witness;
    arn_writer *w = &out->writer;
    bool begun = true;
    arn_putf(w, ",\n  \"scratch\": \"%s\"", knowledge[result->scratch]);
    if (!witness->buffers) return;
    arn_puts(w, ",\n  \"witness\": {\"step\": ");
    arn_json_put_i64(w, witness->step);
    if (witness->pool != ARENAUT_NONE) arn_json_put_size_member(w, &begun, "pool", witness->pool);
    arn_json_put_key(w, &begun, "buffers");
    put_ids(w, witness->buffers, witness->n_buffers);
    arn_json_put_size_member(w, &begun, "bytes_over", witness->bytes_over);
    arn_puts(w, "}");
}

/* Tensors whose size is unknown, which the plan therefore leaves out. */
static void put_unsized(arn_problem_json_printer *out, const arenaut_program *program) {
    arn_writer *w = &out->writer;
    bool begun = false;
    for (uint32_t t = 0; program && t < program->n_tensors; t++) {
        char store[24];
        if (!program->tensors[t].unsized) continue;
        arn_puts(w, begun ? ", " : ",\n  \"unsized\": [");
        arn_put_json_string(w, arenaut_program_tensor_name(program, t, store));
        begun = true;
    }
    if (begun) arn_puts(w, "]");
}

/* The event at a step: unknown without a program. */
static void put_moment(arn_problem_json_printer *out, const arenaut_result *result, int64_t step) {
    const arenaut_lowering *lowering = result->lowering;
    const bool known = lowering && step >= 0 && step < (int64_t)lowering->n_steps;
    const uint32_t op = known ? lowering->steps[step].op : ARENAUT_NONE;
    arn_puts(&out->writer, ",\n  \"peak\": {\"method\": ");
    arn_problem_json_put_method_ref(out, known ? lowering->steps[step].method : ARENAUT_NONE);
    arn_puts(&out->writer, ", \"step\": ");
    arn_json_put_i64(&out->writer, step);
    arn_puts(&out->writer, ", \"op\": ");
    arn_json_put_text_or_null(&out->writer,
                              op == ARENAUT_NONE ? NULL : result->program->ops[op].name);
}

static void put_peak(arn_problem_json_printer *out, const arenaut_result *result,
                     const arenaut_peak *peak) {
    bool begun = true;
    put_moment(out, result, peak->step);
    arn_json_put_size_member(&out->writer, &begun, "live_bytes", peak->live_bytes);
    if (peak->shared_bytes) {
        arn_json_put_size_member(&out->writer, &begun, "shared_bytes", peak->shared_bytes);
    }
    arn_json_put_key(&out->writer, &begun, "live");
    put_ids(&out->writer, peak->live, peak->n_live);
    arn_puts(&out->writer, "}");
}

static void put_tiles(arn_writer *w, const arenaut_given_ops *ops) {
    if (!ops->tiles) return;
    arn_puts(w, ",\n  \"tiles\": [");
    for (uint32_t i = 0; i < ops->n_tiles; i++) {
        const arenaut_split_stage *group = &ops->tiles[i];
        arn_putf(w,
                 "%s{\"first_op\": %" PRIu32 ", \"last_op\": %" PRIu32 ", \"pieces\": %" PRIu32
                 ", \"mode\": \"%s\"}",
                 i ? ", " : "", group->first_op, group->first_op + group->n_ops - 1, group->pieces,
                 arenaut_split_mode_name(group->mode));
    }
    arn_puts(w, "]");
}

/* Steps and lifetimes are those of these ops. */
static void put_ops(arn_writer *w, const arenaut_result *result) {
    const arenaut_given_ops ops = arenaut_result_ops(result);
    put_tiles(w, &ops);
    if (ops.copied) {
        arn_puts(w, ",\n  \"copies\": ");
        put_ids(w, ops.copied, ops.n_copied);
    }
    if (ops.joined) {
        arn_puts(w, ",\n  \"joins\": ");
        put_ids(w, ops.joined, ops.n_joined);
    }
    if (!ops.schedule || result->rematerialization) return; /* which states it, too */
    arn_puts(w, ",\n  \"schedule\": ");
    put_ids(w, ops.schedule, ops.n_schedule);
}

static void put_plan(arn_problem_json_printer *out, const arenaut_result *result,
                     const arenaut_peak *peak) {
    bool begun = true;
    arn_puts(&out->writer, "{\n  \"schema\": \"arenaut.plan/1\"");
    arn_json_put_text_member(&out->writer, &begun, "version", arenaut_version());
    put_input(out, result);
    put_result(out, result);
    put_memories(out, result);
    arn_problem_json_put_traits(out);
    arn_problem_json_put_pools(out);
    arn_problem_json_put_buffers(out);
    arn_problem_json_put_edges(out);
    arn_problem_json_put_separations(out);
    arn_problem_json_put_reserved(out);
    put_scratch_and_witness(out, result);
    put_unsized(out, result->program);
    put_peak(out, result, peak);
    put_ops(&out->writer, result);
    if (result->rematerialization) arn_remat_json_put(&out->writer, result->rematerialization);
    arn_puts(&out->writer, "\n}\n");
}

/* All possible failures come before the first byte is put. */
static arenaut_status plan_json_write(const arenaut_result *result, arenaut_sink sink,
                                      const arenaut_allocator *allocator, arenaut_error *err) {
    if (!result->plan) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "plan JSON needs a plan; write problem JSON instead");
    }
    arn_problem_json_printer out;
    arenaut_peak peak;
    arenaut_status st =
        arn_problem_json_begin(&out, sink, result->problem, result->plan, allocator, err);
    if (st == ARENAUT_OK) st = arenaut_peak_find(result->problem, allocator, &peak, err);
    if (st != ARENAUT_OK) return st;
    put_plan(&out, result, &peak);
    arenaut_peak_free(&peak, allocator);
    return arn_writer_finish(&out.writer, err);
}

extern const arenaut_format arn_format_plan_json;
const arenaut_format arn_format_plan_json = {
    .name = "plan-json",
    .summary = "plans, with the problem they solve: the output of --json",
    .extensions = ".plan.json .json",
    .recognise = plan_json_recognise,
    .read = plan_json_read,
    .write = plan_json_write,
};
