/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Memory in a long run: assemble, convert, solve, change values and patterns, products, multigrid, batches, round after round.\n\
  -soak_seasons N    seasons (default 6), of a round for each matrix type and each way of tuning\n\
  -soak_seconds S    or as many seasons as so many seconds allow\n\
  -soak_n N          points of the grid along an axis (default 12)\n\
  -soak_types A,B    matrix types (default: all types of petsc-amb)\n\
  -soak_leak B       bytes to lose on purpose in every round, of which the program must complain\n\
After each season memory is looked at: PETSc's own count (with -malloc_debug), what malloc() has given out, resident memory, and used memory of the GPU.\n\
The run fails if the second half of the seasons after the warm-up needs more than the first.\n";

#include "../testutil.h"
#include <petsctime.h>
#include <malloc.h>
#include "../../tool/generate.c"
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#define WARMUP      2 /* seasons */
#define MAX_SEASONS 100000

/* The last one does not depend on the clock: the matrices that last are then in the same state whenever memory is looked at */
static const char *const tunes[] = {"online", "measure", "model", "off"};
#define TUNES ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(tunes))

typedef enum {
  COUNT_PETSC,
  COUNT_MALLOC,
  COUNT_RESIDENT,
  COUNT_DEVICE,
  COUNTS
} Count;

/* What may be added in the second half: nothing where every byte is counted; elsewhere pages and pools come and go */
static const struct {
  const char    *name;
  PetscLogDouble slack, share;
} Counts[COUNTS] = {
  {"PETSc",    0,       0   },
  {"malloc()", 65536,   0   },
  {"resident", 8388608, 0.02},
  {"GPU",      4194304, 0   }
};

/* After each season; not in allocated memory, which is counted */
static PetscLogDouble seen[MAX_SEASONS][COUNTS];

typedef struct {
  PetscInt ntypes, n;
  char    *types[16];
  Mat     *lasting; /* matrices that live from the beginning to the end, one of each type */
  size_t   leak;
} Soak;

static PetscErrorCode Measure(PetscLogDouble now[])
{
  PetscFunctionBeginUser;
  for (int c = 0; c < COUNTS; c++) now[c] = 0;
  PetscCall(PetscMallocGetCurrentUsage(&now[COUNT_PETSC]));
  PetscCall(PetscMemoryGetCurrentUsage(&now[COUNT_RESIDENT]));
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  {
    const struct mallinfo2 m = mallinfo2();

    now[COUNT_MALLOC] = (PetscLogDouble)m.uordblks + (PetscLogDouble)m.hblkhd;
  }
#endif
#if defined(PETSC_HAVE_CUDA)
  {
    int ngpu = 0;

    if (cudaGetDeviceCount(&ngpu) == cudaSuccess && ngpu > 0) {
      size_t available, total;

      PetscCallCUDA(cudaDeviceSynchronize());
      PetscCallCUDA(cudaMemGetInfo(&available, &total));
      now[COUNT_DEVICE] = (PetscLogDouble)(total - available);
    }
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of that type with the grid's 7-point pattern, or with that of 27 points */
static PetscErrorCode CreateMat(const Soak *s, const char type[], PetscBool wide, Mat *A)
{
  char name[32];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "p%d:%" PetscInt_FMT, wide ? 27 : 7, s->n));
  PetscCall(GeneratorCreateMat(PETSC_COMM_WORLD, name, A));
  PetscCall(MatShift(*A, 0.5)); /* a solve takes few iterations */
  PetscCall(MatConvert(*A, type, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply(Mat A, PetscInt times)
{
  Vec x, y, z;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSet(x, 1.0));
  for (PetscInt k = 0; k < times; k++) {
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMultTranspose(A, y, z));
  }
  PetscCall(TestDestroy(&x, &y, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves, and solves again with other values */
static PetscErrorCode Solve(Mat A, KSPType type, PCType pctype)
{
  KSP                ksp;
  PC                 pc;
  Vec                b, x;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s with %s: %s", type, pctype, KSPConvergedReasons[reason]);
    PetscCall(MatShift(A, 0.1));
  }
  PetscCall(TestDestroy(&ksp, &b, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Products(Mat A)
{
  Mat         C, P, D, E, F;
  PetscInt    m, n;
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatPtAP(A, C, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &P));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatScale(A, 0.5 + k));
    PetscCall(MatMatMult(A, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  }
  PetscCall(MatPtAP(A, C, MAT_REUSE_MATRIX, PETSC_DEFAULT, &P));
  PetscCall(TestDestroy(&P, &C));
  PetscCall(MatScale(A, 1 / 0.75));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DECIDE, 8, NULL, &D));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(MatSetRandom(D, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatMatMult(A, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &E));
  PetscCall(MatSDDMM(A, D, D, PETSC_TRUE, MAT_INITIAL_MATRIX, &F));
  PetscCall(MatMatMult(A, D, MAT_REUSE_MATRIX, PETSC_DEFAULT, &E));
  PetscCall(MatSDDMM(A, D, D, PETSC_FALSE, MAT_REUSE_MATRIX, &F));
  PetscCall(TestDestroy(&D, &E, &F));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &C));
  PetscCall(Multiply(C, 2));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Twenty matrices of one to twenty rows */
static PetscErrorCode Batches(void)
{
  PetscInt    m[20], pointer[211], j[210 * 3], nz = 0, row = 0;
  PetscScalar a[210 * 3];
  MatBatch    batch;
  Vec         D, C;

  PetscFunctionBeginUser;
  pointer[0] = 0;
  for (PetscInt b = 0; b < 20; b++) {
    m[b] = b + 1;
    for (PetscInt r = 0; r < m[b]; r++) {
      for (PetscInt c = PetscMax(r - 1, 0); c < PetscMin(r + 2, m[b]); c++, nz++) {
        j[nz] = c;
        a[nz] = TestNumber(nz, 0);
      }
      pointer[++row] = nz;
    }
  }
  PetscCall(MatBatchCreateCSR(PETSC_COMM_SELF, 20, m, m, pointer, j, a, &batch));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 4 * row, &D));
  PetscCall(VecDuplicate(D, &C));
  PetscCall(VecSet(D, 1.0));
  PetscCall(MatBatchMult(batch, 4, D, C));
  PetscCall(MatBatchSetValues(batch, a));
  PetscCall(MatBatchMultTranspose(batch, 4, D, C));
  PetscCall(MatBatchDestroy(&batch));
  PetscCall(TestDestroy(&D, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void *lost; /* the compiler leaves out memory that nobody knows */

static PetscErrorCode Round(const Soak *s, PetscInt round)
{
  const PetscInt t    = round % s->ntypes;
  const char    *type = s->types[t], *tune = tunes[round / s->ntypes % TUNES];
  PetscBool      other = PETSC_FALSE;
  Mat            A, B;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_shadow_tune", tune));
  PetscCall(CreateMat(s, type, PETSC_FALSE, &A));
  PetscCall(Multiply(A, 50));
  PetscCall(Solve(A, KSPAMBCG, PCJACOBI));
  PetscCall(Solve(A, KSPAMBBCGS, PCBJACOBI));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_gamg_type", round % 2 ? PCGAMGAMBAGG : PCGAMGAGG));
  PetscCall(Solve(A, KSPCG, PCGAMG));
  PetscCall(Products(A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(MatConvert(B, type, MAT_INPLACE_MATRIX, &B));
  PetscCall(Multiply(B, 2));
  PetscCall(TestDestroy(&B, &A));
  PetscCall(Batches());

  /* the matrix that lasts gets other values, and the pattern of the round before it back or another one */
  PetscCall(MatScale(s->lasting[t], -1.0));
  PetscCall(Multiply(s->lasting[t], 10));
  other = (PetscBool)(round / s->ntypes % 2);
  PetscCall(CreateMat(s, type, other, &B));
  PetscCall(MatHeaderReplace(s->lasting[t], &B));
  PetscCall(Multiply(s->lasting[t], 50));
  PetscCall(Products(s->lasting[t]));
  if (s->leak) {
    void **more = malloc(PetscMax(s->leak, sizeof(void *)));

    *more = lost;
    lost  = more;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The most of a count in seasons first to last - 1 */
static PetscLogDouble Most(PetscInt first, PetscInt last, int c)
{
  PetscLogDouble most = 0;

  for (PetscInt k = first; k < last; k++) most = PetscMax(most, seen[k][c]);
  return most;
}

/* Does the second half of the seasons after the warm-up need more than the first? */
static PetscErrorCode Judge(PetscInt nseason, TestDiff *d)
{
  const PetscInt half = WARMUP + (nseason - WARMUP) / 2;

  PetscFunctionBeginUser;
  for (int c = 0; c < COUNTS; c++) {
    const PetscLogDouble before = Most(WARMUP, half, c), after = Most(half, nseason, c);

    if (before == 0) continue;
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, stderr, "%-9s %12.0f bytes in the first half, %+.0f in the second\n", Counts[c].name, before, after - before));
    TestExpect(d, Counts[c].name, (PetscBool)(after - before <= Counts[c].slack + Counts[c].share * before));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Soak               s = {.n = 12};
  TestDiff           d = {NULL, 0};
  const char *const *names;
  PetscInt           most = WARMUP + 4, nseason = 0, leak = 0;
  PetscReal          seconds = 0;
  PetscBool          chosen;
  PetscMPIInt        more = 1;
  PetscLogDouble     begin, now = 0;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-soak_n", &s.n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-soak_leak", &leak, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-soak_seasons", &most, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-soak_seconds", &seconds, NULL));
  if (seconds > 0) most = MAX_SEASONS;
  PetscCheck(most >= WARMUP + 2 && most <= MAX_SEASONS, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-soak_seasons must be from %d to %d", WARMUP + 2, MAX_SEASONS);
  s.leak   = (size_t)leak;
  s.ntypes = PETSC_STATIC_ARRAY_LENGTH(s.types);
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-soak_types", s.types, &s.ntypes, &chosen));
  if (!chosen) {
    PetscCall(PetscAMBGetTypes(PETSC_FALSE, &s.ntypes, &names));
    for (PetscInt k = 0; k < s.ntypes; k++) PetscCall(PetscStrallocpy(names[k], &s.types[k]));
  }
  PetscCall(PetscMalloc1(s.ntypes, &s.lasting));
  for (PetscInt k = 0; k < s.ntypes; k++) PetscCall(CreateMat(&s, s.types[k], PETSC_FALSE, &s.lasting[k]));

  PetscCall(PetscTime(&begin));
  while (nseason < most && more) {
    for (PetscInt r = 0; r < s.ntypes * TUNES; r++) PetscCall(Round(&s, r));
    PetscCall(Measure(seen[nseason++]));
    PetscCall(PetscTime(&now));
    more = seconds == 0 || nseason < WARMUP + 2 || now - begin < seconds;
    PetscCallMPI(MPI_Bcast(&more, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  }
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, stderr, "%" PetscInt_FMT " seasons of %" PetscInt_FMT " rounds in %.0f s\n", nseason, s.ntypes * TUNES, now - begin));
  PetscCall(Judge(nseason, &d));
  PetscCall(TestReport("memory", &d));

  for (PetscInt k = 0; k < s.ntypes; k++) {
    PetscCall(MatDestroy(&s.lasting[k]));
    PetscCall(PetscFree(s.types[k]));
  }
  PetscCall(PetscFree(s.lasting));
  return TestFinalize();
}

/*TEST

  testset:
    requires: !complex
    args: -malloc_debug -soak_n 6 -options_left no
    checks: 1
    test:
      args: -soak_types amb
    test:
      suffix: 2
      tier: deep
      nsize: 2
      args: -soak_types amb,autosparse

TEST*/
