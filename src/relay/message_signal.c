#include "relay/message_signal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/digest.h"
#include "config/config.h"
#include "relay/signal.h"

enum { SIGNATURE_SIZE = 64 };

static const char *secret_of(const struct config *config)
{
    const char *secret = config->signal_message_secret;

    for (size_t i = 0; secret == NULL && i < config->database.count; i++) {
        if (strcmp(config->database.items[i].name, "password") == 0) {
            secret = config->database.items[i].value;
        }
    }
    return secret == NULL || secret[0] == '\0' ? NULL : secret;
}

/* As HMAC: a digest of a digest, so that nothing can be added to what was signed. */
static void sign(const char *secret, struct wr_slice json, char out[WR_DIGEST_HEX_SIZE_MAX])
{
    struct wr_digest *digest = wr_digest_new("SHA-256");
    const struct wr_slice inner[] = {WR_SLICE("walrelay inner "), wr_slice_str(secret),
                                     WR_SLICE(" "), json};

    if (digest == NULL) {
        abort();
    }
    size_t size = wr_digest_hex(digest, inner, 4, out);
    char hex[WR_DIGEST_HEX_SIZE_MAX];
    memcpy(hex, out, size);
    const struct wr_slice outer[] = {
        WR_SLICE("walrelay outer "), wr_slice_str(secret), WR_SLICE(" "), {hex, size}};
    (void)wr_digest_hex(digest, outer, 4, out);
    wr_digest_free(digest);
}

void message_signal_write(const struct config *config, struct wr_slice json, struct wr_buffer *out)
{
    const char *secret = secret_of(config);
    char signature[WR_DIGEST_HEX_SIZE_MAX] = "-";

    if (secret != NULL) {
        sign(secret, json, signature);
    }
    wr_buffer_add(out, signature, secret == NULL ? 1 : SIGNATURE_SIZE);
    wr_buffer_add_char(out, ' ');
    wr_buffer_add_slice(out, json);
}

/* As long whatever is wrong, so that nothing is learnt from the time it takes. */
static bool is_signed(const char *secret, struct wr_slice signature, struct wr_slice json)
{
    char expected[WR_DIGEST_HEX_SIZE_MAX];
    unsigned difference = 0;

    sign(secret, json, expected);
    for (size_t i = 0; signature.size == SIGNATURE_SIZE && i < SIGNATURE_SIZE; i++) {
        difference |= (unsigned)(signature.data[i] ^ expected[i]);
    }
    return signature.size == SIGNATURE_SIZE && difference == 0;
}

enum wr_status message_signal_read(const struct config *config, struct wr_slice content,
                                   struct wr_arena *arena, struct signal *out, struct wr_error *err)
{
    const char *secret = secret_of(config);
    const char *blank = content.size == 0 ? NULL : memchr(content.data, ' ', content.size);

    if (blank == NULL) {
        return wr_fail(err, WR_REJECT, "signal", "a message that is none of `walrelay snapshot`");
    }
    struct wr_slice signature = {content.data, (size_t)(blank - content.data)};
    struct wr_slice json = {blank + 1, content.size - signature.size - 1};
    if (secret != NULL && !is_signed(secret, signature, json)) {
        return wr_fail(err, WR_REJECT, "signal",
                       "a message that is not signed with the secret of this relay "
                       "(signal.message.secret, else database.password)");
    }
    enum wr_status status = signal_read_whole(json, arena, out, err);
    if (status == WR_OK && secret == NULL && out->kind == SIGNAL_EXECUTE_SNAPSHOT &&
        out->condition_count > 0) {
        return wr_fail(err, WR_REJECT, "signal",
                       "a condition comes by a message only with signal.message.secret, or a "
                       "database.password, since anybody could have sent it");
    }
    return status;
}
