#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# PCGAMG of type ambagg in PETSc's unmodified ex56, elasticity with its near-null space, against PETSc's type agg: at most one iteration and 5 percent of
# complexity more; and on the Laplacian of a graph of a file.
#   bash test/ksp/ambagg.sh large     192,000 unknowns of ex56 only
# tier: test
# tier: deep large
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0
launch=${MPIEXEC:+$MPIEXEC -n 1}

figures() { # OPTIONS: iterations and complexity
  $launch "$EXAMPLES/ex56" -pc_type gamg -dll_append "$LIB" -mat_type amb -mat_amb_device cpu -mat_shadow_tune off -ksp_converged_reason -ksp_view "$@" 2>&1 |
    awk '/iterations/ && /converged/ { its = $NF } /Complexity/ { sub(/.*operator = */, ""); oc = $1 } END { print its, oc }'
}
sizes="9 19"
[ "${1:-}" = large ] && sizes=39
for ne in $sizes; do
  agg=$(figures -ne $ne -pc_gamg_type agg)
  ambagg=$(figures -ne $ne -pc_gamg_type ambagg)
  echo "    -ne $ne: agg $agg, ambagg $ambagg (iterations, complexity)" >&2
  if echo "$agg $ambagg" | awk 'NF != 4 || $3 > $1 + 1 || 100 * $4 > 105 * $2 { exit 1 }'; then echo "ok ex56 -ne $ne"
  else
    echo "not ok ex56 -ne $ne: agg $agg, ambagg $ambagg (iterations, complexity)"
    failed=1
  fi
done
[ "${1:-}" = large ] && exit $failed
if $launch "$EXAMPLES/ex56" -ne 1 -pc_type gamg -pc_gamg_type ambagg -dll_append "$LIB" -help 2>&1 | grep -q 'GAMG-AMBAGG options'; then echo "ok options in -help"
else
  echo "not ok options in -help"
  failed=1
fi
# smoothing and P^T A P of a level have events of their own, as with agg
events() { $launch "$EXAMPLES/ex56" -ne 9 -pc_type gamg -pc_gamg_type "$1" -dll_append "$LIB" -mat_type amb -mat_amb_device cpu -log_view 2>&1 | awk '/^PCGAMG (Opt|Gal) l/ { print $1, $2, $3, $4 }' | sort; }
if [ "$(events ambagg)" = "$(events agg)" ] && events ambagg | grep -q "PCGAMG Opt l0[0-9] 1"; then echo "ok events of a level"
else
  echo "not ok events of a level: $(events ambagg | tr '\n' ';') agg $(events agg | tr '\n' ';')"
  failed=1
fi
$launch "$BUILD/test/ambagg" -ambagg_graph data/PGPgiantcompo.mtx.gz -mat_type amb -mat_amb_device cpu -options_left no || failed=1
exit $failed
