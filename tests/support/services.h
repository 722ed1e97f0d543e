/* support/services.h - where the servers are that tests/run started. */
#ifndef WR_TEST_SERVICES_H
#define WR_TEST_SERVICES_H

/* All from the environment: WALRELAY_TEST_PGHOST, …_PGPORT, …_PGUSER, …_BOOTSTRAP, …_BINARY. */
struct services {
    const char *pg_host;
    const char *pg_port;
    const char *pg_user;   /* a superuser without a password */
    const char *bootstrap; /* of Kafka */
    const char *binary;    /* walrelay */
};

/*
 * Skips the running test when the environment names no services; under tests/run, which sets
 * WALRELAY_TEST_REQUIRED, it fails instead.
 */
const struct services *services_or_skip(void);

/* "tests/golden", … as an absolute path, from static storage that the next call overwrites. */
const char *services_source_path(const char *relative);

#endif /* WR_TEST_SERVICES_H */
