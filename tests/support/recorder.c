#include "support/recorder.h"

#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <libpq-fe.h>

#include "base/bytes.h"
#include "base/lsn.h"
#include "support/postgres.h"
#include "support/services.h"

/* XLogData: 'w', start and end LSN, time. Keepalive: 'k', end LSN, time, whether to reply. */
enum { XLOG_DATA_HEADER_SIZE = 25, COMMAND_SIZE = 512 };

static PGconn *open_replication(const struct services *services, const char *dbname)
{
    const char *const names[] = {"host", "port", "user", "dbname", "replication", "options", NULL};
    const char *const values[] = {services->pg_host,
                                  services->pg_port,
                                  services->pg_user,
                                  dbname,
                                  "database",
                                  "-c DateStyle=ISO,YMD -c IntervalStyle=postgres -c TimeZone=UTC"
                                  " -c bytea_output=hex -c extra_float_digits=3 -c lc_monetary=C"
                                  " -c search_path=pg_catalog",
                                  NULL};
    PGconn *connection = PQconnectdbParams(names, values, 0);

    cr_assert_eq(PQstatus(connection), CONNECTION_OK, "%s", PQerrorMessage(connection));
    return connection;
}

void recorder_create_slot(const struct services *services, const char *dbname, const char *slot)
{
    PGconn *connection = pg_open(services, dbname);

    pg_execf(connection, "select pg_create_logical_replication_slot('%s', 'pgoutput')", slot);
    PQfinish(connection);
}

static void start_copy(PGconn *connection, const char *slot, const char *publication)
{
    char command[COMMAND_SIZE];

    snprintf(command, sizeof(command),
             "START_REPLICATION SLOT \"%s\" LOGICAL 0/0 (proto_version '1',"
             " publication_names '\"%s\"', messages 'true')",
             slot, publication);
    PGresult *result = PQexec(connection, command);
    cr_assert_eq(PQresultStatus(result), PGRES_COPY_BOTH, "%s", PQerrorMessage(connection));
    PQclear(result);
}

static void write_frame(FILE *file, const char *payload, size_t size)
{
    uint32_t size_be = htobe32((uint32_t)size);

    fwrite(&size_be, sizeof(size_be), 1, file);
    fwrite(payload, 1, size, file);
}

/* Until the server says that it has read up to `end`: keepalives tell. */
static int copy_until(PGconn *connection, wr_lsn end, FILE *file)
{
    int message_count = 0;
    char *bytes = NULL;
    int size;

    while ((size = PQgetCopyData(connection, &bytes, 0)) > 0) {
        struct wr_cursor in;
        wr_cursor_init(&in, bytes, (size_t)size);
        char kind = (char)wr_cursor_uint(&in, 1);
        wr_lsn lsn = wr_cursor_uint(&in, 8);

        if (kind == 'w' && size > XLOG_DATA_HEADER_SIZE) {
            write_frame(file, bytes + XLOG_DATA_HEADER_SIZE, (size_t)size - XLOG_DATA_HEADER_SIZE);
            message_count++;
        }
        PQfreemem(bytes);
        if (kind == 'k' && lsn >= end) {
            return message_count;
        }
    }
    cr_assert(false, "the stream ended: %s", PQerrorMessage(connection));
    return message_count;
}

int recorder_write(const struct services *services, const char *dbname, const char *slot,
                   const char *publication, const char *path)
{
    PGconn *control = pg_open(services, dbname);
    FILE *file = fopen(path, "wb");
    wr_lsn end = 0;

    cr_assert_not_null(file, "%s cannot be written", path);
    cr_assert(wr_lsn_parse(pg_query(control, "select pg_current_wal_flush_lsn()"), &end));
    PGconn *replication = open_replication(services, dbname);
    start_copy(replication, slot, publication);
    int message_count = copy_until(replication, end, file);
    PQfinish(replication);
    cr_assert_eq(fclose(file), 0, "%s cannot be written", path);
    cr_assert(pg_query_becomes(control,
                               "select count(*) from pg_replication_slots"
                               " where active and database = current_database()",
                               "0", 10000));
    pg_execf(control, "select pg_drop_replication_slot('%s')", slot);
    PQfinish(control);
    return message_count;
}
