/* Reader and writer of arenaut.program/1. */
#ifndef ARN_FORMATS_PROGRAM_JSON_H
#define ARN_FORMATS_PROGRAM_JSON_H

#include <arenaut/format.h>

arenaut_status arn_program_json_read(const uint8_t *data, size_t size,
                                     const arenaut_read_options *options,
                                     const arenaut_allocator *allocator, arenaut_document *out,
                                     arenaut_error *err);

/* The method of a tensor that belongs to all, where a method's name would stand. */
#define ARN_EVERY_METHOD "*"

/* The words of program->given, in the order of arenaut_given_plan. */
static inline const char *arn_program_json_given_word(uint32_t given) {
    static const char *const words[] = {"none", "ours", "foreign"};
    return words[given];
}

#endif
