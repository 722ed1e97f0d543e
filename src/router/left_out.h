/* router/left_out.h - which columns are not published for their type, each said once. */
#ifndef WR_ROUTER_LEFT_OUT_H
#define WR_ROUTER_LEFT_OUT_H

struct filter;
struct left_out;
struct relation;
struct router_sink;

struct left_out *left_out_new(void);
void left_out_free(struct left_out *left_out); /* NULL is allowed */

/*
 * Gives notice of every column of a compiled relation that `filter` would have published, and that
 * is of a type which is not: nobody shall find out weeks later that it was never there.
 */
void left_out_notice(struct left_out *left_out, const struct filter *filter,
                     const struct relation *relation, const struct router_sink *sink);

#endif /* WR_ROUTER_LEFT_OUT_H */
