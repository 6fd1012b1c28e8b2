#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test/online -online_products and -online_file tell of the first products of a matrix. No time is judged.
set -u
. "$(dirname "$0")/../shell/expect.sh"
online=$BUILD/test/online
waits="^a host that waits: tuned after [1-9][0-9]* products, which took -?[0-9.]+ ms more"

OMP_NUM_THREADS=1 expect "products of a grid, online" 0 "$waits" "$online" -online_products 12 -mat_type amb -mat_shadow_tune online
if [ "$(grep -cE "^[0-9]+,[0-9.]+$" "$work/out")" = 60 ] && grep -qE "^a host that does not wait: had asked for [1-9]" "$work/out"; then echo "ok sixty products"
else
  echo "not ok sixty products"
  failed=1
fi
OMP_NUM_THREADS=1 expect "products of a file, by the model" 0 "$waits" "$online" -online_file "$root/data/cage10.mtx.gz" -mat_type autosparse -mat_shadow_tune model
exit $failed
