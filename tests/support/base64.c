#include "support/base64.h"

#include <string.h>

bool base64_read(const char *text, unsigned char out[BASE64_SIZE_MAX], size_t *size)
{
    static const char ALPHABET[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t digits = strcspn(text, "=");
    unsigned group = 0;

    *size = 0;
    if (strlen(text) % 4 != 0 || digits / 4 * 3 + 3 > BASE64_SIZE_MAX) {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        const char *at = strchr(ALPHABET, text[i]);
        if (at == NULL) {
            return false;
        }
        group = group << 6 | (unsigned)(at - ALPHABET);
        if (i % 4 != 0) {
            out[(*size)++] = (unsigned char)(group >> (6 - i % 4 * 2));
        }
    }
    return true;
}

static void negate(unsigned char *bytes, size_t size)
{
    unsigned carry = 1;

    for (size_t i = size; i-- > 0;) {
        carry += (unsigned char)~bytes[i];
        bytes[i] = (unsigned char)carry;
        carry >>= 8;
    }
}

/* Divides by ten in place; the remainder. */
static unsigned divide(unsigned char *bytes, size_t size)
{
    unsigned rest = 0;

    for (size_t i = 0; i < size; i++) {
        rest = rest << 8 | bytes[i];
        bytes[i] = (unsigned char)(rest / 10);
        rest %= 10;
    }
    return rest;
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

bool base64_decimal(unsigned char *bytes, size_t size, char out[BASE64_DECIMAL_SIZE])
{
    char reversed[BASE64_DECIMAL_SIZE];
    size_t count = 0;
    bool is_negative = bytes[0] >= 0x80;

    if (size > 1 && (bytes[0] == 0 || bytes[0] == 0xff) && (bytes[1] >= 0x80) == is_negative) {
        return false; /* a byte too many */
    }
    if (is_negative) {
        negate(bytes, size);
    }
    do {
        reversed[count++] = (char)('0' + divide(bytes, size));
    } while (!is_zero(bytes, size));
    if (is_negative) {
        reversed[count++] = '-';
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = reversed[count - 1 - i];
    }
    out[count] = '\0';
    return true;
}
