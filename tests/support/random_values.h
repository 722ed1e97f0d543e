/* support/random_values.h - numbers that a seed gives again, and SQL for values made of them. */
#ifndef WR_TEST_RANDOM_VALUES_H
#define WR_TEST_RANDOM_VALUES_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

/* Any seed; the same one gives the same numbers everywhere. */
struct random random_start(uint64_t seed);
uint64_t random_next(struct random *r);
/* From 0 to `count` - 1. */
int random_below(struct random *r, int count);
/* One time in `count`. */
bool random_once_in(struct random *r, int count);

enum { VALUE_SIZE_MAX = 1024 };

/* Writes an SQL expression, without side effects, of one value. */
typedef void (*value_make)(struct random *r, char out[VALUE_SIZE_MAX]);

void value_make_boolean(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_int2(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_int4(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_int8(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_oid(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_float4(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_float8(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_numeric(struct random *r, char out[VALUE_SIZE_MAX]);     /* of any size */
void value_make_numeric_8_3(struct random *r, char out[VALUE_SIZE_MAX]); /* fits, rounded or not */
void value_make_money(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_text(struct random *r, char out[VALUE_SIZE_MAX]);       /* of any characters */
void value_make_text_10(struct random *r, char out[VALUE_SIZE_MAX]);    /* of ten at most */
void value_make_large_text(struct random *r, char out[VALUE_SIZE_MAX]); /* kept apart by TOAST */
void value_make_json(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_bytes(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_bits(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_bits_12(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_uuid(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_date(struct random *r, char out[VALUE_SIZE_MAX]);          /* 1700 to 2260 */
void value_make_time(struct random *r, char out[VALUE_SIZE_MAX]);          /* to the microsecond */
void value_make_timestamp(struct random *r, char out[VALUE_SIZE_MAX]);     /* as date and time */
void value_make_any_timestamp(struct random *r, char out[VALUE_SIZE_MAX]); /* 4000 BC to 200000 */
void value_make_interval(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_point(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_hstore(struct random *r, char out[VALUE_SIZE_MAX]);
void value_make_int4range(struct random *r, char out[VALUE_SIZE_MAX]);

#endif /* WR_TEST_RANDOM_VALUES_H */
