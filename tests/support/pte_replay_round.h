/* Every byte of a program spoiled in turn: the result is refused with a message or passes through,
 * from reader to replay, without harm. */
#ifndef SUPPORT_PTE_REPLAY_ROUND_H
#define SUPPORT_PTE_REPLAY_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pte_sweep {
    size_t tried, accepted; /* as programs; of these: */
    size_t planned;         /* lowering and a planner had an answer */
    size_t right;           /* replay finds no fault in that */
} pte_sweep;

/* Flips one bit of every `step`-th byte in front of the weights, from the first on, which bit
 * and where it starts being chosen by `seed`; `data` is as it was afterwards. Aborts, with a
 * line on standard error, where the library breaks its word. */
pte_sweep pte_sweep_run(uint8_t *data, size_t size, size_t step, uint64_t seed);

/* pte_property, and for accepted bytes the remaining stages: passes, lowering, ExecuTorch's own
 * planner, checker and replay, each of which refuses with a message or goes through. True if the
 * bytes were accepted as a program. */
bool pte_replay_property(const uint8_t *data, size_t size);

#endif
