#include "config/secrets.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "config/loader.h"
#include "config/properties.h"

enum { REFERENCE_SIZE_MAX = 4096 };

static enum wr_status add_variable(const char *name, struct wr_buffer *out, struct wr_error *err)
{
    const char *value = getenv(name);

    if (value == NULL) {
        return wr_fail(err, WR_FATAL, "config", "environment variable %s is not set", name);
    }
    wr_buffer_add_str(out, value);
    return WR_OK;
}

static bool add_property(struct wr_slice text, const char *key, struct wr_buffer *out)
{
    struct properties_reader reader;
    size_t start = out->size;
    bool is_found = false;

    properties_open(&reader, text);
    while (properties_next(&reader)) {
        if (reader.problem == NULL && strcmp(reader.key.data, key) == 0) {
            out->size = start; /* of two with one key the later counts, as in Java */
            wr_buffer_add_str(out, reader.value.data);
            is_found = true;
        }
    }
    properties_close(&reader);
    return is_found;
}

/* `key` is NULL for the whole file. */
static enum wr_status add_file(const char *path, const char *key, struct wr_buffer *out,
                               struct wr_error *err)
{
    struct wr_buffer file;

    wr_buffer_init(&file, CONFIG_TEXT_SIZE_MAX);
    enum wr_status status = loader_read_file(path, &file, err);
    if (status == WR_OK && file.size > 0 && memchr(file.data, '\0', file.size) != NULL) {
        status = wr_fail(err, WR_FATAL, "config", "secret file %s: is not a text file", path);
    }
    if (status == WR_OK && key == NULL) {
        wr_buffer_add_slice(out, loader_trim(wr_buffer_slice(&file)));
    } else if (status == WR_OK && !add_property(wr_buffer_slice(&file), key, out)) {
        status = wr_fail(err, WR_FATAL, "config", "secret file %s has no key %s", path, key);
    }
    wr_buffer_done(&file);
    return status;
}

/* `reference` is what stands between the braces; it is cut up. */
static enum wr_status add_reference(char *reference, struct wr_buffer *out, struct wr_error *err)
{
    char *rest = strchr(reference, ':');

    *rest++ = '\0';
    if (strcmp(reference, "env") == 0) {
        return add_variable(rest, out, err);
    }
    if (strcmp(reference, "file") == 0) {
        char *key = strchr(rest, ':');
        if (key != NULL) {
            *key++ = '\0';
        }
        return add_file(rest, key, out, err);
    }
    return wr_fail(err, WR_FATAL, "config",
                   "unknown secret provider \"%s\"; use ${env:NAME} or ${file:/path:key}",
                   reference);
}

/* The size of a reference's inside at `text`, which starts with "${"; 0 when it is none. */
static size_t reference_size(const char *text)
{
    size_t word = 0;

    while (isalnum((unsigned char)text[2 + word]) || text[2 + word] == '_') {
        word++;
    }
    const char *end = word > 0 && text[2 + word] == ':' ? strchr(text, '}') : NULL;
    return end == NULL ? 0 : (size_t)(end - (text + 2));
}

enum wr_status secrets_expand(const char *value, struct wr_buffer *out, bool *has_secret,
                              struct wr_error *err)
{
    *has_secret = false;
    while (*value != '\0') {
        size_t size = strncmp(value, "${", 2) == 0 ? reference_size(value) : 0;
        if (size == 0) {
            wr_buffer_add_char(out, *value++);
            continue;
        }
        char reference[REFERENCE_SIZE_MAX] = {0};
        if (size >= sizeof(reference)) {
            return wr_fail(err, WR_FATAL, "config", "a reference to a secret of %zu bytes", size);
        }
        memcpy(reference, value + 2, size);
        *has_secret = true;
        enum wr_status status = add_reference(reference, out, err);
        if (status != WR_OK) {
            return status;
        }
        value += size + 3;
    }
    if (out->failed) {
        return wr_fail(err, WR_FATAL, "config", "is longer than %d bytes", CONFIG_TEXT_SIZE_MAX);
    }
    return WR_OK;
}
