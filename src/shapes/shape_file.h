/* The shape file: sizes that shape inference cannot find, stated by the user. */
#ifndef ARN_SHAPES_SHAPE_FILE_H
#define ARN_SHAPES_SHAPE_FILE_H

#include <arenaut/program.h>

/* Reads a shape file into the program: CSV, a tensor a line, its name, a comma and its sizes
 * ("x,2x3x4"; nothing behind the comma: a single number). A header "name,dims" and lines that
 * begin with '#' are passed over. It counts as if the model stated it; the pass `shapes` goes on
 * from there. BAD_INPUT with the line in err->at for an unknown name. O(size + tensors). */
arenaut_status arn_shapes_read(const char *text, size_t size, arenaut_program *program,
                               arenaut_error *err);

#endif
