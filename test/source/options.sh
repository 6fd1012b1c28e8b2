#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The options that formats and the report list are those that the code reads, and those of docs/options.md: petsc-amb would take an option that is missing in
# one of these places for a misspelt one, or nobody would know of it. Every type of the list of formats has its values in the table of docs/options.md.
# gpu: 0
# tier: check
set -u
cd "$(dirname "$0")/../.." || exit 1
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

# from the list of formats in src/petscamb.c
formats=$("${PYTHON:-python3}" test/runtests.py --types) || exit 1
word="(petscamb_|hashgemm_for_|mat_($(printf '%s|' $formats)shadow)_)[a-z0-9_]+"

# the options in the formats' own lists, of any name
own() { grep -rhozE 'Options\[\] *= *\{[^}]*' src/mat/impls | tr '\0' '\n' | grep -oE '"[^"]+"' | tr -d '"'; }

# options HYPHEN: names in the source that begin so; a name with %s is one for every format
options() {
  grep -ohE "\"$1$word\"" -r src/vec src/mat src/graph src/ksp/ksp src/ksp/pc src/petscamb.c | tr -d '"' | sed 's/^-//' | grep -v '_$'
  for format in $formats; do
    grep -ohE "\"$1mat_%s_[a-z_]+\"" -r src/mat | tr -d '"' | sed "s/^-//; s/%s/$format/"
  done
}

{ options ''; own; } | sort -u >"$work/listed"
options - | sort -u >"$work/found"
same "the list has what the code reads"

grep -oE -- "-$word" docs/options.md | sed 's/^-//' | sort -u >"$work/found"
same "docs/options.md has the list"

printf '%s\n' $formats | sort >"$work/listed"
for option in mat_type petscamb_for_aij; do
  grep -m 1 -E "^\| \`-$option\`" docs/options.md | cut -d'|' -f3 | sed 's/(.*//' | grep -oE '[a-z]+' | sort >"$work/found"
  same "docs/options.md has the types as values of -$option"
done
exit $failed
