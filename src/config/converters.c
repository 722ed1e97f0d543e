#include <strings.h>

#include "base/arena.h"
#include "config/loader.h"

/*
 * Connect's JsonConverter writes a schema with every key and value unless it is told not to. That
 * is not built yet, and nobody should find a topic in another form than the one he asked for: so
 * "schemas.enable=false" has to stand there.
 */
static void check_schemas(struct loader *l, const char *converter, enum converter_kind kind)
{
    const char *key = wr_arena_printf(l->arena, "%s.schemas.enable", converter);
    const struct entry *enable = loader_find(l, key);
    const struct entry *e = loader_find(l, converter);
    bool is_asked_for = enable != NULL && strcasecmp(enable->value, "true") == 0;
    bool is_unset = enable == NULL || enable->value[0] == '\0';

    /* Where no converter is named, that may be because it stands in a file that is not here. */
    if (is_asked_for && (kind == CONVERTER_JSON || kind == CONVERTER_DEFAULT)) {
        loader_problem(l, enable, "is not supported yet; use false");
    } else if (is_unset && kind == CONVERTER_JSON && e != NULL) {
        loader_problem(l, e, "writes schemas, which are not supported yet; add %s=false", key);
    }
}

static void check_converter(struct loader *l, const char *name, enum converter_kind kind,
                            enum converter_kind delegate)
{
    check_schemas(l, name, kind);
    if (kind == CONVERTER_BINARY_DATA) {
        check_schemas(l, wr_arena_printf(l->arena, "%s.delegate.converter.type", name), delegate);
    }
}

void converters_check(struct loader *l)
{
    const struct config *config = l->config;

    check_converter(l, "key.converter", config->key_converter, config->key_delegate_converter);
    check_converter(l, "value.converter", config->value_converter,
                    config->value_delegate_converter);
}
