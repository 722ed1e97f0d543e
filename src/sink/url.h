/* sink/url.h - a target's URL, taken apart. */
#ifndef WR_SINK_URL_H
#define WR_SINK_URL_H

#include "base/slice.h"
#include "base/status.h"

struct wr_arena;

/* All texts are decoded and end with a NUL; what is not there is "", a missing port 0. */
struct sink_url {
    const char *scheme; /* in small letters */
    const char *user, *password;
    const char *host; /* without the brackets of IPv6 */
    int port;
    const char *path;  /* with its first slash, as it was written */
    const char *query; /* behind the question mark, as it was written */
};

/* "scheme://[user[:password]@]host[:port][/path][?query]". The texts are the arena's. WR_FATAL
 * with a reason that never shows the URL, since that may hold a password. */
WR_MUST_USE enum wr_status sink_url_parse(const char *text, struct wr_arena *arena,
                                          struct sink_url *out, struct wr_error *err);

#endif /* WR_SINK_URL_H */
