#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/digest.h"
#include "router/column_hash.h"

static struct wr_arena *arena;
static struct column_hash hash;

static void set_up(void)
{
    arena = wr_arena_new(1 << 20);
    hash = (struct column_hash){.digest = wr_digest_new("SHA-256"), .salt = WR_SLICE("CzQMA0cB5K")};
}

static void tear_down(void)
{
    wr_digest_free(hash.digest);
    wr_arena_free(arena);
}

TestSuite(column_hash, .init = set_up, .fini = tear_down);

/* SHA-256 of the salt and of these bytes. */
static void expect_hash_of(const char *text, const char *bytes, size_t size)
{
    char *copy = strdup(text); /* so that a read past its end is seen */
    char expected[WR_DIGEST_HEX_SIZE_MAX];
    const struct wr_slice pieces[] = {hash.salt, {bytes, size}};
    struct wr_slice actual;

    size_t expected_size = wr_digest_hex(hash.digest, pieces, 2, expected);
    cr_assert(column_hash_text(&hash, (struct wr_slice){copy, strlen(text)}, arena, &actual));
    cr_expect(wr_slice_eq(actual, (struct wr_slice){expected, expected_size}));
    free(copy);
}

#define EXPECT_HASH_OF(text, bytes) expect_hash_of((text), bytes, sizeof(bytes) - 1)

Test(column_hash, is_of_the_text_as_java_serializes_it)
{
    EXPECT_HASH_OF("alpha", "\xac\xed\x00\x05t\x00\x05"
                            "alpha");
    EXPECT_HASH_OF("", "\xac\xed\x00\x05t\x00\x00");
    EXPECT_HASH_OF("\xc3\xa9\xe2\x82\xac", "\xac\xed\x00\x05t\x00\x05\xc3\xa9\xe2\x82\xac");
}

Test(column_hash, has_a_pair_of_units_for_what_lies_beyond_the_first_plane)
{
    EXPECT_HASH_OF("a\xf0\x9f\x98\x80"
                   "b",
                   "\xac\xed\x00\x05t\x00\x08"
                   "a\xed\xa0\xbd\xed\xb8\x80"
                   "b");
}

Test(column_hash, of_a_long_text_has_a_size_of_64_bits)
{
    enum { SIZE = 70000 };
    char *text = calloc(1, SIZE + 1);
    char *bytes = malloc(SIZE + 13);

    memset(text, 'x', SIZE);
    memcpy(bytes, "\xac\xed\x00\x05\x7c\x00\x00\x00\x00\x00\x01\x11\x70", 13);
    memset(bytes + 13, 'x', SIZE);
    expect_hash_of(text, bytes, SIZE + 13);
    free(text);
    free(bytes);
}

Test(column_hash, of_version_2_is_of_the_text_alone)
{
    hash.is_v2 = true;
    EXPECT_HASH_OF("alpha", "alpha");
    EXPECT_HASH_OF("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
}
