#!/usr/bin/env bash
# Installs a build into an empty prefix, then configures, builds and runs a project that knows only that prefix.
#   tests/install/run.sh BUILD_DIR
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail
build=$(realpath "${1:?usage: run.sh BUILD_DIR}")
here=$(cd "$(dirname "$0")" && pwd)
cmake=${CMAKE_COMMAND:-cmake}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
# Packages are unpacked elsewhere than they were made for: nothing may remember the first place.
mv "$work/first" "$work/prefix"
"$cmake" -S "$here" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/configure.log" 2>&1 ||
  { cat "$work/configure.log"; exit 1; }
grep -q "^mercer_DIR:PATH=$work/prefix/" "$work/build/CMakeCache.txt" || { echo "find_package(mercer) found another Mercer"; exit 1; }
"$cmake" --build "$work/build"
"$work/build/user"

if [[ -x $work/prefix/bin/mercer ]]; then
  env -u LD_LIBRARY_PATH "$work/prefix/bin/mercer" --version
  for file in bash-completion/completions/mercer zsh/site-functions/_mercer man/man1/mercer.1; do
    grep -q 'mercer' "$work/prefix/share/$file" || { echo "share/$file was not installed"; exit 1; }
  done
elif grep -q '^MERCER_BUILD_CLI:BOOL=ON' "$build/CMakeCache.txt"; then
  echo "the tool was not installed"
  exit 1
fi
if grep -rIl -e "$build" "$work/prefix" | grep .; then
  echo "the files above remember the build directory"
  exit 1
fi
