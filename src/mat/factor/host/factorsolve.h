/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Solves on the host with both triangles of a factor, or sweeps with both triangles of a matrix, in the natural order, with PETSc's sums.

   A row of a grid depends on the row before it, and the latency of that chain, not memory, bounds a solve that takes one row after the other: 13 ns a row of the 7-point
   stencil, of which memory would take 8. Windows of FACTOR_WINDOW consecutive rows are sorted by level within the window. Rows of a level do not depend on one another, so
   that the processor overlaps them; and rows of a window are close, so that x stays in the first cache.

     window   base, row0, wide         columns of a narrow window are 16 bits from base on, of a wide one 32 or 64
     row      place in the window, entries
     entry    column, value            in the order of PETSc's sums

   Complexity: O(nonzeros) for the layout, once a pattern, and for new values.
*/
#pragma once

#include "mat/factor/host/factorhost.h"

typedef struct FactorSolver_ *FactorSolver;

/* Creates the layout of both triangles, the second one upper, without values; *solver is NULL if the solves would not be sooner */
SysStatus FactorSolverCreate(const FactorRows[2], int symmetric, FactorSolver *solver);
void      FactorSolverDestroy(FactorSolver *);

/* Sets the entries, from the values of the factor */
void FactorSolverUpdate(FactorSolver, const FactorRows[2], const SysScalar *a);

/* Sets the numbers that multiply: of row r number place[r] of d, or r without places. They multiply the results of U, or the right-hand sides of U if the factor is
   symmetric. */
void FactorSolverSetDiagonal(FactorSolver, const SysInt *place, const SysScalar *d);

/* Solves for b into x, which may be b */
void FactorSolverSolve(FactorSolver, const SysScalar *b, SysScalar *x);

/* Sweeps of SOR from an initial guess of zero, in which the numbers that multiply are omega over the diagonal; forward, backward, or one after the other, with n numbers of
   work space */
void FactorSolverSweep(FactorSolver, SysReal omega, int forward, int backward, const SysScalar *b, SysScalar *work, SysScalar *x);
