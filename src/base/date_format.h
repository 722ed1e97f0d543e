/* base/date_format.h - moments as text after a pattern of Java's SimpleDateFormat, in UTC. */
#ifndef WR_BASE_DATE_FORMAT_H
#define WR_BASE_DATE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

struct wr_date_format;

/*
 * Compiles `pattern`: y M L d D E u a H k K h m s S z Z X, text in quotes. Refused are the letters
 * of eras and weeks (G Y w W F), and what Java refuses. WR_FATAL with the pattern and the reason.
 * Free with wr_date_format_free.
 */
WR_MUST_USE enum wr_status wr_date_format_new(const char *pattern, struct wr_date_format **out,
                                              struct wr_error *err);
void wr_date_format_free(struct wr_date_format *format); /* NULL is allowed */

/*
 * Appends the moment, in milliseconds since 1970, by the proleptic Gregorian calendar as PostgreSQL
 * has it (Java's changes to the Julian one before 1582). Four S and more are digits of the second's
 * fraction; up to three are its milliseconds. False, with nothing appended, before the year 1.
 */
bool wr_date_format_write(const struct wr_date_format *format, int64_t time_ms,
                          struct wr_buffer *out);

/*
 * Reads what `text` begins with, as SimpleDateFormat.parse(): what comes behind it is ignored, and
 * fields that the pattern lacks are those of 1970-01-01. False when the text does not match, when a
 * field is out of its range (Java would carry it over), and for a year of two digits.
 */
bool wr_date_format_read(const struct wr_date_format *format, struct wr_slice text,
                         int64_t *time_ms);

#endif /* WR_BASE_DATE_FORMAT_H */
