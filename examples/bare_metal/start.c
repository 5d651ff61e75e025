/* Start-up code of a Cortex-M3: the vectors, memory in its first state; and, for want
 * of anything to print on, ARM semihosting, which QEMU and debuggers serve. */
#include "start.h"

extern uint32_t data_start[], data_end[], data_image[], bss_start[], bss_end[];
extern char stack_top[];
int main(void);
void reset(void);

enum { SYS_WRITE0 = 0x04, SYS_EXIT = 0x18, EXIT_FINE = 0x20026, EXIT_ERROR = 0x20023 };

static void semihost(uint32_t call, uintptr_t argument) {
    register uint32_t r0 __asm__("r0") = call;
    register uintptr_t r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void print(const char *text) { semihost(SYS_WRITE0, (uintptr_t)text); }

void print_number(uint32_t number) {
    char text[11];
    char *at = text + sizeof text - 1;
    *at = '\0';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    print(at);
}

void leave(bool fine) {
    semihost(SYS_EXIT, fine ? EXIT_FINE : EXIT_ERROR);
    for (;;) {
    }
}

/* The compiler may call these for code that it recognises as a copy. */
void *memcpy(void *to, const void *from, size_t n) {
    for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *memset(void *to, int byte, size_t n) {
    for (size_t i = 0; i < n; i++) ((char *)to)[i] = (char)byte;
    return to;
}

void reset(void) {
    for (uint32_t *to = data_start, *from = data_image; to < data_end;) *to++ = *from++;
    for (uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
    leave(main() == 0);
}

static void fault(void) {
    print("hard fault\n");
    leave(false);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    stack_top,
    (const void *)reset,
    (const void *)fault,
    (const void *)fault,
};
