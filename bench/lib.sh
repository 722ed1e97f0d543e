# shellcheck shell=bash
# What bench/run and bench/memory share. Sourced, never run.
#
# Everything listens on loopback and lives in $work, which is removed at the end. What was started
# is ended by the process id kept when it started.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/support/lib.sh
. "$root/tests/support/lib.sh"

kafka_version=4.3.1
debezium_version=3.6.1.Final
debezium_jars=$cache_dir/debezium-$debezium_version

pg_port=${BENCH_PG_PORT:-15715}
kafka_port=${BENCH_KAFKA_PORT:-19592}
connect_port=${BENCH_CONNECT_PORT:-18583}
broker=127.0.0.1:$kafka_port

# BENCH_BUILD names a build directory to measure as it is; without it the release preset is built.
build=${BENCH_BUILD:-$root/build/release}

build_programs() {
    [ -z "${BENCH_BUILD:-}" ] || return 0
    "$root/tests/support/install" build services
    # The preset has no tests in it, so that a machine that only measures needs no Criterion.
    (cd "$root" && cmake --preset release) >"$work/cmake.log" 2>&1 ||
        stop "cmake failed: $(tail -n 5 "$work/cmake.log")"
    cmake --build "$build" >"$work/build.log" 2>&1 ||
        stop "the build failed: $(tail -n 20 "$work/build.log")"
}

# Connect, its converters and Debezium, as a Maven project of nothing but dependencies.
install_debezium() {
    local dir coordinates

    [ ! -d "$debezium_jars" ] || return 0
    say "fetching Debezium $debezium_version and Kafka Connect $kafka_version"
    mkdir -p "$cache_dir"
    dir=$(mktemp -d "$cache_dir/debezium.XXXXXX")
    {
        echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        echo '<groupId>walrelay</groupId><artifactId>debezium</artifactId><version>1</version>'
        echo '<packaging>pom</packaging><dependencies>'
        for coordinates in "org.apache.kafka connect-runtime $kafka_version" \
            "org.apache.kafka connect-json $kafka_version" \
            "io.debezium debezium-connector-postgres $debezium_version" \
            "io.debezium debezium-embedded $debezium_version" "org.slf4j slf4j-simple 1.7.36"; do
            # shellcheck disable=SC2086 # three words on purpose
            printf '<dependency><groupId>%s</groupId><artifactId>%s</artifactId>
                <version>%s</version></dependency>\n' $coordinates
        done
        echo '</dependencies></project>'
    } >"$dir/pom.xml"
    (cd "$dir" && mvn -q -B dependency:copy-dependencies -DoutputDirectory="$dir/lib") \
        >"$dir/mvn.log" 2>&1 ||
        stop "Maven could not fetch Debezium, see $dir/mvn.log; try again when the network is there"
    mv "$dir/lib" "$debezium_jars" 2>/dev/null || [ -d "$debezium_jars" ]
    rm -rf "$dir"
}

# No checkpoint and no vacuum while something is measured, no fsync (the disk is nobody's merit, and
# its tail would hide theirs), and memory for decoding as PostgreSQL has it by default. The
# harness's own settings are those of tests, not of a server.
start_services() {
    say "starting PostgreSQL and Kafka"
    "$root/tests/support/postgres" start "$work/postgres" "$pg_port" fsync=off autovacuum=off \
        checkpoint_timeout=1h max_wal_size=32GB shared_buffers=512MB logical_decoding_work_mem=64MB
    start_kafka
    # The first idempotent producer of a new broker waits for its first block of producer ids, and
    # that would count as somebody's start.
    kcat -P -b "$broker" -t warm-up -X enable.idempotence=true <<<"warm-up" 2>/dev/null
}

start_kafka() {
    "$root/tests/support/kafka" start "$work/kafka" "$kafka_port"
}

# use_database NAME TABLE: makes the database that all of the following is about, with the
# workload's table, publication and load procedure.
use_database() {
    database=postgres
    query -c "create database $1" >/dev/null
    database=$1
    query -f "$root/bench/sql/$2.sql" >/dev/null
}

# query [psql arguments…]
query() {
    PGOPTIONS='-c client_min_messages=warning' psql -X -q -A -t -v ON_ERROR_STOP=1 \
        -h 127.0.0.1 -p "$pg_port" -U postgres -d "$database" "$@"
}

create_slot() {
    query -c "select pg_create_logical_replication_slot('$1', 'pgoutput')" >/dev/null
}

# A process that was stopped a moment ago may still hold it.
drop_slot() {
    wait_for 30 query -c "select pg_drop_replication_slot('$1')" ||
        stop "slot $1 stays active in database $database"
}

# copy_slot FROM TO: a slot that reads the same WAL.
copy_slot() {
    query -c "select pg_copy_logical_replication_slot('$1', '$2')" >/dev/null
}

# load_rows N: and sets endpos to the end of them. A little WAL follows, so that the end can be
# passed.
load_rows() {
    query >/dev/null <<END
set synchronous_commit = off;
call load($1);
set synchronous_commit = on;
checkpoint;
END
    endpos=$(query -c 'select pg_current_wal_insert_lsn()')
    query -c "select pg_logical_emit_message(true, 'bench', 'end')" >/dev/null
}

# Only what was begun here is ended here: the processes of whoever measured before are not ours.
begin() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/bench-walrelay.XXXXXX")
    chmod 755 "$work"
    trap end EXIT
    trap 'exit 130' INT TERM
}

end() {
    local pid

    for pid in $(jobs -p); do
        kill "$pid" 2>/dev/null || true
    done
    if [ -d "$work/kafka" ]; then
        "$root/tests/support/kafka" stop "$work/kafka" || true
    fi
    if [ -d "$work/postgres" ]; then
        "$root/tests/support/postgres" stop "$work/postgres" immediate || true
    fi
    if [ "${keep:-0}" = 1 ]; then
        say "kept $work"
    else
        rm -rf "$work"
    fi
}

# write_connector TABLE SLOT SNAPSHOT_MODE DIR: one file for both, read by both unchanged. The
# slot's name is also the topic prefix, so that each run has topics of its own.
write_connector() {
    local table=$1 slot=$2 mode=$3 file=$4/connector.properties

    cat >"$file" <<END
name=bench
connector.class=io.debezium.connector.postgresql.PostgresConnector
tasks.max=1
plugin.name=pgoutput
database.hostname=127.0.0.1
database.port=$pg_port
database.user=postgres
database.password=unused
database.dbname=$database
slot.name=$slot
publication.name=bench
publication.autocreate.mode=disabled
snapshot.mode=$mode
topic.prefix=$slot
table.include.list=public.$table
max.batch.size=16384
max.queue.size=65536
poll.interval.ms=10
END
    [ "$table" != outbox ] || cat >>"$file" <<END
transforms=outbox
transforms.outbox.type=io.debezium.transforms.outbox.EventRouter
transforms.outbox.table.field.event.id=event_id
transforms.outbox.table.field.event.key=aggregate_id
transforms.outbox.route.by.field=aggregate_type
transforms.outbox.route.topic.replacement=$slot.\${routedByValue}-events
END
}

# topic_of TABLE SLOT: where its rows go.
topic_of() {
    case $1 in
    events) echo "$2.public.events" ;;
    outbox) echo "$2.order-events" ;;
    esac
}

# What stands in a Connect worker's file: Debezium's has a producer tuned for large batches, while
# walrelay's is left at its defaults but for the compression. `schemas_enable` is set by who asks.
write_worker() {
    local contender=$1 dir=$2

    mkdir -p "$dir"
    cat >"$dir/worker.properties" <<END
bootstrap.servers=$broker
key.converter=org.apache.kafka.connect.json.JsonConverter
key.converter.schemas.enable=${schemas_enable:-false}
value.converter=org.apache.kafka.connect.json.JsonConverter
value.converter.schemas.enable=${schemas_enable:-false}
producer.compression.type=lz4
END
    [ "$contender" != debezium ] || cat >>"$dir/worker.properties" <<END
offset.storage.file.filename=$dir/offsets
offset.flush.interval.ms=1000
listeners=http://127.0.0.1:$connect_port
producer.batch.size=262144
producer.linger.ms=5
END
}

# prepare CONTENDER TABLE SLOT MODE ENDPOS: writes the configuration into $dir and sets $command.
# An empty ENDPOS is none.
prepare() {
    local contender=$1 table=$2 slot=$3 mode=$4 endpos=$5

    dir=$work/$slot
    write_worker "$contender" "$dir"
    write_connector "$table" "$slot" "$mode" "$dir"
    case $contender in
    walrelay | exactly_once)
        [ "$contender" = walrelay ] ||
            echo exactly.once.support=required >>"$dir/connector.properties"
        command=("$build/walrelay" run -c "$dir/worker.properties" -c "$dir/connector.properties")
        [ -z "$endpos" ] || command+=(--endpos "$endpos")
        ;;
    debezium)
        command=(java -Xmx2g -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$debezium_jars/*"
            org.apache.kafka.connect.cli.ConnectStandalone "$dir/worker.properties"
            "$dir/connector.properties")
        ;;
    esac
}
