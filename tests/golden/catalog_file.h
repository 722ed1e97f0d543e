/* golden/catalog_file.h - a case's catalog.ndjson, in the place of PostgreSQL's catalog. */
#ifndef WR_TEST_CATALOG_FILE_H
#define WR_TEST_CATALOG_FILE_H

#include "decoder/catalog.h"

struct catalog_file;

/* NULL, with a line on standard error, when the file is missing or malformed. */
struct catalog_file *catalog_file_open(const char *path);
void catalog_file_close(struct catalog_file *file);

/* Answers from the file; WR_REJECT for what is not in it. */
struct catalog_source catalog_file_source(struct catalog_file *file);

#endif /* WR_TEST_CATALOG_FILE_H */
