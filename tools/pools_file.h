/* --pools FILE.toml: the pools of --pool from a file. */
#ifndef TOOL_POOLS_FILE_H
#define TOOL_POOLS_FILE_H

#include "args.h"

/* Puts the file's pools into options->pool, as if they came from --pool. */
exit_code read_pools_file(tool_options *options);

#endif
