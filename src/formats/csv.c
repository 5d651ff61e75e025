/* csv: the problems that MiniMalloc and its successors exchange, one buffer a line. csv_scan.c
 * takes records, csv_read.c and csv_write.c turn them into problems and back. */
#include "formats/csv.h"

/* By its first line, which must name all the columns that every problem has. */
static bool csv_recognise(const uint8_t *data, size_t size) {
    enum { FARTHEST = 1 << 14 }; /* a header is short; other formats' bytes may be long */
    arn_csv_scanner scanner;
    arn_csv_begin(&scanner, data, size < FARTHEST ? size : FARTHEST);
    if (arn_csv_next(&scanner, NULL) != ARENAUT_OK) return false;
    unsigned seen = 0;
    for (uint32_t i = 0; i < scanner.n_cells; i++) {
        const arn_csv_header *header = arn_csv_header_find(&scanner.cells[i]);
        if (header) seen |= 1u << header->column;
    }
    const unsigned required = (1u << ARN_CSV_REQUIRED) - 1;
    return (seen & required) == required;
}

extern const arenaut_format arn_format_csv;
const arenaut_format arn_format_csv = {
    .name = "csv",
    .summary = "problems of one pool, a buffer a line (MiniMalloc); with offsets also plans",
    .extensions = ".csv",
    .recognise = csv_recognise,
    .read = arn_csv_read,
    .write = arn_csv_write,
};
