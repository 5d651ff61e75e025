/* Names and comments of C code that is made from a model. */
#ifndef ARN_REPORT_C_NAMES_H
#define ARN_REPORT_C_NAMES_H

#include "core/writer.h"

typedef struct arn_c_name {
    char text[64];
} arn_c_name;

/* Letters and digits, all else as '_'; a name that would begin with a digit or with an underscore
 * (reserved) gets an 'm' in front. */
arn_c_name arn_c_identifier(const char *text, size_t length, bool upper);

/* "person_detect" of "models/person_detect.tflite", "m" of "models/". */
arn_c_name arn_c_name_of_path(const char *path, bool upper);

/* A string from a file inside a comment: nothing that could end the comment, continue the line, or
 * form a trigraph. */
void arn_put_c_comment(arn_writer *out, const char *text);

/* A path inside a comment, without folders: no two machines differ. */
void arn_put_c_path(arn_writer *out, const char *path);

#endif
