#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# -citations names the papers behind what a program used, and no others. make test sets BIN.
set -u
. "$(dirname "$0")/../shell/expect.sh"
cd "$work" || exit 1
skip_complex "products with dense matrices and batches are real"
export OMP_NUM_THREADS=1
keys=$(grep -rhoE 'Citation\[\] = "@[a-z]+\{[a-z0-9]+' "$root/src" | sed 's/.*{//' | sort)

# cites NAME KEYS COMMAND...: of the papers of petsc-amb, the command cites these alone
cites() {
  local name=$1 wanted=$2
  shift 2
  "$@" -citations >out 2>&1
  found=$(for key in $keys; do grep -qE "@[a-z]+\{$key," out && echo "$key"; done | paste -sd " ")
  cited="${cited:-} $found"
  [ "$found" = "$wanted" ] && echo "ok $name" || { echo "not ok $name: cites '$found', not '$wanted'" && failed=1; }
}
solve() { "$BIN/solve" -f "$root/data/bar_elasticity.mtx.gz" -ksp_type cg -ksp_max_it 3 -mat_shadow_tune model "$@"; }
cites "aij" "" solve -mat_type aij -pc_type none
cites "amb" "nagasaka2019" solve -mat_type amb -mat_amb_device cpu -pc_type none
cites "nussell" "nagasaka2014" solve -mat_type nussell -mat_nussell_device cpu -pc_type none
cites "ccoo" "aliaga2021" solve -mat_type ccoo -mat_ccoo_device cpu -pc_type none
cites "tilecomposite" "yang2011" solve -mat_type tilecomposite -mat_shadow_tune off -mat_tilecomposite_device cpu -pc_type none
cites "ambagg" "bell2012exposing" solve -mat_type aij -pc_type gamg -pc_gamg_type ambagg
cites "hashgemm" "nagasaka2019spgemm" "$BIN/triangles" -scale 6 -mat_hashgemm_device cpu
for accumulator in heap esc merge; do
  cites "hashgemm, accumulator $accumulator" "liu2015framework nagasaka2019spgemm" "$BIN/triangles" -scale 6 -mat_hashgemm_device cpu -mat_hashgemm_accumulator $accumulator
done
cites "hashgemm, accumulator hash" "nagasaka2019spgemm" "$BIN/triangles" -scale 6 -mat_hashgemm_device cpu -mat_hashgemm_accumulator hash
cites "products with dense matrices" "hong2019adaptive" "$BIN/lobpcg" -mat_type hashgemm -mat_hashgemm_device cpu -eps_pc_type jacobi -nev 8 -max_it 2
cites "batches" "nagasaka2019batched" "$BIN/gcn" -times 0 -epochs 1 -graphs 100
for key in $keys; do
  case " $cited " in *" $key "*) echo "ok $key is cited by a program" ;; *) echo "not ok $key is cited by no program of this test" && failed=1 ;; esac
done
exit $failed
