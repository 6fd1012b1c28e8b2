#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A quick solve in PETSc's own unmodified ex2 (it knows nothing of this library), with the plugin loaded by -dll_append: -mat_type amb must
# need the same iterations and find the same solution as aij.
# tier: check
set -u
options="-m 40 -n 30 -ksp_type cg -pc_type jacobi -ksp_rtol 1e-8 -ksp_converged_reason"
failed=0

if [ ! -x "$EXAMPLES/ex2" ]; then
  echo "skip ex2: PETSc's examples are not installed"
  exit 0
fi
for ranks in 1 2; do
  if [ -z "$MPIEXEC" ] && [ $ranks -gt 1 ]; then
    echo "skip ex2 on $ranks ranks: there is no mpiexec"
    continue
  fi
  launch=${MPIEXEC:+$MPIEXEC -n $ranks}
  aij=$($launch "$EXAMPLES/ex2" $options -mat_type aij 2>&1) || { echo "$aij"; echo "not ok ex2 with aij on $ranks ranks"; exit 1; }
  if amb=$($launch "$EXAMPLES/ex2" $options -dll_append "$LIB" -mat_type amb 2>&1) && [ "$(sed 's/error [^ ]*//' <<<"$amb")" = "$(sed 's/error [^ ]*//' <<<"$aij")" ]; then
    echo "ok ex2 with -dll_append and -mat_type amb on $ranks ranks"
  else
    printf 'aij says:\n%s\namb says:\n%s\n' "$aij" "$amb"
    echo "not ok ex2 with -dll_append and -mat_type amb on $ranks ranks"
    failed=1
  fi
done
exit $failed
