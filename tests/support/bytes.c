#include "support/bytes.h"

#include <stdlib.h>

#include "support/test.h"

bytes copy_bytes(const void *data, size_t size) {
    bytes b = {malloc(size ? size : 1), size};
    assert_non_null(b.data);
    if (size) memcpy(b.data, data, size);
    return b;
}

bytes read_bytes(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    bytes b = {malloc(size ? (size_t)size : 1), (size_t)size};
    assert_non_null(b.data);
    assert_int_equal(fread(b.data, 1, b.size, file), b.size);
    fclose(file);
    return b;
}

void free_bytes(bytes *b) {
    free(b->data);
    b->data = NULL;
    b->size = 0;
}

void print_data_path(char path[DATA_PATH_LIMIT], const char *format, va_list list) {
    static const char folder[] = TEST_DATA "/";
    const size_t n = sizeof folder - 1, room = DATA_PATH_LIMIT - n;
    memcpy(path, folder, n);
    assert_true((size_t)vsnprintf(path + n, room, format, list) < room);
}

bytes data_bytes(const char *format, ...) {
    char path[DATA_PATH_LIMIT];
    va_list list;
    va_start(list, format);
    print_data_path(path, format, list);
    va_end(list);
    return read_bytes(path);
}
