/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "vec/ambvec/ambvec.h"
#include "mat/shadow/core/shadowformat.h"
#include "mat/shadow/user/shadowoptions.h"
#include "ksp/ksp/impls/ambksp/ambksp.h"

#define KSPAMB_NAME "KSPAMB" /* of the context, among the objects that are attached to the KSP */

static PetscLogEvent KSP_AMBPass, KSP_AMBReduce;

/* PETSc's constructors of the types that are extended, since -petscamb_for_ksp replaces them */
static struct {
  KSPType type;
  PetscErrorCode (*create)(KSP);
} constructors[8];
static int nconstructor;

/* -petscamb_for_ksp: the types of PETSc that petsc-amb replaces */
static enum {
  KSPAMB_TAKES_NONE,
  KSPAMB_TAKES_SMOOTHERS,
  KSPAMB_TAKES_ALL
} takes;

/* The operations of vectors that passes stand for: the vectors of a program may have others */
static struct _VecOps seqops, mpiops;

/* ------------------------------------------------- do the fused passes support the solve? ------------------------------------------------- */

PetscBool KSPAMBVecPlain(const struct _VecOps *o, const struct _VecOps *s)
{
  return (PetscBool)(o->dot == s->dot && o->tdot == s->tdot && o->norm == s->norm && o->mdot == s->mdot && o->dotnorm2 == s->dotnorm2 && o->axpy == s->axpy && o->aypx == s->aypx && o->waxpy == s->waxpy && o->axpbypcz == s->axpbypcz);
}

/* A vector of VecDuplicateVecs() may share memory with others, and one with ghosts has more entries than its size */
PetscErrorCode KSPAMBVecOwnsArray(Vec v, PetscBool *owns)
{
  PetscBool mpi;
  Vec       local = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)v, VECMPI, &mpi));
  if (mpi) PetscCall(VecGhostGetLocalForm(v, &local));
  *owns = (PetscBool)(!local && v->ops->replacearray == (mpi ? mpiops : seqops).replacearray);
  if (local) PetscCall(VecGhostRestoreLocalForm(v, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBVecSupports(Vec v, const char **why)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)v, VECSEQ, &seq));
  PetscCall(PetscObjectTypeCompare((PetscObject)v, VECMPI, &mpi));
  if (!seq && !mpi) *why = "the vectors are neither seq nor mpi";
  else if (!KSPAMBVecPlain(v->ops, seq ? &seqops : &mpiops)) *why = "the vectors have operations of the program";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without its name or -petscamb_for_ksp, a type solves systems with matrices of petsc-amb on GPUs only */
static PetscErrorCode KSPAMBIsDefault(KSP ksp, KSPAMB *amb, PetscBool *is)
{
  PetscFunctionBegin;
  *is = PETSC_FALSE;
  if (takes != KSPAMB_TAKES_ALL) PetscCall(PetscObjectTypeCompare((PetscObject)ksp, amb->extends, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBSupports(KSP ksp, KSPAMB *amb, const char **why, PetscErrorCode (**solve)(KSP, KSPAMB *))
{
  const MatShadowFormat *format;
  PetscBool              isdefault, scaled = PETSC_FALSE;
  Mat                    A;

  PetscFunctionBegin;
  *why   = NULL;
  *solve = NULL;
  PetscCall(KSPAMBIsDefault(ksp, amb, &isdefault));
  if (isdefault) {
    PetscCall(PCGetOperators(ksp->pc, &A, NULL));
    PetscCall(MatShadowGetFormat(A, &format));
    if (!format) {
      *why = "the matrix is not of petsc-amb";
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#if PETSC_VERSION_LT(3, 26, 0)
  PetscCall(PCGetDiagonalScale(ksp->pc, &scaled));
#endif
  if (PetscDefined(USE_COMPLEX)) *why = "the scalars are complex";
  else if (ksp->transpose_solve) *why = "the solve is transposed";
  else if (ksp->calc_sings || ksp->calc_ritz) *why = "eigenvalues or singular values are computed";
  else if (scaled) *why = "the preconditioner has a diagonal scaling";
  else if (amb->radius != 0 || amb->target != 0) *why = "a trust region or an objective target is set";
#if !PETSC_VERSION_LT(3, 19, 0)
  else if (ksp->converged_neg_curve) *why = "negative curvature counts as convergence";
#endif
  if (!*why && amb->supports) PetscCall((*amb->supports)(ksp, amb, why));
  if (!*why) PetscCall(KSPAMBDeviceSupports(ksp, amb, why, solve));
  if (!*why && !*solve && isdefault) *why = "the vectors are on the host, and -petscamb_for_ksp is not given";
  if (*why || *solve) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPAMBVecSupports(ksp->vec_sol, why));
  if (!*why) PetscCall(KSPAMBVecSupports(ksp->vec_rhs, why));
  for (PetscInt k = 0; k < ksp->nwork && !*why; k++) PetscCall(KSPAMBVecSupports(ksp->work[k], why));
  if (!*why) *solve = amb->solve;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the preconditioner ------------------------------------------------- */

/* A null space is removed after each application, which passes do not do */
PetscErrorCode KSPAMBCheckPC(KSP ksp, KSPAMB *amb)
{
  PetscBool    none, jacobi, pbjacobi;
  MatNullSpace nullspace;
  Mat          A, P;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCPBJACOBI, &pbjacobi));
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCall(MatGetBlockSize(P, &amb->bs));
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (amb->modifypc) {
    amb->kind = FUSED_OTHER;
    PetscCall(PetscInfo(ksp, "No pass applies the preconditioner: the program may change it in each iteration\n"));
  } else if (nullspace && ksp->pc_side == PC_LEFT) {
    amb->kind = FUSED_OTHER;
    PetscCall(PetscInfo(ksp, "No pass applies the preconditioner: a null space is removed after each application\n"));
  } else if (none) amb->kind = FUSED_NONE;
  else if (jacobi || (pbjacobi && amb->bs == 1)) amb->kind = FUSED_POINT;
  else if (pbjacobi && amb->bs <= FUSED_BLOCKS_MAX) amb->kind = FUSED_BLOCKS;
  else {
    amb->kind = FUSED_OTHER;
    PetscCall(PetscInfo(ksp, "No pass applies a preconditioner of the type %s\n", ((PetscObject)ksp->pc)->type_name));
  }
  if (amb->kind != FUSED_BLOCKS) amb->bs = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBKeeps(KSP ksp, KSPAMB *amb, const void *side, PetscInt n, PetscBool *same)
{
  KSPAMBKept now;
  Mat        P;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&now, sizeof(now)));
  PetscCall(PCGetOperators(ksp->pc, NULL, &P));
  PetscCall(PetscObjectGetId((PetscObject)ksp->pc, &now.pc));
  PetscCall(PetscObjectGetId((PetscObject)P, &now.P));
  PetscCall(PetscObjectStateGet((PetscObject)P, &now.state));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &now.jacobi));
  if (now.jacobi) {
    PetscCall(PCJacobiGetType(ksp->pc, &now.type));
    PetscCall(PCJacobiGetUseAbs(ksp->pc, &now.useabs));
    PetscCall(PCJacobiGetFixDiagonal(ksp->pc, &now.fixdiagonal));
  }
  now.side = side;
  now.n    = n;
  now.bs   = amb->bs;
  now.kind = amb->kind;
  PetscCall(PetscMemcmp(&now, &amb->kept, sizeof(now), same));
  PetscCall(PetscMemcpy(&amb->kept, &now, sizeof(now))); /* padding too */
  /* An older set-up may be older than the values of P. Other types of Jacobi have more options than those above. */
  if (ksp->pc->reusepreconditioner || (now.jacobi && now.type != PC_JACOBI_DIAGONAL && now.type != PC_JACOBI_ROWMAX && now.type != PC_JACOBI_ROWSUM)) {
    *same = PETSC_FALSE;
    PetscCall(PetscMemzero(&amb->kept, sizeof(amb->kept)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc applies the preconditioner to vectors with one 1 in each block, which gives a column of each block without rounding, with its options and what it kept from an
   earlier matrix */
PetscErrorCode KSPAMBGetPCNumbers(PC pc, const FusedHost *host, PetscInt bs, Vec unit, Vec column, SysReal *d)
{
  const PetscScalar *array;
  PetscScalar       *one;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < bs; j++) {
    PetscCall(VecGetArrayWrite(unit, &one));
    for (int64_t k = 0; k < host->n; k++) one[k] = k % bs == j;
    PetscCall(VecRestoreArrayWrite(unit, &one));
    PetscCall(PCApply(pc, unit, column));
    PetscCall(VecGetArrayRead(column, &array));
    FusedHostCopy(host, (const SysReal *)array, d + j * host->n);
    PetscCall(VecRestoreArrayRead(column, &array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBGetPC(KSP ksp, KSPAMB *amb)
{
  PetscBool same = PETSC_FALSE;

  PetscFunctionBegin;
  if (amb->kind != FUSED_POINT && amb->kind != FUSED_BLOCKS) PetscFunctionReturn(PETSC_SUCCESS);
  if (amb->keep) PetscCall(KSPAMBKeeps(ksp, amb, &amb->d, (PetscInt)amb->host.n, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPAMBGetPCNumbers(ksp->pc, &amb->host, amb->bs, ksp->work[0], ksp->work[1], amb->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the solve ------------------------------------------------- */

/* Memory for passes over n entries. Whether all processes have it they ask each other once for a matrix, and not in each solve: a smoother makes no reductions. */
static PetscErrorCode KSPAMBAllocate(KSP ksp, KSPAMB *amb, PetscInt n)
{
  const size_t  size    = amb->kind == FUSED_POINT || amb->kind == FUSED_BLOCKS ? (size_t)n * (size_t)amb->bs * sizeof(SysReal) : 0;
  PetscMPIInt   missing = 0;
  PetscObjectId id;
  Mat           A;

  PetscFunctionBegin;
  if (!amb->host.partial || amb->host.n != n || amb->host.bs != amb->bs) {
    FusedHostDestroy(&amb->host);
    missing = FusedHostCreate(n, (int)amb->bs, SysThreads(), &amb->host) != 0;
  }
  if (size && size != amb->size) {
    if (amb->d) SysRelease(amb->d, amb->size);
    amb->d    = (SysReal *)SysAllocate(size);
    amb->size = amb->d ? size : 0;
    if (!amb->d) missing = 1;
    PetscCall(PetscMemzero(&amb->kept, sizeof(amb->kept))); /* the caller computes the new numbers */
  }
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  if (id != amb->room || amb->bs != amb->room_bs || amb->kind != amb->room_kind) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &missing, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)ksp)));
  amb->room      = missing ? 0 : id;
  amb->room_bs   = amb->bs;
  amb->room_kind = amb->kind;
  PetscCheck(!missing, PetscObjectComm((PetscObject)ksp), PETSC_ERR_MEM, "Not enough memory for the passes of a solve; use the KSP type of PETSc, without amb in its name");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBSetUp(KSP ksp, KSPAMB *amb)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ksp->vec_sol, &n));
  PetscCall(KSPAMBCheckPC(ksp, amb));
  PetscCall(KSPAMBAllocate(ksp, amb, n));
  amb->kernels = FusedHostKernels();
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &amb->nproc));
  PetscCall(KSPAMBGetPC(ksp, amb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_AMB(KSP ksp)
{
  PetscErrorCode (*solve)(KSP, KSPAMB *);
  const char *why;
  KSPAMB     *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  PetscCall(KSPAMBSupports(ksp, amb, &why, &solve));
  if (why && why != amb->reason) PetscCall(PetscInfo(ksp, "PETSc's solve runs, since %s\n", why));
  amb->reason = why;
  amb->fused  = (PetscBool)!why;
  if (why) {
    if (amb->prepare) PetscCall((*amb->prepare)(ksp, amb));
    PetscCall((*amb->base.solve)(ksp));
  } else {
    amb->poison = (PetscBool)(ksp->reason == KSP_DIVERGED_PC_FAILED);
    if (solve == amb->solve) PetscCall(KSPAMBSetUp(ksp, amb));
    PetscCall((*solve)(ksp, amb));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBPassBegin(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(KSP_AMBPass, ksp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBPassEnd(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventEnd(KSP_AMBPass, ksp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBRun(KSP ksp, KSPAMB *amb, FusedFunction f, FusedPass *pass, const Vec v[FUSED_VECTORS], unsigned written, int flops, SysReal sums[FUSED_SUMS])
{
  PetscScalar *array[FUSED_VECTORS];

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(KSP_AMBPass, ksp, 0, 0, 0));
  for (int k = 0; k < FUSED_VECTORS; k++) {
    array[k] = NULL;
    if (!v[k]) continue;
    if (written & (1U << k)) PetscCall(VecGetArray(v[k], &array[k]));
    else PetscCall(VecGetArrayRead(v[k], (const PetscScalar **)&array[k]));
  }
  for (int k = 0; k < FUSED_VECTORS; k++) pass->v[k] = (SysReal *)array[k];
  pass->kind = amb->kind;
  pass->bs   = (int)amb->bs;
  pass->n    = amb->host.n;
  pass->d    = amb->d;
  FusedHostRun(&amb->host, f, pass, sums);
  for (int k = 0; k < FUSED_VECTORS; k++) {
    if (!v[k]) continue;
    if (written & (1U << k)) PetscCall(VecRestoreArray(v[k], &array[k]));
    else PetscCall(VecRestoreArrayRead(v[k], (const PetscScalar **)&array[k]));
  }
  PetscCall(PetscLogFlops((PetscLogDouble)flops * (PetscLogDouble)amb->host.n));
  PetscCall(PetscLogEventEnd(KSP_AMBPass, ksp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBReduce(KSP ksp, const KSPAMB *amb, PetscInt n, SysReal sums[])
{
  PetscFunctionBegin;
  if (amb->nproc == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(KSP_AMBReduce, ksp, 0, 0, 0));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, (PetscMPIInt)n, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)ksp)));
  PetscCall(PetscLogEventEnd(KSP_AMBReduce, ksp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBReduceBegin(KSP ksp, const KSPAMB *amb, PetscInt n, SysReal sums[], MPI_Request *request)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_MPI_NONBLOCKING_COLLECTIVES)
  *request = MPI_REQUEST_NULL;
  if (amb->nproc > 1) PetscCallMPI(MPI_Iallreduce(MPI_IN_PLACE, sums, (PetscMPIInt)n, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)ksp), request));
#else
  PetscCall(KSPAMBReduce(ksp, amb, n, sums));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBReduceEnd(KSP ksp, const KSPAMB *amb, MPI_Request *request)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_MPI_NONBLOCKING_COLLECTIVES)
  if (amb->nproc == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(KSP_AMBReduce, ksp, 0, 0, 0));
  PetscCallMPI(MPI_Wait(request, MPI_STATUS_IGNORE));
  PetscCall(PetscLogEventEnd(KSP_AMBReduce, ksp, 0, 0, 0));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBPoison(const KSPAMB *amb, Vec v)
{
  PetscScalar *array;
  PetscInt     n;

  PetscFunctionBegin;
  if (!amb->poison) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &array));
  for (PetscInt k = 0; k < n; k++) array[k] = PETSC_INFINITY;
  PetscCall(VecRestoreArrayWrite(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBResidual(KSP ksp, Mat A, Vec r)
{
  PetscFunctionBegin;
  if (ksp->guess_zero) PetscCall(VecCopy(ksp->vec_rhs, r));
  else {
    PetscCall(MatMult(A, ksp->vec_sol, r));
    PetscCall(VecAYPX(r, -1.0, ksp->vec_rhs));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBTest(KSP ksp, PetscInt its, PetscReal norm)
{
  PetscFunctionBegin;
  ksp->its   = its;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, its, norm));
  PetscCall((*ksp->converged)(ksp, its, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the type ------------------------------------------------- */

PetscErrorCode KSPAMBGet(KSP ksp, KSPAMB **amb)
{
  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)ksp, KSPAMB_NAME, (void **)amb));
  PetscCheck(*amb, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONGSTATE, "This KSP lost the context of its type %s; set the type again with KSPSetType()", ((PetscObject)ksp)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBClear(KSPAMB *amb)
{
  PetscFunctionBegin;
  FusedHostDestroy(&amb->host);
  if (amb->d) SysRelease(amb->d, amb->size);
  amb->d    = NULL;
  amb->size = 0;
  PetscCall(VecDestroy(&amb->guess));
  PetscCall(VecDestroy(&amb->diagonal));
  PetscCall(PetscMemzero(&amb->kept, sizeof(amb->kept)));
  PetscCall(KSPAMBDeviceClear(amb));
  if (amb->clear) PetscCall((*amb->clear)(amb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBFree(PetscAMBCtxArgument arg)
{
  KSPAMB *amb = (KSPAMB *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall(KSPAMBClear(amb));
  PetscCall(PetscFree(amb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_AMB(KSP ksp)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  PetscCall(KSPAMBClear(amb));
  if (amb->base.reset) PetscCall((*amb->base.reset)(ksp));
  if (amb->modifyowned) { /* PETSc has destroyed the context */
    amb->modifypc  = NULL;
    amb->modifyctx = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_AMB(KSP ksp)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  PetscCall((*amb->base.destroy)(ksp));
  PetscCall(PetscObjectCompose((PetscObject)ksp, KSPAMB_NAME, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's constructor of its own type */
static PetscErrorCode KSPAMBCreatePETSc(KSP ksp, KSPType type)
{
  PetscErrorCode (*create)(KSP) = NULL;

  PetscFunctionBegin;
  for (int k = 0; k < nconstructor; k++) {
    if (strcmp(constructors[k].type, type) == 0) create = constructors[k].create;
  }
  PetscCheck(create, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The operations of the type %s are unknown", type);
  PetscCall((*create)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBExtend(KSP ksp, KSPType type, PetscErrorCode (*solve)(KSP, KSPAMB *), KSPAMB **amb)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBCreatePETSc(ksp, type));
  PetscCall(PetscNew(amb));
  (*amb)->base    = *ksp->ops;
  (*amb)->solve   = solve;
  (*amb)->extends = type;
  PetscCall(PetscAMBObjectContainerCompose((PetscObject)ksp, KSPAMB_NAME, *amb, KSPAMBFree));
  ksp->ops->solve   = KSPSolve_AMB;
  ksp->ops->reset   = KSPReset_AMB;
  ksp->ops->destroy = KSPDestroy_AMB;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- registration ------------------------------------------------- */

/* The types of PETSc that petsc-amb replaces; set: the option was found */
static void KSPAMBSetReplaced(PetscBool set, PetscBool every)
{
  if (set) takes = every ? KSPAMB_TAKES_ALL : KSPAMB_TAKES_NONE;
}

PetscErrorCode KSPAMBCreateChosen(KSP ksp, KSPType petsc, PetscBool smoother, PetscErrorCode (*create)(KSP))
{
  PetscBool every = PETSC_FALSE, set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_for_ksp", &every, &set));
  PetscCall(MatShadowOptionSought("-petscamb_for_ksp"));
  KSPAMBSetReplaced(set, every);
  if (takes == KSPAMB_TAKES_ALL || (takes == KSPAMB_TAKES_SMOOTHERS && smoother)) PetscCall((*create)(ksp));
  else PetscCall(KSPAMBCreatePETSc(ksp, petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBRegisterType(KSPType own, KSPType petsc, PetscErrorCode (*create)(KSP), PetscErrorCode (*chosen)(KSP))
{
  PetscFunctionBegin;
  PetscCheck(nconstructor < (int)PETSC_STATIC_ARRAY_LENGTH(constructors), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many types: raise the length of constructors[]");
  constructors[nconstructor].type = petsc;
  PetscCall(PetscFunctionListFind(KSPList, petsc, &constructors[nconstructor].create));
  PetscCheck(constructors[nconstructor].create, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PETSc has no KSP type %s", petsc);
  nconstructor++;
  PetscCall(KSPRegister(own, create));
  PetscCall(KSPRegister(petsc, chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called before the types are registered. PetscFinalize() forgets all types, so that nothing has to be undone. */
PetscErrorCode KSPAMBRegister(void)
{
  PetscBool every = PETSC_FALSE, set = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(KSPInitializePackage());
  nconstructor = 0;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, Krylov methods", "KSP");
  PetscCall(PetscOptionsBool("-petscamb_for_ksp", "Every cg, bcgs, gmres, fgmres and chebyshev of the program runs on fused passes; without the option, the Chebyshev smoothers of matrices of petsc-amb on GPUs", "KSPAMBCG", every, &every, &set));
  PetscOptionsEnd();
  takes = KSPAMB_TAKES_NONE;
#if defined(SYS_HAVE_DEVICE)
  takes = KSPAMB_TAKES_SMOOTHERS;
#endif
  KSPAMBSetReplaced(set, every);
  PetscCall(VecAMBGetOperations(VECSEQ, &seqops));
  PetscCall(VecAMBGetOperations(VECMPI, &mpiops));
  PetscCall(PetscLogEventRegister("KSPAMBPass", KSP_CLASSID, &KSP_AMBPass));
  PetscCall(PetscLogEventRegister("KSPAMBReduce", KSP_CLASSID, &KSP_AMBReduce));
  PetscFunctionReturn(PETSC_SUCCESS);
}
