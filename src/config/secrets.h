/* config/secrets.h - ${env:NAME} and ${file:PATH:KEY}, as Kafka's config providers write them. */
#ifndef WR_CONFIG_SECRETS_H
#define WR_CONFIG_SECRETS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/status.h"

/*
 * Appends `value` to `out` with its references filled in; `has_secret` tells whether it had any.
 * ${file:PATH} without a key is the whole file, less the blanks around it. A brace expression
 * without a provider, as ${routedByValue}, stays as it is. WR_FATAL: a reference leads nowhere;
 * the text names the reference and never its content.
 */
WR_MUST_USE enum wr_status secrets_expand(const char *value, struct wr_buffer *out,
                                          bool *has_secret, struct wr_error *err);

#endif /* WR_CONFIG_SECRETS_H */
