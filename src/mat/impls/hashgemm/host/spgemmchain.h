/* SPDX-License-Identifier: BSD-2-Clause */
/*
   P^T (A P) in chunks of the rows of A P, see spgemmchain.c
*/
#pragma once

#include "mat/impls/hashgemm/host/spgemmstep.h"

/* The number of chunks, or 1 if the product is made one step after the other */
int SpgemmChainChunks(const Spgemm *, const SysCSR *A, const SysCSR *P);

/* Makes both steps; the first is prepared, and has memory for its entries. Leaves S->chain NULL if the result should be counted: then the first step alone is made. */
SysStatus SpgemmChainMake(Spgemm *, SpgemmProduct *, int chunks);

/* Copies the entries of the result, and releases them */
void SpgemmChainFill(Spgemm *, const SysInt *i, SysInt *j, SysScalar *a);

SysStatus SpgemmChainRevalue(Spgemm *, const SysCSR *A, const SysCSR *P, const SysInt *i, const SysInt *j, SysScalar *a);
void      SpgemmChainDestroy(Spgemm *);
