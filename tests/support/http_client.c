#include "support/http_client.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <curl/curl.h>

enum { ANSWER_SIZE_MAX = 8 << 20 };

struct answer {
    char *text;
    size_t size;
};

static size_t on_body(char *bytes, size_t one, size_t size, void *context)
{
    struct answer *answer = context;

    cr_assert_lt(answer->size + size, ANSWER_SIZE_MAX);
    memcpy(answer->text + answer->size, bytes, size);
    answer->size += size;
    return one * size;
}

const char *http_ask(const char *method, const char *url, const char *body, long *status)
{
    static char *texts[2];
    static int turn;
    char reason[CURL_ERROR_SIZE] = "";
    long code = 0;

    turn = 1 - turn;
    if (texts[turn] == NULL) {
        texts[turn] = calloc(1, ANSWER_SIZE_MAX + 1);
    }
    struct answer answer = {.text = texts[turn]};
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
    if (body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    CURLcode result = curl_easy_perform(curl);
    cr_assert_eq(result, CURLE_OK, "%s %s: %s", method, url, reason);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    if (status != NULL) {
        *status = code;
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    answer.text[answer.size] = '\0';
    return answer.text;
}
