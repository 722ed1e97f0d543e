/* sink/http.h - requests to a server that speaks HTTP, one at a time over one connection. */
#ifndef WR_SINK_HTTP_H
#define WR_SINK_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"
#include "base/status.h"

struct http;
struct sink_report;
struct sink_setup;

struct http_request {
    const char *method;       /* GET, PUT, POST, … */
    const char *path;         /* behind the URL's host, with its query: "/_bulk?refresh=false" */
    const char *content_type; /* NULL: there is no body */
    struct wr_slice body;
    bool is_gzip; /* compress the body on the way */
};

struct http_answer {
    long status;          /* 200, … */
    struct wr_slice body; /* until the next request; it ends with a NUL that is not counted */
};

/*
 * `server` names it in messages: "OpenSearch". The scheme is the URL's, without what stands before
 * a plus: clickhouse+https is https. User and password are the route's, else the URL's; a header
 * line may be given instead ("Authorization: ApiKey …"), NULL otherwise. TLS as the route has it.
 */
WR_MUST_USE enum wr_status http_new(const struct sink_setup *setup, const char *server,
                                    const char *header, struct http **out, struct wr_error *err);
void http_free(struct http *h); /* NULL is allowed */

/*
 * WR_OK: there is an answer, whatever its status says. WR_RETRY: none came, or the records are no
 * longer wanted (`report` may be NULL). WR_FATAL: the server's certificate is not trusted.
 */
WR_MUST_USE enum wr_status http_send(struct http *h, const struct http_request *request,
                                     const struct sink_report *report, struct http_answer *answer,
                                     struct wr_error *err);

/* "http://host:9200", for messages: it never holds a password. */
const char *http_address(const struct http *h);

#endif /* WR_SINK_HTTP_H */
