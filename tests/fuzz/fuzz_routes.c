/*
 * Any text as a template, a list of fields, a condition, or JSON that a path leads into: what is
 * read lies in memory that was asked for, and a fault shows inside the text.
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_path.h"
#include "config/route_text.h"

enum { ARENA_SIZE = 1 << 20 };

/* Reads every byte, so that the sanitizer sees those that are not there. */
static size_t touch(struct wr_slice text)
{
    size_t sum = 0;

    for (size_t i = 0; i < text.size; i++) {
        sum += (unsigned char)text.data[i];
    }
    return sum;
}

static size_t read_templates(struct wr_slice text, struct wr_arena *arena,
                             struct route_text_error *error, bool *is_right)
{
    const struct template_config *list = NULL;
    size_t count = 0;
    size_t sum = 0;

    *is_right = template_list_read(text, arena, &list, &count, error);
    for (size_t i = 0; *is_right && i < count; i++) {
        assert(list[i].piece_count > 0);
        for (size_t j = 0; j < list[i].piece_count; j++) {
            assert(!list[i].pieces[j].is_column || list[i].pieces[j].text.size > 0);
            sum += touch(list[i].pieces[j].text);
        }
    }
    return sum;
}

static size_t read_fields(struct wr_slice text, struct wr_arena *arena,
                          struct route_text_error *error, bool *is_right)
{
    struct document_field *fields = NULL;
    size_t count = 0;
    size_t sum = 0;

    *is_right = document_fields_read(text, arena, &fields, &count, error);
    for (size_t i = 0; *is_right && i < count; i++) {
        assert(fields[i].name.size > 0 && fields[i].source.size > 0);
        sum += touch(fields[i].name) + touch(fields[i].source);
    }
    return sum;
}

static size_t read_condition(struct wr_slice text, struct wr_arena *arena,
                             struct route_text_error *error, bool *is_right)
{
    struct condition_config condition = {0};
    size_t sum = 0;

    *is_right = condition_read(text, arena, &condition, error);
    for (size_t i = 0; *is_right && i < condition.term_count; i++) {
        const struct condition_term *term = &condition.terms[i];
        bool is_null = term->op == CONDITION_NULL || term->op == CONDITION_NOT_NULL;
        assert(term->column.size > 0 && (term->literal_count > 0) == !is_null);
        sum += touch(term->column);
        for (size_t j = 0; j < term->literal_count; j++) {
            sum += touch(term->literals[j].text);
        }
    }
    return sum;
}

static size_t find_in_json(struct wr_slice text)
{
    const struct wr_slice path[] = {WR_SLICE("a"), WR_SLICE("1")};
    struct wr_slice found = {0};
    struct wr_buffer plain;
    size_t sum = 0;

    wr_buffer_init(&plain, ARENA_SIZE);
    for (size_t count = 0; count <= 2; count++) {
        if (wr_json_find(text, path, count, &found)) {
            assert(found.data >= text.data && found.data + found.size <= text.data + text.size);
            wr_json_plain(&plain, found);
            sum += touch(found) + plain.size;
        }
    }
    wr_buffer_done(&plain);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile size_t sink;
    struct route_text_error error = {0};
    bool is_right = true;

    if (size == 0) {
        return 0;
    }
    char *exact = malloc(size);
    memcpy(exact, data + 1, size - 1);
    const struct wr_slice text = {exact, size - 1};
    struct wr_arena *arena = wr_arena_new(ARENA_SIZE);
    switch (data[0] % 4) {
    case 0:
        sink += read_templates(text, arena, &error, &is_right);
        break;
    case 1:
        sink += read_fields(text, arena, &error, &is_right);
        break;
    case 2:
        sink += read_condition(text, arena, &error, &is_right);
        break;
    default:
        sink += find_in_json(text);
    }
    assert(is_right || (error.reason != NULL && error.place <= text.size));
    wr_arena_free(arena);
    free(exact);
    return 0;
}
