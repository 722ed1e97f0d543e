#include "sink/http.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <curl/curl.h>

#include "base/buffer.h"
#include "config/route_config.h"
#include "sink/sink.h"
#include "sink/url.h"

enum {
    ADDRESS_SIZE_MAX = 1024,
    URL_SIZE_MAX = 8192,
    ANSWER_SIZE_MAX = 256 << 20,
    BODY_SIZE_MAX = 1 << 30,
    GZIP_BITS = 15 + 16, /* the largest window, and gzip's frame */
    GZIP_MEMORY = 8,     /* zlib's default */
    KEEPALIVE_S = 30,
    CONNECT_TIMEOUT_MS = 10000,
};

struct http {
    CURL *curl;
    const struct sink_setup *setup;
    const char *server;
    const char *header; /* NULL: none of its own */
    char address[ADDRESS_SIZE_MAX];
    char reason[CURL_ERROR_SIZE];
    struct wr_buffer answer;
    struct wr_buffer packed;
    const struct sink_report *report; /* of the request that is under way */
};

static void init_once(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

static size_t on_body(char *bytes, size_t one, size_t size, void *context)
{
    struct http *h = context;

    wr_buffer_add(&h->answer, bytes, one * size);
    return h->answer.failed ? 0 : one * size;
}

/* Called at least once a second; anything but 0 ends the request. */
static int on_progress(void *context, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                       curl_off_t up)
{
    const struct http *h = context;

    (void)down_all;
    (void)down;
    (void)up_all;
    (void)up;
    return h->report != NULL && sink_is_cancelled(h->report) ? 1 : 0;
}

static void set_login(struct http *h)
{
    const struct sink_config *sink = &h->setup->route->sink;
    const char *user = sink->user == NULL ? h->setup->url->user : sink->user;
    const char *password = sink->password == NULL ? h->setup->url->password : sink->password;

    if (h->header == NULL && (user[0] != '\0' || password[0] != '\0')) {
        (void)curl_easy_setopt(h->curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        (void)curl_easy_setopt(h->curl, CURLOPT_USERNAME, user);
        (void)curl_easy_setopt(h->curl, CURLOPT_PASSWORD, password);
    }
}

static void set_trust(struct http *h)
{
    const struct sink_config *sink = &h->setup->route->sink;

    (void)curl_easy_setopt(h->curl, CURLOPT_SSL_VERIFYPEER, sink->tls_verify ? 1L : 0L);
    (void)curl_easy_setopt(h->curl, CURLOPT_SSL_VERIFYHOST, sink->tls_verify ? 2L : 0L);
    if (sink->tls_ca != NULL) {
        (void)curl_easy_setopt(h->curl, CURLOPT_CAINFO, sink->tls_ca);
    }
}

static void set_options(struct http *h)
{
    int64_t timeout_ms = h->setup->route->sink.timeout_ms;
    int64_t connect_ms = timeout_ms < CONNECT_TIMEOUT_MS ? timeout_ms : CONNECT_TIMEOUT_MS;

    (void)curl_easy_setopt(h->curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(h->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(h->curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    (void)curl_easy_setopt(h->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    (void)curl_easy_setopt(h->curl, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(h->curl, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_S);
    (void)curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, h->reason);
    (void)curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, h);
    (void)curl_easy_setopt(h->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    (void)curl_easy_setopt(h->curl, CURLOPT_XFERINFODATA, h);
    (void)curl_easy_setopt(h->curl, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(h->curl, CURLOPT_USERAGENT, "walrelay/" WR_VERSION);
    set_login(h);
    set_trust(h);
}

static void write_address(struct http *h)
{
    const struct sink_url *url = h->setup->url;
    const char *plus = strchr(url->scheme, '+');
    const char *scheme = plus == NULL ? url->scheme : plus + 1;
    bool is_ipv6 = strchr(url->host, ':') != NULL;
    int size = snprintf(h->address, sizeof(h->address), "%s://%s%s%s", scheme, is_ipv6 ? "[" : "",
                        url->host, is_ipv6 ? "]" : "");

    if (url->port != 0 && size > 0 && (size_t)size < sizeof(h->address)) {
        (void)snprintf(h->address + size, sizeof(h->address) - (size_t)size, ":%d", url->port);
    }
}

enum wr_status http_new(const struct sink_setup *setup, const char *server, const char *header,
                        struct http **out, struct wr_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct http *h = calloc(1, sizeof(*h));

    (void)pthread_once(&once, init_once);
    assert(h != NULL);
    *out = NULL;
    h->curl = curl_easy_init();
    if (h->curl == NULL) {
        free(h);
        return wr_fail(err, WR_FATAL, "sink", "libcurl cannot be set up");
    }
    h->setup = setup;
    h->server = server;
    h->header = header;
    wr_buffer_init(&h->answer, ANSWER_SIZE_MAX);
    wr_buffer_init(&h->packed, BODY_SIZE_MAX);
    write_address(h);
    set_options(h);
    *out = h;
    return WR_OK;
}

void http_free(struct http *h)
{
    if (h != NULL) {
        curl_easy_cleanup(h->curl);
        wr_buffer_done(&h->answer);
        wr_buffer_done(&h->packed);
        free(h);
    }
}

const char *http_address(const struct http *h)
{
    return h->address;
}

static enum wr_status pack(struct http *h, struct wr_slice body, struct wr_error *err)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)body.data, .avail_in = (uInt)body.size};

    wr_buffer_reset(&h->packed);
    if (body.size > BODY_SIZE_MAX || deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_BITS,
                                                  GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        return wr_fail(err, WR_FATAL, "sink", "zlib cannot be set up");
    }
    size_t bound = deflateBound(&z, body.size);
    char *place = wr_buffer_reserve(&h->packed, bound);
    int code = Z_MEM_ERROR;
    if (place != NULL) {
        z.next_out = (unsigned char *)place;
        z.avail_out = (uInt)bound;
        code = deflate(&z, Z_FINISH);
        wr_buffer_advance(&h->packed, bound - z.avail_out);
    }
    (void)deflateEnd(&z);
    return code == Z_STREAM_END ? WR_OK
                                : wr_fail(err, WR_FATAL, "sink", "a request cannot be compressed");
}

static struct curl_slist *headers_of(const struct http *h, const struct http_request *request)
{
    char line[256];
    /* Without it large bodies wait for a word of the server first. */
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");

    if (request->content_type != NULL) {
        (void)snprintf(line, sizeof(line), "Content-Type: %s", request->content_type);
        list = curl_slist_append(list, line);
    }
    if (request->is_gzip) {
        list = curl_slist_append(list, "Content-Encoding: gzip");
    }
    return h->header == NULL ? list : curl_slist_append(list, h->header);
}

static enum wr_status no_answer(const struct http *h, CURLcode code, struct wr_error *err)
{
    bool is_distrust = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
                       code == CURLE_SSL_CERTPROBLEM;
    const char *reason = h->reason[0] == '\0' ? curl_easy_strerror(code) : h->reason;

    if (is_distrust) {
        return wr_fail(err, WR_FATAL, "sink",
                       "%s at %s: its certificate is not trusted: %s; name its authority's with "
                       "sink.tls.ca.location",
                       h->server, h->address, reason);
    }
    return wr_fail(err, WR_RETRY, "sink", "%s at %s: %s", h->server, h->address, reason);
}

enum wr_status http_send(struct http *h, const struct http_request *request,
                         const struct sink_report *report, struct http_answer *answer,
                         struct wr_error *err)
{
    char url[URL_SIZE_MAX];
    struct wr_slice body = request->body;
    int size = snprintf(url, sizeof(url), "%s%s", h->address, request->path);

    if (size < 0 || (size_t)size >= sizeof(url)) {
        return wr_fail(err, WR_FATAL, "sink", "%s at %s: the request's path is too long", h->server,
                       h->address);
    }
    if (request->is_gzip) {
        enum wr_status status = pack(h, body, err);
        if (status != WR_OK) {
            return status;
        }
        body = wr_buffer_slice(&h->packed);
    }
    struct curl_slist *headers = headers_of(h, request);
    bool has_body = request->content_type != NULL;
    wr_buffer_reset(&h->answer);
    h->reason[0] = '\0';
    h->report = report;
    (void)curl_easy_setopt(h->curl, CURLOPT_HTTPGET, 1L);
    (void)curl_easy_setopt(h->curl, CURLOPT_URL, url);
    if (has_body) {
        (void)curl_easy_setopt(h->curl, CURLOPT_POST, 1L);
        (void)curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, body.size == 0 ? "" : body.data);
        (void)curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.size);
    }
    (void)curl_easy_setopt(h->curl, CURLOPT_NOBODY, strcmp(request->method, "HEAD") == 0 ? 1L : 0L);
    (void)curl_easy_setopt(h->curl, CURLOPT_CUSTOMREQUEST, request->method);
    (void)curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl_easy_perform(h->curl);
    (void)curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    if (code != CURLE_OK) {
        return no_answer(h, code, err);
    }
    (void)curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    wr_buffer_add_char(&h->answer, '\0');
    answer->body = (struct wr_slice){h->answer.data, h->answer.size - 1};
    return WR_OK;
}
