#include "relay/table_tags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/relation.h"

void table_tags_done(struct table_tags *tags)
{
    for (size_t i = 0; i < tags->count; i++) {
        free(tags->names[i]);
    }
    free(tags->names);
    *tags = (struct table_tags){0};
}

uint32_t table_tags_of(struct table_tags *tags, const struct relation *relation)
{
    char name[256];

    (void)snprintf(name, sizeof(name), "%s.%s", relation->schema, relation->table);
    return table_tags_named(tags, name);
}

uint32_t table_tags_named(struct table_tags *tags, const char *name)
{
    for (size_t i = 0; i < tags->count; i++) {
        if (strcmp(tags->names[i], name) == 0) {
            return (uint32_t)i + 1;
        }
    }
    if (tags->count + 1 >= TABLE_TAG_COUNT_MAX) {
        return 0;
    }
    char **names = realloc(tags->names, (tags->count + 1) * sizeof(*names));
    char *copy = strdup(name);
    if (names == NULL || copy == NULL) {
        abort();
    }
    tags->names = names;
    tags->names[tags->count++] = copy;
    return (uint32_t)tags->count;
}

const char *table_tags_name(const struct table_tags *tags, uint64_t tag)
{
    return tag == 0 || tag > tags->count ? "unknown" : tags->names[tag - 1];
}
