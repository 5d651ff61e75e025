/* Loading shared libraries while the program runs, so that drivers are not needed to build. This is
 * the one file of the runtime that calls the system for it, by dlopen or by LoadLibrary. */
#include "runtime/hosted/hosted.h"

#if defined(__unix__) || defined(__APPLE__)
#include <dlfcn.h>
#include <string.h>

void *arn_hosted_library_open(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }

bool arn_hosted_library_find(void *library, const char *const *name, void (**function)(void),
                             size_t n) {
    for (size_t i = 0; i < n; i++) {
        /* ISO C knows no conversion between pointers to data and to code; POSIX says that
         * they look the same. */
        void *const symbol = dlsym(library, name[i]);
        if (!symbol) return false;
        memcpy(&function[i], &symbol, sizeof symbol);
    }
    return true;
}

void arn_hosted_library_close(void *library) { dlclose(library); }

#elif defined(_WIN32)
#include <string.h>
#include <windows.h>

void *arn_hosted_library_open(const char *name) { return LoadLibraryA(name); }

bool arn_hosted_library_find(void *library, const char *const *name, void (**function)(void),
                             size_t n) {
    for (size_t i = 0; i < n; i++) {
        const FARPROC found = GetProcAddress(library, name[i]);
        if (!found) return false;
        memcpy(&function[i], &found, sizeof found);
    }
    return true;
}

void arn_hosted_library_close(void *library) { FreeLibrary(library); }

#else /* no known loader of libraries: as if the library were not here */

void *arn_hosted_library_open(const char *name) {
    (void)name;
    return NULL;
}

bool arn_hosted_library_find(void *library, const char *const *name, void (**function)(void),
                             size_t n) {
    (void)library;
    (void)name;
    (void)function;
    return n == 0;
}

void arn_hosted_library_close(void *library) { (void)library; }
#endif
