/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The least eigenvalues of a symmetric matrix by LOBPCG. The matrix multiplies all vectors of the block at once: each is a product of a sparse and a\n\
dense matrix, and the preconditioner gets a dense matrix too.\n\
  -f FILE           a matrix in PETSc's binary format, as of ./ex56 -ksp_view_mat binary:FILE\n\
  -n N              without -f: the Laplacian on a box of N x (N + 1) x (N + 3) points (default 12)\n\
  -nev K            eigenvalues (default 6)\n\
  -tol T            a pair has converged if |A x - l x| <= T l |x| (default 1e-5, in single precision 1e-4)\n\
  -max_it I         steps, at most (default 300)\n\
  -eps_pc_type TYPE the preconditioner (default gamg)\n\
  -mat_type TYPE    (default amb)\n\
  -times 0          eigenvalues only, in a form that does not change from run to run\n\
  -csv [FILE], -json [FILE]  results for other programs; without FILE on standard output, in place of the text\n\n\
A. V. Knyazev, Toward the optimal preconditioned eigensolver, SIAM J. Sci. Comput. 23, 2001.\n\n";

#include <petscksp.h>
#include <petsctime.h>
#include <petscamb.h>

#include "ksp/examples/commandline.h"

/* ------------------------------------------------- the matrix ------------------------------------------------- */

static PetscErrorCode Laplacian(PetscInt n, Mat A)
{
  const PetscInt size[3] = {n, n + 1, n + 3}, stride[3] = {1, n, n * (n + 1)};
  PetscInt       r0, r1;

  PetscFunctionBeginUser;
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, size[0] * size[1] * size[2], size[0] * size[1] * size[2]));
  PetscCall(MatSeqAIJSetPreallocation(A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 7, NULL, 6, NULL));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  for (PetscInt r = r0; r < r1; r++) {
    const PetscInt at[3] = {r % size[0], r / stride[1] % size[1], r / stride[2]};

    PetscCall(MatSetValue(A, r, r, 6, INSERT_VALUES));
    for (int d = 0; d < 3; d++) {
      if (at[d] > 0) PetscCall(MatSetValue(A, r, r - stride[d], -1, INSERT_VALUES));
      if (at[d] < size[d] - 1) PetscCall(MatSetValue(A, r, r + stride[d], -1, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Mat *A)
{
  char      name[PETSC_MAX_PATH_LEN];
  PetscInt  n = 12;
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", name, sizeof(name), &given));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCheck(n >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n %" PetscInt_FMT " is not positive", n);
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(ExampleSetType(*A));
  if (given) {
    PetscViewer viewer;

    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
    PetscCall(MatLoad(*A, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  } else PetscCall(Laplacian(n, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- small symmetric matrices ------------------------------------------------- */

/* The eigenvalues of a symmetric matrix of m rows by Jacobi's rotations, ascending in d; V gets the eigenvectors as columns. a is overwritten. */
static void Eigenpairs(PetscInt m, PetscReal *a, PetscReal *V, PetscReal *d)
{
  for (PetscInt i = 0; i < m * m; i++) V[i] = i % (m + 1) == 0;
  for (int sweep = 0; sweep < 60; sweep++) {
    PetscReal off = 0, on = 0;

    for (PetscInt i = 0; i < m; i++) {
      for (PetscInt j = 0; j < m; j++) *(i == j ? &on : &off) += a[i + j * m] * a[i + j * m];
    }
    if (off <= PETSC_MACHINE_EPSILON * PETSC_MACHINE_EPSILON * on) break;
    for (PetscInt p = 0; p < m; p++) {
      for (PetscInt q = p + 1; q < m; q++) {
        PetscReal theta, t, c, s;

        if (a[p + q * m] == 0) continue;
        theta = (a[q + q * m] - a[p + p * m]) / (2 * a[p + q * m]);
        t     = (theta < 0 ? -1 : 1) / (PetscAbsReal(theta) + PetscSqrtReal(theta * theta + 1));
        c     = 1 / PetscSqrtReal(t * t + 1);
        s     = t * c;
        for (PetscInt k = 0; k < m; k++) {
          const PetscReal x = a[k + p * m], y = a[k + q * m];

          a[k + p * m] = c * x - s * y;
          a[k + q * m] = s * x + c * y;
        }
        for (PetscInt k = 0; k < m; k++) {
          const PetscReal x = a[p + k * m], y = a[q + k * m], v = V[k + p * m], w = V[k + q * m];

          a[p + k * m] = c * x - s * y;
          a[q + k * m] = s * x + c * y;
          V[k + p * m] = c * v - s * w;
          V[k + q * m] = s * v + c * w;
        }
      }
    }
  }
  for (PetscInt k = 0; k < m; k++) d[k] = a[k + k * m];
  for (PetscInt k = 0; k < m; k++) {
    PetscInt least = k;

    for (PetscInt q = k + 1; q < m; q++) least = d[q] < d[least] ? q : least;
    if (least == k) continue;
    for (PetscInt i = -1; i < m; i++) { /* the value, then its vector */
      PetscReal *x = i < 0 ? &d[k] : &V[i + k * m], *y = i < 0 ? &d[least] : &V[i + least * m], z = *x;

      *x = *y;
      *y = z;
    }
  }
}

/* C = op(A) B, m x n numbers and sums of k terms, all stored by columns */
static void Multiply(PetscBool transpose, PetscInt m, PetscInt n, PetscInt k, const PetscReal *A, const PetscReal *B, PetscReal *C)
{
  for (PetscInt j = 0; j < n; j++) {
    for (PetscInt i = 0; i < m; i++) {
      PetscReal sum = 0;

      for (PetscInt q = 0; q < k; q++) sum += (transpose ? A[q + i * k] : A[i + q * m]) * B[q + j * k];
      C[i + j * m] = sum;
    }
  }
}

/* From G = S^T S and H = S^T A S, m x m each: C with C^T G C = I and C^T H C = diag(d), d ascending. Columns of S that depend on others, or are 0, count for nothing:
   *rank is the number of columns of C. G is overwritten. */
static PetscErrorCode Ritz(PetscInt m, PetscReal *G, const PetscReal *H, PetscReal *C, PetscReal *d, PetscInt *rank)
{
  PetscReal *V, *T, *K, *scale;
  PetscInt   r = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(m * m, &V, m * m, &T, m * m, &K, m, &scale));
  for (PetscInt k = 0; k < m; k++) scale[k] = G[k + k * m] > 0 ? 1 / PetscSqrtReal(G[k + k * m]) : 0;
  for (PetscInt k = 0; k < m * m; k++) G[k] *= scale[k % m] * scale[k / m];
  Eigenpairs(m, G, V, d);
  for (PetscInt k = 0; k < m; k++) {
    if (d[k] < PETSC_SMALL) continue;
    for (PetscInt i = 0; i < m; i++) T[i + r * m] = scale[i] * V[i + k * m] / PetscSqrtReal(d[k]);
    r++;
  }
  Multiply(PETSC_FALSE, m, r, m, H, T, V);
  Multiply(PETSC_TRUE, r, r, m, T, V, K);
  Eigenpairs(r, K, V, d);
  Multiply(PETSC_FALSE, m, r, r, T, V, C);
  *rank = r;
  PetscCall(PetscFree4(V, T, K, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the method ------------------------------------------------- */

/* S = [X W P], the numbers of this process: k vectors, their preconditioned residuals, and the last directions; AS = A S */
typedef struct {
  PetscInt   k;
  Mat        A, S, AS, G, H; /* G = S^T S, H = S^T A S */
  Mat        C, Y, AY;       /* Y = S C: new X, new P, X with each vector times its eigenvalue */
  Mat        R, W, AW;       /* of all processes */
  PC         pc;
  PetscReal *g, *h, *c, *d, *norm; /* on the host */
} Lobpcg;

/* A dense matrix on the host or on a GPU, as the vectors of A */
static PetscErrorCode DenseCreate(MPI_Comm comm, Mat A, PetscInt m, PetscInt N, Mat *D)
{
  Vec       like;
  PetscBool cuda;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &like, NULL));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)like, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecDestroy(&like));
  PetscCall(MatCreate(comm, D));
  PetscCall(MatSetSizes(*D, m, PETSC_DECIDE, PETSC_DETERMINE, N));
  PetscCall(MatSetType(*D, cuda ? "densecuda" : MATDENSE));
  PetscCall(MatSetUp(*D));
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies block `from` of some columns to block `to` of others */
static PetscErrorCode CopyBlock(PetscInt k, Mat A, PetscInt from, Mat B, PetscInt to)
{
  Mat a, b;

  PetscFunctionBeginUser;
  PetscCall(MatDenseGetSubMatrix(A, PETSC_DECIDE, PETSC_DECIDE, from * k, (from + 1) * k, &a));
  PetscCall(MatDenseGetSubMatrix(B, PETSC_DECIDE, PETSC_DECIDE, to * k, (to + 1) * k, &b));
  PetscCall(MatCopy(a, b, SAME_NONZERO_PATTERN));
  PetscCall(MatDenseRestoreSubMatrix(B, &b));
  PetscCall(MatDenseRestoreSubMatrix(A, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings W and A W into block `to` of S and A S */
static PetscErrorCode Bring(Lobpcg *l, PetscInt to)
{
  Mat w, aw;

  PetscFunctionBeginUser;
  PetscCall(MatMatMult(l->A, l->W, l->AW ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DEFAULT, &l->AW));
  PetscCall(MatDenseGetLocalMatrix(l->W, &w));
  PetscCall(MatDenseGetLocalMatrix(l->AW, &aw));
  PetscCall(CopyBlock(l->k, w, 0, l->S, to));
  PetscCall(CopyBlock(l->k, aw, 0, l->AS, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X begins with random vectors; W and P are 0 */
static PetscErrorCode LobpcgCreate(Mat A, PetscInt k, Lobpcg *l)
{
  const PetscInt m = 3 * k;
  PetscInt       n, r0;
  PetscScalar   *w;

  PetscFunctionBeginUser;
  l->A = A;
  l->k = k;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &r0, NULL));
  PetscCall(DenseCreate(PETSC_COMM_SELF, A, n, m, &l->S));
  PetscCall(DenseCreate(PETSC_COMM_SELF, A, n, m, &l->AS));
  PetscCall(DenseCreate(PETSC_COMM_SELF, A, m, m, &l->C));
  PetscCall(DenseCreate(PETSC_COMM_WORLD, A, n, k, &l->R));
  PetscCall(DenseCreate(PETSC_COMM_WORLD, A, n, k, &l->W));
  PetscCall(PetscMalloc5(m * m, &l->g, m * m, &l->h, m * m, &l->c, m, &l->d, k, &l->norm));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &l->pc));
  PetscCall(PCSetOptionsPrefix(l->pc, "eps_"));
  PetscCall(PCSetType(l->pc, PCGAMG));
  PetscCall(PCSetOperators(l->pc, A, A));
  PetscCall(PCSetFromOptions(l->pc));
  PetscCall(PCSetUp(l->pc));
  PetscCall(MatDenseGetArrayWrite(l->W, &w));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt c = 0; c < k; c++) {
      const unsigned int number = ((unsigned int)(r0 + i) * 2654435761u) ^ ((unsigned int)(c + 1) * 2246822519u);

      w[i + c * n] = (PetscReal)((number ^ (number >> 13)) * 3266489917u >> 8) / (PetscReal)(1 << 23) - 1;
    }
  }
  PetscCall(MatDenseRestoreArrayWrite(l->W, &w));
  PetscCall(Bring(l, 0));
  PetscCall(MatTransposeMatMult(l->S, l->S, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &l->G));
  PetscCall(MatTransposeMatMult(l->S, l->AS, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &l->H));
  PetscCall(MatMatMult(l->S, l->C, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &l->Y));
  PetscCall(MatMatMult(l->AS, l->C, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &l->AY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LobpcgDestroy(Lobpcg *l)
{
  Mat *const all[] = {&l->S, &l->AS, &l->G, &l->H, &l->C, &l->Y, &l->AY, &l->R, &l->W, &l->AW};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(all); k++) PetscCall(MatDestroy(all[k]));
  PetscCall(PetscFree5(l->g, l->h, l->c, l->d, l->norm));
  PetscCall(PCDestroy(&l->pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums of the entries of a small matrix over all processes */
static PetscErrorCode Gather(Mat G, PetscInt size, PetscReal *g)
{
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(MatDenseGetArrayRead(G, &a));
  for (PetscInt k = 0; k < size; k++) g[k] = PetscRealPart(a[k]);
  PetscCall(MatDenseRestoreArrayRead(G, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, g, (PetscMPIInt)size, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The best vectors in the span of S: new X and P, and the residuals of X with their norms */
static PetscErrorCode Improve(Lobpcg *l)
{
  const PetscInt k = l->k, m = 3 * k;
  PetscScalar   *c;
  PetscInt       rank = 0;
  Mat            r, times; /* the residuals of this process, and X times its eigenvalues */

  PetscFunctionBeginUser;
  PetscCall(MatTransposeMatMult(l->S, l->S, MAT_REUSE_MATRIX, PETSC_DEFAULT, &l->G));
  PetscCall(MatTransposeMatMult(l->S, l->AS, MAT_REUSE_MATRIX, PETSC_DEFAULT, &l->H));
  PetscCall(Gather(l->G, m * m, l->g));
  PetscCall(Gather(l->H, m * m, l->h));
  PetscCall(Ritz(m, l->g, l->h, l->c, l->d, &rank));
  PetscCheck(rank >= k, PETSC_COMM_WORLD, PETSC_ERR_CONV_FAILED, "The vectors depend on each other; ask for fewer eigenvalues, -nev");
  PetscCall(MatDenseGetArrayWrite(l->C, &c));
  for (PetscInt j = 0; j < k; j++) {
    for (PetscInt i = 0; i < m; i++) {
      c[i + j * m]           = l->c[i + j * m];
      c[i + (k + j) * m]     = i < k ? 0 : l->c[i + j * m];
      c[i + (2 * k + j) * m] = l->c[i + j * m] * l->d[j];
    }
  }
  PetscCall(MatDenseRestoreArrayWrite(l->C, &c));
  PetscCall(MatMatMult(l->S, l->C, MAT_REUSE_MATRIX, PETSC_DEFAULT, &l->Y));
  PetscCall(MatMatMult(l->AS, l->C, MAT_REUSE_MATRIX, PETSC_DEFAULT, &l->AY));
  PetscCall(CopyBlock(k, l->Y, 0, l->S, 0));
  PetscCall(CopyBlock(k, l->AY, 0, l->AS, 0));
  PetscCall(CopyBlock(k, l->Y, 1, l->S, 2));
  PetscCall(CopyBlock(k, l->AY, 1, l->AS, 2));
  PetscCall(MatDenseGetLocalMatrix(l->R, &r));
  PetscCall(CopyBlock(k, l->AY, 0, r, 0));
  PetscCall(MatDenseGetSubMatrix(l->Y, PETSC_DECIDE, PETSC_DECIDE, 2 * k, 3 * k, &times));
  PetscCall(MatAXPY(r, -1, times, SAME_NONZERO_PATTERN));
  PetscCall(MatDenseRestoreSubMatrix(l->Y, &times));
  PetscCall(MatAssemblyBegin(l->R, MAT_FINAL_ASSEMBLY)); /* its numbers belong to the local matrix */
  PetscCall(MatAssemblyEnd(l->R, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetColumnNorms(l->R, NORM_2, l->norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(PetscBool *right)
{
  PetscInt       k = 6, most = 300, its, N;
  PetscReal      tol   = PetscDefined(USE_REAL_SINGLE) ? 1e-4 : 1e-5;
  PetscBool      times = PETSC_TRUE, converged = PETSC_FALSE;
  PetscLogDouble t0, t1;
  Lobpcg         l = {0};
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(PetscAMBInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-nev", &k, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-max_it", &most, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tol", &tol, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  PetscCall(Create(&A));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCheck(k >= 1 && 3 * k <= N && tol > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-nev is at least 1 and at most a third of the rows of the matrix, and -tol is positive");
  PetscCall(LobpcgCreate(A, k, &l));
  PetscCall(PetscTime(&t0));
  for (its = 1; its <= most; its++) {
    PetscCall(Improve(&l));
    converged = PETSC_TRUE;
    for (PetscInt i = 0; i < k; i++) converged = (PetscBool)(converged && l.norm[i] <= tol * PetscAbsReal(l.d[i]));
    if (converged) break;
    PetscCall(PCMatApply(l.pc, l.R, l.W));
    PetscCall(Bring(&l, 1));
  }
  PetscCall(PetscTime(&t1));
  for (PetscInt i = 0; i < k; i++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "eigenvalue %2" PetscInt_FMT ": %.6f\n", i + 1, (double)l.d[i]));
  if (!converged) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "not converged in %" PetscInt_FMT " steps\n", most));
  if (times) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " steps, %.4f s\n", PetscMin(its, most), t1 - t0));
  for (PetscInt i = 0; i < k; i++) {
    PetscCall(CommandAdd("eigenvalue", NULL, (double)l.d[i]));
    PetscCall(CommandAdd("residual", NULL, (double)l.norm[i]));
    PetscCall(CommandAdd("steps", NULL, PetscMin(its, most)));
    PetscCall(CommandAdd("steps_s", NULL, t1 - t0));
  }
  PetscCall(LobpcgDestroy(&l));
  PetscCall(MatDestroy(&A));
  *right = converged;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const own[] = {"f", "n", "nev", "tol", "max_it", "times", "csv", "json"};

  return CommandMain("lobpcg", argc, argv, help, PETSC_STATIC_ARRAY_LENGTH(own), own, Run);
}

/*TEST

  testset:
    requires: double !complex
    args: -times 0 -nev 5 -malloc_dump
    output:
      eigenvalue  1: 0.146690
      eigenvalue  2: 0.260501
      eigenvalue  3: 0.294608
      eigenvalue  4: 0.317662
      eigenvalue  5: 0.408420
    test:
      nsize: {{1 2}}
      args: -mat_type {{aij amb}}
    test:
      suffix: cuda
      requires: cuda
      args: -mat_type {{aijcusparse amb}}

TEST*/
