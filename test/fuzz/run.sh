#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Fuzzes the Matrix Market parser under the address and undefined behaviour sanitizers with clang's libFuzzer. The longest line is set to
# 64 bytes, so that its limit is met often.
#   test/fuzz/run.sh [SECONDS [FOLDER]]     (600 seconds; the corpus is kept in FOLDER, build/fuzz)
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-600}
folder=${2:-build/fuzz}
CLANG=${CLANG:-clang}
command -v "$CLANG" >/dev/null || { echo "fuzzing needs clang and its compiler-rt (Debian: clang libclang-rt-14-dev)" >&2; exit 1; }
mkdir -p "$folder/corpus"

# seeds: one small file of each kind, behind four bytes that seed the cuts
seed() { printf "0123$2" >"$folder/corpus/seed-$1"; }
seed real '%%%%MatrixMarket matrix coordinate real general\n%% comment\n\n3 4 3\n1 1 1.5\n2 4 -2e-3\r\n3 1 12345678901234567890.5\n'
seed symmetric '%%%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n1 1 5\n3 1 -7\n'
seed skew '%%%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 .5\n3 1 1d2\n'
seed hermitian '%%%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 1 -1\n'
seed pattern '%%%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n2 1\n3 3\n'
seed array '%%%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n'
seed comment '%%%%MatrixMarket matrix coordinate real general\n%% a comment that is longer than the longest line, which has sixty-four bytes here\n1 1 1\n%% another comment that is longer than the longest line, which has sixty-four bytes\n1 1 1\n'
seed arrayskew '%%%%MatrixMarket matrix array complex skew-symmetric\n3 3\n1 1\n2 2\n3 3\n'

cat >"$folder/words" <<'WORDS'
"%%MatrixMarket"
" matrix"
" coordinate"
" array"
" real"
" integer"
" pattern"
" complex"
" general"
" symmetric"
" skew-symmetric"
" hermitian"
"nan"
"inf"
"1e308"
"1e-320"
"9223372036854775807"
"0.1234567890123456789012345"
"\x0d\x0a"
"\x00"
WORDS

"$CLANG" -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -DMTX_LINE_MAX=64 -Isrc \
  test/fuzz/mtx_fuzz.c src/mat/io/mtxparse.c src/mat/io/mtxdecimal.c -lpthread -o "$folder/mtx_fuzz"
"$folder/mtx_fuzz" -max_total_time="$seconds" -max_len=2000 -dict="$folder/words" -timeout=10 -print_final_stats=1 -artifact_prefix="$folder/" "$folder/corpus"
