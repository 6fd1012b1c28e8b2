#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The corpus of each fuzz target, under the address and undefined behaviour sanitizers; test/fuzz/run.sh looks for new inputs
# gpu: 0
# tier: deep
# timeoutfactor: 10
# nsize: 2
cd "$(dirname "$0")/.." || exit 1
if [ "$(uname -m)" != x86_64 ]; then
  echo "skip corpus of fuzz targets: they call the kernels for x86 processors by name"
  exit 0
fi
if ! command -v "${CLANG:-clang}" >/dev/null || ! echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d == 0 && n; }' | "${CLANG:-clang}" -x c - -fsanitize=fuzzer,address,undefined -o /dev/null 2>/dev/null; then
  echo "skip corpus of fuzz targets: there is no clang with libFuzzer (Debian: clang libclang-rt-14-dev)"
  exit 0
fi
exec bash test/fuzz/run.sh replay
