#include <strings.h>

#include "base/arena.h"
#include "config/loader.h"

static bool is_set_to(const struct loader *l, const char *key, const char *value)
{
    const struct entry *e = loader_find(l, key);

    return e != NULL && strcasecmp(e->value, value) == 0;
}

/*
 * Connect's JsonConverter writes a schema with every key and value unless it is told not to. What
 * is written where no converter is named is walrelay's own, and has schemas only on demand.
 */
static bool schemas_enable(struct loader *l, const char *converter, enum converter_kind kind)
{
    const char *key = wr_arena_printf(l->arena, "%s.schemas.enable", converter);

    if (kind == CONVERTER_JSON) {
        return !is_set_to(l, key, "false");
    }
    return kind == CONVERTER_DEFAULT && is_set_to(l, key, "true");
}

static bool converter_apply(struct loader *l, const char *name, enum converter_kind kind,
                            enum converter_kind delegate)
{
    if (kind == CONVERTER_BINARY_DATA) {
        return schemas_enable(l, wr_arena_printf(l->arena, "%s.delegate.converter.type", name),
                              delegate);
    }
    return schemas_enable(l, name, kind);
}

void converters_apply(struct loader *l)
{
    struct config *config = l->config;

    config->key_schemas_enable =
        converter_apply(l, "key.converter", config->key_converter, config->key_delegate_converter);
    config->value_schemas_enable = converter_apply(l, "value.converter", config->value_converter,
                                                   config->value_delegate_converter);
}
