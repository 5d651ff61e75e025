/* A static program without devices, without a C library: what run.sh links and looks at. */
#include <arenaut/runtime_program.h>

static const arenaut_pool_need needs[] = {{64, 16}};
static const arenaut_place places[] = {{0, 32, 0}, {32, 32, 0}};
static const uint32_t in[] = {0}, out[] = {1};
static const arenaut_static_method methods[] = {{"main", 1, 1, in, out}};
static const arenaut_static_program program = {1, 1, 2, 1, 0, needs, places, methods, NULL};
static _Alignas(16) unsigned char arena[64];

void start(void);
void start(void) {
    const arenaut_span pool[] = {{arena, sizeof arena}};
    const arenaut_memory_manager memory = arenaut_memory_on_host(pool, 1);
    arenaut_instance instance;
    arenaut_span span;
    if (arenaut_instance_init(&instance, &program, 1, &memory, NULL) != ARENAUT_OK ||
        arenaut_instance_begin(&instance, 0, NULL) != ARENAUT_OK ||
        arenaut_instance_input(&instance, 0, &span, NULL) != ARENAUT_OK ||
        arenaut_instance_output(&instance, 0, &span, NULL) != ARENAUT_OK ||
        arenaut_instance_end(&instance, NULL) != ARENAUT_OK)
        arena[0] = 1;
    for (;;) {
    }
}
