/* A firmware around the array and the header that arenaut_plan_model makes. */
#include <stdint.h>
#include <stdio.h>

#include "planned/model.h"

extern const unsigned char model_model[];
extern const size_t model_model_size;

static _Alignas(16) uint8_t arena[MODEL_TENSOR_ARENA_BYTES];

void app_main(void) {
    /* newlib-nano knows no %zu. */
    printf("a model of %lu bytes that begins with %.4s, an arena of %lu\n",
           (unsigned long)model_model_size, (const char *)model_model + 4,
           (unsigned long)sizeof arena);
#define NAME(op) puts(#op);
    MODEL_RESOLVER_OPS(NAME)
}
