/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Passes over vectors on the host, for Krylov methods: each does the work of several operations of Vec and PC while an entry is in a register.

   A pass runs over blocks of FUSED_BLOCK entries. It sums within a block, and then over the blocks, in a fixed order: the result
   depends neither on the number of threads nor on the addresses of the vectors.
*/
#pragma once

#include "sys/systypes.h"

#define FUSED_BLOCK 1024 /* entries: all vectors of a pass fit in the second-level cache */

/* The vectors of a pass. Two may be the same array where FusedKernels says so. */
typedef enum {
  FUSED_X, /* the solution */
  FUSED_R, /* the residual */
  FUSED_Z, /* the preconditioned residual */
  FUSED_P, /* the direction */
  FUSED_W, /* the product of the matrix and p */
  FUSED_S, /* the product of the matrix and z */
  FUSED_T, /* BiCGStab: the product of the operator and r */
  FUSED_V, /* BiCGStab: the product of the operator and p */
  FUSED_Q, /* BiCGStab: the shadow residual */
  FUSED_VECTORS
} FusedVector;

#define FUSED_SUMS       3  /* of a pass, at most */
#define FUSED_BLOCKS_MAX 32 /* rows of a block of M, at most */

/* The preconditioner that a pass applies */
typedef enum {
  FUSED_NONE,   /* z is r, and no z is stored */
  FUSED_POINT,  /* one number for each entry */
  FUSED_BLOCKS, /* dense blocks of bs entries */
  FUSED_OTHER   /* no pass applies it */
} FusedKind;

/* M is the preconditioner. d has bs arrays of n numbers. Number i of array j is the entry of M in row i and in column j of the block that has row i. */
typedef struct {
  FusedKind      kind;
  int            bs;
  int64_t        n;
  const SysReal *d;
  SysReal        a, b, c; /* factors, whose use the passes of FusedKernels define */
  SysReal       *v[FUSED_VECTORS];
} FusedPass;

/* One pass over entries lo to hi - 1, which are whole blocks of M; sets the sums */
typedef void (*FusedFunction)(const FusedPass *, int64_t lo, int64_t hi, SysReal sums[]);

typedef struct {
  const char *name;
  int (*supported)(void);

  /* The three sums of these passes are z.r, z.z and r.r; with FUSED_OTHER, step and single set r.r only. w and z may be the same array, except in single. */
  FusedFunction step;   /* x += a p, unless there is no x; r -= a w; z = M r */
  FusedFunction single; /* p = z + b p; w = s + b w; then as step */
  FusedFunction apply;  /* z = M r; with FUSED_OTHER the caller sets z */

  FusedFunction direction; /* p = z + b p, where p is not read if b is 0 */
  FusedFunction dot;       /* sums p.w */
  FusedFunction update;    /* x += a p */

  /* BiCGStab, where FUSED_OTHER is as FUSED_NONE. With a z, M is applied from the right, to the operand; without one from the left, to the product. */
  FusedFunction bidirection; /* p = r + b p + c v, where p and v are not read if b is 0; z = M p */
  FusedFunction bishadow;    /* v = M v; sums v.q */
  FusedFunction bihalf;      /* r -= a v; z = M r */
  FusedFunction bidots;      /* t = M t; sums t.r, t.t and r.r */
  FusedFunction bistep;      /* x += a p + b r; r -= b t; sums r.q and r.r */

  /* Chebyshev. x = a M (r - w) + b p + c z, where r is the right-hand side, p and z are the last two iterates and w is the product of the matrix and p. If p is NULL,
     the pass reads neither p nor w; if z is NULL, c z is 0. x may be p or z. With FUSED_BLOCKS the pass overwrites w. FUSED_OTHER is as FUSED_NONE. */
  FusedFunction chebyshev;
} FusedKernels;

extern const FusedKernels FusedKernelsPlain, FusedKernelsAVX2, FusedKernelsAVX512;

/* The table for this processor */
const FusedKernels *FusedHostKernels(void);

typedef struct {
  int64_t  n; /* entries of a vector */
  int      nthread, bs;
  int64_t  block, nblock; /* entries of a block, a multiple of bs */
  SysReal *partial;       /* the sums of each block */
} FusedHost;

/* Prepares passes over vectors of n entries; 0, or 1 if there is no memory */
int  FusedHostCreate(int64_t n, int bs, int nthread, FusedHost *);
void FusedHostDestroy(FusedHost *);

/* Runs a pass and returns its sums, unless sums is NULL */
void FusedHostRun(const FusedHost *, FusedFunction, const FusedPass *, SysReal sums[FUSED_SUMS]);

/* Copies n numbers, each by the thread that reads it in passes, so that it lies in that thread's memory */
void FusedHostCopy(const FusedHost *, const SysReal *from, SysReal *to);
