#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The differential tester with fixed seeds, for every type, by name and for aij, on 1, 2 and 3 processes. make check-differ takes new seeds.
# gpu: 3
# timeoutfactor: 15
# nsize: 2
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
export BUILD=${BUILD:-$root/build/default}
exec "${PYTHON:-python3}" "$root/test/differ/differ.py" --seed 1 --sequences 36 --shrink 60 --jobs "$(nproc)"
