#include <string.h>

#include "config/loader.h"
#include "config/table_rows.h"

/* Setters and checks of the properties of signals and notifications. */

/* One of a list of channels. False: it is none that works. */
static bool take_channel(struct loader *l, const struct entry *e, struct wr_slice item,
                         const char *one, bool *is_one, const char *other, bool *is_other)
{
    if (wr_slice_is(item, one)) {
        *is_one = true;
    } else if (wr_slice_is(item, other)) {
        *is_other = true;
    } else {
        loader_problem(l, e, "has \"%.*s\", which is not supported; use %s or %s", (int)item.size,
                       item.data, one, other);
        return false;
    }
    return true;
}

void set_signal_channels(struct loader *l, const struct property_match *match,
                         const struct entry *e, void *base)
{
    struct config *config = base;
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice item = {0};

    (void)match;
    config->signal_by_table = config->signal_by_kafka = false;
    while (loader_take_item(&list, ',', &item)) {
        if (item.size > 0 && !take_channel(l, e, item, "source", &config->signal_by_table, "kafka",
                                           &config->signal_by_kafka)) {
            return;
        }
    }
}

void set_notification_channels(struct loader *l, const struct property_match *match,
                               const struct entry *e, void *base)
{
    struct config *config = base;
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice item = {0};

    (void)match;
    while (loader_take_item(&list, ',', &item)) {
        if (item.size > 0 && !take_channel(l, e, item, "sink", &config->notifies_topic, "log",
                                           &config->notifies_log)) {
            return;
        }
    }
}

void set_signal_table(struct loader *l, const struct property_match *match, const struct entry *e,
                      void *base)
{
    struct config *config = base;
    const char *dot = strchr(e->value, '.');

    (void)match;
    if (dot == NULL || dot == e->value || dot[1] == '\0') {
        loader_problem(l, e, "must be schema.table");
        return;
    }
    config->signal_table = loader_copy(l, wr_slice_str(e->value));
}

void set_signal_consumer(struct loader *l, const struct property_match *match,
                         const struct entry *e, void *base)
{
    struct config *config = base;

    loader_pair_set(l, &config->signal_consumer, loader_copy(l, match->wildcard), e->value);
}

void signals_check(struct loader *l)
{
    struct config *config = l->config;

    if (config->notifies_topic && config->notification_topic == NULL) {
        loader_problem(l, loader_find(l, "notification.enabled.channels"),
                       "has sink, so set notification.sink.topic.name");
    }
}
