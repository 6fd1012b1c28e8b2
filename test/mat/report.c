/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "-petscamb_view: the table at the end counts what this program does, and names options that nobody knows.\n";

#include "mat/shadow/core/shadow.h"
#include "../testutil.h"

static const TestShape grid    = {"grid", 400, 400, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape doubled = {"doubled", 800, 800, TestRowHub, TestValueGeneral, PETSC_FALSE};

static PetscReal load = 0; /* -load: what the machine says in place of its own */

int __wrap_getloadavg(double loads[], int n);
int __wrap_getloadavg(double loads[], int n)
{
  loads[0] = (double)load;
  return 1;
}

/* A matrix that stays on the AIJ by the times of its products */
static PetscErrorCode Measured(void)
{
  Mat        A;
  MatShadow *s;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, "plain_", &A));
  PetscCall(MatConvert(A, MATAMB, MAT_INPLACE_MATRIX, &A));
  PetscCall(TestMultiply(A, 1));
  PetscCall(MatShadowGet(A, &s));
  s->phase       = MAT_SHADOW_DECLINED;
  s->info.reason = "measured: the AIJ is faster";
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix with 400 products on the AIJ, of so many milliseconds each, and 400 of 5 on the format, after a conversion of 100 */
static PetscErrorCode Advised(PetscReal milliseconds)
{
  Mat        A;
  MatShadow *s;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, "plain_", &A));
  PetscCall(MatConvert(A, MATAMB, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatShadowSetUp(A));
  PetscCall(MatShadowGet(A, &s));
  for (int side = 0; side < 2; side++) {
    s->made[side] = s->timed[side] = 400;
    s->seconds[side]               = 0.4 * (side ? 5 : (double)milliseconds);
  }
  s->info.time_convert = 0.1;
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All products of AIJ, one with a dense factor, and one with a MAIJ, as the options say who makes them */
static PetscErrorCode Products(PetscBool dense)
{
  Mat A, B, P, D, C;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, "plain_", &A));
  PetscCall(MatConvert(A, MATAMB, MAT_INPLACE_MATRIX, &A));
  if (dense) {
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, A->cmap->n, PETSC_DECIDE, 400, 16, NULL, &D));
    PetscCall(MatSetRandom(D, NULL));
    PetscCall(MatMatMult(A, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatMatMult(A, D, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(TestDestroy(&C, &D));
  } else {
    PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatDestroy(&C));
    PetscCall(MatTransposeMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatDestroy(&C));
    PetscCall(MatPtAP(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatPtAP(A, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatDestroy(&C));
    PetscCall(MatMatMatMult(A, A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatDestroy(&C));
    PetscCall(MatMatTransposeMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatDestroy(&C));
    PetscCall(MatRARt(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatDestroy(&C));
    PetscCall(TestShapeCreate(&doubled, "plain_", &B));
    PetscCall(MatConvert(B, MATAMB, MAT_INPLACE_MATRIX, &B));
    PetscCall(MatCreateMAIJ(A, 2, &P));
    PetscCall(MatPtAP(B, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(TestDestroy(&C, &P, &B));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A format that is used, one that is used too little, a type that has none, one that is never multiplied; and products of matrices, ours and PETSc's */
int main(int argc, char **argv)
{
  static const char *const types[] = {MATAMB, MATNUSSELL, MATHASHGEMM, MATAUTOSPARSE};
  static const PetscInt    times[] = {20, 3, 7, 0};
  Mat                      A[4], B, C;
  PetscBool                more = PETSC_FALSE, measured = PETSC_FALSE, products = PETSC_FALSE, dense = PETSC_FALSE, advised = PETSC_FALSE;
  PetscReal                milliseconds;
  PetscMPIInt              rank, size;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-more", &more, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-load", &load, &measured));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-advised", &milliseconds, &advised));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-products", &products));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-dense", &dense));
  if (measured) PetscCall(Measured());
  if (advised) PetscCall(Advised(milliseconds));
  if (products) PetscCall(Products(dense));
  for (int k = 0; more && k < 4; k++) {
    PetscCall(TestShapeCreate(&grid, "plain_", &A[k]));
    PetscCall(MatConvert(A[k], types[k], MAT_INPLACE_MATRIX, &A[k]));
    PetscCall(MatShadowSetTune(A[k], k ? MAT_SHADOW_TUNE_MEASURE : MAT_SHADOW_TUNE_OFF));
    PetscCall(TestMultiply(A[k], times[k]));
  }
  if (more) {
    PetscCall(MatPtAP(A[2], A[2], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatScale(A[2], 2.0));
    PetscCall(MatPtAP(A[2], A[2], MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatDestroy(&C));
    PetscCall(MatProductCreate(A[2], A[2], NULL, &B));
    PetscCall(MatProductSetType(B, MATPRODUCT_AB));
    PetscCall(MatProductSetAlgorithm(B, "scalable"));
    PetscCall(MatProductSetFromOptions(B));
    PetscCall(MatProductSymbolic(B));
    PetscCall(MatProductNumeric(B));
    PetscCall(MatDestroy(&B));
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    if (rank == size - 1) { /* a product of this process alone */
      PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 1, 1, 1, NULL, &B));
      PetscCall(MatSetValue(B, 0, 0, 1.0, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
      PetscCall(MatConvert(B, MATHASHGEMM, MAT_INPLACE_MATRIX, &B));
      PetscCall(MatMatMult(B, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
      PetscCall(TestDestroy(&C, &B));
    }
    for (int k = 1; k < 4; k++) PetscCall(MatDestroy(&A[k])); /* the first is left to be there at the end, as in a Python program */
  }
  return TestFinalize();
}

/*TEST

  testset:
    args: @types(-plain_mat_%s_device cpu) -options_left 0
    filter: sed -E -e '/threaded loops ran on fewer/d' -e 's/ 0 s/ no s/g' -e 's/[0-9][0-9.e+-]* s/T s/g' -e 's/[0-9.e+-]+ MB/M MB/g' -e '/^  [a-z]+ .*[|].*[|]/s/[|][^|]*[|][^|]*$/| T T/'
    test:
      suffix: more
      nsize: {{1 2}separate output}
      args: -more -petscamb_view -mat_amb_blocksize 2 -mg_levels_mat_shadw_tune off -mat_shadow_halo mpi -more_mat_amb_block_size 1 -mat_nussell_quite_another 1 -mat_amb_c 8 -petscamb_nothing_like_it 1 -unrelated_option 1
    testset:
      filter: sed -E -e '/^  option /d' -e 's/on [0-9]+ processors/on N processors/'
      test:
        suffix: load_0
        args: -petscamb_view -load 0
        output:
          petsc-amb on 1 process; matrices that were multiplied by vectors, blocks of MPI matrices by themselves
          type       matrices converted | products     on it    on AIJ | T T
          amb               1         0 |                  0         1 | T T
          conversions no s, new values no s
          stayed on the AIJ: 1 (measured: the AIJ is faster)
      test:
        suffix: load_1e6
        args: -petscamb_view -load 1e6
        output:
          petsc-amb on 1 process; matrices that were multiplied by vectors, blocks of MPI matrices by themselves
          type       matrices converted | products     on it    on AIJ | T T
          amb               1         0 |                  0         1 | T T
          conversions no s, new values no s
          stayed on the AIJ: 1 (measured: the AIJ is faster)
          the load of the last minute was 1000000.0 on N processors: on an idle machine, or with fewer threads (OMP_NUM_THREADS), the format may be faster
    testset: # 4.1 s of 6.1 are worth an advice, 4.1 of 4.3 are not
      args: -petscamb_view
      filter: grep -E "tune model|1 process"
      test:
        suffix: model
        args: -advised 10
        output:
          petsc-amb on 1 process; matrices that were multiplied by vectors, blocks of MPI matrices by themselves
          -mat_shadow_tune model may be faster: about T s in place of T s
      test:
        suffix: model_not
        args: -advised 5.5
        output:
          petsc-amb on 1 process; matrices that were multiplied by vectors, blocks of MPI matrices by themselves
      test:
        suffix: model_given
        args: -advised 10 -plain_mat_shadow_tune model
        output:
          petsc-amb on 1 process; matrices that were multiplied by vectors, blocks of MPI matrices by themselves
    testset: # who asked for PETSc's products
      args: -petscamb_view -products -matmatmult_via scalable -mattransposematmult_via at*b -matptap_via scalable -matmatmatmult_via scalable -matmattransmult_via color -matrart_via r*art
      filter: grep "products.* by"
      test:
        suffix: via_1
        args: -petscamb_for_products false
        output:
          products of matrices: 0 by hashgemm, 0 times with new values, no s; 7 by PETSc
          products by PETSc: 1 in T s (-matmatmult_via scalable; give -petscamb_for_products), 1 in T s (-mattransposematmult_via at*b; give -petscamb_for_products), 1 in T s (-matptap_via scalable; give -petscamb_for_products), 1 in T s (-matmatmatmult_via scalable; give -petscamb_for_products), 1 in T s (-matmattransmult_via color; give -petscamb_for_products), 1 in T s (-matrart_via r*art; give -petscamb_for_products), 1 in T s (PtAP has an operand of type seqmaij; give -petscamb_for_products)
      test:
        suffix: via_1_all
        args: -petscamb_for_products true
        output:
          products of matrices: 7 by hashgemm, 1 times with new values, T s; 0 by PETSc
      test:
        suffix: via_2
        nsize: 2
        args: -petscamb_for_products false
        output:
          products of matrices: 0 by hashgemm, 0 times with new values, no s; 7 by PETSc
          products by PETSc: 1 in T s (-matmatmult_via scalable; give -petscamb_for_products), 1 in T s (-mattransposematmult_via at*b; give -petscamb_for_products), 2 in T s (-matptap_via scalable; give -petscamb_for_products), 1 in T s (-matmatmatmult_via scalable; give -petscamb_for_products), 1 in T s (-matmattransmult_via color; give -petscamb_for_products), 1 in T s (-matrart_via r*art; give -petscamb_for_products)
      test:
        suffix: via_2_all
        nsize: 2
        args: -petscamb_for_products true
        output:
          products of matrices: 7 by hashgemm, 1 times with new values, T s; 0 by PETSc
      test:
        suffix: via_dense
        requires: !complex
        args: -dense -petscamb_for_products false
        output:
          products of matrices: 0 by hashgemm, 0 times with new values, no s; 1 by PETSc
          products by PETSc: 1 in T s (-matmatmult_via scalable; give -petscamb_for_products)
      test:
        suffix: via_dense_all
        requires: !complex
        args: -dense -petscamb_for_products true
        output:
          products of matrices: 1 by hashgemm, 1 times with new values, T s; 0 by PETSc
    test:
      suffix: nothing
      args: -petscamb_view -petscam_for_aij amb -petscm_for_aij amb -petsc_for_aij amb
      output:
        petsc-amb on 1 process
        no matrix was of a type of petsc-amb: give -mat_type amb, -dm_mat_type amb, or -petscamb_for_aij amb if the program fixes aij
        option -petscam_for_aij: there is none; the nearest is -petscamb_for_aij
        option -petscm_for_aij: there is none; the nearest is -petscamb_for_aij
        option -plain_mat_amb_device: no matrix used it
        option -plain_mat_autosparse_device: no matrix used it
        option -plain_mat_ccoo_device: no matrix used it
        option -plain_mat_hashgemm_device: no matrix used it
        option -plain_mat_nussell_device: no matrix used it
        option -plain_mat_tilecomposite_device: no matrix used it

TEST*/
