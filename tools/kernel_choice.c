/* Finding the kernel set that the user names: in the table, else in a file. */
#include "kernel_choice.h"

#include "files.h"

static exit_code unknown_kernels(const char *name) {
    enum { ROOM = 64 };
    const char *names[ROOM];
    size_t n = 0;
    for (; n < arenaut_kernel_set_count() && n < ROOM; n++) {
        names[n] = arenaut_kernel_set_at(n)->name;
    }
    const char *near = nearest(name, names, n);
    return complain(EXIT_USAGE, NULL,
                    "there is neither a kernel set nor a file '%s'%s%s%s ('arenaut kernels' lists "
                    "the sets)",
                    name, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

exit_code choose_kernels(const char *name_or_path, kernel_choice *choice) {
    input_file file = {0};
    arenaut_error err = {0};
    os_entry entry;
    choice->set = arenaut_kernel_set_find(name_or_path);
    if (choice->set) return EXIT_FINE;
    if (!is_standard_stream(name_or_path) && !os_look(name_or_path, &entry)) {
        return unknown_kernels(name_or_path);
    }
    exit_code code = input_open(name_or_path, &file);
    if (code == EXIT_FINE && arenaut_kernel_set_read(file.size ? (const char *)file.data : "",
                                                     file.size, NULL, &choice->owned, &err)) {
        code = complain_error(name_or_path, &err);
    }
    input_close(&file);
    choice->set = choice->owned;
    return code;
}

void kernel_choice_free(kernel_choice *choice) {
    arenaut_kernel_set_free(choice->owned);
    choice->owned = NULL;
}
