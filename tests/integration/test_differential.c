/*
 * Random tables of random types under random modes, with random rows and DDL between them: every
 * published value is compared with what PostgreSQL itself says of that row (support/reference.h),
 * and the bytes of the snapshot with those of the stream.
 *
 * WALRELAY_TEST_SEED repeats a run, WALRELAY_TEST_ROUNDS makes it longer; round n of seed s is
 * round 0 of seed s + n.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/slice.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/records.h"
#include "support/reference.h"

enum {
    ROUND_COUNT = 3,
    TABLE_COUNT = 5,
    COLUMN_COUNT_MAX = 14,
    ROW_COUNT_MAX = 64,
    SNAPSHOT_ROWS = 8,
    STEP_COUNT = 80,
    EXPECTATION_COUNT_MAX = 1024,
    ARRAY_SIZE_MAX = 4,
    SQL_SIZE_MAX = 1 << 16,
    NAME_SIZE_MAX = 64,
    EXPECTATION_ARENA_SIZE_MAX = 64 << 20,
};

struct column {
    char name[NAME_SIZE_MAX];
    const struct column_kind *kind;
    const struct reference *reference;
    bool is_array;
    bool is_key;
};

struct table {
    char name[8];
    bool is_full; /* REPLICA IDENTITY FULL */
    struct column columns[COLUMN_COUNT_MAX];
    int column_count;
    int next_id;
    int ids[ROW_COUNT_MAX];
    int row_count;
};

/* A row as PostgreSQL describes it: by its table's columns of that moment. */
struct row {
    struct column columns[COLUMN_COUNT_MAX];
    const char *texts[COLUMN_COUNT_MAX]; /* NULL: SQL NULL */
    int column_count;
};

struct expectation {
    int table;
    char op;
    int id;
    bool is_touch; /* an update of nothing: its bytes are those of the snapshot */
    const struct row *before, *after; /* NULL: null */
};

/* What a rollback takes back. */
struct model {
    struct table tables[TABLE_COUNT];
    int name_count;
    size_t expectation_count;
};

static struct live l;
static struct random r;
static struct modes modes;
static struct model model;
static struct expectation expectations[EXPECTATION_COUNT_MAX];
static struct wr_arena *arena;
static struct kafka_records records;
static uint64_t seed;

static void tear_down(void)
{
    live_close(&l);
    records_done(&records);
    wr_arena_free(arena);
    arena = NULL;
}

TestSuite(differential, .fini = tear_down, .timeout = 3600);

/* SQL, one piece after the other. */

static char sql[SQL_SIZE_MAX];
static size_t sql_size;

static void add(const char *text)
{
    size_t size = strlen(text);

    cr_assert_lt(sql_size + size, sizeof(sql));
    memcpy(sql + sql_size, text, size + 1);
    sql_size += size;
}

static void add_name(const char *name)
{
    char quoted[2 * NAME_SIZE_MAX + 3];
    char *p = quoted;

    *p++ = '"';
    for (; *name != '\0'; name++) {
        *p++ = *name;
        if (*name == '"') {
            *p++ = '"';
        }
    }
    memcpy(p, "\"", 2);
    add(quoted);
}

static void add_number(int number)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "%d", number);
    add(text);
}

static void begin_sql(const char *text)
{
    sql_size = 0;
    add(text);
}

static void add_row_condition(int id)
{
    add(" where id = ");
    add_number(id);
}

/* Values. */

static void add_literal_of(const struct column_kind *kind)
{
    int count = 1;
    const char *at = kind->literals;

    for (const char *c = at; *c != '\0'; c++) {
        count += *c == '~';
    }
    for (int i = random_below(&r, count); i > 0; i--) {
        at = strchr(at, '~') + 1;
    }
    char literal[VALUE_SIZE_MAX];
    (void)snprintf(literal, sizeof(literal), "%.*s", (int)strcspn(at, "~"), at);
    add(literal);
}

static void add_single_value(const struct column_kind *kind)
{
    char value[VALUE_SIZE_MAX];

    add("(");
    if (random_once_in(&r, 6)) {
        add("null");
    } else if (kind->literals != NULL && (kind->make == NULL || random_once_in(&r, 3))) {
        add_literal_of(kind);
    } else {
        kind->make(&r, value);
        add(value);
    }
    add(")::");
    add(kind->type);
}

static void add_value(const struct column *column)
{
    if (!column->is_array) {
        add_single_value(column->kind);
        return;
    }
    if (random_once_in(&r, 6)) {
        add("null");
        return;
    }
    int count = random_below(&r, ARRAY_SIZE_MAX);
    add("array[");
    for (int i = 0; i < count; i++) {
        add(i == 0 ? "" : ", ");
        add_single_value(column->kind);
    }
    add("]::");
    add(column->kind->type);
    add("[]");
}

/* Columns and tables. */

static void choose_kind(const struct table *table, struct column *out)
{
    size_t count = 0;

    while (reference_kind(count) != NULL) {
        count++;
    }
    do {
        out->kind = reference_kind((size_t)random_below(&r, (int)count));
        out->reference = reference_of(out->kind, &modes);
    } while (out->reference == NULL || (out->kind->is_large && !table->is_full));
    out->is_array = !out->kind->is_large && random_once_in(&r, 4);
}

static void choose_name(char out[NAME_SIZE_MAX])
{
    static const char *const patterns[] = {
        "c%d", "select %d", "a.b-%d", "Ünï \"q\" ☃ %d", "%d", "C%d\\", "after%d\t{",
    };
    const char *pattern = patterns[random_below(&r, (int)(sizeof(patterns) / sizeof(patterns[0])))];

    const char *mark = strstr(pattern, "%d");
    (void)snprintf(out, NAME_SIZE_MAX, "%.*s%d%s", (int)(mark - pattern), pattern,
                   model.name_count++, mark + 2);
}

static void add_definition(const struct column *column)
{
    add_name(column->name);
    add(" ");
    add(column->kind->type);
    add(column->is_array ? "[]" : "");
    add(column->is_key ? " primary key" : "");
}

static void choose_columns(struct table *table)
{
    int key = random_below(&r, 3);

    table->column_count = 3 + random_below(&r, COLUMN_COUNT_MAX - 5);
    for (int i = 0; i < table->column_count; i++) {
        struct column *column = &table->columns[i];
        *column = (struct column){.is_key = i == key};
        if (column->is_key) {
            (void)snprintf(column->name, sizeof(column->name), "id");
            column->kind = reference_kind(2); /* integer */
            column->reference = reference_of(column->kind, &modes);
        } else {
            choose_kind(table, column);
            choose_name(column->name);
        }
    }
}

static void create_table(int index)
{
    struct table *table = &model.tables[index];

    *table = (struct table){.is_full = random_once_in(&r, 2)};
    (void)snprintf(table->name, sizeof(table->name), "t%d", index);
    choose_columns(table);
    begin_sql("create table ");
    add(table->name);
    for (int i = 0; i < table->column_count; i++) {
        add(i == 0 ? " (" : ", ");
        add_definition(&table->columns[i]);
    }
    add(")");
    pg_exec(l.sql, sql);
    if (table->is_full) {
        pg_execf(l.sql, "alter table %s replica identity full", table->name);
    }
}

/* The reference. */

static void add_reference(const struct column *column)
{
    if (column->is_array) {
        add("(case when t.");
        add_name(column->name);
        add(" is not null then (select coalesce(json_agg(case when v is distinct from null then ");
        add(column->reference->sql);
        /* By its places: unnest would make columns of a composite's fields. */
        add(" end order by o), '[]') from (select (t.");
        add_name(column->name);
        add(")[o] as v, o from generate_subscripts(t.");
        add_name(column->name);
        add(", 1) o) as s) end)::text");
    } else {
        add("(select case when v is distinct from null then ");
        add(column->reference->sql);
        add(" end from (select t.");
        add_name(column->name);
        add(" as v) as s)");
    }
}

static const struct row *ask(const struct table *table, int id)
{
    struct row *row = wr_arena_alloc(arena, 1, sizeof(*row));

    begin_sql("select ");
    for (int i = 0; i < table->column_count; i++) {
        add(i == 0 ? "" : ", ");
        add_reference(&table->columns[i]);
    }
    add(" from ");
    add(table->name);
    add(" t");
    add_row_condition(id);
    PGresult *result = PQexec(l.sql, sql);
    cr_assert_eq(PQresultStatus(result), PGRES_TUPLES_OK, "%s%s", PQerrorMessage(l.sql), sql);
    cr_assert_eq(PQntuples(result), 1, "%s", sql);
    memcpy(row->columns, table->columns, sizeof(row->columns));
    row->column_count = table->column_count;
    for (int i = 0; i < table->column_count; i++) {
        row->texts[i] = PQgetisnull(result, 0, i) != 0
                            ? NULL
                            : wr_arena_strdup(arena, PQgetvalue(result, 0, i));
    }
    PQclear(result);
    return row;
}

static struct expectation *expect(int table, char op, int id)
{
    cr_assert_lt(model.expectation_count, EXPECTATION_COUNT_MAX);
    struct expectation *e = &expectations[model.expectation_count++];

    *e = (struct expectation){.table = table, .op = op, .id = id};
    return e;
}

/* What happens to rows. */

static int insert_row(int index)
{
    struct table *table = &model.tables[index];
    int id = table->next_id++;

    begin_sql("insert into ");
    add(table->name);
    add(" values (");
    for (int i = 0; i < table->column_count; i++) {
        add(i == 0 ? "" : ", ");
        if (table->columns[i].is_key) {
            add_number(id);
        } else {
            add_value(&table->columns[i]);
        }
    }
    add(")");
    pg_exec(l.sql, sql);
    table->ids[table->row_count++] = id;
    return id;
}

static void insert(int index)
{
    if (model.tables[index].row_count < ROW_COUNT_MAX) {
        int id = insert_row(index);
        struct expectation *e = expect(index, 'c', id);
        e->after = ask(&model.tables[index], id);
    }
}

static void update(int index)
{
    struct table *table = &model.tables[index];
    int id = table->ids[random_below(&r, table->row_count)];
    struct expectation *e = expect(index, 'u', id);
    bool is_first = true;

    e->before = table->is_full ? ask(table, id) : NULL;
    begin_sql("update ");
    add(table->name);
    add(" set ");
    for (int i = 0; i < table->column_count; i++) {
        if (!table->columns[i].is_key && random_once_in(&r, 2)) {
            add(is_first ? "" : ", ");
            add_name(table->columns[i].name);
            add(" = ");
            add_value(&table->columns[i]);
            is_first = false;
        }
    }
    add(is_first ? "id = id" : "");
    add_row_condition(id);
    pg_exec(l.sql, sql);
    e->after = ask(table, id);
}

static void delete (int index)
{
    struct table *table = &model.tables[index];
    int place = random_below(&r, table->row_count);
    int id = table->ids[place];
    struct expectation *e = expect(index, 'd', id);

    e->before = table->is_full ? ask(table, id) : NULL;
    pg_execf(l.sql, "delete from %s where id = %d", table->name, id);
    table->ids[place] = table->ids[--table->row_count];
}

/* Every row of the snapshot comes once more, by way of the stream. */
static void touch_all(void)
{
    for (int index = 0; index < TABLE_COUNT; index++) {
        struct table *table = &model.tables[index];
        for (int i = 0; i < table->row_count; i++) {
            struct expectation *e = expect(index, 'u', table->ids[i]);
            e->is_touch = true;
            e->after = ask(table, table->ids[i]);
            e->before = table->is_full ? e->after : NULL;
            pg_execf(l.sql, "update %s set id = id where id = %d", table->name, table->ids[i]);
        }
    }
}

/* What happens to columns. */

static void begin_alter(const struct table *table, const char *what)
{
    begin_sql("alter table ");
    add(table->name);
    add(what);
}

static void add_column(struct table *table)
{
    struct column *column = &table->columns[table->column_count];

    if (table->column_count == COLUMN_COUNT_MAX) {
        return;
    }
    *column = (struct column){0};
    choose_kind(table, column);
    choose_name(column->name);
    begin_alter(table, " add ");
    add_definition(column);
    if (random_once_in(&r, 2)) {
        add(" default ");
        /* A default may hold no subquery, as made values may. */
        if (!column->is_array && column->kind->literals != NULL) {
            add_literal_of(column->kind);
        } else {
            add("null");
        }
    }
    pg_exec(l.sql, sql);
    table->column_count++;
}

static void drop_column(struct table *table, int place)
{
    begin_alter(table, " drop column ");
    add_name(table->columns[place].name);
    pg_exec(l.sql, sql);
    table->column_count--;
    memmove(&table->columns[place], &table->columns[place + 1],
            (size_t)(table->column_count - place) * sizeof(table->columns[0]));
}

static void rename_column(struct table *table, int place)
{
    begin_alter(table, " rename column ");
    add_name(table->columns[place].name);
    choose_name(table->columns[place].name);
    add(" to ");
    add_name(table->columns[place].name);
    pg_exec(l.sql, sql);
}

static bool is_plain_text(const struct column_kind *kind)
{
    return strcmp(kind->type, "text") == 0 && !kind->is_large;
}

static void turn_into_text(struct table *table, int place)
{
    struct column *column = &table->columns[place];
    size_t i = 0;

    begin_alter(table, " alter column ");
    add_name(column->name);
    add(" drop default, alter column ");
    add_name(column->name);
    add(" type text using concat(");
    add_name(column->name);
    add(")");
    pg_exec(l.sql, sql);
    while (!is_plain_text(reference_kind(i))) {
        i++;
    }
    column->kind = reference_kind(i);
    column->reference = reference_of(column->kind, &modes);
    column->is_array = false;
}

static void alter(int index)
{
    struct table *table = &model.tables[index];
    int place = random_below(&r, table->column_count);
    bool may_change = !table->columns[place].is_key && !table->columns[place].kind->is_large;

    switch (random_below(&r, 5)) {
    case 0:
        if (may_change && table->column_count > 2) {
            drop_column(table, place);
        }
        break;
    case 1:
        if (may_change) {
            rename_column(table, place);
        }
        break;
    case 2:
        if (may_change) {
            turn_into_text(table, place);
        }
        break;
    case 3:
        pg_execf(l.sql, "alter table %s replica identity full", table->name);
        table->is_full = true;
        break;
    default:
        add_column(table);
        break;
    }
}

static void step(void)
{
    int index = random_below(&r, TABLE_COUNT);
    int choice = random_below(&r, 10);
    bool is_empty = model.tables[index].row_count == 0;

    if (choice < 4 || is_empty) {
        insert(index);
    } else if (choice < 7) {
        update(index);
    } else if (choice < 8) {
        delete (index);
    } else {
        alter(index);
    }
}

/* A third of the steps stand in transactions of several, of which a third is rolled back. */
static void change(void)
{
    static struct model saved;

    for (int i = 0; i < STEP_COUNT; i++) {
        if (!random_once_in(&r, 9)) {
            step();
            continue;
        }
        saved = model;
        pg_exec(l.sql, "begin");
        for (int left = 1 + random_below(&r, 6); left > 0; left--) {
            step();
        }
        bool is_lost = random_once_in(&r, 3);
        pg_exec(l.sql, is_lost ? "rollback" : "commit");
        if (is_lost) {
            saved.name_count = model.name_count;
            model = saved;
        }
    }
}

/* The comparison. */

static void fail(const struct table *table, int id, const char *what, struct wr_slice value)
{
    cr_assert(false, "seed %llu: %s, id %d: %s in\n%.*s", (unsigned long long)seed, table->name, id,
              what, (int)value.size, value.data);
}

/* The bytes between two texts of an envelope; strings inside have their quotes escaped. */
static struct wr_slice between(struct wr_slice in, const char *from, const char *to)
{
    const char *start = memmem(in.data, in.size, from, strlen(from));

    cr_assert_not_null(start, "no %s in %.*s", from, (int)in.size, in.data);
    start += strlen(from);
    const char *end = memmem(start, (size_t)(in.data + in.size - start), to, strlen(to));
    cr_assert_not_null(end, "no %s in %.*s", to, (int)in.size, in.data);
    return (struct wr_slice){start, (size_t)(end - start)};
}

static struct wr_slice before_of(const struct kafka_record *record)
{
    return between(record->value, "{\"before\":", ",\"after\":");
}

static struct wr_slice after_of(const struct kafka_record *record)
{
    return between(record->value, ",\"after\":", ",\"source\":{");
}

static char op_of(const struct kafka_record *record)
{
    return between(record->value, ",\"op\":\"", "\"").data[0];
}

static void compare_column(const struct expectation *e, const struct row *row, int i,
                           const json_t *object, struct wr_slice json)
{
    const struct column *column = &row->columns[i];
    char what[SQL_SIZE_MAX];

    if (!reference_matches(column->reference->form, column->is_array, row->texts[i],
                           json_object_get(object, column->name))) {
        (void)snprintf(what, sizeof(what), "column %s of type %s%s is not %.60000s", column->name,
                       column->kind->type, column->is_array ? "[]" : "",
                       row->texts[i] == NULL ? "null" : row->texts[i]);
        fail(&model.tables[e->table], e->id, what, json);
    }
}

static void compare_row(const struct expectation *e, const struct row *row, struct wr_slice json)
{
    if (row == NULL) {
        if (!wr_slice_is(json, "null")) {
            fail(&model.tables[e->table], e->id, "not null", json);
        }
        return;
    }
    json_t *object =
        json_loadb(json.data, json.size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    void *at = json_object_iter(object);
    if (!json_is_object(object)) {
        fail(&model.tables[e->table], e->id, "no JSON object", json);
    }
    for (int i = 0; i < row->column_count; i++) {
        compare_column(e, row, i, object, json);
        if (row->columns[i].reference->form != FORM_ABSENT) {
            if (at == NULL || strcmp(json_object_iter_key(at), row->columns[i].name) != 0) {
                fail(&model.tables[e->table], e->id, "columns in another order", json);
            }
            at = json_object_iter_next(object, at);
        }
    }
    if (at != NULL) {
        fail(&model.tables[e->table], e->id, "a column too many", json);
    }
    json_decref(object);
}

static bool is_of(const struct kafka_record *record, int table)
{
    char topic[128];

    (void)snprintf(topic, sizeof(topic), "%s.public.t%d", l.prefix, table);
    return wr_slice_is(record->topic, topic);
}

static bool has_id(const struct kafka_record *record, int id)
{
    char key[32];

    (void)snprintf(key, sizeof(key), "{\"id\":%d}", id);
    return wr_slice_is(record->key, key);
}

static void compare_bytes(const struct expectation *e, const struct kafka_record *record)
{
    struct wr_slice after = after_of(record);

    for (size_t i = 0; i < records.count; i++) {
        const struct kafka_record *other = &records.items[i];
        if (is_of(other, e->table) && has_id(other, e->id) && op_of(other) == 'r') {
            if (!wr_slice_eq(after_of(other), after)) {
                fail(&model.tables[e->table], e->id, "other bytes in the snapshot", after);
            }
            return;
        }
    }
    fail(&model.tables[e->table], e->id, "not in the snapshot", after);
}

static void compare(const struct expectation *e, const struct kafka_record *record)
{
    const struct table *table = &model.tables[e->table];

    if (record == NULL) {
        fail(table, e->id, "nothing came", (struct wr_slice){"", 0});
        return;
    }
    if (op_of(record) != e->op || !has_id(record, e->id)) {
        fail(table, e->id, "another change", record->value);
    }
    compare_row(e, e->after, after_of(record));
    if (e->op != 'd' || e->before != NULL) { /* a deleted row's key alone is known otherwise */
        compare_row(e, e->before, before_of(record));
    }
    if (e->is_touch) {
        compare_bytes(e, record);
    }
}

/* The next change of the table behind `*at`; NULL behind the last. */
static const struct kafka_record *next_change(int table, size_t *at)
{
    for (; *at < records.count; (*at)++) {
        const struct kafka_record *record = &records.items[*at];
        if (is_of(record, table) && !record->value_is_null && op_of(record) != 'r') {
            return &records.items[(*at)++];
        }
    }
    return NULL;
}

static void compare_all(void)
{
    size_t places[TABLE_COUNT] = {0};

    for (size_t i = 0; i < model.expectation_count; i++) {
        const struct expectation *e = &expectations[i];
        compare(e, next_change(e->table, &places[e->table]));
    }
    for (int table = 0; table < TABLE_COUNT; table++) {
        cr_assert_null(next_change(table, &places[table]), "seed %llu: t%d has too many",
                       (unsigned long long)seed, table);
    }
}

/* The rounds. */

static void set_up(void)
{
    char setup[SQL_SIZE_MAX];

    r = random_start(seed);
    model = (struct model){0};
    arena = wr_arena_new(EXPECTATION_ARENA_SIZE_MAX);
    l = (struct live){0};
    live_open(&l, "differential");
    modes_choose(&r, &modes);
    for (size_t i = 0; i < modes.count; i++) {
        live_set(&l, "%s", modes.settings[i]);
    }
    fprintf(stderr, "differential: seed %llu", (unsigned long long)seed);
    for (size_t i = 0; i < modes.count; i++) {
        fprintf(stderr, " %s", modes.settings[i]);
    }
    fprintf(stderr, "\n");
    live_set(&l, "snapshot.mode=initial");
    reference_setup_sql(&modes, setup, sizeof(setup));
    live_run(&l, setup);
    for (int i = 0; i < TABLE_COUNT; i++) {
        create_table(i);
        for (int row = 0; row < SNAPSHOT_ROWS; row++) {
            (void)insert_row(i);
        }
    }
    pg_exec(l.sql, "create publication wr_pub for all tables");
}

static void run_round(void)
{
    set_up();
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);
    live_stream(&l);
    touch_all();
    change();
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    compare_all();
    tear_down();
}

static uint64_t number_or(const char *variable, uint64_t otherwise)
{
    const char *value = getenv(variable);

    return value == NULL || value[0] == '\0' ? otherwise : strtoull(value, NULL, 10);
}

Test(differential, every_value_is_what_the_server_says_of_its_row)
{
    uint64_t first = number_or("WALRELAY_TEST_SEED", (uint64_t)wr_clock_realtime_ns() / 1000);
    uint64_t count = number_or("WALRELAY_TEST_ROUNDS", ROUND_COUNT);

    for (uint64_t i = 0; i < count; i++) {
        seed = first + i;
        run_round();
    }
}
