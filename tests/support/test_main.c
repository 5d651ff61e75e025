/* Runs every TEST of the program that it is linked into, in the order of the source. */
#include "support/test.h"

#include <stdlib.h>

static test_entry *entries;

void test_register(test_entry *entry) {
    test_entry **at = &entries;
    while (*at && (*at)->line < entry->line) at = &(*at)->next;
    entry->next = *at;
    *at = entry;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int main(int argc, char **argv) {
    size_t n = 0;
    for (const test_entry *e = entries; e; e = e->next) n++;
    if (n == 0) {
        fprintf(stderr, "%s: no tests\n", argv[0]);
        return EXIT_FAILURE;
    }
    struct CMUnitTest *tests = calloc(n, sizeof *tests);
    if (!tests) return EXIT_FAILURE;
    n = 0;
    for (const test_entry *e = entries; e; e = e->next) {
        tests[n++] = (struct CMUnitTest){.name = e->name, .test_func = e->run};
    }
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const int failed = _cmocka_run_group_tests(base_name(argv[0]), tests, n, NULL, NULL);
    free(tests);
    return failed;
}
