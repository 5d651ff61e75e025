/* Loads a library of Windows as Python's ctypes does, and finds in it the functions that standard
 * input names: load LIBRARY <NAMES */
#include <stdio.h>
#include <windows.h>

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    const HMODULE library = LoadLibraryExA(
        argv[1], NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR);
    if (!library) {
        printf("%s: error %lu\n", argv[1], (unsigned long)GetLastError());
        return 1;
    }
    char name[256];
    int found = 0, missing = 0;
    while (scanf("%255s", name) == 1) {
        if (GetProcAddress(library, name)) found++;
        else missing += printf("%s: no function %s\n", argv[1], name) > 0;
    }
    printf("%d functions found\n", found);
    return found > 0 && missing == 0 ? 0 : 1;
}
