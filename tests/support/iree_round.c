#include "support/iree_round.h"

#include "support/pipelines.h"

bool iree_property(const uint8_t *data, size_t size) {
    return problem_property("iree", "iree", data, size);
}
