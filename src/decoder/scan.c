#include "decoder/scan.h"

struct wr_slice scan_float(struct scan *s)
{
    const char *start = s->next;

    if (!scan_accept_text(s, "NaN")) {
        (void)scan_accept(s, '-');
        if (!scan_accept_text(s, "Infinity")) {
            (void)scan_digit_run(s);
            if (scan_accept(s, '.')) {
                (void)scan_digit_run(s);
            }
            if (scan_accept(s, 'e')) {
                (void)(scan_accept(s, '-') || scan_accept(s, '+'));
                (void)scan_digit_run(s);
            }
        }
    }
    return (struct wr_slice){start, (size_t)(s->next - start)};
}
