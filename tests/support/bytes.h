/* Whole files in memory. */
#ifndef SUPPORT_BYTES_H
#define SUPPORT_BYTES_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bytes {
    uint8_t *data; /* exactly `size` bytes, so that a sanitizer sees a read past the end */
    size_t size;
} bytes;

/* These fail the test rather than return an error. */
bytes read_bytes(const char *path);
bytes copy_bytes(const void *data, size_t size);
void free_bytes(bytes *b);

/* The path of a file of tests/data, printed. */
enum { DATA_PATH_LIMIT = 1024 };
void print_data_path(char path[DATA_PATH_LIMIT], const char *format, va_list list);

/* A file of tests/data, whose path there is printed. */
bytes data_bytes(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
