#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The options that formats and the report list are those that the code reads, and those of docs/options.md: petsc-amb would take an option that is missing in
# one of these places for a misspelt one, or nobody would know of it.
# tier: check
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-options-XXXXXX")
trap 'rm -rf "$work"' EXIT

same() { # NAME: what is in one of listed and found only
  if [ -s "$work/listed" ] && diff "$work/listed" "$work/found" >"$work/difference"; then echo "ok $1"
  else
    echo "not ok $1"
    cat "$work/difference" >&2
    failed=1
  fi
}

word='(petscamb_|hashgemm_for_|mat_(amb|nussell|autosparse|hashgemm|shadow)_)[a-z0-9_]+'
formats=$(grep -ohE '#define MAT[A-Z]+ +"[a-z]+"' include/petscamb.h | grep -oE '"[a-z]+"' | tr -d '"' | grep -vE '^(seq|mpi)aij')

# options HYPHEN: names in the source that begin so; a name with %s is one for every format
options() {
  grep -ohE "\"$1$word\"" -r src/mat src/petscamb.c | tr -d '"' | sed 's/^-//' | grep -v '_$'
  for format in $formats; do
    grep -ohE "\"$1mat_%s_[a-z_]+\"" -r src/mat | tr -d '"' | sed "s/^-//; s/%s/$format/"
  done
}

options '' | sort -u >"$work/listed"
options - | sort -u >"$work/found"
same "the list has what the code reads"

grep -oE -- "-$word" docs/options.md | sed 's/^-//' | sort -u >"$work/found"
same "docs/options.md has the list"
exit $failed
