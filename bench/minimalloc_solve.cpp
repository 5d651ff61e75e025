// Solves one problem by MiniMalloc's own solver, for bench/peers.py, which builds this against a
// checkout of MiniMalloc.
//
//     minimalloc_solve SECONDS <ROWS
//
// ROWS: lower, upper and size of a buffer in each line. Prints user and system seconds of the solve
// alone, the peak of memory in KiB, whether the search came to its end, and the offsets. Exit 1: no
// solution by then. Its reader is left out, since it wants a newer Abseil than Debian has.

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "minimalloc.h"
#include "solver.h"

namespace {

double seconds(const timeval &time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; }

minimalloc::Problem read() {
    minimalloc::Problem problem;
    int64_t lower, upper, size;
    while (std::cin >> lower >> upper >> size) {
        minimalloc::Buffer buffer;
        buffer.id = std::to_string(problem.buffers.size());
        buffer.lifespan = {lower, upper};
        buffer.size = size;
        problem.buffers.push_back(buffer);
        problem.capacity += size;
    }
    return problem;
}

}  // namespace

int main(int argc, char **argv) {
    const double limit = argc > 1 ? std::strtod(argv[1], nullptr) : 10;
    const minimalloc::Problem problem = read();
    minimalloc::SolverParams params;
    params.timeout = absl::Seconds(limit);
    params.minimize_capacity = true;  // by binary search, as its command does
    rusage before, after;
    const absl::Time start = absl::Now();
    getrusage(RUSAGE_SELF, &before);
    const absl::StatusOr<minimalloc::Solution> solution = minimalloc::Solver(params).Solve(problem);
    getrusage(RUSAGE_SELF, &after);
    const bool ended = absl::ToDoubleSeconds(absl::Now() - start) < limit;
    if (!solution.ok()) return 1;
    std::cout << seconds(after.ru_utime) - seconds(before.ru_utime) << ' '
              << seconds(after.ru_stime) - seconds(before.ru_stime) << ' ' << after.ru_maxrss << ' '
              << ended;
    for (const int64_t offset : solution->offsets) std::cout << ' ' << offset;
    std::cout << '\n';
    return 0;
}
