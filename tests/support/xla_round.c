#include "support/xla_round.h"

#include "support/pipelines.h"

bool xla_property(const uint8_t *data, size_t size) {
    return problem_property("xla", "naive", data, size);
}
