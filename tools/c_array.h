/* Models as firmware has them: arrays of bytes in C source. */
#ifndef TOOL_C_ARRAY_H
#define TOOL_C_ARRAY_H

#include "files.h"

/* Where the input is C source with an array of bytes that is a model, as `export --as c-array`, xxd
 * -i and the generator of tflite-micro write them, the input becomes these bytes; else it stays as
 * it is. */
void input_take_c_array(input_file *input);

#endif
