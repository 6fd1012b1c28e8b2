/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Dot products, norms and updates of vectors that were in a product: on a GPU those of petsc-amb, elsewhere PETSc's.\n";

#include <petsc/private/vecimpl.h>

#include "../testutil.h"
#include "vec/ambvec/ambvec.h"

static const PetscInt  sizes[] = {1, 2, 3, 31, 64, 1000, 2047, 2048, 2049, 30000, 262145, 700001};
static struct _VecOps  petsc;     /* of the vectors on the side where products run */
static PetscBool       cuda, any; /* vectors are on a GPU; petsc-amb is to replace operations there */
static const PetscReal huge = 0.1 * PETSC_MAX_REAL, tiny = 10 / PETSC_MAX_REAL, least = 1 / PETSC_MAX_REAL;

/* Two vectors that were in a product with a diagonal matrix of n rows on each process, k fewer on the first */
static PetscErrorCode Make(PetscInt n, PetscInt less, Vec *x, Vec *y)
{
  PetscMPIInt rank;
  PetscInt    first, last;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) n -= less;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 1, NULL, 0, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) PetscCall(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, x, y));
  PetscCall(VecSet(*x, 1.0));
  PetscCall(MatMult(A, *x, *y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fill(Vec x, Vec y)
{
  PetscScalar *a, *b;
  PetscInt     first, n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  PetscCall(VecGetArrayWrite(x, &a));
  PetscCall(VecGetArrayWrite(y, &b));
  for (PetscInt k = 0; k < n; k++) {
    a[k] = TestNumber(first + k, 1);
    b[k] = TestNumber(first + k, 2);
  }
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscCall(VecRestoreArrayWrite(y, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the sums have to be, and the sum of the sizes of what is added up */
static PetscErrorCode Expected(Vec x, Vec y, PetscScalar *dot, PetscScalar *tdot, PetscReal *norm, PetscReal *size)
{
  const PetscScalar *a, *b;
  PetscInt           n;
  PetscScalar        sum[2]  = {0, 0};
  PetscReal          more[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayRead(y, &b));
  for (PetscInt k = 0; k < n; k++) {
    sum[0] += a[k] * PetscConj(b[k]);
    sum[1] += a[k] * b[k];
    more[0] += PetscRealPart(a[k] * PetscConj(a[k]));
    more[1] += PetscAbsScalar(a[k] * b[k]);
  }
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(VecRestoreArrayRead(y, &b));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, more, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  *dot  = sum[0];
  *tdot = sum[1];
  *norm = PetscSqrtReal(more[0]);
  *size = more[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(TestDiff *d, Vec x, Vec y)
{
  PetscScalar dot, tdot, z, one = 0, two = 0;
  PetscReal   norm, size, r;

  PetscFunctionBeginUser;
  PetscCall(Expected(x, y, &dot, &tdot, &norm, &size));
  PetscCall(VecDot(x, y, &z));
  TestDiffAdd(d, "dot product", PetscAbsScalar(z - dot) / (size + least));
  PetscCall(VecTDot(x, y, &z));
  TestDiffAdd(d, "product without conjugates", PetscAbsScalar(z - tdot) / (size + least));
  PetscCall(PetscObjectStateIncrease((PetscObject)x)); /* or an older norm is taken */
  PetscCall(VecNorm(x, NORM_2, &r));
  TestDiffAdd(d, "norm", PetscAbsReal(r - norm) / (norm + least));
  PetscCall(VecDotBegin(x, y, &one));
  PetscCall(VecTDotBegin(x, y, &two));
  PetscCall(PetscObjectStateIncrease((PetscObject)x));
  PetscCall(VecNormBegin(x, NORM_2, &r));
  PetscCall(VecDotEnd(x, y, &one));
  PetscCall(VecTDotEnd(x, y, &two));
  PetscCall(VecNormEnd(x, NORM_2, &r));
  TestDiffAdd(d, "dot product of several", PetscAbsScalar(one - dot) / (size + least));
  TestDiffAdd(d, "product without conjugates, of several", PetscAbsScalar(two - tdot) / (size + least));
  TestDiffAdd(d, "norm of several", PetscAbsReal(r - norm) / (norm + least));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Replaced(Vec v)
{
  return (PetscBool)(v->ops->dot != petsc.dot && v->ops->tdot != petsc.tdot && v->ops->norm != petsc.norm && v->ops->mdot != petsc.mdot && v->ops->aypx != petsc.aypx);
}

static PetscBool Plain(Vec v)
{
  return (PetscBool)(v->ops->dot == petsc.dot && v->ops->tdot == petsc.tdot && v->ops->norm == petsc.norm && v->ops->mdot == petsc.mdot && v->ops->aypx == petsc.aypx && v->ops->dot_local == petsc.dot_local && v->ops->norm_local == petsc.norm_local);
}

#define SEVERAL 70

/* Several products at once have the values of single ones, on a GPU their bits. No vector is there twice: PETSc's own product on the host would ask for a leading
   dimension of 0. */
static PetscErrorCode CompareSeveral(TestDiff *d, Vec x, Vec y)
{
  const PetscInt numbers[] = {1, 2, 3, 8, 9, 17, SEVERAL};
  PetscScalar    z[SEVERAL], single[2];
  PetscInt       N, n;
  Vec            v[SEVERAL];

  PetscFunctionBeginUser;
  PetscCall(VecGetSize(x, &N));
  n = N > 100000 ? 9 : SEVERAL; /* memory */
  PetscCall(VecDot(x, y, &single[0]));
  PetscCall(VecDot(x, x, &single[1]));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecDuplicate(x, &v[k]));
    PetscCall(VecCopy(k % 3 ? y : x, v[k]));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(numbers) && numbers[k] <= n; k++) {
    PetscCall(VecMDot(x, numbers[k], v, z));
    for (PetscInt i = 0; i < numbers[k]; i++) {
      const PetscScalar expected = single[i % 3 ? 0 : 1];

      if (any) TestExpect(d, "other bits of several products", (PetscBool)(z[i] == expected));
      TestDiffAdd(d, "several products", PetscAbsScalar(z[i] - expected) / (PetscAbsScalar(single[1]) + least));
    }
  }
  for (PetscInt k = 0; k < n; k++) PetscCall(VecDestroy(&v[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All sizes; on several processes the first one has fewer entries, or none */
static PetscErrorCode Sums(TestDiff *d)
{
  Vec x, y;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    PetscMPIInt np;

    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &np));
    PetscCall(Make(sizes[k], np > 1 ? PetscMin(sizes[k], 5) : 0, &x, &y));
    TestExpect(d, "operations are not replaced, or should not be", any ? (PetscBool)(Replaced(x) && Replaced(y)) : (PetscBool)(Plain(x) && Plain(y)));
    PetscCall(Fill(x, y));
    PetscCall(Compare(d, x, y));
    PetscCall(Compare(d, y, x));
    PetscCall(Compare(d, x, x));
    PetscCall(CompareSeveral(d, x, y));
    PetscCall(TestDestroy(&x, &y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same bits each time, of a vector and of a copy elsewhere; many more sums than a solve makes */
static PetscErrorCode Bits(TestDiff *d)
{
  Vec         x, y, copy;
  PetscScalar first, z;

  PetscFunctionBeginUser;
  PetscCall(Make(300001, 0, &x, &y));
  PetscCall(Fill(x, y));
  PetscCall(VecDuplicate(x, &copy));
  PetscCall(VecCopy(x, copy));
  PetscCall(VecDot(x, y, &first));
  for (int k = 0; k < 2000; k++) {
    PetscCall(VecDot(k % 2 ? copy : x, y, &z));
    TestExpect(d, "other bits", (PetscBool)(z == first));
  }
  PetscCall(TestDestroy(&copy, &x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector that was in no product */
static PetscErrorCode MakePlain(Vec like, Vec *v)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(like, &n));
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetSizes(*v, n, PETSC_DETERMINE));
  PetscCall(VecSetType(*v, ((PetscObject)like)->type_name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Near(PetscReal a, PetscReal b)
{
  if (PetscIsInfOrNanReal(b)) return (PetscBool)(PetscIsNanReal(b) ? PetscIsNanReal(a) : a == b);
  return (PetscBool)(PetscAbsReal(a - b) <= TEST_TOLERANCE * PetscAbsReal(b));
}

/* A number in one position that is no number, infinite, or whose square is out of range: what PETSc's operations make of it */
static PetscErrorCode Range(TestDiff *d)
{
  const PetscReal   number[] = {NAN, PETSC_INFINITY, -PETSC_INFINITY, huge, tiny, 0};
  const char *const what[]   = {"NaN", "infinity", "- infinity", "a huge number", "a tiny number", "zeros"};
  PetscScalar      *a, z, expected;
  PetscReal         norm, other;
  PetscInt          first;
  Vec               x, y, plain;

  PetscFunctionBeginUser;
  PetscCall(Make(5000, 0, &x, &y));
  PetscCall(MakePlain(x, &plain));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(number); k++) {
    PetscCall(VecSet(x, number[k] == tiny || number[k] == 0 ? 0.0 : 1.0));
    PetscCall(VecSet(y, 1.0));
    PetscCall(VecGetOwnershipRange(x, &first, NULL));
    PetscCall(VecGetArray(x, &a));
    if (!first) a[1234] = number[k];
    PetscCall(VecRestoreArray(x, &a));
    PetscCall(VecCopy(x, plain));
    PetscCall(VecDot(x, y, &z));
    PetscCall(VecDot(plain, y, &expected));
    TestExpect(d, what[k], Near(PetscRealPart(z), PetscRealPart(expected)));
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(VecNorm(plain, NORM_2, &other));
    TestExpect(d, what[k], Near(norm, other));
  }
  PetscCall(TestDestroy(&plain, &x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other norms; y = a y + x for the numbers that are a case of their own, with the roundings of PETSc */
static PetscErrorCode Others(TestDiff *d)
{
  const PetscScalar alpha[] = {0, 1, -1, 0.3, -1.7};
  PetscReal         norm[2], one, most, two;
  Vec               x, y, plain[2];

  PetscFunctionBeginUser;
  PetscCall(Make(40001, 0, &x, &y));
  PetscCall(MakePlain(x, &plain[0]));
  PetscCall(VecDuplicate(plain[0], &plain[1]));
  TestExpect(d, "a vector that was in no product lost its operations", Plain(plain[0]));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(alpha); k++) {
    PetscBool same;

    PetscCall(Fill(x, y));
    PetscCall(VecCopy(x, plain[0]));
    PetscCall(VecCopy(y, plain[1]));
    PetscCall(VecAYPX(y, alpha[k], x));
    PetscCall(VecAYPX(plain[1], alpha[k], plain[0]));
    PetscCall(VecEqual(y, plain[1], &same));
    TestExpect(d, "other bits of VecAYPX()", same);
    PetscCall(VecNorm(y, NORM_2, &norm[0])); /* after a change */
    PetscCall(VecNorm(plain[1], NORM_2, &norm[1]));
    TestDiffAdd(d, "norm after VecAYPX()", PetscAbsReal(norm[0] - norm[1]) / norm[1]);
  }
  PetscCall(VecNorm(y, NORM_1_AND_2, norm));
  PetscCall(VecNorm(plain[1], NORM_1, &one));
  PetscCall(VecNorm(plain[1], NORM_2, &two));
  TestDiffAdd(d, "1-norm and 2-norm", PetscAbsReal(norm[0] - one) / one + PetscAbsReal(norm[1] - two) / two);
  PetscCall(VecNorm(y, NORM_INFINITY, norm));
  PetscCall(VecNorm(plain[1], NORM_INFINITY, &most));
  TestExpect(d, "the largest entry", (PetscBool)(norm[0] == most));
  PetscCall(Fill(x, y));
  PetscCall(VecCopy(y, plain[1]));
  PetscCall(Compare(d, x, plain[1]));
  PetscCall(Compare(d, plain[1], x));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&plain[k]));
  PetscCall(TestDestroy(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays that begin 8 bytes beside a double of their alignment; new values on the host; vectors bound to the CPU and back; a type that changes */
static PetscErrorCode Sides(TestDiff *d)
{
  PetscScalar *memory, z, tdot, dot, several[2];
  PetscReal    norm, size;
  PetscInt     n;
  PetscBool    seq;
  Vec          x, y, copy;

  PetscFunctionBeginUser;
  PetscCall(Make(3001, 0, &x, &y));
  PetscCall(Fill(x, y));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(PetscMalloc1(n + 1, &memory));
  for (PetscInt k = 0; k <= n; k++) memory[k] = TestNumber(k, 3);
  for (PetscInt k = 0; k < 2; k++) {
    PetscCall(VecPlaceArray(x, memory + k));
    PetscCall(Compare(d, x, y));
    PetscCall(Compare(d, y, x));
    PetscCall(VecResetArray(x));
  }
  PetscCall(PetscFree(memory));
#if defined(SYS_HAVE_DEVICE)
  if (cuda) {
    PetscScalar *big;
    Vec          v;

    PetscCall(VecCreate(PETSC_COMM_WORLD, &v));
    PetscCall(VecSetSizes(v, n + 1, PETSC_DETERMINE));
    PetscCall(VecSetType(v, ((PetscObject)x)->type_name));
    PetscCall(VecSet(v, 3.0));
    PetscCall(VecCUDAGetArray(v, &big));
    for (PetscInt k = 0; k < 2; k++) {
      PetscCall(VecCUDAPlaceArray(x, big + k));
      PetscCall(Compare(d, x, y));
      PetscCall(Compare(d, x, x));
      PetscCall(VecCUDAResetArray(x));
    }
    PetscCall(VecCUDARestoreArray(v, &big));
    PetscCall(VecDestroy(&v));
  }
#endif
  PetscCall(Fill(x, y));
  PetscCall(VecDuplicate(x, &copy));
  TestExpect(d, "a duplicate has not the operations", (PetscBool)(copy->ops->dot == x->ops->dot));
  PetscCall(VecCopy(y, copy));
  PetscCall(VecBindToCPU(copy, PETSC_TRUE));
  PetscCall(Compare(d, copy, x));
  PetscCall(Compare(d, x, copy));
  PetscCall(VecMDot(x, 2, (Vec[]){y, copy}, several));
  PetscCall(Expected(x, copy, &dot, &tdot, &norm, &size));
  TestDiffAdd(d, "several products, one with a vector bound to the CPU", PetscAbsScalar(several[1] - dot) / size);
  PetscCall(VecAYPX(x, 0.5, copy));
  PetscCall(VecAYPX(copy, 0.5, x));
  PetscCall(Compare(d, copy, x));
  PetscCall(VecBindToCPU(copy, PETSC_FALSE));
  TestExpect(d, "a vector bound to the GPU again has not PETSc's operations", Plain(copy));
  PetscCall(Compare(d, copy, x));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)copy, &seq, VECSEQ, "seqcuda", ""));
  PetscCall(VecDestroy(&copy));
  PetscCall(VecDuplicate(x, &copy));
  PetscCall(VecCopy(x, copy));
  PetscCall(VecSetType(copy, seq ? VECSEQ : VECMPI));
  PetscCall(VecCopy(x, copy));
  PetscCall(VecDot(copy, y, &z));
  PetscCall(Expected(x, y, &dot, &tdot, &norm, &size));
  TestDiffAdd(d, "a vector on the host times one on the GPU", PetscAbsScalar(z - dot) / size);
  PetscCall(VecDot(y, copy, &z));
  TestDiffAdd(d, "a vector on the GPU times one on the host", PetscAbsScalar(PetscConj(z) - dot) / size);
  PetscCall(TestDestroy(&copy, &x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OwnDot(Vec x, Vec y, PetscScalar *z)
{
  PetscFunctionBeginUser;
  *z = 42;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An operation of the program stays, set before a product or after it */
static PetscErrorCode OfTheProgram(TestDiff *d)
{
  PetscScalar z;
  Mat         A;
  Vec         x, y;

  PetscFunctionBeginUser;
  PetscCall(Make(100, 0, &x, &y));
  y->ops->dot = OwnDot;
  PetscCall(VecDot(y, x, &z));
  TestExpect(d, "set after a product", (PetscBool)(z == (PetscScalar)42));
  PetscCall(TestDestroy(&x, &y));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 100, 100, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &y));
  x->ops->dot = OwnDot;
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDot(x, y, &z));
  TestExpect(d, "set before a product", (PetscBool)(z == (PetscScalar)42));
  PetscCall(TestDestroy(&A, &x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"sums",           Sums        },
  {"bits",           Bits        },
  {"range",          Range       },
  {"others",         Others      },
  {"sides",          Sides       },
  {"of the program", OfTheProgram},
  {NULL,             NULL        }
};

int main(int argc, char **argv)
{
  PetscBool wanted = PETSC_TRUE, ours, aij;
  char      type[64];
  Vec       x, y;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_for_vec", &wanted, NULL));
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(PetscStrcmp(type, MATAIJ, &aij));
  PetscCall(PetscStrcmp(type, "aijcusparse", &ours));
  ours = (PetscBool)(!aij && !ours);
  PetscCall(Make(10, 0, &x, &y));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &cuda, "seqcuda", "mpicuda", ""));
  PetscCall(VecAMBGetOperations(((PetscObject)x)->type_name, &petsc));
  any = (PetscBool)(cuda && wanted && ours);
  PetscCall(TestDestroy(&x, &y));
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST
  testset:
    args: -options_left 0
    checks: 6
    test:
      suffix: types
      nsize: {{1 2 3}}
      args: -mat_type {{amb nussell}}
    test:
      suffix: off
      args: -mat_type amb -petscamb_for_vec 0
TEST*/
