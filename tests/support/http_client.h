/* support/http_client.h - the test's own requests to a server that speaks HTTP. */
#ifndef WR_TEST_HTTP_CLIENT_H
#define WR_TEST_HTTP_CLIENT_H

/*
 * The body of the answer, in static storage until the next call but one; `body` NULL sends none.
 * Aborts the test when no answer comes. The status goes to `status`, unless that is NULL.
 */
const char *http_ask(const char *method, const char *url, const char *body, long *status);

#endif /* WR_TEST_HTTP_CLIENT_H */
