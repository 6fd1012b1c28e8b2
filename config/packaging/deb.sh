#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Builds the Debian packages in a folder, from a copy of this tree, and runs lintian on them:  config/packaging/deb.sh DIR
# Needs dpkg-dev, debhelper, chrpath, lintian and what configure.py needs.
set -euo pipefail
[ $# = 1 ] || { sed -n 3,4p "$0" >&2 && exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
version=$(cat "$root/VERSION")
mkdir -p "$1"
cd "$1"
rm -rf "petsc-amb-$version"
mkdir "petsc-amb-$version"
(cd "$root" && tar -cf - --exclude=./build --exclude=./bin --exclude=./.git --exclude=__pycache__ .) | tar -xf - -C "petsc-amb-$version"
cp -r "petsc-amb-$version/config/packaging/debian" "petsc-amb-$version/debian"
(cd "petsc-amb-$version" && dpkg-buildpackage -b -us -uc)
lintian --fail-on error ./*.changes
