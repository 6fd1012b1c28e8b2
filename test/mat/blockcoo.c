/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "MatSetValuesBlockCOO() against PETSc's MatSetValuesCOO() with the coordinates of entries, and inverses of diagonal blocks against MATAIJ.\n";

#include <petsc/private/matimpl.h>

#include "../testutil.h"
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#define NX 7 /* nodes of a grid of quadrilaterals in one direction */
#define NY 5

/* The contributions of a process: n blocks of rbs x cbs values */
typedef struct {
  PetscInt     n, rbs, cbs, *bi, *bj, *si, *sj;
  PetscScalar *v;
} Blocks;

/* A block of each pair of nodes of each element. Each process has the elements of the next one, so that it sends blocks; every ninth block is ignored. With once, a process has one
   element, in rows of its own, whose coordinates do not repeat. */
static PetscErrorCode BlocksCreate(PetscInt rbs, PetscInt cbs, PetscBool once, Blocks *b)
{
  const PetscInt nelement = (NX - 1) * (NY - 1);
  PetscInt       begin, end, values = rbs * cbs, own = PETSC_DECIDE, nodes = NX * NY, last, *bi, *bj, *si, *sj;
  PetscScalar   *v;
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  begin = nelement * ((rank + 1) % size) / size;
  end   = nelement * ((rank + 1) % size + 1) / size;
  if (once) begin = end - (end > begin);
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &own, &nodes));
  PetscCallMPI(MPI_Scan(&own, &last, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscMalloc2(16 * (end - begin), &bi, 16 * (end - begin), &bj));
  PetscCall(PetscMalloc3(16 * (end - begin) * values, &si, 16 * (end - begin) * values, &sj, 16 * (end - begin) * values, &v));
  *b = (Blocks){0, rbs, cbs, bi, bj, si, sj, v};
  for (PetscInt e = end - 1; e >= begin; e--) {
    const PetscInt corner = e / (NX - 1) * NX + e % (NX - 1), node[4] = {corner + NX + 1, corner, corner + 1, corner + NX};

    for (PetscInt k = 0; k < 16; k++, b->n++) {
      const PetscBool ignored = (PetscBool)(b->n % 9 == 4 && k % 5);
      const PetscInt  row     = once ? last - own + node[k / 4] % own : node[k / 4];

      bi[b->n] = ignored && b->n % 2 ? -1 : row;
      bj[b->n] = ignored && b->n % 2 == 0 ? -7 : node[k % 4];
      for (PetscInt l = 0; l < values; l++) {
        const PetscInt t = b->n * values + l;

        si[t] = ignored ? -1 : row * rbs + l / cbs;
        sj[t] = ignored ? -1 : node[k % 4] * cbs + l % cbs;
        v[t]  = TestNumber(e * 16 + k, l) + (si[t] == sj[t] ? 4. * rbs : 0.);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BlocksDestroy(Blocks *b)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(b->bi, b->bj));
  PetscCall(PetscFree3(b->si, b->sj, b->v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix without entries, of the type under test or as a reference */
static PetscErrorCode CreateSized(PetscInt rbs, PetscInt cbs, const char prefix[], Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, NX * NY * rbs, NX * NY * cbs));
  PetscCall(MatSetBlockSizes(*A, rbs, cbs));
  PetscCall(MatSetFromOptions(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both functions change the coordinates */
static PetscErrorCode Preallocate(const Blocks *b, Mat A, Mat R)
{
  PetscInt *i, *j, n = b->n;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &i, n, &j));
  PetscCall(PetscArraycpy(i, b->bi, n));
  PetscCall(PetscArraycpy(j, b->bj, n));
  PetscCall(MatSetPreallocationBlockCOO(A, n, i, j));
  PetscCall(PetscFree2(i, j));
  if (!R) PetscFunctionReturn(PETSC_SUCCESS);
  n *= b->rbs * b->cbs;
  PetscCall(PetscMalloc2(n, &i, n, &j));
  PetscCall(PetscArraycpy(i, b->si, n));
  PetscCall(PetscArraycpy(j, b->sj, n));
  PetscCall(MatSetPreallocationCOO(R, n, i, j));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values on the GPU, if there is one; otherwise the values */
static PetscErrorCode OnDevice(PetscInt n, PetscScalar *v, PetscScalar **device)
{
  PetscFunctionBeginUser;
  *device = v;
#if defined(PETSC_HAVE_CUDA)
  {
    int ngpu = 0;

    if (cudaGetDeviceCount(&ngpu) == cudaSuccess && ngpu > 0 && n) {
      PetscCallCUDA(cudaMalloc((void **)device, n * sizeof(*v)));
      PetscCallCUDA(cudaMemcpy(*device, v, n * sizeof(*v), cudaMemcpyHostToDevice));
    }
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OffDevice(PetscScalar *v, PetscScalar *device)
{
  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  if (device != v) PetscCallCUDA(cudaFree(device));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The newest values of a matrix on the GPU are there, and not on the host; always so for one on the host */
static PetscErrorCode SummedOnDevice(Mat A, PetscBool *summed)
{
  PetscFunctionBeginUser;
  *summed = PETSC_TRUE;
#if defined(PETSC_HAVE_CUDA)
  {
    Mat       block = A;
    PetscBool mpi, cuda;
    MatInfo   info;

    PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
    if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
    PetscCall(PetscObjectTypeCompare((PetscObject)block, MATSEQAIJCUSPARSE, &cuda));
    PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
    if (cuda && info.nz_used > 0) *summed = (PetscBool)(block->offloadmask == PETSC_OFFLOAD_GPU);
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PetscInt sizes[][2] = {
  {1, 1},
  {2, 2},
  {3, 3},
  {4, 4},
  {5, 5},
  {6, 6},
  {8, 8},
  {9, 9},
  {6, 3},
  {3, 7}
};

/* Entries, traits and state after inserting, adding, and inserting again, from the host or from the GPU; results repeat bit for bit */
static PetscErrorCode Values(TestDiff *d, PetscBool once, PetscBool bound)
{
  PetscObjectState before, after;
  PetscScalar     *v;
  PetscBool        same, device;
  Blocks           b;
  Mat              A, R, C;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    PetscCall(BlocksCreate(sizes[k][0], sizes[k][1], once, &b));
    PetscCall(OnDevice(b.n * b.rbs * b.cbs, b.v, &v));
    PetscCall(CreateSized(b.rbs, b.cbs, NULL, &A));
    PetscCall(CreateSized(b.rbs, b.cbs, "ref_", &R));
    if (bound) PetscCall(MatBindToCPU(A, PETSC_TRUE));
    PetscCall(Preallocate(&b, A, R));
    PetscCall(MatGetNonzeroState(A, &before));
    PetscCall(MatSetValuesBlockCOO(A, b.v, INSERT_VALUES));
    PetscCall(MatSetValuesCOO(R, b.v, INSERT_VALUES));
    PetscCall(TestDiffType(d, A));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
    PetscCall(MatSetValuesBlockCOO(A, v, ADD_VALUES));
    PetscCall(MatSetValuesCOO(R, b.v, ADD_VALUES));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(MatScale(A, 0.5));
    PetscCall(MatSetValuesBlockCOO(A, v, INSERT_VALUES));
    PetscCall(MatSetValuesCOO(R, b.v, INSERT_VALUES));
    PetscCall(SummedOnDevice(A, &device));
    TestExpect(d, "values on the GPU are summed on the host", (PetscBool)(v == b.v || bound || device));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(MatEqual(A, C, &same));
    TestExpect(d, "the same values give other sums", same);
    PetscCall(MatGetNonzeroState(A, &after));
    TestExpect(d, "values change the nonzero state", (PetscBool)(before == after));
    if (bound) PetscCall(MatBindToCPU(A, PETSC_FALSE));
    PetscCall(MatSetValuesBlockCOO(A, b.v, ADD_VALUES));
    PetscCall(MatSetValuesCOO(R, b.v, ADD_VALUES));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(OffDevice(b.v, v));
    PetscCall(BlocksDestroy(&b));
    PetscCall(TestDestroy(&C, &A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Elements(TestDiff *d)
{
  PetscFunctionBeginUser;
  PetscCall(Values(d, PETSC_FALSE, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Once(TestDiff *d)
{
  PetscFunctionBeginUser;
  PetscCall(Values(d, PETSC_TRUE, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bound(TestDiff *d)
{
  PetscFunctionBeginUser;
  PetscCall(Values(d, PETSC_FALSE, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another pattern in the same matrix, block sizes and flags as PETSc sets them, and a conversion in between */
static PetscErrorCode Again(TestDiff *d)
{
  PetscObjectState before, after;
  PetscInt         first;
  Blocks           b[2];
  Mat              A, R;
  char             type[64];

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(CreateSized(3, 3, NULL, &A));
  PetscCall(CreateSized(3, 3, "ref_", &R));
  for (int k = 0; k < 2; k++) PetscCall(BlocksCreate(3, 3, (PetscBool)!k, &b[k]));
  for (int k = 0; k < 3; k++) {
    PetscCall(MatGetNonzeroState(A, &before));
    PetscCall(Preallocate(&b[k % 2], A, R));
    PetscCall(MatGetNonzeroState(A, &after));
    TestExpect(d, "another pattern has the same nonzero state", (PetscBool)(before < after));
    PetscCall(MatSetValuesBlockCOO(A, b[k % 2].v, INSERT_VALUES));
    PetscCall(MatSetValuesCOO(R, b[k % 2].v, INSERT_VALUES));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
    PetscCall(MatSetValuesBlockCOO(A, b[k % 2].v, ADD_VALUES));
    PetscCall(MatSetValuesCOO(R, b[k % 2].v, ADD_VALUES));
    PetscCall(TestDiffMat(d, A, R));
  }
  PetscCall(MatGetOwnershipRange(A, &first, NULL));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "new nonzero", MatSetValue(A, first, first < 50 ? NX * NY * 3 - 1 : 0, 1., INSERT_VALUES));
  for (int k = 0; k < 2; k++) PetscCall(BlocksDestroy(&b[k]));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Types that are not AIJ have PETSc's functions */
static PetscErrorCode Others(TestDiff *d)
{
  const MatType types[] = {MATBAIJ, MATDENSE, MATAIJ};
  PetscMPIInt   size;
  Blocks        b;
  Mat           A, R;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(types); k++) {
    PetscCall(BlocksCreate(3, 3, PETSC_FALSE, &b));
    PetscCall(CreateSized(3, 3, "ref_", &R));
    PetscCall(CreateSized(3, 3, "ref_", &A));
    PetscCall(MatSetType(A, types[k]));
    PetscCall(Preallocate(&b, A, R));
    PetscCall(MatSetValuesBlockCOO(A, b.v, INSERT_VALUES));
    PetscCall(MatSetValuesCOO(R, b.v, INSERT_VALUES));
    if (k == 2 && size == 1) PetscCall(TestDiffTraits(d, A, R)); /* PETSc 3.18 loses the block sizes of blocks */
    PetscCall(MatAXPY(A, -1., R, DIFFERENT_NONZERO_PATTERN));
    {
      PetscReal norm, scale;

      PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
      PetscCall(MatNorm(R, NORM_FROBENIUS, &scale));
      TestDiffAdd(d, types[k], norm / scale);
    }
    PetscCall(BlocksDestroy(&b));
    PetscCall(TestDestroy(&A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Errors(TestDiff *d)
{
  PetscInt    one[] = {NX * NY}, zero[] = {0};
  PetscScalar v[9] = {0};
  Blocks      b;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(CreateSized(3, 3, NULL, &A));
  TestExpectError(d, PETSC_ERR_ORDER, "Call MatSetPreallocationBlockCOO() first", MatSetValuesBlockCOO(A, v, INSERT_VALUES));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "but the matrix has 35 x 35 blocks", MatSetPreallocationBlockCOO(A, 1, one, zero));
  PetscCall(MatDestroy(&A));
  PetscCall(CreateSized(3, 3, NULL, &A));
  PetscCall(BlocksCreate(3, 3, PETSC_FALSE, &b));
  PetscCall(Preallocate(&b, A, NULL));
  PetscCall(MatSetValuesBlockCOO(A, b.v, INSERT_VALUES));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "neither INSERT_VALUES nor ADD_VALUES", MatSetValuesBlockCOO(A, b.v, NOT_SET_VALUES));
  PetscCall(MatSetPreallocationCOO(A, b.n * 9 / 2, b.si, b.sj));
  PetscCall(MatSetValuesCOO(A, b.v, INSERT_VALUES));
  TestExpectError(d, PETSC_ERR_ORDER, "The pattern has changed", MatSetValuesBlockCOO(A, b.v, INSERT_VALUES));
  PetscCall(BlocksDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Singular blocks raise PETSc's error, or set it if the program wants none */
static PetscErrorCode Singular(TestDiff *d, Mat A, Mat R)
{
  Mat                pair[2] = {A, R};
  MatFactorError     errors[2];
  PetscErrorCode     raised;
  const PetscScalar *values;
  PetscBool          mpi;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)pair[k], MATMPIAIJ, &mpi));
    if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(pair[k], &pair[k], NULL, NULL));
    if (PetscAbs(pair[k]->rmap->bs) < 8) { /* PETSc's error for larger blocks leaks memory */
      PetscCall(MatSetErrorIfFailure(pair[k], PETSC_TRUE));
      TestExpectError(d, PETSC_ERR_MAT_LU_ZRPVT, "Zero pivot", MatInvertBlockDiagonal(pair[k], &values));
    }
    PetscCall(MatSetErrorIfFailure(pair[k], PETSC_FALSE));
    PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
    raised = MatInvertBlockDiagonal(pair[k], &values);
    PetscCall(PetscFPTrapPop());
    PetscCall(raised);
    PetscCall(MatFactorGetError(pair[k], &errors[k]));
  }
  TestExpect(d, "singular blocks are reported otherwise", (PetscBool)(errors[0] == errors[1] && errors[0] == MAT_FACTOR_NUMERIC_ZEROPIVOT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inverses of diagonal blocks with new values, of one size and of several, and a singular one */
static PetscErrorCode Inverses(TestDiff *d)
{
  const PetscScalar *own, *reference;
  PetscScalar       *values[2];
  PetscInt           m, n, total, *variable;
  Blocks             b;
  Mat                A, R;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < 8; k++) {
    PetscCall(BlocksCreate(sizes[k][0], sizes[k][0], PETSC_FALSE, &b));
    PetscCall(CreateSized(b.rbs, b.rbs, NULL, &A));
    PetscCall(CreateSized(b.rbs, b.rbs, "ref_", &R));
    PetscCall(Preallocate(&b, A, NULL));
    PetscCall(Preallocate(&b, R, NULL));
    for (int round = 0; round < 3; round++) {
      PetscCall(MatSetValuesBlockCOO(A, b.v, round ? ADD_VALUES : INSERT_VALUES));
      PetscCall(MatSetValuesBlockCOO(R, b.v, round ? ADD_VALUES : INSERT_VALUES));
      PetscCall(MatInvertBlockDiagonal(A, &own));
      PetscCall(MatInvertBlockDiagonal(R, &reference));
      PetscCall(MatGetLocalSize(R, &m, NULL));
      for (PetscInt t = 0; t < m * b.rbs; t++) TestDiffAdd(d, "inverses of diagonal blocks", PetscAbsScalar(own[t] - reference[t]));
      PetscCall(PetscMalloc1(m, &variable));
      for (n = total = 0; m > 0; n++) {
        variable[n] = PetscMin(1 + n * 5 % 11, m);
        m -= variable[n];
        total += variable[n] * variable[n];
      }
      PetscCall(PetscCalloc2(total, &values[0], total, &values[1]));
      PetscCall(MatInvertVariableBlockDiagonal(A, n, variable, values[0]));
      PetscCall(MatInvertVariableBlockDiagonal(R, n, variable, values[1]));
      for (PetscInt t = 0; t < total; t++) TestDiffAdd(d, "inverses of diagonal blocks of several sizes", PetscAbsScalar(values[0][t] - values[1][t]));
      PetscCall(PetscFree2(values[0], values[1]));
      PetscCall(PetscFree(variable));
    }
    PetscCall(MatZeroEntries(A));
    PetscCall(MatZeroEntries(R));
    PetscCall(Singular(d, A, R));
    PetscCall(BlocksDestroy(&b));
    PetscCall(TestDestroy(&A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"elements",        Elements},
  {"once",            Once    },
  {"on the host",     Bound   },
  {"another pattern", Again   },
  {"other types",     Others  },
  {"errors",          Errors  },
  {"inverses",        Inverses},
  {NULL,              NULL    }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2 3}}
    args: -mat_type {{aij amb}}
    checks: 7

TEST*/
