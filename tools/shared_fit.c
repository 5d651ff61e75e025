/* A choice of levers for several models that share an arena. Its size is the largest head and the
 * sum of the tails, so a model may keep gentle levers as long as its head stays below the largest:
 * for each head that any combination has, from the largest down, every model takes its gentlest
 * combination within that height, and the first height whose sum fits is taken. Where none fits,
 * each takes the one with the smallest tail within the height of which the sum is least, and, as
 * far as the sum then fits, gentler ones. O(choices^2), each choice planned once. */
#include "shared_fit.h"

#include <stdlib.h>

#include "tool.h"

/* The gentlest choice of a model whose head is no higher or, of these, the one with the smallest
 * tail; NULL if there is none. */
static const lever_choice *choice_below(const choice_list *choices, uint64_t height, bool least) {
    const lever_choice *best = NULL;
    for (size_t i = 0; i < choices->n; i++) {
        const lever_choice *w = &choices->items[i];
        if (w->need.need[0] > height) continue;
        if (!least) return w;
        if (!best || w->need.need[1] < best->need.need[1]) best = w;
    }
    return best;
}

static uint64_t sum_of(const lever_choice *const *taken, size_t n) {
    uint64_t head = 0, tails = 0;
    for (size_t i = 0; i < n; i++) {
        if (taken[i]->need.need[0] > head) head = taken[i]->need.need[0];
        tails += taken[i]->need.need[1];
    }
    return head + tails;
}

/* Takes a choice below this height of every model, if each has one. */
static bool take_below(const choice_list *models, size_t n, uint64_t height, bool least,
                       const lever_choice **taken) {
    for (size_t i = 0; i < n; i++) {
        taken[i] = choice_below(&models[i], height, least);
        if (!taken[i]) return false;
    }
    return true;
}

/* The height of the best sum: the largest that fits or, if `least`, that of the least sum. 0: none
 * does. */
static uint64_t choose_height(const choice_list *models, size_t n, uint64_t size, bool least,
                              const lever_choice **taken) {
    uint64_t best = 0, best_sum = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < models[i].n; k++) {
            const uint64_t height = models[i].items[k].need.need[0];
            if (!take_below(models, n, height, least, taken)) continue;
            const uint64_t sum = sum_of(taken, n);
            const bool better = !least || sum == best_sum ? height > best : sum < best_sum;
            if (!better || (!least && sum > size)) continue;
            best = height;
            best_sum = sum;
        }
    }
    return best;
}

/* Gives each model in turn its gentlest choice with which the sum still fits. */
static void soften(const choice_list *models, size_t n, uint64_t size, const lever_choice **taken) {
    for (size_t i = 0; i < n; i++) {
        const lever_choice *const least = taken[i];
        for (taken[i] = models[i].items; taken[i] < least && sum_of(taken, n) > size;) taken[i]++;
    }
}

static void choose(const choice_list *models, size_t n, uint64_t size, const lever_choice **taken) {
    uint64_t height = size == NOT_GIVEN ? 0 : choose_height(models, n, size, false, taken);
    const bool gentle = height > 0;
    if (!gentle) height = choose_height(models, n, size, true, taken);
    take_below(models, n, height, !gentle, taken);
    if (!gentle && size != NOT_GIVEN && sum_of(taken, n) <= size) soften(models, n, size, taken);
}

static void take(const tool_options *options, const lever_choice *w, tool_options *each) {
    *each = w->options;
    each->files = options->files;
    each->names = options->names;
    each->output = options->output;
    each->budget = options->budget;
    each->fit = NOT_GIVEN; /* of all of them, not of this one */
    each->fit_text = NULL;
}

static void put_choice(const lever_choice *const *taken, const tool_options *options,
                       arenaut_text *out) {
    text_table table;
    table_begin(&table, "llrr");
    table_cell(&table, "  one arena");
    table_cell(&table, "levers");
    table_cell(&table, "head");
    table_cell(&table, "alone");
    for (size_t i = 0; i < options->files.n; i++) {
        const lever_choice *w = taken[i];
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
    const lever_choice **taken = must_allocate(n, sizeof *taken);
    exit_code code = EXIT_FINE;
    *found = (shared_fit){.each = must_allocate(n, sizeof *found->each)};
    for (size_t i = 0; i < n && code == EXIT_FINE; i++) {
        tool_options one = *options;
        one.files = (text_list){.items = &options->files.items[i], .n = 1};
        one.budget = NOT_GIVEN;
        code = find_choices(&one, &models[i]);
    }
    if (code == EXIT_FINE) {
        choose(models, n, options->fit, taken);
        for (size_t i = 0; i < n; i++) take(options, taken[i], &found->each[i]);
        put_choice(taken, options, &found->table);
        for (size_t i = 0; i < n; i++) found->cut_short = found->cut_short || models[i].cut_short;
        if (found->cut_short) text_printf(&found->table, "    %s\n", TIME_ENDED);
    }
    for (size_t i = 0; i < n; i++) choices_free(&models[i]);
    free(taken);
    free(models);
    return code;
}

void shared_fit_free(shared_fit *found) {
    free(found->each);
    arenaut_text_free(&found->table);
}
