/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Passes over all vectors of a Krylov basis on the host, for GMRES. Classical and modified Gram-Schmidt need one pass that reads the basis for all products, and one
   that subtracts. Modified Gram-Schmidt follows Swirydowicz, Langou, Ananthan, Yang and Thomas, "Low synchronization Gram-Schmidt and generalized minimal
   residual algorithms", Numer. Linear Algebra Appl. 28 (2021): besides V'w, the pass computes the products of the newest vector of the basis with those before it, and
   a triangular solve of as many rows as there are vectors gives the coefficients.

   A pass runs over blocks of FUSED_BASIS_BLOCK entries, and each block over the vectors of the basis, four at a time. As in the other passes, sums depend neither on
   the number of threads nor on addresses.
*/
#pragma once

#include "ksp/ksp/impls/fused/fusedhost.h"

#define FUSED_BASIS_BLOCK 8192    /* entries: of the vector that is orthogonalised, they stay in the second-level cache; shorter runs of the others are read more slowly */
#define FUSED_BASIS_LONG  1000000 /* entries of a vector from which on blocks are four times as long: enough of them for 16 threads */

/* One number for each entry in d, as in FusedPass of the kinds FUSED_NONE, FUSED_POINT and FUSED_BLOCKS; FUSED_OTHER is as FUSED_NONE */
typedef struct {
  FusedPass             pc;
  int                   m; /* vectors of the basis */
  const SysReal *const *v; /* the basis */
  const SysReal        *c; /* a number for each vector of the basis */
  SysReal               scale;
  SysReal              *w, *z;
  const SysReal        *u;
} FusedBasis;

typedef void (*FusedBasisFunction)(const FusedBasis *, int64_t lo, int64_t hi, SysReal sums[]);

typedef struct _FusedBasisKernels {
  int (*supported)(void);
  FusedBasisFunction dots;   /* w = M w; sum k is v[k].w, and sum m + k is v[k].u if there is a u */
  FusedBasisFunction update; /* w = scale w - c[0] v[0] - c[1] v[1] - ..., where w is not read if scale is 0; sum 0 is w.w; z = M w if there is a z */
} FusedBasisKernels;

extern const FusedBasisKernels FusedBasisKernelsPlain, FusedBasisKernelsAVX2, FusedBasisKernelsAVX512;

const FusedBasisKernels *FusedBasisHostKernels(void);

typedef struct {
  int64_t  n, block, nblock;
  int      nthread, most;
  SysReal *partial; /* the sums of each block, most of them */
} FusedBasisHost;

/* Prepares passes over vectors of n entries with blocks of bs rows in M and `most` sums; 0, or 1 if there is no memory */
int  FusedBasisHostCreate(int64_t n, int bs, int most, int nthread, FusedBasisHost *);
void FusedBasisHostDestroy(FusedBasisHost *);

/* Runs a pass and returns its sums, nsum of them. Blocks go forwards in dots and backwards in update, which finds those in the last-level cache that dots read last. */
void FusedBasisHostRun(const FusedBasisHost *, FusedBasisFunction, const FusedBasis *, int backwards, int nsum, SysReal sums[]);
