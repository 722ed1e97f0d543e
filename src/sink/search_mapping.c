#include "sink/search_mapping.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/json_path.h"
#include "config/route_config.h"

/*
 * Every value is stored as it is, whatever its field is mapped to; the mapping is what is searched.
 * What a field's type cannot take (NaN, infinity, years beyond the calendar) is stored and not
 * searched: ignore_malformed. Text longer than Lucene's longest term is left out of the exact form
 * alone. JSON is stored only: its keys would become fields without end.
 */
#define AS_TEXT                                                                                    \
    "{\"type\":\"text\",\"fields\":{\"keyword\":{\"type\":\"keyword\",\"ignore_above\":8191}}}"
#define AS_KEYWORD "{\"type\":\"keyword\",\"ignore_above\":8191}"
#define AS_DATE    "{\"type\":\"date\",\"ignore_malformed\":true}"
#define AS_DOUBLE  "{\"type\":\"double\",\"ignore_malformed\":true}"
#define AS_STORED  "{\"type\":\"object\",\"enabled\":false}"

static const struct {
    const char *type;
    const char *mapping;
} mappings[] = {
    {"text", AS_TEXT},
    {"character varying", AS_TEXT},
    {"varchar", AS_TEXT},
    {"citext", AS_TEXT},
    {"boolean", "{\"type\":\"boolean\"}"},
    {"bool", "{\"type\":\"boolean\"}"},
    {"smallint", "{\"type\":\"integer\"}"},
    {"int2", "{\"type\":\"integer\"}"},
    {"integer", "{\"type\":\"integer\"}"},
    {"int4", "{\"type\":\"integer\"}"},
    {"bigint", "{\"type\":\"long\"}"},
    {"int8", "{\"type\":\"long\"}"},
    {"oid", "{\"type\":\"long\"}"},
    {"numeric", AS_DOUBLE},
    {"money", AS_DOUBLE},
    {"real", AS_DOUBLE},
    {"float4", AS_DOUBLE},
    {"double precision", AS_DOUBLE},
    {"float8", AS_DOUBLE},
    {"date", AS_DATE},
    {"timestamp", AS_DATE},
    {"timestamp without time zone", AS_DATE},
    {"timestamptz", AS_DATE},
    {"timestamp with time zone", AS_DATE},
    {"bytea", "{\"type\":\"binary\"}"},
    {"json", AS_STORED},
    {"jsonb", AS_STORED},
    {"hstore", AS_STORED},
    {"vector", AS_STORED},
    {"halfvec", AS_STORED},
};

/* "numeric(10,2)[]" is numeric, and an array is mapped as what is in it. "timestamp(3) with time
 * zone" has words behind its number. */
static void base_type(struct wr_slice type, char *out, size_t size)
{
    size_t used = 0;
    bool is_inside = false;

    for (size_t i = 0; i < type.size && used + 1 < size; i++) {
        char c = type.data[i];
        is_inside = is_inside || c == '(';
        if (!is_inside && c != '[' && c != ']' && c != '"') {
            out[used++] = c;
        }
        is_inside = is_inside && c != ')';
    }
    out[used] = '\0';
}

static const char *mapping_of(struct wr_slice type)
{
    char name[128];

    base_type(type, name, sizeof(name));
    for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++) {
        if (strcmp(mappings[i].type, name) == 0) {
            return mappings[i].mapping;
        }
    }
    return AS_KEYWORD;
}

/* Names that documents have for themselves, and dots, which make objects of a name. */
static bool is_impossible(struct wr_slice quoted)
{
    static const char *const reserved[] = {"_id",          "_index",
                                           "_source",      "_type",
                                           "_routing",     "_field_names",
                                           "_ignored",     "_version",
                                           "_seq_no",      "_primary_term",
                                           "_size",        "_doc_count",
                                           "_nested_path", "_data_stream_timestamp"};
    struct wr_slice name = {quoted.data + 1, quoted.size - 2};

    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        if (wr_slice_is(name, reserved[i])) {
            return true;
        }
    }
    return name.size == 0 || memchr(name.data, '.', name.size) != NULL;
}

enum wr_status search_properties(struct wr_slice types, struct wr_buffer *out, struct wr_error *err)
{
    struct wr_json_walk walk;
    struct wr_slice name, type;
    bool is_first = true;

    wr_buffer_add_char(out, '{');
    bool is_open = wr_json_walk_start(&walk, types);
    while (is_open && wr_json_walk_next(&walk, &name, &type)) {
        if (is_impossible(name)) {
            return wr_fail(err, WR_REJECT, "search",
                           "a field of a document cannot be named %.*s: give it another name with "
                           "document.fields=column:name",
                           (int)(name.size < 200 ? name.size : 200), name.data);
        }
        if (!is_first) {
            wr_buffer_add_char(out, ',');
        }
        is_first = false;
        wr_buffer_add_slice(out, name);
        wr_buffer_add_char(out, ':');
        wr_buffer_add_str(out, mapping_of(type));
    }
    wr_buffer_add_char(out, '}');
    return WR_OK;
}

static void add_name(struct wr_buffer *out, struct wr_slice name)
{
    for (size_t i = 0; i < name.size; i++) {
        char c = (char)tolower((unsigned char)name.data[i]);
        bool is_bad = (unsigned char)c <= ' ' || strchr("\\/*?\"<>|,#:%&=+", c) != NULL;
        wr_buffer_add_char(out, is_bad ? '_' : c);
    }
}

void search_index_name(const struct template_config *index, struct wr_slice table,
                       struct wr_buffer *out)
{
    const char *dot = memchr(table.data, '.', table.size);
    size_t schema_size = dot == NULL ? 0 : (size_t)(dot - table.data);
    struct wr_slice schema = {table.data, schema_size};
    size_t skipped = dot == NULL ? 0 : schema_size + 1;
    struct wr_slice name = {table.data + skipped, table.size - skipped};
    size_t start = out->size;

    for (size_t i = 0; index != NULL && i < index->piece_count; i++) {
        const struct template_piece *piece = &index->pieces[i];
        bool is_table = piece->is_column && wr_slice_is(piece->text, "table");
        add_name(out, !piece->is_column ? piece->text : is_table ? name : schema);
    }
    if (index == NULL) {
        add_name(out, name);
    }
    /* None may begin with one of these. */
    if (out->size > start && strchr("_-+.", out->data[start]) != NULL) {
        out->data[start] = 'x';
    }
}
