/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The operations that can be timed. Each run of an operation takes its own time, so that preparations are not counted.
*/
#include "bench.h"

/* The time of one product, as the mean of as many as a contender wants queued between two waits */
static PetscErrorCode TimeBatch(Contender c, Case *k, PetscErrorCode (*make)(Contender, Case *), PetscLogDouble *seconds)
{
  PetscLogDouble t0, t1;
  int            batch = 1;

  PetscFunctionBegin;
  PetscCall(ContenderTime(c, &batch, &t0));
  for (int n = 0; n < batch; n++) PetscCall((*make)(c, k));
  PetscCall(ContenderTime(c, NULL, &t1));
  *seconds = (t1 - t0) / batch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CanMult(Contender c, PetscBool *can)
{
  *can = c->peer->mult ? PETSC_TRUE : PETSC_FALSE;
  return PETSC_SUCCESS;
}

static PetscErrorCode MakeMult(Contender c, Case *k)
{
  return (*c->peer->mult)(c, k->x, k->y);
}

static PetscErrorCode OnceMult(Contender c, Case *k, PetscLogDouble *seconds)
{
  return TimeBatch(c, k, MakeMult, seconds);
}

static PetscErrorCode CheckMult(Contender c, Case *k, PetscReal *error)
{
  PetscFunctionBegin;
  if (c->peer->fetch) PetscCall((*c->peer->fetch)(c, k->y));
  PetscCall(ReferenceCheckMult(k, 1.0, k->x, NULL, k->y, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix once, x once, y once */
static PetscErrorCode BytesMult(Contender c, Case *k, PetscLogDouble *bytes)
{
  *bytes = c->bytes > 0 ? c->bytes + sizeof(PetscScalar) * ((PetscLogDouble)k->shape.M + k->shape.N) : 0;
  return PETSC_SUCCESS;
}

static PetscErrorCode CanMultTranspose(Contender c, PetscBool *can)
{
  *can = c->peer->multtranspose ? PETSC_TRUE : PETSC_FALSE;
  if (c->A) PetscCall(MatHasOperation(c->A, MATOP_MULT_TRANSPOSE, can));
  return PETSC_SUCCESS;
}

static PetscErrorCode MakeMultTranspose(Contender c, Case *k)
{
  return (*c->peer->multtranspose)(c, k->xt, k->yt);
}

static PetscErrorCode OnceMultTranspose(Contender c, Case *k, PetscLogDouble *seconds)
{
  return TimeBatch(c, k, MakeMultTranspose, seconds);
}

static PetscErrorCode CheckMultTranspose(Contender c, Case *k, PetscReal *error)
{
  PetscFunctionBegin;
  if (c->peer->fetch) PetscCall((*c->peer->fetch)(c, k->yt));
  PetscCall(ReferenceCheckMultTranspose(k, k->xt, k->yt, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CanMultAdd(Contender c, PetscBool *can)
{
  *can = c->peer->multadd ? PETSC_TRUE : PETSC_FALSE;
  if (c->A) PetscCall(MatHasOperation(c->A, MATOP_MULT_ADD, can));
  return PETSC_SUCCESS;
}

static PetscErrorCode MakeMultAdd(Contender c, Case *k)
{
  return (*c->peer->multadd)(c, k->x, k->z, k->y);
}

static PetscErrorCode OnceMultAdd(Contender c, Case *k, PetscLogDouble *seconds)
{
  return TimeBatch(c, k, MakeMultAdd, seconds);
}

static PetscErrorCode CheckMultAdd(Contender c, Case *k, PetscReal *error)
{
  PetscFunctionBegin;
  if (c->peer->fetch) PetscCall((*c->peer->fetch)(c, k->y));
  PetscCall(ReferenceCheckMult(k, 1.0, k->x, k->z, k->y, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BytesMultAdd(Contender c, Case *k, PetscLogDouble *bytes)
{
  *bytes = c->bytes > 0 ? c->bytes + sizeof(PetscScalar) * (2.0 * k->shape.M + k->shape.N) : 0;
  return PETSC_SUCCESS;
}

static PetscErrorCode BytesUnknown(Contender c, Case *k, PetscLogDouble *bytes)
{
  *bytes = 0;
  return PETSC_SUCCESS;
}

static PetscErrorCode CanConvert(Contender c, PetscBool *can)
{
  PetscBool plain;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(c->name, MATAIJ, &plain));
  *can = c->peer->convert && !plain ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnceConvert(Contender c, Case *k, PetscLogDouble *seconds)
{
  return (*c->peer->convert)(c, k, seconds);
}

/* A subtype that only adds to an AIJ has nothing to update; a type with values of its own has */
static PetscErrorCode CanUpdate(Contender c, PetscBool *can)
{
  PetscBool sell;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(c->name, MATSELL, &sell));
  *can = c->peer->update && (sell || c->shadow) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnceUpdate(Contender c, Case *k, PetscLogDouble *seconds)
{
  return (*c->peer->update)(c, k, seconds);
}

/* The converted or updated matrix must multiply like the original */
static PetscErrorCode CheckFresh(Contender c, Case *k, PetscReal *error)
{
  PetscFunctionBegin;
  *error = 0;
  if (!c->fresh) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ContenderPoison(c, k->y));
  PetscCall((*c->peer->multfresh)(c, k->x, k->y));
  if (c->peer->fetch) PetscCall((*c->peer->fetch)(c, k->y));
  PetscCall(ReferenceCheckMult(k, c->sign, k->x, NULL, k->y, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Types of AIJ: others assemble entry by entry */
static PetscErrorCode CanAssemble(Contender c, PetscBool *can)
{
  PetscFunctionBegin;
  *can = PETSC_FALSE;
  if (c->A && c->peer->convert) PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)c->A, can, MATSEQAIJ, MATMPIAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnceAssemble(Contender c, Case *k, PetscLogDouble *seconds)
{
  return ContenderAssemble(c, k, PETSC_FALSE, seconds);
}

static PetscErrorCode OnceReassemble(Contender c, Case *k, PetscLogDouble *seconds)
{
  return ContenderAssemble(c, k, PETSC_TRUE, seconds);
}

static PetscErrorCode CanSquare(Contender c, PetscBool *can)
{
  *can = c->peer->square ? PETSC_TRUE : PETSC_FALSE;
  return PETSC_SUCCESS;
}

static PetscErrorCode CanResquare(Contender c, PetscBool *can)
{
  *can = c->peer->resquare ? PETSC_TRUE : PETSC_FALSE;
  return PETSC_SUCCESS;
}

static PetscErrorCode OnceSquare(Contender c, Case *k, PetscLogDouble *seconds)
{
  PetscFunctionBegin;
  PetscCheck(k->shape.M == k->shape.N, PetscObjectComm((PetscObject)k->A), PETSC_ERR_USER_INPUT, "%s: the square of a matrix of %" PetscInt_FMT " x %" PetscInt_FMT " was asked for", k->name, k->shape.M, k->shape.N);
  PetscCall((*c->peer->square)(c, seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnceResquare(Contender c, Case *k, PetscLogDouble *seconds)
{
  return (*c->peer->resquare)(c, seconds);
}

static PetscErrorCode CheckSquare(Contender c, Case *k, PetscReal *error)
{
  PetscFunctionBegin;
  PetscCall((*c->peer->squaremult)(c, k, k->x, k->y));
  if (c->device[0]) PetscCall((*c->peer->fetch)(c, k->y));
  PetscCall(ReferenceCheckProduct(&k->rows, &k->rows, k->x, k->y, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FlopsSquare(Case *k, PetscLogDouble *flops)
{
  PetscFunctionBegin;
  if (!k->products) PetscCall(ReferenceCountProducts(PetscObjectComm((PetscObject)k->A), &k->rows, &k->rows, &k->products));
  *flops = 2.0 * k->products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc has no such product of some other types */
static PetscErrorCode CanDense(Contender c, PetscBool *can)
{
  PetscFunctionBegin;
  *can = (PetscBool)(c->peer->dense && !c->A);
  if (c->A && c->peer->dense) PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)c->A, can, MATSEQAIJ, MATMPIAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnceDense(Contender c, Case *k, PetscLogDouble *seconds)
{
  return (*c->peer->dense)(c, k, PETSC_FALSE, seconds);
}

static PetscErrorCode OnceDenseTranspose(Contender c, Case *k, PetscLogDouble *seconds)
{
  return (*c->peer->dense)(c, k, PETSC_TRUE, seconds);
}

/* The first column, one in the middle and the last */
static PetscErrorCode CheckDenseColumns(Contender c, Case *k, PetscBool transpose, PetscReal *error)
{
  const PetscInt columns[] = {0, k->columns / 2, k->columns - 1};
  Vec            x, y;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(transpose ? k->xt : k->x, &x));
  PetscCall(VecDuplicate(transpose ? k->yt : k->y, &y));
  *error = 0;
  for (int q = 0; q < 3; q++) {
    PetscReal e;

    PetscCall((*c->peer->densecolumn)(c, columns[q], x, y));
    if (transpose) PetscCall(ReferenceCheckMultTranspose(k, x, y, &e));
    else PetscCall(ReferenceCheckMult(k, 1.0, x, NULL, y, &e));
    *error = PetscMax(*error, e);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDense(Contender c, Case *k, PetscReal *error)
{
  return CheckDenseColumns(c, k, PETSC_FALSE, error);
}

static PetscErrorCode CheckDenseTranspose(Contender c, Case *k, PetscReal *error)
{
  return CheckDenseColumns(c, k, PETSC_TRUE, error);
}

static PetscErrorCode FlopsDense(Case *k, PetscLogDouble *flops)
{
  *flops = 2.0 * k->shape.nonzeros * k->columns;
  return PETSC_SUCCESS;
}

static PetscErrorCode CanSample(Contender c, PetscBool *can)
{
  PetscFunctionBegin;
  *can = (PetscBool)(c->peer->sample && !c->A);
  if (c->A && c->peer->sample) PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)c->A, can, MATSEQAIJ, MATMPIAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnceSample(Contender c, Case *k, PetscLogDouble *seconds)
{
  return (*c->peer->sample)(c, k, seconds);
}

/* Column q of both factors is a vector times w_q: the entry (i, j) is xt_i x_j times the sum of all w_q^2 */
static PetscErrorCode CheckSample(Contender c, Case *k, PetscReal *error)
{
  const PetscScalar *x, *xt, *a;
  const PetscInt    *cols;
  PetscReal          sum = 0, worst = 0;
  PetscInt           r0, r1, n;
  Vec                all;
  VecScatter         scatter;

  PetscFunctionBegin;
  for (PetscInt q = 0; q < k->columns; q++) sum += PetscSqr(1 - (PetscReal)q / (2 * k->columns));
  PetscCall(VecScatterCreateToAll(k->x, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, k->x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, k->x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecGetArrayRead(all, &x));
  PetscCall(VecGetArrayRead(k->xt, &xt));
  PetscCall(MatGetOwnershipRange(c->sampled, &r0, &r1));
  for (PetscInt r = r0; r < r1; r++) {
    PetscCall(MatGetRow(c->sampled, r, &n, &cols, &a));
    for (PetscInt l = 0; l < n; l++) {
      const PetscScalar right = xt[r - r0] * x[cols[l]] * sum;
      const PetscReal   e     = PetscAbsScalar(a[l] - right) / (PETSC_MACHINE_EPSILON * (PetscReal)(k->columns + 8) * PetscAbsScalar(right));

      if (!(e <= worst)) worst = PetscIsNanReal(e) ? PETSC_MAX_REAL : e;
    }
    PetscCall(MatRestoreRow(c->sampled, r, &n, &cols, &a));
  }
  PetscCall(VecRestoreArrayRead(k->xt, &xt));
  PetscCall(VecRestoreArrayRead(all, &x));
  PetscCall(VecDestroy(&all));
  PetscCallMPI(MPI_Allreduce(&worst, error, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)k->A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other libraries and types of PETSc without products of matrices take no part */
static PetscErrorCode CanPair(Contender c, PetscBool *can)
{
  PetscFunctionBegin;
  *can = PETSC_FALSE;
  if (c->A) PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)c->A, can, MATSEQAIJ, MATMPIAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The algorithms in names of contenders are those of A B */
static PetscErrorCode CanPairTransposed(Contender c, PetscBool *can)
{
  PetscFunctionBegin;
  PetscCall(CanPair(c, can));
  if (c->algorithm[0]) *can = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Elsewhere PETSc's own products want ordered rows */
static PetscErrorCode CanPairUnsorted(Contender c, PetscBool *can)
{
  PetscFunctionBegin;
  PetscCall(CanPairTransposed(c, can));
  if (*can) PetscCall(PetscObjectBaseTypeCompare((PetscObject)c->A, MATSEQAIJ, can));
  if (c->device[0]) *can = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const Operation Operations[] = {
  {"spmv",       "y = A x, MatMult()",                                              PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, PAIR_NONE,     CanMult,           OnceMult,           CheckMult,           BytesMult,    NULL       },
  {"spmvt",      "y = A^T x, MatMultTranspose()",                                   PETSC_TRUE,  PETSC_TRUE,  PETSC_FALSE, PAIR_NONE,     CanMultTranspose,  OnceMultTranspose,  CheckMultTranspose,  BytesMult,    NULL       },
  {"spmvadd",    "y = z + A x, MatMultAdd()",                                       PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, PAIR_NONE,     CanMultAdd,        OnceMultAdd,        CheckMultAdd,        BytesMultAdd, NULL       },
  {"convert",    "from plain AIJ to ready to multiply, also given in own products", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PAIR_NONE,     CanConvert,        OnceConvert,        CheckFresh,          BytesUnknown, NULL       },
  {"update",     "new values in the same pattern, also given in own products",      PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PAIR_NONE,     CanUpdate,         OnceUpdate,         CheckFresh,          BytesUnknown, NULL       },
  {"assemble",   "A from coordinates, of blocks in types of petsc-amb",             PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PAIR_NONE,     CanAssemble,       OnceAssemble,       CheckFresh,          BytesUnknown, NULL       },
  {"reassemble", "new values of A in that pattern",                                 PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PAIR_NONE,     CanAssemble,       OnceReassemble,     CheckFresh,          BytesUnknown, NULL       },
  {"square",     "C = A A from nothing, pattern and values, rows in order",         PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, PAIR_NONE,     CanSquare,         OnceSquare,         CheckSquare,         BytesUnknown, FlopsSquare},
  {"resquare",   "new values of C = A A in its pattern",                            PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, PAIR_NONE,     CanResquare,       OnceResquare,       CheckSquare,         BytesUnknown, FlopsSquare},
  {"ata",        "C = A^T A from nothing",                                          PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, PAIR_ATA,      CanPairTransposed, PairOnce,           PairCheck,           BytesUnknown, PairFlops  },
  {"ap",         "C = A P from nothing, P a prolongator of aggregates of 8 rows",   PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, PAIR_AP,       CanPair,           PairOnce,           PairCheck,           BytesUnknown, PairFlops  },
  {"reap",       "new values of C = A P in its pattern",                            PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, PAIR_AP,       CanPair,           PairAgain,          PairCheck,           BytesUnknown, PairFlops  },
  {"lu",         "C = L U from nothing, the strict triangles of A",                 PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, PAIR_LU,       CanPair,           PairOnce,           PairCheck,           BytesUnknown, PairFlops  },
  {"tall",       "C = A S from nothing, S 64 columns of A",                         PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, PAIR_TALL,     CanPair,           PairOnce,           PairCheck,           BytesUnknown, PairFlops  },
  {"unsorted",   "C = A A from nothing, the rows of A in descending order",         PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, PAIR_UNSORTED, CanPairUnsorted,   PairOnce,           PairCheck,           BytesUnknown, PairFlops  },
  {"spmm",       "C = A D in the product that is there, D with -columns columns",   PETSC_TRUE,  PETSC_FALSE, PETSC_TRUE,  PAIR_NONE,     CanDense,          OnceDense,          CheckDense,          BytesUnknown, FlopsDense },
  {"spmmt",      "C = A^T D in the same way",                                       PETSC_TRUE,  PETSC_TRUE,  PETSC_TRUE,  PAIR_NONE,     CanDense,          OnceDenseTranspose, CheckDenseTranspose, BytesUnknown, FlopsDense },
  {"sddmm",      "O = D1 D2^T in the pattern of A, factors of -columns columns",    PETSC_TRUE,  PETSC_FALSE, PETSC_TRUE,  PAIR_NONE,     CanSample,         OnceSample,         CheckSample,         BytesUnknown, FlopsDense },
};

const Operation *OperationFind(const char name[])
{
  for (int o = 0; o < (int)PETSC_STATIC_ARRAY_LENGTH(Operations); o++) {
    if (!strcmp(name, Operations[o].name)) return &Operations[o];
  }
  return NULL;
}

/* *nearest is the name that the user may have meant, or NULL */
PetscErrorCode OperationNearest(const char name[], const char **nearest)
{
  const char *names[PETSC_STATIC_ARRAY_LENGTH(Operations)];

  PetscFunctionBegin;
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(Operations); o++) names[o] = Operations[o].name;
  PetscCall(NameNearest(name, PETSC_STATIC_ARRAY_LENGTH(Operations), names, nearest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OperationHelp(MPI_Comm comm)
{
  PetscFunctionBegin;
  for (int o = 0; o < (int)PETSC_STATIC_ARRAY_LENGTH(Operations); o++) PetscCall(PetscPrintf(comm, "  %-22s %s\n", Operations[o].name, Operations[o].about));
  PetscFunctionReturn(PETSC_SUCCESS);
}
