#include "support/order_machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/order_round.h"
#include "support/random.h"
#include "support/require.h"

enum { MAX_OPS = 11, MAX_TENSORS = 8 * MAX_OPS, ROOM = 16384, N_STATE = 2, MAX_METHODS = 3 };

typedef struct builder {
    rng r;
    char tensors[ROOM], ops[ROOM], methods[2 * ROOM];
    uint32_t method, n_methods;
    bool called; /* the next method */
    uint32_t input, state;
    uint32_t readable[MAX_TENSORS], n_readable; /* by number */
    uint32_t unread[MAX_TENSORS], n_unread;
    uint32_t n_tensors;
} builder;

static void put(char *text, const char *format, ...) {
    const size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text + length, ROOM - length, format, args);
    va_end(args);
    REQUIRE(n >= 0 && (size_t)n < ROOM - length);
}

/* `more`: further members of its JSON. */
static uint32_t add_tensor(builder *b, uint32_t bytes, const char *more) {
    const uint32_t t = b->n_tensors++;
    put(b->tensors, "%s{\"name\": \"t%u\", \"bytes\": %u, \"method\": %u%s}", t ? ", " : "",
        (unsigned)t, (unsigned)bytes, (unsigned)b->method, more);
    return t;
}

static void make_readable(builder *b, uint32_t t) {
    b->readable[b->n_readable++] = t;
    b->unread[b->n_unread++] = t;
}

/* Often the latest result, or one without a reader. */
static uint32_t pick(builder *b) {
    const uint32_t at = rng_below(&b->r, b->n_readable);
    const uint32_t t = b->readable[rng_once_in(&b->r, 2) ? at : b->n_readable - 1];
    for (uint32_t i = 0; i < b->n_unread; i++) {
        if (b->unread[i] == t) b->unread[i] = b->unread[--b->n_unread];
    }
    return t;
}

static uint32_t some_bytes(builder *b) {
    static const uint32_t sizes[] = {0, 16, 16, 64, 200, 1000};
    return sizes[rng_below(&b->r, 6)];
}

static void add_plain(builder *b, const char *name) {
    const uint32_t n_inputs = 1 + rng_below(&b->r, 2), n_outputs = 1 + rng_once_in(&b->r, 5);
    put(b->ops, "{\"name\": \"%s\", \"inputs\": [", name);
    for (uint32_t i = 0; i < n_inputs; i++)
        put(b->ops, "%s\"t%u\"", i ? ", " : "", (unsigned)pick(b));
    put(b->ops, "], \"outputs\": [");
    for (uint32_t i = 0; i < n_outputs; i++) {
        const uint32_t t = add_tensor(b, some_bytes(b), "");
        put(b->ops, "%s\"t%u\"", i ? ", " : "", (unsigned)t);
        make_readable(b, t);
    }
    put(b->ops, "]%s}", rng_once_in(&b->r, 3) ? ", \"in_place\": [[0, 0]]" : "");
}

static void add_update(builder *b) {
    const unsigned state = b->state + rng_below(&b->r, N_STATE), from = pick(b);
    put(b->ops,
        "{\"name\": \"ADD\", \"kind\": \"in_place\", \"inputs\": [\"t%u\", \"t%u\"], "
        "\"outputs\": [\"t%u\"]}",
        state, from, state);
}

static void add_view(builder *b) {
    char of[48];
    const unsigned from = pick(b);
    snprintf(of, sizeof of, ", \"view_of\": \"t%u\"", from);
    const unsigned view = add_tensor(b, 0, of);
    put(b->ops,
        "{\"name\": \"RESHAPE\", \"kind\": \"view\", \"inputs\": [\"t%u\"], "
        "\"outputs\": [\"t%u\"]}",
        from, view);
    make_readable(b, view);
}

/* Pieces of a tensor, each written independently, perhaps updated; perhaps an op reads all of it.
 */
static void add_pieces(builder *b) {
    static const unsigned bytes[] = {16, 64, 200};
    const unsigned n = 2 + rng_below(&b->r, 2);
    unsigned at = 0, piece[3];
    const unsigned whole = add_tensor(b, n == 2 ? 80 : 280, "");
    for (unsigned i = 0; i < n; i++) {
        char of[64];
        snprintf(of, sizeof of, ", \"view_of\": \"t%u\", \"view_offset\": %u", whole, at);
        const unsigned from = pick(b);
        piece[i] = add_tensor(b, bytes[i], of);
        at += bytes[i];
        put(b->ops, "%s{\"name\": \"CONV_2D\", \"inputs\": [\"t%u\"], \"outputs\": [\"t%u\"]}",
            i ? ", " : "", from, piece[i]);
        if (!rng_once_in(&b->r, 3)) continue;
        put(b->ops,
            ", {\"name\": \"ADD\", \"kind\": \"in_place\", \"inputs\": [\"t%u\", \"t%u\"], "
            "\"outputs\": [\"t%u\"]}",
            piece[i], from, piece[i]);
    }
    for (unsigned i = 0; i < n; i++) make_readable(b, piece[i]);
    if (rng_once_in(&b->r, 2)) {
        put(b->ops,
            ", {\"name\": \"JOIN\", \"kind\": \"view\", \"inputs\": [\"t%u\", \"t%u\"], "
            "\"outputs\": [\"t%u\"]}",
            piece[0], piece[n - 1], whole);
    }
    make_readable(b, whole);
}

/* A call of the next method, which takes 64 bytes. */
static void add_call(builder *b) {
    const unsigned from = pick(b), t = add_tensor(b, 64, "");
    put(b->ops,
        "{\"name\": \"CALL\", \"kind\": \"call\", \"inputs\": [\"t%u\"], \"outputs\": [\"t%u\"], "
        "\"calls\": [%u]}",
        from, t, (unsigned)b->method + 1);
    make_readable(b, t);
    b->called = true;
}

static void add_op(builder *b) {
    if (!b->called && b->method + 1 < b->n_methods && rng_once_in(&b->r, 3)) {
        add_call(b);
        return;
    }
    switch (rng_below(&b->r, 12)) {
        case 0: add_update(b); break;
        case 1: add_view(b); break;
        case 2: add_plain(b, "RANDOM_UNIFORM"); break;
        case 3: add_plain(b, "llama::update_cache"); break;
        case 4: add_pieces(b); break;
        default: add_plain(b, "CONV_2D"); break;
    }
}

/* State shared by methods has one name, or none. */
static void add_state(builder *b) {
    char more[64] = ", \"class\": \"state\"";
    b->state = b->n_tensors;
    for (int i = 0; i < N_STATE; i++) {
        if (i == 0 && b->n_methods > 1) {
            snprintf(more, sizeof more, ", \"class\": \"state\", \"qualified_name\": \"s\"");
        } else {
            snprintf(more, sizeof more, ", \"class\": \"state\"");
        }
        make_readable(b, add_tensor(b, 64, more));
    }
}

static void add_method(builder *b, uint32_t most_ops) {
    const bool entry = !b->called;
    b->called = false;
    b->ops[0] = '\0';
    b->n_readable = b->n_unread = 0;
    b->input = add_tensor(b, 64, "");
    make_readable(b, b->input);
    add_state(b);
    const uint32_t n_ops = 2 + rng_below(&b->r, most_ops - 1);
    for (uint32_t i = 0; i < n_ops; i++) {
        if (i > 0) put(b->ops, ", ");
        add_op(b);
    }
    const uint32_t length = (uint32_t)strlen(b->methods);
    const int n = snprintf(b->methods + length, sizeof b->methods - length,
                           "%s{\"name\": \"m%u\", \"entry\": %s, \"inputs\": [\"t%u\"], "
                           "\"outputs\": [\"t%u\"], \"ops\": [%s]}",
                           b->method ? ", " : "", (unsigned)b->method, entry ? "true" : "false",
                           (unsigned)b->input, (unsigned)b->readable[b->n_readable - 1], b->ops);
    REQUIRE(n >= 0 && (size_t)n < sizeof b->methods - length);
    b->method++;
}

bool order_machine_try(uint64_t seed) {
    static builder b;
    static char text[4 * ROOM];
    memset(&b, 0, sizeof b);
    b.r.state = seed;
    b.n_methods = 1 + (rng_once_in(&b.r, 2) ? rng_below(&b.r, MAX_METHODS) : 0);
    while (b.method < b.n_methods) add_method(&b, b.n_methods > 1 ? MAX_OPS / 2 : MAX_OPS);
    snprintf(text, sizeof text,
             "{\"schema\": \"arenaut.program/1\", \"tensors\": [%s], \"methods\": [%s]}", b.tensors,
             b.methods);
    return order_property((const uint8_t *)text, strlen(text));
}
