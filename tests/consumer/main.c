/* The ten lines of the README, as a project that merely installed arenaut would have them. */
#include <stdio.h>

#include <arenaut/arenaut.h>

int main(void) {
    arenaut_problem *problem = NULL;
    arenaut_plan *plan = NULL;
    arenaut_error err;
    if (arenaut_problem_new(NULL, &problem, &err) != ARENAUT_OK) return 1;
    const struct { uint64_t size; arenaut_interval life; } wanted[] = {
        {4096, {0, 2}}, {8192, {1, 3}}, {4096, {2, 4}}};
    for (int i = 0; i < 3; i++) {
        arenaut_buffer buffer = ARENAUT_BUFFER_INIT;
        buffer.size = wanted[i].size;
        buffer.lifetimes = &wanted[i].life;
        buffer.n_lifetimes = 1;
        if (arenaut_problem_add_buffer(problem, &buffer, NULL, &err) != ARENAUT_OK) return 1;
    }
    if (arenaut_problem_finish(problem, &err) != ARENAUT_OK ||
        arenaut_plan_make(problem, NULL, NULL, &plan, &err) != ARENAUT_OK) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    arenaut_finding finding;
    const arenaut_status checked = arenaut_check_plan(problem, plan, NULL, &finding, &err);
    printf("arenaut %s: %llu bytes, %s\n", arenaut_version(), (unsigned long long)plan->total,
           arenaut_quality_name(plan->quality));
    const int fine = checked == ARENAUT_OK && plan->total == 12288;
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
    return fine ? 0 : 1;
}
