/* ExecuTorch programs. The runtime obeys the places in the file, so a plan goes inside by changing
 * these. The parts lie in pte/. */
#include <string.h>

#include "formats/pte/pte.h"

/* Files of other versions are recognised too, so that they are refused by name. */
static bool recognise(const uint8_t *data, size_t size) {
    return size >= 8 && memcmp(data + 4, "ET", 2) == 0 && data[6] >= '0' && data[6] <= '9' &&
           data[7] >= '0' && data[7] <= '9';
}

static arenaut_status read_document(const uint8_t *data, size_t size,
                                    const arenaut_read_options *options,
                                    const arenaut_allocator *allocator, arenaut_document *out,
                                    arenaut_error *err) {
    return arn_pte_read(data, size, size, options, allocator, &out->program, err);
}

extern const arenaut_format arn_format_pte;
const arenaut_format arn_format_pte = {
    .name = "pte",
    .summary = "ExecuTorch program; the plan takes the place of the one inside",
    .extensions = ".pte",
    .recognise = recognise,
    .read = read_document,
    .write = arn_pte_write,
    .needs_original = true,
    .holds_order = true,
    .holds_orders = true,
};
