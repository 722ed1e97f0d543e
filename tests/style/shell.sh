#!/usr/bin/env bash
# Every shell script parses, stops at its first error. With
# shellcheck, where that is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
bad=0
while read -r script; do
    bash -n "$script" || bad=1
    if [[ $script != */lib.sh ]] && ! grep -q '^set -euo pipefail$' "$script"; then
        echo "$script: needs set -euo pipefail"
        bad=1
    fi
    if command -v shellcheck >/dev/null; then
        shellcheck -x "$script" || bad=1
    fi
done < <(grep -rlE -m1 '^#(!.*bash| shellcheck shell=bash)$' .ci bench deploy tests tools)
exit "$bad"
