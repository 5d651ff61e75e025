/* Reading and writing documents in tests. The input lies in a block of exactly its size, so that a
 * sanitizer sees any step past its end. */
#ifndef SUPPORT_DOCUMENTS_H
#define SUPPORT_DOCUMENTS_H

#include <arenaut/format.h>

/* `format` may be NULL: then it is recognised. */
arenaut_status try_read(const char *format, const void *data, size_t size,
                        const arenaut_allocator *allocator, arenaut_document *out,
                        arenaut_error *err);
/* Fails the test unless the text can be read. The caller frees the document. */
arenaut_document read_text(const char *format, const char *text);
/* Fails the test unless reading fails with that status and a message that holds `part`. */
void assert_unreadable(const char *format, const char *text, arenaut_status status,
                       const char *part);
/* The whole file, with a NUL behind it; the caller frees it with free(). */
char *load_file(const char *path, size_t *size);
/* The same of a file of tests/data, whose path there is printed. */
char *data_text(size_t *size, const char *format, ...) __attribute__((format(printf, 2, 3)));

arenaut_status try_write(const char *format, const arenaut_document *document,
                         const arenaut_allocator *allocator, arenaut_text *text,
                         arenaut_error *err);
/* Fails the test unless the document can be written. The caller frees the text. */
arenaut_text write_text(const char *format, const arenaut_document *document);

void assert_same_problem(const arenaut_problem *a, const arenaut_problem *b);
void assert_same_program(const arenaut_program *a, const arenaut_program *b);

/* Reads the text cut short at every byte, and with every bit flipped. An accepted text must be
 * writable and then read back equal; nothing may crash. Returns how many of the damaged texts were
 * accepted. */
size_t survives_damage(const char *format, const char *text);

#endif
