/* SPDX-License-Identifier: BSD-2-Clause */
/*
   P^T (A P) in chunks of the rows of A P, see spgemmchain.c
*/
#pragma once

#include "mat/impls/hashgemm/host/spgemmstep.h"

/* Returns whether chunks may be better, from the operands. The transpose then has no values. */
int SpgemmChainPossible(const Spgemm *, const SysCSR *A, const SysCSR *P);

/* Returns the number of chunks, or 1 if whole steps are better, once the transpose exists */
int SpgemmChainChunks(const Spgemm *, const SysCSR *A);

/* Computes both steps; the first is prepared and has memory for its entries. Computes only the first, and the transpose's values, with S->chain NULL, if the
   result should be counted. */
SysStatus SpgemmChainMake(Spgemm *, SpgemmProduct *, const SysCSR *P, int chunks);

/* Copies the result's entries and releases them. A: the operand */
void SpgemmChainFill(Spgemm *, const SysCSR *A, const SysInt *i, SysInt *j, SysScalar *a);

/* Computes new values */
SysStatus SpgemmChainRevalue(Spgemm *, const SysCSR *A, const SysCSR *P, const SysInt *i, const SysInt *j, SysScalar *a);
void      SpgemmChainDestroy(Spgemm *);
