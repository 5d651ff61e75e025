/* A kernel-set file through the library: read, write, read. */
#ifndef SUPPORT_KERNELS_ROUND_H
#define SUPPORT_KERNELS_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Property of any bytes: they are refused with a message, or they make a set that can be written,
 * read back as one with the same hash, and written again as the same bytes. Aborts, with a line on
 * standard error, if it does not. True if the bytes were accepted. */
bool kernels_property(const uint8_t *data, size_t size);

#endif
