/* Reading inputs (files, C arrays, folders), and writing outputs so that half of one is never
 * seen. */
#ifndef TOOL_FILES_H
#define TOOL_FILES_H

#include "args.h"
#include "os.h"
#include "tool.h"

typedef struct input_file {
    const char *path; /* as the user named it */
    const uint8_t *data;
    size_t size;
    bool mapped;
    os_entry entry; /* which file this is; standard input has none */
} input_file;

/* Inputs of unknown size (a pipe, a device, standard input) are read up to here. */
#define INPUT_STREAM_LIMIT (UINT64_C(1) << 30)

/* Reads a file whole ("-" is standard input), or maps it if it is large. Complains and
 * returns EXIT_IO if it cannot. */
exit_code input_open(const char *path, input_file *input);
void input_close(input_file *input);

/* An output under way: bytes go to a temporary file beside the final one. */
typedef struct output_file {
    const char *path;
    char *final_path; /* `path` with symbolic links resolved */
    bool temporary;   /* false: written directly (standard output, a device, a pipe) */
    int fd;
    int error; /* errno of the first write that failed */
    uint64_t written;
    char *buffer; /* bytes not yet written: writers put a few at a time */
    size_t buffered;
    bool force;
} output_file;

/* Whether `path` may be written: complains early, before any work is done, if it exists
 * and `force` is not set, if its folder does not, or if binary would go to a terminal. */
exit_code output_check(const char *path, bool force, bool binary);

/* Standard output, a device or a pipe: their names imply no format. */
bool output_is_direct(const char *path);
/* Whether writing to `path` would replace this very file, by whatever name. */
bool output_is_input(const char *path, const input_file *input);

exit_code output_open(const char *path, bool force, output_file *output);
arenaut_sink output_sink(output_file *output);
/* Syncs and renames. Complains, and leaves nothing behind, if that fails. */
exit_code output_commit(output_file *output);
/* Drops the bytes written so far, and complains: that the output failed or, if it did not, the
 * writer's `reason`, which is about `about`. `reason` may be NULL: it was reported. */
exit_code output_abandon(output_file *output, const char *about, const arenaut_error *reason);

/* Writes all of `text` to standard output. */
exit_code print_text(const arenaut_text *text);

bool is_standard_stream(const char *path); /* "-" */

/* Models as firmware has them: arrays of bytes in C source. */

/* Where the input is C source with an array of bytes that is a model, as `export --as c-array`, xxd
 * -i and the generator of tflite-micro write them, the input becomes these bytes; else it stays as
 * it is. */
void input_take_c_array(input_file *input);

/* Folders as inputs. */

/* Puts in place of each folder among options->files every file below it that a reader knows,
 * by content, in the order of their paths; links to folders are not followed, and neither the
 * folder of --output nor hidden files are looked into. Says how many others were passed over.
 * Complains where a folder holds none, or where the verb does not take `many` files. */
exit_code expand_folders(bool many, tool_options *options);

#endif
