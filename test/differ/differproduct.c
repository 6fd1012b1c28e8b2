/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of matrices: all kinds, by one call and by phases, made again with other values and other operands
*/
#include "differ.h"
#include "../testproduct.h"

typedef struct {
  MatProductType type;
  int            count;
} Kind;

static const Kind kinds[] = {
  {MATPRODUCT_AB,   2},
  {MATPRODUCT_AtB,  2},
  {MATPRODUCT_ABt,  2},
  {MATPRODUCT_PtAP, 2},
  {MATPRODUCT_RARt, 2},
  {MATPRODUCT_ABC,  3}
};

/* Operands that fit on this process; a matrix may be multiplied by itself */
static PetscErrorCode LocalOperands(DifferStep *s, const Kind *kind, unsigned needs, Mat M[3])
{
  PetscFunctionBeginUser;
  M[1] = M[2] = NULL;
  PetscCall(DifferPick(s, needs | (kind->type == MATPRODUCT_PtAP || kind->type == MATPRODUCT_RARt ? DIFFER_SQUARE : 0), &M[0]));
  if (!M[0]) PetscFunctionReturn(PETSC_SUCCESS);
  switch (kind->type) {
  case MATPRODUCT_AtB:
    PetscCall(DifferPick(s, needs | DIFFER_ROWS_ROWS, &M[1]));
    break;
  case MATPRODUCT_ABt:
  case MATPRODUCT_RARt:
    PetscCall(DifferPick(s, needs | DIFFER_COLS_COLS, &M[1]));
    break;
  default:
    PetscCall(DifferPick(s, needs | DIFFER_ROWS_COLS, &M[1]));
  }
  if (!M[1]) M[0] = NULL;
  if (M[0] && kind->type == MATPRODUCT_AtB && M[0] == M[1] && M[0]->symmetric == PETSC_BOOL3_TRUE) M[0] = NULL;                                                 /* PETSc makes A A instead, out of bounds if the promise is false and A is not square */
  if (M[0] && kind->type == MATPRODUCT_ABt && strncmp(((PetscObject)M[0])->type_name, "mpi", 3) == 0 && !DifferSameLayout(M[1]->rmap, M[1]->cmap)) M[0] = NULL; /* PETSc compares rows with columns */
  if (M[0] && kind->type == MATPRODUCT_ABt && PetscAbs(M[1]->cmap->bs) > 1 && PetscAbs(M[1]->cmap->bs) != PetscAbs(M[1]->rmap->bs)) M[0] = NULL;                /* see Excuse() */
  if (M[0] && kind->count == 3) {
    PetscCall(DifferPick(s, needs, &M[2]));
    if (!M[2] || !DifferSameLayout(M[2]->rmap, M[1]->cmap) || strncmp(((PetscObject)M[2])->type_name, ((PetscObject)M[0])->type_name, 3)) M[0] = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operands that fit on all processes, on which sequential ones differ */
static PetscErrorCode Operands(DifferStep *s, const Kind *kind, unsigned needs, Mat M[3])
{
  PetscBool fit;

  PetscFunctionBeginUser;
  PetscCall(LocalOperands(s, kind, needs, M));
  fit = (PetscBool)(M[0] != NULL);
  PetscCall(DifferOnAll(1, &fit));
  if (!fit) M[0] = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Scale(const DifferStep *s, PetscInt count, MatProductType type)
{
  PetscReal scale = 1;

  for (PetscInt k = 0; k < count; k++) scale *= 1 + s->pool->pair[s->picks[k]].norm;
  if (type == MATPRODUCT_PtAP || type == MATPRODUCT_RARt) scale *= 1 + s->pool->pair[s->picks[1]].norm;
  return scale;
}

static PetscErrorCode Call(const Kind *kind, Mat M[3], MatReuse reuse, Mat *C)
{
  static const char *const letters[] = {"AP", "AP", "AP", "AP", "AP", "APX"};
  TestOperands             o         = {.A = M[0], .P = M[1], .X = M[2]};
  TestProduct              p         = {kind->type, letters[kind - kinds]};

  return TestProductCall(&p, &o, reuse, C);
}

/* Some of PETSc's algorithms leave MAT_NO_OFF_PROC_ENTRIES on, and count the times that their buffer for the pattern grew as allocations of MatSetValues(), which MatView()
   prints. The columns of its A B^T on one process have the block size of B's columns before 3.26. */
static PetscErrorCode Excuse(DifferStep *s, const Kind *kind, Mat M[3], Mat C)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(C, MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE));
  C->info.mallocs = 0;
  if (kind->type == MATPRODUCT_ABt && DifferIsAIJ(C)) PetscCall(MatSetBlockSizes(C, PetscAbs(M[0]->rmap->bs), PetscAbs(M[1]->rmap->bs)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatMatMult() and its like, perhaps once more with other values; A B^T only of sequential matrices: for others PETSc 3.18 leaves old values, or crashes */
static PetscErrorCode ByCall(DifferStep *s)
{
  const Kind    *kind  = &kinds[DifferDraw(s, 6)];
  const PetscInt again = DifferDraw(s, 2);
  PetscBool      mpi;
  Mat            M[3], C;

  PetscFunctionBeginUser;
  PetscCall(Operands(s, kind, DIFFER_AIJ | DIFFER_FINITE, M));
  if (!M[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)M[0], MATMPIAIJ, &mpi));
  PetscCall(Call(kind, M, MAT_INITIAL_MATRIX, &C));
  if (again && (!mpi || kind->type != MATPRODUCT_ABt)) {
    PetscCall(MatScale(M[0], 2.0));
    PetscCall(Call(kind, M, MAT_REUSE_MATRIX, &C));
  }
  PetscCall(Excuse(s, kind, M, C));
  DifferRound(s, 2 * Scale(s, kind->count, kind->type));
  PetscCall(DifferGive(s, DifferIsOurs(s, 0), C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By phases; what is said of the product between the phases stays */
static PetscErrorCode ByPhases(DifferStep *s)
{
  const Kind    *kind = &kinds[DifferDraw(s, 6)];
  const PetscInt says = DifferDraw(s, 4);
  Mat            M[3], C;

  PetscFunctionBeginUser;
  PetscCall(Operands(s, kind, DIFFER_AIJ | DIFFER_FINITE, M));
  if (!M[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatProductCreate(M[0], M[1], M[2], &C));
  PetscCall(MatProductSetType(C, kind->type));
  PetscCall(MatProductSetFill(C, 2.0));
  if (says & 1) {
    PetscCall(PetscObjectSetName((PetscObject)C, "a product"));
    PetscCall(PetscObjectCompose((PetscObject)C, "TestAttached", (PetscObject)s->pool->attached));
  }
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  if (says & 2) PetscCall(MatSetNearNullSpace(C, s->pool->space));
  PetscCall(MatProductNumeric(C));
  PetscCall(Excuse(s, kind, M, C));
  DifferRound(s, Scale(s, kind->count, kind->type));
  PetscCall(DifferGive(s, DifferIsOurs(s, 0), C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scale of a rounding error of the product C. It is 0 if the product cannot be compared: infinite numbers give others in (A B) C than in A (B C), and hashgemm takes
   the cheaper order. */
static PetscErrorCode ScaleOf(Mat C, PetscReal *scale)
{
  Mat       operand[3] = {C->product->A, C->product->B, C->product->C};
  PetscReal norm;

  PetscFunctionBeginUser;
  if (C->product->type == MATPRODUCT_PtAP || C->product->type == MATPRODUCT_RARt) operand[2] = C->product->B;
  *scale = 1;
  for (int k = 0; k < 3 && operand[k]; k++) {
    PetscCall(MatNorm(operand[k], NORM_FROBENIUS, &norm));
    *scale *= 1 + norm;
  }
  if (operand[2] && !(*scale < PETSC_MAX_REAL)) *scale = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product from the pool, of which operands may have other values by now. Its transposes are made again only if the state of their matrix has changed: not if that of its
   blocks alone has. */
static PetscErrorCode Again(DifferStep *s)
{
  Mat       C;
  PetscReal scale;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_PRODUCT, &C);
  PetscCall(ScaleOf(C, &scale));
  if (!scale) PetscFunctionReturn(PETSC_SUCCESS);
  if (C->product->type == MATPRODUCT_RARt) PetscCall(PetscObjectStateIncrease((PetscObject)C->product->B));
  PetscCall(MatProductNumeric(C));
  PetscCall(MatSetOption(C, MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE));
  DifferRound(s, scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies of the operands with other values replace them. PETSc makes transposes of some operands, and raises an error where another one replaces it.
   Of an MPI matrix on one process, PETSc copies the values of the new B into the old one, which A may be too (MatMPIAIJGetLocalMat()). */
static PetscErrorCode Replace(DifferStep *s)
{
  Mat            C, M[3] = {NULL, NULL, NULL};
  PetscReal      scale;
  PetscBool      mpi;
  PetscMPIInt    size;
  const PetscInt which = DifferDraw(s, 2);

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_PRODUCT, &C);
  if (C->product->type != MATPRODUCT_AB && C->product->type != MATPRODUCT_ABC) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)C->product->B, MATMPIAIJ, &mpi));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)C), &size));
  if (mpi && size == 1 && which) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ScaleOf(C, &scale));
  if (!scale) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDuplicate(which ? C->product->B : C->product->A, MAT_COPY_VALUES, &M[which]));
  PetscCall(MatScale(M[which], 0.5));
  PetscCall(MatProductReplaceMats(M[0], M[1], M[2], C));
  PetscCall(MatProductNumeric(C));
  PetscCall(MatSetOption(C, MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE));
  DifferRound(s, scale);
  PetscCall(MatDestroy(&M[which]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product's past is forgotten, and nothing else */
static PetscErrorCode Clear(DifferStep *s)
{
  Mat C;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_PRODUCT, &C);
  PetscCall(MatProductClear(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a dense operand */
static PetscErrorCode WithDense(DifferStep *s)
{
  static const MatProductType types[] = {MATPRODUCT_AB, MATPRODUCT_AtB};
  const PetscInt              which = DifferDraw(s, 2), again = DifferDraw(s, 2);
  const PetscInt              N = 1 + DifferDraw(s, 4);
  Mat                         A, B, C;
  PetscScalar                *b;
  PetscInt                    m, lda, first;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE, &A);
  m     = types[which] == MATPRODUCT_AB ? A->cmap->n : A->rmap->n;
  first = types[which] == MATPRODUCT_AB ? A->cmap->rstart : A->rmap->rstart;
  PetscCall(MatCreateDense(PetscObjectComm((PetscObject)A), m, PETSC_DECIDE, types[which] == MATPRODUCT_AB ? A->cmap->N : A->rmap->N, N, NULL, &B));
  PetscCall(MatDenseGetLDA(B, &lda));
  PetscCall(MatDenseGetArrayWrite(B, &b));
  for (PetscInt j = 0; j < N; j++) {
    for (PetscInt i = 0; i < m; i++) b[i + lda * j] = TestNumber(first + i, j);
  }
  PetscCall(MatDenseRestoreArrayWrite(B, &b));
  PetscCall(DifferAssemble(B));
  if (which) PetscCall(MatTransposeMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  else PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  if (again) {
    PetscCall(MatScale(B, 2.0));
    if (which) PetscCall(MatTransposeMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    else PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  }
  PetscCall(DifferNoteMat(s, "product with a dense matrix", C, 100 * (1 + s->pool->pair[s->picks[0]].norm)));
  PetscCall(TestDestroy(&B, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of a matrix that is not stored, and of its transpose */
static PetscErrorCode WithTranspose(DifferStep *s)
{
  const PetscInt left = DifferDraw(s, 2);
  Mat            A, B, T, C;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE, &A);
  PetscCall(DifferPick(s, DIFFER_AIJ | DIFFER_FINITE | (left ? DIFFER_ROWS_ROWS : DIFFER_COLS_COLS), &B));
  if (!B) PetscFunctionReturn(PETSC_SUCCESS);
  if (!left && PetscAbs(B->cmap->bs) > 1 && PetscAbs(B->cmap->bs) != PetscAbs(B->rmap->bs)) PetscFunctionReturn(PETSC_SUCCESS); /* see Excuse() */
  PetscCall(MatCreateTranspose(left ? A : B, &T));
  PetscCall(MatMatMult(left ? T : A, left ? B : T, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatDestroy(&T));
  PetscCall(MatSetBlockSizes(C, 1, 1)); /* those of A B^T are wrong in PETSc before 3.26 */
  PetscCall(DifferNoteMat(s, "product with a transpose", C, Scale(s, 2, MATPRODUCT_AB)));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By PETSc's algorithms, asked for by name on both sides, and hashgemm for plain operands; of a matrix on a GPU and one on the host PETSc makes the product */
static PetscErrorCode ByAlgorithm(DifferStep *s)
{
  static const char *const names[2][3] = {
    {"sorted",      "scalable", "hashgemm"},
    {"nonscalable", "scalable", "hashgemm"}
  };
  PetscBool mpi;
  PetscInt  which = DifferDraw(s, 3);
  Mat       A, B, C;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE, &A);
  PetscCall(DifferPick(s, DIFFER_AIJ | DIFFER_FINITE | DIFFER_ROWS_COLS, &B));
  if (!B) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  PetscCall(MatProductCreate(A, B, NULL, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  PetscCall(MatProductSetAlgorithm(C, which == 2 && (s->side != DIFFER_TEST || !DifferIsOurs(s, 0) || DifferIsPlain() || (DifferThird() && !DifferIsOurs(s, 1))) ? names[mpi][0] : names[mpi][which]));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatProductNumeric(C));
  PetscCall(Excuse(s, &kinds[0], NULL, C));
  DifferRound(s, Scale(s, 2, MATPRODUCT_AB));
  PetscCall(DifferGive(s, DifferIsOurs(s, 0), C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DifferOp DifferProducts[] = {
  {"product",           ByCall,        8},
  {"product_phases",    ByPhases,      5},
  {"product_again",     Again,         4},
  {"product_replace",   Replace,       2},
  {"product_clear",     Clear,         1},
  {"product_dense",     WithDense,     2},
  {"product_transpose", WithTranspose, 1},
  {"product_algorithm", ByAlgorithm,   2},
  {NULL,                NULL,          0}
};
