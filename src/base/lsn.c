#include "base/lsn.h"

#include <string.h>

/* One to eight hex digits; returns how many were read, 0 when it is not such a number. */
static size_t parse_half(const char *text, uint32_t *out)
{
    size_t digits = strspn(text, "0123456789abcdefABCDEF");

    *out = 0;
    if (digits > 8) {
        return 0;
    }
    for (size_t i = 0; i < digits; i++) {
        char c = text[i];
        uint32_t digit = c <= '9' ? (uint32_t)(c - '0') : (uint32_t)((c | 0x20) - 'a' + 10);
        *out = *out << 4 | digit;
    }
    return digits;
}

bool wr_lsn_parse(const char *text, wr_lsn *out)
{
    uint32_t high = 0;
    uint32_t low = 0;
    size_t digits = parse_half(text, &high);

    if (digits == 0 || text[digits] != '/') {
        return false;
    }
    text += digits + 1;
    digits = parse_half(text, &low);
    if (digits == 0 || text[digits] != '\0') {
        return false;
    }
    *out = (uint64_t)high << 32 | low;
    return true;
}
