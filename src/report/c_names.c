/* Sanitizer of names and comments of C code: texts of a file go through here, so that no name in a
 * model can become code, or a word that C keeps for itself. */
#include "report/c_names.h"

#include <string.h>

#include "core/file_name.h"

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

arn_c_name arn_c_identifier(const char *text, size_t length, bool upper) {
    enum { ROOM_BEHIND = 24 }; /* for a number that tells equal names apart */
    arn_c_name id;
    size_t n = 0;
    if (length == 0 || !is_letter(text[0])) id.text[n++] = upper ? 'M' : 'm';
    for (size_t i = 0; i < length && n + 1 < sizeof id.text - ROOM_BEHIND; i++) {
        const char c = is_letter(text[i]) || is_digit(text[i]) ? text[i] : '_';
        const bool lower_case = c >= 'a' && c <= 'z', upper_case = c >= 'A' && c <= 'Z';
        if (upper && lower_case) id.text[n++] = (char)(c - 'a' + 'A');
        else if (!upper && upper_case) id.text[n++] = (char)(c - 'A' + 'a');
        else id.text[n++] = c;
    }
    id.text[n] = '\0';
    return id;
}

arn_c_name arn_c_name_of_path(const char *path, bool upper) {
    const char *name = path + arn_folder_length(path);
    return arn_c_identifier(name, strcspn(name, "."), upper);
}

void arn_put_c_comment(arn_writer *out, const char *text) {
    static const char allowed[] = " _-.,:;/+()[]<>=@#%&|~!";
    for (; *text; text++) {
        const bool fine = is_letter(*text) || is_digit(*text) || strchr(allowed, *text);
        arn_put(out, fine ? text : "_", 1);
    }
}

void arn_put_c_path(arn_writer *out, const char *path) {
    arn_put_c_comment(out, path + arn_folder_length(path));
}
