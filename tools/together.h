/* --share: several model files as one program, whose methods share buffers. */
#ifndef TOOL_TOGETHER_H
#define TOOL_TOGETHER_H

#include "args.h"
#include "files.h"

/* Whether the files are to be planned as one program. */
bool wants_together(const tool_options *options);

/* Reads all the files and merges what they hold into one document, named after the first
 * file's format. Complains if that cannot be done. */
exit_code read_together(const tool_options *options, arenaut_document *document);

/* "prefill.pt2 + decode.pt2", for messages; freed with free(). */
char *together_label(const tool_options *options);

#endif
