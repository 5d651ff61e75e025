/* Folders as inputs. */
#ifndef TOOL_FOLDERS_H
#define TOOL_FOLDERS_H

#include "args.h"

/* Puts in place of each folder among options->files every file below it that a reader knows,
 * by content, in the order of their paths; links to folders are not followed, and neither the
 * folder of --output nor hidden files are looked into. Says how many others were passed over.
 * Complains where a folder holds none, or where the verb does not take `many` files. */
exit_code expand_folders(bool many, tool_options *options);

#endif
