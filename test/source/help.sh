#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The last table of docs/options.md is what -help prints. make test sets BIN.
set -u
. "$(dirname "$0")/../shell/expect.sh"
if "$BIN/petscamb" --version | grep -q "real.* 32-bit indices"; then
  OMP_NUM_THREADS=1 expect "docs/options.md is what -help prints" 0 "^ok docs/options.md has the [0-9]+ options" "${PYTHON:-python3}" "$root/docs/site/options.py" "$BIN/solve" --check
else
  echo "skip docs/options.md is what -help prints: numbers or indices are others"
fi
exit $failed
