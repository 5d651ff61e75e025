/* A choice of levers for several models that share an arena. Its size is the largest head and the
 * sum of the tails, so a model may keep gentle levers as long as its head stays below the largest:
 * for each head that any combination has, from the largest down, every model takes its gentlest
 * combination within that height, and the first height whose sum fits is taken. O(choices^2), each
 * choice planned once. */
#include "shared_fit.h"

#include <stdlib.h>

#include "tool.h"

/* The gentlest choice of a model whose head is no higher; NULL if there is none. */
static const lever_choice *gentlest(const choice_list *choices, uint64_t height) {
    for (size_t i = 0; i < choices->n; i++) {
        if (choices->items[i].need.need[0] <= height) return &choices->items[i];
    }
    return NULL;
}

/* Bytes of all models below this height; UINT64_MAX if one of them has no such choice. */
static uint64_t sum_below(const choice_list *models, size_t n, uint64_t height) {
    uint64_t head = 0, tails = 0;
    for (size_t i = 0; i < n; i++) {
        const lever_choice *w = gentlest(&models[i], height);
        if (!w) return UINT64_MAX;
        if (w->need.need[0] > head) head = w->need.need[0];
        tails += w->need.need[1];
    }
    return head + tails;
}

/* Whether a height is a better choice than the best so far. */
static bool is_better(uint64_t sum, uint64_t height, uint64_t best_sum, uint64_t best,
                      uint64_t size) {
    const bool fits = size != NOT_GIVEN && sum <= size;
    const bool best_fits = size != NOT_GIVEN && best_sum <= size;
    if (fits != best_fits) return fits;
    if (!fits && sum != best_sum) return sum < best_sum;
    return height > best;
}

static uint64_t choose_height(const choice_list *models, size_t n, uint64_t size) {
    uint64_t best = 0, best_sum = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < models[i].n; k++) {
            const uint64_t height = models[i].items[k].need.need[0];
            const uint64_t sum = sum_below(models, n, height);
            if (sum == UINT64_MAX || !is_better(sum, height, best_sum, best, size)) continue;
            best = height;
            best_sum = sum;
        }
    }
    return best;
}

static void take(const tool_options *options, const lever_choice *w, tool_options *each) {
    *each = w->options;
    each->files = options->files;
    each->names = options->names;
    each->budget = options->budget;
    each->fit = NOT_GIVEN; /* of all of them, not of this one */
    each->fit_text = NULL;
}

static void put_choice(const choice_list *models, const tool_options *options, uint64_t height,
                       arenaut_text *out) {
    text_table table;
    table_begin(&table, "llrr");
    table_cell(&table, "  one arena");
    table_cell(&table, "levers");
    table_cell(&table, "head");
    table_cell(&table, "alone");
    for (size_t i = 0; i < options->files.n; i++) {
        const lever_choice *w = gentlest(&models[i], height);
        arenaut_text name = {0};
        text_put(&name, "    ");
        text_put_clean(&name, base_name(options->files.items[i]));
        table_cell(&table, name.bytes);
        table_cell(&table, w->name.bytes);
        table_cell(&table, with_commas(w->need.need[0]).text);
        table_cellf(&table, "%s%s", w->need.unknown ? ">= " : "", with_commas(w->need.bytes).text);
        arenaut_text_free(&name);
    }
    table_end(&table, out, "", "");
}

exit_code find_shared_fit(const tool_options *options, shared_fit *found) {
    const size_t n = options->files.n;
    choice_list *models = must_allocate(n, sizeof *models);
    exit_code code = EXIT_FINE;
    *found = (shared_fit){.each = must_allocate(n, sizeof *found->each)};
    for (size_t i = 0; i < n && code == EXIT_FINE; i++) {
        tool_options one = *options;
        one.files = (text_list){.items = &options->files.items[i], .n = 1};
        one.budget = NOT_GIVEN;
        code = find_choices(&one, &models[i]);
    }
    if (code == EXIT_FINE) {
        const uint64_t height = choose_height(models, n, options->fit);
        for (size_t i = 0; i < n; i++) take(options, gentlest(&models[i], height), &found->each[i]);
        put_choice(models, options, height, &found->table);
    }
    for (size_t i = 0; i < n; i++) choices_free(&models[i]);
    free(models);
    return code;
}

void shared_fit_free(shared_fit *found) {
    free(found->each);
    arenaut_text_free(&found->table);
}
