#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The manual pages in the comments of the sources: every function of petscamb.h and petscambgraph.h has one, which explains its arguments, and names that it refers to exist.
# make site makes HTML of them.
# gpu: 0
# tier: check
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-manual-XXXXXX")
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3}
failed=0
"$python" "$root/docs/site/manualpages.py" --check || failed=1

# a page in Markdown, from a comment and the declaration behind it
"$python" "$root/docs/site/manualpages.py" "$work" || failed=1
if grep -qF 'PetscErrorCode MatPowEntries(Mat A, PetscReal power);' "$work/MatPowEntries.md" && grep -qF -- '- `power`: the exponent' "$work/MatPowEntries.md" &&
  grep -qF '[`MatPruneRows`](MatPruneRows.md)' "$work/MatPowEntries.md" && grep -qF '[`MatPowEntries`](MatPowEntries.md)' "$work/index.md"; then
  echo "ok a manual page"
else
  cat "$work/MatPowEntries.md" >&2
  echo "not ok a manual page" && failed=1
fi

# what is wrong is found: a function without a page, and an argument without a line
mkdir -p "$work/tree/docs/site" "$work/tree/src" "$work/tree/include"
cp "$root/docs/site/manualpages.py" "$work/tree/docs/site/"
{ cat "$root/include/petscamb.h" && echo 'PETSC_EXTERN PetscErrorCode MatNobodyKnows(Mat);'; } >"$work/tree/include/petscamb.h"
cp "$root/include/petscambgraph.h" "$work/tree/include/"
cp -r "$root/src/graph" "$root/src/mat" "$root/src/ksp" "$root/src/petscamb.c" "$work/tree/src/"
sed -i 's/^- power - the exponent/- force - the exponent/' "$work/tree/src/graph/glue/matprune.c"
if "$python" "$work/tree/docs/site/manualpages.py" --check >"$work/out" 2>&1; then found=none; else found=$(grep -cE "MatNobodyKnows: no manual page|MatPowEntries: the argument power is not explained|MatPowEntries has no argument force" "$work/out"); fi
if [ "$found" = 3 ]; then echo "ok mistakes are found"; else cat "$work/out" >&2 && echo "not ok mistakes are found" && failed=1; fi
exit $failed
