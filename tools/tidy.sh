#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy over the given C++ files, or over those that differ from main (from the last commit, on main itself); --all: every one.
#
#   tools/tidy.sh [--all | FILE...]
#
# Needs compile_commands.json from a build folder: the newest of build/*, or $MERCER_BUILD. JOBS (2) files at a time.
# A header is checked through the sources that include it. Exit 0: clean.
set -eu
cd "$(dirname "$0")/.."

tidy=${CLANG_TIDY:-clang-tidy-16}
command -v "$tidy" >/dev/null || { echo "$tidy is not installed: make setup installs it" >&2; exit 2; }

database=${MERCER_BUILD:-}
if [ -z "$database" ]; then
  newest=$(ls -t build/*/compile_commands.json 2>/dev/null | head -n 1)
  [ -n "$newest" ] || { echo "no build/*/compile_commands.json: configure first (cmake --preset dev)" >&2; exit 2; }
  database=$(dirname "$newest")
fi

if [ "${1:-}" = --all ]; then
  files=$(git ls-files "src/*.cpp" "cli/*.cpp" "python/bindings/*.cpp" "examples/*.cpp" "bench/*.cpp" "tests/*.cpp")
elif [ $# -gt 0 ]; then
  files=$(printf '%s\n' "$@")
else
  base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
  files=$({ git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard; } | sort -u |
    grep -E '^(src|cli|python/bindings|examples)/.*\.cpp$' || true)
fi

# Only what the build knows: clang-tidy would guess the flags of the rest.
known=$(printf '%s\n' "$files" | while read -r file; do
  [ -z "$file" ] || ! grep -qF "/$file\"" "$database/compile_commands.json" || echo "$file"
done)
unknown=$(printf '%s\n' "$files" | grep -vxF "$known" || true)
[ -z "$unknown" ] || [ -z "$files" ] || printf 'not in %s, left out: %s\n' "$database" "$(echo $unknown)" >&2
[ -n "$known" ] || { echo "nothing to check"; exit 0; }
# Quiet when clean: clang-tidy counts the warnings it suppresses in system headers on standard error.
export tidy database
printf '%s\n' "$known" | xargs -P "${JOBS:-2}" -n 1 sh -c '
  out=$("$tidy" --quiet -p "$database" --extra-arg=-Wno-unknown-warning-option "$1" 2>&1) && exit 0
  printf "%s\n" "$out" | grep -v "warnings\{0,1\} generated\|^Suppressed\|^Use -header-filter"
  exit 1' tidy
