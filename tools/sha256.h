/* SHA-256 (FIPS 180-4) of a block of memory, for --hash. */
#ifndef TOOL_SHA256_H
#define TOOL_SHA256_H

#include <stddef.h>
#include <stdint.h>

/* Writes 64 hexadecimal digits and a NUL. */
void sha256_hex(const uint8_t *data, size_t size, char hex[65]);

#endif
