#include "base/digest.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>

struct wr_digest {
    EVP_MD *algorithm;
    EVP_MD_CTX *context;
};

struct wr_digest *wr_digest_new(const char *name)
{
    EVP_MD *algorithm = EVP_MD_fetch(NULL, name, NULL);

    /* An algorithm without a size of its own (SHAKE) is none of Java's either. */
    if (algorithm == NULL || (EVP_MD_get_flags(algorithm) & EVP_MD_FLAG_XOF) != 0 ||
        EVP_MD_get_size(algorithm) * 2 > WR_DIGEST_HEX_SIZE_MAX) {
        EVP_MD_free(algorithm);
        return NULL;
    }
    struct wr_digest *digest = calloc(1, sizeof(*digest));
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (digest == NULL || context == NULL) {
        abort();
    }
    digest->algorithm = algorithm;
    digest->context = context;
    return digest;
}

void wr_digest_free(struct wr_digest *digest)
{
    if (digest == NULL) {
        return;
    }
    EVP_MD_CTX_free(digest->context);
    EVP_MD_free(digest->algorithm);
    free(digest);
}

size_t wr_digest_hex(struct wr_digest *digest, const struct wr_slice *pieces, size_t count,
                     char out[WR_DIGEST_HEX_SIZE_MAX])
{
    static const char DIGITS[] = "0123456789abcdef";
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    bool ok = EVP_DigestInit_ex(digest->context, digest->algorithm, NULL) == 1;

    for (size_t i = 0; ok && i < count; i++) {
        ok = EVP_DigestUpdate(digest->context, pieces[i].data, pieces[i].size) == 1;
    }
    /* Fails for want of memory alone; and a text that was to be hidden must not go out instead. */
    if (!ok || EVP_DigestFinal_ex(digest->context, bytes, &size) != 1) {
        abort();
    }
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = DIGITS[bytes[i] >> 4];
        out[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    return 2 * (size_t)size;
}
