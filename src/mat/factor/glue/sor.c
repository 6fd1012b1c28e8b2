/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatSOR() of matrices on the host: single sweeps from an initial guess of zero, as PCSOR makes them, run from windows of rows sorted by level (factorsolve.h), with
   PETSc's order of rows and PETSc's sums. All other sweeps are PETSc's, and so are the first ones with a matrix, until as many more would repay the layout.

   With rows by color, on a GPU or if the user wants it, all sweeps run from the layout of sorhost.h, but for those with a zero on the diagonal. Eisenstat's trick is a backward and a
   forward sweep.
*/
#include "mat/factor/glue/factor.h"
#include "mat/factor/glue/sor.h"
#include "mat/factor/host/factorpolicy.h"
#include "mat/factor/host/factorsolve.h"
#include "mat/factor/host/factornodes.h"

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
  FactorNodes        nodes;    /* the same for a matrix with I-nodes */
  PetscInt          *diagonal; /* its place in each row */
  PetscScalar       *work;     /* a number a row */
  SORColor           color;
  PetscInt           nz;
  PetscInt           colors;         /* of the last sweep, or 0 */
  PetscBool          device;         /* the GPU made it */
  MatSORAMBCall     *asked;          /* the next sweep is not made but described here */
  PetscBool          natural;        /* sweeps are not by color */
  Vec                work_vec[3];    /* of Eisenstat's trick; the last one is the diagonal */
  PetscObjectState   diagonal_state; /* of the matrix whose diagonal that is */
} MatSORAMB;

static PetscErrorCode SORReset(MatSORAMB *s)
{
  PetscFunctionBegin;
  FactorSolverDestroy(&s->solver);
  FactorNodesDestroy(&s->nodes);
  PetscCall(PetscFree2(s->diagonal, s->work));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&s->work_vec[k]));
  s->current = s->declined = s->singular = PETSC_FALSE;
  SORColorReset(&s->color);
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

/* Gets the inverses of the diagonal blocks of nodes as PETSc computes them: its sweep over a matrix of these blocks alone, for unit vectors of the nodes. *good: all are finite. */
static PetscErrorCode SORInvertNodes(const SysCSR *A, const PetscInt diagonal[], PetscInt n, const PetscInt start[], PetscScalar block[], PetscBool *good)
{
  const PetscInt     m = (PetscInt)A->m;
  PetscInt          *i, *j, nodes;
  PetscScalar       *a, *unit;
  const PetscScalar *column;
  Mat                D;
  Vec                b, x;

  PetscFunctionBegin;
  *good = PETSC_TRUE;
  PetscCall(PetscMalloc3(m + 1, &i, FACTOR_NODE * m, &j, FACTOR_NODE * m, &a));
  i[0] = 0;
  for (PetscInt v = 0; v < n; v++) {
    const PetscInt rows = start[v + 1] - start[v];

    for (PetscInt r = start[v]; r < start[v + 1]; r++) {
      i[r + 1] = i[r] + rows;
      for (PetscInt c = 0; c < rows; c++) {
        j[i[r] + c] = start[v] + c;
        a[i[r] + c] = A->a[diagonal[r] - (r - start[v]) + c];
      }
    }
  }
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, m, m, i, j, a, &D));
  PetscCall(MatSetErrorIfFailure(D, PETSC_FALSE));
  PetscCall(MatInodeGetInodeSizes(D, &nodes, NULL, NULL));
  if (nodes != n) *good = PETSC_FALSE;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, m, &b));
  PetscCall(VecDuplicate(b, &x));
  for (PetscInt c = 0; c < FACTOR_NODE; c++) {
    PetscCall(VecGetArrayWrite(b, &unit));
    for (PetscInt v = 0; v < n; v++) {
      for (PetscInt r = start[v]; r < start[v + 1]; r++) unit[r] = r - start[v] == c;
    }
    PetscCall(VecRestoreArrayWrite(b, &unit));
    PetscCall((*MatAIJBaseSeq.sor)(D, b, 1.0, (MatSORType)(SOR_ZERO_INITIAL_GUESS | SOR_LOCAL_FORWARD_SWEEP), 0.0, 1, 1, x));
    PetscCall(VecGetArrayRead(x, &column));
    for (PetscInt v = 0; v < n; v++) {
      const PetscInt rows = start[v + 1] - start[v];

      for (PetscInt r = 0; r < rows && c < rows; r++) {
        block[FACTOR_NODE * start[v] + c * rows + r] = column[start[v] + r];
        if (PetscIsInfOrNanScalar(column[start[v] + r])) *good = PETSC_FALSE;
      }
    }
    PetscCall(VecRestoreArrayRead(x, &column));
  }
  if (D->factorerrortype) *good = PETSC_FALSE;
  PetscCall(MatDestroy(&D));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscFree3(i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for a matrix with n nodes, of which PETSc has sweeps for omega 1 without a shift alone */
static PetscErrorCode SORSetUpNodes(MatSORAMB *s, const SysCSR *A, const FactorRows rows[2], PetscInt n, const PetscInt start[], SysStatus *status)
{
  PetscScalar *block;
  PetscBool    good;

  PetscFunctionBegin;
  *status = SYS_SUCCESS;
  if (!s->nodes) *status = FactorNodesCreate(rows, n, start, 1, &s->nodes);
  if (!s->nodes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(FACTOR_NODE * A->m, &block));
  PetscCall(SORInvertNodes(A, s->diagonal, n, start, block, &good));
  FactorNodesUpdate(s->nodes, rows, A->a, block, NULL);
  s->singular = (PetscBool)!good;
  PetscCall(PetscFree(block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lays out the matrix, or updates its values */
static PetscErrorCode SORSetUp(Mat A, MatSORAMB *s)
{
  SysCSR     csr;
  FactorRows rows[2];
  PetscInt  *behind, *start, nodes;
  PetscBool  good;
  SysStatus  status = SYS_SUCCESS;

  PetscFunctionBegin;
  PetscCall(MatAIJGetArrays(A, &csr));
  PetscCall(FactorGetNodes(A, &nodes, &start));
  PetscCall(PetscMalloc1(csr.m, &behind));
  if (!s->diagonal) PetscCall(PetscMalloc2(csr.m, &s->diagonal, csr.m, &s->work));
  SORRows(&csr, s->diagonal, behind, rows, &good);
  if (good && !nodes && !s->solver) status = FactorSolverCreate(rows, 0, &s->solver);
  if (good && nodes) PetscCall(SORSetUpNodes(s, &csr, rows, nodes, start, &status));
  s->current  = (PetscBool)(s->solver || s->nodes);
  s->declined = (PetscBool)!s->current;
  if (s->solver) FactorSolverUpdate(s->solver, rows, csr.a);
  if (s->declined) PetscCall(PetscInfo(A, "MatSOR() stays PETSc's: %s\n", status == SYS_SUCCESS ? "rows have no diagonal, depend on one another in chains, or are long" : "memory is short"));
  s->omega = 0; /* the diagonal is not there yet */
  PetscCall(PetscFree(behind));
  PetscCall(PetscFree(start));
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

/* Gets the context of a matrix whose MatSOR() belongs to petsc-amb, or NULL */
static PetscErrorCode SORGet(Mat A, MatSORAMB **s)
{
  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)A, SOR_NAME, (void **)s));
  if (*s && (*s)->owner != A) *s = NULL; /* MatHeaderMerge() leaves the operation, and another matrix's container */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Drops what belongs to an older pattern */
static PetscErrorCode SORLookAt(Mat A, MatSORAMB *s)
{
  SysCSR   csr;
  PetscInt bs;

  PetscFunctionBegin;
  PetscCall(MatAIJGetPattern(A, &csr));
  PetscCall(MatGetBlockSize(A, &bs));
  if (bs > SOR_BLOCK_MOST) bs = 1;
  if (s->pattern != A->nonzerostate || s->i != csr.i || s->color.bs != bs) PetscCall(SORReset(s));
  s->pattern  = A->nonzerostate;
  s->i        = csr.i;
  s->nz       = (PetscInt)csr.nz;
  s->color.bs = bs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PETSc counts them */
static PetscErrorCode SORLogFlops(const MatSORAMBCall *call, PetscInt nz)
{
  PetscFunctionBegin;
  PetscCall(PetscLogFlops((call->sweep.forward + call->sweep.backward) * (PetscLogDouble)call->sweep.its * (PetscLogDouble)nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *by if rows are swept by color */
static PetscErrorCode SORIsByColor(Mat A, PetscBool *by)
{
  MatShadow *s;

  PetscFunctionBegin;
  *by = PETSC_FALSE;
  if (!MatShadowIsSequential(A)) PetscFunctionReturn(PETSC_SUCCESS); /* it has become a matrix of PETSc */
  PetscCall(MatShadowGet(A, &s));
  *by = (PetscBool)(s->sor == MAT_SHADOW_SOR_COLOR || (s->sor == MAT_SHADOW_SOR_AUTO && MatAIJValuesOnDevice(A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps by color; *done: it did */
static PetscErrorCode SORSweepColor(Mat A, MatSORAMB *s, const MatSORAMBCall *call, Vec b, Vec x, PetscBool *done)
{
  const char *before = s->color.reason;
  MatShadow  *shadow;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &shadow));
  if (MatAIJValuesOnDevice(A) && !before) PetscCall(SORColorSweepDevice(A, &s->color, call, b, x, done));
  s->device = *done;
  if (!*done && shadow->sor == MAT_SHADOW_SOR_COLOR && !before) {
    const PetscScalar *from;
    PetscScalar       *to;

    PetscCall(SORColorSetUp(A, &s->color, call->sweep.omega, call->shift));
    if (s->color.host && !s->color.of[0].singular) {
      PetscCall(VecGetArrayRead(b, &from));
      if (call->sweep.zero) PetscCall(VecGetArrayWrite(x, &to));
      else PetscCall(VecGetArray(x, &to));
      SORHostSweep(s->color.host, &call->sweep, from, to);
      PetscCall(SORLogFlops(call, s->nz));
      if (call->sweep.zero) PetscCall(VecRestoreArrayWrite(x, &to));
      else PetscCall(VecRestoreArray(x, &to));
      PetscCall(VecRestoreArrayRead(b, &from));
      *done = PETSC_TRUE;
    }
  }
  if (*done) s->colors = s->color.colors;
  if (s->color.reason && !before) PetscCall(PetscInfo(A, "MatSOR() sweeps in the natural order: %s\n", s->color.reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps over windows in the natural order; *done: it did */
static PetscErrorCode SORSweepNatural(Mat A, MatSORAMB *s, const MatSORAMBCall *call, Vec b, Vec x, PetscBool *done)
{
  PetscObjectState   state;
  SysCSR             csr;
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  PetscCall(MatAIJGetArrays(A, &csr));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (s->state != state || s->a != csr.a) {
    s->current = s->singular = PETSC_FALSE;
    s->sweeps                = 0;
  }
  s->state = state;
  s->a     = csr.a;
  if (!s->current && !s->declined && s->sweeps++ >= (s->solver || s->nodes ? SOR_UPDATE_SWEEPS : SOR_LAYOUT_SWEEPS)) PetscCall(SORSetUp(A, s));
  if (s->current && s->solver && (s->omega != call->sweep.omega || s->shift != call->shift)) PetscCall(SORSetDiagonal(A, s, call->sweep.omega, call->shift));
  if (!s->current || s->singular) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->nodes && (call->sweep.omega != 1 || call->shift != 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(x, &to));
  if (s->nodes) FactorNodesSweep(s->nodes, call->sweep.forward, call->sweep.backward, from, s->work, to);
  else FactorSolverSweep(s->solver, call->sweep.omega, call->sweep.forward, call->sweep.backward, from, s->work, to);
  PetscCall(SORLogFlops(call, s->nz));
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSOR_AMB(Mat, Vec, PetscReal, MatSORType, PetscReal, PetscInt, PetscInt, Vec);

/* Gets vectors like b, and the diagonal of the matrix */
static PetscErrorCode SORGetWork(Mat A, MatSORAMB *s, Vec b)
{
  PetscObjectState state;
  PetscBool        same = PETSC_FALSE;

  PetscFunctionBegin;
  if (s->work_vec[0]) PetscCall(PetscObjectTypeCompare((PetscObject)s->work_vec[0], ((PetscObject)b)->type_name, &same));
  for (int k = 0; k < 3 && !same; k++) {
    PetscCall(VecDestroy(&s->work_vec[k]));
    PetscCall(VecDuplicate(b, &s->work_vec[k]));
  }
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (!same || s->diagonal_state != state) PetscCall(MatGetDiagonal(A, s->work_vec[2]));
  s->diagonal_state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = (L + E)^-1 A (U + E)^-1 b, where E is the diagonal, or the diagonal of blocks, over omega. As L + E + U + E = A + 2 E - D, the product is the sum of y = (U + E)^-1 b and of
   (L + E)^-1 (b - (2 E - D) y). With blocks the matrix multiplies. */
static PetscErrorCode SOREisenstat(Mat A, MatSORAMB *s, Vec b, PetscReal omega, Vec x)
{
  const MatSORType forward = (MatSORType)(SOR_ZERO_INITIAL_GUESS | SOR_LOCAL_FORWARD_SWEEP), backward = (MatSORType)(SOR_ZERO_INITIAL_GUESS | SOR_LOCAL_BACKWARD_SWEEP);

  PetscFunctionBegin;
  PetscCall(MatSOR_AMB(A, b, omega, backward, 0.0, 1, 1, x));
  PetscCall(SORGetWork(A, s, b));
  if (s->color.bs > 1) {
    PetscCall(MatMult(A, x, s->work_vec[0]));
    PetscCall(MatSOR_AMB(A, s->work_vec[0], omega, forward, 0.0, 1, 1, x));
  } else {
    PetscCall(VecPointwiseMult(s->work_vec[0], s->work_vec[2], x));
    PetscCall(VecAYPX(s->work_vec[0], 1.0 - 2.0 / omega, b));
    PetscCall(MatSOR_AMB(A, s->work_vec[0], omega, forward, 0.0, 1, 1, s->work_vec[1]));
    PetscCall(VecAXPY(x, 1.0, s->work_vec[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSOR_AMB(Mat A, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, PetscInt lits, Vec x)
{
  MatSORAMBCall call;
  MatSORAMB    *s    = NULL;
  PetscBool     done = PETSC_FALSE, color = PETSC_FALSE;

  PetscFunctionBegin;
  call.sweep.forward  = (flag & (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP)) != 0;
  call.sweep.backward = (flag & (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP)) != 0;
  call.sweep.zero     = (flag & SOR_ZERO_INITIAL_GUESS) != 0;
  call.sweep.its      = (int)(its * lits);
  call.sweep.omega    = omega;
  call.shift          = shift;
  if (flag == SOR_EISENSTAT && omega != 0 && shift == 0) {
    PetscCall(SORGet(A, &s));
    if (s && !s->natural) PetscCall(SORIsByColor(A, &color));
    if (color) {
      PetscCall(SOREisenstat(A, s, b, omega, x));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    s = NULL;
  }
  if (!(flag & (SOR_EISENSTAT | SOR_APPLY_UPPER | SOR_APPLY_LOWER)) && (call.sweep.forward || call.sweep.backward) && omega != 0) PetscCall(SORGet(A, &s));
  if (s && s->asked) {
    *s->asked = call;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (s) {
    PetscCall(SORLookAt(A, s));
    if (!s->natural) PetscCall(SORIsByColor(A, &color));
    s->colors = 0;
    if (color) PetscCall(SORSweepColor(A, s, &call, b, x, &done));
    else if (!MatAIJIsCUSPARSE(A) && call.sweep.zero && call.sweep.its == 1) PetscCall(SORSweepNatural(A, s, &call, b, x, &done));
  }
  if (!done) PetscCall((*MatAIJGetBase(A)->sor)(A, b, omega, flag, shift, its, lits, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSORAMBInstall(Mat A)
{
  MatSORAMB *s;

  PetscFunctionBegin;
  if (!MatShadowIsSequential(A) || (A->ops->sor != MatAIJGetBase(A)->sor && A->ops->sor != MatSOR_AMB)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SORGet(A, &s));
  if (!s) {
    PetscCall(PetscNew(&s));
    s->owner   = A;
    s->pattern = A->nonzerostate;
    PetscCall(PetscAMBObjectContainerCompose((PetscObject)A, SOR_NAME, s, SORDestroy));
  }
  A->ops->sor = MatSOR_AMB; /* a matrix that was deferred has PETSc's again */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSORAMBSetNatural(Mat A, PetscBool natural)
{
  MatSORAMB *s;

  PetscFunctionBegin;
  PetscCall(SORGet(A, &s));
  if (s) s->natural = natural;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSORAMBGetColors(Mat A, PetscInt *colors, PetscBool *device)
{
  MatSORAMB *s;

  PetscFunctionBegin;
  PetscCall(SORGet(A, &s));
  *colors = s && A->ops->sor == MatSOR_AMB ? s->colors : 0;
  *device = (PetscBool)(*colors && s->device);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSORAMBAsk(Mat A, MatSORAMBCall *call, PetscBool *color)
{
  MatSORAMB *s;

  PetscFunctionBegin;
  *color = PETSC_FALSE;
  PetscCall(SORGet(A, &s));
  if (!s || A->ops->sor != MatSOR_AMB) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SORIsByColor(A, color));
  s->asked = *color ? call : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSORAMBGetDevice(Mat A, const MatSORAMBCall *call, SORDevice *device, PetscInt *made, const char **why)
{
  MatSORAMB *s;

  PetscFunctionBegin;
  *device = NULL;
  *made   = 0;
  if (!A->rmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SORGet(A, &s));
  PetscCall(SORLookAt(A, s));
  if (MatAIJValuesOnDevice(A) && !s->color.reason) PetscCall(SORColorSetUpDevice(A, &s->color, call->sweep.omega, call->shift));
  *device = s->color.device;
  *made   = s->color.made;
  if (!*device) *why = s->color.reason ? s->color.reason : "the matrix is on the host";
  else if (s->color.of[1].singular) *why = "a zero is on the diagonal";
  else {
    s->colors = s->color.colors;
    s->device = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
