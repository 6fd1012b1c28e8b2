#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# GAMG where what is under test is AIJ itself, with our products: the views of test/ksp/gamg.c against those of a run without. Then PETSc's own unmodified ex56,
# elasticity with a soft inclusion: levels, sizes, block sizes, complexity and iterations with -mat_type amb as with aij.
# timeoutfactor: 2
set -u
failed=0
views=$(mktemp)
trap 'rm -f "$views"' EXIT

for ranks in 1 2; do
  if [ -z "$MPIEXEC" ] && [ $ranks -gt 1 ]; then
    echo "skip GAMG on $ranks ranks: there is no mpiexec"
    continue
  fi
  launch=${MPIEXEC:+$MPIEXEC -n $ranks}
  name="GAMG with -hashgemm_for_aij on $ranks ranks"
  if output=$($launch "$BUILD/test/gamg" -options_left no -mat_type aij -save "$views" 2>&1) && output=$($launch "$BUILD/test/gamg" -options_left no -mat_type aij -hashgemm_for_aij -saved "$views" 2>&1); then
    echo "ok $name"
  else
    printf '%s\n' "$output"
    echo "not ok $name"
    failed=1
  fi
done

# on a GPU the estimates of eigenvalues, and what a factor is, differ between AIJ and AIJCUSPARSE; on several processes the latter ends in a crash in PETSc's pbjacobi
if grep -q '"AMB_GPU": "1"' "$BUILD/conf.json"; then
  launch=${MPIEXEC:+$MPIEXEC -n 1}
  $launch "$BUILD/test/gamg" -options_left no -mat_type aijcusparse -save "$views" >/dev/null 2>&1
  for type in amb nussell autosparse hashgemm; do
    if output=$($launch "$BUILD/test/gamg" -options_left no -mat_type $type -petscamb_for_gamg none -saved "$views" 2>&1); then
      echo "ok GAMG on a GPU, $type as aijcusparse"
    else
      printf '%s\n' "$output"
      echo "not ok GAMG on a GPU, $type as aijcusparse"
      failed=1
    fi
  done
else
  echo "skip GAMG on a GPU, our types as aijcusparse: there is no GPU"
fi

if [ ! -x "$EXAMPLES/ex56" ]; then
  echo "skip ex56: PETSc's examples are not installed"
  exit $failed
fi
hierarchy() { # OPTIONS...
  $launch "$EXAMPLES/ex56" -ne 9 -alpha 1e-3 -ksp_type cg -pc_type gamg -ksp_view -ksp_converged_reason "$@" 2>&1 </dev/null | grep -E 'iterations [0-9]|levels=|Complexity|rows=|ERROR'
}
launch=${MPIEXEC:+$MPIEXEC -n 1}
while read -r name options; do
  aij=$(hierarchy $options -mat_type aij)
  for type in amb hashgemm; do
    ours=$(hierarchy $options -dll_append "$LIB" -mat_type $type -mat_${type}_device cpu)
    if [ -n "$aij" ] && [ "$ours" = "$aij" ]; then
      echo "ok ex56, $name, $type"
    else
      diff <(echo "$aij") <(echo "$ours")
      echo "not ok ex56, $name, $type"
      failed=1
    fi
  done
done <<'END'
threshold -pc_gamg_threshold 0.05
pbjacobi -mg_levels_ksp_type chebyshev -mg_levels_pc_type pbjacobi -pc_gamg_threshold 0.01 -pc_gamg_coarse_eq_limit 50
END
exit $failed
