/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatSOR() of matrices on the host: single sweeps from an initial guess of zero, as PCSOR makes them, run from windows of rows sorted by level (factorsolve.h), with
   PETSc's order of rows and PETSc's sums. All other sweeps are PETSc's, and so are the first ones with a matrix, until as many more would repay the layout.
*/
#include "mat/factor/glue/sor.h"
#include "mat/factor/host/factorpolicy.h"
#include "mat/factor/host/factorsolve.h"

#define SOR_NAME "MatSORAMB"

/* Composed with a matrix */
typedef struct {
  Mat                owner;
  PetscObjectState   state, pattern; /* of the matrix at the last sweep, and its arrays */
  const PetscInt    *i;
  const PetscScalar *a;
  PetscBool          current;      /* solver has the values of the matrix */
  PetscBool          declined;     /* for this pattern PETSc's sweeps are as good */
  PetscBool          singular;     /* with these values and this shift, a number of the diagonal is zero */
  PetscInt           sweeps;       /* with these values, before that */
  PetscReal          omega, shift; /* of the numbers in solver */
  FactorSolver       solver;
  PetscInt          *diagonal; /* its place in each row */
  PetscScalar       *work;     /* a number a row */
} MatSORAMB;

static PetscErrorCode SORReset(MatSORAMB *s)
{
  PetscFunctionBegin;
  FactorSolverDestroy(&s->solver);
  PetscCall(PetscFree2(s->diagonal, s->work));
  s->current = s->declined = s->singular = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SORDestroy(PetscAMBCtxArgument arg)
{
  MatSORAMB *s = (MatSORAMB *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall(SORReset(s));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries before and behind the diagonal of each row. *good: the diagonal is stored everywhere, and columns before it are smaller, those behind it larger. */
static void SORRows(const SysCSR *A, PetscInt diagonal[], PetscInt behind[], FactorRows rows[2], PetscBool *good)
{
  *good = PETSC_TRUE;
  for (PetscInt r = 0; r < A->m; r++) {
    PetscInt k = A->i[r];

    while (k < A->i[r + 1] && A->j[k] < r) k++;
    if (k == A->i[r + 1] || A->j[k] != r) *good = PETSC_FALSE;
    diagonal[r] = k;
    behind[r]   = PetscMin(k + 1, A->i[r + 1]);
    for (k = behind[r]; k < A->i[r + 1]; k++) {
      if (A->j[k] <= r) *good = PETSC_FALSE;
    }
  }
  rows[0] = (FactorRows){A->m, A->i, diagonal, A->j, NULL};
  rows[1] = (FactorRows){A->m, behind, A->i + 1, A->j, NULL};
}

/* Lays the matrix out, or brings its new values */
static PetscErrorCode SORSetUp(Mat A, MatSORAMB *s)
{
  SysCSR     csr;
  FactorRows rows[2];
  PetscInt  *behind, nodes = 0;
  PetscBool  good;
  SysStatus  status = SYS_SUCCESS;

  PetscFunctionBegin;
  PetscCall(MatAIJGetArrays(A, &csr));
  PetscCall(MatInodeGetInodeSizes(A, &nodes, NULL, NULL)); /* PETSc sweeps over I-nodes */
  PetscCall(PetscMalloc1(csr.m, &behind));
  if (!s->diagonal) PetscCall(PetscMalloc2(csr.m, &s->diagonal, csr.m, &s->work));
  SORRows(&csr, s->diagonal, behind, rows, &good);
  if (good && !nodes && !s->solver) status = FactorSolverCreate(rows, 0, &s->solver);
  s->current  = (PetscBool)(s->solver != NULL);
  s->declined = (PetscBool)!s->current;
  if (s->current) FactorSolverUpdate(s->solver, rows, csr.a);
  else PetscCall(PetscInfo(A, "MatSOR() stays PETSc's: %s\n", status == SYS_SUCCESS ? "rows have no diagonal, depend on one another in chains, are long, or are I-nodes" : "memory is short"));
  s->omega = 0; /* the diagonal is not there yet */
  PetscCall(PetscFree(behind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PETSc computes them */
static PetscErrorCode SORSetDiagonal(Mat A, MatSORAMB *s, PetscReal omega, PetscReal shift)
{
  SysCSR csr;

  PetscFunctionBegin;
  PetscCall(MatAIJGetArrays(A, &csr));
  s->singular = PETSC_FALSE;
  for (PetscInt r = 0; r < csr.m; r++) {
    const PetscScalar d = csr.a[s->diagonal[r]];

    if (omega == 1.0 && shift <= 0.0) {
      if (d == 0.0) s->singular = PETSC_TRUE;
      s->work[r] = 1.0 / d;
    } else s->work[r] = omega / (shift + d);
  }
  FactorSolverSetDiagonal(s->solver, NULL, s->work);
  s->omega = omega;
  s->shift = shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSOR_AMB(Mat A, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, PetscInt lits, Vec x)
{
  const PetscBool    forward  = (PetscBool)((flag & (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP)) != 0);
  const PetscBool    backward = (PetscBool)((flag & (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP)) != 0);
  const PetscBool    serves   = (PetscBool)((flag & SOR_ZERO_INITIAL_GUESS) && !(flag & (SOR_EISENSTAT | SOR_APPLY_UPPER | SOR_APPLY_LOWER)) && its * lits == 1 && (forward || backward) && omega != 0);
  PetscContainer     container;
  PetscObjectState   state;
  SysCSR             csr;
  MatSORAMB         *s = NULL;
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  if (serves) PetscCall(PetscObjectQuery((PetscObject)A, SOR_NAME, (PetscObject *)&container));
  if (serves && container) PetscCall(PetscContainerGetPointer(container, (void **)&s));
  if (s && s->owner == A) {
    PetscCall(MatAIJGetArrays(A, &csr));
    PetscCall(PetscObjectStateGet((PetscObject)A, &state));
    if (s->pattern != A->nonzerostate || s->i != csr.i) PetscCall(SORReset(s));
    if (s->state != state || s->a != csr.a) {
      s->current = s->singular = PETSC_FALSE;
      s->sweeps                = 0;
    }
    s->pattern = A->nonzerostate;
    s->state   = state;
    s->i       = csr.i;
    s->a       = csr.a;
    if (!s->current && !s->declined && s->sweeps++ >= (s->solver ? SOR_UPDATE_SWEEPS : SOR_LAYOUT_SWEEPS)) PetscCall(SORSetUp(A, s));
    if (s->current && (s->omega != omega || s->shift != shift)) PetscCall(SORSetDiagonal(A, s, omega, shift));
  }
  if (!s || s->owner != A || !s->current || s->singular) {
    PetscCall((*MatAIJBaseSeq.sor)(A, b, omega, flag, shift, its, lits, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(x, &to));
  FactorSolverSweep(s->solver, omega, forward, backward, from, s->work, to);
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscCall(PetscLogFlops((forward + backward) * (PetscLogDouble)csr.nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSORAMBInstall(Mat A)
{
  PetscContainer container;
  MatSORAMB     *s;

  PetscFunctionBegin;
  if (!MatShadowIsSequential(A) || MatAIJIsCUSPARSE(A) || (A->ops->sor != MatAIJBaseSeq.sor && A->ops->sor != MatSOR_AMB)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQuery((PetscObject)A, SOR_NAME, (PetscObject *)&container)); /* MatHeaderMerge() leaves the operation, and another matrix's container or none */
  if (container) {
    PetscCall(PetscContainerGetPointer(container, (void **)&s));
    if (s->owner == A) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&s));
  s->owner   = A;
  s->pattern = A->nonzerostate;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, s));
  PetscCall(PetscContainerSetCtxDestroy(container, SORDestroy));
  PetscCall(PetscObjectCompose((PetscObject)A, SOR_NAME, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  A->ops->sor = MatSOR_AMB;
  PetscFunctionReturn(PETSC_SUCCESS);
}
