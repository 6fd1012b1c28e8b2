#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The rules by which make check-clients compares outputs: they must pass what petsc-amb may change, and catch everything else. No client runs here.
# gpu: 0
exec "${PYTHON:-python3}" "$(dirname "$0")/selftest.py"
