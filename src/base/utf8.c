#include "base/utf8.h"

#include <assert.h>
#include <stdint.h>

/*
 * The well-formed sequences (table 3-7 of the Unicode standard) differ from one another only in
 * their length and in what the second byte may be:
 *
 *   C2..DF        80..BF
 *   E0            A0..BF  80..BF              below A0 is overlong
 *   E1..EC EE EF  80..BF  80..BF
 *   ED            80..9F  80..BF              above 9F are surrogates
 *   F0            90..BF  80..BF  80..BF      below 90 is overlong
 *   F1..F3        80..BF  80..BF  80..BF
 *   F4            80..8F  80..BF  80..BF      above 8F is past U+10FFFF
 */
static size_t sequence_size(uint8_t lead)
{
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xc2 || lead > 0xf4) {
        return 0;
    }
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

static bool second_is_allowed(uint8_t lead, uint8_t second)
{
    uint8_t least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;

    return second >= least && second <= most;
}

struct wr_utf8 wr_utf8_read(const char *bytes, size_t size)
{
    assert(size > 0);

    const uint8_t *next = (const uint8_t *)bytes;
    size_t wanted = sequence_size(next[0]);
    size_t read = 1;
    while (read < wanted && read < size) {
        bool allowed =
            read == 1 ? second_is_allowed(next[0], next[1]) : (next[read] & 0xc0) == 0x80;
        if (!allowed) {
            break;
        }
        read++;
    }
    return (struct wr_utf8){.size = read, .is_valid = read == wanted};
}
