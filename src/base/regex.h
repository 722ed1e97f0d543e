/* base/regex.h - the regular expressions of a configuration, in Java's dialect as far as PCRE2
 * shares it. */
#ifndef WR_BASE_REGEX_H
#define WR_BASE_REGEX_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

struct wr_regex;

/* Compiles `pattern` (UTF-8). WR_FATAL with the pattern, the offset and the reason. Free with
 * wr_regex_free. */
WR_MUST_USE enum wr_status wr_regex_new(const char *pattern, bool ignore_case,
                                        struct wr_regex **out, struct wr_error *err);
void wr_regex_free(struct wr_regex *regex); /* NULL is allowed */

/* True when the whole of `text` matches, as java.util.regex.Matcher.matches(). */
bool wr_regex_matches(const struct wr_regex *regex, struct wr_slice text);

/*
 * Matcher.replaceFirst() after matches(), which is what Kafka's RegexRouter does: when the whole
 * text matches, appends `replacement` with $1, ${name} and \$ replaced, and returns true.
 * Otherwise appends nothing and returns false.
 */
bool wr_regex_replace(const struct wr_regex *regex, struct wr_slice text, const char *replacement,
                      struct wr_buffer *out);

/* WR_FATAL when `replacement` names a group that the expression does not have. */
WR_MUST_USE enum wr_status wr_regex_check_replacement(const struct wr_regex *regex,
                                                      const char *replacement,
                                                      struct wr_error *err);

/* A comma-separated list of expressions, each trimmed, as Debezium's include and exclude lists. */
struct wr_regex_list;
WR_MUST_USE enum wr_status wr_regex_list_new(const char *patterns, struct wr_regex_list **out,
                                             struct wr_error *err);
void wr_regex_list_free(struct wr_regex_list *list);
bool wr_regex_list_matches(const struct wr_regex_list *list, struct wr_slice text);

#endif /* WR_BASE_REGEX_H */
