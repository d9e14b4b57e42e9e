#!/usr/bin/env bash
# What README promises, on a fresh clone of the last commit: `make demo` writes a report, `make test` passes, and a second
# `make demo` takes seconds.
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git clone -q "$root" "$work/mercer"
cd "$work/mercer"
for words in "make demo" "make test"; do
  grep -q "$words" README.md || { echo "README.md does not mention '$words'"; exit 1; }
done
unset MAKEFLAGS MAKELEVEL MFLAGS
make demo
[[ -s demo/report.html && -s demo/model.mercer ]] || { echo "make demo left no report or no model"; exit 1; }
SECONDS=0
make demo >/dev/null
((SECONDS <= 30)) || { echo "a second make demo took $SECONDS s; it has nothing to build"; exit 1; }
make test
[[ -z $(git status --porcelain) ]] || { git status --short; echo "the commands left files that .gitignore does not know"; exit 1; }
