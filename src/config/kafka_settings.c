#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "config/loader.h"

/*
 * The settings of the producer, and of the sinks' consumers. Those without a prefix count least and
 * producer.override.* most, as a connector's own stand over its worker's, whatever their order in
 * the files. What librdkafka spells as Kafka's Java client does goes through as it is; librdkafka
 * itself checks it.
 */

struct setting {
    const char *name; /* without its prefix */
    const struct entry *entry;
};

struct settings {
    struct loader *loader;
    const char *client; /* "producer." or "consumer." */
    struct config_pairs *out;
    struct setting *items;
    size_t count;
};

static const struct setting *find(const struct settings *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->items[i].name, name) == 0) {
            return &s->items[i];
        }
    }
    return NULL;
}

static const char *value_of(const struct settings *s, const char *name)
{
    const struct setting *setting = find(s, name);

    return setting == NULL ? "" : setting->entry->value;
}

static void put(const struct settings *s, const char *name, const char *value)
{
    loader_pair_set(s->loader, s->out, name, value);
}

/* One of Java's names that librdkafka has not, or has with another meaning. */
struct translation {
    const char *name;
    const char *renamed; /* NULL: without effect, unless `take` knows more */
    void (*take)(const struct settings *s, const struct translation *t,
                 const struct setting *setting);
    const char *advice;
};

static void refuse(const struct settings *s, const struct translation *t,
                   const struct setting *setting)
{
    if (setting->entry->value[0] != '\0') {
        loader_problem(s->loader, setting->entry, "is not supported; %s", t->advice);
    }
}

/* Nothing may be confirmed to PostgreSQL that one broker's death could take back. */
static void take_acks(const struct settings *s, const struct translation *t,
                      const struct setting *setting)
{
    const char *value = setting->entry->value;

    if (strcasecmp(value, "all") != 0 && strcmp(value, "-1") != 0) {
        loader_problem(s->loader, setting->entry,
                       "must be all: with less, Kafka may lose what it has acknowledged");
        return;
    }
    put(s, t->renamed, "all");
}

static void take_kbytes(const struct settings *s, const struct translation *t,
                        const struct setting *setting)
{
    char *end = NULL;
    unsigned long long bytes = strtoull(setting->entry->value, &end, 10);

    bool is_number = setting->entry->value[0] != '-' && end != setting->entry->value;
    if (!is_number || *end != '\0' || bytes > INT32_MAX * 1024ULL) {
        loader_problem(s->loader, setting->entry, "must be a number of bytes");
        return;
    }
    put(s, t->renamed, wr_arena_printf(s->loader->arena, "%llu", (bytes + 1023) / 1024));
}

/* Java's -1 is "the system's default", which is 0 in librdkafka. */
static void take_socket_size(const struct settings *s, const struct translation *t,
                             const struct setting *setting)
{
    const char *value = setting->entry->value;

    put(s, t->renamed, strcmp(value, "-1") == 0 ? "0" : value);
}

static void take_identification(const struct settings *s, const struct translation *t,
                                const struct setting *setting)
{
    const char *value = setting->entry->value;

    put(s, t->renamed, value[0] == '\0' ? "none" : value);
}

static void take_partitioner(const struct settings *s, const struct translation *t,
                             const struct setting *setting)
{
    const char *value = setting->entry->value;
    const char *dot = strrchr(value, '.');

    /* What Java's default partitioner does, walrelay does anyway. */
    if (value[0] != '\0' && strcmp(dot == NULL ? value : dot + 1, "DefaultPartitioner") != 0) {
        refuse(s, t, setting);
    }
}

static void refuse_true(const struct settings *s, const struct translation *t,
                        const struct setting *setting)
{
    if (strcasecmp(setting->entry->value, "false") != 0) {
        refuse(s, t, setting);
    }
}

static void take_truststore(const struct settings *s, const struct translation *t,
                            const struct setting *setting)
{
    if (strcasecmp(value_of(s, "ssl.truststore.type"), "PEM") != 0) {
        loader_problem(s->loader, setting->entry,
                       "must be a PEM file with ssl.truststore.type=PEM beside it; keytool and "
                       "openssl pkcs12 make one of a JKS or PKCS12 store");
        return;
    }
    put(s, t->renamed, setting->entry->value);
}

/* A PEM store holds the certificate and its key. */
static void take_keystore(const struct settings *s, const struct translation *t,
                          const struct setting *setting)
{
    const char *type = value_of(s, "ssl.keystore.type");

    if (strcasecmp(type, "PEM") == 0) {
        put(s, "ssl.certificate.location", setting->entry->value);
        put(s, "ssl.key.location", setting->entry->value);
    } else if (strcasecmp(type, "PKCS12") == 0) {
        put(s, t->renamed, setting->entry->value);
    } else {
        loader_problem(s->loader, setting->entry,
                       "must be a PEM or PKCS12 file with ssl.keystore.type=PEM or PKCS12 beside "
                       "it; keytool makes one of a JKS store");
    }
}

/* The value of NAME="…" in a login module's line, without its quotes; NULL where there is none. */
static const char *jaas_option(struct loader *l, const char *line, const char *name)
{
    const char *found = strstr(line, name);

    while (found != NULL && (found == line || strchr(" \t\r\n", found[-1]) == NULL)) {
        found = strstr(found + 1, name);
    }
    const char *at = found == NULL ? "" : found + strlen(name);
    at += strspn(at, " \t");
    at += *at == '=' ? 1 : 0;
    at += strspn(at, " \t");
    if (*at != '"' && *at != '\'') {
        return NULL;
    }
    char *value = loader_alloc(l, strlen(at) + 1, 1);
    size_t size = 0;
    char quote = *at++;
    while (*at != '\0' && *at != quote) {
        at += *at == '\\' && at[1] != '\0' ? 1 : 0;
        value[size++] = *at++;
    }
    return *at == quote ? value : NULL;
}

static void take_jaas(const struct settings *s, const struct translation *t,
                      const struct setting *setting)
{
    struct loader *l = s->loader;
    const char *line = setting->entry->value;
    bool is_known =
        strstr(line, "PlainLoginModule") != NULL || strstr(line, "ScramLoginModule") != NULL;
    const char *username = jaas_option(l, line, "username");
    const char *password = jaas_option(l, line, "password");

    (void)t;
    if (!is_known || username == NULL || password == NULL) {
        loader_problem(l, setting->entry,
                       "must be of PlainLoginModule or ScramLoginModule, with username=\"…\" and "
                       "password=\"…\"; for others set librdkafka's own sasl.* properties");
        return;
    }
    put(s, "sasl.username", username);
    put(s, "sasl.password", password);
}

static void take_transactional_id(const struct settings *s, const struct translation *t,
                                  const struct setting *setting)
{
    if (s->loader->config->exactly_once) {
        s->loader->config->transactional_id = setting->entry->value;
    } else {
        refuse(s, t, setting);
    }
}

static const struct translation translations[] = {
    {.name = "acks", .renamed = "acks", .take = take_acks},
    {.name = "request.required.acks", .renamed = "acks", .take = take_acks},
    {.name = "max.request.size", .renamed = "message.max.bytes"},
    {.name = "buffer.memory", .renamed = "queue.buffering.max.kbytes", .take = take_kbytes},
    {.name = "delivery.timeout.ms", .renamed = "message.timeout.ms"},
    {.name = "send.buffer.bytes", .renamed = "socket.send.buffer.bytes", .take = take_socket_size},
    {.name = "receive.buffer.bytes",
     .renamed = "socket.receive.buffer.bytes",
     .take = take_socket_size},
    {.name = "fetch.max.wait.ms", .renamed = "fetch.wait.max.ms"},
    {.name = "compression.gzip.level", .renamed = "compression.level"},
    {.name = "compression.lz4.level", .renamed = "compression.level"},
    {.name = "compression.zstd.level", .renamed = "compression.level"},
    {.name = "partitioner.class",
     .take = take_partitioner,
     .advice = "set librdkafka's producer.partitioner"},
    {.name = "partitioner.ignore.keys",
     .take = refuse_true,
     .advice = "set librdkafka's producer.partitioner=random"},
    {.name = "transactional.id",
     .take = take_transactional_id,
     .advice = "leave it out: delivery is at least once"},

    {.name = "ssl.endpoint.identification.algorithm",
     .renamed = "ssl.endpoint.identification.algorithm",
     .take = take_identification},
    {.name = "ssl.truststore.location", .renamed = "ssl.ca.location", .take = take_truststore},
    {.name = "ssl.truststore.certificates", .renamed = "ssl.ca.pem"},
    {.name = "ssl.keystore.location", .renamed = "ssl.keystore.location", .take = take_keystore},
    {.name = "ssl.keystore.certificate.chain", .renamed = "ssl.certificate.pem"},
    {.name = "ssl.keystore.key", .renamed = "ssl.key.pem"},
    {.name = "ssl.engine.factory.class", .take = refuse, .advice = "use ssl.* properties"},
    {.name = "sasl.jaas.config", .take = take_jaas},
    {.name = "sasl.login.callback.handler.class",
     .take = refuse,
     .advice = "use librdkafka's own sasl.* properties"},
    {.name = "sasl.client.callback.handler.class",
     .take = refuse,
     .advice = "use librdkafka's own sasl.* properties"},

    /* Read together with what they belong to. */
    {.name = "ssl.truststore.type"},
    {.name = "ssl.keystore.type"},

    /* Of Java, or of a part that librdkafka does in its own way. */
    {.name = "auto.include.jmx.reporter"},
    {.name = "client.dns.lookup"},
    {.name = "enable.metrics.push"},
    {.name = "interceptor.classes"},
    {.name = "default.api.timeout.ms"},
    {.name = "key.deserializer"},
    {.name = "key.serializer"},
    {.name = "max.block.ms"},
    {.name = "max.poll.records"},
    {.name = "metadata.max.idle.ms"},
    {.name = "metadata.recovery.rebootstrap.trigger.ms"},
    {.name = "metadata.recovery.strategy"},
    {.name = "metric.reporters"},
    {.name = "metrics.num.samples"},
    {.name = "metrics.recording.level"},
    {.name = "metrics.sample.window.ms"},
    {.name = "partitioner.adaptive.partitioning.enable"},
    {.name = "partitioner.availability.timeout.ms"},
    {.name = "retry.backoff.max.ms"},
    {.name = "sasl.login.class"},
    {.name = "security.providers"},
    {.name = "socket.connection.setup.timeout.max.ms"},
    {.name = "ssl.enabled.protocols"},
    {.name = "ssl.keymanager.algorithm"},
    {.name = "ssl.protocol"},
    {.name = "ssl.provider"},
    {.name = "ssl.secure.random.implementation"},
    {.name = "ssl.trustmanager.algorithm"},
    {.name = "ssl.truststore.password"},
    {.name = "value.deserializer"},
    {.name = "value.serializer"},
};

static void translate(const struct settings *s, const struct setting *setting)
{
    for (size_t i = 0; i < sizeof(translations) / sizeof(translations[0]); i++) {
        const struct translation *t = &translations[i];
        if (strcmp(t->name, setting->name) != 0) {
            continue;
        }
        if (t->take != NULL) {
            t->take(s, t, setting);
        } else if (t->renamed != NULL) {
            put(s, t->renamed, setting->entry->value);
        }
        return;
    }
    put(s, setting->name, setting->entry->value);
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

enum level { LEVEL_PLAIN, LEVEL_CLIENT, LEVEL_OVERRIDE };

/* The setting's name when `key` is one of this level; NULL otherwise. */
static const char *name_at(enum level level, const char *client, const char *key)
{
    static const char override[] = "override.";
    const char *own = starts_with(key, client) ? key + strlen(client) : NULL;
    bool is_override = own != NULL && starts_with(own, override);

    switch (level) {
    case LEVEL_PLAIN:
        return strcmp(key, "bootstrap.servers") == 0 || strcmp(key, "security.protocol") == 0 ||
                       strcmp(key, "client.id") == 0 || starts_with(key, "sasl.") ||
                       starts_with(key, "ssl.")
                   ? key
                   : NULL;
    case LEVEL_CLIENT:
        return is_override ? NULL : own;
    case LEVEL_OVERRIDE:
        return is_override ? own + strlen(override) : NULL;
    }
    abort();
}

static void collect(struct settings *s, enum level level)
{
    const struct loader *l = s->loader;

    for (size_t i = 0; i < l->entry_count; i++) {
        const struct entry *e = &l->entries[i];
        const char *name = e->is_overridden ? NULL : name_at(level, s->client, e->key);
        if (name == NULL) {
            continue;
        }
        size_t at = 0;
        while (at < s->count && strcmp(s->items[at].name, name) != 0) {
            at++;
        }
        s->items[at] = (struct setting){.name = name, .entry = e};
        s->count += at == s->count ? 1 : 0;
    }
}

static void apply_client(struct loader *l, const char *client, bool needs_kafka,
                         struct config_pairs *out)
{
    struct settings settings = {.loader = l, .client = client, .out = out};

    settings.items = loader_alloc(l, l->entry_count + 1, sizeof(*settings.items));
    collect(&settings, LEVEL_PLAIN);
    collect(&settings, LEVEL_CLIENT);
    collect(&settings, LEVEL_OVERRIDE);
    /* Connect's connectors do not say where Kafka is, so that one starts without it too. */
    if (needs_kafka && value_of(&settings, "bootstrap.servers")[0] == '\0') {
        put(&settings, "bootstrap.servers", "localhost:9092");
    }
    for (size_t i = 0; i < settings.count; i++) {
        bool is_unset =
            settings.items[i].entry->value[0] == '\0' &&
            strcmp(settings.items[i].name, "ssl.endpoint.identification.algorithm") != 0;
        if (!is_unset) {
            translate(&settings, &settings.items[i]);
        }
    }
}

void kafka_apply(struct loader *l, bool needs_kafka)
{
    size_t problem_count = l->problem_count;

    apply_client(l, "producer.", needs_kafka, &l->config->kafka);
    /* What both share would be complained of twice. */
    if (l->problem_count == problem_count) {
        apply_client(l, "consumer.", needs_kafka, &l->config->kafka_consumer);
    }
}
