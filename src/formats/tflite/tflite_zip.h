/* A zip archive behind a model: converters append label files that way. Its directory gives places
 * in the file, which move with a prefix. */
#ifndef ARN_FORMATS_TFLITE_TFLITE_ZIP_H
#define ARN_FORMATS_TFLITE_TFLITE_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct arn_tflite_zip_tail {
    size_t directory; /* where the central directory begins; size of the file: no archive */
    size_t end;       /* where the record that ends it begins */
    uint32_t entries;
    bool large; /* of the 64-bit kind, whose records are not understood here */
} arn_tflite_zip_tail;

/* Looks for an archive that ends where the file ends and whose places count from the
 * file's start. O(entries). */
arn_tflite_zip_tail arn_tflite_zip_find(const uint8_t *data, size_t size);

/* Adds `delta` (modulo 2^32, so that it may go back) to every place that `tail`, a copy of
 * the file from the directory on, holds. */
void arn_tflite_zip_move(uint8_t *tail, const arn_tflite_zip_tail *zip, uint32_t delta);

#endif
