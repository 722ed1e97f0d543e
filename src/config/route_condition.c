#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "config/route_text.h"

/* What is made has room from the start, in all no more than the text has bytes of it. */
struct reader {
    const char *start;
    const char *next;
    const char *end;
    char *copies;                       /* where the next unquoted text goes */
    struct condition_literal *literals; /* where the next one goes */
    struct route_text_error *error;
};

static bool fail(const struct reader *r, const char *reason)
{
    *r->error = (struct route_text_error){(size_t)(r->next - r->start), reason};
    return false;
}

static void skip_blanks(struct reader *r)
{
    while (r->next < r->end && isspace((unsigned char)*r->next)) {
        r->next++;
    }
}

static bool is_word_char(char c)
{
    return c == '_' || isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool accept(struct reader *r, const char *text)
{
    size_t size = strlen(text);

    skip_blanks(r);
    if ((size_t)(r->end - r->next) < size || memcmp(r->next, text, size) != 0) {
        return false;
    }
    r->next += size;
    return true;
}

static bool accept_word(struct reader *r, const char *word)
{
    size_t size = strlen(word);

    skip_blanks(r);
    size_t left = (size_t)(r->end - r->next);
    if (left < size || strncasecmp(r->next, word, size) != 0 ||
        (left > size && is_word_char(r->next[size]))) {
        return false;
    }
    r->next += size;
    return true;
}

/* Behind its first quote; a doubled one is one. */
static bool take_quoted(struct reader *r, char quote, struct wr_slice *out)
{
    *out = (struct wr_slice){r->copies, 0};
    while (r->next < r->end) {
        char c = *r->next++;
        if (c == quote) {
            if (r->next == r->end || *r->next != quote) {
                return true;
            }
            r->next++;
        }
        *r->copies++ = c;
        out->size++;
    }
    return fail(r, "a quote is not closed");
}

static bool take_column(struct reader *r, struct wr_slice *out)
{
    if (accept(r, "\"")) {
        if (!take_quoted(r, '"', out)) {
            return false;
        }
        return out->size > 0 || fail(r, "a column has no name");
    }
    const char *start = r->next;
    if (start == r->end || !is_word_char(*start) || isdigit((unsigned char)*start)) {
        return fail(r, "the name of a column should be here");
    }
    while (r->next < r->end && is_word_char(*r->next)) {
        r->next++;
    }
    size_t size = (size_t)(r->next - start);
    *out = (struct wr_slice){r->copies, size};
    for (size_t i = 0; i < size; i++) {
        bool is_ascii = (unsigned char)start[i] < 0x80;
        *r->copies++ = is_ascii ? (char)tolower((unsigned char)start[i]) : start[i];
    }
    return true;
}

static size_t take_digits(struct reader *r)
{
    const char *start = r->next;

    while (r->next < r->end && isdigit((unsigned char)*r->next)) {
        r->next++;
    }
    return (size_t)(r->next - start);
}

static bool take_number(struct reader *r, struct condition_literal *out)
{
    const char *start = r->next;

    r->next += *start == '-' ? 1 : 0;
    bool is_right = take_digits(r) > 0;
    if (is_right && r->next < r->end && *r->next == '.') {
        r->next++;
        is_right = take_digits(r) > 0;
    }
    if (!is_right || (r->next < r->end && is_word_char(*r->next))) {
        return fail(r, "a number is digits, with a point between them or none");
    }
    *out = (struct condition_literal){LITERAL_NUMBER, {start, (size_t)(r->next - start)}};
    return true;
}

static bool take_literal(struct reader *r, struct condition_literal *out)
{
    if (accept(r, "'")) {
        out->kind = LITERAL_TEXT;
        return take_quoted(r, '\'', &out->text);
    }
    if (accept_word(r, "true")) {
        *out = (struct condition_literal){LITERAL_BOOL, WR_SLICE("t")};
        return true;
    }
    if (accept_word(r, "false")) {
        *out = (struct condition_literal){LITERAL_BOOL, WR_SLICE("f")};
        return true;
    }
    if (accept_word(r, "null")) {
        return fail(r, "nothing equals NULL; write IS NULL or IS NOT NULL");
    }
    if (r->next < r->end && (*r->next == '-' || isdigit((unsigned char)*r->next))) {
        return take_number(r, out);
    }
    return fail(r, "a 'text', a number, true or false should be here");
}

static bool take_list(struct reader *r, struct condition_term *term)
{
    if (!accept(r, "(")) {
        return fail(r, "IN has a list in brackets behind it");
    }
    term->literals = r->literals;
    do {
        if (!take_literal(r, r->literals++)) {
            return false;
        }
        term->literal_count++;
    } while (accept(r, ","));
    return accept(r, ")") || fail(r, "a comma or a bracket should be here");
}

static bool take_comparison(struct reader *r, struct condition_term *term)
{
    static const struct {
        const char *text;
        enum condition_op op;
    } operators[] = {
        {"=", CONDITION_EQUAL},       {"<>", CONDITION_UNEQUAL}, {"!=", CONDITION_UNEQUAL},
        {"<=", CONDITION_LESS_EQUAL}, {"<", CONDITION_LESS},     {">=", CONDITION_GREATER_EQUAL},
        {">", CONDITION_GREATER},
    };

    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (accept(r, operators[i].text)) {
            term->op = operators[i].op;
            term->literals = r->literals;
            term->literal_count = 1;
            return take_literal(r, r->literals++);
        }
    }
    return fail(r, "one of = <> < <= > >= IN, NOT IN, IS NULL, IS NOT NULL should be here");
}

static bool take_term(struct reader *r, struct condition_term *term)
{
    *term = (struct condition_term){0};
    if (!take_column(r, &term->column)) {
        return false;
    }
    if (accept_word(r, "is")) {
        term->op = accept_word(r, "not") ? CONDITION_NOT_NULL : CONDITION_NULL;
        return accept_word(r, "null") || fail(r, "IS has NULL or NOT NULL behind it");
    }
    bool is_not = accept_word(r, "not");
    if (accept_word(r, "in")) {
        term->op = is_not ? CONDITION_NOT_IN : CONDITION_IN;
        return take_list(r, term);
    }
    return is_not ? fail(r, "NOT has IN behind it") : take_comparison(r, term);
}

bool condition_read(struct wr_slice text, struct wr_arena *arena, struct condition_config *out,
                    struct route_text_error *error)
{
    enum { TERM_SIZE_MIN = sizeof("a=1 and") - 1, LITERAL_SIZE_MIN = sizeof("1,") - 1 };
    const char *start = text.size == 0 ? "" : text.data;
    struct condition_term *terms =
        wr_arena_alloc(arena, text.size / TERM_SIZE_MIN + 1, sizeof(*terms));
    struct reader r = {
        .start = start,
        .next = start,
        .end = start + text.size,
        .copies = wr_arena_alloc(arena, text.size + 1, 1),
        .literals = wr_arena_alloc(arena, text.size / LITERAL_SIZE_MIN + 1, sizeof(*r.literals)),
        .error = error,
    };

    if (terms == NULL || r.copies == NULL || r.literals == NULL) {
        return fail(&r, "it is too long");
    }
    *out = (struct condition_config){.terms = terms};
    do {
        if (!take_term(&r, &terms[out->term_count])) {
            return false;
        }
        out->term_count++;
    } while (accept_word(&r, "and"));
    skip_blanks(&r);
    return r.next == r.end || fail(&r, "only AND may join conditions");
}
