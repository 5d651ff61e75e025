/* A program with the runtime and nothing else of the library. */
#include <arenaut/runtime.h>

int main(void) {
    char block[16];
    const arenaut_span pool[] = {{block, sizeof block}};
    const arenaut_memory_manager memory = arenaut_memory_on_host(pool, 1);
    void *address;
    return arenaut_memory_address(&memory, 0, 8, 8, &address, NULL) == ARENAUT_OK &&
                   address == block + 8
               ? 0
               : 1;
}
