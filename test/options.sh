#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The list of our options in src/mat/shadow/shadowreport.c is what the code reads, and what docs/options.md says: an option that is missing in one of
# them would be taken for a misspelt one, or nobody would know of it.
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
sed -n '/^static const char \*const PetscAMBOptions/,/};/p' src/mat/shadow/shadowreport.c | grep -oE "\"$word\"" | tr -d '"' | sort >"$work/listed"

# a name with %s is one for every format
{
  grep -ohE "\"-$word\"" -r src --exclude-dir=examples | tr -d '"-'
  for format in $(grep -ohE '#define MAT[A-Z]+ +"[a-z]+"' include/petscamb.h | grep -oE '"[a-z]+"' | tr -d '"' | grep -vE '^(seq|mpi)aij'); do
    grep -ohE '"-mat_%s_[a-z_]+"' -r src/mat | tr -d '"-' | sed "s/%s/$format/"
  done
} | sort -u >"$work/found"
same "the list has what the code reads"

grep -oE -- "-$word" docs/options.md | sed 's/^-//' | sort -u >"$work/found"
same "docs/options.md has the list"
exit $failed
