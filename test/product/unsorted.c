/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Products of matrices whose rows have columns in any order: hashgemm leaves them to PETSc.\n";

#include "../testproduct.h"

static const TestShape grid = {"grid", 144, 144, TestRowGrid, TestValueGeneral, PETSC_FALSE};

/* The columns of the first block of A in descending order, with their values */
static PetscErrorCode Reverse(Mat A)
{
  const PetscInt *i, *j;
  PetscInt        m;
  PetscScalar    *a;
  PetscBool       done, mpi;
  Mat             block = A;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  PetscCall(MatSeqAIJGetArray(block, &a));
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  for (PetscInt r = 0; r < m; r++) {
    for (PetscInt k = i[r], l = i[r + 1] - 1; k < l; k++, l--) {
      const PetscInt    column = j[k];
      const PetscScalar value  = a[k];

      ((PetscInt *)j)[k] = j[l];
      ((PetscInt *)j)[l] = column;
      a[k]               = a[l];
      a[l]               = value;
    }
  }
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  PetscCall(MatSeqAIJRestoreArray(block, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces an operand by a copy in which rows have columns in descending order */
static PetscErrorCode ReplaceByReversed(Mat *A)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(*A, MAT_COPY_VALUES, &B));
  PetscCall(Reverse(B));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char *name;
  TestProduct product;
  PetscBool   seq, mpi; /* is PETSc's own product right, on one process and on several? */
} Product;

static const Product products[] = {
  {"A P",    {MATPRODUCT_AB, "AP"},   PETSC_TRUE,  PETSC_FALSE},
  {"A' P",   {MATPRODUCT_AtB, "AP"},  PETSC_TRUE,  PETSC_TRUE },
  {"A P'",   {MATPRODUCT_ABt, "AP"},  PETSC_FALSE, PETSC_FALSE},
  {"P' A P", {MATPRODUCT_PtAP, "AP"}, PETSC_FALSE, PETSC_FALSE},
  {"P A P'", {MATPRODUCT_RARt, "AP"}, PETSC_TRUE,  PETSC_TRUE },
  {"A P A",  {MATPRODUCT_ABC, "APA"}, PETSC_TRUE,  PETSC_FALSE}
};

static PetscErrorCode Create(TestOperands o[2])
{
  PetscFunctionBeginUser;
  for (int plain = 0; plain < 2; plain++) {
    Mat A, P;

    PetscCall(TestShapeCreate(&grid, plain ? "ref_" : NULL, &A));
    PetscCall(TestShapeCreate(&grid, plain ? "ref_" : NULL, &P));
    PetscCall(TestOperandsCreate(A, P, &o[plain]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unsorted rows in A or in P, against the product of plain matrices with the same entries in ascending order; made again with other values */
static PetscErrorCode Run(TestDiff *d, const Product *p, char unsorted, PetscBool right)
{
  TestOperands o[2];
  Mat          C[2];
  PetscBool    device;

  PetscFunctionBeginUser;
  PetscCall(Create(o));
  PetscCall(TestOnDevice(o[0].A, &device));
  if (device && p->product.type == MATPRODUCT_RARt) right = PETSC_FALSE; /* there it begins with A P', which is wrong */
  PetscCall(ReplaceByReversed(unsorted == 'A' ? &o[0].A : &o[0].P));
  if (!right) {
    PetscCall(TestProductCreate(&p->product, &o[0], &C[0]));
    PetscCall(MatProductSetFromOptions(C[0]));
    TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "not in ascending order", MatProductSymbolic(C[0]));
    PetscCall(MatDestroy(&C[0]));
  }
  for (int round = 0; round < 2 && right; round++) {
    for (int plain = 0; plain < 2; plain++) {
      if (round) PetscCall(TestChangeValues(o[plain].A, 3));
      PetscCall(TestProductSteps(&p->product, &o[plain], round ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &C[plain]));
    }
    PetscCall(TestDiffMat(d, C[0], C[1]));
  }
  if (right) PetscCall(TestDestroy(&C[0], &C[1]));
  for (int plain = 0; plain < 2; plain++) PetscCall(TestOperandsDestroy(&o[plain]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An unsorted operand in the place of a sorted one: PETSc's own products would crash */
static PetscErrorCode Later(TestDiff *d)
{
  TestOperands o[2];
  Mat          C;

  PetscFunctionBeginUser;
  PetscCall(Create(o));
  PetscCall(TestProductSteps(&products[0].product, &o[0], MAT_INITIAL_MATRIX, &C));
  PetscCall(ReplaceByReversed(&o[0].A));
  for (int again = 0; again < 2; again++) TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "make a new product", TestProductSteps(&products[0].product, &o[0], MAT_REUSE_MATRIX, &C));
  PetscCall(MatDestroy(&C));
  for (int plain = 0; plain < 2; plain++) PetscCall(TestOperandsDestroy(&o[plain]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The user asks for hashgemm by an option, which PETSc's algorithms do not know */
static PetscErrorCode ByOption(TestDiff *d)
{
  TestOperands o[2];
  Mat          C;

  PetscFunctionBeginUser;
  PetscCall(Create(o));
  PetscCall(ReplaceByReversed(&o[0].A));
  PetscCall(PetscOptionsSetValue(NULL, "-mattransposematmult_via", MATPRODUCTALGORITHMHASHGEMM));
  TestExpectError(d, PETSC_ERR_SUP, "choose another algorithm", MatTransposeMatMult(o[0].A, o[0].P, MAT_INITIAL_MATRIX, 2.0, &C));
  PetscCall(PetscOptionsClearValue(NULL, "-mattransposematmult_via"));
  for (int plain = 0; plain < 2; plain++) PetscCall(TestOperandsDestroy(&o[plain]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"unsorted when the product is made again", Later   },
  {"hashgemm by an option",                   ByOption},
  {NULL,                                      NULL    }
};

int main(int argc, char **argv)
{
  PetscMPIInt size;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(products); k++) {
    TestDiff d = {NULL, 0};

    for (const char *unsorted = "AP"; *unsorted; unsorted++) {
      if (Run(&d, &products[k], *unsorted, size > 1 ? products[k].mpi : products[k].seq)) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
    }
    PetscCall(TestReport(products[k].name, &d));
  }
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  test:
    nsize: {{1 2 3}}
    args: @types(-mat_%s_device cpu) -mat_type {{hashgemm amb}} -mat_shadow_tune off -options_left no
    checks: 8

TEST*/
