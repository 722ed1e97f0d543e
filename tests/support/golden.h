/* support/golden.h - the golden cases: their files, and the database each gets. */
#ifndef WR_TEST_GOLDEN_H
#define WR_TEST_GOLDEN_H

#include <stdbool.h>

#include <criterion/parameterized.h>

enum { GOLDEN_PATH_SIZE = 512 };

struct golden_case {
    char name[64];
    char dbname[72];                  /* g_<name>, '-' as '_': also its slot and publication */
    char directory[GOLDEN_PATH_SIZE]; /* absolute */
};

/*
 * For a ParameterizedTest of struct golden_case: every folder of tests/golden that holds an
 * expected.ndjson, by name; only the one that WALRELAY_TEST_CASE names, where that is set.
 */
struct criterion_test_params golden_parameters(void);

/* The path of one of its files, in storage that is the caller's; `has` tells whether it is there.
 */
void golden_path(const struct golden_case *c, const char *file, char out[GOLDEN_PATH_SIZE]);
bool golden_has(const struct golden_case *c, const char *file);

/* What the server itself selects for a snapshot (a SELECT, a list of tables, a signal) has no
 * replay form. */
bool golden_is_replayed(const struct golden_case *c);
/* snapshot.mode=initial_only: walrelay ends by itself, and no change is published. */
bool golden_is_snapshot_alone(const struct golden_case *c);

/* The value of one property of the case's connector.properties; `otherwise` when it is not there.
 * In static storage that the next call overwrites. */
const char *golden_property(const struct golden_case *c, const char *name, const char *otherwise);

#endif /* WR_TEST_GOLDEN_H */
