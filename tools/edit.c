#include "edit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The inverse of arenaut_problem_add_buffer. */
static arenaut_buffer buffer_of(const arenaut_problem *p, uint32_t b) {
    arenaut_buffer buffer = {0};
    buffer.size = p->size[b];
    buffer.align = arenaut_problem_align(p, b);
    buffer.lifetimes = arenaut_problem_lifetimes(p, b);
    buffer.n_lifetimes = arenaut_problem_lifetime_count(p, b);
    buffer.cls = arenaut_problem_class(p, b);
    buffer.uses = arenaut_problem_uses(p, b);
    buffer.pools = p->pools ? p->pools[b] : 0;
    buffer.fixed_offset = arenaut_at(arenaut_problem_fixed_offset(p, b));
    buffer.hint = arenaut_at(arenaut_problem_hint(p, b));
    buffer.same_base = arenaut_id(arenaut_problem_same_base(p, b));
    buffer.inside = arenaut_id(arenaut_problem_inside(p, b));
    buffer.inside_delta = p->inside_delta ? p->inside_delta[b] : 0;
    if (p->method) buffer.method = arenaut_id(p->method[b]);
    buffer.name = p->name ? p->name[b] : NULL;
    buffer.op = p->op ? p->op[b] : NULL;
    buffer.source = p->source ? p->source[b] : NULL;
    buffer.release = arenaut_problem_release(p, b);
    return buffer;
}

static arenaut_status copy_parts(const arenaut_problem *from, const arenaut_pool *pools,
                                 uint32_t n_pools, buffer_edit edit, void *context,
                                 arenaut_problem *to, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n_pools && st == ARENAUT_OK; i++) {
        st = arenaut_problem_add_pool(to, &pools[i], NULL, err);
    }
    for (uint32_t i = 0; i < from->n_methods && st == ARENAUT_OK; i++) {
        st = arenaut_problem_add_method(to, from->method_name[i], NULL, err);
    }
    for (uint32_t b = 0; b < from->n_buffers && st == ARENAUT_OK; b++) {
        arenaut_buffer buffer = buffer_of(from, b);
        if (edit) edit(context, b, &buffer);
        st = arenaut_problem_add_buffer(to, &buffer, NULL, err);
    }
    for (uint32_t i = 0; i < from->n_conflicts && st == ARENAUT_OK; i++) {
        st = arenaut_problem_add_conflict(to, from->conflict[i].a, from->conflict[i].b, err);
    }
    for (uint32_t i = 0; i < from->n_reserved && st == ARENAUT_OK; i++) {
        st = arenaut_problem_add_reserved(to, &from->reserved[i], err);
    }
    to->traits = from->traits;
    return st == ARENAUT_OK ? arenaut_problem_finish(to, err) : st;
}

arenaut_status problem_copy(const arenaut_problem *from, const arenaut_pool *pools,
                            uint32_t n_pools, buffer_edit edit, void *context,
                            arenaut_problem **out, arenaut_error *err) {
    arenaut_problem *copy = NULL;
    arenaut_status st = arenaut_problem_new(NULL, &copy, err);
    if (st != ARENAUT_OK) return st;
    st = copy_parts(from, pools ? pools : from->pool, pools ? n_pools : from->n_pools, edit,
                    context, copy, err);
    if (st == ARENAUT_OK) *out = copy;
    else arenaut_problem_free(copy);
    return st;
}

static bool is_power_of_two(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

static exit_code bad_pool(const char *text, const char *why) {
    return complain(EXIT_USAGE, NULL,
                    "--pool '%s': %s; write NAME=SIZE[@ALIGN][:DEVICE], such as "
                    "sram=256K@16, or slow=unlimited:1 (DEVICE is TYPE or TYPE.INDEX)",
                    text, why);
}

/* "1" or "1.0". */
static bool parse_device(const char *text, arenaut_device *device) {
    char type[8] = "", index[8] = "0";
    const size_t n = strcspn(text, ".");
    uint64_t t, i;
    if (n >= sizeof type || (text[n] && strlen(text + n + 1) >= sizeof index)) return false;
    memcpy(type, text, n);
    if (text[n]) strcpy(index, text + n + 1);
    if (!parse_number(type, &t) || !parse_number(index, &i)) return false;
    if (t > UINT16_MAX || i > UINT16_MAX) return false;
    device->type = (uint16_t)t;
    device->index = (uint16_t)i;
    return true;
}

const char *pool_problem(char *text, arenaut_pool *pool) {
    char *size = strchr(text, '=');
    if (!size || size == text) return "has no NAME=";
    *size++ = '\0';
    char *device = strchr(size, ':');
    if (device) *device++ = '\0';
    char *align = strchr(size, '@');
    if (align) *align++ = '\0';

    *pool = (arenaut_pool){.name = text, .capacity = ARENAUT_UNLIMITED};
    if (strcmp(size, "unlimited") != 0 && !parse_size(size, &pool->capacity)) {
        return "the size is neither a number of bytes nor 'unlimited'";
    }
    pool->closed = pool->capacity == 0;
    if (align && (!parse_size(align, &pool->align) || !is_power_of_two(pool->align))) {
        return "the alignment is no power of two";
    }
    if (device && !parse_device(device, &pool->device)) return "the device is no number";
    return NULL;
}

exit_code parse_pools(const tool_options *options, arenaut_pool pools[ARENAUT_MAX_POOLS],
                      uint32_t *n_pools, char **names) {
    size_t length = 1;
    if (options->pool.n > ARENAUT_MAX_POOLS) {
        return complain(EXIT_USAGE, NULL, "--pool: %zu pools are more than %u", options->pool.n,
                        ARENAUT_MAX_POOLS);
    }
    for (size_t i = 0; i < options->pool.n; i++) length += strlen(options->pool.items[i]) + 1;
    char *at = *names = must_allocate(length, 1);
    for (uint32_t i = 0; i < options->pool.n; i++) {
        const char *text = options->pool.items[i];
        strcpy(at, text);
        const char *wrong = pool_problem(at, &pools[i]);
        if (wrong) return bad_pool(text, wrong);
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(pools[k].name, pools[i].name) != 0) continue;
            return bad_pool(text, "an earlier pool has this name");
        }
        at += strlen(text) + 1;
    }
    *n_pools = (uint32_t)options->pool.n;
    return EXIT_FINE;
}

/* What the user asked of one buffer. */
typedef struct wish {
    uint32_t buffer;
    uint64_t align;        /* 0: none */
    uint64_t pools;        /* 0: none */
    uint64_t fixed_offset; /* ARENAUT_UNPLACED: none */
} wish;

typedef struct edits {
    const char *path;
    const arenaut_program *program;
    const arenaut_lowering *lowering;
    const arenaut_problem *problem;
    uint64_t align; /* of every buffer */
    wish *wishes;
    size_t n;
} edits;

static const char *name_of(const edits *e, uint32_t id, char store[24]) {
    return e->lowering ? arenaut_program_tensor_name(e->program, id, store)
                       : arenaut_problem_buffer_name(e->problem, id, store);
}

/* The nearest existing name, for the message about one that does not exist. */
static exit_code unknown_tensor(const edits *e, const char *flag, const char *name) {
    const uint32_t n = e->lowering ? e->program->n_tensors : e->problem->n_buffers;
    char (*stores)[24] = must_allocate(n, sizeof *stores);
    const char **names = must_allocate(n, sizeof *names);
    for (uint32_t i = 0; i < n; i++) names[i] = name_of(e, i, stores[i]);
    const char *near = nearest(name, names, n);
    const exit_code code =
        near ? complain(EXIT_USAGE, e->path, "--%s: there is no tensor '%s': did you mean '%s'?",
                        flag, name, near)
             : complain(EXIT_USAGE, e->path,
                        "--%s: there is no tensor '%s' among the %" PRIu32
                        " of this file ('arenaut export --as csv' lists them)",
                        flag, name, n);
    free(names);
    free(stores);
    return code;
}

/* The buffer of the tensor called `name`, and where in it that tensor starts. */
static exit_code find_tensor(const edits *e, const char *flag, const char *name, uint32_t *buffer,
                             uint64_t *offset) {
    const uint32_t n = e->lowering ? e->program->n_tensors : e->problem->n_buffers;
    uint32_t found = ARENAUT_NONE;
    char store[24];
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(name_of(e, i, store), name) != 0) continue;
        if (found != ARENAUT_NONE) {
            return complain(EXIT_USAGE, e->path, "--%s: several tensors are called '%s'", flag,
                            name);
        }
        found = i;
    }
    if (found == ARENAUT_NONE) return unknown_tensor(e, flag, name);
    *buffer = e->lowering ? e->lowering->buffer[found] : found;
    *offset = e->lowering ? e->lowering->offset[found] : 0;
    if (*buffer != ARENAUT_NONE) return EXIT_FINE;
    return complain(EXIT_USAGE, e->path, "--%s: '%s' needs no memory in the arena", flag, name);
}

/* Splits "NAME=VALUE" at the last '=', since tensors' names may hold one. */
static char *split_name(const char *text, const char **value) {
    const char *equals = strrchr(text, '=');
    if (!equals) return NULL;
    const size_t length = (size_t)(equals - text);
    char *name = must_allocate(length + 1, 1);
    memcpy(name, text, length);
    *value = equals + 1;
    return name;
}

static exit_code bad_alignment(const char *text) {
    return complain(EXIT_USAGE, NULL,
                    "--align '%s': write N or TENSOR=N, where N is a power of "
                    "two",
                    text);
}

exit_code plain_alignment(const tool_options *options, uint64_t *align) {
    *align = 0;
    for (size_t i = 0; i < options->align.n; i++) {
        const char *text = options->align.items[i];
        if (strchr(text, '=')) continue;
        if (!parse_size(text, align) || !is_power_of_two(*align)) return bad_alignment(text);
    }
    return EXIT_FINE;
}

static wish *new_wish(edits *e) {
    wish *w = &e->wishes[e->n++];
    *w = (wish){.fixed_offset = ARENAUT_UNPLACED};
    return w;
}

static exit_code add_alignment(edits *e, const char *text) {
    const char *value;
    uint64_t offset, align;
    char *name = split_name(text, &value);
    if (!name) return EXIT_FINE; /* a plain N: see plain_alignment */
    wish *w = new_wish(e);
    exit_code code = find_tensor(e, "align", name, &w->buffer, &offset);
    if (code == EXIT_FINE && (!parse_size(value, &align) || !is_power_of_two(align))) {
        code = bad_alignment(text);
    } else if (code == EXIT_FINE && offset % align != 0) {
        code = complain(EXIT_USAGE, e->path,
                        "--align: '%s' lies %" PRIu64
                        " bytes inside another "
                        "tensor, so it cannot start at a multiple of %" PRIu64,
                        name, offset, align);
    } else if (code == EXIT_FINE) {
        w->align = align;
    }
    free(name);
    return code;
}

static exit_code find_pool(const edits *e, const char *name, size_t length, uint32_t *pool) {
    for (uint32_t i = 0; i < e->problem->n_pools; i++) {
        const char *each = e->problem->pool[i].name;
        if (each && strlen(each) == length && memcmp(each, name, length) == 0) {
            *pool = i;
            return EXIT_FINE;
        }
    }
    arenaut_text names = {0};
    for (uint32_t i = 0; i < e->problem->n_pools; i++) {
        text_printf(&names, "%s%s", i ? ", " : "",
                    e->problem->pool[i].name ? e->problem->pool[i].name : "(unnamed)");
    }
    complain(EXIT_USAGE, e->path, "--pin: there is no pool '%.*s'; the pools are: %s", (int)length,
             name, names.bytes ? names.bytes : "");
    arenaut_text_free(&names);
    return EXIT_USAGE;
}

/* "TENSOR=POOL" or "TENSOR=POOL:OFFSET". A tensor may begin inside its buffer (a view), so the
 * buffer is pinned that much lower. */
static exit_code add_pin(edits *e, const char *text) {
    const char *where;
    uint64_t inner = 0, offset = ARENAUT_UNPLACED;
    uint32_t pool = 0;
    char *name = split_name(text, &where);
    if (!name) {
        return complain(EXIT_USAGE, NULL, "--pin '%s': write TENSOR=POOL or TENSOR=POOL:OFFSET",
                        text);
    }
    wish *w = new_wish(e);
    const size_t pool_length = strcspn(where, ":");
    exit_code code = find_tensor(e, "pin", name, &w->buffer, &inner);
    if (code == EXIT_FINE) code = find_pool(e, where, pool_length, &pool);
    if (code == EXIT_FINE && where[pool_length]) {
        if (!parse_size(where + pool_length + 1, &offset)) {
            code = complain(EXIT_USAGE, NULL, "--pin '%s': the offset is no number of bytes", text);
        } else if (offset < inner) {
            code = complain(EXIT_USAGE, e->path,
                            "--pin: '%s' lies %" PRIu64
                            " bytes inside another"
                            " tensor, so it cannot be at %" PRIu64,
                            name, inner, offset);
        } else {
            w->fixed_offset = offset - inner;
        }
    }
    w->pools = UINT64_C(1) << pool;
    free(name);
    return code;
}

/* Where a buffer may lie once all is granted. Wishes are few, so looking at all of them for each
 * buffer costs nothing to speak of. */
static uint64_t pools_wished(const edits *e, uint32_t id) {
    uint64_t pools = arenaut_problem_pools(e->problem, id);
    for (size_t i = 0; i < e->n; i++) {
        if (e->wishes[i].buffer == id && e->wishes[i].pools) pools = e->wishes[i].pools;
    }
    return pools;
}

static void grant_wishes(void *context, uint32_t id, arenaut_buffer *buffer) {
    const edits *e = context;
    if (e->align > buffer->align) buffer->align = e->align;
    for (size_t i = 0; i < e->n; i++) {
        const wish *w = &e->wishes[i];
        if (w->buffer != id) continue;
        if (w->align > buffer->align) buffer->align = w->align;
        if (w->pools) buffer->pools = w->pools;
        if (w->fixed_offset != ARENAUT_UNPLACED) buffer->fixed_offset = arenaut_at(w->fixed_offset);
    }
    /* That it may be written over another is a permission, and void where they cannot meet. */
    const uint32_t base = arenaut_problem_same_base(e->problem, id);
    if (base != ARENAUT_NONE && !(pools_wished(e, id) & pools_wished(e, base))) {
        buffer->same_base = (arenaut_optional_id){0};
    }
}

/* --pool on a bare problem: only where the problem did not name pools of its own, whose
 * numbers its buffers might mean. --capacity limits the first pool in the problem itself,
 * so that the checker holds the plan, or the proof that there is none, against it. */
static exit_code replacement_pools(const edits *e, const tool_options *options, arenaut_pool *pools,
                                   uint32_t *n_pools, char **names) {
    const bool limited = options->capacity != NOT_GIVEN;
    if (!e->lowering && options->pool.n > 0) {
        if (e->problem->n_pools > 1 || e->problem->pools) {
            return complain(EXIT_USAGE, e->path, "--pool: this problem names its own pools");
        }
        const exit_code code = parse_pools(options, pools, n_pools, names);
        if (code != EXIT_FINE) return code;
    } else if (limited) {
        *n_pools = e->problem->n_pools;
        memcpy(pools, e->problem->pool, *n_pools * sizeof *pools);
    }
    if (limited && *n_pools > 0 && pools[0].capacity > options->capacity) {
        pools[0].capacity = options->capacity;
        pools[0].closed = options->capacity == 0;
    }
    return EXIT_FINE;
}

exit_code apply_edits(const char *path, const tool_options *options, const arenaut_program *program,
                      const arenaut_lowering *lowering, const arenaut_problem *problem,
                      arenaut_problem **edited) {
    edits e = {path, program, lowering, problem, 0, NULL, 0};
    arenaut_pool pools[ARENAUT_MAX_POOLS];
    uint32_t n_pools = 0;
    char *names = NULL;
    arenaut_problem *with_pools = NULL;
    arenaut_error err = {0};
    if (!has_edits(options)) return EXIT_FINE;

    e.wishes = must_allocate(options->align.n + options->pin.n, sizeof *e.wishes);
    exit_code code = replacement_pools(&e, options, pools, &n_pools, &names);
    if (code == EXIT_FINE && n_pools > 0) { /* pins name the new pools, so these come first */
        if (problem_copy(problem, pools, n_pools, NULL, NULL, &with_pools, &err) != ARENAUT_OK) {
            code = complain_error(path, &err);
        } else {
            e.problem = with_pools;
        }
    }
    if (code == EXIT_FINE && !lowering) code = plain_alignment(options, &e.align);
    for (size_t i = 0; i < options->align.n && code == EXIT_FINE; i++) {
        code = add_alignment(&e, options->align.items[i]);
    }
    for (size_t i = 0; i < options->pin.n && code == EXIT_FINE; i++) {
        code = add_pin(&e, options->pin.items[i]);
    }
    if (code == EXIT_FINE &&
        problem_copy(e.problem, NULL, 0, grant_wishes, &e, edited, &err) != ARENAUT_OK) {
        code = complain_error(path, &err);
    }
    arenaut_problem_free(with_pools);
    free(e.wishes);
    free(names);
    return code;
}
