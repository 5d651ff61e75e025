/* Problem from slabs: a pool for each, its slices one after the other. Omissions are noted. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/utf8.h"
#include "formats/iree/iree_reader.h"

/* ---- pools and buffers ---- */

/* A C string of at most ARN_IREE_NAME_LIMIT bytes of a name; `out` has room for it. */
static void copy_name(arn_name name, char *out) {
    const size_t length = arn_utf8_cut(name.text, name.length, ARN_IREE_NAME_LIMIT);
    for (size_t i = 0; i < length; i++) out[i] = name.text[i] ? (char)name.text[i] : '?';
    out[length] = '\0';
}

/* Named by its function, and, if that has several slabs, its number among them. */
static arenaut_status add_pool(arn_iree *r, uint32_t number) {
    const arn_iree_pack *p = &r->packs[number];
    char name[ARN_IREE_NAME_LIMIT + 16];
    uint32_t before = 0, all = 0;
    for (uint32_t i = 0; i < r->n_packs; i++) {
        if (!arn_iree_same_name(r->packs[i].function, p->function)) continue;
        all++;
        before += i < number;
    }
    copy_name(p->function, name);
    if (all > 1) {
        const size_t used = strlen(name);
        snprintf(name + used, sizeof name - used, ".%" PRIu32, before);
    }
    const arenaut_pool pool = {.name = name, .align = p->align};
    return arenaut_problem_add_pool(r->problem, &pool, NULL, r->err);
}

static arenaut_status add_slice(arn_iree *r, uint32_t pool, uint32_t number, int64_t start) {
    const arn_iree_pack *p = &r->packs[pool];
    const arn_iree_slice *s = &r->slices[p->first_slice + number];
    char name[ARN_IREE_NAME_LIMIT + 16] = "%", op[ARN_IREE_NAME_LIMIT + 1];
    const arenaut_interval life = {start + s->first, start + s->last + 1};
    copy_name(p->result, name + 1);
    const size_t used = strlen(name);
    snprintf(name + used, sizeof name - used, "#%" PRIu32, number + 1);
    copy_name(s->op, op);
    if (s->size.min < s->size.max) r->problem->traits |= ARENAUT_PROBLEM_SYMBOLIC;
    const arenaut_buffer buffer = {.size = s->size.max,
                                   .align = p->align,
                                   .lifetimes = &life,
                                   .n_lifetimes = 1,
                                   .pools = UINT64_C(1) << pool,
                                   .name = name,
                                   .op = *op ? op : NULL};
    return arenaut_problem_add_buffer(r->problem, &buffer, NULL, r->err);
}

/* ---- omissions ---- */

/* The first few of some names, each once, as text. */
enum { FEW = 4 };
typedef struct name_list {
    arn_name shown[FEW];
    uint32_t n;
    bool more;
    char text[300];
    size_t used;
} name_list;

static void add_name(name_list *list, const char *mark, arn_name name) {
    uint32_t known = 0;
    while (known < list->n && !arn_iree_same_name(list->shown[known], name)) known++;
    list->more = list->more || (known == list->n && list->n == FEW);
    if (known < list->n || list->n == FEW) return;
    list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used,
                                   "%s%s%.*s", list->n ? ", " : "", mark, ARN_IREE_TEXT(name));
    list->shown[list->n++] = name;
}

static const char *rest_of(const name_list *list) { return list->more ? ", …" : ""; }

/* The slices of unknown size of a slab, and the dimensions that determine them. */
static uint32_t list_open(const arn_iree *r, const arn_iree_pack *p, name_list *values,
                          name_list *dims) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_slices; i++) {
        const arn_iree_slice *s = &r->slices[p->first_slice + i];
        if (s->size.known) continue;
        n++;
        add_name(values, "%", s->value);
        if (s->size.open == ARENAUT_NONE) continue;
        add_name(dims, "", arn_iree_name_of(r->dims[s->size.open]));
    }
    return n;
}

/* Says which slices of a slab are left out. Where all of all slabs are, nothing is left to say. */
static arenaut_status tell_open(arn_iree *r, const arn_iree_pack *p) {
    name_list values = {.n = 0}, dims = {.n = 0};
    char text[800], hint[360] = "";
    const uint32_t n = list_open(r, p, &values, &dims);
    if (n == 0) return ARENAUT_OK;
    if (dims.n > 0) {
        snprintf(hint, sizeof hint, "; sizes that can be given a value: %s%s", dims.text,
                 rest_of(&dims));
    }
    if (r->problem->n_buffers == 0) {
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                        "all sizes of slices are known only when it runs (%s%s)%s", values.text,
                        rest_of(&values), hint);
    }
    r->problem->traits |= ARENAUT_PROBLEM_SYMBOLIC;
    if (!r->options->note) return ARENAUT_OK;
    snprintf(text, sizeof text,
             "@%.*s: %" PRIu32 " of %" PRIu32
             " slices have sizes that are known only when it runs (%s%s): they are left out%s",
             ARN_IREE_TEXT(p->function), n, p->n_slices, values.text, rest_of(&values), hint);
    r->options->note(r->options->note_context, text);
    return ARENAUT_OK;
}

arenaut_status arn_iree_make_problem(arn_iree *r) {
    arenaut_status st = arenaut_problem_new(r->allocator, &r->problem, r->err);
    int64_t start = 0;
    for (uint32_t i = 0; i < r->n_packs && st == ARENAUT_OK; i++) st = add_pool(r, i);
    for (uint32_t i = 0; i < r->n_packs && st == ARENAUT_OK; i++) {
        const arn_iree_pack *p = &r->packs[i];
        int64_t end = start;
        for (uint32_t k = 0; k < p->n_slices && st == ARENAUT_OK; k++) {
            const arn_iree_slice *s = &r->slices[p->first_slice + k];
            if (start + s->last + 1 > end) end = start + s->last + 1;
            if (s->size.known) st = add_slice(r, i, k, start);
        }
        start = end;
    }
    if (st == ARENAUT_OK) st = arenaut_problem_finish(r->problem, r->err);
    for (uint32_t i = 0; i < r->n_packs && st == ARENAUT_OK; i++) {
        st = tell_open(r, &r->packs[i]);
    }
    return st;
}
