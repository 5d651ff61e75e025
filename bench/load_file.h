/* A whole file in memory, for programs that measure. */
#ifndef BENCH_LOAD_FILE_H
#define BENCH_LOAD_FILE_H

#include <stdio.h>
#include <stdlib.h>

/* The caller frees it; NULL: it cannot be read. */
static inline unsigned char *load_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    const long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    unsigned char *data = end >= 0 ? malloc((size_t)end + 1) : NULL;
    rewind(file);
    *size = data ? fread(data, 1, (size_t)end, file) : 0;
    fclose(file);
    if (data && *size == (size_t)end) return data;
    free(data);
    return NULL;
}

#endif
