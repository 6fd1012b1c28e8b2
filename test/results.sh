#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The tables and plots in docs/results are those that the raw results give, and the matrices that were measured are those of data/.
# tier: check
exec "${PYTHON:-python3}" "$(dirname "$0")/../docs/results/results.py" --check
