/* SPDX-License-Identifier: BSD-2-Clause */
#include "generate.h"
#include "sys/sysbuckets.h"
#include <petscamb.h>

#if defined(_OPENMP)
  #include <omp.h>
#endif

typedef struct {
  MPI_Comm     comm;
  PetscInt     bs;           /* rows per grid node */
  PetscInt     m, M;         /* local and global rows */
  PetscInt     N;            /* columns; 0: as many as rows, and distributed like them */
  PetscInt     rstart, rend; /* the rows of this process */
  int          threads;
  PetscInt    *i, *j; /* compressed rows, global columns ascending */
  PetscScalar *a;
  PetscInt64  *start; /* of each row in j and a, or NULL if there are no gaps */
} LocalRows;

/* Threads of this process, by the rule of the library */
PetscErrorCode GeneratorThreads(MPI_Comm comm, int *n)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  *n = 1;
  PetscCallMPI(MPI_Comm_size(comm, &size));
#if defined(_OPENMP)
  if (size == 1 || getenv("OMP_NUM_THREADS")) *n = omp_get_max_threads();
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline int Thread(void)
{
#if defined(_OPENMP)
  return omp_get_thread_num();
#else
  return 0;
#endif
}

static PetscErrorCode LocalRowsLayout(LocalRows *rows, MPI_Comm comm, PetscReal nodes, PetscInt bs, const char name[])
{
  PetscInt n = PETSC_DECIDE, N;

  PetscFunctionBegin;
  PetscCheck(nodes * bs <= (PetscReal)PETSC_MAX_INT, comm, PETSC_ERR_USER_INPUT, "%s: %g rows do not fit the %d-bit indices of this PETSc", name, (double)nodes * bs, (int)(8 * sizeof(PetscInt)));
  N = (PetscInt)nodes;
  PetscCall(PetscSplitOwnership(comm, &n, &N));
  rows->comm  = comm;
  rows->bs    = bs;
  rows->m     = n * bs;
  rows->M     = N * bs;
  rows->N     = 0;
  rows->start = NULL;
  PetscCallMPI(MPI_Scan(&rows->m, &rows->rend, 1, MPIU_INT, MPI_SUM, comm));
  rows->rstart = rows->rend - rows->m;
  PetscCall(GeneratorThreads(comm, &rows->threads));
  PetscCall(PetscCalloc1(rows->m + 1, &rows->i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LocalRowsCheck(const LocalRows *rows, PetscInt64 total, const char name[])
{
  PetscInt64 most;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&total, &most, 1, MPIU_INT64, MPI_MAX, rows->comm));
  PetscCheck(most <= PETSC_MAX_INT, rows->comm, PETSC_ERR_USER_INPUT, "%s: %g nonzeros on one process do not fit the %d-bit indices of this PETSc; use more processes", name, (double)most, (int)(8 * sizeof(PetscInt)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns the counts in i[1..m] into offsets */
static PetscErrorCode LocalRowsOffsets(LocalRows *rows, const char name[])
{
  PetscInt64 total = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < rows->m; r++) total += rows->i[r + 1];
  PetscCall(LocalRowsCheck(rows, total, name));
  for (PetscInt r = 0; r < rows->m; r++) rows->i[r + 1] += rows->i[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, and allocates the entries */
static PetscErrorCode LocalRowsAllocate(LocalRows *rows, const char name[])
{
  PetscFunctionBegin;
  PetscCall(LocalRowsOffsets(rows, name));
  PetscCall(PetscMalloc2(rows->i[rows->m], &rows->j, rows->i[rows->m], &rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves rows with gaps between them together */
static PetscErrorCode LocalRowsPack(LocalRows *rows)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; rows->start && r < rows->m; r++) {
    (void)memmove(rows->j + rows->i[r], rows->j + rows->start[r], (size_t)(rows->i[r + 1] - rows->i[r]) * sizeof(*rows->j));
    (void)memmove(rows->a + rows->i[r], rows->a + rows->start[r], (size_t)(rows->i[r + 1] - rows->i[r]) * sizeof(*rows->a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All threads copy the rows into the arrays of the matrix: PETSc would check each entry, on one thread */
static PetscErrorCode LocalRowsCopy(const LocalRows *rows, Mat A)
{
  PetscInt       *length;
  const PetscInt *j;
  PetscScalar    *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows->m, &length));
  for (PetscInt r = 0; r < rows->m; r++) length[r] = rows->i[r + 1] - rows->i[r];
  PetscCall(MatSeqAIJSetPreallocation(A, 0, length));
  PetscCall(PetscFree(length));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, NULL, &j, &a, NULL));
#pragma omp parallel for num_threads(rows->threads) schedule(dynamic, 1024)
  for (PetscInt r = 0; r < rows->m; r++) {
    const PetscInt64 from = rows->start ? rows->start[r] : rows->i[r];
    const size_t     n    = (size_t)(rows->i[r + 1] - rows->i[r]);

    (void)memcpy((PetscInt *)j + rows->i[r], rows->j + from, n * sizeof(*j));
    (void)memcpy(a + rows->i[r], rows->a + from, n * sizeof(*a));
  }
  if (rows->i[rows->m]) PetscCall(MatSeqAIJSetColumnIndices(A, (PetscInt *)j)); /* the columns are in place: this call sets the lengths of the rows */
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE)); /* as MatSeqAIJSetPreallocationCSR() does */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LocalRowsAssemble(LocalRows *rows, Mat *A)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(rows->comm, &size));
  PetscCall(MatCreate(rows->comm, A));
  PetscCall(MatSetSizes(*A, rows->m, rows->N ? PETSC_DECIDE : rows->m, rows->M, rows->N ? rows->N : rows->M));
  PetscCall(MatSetBlockSize(*A, rows->bs));
  PetscCall(MatSetType(*A, MATAIJ));
  if (size == 1) PetscCall(LocalRowsCopy(rows, *A));
  else {
    PetscCall(LocalRowsPack(rows));
    PetscCall(MatMPIAIJSetPreallocationCSR(*A, rows->i, rows->j, rows->a));
  }
  PetscCall(PetscFree(rows->i));
  PetscCall(PetscFree(rows->start));
  PetscCall(PetscFree2(rows->j, rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Grids: a block of bs x bs numbers for every neighbour among the 3^dim nodes around, the same for all nodes alike ---- */

typedef struct {
  PetscInt  n, dim, bs;
  PetscBool star;            /* only neighbours along an axis */
  PetscReal (*block)[27][9]; /* [position of the node][neighbour][row of the block, column of the block] */
} Grid;

/* 0 at the low side, 2 at the high side, 1 between: the rows of a node depend on nothing else of its position */
static inline PetscInt GridSide(PetscInt x, PetscInt n)
{
  return x == 0 ? 0 : (x == n - 1 ? 2 : 1);
}

/* Makes the rows of one node; if j is NULL it only counts entries */
static PetscInt GridNode(const Grid *g, PetscInt node, PetscBool fixed, PetscInt c, PetscInt *j, PetscScalar *a)
{
  const PetscInt x = node % g->n, y = (node / g->n) % g->n, z = node / g->n / g->n;
  const PetscInt position = GridSide(x, g->n) + 3 * GridSide(y, g->n) + 9 * GridSide(z, g->n);
  PetscInt       n        = 0;

  for (PetscInt dz = g->dim == 3 ? -1 : 0; dz <= (g->dim == 3 ? 1 : 0); dz++) {
    for (PetscInt dy = -1; dy <= 1; dy++) {
      for (PetscInt dx = -1; dx <= 1; dx++) {
        const PetscInt   X = x + dx, Y = y + dy, Z = z + dz, k = dx + 1 + 3 * (dy + 1) + 9 * (dz + 1);
        const PetscReal *b = g->block[position][k];

        if (X < 0 || Y < 0 || Z < 0 || X >= g->n || Y >= g->n || (g->dim == 3 && Z >= g->n)) continue;
        if (g->star && PetscAbs(dx) + PetscAbs(dy) + PetscAbs(dz) > 1) continue;
        for (PetscInt d = 0; d < g->bs; d++, n++) {
          if (!j) continue;
          j[n] = ((Z * g->n + Y) * g->n + X) * g->bs + d;
          /* a node of the clamped side keeps its diagonal; the rest of its rows and columns is stored as zeros, as assembly leaves it */
          if (fixed && (z == 0 || Z == 0)) a[n] = (k == 13 && c == d) ? b[c * g->bs + d] : 0.0;
          else a[n] = b[c * g->bs + d];
        }
      }
    }
  }
  return n;
}

static PetscErrorCode GridFill(MPI_Comm comm, const Grid *g, PetscBool fixed, const char name[], Mat *A)
{
  LocalRows rows;

  PetscFunctionBegin;
  PetscCall(LocalRowsLayout(&rows, comm, PetscPowRealInt((PetscReal)g->n, (int)g->dim), g->bs, name));
  for (PetscInt r = 0; r < rows.m; r++) rows.i[r + 1] = GridNode(g, (rows.rstart + r) / g->bs, fixed, r % g->bs, NULL, NULL);
  PetscCall(LocalRowsAllocate(&rows, name));
  for (PetscInt r = 0; r < rows.m; r++) (void)GridNode(g, (rows.rstart + r) / g->bs, fixed, r % g->bs, rows.j + rows.i[r], rows.a + rows.i[r]);
  PetscCall(LocalRowsAssemble(&rows, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Laplacian(MPI_Comm comm, const char name[], const PetscReal arg[], PetscInt dim, PetscBool star, PetscReal diagonal, Mat *A)
{
  Grid g = {(PetscInt)arg[0], dim, 1, star, NULL};

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(27, &g.block));
  for (PetscInt p = 0; p < 27; p++) {
    for (PetscInt k = 0; k < 27; k++) g.block[p][k][0] = k == 13 ? diagonal : -1.0;
  }
  PetscCall(GridFill(comm, &g, PETSC_FALSE, name, A));
  PetscCall(PetscFree(g.block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GenerateP5(MPI_Comm comm, const char name[], const PetscReal arg[], Mat *A)
{
  return Laplacian(comm, name, arg, 2, PETSC_TRUE, 4.0, A);
}

static PetscErrorCode GenerateP9(MPI_Comm comm, const char name[], const PetscReal arg[], Mat *A)
{
  return Laplacian(comm, name, arg, 2, PETSC_FALSE, 8.0, A);
}

static PetscErrorCode GenerateP7(MPI_Comm comm, const char name[], const PetscReal arg[], Mat *A)
{
  return Laplacian(comm, name, arg, 3, PETSC_TRUE, 6.0, A);
}

static PetscErrorCode GenerateP27(MPI_Comm comm, const char name[], const PetscReal arg[], Mat *A)
{
  return Laplacian(comm, name, arg, 3, PETSC_FALSE, 26.0, A);
}

/* Stiffness of a trilinear unit cube of isotropic material, E = 1, nu = 1/4, by 2x2x2 Gauss points (exact for it) */
static void ElasticityElement(PetscReal K[24][24])
{
  const PetscReal nu = 0.25, lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 1 / (2 * (1 + nu));
  const PetscReal point[2] = {0.5 - 0.5 / PetscSqrtReal(3.0), 0.5 + 0.5 / PetscSqrtReal(3.0)};

  for (int a = 0; a < 24; a++) {
    for (int b = 0; b < 24; b++) K[a][b] = 0.0;
  }
  for (int q = 0; q < 8; q++) {
    const PetscReal x[3] = {point[q & 1], point[(q >> 1) & 1], point[q >> 2]};
    PetscReal       grad[8][3];

    for (int a = 0; a < 8; a++) {
      PetscReal f[3], d[3];

      for (int i = 0; i < 3; i++) {
        d[i] = ((a >> i) & 1) ? 1.0 : -1.0;
        f[i] = ((a >> i) & 1) ? x[i] : 1.0 - x[i];
      }
      grad[a][0] = d[0] * f[1] * f[2];
      grad[a][1] = f[0] * d[1] * f[2];
      grad[a][2] = f[0] * f[1] * d[2];
    }
    for (int a = 0; a < 8; a++) {
      for (int b = 0; b < 8; b++) {
        const PetscReal dot = grad[a][0] * grad[b][0] + grad[a][1] * grad[b][1] + grad[a][2] * grad[b][2];

        for (int i = 0; i < 3; i++) {
          for (int j = 0; j < 3; j++) K[3 * a + i][3 * b + j] += 0.125 * (lambda * grad[a][i] * grad[b][j] + mu * grad[a][j] * grad[b][i] + (i == j ? mu * dot : 0.0));
        }
      }
    }
  }
}

static PetscErrorCode GenerateElasticity(MPI_Comm comm, const char name[], const PetscReal arg[], Mat *A)
{
  Grid      g = {(PetscInt)arg[0], 3, 3, PETSC_FALSE, NULL};
  PetscReal K[24][24];

  PetscFunctionBegin;
  PetscCheck(g.n >= 2, comm, PETSC_ERR_USER_INPUT, "%s: one element has two nodes along each side; N must be at least 2", name);
  ElasticityElement(K);
  PetscCall(PetscCalloc1(27, &g.block));
  for (int p = 0; p < 27; p++) {
    const int side[3] = {p % 3, p / 3 % 3, p / 9};

    for (int e = 0; e < 8; e++) { /* the elements around a node; bit i says that the node is at their high side along axis i */
      PetscBool exists = PETSC_TRUE;

      for (int i = 0; i < 3; i++) {
        if (side[i] == (((e >> i) & 1) ? 0 : 2)) exists = PETSC_FALSE;
      }
      for (int b = 0; exists && b < 8; b++) {
        const int k = ((b & 1) - (e & 1) + 1) + 3 * (((b >> 1) & 1) - ((e >> 1) & 1) + 1) + 9 * ((b >> 2) - (e >> 2) + 1);

        for (int i = 0; i < 3; i++) {
          for (int j = 0; j < 3; j++) g.block[p][k][3 * i + j] += K[3 * e + i][3 * b + j];
        }
      }
    }
  }
  PetscCall(GridFill(comm, &g, PETSC_TRUE, name, A));
  PetscCall(PetscFree(g.block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Random graphs ---- */

#define EDGES 16 /* edges generated at once */

/* The hash from which on GeneratorUniform() is greater than p. Comparing integers is faster than comparing the numbers. */
static unsigned long long GraphThreshold(PetscReal p)
{
  PetscInt64 low = 0, high = (PetscInt64)1 << 53;

  while (low < high) {
    const PetscInt64 middle = (low + high) / 2;

    if (GeneratorReal(middle) > p) high = middle;
    else low = middle + 1;
  }
  return (unsigned long long)low;
}

/* Both ends of some edges from e on: at every level one of four quadrants, the first three up to the given thresholds */
WIDEST_VECTORS static void GraphEdges(PetscInt64 e, PetscInt scale, const unsigned long long threshold[3], PetscInt64 row[EDGES], PetscInt64 col[EDGES])
{
  const unsigned long long first = threshold[0], second = threshold[1], third = threshold[2];
  PetscInt64               r[EDGES] = {0}, c[EDGES] = {0};

  for (PetscInt level = 0; level < scale; level++) {
    for (int k = 0; k < EDGES; k++) {
      const unsigned long long u     = (unsigned long long)GeneratorHash((e + k) * 64 + level) >> 10;
      const PetscInt64         lower = u >= second; /* branches could not be foreseen */

      r[k] = 2 * r[k] + lower;
      c[k] = 2 * c[k] + ((u >= first) ^ lower ^ (u >= third));
    }
  }
  for (int k = 0; k < EDGES; k++) {
    row[k] = r[k];
    col[k] = c[k];
  }
}

/* Sorts rows of n entries and adds up those at the same position, with gaps between rows afterwards */
static PetscErrorCode LocalRowsMerge(LocalRows *rows, PetscInt n, const char name[])
{
  PetscInt    *J;
  PetscScalar *A;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows->m, &rows->start));
  PetscCall(PetscMalloc2((size_t)n * (size_t)rows->threads, &J, (size_t)n * (size_t)rows->threads, &A));
#pragma omp parallel for num_threads(rows->threads) schedule(dynamic, 256)
  for (PetscInt r = 0; r < rows->m; r++) {
    const size_t own = (size_t)n * (size_t)Thread();

    rows->start[r] = (PetscInt64)n * r;
    rows->i[r + 1] = (PetscInt)SysRowMerge(n, rows->j + rows->start[r], rows->a + rows->start[r], J + own, A + own);
  }
  PetscCall(PetscFree2(J, A));
  PetscCall(LocalRowsOffsets(rows, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another number below 2^scale for each: a product with an odd number and a shift can both be undone, and neither has high bits that depend on few others */
static inline PetscInt64 GraphShuffle(PetscInt64 v, PetscInt scale)
{
  const unsigned long long mask = (1ULL << scale) - 1;
  unsigned long long       u    = (unsigned long long)v;

  for (int round = 0; round < 3; round++) {
    u = (u * 0x9E3779B97F4A7C15ULL + 0x632BE59BD9B4E019ULL) & mask;
    u ^= u >> ((scale + 1) / 2);
  }
  return (PetscInt64)u;
}

/* Threads make equal shares of the edges, once to count them and once to store them */
static PetscErrorCode Graph(MPI_Comm comm, const char name[], const PetscReal arg[], const PetscReal quadrant[3], PetscBool shuffled, Mat *A)
{
  const PetscInt           scale        = (PetscInt)arg[0];
  const PetscInt64         edges        = (PetscInt64)(arg[1] * PetscPowRealInt(2.0, (int)scale));
  const PetscReal          second       = quadrant[0] + quadrant[1];
  const unsigned long long threshold[3] = {GraphThreshold(quadrant[0]), GraphThreshold(second), GraphThreshold(second + quadrant[2])};
  PetscInt64               n            = 0;
  SysStatus                status;
  LocalRows                rows;
  SysBuckets               b;

  PetscFunctionBegin;
  PetscCheck(scale < 50, comm, PETSC_ERR_USER_INPUT, "%s: 2^SCALE is the number of rows; SCALE must be below 50", name);
  PetscCall(LocalRowsLayout(&rows, comm, PetscPowRealInt(2.0, (int)scale), 1, name));
  status = SysBucketsCreate(rows.m, rows.threads, &b);
  for (int put = 0; put < 2 && !status; put++) {
#pragma omp parallel for num_threads(rows.threads) schedule(static, 1)
    for (int t = 0; t < rows.threads; t++) {
      const PetscInt64 end = t == rows.threads - 1 ? edges : edges / rows.threads * (t + 1);
      PetscInt64      *own = b.position + (size_t)t * b.nbucket;
      PetscInt64       r[EDGES], c[EDGES];

      for (PetscInt64 e = edges / rows.threads * t; e < end; e += EDGES) {
        GraphEdges(e, scale, threshold, r, c); /* beyond the end, too */
        for (int k = 0; shuffled && k < EDGES; k++) r[k] = GraphShuffle(r[k], scale);
        for (int k = 0; k < PetscMin(EDGES, end - e); k++) {
          if (r[k] < rows.rstart || r[k] >= rows.rend) continue;
          if (put) SysBucketsPut(&b, own, (PetscInt)r[k] - rows.rstart, (PetscInt)(shuffled ? GraphShuffle(c[k], scale) : c[k]), GeneratorUniform((e + k) * 64 + 63));
          else SysBucketsCount(&b, own, (PetscInt)r[k] - rows.rstart);
        }
      }
    }
    if (put) break;
    n = SysBucketsPosition(&b);
    PetscCall(LocalRowsCheck(&rows, n, name));
    PetscCall(PetscMalloc2((size_t)n, &rows.j, (size_t)n, &rows.a));
    status = SysBucketsStore(&b, rows.j, rows.a);
  }
  PetscCall(PetscMalloc1(rows.m, &rows.start));
  if (!status) status = SysBucketsSort(&b, 1, rows.i + 1, rows.start);
  SysBucketsDestroy(&b);
  PetscCheck(!status, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory to sort %" PetscInt64_FMT " entries", n);
  PetscCall(LocalRowsOffsets(&rows, name));
  PetscCall(LocalRowsAssemble(&rows, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PetscReal Graph500[3] = {0.57, 0.19, 0.19}; /* its probabilities of the first three quadrants */

static PetscErrorCode GenerateRMAT(MPI_Comm comm, const char name[], const PetscReal arg[], Mat *A)
{
  return Graph(comm, name, arg, Graph500, PETSC_FALSE, A);
}

static PetscErrorCode GenerateKron(MPI_Comm comm, const char name[], const PetscReal arg[], Mat *A)
{
  return Graph(comm, name, arg, Graph500, PETSC_TRUE, A);
}

static PetscErrorCode GenerateER(MPI_Comm comm, const char name[], const PetscReal arg[], Mat *A)
{
  const PetscReal quadrant[3] = {0.25, 0.25, 0.25};

  return Graph(comm, name, arg, quadrant, PETSC_FALSE, A);
}

/* Makes the columns of one row: the gaps between entries of equal probability are geometric; if j is NULL it only counts entries */
static PetscInt RandomRow(PetscInt row, PetscInt N, PetscReal density, PetscInt *j, PetscScalar *a)
{
  const double logq = log1p(-(double)density);
  PetscInt64   k    = GeneratorHash(row); /* each row has a stream of its own */
  double       c    = -1.0;
  PetscInt     n    = 0;

  for (;;) {
    k = GeneratorHash(k);
    c += 1.0 + floor(log((double)GeneratorUniform(k)) / logq);
    if (!(c < (double)N)) return n;
    if (j) {
      j[n] = (PetscInt)c;
      a[n] = 2.0 * GeneratorUniform(k ^ 1) - 1.0;
    }
    n++;
  }
}

static PetscErrorCode GenerateRandom(MPI_Comm comm, const char name[], const PetscReal arg[], Mat *A)
{
  LocalRows rows;

  PetscFunctionBegin;
  PetscCheck(arg[1] <= 1.0, comm, PETSC_ERR_USER_INPUT, "%s: DENSITY is the share of entries that are there, at most 1", name);
  PetscCall(LocalRowsLayout(&rows, comm, arg[0], 1, name));
  for (PetscInt r = 0; r < rows.m; r++) rows.i[r + 1] = RandomRow(rows.rstart + r, rows.M, arg[1], NULL, NULL);
  PetscCall(LocalRowsAllocate(&rows, name));
  for (PetscInt r = 0; r < rows.m; r++) (void)RandomRow(rows.rstart + r, rows.M, arg[1], rows.j + rows.i[r], rows.a + rows.i[r]);
  PetscCall(LocalRowsAssemble(&rows, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random positions, some of which may meet: their numbers are added up */
static PetscErrorCode GenerateRand(MPI_Comm comm, const char name[], const PetscReal arg[], Mat *A)
{
  const PetscInt n = (PetscInt)arg[2];
  LocalRows      rows;

  PetscFunctionBegin;
  PetscCheck(arg[1] == floor(arg[1]) && arg[1] <= (PetscReal)PETSC_MAX_INT, comm, PETSC_ERR_USER_INPUT, "%s: COLUMNS must be a whole number of %d bits", name, (int)(8 * sizeof(PetscInt)));
  PetscCheck(arg[2] <= arg[1], comm, PETSC_ERR_USER_INPUT, "%s: a row has at most as many entries as there are columns", name);
  PetscCall(LocalRowsLayout(&rows, comm, arg[0], 1, name));
  rows.N = (PetscInt)arg[1];
  for (PetscInt r = 0; r < rows.m; r++) rows.i[r + 1] = n;
  PetscCall(LocalRowsAllocate(&rows, name));
  for (PetscInt r = 0; r < rows.m; r++) {
    PetscInt64 k = GeneratorHash(rows.rstart + r);

    for (PetscInt e = rows.i[r]; e < rows.i[r + 1]; e++) {
      k         = GeneratorHash(k);
      rows.j[e] = (PetscInt)(k % rows.N);
      rows.a[e] = 2.0 * GeneratorUniform(k ^ 1) - 1.0;
    }
  }
  PetscCall(LocalRowsMerge(&rows, n, name));
  PetscCall(LocalRowsAssemble(&rows, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Names ---- */

static const struct {
  const char *name, *args, *about;
  int         nargs;
  PetscErrorCode (*create)(MPI_Comm, const char[], const PetscReal[], Mat *);
} Generators[] = {
  {"p5",         "N",                    "5-point Laplacian on an N x N grid",                               1, GenerateP5        },
  {"p9",         "N",                    "9-point Laplacian on an N x N grid",                               1, GenerateP9        },
  {"p7",         "N",                    "7-point Laplacian on an N x N x N grid",                           1, GenerateP7        },
  {"p27",        "N",                    "27-point Laplacian on an N x N x N grid",                          1, GenerateP27       },
  {"elasticity", "N",                    "trilinear elasticity on N x N x N nodes, 3 unknowns each",         1, GenerateElasticity},
  {"rmat",       "SCALE,EDGEFACTOR",     "R-MAT graph, 2^SCALE rows, about EDGEFACTOR entries in each",      2, GenerateRMAT      },
  {"kron",       "SCALE,EDGEFACTOR",     "the same graph with its vertices in random order, as Graph500",    2, GenerateKron      },
  {"er",         "SCALE,EDGEFACTOR",     "uniform random graph, 2^SCALE rows, about EDGEFACTOR entries",     2, GenerateER        },
  {"random",     "ROWS,DENSITY",         "uniform random square matrix, DENSITY of its entries being there", 2, GenerateRandom    },
  {"rand",       "ROWS,COLUMNS,ENTRIES", "ENTRIES random positions in every row",                            3, GenerateRand      },
};

/* Finds the generator whose name precedes the colon, or is all there is; returns -1 if it does not exist */
static PetscErrorCode GeneratorFind(const char name[], int *which)
{
  const char *colon = NULL;

  PetscFunctionBegin;
  *which = -1;
  PetscCall(PetscStrchr(name, ':', (char **)&colon));
  if (!colon) colon = name + strlen(name);
  for (int g = 0; g < (int)PETSC_STATIC_ARRAY_LENGTH(Generators); g++) {
    PetscBool same;
    size_t    len;

    PetscCall(PetscStrlen(Generators[g].name, &len));
    PetscCall(PetscStrncmp(name, Generators[g].name, len, &same));
    if (same && (size_t)(colon - name) == len) *which = g;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GeneratorMatches(const char name[], PetscBool *matches)
{
  int g;

  PetscFunctionBegin;
  PetscCall(GeneratorFind(name, &g));
  *matches = g >= 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GeneratorCreateMat(MPI_Comm comm, const char name[], Mat *A)
{
  PetscReal arg[3] = {0, 0, 0};
  int       g      = -1;
  char     *p      = NULL;

  PetscFunctionBegin;
  PetscCall(GeneratorFind(name, &g));
  PetscCheck(g >= 0, comm, PETSC_ERR_USER_INPUT, "%s is no generator", name);
  PetscCall(PetscStrchr(name, ':', &p));
  if (!p) p = (char *)name + strlen(name) - 1; /* no number follows */
  for (int k = 0; k < Generators[g].nargs; k++) {
    char  *end;
    double v = strtod(p + 1, &end);

    PetscCheck(end != p + 1 && *end == (k + 1 < Generators[g].nargs ? ',' : 0) && v > 0 && v < 1e15, comm, PETSC_ERR_USER_INPUT, "%s: write %s:%s with positive numbers", name, Generators[g].name, Generators[g].args);
    PetscCheck(k == 1 || v == floor(v), comm, PETSC_ERR_USER_INPUT, "%s: %g must be a whole number", name, v);
    arg[k] = (PetscReal)v;
    p      = end;
  }
  PetscCall((*Generators[g].create)(comm, name, arg, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GeneratorHelp(MPI_Comm comm)
{
  PetscFunctionBegin;
  for (int g = 0; g < (int)PETSC_STATIC_ARRAY_LENGTH(Generators); g++) {
    char usage[64];

    PetscCall(PetscSNPrintf(usage, sizeof(usage), "%s:%s", Generators[g].name, Generators[g].args));
    PetscCall(PetscPrintf(comm, "  %-22s %s\n", usage, Generators[g].about));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
