#!/usr/bin/env bash
# Style as a test: layers, walls around third-party headers, banned calls, file sizes. Prints every
# finding, exits 1 when there is one. usage: tools/tidy.sh, from anywhere
set -euo pipefail
cd "$(dirname "$0")/.."

# Whose headers a room may include: its own and those of earlier rooms.
declare -A may=(
    [base]="base"
    [config]="config base"
    [decoder]="decoder config base"
    [router]="router decoder config base"
    [codec]="codec router decoder config base"
    [streamer]="streamer decoder config base"
    [publisher]="publisher config base"
    [relay]="relay publisher streamer codec router decoder config base"
    [sink]="sink codec router decoder config base"
    [ops]="ops config base"
)
bad=0
fail() {
    echo "tidy: $*"
    bad=1
}

# wall HEADER "PREFIX…" FILE: only files under one of the prefixes may include HEADER.
wall() {
    local prefix
    grep -qE "#include [<\"]$1[>\"]" "$3" || return 0
    for prefix in $2; do
        [[ $3 != "$prefix"* ]] || return 0
    done
    fail "$3: $1 only in: $2"
}

# ban "CALL|…" WHY FILE
ban() {
    local hits
    hits=$(grep -nE "(^|[^a-zA-Z0-9_>.])($1)\(" "$3" || true)
    [[ -z $hits ]] || fail "$3: $2: $hits"
}

check_layers() {
    local file=$1 room=$2 target
    while read -r target; do
        [[ " ${may[$room]} " == *" ${target%%/*} "* ]] ||
            fail "$file: $room may not include $target"
    done < <(sed -n 's/^#include "\(.*\)"/\1/p' "$file")
}

check_walls() {
    local file=$1
    wall 'libpq-fe\.h' "src/streamer/ src/sink/postgres src/ops/check" "$file"
    wall 'librdkafka/.*' "src/publisher/ src/sink/consumer src/ops/check" "$file"
    wall 'jansson\.h' "src/config/" "$file"
    wall 'pcre2\.h' "src/base/regex.c" "$file"
    wall 'openssl/.*' "src/base/digest.c src/sink/redis_tls" "$file"
    wall 'protobuf-c/.*' "src/codec/" "$file"
    wall 'curl/.*' "src/sink/" "$file"
    wall 'hiredis/.*' "src/sink/redis" "$file"
    wall 'microhttpd\.h' "src/ops/" "$file"
}

# Decoder, router and codec are pure: what they make depends on their arguments alone.
check_pure() {
    local file=$1
    if grep -qE '#include ("base/log\.h"|<(sys/socket|time|unistd|poll|pthread)\.h>)' "$file"; then
        fail "$file: a pure room has no socket, clock, thread or log"
    fi
    ban 'wr_clock_[a-z_]*' "a pure room gets times as arguments" "$file"
}

# Objects come zeroed from calloc, texts and bytes that grow from an arena or a buffer.
check_memory() {
    ban 'malloc|asprintf|vasprintf' "calloc, wr_arena or wr_buffer instead" "$1"
}

check_size() {
    local file=$1 lines most=600
    lines=$(wc -l <"$file")
    [[ $file != *.h ]] || most=150
    [[ $file != src/config/config.h ]] || most=300 # one field a property, and nothing else
    ((lines <= most)) || fail "$file: $lines lines, at most $most"
}

check_guard() {
    local file=$1 guard
    guard=${file#src/}
    guard=WR_$(tr 'a-z/.-' 'A-Z___' <<<"$guard")
    grep -q "^#ifndef $guard\$" "$file" || fail "$file: the guard is $guard"
}

while read -r file; do
    room=${file#src/}
    room=${room%%/*}
    check_size "$file"
    check_walls "$file"
    ban 'strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atof|gets|alloca' "banned call" "$file"
    [[ $file != *.h ]] || check_guard "$file"
    [[ -z ${may[$room]:-} ]] || check_layers "$file" "$room"
    [[ $room == base ]] || check_memory "$file"
    case $room in
    decoder | router | codec) check_pure "$file" ;;
    esac
done < <(find src -name '*.[ch]' | sort)
exit "$bad"
