#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/regex.h"

#include <assert.h>
#include <ctype.h>
#include <pcre2.h>
#include <stdlib.h>

struct wr_regex {
    pcre2_code *code;
    pcre2_match_data *match;
};

struct wr_regex_list {
    struct wr_regex **items;
    size_t count;
};

enum wr_status wr_regex_new(const char *pattern, bool ignore_case, struct wr_regex **out,
                            struct wr_error *err)
{
    int code = 0;
    PCRE2_SIZE offset = 0;
    PCRE2_UCHAR reason[128];
    /* ANCHORED and ENDANCHORED make a match what Matcher.matches() is: the whole text. */
    uint32_t options = PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED;

    *out = NULL;
    if (ignore_case) {
        options |= PCRE2_CASELESS;
    }
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &code, &offset, NULL);
    if (compiled == NULL) {
        (void)pcre2_get_error_message(code, reason, sizeof(reason));
        return wr_fail(err, WR_FATAL, "regex",
                       "\"%s\" is not a regular expression: %s at offset %zu", pattern,
                       (const char *)reason, (size_t)offset);
    }
    (void)pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); /* slower without, never wrong */
    struct wr_regex *regex = malloc(sizeof(*regex));
    pcre2_match_data *match = pcre2_match_data_create_from_pattern(compiled, NULL);
    if (regex == NULL || match == NULL) {
        abort();
    }
    *regex = (struct wr_regex){.code = compiled, .match = match};
    *out = regex;
    return WR_OK;
}

void wr_regex_free(struct wr_regex *regex)
{
    if (regex == NULL) {
        return;
    }
    pcre2_match_data_free(regex->match);
    pcre2_code_free(regex->code);
    free(regex);
}

bool wr_regex_matches(const struct wr_regex *regex, struct wr_slice text)
{
    PCRE2_SPTR subject = (PCRE2_SPTR)(text.data == NULL ? "" : text.data);

    return pcre2_match(regex->code, subject, text.size, 0, 0, regex->match, NULL) > 0;
}

/*
 * One reference of a Java replacement, which stands after the '$'. Java takes as many digits as
 * name an existing group, and at least one. Returns the bytes read; 0 when it is no reference to
 * a group of this expression.
 */
static size_t reference_parse(const struct wr_regex *regex, const char *text, uint32_t *group)
{
    uint32_t group_count = 0;

    (void)pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &group_count);
    if (text[0] == '{') {
        char name[33] = {0};
        size_t size = strcspn(text + 1, "}");
        if (text[1 + size] != '}' || size == 0 || size >= sizeof(name)) {
            return 0;
        }
        memcpy(name, text + 1, size);
        int number = pcre2_substring_number_from_name(regex->code, (PCRE2_SPTR)name);
        *group = number > 0 ? (uint32_t)number : 0;
        return number > 0 ? size + 2 : 0;
    }
    if (!isdigit((unsigned char)text[0])) {
        return 0;
    }
    size_t digits = 1;
    *group = (uint32_t)(text[0] - '0');
    while (isdigit((unsigned char)text[digits])) {
        uint32_t longer = *group * 10 + (uint32_t)(text[digits] - '0');
        if (longer > group_count) {
            break;
        }
        *group = longer;
        digits++;
    }
    return *group <= group_count ? digits : 0;
}

bool wr_regex_replace(const struct wr_regex *regex, struct wr_slice text, const char *replacement,
                      struct wr_buffer *out)
{
    if (!wr_regex_matches(regex, text)) {
        return false;
    }
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(regex->match);
    for (const char *next = replacement; *next != '\0'; next++) {
        uint32_t group = 0;
        if (*next == '\\' && next[1] != '\0') {
            next++;
            wr_buffer_add_char(out, *next);
            continue;
        }
        size_t size = *next == '$' ? reference_parse(regex, next + 1, &group) : 0;
        if (size == 0) {
            wr_buffer_add_char(out, *next);
            continue;
        }
        if (ends[2 * group] != PCRE2_UNSET) { /* a group that took no part adds nothing */
            wr_buffer_add(out, text.data + ends[2 * group], ends[2 * group + 1] - ends[2 * group]);
        }
        next += size;
    }
    return true;
}

enum wr_status wr_regex_check_replacement(const struct wr_regex *regex, const char *replacement,
                                          struct wr_error *err)
{
    for (const char *next = replacement; *next != '\0'; next++) {
        uint32_t group = 0;
        if (*next == '\\') {
            if (next[1] == '\0') {
                return wr_fail(err, WR_FATAL, "regex", "replacement \"%s\" ends in a backslash",
                               replacement);
            }
            next++;
            continue;
        }
        if (*next != '$') {
            continue;
        }
        size_t size = reference_parse(regex, next + 1, &group);
        if (size == 0) {
            return wr_fail(err, WR_FATAL, "regex",
                           "replacement \"%s\" names a group that the expression does not have",
                           replacement);
        }
        next += size;
    }
    return WR_OK;
}

/* The end of the list's first expression; "\," is a comma that belongs to it. */
static const char *item_end(const char *text)
{
    while (*text != '\0' && *text != ',') {
        text += text[0] == '\\' && text[1] != '\0' ? 2 : 1;
    }
    return text;
}

static enum wr_status list_add(struct wr_regex_list *list, const char *start, const char *end,
                               struct wr_error *err)
{
    while (start < end && isspace((unsigned char)*start)) {
        start++;
    }
    while (end > start && isspace((unsigned char)end[-1])) {
        end--;
    }
    if (start == end) {
        return WR_OK;
    }
    char *pattern = strndup(start, (size_t)(end - start));
    struct wr_regex **items = realloc(list->items, (list->count + 1) * sizeof(*items));
    if (pattern == NULL || items == NULL) {
        abort();
    }
    list->items = items;
    enum wr_status status = wr_regex_new(pattern, true, &list->items[list->count], err);
    if (status == WR_OK) {
        list->count++;
    }
    free(pattern);
    return status;
}

enum wr_status wr_regex_list_new(const char *patterns, struct wr_regex_list **out,
                                 struct wr_error *err)
{
    struct wr_regex_list *list = calloc(1, sizeof(*list));
    enum wr_status status = WR_OK;

    if (list == NULL) {
        abort();
    }
    while (status == WR_OK && *patterns != '\0') {
        const char *end = item_end(patterns);
        status = list_add(list, patterns, end, err);
        patterns = *end == ',' ? end + 1 : end;
    }
    if (status != WR_OK) {
        wr_regex_list_free(list);
        list = NULL;
    }
    *out = list;
    return status;
}

void wr_regex_list_free(struct wr_regex_list *list)
{
    if (list == NULL) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        wr_regex_free(list->items[i]);
    }
    free(list->items);
    free(list);
}

bool wr_regex_list_matches(const struct wr_regex_list *list, struct wr_slice text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (wr_regex_matches(list->items[i], text)) {
            return true;
        }
    }
    return false;
}
