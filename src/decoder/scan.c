#include "decoder/scan.h"

static void skip_float(struct scan *s)
{
    if (scan_accept_text(s, "NaN")) {
        return;
    }
    (void)scan_accept(s, '-');
    if (scan_accept_text(s, "Infinity")) {
        return;
    }
    (void)scan_digit_run(s);
    if (scan_accept(s, '.')) {
        (void)scan_digit_run(s);
    }
    if (scan_accept(s, 'e')) {
        (void)(scan_accept(s, '-') || scan_accept(s, '+'));
        (void)scan_digit_run(s);
    }
}

struct wr_slice scan_float(struct scan *s)
{
    const char *start = s->next;

    skip_float(s);
    return (struct wr_slice){start, (size_t)(s->next - start)};
}
