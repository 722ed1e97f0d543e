/* config/plugin.h - families of named things with options of their own: "transforms=a,b" and all
 * that stands behind "transforms.a." and "transforms.b."; predicates and routes likewise. */
#ifndef WR_CONFIG_PLUGIN_H
#define WR_CONFIG_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

#include "config/property.h"

struct entry;
struct loader;

/* One of a family while it is read. */
struct plugin {
    const char *family; /* "transforms.", "predicates." or "routes." */
    const char *name;
    enum property_scope common_scope; /* of what all of the family have */
    void *common;                     /* the struct of that scope */
    enum property_scope own_scope;
    void *own;
};

/* What the list of that name holds, each once; options that belong to none become problems. */
const char **plugin_names(struct loader *l, const char *list, size_t *count);

/* Applies "type". False when nobody can tell what kind it is; then that is a problem already. */
bool plugin_read_kind(struct loader *l, const struct plugin *p);
/* Everything else, the defaults of both scopes' rows first. */
void plugin_apply_options(struct loader *l, const struct plugin *p);

/* The option that counts, or NULL. */
const struct entry *plugin_option(struct loader *l, const struct plugin *p, const char *name);

#endif /* WR_CONFIG_PLUGIN_H */
