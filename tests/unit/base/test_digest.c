#include <criterion/criterion.h>

#include "base/digest.h"

static void expect_digest(const char *name, const char *one, const char *other,
                          const char *expected)
{
    struct wr_digest *digest = wr_digest_new(name);
    const struct wr_slice pieces[] = {wr_slice_str(one), wr_slice_str(other)};
    char hex[WR_DIGEST_HEX_SIZE_MAX];

    cr_assert_not_null(digest, "%s", name);
    for (int round = 0; round < 2; round++) {
        size_t size = wr_digest_hex(digest, pieces, 2, hex);
        cr_expect(wr_slice_is((struct wr_slice){hex, size}, expected), "%s: %.*s", name, (int)size,
                  hex);
    }
    wr_digest_free(digest);
}

Test(digest, is_known_by_javas_names)
{
    expect_digest("MD5", "a", "bc", "900150983cd24fb0d6963f7d28e17f72");
    expect_digest("SHA-1", "ab", "c", "a9993e364706816aba3e25717850c26c9cd0d89d");
    expect_digest("SHA-256", "a", "bc",
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect_digest("sha-256", "abc", "",
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect_digest("SHA-512/256", "", "abc",
                  "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23");
    expect_digest("SHA3-256", "a", "bc",
                  "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532");
    expect_digest("SHA-512", "pepper", "a",
                  "f6efd1a465f52612c77065e6b0ec8e524af7ab0b9380ff1baf515d0a9642bc7c642a727d33c30d3"
                  "faf9c2329f42bc3cb689d3b6a3be5ccec4e403cb88d440386");
}

Test(digest, is_none_of_an_unknown_name)
{
    cr_expect_null(wr_digest_new("SHA-257"));
    cr_expect_null(wr_digest_new(""));
    cr_expect_null(wr_digest_new("SHAKE256"));
}
