/* decoder/moment.h - dates and times of the proleptic Gregorian calendar: read, counted, written.
 */
#ifndef WR_DECODER_MOMENT_H
#define WR_DECODER_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

#define US_PER_SECOND INT64_C(1000000)
#define US_PER_DAY    (86400 * US_PER_SECOND)

enum {
    FRACTION_DIGITS_MAX = 6,
    MOMENT_SIZE_MAX = sizeof("+5874897-12-31T23:59:59.999999Z"), /* what moment_put() writes */
};

struct moment {
    int64_t year; /* astronomical: 0 is 1 BC */
    uint32_t month;
    uint32_t day;
    int64_t time_us; /* of the day, US_PER_DAY included */
    bool has_offset;
    int32_t offset_s; /* east of UTC */
};

/*
 * Read what PostgreSQL prints under DateStyle ISO: "2026-05-01", "0044-03-15 BC", "24:00:00",
 * "12:34:56.789012+02", "2026-05-01 12:34:56.789-07:52:58". Only the fields that the text speaks of
 * are set. False for anything else.
 */
bool moment_read_date(struct wr_slice text, struct moment *out);
bool moment_read_time(struct wr_slice text, struct moment *out);      /* an offset may follow */
bool moment_read_timestamp(struct wr_slice text, struct moment *out); /* likewise */

/* Of its date since 1970-01-01. */
int64_t moment_days(const struct moment *m);

/* The moment in UTC, of microseconds since 1970. */
void moment_of_us(int64_t us, struct moment *out);

/* The same instant without its offset; 24:00 is the next day's beginning. */
void moment_to_utc(struct moment *m);

/* "2026-05-01T12:34:56.789012Z" with that many digits of the fraction, as ISO 8601; the end. */
char *moment_put(char *p, const struct moment *m, int32_t fraction_digits);
/* "2026-05-01", with a sign before 0000 and behind 9999. */
char *moment_put_date(char *p, const struct moment *m);
/* "12:34:56.789012". */
char *moment_put_time(char *p, int64_t time_us, int32_t fraction_digits);
/* ".789": the point and the first digits of the fraction; nothing where they are 0 digits. */
char *moment_put_fraction(char *p, int64_t time_us, int32_t digits);

/* How many digits of the fraction are left when the zeros at its end are dropped. */
int32_t moment_fraction_digits(int64_t time_us);

#endif /* WR_DECODER_MOMENT_H */
