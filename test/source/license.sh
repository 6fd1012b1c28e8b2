#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Every source file names the licence in its first line, or in the second where the first says what runs it.
#   bash test/source/license.sh add     writes the line where it is missing
# gpu: 0
# tier: check
set -u
cd "$(dirname "$0")/../.." || exit 1
line="SPDX-License-Identifier: BSD-2-Clause"

missing() {
  find makefile configure.py .ci/run tool bench config data include src test \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cc' -o -name '*.F90' -o -name '*.py' -o -name '*.sh' -o -name makefile -o -name run \) -type f |
    sort | while read -r file; do head -n 2 "$file" | grep -qF "$line" || echo "$file"; done
}

if [ "${1:-}" = add ]; then
  missing | while read -r file; do
    case $file in
    *.[ch] | *.cu | *.cuh | *.cc) comment="/* $line */" ;;
    *.F90) comment="! $line" ;;
    *) comment="# $line" ;;
    esac
    case $(head -c 2 "$file") in
    '#!') sed -i "1a $comment" "$file" ;;
    *) sed -i "1i $comment" "$file" ;;
    esac
    echo "$file"
  done
elif [ -n "$(missing)" ]; then
  missing >&2
  echo "not ok every source file names the licence (bash test/source/license.sh add)"
  exit 1
else
  echo "ok every source file names the licence"
fi
