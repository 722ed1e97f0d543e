#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "config/loader.h"
#include "config/property.h"
#include "config/table_rows.h"

/* Setters of what is asked of the slot's stream, and of the tables before it begins. */

/* What would change the form of the stream that the decoder reads, or is said elsewhere. */
static const char *stream_param_objection(struct wr_slice name)
{
    static const struct {
        const char *name;
        const char *objection;
    } objections[] = {
        {"proto_version", "is 1 here"},
        {"publication_names", "is publication.name"},
        {"binary", "would bring values in binary, which are read as text"},
        {"streaming", "would bring transactions before they are committed"},
        {"two_phase", "would bring transactions that are only prepared"},
    };

    for (size_t i = 0; i < sizeof(objections) / sizeof(objections[0]); i++) {
        if (wr_slice_is(name, objections[i].name)) {
            return objections[i].objection;
        }
    }
    return NULL;
}

/* "name=value;name=value" */
void set_stream_params(struct loader *l, const struct property_match *match, const struct entry *e,
                       void *base)
{
    struct config *config = base;
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice item = {0};

    (void)match;
    while (loader_take_item(&list, ';', &item)) {
        struct wr_slice rest = item, name = {0};
        if (item.size == 0) {
            continue;
        }
        (void)loader_take_item(&rest, '=', &name);
        if (name.size == 0 || rest.size == 0) {
            loader_problem(l, e, "must be name=value and more of them behind ;");
            return;
        }
        const char *objection = stream_param_objection(name);
        if (objection != NULL) {
            loader_problem(l, e, "%.*s is not supported: it %s", (int)name.size, name.data,
                           objection);
            return;
        }
        loader_pair_set(l, &config->slot_stream_params, loader_copy(l, name),
                        loader_copy(l, loader_trim(rest)));
    }
}

static bool starts_with_word(struct wr_slice text, const char *word)
{
    size_t size = strlen(word);

    return text.size > size && strncasecmp(text.data, word, size) == 0 &&
           isspace((unsigned char)text.data[size]);
}

static bool is_word(struct wr_slice text, const char *word)
{
    return text.size == strlen(word) && strncasecmp(text.data, word, text.size) == 0;
}

static bool read_identity(struct loader *l, struct wr_slice text, struct replica_identity_rule *out)
{
    if (is_word(text, "DEFAULT")) {
        out->identity = REPLICA_IDENTITY_DEFAULT;
    } else if (is_word(text, "NOTHING")) {
        out->identity = REPLICA_IDENTITY_NOTHING;
    } else if (is_word(text, "FULL")) {
        out->identity = REPLICA_IDENTITY_FULL;
    } else if (starts_with_word(text, "INDEX")) {
        struct wr_slice index = loader_trim(
            (struct wr_slice){text.data + strlen("INDEX"), text.size - strlen("INDEX")});
        out->identity = REPLICA_IDENTITY_INDEX;
        out->index = loader_copy(l, index);
        return index.size > 0;
    } else {
        return false;
    }
    return true;
}

/* "schema.table:FULL,schema.table:INDEX name", where schema.table is an expression. */
void set_replica_identities(struct loader *l, const struct property_match *match,
                            const struct entry *e, void *base)
{
    struct config *config = base;
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice item = {0};

    (void)match;
    while (loader_take_item(&list, ',', &item)) {
        const char *colon = item.size > 0 ? memrchr(item.data, ':', item.size) : NULL;
        struct replica_identity_rule rule = {0};
        if (item.size == 0) {
            continue;
        }
        size_t size = colon == NULL ? 0 : (size_t)(colon - item.data);
        if (size == 0 ||
            !read_identity(l, loader_trim((struct wr_slice){colon + 1, item.size - size - 1}),
                           &rule)) {
            loader_problem(l, e,
                           "must be schema.table:IDENTITY and more of them behind a comma, where "
                           "IDENTITY is DEFAULT, FULL, NOTHING or INDEX and a name");
            return;
        }
        rule.table = loader_copy(l, (struct wr_slice){item.data, size});
        if (!loader_check_regex(l, e, rule.table)) {
            return;
        }
        config->replica_identities = loader_grow(l, config->replica_identities,
                                                 config->replica_identity_count, sizeof(rule));
        config->replica_identities[config->replica_identity_count++] = rule;
    }
}

/* As in Debezium, the newer name counts where both are given. */
void slot_check(struct loader *l)
{
    const struct entry *mode = loader_find(l, "lsn.flush.mode");

    if (mode != NULL && mode->value[0] != '\0') {
        l->config->flush_lsn_source = true;
    }
}
