#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A disk without room while petscamb writes: exit code 1, one line that names the file, and no part of a file that could be taken for the whole. Prints ok or not ok for each.
#
# make test sets BIN; by hand, bin/ serves.
# gpu: 0
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${BIN:-$root/bin}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
failed=0
if [ ! -c /dev/full ]; then
  echo "skip full disk: the system has no /dev/full"
  exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-full-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
printf '1 2\n2 3\n3 1\n' >edges
for file in out.html out.svg out.png; do ln -s /dev/full "$file"; done # the name says what is written

# refuse NAME OUTPUT COMMAND...: the command must fail with this output, and say so in one line
refuse() {
  local name=$1 to=$2 status
  shift 2
  "$@" >"$to" 2>err
  status=$?
  if [ $status -eq 1 ] && grep -q '^petscamb: .*could not be written.*disk' err && [ "$(wc -l <err)" -eq 1 ]; then
    echo "ok full disk, $name"
  else
    echo "not ok full disk, $name"
    echo "exit code $status" >&2
    head -n 12 err >&2
    failed=1
  fi
}
bench=("$BIN/petscamb" bench p5:10 -types aij -seconds 0.001)
refuse "info" /dev/full "$BIN/petscamb" info p5:10
refuse "info -json" /dev/null "$BIN/petscamb" info p5:10 -json /dev/full
refuse "info -plot, svg" /dev/null "$BIN/petscamb" info p5:10 -plot out.svg
refuse "info -plot, html" /dev/null "$BIN/petscamb" info p5:10 -plot out.html
refuse "info -plot, png" /dev/null "$BIN/petscamb" info p5:10 -plot out.png
refuse "bench" /dev/full "${bench[@]}"
refuse "bench -csv" /dev/null "${bench[@]}" -csv /dev/full
refuse "bench -json" /dev/null "${bench[@]}" -json /dev/full
refuse "bench -html" /dev/null "${bench[@]}" -html out.html
refuse "solve -csv" /dev/null "$BIN/petscamb" solve p5:10 -types aij -seconds 0 -rounds 1 -csv /dev/full
refuse "graph" /dev/full "$BIN/petscamb" graph pagerank edges
refuse "graph -csv" /dev/null "$BIN/petscamb" graph pagerank edges -csv /dev/full
refuse "graph -json" /dev/null "$BIN/petscamb" graph pagerank edges -json /dev/full
refuse "--help" /dev/full "$BIN/petscamb" --help

# a disk that is full after some kilobytes: what is too long is cut to nothing
mkdir disk
if unshare -rm mount -t tmpfs -o size=16k none disk 2>/dev/null; then
  export -f refuse
  export BIN work
  if unshare -rm bash -c 'failed=0
    mount -t tmpfs -o size=16k none disk
    refuse "part of a picture" /dev/null "$BIN/petscamb" info p5:40 -plot disk/part.html
    [ -e disk/part.html ] && [ ! -s disk/part.html ] || failed=1
    exit $failed'; then
    echo "ok full disk, no part of a picture is left"
  else
    echo "not ok full disk, no part of a picture is left"
    failed=1
  fi
else
  echo "skip full disk after some kilobytes: unshare cannot mount a file system here"
fi
exit $failed
