/* The little that the example asks of its machine. */
#ifndef START_H
#define START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void print(const char *text);
void print_number(uint32_t number);
_Noreturn void leave(bool fine);

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);

#endif
