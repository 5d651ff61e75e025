/* The name of a file, of the path that it was given by. */
#ifndef ARN_CORE_FILE_NAME_H
#define ARN_CORE_FILE_NAME_H

#include <stdbool.h>

static inline bool arn_ends_folder(char c) {
#ifdef _WIN32
    return c == '/' || c == '\\' || c == ':';
#else
    return c == '/';
#endif
}

/* "net.tflite" of "models/net.tflite"; a path that ends in a folder as it is. */
static inline const char *arn_file_name(const char *path) {
    const char *name = path;
    for (const char *at = path; *at; at++) {
        if (arn_ends_folder(*at)) name = at + 1;
    }
    return *name ? name : path;
}

#endif
