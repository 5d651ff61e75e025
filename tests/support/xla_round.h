/* Property of any bytes that are read as a dump of XLA's. */
#ifndef SUPPORT_XLA_ROUND_H
#define SUPPORT_XLA_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool xla_property(const uint8_t *data, size_t size);

#endif
