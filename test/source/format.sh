#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The C and CUDA sources are as clang-format 14 writes them by .clang-format; other versions break lines in other places.
#   bash test/source/format.sh fix     writes them so
# gpu: 0
cd "$(dirname "$0")/../.." || exit 1
format=$(command -v clang-format-14 || command -v clang-format)
if [ -z "$format" ] || ! "$format" --version | grep -q 'version 14\.'; then
  echo "skip format.sh: there is no clang-format 14 (Debian 12: clang-format)"
  exit 0
fi
mode=(--dry-run -Werror)
[ "${1:-}" != fix ] || mode=(-i)
if find include src tool bench test config docs \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print0 | xargs -0 -n 40 -P "$(env -u OMP_NUM_THREADS nproc)" "$format" "${mode[@]}"; then
  echo "ok the sources are formatted"
else
  echo "not ok the sources are formatted (bash test/source/format.sh fix)"
  exit 1
fi
