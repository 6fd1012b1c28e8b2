#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The differential tester with a fixed seed: every matrix type, by name and by -petscamb_for_aij, on 1, 2 and 3 processes
# timeoutfactor: 8
set -euo pipefail
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" test/differ.py --seed 1 --seconds 110 --failures 1
