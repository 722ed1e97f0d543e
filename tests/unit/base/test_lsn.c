#include <stdio.h>

#include <criterion/criterion.h>

#include "base/lsn.h"

Test(lsn, reads_what_postgresql_writes)
{
    wr_lsn lsn = 0;

    cr_expect(wr_lsn_parse("16/B374D848", &lsn));
    cr_expect_eq(lsn, UINT64_C(0x16B374D848));
    cr_expect(wr_lsn_parse("0/0", &lsn));
    cr_expect_eq(lsn, 0);
    cr_expect(wr_lsn_parse("FFFFFFFF/FFFFFFFF", &lsn));
    cr_expect_eq(lsn, UINT64_MAX);
    cr_expect(wr_lsn_parse("a/b", &lsn));
    cr_expect_eq(lsn, UINT64_C(0xA0000000B));
}

Test(lsn, refuses_everything_else)
{
    static const char *const wrong[] = {"",     "/",           "0",           "0/",    "/0",
                                        "0/0 ", " 0/0",        "0/0/0",       "0x1/0", "g/0",
                                        "0/-1", "123456789/0", "0/123456789", "0:0",   "-1/0"};
    wr_lsn lsn = 0;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cr_expect_not(wr_lsn_parse(wrong[i], &lsn), "\"%s\"", wrong[i]);
    }
}

Test(lsn, prints_what_it_read)
{
    static const char *const texts[] = {"0/16B3748", "16/B374D848", "FFFFFFFF/1"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        wr_lsn lsn = 0;
        char text[32];
        cr_assert(wr_lsn_parse(texts[i], &lsn));
        snprintf(text, sizeof(text), WR_LSN_FMT, WR_LSN_ARGS(lsn));
        cr_expect_str_eq(text, texts[i]);
    }
}
