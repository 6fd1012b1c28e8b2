#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# petscamb graph: each algorithm against plain loops and, where there are, networkx and SciPy (graph.py).
# timeoutfactor: 4
set -u
cd "$(dirname "$0")/../.." || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
if "$BIN/petscamb" --version | grep -q 'complex numbers'; then
  echo "skip graph.sh: PETSc has complex numbers, and the weights of a graph are real"
  exit 0
fi
exec "${PYTHON:-python3}" test/graph/graph.py "$BIN/petscamb"
