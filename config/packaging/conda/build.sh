#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
python configure.py --prefix="$PREFIX" --with-install=0 --with-cuda=0 PETSC_DIR="$PREFIX" PETSC_ARCH= CC=mpicc CFLAGS="-I$PREFIX/include" LDFLAGS="-L$PREFIX/lib -Wl,-rpath,$PREFIX/lib"
make install STRIP=0
