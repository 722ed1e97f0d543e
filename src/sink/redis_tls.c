#include "sink/redis_tls.h"

#include <arpa/inet.h>
#include <assert.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>

#include "config/route_config.h"
#include "sink/sink.h"
#include "sink/url.h"

struct redis_tls {
    SSL_CTX *context;
    SSL *ssl;
    const struct sink_setup *setup;
};

static const char *reason(void)
{
    unsigned long code = ERR_peek_last_error();
    const char *text = ERR_reason_error_string(code);

    return text == NULL ? "no reason given" : text;
}

static enum wr_status trust(struct redis_tls *tls, struct wr_error *err)
{
    const struct sink_config *sink = &tls->setup->route->sink;

    if (!sink->tls_verify) {
        return WR_OK;
    }
    int taken = sink->tls_ca == NULL
                    ? SSL_CTX_set_default_verify_paths(tls->context)
                    : SSL_CTX_load_verify_locations(tls->context, sink->tls_ca, NULL);
    SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
    if (taken == 1) {
        return WR_OK;
    }
    return wr_fail(err, WR_FATAL, "redis", "%s: no certificates can be read from it (%s)",
                   sink->tls_ca == NULL ? "the system's store" : sink->tls_ca, reason());
}

/* A name in the certificate has to be the host's; an address is one of its own kind. */
static void expect_host(struct redis_tls *tls)
{
    const char *host = tls->setup->url->host;
    unsigned char address[16];

    bool is_address =
        inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
    if (is_address) {
        (void)X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls->ssl), host);
    } else {
        /* SSL_set_tlsext_host_name(), whose macro casts a const away. */
        (void)SSL_ctrl(tls->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                       (void *)(uintptr_t)host);
        (void)SSL_set1_host(tls->ssl, host);
    }
}

enum wr_status redis_tls_new(int fd, const struct sink_setup *setup, struct redis_tls **out,
                             struct wr_error *err)
{
    struct redis_tls *tls = calloc(1, sizeof(*tls));

    assert(tls != NULL);
    *out = tls; /* the link's, also when this fails */
    tls->setup = setup;
    ERR_clear_error();
    tls->context = SSL_CTX_new(TLS_client_method());
    assert(tls->context != NULL);
    (void)SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
    (void)SSL_CTX_set_mode(tls->context,
                           SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    enum wr_status status = trust(tls, err);
    if (status != WR_OK) {
        return status;
    }
    tls->ssl = SSL_new(tls->context);
    assert(tls->ssl != NULL);
    (void)SSL_set_fd(tls->ssl, fd);
    expect_host(tls);
    return WR_OK;
}

void redis_tls_free(struct redis_tls *tls)
{
    if (tls != NULL) {
        SSL_free(tls->ssl);
        SSL_CTX_free(tls->context);
        free(tls);
    }
}

/* What OpenSSL waits for; 0: it does not wait, the connection is lost. */
static short wanted(const struct redis_tls *tls, int result)
{
    int code = SSL_get_error(tls->ssl, result);

    if (code == SSL_ERROR_WANT_READ) {
        return POLLIN;
    }
    return code == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
}

enum wr_status redis_tls_connect(struct redis_tls *tls, short *events, struct wr_error *err)
{
    const struct sink_url *url = tls->setup->url;

    ERR_clear_error();
    int result = SSL_connect(tls->ssl);
    if (result == 1) {
        return WR_OK;
    }
    *events = wanted(tls, result);
    if (*events != 0) {
        return WR_AGAIN;
    }
    long verified = SSL_get_verify_result(tls->ssl);
    if (verified != X509_V_OK) {
        return wr_fail(err, WR_FATAL, "redis",
                       "Redis at %s: its certificate is not trusted: %s; name its authority's with "
                       "sink.tls.ca.location",
                       url->host, X509_verify_cert_error_string(verified));
    }
    return wr_fail(err, WR_RETRY, "redis", "Redis at %s: no TLS connection (%s)", url->host,
                   reason());
}

ssize_t redis_tls_write(struct redis_tls *tls, struct wr_slice bytes, short *events)
{
    size_t size = 0;

    ERR_clear_error();
    int result = SSL_write_ex(tls->ssl, bytes.data, bytes.size, &size);
    if (result == 1) {
        return (ssize_t)size;
    }
    short more = wanted(tls, result);
    *events |= more;
    return more == 0 ? -1 : 0;
}

ssize_t redis_tls_read(struct redis_tls *tls, char *bytes, size_t size, short *events)
{
    size_t got = 0;

    ERR_clear_error();
    int result = SSL_read_ex(tls->ssl, bytes, size, &got);
    if (result == 1) {
        return (ssize_t)got;
    }
    short more = wanted(tls, result);
    *events |= more;
    return more == 0 ? -1 : 0;
}
