/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Prints a number for the bits of each result: products with vectors, products of matrices, solves, a hierarchy of GAMG, batches, operations on graphs.\n\
Two runs with the same number have the same bits; test/mat/reproduce.sh says where they must.\n\
  -mat_type TYPE        the type\n\
  -reproduce_only NAME  only this one\n\n";

#include <petsc/private/matimpl.h> /* PetscCD */
#include "../testutil.h"
#include "../../tool/generate.c"

/* The bits of entry (i, j) as a number; those of all entries are added, so that neither their order nor their process counts */
static unsigned long long EntryHash(PetscInt i, PetscInt j, PetscScalar v)
{
  unsigned long long bits[2] = {0, 0};

  memcpy(bits, &v, PetscMin(sizeof(v), sizeof(bits)));
  return (unsigned long long)GeneratorHash((PetscInt64)(bits[0] ^ (bits[1] << 1)) + GeneratorHash((PetscInt64)i * 1000003 + j));
}

static PetscErrorCode VecHash(Vec v, unsigned long long *hash)
{
  const PetscScalar *a;
  PetscInt           first, last;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt k = first; k < last; k++) *hash += EntryHash(k, 0, a[k - first]);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatHash(Mat A, unsigned long long *hash)
{
  PetscInt first, last;
  Mat      H;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &H)); /* a GPU gives its values to the host */
  PetscCall(MatGetOwnershipRange(H, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    PetscInt           n;
    const PetscInt    *j;
    const PetscScalar *a;

    PetscCall(MatGetRow(H, r, &n, &j, &a));
    for (PetscInt k = 0; k < n; k++) *hash += EntryHash(r, j[k], a[k]);
    PetscCall(MatRestoreRow(H, r, &n, &j, &a));
  }
  PetscCall(MatDestroy(&H));
  PetscFunctionReturn(0);
}

static PetscErrorCode DenseHash(Mat D, unsigned long long *hash)
{
  PetscInt           first, last, n, lda;
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(D, &first, &last));
  PetscCall(MatGetSize(D, NULL, &n));
  PetscCall(MatDenseGetLDA(D, &lda));
  PetscCall(MatDenseGetArrayRead(D, &a));
  for (PetscInt c = 0; c < n; c++) {
    for (PetscInt k = first; k < last; k++) *hash += EntryHash(k, c, a[(size_t)c * lda + k - first]);
  }
  PetscCall(MatDenseRestoreArrayRead(D, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode VectorSet(Vec v, PetscInt64 seed)
{
  PetscScalar *a;
  PetscInt     first, last;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt k = first; k < last; k++) a[k - first] = GeneratorUniform(8 * (PetscInt64)k + seed) - 0.4;
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(0);
}

/* A generated matrix whose rows and columns are scaled, so that all bits of its values count */
static PetscErrorCode MatrixCreate(const char name[], Mat *A)
{
  Vec s;

  PetscFunctionBeginUser;
  PetscCall(GeneratorCreateMat(PETSC_COMM_WORLD, name, A));
  PetscCall(MatCreateVecs(*A, &s, NULL));
  PetscCall(VectorSet(s, 1));
  PetscCall(VecShift(s, 0.9));
  PetscCall(MatDiagonalScale(*A, s, s));
  PetscCall(VecDestroy(&s));
  PetscFunctionReturn(0);
}

/* The matrix in the type under test, which may live on a GPU */
static PetscErrorCode TypedCreate(const char name[], Mat *A)
{
  char type[64];

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(MatrixCreate(name, A));
  PetscCall(MatConvert(*A, type, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(0);
}

static PetscErrorCode DenseCreate(PetscInt m, PetscInt columns, PetscInt64 seed, Mat *D)
{
  PetscScalar *a;
  PetscInt     first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DECIDE, columns, NULL, D));
  PetscCall(MatGetOwnershipRange(*D, &first, &last));
  PetscCall(MatDenseGetArrayWrite(*D, &a));
  for (PetscInt c = 0; c < columns; c++) {
    for (PetscInt k = first; k < last; k++) a[(size_t)c * (last - first) + k - first] = GeneratorUniform(16 * (PetscInt64)k * columns + 16 * c + seed) - 0.4;
  }
  PetscCall(MatDenseRestoreArrayWrite(*D, &a));
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------- results ------------------------------------------------- */

/* The last of 60 products: measure has judged by then */
static PetscErrorCode Multiply(PetscBool transpose, unsigned long long *hash)
{
  Mat A;
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(TypedCreate("p7:24", &A));
  PetscCall(MatCreateVecs(A, transpose ? &y : &x, transpose ? &x : &y));
  PetscCall(VectorSet(x, 2));
  for (int k = 0; k < 60; k++) PetscCall((*(transpose ? MatMultTranspose : MatMult))(A, x, y));
  PetscCall(VecHash(y, hash));
  PetscCall(TestDestroy(&x, &y, &A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Mult(unsigned long long *hash)
{
  return Multiply(PETSC_FALSE, hash);
}

static PetscErrorCode MultTranspose(unsigned long long *hash)
{
  return Multiply(PETSC_TRUE, hash);
}

static PetscErrorCode DenseProduct(PetscBool transpose, unsigned long long *hash)
{
  Mat      A, D, C;
  PetscInt m;

  PetscFunctionBeginUser;
  PetscCall(TypedCreate("p7:20", &A));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(DenseCreate(m, 8, 3, &D));
  PetscCall((*(transpose ? MatTransposeMatMult : MatMatMult))(A, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(DenseHash(C, hash));
  PetscCall(TestDestroy(&C, &D, &A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Dense(unsigned long long *hash)
{
  return DenseProduct(PETSC_FALSE, hash);
}

static PetscErrorCode DenseTranspose(unsigned long long *hash)
{
  return DenseProduct(PETSC_TRUE, hash);
}

static PetscErrorCode Sampled(unsigned long long *hash)
{
  Mat      A, D1, D2, O;
  PetscInt m;

  PetscFunctionBeginUser;
  PetscCall(TypedCreate("p7:20", &A));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(DenseCreate(m, 16, 4, &D1));
  PetscCall(DenseCreate(m, 16, 5, &D2));
  PetscCall(MatSDDMM(A, D1, D2, PETSC_TRUE, MAT_INITIAL_MATRIX, &O));
  PetscCall(MatHash(O, hash));
  PetscCall(TestDestroy(&O, &D1, &D2, &A));
  PetscFunctionReturn(0);
}

/* A A and A^T A A, made and made again */
static PetscErrorCode MatProducts(PetscBool galerkin, unsigned long long *hash)
{
  Mat A, P, C;

  PetscFunctionBeginUser;
  PetscCall(TypedCreate("p7:20", &A));
  PetscCall(TypedCreate("p7:20", &P));
  for (int k = 0; k < 2; k++) {
    const MatReuse reuse = k ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX;

    if (galerkin) PetscCall(MatPtAP(A, P, reuse, PETSC_DEFAULT, &C));
    else PetscCall(MatMatMult(A, P, reuse, PETSC_DEFAULT, &C));
  }
  PetscCall(MatHash(C, hash));
  PetscCall(TestDestroy(&C, &P, &A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Square(unsigned long long *hash)
{
  return MatProducts(PETSC_FALSE, hash);
}

static PetscErrorCode Galerkin(unsigned long long *hash)
{
  return MatProducts(PETSC_TRUE, hash);
}

static PetscErrorCode Solve(KSPType type, unsigned long long *hash)
{
  Mat A;
  Vec x, b;
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(TypedCreate("p7:24", &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VectorSet(b, 6));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecHash(x, hash));
  PetscCall(TestDestroy(&ksp, &x, &b, &A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CG(unsigned long long *hash)
{
  return Solve(KSPAMBCG, hash);
}

static PetscErrorCode BiCGSTAB(unsigned long long *hash)
{
  return Solve(KSPAMBBCGS, hash);
}

static PetscErrorCode GMRES(unsigned long long *hash)
{
  return Solve(KSPAMBGMRES, hash);
}

/* Prolongators and operators of all levels */
static PetscErrorCode Hierarchy(unsigned long long *hash)
{
  Mat      A, M;
  PC       pc;
  PetscInt nlevel;
  KSP      smoother;

  PetscFunctionBeginUser;
  PetscCall(TypedCreate("p7:20", &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetType(pc, PCGAMGAMBAGG));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCMGGetLevels(pc, &nlevel));
  for (PetscInt l = 0; l < nlevel; l++) {
    if (l) {
      PetscCall(PCMGGetInterpolation(pc, l, &M));
      PetscCall(MatHash(M, hash));
    }
    PetscCall(PCMGGetSmoother(pc, l, &smoother));
    PetscCall(KSPGetOperators(smoother, &M, NULL));
    PetscCall(MatHash(M, hash));
  }
  PetscCall(TestDestroy(&pc, &A));
  PetscFunctionReturn(0);
}

/* Aggregates, as MatCoarsen gives them: the vertices of each */
static PetscErrorCode Aggregates(unsigned long long *hash)
{
  Mat               A;
  MatCoarsen        coarsen;
  PetscCoarsenData *lists;
  PetscInt          first, last;

  PetscFunctionBeginUser;
  PetscCall(TypedCreate("p7:20", &A));
  PetscCall(MatCoarsenCreate(PETSC_COMM_WORLD, &coarsen));
  PetscCall(MatCoarsenSetAdjacency(coarsen, A));
  PetscCall(MatCoarsenSetType(coarsen, MATCOARSENAMBMIS));
  PetscCall(MatCoarsenSetStrictAggs(coarsen, PETSC_TRUE));
  PetscCall(MatCoarsenApply(coarsen));
  PetscCall(MatCoarsenGetData(coarsen, &lists));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt k = 0; k < last - first; k++) {
    PetscCDIntNd *node;

    PetscCall(PetscCDGetHeadPos(lists, k, &node));
    while (node) {
      PetscInt vertex;

      PetscCall(PetscCDIntNdGetID(node, &vertex));
      *hash += EntryHash(first + k, vertex, 1.0);
      PetscCall(PetscCDGetNextPos(lists, k, &node));
    }
  }
  PetscCall(PetscCDDestroy(lists));
  PetscCall(TestDestroy(&coarsen, &A));
  PetscFunctionReturn(0);
}

/* A batch of copies of a matrix, on each process the same */
static PetscErrorCode Batch(unsigned long long *hash)
{
  Mat         A, mats[3];
  MatBatch    batch;
  Vec         D, C;
  PetscInt    n;
  PetscMPIInt rank;
  char        name[32];

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "p7:%d", 10 + 3 * k));
    PetscCall(GeneratorCreateMat(PETSC_COMM_SELF, name, &mats[k]));
  }
  PetscCall(MatBatchCreateFromMats(3, mats, &batch));
  n = 1000 + 2197 + 4096;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 8 * n, 8 * n, 0, NULL, &A));
  PetscCall(MatCreateVecs(A, &D, &C));
  PetscCall(VectorSet(D, 7));
  PetscCall(MatBatchMult(batch, 8, D, C));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCall(VecHash(C, hash));
  PetscCall(MatBatchDestroy(&batch));
  for (int k = 0; k < 3; k++) PetscCall(MatDestroy(&mats[k]));
  PetscCall(TestDestroy(&D, &C, &A));
  PetscFunctionReturn(0);
}

/* Ten steps of PageRank, and the sum of a product under a mask */
static PetscErrorCode GraphSums(unsigned long long *hash)
{
  Mat            A;
  Vec            x, y;
  PetscBool      zero;
  PetscLogDouble sum;
  PetscReal      change;

  PetscFunctionBeginUser;
  PetscCall(TypedCreate("rmat:12,16", &A));
  PetscCall(MatPowEntries(A, 2.0));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  for (int k = 0; k < 10; k++) {
    PetscCall(MatMultTranspose(A, x, y));
    PetscCall(VecScaleToSum(y, 1.0, x, &change, &zero));
    PetscCall(VecCopy(y, x));
  }
  PetscCall(VecHash(x, hash));
  PetscCall(MatMatMultMaskSum(A, A, A, &sum));
  *hash += EntryHash(0, 0, (PetscReal)sum);
  PetscCall(TestDestroy(&x, &y, &A));
  PetscFunctionReturn(0);
}

static const struct {
  const char *name;
  PetscErrorCode (*make)(unsigned long long *);
} results[] = {
  {"mult",       Mult          },
  {"transpose",  MultTranspose },
  {"dense",      Dense         },
  {"denseT",     DenseTranspose},
  {"sddmm",      Sampled       },
  {"square",     Square        },
  {"ptap",       Galerkin      },
  {"ambcg",      CG            },
  {"ambbcgs",    BiCGSTAB      },
  {"ambgmres",   GMRES         },
  {"hierarchy",  Hierarchy     },
  {"aggregates", Aggregates    },
  {"batch",      Batch         },
  {"graph",      GraphSums     }
};

int main(int argc, char **argv)
{
  char only[64] = "";

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-reproduce_only", only, sizeof(only), NULL));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(results); k++) {
    unsigned long long hash = 0;

    if (*only && strcmp(only, results[k].name)) continue;
    PetscCall((*results[k].make)(&hash));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &hash, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %016llx\n", results[k].name, hash));
  }
  return TestFinalize();
}

/*TEST

  test:
    requires: !complex
    args: -mat_type {{aij @types}}
    filter: cut -d" " -f1
    output_file: output/reproduce.out

TEST*/
