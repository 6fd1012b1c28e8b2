# SPDX-License-Identifier: BSD-2-Clause
# Sourced by scripts that compile, in the top folder: warnings of $cc, and of nvcc with it, are errors where compilers.h knows the compiler
werror=() nvwerror=()
if "$cc" -E config/compilers.h >/dev/null 2>&1; then werror=(-Werror) nvwerror=(-Werror all-warnings); fi
