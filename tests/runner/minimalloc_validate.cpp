// minimalloc_validate FILE...: whether MiniMalloc's own validator accepts these solved CSVs, at
// the height that they have. Built against a checkout of MiniMalloc
// (tests/pytest/test_minimalloc.py). Its reader is left out, since it wants a newer Abseil than
// Debian has.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "minimalloc.h"
#include "validator.h"

namespace {

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

// Gaps in time, "3-5 8-9", to which a window may be added, "3-5@0:64".
void read_gaps(const std::string &text, minimalloc::Buffer &buffer) {
    for (const std::string &word : split(text, ' ')) {
        long long first, end, low, high;
        minimalloc::Gap gap;
        const int n = std::sscanf(word.c_str(), "%lld-%lld@%lld:%lld", &first, &end, &low, &high);
        if (n < 2) {
            continue;
        }
        gap.lifespan = {first, end};
        if (n == 4) {
            gap.window = {{low, high}};
        }
        buffer.gaps.push_back(gap);
    }
}

void add_row(const std::vector<std::string> &header, const std::string &line,
             minimalloc::Problem &problem, minimalloc::Solution &solution) {
    const std::vector<std::string> cells = split(line, ',');
    minimalloc::Buffer buffer;
    minimalloc::Offset offset = -1;
    long long lower = 0, upper = 0;
    for (size_t i = 0; i < cells.size() && i < header.size(); i++) {
        const long long number = std::atoll(cells[i].c_str());
        if (header[i] == "id") buffer.id = cells[i];
        if (header[i] == "lower") lower = number;
        if (header[i] == "upper") upper = number;
        if (header[i] == "size") buffer.size = number;
        if (header[i] == "alignment" && number > 0) buffer.alignment = number;
        if (header[i] == "gaps") read_gaps(cells[i], buffer);
        if (header[i] == "offset") offset = number;
    }
    buffer.lifespan = {lower, upper};
    solution.offsets.push_back(offset);
    solution.height = std::max(solution.height, offset + buffer.size);
    problem.buffers.push_back(buffer);
}

}  // namespace

int main(int argc, char **argv) {
    bool accepted = argc > 1;
    for (int i = 1; i < argc; i++) {
        std::ifstream file(argv[i]);
        std::string line;
        minimalloc::Problem problem;
        minimalloc::Solution solution;
        std::getline(file, line);
        const std::vector<std::string> header = split(line, ',');
        while (std::getline(file, line)) {
            add_row(header, line, problem, solution);
        }
        problem.capacity = solution.height;
        const minimalloc::ValidationResult result = minimalloc::Validate(problem, solution);
        std::printf("%s: %s, rule %d, height %lld\n", argv[i],
                    result == minimalloc::kGood ? "accepted" : "REFUSED", static_cast<int>(result),
                    static_cast<long long>(solution.height));
        accepted &= result == minimalloc::kGood && !problem.buffers.empty();
    }
    return accepted ? 0 : 1;
}
