#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Each public setter is in the table of test/mat/setters.c, and those that Fortran binds are public setters; test/plugin/binding.py compares Python's functions with the headers
set -u
. "$(dirname "$0")/../shell/expect.sh"
setters=$(sed -nE 's/^PETSC_EXTERN PetscErrorCode ([A-Za-z]+Set[A-Za-z]+)\(.*/\1/p' "$root"/include/petscamb{,graph}.h)
[ "$(echo "$setters" | wc -l)" -ge 23 ] && echo "ok petscamb.h has setters" || { echo "not ok petscamb.h has setters" && failed=1; }
for name in $setters; do
  grep -qE "S\($name,|\"(skip )?$name[\":]" "$root/test/mat/setters.c" && echo "ok $name has an entry" || { echo "not ok $name has no entry in test/mat/setters.c" && failed=1; }
done
for name in $(grep -ohE "['\"](Mat|PC|KSP)[A-Za-z]*Set[A-Z][A-Za-z]+['\"]" "$root/src/binding/fortran/petscamb.F90" | tr -d "\"'" | sort -u); do
  echo "$setters" | grep -qx "$name" && echo "ok $name of a binding is public" || { echo "not ok $name of a binding is no public setter" && failed=1; }
done
exit $failed
