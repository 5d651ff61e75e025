/* --pools FILE.toml: the pools of --pool from a file. */
#ifndef TOOL_POOLS_FILE_H
#define TOOL_POOLS_FILE_H

#include "args.h"

/* Puts what the file says into options->pool, as if it came from --pool. */
exit_code read_pools_file(tool_options *options);

#endif
