/* The name of a file, of the path that it was given by. */
#ifndef ARN_CORE_FILE_NAME_H
#define ARN_CORE_FILE_NAME_H

#include <stddef.h>

/* The length of a path's folder with the separator, 0 if it has none: the rule of the command's
 * os_folder_length (tools/os.h), which cannot call this one where the library is a DLL. */
static inline size_t arn_folder_length(const char *path) {
    size_t length = 0;
#ifdef _WIN32
    if (path[0] && path[1] == ':') length = 2; /* a drive: elsewhere a colon ends no folder */
#endif
    for (size_t i = length; path[i]; i++) {
        if (path[i] == '/') length = i + 1;
#ifdef _WIN32
        if (path[i] == '\\') length = i + 1;
#endif
    }
    return length;
}

/* "net.tflite" of "models/net.tflite"; a path that ends in a folder as it is. */
static inline const char *arn_file_name(const char *path) {
    const char *name = path + arn_folder_length(path);
    return *name ? name : path;
}

#endif
