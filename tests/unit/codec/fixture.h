/* fixture.h - values to be written, and what a row's records become. */
#ifndef WR_TESTS_UNIT_CODEC_FIXTURE_H
#define WR_TESTS_UNIT_CODEC_FIXTURE_H

#include "../router/fixture.h"
#include "base/buffer.h"
#include "codec/codec.h"
#include "codec/json.h"
#include "codec/plain.h"

static struct wr_buffer written;

static inline void open_codec(void)
{
    open_fixture();
    wr_buffer_init(&written, 1 << 20);
}

static inline void close_codec(void)
{
    wr_buffer_done(&written);
    close_fixture();
}

static inline struct datum an_int(int64_t value)
{
    return (struct datum){.kind = DATUM_INT, .as.integer = value};
}

static inline struct datum a_string(const char *text)
{
    return (struct datum){.kind = DATUM_STRING, .as.bytes = wr_slice_str(text)};
}

static inline struct datum some_bytes(const char *text)
{
    return (struct datum){.kind = DATUM_BYTES, .as.bytes = wr_slice_str(text)};
}

static inline struct datum a_float(enum datum_kind kind, const char *text)
{
    return (struct datum){.kind = kind, .as.bytes = wr_slice_str(text)};
}

static inline struct datum a_json(const char *text)
{
    return (struct datum){.kind = DATUM_JSON, .as.bytes = wr_slice_str(text)};
}

/* [1, null, "x"] */
static inline struct datum an_array(void)
{
    static struct datum items[3];

    items[0] = an_int(1);
    items[2] = a_string("x");
    return (struct datum){.kind = DATUM_ARRAY, .as.array = {items, 3}};
}

/* {"a": 1, "n\"": null, "b": "x"} */
static inline struct datum a_struct(void)
{
    static struct datum_field fields[] = {
        {.name = {"a", 1}}, {.name = {"n\"", 2}}, {.name = {"b", 1}}};

    fields[0].value = an_int(1);
    fields[2].value = a_string("x");
    return (struct datum){.kind = DATUM_STRUCT, .as.structure = {fields, 3}};
}

#define EXPECT_WRITTEN(expected)                                                                   \
    cr_expect(wr_slice_is(wr_buffer_slice(&written), (expected)), "%.*s instead of %s",            \
              (int)written.size, written.data == NULL ? "" : written.data, (expected))

#endif /* WR_TESTS_UNIT_CODEC_FIXTURE_H */
