/* Any bytes at all, in the place of one pgoutput message: an error or a message, never more. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "decoder/pgoutput.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char sink;

/* Reads every byte, so that AddressSanitizer sees a slice that points astray. */
static void touch(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        sink ^= (unsigned char)bytes[i];
    }
}

static void touch_tuple(const struct tuple *tuple)
{
    assert(tuple->column_count <= WR_COLUMN_COUNT_MAX);
    for (uint16_t i = 0; i < tuple->column_count; i++) {
        if (tuple->cells[i].kind == CELL_TEXT) {
            touch(tuple->cells[i].text.data, tuple->cells[i].text.size);
        }
    }
}

/* Which fields are set depends on the kind; the others are as the decoder found them, zero. */
static void touch_message(const struct message *m)
{
    if (m->kind == MESSAGE_INSERT || m->kind == MESSAGE_UPDATE) {
        touch_tuple(&m->new_tuple);
    }
    if (m->old_kind != OLD_NONE) {
        touch_tuple(&m->old_tuple);
    }
    for (uint32_t i = 0; m->kind == MESSAGE_TRUNCATE && i < m->truncate.count; i++) {
        sink ^= (unsigned char)truncate_oid(m, i);
    }
    if (m->kind == MESSAGE_LOGICAL) {
        touch(m->logical.content.data, m->logical.content.size);
    }
    if (m->kind == MESSAGE_RELATION) {
        for (uint16_t i = 0; i < m->relation->column_count; i++) {
            touch(m->relation->columns[i].name, 1);
        }
        wr_arena_free(m->relation->arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pgoutput decoder;
    const struct wr_slice payload = {(const char *)data, size};

    /* Outside a transaction and inside one: a Begin or a Commit would have made the difference. */
    for (int in_transaction = 0; in_transaction <= 1; in_transaction++) {
        struct message message = {0};
        struct wr_error err = {0};

        pgoutput_init(&decoder);
        decoder.in_transaction = in_transaction == 1;
        if (pgoutput_decode(&decoder, payload, &message, &err) == WR_OK) {
            touch_message(&message);
        } else {
            assert(err.text[0] != '\0');
        }
    }
    return 0;
}
