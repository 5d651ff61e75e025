/* All reports on one result, compared with the promises of every report. */
#ifndef SUPPORT_REPORT_ROUND_H
#define SUPPORT_REPORT_ROUND_H

#include <arenaut/report.h>

/* Property of every report of the table, for several widths: it ends, within a bound that grows
 * with the names and the numbers of things; it is well-formed UTF-8; and nothing in it drives a
 * terminal: no control character but line ends, none that turns the direction of writing. Aborts,
 * with a line on standard error, if it does not. */
void require_sound_reports(const arenaut_result *result);

/* The same for any bytes that a reader accepts and that can be planned. True if a plan was made of
 * them. */
bool report_property(const uint8_t *data, size_t size);

#endif
