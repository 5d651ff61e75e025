/* Property of any bytes that are read as a trace. */
#ifndef SUPPORT_TRACE_ROUND_H
#define SUPPORT_TRACE_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool trace_property(const uint8_t *data, size_t size);

#endif
