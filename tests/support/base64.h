/* support/base64.h - base64 as JSON has it, and big integers in it. */
#ifndef WR_TEST_BASE64_H
#define WR_TEST_BASE64_H

#include <stdbool.h>
#include <stddef.h>

enum { BASE64_SIZE_MAX = 256, BASE64_DECIMAL_SIZE = 3 * BASE64_SIZE_MAX };

/* False where it is not base64, or longer than BASE64_SIZE_MAX bytes. */
bool base64_read(const char *text, unsigned char out[BASE64_SIZE_MAX], size_t *size);

/* A big-endian integer in two's complement, not longer than it must be, as decimal text; false
 * where it is longer. Overwrites `bytes`. */
bool base64_decimal(unsigned char *bytes, size_t size, char out[BASE64_DECIMAL_SIZE]);

#endif /* WR_TEST_BASE64_H */
