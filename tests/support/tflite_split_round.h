/* The property of split files, for tests and fuzzing: a .tflite file, split, planned and stripped.
 */
#ifndef SUPPORT_TFLITE_SPLIT_ROUND_H
#define SUPPORT_TFLITE_SPLIT_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The property of any bytes: of tile groups drawn from the bytes, each is refused with a
 * message, or gives a program that the checker accepts; one of these is planned, written and
 * stripped to the file again. Aborts, with a line on standard error, if it does not. True if
 * anything could be split. */
bool tflite_split_property(const uint8_t *data, size_t size);

#endif
