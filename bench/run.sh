#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The main job, make run: real systems with aij and with amb, in bin/petscamb and in PETSc's own unmodified ex45 and ex56, one table.
# make run says where everything is; called by hand without that, this asks make.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${BIN:-}" ] || [ -z "${LIB:-}" ] || [ -z "${BUILD:-}" ] || [ -z "${EXAMPLES:-}" ]; then
  exec make -C "$root" run
fi
exec "${PYTHON:-python3}" "$root/bench/run.py" "$@"
