#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A PETSc with CUDA and an MPI that is not CUDA-aware: PETSc ends a program that comes to its GPU, unless this library is loaded. The GPU is feigned, as
# far as PETSc looks at it before it tries its MPI, with memory that the host cannot read; what the MPI says of itself is feigned, too.
# Prints ok, not ok or skip for each.
# gpu: 0
#
# make test sets BUILD, LIB, PETSC_DIR and PETSC_ARCH.
set -u
conf() { eval "echo $(sed -n "s/^$1 := //p" "$BUILD/conf.mk")"; }
if [ -z "$(conf AMB_CUDA)" ]; then
  echo "skip gpuaware: this PETSc has no CUDA"
  exit 0
fi
. "$(dirname "$0")/../shell/expect.sh"
unset PETSC_OPTIONS
case $LIB in *[[:space:]]*) ln -s "$LIB" "$work/libpetscamb.so" && LIB=$work/libpetscamb.so ;; esac

cat >"$work/feigned.c" <<'END'
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
int MPIX_Query_cuda_support(void) { return atoi(getenv("MPI_ANSWERS")); }
int cuInit(unsigned int flags) { return 0; }
int cudaGetDeviceCount(int *n) { return *n = 1, 0; }
int cudaGetDeviceProperties(void *properties, int device) { return 0; }
int cudaGetDeviceProperties_v2(void *properties, int device) { return 0; }
int cudaSetDevice(int device) { return 0; }
int cudaSetDeviceFlags(unsigned int flags) { return 0; }
int cudaGetLastError(void) { return 0; }
int cudaDeviceSynchronize(void) { return 0; }
int cudaMalloc(void **p, size_t n) { return *p = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 0; }
int cudaMemcpy(void *to, const void *from, size_t n, int kind) { return 0; }
int cudaFree(void *p) { return 0; }
int cudaFreeAsync(void *p, void *stream) { return 0; }
END
cat >"$work/program.c" <<'END'
#include <petscsys.h>
#include <petscdevice.h>
int main(int argc, char **argv)
{
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "there is a device\n"));
  PetscCall(PetscFinalize());
  return 0;
}
END
if ! { $(conf AMB_LINK) -shared -fPIC "$work/feigned.c" -o "$work/feigned.so" && $(conf AMB_LINK) $(conf AMB_INCLUDES) "$work/program.c" -o "$work/program" $(conf AMB_LIBS); } >"$work/out" 2>&1; then
  cat "$work/out"
  echo "not ok gpuaware: compiles"
  exit 1
fi

# feigned ANSWER OPTIONS...: the program, with an MPI that gives this answer
feigned() { MPI_ANSWERS=$1 LD_PRELOAD="$work/feigned.so" "$work/program" "${@:2}"; }

expect "PETSc alone ends" fail "your MPI is not GPU-aware" feigned 0
expect "the library tells PETSc" 0 "there is a device" feigned 0 -dll_append "$LIB"
expect "and says so" 0 "This MPI says that it is not CUDA-aware" feigned 0 -dll_append "$LIB" -info :sys
expect "what the user says is not changed" fail "your MPI is not GPU-aware" feigned 0 -dll_append "$LIB" -use_gpu_aware_mpi 1
expect "nor what an MPI says that claims to be CUDA-aware" fail "your MPI is not GPU-aware" feigned 1 -dll_append "$LIB"
exit $failed
