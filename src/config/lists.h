/* config/lists.h - lists among the values of a configuration. */
#ifndef WR_CONFIG_LISTS_H
#define WR_CONFIG_LISTS_H

#include <stddef.h>

/* A list of names; the value of a property of type PROPERTY_NAMES. */
struct config_names {
    const char **items;
    size_t count;
};

struct config_pair {
    const char *name;
    const char *value;
};

struct config_pairs {
    struct config_pair *items;
    size_t count;
};

#endif /* WR_CONFIG_LISTS_H */
