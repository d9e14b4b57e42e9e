#!/usr/bin/env bash
# Installs what Mercer builds with: Debian packages, a .venv for Python, npm packages for the charts of reports and the formulas of the documentation.
# Looks first and does only what is missing, so a second run takes about a second. Called by `make setup`; with the word `docs`
# it also installs what the documentation is built with, with the word `tests` what only tests use (a browser, another
# shell): nothing else needs either.
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }
listed() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"; }
# Checked once with one call: dpkg-query is slow when started for every package.
missing_packages() {
  local list=$1 installed
  installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' 2>/dev/null | sed -n 's/^ii *//p' || true)
  listed "$list" | grep -vxFf <(printf '%s\n' "$installed") || true
}
# A python3 or cmake from elsewhere serves as well as Debian's own.
provided_elsewhere() {
  case $1 in
    python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    python3-dev) python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null ;;
    cmake) command -v cmake >/dev/null && [[ $(printf '%s\n' 3.25 "$(cmake --version | sed -n '1s/[^0-9]*//p')" | sort -V | head -1) == 3.25 ]] ;;
    ninja-build) command -v ninja >/dev/null ;;
    *) return 1 ;;
  esac
}
optional() { case $1 in clang-format-* | clang-tidy-* | ccache) return 0 ;; *) return 1 ;; esac; }
# The whole answer is read: a grep that stops at the first match would break the pipe, and pipefail take that for a no.
offered() { [[ $(LC_ALL=C apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]; }

other_system() {
  cat >&2 <<END
setup: this is not Debian or Ubuntu, so nothing was installed. Mercer needs, under your system's names:
       g++ 12 or newer (or clang 16), cmake 3.25, ninja, pkg-config, python 3.11 with headers,
       $(listed tools/debian-packages.txt | grep '^lib\|json\|zlib' | tr '\n' ' ')
       Then: python3 -m venv $venv && $venv/bin/pip install -r tools/python-packages.txt
             (cd web && npm ci)          for charts in reports
       and cmake --preset release && cmake --build --preset release
END
  exit 1
}

install_debian_packages() {
  local missing=() wanted=() package root=()
  for package in $(missing_packages tools/debian-packages.txt); do
    provided_elsewhere "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local required=()
  for package in "${missing[@]}"; do optional "$package" || required+=("$package"); done
  if ((EUID != 0)) && command -v sudo >/dev/null; then
    root=(sudo)
  elif ((EUID != 0 && ${#required[@]} == 0)); then
    say "not root, and no sudo: ${missing[*]} not installed; what needs it is skipped with a sentence"
    return 0
  elif ((EUID != 0)); then
    fail "run as root, or install sudo: these packages are missing: ${required[*]}"
  fi
  apt() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@"; }
  # Package lists are fetched when there are none, or when something required is to be installed.
  if ((${#required[@]})) || ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
    say "fetching package lists"
    apt update -qq || say "the package lists could not be refreshed; going on with those at hand"
  fi
  for package in "${missing[@]}"; do
    if optional "$package" && ! offered "$package"; then
      say "this release has no $package; what needs it is skipped with a sentence"
    else
      wanted+=("$package")
    fi
  done
  ((${#wanted[@]})) || return 0
  say "installing ${wanted[*]}"
  apt install -y -qq --no-install-recommends "${wanted[@]}" >/dev/null ||
    fail "apt-get could not install: ${wanted[*]}; run 'apt-get install ${wanted[*]}' to see why"
}

# What some tests need besides. Nothing here is worth stopping for: without it those tests say that they were skipped.
install_test_packages() {
  local missing=() package root=()
  for package in $(missing_packages tools/test-packages.txt); do
    if offered "$package"; then missing+=("$package"); else say "this release has no $package; the tests that need it are skipped"; fi
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)) && command -v sudo >/dev/null; then
    root=(sudo)
  elif ((EUID != 0)); then
    say "not root, and no sudo: ${missing[*]} not installed; the tests that need it are skipped"
    return 0
  fi
  say "installing ${missing[*]}"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    say "apt-get could not install ${missing[*]}; the tests that need it are skipped; run 'apt-get install ${missing[*]}' to see why"
}

install_python_packages() {
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "python3 must be 3.11 or newer, got $(python3 --version 2>&1)"
  [[ -x $venv/bin/python ]] && "$venv/bin/python" -c '' 2>/dev/null || {
    say "creating $venv with $(python3 --version)"
    python3 -m venv --clear "$venv"
  }
  install_python_list tools/python-packages.txt "$venv/.mercer-setup"
}

# The stamp holds a hash of the list: pip is asked only when the list or Python changed.
install_python_list() {
  local list=$1 stamp=$2 hash
  hash=$({ "$venv/bin/python" --version; cat "$list"; } | sha256sum)
  [[ -f $stamp && $(<"$stamp") == "$hash" ]] && return 0
  say "installing $list into $venv"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$list"
  printf '%s\n' "$hash" >"$stamp"
}

install_chart_packages() {
  local stamp=web/node_modules/.mercer-setup hash why=""
  command -v node >/dev/null && command -v npm >/dev/null || why="node and npm are not here"
  [[ -n $why ]] || node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' || why="node is $(node --version), older than 18"
  if [[ -n $why ]]; then
    say "$why: everything builds, but reports will have no charts"
    return 0
  fi
  hash=$(sha256sum <web/package-lock.json)
  [[ -f $stamp && $(<"$stamp") == "$hash" ]] && return 0
  say "installing chart libraries into web/node_modules"
  if (cd web && npm ci --silent --no-progress); then
    printf '%s\n' "$hash" >"$stamp"
  else
    say "npm could not install the chart libraries: everything builds, but reports will have no charts; run 'npm ci' in web/ to see why"
  fi
}

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || other_system
install_debian_packages
install_python_packages
install_chart_packages
[[ ${1-} != tests ]] || install_test_packages
[[ ${1-} != docs ]] || install_python_list tools/docs-packages.txt "$venv/.mercer-docs"
