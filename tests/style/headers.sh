#!/usr/bin/env bash
# Every header compiles alone. usage: tests/style/headers.sh COMPILER
set -euo pipefail
cd "$(dirname "$0")/../.."
# librdkafka and libpq are found as the build finds them.
read -r -a includes < <(pkg-config --cflags libpq rdkafka jansson criterion)
bad=0
while read -r header; do
    if ! "$1" -std=c17 -D_GNU_SOURCE -Isrc -Itests "${includes[@]}" -Wall -fsyntax-only -x c - \
        <<<"#include \"${header#*/}\""; then
        echo "$header does not compile alone"
        bad=1
    fi
done < <(find src tests/support -name '*.h' | sort)
exit "$bad"
