/* Certificates of rematerialization as JSON: budget, times, device, the schedule in ops of the
 * file, and for each bound its op, multipliers and the nonzero entries of its flow. O(size). */
#include "formats/remat_json.h"

#include <inttypes.h>

#include "core/memory.h"
#include "ir/certificate.h"

/* ---- reading ---- */

#define KEYS(XX)                     \
    XX(K_BUDGET, "budget")           \
    XX(K_BASE, "nanoseconds")        \
    XX(K_ADDED, "added_nanoseconds") \
    XX(K_REPEATS, "repeats")         \
    XX(K_TIMES, "times")             \
    XX(K_DEVICE, "device")           \
    XX(K_RUNS, "runs")               \
    XX(K_BOUND, "bound")             \
    XX(K_FLOOR, "floor")
enum { KEYS(ARN_KEY_ENUM) N_KEYS };
static const char *const keys[] = {KEYS(ARN_KEY_TEXT)};

#define DEVICE_KEYS(XX)            \
    XX(D_NAME, "name")             \
    XX(D_OPERATIONS, "operations") \
    XX(D_BYTES, "bytes")           \
    XX(D_LAUNCH, "launch")
enum { DEVICE_KEYS(ARN_KEY_ENUM) N_DEVICE_KEYS };
static const char *const device_keys[] = {DEVICE_KEYS(ARN_KEY_TEXT)};

#define BOUND_KEYS(XX)             \
    XX(B_VALUE, "value")           \
    XX(B_OP, "op")                 \
    XX(B_LATER, "later")           \
    XX(B_BYTE_PRICE, "byte_price") \
    XX(B_TIME_PRICE, "time_price") \
    XX(B_FLOW, "flow")             \
    XX(B_CASES, "cases")
enum { BOUND_KEYS(ARN_KEY_ENUM) N_BOUND_KEYS };
static const char *const bound_keys[] = {BOUND_KEYS(ARN_KEY_TEXT)};

#define CASE_KEYS(XX)              \
    XX(C_STORAGE, "storage")       \
    XX(C_MOMENT, "moment")         \
    XX(C_BYTE_PRICE, "byte_price") \
    XX(C_TIME_PRICE, "time_price") \
    XX(C_UNIT, "unit")             \
    XX(C_FLOW, "flow")
enum { CASE_KEYS(ARN_KEY_ENUM) N_CASE_KEYS };
static const char *const case_keys[] = {CASE_KEYS(ARN_KEY_TEXT)};

static const char *const repeats[] = {"cheap", "any"}, *const times[] = {"modelled", "given"};
static const char *repeats_word(uint32_t k) { return repeats[k]; }
static const char *times_word(uint32_t k) { return times[k]; }

static uint32_t count(arn_json_reader *r, uint32_t array) {
    uint32_t n = 0;
    ARN_JSON_EACH(r, v, array) n++;
    return n;
}

/* The caller's. */
static void *room(arn_json_reader *r, uint32_t n, size_t size) {
    void *block = arn_json_fine(r) ? arn_allocate(r->allocator, n, size) : NULL;
    if (!block && arn_json_fine(r)) r->status = arn_no_memory(r->err);
    return block;
}

static void read_device(arn_json_reader *r, uint32_t object, arenaut_roofline *device) {
    uint32_t v[N_DEVICE_KEYS];
    arn_json_members(r, object, device_keys, N_DEVICE_KEYS, v);
    arn_json_hold(r, object);
    arn_json_require(r, object, v[D_OPERATIONS], "operations");
    arn_json_require(r, object, v[D_BYTES], "bytes");
    const arenaut_roofline *known = arenaut_roofline_find(arn_json_string(r, v[D_NAME]));
    device->name = known ? known->name : NULL;
    device->operations = arn_json_size(r, v[D_OPERATIONS], 1);
    device->bytes = arn_json_size(r, v[D_BYTES], 1);
    device->launch = arn_json_size(r, v[D_LAUNCH], 0);
    if (arn_json_fine(r) && (device->operations == 0 || device->bytes == 0)) {
        arn_json_fail(r, object, ARENAUT_BAD_INPUT, "a device does nothing in a second");
    }
}

static void read_flows(arn_json_reader *r, uint32_t array, arenaut_remat_bound *bound) {
    ARN_JSON_EACH(r, entry, array) {
        uint32_t of[3];
        arn_json_tuple(r, entry, 3, of);
        if (!arn_json_fine(r)) return;
        arenaut_remat_flow *flow = &bound->flows[bound->n_flows++];
        flow->op = arn_json_below(r, of[0], ARENAUT_NONE, 0);
        flow->storage = arn_json_below(r, of[1], ARENAUT_NONE, 0);
        flow->flow = arn_json_size(r, of[2], 0);
    }
}

/* `bound`: NULL: flows are only counted. */
static uint32_t read_cases(arn_json_reader *r, uint32_t array, arenaut_remat_bound *bound) {
    uint32_t n = 0;
    ARN_JSON_EACH(r, line, array) {
        uint32_t v[N_CASE_KEYS];
        arn_json_members(r, line, case_keys, N_CASE_KEYS, v);
        if (!arn_json_fine(r)) return n;
        if (v[C_STORAGE] != ARN_JSON_NONE &&
            (v[C_FLOW] != ARN_JSON_NONE || v[C_UNIT] != ARN_JSON_NONE ||
             v[C_BYTE_PRICE] != ARN_JSON_NONE || v[C_TIME_PRICE] != ARN_JSON_NONE)) {
            arn_json_fail(r, line, ARENAUT_BAD_INPUT,
                          "a line is of a storage or of a flow, not both");
            return n;
        }
        n += count(r, v[C_FLOW]);
        if (!bound) continue;
        const uint32_t before = bound->n_flows;
        arenaut_remat_case *to = &bound->cases[bound->n_cases++];
        *to = (arenaut_remat_case){
            .storage = arn_json_below(r, v[C_STORAGE], ARENAUT_NONE, ARENAUT_NONE),
            .moment = arn_json_below(r, v[C_MOMENT], 1 + ARENAUT_REMAT_MOST_LATER, 0),
            .byte_price = arn_json_size(r, v[C_BYTE_PRICE], 0),
            .time_price = arn_json_size(r, v[C_TIME_PRICE], 0),
            .unit = arn_json_size(r, v[C_UNIT], 1)};
        read_flows(r, v[C_FLOW], bound);
        to->n_flows = bound->n_flows - before;
    }
    return n;
}

static void read_later(arn_json_reader *r, uint32_t array, arenaut_remat_bound *bound) {
    ARN_JSON_EACH(r, op, array) {
        if (bound->n_later == ARENAUT_REMAT_MOST_LATER) {
            arn_json_fail(r, op, ARENAUT_BAD_INPUT, "more than %d later ops",
                          ARENAUT_REMAT_MOST_LATER);
            return;
        }
        bound->later[bound->n_later++] = arn_json_below(r, op, ARENAUT_NONE, 0);
    }
}

static void read_bound(arn_json_reader *r, uint32_t object, arenaut_remat_bound *bound) {
    uint32_t v[N_BOUND_KEYS];
    arn_json_members(r, object, bound_keys, N_BOUND_KEYS, v);
    arn_json_require(r, object, v[B_VALUE], "value");
    bound->value = arn_json_size(r, v[B_VALUE], 0);
    bound->op = arn_json_below(r, v[B_OP], ARENAUT_NONE, ARENAUT_NONE);
    read_later(r, v[B_LATER], bound);
    bound->byte_price = arn_json_size(r, v[B_BYTE_PRICE], 0);
    bound->time_price = arn_json_size(r, v[B_TIME_PRICE], 0);
    const uint32_t n_cases = count(r, v[B_CASES]);
    const uint32_t n = n_cases > 0 ? read_cases(r, v[B_CASES], NULL) : count(r, v[B_FLOW]);
    bound->flows = room(r, n, sizeof *bound->flows);
    bound->cases = room(r, n_cases, sizeof *bound->cases);
    if (!arn_json_fine(r)) return;
    if (n_cases > 0) read_cases(r, v[B_CASES], bound);
    else read_flows(r, v[B_FLOW], bound);
}

static void read_runs(arn_json_reader *r, uint32_t array, arenaut_remat_certificate *c) {
    c->runs = room(r, count(r, array), sizeof *c->runs);
    ARN_JSON_EACH(r, v, array) {
        c->runs[c->n_runs++] = arn_json_below(r, v, ARENAUT_NONE, 0);
    }
}

static void read_members(arn_json_reader *r, uint32_t object, arenaut_remat_certificate *c) {
    static const char *const needed[] = {"budget", "nanoseconds", "device",
                                         "bound",  "floor",       "runs"};
    static const uint32_t at[] = {K_BUDGET, K_BASE, K_DEVICE, K_BOUND, K_FLOOR, K_RUNS};
    uint32_t v[N_KEYS];
    arn_json_members(r, object, keys, N_KEYS, v);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        arn_json_require(r, object, v[at[i]], needed[i]);
    }
    if (!arn_json_fine(r)) return;
    arn_json_hold(r, object);
    c->budget = arn_json_size(r, v[K_BUDGET], 0);
    c->base = arn_json_size(r, v[K_BASE], 0);
    c->added = arn_json_size(r, v[K_ADDED], 0);
    c->any_op = arn_json_word(r, v[K_REPEATS], repeats_word, 2, 0) == 1;
    c->timed = arn_json_word(r, v[K_TIMES], times_word, 2, 0) == 1;
    read_device(r, v[K_DEVICE], &c->device);
    if (arn_json_fine(r)) read_bound(r, v[K_BOUND], &c->time);
    if (arn_json_fine(r)) read_bound(r, v[K_FLOOR], &c->floor);
    if (arn_json_fine(r)) read_runs(r, v[K_RUNS], c);
}

arenaut_remat_certificate *arn_remat_json_read(arn_json_reader *r, uint32_t object) {
    arenaut_remat_certificate *c = arn_allocate_zeroed(r->allocator, 1, sizeof *c);
    if (!c) {
        r->status = arn_no_memory(r->err);
        return NULL;
    }
    c->allocator = arn_allocator_or_default(r->allocator);
    read_members(r, object, c);
    if (arn_json_fine(r)) return c;
    arn_remat_certificate_free(c);
    return NULL;
}

/* ---- writing ---- */

static void put_flows(arn_writer *w, const arenaut_remat_flow *flows, uint32_t n) {
    arn_puts(w, "[");
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_remat_flow *flow = &flows[i];
        arn_putf(w, "%s[%" PRIu32 ", %" PRIu32 ", ", i ? ", " : "", flow->op, flow->storage);
        arn_json_put_i64(w, (int64_t)flow->flow);
        arn_puts(w, "]");
    }
    arn_puts(w, "]");
}

static void put_cases(arn_writer *w, const arenaut_remat_bound *bound) {
    uint32_t flows = 0;
    arn_puts(w, "[");
    for (uint32_t i = 0; i < bound->n_cases; i++) {
        const arenaut_remat_case *line = &bound->cases[i];
        bool begun = false;
        arn_puts(w, i ? ",\n      {" : "\n      {");
        if (line->moment > 0) arn_json_put_size_member(w, &begun, "moment", line->moment);
        if (line->storage != ARENAUT_NONE) {
            arn_json_put_size_member(w, &begun, "storage", line->storage);
        } else {
            arn_json_put_size_member(w, &begun, "byte_price", line->byte_price);
            arn_json_put_size_member(w, &begun, "time_price", line->time_price);
            if (line->unit != 1) arn_json_put_size_member(w, &begun, "unit", line->unit);
            arn_json_put_key(w, &begun, "flow");
            put_flows(w, bound->flows + flows, line->n_flows);
            flows += line->n_flows;
        }
        arn_puts(w, "}");
    }
    arn_puts(w, "]");
}

static void put_later(arn_writer *w, bool *begun, const arenaut_remat_bound *bound) {
    if (bound->n_later == 0) return;
    arn_json_put_key(w, begun, "later");
    arn_puts(w, "[");
    for (uint32_t i = 0; i < bound->n_later; i++) {
        arn_putf(w, "%s%" PRIu32, i ? ", " : "", bound->later[i]);
    }
    arn_puts(w, "]");
}

static void put_bound(arn_writer *w, const arenaut_remat_bound *bound) {
    bool begun = false;
    arn_puts(w, "{");
    arn_json_put_size_member(w, &begun, "value", bound->value);
    if (bound->op != ARENAUT_NONE) arn_json_put_size_member(w, &begun, "op", bound->op);
    put_later(w, &begun, bound);
    if (bound->n_cases > 0) {
        arn_json_put_key(w, &begun, "cases");
        put_cases(w, bound);
    } else {
        arn_json_put_size_member(w, &begun, "byte_price", bound->byte_price);
        arn_json_put_size_member(w, &begun, "time_price", bound->time_price);
        arn_json_put_key(w, &begun, "flow");
        put_flows(w, bound->flows, bound->n_flows);
    }
    arn_puts(w, "}");
}

static void put_device(arn_writer *w, const arenaut_roofline *device) {
    bool begun = false;
    arn_puts(w, "{");
    arn_json_put_text_member(w, &begun, "name", device->name);
    arn_json_put_size_member(w, &begun, "operations", device->operations);
    arn_json_put_size_member(w, &begun, "bytes", device->bytes);
    arn_json_put_size_member(w, &begun, "launch", device->launch);
    arn_puts(w, "}");
}

void arn_remat_json_put(arn_writer *w, const arenaut_remat_certificate *c) {
    bool begun = false;
    arn_puts(w, ",\n  \"rematerialization\": {");
    arn_json_put_size_member(w, &begun, "budget", c->budget);
    arn_json_put_size_member(w, &begun, "nanoseconds", c->base);
    arn_json_put_size_member(w, &begun, "added_nanoseconds", c->added);
    arn_json_put_text_member(w, &begun, "repeats", repeats[c->any_op]);
    arn_json_put_text_member(w, &begun, "times", times[c->timed]);
    arn_puts(w, ",\n    \"device\": ");
    put_device(w, &c->device);
    arn_puts(w, ",\n    \"bound\": ");
    put_bound(w, &c->time);
    arn_puts(w, ",\n    \"floor\": ");
    put_bound(w, &c->floor);
    arn_puts(w, ",\n    \"runs\": [");
    for (uint32_t i = 0; i < c->n_runs; i++) {
        arn_putf(w, "%s%" PRIu32, i ? ", " : "", c->runs[i]);
    }
    arn_puts(w, "]}");
}
