/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Solves and sweeps on the host as in factorsolve.h, of matrices with I-nodes: rows that follow one another and have the same columns, as PETSc groups them. PETSc handles the rows of a node
   together, adds products of two columns before it subtracts them, and inverts the diagonal block of a node for sweeps. So do these, with its bits.

     window   base, row0, wide       columns of a narrow window are 16 bits from base on
     node     place in the window, rows, columns outside the node
     column   16 bits or SysInt
     values   for each column the rows of the node; then the block of the node: of L its rows before the diagonal, of U its rows from the diagonal on, or the inverse of the block by columns

   Complexity: O(nonzeros) for the layout, once a pattern, and for new values. Work space: a number a row.
*/
#pragma once

#include "mat/factor/host/factorhost.h"

#define FACTOR_NODE 5 /* rows of a node at most */

typedef struct FactorNodes_ *FactorNodes;

/* Creates the layout of both triangles, the second one upper, without values. start: the first row of each node, and the number of rows. inverse: for sweeps. *result is NULL if rows of a
   node have different columns, or if the solves would not be sooner. */
SysStatus FactorNodesCreate(const FactorRows[2], int64_t nodes, const SysInt *start, int inverse, FactorNodes *result);
void      FactorNodesDestroy(FactorNodes *);

/* Sets the entries from the values a. block: for sweeps, the inverse of a node that begins with row r is at FACTOR_NODE * r, by columns; for solves, number place[r] of it multiplies row r. */
void FactorNodesUpdate(FactorNodes, const FactorRows[2], const SysScalar *a, const SysScalar *block, const SysInt *place);

/* Solves for b into x, which may be b */
void FactorNodesSolve(FactorNodes, const SysScalar *b, SysScalar *x);

/* Sweeps of SOR from an initial guess of zero, with n numbers of work space */
void FactorNodesSweep(FactorNodes, int forward, int backward, const SysScalar *b, SysScalar *work, SysScalar *x);
