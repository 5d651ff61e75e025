/* program-json: whole programs (arenaut.program/1), for tests and for compilers.
 * program_json_read.c and program_json_write.c do the work. */
#include "formats/program_json.h"

#include "formats/json_reader.h"

static bool program_json_recognise(const uint8_t *data, size_t size) {
    return arn_json_has_schema(data, size, "arenaut.program");
}

extern const arenaut_format arn_format_program_json;
const arenaut_format arn_format_program_json = {
    .name = "program-json",
    .summary = "programs: methods, tensors, ops, and where each tensor was placed",
    .extensions = ".program.json",
    .recognise = program_json_recognise,
    .read = arn_program_json_read,
    .holds_order = true,
    .holds_orders = true,
    .holds_repeats = true,
    .write = arn_program_json_write,
};
