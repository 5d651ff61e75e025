/* Vectors for a Cortex-M that QEMU plays, in front of newlib's own start: that sets up memory and,
 * over semihosting, arguments and output. */
#include <stdint.h>

#define STACK_TOP 0x70000
#define COPROCESSOR_ACCESS 0xE000ED88

void _start(void);

static void reset(void) {
    /* Floating point and vector instructions, where there are some, are off until allowed. */
    *(volatile uint32_t *)COPROCESSOR_ACCESS |= UINT32_C(0xF) << 20;
    __asm__ volatile("dsb\n isb");
    _start();
}

static void fault(void) {
    for (;;) {
    }
}

const void *const vectors[] __attribute__((section(".vectors"), used)) = {
    (const void *)STACK_TOP, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault,     (const void *)fault, (const void *)fault,
};
