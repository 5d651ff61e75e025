/* Property of any bytes that are read as a program that IREE prints. */
#ifndef SUPPORT_IREE_ROUND_H
#define SUPPORT_IREE_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool iree_property(const uint8_t *data, size_t size);

#endif
