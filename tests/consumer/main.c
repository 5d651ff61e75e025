/* Runs the lines of C in the README as they stand, in a project that merely installed arenaut;
 * run.sh cuts them out. Once there is a plan, and once the problem
 * is refused. */
#include <stdio.h>

#include <arenaut/arenaut.h>

static uint64_t used;

static void use(const uint64_t *offset, uint64_t total) { used = total + 0 * offset[0]; }

static arenaut_status run(int n, const uint64_t *size, const arenaut_interval *life) {
#include "readme_lines.h"
    return st;
}

int main(void) {
    const uint64_t size[] = {4096, 8192, 4096}, too_large[] = {ARENAUT_SIZE_MAX, 1, 1};
    const arenaut_interval life[] = {{0, 2}, {1, 3}, {2, 4}};
    const arenaut_status planned = run(3, size, life);
    printf("arenaut %s: %llu bytes\n", arenaut_version(), (unsigned long long)used);
    const uint64_t total = used;
    const arenaut_status failed = run(3, too_large, life);
    return planned == ARENAUT_OK && total == 12288 && failed == ARENAUT_TOO_LARGE ? 0 : 1;
}
