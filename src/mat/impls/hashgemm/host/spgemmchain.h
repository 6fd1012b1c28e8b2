/* SPDX-License-Identifier: BSD-2-Clause */
/*
   P^T (A P) in chunks of the rows of A P, see spgemmchain.c
*/
#pragma once

#include "mat/impls/hashgemm/host/spgemmstep.h"

/* Returns the number of chunks, or 1 if whole steps are better */
int SpgemmChainChunks(const Spgemm *, const SysCSR *A, const SysCSR *P);

/* Computes both steps; the first is prepared and has memory for its entries. Computes only the first, with S->chain NULL, if the result should be counted. */
SysStatus SpgemmChainMake(Spgemm *, SpgemmProduct *, int chunks);

/* Copies the result's entries and releases them */
void SpgemmChainFill(Spgemm *, const SysInt *i, SysInt *j, SysScalar *a);

/* Computes new values */
SysStatus SpgemmChainRevalue(Spgemm *, const SysCSR *A, const SysCSR *P, const SysInt *i, const SysInt *j, SysScalar *a);
void      SpgemmChainDestroy(Spgemm *);
