/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Solves a linear system from a file, with any KSP, PC and Mat type.\n\
  -f FILE            matrix: Matrix Market (.mtx, also .gz, .xz, .bz2) or PETSc binary\n\
  -b FILE            right-hand side: Matrix Market array or PETSc binary; else\n\
  -rhs ones|random   A times ones (the default), or fixed random numbers\n\
  -mat_type TYPE     matrix type; with -compare the one to compare with aij, amb unless given\n\
  -compare           the same solve with aij and with the other type, side by side\n\
  -times 0           iterations and residuals only, in a form that does not change from run to run\n\
  -csv [FILE]        results as comma-separated values; without FILE on standard output, in place of the table\n\
  -json [FILE]       results as JSON, likewise\n\n";

#include <petscksp.h>
#include <petsctime.h>
#include <petscamb.h>

#include "ksp/examples/commandline.h"

typedef struct {
  char               type[64];
  PetscInt           its;
  KSPConvergedReason reason;
  PetscReal          residual; /* |b - A x| / |b|, with the plain AIJ */
  PetscBool          enough;   /* the residual meets the tolerance */
  PetscLogDouble     setup, solve, mult, bytes;
  char               why[160];
} Outcome;

static PetscErrorCode LoadVector(const char file[], Vec b)
{
  MPI_Comm      comm = PetscObjectComm((PetscObject)b);
  MatLoadFormat format;
  PetscViewer   viewer;
  Mat           column;
  PetscInt      n, N, rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatLoadGetFormat(comm, file, &format));
  if (format == MAT_LOAD_PETSC) {
    PetscCall(PetscViewerBinaryOpen(comm, file, FILE_MODE_READ, &viewer));
    PetscCall(VecLoad(b, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(VecGetSize(b, &N));
  PetscCall(MatCreate(comm, &column));
  PetscCall(MatSetType(column, MATAIJ));
  PetscCall(MatLoadMatrixMarket(column, file));
  PetscCall(MatGetSize(column, &rows, &cols));
  PetscCheck(rows == N && cols == 1, comm, PETSC_ERR_ARG_SIZ, "%s: %" PetscInt_FMT " x %" PetscInt_FMT ", but the matrix needs a right-hand side of %" PetscInt_FMT " x 1", file, rows, cols, N);
  PetscCall(MatGetColumnVector(column, b, 0));
  PetscCall(MatDestroy(&column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers in [-1,1] that do not depend on the number of processes */
static PetscErrorCode FillRandom(Vec v)
{
  PetscScalar *a;
  PetscInt     first, last;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt k = first; k < last; k++) a[k - first] = (PetscReal)(((unsigned long long)k * 2654435761ULL + 12345ULL) % 2000003ULL) / 1000001.0 - 1.0;
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RightHandSide(Mat A, Vec b)
{
  char      file[PETSC_MAX_PATH_LEN];
  PetscBool given;
  PetscInt  kind = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-b", file, sizeof(file), &given));
  if (given) PetscCall(LoadVector(file, b));
  else {
    const char *const kinds[] = {"ones", "random"};

    PetscCall(PetscOptionsGetEList(NULL, NULL, "-rhs", kinds, 2, &kind, NULL));
    if (kind == 0) {
      Vec ones;

      PetscCall(MatCreateVecs(A, &ones, NULL));
      PetscCall(VecSet(ones, 1.0));
      PetscCall(MatMult(A, ones, b));
      PetscCall(VecDestroy(&ones));
    } else PetscCall(FillRandom(b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PRODUCTS 51

#define SETTLE 64 /* products before the timed ones: until then a matrix may be converted, and the format timed against the AIJ */

/* The median time of a product on the slowest process */
static PetscErrorCode TimeMult(Mat A, PetscLogDouble *median)
{
  PetscReal      t[PRODUCTS];
  PetscLogDouble t0, t1;
  Vec            x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  for (int k = 0; k < SETTLE; k++) PetscCall(MatMult(A, x, y));
  for (int k = 0; k < PRODUCTS; k++) {
    PetscCallMPI(MPI_Barrier(PetscObjectComm((PetscObject)A)));
    PetscCall(PetscTime(&t0));
    PetscCall(MatMult(A, x, y));
    PetscCall(PetscTime(&t1));
    t[k] = (PetscReal)(t1 - t0);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, t, PRODUCTS, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  PetscCall(PetscSortReal(PRODUCTS, t));
  *median = t[PRODUCTS / 2];
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bytes of the matrix that one product reads, or 0 if the type does not report them */
static PetscErrorCode BytesOf(Mat A, const char type[], PetscLogDouble *bytes)
{
  PetscBool aij, amb;
  PetscInt  m;
  MatInfo   info;

  PetscFunctionBeginUser;
  *bytes = 0;
  PetscCall(PetscStrcmp(type, MATAIJ, &aij));
  PetscCall(PetscStrcmp(type, MATAMB, &amb));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  if (aij) {
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    *bytes = info.nz_used * (sizeof(PetscScalar) + sizeof(PetscInt)) + sizeof(PetscInt) * (m + 1.0);
  } else if (amb) {
    MatShadowInfo shadow;
    PetscBool     fallen; /* products fell back to the AIJ */

    PetscCall(MatShadowGetInfo(A, &shadow));
    PetscCall(PetscStrcmp(shadow.format, "csr", &fallen));
    *bytes = fallen ? shadow.bytes_csr : shadow.bytes_stored;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the reason why products of a matrix of a type of petsc-amb run on the AIJ, or an empty text */
static PetscErrorCode WhyAIJ(Mat A, char why[], size_t len)
{
  MatShadowInfo info;
  PetscBool     stays = PETSC_FALSE;

  PetscFunctionBeginUser;
  why[0] = 0;
  PetscCall(MatShadowGetInfo(A, &info));
  if (info.format) PetscCall(PetscStrcmp(info.format, "csr", &stays));
  if (stays) PetscCall(PetscSNPrintf(why, len, "  on the AIJ: %s", info.reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, Vec b, const char type[], PetscBool times, Outcome *out, char solver[], size_t len)
{
  Mat            B;
  KSP            ksp;
  KSPType        kname;
  PC             pc;
  PCType         pname;
  Vec            x, c, u, r;
  PetscReal      norm;
  PetscLogDouble t0, t1, t2;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(out->type, type, sizeof(out->type)));
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateVecs(B, &x, &c)); /* on the device if the matrix is there */
  PetscCall(VecCopy(b, c));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCallMPI(MPI_Barrier(PetscObjectComm((PetscObject)A)));
  PetscCall(PetscTime(&t0));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(PetscTime(&t1));
  PetscCall(KSPSolve(ksp, c, x));
  PetscCall(PetscTime(&t2));
  out->setup = t1 - t0;
  out->solve = t2 - t1;
  PetscCall(KSPGetIterationNumber(ksp, &out->its));
  PetscCall(KSPGetConvergedReason(ksp, &out->reason));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatCreateVecs(A, &u, NULL));
  PetscCall(VecCopy(x, u));
  PetscCall(MatMult(A, u, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(ExampleResidualIsEnough(ksp, A, b, u, r, &out->enough));
  PetscCall(VecNorm(r, NORM_2, &out->residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (norm > 0) out->residual /= norm;
  if (times) {
    PetscCall(TimeMult(B, &out->mult));
    PetscCall(BytesOf(B, type, &out->bytes));
    PetscCall(WhyAIJ(B, out->why, sizeof(out->why)));
  }
  PetscCall(KSPGetType(ksp, &kname));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &pname));
  PetscCall(PetscSNPrintf(solver, len, "%s, %s", kname, pname));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&c));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Print(MPI_Comm comm, int n, const Outcome out[], PetscLogDouble nonzeros, PetscBool times)
{
  PetscFunctionBeginUser;
  if (times) PetscCall(PetscPrintf(comm, "  %-10s %10s %13s %10s %10s %11s %7s %8s %8s\n", "type", "iterations", "true residual", "set-up s", "solve s", "MatMult us", "B/nnz", "solve", "MatMult"));
  for (int k = 0; k < n; k++) {
    char bytes[16] = "-", mult[16] = "-"; /* a type that falls back to the AIJ is not compared with aij */

    if (!times) {
      /* rounding may change anything but the next power of ten; of the residual of a direct solver it may change even that */
      PetscCall(PetscPrintf(comm, "%s: %" PetscInt_FMT " iterations, %s, true residual below 1e%d\n", out[k].type, out[k].its, out[k].reason > 0 ? "converged" : "not converged", (int)PetscCeilReal(PetscLog10Real(PetscMax(out[k].residual, 1e-12)))));
      continue;
    }
    if (out[k].bytes > 0) PetscCall(PetscSNPrintf(bytes, sizeof(bytes), "%.2f", out[k].bytes / PetscMax(nonzeros, 1)));
    if (!out[k].why[0]) PetscCall(PetscSNPrintf(mult, sizeof(mult), "%.2fx", out[0].mult / out[k].mult));
    PetscCall(PetscPrintf(comm, "  %-10s %10" PetscInt_FMT " %13.3e %10.4f %10.4f %11.2f %7s %7.2fx %8s%s%s%s\n", out[k].type, out[k].its, (double)out[k].residual, out[k].setup, out[k].solve, 1e6 * out[k].mult, bytes, out[0].solve / out[k].solve, mult,
                          out[k].why, out[k].reason > 0 ? "" : "  not converged: ", out[k].reason > 0 ? "" : KSPConvergedReasons[out[k].reason]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(PetscBool *right)
{
  char        file[PETSC_MAX_PATH_LEN], type[64], solver[128];
  PetscBool   given, typed, compare = PETSC_FALSE, times = PETSC_TRUE;
  Mat         A;
  Vec         b;
  Outcome     out[2];
  PetscInt    M, N;
  PetscMPIInt size;
  MatInfo     info;
  int         n = 1;

  PetscFunctionBeginUser;
  PetscCall(PetscAMBInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", file, sizeof(file), &given));
  PetscCheck(given, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Say which matrix: -f FILE");
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), &typed));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-compare", &compare, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  if (!typed) PetscCall(PetscStrncpy(type, compare ? MATAMB : MATAIJ, sizeof(type)));

  PetscCall(ExampleLoadMatrix(file, &A));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCheck(M == N, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "%s: %" PetscInt_FMT " x %" PetscInt_FMT ", but a system to solve is square", file, M, N);
  PetscCall(MatCreateVecs(A, NULL, &b));
  PetscCall(RightHandSide(A, b));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscMemzero(out, sizeof(out))); /* without -times, some figures stay 0 */
  if (compare) PetscCall(Solve(A, b, MATAIJ, times, &out[n++ - 1], solver, sizeof(solver)));
  PetscCall(Solve(A, b, type, times, &out[n - 1], solver, sizeof(solver)));
  for (int k = 0; k < n; k++) {
    PetscCall(CommandAdd("matrix", file, 0));
    PetscCall(CommandAdd("rows", NULL, M));
    PetscCall(CommandAdd("nonzeros", NULL, info.nz_used));
    PetscCall(CommandAdd("type", out[k].type, 0));
    PetscCall(CommandAdd("iterations", NULL, out[k].its));
    PetscCall(CommandAdd("reason", KSPConvergedReasons[out[k].reason], 0));
    PetscCall(CommandAdd("true_residual", NULL, (double)out[k].residual));
    PetscCall(CommandAdd("setup_s", NULL, out[k].setup));
    PetscCall(CommandAdd("solve_s", NULL, out[k].solve));
    PetscCall(CommandAdd("mult_s", NULL, out[k].mult));
    PetscCall(CommandAdd("bytes", NULL, out[k].bytes));
  }
  if (times) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " rows, %.0f nonzeros; %s; %d rank%s\n", file, M, info.nz_used, solver, size, size > 1 ? "s" : ""));
  PetscCall(Print(PETSC_COMM_WORLD, n, out, info.nz_used, times));
  /* a negative reason: the solve did not finish */
  if (compare && out[0].reason > 0 && out[1].reason > 0 && !(PetscMax(out[0].residual, out[1].residual) <= 10 * PetscMin(out[0].residual, out[1].residual)) && !(out[0].enough && out[1].enough)) {
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "DISAGREE: the true residual of %s is more than the tolerance allows, and differs from the residual of %s\n", out[out[1].residual <= out[0].residual ? 0 : 1].type, out[out[1].residual <= out[0].residual ? 1 : 0].type));
    *right = PETSC_FALSE;
  }
  for (int k = 0; k < n; k++) *right = out[k].reason > 0 ? *right : PETSC_FALSE;
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const own[] = {"f", "b", "rhs", "compare", "times", "csv", "json"};

  return CommandMain("solve", argc, argv, help, PETSC_STATIC_ARRAY_LENGTH(own), own, Run);
}

/*TEST

  testset:
    requires: double zlib
    nsize: {{1 2 3}}
    args: -f "${TREE}"/test/solve.mtx.gz -compare -times 0 -ksp_rtol 1e-8
    test:
      suffix: gmres_ones
      args: -ksp_type gmres -pc_type jacobi -ksp_gmres_restart 100 -rhs ones
      output:
        aij: 41 iterations, converged, true residual below 1e-8
        amb: 41 iterations, converged, true residual below 1e-8
    test:
      suffix: gmres_random
      args: -ksp_type gmres -pc_type jacobi -ksp_gmres_restart 100 -rhs random
      output:
        aij: 39 iterations, converged, true residual below 1e-8
        amb: 39 iterations, converged, true residual below 1e-8
    test:
      suffix: bcgs
      args: -ksp_type bcgs -pc_type jacobi
      output:
        aij: 27 iterations, converged, true residual below 1e-8
        amb: 27 iterations, converged, true residual below 1e-8

  testset:
    requires: double zlib
    args: -f "${TREE}"/test/solve.mtx.gz -times 0 -mat_type amb
    test:
      suffix: lu
      args: -ksp_type preonly -pc_type lu
      output:
        amb: 1 iterations, converged, true residual below 1e-12
    test:
      suffix: b_shape
      args: -b "${TREE}"/test/solve.mtx.gz
      filter: Error: grep -o "but the matrix needs a right-hand side of 144 x 1"
      output:
        but the matrix needs a right-hand side of 144 x 1
    test:
      suffix: b_missing
      args: -b nowhere.mtx
      filter: Error: grep -o "nowhere.mtx: cannot open the file"
      output:
        nowhere.mtx: cannot open the file

  test:
    suffix: no_file
    filter: Error: grep -o "Say which matrix: -f FILE"
    output:
      Say which matrix: -f FILE

TEST*/
